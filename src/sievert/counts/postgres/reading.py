"""How a table of Postgres is found and read, and what the database's failures mean in our words.

The database compares values as DuckDB would: text byte by byte, NaN missing, -0 = 0, intervals and
numbers of any length as text. Its messages may repeat a value or a name, so only the code of a
failure is passed on.
"""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sievert.counts.cells import quote_identifier
from sievert.counts.duckdb.failures import UNFIT_HINT, describe_unfit
from sievert.counts.duckdb.reading import LINE, SQL_TYPES, fit_text, literal
from sievert.counts.postgres.values import PostgresColumn, spell
from sievert.errors import (
    EngineError,
    ExhaustedError,
    InputError,
    SievertError,
    UsageError,
    require,
    unknown,
)
from sievert.formatting.remarks import Remark
from sievert.sources.columns import check_names
from sievert.sources.table import Table

Ask = Callable[..., list[tuple[Any, ...]]]

OLDEST = 13
BUFFER = 1 << 20
SETTINGS = {  # unless the address says otherwise: seconds until a silent server is given up
    "application_name": "sievert",
    "connect_timeout": 15,
    "keepalives_idle": 60,
    "keepalives_interval": 10,
    "keepalives_count": 5,
}
BEGIN = (
    "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY; SET LOCAL datestyle = 'ISO'; "
    "SET LOCAL intervalstyle = 'postgres'; SET LOCAL extra_float_digits = 1; "
    "SET LOCAL standard_conforming_strings = on; SAVEPOINT asked"
)
REASONS = (
    ("(?i)password|authentication", "the password was refused, or none was given"),
    ("(?i)role +does not exist|no pg_hba", "the server does not admit this role from here"),
    ("(?i)database +does not exist", "the server has no such database"),
    ("(?i)resolve host|host name", "no such host"),
    ("(?i)refused|no such file", "no server listens there"),
    ("(?i)time", "no answer in time"),
    ("(?i)ssl|certificate", "no agreement on encryption"),
    ("(?i)too many|remaining connection|starting up|shutting down", "the server is busy"),
)
GRANT = "GRANT SELECT, or another role"
TIMED_OUT = ("57014", "25P03", "25P04", "55P03")  # of a statement, idling, a transaction, a lock
CHAR = "padded_text"  # the key of a remark
DIGITS = "plain_numeric"
HIDDEN = Remark("row_security")

# A type of Postgres as one of DuckDB; NUMERIC and INTERVAL travel in their own way, as text.
PLAIN = {
    "bool": "BOOLEAN",
    "int2": "SMALLINT",
    "int4": "INTEGER",
    "int8": "BIGINT",
    "oid": "UINTEGER",
    "float4": "FLOAT",
    "float8": "DOUBLE",
    "date": "DATE",
    "time": "TIME",
    "timetz": "TIME WITH TIME ZONE",
    "timestamp": "TIMESTAMP",
    "timestamptz": "TIMESTAMP WITH TIME ZONE",
    "uuid": "UUID",
    "bytea": "BLOB",
    "interval": "INTERVAL",
    "char": "VARCHAR",
    "xml": "VARCHAR",
    "money": "VARCHAR",
    "macaddr": "VARCHAR",
    "macaddr8": "VARCHAR",
}
TEXTUAL = "SEIV"  # categories of types: strings, enumerations, addresses of networks, bits
ESCAPED = {"n": 10, "r": 13, "t": 9, "b": 8, "f": 12, "v": 11}
DECIMAL = re.compile(r"numeric\((\d+),(\d+)\)")

TABLES = """
SELECT c.oid, n.nspname, c.relname, has_schema_privilege(n.oid, 'USAGE') AND
  has_any_column_privilege(c.oid, 'SELECT'), n.nspname = ANY (current_schemas(true))
FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND """
NAMED = """(n.nspname || '.' || c.relname = %s OR c.relname = %s AND
  n.nspname = ANY (current_schemas(true)))
ORDER BY n.nspname || '.' || c.relname <> %s, array_position(current_schemas(true), n.nspname)"""
OTHERS = """n.nspname !~ '^(pg_|information_schema$)' ORDER BY n.nspname, c.relname LIMIT 10000"""

COLUMNS = """
WITH RECURSIVE based(number, name, type, modifier) AS (
  SELECT attnum, attname, atttypid, atttypmod FROM pg_catalog.pg_attribute
  WHERE attrelid = %s AND attnum > 0 AND NOT attisdropped
  UNION ALL SELECT number, name, typbasetype, CASE modifier WHEN -1 THEN typtypmod ELSE modifier END
  FROM based JOIN pg_catalog.pg_type AS t ON t.oid = type WHERE typtype = 'd')
SELECT name, CASE typnamespace WHEN 'pg_catalog'::regnamespace THEN typname ELSE '' END,
  typcategory::text, format_type(type, modifier), has_column_privilege(%s, number, 'SELECT')
FROM based JOIN pg_catalog.pg_type AS t ON t.oid = type WHERE typtype <> 'd' ORDER BY number"""

# The table itself, or what a view is made of.
SECURED = """
WITH RECURSIVE behind(relation) AS (
  SELECT %s::oid UNION SELECT d.refobjid FROM behind JOIN pg_catalog.pg_rewrite AS r
    ON r.ev_class = relation JOIN pg_catalog.pg_depend AS d ON d.objid = r.oid
    AND d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_class'::regclass)
SELECT 1 FROM behind JOIN pg_catalog.pg_class AS c ON c.oid = relation
WHERE CASE relation WHEN %s THEN row_security_active(relation) ELSE relrowsecurity END LIMIT 1"""


def connect(psycopg: Any, url: str) -> Any:
    """Connect to the database; an error message repeats nothing of the address."""
    try:
        given = psycopg.conninfo.conninfo_to_dict(url)
    except (psycopg.Error, UnicodeError):
        raise UsageError(
            "the address of the database cannot be read",
            hint="postgresql://user@host/db?table=NAME, with % and two digits for odd characters",
        ) from None
    given = {**SETTINGS, **given, "client_encoding": "UTF8"}
    try:
        server = psycopg.connect(**given, autocommit=True, prepare_threshold=None)
    except (psycopg.Error, OSError, UnicodeError) as error:
        message = re.sub(r"""(["']).*?\1""", "", str(error))  # names, which could be any word
        reasons = (words for sign, words in REASONS if re.search(sign, message))
        raise EngineError(
            f"cannot connect to the database ({next(reasons, 'no reason given')})",
            hint="another address; a password in PGPASSWORD or ~/.pgpass",
        ) from None
    if server.info.server_version < OLDEST * 10_000:
        server.close()
        raise EngineError(f"the database is older than Postgres {OLDEST}")
    return server


def relation(ask: Ask, table: Table) -> tuple[int, str]:
    """The table, view or partition that is meant: its number, and its name after FROM."""
    wanted = table.member or ""
    matches = ask(TABLES + NAMED, [wanted, wanted, wanted])
    if not matches:
        seen = ask(TABLES + OTHERS)
        near = [name for _, _, name, _, plain in seen if plain]
        names = near + [f"{schema}.{name}" for _, schema, name, _, _ in seen]
        require(names, "the database has no tables", hint="another database")
        raise unknown("table", wanted, names)
    oid, schema, name, readable, _ = matches[0]
    require(readable, f"the role may not read {wanted!r}", hint=GRANT, error=EngineError)
    return int(oid), f"{quote_identifier(schema)}.{quote_identifier(name)}"


def columns(ask: Ask, oid: int, table: Table) -> dict[str, PostgresColumn]:
    """The columns by name, in their order; a domain counts as its base type."""
    rows = ask(COLUMNS, [oid, oid])
    names = check_names([row[0] for row in rows], table.name)
    table.check_types(names)
    return {name: _column(*row) for name, row in zip(names, rows, strict=True)}


def _column(name: str, plain: str, category: str, full: str, readable: bool) -> PostgresColumn:
    kind = PLAIN.get(plain) or ("VARCHAR" if category in TEXTUAL else None)
    note = CHAR if plain == "bpchar" else None
    if plain == "numeric":
        size = DECIMAL.fullmatch(full)
        fits = size is not None and int(size[2]) <= int(size[1]) <= 38
        decimal = full.upper().replace("NUMERIC", "DECIMAL")
        kind, note = (decimal, None) if fits else ("NUMERIC", DIGITS)
    return PostgresColumn(name=name, kind=kind, type=full, readable=bool(readable), note=note)


def kind(column: PostgresColumn, table: Table) -> str:
    """The type a column has in DuckDB."""
    kind = transfer_type(column, table)
    return "VARCHAR" if kind in ("NUMERIC", "INTERVAL") else kind


def transfer_type(column: PostgresColumn, table: Table) -> str:
    """The type in which the values of a column are sent."""
    typed = table.types.get(column.name)
    return column.kind or "VARCHAR" if typed is None else SQL_TYPES[typed]


def check_usable(column: PostgresColumn, table: Table) -> list[Remark]:
    """Raise an error if values cannot be compared or read; return remarks about them."""
    require(
        column.readable,
        f"the role may not read column {column.name!r}",
        hint=GRANT,
        error=EngineError,
    )
    if column.name in table.types:
        return []
    require(
        column.kind,
        f"column {column.name!r} is of type {column.type}, not of plain values",
        hint=f"a column of plain values, or --type {column.name}=text",
    )
    return [Remark(column.note, column=repr(column.name))] if column.note else []


# -- answers on their way to DuckDB ------------------------------------------------------------


def stream(cursor: Any, sql: str, path: Path) -> int:
    """Write an answer to a private file, in the database's text format; return its longest line."""
    longest = 0
    try:
        private = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(private, "wb", BUFFER) as file, cursor.copy(sql.encode()) as copy:
            for line in copy:
                longest = max(longest, len(line))
                file.write(line)
    except OSError as error:
        raise ExhaustedError(
            f"no room for what the database sends ({error.strerror})",
            hint="--temp on a larger disk",
        ) from None
    return longest


def lines(cursor: Any, sql: str) -> list[str]:
    """A short answer, line by line, in the database's text format."""
    with cursor.copy(sql.encode()) as copy:
        return b"".join(copy).decode().split("\n")[:-1]


def columns_of_lines(
    lines: Sequence[str], ways: Mapping[str, str]
) -> dict[str, tuple[str, list[str | None]]]:
    """The fields of lines in that format, column by column; a missing value is None."""
    rows = [[None if field == r"\N" else field for field in line.split("\t")] for line in lines]
    columns = map(list, zip(*rows, strict=True)) if rows else ([] for _ in (*ways, "n"))
    return {name: ("text", column) for name, column in zip((*ways, "n"), columns, strict=True)}


def parse_fields(ways: Mapping[str, str]) -> str:
    """The fields of SELECT that read such fields as values, and how often they occur."""
    values = ", ".join(f"{_parse_field(field, way)} AS {field}" for field, way in ways.items())
    return f"{values}, CAST(n AS BIGINT) AS n"


def select_from_file(path: Path, ways: Mapping[str, str], longest: int) -> str:
    """The query that reads a file of lines in that format."""
    fields = ", ".join(f"{name}: 'VARCHAR'" for name in (*ways, "n"))
    return (
        f"SELECT {parse_fields(ways)} FROM read_csv({literal(str(path))}, "
        "auto_detect=false, header=false, compression='none', hive_partitioning=false, "
        rf"delim='\t', quote='', escape='', nullstr='\N', columns={{{fields}}}, strict_mode=true, "
        f"null_padding=false, ignore_errors=false, max_line_size={max(LINE, longest + 2)})"
    )


def _parse_field(field: str, way: str) -> str:
    """A field of the database's text format as a value of DuckDB."""
    if way in ("VARCHAR", "NUMERIC"):
        text = rf"replace({field}, '\\', chr(0))"  # which no text of Postgres holds
        for letter, code in ESCAPED.items():
            text = rf"replace({text}, '\{letter}', chr({code}))"
        text = rf"replace({text}, chr(0), '\')"
        return rf"CASE WHEN contains({field}, '\') THEN {text} ELSE {field} END"
    if way == "INTERVAL":
        return f"CAST(CAST({field} AS INTERVAL) AS VARCHAR)"
    if way == "BLOB":
        return f"unhex({field})"
    if way.startswith(("DATE", "TIMESTAMP")):
        field = rf"regexp_replace({field}, '^(\S+)(.*) BC$', '\1 (BC)\2')"
        if way == "TIMESTAMP WITH TIME ZONE":
            field = f"CASE WHEN {field} LIKE '%infinity' THEN {field} ELSE {field} || '+00' END"
    return f"CAST({field} AS {way})"


# -- what went wrong ---------------------------------------------------------------------------


def explain(error: Any, table: Table, *, lost: bool) -> SievertError:
    """Describe a failure of the database in our words, without a value of the data."""
    code = getattr(error, "sqlstate", None) or ""
    name = table.name
    cases: tuple[tuple[bool, SievertError], ...] = (
        (code in TIMED_OUT, timed_out()),
        (
            code.startswith("53"),
            ExhaustedError("the database ran out of memory, disk or connections"),
        ),
        (  # a column that may not be read is not in the view
            code in ("42501", "42703"),
            EngineError(f"the role may not read all of {name!r}", hint=GRANT),
        ),
        (
            lost or code[:2] in ("08", "57"),
            EngineError("the connection to the database was lost", hint="run again"),
        ),
        (
            code.startswith("22") and bool(table.types),
            InputError(f"{name}: {describe_unfit({}, table)}", hint=UNFIT_HINT),
        ),
        (True, EngineError(f"the database failed on {name} ({type(error).__name__})")),
    )
    return next(failure for applies, failure in cases if applies)


def timed_out() -> ExhaustedError:
    """The error if our time, or that of the database, is up."""
    return ExhaustedError(
        "stopped before the answer was there",
        hint="a longer --timeout, or a longer statement_timeout of the database",
    )


def explain_unfit(engine: Any, table: Table) -> InputError:
    """Count the values of each typed column that do not fit: DuckDB reads their texts."""
    counts = {}
    for column in engine.catalog.values():
        wanted = table.types.get(column.name)
        if wanted is None or not column.readable:
            continue
        sql = f"SELECT {spell(column, table)}, COUNT(*) FROM {engine.behind} GROUP BY 1"
        engine.take("unfit", sql, {"v": "VARCHAR"})
        fits = f"TRY_CAST({fit_text('v', wanted)} AS {SQL_TYPES[wanted]})"
        sql = f"SELECT SUM(n) FROM unfit WHERE v IS NOT NULL AND {fits} IS NULL"
        ((counts[column.name],),) = engine.rows(sql)
        engine.forget("unfit")
    return InputError(f"{table.name}: {describe_unfit(counts, table)}", hint=UNFIT_HINT)
