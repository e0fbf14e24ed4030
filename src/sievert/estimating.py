"""The old name of `sievert.estimators`."""

from sievert.renamed import moved

__getattr__ = moved(__name__, "sievert.estimators")
