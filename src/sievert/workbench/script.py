"""All commands of a session: as a script to copy, and run one after the other."""

from collections.abc import Sequence
from contextlib import suppress

from sievert.errors import SievertError
from sievert.workbench.choices import Choices
from sievert.workbench.command_lines import PRIVATE, shown
from sievert.workbench.step import Argv, Step
from sievert.workbench.working_policy import named_policy, policy_text

END = "END_OF_POLICY"


def session_commands(choices: Choices, steps: Sequence[Step]) -> list[Argv]:
    """The commands of all steps in their order, each once, and those that wrote files."""
    commands: dict[Argv, None] = {}
    for step in steps:
        with suppress(SievertError):  # of a step that does not make sense yet
            commands |= dict.fromkeys(step.commands(choices))
            for action in step.files(choices):
                for name, argv in action.inputs.items():
                    commands[*argv, "--json", f"{PRIVATE}{name}"] = None
                commands[action.argv] = None
    return list(commands)


def session_script(choices: Choices, steps: Sequence[Step]) -> str:
    """A shell script that runs the same commands; the policy, if it is no file, is in it."""
    lines = ["#!/bin/sh", ""]
    policy = named_policy(choices)
    if policy is not None and policy.startswith(PRIVATE):
        name = shown((policy,))[1]
        lines += [f"cat > {name} <<'{END}'", policy_text(choices).rstrip("\n"), END, ""]
    lines += [" ".join(shown(argv)) for argv in session_commands(choices, steps)]
    return "\n".join(lines) + "\n"
