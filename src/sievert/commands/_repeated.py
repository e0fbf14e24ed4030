"""Identifiers that several rows share: rows are then not people."""

from collections.abc import Sequence
from contextlib import suppress

from sievert.counts.questions import Questions
from sievert.errors import SievertError
from sievert.roles import Roles, tells_people_apart

MOST_ROWS = 100  # of a person on average, by a column that only looks like an identifier


def repeated_identifiers(questions: Questions, roles: Roles) -> list[str]:
    """The identifiers that several rows share: those named, and columns called like one.

    Who says that rows are people has looked at the columns that are ignored.
    """
    others = {*roles.measured_columns, *roles.identifier, *roles.single_columns.values()}
    others |= {*roles.ignored} if roles.rows_are_people else set()
    likely = [c for c in questions.columns if c not in others and tells_people_apart(c)]
    named = [c for c in roles.identifier if c != roles.person]
    repeated = repeated_columns(questions, [*named, *likely])
    # A code of a hospital or a batch has few values: it does not tell people apart.
    return [c for c, rows in repeated.items() if c in roles.identifier or rows <= MOST_ROWS]


def usable_columns(questions: Questions, columns: Sequence[str]) -> list[str]:
    """The columns of plain values."""
    usable = []
    for column in columns:
        with suppress(SievertError):
            questions.engine.check_usable(column)
            usable.append(column)
    return usable


def repeated_columns(questions: Questions, columns: Sequence[str]) -> dict[str, float]:
    """The columns whose values several rows share, and how many rows a value has on average."""
    if not (usable := usable_columns(questions, columns)):
        return {}
    lacking, repeated = questions.missing(usable), {}
    for column, values in questions.distinct(usable).items():
        rows = questions.records - lacking.get(column, 0)
        named = values - (column in lacking)
        if named < rows:
            repeated[column] = rows / named
    return repeated
