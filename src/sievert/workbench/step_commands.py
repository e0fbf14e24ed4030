"""The command lines of the analyses: the choices as what each step runs."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sievert.errors import UsageError, require
from sievert.policy import FILE
from sievert.workbench.choices import Choices
from sievert.workbench.command_lines import (
    PRIVATE,
    reading_arguments,
    repeated,
    role_arguments,
    table_arguments,
)
from sievert.workbench.step import Argv, Form, View
from sievert.workbench.typed_paths import look_up
from sievert.workbench.working_policy import named_policy, policy_tables

PLAIN = re.compile(r"[^\s,=]+")  # a name that may stand in a list of levels
FULL = "full"  # whole columns are recoded, each to one level
CELLS = "suppress"  # single cells are, which needs no hierarchy


def known_columns(choices: Choices) -> tuple[str, ...]:
    """The columns that outsiders may know, as chosen or as the policy says."""
    try:
        roles = (policy_tables(choices) or {}).get("roles") or {}
    except UsageError:  # the step of the policy says what is wrong with it
        roles = {}
    return tuple(roles.get("quasi") or choices.texts("roles", "quasi"))


def has_roles(choices: Choices) -> bool:
    """Whether anybody is said to know anything: nothing can be measured before."""
    return bool(known_columns(choices))


def has_policy(choices: Choices) -> bool:
    """Whether there is a policy."""
    return named_policy(choices) is not None


def is_planned(choices: Choices) -> bool:
    """Whether the policy is asked about a planned release of the table, and not about its file."""
    return has_policy(choices) and choices.text("load", "question") != FILE


def beside_table(choices: Choices, ending: str) -> str:
    """A file to propose: beside the table, or here where the table is no file of the user's."""
    table = choices.table.partition("?")[0]
    folder = "" if "://" in table or table.startswith(PRIVATE) else str(Path(table).parent)
    return str(Path(folder) / f"{Path(table).name.partition('.')[0]}{ending}")


def named_file(form: Form, field: str, example: str) -> str:
    """The file that a field of a form names."""
    path = form.one(field)
    require(path, "no file is named", hint=example)
    require(not path.startswith("-"), "a file, not an option", hint=f"./{path}")
    require(not path.startswith(PRIVATE), f"{PRIVATE} is a private folder", hint="another name")
    look_up(path)
    return path


def table_command(command: str, choices: Choices) -> Argv:
    """A command on the table as it is: assess, explain or hierarchies."""
    planned = ("--planned",) if command == "assess" and is_planned(choices) else ()
    return (command, *table_arguments(choices), *planned, *hierarchy_options(choices))


def table_result(command: str, view: View) -> Any:
    """What such a command has given; None while nothing can be measured, or it has not ended."""
    return view.get(table_command(command, view.choices)) if has_roles(view.choices) else None


def protect_command(choices: Choices) -> Argv:
    """The release that is chosen: by its levels, or the one of the least loss."""
    return ("protect", *table_arguments(choices), *release_options(choices))


def release_options(choices: Choices) -> Argv:
    """How the release is made."""
    how, suppress = (choices.text("protect", name) for name in ("how", "suppress"))
    full = how in ("", FULL)
    return (
        *(() if how == CELLS else hierarchy_options(choices)),
        *(level_options(choices.mapping("protect", "levels")) if full else ("--how", how)),
        *repeated("--suppress", [suppress]),
        *repeated("--loss", [choices.text("protect", "loss")] if full else ()),
        *(() if how == CELLS else _of_columns("--column-weight", choices, "weights")),
    )


def hierarchy_options(choices: Choices) -> Argv:
    """The hierarchies that were chosen for columns that outsiders may know."""
    return _of_columns("--hierarchy", choices, "hierarchies")


def _of_columns(option: str, choices: Choices, name: str) -> Argv:
    """An option for each column that a setting of the release is of."""
    given = choices.mapping("protect", name)
    columns = [column for column in known_columns(choices) if column in given] if given else []
    return repeated(option, (f"{c}={given[c]}" for c in columns))


def level_options(levels: Mapping[str, str]) -> Argv:
    """Levels as an option; one for each column where a name has a comma."""
    pairs = [f"{column}={level}" for column, level in levels.items()]
    plain = all(map(PLAIN.fullmatch, levels))
    return repeated("--levels", [",".join(pairs)] if plain else pairs)


def frontier_command(choices: Choices) -> Argv:
    """All recodings that no other one is better than; the chosen levels do not matter to them."""
    return (*protect_command(choices.put("protect", how=None, levels=None)), "--frontier")


def compare_command(choices: Choices) -> Argv:
    """The releases beside the table that they were made of."""
    options = (*role_arguments(choices), *reading_arguments(choices), *hierarchy_options(choices))
    return ("compare", choices.table, *choices.texts("compare", "releases"), *options)


def synthetic_command(choices: Choices) -> Argv:
    """Synthetic tables under attack, perhaps beside people whom the generator never saw."""
    tables = choices.texts("synthetic", "tables")
    control = choices.text("synthetic", "control")
    options = (*role_arguments(choices), *repeated("--control", [control]))
    return ("synthetic", choices.table, *tables, *options, *reading_arguments(choices))
