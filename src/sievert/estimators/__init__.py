"""Mutual information estimated from records: what is there, what chance gives, how sure it is."""

from __future__ import annotations

from sievert.estimators.bins import binned, continuous, quantile_bins
from sievert.estimators.chance import chance
from sievert.estimators.contingency import ContingencyTable
from sievert.estimators.estimate import InformationEstimate
from sievert.estimators.information import estimate, information, lost
from sievert.estimators.ksg import ksg

# The names of earlier versions.
Estimate, Joint = InformationEstimate, ContingencyTable

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
