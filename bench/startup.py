"""How long a user waits for nothing: the interpreter, the import, help, and a small table.

What counts is CPU seconds, of all processes of a command: they hardly depend on what else runs.
"""

from __future__ import annotations

import os
import random
import statistics
import subprocess
import sys
from pathlib import Path

from bench.common import (
    BenchError,
    Options,
    Ratio,
    Result,
    digits,
    print_verdict,
    scratch,
    table,
    verdict,
)

ROWS = 32_561  # as many as Adult has
VALUES = {"sex": 2, "age": 73, "race": 5, "marital": 7, "education": 16, "country": 41,
          "workclass": 8, "occupation": 14, "salary": 2}  # fmt: skip
COMMANDS = {
    "python -c pass": ("-c", "pass"),
    "import numpy, duckdb": ("-c", "import numpy, duckdb"),
    "import sievert": ("-c", "import sievert"),
    "sievert --help": ("-m", "sievert", "--help"),
    "sievert assess --help": ("-m", "sievert", "assess", "--help"),
    "sievert completion bash": ("-m", "sievert", "completion", "bash"),
    "sievert measures": ("-m", "sievert", "measures"),
    "sievert assess": ("-m", "sievert", "assess", "t.csv", "-q", "sex,age,race", "-s", "salary"),
}
GOALS = {"sievert --help": 0.1, "sievert assess --help": 0.1, "sievert assess": 0.4}


def write_table(folder: Path) -> None:
    """A table of Adult's size: nine columns of text."""
    draw = random.Random(1)
    lines = (",".join(str(draw.randrange(most)) for most in VALUES.values()) for _ in range(ROWS))
    (folder / "t.csv").write_text("\n".join([",".join(VALUES), *lines]) + "\n")


def start(arguments: tuple[str, ...], folder: Path) -> float:
    """Run Python once, away from the sources so that only the installed package is seen."""
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": ""},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise BenchError(f"`python {' '.join(arguments)}` failed ({process.returncode})")
    return used.ru_utime + used.ru_stime


def run(options: Options) -> Result:
    """Start every command in turns and print the best and the median of each: the latter counts."""
    rounds = options.rounds or (5 if options.quick else 15)
    seconds: dict[str, list[float]] = {name: [] for name in COMMANDS}
    with scratch() as folder:
        write_table(folder)
        for turn in range(rounds + 1):
            for name, arguments in COMMANDS.items():
                taken = start(arguments, folder)
                if turn:  # the first compiles modules
                    seconds[name].append(taken)
    bare = seconds["python -c pass"]
    ratios = {name: Ratio.of(taken, bare) for name, taken in seconds.items()}
    rows = [
        (name, digits(min(taken)), digits(statistics.median(taken)), str(ratios[name]))
        for name, taken in seconds.items()
    ]
    print(table((f"best of {rounds}", "CPU s", "median", "ratio to bare"), rows))
    goals = {
        name: verdict(statistics.median(seconds[name]), goal, at_least=False)
        for name, goal in GOALS.items()
    }
    for name, goal in goals.items():
        print_verdict(f"{name} / bare Python", ratios[name], goal | {"goal": f"{GOALS[name]} s"})
    ratio = ratios["sievert assess"]
    return {"seconds": seconds, "ratio": ratio, "ratios": ratios, "goal": goals["sievert assess"]}
