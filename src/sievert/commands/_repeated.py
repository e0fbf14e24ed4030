"""Identifiers that several rows share: rows are then not people."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from sievert.errors import SievertError
from sievert.roles import Roles, tells_people_apart

if TYPE_CHECKING:
    from sievert.counts.questions import Questions

MOST_ROWS = 100  # of a person on average, by a column that only looks like an identifier


def repeated_identifiers(questions: Questions, roles: Roles) -> list[str]:
    """The identifiers that several rows share: those named, and columns called like one."""
    others = {*roles.measured_columns, *roles.identifier, *roles.single_columns.values()}
    likely = [c for c in questions.columns if c not in others and tells_people_apart(c)]
    named = [c for c in roles.identifier if c != roles.person]
    usable = []
    for column in (*named, *likely):
        with suppress(SievertError):
            questions.engine.check_usable(column)
            usable.append(column)
    if not usable:
        return []
    lacking, repeated = questions.missing(usable), []
    for column, values in questions.distinct(usable).items():
        rows = questions.records - lacking.get(column, 0)
        different = values - (column in lacking)
        # A code of a hospital or a batch has few values: it does not tell people apart.
        if different < rows and (column in roles.identifier or rows <= MOST_ROWS * different):
            repeated.append(column)
    return repeated
