"""The best deterministic recodings of one ordered column into intervals.

An interval is released as the value that distorts it least. Both the distortion and I(X';Y) are
sums over intervals. So a dynamic programme finds, for every number of intervals, the partition that
minimises the distortion, or I(X';Y) + weight·distortion. The first is for a user who may release m
groups, the second goes down the trade-off. (The least I(X';Y) below a distortion need not be among
them: with intervals the trade-off is not convex.)

Two intervals with one representative stay two values: X' is the interval.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.errors import require
from sievert.measures.kernel import LN2
from sievert.tradeoff.channel import deterministic_channel, evaluate_channel, mean_distortion
from sievert.tradeoff.joint_distribution import Joint, matrix


@dataclass(frozen=True, kw_only=True)
class Recoding:
    """A partition into intervals: their starts, their representatives, its risk and its losses."""

    starts: tuple[int, ...]
    representatives: tuple[int, ...]
    distortion: float
    risk: float
    loss: float
    identity: float

    @property
    def intervals(self) -> int:
        """The number of intervals."""
        return len(self.starts)


def interval_recodings(
    joint: Any, distortion: Any, *, most: int | None = None, weight: float | None = None
) -> list[Recoding]:
    """The best partitions into 1, 2, ... `most` intervals of consecutive values of X.

    With `weight` they minimise I(X';Y) in bits + weight·E d; without, E d alone (ties: I(X';Y)).
    Values that never occur belong to the interval before them.

    >>> found = interval_recodings([[3, 1], [3, 1], [1, 3]], "absolute")
    >>> [(r.starts, r.distortion) for r in found[:2]]
    [((0,), 0.6666666666666666), ((0, 1), 0.3333333333333333)]
    """
    distribution = Joint.of(joint)
    full = matrix(distortion, len(distribution.table))
    require(
        weight is None or (math.isfinite(weight) and weight >= 0),
        "the weight of the distortion is not a number of at least 0",
        hint="1",
    )
    n = len(distribution.rows)
    most = n if most is None else most
    require(most >= 1, "there is at least one interval", hint="most=5")
    reduced = full[distribution.rows]
    far, which = _farness(distribution, reduced)
    costs = (far, _information_terms(distribution))
    if weight is not None:
        both = costs[1] / LN2 + weight * np.where(far < np.inf, far, 0.0)
        costs = (np.where(np.isfinite(far), both, far), far)
    return [
        _recoding(distribution, reduced, which, starts)
        for starts in _partitions(*costs, min(most, n))
    ]


def _farness(joint: Joint, distortion: Floats) -> tuple[Floats, Ints]:
    """At [i, j]: the least distortion of one representative of values i..j-1, and its place."""
    n = len(distortion)
    sums = np.zeros((n + 1, distortion.shape[1]))
    np.cumsum(joint.weights[:, None] * distortion, axis=0, out=sums[1:])
    least = np.full((n + 1, n + 1), np.inf)
    which = np.zeros((n + 1, n + 1), dtype=np.int64)
    for i in range(n):
        from_here = sums[i + 1 :] - sums[i]
        which[i, i + 1 :] = from_here.argmin(axis=1)
        least[i, i + 1 :] = np.maximum(from_here.min(axis=1), 0.0)
    return least, which


def _information_terms(joint: Joint) -> Floats:
    """At [i, j]: the contribution of the interval of values i..j-1 to I(X';Y), in nats."""
    n, k = joint.given.shape
    sums = np.zeros((n + 1, k))
    np.cumsum(joint.weights[:, None] * joint.given, axis=0, out=sums[1:])
    terms = np.full((n + 1, n + 1), np.inf)
    for i in range(n):
        sums_from = np.maximum(sums[i + 1 :] - sums[i], 0.0)
        ratio = sums_from / (sums_from.sum(axis=1, keepdims=True) * joint.secret)
        logs = np.log(np.where(ratio > 0, ratio, 1.0))
        terms[i, i + 1 :] = np.maximum((sums_from * logs).sum(axis=1), 0.0)
    return terms


def _partitions(first: Floats, second: Floats, most: int) -> list[tuple[int, ...]]:
    """The starts of the best partition for each number of intervals; ties by the second sum."""
    n = len(first) - 1
    best = first[0].copy()
    ties = second[0].copy()
    back = np.zeros((most + 1, n + 1), dtype=np.int64)
    partitions: list[tuple[int, ...]] = [(0,)]
    for number in range(2, most + 1):
        new = np.full(n + 1, np.inf)
        new_ties = np.full(n + 1, np.inf)
        for j in range(number, n + 1):
            sums = best[number - 1 : j] + first[number - 1 : j, j]
            least = float(sums.min())
            near = np.flatnonzero(sums <= least + 1e-13 * abs(least)) + number - 1
            at = int(near[np.argmin(ties[near] + second[near, j])])
            back[number, j] = at
            new[j] = least
            new_ties[j] = ties[at] + second[at, j]
        best = new
        ties = new_ties
        starts = [n]
        for m in range(number, 0, -1):
            starts.append(int(back[m, starts[-1]]) if m > 1 else 0)
        partitions.append(tuple(starts[:0:-1]))
    return partitions


def _recoding(joint: Joint, distortion: Floats, which: Ints, starts: tuple[int, ...]) -> Recoding:
    ends = (*starts[1:], len(distortion))
    groups = np.repeat(np.arange(len(starts)), np.diff((*starts, len(distortion))))
    chosen = [int(which[i, j]) for i, j in zip(starts, ends, strict=True)]
    risk, loss, identity, _ = evaluate_channel(joint, deterministic_channel(groups, len(starts)))
    released = deterministic_channel([chosen[g] for g in groups], distortion.shape[1])
    return Recoding(
        starts=(0, *(int(joint.rows[s]) for s in starts[1:])),
        representatives=tuple(chosen),
        distortion=mean_distortion(joint, released, distortion),
        risk=risk,
        loss=loss,
        identity=identity,
    )
