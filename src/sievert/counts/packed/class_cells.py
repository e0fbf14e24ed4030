"""Cells of packed keys, and the histograms that follow from them."""

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from sievert.arrays import Ints
from sievert.counts.answers import Gaps, JointCounts, NumberCells, Profiles, Ranked, Sizes
from sievert.counts.cells import WIDE
from sievert.counts.cube import DENSE_SIZES, histogram, merge_cells
from sievert.counts.packed import kernels, run_kernels
from sievert.counts.packed.coding import CodedColumn
from sievert.counts.packed.keys import KeyCounts
from sievert.counts.packed.threads import WORTH_THREADS, map_threads

FEW_BITS = 22
ProfileKinds = tuple[Ints, Ints, Ints]  # the counts of each, its length, how many classes have it
assert WIDE == 2**31  # a count and a rank fit one word
Spelling = Callable[[CodedColumn, Ints], list[str | None]]  # the texts of codes


def code_field(keys: Ints, shift: int, bits: int) -> Ints:
    """The codes in the `bits` bits of the keys above their `shift` lowest bits."""
    return ((keys >> np.uint64(shift)) & np.uint64((1 << bits) - 1)).astype(np.int64)


def rank_codes(codes: Ints, bits: int) -> tuple[Ints, Ints]:
    """The codes that occur, 0 (missing) in any case, and the rank of each code among them."""
    if bits > FEW_BITS:
        numbers, different = kernels.rank_keys(np.append(codes.view(np.uint64), np.uint64(0)))
        order = np.argsort(different)
        ranks = np.empty(len(order), dtype=np.int64)
        ranks[order] = np.arange(len(order))
        return different[order].view(np.int64), ranks[numbers[:-1]]
    occurs = np.bincount(codes, minlength=1 << bits) > 0
    occurs[0] = True
    return np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[codes]


class PackedCells:
    """Counted cells: the count and the secret of each; the bounds and the size of each class."""

    def __init__(self, counted: KeyCounts, threads: int) -> None:
        self.counted = counted
        self.layout = counted.layout
        self._threads = threads
        self.counts = counted.counts
        self.secret = self.layout.secret
        self.low = self.layout.low
        threads = threads if len(self.counts) > WORTH_THREADS else 1
        map_threads(lambda find: find(), (self._find_classes, self._find_values), threads)

    def _find_classes(self) -> None:
        self.bounds = run_kernels.run_bounds(self.counted.keys, self.low)
        self.sizes = run_kernels.sum_runs(self.counts, self.bounds)

    def _find_values(self) -> None:
        own = self.counted.keys if self.secret else self.counted.keys[:0]
        size = 1 if self.secret is None else self.secret.places
        if size <= 1 << FEW_BITS:
            self.present = np.arange(size)
            self.values = own.astype(np.uint32) & np.uint32((1 << self.low) - 1)
        else:
            self.present, ranks = rank_codes(code_field(own, 0, self.low), self.low)
            self.values = ranks.astype(np.uint32)
        self.totals = kernels.sum_counts(self.values, self.counts, len(self.present))

    def __len__(self) -> int:
        return len(self.counts)

    @cached_property
    def class_sizes(self) -> Sizes:
        """The histogram of the sizes of the classes."""
        return histogram(self.sizes)

    def map(self, work: "Callable[[PackedCells], Any]") -> list[Any]:
        """The work on all classes, which are here."""
        return [work(self)]

    @property
    def classes(self) -> Ints:
        """The key of each class."""
        return self.counted.keys[self.bounds[:-1]] >> np.uint64(self.low)

    @cached_property
    def places(self) -> dict[str, tuple[Ints, int]]:
        """For each column of a class the keys that it is in, and its lowest bit there."""
        return self.layout.fields(self.classes)

    def roll_up(self) -> "PackedCells":
        """The classes alone, without the secret."""
        counted = KeyCounts(self.classes, self.sizes, self.layout.without_secret())
        return PackedCells(counted, self._threads)

    def known(self) -> "PackedCells":
        """Only the cells whose secret is not missing."""
        return PackedCells(self.counted.filter(lambda _: self.values != 0), self._threads)

    def code_totals(self, columns: Sequence[CodedColumn]) -> list[tuple[Ints, Ints]]:
        """Of each column the codes, and how many records have each."""
        threads = self._threads if len(self.sizes) > WORTH_THREADS else 1
        return map_threads(self._code_totals, columns, threads)

    def _code_totals(self, column: CodedColumn) -> tuple[Ints, Ints]:
        """Of columns of many codes only missing and empty ones."""
        if column is self.secret:
            return self.present, self.totals
        keys, shift = self.places[column.name]
        if column.bits <= FEW_BITS:
            totals = kernels.sum_fields(keys, shift, column.bits, self.sizes)
            return np.arange(1 << column.bits), totals
        own = code_field(keys, shift, column.bits)
        codes = _blank_codes(column)
        return codes, np.array([self.sizes[own == code].sum() for code in codes])

    # -- histograms -----------------------------------------------------------------------------

    def profiles(self) -> Profiles:
        """Distinct profiles of the classes."""
        return merge_profiles(self.profile_kinds())

    def profile_kinds(self) -> list[ProfileKinds]:
        """The distinct profiles of each share; most classes have one cell, and are not compared."""

        def work(_: slice, part: slice, bounds: Ints) -> ProfileKinds:
            single, words, own = run_kernels.several(self.counts[part], bounds)
            run_kernels.sort_downwards(words, own)
            firsts, times = run_kernels.distinct(words, own)
            flat, starts = run_kernels.gather_runs(words, own, firsts)
            alone = histogram(single)
            return (
                np.concatenate([alone.sizes, flat]),
                np.concatenate([np.ones_like(alone.sizes), np.diff(starts, append=len(flat))]),
                np.concatenate([alone.times, times]),
            )

        return self._each_share(work)

    def joint(self, sizes: Ints | None = None, totals: Ints | None = None) -> JointCounts:
        """Count the cells with each class size, total of the value and count."""
        return merge_joint(self.joint_kinds(sizes, totals))

    def joint_kinds(self, sizes: Ints | None = None, totals: Ints | None = None) -> list[Ints]:
        """Count such cells of each share, in rows."""
        sizes = self.sizes if sizes is None else sizes
        totals = self.totals if totals is None else totals

        def work(classes: slice, part: slice, bounds: Ints) -> Ints:
            counts = self.counts[part]
            values = self.values[part]
            return kernels.joint_kinds(counts, values, bounds, sizes[classes], totals)

        return self._each_share(work)

    def gaps(self, sizes: Sizes, records: int) -> Gaps:
        """For each class size the largest sum over its cells of max(0, n·N - total·size)."""
        return Gaps.from_arrays(sizes.sizes, self.largest_gaps(sizes, records, self.totals))

    def largest_gaps(self, sizes: Sizes, records: int, totals: Ints) -> Ints:
        """The largest sums as an array, for given totals of the values."""
        quick = np.zeros(sizes.most + 1 if sizes.most < DENSE_SIZES else 0, dtype=np.int64)
        if len(quick):
            quick[sizes.sizes] = np.arange(len(sizes.sizes))

        def work(classes: slice, part: slice, bounds: Ints) -> Ints:
            own = self.sizes[classes]
            counts = self.counts[part]
            values = self.values[part]
            places = quick[own] if len(quick) else np.searchsorted(sizes.sizes, own)
            largest = np.zeros(len(sizes.sizes), dtype=np.int64)
            kernels.largest_gaps(counts, values, bounds, own, totals, places, largest, records)
            return largest

        return np.asarray(np.maximum.reduce(self._each_share(work)))

    def rank(self, totals: Ints | None = None) -> Ranked:
        """The classes by the ranks of their values, missing first."""
        assert self.secret is not None
        totals = self.totals if totals is None else totals
        occurs = totals > 0
        order = self.secret.ranks(self.present[occurs])
        ranks = order[np.cumsum(occurs) - 1][self.values]
        counts = self.counts
        by_rank = np.empty(len(order), dtype=np.int64)
        by_rank[order] = totals[occurs]
        if (order[1:] < order[:-1]).any():  # a word has the rank and the count
            words = -((ranks << 32) | counts)
            run_kernels.sort_downwards(words, self.bounds)
            ranks = -words >> 32
            counts = -words & 0xFFFFFFFF
        return Ranked(ranks=ranks, counts=counts, starts=self.bounds[:-1], totals=by_rank)

    def as_numbers(self, spell: Spelling) -> NumberCells:
        """The cells of the secret with its values as texts."""
        assert self.secret is not None
        ranked = self.rank()
        codes = self.present[self.totals > 0]
        by_rank = np.empty_like(codes)
        by_rank[self.secret.ranks(codes)] = codes
        classes = self.classes

        def first(some: Ints) -> int:
            columns = []
            places = self.layout.fields(classes[some])
            for column in self.layout.quasi:
                own = spell(column, code_field(*places[column.name], column.bits))
                columns.append([(text is not None, text or "") for text in own])
            order = list(zip(*columns, strict=True))
            return int(some[min(range(len(order)), key=order.__getitem__)])

        texts = tuple(spell(self.secret, by_rank))
        return NumberCells(
            texts=texts, codes=ranked.ranks, counts=ranked.counts, bounds=self.bounds, first=first
        )

    def _each_share(self, work: Callable[[slice, slice, Ints], Any]) -> list[Any]:
        """Do the work on each thread's share of the classes and their cells."""
        bounds = self.bounds
        threads = self._threads if len(self.counts) > WORTH_THREADS else 1
        edges = np.linspace(0, len(bounds) - 1, threads + 1, dtype=np.int64)

        def one(edge: tuple[int, int]) -> Any:
            first, last = edge
            own = bounds[first : last + 1]
            return work(slice(first, last), slice(own[0], own[-1]), own - own[0])

        pairs = [(first, last) for first, last in pairwise(edges.tolist()) if first < last]
        return map_threads(one, pairs, threads)


def spell_totals(column: CodedColumn, codes: Ints, totals: Ints, most: int) -> dict[Any, int]:
    """Count the records with each text.

    Of other values, and of more than `most` texts, only missing and empty ones are counted.
    """
    there = totals > 0
    if column.kind != "text" or np.count_nonzero(there) > most:
        there &= np.isin(codes, _blank_codes(column))
    return dict(zip(column.spell(codes[there]), totals[there].tolist(), strict=True))


def _blank_codes(column: CodedColumn) -> Ints:
    """The codes of a missing value and of an empty text."""
    return np.unique([0, max(0, column.code_of("") if column.kind == "text" else 0)])


def merge_profiles(kinds: list[ProfileKinds]) -> Profiles:
    """Merge the distinct profiles of all shares, in one order."""
    words = np.concatenate([share[0] for share in kinds])
    lengths = np.concatenate([share[1] for share in kinds])
    times = np.concatenate([share[2] for share in kinds])
    bounds = np.concatenate([[0], np.cumsum(lengths)])
    order = run_kernels.order_runs(words, bounds, np.arange(len(lengths)))
    firsts = run_kernels.first_runs(words, bounds, order)
    flat, starts = run_kernels.gather_runs(words, bounds, order[firsts])
    return Profiles(flat, starts, np.add.reduceat(times[order], firsts))


def merge_joint(kinds: list[Ints]) -> JointCounts:
    """Merge the rows of all shares: each kind once, in one order."""
    rows = np.concatenate(kinds)
    *columns, times = rows.T
    bits = [int(column.max()).bit_length() for column in columns]
    places, sums = merge_cells([k.astype(np.uint64) for k in columns], bits, times)
    class_sizes, value_sizes, cells = rows[places, :3].T
    return JointCounts.from_arrays(class_sizes, value_sizes, cells, sums)
