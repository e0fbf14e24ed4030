"""What DuckDB's failures mean in our words.

Its messages repeat lines of the data, so only their kind and the line number are passed on.
"""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import duckdb

from sievert.counts.cells import quote_identifier
from sievert.counts.duckdb.reading import SQL_TYPES, fit_text, without_codes
from sievert.errors import EngineError, ExhaustedError, InputError, SievertError
from sievert.sources.table import Table

UNFIT_HINT = "--na CODE for what stands for missing, or --type COL=text"
NO_ROOM = re.compile("(?i)no space left|file too large|disk quota|could not write|cannot write")
Applies = Callable[[duckdb.Error, str, Table], object]
# The first row that applies to an error, its message and the table explains the failure.
FAILURES: tuple[tuple[Applies, type[SievertError], str, str | None], ...] = (
    (
        lambda _, message, __: "Expected Number of Columns" in message,
        InputError,
        "{where}: {ragged}",
        "repair the line, or --delimiter",
    ),
    (
        lambda _, message, __: "unterminated quote" in message,
        InputError,
        "{where}: a quoted field does not end",
        "repair the quotes",
    ),
    (
        lambda _, message, __: "utf-8" in message or "unicode" in message,
        InputError,
        "{where}: not UTF-8 text",
        "--encoding latin-1 or cp1252",
    ),
    (
        lambda _, message, __: "surrogate" in message,
        InputError,
        "a text is not valid Unicode (a lone surrogate)",
        "repair the text",
    ),
    (
        lambda error, _, __: isinstance(error, duckdb.ConversionException),
        InputError,
        "{name}: {unfit}",
        UNFIT_HINT,
    ),
    (
        lambda error, _, __: isinstance(error, duckdb.InterruptException),
        ExhaustedError,
        "stopped before the answer was there",
        "a longer --timeout",
    ),
    (
        lambda error, _, __: isinstance(error, duckdb.OutOfMemoryException),
        ExhaustedError,
        "memory or temporary space ran out",
        "a larger --memory, or --temp on a larger disk",
    ),
    (
        lambda _, message, __: NO_ROOM.search(message),
        ExhaustedError,
        "the disk is full: no room for output or temporary space",
        "--temp on a larger disk",
    ),
    (
        lambda error, _, table: (
            isinstance(error, duckdb.NotImplementedException) and not table.path
        ),
        InputError,
        "a column of the frame has a type that DuckDB does not read",
        "cast it to text",
    ),
    (
        lambda error, _, table: (
            table.kind == "csv" and isinstance(error, duckdb.InvalidInputException)
        ),
        InputError,
        "{where}: not readable as delimited text",
        "one kind of line end throughout",
    ),
    (
        lambda _, message, __: "lock on file" in message,
        EngineError,
        "{name}: in use by another program",
        "close it there",
    ),
    (
        lambda error, _, table: (
            table.path
            and (
                isinstance(error, duckdb.InvalidInputException | duckdb.IOException)
                or type(error) is duckdb.Error
            )
        ),
        InputError,
        "{name}: damaged, or not readable as {kind}",
        None,
    ),
    (lambda *_: True, EngineError, "DuckDB failed on {name} ({error})", "--debug"),
)


def explain(error: duckdb.Error, table: Table, connection: Any, behind: str) -> SievertError:
    """Describe a failure of the engine in our words, without a value of the data."""
    message = str(error)
    line = re.search(r"CSV Error on Line: (\d+)", message)
    fields = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", message)
    failure, what, hint = next(row[1:] for row in FAILURES if row[0](error, message, table))
    words = {
        "name": table.name,
        "where": f"{table.name}, line {line[1]}" if line else table.name,
        "ragged": f"{fields[2]} field(s) where the header has {fields[1]}" if fields else "ragged",
        "unfit": _count_unfit(table, connection, behind) if "{unfit}" in what else "",
        "kind": table.kind,
        "error": type(error).__name__,
    }
    return failure(what.format(**words), hint=hint)


def _count_unfit(table: Table, connection: Any, behind: str) -> str:
    counts = {}
    for column, kind in table.types.items():
        value = without_codes(table, quote_identifier(column))
        sql = (
            f"SELECT COUNT(*) FROM {behind} WHERE {value} IS NOT NULL "
            f"AND TRY_CAST({fit_text(value, kind)} AS {SQL_TYPES[kind]}) IS NULL"
        )
        with suppress(duckdb.Error):
            ((counts[column],),) = connection.execute(sql, []).fetchall()
    return describe_unfit(counts, table)


def describe_unfit(counts: Mapping[str, int], table: Table) -> str:
    """Say how many values of each typed column do not fit, by the column's name."""
    columns = (
        f"{n} value(s) of column {column!r} are not {table.types[column]}"
        for column, n in counts.items()
        if n
    )
    return "; ".join(columns) or "a value does not fit the type of its column"
