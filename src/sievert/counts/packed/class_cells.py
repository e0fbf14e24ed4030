"""Cells of packed keys, and the histograms that follow from them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from sievert.arrays import Ints
from sievert.counts.answers import Gaps, JointCounts, NumberCells, Profiles, Ranked, Sizes
from sievert.counts.cube import DENSE_SIZES, histogram, merge_cells
from sievert.counts.packed import kernels, run_kernels
from sievert.counts.packed.coding import CodedColumn
from sievert.counts.packed.keys import KeyCounts
from sievert.counts.packed.numbers import (
    FEW_BITS,
    Spelling,
    code_field,
    number_cells,
    rank_codes,
    rank_values,
)
from sievert.counts.packed.threads import WORTH_THREADS, map_threads


class PackedCells:
    """Counted cells: the count and the secret of each; the bounds and the size of each class."""

    def __init__(self, counted: KeyCounts, threads: int) -> None:
        self.counted, self._threads = counted, threads
        self.counts, self.secret, self.low = counted.counts, counted.secret, counted.low
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

    @property
    def classes(self) -> Ints:
        """The key of each class."""
        return self.counted.keys[self.bounds[:-1]] >> np.uint64(self.low)

    @cached_property
    def places(self) -> dict[str, tuple[Ints, int]]:
        """For each column of a class the keys that it is in, and its lowest bit there."""
        return self.counted.layout.fields(self.classes)

    def roll_up(self) -> PackedCells:
        """The classes alone, without the secret."""
        layout = self.counted.layout
        return PackedCells(KeyCounts(self.classes, self.sizes, layout, None, 0), self._threads)

    def known(self) -> PackedCells:
        """Only the cells whose secret is not missing."""
        return PackedCells(self.counted.select(self.values != 0), self._threads)

    def tally(self, column: CodedColumn, most: int) -> dict[Any, int]:
        """How many records have each text; of others, or of more than `most`, only those missing.

        Empty texts count with those missing.
        """
        empty = column.code_of("") if column.kind == "text" else 0
        codes, totals = np.unique([0, max(0, empty)]), self.totals
        if column is self.secret:
            all_codes = self.present
        else:
            keys, shift = self.places[column.name]
            all_codes = np.arange(1 << column.bits if column.bits <= FEW_BITS else 0)
            if len(all_codes):
                totals = kernels.sum_fields(keys, shift, column.bits, self.sizes)
            else:
                own = code_field(keys, shift, column.bits)
                all_codes = codes
                totals = np.array([self.sizes[own == code].sum() for code in codes])
        there = totals > 0
        if column.kind != "text" or np.count_nonzero(there) > most:
            there &= np.isin(all_codes, codes)
        return dict(zip(column.spell(all_codes[there]), totals[there].tolist(), strict=True))

    # -- histograms -----------------------------------------------------------------------------

    def profiles(self) -> Profiles:
        """Distinct profiles; classes of one cell, mostly the bulk, need no comparing."""

        def work(_: slice, part: slice, bounds: Ints) -> tuple[Ints, Ints, Ints]:
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

        words, lengths, times = (
            np.concatenate(each) for each in zip(*self._each_share(work), strict=True)
        )
        bounds = np.concatenate([[0], np.cumsum(lengths)])
        order = run_kernels.order_runs(words, bounds, np.arange(len(lengths)))
        firsts = run_kernels.first_runs(words, bounds, order)
        flat, starts = run_kernels.gather_runs(words, bounds, order[firsts])
        return Profiles(flat, starts, np.add.reduceat(times[order], firsts))

    def joint(self, sizes: Ints | None = None, totals: Ints | None = None) -> JointCounts:
        """How many cells have each class size, total of the value and count."""
        sizes = self.sizes if sizes is None else sizes
        totals = self.totals if totals is None else totals

        def work(classes: slice, part: slice, bounds: Ints) -> Ints:
            of_cells = self.counts[part], self.values[part]
            return kernels.joint_kinds(*of_cells, bounds, sizes[classes], totals)

        rows = np.concatenate(self._each_share(work))
        *kinds, times = rows.T
        bits = [int(each.max()).bit_length() for each in kinds]
        places, sums = merge_cells([k.astype(np.uint64) for k in kinds], bits, times)
        class_sizes, value_sizes, cells = rows[places, :3].T
        return JointCounts.from_arrays(class_sizes, value_sizes, cells, sums)

    def gaps(self, sizes: Sizes, records: int) -> Gaps:
        """For each class size the largest sum over its cells of max(0, n·N - total·size)."""
        quick = np.zeros(sizes.most + 1 if sizes.most < DENSE_SIZES else 0, dtype=np.int64)
        if len(quick):
            quick[sizes.sizes] = np.arange(len(sizes.sizes))

        def work(classes: slice, part: slice, bounds: Ints) -> Ints:
            own, of_cells = self.sizes[classes], (self.counts[part], self.values[part])
            places = quick[own] if len(quick) else np.searchsorted(sizes.sizes, own)
            largest = np.zeros(len(sizes.sizes), dtype=np.int64)
            kernels.largest_gaps(*of_cells, bounds, own, self.totals, places, largest, records)
            return largest

        return Gaps.from_arrays(sizes.sizes, np.maximum.reduce(self._each_share(work)))

    def ranked(self) -> Ranked:
        """The classes by the ranks of their values, missing first."""
        assert self.secret is not None
        order = self.secret.ranks(self.present[self.totals > 0])
        return rank_values(self.values, self.counts, self.bounds, self.totals, order)

    def as_numbers(self, spell: Spelling) -> NumberCells:
        """The cells of the secret with its values as texts."""
        assert self.secret is not None
        ranked, codes = self.ranked(), self.present[self.totals > 0]
        by_rank = np.empty_like(codes)
        by_rank[self.secret.ranks(codes)] = codes
        texts = spell(self.secret, by_rank)
        return number_cells(ranked, texts, self.classes, self.counted.layout, spell)

    def _each_share(self, work: Callable[[slice, slice, Ints], Any]) -> list[Any]:
        """The work on the share of each thread of the classes, and of their cells."""
        bounds = self.bounds
        threads = self._threads if len(self.counts) > WORTH_THREADS else 1
        edges = np.linspace(0, len(bounds) - 1, threads + 1, dtype=np.int64)

        def one(edge: tuple[int, int]) -> Any:
            first, last = edge
            own = bounds[first : last + 1]
            return work(slice(first, last), slice(own[0], own[-1]), own - own[0])

        pairs = [(first, last) for first, last in pairwise(edges.tolist()) if first < last]
        return map_threads(one, pairs, threads)
