"""The old name of `sievert.commands.limit.gaussian_model`."""

from sievert.renamed import moved

__getattr__ = moved(__name__, "sievert.commands.limit.gaussian_model")
