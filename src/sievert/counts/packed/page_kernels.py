"""Loops over the pages of a Parquet column, compiled: headers, and runs of dictionary places."""

from typing import Any

import numpy as np

from sievert.arrays import Ints
from sievert.numerics.acceleration import jit

NO_CODE = 1 << 63


@jit
def _varint(raw: Ints, at: int, end: int) -> tuple[Any, int]:
    """A number of 7 bits per byte, and the place where it ends; -1 if it does not end."""
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
    """Read the headers of a chunk's pages in Thrift's compact protocol; none if unexpected.

    A row has the place where the bytes of the page begin, and the numbers of the header by field.
    The numbers of a structure start at 10 times the number of its field.
    """
    fields = np.full((16, 100), np.int64(-1))
    number = np.zeros(4, dtype=np.int64)
    pages = at = 0
    while at < len(raw):
        if pages == len(fields):
            before = fields
            fields = np.full((4 * pages, 100), np.int64(-1))
            for page in range(pages):  # quicker to compile than an assignment of slices
                for field in range(100):
                    fields[page, field] = before[page, field]
        depth = 0
        number[0] = 0
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
    """Put the codes of Parquet's runs of dictionary places into keys; return False if unexpected.

    `words` are the same bytes as `raw`, and reach beyond `end`. Places have `width` bits. `known`
    has a code for each place, and ends with NO_CODE.
    """
    mask = np.uint64((1 << width) - 1)
    by = np.uint64(shift)
    most = np.uint64(len(known) - 1)
    wide = np.uint64(width)
    bytes_ = (width + 7) >> 3
    done = 0
    seen = np.uint64(0)
    while done < len(keys):
        head, at = _varint(raw, at, end)
        if at < 0 or head >> 1 == 0:
            return False
        if head & 1:  # groups of eight places, bit by bit
            last = min(len(keys), done + ((head >> 1) << 3))
            if at + (((last - done) * width + 7) >> 3) > end:
                return False
            bit = at << 3
            eights = done
            if width <= 8:  # eight places are in one word
                for _ in range((last - done) >> 3):
                    word = bit >> 6
                    low = np.uint64(bit & 63)
                    places = (words[word] >> low) | (
                        (words[word + 1] << np.uint64(1)) << (np.uint64(63) - low)
                    )
                    for i in range(eights, eights + 8):
                        code = known[min(places & mask, most)]
                        places >>= wide
                        seen |= code
                        keys[i] = np.uint64(keys[i]) | (code << by)
                    eights += 8
                    bit += width << 3
            for i in range(eights, last):
                word = bit >> 6
                low = np.uint64(bit & 63)
                place = (words[word] >> low) | (
                    (words[word + 1] << np.uint64(1)) << (np.uint64(63) - low)
                )
                code = known[min(place & mask, most)]
                seen |= code
                keys[i] = np.uint64(keys[i]) | (code << by)
                bit += width
            at += (head >> 1) * width
        else:  # one place, many times
            last = min(len(keys), done + (head >> 1))
            if at + bytes_ > end:
                return False
            place = np.uint64(0)
            for b in range(bytes_):
                place |= np.uint64(raw[at]) << np.uint64(8 * b)
                at += 1
            code = known[min(place & mask, most)]
            seen |= code
            for i in range(done, last):
                keys[i] = np.uint64(keys[i]) | (code << by)
        done = last
    return bool(seen >> np.uint64(63) == 0)


@jit
def unpack_pages(
    raw: Ints, words: Ints, pages: Ints, optional: bool, known: Ints, keys: Ints, shift: int
) -> bool:
    """Put the codes of a chunk's pages into keys; return False if pages are unexpected.

    A row of `pages` has the places of the definition levels, the values and their end, and the
    number of values.
    """
    present = np.array([0, 1, 1 << 63], dtype=np.uint64)
    done = 0
    for p in range(len(pages)):
        levels, at, end, size = pages[p]
        if not (0 <= levels <= at < end <= len(raw) and 0 <= size <= len(keys) - done):
            return False
        mine = keys[done : done + size]
        done += size
        width = np.int64(raw[at])
        at += 1
        if width > 32:
            return False
        whole = not optional
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
        scatter(mine, codes, there, shift)
    return done == len(keys)


@jit
def scatter(keys: Ints, codes: Ints, there: Ints, shift: int) -> None:
    """Put codes into the keys of records where they are present."""
    by = np.uint64(shift)
    at = 0
    for i in range(len(keys)):
        if there[i]:
            keys[i] = np.uint64(keys[i]) | (codes[at] << by)
            at += 1
