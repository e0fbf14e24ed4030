"""The compiled loops: packing keys, and counting what repeats.

Imported only where a table is large enough for it; everything here is integers. The runs of an
array are given by their bounds: run i goes from `bounds[i]` up to `bounds[i + 1]`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sievert.arrays import Ints
from sievert.numerics.acceleration import jit

EMPTY = -1


@jit
def add_to(counts: Ints, keys: Ints) -> None:
    """Count keys in a dense array."""
    for i in range(len(keys)):
        counts[keys[i]] += 1


@jit
def sum_counts(values: Ints, counts: Ints, size: int) -> Ints:
    """The sum of the counts of each value."""
    totals = np.zeros(size, dtype=np.int64)
    for i in range(len(values)):
        totals[values[i]] += counts[i]
    return totals


@jit
def sum_fields(keys: Ints, shift: int, bits: int, counts: Ints) -> Ints:
    """The sum of the counts of each code in the `bits` bits above the `shift` lowest."""
    totals = np.zeros(1 << bits, dtype=np.int64)
    by, mask = np.uint64(shift), np.uint64((1 << bits) - 1)
    for i in range(len(keys)):
        totals[(keys[i] >> by) & mask] += counts[i]
    return totals


@jit
def pack(keys: Ints, numbers: Ints, minus: int, bits: int, least: int, shift: int) -> bool:
    """Put a column's codes into keys; False if one is too small, or does not fit its bits."""
    by = np.uint64(shift)
    for i in range(len(keys)):
        code = np.int64(numbers[i]) - minus
        if code < least or code >> bits:
            return False
        keys[i] = np.uint64(keys[i]) | (np.uint64(code) << by)
    return True


@jit
def sort_downwards(words: Ints, bounds: Ints) -> None:
    """Sort the words of each run in descending order, in place."""
    for c in range(len(bounds) - 1):
        first, last = bounds[c], bounds[c + 1]
        gap = 1  # Shell's sort: for a few words, by far the most runs, plain insertion
        while gap < (last - first) // 9:
            gap = 3 * gap + 1
        while gap > 0:
            for i in range(first + gap, last):
                word, j = words[i], i - gap
                while j >= first and words[j] < word:
                    words[j + gap] = words[j]
                    j -= gap
                words[j + gap] = word
            gap //= 3


@jit
def _mix_bits(x: Any) -> Any:
    """Bits of a 64-bit word well mixed (the finalizer of MurmurHash3)."""
    x ^= x >> np.uint64(33)
    x *= np.uint64(0xFF51AFD7ED558CCD)
    x ^= x >> np.uint64(33)
    x *= np.uint64(0xC4CEB9FE1A85EC53)
    x ^= x >> np.uint64(33)
    return x


@jit
def _copy_rows(source: Ints, target: Ints, number: int) -> None:
    """Copy the first rows; quicker to compile than an assignment of slices."""
    for row in range(number):
        for column in range(source.shape[1]):
            target[row, column] = source[row, column]


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
    size, number = 1 << 16, 0
    table = np.full(size, EMPTY, dtype=np.int64)
    kinds = np.zeros((size, 3), dtype=np.int64)  # the first run, how many there are, the hash
    for c in range(len(bounds) - 1):
        h = np.uint64(bounds[c + 1] - bounds[c])
        for i in range(bounds[c], bounds[c + 1]):
            h = _mix_bits(h ^ np.uint64(words[i])) + np.uint64(0x9E3779B97F4A7C15)
        key = np.int64(h >> np.uint64(1))
        slot = key & (size - 1)
        while table[slot] != EMPTY and not (
            kinds[table[slot], 2] == key and _same(words, bounds, kinds[table[slot], 0], c)
        ):
            slot = (slot + 1) & (size - 1)
        if table[slot] == EMPTY:
            table[slot] = number
            kinds[number, 0], kinds[number, 2] = c, key
            number += 1
        kinds[table[slot], 1] += 1
        if 2 * number > size:
            size *= 2
            table = np.full(size, EMPTY, dtype=np.int64)
            before, kinds = kinds, np.zeros((size, 3), dtype=np.int64)
            _copy_rows(before, kinds, number)
            for kind in range(number):
                slot = kinds[kind, 2] & (size - 1)
                while table[slot] != EMPTY:
                    slot = (slot + 1) & (size - 1)
                table[slot] = kind
    return kinds[:number, 0], kinds[:number, 1]


@jit
def _before(first: Ints, second: Ints, bounds: Ints, a: int, b: int) -> bool:
    """Whether run a comes before run b by the first words, or by the second where these agree."""
    size, other = bounds[a + 1] - bounds[a], bounds[b + 1] - bounds[b]
    for i in range(min(size, other)):
        x, y = first[bounds[a] + i], first[bounds[b] + i]
        if x != y:
            return bool(x < y)
    if size != other:
        return bool(size < other)
    for i in range(size):
        x, y = second[bounds[a] + i], second[bounds[b] + i]
        if x != y:
            return bool(x < y)
    return False


@jit
def order_runs(first: Ints, second: Ints, bounds: Ints, runs: Ints) -> Ints:
    """These runs in the order of their first words, then of their second words: merge sort."""
    ordered, merged = runs.astype(np.int64), np.empty(len(runs), dtype=np.int64)
    width = 1
    while width < len(runs):
        for left in range(0, len(runs), 2 * width):
            middle, end = min(left + width, len(runs)), min(left + 2 * width, len(runs))
            i, j = left, middle
            for k in range(left, end):
                if j >= end or (
                    i < middle and not _before(first, second, bounds, ordered[j], ordered[i])
                ):
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
    """Where in the order of some runs those begin that are equal."""
    firsts, number = np.empty(len(order), dtype=np.int64), 0
    for i in range(len(order)):
        if i == 0 or not _same(words, bounds, order[i - 1], order[i]):
            firsts[number] = i
            number += 1
    return firsts[:number]


@jit
def gather_runs(words: Ints, bounds: Ints, runs: Ints) -> tuple[Ints, Ints]:
    """The words of these runs one after the other, and where each run starts."""
    starts, size = np.empty(len(runs), dtype=np.int64), 0
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
    by, number = np.uint64(low), 0
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
def count_runs(keys: Ints) -> tuple[Ints, Ints]:
    """The different keys of sorted ones, and how often each occurs."""
    number = 0
    for i in range(len(keys)):
        number += i == 0 or keys[i] != keys[i - 1]
    different = np.empty(number, dtype=np.uint64)
    counts = np.empty(number, dtype=np.int64)
    number, start = 0, 0
    for i in range(len(keys)):
        if i + 1 == len(keys) or keys[i] != keys[i + 1]:
            different[number], counts[number] = keys[i], i + 1 - start
            number, start = number + 1, i + 1
    return different, counts


@jit
def rank_keys(keys: Ints) -> tuple[Ints, Ints]:
    """The number of each key among the different ones, which are in the order of their coming."""
    size, number = 1 << 12, 0
    table = np.full(size, EMPTY, dtype=np.int32)
    different = np.empty(size, dtype=np.uint64)
    ranks = np.empty(len(keys), dtype=np.uint32)
    for i in range(len(keys)):
        key = keys[i]
        slot = np.int64(_mix_bits(key) >> np.uint64(1)) & (size - 1)
        while table[slot] != EMPTY and different[table[slot]] != key:
            slot = (slot + 1) & (size - 1)
        if table[slot] == EMPTY:
            table[slot] = number
            different[number] = key
            number += 1
            if 2 * number > size:
                size *= 4
                table = np.full(size, EMPTY, dtype=np.int32)
                before, different = different, np.empty(size, dtype=np.uint64)
                for rank in range(number):
                    different[rank] = before[rank]
                    slot = np.int64(_mix_bits(before[rank]) >> np.uint64(1)) & (size - 1)
                    while table[slot] != EMPTY:
                        slot = (slot + 1) & (size - 1)
                    table[slot] = rank
            ranks[i] = number - 1
        else:
            ranks[i] = table[slot]
    return ranks, different[:number].copy()


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
    """The counts of classes of one cell; those of the others, and the bounds of these."""
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


@jit
def count_people(keys: Ints, counts: Ints, bits: int, bounds: Ints) -> Ints:
    """The people of each run; a record whose person, the low bits, is 0 is one of its own."""
    people, mask = np.zeros(len(bounds) - 1, dtype=np.int64), np.uint64((1 << bits) - 1)
    for c in range(len(people)):
        for i in range(bounds[c], bounds[c + 1]):
            people[c] += counts[i] if keys[i] & mask == 0 else 1
    return people


@jit
def people_seen(
    keys: Ints, counts: Ints, bits: int, bounds: Ints, places: Ints, sizes: int
) -> tuple[Ints, Ints, Ints]:
    """Of each person but 0 the number of classes, and the place of the smallest of their sizes.

    `places[c]` is the place of the size of class c; beside them, by these places, the records
    without a person.
    """
    mask = np.uint64((1 << bits) - 1)
    classes = np.zeros(1 << bits, dtype=np.int64)
    smallest = np.full(1 << bits, sizes, dtype=np.int64)
    unnamed = np.zeros(sizes, dtype=np.int64)
    for c in range(len(places)):
        place = places[c]
        for i in range(bounds[c], bounds[c + 1]):
            person = np.int64(keys[i] & mask)
            if person == 0:
                unnamed[place] += counts[i]
                continue
            classes[person] += 1
            smallest[person] = min(smallest[person], place)
    return classes, smallest, unnamed


@jit
def pair_kinds(
    keys: Ints, bits: int, bounds: Ints, places: Ints, classes: Ints, most: int, sizes: int
) -> Ints:
    """How many pairs of a person but 0 and a class there are, by classes and place of the size."""
    table, mask = np.zeros((most + 1, sizes), dtype=np.int64), np.uint64((1 << bits) - 1)
    for c in range(len(places)):
        for i in range(bounds[c], bounds[c + 1]):
            person = np.int64(keys[i] & mask)
            if person > 0:
                table[classes[person], places[c]] += 1
    return table


@jit
def joint_kinds(counts: Ints, values: Ints, bounds: Ints, sizes: Ints, totals: Ints) -> Ints:
    """Rows of the different (class size, total of the value, count) of cells, and their number."""
    size, number = 1 << 14, 0
    table = np.full(size, EMPTY, dtype=np.int64)
    kinds = np.zeros((size, 4), dtype=np.int64)
    ones = np.zeros(len(totals), dtype=np.int64)  # classes of one record, by their value
    for c in range(len(bounds) - 1):
        nq = sizes[c]
        if nq == 1:
            for i in range(bounds[c], bounds[c + 1]):  # one person may hold several values
                ones[values[i]] += 1
            continue
        for i in range(bounds[c], bounds[c + 1]):
            n, ns = np.int64(counts[i]), totals[values[i]]
            slot = _slot(nq, ns, n) & (size - 1)
            while table[slot] != EMPTY:
                k = table[slot]
                if kinds[k, 2] == n and kinds[k, 0] == nq and kinds[k, 1] == ns:
                    break
                slot = (slot + 1) & (size - 1)
            if table[slot] != EMPTY:
                kinds[table[slot], 3] += 1
                continue
            table[slot] = number
            kinds[number, 0], kinds[number, 1], kinds[number, 2], kinds[number, 3] = nq, ns, n, 1
            number += 1
            if 2 * number > size:
                size *= 2
                table = np.full(size, EMPTY, dtype=np.int64)
                before, kinds = kinds, np.zeros((size, 4), dtype=np.int64)
                _copy_rows(before, kinds, number)
                for kind in range(number):
                    slot = _slot(kinds[kind, 0], kinds[kind, 1], kinds[kind, 2]) & (size - 1)
                    while table[slot] != EMPTY:
                        slot = (slot + 1) & (size - 1)
                    table[slot] = kind
    present = 0
    for v in range(len(ones)):
        present += ones[v] > 0
    rows = np.ones((number + present, 4), dtype=np.int64)
    _copy_rows(kinds, rows, number)
    for v in range(len(ones)):
        if ones[v]:
            rows[number, 1], rows[number, 3] = totals[v], ones[v]
            number += 1
    return rows


@jit
def _slot(nq: Any, ns: Any, n: Any) -> Any:
    h = _mix_bits(np.uint64(nq) ^ _mix_bits(np.uint64(ns) ^ _mix_bits(np.uint64(n))))
    return np.int64(h >> np.uint64(1))


@jit
def largest_gaps(
    counts: Ints,
    values: Ints,
    bounds: Ints,
    sizes: Ints,
    totals: Ints,
    places: Ints,
    largest: Ints,
    records: int,
) -> None:
    """For each class size the largest sum over its cells of max(0, n·N - total·size).

    `places[c]` is the place in the result of the size of class c.
    """
    for c in range(len(sizes)):
        gap = np.int64(0)
        for i in range(bounds[c], bounds[c + 1]):
            gap += max(np.int64(0), np.int64(counts[i]) * records - totals[values[i]] * sizes[c])
        largest[places[c]] = max(largest[places[c]], gap)
