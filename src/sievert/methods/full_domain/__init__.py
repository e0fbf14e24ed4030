"""Full-domain recoding: one level per column, found by an exact search for the least loss."""

from sievert.methods.full_domain.columns import LevelledColumn
from sievert.methods.full_domain.frontier import FrontierPoint, find_frontier
from sievert.methods.full_domain.losses import LOSSES, Losses
from sievert.methods.full_domain.recoding import FullDomainRecoding, SecretCells
from sievert.methods.full_domain.rules import Rule
from sievert.methods.full_domain.search import Search

__all__ = [
    "LOSSES",
    "FrontierPoint",
    "FullDomainRecoding",
    "LevelledColumn",
    "Losses",
    "Rule",
    "Search",
    "SecretCells",
    "find_frontier",
]
