"""The release: what it gives away alone, and what attacks with other tables need of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sievert import files
from sievert.arrays import Ints
from sievert.attacks.attack import Attack
from sievert.attacks.reasoning.result import Reasoning
from sievert.attacks.release_attacks import attack_release, check_named
from sievert.checks.spellings import counted_as_spelt
from sievert.commands.attack.reasoning import Reasoner
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
from sievert.sources.isolation import require_memory

RECORD_BYTES = 100  # that each column of a record takes at least; measured, and rounded off
SUPPRESSED = Remark("left_out_attacks")
FOR_THE_RELEASE = ("engine", "master", "types")  # how to read; the rest goes for all tables


@dataclass(frozen=True, kw_only=True)
class AttackSettings:
    """What attackers have besides the tables."""

    hierarchies: Mapping[str, Any]
    partitions: Mapping[str, Mapping[str, Any]]
    named: Mapping[str, str]  # the value of a secret whose rise in a class matters
    key: str | None
    paired: bool  # by their order, as stated
    missing: str
    show_values: bool
    as_spelt: bool = False  # whether keys that are spelt otherwise are of other people


class AttackRun:
    """What all attacks of one run share: settings, a clock, how tables are read, notes."""

    def __init__(
        self,
        settings: AttackSettings,
        read: Reading,
        source: Mapping[str, Any],
        reasoner: Reasoner | None,
        notes: list[Remark],
    ) -> None:
        self.settings = settings
        self.read = read
        self.clock = read.clock
        self.source = source
        self.reasoner = reasoner
        self.notes = notes
        self.other_source = {k: v for k, v in source.items() if k not in FOR_THE_RELEASE}


@dataclass(frozen=True, kw_only=True)
class AttackedRelease:
    """What is known of the release once it was read."""

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


def read_secrets(
    run: AttackRun, data: Any, release: Any, requested: RequestedRoles
) -> tuple[str, ...]:
    """Read the second table of a release: groups and their secrets, which are returned."""
    if data is None:
        return ()
    assert run.reasoner is not None
    with run.read(data, **run.other_source) as (_, questions):
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
    run: AttackRun,
    data: Any,
    requested: RequestedRoles,
    hidden: tuple[str, ...],
    *,
    verify: bool,
    ordered: bool,
    listed: bool,
) -> AttackedRelease:
    """Attack the release alone, and keep what the attacks with other tables need of it.

    Its records are `ordered` where an original goes with it, and `listed` where each is reported.
    """
    settings = run.settings
    reasoner = run.reasoner
    group = None if reasoner is None else reasoner.group
    with run.read(data, verify=verify, **run.source) as (table, questions):
        columns = questions.columns
        quasi, sensitive, _ = requested.names(columns)
        absent = [s for s in sensitive if s not in columns]
        if quasi and absent and not hidden and group is not None:
            raise UsageError(
                f"the release has no column {absent[0]!r}", hint="--sensitive-table FILE"
            )
        roles, warnings = requested.assign(questions, secrets_apart=bool(hidden))
        check_secrets(roles, hidden)
        run.notes += warnings
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
        run.notes += notes
        description = describe_input(table, questions, settings.missing, dropped)
        run.clock("attacking", questions)
        if reasoner is not None and group is not None:
            reasoner.read_people(questions, roles.quasi)
            if not hidden:
                reasoner.read_secrets(questions, roles.sensitive)
                hidden = roles.sensitive
                roles = replace(roles, sensitive=())
            run.notes.append(Remark("by_groups"))
        run.notes += counted_as_spelt(questions, roles.sensitive, requested.policy)
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
    check_named(settings.named, roles.sensitive)
    for what, by_column in (
        ("hierarchy", settings.hierarchies),
        ("partition", settings.partitions),
    ):
        for column in by_column:
            check_known(f"{what}: column", column, columns)
    run.notes += [
        Remark("not_a_secret", what=Remark("partition"), column=repr(column))
        for column in settings.partitions
        if column not in roles.sensitive
    ]
    require(
        settings.key is None or settings.key not in roles.measured_columns,
        f"the key {settings.key!r} tells everybody apart: it is no role of a release",
        hint="-q and -s without it",
    )


def _attack_alone(
    run: AttackRun, questions: Questions, roles: Roles
) -> tuple[Mapping[str, Mapping[str, Attack]], Cube]:
    """The attacks that need nothing else, and the classes.

    There are no attacks where missing values match anything and make no classes.
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
            hierarchies=settings.hierarchies,
            partitions=settings.partitions,
            named=settings.named,
            show=settings.show_values,
        )
        run.notes += notes
    classes = next(iter(cubes.values())).roll_up(quasi) if cubes else count(quasi)
    if run.reasoner is not None and run.reasoner.group is None:
        run.reasoner.cells = {s: count((*quasi, s)) for s in secrets}
    return attacks, classes


def _released_people(
    run: AttackRun, questions: Questions, roles: Roles, name: str, dropped: int, *, ordered: bool
) -> Cube | None:
    """The release record by record, where a person is to be found in another table too."""
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


def write_beliefs(
    run: AttackRun,
    beliefs: Mapping[str, Reasoning],
    path: Path,
    inputs: Sequence[Any],
    force: bool,
) -> None:
    """Write one row per record: what is believed of its secrets."""
    kind = files.record_format(path)
    columns: dict[str, tuple[str, Any]] = {}
    for secret, reasoning in beliefs.items():
        by_record = reasoning.by_record()
        if by_record is None:
            raise UsageError("the source has no order of records: no file can name them")
        prefix = files.escape_formula(secret) if kind == "csv" else secret
        columns["record"] = "BIGINT", range(1, len(next(iter(by_record.values()))[1]) + 1)
        columns |= {f"{prefix}_{name}": column for name, column in by_record.items()}
    require(columns, "nobody has reasoned here: there is no record to tell of")
    with (
        files.write_whole(path, sources=inputs, force=force) as target,
        run.read({"record": ["1"]}, outputs=[target]) as (_, questions),
        files.name_output(path),
    ):
        run.clock("writing records", questions)
        assert target is not None
        questions.write_columns(columns, target, kind)
