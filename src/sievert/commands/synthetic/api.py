"""The public function `synthetic`, written from the settings by `make generate`."""

from collections.abc import Mapping, Sequence
from typing import Any

from sievert.commands.synthetic.result import SyntheticAssessment
from sievert.commands.synthetic.run import run
from sievert.commands.synthetic.settings import SyntheticSettings
from sievert.session import Steps, no_progress
from sievert.settings.groups import Missing, Names, Place
from sievert.settings.option import UNSTATED, Unstated
from sievert.settings.policy_source import PolicySource
from sievert.sources.engine_names import EngineName


def synthetic(
    original: Any,
    synthetic: Any,
    control: Any = None,
    quasi: Names = None,
    sensitive: Names = None,
    identifier: Names = None,
    *,
    person: str | None = None,
    policy: PolicySource = None,
    split: tuple[Sequence[str], Sequence[str]] | None = None,
    records: Place | None = None,
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
) -> SyntheticAssessment:
    r"""Attack synthetic tables: what do they say of the people whose data they were made from?

    Each attack scores every person of the original and of the control, people whom the generator
    never saw, without using who is which. What originals suffer more than strangers is the risk.

    Parameters
    ----------
    original
        The table that the generator was trained on: a path, a frame, a dict of lists.
    synthetic
        The synthetic table, or a list of several; rows are not paired with those of the
        original.
    control
        People drawn together with the original and kept from the generator. Without it there
        are rates, and no risk.
    quasi
        What an attacker knows of a person whose secret they infer; all other columns unless
        given.
    sensitive
        The columns that are inferred; all shared ones unless given.
    identifier
        Columns that are not compared.
    person
        The column that tells which rows are of one person: they change sides together.
    policy
        A `Policy`, a TOML file, or its content as a dict: every table is judged by its
        [limits.synthetic.ATTACK].
    split
        Two sets of columns that are known in two places, for linkability.
    records
        Write one row a person of the original, with the score of every attack, to this .csv or
        .parquet file.
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

    >>> people = {"age": ["20", "30", "40", "50"], "job": ["a", "b", "a", "c"]}
    >>> fake = {"age": ["20", "30", "41", "50"], "job": ["a", "b", "a", "c"]}
    >>> found = synthetic(people, fake)
    >>> found.tables[0].results.attacks["copies"].original.hits
    3.0
    """
    settings = SyntheticSettings(
        original=original,
        synthetic=synthetic,
        control=control,
        quasi=quasi,
        sensitive=sensitive,
        identifier=identifier,
        person=person,
        policy=policy,
        split=split,
        records=records,
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
