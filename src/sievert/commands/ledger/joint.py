"""The releases of the same people together: each person once, with all rows of each release."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sievert.arrays import Bools, Ints
from sievert.commands.ledger.store import LedgerRelease
from sievert.counts.cube import run_starts
from sievert.counts.joint_classes import (
    ABSENT,
    JointClasses,
    find_patterns,
    join_releases,
    mark_numbers,
)
from sievert.counts.joint_values import (
    CommonValues,
    ValueSets,
    count_common_values,
    values_of_patterns,
)


@dataclass(frozen=True, eq=False)
class Audience:
    """The rows of one release: their people, their classes, and the values of its secrets."""

    joint: Ints  # the place of the person of each row among the joint classes
    person: Ints
    classes: Ints  # of the release
    secrets: Mapping[str, Ints]  # 0 is missing

    def split(self, groups: Ints) -> Ints:
        """Split groups of joint classes by the class of each row."""
        keys = groups[self.joint] * (int(self.classes.max()) + 1) + self.classes
        return np.asarray(np.unique(keys, return_inverse=True)[1]).reshape(-1)

    def only(self, secret: str) -> "Audience":
        """Keep one row per person; one per class and value of a secret if a person has several."""
        person = self.person
        values = self.secrets[secret]
        order = np.lexsort((values, self.classes, person))
        first = run_starts(person[order])
        times = np.diff(np.append(first, len(order)))
        if np.any(values[order] != np.repeat(values[order][first], times)):
            first = run_starts(person[order], self.classes[order], values[order])
        kept = order[first]
        own = {secret: self.secrets[secret][kept]}
        return Audience(
            joint=self.joint[kept],
            person=self.person[kept],
            classes=self.classes[kept],
            secrets=own,
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class DisclosedPeople:
    """The people for whom releases leave few values of a secret that stays the same."""

    least: int  # the fewest values that are left for a person
    disclosed: int  # people with one value left
    only_together: int  # people with one value left by all releases, and more by each alone
    none_common: int  # people whose classes have no known value in common
    changed: int  # people with different values in the releases


class ReleasesTogether:
    """All releases of a ledger, the new one last."""

    def __init__(self, releases: Sequence[LedgerRelease]) -> None:
        self.releases = releases
        self.people = number_words([release.people for release in releases])
        self.patterns = [
            find_patterns(person, release.classes, release.rows)
            for person, release in zip(self.people, releases, strict=True)
        ]
        self.joint: JointClasses = join_releases(self.patterns)
        self._most = int(self.joint.person.max()) + 1
        self._words: dict[str, tuple[Ints, Ints]] = {}  # hashes of values, and their numbers
        self.values = {  # of each secret its numbers by release
            name: self._number_values(name)
            for name in dict.fromkeys(s for release in releases for s in release.secrets)
        }

    def _number_values(self, secret: str) -> dict[int, Ints]:
        """Number the values of a secret in the rows of each release that has it; 0 is missing."""
        own = {i: r.secrets[secret] for i, r in enumerate(self.releases) if secret in r.secrets}
        words = [each.codes for each in own.values()]
        numbers = number_words(words)
        self._words[secret] = (np.concatenate(words), np.concatenate(numbers) + 1)
        return {
            place: np.append(0, number + 1)[each.rows]
            for (place, each), number in zip(own.items(), numbers, strict=True)
        }

    def value_number(self, secret: str, word: Ints) -> int:
        """The number of a value by its keyed hash; -1 if no release has it."""
        words, numbers = self._words[secret]
        same = np.flatnonzero((words == word).all(axis=1))
        return int(numbers[same[0]]) if len(same) else -1

    def members(self, place: int) -> Bools:
        """Mark the people of a release, by their numbers."""
        return mark_numbers(self.people[place], self._most)

    def unique_in(self, place: int) -> Bools:
        """Mark the people whose rows are unique in one release."""
        own = self.patterns[place]
        return mark_numbers(own.person[own.sizes == 1], self._most)

    def unique_together(self) -> Bools:
        """Mark the people who are unique in a joint class."""
        return mark_numbers(self.joint.person[self.joint.sizes == 1], self._most)

    def audience(self, place: int) -> Audience:
        """The rows of one release."""
        person = self.people[place]
        secrets = {s: of[place] for s, of in self.values.items() if place in of}
        where = np.searchsorted(self.joint.person, person)
        return Audience(
            joint=where, person=person, classes=self.releases[place].classes, secrets=secrets
        )

    def disclosed(self, secret: str) -> DisclosedPeople:
        """Count the people for whom the releases leave few values of an unchanging secret."""
        values = self.values[secret]
        joint = self.joint
        number = 1 + max(int(own.max()) for own in values.values())
        sets = [
            values_of_patterns(ValueSets(self.releases[i].classes, own, number), self.patterns[i])
            for i, own in values.items()
        ]
        columns = [joint.patterns[i][joint.members] for i in values]
        seen = np.any([column != ABSENT for column in columns], axis=0)
        common = count_common_values([column[seen] for column in columns], sets)
        return self._count_people(common, np.flatnonzero(seen), values)

    def _count_people(
        self, common: CommonValues, seen: Ints, values: Mapping[int, Ints]
    ) -> DisclosedPeople:
        """Count the people of the joint classes in `seen`; the worst class of a person counts."""
        of_class = np.full(len(self.joint.members), -1)
        of_class[seen] = np.arange(len(seen))
        place = of_class[self.joint.number]
        person = self.joint.person[place >= 0]
        place = place[place >= 0]
        one = mark_numbers(person[common.together[place] == 1], self._most)
        alone = mark_numbers(person[common.alone[place] == 1], self._most)
        doubtful = mark_numbers(person[common.none_common[place]], self._most)
        most = self._most
        least = np.full(most, np.iinfo(np.int64).max)
        largest = np.zeros(most, dtype=np.int64)
        for release, own in values.items():
            known = own > 0
            np.minimum.at(least, self.people[release][known], own[known])
            np.maximum.at(largest, self.people[release][known], own[known])
        return DisclosedPeople(
            least=int(common.together.min()),
            disclosed=int(one.sum()),
            only_together=int((one & ~alone).sum()),
            none_common=int(doubtful.sum()),
            changed=int(np.count_nonzero(largest > least)),
        )


def number_words(parts: Sequence[Ints]) -> list[Ints]:
    """Number keyed hashes from 0, equal hashes alike; a hash is a row of two words.

    >>> one, other = np.array([[7, 1], [5, 1]]), np.array([[5, 1], [5, 2]])
    >>> [numbers.tolist() for numbers in number_words([one, other])]
    [[2, 0], [0, 1]]
    """
    words = np.concatenate(parts)
    order = np.argsort(words[:, 0])
    ordered = words[order]
    starts = run_starts(ordered[:, 0])
    times = np.diff(np.append(starts, len(words)))
    if np.any(ordered[:, 1] != np.repeat(ordered[starts, 1], times)):  # two hashes share one word
        order = np.lexsort((words[:, 1], words[:, 0]))
        ordered = words[order]
        starts = run_starts(ordered[:, 0], ordered[:, 1])
        times = np.diff(np.append(starts, len(words)))
    numbers = np.empty(len(words), dtype=np.int64)
    numbers[order] = np.repeat(np.arange(len(starts)), times)
    return np.split(numbers, np.cumsum([len(part) for part in parts])[:-1])
