"""People with several rows, from packed keys whose lowest field is the person.

Sorted keys are the distinct sightings already. What is not answered here, the engine answers.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from sievert.arrays import Ints
from sievert.counts.answers import NumberCells, PeopleCounts, Profiles, SecretCounts, Sizes
from sievert.counts.cube import DENSE_SIZES, histogram
from sievert.counts.packed import kernels, run_kernels
from sievert.counts.packed.adapter import PackedQuestions
from sievert.counts.packed.class_cells import FEW_BITS, PackedCells, code_field, rank_codes
from sievert.counts.packed.keys import KeyCounts, KeyLayout
from sievert.counts.people import PeopleQuestions


class Sightings:
    """Distinct keys whose lowest field is the person, and the people of each run above it."""

    def __init__(self, keys: Ints, counts: Ints, bits: int) -> None:
        self.keys, self.counts, self.bits = keys, counts, bits
        self.bounds = run_kernels.run_bounds(keys, bits)
        self.people = kernels.count_people(keys, counts, bits, self.bounds)

    @property
    def runs(self) -> Ints:
        """The key of each run, without the person."""
        return self.keys[self.bounds[:-1]] >> np.uint64(self.bits)

    @property
    def records(self) -> Ints:
        """The records of each run."""
        return run_kernels.sum_runs(self.counts, self.bounds)

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
            words = np.where(person > 0, classes[person], 1) << 32
            words |= np.repeat(places, np.diff(self.bounds))
            kinds = Sizes.from_arrays(words, np.where(person > 0, 1, self.counts))
            m, place, times = kinds.sizes >> 32, kinds.sizes & 0xFFFFFFFF, kinds.times
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
        self._class_people: dict[tuple[str, ...], tuple[Ints | None, PeopleCounts] | None] = {}
        self._unnamed: int | None = None
        self._value_people: dict[str, tuple[Ints, Ints]] = {}
        self._last: tuple[Any, PackedCells] | None = None  # the secret counted last, its cells

    def _sighted(
        self, columns: tuple[str, ...], *, ranks: bool = False
    ) -> tuple[KeyLayout, Sightings] | None:
        """The sightings of some columns, and their layout; None where they cannot be packed.

        With `ranks` also where runs are numbered as they come, whatever the codes of the columns.
        """
        if self.person in columns or len(set(columns)) < len(columns):
            return None
        counted = self._packed_rows.count_keys((*columns, self.person))
        if counted is None or (counted.layout.ranked and not ranks):
            return None
        return counted.layout.without_secret(), Sightings(
            counted.keys, counted.counts, counted.layout.low
        )

    def _classes(self, quasi: tuple[str, ...]) -> tuple[Ints | None, PeopleCounts] | None:
        """The people of each class, if these are in the order of codes, and how they were seen."""
        if quasi not in self._class_people:
            sighted = self._sighted(quasi, ranks=True)
            self._class_people[quasi] = None
            if sighted is not None:
                layout, seen = sighted
                self._packed_rows.note_cells(KeyCounts(seen.runs, seen.records, layout))
                self._sizes[quasi] = sizes = histogram(seen.people)
                counts, self._unnamed = seen.count(sizes)
                self._class_people[quasi] = None if layout.ranked else seen.people, counts
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
            return self._last[1].as_numbers(self._packed_rows.spell)
        sighted = self._sighted((*quasi, secret))
        if sighted is None:
            return super().number_cells(quasi, secret)
        return self._cells_of(*sighted).as_numbers(self._packed_rows.spell)

    def _cells_of(self, layout: KeyLayout, seen: Sightings) -> PackedCells:
        """The cells of the lowest column but the person, a secret, in people."""
        keys = KeyCounts(seen.runs, seen.people, layout.with_secret())
        return PackedCells(keys, self._packed_rows.threads)

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
        people = None if classes is None else classes[0]
        holders = None if people is None else self._holders_of(secret)
        sighted = None if holders is None else self._sighted((*quasi, secret))
        if people is None or holders is None or sighted is None or holders[0][0] == 0:
            return super().secret_counts(quasi, secret, needs, **rare)  # or with missing values
        layout, seen = sighted
        cells = self._cells_of(layout, seen)
        self._packed_rows.note_cells(KeyCounts(seen.runs, seen.records, cells.layout))
        self._last = (quasi, secret), cells
        sizes, total = histogram(cells.sizes), int(cells.totals.sum())
        having = np.zeros(len(cells.totals), dtype=np.int64)
        having[np.searchsorted(cells.present, holders[0])] = holders[1]
        return SecretCounts(
            records=total,
            sizes=sizes,
            values=histogram(cells.totals[cells.totals > 0]),
            profiles=_profiles(cells, people),
            joint=cells.joint() if "joint" in needs else None,
            gaps=cells.gaps(sizes, total) if "gaps" in needs else None,
            ranked=cells.ranked()
            if "order" in needs and cells.secret and cells.secret.kind in ("int", "date", "float")
            else None,
            confidence=cells.joint(people, having) if "joint" in needs else None,
            people=self.people,
        )


def _profiles(cells: PackedCells, people: Ints) -> Profiles:
    """The distinct profiles, each with the people of its classes."""
    counts = cells.counts.astype(np.int64)
    run_kernels.sort_downwards(counts, cells.bounds)
    # The people of the class stand before the counts of its values.
    bounds = cells.bounds + np.arange(len(cells.bounds))
    words = np.insert(counts, cells.bounds[:-1], people)
    firsts, times = run_kernels.distinct(words, bounds)
    kinds = sorted(
        ((*words[bounds[f] + 1 : bounds[f + 1]].tolist(),), int(words[bounds[f]]), int(t))
        for f, t in zip(firsts.tolist(), times.tolist(), strict=True)
    )
    lists, members, numbers = zip(*kinds, strict=True)
    return Profiles.from_arrays(lists, numbers, members)
