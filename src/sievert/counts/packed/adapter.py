"""An engine of our own: the questions answered by compiled counting of packed keys.

A key is the codes of a record's values side by side in one 64-bit integer, in memory only. Sorted
keys are cells already: the low bits are the secret, what stands above them the class. Every answer
has the integers that DuckDB's SQL would give; what is not answered here, DuckDB answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from sievert.arrays import Bools, Ints
from sievert.counts.answers import (
    Gaps,
    JointCounts,
    NumberCells,
    Profiles,
    Ranked,
    RecordCounts,
    SecretCounts,
    Sizes,
)
from sievert.counts.cells import Adapter
from sievert.counts.cube import DENSE_SIZES, Cube, histogram, merge_cells
from sievert.counts.packed import kernels, numbers
from sievert.counts.packed.keys import (
    CodedColumn,
    Pace,
    Source,
    UnfitError,
    code_columns,
    count_keys,
    map_threads,
)
from sievert.counts.packed.numbers import FEW_BITS, code_field, rank_codes
from sievert.counts.questions import MOST_TALLIED, Questions

FEW_CELLS = 10**5  # that are kept beside others
Counted = tuple[list[CodedColumn], Ints, Ints]


class PackedCells:
    """Counted cells: the count and the secret of each; the bounds and the size of each class."""

    def __init__(
        self,
        keys: Ints,
        counts: Ints,
        quasi: list[CodedColumn],
        secret: CodedColumn | None,
    ) -> None:
        self.keys, self.counts, self.quasi, self.secret = keys, counts, quasi, secret
        self.low = secret.bits if secret else 0
        self.bounds = kernels.run_bounds(keys, self.low)
        self.sizes = kernels.sum_runs(counts, self.bounds)
        own = keys if secret else keys[:0]
        self.present = np.arange(1 << self.low if self.low <= FEW_BITS else 0)
        values = own & np.uint64((1 << self.low) - 1)
        if self.low > FEW_BITS:
            self.present, values = rank_codes(values.astype(np.int64), self.low)
        self.values = values.astype(np.uint32)
        self.totals = kernels.sum_counts(self.values, counts, len(self.present))

    def tally(self, column: CodedColumn) -> dict[str | None, int]:
        """How many records have each text; of a quasi-identifier's numbers only those missing."""
        present, totals = self.present, self.totals
        if column is not self.secret:
            above = self.quasi[self.quasi.index(column) + 1 :]
            shift, few = self.low + sum(c.bits for c in above), column.bits <= FEW_BITS
            missing = np.unique([0, column.texts.get("", 0)])
            present = np.arange(1 << column.bits) if few and column.kind == "text" else missing
            if few:
                totals = kernels.sum_fields(self.keys, shift, column.bits, self.counts)[present]
            else:
                own = code_field(self.keys, shift, column.bits)
                totals = np.array([self.counts[own == code].sum() for code in present])
        there = totals > 0
        return dict(zip(column.spell(present[there]), totals[there].tolist(), strict=True))

    @property
    def ranked(self) -> Ranked:
        """The classes by the ranks of their values."""
        return numbers.rank_values(self.values, self.counts, self.bounds, self.totals)

    def as_numbers(self) -> NumberCells:
        """The cells of the secret with its values as texts."""
        assert self.secret is not None
        texts = self.secret.spell(self.present[self.totals > 0])
        classes = self.keys[self.bounds[:-1]] >> np.uint64(self.low)
        return numbers.number_cells(self.ranked, texts, classes, self.quasi)

    def roll_up(self) -> PackedCells:
        """The classes alone, without the secret."""
        return PackedCells(
            self.keys[self.bounds[:-1]] >> np.uint64(self.low), self.sizes, self.quasi, None
        )


class PackedQuestions(Questions):
    """Questions about a large table of plain columns; the engine answers the others."""

    def __init__(
        self, engine: Adapter, records: int, source: Source, room: int, threads: int
    ) -> None:
        super().__init__(engine, records)
        self._source, self._room, self._threads = source, room, threads
        self._packed: dict[tuple[tuple[str, ...], str | None], PackedCells | None] = {}
        self._tallies: dict[str, dict[str | None, int]] = {}
        self._pace = Pace()
        self._suppressed: tuple[str, ...] = ()  # that all have the mark in records left out
        self._left_out, self._released = 0, self._input  # how many, and the view of the others

    def progress(self) -> float:
        """Per cent of the running count that is done, or -1."""
        share = self._pace.share
        return share if share >= 0 else super().progress()

    def interrupt(self) -> None:
        """Stop counting; the caller of the running question gets an error."""
        self._pace.stopped.set()
        super().interrupt()

    @property
    def _whole(self) -> bool:
        """Whether all records of the source are counted but those suppressed."""
        read = self.records + self._left_out
        return self._input == self._released and read == self._source.records and not self.wide

    def count_keys(self, names: Sequence[str]) -> Counted | None:
        """Columns coded, the different keys, and how many records have each; None if unfit."""
        if not (self._whole and {*self._suppressed} <= {*names}):
            return None  # the keys do not tell which records were left out
        try:
            coded = code_columns(self._source, names)
            keys, counts = count_keys(self._source, coded, self._room, self._threads, self._pace)
        except UnfitError:
            return None
        if self._suppressed:
            kept = ~self._find_marks(coded, keys, self._suppressed)[0]
            keys, counts = keys[kept], counts[kept]
        return coded, keys, counts

    def _find_marks(
        self, coded: Sequence[CodedColumn], keys: Ints, quasi: Sequence[str]
    ) -> tuple[Bools, Bools]:
        """Which keys have the mark of suppression in every quasi-identifier, and in any."""
        mark, shift, kind = self.suppression.mark, sum(c.bits for c in coded), keys.dtype.type
        every, some = np.ones(len(keys), dtype=bool), np.zeros(len(keys), dtype=bool)
        for column in coded:
            shift -= column.bits
            if column.name in quasi and (mark is None or mark in column.texts):
                field, code = (1 << column.bits) - 1, 0 if mark is None else column.texts[mark]
                have = (keys & kind(field << shift)) == kind(code << shift)
                every &= have
                some |= have
            elif column.name in quasi:
                every[:] = False
        return every, some

    def count_marked(
        self, quasi: Sequence[str], secret: str | None, *, cells: bool
    ) -> tuple[int, int]:
        """How many records have the mark of suppression in every quasi-identifier, and in any."""
        counted, able = None, [q for q in quasi if self._may_hold_mark(q)]
        if cells and able and self._codes_mark(able):
            counted = self._packed_cells(tuple(quasi), secret)
        if counted is None:
            return super().count_marked(quasi, secret, cells=cells)
        columns = [*counted.quasi, *([] if counted.secret is None else [counted.secret])]
        every, some = self._find_marks(columns, counted.keys, quasi)
        return int(counted.counts[every].sum()), int(counted.counts[some].sum())

    def drop_suppressed(self, quasi: Sequence[str]) -> None:
        """Leave out the records that have the mark in every quasi-identifier from now on."""
        before = self.records
        super().drop_suppressed(quasi)
        if self._codes_mark(quasi):
            self._suppressed, self._left_out = tuple(quasi), before - self.records
            self._released = self._input

    def forget_counts(self) -> None:
        """Forget what was counted."""
        super().forget_counts()
        self._packed.clear()
        self._tallies.clear()

    def _codes_mark(self, quasi: Sequence[str]) -> bool:
        """Whether the mark of suppression is a code of these columns, if they have it at all."""
        mark = self.suppression.mark
        return mark is None or all(self.engine.kind(q) == "text" for q in quasi)

    def _packed_cells(self, quasi: tuple[str, ...], secret: str | None) -> PackedCells | None:
        if not self._whole:
            return None
        if (quasi, secret) not in self._packed:
            self._packed[quasi, secret] = self._count(quasi, secret)
        return self._packed[quasi, secret]

    def _count(self, quasi: tuple[str, ...], secret: str | None) -> PackedCells | None:
        if secret is None:
            known = (c for (q, s), c in self._packed.items() if q == quasi and s and c)
            if (finer := next(known, None)) is not None:
                return finer.roll_up()
        columns = quasi if secret is None else (*quasi, secret)
        counted = None if secret in quasi else self.count_keys(columns)
        if counted is None:
            return None
        coded, keys, counts = counted
        for key in [k for k, c in self._packed.items() if not c or len(c.keys) > FEW_CELLS]:
            del self._packed[key]  # one large table of cells at a time
        return self.note_cells(coded[: len(quasi)], coded[-1] if secret else None, keys, counts)

    def note_cells(
        self, quasi: list[CodedColumn], secret: CodedColumn | None, keys: Ints, counts: Ints
    ) -> PackedCells:
        """Counted cells; how many records have each value of their columns is noted."""
        cells = PackedCells(keys, counts, quasi, secret)
        new = [q for q in quasi if q.name not in self._tallies] + ([secret] if secret else [])
        tallies = map_threads(cells.tally, new, self._threads)
        self._tallies |= {c.name: tally for c, tally in zip(new, tallies, strict=True)}
        return cells

    def cube(self, columns: Sequence[str]) -> Cube:
        """The combinations of some columns' values; the texts stay in this process."""
        columns, known = tuple(columns), self._packed if self._whole else {}
        cells = known.get((columns[:-1], columns[-1])) or known.get((columns, None))
        if cells is not None:  # counted already
            coded = [*cells.quasi, *([] if cells.secret is None else [cells.secret])]
            keys, counts = cells.keys, cells.counts
        elif (counted := self.count_keys(columns)) is not None:
            coded, keys, counts = counted
        else:
            return super().cube(columns)
        ranks, texts, shift = [], [], sum(c.bits for c in coded)
        for column in coded:
            shift -= column.bits
            present, own = rank_codes(code_field(keys, shift, column.bits), column.bits)
            ranks.append(own)
            texts.append(column.spell(present))
        return Cube.from_cells(columns, ranks, counts, texts)

    def number_cells(self, quasi: Sequence[str], secret: str) -> NumberCells:
        """The cells of a secret number; its texts stay in this process."""
        cells = self._packed_cells(tuple(quasi), secret)
        return super().number_cells(quasi, secret) if cells is None else cells.as_numbers()

    # -- answers --------------------------------------------------------------------------------

    def sizes(self, quasi: Sequence[str]) -> Sizes:
        """The histogram of class sizes."""
        quasi = tuple(quasi)
        if quasi not in self._sizes and (cells := self._packed_cells(quasi, None)) is not None:
            self._sizes[quasi] = histogram(cells.sizes)
            self._sizes[quasi].check(self.records)
        return super().sizes(quasi)

    def record_counts(self, quasi: Sequence[str], *, wildcard: bool) -> RecordCounts:
        """The counts behind every measure of re-identification."""
        quasi = tuple(quasi)
        known = quasi in self._sizes and all(q in self._tallies for q in quasi)
        unfit = not known and self._packed_cells(quasi, None) is None
        if unfit or (wildcard and any(self._tallies[q].get(None) for q in quasi)):
            return super().record_counts(quasi, wildcard=wildcard)
        return RecordCounts(self.records, self.sizes(quasi))

    def missing(self, quasi: Sequence[str]) -> dict[str, int]:
        """How many records lack each quasi-identifier; only those that some record lacks."""
        if not all(q in self._tallies for q in quasi):
            return super().missing(quasi)
        return {q: n for q in quasi if (n := self._tallies[q].get(None, 0))}

    def tally(self, column: str, quasi: Sequence[str]) -> dict[str | None, int]:
        """How many records have each text; of other or too many values only missing and empty."""
        if column not in self._tallies:
            self._packed_cells(tuple(quasi), None if column in quasi else column)
        if column not in self._tallies:
            return super().tally(column, quasi)
        counts = self._tallies[column]
        if self.engine.kind(column) == "text" and len(counts) <= MOST_TALLIED:
            return counts
        return {value: n for value, n in counts.items() if not value}

    def values(self, column: str, quasi: Sequence[str]) -> list[str]:
        """The different values of a secret as text, without missing; they stay in this process."""
        if column not in self._tallies or column in quasi:
            return super().values(column, quasi)
        return [v for v in self._tallies[column] if v is not None]

    def secret_counts(
        self, quasi: Sequence[str], secret: str, needs: frozenset[str], **rare: Any
    ) -> SecretCounts:
        """Everything about one secret that `needs` names; DuckDB answers what is rarely asked."""
        quasi, special = tuple(quasi), any(option is not None for option in rare.values())
        cells = None if special else self._packed_cells(quasi, secret)
        if cells is None or cells.secret is None:
            return super().secret_counts(quasi, secret, needs, **rare)
        sizes = histogram(cells.sizes)
        sizes.check(self.records)
        self._sizes.setdefault(quasi, sizes)
        missing, known = int(cells.totals[0]), cells.values != 0
        some_known = 0 < missing < self.records
        bounds = kernels.run_bounds(cells.keys[known], cells.low) if some_known else None
        return SecretCounts(
            records=self.records,
            sizes=sizes,
            values=histogram(cells.totals[cells.totals > 0]),
            profiles=self._profiles(cells.counts, cells.bounds),
            joint=self.joint(cells.counts, cells.values, cells.bounds, cells.sizes, cells.totals)
            if "joint" in needs
            else None,
            gaps=self.gaps(cells, sizes, self.records) if "gaps" in needs else None,
            missing=missing,
            known_profiles=self._profiles(cells.counts[known], bounds)
            if "known" in needs and bounds is not None
            else None,
            known_joint=self.joint(
                own := cells.counts[known],
                cells.values[known],
                bounds,
                kernels.sum_runs(own, bounds),
                cells.totals,
            )
            if "known_joint" in needs and bounds is not None
            else None,
            ranked=cells.ranked
            if "order" in needs and not missing and cells.secret.kind in ("int", "date")
            else None,
        )

    def _profiles(self, counts: Ints, bounds: Ints) -> Profiles:
        """Distinct profiles; classes of one cell, mostly the bulk, need no comparing."""

        def work(_: slice, part: slice, bounds: Ints) -> list[tuple[tuple[int, ...], int]]:
            single, words, own = kernels.several(counts[part], bounds)
            kernels.sort_downwards(words, own)
            firsts, times = kernels.distinct(words, own)
            alone = histogram(single)
            lists = [(size,) for size in alone.sizes.tolist()]
            lists += [tuple(words[own[f] : own[f + 1]].tolist()) for f in firsts]
            return list(zip(lists, [*alone.times.tolist(), *times.tolist()], strict=True))

        classes: Counter[tuple[int, ...]] = Counter()
        for kinds in self._each_share(bounds, work):
            for profile, n in kinds:
                classes[profile] += n
        profiles = sorted(classes)
        return Profiles.from_arrays(profiles, [classes[profile] for profile in profiles])

    def joint(
        self, counts: Ints, values: Ints, bounds: Ints, sizes: Ints, totals: Ints
    ) -> JointCounts:
        """How many cells have each class size, total of the value and count."""

        def work(classes: slice, part: slice, bounds: Ints) -> Ints:
            of_cells = counts[part], values[part]
            return kernels.joint_kinds(*of_cells, bounds, sizes[classes], totals)

        rows = np.concatenate(self._each_share(bounds, work))
        *kinds, times = rows.T
        places, sums = merge_cells(
            [k.astype(np.uint64) for k in kinds], [self.records.bit_length()] * 3, times
        )
        class_sizes, value_sizes, cells = rows[places, :3].T
        return JointCounts.from_arrays(class_sizes, value_sizes, cells, sums)

    def gaps(self, cells: PackedCells, sizes: Sizes, records: int) -> Gaps:
        """For each class size the largest sum over its cells of max(0, n·N - total·size)."""
        quick = np.zeros(sizes.most + 1 if sizes.most < DENSE_SIZES else 0, dtype=np.int64)
        if len(quick):
            quick[sizes.sizes] = np.arange(len(sizes.sizes))

        def work(classes: slice, part: slice, bounds: Ints) -> Ints:
            own, of_cells = cells.sizes[classes], (cells.counts[part], cells.values[part])
            places = quick[own] if len(quick) else np.searchsorted(sizes.sizes, own)
            largest = np.zeros(len(sizes.sizes), dtype=np.int64)
            kernels.largest_gaps(*of_cells, bounds, own, cells.totals, places, largest, records)
            return largest

        shares = self._each_share(cells.bounds, work)
        return Gaps.from_arrays(sizes.sizes, np.maximum.reduce(shares))

    def _each_share(self, bounds: Ints, work: Callable[[slice, slice, Ints], Any]) -> list[Any]:
        """The work on the share of each thread of the classes, and of their cells."""
        edges = np.linspace(0, len(bounds) - 1, self._threads + 1, dtype=np.int64)

        def one(edge: tuple[int, int]) -> Any:
            first, last = edge
            own = bounds[first : last + 1]
            return work(slice(first, last), slice(own[0], own[-1]), own - own[0])

        pairs = [(first, last) for first, last in pairwise(edges.tolist()) if first < last]
        return map_threads(one, pairs, self._threads)
