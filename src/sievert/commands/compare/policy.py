"""The judgement of each table of a comparison by a policy: the original and every release.

Limited measures are computed besides those of every comparison. A release may lack a secret,
and a measure may lack what it needs: such limits are undecided, with a remark. What would be a
mistake in an assessment is a mistake here, too.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from sievert.checks.kept_columns import judge_kept, measure_with_kept
from sievert.checks.other_tables import judge_other_tables
from sievert.checks.row_order import RowOrder, judge_order
from sievert.checks.spellings import (
    compare_spellings,
    more_certain,
    suppressed_with_merged,
    with_merged,
)
from sievert.commands.compare.result import Assessed
from sievert.counts.questions import Questions
from sievert.errors import InputError, UsageError
from sievert.formatting.remarks import Remark
from sievert.measurement.table_measures import (
    NOT_PLACED,
    MeasuredTable,
    MeasureSettings,
    measure_table,
)
from sievert.measures import BY_ID
from sievert.policy import (
    Judgement,
    MeasureLimit,
    Policy,
    Verdict,
    judge,
    judge_suppressed,
)
from sievert.policy.judgement import NEEDS, unlimited_secrets, verdict_remarks
from sievert.request.repeated_rows import judge_weight
from sievert.request.requested import RequestedRoles
from sievert.roles import Roles
from sievert.session import Clock
from sievert.sources.table import Table

NOT_RELEASED = Remark("not_released")


class Judging:
    """A policy, if there is one, and the settings of the measures that it limits."""

    def __init__(
        self,
        requested: RequestedRoles,
        hierarchies: Mapping[str, Any],
        missing: str,
        codes: Collection[str],
    ) -> None:
        self.requested = requested
        self.policy = requested.policy
        self.missing = missing
        self.codes = codes  # for missing values
        # the settings of an assessment with this policy
        self.settings = MeasureSettings(hierarchies).with_policy(self.policy)

    def assess(
        self,
        beside: Sequence[str],
        table: Table,
        questions: Questions,
        roles: Roles,
        clock: Clock,
        *,
        original: bool = False,
    ) -> Assessed:
        """Measure one table: what is always compared (`beside`), and what the policy limits.

        Under a policy, secrets are also measured with all their spellings merged.
        """
        roles = self._with_kept(roles, questions.columns)
        assessed = self._measure(beside, table, questions, roles, clock, original=original)
        respelt = compare_spellings(questions, roles, self.policy)
        assessed = replace(assessed, respelt=respelt)
        secrets = {*respelt.columns} & {*roles.sensitive}
        if self.policy is None or not secrets:
            return assessed
        named = self.settings.named_values(roles.sensitive)
        columns = (*roles.measured_columns, *roles.knowable)
        merged = respelt.merge(questions, columns, named)
        if merged is None:
            return assessed
        other = self._measure(beside, table, merged, roles, clock, original=original)
        return replace(
            assessed,
            reidentification=with_merged(assessed.reidentification, other.reidentification),
            inference={
                secret: with_merged(own, other.inference.get(secret, {}))
                for secret, own in assessed.inference.items()
            },
            suppressed=suppressed_with_merged(assessed.suppressed, other.suppressed),
            certain=more_certain(assessed.certain, other.certain),
        )

    def _measure(
        self,
        beside: Sequence[str],
        table: Table,
        questions: Questions,
        roles: Roles,
        clock: Clock,
        *,
        original: bool,
    ) -> Assessed:
        """Measure one table, with its values as they are spelt."""
        if self.policy is None:
            return _to_assessed(measure_table(questions, roles, beside, clock))
        settings = replace(self.settings, orders={**table.orders, **self.settings.orders})
        limited = [measure for _, measure, _ in self.policy.every_limit()]
        unlimited = unlimited_secrets(self.policy, roles.sensitive)
        ids = tuple(dict.fromkeys((*beside, *limited)))
        placed = [i for i in ids if BY_ID[i].needs & {"order", "hierarchy"}]
        try:
            numbers = measure_table(questions, roles, ids, clock, settings, limited, unlimited)
            return _to_assessed(numbers)
        except (InputError, UsageError):
            if not placed or original:  # it is a mistake in the original
                raise
        others = [i for i in ids if i not in placed]
        numbers = measure_table(questions, roles, others, clock, settings, limited, unlimited)
        for secret in roles.sensitive:
            for name in placed:
                one = Roles(quasi=roles.quasi, sensitive=(secret,))
                with suppress(InputError, UsageError):
                    alone = measure_table(questions, one, (name,), clock, settings, [name])
                    numbers.inference[secret].update(alone.inference[secret])
                    of_suppressed = alone.suppressed[1].get(secret, {})
                    numbers.suppressed[1].get(secret, {}).update(of_suppressed)
        return _to_assessed(numbers)

    def judge(
        self,
        name: str | None,
        assessed: Assessed,
        roles: Roles,
        questions: Questions,
        order: RowOrder,
        *,
        paired: bool = True,
    ) -> tuple[Judgement | None, list[Remark]]:
        """Judge one table by the policy; return the judgement, None without a policy, and remarks.

        `roles` are the roles of the original, and `order` is about the rows of the table.
        """
        if self.policy is None:
            return None, [*assessed.respelt.cautions]
        columns = questions.columns
        roles = self._with_kept(roles, columns)
        gate = self.requested.gate(
            columns, roles, self.missing, suppression=questions.suppression, codes=self.codes
        )
        assert gate is not None
        gate.certain = dict(assessed.certain)
        judge_kept(gate, questions, roles, None, wild=False)
        judge_weight(gate, questions, roles.weight)
        here = replace(roles, quasi=tuple(c for c in roles.quasi if c in columns))
        reidentification = measure_with_kept(
            questions, here, self.settings, assessed.reidentification
        )
        assessed.respelt.doubt(gate)
        if not paired:
            gate.undecided("pairing_unknown")
        judge_order(gate, order)
        judge_other_tables(gate, questions)
        replaced = self.settings.replaced(self.policy, roles.sensitive)
        if replaced:
            gate.not_met("settings_replaced", replaced)
        limits = list(_placed_limits(self.policy, roles.sensitive))
        lacking = {
            (secret, measure): self._reason_missing(assessed, secret, measure)
            for secret, measure, _ in limits
            if measure not in _values(assessed, secret)
        }
        if limits and all(lacking.get((s, m)) in NEEDS.values() for s, m, _ in limits):
            secret, measure, _ = limits[0]  # no limit says anything about the table: a mistake
            whose = "the original" if name is None else repr(name)
            why = lacking[secret, measure]
            raise UsageError(
                f"{whose}: no limit of the policy can be evaluated; {measure}: {why}",
                hint="give what it needs (--type, an order, a hierarchy, a partition), or drop the "
                "limit",
            )
        verdicts, _ = judge(
            _drop_lacking(self.policy, assessed, roles.sensitive, lacking),
            reidentification,
            assessed.inference,
            assessed.best,
        )
        judged = {(v.where, v.measure): v for v in verdicts}
        whole = []
        evaluated = []
        for secret, measure, limit in limits:
            if (secret, measure) in lacking:
                verdict = Verdict(
                    measure=measure,
                    where=_place(secret),
                    min=limit.min,
                    max=limit.max,
                    value=None,
                    met=None,
                    reason=lacking[secret, measure],
                )
            else:
                verdict = judged[_place(secret), measure]
                evaluated.append(verdict)
            whole.append(verdict)
        doubts = verdict_remarks(evaluated)
        doubts += [
            Remark("not_evaluated", measure=measure, where=repr(secret or ""), why=why)
            for (secret, measure), why in lacking.items()
            if why != NOT_RELEASED
        ]
        doubts += [
            Remark("not_evaluated_all", column=repr(secret or ""), why=NOT_RELEASED)
            for secret in dict.fromkeys(s for (s, _), why in lacking.items() if why == NOT_RELEASED)
        ]
        lines = judge_suppressed(self.policy, *assessed.suppressed)
        doubts += [*verdict_remarks(lines), *assessed.respelt.cautions]
        return gate.judge([*whole, *lines]), doubts

    def _with_kept(self, roles: Roles, columns: Sequence[str]) -> Roles:
        """Add the kept columns of one table to the roles: a release may have a key of its own."""
        if self.policy is None:
            return roles
        own = self.policy.roles.kept
        others = roles.every_column - {*roles.kept}
        kept = {c: own[c].reason for c in own if c in columns and c not in others}
        unknowable = tuple(c for c in kept if own[c].outsiders_cannot_know)
        return replace(roles, kept=kept, unknowable=unknowable)

    def _reason_missing(self, assessed: Assessed, secret: str | None, measure: str) -> Remark:
        """Say why a number is missing."""
        if secret is None:
            return NEEDS["population"]
        if secret not in assessed.inference:
            return NOT_RELEASED
        given: dict[str, Mapping[str, Any]] = {
            "order": self.settings.orders,
            "hierarchy": self.settings.hierarchies,
            "parts": self.settings.partitions,
        }
        need = next(n for n in NEEDS if n in BY_ID[measure].needs)
        return NOT_PLACED if secret in given[need] else NEEDS[need]


def _to_assessed(table: MeasuredTable) -> Assessed:
    """Put the measures of a table into the record of a comparison."""
    return Assessed(
        reidentification=table.reidentification,
        inference=table.inference,
        best=table.best,
        suppressed=table.suppressed,
        certain=table.certain,
    )


def gather_remarks(remarks: Mapping[str | None, Sequence[Remark]]) -> list[Remark]:
    """List the remarks on all tables once, and the others with the name of their table.

    `remarks` are by the name of the table, None for the original.
    """
    different = dict.fromkeys(note for notes in remarks.values() for note in notes)
    common = [n for n in different if all(n in notes for notes in remarks.values())]
    of_one = []
    for name, notes in remarks.items():
        of_one += [_remark_on(name, note) for note in notes if note not in common]
    return [*common, *of_one]


def _remark_on(table: str | None, note: Remark) -> Remark:
    """Put the name of a table before a remark; None is the original."""
    if table is None:
        return type(note)("the_original", what=note)
    return type(note)("of_table", name=repr(table), what=note)


def _place(secret: str | None) -> str:
    """Name the place of limits on a secret, or on re-identification."""
    return "reidentification" if secret is None else f"inference.{secret}"


def _values(assessed: Assessed, secret: str | None) -> Mapping[str, Any]:
    """The numbers of a table on a secret, or on re-identification."""
    if secret is None:
        return assessed.reidentification
    return assessed.inference.get(secret, {})


def _placed_limits(
    policy: Policy, secrets: Sequence[str]
) -> Iterator[tuple[str | None, str, MeasureLimit]]:
    """Yield every limit at every place where its measure is defined, as an assessment does."""
    for secret in (None, *secrets):
        kind = "record" if secret is None else "secret"
        narrower = policy.reidentification if secret is None else policy.inference.get(secret, {})
        for measure, limit in {**policy.everywhere, **narrower}.items():
            if kind in BY_ID[measure].kinds:
                yield secret, measure, limit


def _drop_lacking(
    policy: Policy,
    assessed: Assessed,
    secrets: Sequence[str],
    lacking: Mapping[tuple[str | None, str], str],
) -> Policy:
    """Remove limits on missing numbers from the policy, unless such a limit is a mistake."""

    def keep(secret: str | None, limits: Mapping[str, MeasureLimit]) -> dict[str, MeasureLimit]:
        return {m: limit for m, limit in limits.items() if (secret, m) not in lacking}

    present = set(assessed.reidentification).union(*assessed.inference.values())
    absent = {measure for _, measure in lacking} - present
    gone = set(secrets) - set(assessed.inference)
    return policy.model_copy(
        update={
            "everywhere": {m: x for m, x in policy.everywhere.items() if m not in absent},
            "reidentification": keep(None, policy.reidentification),
            "inference": {s: keep(s, x) for s, x in policy.inference.items() if s not in gone},
        }
    )
