"""All commands of a session: as a script to copy, and run again, one after the other."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from sievert.errors import RefusedError, SievertError, require
from sievert.formatting import ENGLISH, printable
from sievert.report.texts import Texts, read_texts
from sievert.sources.isolation import GUARDIAN, private_directory
from sievert.workbench.choices import Choices, check_texts, read_session, session_text
from sievert.workbench.command_lines import (
    PRIVATE,
    check_arguments,
    displayed_words,
    real_arguments,
)
from sievert.workbench.step import Argv, Step, known_settings
from sievert.workbench.steps.load import begin
from sievert.workbench.working_policy import named_policy, policy_text, write_policy
from sievert.workbench.written_files import split_options

END = "END_OF_POLICY"
NOT_MET = 1  # the exit code of a command whose policy is not met, or undecided


def session_commands(
    choices: Choices, steps: Sequence[Step], *, outdated: bool = False
) -> list[Argv]:
    """The commands of all steps in their order, each once, and the commands that wrote files.

    A file that was written under other choices would come out differently now: its command is
    included only if `outdated` is true.
    """
    commands: dict[Argv, None] = {}
    for step in steps:
        with suppress(SievertError):  # of a step that does not make sense yet
            commands |= dict.fromkeys(step.commands(choices))
            for file in step.files(choices):
                if file.outdated and not outdated:
                    continue
                for name, argv in file.inputs.items():
                    commands[*argv, "--json", f"{PRIVATE}{name}"] = None
                commands[file.argv] = None
    return list(commands)


def outdated_files(choices: Choices, steps: Sequence[Step]) -> list[str]:
    """The files that no command makes again, because they were written under other choices."""
    paths: list[str] = []
    for step in steps:
        with suppress(SievertError):
            paths += [file.path for file in step.files(choices) if file.outdated]
    return paths


def omissions(choices: Choices, steps: Sequence[Step], texts: Texts) -> list[str]:
    """What is said of these files, a line each, as it may stand in a comment."""
    paths = map(printable, outdated_files(choices, steps))
    return [texts("workbench.left_out", path=path) for path in paths]


def session_document(choices: Choices, steps: Sequence[Step], texts: Texts) -> str:
    """The session as one TOML file; what is not made again when it is run is said in comments."""
    comments = "".join(f"# {line}\n" for line in omissions(choices, steps, texts))
    return comments + session_text(choices)


def session_script(choices: Choices, steps: Sequence[Step], texts: Texts) -> str:
    """A shell script that runs the same commands; the policy, if it is no file, is in it."""
    lines = ["#!/bin/sh", ""]
    policy = named_policy(choices)
    if policy is not None and policy.startswith(PRIVATE):
        name = displayed_words((policy,))[1]
        lines += [f"cat > {name} <<'{END}'", policy_text(choices).rstrip("\n"), END, ""]
    lines += [" ".join(displayed_words(argv)) for argv in session_commands(choices, steps)]
    lines += [f"# {line}" for line in omissions(choices, steps, texts)]
    return "\n".join(lines) + "\n"


def open_session(session: Path, steps: Sequence[Step], *, show_values: bool = False) -> Choices:
    """Read the choices of a saved session, which may be somebody else's.

    The choices lead to commands of the workbench only. The person who opens the session decides
    whether values are shown, and in which folder tables may be chosen.
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
    """Run the commands of a session; the exit code is that of its releases.

    A session ends with 0 only if each release that it writes or compares meets the policy, and its
    own table too if the session says that this file is the release. A table that is not to go out
    need not meet it. Without a release, the worst exit code of all commands counts, and everywhere
    an error does. A file that was written under other roles or another policy is not made again:
    that is told, and counts as refused.
    """
    choices = open_session(session, steps)
    uploaded = choices.table.startswith(PRIVATE)
    require(not uploaded, f"{session.name}: its table was uploaded, and is no file any more")
    texts = read_texts(None, choices.text("load", "language") or ENGLISH)
    left_out = omissions(choices, steps, texts)
    ended: list[tuple[Argv, int]] = []
    unwritten: set[str] = set()  # releases that do not meet the policy: older files may be there
    with private_directory() as folder:
        write_policy(choices, folder)
        for argv in session_commands(choices, steps):
            if unwritten.intersection(argv):
                continue
            command = [sys.executable, "-m", "sievert", *real_arguments(argv, folder)]
            own = {"TMPDIR": str(folder), GUARDIAN: str(os.getpid())}
            compared = folder / f"compared{len(ended)}.json" if _compares(argv) else None
            if compared is not None:
                command += ["--json", str(compared)]
            done = subprocess.run(command, env={**os.environ, **own}, check=False)  # noqa: S603 - our own commands
            code = done.returncode
            if code == 0 and compared is not None and not _all_meet_policy(compared):
                code = NOT_MET
            ended.append((argv, code))
            if _writes_release(argv) and done.returncode != 0:
                unwritten.add(argv[argv.index("-o") + 1])
    skipped = [texts("workbench.not_written", path=printable(path)) for path in sorted(unwritten)]
    for line in (*left_out, *skipped):
        tell(f"{line}\n")
    return max(exit_code(ended), RefusedError.exit_code if left_out else 0)


def exit_code(ended: Sequence[tuple[Argv, int]]) -> int:
    """The exit code of a session whose commands have ended with these codes."""
    errors = [code for _, code in ended if code not in (0, NOT_MET)]
    verdicts = [code for argv, code in ended if _judges_releases(argv)]
    if not verdicts:
        verdicts = [code for _, code in ended]
    # A command that a signal has ended has a negative code.
    return max([*map(abs, errors), *verdicts], default=0)


def _judges_releases(argv: Argv) -> bool:
    """Whether a command is about files that are to go out, and not about their original.

    `assess` is, unless it asks about a planned release: then its table is not to go out.
    """
    if argv[0] == "assess":
        return "--planned" not in argv
    return argv[0] in ("compare", "synthetic") or _writes_release(argv)


def _compares(argv: Argv) -> bool:
    """Whether a command compares releases, and its JSON is not wanted elsewhere."""
    return argv[0] == "compare" and "--json" not in argv


def _all_meet_policy(compared: Path) -> bool:
    """Whether every release of a comparison meets the policy, if there is one.

    The exit code of `compare` says only whether some release does.
    """
    releases = json.loads(compared.read_text(encoding="utf-8"))["releases"]
    policies = [release.get("policy") for release in releases]
    return all(policy is None or policy["met"] is True for policy in policies)


def _writes_release(argv: Argv) -> bool:
    return argv[0] == "protect" and "-o" in argv
