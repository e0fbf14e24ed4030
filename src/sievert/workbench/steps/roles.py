"""Roles: what each column is; suggestions with their reasons, never guesses, never a value."""

import json
import re
from collections.abc import Mapping
from typing import Any

from sievert.commands.columns.result import ColumnList, DescribedColumn
from sievert.errors import UsageError, require
from sievert.report.texts import Texts
from sievert.workbench.choices import Choices, Setting
from sievert.workbench.step import DOUBTFUL, MET, OPEN, Form, Step, View
from sievert.workbench.steps.load import columns_command, commands
from sievert.workbench.working_policy import LISTS, SINGLE, role_table, with_roles

ROLES = (
    *("quasi", "sensitive", "identifier", "household", "weight"),
    *("ignored", "dropped", "kept"),
)
WITH_REASON = ("ignored", "kept")
OPTION = re.compile(r" \(-[-\w]+\)")  # of the command line, in the words of a reason
ROWS_ARE_PEOPLE = "rows"  # in place of the column that tells people apart
SETTINGS = (
    *(*LISTS, *SINGLE, *WITH_REASON),
    *("unknowable", "distinct_spellings", "rows_are_people"),
)


def roles_by_column(choices: Choices) -> dict[str, str]:
    """The role of each column that has one; the person may have another as well."""
    single = {choices.text("roles", role): role for role in ("household", "weight")}
    return {
        **{column: role for role in LISTS for column in choices.texts("roles", role)},
        **{column: role for column, role in single.items() if column},
        **{c: role for role in WITH_REASON for c in choices.mapping("roles", role)},
    }


def columns_without_role(choices: Choices, columns: list[str]) -> list[str]:
    """The columns that nothing is said about."""
    given = {*roles_by_column(choices), choices.text("roles", "person")}
    return [column for column in columns if column not in given]


def _context(view: View) -> dict[str, Any]:
    choices = with_roles(view.choices)
    result = view.get(columns_command(view.choices))
    if result is None:
        return {"rows": [], "bare": [], "roles": ROLES, "person": "", "names": []}
    listed = ColumnList.from_dict(result)
    by_column = roles_by_column(choices)
    people = ROWS_ARE_PEOPLE if choices.text("roles", "rows_are_people") else ""
    person = choices.text("roles", "person") or people
    reasons = {c: why for role in WITH_REASON for c, why in choices.mapping("roles", role).items()}
    if view.sent is not None:
        by_column, reasons, person = _sent_roles(view.sent)
    records = listed.table["rows"]
    rows = [
        {
            "column": column,
            "key": json.dumps(column.name),
            "role": by_column.get(column.name, ""),
            "why": _why(column, records, view.texts),
            "reason": reasons.get(column.name, ""),
            "missing": column.missing / records if records else 0.0,
        }
        for column in listed.columns
    ]
    names = [column.name for column in listed.columns]
    return {
        "rows": rows,
        "names": names,
        "bare": [name for name in names if name not in {*by_column, person}],
        "roles": ROLES,
        "person": person,
    }


def _why(column: DescribedColumn, records: int, texts: Texts) -> str:
    """Why a role is suggested; where the words are those of the role, that its name says it."""
    words = OPTION.sub("", column.explain_role(records, texts))
    role = texts(f"workbench.roles.is_{column.role}") if column.role else ""
    same = words == role or words.startswith(f"{role};")
    more = words[len(role) :].lstrip("; ")
    return "; ".join(filter(None, (texts("workbench.roles.by_name"), more))) if same else words


def _status(view: View) -> tuple[str, str]:
    choices = with_roles(view.choices)
    quasi, secret = (len(choices.texts("roles", role)) for role in ("quasi", "sensitive"))
    if not role_table(choices):
        return OPEN, view.texts("workbench.roles.none")
    result = view.get(columns_command(view.choices)) or {"columns": []}
    if not quasi:
        return DOUBTFUL, view.texts("workbench.roles.nobody")
    bare = columns_without_role(choices, [column["name"] for column in result["columns"]])
    if bare:
        return DOUBTFUL, view.texts("workbench.roles.without", number=len(bare))
    return MET, view.texts("workbench.roles.tally", quasi=quasi, secret=secret)


def _sent_roles(form: Form) -> tuple[dict[str, str], dict[str, str], str]:
    """What a form says: the role of each column, reasons for leaving one out, and the person."""
    names = {place: _name(text) for place, text in form.beginning("name:").items()}
    given = {names[p]: r for p, r in form.beginning("role:").items() if p in names and r}
    reasons = {names[p]: r for p, r in form.beginning("why:").items() if p in names}
    if form.one("suggest"):
        hints = form.beginning("hint:")
        given |= {n: hints[p] for p, n in names.items() if n not in given and hints.get(p)}
    return given, reasons, _name(form.one("person")) if form.one("person") else ""


def _change(choices: Choices, form: Form) -> Choices:
    given, reasons, person = _sent_roles(form)
    for role in given.values():
        require(role in (*ROLES, "person"), "a role that there is not", hint=", ".join(ROLES))
    settings: dict[str, Setting] = {
        role: tuple(column for column, own in given.items() if own == role) for role in LISTS
    }
    for role in ("household", "weight"):
        columns = [column for column, own in given.items() if own == role]
        require(len(columns) < 2, f"only one column can be the {role}")
        settings[role] = columns[0] if columns else ""
    person = next((c for c, own in given.items() if own == "person"), person)  # as suggested
    people = "yes" if person == ROWS_ARE_PEOPLE else ""
    settings |= {"person": "" if people else person, "rows_are_people": people}
    kept = _with_reasons("kept", given, reasons)
    before = with_roles(choices)
    unknowable = tuple(c for c in before.texts("roles", "unknowable") if c in kept)
    spelt = tuple(c for c in before.texts("roles", "distinct_spellings") if c in given)
    settings |= {"kept": kept, "unknowable": unknowable, "distinct_spellings": spelt}
    return choices.put("roles", **settings, ignored=_with_reasons("ignored", given, reasons))


def _with_reasons(
    wanted: str, given: Mapping[str, str], reasons: Mapping[str, str]
) -> dict[str, str]:
    """Columns that are left out or kept on purpose, each with the reason."""
    columns = [column for column, role in given.items() if role == wanted]
    for column in columns:
        if wanted == "ignored":
            require(
                reasons.get(column),
                f"column {column!r} is left out: say why",
                hint="dropped from the release",
            )
        require(
            reasons.get(column),
            f"column {column!r} is kept: say why",
            hint="the analysis needs it",
        )
    return {column: reasons[column] for column in columns}


def _name(text: str) -> str:
    """A column's name as the form carries it."""
    if text == ROWS_ARE_PEOPLE:
        return text
    try:
        name = json.loads(text)
    except (ValueError, RecursionError):
        name = None
    if not isinstance(name, str):
        raise UsageError("a form that was not made here")
    return name


ROLES_STEP = Step(
    name="roles",
    context=_context,
    status=_status,
    change=_change,
    commands=commands,
    settings=SETTINGS,
)
