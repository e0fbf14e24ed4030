"""The DuckDB adapter: opens a source, locks the connection down, answers integer questions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

from sievert import csvfile
from sievert.counts.questions import quoted
from sievert.errors import (
    EngineError,
    ExhaustedError,
    InputError,
    SievertError,
    UsageError,
    unknown,
)
from sievert.table import Table

SQL_TYPES = {"text": "VARCHAR", "int": "BIGINT", "float": "DOUBLE", "date": "DATE"}
NESTED = re.compile(r"^(STRUCT|MAP|UNION|VARIANT)|\[\d*\]$")
ORDERED = re.compile(r"^(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?$|DECIMAL|DOUBLE|FLOAT|DATE|TIME)")
_traced: list[tuple[str, list[Any], bool]] | None = None


@contextmanager
def trace() -> Iterator[list[tuple[str, list[Any], bool]]]:
    """Collect every statement (sql, parameters, fetched) that runs inside the block."""
    global _traced
    _traced = []
    try:
        yield _traced
    finally:
        _traced = None


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


class _Stream:
    """Shows a frame only through the Arrow interface, so that pyarrow is not needed to read it."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._frame.__arrow_c_stream__(requested_schema)


class DuckDB:
    """One table on DuckDB, in memory, spilling to a private directory."""

    name = "duckdb"

    def __init__(
        self,
        table: Table,
        scratch: Path,
        *,
        memory: str | None = None,
        threads: int | None = None,
        outputs: Sequence[Path] = (),
    ) -> None:
        self.table = table
        self._connection = duckdb.connect(
            ":memory:",
            config={
                "autoinstall_known_extensions": "false",
                "autoload_known_extensions": "false",
                "custom_user_agent": "",
            },
        )
        paths = [str(p) for p in (table.path, *outputs) if p is not None]
        self.run(f"SET temp_directory = {_text(str(scratch))}")
        if threads is not None:
            self.run(f"SET threads = {int(threads)}")
        if memory is not None:
            self._set_memory(memory)
        self.run("SET perfect_ht_threshold = 24")
        if paths:
            self.run(f"SET allowed_paths = [{', '.join(_text(p) for p in paths)}]")
        self.run("SET enable_external_access = false")
        self.run("SET lock_configuration = true")
        self._open()

    def _set_memory(self, memory: str) -> None:
        if not re.fullmatch(r"\d+(\.\d+)?\s*([KMGT]i?B|[KMGT]i?|B)?", memory, re.IGNORECASE):
            raise UsageError("--memory is not a size", hint="--memory 4GB")
        unit = memory if memory.strip()[-1:] in "bB" else memory + "B"
        self.run(f"SET memory_limit = {_text(unit if memory[-1:].isalpha() else memory + 'B')}")

    # -- opening --------------------------------------------------------------------------------

    def _open(self) -> None:
        table, source = self.table, self._source()
        described = self.rows(f"DESCRIBE SELECT * FROM {source}")
        self.columns = table.columns or tuple(name for name, *_ in described)
        engine_types = [str(kind) for _, kind, *_ in described]
        for column in table.types:
            if column not in self.columns:
                raise unknown("--type: column", column, self.columns)
        self.kinds = dict(zip(self.columns, engine_types, strict=True))
        select = []
        for i, (name, kind) in enumerate(zip(self.columns, engine_types, strict=True)):
            select.append(f"{self._expression(described[i][0], name, kind)} AS c{i}")
        self.run(f"CREATE TEMP VIEW input AS SELECT {', '.join(select)} FROM {source}")

    def _expression(self, engine_name: str, name: str, kind: str) -> str:
        """A column as it is compared: typed where the user says so, NaN missing, -0 = 0."""
        value = quoted(engine_name)
        if kind == "VARCHAR" and self.table.na and self.table.kind != "csv":
            codes = ", ".join(_text(code) for code in self.table.na)
            value = f"CASE WHEN {value} IN ({codes}) THEN NULL ELSE {value} END"
        wanted = self.table.types.get(name)
        if wanted is not None:
            value, kind = f"CAST({value} AS {SQL_TYPES[wanted]})", SQL_TYPES[wanted]
            self.kinds[name] = kind
        if kind in ("DOUBLE", "FLOAT"):
            value = f"CASE WHEN isnan({value}) THEN NULL ELSE {value} + 0.0 END"
        return value

    def _source(self) -> str:
        table = self.table
        if table.kind == "csv":
            names = ", ".join(f"{_text(c)}: 'VARCHAR'" for c in table.columns)
            na = ", ".join(_text(code) for code in ("", *table.na))
            return (
                f"read_csv({_text(str(table.path))}, auto_detect=false, header=true, "
                f"delim={_text(table.delimiter or ',')}, quote='\"', escape='\"', "
                f"columns={{{names}}}, nullstr=[{na}], allow_quoted_nulls=false, "
                f"strict_mode=true, null_padding=false, ignore_errors=false, "
                f"max_line_size={4 * csvfile.FIELD_LIMIT})"
            )
        if table.kind == "parquet":
            return f"read_parquet({_text(str(table.path))})"
        if table.kind == "columns":
            self.load("given", {n: _typed(n, v) for n, v in table.data.items()})
            return "given"
        frame = table.data
        self._connection.register(
            "given", frame if type(frame).__module__.startswith("pandas") else _Stream(frame)
        )
        return "given"

    def usable(self, column: str) -> None:
        """Lists and structures have no single value to compare."""
        if NESTED.search(self.kinds[column]):
            raise UsageError(
                f"column {column!r} is nested ({self.kinds[column].partition('(')[0]})",
                hint="a column of plain values",
            )

    def is_ordered(self, column: str) -> bool:
        """Whether the values have an order of their own: numbers, dates, ordered categories."""
        return column in self.table.ordered or bool(ORDERED.search(self.kinds[column]))

    # -- asking ---------------------------------------------------------------------------------

    def run(self, sql: str, parameters: Sequence[Any] = ()) -> None:
        self._execute(sql, parameters, fetched=False)

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self._guard(lambda: self._execute(sql, parameters, fetched=True).fetchall())

    def arrays(self, sql: str) -> list[Any]:
        found = self._guard(lambda: self._execute(sql, (), fetched=True).fetchnumpy())
        return list(found.values())

    def _execute(self, sql: str, parameters: Sequence[Any], *, fetched: bool) -> Any:
        if _traced is not None:
            _traced.append((sql, list(parameters), fetched))
        return self._guard(lambda: self._connection.execute(sql, list(parameters)))

    def load(self, table: str, columns: Mapping[str, tuple[str, Sequence[Any]]]) -> None:
        select = ", ".join(
            f"unnest(CAST(? AS {SQL_TYPES.get(kind, kind)}[])) AS {quoted(name)}"
            for name, (kind, _) in columns.items()
        )
        self.run(f"CREATE TEMP TABLE {table} AS SELECT {select}", [list(v) for _, v in columns.values()])

    def write(self, sql: str, path: Path, kind: str) -> None:
        options = "FORMAT csv, HEADER true" if kind == "csv" else "FORMAT parquet"
        self.run(f"COPY ({sql}) TO {_text(str(path))} ({options}, USE_TMP_FILE false)")

    def progress(self) -> float:
        """Share of the running query that is done, or -1."""
        return float(self._connection.query_progress())

    def close(self) -> None:
        self._connection.close()

    # -- dialect --------------------------------------------------------------------------------

    def downwards(self, value: str) -> str:
        return f"list_sort(list({value}), 'DESC')"

    def ordered(self, value: str, by: str) -> str:
        return f"list({value} ORDER BY {by})"

    def pairs(self, first: str, second: str) -> str:
        return f"list({{'n': {first}, 'ns': {second}}})"

    def each_pair(self, table: str) -> str:
        unnested = f"SELECT nq, unnest(held) AS p FROM {table}"
        return f"SELECT nq, p.n AS n, p.ns AS ns FROM ({unnested}) AS u"

    def gap(self, records: int, wide: bool) -> str:
        n, ns = ("CAST(x.n AS HUGEINT)", "CAST(x.ns AS HUGEINT)") if wide else ("x.n", "x.ns")
        term = f"greatest(0, {n} * {records} - {ns} * nq)"
        return f"list_sum(list_transform(held, lambda x: {term}))"

    def as_text(self, value: str) -> str:
        return f"CAST({value} AS VARCHAR)"

    # -- failing --------------------------------------------------------------------------------

    def _guard(self, ask: Any) -> Any:
        try:
            return ask()
        except duckdb.Error as error:
            raise self._explain(error) from error
        except MemoryError as error:
            raise ExhaustedError("out of memory", hint="a larger --memory") from error

    def _explain(self, error: duckdb.Error) -> SievertError:
        """The engine's message may repeat a line of the data: only its kind and line are kept."""
        message, name = str(error), self.table.name
        line = re.search(r"CSV Error on Line: (\d+)", message)
        where = f"{name}, line {line[1]}" if line else name
        if "Expected Number of Columns" in message:
            fields = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", message)
            what = f"{fields[2]} fields where the header has {fields[1]}" if fields else "ragged"
            return InputError(f"{where}: {what}", hint="repair the line, or --delimiter")
        if "unterminated quote" in message:
            return InputError(f"{where}: a quoted field does not end", hint="repair the quotes")
        if "utf-8" in message or "unicode" in message:
            return InputError(f"{where}: not UTF-8 text", hint="--encoding latin-1 or cp1252")
        if isinstance(error, duckdb.ConversionException):
            return InputError(
                f"{name}: a value is not of the type given for its column ({self._unfit()})",
                hint="--type COL=text",
            )
        if isinstance(error, duckdb.OutOfMemoryException):
            return ExhaustedError(
                "memory or temporary space ran out", hint="a larger --memory, or --temp on a larger disk"
            )
        if self.table.kind == "csv" and line:
            return InputError(f"{where}: not readable as delimited text")
        if self.table.path and isinstance(error, duckdb.InvalidInputException | duckdb.IOException):
            return InputError(f"{name}: damaged, or not readable as {self.table.kind}")
        return EngineError(f"DuckDB failed on {name} ({type(error).__name__})", hint="--debug")

    def _unfit(self) -> str:
        """How many values of each typed column do not fit, by the column's name."""
        table, found = self.table, []
        source = self._source() if table.kind in ("csv", "parquet") else "given"
        for column, kind in table.types.items():
            value = quoted(column)
            sql = (
                f"SELECT COUNT(*) FROM {source} WHERE {value} IS NOT NULL "
                f"AND TRY_CAST({value} AS {SQL_TYPES[kind]}) IS NULL"
            )
            (wrong,) = self._connection.execute(sql).fetchall()[0]
            if wrong:
                found.append(f"{wrong} value(s) of column {column!r} are not {kind}")
        return "; ".join(found) or "unknown column"


def _typed(name: str, values: Sequence[Any]) -> tuple[str, list[Any]]:
    """A list of Python values with the type they have in common."""
    values = list(values)
    kinds = {type(v) for v in values if v is not None}
    for allowed, kind in (
        ({str}, "VARCHAR"),
        ({bool}, "BOOLEAN"),
        ({int}, "HUGEINT"),
        ({int, float}, "DOUBLE"),
    ):
        if kinds <= allowed:
            return kind, values
    try:
        kind = {"date": "DATE", "datetime": "TIMESTAMP", "Decimal": "VARCHAR"}[kinds.pop().__name__]
    except KeyError:
        kind = ""
    if kinds or not kind:
        raise InputError(f"column {name!r} holds values of mixed or unknown types")
    return kind, [str(v) for v in values] if kind == "VARCHAR" else values
