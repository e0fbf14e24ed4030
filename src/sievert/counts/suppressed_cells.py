"""The records that a recoding suppresses, counted from cells as a class of their own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sievert.arrays import Bools
from sievert.counts.cube import Cube
from sievert.counts.recoded import type_order
from sievert.counts.sightings import distinct_sightings
from sievert.counts.suppressed_class import ClassSize, SuppressedValues


@dataclass(frozen=True)
class CellsBeside:
    """The cells of the suppressed records, and the cells of all records."""

    own: Cube
    whole: Cube

    @classmethod
    def split(cls, whole: Cube, gone: Bools) -> "CellsBeside":
        """Tell apart the cells that are `gone`."""
        return cls(whole.select_cells(np.flatnonzero(gone)), whole)

    def only(self, place: int) -> "CellsBeside":
        """Only the cells with a value in the column at a place."""
        own = self.own.select_cells(np.flatnonzero(self.own.codes[place]))
        whole = self.whole.select_cells(np.flatnonzero(self.whole.codes[place]))
        return CellsBeside(own, whole)

    def once_each(self, columns: Sequence[str]) -> "CellsBeside":
        """Each person once with every combination of some columns."""
        return CellsBeside(
            own=distinct_sightings(self.own, columns), whole=distinct_sightings(self.whole, columns)
        )

    @property
    def size(self) -> ClassSize:
        """The records of the cells."""
        return ClassSize(self.own.records, self.whole.records)


@dataclass(frozen=True)
class SuppressedCells:
    """The records that a recoding suppresses, from cells: `secrets` has the cells of each secret.

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
        cells = self.secrets[secret]
        place = -1
        people = None
        known_people = None
        if self.sightings:
            people = cells.once_each(()).size
            known_people = cells.only(-2).once_each(()).size
            cells = cells.once_each((cells.whole.columns[-2],))
            place = 0
        texts = cells.whole.values[place]
        totals = cells.whole.totals(place)
        there = np.flatnonzero(totals)
        present = [texts[code] for code in there]
        ordered = type_order([text for text in present if text is not None])
        if ordered is not None:
            rank_of = {text: rank for rank, text in enumerate(ordered)}
            ranks = [-1 if text is None else rank_of[text] for text in present]
            there = there[np.argsort(np.array(ranks, dtype=np.int64))]
        return SuppressedValues(
            texts=tuple(texts[code] for code in there),
            own=cells.own.totals(place)[there],
            whole=totals[there],
            people=people,
            known_people=known_people,
        )
