"""Cells in this process: a source of answers that questions try before they ask the engine.

None means that this source does not answer; then the engine does. The classes of this module
answer nothing; records fetched as codes, packed keys and recoded cells have classes of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from typing import Any, Self

from sievert.arrays import Ints
from sievert.counts.answers import (
    NumberCells,
    PeopleCounts,
    RecordCounts,
    SecretCounts,
    Sizes,
)
from sievert.counts.cells import CellTables
from sievert.counts.cube import Cube
from sievert.counts.row_runs import ColumnRuns
from sievert.sources.state_manifest import Spread


class PeopleCounter:
    """Counts people instead of rows, each person once in every class."""

    @property
    def people(self) -> int | None:
        """The number of people."""
        return None

    @property
    def unnamed(self) -> int | None:
        """Count the rows without a person."""
        return None

    def plan(self, quasi: Sequence[str]) -> None:
        """Say that people will be counted by these columns."""

    def sizes(self, quasi: tuple[str, ...]) -> Sizes | None:
        """The histogram of class sizes, in people."""
        return None

    def count_sightings(self, quasi: tuple[str, ...]) -> PeopleCounts | None:
        """Count the classes in which people were seen, and the people of these classes."""
        return None

    def count_lacking(self, quasi: tuple[str, ...]) -> int | None:
        """Count the rows that lack a quasi-identifier."""
        return None

    def certain_people(self, quasi: Sequence[str], secret: str) -> tuple[int, int] | None:
        """Count the people in classes where all have one value, and all people."""
        return None

    def secret_counts(
        self, quasi: tuple[str, ...], secret: str, needs: frozenset[str], **rare: Any
    ) -> SecretCounts | None:
        """Count what `needs` names about one secret."""
        return None

    def number_cells(self, quasi: Sequence[str], secret: str) -> NumberCells | None:
        """The cells of a numeric secret, in people."""
        return None


class MemoryCells:
    """Answers in rows, or in people where the cells are sightings."""

    tables: CellTables

    def fork(self, tables: CellTables) -> Self:
        """The same source for other questions about the same records."""
        other = copy(self)
        vars(other).update((k, dict(v)) for k, v in vars(self).items() if isinstance(v, dict))
        other.tables = tables
        return other

    def people_counter(self, person: str) -> PeopleCounter:
        """Make the counter of the people of these records."""
        return PeopleCounter()

    @property
    def people(self) -> int | None:
        """The number of people; None where rows are counted."""
        return None

    def plan_counts(self, quasi: tuple[str, ...], secrets: tuple[str, ...]) -> None:
        """Say which secrets will be counted in which classes."""

    def plan_runs(self, columns: Sequence[str]) -> None:
        """Name the columns whose runs will be asked for."""

    def forget(self) -> None:
        """Forget what was counted."""

    def leave_out_suppressed(self, quasi: Sequence[str], number: int) -> None:
        """Note that the engine leaves out `number` suppressed records from now on."""

    def progress(self) -> float:
        """The per cent of the running count that are done, or -1."""
        return -1.0

    def interrupt(self) -> None:
        """Stop counting; the caller of the running question gets an error."""

    # -- records and columns --------------------------------------------------------------------

    def count_marked(
        self, quasi: Sequence[str], secret: str | None, *, cells: bool
    ) -> tuple[int, int] | None:
        """Count the records with the mark of suppression in every quasi-identifier, and in any."""
        return None

    def suppressed_counts(self) -> RecordCounts | None:
        """The suppressed records as one class."""
        return None

    def missing(self, quasi: Sequence[str]) -> dict[str, int] | None:
        """Count the records that lack each quasi-identifier."""
        return None

    def tally(self, column: str, quasi: tuple[str, ...]) -> dict[str | None, int] | None:
        """Count the records with each text; only missing and empty of other or too many values."""
        return None

    def tallies(self, columns: Mapping[str, int]) -> dict[str, dict[str | None, int]] | None:
        """Count the records with each text of some columns, in the order of texts."""
        return None

    def values(self, column: str, quasi: tuple[str, ...]) -> list[str] | None:
        """The different values of a secret as text, without missing."""
        return None

    def like_the_header(self, quasi: Sequence[str], secrets: Sequence[str]) -> int | None:
        """Count the records whose values are the names of their columns."""
        return None

    def distinct(self, columns: Iterable[str]) -> dict[str, int] | None:
        """Count the different values of each column; missing is one."""
        return None

    # -- classes and secrets --------------------------------------------------------------------

    def sizes(self, quasi: tuple[str, ...]) -> Sizes | None:
        """The histogram of class sizes."""
        return None

    def matches(self, quasi: tuple[str, ...], sizes: Sizes) -> tuple[int, Sizes | None] | None:
        """Count the records that lack a key, and the records that match each other as wildcards."""
        return None

    def people_counts(self) -> RecordCounts | None:
        """The counts behind every measure of re-identification, where people are counted."""
        return None

    def certain_people(self, quasi: Sequence[str], secret: str) -> tuple[int, int] | None:
        """Count the people in classes where all have one value, and all people."""
        return None

    def secret_counts(
        self, quasi: tuple[str, ...], secret: str, needs: frozenset[str], **rare: Any
    ) -> SecretCounts | None:
        """Count what `needs` names about one secret."""
        return None

    # -- combinations as codes ------------------------------------------------------------------

    def cube(self, columns: Sequence[str]) -> Cube | None:
        """The combinations of some columns' values."""
        return None

    def compiled_cube(self, columns: Sequence[str]) -> Cube | None:
        """The same cube from compiled code, which is faster than the engine for large tables."""
        return None

    def number_cells(self, quasi: tuple[str, ...], secret: str) -> NumberCells | None:
        """The cells of a numeric secret."""
        return None

    def records_in_order(self, columns: Sequence[str]) -> Cube | None:
        """One cell per record, in the order of the input."""
        return None

    def count_runs(self, columns: Sequence[str]) -> dict[str, ColumnRuns]:
        """The runs of columns in the order of the input, as far as they are known here."""
        return {}

    def codes_in_order(self, column: str) -> tuple[Ints, list[str | None]] | None:
        """The code of a column in every row, in the order of the input; the text of each code."""
        return None


class SourceNotes:
    """What a source notes about its columns besides their cells; a table notes nothing."""

    @property
    def left_out(self) -> Mapping[str, Spread]:
        """What is known about the columns that are left out."""
        return {}

    def has_values(self, _column: str) -> bool:
        """Whether a column of the source was counted."""
        return True

    def check(self, column: str) -> None:
        """Raise an error if a column has no cells."""

    def missing(self, columns: Iterable[str]) -> dict[str, int]:
        """Count the records that lack a column, for each column that is noted."""
        return {}

    def distinct(self, columns: Iterable[str]) -> dict[str, int]:
        """Count the different values of each column that is noted."""
        return {}

    def coded_missing(
        self, columns: Sequence[str], *, complete: bool
    ) -> dict[str, int | None] | None:
        """Count the values that are missing only because of a code; None if nothing is noted."""
        return None

    def nan(self, columns: Sequence[str], *, complete: bool) -> dict[str, int] | None:
        """Count the values that are missing because they are NaN; None if nothing is noted."""
        return None
