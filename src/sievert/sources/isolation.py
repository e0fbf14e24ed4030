"""Work on files of unknown origin in a child process, whose death takes nothing down with it.

Readers in compiled code may crash on a damaged or hostile file, or ask for all the memory there is.
The parent holds no data: it waits, passes signals on, and turns the child's end into an exit code.
A child whose parent is gone ends as if it had been asked to.
"""

from __future__ import annotations

import json
import mmap
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from sievert.errors import EngineError, ExhaustedError, SievertError
from sievert.numerics.acceleration import physical_memory
from sievert.sources import scratch

GRACE = 5.0  # seconds after its deadline until a child that does not stop is killed
SOON = 1.5  # seconds a child has to tidy up after a signal
FILE, TIDY, DEADLINE = range(3)
SLOT = 1 << 13
NAMES = ("SIGINT", "SIGTERM", "SIGHUP")
SIGNALS = tuple(getattr(signal, name) for name in NAMES if hasattr(signal, name))


class _Board:
    """What the child tells its parent: three texts in memory that they share."""

    def __init__(self) -> None:
        self._shared = mmap.mmap(-1, 3 * SLOT)

    def write(self, slot: int, text: str) -> None:
        content = text.encode(errors="surrogateescape")[: SLOT - 1]
        self._shared[slot * SLOT : slot * SLOT + len(content) + 1] = content + b"\0"

    def text(self, slot: int) -> str:
        content = self._shared[slot * SLOT : (slot + 1) * SLOT]
        return content[: content.index(0)].decode(errors="surrogateescape")


_board: _Board | None = None
_places: list[str] = []


def announce_file(name: str) -> None:
    """Tell the parent, if there is one, which file is being read."""
    if _board is not None:
        _board.write(FILE, name)


def announce_directory(directory: Path) -> None:
    """Tell the parent, if there is one, where temporary files would be left by a sudden death."""
    _places.append(str(directory))
    if _board is not None:
        _board.write(TIDY, json.dumps(_places[-20:]))


def announce_deadline(seconds: float) -> None:
    """Tell the parent, if there is one, in how many seconds the work must be done."""
    if _board is not None:
        _board.write(DEADLINE, repr(time.monotonic() + seconds + GRACE))


def supervise(work: Callable[[], int]) -> int:
    """The exit code of some work, done in a child process where there are such."""
    if not hasattr(os, "fork"):
        return work()
    board = _Board()
    up, down = os.pipe(), os.pipe()  # each side notices by its pipe that the other one is gone
    killed_before = _killed_for_memory()
    child = os.fork()
    if child == 0:
        os.close(up[0])
        os.close(down[1])
        _work(work, board, down[0])
    os.close(up[1])
    os.close(down[0])
    stopped = _pass_on_signals(child)
    late = _wait(up[0], board, child, stopped)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status):
        return os.WEXITSTATUS(status)
    for place in json.loads(board.text(TIDY) or "[]"):
        scratch.sweep(Path(place))
    if stopped:
        sys.stderr.write("interrupted\n")
        return 128 + stopped[0][0]
    if late:
        raise ExhaustedError("not done in time", hint="a longer --timeout")
    starved = _killed_for_memory() > killed_before
    raise _obituary(board.text(FILE), os.WTERMSIG(status), starved=starved)


def _obituary(file: str, number: int, *, starved: bool) -> SievertError:
    on = f" on {file}" if file else ""
    if number == signal.SIGKILL and starved:
        return ExhaustedError(f"the system ran out of memory{on}", hint="a smaller --memory")
    return EngineError(
        f"the process that reads the data died (signal {number}){on}",
        hint="the file may be damaged: open it with the program that wrote it",
    )


def _work(work: Callable[[], int], board: _Board, parent: int) -> None:
    """The child: limited, watched, and never back into the parent's code."""
    global _board
    _board = board
    code = 70
    try:
        _limit()
        threading.Thread(target=_end_with_parent, args=[parent], daemon=True).start()
        code = work()
    finally:
        sys.stderr.flush()
        os._exit(code)


def _limit() -> None:
    """No core dumps with data in them; no more memory than the machine has."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        memory = physical_memory()
        soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
        if soft == resource.RLIM_INFINITY or soft > memory:
            resource.setrlimit(resource.RLIMIT_DATA, (memory, hard))
    except (OSError, ValueError):
        return


def _end_with_parent(parent: int) -> None:
    """Wait for the end of the parent, then ask the main thread to stop, then stop."""
    os.read(parent, 1)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(SOON)
    os._exit(143)


def _pass_on_signals(child: int) -> list[tuple[int, float]]:
    """Returns where signals will be noted, with the time by which the child must have ended."""
    noted: list[tuple[int, float]] = []

    def handler(number: int, _frame: FrameType | None) -> None:
        noted.append((number, time.monotonic() + SOON))
        try:
            os.kill(child, number)
        except ProcessLookupError:
            return

    for number in SIGNALS:
        signal.signal(number, handler)
    return noted


def _wait(pipe: int, board: _Board, child: int, stopped: list[tuple[int, float]]) -> bool:
    """Until the child has ended; True if it had to be killed for being late."""
    while True:
        readable, _, _ = select.select([pipe], [], [], 0.2)
        if readable:
            return False
        deadline = stopped[0][1] if stopped else float(board.text(DEADLINE) or "inf")
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            return True


def _killed_for_memory() -> int:
    """How many processes the system has killed for want of memory since it started."""
    try:
        lines = Path("/proc/vmstat").read_text().splitlines()
    except OSError:
        return 0
    return next((int(n) for name, n in (x.split() for x in lines) if name == "oom_kill"), 0)
