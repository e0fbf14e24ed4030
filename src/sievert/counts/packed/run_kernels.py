"""Loops over the runs of an array, compiled: their bounds, order, words and kinds.

Runs are given by their bounds: run i goes from `bounds[i]` up to `bounds[i + 1]`.
"""

import numpy as np

from sievert.arrays import Ints
from sievert.counts.packed.kernels import EMPTY, copy_rows, free_slot, mix_bits
from sievert.numerics.acceleration import jit


@jit
def sort_downwards(words: Ints, bounds: Ints) -> None:
    """Sort the words of each run in descending order, in place."""
    for c in range(len(bounds) - 1):
        first = bounds[c]
        last = bounds[c + 1]
        gap = 1  # Shell's sort: for a few words, by far the most runs, plain insertion
        while gap < (last - first) // 9:
            gap = 3 * gap + 1
        while gap > 0:
            for i in range(first + gap, last):
                word = words[i]
                j = i - gap
                while j >= first and words[j] < word:
                    words[j + gap] = words[j]
                    j -= gap
                words[j + gap] = word
            gap //= 3


@jit
def _same(words: Ints, bounds: Ints, a: int, b: int) -> bool:
    """Whether two runs are equal."""
    if bounds[a + 1] - bounds[a] != bounds[b + 1] - bounds[b]:
        return False
    for i in range(bounds[a + 1] - bounds[a]):
        if words[bounds[a] + i] != words[bounds[b] + i]:
            return False
    return True


@jit
def distinct(words: Ints, bounds: Ints) -> tuple[Ints, Ints]:
    """The distinct runs of words: the first of each kind, and the number of runs of the kind."""
    size = 1 << 16
    number = 0
    table = np.full(size, EMPTY, dtype=np.int64)
    kinds = np.zeros((size, 3), dtype=np.int64)  # the first run, how many there are, the hash
    for c in range(len(bounds) - 1):
        h = np.uint64(bounds[c + 1] - bounds[c])
        for i in range(bounds[c], bounds[c + 1]):
            h = mix_bits(h ^ np.uint64(words[i])) + np.uint64(0x9E3779B97F4A7C15)
        key = np.int64(h >> np.uint64(1))
        slot = key & (size - 1)
        while table[slot] != EMPTY and not (
            kinds[table[slot], 2] == key and _same(words, bounds, kinds[table[slot], 0], c)
        ):
            slot = (slot + 1) & (size - 1)
        if table[slot] == EMPTY:
            table[slot] = number
            kinds[number, 0] = c
            kinds[number, 2] = key
            number += 1
        kinds[table[slot], 1] += 1
        if 2 * number > size:
            size *= 2
            table = np.full(size, EMPTY, dtype=np.int64)
            before = kinds
            kinds = np.zeros((size, 3), dtype=np.int64)
            copy_rows(before, kinds, number)
            for kind in range(number):
                table[free_slot(table, kinds[kind, 2] & (size - 1))] = kind
    return kinds[:number, 0], kinds[:number, 1]


@jit
def _before(words: Ints, bounds: Ints, a: int, b: int) -> bool:
    """Whether run a comes before run b by their words."""
    size = bounds[a + 1] - bounds[a]
    other = bounds[b + 1] - bounds[b]
    for i in range(min(size, other)):
        x = words[bounds[a] + i]
        y = words[bounds[b] + i]
        if x != y:
            return bool(x < y)
    return bool(size < other)


@jit
def order_runs(words: Ints, bounds: Ints, runs: Ints) -> Ints:
    """Sort runs by their words, by merge sort."""
    ordered = runs.astype(np.int64)
    merged = np.empty(len(runs), dtype=np.int64)
    width = 1
    while width < len(runs):
        for left in range(0, len(runs), 2 * width):
            middle = min(left + width, len(runs))
            end = min(left + 2 * width, len(runs))
            i = left
            j = middle
            for k in range(left, end):
                if j >= end or (i < middle and not _before(words, bounds, ordered[j], ordered[i])):
                    merged[k] = ordered[i]
                    i += 1
                else:
                    merged[k] = ordered[j]
                    j += 1
        ordered, merged = merged, ordered
        width *= 2
    return ordered


@jit
def first_runs(words: Ints, bounds: Ints, order: Ints) -> Ints:
    """The places in `order` where a run differs from the run before."""
    firsts = np.empty(len(order), dtype=np.int64)
    number = 0
    for i in range(len(order)):
        if i == 0 or not _same(words, bounds, order[i - 1], order[i]):
            firsts[number] = i
            number += 1
    return firsts[:number]


@jit
def gather_runs(words: Ints, bounds: Ints, runs: Ints) -> tuple[Ints, Ints]:
    """The words of these runs one after the other, and where each run starts."""
    starts = np.empty(len(runs), dtype=np.int64)
    size = 0
    for r in range(len(runs)):
        starts[r] = size
        size += bounds[runs[r] + 1] - bounds[runs[r]]
    flat = np.empty(size, dtype=np.int64)
    for r in range(len(runs)):
        for i in range(bounds[runs[r] + 1] - bounds[runs[r]]):
            flat[starts[r] + i] = words[bounds[runs[r]] + i]
    return flat, starts


@jit
def run_bounds(keys: Ints, low: int) -> Ints:
    """The bounds of the runs of sorted keys that are equal above their low bits."""
    by = np.uint64(low)
    number = 0
    for i in range(len(keys)):
        number += i == 0 or keys[i] >> by != keys[i - 1] >> by
    bounds = np.full(number + 1, len(keys), dtype=np.int64)
    number = 0
    for i in range(len(keys)):
        if i == 0 or keys[i] >> by != keys[i - 1] >> by:
            bounds[number] = i
            number += 1
    return bounds


@jit
def sum_runs(counts: Ints, bounds: Ints) -> Ints:
    """The sum of each run of counts."""
    sums = np.zeros(len(bounds) - 1, dtype=np.int64)
    for c in range(len(sums)):
        for i in range(bounds[c], bounds[c + 1]):
            sums[c] += counts[i]
    return sums


@jit
def several(counts: Ints, bounds: Ints) -> tuple[Ints, Ints, Ints]:
    """The counts of classes with one cell; the counts and bounds of the other classes."""
    single = 0
    for c in range(len(bounds) - 1):
        single += bounds[c + 1] - bounds[c] == 1
    alone = np.empty(single, dtype=np.int64)
    words = np.empty(len(counts) - single, dtype=np.int64)
    own = np.zeros(len(bounds) - single, dtype=np.int64)
    single = cells = klass = 0
    for c in range(len(bounds) - 1):
        if bounds[c + 1] - bounds[c] == 1:
            alone[single] = counts[bounds[c]]
            single += 1
            continue
        for i in range(bounds[c], bounds[c + 1]):
            words[cells] = counts[i]
            cells += 1
        klass += 1
        own[klass] = cells
    return alone, words, own
