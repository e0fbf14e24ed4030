"""Loops over packed keys, compiled: sort, cut into runs, and count what repeats.

Imported only where a table is large enough for it; everything here is integers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sievert.acceleration import jit
from sievert.arrays import Ints

DIGIT = 11
EMPTY = -1
NO_CODE = 1 << 63


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
def _varint(raw: Ints, at: int, end: int) -> tuple[Any, int]:
    """A number of 7 bits a byte, and where it ends; -1 if it does not."""
    found = np.int64(0)
    for septet in range(0, 63, 7):
        if at >= end:
            break
        byte = np.int64(raw[at])
        at += 1
        found |= (byte & 127) << septet
        if byte < 128:
            return found, at
    return 0, -1


@jit
def headers(raw: Ints) -> Ints:
    """The headers of a chunk's pages, in Thrift's compact protocol; none if they are odd.

    A row holds where the page's bytes begin and the numbers of the header by field, those of a
    structure in the field at 10 times the field's number.
    """
    found = np.full((16, 100), np.int64(-1))
    number = np.zeros(4, dtype=np.int64)
    pages = at = 0
    while at < len(raw):
        if pages == len(found):
            before, found = found, np.full((4 * pages, 100), np.int64(-1))
            found[:pages] = before
        depth, number[0] = 0, 0
        while True:
            if not 0 <= at < len(raw):
                return found[:0]
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
                    return found[:0]
            if 4 <= kind <= 6:
                value = (value >> 1) ^ -(value & 1)
            elif kind == 8:
                at += value
            elif kind == 12 and depth < 3:
                depth += 1
                number[depth] = 0
                continue
            elif kind > 2:
                return found[:0]
            if depth <= 1 and number[depth] < 10 and number[0] < 10:
                place = number[0] if depth == 0 else 10 * number[0] + number[1]
                found[pages, place] = value
        found[pages, 0] = at
        if not 0 <= found[pages, 3] <= len(raw) - at:
            return found[:0]
        at += found[pages, 3]
        pages += 1
    return found[:pages]


@jit
def unpack(
    raw: Ints, words: Ints, at: int, end: int, width: Any, known: Ints, keys: Ints, shift: int
) -> bool:
    """Put into keys the codes of Parquet's runs of places in a dictionary; False if they are odd.

    `words` are the same bytes as `raw`, and reach beyond `end`; places have `width` bits; `known`
    has a code for each place, and ends with one that is none.
    """
    mask, by = np.uint64((1 << width) - 1), np.uint64(shift)
    most = np.uint64(len(known) - 1)
    wide, bytes_ = np.uint64(width), (width + 7) >> 3
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
                    word, low = bit >> 6, np.uint64(bit & 63)
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
                word, low = bit >> 6, np.uint64(bit & 63)
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
    """Put into keys the codes of a chunk's pages; False if they are odd.

    A row of `pages`: where its values begin (and the definition levels before them), where they
    end, how many they are.
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
        spread(mine, codes, there, shift)
    return done == len(keys)


@jit
def spread(keys: Ints, codes: Ints, there: Ints, shift: int) -> None:
    """Put codes into the keys of records where they are present."""
    by = np.uint64(shift)
    at = 0
    for i in range(len(keys)):
        if there[i]:
            keys[i] = np.uint64(keys[i]) | (codes[at] << by)
            at += 1


@jit
def field(keys: Ints, shift: int, bits: int) -> Ints:
    """What stands in keys above their `shift` low bits, in so many bits."""
    by, mask = np.uint64(shift), np.uint64((1 << bits) - 1)
    found = np.empty(len(keys), dtype=np.int64)
    for i in range(len(keys)):
        found[i] = (keys[i] >> by) & mask
    return found


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
def runs(keys: Ints, found: Ints, times: Ints) -> None:
    """The different keys of a sorted array, and how often each occurs."""
    at, since = -1, 0
    for i in range(len(keys)):
        if i == 0 or keys[i] != keys[i - 1]:
            if at >= 0:
                times[at] = i - since
            at += 1
            since = i
            found[at] = keys[i]
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
    found = np.zeros(len(starts), dtype=np.int64)
    for c in range(len(starts)):
        last = starts[c + 1] if c + 1 < len(starts) else len(counts)
        for i in range(starts[c], last):
            found[c] += counts[i]
    return found


@jit
def totals_within(counts: Ints, keys: Ints, shift: int, bits: int) -> Ints:
    """The sum of the counts of each code that stands in keys above their `shift` low bits."""
    by, mask = np.uint64(shift), np.uint64((1 << bits) - 1)
    found = np.zeros(1 << bits, dtype=np.int64)
    for i in range(len(counts)):
        found[(keys[i] >> by) & mask] += counts[i]
    return found


@jit
def total_of(counts: Ints, keys: Ints, shift: int, bits: int, code: int) -> int:
    """The sum of the counts of one code."""
    by, mask, one = np.uint64(shift), np.uint64((1 << bits) - 1), np.uint64(code)
    found = 0
    for i in range(len(counts)):
        if (keys[i] >> by) & mask == one:
            found += counts[i]
    return found


@jit
def totals(counts: Ints, values: Ints, size: int) -> Ints:
    """The sum of the counts of each value."""
    found = np.zeros(size, dtype=np.int64)
    for i in range(len(counts)):
        found[values[i]] += counts[i]
    return found


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
def _mixed(x: Any) -> Any:
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
    found = 0
    for c in range(len(starts)):
        first = starts[c]
        last = starts[c + 1] if c + 1 < len(starts) else len(words)
        h = np.uint64(last - first)
        for i in range(first, last):
            h = _mixed(h ^ np.uint64(words[i])) + np.uint64(0x9E3779B97F4A7C15)
        slot = np.int64(h & np.uint64(size - 1))
        while table[slot] != EMPTY:
            kind = table[slot]
            if hashes[kind] == h and _same(words, starts, kinds[kind, 0], first, last):
                break
            slot = (slot + 1) & (size - 1)
        if table[slot] != EMPTY:
            kinds[table[slot], 1] += 1
            continue
        table[slot] = found
        hashes[found], kinds[found, 0], kinds[found, 1] = h, c, 1
        found += 1
        if 2 * found > size:
            size *= 2
            table = np.full(size, EMPTY, dtype=np.int64)
            before, hashes = hashes, np.zeros(size, dtype=np.uint64)
            earlier, kinds = kinds, np.zeros((size, 2), dtype=np.int64)
            for kind in range(found):
                hashes[kind] = before[kind]
                kinds[kind, 0], kinds[kind, 1] = earlier[kind, 0], earlier[kind, 1]
            for kind in range(found):
                slot = np.int64(hashes[kind] & np.uint64(size - 1))
                while table[slot] != EMPTY:
                    slot = (slot + 1) & (size - 1)
                table[slot] = kind
    return kinds[:found, 0], kinds[:found, 1]


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
    found = 0
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
            table[slot] = found
            kinds[found, 0], kinds[found, 1], kinds[found, 2], kinds[found, 3] = nq, ns, n, 1
            found += 1
            if 2 * found > size:
                size *= 2
                table = np.full(size, EMPTY, dtype=np.int64)
                before, kinds = kinds, np.zeros((size, 4), dtype=np.int64)
                for kind in range(found):
                    for part in range(4):
                        kinds[kind, part] = before[kind, part]
                    slot = _place(kinds[kind, 0], kinds[kind, 1], kinds[kind, 2]) & (size - 1)
                    while table[slot] != EMPTY:
                        slot = (slot + 1) & (size - 1)
                    table[slot] = kind
    whole = np.zeros((found + len(totals), 4), dtype=np.int64)
    for kind in range(found):
        for part in range(4):
            whole[kind, part] = kinds[kind, part]
    for v in range(len(totals)):
        if ones[v]:
            whole[found, 0], whole[found, 1], whole[found, 2] = 1, totals[v], 1
            whole[found, 3] = ones[v]
            found += 1
    return whole[:found]


@jit
def _place(nq: Any, ns: Any, n: Any) -> Any:
    h = _mixed(np.uint64(nq) ^ _mixed(np.uint64(ns) ^ _mixed(np.uint64(n))))
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
