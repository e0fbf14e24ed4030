"""The public functions `count`, `merge` and `update`: a count state is made, added up, changed."""

import os
from collections.abc import Iterable, Sequence
from typing import Any, Unpack

from sievert import files
from sievert.commands.state.result import CountState
from sievert.commands.state.run import (
    add_up,
    assign_roles,
    change_state,
    count_table,
    note_content,
    read_state,
    undone,
    write_manifest,
)
from sievert.counts.state.segments import Means, segment_path
from sievert.errors import require
from sievert.numerics import machine
from sievert.request.requested import PolicySource, Reading, requested_roles
from sievert.session import Clock, Steps, no_progress
from sievert.sources.isolation import private_directory
from sievert.sources.options import ReaderOptions

__all__ = ["CountState", "count", "merge", "update"]
StatePath = str | os.PathLike[str]


def count(
    data: Any,
    quasi: str | Iterable[str] | None = None,
    sensitive: str | Iterable[str] | None = None,
    identifier: str | Iterable[str] | None = None,
    *,
    out: StatePath,
    person: str | None = None,
    policy: PolicySource = None,
    leave_out: str | Iterable[str] = (),
    force: bool = False,
    verify: bool = False,
    watch: Steps = no_progress,
    **source: Unpack[ReaderOptions],
) -> CountState:
    """Count a table into a state, which `assess`, `explain` and `protect` accept in its place.

    The state is a directory that holds every combination of the columns with a role that occurs,
    and how many records have it: it is as sensitive as the data.

    Parameters
    ----------
    data
        The table, as for `assess`.
    quasi, sensitive, identifier, person, policy
        The roles of the columns, as for `assess`; of a policy only its roles are used.
    out
        The directory of the state, which is made.
    leave_out
        Columns that the state knows only by name and number of values. Whether rows share an
        identifier cannot be told from two counts: a state that is to be updated leaves other
        identifiers out.
    force
        Replace a state that is there.
    verify
        Check the page checksums of Parquet files, and note the SHA-256 of the input.
    source
        How to read: delimiter, encoding, types, na, engine, memory, threads, temp.
    """
    requested = requested_roles(policy, quasi, sensitive, identifier, person=person)
    reading = Reading(watch, None, verify=verify, **requested.read_as_stated({**source}))
    with files.write_whole(out, sources=[data, policy], force=force, directory=True) as folder:
        assert folder is not None
        folder.mkdir(mode=0o700)
        with reading(data, outputs=[segment_path(folder, 0)]) as (table, questions):
            roles, apart = assign_roles(questions, requested, leave_out)
            reading.clock("counting combinations", questions)
            manifest = count_table(table, questions, roles, apart, folder)
        write_manifest(note_content(manifest, reading))
    return CountState(read_state(out, content=False), **reading.clock.stop())


def merge(
    states: Sequence[StatePath],
    *,
    out: StatePath,
    subtract: bool = False,
    again: bool = False,
    force: bool = False,
    memory: str | None = None,
    threads: int | None = None,
    temp: StatePath | None = None,
    watch: Steps = no_progress,
) -> CountState:
    """Add states of the same columns up; or take all others away from the first.

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
        Accept a state with the records of another one, or with most of them, or with a table that
        is in another one.
    force
        Replace a state that is there.
    memory, threads, temp
        What the engine may use, and where it puts temporary files.
    """
    require(len(states) > 1, "two states or more are added up", hint="sievert merge A B -o C")
    clock = Clock(watch)
    clock("adding up", None)
    with (
        private_directory(temp) as private,
        files.write_whole(out, sources=states, force=force, directory=True) as folder,
    ):
        assert folder is not None
        folder.mkdir(mode=0o700)
        signs = [1] + [-1 if subtract else 1] * (len(states) - 1)
        signed = [(read_state(p), sign) for p, sign in zip(states, signs, strict=True)]
        write_manifest(add_up(signed, folder, Means(private, memory, threads), again=again))
    return CountState(read_state(out, content=False), **clock.stop())


def update(
    state: StatePath,
    *,
    add: Any = (),
    remove: Any = (),
    compact: bool = False,
    again: bool = False,
    watch: Steps = no_progress,
    **source: Unpack[ReaderOptions],
) -> CountState:
    """Add records to a state, or take records away: the result is that of counting again.

    The change is one new segment; the state is as it was until it is whole on the disk. Removing
    records that are not there is refused.

    Parameters
    ----------
    state
        The directory of the state.
    add, remove
        Tables of records, one or a list, with the columns of the table that was counted; they are
        read as it was.
    compact
        Put all segments into one. It is done anyway beyond 32 segments, or where the changes have a
        quarter of the rows of the first segment.
    again
        Accept a table with the same records as one that was added already and not removed since,
        or was removed already, and one whose records mostly seem to be counted already.
    source
        How to read: engine, memory, threads, temp.
    """
    reading = Reading(watch, None, **source)
    tables = [(data, 1) for data in _tables(add)] + [(data, -1) for data in _tables(remove)]
    require(tables or compact, "nothing to add or to remove", hint="--add FILE, --remove FILE")
    whole = any(sign < 0 for _, sign in tables)  # what is there is read, as for a compaction
    kept = read_state(state, content=False)
    with private_directory(source.get("temp")) as private, machine.lock(kept.folder) as alone:
        require(alone, f"{kept.folder.name}: another update is running", hint="wait for its end")
        kept = read_state(state, content=whole)
        means = Means(private, source.get("memory"), source.get("threads"))
        with undone(kept.folder):
            changed, numbers, compacted = change_state(
                kept, tables, reading, means, compact=compact, again=again
            )
    signed = list(zip(numbers, (sign for _, sign in tables), strict=True))
    return CountState(
        changed,
        added=sum(n for n, sign in signed if sign > 0),
        removed=sum(n for n, sign in signed if sign < 0),
        compacted=compacted,
        **reading.clock.stop(),
    )


def _tables(given: Any) -> list[Any]:
    """One table, or several in a list."""
    return list(given) if isinstance(given, list | tuple) else [given]
