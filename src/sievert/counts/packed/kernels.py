"""The compiled loops: packing keys, counting what repeats, and unpacking the pages of Parquet.

Imported only where a table is large enough for it; everything here is integers. The runs of an
array are given by their bounds: run i goes from `bounds[i]` up to `bounds[i + 1]`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sievert.arrays import Ints
from sievert.numerics.acceleration import jit

EMPTY = -1
NO_CODE = 1 << 63


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
            kinds[:number] = before[:number]
            for kind in range(number):
                slot = kinds[kind, 2] & (size - 1)
                while table[slot] != EMPTY:
                    slot = (slot + 1) & (size - 1)
                table[slot] = kind
    return kinds[:number, 0], kinds[:number, 1]


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
def _varint(raw: Ints, at: int, end: int) -> tuple[Any, int]:
    """A number of 7 bits per byte, and where it ends; -1 if it does not."""
    number = np.int64(0)
    for septet in range(0, 63, 7):
        if at >= end:
            break
        byte = np.int64(raw[at])
        at += 1
        number |= (byte & 127) << septet
        if byte < 128:
            return number, at
    return 0, -1


@jit
def headers(raw: Ints) -> Ints:
    """The headers of a chunk's pages, in Thrift's compact protocol; none if they are unexpected.

    A row holds where the page's bytes begin and the numbers of the header by field, those of a
    structure in the field at 10 times the field's number.
    """
    fields = np.full((16, 100), np.int64(-1))
    number = np.zeros(4, dtype=np.int64)
    pages = at = 0
    while at < len(raw):
        if pages == len(fields):
            before, fields = fields, np.full((4 * pages, 100), np.int64(-1))
            fields[:pages] = before
        depth, number[0] = 0, 0
        while True:
            if not 0 <= at < len(raw):
                return fields[:0]
            head = np.int64(raw[at])
            at += 1
            if head == 0:
                depth -= 1
                if depth < 0:
                    break
                continue
            kind = head & 15
            if head >> 4:
                number[depth] += head >> 4
            else:
                value, at = _varint(raw, at, len(raw))
                number[depth] = value >> 1
            value = np.int64(1 if kind == 1 else 0)
            if 4 <= kind <= 6 or kind == 8:
                value, at = _varint(raw, at, len(raw))
                if at < 0:
                    return fields[:0]
            if 4 <= kind <= 6:
                value = (value >> 1) ^ -(value & 1)
            elif kind == 8:
                at += value
            elif kind == 12 and depth < 3:
                depth += 1
                number[depth] = 0
                continue
            elif kind > 2:
                return fields[:0]
            if depth <= 1 and number[depth] < 10 and number[0] < 10:
                place = number[0] if depth == 0 else 10 * number[0] + number[1]
                fields[pages, place] = value
        fields[pages, 0] = at
        if not 0 <= fields[pages, 3] <= len(raw) - at:
            return fields[:0]
        at += fields[pages, 3]
        pages += 1
    return fields[:pages]


@jit
def unpack(
    raw: Ints, words: Ints, at: int, end: int, width: Any, known: Ints, keys: Ints, shift: int
) -> bool:
    """Put into keys the codes of Parquet's runs of dictionary places; False if they are unexpected.

    `words` are the same bytes as `raw`, and reach beyond `end`; places have `width` bits; `known`
    has a code for each place, and ends with one that is none.
    """
    mask, by = np.uint64((1 << width) - 1), np.uint64(shift)
    most, seen = np.uint64(len(known) - 1), np.uint64(0)
    done = 0
    while done < len(keys):
        head, at = _varint(raw, at, end)
        if at < 0 or head >> 1 == 0:
            return False
        groups = head & 1  # of eight places, bit by bit; or one place, many times
        last = min(len(keys), done + ((head >> 1) << (3 * groups)))
        size = ((last - done if groups else 1) * width + 7) >> 3
        if at + size > end:
            return False
        bit, step = at << 3, width * groups
        for i in range(done, last):
            word, low = bit >> 6, np.uint64(bit & 63)
            place = (words[word] >> low) | (
                (words[word + 1] << np.uint64(1)) << (np.uint64(63) - low)
            )
            code = known[min(place & mask, most)]
            seen |= code
            keys[i] = np.uint64(keys[i]) | (code << by)
            bit += step
        at += (head >> 1) * width if groups else size
        done = last
    return bool(seen >> np.uint64(63) == 0)


@jit
def unpack_pages(
    raw: Ints, words: Ints, pages: Ints, optional: bool, known: Ints, keys: Ints, shift: int
) -> bool:
    """Put into keys the codes of a chunk's pages; False if they are unexpected.

    A row of `pages`: where its values begin (and the definition levels before them), where they
    end, how many they are.
    """
    present = np.array([0, 1, 1 << 63], dtype=np.uint64)
    done = 0
    for p in range(len(pages)):
        levels, at, end, size = pages[p]
        if not (0 <= levels <= at < end <= len(raw) and 0 <= size <= len(keys) - done):
            return False
        mine, width, whole = keys[done : done + size], np.int64(raw[at]), not optional
        if width > 32:
            return False
        done += size
        at += 1
        if optional and levels < at - 1:  # one run of ones, if nothing is missing
            head, value = _varint(raw, levels, at - 1)
            whole = value == at - 2 and head & 1 == 0 and head >> 1 >= size and raw[value] == 1
        if whole:
            if not unpack(raw, words, at, end, width, known, mine, shift):
                return False
            continue
        there = np.zeros(size, dtype=np.uint8)
        if not unpack(raw, words, levels, at - 1, 1, present, there, 0):
            return False
        codes = np.zeros(there.sum(), dtype=np.uint64)
        if len(codes) and not unpack(raw, words, at, end, width, known, codes, 0):
            return False
        taken = 0
        for i in range(size):
            if there[i]:
                mine[i] = np.uint64(mine[i]) | (codes[taken] << np.uint64(shift))
                taken += 1
    return done == len(keys)
