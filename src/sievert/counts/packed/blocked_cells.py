"""Cells in blocks, more than there is room for at once: the answers of all blocks together."""

import threading
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import numpy as np

from sievert.arrays import Ints
from sievert.counts.answers import Gaps, JointCounts, Profiles, Ranked, Sizes
from sievert.counts.packed import run_kernels
from sievert.counts.packed.blocks import KeyBlock
from sievert.counts.packed.class_cells import FEW_BITS, PackedCells, merge_joint, merge_profiles
from sievert.counts.packed.coding import CodedColumn, UnfitError
from sievert.counts.packed.keys import KeyBlocks
from sievert.counts.packed.threads import map_threads


class BlockedCells:
    """Counted cells of whole classes in blocks; a question opens as many as there are threads."""

    def __init__(self, counted: KeyBlocks, threads: int) -> None:
        self.counted = counted
        self.layout = counted.layout
        self._threads = threads
        self.secret = counted.layout.secret
        if self.secret is not None and self.secret.places > 1 << FEW_BITS:
            raise UnfitError  # blocks would not agree on the numbers of its values
        size = 1 if self.secret is None else self.secret.places
        self.present = np.arange(size)
        self.totals = np.zeros(size, dtype=np.int64)
        lock = threading.Lock()

        def add(cells: PackedCells) -> Sizes:
            with lock:
                self.totals += cells.totals
            return cells.class_sizes

        parts = self.map(add)
        self.class_sizes = Sizes.from_arrays(
            np.concatenate([part.sizes for part in parts]),
            np.concatenate([part.times for part in parts]),
        )

    def __len__(self) -> int:
        return len(self.counted)

    def map(self, work: Callable[[PackedCells], Any]) -> list[Any]:
        """Do the work on the classes of each block."""

        def one(block: KeyBlock) -> Any:
            return work(PackedCells(self.counted.open(block), 1))

        return map_threads(one, self.counted.blocks, self._threads)

    def roll_up(self) -> "BlockedCells":
        """The classes alone, without the secret."""
        blocks = self.map(lambda cells: KeyBlock.from_arrays(cells.classes, cells.sizes))
        return BlockedCells(KeyBlocks(blocks, self.layout.without_secret()), self._threads)

    def known(self) -> "BlockedCells":
        """Only the cells whose secret is not missing."""
        mask = np.uint64((1 << self.layout.low) - 1)
        return BlockedCells(self.counted.filter(lambda p: p.keys & mask != 0), self._threads)

    def code_totals(self, columns: Sequence[CodedColumn]) -> list[tuple[Ints, Ints]]:
        """For each column the codes, and the number of records with each."""
        sums = dict[str, tuple[Ints, Ints]]()
        lock = threading.Lock()

        def add(cells: PackedCells) -> None:
            for column, (codes, totals) in zip(columns, cells.code_totals(columns), strict=True):
                with lock:
                    before = sums.get(column.name)
                    if before is not None:
                        totals = before[1] + totals
                    sums[column.name] = (codes, totals)

        self.map(add)
        return [sums[column.name] for column in columns]

    def profiles(self) -> Profiles:
        """Distinct profiles of the classes."""
        return merge_profiles([*chain.from_iterable(self.map(PackedCells.profile_kinds))])

    def joint(self) -> JointCounts:
        """Count the cells with each class size, total of the value and count."""
        kinds = self.map(lambda cells: cells.joint_kinds(None, self.totals))
        return merge_joint([*chain.from_iterable(kinds)])

    def gaps(self, sizes: Sizes, records: int) -> Gaps:
        """For each class size the largest sum over its cells of max(0, n·N - total·size)."""
        gaps = self.map(lambda cells: cells.largest_gaps(sizes, records, self.totals))
        return Gaps.from_arrays(sizes.sizes, np.maximum.reduce(gaps))

    def rank(self) -> Ranked:
        """The classes by the ranks of their values, each kind once per block."""

        def kinds(cells: PackedCells) -> tuple[Ints, Ints, Ints]:
            ranked = cells.rank(self.totals)
            words = (ranked.ranks << 32) | ranked.counts
            firsts, _ = run_kernels.distinct(words, cells.bounds)
            flat, starts = run_kernels.gather_runs(words, cells.bounds, firsts)
            return flat >> 32, flat & 0xFFFFFFFF, np.diff(starts, append=len(flat))

        parts = self.map(kinds)
        ranks = np.concatenate([part[0] for part in parts])
        counts = np.concatenate([part[1] for part in parts])
        lengths = np.concatenate([part[2] for part in parts])
        assert self.secret is not None
        by_rank = np.empty(np.count_nonzero(self.totals), dtype=np.int64)
        by_rank[self.secret.ranks(self.present[self.totals > 0])] = self.totals[self.totals > 0]
        return Ranked(
            ranks=ranks, counts=counts, starts=np.cumsum(lengths) - lengths, totals=by_rank
        )
