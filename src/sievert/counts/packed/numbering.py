"""Texts and floats numbered in the order of the records, in a compiled hash table.

A value is its bytes. The table keeps each different value once, as an entry of 64-bit words: its
number and its size are in the first word, its bytes in the following words. A slot has the place of
an entry below bits of its hash, so that nearly always one entry is compared.
"""

import threading
from typing import Any

import numpy as np
import pyarrow as pa

from sievert.arrays import Ints
from sievert.counts.packed.kernels import mix_bits
from sievert.numerics.acceleration import jit

PLACE = (1 << 40) - 1  # the bits of a slot that are a place
BLOCK = 256  # values whose slots and entries are fetched together
SIZE = (1 << 32) - 1  # the bits of an entry's first word that are its size


@jit
def _word(words: Ints, at: int, size: int) -> Any:
    """The 8 bytes at a place; bytes beyond `size` are 0."""
    low = np.uint64((at & 7) << 3)
    word = words[at >> 3] >> low
    if low:
        word |= words[(at >> 3) + 1] << (np.uint64(64) - low)
    return word if size >= 8 else word & np.uint64((1 << (size << 3)) - 1)


@jit
def _hash(words: Ints, at: int, size: Any) -> Any:
    h = np.uint64(size)
    for done in range(0, size, 8):
        h = mix_bits(h ^ _word(words, at + done, size - done)) + np.uint64(0x9E3779B97F4A7C15)
    return mix_bits(h)


@jit
def _same(words: Ints, at: int, size: int, entries: Ints, entry: Any) -> bool:
    """Whether a value equals the value of an entry."""
    if np.int64(entries[entry] & np.uint64(SIZE)) != size:
        return False
    for done in range(0, size, 8):
        entry += 1
        if entries[entry] != _word(words, at + done, size - done):
            return False
    return True


@jit
def _find(words: Ints, at: int, size: int, h: Any, slots: Ints, entries: Ints) -> Any:
    """The slot of a value, or the free slot where it belongs."""
    most = len(slots) - 1
    place = np.uint64(PLACE)
    slot = np.int64(h & np.uint64(most))
    while slots[slot] and not (
        (slots[slot] ^ h) & ~place == 0
        and _same(words, at, size, entries, np.int64(slots[slot] & place))
    ):
        slot = (slot + 1) & most
    return slot


@jit
def number_values(
    words: Ints,
    starts: Ints,
    ends: Ints,
    known: Ints,
    slots: Ints,
    entries: Ints,
    places: Ints,
    filled: Ints,
    codes: Ints,
    done: int,
) -> int:
    """Write the codes of values from the `done`-th on; return the place where room is lacking.

    Values are between their starts and ends in the bytes of `words`, which has one more word. A
    value that is not `known` gets the code 0. `filled` has the number of entries and the place of
    the next entry, `places` the place of the entry of each code. The slots and entries of a block
    of values are fetched together, so that the waits for memory overlap.
    """
    hashes = np.zeros(BLOCK, dtype=np.uint64)
    near = np.zeros(BLOCK, dtype=np.int64)
    most = np.uint64(len(slots) - 1)
    place = np.uint64(PLACE)
    for first in range(done, len(codes), BLOCK):
        last = min(first + BLOCK, len(codes))
        for i in range(first, last):
            hashes[i - first] = _hash(words, starts[i], ends[i] - starts[i])
        for i in range(last - first):
            near[i] = np.int64(slots[np.int64(hashes[i] & most)] & place)
        for i in range(last - first):
            codes[first + i] = entries[near[i]] >> np.uint64(32)
        for i in range(first, last):
            at = starts[i]
            size = ends[i] - starts[i]
            h = hashes[i - first]
            if len(known) and not known[i]:
                codes[i] = 0
                continue
            if near[i - first] and _same(words, at, size, entries, near[i - first]):
                continue
            slot = _find(words, at, size, h, slots, entries)
            if not slots[slot]:
                code = filled[0] + 1
                entry = filled[1]
                end = entry + 1 + ((size + 7) >> 3)
                if code >= len(places) or end >= len(entries):
                    return i
                entries[entry] = (np.uint64(code) << np.uint64(32)) | np.uint64(size)
                for own in range(0, size, 8):
                    entry += 1
                    entries[entry] = _word(words, at + own, size - own)
                slots[slot] = (h & ~place) | np.uint64(filled[1])
                places[code] = filled[1]
                filled[0] = code
                filled[1] = end
            codes[i] = entries[np.int64(slots[slot] & place)] >> np.uint64(32)
    return len(codes)


@jit
def fill_slots(slots: Ints, entries: Ints, places: Ints, number: int) -> None:
    """Put all entries into empty slots."""
    for code in range(1, number + 1):
        size = np.int64(entries[places[code]] & np.uint64(SIZE))
        h = _hash(entries, (places[code] + 1) << 3, size)
        slot = np.int64(h & np.uint64(len(slots) - 1))
        while slots[slot]:
            slot = (slot + 1) & (len(slots) - 1)
        slots[slot] = (h & ~np.uint64(PLACE)) | np.uint64(places[code])


@jit
def copy_values(entries: Ints, places: Ints, codes: Ints) -> tuple[Ints, Ints]:
    """The bytes of the values of codes one after the other, and their bounds."""
    bounds = np.zeros(len(codes) + 1, dtype=np.int64)
    for i in range(len(codes)):
        bounds[i + 1] = bounds[i] + np.int64(entries[places[codes[i]]] & np.uint64(SIZE))
    copied = np.empty(bounds[-1], dtype=np.uint8)
    for i in range(len(codes)):
        first = (places[codes[i]] + 1) << 3
        for at in range(bounds[i + 1] - bounds[i]):
            word = entries[(first + at) >> 3] >> np.uint64((at & 7) << 3)
            copied[bounds[i] + at] = word & np.uint64(255)
    return copied, bounds


class NumberedValues:
    """The different values of a column that have a number, from 1 on."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._slots = np.zeros(1 << 10, dtype=np.uint64)
        self._entries = np.zeros(1 << 11, dtype=np.uint64)
        self._places = np.zeros(1 << 9, dtype=np.int64)
        self._filled = np.array([0, 1])

    def __len__(self) -> int:
        return int(self._filled[0])

    def number(self, values: Any) -> Ints:
        """Number the texts or floats of an Arrow array; a missing value gets 0."""
        words, bounds = _value_bytes(values)
        known = np.asarray(values.is_valid()) if values.null_count else np.zeros(0, dtype=bool)
        codes = np.zeros(len(values), dtype=np.uint32)
        done = 0
        while True:
            table = (self._slots, self._entries, self._places, self._filled)
            done = number_values(words, bounds[:-1], bounds[1:], known, *table, codes, done)
            if done == len(codes):
                return codes
            self._make_room(int(bounds[done + 1] - bounds[done]))

    def _make_room(self, size: int) -> None:
        """Double the room that is lacking, so that a value of `size` bytes fits."""
        number, end = self._filled.tolist()
        if end + size // 8 + 3 > len(self._entries):
            self._entries = np.append(self._entries, np.zeros(end + size // 8, dtype=np.uint64))
        if number + 1 == len(self._places):
            self._places = np.append(self._places, np.zeros_like(self._places))
            self._slots = np.zeros(2 * len(self._slots), dtype=np.uint64)
            fill_slots(self._slots, self._entries, self._places, number)

    def code_of(self, text: str) -> int:
        """The number of a text; -1 if it has none."""
        words, bounds = _value_bytes(pa.array([text], pa.large_string()))
        table = (self._slots, self._entries, self._places[:1], self._filled)  # no room for more
        known = np.zeros(0, dtype=bool)
        code = np.zeros(1, dtype=np.uint32)
        there = number_values(words, bounds[:-1], bounds[1:], known, *table, code, 0)
        return int(code[0]) if there else -1

    def take(self, codes: Ints) -> tuple[Ints, Ints]:
        """The bytes of the values of numbers, one after the other, and their bounds."""
        return copy_values(self._entries, self._places, codes)


def _value_bytes(values: Any) -> tuple[Ints, Ints]:
    """The bytes of an Arrow array of texts or floats as words, plus one; and their bounds."""
    if pa.types.is_floating(values.type):
        numbers = np.asarray(values.fill_null(0.0))
        return np.append(numbers.view(np.uint64), np.uint64(0)), 8 * np.arange(len(values) + 1)
    _, offsets, raw = values.buffers()
    bounds = np.frombuffer(offsets, dtype=np.int64)[values.offset :][: len(values) + 1]
    bytes_ = np.frombuffer(raw or b"", dtype=np.uint8)[bounds[0] : bounds[-1]]
    words = np.zeros(len(bytes_) // 8 + 2, dtype=np.uint64)
    words.view(np.uint8)[: len(bytes_)] = bytes_
    return words, bounds - bounds[0]
