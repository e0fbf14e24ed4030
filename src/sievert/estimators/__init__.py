"""Mutual information estimated from records: what is there, what chance gives, how sure it is."""

from __future__ import annotations

from sievert.estimators.bins import binned, continuous, quantile_bins
from sievert.estimators.chance import chance
from sievert.estimators.estimate import Estimate
from sievert.estimators.information import estimate, information, lost
from sievert.estimators.joint import Joint
from sievert.estimators.ksg import ksg

__all__ = [
    "Estimate",
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
