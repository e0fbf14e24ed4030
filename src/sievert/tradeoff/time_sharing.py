"""Points that releases attain, the curve they span, and releases between two of them.

A coin that chooses between two releases, each with values of its own, attains what lies on the line
between them: both informations are mixed as the coin says.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from sievert.arrays import Floats
from sievert.tradeoff.joint_distribution import Joint, disclosed_information, retained_information

UNUSED = 1e-15
ALIKE = 7  # digits that two released values share to be one


@dataclass(frozen=True)
class InformationPoint:
    """A release with I(X;T) and I(T;Y), in nats."""

    rate: float
    information: float
    channel: Floats

    @classmethod
    def from_channel(cls, joint: Joint, channel: Floats) -> InformationPoint:
        """The point of a channel; released values that never occur or say the same are merged."""
        released = joint.weights @ channel
        used = released > UNUSED
        kept = channel[:, used]
        _, kinds = np.unique(np.round(kept / released[used], ALIKE), axis=1, return_inverse=True)
        if len(kinds) > kinds.max() + 1:
            kept = np.stack([np.bincount(kinds.ravel(), row) for row in kept])
        kept = kept / kept.sum(axis=1, keepdims=True)
        return cls(retained_information(joint, kept), disclosed_information(joint, kept), kept)


def hull(points: list[InformationPoint], upper: bool) -> list[InformationPoint]:
    """The points on the upper (or lower) convex hull, from the lowest rate to the highest."""
    sign = 1.0 if upper else -1.0
    edge: list[InformationPoint] = []
    for point in sorted(points, key=lambda p: (p.rate, -sign * p.information)):
        if edge and point.rate <= edge[-1].rate:
            continue
        while len(edge) > 1 and sign * _turn(edge[-2], edge[-1], point) >= 0:
            edge.pop()
        edge.append(point)
    if upper:  # a higher rate that tells no more is of no use
        best = max(range(len(edge)), key=lambda i: (edge[i].information, -i))
        edge = edge[: best + 1]
    return edge


def _turn(a: InformationPoint, b: InformationPoint, c: InformationPoint) -> float:
    """Whether c lies to the left (above zero) or to the right of the way from a to b."""
    return (b.rate - a.rate) * (c.information - a.information) - (b.information - a.information) * (
        c.rate - a.rate
    )


def bracket(
    edge: list[InformationPoint], rate: float | None, information: float | None
) -> tuple[InformationPoint, InformationPoint]:
    """The two neighbours on an edge between which a rate, or an information, lies."""
    for low, high in itertools.pairwise(edge):
        if (rate is not None and rate <= high.rate) or (
            information is not None and information <= high.information
        ):
            return low, high
    return edge[-1], edge[-1]


def time_share(
    joint: Joint, edge: list[InformationPoint], rate: float | None, information: float | None
) -> InformationPoint:
    """The release between two neighbours on an edge with a rate, or with an information.

    It is the second of the two with a certain probability, otherwise the first.
    """
    low, high = bracket(edge, rate, information)
    if rate is not None:
        span, share = high.rate - low.rate, rate - low.rate
    else:
        assert information is not None
        span, share = high.information - low.information, information - low.information
    coin = min(max(share / span if span > 0 else 1.0, 0.0), 1.0)
    if coin == 0 or low is high:
        return low
    if coin == 1:
        return high
    mixture = np.hstack(((1 - coin) * low.channel, coin * high.channel))
    return InformationPoint.from_channel(joint, mixture)
