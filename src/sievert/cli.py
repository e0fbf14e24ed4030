"""The command line: thin. Data on stdout, everything else on stderr."""

from __future__ import annotations

import io
import json
import os
import signal
import sys
import traceback
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

from cyclopts import App, CycloptsError, Group, Parameter, UnusedCliTokensError

from sievert.errors import (
    ExhaustedError,
    InvariantError,
    SievertError,
    UsageError,
    unknown,
)
from sievert.roles import Typed
from sievert.version import __version__

if TYPE_CHECKING:
    from types import FrameType

app = App(
    name="sievert",
    version=__version__,
    help=(
        "Measure how much a data release exposes the people in it.\n\n"
        "Exit codes: 0 done; 1 a limit is breached; 2 usage; 3 input unreadable; 5 memory, disk or "
        "time ran out; 6 the engine failed; 7 refused for safety; 70 a defect of sievert; 130, 143 "
        "interrupted."
    ),
    help_format="plaintext",
    default_parameter=Parameter(negative=()),
    suppress_keyboard_interrupt=False,
)
ROLES = Group("Roles", sort_key=1)
READING = Group("Reading", sort_key=2)
OUTPUT = Group("Output", sort_key=3)
ENGINE = Group("Engine", sort_key=4)


def _pairs(given: Iterable[str] | None, option: str, example: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in given or ():
        column, sign, value = text.partition("=")
        if not sign or not column or not value:
            raise UsageError(f"{option} takes COLUMN=SOMETHING", hint=f"{option} {example}")
        if column in found:
            raise UsageError(f"{option} is given twice for column {column!r}")
        found[column] = value
    return found


def _typed(given: list[str] | None) -> Typed | None:
    return None if given is None else Typed(given)


@app.command
def assess(
    data: str,
    /,
    *,
    quasi: Annotated[
        list[str] | None, Parameter(name=["--quasi", "-q", "--qi"], group=ROLES)
    ] = None,
    sensitive: Annotated[
        list[str] | None, Parameter(name=["--sensitive", "-s", "--sa"], group=ROLES)
    ] = None,
    identifier: Annotated[
        list[str] | None, Parameter(name=["--identifier", "-i"], group=ROLES)
    ] = None,
    policy: Annotated[Path | None, Parameter(group=ROLES)] = None,
    hierarchy: Annotated[list[str] | None, Parameter(group=ROLES)] = None,
    alpha_value: Annotated[list[str] | None, Parameter(group=ROLES)] = None,
    delimiter: Annotated[str | None, Parameter(group=READING)] = None,
    encoding: Annotated[str, Parameter(group=READING)] = "utf-8",
    type_: Annotated[list[str] | None, Parameter(name="--type", group=READING)] = None,
    na: Annotated[list[str] | None, Parameter(group=READING)] = None,
    missing: Annotated[str, Parameter(group=READING)] = "value",
    max_unpacked: Annotated[str | None, Parameter(group=READING)] = None,
    verify: Annotated[bool, Parameter(group=READING)] = False,
    all_: Annotated[bool, Parameter(name="--all", group=OUTPUT)] = False,
    json_: Annotated[
        str | None, Parameter(name="--json", group=OUTPUT, allow_leading_hyphen=True)
    ] = None,
    records: Annotated[Path | None, Parameter(group=OUTPUT)] = None,
    timings: Annotated[Path | None, Parameter(group=OUTPUT)] = None,
    force: Annotated[bool, Parameter(group=OUTPUT)] = False,
    engine: Annotated[str, Parameter(group=ENGINE)] = "duckdb",
    memory: Annotated[str | None, Parameter(group=ENGINE)] = None,
    threads: Annotated[int | None, Parameter(group=ENGINE)] = None,
    timeout: Annotated[float | None, Parameter(group=ENGINE)] = None,
    temp: Annotated[Path | None, Parameter(group=ENGINE)] = None,
    debug: Annotated[bool, Parameter(group=ENGINE)] = False,
) -> int:
    """Measure how easily a person is found in a table, and how much of each secret is given away.

    Parameters
    ----------
    data
        CSV or TSV (plain, .gz, .zst), Parquet (file, directory), Arrow, DuckDB (x.db?table=t).
    quasi
        Columns an outsider could know about a person: age,zip. May be repeated.
    sensitive
        Secrets: disease,salary. May be repeated.
    identifier
        Columns that are dropped before release; never measured.
    policy
        A TOML file with roles, partitions, orders, parameters and limits; exit 1 if breached.
    hierarchy
        COL=FILE (as ARX writes them), COL=prefix, COL=interval:5,10,20: for a secret's distance.
    alpha_value
        COL=VALUE: alpha_k of this value of a secret only.
    delimiter
        The character between columns; found from the header unless given.
    encoding
        The text encoding of a CSV file.
    type_
        COL=int, float, date or text. Every CSV column is text unless typed: 01234 is not 1234.
    na
        Text that stands for a missing value, such as NA. May be repeated.
    missing
        What a missing quasi-identifier is: value, wildcard (matches any), drop (the record), error.
    max_unpacked
        How large a compressed file may become; 100 times its size and at most 20GB unless given.
    verify
        Check Parquet's page checksums and note the file's SHA-256.
    all_
        Show every measure, not only the headlines.
    json_
        Write the whole result to this file; - is stdout.
    records
        Write one row a record, in input order, to this .csv or .parquet file.
    timings
        Write the seconds of each step to this file.
    force
        Replace existing files that sievert has not written.
    engine
        What counts: duckdb.
    memory
        The most memory the engine may use, such as 4GB; it spills to disk beyond.
    threads
        The most threads the engine may use.
    timeout
        The most seconds the run may take; exit 5 beyond.
    temp
        Where the private temporary directory is made.
    debug
        Show the traceback of an error. It may contain values of the data.
    """
    from sievert import assessment, files, terminal
    from sievert.progress import Watch

    ladders = _pairs(hierarchy, "--hierarchy", "disease=FILE")
    inputs = [data, policy, *ladders.values()]
    outputs = [Path(o) for o in (json_, records, timings) if o not in (None, "-")]
    if len({o.resolve() for o in outputs}) < len(outputs):
        raise UsageError("two outputs have the same name")
    for output in outputs:  # before the work, not after it
        files.check(output, sources=inputs, force=force)
    alpha = _pairs(alpha_value, "--alpha-value", "disease=HIV")
    with Watch() as watch:
        found = assessment.assess(
            data,
            _typed(quasi),
            _typed(sensitive),
            _typed(identifier),
            hierarchies=ladders,
            parameters={"alpha_k": {"value": alpha}} if alpha else {},
            policy=policy,
            records=records,
            force=force,
            missing=missing,
            verify=verify,
            watch=watch,
            delimiter=delimiter,
            encoding=encoding,
            types=_pairs(type_, "--type", "age=int"),
            na=na or (),
            max_unpacked=max_unpacked,
            engine=engine,
            memory=memory,
            threads=threads,
            timeout=timeout,
            temp=temp,
        )
    if json_ not in (None, "-"):
        files.write_text(json_, as_json(found.to_dict()), sources=inputs, force=force)
    if timings is not None:
        text = as_json(_timed(found.timings, found.rows))
        files.write_text(timings, text, sources=inputs, force=force)
    if json_ == "-":
        sys.stdout.write(as_json(found.to_dict()))
    else:
        sys.stdout.write(terminal.render(found, everything=all_) + "\n")
    return 1 if found.met is False else 0


@app.command
def measures(
    *ids: str,
    json_: Annotated[str | None, Parameter(name="--json", allow_leading_hyphen=True)] = None,
    force: bool = False,
    debug: bool = False,
) -> int:
    """Every measure: what it means, its range, its source.

    Parameters
    ----------
    ids
        Only these measures.
    json_
        Write the records to this file; - is stdout.
    force
        Replace an existing file that sievert has not written.
    debug
        Show the traceback of an error.
    """
    from sievert import files, terminal
    from sievert.measures import BY_ID

    for name in ids:
        if name not in BY_ID:
            raise unknown("measure", name, BY_ID)
    chosen = ids or tuple(BY_ID)
    if json_ is not None:
        text = as_json({"sievert": __version__, "measures": {i: _record(i) for i in chosen}})
        if json_ == "-":
            sys.stdout.write(text)
        else:
            files.write_text(json_, text, force=force)
        return 0
    sys.stdout.write(terminal.describe(chosen) + "\n")
    return 0


def _record(measure_id: str) -> dict[str, Any]:
    from sievert.measures import BY_ID

    m = BY_ID[measure_id]
    return {
        "title": m.title,
        "unit": m.unit,
        "low": m.low,
        "high": m.high,
        "riskier": m.riskier,
        "formula": m.formula,
        "reading": m.reading,
        "source": m.source,
        "laws": [law.name.lower() for law in m.laws],
        "about": list(m.kinds),
    }


def as_json(content: Mapping[str, Any]) -> str:
    """Stable text: sorted keys, no NaN or infinity, one form for each number."""
    return json.dumps(content, sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _timed(steps: Mapping[str, float], rows: int) -> dict[str, Any]:
    whole = sum(steps.values())
    rate = rows / whole if whole else None
    return {
        "sievert": __version__,
        "seconds": dict(steps),
        "total": whole,
        "records_per_second": rate,
    }


_stopped: list[int] = []


def _stop(number: int, _frame: FrameType | None) -> NoReturn:
    """Engines turn an exception of a signal into one of their own: remember what it was."""
    _stopped.append(128 + number)
    raise KeyboardInterrupt


def main(tokens: Iterable[str] | None = None) -> NoReturn:
    """Run the command line and leave with one of the documented exit codes."""
    os.umask(0o077)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    signal.signal(signal.SIGTERM, _stop)
    signal.signal(signal.SIGINT, _stop)
    arguments = list(sys.argv[1:] if tokens is None else tokens)
    raise SystemExit(_run(arguments))


def _run(arguments: list[str]) -> int:
    debug = "--debug" in arguments
    try:
        code = app(arguments, exit_on_error=False, print_error=False, result_action="return_value")
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except BrokenPipeError:
        _forget_output()
        return 0
    except KeyboardInterrupt:
        return _interrupted()
    except Exception as error:
        if _stopped:
            return _interrupted()
        if debug:
            error.__suppress_context__ = False
            traceback.print_exc()
        return _complain(_in_our_words(error))


def _in_our_words(error: Exception) -> SievertError:
    """Every failure as one of ours, without anything the data may have put into its message."""
    if isinstance(error, SievertError):
        return error
    if isinstance(error, UnusedCliTokensError):
        return UsageError("names are separated by commas, without blanks", hint="-q age,zip")
    if isinstance(error, CycloptsError):
        return UsageError(" ".join(str(error).split()).rstrip("."), hint="sievert --help")
    if isinstance(error, MemoryError):
        return ExhaustedError("out of memory", hint="--memory with a smaller size")
    if isinstance(error, OSError):
        _forget_output()
        return ExhaustedError(f"the output cannot be written: {error.strerror}")
    return InvariantError(
        f"a defect of sievert itself ({type(error).__name__})",
        hint="the same command with --debug, and report what it shows",
    )


def _forget_output() -> None:
    """What is still in the buffer cannot be written either; do not fail again at the exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _interrupted() -> int:
    sys.stderr.write("interrupted\n")
    return _stopped[0] if _stopped else 130


def _complain(error: SievertError) -> int:
    sys.stderr.write(f"error: {error}\n")
    return error.exit_code
