"""What every run over a table has: a clock, a policy, a reading of missing values, a summary."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sievert.errors import ExhaustedError, InputError, unknown
from sievert.formatting import plural
from sievert.session import Measurable, Steps, open_source
from sievert.sources.table import Table

if TYPE_CHECKING:
    from sievert.counts.questions import Questions
    from sievert.policy import Policy

MOST_LISTED = 60  # columns
MISSING = ("value", "wildcard", "drop", "error")


class Clock:
    """Seconds of each step, passed on to whoever shows progress."""

    def __init__(self, steps: dict[str, float], watch: Steps) -> None:
        self.steps, self.watch = steps, watch
        self.peaks: dict[str, int] = {}
        self.step, self.since = "", time.perf_counter()

    def __call__(self, step: str, work: Measurable | None) -> None:
        self.stop()
        self.step = step
        self.watch(step, work)

    def stop(self) -> None:
        """End the step that is running."""
        now = time.perf_counter()
        if self.step:
            self.steps[self.step] = self.steps.get(self.step, 0.0) + now - self.since
            self.peaks[self.step] = _peak_memory()
        self.step, self.since = "", now


class Reading:
    """Tables read one after the other, in the time that there is for all of them."""

    def __init__(self, clock: Clock, source: Mapping[str, Any], large: int) -> None:
        self.clock, self.source, self.large = clock, source, large
        self.started = time.monotonic()

    @contextmanager
    def __call__(self, data: Any, **options: Any) -> Iterator[tuple[Table, Questions]]:
        """A table, read in the time that is left for it."""
        options = {**self.source, **options}
        whole = options.get("timeout")
        late = ExhaustedError(f"not done within {whole or 0:g} seconds", hint="a longer --timeout")
        if whole is not None and whole > 0:
            options["timeout"] = left = whole - (time.monotonic() - self.started)
            if left <= 0:
                raise late
        try:
            with open_source(data, watch=self.clock, large=self.large, **options) as (
                table,
                questions,
            ):
                yield table, questions
        except ExhaustedError:
            if whole is None or time.monotonic() - self.started < whole:
                raise  # memory, not time
            raise late from None


def _peak_memory() -> int:
    """The most bytes this process has held at once so far; 0 where that cannot be told."""
    try:
        import resource
    except ImportError:
        return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else 1024 * most


def house_policy(policy: Any) -> Policy | None:
    """A policy from whatever stands for one."""
    if policy is None:
        return None
    from sievert import policy as policies

    if isinstance(policy, policies.Policy):
        return policy
    return (
        policies.parse_policy(policy)
        if isinstance(policy, Mapping)
        else policies.read_policy(policy)
    )


def treat_missing(missing: str, questions: Questions, quasi: Sequence[str]) -> int:
    """Apply the chosen reading of missing quasi-identifiers; returns how many records it drops."""
    if missing not in MISSING:
        raise unknown("--missing:", missing, MISSING)
    if missing == "error" and (lacking := questions.missing(quasi)):
        counts = ", ".join(f"{c!r} in {plural(n, 'record')}" for c, n in lacking.items())
        raise InputError(f"a quasi-identifier is missing: {counts}", hint="another --missing")
    if missing != "drop":
        return 0
    dropped = questions.drop_missing(quasi)
    if questions.records == 0:
        raise InputError("every record lacks a quasi-identifier: nothing is left to measure")
    return dropped


def description(table: Table, questions: Questions) -> dict[str, Any]:
    """What was read, as it stands in the JSON."""
    found: dict[str, Any] = {
        "name": table.name,
        "kind": table.kind,
        "rows": questions.records,
        "columns": len(questions.columns),
        "engine": questions.engine.name,
    }
    if table.kind == "csv":
        found |= {"delimiter": table.delimiter, "encoding": table.encoding}
    if table.compression:
        found["compression"] = table.compression
    if table.na:
        found["na_codes"] = len(table.na)
    if table.scan is not None and table.scan.blank_lines:
        found["blank_lines"] = table.scan.blank_lines
    return found


def described(table: Table, questions: Questions) -> dict[str, Any]:
    """The same, and whether a file was verified."""
    found = description(table, questions)
    if table.stamp:  # a file
        found["verified"] = False if table.verified is None else dict(table.verified)
    return found
