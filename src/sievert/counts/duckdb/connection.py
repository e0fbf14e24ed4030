"""How DuckDB is opened: locked down, so that it reads the table's own files and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import duckdb

from sievert.counts.duckdb.reading import engine_memory, literal
from sievert.sources.table import Table

CONFIGURATION = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
LOCK = "SET enable_external_access = false; SET lock_configuration = true"
SMALL = 100_000  # records of a frame in memory, up to which the engine has nothing to spill
SMALL_FILE = 1 << 20  # bytes


@cache
def shared_engine() -> duckdb.DuckDBPyConnection:
    """One locked engine for all small frames: it starts in 20 ms, a connection to it in half a one.

    It reads and writes no files and has no threads of its own. Every table gets a connection of its
    own, whose temporary tables no other connection sees and which end with it.
    """
    engine = duckdb.connect(":memory:", config={**CONFIGURATION, "threads": "1"})
    engine.execute(f"SET temp_directory = ''; {LOCK}")
    return engine


def is_small(table: Table) -> bool:
    """Whether the caller's own values are few; what only streams is not counted beforehand."""
    values = next(iter(table.data.values()), ()) if table.kind == "columns" else table.data
    in_memory = table.kind in ("columns", "frame") and hasattr(values, "__len__")
    return in_memory and len(values) < SMALL


def own_engine(table: Table) -> duckdb.DuckDBPyConnection:
    """An engine for one table, not locked yet; for a small text it starts no threads of its own."""
    files = _files(table) if table.kind == "csv" else ()
    small = files and sum(path.stat().st_size for path in files if path.exists()) < SMALL_FILE
    return duckdb.connect(
        ":memory:", config={**CONFIGURATION, **({"threads": "1"} if small else {})}
    )


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
        "enable_progress_bar": "true",
        "enable_progress_bar_print": "false",
        # In this order, or the engine refuses: first what may be read and written, then the lock.
        "allowed_paths": f"[{', '.join(literal(str(p)) for p in (*inputs, *outputs))}]",
    }
    given = [f"SET {name} = {value}; " for name, value in settings.items() if value is not None]
    return "".join(given) + LOCK
