"""The command line as tests run it: in this process, or in a process of its own."""

import os
import subprocess
import sys
from typing import Any

from sievert.cli import app


def run(*arguments: object) -> int:
    """Run `sievert` with `arguments` in this process, and return its exit code."""
    return app._run([str(argument) for argument in arguments])


def command_line(*arguments: object) -> list[str]:
    """The words that run `sievert` with `arguments` in a process of its own."""
    return [sys.executable, "-m", "sievert", *map(str, arguments)]


def run_process(*arguments: object, **settings: Any) -> subprocess.CompletedProcess[str]:
    """Run `sievert` with `arguments` in a process of its own; `settings` go to `subprocess`."""
    usual = {"capture_output": True, "timeout": 60, "env": environment()}
    chosen: dict[str, Any] = usual | settings
    return subprocess.run(command_line(*arguments), text=True, **chosen)


def environment(**other: str | None) -> dict[str, str]:
    """This environment with the variables of `other` set, or removed where None."""
    variables = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **other}
    return {name: value for name, value in variables.items() if value is not None}
