"""The best trade-off between what a release discloses and what it distorts."""

from sievert.tradeoff.bottleneck import least_identity, least_loss
from sievert.tradeoff.channel import Tradeoff
from sievert.tradeoff.curves import Curve, curve
from sievert.tradeoff.interval_recoding import Recoding, interval_recodings
from sievert.tradeoff.joint_distribution import Joint, absolute, hamming, ladder, matrix, squared
from sievert.tradeoff.linear_programmes import grid, perfect
from sievert.tradeoff.models import least_distortion, least_risk
from sievert.tradeoff.privacy_funnel import funnel

__all__ = [
    "Joint",
    "Tradeoff",
    "least_risk",
    "least_distortion",
    "least_identity",
    "least_loss",
    "perfect",
    "funnel",
    "grid",
    "Curve",
    "curve",
    "Recoding",
    "interval_recodings",
    "hamming",
    "squared",
    "absolute",
    "ladder",
    "matrix",
]
