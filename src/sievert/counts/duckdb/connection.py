"""How DuckDB is opened: locked down, so that it reads the table's own files and nothing else."""

import os
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import ClassVar

import duckdb

from sievert.counts.duckdb.reading import engine_memory, literal
from sievert.numerics import machine
from sievert.sources.table import Table

CONFIGURATION = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
LOCK = "SET enable_external_access = false; SET lock_configuration = true"
SMALL = 100_000  # records of a frame in memory up to which the engine has nothing to spill
SMALL_FILE = 1 << 20  # bytes


@cache
def shared_engine() -> duckdb.DuckDBPyConnection:
    """One locked engine for all small frames: it starts in 20 ms, a connection to it in 0.5 ms.

    It reads and writes no files and has no threads of its own. Every table gets a connection of its
    own. No other connection sees its temporary tables, and they end with it.
    """
    engine = duckdb.connect(":memory:", config={**CONFIGURATION, "threads": "1"})
    engine.execute(f"SET temp_directory = ''; {LOCK}")
    return engine


def is_small(table: Table) -> bool:
    """Whether the caller's own values are few; a stream is not counted beforehand."""
    values = next(iter(table.data.values()), ()) if table.kind == "columns" else table.data
    in_memory = table.kind in ("columns", "frame") and hasattr(values, "__len__")
    return in_memory and len(values) < SMALL


class FileEngine:
    """A locked engine that reads small files, one at a time, and only its own copy of each.

    The copy is in memory and has no name in any directory, so nothing is left behind. An engine
    reads the next file, on a connection of its own, unless a question to it failed.
    """

    # By process: a child that was forked has engines of its own.
    idle: ClassVar["defaultdict[int, list[FileEngine]]"] = defaultdict(list)

    _copy = -1  # the number of the file; negative until there is one

    def __init__(self) -> None:
        self._copy, self.path = machine.memory_file()
        self._engine = duckdb.connect(":memory:", config={**CONFIGURATION, "threads": "1"})
        self._engine.execute(
            "SET temp_directory = ''; SET enable_external_file_cache = false; "
            f"SET allowed_paths = [{literal(str(self.path))}]; {LOCK}"
        )
        self.connection = self._engine

    @classmethod
    def borrow(cls, table: Table) -> "FileEngine | None":
        """Take an idle engine, with a copy of the table's file; None for other and large files."""
        paths = _files(table)
        one = table.kind in ("csv", "parquet") and not table.member and len(paths) == 1
        fits = one and machine.has_memory_files() and paths[0].is_file()
        if not (fits and _size(table) < SMALL_FILE):
            return None
        try:
            engine = cls.idle[os.getpid()].pop()
        except IndexError:
            engine = cls()
        engine.connection = engine._engine.cursor()
        try:
            with open(engine._copy, "wb", closefd=False) as copy:
                copy.write(paths[0].read_bytes())
            if table.kind == "csv" or engine._count_rows() < SMALL:
                return engine
        except (OSError, duckdb.Error):  # no room for the copy, or a damaged file
            pass
        engine.give_back(sound=False)
        return None

    def _count_rows(self) -> int:
        """Count the rows of a Parquet file, which may be many for its size."""
        sql = f"SELECT num_rows FROM parquet_file_metadata({literal(str(self.path))})"
        ((rows,),) = self.connection.execute(sql).fetchall()
        return int(rows)

    def give_back(self, *, sound: bool) -> None:
        """Forget the file; the engine waits for the next one if it is sound, and else ends."""
        self.connection.close()  # if its user has not done so
        os.ftruncate(self._copy, 0)
        os.lseek(self._copy, 0, os.SEEK_SET)
        if sound:
            self.idle[os.getpid()].append(self)
        else:
            self._engine.close()

    def __del__(self) -> None:
        """Close the copy, if a signal did not come before it was made."""
        if self._copy >= 0:
            os.close(self._copy)


@dataclass
class OpenedTable:
    """A connection for a table, the table as the engine sees it, and the engine to give back."""

    connection: duckdb.DuckDBPyConnection
    table: Table
    lent: FileEngine | None = None

    def close(self, *, sound: bool) -> None:
        """Let go of the table; a sound engine that was lent reads the next one."""
        self.connection.close()
        lent = self.lent
        self.lent = None
        if lent is not None:
            lent.give_back(sound=sound)


def open_engine(
    table: Table, scratch: Path, memory: str | None, threads: int | None, outputs: Sequence[Path]
) -> OpenedTable:
    """Open a connection for a table: to an engine for small files, a shared engine, or its own."""
    plain = memory is None and threads is None and not outputs
    lent = FileEngine.borrow(table) if plain else None
    if lent is not None:
        return OpenedTable(lent.connection, replace(table, path=lent.path, parts=()), lent)
    if plain and is_small(table):
        return OpenedTable(shared_engine().cursor(), table)
    engine = own_engine(table)
    engine.execute(lock_down(table, scratch, memory, threads, outputs))
    return OpenedTable(engine, table)


def _size(table: Table) -> int:
    return sum(path.stat().st_size for path in _files(table) if path.exists())


def own_engine(table: Table) -> duckdb.DuckDBPyConnection:
    """An engine for one table, not locked yet; for a small text it starts no threads of its own."""
    configuration: dict[str, str | bool | int | float | list[str]] = {**CONFIGURATION}
    if table.kind == "csv" and _size(table) < SMALL_FILE:
        configuration["threads"] = "1"
    engine = duckdb.connect(":memory:", config=configuration)
    _measure_progress(engine)
    return engine


def _measure_progress(engine: duckdb.DuckDBPyConnection) -> None:
    """Let `engine` tell how much of a query is done, and draw nothing itself.

    In Jupyter without ipywidgets it always refuses this. Then only the share that is done stays
    unknown.
    """
    with suppress(duckdb.InvalidInputException):
        engine.execute("SET enable_progress_bar = true; SET enable_progress_bar_print = false")


def _files(table: Table) -> tuple[Path, ...]:
    return table.parts or tuple(p for p in (table.path,) if p is not None)


def lock_down(
    table: Table, scratch: Path, memory: str | None, threads: int | None, outputs: Sequence[Path]
) -> str:
    """Statements that let an engine read the table, write the outputs, spill, and nothing else."""
    inputs = _files(table)
    if table.kind == "duckdb":
        inputs += (Path(f"{table.path}.wal"),)
    settings = {
        "temp_directory": literal(str(scratch)),
        "threads": threads,
        "memory_limit": memory and literal(engine_memory(memory)),
        # In this order, or the engine refuses: first what may be read and written, then the lock.
        "allowed_paths": f"[{', '.join(literal(str(p)) for p in (*inputs, *outputs))}]",
    }
    given = [f"SET {name} = {value}; " for name, value in settings.items() if value is not None]
    return "".join(given) + LOCK
