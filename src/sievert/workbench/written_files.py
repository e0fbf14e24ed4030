"""The files of a session: inputs of results, and files written here with their commands."""

import hashlib
import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

from sievert.errors import UsageError
from sievert.workbench.choices import Choices
from sievert.workbench.command_lines import table_arguments
from sievert.workbench.step import Argv, View, WrittenFile
from sievert.workbench.step_commands import (
    FULL,
    protect_command,
    release_options,
    table_result,
)
from sievert.workbench.working_policy import policy_text

Stamp: TypeAlias = tuple[int, int] | None  # None where there is no such file
# How a written file relates to the choices.
CURRENT = "current"
OTHER_LEVELS = "levels"
BEFORE = "before"


def file_stamps(choices: Choices) -> dict[str, Stamp]:
    """The files that the choices name, with their stamps."""
    hierarchies = choices.mapping("protect", "hierarchies").values()
    paths = {
        choices.table.partition("?")[0],
        choices.text("policy", "file"),
        *choices.texts("compare", "releases"),
        *choices.texts("synthetic", "tables"),
        choices.text("synthetic", "control"),
        *(text for text in hierarchies if Path(text).is_file()),  # the others are rules
    }
    return {path: file_stamp(path) for path in sorted(filter(None, paths))}


def file_stamp(path: str) -> Stamp:
    """When a file was changed, and how long it is."""
    try:
        status = Path(path).stat()
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size


def conditions(choices: Choices, commands: Sequence[Argv]) -> str:
    """What files of these commands are made under: a digest of what was chosen, one of the data.

    The policy is in it by its text, wherever its file is; tables by their names and their stamps,
    files of hierarchies by their stamps.
    """
    plain = [_without_policy(argv) for argv in commands]
    tokens = [token for argv in plain for token in argv]
    tables = {token.partition("?")[0] for token in tokens}
    stamps = {path: stamp for path, stamp in file_stamps(choices).items() if path in tables}
    for token in tokens:
        hierarchy = token.partition("=")[2]
        stamp = file_stamp(hierarchy) if hierarchy else None
        if stamp:
            stamps[hierarchy] = stamp
    return f"{_digest([plain, policy_text(choices)])}-{_digest(stamps)}"


def chosen_alike(before: str, now: str) -> bool:
    """Whether two files were made under the same choices, of whatever state of the data.

    >>> chosen_alike("1f-2a", "1f-3b"), chosen_alike("", "1f-3b")
    (True, False)
    """
    return before.partition("-")[0] == now.partition("-")[0]


def split_options(text: str) -> list[str]:
    """The options that a file was written with, as a session keeps them."""
    try:
        return shlex.split(text)
    except ValueError:
        raise UsageError("the session has options that are not understood") from None


def _without_policy(argv: Argv) -> Argv:
    if "--policy" not in argv:
        return argv
    at = argv.index("--policy")
    return (*argv[:at], *argv[at + 2 :])


def _digest(of: Any) -> str:
    return hashlib.sha256(json.dumps(of).encode()).hexdigest()[:12]


# -- releases ------------------------------------------------------------------------------------


def release_conditions(choices: Choices, options: str) -> str:
    """What a release is made under: the table, the roles, the policy, and its own options."""
    return conditions(choices, (_release_command(choices, options),))


def _release_command(choices: Choices, options: str) -> Argv:
    return ("protect", *table_arguments(choices), *split_options(options))


def written_before(choices: Choices, path: str) -> bool:
    """Whether a release was written here before the table, the roles or the policy changed."""
    options = choices.mapping("protect", "written").get(path)
    if options is None:
        return False
    return choices.mapping("protect", "under").get(path) != release_conditions(choices, options)


def written_releases(choices: Choices) -> tuple[WrittenFile, ...]:
    """The releases that were written: the same table, each with its own options."""
    under = choices.mapping("protect", "under")
    return tuple(
        WrittenFile(
            path,
            (*_release_command(choices, options), "-o", path),
            outdated=not chosen_alike(under.get(path, ""), release_conditions(choices, options)),
        )
        for path, options in choices.mapping("protect", "written").items()
    )


def age_of(view: View, path: str) -> str:
    """Whether a written release is what would be written now."""
    choices = view.choices
    if written_before(choices, path):
        return BEFORE
    if (choices.text("protect", "how") or FULL) == FULL:
        choices = choices.put("protect", levels=shown_levels(view))
    options = shlex.join(release_options(choices))
    return CURRENT if view.choices.mapping("protect", "written")[path] == options else OTHER_LEVELS


def shown_levels(view: View) -> dict[str, str]:
    """The level of each column as it is chosen or was found; empty while none is known."""
    choices = view.choices
    release = view.get(protect_command(choices)) or {}
    levels = choices.mapping("protect", "levels") or release.get("levels")
    proposals = (table_result("hierarchies", view) or {}).get("proposals")
    if not levels or not proposals:
        return {}
    known = release or table_result("explain", view)
    columns = known["roles"]["quasi"] if known else proposals
    most = {column: len(proposals[column]["labels"]) for column in columns}
    return {column: str(min(int(levels.get(column, 0)), most[column])) for column in columns}


def full_path(path: str) -> str:
    """Where a file is, as somebody needs it to find it."""
    return path if "://" in path else str(Path(path).absolute())
