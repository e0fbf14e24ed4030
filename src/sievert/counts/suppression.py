"""Which records their publisher has suppressed, however the records are counted.

A suppressed record has the mark in every quasi-identifier. The mark is a text, or None for a
missing value. This module says so in SQL and in codes, and `packed.records` for packed keys;
`Cube.all_have` is the same test on cells. Which records `protect` suppresses is decided in
`methods.full_domain.rules`.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from sievert.arrays import Bools
from sievert.counts.adapter import Adapter, ColumnKind
from sievert.counts.cube import Cube

EVERY = " AND "  # joins conditions: the mark in every column
ANY = " OR "  # the mark in any column


@dataclass(frozen=True, kw_only=True)
class Suppression:
    """The mark of suppressed records, and how many there are; they are left out unless `kept`."""

    mark: str | None = "*"
    kept: bool = False
    records: int = 0  # how many suppressed records there are, once they were counted
    whole: int = 0  # the records of the table, including the suppressed ones
    partly: int = 0  # records with the mark in some quasi-identifiers only, where it is a value
    fewest: int = 0  # the fewest values of a secret among suppressed records that are left out

    @property
    def left_out(self) -> int:
        """The number of records that are left out."""
        return 0 if self.kept else self.records

    def can_be_in(self, kind: ColumnKind) -> bool:
        """Whether columns of a kind can hold the mark: numbers and dates have a digit or letter."""
        if self.mark is None or any(map(str.isalnum, self.mark)):
            return True
        return kind not in ("float", "ordered")

    def is_code_of(self, kinds: Iterable[ColumnKind]) -> bool:
        """Whether the mark is a single code of columns of these kinds, if they have it at all.

        Two numbers that are spelt alike may have two codes; texts and missing values have one.
        """
        return self.mark is None or all(kind == "text" for kind in kinds)

    def texts(self, quasi: Iterable[str]) -> dict[str, str | None]:
        """The text that a suppressed record has in each quasi-identifier."""
        return dict.fromkeys(quasi, self.mark)

    def in_records(self, engine: Adapter, names: Sequence[str], joined: str = EVERY) -> str:
        """The SQL condition of records with the mark in every column, or in any."""
        if self.mark is None:
            return joined.join(f"{c} IS NULL" for c in names)
        return joined.join(f"({c} IS NOT NULL AND {engine.has_text(c, self.mark)})" for c in names)

    def in_cells(
        self, as_text: Callable[[str], str], names: Sequence[str], joined: str = EVERY
    ) -> tuple[str, list[str]]:
        """The SQL condition of cells with the mark in every column, or in any; its parameters."""
        if self.mark is None:
            return joined.join(f"{c} IS NULL" for c in names), []
        return joined.join(f"{as_text(c)} = ?" for c in names), [self.mark] * len(names)

    def in_codes(self, cells: Cube, quasi: Sequence[str]) -> tuple[Bools, Bools]:
        """Whether each cell has the mark in every quasi-identifier, and whether in any."""
        some = np.any([cells.all_have([q], self.mark) for q in quasi], axis=0)
        return cells.all_have(quasi, self.mark), some
