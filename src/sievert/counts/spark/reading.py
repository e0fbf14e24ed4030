"""How Spark is started and reads each kind of table, and what its failures mean in our words.

Nothing is inferred: names, types and codes are told to the engine, as DuckDB sees them in a file.
Spark's messages repeat values of the data, so only their kind is passed on.
"""

from __future__ import annotations

import logging
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sievert.counts.duckdb import reading
from sievert.counts.duckdb.adapter import DuckDB
from sievert.errors import (
    EngineError,
    ExhaustedError,
    InputError,
    SievertError,
    UsageError,
    unknown,
)
from sievert.notes import Name, Note
from sievert.sources import unpack
from sievert.sources.table import Table, check_names

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

    Compare = Callable[[Table, str, str, str, Sequence[str]], Column]

MIB = 1 << 20
LEAST_MEMORY = 512  # MiB, or Spark does not start
SHARE = 4  # of the machine's memory: one part in so many, unless --memory says otherwise
SMALL = 8 * MIB  # of text: up to this size, compiling well takes longer than counting
PARTITION = 2 * MIB  # of text, in one task
MOST_PARTITIONS = 200  # Spark's own number
PACKED = 4  # bytes of text for a byte of Parquet
# Spark's own process, and a watcher that ends both, and their children, when the input does.
TOGETHER = 'exec 3<&0; (read -r _ <&3; kill -9 0) & exec "$0" "$@" <&3 3<&-'
REACH = 5.0  # seconds to reach a master
LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
PY4J = ("py4j.clientserver", "py4j.java_gateway")
GLOBAL = "spark.sql.globalTempDatabase"
PARTITIONS = "spark.sql.shuffle.partitions"
UNFIT = "sievert: unfit"
TYPES = re.compile("PARQUET_TYPE|UNSUPPORTED_TIME_TYPE|UNSUPPORTED_DATA_TYPE|UNSUPPORTED_ARROWTYPE")
DAMAGED = re.compile("FAILED_READ_FILE|CANNOT_READ_FILE|UNABLE_TO_INFER_SCHEMA|MALFORMED_")
ABSENT = re.compile(
    "PATH_NOT_FOUND|FILE_NOT_EXIST|FileSystem not found|UnsupportedFileSystem|"
    "UnknownHost|AccessDenied|AccessControl|ConnectException"
)
MEMORY = re.compile("OutOfMemoryError|GC overhead|SparkOutOfMemory|maxResultSize")
# What our session is told, in a Spark of our own or beside the caller's session.
SETTINGS = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "true",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.legacy.parquet.nanosAsLong": "true",
    "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning": "true",  # tables we keep adapt too
    "spark.sql.parquet.binaryAsString": "false",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.mergeSchema": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
}


def check(table: Table) -> None:
    """An error for a source that Spark does not read, before anything is started."""
    module = type(table.data).__module__
    if module.startswith("pyspark.sql.connect"):
        raise UsageError("a frame of Spark Connect is not read", hint="a frame of a plain session")
    frame = table.kind == "frame" and module.startswith("pyspark.sql.")
    if frame and table.data.isStreaming:
        raise UsageError("a stream has no last record", hint="a frame that is not a stream")
    if not frame and table.kind not in ("csv", "parquet", "remote"):
        raise UsageError(
            "the engine spark reads files (CSV, Parquet) and Spark frames", hint="--engine duckdb"
        )


# -- the session --------------------------------------------------------------------------------


@contextmanager
def session(
    table: Table, scratch: Path, memory: str | None, threads: int | None, master: str | None
) -> Iterator[SparkSession]:
    """A session of our own, beside the caller's or in a Spark of our own."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a version of pandas, which is not used
            import pyspark.testing.utils  # noqa: F401 - the first question would import it
            from pyspark import SparkContext
            from pyspark.sql import SparkSession
    except ImportError:
        raise UsageError(
            "the engine spark needs the package pyspark", hint="pip install 'sievert[spark]'"
        ) from None
    with ExitStack() as resources:
        resources.enter_context(_quiet())
        if SparkContext._active_spark_context is None:
            base = resources.enter_context(_started(table, scratch, memory, threads, master))
        elif (memory, threads, master) != (None, None, None):
            raise UsageError(
                "--memory, --threads and --master do not change a Spark that is running already",
                hint="without them, or after its session's stop()",
            )
        else:
            frame = table.kind == "frame"
            base = table.data.sparkSession if frame else SparkSession.builder.getOrCreate()
        beside = base.newSession()
        beside.conf.set(PARTITIONS, base.conf.get(PARTITIONS) or MOST_PARTITIONS)
        for name, value in SETTINGS.items():
            beside.conf.set(name, value)
        yield beside


@contextmanager
def _quiet() -> Iterator[None]:
    """Spark's Python side logs messages with values in them to stderr: not while we ask."""
    from pyspark.logger import PySparkLogger

    def passes(record: logging.LogRecord) -> bool:
        return record.name not in LOGGERS and "py4j" not in record.pathname

    root = logging.getLogger()
    loggers = [root, *map(logging.getLogger, PY4J), *map(PySparkLogger.getLogger, LOGGERS)]
    last = None if root.handlers else logging.lastResort  # or it would get another one, for good
    for logger in loggers:
        logger.addFilter(passes)
    if last:
        root.addHandler(last)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(passes)
        if last:
            root.removeHandler(last)


@contextmanager
def _started(
    table: Table, scratch: Path, memory: str | None, threads: int | None, master: str | None
) -> Iterator[SparkSession]:
    """A Spark of our own that leaves nothing behind; on this machine it listens to nobody else."""
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    if master is not None and threads is not None:
        raise UsageError("--threads does not go with --master", hint="--master local[4]")
    if "," in str(scratch):
        raise UsageError("Spark takes a comma in --temp for two directories", hint="another --temp")
    if not shutil.which("java") and not os.environ.get("JAVA_HOME"):
        raise EngineError("Spark needs Java, which is not found", hint="install Java 17 or later")
    master = master or f"local[{threads or '*'}]"
    _reached(master)
    conf = SparkConf(loadDefaults=False)
    for name, value in _configuration(table, scratch, memory, master).items():
        conf.set(name, value)
    gateway, modules = SparkContext._gateway, sys.path.copy()
    with ExitStack() as resources:
        try:
            with _environment(master, scratch), _own_signals():
                ours = hasattr(os, "fork") and "PYSPARK_GATEWAY_PORT" not in os.environ
                if gateway is None and ours:
                    gateway = resources.enter_context(_launched(conf, scratch))
                base = SparkSession(SparkContext(conf=conf, gateway=gateway))
        except Exception as error:
            raise EngineError(
                f"Spark does not start ({type(error).__name__})",
                hint="Java 17 or later; a --master that is there",
            ) from None
        finally:
            sys.path[:] = modules  # it had put its own directory there
        resources.callback(_stopped, base, gateway)
        yield base


def _reached(master: str) -> None:
    """An error at once where nobody listens: Spark itself would try for a minute."""
    found = re.fullmatch("spark://(.+)", master)
    for place in found[1].split(",") if found else ():
        host, _, port = place.rpartition(":")
        with suppress(OSError, ValueError, OverflowError):
            socket.create_connection((host.strip("[]"), int(port)), REACH).close()
            return
    if found:
        raise EngineError("the --master does not answer", hint="spark://host:7077 of one that runs")


@contextmanager
def _launched(conf: Any, scratch: Path) -> Iterator[Any]:
    """The process of Spark, as PySpark starts it, but one that ends when we do, however we do."""
    from pyspark import SparkContext, java_gateway
    from pyspark.find_spark_home import _find_spark_home

    address = scratch / secrets.token_hex(8)
    options = [part for pair in conf.getAll() for part in ("--conf", "=".join(pair))]
    submit = str(Path(_find_spark_home(), "bin", "spark-submit"))
    process = subprocess.Popen(  # noqa: S603 - the arguments are ours, apart from the master
        ["/bin/sh", "-c", TOGETHER, submit, *options, "pyspark-shell"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "_PYSPARK_DRIVER_CONN_INFO_PATH": str(address)},
        process_group=0,  # Ctrl-C is for us
    )
    gateway: Any = None
    try:
        while not address.exists():
            if process.poll() is not None:
                raise ChildProcessError
            time.sleep(0.05)
        found = address.read_bytes()  # the port, the length of a password, the password
        address.unlink()
        told = {"PORT": str(int.from_bytes(found[:4], "big")), "SECRET": found[8:].decode()}
        with _variables(**{f"PYSPARK_GATEWAY_{name}": value for name, value in told.items()}):
            gateway = java_gateway.launch_gateway()  # type: ignore[no-untyped-call]
        gateway.proc = process
        yield gateway
    finally:
        SparkContext._gateway = SparkContext._jvm = None
        with suppress(Exception):
            gateway.shutdown()
        _end(process)


def _stopped(base: SparkSession, gateway: Any) -> None:
    """Stop a Spark of our own; after Ctrl-C, or when time is up, by the end of its process."""
    process = getattr(gateway, "proc", None)
    if process is not None and isinstance(sys.exception(), KeyboardInterrupt | ExhaustedError):
        _end(process)
    for stop in (base.stop, base.sparkContext.stop):  # if it has died, the second finds the rest
        with suppress(Exception), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            stop()


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process that we started; what it has written is in our directory."""
    assert process.stdin is not None
    process.stdin.close()
    process.wait()


def _configuration(table: Table, scratch: Path, memory: str | None, master: str) -> dict[str, str]:
    place = str(scratch).replace("\\", "\\\\").replace('"', '\\"')
    java = [f"-Djava.io.tmpdir={place}", f"-XX:ErrorFile={place}/crash", "-XX:-UsePerfData"]
    local, size = master.startswith("local"), _size(table)
    java += ["-XX:TieredStopAtLevel=1"] if local and size < SMALL else []
    found = {
        "spark.app.name": "sievert",
        "spark.driver.extraJavaOptions": " ".join(f'"{option}"' for option in java),
        "spark.driver.maxResultSize": "0",
        "spark.driver.memory": f"{_mebibytes(memory)}m",
        "spark.eventLog.enabled": "false",
        "spark.io.encryption.enabled": "true",
        "spark.local.dir": str(scratch),
        "spark.log.level": "OFF",
        "spark.master": master,
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.codegen.cache.maxEntries": "2000",
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    if local:
        found |= {
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            PARTITIONS: str(min(size // PARTITION + 1, MOST_PARTITIONS)),
        }
    if re.fullmatch(r"local(\[.*\])?", master):
        found["spark.authenticate"] = "true"
    return found


def _mebibytes(memory: str | None) -> int:
    if memory is None:
        whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        return max(1024, whole // SHARE // MIB)
    found = unpack.size(memory, "--memory") // MIB
    if found < LEAST_MEMORY:
        raise UsageError(f"--memory: Spark needs at least {LEAST_MEMORY}MiB")
    return found


def _size(table: Table) -> int:
    """About how many bytes of text a table is; very many if nobody knows."""
    paths = table.parts or tuple(p for p in (table.path,) if p is not None)
    found = sum(p.stat().st_size for p in paths)
    return found * (PACKED if table.kind == "parquet" else 1) if paths else sys.maxsize


@contextmanager
def _environment(master: str, scratch: Path) -> Iterator[None]:
    """What Spark reads from the environment when it starts."""
    told = {
        "LC_ALL": "C.UTF-8",
        "SPARK_CONNECT_MODE": "0",
        "SPARK_LAUNCHER_OPTS": "-XX:-UsePerfData",
        "SPARK_LOCAL_DIRS": str(scratch),
    }
    if master.startswith("local"):
        told["SPARK_LOCAL_IP"] = "127.0.0.1"
    with _variables(**told):
        yield


@contextmanager
def _variables(**told: str) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in told}
    os.environ.update(told)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value


@contextmanager
def _own_signals() -> Iterator[None]:
    """Spark's own handler of Ctrl-C would hide from the command line what happened."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


# -- reading ------------------------------------------------------------------------------------


def view(
    engine: Any, table: Table, session: SparkSession, scratch: Path, resources: ExitStack
) -> tuple[tuple[str, ...], dict[str, str]]:
    """The columns and their types; makes the view that calls them c0, c1, ... as compared."""
    frame, kinds = _frame(engine, table, session, scratch, resources)
    for column in table.types:
        if column not in kinds:
            raise unknown("--type: column", column, kinds)

    def select(how: Compare, na: Sequence[str]) -> DataFrame:
        columns = zip(kinds, frame.dtypes, strict=True)
        return frame.select([how(table, name, c, k, na).alias(c) for name, (c, k) in columns])

    def unfit() -> dict[str, int]:
        counts = select(_unfit, table.na).collect()[0]
        return {c: int(n or 0) for c, n in zip(kinds, counts, strict=True) if c in table.types}

    engine.unfit = unfit
    select(_compared, table.na).createOrReplaceTempView("input")
    if table.na:
        select(_present, ()).createOrReplaceTempView("uncoded")
        engine.uncoded = "SELECT * FROM uncoded"
    typed = {column: reading.SQL_TYPES[kind] for column, kind in table.types.items()}
    return tuple(kinds), {**kinds, **typed}


def _frame(
    engine: Any, table: Table, session: SparkSession, scratch: Path, resources: ExitStack
) -> tuple[DataFrame, dict[str, str]]:
    """The records, their columns called c0, c1, ...; the names and types of those."""
    from pyspark.sql import functions as sql

    if table.kind in ("csv", "parquet"):
        described = DuckDB(replace(table, types={}, na=()), scratch, threads=1)
        described.close()
        engine.unusable, engine.notes, kinds = described.unusable, described.notes, described.kinds
        if table.kind == "csv":
            return _csv(table, session, scratch), kinds
        found = _parquet(table, session, scratch)
        if sorted(found.columns) != sorted(kinds):
            raise InputError(f"{table.name}: Spark sees other columns in it than DuckDB")
    else:
        if table.kind == "remote":
            found = session.read.parquet(str(table.data))
            _look_at_files(engine, session, found)
        else:
            shared = f"sievert_{secrets.token_hex(8)}"
            table.data.createGlobalTempView(shared)
            resources.callback(_forget, session, shared)
            found = session.table(f"{session.conf.get(GLOBAL)}.{shared}")
        check_names(found.columns, table.name)
        kinds = {name: _kind(kind) for name, kind in found.dtypes}
    # By their places: no name is ever parsed by Spark.
    types, places = dict(found.dtypes), {name: f"p{i}" for i, name in enumerate(found.columns)}
    plain = [_plain(places[name], types[name], kind) for name, kind in kinds.items()]
    numbered = found.toDF(*places.values())
    return numbered.select([sql.expr(v).alias(f"c{i}") for i, v in enumerate(plain)]), kinds


def _forget(session: SparkSession, name: str) -> None:
    with suppress(Exception):  # it may have died
        session.catalog.dropGlobalTempView(name)


def _csv(table: Table, session: SparkSession, scratch: Path) -> DataFrame:
    """A file of text: nothing, bare or in quotes, is read as words that nobody has used before."""
    from pyspark.sql import functions as sql
    from pyspark.sql.types import StringType, StructField, StructType

    assert table.path is not None and table.scan is not None and table.delimiter is not None
    empty, missing, broken = (secrets.token_hex(16) for _ in range(3))
    columns = [f"c{i}" for i in range(len(table.columns))]
    # Line by line and side by side, unless quotes span lines or a record looks like a blank line.
    whole = _has_quotes(table) or table.delimiter <= " " or len(columns) == 1
    found = session.read.csv(
        _readable(table.path, scratch),
        schema=StructType([StructField(name, StringType()) for name in table.columns]),
        sep={"\\": "\\\\"}.get(table.delimiter, table.delimiter),
        quote='"',
        escape='"',
        encoding="UTF-8",
        header=table.header,
        mode="FAILFAST",
        multiLine=whole,
        lineSep=_line_end(table),
        nullValue=missing,
        emptyValue=empty,
        ignoreLeadingWhiteSpace=False,
        ignoreTrailingWhiteSpace=False,
        maxColumns=len(columns) + 1,
        columnNameOfCorruptRecord=broken,
    )
    if len(columns) == 1 and found.count() < table.scan.records:
        raise InputError(
            f"{table.name}: blank lines in a single column, which Spark does not read",
            hint="--engine duckdb",
        )
    values = (sql.col(c) for c in columns)
    return found.toDF(*columns).select(
        [
            sql.when(v == empty, "").otherwise(v).alias(c)
            for c, v in zip(columns, values, strict=True)
        ]
    )


def _has_quotes(table: Table) -> bool:
    """Whether quotes occur; an error if a code for missing stands in them, as it is no code there.

    Spark does not tell a quoted field from a bare one.
    """
    assert table.path is not None and table.delimiter is not None
    codes = [code.encode() for code in table.na]
    edge = b"[\r\n" + re.escape(table.delimiter.encode()) + b"]"
    quoted = re.compile(edge + b'"(' + b"|".join(map(re.escape, codes)) + b')"' + edge)
    reach = max(map(len, codes), default=0) + 4
    found, before = False, b"\n"
    with table.path.open("rb") as file:
        for block in chain(iter(lambda: file.read(MIB), b""), [b"\n"]):
            found = found or b'"' in block
            if found and not codes:
                break
            if found and quoted.search(before + block):
                raise InputError(
                    f"{table.name}: a code for missing stands in quotes, which Spark does not see",
                    hint="--engine duckdb",
                )
            before = (before + block)[-reach:]
    return found


def _line_end(table: Table) -> str | None:
    """What ends the first record."""
    assert table.path is not None and table.scan is not None and table.delimiter is not None
    with table.path.open("rb") as file:
        start = file.read(table.scan.longest + 8)
    other = b"[^\r\n" + re.escape(table.delimiter.encode()) + b"]*"
    field = b'(?:"(?:[^"]|"")*"|(?!")' + other + b")"
    record = field + b"(?:" + re.escape(table.delimiter.encode()) + field + b")*(\r\n|\r|\n)"
    found = re.match(b"(?:\xef\xbb\xbf)?" + record, start)
    return found[1].decode() if found else None


def _parquet(table: Table, session: SparkSession, scratch: Path) -> DataFrame:
    assert table.path is not None
    parts = table.parts or (table.path,)
    if not table.member:
        return session.read.parquet(*(_readable(p, scratch) for p in parts))
    if any(p.name[0] in "._" for p in parts):
        raise UsageError(
            f"{table.name}: Spark does not read files whose names begin with . or _", hint="rename"
        )
    reader = session.read.option("basePath", f"file://{table.path}")
    return reader.parquet(*(_url(p) for p in parts))


def _readable(path: Path, scratch: Path) -> str:
    """Spark skips files, or unpacks them, for their names: such a file gets another name."""
    if path.name[0] in "._" or path.suffix not in ("", ".csv", ".tsv", ".txt", ".parquet"):
        link = scratch / secrets.token_hex(8)
        link.symlink_to(path)
        path = link
    return _url(path)


def _url(path: Path) -> str:
    """A file of this machine, spelled so that Spark does not take it for a pattern."""
    return "file://" + re.sub(r"([\[\]{}*?\\])", r"\\\1", str(path))


def _look_at_files(engine: Any, session: SparkSession, frame: DataFrame) -> None:
    """Parquet files elsewhere must have the same columns, or Spark would fill in missing values."""
    jvm: Any = session._jvm
    conf = session._jsparkSession.sessionState().newHadoopConf()
    found = jvm.java.util.ArrayList()
    for name in frame.inputFiles():
        path = jvm.org.apache.hadoop.fs.Path(jvm.java.net.URI(name))
        found.add(path.getFileSystem(conf).getFileStatus(path))
    read = jvm.org.apache.parquet.hadoop.ParquetFileReader.readAllFootersInParallel
    schemas = [
        footer.getParquetMetadata().getFileMetaData().getSchema().toString().splitlines()[1:-1]
        for footer in read(conf, found, True)
    ]
    other = sum(sorted(schema) != sorted(schemas[0]) for schema in schemas)
    if other:
        raise InputError(
            f"{engine.table.name}: {other} of {len(schemas)} files have other columns than the "
            "first"
        )
    for line in schemas[0] if schemas else ():
        old = re.fullmatch(r"  \w+ int96 (.*);", line)
        if old:
            engine.notes.append(Note(reading.INT96, Name(old[1])))


# -- values -------------------------------------------------------------------------------------


def _kind(kind: str) -> str:
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


def _plain(column: str, kind: str, described: str) -> str:
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
        "DOUBLE": f"WHEN 'double' THEN {_spelled(text, 'DOUBLE', 16)}",
        "FLOAT": f"WHEN 'float' THEN {_spelled(text, 'FLOAT', 8)}",
        "TIMESTAMP": f"WHEN 'timestamp' THEN CONCAT({text}, '+00')",
    }
    found = {kind.upper().partition(" ")[0] for kind in kinds} & set(ways)
    if not found:
        return text
    return f"CASE TYPEOF({value}) {' '.join(ways[kind] for kind in sorted(found))} ELSE {text} END"


def _spelled(text: str, kind: str, digits: int) -> str:
    """A float, from the text Java gives it, in the fewest digits: 25000000.5, 1e-05, 1e+16.

    Java's text may have a digit or two too many: rounded, it is the same number still.
    """
    short, full = (
        f"FORMAT_STRING('%.{d}e', TRY_CAST({text} AS DOUBLE))" for d in (digits - 1, digits)
    )
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
    """SQL in which a name stands for a value."""
    return f"TRANSFORM(ARRAY({value}), {name} -> {body})[0]"


def _text(column: str, kind: str, na: Sequence[str]) -> Column:
    from pyspark.sql import functions as sql

    text = sql.expr(as_text(column, [kind]))
    return sql.when(~text.isin(*na), text) if na else text


def _typed(text: Column, wanted: str) -> Column:
    """Text as the type a user says it has; missing where it does not fit."""
    from pyspark.sql import functions as sql

    if wanted == "text":
        return text
    fits = text.rlike(rf"\A(?:{reading.PATTERNS[wanted]})\z")
    if wanted == "int":  # 1.0 and 1. are whole
        return sql.when(fits, sql.regexp_replace(text, r"\.0*\z", "").try_cast("bigint"))
    if wanted == "float":
        text = sql.regexp_replace(text, r"(?i)\A[+-]nan\z", "nan")
        return sql.when(fits, text.try_cast("double"))
    return sql.when(fits, text.try_cast("date"))


def _compared(table: Table, name: str, column: str, kind: str, na: Sequence[str]) -> Column:
    """A column as it is compared: typed where the user says so, NaN missing, -0 = 0."""
    from pyspark.sql import functions as sql

    value, text = sql.col(column), _text(column, kind, na)
    if name in table.types:
        value = _typed(text, table.types[name])
        kind = {"int": "bigint", "float": "double"}.get(table.types[name], "")
        fails = sql.raise_error(sql.lit(UNFIT))
        value = sql.when(text.isNotNull() & value.isNull(), fails).otherwise(value)
    elif na:
        value = sql.when(text.isNotNull(), value)
    if kind in ("double", "float"):
        value = sql.when(value == 0, sql.lit(0.0).cast(kind)).when(~sql.isnan(value), value)
    return value


def _present(table: Table, name: str, column: str, kind: str, na: Sequence[str]) -> Column:
    """Missing where a column is before codes and types; otherwise, any text."""
    from pyspark.sql import functions as sql

    text = _text(column, kind, na)
    return sql.when(text != "nan", text) if kind in ("double", "float") else text


def _unfit(table: Table, name: str, column: str, kind: str, na: Sequence[str]) -> Column:
    """How many values do not fit the type that the user says their column has."""
    from pyspark.sql import functions as sql

    if name not in table.types:
        return sql.sum(sql.lit(0))
    text = _text(column, kind, na)
    return sql.sum(sql.when(text.isNotNull() & _typed(text, table.types[name]).isNull(), 1))


# -- failures -----------------------------------------------------------------------------------


def explain(error: Exception, engine: Any, *, interrupted: bool) -> SievertError:
    """A failure of the engine in our words, without a value of the data."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, KeyboardInterrupt):  # its connection has failed on the way out
            raise cause
        cause = cause.__context__
    table = engine.table
    name = table.name
    if interrupted:
        return ExhaustedError("stopped before the answer was there", hint="a longer --timeout")
    if isinstance(error, UnicodeEncodeError):
        return InputError("a text is not valid Unicode (a lone surrogate)", hint="repair the text")
    message = f"{error}\n{getattr(error, '_stackTrace', '')}"
    if UNFIT in message:
        return InputError(
            f"{name}: {_wrong(engine.unfit, table)}",
            hint="--na CODE for what stands for missing, or --type COL=text",
        )
    if _died(error):
        return EngineError("the process of Spark died", hint="a larger --memory, if it is small")
    if MEMORY.search(message):
        return ExhaustedError("memory ran out", hint="a larger --memory, or more executors")
    if reading.NO_ROOM.search(message):
        return ExhaustedError(
            "the disk is full: no room for temporary space", hint="--temp on a larger disk"
        )
    if TYPES.search(message):
        return InputError(
            f"{name}: a column has a type that Spark does not read", hint="cast it to text"
        )
    if ABSENT.search(message):
        return InputError(
            f"{name}: Spark does not reach it", hint="the address; what Spark needs to go there"
        )
    if DAMAGED.search(message):
        return InputError(f"{name}: damaged, or not readable as {table.kind}")
    return EngineError(f"Spark failed on {name} ({type(error).__name__})", hint="--debug")


def _died(error: Exception) -> bool:
    from pyspark import SparkContext

    process = getattr(SparkContext._gateway, "proc", None)
    if process is None or hasattr(error, "java_exception") or hasattr(error, "_stackTrace"):
        return False  # it has answered
    with suppress(subprocess.TimeoutExpired):
        return process.wait(1) is not None
    return False


def _wrong(count: Callable[[], dict[str, int]], table: Table) -> str:
    """How many values of each typed column do not fit, by the column's name."""
    counts = {}
    with suppress(Exception):
        counts = count()
    found = [
        f"{n} value(s) of column {column!r} are not {table.types[column]}"
        for column, n in counts.items()
        if n
    ]
    return "; ".join(found) or "a value does not fit the type of its column"
