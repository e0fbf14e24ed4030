"""Unicity: how often a few sightings of a person belong to nobody else.

Somebody who saw a person m times, in m different classes, finds the person if nobody else was seen
in all these classes. Unicity is exact for one and two sightings; for more it is sampled, with an
interval.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.counts.cube import Cube, run_starts
from sievert.numerics.special_functions import wilson
from sievert.renamed import SubscriptedRecord

MOST_PAIRS = 2 * 10**7  # pairs of classes of people that are counted one by one
SAMPLES = 10_000
LEVEL = 0.95


@dataclass(frozen=True, kw_only=True)
class Unicity(SubscriptedRecord):
    """The share of choices of m sightings that single a person out; an interval where sampled."""

    sightings: int
    value: float
    low: float
    high: float
    samples: int | None = None  # None where exact
    seed: int | None = None

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Unicity":
        """Read it back from the JSON."""
        return cls(
            sightings=data["sightings"],
            value=data["value"],
            low=data["low"],
            high=data["high"],
            samples=data["samples"],
            seed=data["seed"],
        )

    @property
    def exact(self) -> bool:
        """Whether all choices were counted."""
        return self.samples is None

    def to_dict(self) -> dict[str, object]:
        """As it stands in the JSON."""
        return {**vars(self), "unit": "1", "riskier": "high", "exact": self.exact}


class Trajectories:
    """The classes in which each person was seen, and the people of each class."""

    def __init__(self, sightings: Cube) -> None:
        """Read sightings whose last column is the person; a row without one is a person alone."""
        cube = sightings.roll_up(sightings.columns)
        classes = cube.owner
        person = cube.codes[-1].astype(np.int64)
        times = np.where(person == 0, cube.counts, 1)
        self.class_size = np.bincount(classes, times).astype(np.int64)
        named = person > 0
        alone = np.repeat(classes[~named], times[~named])
        person = np.concatenate([person[named], np.arange(len(alone)) + len(cube.values[-1])])
        classes = np.concatenate([classes[named], alone])
        order = np.lexsort((classes, person))
        self.classes = classes[order]
        owner = person[order]
        self.starts = run_starts(owner)
        self.lengths = np.diff(np.append(self.starts, len(owner)))
        self.people = len(self.starts)
        self.owner = np.repeat(np.arange(self.people), self.lengths)
        self.members = self.owner[np.lexsort((self.owner, self.classes))]
        self.bounds = np.append(0, np.cumsum(self.class_size))

    def unicity(self, sightings: int, seed: int = 0) -> Unicity:
        """The share of choices of `sightings` sightings that are unique.

        A person with fewer sightings has one choice: all of them.
        """
        pairs = int((self.lengths * (self.lengths - 1) // 2).sum())
        if sightings == 1:
            return self._exact(1, self._alone())
        if sightings == 2 and pairs <= MOST_PAIRS:
            return self._exact(2, self._pairs_alone())
        return self._sample(sightings, seed)

    def _exact(self, sightings: int, shares: Floats) -> Unicity:
        value = math.fsum(shares.tolist()) / self.people
        return Unicity(sightings=sightings, value=value, low=value, high=value)

    def _alone(self) -> Floats:
        """For each person the share of their classes that nobody else has."""
        alone = self.class_size[self.classes] == 1
        return np.bincount(self.owner, alone, self.people) / self.lengths

    def _pairs_alone(self) -> Floats:
        """For each person the share of the pairs of their classes that nobody else has."""
        shares = self._alone()  # of people with one class only
        place = np.arange(len(self.owner)) - self.starts[self.owner]
        later = self.lengths[self.owner] - 1 - place
        first = np.repeat(np.arange(len(self.owner)), later)
        within = np.arange(len(first)) - np.repeat(np.cumsum(later) - later, later)
        keys = self.classes[first] * len(self.class_size) + self.classes[first + 1 + within]
        _, which, times = np.unique(keys, return_inverse=True, return_counts=True)
        alone = np.bincount(self.owner[first], times[which] == 1, self.people)
        several = self.lengths > 1
        number = self.lengths[several]
        shares[several] = alone[several] / (number * (number - 1) / 2)
        return shares

    def _sample(self, sightings: int, seed: int) -> Unicity:
        random = np.random.default_rng(seed)
        unique = 0
        for person in random.integers(self.people, size=SAMPLES).tolist():
            start = int(self.starts[person])
            length = int(self.lengths[person])
            chosen = random.choice(length, size=min(sightings, length), replace=False)
            unique += self._is_unique(person, self.classes[start + chosen])
        low, high = wilson(unique, SAMPLES, LEVEL)
        return Unicity(
            sightings=sightings,
            value=unique / SAMPLES,
            low=low,
            high=high,
            samples=SAMPLES,
            seed=seed,
        )

    def _is_unique(self, person: int, classes: Ints) -> bool:
        """Whether nobody else was seen in all of these classes."""
        order = classes[np.argsort(self.class_size[classes], kind="stable")].tolist()
        others: Ints | None = None
        for each in order:
            members = self.members[self.bounds[each] : self.bounds[each + 1]]
            if others is None:
                others = members[members != person]
            else:
                place = np.minimum(np.searchsorted(members, others), len(members) - 1)
                others = others[members[place] == others]
            if not len(others):
                return True
        return False
