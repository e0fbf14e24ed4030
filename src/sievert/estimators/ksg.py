"""Mutual information of real numbers by nearest neighbours; bins of numbers."""

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from sievert.arrays import Bools, Floats, Ints
from sievert.counts.cube import histogram
from sievert.errors import require
from sievert.measures import kernel
from sievert.numerics.acceleration import compile_loops, thread_count
from sievert.numerics.special_functions import harmonic_numbers

MOST_BINS = 10
MOST_TIED = 0.05  # share of records whose value another record has
LEAST_RECORDS = 300


def quantile_bins(values: Any, number: int | None = None) -> Floats:
    """The lower ends of `number` bins but the first; min(10, cube root of the number of values).

    Equal values stay together, so that there may be fewer bins. Missing values (NaN) do not count.

    >>> quantile_bins([1, 2, 3, 4, 5, 6, 7, 8]).tolist()
    [5.0]
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    ordered = ordered[: len(ordered) - int(np.isnan(ordered).sum())]  # NaN comes last
    if number is None:
        root = round(math.cbrt(len(ordered)))
        if root**3 > len(ordered):  # the cube root is rounded down
            root -= 1
        number = min(MOST_BINS, root)
    if number < 2 or not len(ordered):
        return np.zeros(0)
    edges = np.unique(ordered[np.arange(1, number) * len(ordered) // number])
    return np.asarray(edges[edges > ordered[0]])


def bin_numbers(values: Any, edges: Any) -> Ints:
    """Number the bin of each value from 0 on; missing values have a bin of their own, the last.

    >>> bin_numbers([1.0, 5.0, float("nan"), 9.0], [5.0]).tolist()
    [0, 1, 2, 1]
    """
    numbers = np.asarray(values, dtype=np.float64)
    bins = np.searchsorted(np.asarray(edges, dtype=np.float64), numbers, side="right")
    return np.where(np.isnan(numbers), len(edges) + 1, bins).astype(np.int64)


def is_continuous(values: Any) -> tuple[bool, str | None]:
    """Say whether numbers are continuous, so that they need no bins; if not, return the reason.

    >>> is_continuous([1.5, 2.5])
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


COMPILE = 30_000  # points from which compiled loops pay


def ksg(
    x: Any,
    y: Any,
    k: int = 3,
    *,
    threads: int | None = None,
    compiled: bool | None = None,
) -> tuple[float | None, str | None]:
    """Estimate I in bits, or return None and the reason, by Kraskov and others 2004, algorithm 1.

    psi(k) + psi(N) - mean(psi(n_x + 1) + psi(n_y + 1)), n_x and n_y the points nearer in x and in
    y than the k-th nearest in both (the larger of the two distances). Values are first replaced
    by the normal scores of their ranks, which changes no information. The estimate may be a little
    below 0.

    >>> ksg([1.0, 2.0], [1.0, 2.0])
    (None, 'fewer than 300 values')
    """
    one = np.asarray(x, dtype=np.float64)
    other = np.asarray(y, dtype=np.float64)
    require(len(one) == len(other), "two columns of one table have one place a record each")
    require(k >= 1, "at least one neighbour is needed")
    for column in (one, other):
        fit, reason = is_continuous(column)
        if not fit:
            return None, reason
    if k >= len(one):
        return None, f"no more than {k} values"
    order = np.lexsort((other, one))
    one = _normal_scores(one)[order]
    other = _normal_scores(other)[order]
    if compiled is None:
        compiled = len(one) >= COMPILE and compile_loops() is not None
    if compiled:
        nx, ny = _neighbours_compiled(one, other, k, thread_count(threads))
    else:
        nx, ny = _neighbours_plain(one, other, k)
    near = histogram(np.concatenate((nx, ny)))
    mean = kernel.total(harmonic_numbers(near.sizes) * near.times) / len(one)
    head = harmonic_numbers(np.array([k - 1, len(one) - 1]))
    return float(head[0] + head[1] - mean) / kernel.LN2, None


def _normal_scores(values: Floats) -> Floats:
    """Replace values by normal scores of their ranks, so that scales and outliers do not matter."""
    from statistics import NormalDist  # loaded by few commands only

    _, place, times = np.unique(values, return_inverse=True, return_counts=True)
    middle = (np.cumsum(times) - times / 2.0) / len(values)
    return np.array(list(map(NormalDist().inv_cdf, middle.tolist())))[place]


def _ranks(y: Floats) -> tuple[Floats, Ints]:
    by = np.argsort(y, kind="stable")
    rank = np.empty(len(y), dtype=np.int64)
    rank[by] = np.arange(len(y))
    return y[by], rank


def _neighbours_compiled(x: Floats, y: Floats, k: int, threads: int) -> tuple[Ints, Ints]:
    """Count the points nearer in x, and in y, than the k-th nearest; x ascends."""
    from sievert.estimators import compiled_loops

    size = len(x)
    nx = np.empty(size, dtype=np.int64)
    ny = np.empty(size, dtype=np.int64)
    sorted_y, rank = _ranks(y)
    step = max(1, -(-size // (16 * threads)))

    def work(at: int) -> None:
        compiled_loops.neighbours(x, y, sorted_y, rank, k, at, min(size, at + step), nx, ny)

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, range(0, size, step)))
    return nx, ny


def _neighbours_plain(x: Floats, y: Floats, k: int) -> tuple[Ints, Ints]:
    """Count the same in NumPy, one step to the left and to the right of all points at a time."""
    size = len(x)
    best = np.full((k, size), np.inf)
    for side in (-1, 1):
        active = np.arange(size)
        for step in range(1, size):
            other = active + side * step
            inside = (other >= 0) & (other < size)
            active = active[inside]
            other = other[inside]
            far = np.abs(x[other] - x[active])
            near = far < best[-1, active]
            active = active[near]
            other = other[near]
            if not len(active):
                break
            far = np.maximum(far[near], np.abs(y[other] - y[active]))
            for nearest in best:
                now = nearest[active]
                nearest[active] = np.minimum(now, far)
                far = np.maximum(now, far)
    sorted_y, rank = _ranks(y)
    return _within(x, np.arange(size), best[-1]), _within(sorted_y, rank, best[-1])[rank]


def _within(values: Floats, rank: Ints, radius: Floats) -> Ints:
    """Count the sorted values nearer than a radius to each; `rank` gives the order of the radii."""
    reach = np.empty_like(radius)
    reach[rank] = radius
    at = np.arange(len(values))
    low = np.minimum(np.searchsorted(values, values - reach, side="right"), at)
    high = np.maximum(np.searchsorted(values, values + reach, side="left"), at + 1)
    # The sums above are rounded; the differences decide.
    top = len(values) - 1
    _step_while(low, -1, lambda: (low > 0) & (values - values[low - 1] < reach))
    _step_while(low, 1, lambda: (low < at) & (values - values[low] >= reach))
    _step_while(high, 1, lambda: (high <= top) & (values[np.minimum(high, top)] - values < reach))
    _step_while(high, -1, lambda: (high > at + 1) & (values[high - 1] - values >= reach))
    return np.asarray(np.maximum(0, high - low - 1))


def _step_while(places: Ints, step: int, condition: Callable[[], Bools]) -> None:
    """Move the places that meet a condition by a step, until none does."""
    move = condition()
    while move.any():
        places[move] += step
        move = condition()
