"""The search for changes that would help a table that does not meet its policy.

Every option is a node of the lattice of levels that `sievert protect` searches: one changed column,
the least loss that meets as many limits as coarse tables can, and the release for the whole policy.
Nothing is read again. The number of changed tables that are measured depends on the number of
combinations, and not on the clock, so that the same table has the same options.
"""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from sievert.arrays import Bools
from sievert.commands.assess import result
from sievert.commands.assess.result import ChangeOption, ChangeOptions, ColumnChange
from sievert.counts.recoded import type_order
from sievert.errors import SievertError
from sievert.formatting.remarks import Remark
from sievert.hierarchies import Hierarchy, describe_level, to_hierarchy
from sievert.measurement.combinations import CombinationCounts, count_combinations
from sievert.measurement.table_measures import MeasureSettings, TableMeasures, most_cells
from sievert.measures import BY_ID
from sievert.measures.measure import Value
from sievert.methods.full_domain import FullDomainRecoding
from sievert.policy import Gate, Judgement, Policy, Verdict
from sievert.releases.people_problem import PeopleProblem
from sievert.releases.problem import (
    FIXED,
    UNIQUE,
    ProtectionProblem,
    SearchSettings,
    assign_hierarchies,
    limit_share_suppressed,
    share_to_suppress,
    without_limit,
)
from sievert.roles import check_secrets

MOST_CELLS = 100_000  # combinations that are fetched, of all secrets together
MOST_RECORDS = 1 << 28  # products of two counts fit 64 bits
RELEASE_WORK = 20_000_000  # cells that the search for a release scans
CHANGE_WORK = 5_000_000  # cells that each search for a changed table scans
UNCOMPILED = 25_000_000  # cells that are scanned before compiled loops are loaded
WORK = 2_700_000  # cells that are measured, of all changed tables together
MOST_NODES = 10**6  # combinations of levels that are listed
LITTLE = 2 / 3  # the share of the best option's loss that is a little loss
LEFT_OUT = Remark("left_out")

Levels = tuple[int, ...]  # of every quasi-identifier; 0 is the column as it is
Limit = tuple[str, str]  # the measure, and where it is limited


@dataclass(frozen=True, kw_only=True)
class OptionSearch:
    """The search for changes of a table that was judged."""

    measures: TableMeasures
    gate: Gate
    judgement: Judgement
    numbers: Mapping[str, Value]
    released: Gate | None  # of a release with the measured columns only, if there can be one

    def find(
        self, count: Callable[[], CombinationCounts], *, wildcards: bool, leave_out: bool
    ) -> tuple[ChangeOptions, list[Remark]]:
        """Find ways to change the table; return them with notes on hierarchies.

        `count` counts the combinations. Missing values may be `wildcards`. With `leave_out`,
        columns can be left out.
        """
        alone = self.numbers[UNIQUE].details.get("records") if UNIQUE in self.numbers else None
        before = ChangeOption(
            changes=(),
            met=self.judgement.outcome,
            verdicts=self._of_table,
            alone=alone,
            detail_lost=0.0,
        )
        obstacle = self._obstacle(wildcards)
        if obstacle is not None:
            return ChangeOptions(before=before, reason=obstacle), []
        questions = self.measures.questions
        roles = self.measures.roles
        self.measures.clock("searching options", questions)
        if questions.person is None:
            combinations = count()
        else:  # the rows of people are recoded
            combinations = count_combinations(questions.rows, roles.quasi, roles.sensitive)
        if not self._have_order(combinations):
            return ChangeOptions(before=before, reason=result.NO_ORDER), []
        tables, release, notes = self._tables(combinations, leave_out=leave_out)
        if alone is None:
            before = replace(before, alone=tables.unique_before())
        ways = tuple(tables.find_ways(before, release))
        reason = None if ways else result.NOTHING_HELPS
        return ChangeOptions(
            before=before,
            ways=ways,
            tried=len(tables.options),
            reason=reason,
            complete=tables.complete,
        ), notes

    @property
    def _of_table(self) -> tuple[Verdict, ...]:
        """The verdicts on the table without those on its suppressed records."""
        lines = self.judgement.of_suppressed
        return tuple(verdict for verdict in self.judgement.verdicts if verdict not in lines)

    def _tables(
        self, combinations: CombinationCounts, *, leave_out: bool
    ) -> tuple["ChangedTables", ChangeOption | None, list[Remark]]:
        """Prepare changed tables; return them with the release, if any, and remarks."""
        roles = self.measures.roles
        given = self.measures.settings
        own = {}
        for secret in roles.sensitive:
            tree = self.measures.hierarchy(secret)
            if tree:
                own[secret] = tree
        measuring = replace(given, hierarchies=own)
        if self.released is not None and self.released.policy.protect.how in (None, "full"):
            share = share_to_suppress(self.released.policy, combinations.records)
            with suppress(SievertError):  # protect would refuse the table
                check_secrets(roles, roles.sensitive)
                trees, sources = assign_hierarchies(
                    combinations.classes.value_counts, roles, given.hierarchies, []
                )
                problem = self._problem(combinations, measuring, trees, share)
                tables = ChangedTables(
                    problem=problem,
                    sources=sources,
                    gate=self.gate,
                    of_suppressed=self.judgement.of_suppressed,
                )
                release, tables.complete = self._release(problem, sources)
                return tables, release, []
        trees, sources, notes = self._own_hierarchies(combinations)
        problem = self._problem(combinations, measuring, trees, 0.0)
        lines = self.judgement.of_suppressed
        return (
            ChangedTables(
                problem=problem,
                sources=sources,
                gate=self.gate,
                of_suppressed=lines,
                leave_out=leave_out,
            ),
            None,
            notes,
        )

    def _problem(
        self,
        combinations: CombinationCounts,
        measuring: MeasureSettings,
        trees: Mapping[str, Hierarchy | None],
        share: float,
    ) -> ProtectionProblem:
        """Make the problem of protecting the table, in people if somebody has several rows."""
        questions = self.measures.questions
        roles = self.measures.roles
        settings = SearchSettings(suppress=share, uncompiled=UNCOMPILED)
        if questions.repeat(roles.quasi):
            return PeopleProblem(
                questions=questions,
                roles=roles,
                combinations=combinations,
                measuring=measuring,
                hierarchies=trees,
                settings=settings,
            )
        return ProtectionProblem(
            questions=questions.rows,
            roles=roles,
            combinations=combinations,
            measuring=measuring,
            hierarchies=trees,
            settings=settings,
        )

    def _own_hierarchies(
        self, combinations: CombinationCounts
    ) -> tuple[dict[str, Hierarchy | None], dict[str, str], list[Remark]]:
        """Choose hierarchies if no release can be made; return them, their sources and notes.

        Secrets and people among the quasi-identifiers stay as they are. A hierarchy without some
        of the values is not used.
        """
        roles = self.measures.roles
        classes = combinations.classes
        usable = {}
        notes = []
        for column, given in self.measures.settings.hierarchies.items():
            if column not in roles.quasi or column in roles.sensitive:
                continue
            counts = {t: n for t, n in classes.value_counts(roles.quasi.index(column)).items() if n}
            try:
                tree = to_hierarchy(given, counts)
                if tree is not None:
                    tree.require(counts, column)
                usable[column] = given
            except SievertError:
                notes.append(Remark("hierarchy_lacks", column=repr(column)))
        trees, sources = assign_hierarchies(classes.value_counts, roles, usable, [])
        trees |= {c: None for c in roles.quasi if c in (*roles.sensitive, roles.person)}
        return trees, sources, notes

    def _release(
        self, problem: ProtectionProblem, sources: Mapping[str, str]
    ) -> tuple[ChangeOption | None, bool]:
        """Find the release that `sievert protect` makes for the policy, if it can make one.

        Return it, and whether the search for it was finished.
        """
        assert self.released is not None
        if self.released.reasons or not self.judgement.verdicts:
            return None, True
        share = problem.settings.suppress
        records = problem.combinations.records
        policy = limit_share_suppressed(self.released.policy, share, records, [])
        search = problem.search(policy)
        recoding = problem.best(search, policy, cells=RELEASE_WORK)
        if recoding is None or is_nothing(problem, recoding.levels):
            return None, search.finished
        own_limits = {(v.measure, v.where) for v in self.judgement.verdicts}
        all_verdicts, alone = problem.judge(recoding.levels, problem.gone(recoding), policy)
        verdicts = tuple(v for v in all_verdicts if (v.measure, v.where) in own_limits)
        self.released.suppressed_records = recoding.suppressed_records
        release = ChangeOption(
            changes=describe_changes(problem, recoding.levels, sources),
            met=self.released.judge(verdicts).outcome,
            verdicts=verdicts,
            alone=alone,
            detail_lost=recoding.losses.arithmetic,
            suppressed_records=recoding.suppressed_records,
            levels=dict(zip(problem.roles.quasi, recoding.levels, strict=True)),
            proven=recoding.proven,
        )
        return release, search.finished

    def _obstacle(self, wildcards: bool) -> str | None:
        """Say why no changed table is measured; None if tables can be measured."""
        if all(v.met for v in self.judgement.verdicts):
            return result.EVERY_LIMIT_MET
        if all(v.met for v in self._of_table):
            return result.ONLY_SUPPRESSED
        if wildcards:
            return result.WILDCARDS
        if self.measures.roles.knowable:
            return result.KEPT
        records = self.measures.questions.records
        many = most_cells(self.measures) > MOST_CELLS or records > MOST_RECORDS
        return result.TOO_MANY if many else None

    def _have_order(self, combinations: CombinationCounts) -> bool:
        """Tell whether the values of secrets have an order, if a limit needs one."""
        if not any("order" in BY_ID[m].needs for _, m, _ in self.gate.policy.every_limit()):
            return True
        kind = self.measures.questions.engine.kind
        given = self.measures.settings.orders
        return all(
            type_order([v for v in cube.values[-1] if v is not None]) is not None
            for secret, cube in combinations.secrets.items()
            if secret not in given and kind(secret) in ("float", "ordered")
        )


class ChangedTables:
    """Tables with columns on other levels and nothing suppressed; their number is limited."""

    def __init__(
        self,
        problem: ProtectionProblem,
        sources: Mapping[str, str],
        gate: Gate,
        of_suppressed: Sequence[Verdict],
        *,
        leave_out: bool = True,
    ) -> None:
        self.problem = problem
        self.sources = sources
        self.gate = gate
        self.of_suppressed = of_suppressed  # they do not depend on the other records
        self.leave_out = leave_out  # whether columns can be left out; else values would be missing
        self.options: dict[Levels, ChangeOption | None] = {}
        self.complete = True  # whether no search was cut short
        cells = sum(FIXED + len(cube.counts) for cube in problem.combinations.cubes)
        if isinstance(problem, PeopleProblem):  # rows and people are counted
            cells *= 2
        self._most = WORK // cells
        classes = problem.combinations.classes
        self._losses = []
        for at, column in enumerate(problem.columns):
            totals = np.bincount(problem.codes[:, at], classes.counts)
            pairs = zip(column.shares, column.tables, strict=True)
            losses = [float(shares[table] @ totals) / classes.records for shares, table in pairs]
            self._losses.append(np.array(losses))
        self._gone = [
            np.array([i > 0 and len(labels) == 1 for i, labels in enumerate(column.labels)])
            for column in problem.columns
        ]
        self._nothing = (0,) * len(problem.columns)
        self._marked_before = self._all_marked(self._nothing)

    def unique_before(self) -> int:
        """Count the unique people or records of the table as it is."""
        gone = np.zeros(len(self.problem.codes), dtype=bool)
        return self.problem.judge(self._nothing, gone, self.gate.policy)[1]

    def find_ways(self, before: ChangeOption, release: ChangeOption | None) -> list[ChangeOption]:
        """Find the best single change, one with little loss, and one that meets most limits."""
        singles = [o for o in map(self.measure, self._singles()) if o and o.is_better(before)]
        first = min(singles, key=lambda o: (-o.limits_met, o.alone, o.detail_lost), default=None)
        best = release or self._most_limits(1.0, before)
        if best is None or best == first:
            return [first] if first else []
        between = self._most_limits(LITTLE * best.detail_lost, first or before)
        if between is not None and between.limits_met >= best.limits_met:
            best = between
            between = None
        if first is not None and release and first.detail_lost >= release.detail_lost:
            first = None  # a release that meets the policy costs less
        chosen = [o for o in (first, between, best) if o is not None]
        return [o for o in chosen if not any(other.dominates(o) for other in chosen)]

    def measure(self, levels: Levels) -> ChangeOption | None:
        """Measure the table on `levels`; None if more of its records would be suppressed."""
        if self._is_affordable(levels, self._most) and levels not in self.options:
            self.options[levels] = self._measure(levels)
        return self.options.get(levels)

    def _is_affordable(self, levels: Levels, most: int) -> bool:
        """Tell whether a table was measured, or may be, as fewer than `most` were measured."""
        affordable = levels in self.options or len(self.options) < most
        self.complete &= affordable
        return affordable

    def _measure(self, levels: Levels) -> ChangeOption | None:
        """Measure the table on `levels`, unless something in it would be suppressed or left out."""
        problem = self.problem
        marked = self._all_marked(levels)
        gone = [own[level] for own, level in zip(self._gone, levels, strict=True)]
        left_out = any(gone) and not self.leave_out
        if left_out or is_nothing(problem, levels) or (marked & ~self._marked_before).any():
            return None
        verdicts, alone = problem.judge(levels, np.zeros_like(marked), self.gate.policy)
        losses = [own[level] for own, level in zip(self._losses, levels, strict=True)]
        return ChangeOption(
            changes=describe_changes(problem, levels, self.sources),
            met=self.gate.judge((*verdicts, *self.of_suppressed)).outcome,
            verdicts=verdicts,
            alone=alone,
            detail_lost=sum(losses) / len(losses),
        )

    def _all_marked(self, levels: Levels) -> Bools:
        """Tell which combinations have the mark of suppression in every column that is left."""
        mark = self.problem.questions.suppression.mark
        have = np.ones(len(self.problem.codes), dtype=bool)
        for j, (column, level) in enumerate(zip(self.problem.columns, levels, strict=True)):
            labels = column.labels[level]
            if not level or len(labels) > 1:
                texts = np.array([text == mark for text in labels])
                have &= texts[column.tables[level][self.problem.codes[:, j]]]
        return have

    def _singles(self) -> Iterator[Levels]:
        """Yield levels that change one column, the first levels of all columns first."""
        columns = self.problem.columns
        for level in range(1, max(column.levels for column in columns)):
            for j, column in enumerate(columns):
                if level >= column.levels:
                    continue
                if len(column.labels[level]) < len(column.labels[level - 1]):
                    yield (*self._nothing[:j], level, *self._nothing[j + 1 :])

    def _coarsest(self, most: float) -> list[Levels]:
        """List the coarsest of the tables that lose at most `most`."""
        sizes = [len(losses) for losses in self._losses]
        if math.prod(sizes) > MOST_NODES:  # the table with every column at its coarsest
            self.complete = False
            return [tuple(int(np.flatnonzero(~gone)[-1]) for gone in self._gone)]
        losses = np.asarray(sum(np.ix_(*self._losses))) / len(sizes)
        gone = np.asarray(sum(np.ix_(*(own.astype(np.int64) for own in self._gone))))
        there = (losses <= most) & (gone <= (len(sizes) - 1) * self.leave_out)
        top = there.copy()
        for axis in range(len(sizes)):
            np.moveaxis(top, axis, 0)[:-1] &= ~np.moveaxis(there, axis, 0)[1:]
        nodes = np.argwhere(top)
        return [tuple(node) for node in nodes[np.argsort(-losses[top], kind="stable")].tolist()]

    def _most_limits(self, most: float, before: ChangeOption) -> ChangeOption | None:
        """Find the table with the least loss that meets as many limits as any that loses `most`.

        None if the limits are no more than before.
        """
        half = len(self.options) + (self._most - len(self.options)) // 2
        coarse = []
        for levels in self._coarsest(most):
            option = self.measure(levels) if self._is_affordable(levels, half) else None
            if option is not None:
                coarse.append(option)
        limits = max((o.limits_met for o in coarse), default=0)
        if limits <= before.limits_met:
            return None
        best = [o for o in coarse if o.limits_met == limits]
        for wanted in dict.fromkeys(frozenset(_limits_met(o)) for o in best):
            less = self._least_loss(wanted)
            if less is not None:
                best.append(less)
        return min(best, key=lambda o: (-o.limits_met, o.detail_lost, o.alone))

    def _least_loss(self, wanted: Collection[Limit]) -> ChangeOption | None:
        """Find the table with the least loss that meets the `wanted` limits."""
        most = len(self.options) + (self._most - len(self.options)) // 2

        def meets(recoding: FullDomainRecoding) -> bool:
            affordable = self._is_affordable(recoding.levels, most)
            option = self.measure(recoding.levels) if affordable else None
            return option is not None and {*wanted} <= {*_limits_met(option)}

        policy = _with_limits(self.gate.policy, wanted, self.problem.roles.sensitive)
        try:
            search = self.problem.search(policy, suppress=0, loss="arithmetic_loss")
        except SievertError:  # too many columns
            self.complete = False
            return None
        recoding = search.run(meets, cells=CHANGE_WORK)
        self.complete &= search.finished
        return None if recoding is None else self.measure(recoding.levels)


def is_nothing(problem: ProtectionProblem, levels: Sequence[int]) -> bool:
    """Tell whether every column has one label, so that the table says nothing."""
    return all(len(c.labels[x]) == 1 for c, x in zip(problem.columns, levels, strict=True))


def describe_changes(
    problem: ProtectionProblem, levels: Sequence[int], sources: Mapping[str, str]
) -> tuple[ColumnChange, ...]:
    """Describe the columns that are made coarser."""
    changes = []
    for column, level in zip(problem.columns, levels, strict=True):
        values = len(column.labels[level])
        if level and values == 1:
            changes.append(ColumnChange(column.name, LEFT_OUT, 0))
        elif level:
            how = describe_level(sources[column.name], level, column.levels - 1, values)
            changes.append(ColumnChange(column.name, how, values))
    return tuple(changes)


def _limits_met(option: ChangeOption) -> list[Limit]:
    """List the limits that an option meets."""
    return [(v.measure, v.where) for v in option.verdicts if v.met is True]


def _with_limits(policy: Policy, wanted: Collection[Limit], secrets: Sequence[str]) -> Policy:
    """Remove limits that are not wanted everywhere where they apply."""
    of_secrets = [f"inference.{s}" for s in secrets]
    for table, measure, _ in list(policy.every_limit()):
        place = table.partition("limits.")[2]
        if place:
            places = [place]
        elif "secret" in BY_ID[measure].kinds:
            places = ["reidentification", *of_secrets]
        else:
            places = ["reidentification"]
        if not all((measure, where) in wanted for where in places):
            policy = without_limit(policy, table, measure)
    return policy
