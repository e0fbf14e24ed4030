"""The old name of `sievert.commands.attack.linkage`."""

from sievert.renamed import moved

__getattr__ = moved(__name__, "sievert.commands.attack.linkage")
