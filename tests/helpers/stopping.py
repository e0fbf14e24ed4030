"""Commands stopped by a signal at a random moment, and what they leave behind."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from helpers.commandline import command_line

COMMAND = command_line()
MASKS = ("SigBlk", "SigCgt")  # signals that a process holds, and those that it handles
WAITING = ("SigPnd", "ShdPnd")  # signals that have been sent and that it has not taken yet
# A process that ends this soon after a signal, and works this little until then, had told its exit
# code to the system before: no signal can change it, and Linux does not say so.
SOON = 0.05  # seconds
LITTLE = 0.005  # seconds of a processor
PATIENCE = 60.0  # seconds


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


def time_used(process: int) -> float:
    """The seconds that a processor has worked for a process, which may have ended."""
    return int(Path(f"/proc/{process}/schedstat").read_text().split()[0]) / 1e9


def wait_until_ended(process: int) -> None:
    """Wait for the end of a process, which the system still has a status of."""
    deadline = time.monotonic() + PATIENCE
    how = os.WEXITED | os.WNOWAIT | os.WNOHANG
    while os.waitid(os.P_PID, process, how) is None:
        assert time.monotonic() < deadline, "the command goes on"
        time.sleep(0.001)


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
    """A command whose temporary files are in a directory of its own."""
    return subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def stop_anywhere(arguments: Sequence[object], sent: signal.Signals, delay: float) -> Stopped:
    """Stop a command `delay` seconds after its start, while Python itself starts or at its end.

    A signal is too late, and the command not ready, if it finds a process that is about to be gone,
    or if it still waits when the process has ended.
    """
    with tempfile.TemporaryDirectory() as folder:
        process = run(arguments, Path(folder))
        time.sleep(delay)
        ready = process.poll() is None and is_ready(process.pid)
        used = time_used(process.pid) if process.returncode is None else 0.0
        sent_at = time.monotonic()
        process.send_signal(sent)
        if process.returncode is None:
            wait_until_ended(process.pid)
            at_once = time.monotonic() - sent_at < SOON
            late = at_once and time_used(process.pid) - used < LITTLE
            late |= names_signal(status(process.pid), WAITING, sent)
        else:
            late = True  # nothing was sent to it
        error = process.communicate(timeout=PATIENCE)[1]
        ready &= not late or process.returncode == 128 + sent
        left = [path.name for path in Path(folder).iterdir()]
    return Stopped(process.returncode, error, ready, left)


def duration(arguments: Sequence[object]) -> float:
    """How many seconds a command takes when nobody stops it."""
    with tempfile.TemporaryDirectory() as folder:
        started = time.monotonic()
        run(arguments, Path(folder)).communicate(timeout=60)
        return time.monotonic() - started
