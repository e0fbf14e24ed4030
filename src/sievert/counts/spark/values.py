"""Columns as Spark compares them; imported only where pyspark is known to be installed."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column
from pyspark.sql import functions as sql

from sievert.counts.duckdb.reading import PATTERNS
from sievert.counts.spark.failures import UNFIT
from sievert.counts.spark.spelling import as_text
from sievert.sources.table import Table


def _text(column: str, kind: str, na: Sequence[str]) -> Column:
    text = sql.expr(as_text(column, [kind]))
    return sql.when(~text.isin(*na), text) if na else text


def _cast_text(text: Column, wanted: str) -> Column:
    """Text as the type a user says it has; missing where it does not fit."""
    if wanted == "text":
        return text
    fits = text.rlike(rf"\A(?:{PATTERNS[wanted]})\z")
    if wanted == "int":  # 1.0 and 1. are whole
        return sql.when(fits, sql.regexp_replace(text, r"\.0*\z", "").try_cast("bigint"))
    if wanted == "float":
        text = sql.regexp_replace(text, r"(?i)\A[+-]nan\z", "nan")
        return sql.when(fits, text.try_cast("double"))
    return sql.when(fits, text.try_cast("date"))


def compared_value(table: Table, name: str, column: str, kind: str, na: Sequence[str]) -> Column:
    """A column as it is compared: typed where the user says so, NaN missing, -0 = 0."""
    value, text = sql.col(column), _text(column, kind, na)
    if name in table.types:
        value = _cast_text(text, table.types[name])
        kind = {"int": "bigint", "float": "double"}.get(table.types[name], "")
        fails = sql.raise_error(sql.lit(UNFIT))
        value = sql.when(text.isNotNull() & value.isNull(), fails).otherwise(value)
    elif na:
        value = sql.when(text.isNotNull(), value)
    if kind in ("double", "float"):
        value = sql.when(value == 0, sql.lit(0.0).cast(kind)).when(~sql.isnan(value), value)
    return value


def uncoded_value(table: Table, name: str, column: str, kind: str, na: Sequence[str]) -> Column:
    """Missing where a column is before codes and types; otherwise, any text."""
    text = _text(column, kind, na)
    return sql.when(text != "nan", text) if kind in ("double", "float") else text


def count_unfit(table: Table, name: str, column: str, kind: str, na: Sequence[str]) -> Column:
    """How many values do not fit the type that the user says their column has."""
    if name not in table.types:
        return sql.sum(sql.lit(0))
    text = _text(column, kind, na)
    return sql.sum(sql.when(text.isNotNull() & _cast_text(text, table.types[name]).isNull(), 1))
