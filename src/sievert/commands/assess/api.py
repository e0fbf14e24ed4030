"""The public function `assess`, written from the settings by `make generate`."""

from collections.abc import Iterable, Mapping
from typing import Any

from sievert.commands.assess.result import Assessment
from sievert.commands.assess.run import run
from sievert.commands.assess.settings import AssessSettings, Framework
from sievert.measurement.population_settings import IndividualRisk
from sievert.session import Steps, no_progress
from sievert.settings.groups import Missing, Names, Place
from sievert.settings.option import UNSTATED, Unstated
from sievert.settings.policy_source import PolicySource
from sievert.sources.engine_names import EngineName


def assess(
    data: Any,
    quasi: Names = None,
    sensitive: Names = None,
    identifier: Names = None,
    *,
    key_sets: Iterable[str | Iterable[str]] | None = None,
    trajectory: int | None = None,
    planned: bool = False,
    attacks: bool = False,
    value: Mapping[str, str] | None = None,
    records: Place | None = None,
    quick: bool = False,
    framework: Framework | None = None,
    orders: Mapping[str, Iterable[str]] | None = None,
    partitions: Mapping[str, Mapping[str, Iterable[str]]] | None = None,
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
    measures: Iterable[str] | None = None,
    explain: bool = False,
    population_size: int | None = None,
    fraction: float | str | None = None,
    population: Any = None,
    weight: str | None = None,
    household: str | None = None,
    individual_risk: IndividualRisk = "exact",
    alpha: float | str | None = None,
    person: str | None = None,
    policy: PolicySource = None,
    hierarchies: Mapping[str, Any] | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    header: bool = True,
    types: Mapping[str, str] | None = None,
    na: Names = (),
    suppressed: str | Unstated | None = UNSTATED,
    keep_suppressed: bool = False,
    missing: Missing = "value",
    verify: bool = False,
    max_unpacked: str | None = None,
    max_field: str | int | None = "1MB",
    max_columns: int = 10000,
    force: bool = False,
    show_values: bool = False,
    engine: EngineName | None = None,
    master: str | None = None,
    memory: str | None = None,
    threads: int | None = None,
    timeout: float | None = None,
    temp: Place | None = None,
    watch: Steps = no_progress,
) -> Assessment:
    r"""Measure how much a table exposes the people in it.

    Parameters
    ----------
    data
        A path to a CSV, TSV or Parquet file; a pandas, Polars or Arrow frame; a dict of lists;
        or a count state (`count`), with its own roles where none are given.
    quasi
        Columns that an outsider could know about a person: one name, or several.
    sensitive
        Secrets: one name, or several.
    identifier
        Columns that are dropped before release; never measured.
    key_sets
        In place of `quasi`: several sets of quasi-identifiers, each assessed on its own. The
        result is that of the worst one: policy not met or undecided, smallest k, most unique
        people.
    trajectory
        With `person`: how often so many of a person's classes are nobody else's (unicity).
    planned
        With a policy: ask about a planned release without the columns that must not be
        released. `planned_met` has the answer, and `met` is None. Of a count state that is
        always the question.
    attacks
        Say what the five attacks on a release find that need nothing but the release.
    value
        With `attacks`: of each secret the value whose rise in a class matters, such as
        ``{"disease": "HIV"}``.
    records
        Write one row a record, in input order, to this CSV or Parquet file.
    quick
        Leave out what would help (`options`), which an assessment with a policy has.
    framework
        Map the numbers to the criteria of a regulator; the SHA-256 of the input is noted too.
    orders
        Of secrets: the values from low to high.
    partitions
        Of secrets: parts by meaning, and their values.
    parameters
        Such as ``{"recursive_c": {"l": 3}, "records_below": {"k": 5}}``.
    measures
        Compute only these ids; all that apply unless given.
    explain
        Say why the numbers are as they are (`explanation`): the share of each column, the most
        telling columns.
    population_size
        The table is a sample of so many people.
    fraction
        The table is this share of the people: 0.1 for one in ten.
    population
        A table of everybody, with the same quasi-identifiers.
    weight
        The column that says how many people a record stands for.
    household
        The column that says which household a record belongs to.
    individual_risk
        With `weight`: the exact risk of a record, or approx, sdcMicro's default, never below
        it.
    alpha
        With `missing` wildcard: a record that lacks a value which another one has counts as
        this much of a match, from 0 to 1; 1 unless given.
    person
        The column that tells people apart, where they may have several rows: people are
        counted.
    policy
        A `Policy`, a TOML file, or its content as a dict.
    hierarchies
        How columns were made coarser, or could be: by column a `Hierarchy`, a specification
        such as "interval:5,10" or "date:month,year", a file, or a tree (docs/protect.md has
        every kind). Of secrets: for distances.
    delimiter
        The character between columns; found from the header unless given.
    encoding
        The text encoding of a CSV file.
    header
        Whether the first line has the names of the columns. Without names they are called
        column1, column2, ...
    types
        By column "int", "float", "date" or "text". Every CSV column is text unless typed: 01234
        is not 1234.
    na
        Texts that stand for a missing value, such as "NA".
    suppressed
        The mark of suppressed records, which have it in every quasi-identifier: "*" unless
        given here or listed in [reading] of the policy; None names missing values. Such records
        are counted apart.
    keep_suppressed
        Count suppressed records as any other.
    missing
        What a missing quasi-identifier is: a "value" of its own, a "wildcard" that matches
        anything, a reason to "drop" the record, or an "error".
    verify
        Check Parquet's page checksums and note the file's SHA-256.
    max_unpacked
        How large compressed data may become; 100 times its size and at most 20GB unless given.
    max_field
        How long a single field of a text file may be.
    max_columns
        How many columns a table may have.
    force
        Replace existing files that sievert has not written.
    show_values
        Name values of the data in the result.
    engine
        What counts: "duckdb", "spark" or "postgres"; duckdb unless the data are elsewhere.
    master
        With `engine` spark: the cluster, such as spark://host:7077; local[*] unless given.
    memory
        The most memory for data, such as "4GB": the engine spills to disk before.
    threads
        The most threads the engine may use.
    timeout
        The most seconds the run may take.
    temp
        Where the private temporary directory is made.
    watch
        Is told of every step: its name, and how far it is.

    >>> table = {"zip": ["1", "1", "2", "2"], "disease": ["flu", "flu", "flu", "hiv"]}
    >>> found = assess(table, ["zip"], ["disease"])
    >>> found.reidentification["k_anonymity"].value, found.inference["disease"]["l_diversity"].value
    (2, 1)
    """
    settings = AssessSettings(
        data=data,
        quasi=quasi,
        sensitive=sensitive,
        identifier=identifier,
        key_sets=key_sets,
        trajectory=trajectory,
        planned=planned,
        attacks=attacks,
        value=value,
        records=records,
        quick=quick,
        framework=framework,
        orders=orders,
        partitions=partitions,
        parameters=parameters,
        measures=measures,
        explain=explain,
        population_size=population_size,
        fraction=fraction,
        population=population,
        weight=weight,
        household=household,
        individual_risk=individual_risk,
        alpha=alpha,
        person=person,
        policy=policy,
        hierarchies=hierarchies,
        delimiter=delimiter,
        encoding=encoding,
        header=header,
        types=types,
        na=na,
        suppressed=suppressed,
        keep_suppressed=keep_suppressed,
        missing=missing,
        verify=verify,
        max_unpacked=max_unpacked,
        max_field=max_field,
        max_columns=max_columns,
        force=force,
        show_values=show_values,
        engine=engine,
        master=master,
        memory=memory,
        threads=threads,
        timeout=timeout,
        temp=temp,
    )
    return run(settings, watch)
