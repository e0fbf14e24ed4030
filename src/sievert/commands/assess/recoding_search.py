"""The search for options: quasi-identifiers coarsened or left out, measured as `assess` does.

Nothing is read again: the counts of a changed table follow from the combinations of the table as it
is. How many changed tables are measured follows from the number of combinations, not from the
clock, so that the same table has the same options.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sievert.arrays import Bools, Ints
from sievert.commands._clock import Clock
from sievert.commands._coarser_columns import coarser_column
from sievert.commands._combinations import CombinationCounts, PeopleCombinations
from sievert.commands._measuring import MeasureSettings, TableMeasures
from sievert.counts.cells import Suppression
from sievert.counts.recoded import RecodedQuestions
from sievert.counts.recoded_people import RecodedPeopleQuestions
from sievert.errors import SievertError
from sievert.policy import Policy, Verdict, judge
from sievert.session import no_progress

LEFT_OUT = "left out"
TRIED = 6  # columns that are tried in one step
ALONE = "unique_records"
ANY_OF_A_SECRET = "l_diversity"  # a limit that lacks an order is undecided where others are not

State = tuple[int, ...]  # of every quasi-identifier a level; 0 is the column as it is


@dataclass(frozen=True)
class Level:
    """One way to change a column, or none: the new codes, None of a column left out."""

    how: str
    codes: Ints | None
    values: int
    loss: float  # of detail, from 0 to 1


@dataclass(frozen=True)
class Outcome:
    """What an assessment of a changed table says."""

    state: State
    verdicts: tuple[Verdict, ...]
    alone: int
    loss: float

    @property
    def limits_met(self) -> int:
        """How many limits are met."""
        return sum(v.met is True for v in self.verdicts)

    @property
    def changes(self) -> int:
        """How many columns are changed."""
        return sum(map(bool, self.state))


def find_levels(
    combinations: CombinationCounts,
    hierarchies: Mapping[str, Any],
    fixed: Collection[str | None],
    mark: str | None,
    *,
    leave_out: bool,
) -> tuple[list[list[Level]], list[str]]:
    """The levels of every quasi-identifier; those that are `fixed` have none but the column itself.

    No level makes other values the `mark` of suppression. A note names a hierarchy that lacks
    values.
    """
    every, notes = [], []
    for at, column in enumerate(combinations.quasi):
        totals = combinations.classes.totals(at)
        present = np.flatnonzero(totals)
        levels = [Level("", np.arange(len(totals), dtype=np.uint32), len(present), 0.0)]
        every.append(levels)
        if column in fixed or len(present) < 2:
            continue
        try:
            coarser = coarser_column(combinations, column, hierarchies.get(column))
        except SievertError:
            notes.append(f"the hierarchy of {column!r} is not used: it lacks values")
            coarser = coarser_column(combinations, column, None)
        for way in coarser:
            loss = _granularity_loss(way.codes[present], totals[present])
            pairs = zip(combinations.classes.values[at], way.labels, strict=False)
            marks = any(label == mark and text != mark for text, label in pairs)
            if loss > levels[-1].loss and not marks:
                levels.append(Level(way.how, way.codes, way.values, loss))
        if leave_out:
            levels.append(Level(LEFT_OUT, None, 0, 1.0))
    return every, notes


def _granularity_loss(labels: Ints, records: Ints) -> float:
    """The mean over records of (values merged into the label - 1) / (values - 1).

    >>> _granularity_loss(np.array([1, 1, 2]), np.array([3, 1, 4]))  # half of the records: 1/2
    0.25
    """
    merged = np.bincount(labels)[labels] - 1
    return int((records * merged).sum()) / (int(records.sum()) * (len(labels) - 1))


class RecodedTables:
    """Measures changed tables: only what the policy limits."""

    def __init__(
        self, measures: TableMeasures, policy: Policy, combinations: CombinationCounts
    ) -> None:
        self.table, self.roles, self.policy = measures.questions, measures.roles, policy
        self.combinations = combinations
        trees = {s: measures.hierarchy(s) for s in self.roles.sensitive}
        self._settings: MeasureSettings = replace(
            measures.settings, hierarchies={s: tree for s, tree in trees.items() if tree}
        )
        self._ids = {m for _, m, _ in policy.every_limit()} | {ALONE, ANY_OF_A_SECRET}
        people = isinstance(combinations, PeopleCombinations)
        self._questions = RecodedPeopleQuestions if people else RecodedQuestions
        self._marked = mark_cells(combinations, self.table.suppression)

    def measure(self, state: State, levels: Sequence[Sequence[Level]]) -> Outcome | None:
        """The verdicts on a changed table; None if more of its records would be suppressed."""
        quasi = self.combinations.quasi
        chosen = [each[at] for each, at in zip(levels, state, strict=True)]
        kept = [c for c, level in zip(quasi, chosen, strict=True) if level.codes is not None]
        codes = {
            c: level.codes
            for c, level, at in zip(quasi, chosen, state, strict=True)
            if at and level.codes is not None
        }
        if not kept or self._suppresses(kept, codes):
            return None
        questions = self._questions(self.table, *self.combinations.recode(codes, kept))
        roles = replace(self.roles, quasi=tuple(kept))
        measures = TableMeasures(questions, roles, self._settings, self._ids, Clock(no_progress))
        inference = {s: measures.inference(s) for s in roles.sensitive}
        reidentification = measures.reidentification()
        verdicts, _ = judge(self.policy, reidentification, inference)
        alone = int(reidentification[ALONE].details["records"])
        loss = math.fsum(level.loss for level in chosen) / len(chosen)
        return Outcome(state, tuple(verdicts), alone, loss)

    def _suppresses(self, kept: Sequence[str], codes: Mapping[str, Ints]) -> bool:
        """Whether records have the mark of suppression in every column now that did not before."""
        if not all(c in self._marked for c in kept):
            return False
        classes, quasi = self.combinations.classes, self.combinations.quasi
        for column in (c for c in kept if c in codes):
            own, new = classes.codes[quasi.index(column)], codes[column]
            if np.isin(new[own[~self._marked[column]]], new[own[self._marked[column]]]).any():
                return False  # the mark is merged with other values
        none = np.zeros(len(classes.counts), dtype=bool)
        now, before = (
            np.logical_and.reduce([self._marked.get(c, none) for c in columns])
            for columns in (kept, quasi)
        )
        return bool((now & ~before).any())


def mark_cells(combinations: CombinationCounts, suppression: Suppression) -> dict[str, Bools]:
    """Of the columns that hold the mark of suppression, which combinations have it."""
    cells = {c: combinations.classes.all_have([c], suppression.mark) for c in combinations.quasi}
    return {column: have for column, have in cells.items() if have.any()}


class RecodingSearch:
    """Tries at most so many changed tables: single changes, then more and more of them together.

    From what meets the most limits it takes back what is not needed.
    """

    def __init__(
        self, tables: RecodedTables, levels: Sequence[Sequence[Level]], before: Outcome, most: int
    ) -> None:
        self._tables, self.levels, self.before, self._most = tables, levels, before, most
        self._columns = range(len(levels))
        self.outcomes: dict[State, Outcome | None] = {}
        self._goal = sum(v.impossible is None for v in before.verdicts)

    def run(self) -> list[Outcome]:
        """The outcomes of everything that was tried."""
        whole = self._most
        self._most = whole // 3  # so that there is time for changes of several columns
        for state in self._singles():
            self._measure(state)
        self._most = 2 * whole // 3
        self._take_back(self._coarsen_together())
        self._most = whole
        self._take_back(self._climb())
        return [outcome for outcome in self.outcomes.values() if outcome is not None]

    def _measure(self, state: State) -> Outcome | None:
        if not any(state):
            return self.before
        if state not in self.outcomes and len(self.outcomes) < self._most:
            self.outcomes[state] = self._tables.measure(state, self.levels)
        return self.outcomes.get(state)

    def _singles(self) -> Iterator[State]:
        """Every column changed alone, the first levels of all columns before the second ones."""
        nothing = (0,) * len(self.levels)
        for level in range(1, max(map(len, self.levels))):
            for column, levels in enumerate(self.levels):
                if level < len(levels):
                    yield _with_level(nothing, column, level)

    def _coarsen_together(self) -> Outcome:
        """All columns coarser at once, then half of them left out, and so on: the best of these."""
        coarsest = [
            max(at for at, level in enumerate(levels) if level.codes is not None)
            for levels in self.levels
        ]
        states = [tuple(min(h, c) for c in coarsest) for h in range(1, max(coarsest) + 1)]
        # Columns with many values first: they tell people apart.
        many = sorted(self._columns, key=lambda c: (-self.levels[c][0].values, c))
        kept = len(many)
        while kept > 1:
            kept //= 2
            out = many[:-kept]
            states.append(
                tuple(len(self.levels[c]) - 1 if c in out else coarsest[c] for c in self._columns)
            )
        best = self.before
        for state in states:
            outcome = self._measure(state)
            if outcome is not None and outcome.limits_met > best.limits_met:
                best = outcome
            if best.limits_met >= self._goal:
                break
        return best

    def _climb(self) -> Outcome:
        """Step by step the change that brings most for the detail lost, until limits are met."""
        current, promise = self.before, dict.fromkeys(self._columns, math.inf)
        while current.limits_met < self._goal:
            steps = []
            columns = [c for c in promise if current.state[c] + 1 < len(self.levels[c])]
            for column in sorted(columns, key=lambda c: (-promise[c], c))[:TRIED]:
                step = self._measure(_with_level(current.state, column, current.state[column] + 1))
                if step is None:
                    del promise[column]
                else:
                    promise[column] = self._gain(current, step)
                    steps.append((promise[column], -step.loss, -column, step))
            if not steps:
                if not columns or len(self.outcomes) >= self._most:
                    break
                continue
            current = max(steps, key=lambda step: step[:3])[3]
        return current

    def _take_back(self, current: Outcome) -> None:
        """Undo every change, wholly or by a level, without which as many limits are met."""
        columns = sorted(self._columns, key=lambda c: (-self.levels[c][current.state[c]].loss, c))
        for column in columns:
            for level in range(current.state[column]):
                less = self._measure(_with_level(current.state, column, level))
                if less is not None and less.limits_met >= current.limits_met:
                    current = less
                    break

    def _gain(self, current: Outcome, step: Outcome) -> float:
        return (self._shortfall(current) - self._shortfall(step)) / (step.loss - current.loss)

    def _shortfall(self, outcome: Outcome) -> float:
        """How far the limits are from being met, and how many are alone, against the table as is.

        Every breached limit counts 1 in the table as it is.
        """
        far = [
            _excess(now) / excess if (excess := _excess(was)) else float(now.met is not True)
            for was, now in zip(self.before.verdicts, outcome.verdicts, strict=True)
        ]
        return math.fsum(far) + outcome.alone / max(1, self.before.alone)


def _excess(verdict: Verdict) -> float:
    """By how much a limit is breached; 1 where there is no number."""
    if verdict.met is True:
        return 0.0
    if verdict.value is None:
        return 1.0
    over = 0.0 if verdict.max is None else verdict.value - verdict.max
    return max(over, 0.0 if verdict.min is None else verdict.min - verdict.value) or 1.0


def _with_level(state: State, column: int, level: int) -> State:
    return (*state[:column], level, *state[column + 1 :])


def choose_outcomes(before: Outcome, outcomes: Iterable[Outcome]) -> list[Outcome]:
    """The best single change, a stronger one, and the least lossy that meets the most limits."""
    better = [o for o in outcomes if (o.limits_met, -o.alone) > (before.limits_met, -before.alone)]
    if not better:
        return []
    best = min(better, key=lambda o: (-o.limits_met, o.loss, o.alone, o.state))
    singles = [o for o in better if o.changes == 1]
    first = min(singles, key=lambda o: (-o.limits_met, o.alone, o.loss, o.state), default=best)
    between = [
        o
        for o in better
        if first.limits_met < o.limits_met < best.limits_met and 3 * o.loss <= 2 * best.loss
    ]
    middle = min(between, key=lambda o: (-o.limits_met, o.loss, o.alone, o.state), default=best)
    chosen = list({o.state: o for o in (first, middle, best)}.values())
    return [o for o in chosen if not any(_dominates(other, o) for other in chosen)]


def _dominates(one: Outcome, other: Outcome) -> bool:
    """Whether one is as good as another in every way, and better in some."""
    a, b = ((o.limits_met, -o.alone, -o.loss, -o.changes) for o in (one, other))
    return a != b and all(x >= y for x, y in zip(a, b, strict=True))
