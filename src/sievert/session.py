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

from sievert import csvfile, isolation
from sievert.errors import ExhaustedError, InputError, UsageError, unknown
from sievert.scratch import private_directory
from sievert.table import MOST_COLUMNS, Table, open_table, too_wide

if TYPE_CHECKING:
    from sievert.counts.questions import Adapter, Questions

ENGINES = ("duckdb",)
OPTIONS = (
    "delimiter",
    "encoding",
    "types",
    "na",
    "header",
    "max_unpacked",
    "max_field",
    "max_columns",
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
    header: bool = True,
    max_unpacked: str | None = None,
    max_field: str | int | None = None,
    max_columns: int = MOST_COLUMNS,
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
    if timeout is not None:
        isolation.until(timeout)
    with private_directory(temp) as scratch:
        isolation.tidy(scratch.parent)
        if isinstance(data, str | os.PathLike):
            isolation.reading(Path(data).name)
        watch("reading", None)
        table = open_table(
            data,
            delimiter=delimiter,
            encoding=encoding,
            types=types,
            na=na,
            header=header,
            max_unpacked=max_unpacked,
            max_field=max_field,
            max_columns=max_columns,
            scratch=scratch,
        )
        if verify and table.stamp:  # before the engine reads a damaged page
            from sievert.verify import verify as verified

            watch("verifying", None)
            table = replace(table, verified=verified(table, table.original(Path(data))))
        adapter = DuckDB(table, scratch, memory=memory, threads=threads, outputs=tuple(outputs))
        try:
            with _deadline(timeout, started, adapter):
                if len(adapter.columns) > max_columns:
                    raise too_wide(table.name, len(adapter.columns), max_columns)
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
    if table.scan is not None and table.scan.records != read:
        assert table.path is not None and table.delimiter is not None
        with csvfile.called(table.name):  # names the line, if a line is to blame
            csvfile.count_fields(
                table.path, table.delimiter, len(table.columns), csvfile.FIELD_LIMIT
            )
        raise InputError(
            f"{table.name}: {read} records were read where the file has {table.scan.records}",
            hint="look for stray quotes and line ends",
        )
    if read == 0:
        raise InputError(f"{table.name}: 0 records; nothing to measure")
