"""How long a user waits for nothing: the interpreter, the import, the help text."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from bench.common import (
    BenchError,
    Options,
    Ratio,
    Result,
    Sample,
    digits,
    interleave,
    print_verdict,
    scratch,
    table,
    verdict,
)

GOAL = 0.15  # seconds that the import may add to bare Python
COMMANDS = {
    "python -c pass": ("-c", "pass"),
    "import sievert": ("-c", "import sievert"),
    "sievert --help": ("-m", "sievert", "--help"),
}


def start(arguments: tuple[str, ...], folder: Path) -> None:
    """Run Python once, away from the sources so that only the installed package is seen."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": ""},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        command = " ".join(("python", *arguments))
        raise BenchError(f"`{command}` failed ({done.returncode}):\n{done.stderr.strip()}")


def run(options: Options) -> Result:
    """Start every command in turns and print the best of each."""
    rounds = options.rounds or (5 if options.quick else 15)
    with scratch() as folder:
        actions: dict[str, Callable[[], None]] = {
            name: partial(start, arguments, folder) for name, arguments in COMMANDS.items()
        }
        samples: dict[str, list[Sample]] = interleave(actions, rounds)
    walls = {name: [sample.wall for sample in taken] for name, taken in samples.items()}
    bare = walls["python -c pass"]
    ratios = {name: Ratio.of(wall, bare) for name, wall in walls.items()}
    rows = [
        (name, digits(min(wall)), digits(min(wall) - min(bare)), str(ratios[name]))
        for name, wall in walls.items()
    ]
    print(table((f"best of {rounds}", "wall s", "over bare s", "ratio to bare"), rows))
    added = min(walls["import sievert"]) - min(bare)
    goal = verdict(added, GOAL, at_least=False)
    print(f"\nthe import adds {digits(added)} s; goal <= {GOAL} s")
    print_verdict("import / bare Python", ratios["import sievert"], goal | {"goal": f"+{GOAL} s"})
    return {"walls": walls, "ratio": ratios["import sievert"], "ratios": ratios, "goal": goal}
