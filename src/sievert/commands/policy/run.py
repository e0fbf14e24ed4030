"""The check of a policy: the roles, columns, limits and statements that it lacks for a table."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sievert import files
from sievert.commands.policy.refusals import (
    bare_limits,
    judged_gaps,
    no_quasi,
    twice_named,
    unusable_settings,
)
from sievert.commands.policy.repair import repair_text, toml_key
from sievert.commands.policy.result import PolicyCheck, PolicyGap
from sievert.commands.policy.settings import PolicyCheckSettings
from sievert.counts.questions import Questions
from sievert.errors import require
from sievert.formatting import nearest, plural
from sievert.formatting.remarks import Remark
from sievert.measurement.table_measures import MeasureSettings, TableMeasures
from sievert.measures import BY_ID
from sievert.policy import Policy, impossible_limit, limit_mistakes, parse_tables, read_tables
from sievert.policy.document import SAY_WHY
from sievert.policy.judgement import Verdict, is_toothless
from sievert.request.repeated_rows import repeated_identifiers
from sievert.request.requested import LARGE, Reading, RequestedRoles
from sievert.request.role_suggestion import (
    MOST_COLUMNS,
    ColumnEvidence,
    examine_tallies,
    role_reason,
    suggest_role,
    tally_values,
)
from sievert.request.suppression import count_suppressed, leaves_out_unlimited
from sievert.request.table_description import describe_table
from sievert.roles import Roles
from sievert.session import Clock, Steps, count_people, no_progress
from sievert.settings.groups import reader_options
from sievert.sources.table import Table

LISTS = {"-q": "quasi", "-s": "sensitive", "-i": "identifier"}
DROPPED = (
    *("roles.identifier", "roles.ignored", "roles.dropped", "roles.kept"),
    *("roles.household", "roles.weight"),
)
# The gap of a measure that needs something of a secret which is not there.
LACKING = {
    "order": "gap_needs_order",
    "hierarchy": "gap_needs_hierarchy",
    "parts": "gap_needs_parts",
}
POPULATION = "[parameters] population_uniques = { population_size = ... }, or fraction"


def run(settings: PolicyCheckSettings, watch: Steps = no_progress) -> PolicyCheck:
    """Find what a policy lacks for a table, and write it into the policy if this is asked for."""
    path = Path(settings.policy)
    text, tables = read_tables(path)
    require(
        not settings.fix or not path.is_symlink(),
        f"{path.name} is a symbolic link: --fix its target",
    )
    require(not settings.fix or not files.is_same(path, settings.data), "the policy is the table")
    policy = parse_tables(tables, path.name)
    requested = RequestedRoles(given=(None, None, None), policy=policy)
    how = requested.read_as_stated({**reader_options(settings)})
    reading = Reading(watch, LARGE, verify=settings.verify, **how)
    with reading(settings.data) as (table, questions):
        gaps = find_gaps(table, questions, policy, reading.clock)
        description = describe_table(table, questions)
    reading.clock.stop()
    fixed = settings.fix and _repair(path, text, gaps, settings.data)
    return PolicyCheck(description, path.name, gaps, fixed)


def _repair(path: Path, text: str, gaps: Sequence[PolicyGap], data: Any) -> bool:
    """Write what the policy in `path` lacks into it, and tell whether that changed the `text`."""
    comments = [
        f"{gap.text}. Try: {gap.suggestion}" if gap.suggestion else gap.text for gap in gaps
    ]
    repaired = repair_text(text, comments)
    if repaired == text:
        return False
    mode = path.stat().st_mode & 0o777
    require(path.read_bytes().decode("utf-8-sig") == text, f"{path.name} was changed meanwhile")
    with files.write_whole(path, sources=[data], force=True) as temporary:
        assert temporary is not None
        temporary.write_bytes(repaired.encode("utf-8"))
        temporary.chmod(mode)
    return True


def find_gaps(
    table: Table, questions: Questions, policy: Policy, clock: Clock
) -> tuple[PolicyGap, ...]:
    """Find everything that the policy lacks for this table."""
    rows = questions.fork()
    roles = _known_roles(policy, questions.columns)
    mistakes = limit_mistakes(policy)
    limits = [(t, m, x) for t, m, x in policy.every_limit() if (t, m) not in mistakes]
    none = PolicyGap(
        what="no_limits",
        where="limits",
        name="",
        text=Remark("gap_no_limits"),
        suggestion="sievert measures",
    )
    gaps = (
        *_unknown_columns(policy, questions.columns),
        *twice_named(policy),
        *no_quasi(policy),
        *_without_role(questions, roles),
        *(
            PolicyGap(
                what="unknown_measures", where=table, name=measure, text=what, suggestion=hint or ""
            )
            for (table, measure), (what, hint) in mistakes.items()
        ),
        *_misplaced(policy, limits, roles),
        *bare_limits(policy, questions.columns),
        *_impossible(questions, policy, limits, roles, clock),
        *_undecidable(questions, {**table.orders, **policy.orders}, policy, limits, roles),
        *_absent_values(questions, policy, limits, roles),
        *unusable_settings(questions, policy, roles, table.orders),
        *_people(questions, policy, roles),
        *_suppressed(questions, policy, roles),
        *([] if limits or mistakes else [none]),
    )
    if mistakes:  # no table can be judged by them
        return gaps
    return (*gaps, *judged_gaps(table, rows, policy, clock, gaps))


def _known_roles(policy: Policy, columns: Sequence[str]) -> Roles:
    """Give the roles of the policy, without columns that the table does not have."""
    own = policy.roles

    def known(names: Iterable[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(n for n in names if n in columns))

    return Roles(
        quasi=known(own.quasi),
        sensitive=known(own.sensitive),
        identifier=known(own.identifier),
        person=own.person if own.person in columns else None,
        household=own.household if own.household in columns else None,
        weight=own.weight if own.weight in columns else None,
        ignored={c: why for c, why in own.left_out.items() if c in columns},
        kept={c: entry.reason for c, entry in own.kept.items() if c in columns},
    )


def _unknown_columns(policy: Policy, columns: Sequence[str]) -> Iterator[PolicyGap]:
    """Find columns that the policy names and the table does not have."""
    own = policy.roles
    named: dict[str, Iterable[str | None]] = {
        "roles.quasi": own.quasi,
        "roles.sensitive": own.sensitive,
        "roles.identifier": own.identifier,
        "roles.person": [own.person],
        "roles.household": [own.household],
        "roles.weight": [own.weight],
        "roles.ignored": own.ignored,
        "roles.dropped": own.dropped,
        "roles.kept": own.kept,
        "partitions": policy.partitions,
        "orders": policy.orders,
        "hierarchies": policy.measured_hierarchies,
        "limits.inference": policy.inference,
    }
    bare = [c for c in columns if c not in _known_roles(policy, columns).every_column]
    for where, names in named.items():
        for name in (n for n in names if n is not None and n not in columns):
            close = nearest(name, columns)
            if where in DROPPED and nearest(name, bare) is None:
                continue  # a release lacks such columns
            hint = Remark("gap_remove")
            if close:
                hint = Remark("gap_table_has", column=toml_key(close))
            text = Remark("gap_no_column", where=where, column=toml_key(name))
            yield PolicyGap(
                what="unknown_columns", where=where, name=name, text=text, suggestion=hint
            )


def _without_role(questions: Questions, roles: Roles) -> Iterator[PolicyGap]:
    """Find columns without a role, and suggest one by their values."""
    bare = [c for c in questions.columns if c not in roles.every_column]
    distinct = questions.distinct(bare) if bare else {}
    looked = {c: n for c, n in distinct.items() if len(bare) <= MOST_COLUMNS}
    known = examine_tallies(looked, tally_values(questions, looked), questions.records)
    for column in bare:
        key = toml_key(column)
        evidence = known.get(column) or ColumnEvidence(
            values=distinct[column], records=questions.records
        )
        option, reason = suggest_role(column, evidence)
        why = role_reason(evidence, reason)
        text = f"column {key} has no role ({why})"
        hint = f'a list of [roles], or ignored = {{ {key} = "{SAY_WHY}" }}'
        likely = LISTS.get(option, "")
        yield PolicyGap(
            what="columns_without_role",
            where="roles",
            name=column,
            text=text,
            suggestion=hint,
            why=why,
            likely=likely,
        )


def _misplaced(policy: Policy, limits: Sequence[Any], roles: Roles) -> Iterator[PolicyGap]:
    """Find limits on measures that are not computed at their place."""
    for table, measure, _ in limits:
        kinds = BY_ID[measure].kinds
        wrong = not kinds or {"limits.reidentification": "record"}.get(table, kinds[0]) not in kinds
        if table.startswith("limits.inference."):
            secret = table.removeprefix("limits.inference.")
            wrong = "secret" not in kinds
            if secret not in roles.sensitive and not wrong:
                text = Remark("gap_not_sensitive", where=table, column=toml_key(secret))
                there = Remark("gap_name_there")
                yield PolicyGap(
                    what="misplaced_limits", where=table, name=measure, text=text, suggestion=there
                )
        elif table == "limits" and kinds == ("secret",) and not policy.roles.sensitive:
            text = Remark("gap_about_secret", where=table, measure=measure)
            yield PolicyGap(
                what="misplaced_limits",
                where=table,
                name=measure,
                text=text,
                suggestion="sensitive = [...]",
            )
        if wrong:
            other = "reidentification" if "record" in kinds else "inference.SECRET"
            text = Remark("gap_no_number", where=table, measure=measure)
            yield PolicyGap(
                what="misplaced_limits",
                where=table,
                name=measure,
                text=text,
                suggestion=f"[limits.{other}]",
            )


def _places(table: str, measure: str, roles: Roles) -> list[str | None]:
    """List what a limit is about: secrets, and None for finding a person."""
    if table == "limits.reidentification":
        return [None]
    kinds = BY_ID[measure].kinds
    secrets: list[str | None] = list(roles.sensitive if "secret" in kinds else ())
    everywhere = [None, *secrets] if "record" in kinds else secrets
    own = [s for s in secrets if table == f"limits.inference.{s}"]
    return everywhere if table == "limits" else own


def _impossible(
    questions: Questions, policy: Policy, limits: Sequence[Any], roles: Roles, clock: Clock
) -> Iterator[PolicyGap]:
    """Find limits that even one class of all records breaches, or that bound the harmless side."""
    ids = [m for _, m, _ in limits]
    apart = [c for c in questions.columns if c not in roles.sensitive]
    counted = Roles(
        quasi=roles.quasi or tuple(apart or questions.columns)[:1], sensitive=roles.sensitive
    )
    questions.check_usable(counted.measured_columns)
    if roles.person is not None:  # people are counted, as assess does: they are fewer than rows
        questions.check_usable([roles.person])
        questions = count_people(questions, roles.person)
    table = TableMeasures(
        questions=questions,
        roles=counted,
        settings=MeasureSettings().with_policy(policy),
        ids=dict.fromkeys(ids),
        clock=clock,
    )
    for secret in counted.sensitive:
        table.count_values(secret)
    best = table.best_numbers(ids)
    for where, measure, limit in limits:
        risky = BY_ID[measure].riskier
        if {"low": limit.min, "high": limit.max}.get(risky, 0.0) is None:
            key = "gap_side_high" if risky == "high" else "gap_side_low"
            text = Remark(key, where=where, measure=measure)
            bound = "min" if risky == "low" else "max"
            hint = f"{measure} = {{ {bound} = ... }}"
            yield PolicyGap(
                what="harmless_side", where=where, name=measure, text=text, suggestion=hint
            )
        elif is_toothless(
            Verdict(measure=measure, where="", min=limit.min, max=limit.max, value=None, met=None),
            policy,
        ):
            text = Remark("gap_toothless", where=where, measure=measure)
            yield PolicyGap(
                what="harmless_side",
                where=where,
                name=measure,
                text=text,
                suggestion=Remark("gap_stricter"),
            )
        for place in _places(where, measure, roles):
            chapter = "reidentification" if place is None else f"inference.{place}"
            at_best = best.get(place, {}).get(measure)
            why = impossible_limit(chapter, measure, limit, at_best, number=False)
            if why:
                text = Remark("gap_impossible", where=where, measure=measure, why=why)
                if place is not None:
                    text = Remark(
                        "gap_impossible_of",
                        where=where,
                        measure=measure,
                        column=toml_key(place),
                        why=why,
                    )
                yield PolicyGap(
                    what="impossible_limits",
                    where=where,
                    name=measure,
                    text=text,
                    suggestion=BY_ID[measure].instead,
                )


def _undecidable(
    questions: Questions,
    orders: Mapping[str, Any],
    policy: Policy,
    limits: Sequence[Any],
    roles: Roles,
) -> Iterator[PolicyGap]:
    """Find limits on measures that lack what they need of a secret, or a population."""
    for where, measure, _ in limits:
        if "population" in BY_ID[measure].needs and policy.parameters.population_uniques is None:
            text = Remark("gap_needs_population", where=where, measure=measure)
            yield PolicyGap(
                what="undecidable_limits",
                where=where,
                name=measure,
                text=text,
                suggestion=POPULATION,
            )
        for secret in (s for s in _places(where, measure, roles) if s is not None):
            key = toml_key(secret)
            ordered = questions.engine.kind(secret) in ("float", "ordered")
            needs = {  # whether it is there, and a hint
                "order": (
                    secret in orders or ordered,
                    f'[orders] {key} = ["lowest", ..., "highest"]',
                ),
                "hierarchy": (secret in policy.hierarchies, f'[hierarchies] {key} = "FILE"'),
                "parts": (secret in policy.partitions, f"[partitions.{key}]"),
            }
            for need in (n for n in LACKING if n in BY_ID[measure].needs and not needs[n][0]):
                text = Remark(LACKING[need], where=where, measure=measure, column=key)
                yield PolicyGap(
                    what="undecidable_limits",
                    where=where,
                    name=measure,
                    text=text,
                    suggestion=needs[need][1],
                )


def _absent_values(
    questions: Questions, policy: Policy, limits: Sequence[Any], roles: Roles
) -> Iterator[PolicyGap]:
    """Find values that the table does not have, and values that an order does not have."""
    alpha = policy.parameters.alpha_k
    for where, measure, _ in limits:
        for secret in (s for s in _places(where, measure, roles) if s is not None):
            named = None if measure != "alpha_k" or alpha is None else alpha.value
            value = named.get(secret) if isinstance(named, dict) else named
            key = toml_key(secret)
            values = questions.values(secret, roles.quasi or (secret,))
            if value is not None and str(value) not in values:
                text = Remark("gap_value_absent", where=where, measure=measure, column=key)
                yield PolicyGap(
                    what="undecidable_limits",
                    where=where,
                    name=measure,
                    text=text,
                    suggestion="[parameters] alpha_k",
                )
    for secret, order in policy.orders.items():
        if secret in roles.sensitive:  # assess reads it, whether a limit needs it or not
            key = toml_key(secret)
            values = questions.values(secret, roles.quasi or (secret,))
            known = {value for value in values if value is not None}
            lacking = len(known - {*order})
            if lacking:
                values_lacking = plural(lacking, "value")
                text = Remark("gap_order_lacks", where="orders", column=key, values=values_lacking)
                yield PolicyGap(
                    what="undecidable_limits",
                    where="orders",
                    name=secret,
                    text=text,
                    suggestion=f"[orders] {key}",
                )


def _people(questions: Questions, policy: Policy, roles: Roles) -> Iterator[PolicyGap]:
    """Find columns whose repeated values may mean that a person has several rows.

    They are gaps only if the policy does not say whether each row is a person.
    """
    if policy.roles.person is not None:
        return
    stated = policy.roles.rows_are_people
    roles = replace(roles, rows_are_people=stated)
    for column in repeated_identifiers(questions, roles, policy.roles.distinct_spellings)[0]:
        key = toml_key(column)
        text = Remark("gap_repeat", column=key)
        hint = Remark("gap_person", column=key)
        if stated:
            text = Remark("gap_rows_are_people", column=key)
            hint = Remark("gap_person_or", column=key)
        yield PolicyGap(
            what="people_unstated", where="roles", name=column, text=text, suggestion=hint
        )


def _suppressed(questions: Questions, policy: Policy, roles: Roles) -> Iterator[PolicyGap]:
    """Say that there are suppressed records, and no limit on their number."""
    if not roles.quasi:
        return
    count_suppressed(questions, roles, cells=False)
    if leaves_out_unlimited(policy, questions.suppression):
        text = Remark("gap_suppressed")
        hint = "[limits.reidentification] suppressed_records = { max = ... }"
        yield PolicyGap(
            what="suppressed_unlimited",
            where="limits",
            name="suppressed_records",
            text=text,
            suggestion=hint,
        )
