"""People with several rows, from packed keys whose lowest field is the person.

Sorted keys are the distinct sightings already. The engine answers what this module does not.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from sievert.arrays import Ints
from sievert.counts.answers import NumberCells, PeopleCounts, Profiles, SecretCounts, Sizes
from sievert.counts.cube import DENSE_SIZES, histogram
from sievert.counts.memory_cells import PeopleCounter
from sievert.counts.packed import kernels, run_kernels
from sievert.counts.packed.class_cells import FEW_BITS, PackedCells, code_field, rank_codes
from sievert.counts.packed.coding import CodedColumn
from sievert.counts.packed.keys import KeyCounts, KeyLayout


class Sightings:
    """Distinct keys whose lowest field is the person, and the people of each run above it."""

    def __init__(self, keys: Ints, counts: Ints, bits: int) -> None:
        self.keys = keys
        self.counts = counts
        self.bits = bits
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
        """Count the classes in which people were seen, and their people; runs are classes.

        The second result is the number of records without a person.
        """
        places = np.searchsorted(sizes.sizes, self.people)
        people = self.keys
        bits = self.bits
        if bits > max(FEW_BITS, len(people).bit_length() + 1):  # far more codes than people
            present, ranks = rank_codes(code_field(people, 0, bits), bits)
            people = ranks.astype(np.uint64)
            bits = len(present).bit_length()
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
            m = kinds.sizes >> 32
            place = kinds.sizes & 0xFFFFFFFF
            times = kinds.times
        present = np.flatnonzero(least)
        alone = int(unnamed.sum())
        number = int(np.count_nonzero(named)) + alone
        smallest_sizes = Sizes.from_arrays(sizes.sizes[present], least[present])
        return PeopleCounts(
            people=number, smallest=smallest_sizes, classes=m, sizes=sizes.sizes[place], times=times
        ), alone


@dataclass(frozen=True)
class ClassPeople:
    """The classes of some columns in people.

    `people` has the people of each class in the order of codes; None if classes have another order.
    """

    sizes: Sizes
    seen: PeopleCounts
    people: Ints | None


class KeyedRecords(Protocol):
    """Records that are counted by packed keys."""

    threads: int

    def count_keys(self, names: Sequence[str]) -> KeyCounts | None:
        """The different keys of some columns, the last one lowest; None if they are unfit."""

    def note_cells(self, counted: KeyCounts) -> object:
        """Note the number of records with each value of the columns of counted cells."""

    def spell(self, column: CodedColumn, codes: Ints) -> list[str | None]:
        """The texts of codes."""


class PackedPeople(PeopleCounter):
    """The people of a large table of plain columns."""

    def __init__(self, records: KeyedRecords, person: str) -> None:
        self._records = records
        self._person = person
        self._counted: dict[tuple[str, ...], ClassPeople | None] = {}
        self._unnamed: int | None = None
        self._value_people: dict[str, tuple[Ints, Ints]] = {}
        self._last: tuple[Any, PackedCells] | None = None  # the secret counted last, its cells

    def _find_sightings(
        self, columns: tuple[str, ...], *, ranks: bool = False
    ) -> tuple[KeyLayout, Sightings] | None:
        """The sightings of some columns, and their layout; None if they cannot be packed.

        With `ranks`, runs may also have numbers that do not follow the codes of the columns.
        """
        if self._person in columns or len(set(columns)) < len(columns):
            return None
        counted = self._records.count_keys((*columns, self._person))
        if counted is None or (counted.layout.ranked and not ranks):
            return None
        return counted.layout.without_secret(), Sightings(
            counted.keys, counted.counts, counted.layout.low
        )

    def _classes(self, quasi: tuple[str, ...]) -> ClassPeople | None:
        """The people of the classes; None where these cannot be packed."""
        if quasi not in self._counted:
            packed = self._find_sightings(quasi, ranks=True)
            self._counted[quasi] = None
            if packed is not None:
                layout, sightings = packed
                keys = KeyCounts(sightings.runs, sightings.records, layout)
                self._records.note_cells(keys)
                sizes = histogram(sightings.people)
                seen, self._unnamed = sightings.count(sizes)
                people = None if layout.ranked else sightings.people
                self._counted[quasi] = ClassPeople(sizes=sizes, seen=seen, people=people)
        return self._counted[quasi]

    def plan(self, quasi: Sequence[str]) -> None:
        """Count people by these columns, which also shows whether anybody has several rows."""
        self._classes(tuple(quasi))

    @property
    def unnamed(self) -> int | None:
        """The number of rows without a person; each counts as a person of its own."""
        return self._unnamed

    @property
    def people(self) -> int | None:
        """The number of people."""
        counted = next((classes for classes in self._counted.values() if classes), None)
        return None if counted is None else counted.seen.people

    def sizes(self, quasi: tuple[str, ...]) -> Sizes | None:
        """The histogram of class sizes, in people."""
        classes = self._classes(quasi)
        return None if classes is None else classes.sizes

    def count_sightings(self, quasi: tuple[str, ...]) -> PeopleCounts | None:
        """Count the classes in which people were seen, and the people of these classes."""
        classes = self._classes(quasi)
        return None if classes is None else classes.seen

    def number_cells(self, quasi: Sequence[str], secret: str) -> NumberCells | None:
        """The cells of a numeric secret, in people; the cells of the last secret are kept."""
        if self._last is not None and self._last[0] == (tuple(quasi), secret):
            return self._last[1].as_numbers(self._records.spell)
        packed = self._find_sightings((*quasi, secret))
        return None if packed is None else self._cells_of(*packed).as_numbers(self._records.spell)

    def _cells_of(self, layout: KeyLayout, seen: Sightings) -> PackedCells:
        """The cells of the lowest column but the person, a secret, in people."""
        keys = KeyCounts(seen.runs, seen.people, layout.with_secret())
        return PackedCells(keys, self._records.threads)

    def _holders_of(self, secret: str) -> tuple[Ints, Ints] | None:
        """The codes of a secret that occur, and the number of people with each."""
        if secret not in self._value_people:
            packed = self._find_sightings((secret,))
            if packed is None:
                return None
            _, sightings = packed
            self._value_people[secret] = (sightings.runs.astype(np.int64), sightings.people)
        return self._value_people[secret]

    def secret_counts(
        self, quasi: tuple[str, ...], secret: str, needs: frozenset[str], **rare: Any
    ) -> SecretCounts | None:
        """Count what `needs` names about one secret; None for rare needs, left to the engine."""
        if any(option is not None for option in rare.values()):
            return None
        classes = self._classes(quasi)
        if classes is None or classes.people is None:
            return None
        holders = self._holders_of(secret)
        packed = None if holders is None else self._find_sightings((*quasi, secret))
        if holders is None or packed is None or holders[0][0] == 0:  # or with missing values
            return None
        layout, seen = packed
        cells = self._cells_of(layout, seen)
        self._records.note_cells(KeyCounts(seen.runs, seen.records, cells.layout))
        self._last = ((quasi, secret), cells)
        sizes = histogram(cells.sizes)
        total = int(cells.totals.sum())
        having = np.zeros(len(cells.totals), dtype=np.int64)
        having[np.searchsorted(cells.present, holders[0])] = holders[1]
        return SecretCounts(
            records=total,
            sizes=sizes,
            values=histogram(cells.totals[cells.totals > 0]),
            profiles=_profiles(cells, classes.people),
            joint=cells.joint() if "joint" in needs else None,
            gaps=cells.gaps(sizes, total) if "gaps" in needs else None,
            ranked=cells.rank()
            if "order" in needs and cells.secret and cells.secret.kind in ("int", "date", "float")
            else None,
            confidence=cells.joint(classes.people, having) if "joint" in needs else None,
            people=classes.seen.people,
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
