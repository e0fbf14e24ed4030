"""The command line: thin. Data on stdout, everything else on stderr."""

from __future__ import annotations

import io
import os
import re
import signal
import sys
import threading
import traceback
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

from cyclopts import App, Parameter

from sievert.cli import messages
from sievert.cli.options import (
    AttackOptions,
    ComparisonOptions,
    EngineOptions,
    LimitOptions,
    MethodOptions,
    OutputOptions,
    PageOptions,
    PopulationOptions,
    ReadingOptions,
    ReasoningOptions,
    RoleOptions,
    SubsetOptions,
    pairs,
)
from sievert.errors import (
    RefusedError,
    SievertError,
    UsageError,
    unknown,
)
from sievert.sources import isolation
from sievert.version import __version__

if TYPE_CHECKING:
    from sys import UnraisableHookArgs
    from types import FrameType

    from sievert.commands.assess.result import Assessment

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
SHOW = PageOptions()
RUN = EngineOptions()
WHICH = SubsetOptions()
SAMPLED = PopulationOptions()
HAS = AttackOptions()
THINKS = ReasoningOptions()
HELD = ComparisonOptions()
DONE = MethodOptions()
BEST = LimitOptions()


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
    page: PageOptions = SHOW,
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
        Draw the sizes of classes, what --attacks find, and how near somebody comes to a secret
        number, as SVG files in this directory.
    """
    from sievert.cli.outputs import Outputs
    from sievert.cli.progress import Watch
    from sievert.commands.assess import api as assessment
    from sievert.commands.assess import terminal
    from sievert.commands.attack import terminal as terminalattacks

    if output.share and attacks:
        raise messages.ATTACKS_TO_SHARE
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
    out = Outputs(output, page, inputs, records, charts=charts)
    with Watch() as watch:
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
    out.write(found, lambda: _charts_of(found))
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
    page: PageOptions = SHOW,
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
    from sievert.cli.outputs import Outputs
    from sievert.cli.progress import Watch
    from sievert.commands.attack import api as attacking
    from sievert.commands.attack import terminal as terminalattacks

    if output.share:
        raise messages.ATTACKS_TO_SHARE
    others = (attacker.register, attacker.original, reasoner.sensitive_table)
    tables = [release, *(t for t in others if t is not None)]
    _check_tables(tables)
    inputs = [*tables, roles.policy, *roles.hierarchies.values()]
    who = roles.arguments()
    if who.pop("parameters"):
        raise UsageError("--alpha-value goes with assess", hint="--value COL=VALUE")
    out = Outputs(output, page, inputs, records, charts=charts)
    with Watch() as watch:
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
    out.write(found, found.charts)
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
    page: PageOptions = SHOW,
    engine: EngineOptions = RUN,
) -> int:
    """Say what releases of a table disclose and what they have lost, both in bits.

    The limits of a --policy are held against the original and every release; the exit code is 1 if
    every release breaches one.

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
    from sievert.cli.outputs import Outputs
    from sievert.cli.progress import Watch
    from sievert.commands.compare import api as comparison
    from sievert.commands.compare import terminal as terminalcompare

    if output.share:
        raise messages.COMPARISON_TO_SHARE
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
    out = Outputs(output, page, inputs, charts=charts)
    with Watch() as watch:
        found = comparison.compare(
            original,
            list(releases),
            watch=watch,
            **who,
            **comparing.arguments(),
            **reading.arguments(),
            **engine.arguments(),
        )
    out.write(found, found.charts)
    if output.json_ != "-":
        sys.stdout.write(terminalcompare.render(found, everything=output.all_) + "\n")
    return 1 if found.met is False else 0


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
    page: PageOptions = SHOW,
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
    from sievert.cli.outputs import Outputs
    from sievert.cli.progress import Watch
    from sievert.commands.compromise import api as intrusion
    from sievert.commands.compromise import terminal as terminalcompromise

    if output.share:
        raise messages.COMPARISON_TO_SHARE
    tables = [t for t in (data, method.release) if t is not None]
    _check_tables(tables)
    who = roles.arguments()
    if who.pop("parameters"):
        raise UsageError("--alpha-value goes with assess")
    if who.pop("hierarchies"):
        raise UsageError("--hierarchy goes with assess, explain and compare")
    inputs = [*tables, roles.policy]
    out = Outputs(output, page, inputs, records, charts=charts)
    with Watch() as watch:
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
    out.write(found, found.charts)
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
    page: PageOptions = SHOW,
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
    from sievert.cli.outputs import Outputs
    from sievert.cli.progress import Watch
    from sievert.commands.limit import api as limited
    from sievert.commands.limit import terminal as terminallimit

    if output.share:
        raise messages.LIMIT_TO_SHARE
    _check_tables([data])
    who = roles.arguments()
    if who.pop("parameters"):
        raise UsageError("--alpha-value goes with assess")
    best = asked.arguments()
    if charts is not None and not asked.points:
        best["points"] = 20
    inputs = [data, roles.policy, *roles.hierarchies.values(), asked.distortion]
    out = Outputs(output, page, inputs, release, matrix, charts=charts)
    with Watch() as watch:
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
    out.write(found, found.charts)
    if output.json_ != "-":
        sys.stdout.write(terminallimit.render(found, everything=output.all_) + "\n")
    return 0


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
    page: PageOptions = SHOW,
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
    from sievert.cli.outputs import Outputs
    from sievert.cli.progress import Watch
    from sievert.commands.explain import api as explanation
    from sievert.commands.explain import terminal as terminalexplain

    if output.share:
        raise messages.NOT_TO_SHARE
    _check_tables([t for t in (data, population.population) if t is not None])
    inputs = [data, roles.policy, population.population, *roles.hierarchies.values()]
    who = roles.arguments()
    if who.pop("parameters"):
        raise UsageError("--alpha-value goes with assess")
    out = Outputs(output, page, inputs, records, charts=charts)
    with Watch() as watch:
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
    out.write(found, found.charts)
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


def _charts_of(found: Assessment) -> dict[str, Any]:
    from sievert.charts import of_approximate, of_attacks, of_sizes

    sizes = of_sizes(found.table.get("class_sizes", ()))
    return sizes | of_attacks({"": found.attacks or {}}) | of_approximate(found.approximate)


@app.command
def report(
    *results: Path,
    page: PageOptions = SHOW,
    min_cell: int | None = None,
    mask_names: bool = False,
    force: bool = False,
    debug: bool = False,
) -> int:
    """Put results that were saved with --json on one page; without a file, Markdown on stdout.

    Parameters
    ----------
    results
        JSON files of assess, explain, attack, compare, compromise and limit, in the order of their
        chapters.
    min_cell
        The smallest count that may be shown; 10 unless given.
    mask_names
        Hide the names of columns too.
    force
        Replace existing files that sievert has not written.
    debug
        Show the traceback of an error.
    """
    from sievert.cli.outputs import check_outputs, write_page
    from sievert.commands.report.api import build_page
    from sievert.report import builder, markdown, summary

    if not results:
        raise UsageError("no result given", hint="sievert report RESULT.json --html FILE")
    texts = None if page.texts is None else str(page.texts)
    sources = [*results, page.texts]
    check_outputs((page.html, page.markdown), sources, force=force)
    settings = builder.ReportSettings(page.internal, page.title, texts, min_cell, mask_names)
    built = build_page(results, settings)
    if page.asked:
        write_page(built, page, sources, force=force)
        sys.stdout.write(summary.first(built) + "\n")
    else:
        sys.stdout.write(markdown.render(built))
    return 0


@app.command
def paper(
    name: str,
    /,
    *,
    data: Annotated[list[str] | None, Parameter(name="--data")] = None,
    seed: int = 0,
    all_: Annotated[bool, Parameter(name="--all")] = False,
    json_: Annotated[str | None, Parameter(name="--json", allow_leading_hyphen=True)] = None,
    html: Path | None = None,
    markdown: Path | None = None,
    force: bool = False,
    debug: bool = False,
) -> int:
    """Recompute a paper: its tables, figures and verdicts, beside what is printed.

    Parameters
    ----------
    name
        itpr, discrimination-rate, mutual-information, relative-risk or approximate-compromise.
    data
        NAME=FILE, a table that the paper used: adult, pums, ...; may be repeated. Nothing is
        downloaded.
    seed
        Of what is drawn at random.
    all_
        Show every printed value, not only where it differs.
    json_
        Write every printed value with ours to this file; - is stdout.
    html
        Write the paper as one page to this file.
    markdown
        Write the same page as Markdown to this file.
    force
        Replace existing files that sievert has not written.
    debug
        Show the traceback of an error.
    """
    from sievert import papers
    from sievert.cli.outputs import as_json, check_outputs, write_page
    from sievert.cli.progress import Watch
    from sievert.papers import pages
    from sievert.papers.claims import Given

    given = pairs(data, "--data", "adult=adult.csv")
    asked = PageOptions(html, markdown)
    sources = list(given.values())
    check_outputs((json_, html, markdown), sources, force=force)
    with Watch() as watch:
        found = papers.recompute(name, Given(given, seed, lambda what: watch(what, None)))
    if json_ == "-":
        sys.stdout.write(as_json(pages.as_dict(found)))
    elif json_ is not None:
        from sievert import files

        files.write_text(json_, as_json(pages.as_dict(found)), sources=sources, force=force)
    if asked.asked:
        write_page(pages.page(found), asked, sources, force=force)
    if json_ != "-":
        sys.stdout.write(pages.terminal(found, everything=all_) + "\n")
    return 0


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
    from sievert import files
    from sievert.cli.outputs import as_json
    from sievert.commands.assess import terminal
    from sievert.commands.compare import terminal as terminalcompare
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


_stopped: list[int] = []
_swallowed: list[int] = []


def _stop(number: int, _frame: FrameType | None) -> None:
    """Engines turn an exception of a signal into one of their own: remember what it was."""
    again = bool(_swallowed)
    _swallowed.clear()
    _stopped.append(128 + number)
    if len(_stopped) == 1 or again:  # a second one must not disturb the tidying up
        raise KeyboardInterrupt


def _not_swallowed(lost: UnraisableHookArgs) -> None:
    """A signal that comes while an object is being thrown away stops nothing there: once more."""
    if not (_stopped and issubclass(lost.exc_type, KeyboardInterrupt)):
        sys.__unraisablehook__(lost)
        return
    number = _stopped[0] - 128
    _swallowed.append(number)
    here = threading.main_thread().ident or 0  # a call that waits is woken in its own thread only
    soon = threading.Timer(0.01, signal.pthread_kill, (here, number))
    soon.daemon = True
    soon.start()


def main(tokens: Iterable[str] | None = None) -> NoReturn:
    """Run the command line and leave with one of the documented exit codes."""
    os.umask(0o077)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    for number in isolation.SIGNALS:
        signal.signal(number, _stop)
    sys.unraisablehook = _not_swallowed
    arguments = list(sys.argv[1:] if tokens is None else tokens)
    raise SystemExit(_supervised(arguments))


def _supervised(arguments: list[str]) -> int:
    """Files are read in a child process: a crash of a reader is an exit code, not a crash."""
    try:
        return isolation.supervise(lambda: _run(arguments))
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
        if "--debug" in arguments and not messages.to_be_shared(arguments):
            _trace(error, values="--show-values" in arguments)
        if isinstance(error, OSError):
            _forget_output()
        return _complain(messages.in_our_words(error), arguments)


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


def _forget_output() -> None:
    """What is still in the buffer cannot be written either; do not fail again at the exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _interrupted() -> int:
    sys.stderr.write("interrupted\n")
    return _stopped[0] if _stopped else 130


def _complain(error: SievertError, arguments: Iterable[str] = ()) -> int:
    text = messages.said(error, to_be_shared=messages.to_be_shared(arguments))
    sys.stderr.write(f"error: {text}\n")
    return error.exit_code
