"""Commands stopped by a signal at a random moment, and what they leave behind."""

from __future__ import annotations

import math
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from helpers.commandline import command_line

COMMAND = command_line()
MASKS = ("SigBlk", "SigCgt")  # signals that a process holds, and those that it handles
PATIENCE = 60.0  # seconds
# The command, which notes in a file when it looks for the last time whether a signal waits. Then it
# tells the system its exit code, and no later signal can change that.
NOTING = """
import os, signal, sys, time
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # whoever runs the tests may ignore it, as nohup does
look = signal.sigpending
def note():
    with open(os.environ["LOOKED"], "w") as file:
        file.write(str(time.monotonic()))
    return look()
signal.sigpending = note
from sievert.__main__ import main
main()
"""


class Stopped(NamedTuple):
    """A command that a signal has stopped, and whether the signal found it ready."""

    code: int
    error: str
    ready: bool
    left: list[str]


def children(process: int) -> str:
    """The children of a process, as Linux lists them."""
    try:
        return Path(f"/proc/{process}/task/{process}/children").read_text()
    except OSError:
        return ""


def status(process: int) -> list[str]:
    """The lines that Linux has on a process; none once it is gone."""
    try:
        return Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return []


def names_signal(lines: list[str], sets: tuple[str, ...], sent: signal.Signals) -> bool:
    """Whether a signal is in one of the `sets` that the lines on a process list."""
    masks = [int(line.split()[1], 16) for line in lines if line.startswith(sets)]
    return any(mask >> (sent - 1) & 1 for mask in masks)


def is_ready(process: int) -> bool:
    """Whether our first line has been run in a process that lives: it holds or handles SIGTERM."""
    lines = status(process)
    if any(line.startswith("State:\tZ") for line in lines):
        return False
    return names_signal(lines, MASKS, signal.SIGTERM)


def stop(table: Path, sent: signal.Signals, delay: float) -> tuple[int, str]:
    """The exit code and what was said of a command that is stopped after its fork.

    A command that was done before the signal counts as stopped.
    """
    process = subprocess.Popen(
        [*COMMAND, "assess", str(table), "-q", "zip", "-s", "disease"],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while process.poll() is None and not children(process.pid):
        time.sleep(0.0005)
    time.sleep(delay)
    alive = process.poll() is None
    process.send_signal(sent)
    error = process.communicate(timeout=60)[1]
    return process.returncode if alive else 128 + sent, error


def stop_at_random(table: Path, sent: signal.Signals, runs: int) -> None:
    """Every run ends with the code of its signal and without a traceback."""
    moments = random.Random(int(sent))
    for number in range(runs):
        delay = 0.0 if number % 2 else moments.uniform(0, 0.3)
        code, error = stop(table, sent, delay)
        assert code == 128 + sent, (delay, error)
        assert error in ("", "interrupted\n"), delay


def run(arguments: Sequence[object], temporary: Path) -> subprocess.Popen[str]:
    """A command whose temporary files are in a directory of its own, and its note beside that."""
    noted = {"TMPDIR": str(temporary), "LOOKED": f"{temporary}.looked"}
    return subprocess.Popen(
        [sys.executable, "-c", NOTING, *map(str, arguments)],
        env={**os.environ, **noted},
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def looked_at(temporary: Path) -> float:
    """When a command has looked for signals for the last time; infinite if it has not."""
    try:
        return float(Path(f"{temporary}.looked").read_text())
    except (OSError, ValueError):
        return math.inf


def stop_anywhere(arguments: Sequence[object], sent: signal.Signals, delay: float) -> Stopped:
    """Stop a command `delay` seconds after its start, while Python itself starts or at its end.

    A signal after the last look of the command for signals comes too late, and does not find it
    ready.
    """
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent) / "own"
        folder.mkdir()
        process = run(arguments, folder)
        time.sleep(delay)
        ready = process.poll() is None and is_ready(process.pid)
        process.send_signal(sent)
        sent_by = time.monotonic()
        ready &= process.returncode is None  # else nothing was sent to it
        error = process.communicate(timeout=PATIENCE)[1]
        late = sent_by >= looked_at(folder)
        left = [path.name for path in folder.iterdir()]
    ready &= not late or process.returncode == 128 + sent
    return Stopped(process.returncode, error, ready, left)


def duration(arguments: Sequence[object]) -> float:
    """How many seconds a command takes when nobody stops it."""
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent) / "own"
        folder.mkdir()
        started = time.monotonic()
        run(arguments, folder).communicate(timeout=PATIENCE)
        return time.monotonic() - started
