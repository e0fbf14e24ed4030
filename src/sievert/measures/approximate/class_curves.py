"""H(eps) of the classes of a table: the curve of every different class, in compiled code.

Every number has the bits that `compromises` gives: the same sums, the same logarithms (NumPy's) and
the same steps. Only the values that occur in a class take part: a value of probability 0 adds
nothing, and a run that ends with it is no better than one that ends before.

Compiled loops take arrays, not objects with arrays. That is why they have many parameters.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.counts.packed import run_kernels
from sievert.measures.approximate.class_windows import (
    order_pairs,
    rank_pairs,
    solve_all,
    solve_growing,
    solve_narrow,
)
from sievert.measures.approximate.curves import FLAT, PER_NAT, Axis
from sievert.numerics.acceleration import jit, thread_count

CHUNK = 1 << 16  # probabilities, or costs, that are worked on at a time
DENSE = 16  # windows per value of a class up to which all windows are solved together
NARROW = 4  # windows per value of a class, the narrowest, that are solved together in any case
SURE = 1 << 20  # records up to which a move of one of them outweighs all rounding


@jit
def spread(codes: Ints, counts: Ints, bounds: Ints, classes: Ints, matrix: Floats) -> None:
    """Put the counts of some classes into rows of a table of zeros, with a column per value."""
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
    """Write the mass of every run of every class; for masses above 0.5 also the rest to 1.

    The run (j, i] is at place i·(i-1)/2 + j behind the runs of the classes before. Return the
    number of runs, and the number of large ones.
    """
    sums = np.zeros((3, shares.shape[1] + 1))
    high = sums[0]
    low = sums[1]
    rest = sums[2]
    runs = many = 0
    for row in range(len(classes)):
        start = bounds[classes[row]]
        size = bounds[classes[row] + 1] - start
        for i in range(size):
            p = shares[row, codes[start + i]]
            total = high[i]
            new = total + p
            part = new - total
            high[i + 1] = new
            low[i + 1] = low[i] + ((total - (new - part)) + (p - part))
        for i in range(1, size + 1):
            rest[i] = (high[size] - high[i]) + (low[size] - low[i])
            own = masses[runs : runs + i]
            for j in range(np.uint64(i)):
                own[j] = (high[i] - high[j]) + (low[i] - low[j])
            j = 0
            while j < i and own[j] > 0.5:  # the longest runs: every value adds at least a record
                large[many + j] = runs + j
                rests[many + j] = -(high[j] + rest[i])
                j += 1
            runs = runs + i
            many = many + j
    return runs, many


@jit
def cost_runs(masses: Floats, logs: Floats, large: Ints, near_one: Floats) -> None:
    """Replace the logarithms of masses by -q·log2(q); `large` ones have logarithms of their own."""
    for run in range(len(masses)):
        logs[run] = -masses[run] * logs[run]
    for k in range(len(large)):
        logs[large[k]] = -masses[large[k]] * near_one[k] * PER_NAT


@jit
def trace_curves(
    costs: Floats,
    codes: Ints,
    bounds: Ints,
    classes: Ints,
    records: Ints,
    places: Floats,
    windows: Floats,
    grid: bool,
    ranks: Ints,
    pairs: Ints,
    begins: Ints,
    heights: Floats,
    widths: Floats,
) -> int:
    """Write the steps of the curve of every class: H, and the length of the step.

    `grid` says that the windows are the whole numbers from 0 on. `pairs` of values are in the order
    of their distances: the number of the window, and 16 bits for each of the codes. Return the
    number of steps.
    """
    steps = before = most = 0
    for row in range(len(classes)):
        most = max(most, bounds[classes[row] + 1] - bounds[classes[row]])
    near = np.zeros(most, dtype=np.int64)
    place = np.full(len(places), -1)
    last = np.zeros(most, dtype=np.int64)
    eights = np.zeros(most // 8 + 1, dtype=np.uint64)
    bits = np.zeros(len(pairs) // 64 + 1, dtype=np.uint64)
    ordered = np.empty(most * (most - 1) // 2, dtype=np.int64)
    column = np.empty(most * (most + 1) // 2, dtype=np.int64)
    at = np.empty(len(windows), dtype=np.int64)
    levels = np.empty(len(windows))
    h = np.zeros(most + 1)
    table = np.empty((most + 1, min((DENSE if grid else NARROW) * most, len(windows)) + 1))
    table[0] = 0.0
    for row in range(len(classes)):
        start = bounds[classes[row]]
        size = bounds[classes[row] + 1] - start
        own = codes[start : start + size]
        unsure = records[row] > SURE
        runs = costs[before : before + size * (size + 1) // 2]
        before += len(runs)
        for i in range(size):
            near[i] = np.int64(places[own[i]] - places[own[0]]) if grid else 0
            place[own[i]] = i
        span = near[size - 1]
        falls = 1
        if size == 1:
            at[0] = 0
            levels[0] = 0.0
        elif grid and span <= DENSE * size:
            solve_all(runs, near[:size], unsure, table)
            for w in range(span + 1):
                at[w] = w
                levels[w] = table[size, w] if w < span else 0.0
            falls = span + 1
        else:
            number = rank_pairs(own, ranks, pairs, bits, ordered)
            few = min(number, NARROW * size)
            while few < number and ordered[few] >> 32 == ordered[few - 1] >> 32:
                few += 1
            falls = solve_narrow(
                runs,
                ordered[:few],
                place,
                last[:size],
                column,
                table,
                h,
                at,
                levels,
            )
            falls = solve_growing(
                runs,
                ordered[few:number],
                place,
                unsure,
                last[:size],
                eights,
                h,
                at,
                levels,
                falls,
            )
        for i in range(size):
            place[own[i]] = -1
        begins[row] = steps
        heights[steps] = levels[0]
        until = 0
        for k in range(1, falls):
            if levels[k - 1] - levels[k] > FLAT * levels[k - 1]:
                widths[steps] = windows[at[k]] - windows[until]
                steps += 1
                heights[steps] = levels[k]
                until = at[k]
        widths[steps] = 0.0
        steps += 1
    return steps


def different_classes(codes: Ints, counts: Ints, bounds: Ints) -> tuple[Ints, Ints]:
    """The first class of each kind, and the number of classes of that kind."""
    if int(counts.max()) >> 32:
        return np.arange(len(bounds) - 1), np.ones(len(bounds) - 1, dtype=np.int64)
    return run_kernels.distinct((codes << 32) | counts, bounds)


def trace_classes(
    axis: Axis, codes: Ints, counts: Ints, bounds: Ints, classes: Ints, threads: int | None = None
) -> tuple[Floats, Floats]:
    """The initial entropy and the area of the secret in some classes, at least two.

    Cells are in the order of their classes and, within a class, of the values that `codes` number.
    """
    windows = axis.differences(np.inf)
    assert windows is not None
    values = len(axis.places)
    top = float(axis.places[-1])
    grid = axis.whole and len(windows) == top + 1
    pairs = order_pairs(axis.places, windows)
    ranks = np.zeros((values, values), dtype=np.int32)
    ranks[pairs >> 16 & 0xFFFF, pairs & 0xFFFF] = np.arange(len(pairs))
    sizes = np.add.reduceat(counts, bounds[:-1])
    cells = np.diff(bounds)[classes]
    # A chunk has as many probabilities or runs as fit into the processor's cache.
    runs = cells * (cells + 1) // 2
    work = np.cumsum(np.maximum(values, runs))
    cuts = np.flatnonzero(np.diff(work // CHUNK)) + 1
    chunks = list(zip(np.append(0, cuts), np.append(cuts, len(classes)), strict=True))
    most = int(np.add.reduceat(runs, np.append(0, cuts)).max())
    initial = np.empty(len(classes))
    area = np.empty(len(classes))
    waiting = iter(chunks)

    def measure(_: int) -> None:
        # Memory is taken once: the system clears new pages, which takes as long as the costs.
        room = np.empty((5, most + 1))
        large = np.empty(most, dtype=np.int64)
        for start, end in waiting:
            some = classes[start:end]
            matrix = np.zeros((len(some), values))
            spread(codes, counts, bounds, some, matrix)
            matrix /= sizes[some][:, None]
            matrix /= matrix.sum(axis=1)[:, None]
            number, many = weigh_runs(matrix, codes, bounds, some, room[0], large, room[1])
            masses = room[0, :number]
            rests = room[1, :many]
            costs = room[2, :number]
            cost_runs(masses, np.log2(masses, out=costs), large[:many], np.log1p(rests, out=rests))
            begins = np.empty(len(some), dtype=np.int64)
            steps = trace_curves(
                costs,
                codes,
                bounds,
                some,
                sizes[some],
                axis.places,
                windows,
                grid,
                ranks,
                pairs,
                begins,
                room[3],
                room[4],
            )
            heights = room[3, :steps]
            initial[start:end] = heights[begins]
            np.multiply(heights, room[4, :steps], out=heights)
            area[start:end] = axis.real(np.add.reduceat(heights, begins))

    workers = thread_count(threads)
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(measure, range(workers)))
    return initial, area
