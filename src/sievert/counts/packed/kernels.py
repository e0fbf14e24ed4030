"""Loops over packed keys, compiled: sort, cut into runs, and count what repeats.

Imported only where a table is large enough for it; everything here is integers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sievert.arrays import Ints
from sievert.numerics.acceleration import jit

DIGIT = 11
EMPTY = -1


@jit
def add_to(counts: Ints, keys: Ints) -> None:
    """Count keys into a dense array."""
    for i in range(len(keys)):
        counts[keys[i]] += 1


@jit
def sort(keys: Ints, spare: Ints, bits: int) -> Ints:
    """Sort unsigned 64-bit keys of so many bits, by digits from the lowest; returns the sorted."""
    size = 1 << DIGIT
    mask = np.uint64(size - 1)
    source, target = keys, spare
    for shift in range(0, bits, DIGIT):
        by = np.uint64(shift)
        starts = np.zeros(size + 1, dtype=np.int64)
        for i in range(len(source)):
            starts[np.int64((source[i] >> by) & mask) + 1] += 1
        for d in range(size):
            starts[d + 1] += starts[d]
        for i in range(len(source)):
            digit = np.int64((source[i] >> by) & mask)
            target[starts[digit]] = source[i]
            starts[digit] += 1
        source, target = target, source
    return source


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
def field(keys: Ints, shift: int, bits: int) -> Ints:
    """What stands in keys above their `shift` low bits, in so many bits."""
    by, mask = np.uint64(shift), np.uint64((1 << bits) - 1)
    fields = np.empty(len(keys), dtype=np.int64)
    for i in range(len(keys)):
        fields[i] = (keys[i] >> by) & mask
    return fields


@jit
def part(keys: Ints, target: Ints, middle: Any) -> int:
    """Put keys below `middle` first; returns how many they are."""
    first, last = 0, len(keys) - 1
    for i in range(len(keys)):
        key = keys[i]  # to both ends, of which one moves: no branch to guess wrong
        target[first] = key
        target[last] = key
        below = 1 if key < middle else 0
        first += below
        last -= 1 - below
    return first


@jit
def different(keys: Ints) -> int:
    """How many different keys a sorted array has."""
    number = 0
    for i in range(len(keys)):
        if i == 0 or keys[i] != keys[i - 1]:
            number += 1
    return number


@jit
def runs(keys: Ints, distinct_keys: Ints, times: Ints) -> None:
    """The different keys of a sorted array, and how often each occurs."""
    at, since = -1, 0
    for i in range(len(keys)):
        if i == 0 or keys[i] != keys[i - 1]:
            if at >= 0:
                times[at] = i - since
            at += 1
            since = i
            distinct_keys[at] = keys[i]
    if at >= 0:
        times[at] = len(keys) - since


@jit
def classes(keys: Ints, low: int) -> Ints:
    """Where classes begin among sorted keys: where what stands above their low bits changes."""
    by = np.uint64(low)
    number = 0
    for i in range(len(keys)):
        if i == 0 or keys[i] >> by != keys[i - 1] >> by:
            number += 1
    starts = np.empty(number, dtype=np.int64)
    at = 0
    for i in range(len(keys)):
        if i == 0 or keys[i] >> by != keys[i - 1] >> by:
            starts[at] = i
            at += 1
    return starts


@jit
def sums(counts: Ints, starts: Ints) -> Ints:
    """The sum of each run of counts."""
    sums_of_runs = np.zeros(len(starts), dtype=np.int64)
    for c in range(len(starts)):
        last = starts[c + 1] if c + 1 < len(starts) else len(counts)
        for i in range(starts[c], last):
            sums_of_runs[c] += counts[i]
    return sums_of_runs


@jit
def totals_within(counts: Ints, keys: Ints, shift: int, bits: int) -> Ints:
    """The sum of the counts of each code that stands in keys above their `shift` low bits."""
    by, mask = np.uint64(shift), np.uint64((1 << bits) - 1)
    code_totals = np.zeros(1 << bits, dtype=np.int64)
    for i in range(len(counts)):
        code_totals[(keys[i] >> by) & mask] += counts[i]
    return code_totals


@jit
def total_of(counts: Ints, keys: Ints, shift: int, bits: int, code: int) -> int:
    """The sum of the counts of one code."""
    by, mask, one = np.uint64(shift), np.uint64((1 << bits) - 1), np.uint64(code)
    total = 0
    for i in range(len(counts)):
        if (keys[i] >> by) & mask == one:
            total += counts[i]
    return total


@jit
def totals(counts: Ints, values: Ints, size: int) -> Ints:
    """The sum of the counts of each value."""
    value_totals = np.zeros(size, dtype=np.int64)
    for i in range(len(counts)):
        value_totals[values[i]] += counts[i]
    return value_totals


@jit
def several(counts: Ints, starts: Ints) -> tuple[Ints, Ints, Ints]:
    """The counts of classes of one cell; those of the others, and where each of these begins."""
    single = cells = 0
    for c in range(len(starts)):
        last = starts[c + 1] if c + 1 < len(starts) else len(counts)
        if last - starts[c] == 1:
            single += 1
        else:
            cells += last - starts[c]
    alone = np.empty(single, dtype=np.int64)
    words = np.empty(cells, dtype=np.int64)
    places = np.empty(len(starts) - single, dtype=np.int64)
    single = cells = klass = 0
    for c in range(len(starts)):
        last = starts[c + 1] if c + 1 < len(starts) else len(counts)
        if last - starts[c] == 1:
            alone[single] = counts[starts[c]]
            single += 1
            continue
        places[klass] = cells
        klass += 1
        for i in range(starts[c], last):
            words[cells] = counts[i]
            cells += 1
    return alone, words, places


@jit
def downwards(words: Ints, starts: Ints) -> None:
    """Sort the words of each run downwards, in place."""
    for c in range(len(starts)):
        first = starts[c]
        last = starts[c + 1] if c + 1 < len(starts) else len(words)
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
def distinct(words: Ints, starts: Ints) -> tuple[Ints, Ints]:
    """Runs of words that differ: the first run of each kind, and how many are of the kind."""
    size = 1 << 16
    table = np.full(size, EMPTY, dtype=np.int64)
    hashes = np.zeros(size, dtype=np.uint64)
    kinds = np.zeros((size, 2), dtype=np.int64)  # the first run of its kind, how many there are
    number = 0
    for c in range(len(starts)):
        first = starts[c]
        last = starts[c + 1] if c + 1 < len(starts) else len(words)
        h = np.uint64(last - first)
        for i in range(first, last):
            h = _mix_bits(h ^ np.uint64(words[i])) + np.uint64(0x9E3779B97F4A7C15)
        slot = np.int64(h & np.uint64(size - 1))
        while table[slot] != EMPTY:
            kind = table[slot]
            if hashes[kind] == h and _same(words, starts, kinds[kind, 0], first, last):
                break
            slot = (slot + 1) & (size - 1)
        if table[slot] != EMPTY:
            kinds[table[slot], 1] += 1
            continue
        table[slot] = number
        hashes[number], kinds[number, 0], kinds[number, 1] = h, c, 1
        number += 1
        if 2 * number > size:
            size *= 2
            table = np.full(size, EMPTY, dtype=np.int64)
            before, hashes = hashes, np.zeros(size, dtype=np.uint64)
            earlier, kinds = kinds, np.zeros((size, 2), dtype=np.int64)
            for kind in range(number):
                hashes[kind] = before[kind]
                kinds[kind, 0], kinds[kind, 1] = earlier[kind, 0], earlier[kind, 1]
            for kind in range(number):
                slot = np.int64(hashes[kind] & np.uint64(size - 1))
                while table[slot] != EMPTY:
                    slot = (slot + 1) & (size - 1)
                table[slot] = kind
    return kinds[:number, 0], kinds[:number, 1]


@jit
def _same(words: Ints, starts: Ints, kind: int, first: int, last: int) -> bool:
    other = starts[kind]
    end = starts[kind + 1] if kind + 1 < len(starts) else len(words)
    if end - other != last - first:
        return False
    for i in range(last - first):  # noqa: SIM110  (generators are not compiled)
        if words[other + i] != words[first + i]:
            return False
    return True


@jit
def triples(counts: Ints, values: Ints, starts: Ints, sizes: Ints, totals: Ints) -> Ints:
    """Rows of the different (class size, total of the value, count) of cells, and their number."""
    size = 1 << 14
    table = np.full(size, EMPTY, dtype=np.int64)
    kinds = np.zeros((size, 4), dtype=np.int64)
    number = 0
    ones = np.zeros(len(totals), dtype=np.int64)  # classes of one record, by their value
    for c in range(len(starts)):
        nq = sizes[c]
        if nq == 1:
            ones[values[starts[c]]] += 1
            continue
        last = starts[c + 1] if c + 1 < len(starts) else len(counts)
        for i in range(starts[c], last):
            n, ns = np.int64(counts[i]), totals[values[i]]
            slot = _place(nq, ns, n) & (size - 1)
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
                for kind in range(number):
                    for part in range(4):
                        kinds[kind, part] = before[kind, part]
                    slot = _place(kinds[kind, 0], kinds[kind, 1], kinds[kind, 2]) & (size - 1)
                    while table[slot] != EMPTY:
                        slot = (slot + 1) & (size - 1)
                    table[slot] = kind
    whole = np.zeros((number + len(totals), 4), dtype=np.int64)
    for kind in range(number):
        for part in range(4):
            whole[kind, part] = kinds[kind, part]
    for v in range(len(totals)):
        if ones[v]:
            whole[number, 0], whole[number, 1], whole[number, 2] = 1, totals[v], 1
            whole[number, 3] = ones[v]
            number += 1
    return whole[:number]


@jit
def _place(nq: Any, ns: Any, n: Any) -> Any:
    h = _mix_bits(np.uint64(nq) ^ _mix_bits(np.uint64(ns) ^ _mix_bits(np.uint64(n))))
    return np.int64(h >> np.uint64(1))


@jit
def gaps(
    counts: Ints,
    values: Ints,
    starts: Ints,
    sizes: Ints,
    totals: Ints,
    records: int,
    place: Ints,
    quick: Ints,
) -> None:
    """For each class size the largest sum over its cells of max(0, n·N - total·size).

    `place[0, i]` is the i-th class size in ascending order, `place[1, i]` its gap; `quick` has the
    i of small sizes.
    """
    for c in range(len(starts)):
        nq = sizes[c]
        last = starts[c + 1] if c + 1 < len(starts) else len(counts)
        gap = np.int64(0)
        for i in range(starts[c], last):
            gap += max(np.int64(0), np.int64(counts[i]) * records - totals[values[i]] * nq)
        if nq < len(quick):
            place[1, quick[nq]] = max(place[1, quick[nq]], gap)
            continue
        low, high = 0, place.shape[1] - 1
        while low < high:
            middle = (low + high) // 2
            if place[0, middle] < nq:
                low = middle + 1
            else:
                high = middle
        place[1, low] = max(place[1, low], gap)
