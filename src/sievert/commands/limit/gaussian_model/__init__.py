"""The best trade-off of Gaussian columns: closed forms, vectors, the channel, and a check."""

from sievert.commands.limit.gaussian_model.canonical_pair import Canonical, Channel, Pair
from sievert.commands.limit.gaussian_model.closed_forms import Bottleneck, at_beta, at_loss, at_rate
from sievert.commands.limit.gaussian_model.limit import (
    GaussianLimit,
    curve,
    gaussian_limit,
    limit_of_records,
    rate_distortion,
)
from sievert.commands.limit.gaussian_model.normality import Normality, normality

__all__ = [
    "Pair",
    "Canonical",
    "GaussianLimit",
    "gaussian_limit",
    "limit_of_records",
    "curve",
    "rate_distortion",
    "Bottleneck",
    "at_beta",
    "at_rate",
    "at_loss",
    "Channel",
    "Normality",
    "normality",
]
