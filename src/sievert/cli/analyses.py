"""The commands that analyse a table: options in, outputs written, an exit code."""

# Annotations are not deferred here: options are read from them.
from pathlib import Path
from typing import Annotated

from sievert.cli.command_options import (
    FRAMEWORKS,
    AttackOptions,
    ComparisonOptions,
    LimitOptions,
    MethodOptions,
    PopulationOptions,
    ReasoningOptions,
    SubsetOptions,
)
from sievert.cli.function_command import Command
from sievert.cli.options import (
    EngineOptions,
    GateOptions,
    OutputOptions,
    PageOptions,
    ReadingOptions,
    RoleOptions,
    pairs,
)
from sievert.cli.parameters import TableName, Traits
from sievert.cli.protect_options import BesidesOptions, ProtectOptions
from sievert.errors import NOT_SHAREABLE, require
from sievert.files import manifest_beside, pairing_beside, secrets_beside
from sievert.roles import Typed

CHART_POINTS = 20  # of a curve that is drawn, unless the user gives a number


def assess(
    data: TableName,
    /,
    *,
    roles: RoleOptions = RoleOptions(),
    key_set: Annotated[list[str] | None, Traits(heading="Roles")] = None,
    trajectory: Annotated[int | None, Traits(heading="Roles")] = None,
    planned: Annotated[bool, Traits(heading="Roles")] = False,
    population: PopulationOptions = PopulationOptions(),
    attacks: Annotated[bool, Traits(heading="Attacks")] = False,
    value: Annotated[list[str] | None, Traits(heading="Attacks")] = None,
    records: Annotated[Path | None, Traits(heading="Output")] = None,
    charts: Annotated[Path | None, Traits(heading="Output")] = None,
    quick: Annotated[bool, Traits(heading="Output")] = False,
    framework: Annotated[str | None, Traits(heading="Output", choices=FRAMEWORKS)] = None,
    reading: ReadingOptions = ReadingOptions(),
    output: OutputOptions = OutputOptions(),
    gate: GateOptions = GateOptions(),
    page: PageOptions = PageOptions(),
    engine: EngineOptions = EngineOptions(),
) -> int:
    """Measure how easily a person is found in a table, and how much of each secret is given away.

    Parameters
    ----------
    data
        CSV or TSV (plain, .gz, .zst; - is stdin), Parquet (file, directory), Arrow, DuckDB
        (x.db?table=t), SPSS, Stata, SAS, Excel (x.xlsx?sheet=s).
    key_set
        In place of -q: a set of columns that an outsider could know together: age,zip. May be
        repeated; each set is assessed on its own, and the worst decides.
    trajectory
        With --person: how often so many of a person's classes are nobody else's (unicity).
    planned
        With --policy: ask about a planned release without the columns that must not be released.
        Without it, a file that still has such columns does not meet the policy.
    attacks
        Say what the five attacks on a release find that need nothing but the release.
    value
        With --attacks: COL=VALUE, the value of a secret whose rise in a class matters.
    records
        Write one row a record, in input order, to this .csv or .parquet file.
    charts
        Draw sizes of classes, what --attacks find and how near a number is, as SVG, to this folder.
    quick
        Leave out what would help (with --policy) and why (with --html or --markdown).
    framework
        Say which number answers which criterion of a regulator, on the page and in the JSON.
    """
    command = Command("assess", roles, reading, output, page, engine, charts, gate)
    for given, what in (
        (attacks, "attacks"),
        (records, "records"),
        (key_set, "key_sets"),
        (framework, "framework"),
        (population != PopulationOptions(), "population"),
    ):
        if output.share and given:
            raise NOT_SHAREABLE[what]
    require(
        not output.share or roles.quasi is not None or roles.policy is not None,
        "no quasi-identifiers given",
        hint="-q COLUMNS; without --share to see them",
    )
    gate.check_question(data, planned=planned)
    return command.run(
        command.check_tables(data, population.population),
        data,
        files=[records],
        records=records,
        planned=planned,
        **population.arguments(),
        key_sets=None if key_set is None else [Typed([text]) for text in key_set],
        trajectory=trajectory,
        attacks=attacks,
        value=pairs(value, "--value", "disease=HIV"),
        show_values=attacks and output.show_values,
        quick=quick or output.share,
        framework=framework,
        explain=page.exists and not quick and not output.share,
        force=output.force,
    )


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
    command = Command("attack", roles, reading, output, page, engine, charts)
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


def compare(
    original: TableName,
    /,
    *releases: TableName,
    roles: RoleOptions = RoleOptions(),
    comparing: ComparisonOptions = ComparisonOptions(),
    charts: Annotated[Path | None, Traits(heading="Output")] = None,
    reading: ReadingOptions = ReadingOptions(),
    output: OutputOptions = OutputOptions(),
    gate: GateOptions = GateOptions(),
    page: PageOptions = PageOptions(),
    engine: EngineOptions = EngineOptions(),
) -> int:
    """Say what releases of a table disclose and what they have lost, both in bits.

    A --policy is held against the original and every release; the exit code is 1 unless some
    release meets it.

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
    command = Command("compare", roles, reading, output, page, engine, charts, gate)
    tables = command.check_tables(original, *releases)
    require(releases, "no release given", hint="sievert compare ORIGINAL RELEASE -q COLUMNS")
    why = "--show-values goes with explain and attacks: nothing here names values"
    require(not output.show_values, why)
    return command.run(tables, original, list(releases), **comparing.arguments())


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
    command = Command("compromise", roles, reading, output, page, engine, charts)
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
    command = Command("limit", roles, reading, output, page, engine, charts)
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
    command = Command("protect", roles, reading, output, page, engine, charts, gate)
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
    command = Command("hierarchies", roles, reading, output, page, engine, None)
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


def explain(
    data: TableName,
    /,
    *,
    roles: RoleOptions = RoleOptions(),
    subsets: SubsetOptions = SubsetOptions(),
    population: PopulationOptions = PopulationOptions(),
    records: Annotated[Path | None, Traits(heading="Output")] = None,
    charts: Annotated[Path | None, Traits(heading="Output")] = None,
    reading: ReadingOptions = ReadingOptions(),
    output: OutputOptions = OutputOptions(),
    page: PageOptions = PageOptions(),
    engine: EngineOptions = EngineOptions(),
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
    command = Command("explain", roles, reading, output, page, engine, charts)
    return command.run(
        command.check_tables(data, population.population),
        data,
        files=[records],
        records=records,
        force=output.force,
        show_values=output.show_values,
        **subsets.arguments(),
        **population.arguments(),
    )
