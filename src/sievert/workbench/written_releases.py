"""The levels that the page of a release shows, and whether a written file is still of them."""

import shlex
from pathlib import Path

from sievert.workbench.choices import Choices
from sievert.workbench.command_lines import table_arguments
from sievert.workbench.step import Argv, View, WrittenFile
from sievert.workbench.step_commands import (
    FULL,
    explain_command,
    hierarchies_command,
    protect_command,
    release_options,
)
from sievert.workbench.written_files import chosen_alike, conditions, split_options

CURRENT, OTHER_LEVELS, BEFORE = "current", "levels", "before"  # a written file beside the choices


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
    proposals = (view.get(hierarchies_command(choices)) or {}).get("proposals")
    if not levels or not proposals:
        return {}
    known = release or view.get(explain_command(choices))
    columns = known["roles"]["quasi"] if known else proposals
    most = {column: len(proposals[column]["labels"]) for column in columns}
    return {column: str(min(int(levels.get(column, 0)), most[column])) for column in columns}


def full_path(path: str) -> str:
    """Where a file is, as somebody needs it to find it."""
    return path if "://" in path else str(Path(path).absolute())
