"""The public function `propose_hierarchies`, written from the settings by `make generate`."""

from collections.abc import Mapping
from typing import Any

from sievert.commands.hierarchies.result import ProposedHierarchies
from sievert.commands.hierarchies.run import run
from sievert.commands.hierarchies.settings import HierarchiesSettings
from sievert.session import Steps, no_progress
from sievert.settings.groups import Missing, Names, Place
from sievert.settings.option import UNSTATED, Unstated
from sievert.settings.policy_source import PolicySource
from sievert.sources.engine_names import EngineName


def propose_hierarchies(
    data: Any,
    quasi: Names = None,
    sensitive: Names = None,
    identifier: Names = None,
    *,
    out: Place | None = None,
    fix: bool = False,
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
    engine: EngineName | None = None,
    master: str | None = None,
    memory: str | None = None,
    threads: int | None = None,
    timeout: float | None = None,
    temp: Place | None = None,
    watch: Steps = no_progress,
) -> ProposedHierarchies:
    r"""Propose a hierarchy for every quasi-identifier, by what its values look like.

    Hierarchies that are there already, as [hierarchies] of the policy, are checked against the
    values and kept.

    Parameters
    ----------
    data
        The table: a path, a frame, a dict of lists.
    quasi
        Columns that an outsider could know about a person: one name, or several.
    sensitive
        Secrets: one name, or several.
    identifier
        Columns that are dropped before release; never measured.
    out
        Write them to this TOML file, as [hierarchies] of a policy.
    fix
        Write them so that other data get the same labels: cuts instead of quantiles, and the
        values themselves for the most frequent ones and for groups of an order.
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

    >>> table = {"age": [str(n % 63 + 18) for n in range(200)], "sex": ["f", "m"] * 100}
    >>> print(propose_hierarchies(table, ["age", "sex"]).toml().strip())
    [hierarchies]
    "age" = "interval:5,10,20,40"  # 63 different numbers
    "sex" = "*"  # 2 different values
    """
    settings = HierarchiesSettings(
        data=data,
        quasi=quasi,
        sensitive=sensitive,
        identifier=identifier,
        out=out,
        fix=fix,
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
        engine=engine,
        master=master,
        memory=memory,
        threads=threads,
        timeout=timeout,
        temp=temp,
    )
    return run(settings, watch)
