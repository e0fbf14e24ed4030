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

SPELL = "spell them alike, or distinct_spellings = [{}]"
# Reasons of a judgement that are gaps of the policy: what is said, and what to try.
REASONS = {
    "spelt_differently": ("values of {} coincide if they are spelt alike", SPELL),
    "spellings_not_compared": (
        "{} has too many values to look for those that coincide if they are spelt alike",
        SPELL,
    ),
    "secret_names_people": (
        "the secret {} is called like an identifier and has many different values",
        "identifier = [{}]",
    ),
    "kept_names_people": (
        "the kept column {} is called like an identifier and has many different values",
        "identifier = [{}]",
    ),
    "weight_names_people": (
        "the weight {} has values that are not numbers, or another whole number for nearly each "
        "record, or is called like an identifier and has many different values",
        "identifier = [{}]",
    ),
    "merged_by_type": (
        "values of {} are spelt in several ways, which their type makes one",
        "spell them alike, or give no type",
    ),
    "kept_unique": (
        "the kept column {} has values of its own for many people",
        "keep something coarser, or drop it",
    ),
    "kept_not_measured": (
        "it cannot be measured how the kept column {} helps to find people",
        "outsiders_cannot_know = true, or drop it",
    ),
    "rows_without_person": ("rows have no person", "[roles] person"),
    "codes_not_listed": ("codes are read as missing that the policy does not list", "[reading] na"),
    "settings_replaced": ("settings given here replace those of the policy", "[reading] na"),
    "mark_not_listed": (
        "records are suppressed by a mark that the policy does not list",
        "[reading] suppressed",
    ),
}
SPECIFICATION = "a file that is there, or such as interval:5,10"
EVERY_VALUE = "a place for each value"
ONCE = "name each value once"


def twice_named(policy: Policy) -> Iterator[PolicyGap]:
    """Find columns that a list of roles names twice."""
    for role, columns in policy.roles.columns_by_role.items():
        for column in dict.fromkeys(c for c in columns if columns.count(c) > 1):
            text = f"roles.{role}: {toml_key(column)} is named twice"
            yield PolicyGap("refused_settings", f"roles.{role}", column, text, "name it once")


def no_quasi(policy: Policy) -> Iterator[PolicyGap]:
    """Say that a policy has no quasi-identifiers."""
    if not policy.roles.quasi:
        text = "roles.quasi: the policy has no quasi-identifiers"
        yield PolicyGap("refused_settings", "roles.quasi", "", text, "quasi = [...]")


def bare_limits(policy: Policy, columns: Sequence[str]) -> Iterator[PolicyGap]:
    """Find tables of limits that are empty and about a column that is no secret."""
    for column, limits in policy.inference.items():
        if not limits and column in columns and column not in policy.roles.sensitive:
            where = f"limits.inference.{column}"
            text = f"{where}: {toml_key(column)} is not sensitive in [roles]"
            yield PolicyGap("misplaced_limits", where, column, text, "name it there")


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
            text = f"parameters.alpha_k: the table has no column {toml_key(column)}"
            yield _refused("parameters.alpha_k", column, text, "name a secret")
    yield from _too_few_people(questions, policy, roles)


def _too_few_people(questions: Questions, policy: Policy, roles: Roles) -> Iterator[PolicyGap]:
    """Say that a population has fewer people than its sample has records."""
    stated = policy.parameters.population_uniques
    size = None if stated is None else stated.population_size
    if size is not None and roles.person is None and size < questions.records:
        where = "parameters.population_uniques"
        text = f"{where}: the population is smaller than the table"
        yield _refused(where, "population_uniques", text, "the people of the population")


def _refused(where: str, name: str, text: str, suggestion: str) -> PolicyGap:
    return PolicyGap("refused_settings", where, name, text, suggestion)


def _unusable_orders(policy: Policy, roles: Roles) -> Iterator[PolicyGap]:
    for column, order in policy.orders.items():
        if column in roles.measured_columns and len({*order}) < len(order):
            text = f"orders: the order of {toml_key(column)} names a value twice"
            yield _refused("orders", column, text, ONCE)


def _unusable_partitions(questions: Questions, policy: Policy, roles: Roles) -> Iterator[PolicyGap]:
    for column, parts in policy.partitions.items():
        if column not in roles.sensitive:
            continue
        members = [value for part in parts.values() for value in {*part}]
        if len({*members}) < len(members):
            text = f"partitions: the partition of {toml_key(column)} names a value in two parts"
            yield _refused("partitions", column, text, ONCE)
        present = questions.values(column, roles.quasi or (column,))
        if not {*members} <= {*present}:
            text = f"partitions: that of {toml_key(column)} names values that do not occur"
            yield PolicyGap("undecided", "partitions", column, text, "spell them as the table does")


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
        text = f"hierarchies: that of {key} cannot be read"
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
        text = f"hierarchies: values of {key} have no place in its hierarchy"
        yield _refused("hierarchies", column, text, EVERY_VALUE)


def judged_gaps(
    table: Table,
    rows: Questions,
    policy: Policy,
    clock: Clock,
    known: Sequence[PolicyGap],
) -> Iterator[PolicyGap]:
    """Judge a planned release of the table, and say what keeps the policy from a verdict.

    `rows` are questions of which nothing was counted, and `known` the gaps that were found before.
    """
    try:
        judgement = _judge_plan(table, rows, policy, clock)
    except (InputError, UsageError) as error:
        if not known:  # else it is one of these, or hidden behind one
            yield _refused("", "", f"assess refuses it: {error.what}", error.hint or "")
        return
    yield from _undecided(judgement, known)


def _judge_plan(table: Table, rows: Questions, policy: Policy, clock: Clock) -> Judgement:
    """Judge a planned release as `assess` does, but for readings that only make numbers worse."""
    requested = RequestedRoles((None, None, None), policy).of_table(table)
    settings = MeasureSettings(orders=table.orders).with_policy(policy)
    check_hierarchies(settings.hierarchies)
    roles, _ = requested.assign(rows, people=True)
    unused_settings(settings, roles, rows.columns)
    requested.prepare(rows, roles, "value", roles.kept)
    questions, unnamed = rows, 0
    if roles.person is not None:
        questions = people = count_people(rows, roles.person)
        unnamed = people.unnamed_everywhere
    measures = TableMeasures(questions, roles, settings, None, clock)
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


def _undecided(policy: Judgement, known: Sequence[PolicyGap]) -> Iterator[PolicyGap]:
    """Give the gaps of a judgement: reasons about the policy, and limits that are undecided."""
    for reason in policy.reasons:
        if reason.what not in REASONS:
            continue
        text, hint = REASONS[reason.what]
        for name in reason.names if "{}" in text else ("",):
            key = toml_key(name)
            yield PolicyGap("undecided", "roles", name, text.format(key), hint.format(key))
    limits = {gap.name for gap in known if gap.what == "undecidable_limits"}
    for verdict in policy.verdicts:
        if verdict.met is None and verdict.measure not in limits:
            where = f"limits.{verdict.where}"
            text = f"{where}: {verdict.measure} is undecided; {verdict.reason or NO_SUCH_VALUE}"
            yield PolicyGap("undecidable_limits", where, verdict.measure, text, "")
