"""Load: which table, how it was read, what is missing in it."""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from sievert.errors import require
from sievert.policy import FILE, PLANNED
from sievert.sources.addresses import DATABASES
from sievert.workbench.choices import Choices
from sievert.workbench.command_lines import PRIVATE, reading_arguments
from sievert.workbench.step import DOUBTFUL, MET, OPEN, Argv, Form, Step, View
from sievert.workbench.step_commands import has_roles, table_result
from sievert.workbench.typed_paths import is_text, look_up, not_an_option

TABLES = (
    *(".csv", ".tsv", ".txt", ".gz", ".zst", ".parquet", ".arrow", ".feather"),
    *(".xlsx", ".sav", ".dta", ".sas7bdat", ".db", ".duckdb"),
)
MOST_LISTED = 200  # files of a folder
TEXTS = ("delimiter", "encoding", "suppressed", "missing", "question")
QUESTIONS = (PLANNED, FILE)  # what the table is: the original, or the file to be passed on
KEPT = ("folder", "show_values", "language")  # whatever the table is
CHECKED = ("no_header", "keep_suppressed")
DELIMITERS = {"": "", ",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
MISSING = ("value", "wildcard", "drop", "error")
UNLESS_CHOSEN = {"encoding": "utf-8", "suppressed": "*", "missing": "value", "question": PLANNED}


def begin(start: str, *, show_values: bool = False) -> Choices:
    """The choices at the start: a table, or a folder to choose one from."""
    require(is_text(start), "the name of the table is not text", hint="rename it")
    path = Path(start.partition("?")[0])
    database = start.startswith(DATABASES)
    if database:
        folder = Path()
        table = not_an_option(start)
    elif path.is_dir():
        folder = path
        table = ""
    else:
        folder = path.parent
        table = not_an_option(start)
    return Choices(table).put("load", folder=str(folder), show_values="yes" if show_values else "")


def commands(choices: Choices) -> tuple[Argv, ...]:
    """What its columns look like."""
    if not choices.table:
        return ()
    values = ("--show-values",) if choices.text("load", "show_values") else ()
    return (("columns", choices.table, *reading_arguments(choices, missing=False), *values),)


def columns_command(choices: Choices) -> Argv:
    """The command whose JSON lists the columns; other steps need it as well. Empty where none."""
    return next(iter(commands(choices)), ())


def _context(view: View) -> dict[str, Any]:
    choices = view.choices
    result = view.get(columns_command(choices)) or {}
    columns = result.get("columns", [])
    assessed = table_result("assess", view)
    own = choices.of("load")
    return {
        "read": result.get("table"),
        "lacking": [column for column in columns if column["missing"]],
        "coded": [column for column in columns if column["codes"]],
        "marked": [column for column in columns if column["suppressed"]],
        "suppressed_rows": None if assessed is None else int(assessed["table"]["suppressed"]),
        "has_roles": has_roles(choices),
        "files": list(_files(choices)),
        "own": {**UNLESS_CHOSEN, **{name: own[name] for name in TEXTS if name in own}},
        "checked": {name: bool(own.get(name)) for name in CHECKED},
        "codes": ", ".join(choices.texts("load", "na")),
        "types": ", ".join(f"{c}={k}" for c, k in choices.mapping("load", "types").items()),
        "delimiters": DELIMITERS,
        "missing_rules": MISSING,
        "questions": QUESTIONS,
        "uploaded": choices.table.startswith(PRIVATE),
        "shown_table": choices.table.removeprefix(PRIVATE).rpartition("/")[2]
        if choices.table.startswith(PRIVATE)
        else choices.table,
    }


def _files(choices: Choices) -> Iterator[str]:
    """The tables in the folder of the start, and one level below."""
    folder = Path(choices.text("load", "folder") or ".")
    paths = (path for pattern in ("*", "*/*") for path in sorted(folder.glob(pattern)))
    tables = (path for path in paths if path.suffix.lower() in TABLES and path.is_file())
    named = (not_an_option(str(path)) for path in tables)
    return islice((name for name in named if is_text(name)), MOST_LISTED)


def _status(view: View) -> tuple[str, str]:
    command = columns_command(view.choices)
    if not command:
        return OPEN, view.texts("workbench.load.none")
    if view.results.error(command):
        return DOUBTFUL, view.texts("workbench.load.unreadable")
    result = view.get(command)
    if result is None:
        working = view.texts("workbench.rail.working")
        return OPEN, working if view.results.running(command) else Path(view.choices.table).name
    return MET, result["table"]["name"]


def _change(choices: Choices, form: Form) -> Choices:
    table = form.one("path") or form.one("table") or choices.table
    require(table, "no table is chosen", hint="a file of the list, or a path")
    if table != choices.table:
        choices = _take_table(choices, table)
    settings: dict[str, Any] = {
        **{n: "" if form.one(n) == UNLESS_CHOSEN.get(n) else form.one(n) for n in TEXTS},
        "delimiter": ("", *form.many("delimiter"))[-1],  # a tab is one too
        **{name: form.one(name) for name in CHECKED},
        "na": tuple(filter(None, map(str.strip, form.one("na").split(",")))),
        "types": _types(form.one("types")),
    }
    require(settings["missing"] in ("", *MISSING), "missing values: no such rule", hint=MISSING[0])
    require(
        settings["question"] in ("", *QUESTIONS),
        "a table is the original or the file to be passed on",
        hint=", ".join(QUESTIONS),
    )
    return choices.put("load", **settings)


def _take_table(choices: Choices, table: str) -> Choices:
    """Another table, in the folder of the start or below; what was chosen for the last one goes."""
    table = not_an_option(table)
    look_up(table.partition("?")[0])
    folder = Path(choices.text("load", "folder") or ".").resolve()
    path = Path(table.partition("?")[0])
    inside = False
    with suppress(OSError, RuntimeError):  # links that lead in a circle
        inside = not table.startswith(PRIVATE) and path.resolve().is_relative_to(folder)
    require(inside, "the file is not in the folder of the start, nor below it", hint="upload it")
    require(path.exists(), f"{path.name}: no such file")
    require(os.access(path, os.R_OK), f"{path.name}: cannot be read")
    return replace_table(choices, table)


def replace_table(choices: Choices, table: str) -> Choices:
    """The choices with another table, wherever it is."""
    own = choices.of("load")
    kept = {"load": {name: own[name] for name in KEPT if name in own}}
    return replace(choices, table=table, settings=kept)


def _types(text: str) -> dict[str, str]:
    pairs = (each.strip().rpartition("=") for each in text.split(",") if each.strip())
    types = {}
    for column, sign, kind in pairs:
        require(sign and column and kind, "types are COLUMN=int, float, date or text")
        types[column.strip()] = kind.strip()
    return types


LOAD = Step(
    name="load",
    context=_context,
    status=_status,
    change=_change,
    commands=commands,
    settings=(*KEPT, *TEXTS, *CHECKED, "na", "types"),
)
