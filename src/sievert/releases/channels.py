"""A model solved for an alphabet: the best channel, and records drawn from it.

Given the records, everything that is drawn is a sum over independent draws. The variance of the
distortion is exact. The variance and the bias of the plug-in information come from the delta method
with terms of second order. Cells with few expected records have the terms of a Poisson number.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.formatting.remarks import Remark
from sievert.measures.kernel import LN2
from sievert.numerics.special_functions import NORMAL_QUANTILE
from sievert.releases.alphabets import ReleaseAlphabet
from sievert.releases.choices import FUNNEL, IDENTITY, REVERSE
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
from sievert.tradeoff.channel import evaluate_channel
from sievert.tradeoff.models import MOST as MOST_STEPS

DIGITS = 10  # digits of a probability that count: the last ones depend on the machine
ZERO = 10.0**-DIGITS  # a smaller probability of a channel counts as zero
WORK = 6e10  # multiplications that one point may take; they limit its steps
FEWEST = 100  # steps that a point may take at least
SEVERAL = 4  # points that may each take all the work; more points share it
CONVEX = {1: 1, 2: 2, IDENTITY: 1, REVERSE: 2}  # the convex problem that solves each model
LABELLED = (3, 4, FUNNEL)  # models whose released values are labels, not values of X
UNITS = {1: "bits", 2: "1", 3: "bits", 4: "bits", FUNNEL: "bits", IDENTITY: "bits", REVERSE: "1"}
SMALL = 100.0  # expected records of a cell up to which Poisson's terms are computed
FLOOR = 1e-300


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
    """Solve a model for the constraints `at`, or for `points` constraints at even distances."""
    pair = Joint.of(joint)
    if model in (IDENTITY, REVERSE) and not pair.alike:
        pair = Joint.identity(pair.table.sum(axis=1))
    if model == FUNNEL:
        even = np.linspace(0.0, pair.entropy, points + 2)[1:-1].tolist()
        constraints = even if at is None else at
        return [funnel(pair, a, seed=seed, seconds=seconds) for a in constraints]
    number = int(CONVEX.get(model, model))
    how: dict[str, Any] = {"seconds": seconds}
    if model in CONVEX:
        how["most"] = steps(pair, distortion, points if at is None else len(at))
        if gap is not None:
            how["gap"] = gap
    if at is None or len(at) > 1:
        which = {"points": points} if at is None else {"at": at}
        return list(curve(pair, distortion, model=number, seed=seed, **which, **how).points)
    if model in CONVEX:
        solve = least_risk if number == 1 else least_distortion
        return [solve(pair, distortion, at[0], **how)]
    find = least_identity if number == 3 else least_loss
    return [find(pair, at[0], seed=seed, **how)]


def steps(joint: Joint, distortion: Any, points: int = 1) -> int:
    """The steps that a point may take: a limit that does not depend on the machine."""
    columns = len(joint.rows) if isinstance(distortion, str) else np.shape(distortion)[1]
    each = len(joint.rows) * columns * joint.given.shape[1]
    affordable = WORK / max(1, each) / max(1.0, points / SEVERAL)
    return int(min(MOST_STEPS, max(FEWEST, affordable)))


def epsilon(channel: Floats, used: Any = None) -> float | None:
    """The local epsilon of a channel: max ln W(x'|x1)/W(x'|x2); None if it has a zero.

    `used` are the values of X that occur; probabilities below 1e-10 are zeros.

    >>> round(epsilon(np.array([[0.75, 0.25], [0.25, 0.75]])), 9)
    1.098612289
    >>> epsilon(np.eye(2)) is None
    True
    """
    rows = np.asarray(channel if used is None else channel[used])
    high = rows.max(axis=0)
    low = rows.min(axis=0)
    there = high >= ZERO
    if (low[there] < ZERO).any():
        return None
    return max(0.0, float(np.log(high[there] / low[there]).max(initial=0.0)))


def trim(channel: Floats) -> Floats:
    """Set negligible probabilities of a channel to zero."""
    rounded = np.round(channel, DIGITS)
    return np.asarray(rounded / rounded.sum(axis=1, keepdims=True))


def channel_to_values(weights: Floats, channel: Floats) -> Floats:
    """Turn a channel to labels into one to values of X: draw a label t, then x from p(x|t).

    >>> channel_to_values(np.array([0.5, 0.5]), np.array([[1.0], [1.0]])).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    together = weights[:, None] * channel
    sums = together.sum(axis=0)
    used = sums > 0
    return np.asarray(channel[:, used] @ (together[:, used] / sums[used]).T)


# -- records drawn from a channel ---------------------------------------------------------------


BY_DELTA = Remark("by_delta")  # how the ranges of a promise are computed


@dataclass(frozen=True, kw_only=True)
class Promise:
    """What a channel gives on average, and the range that 95 % of the releases fall into."""

    risk: float
    loss: float | None  # None if it is unbounded: columns of real numbers
    identity: float | None
    distortion: float
    risk_range: tuple[float, float]
    distortion_range: tuple[float, float]
    bias: float  # by which the plug-in risk of a release is too high, on average
    by: Remark = BY_DELTA


def draw(channel: Floats, symbols: Ints, seed: int, part: int = 0) -> Ints:
    """Draw a released symbol for each record, by inverting the distribution of its row.

    >>> draw(np.eye(2), np.array([1, 0, 1]), 0).tolist()
    [1, 0, 1]
    """
    chance = np.random.default_rng([seed, part, 0x5057]).random(len(symbols))
    released = np.empty(len(symbols), dtype=np.int64)
    order = np.argsort(symbols, kind="stable")
    ends = np.searchsorted(symbols[order], np.arange(len(channel) + 1))
    for row in range(len(channel)):
        places = order[ends[row] : ends[row + 1]]
        if len(places):
            sums = np.cumsum(channel[row])
            sums[int(np.flatnonzero(channel[row])[-1]) :] = 2.0  # rounding draws no impossible one
            released[places] = np.searchsorted(sums, chance[places], side="right")
    return released


def channel_promise(alphabet: ReleaseAlphabet, channel: Floats, joint: Joint) -> Promise:
    """Compute what a channel of an alphabet promises; `joint` has no empty row."""
    records = float(alphabet.counts.sum())
    risk, loss, identity, far = evaluate_channel(joint, channel, alphabet.distortion)
    assert far is not None
    spread = math.sqrt(alphabet.noise(channel) / records)
    bias, error = _risk_spread(joint, channel, records)
    middle = risk + bias
    risk_margin = NORMAL_QUANTILE * error
    distortion_margin = NORMAL_QUANTILE * spread
    return Promise(
        risk=risk,
        loss=loss,
        identity=identity,
        distortion=far,
        risk_range=(max(0.0, middle - risk_margin), middle + risk_margin),
        distortion_range=(max(0.0, far - distortion_margin), far + distortion_margin),
        bias=bias,
    )


def _risk_spread(joint: Joint, channel: Floats, records: float) -> tuple[float, float]:
    """The bias and the standard error of the plug-in I(X';Y) of a drawn release, in bits."""
    together = joint.weights[:, None] * joint.given  # of x and y
    cells = channel.T @ together  # of x' and y
    noise = (channel * (1 - channel)).T @ together
    sums = cells.sum(axis=1)
    noise_sums = noise.sum(axis=1)
    logs = np.log(np.maximum(cells, FLOOR) / np.maximum(np.outer(sums, joint.secret), FLOOR))
    logs = np.where(cells > 0, logs, 0.0)
    # variance over the draw of log p(x',y)/p(x')p(y) of each record
    first = channel @ logs
    linear = float((together * np.maximum(channel @ logs**2 - first**2, 0.0)).sum()) / records
    inner = _ratio(noise, cells) * _halves(records * cells)
    outer = _ratio(noise_sums, sums) * _halves(records * sums)
    bias = (float(inner.sum()) - float(outer.sum())) / records
    return bias / LN2, math.sqrt(linear + 2 * float((inner**2).sum()) / records**2) / LN2


def _ratio(noise: Floats, expected: Floats) -> Floats:
    """Divide `noise` by `expected`; 0 where nothing is expected."""
    return np.divide(noise, expected, out=np.zeros_like(noise), where=expected > 0)


def _halves(expected: Floats) -> Floats:
    """E[n ln n] - m ln m of a Poisson number n with mean m: about a half unless m is small."""
    grid, values = _poisson_table()
    return np.interp(np.log(np.maximum(expected, FLOOR)), grid, values, left=0.0, right=0.5)


@cache
def _poisson_table() -> tuple[Floats, Floats]:
    """Tabulate E[n ln n] - m ln m; return the logarithms of the means m and the values."""
    means = np.geomspace(1e-6, SMALL, 400)
    n = np.arange(1, 400)
    logs = np.cumsum(np.log(n))  # logarithms of n!
    chance = np.exp(n * np.log(means)[:, None] - means[:, None] - logs)
    return np.log(means), np.asarray(chance @ (n * np.log(n)) - means * np.log(means))


def is_inside(value: float, ends: tuple[float, float]) -> bool:
    """Tell whether `value` lies between `ends`, apart from rounding."""
    return ends[0] - 1e-12 <= value <= ends[1] + 1e-12
