"""All commands of a session: as a script to copy, and run one after the other."""

from collections.abc import Sequence
from contextlib import suppress

from sievert.errors import SievertError
from sievert.formatting import printable
from sievert.report.texts import Texts
from sievert.workbench.choices import Choices, session_text
from sievert.workbench.command_lines import PRIVATE, shown
from sievert.workbench.step import Argv, Step
from sievert.workbench.working_policy import named_policy, policy_text

END = "END_OF_POLICY"


def session_commands(
    choices: Choices, steps: Sequence[Step], *, outdated: bool = False
) -> list[Argv]:
    """The commands of all steps in their order, each once, and those that wrote files.

    A file that was written under other choices would not be the same again: its command is among
    them only for who wants the `outdated` ones too.
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
        name = shown((policy,))[1]
        lines += [f"cat > {name} <<'{END}'", policy_text(choices).rstrip("\n"), END, ""]
    lines += [" ".join(shown(argv)) for argv in session_commands(choices, steps)]
    lines += [f"# {line}" for line in omissions(choices, steps, texts)]
    return "\n".join(lines) + "\n"
