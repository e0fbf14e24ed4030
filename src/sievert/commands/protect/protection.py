"""The steps of protecting a table: count combinations, search, recode the records."""

from collections.abc import Callable, Iterable, Mapping, Sequence
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
    column_sets,
    find_floor,
    fits_in_memory,
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

EARLIER = "--earlier"  # stands for the limit that no recoding meets
STOPPED = "--seconds"  # stands for the limit if time was over before a recoding was found
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
    keep: tuple[str, ...] = ()  # columns of the release besides the measured ones
    earlier: Sequence[EarlierRelease] = ()

    @property
    def searching(self) -> SearchSettings:
        """What a search minimises, and what it may give up for that."""
        settings = self.settings
        return SearchSettings(
            suppress=self.suppress,
            loss=settings.loss,
            weights=settings.weights,
            suppressed_rows=settings.rows_of_suppressed,
        )


@dataclass(frozen=True, kw_only=True)
class Protection:
    """A recoding with its verdict, or a release that is yet to be judged."""

    roles: Roles
    policy: Policy  # by which the release is judged
    gate: Gate
    columns: Mapping[str, ColumnLevel]
    notes: list[Remark]
    problem: ProtectionProblem | None = None
    recoding: FullDomainRecoding | None = None
    judgement: Judgement | None = None
    unmet: str | None = None  # the limit that no recoding can meet
    release: RecordRelease | None = None  # of a method that changes records
    instead: "Callable[[], Protection] | None" = None  # what is tried if this one is not met
    file_columns: Sequence[FileColumn] = ()
    frontier: Sequence[FrontierPoint] = ()
    limit: LimitCurve | None = None  # beside the frontier
    people: PeopleQuestions | None = None  # if somebody has several rows
    earlier: Mapping[str, Any] | None = None  # the release together with earlier ones
    drops: bool = False  # whether suppressed records are left out of the release
    stopped: bool = False  # whether time was over before any recoding was found
    own_roles: Roles | None = None  # as given, if a search takes more for quasi-identifiers

    @property
    def given_roles(self) -> Roles:
        """The roles of the columns from the caller and the policy."""
        return self.own_roles or self.roles


@dataclass(frozen=True, kw_only=True)
class Preparation:
    """What every method needs: the roles, and the policy with a limit on suppressed records."""

    roles: Roles
    policy: Policy
    gate: Gate
    notes: list[Remark]

    def with_kept_known(self) -> "Preparation":
        """Prepare a search in which kept columns that outsiders may know stay as they are.

        They become quasi-identifiers without a hierarchy, so that they divide no class too finely.
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

    Refuse people with several rows, too, if the method does not count `people`. Columns that the
    release keeps need a role, as in any table.
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
    replaced = measuring.replaced(policy, roles.sensitive)
    if replaced:
        gate.not_met("settings_replaced", replaced)
    counted = questions if roles.person is None else count_people(questions, roles.person)
    judge_kept(gate, counted, roles, None, wild=missing == "wildcard")
    if roles.weight in columns:
        judge_weight(gate, questions, roles.weight)
    return Preparation(roles=roles, policy=policy, gate=gate, notes=notes)


def find_protection(
    questions: Questions, requested: RequestedRoles, plan: ProtectionPlan, clock: Clock
) -> Protection:
    """Find the recoding with the least loss that meets the policy, or the nearest one."""
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
    people = _count_people(questions, start, settings.missing)
    respelt = compare_spellings(questions, roles, policy)
    respelt.doubt(start.gate)
    notes += respelt.cautions
    if people is not None:
        check_memory(people, roles, settings.memory)
    check_weights("--column-weight", settings.weights or {}, roles.quasi)
    clock("counting combinations", questions)
    given = None if levels is None else _list_levels(levels, roles.quasi)
    beside = settings.key if earlier else None
    problem, counted, trees, sources = _make_problem(questions, people, start, plan, given, beside)
    if problem.floor is None:
        problem.alike = _merge_spellings(problem, respelt, questions, trees)
    if beside is not None:
        problem.beside = _join_earlier(counted, start, beside, earlier)
    clock("searching", questions)
    recoding, unmet = _solve(problem, policy, given, roles.quasi, settings.seconds)
    if levels is not None:
        notes += (
            Remark("made_from_table", column=repr(name), what=source)
            for name, source in sources.items()
            if is_made_from_data(source) and levels.get(name)
        )
    stopped = unmet == STOPPED
    if stopped:
        unmet = None
    judgement, drops = _judge(problem, start.gate, policy, recoding, stopped=stopped)
    gone = 0 if recoding is None else problem.count_suppressed(recoding)
    notes += suppression_remarks(gone, settings.rows_of_suppressed, drops=drops)
    points: list[FrontierPoint] = []
    limit = None
    if settings.frontier:
        chosen = recoding if unmet is None else None
        points, limit = _draw_frontier(problem, policy, chosen, questions, clock)
    return Protection(
        roles=roles,
        policy=policy,
        gate=start.gate,
        columns=_column_levels(problem, recoding, given_roles, trees, sources),
        notes=notes,
        problem=problem,
        recoding=recoding,
        judgement=judgement,
        unmet=unmet,
        own_roles=given_roles,
        frontier=points,
        limit=limit,
        people=people,
        earlier=_describe_joint_release(problem, recoding, earlier),
        drops=drops,
        stopped=stopped,
    )


def _join_earlier(
    counted: Questions, start: Preparation, key: str, earlier: Sequence[EarlierRelease]
) -> JointReleases:
    """Join the table with earlier releases by a key; note keys that are spelt differently."""
    policy = start.policy
    joint = JointReleases(
        questions=counted,
        quasi=start.roles.quasi,
        key=key,
        earlier=earlier,
        k=joint_size(policy),
        distinct=key in policy.roles.distinct_spellings,
    )
    if joint.respelt:
        start.notes.append(both_read(joint.respelt, key))
        if key not in start.gate.spellings:
            start.gate.undecided("spelt_differently", [key])
        start.gate.spellings[key] = joint.respelt
    return joint


def _draw_frontier(
    problem: ProtectionProblem,
    policy: Policy,
    chosen: FullDomainRecoding | None,
    questions: Questions,
    clock: Clock,
) -> tuple[list[FrontierPoint], LimitCurve | None]:
    """Find the frontier of recodings and the limit beside it; `chosen` is the best recoding."""
    clock("going through all recodings", questions)
    own = None if chosen is None else chosen.levels
    points = find_frontier(problem.search(policy), lambda r: problem.meets(r, policy), own)
    clock("the least that is possible", questions)
    limit = limit_curve(problem, policy)
    if limit is not None:
        gaps = [limit.gap(p.recoding, p.disclosed, p.lost) for p in points]
        points = [replace(p, gap=gap) for p, gap in zip(points, gaps, strict=True)]
    return points, limit


def _column_levels(
    problem: ProtectionProblem,
    recoding: FullDomainRecoding | None,
    given_roles: Roles,
    trees: Mapping[str, Hierarchy | None],
    sources: Mapping[str, str],
) -> dict[str, ColumnLevel]:
    """Describe the level of each given quasi-identifier; none without a recoding."""
    columns: dict[str, ColumnLevel] = {}
    if recoding is None:
        return columns
    for name, column, level in zip(
        problem.roles.quasi, problem.columns, recoding.levels, strict=False
    ):
        if name not in given_roles.quasi:
            continue
        tree = trees[name]
        columns[name] = ColumnLevel(
            level=column.floor + level,
            height=column.floor + column.levels - 1,
            hierarchy=sources.get(name),
            labels=len(column.labels[level]),
            fixed=tree.fixed if tree else None,
        )
    return columns


def _make_problem(
    questions: Questions,
    people: PeopleQuestions | None,
    start: Preparation,
    plan: ProtectionPlan,
    given: Sequence[int] | None,
    key: str | None,
) -> tuple[ProtectionProblem, Questions, dict[str, Hierarchy | None], dict[str, str]]:
    """Make the problem; return it with questions on its table, hierarchies and their sources.

    A table with too many combinations is searched from a floor of coarser ones.
    """
    roles = start.roles
    floor = None
    counted = questions
    hierarchies = plan.measuring.hierarchies
    if key is not None:
        check_known("--key: column", key, questions.columns)
    sets = column_sets(roles, None if people is None else people.person, key)
    if fits_in_memory(questions, sets):
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
        if given is None:
            start.notes.append(floor.remark)
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


def _merge_spellings(
    problem: ProtectionProblem,
    respelt: Respelt,
    questions: Questions,
    trees: Mapping[str, Hierarchy | None],
) -> ProtectionProblem | None:
    """Make the problem of the table with all spellings merged; None if none coincide."""
    roles = problem.roles
    person = problem.roles.person
    columns = [*roles.measured_columns]
    if person is not None:
        columns.append(person)
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


def _count_people(questions: Questions, start: Preparation, missing: str) -> PeopleQuestions | None:
    """Count the table in people, if somebody has several rows."""
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
    """Find the best recoding; if none meets the policy, the best without one of its limits.

    Return it with the limit that is not met, if there is one.
    """
    search = problem.search(policy)
    if levels is not None:
        for name, level, column in zip(quasi, levels, problem.columns, strict=True):
            if not column.floor <= level < column.floor + column.levels:
                most = column.floor + column.levels - 1
                raise UsageError(f"--levels: {name!r} has the levels 0 to {most}")
        given = search.at([n - c.floor for n, c in zip(levels, problem.columns, strict=True)])
        return replace(given, proven=False, bound=0.0, visited=0), None  # nothing was searched
    recoding = problem.best(search, policy, seconds)
    if recoding is not None:
        return recoding, None
    if not search.finished:
        return None, STOPPED
    nearest: tuple[float, FullDomainRecoding, str] | None = None
    if problem.beside is not None:
        beside = problem.beside
        problem.beside = None
        alone = problem.best(search, policy, seconds)
        problem.beside = beside
        nearest = None if alone is None else (alone.loss, alone, EARLIER)
    limits = list(policy.every_limit())
    if len(limits) == 1:  # nothing would be left to search
        limits = []
    for table, measure, _ in limits:
        less = without_limit(policy, table, measure)
        other = problem.best(problem.search(less), less, seconds)
        if other is not None and (nearest is None or other.loss < nearest[0]):
            nearest = (other.loss, other, f"{table}.{measure}")
    if nearest is None:
        return None, None
    _, recoding, unmet = nearest
    return recoding, unmet


def _describe_joint_release(
    problem: ProtectionProblem,
    recoding: FullDomainRecoding | None,
    earlier: Sequence[EarlierRelease],
) -> dict[str, Any] | None:
    """Describe the release together with earlier ones, for the JSON."""
    if problem.beside is None or recoding is None:
        return None
    joint = problem.beside.join(recoding, problem.codes)
    return {
        "releases": len(earlier),
        "columns": [list(release.columns) for release in earlier],
        "k_anonymity": joint.smallest,
        "people_below": joint.people_below(problem.beside.k),
    }


def _list_levels(levels: Mapping[str, int], quasi: Sequence[str]) -> list[int]:
    """List the level of every quasi-identifier, 0 unless it is given."""
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
    """Judge the release that the recoding makes.

    Return the judgement, and whether suppressed records are left out of the release.
    """
    rows = problem.settings.suppressed_rows
    verdicts = tuple[Verdict, ...]()
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
    gate.suppressed_records = 0 if recoding is None else problem.count_suppressed(recoding)
    return gate.judge(verdicts), drops


def settle_suppressed(verdicts: Sequence[Verdict], rows: str) -> tuple[tuple[Verdict, ...], bool]:
    """Decide whether suppressed records are left out of a release; return its verdicts, too.

    With `auto` they are left out unless they meet every limit as a class of their own.
    """
    lines = [verdict for verdict in verdicts if verdict.scope == SUPPRESSED]
    if rows == AUTO and not all(line.met is True for line in lines):
        return tuple(verdict for verdict in verdicts if verdict not in lines), True
    return tuple(verdicts), rows == DROP


def suppression_remarks(suppressed: int, rows: str, *, drops: bool) -> list[Remark]:
    """Say whether suppressed records stay in the release, if the command decided it."""
    if not suppressed or rows != AUTO:
        return []
    key = "suppressed_dropped" if drops else "suppressed_stay"
    return [Remark(key, records=plural(suppressed, "record"))]


def release_columns(
    questions: Questions, protection: Protection, keep: Iterable[str]
) -> tuple[list[FileColumn], Any]:
    """Make the columns of the release, in the order of the input, and tell suppressed records."""
    roles = protection.roles
    recoding = protection.recoding
    if recoding is None or protection.problem is None:
        assert protection.release is not None
        return [*protection.file_columns], protection.release.gone
    columns = read_columns(questions, {*roles.quasi, *roles.sensitive, *keep})
    codes = _value_numbers(protection, columns)
    gone = protection.problem.suppressed_keys(recoding)
    labels = recoding.labels(codes)
    suppressed = np.isin(recoding.class_keys[recoding.class_numbers(codes)].astype(np.int64), gone)
    for j, name in enumerate(roles.quasi):
        level = recoding.levels[j]
        texts = [*recoding.columns[j].labels[level], ROOT]
        own = np.where(suppressed, len(texts) - 1, labels[:, j])
        plain = level == 0 and not suppressed.any()
        columns[name] = FileColumn(
            name=name, texts=texts, codes=own, kind=columns[name].kind if plain else TEXT
        )
    return [*columns.values()], suppressed


def read_columns(questions: Questions, wanted: set[str]) -> dict[str, FileColumn]:
    """Read the `wanted` columns of all records, in the order of the input."""
    names = [c for c in questions.columns if c in wanted]
    records = questions.records_in_order(names)
    kinds = questions.engine.kinds
    return {
        name: FileColumn(name=name, texts=texts, codes=codes, kind=str(kinds.get(name, TEXT)))
        for name, texts, codes in zip(names, records.values, records.codes, strict=True)
    }


def recoded_records(
    questions: Questions, protection: Protection, keep: Iterable[str], *, drop: bool
) -> RecodedRecords | None:
    """Describe the release for an engine that writes it from its own records.

    None if this process reads the records and writes them, as it does for small tables.
    """
    recoding = protection.recoding
    problem = protection.problem
    roles = protection.roles
    if recoding is None or problem is None:
        return None
    small = questions.records < IN_THE_ENGINE and problem.floor is None
    if small and questions.engine.records_here:
        return None
    wanted = {*roles.quasi, *roles.sensitive, *keep}
    maps = {}
    gone = problem.suppressed_keys(recoding)
    for j, name in enumerate(roles.quasi):
        if recoding.hierarchy_levels[j] or len(gone):  # another column does not change
            maps[name] = problem.label_map(j, recoding.levels[j], recoding.lows[j])
    return RecodedRecords(
        names=[c for c in questions.columns if c in wanted],
        maps=maps,
        suppressed=gone,
        mark=ROOT,
        drop=drop,
    )


def _value_numbers(protection: Protection, columns: Mapping[str, FileColumn]) -> Any:
    """The number of each record's value in its column of the search, per quasi-identifier."""
    problem = protection.problem
    assert problem is not None
    numbers = []
    for j, name in enumerate(protection.roles.quasi):
        place = dict(zip(problem.combinations.classes.values[j], problem.numbers[j], strict=True))
        own = np.array([place.get(text, 0) for text in columns[name].texts], dtype=np.int64)
        numbers.append(own[columns[name].codes])
    return np.stack(numbers, axis=1)
