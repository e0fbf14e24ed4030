"""People counted from their sightings: of a small table, and of one that is recoded.

The last column of sightings is the person; 0 is none, and such a row is a person of its own. Every
answer has the integers that the engine's SQL would give for the table, or for the recoded one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sievert.arrays import Bools, Ints
from sievert.counts.answers import Named, PeopleCounts, RecordCounts, SecretCounts, Sizes
from sievert.counts.coded import ClassCells, CodedQuestions, check_unicode
from sievert.counts.cube import Cube, histogram, merge_cells, run_starts
from sievert.counts.people import PeopleQuestions
from sievert.counts.questions import Questions
from sievert.counts.recoded import RecodedQuestions, type_order
from sievert.counts.secret_counts import level_labels, part_labels
from sievert.counts.suppressed_class import ClassSize, SuppressedValues


def distinct_sightings(cube: Cube, columns: Sequence[str]) -> Cube:
    """Each person once with every combination of some columns; rows without one are counted."""
    rolled = cube.roll_up((*columns, cube.columns[-1]))
    return replace(rolled, counts=np.where(rolled.codes[-1] == 0, rolled.counts, 1))


def class_numbers(columns: Sequence[Ints], cells: int) -> Ints:
    """Of sorted cells the class of each: its place among those that differ in some columns."""
    starts = run_starts(np.zeros(cells), *columns)
    return np.repeat(np.arange(len(starts)), np.diff(np.append(starts, cells)))


def count_seen(sightings: Cube) -> tuple[Sizes, PeopleCounts]:
    """The sizes of classes in people, and in how many and how small ones people were seen."""
    owner, times = class_numbers(sightings.codes[:-1], len(sightings.counts)), sightings.counts
    sizes = np.bincount(owner, times).astype(np.int64)
    person, of_class = sightings.codes[-1].astype(np.int64), sizes[owner]
    named = person > 0
    seen = np.bincount(person[named], minlength=len(sightings.values[-1]))
    smallest = np.full(len(seen), np.iinfo(np.int64).max)
    np.minimum.at(smallest, person[named], of_class[named])
    alone = np.repeat(of_class[~named], times[~named])
    least = histogram(np.concatenate([smallest[seen > 0], alone]))
    classes = np.where(named, seen[person], 1)
    widths = [int(each.max()).bit_length() for each in (classes, of_class)]
    kinds = [classes.astype(np.uint64), of_class.astype(np.uint64)]
    places, sums = merge_cells(kinds, widths, times)
    people = PeopleCounts(least.things, least, classes[places], of_class[places], sums)
    people.check(int(times.sum()))
    return histogram(sizes), people


class SecretSightings:
    """Who was seen with which value of a secret in which class."""

    def __init__(self, sightings: Cube) -> None:
        *keys, values, person = sightings.codes
        self.owner = class_numbers(keys, len(sightings.counts))
        self.values, self.person = values.astype(np.int64), person.astype(np.int64)
        self.counts, self.classes = sightings.counts, int(self.owner[-1]) + 1
        self.texts, self._everybody = sightings.values[-2], len(sightings.values[-1])
        self.people = self.count(self.owner, self.classes)
        self.holders = self.count(self.values, len(self.texts))
        self.known = self.values > 0

    def count(self, groups: Ints, number: int, where: Any = True) -> Ints:
        """How many people each of some groups has."""
        named, unnamed = (self.person > 0) & where, (self.person == 0) & where
        pairs = np.sort(groups[named] * self._everybody + self.person[named])
        rows = np.bincount(groups[unnamed], self.counts[unnamed], number)
        distinct = np.bincount(pairs[run_starts(pairs)] // self._everybody, minlength=number)
        return distinct + rows.astype(np.int64)

    def certain(self) -> tuple[int, int]:
        """How many people are in classes where all have one value, and how many there are."""
        cells = self.cells(np.arange(len(self.texts)))
        classes = np.zeros(self.classes, dtype=bool)
        classes[cells.owner[cells.counts == self.people[cells.owner]]] = True
        everybody = np.zeros(len(self.owner), dtype=np.int64)
        people = self.count(everybody, 1, classes[self.owner])
        return int(people[0]), int(self.count(everybody, 1)[0])

    def cells(self, labels: Ints) -> ClassCells:
        """The people of every class that have each label of their values."""
        size = int(labels.max()) + 1
        keys, place = np.unique(self.owner * size + labels[self.values], return_inverse=True)
        counts, owner, own = self.count(place, len(keys)), keys // size, keys % size
        sizes = np.bincount(owner, counts, self.classes).astype(np.int64)
        totals = np.bincount(own, counts, size).astype(np.int64)
        return ClassCells(owner, own, counts, sizes, totals)


class RecodedPeopleQuestions(RecodedQuestions):
    """The same questions, answered in people."""

    def __init__(self, table: Questions, sightings: Cube, secrets: Mapping[str, Cube]) -> None:
        super().__init__(table, sightings, {})
        self._secrets = secrets
        self._coded = {s: (c.codes[-2], c.values[-2]) for s, c in secrets.items()}
        self._seen = count_seen(distinct_sightings(sightings, sightings.columns[:-1]))

    @property
    def people(self) -> int | None:
        """How many people there are."""
        return self._seen[1].people

    def sizes(self, quasi: Sequence[str]) -> Sizes:
        """The histogram of class sizes, in people."""
        return self._seen[0]

    def record_counts(self, quasi: Sequence[str], *, wildcard: bool) -> RecordCounts:
        """The counts behind every measure of re-identification; no reading of missing keys."""
        sizes, people = self._seen
        several = None if sizes.records == people.people else people
        return RecordCounts(sizes.records, sizes, people=several)

    def certain_people(self, quasi: Sequence[str], secret: str) -> tuple[int, int]:
        """How many people are in classes where all have one value, and how many there are."""
        cube = self._secrets[secret]
        return SecretSightings(distinct_sightings(cube, cube.columns[:-1])).certain()

    def secret_counts(
        self, quasi: Sequence[str], secret: str, needs: frozenset[str], **rare: Any
    ) -> SecretCounts:
        """Everything about one secret that `needs` names."""
        cube = self._secrets[secret]
        seen = SecretSightings(distinct_sightings(cube, cube.columns[:-1]))
        return count_secret(seen, secret, needs, self, **rare)


class CodedPeopleQuestions(PeopleQuestions):
    """Questions about the people of a small table; the engine answers what cannot be coded."""

    def __init__(self, rows: CodedQuestions, person: str) -> None:
        super().__init__(rows, person)
        self._coded_rows = rows
        self._seen: dict[tuple[str, ...], PeopleCounts] = {}

    def rank(self, secret: str, order: Sequence[str] | None) -> Ints:
        """The rank of each code of a secret, in the order given or that of its type."""
        return self._coded_rows.rank(secret, order)

    def sizes(self, quasi: Sequence[str]) -> Sizes:
        """The histogram of class sizes, in people."""
        quasi = tuple(quasi)
        if quasi not in self._sizes and self._coded_rows.code((*quasi, self.person)):
            self._sizes[quasi], self._seen[quasi] = count_seen(self.sighting_cube(quasi))
        return super().sizes(quasi)

    def _people_counts(self, quasi: tuple[str, ...]) -> PeopleCounts:
        self.sizes(quasi)
        return self._seen[quasi] if quasi in self._seen else super()._people_counts(quasi)

    def _lacking(self, quasi: tuple[str, ...]) -> int:
        if not self._coded_rows.code(quasi):
            return super()._lacking(quasi)
        classes = self._coded_rows.cube(quasi)
        return int(classes.counts[classes.lacking].sum())

    def certain_people(self, quasi: Sequence[str], secret: str) -> tuple[int, int]:
        """How many people are in classes where all have one value, and how many there are."""
        columns = (*quasi, secret)
        if not self._coded_rows.code((*columns, self.person)):
            return super().certain_people(quasi, secret)
        return SecretSightings(self.sighting_cube(columns)).certain()

    def secret_counts(
        self, quasi: Sequence[str], secret: str, needs: frozenset[str], **rare: Any
    ) -> SecretCounts:
        """Everything about one secret that `needs` names."""
        columns = (*quasi, secret)
        if not self._coded_rows.code((*columns, self.person)):
            return super().secret_counts(quasi, secret, needs, **rare)
        if rare.get("named") is not None and "named" in needs:
            check_unicode(rare["named"])
        return count_secret(
            SecretSightings(self.sighting_cube(columns)), secret, needs, self, **rare
        )


def count_secret(
    seen: SecretSightings,
    secret: str,
    needs: frozenset[str],
    table: RecodedPeopleQuestions | CodedPeopleQuestions,
    **rare: Any,
) -> SecretCounts:
    """Everything about one secret that `needs` names, in people."""
    cells = seen.cells(np.arange(len(seen.texts)))
    missing, records = int(cells.totals[0]), int(cells.counts.sum())
    counts: dict[str, Any] = {"missing": missing}
    texts, present = seen.texts, [text for text in seen.texts if text is not None]
    if "joint" in needs:
        counts["confidence"] = replace(cells, sizes=seen.people, totals=seen.holders).joint
    if 0 < missing < records:
        counts |= _count_known(seen, cells.known(), needs)
    if "order" in needs and not missing:
        counts["ranked"] = cells.rank(table.rank(secret, rare.get("order")))
    if "hierarchy" in needs and (hierarchy := rare.get("hierarchy")) is not None:
        levels, number = level_labels(secret, hierarchy, present)
        counts["hierarchy_gaps"] = cells.merge([levels[text] for text in texts]).gaps(number)
    if "parts" in needs and (partition := rare.get("partition")) is not None:
        parts = part_labels(secret, partition, present)
        merged = seen.cells(np.array([parts[text][0] for text in texts]))
        counts["parts"] = _in_people(seen, merged, frozenset({"joint"}), table.people)
    if "named" in needs and (named := rare.get("named")) is not None:
        of_value = cells.values == (texts.index(named) if named in texts else -1)
        count = np.bincount(cells.owner, cells.counts * of_value, seen.classes).astype(int)
        known = np.maximum(1, seen.count(seen.owner, seen.classes, seen.known))
        rows = (each.tolist() for each in (seen.people, known, count))
        counts["named"] = Named(*zip(*sorted(set(zip(*rows, strict=True))), strict=True))
    return _in_people(seen, cells, needs, table.people, **counts)


def _in_people(
    seen: SecretSightings,
    cells: ClassCells,
    needs: frozenset[str],
    people: int | None,
    **counts: Any,
) -> SecretCounts:
    return SecretCounts(
        records=int(cells.counts.sum()),
        sizes=histogram(cells.sizes),
        values=histogram(cells.totals[cells.totals > 0]),
        profiles=cells.profiles(seen.people),
        joint=cells.joint if "joint" in needs else None,
        gaps=cells.gaps() if "gaps" in needs else None,
        people=people,
        **counts,
    )


def _count_known(seen: SecretSightings, known: ClassCells, needs: frozenset[str]) -> dict[str, Any]:
    """The same without the people whose value is missing."""
    people, counts = seen.count(seen.owner, seen.classes, seen.known), dict[str, Any]()
    if "known" in needs:
        counts["known_profiles"] = known.profiles(people)
    if "known_joint" in needs:
        everybody = seen.count(np.zeros(len(seen.owner), dtype=np.int64), 1, seen.known)
        counts["known_joint"] = replace(known, sizes=people, totals=seen.holders).joint
        counts["known_people"] = int(everybody[0])
    return counts


# -- records that a recoding suppresses ------------------------------------------------------------


@dataclass(frozen=True)
class CellsBeside:
    """The cells of the suppressed records, and those of all records."""

    own: Cube
    whole: Cube

    @classmethod
    def split(cls, whole: Cube, gone: Bools) -> "CellsBeside":
        """Tell apart the cells that are `gone`."""
        return cls(whole.select_cells(np.flatnonzero(gone)), whole)

    def only(self, place: int) -> "CellsBeside":
        """Only the cells with a value in the column at a place."""
        own, whole = (c.select_cells(np.flatnonzero(c.codes[place])) for c in self._both)
        return CellsBeside(own, whole)

    def once_each(self, columns: Sequence[str]) -> "CellsBeside":
        """Each person once with every combination of some columns."""
        return CellsBeside(*(distinct_sightings(cube, columns) for cube in self._both))

    @property
    def size(self) -> ClassSize:
        """The records of the cells."""
        return ClassSize(self.own.records, self.whole.records)

    @property
    def _both(self) -> tuple[Cube, Cube]:
        return self.own, self.whole


@dataclass(frozen=True)
class SuppressedCells:
    """The records that a recoding suppresses, from cells: those of each secret, under its name.

    The last column of the cells of a secret is the secret. The last column of `sightings` is the
    person, and the secret stands before it.
    """

    classes: CellsBeside
    secrets: Mapping[str, CellsBeside]
    sightings: bool = False

    def size(self) -> ClassSize:
        """Count the members of the class, and everybody."""
        return (self.classes.once_each(()) if self.sightings else self.classes).size

    def values(self, secret: str) -> SuppressedValues:
        """Count the suppressed records with each value of a secret, and all records with it."""
        cells, place = self.secrets[secret], -1
        people, known_people = None, None
        if self.sightings:
            people, known_people = cells.once_each(()).size, cells.only(-2).once_each(()).size
            cells, place = cells.once_each((cells.whole.columns[-2],)), 0
        texts, totals = cells.whole.values[place], cells.whole.totals(place)
        there = np.flatnonzero(totals)
        present = [texts[code] for code in there]
        ordered = type_order([text for text in present if text is not None])
        if ordered is not None:
            rank_of = {text: rank for rank, text in enumerate(ordered)}
            ranks = [-1 if text is None else rank_of[text] for text in present]
            there = there[np.argsort(np.array(ranks, dtype=np.int64))]
        return SuppressedValues(
            tuple(texts[code] for code in there),
            cells.own.totals(place)[there],
            totals[there],
            people=people,
            known_people=known_people,
        )
