"""Work shared by threads, and its progress."""

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from sievert.counts.packed.coding import GrownError, UnfitError
from sievert.errors import ExhaustedError

WORTH_THREADS = 1 << 16  # numbers from which it is worth to start threads


class Pace:
    """The progress of a count, and whether it must stop."""

    def __init__(self) -> None:
        self.stopped = threading.Event()
        self._done = 0
        self._all = 0

    def start(self, batches: list[Any]) -> list[Any]:
        """Start a count that will read these batches."""
        self._done = 0
        self._all = len(batches)
        return batches

    def step(self) -> None:
        """Note that another batch is about to be read; raise an error if the count must stop."""
        self._done += 1
        if self.stopped.is_set():
            raise ExhaustedError("stopped before the answer was there", hint="a longer --timeout")

    @property
    def share(self) -> float:
        """The per cent of the batches that are read, or -1."""
        return 100.0 * self._done / self._all if 0 < self._done < self._all else -1.0


def map_threads(
    work: Callable[[Any], Any], items: Iterable[Any], threads: int, pace: Pace | None = None
) -> list[Any]:
    """Do the work on every item in some threads; a failure in one thread stops all."""
    items = list(items)
    if len(items) <= 1 or threads == 1:
        return [work(item) for item in items]
    with ThreadPoolExecutor(threads) as pool:
        try:
            return list(pool.map(work, items))
        except BaseException as error:
            if pace is not None and not isinstance(error, GrownError | UnfitError):
                pace.stopped.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
