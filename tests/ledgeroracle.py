"""Releases of the same people by brute force: one person and one combination of classes at a time.

Nothing here is shared with the package: tables are dicts of lists, classes are tuples of texts.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import log2
from random import Random

Release = Mapping[str, Sequence[str | None]]
Row = tuple[tuple[str | None, ...], str | None]  # the class, the value of the secret
QUASI, SECRET, PERSON = ("age", "town"), "ill", "id"


def rows_of(release: Release) -> dict[str, set[Row]]:
    """The rows of every person, each once."""
    people: dict[str, set[Row]] = {}
    columns = [release[q] for q in QUASI if q in release]
    secret = release.get(SECRET) or [None] * len(release[PERSON])
    for person, value, *labels in zip(release[PERSON], secret, *columns, strict=True):
        assert person is not None
        people.setdefault(person, set()).add((tuple(labels), value))
    return people


class Oracle:
    """What somebody learns who knows everybody's classes in all releases."""

    def __init__(self, releases: Sequence[Release]) -> None:
        self.releases = [rows_of(release) for release in releases]
        self.has_secret = [SECRET in release for release in releases]
        self.everybody = sorted({person for rows in self.releases for person in rows})

    def classes(self, person: str, place: int) -> set[tuple[str | None, ...] | None]:
        """The classes of a person in a release; None is to be absent."""
        return {labels for labels, _ in self.releases[place].get(person, ())} or {None}

    def combinations(self, person: str) -> Iterator[tuple[tuple[str | None, ...] | None, ...]]:
        return itertools.product(*(self.classes(person, i) for i in range(len(self.releases))))

    def alike(self, combination: Sequence[object], *, known_absent: bool = True) -> list[str]:
        """Who has these classes; without `known_absent`, absence tells nothing."""
        return [
            other
            for other in self.everybody
            if all(
                c in self.classes(other, i) or (c is None and not known_absent)
                for i, c in enumerate(combination)
            )
        ]

    def smallest(self, *, known_absent: bool = True) -> int:
        return min(
            len(self.alike(c, known_absent=known_absent))
            for person in self.everybody
            for c in self.combinations(person)
        )

    def unique(self) -> set[str]:
        return {p for p in self.everybody for c in self.combinations(p) if len(self.alike(c)) == 1}

    def unique_alone(self) -> set[str]:
        alone = set()
        for rows in self.releases:
            for person in rows:
                for labels, _ in rows[person]:
                    others = [p for p in rows if any(own == labels for own, _ in rows[p])]
                    alone |= {person} if len(others) == 1 else set()
        return alone

    def values(self, place: int, labels: object) -> set[str | None]:
        """The values of the secret in a class."""
        rows = self.releases[place].values()
        return {value for own in rows for at, value in own if at == labels}

    def joint_values(self, place: int, combination: Sequence[object]) -> list[str | None]:
        """The values of a release that people with these classes have, one for each of them."""
        return [
            value
            for person in self.alike(combination)
            for labels, value in self.releases[place].get(person, ())
            if labels == combination[place]
        ]

    def fewest_joint_values(self) -> int:
        """The fewest known values of a joint class in any release: l by the riskier reading."""
        fewest = []
        for person in self.everybody:
            for combination in self.combinations(person):
                for place, has in enumerate(self.has_secret):
                    if has and combination[place] is not None:
                        values = self.joint_values(place, combination)
                        known = {v for v in values if v is not None}
                        count = len(known) if known else 1
                        fewest.append(min(count, len(self.alike(combination))))
        return min(fewest)

    def values_left(self, person: str) -> int | None:
        """The fewest values left for a person whose secret stays the same; None without any."""
        least = [
            self._left(combination)
            for combination in self.combinations(person)
            if any(h and c is not None for h, c in zip(self.has_secret, combination, strict=True))
        ]
        return min(least) if least else None

    def _left(self, combination: Sequence[object]) -> int:
        sets = [
            self.values(i, c)
            for i, (c, has) in enumerate(zip(combination, self.has_secret, strict=True))
            if has
            if c is not None
        ]
        best: list[int] = []
        for first in range(len(sets)):
            for last in range(first + 1, len(sets) + 1):
                run = sets[first:last]
                literal = set.intersection(*run) - {None}
                certain = [s for s in run if None not in s]
                wild = set.intersection(*certain) if certain else set()
                best += [len(common) for common in (literal, wild) if common]
        return min(best, default=1)

    def learnt(self, place: int) -> tuple[float, float]:
        """Bits and the share of right guesses from joint classes, of one row for each person."""
        rows = {p: next(iter(own)) for p, own in self.releases[place].items()}
        joint = {p: next(iter(self.combinations(p))) for p in rows}
        return _learnt([(joint[p], value) for p, (_, value) in rows.items()])

    def learnt_alone(self, place: int, other: int) -> tuple[float, float]:
        """The same from the classes of one release."""
        rows = {p: next(iter(own)) for p, own in self.releases[place].items()}
        pairs = [(next(iter(self.classes(p, other))), value) for p, (_, value) in rows.items()]
        return _learnt(pairs)


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
    several, lacking, changing = (random.random() < share for share in (0.2, 0.3, 0.3))
    releases = []
    for _ in range(random.choice((2, 2, 3))):
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
