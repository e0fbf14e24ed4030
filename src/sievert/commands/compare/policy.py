"""A policy held against each table of a comparison: the original and every release.

The measures that limits are on are computed besides those that are always compared. A release may
lack a secret, and a measure may lack what it needs: such limits are undecided, and that is said.
What would be a mistake in an assessment is one here.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from sievert.commands._common import RequestedRoles
from sievert.commands._measuring import MeasureSettings, measure_table
from sievert.commands.compare.result import Assessed
from sievert.counts.cells import Suppression
from sievert.counts.questions import Questions
from sievert.errors import InputError, UsageError
from sievert.measures import BY_ID
from sievert.policy import Judgement, MeasureLimit, Policy, Verdict, judge
from sievert.policy.judgement import NEEDS, verdict_remarks
from sievert.roles import Roles
from sievert.session import Clock
from sievert.sources.table import Table

NOT_RELEASED = "the release does not have this column"
NOT_PLACED = "values of the release have no place in the order or hierarchy"


class Judging:
    """A policy, if there is one, and what measures need to be held against its limits."""

    def __init__(
        self,
        requested: RequestedRoles,
        hierarchies: Mapping[str, Any],
        missing: str,
        codes: Collection[str],
    ) -> None:
        self.requested, self.policy, self.missing = requested, requested.policy, missing
        self.codes = codes  # for missing
        # as an assessment with this policy would have them
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
        """The measures of one table: those that are always compared, and those of the limits."""
        if self.policy is None:
            return Assessed(*measure_table(questions, roles, beside, clock))
        settings = replace(self.settings, orders={**table.orders, **self.settings.orders})
        limited = [measure for _, measure, _ in self.policy.every_limit()]
        ids = tuple(dict.fromkeys((*beside, *limited)))
        placed = [i for i in ids if BY_ID[i].needs & {"order", "hierarchy"}]
        try:
            return Assessed(*measure_table(questions, roles, ids, clock, settings, limited))
        except (InputError, UsageError):
            if not placed or original:  # of the original it is a mistake
                raise
        records, inference, best = measure_table(
            questions, roles, [i for i in ids if i not in placed], clock, settings, limited
        )
        for secret in roles.sensitive:
            for name in placed:
                one = Roles(roles.quasi, (secret,))
                with suppress(InputError, UsageError):
                    _, values, _ = measure_table(questions, one, (name,), clock, settings)
                    inference[secret].update(values[secret])
        return Assessed(records, inference, best)

    def judge(
        self,
        name: str | None,
        assessed: Assessed,
        roles: Roles,
        columns: Sequence[str],
        suppression: Suppression,
        *,
        paired: bool = True,
    ) -> tuple[Judgement | None, list[str]]:
        """Hold the policy against one table with these columns; the roles are the original's.

        Returns the judgement, None without a policy, and what is to be said of it.
        """
        gate = self.requested.gate(
            columns, roles, self.missing, suppression=suppression, codes=self.codes
        )
        if self.policy is None or gate is None:
            return None, []
        if not paired:
            gate.undecided("pairing_unknown")
        if replaced := self.settings.replaced(self.policy, roles.sensitive):
            gate.not_met("settings_replaced", replaced)
        limits = list(_placed_limits(self.policy, roles.sensitive))
        lacking = {
            (secret, measure): self._reason_missing(assessed, secret, measure)
            for secret, measure, _ in limits
            if measure not in _values(assessed, secret)
        }
        if limits and all(lacking.get((s, m)) in NEEDS.values() for s, m, _ in limits):
            secret, measure, _ = limits[0]  # no limit says anything about the table: a mistake
            whose, why = "the original" if name is None else repr(name), lacking[secret, measure]
            raise UsageError(
                f"{whose}: no limit of the policy can be evaluated; {measure}: {why}",
                hint="give what it needs (--type, an order, a hierarchy, a partition), or drop the "
                "limit",
            )
        verdicts, _ = judge(
            _evaluable(self.policy, assessed, roles.sensitive, lacking),
            assessed.reidentification,
            assessed.inference,
            assessed.best,
        )
        judged = {(v.where, v.measure): v for v in verdicts}
        whole = [
            Verdict(m, _place(s), limit.min, limit.max, None, None, lacking[s, m])
            if (s, m) in lacking
            else judged[_place(s), m]
            for s, m, limit in limits
        ]
        doubts = verdict_remarks(
            [v for v, (s, m, _) in zip(whole, limits, strict=True) if (s, m) not in lacking]
        )
        doubts += [
            f"the limit on {measure} ({(secret or '')!r}) was not evaluated: {why}"
            for (secret, measure), why in lacking.items()
            if why != NOT_RELEASED
        ]
        doubts += [
            f"the limits on {(secret or '')!r} were not evaluated: {NOT_RELEASED}"
            for secret in dict.fromkeys(s for (s, _), why in lacking.items() if why == NOT_RELEASED)
        ]
        return gate.judge(whole), doubts

    def _reason_missing(self, assessed: Assessed, secret: str | None, measure: str) -> str:
        """Why a number is not there."""
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


def gather_remarks(remarks: Mapping[str | None, Sequence[str]]) -> list[str]:
    """Remarks by table, None the original: those on every table once, others with its name."""
    every = dict.fromkeys(note for notes in remarks.values() for note in notes)
    common = [n for n in every if all(n in notes for notes in remarks.values())]
    return [
        *common,
        *(
            type(note)(f"{'the original' if name is None else repr(name)}: {note}")
            for name, notes in remarks.items()
            for note in notes
            if note not in common
        ),
    ]


def _place(secret: str | None) -> str:
    return "reidentification" if secret is None else f"inference.{secret}"


def _values(assessed: Assessed, secret: str | None) -> Mapping[str, Any]:
    """The numbers of a table that a limit speaks of."""
    return assessed.reidentification if secret is None else assessed.inference.get(secret, {})


def _placed_limits(
    policy: Policy, secrets: Sequence[str]
) -> Iterator[tuple[str | None, str, MeasureLimit]]:
    """Every limit at every place where its measure makes sense, in the order of an assessment."""
    for secret in (None, *secrets):
        kind = "record" if secret is None else "secret"
        narrower = policy.reidentification if secret is None else policy.inference.get(secret, {})
        yield from (
            (secret, measure, limit)
            for measure, limit in {**policy.everywhere, **narrower}.items()
            if kind in BY_ID[measure].kinds
        )


def _evaluable(
    policy: Policy,
    assessed: Assessed,
    secrets: Sequence[str],
    lacking: Mapping[tuple[str | None, str], str],
) -> Policy:
    """The policy without limits on numbers that are not there; mistakes are left in it."""

    def there(secret: str | None, limits: Mapping[str, MeasureLimit]) -> dict[str, MeasureLimit]:
        return {m: limit for m, limit in limits.items() if (secret, m) not in lacking}

    present = set(assessed.reidentification).union(*assessed.inference.values())
    absent = {measure for _, measure in lacking} - present
    gone = set(secrets) - set(assessed.inference)
    return policy.model_copy(
        update={
            "everywhere": {m: x for m, x in policy.everywhere.items() if m not in absent},
            "reidentification": there(None, policy.reidentification),
            "inference": {s: there(s, x) for s, x in policy.inference.items() if s not in gone},
        }
    )
