"""The levels that the page of a release shows, and whether a written file is still of them."""

import hashlib
import json
import shlex
from pathlib import Path

from sievert.workbench.choices import Choices
from sievert.workbench.command_lines import table_arguments
from sievert.workbench.file_stamps import file_stamp
from sievert.workbench.step import View
from sievert.workbench.step_commands import (
    FULL,
    explain_command,
    hierarchies_command,
    protect_command,
    release_options,
)
from sievert.workbench.working_policy import policy_text

CURRENT, OTHER_LEVELS, BEFORE = "current", "levels", "before"  # a written file beside the choices


def conditions(choices: Choices, options: str) -> str:
    """A digest of what a release is made under: the table, roles, policy, files of its options."""
    files = [choices.table.partition("?")[0]]
    files += [path for token in shlex.split(options) if (path := token.partition("=")[2])]
    table, *others = map(file_stamp, files)
    made_of = [table, *(stamp for stamp in others if stamp is not None)]
    under = json.dumps([table_arguments(choices), policy_text(choices), *made_of])
    return hashlib.sha256(under.encode()).hexdigest()[:12]


def written_before(choices: Choices, path: str) -> bool:
    """Whether a release was written here before the table, the roles or the policy changed."""
    options = choices.mapping("protect", "written").get(path)
    if options is None:
        return False
    return choices.mapping("protect", "under").get(path) != conditions(choices, options)


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
