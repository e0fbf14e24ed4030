"""Opening a source on an engine, with every record accounted for; the clock of its steps."""

import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Unpack

from sievert.counts.adapter import Adapter
from sievert.counts.engines import Engine, check_options, choose_engine
from sievert.counts.memory_cells import MemoryCells
from sievert.counts.questions import Questions
from sievert.counts.suppression import Suppression
from sievert.errors import ExhaustedError, require, unknown
from sievert.numerics.acceleration import thread_count
from sievert.numerics.machine import peak_memory, physical_memory
from sievert.sources import isolation, unpack
from sievert.sources.options import ReaderOptions
from sievert.sources.state_manifest import StateManifest
from sievert.sources.table import Table, check_width, open_table, split_member

if TYPE_CHECKING:
    from sievert.counts.people import PeopleQuestions

LONGEST_RUN = 366 * 24 * 3600  # seconds: longer than a year is no limit
OPTIONS = tuple(ReaderOptions.__annotations__)
MOST_THREADS = 1024
SUPPRESSION_MARK = Suppression().mark


class Measurable(Protocol):
    """Work whose progress can be measured."""

    def progress(self) -> float:
        """The per cent that are done; -1 if that is not known."""


Steps = Callable[[str, Measurable | None], None]


def no_progress(_step: str, _work: Measurable | None) -> None:
    """Report no progress."""


class Clock:
    """Measures the seconds of each step, and passes steps on to `watch`, which shows progress."""

    def __init__(self, watch: Steps) -> None:
        self.watch = watch
        self.steps: dict[str, float] = {}
        self.peaks: dict[str, int] = {}
        self.step = ""
        self.since = time.perf_counter()
        self.deadline = math.inf

    def __call__(self, step: str, work: Measurable | None) -> None:
        self.stop()
        self.step = step
        self.watch(step, work)

    def stop(self) -> dict[str, Any]:
        """End the running step; return the seconds and the memory of all steps so far."""
        now = time.perf_counter()
        if self.step:
            self.steps[self.step] = self.steps.get(self.step, 0.0) + now - self.since
            self.peaks[self.step] = peak_memory()
        self.step = ""
        self.since = now
        return {"timings": self.steps, "peaks": self.peaks}

    def count(self, step: str, expected: int) -> Callable[[], None]:
        """Begin a step of `expected` parts; return a function to call at each part.

        The function raises an error once the time is up.
        """
        counter = PartCounter(expected, self.deadline)
        self(step, counter)
        return counter


class PartCounter:
    """Counts the parts of a step that have begun; raises an error once the time is up."""

    def __init__(self, expected: int, deadline: float) -> None:
        self.expected = expected
        self.deadline = deadline
        self.begun = 0

    def __call__(self) -> None:
        self.begun += 1
        if time.monotonic() > self.deadline:
            raise ExhaustedError("stopped before the answer was there", hint="a longer --timeout")

    def progress(self) -> float:
        """The per cent of the parts that began before the last one."""
        return min(100.0, 100.0 * max(0, self.begun - 1) / max(1, self.expected))


@contextmanager
def open_source(
    data: Any,
    *,
    outputs: Iterable[Path] = (),
    verify: bool = False,
    watch: Steps = no_progress,
    large: int | None = None,
    secrets: int = 1,
    states: bool = False,
    **options: Unpack[ReaderOptions],
) -> Iterator[tuple[Table, Questions]]:
    """Open a source on an engine; every record is accounted for, and nothing stays behind.

    Packed keys count tables of at least `large` records. By default a table must be large enough to
    load compiled code for this number of `secrets`. With `states`, the source may be a count state.
    """
    if large is None:
        large = (
            PACKED_FROM if "numba" in sys.modules else max(PACKED_FROM, LOADING // max(1, secrets))
        )
    engine, timeout = _check_options(data, options)
    started = time.monotonic()
    if timeout is not None:
        isolation.announce_deadline(timeout)
    with isolation.private_directory(options.get("temp")) as scratch:
        if isinstance(data, str | os.PathLike) and "://" not in str(data):
            isolation.announce_file(Path(data).name)
        watch("reading", None)
        table = open_table(data, scratch, remote=engine.fetches_addresses, **options)
        isolation.announce_file(table.name)
        if table.state is not None:
            table = _check_state(table, engine, verify=verify, accepted=states)
        elif verify and table.stamp:  # before the engine reads a damaged page
            from sievert.sources import checksums

            watch("verifying", None)
            table = replace(table, verified=checksums.verify(table, split_member(Path(data))[0]))
        adapter = engine.open(
            table,
            scratch,
            outputs=tuple(outputs),
            memory=options.get("memory"),
            threads=options.get("threads"),
            **check_options(engine, options),
        )
        try:
            running: list[Adapter | Questions] = [adapter]
            limit: AbstractContextManager[Callable[[], None]] = nullcontext(lambda: None)
            if timeout is not None:
                limit = _deadline(timeout, started, running)
            with limit as check:
                check_width(table.name, len(adapter.columns), options)
                questions = _questions(adapter, table, options, large)
                questions.suppression = Suppression(
                    mark=options.get("suppressed", SUPPRESSION_MARK),
                    kept=options.get("keep_suppressed", False),
                )
                questions.first_line = table.kind == "csv" and table.header
                running.append(questions)
                check()
                table.check_records(questions.records)
                yield table, questions
            if isinstance(data, str | os.PathLike):
                table.check_unchanged(Path(data))
        finally:
            adapter.close()


def _check_state(table: Table, engine: Engine, *, verify: bool, accepted: bool) -> Table:
    """The state's table; raise an error if the records themselves are needed."""
    require(
        accepted,
        "a count state stands where a table with its records is needed",
        hint="the table itself; assess, explain and protect accept a state",
    )
    require(
        engine.state_adapter is not None,
        f"the engine {engine.name} does not read a state",
        hint="no --engine",
    )
    require(
        not verify or not table.stamp or table.verified is not None,
        f"{table.name}: the state was made without --verify, or has changed since",
        hint="sievert count --verify, of the whole table",
    )
    return table if verify else replace(table, verified=None)


def _check_options(data: Any, options: ReaderOptions) -> tuple[Engine, float | None]:
    """The engine and the time limit; raise an error for a wrong option or value."""
    wrong = [option for option in options if option not in OPTIONS]
    if wrong:
        raise unknown("option", wrong[0], OPTIONS)
    engine = choose_engine(options.get("engine"), data)
    threads = options.get("threads")
    timeout = options.get("timeout")
    require(
        threads is None or 1 <= threads <= MOST_THREADS,
        f"--threads must be at least 1 and at most {MOST_THREADS}",
    )
    require(
        timeout is None or 0 < timeout <= LONGEST_RUN,
        f"--timeout must be a positive number of seconds, at most {LONGEST_RUN:,}",
    )
    for option, given in (
        ("--memory", options.get("memory")),
        ("--max-unpacked", options.get("max_unpacked")),
        ("--max-field", options.get("max_field")),
    ):
        if given:
            bytes_ = unpack.size(given, option)
            if option == "--memory" and not engine.own_processes:
                isolation.announce_memory(bytes_)
    mark = options.get("suppressed", SUPPRESSION_MARK)
    require(
        mark is None or (isinstance(mark, str) and "\0" not in mark),
        "--suppressed takes a text without NUL characters",
    )
    return engine, timeout


SMALL = 10_000  # records up to which fetching them takes less time than one statement
PACKED_FROM = 10_000  # records from which packed keys are faster, if their compiled code is loaded
LOADING = 10**6  # records times secrets from which loading the compiled code is worth it
SHARE = 0.6  # of the available memory, for packed keys
LOADED = 150 << 20  # bytes of the compiled code and the libraries that it needs


def _questions(adapter: Adapter, table: Table, options: ReaderOptions, large: int) -> Questions:
    """Make the questions about a table; records in memory answer what they can."""
    if table.state is not None:
        return _state_questions(adapter, table.state, options, large)
    questions = Questions(adapter, adapter.expected)
    if adapter.records_here:
        memory = _records_in_memory(questions, table, options, large)
        if memory is not None:
            questions.memory = memory
    return questions


def _records_in_memory(
    questions: Questions, table: Table, options: ReaderOptions, large: int
) -> MemoryCells | None:
    """Codes for a small table, packed keys for a larger one; None if the engine is better."""
    adapter = questions.engine
    records = questions.records
    if records < min(large, SMALL) and not options.get("memory"):
        from sievert.counts.coded import CodedTable

        return CodedTable(questions, adapter.kinds)
    memory = _room(options)
    if records < large or memory <= 0:
        return None
    try:
        from sievert.counts.packed.records import PackedRecords
        from sievert.counts.packed.sources import packable_source

        source = packable_source(table, adapter, adapter.columns, records)
    except (ImportError, OSError, RuntimeError, ValueError):
        # No numba or pyarrow, nowhere to keep compiled code, or a file that pyarrow cannot read.
        return None
    threads = thread_count(options.get("threads"))
    return PackedRecords(questions, source, int(SHARE * memory), threads)


def _room(options: ReaderOptions) -> int:
    """The memory for packed keys and for the work with them."""
    given = options.get("memory")
    return unpack.size(given, "--memory") - LOADED if given else physical_memory()


def _state_questions(
    adapter: Adapter, state: StateManifest, options: ReaderOptions, large: int
) -> Questions:
    """Make the questions about a state; packed keys answer what they can if it is large."""
    from sievert.counts.state.notes import StateNotes

    questions = Questions(adapter, state.records, StateNotes(state))
    memory = _room(options)
    if sum(segment.rows for segment in state.segments) >= large and memory > 0:
        # Without numba or pyarrow, or a place to keep compiled code, the engine answers.
        with suppress(ImportError, OSError, RuntimeError):
            from sievert.counts.packed.states import pack_state

            threads = thread_count(options.get("threads"))
            questions.memory = pack_state(questions, state, int(SHARE * memory), threads)
    return questions


def count_people(questions: Questions, person: str) -> "PeopleQuestions":
    """Make the questions about the people of a table; the same ones until records are left out."""
    from sievert.counts.people import PeopleQuestions

    people: PeopleQuestions | None = questions.in_people.get(person)
    if people is None:
        people = PeopleQuestions(questions, person)
    people.suppression = questions.suppression
    if questions.suppressed is not None:
        people.suppressed = questions.suppressed.of_people(person)
    questions.in_people[person] = people
    return people


@contextmanager
def _deadline(
    timeout: float, started: float, running: list[Adapter | Questions]
) -> Iterator[Callable[[], None]]:
    """Stop the running work when the time is up; a running question then ends with an error."""
    late = ExhaustedError(f"not done within {timeout:g} seconds", hint="a longer --timeout")

    def check() -> None:
        if time.monotonic() - started >= timeout:
            raise late

    check()
    left = started + timeout - time.monotonic()
    timer = threading.Timer(left, lambda: [work.interrupt() for work in running])
    timer.daemon = True
    timer.start()
    try:
        yield check
    except ExhaustedError:
        if time.monotonic() - started < timeout:
            raise  # memory, not time
        raise late from None
    finally:
        timer.cancel()
    check()
