"""The public functions of `commands/state`, written from the settings by `make generate`."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sievert.commands.state.result import CountState
from sievert.commands.state.run import run_count, run_merge, run_update
from sievert.commands.state.settings import CountSettings, MergeSettings, UpdateSettings
from sievert.session import Steps, no_progress
from sievert.settings.groups import Names, Place
from sievert.settings.option import UNSTATED, Unstated
from sievert.settings.policy_source import PolicySource
from sievert.sources.engine_names import EngineName


def count(
    data: Any,
    quasi: Names = None,
    sensitive: Names = None,
    identifier: Names = None,
    *,
    person: str | None = None,
    policy: PolicySource = None,
    suppressed: str | Unstated | None = UNSTATED,
    keep_suppressed: bool = False,
    out: Place,
    leave_out: str | Iterable[str] = (),
    delimiter: str | None = None,
    encoding: str = "utf-8",
    header: bool = True,
    types: Mapping[str, str] | None = None,
    na: Names = (),
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
) -> CountState:
    r"""Count a table into a state, which `assess`, `explain` and `protect` accept in its place.

    The state is a directory that holds every combination of the columns with a role that occurs,
    and how many records have it: it is as sensitive as the data.

    Parameters
    ----------
    data
        The table, as for `assess`.
    quasi
        Columns that an outsider could know about a person: one name, or several.
    sensitive
        Secrets: one name, or several.
    identifier
        Columns that are dropped before release; never measured.
    person
        The column that tells people apart, where they may have several rows.
    policy
        A `Policy`, a TOML file, or its content as a dict; only its roles and its codes for
        missing are used.
    suppressed
        Not used: a state has all records.
    keep_suppressed
        Not used: a state has all records.
    out
        The directory of the state, which is made.
    leave_out
        Columns that the state knows only by name and number of values. Whether rows share an
        identifier cannot be told from two counts: a state that is to be updated leaves other
        identifiers out.
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
    verify
        Check Parquet's page checksums and note the file's SHA-256.
    max_unpacked
        How large compressed data may become; 100 times its size and at most 20GB unless given.
    max_field
        How long a single field of a text file may be.
    max_columns
        How many columns a table may have.
    force
        Replace a state that is there.
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
    """
    settings = CountSettings(
        data=data,
        quasi=quasi,
        sensitive=sensitive,
        identifier=identifier,
        person=person,
        policy=policy,
        suppressed=suppressed,
        keep_suppressed=keep_suppressed,
        out=out,
        leave_out=leave_out,
        delimiter=delimiter,
        encoding=encoding,
        header=header,
        types=types,
        na=na,
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
    return run_count(settings, watch)


def merge(
    states: Sequence[Place],
    *,
    out: Place,
    subtract: bool = False,
    again: bool = False,
    memory: str | None = None,
    threads: int | None = None,
    temp: Place | None = None,
    force: bool = False,
    watch: Steps = no_progress,
) -> CountState:
    r"""Add states of the same columns up; or take all others away from the first.

    The result is that of counting the tables together. What is described, such as the name of the
    table, is that of the first state.

    Parameters
    ----------
    states
        Two or more states.
    out
        The directory of the sum, which is made.
    subtract
        Take the other states away from the first. Records that are not there are refused.
    again
        Accept a state with the records of another one, or with most of them, or with a table
        that is in another one.
    memory
        The most memory for data, such as "4GB".
    threads
        The most threads the engine may use.
    temp
        Where the private temporary directory is made.
    force
        Replace a state that is there.
    watch
        Is told of every step: its name, and how far it is.
    """
    settings = MergeSettings(
        states=states,
        out=out,
        subtract=subtract,
        again=again,
        memory=memory,
        threads=threads,
        temp=temp,
        force=force,
    )
    return run_merge(settings, watch)


def update(
    state: Place,
    *,
    add: Any = (),
    remove: Any = (),
    compact: bool = False,
    again: bool = False,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    header: bool = True,
    types: Mapping[str, str] | None = None,
    na: Names = (),
    suppressed: str | Unstated | None = UNSTATED,
    keep_suppressed: bool = False,
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
) -> CountState:
    r"""Add records to a state, or take records away: the result is that of counting again.

    The change is one new segment; the state is as it was until it is whole on the disk. Removing
    records that are not there is refused.

    Parameters
    ----------
    state
        The directory of the state.
    add
        A table of new records, or a list of them, with the columns of the table that was
        counted; they are read as it was.
    remove
        A table of records that are gone, or a list of them, with the columns of the table that
        was counted; they are read as it was.
    compact
        Put all segments into one. It is done anyway beyond 32 segments, or where the changes
        have a quarter of the rows of the first segment.
    again
        Accept a table with the same records as one that was added already and not removed
        since, or was removed already, and one whose records mostly seem to be counted already.
    delimiter
        The character between columns; found from the header unless given.
    encoding
        The text encoding of a CSV file.
    header
        Not used: tables are read as the one that was counted.
    types
        Not used: tables are read as the one that was counted.
    na
        Not used: tables are read as the one that was counted.
    suppressed
        Not used: a state has all records.
    keep_suppressed
        Not used: a state has all records.
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
    """
    settings = UpdateSettings(
        state=state,
        add=add,
        remove=remove,
        compact=compact,
        again=again,
        delimiter=delimiter,
        encoding=encoding,
        header=header,
        types=types,
        na=na,
        suppressed=suppressed,
        keep_suppressed=keep_suppressed,
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
    return run_update(settings, watch)
