"""People counted from their sightings: the combinations of some columns and the person.

The last column of sightings is the person; 0 is none, and such a row is a person of its own. Every
answer has the integers that the engine's SQL would give for the same table.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sievert.arrays import Ints
from sievert.counts.answers import Named, PeopleCounts, SecretCounts, Sizes
from sievert.counts.coded_cells import ClassCells
from sievert.counts.cube import Cube, histogram, merge_cells, run_starts
from sievert.counts.secret_counts import level_labels, part_labels

Rank = Callable[[str, Sequence[str] | None], Ints]  # the rank of each code of a secret


def once_each(cube: Cube) -> Cube:
    """Count each person once with every combination; rows without a person count as often."""
    return replace(cube, counts=np.where(cube.codes[-1] == 0, cube.counts, 1))


def distinct_sightings(cube: Cube, columns: Sequence[str]) -> Cube:
    """Each person once with every combination of some columns; rows without one are counted."""
    return once_each(cube.roll_up((*columns, cube.columns[-1])))


def class_numbers(columns: Sequence[Ints], cells: int) -> Ints:
    """The class of each of some sorted cells: cells of a class agree in `columns`."""
    starts = run_starts(np.zeros(cells), *columns)
    return np.repeat(np.arange(len(starts)), np.diff(np.append(starts, cells)))


def count_seen(sightings: Cube) -> tuple[Sizes, PeopleCounts]:
    """The sizes of classes in people, and the number and sizes of each person's classes."""
    owner = class_numbers(sightings.codes[:-1], len(sightings.counts))
    times = sightings.counts
    sizes = np.bincount(owner, times).astype(np.int64)
    person = sightings.codes[-1].astype(np.int64)
    of_class = sizes[owner]
    named = person > 0
    seen = np.bincount(person[named], minlength=len(sightings.values[-1]))
    smallest = np.full(len(seen), np.iinfo(np.int64).max)
    np.minimum.at(smallest, person[named], of_class[named])
    alone = np.repeat(of_class[~named], times[~named])
    least = histogram(np.concatenate([smallest[seen > 0], alone]))
    classes = np.where(named, seen[person], 1)
    widths = [int(classes.max()).bit_length(), int(of_class.max()).bit_length()]
    kinds = [classes.astype(np.uint64), of_class.astype(np.uint64)]
    places, sums = merge_cells(kinds, widths, times)
    people = PeopleCounts(
        people=least.things,
        smallest=least,
        classes=classes[places],
        sizes=of_class[places],
        times=sums,
    )
    people.check(int(times.sum()))
    return histogram(sizes), people


class SecretSightings:
    """The people who were seen with each value of a secret in each class."""

    def __init__(self, sightings: Cube) -> None:
        *keys, values, person = sightings.codes
        self.owner = class_numbers(keys, len(sightings.counts))
        self.values = values.astype(np.int64)
        self.person = person.astype(np.int64)
        self.counts = sightings.counts
        self.classes = int(self.owner[-1]) + 1
        self.texts = sightings.values[-2]
        self._everybody = len(sightings.values[-1])
        self.people = self.count(self.owner, self.classes)
        self.holders = self.count(self.values, len(self.texts))
        self.known = self.values > 0

    def count(self, groups: Ints, number: int, where: Any = True) -> Ints:
        """Count the people of each group, among the cells `where`."""
        named = (self.person > 0) & where
        unnamed = (self.person == 0) & where
        pairs = np.sort(groups[named] * self._everybody + self.person[named])
        rows = np.bincount(groups[unnamed], self.counts[unnamed], number)
        distinct = np.bincount(pairs[run_starts(pairs)] // self._everybody, minlength=number)
        return distinct + rows.astype(np.int64)

    def certain(self) -> tuple[int, int]:
        """Count the people in classes where all have one value, and all people."""
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
        counts = self.count(place, len(keys))
        owner = keys // size
        own = keys % size
        sizes = np.bincount(owner, counts, self.classes).astype(np.int64)
        totals = np.bincount(own, counts, size).astype(np.int64)
        return ClassCells(owner=owner, values=own, counts=counts, sizes=sizes, totals=totals)


def count_secret(
    seen: SecretSightings,
    secret: str,
    needs: frozenset[str],
    people: int,
    rank: Rank,
    **rare: Any,
) -> SecretCounts:
    """Count what `needs` names about one secret, in people."""
    cells = seen.cells(np.arange(len(seen.texts)))
    missing = int(cells.totals[0])
    records = int(cells.counts.sum())
    counts: dict[str, Any] = {"missing": missing}
    texts = seen.texts
    present = [text for text in seen.texts if text is not None]
    hierarchy = rare.get("hierarchy")
    partition = rare.get("partition")
    named = rare.get("named")
    if "joint" in needs:
        counts["confidence"] = replace(cells, sizes=seen.people, totals=seen.holders).joint
    if 0 < missing < records:
        counts |= _count_known(seen, cells.known(), needs)
    if "order" in needs and not missing:
        counts["ranked"] = cells.rank(rank(secret, rare.get("order")))
    if "hierarchy" in needs and hierarchy is not None:
        levels, number = level_labels(secret, hierarchy, present)
        counts["hierarchy_gaps"] = cells.merge([levels[text] for text in texts]).gaps(number)
    if "parts" in needs and partition is not None:
        parts = part_labels(secret, partition, present)
        merged = seen.cells(np.array([parts[text][0] for text in texts]))
        counts["parts"] = _in_people(seen, merged, frozenset({"joint"}), people)
    if "named" in needs and named is not None:
        of_value = cells.values == (texts.index(named) if named in texts else -1)
        count = np.bincount(cells.owner, cells.counts * of_value, seen.classes).astype(int)
        known = np.maximum(1, seen.count(seen.owner, seen.classes, seen.known))
        rows = zip(seen.people.tolist(), known.tolist(), count.tolist(), strict=True)
        distinct = sorted(set(rows))
        counts["named"] = Named(
            class_size=tuple(size for size, _, _ in distinct),
            known_size=tuple(number for _, number, _ in distinct),
            count=tuple(times for _, _, times in distinct),
        )
    return _in_people(seen, cells, needs, people, **counts)


def _in_people(
    seen: SecretSightings,
    cells: ClassCells,
    needs: frozenset[str],
    people: int,
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
    """The counts without the people whose value is missing."""
    people = seen.count(seen.owner, seen.classes, seen.known)
    counts = dict[str, Any]()
    if "known" in needs:
        counts["known_profiles"] = known.profiles(people)
    if "known_joint" in needs:
        everybody = seen.count(np.zeros(len(seen.owner), dtype=np.int64), 1, seen.known)
        counts["known_joint"] = replace(known, sizes=people, totals=seen.holders).joint
        counts["known_people"] = int(everybody[0])
    return counts
