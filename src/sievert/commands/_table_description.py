"""What was read, as it stands in the JSON of every command; columns to be spelt alike first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from unicodedata import normalize

from sievert.counts.questions import Questions
from sievert.measures import BY_ID
from sievert.roles import Roles
from sievert.sources.table import Table

if TYPE_CHECKING:
    from sievert.policy import Policy


def columns_without_role(
    questions: Questions, roles: Roles, *others: str | None
) -> tuple[str, ...]:
    """The columns that are not assessed; `others` have a role besides the three."""
    return tuple(c for c in questions.columns if c not in {*roles.every_column, *others})


def describe_table(table: Table, questions: Questions) -> dict[str, Any]:
    """What was read, as it stands in the JSON."""
    entries: dict[str, Any] = {
        "name": table.name,
        "kind": table.kind,
        "rows": questions.records,
        "columns": len(questions.columns),
        "engine": questions.engine.name,
    }
    if (people := questions.people) is not None:
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
    """The same, whether a file was verified, and what became of missing values."""
    entries = describe_table(table, questions)
    if table.stamp:  # a file
        entries["verified"] = False if table.verified is None else dict(table.verified)
    entries["suppressed"] = questions.suppression.records
    if questions.suppression.kept:
        entries["keep_suppressed"] = True
    if missing is not None:
        entries |= {"missing": missing} | ({"dropped": dropped} if missing == "drop" else {})
    return entries


def respelt_columns(
    questions: Questions, rows: Questions, roles: Roles, policy: Policy
) -> list[str]:
    """Secrets with a limit, and the person, whose values look the same and are told apart.

    Secrets would look more diverse, and rows more people, than they are. Values that the policy
    lists in an order are different; codes may differ by their case on purpose.
    """
    every = any("secret" in BY_ID[measure].kinds for measure in policy.everywhere)
    limited = [
        s for s in roles.sensitive if (every or policy.inference.get(s)) and s not in policy.orders
    ]
    texts = {s: [*filter(None, questions.tally(s, roles.quasi))] for s in limited}
    respelt = [
        s for s, v in texts.items() if len({normalize("NFC", t.strip()) for t in v}) < len(v)
    ]
    if roles.person is not None and rows.is_spelt_differently(roles.person):
        respelt.append(roles.person)
    return respelt
