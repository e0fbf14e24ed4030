"""The privacy funnel: the least I(T;Y) of releases T that keep an I(X;T).

min I(T;Y) - slope·I(X;T) is a difference of convex functions: each step replaces the concave part
by its tangent and takes one step of mirror descent, which never goes up. Deterministic releases,
made by merging values two at a time, are points of the curve as well (Makhdoumi and others 2014).
For every release max(0, R - H(X|Y)) <= I(T;Y), and erasing attains R·I(X;Y)/H(X).
"""

import math
import time
from typing import Any

import numpy as np

from sievert.arrays import Floats
from sievert.errors import require
from sievert.measures.kernel import LN2
from sievert.tradeoff.bottleneck import InformationPoint, bracket, hull, time_share
from sievert.tradeoff.channel import TINY, Tradeoff, check_constraint, deadline, full_channel
from sievert.tradeoff.joint_distribution import Joint

RESTARTS = 4
ROUNDS = 6
STILL = 1e-11
CLOSE = 1e-7  # nats that another round must gain
WORK = 2e8
MERGED = 150  # the most values for which merging is tried


def stationary_point(
    joint: Joint, slope: float, channel: Floats, most: int
) -> tuple[InformationPoint, int]:
    """Follow the steps to a stationary point of I(T;Y) - slope·I(X;T); return their number, too."""
    p = joint.weights
    given = joint.given
    weighted = p[:, None] * given
    secret = np.log(joint.secret)
    logs = np.log(np.maximum(channel, TINY))
    before = math.inf
    step = 0
    while step < most:
        step += 1
        channel = np.exp(logs)
        released = np.maximum(p @ channel, TINY)
        ratios = np.log(np.maximum(channel.T @ weighted, TINY)) - np.log(released)[:, None] - secret
        cost = given @ ratios.T
        cost -= slope * (logs - np.log(released))
        value = float(p @ np.einsum("ij,ij->i", channel, cost))
        if before - value <= STILL * (1.0 + abs(value)):
            break
        before = value
        logs = logs - cost
        logs -= logs.max(axis=1, keepdims=True)
        np.maximum(logs, -230.0, out=logs)
        logs -= np.log(np.exp(logs).sum(axis=1, keepdims=True))
    return InformationPoint.from_channel(joint, channel), step


def merge_values(joint: Joint) -> list[InformationPoint]:
    """Merge the two values with the best trade-off, again and again, from X to a constant."""
    rows = joint.weights[:, None] * joint.given
    secret = joint.secret
    channel = np.eye(len(rows))
    points = [InformationPoint.from_channel(joint, channel)]
    while len(rows) > 1:
        sums = rows.sum(axis=1)
        information = _information_terms(rows, secret)
        rate = -sums * np.log(sums)
        a, b = np.triu_indices(len(rows), 1)
        less_disclosed = (
            information[a] + information[b] - _information_terms(rows[a] + rows[b], secret)
        )
        both = sums[a] + sums[b]
        best = int(np.argmax(less_disclosed / (rate[a] + rate[b] + both * np.log(both))))
        i = int(a[best])
        j = int(b[best])
        rows[i] += rows[j]
        channel[:, i] += channel[:, j]
        rows = np.delete(rows, j, axis=0)
        channel = np.delete(channel, j, axis=1)
        points.append(InformationPoint.from_channel(joint, channel))
    return points


def _information_terms(rows: Floats, secret: Floats) -> Floats:
    """The contribution of each released value to I(T;Y)."""
    logs = np.log(np.maximum(rows, TINY) / (rows.sum(axis=1, keepdims=True) * secret))
    return np.asarray(np.where(rows > 0, rows * logs, 0.0).sum(axis=1))


def funnel(joint: Any, at: float, *, seed: int = 0, seconds: float | None = None) -> Tradeoff:
    """The least I(X';Y) found of the releases X' of X with I(X;X') >= `at` bits.

    >>> found = funnel([[9, 1], [1, 9]], 0.3 / LN2)
    >>> round(found.risk * LN2, 6), round(found.identity * LN2, 6)
    (0.159301, 0.3)
    """
    distribution = Joint.of(joint)
    check_constraint(at)
    require(
        at <= distribution.entropy * (1 + 1e-12),
        f"no release keeps {at:g} bits of X",
        hint=f"at most {distribution.entropy:g} bits",
    )
    rate = min(at, distribution.entropy) * LN2
    n = len(distribution.weights)
    points = [
        InformationPoint.from_channel(distribution, np.ones((n, 1))),
        InformationPoint.from_channel(distribution, np.eye(n)),
        *(merge_values(distribution) if n <= MERGED else ()),
    ]
    spread, steps = _search(distribution, points, rate, seed, deadline(seconds))
    point = time_share(distribution, hull(points, upper=False), rate, None)
    risk = point.information / LN2
    identity = point.rate / LN2
    bound = min(max(0.0, at - (distribution.entropy - distribution.information)), risk)
    return Tradeoff(
        model="funnel",
        at=at,
        objective=risk,
        bound=bound,
        risk=risk,
        loss=max(0.0, distribution.information - risk),
        identity=identity,
        distortion=None,
        channel=full_channel(distribution, point.channel),
        iterations=steps,
        reached=None,
        spread=spread / LN2,
    )


def _search(
    joint: Joint, points: list[InformationPoint], rate: float, seed: int, until: float
) -> tuple[float, int]:
    """Add the ends of descents at the slope of the curve at a rate, round after round."""
    n = len(joint.weights)
    most = int(min(max(WORK / (n * n * joint.given.shape[1]), 50), 1500))
    steps = 0
    spread = 0.0
    for turn in range(ROUNDS):
        low, high = bracket(hull(points, upper=False), rate, None)
        if high.rate <= low.rate:
            break
        slope = (high.information - low.information) / (high.rate - low.rate)
        values = [low.information - slope * low.rate]
        starts = [_blur(low.channel, n), _blur(high.channel, n)]
        rngs = [np.random.default_rng([seed, turn, number]) for number in range(RESTARTS)]
        starts += [rng.dirichlet(np.full(n + 1, 0.3), size=n) + 1e-6 for rng in rngs]
        for start in starts:
            if time.monotonic() >= until:
                return spread, steps
            channel = start / start.sum(axis=1, keepdims=True)
            point, used = stationary_point(joint, slope, channel, most)
            steps += used
            values.append(point.information - slope * point.rate)
            points.append(point)
        spread = max(values) - min(values)
        if min(values[1:]) >= values[0] - CLOSE:
            break
    return spread, steps


def _blur(channel: Floats, n: int) -> Floats:
    """Add small probabilities for further values to a channel."""
    room = max(0, n + 1 - channel.shape[1])
    return np.hstack((channel + 1e-3, np.full((len(channel), room), 1e-3)))
