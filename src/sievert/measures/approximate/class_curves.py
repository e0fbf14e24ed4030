"""H(eps) of the classes of a table: the curve of every different class, in compiled code.

Every number has the bits that `compromises` gives: the same sums, the same logarithms (NumPy's) and
the same halving of windows. Only the values that occur in a class take part: a value of
probability 0 adds nothing, and a run that ends with it is no better than one that ends before.
A run that fits the window is never cut: each part would add the entropy of the cut, at least one
over the records of the class, which is far above what rounding can hide.

Compiled loops take arrays, not objects that hold them: hence the many parameters.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.counts.packed import run_kernels
from sievert.measures.approximate.curves import FLAT, PER_NAT, Axis
from sievert.numerics.acceleration import jit, thread_count

CHUNK = 1 << 16  # probabilities, or costs, that are worked on at a time
DENSE = 4  # windows per value of a class up to which all windows are solved together
DEEP = 256  # more than the ends of intervals that wait while windows are halved


@jit
def spread(codes: Ints, counts: Ints, bounds: Ints, classes: Ints, matrix: Floats) -> None:
    """Put the counts of some classes into rows of a table that is 0, a column for each value."""
    for row in range(len(classes)):
        for cell in range(bounds[classes[row]], bounds[classes[row] + 1]):
            matrix[row, codes[cell]] = counts[cell]


@jit
def weigh_runs(
    shares: Floats,
    codes: Ints,
    bounds: Ints,
    classes: Ints,
    masses: Floats,
    large: Ints,
    rests: Floats,
) -> tuple[int, int]:
    """The mass of every run of values of every class; of those above 0.5, what is left of 1.

    The run (j, i] is at place i·(i-1)/2 + j behind the runs of the classes before. Returns how many
    runs there are, and how many large ones.
    """
    sums = np.zeros((3, shares.shape[1] + 1))
    high, low, rest = sums[0], sums[1], sums[2]
    runs = many = 0
    for row in range(len(classes)):
        start = bounds[classes[row]]
        size = bounds[classes[row] + 1] - start
        for i in range(size):
            p, total = shares[row, codes[start + i]], high[i]
            new = total + p
            part = new - total
            high[i + 1] = new
            low[i + 1] = low[i] + ((total - (new - part)) + (p - part))
        for i in range(1, size + 1):
            rest[i] = (high[size] - high[i]) + (low[size] - low[i])
            for j in range(i):
                mass = (high[i] - high[j]) + (low[i] - low[j])
                masses[runs] = mass
                if mass > 0.5:
                    large[many] = runs
                    rests[many] = -(high[j] + rest[i])
                    many += 1
                runs += 1
    return runs, many


@jit
def cost_runs(masses: Floats, logs: Floats, large: Ints, near_one: Floats) -> None:
    """-q·log2(q) of every mass, in the place of its logarithm; those near 1 by their own."""
    for run in range(len(masses)):
        logs[run] = -masses[run] * logs[run]
    for k in range(len(large)):
        logs[large[k]] = -masses[large[k]] * near_one[k] * PER_NAT


@jit
def solve_all(costs: Floats, places: Ints, h: Floats) -> None:
    """The least entropy of the first values, as many as the row's number, for each whole window."""
    size, top = len(places), places[-1]
    for i in range(1, size + 1):
        base, reach = i * (i - 1) // 2, places[i - 1]
        for w in range(reach, top):
            h[i, w] = costs[base]
        if i > 1:
            cost = costs[base + i - 1]
            for w in range(reach):
                h[i, w] = h[i - 1, w] + cost
        j = i - 2
        while j >= 4:  # four beginnings of the last run at a time: what they share is read once
            a, b = costs[base + j], costs[base + j - 1]
            c, d = costs[base + j - 2], costs[base + j - 3]
            common = reach - places[j - 3]
            for w in range(reach - places[j], common):
                least = min(h[i, w], h[j, w] + a)
                if w >= reach - places[j - 1]:
                    least = min(least, h[j - 1, w] + b)
                if w >= reach - places[j - 2]:
                    least = min(least, h[j - 2, w] + c)
                h[i, w] = least
            for w in range(np.uint64(common), np.uint64(reach)):
                later = min(h[j, w] + a, h[j - 1, w] + b)
                earlier = min(h[j - 2, w] + c, h[j - 3, w] + d)
                h[i, w] = min(h[i, w], min(later, earlier))
            j -= 4
        for k in range(j, 0, -1):
            for w in range(reach - places[k], reach):
                h[i, w] = min(h[i, w], h[k, w] + costs[base + k])


@jit
def solve_one(costs: Floats, x: Floats, eps: float, first: Ints, h: Floats, known: Floats) -> float:
    """The least entropy for one window; what is known already is found by the runs that fit."""
    size, j, fit = len(x), 0, 0
    for i in range(size):
        while x[i] - x[j] > eps:
            j += 1
        first[i + 1] = j
        fit += i - j
    if known[fit] < 0.0:
        for i in range(1, size + 1):
            base = i * (i - 1) // 2
            least = costs[base] if first[i] == 0 else h[i - 1] + costs[base + i - 1]
            if first[i] > 0:
                for k in range(first[i], i - 1):
                    least = min(least, h[k] + costs[base + k])
            h[i] = least
        known[fit] = h[size]
    return float(known[fit])


@jit
def trace_curves(
    costs: Floats,
    codes: Ints,
    bounds: Ints,
    classes: Ints,
    places: Floats,
    windows: Floats,
    grid: bool,
    begins: Ints,
    heights: Floats,
    widths: Floats,
) -> int:
    """The steps of the curve of every class, one after the other: H, and how long it lasts.

    `grid` says that the windows are the whole numbers from 0 on. Returns the number of steps.
    """
    steps = before = most = 0
    for row in range(len(classes)):
        most = max(most, bounds[classes[row] + 1] - bounds[classes[row]])
    x, near = np.zeros(most), np.zeros(most, dtype=np.int64)
    first, h = np.zeros(most + 1, dtype=np.int64), np.zeros(most + 1)
    known = np.zeros(most * (most - 1) // 2 + 1)
    every = np.zeros((most + 1, DENSE * most + 1))
    ends, values = np.zeros((DEEP, 2), dtype=np.int64), np.zeros((DEEP, 2))
    for row in range(len(classes)):
        start = bounds[classes[row]]
        size = bounds[classes[row] + 1] - start
        own = costs[before : before + size * (size + 1) // 2]
        before += len(own)
        for i in range(size):
            x[i] = places[codes[start + i]]
            near[i] = np.int64(x[i] - x[0]) if grid else 0
        span = near[size - 1]
        together = grid and span <= DENSE * size
        if together:
            solve_all(own, near[:size], every)
        else:
            known[: size * (size - 1) // 2 + 1] = -1.0
        initial = 0.0
        if size > 1:
            initial = every[size, 0] if together else solve_one(own, x[:size], 0.0, first, h, known)
        begins[row], heights[steps], last = steps, initial, 0
        ends[0, 0], ends[0, 1], values[0, 0], values[0, 1] = 0, len(windows) - 1, initial, 0.0
        waiting = 1
        while waiting:
            waiting -= 1
            low, high = ends[waiting, 0], ends[waiting, 1]
            above, below = values[waiting, 0], values[waiting, 1]
            if not above - below > FLAT * above:
                continue
            if high - low == 1:
                widths[steps] = windows[high] - windows[last]
                steps += 1
                heights[steps], last = below, high
                continue
            middle = (low + high) // 2
            if together:
                value = every[size, middle] if middle < span else 0.0
            else:
                value = solve_one(own, x[:size], windows[middle], first, h, known)
            ends[waiting, 0], ends[waiting, 1] = middle, high
            values[waiting, 0], values[waiting, 1] = value, below
            ends[waiting + 1, 0], ends[waiting + 1, 1] = low, middle
            values[waiting + 1, 0], values[waiting + 1, 1] = above, value
            waiting += 2
        widths[steps] = 0.0
        steps += 1
    return steps


def different_classes(codes: Ints, counts: Ints, bounds: Ints) -> tuple[Ints, Ints]:
    """One class of each kind, in the order of the first ones, and how many there are of it."""
    if int(counts.max()) >> 32:
        return np.arange(len(bounds) - 1), np.ones(len(bounds) - 1, dtype=np.int64)
    return run_kernels.distinct((codes << 32) | counts, bounds)


def trace_classes(
    axis: Axis, codes: Ints, counts: Ints, bounds: Ints, classes: Ints, threads: int | None = None
) -> tuple[Floats, Floats]:
    """Initial entropy and area of the secret in some classes, at least two.

    Cells are in the order of their classes and, within each, of the values, which `codes` number.
    """
    windows = axis.differences(np.inf)
    assert windows is not None
    values, top = len(axis.places), float(axis.places[-1])
    grid = axis.whole and len(windows) == top + 1
    sizes = np.add.reduceat(counts, bounds[:-1])
    lengths = np.diff(bounds)[classes]
    # A chunk has so many probabilities or runs as are near the processor.
    work = np.cumsum(np.maximum(values, lengths * (lengths + 1) // 2))
    parts = np.split(classes, np.flatnonzero(np.diff(work // CHUNK)) + 1)

    def measure(some: Ints) -> Floats:
        own = bounds[some + 1] - bounds[some]
        matrix = np.zeros((len(some), values))
        spread(codes, counts, bounds, some, matrix)
        matrix /= sizes[some][:, None]
        matrix /= matrix.sum(axis=1)[:, None]
        runs = int((own * (own + 1) // 2).sum())
        masses, rests = np.empty(runs), np.empty(runs)
        large = np.empty(runs, dtype=np.int64)
        runs, many = weigh_runs(matrix, codes, bounds, some, masses, large, rests)
        costs, near_one = np.log2(masses), np.log1p(rests[:many])
        cost_runs(masses, costs, large[:many], near_one)
        longest = int(np.minimum(own * (own - 1) // 2 + 1, len(windows)).sum())
        begins = np.empty(len(some), dtype=np.int64)
        heights, widths = np.empty(longest + 1), np.empty(longest + 1)
        steps = trace_curves(
            costs, codes, bounds, some, axis.places, windows, grid, begins, heights, widths
        )
        heights, widths = heights[:steps], widths[:steps]
        return np.stack((heights[begins], axis.real(np.add.reduceat(heights * widths, begins))))

    with ThreadPoolExecutor(thread_count(threads)) as pool:
        initial, area = np.concatenate(list(pool.map(measure, parts)), axis=1)
    return initial, area
