"""Files that were written here: what each was made under, and whether that is still so."""

import hashlib
import json
import shlex
from collections.abc import Sequence
from typing import Any

from sievert.errors import UsageError
from sievert.workbench.choices import Choices
from sievert.workbench.file_stamps import file_stamp, file_stamps
from sievert.workbench.step import Argv
from sievert.workbench.working_policy import policy_text


def conditions(choices: Choices, commands: Sequence[Argv]) -> str:
    """What files of these commands are made under: a digest of what was chosen, one of the data.

    The policy is in it by its text, wherever its file is; tables by their names and their stamps,
    files of hierarchies by their stamps.
    """
    plain = [_without_policy(argv) for argv in commands]
    tokens = [token for argv in plain for token in argv]
    tables = {token.partition("?")[0] for token in tokens}
    stamps = {path: stamp for path, stamp in file_stamps(choices).items() if path in tables}
    hierarchies = filter(None, (token.partition("=")[2] for token in tokens))
    stamps |= {path: stamp for path in hierarchies if (stamp := file_stamp(path))}
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
