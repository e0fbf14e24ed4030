"""Commands stopped by a signal at a random moment after their fork."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

COMMAND = [sys.executable, "-m", "sievert"]


def children(process: int) -> str:
    """The children of a process, as Linux lists them."""
    try:
        return Path(f"/proc/{process}/task/{process}/children").read_text()
    except OSError:
        return ""


def stop(table: Path, sent: signal.Signals, delay: float) -> tuple[int, str]:
    """The exit code as a shell sees it, and what was said; as stopped if it was done before."""
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
    code = process.returncode
    return (128 - code if code < 0 else code) if alive else 128 + sent, error


def stop_at_random(table: Path, sent: signal.Signals, runs: int) -> None:
    """Every run ends with the code of its signal and without a traceback."""
    moments = random.Random(int(sent))
    for number in range(runs):
        delay = 0.0 if number % 2 else moments.uniform(0, 0.3)
        code, error = stop(table, sent, delay)
        assert code == 128 + sent, (delay, error)
        assert error in ("", "interrupted\n"), delay
