"""Probabilities over numbers, as they are given: checked, sorted, equal values merged."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from sievert.arrays import Floats, Ints
from sievert.counts.cube import run_starts
from sievert.errors import UsageError, require
from sievert.formatting import plural
from sievert.measures import kernel
from sievert.measures.approximate.curves import Masses

SUM = 1e-9  # by which probabilities may miss 1
LARGEST = 1e300  # a range that leaves room for the area
SHARE = 0.9
NEVER = 1e-30  # less likely values count as impossible: sums could not tell them from 0


def numbers(given: ArrayLike, what: str, dimensions: int, empty: bool = False) -> Floats:
    """An array of finite numbers."""
    try:
        array = np.array(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise UsageError(f"{what}: not an array of numbers") from None
    require(
        array.ndim == dimensions,
        f"{what}: {plural(array.ndim, 'dimension')} instead of {dimensions}",
    )
    require(array.size != 0 or empty, f"{what}: there are none")
    require(np.isfinite(array).all(), f"{what}: one is missing or not finite")
    return array


def merge_values(values: Floats) -> tuple[Floats, Ints, Ints]:
    """Different values in order, the order of all, and where each value begins in it."""
    order = np.argsort(values, kind="stable")
    starts = run_starts(values[order])
    distinct = values[order][starts]
    with np.errstate(over="ignore"):
        require(distinct[-1] - distinct[0] < LARGEST, "the values are too far apart to be measured")
    return distinct + 0.0, order, starts


def adding_up(matrix: Floats) -> Floats:
    """Rows of probabilities, each divided by its sum; the smallest are 0."""
    require(not (matrix < 0.0).any(), "a probability is negative")
    with np.errstate(over="ignore"):
        totals = matrix.sum(axis=1)
    if len(matrix) == 1 and np.isfinite(totals[0]):
        totals[0] = kernel.total(matrix[0])
    off = np.flatnonzero(~(np.abs(totals - 1.0) <= SUM))
    which = f" of distribution {off[0] + 1}" if len(matrix) > 1 and len(off) else ""
    require(not len(off), f"the probabilities{which} do not add up to 1")
    shares = matrix / totals[:, None]
    return np.asarray(np.where(shares < NEVER, 0.0, shares))


def distribution(values: ArrayLike, probabilities: ArrayLike) -> tuple[Floats, Floats]:
    """Different values in order, with their probabilities, which may be 0."""
    given, p = numbers(values, "the values", 1), numbers(probabilities, "the probabilities", 1)
    require(len(given) == len(p), f"{plural(len(given), 'value')} and {len(p):,} probabilities")
    x, order, starts = merge_values(given)
    return x, np.add.reduceat(adding_up(p[None])[0][order], starts)


def different(matrix: Floats) -> tuple[Ints, Ints]:
    """Rows that differ: where each occurs first, and which of them every row is."""
    kind = np.dtype((np.void, matrix.dtype.itemsize * matrix.shape[1]))
    rows = np.ascontiguousarray(matrix).view(kind).ravel()
    return np.unique(rows, return_index=True, return_inverse=True)[1:]


def spread_of_values(x: Floats, p: Floats) -> tuple[float, float]:
    """The standard deviation, and the length of the shortest interval with 90 %."""
    if len(x) == 1:
        return 0.0, 0.0
    top, share = float(x[-1]), x / float(x[-1])
    deviation = top * math.sqrt(kernel.total(p * (share - kernel.total(share * p)) ** 2))
    masses = Masses(p[None])
    sums = masses.high[0] + masses.low[0]
    start = np.searchsorted(sums, sums[1:] - SHARE + 1e-12, side="right") - 1
    return deviation, float((x - x[np.maximum(start, 0)])[start >= 0].min())
