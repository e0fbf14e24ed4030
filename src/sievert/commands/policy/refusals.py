"""What `assess` refuses under a policy or leaves undecided: gaps of the policy.

Settings that are known to be refused are looked at one by one. Then a planned release of the table
is judged, so that nothing that keeps the policy from a verdict is passed over.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sievert.checks.kept_columns import judge_kept
from sievert.checks.spellings import compare_spellings
from sievert.commands.policy.repair import toml_key
from sievert.commands.policy.result import PolicyGap
from sievert.counts.questions import Questions
from sievert.errors import InputError, UsageError
from sievert.formatting.remarks import Remark
from sievert.hierarchies import check_specification, is_made_from_data, to_hierarchy, with_orders
from sievert.measurement.table_measures import (
    MeasureSettings,
    TableMeasures,
    check_hierarchies,
    unused_settings,
)
from sievert.policy import Policy, judge, judge_suppressed
from sievert.policy.judgement import NO_SUCH_VALUE, Judgement
from sievert.request.repeated_rows import judge_weight
from sievert.request.requested import RequestedRoles
from sievert.roles import Roles
from sievert.session import Clock, count_people
from sievert.sources.table import Table


def gap_of_column(reason: str, column: str) -> tuple[Remark, str] | None:
    """What is said of a column for a reason of a judgement, and what to try; None of others."""
    as_identifier = f"identifier = [{column}]"
    match reason:
        case "spelt_differently":
            return Remark("gap_spelt", column=column), Remark("gap_spell_alike", column=column)
        case "spellings_not_compared":
            text = Remark("gap_not_compared", column=column)
            return text, Remark("gap_spell_alike", column=column)
        case "secret_names_people":
            return Remark("gap_names_people", column=column), as_identifier
        case "kept_names_people":
            return Remark("gap_kept_names_people", column=column), as_identifier
        case "weight_names_people":
            return Remark("gap_weight_names_people", column=column), as_identifier
        case "merged_by_type":
            return Remark("gap_merged", column=column), Remark("gap_no_type")
        case "kept_unique":
            return Remark("gap_kept_unique", column=column), Remark("gap_coarser")
        case "kept_not_measured":
            return Remark("gap_kept_unmeasured", column=column), Remark("gap_unknowable")
    return None


# Reasons of a judgement that are gaps of the policy as a whole: what is said, and what to try.
REASONS = {
    "rows_without_person": (Remark("gap_no_person"), "[roles] person"),
    "codes_not_listed": (Remark("gap_codes"), "[reading] na"),
    "settings_replaced": (Remark("gap_settings"), "[reading] na"),
    "mark_not_listed": (Remark("gap_mark"), "[reading] suppressed"),
}
SPECIFICATION = Remark("gap_specification")
EVERY_VALUE = Remark("gap_every_value")
ONCE = Remark("gap_values_once")


def twice_named(policy: Policy) -> Iterator[PolicyGap]:
    """Find columns that a list of roles names twice."""
    for role, columns in policy.roles.columns_by_role.items():
        for column in dict.fromkeys(c for c in columns if columns.count(c) > 1):
            where = f"roles.{role}"
            text = Remark("gap_named_twice", where=where, column=toml_key(column))
            yield PolicyGap(
                what="refused_settings",
                where=where,
                name=column,
                text=text,
                suggestion=Remark("gap_name_once"),
            )


def no_quasi(policy: Policy) -> Iterator[PolicyGap]:
    """Say that a policy has no quasi-identifiers."""
    if not policy.roles.quasi:
        text = Remark("gap_no_quasi")
        yield PolicyGap(
            what="refused_settings",
            where="roles.quasi",
            name="",
            text=text,
            suggestion="quasi = [...]",
        )


def bare_limits(policy: Policy, columns: Sequence[str]) -> Iterator[PolicyGap]:
    """Find tables of limits that are empty and about a column that is no secret."""
    for column, limits in policy.inference.items():
        if not limits and column in columns and column not in policy.roles.sensitive:
            where = f"limits.inference.{column}"
            text = Remark("gap_not_sensitive", where=where, column=toml_key(column))
            yield PolicyGap(
                what="misplaced_limits",
                where=where,
                name=column,
                text=text,
                suggestion=Remark("gap_name_there"),
            )


def unusable_settings(
    questions: Questions, policy: Policy, roles: Roles, orders: Mapping[str, Iterable[str]]
) -> Iterator[PolicyGap]:
    """Find orders, partitions, hierarchies, named values and a population that are refused."""
    yield from _unusable_orders(policy, roles)
    yield from _unusable_partitions(questions, policy, roles)
    every_order = {**orders, **policy.orders}
    for column, given in policy.measured_hierarchies.items():
        if column in questions.columns:
            yield from _unusable_hierarchy(questions, roles, column, given, every_order)
    alpha = policy.parameters.alpha_k
    named = alpha.value if alpha is not None else None
    for column in named if isinstance(named, Mapping) else ():
        if column not in questions.columns:
            where = "parameters.alpha_k"
            text = Remark("gap_no_column", where=where, column=toml_key(column))
            yield _refused(where, column, text, Remark("gap_name_secret"))
    yield from _too_few_people(questions, policy, roles)


def _too_few_people(questions: Questions, policy: Policy, roles: Roles) -> Iterator[PolicyGap]:
    """Say that a population has fewer people than its sample has records."""
    stated = policy.parameters.population_uniques
    size = None if stated is None else stated.population_size
    if size is not None and roles.person is None and size < questions.records:
        where = "parameters.population_uniques"
        text = Remark("gap_population", where=where)
        yield _refused(where, "population_uniques", text, Remark("gap_population_people"))


def _refused(where: str, name: str, text: Remark, suggestion: str) -> PolicyGap:
    return PolicyGap(
        what="refused_settings", where=where, name=name, text=text, suggestion=suggestion
    )


def _unusable_orders(policy: Policy, roles: Roles) -> Iterator[PolicyGap]:
    for column, order in policy.orders.items():
        if column in roles.measured_columns and len({*order}) < len(order):
            text = Remark("gap_order_twice", column=toml_key(column))
            yield _refused("orders", column, text, ONCE)


def _unusable_partitions(questions: Questions, policy: Policy, roles: Roles) -> Iterator[PolicyGap]:
    for column, parts in policy.partitions.items():
        if column not in roles.sensitive:
            continue
        members = [value for part in parts.values() for value in {*part}]
        if len({*members}) < len(members):
            text = Remark("gap_part_twice", column=toml_key(column))
            yield _refused("partitions", column, text, ONCE)
        present = questions.values(column, roles.quasi or (column,))
        if not {*members} <= {*present}:
            text = Remark("gap_part_absent", column=toml_key(column))
            yield PolicyGap(
                what="undecided",
                where="partitions",
                name=column,
                text=text,
                suggestion=Remark("gap_spell"),
            )


def _unusable_hierarchy(
    questions: Questions,
    roles: Roles,
    column: str,
    given: Any,
    orders: Mapping[str, Iterable[str]],
) -> Iterator[PolicyGap]:
    """Find a hierarchy that cannot be read, or that lacks values of a column that is measured."""
    key = toml_key(column)
    try:
        check_specification(given)
    except (InputError, UsageError):
        text = Remark("gap_unreadable_hierarchy", column=key)
        yield _refused("hierarchies", column, text, SPECIFICATION)
        return
    if column not in roles.measured_columns:
        return
    counts = {
        value: number
        for value, number in questions.cube((column,)).value_counts(0).items()
        if value is not None and (value != "*" or column in roles.sensitive)
    }
    try:
        made = with_orders({column: given}, orders)[column]
        hierarchy = to_hierarchy(made, counts if is_made_from_data(made) else [*counts])
        if hierarchy is not None:
            hierarchy.require(counts, column)
    except (InputError, UsageError):
        text = Remark("gap_no_place", column=key)
        yield _refused("hierarchies", column, text, EVERY_VALUE)


def judged_gaps(
    table: Table,
    rows: Questions,
    policy: Policy,
    clock: Clock,
    known: Sequence[PolicyGap],
) -> Iterator[PolicyGap]:
    """Judge a planned release of the table, and say what keeps the policy from a verdict.

    `rows` are questions that have counted nothing yet; `known` are the gaps found before.
    """
    try:
        judgement = _judge_plan(table, rows, policy, clock)
    except (InputError, UsageError) as error:
        if not known:  # else it is one of these, or hidden behind one
            yield _refused("", "", Remark("gap_refused", what=error.what), error.hint or "")
        return
    yield from _undecided(judgement, known)


def _judge_plan(table: Table, rows: Questions, policy: Policy, clock: Clock) -> Judgement:
    """Judge a planned release as `assess` does, but for readings that only make numbers worse."""
    requested = RequestedRoles(given=(None, None, None), policy=policy).of_table(table)
    settings = MeasureSettings(orders=table.orders).with_policy(policy)
    check_hierarchies(settings.hierarchies)
    roles, _ = requested.assign(rows, people=True)
    unused_settings(settings, roles, rows.columns)
    requested.prepare(rows, roles, "value", roles.kept)
    questions = rows
    unnamed = 0
    if roles.person is not None:
        people = count_people(rows, roles.person)
        questions = people
        unnamed = people.unnamed_everywhere
    measures = TableMeasures(
        questions=questions, roles=roles, settings=settings, ids=None, clock=clock
    )
    inference = {secret: measures.inference(secret) for secret in roles.sensitive}
    numbers = measures.reidentification()
    gate = requested.gate(rows.columns, roles, suppression=rows.suppression, planned=True)
    assert gate is not None
    if unnamed:
        gate.undecided("rows_without_person")
    judge_kept(gate, questions, roles, None, wild=False)
    judge_weight(gate, rows, roles.weight)
    compare_spellings(rows, roles, policy).doubt(gate)
    verdicts, _ = judge(policy, numbers, inference)
    limited = {measure for _, measure, _ in policy.every_limit()}
    of_suppressed = judge_suppressed(policy, *measures.of_suppressed(limited, numbers))
    return gate.judge([*verdicts, *of_suppressed])


def _undecided_role(name: str, text: Remark, suggestion: str) -> PolicyGap:
    return PolicyGap(what="undecided", where="roles", name=name, text=text, suggestion=suggestion)


def _undecided(policy: Judgement, known: Sequence[PolicyGap]) -> Iterator[PolicyGap]:
    """Give the gaps of a judgement: reasons about the policy, and limits that are undecided."""
    for reason in policy.reasons:
        if reason.what in REASONS:
            text, suggestion = REASONS[reason.what]
            yield _undecided_role("", text, suggestion)
            continue
        for name in reason.names:
            gap = gap_of_column(reason.what, toml_key(name))
            if gap is not None:
                yield _undecided_role(name, *gap)
    limits = {gap.name for gap in known if gap.what == "undecidable_limits"}
    for verdict in policy.verdicts:
        if verdict.met is None and verdict.measure not in limits:
            where = f"limits.{verdict.where}"
            why = verdict.reason or NO_SUCH_VALUE
            text = Remark("gap_undecided", where=where, measure=verdict.measure, why=why)
            yield PolicyGap(
                what="undecidable_limits",
                where=where,
                name=verdict.measure,
                text=text,
                suggestion="",
            )
