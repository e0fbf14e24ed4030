"""A source opened on an engine: every record of it accounted for, nothing left behind."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sievert import csvfile
from sievert.errors import ExhaustedError, InputError, UsageError, unknown
from sievert.scratch import private_directory
from sievert.table import Table, open_table

if TYPE_CHECKING:
    from sievert.counts.questions import Adapter, Questions

ENGINES = ("duckdb",)
OPTIONS = (
    "delimiter",
    "encoding",
    "types",
    "na",
    "max_unpacked",
    "engine",
    "memory",
    "threads",
    "temp",
)
MOST_THREADS = 1024
Steps = Callable[[str, "Questions | None"], None]


def nobody(_step: str, _questions: Questions | None) -> None:
    """Nobody watches the progress."""


@contextmanager
def opened(
    data: Any,
    *,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    types: Mapping[str, str] | None = None,
    na: Iterable[str] = (),
    max_unpacked: str | None = None,
    timeout: float | None = None,
    engine: str = "duckdb",
    memory: str | None = None,
    threads: int | None = None,
    temp: str | os.PathLike[str] | None = None,
    outputs: Iterable[Path] = (),
    verify: bool = False,
    watch: Steps = nobody,
    **other: Any,
) -> Iterator[tuple[Table, Questions]]:
    """Open a source on an engine; every record of it is accounted for, nothing stays behind."""
    for option in other:
        raise unknown("option", option, OPTIONS)
    if engine not in ENGINES:
        raise unknown("engine", engine, ENGINES)
    if threads is not None and not 1 <= threads <= MOST_THREADS:
        raise UsageError(f"--threads must be at least 1 and at most {MOST_THREADS}")
    if timeout is not None and not timeout > 0:
        raise UsageError("--timeout must be a positive number of seconds")
    from sievert.counts.duckdb import DuckDB
    from sievert.counts.questions import Questions

    started = time.monotonic()
    with private_directory(temp) as scratch:
        watch("reading", None)
        table = open_table(
            data,
            delimiter=delimiter,
            encoding=encoding,
            types=types,
            na=na,
            max_unpacked=max_unpacked,
            scratch=scratch,
        )
        if verify and table.stamp:  # before the engine reads a damaged page
            from sievert.verify import verify as verified

            watch("verifying", None)
            table = replace(table, verified=verified(table, table.original(Path(data))))
        adapter = DuckDB(table, scratch, memory=memory, threads=threads, outputs=tuple(outputs))
        try:
            with _deadline(timeout, started, adapter):
                questions = Questions(adapter)
                _account(table, questions.records)
                yield table, questions
            if isinstance(data, str | os.PathLike):
                table.unchanged(Path(data))
        finally:
            adapter.close()


@contextmanager
def _deadline(timeout: float | None, started: float, engine: Adapter) -> Iterator[None]:
    """Stop the engine when the time is up; what it was asked then ends with an error."""
    if timeout is None:
        yield
        return
    left = timeout - (time.monotonic() - started)
    late = ExhaustedError(f"not done within {timeout:g} seconds", hint="a longer --timeout")
    if left <= 0:
        raise late
    timer = threading.Timer(left, engine.interrupt)
    timer.daemon = True
    timer.start()
    try:
        yield
    except ExhaustedError:
        if time.monotonic() - started < timeout:
            raise  # memory, not time
        raise late from None
    finally:
        timer.cancel()
    if time.monotonic() - started > timeout:
        raise late


def _account(table: Table, read: int) -> None:
    """Records read must be records in the file; an empty table has nothing to measure."""
    if table.kind == "csv" and table.path is not None:
        with csvfile.called(table.name):
            counted = csvfile.count_records(table.path, table.delimiter or ",", len(table.columns))
        if counted != read:
            raise InputError(
                f"{table.name}: {read} records were read where the file has {counted}",
                hint="look for stray quotes and line ends",
            )
    if read == 0:
        raise InputError(f"{table.name}: 0 records; nothing to measure")
