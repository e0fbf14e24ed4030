"""Mutual information estimated from records: its value, its mean by chance, its uncertainty."""

from typing import TYPE_CHECKING

from sievert.estimators.contingency import ContingencyTable, chance
from sievert.estimators.information import (
    InformationEstimate,
    SavedEstimate,
    estimate,
    information,
    information_lost,
)
from sievert.estimators.ksg import bin_numbers, is_continuous, ksg, quantile_bins
from sievert.renamed import renamed

if not TYPE_CHECKING:  # the names of earlier versions
    __getattr__ = renamed(
        __name__,
        {"binned": "bin_numbers", "continuous": "is_continuous", "lost": "information_lost"},
    )

# The names of earlier versions.
Estimate = InformationEstimate
Joint = ContingencyTable

__all__ = [
    "InformationEstimate",
    "SavedEstimate",
    "Estimate",
    "ContingencyTable",
    "Joint",
    "information",
    "estimate",
    "information_lost",
    "chance",
    "ksg",
    "quantile_bins",
    "bin_numbers",
    "is_continuous",
]
