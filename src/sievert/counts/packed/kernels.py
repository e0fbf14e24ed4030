"""The compiled loops: packing keys, and counting what repeats.

Imported only where a table is large enough for it; everything here is integers. The runs of an
array are given by their bounds (`run_kernels`).
"""

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
    by = np.uint64(shift)
    mask = np.uint64((1 << bits) - 1)
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
def mix_bits(x: Any) -> Any:
    """Mix the bits of a 64-bit word (the finalizer of MurmurHash3)."""
    x ^= x >> np.uint64(33)
    x *= np.uint64(0xFF51AFD7ED558CCD)
    x ^= x >> np.uint64(33)
    x *= np.uint64(0xC4CEB9FE1A85EC53)
    x ^= x >> np.uint64(33)
    return x


@jit
def copy_rows(source: Ints, target: Ints, number: int) -> None:
    """Copy the first `number` rows; quicker to compile than an assignment of slices."""
    for row in range(number):
        for column in range(source.shape[1]):
            target[row, column] = source[row, column]


@jit
def free_slot(table: Ints, slot: Any) -> Any:
    """The first empty slot from `slot` on."""
    while table[slot] != EMPTY:
        slot = (slot + 1) & (len(table) - 1)
    return slot


@jit
def rank_keys(keys: Ints) -> tuple[Ints, Ints]:
    """The number of each key among the different keys, which are in order of first occurrence."""
    size = 1 << 12
    number = 0
    table = np.full(size, EMPTY, dtype=np.int32)
    different = np.empty(size, dtype=np.uint64)
    ranks = np.empty(len(keys), dtype=np.uint32)
    for i in range(len(keys)):
        key = keys[i]
        slot = np.int64(mix_bits(key) >> np.uint64(1)) & (size - 1)
        while table[slot] != EMPTY and different[table[slot]] != key:
            slot = (slot + 1) & (size - 1)
        if table[slot] == EMPTY:
            table[slot] = number
            different[number] = key
            number += 1
            if 2 * number > size:
                size *= 4
                table = np.full(size, EMPTY, dtype=np.int32)
                before = different
                different = np.empty(size, dtype=np.uint64)
                for rank in range(number):
                    different[rank] = before[rank]
                    slot = np.int64(mix_bits(before[rank]) >> np.uint64(1)) & (size - 1)
                    table[free_slot(table, slot)] = rank
            ranks[i] = number - 1
        else:
            ranks[i] = table[slot]
    return ranks, different[:number].copy()


@jit
def count_people(keys: Ints, counts: Ints, bits: int, bounds: Ints) -> Ints:
    """Count the people of each run; a record whose person, the low bits, is 0 counts by itself."""
    people = np.zeros(len(bounds) - 1, dtype=np.int64)
    mask = np.uint64((1 << bits) - 1)
    for c in range(len(people)):
        for i in range(bounds[c], bounds[c + 1]):
            people[c] += counts[i] if keys[i] & mask == 0 else 1
    return people


@jit
def people_seen(
    keys: Ints, counts: Ints, bits: int, bounds: Ints, places: Ints, sizes: int
) -> tuple[Ints, Ints, Ints]:
    """The number of classes of each person but 0, and the place of their smallest size.

    `places[c]` is the place of the size of class c. The third result counts the records without a
    person by these places.
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
    """Count pairs of a person but 0 and a class, by the person's classes and the class's size."""
    table = np.zeros((most + 1, sizes), dtype=np.int64)
    mask = np.uint64((1 << bits) - 1)
    for c in range(len(places)):
        for i in range(bounds[c], bounds[c + 1]):
            person = np.int64(keys[i] & mask)
            if person > 0:
                table[classes[person], places[c]] += 1
    return table


@jit
def joint_kinds(counts: Ints, values: Ints, bounds: Ints, sizes: Ints, totals: Ints) -> Ints:
    """Rows (class size, total of the value, count, number of cells), each kind of cell once."""
    size = 1 << 14
    number = 0
    table = np.full(size, EMPTY, dtype=np.int64)
    kinds = np.zeros((size, 4), dtype=np.int64)
    ones = np.zeros(len(totals), dtype=np.int64)  # classes of one record, by their value
    for c in range(len(bounds) - 1):
        nq = sizes[c]
        if nq == 1:
            for i in range(bounds[c], bounds[c + 1]):  # one person may have several values
                ones[values[i]] += 1
            continue
        for i in range(bounds[c], bounds[c + 1]):
            n = np.int64(counts[i])
            ns = totals[values[i]]
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
            kinds[number, 0] = nq
            kinds[number, 1] = ns
            kinds[number, 2] = n
            kinds[number, 3] = 1
            number += 1
            if 2 * number > size:
                size *= 2
                table = np.full(size, EMPTY, dtype=np.int64)
                before = kinds
                kinds = np.zeros((size, 4), dtype=np.int64)
                copy_rows(before, kinds, number)
                for kind in range(number):
                    slot = _slot(kinds[kind, 0], kinds[kind, 1], kinds[kind, 2]) & (size - 1)
                    table[free_slot(table, slot)] = kind
    present = 0
    for v in range(len(ones)):
        present += ones[v] > 0
    rows = np.ones((number + present, 4), dtype=np.int64)
    copy_rows(kinds, rows, number)
    for v in range(len(ones)):
        if ones[v]:
            rows[number, 1] = totals[v]
            rows[number, 3] = ones[v]
            number += 1
    return rows


@jit
def _slot(nq: Any, ns: Any, n: Any) -> Any:
    h = mix_bits(np.uint64(nq) ^ mix_bits(np.uint64(ns) ^ mix_bits(np.uint64(n))))
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
    """Write for each class size the largest sum over its cells of max(0, n·N - total·size).

    `places[c]` is the place of the size of class c in `largest`.
    """
    for c in range(len(sizes)):
        gap = np.int64(0)
        for i in range(bounds[c], bounds[c + 1]):
            gap += max(np.int64(0), np.int64(counts[i]) * records - totals[values[i]] * sizes[c])
        largest[places[c]] = max(largest[places[c]], gap)
