"""The joint classes of several releases of the same people: who looks alike in all of them.

Whoever knows a person's values knows the class of that person in every release, and whether the
person is in it at all; the candidates are the people with the same classes everywhere. Suppressed
records are a class as any other here, and so are those who are not in a release: both can be told.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sievert.arrays import Ints
from sievert.counts.cube import run_starts

ABSENT = -1  # the class of who is not in a release


@dataclass(frozen=True, eq=False)
class JointClasses:
    """Every person once with each combination of classes, and how many people have that one."""

    person: Ints
    sizes: Ints

    @property
    def smallest(self) -> int:
        """The fewest people with the same classes in all releases."""
        return int(self.sizes.min())

    def people_below(self, k: int) -> int:
        """How many people have classes that fewer than k share."""
        return len(np.unique(self.person[self.sizes < k]))


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
    everybody = np.unique(np.concatenate([person for person, _ in releases]))
    people, columns = everybody, list[Ints]()
    for person, classes in releases:
        pairs = np.unique(np.stack([person, classes], axis=1), axis=0)
        absent = np.setdiff1d(everybody, pairs[:, 0])
        missing = np.stack([absent, np.full(len(absent), ABSENT)], axis=1)
        pairs = np.concatenate([pairs, missing])
        pairs = pairs[np.argsort(pairs[:, 0], kind="stable")]
        first = np.searchsorted(pairs[:, 0], people)
        times = np.searchsorted(pairs[:, 0], people, side="right") - first
        place = np.repeat(first - np.cumsum(times) + times, times) + np.arange(times.sum())
        columns = [np.repeat(column, times) for column in columns] + [pairs[place, 1]]
        people = np.repeat(people, times)
    order = np.lexsort(columns)
    starts = run_starts(*(column[order] for column in columns))
    of_group = np.diff(np.append(starts, len(order)))
    sizes = np.empty(len(order), dtype=np.int64)
    sizes[order] = np.repeat(of_group, of_group)
    return JointClasses(people, sizes)
