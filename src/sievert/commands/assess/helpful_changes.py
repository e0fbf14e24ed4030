"""What would help: the options of an assessment that is held against a policy.

Every option is a node of the lattice of levels that `sievert protect` searches: one column changed,
the least loss that meets as many limits as coarse tables can, and the release for the whole policy.
Nothing is read again. How many changed tables are measured follows from the number of combinations,
not from the clock, so that the same table has the same options.
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

MOST_CELLS = 100_000  # combinations, of all secrets together, that are fetched
MOST_RECORDS = 1 << 28  # products of two counts fit 64 bits
RELEASE_WORK = 20_000_000  # cells that the search for a release scans
CHANGE_WORK = 5_000_000  # and each search for a changed table
UNCOMPILED = 25_000_000  # of these, before compiled loops are loaded
WORK = 2_700_000  # cells that are measured, those of all changed tables together
MOST_NODES = 10**6  # combinations of levels that are listed
LITTLE = 2 / 3  # of the loss of the best option
LEFT_OUT = Remark("left_out")

Levels = tuple[int, ...]  # of every quasi-identifier; 0 is the column as it is
Limit = tuple[str, str]  # the measure, and where it is limited


@dataclass(frozen=True)
class OptionSearch:
    """A table that was judged, with its numbers of re-identification."""

    measures: TableMeasures
    gate: Gate
    judgement: Judgement
    numbers: Mapping[str, Value]
    released: Gate | None  # of a release that holds the measured columns only, if there can be one

    def find(
        self, count: Callable[[], CombinationCounts], *, wildcards: bool, leave_out: bool
    ) -> tuple[ChangeOptions, list[Remark]]:
        """Ways to change the table, and notes on hierarchies; few combinations are counted.

        Missing values may be `wildcards`, and columns may be such that can be left out.
        """
        alone = self.numbers[UNIQUE].details.get("records") if UNIQUE in self.numbers else None
        before = ChangeOption((), self.judgement.outcome, self._of_table, alone, 0.0)
        if (reason := self._obstacle(wildcards)) is not None:
            return ChangeOptions(before, reason=reason), []
        questions, roles = self.measures.questions, self.measures.roles
        self.measures.clock("searching options", questions)
        combinations = (
            count_combinations(questions.rows, roles.quasi, roles.sensitive)
            if questions.person is not None  # the rows of people are recoded
            else count()
        )
        if not self._have_order(combinations):
            return ChangeOptions(before, reason=result.NO_ORDER), []
        tables, release, notes = self._tables(combinations, leave_out=leave_out)
        if alone is None:
            before = replace(before, alone=tables.unique_before())
        ways = tuple(tables.find_ways(before, release))
        reason = None if ways else result.NOTHING_HELPS
        return ChangeOptions(before, ways, len(tables.options), reason, tables.complete), notes

    @property
    def _of_table(self) -> tuple[Verdict, ...]:
        """The verdicts on the table without those on its suppressed records."""
        lines = self.judgement.of_suppressed
        return tuple(verdict for verdict in self.judgement.verdicts if verdict not in lines)

    def _tables(
        self, combinations: CombinationCounts, *, leave_out: bool
    ) -> tuple["ChangedTables", ChangeOption | None, list[Remark]]:
        """The tables that can be made, the release among them, and notes on hierarchies."""
        roles, given, release = self.measures.roles, self.measures.settings, None
        own = {s: tree for s in roles.sensitive if (tree := self.measures.hierarchy(s))}
        measuring = replace(given, hierarchies=own)
        if self.released is not None and self.released.policy.protect.how in (None, "full"):
            share = share_to_suppress(self.released.policy, combinations.records)
            with suppress(SievertError):  # what protect refuses, with its reason
                check_secrets(roles, roles.sensitive)
                trees, sources = assign_hierarchies(
                    combinations.classes.value_counts, roles, given.hierarchies, []
                )
                problem = self._problem(combinations, measuring, trees, share)
                tables = ChangedTables(problem, sources, self.gate, self.judgement.of_suppressed)
                release, tables.complete = self._release(problem, sources)
                return tables, release, []
        trees, sources, notes = self._own_hierarchies(combinations)
        problem = self._problem(combinations, measuring, trees, 0.0)
        lines = self.judgement.of_suppressed
        return ChangedTables(problem, sources, self.gate, lines, leave_out=leave_out), None, notes

    def _problem(
        self,
        combinations: CombinationCounts,
        measuring: MeasureSettings,
        trees: Mapping[str, Hierarchy | None],
        share: float,
    ) -> ProtectionProblem:
        questions, roles = self.measures.questions, self.measures.roles
        settings = SearchSettings(suppress=share, uncompiled=UNCOMPILED)
        if questions.repeat(roles.quasi):
            return PeopleProblem(questions, roles, combinations, measuring, trees, settings)
        return ProtectionProblem(questions.rows, roles, combinations, measuring, trees, settings)

    def _own_hierarchies(
        self, combinations: CombinationCounts
    ) -> tuple[dict[str, Hierarchy | None], dict[str, str], list[Remark]]:
        """Hierarchies where there is no release: secrets and people who are known stay as they are.

        One that lacks values is not used.
        """
        roles, classes = self.measures.roles, combinations.classes
        usable, notes = {}, []
        for column, given in self.measures.settings.hierarchies.items():
            if column not in roles.quasi or column in roles.sensitive:
                continue
            counts = {t: n for t, n in classes.value_counts(roles.quasi.index(column)).items() if n}
            try:
                if (tree := to_hierarchy(given, counts)) is not None:
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
        """The release that `sievert protect` makes for the policy, if it can make one.

        And whether the search for it was finished.
        """
        assert self.released is not None
        if self.released.reasons or not self.judgement.verdicts:
            return None, True
        share, records = problem.settings.suppress, problem.combinations.records
        policy = limit_share_suppressed(self.released.policy, share, records, [])
        search = problem.search(policy)
        recoding = problem.best(search, policy, cells=RELEASE_WORK)
        if recoding is None or is_nothing(problem, recoding.levels):
            return None, search.finished
        own_limits = {(v.measure, v.where) for v in self.judgement.verdicts}
        every, alone = problem.judge(recoding.levels, problem.gone(recoding), policy)
        verdicts = tuple(v for v in every if (v.measure, v.where) in own_limits)
        self.released.suppressed_records = recoding.suppressed_records
        release = ChangeOption(
            describe_changes(problem, recoding.levels, sources),
            self.released.judge(verdicts).outcome,
            verdicts,
            alone,
            recoding.losses.arithmetic,
            recoding.suppressed_records,
            dict(zip(problem.roles.quasi, recoding.levels, strict=True)),
            recoding.proven,
        )
        return release, search.finished

    def _obstacle(self, wildcards: bool) -> str | None:
        """Why no changed table is measured, if so."""
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
        """Whether values of secrets can be put into the order of their type, where it is needed."""
        if not any("order" in BY_ID[m].needs for _, m, _ in self.gate.policy.every_limit()):
            return True
        kind, given = self.measures.questions.engine.kind, self.measures.settings.orders
        return all(
            type_order([v for v in cube.values[-1] if v is not None]) is not None
            for secret, cube in combinations.secrets.items()
            if secret not in given and kind(secret) in ("float", "ordered")
        )


class ChangedTables:
    """Tables with columns on other levels, nothing suppressed: at most so many are measured."""

    def __init__(
        self,
        problem: ProtectionProblem,
        sources: Mapping[str, str],
        gate: Gate,
        of_suppressed: Sequence[Verdict],
        *,
        leave_out: bool = True,
    ) -> None:
        self.problem, self.sources, self.gate = problem, sources, gate
        self.of_suppressed = of_suppressed  # the same whatever becomes of the other records
        self.leave_out = leave_out  # else other records would lack a value
        self.options: dict[Levels, ChangeOption | None] = {}
        self.complete = True  # whether no search was cut short
        cells = sum(FIXED + len(cube.counts) for cube in problem.combinations.cubes)
        self._most = WORK // (cells * (1 + isinstance(problem, PeopleProblem)))
        classes = problem.combinations.classes
        self._losses = [
            np.array([float(shares[table] @ totals) / classes.records for shares, table in pairs])
            for at, column in enumerate(problem.columns)
            for totals in [np.bincount(problem.codes[:, at], classes.counts)]
            for pairs in [zip(column.shares, column.tables, strict=True)]
        ]
        self._gone = [
            np.array([i > 0 and len(labels) == 1 for i, labels in enumerate(column.labels)])
            for column in problem.columns
        ]
        self._nothing = (0,) * len(problem.columns)
        self._marked_before = self._marked(self._nothing)

    def unique_before(self) -> int:
        """How many are unique in the table as it is."""
        gone = np.zeros(len(self.problem.codes), dtype=bool)
        return self.problem.judge(self._nothing, gone, self.gate.policy)[1]

    def find_ways(self, before: ChangeOption, release: ChangeOption | None) -> list[ChangeOption]:
        """The best single change, more limits at little loss, and as many limits as can be met."""
        singles = [o for o in map(self.measure, self._singles()) if o and o.is_better(before)]
        first = min(singles, key=lambda o: (-o.limits_met, o.alone, o.detail_lost), default=None)
        best = release or self._most_limits(1.0, before)
        if best is None or best == first:
            return [first] if first else []
        between = self._most_limits(LITTLE * best.detail_lost, first or before)
        if between is not None and between.limits_met >= best.limits_met:
            best, between = between, None
        if first is not None and release and first.detail_lost >= release.detail_lost:
            first = None  # a release that meets the policy costs less
        chosen = [o for o in (first, between, best) if o is not None]
        return [o for o in chosen if not any(other.dominates(o) for other in chosen)]

    def measure(self, levels: Levels) -> ChangeOption | None:
        """The table on these levels; None if more of its records would be suppressed."""
        if self._is_affordable(levels, self._most) and levels not in self.options:
            self.options[levels] = self._measure(levels)
        return self.options.get(levels)

    def _is_affordable(self, levels: Levels, most: int) -> bool:
        """Whether a table was measured, or may be while there are fewer than so many."""
        affordable = levels in self.options or len(self.options) < most
        self.complete &= affordable
        return affordable

    def _measure(self, levels: Levels) -> ChangeOption | None:
        problem, marked = self.problem, self._marked(levels)
        gone = [own[level] for own, level in zip(self._gone, levels, strict=True)]
        left_out = any(gone) and not self.leave_out
        if left_out or is_nothing(problem, levels) or (marked & ~self._marked_before).any():
            return None
        verdicts, alone = problem.judge(levels, np.zeros_like(marked), self.gate.policy)
        losses = [own[level] for own, level in zip(self._losses, levels, strict=True)]
        return ChangeOption(
            describe_changes(problem, levels, self.sources),
            self.gate.judge((*verdicts, *self.of_suppressed)).outcome,
            verdicts,
            alone,
            sum(losses) / len(losses),
        )

    def _marked(self, levels: Levels) -> Bools:
        """Which combinations have the mark of suppression in all columns that are there."""
        mark = self.problem.questions.suppression.mark
        have = np.ones(len(self.problem.codes), dtype=bool)
        for j, (column, level) in enumerate(zip(self.problem.columns, levels, strict=True)):
            labels = column.labels[level]
            if not level or len(labels) > 1:
                texts = np.array([text == mark for text in labels])
                have &= texts[column.tables[level][self.problem.codes[:, j]]]
        return have

    def _singles(self) -> Iterator[Levels]:
        """Every column changed alone, the first levels of all columns before the second ones."""
        columns = self.problem.columns
        for level in range(1, max(column.levels for column in columns)):
            for j, column in enumerate(columns):
                if level < column.levels and len(column.labels[level]) < len(
                    column.labels[level - 1]
                ):
                    yield (*self._nothing[:j], level, *self._nothing[j + 1 :])

    def _coarsest(self, most: float) -> list[Levels]:
        """The tables that lose at most so much, and of which none is coarser."""
        sizes = [len(losses) for losses in self._losses]
        if math.prod(sizes) > MOST_NODES:  # all columns as coarse as they can be
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
        """The least loss that meets as many limits as a table can that loses at most so much.

        None if these are no more than before.
        """
        half = len(self.options) + (self._most - len(self.options)) // 2
        coarse = [
            option
            for levels in self._coarsest(most)
            if self._is_affordable(levels, half) and (option := self.measure(levels)) is not None
        ]
        limits = max((o.limits_met for o in coarse), default=0)
        if limits <= before.limits_met:
            return None
        best = [o for o in coarse if o.limits_met == limits]
        every = dict.fromkeys(frozenset(_limits_met(o)) for o in best)
        best += [less for wanted in every if (less := self._least_loss(wanted)) is not None]
        return min(best, key=lambda o: (-o.limits_met, o.detail_lost, o.alone))

    def _least_loss(self, wanted: Collection[Limit]) -> ChangeOption | None:
        """The table of least loss that meets some limits."""

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
    """Whether no column says anything: somebody always knows something."""
    return all(len(c.labels[x]) == 1 for c, x in zip(problem.columns, levels, strict=True))


def describe_changes(
    problem: ProtectionProblem, levels: Sequence[int], sources: Mapping[str, str]
) -> tuple[ColumnChange, ...]:
    """The columns that are made coarser, in words."""
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
    return [(v.measure, v.where) for v in option.verdicts if v.met is True]


def _with_limits(policy: Policy, wanted: Collection[Limit], secrets: Sequence[str]) -> Policy:
    """The policy with limits only that are wanted wherever they stand."""
    every = ("reidentification", *(f"inference.{s}" for s in secrets))
    for table, measure, _ in list(policy.every_limit()):
        place = table.partition("limits.")[2]
        of_secrets = "secret" in BY_ID[measure].kinds
        places = [place] if place else every if of_secrets else every[:1]
        if not all((measure, where) in wanted for where in places):
            policy = without_limit(policy, table, measure)
    return policy
