"""One run of the attacks: tables are read, and each synthetic one is attacked and judged."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sievert import files
from sievert.arrays import Floats
from sievert.checks.kept_columns import KEPT_NAMES_PEOPLE, KEPT_UNIQUE, many_unique
from sievert.checks.spellings import counted_apart
from sievert.commands.synthetic.attacked_table import (
    FileFacts,
    TableCodes,
    attack_table,
    beside,
    check_control,
    check_strangers,
    join,
    left_out,
    own_rows,
    read_codes,
    shared_roles,
    spelt_people,
    spelt_values,
    split_columns,
)
from sievert.commands.synthetic.attacks.kernels import Workers
from sievert.commands.synthetic.attacks.task import AttackTask
from sievert.commands.synthetic.result import AttackedTable, SyntheticAssessment
from sievert.commands.synthetic.settings import SyntheticSettings
from sievert.counts.questions import Questions
from sievert.formatting.remarks import Remark
from sievert.policy import Policy
from sievert.policy.judgement import OTHER_TABLES, toothless_remarks
from sievert.request.repeated_rows import WEIGHT_NAMES_PEOPLE, naming_columns, naming_weight
from sievert.request.requested import (
    LARGE,
    Reading,
    RequestedRoles,
    refuse_engines,
    requested_roles,
)
from sievert.request.table_description import columns_without_role, describe_input
from sievert.roles import Roles
from sievert.session import Clock, Steps, no_progress
from sievert.settings.groups import reader_options

MOST_NAMED = 4  # tables that are named one by one
NO_CONTROL = Remark("no_control")
TEXT = "VARCHAR"


@dataclass(frozen=True, kw_only=True)
class PeopleAndStrangers:
    """The people of the original, and those of the control if there is one."""

    settings: SyntheticSettings
    requested: RequestedRoles
    roles: Roles
    people: TableCodes
    strangers: TableCodes | None
    unused: Sequence[str]  # columns that are not compared
    categories: Sequence[str]  # columns whose numbers are said to be texts
    spelt: Mapping[str, int]  # people whose names coincide with others' if they are spelt alike
    description: Mapping[str, Any]
    controlled: Mapping[str, Any] | None  # the description of the control
    unassessed: tuple[str, ...]
    notes: Sequence[Remark]


def run(settings: SyntheticSettings, watch: Steps = no_progress) -> SyntheticAssessment:
    """Attack synthetic tables as `settings` say; `watch` is told of every step."""
    requested = requested_roles(
        settings.policy,
        settings.quasi,
        settings.sensitive,
        settings.identifier,
        person=settings.person,
    )
    settings.check_work()
    source = reader_options(settings)
    given = (settings.original, *settings.tables, settings.control)
    refuse_engines("synthetic reads", source, *given)
    how = requested.read_as_stated({**source})
    reading = Reading(watch, LARGE, verify=settings.verify, **how)
    inputs = [*given, settings.policy]
    attacked: list[AttackedTable] = []
    lacking: list[Remark] = []
    with files.write_whole(settings.records, sources=inputs, force=settings.force) as target:
        outputs = [] if target is None else [target]
        people = _read_people(settings, requested, reading, outputs)
        for data in settings.tables:
            table, notes = _attack(data, people, reading)
            attacked.append(table)
            lacking += notes
        if target is not None:
            _write_scores(attacked[0], people, reading, target)
    notes = [*people.notes, *merge_remarks([*lacking, *left_out(attacked)])]
    policy = people.requested.policy
    if policy is not None:
        judged = [v for table in attacked if table.policy for v in table.policy.verdicts]
        notes += dict.fromkeys(toothless_remarks(judged, policy))
    if settings.control is None:
        notes.insert(0, NO_CONTROL)
    return SyntheticAssessment(
        table=people.description,
        roles=people.roles,
        tables=attacked,
        control=people.controlled,
        settings=_stated(people, attacked),
        warnings=tuple(notes),
        unassessed=people.unassessed,
        **reading.clock.stop(),
    )


def _stated(people: PeopleAndStrangers, attacked: Sequence[AttackedTable]) -> dict[str, Any]:
    """Say in the result what an attacker knows, and how many people were attacked."""
    quasi = people.roles.quasi
    split = people.settings.split
    return {
        "known": list(quasi) if quasi else None,
        "split": None if split is None else [list(half) for half in split],
        "every": max(table.results.every for table in attacked),
    }


# -- the people -----------------------------------------------------------------------------------


def _read_people(
    settings: SyntheticSettings,
    requested: RequestedRoles,
    reading: Reading,
    outputs: Sequence[Path],
) -> PeopleAndStrangers:
    """Read the original and the control as codes; the records go to one of the `outputs`."""
    notes: list[Remark] = []
    with reading(settings.original, outputs=outputs) as (table, questions):
        reading.clock("reading the original", questions)
        requested = requested.of_table(table)
        roles, more = requested.assign(questions, quasi_needed=False, people=True, synthetic=True)
        notes += more
        unused = [*roles.identifier, *roles.ignored]
        unused += [c for c in (roles.person, roles.household, roles.weight) if c]
        together = roles.household or roles.person
        people = read_codes(questions, table.name, unused, together)
        if together == roles.person:
            notes += own_rows(people)
        description = describe_input(table, questions)
        kinds = questions.engine.kinds
        typed = settings.types or {}
        categories = [c for c in people.columns if c in typed and kinds.get(c) == TEXT]
        unassessed = columns_without_role(questions, roles, *people.columns)
    strangers = None
    controlled = None
    if settings.control is not None:
        with reading(settings.control) as (table, questions):
            reading.clock("reading the control", questions)
            strangers = read_codes(questions, table.name, unused, together)
            controlled = describe_input(table, questions)
    spelt = spelt_people(together, people, strangers)
    notes += (counted_apart(number, column) for column, number in spelt.items())
    return PeopleAndStrangers(
        settings=settings,
        requested=requested,
        roles=roles,
        people=people,
        strangers=strangers,
        unused=unused,
        categories=categories,
        spelt=spelt,
        description=description,
        controlled=controlled,
        unassessed=unassessed,
        notes=notes,
    )


# -- a synthetic table ----------------------------------------------------------------------------


def _attack(
    data: Any, attacked: PeopleAndStrangers, reading: Reading
) -> tuple[AttackedTable, list[Remark]]:
    """Read and attack one synthetic table; return remarks on columns that are not attacked, too."""
    clock = reading.clock
    people = attacked.people
    strangers = attacked.strangers
    roles = attacked.roles
    with reading(data) as (table, questions):
        clock("reading the synthetic table", questions)
        fake = read_codes(questions, table.name, attacked.unused, None)
        doubts = _doubts(questions, attacked)
    clock("bringing the tables together", None)
    tables = join(people, fake, strangers, attacked.categories)
    names = [column.name for column in tables.columns]
    respelt = spelt_values(tables, people, fake)
    notes = list(beside(people, fake, names, roles, respelt))
    clock("checking the control", None)
    if strangers is not None:
        check_control(tables, people, strangers)
    task = _task(attacked, fake, names, clock)
    facts = FileFacts(
        requested=attacked.requested,
        roles=roles,
        released=[*fake.columns, *fake.unused],
        spelt={**attacked.spelt, **respelt},
        doubts=doubts,
    )
    result = attack_table(tables, task, fake.name, facts)
    if strangers is not None:
        check_strangers(tables, result, strangers.name)
    return result, notes


def _task(
    attacked: PeopleAndStrangers, fake: TableCodes, names: Sequence[str], clock: Clock
) -> AttackTask:
    """Find what an attacker knows and wants to know, in the columns that all tables share."""
    settings = attacked.settings
    known, secrets = shared_roles(attacked.roles, names, fake.name)
    return AttackTask(
        secrets=secrets,
        known=known,
        halves=split_columns(settings.split, [*attacked.people.columns], names, fake.name),
        workers=Workers(settings.threads, clock.count),
    )


def _doubts(questions: Questions, attacked: PeopleAndStrangers) -> dict[str, Sequence[str]]:
    """List the columns of a synthetic table that keep a verdict open, by the reason of a gate."""
    kept = kept_here(attacked.requested.policy, questions.columns)
    by_reason = {
        KEPT_NAMES_PEOPLE: naming_columns(questions, kept),
        KEPT_UNIQUE: many_unique(questions, kept),
        WEIGHT_NAMES_PEOPLE: naming_weight(questions, attacked.roles.weight),
    }
    doubts: dict[str, Sequence[str]] = {what: names for what, names in by_reason.items() if names}
    if questions.engine.not_read:
        doubts[OTHER_TABLES] = []
    return doubts


def kept_here(policy: Policy | None, columns: Sequence[str]) -> list[str]:
    """List the columns of a table that a policy keeps."""
    return [] if policy is None else [c for c in policy.roles.kept if c in columns]


# -- the result -----------------------------------------------------------------------------------


def _write_scores(
    table: AttackedTable, attacked: PeopleAndStrangers, reading: Reading, target: Path
) -> None:
    """Write one row per person of the original, with the score of every attack."""
    settings = attacked.settings
    assert settings.records is not None
    reading.clock("writing records", None)
    with (
        reading(settings.original, outputs=[target]) as (_, questions),
        files.name_output(settings.records),
    ):
        columns = _record_columns(table.results.scores, attacked.people.records)
        questions.write_columns(columns, target, files.record_format(settings.records))


def _record_columns(scores: Mapping[str, Floats], records: int) -> dict[str, Any]:
    """Make the columns of the record file: of every original what each attack scored."""
    numbers = {name: own[:records].tolist() for name, own in scores.items()}
    return {
        "record": ("BIGINT", range(1, records + 1)),
        **{
            files.escape_formula(name): (
                "DOUBLE",
                [None if math.isnan(n) else n for n in own],
            )
            for name, own in numbers.items()
        },
    }


def merge_remarks(remarks: Iterable[Remark]) -> Iterator[Remark]:
    """Say once what is said of several tables in the same words, with their names or their number.

    >>> few = [Remark("control_too_small", table=name) for name in ("a", "b")]
    >>> [remark[:10] for remark in merge_remarks([*few, Remark("no_control")])]
    ['a, b: the ', 'no control']
    """
    alike: dict[tuple[type[Remark], str], list[Remark]] = {}
    for remark in remarks:
        own_words = remark.removeprefix(f"{remark.values.get('table')}: ")
        alike.setdefault((type(remark), own_words), []).append(remark)
    for same in alike.values():
        names = [remark.values["table"] for remark in same if "table" in remark.values]
        if len(names) > MOST_NAMED:
            yield same[0].with_values(table=f"{len(names)} tables")
        elif len(names) > 1:
            yield same[0].with_values(table=", ".join(names))
        else:
            yield same[0]
