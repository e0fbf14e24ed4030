"""How Spark reads each kind of table.

The engine infers nothing: it gets names, types and codes, as DuckDB sees them in a file.
Imported only where pyspark is known to be installed.
"""

import re
import secrets
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StringType, StructField, StructType

from sievert.counts.duckdb import reading
from sievert.counts.duckdb.adapter import DuckDB
from sievert.counts.spark import spelling
from sievert.counts.spark.failures import UNFIT
from sievert.errors import InputError, require
from sievert.sources.columns import check_names
from sievert.sources.table import Table

Compare = Callable[[Table, str, str, str], str]
BLOCK = 1 << 20
GLOBAL = "spark.sql.globalTempDatabase"


def view(
    engine: Any, table: Table, session: SparkSession, scratch: Path, resources: ExitStack
) -> tuple[tuple[str, ...], Mapping[str, str]]:
    """Make the view that names the columns c0, c1, ... as compared; return columns and types."""
    frame, kinds = _frame(engine, table, session, scratch, resources)
    table.check_types(kinds)

    def select(how: Compare, table: Table = table) -> DataFrame:
        columns = zip(kinds, frame.dtypes, strict=True)
        return frame.selectExpr(*(f"{how(table, name, c, k)} AS {c}" for name, (c, k) in columns))

    def unfit() -> dict[str, int]:
        counts = select(count_unfit).collect()[0]
        return {c: int(n or 0) for c, n in zip(kinds, counts, strict=True) if c in table.types}

    engine.unfit = unfit
    select(compared_value).createOrReplaceTempView("input")
    select(find_nan).createOrReplaceTempView(engine.nan_source)
    for name, (c, kind) in zip(kinds, frame.dtypes, strict=True):
        if table.types.get(name, kind) in ("float", "double"):
            engine.nan[name] = c
    if table.na:
        select(text_value, replace(table, na=())).createOrReplaceTempView("uncoded")
        engine.uncoded = "SELECT * FROM uncoded"
    if table.types:
        select(compared_value, replace(table, types={})).createOrReplaceTempView("untyped")
        engine.untyped = "SELECT * FROM untyped"
    given = {c: reading.SQL_TYPES[kind] for c, kind in table.types.items()}
    return tuple(kinds), {**kinds, **given}


def _frame(
    engine: Any, table: Table, session: SparkSession, scratch: Path, resources: ExitStack
) -> tuple[DataFrame, Mapping[str, str]]:
    """The records with columns c0, c1, ..., and the names and types of the columns."""
    if table.kind in ("csv", "parquet"):
        described = DuckDB(replace(table, types={}, na=()), scratch, threads=1)
        engine.expected = (
            described.rows("SELECT COUNT(*) FROM input")[0][0]  # Parquet files say how many
            if table.scan is None
            else table.scan.records
        )
        described.close()
        engine.unusable = described.unusable
        engine.notes = described.notes
        kinds = described.kinds
        if table.kind == "csv":
            return _csv(table, session, scratch), kinds
        records = _parquet(table, session, scratch)
        require(
            sorted(records.columns) == sorted(kinds),
            f"{table.name}: Spark sees other columns in it than DuckDB",
            error=InputError,
        )
    else:
        if table.kind == "remote":
            records = session.read.parquet(str(table.data))
            _check_files(engine, session, records)
        else:
            shared = f"sievert_{secrets.token_hex(8)}"
            table.data.createGlobalTempView(shared)
            resources.callback(_forget, session, shared)
            records = session.table(f"{session.conf.get(GLOBAL)}.{shared}")
        check_names(records.columns, table.name)
        kinds = {name: spelling.duckdb_type(kind) for name, kind in records.dtypes}
    # By their places: no name is ever parsed by Spark.
    types = dict(records.dtypes)
    places = {n: f"p{i}" for i, n in enumerate(records.columns)}
    plain = [spelling.plain_value(places[name], types[name], kind) for name, kind in kinds.items()]
    return records.toDF(*places.values()).selectExpr(
        *(f"{value} AS c{i}" for i, value in enumerate(plain))
    ), kinds


def _forget(session: SparkSession, name: str) -> None:
    with suppress(Exception):  # it may have died
        session.catalog.dropGlobalTempView(name)


def _csv(table: Table, session: SparkSession, scratch: Path) -> DataFrame:
    """Read a text file; missing and empty fields are read as random words of their own."""
    assert table.path is not None and table.scan is not None and table.delimiter is not None
    empty, missing, broken = (secrets.token_hex(16) for _ in range(3))
    columns = [f"c{i}" for i in range(len(table.columns))]
    # Line by line and side by side, unless quotes span lines or a record looks like a blank line.
    quoted = _has_quotes(table.path)
    records = session.read.csv(
        _readable_url(table.path, scratch),
        schema=StructType([StructField(name, StringType()) for name in table.columns]),
        sep={"\\": "\\\\"}.get(table.delimiter, table.delimiter),
        quote='"',
        escape='"',
        encoding="UTF-8",
        header=table.header,
        mode="FAILFAST",
        multiLine=quoted or table.delimiter <= " " or len(columns) == 1,
        lineSep=_line_end(table.path, table.delimiter, table.scan.longest),
        nullValue=missing,
        emptyValue=empty,
        ignoreLeadingWhiteSpace=False,
        ignoreTrailingWhiteSpace=False,
        maxColumns=len(columns) + 1,
        columnNameOfCorruptRecord=broken,
    )
    require(
        len(columns) != 1 or records.count() >= table.scan.records,
        f"{table.name}: blank lines in a single column, which Spark does not read",
        hint="--engine duckdb",
        error=InputError,
    )
    return records.toDF(*columns).selectExpr(
        *(f"IF({c} = '{empty}', '', {c}) AS {c}" for c in columns)
    )


def _has_quotes(path: Path) -> bool:
    with path.open("rb") as file:
        return any(b'"' in block for block in iter(lambda: file.read(BLOCK), b""))


def _line_end(path: Path, delimiter: str, longest: int) -> str | None:
    """The line end after the first record."""
    with path.open("rb") as file:
        start = file.read(longest + 8)
    between = re.escape(delimiter.encode())
    field = b'(?:"(?:[^"]|"")*"|(?!")[^\r\n' + between + b"]*)"
    record = field + b"(?:" + between + field + b")*(\r\n|\r|\n)"
    first = re.match(b"(?:\xef\xbb\xbf)?" + record, start)
    return first[1].decode() if first else None


def _parquet(table: Table, session: SparkSession, scratch: Path) -> DataFrame:
    assert table.path is not None
    parts = table.parts or (table.path,)
    if not table.member:
        return session.read.parquet(*(_readable_url(p, scratch) for p in parts))
    require(
        not any(p.name[0] in "._" for p in parts),
        f"{table.name}: Spark does not read files whose names begin with . or _",
        hint="rename",
    )
    return session.read.option("basePath", f"file://{table.path}").parquet(
        *(_url(p) for p in parts)
    )


def _readable_url(path: Path, scratch: Path) -> str:
    """The address of a file; Spark skips or unpacks some for their names, which get another."""
    if path.name[0] in "._" or path.suffix not in ("", ".csv", ".tsv", ".txt", ".parquet"):
        link = scratch / secrets.token_hex(8)
        link.symlink_to(path)
        path = link
    return _url(path)


def _url(path: Path) -> str:
    """A file of this machine, spelled so that Spark does not take it for a pattern."""
    return "file://" + re.sub(r"([\[\]{}*?\\])", r"\\\1", str(path))


def _check_files(engine: Any, session: SparkSession, frame: DataFrame) -> None:
    """Check that Parquet files have the same columns: Spark would fill in missing values."""
    jvm: Any = session._jvm
    conf = session._jsparkSession.sessionState().newHadoopConf()
    files = jvm.java.util.ArrayList()
    for name in frame.inputFiles():
        path = jvm.org.apache.hadoop.fs.Path(jvm.java.net.URI(name))
        files.add(path.getFileSystem(conf).getFileStatus(path))
    read_footers = jvm.org.apache.parquet.hadoop.ParquetFileReader.readAllFootersInParallel
    schemas = [
        footer.getParquetMetadata().getFileMetaData().getSchema().toString().splitlines()[1:-1]
        for footer in read_footers(conf, files, True)
    ]
    other = sum(sorted(schema) != sorted(schemas[0]) for schema in schemas)
    require(
        other == 0,
        f"{engine.table.name}: {other} of {len(schemas)} files have other columns than the first",
        error=InputError,
    )
    for line in schemas[0] if schemas else ():
        old = re.fullmatch(r"  \w+ int96 (.*);", line)
        if old:
            engine.notes.append(reading.old_timestamps(old[1]))


# -- values as they are compared ---------------------------------------------------------------
# As SQL: each function of PySpark would ask Java a dozen times.


def text_value(table: Table, name: str, column: str, kind: str) -> str:
    """The text of a column; a code for missing becomes missing."""
    text = spelling.as_text(column, [kind])
    codes = ", ".join(map(spelling.literal, table.na))
    return f"CASE WHEN NOT ({text} IN ({codes})) THEN {text} END" if codes else text


def _cast_text(text: str, wanted: str) -> str:
    """Cast a text to the type that the user gives; missing where it does not fit."""
    if wanted == "text":
        return text
    pattern = spelling.literal(rf"\A(?:{reading.PATTERNS[wanted]})\z")
    fits = f"CASE WHEN {text} RLIKE {pattern} THEN TRY_CAST({{}} AS {{}}) END"
    if wanted == "int":  # 1.0 and 1. are whole
        return fits.format(rf"REGEXP_REPLACE({text}, r'\.0*\z', '')", "BIGINT")
    if wanted == "float":
        return fits.format(rf"REGEXP_REPLACE({text}, r'(?i)\A[+-]nan\z', 'nan')", "DOUBLE")
    return fits.format(text, "DATE")


def find_nan(table: Table, name: str, column: str, kind: str) -> str:
    """SQL that is 1 where a value is NaN; missing for columns without NaN."""
    if table.types.get(name, kind) not in ("float", "double"):
        return "CAST(NULL AS INT)"
    text = text_value(table, name, column, kind)
    return f"CASE WHEN LOWER({text}) RLIKE r'\\A[+-]?nan\\z' THEN 1 END"


def compared_value(table: Table, name: str, column: str, kind: str) -> str:
    """A column as it is compared: with the type that the user gives, NaN missing, -0 = 0."""
    value = column
    text = text_value(table, name, column, kind)
    if name in table.types:
        value = _cast_text(text, table.types[name])
        kind = {"int": "bigint", "float": "double"}.get(table.types[name], "")
        unfit = f"({text}) IS NOT NULL AND ({value}) IS NULL"
        value = f"CASE WHEN {unfit} THEN RAISE_ERROR('{UNFIT}') ELSE {value} END"
    elif table.na:
        value = f"CASE WHEN ({text}) IS NOT NULL THEN {value} END"
    if kind in ("double", "float"):
        zero = f"CAST(0 AS {kind})"
        value = f"CASE WHEN ({value}) = 0 THEN {zero} WHEN NOT ISNAN({value}) THEN {value} END"
    return value


def count_unfit(table: Table, name: str, column: str, kind: str) -> str:
    """SQL that counts the values that do not fit the type that the user gives."""
    if name not in table.types:
        return "SUM(0)"
    text = text_value(table, name, column, kind)
    value = _cast_text(text, table.types[name])
    return f"SUM(CASE WHEN ({text}) IS NOT NULL AND ({value}) IS NULL THEN 1 END)"
