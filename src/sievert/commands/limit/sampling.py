"""Records drawn from a channel, and the range in which their risk and distortion should lie.

Given the records, everything is a sum over independent draws. The distortion's variance is exact;
that of the plug-in information, and by how much it is too high, come from the delta method with
terms of second order, those of cells with few expected records as if these were Poisson's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.commands.limit.alphabets import ReleaseAlphabet
from sievert.measures.kernel import LN2
from sievert.numerics.special_functions import NORMAL_QUANTILE
from sievert.tradeoff import Joint
from sievert.tradeoff.channel import evaluated

SMALL = 100.0  # expected records of a cell up to which Poisson's terms are computed
FLOOR = 1e-300


@dataclass(frozen=True)
class Promise:
    """What a channel gives on average, and where 95 % of the releases drawn from it lie."""

    risk: float
    loss: float | None  # None: unbounded, of columns of real numbers
    identity: float | None
    distortion: float
    risk_range: tuple[float, float]
    distortion_range: tuple[float, float]
    bias: float  # by which the plug-in risk of a release is too high, on average
    by: str = "delta method over the draw"


def draw(channel: Floats, symbols: Ints, seed: int, part: int = 0) -> Ints:
    """A released symbol for each record, by the inverse of its row's distribution.

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
    """What a channel of an alphabet promises; `joint` has no empty row."""
    records = float(alphabet.counts.sum())
    risk, loss, identity, far = evaluated(joint, channel, alphabet.distortion)
    assert far is not None
    spread = math.sqrt(alphabet.noise(channel) / records)
    bias, error = _risk_spread(joint, channel, records)
    middle = risk + bias
    return Promise(
        risk,
        loss,
        identity,
        far,
        (max(0.0, middle - NORMAL_QUANTILE * error), middle + NORMAL_QUANTILE * error),
        (max(0.0, far - NORMAL_QUANTILE * spread), far + NORMAL_QUANTILE * spread),
        bias,
    )


def _risk_spread(joint: Joint, channel: Floats, records: float) -> tuple[float, float]:
    """The bias and the standard error of the plug-in I(X';Y) of a drawn release, in bits."""
    p, given = joint.weights, joint.given
    together = p[:, None] * given  # of x and y
    cells = channel.T @ together  # of x' and y
    noise = (channel * (1 - channel)).T @ together
    sums, noise_sums = cells.sum(axis=1), noise.sum(axis=1)
    logs = np.log(np.maximum(cells, FLOOR) / np.maximum(np.outer(sums, joint.secret), FLOOR))
    logs = np.where(cells > 0, logs, 0.0)
    # variance over the draw of log p(x',y)/p(x')p(y) of each record
    first = channel @ logs
    second = channel @ logs**2
    linear = float((together * np.maximum(second - first**2, 0.0)).sum()) / records
    inner = _ratio(noise, cells) * _halves(records * cells)
    outer = _ratio(noise_sums, sums) * _halves(records * sums)
    bias = (float(inner.sum()) - float(outer.sum())) / records
    curved = 2 * float((inner**2).sum()) / records**2
    return bias / LN2, math.sqrt(linear + curved) / LN2


def _ratio(noise: Floats, expected: Floats) -> Floats:
    return np.divide(noise, expected, out=np.zeros_like(noise), where=expected > 0)


def _halves(expected: Floats) -> Floats:
    """E n ln n less m ln m of a Poisson number n of mean m: about a half unless m is small."""
    grid, values = _poisson_table()
    return np.interp(np.log(np.maximum(expected, FLOOR)), grid, values, left=0.0, right=0.5)


@cache
def _poisson_table() -> tuple[Floats, Floats]:
    means = np.geomspace(1e-6, SMALL, 400)
    n = np.arange(1, 400)
    logs = np.cumsum(np.log(n))  # of n!
    chance = np.exp(n * np.log(means)[:, None] - means[:, None] - logs)
    return np.log(means), np.asarray(chance @ (n * np.log(n)) - means * np.log(means))


def inside(value: float, ends: tuple[float, float]) -> bool:
    """Whether a number lies between two others, but for rounding."""
    return ends[0] - 1e-12 <= value <= ends[1] + 1e-12
