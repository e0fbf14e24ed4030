"""Numbers as bins of about equally many records: the same bins for an original and its releases."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sievert.arrays import Floats, Ints

MOST_BINS = 10
MOST_TIED = 0.05  # share of records whose value another record has
LEAST_RECORDS = 300


def quantile_bins(values: Any, number: int | None = None) -> Floats:
    """Where bins begin, without the first: min(10, cube root of the number of values) unless given.

    Equal values are never parted, so that there may be fewer bins; missing values (NaN) do not
    count.

    >>> quantile_bins([1, 2, 3, 4, 5, 6, 7, 8]).tolist()
    [5.0]
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    ordered = ordered[: len(ordered) - int(np.isnan(ordered).sum())]  # NaN comes last
    if number is None:
        number = min(MOST_BINS, _cube_root(len(ordered)))
    if number < 2 or not len(ordered):
        return np.zeros(0)
    edges = np.unique(ordered[np.arange(1, number) * len(ordered) // number])
    return np.asarray(edges[edges > ordered[0]])


def binned(values: Any, edges: Any) -> Ints:
    """The number of each value's bin, from 0 on; missing values have one of their own, the last.

    >>> binned([1.0, 5.0, float("nan"), 9.0], [5.0]).tolist()
    [0, 1, 2, 1]
    """
    numbers = np.asarray(values, dtype=np.float64)
    bins = np.searchsorted(np.asarray(edges, dtype=np.float64), numbers, side="right")
    return np.where(np.isnan(numbers), len(edges) + 1, bins).astype(np.int64)


def continuous(values: Any) -> tuple[bool, str | None]:
    """Whether numbers are truly continuous, so that they need no bins; if not, why.

    >>> continuous([1.5, 2.5])
    (False, 'fewer than 300 values')
    """
    numbers = np.asarray(values, dtype=np.float64)
    if not np.isfinite(numbers).all():
        return False, "some values are missing or infinite"
    if len(numbers) < LEAST_RECORDS:
        return False, f"fewer than {LEAST_RECORDS} values"
    _, times = np.unique(numbers, return_counts=True)
    if int(times[times > 1].sum()) > MOST_TIED * len(numbers):
        return False, f"more than {MOST_TIED:.0%} of the values are tied"
    return True, None


def _cube_root(n: int) -> int:
    """The largest whole number whose cube is at most n."""
    root = round(math.cbrt(n))
    return root - 1 if root**3 > n else root
