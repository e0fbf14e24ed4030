"""Loops over shuffled records, cells and points, compiled."""

import math
from typing import Any

import numpy as np

from sievert.arrays import Ints
from sievert.estimators.splitmix import FIRST_FACTOR, LOW_BITS, SECOND_FACTOR, STEP
from sievert.numerics.acceleration import jit

CUT = 1e-18


@jit
def _divergence(u: float) -> float:
    """(1 + u)·ln(1 + u) - u, computed as in `measures.kernel`."""
    if abs(u) < 1e-2:
        series = 0.0
        for k in range(9, 1, -1):
            series = 1.0 / (k * (k - 1)) - u * series
        return u * u * series
    return 1.0 if u <= -1.0 else (1.0 + u) * math.log1p(u) - u


@jit
def _mean(a: Any, b: Any, records: Any) -> float:
    """E[(1 + u)·ln(1 + u) - u] of a cell, summed outward from the most likely count."""
    rest = records - a - b
    product = a * b
    mode = (a + 1) * (b + 1) // (records + 2)
    whole = float(product)
    weights = 1.0
    weighted_sum = _divergence((mode * records - product) / whole)
    for step, last in ((1, min(a, b)), (-1, max(0, -rest))):
        weight = 1.0
        for k in range(mode + step, last + step, step):
            if step > 0:
                weight *= float((a - k + 1) * (b - k + 1)) / float(k * (rest + k))
            else:
                weight *= float((k + 1) * (rest + k + 1)) / float((a - k) * (b - k))
            own = _divergence((k * records - product) / whole)
            weights += weight
            weighted_sum += weight * own
            if weight * (1.0 + own) < CUT * weighted_sum:
                break
    return weighted_sum / weights


@jit
def expected_terms(first: Ints, second: Ints, times: Ints, records: int, rows: Any) -> None:
    """Fill `rows`: for each size of the first column the sum over the sizes of the second."""
    for i in range(len(first)):
        total = 0.0
        for j in range(len(second)):
            each = _mean(first[i], second[j], records)
            total += each * float(first[i]) * float(second[j]) * float(times[j])
        rows[i] = total


@jit
def shuffle(
    codes: Ints, key: Any, starts: Ints, ends: Ints, limits: Ints, values: int, most: int
) -> Ints:
    """Draw codes for runs of places; return how many cells have at least 0, 1, 2, ... records.

    A place takes a code from itself on, below the limit of its run (Fisher and Yates). No cell has
    more than `most` records. `permutation._random_below` makes the same random numbers.
    """
    reached = np.zeros(most + 2, dtype=np.int64)
    # The start of the last run with a code, plus its count.
    last_run = np.zeros(values, dtype=np.int64)
    for run in range(len(starts)):
        start = starts[run]
        i = np.uint64(start)
        room = np.uint64(limits[run] - start)
        for _ in range(ends[run] - start):
            key += np.uint64(STEP)
            z = (key ^ (key >> np.uint64(30))) * np.uint64(FIRST_FACTOR)
            z = (z ^ (z >> np.uint64(27))) * np.uint64(SECOND_FACTOR)
            z ^= z >> np.uint64(31)
            low = (z & np.uint64(LOW_BITS)) * room >> np.uint64(32)
            j = i + (((z >> np.uint64(32)) * room + low) >> np.uint64(32))
            code = codes[j]
            codes[j] = codes[i]  # the place itself is not used again
            i += np.uint64(1)
            room -= np.uint64(1)
            n = max(last_run[code] - start, np.int64(0)) + 1
            last_run[code] = start + n
            reached[np.uint64(n)] += 1
    return reached


@jit
def _within(sorted_: Any, value: float, at: int, radius: float) -> int:
    """Count the other sorted values that are nearer than `radius` to the `value` at a place."""
    low = 0
    high = at
    while low < high:
        middle = (low + high) // 2
        if value - sorted_[middle] < radius:
            high = middle
        else:
            low = middle + 1
    first = low
    low = at
    high = len(sorted_)
    while low < high:
        middle = (low + high) // 2
        if sorted_[middle] - value < radius:
            low = middle + 1
        else:
            high = middle
    return max(0, low - first - 1)


@jit
def neighbours(
    x: Any, y: Any, sorted_y: Any, rank: Ints, k: int, first: int, last: int, nx: Ints, ny: Ints
) -> None:
    """Count the points nearer in x, and in y, than the k-th nearest in both; x ascends."""
    best = np.empty(k)
    for i in range(first, last):
        best[:] = np.inf
        left = i - 1
        right = i + 1
        while True:
            to_left = x[i] - x[left] if left >= 0 else np.inf
            to_right = x[right] - x[i] if right < len(x) else np.inf
            if min(to_left, to_right) >= best[k - 1]:
                break
            if to_left <= to_right:
                far = max(to_left, abs(y[left] - y[i]))
                left -= 1
            else:
                far = max(to_right, abs(y[right] - y[i]))
                right += 1
            for j in range(k):
                if far < best[j]:
                    best[j], far = far, best[j]
        nx[i] = _within(x, x[i], i, best[k - 1])
        ny[i] = _within(sorted_y, y[i], rank[i], best[k - 1])
