"""The public function `compromise`, written from the settings by `make generate`."""

from collections.abc import Iterable, Mapping
from typing import Any

from sievert.commands.compromise.result import Compromises
from sievert.commands.compromise.run import run
from sievert.commands.compromise.settings import (
    CompromiseSettings,
    Matching,
    OriginWeights,
    ProtectionMethod,
    SamplePrior,
)
from sievert.session import Steps, no_progress
from sievert.settings.groups import Missing, Names, Place
from sievert.settings.option import UNSTATED, Unstated
from sievert.settings.policy_source import PolicySource
from sievert.sources.engine_names import EngineName


def compromise(
    data: Any,
    quasi: Names = None,
    sensitive: Names = None,
    identifier: Names = None,
    *,
    person: str | None = None,
    method: ProtectionMethod = "sampling",
    parameters: Iterable[float] | None = None,
    release: Any = None,
    key: str | None = None,
    paired: bool = False,
    epsilon: Iterable[float] = (),
    step: float | None = None,
    replicates: int = 30,
    max_known: int | None = None,
    seed: int = 0,
    prior: SamplePrior = "uniform",
    weights: OriginWeights = "uniform",
    matching: Matching = "oracle",
    records: Place | None = None,
    policy: PolicySource = None,
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
) -> Compromises:
    r"""Measure how near an intruder comes to a confidential number under a protection method.

    Parameters
    ----------
    data
        The original table: a path, a frame, a dict of lists. The columns `quasi` are those that
        an intruder may know, `sensitive` the confidential ones, of numbers; the columns
        `identifier` are never looked at.
    quasi
        Columns that an outsider could know about a person: one name, or several.
    sensitive
        Secrets: one name, or several.
    identifier
        Columns that are dropped before release; never measured.
    person
        The column that tells people apart, where they may have several rows: refused where
        people have several.
    method
        "sampling", "query" (restriction), "noise", or "release": any other, from a released
        table.
    parameters
        Fractions, sizes of query sets, or percents of noise.
    release
        With the method "release": the released table, with the pairing file that `protect`
        wrote beside it, or in the order of the original, as the tables must show, unless a key
        tells people apart.
    key
        With the method "release": a column that tells people apart, in both tables.
    paired
        Say that the release is in the order of the original, where the tables cannot show it.
        Where they show that it is not so, this is refused.
    epsilon
        Widths: who is compromised approximately has all values left within one of them.
    step
        Round confidential numbers to multiples of this.
    replicates
        How often a method is run for each parameter.
    max_known
        At most so many known columns.
    seed
        Where chance starts.
    prior
        Of sampling: what unsampled matches are taken to have, "uniform" or as in the "sample".
    weights
        Of noise: how likely the origins of a value are, "uniform" or "posterior".
    matching
        Of noise: who matches what is known, "oracle" or "likelihood".
    records
        Write one row a record, in input order, to this .csv or .parquet file.
    policy
        A `Policy`, a TOML file, or its content as a dict.
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

    >>> table = {"sex": ["f", "m", "f", "m"], "pay": ["10", "20", "30", "20"]}
    >>> found = compromise(table, "sex", "pay", parameters=[0.5], replicates=2)
    >>> found.curves["pay"][0].points[0].known
    1
    """
    settings = CompromiseSettings(
        data=data,
        quasi=quasi,
        sensitive=sensitive,
        identifier=identifier,
        person=person,
        method=method,
        parameters=parameters,
        release=release,
        key=key,
        paired=paired,
        epsilon=epsilon,
        step=step,
        replicates=replicates,
        max_known=max_known,
        seed=seed,
        prior=prior,
        weights=weights,
        matching=matching,
        records=records,
        policy=policy,
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
