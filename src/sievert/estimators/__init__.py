"""Mutual information estimated from records: its value, its mean by chance, its uncertainty."""

from sievert.estimators.contingency import ContingencyTable, chance
from sievert.estimators.information import InformationEstimate, estimate, information, lost
from sievert.estimators.ksg import binned, continuous, ksg, quantile_bins

# The names of earlier versions.
Estimate = InformationEstimate
Joint = ContingencyTable

__all__ = [
    "InformationEstimate",
    "Estimate",
    "ContingencyTable",
    "Joint",
    "information",
    "estimate",
    "lost",
    "chance",
    "ksg",
    "quantile_bins",
    "binned",
    "continuous",
]
