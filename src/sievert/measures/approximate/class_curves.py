"""H(eps) of the classes of a table: the curve of every different class, in compiled code.

Every number has the bits that `compromises` gives: the same sums, the same logarithms (NumPy's) and
the same steps. Only the values that occur in a class take part: a value of probability 0 adds
nothing, and a run that ends with it is no better than one that ends before. A run that fits the
window is never cut: each part would add the entropy of the cut, at least one over the records of
the class, which is far above what rounding can hide. Of two neighbouring runs one cannot grow into
the other (`windows`): otherwise a value moved from one to the other would lower the entropy by at
least 2.8 over the squared records, which up to a million is more than rounding can hide, too.

Compiled loops take arrays, not objects that hold them: hence the many parameters, and the length of
`trace_curves`, a third of which they are.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.counts.packed import run_kernels
from sievert.measures.approximate.curves import FLAT, PER_NAT, Axis
from sievert.numerics.acceleration import jit, thread_count

CHUNK = 1 << 16  # probabilities, or costs, that are worked on at a time
DENSE = 16  # windows per value of a class up to which all windows are solved together
SURE = 1 << 20  # records up to which a move of one of them outweighs all rounding
DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)  # times a power of two: its highest six bits tell which
BIT_NUMBERS = np.argsort([(int(DE_BRUIJN) << i & (1 << 64) - 1) >> 58 for i in range(64)])


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
def solve_all(costs: Floats, places: Ints, every: bool, h: Floats) -> None:
    """The least entropy of the first values, as many as the row's number, for each whole window.

    Rows before the last have what those behind them need. Unless `every`, a run is tried only for
    windows where it or the run before it cannot grow into the other, and so it and the run behind.
    """
    size, top = len(places), places[-1]
    for i in range(1, size + 1):
        base, reach = i * (i - 1) // 2, places[i - 1]
        for w in range(np.uint64(reach), np.uint64(top)):
            h[i, w] = costs[base]
        if i > 1:
            cost = costs[base + i - 1]
            for w in range(np.uint64(reach)):
                h[i, w] = h[i - 1, w] + cost
        j = i - 2
        while j >= 4:  # four beginnings of the last run at a time: what they share is read once
            a, b = costs[base + j], costs[base + j - 1]
            c, d = costs[base + j - 2], costs[base + j - 3]
            end = max(reach - places[j - 4], places[j])
            if i < size:
                end = min(end, max(top - reach, places[i] - places[j - 3]))
            end = reach if every else min(end, reach)
            common = min(reach - places[j - 3], end)
            fits = np.uint64(reach - places[j - 1]), np.uint64(reach - places[j - 2])
            for w in range(np.uint64(reach - places[j]), np.uint64(common)):
                least = min(h[i, w], h[j, w] + a)
                second, third = h[j - 1, w] + b, h[j - 2, w] + c
                least = min(least, second if w >= fits[0] else least)
                h[i, w] = min(least, third if w >= fits[1] else least)
            for w in range(np.uint64(common), np.uint64(end)):
                later = min(h[j, w] + a, h[j - 1, w] + b)
                earlier = min(h[j - 2, w] + c, h[j - 3, w] + d)
                h[i, w] = min(h[i, w], min(later, earlier))
            j -= 4
        for k in range(j, 0, -1):
            end = max(reach - places[k - 1], places[k])
            if i < size:
                end = min(end, max(top - reach, places[i] - places[k]))
            end = reach if every else min(end, reach)
            for w in range(np.uint64(reach - places[k]), np.uint64(end)):
                h[i, w] = min(h[i, w], h[k, w] + costs[base + k])


@jit
def rank_pairs(codes: Ints, ranks: Ints, bits: Ints, own: Ints) -> int:
    """The pairs of a class's values in the order of their distances; returns how many there are.

    `ranks` of two codes is the place of theirs among all pairs in that order; `bits` has a bit for
    each place, 0 before and after.
    """
    number = 0
    for j in range(len(codes)):
        row = ranks[codes[j]]
        for i in range(j + 1, len(codes)):
            rank = np.uint64(row[codes[i]])
            bits[rank >> np.uint64(6)] |= np.uint64(1) << (rank & np.uint64(63))
    for place in range(len(bits)):
        word = bits[place]
        bits[place] = 0
        while word != 0:
            lowest = word & (~word + np.uint64(1))
            own[number] = 64 * place + BIT_NUMBERS[(lowest * DE_BRUIJN) >> np.uint64(58)]
            number += 1
            word ^= lowest
    return number


@jit
def solve_growing(
    costs: Floats,
    pairs: Ints,
    first: Ints,
    second: Ints,
    lengths: Ints,
    place: Ints,
    every: bool,
    last: Ints,
    eights: Ints,
    h: Floats,
    at: Ints,
    levels: Floats,
) -> int:
    """The windows from 0 on where the least entropy falls, and to what; returns how many.

    The window lets in one run after the other: `last[j]` is where the longest one from j ends. What
    it improves goes on to the runs behind. Of two neighbours one cannot grow into the other, unless
    `every`: behind a run that can grow (change 1) only those that cannot grow back are tried, and
    from `far` on, where a run to the end can grow back, only runs before it that cannot grow.
    `eights` has the changes, 0 before and after: eight places without any are one word that is 0.
    """
    size, falls, k, change = len(last), 1, 0, eights.view(np.uint8)
    far = size
    for i in range(1, size + 1):
        h[i], last[i - 1] = h[i - 1] + costs[i * (i - 1) // 2 + i - 1], i
    at[0], levels[0] = 0, h[size]
    while k < len(pairs):
        window, j = lengths[pairs[k]], size
        while k < len(pairs) and lengths[pairs[k]] == window:
            begin, i = place[first[pairs[k]]], place[second[pairs[k]]] + 1
            last[begin] = i
            far = min(far, begin + 1) if i == size else far
            value = h[begin] + costs[i * (i - 1) // 2 + begin]
            if value < h[i]:
                h[i], change[i], j = value, 2, min(j, i)
            k += 1
        while j < size:
            if change[j] == 0:
                j = (j | 7) + 1 if eights[j >> 3] == 0 else j + 1
                continue
            begin = j + 1 if every or change[j] >= 2 else max(j, last[j - 1]) + 1
            change[j], end, here = 0, last[j], h[j]
            run = begin * (begin - 1) // 2 + j
            for i in range(np.uint64(begin), np.uint64(end if every else min(end, far))):
                value, before = here + costs[run], h[i]
                h[i] = value if value < before else before
                change[i] |= value < before
                run += np.int64(i)
            value, before = here + costs[end * (end - 1) // 2 + j], h[end]
            h[end] = value if value < before else before
            change[end] |= np.uint8(2) if value < before else np.uint8(0)
            j += 1
        change[size] = 0
        if h[size] != levels[falls - 1]:
            at[falls], levels[falls] = window, h[size]
            falls += 1
    return falls


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
    first: Ints,
    second: Ints,
    lengths: Ints,
    begins: Ints,
    heights: Floats,
    widths: Floats,
) -> int:
    """The steps of the curve of every class, one after the other: H, and how long it lasts.

    `grid` says that the windows are the whole numbers from 0 on; `lengths` are the numbers of the
    windows of all pairs of values. Returns the number of steps.
    """
    steps = before = most = 0
    for row in range(len(classes)):
        most = max(most, bounds[classes[row] + 1] - bounds[classes[row]])
    near, place = np.zeros(most, dtype=np.int64), np.full(len(places), -1)
    last, eights = np.zeros(most, dtype=np.int64), np.zeros(most // 8 + 1, dtype=np.uint64)
    bits = np.zeros(len(first) // 64 + 1, dtype=np.uint64)
    pairs = np.zeros(most * (most - 1) // 2, dtype=np.int64)
    at, levels = np.zeros(len(windows), dtype=np.int64), np.zeros(len(windows))
    h = np.zeros(most + 1)
    every = np.zeros((most + 1, min(DENSE * most, len(windows)) + 1))
    for row in range(len(classes)):
        start = bounds[classes[row]]
        size = bounds[classes[row] + 1] - start
        own, unsure = codes[start : start + size], records[row] > SURE
        runs = costs[before : before + size * (size + 1) // 2]
        before += len(runs)
        for i in range(size):
            near[i] = np.int64(places[own[i]] - places[own[0]]) if grid else 0
            place[own[i]] = i
        span, falls = near[size - 1], 1
        if size == 1:
            at[0], levels[0] = 0, 0.0
        elif grid and span <= DENSE * size:
            solve_all(runs, near[:size], unsure, every)
            for w in range(span + 1):
                at[w], levels[w] = w, every[size, w] if w < span else 0.0
            falls = span + 1
        else:
            number = rank_pairs(own, ranks, bits, pairs)
            falls = solve_growing(
                runs,
                pairs[:number],
                first,
                second,
                lengths,
                place,
                unsure,
                last[:size],
                eights,
                h,
                at,
                levels,
            )
        for i in range(size):
            place[own[i]] = -1
        begins[row], heights[steps], until = steps, levels[0], 0
        for k in range(1, falls):
            if levels[k - 1] - levels[k] > FLAT * levels[k - 1]:
                widths[steps] = windows[at[k]] - windows[until]
                steps += 1
                heights[steps], until = levels[k], at[k]
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
    first, second = np.triu_indices(values, 1)
    order = np.argsort(axis.places[second] - axis.places[first], kind="stable")
    first, second = first[order].astype(np.int32), second[order].astype(np.int32)
    lengths = np.searchsorted(windows, axis.places[second] - axis.places[first]).astype(np.int32)
    ranks = np.zeros((values, values), dtype=np.int32)
    ranks[first, second] = np.arange(len(first))
    sizes = np.add.reduceat(counts, bounds[:-1])
    cells = np.diff(bounds)[classes]
    # A chunk has so many probabilities or runs as are near the processor.
    work = np.cumsum(np.maximum(values, cells * (cells + 1) // 2))
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
            costs,
            codes,
            bounds,
            some,
            sizes[some],
            axis.places,
            windows,
            grid,
            ranks,
            first,
            second,
            lengths,
            begins,
            heights,
            widths,
        )
        heights, widths = heights[:steps], widths[:steps]
        return np.stack((heights[begins], axis.real(np.add.reduceat(heights * widths, begins))))

    with ThreadPoolExecutor(thread_count(threads)) as pool:
        initial, area = np.concatenate(list(pool.map(measure, parts)), axis=1)
    return initial, area
