"""A sample of classes: all classes whose hash is below a threshold, with their exact counts.

A sketch has as many classes as a number of bytes has room for, in the order of their hashes. A
larger set of classes never takes fewer bytes. So the sketch of a whole table is the sketch of the
sketches of its parts, for any order of merging.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from sievert.arrays import Ints
from sievert.counts.cube import run_starts

ALL = 1 << 64  # the threshold of a sample that has every class
LEAST_CLASS = 9  # bytes of a class: its hash, and a small count
HASH_BYTES = 8
INDEX_BYTES = 2
# The hashes and counts of classes; for each secret the cells: hashes of class and value, counts.
Part = tuple[tuple[Ints, Ints], list[tuple[Ints, Ints, Ints]]]


@dataclass(frozen=True)
class SampledCells:
    """How often the classes of a sample have each value of a secret, by the values' hashes."""

    owner: Ints  # the class of each cell, by its place in the sample
    values: Ints  # hashes, ascending within a class
    counts: Ints


@dataclass(frozen=True, kw_only=True)
class ClassSample:
    """The classes whose hash is below the threshold, in the order of their hashes."""

    columns: tuple[str, ...]
    records: int  # of the whole table
    threshold: int
    hashes: Ints
    counts: Ints
    secrets: tuple[SampledCells, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every class is in the sample, so that nothing is estimated."""
        return self.threshold == ALL

    @property
    def share(self) -> float:
        """The probability that a class is in the sample."""
        return self.threshold / ALL

    def may_contain(self, other: ClassSample) -> bool:
        """Whether every class of another sample is here with at least as many records."""
        within = min(self.threshold, other.threshold)
        kept = slice(None) if within == ALL else other.hashes < np.uint64(within)
        hashes = other.hashes[kept]
        counts = other.counts[kept]
        places = np.minimum(np.searchsorted(self.hashes, hashes), len(self.hashes) - 1)
        if not len(self.hashes) or not len(hashes):
            return not len(hashes)
        return bool(((self.hashes[places] == hashes) & (self.counts[places] >= counts)).all())

    def class_bytes(self) -> Ints:
        """The bytes of each class; the value of a secret counts for the first class that has it."""
        size = HASH_BYTES + varint_bytes(self.counts)
        for cells in self.secrets:
            number = np.bincount(cells.owner, minlength=len(size))
            size += varint_bytes(number)
            of_cell = INDEX_BYTES + varint_bytes(cells.counts)
            size += np.bincount(cells.owner, of_cell, len(size)).astype(np.int64)
            _, first = np.unique(cells.values, return_index=True)
            size += HASH_BYTES * np.bincount(cells.owner[first], minlength=len(size))
        return size

    def cut(self, room: int) -> ClassSample:
        """Keep the classes with the smallest hashes, as many as `room` bytes have room for."""
        kept = int(np.searchsorted(np.cumsum(self.class_bytes()), room, "right"))
        if kept == len(self.hashes):
            return self
        secrets = []
        for cells in self.secrets:
            end = int(np.searchsorted(cells.owner, kept))
            secrets.append(SampledCells(cells.owner[:end], cells.values[:end], cells.counts[:end]))
        return replace(
            self,
            threshold=int(self.hashes[kept]),
            hashes=self.hashes[:kept],
            counts=self.counts[:kept],
            secrets=tuple(secrets),
        )

    def merge(self, other: ClassSample) -> ClassSample:
        """Merge two samples: classes below both thresholds, with the sums of their counts."""
        both = (self, other)
        cells = [
            (
                np.concatenate([s.hashes[own.owner] for s, own in zip(both, pair, strict=True)]),
                np.concatenate([own.values for own in pair]),
                np.concatenate([own.counts for own in pair]),
            )
            for pair in zip(self.secrets, other.secrets, strict=True)
        ]
        return make_sample(
            self.columns,
            self.records + other.records,
            (np.concatenate([s.hashes for s in both]), np.concatenate([s.counts for s in both])),
            cells,
            threshold=min(self.threshold, other.threshold),
        )


def merge_samples(samples: Sequence[ClassSample], room: int) -> ClassSample:
    """Merge the samples of several tables."""
    return reduce(lambda one, other: one.merge(other).cut(room), samples)


def make_sample(
    columns: Sequence[str],
    records: int,
    classes: tuple[Ints, Ints],
    cells: Sequence[tuple[Ints, Ints, Ints]],
    most: int | None = None,
    threshold: int = ALL,
) -> ClassSample:
    """Make a sample of classes, given by hash and count, and cells, by hashes of class and value.

    If there are more than `most` classes, only the smallest are kept, and none above `threshold`.
    """
    (hashes,), counts = sum_equal([classes[0]], classes[1])
    if most is not None and len(hashes) > most:
        threshold = int(hashes[most])
    if threshold < ALL:
        kept = np.searchsorted(hashes, np.uint64(threshold))
        hashes = hashes[:kept]
        counts = counts[:kept]
    secrets = []
    for owner, values, numbers in cells:
        (own, different), sums = sum_equal([owner, values], numbers)
        secrets.append(select_cells(hashes, own, different, sums))
    return ClassSample(
        columns=tuple(columns),
        records=records,
        threshold=threshold,
        hashes=hashes,
        counts=counts,
        secrets=tuple(secrets),
    )


def select_cells(hashes: Ints, owner: Ints, values: Ints, counts: Ints) -> SampledCells:
    """The cells of the classes with these hashes, both in the order of the hashes."""
    places = np.searchsorted(hashes, owner)
    kept = places < len(hashes)
    kept[kept] = hashes[places[kept]] == owner[kept]
    return SampledCells(places[kept], values[kept], counts[kept])


def sum_equal(keys: Sequence[Ints], counts: Ints) -> tuple[tuple[Ints, ...], Ints]:
    """Sort keys of one or several columns; equal keys occur once, with the sum of their counts."""
    order = np.lexsort(tuple(keys[::-1]))
    ordered = [key[order] for key in keys]
    if not len(order):
        return tuple(ordered), counts
    starts = run_starts(*ordered)
    return tuple(key[starts] for key in ordered), np.add.reduceat(counts[order], starts)


def varint_bytes(numbers: Ints) -> Ints:
    """The bytes of numbers of seven bits a byte."""
    size = np.ones(len(numbers), dtype=np.int64)
    for bits in range(7, 63, 7):
        size += numbers >= 1 << bits
    return size
