"""The command line: thin. Data on stdout, everything else on stderr."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

from cyclopts import App, CycloptsError, Parameter, UnusedCliTokensError

from sievert import isolation
from sievert.errors import (
    ExhaustedError,
    InvariantError,
    RefusedError,
    SievertError,
    UsageError,
    printable,
    unknown,
)
from sievert.options import (
    AttackOptions,
    ComparisonOptions,
    EngineOptions,
    LimitOptions,
    MethodOptions,
    OutputOptions,
    PopulationOptions,
    ReadingOptions,
    ReasoningOptions,
    RoleOptions,
    SubsetOptions,
    pairs,
)
from sievert.version import __version__

if TYPE_CHECKING:
    from types import FrameType

    from sievert.attacking import Attacks
    from sievert.comparison import Comparison
    from sievert.explanation import Explanation
    from sievert.intrusion import Compromises
    from sievert.limited import Limited
    from sievert.result import Assessment

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
STDIN = "stdin:"
PASSWORD = re.compile(r"^postgres(ql)?://([^/@:]*:[^/@]+@|.*[?&]password=)")
ASK = RoleOptions()
READ = ReadingOptions()
WRITE = OutputOptions()
RUN = EngineOptions()
WHICH = SubsetOptions()
SAMPLED = PopulationOptions()
HAS = AttackOptions()
THINKS = ReasoningOptions()
HELD = ComparisonOptions()
DONE = MethodOptions()
BEST = LimitOptions()
ATTACKS_TO_SHARE = RefusedError(
    "attacks point at single classes: they are not fit to pass on", hint="sievert assess --share"
)
COMPARISON_TO_SHARE = RefusedError(
    "a comparison holds exact numbers of the original: it is not fit to pass on",
    hint="sievert assess --share",
)
LIMIT_TO_SHARE = RefusedError(
    "a limit holds exact numbers of the original: it is not fit to pass on",
    hint="sievert assess --share",
)
NOT_TO_SHARE = RefusedError(
    "explain points at columns, values and records: it is not fit to pass on",
    hint="sievert assess --share",
)

# nothing of the data in them
NEVER_SHARED = (ATTACKS_TO_SHARE, COMPARISON_TO_SHARE, LIMIT_TO_SHARE, NOT_TO_SHARE)


@app.command
def assess(
    data: str,
    /,
    *,
    roles: RoleOptions = ASK,
    attacks: Annotated[bool, Parameter(group="Attacks")] = False,
    value: Annotated[list[str] | None, Parameter(group="Attacks")] = None,
    records: Annotated[Path | None, Parameter(group="Output")] = None,
    charts: Annotated[Path | None, Parameter(group="Output")] = None,
    reading: ReadingOptions = READ,
    output: OutputOptions = WRITE,
    engine: EngineOptions = RUN,
) -> int:
    """Measure how easily a person is found in a table, and how much of each secret is given away.

    Parameters
    ----------
    data
        CSV or TSV (plain, .gz, .zst; - is stdin), Parquet (file, directory), Arrow, DuckDB
        (x.db?table=t), SPSS, Stata, SAS, Excel (x.xlsx?sheet=s).
    attacks
        Say what the five attacks on a release find that need nothing but the release.
    value
        With --attacks: COL=VALUE, the value of a secret whose rise in a class matters.
    records
        Write one row a record, in input order, to this .csv or .parquet file.
    charts
        Draw what --attacks find, and how near somebody comes to a secret number, as SVG files in
        this directory.
    """
    from sievert import assessment, terminal, terminalattacks
    from sievert.progress import Watch

    if output.share and attacks:
        raise ATTACKS_TO_SHARE
    if output.share and records is not None:
        raise RefusedError(
            "a record file tells about single persons: it is not fit to pass on",
            hint="--share without --records",
        )
    if output.share and roles.quasi is None and roles.policy is None:
        raise UsageError(
            "no quasi-identifiers given", hint="-q COLUMNS; without --share to see them"
        )
    _check_tables([data])
    inputs = [data, roles.policy, *roles.hierarchies.values()]
    with _outputs(output, inputs, records, charts) as write, Watch() as watch:
        found = assessment.assess(
            data,
            records=records,
            attacks=attacks,
            value=pairs(value, "--value", "disease=HIV"),
            show_values=attacks and output.show_values,
            force=output.force,
            watch=watch,
            **roles.arguments(),
            **reading.arguments(),
            **engine.arguments(),
        )
        if output.share:
            found = found.share(
                min_cell=10 if output.min_cell is None else output.min_cell,
                mask_names=output.mask_names,
            )
    write(found.to_dict(), _timed(found), lambda: _charts_of(found))
    if output.json_ != "-":
        sys.stdout.write(terminal.render(found, everything=output.all_) + "\n")
        if found.attacks is not None:
            lines = terminalattacks.chapter(found.attacks, found.rows, everything=output.all_)
            sys.stdout.write("\n".join(lines) + "\n")
    return 1 if found.met is False else 0


@app.command
def attack(
    release: str,
    /,
    *,
    roles: RoleOptions = ASK,
    attacker: AttackOptions = HAS,
    reasoner: ReasoningOptions = THINKS,
    records: Annotated[Path | None, Parameter(group="Output")] = None,
    charts: Annotated[Path | None, Parameter(group="Output")] = None,
    reading: ReadingOptions = READ,
    output: OutputOptions = WRITE,
    engine: EngineOptions = RUN,
) -> int:
    """Attack a release: alone, by reasoning, with a register of outsiders, and with the original.

    Parameters
    ----------
    release
        As for assess. --hierarchy says how its columns were generalised; types are those of the
        release, other ways to read go for all tables.
    records
        Write one row a record to this .csv or .parquet file: of the original what attacker and
        learner believe of its secret, and whether it is at risk; without the original, of the
        release, what those believe whose values fit.
    charts
        Draw what the attacks find, as SVG files in this directory.
    """
    from sievert import attacking, terminalattacks
    from sievert.progress import Watch

    if output.share:
        raise ATTACKS_TO_SHARE
    others = (attacker.register, attacker.original, reasoner.sensitive_table)
    tables = [release, *(t for t in others if t is not None)]
    _check_tables(tables)
    inputs = [*tables, roles.policy, *roles.hierarchies.values()]
    who = roles.arguments()
    if who.pop("parameters"):
        raise UsageError("--alpha-value goes with assess", hint="--value COL=VALUE")
    with _outputs(output, inputs, records, charts) as write, Watch() as watch:
        found = attacking.attack(
            release,
            records=records,
            force=output.force,
            show_values=output.show_values,
            watch=watch,
            **who,
            **attacker.arguments(),
            **reasoner.arguments(),
            **reading.arguments(),
            **engine.arguments(),
        )
    write(found.to_dict(), _timed(found), found.charts)
    if output.json_ != "-":
        sys.stdout.write(terminalattacks.render(found, everything=output.all_) + "\n")
    return 0


@app.command
def compare(
    original: str,
    /,
    *releases: str,
    roles: RoleOptions = ASK,
    comparing: ComparisonOptions = HELD,
    charts: Annotated[Path | None, Parameter(group="Output")] = None,
    reading: ReadingOptions = READ,
    output: OutputOptions = WRITE,
    engine: EngineOptions = RUN,
) -> int:
    """Say what releases of a table disclose and what they have lost, both in bits.

    Parameters
    ----------
    original
        The table that the releases were made of; as for assess.
    releases
        One or several releases of it, with the same names of columns. --hierarchy says how columns
        were generalised; ways to read go for all tables.
    charts
        Draw the map of risk and loss, with --limit the limit too, as SVG files in this directory.
    """
    from sievert import comparison, terminalcompare
    from sievert.progress import Watch

    if output.share:
        raise COMPARISON_TO_SHARE
    tables = [original, *releases]
    _check_tables(tables)
    if not releases:
        raise UsageError("no release given", hint="sievert compare ORIGINAL RELEASE -q COLUMNS")
    if output.show_values:
        raise UsageError("--show-values goes with explain and attacks: nothing here names values")
    who = roles.arguments()
    if who.pop("parameters"):
        raise UsageError("--alpha-value goes with assess")
    inputs = [*tables, roles.policy, *roles.hierarchies.values()]
    with _outputs(output, inputs, charts=charts) as write, Watch() as watch:
        found = comparison.compare(
            original,
            list(releases),
            watch=watch,
            **who,
            **comparing.arguments(),
            **reading.arguments(),
            **engine.arguments(),
        )
    write(found.to_dict(), _timed(found), found.charts)
    if output.json_ != "-":
        sys.stdout.write(terminalcompare.render(found, everything=output.all_) + "\n")
    return 0


@app.command
def compromise(
    data: str,
    /,
    *,
    roles: RoleOptions = ASK,
    method: MethodOptions = DONE,
    records: Annotated[Path | None, Parameter(group="Output")] = None,
    charts: Annotated[Path | None, Parameter(group="Output")] = None,
    reading: ReadingOptions = READ,
    output: OutputOptions = WRITE,
    engine: EngineOptions = RUN,
) -> int:
    """Say how near an intruder comes to a confidential number under sampling, queries or noise.

    Parameters
    ----------
    data
        The original table, as for assess; -s names columns of numbers.
    records
        Write one row a record, in input order, to this .csv or .parquet file.
    charts
        Draw what is left against what is known, as SVG files in this directory.
    """
    from sievert import intrusion, terminalcompromise
    from sievert.progress import Watch

    if output.share:
        raise COMPARISON_TO_SHARE
    tables = [t for t in (data, method.release) if t is not None]
    _check_tables(tables)
    who = roles.arguments()
    if who.pop("parameters"):
        raise UsageError("--alpha-value goes with assess")
    if who.pop("hierarchies"):
        raise UsageError("--hierarchy goes with assess, explain and compare")
    inputs = [*tables, roles.policy]
    with _outputs(output, inputs, records, charts) as write, Watch() as watch:
        found = intrusion.compromise(
            data,
            records=records,
            force=output.force,
            show_values=output.show_values,
            watch=watch,
            **who,
            **method.arguments(),
            **reading.arguments(),
            **engine.arguments(),
        )
    write(found.to_dict(), _timed(found), found.charts)
    if output.json_ != "-":
        sys.stdout.write(terminalcompromise.render(found, everything=output.all_) + "\n")
    return 0


@app.command
def limit(
    data: str,
    /,
    *,
    roles: RoleOptions = ASK,
    asked: LimitOptions = BEST,
    release: Annotated[Path | None, Parameter(name=["--release", "-o"], group="Output")] = None,
    matrix: Annotated[Path | None, Parameter(group="Output")] = None,
    charts: Annotated[Path | None, Parameter(group="Output")] = None,
    reading: ReadingOptions = READ,
    output: OutputOptions = WRITE,
    engine: EngineOptions = RUN,
) -> int:
    """Say how little a release could disclose at best, and release records that do.

    Parameters
    ----------
    data
        The original table, as for assess. -q names the columns that are randomised, -s the secret
        (several count as one), -i columns that are not released.
    release
        Write records drawn from the best channel to this .csv or .parquet file, all columns in
        their order.
    matrix
        Write the channel, which names values, to this .csv file.
    charts
        Draw the curve, as SVG files in this directory.
    """
    from sievert import limited, terminallimit
    from sievert.progress import Watch

    if output.share:
        raise LIMIT_TO_SHARE
    _check_tables([data])
    who = roles.arguments()
    if who.pop("parameters"):
        raise UsageError("--alpha-value goes with assess")
    best = asked.arguments()
    if charts is not None and not asked.points:
        best["points"] = 20
    inputs = [data, roles.policy, *roles.hierarchies.values(), asked.distortion]
    with _outputs(output, inputs, release, charts) as write, Watch() as watch:
        if matrix is not None and matrix.resolve() in _taken(output, release):
            raise UsageError("two outputs have the same name")
        found = limited.randomise(
            data,
            out=release,
            matrix=matrix,
            force=output.force,
            show_values=output.show_values,
            watch=watch,
            **who,
            **best,
            **reading.arguments(),
            **engine.arguments(),
        )
    write(found.to_dict(), _timed(found), found.charts)
    if output.json_ != "-":
        sys.stdout.write(terminallimit.render(found, everything=output.all_) + "\n")
    return 0


def _taken(output: OutputOptions, *others: Path | None) -> list[Path]:
    """Where outputs go."""
    given = (output.json_, output.timings, *others)
    return [Path(p).resolve() for p in given if p not in (None, "-")]


@app.command
def explain(
    data: str,
    /,
    *,
    roles: RoleOptions = ASK,
    subsets: SubsetOptions = WHICH,
    population: PopulationOptions = SAMPLED,
    records: Annotated[Path | None, Parameter(group="Output")] = None,
    charts: Annotated[Path | None, Parameter(group="Output")] = None,
    reading: ReadingOptions = READ,
    output: OutputOptions = WRITE,
    engine: EngineOptions = RUN,
) -> int:
    """Say which columns, values and records drive the risk, and what coarser columns would do.

    Parameters
    ----------
    data
        As for assess. Without -s every column is ranked as a secret; without -q that is all.
    records
        Write one row a record, in input order, to this .csv or .parquet file.
    charts
        Draw what is known and each column's share, as SVG files in this directory.
    """
    from sievert import explanation, terminalexplain
    from sievert.progress import Watch

    if output.share:
        raise NOT_TO_SHARE
    _check_tables([t for t in (data, population.population) if t is not None])
    inputs = [data, roles.policy, population.population, *roles.hierarchies.values()]
    who = roles.arguments()
    if who.pop("parameters"):
        raise UsageError("--alpha-value goes with assess")
    with _outputs(output, inputs, records, charts) as write, Watch() as watch:
        found = explanation.explain(
            data,
            records=records,
            force=output.force,
            show_values=output.show_values,
            watch=watch,
            **who,
            **subsets.arguments(),
            **population.arguments(),
            **reading.arguments(),
            **engine.arguments(),
        )
    write(found.to_dict(), _timed(found), found.charts)
    if output.json_ != "-":
        sys.stdout.write(terminalexplain.render(found, everything=output.all_) + "\n")
    return 0


def _check_tables(tables: list[str]) -> None:
    """No password in sight, and standard input holds one table only."""
    if any(PASSWORD.search(t) for t in tables):
        raise RefusedError(
            "a password in a command is seen by everybody on the machine",
            hint="PGPASSWORD in the environment, or ~/.pgpass",
        )
    if tables.count(STDIN) > 1:
        raise UsageError("standard input holds one table", hint="files for the others")


@contextmanager
def _outputs(
    output: OutputOptions,
    inputs: list[Any],
    records: Path | None = None,
    charts: Path | None = None,
) -> Iterator[Callable[[Mapping[str, Any], Mapping[str, Any], Callable[[], Any]], None]]:
    """Check, before the work and not after it, that outputs can be written; then write them."""
    from sievert import files

    paths = [Path(o) for o in (output.json_, records, output.timings) if o not in (None, "-")]
    if len({p.resolve() for p in paths}) < len(paths):
        raise UsageError("two outputs have the same name")
    for path in paths:
        files.check(path, sources=inputs, force=output.force)
    if charts is not None:
        _check_charts(charts, inputs, paths)

    def write(
        result: Mapping[str, Any], timings: Mapping[str, Any], draw: Callable[[], Any]
    ) -> None:
        specs = {} if charts is None else _drawable(charts, draw(), inputs, force=output.force)
        for path, content in ((output.json_, result), (output.timings, timings)):
            if path == "-":
                sys.stdout.write(as_json(content))
            elif path is not None:
                files.write_text(path, as_json(content), sources=inputs, force=output.force)
        if charts is not None:  # last: whatever a picture fails of, the numbers are there
            _draw(charts, specs, inputs, force=output.force)

    yield write


def _charts_of(found: Assessment) -> dict[str, Any]:
    from sievert.charts import of_approximate, of_attacks

    return of_attacks({"": found.attacks or {}}) | of_approximate(found.approximate)


def _check_charts(folder: Path, inputs: list[Any], others: list[Path]) -> None:
    from sievert import charts

    if str(folder) == STDIN:
        raise UsageError("charts are files in a directory", hint="--charts DIR")
    place, taken = folder.resolve(), [other.resolve() for other in others]
    if place in taken or any(t.parent == place and t.suffix.lower() == ".svg" for t in taken):
        raise UsageError("two outputs have the same name")
    charts.check(folder, sources=inputs)


def _drawable(
    folder: Path, specs: Mapping[str, Any], inputs: list[Any], *, force: bool
) -> Mapping[str, Any]:
    from sievert import charts

    if not specs:
        raise UsageError(
            "no chart can be drawn of this", hint="--attacks, -q COLUMNS, or a secret of numbers"
        )
    charts.check(folder, specs, sources=inputs, force=force)
    return specs


def _draw(folder: Path, specs: Mapping[str, Any], inputs: list[Any], *, force: bool) -> None:
    from sievert import charts

    for path in charts.write(folder, specs, sources=inputs, force=force):
        sys.stderr.write(f"written: {printable(str(path))}\n")


@app.command
def measures(
    *ids: str,
    json_: Annotated[str | None, Parameter(name="--json", allow_leading_hyphen=True)] = None,
    force: bool = False,
    debug: bool = False,
) -> int:
    """Every measure and every loss: what it means, its range, its source.

    Parameters
    ----------
    ids
        Only these.
    json_
        Write the records to this file; - is stdout.
    force
        Replace an existing file that sievert has not written.
    debug
        Show the traceback of an error.
    """
    from sievert import files, terminal, terminalcompare
    from sievert.losses import BY_ID as LOSSES
    from sievert.measures import BY_ID

    for name in ids:
        if name not in BY_ID and name not in LOSSES:
            raise unknown("measure", name, (*BY_ID, *LOSSES))
    chosen = [i for i in ids or BY_ID if i in BY_ID]
    losses = [i for i in ids or LOSSES if i in LOSSES]
    if json_ is not None:
        found = {i: _record(i) for i in chosen}
        held = {i: _loss_record(i) for i in losses}
        text = as_json({"sievert": __version__, "measures": found, "losses": held})
        if json_ == "-":
            sys.stdout.write(text)
        else:
            files.write_text(json_, text, force=force)
        return 0
    blocks = (terminal.describe(chosen), terminalcompare.describe(losses))
    sys.stdout.write("\n\n".join(b for b in blocks if b) + "\n")
    return 0


def _loss_record(loss_id: str) -> dict[str, Any]:
    from sievert.losses import BY_ID

    kind = BY_ID[loss_id]
    names = ("title", "unit", "low", "high", "worse", "formula", "reading", "source")
    return {name: getattr(kind, name) for name in names}


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


def _timed(
    found: Assessment | Attacks | Comparison | Compromises | Explanation | Limited,
) -> dict[str, Any]:
    whole = sum(found.timings.values())
    return {
        "sievert": __version__,
        "seconds": dict(found.timings),
        "total": whole,
        "records_per_second": found.rows / whole if whole and found.rows else None,
        "peak_memory_bytes": dict(found.peaks),
    }


_stopped: list[int] = []


def _stop(number: int, _frame: FrameType | None) -> None:
    """Engines turn an exception of a signal into one of their own: remember what it was."""
    _stopped.append(128 + number)
    if len(_stopped) == 1:  # a second one must not disturb the tidying up
        raise KeyboardInterrupt


def main(tokens: Iterable[str] | None = None) -> NoReturn:
    """Run the command line and leave with one of the documented exit codes."""
    os.umask(0o077)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    for number in isolation.SIGNALS:
        signal.signal(number, _stop)
    arguments = list(sys.argv[1:] if tokens is None else tokens)
    raise SystemExit(_supervised(arguments))


def _supervised(arguments: list[str]) -> int:
    """Files are read in a child process: a crash of a reader is an exit code, not a crash."""
    try:
        return isolation.supervised(lambda: _run(arguments))
    except SievertError as error:
        return _complain(error, arguments)


def _run(arguments: list[str]) -> int:
    before = ["", *arguments]
    tokens = [
        STDIN if token == "-" and previous != "--json" else token
        for previous, token in zip(before, arguments, strict=False)
    ]
    try:
        code = app(tokens, exit_on_error=False, print_error=False, result_action="return_value")
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
        if "--debug" in arguments and not _to_be_shared(arguments):
            _trace(error, values="--show-values" in arguments)
        return _complain(_in_our_words(error), arguments)


def _trace(error: Exception, *, values: bool) -> None:
    """Where an error came up; the words of engines and libraries only where values may be shown."""
    if values:
        error.__suppress_context__ = False
        traceback.print_exc()
        return
    link: BaseException | None = error
    while link is not None:
        sys.stderr.write("".join(traceback.format_tb(link.__traceback__)))
        sys.stderr.write(f"{type(link).__name__} (its words may hold values: --show-values)\n")
        link = link.__cause__ or link.__context__


def _in_our_words(error: Exception) -> SievertError:
    """Every failure as one of ours, without anything the data may have put into its message."""
    if isinstance(error, SievertError):
        return error
    if isinstance(error, UnusedCliTokensError):
        return UsageError("names are separated by commas, without blanks", hint="-q age,zip")
    if isinstance(error, CycloptsError):
        ours = error.__cause__
        if isinstance(ours, SievertError):  # of an option that does not go with another
            return ours
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


def _complain(error: SievertError, arguments: Iterable[str] = ()) -> int:
    text = str(error)
    if _to_be_shared(arguments) and error not in NEVER_SHARED:
        # Names of files and columns, small counts: none of it may go out.
        text = f"{PLAINLY[error.exit_code]}. Try: the same without --share, which says more"
    sys.stderr.write(f"error: {text}\n")
    return error.exit_code


PLAINLY = {
    2: "an option, a role or the policy does not make sense",
    3: "the data cannot be read as they stand",
    5: "memory, disk or time ran out",
    6: "the engine failed, or the data made a reader fail",
    7: "refused for safety",
    70: "a defect of sievert itself",
}


def _to_be_shared(arguments: Iterable[str]) -> bool:
    return any(token.partition("=")[0] == "--share" for token in arguments)
