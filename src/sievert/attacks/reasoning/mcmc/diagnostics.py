"""How far a simulation may be trusted: chains that agree, draws that count, errors of means.

A series has shape (chains, draws) or (chains, draws, quantities). Every chain is cut in halves, so
that a chain that still moves disagrees with itself. Gelman et al., Bayesian Data Analysis, 2013;
Geyer, Practical Markov chain Monte Carlo, 1992; Vehtari et al., Rank-normalization, 2021.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sievert.arrays import Floats
from sievert.errors import require

CELLS = 1 << 18  # numbers of a series looked at together
LEAST = 4  # draws of a chain: two in each half
SAME = 1e-12  # differences below this share of a quantity are rounding


@dataclass(frozen=True)
class ChainDiagnostics:
    """How well the mean of each quantity is known.

    `rhat` is near 1 where chains agree; it is infinite where every half of a chain stands still,
    not all at one value. `ess` independent draws would have told as much, and `mcse` is the
    standard error that the mean has from it. A quantity that never changes has 1, all draws and 0.
    """

    mean: Floats
    sd: Floats
    rhat: Floats
    ess: Floats
    mcse: Floats


def diagnose(series: Any) -> ChainDiagnostics:
    """Mean, spread, split R-hat, effective sample size and Monte Carlo error of each quantity.

    >>> found = diagnose([[1.0, 1.0, 1.0, 1.0], [2.0, 2.0, 2.0, 2.0]])
    >>> float(found.mean), float(found.rhat)
    (1.5, inf)
    """
    numbers = np.asarray(series)
    require(numbers.ndim in (2, 3), "a series has chains, draws and at most one axis more")
    require(numbers.shape[1] >= LEAST, f"a chain has {LEAST} draws at least")
    require(numbers.shape[0] != 0, "a series has one chain at least")
    wide = numbers if numbers.ndim == 3 else numbers[:, :, None]
    chains, draws, quantities = wide.shape
    step = max(1, CELLS // (chains * draws))
    results = np.empty((5, quantities))
    for at in range(0, quantities, step):
        results[:, at : at + step] = _diagnostics(wide[:, :, at : at + step])
    return ChainDiagnostics(*(results if numbers.ndim == 3 else results[:, 0]))


def _diagnostics(series: NDArray[Any]) -> Floats:
    """Mean, sd, R-hat, ESS and MCSE of the quantities of some (chains, draws, quantities)."""
    x = np.array(series.transpose(2, 0, 1), dtype=np.float64, order="C")
    require(np.isfinite(x).all(), "a series has finite numbers")
    count, chains, draws = x.shape
    # About its first value a quantity keeps its digits, however small its changes are.
    first = x[:, :1, :1].copy()
    scale = np.abs(x).max(axis=(1, 2))
    x -= first
    half = draws // 2
    halves = np.concatenate((x[:, :, :half], x[:, :, draws - half :]), axis=1)
    still = np.ptp(x.reshape(count, -1), axis=1) <= SAME * scale
    frozen = (np.ptp(halves, axis=2) <= SAME * scale[:, None]).all(axis=1) & ~still
    size = float(chains * draws)
    mean = first[:, 0, 0] + x.mean(axis=(1, 2))
    sd = np.where(still, 0.0, x.std(axis=(1, 2), ddof=1))
    means = halves.mean(axis=2)
    within = halves.var(axis=2, ddof=1).mean(axis=1)
    within[frozen] = 0.0
    spread = within * (half - 1) / half + means.var(axis=1, ddof=1)
    agreed = np.sqrt(spread / np.where(within > 0, within, 1.0))
    agreed = np.where(still, 1.0, np.where(within > 0, agreed, np.inf))
    spread[still] = 1.0
    tau = _times(halves - means[:, :, None], within, spread)
    # Draws that avoid each other may be worth more than independent ones, within a bound.
    worth = np.where(still, size, size / np.maximum(tau, 1.0 / np.log10(size)))
    return np.array([mean, sd, agreed, worth, sd / np.sqrt(worth)])


def _times(x: Floats, within: Floats, spread: Floats) -> Floats:
    """Draws that are worth one independent draw: Geyer's initial monotone positive sequence."""
    half = x.shape[2]
    rho = 1.0 - (within[:, None] - _autocovariances(x)) / spread[:, None]
    rho[:, 0] = 1.0
    pairs = rho[:, 0 : half - half % 2 : 2] + rho[:, 1::2]
    positive = np.logical_and.accumulate(pairs > 0, axis=1)
    smooth = np.minimum.accumulate(np.where(positive, pairs, 0.0), axis=1)
    # Of the first pair that is not positive the even lag still counts (antithetic chains).
    length = positive.sum(axis=1)
    after = np.where(2 * length < half, rho[np.arange(len(x)), np.minimum(2 * length, half - 1)], 0)
    return np.asarray(np.maximum(0.0, after) - 1.0 + 2.0 * smooth.sum(axis=1))


def _autocovariances(x: Floats) -> Floats:
    """Means over chains of the autocovariances at all lags; the last axis has the draws."""
    draws = x.shape[2]
    long = 1 << (2 * draws - 1).bit_length()
    spectrum = np.fft.rfft(x, long, axis=2)
    power = (spectrum.real**2 + spectrum.imag**2).mean(axis=1)
    return np.asarray(np.fft.irfft(power, long, axis=1)[:, :draws] / draws)


def so_far(series: Any, most: int = 50) -> tuple[list[int], Floats]:
    """Of each chain the mean of its first draws, at `most` evenly spread places or fewer.

    How many draws there were at each place, and the means: shape (places, chains, ...).

    >>> after, means = so_far([[1.0, 3.0, 5.0, 7.0]], 2)
    >>> after, means[:, 0].tolist()
    ([2, 4], [2.0, 4.0])
    """
    numbers = np.asarray(series, dtype=np.float64)
    require(
        numbers.ndim >= 2 and most >= 1,
        "a series has chains and draws, and is looked at once at least",
    )
    draws = numbers.shape[1]
    many = min(most, draws)
    after = [draws * (i + 1) // many for i in range(many)]
    summed = np.cumsum(numbers, axis=1)
    return after, np.stack([summed[:, n - 1] / n for n in after]) if after else summed[:0]


def jackknife(parts: Any, statistic: Callable[[Floats], Any]) -> tuple[Any, Any]:
    """A statistic of the mean of all parts, and its standard error: leaving out each part in turn.

    `parts` has shape (blocks, ...), a block being what a batch of one chain found. Batches are
    longer than draws depend on each other. A statistic may jump, as a number of people does.

    >>> value, error = jackknife([1.0, 2.0, 3.0, 6.0], lambda mean: mean)
    >>> value, round(error, 12)
    (3.0, 1.080123449735)
    """
    numbers = np.asarray(parts, dtype=np.float64)
    require(numbers.ndim != 0 and len(numbers) >= 2, "a standard error needs two batches at least")
    blocks = len(numbers)
    mean = numbers.mean(axis=0)
    value = statistic(mean)
    without = np.array([statistic(mean + (mean - part) / (blocks - 1)) for part in numbers])
    error = np.sqrt(((without - without.mean(axis=0)) ** 2).sum(axis=0) * (blocks - 1) / blocks)
    if np.ndim(value) == 0:
        return float(value), float(error)
    return np.asarray(value), np.asarray(error)
