"""Cells as codes, in the order of their classes, and the histograms that follow from them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sievert.arrays import Ints
from sievert.counts.answers import Gaps, JointCounts, Named, Profiles, Ranked
from sievert.counts.cube import MOST_BITS, merge_cells, run_starts
from sievert.errors import InputError, require
from sievert.sources.table import SURROGATE


@dataclass(frozen=True, kw_only=True)
class ClassCells:
    """Cells in the order of their classes: the class, the code of the secret, the records of each.

    `sizes` has the records of each class, `totals` those of each code.
    """

    owner: Ints
    values: Ints
    counts: Ints
    sizes: Ints
    totals: Ints

    @property
    def joint(self) -> JointCounts:
        """Count the cells with each class size, total of the value and count."""
        kinds = (self.sizes[self.owner], self.totals[self.values], self.counts)
        bits = [int(self.sizes.sum()).bit_length()] * 3
        ones = np.ones(len(self.counts), dtype=np.int64)
        places, times = merge_cells([kind.astype(np.uint64) for kind in kinds], bits, ones)
        sizes, totals, counts = (kind[places] for kind in kinds)
        return JointCounts.from_arrays(sizes, totals, counts, times)

    def profiles(self, people: Ints | None = None) -> Profiles:
        """The distinct profiles of the classes, with the people of a class, in ascending order."""
        counts = self.counts[np.lexsort((-self.counts, self.owner))]
        bits = max(1, int(counts.max(initial=0)).bit_length())
        words, starts = _pack_runs(counts, run_starts(self.owner), bits)
        if people is None:
            kinds = _count_runs(words, starts)
            ordered = sorted(kinds)
            return _unpack(ordered, bits, [kinds[run] for run in ordered])
        ends = np.append(starts[1:], len(words))  # the last word of a run is its people
        present = people[self.owner[run_starts(self.owner)]]
        kinds = _count_runs(np.insert(words, ends, present), starts + np.arange(len(starts)))
        ordered = sorted(kinds, key=lambda run: (run[:-1], run[-1]))
        return _unpack(
            [run[:-1] for run in ordered],
            bits,
            times=[kinds[run] for run in ordered],
            people=[run[-1] for run in ordered],
        )

    def gaps(self, levels: int = 1) -> Gaps:
        """For each class size the largest sum of max(0, n·N - total·size)."""
        terms = self.counts * self.sizes.sum() - self.totals[self.values] * self.sizes[self.owner]
        sums = np.add.reduceat(np.maximum(0, terms), run_starts(self.owner))
        order = np.lexsort((sums, self.sizes))
        sizes = self.sizes[order]
        last = np.append(np.flatnonzero(np.diff(sizes)), len(sizes) - 1)
        return Gaps.from_arrays(sizes[last], sums[order][last], levels)

    def known(self) -> "ClassCells":
        """Only the cells whose secret is not missing, and only their records."""
        kept = self.values > 0
        owner = self.owner[kept]
        counts = self.counts[kept]
        sizes = np.bincount(owner, counts, len(self.sizes)).astype(np.int64)
        return ClassCells(
            owner=owner, values=self.values[kept], counts=counts, sizes=sizes, totals=self.totals
        )

    def merge(self, labels: Sequence[list[int]]) -> "ClassCells":
        """The cells of the labels that each code has; a code may have one label per level."""
        lengths = np.array([len(numbers) for numbers in labels])
        starts = np.cumsum(lengths) - lengths
        flat = np.array([number for numbers in labels for number in numbers], dtype=np.int64)
        times = lengths[self.values]
        within = np.arange(times.sum()) - np.repeat(np.cumsum(times) - times, times)
        own = flat[np.repeat(starts[self.values], times) + within]
        owner = np.repeat(self.owner, times)
        counts = np.repeat(self.counts, times)
        size = int(flat.max()) + 1
        keys, place = np.unique(owner * size + own, return_inverse=True)
        sums = np.bincount(place, counts).astype(np.int64)
        totals = np.bincount(own, counts, size).astype(np.int64)
        return ClassCells(
            owner=keys // size, values=keys % size, counts=sums, sizes=self.sizes, totals=totals
        )

    def rank(self, ranks: Ints) -> Ranked:
        """The classes as (rank, count) pairs in the order of the values."""
        place = ranks[self.values]
        order = np.lexsort((place, self.owner))
        totals = np.zeros(len(self.totals) - 1, dtype=np.int64)
        totals[ranks[1:]] = self.totals[1:]
        return Ranked(
            ranks=place[order],
            counts=self.counts[order],
            starts=run_starts(self.owner),
            totals=totals,
        )

    def count_named(self, code: int) -> Named:
        """How often classes have one code; a class without a known secret never has it."""
        classes = len(self.sizes)
        known = np.bincount(self.owner, self.counts * (self.values > 0), classes)
        named = np.bincount(self.owner, self.counts * (self.values == code), classes)
        rows = zip(
            self.sizes.tolist(), known.astype(int).tolist(), named.astype(int).tolist(), strict=True
        )
        distinct = sorted(set(rows))
        return Named(
            class_size=tuple(size for size, _, _ in distinct),
            known_size=tuple(max(1, number) for _, number, _ in distinct),
            count=tuple(count for _, _, count in distinct),
        )


def _pack_runs(numbers: Ints, starts: Ints, bits: int) -> tuple[Ints, Ints]:
    """Pack runs of positive numbers, several in a word, the first one highest: order is kept."""
    most = MOST_BITS // bits
    place = np.arange(len(numbers)) - np.repeat(starts, np.diff(np.append(starts, len(numbers))))
    begins = np.flatnonzero(place % most == 0)
    words = np.add.reduceat(numbers << bits * (most - 1 - place % most), begins)
    return words, np.searchsorted(begins, starts)


def _unpack(
    runs: Sequence[tuple[int, ...]], bits: int, times: Sequence[int], people: Any = None
) -> Profiles:
    """Make profiles of packed counts."""
    words = np.array([word for run in runs for word in run], dtype=np.int64)
    shifts = np.arange(MOST_BITS // bits - 1, -1, -1) * bits
    fields = words[:, None] >> shifts & ((1 << bits) - 1)
    begins = np.cumsum([0, *map(len, runs[:-1])])
    lengths = np.add.reduceat((fields > 0).sum(axis=1), begins)
    number = None if people is None else np.array(people)
    return Profiles(
        counts=fields[fields > 0],
        starts=np.cumsum(lengths) - lengths,
        times=np.array(times),
        people=number,
    )


def _count_runs(words: Ints, starts: Ints) -> dict[tuple[int, ...], int]:
    """Count the runs that consist of the same words."""
    lengths = np.diff(np.append(starts, len(words)))
    kinds: dict[tuple[int, ...], int] = {}
    for length in np.unique(lengths).tolist():
        rows = words[np.repeat(lengths == length, lengths)].reshape(-1, length)
        rows = rows[np.lexsort(rows.T[::-1])]
        first = run_starts(*rows.T)
        times = np.diff(np.append(first, len(rows))).tolist()
        kinds.update(zip(map(tuple, rows[first].tolist()), times, strict=True))
    return kinds


def check_unicode(text: str) -> None:
    """Raise an error for a text that an engine would not accept."""
    require(
        not SURROGATE.search(text),
        "a text is not valid Unicode (a lone surrogate)",
        hint="repair the text",
        error=InputError,
    )
