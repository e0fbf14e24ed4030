"""A model solved for an alphabet: the best channel, its points, its local epsilon."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from sievert.arrays import Floats
from sievert.errors import UsageError, unknown
from sievert.tradeoff import (
    Joint,
    Tradeoff,
    curve,
    funnel,
    least_distortion,
    least_identity,
    least_loss,
    least_risk,
)
from sievert.tradeoff.models import MOST

DIGITS = 10  # of a probability that count: the last ones depend on the machine
ZERO = 10.0**-DIGITS  # probabilities of a channel below it are none
WORK = 6e10  # multiplications that one point may take, by which steps are limited
FEWEST = 100  # steps
SEVERAL = 4  # points that may take as much as one; more share it
FUNNEL, IDENTITY, REVERSE = "funnel", "identity", "identity reverse"
MODELS: tuple[int | str, ...] = (1, 2, 3, 4, FUNNEL, IDENTITY, REVERSE)
CONVEX = {1: 1, 2: 2, IDENTITY: 1, REVERSE: 2}  # solved as model
LABELLED = (3, 4, FUNNEL)  # whose released values are labels, not values of X
UNITS = {1: "bits", 2: "1", 3: "bits", 4: "bits", FUNNEL: "bits", IDENTITY: "bits", REVERSE: "1"}


def known_model(model: Any) -> int | str:
    """A model from its number or name.

    >>> known_model("1"), known_model("identity-reverse")
    (1, 'identity reverse')
    """
    text = str(model).replace("-", " ")
    for each in MODELS:
        if text == str(each) and not isinstance(model, bool):
            return each
    raise unknown("--model:", str(model), [str(m) for m in MODELS])


def solutions(
    joint: Any,
    distortion: Any,
    model: int | str,
    at: Sequence[float] | None,
    *,
    points: int = 0,
    gap: float | None = None,
    seconds: float | None = None,
    seed: int = 0,
) -> list[Tradeoff]:
    """The best channels of some constraints, or of as many points evenly spread."""
    pair = Joint.of(joint)
    if model in (IDENTITY, REVERSE) and not pair.alike:
        pair = Joint.identity(pair.table.sum(axis=1))
    if model == FUNNEL:
        even = np.linspace(0.0, pair.entropy, points + 2)[1:-1].tolist()
        return [funnel(pair, a, seed=seed, seconds=seconds) for a in (even if at is None else at)]
    number = int(CONVEX.get(model, model))
    how: dict[str, Any] = {"seconds": seconds}
    if model in CONVEX:
        number_of = points if at is None else len(at)
        how |= {"most": steps(pair, distortion, number_of)} | ({} if gap is None else {"gap": gap})
    if at is None or len(at) > 1:
        which = {"points": points} if at is None else {"at": at}
        return list(curve(pair, distortion, model=number, seed=seed, **which, **how).points)
    if model in CONVEX:
        return [(least_risk if number == 1 else least_distortion)(pair, distortion, at[0], **how)]
    return [(least_identity if number == 3 else least_loss)(pair, at[0], seed=seed, **how)]


def steps(joint: Joint, distortion: Any, points: int = 1) -> int:
    """How many steps a point may take: a limit that does not depend on the machine."""
    columns = len(joint.rows) if isinstance(distortion, str) else np.shape(distortion)[1]
    each = len(joint.rows) * columns * joint.given.shape[1]
    return int(min(MOST, max(FEWEST, WORK / max(1, each) / max(1.0, points / SEVERAL))))


def epsilon(channel: Floats, used: Any = None) -> float | None:
    """The local epsilon of a channel: max ln W(x'|x1)/W(x'|x2); None where a zero stands.

    `used` are the values of X that occur; probabilities below 1e-10 are zeros.

    >>> round(epsilon(np.array([[0.75, 0.25], [0.25, 0.75]])), 9)
    1.098612289
    >>> epsilon(np.eye(2)) is None
    True
    """
    rows = np.asarray(channel if used is None else channel[used])
    high, low = rows.max(axis=0), rows.min(axis=0)
    there = high >= ZERO
    if (low[there] < ZERO).any():
        return None
    return max(0.0, float(np.log(high[there] / low[there]).max(initial=0.0)))


def trim(channel: Floats) -> Floats:
    """A channel without negligible probabilities."""
    rounded = np.round(channel, DIGITS)
    return np.asarray(rounded / rounded.sum(axis=1, keepdims=True))


def synthetic(weights: Floats, channel: Floats) -> Floats:
    """The channel to values of X of one whose released values are labels: t, then x of p(x|t).

    >>> synthetic(np.array([0.5, 0.5]), np.array([[1.0], [1.0]])).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    together = weights[:, None] * channel
    sums = together.sum(axis=0)
    used = sums > 0
    return np.asarray(channel[:, used] @ (together[:, used] / sums[used]).T)


def check_at(at: Sequence[float]) -> None:
    """Constraints are numbers from 0 on."""
    if not at or not all(math.isfinite(a) and a >= 0 for a in at):
        raise UsageError("--at takes numbers from 0 on", hint="--at 0.1, or --at 0.05,0.1,0.2")
