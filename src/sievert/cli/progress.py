"""A bar on stderr for work that takes longer than about a second."""

from __future__ import annotations

import threading
from contextlib import suppress
from types import TracebackType

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from sievert.session import Measurable

PATIENCE = 1.0
INTERVAL = 0.2


class Watch:
    """Called with every step of an assessment; shows it once the work has taken a second."""

    def __init__(self) -> None:
        self._step = "reading"
        self._work: Measurable | None = None
        self._done = threading.Event()
        self._console = Console(stderr=True)
        self._thread = threading.Thread(target=self._show, daemon=True)

    def __call__(self, step: str, work: Measurable | None) -> None:
        self._step, self._work = step, work

    def __enter__(self) -> Watch:
        if self._console.is_terminal:
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
        if self._done.wait(PATIENCE):
            return
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TimeElapsedColumn(),
            TextColumn("left at most:"),
            TimeRemainingColumn(),
        )
        with (
            suppress(Exception),  # a bar that fails must not say a word, nor end the work
            Progress(*columns, console=self._console, transient=True) as bar,
        ):
            step, task = self._step, bar.add_task(self._step, total=None)
            while not self._done.wait(INTERVAL):
                if self._step != step:  # the remaining time is estimated from the pace of this step
                    step = self._step
                    bar.reset(task)
                share = self._work.progress() if self._work else -1.0
                bar.update(
                    task,
                    description=step,
                    total=100.0 if share >= 0 else None,
                    completed=max(share, 0.0),
                )
