"""The public function `attack`, written from the settings by `make generate`."""

from collections.abc import Iterable, Mapping
from typing import Any

from sievert.attacks.reasoning.settings import Likelihood, ReasoningMethod, Weights
from sievert.commands.attack.result import Attacks
from sievert.commands.attack.run import run
from sievert.commands.attack.settings import AttackSettings
from sievert.session import Steps, no_progress
from sievert.settings.groups import Missing, Names, Place
from sievert.settings.option import UNSTATED, Unstated
from sievert.settings.policy_source import PolicySource
from sievert.sources.engine_names import EngineName


def attack(
    release: Any,
    original: Any = None,
    quasi: Names = None,
    sensitive: Names = None,
    identifier: Names = None,
    *,
    person: str | None = None,
    policy: PolicySource = None,
    hierarchies: Mapping[str, Any] | None = None,
    missing: Missing = "value",
    register: Any = None,
    key: str | None = None,
    paired: bool = False,
    value: Mapping[str, str] | None = None,
    records: Place | None = None,
    partitions: Mapping[str, Mapping[str, Iterable[str]]] | None = None,
    reasoning: bool = True,
    sensitive_table: Any = None,
    group: str | None = None,
    likelihood: Likelihood = "product",
    alpha: Weights = 1.0,
    beta: Weights = 1.0,
    domain: str | Mapping[str, Any] = "cross",
    method: ReasoningMethod = "auto",
    chains: int | None = None,
    sweeps: int | None = None,
    seed: int = 0,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    header: bool = True,
    types: Mapping[str, str] | None = None,
    na: Names = (),
    suppressed: str | Unstated | None = UNSTATED,
    keep_suppressed: bool = False,
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
) -> Attacks:
    r"""Attack a release as somebody would who reasons, has a register, or the original.

    Parameters
    ----------
    release
        The released table: a path, a frame, a dict of lists; or two of them, as Anatomy makes
        them: people with their group, groups with their secrets. The types and the engine are
        those of the release; other ways to read go for all tables.
    original
        The table that the release was made of: do released values give the original ones away,
        and is somebody right who reasons?
    quasi
        Columns that an outsider could know about a person: one name, or several.
    sensitive
        Secrets: one name, or several.
    identifier
        Columns that are dropped before release; never measured.
    person
        The column that tells people apart, where they may have several rows: refused where
        people have several.
    policy
        A `Policy`, a TOML file, or its content as a dict: its roles and partitions are used.
    hierarchies
        How columns were made coarser, and how values of a secret are merged by meaning: by
        column a `Hierarchy`, a specification such as "interval:5,10", a file, or a tree
        (docs/protect.md has every kind).
    missing
        What a missing quasi-identifier is: a "value" of its own, a "wildcard" that matches
        anything (there are then no classes, and only register and original are looked at), a
        reason to "drop" the record, or an "error".
    register
        A table of outsiders that shares quasi-identifiers with the release: who are the
        candidates of a row?
    key
        A column that tells people apart, the same in all tables. Without it, the release needs
        the pairing file that `protect` wrote, beside it; or the original must have its records
        in the order of the release, and the tables must show that it has.
    paired
        Say that the original has its records in the order of the release, where the tables
        cannot show it. Where they show that it is not so, this is refused.
    value
        Of each secret the value whose rise in a class matters, such as ``{"disease": "HIV"}``.
    records
        Write one row a record to this .csv or .parquet file: of the original what attacker and
        learner believe of its secret, and whether it is at risk; without the original, of the
        release, what those believe whose values fit.
    partitions
        How values of a secret are merged by meaning: parts and their values.
    reasoning
        Whether somebody reasons about the secrets, by Bayes' rule.
    sensitive_table
        Of a release in two tables the second one: groups and their secrets.
    group
        The column that joins the two tables of a release. With a group but without a second
        table, it is unknown within a group who has which secret.
    likelihood
        "product": columns are independent given the secret; "saturated": every combination of
        values is a symbol of its own.
    alpha
        The weight of each secret before the release is seen: a number, or a mapping of columns
        or of secrets.
    beta
        The weight of each value given the secret before the release is seen: a number, or a
        mapping of columns, of secrets or of values.
    domain
        The values that columns may have: "cross" (hierarchies and the release say which),
        "observed" (those of the original), or a mapping of columns to lists, files or
        "LOW..HIGH".
    method
        "auto" solves in closed form or counts all tables where it can, and samples ("gibbs")
        otherwise.
    chains
        How many chains, where beliefs must be sampled: 4, or 8 by groups, unless given.
    sweeps
        At most so many sweeps of each chain.
    seed
        Where chance starts.
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

    >>> release = {"age": ["2*", "2*", "3*", "3*"], "disease": ["flu", "flu", "flu", "hiv"]}
    >>> register = {"name": ["Ann", "Bob"], "age": ["22", "35"]}
    >>> ages = {"22": ["2*"], "25": ["2*"], "35": ["3*"]}
    >>> tables = {"register": register, "hierarchies": {"age": ages}}
    >>> result = attack(release, quasi="age", sensitive="disease", **tables)
    >>> result["identity"]["grey_box"].numbers["candidates"].value
    2
    >>> round(result.beliefs["35"]["attacker"]["hiv"], 6)
    0.5
    """
    settings = AttackSettings(
        release=release,
        original=original,
        quasi=quasi,
        sensitive=sensitive,
        identifier=identifier,
        person=person,
        policy=policy,
        hierarchies=hierarchies,
        missing=missing,
        register=register,
        key=key,
        paired=paired,
        value=value,
        records=records,
        partitions=partitions,
        reasoning=reasoning,
        sensitive_table=sensitive_table,
        group=group,
        likelihood=likelihood,
        alpha=alpha,
        beta=beta,
        domain=domain,
        method=method,
        chains=chains,
        sweeps=sweeps,
        seed=seed,
        delimiter=delimiter,
        encoding=encoding,
        header=header,
        types=types,
        na=na,
        suppressed=suppressed,
        keep_suppressed=keep_suppressed,
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
