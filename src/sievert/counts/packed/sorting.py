"""Sorting keys by their digits and counting equal keys, in compiled code and several threads."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise, repeat

import numpy as np

from sievert.arrays import Ints
from sievert.numerics.acceleration import jit

DIGIT = 11  # bits at most: the next places of all digits must stay in the processor's cache


@jit
def count_digits(keys: Ints, shift: int, bits: int) -> Ints:
    """Count the keys with each digit: the `bits` bits above the `shift` lowest."""
    counts = np.zeros(1 << bits, dtype=np.int64)
    by = np.uint64(shift)
    mask = np.uint64((1 << bits) - 1)
    for i in range(len(keys)):
        counts[(keys[i] >> by) & mask] += 1
    return counts


@jit
def place_digits(keys: Ints, target: Ints, shift: int, bits: int, places: Ints) -> None:
    """Put every key at the next place of its digit."""
    by = np.uint64(shift)
    mask = np.uint64((1 << bits) - 1)
    for i in range(len(keys)):
        digit = (keys[i] >> by) & mask
        target[places[digit]] = keys[i]
        places[digit] += 1


@jit
def merge_equal(keys: Ints, counts: Ints) -> int:
    """Move the different keys of sorted keys to the front and count them; return their number."""
    last = -1
    for i in range(len(keys)):
        if last >= 0 and keys[i] == keys[last]:
            counts[last] += 1
        else:
            last += 1
            keys[last] = keys[i]
            counts[last] = 1
    return last + 1


@jit
def merge_counts(keys: Ints, counts: Ints, others: Ints, numbers: Ints) -> tuple[Ints, Ints]:
    """Merge two arrays of sorted keys: the different keys, sorted, and the sums of their counts."""
    merged = np.empty(len(keys) + len(others), dtype=np.uint64)
    sums = np.empty(len(merged), dtype=np.int64)
    i = j = at = 0
    while i < len(keys) and j < len(others):
        key = keys[i]
        other = others[j]
        merged[at] = min(key, other)
        sums[at] = (counts[i] if key <= other else 0) + (numbers[j] if other <= key else 0)
        i += key <= other
        j += other <= key
        at += 1
    while i < len(keys):
        merged[at] = keys[i]
        sums[at] = counts[i]
        i += 1
        at += 1
    while j < len(others):
        merged[at] = others[j]
        sums[at] = numbers[j]
        j += 1
        at += 1
    return merged[:at], sums[:at]


def sort_keys(keys: Ints, bits: int, threads: int, room: Ints | None = None) -> tuple[Ints, Ints]:
    """Sort keys of `bits` bits, from the lowest digit upwards; return them and the other array."""
    room = np.empty_like(keys) if room is None else room
    digits = -(-bits // DIGIT)
    width = -(-bits // digits)
    edges = np.linspace(0, len(keys), threads + 1, dtype=np.int64).tolist()
    shares = [slice(first, last) for first, last in pairwise(edges)]
    with ThreadPoolExecutor(threads) as pool:
        for shift in range(0, bits, width):
            digit = repeat(shift), repeat(width)
            own = [keys[share] for share in shares]
            counts = np.array(list(pool.map(count_digits, own, *digit)))
            if counts.sum(axis=0).max() == len(keys):
                continue  # all keys have the same
            # By digit, then by share: keys of equal digits stay in their order.
            ends = np.cumsum(counts.T).reshape(-1, len(shares)).T
            places = np.ascontiguousarray(ends - counts)
            list(pool.map(place_digits, own, repeat(room), *digit, places))
            keys, room = room, keys
    return keys, room


def count_sorted(
    keys: Ints, bits: int, threads: int, room: Ints | None = None
) -> tuple[Ints, Ints]:
    """The different keys in ascending order, and how often each occurs; the keys are used up.

    Both results are parts of the keys and of the room.
    """
    keys, room = sort_keys(keys, bits, threads, room)
    counts = room.view(np.int64)
    number = merge_equal(keys, counts)
    return keys[:number], counts[:number]
