"""The public function `compare`, written from the settings by `make generate`."""

from collections.abc import Mapping
from typing import Any

from sievert.commands.compare.result import Comparison
from sievert.commands.compare.run import run
from sievert.commands.compare.settings import CompareSettings
from sievert.session import Steps, no_progress
from sievert.settings.groups import Missing, Names, Place
from sievert.settings.option import UNSTATED, Unstated
from sievert.settings.policy_source import PolicySource
from sievert.sources.engine_names import EngineName


def compare(
    original: Any,
    releases: Any,
    quasi: Names = None,
    sensitive: Names = None,
    identifier: Names = None,
    *,
    key: str | None = None,
    paired: bool = False,
    predict: Names = None,
    bins: Mapping[str, int] | None = None,
    shuffles: int = 99,
    seed: int = 0,
    limit: bool = False,
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
    engine: EngineName | None = None,
    master: str | None = None,
    memory: str | None = None,
    threads: int | None = None,
    timeout: float | None = None,
    temp: Place | None = None,
    watch: Steps = no_progress,
) -> Comparison:
    r"""Measure what releases of a table disclose and what they have lost, both in bits.

    Parameters
    ----------
    original
        The table that the releases were made of: a path, a frame, a dict of lists.
    releases
        One release, a list of them, or a dict of names and releases.
    quasi
        Columns that an outsider could know about a person: one name, or several.
    sensitive
        Secrets: one name, or several.
    identifier
        Columns that are dropped before release; never measured.
    key
        A column that tells people apart, the same in all tables. Without it a release needs the
        pairing file that `protect` wrote, beside it; or it must have its records in the order
        of the original, and the tables must show that it has.
    paired
        Say that releases have their records in the order of the original, where the tables
        cannot show it. Where they show that it is not so, this is refused.
    predict
        Columns to predict from the release and from the original; the secrets unless given.
    bins
        Numbers cut at quantiles of the original, such as ``{"income": 10}``; 0 takes the values
        as they are. Columns of nearly as many numbers as records are cut unless told otherwise.
    shuffles
        From how many shuffles a p-value is made; 0 for none.
    seed
        Where shuffling starts.
    limit
        Hold each release against the least bits about a secret that its distortion would allow.
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

    >>> original = {"age": ["21", "22", "35", "36"], "disease": ["flu", "flu", "hiv", "flu"]}
    >>> release = {"age": ["2*", "2*", "3*", "3*"], "disease": ["flu", "flu", "hiv", "flu"]}
    >>> found = compare(original, {"tens": release}, "age", "disease", paired=True)
    >>> found["tens"].disclosed.identity.whole.value
    1.0
    """
    settings = CompareSettings(
        original=original,
        releases=releases,
        quasi=quasi,
        sensitive=sensitive,
        identifier=identifier,
        key=key,
        paired=paired,
        predict=predict,
        bins=bins,
        shuffles=shuffles,
        seed=seed,
        limit=limit,
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
        engine=engine,
        master=master,
        memory=memory,
        threads=threads,
        timeout=timeout,
        temp=temp,
    )
    return run(settings, watch)
