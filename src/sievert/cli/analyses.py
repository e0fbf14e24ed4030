"""The commands that analyse a table: options in, outputs written, an exit code."""

# Annotations are not deferred here: options are read from them.
from pathlib import Path
from typing import Annotated

from sievert.cli.command_options import (
    AttackOptions,
    LimitOptions,
    MethodOptions,
    ReasoningOptions,
)
from sievert.cli.function_command import FunctionCall
from sievert.cli.options import (
    EngineOptions,
    GateOptions,
    OutputOptions,
    PageOptions,
    ReadingOptions,
    RoleOptions,
)
from sievert.cli.parameters import TableName, Traits
from sievert.cli.protect_options import BesidesOptions, ProtectOptions
from sievert.errors import require
from sievert.files import manifest_beside, pairing_beside, secrets_beside

CHART_POINTS = 20  # of a curve that is drawn, unless the user gives a number


def attack(
    release: TableName,
    /,
    *,
    roles: RoleOptions = RoleOptions(),
    attacker: AttackOptions = AttackOptions(),
    reasoner: ReasoningOptions = ReasoningOptions(),
    records: Annotated[Path | None, Traits(heading="Output")] = None,
    charts: Annotated[Path | None, Traits(heading="Output")] = None,
    reading: ReadingOptions = ReadingOptions(),
    output: OutputOptions = OutputOptions(),
    page: PageOptions = PageOptions(),
    engine: EngineOptions = EngineOptions(),
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
    command = FunctionCall("attack", roles, reading, output, page, engine, charts)
    return command.run(
        command.check_tables(
            release, attacker.register, attacker.original, reasoner.sensitive_table
        ),
        release,
        files=[records],
        records=records,
        force=output.force,
        show_values=output.show_values,
        **attacker.arguments(),
        **reasoner.arguments(),
    )


def compromise(
    data: TableName,
    /,
    *,
    roles: RoleOptions = RoleOptions(),
    method: MethodOptions = MethodOptions(),
    records: Annotated[Path | None, Traits(heading="Output")] = None,
    charts: Annotated[Path | None, Traits(heading="Output")] = None,
    reading: ReadingOptions = ReadingOptions(),
    output: OutputOptions = OutputOptions(),
    page: PageOptions = PageOptions(),
    engine: EngineOptions = EngineOptions(),
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
    command = FunctionCall("compromise", roles, reading, output, page, engine, charts)
    return command.run(
        command.check_tables(data, method.release),
        data,
        files=[records],
        records=records,
        force=output.force,
        show_values=output.show_values,
        **method.arguments(),
    )


def limit(
    data: TableName,
    /,
    *,
    roles: RoleOptions = RoleOptions(),
    settings: LimitOptions = LimitOptions(),
    release: Annotated[Path | None, Traits(("--release", "-o"), "Output")] = None,
    matrix: Annotated[Path | None, Traits(heading="Output")] = None,
    charts: Annotated[Path | None, Traits(heading="Output")] = None,
    reading: ReadingOptions = ReadingOptions(),
    output: OutputOptions = OutputOptions(),
    page: PageOptions = PageOptions(),
    engine: EngineOptions = EngineOptions(),
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
    command = FunctionCall("limit", roles, reading, output, page, engine, charts)
    tables, options = command.check_tables(data), settings.arguments()
    if charts is not None and not settings.points:
        options["points"] = CHART_POINTS
    return command.run(
        tables,
        data,
        function="randomise",
        inputs=[settings.distortion],
        files=[release, matrix, None if release is None else pairing_beside(release)],
        announced=True,
        out=release,
        matrix=matrix,
        force=output.force,
        show_values=output.show_values,
        **options,
    )


def protect(
    data: TableName,
    /,
    *,
    roles: RoleOptions = RoleOptions(),
    making: ProtectOptions = ProtectOptions(),
    beside: BesidesOptions = BesidesOptions(),
    release: Annotated[Path | None, Traits(("--release", "-o"), "Output")] = None,
    charts: Annotated[Path | None, Traits(heading="Output")] = None,
    reading: ReadingOptions = ReadingOptions(),
    output: OutputOptions = OutputOptions(),
    gate: GateOptions = GateOptions(),
    page: PageOptions = PageOptions(),
    engine: EngineOptions = EngineOptions(),
) -> int:
    """Make the release that meets a policy at the least loss.

    Every quasi-identifier is brought to one level of its hierarchy (--hierarchy, or [hierarchies]
    in the policy; proposed where none is given), and records in classes that still break a limit
    are suppressed. The search is exact. The release is read back and assessed in a new process.
    --how makes it by another method, which does what its options say and looks for no limit.

    Parameters
    ----------
    data
        The original table, as for assess.
    release
        Write the release to this .csv or .parquet file. It holds the quasi-identifiers and the
        secrets only. Spark writes Parquet as a directory. Beside it are a manifest, FILE.json, and
        a private file that pairs its rows with the original's, FILE.pairing.parquet.
    charts
        Draw the frontier as an SVG file in this directory.
    """
    require(charts is None or beside.frontier, "--charts draws the frontier", hint="--frontier")
    command = FunctionCall("protect", roles, reading, output, page, engine, charts, gate)
    manifest = None if release is None else manifest_beside(release)
    pairing = None if release is None or making.keep_order else pairing_beside(release)
    apart = release if making.how == "anatomy" else None
    secrets = None if apart is None else secrets_beside(apart)
    return command.run(
        command.check_tables(data, *(beside.earlier or ()), *(beside.beside or ())),
        data,
        inputs=making.levels or (),
        files=[release, manifest, secrets, pairing],
        announced=True,
        out=release,
        force=output.force,
        **making.arguments(),
        **beside.arguments(),
    )


def hierarchies(
    data: TableName,
    /,
    *,
    roles: RoleOptions = RoleOptions(),
    out: Annotated[Path | None, Traits(("--out", "-o"), "Output")] = None,
    fix: Annotated[bool, Traits(heading="Output")] = False,
    reading: ReadingOptions = ReadingOptions(),
    output: OutputOptions = OutputOptions(),
    page: PageOptions = PageOptions(),
    engine: EngineOptions = EngineOptions(),
) -> int:
    """Propose a hierarchy for every quasi-identifier, with the reason: how it can become coarser.

    Parameters
    ----------
    data
        The table, as for assess. Hierarchies that are given are checked and kept.
    out
        Write them to this TOML file, to edit: [hierarchies] of a policy, or --hierarchy FILE.
    fix
        With -o: write them so that other data get the same labels. Quantiles become cuts; the most
        frequent values and groups of an order are written with their values.
    """
    require(not fix or out is not None, "--fix goes with -o FILE")
    command = FunctionCall("hierarchies", roles, reading, output, page, engine, None)
    return command.run(
        command.check_tables(data),
        data,
        function="propose_hierarchies",
        files=[out],
        announced=True,
        out=out,
        fix=fix,
        force=output.force,
    )
