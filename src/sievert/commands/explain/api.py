"""The public function `explain`, written from the settings by `make generate`."""

from collections.abc import Mapping
from typing import Any

from sievert.commands.explain.result import Explanation
from sievert.commands.explain.run import run
from sievert.commands.explain.settings import ExplainSettings
from sievert.measurement.population_settings import IndividualRisk
from sievert.session import Steps, no_progress
from sievert.settings.groups import Missing, Names, Place
from sievert.settings.option import UNSTATED, Unstated
from sievert.settings.policy_source import PolicySource
from sievert.sources.engine_names import EngineName


def explain(
    data: Any,
    quasi: Names = None,
    sensitive: Names = None,
    identifier: Names = None,
    *,
    max_size: int | None = None,
    budget: int | None = None,
    orders: int | None = None,
    seed: int = 0,
    records: Place | None = None,
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
) -> Explanation:
    r"""Explain which columns, values and records drive the risk of a table.

    Parameters
    ----------
    data
        As for `assess`: a path, a frame, a dict of lists, or a count state, whose records have
        no row numbers. Without `sensitive` every column is ranked as a secret; without `quasi`
        that is all.
    quasi
        Columns that an outsider could know about a person: one name, or several.
    sensitive
        Secrets: one name, or several.
    identifier
        Columns that are dropped before release; never measured.
    max_size
        Only subsets of at most so many columns. All are measured up to 12 columns.
    budget
        Only so many subsets, the most telling first.
    orders
        Orders of the columns from which shares are sampled if not all subsets are measured: 64.
    seed
        Where sampling starts.
    records
        Write one row a record, in input order, to this .csv or .parquet file.
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

    >>> table = {"zip": ["1", "1", "2", "3"], "sex": ["f", "m", "m", "m"]}
    >>> found = explain(table, ["zip", "sex"])
    >>> found.subset("zip").reidentification["unique_count"], found.whole.columns
    (2, ('zip', 'sex'))
    """
    settings = ExplainSettings(
        data=data,
        quasi=quasi,
        sensitive=sensitive,
        identifier=identifier,
        max_size=max_size,
        budget=budget,
        orders=orders,
        seed=seed,
        records=records,
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
