"""The joint classes of several releases of the same people: who looks alike in all of them.

Whoever knows a person's values knows the class of that person in every release, and whether the
person is in it at all; the candidates are the people with the same classes everywhere. Suppressed
records are a class as any other here, and so are those who are not in a release: both can be told.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sievert.arrays import Bools, Ints
from sievert.counts.cube import run_starts
from sievert.errors import ExhaustedError, require

ABSENT = -1  # the class of who is not in a release
MOST_COMBINATIONS = 10**8  # of people with several classes in several releases


@dataclass(frozen=True, eq=False)
class JointClasses:
    """Every person once with each combination of classes, and how many people have that one."""

    person: Ints
    sizes: Ints
    number: Ints  # of the joint class, from 0
    classes: tuple[Ints, ...]  # in each release

    @property
    def smallest(self) -> int:
        """The fewest people with the same classes in all releases."""
        return int(self.sizes.min())

    def people_below(self, k: int) -> int:
        """How many people have classes that fewer than k share."""
        return int(np.count_nonzero(marked(self.person[self.sizes < k])))

    @cached_property
    def members(self) -> Ints:
        """The place of one member of each joint class, in the order of their numbers."""
        places = np.empty(int(self.number.max()) + 1, dtype=np.int64)
        places[self.number] = np.arange(len(self.number))
        return places


def marked(numbers: Ints, size: int = 0) -> Bools:
    """Which numbers from 0 there are."""
    marks = np.zeros(max(size, int(numbers.max(initial=-1)) + 1), dtype=bool)
    marks[numbers] = True
    return marks


def distinct_pairs(person: Ints, classes: Ints) -> tuple[Ints, Ints]:
    """Each person once with every class, in the order of people."""
    width = int(classes.max()) + 1
    pairs = np.sort(person.astype(np.int64) * width + classes)
    return np.divmod(pairs[run_starts(pairs)], width)


def join_releases(releases: Sequence[tuple[Ints, Ints]]) -> JointClasses:
    """Count people by their classes in all releases.

    A release is given as the numbers of people and of their classes, from 0, row by row; a person
    has the same number in all of them, and may have several rows.

    >>> first = np.array([0, 1, 2, 3]), np.array([0, 0, 1, 1])
    >>> second = np.array([0, 1, 2, 3]), np.array([0, 1, 0, 1])
    >>> join_releases([first]).smallest, join_releases([first, second]).smallest
    (2, 1)
    >>> join_releases([first, (np.array([0, 1, 2]), np.array([0, 0, 0]))]).sizes.tolist()
    [2, 2, 1, 1]
    """
    last = max(int(person.max()) for person, _ in releases)
    present = np.any([marked(person, last + 1) for person, _ in releases], axis=0)
    people, columns = np.flatnonzero(present), list[Ints]()
    for person, classes in releases:
        own, of_person = _with_absent(person, classes, present)
        often = np.bincount(own, minlength=last + 1)
        first, times = np.cumsum(often) - often, often[people]
        combinations = int(times.sum())
        require(
            combinations <= MOST_COMBINATIONS,
            "people have too many rows in several releases to be held together",
            hint="one row for each person",
            error=ExhaustedError,
        )
        ends = np.cumsum(times)
        place = np.repeat(first[people] - ends + times, times) + np.arange(combinations)
        columns = [np.repeat(column, times) for column in columns] + [of_person[place]]
        people = np.repeat(people, times)
    order = np.lexsort(columns)
    starts = run_starts(*(column[order] for column in columns))
    of_group = np.diff(np.append(starts, len(order)))
    sizes, number = (np.empty(len(order), dtype=np.int64) for _ in range(2))
    sizes[order] = np.repeat(of_group, of_group)
    number[order] = np.repeat(np.arange(len(of_group)), of_group)
    return JointClasses(people, sizes, number, tuple(columns))


def _with_absent(person: Ints, classes: Ints, present: Bools) -> tuple[Ints, Ints]:
    """Each person once with every class of a release; those who lack one are absent."""
    own, of_person = distinct_pairs(person, classes)
    absent = np.flatnonzero(present & ~marked(own, len(present)))
    own = np.concatenate([own, absent])
    order = np.argsort(own, kind="stable")
    return own[order], np.concatenate([of_person, np.full(len(absent), ABSENT)])[order]
