"""The steps of a command: their seconds and memory, how far they are, and the end of the time."""

import math
import time
from collections.abc import Callable
from typing import Any

from sievert.errors import ExhaustedError
from sievert.numerics.machine import peak_memory
from sievert.session import Measurable, Steps


class Clock:
    """Seconds of each step, passed on to whoever shows progress."""

    def __init__(self, watch: Steps) -> None:
        self.watch = watch
        self.steps: dict[str, float] = {}
        self.peaks: dict[str, int] = {}
        self.step, self.since = "", time.perf_counter()
        self.deadline = math.inf

    def __call__(self, step: str, work: Measurable | None) -> None:
        self.stop()
        self.step = step
        self.watch(step, work)

    def stop(self) -> dict[str, Any]:
        """End the step that is running; the seconds and the memory of all steps so far."""
        now = time.perf_counter()
        if self.step:
            self.steps[self.step] = self.steps.get(self.step, 0.0) + now - self.since
            self.peaks[self.step] = peak_memory()
        self.step, self.since = "", now
        return {"timings": self.steps, "peaks": self.peaks}

    def count(self, step: str, expected: int) -> Callable[[], None]:
        """Begin a step of so many parts; to be called at each, which ends the work in time."""
        counter = PartCounter(expected, self.deadline)
        self(step, counter)
        return counter


class PartCounter:
    """Counts the parts of a step that have begun; an error once the time is up."""

    def __init__(self, expected: int, deadline: float) -> None:
        self.expected, self.deadline, self.begun = expected, deadline, 0

    def __call__(self) -> None:
        self.begun += 1
        if time.monotonic() > self.deadline:
            raise ExhaustedError("stopped before the answer was there", hint="a longer --timeout")

    def progress(self) -> float:
        """Per cent of the parts that have begun before."""
        return min(100.0, 100.0 * max(0, self.begun - 1) / max(1, self.expected))
