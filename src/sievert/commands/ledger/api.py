"""The public functions of `commands/ledger`, written from the settings by `make generate`."""

from collections.abc import Mapping
from typing import Any

from sievert.commands.ledger.result import Ledger, LedgerCheck
from sievert.commands.ledger.run import run_add, run_check, run_show
from sievert.commands.ledger.settings import (
    LedgerAddSettings,
    LedgerCheckSettings,
    LedgerShowSettings,
)
from sievert.session import Steps, no_progress
from sievert.settings.groups import Missing, Names, Place
from sievert.settings.option import UNSTATED, Unstated
from sievert.settings.policy_source import PolicySource
from sievert.sources.engine_names import EngineName


def add_to_ledger(
    ledger: Place,
    release: Any,
    quasi: Names = None,
    sensitive: Names = None,
    identifier: Names = None,
    *,
    policy: PolicySource = None,
    date: str | None = None,
    person: Names = None,
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
    name: str | None = None,
    salt: Place | None = None,
    watch: Steps = no_progress,
) -> Ledger:
    r"""Note in a ledger what a release says about whom: the classes of people, not the data.

    Parameters
    ----------
    ledger
        The file of the ledger; it is made, with a salt, if it is not there.
    release
        The publisher's own copy of the release, with the key of its people: a path, a frame, a
        dict of lists.
    quasi
        Columns that an outsider could know about a person: one name, or several.
    sensitive
        Secrets: one name, or several.
    identifier
        Columns that are dropped before release; never measured.
    policy
        A `Policy`, a TOML file, or its content as a dict: its roles are used where none are
        given.
    date
        When it was released, YYYY-MM-DD; today unless given.
    person
        The column, or several, by which people are found again in all releases.
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
        Always "value": a missing value is a value of its own in a ledger.
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
    name
        What the release is called; the name of its file unless given.
    salt
        The file of the salt; beside the ledger (LEDGER.salt) unless given.
    watch
        Is told of every step: its name, and how far it is.
    """
    settings = LedgerAddSettings(
        ledger=ledger,
        release=release,
        quasi=quasi,
        sensitive=sensitive,
        identifier=identifier,
        policy=policy,
        date=date,
        person=person,
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
        name=name,
        salt=salt,
    )
    return run_add(settings, watch)


def check_with_ledger(
    ledger: Place,
    release: Any,
    quasi: Names = None,
    sensitive: Names = None,
    identifier: Names = None,
    *,
    policy: PolicySource = None,
    person: Names = None,
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
    name: str | None = None,
    salt: Place | None = None,
    watch: Steps = no_progress,
) -> LedgerCheck:
    r"""Judge a new release by a policy, together with all releases of a ledger; write nothing.

    An attacker is taken to know the quasi-identifiers of all rows of a person in every release, and
    in which releases the person is. Kept columns are quasi-identifiers here, unless the policy says
    that outsiders cannot know them. People who look alike in all of them are a joint class. The
    limits apply to joint classes, of the people of every release: the riskiest number decides.

    Parameters
    ----------
    ledger
        The file of the ledger.
    release
        The publisher's own copy of the new release, with the key of its people: a path, a
        frame, a dict of lists.
    quasi
        Columns that an outsider could know about a person: one name, or several.
    sensitive
        Secrets: one name, or several.
    identifier
        Columns that are dropped before release; never measured.
    policy
        A `Policy`, a TOML file, or its content as a dict: its limits apply to all releases
        together, and to the new one alone.
    person
        The column, or several, by which people are found again in all releases.
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
        Always "value": a missing value is a value of its own in a ledger.
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
    name
        What the release is called; the name of its file unless given.
    salt
        The file of the salt; beside the ledger (LEDGER.salt) unless given.
    watch
        Is told of every step: its name, and how far it is.
    """
    settings = LedgerCheckSettings(
        ledger=ledger,
        release=release,
        quasi=quasi,
        sensitive=sensitive,
        identifier=identifier,
        policy=policy,
        person=person,
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
        name=name,
        salt=salt,
    )
    return run_check(settings, watch)


def read_ledger(
    ledger: Place,
) -> Ledger:
    r"""List the releases of a ledger; this needs no salt.

    Parameters
    ----------
    ledger
        The file of the ledger.
    """
    settings = LedgerShowSettings(ledger=ledger)
    return run_show(settings)
