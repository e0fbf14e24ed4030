"""Values as the database compares and spells them: as DuckDB would.

Text is compared byte by byte; NaN is missing, -0 = 0; intervals and numbers of any length are text.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sievert.counts.adapter import HashDialect
from sievert.counts.cells import quote_identifier
from sievert.counts.duckdb.reading import PATTERNS, literal
from sievert.sources.table import Table


@dataclass(frozen=True, kw_only=True)
class PostgresColumn:
    """A column as the database has it, and its kind in DuckDB; None for no plain values."""

    name: str
    kind: str | None
    type: str
    readable: bool
    note: str | None = None


def select(columns: Mapping[str, PostgresColumn], table: Table, behind: str) -> str:
    """The query that names the columns c0, c1, ... as they are compared."""
    values = [
        f"{_compared_value(column, table)} AS c{i}"
        for i, column in enumerate(columns.values())
        if column.readable
    ]
    return f"SELECT {', '.join(values)} FROM {behind}"


def select_raw(columns: Mapping[str, PostgresColumn], behind: str) -> str:
    """The query that names the columns c0, c1, ... before codes, types and NaN are applied."""
    readable = ((i, column) for i, column in enumerate(columns.values()) if column.readable)
    values = (f"{quote_identifier(column.name)} AS c{i}" for i, column in readable)
    return f"SELECT {', '.join(values)} FROM {behind}"


def find_nan(columns: Mapping[str, PostgresColumn], table: Table) -> dict[str, str]:
    """For columns that may have NaN, SQL that is 1 where a value is NaN."""
    readable = {name: column for name, column in columns.items() if column.readable}
    conditions = {name: _is_nan(column, table) for name, column in readable.items()}
    return {name: condition for name, condition in conditions.items() if condition is not None}


def _is_nan(column: PostgresColumn, table: Table) -> str | None:
    value = quote_identifier(column.name)
    kind = column.kind or "VARCHAR"
    wanted = table.types.get(column.name)
    if wanted == "float":
        return f"CASE WHEN lower({spell(column, table)}) ~ '^[+-]?nan$' THEN 1 END"
    if wanted is None and (kind in ("FLOAT", "DOUBLE", "NUMERIC") or kind.startswith("DECIMAL")):
        return _without_codes(column, table, f"CASE WHEN {value} = 'NaN' THEN 1 END")
    return None


def _compared_value(column: PostgresColumn, table: Table) -> str:
    if column.name not in table.types:
        return _without_codes(
            column, table, _plain(quote_identifier(column.name), column.kind or "VARCHAR")
        )
    wanted = table.types[column.name]
    text = spell(column, table)
    if wanted == "text":
        return text
    fits = f"{text} ~ {literal('(?i)^(' + PATTERNS[wanted].removeprefix('(?i)') + ')$')}"
    # Not a cast in each branch: one of a constant would fail before a value is looked at.
    text = f"CASE WHEN {text} IS NULL THEN NULL WHEN {fits} THEN {text} ELSE 'no' END"
    if wanted == "int":
        return f"CAST(regexp_replace({text}, '[.]0*$', '') AS bigint)"
    if wanted == "date":
        return f"CAST({text} AS date)"
    return _plain(f"CAST({text} AS float8)", "DOUBLE")


def _plain(value: str, kind: str) -> str:
    """Spell a value so that equal values are the same, and different values are not."""
    if kind in ("FLOAT", "DOUBLE"):
        zero = "CAST(0 AS float4)" if kind == "FLOAT" else "CAST(0 AS float8)"
        return f"CASE WHEN {value} = 'NaN' THEN NULL ELSE {value} + {zero} END"
    if kind.startswith("DECIMAL"):
        return f"CASE WHEN {value} = 'NaN' THEN NULL ELSE {value} END"
    if kind == "TIMESTAMP WITH TIME ZONE":
        return f"({value} AT TIME ZONE 'UTC')"
    text = f"CAST({value} AS text)"
    if kind == "NUMERIC":
        text = f"CASE WHEN {value} = 'NaN' THEN NULL ELSE CAST(trim_scale({value}) AS text) END"
    elif kind == "INTERVAL":  # 30 days are not a month
        text = f"replace({text}, '+', '')"
    elif kind == "BLOB":
        text = f"encode({value}, 'hex')"
    elif kind != "VARCHAR":
        return value
    return f'({text}) COLLATE "C"'


def _without_codes(column: PostgresColumn, table: Table, value: str) -> str:
    """A value, or NULL if it is one of the codes for missing."""
    codes = ", ".join(literal(code) for code in table.na if "\0" not in code)
    if not codes:
        return value
    return f"CASE WHEN {as_text(column)} IN ({codes}) THEN NULL ELSE {value} END"


def spell(column: PostgresColumn, table: Table) -> str:
    """A value as DuckDB spells it, without the codes for missing."""
    return f"({_without_codes(column, table, as_text(column))})"


def as_text(column: PostgresColumn) -> str:
    """A value as DuckDB spells it."""
    value = quote_identifier(column.name)
    kind = column.kind or "VARCHAR"
    text = f"CAST({value} AS text)"
    if kind in ("FLOAT", "DOUBLE"):  # 1.0 and 1e+16, but 1000000000000000.0
        whole = r"'^([^.]*)$', '\1.0'"
        text = (
            f"CASE WHEN {text} ~ '[nN]' THEN replace(lower({text}), 'infinity', 'inf') "
            f"WHEN {text} !~ 'e' THEN regexp_replace({text}, {whole}) "
            f"WHEN {text} ~ 'e[+]' AND abs({value}) < 1e16 "
            f"THEN regexp_replace(CAST(CAST({text} AS numeric) AS text), {whole}) ELSE {text} END"
        )
    elif kind == "NUMERIC":
        text = f"CAST(trim_scale({value}) AS text)"
    elif kind.startswith("DECIMAL") and len(set(re.findall(r"\d+", kind))) == 1:
        text = rf"regexp_replace({text}, '^(-?)0[.]', '\1.')"
    elif kind.startswith(("DATE", "TIMESTAMP")):
        if kind == "TIMESTAMP WITH TIME ZONE":
            utc = f"CAST({value} AT TIME ZONE 'UTC' AS text)"
            text = f"CASE WHEN isfinite({value}) THEN {utc} || '+00' ELSE {utc} END"
        text = rf"regexp_replace({text}, '^(\S+)(.*) BC', '\1 (BC)\2')"
    elif kind == "INTERVAL":
        text = f"replace(replace({text}, '+', ''), 'mon', 'month')"
        text = rf"regexp_replace({text}, '(^| )-1 (year|month|day)s', '\1-1 \2', 'g')"
    return f'({text}) COLLATE "C"'


def record_text(value: str) -> str:
    """The text of a value of records."""
    return f"CAST({value} AS TEXT)"


def matches(_engine: Any, column: str, pattern: str) -> str:
    """The condition that the text of a value fits a pattern as a whole."""
    return f"{record_text(column)} ~ {text_literal(f'^({pattern})$')}"


def text_literal(value: str) -> str:
    """Write a text as SQL, without quotes to escape and without signs of parameters."""
    return f"CONVERT_FROM(DECODE('{value.encode().hex()}', 'hex'), 'UTF8')"


def hash_dialect(kind: Callable[[str], str]) -> HashDialect:
    """How Postgres spells the hashes of a sketch; `kind` gives the type of a column."""

    def text(column: str) -> str:
        return as_text(PostgresColumn(name=column, kind=kind(column), type="", readable=True))

    return HashDialect(
        string="TEXT",
        as_text=text,
        octets="OCTET_LENGTH(CONVERT_TO({}, 'UTF8'))",
        digest=(
            "(ENCODE(SUBSTRING(SHA256(CONVERT_TO({}, 'UTF8')) FROM 1 FOR 8), 'hex') COLLATE \"C\")"
        ),
    )
