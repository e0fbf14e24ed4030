"""Releases of the same people by brute force: one person at a time, and all worlds of small ones.

Nothing here is shared with the package: tables are dicts of lists, classes are tuples of texts.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from math import log2
from random import Random

Release = Mapping[str, Sequence[str | None]]
Row = tuple[tuple[str | None, ...], str | None]  # the class, the value of the secret
Pattern = frozenset[tuple[tuple[str | None, ...], int]]  # classes, and rows in each
QUASI, SECRET, PERSON = ("age", "town"), "ill", "id"


def rows_of(release: Release) -> dict[str, list[Row]]:
    """The rows of every person."""
    people: dict[str, list[Row]] = {}
    columns = [release[q] for q in QUASI if q in release]
    secret = release.get(SECRET) or [None] * len(release[PERSON])
    for person, value, *labels in zip(release[PERSON], secret, *columns, strict=True):
        assert person is not None
        people.setdefault(person, []).append((tuple(labels), value))
    return people


class Oracle:
    """What somebody learns who knows everybody's rows in all releases, without secrets."""

    def __init__(self, releases: Sequence[Release]) -> None:
        self.releases = [rows_of(release) for release in releases]
        self.has_secret = [SECRET in release for release in releases]
        self.everybody = sorted({person for rows in self.releases for person in rows})

    def pattern(self, person: str, place: int) -> Pattern | None:
        """How many rows a person has in which classes; None is to be absent."""
        rows = self.releases[place].get(person)
        return None if rows is None else frozenset(Counter(labels for labels, _ in rows).items())

    def patterns(self, person: str) -> tuple[Pattern | None, ...]:
        return tuple(self.pattern(person, i) for i in range(len(self.releases)))

    def alike(self, person: str, *, known_absent: bool = True) -> list[str]:
        """Who has the same rows everywhere; without `known_absent`, absence tells nothing."""
        own = self.patterns(person)
        return [
            other
            for other in self.everybody
            if all(
                mine == theirs or (mine is None and not known_absent)
                for mine, theirs in zip(own, self.patterns(other), strict=True)
            )
        ]

    def smallest(self, *, known_absent: bool = True) -> int:
        return min(len(self.alike(p, known_absent=known_absent)) for p in self.everybody)

    def unique(self) -> set[str]:
        return {p for p in self.everybody if len(self.alike(p)) == 1}

    def unique_alone(self) -> set[str]:
        return {
            person
            for i, rows in enumerate(self.releases)
            for person in rows
            if sum(self.pattern(person, i) == self.pattern(other, i) for other in rows) == 1
        }

    def values(self, place: int, labels: object) -> set[str | None]:
        """The values of the secret in a class."""
        rows = self.releases[place].values()
        return {value for own in rows for at, value in own if at == labels}

    def fewest_joint_values(self) -> int:
        """The fewest known values of a joint class in any release: l by the riskier reading."""
        fewest = []
        for person in self.everybody:
            alike = self.alike(person)
            for place, rows in enumerate(self.releases):
                if not self.has_secret[place] or person not in rows:
                    continue
                for labels in {at for at, _ in rows[person]}:
                    sets = [{v for at, v in rows[p] if at == labels} - {None} for p in alike]
                    known = set.union(*sets)
                    certain = not known or set.intersection(*sets)
                    fewest.append(1 if certain else min(len(known), len(alike)))
        return min(fewest)

    def values_left(self, person: str) -> int | None:
        """The values left for a person whose secret stays the same; None without any."""
        sets = [
            self.values_of_person(person, i)
            for i, (rows, has) in enumerate(zip(self.releases, self.has_secret, strict=True))
            if has
            if person in rows
        ]
        best: list[int] = []
        if not sets:
            return None
        if every := set.intersection(*sets) - {None}:
            return len(every)
        for first in range(len(sets)):
            for last in range(first + 1, len(sets) + 1):
                run = sets[first:last]
                literal = set.intersection(*run) - {None}
                certain = [s for s in run if None not in s]
                wild = set.intersection(*certain) if certain else set()
                best += [len(common) for common in (literal, wild) if common]
        return min(best, default=1)

    def values_of_person(self, person: str, place: int) -> set[str | None]:
        """The values that all classes of a person have; of the smallest if there are none."""
        labels = sorted({at for at, _ in self.releases[place][person]}, key=repr)
        sets = [self.values(place, at) for at in labels]
        missing: set[str | None] = {None} if any(None in s for s in sets) else set()
        known = [s - {None} for s in sets]
        common = set.intersection(*known)
        return (common or min(filter(None, known), key=len, default=set())) | missing

    def learnt(self, place: int) -> tuple[float, float]:
        """Bits and the share of right guesses from the rows in all releases."""
        return _learnt([((self.patterns(p), at), v) for p, at, v in self._sightings(place)])

    def learnt_alone(self, place: int, other: int) -> tuple[float, float]:
        """The same from the rows in one release."""
        return _learnt(
            [
                ((self.pattern(p, other), at if other == place else None), v)
                for p, at, v in self._sightings(place)
            ]
        )

    def _sightings(self, place: int) -> list[tuple[str, object, str | None]]:
        """Everybody once, or with each class and value if somebody has several values."""
        if all(len({v for _, v in rows}) == 1 for rows in self.releases[place].values()):
            return [(p, None, rows[0][1]) for p, rows in self.releases[place].items()]
        return [(p, at, v) for p, rows in self.releases[place].items() for at, v in {*rows}]

    def determined(self) -> set[str]:
        """Whose secret is the same in all worlds that agree with every released table.

        A world gives everybody one secret, the same in all releases; the rows but for secrets are
        known, and a missing secret may be any. Only for tables in which it is so.
        """
        known = {v for rows in self.releases for own in rows.values() for _, v in own} - {None}
        seen: dict[str, set[str | None]] = {p: set() for p in self.everybody}
        for values in itertools.product(known, repeat=len(self.everybody)):
            world = dict(zip(self.everybody, values, strict=True))
            if all(
                Counter(row for own in rows.values() for row in own if row[1] is not None)
                <= Counter((at, world[p]) for p, own in rows.items() for at, _ in own)
                for rows in self.releases
            ):
                for person, value in world.items():
                    seen[person].add(value)
        return {p for p, values in seen.items() if len(values) == 1}


def _learnt(pairs: Sequence[tuple[object, str | None]]) -> tuple[float, float]:
    number, both = len(pairs), Counter(pairs)
    classes, values = Counter(c for c, _ in pairs), Counter(v for _, v in pairs)
    bits = sum(
        n / number * log2(n * number / (classes[c] * values[v])) for (c, v), n in both.items()
    )
    right = sum(max(n for (c, _), n in both.items() if c == own) for own in classes)
    return max(0.0, bits), right / number


def random_releases(random: Random, *, most: int = 12) -> list[dict[str, list[str | None]]]:
    """Two or three releases: people come and go, have several rows, lack values, change secrets."""
    people = [f"p{i}" for i in range(random.randint(2, most))]
    ill = {p: random.choice(("flu", "cold", "ache")) for p in people}
    several, lacking, changing = (random.random() < share for share in (0.4, 0.4, 0.3))
    releases = []
    for _ in range(random.choice((2, 3))):
        columns = random.choice((QUASI, QUASI[:1], QUASI[1:]))
        width = random.choice((1, 2, 2, 3))
        stay = random.choice((1.0, 1.0, 0.8, 0.5))
        here = [p for p in people if random.random() < stay] or people[:1]
        table: dict[str, list[str | None]] = {c: [] for c in (PERSON, *columns)}
        secret = random.random() < 0.9
        table |= {SECRET: []} if secret else {}
        for person in here:
            for _ in range(random.choice((1, 2)) if several else 1):
                table[PERSON].append(person)
                for column in columns:
                    lacks = lacking and random.random() < 0.15
                    table[column].append(None if lacks else str(random.randrange(width)))
                if secret:
                    own = random.choice(("flu", "cold")) if changing else ill[person]
                    table[SECRET].append(None if lacking and random.random() < 0.1 else own)
        if random.random() < 0.2:  # a suppressed record
            for column in columns:
                table[column][0] = "*"
        releases.append(table)
    return releases


def small_history(random: Random) -> list[dict[str, list[str | None]]]:
    """Two or three releases of few people who have one secret and often look alike.

    They have several rows; in some histories some of them come and go, or values are missing.
    """
    people = [f"p{i}" for i in range(random.randint(3, 7))]
    ill = {p: random.choice(("flu", "cold")) for p in people}
    coming, lacking = random.random() < 0.3, random.random() < 0.3
    releases = []
    for _ in range(random.choice((2, 3))):
        patterns = [
            random.choices(("a", None), k=random.choice((1, 2)))
            for _ in range(random.choice((1, 2)))
        ]
        here = people[len(people) // 2 :] if coming and random.random() < 0.5 else people
        table: dict[str, list[str | None]] = {PERSON: [], QUASI[0]: [], SECRET: []}
        for person in here:
            for label in random.choice(patterns):
                own = None if lacking and random.random() < 0.1 else ill[person]
                for column, value in zip(table, (person, label, own), strict=True):
                    table[column].append(value)
        releases.append(table)
    return releases
