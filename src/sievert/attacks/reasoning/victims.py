"""Victims: what each of them may be in a release, and the records expected of their kind."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.attacks.reasoning.model import Factor

MOST_IMAGINED = 10_000  # victims, where the original does not say who there is


def distinct_rows(rows: Ints) -> tuple[Ints, Ints]:
    """The different rows of small numbers, in ascending order, and which of them each row is."""
    rows = np.asarray(rows, dtype=np.int64)
    keys = np.zeros(len(rows), dtype=np.int64)
    for column in rows.T:
        keys = keys * (int(column.max(initial=0)) + 1) + column
        _, keys = np.unique(keys, return_inverse=True)
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    return rows[first], which


@dataclass(frozen=True)
class Candidates:
    """The classes that may hold each victim.

    Victim `victims[p]` may be in class `classes[p]`, victims ascending; `places[f][p]` is the place
    of the victim's atom among the members of the class's label in factor f.
    """

    many: int
    victims: Ints
    classes: Ints
    places: tuple[Ints, ...]

    @classmethod
    def of(
        cls,
        many: int,
        pairs: tuple[Ints, Ints],
        factors: Sequence[Factor],
        labels: Ints,
        atoms: Ints,
    ) -> Candidates:
        """From pairs of victims and classes; `labels` is classes by factors, `atoms` victims by."""
        victims, classes = pairs
        places = []
        for f, factor in enumerate(factors):
            size = factor.prior.shape[1]
            widths = np.diff(factor.starts)
            keys = np.repeat(np.arange(len(widths)), widths) * size + factor.members
            places.append(np.searchsorted(keys, labels[classes, f] * size + atoms[victims, f]))
        return cls(many, victims, classes, tuple(places))

    def expected(self, shares: Sequence[Floats], held: Ints) -> Floats:
        """How many records with each secret are expected of each victim's kind.

        `shares[f]`, secrets by pairs, is what the factor gives the victim's atom within the class's
        label; `held` is classes by secrets.
        """
        found = np.zeros((self.many, held.shape[1]))
        if not len(self.victims):
            return found
        terms = held[self.classes].T.astype(np.float64)
        for each in shares:
            terms *= each
        first = np.flatnonzero(np.diff(self.victims, prepend=-1))
        found[self.victims[first]] = np.add.reduceat(terms, first, axis=1).T
        return found


def imagine_victims(
    sets: Sequence[tuple[Ints, Ints]], labels: Ints, records: Ints, rng: np.random.Generator
) -> tuple[Ints, bool]:
    """Everybody whom the release may hold, as values of each column; or some, by chance.

    `sets[c]` is the starts and members of the labels of column c, `labels` classes by columns,
    `records` how many each class holds. The second result is whether it is everybody.
    """
    sizes = np.ones(len(labels))
    for (starts, _), held in zip(sets, labels.T, strict=True):
        sizes *= np.diff(starts)[held]
    if sizes.sum() <= MOST_IMAGINED:
        every = {
            person
            for each in labels.tolist()
            for person in itertools.product(
                *(m[s[i] : s[i + 1]].tolist() for (s, m), i in zip(sets, each, strict=True))
            )
        }
        return np.array(sorted(every), dtype=np.int64), True
    chosen = rng.choice(len(labels), MOST_IMAGINED, p=records / records.sum())
    columns = []
    for (starts, members), held in zip(sets, labels.T, strict=True):
        label = held[chosen]
        low, high = starts[label], starts[label + 1]
        columns.append(members[rng.integers(low, high)])
    return np.unique(np.stack(columns, axis=1), axis=0), False
