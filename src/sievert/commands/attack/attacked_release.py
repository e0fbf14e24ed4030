"""The release: what it gives away alone, and what attacks with other tables need of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sievert.arrays import Ints
from sievert.attacks.attack import Attack
from sievert.attacks.release_attacks import attack_release, check_named
from sievert.checks.spellings import counted_as_spelt
from sievert.commands.attack.reasoning import Reasoner
from sievert.commands.attack.settings import AttackSettings
from sievert.counts import microdata
from sievert.counts.cube import Cube
from sievert.counts.questions import Questions
from sievert.errors import UsageError, require, unknown
from sievert.formatting import plural
from sievert.formatting.remarks import Remark
from sievert.pairing import record_pairs
from sievert.request.requested import Reading, RequestedRoles, check_known
from sievert.request.suppression import count_suppressed, leave_out_suppressed
from sievert.request.table_description import columns_without_role, describe_input
from sievert.roles import Roles, check_secrets
from sievert.session import Clock
from sievert.sources.isolation import require_memory

RECORD_BYTES = 100  # that each column of a record takes at least; measured, and rounded off
SUPPRESSED = Remark("left_out_attacks")
FOR_THE_RELEASE = ("engine", "master", "types")  # how to read; the rest goes for all tables


@dataclass(frozen=True, kw_only=True)
class AttackRun:
    """The settings of one run, and what all attacks share; `notes` grows."""

    settings: AttackSettings
    hierarchies: Mapping[str, Any]  # those of the policy too
    partitions: Mapping[str, Mapping[str, Any]]  # of secrets, those of the policy too
    as_spelt: bool  # whether keys that are spelt otherwise are of other people
    read: Reading
    source: Mapping[str, Any]  # how the release is read
    reasoner: Reasoner | None
    notes: list[Remark]

    @property
    def clock(self) -> Clock:
        """The clock of the run."""
        return self.read.clock

    @property
    def other_source(self) -> dict[str, Any]:
        """How tables are read that are not the release."""
        return {name: how for name, how in self.source.items() if name not in FOR_THE_RELEASE}


@dataclass(frozen=True, kw_only=True)
class AttackedRelease:
    """The release once it was read: its roles, its classes, and the attacks that need no more."""

    roles: Roles
    hidden: tuple[str, ...]  # secrets in a table of their own, or known by group only
    description: Mapping[str, Any]
    unassessed: tuple[str, ...]
    attacks: Mapping[str, Mapping[str, Attack]]
    classes: Cube
    file: Any  # what was given as the release
    people: Cube | None  # one cell per record, where records are found in other tables
    further: Cube | None  # columns that are not in use, where records are paired by their order
    keyed: bool
    everybody: Cube | None = None  # the classes with that of suppressed records, if there is one
    mark: str | None = None

    def places_of_known(self) -> Ints:
        """The places of the people who are not suppressed."""
        assert self.people is not None
        if self.everybody is None:
            return np.arange(len(self.people.counts))
        return np.flatnonzero(~self.people.all_have(self.roles.quasi, self.mark))


def read_secrets(run: AttackRun, requested: RequestedRoles) -> tuple[str, ...]:
    """Read the second table of a release, if there is one; return the names of its secrets."""
    release, secret_table = run.settings.tables
    if secret_table is None:
        return ()
    assert run.reasoner is not None
    with run.read(secret_table, **run.other_source) as (_, questions):
        secrets = requested.names(questions.columns)[1]
        require(secrets, "no secret given", hint="-s COLUMN of the table of secrets")
        if run.reasoner.group is None:
            with run.read(release, **run.source) as (_, people):
                used = {*requested.names(people.columns)[0], *secrets}
                shared = [c for c in people.columns if c in questions.columns and c not in used]
            require(
                len(shared) == 1,
                "which column joins the two tables of the release is not clear",
                hint="--group COLUMN",
            )
            run.reasoner.group = shared[0]
        run.reasoner.read_secrets(questions, secrets)
    return secrets


def read_release(
    run: AttackRun, requested: RequestedRoles, hidden: tuple[str, ...]
) -> AttackedRelease:
    """Attack the release alone, and keep what the attacks with other tables need of it.

    `hidden` are the secrets that are in a table of their own.
    """
    settings = run.settings
    data, _ = settings.tables
    ordered = settings.original is not None
    listed = settings.records is not None and not ordered
    reasoner = run.reasoner
    group = None if reasoner is None else reasoner.group
    with run.read(data, verify=settings.verify, **run.source) as (table, questions):
        columns = questions.columns
        quasi, sensitive, _ = requested.names(columns)
        absent = [s for s in sensitive if s not in columns]
        if quasi and absent and not hidden and group is not None:
            raise UsageError(
                f"the release has no column {absent[0]!r}", hint="--sensitive-table FILE"
            )
        roles, warnings = requested.assign(questions, secrets_apart=bool(hidden))
        check_secrets(roles, hidden)
        run.notes.extend(warnings)
        _check_columns(run, roles, (*columns, *hidden))
        dropped, notes = requested.prepare(questions, roles, settings.missing, all_rows=True)
        people = _released_people(
            run, questions, roles, table.name, dropped, ordered=ordered and group is None
        )
        keyed = settings.key is not None and settings.key in columns
        further = None
        if ordered and people is not None and not keyed:
            apart = [*roles.identifier, *([] if settings.key is None else [settings.key])]
            further = record_pairs.read_further(
                questions, roles.measured_columns, apart, table.name
            )
        cubes: dict[str | None, Cube] = {}  # cells, and classes, with the suppressed records
        if group is None:
            if count_suppressed(questions, roles) and questions.suppression.left_out:
                # Whoever reasons also learns from suppressed records: they have secrets.
                secrets = [s for s in roles.sensitive if s not in roles.quasi and reasoner]
                cubes = {s: questions.cube((*roles.quasi, s)) for s in secrets}
                cubes[None] = questions.cube(roles.quasi)
            notes += leave_out_suppressed(questions, roles, where=SUPPRESSED)
        run.notes.extend(notes)
        description = describe_input(table, questions, settings.missing, dropped)
        run.clock("attacking", questions)
        if reasoner is not None and group is not None:
            reasoner.read_people(questions, roles.quasi)
            if not hidden:
                reasoner.read_secrets(questions, roles.sensitive)
                hidden = roles.sensitive
                roles = replace(roles, sensitive=())
            run.notes.append(Remark("by_groups"))
        run.notes.extend(counted_as_spelt(questions, roles.sensitive, requested.policy))
        attacks, classes = _attack_alone(run, questions, roles)
        if reasoner is not None and len(cubes) > 1:
            reasoner.cells = {s: cube for s, cube in cubes.items() if s is not None}
        if reasoner is not None and listed:
            reasoner.read_records(questions, roles.quasi, table.name)
        return AttackedRelease(
            roles=roles,
            hidden=hidden,
            description=description,
            unassessed=columns_without_role(questions, roles, settings.key, group),
            attacks=attacks,
            classes=classes,
            file=data,
            people=people,
            further=further,
            keyed=keyed,
            everybody=cubes.get(None),
            mark=questions.suppression.mark,
        )


def _check_columns(run: AttackRun, roles: Roles, columns: Sequence[str]) -> None:
    """Make sure that the settings of columns make sense for them."""
    settings = run.settings
    check_named(settings.value or {}, roles.sensitive)
    for what, by_column in (
        ("hierarchy", run.hierarchies),
        ("partition", run.partitions),
    ):
        for column in by_column:
            check_known(f"{what}: column", column, columns)
    for column in run.partitions:
        if column not in roles.sensitive:
            run.notes.append(Remark("not_a_secret", what=Remark("partition"), column=repr(column)))
    require(
        settings.key is None or settings.key not in roles.measured_columns,
        f"the key {settings.key!r} tells everybody apart: it is no role of a release",
        hint="-q and -s without it",
    )


def _attack_alone(
    run: AttackRun, questions: Questions, roles: Roles
) -> tuple[Mapping[str, Mapping[str, Attack]], Cube]:
    """Make the attacks that need nothing but the release, and count the classes.

    There are no attacks if missing values match anything: they make no classes.
    """
    settings = run.settings
    quasi = roles.quasi
    secrets = [s for s in roles.sensitive if s not in quasi]
    cubes: dict[tuple[str, ...], Cube] = {}

    def count(columns: Sequence[str]) -> Cube:
        key = tuple(columns)
        if key not in cubes:
            cubes[key] = questions.cube(columns)
        return cubes[key]

    attacks: Mapping[str, Mapping[str, Attack]] = {"identity": {}}
    if settings.missing == "wildcard" and bool(questions.missing(quasi)):
        run.notes.append(Remark("wildcards_attack"))
    else:
        attacks, notes = attack_release(
            count,
            quasi,
            roles.sensitive,
            hierarchies=run.hierarchies,
            partitions=run.partitions,
            named=settings.value or {},
            show=settings.show_values,
        )
        run.notes.extend(notes)
    classes = next(iter(cubes.values())).roll_up(quasi) if cubes else count(quasi)
    if run.reasoner is not None and run.reasoner.group is None:
        run.reasoner.cells = {s: count((*quasi, s)) for s in secrets}
    return attacks, classes


def _released_people(
    run: AttackRun, questions: Questions, roles: Roles, name: str, dropped: int, *, ordered: bool
) -> Cube | None:
    """Read the release record by record, if its people are looked for in another table."""
    key = run.settings.key
    if ordered:
        require_memory(
            RECORD_BYTES * questions.records * len(roles.measured_columns),
            f"{plural(questions.records, 'record')} are searched for in the original, in memory",
            "a larger --memory, fewer columns, or a sample of both tables",
        )
    if key is not None and key in questions.columns:
        questions.engine.check_usable(key)
        people = microdata.by_key(questions, roles.quasi, key, name)
        lacking = questions.records - people.records
        if lacking:
            run.notes.append(Remark("release_keyless", records=plural(lacking, "record")))
        return people
    if ordered:
        require(
            not dropped,
            "records were dropped: their order does not tell who is who any more",
            hint="--missing value, or a --key that the release has",
        )
        # secrets as well: they may show whether the order of the original is the same
        return microdata.in_order(questions, roles.measured_columns, name)
    if key is not None:
        raise unknown("--key: column", key, questions.columns)
    return None
