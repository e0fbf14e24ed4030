"""The steps of protecting a table: count combinations, search, recode the records."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sievert.checks.kept_columns import judge_kept
from sievert.checks.spellings import Respelt, both_read, compare_spellings
from sievert.commands.protect.limit_curve import LimitCurve, limit_curve
from sievert.commands.protect.method import RecordRelease, check_weights
from sievert.commands.protect.result import ColumnLevel
from sievert.commands.protect.settings import How, ProtectSettings
from sievert.counts.people import PeopleQuestions
from sievert.counts.questions import Questions
from sievert.counts.recoded_records import RecodedRecords
from sievert.errors import UsageError, require
from sievert.formatting import plural
from sievert.formatting.remarks import Caution, Remark
from sievert.hierarchies import ROOT, Hierarchy, is_made_from_data
from sievert.measurement.combinations import count_combinations
from sievert.measurement.table_measures import MeasureSettings
from sievert.measures import BY_ID
from sievert.methods.full_domain import FrontierPoint, FullDomainRecoding, find_frontier
from sievert.policy import Gate, Judgement, Policy, Verdict, unjudged_secrets
from sievert.policy.judgement import SUPPRESSED
from sievert.releases.choices import AUTO, DROP
from sievert.releases.earlier import EarlierRelease, JointReleases, joint_size
from sievert.releases.files import TEXT, FileColumn
from sievert.releases.floor import (
    SearchFloor,
    counted_sets,
    find_floor,
    fits,
)
from sievert.releases.people_problem import PeopleProblem, check_memory
from sievert.releases.problem import (
    ProtectionProblem,
    SearchSettings,
    assign_hierarchies,
    limit_share_suppressed,
    without_limit,
)
from sievert.request.repeated_rows import judge_weight
from sievert.request.requested import RequestedRoles, check_known
from sievert.roles import Roles, check_secrets
from sievert.session import Clock, count_people

EARLIER = "--earlier"  # what no recoding may hold, in place of a limit
STOPPED = "--seconds"  # why none was found, in place of a limit
IN_THE_ENGINE = 10**6  # records from which the engine writes the release
NO_WILDCARDS = "a missing value that matches anything is not defined for people with several rows"


@dataclass(frozen=True, kw_only=True)
class ProtectionPlan:
    """The settings of a protection, and what follows from them, the policy and the table."""

    settings: ProtectSettings
    how: How
    measuring: MeasureSettings  # with the policy's hierarchies and those of a manifest
    levels: Mapping[str, int] | None  # of a recoding that is given
    suppress: float  # the largest share of records that may be suppressed
    keep: tuple[str, ...] = ()  # columns of the release besides those that are measured
    earlier: Sequence[EarlierRelease] = ()

    @property
    def searching(self) -> SearchSettings:
        """Give what a search minimises, and what it may give up for it."""
        settings = self.settings
        return SearchSettings(
            suppress=self.suppress,
            loss=settings.loss,
            weights=settings.weights,
            suppressed_rows=settings.rows_of_suppressed,
        )


@dataclass(frozen=True, kw_only=True)
class Protection:
    """What was found: a recoding with its verdict, or a release that is yet to be judged."""

    roles: Roles
    policy: Policy  # that is held against the release
    gate: Gate
    columns: Mapping[str, ColumnLevel]
    notes: list[Remark]
    problem: ProtectionProblem | None = None
    recoding: FullDomainRecoding | None = None
    judgement: Judgement | None = None
    unmet: str | None = None  # the limit that no recoding can meet
    release: RecordRelease | None = None  # of a method that changes records
    file_columns: Sequence[FileColumn] = ()
    frontier: Sequence[FrontierPoint] = ()
    limit: LimitCurve | None = None  # beside the frontier
    people: PeopleQuestions | None = None  # where somebody has several rows
    earlier: Mapping[str, Any] | None = None  # the release together with earlier ones
    drops: bool = False  # whether suppressed records are left out of the release
    stopped: bool = False  # whether time was over before any recoding was found
    own_roles: Roles | None = None  # as given, where a search takes more for quasi-identifiers

    @property
    def given_roles(self) -> Roles:
        """The roles of the columns as the caller and the policy give them."""
        return self.own_roles or self.roles


@dataclass(frozen=True, kw_only=True)
class Preparation:
    """The roles, and the policy with a limit on suppressed records: what every method needs."""

    roles: Roles
    policy: Policy
    gate: Gate
    notes: list[Remark]

    def with_kept_known(self) -> "Preparation":
        """The same for a search, in which kept columns that outsiders may know stay as they are.

        They are quasi-identifiers without a hierarchy: no class may tell too few people apart.
        """
        if not self.roles.knowable:
            return self
        quasi = (*self.roles.quasi, *self.roles.knowable)
        return replace(self, roles=replace(self.roles, quasi=quasi))


def prepare(
    questions: Questions,
    requested: RequestedRoles,
    plan: ProtectionPlan,
    *,
    people: bool = False,
) -> Preparation:
    """Assign the roles; refuse a table that is protected already.

    Refuse people with several rows, too, for a method that does not count in `people`. Columns that
    the release keeps need a role as those of any table do.
    """
    policy = requested.policy
    missing = plan.settings.missing
    measuring = plan.measuring
    keep = plan.keep
    require(policy is not None, "a release is made for a policy", hint="--policy FILE")
    assert policy is not None
    roles, notes = requested.assign(questions, people=people)
    check_secrets(roles, roles.sensitive)
    dropped, more = requested.prepare(questions, roles, missing, roles.kept)
    notes += more
    require(
        not dropped and not questions.suppression.left_out,
        "records of the table are suppressed or left out already",
        hint="protect the original table",
    )
    require(
        not policy.limits_population or "population_uniques" in measuring.parameters,
        "the limit on population_uniques needs the size of the population",
        hint="--population-size N, or [parameters] population_uniques in the policy",
    )
    limited = any("secret" in BY_ID[m].kinds for m in policy.everywhere)
    bare = [s for s in roles.sensitive if not limited and not policy.inference.get(s)]
    notes += (Caution.by_key(each.key, each.values) for each in unjudged_secrets(bare))
    policy = limit_share_suppressed(policy, plan.suppress, questions.records, notes)
    columns = dict.fromkeys((*roles.measured_columns, *keep, roles.person))
    gate = requested.gate(
        [c for c in columns if c is not None],
        roles,
        missing,
        suppression=questions.suppression,
        released=[*roles.measured_columns, *keep],
    )
    assert gate is not None
    if replaced := measuring.replaced(policy, roles.sensitive):
        gate.not_met("settings_replaced", replaced)
    counted = questions if roles.person is None else count_people(questions, roles.person)
    judge_kept(gate, counted, roles, None, wild=missing == "wildcard")
    if roles.weight in columns:
        judge_weight(gate, questions, roles.weight)
    return Preparation(roles=roles, policy=policy, gate=gate, notes=notes)


def find_protection(
    questions: Questions, requested: RequestedRoles, plan: ProtectionPlan, clock: Clock
) -> Protection:
    """Find the recoding of least loss that meets the policy, or the nearest one."""
    settings = plan.settings
    levels = plan.levels
    earlier = plan.earlier
    start = prepare(questions, requested, plan, people=True)
    given_roles = start.roles
    start = start.with_kept_known()
    known = dict.fromkeys(given_roles.knowable)
    measuring = replace(plan.measuring, hierarchies={**plan.measuring.hierarchies, **known})
    plan = replace(plan, measuring=measuring)
    roles = start.roles
    policy = start.policy
    notes = start.notes
    people = _people(questions, start, settings.missing)
    respelt = compare_spellings(questions, roles, policy)
    respelt.doubt(start.gate)
    notes += respelt.cautions
    if people is not None:
        check_memory(people, roles, settings.memory)
    check_weights("--column-weight", settings.weights or {}, roles.quasi)
    clock("counting combinations", questions)
    given = None if levels is None else _chosen_levels(levels, roles.quasi)
    beside = settings.key if earlier else None
    problem, counted, trees, sources = _problem(questions, people, start, plan, given, beside)
    if problem.floor is None:
        problem.alike = _alike(problem, respelt, questions, trees)
    if beside is not None:
        k = joint_size(policy)
        distinct = beside in policy.roles.distinct_spellings
        joint = JointReleases(counted, roles.quasi, beside, earlier, k, distinct=distinct)
        problem.beside = joint
        if joint.respelt:
            notes.append(both_read(joint.respelt, beside))
            if beside not in start.gate.spellings:
                start.gate.undecided("spelt_differently", [beside])
            start.gate.spellings[beside] = joint.respelt
    clock("searching", questions)
    recoding, unmet = _solve(problem, policy, given, roles.quasi, settings.seconds)
    if levels is not None:
        notes += (
            Remark("made_from_table", column=repr(name), what=source)
            for name, source in sources.items()
            if is_made_from_data(source) and levels.get(name)
        )
    stopped = unmet == STOPPED
    unmet = None if stopped else unmet
    judgement, drops = _judge(problem, start.gate, policy, recoding, stopped=stopped)
    gone = 0 if recoding is None else problem.gone_records(recoding)
    notes += what_became(gone, settings.rows_of_suppressed, drops=drops)
    fixed = {name: tree.fixed if tree else None for name, tree in trees.items()}
    points, limit = list[FrontierPoint](), None
    if settings.frontier:
        clock("going through all recodings", questions)
        own = recoding.levels if recoding is not None and unmet is None else None
        points = find_frontier(problem.search(policy), lambda r: problem.meets(r, policy), own)
        clock("the least that is possible", questions)
        if (limit := limit_curve(problem, policy)) is not None:
            gaps = [limit.gap(p.recoding, p.disclosed, p.lost) for p in points]
            points = [replace(p, gap=gap) for p, gap in zip(points, gaps, strict=True)]
    columns = {
        name: ColumnLevel(
            level=column.floor + level,
            height=column.floor + column.levels - 1,
            hierarchy=sources.get(name),
            labels=len(column.labels[level]),
            fixed=fixed[name],
        )
        for name, column, level in zip(
            roles.quasi, problem.columns, recoding.levels if recoding else (), strict=False
        )
        if name in given_roles.quasi
    }
    return Protection(
        roles=roles,
        policy=policy,
        gate=start.gate,
        columns=columns,
        notes=notes,
        problem=problem,
        recoding=recoding,
        judgement=judgement,
        unmet=unmet,
        own_roles=given_roles,
        frontier=points,
        limit=limit,
        people=people,
        earlier=_together(problem, recoding, earlier),
        drops=drops,
        stopped=stopped,
    )


def _problem(
    questions: Questions,
    people: PeopleQuestions | None,
    start: Preparation,
    plan: ProtectionPlan,
    given: Sequence[int] | None,
    key: str | None,
) -> tuple[ProtectionProblem, Questions, dict[str, Hierarchy | None], dict[str, str]]:
    """Make the problem, questions about what is searched, and the hierarchies with their sources.

    A table with too many combinations is searched from a floor of coarser ones.
    """
    roles = start.roles
    floor = None
    counted = questions
    hierarchies = plan.measuring.hierarchies
    if key is not None:
        check_known("--key: column", key, questions.columns)
    sets = counted_sets(roles, None if people is None else people.person, key)
    if fits(questions, sets):
        combinations = count_combinations(questions, roles.quasi, roles.sensitive)
        trees, sources = assign_hierarchies(
            combinations.classes.value_counts, roles, hierarchies, start.notes
        )
    else:
        columns = [questions.cube((name,)) for name in roles.quasi]
        trees, sources = assign_hierarchies(
            lambda at: columns[at].value_counts(0), roles, hierarchies, start.notes
        )
        lowest = SearchFloor.of_values(columns, roles, trees)
        floor, counted, combinations = find_floor(questions, roles, lowest, given, sets)
        start.notes.extend([floor.remark] if given is None else [])
    if people is None:
        problem = ProtectionProblem(
            questions,
            roles=roles,
            combinations=combinations,
            measuring=plan.measuring,
            hierarchies=trees,
            settings=plan.searching,
            floor=floor,
        )
        return problem, counted, trees, sources
    problem = PeopleProblem(
        people if floor is None else count_people(counted, people.person),
        roles=roles,
        combinations=combinations,
        measuring=plan.measuring,
        hierarchies=trees,
        settings=plan.searching,
        floor=floor,
    )
    return problem, counted, trees, sources


def _alike(
    problem: ProtectionProblem,
    respelt: Respelt,
    questions: Questions,
    trees: Mapping[str, Hierarchy | None],
) -> ProtectionProblem | None:
    """The same problem of the table with all spellings merged; None where none coincide."""
    roles, person = problem.roles, problem.roles.person
    columns = [*roles.measured_columns, *([] if person is None else [person])]
    named = problem.measuring.named_values(roles.sensitive)
    merged = respelt.merge(questions, columns, named)
    if merged is None:
        return None
    combinations = count_combinations(merged, roles.quasi, roles.sensitive)
    people = None if person is None else count_people(merged, person)
    if people is None or not people.repeat(roles.quasi):
        return ProtectionProblem(
            merged,
            roles=roles,
            combinations=combinations,
            measuring=problem.measuring,
            hierarchies=trees,
            settings=problem.settings,
        )
    return PeopleProblem(
        people,
        roles=roles,
        combinations=combinations,
        measuring=problem.measuring,
        hierarchies=trees,
        settings=problem.settings,
    )


def _people(questions: Questions, start: Preparation, missing: str) -> PeopleQuestions | None:
    """The table counted in people, if somebody has several rows."""
    if start.roles.person is None:
        return None
    require(missing != "wildcard", NO_WILDCARDS, hint="--missing value")
    people = count_people(questions, start.roles.person)
    if people.unnamed:
        start.notes.append(Remark("without_person", records=plural(people.unnamed, "record")))
        start.gate.undecided("rows_without_person")
    return people if people.repeat(start.roles.quasi) else None


def _solve(
    problem: ProtectionProblem,
    policy: Policy,
    levels: Sequence[int] | None,
    quasi: Sequence[str],
    seconds: float | None,
) -> tuple[FullDomainRecoding | None, str | None]:
    """The best recoding; where none meets the policy, the best without one of its limits."""
    search = problem.search(policy)
    if levels is not None:
        for name, level, column in zip(quasi, levels, problem.columns, strict=True):
            if not column.floor <= level < column.floor + column.levels:
                most = column.floor + column.levels - 1
                raise UsageError(f"--levels: {name!r} has the levels 0 to {most}")
        given = search.at([n - c.floor for n, c in zip(levels, problem.columns, strict=True)])
        return replace(given, proven=False, bound=0.0, visited=0), None  # nothing was searched
    recoding = problem.best(search, policy, seconds)
    if recoding is not None or not search.finished:
        return recoding, STOPPED if recoding is None else None
    nearest: tuple[float, FullDomainRecoding, str] | None = None
    if problem.beside is not None:
        beside, problem.beside = problem.beside, None
        alone = problem.best(search, policy, seconds)
        problem.beside = beside
        nearest = None if alone is None else (alone.loss, alone, EARLIER)
    every = list(policy.every_limit())
    for table, measure, _ in every if len(every) > 1 else ():
        less = without_limit(policy, table, measure)
        other = problem.best(problem.search(less), less, seconds)
        if other is not None and (nearest is None or other.loss < nearest[0]):
            nearest = (other.loss, other, f"{table}.{measure}")
    return (None, None) if nearest is None else nearest[1:]


def _together(
    problem: ProtectionProblem,
    recoding: FullDomainRecoding | None,
    earlier: Sequence[EarlierRelease],
) -> dict[str, Any] | None:
    """The release together with earlier ones, as in the JSON."""
    if problem.beside is None or recoding is None:
        return None
    joint = problem.beside.join(recoding, problem.codes)
    return {
        "releases": len(earlier),
        "columns": [list(release.columns) for release in earlier],
        "k_anonymity": joint.smallest,
        "people_below": joint.people_below(problem.beside.k),
    }


def _chosen_levels(levels: Mapping[str, int], quasi: Sequence[str]) -> list[int]:
    for name in levels:
        check_known("--levels: quasi-identifier", name, quasi)
    return [levels.get(name, 0) for name in quasi]


def _judge(
    problem: ProtectionProblem,
    gate: Gate,
    policy: Policy,
    recoding: FullDomainRecoding | None,
    *,
    stopped: bool,
) -> tuple[Judgement, bool]:
    """Judge the release that the recoding makes by the policy.

    And whether suppressed records are left out of the release.
    """
    rows, verdicts = problem.settings.suppressed_rows, tuple[Verdict, ...]()
    if recoding is not None:
        kept = rows != DROP
        verdicts = problem.verdicts(recoding, policy, possible=True, kept=kept)
        gate.certain = problem.certain_people(recoding, gate.unlimited)
    verdicts, drops = settle_suppressed(verdicts, rows)
    if not verdicts and any(policy.every_limit()):
        nothing: dict[str, Any] = {"everywhere": {}, "reidentification": {}, "inference": {}}
        as_it_is = problem.search(policy.model_copy(update=nothing)).at([0] * len(problem.columns))
        verdicts = problem.verdicts(as_it_is, policy, possible=True)
        none_found = "search_stopped" if stopped else "no_release"
        gate.not_met(none_found if recoding is None else "levels_too_fine")
    elif recoding is not None and recoding.suppressed_records > problem.allowed:  # given levels
        gate.not_met("too_many_suppressed")
    if recoding and problem.beside and problem.joint_k(recoding) < problem.beside.k:
        gate.not_met("too_few_together")
    gate.suppressed_records = 0 if recoding is None else problem.gone_records(recoding)
    return gate.judge(verdicts), drops


def settle_suppressed(verdicts: Sequence[Verdict], rows: str) -> tuple[tuple[Verdict, ...], bool]:
    """The verdicts on a release, and whether its suppressed records are left out of it.

    With `auto` they are left out unless they meet every limit as a class of their own.
    """
    lines = [verdict for verdict in verdicts if verdict.scope == SUPPRESSED]
    if rows == AUTO and not all(line.met is True for line in lines):
        return tuple(verdict for verdict in verdicts if verdict not in lines), True
    return tuple(verdicts), rows == DROP


def what_became(suppressed: int, rows: str, *, drops: bool) -> list[Remark]:
    """A remark on what becomes of suppressed records, where the release decides it."""
    if not suppressed or rows != AUTO:
        return []
    became = "suppressed_dropped" if drops else "suppressed_stay"
    return [Remark(became, records=plural(suppressed, "record"))]


def release_columns(
    questions: Questions, protection: Protection, keep: Iterable[str]
) -> tuple[list[FileColumn], Any]:
    """The columns of the release, in the order of the input, and which records are suppressed."""
    roles, recoding = protection.roles, protection.recoding
    if recoding is None or protection.problem is None:
        assert protection.release is not None
        return [*protection.file_columns], protection.release.gone
    columns = read_columns(questions, {*roles.quasi, *roles.sensitive, *keep})
    codes = _value_numbers(protection, columns)
    gone, labels = protection.problem.gone_keys(recoding), recoding.labels(codes)
    suppressed = np.isin(recoding.class_keys[recoding.class_numbers(codes)].astype(np.int64), gone)
    for j, name in enumerate(roles.quasi):
        level = recoding.levels[j]
        texts = [*recoding.columns[j].labels[level], ROOT]
        own = np.where(suppressed, len(texts) - 1, labels[:, j])
        plain = level == 0 and not suppressed.any()
        columns[name] = FileColumn(name, texts, own, columns[name].kind if plain else TEXT)
    return [*columns.values()], suppressed


def read_columns(questions: Questions, wanted: set[str]) -> dict[str, FileColumn]:
    """Some columns of all records, in the order of the input."""
    names = [c for c in questions.columns if c in wanted]
    records = questions.records_in_order(names)
    kinds = questions.engine.kinds
    return {
        name: FileColumn(name, texts, codes, str(kinds.get(name, TEXT)))
        for name, texts, codes in zip(names, records.values, records.codes, strict=True)
    }


def recoded_records(
    questions: Questions, protection: Protection, keep: Iterable[str], *, drop: bool
) -> RecodedRecords | None:
    """The release as an engine can write it from its own records; None if it has to be read here.

    Small tables are read here, where this process has the records.
    """
    recoding, problem, roles = protection.recoding, protection.problem, protection.roles
    if recoding is None or problem is None:
        return None
    small = questions.records < IN_THE_ENGINE and problem.floor is None
    if small and questions.engine.records_here:
        return None
    wanted, maps = {*roles.quasi, *roles.sensitive, *keep}, {}
    gone = problem.gone_keys(recoding)
    for j, name in enumerate(roles.quasi):
        if recoding.hierarchy_levels[j] or len(gone):  # else it is as it was
            maps[name] = problem.label_map(j, recoding.levels[j], recoding.lows[j])
    return RecodedRecords(
        names=[c for c in questions.columns if c in wanted],
        maps=maps,
        suppressed=gone,
        mark=ROOT,
        drop=drop,
    )


def _value_numbers(protection: Protection, columns: Mapping[str, FileColumn]) -> Any:
    """Per record and quasi-identifier the number of the value in its column of the search."""
    problem = protection.problem
    assert problem is not None
    numbers = []
    for j, name in enumerate(protection.roles.quasi):
        place = dict(zip(problem.combinations.classes.values[j], problem.numbers[j], strict=True))
        own = np.array([place.get(text, 0) for text in columns[name].texts], dtype=np.int64)
        numbers.append(own[columns[name].codes])
    return np.stack(numbers, axis=1)
