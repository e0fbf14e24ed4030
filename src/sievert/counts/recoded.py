"""A table with quasi-identifiers coarsened or left out: its counts follow from those of the table.

Every answer has the integers that the recoded table itself would give.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from sievert.counts.answers import RecordCounts, SecretCounts, Sizes
from sievert.counts.cells import CellTables
from sievert.counts.coded import CodedTable
from sievert.counts.cube import Cube
from sievert.counts.questions import Questions
from sievert.counts.sightings import (
    SecretSightings,
    count_secret,
    count_seen,
    distinct_sightings,
)
from sievert.errors import InvariantError, require

TIME = re.compile(r"(\d{4}-\d\d-\d\d)?([ T]?\d\d:\d\d:\d\d(\.\d+)?)?")


def recoded_rows(table: Questions, classes: Cube, secrets: Mapping[str, Cube]) -> Questions:
    """Ask about the rows of a table with recoded values.

    `classes` are the cells of the quasi-identifiers. `secrets` has the cells of each secret, with
    the secret as their last column.
    """
    questions = _like(table)
    questions.memory = RecodedCells(questions, classes, secrets)
    return questions


def recoded_people(table: Questions, sightings: Cube, secrets: Mapping[str, Cube]) -> Questions:
    """Ask about the people of a table with recoded values.

    `sightings` are the cells of the quasi-identifiers and the person. `secrets` has those of each
    secret, which stands before the person.
    """
    questions = _like(table)
    questions.memory = RecodedSightings(questions, sightings, secrets)
    return questions


def _like(table: Questions) -> Questions:
    questions = Questions(table.engine, table.records)
    questions.suppression = table.suppression
    return questions


class RecodedCells(CodedTable):
    """Cells with recoded values: those of the classes, and those of each secret."""

    def __init__(self, tables: CellTables, classes: Cube, secrets: Mapping[str, Cube]) -> None:
        super().__init__(tables, {})
        self._classes = classes
        self._secrets = secrets
        self._coded = {s: (c.codes[-1], c.values[-1]) for s, c in secrets.items()}

    def code(self, columns: Iterable[str]) -> bool:
        """Say that all columns are here."""
        return True

    def _records(self, columns: Sequence[str]) -> Cube:
        """The cells of some columns; equal cells may not be merged yet."""
        *quasi, last = columns
        if last in self._secrets and (last in quasi or last not in self._classes.columns):
            cube = self._secrets[last]
            known = cube.select_columns(quasi)
            return Cube(
                columns=tuple(columns),
                codes=(*known.codes, cube.codes[-1]),
                counts=cube.counts,
                values=(*known.values, cube.values[-1]),
            )
        return self._classes.select_columns(columns)

    def matches(self, quasi: tuple[str, ...], sizes: Sizes) -> tuple[int, Sizes | None]:
        """Say that no key is missing: missing values are labels here."""
        return 0, None

    def suppressed_counts(self) -> RecordCounts:
        """Count the suppressed records as one class: they have the mark in other columns, too."""
        size = self.tables.suppressed.size()
        return RecordCounts(records=size.members, sizes=Sizes.from_arrays([size.members], [1]))

    def _type_order(self, secret: str, present: list[str]) -> list[str]:
        ordered = type_order(present)
        require(ordered is not None, "values without an order", error=InvariantError)
        return ordered or []


class RecodedSightings(RecodedCells):
    """Recoded cells whose last column is the person: answers are in people."""

    def __init__(self, tables: CellTables, sightings: Cube, secrets: Mapping[str, Cube]) -> None:
        super().__init__(tables, sightings, {})
        self._secrets = secrets
        self._coded = {s: (c.codes[-2], c.values[-2]) for s, c in secrets.items()}
        self._seen = count_seen(distinct_sightings(sightings, sightings.columns[:-1]))

    @property
    def people(self) -> int:
        """The number of people."""
        return self._seen[1].people

    def sizes(self, quasi: tuple[str, ...]) -> Sizes:
        """The histogram of class sizes, in people."""
        return self._seen[0]

    def people_counts(self) -> RecordCounts:
        """The counts behind every measure of re-identification; no reading of missing keys."""
        sizes, people = self._seen
        several = None if sizes.records == people.people else people
        return RecordCounts(records=sizes.records, sizes=sizes, people=several)

    def certain_people(self, quasi: Sequence[str], secret: str) -> tuple[int, int]:
        """Count the people in classes where all have one value, and all people."""
        return self._seen_with(secret).certain()

    def secret_counts(
        self, quasi: tuple[str, ...], secret: str, needs: frozenset[str], **rare: Any
    ) -> SecretCounts:
        """Count what `needs` names about one secret."""
        return count_secret(self._seen_with(secret), secret, needs, self.people, self.rank, **rare)

    def _seen_with(self, secret: str) -> SecretSightings:
        cube = self._secrets[secret]
        return SecretSightings(distinct_sightings(cube, cube.columns[:-1]))


def type_order(texts: Sequence[str]) -> list[str] | None:
    """Sort numbers, dates or times as engines do; None for anything else.

    >>> type_order(["10", "9", "-1e3"]), type_order(["2020-01-02", "2019-12-31"])
    (['-1e3', '9', '10'], ['2019-12-31', '2020-01-02'])
    """
    if all(TIME.fullmatch(text) for text in texts):
        return sorted(texts)
    try:
        numbers = {text: Decimal(text) for text in texts}
    except InvalidOperation:
        return None
    known = sorted((text for text in texts if not numbers[text].is_nan()), key=numbers.__getitem__)
    return [*known, *(text for text in texts if numbers[text].is_nan())]
