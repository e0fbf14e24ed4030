"""What would help: the options of an assessment that is held against a policy."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from sievert.commands._combinations import CombinationCounts, PeopleCombinations
from sievert.commands._measuring import TableMeasures, most_cells
from sievert.commands._release_problem import (
    ProtectionProblem,
    SearchSettings,
    assign_hierarchies,
    limit_share_suppressed,
    share_to_suppress,
)
from sievert.commands.assess import result
from sievert.commands.assess.recoding_search import (
    ALONE,
    LEFT_OUT,
    Level,
    Outcome,
    RecodedTables,
    RecodingSearch,
    choose_outcomes,
    find_levels,
)
from sievert.commands.assess.result import ChangeOption, ChangeOptions, ColumnChange
from sievert.counts.recoded import type_order
from sievert.errors import SievertError
from sievert.hierarchies import describe_level
from sievert.measures import BY_ID
from sievert.measures.measure import Value
from sievert.methods.full_domain import FullDomainRecoding
from sievert.policy import Gate, Judgement
from sievert.roles import check_secrets

MOST_CELLS = 100_000  # combinations, of all secrets together, that are fetched
MOST_RECORDS = 1 << 28  # products of two counts fit 64 bits
RELEASE_WORK = 20_000_000  # cells that the search for a release scans
WORK = 2_700_000  # cells that are measured, those of all changed tables together
FIXED = 3_000  # cells whose measuring takes as long as what every changed table costs


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
    ) -> tuple[ChangeOptions, list[str]]:
        """Ways to change the table, and notes on hierarchies; few combinations are counted.

        Missing values may be `wildcards`, and columns may be such that can be left out.
        """
        alone = self.numbers[ALONE].details.get("records") if ALONE in self.numbers else None
        before = ChangeOption((), self.judgement.met, self.judgement.verdicts, alone, 0.0)
        if (reason := self._obstacle(wildcards)) is not None:
            return ChangeOptions(before, reason=reason), []
        self.measures.clock("searching options", self.measures.questions)
        combinations, roles = count(), self.measures.roles
        if not self._have_order(combinations):
            return ChangeOptions(before, reason=result.NO_ORDER), []
        levels, notes = find_levels(
            combinations,
            self.measures.settings.hierarchies,
            {*roles.sensitive, roles.person},
            self.measures.questions.suppression.mark,
            leave_out=leave_out,
        )
        tables = RecodedTables(self.measures, self.gate.policy, combinations)
        start = Outcome((0,) * len(levels), before.verdicts, alone or 0, 0.0)
        if alone is None and (unchanged := tables.measure(start.state, levels)) is not None:
            start = replace(start, alone=unchanged.alone)
            before = replace(before, alone=unchanged.alone)
        search = RecodingSearch(tables, levels, start, WORK // _cost(combinations))
        ways = tuple(
            ChangeOption(
                _changes(outcome, combinations.quasi, levels),
                self.gate.judge(outcome.verdicts).met,
                outcome.verdicts,
                outcome.alone,
                outcome.loss,
            )
            for outcome in choose_outcomes(start, search.run())
        )
        if (release := self._release(combinations)) is not None:
            less = [way for way in ways if way.detail_lost < release.detail_lost]
            ways = (*less[:2], release)
        reason = None if ways else result.NOTHING_HELPS
        return ChangeOptions(before, ways, len(search.outcomes), reason), notes

    def _release(self, combinations: CombinationCounts) -> ChangeOption | None:
        """The release that `sievert protect` makes for the policy, if it can make one."""
        if self.released is None or self.released.reasons or not self.judgement.verdicts:
            return None
        roles, own = self.measures.roles, self.released.policy
        if own.protect.how not in (None, "full"):
            return None
        share = share_to_suppress(own, combinations.records)
        policy = limit_share_suppressed(own, share, combinations.records, [])
        given = self.measures.settings
        try:
            check_secrets(roles, roles.sensitive)
            classes, trees_given = combinations.classes, given.hierarchies
            trees, sources = assign_hierarchies(classes, roles, trees_given, [])
            problem = ProtectionProblem(
                self.measures.questions,
                roles,
                combinations,
                given,
                trees,
                SearchSettings(share),
            )
            recoding = problem.search(policy).run(
                lambda recoding: problem.meets(recoding, policy), cells=RELEASE_WORK
            )
        except SievertError:  # what protect refuses, with its reason
            return None
        if recoding is None or all(
            len(column.labels[level]) == 1
            for column, level in zip(recoding.columns, recoding.levels, strict=True)
        ):
            return None  # somebody always knows something
        own_limits = {(v.measure, v.where) for v in self.judgement.verdicts}
        every = problem.verdicts(recoding, policy)
        verdicts = tuple(v for v in every if (v.measure, v.where) in own_limits)
        self.released.suppressed_records = recoding.suppressed_records
        return ChangeOption(
            _level_changes(recoding, roles.quasi, sources),
            self.released.judge(verdicts).met,
            verdicts,
            problem.unique_records(recoding),
            recoding.losses.arithmetic,
            recoding.suppressed_records,
            dict(zip(roles.quasi, recoding.levels, strict=True)),
        )

    def _obstacle(self, wildcards: bool) -> str | None:
        """Why no changed table is measured, if so."""
        questions = self.measures.questions
        if all(v.met for v in self.judgement.verdicts):
            return result.EVERY_LIMIT_MET
        if wildcards:
            return result.WILDCARDS
        if most_cells(self.measures) > MOST_CELLS or questions.records > MOST_RECORDS:
            return result.TOO_MANY
        return None

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


def _cost(combinations: CombinationCounts) -> int:
    """What it takes to measure one changed table, in cells."""
    cells = sum(FIXED + len(cube.counts) for cube in combinations.cubes)
    return 2 * cells if isinstance(combinations, PeopleCombinations) else cells


def _level_changes(
    recoding: FullDomainRecoding, quasi: Sequence[str], sources: Mapping[str, str]
) -> tuple[ColumnChange, ...]:
    """The columns that a release makes coarser, in words."""
    changes = []
    for name, column, level in zip(quasi, recoding.columns, recoding.levels, strict=True):
        values = len(column.labels[level])
        if level and values == 1:
            changes.append(ColumnChange(name, LEFT_OUT, 0))
        elif level:
            how = describe_level(sources[name], level, column.levels - 1)
            changes.append(ColumnChange(name, how, values))
    return tuple(changes)


def _changes(
    outcome: Outcome, quasi: Sequence[str], levels: Sequence[Sequence[Level]]
) -> tuple[ColumnChange, ...]:
    """The changes in words, in the order of the quasi-identifiers."""
    return tuple(
        ColumnChange(column, each[at].how, each[at].values)
        for column, each, at in zip(quasi, levels, outcome.state, strict=True)
        if at
    )
