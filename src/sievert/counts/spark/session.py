"""How Spark is started, quiet and private, and ended.

Nothing stays behind: neither processes nor files nor changes to the caller's own session.
"""

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
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sievert.errors import EngineError, ExhaustedError, UsageError, require
from sievert.numerics import machine
from sievert.sources import unpack
from sievert.sources.options import optional_package
from sievert.sources.table import Table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MIB = 1 << 20
LEAST_MEMORY = 512  # MiB, or Spark does not start
SHARE = 4  # a quarter of the machine's memory is used, unless --memory says otherwise
SMALL = 8 * MIB  # of text: up to this size, compiling takes longer than counting
PARTITION = 2 * MIB  # of text, in one task
MOST_PARTITIONS = 200  # Spark's own number
PACKED = 4  # bytes of text per byte of Parquet
# Spark's own process, and a watcher that ends both, and their children, when the input does.
TOGETHER = 'exec 3<&0; (read -r _ <&3; kill -9 0) & exec "$0" "$@" <&3 3<&-'
REACH = 5.0  # seconds to reach a master
LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
PY4J = ("py4j.clientserver", "py4j.java_gateway")
PARTITIONS = "spark.sql.shuffle.partitions"
ENVIRONMENT = {
    "LC_ALL": "C.UTF-8",
    "SPARK_CONNECT_MODE": "0",
    "SPARK_LAUNCHER_OPTS": "-XX:-UsePerfData -XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}
INTERPRETED = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
# The settings of our session, in a Spark of our own or beside the caller's session.
SETTINGS = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "true",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.legacy.parquet.nanosAsLong": "true",
    "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning": "true",  # tables we keep adapt too
    "spark.sql.parquet.binaryAsString": "false",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.mergeSchema": "false",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
}


def check(table: Table) -> None:
    """Raise an error for a source that Spark does not read, before anything is started."""
    module = type(table.data).__module__
    require(
        not module.startswith("pyspark.sql.connect"),
        "a frame of Spark Connect is not read",
        hint="a frame of a plain session",
    )
    frame = table.kind == "frame" and module.startswith("pyspark.sql.")
    require(
        not frame or not table.data.isStreaming,
        "a stream has no last record",
        hint="a frame that is not a stream",
    )
    require(
        frame or table.kind in ("csv", "parquet", "remote"),
        "the engine spark reads files (CSV, Parquet) and Spark frames",
        hint="--engine duckdb",
    )


@contextmanager
def session(
    table: Table, scratch: Path, memory: str | None, threads: int | None, master: str | None
) -> "Iterator[SparkSession]":
    """A session of our own, beside the caller's or in a Spark of our own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a version of pandas, which is not used
        for module in ("pyspark", "pyspark.testing.utils"):  # the first question would import it
            optional_package(module, "the engine spark needs", "spark")
        from pyspark import SparkContext
        from pyspark.sql import SparkSession
    with ExitStack() as resources:
        resources.enter_context(_quiet())
        if SparkContext._active_spark_context is None:
            base = resources.enter_context(_start_spark(table, scratch, memory, threads, master))
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
    """Silence Spark's Python side, which logs messages with values to stderr."""
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
def _start_spark(
    table: Table, scratch: Path, memory: str | None, threads: int | None, master: str | None
) -> "Iterator[SparkSession]":
    """Start a Spark of our own that leaves nothing behind and accepts no other machine."""
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    require(
        master is None or threads is None,
        "--threads does not go with --master",
        hint="--master local[4]",
    )
    require(
        "," not in str(scratch),
        "Spark takes a comma in --temp for two directories",
        hint="another --temp",
    )
    require(
        shutil.which("java") or os.environ.get("JAVA_HOME"),
        "Spark needs Java, which is not found",
        hint="install Java 17 or later",
        error=EngineError,
    )
    master = master or f"local[{threads or '*'}]"
    local = {"SPARK_LOCAL_IP": "127.0.0.1"} if master.startswith("local") else {}
    environment = {**ENVIRONMENT, **local, "SPARK_LOCAL_DIRS": str(scratch)}
    _check_master(master)
    conf = SparkConf(loadDefaults=False)
    for name, value in _configuration(table, scratch, memory, master).items():
        conf.set(name, value)
    gateway = SparkContext._gateway
    modules = sys.path.copy()
    with ExitStack() as resources:
        try:
            with _variables(**environment), _own_signals():
                ours = machine.can_fork() and "PYSPARK_GATEWAY_PORT" not in os.environ
                if gateway is None and ours:
                    gateway = resources.enter_context(_launch_gateway(conf, scratch))
                base = SparkSession(SparkContext(conf=conf, gateway=gateway))
        except Exception as error:
            raise EngineError(
                f"Spark does not start ({type(error).__name__})",
                hint="Java 17 or later; a --master that is there",
            ) from None
        finally:
            sys.path[:] = modules  # it had put its own directory there
        resources.callback(_stop_spark, base, gateway)
        yield base


def _check_master(master: str) -> None:
    """Raise an error at once if nothing listens: Spark itself would try for a minute."""
    cluster = re.fullmatch("spark://(.+)", master)
    for place in cluster[1].split(",") if cluster else ():
        host, _, port = place.rpartition(":")
        with suppress(OSError, ValueError, OverflowError):
            socket.create_connection((host.strip("[]"), int(port)), REACH).close()
            return
    require(
        not cluster,
        "the --master does not answer",
        hint="spark://host:7077 of one that runs",
        error=EngineError,
    )


@contextmanager
def _launch_gateway(conf: Any, scratch: Path) -> Iterator[Any]:
    """Start the process of Spark as PySpark does, but so that it always ends with this process."""
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
        content = address.read_bytes()  # the port, the length of a password, the password
        address.unlink()
        with _variables(
            PYSPARK_GATEWAY_PORT=str(int.from_bytes(content[:4], "big")),
            PYSPARK_GATEWAY_SECRET=content[8:].decode(),
        ):
            gateway = java_gateway.launch_gateway()  # type: ignore[no-untyped-call]
        gateway.proc = process
        yield gateway
    finally:
        SparkContext._gateway = None
        SparkContext._jvm = None
        with suppress(Exception):
            gateway.shutdown()
        _end(process)


def _stop_spark(base: "SparkSession", gateway: Any) -> None:
    """Stop a Spark of our own; after Ctrl-C, or when time is up, end its process."""
    process = getattr(gateway, "proc", None)
    if process is not None and isinstance(sys.exception(), KeyboardInterrupt | ExhaustedError):
        _end(process)
    for stop in (base.stop, base.sparkContext.stop):  # if it has died, the second finds the rest
        with suppress(Exception), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            stop()


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process that we started; its files are in our directory."""
    assert process.stdin is not None
    process.stdin.close()
    process.wait()


def _configuration(table: Table, scratch: Path, memory: str | None, master: str) -> dict[str, str]:
    place = str(scratch).replace("\\", "\\\\").replace('"', '\\"')
    java = [f"-Djava.io.tmpdir={place}", f"-XX:ErrorFile={place}/crash", "-XX:-UsePerfData"]
    java.append("-XX:MetaspaceSize=256m")  # what Spark loads: no collection while it starts
    local = master.startswith("local")
    size = _size(table)
    small = local and size < SMALL
    java += ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"] if small else []
    settings = {
        **(INTERPRETED if small else {}),
        "spark.app.name": "sievert",
        "spark.driver.extraJavaOptions": " ".join(f'"{option}"' for option in java),
        "spark.driver.maxResultSize": f"{_mebibytes(memory) // 2}m",
        "spark.driver.memory": f"{_mebibytes(memory)}m",
        "spark.eventLog.enabled": "false",
        "spark.io.encryption.enabled": "true",
        "spark.local.dir": str(scratch),
        "spark.log.level": "OFF",
        "spark.master": master,
        "spark.python.sql.dataFrameDebugging.enabled": "false",
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.codegen.cache.maxEntries": "2000",
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    if local:
        settings |= {
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            PARTITIONS: str(min(size // PARTITION + 1, MOST_PARTITIONS)),
        }
    if re.fullmatch(r"local(\[.*\])?", master):
        settings["spark.authenticate"] = "true"
    return settings


def _mebibytes(memory: str | None) -> int:
    if memory is None:
        return max(1024, machine.physical_memory() // SHARE // MIB)
    mebibytes = unpack.size(memory, "--memory") // MIB
    require(mebibytes >= LEAST_MEMORY, f"--memory: Spark needs at least {LEAST_MEMORY}MiB")
    return mebibytes


def _size(table: Table) -> int:
    """Estimate the bytes of text of a table; the largest number if that is not known."""
    paths = table.parts or tuple(p for p in (table.path,) if p is not None)
    if not paths:
        return sys.maxsize
    size = sum(p.stat().st_size for p in paths)
    return size * PACKED if table.kind == "parquet" else size


@contextmanager
def _variables(**variables: str) -> Iterator[None]:
    """Set some variables of the environment inside the block."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value


@contextmanager
def _own_signals() -> Iterator[None]:
    """Keep our handler of Ctrl-C: that of Spark would hide from the command line what happened."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)
