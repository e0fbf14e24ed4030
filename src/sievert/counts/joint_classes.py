"""The joint classes of several releases of the same people: who looks alike in all of them.

Somebody who knows a person's values knows all rows of that person in every release, and whether
the person is in it at all. The candidates are the people with as many rows of the same classes in
every release. Suppressed records are a class like any other here, and so are the people who are
not in a release: an attacker recognises both.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sievert.arrays import Bools, Ints
from sievert.counts.cube import run_starts

ABSENT = -1  # the pattern of a person who is not in a release


@dataclass(frozen=True, kw_only=True, eq=False)
class PatternsOfRows:
    """The people of a release by their rows: a pattern says how many rows are in which class."""

    person: Ints  # each once, in their order
    number: Ints  # of the pattern, from 0
    starts: Ints  # where the classes of each pattern begin
    often: Ints  # how many classes each pattern has
    classes: Ints  # of all patterns

    @property
    def sizes(self) -> Ints:
        """The number of people with the pattern of each person."""
        return np.asarray(np.bincount(self.number)[self.number])


@dataclass(frozen=True, eq=False)
class JointClasses:
    """Every person once, and the number of people with the same rows in all releases."""

    person: Ints
    sizes: Ints
    number: Ints  # of the joint class, from 0
    patterns: tuple[Ints, ...]  # in each release

    @property
    def smallest(self) -> int:
        """The fewest people who are alike in all releases."""
        return int(self.sizes.min())

    def people_below(self, k: int) -> int:
        """Count the people who are alike with fewer than `k`."""
        return int(np.count_nonzero(self.sizes < k))

    @cached_property
    def members(self) -> Ints:
        """The place of one member of each joint class, in the order of their numbers."""
        places = np.empty(int(self.number.max()) + 1, dtype=np.int64)
        places[self.number] = np.arange(len(self.number))
        return places


def mark_numbers(numbers: Ints, size: int = 0) -> Bools:
    """Whether each number from 0 on is among `numbers`."""
    marks = np.zeros(max(size, int(numbers.max(initial=-1)) + 1), dtype=bool)
    marks[numbers] = True
    return marks


def find_patterns(person: Ints, classes: Ints, rows: Ints) -> PatternsOfRows:
    """Number the people of a release by the numbers of their rows in each class.

    Two people have the same pattern only if all of their rows are alike.

    >>> people, classes = np.array([0, 1, 1, 2, 3, 3]), np.array([1, 0, 1, 1, 1, 0])
    >>> find_patterns(people, classes, np.ones(6, dtype=np.int64)).number.tolist()
    [0, 1, 0, 1]
    >>> find_patterns(people, classes, np.array([1, 1, 1, 2, 1, 1])).number.tolist()
    [0, 2, 1, 2]
    """
    width = int(classes.max()) + 1
    keys = person.astype(np.int64) * width + classes
    order = np.argsort(keys, kind="stable")
    starts = run_starts(keys[order])
    owner, of_person = np.divmod(keys[order][starts], width)
    times = np.add.reduceat(rows[order].astype(np.int64), starts)
    _, token = np.unique(of_person * (int(times.max()) + 1) + times, return_inverse=True)
    first = run_starts(owner)
    often = np.diff(np.append(first, len(owner)))
    number = _number_lists(token.reshape(-1), first, often)
    _, one, number = np.unique(number, return_index=True, return_inverse=True)
    classes_of_pattern = often[one]
    total = int(classes_of_pattern.sum())
    begin = np.cumsum(classes_of_pattern) - classes_of_pattern
    place = np.repeat(first[one] - begin, classes_of_pattern) + np.arange(total)
    return PatternsOfRows(
        person=owner[first],
        number=number.reshape(-1),
        starts=begin,
        often=classes_of_pattern,
        classes=of_person[place],
    )


def _number_lists(token: Ints, first: Ints, often: Ints) -> Ints:
    """Number lists of numbers, each given by its start and length; equal lists alike."""
    width = int(token.max()) + 1
    number = token[first].copy()
    used = width
    active = np.flatnonzero(often > 1)
    step = 1
    while len(active):
        keys = number[active] * width + token[first[active] + step]
        different, place = np.unique(keys, return_inverse=True)
        number[active] = used + place.reshape(-1)
        used += len(different)
        step += 1
        active = active[often[active] > step]
    return number


def join_releases(releases: Sequence[PatternsOfRows]) -> JointClasses:
    """Count people by their rows in all releases; a person has the same number in all of them.

    >>> def release(*classes):
    ...     people = np.arange(len(classes))
    ...     return find_patterns(people, np.array(classes), np.ones_like(people))
    >>> first, second = release(0, 0, 1, 1), release(0, 1, 0, 1)
    >>> join_releases([first]).smallest, join_releases([first, second]).smallest
    (2, 1)
    >>> join_releases([first, release(0, 0, 0)]).sizes.tolist()
    [2, 2, 1, 1]
    """
    last = max(int(release.person.max()) for release in releases)
    columns = []
    for release in releases:
        column = np.full(last + 1, ABSENT)
        column[release.person] = release.number
        columns.append(column)
    people = np.flatnonzero(np.any([column != ABSENT for column in columns], axis=0))
    columns = [column[people] for column in columns]
    order = np.lexsort(columns)
    of_group = np.diff(run_starts(*(column[order] for column in columns)), append=len(order))
    sizes = np.empty(len(order), dtype=np.int64)
    number = np.empty(len(order), dtype=np.int64)
    sizes[order] = np.repeat(of_group, of_group)
    number[order] = np.repeat(np.arange(len(of_group)), of_group)
    return JointClasses(person=people, sizes=sizes, number=number, patterns=tuple(columns))
