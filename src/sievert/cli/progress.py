"""A line on stderr for work that takes longer than about a second."""

from __future__ import annotations

import sys
import threading
import time
from contextlib import suppress
from os import environ
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sievert.session import Measurable

PATIENCE = 1.0
INTERVAL = 0.2
WIDTH = 30  # of the bar
CLEAR = "\r\x1b[2K"


class Watch:
    """The display of the current step, which appears when the work has taken a second."""

    def __init__(self) -> None:
        self._step = "reading"
        self._work: Measurable | None = None
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._show, daemon=True)

    def __call__(self, step: str, work: Measurable | None) -> None:
        self._step = step
        self._work = work

    def __enter__(self) -> Watch:
        terminal = sys.stderr.isatty() and environ.get("TERM") != "dumb"
        if terminal or environ.get("FORCE_COLOR"):
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._done.set()
        if self._thread.is_alive():
            self._thread.join()

    def _show(self) -> None:
        """Write the line again and again until the work is done."""
        if self._done.wait(PATIENCE):
            return
        with suppress(Exception):  # a failure here must print nothing, and not end the work
            step = ""
            begun = 0.0
            while not self._done.wait(INTERVAL):
                if self._step != step:  # the remaining time follows from the pace of this step
                    step = self._step
                    begun = time.monotonic()
                sys.stderr.write(
                    f"{CLEAR}{describe(step, self._progress(), time.monotonic() - begun)}"
                )
                sys.stderr.flush()
            sys.stderr.write(CLEAR)
            sys.stderr.flush()

    def _progress(self) -> float:
        """The per cent of the step that are done; below 0 if unknown, as for a closed table."""
        with suppress(Exception):
            return self._work.progress() if self._work else -1.0
        return -1.0


def describe(step: str, share: float, seconds: float) -> str:
    """Describe a step with the time that is left, or the time it has taken if that is unknown.

    >>> describe("counting", 25.0, 10.0)
    'counting [#######                       ] left at most 0:30'
    >>> describe("reading", -1.0, 65.0)
    'reading 1:05'
    """
    if share <= 0:
        return f"{step} {_clock(seconds)}"
    bar = "#" * int(WIDTH * min(share, 100.0) / 100)
    left = seconds * (100 - min(share, 100.0)) / share
    return f"{step} [{bar:<{WIDTH}}] left at most {_clock(left)}"


def _clock(seconds: float) -> str:
    """Write seconds as minutes and seconds."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"
