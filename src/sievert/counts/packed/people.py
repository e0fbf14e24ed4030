"""People with several rows, from packed keys whose lowest field is the person.

Sorted keys are the distinct sightings already. What is not answered here, the engine answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from sievert.arrays import Ints
from sievert.counts.answers import NumberCells, PeopleCounts, Profiles, SecretCounts, Sizes
from sievert.counts.cube import DENSE_SIZES, histogram
from sievert.counts.packed import kernels
from sievert.counts.packed.adapter import PackedCells, PackedQuestions
from sievert.counts.packed.keys import CodedColumn
from sievert.counts.packed.numbers import FEW_BITS, code_field, rank_codes
from sievert.counts.people import PeopleQuestions


class Sightings:
    """Distinct keys whose lowest field is the person, and the people of each run above it."""

    def __init__(self, keys: Ints, counts: Ints, bits: int) -> None:
        self.keys, self.counts, self.bits = keys, counts, bits
        self.bounds = kernels.run_bounds(keys, bits)
        self.people = kernels.count_people(keys, counts, bits, self.bounds)

    @property
    def runs(self) -> Ints:
        """The key of each run, without the person."""
        return self.keys[self.bounds[:-1]] >> np.uint64(self.bits)

    @property
    def records(self) -> Ints:
        """The records of each run."""
        return kernels.sum_runs(self.counts, self.bounds)

    def count(self, sizes: Sizes) -> tuple[PeopleCounts, int]:
        """How many classes people were seen in, and how small these are; runs are classes.

        Beside it the number of records without a person.
        """
        places, people, bits = np.searchsorted(sizes.sizes, self.people), self.keys, self.bits
        if bits > max(FEW_BITS, len(people).bit_length() + 1):  # far more codes than people
            present, ranks = rank_codes(code_field(people, 0, bits), bits)
            people, bits = ranks.astype(np.uint64), len(present).bit_length()
        classes, smallest, unnamed = kernels.people_seen(
            people, self.counts, bits, self.bounds, places, len(sizes.sizes)
        )
        named = classes > 0
        least = np.bincount(smallest[named], minlength=len(sizes.sizes)) + unnamed
        most = max(1, int(classes.max()))
        if most * len(sizes.sizes) <= DENSE_SIZES:
            table = kernels.pair_kinds(
                people, bits, self.bounds, places, classes, most, len(sizes.sizes)
            )
            table[1] += unnamed
            m, place = np.nonzero(table)
            times = table[m, place]
        else:
            person = code_field(people, 0, bits)
            of_class = np.repeat(places, np.diff(self.bounds))[person > 0]
            words, times = np.unique(
                (classes[person[person > 0]] << 32) | of_class, return_counts=True
            )
            some = np.flatnonzero(unnamed)
            words, which = np.unique(np.concatenate([words, (1 << 32) | some]), return_inverse=True)
            times = np.bincount(which, np.concatenate([times, unnamed[some]])).astype(np.int64)
            m, place = words >> 32, words & 0xFFFFFFFF
        present = np.flatnonzero(least)
        alone = int(unnamed.sum())
        number = int(np.count_nonzero(named)) + alone
        smallest_sizes = Sizes.from_arrays(sizes.sizes[present], least[present])
        return PeopleCounts(number, smallest_sizes, m, sizes.sizes[place], times), alone


class PackedPeopleQuestions(PeopleQuestions):
    """Questions about the people of a large table of plain columns."""

    def __init__(self, rows: PackedQuestions, person: str) -> None:
        super().__init__(rows, person)
        self._packed_rows = rows
        self._class_people: dict[tuple[str, ...], tuple[Ints, PeopleCounts] | None] = {}
        self._unnamed: int | None = None
        self._value_people: dict[str, tuple[Ints, Ints]] = {}
        self._last: tuple[Any, PackedCells] | None = None  # the secret counted last, its cells

    def _sighted(self, columns: tuple[str, ...]) -> tuple[list[CodedColumn], Sightings] | None:
        """The sightings of some columns; None where they cannot be packed."""
        if self.person in columns or len(set(columns)) < len(columns):
            return None
        counted = self._packed_rows.count_keys((*columns, self.person))
        if counted is None:
            return None
        coded, keys, counts = counted
        return coded, Sightings(keys, counts, coded[-1].bits)

    def _classes(self, quasi: tuple[str, ...]) -> tuple[Ints, PeopleCounts] | None:
        """The people of each class, and how they were seen."""
        if quasi not in self._class_people:
            sighted = self._sighted(quasi)
            self._class_people[quasi] = None
            if sighted is not None:
                (*coded, _), seen = sighted
                self._packed_rows.note_cells(coded, None, seen.runs, seen.records)
                self._sizes[quasi] = sizes = histogram(seen.people)
                counts, self._unnamed = seen.count(sizes)
                self._class_people[quasi] = seen.people, counts
        return self._class_people[quasi]

    def repeat(self, quasi: Sequence[str]) -> bool:
        """Whether somebody has several rows; it follows from the count by `quasi`, if any."""
        if quasi:
            self._classes(tuple(quasi))
        return super().repeat(quasi)

    @cached_property
    def unnamed(self) -> int:
        """How many rows have no person; each counts as a person of its own."""
        return super().unnamed if self._unnamed is None else self._unnamed

    @cached_property
    def _people(self) -> int:
        counted = next((classes for classes in self._class_people.values() if classes), None)
        return super()._people if counted is None else counted[1].people

    def sizes(self, quasi: Sequence[str]) -> Sizes:
        """The histogram of class sizes, in people."""
        self._classes(tuple(quasi))
        return super().sizes(quasi)

    def _people_counts(self, quasi: tuple[str, ...]) -> PeopleCounts:
        classes = self._classes(quasi)
        return super()._people_counts(quasi) if classes is None else classes[1]

    def number_cells(self, quasi: Sequence[str], secret: str) -> NumberCells:
        """The cells of a secret number, in people; those of one secret are kept."""
        if self._last is not None and self._last[0] == (tuple(quasi), secret):
            return self._last[1].as_numbers()
        sighted = self._sighted((*quasi, secret))
        if sighted is None:
            return super().number_cells(quasi, secret)
        (*coded, own, _), seen = sighted
        return PackedCells(seen.runs, seen.people, coded, own).as_numbers()

    def _holders_of(self, secret: str) -> tuple[Ints, Ints] | None:
        """The codes of a secret that occur, and how many people have each."""
        if secret not in self._value_people and (sighted := self._sighted((secret,))) is not None:
            self._value_people[secret] = sighted[1].runs.astype(np.int64), sighted[1].people
        return self._value_people.get(secret)

    def secret_counts(
        self, quasi: Sequence[str], secret: str, needs: frozenset[str], **rare: Any
    ) -> SecretCounts:
        """Everything about one secret that `needs` names; the engine answers what is rare."""
        quasi, special = tuple(quasi), any(option is not None for option in rare.values())
        classes = None if special else self._classes(quasi)
        holders = None if classes is None else self._holders_of(secret)
        sighted = None if holders is None else self._sighted((*quasi, secret))
        if classes is None or holders is None or sighted is None or holders[0][0] == 0:
            return super().secret_counts(quasi, secret, needs, **rare)  # or with missing values
        (*coded, own, _), seen = sighted
        cells, people = PackedCells(seen.runs, seen.people, coded, own), classes[0]
        self._packed_rows.note_cells(coded, own, seen.runs, seen.records)
        self._last = (quasi, secret), cells
        sizes, total, rows = histogram(cells.sizes), int(cells.totals.sum()), self._packed_rows
        having = np.zeros(len(cells.totals), dtype=np.int64)
        having[np.searchsorted(cells.present, holders[0])] = holders[1]
        every = cells.counts, cells.values, cells.bounds
        return SecretCounts(
            records=total,
            sizes=sizes,
            values=histogram(cells.totals[cells.totals > 0]),
            profiles=_profiles(cells, people),
            joint=rows.joint(*every, cells.sizes, cells.totals) if "joint" in needs else None,
            gaps=rows.gaps(cells, sizes, total) if "gaps" in needs else None,
            ranked=cells.ranked if "order" in needs and own.kind in ("int", "date") else None,
            confidence=rows.joint(*every, people, having) if "joint" in needs else None,
            people=self.people,
        )


def _profiles(cells: PackedCells, people: Ints) -> Profiles:
    """The distinct profiles, each with the people of its classes."""
    counts = cells.counts.astype(np.int64)
    kernels.sort_downwards(counts, cells.bounds)
    # The people of the class stand before the counts of its values.
    bounds = cells.bounds + np.arange(len(cells.bounds))
    words = np.insert(counts, cells.bounds[:-1], people)
    firsts, times = kernels.distinct(words, bounds)
    kinds = sorted(
        ((*words[bounds[f] + 1 : bounds[f + 1]].tolist(),), int(words[bounds[f]]), int(t))
        for f, t in zip(firsts.tolist(), times.tolist(), strict=True)
    )
    lists, members, numbers = zip(*kinds, strict=True)
    return Profiles.from_arrays(lists, numbers, members)
