"""Counted keys in little memory: blocks of small numbers, and runs of blocks that are merged.

Records are read in chunks. The different keys of a chunk, sorted and counted, are a run of blocks.
Runs are merged into one, range by range of the keys, so that only a few blocks are open at a time.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sievert.arrays import Ints
from sievert.counts.packed.sorting import merge_counts
from sievert.counts.packed.threads import map_threads

Run = list["KeyBlock"]


@dataclass(frozen=True)
class KeyBlock:
    """Keys of whole classes in ascending order, as distances from the first one; their counts."""

    first: int
    distances: Ints
    counts: Ints

    @classmethod
    def from_arrays(cls, keys: Ints, counts: Ints) -> "KeyBlock":
        """Put keys, at least one, into the smallest type of numbers."""
        first = int(keys[0])
        last = int(keys[-1])
        distances = (keys - keys[0]).astype(np.min_scalar_type(max(last - first, 1 << 31)))
        return cls(first, distances, counts.astype(np.min_scalar_type(int(counts.max()))))

    @property
    def last(self) -> int:
        """The greatest key."""
        return self.first + int(self.distances[-1])

    @property
    def bytes(self) -> int:
        """The memory of the block."""
        return int(self.distances.nbytes + self.counts.nbytes)

    def open(self) -> tuple[Ints, Ints]:
        """The keys and their counts as 64-bit numbers."""
        return self.distances + np.uint64(self.first), self.counts.astype(np.int64)

    def open_range(self, low: int, high: int) -> tuple[Ints, Ints]:
        """Only the keys from `low` up to `high`."""
        keys, counts = self.open()
        part = slice(*np.searchsorted(keys, np.array([low, high], dtype=np.uint64)).tolist())
        return keys[part], counts[part]


def cut_blocks(keys: Ints, counts: Ints, low: int, size: int, threads: int) -> Run:
    """Cut sorted keys into blocks of about `size`; classes, above the `low` bits, stay whole."""
    edges = [0]
    while edges[-1] < len(keys):
        at = min(edges[-1] + size, len(keys)) - 1
        end = ((int(keys[at]) >> low) + 1) << low
        edges.append(int(np.searchsorted(keys, np.uint64(end))))
    parts = [slice(*pair) for pair in pairwise(edges)]
    return map_threads(lambda p: KeyBlock.from_arrays(keys[p], counts[p]), parts, threads)


def merge_runs(runs: Sequence[Run], low: int, size: int, threads: int) -> Run:
    """Merge all runs into one, with blocks of about `size` keys; the given runs are used up."""
    blocks = sorted((block.first, len(block.counts)) for run in runs for block in run)
    edges = [(blocks[0][0] >> low) << low]
    cells = 0
    for first, number in blocks:
        edge = (first >> low) << low
        if cells >= size and edge > edges[-1]:
            edges.append(edge)  # some class begins here: no range is without a key
            cells = 0
        cells += number
    edges.append(1 << 63)
    ranges = list(pairwise(edges))
    merged = Run()
    for at in range(0, len(ranges), threads):
        some = ranges[at : at + threads]
        merged += map_threads(lambda pair: _merge_range(runs, *pair), some, threads)
        for run in runs:  # the memory of merged blocks is given back
            run[:] = [block for block in run if block.last >= some[-1][1]]
    return merged


def _merge_range(runs: Sequence[Run], low: int, high: int) -> KeyBlock:
    pairs = []
    for run in runs:
        opened = [b.open_range(low, high) for b in run if b.first < high and b.last >= low]
        if opened:
            keys, counts = zip(*opened, strict=True)
            pairs.append((np.concatenate(keys), np.concatenate(counts)))
    while len(pairs) > 1:
        several = [*zip(pairs[::2], pairs[1::2], strict=False)]
        odd = pairs[-1:] if len(pairs) % 2 else []
        pairs = [merge_counts(*one, *other) for one, other in several] + odd
    return KeyBlock.from_arrays(*pairs[0])
