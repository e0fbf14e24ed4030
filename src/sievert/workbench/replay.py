"""A saved session run again: the same command lines, one after the other."""

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from sievert.errors import RefusedError, require
from sievert.formatting.language import ENGLISH
from sievert.report.texts import read_texts
from sievert.sources.isolation import GUARDIAN, private_directory
from sievert.workbench.choices import Choices, check_texts, read_session
from sievert.workbench.command_lines import PRIVATE, check_arguments, real_arguments
from sievert.workbench.script import omissions, session_commands
from sievert.workbench.step import Step, known_settings
from sievert.workbench.steps.load import begin
from sievert.workbench.working_policy import write_policy
from sievert.workbench.written_files import split_options


def open_session(session: Path, steps: Sequence[Step], *, show_values: bool = False) -> Choices:
    """The choices of a saved session, which may be somebody else's.

    It leads to commands of the workbench only. Whether values are shown, and in which folder tables
    may be chosen, is up to whoever opens it.
    """
    choices = read_session(session, known_settings(steps))
    check_texts(choices.table, choices.settings)
    for step in steps:
        for options in choices.mapping(step.name, "written").values():
            split_options(options)
    own = begin(choices.table, show_values=show_values).of("load")
    choices = choices.put("load", folder=own["folder"], show_values=own.get("show_values"))
    for argv in session_commands(choices, steps, outdated=True):
        check_arguments(argv)
    return choices


def replay(session: Path, steps: Sequence[Step], tell: Callable[[str], None]) -> int:
    """Run the commands of a session; the exit code is the worst of theirs.

    A file that was written under other roles or another policy is not made again: that is told,
    and counts as refused.
    """
    choices = open_session(session, steps)
    uploaded = choices.table.startswith(PRIVATE)
    require(not uploaded, f"{session.name}: its table was uploaded, and is no file any more")
    texts = read_texts(None, choices.text("load", "language") or ENGLISH)
    left_out = omissions(choices, steps, texts)
    codes = [RefusedError.exit_code if left_out else 0]
    with private_directory() as folder:
        write_policy(choices, folder)
        for argv in session_commands(choices, steps):
            command = [sys.executable, "-m", "sievert", *real_arguments(argv, folder)]
            own = {"TMPDIR": str(folder), GUARDIAN: str(os.getpid())}
            codes.append(subprocess.run(command, env={**os.environ, **own}, check=False).returncode)  # noqa: S603 - our own commands
    for line in left_out:
        tell(f"{line}\n")
    return max(codes)
