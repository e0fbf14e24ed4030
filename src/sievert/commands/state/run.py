"""States on disk: counted into a new directory, added up, changed by one new segment."""

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from sievert import files
from sievert import roles as role
from sievert.commands.state.result import CountState
from sievert.commands.state.settings import CountSettings, MergeSettings, UpdateSettings
from sievert.counts.questions import Questions
from sievert.counts.state.segments import (
    Means,
    Sum,
    check_sum,
    count_overlap,
    digest_content,
    find_agreement,
    is_fragmented,
    returned_type,
    segment_path,
    write_counts,
)
from sievert.errors import InputError, RefusedError, SievertError, require
from sievert.formatting import list_names
from sievert.numerics import machine
from sievert.request.repeated_rows import canonical_values, spread_values, usable_columns
from sievert.request.requested import Reading, RequestedRoles, check_known, requested_roles
from sievert.roles import Roles, tells_people_apart
from sievert.session import Clock, Steps, no_progress
from sievert.settings.groups import reader_options
from sievert.sources.isolation import private_directory, temporary_name
from sievert.sources.state_manifest import (
    MANIFEST,
    Segment,
    Spread,
    StateManifest,
    is_state,
    read_manifest,
)
from sievert.sources.table import Table


def run_count(settings: CountSettings, watch: Steps = no_progress) -> CountState:
    """Count a table into a state as `settings` say; `watch` is told of every step."""
    settings.check_work()
    requested = requested_roles(
        settings.policy,
        settings.quasi,
        settings.sensitive,
        settings.identifier,
        person=settings.person,
    )
    how = requested.read_as_stated({**reader_options(settings)})
    reading = Reading(watch, None, verify=settings.verify, **how)
    inputs = [settings.data, settings.policy]
    with files.write_whole(
        settings.out, sources=inputs, force=settings.force, directory=True
    ) as folder:
        assert folder is not None
        folder.mkdir(mode=0o700)
        with reading(settings.data, outputs=[segment_path(folder, 0)]) as (table, questions):
            roles, left_out = assign_roles(questions, requested, settings.leave_out)
            reading.clock("counting combinations", questions)
            manifest = count_table(table, questions, roles, left_out, folder)
        write_manifest(note_content(manifest, reading))
    return CountState(read_state(settings.out, content=False), **reading.clock.stop())


def run_merge(settings: MergeSettings, watch: Steps = no_progress) -> CountState:
    """Add states up as `settings` say, or take all others away from the first."""
    settings.check_work()
    clock = Clock(watch)
    clock("adding up", None)
    with (
        private_directory(settings.temp) as private,
        files.write_whole(
            settings.out, sources=settings.states, force=settings.force, directory=True
        ) as folder,
    ):
        assert folder is not None
        folder.mkdir(mode=0o700)
        first, *others = settings.states
        sign = -1 if settings.subtract else 1
        signed = [(read_state(first), 1), *((read_state(path), sign) for path in others)]
        means = Means(private, settings.memory, settings.threads)
        write_manifest(add_up(signed, folder, means, again=settings.again))
    return CountState(read_state(settings.out, content=False), **clock.stop())


def run_update(settings: UpdateSettings, watch: Steps = no_progress) -> CountState:
    """Add the records of some tables to a state, and take those of others away."""
    settings.check_work()
    reading = Reading(watch, None, **reader_options(settings))
    tables = settings.tables
    removes = any(sign < 0 for _, sign in tables)
    kept = read_state(settings.state, content=False)
    with private_directory(settings.temp) as private, machine.lock(kept.folder) as alone:
        require(alone, f"{kept.folder.name}: another update is running", hint="wait for its end")
        # To remove records, all that are there are read, as for a compaction.
        kept = read_state(settings.state, content=removes)
        means = Means(private, settings.memory, settings.threads)
        with undone(kept.folder):
            changed, numbers, compacted = change_state(
                kept,
                tables,
                reading,
                means,
                compact=settings.compact,
                again=settings.again,
            )
    added = 0
    removed = 0
    for number, (_, sign) in zip(numbers, tables, strict=True):
        if sign > 0:
            added += number
        else:
            removed += number
    return CountState(
        changed, added=added, removed=removed, compacted=compacted, **reading.clock.stop()
    )


def assign_roles(
    questions: Questions, requested: RequestedRoles, leave_out: str | Iterable[str]
) -> tuple[Roles, tuple[str, ...]]:
    """Find the roles of the columns that are counted, and the columns that are left out."""
    columns = questions.columns
    quasi, sensitive, identifier = requested.names(columns)
    if not quasi:
        from sievert.request.role_suggestion import no_quasi

        raise no_quasi(questions)
    own = requested.policy.roles if requested.policy else None
    absent = own.lacking(columns, ()) if own else ()
    left_out = role.names(leave_out, columns)
    identifier = tuple(c for c in identifier if c not in (*absent, *left_out))
    person = requested.person or (own.person if own else None)
    roles = role.assign(
        columns, quasi, sensitive, identifier, person=person, first_line=questions.first_line
    )
    for column in left_out:
        check_known("--leave-out: column", column, columns)
        require(column not in roles.every_column, f"column {column!r} has a role, and is left out")
    return roles, left_out


def count_table(
    table: Table, questions: Questions, roles: Roles, left_out: Sequence[str], folder: Path
) -> StateManifest:
    """Count the combinations of the columns with a role into a segment of a folder."""
    engine = questions.engine
    every = dict.fromkeys((*roles.measured_columns, roles.person))
    names = [c for c in every if c is not None]
    questions.check_usable(names)
    merged = questions.merged_by_type(roles.quasi)
    require(
        not merged,
        f"{table.name}: values of {list_names(merged)} are spelt in several ways (01 and 1) "
        "and are one number by their type: a state could not tell them apart",
        hint="spell them alike, or give no --type",
        error=InputError,
    )
    kept = {c: returned_type(c, engine.kinds[c]) for c in names}
    columns = tuple(questions.columns)
    others = [c for c in columns if c not in kept and c not in left_out]
    named = [c for c in others if c in roles.identifier or tells_people_apart(c)]
    usable = usable_columns(questions, named)
    spelt = questions.distinct(usable)
    lacking = questions.missing(usable) if usable else {}
    values = {c: canonical_values(questions, c, n) for c, n in spelt.items()}
    apart = {}
    for column, spread in spread_values(questions, left_out).items():
        different = canonical_values(questions, column, spread.most)
        apart[column] = Spread(spread.rows, different, different)
    nan = questions.count_nan(names)
    records = questions.records
    description = _describe_counted(table, questions, kept)
    segments = tuple(write_counts(questions, kept, folder, 0))
    manifest = StateManifest(
        columns=columns,
        kept=kept,
        kinds={c: kept.get(c, engine.kinds[c]) for c in columns},
        table=description,
        quasi=roles.quasi,
        sensitive=roles.sensitive,
        identifier=roles.identifier,
        person=roles.person,
        left_out={c: apart.get(c, Spread(records, 0, records)) for c in left_out},
        engine=engine.name,
        na=tuple(table.na),
        types={c: kind for c, kind in table.types.items() if c in columns and c not in left_out},
        identifiers={c: {"values": values[c], "missing": lacking.get(c, 0)} for c in usable},
        nan=nan,
        coded=questions.count_codes(names, nan),
        error_cells={c: n for c, n in table.error_cells.items() if c in kept},
        records=records,
        segments=segments,
        folder=folder,
    )
    require(
        sum(segment.records for segment in segments) == records,
        f"{table.name}: two counts of its records differ",
        hint="a table that does not change",
        error=InputError,
    )
    return manifest


def _describe_counted(table: Table, questions: Questions, kept: Collection[str]) -> dict[str, Any]:
    """Describe a table that is counted, as its manifest does; `kept` columns are in the state."""
    description: dict[str, Any] = {
        "name": table.name,
        "kind": table.kind,
        "delimiter": table.delimiter,
        "encoding": table.encoding,
        "compression": table.compression,
        "header": table.header,
        "orders": {c: list(order) for c, order in table.orders.items() if c in kept},
        "unusable": {c: why for c, why in table.unusable.items() if c in questions.columns},
        "notes": list(questions.engine.notes),
        "verified": None if table.verified is None else dict(table.verified),
        "blank_lines": 0 if table.scan is None else table.scan.blank_lines,
        "file": bool(table.stamp),
    }
    same_labels = {c: list(map(list, own)) for c, own in table.same_labels.items() if c in kept}
    if same_labels:
        description["same_labels"] = same_labels
    return description


def note_content(counted: StateManifest, reading: Reading) -> StateManifest:
    """Note in the manifest of a `counted` table the digests of its records, as a change."""
    content, alike = digest_content(counted, reading.source.get("threads"))
    if not counted.records:
        return replace(counted, content=content)
    return replace(counted, content=content, applied=(f"+{content}",), alike=(f"+{alike}",))


def read_state(path: Any, *, content: bool = True) -> StateManifest:
    """Read the manifest of the state at `path`; raise an error unless it is one, and whole.

    Of its segments the sizes are checked, and for `content` also the digests.
    """
    name = Path(path).name if isinstance(path, str | os.PathLike) else "the state"
    require(is_state(path), f"{name}: not a count state", hint="sievert count", error=InputError)
    state = read_manifest(Path(path).resolve())
    state.check_files(content=content)
    return state


def write_manifest(manifest: StateManifest) -> None:
    """Write the manifest beside its segments, and take away the files that it does not name.

    It replaces the one before in one step, once all files that it names are on the disk.
    """
    folder = manifest.folder
    temporary = folder / f".{temporary_name()}.part"
    number = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with os.fdopen(number, "w", encoding="utf-8") as file:
        file.write(manifest.to_json())
    for path in (*manifest.paths, temporary, folder):
        machine.sync(path)
    temporary.replace(folder / MANIFEST)
    machine.sync(folder)
    _remove_unnamed(manifest)


def _remove_unnamed(manifest: StateManifest) -> None:
    """Take away the segments and temporary files of a state that its manifest does not name."""
    named = {path.name for path in manifest.paths}
    for path in manifest.folder.iterdir():
        ours = files.PART.fullmatch(path.name) or path.name.endswith(".part")
        if ours and path.name not in named:
            path.unlink(missing_ok=True)


@contextmanager
def undone(folder: Path) -> Iterator[None]:
    """Take away the segments that a change of a state has written, if the change fails."""
    try:
        yield
    except BaseException:
        with suppress(SievertError, OSError):
            _remove_unnamed(read_manifest(folder))  # as it is on the disk: before, or after
        raise


def add_up(
    states: Sequence[tuple[StateManifest, int]], folder: Path, means: Means, *, again: bool
) -> StateManifest:
    """Add up `states`, each with its sign, to a state of one segment in `folder`."""
    (first, _), *others = states
    first.check_growing()
    whole = first
    before = [(path, 1) for path in first.paths]
    for other, sign in others:
        first.check_addable(other, other.folder.name)
        summed = whole.add(other, sign, name=other.folder.name, again=again)
        if sign > 0 and not again:
            check_overlap(before, whole.records, other, means)
        whole = summed
        before += [(path, sign) for path in other.paths]
    parts = [(path, sign) for state, sign in states for path in state.paths]
    segment = _add_segments(parts, len(first.kept), segment_path(folder, 0), means, whole.records)
    return replace(whole, segments=(segment,), folder=folder)


def _add_segments(
    parts: Sequence[tuple[Path, int]], columns: int, path: Path, means: Means, records: int
) -> Segment:
    """Add up the segments `parts`, each with its sign, to one segment at `path`.

    The sum must have as many `records`.
    """
    with Sum(parts, columns, path, means) as added:
        added.require_there()
        segment = added.write()
    check_sum(segment, records)
    return segment


def change_state(
    state: StateManifest,
    tables: Sequence[tuple[Any, int]],
    reading: Reading,
    means: Means,
    *,
    compact: bool,
    again: bool,
) -> tuple[StateManifest, list[int], bool]:
    """Add the records of some `tables` to a state, or take them away, by the sign of each.

    One segment is written. All segments are put together if there are too many of them, if the
    changes are too large, or to `compact` the state. Returns the state, the number of records of
    each table, and whether the state was compacted.
    """
    if tables:
        state.check_growing()
    folder = state.folder
    changed = state
    numbers = []
    changes: list[tuple[StateManifest, int]] = []
    last = max((int(s.file[5:-8]) for s in state.segments), default=-1)
    with private_directory(means.scratch.parent) as private:
        parts = []
        for at, (data, sign) in enumerate(tables):
            own = private / str(at)
            own.mkdir(mode=0o700)
            change = _count_change(state, data, own, reading)
            changed = changed.add(change, sign, name=change.table["name"], again=again)
            changes.append((change, sign))
            parts += [(path, sign) for path in change.paths]
            numbers.append(change.records)
        segments = [*state.segments]
        if not again:
            _check_additions(state, changes, means)
        if parts:
            reading.clock("adding up", None)
            path = segment_path(folder, last + 1)
            with Sum(parts, len(state.kept), path, means, before=state.paths) as added:
                added.require_there()
                segments.append(added.write())
    changed = replace(changed, segments=tuple(segments))
    compacted = len(segments) > 1 and (compact or is_fragmented(changed))
    if compacted:
        reading.clock("compacting", None)
        changed.check_files()  # each segment is what it was when it was written
        parts = [(each, 1) for each in changed.paths]
        path = segment_path(folder, last + 2)
        whole = _add_segments(parts, len(changed.kept), path, means, changed.records)
        changed = replace(changed, segments=(whole,))
    write_manifest(changed)
    return changed, numbers, compacted


def _check_additions(
    state: StateManifest, changes: Sequence[tuple[StateManifest, int]], means: Means
) -> None:
    """Compare each added table with the state, without what is taken away at the same time."""
    before = [(path, 1) for path in state.paths]
    records = state.records
    for change, sign in changes:
        if sign < 0:
            before += [(path, sign) for path in change.paths]
            records -= change.records
    for change, sign in changes:
        if sign > 0:
            check_overlap(before, records, change, means)
            before += [(path, sign) for path in change.paths]
            records += change.records


def check_overlap(
    before: Sequence[tuple[Path, int]], records: int, other: StateManifest, means: Means
) -> None:
    """Raise an error where most records of another table seem to be counted already."""
    if records <= 0 or other.records <= 0:
        return
    added = [(path, 1) for path in other.paths]
    small, large = (added, before) if other.records <= records else (before, added)
    people = other.person is not None and other.person in other.kept
    overlap = count_overlap(small, large, len(other.kept), means, people=people)
    name = other.folder.name if is_state(other.folder) else other.table["name"]
    require(
        not overlap.suspicious,
        f"{name}: most of these records seem to be counted already: of {overlap.records:,}, "
        f"{overlap.unseen:,} have a combination that was not there, and about "
        f"{overlap.expected:,.0f} of other people would",
        hint="--again, if they are other people whose records look the same",
        error=RefusedError,
    )
    agreement = find_agreement(added, before, len(other.kept), means)
    require(
        agreement is None or not agreement.suspicious,
        f"{name}: most of these records seem to be counted already: their combinations are as "
        "frequent as those that were there, and other people would differ more",
        hint="--again, if they are other people whose records look the same",
        error=RefusedError,
    )


def _count_change(state: StateManifest, data: Any, folder: Path, reading: Reading) -> StateManifest:
    """Count a table that is added or taken away, as the state was counted."""
    options = {"types": state.types, "na": state.na, "header": state.table["header"]}
    with reading(data, outputs=[segment_path(folder, 0)], **options) as (table, questions):
        lacking = [c for c in state.needed_columns if c not in questions.columns]
        require(not lacking, f"{table.name}: other columns than the state", error=InputError)
        roles = role.assign(
            questions.columns, state.quasi, state.sensitive, state.identifier, person=state.person
        )
        left_out = [c for c in state.left_out if c in questions.columns]
        reading.clock("counting combinations", questions)
        change = count_table(table, questions, roles, left_out, folder)
    change = note_content(change, reading)
    state.check_addable(change, table.name)
    return change
