"""The public function `synthetic`.

It has one keyword per option of the command, so that editors and `help` show them all.
"""

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Unpack

from sievert import files
from sievert.arrays import Floats
from sievert.checks.kept_columns import KEPT_NAMES_PEOPLE, KEPT_UNIQUE, many_unique
from sievert.checks.spellings import counted_apart
from sievert.commands.synthetic.attacks.attacks import SyntheticSettings
from sievert.commands.synthetic.attacks.kernels import Workers
from sievert.commands.synthetic.result import SyntheticAssessment
from sievert.commands.synthetic.run import (
    TEXT,
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
from sievert.errors import require
from sievert.files import escape_formula
from sievert.formatting.remarks import Remark
from sievert.policy import Policy
from sievert.policy.judgement import OTHER_TABLES, toothless_remarks
from sievert.request.repeated_rows import WEIGHT_NAMES_PEOPLE, naming_columns, naming_weight
from sievert.request.requested import (
    LARGE,
    PolicySource,
    Reading,
    refuse_engines,
    requested_roles,
)
from sievert.request.table_description import columns_without_role, describe_input
from sievert.session import Steps, no_progress
from sievert.sources.options import ReaderOptions

MOST_NAMED = 4  # tables that are named one by one
NO_CONTROL = Remark("no_control")


# The public function: its keywords are the options of the command, its docstring their reference.
def synthetic(
    original: Any,
    synthetic: Any,
    control: Any = None,
    quasi: str | Iterable[str] | None = None,
    sensitive: str | Iterable[str] | None = None,
    identifier: str | Iterable[str] | None = None,
    *,
    person: str | None = None,
    split: tuple[Sequence[str], Sequence[str]] | None = None,
    records: str | os.PathLike[str] | None = None,
    force: bool = False,
    policy: PolicySource = None,
    missing: str = "value",
    verify: bool = False,
    watch: Steps = no_progress,
    **source: Unpack[ReaderOptions],
) -> SyntheticAssessment:
    """Attack synthetic tables: what do they say of the people whose data they were made from?

    Each attack scores every person of the original and of the control, people whom the generator
    never saw, without using who is which. What originals suffer more than strangers is the risk.

    Parameters
    ----------
    original
        The table that the generator was trained on: a path, a frame, a dict of lists.
    synthetic
        The synthetic table, or a list of several; rows are not paired with those of the original.
    control
        People drawn together with the original and kept from the generator. Without it there are
        rates, and no risk.
    quasi
        What an attacker knows of a person whose secret they infer; all other columns unless given.
    sensitive
        The columns that are inferred; all shared ones unless given.
    identifier
        Columns that are not compared.
    person
        The column that tells which rows are of one person: they change sides together.
    split
        Two sets of columns that are known in two places, for linkability.
    records
        Write one row per person, originals first, with every attack's score, to this CSV or Parquet
        file.
    policy
        Its [limits.synthetic.ATTACK] are held against every table.
    source
        How to read: delimiter, encoding, types, na, engine, memory, threads, temp.

    >>> people = {"age": ["20", "30", "40", "50"], "job": ["a", "b", "a", "c"]}
    >>> fake = {"age": ["20", "30", "41", "50"], "job": ["a", "b", "a", "c"]}
    >>> found = synthetic(people, fake)
    >>> found.tables[0].results.attacks["copies"].original.hits
    3.0
    """
    requested = requested_roles(policy, quasi, sensitive, identifier, person=person)
    require(
        missing == "value",
        "a missing value is a value of its own here",
        hint="--missing value",
    )
    format_ = None if records is None else files.record_format(records)
    many = list(synthetic) if isinstance(synthetic, list | tuple) else [synthetic]
    require(many, "no synthetic table given", hint="sievert synthetic ORIGINAL SYNTHETIC")
    require(records is None or len(many) == 1, "--records goes with one synthetic table")
    refuse_engines("synthetic reads", source, original, *many, control)
    reading = Reading(watch, LARGE, verify=verify, **requested.read_as_stated({**source}))
    clock, notes, lacking = reading.clock, [], list[Remark]()
    inputs = [original, *many, control, policy]
    with files.write_whole(records, sources=inputs, force=force) as target:
        outputs = [target] if target else []
        with reading(original, outputs=outputs) as (table, questions):
            clock("reading the original", questions)
            requested = requested.of_table(table)
            roles, more = requested.assign(
                questions, quasi_needed=False, people=True, synthetic=True
            )
            notes += more
            unused = [*roles.identifier, *roles.ignored]
            unused += [c for c in (roles.person, roles.household, roles.weight) if c]
            together = roles.household or roles.person
            people = read_codes(questions, table.name, unused, together)
            notes += own_rows(people) if together == roles.person else ()
            description = describe_input(table, questions)
            kinds = questions.engine.kinds
            given = source.get("types") or {}
            categories = [c for c in people.columns if c in given and kinds.get(c) == TEXT]
            unassessed = columns_without_role(questions, roles, *people.columns)
        strangers = controlled = None
        if control is not None:
            with reading(control) as (table, questions):
                clock("reading the control", questions)
                strangers = read_codes(questions, table.name, unused, together)
                controlled = describe_input(table, questions)
        attacked, spelt = [], spelt_people(together, people, strangers)
        notes += (counted_apart(number, column) for column, number in spelt.items())
        for data in many:
            with reading(data) as (table, questions):
                clock("reading the synthetic table", questions)
                fake = read_codes(questions, table.name, unused, None)
                kept = kept_here(requested.policy, questions.columns)
                found = {
                    KEPT_NAMES_PEOPLE: naming_columns(questions, kept),
                    KEPT_UNIQUE: many_unique(questions, kept),
                    WEIGHT_NAMES_PEOPLE: naming_weight(questions, roles.weight),
                }
                doubts = {what: names for what, names in found.items() if names}
                if questions.engine.not_read:
                    doubts[OTHER_TABLES] = []
            clock("bringing the tables together", None)
            tables = join(people, fake, strangers, categories)
            names = [column.name for column in tables.columns]
            respelt = spelt_values(tables, people, fake)
            lacking += beside(people, fake, names, roles, respelt)
            clock("checking the control", None)
            if strangers is not None:
                check_control(tables, people, strangers)
            known, secrets = shared_roles(roles, names, fake.name)
            settings = SyntheticSettings(
                secrets=secrets,
                known=known,
                halves=split_columns(split, [*people.columns], names, fake.name),
                workers=Workers(source.get("threads"), clock.count),
            )
            released = [*fake.columns, *fake.unused]
            own = attack_table(
                *(tables, settings, fake.name, requested, roles, released),
                spelt={**spelt, **respelt},
                doubts=doubts,
            )
            if strangers is not None:
                check_strangers(tables, own, strangers.name)
            attacked.append(own)
        if target is not None and records is not None:
            clock("writing records", None)
            with (
                reading(original, outputs=outputs) as (_, questions),
                files.name_output(records),
            ):
                questions.write_columns(
                    _record_columns(attacked[0].results.scores, people.records),
                    target,
                    str(format_),
                )
    notes += merge_remarks([*lacking, *left_out(attacked)])
    if requested.policy is not None:
        judged = [v for table in attacked if table.policy for v in table.policy.verdicts]
        notes += dict.fromkeys(toothless_remarks(judged, requested.policy))
    if control is None:
        notes.insert(0, NO_CONTROL)
    return SyntheticAssessment(
        description,
        roles,
        attacked,
        controlled,
        {
            "known": None if not roles.quasi else list(roles.quasi),
            "split": None if split is None else [list(half) for half in split],
            "every": max(table.results.every for table in attacked),
        },
        warnings=tuple(notes),
        unassessed=unassessed,
        **clock.stop(),
    )


def kept_here(policy: Policy | None, columns: Sequence[str]) -> list[str]:
    """The columns of a table that a policy keeps."""
    return [] if policy is None else [c for c in policy.roles.kept if c in columns]


def _record_columns(scores: Mapping[str, Floats], records: int) -> dict[str, Any]:
    """The record file: of every original what each attack scored."""
    numbers = {name: own[:records].tolist() for name, own in scores.items()}
    return {
        "record": ("BIGINT", range(1, records + 1)),
        **{
            escape_formula(name): ("DOUBLE", [None if math.isnan(n) else n for n in own])
            for name, own in numbers.items()
        },
    }


def merge_remarks(remarks: Iterable[Remark]) -> Iterator[Remark]:
    """What is said of several tables in the same words, once with their names or their number.

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
