"""How DuckDB reads each kind of table.

The engine infers nothing: it gets the names, the delimiter, and text as the type of CSV columns.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sievert.counts.adapter import ColumnKind
from sievert.counts.cells import quote_identifier
from sievert.errors import InputError, UsageError, require, unknown
from sievert.formatting.remarks import Remark
from sievert.sources.columns import check_names
from sievert.sources.table import Table, note_not_read
from sievert.sources.unpack import size

SQL_TYPES = {"text": "VARCHAR", "int": "BIGINT", "float": "DOUBLE", "date": "DATE"}
AS_READ: tuple[str | None, str | None] = (None, None)  # no codes for missing, and no types
NESTED = re.compile(r"^(STRUCT|MAP|UNION|VARIANT|GEOMETRY)|\[\d*\]$")
ORDERED = re.compile(r"^(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?$|DECIMAL|DOUBLE|FLOAT|DATE|TIME)")
COPY = {
    "csv": "FORMAT csv, HEADER true, USE_TMP_FILE false",
    "parquet": "FORMAT parquet, KV_METADATA {{sievert: 'records'}}, USE_TMP_FILE false",
    "release_csv": "FORMAT csv, HEADER {header}, DELIMITER {delimiter}, USE_TMP_FILE false",
    "state": "FORMAT parquet, COMPRESSION zstd, KV_METADATA {{sievert: 'state'}}, "
    "USE_TMP_FILE false",
    "release_parquet": "FORMAT parquet, USE_TMP_FILE false",
    "pairing": "FORMAT parquet, COMPRESSION zstd, KV_METADATA {{sievert: 'pairing', pairing: "
    "{details}}}, USE_TMP_FILE false",
}

LINE = 1 << 21
MOST_MEMORY = 1 << 60
SHARE = 0.6  # of the memory of a process; the rest is for work with the counts


def old_timestamps(column: str) -> Remark:
    """Say that a column has timestamps which are compared to the microsecond."""
    return Remark("old_timestamps", column=repr(column))


def copy_options(kind: str, *, delimiter: str = ",", header: bool = True, details: str = "") -> str:
    """The options of COPY for a kind of file; `details` is the footer of a pairing file."""
    return COPY[kind].format(delimiter=literal(delimiter), header=header, details=literal(details))


def literal(value: str) -> str:
    """Write a text as an SQL literal."""
    return "'" + value.replace("'", "''") + "'"


def engine_memory(given: str) -> str:
    """The memory that DuckDB may use of that of a process, as DuckDB spells it; it spills beyond.

    >>> engine_memory("2g")
    '1288490188B'
    """
    most = size(given, "--memory")
    require(0 < most < MOST_MEMORY, "--memory is not a size", hint="--memory 4GB")
    return f"{int(SHARE * most)}B"


class _Stream:
    """Shows a frame only through the Arrow interface, so that pyarrow is not needed to read it."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._frame.__arrow_c_stream__(requested_schema)


def source(engine: Any, table: Table) -> str:
    """The source of this table, as written after FROM."""
    if table.kind == "csv":
        names = ", ".join(f"{literal(c)}: 'VARCHAR'" for c in table.columns)
        return (
            f"read_csv({literal(str(table.path))}, auto_detect=false, "
            f"header={str(table.header).lower()}, compression='none', hive_partitioning=false, "
            f"delim={literal(table.delimiter or ',')}, quote='\"', escape='\"', "
            f"columns={{{names}}}, nullstr='', allow_quoted_nulls=false, "
            f"strict_mode=true, null_padding=false, ignore_errors=false, "
            f"max_line_size={max(LINE, table.scan.longest + 2 if table.scan else 0)})"
        )
    if table.kind == "parquet":
        keys = "true, hive_types_autocast=false" if table.member else "false"
        return f"read_parquet([{_files(table)}], hive_partitioning={keys}, union_by_name=true)"
    if table.kind == "duckdb":
        return _database_table(engine, table)
    if table.kind == "columns":
        columns = {name: _common_type(name, values) for name, values in table.data.items()}
        require(
            len({len(values) for _, values in columns.values()}) <= 1,
            "the columns differ in length",
            error=InputError,
        )
        engine.load("given", columns)
    else:
        pandas = type(table.data).__module__.startswith("pandas")
        engine.register("given", table.data if pandas else _Stream(table.data))
    return "given"


def lists(columns: Mapping[str, tuple[str, Any]]) -> str:
    """The fields of SELECT that turn lists, given as parameters, into columns."""
    return ", ".join(
        f"unnest(CAST(? AS {SQL_TYPES.get(kind, kind)}[])) AS {quote_identifier(name)}"
        for name, (kind, _) in columns.items()
    )


def _files(table: Table) -> str:
    return ", ".join(literal(str(p)) for p in table.parts or (table.path,))


def _parquet_names(engine: Any, table: Table) -> tuple[str, ...]:
    """The names of the columns of Parquet files, from their flattened trees of names."""
    sql = (
        "SELECT file_name, name, num_children, precision, type, converted_type "
        f"FROM parquet_schema([{_files(table)}])"
    )
    trees: dict[str, list[tuple[Any, ...]]] = {}
    for file, *node in engine.rows(sql):
        trees.setdefault(file, []).append(tuple(node))
    columns_by_file = [_branches(tree[1:]) for tree in trees.values()]
    other = sum(dict(nodes) != dict(columns_by_file[0]) for nodes in columns_by_file)
    require(
        other == 0,
        f"{table.name}: {other} of {len(trees)} files have other columns than the first",
        error=InputError,
    )
    for name, ((_, _, precision, kind, _), *_) in columns_by_file[0]:
        if precision is not None and precision > 38:
            engine.unusable[name] = f"has {precision} digits, and would be rounded"
        elif kind == "INT96":
            engine.notes.append(old_timestamps(name))
    keys = table.member.split("/") if table.member else []
    return check_names([*(name for name, _ in columns_by_file[0]), *keys], table.name)


def _branches(nodes: list[tuple[Any, ...]]) -> list[tuple[str, list[tuple[Any, ...]]]]:
    """The columns of a flattened tree, each with the nodes below it."""
    branches: list[tuple[str, list[tuple[Any, ...]]]] = []
    below = 0
    for node in nodes:
        if below:
            branches[-1][1].append(node)
            below += int(node[1] or 0) - 1
        else:
            branches.append((str(node[0]), [node]))
            below = int(node[1] or 0)
    return branches


def _database_table(engine: Any, table: Table) -> str:
    """A table of a DuckDB file, opened read-only; its views and macros are not executed."""
    engine.run(f"ATTACH {literal(str(table.path))} AS stored (READ_ONLY)")
    rows = engine.rows(
        "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = 'stored'"
    )
    tables = {f"{schema}.{name}": (schema, name) for schema, name in sorted(rows)}
    wanted = next(iter(tables)) if table.member is None and len(tables) == 1 else table.member
    if wanted is None:
        raise UsageError(
            f"{table.name}: which of its {len(tables)} tables?",
            hint=" or ".join(f"{table.name}?table={t}" for t in list(tables)[:5]) or "another file",
        )
    place = tables.get(wanted) or tables.get(f"main.{wanted}")
    if place is None:
        views = "SELECT schema_name, view_name FROM duckdb_views() WHERE database_name = 'stored'"
        names = {f"{schema}.{name}" for schema, name in engine.rows(views)}
        require(
            not names & {wanted, f"main.{wanted}"},
            f"{table.name}: {wanted!r} is a view, which is not read",
            hint="a table made of it",
        )
        raise unknown(f"{table.name}: table", wanted, tables)
    others = [_stored_name(other) for other in tables.values() if other != place]
    filled = sum(bool(engine.rows(f"SELECT 1 FROM {other} LIMIT 1")) for other in others)
    ((views,),) = engine.rows(
        "SELECT COUNT(*) FROM duckdb_views() WHERE database_name = 'stored' AND NOT internal"
    )
    engine.not_read = filled + views
    engine.notes += note_not_read(engine.not_read, "other table")
    return _stored_name(place)


def _stored_name(place: tuple[str, str]) -> str:
    """The SQL name of a table of the attached file."""
    return f"stored.{quote_identifier(place[0])}.{quote_identifier(place[1])}"


def _common_type(name: str, values: Any) -> tuple[str, list[Any]]:
    """The common type of Python values, and the list of the values."""
    require(
        not isinstance(values, str) and hasattr(values, "__iter__"),
        f"column {name!r} is not a list of values",
        error=InputError,
    )
    values = list(values)
    kinds = {type(v).__name__ for v in values if v is not None}
    for allowed, kind in (
        ({"str"}, "VARCHAR"),
        ({"bool"}, "BOOLEAN"),
        ({"int"}, "HUGEINT"),
        ({"int", "float"}, "DOUBLE"),
        ({"date"}, "DATE"),
        ({"datetime"}, "TIMESTAMP"),
    ):
        if kinds <= allowed:
            if kind == "DOUBLE" and any(abs(v) > 2**53 for v in values if isinstance(v, int)):
                break  # floats would make different integers equal
            return kind, values
    raise InputError(
        f"column {name!r} holds values of type {', '.join(sorted(kinds))}",
        hint="one type a column: text, numbers, dates or booleans",
    )


def view(engine: Any, table: Table) -> tuple[tuple[str, ...], dict[str, str], str]:
    """The columns, their types, and the query that names them c0, c1, ... as they are compared."""
    behind = engine.behind = source(engine, table)
    columns = _parquet_names(engine, table) if table.kind == "parquet" else table.columns
    described = engine.rows(f"DESCRIBE SELECT * FROM {behind}")
    columns = columns or check_names([str(row[0]) for row in described], table.name)
    table.check_types(columns)
    typed = {
        n: (quote_identifier(str(row[0])), str(row[1]))
        for n, row in zip(columns, described, strict=True)
    }
    if table.na:
        raw = ", ".join(f"{value} AS c{i}" for i, (value, _) in enumerate(typed.values()))
        engine.uncoded = f"SELECT {raw} FROM {behind}"
    if table.types:
        engine.untyped, _ = _select(replace(table, types={}), typed, behind)
    sql, kinds = _select(table, typed, behind)
    engine.nan_source = behind
    engine.nan = {
        n: f"CASE WHEN NOT ({_is_number(value)}) THEN 1 END"
        for n, pair in typed.items()
        for value, kind in [_typed_value(table, n, *pair)]
        if kind in FLOATS
    }
    return columns, kinds, sql


def _select(
    table: Table, typed: Mapping[str, tuple[str, str]], behind: str
) -> tuple[str, dict[str, str]]:
    compared = {n: _compared_value(table, n, value, kind) for n, (value, kind) in typed.items()}
    values = ", ".join(f"{value} AS c{i}" for i, (value, _) in enumerate(compared.values()))
    return f"SELECT {values} FROM {behind}", {n: kind for n, (_, kind) in compared.items()}


FLOATS = ("DOUBLE", "FLOAT")
# The form of texts of each type; a cast alone would round 1.4 to 1.
PATTERNS = {
    "int": r"[+-]?[0-9]+(\.0*)?",
    "float": r"(?i)[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?|[+-]?(inf|infinity|nan)",
    "date": r"[0-9]{4}-[0-9]{2}-[0-9]{2}",
}


def fit_text(value: str, wanted: str) -> str:
    """The text of a value if it fits the type, and otherwise a text that no cast accepts."""
    text = f"CAST({value} AS VARCHAR)"
    if wanted not in PATTERNS:
        return text
    fits = f"regexp_full_match({text}, {literal(PATTERNS[wanted])})"
    return f"CASE WHEN {value} IS NULL THEN NULL WHEN {fits} THEN {text} ELSE 'no' END"


def _compared_value(table: Table, name: str, value: str, kind: str) -> tuple[str, str]:
    """A column as it is compared: with the type that the user gives, NaN missing, -0 = 0."""
    value, kind = _typed_value(table, name, value, kind)
    if kind in FLOATS:
        value = f"CASE WHEN {_is_number(value)} THEN {value} + 0.0 END"
    return value, kind


def _is_number(value: str) -> str:
    """The condition of numbers: isnan() alone uses statistics of a Parquet file, which omit NaN."""
    return f"isfinite({value}) OR isinf({value})"


def without_codes(table: Table, value: str) -> str:
    """A value, or NULL if it is one of the codes for missing."""
    codes = ", ".join(literal(code) for code in table.na)
    text = f"CAST({value} AS VARCHAR)"
    return f"CASE WHEN {text} IN ({codes}) THEN NULL ELSE {value} END" if codes else value


def _typed_value(table: Table, name: str, value: str, kind: str) -> tuple[str, str]:
    """A column without codes for missing, with the type that the user gives."""
    value = without_codes(table, value)
    if name in table.types:
        kind = SQL_TYPES[table.types[name]]
        value = f"CAST({fit_text(value, table.types[name])} AS {kind})"
    if kind == "INTERVAL":  # 30 days are not a month
        value = f"CAST({value} AS VARCHAR)"
        kind = "VARCHAR"
    return value, kind


def check_usable(engine: Any, column: str) -> None:
    """Raise an error if the values of a column cannot be compared one by one, or lose digits."""
    kind = engine.kinds[column]
    if column in engine.unusable:
        raise InputError(f"column {column!r} {engine.unusable[column]}", hint="cast it to text")
    require(
        not NESTED.search(kind),
        f"column {column!r} is nested ({kind.partition('(')[0]})",
        hint="a column of plain values",
    )


def kind(engine: Any, column: str) -> ColumnKind:
    """Whether a column has text, floats, other values with an order, or neither."""
    sql_type = engine.kinds[column]
    if sql_type in FLOATS:
        return "float"
    if sql_type == "VARCHAR" or sql_type.startswith("ENUM"):
        return "text"
    return "ordered" if ORDERED.search(sql_type) else "other"


def read_arrow(engine: Any, columns: Sequence[str]) -> Iterator[Any]:
    """Read some columns of the input in Arrow batches."""
    names = (f"c{engine.columns.index(c)}" for c in columns)
    yield from stream(engine, f"SELECT {', '.join(names)} FROM input")


def stream(engine: Any, sql: str) -> Iterator[Any]:
    """Answer a query in Arrow batches, while the engine works on it."""
    from pyarrow import RecordBatchReader

    yield from RecordBatchReader.from_stream(engine.query(sql))
