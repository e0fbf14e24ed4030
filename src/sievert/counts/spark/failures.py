"""What Spark's failures mean in our words.

Its messages repeat values of the data, so only their kind is passed on.
"""

import re
import subprocess
from contextlib import suppress
from typing import Any

from sievert.counts.duckdb.failures import NO_ROOM, UNFIT_HINT, describe_unfit
from sievert.errors import EngineError, ExhaustedError, InputError, SievertError

UNFIT = "sievert: unfit"  # the message of a failure that our queries raise
# The meaning of a message of Spark, or of its stack trace.
FAILURES: tuple[tuple[str, type[SievertError], str, str | None], ...] = (
    (
        "OutOfMemoryError|GC overhead|SparkOutOfMemory|maxResultSize",
        ExhaustedError,
        "memory ran out",
        "a larger --memory, or more executors",
    ),
    (
        NO_ROOM.pattern,
        ExhaustedError,
        "the disk is full: no room for temporary space",
        "--temp on a larger disk",
    ),
    (
        "PARQUET_TYPE|UNSUPPORTED_TIME_TYPE|UNSUPPORTED_DATA_TYPE|UNSUPPORTED_ARROWTYPE",
        InputError,
        "{name}: a column has a type that Spark does not read",
        "cast it to text",
    ),
    (
        "PATH_NOT_FOUND|FILE_NOT_EXIST|FileSystem not found|UnsupportedFileSystem|"
        "UnknownHost|AccessDenied|AccessControl|ConnectException",
        InputError,
        "{name}: Spark does not reach it",
        "the address; what Spark needs to go there",
    ),
    (
        "FAILED_READ_FILE|CANNOT_READ_FILE|UNABLE_TO_INFER_SCHEMA|MALFORMED_",
        InputError,
        "{name}: damaged, or not readable as {kind}",
        None,
    ),
    ("", EngineError, "Spark failed on {name} ({error})", "--debug"),
)


def explain(error: Exception, engine: Any, *, interrupted: bool) -> SievertError:
    """Describe a failure of the engine in our words, without a value of the data."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, KeyboardInterrupt):  # its connection has failed on the way out
            raise cause
        cause = cause.__context__
    table = engine.table
    if interrupted:
        return ExhaustedError("stopped before the answer was there", hint="a longer --timeout")
    if isinstance(error, UnicodeEncodeError):
        return InputError("a text is not valid Unicode (a lone surrogate)", hint="repair the text")
    message = f"{error}\n{getattr(error, '_stackTrace', '')}"
    if UNFIT in message:
        counts: dict[str, int] = {}
        with suppress(Exception):
            counts = engine.unfit()
        return InputError(f"{table.name}: {describe_unfit(counts, table)}", hint=UNFIT_HINT)
    if _has_died(error):
        return EngineError("the process of Spark died", hint="a larger --memory, if it is small")
    failure, what, hint = next(row[1:] for row in FAILURES if re.search(row[0], message))
    words = {"name": table.name, "kind": table.kind, "error": type(error).__name__}
    return failure(what.format(**words), hint=hint)


def _has_died(error: Exception) -> bool:
    from pyspark import SparkContext

    process = getattr(SparkContext._gateway, "proc", None)
    if process is None or hasattr(error, "java_exception") or hasattr(error, "_stackTrace"):
        return False  # it has answered
    with suppress(subprocess.TimeoutExpired):
        return process.wait(1) is not None
    return False
