"""The public function `protect`, written from the settings by `make generate`."""

from collections.abc import Iterable, Mapping
from typing import Any

from sievert.commands.protect.result import Protected
from sievert.commands.protect.run import run
from sievert.commands.protect.settings import Grouping, How, Labels, ProtectSettings
from sievert.formatting.loss_names import Loss
from sievert.releases.choices import SuppressedRows
from sievert.session import Steps, no_progress
from sievert.settings.groups import Missing, Names, Place
from sievert.settings.option import UNSTATED, Unstated
from sievert.settings.policy_source import PolicySource
from sievert.sources.engine_names import EngineName


def protect(
    data: Any,
    quasi: Names = None,
    sensitive: Names = None,
    identifier: Names = None,
    *,
    how: How | None = None,
    suppress: float | None = None,
    loss: Loss = "generalization_loss",
    weights: Mapping[str, float] | None = None,
    levels: Mapping[str, int] | Place | None = None,
    keep: str | Iterable[str] | Mapping[str, str] = (),
    suppressed_rows: SuppressedRows = "auto",
    drop: bool = False,
    keep_order: bool = False,
    seconds: float | None = None,
    labels: Labels = "hierarchy",
    importance: Mapping[str, float] | None = None,
    group: int | None = None,
    amount: float | None = None,
    fraction: float | None = None,
    base: Mapping[str, float] | None = None,
    grouping: Grouping = "mdav",
    gamma: float = 0.2,
    correlated: bool = False,
    unbiased: bool = False,
    seed: int = 0,
    population_size: int | None = None,
    frontier: bool = False,
    beside: Any = (),
    earlier: Any = (),
    key: str | None = None,
    out: Place | None = None,
    orders: Mapping[str, Iterable[str]] | None = None,
    partitions: Mapping[str, Mapping[str, Iterable[str]]] | None = None,
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
    person: str | None = None,
    policy: PolicySource,
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
) -> Protected:
    r"""Find the recoding of least loss whose release meets a policy, and write that release.

    Every quasi-identifier is brought to one level of its hierarchy (full-domain recoding); records
    in classes that still break a rule have `*` in all of them. The search is exact. The release
    holds the quasi-identifiers and the secrets only, and is read back and assessed in a process of
    its own before it takes its place.

    Parameters
    ----------
    data
        The original table: a path, a frame, a dict of lists.
    quasi
        Columns that an outsider could know about a person: one name, or several.
    sensitive
        Secrets: one name, or several.
    identifier
        Columns that are dropped before release; never measured.
    how
        The method: full (full-domain recoding), or as [protect] in the policy says. With
        anatomy the secrets are in a table of their own, `<out>.secrets.csv` for an `out` of
        `<out>.csv`.
    suppress
        The largest share of records that may be suppressed: as [protect] in the policy says,
        else its limit on suppressed_records, else 0.02.
    loss
        What is minimised: generalization_loss (its geometric form, as in ARX), arithmetic_loss,
        certainty_penalty, entropy, discernability, or bits told about the first secret.
    weights
        How much each quasi-identifier counts in the loss; 1 unless given.
    levels
        A recoding that is given, column by column or by the manifest of an earlier release,
        whose hierarchies are taken as well: nothing is searched.
    keep
        Other columns that the release holds besides those of [roles.kept] in the policy: their
        names, or each with the reason. A column that the policy calls identifier, person,
        household, ignored or dropped is refused.
    suppressed_rows
        What becomes of suppressed records: keep leaves their rows in the release with `*` in
        every quasi-identifier, drop leaves them out. auto keeps them where they meet the limits
        as a class of their own, and drops them otherwise. They count as suppressed in any case.
    drop
        The same as suppressed_rows="drop".
    keep_order
        Write the records in the order of the table, which can give values back; without it
        their order tells nothing.
    seconds
        When to stop the search; the result then tells how much better a recoding could be.
    labels
        Of local recoding: hierarchy, or sets of values and intervals.
    importance
        How much each column is worth when cells are suppressed; 1 unless given.
    group
        The least records of a group: for microaggregation the policy's k unless given, for
        anatomy its l.
    amount
        Noise: its standard deviation, in those of the column. PRAM: the share of values that
        change.
    fraction
        Samples: the share of the records.
    base
        Of rounding: the number of each column to whose multiples it is rounded.
    grouping
        Microaggregation: mdav, v-mdav (groups of k to 2k - 1), or projection (in the order of
        the first principal component).
    gamma
        V-MDAV: how readily groups grow; 0.2 for scattered records, 1.1 for clustered ones.
    correlated
        Noise with the covariances of the columns, which stay as they are on average.
    unbiased
        Round up or down by chance, so that numbers stay as they are on average.
    seed
        Where drawing starts.
    population_size
        The table is a sample of so many people: for a limit on population_uniques.
    frontier
        Go through all combinations of levels, and list those that no other is better than in
        what they disclose and in what they have lost, beside the least that any release could
        disclose.
    beside
        Releases of this table that are measured as the frontier is.
    earlier
        Releases of the same people that are out already: whoever has all files must not tell
        apart fewer people than k.
    key
        With `earlier`: the column, in all tables, that tells people apart.
    out
        Where to write the release (.csv or .parquet, which is a directory where Spark writes
        it); beside it a manifest, `<out>.json`, and a private file that pairs its rows with
        those of the original, `<out>.pairing.parquet`.
    orders
        Of secrets: the values from low to high.
    partitions
        Of secrets: parts by meaning, and their values.
    parameters
        Such as ``{"recursive_c": {"l": 3}, "records_below": {"k": 5}}``.
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

    >>> table = {"age": ["27", "29", "38", "31"] * 5, "ill": ["flu", "cold"] * 10}
    >>> rules = {"roles": {"rows_are_people": True}, "limits": {"k_anonymity": {"min": 6}}}
    >>> found = protect(table, "age", "ill", policy=rules, hierarchies={"age": "interval:5,10"})
    >>> found.met, found.levels
    (True, {'age': 2})
    """
    settings = ProtectSettings(
        data=data,
        quasi=quasi,
        sensitive=sensitive,
        identifier=identifier,
        how=how,
        suppress=suppress,
        loss=loss,
        weights=weights,
        levels=levels,
        keep=keep,
        suppressed_rows=suppressed_rows,
        drop=drop,
        keep_order=keep_order,
        seconds=seconds,
        labels=labels,
        importance=importance,
        group=group,
        amount=amount,
        fraction=fraction,
        base=base,
        grouping=grouping,
        gamma=gamma,
        correlated=correlated,
        unbiased=unbiased,
        seed=seed,
        population_size=population_size,
        frontier=frontier,
        beside=beside,
        earlier=earlier,
        key=key,
        out=out,
        orders=orders,
        partitions=partitions,
        parameters=parameters,
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
