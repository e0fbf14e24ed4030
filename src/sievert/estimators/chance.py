"""What independence gives: the exact mean of a mutual information over all permutations.

With both columns' sizes fixed, a cell of a class of a and a value of b records holds k of them, k
hypergeometric. The mean of I is the sum over classes and values of q·E[(1 + u)·ln(1 + u) - u],
q = ab/N^2, u = kN/(ab) - 1 (E[u] = 0, so that every term is positive). Vinh, Epps and Bailey 2010.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.counts.answers import Sizes
from sievert.measures import kernel
from sievert.numerics.acceleration import compile_loops, thread_count
from sievert.numerics.gamma import divergence

BLOCK = 1 << 19  # terms that NumPy makes at a time
COMPILE = 100_000  # terms from which compiled loops pay
TAIL = 101.0  # 2·ln(1e22): beyond Bernstein's bound for it, a probability counts for nothing


def chance(
    first: Sizes, second: Sizes, *, threads: int | None = None, compiled: bool | None = None
) -> float:
    """The mean mutual information, in bits, of two columns whose values have these sizes.

    >>> pairs, uneven = Sizes.from_arrays([2], [2]), Sizes.from_arrays([1, 3], [1, 1])
    >>> round(chance(pairs, uneven), 12)  # always 3/4·log2(4/3)
    0.311278124459
    """
    records = first.records
    # One of the two orders, so that it does not matter which column is the first.
    low, high = sorted(
        (first, second), key=lambda s: (len(s.sizes), s.sizes.tolist(), s.times.tolist())
    )
    if compiled is None:
        spread = float(np.sqrt(low.sizes).sum() * np.sqrt(high.sizes).sum()) / records**0.5
        terms = 40 * len(low.sizes) * len(high.sizes) + 20 * spread
        compiled = terms > COMPILE and compile_loops() is not None
    rows = (
        _rows_compiled(low, high, records, thread_count(threads))
        if compiled
        else _rows_plain(low, high, records)
    )
    mean = kernel.total(rows * np.asarray(low.times, dtype=np.float64))
    return mean / (float(records) * float(records)) / kernel.LN2


def _reach(variance: Floats) -> Floats:
    """How far from the mode probabilities are worth counting."""
    return np.ceil(TAIL / 6 + np.sqrt((TAIL / 6) ** 2 + TAIL * variance)) + 2.0


def _rows_compiled(low: Sizes, high: Sizes, records: int, threads: int) -> Floats:
    from sievert.estimators import kernels

    rows = np.zeros(len(low.sizes))
    step = max(1, -(-len(rows) // (8 * threads)))

    def work(at: int) -> None:
        part = slice(at, at + step)
        kernels.expected_terms(low.sizes[part], high.sizes, high.times, records, rows[part])

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, range(0, len(rows), step)))
    return rows


def _rows_plain(low: Sizes, high: Sizes, records: int) -> Floats:
    """For each size of the one column the sum over the sizes of the other."""
    step = max(1, BLOCK // len(high.sizes))
    parts = (low.sizes[at : at + step] for at in range(0, len(low.sizes), step))
    return np.concatenate([_rows(part, high, records) for part in parts])


def _rows(sizes: Ints, high: Sizes, records: int) -> Floats:
    a, b = (x.ravel() for x in np.meshgrid(sizes, high.sizes, indexing="ij"))
    variance = a / records * b * (1 - a / records) * (1 - b / records)
    reach = np.minimum(_reach(variance), np.minimum(a, b) + 1).astype(np.int64)
    order = np.argsort(reach, kind="stable")
    means = np.empty(len(a))
    end = len(order)
    while end:
        widest = int(reach[order[end - 1]])
        start = max(0, end - max(1, BLOCK // widest))
        some = order[start:end]
        means[some] = _means(a[some], b[some], records, widest)
        end = start
    terms = (means * a * b).reshape(len(sizes), -1) * np.asarray(high.times, dtype=np.float64)
    return np.array([kernel.total(row) for row in terms])


def _means(a: Ints, b: Ints, records: int, reach: int) -> Floats:
    """E[(1 + u)·ln(1 + u) - u] of each pair of sizes, at most so far from the mode."""
    a, b = a[:, None], b[:, None]
    rest = records - a - b
    mode = (a + 1) * (b + 1) // (records + 2)
    up = mode + np.arange(reach + 1)
    down = mode - np.arange(min(reach, int(mode.max())) + 1)
    with np.errstate(divide="ignore", invalid="ignore", under="ignore"):
        rise = (a - up + 1.0) * (b - up + 1.0) / (up * (rest + up + 0.0))
        fall = (down + 1.0) * (rest + down + 1.0) / ((a - down + 0.0) * (b - down + 0.0))
        rise = np.where(up <= np.minimum(a, b), rise, 0.0)
        fall = np.where(down >= np.maximum(0, -rest), fall, 0.0)
        rise[:, 0] = fall[:, 0] = 1.0
        more, less = np.cumprod(rise, axis=1), np.cumprod(fall, axis=1)
    less[:, 0] = 0.0
    k = np.concatenate((up, np.maximum(down, 0)), axis=1)
    weights = np.concatenate((more, less), axis=1)
    u = (k * records - a * b) / (a * b + 0.0)
    means = (weights * divergence(u)).sum(axis=1) / weights.sum(axis=1)
    return np.asarray(means)
