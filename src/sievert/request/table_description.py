"""The description of the table that was read, for the JSON of every command."""

from __future__ import annotations

from typing import Any

from sievert.counts.questions import Questions
from sievert.roles import Roles
from sievert.sources.table import Table


def columns_without_role(
    questions: Questions, roles: Roles, *others: str | None
) -> tuple[str, ...]:
    """The columns that are not assessed; `others` have a role besides the three."""
    return tuple(c for c in questions.columns if c not in {*roles.every_column, *others})


def describe_table(table: Table, questions: Questions) -> dict[str, Any]:
    """Describe the table that was read, for the JSON."""
    entries: dict[str, Any] = {
        "name": table.name,
        "kind": table.kind,
        "rows": questions.records,
        "columns": len(questions.columns),
        "engine": questions.engine.name,
    }
    people = questions.people
    if people is not None:
        entries["people"] = people
    if table.kind == "csv":
        entries |= {"delimiter": table.delimiter, "encoding": table.encoding}
    where_any = {
        "compression": table.compression,
        "na_codes": len(table.na),
        "blank_lines": 0 if table.scan is None else table.scan.blank_lines,
    }
    return entries | {name: entry for name, entry in where_any.items() if entry}


def describe_input(
    table: Table, questions: Questions, missing: str | None = None, dropped: int = 0
) -> dict[str, Any]:
    """Describe the table, whether its file was verified, and how missing values are treated."""
    entries = describe_table(table, questions)
    if table.stamp:  # a file
        entries["verified"] = False if table.verified is None else dict(table.verified)
    entries["suppressed"] = questions.suppression.records
    if questions.suppression.kept:
        entries["keep_suppressed"] = True
    if missing is not None:
        entries["missing"] = missing
        if missing == "drop":
            entries["dropped"] = dropped
    return entries
