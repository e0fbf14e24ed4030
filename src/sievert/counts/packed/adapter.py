"""The same questions answered from packed keys, where a table is large and its columns plain.

Sorted keys are cells already: the low bits are the secret, what stands above them the class. Every
answer has the integers that the engine's SQL would give; what is not answered here, it answers.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sievert.arrays import Ints
from sievert.counts.answers import (
    Gaps,
    JointCounts,
    Profiles,
    Ranked,
    RecordCounts,
    SecretCounts,
    Sizes,
)
from sievert.counts.cells import WIDE, Adapter
from sievert.counts.cube import DENSE_SIZES, Cube, histogram
from sievert.counts.packed import codes, counting, kernels
from sievert.counts.questions import MOST_TALLIED, Questions
from sievert.hierarchies import Hierarchy

FEW_BITS = 22


@dataclass
class PackedCells:
    """Counted cells: for each its count and the code of its secret; for each class its size."""

    keys: Ints
    counts: Ints
    quasi: list[codes.CodedColumn]
    secret: codes.CodedColumn | None
    threads: int

    def __post_init__(self) -> None:
        self.low = self.secret.bits if self.secret else 0
        self.starts = _starts(self.keys, self.low, self.threads)
        self.sizes = np.concatenate(
            each_share(
                self.starts,
                len(self.counts),
                lambda _, part, starts: kernels.sums(self.counts[part], starts),
                self.threads,
            )
        )
        self.values = self.totals = self.present = np.zeros(0, dtype=np.int64)
        if self.secret is not None:
            self._number_values()

    def _number_values(self) -> None:
        """The secret's codes, or their ranks where codes are far apart; 0 stays missing."""
        codes_ = self.keys & np.uint64((1 << self.low) - 1)
        if self.low <= FEW_BITS:
            self.values, self.present = codes_.astype(np.uint32), np.arange(1 << self.low)
        else:
            present = np.union1d(codes_, np.zeros(1, dtype=np.uint64))
            self.values = np.searchsorted(present, codes_).astype(np.uint32)
            self.present = present.astype(np.int64)
        self.totals = kernels.totals(self.counts, self.values, len(self.present))

    def shift(self, column: codes.CodedColumn) -> int:
        """How many bits of a key stand below a quasi-identifier's."""
        return self.low + sum(c.bits for c in self.quasi[self.quasi.index(column) + 1 :])

    def roll_up(self) -> PackedCells:
        """Without the secret."""
        keys = self.keys[self.starts] >> np.uint64(self.low)
        return PackedCells(keys, self.sizes, self.quasi, None, self.threads)


def _starts(keys: Ints, low: int, threads: int) -> Ints:
    """Where classes begin among sorted keys, each thread looking at a part of them."""
    edges = [len(keys) * i // threads for i in range(threads + 1)]

    def work(place: tuple[int, int]) -> Ints:
        first, last = place
        starts = kernels.classes(keys[first:last], low) + first
        above = np.uint64(low)
        begun = first > 0 and keys[first - 1] >> above == keys[first] >> above
        return starts[1:] if begun else starts

    parts = [e for e in itertools.pairwise(edges) if e[0] < e[1]]
    return np.concatenate(
        [np.zeros(0, dtype=np.int64), *counting.map_threads(work, parts, threads)]
    )


def each_share(
    starts: Ints, cells: int, work: Callable[[slice, slice, Ints], Any], threads: int
) -> list[Any]:
    """The work on one share of the classes, and of their cells, a thread."""
    edges = [len(starts) * i // threads for i in range(threads + 1)]
    places = [*(int(starts[e]) for e in edges[:-1]), cells] if len(starts) else [0] * len(edges)
    shares = [
        (slice(edges[i], edges[i + 1]), slice(places[i], places[i + 1]))
        for i in range(threads)
        if edges[i] < edges[i + 1]
    ]
    if not shares:
        shares = [(slice(0, 0), slice(0, 0))]

    def one(share: tuple[slice, slice]) -> Any:
        return work(*share, starts[share[0]] - share[1].start)

    return counting.map_threads(one, shares, threads)


class PackedQuestions(Questions):
    """Questions about a large table of plain columns; the engine answers the others."""

    def __init__(
        self, engine: Adapter, records: int, source: codes.Source, room: int, threads: int
    ) -> None:
        super().__init__(engine, records)
        self._source, self._room, self._threads = source, room, threads
        self._packed: dict[tuple[tuple[str, ...], str | None], PackedCells | None] = {}
        self._tallies: dict[str, dict[str | None, int]] = {}
        self._pace = counting.Pace()

    def progress(self) -> float:
        """Per cent of the running count that is done, or -1."""
        share = self._pace.share
        return share if share >= 0 else super().progress()

    def interrupt(self) -> None:
        """Stop counting; whoever asked gets an error."""
        self._pace.stopped.set()
        super().interrupt()

    @property
    def _whole(self) -> bool:
        """Whether the records are those of the source."""
        return self._input == "input" and self.records == self._source.records and not self.wide

    def _keys_of(self, names: Sequence[str]) -> tuple[list[codes.CodedColumn], Ints, Ints] | None:
        """Columns coded, the different keys, and how many records have each; None if unfit."""
        try:
            coded = codes.columns(self._source, names)
            return coded, *counting.count(
                self._source, coded, self._room, self._threads, self._pace
            )
        except codes.UnfitError:
            return None

    def _cells_packed(self, quasi: tuple[str, ...], secret: str | None) -> PackedCells | None:
        if not self._whole:
            return None
        if (quasi, secret) not in self._packed:
            self._packed[quasi, secret] = self._count(quasi, secret)
        return self._packed[quasi, secret]

    def _count(self, quasi: tuple[str, ...], secret: str | None) -> PackedCells | None:
        if secret in quasi:
            return None
        if secret is None:
            known = (c for (q, s), c in self._packed.items() if q == quasi and s and c)
            if (finer := next(known, None)) is not None:
                return finer.roll_up()
        counted = self._keys_of([*quasi, *([secret] if secret else [])])
        if counted is None:
            return None
        coded, keys, counts = counted
        self._packed.clear()  # one table of cells at a time
        cells = PackedCells(
            keys, counts, coded[: len(quasi)], coded[-1] if secret else None, self._threads
        )
        new = [c for c in cells.quasi if c.name not in self._tallies]
        tallies = counting.map_threads(lambda c: _tally(c, cells), new, self._threads)
        self._tallies |= {c.name: tally for c, tally in zip(new, tallies, strict=True)}
        if cells.secret is not None:
            there = cells.totals > 0
            texts = cells.secret.spell(cells.present[there])
            self._tallies[cells.secret.name] = dict(
                zip(texts, cells.totals[there].tolist(), strict=True)
            )
        return cells

    def cube(self, columns: Sequence[str]) -> Cube:
        """The combinations of some columns' values; the texts stay in this process."""
        columns = tuple(columns)
        cells = self._packed.get((columns[:-1], columns[-1])) if self._whole else None
        counted: tuple[list[codes.CodedColumn], Ints, Ints] | None = None
        if cells is not None and cells.secret is not None:  # counted already
            counted = [*cells.quasi, cells.secret], cells.keys, cells.counts
        elif self._whole:
            counted = self._keys_of(columns)
        if counted is None:
            return super().cube(columns)
        coded, keys, counts = counted
        codes_by_column, texts, shift = [], [], sum(c.bits for c in coded)
        for column in coded:
            shift -= column.bits
            own = kernels.field(keys, shift, column.bits)
            if column.bits <= FEW_BITS:
                there = np.flatnonzero(np.bincount(own, minlength=1 << column.bits))
                place = np.zeros(1 << column.bits, dtype=np.uint32)
                place[there] = np.arange(len(there))
                own = place[own]
            else:
                there, own = np.unique(own, return_inverse=True)
            codes_by_column.append(own)
            texts.append(column.spell(there))
        return Cube.from_cells(columns, codes_by_column, counts, texts)

    # -- answers --------------------------------------------------------------------------------

    def sizes(self, quasi: Sequence[str]) -> Sizes:
        """The histogram of class sizes."""
        quasi = tuple(quasi)
        if quasi not in self._sizes and (cells := self._cells_packed(quasi, None)) is not None:
            self._sizes[quasi] = histogram(cells.sizes)
            self._sizes[quasi].check(self.records)
        return super().sizes(quasi)

    def record_counts(self, quasi: Sequence[str], *, wildcard: bool) -> RecordCounts:
        """Everything about finding a person."""
        quasi = tuple(quasi)
        known = quasi in self._sizes and all(q in self._tallies for q in quasi)
        unfit = not known and self._cells_packed(quasi, None) is None
        if unfit or (wildcard and any(self._tallies[q].get(None) for q in quasi)):
            return super().record_counts(quasi, wildcard=wildcard)
        return RecordCounts(self.records, self.sizes(quasi))

    def tally(self, column: str, quasi: Sequence[str]) -> dict[str | None, int]:
        """How many records have each text; of other or too many values only missing and empty."""
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
        self,
        quasi: Sequence[str],
        secret: str,
        needs: frozenset[str],
        *,
        order: Sequence[str] | None = None,
        hierarchy: Hierarchy | None = None,
        partition: Mapping[str, Sequence[str]] | None = None,
        named: str | None = None,
    ) -> SecretCounts:
        """Everything about one secret that `needs` names."""
        quasi = tuple(quasi)
        rare = any(given is not None for given in (order, hierarchy, partition, named))
        cells = None if rare else self._cells_packed(quasi, secret)
        if cells is None or cells.secret is None:
            return super().secret_counts(
                quasi,
                secret,
                needs,
                order=order,
                hierarchy=hierarchy,
                partition=partition,
                named=named,
            )
        totals = cells.totals
        sizes = histogram(cells.sizes)
        sizes.check(self.records)
        self._sizes.setdefault(quasi, sizes)
        missing = int(totals[0])
        return SecretCounts(
            records=self.records,
            sizes=sizes,
            values=histogram(totals[totals > 0]),
            profiles=self._profiles(cells.counts, cells.starts),
            joint=self._joint(cells, totals) if "joint" in needs else None,
            gaps=self._gaps(cells, totals, sizes) if "gaps" in needs else None,
            missing=missing,
            known_profiles=self._known_profiles(cells)
            if "known" in needs and 0 < missing < self.records
            else None,
            ranked=self._rank_values(cells, totals)
            if "order" in needs and not missing and cells.secret.kind in ("int", "date")
            else None,
        )

    def _profiles(self, counts: Ints, starts: Ints) -> Profiles:
        """Distinct profiles; classes of one value, mostly the bulk, need no comparing."""

        def work(_: slice, part: slice, starts: Ints) -> tuple[Sizes, list[Ints], Ints]:
            single, words, begins = kernels.several(counts[part], starts)
            kernels.downwards(words, begins)
            firsts, times = kernels.distinct(words, begins)
            ends = np.append(begins[1:], len(words))
            return histogram(single), [words[begins[f] : ends[f]] for f in firsts], times

        counted: dict[tuple[int, ...], int] = {}
        for alone, lists, times in each_share(starts, len(counts), work, self._threads):
            for size, n in zip(alone.sizes.tolist(), alone.times.tolist(), strict=True):
                counted[size,] = counted.get((size,), 0) + n
            for words, n in zip(lists, times.tolist(), strict=True):
                profile = tuple(words.tolist())
                counted[profile] = counted.get(profile, 0) + n
        order = sorted(counted)
        return Profiles.from_arrays(
            [np.array(profile) for profile in order], np.array([counted[h] for h in order])
        )

    def _joint(self, cells: PackedCells, totals: Ints) -> JointCounts:
        def work(classes: slice, part: slice, starts: Ints) -> Any:
            return kernels.triples(
                cells.counts[part], cells.values[part], starts, cells.sizes[classes], totals
            )

        rows = np.concatenate(each_share(cells.starts, len(cells.counts), work, self._threads))
        kinds, place = np.unique(rows[:, :3], axis=0, return_inverse=True)
        times = np.zeros(len(kinds), dtype=np.int64)
        np.add.at(times, place.ravel(), rows[:, 3])
        return JointCounts.from_arrays(kinds[:, 0], kinds[:, 1], kinds[:, 2], times)

    def _gaps(self, cells: PackedCells, totals: Ints, sizes: Sizes) -> Gaps:
        quick = np.zeros(min(sizes.most + 1, DENSE_SIZES), dtype=np.int64)
        small = sizes.sizes < len(quick)
        quick[sizes.sizes[small]] = np.flatnonzero(small)

        def work(classes: slice, part: slice, starts: Ints) -> Ints:
            place = np.zeros((2, len(sizes.sizes)), dtype=np.int64)
            place[0] = sizes.sizes
            kernels.gaps(
                cells.counts[part],
                cells.values[part],
                starts,
                cells.sizes[classes],
                totals,
                self.records,
                place,
                quick,
            )
            return np.asarray(place[1])

        largest = np.maximum.reduce(
            each_share(cells.starts, len(cells.counts), work, self._threads)
        )
        return Gaps.from_arrays(sizes.sizes, largest)

    def _known_profiles(self, cells: PackedCells) -> Profiles:
        kept = cells.values != 0
        starts = kernels.classes(cells.keys[kept], cells.low)
        return self._profiles(cells.counts[kept], starts)

    def _rank_values(self, cells: PackedCells, totals: Ints) -> Ranked:
        """Codes of numbers are in their order; a word holds the rank and the count."""
        ranks = np.cumsum(totals > 0) - 1
        words = (ranks[cells.values] << 32) | cells.counts
        firsts, _ = kernels.distinct(words, cells.starts)
        ends = np.append(cells.starts[1:], len(words))
        lists = [words[cells.starts[f] : ends[f]] for f in firsts]
        lists.sort(
            key=lambda words_of_class: (
                (words_of_class >> 32).tolist(),
                (words_of_class & 0xFFFFFFFF).tolist(),
            )
        )
        flat = np.concatenate(lists)
        lengths = np.array([len(words_of_class) for words_of_class in lists])
        starts = np.concatenate(([0], np.cumsum(lengths)[:-1]))
        return Ranked(flat >> 32, flat & 0xFFFFFFFF, starts, totals[totals > 0])


def _tally(column: codes.CodedColumn, cells: PackedCells) -> dict[str | None, int]:
    """How many records have each text of a quasi-identifier; of numbers only those missing."""
    place = (cells.counts, cells.keys, cells.shift(column), column.bits)
    if column.kind != "text" or column.bits > FEW_BITS:
        missing = kernels.total_of(*place, 0)
        empty = kernels.total_of(*place, column.texts[""]) if "" in column.texts else 0
        return {v: n for v, n in ((None, missing), ("", empty)) if n}
    numbers = kernels.totals_within(*place)
    there = np.flatnonzero(numbers)
    return dict(zip(column.spell(there), numbers[there].tolist(), strict=True))


assert WIDE == 2**31  # a count and a rank fit one word
