"""How Spark spells types and values: as DuckDB does."""

import re
from collections.abc import Callable, Iterable

from sievert.counts.adapter import HashDialect


def duckdb_type(kind: str) -> str:
    """The type of a Spark column as DuckDB would call it."""
    base = re.split("[ (<]", kind)[0]
    named = {
        "string": "VARCHAR",
        "interval": "VARCHAR",
        "array": "ARRAY[]",
        "timestamp": "TIMESTAMP WITH TIME ZONE",
        "timestamp_ntz": "TIMESTAMP",
    }
    return named.get(base, base.upper())


def literal(text: str) -> str:
    """Write a text as SQL of Spark so that nothing in it is read as SQL."""
    return f"DECODE(UNHEX('{text.encode().hex()}'), 'UTF-8')"


def plain_value(column: str, kind: str, described: str) -> str:
    """A column as DuckDB has it."""
    if kind.startswith("string collate"):
        return f"COLLATE({column}, 'UTF8_BINARY')"
    if kind.startswith("interval"):
        return f"CAST({column} AS STRING)"
    if kind == "timestamp" and described == "TIMESTAMP":  # of the old kind
        return f"CAST({column} AS TIMESTAMP_NTZ)"
    if described in ("TIMESTAMP_NS", "TIMESTAMPTZ_NS"):  # as text, which has the same order
        rest = f"PMOD({column}, 1000000000)"
        second = f"TIMESTAMP_SECONDS(({column} - {rest}) DIV 1000000000)"
        text = f"DATE_FORMAT({second}, 'yyyy-MM-dd HH:mm:ss')"
        text = f"REGEXP_REPLACE(CONCAT({text}, '.', LPAD({rest}, 9, '0')), '[.]?0+$', '')"
        return text if described == "TIMESTAMP_NS" else f"CONCAT({text}, '+00')"
    return column


def as_text(value: str, kinds: Iterable[str]) -> str:
    """The text of a value of one of these types, as DuckDB spells it."""
    text = f"CAST({value} AS STRING)"
    ways = {
        "DOUBLE": f"WHEN 'double' THEN {_float_text(text, 'DOUBLE', 16)}",
        "FLOAT": f"WHEN 'float' THEN {_float_text(text, 'FLOAT', 8)}",
        "TIMESTAMP": f"WHEN 'timestamp' THEN CONCAT({text}, '+00')",
    }
    special = {kind.upper().partition(" ")[0] for kind in kinds} & set(ways)
    cases = " ".join(ways[kind] for kind in sorted(special))
    return f"CASE TYPEOF({value}) {cases} ELSE {text} END" if special else text


def _float_text(text: str, kind: str, digits: int) -> str:
    """Write a float, given the text of Java, in the fewest digits: 25000000.5, 1e-05, 1e+16.

    Java's text may have a digit or two too many: rounded, it is still the same number.
    """
    short = f"FORMAT_STRING('%.{digits - 1}e', TRY_CAST({text} AS DOUBLE))"
    full = f"FORMAT_STRING('%.{digits}e', TRY_CAST({text} AS DOUBLE))"
    same = f"TRY_CAST({short} AS {kind}) = TRY_CAST({text} AS {kind})"
    long = f"LENGTH(TRANSLATE(SUBSTRING_INDEX({text}, 'E', 1), '-.', '')) > {digits}"
    given = f"UPPER(CASE WHEN {long} THEN IF({same}, {short}, {full}) ELSE {text} END)"
    # 1.25E7: m is 1.25, and its point moves by 7.
    moved = "IF(g LIKE '%E%', CAST(SUBSTRING_INDEX(g, 'E', -1) AS INT), 0)"
    parts = f"NAMED_STRUCT('m', TRANSLATE(SUBSTRING_INDEX(g, 'E', 1), '-', ''), 'e', {moved})"
    zeros = "LENGTH(a) - LENGTH(TRIM(LEADING '0' FROM a))"
    first = f"p.e + LENGTH(SUBSTRING_INDEX(p.m, '.', 1)) - 1 - ({zeros})"
    number = f"NAMED_STRUCT('d', TRIM(BOTH '0' FROM a), 'e', {first})"
    written = (
        "CASE WHEN x.e BETWEEN -4 AND -1 THEN CONCAT('0.', REPEAT('0', -x.e - 1), x.d) "
        "WHEN x.e BETWEEN 0 AND 15 AND LENGTH(x.d) <= x.e + 1 "
        "THEN CONCAT(RPAD(x.d, x.e + 1, '0'), '.0') WHEN x.e BETWEEN 0 AND 15 "
        "THEN CONCAT(SUBSTRING(x.d, 1, x.e + 1), '.', SUBSTRING(x.d, x.e + 2)) "
        "ELSE CONCAT(SUBSTRING(x.d, 1, 1), IF(LENGTH(x.d) > 1, '.', ''), SUBSTRING(x.d, 2), "
        "IF(x.e < 0, 'e-', 'e+'), IF(ABS(x.e) < 10, '0', ''), ABS(x.e)) END"
    )
    digits_of = _let("a", "TRANSLATE(p.m, '.', '')", number)
    whole = _let("g", given, _let("p", parts, _let("x", digits_of, written)))
    return (
        f"CASE {text} WHEN 'Infinity' THEN 'inf' WHEN '-Infinity' THEN '-inf' WHEN 'NaN' THEN "
        f"'nan' WHEN '0.0' THEN '0.0' WHEN '-0.0' THEN '-0.0' "
        f"ELSE CONCAT(IF({text} LIKE '-%', '-', ''), {whole}) END"
    )


def _let(name: str, value: str, body: str) -> str:
    """SQL in which `name` stands for a value."""
    return f"TRANSFORM(ARRAY({value}), {name} -> {body})[0]"


def hash_dialect(kind: Callable[[str], str]) -> HashDialect:
    """How Spark spells the hashes of a sketch; `kind` gives the type of a column."""
    return HashDialect(
        string="STRING",
        as_text=lambda column: as_text(column, [kind(column)]),
        octets="OCTET_LENGTH({})",
        digest="SUBSTRING(SHA2({}, 256), 1, 16)",
    )
