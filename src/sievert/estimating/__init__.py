"""Mutual information estimated from records: what is there, what chance gives, how sure it is."""

from __future__ import annotations

from sievert.estimating.bins import binned, continuous, quantile_bins
from sievert.estimating.chance import chance
from sievert.estimating.estimate import Estimate
from sievert.estimating.information import estimate, information, lost
from sievert.estimating.joint import Joint
from sievert.estimating.ksg import ksg

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
