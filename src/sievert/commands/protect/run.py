"""The steps of protecting a table: count combinations, search, recode the records."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sievert.attacks.attack import to_hierarchy
from sievert.commands._clock import Clock
from sievert.commands._combinations import count_combinations
from sievert.commands._common import RequestedRoles, check_known
from sievert.commands._measuring import MeasureSettings
from sievert.commands._release_files import TEXT, FileColumn
from sievert.commands.protect.problem import (
    ProtectionProblem,
    SearchSettings,
    without_limit,
)
from sievert.commands.protect.result import ColumnLevel
from sievert.counts.questions import Questions
from sievert.errors import UsageError, require
from sievert.hierarchies import ROOT, Hierarchy, propose
from sievert.methods.full_domain import FullDomainRecoding
from sievert.policy import Gate, Judgement, MeasureLimit, Policy
from sievert.roles import Roles, check_secrets


@dataclass(frozen=True)
class Protection:
    """What was found: the recoding, the verdict on it, and the limit that no release can meet."""

    roles: Roles
    problem: ProtectionProblem
    policy: Policy  # that was held against the release
    recoding: FullDomainRecoding | None
    judgement: Judgement
    columns: Mapping[str, ColumnLevel]
    unmet: str | None
    notes: list[str]


def find_protection(
    questions: Questions,
    requested: RequestedRoles,
    measuring: MeasureSettings,
    settings: SearchSettings,
    levels: Mapping[str, int] | None,
    missing: str,
    clock: Clock,
) -> Protection:
    """The recoding of least loss that meets the policy, or the nearest one."""
    policy = requested.policy
    require(policy is not None, "a release is made for a policy", hint="--policy FILE")
    assert policy is not None
    roles, notes = requested.assign(questions)
    check_secrets(roles, roles.sensitive)
    for name, weight in (settings.weights or {}).items():
        check_known("--column-weight: quasi-identifier", name, roles.quasi)
        require(0 < weight < math.inf, f"--column-weight: that of {name!r} is not positive")
    dropped, more = requested.prepare(questions, roles, missing)
    notes += more
    require(
        not dropped and not questions.suppression.left_out,
        "records of the table are suppressed or left out already",
        hint="protect the original table",
    )
    clock("counting combinations", questions)
    combinations = count_combinations(questions, roles.quasi, roles.sensitive)
    policy = _with_limit_on_suppressed(policy, settings.suppress, questions.records, notes)
    trees, sources = _hierarchies(combinations.classes, roles, measuring.hierarchies, notes)
    problem = ProtectionProblem(questions, roles, combinations, measuring, trees, settings)
    gate = requested.gate(roles.measured_columns, roles, missing, 0, questions.suppression)
    assert gate is not None
    clock("searching", questions)
    recoding, unmet = _solve(problem, policy, levels, roles.quasi)
    judgement = _judge(problem, gate, policy, recoding)
    columns = {
        name: ColumnLevel(level, column.levels - 1, sources.get(name), len(column.labels[level]))
        for name, column, level in zip(
            roles.quasi, problem.columns, recoding.levels if recoding else (), strict=False
        )
    }
    return Protection(roles, problem, policy, recoding, judgement, columns, unmet, notes)


def _with_limit_on_suppressed(
    policy: Policy, share: float, records: int, notes: list[str]
) -> Policy:
    """The policy with a limit on suppressed records: what may be suppressed, unless it has one."""
    if any(measure == "suppressed_records" for _, measure, _ in policy.every_limit()):
        return policy
    most = int(Fraction(repr(float(share))) * records)
    if not most:
        return policy
    notes.append(
        f"the policy does not limit suppressed records, at most {most:,} here: add "
        f"suppressed_records = {{ max = {most} }} to it"
    )
    limit = MeasureLimit(min=None, max=float(most))
    return policy.model_copy(
        update={"reidentification": {**policy.reidentification, "suppressed_records": limit}}
    )


def _hierarchies(
    classes: Any, roles: Roles, given: Mapping[str, Any], notes: list[str]
) -> tuple[dict[str, Hierarchy | None], dict[str, str]]:
    """The hierarchy of every quasi-identifier, and where it is from; a proposal by default."""
    trees: dict[str, Hierarchy | None] = {}
    sources = {}
    for at, name in enumerate(roles.quasi):
        totals = classes.totals(at)
        texts = [t for t, n in zip(classes.values[at], totals, strict=True) if n and t is not None]
        if name in given:
            trees[name] = to_hierarchy(given[name], texts)
            sources[name] = given[name] if isinstance(given[name], str) else "given"
        else:
            trees[name], sources[name] = propose(texts)
            notes.append(f"the hierarchy of {name!r} is a proposal: {sources[name]}")
        tree = trees[name]
        if tree is not None:
            trees[name] = tree.with_root()
    return trees, sources


def _solve(
    problem: ProtectionProblem,
    policy: Policy,
    levels: Mapping[str, int] | None,
    quasi: Sequence[str],
) -> tuple[FullDomainRecoding | None, str | None]:
    """The best recoding; where none meets the policy, the best without one of its limits."""
    search = problem.search(policy)
    if levels is not None:
        return search.at(_chosen_levels(levels, problem, quasi)), None
    seconds = problem.settings.seconds
    recoding = search.run(lambda r: problem.meets(r, policy), seconds)
    if recoding is not None:
        return recoding, None
    nearest: tuple[float, FullDomainRecoding, str] | None = None
    every = list(policy.every_limit())
    for table, measure, _ in every if len(every) > 1 else ():
        less = without_limit(policy, table, measure)
        other = problem.search(less).run(lambda r, less=less: problem.meets(r, less), seconds)  # type: ignore[misc]
        if other is not None and (nearest is None or other.loss < nearest[0]):
            nearest = (other.loss, other, f"{table}.{measure}")
    return (None, None) if nearest is None else nearest[1:]


def _chosen_levels(
    levels: Mapping[str, int], problem: ProtectionProblem, quasi: Sequence[str]
) -> list[int]:
    for name in levels:
        check_known("--levels: quasi-identifier", name, quasi)
    chosen = [levels.get(name, 0) for name in quasi]
    for name, level, column in zip(quasi, chosen, problem.columns, strict=True):
        if not 0 <= level < column.levels:
            raise UsageError(f"--levels: {name!r} has the levels 0 to {column.levels - 1}")
    return chosen


def _judge(
    problem: ProtectionProblem, gate: Gate, policy: Policy, recoding: FullDomainRecoding | None
) -> Judgement:
    """The policy held against the release that the recoding makes."""
    if recoding is None:
        return gate.judge(())
    gate.suppressed_records = recoding.suppressed_records
    return gate.judge(problem.verdicts(recoding, policy))


def release_columns(
    questions: Questions, protection: Protection, keep: Iterable[str]
) -> tuple[list[FileColumn], Any]:
    """The columns of the release, in the order of the input, and which records are suppressed."""
    roles, recoding = protection.roles, protection.recoding
    assert recoding is not None
    wanted = {*roles.quasi, *roles.sensitive, *keep}
    names = [c for c in questions.columns if c in wanted]
    records = questions.records_in_order(names)
    at = {name: place for place, name in enumerate(records.columns)}
    codes = _value_numbers(protection, records, at)
    suppressed, labels = recoding.suppresses(codes), recoding.labels(codes)
    kinds = getattr(questions.engine, "kinds", {})
    columns = []
    for name in names:
        kind = str(kinds.get(name, TEXT))
        if name not in roles.quasi:
            place = at[name]
            columns.append(FileColumn(name, records.values[place], records.codes[place], kind))
            continue
        j = roles.quasi.index(name)
        level = recoding.levels[j]
        texts = [*recoding.columns[j].labels[level], ROOT]
        own = np.where(suppressed, len(texts) - 1, labels[:, j])
        plain = level == 0 and not suppressed.any()
        columns.append(FileColumn(name, texts, own, kind if plain else TEXT))
    return columns, suppressed


def _value_numbers(protection: Protection, records: Any, at: Mapping[str, int]) -> Any:
    """Per record and quasi-identifier the number of the value in its column of the search."""
    problem = protection.problem
    numbers = []
    for j, name in enumerate(protection.roles.quasi):
        known = problem.combinations.classes.values[j]
        place = {text: problem.numbers[j][code] for code, text in enumerate(known)}
        texts = records.values[at[name]]
        own = np.array([place.get(text, 0) for text in texts], dtype=np.int64)
        numbers.append(own[records.codes[at[name]]])
    return np.stack(numbers, axis=1)
