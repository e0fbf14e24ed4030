"""The limits of a policy held against each table of a comparison: the original and every release.

The measures that limits are on are computed besides those that are always compared. A release may
lack a secret, and a measure may lack what it needs: such limits are not evaluated, and that is
said. What would be a mistake in an assessment is one here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sievert.commands._measuring import MeasureSettings, measure_table, unused_settings
from sievert.commands.compare.disclosures import Assessed
from sievert.errors import InputError, UsageError
from sievert.measures import BY_ID
from sievert.notes import Name, Note
from sievert.roles import Roles

if TYPE_CHECKING:
    from sievert.commands._common import Clock
    from sievert.counts.questions import Questions
    from sievert.policy import MeasureLimit, Policy, Verdict
    from sievert.sources.table import Table

NOT_RELEASED = "the release does not have this column"
NOT_PLACED = "values of the release have no place in the order or hierarchy"
NEEDS = {
    "order": "it needs an order of the values",
    "hierarchy": "it needs a hierarchy of the values",
    "parts": "it needs a partition of the values",
}

Remarks = Mapping[str | None, Sequence[Note]]  # by release; None is the original


@dataclass(frozen=True)
class PolicyVerdicts:
    """Every limit held against one table."""

    verdicts: tuple[Verdict, ...]

    @property
    def met(self) -> bool:
        """Whether no limit is breached, as in an assessment."""
        return not self.breached

    @property
    def breached(self) -> int:
        """How many limits are breached."""
        return sum(v.met is False for v in self.verdicts)

    @property
    def doubtful(self) -> int:
        """How many limits were not evaluated."""
        return sum(v.met is None for v in self.verdicts)

    def to_dict(self) -> dict[str, Any]:
        """As it stands in the JSON."""
        return {"met": self.met, "limits": [v.to_dict() for v in self.verdicts]}


class Judging:
    """The limits of a policy, and what they were found to be of each table so far."""

    def __init__(self, policy: Policy | None, hierarchies: Mapping[str, Any] | None = None) -> None:
        limits = policy and (policy.everywhere or policy.reidentification or policy.inference)
        self.policy = policy if limits else None
        self.settings = MeasureSettings()  # as an assessment with this policy would have them
        if self.policy is not None:
            self.settings = MeasureSettings(hierarchies or {}).with_policy(self.policy)
        self.held: dict[str | None, PolicyVerdicts] = {}  # by release; None is the original
        self._doubts: dict[str | None, list[Note]] = {}

    def unused(self, roles: Roles, columns: Sequence[str]) -> list[Note]:
        """What the policy says of columns that are no secrets; hierarchies have other uses here."""
        return unused_settings(replace(self.settings, hierarchies={}), roles, columns)

    def assessed(
        self,
        beside: Sequence[str],
        table: Table,
        questions: Questions,
        roles: Roles,
        clock: Clock,
    ) -> Assessed:
        """The measures of one table: those that are always compared, and those of the limits."""
        if self.policy is None:
            return Assessed(*measure_table(questions, roles, beside, clock))
        orders = {**table.orders, **self.settings.orders}
        settings = replace(self.settings, orders=orders)
        ids = tuple(dict.fromkeys((*beside, *_named(self.policy))))
        placed = [i for i in ids if BY_ID[i].needs & {"order", "hierarchy"}]
        try:
            return Assessed(*measure_table(questions, roles, ids, clock, settings))
        except (InputError, UsageError):
            if not placed or not self.held:  # of the original it is a mistake
                raise
        plain = [i for i in ids if i not in placed]
        records, inference = measure_table(questions, roles, plain, clock, settings)
        for secret in roles.sensitive:
            for name in placed:
                one = Roles(roles.quasi, (secret,))
                with suppress(InputError, UsageError):
                    found = measure_table(questions, one, (name,), clock, settings)[1]
                    inference[secret].update(found[secret])
        return Assessed(records, inference)

    def see(self, name: str | None, found: Assessed, secrets: Sequence[str]) -> None:
        """Hold the limits against one table; `secrets` are those of the original."""
        if self.policy is None:
            return
        from sievert.policy import Verdict, judge

        asked = list(_asked(self.policy, secrets))
        lacking = {
            (w, m): self._why(found, w, m) for w, m, _ in asked if m not in _values(found, w)
        }
        if asked and all(lacking.get((w, m)) in NEEDS.values() for w, m, _ in asked):
            raise _nothing_to_hold(name, asked[0][1], lacking[asked[0][:2]])
        policy = _evaluable(self.policy, found, secrets, lacking)
        verdicts, doubts = judge(policy, found.reidentification, found.inference)
        judged = {(v.where, v.measure): v for v in verdicts}
        self.held[name] = PolicyVerdicts(
            tuple(
                judged.get((w, m)) or Verdict(m, w, limit.min, limit.max, None, None, lacking[w, m])
                for w, m, limit in asked
            )
        )
        self._doubts[name] = [*doubts, *_unevaluated(lacking)]

    def _why(self, found: Assessed, where: str, measure: str) -> str:
        """Why a number is not there."""
        _, _, secret = where.partition(".")
        if secret not in found.inference:
            return NOT_RELEASED
        given: dict[str, Mapping[str, Any]] = {
            "order": self.settings.orders,
            "hierarchy": self.settings.hierarchies,
            "parts": self.settings.partitions,
        }
        need = next(n for n in NEEDS if n in BY_ID[measure].needs)
        return NOT_PLACED if secret in given[need] else NEEDS[need]

    def told(self) -> list[Note]:
        """What is to be said of limits; what goes for every table only once."""
        return gathered(self._doubts)


def gathered(remarks: Remarks) -> list[Note]:
    """Remarks on tables: those on every one of them once, others with the name of the table."""
    every = dict.fromkeys(note for notes in remarks.values() for note in notes)
    common = [n for n in every if all(n in notes for notes in remarks.values())]
    return [
        *common,
        *(
            Note(f"the original: {note.template}", *note.parts)
            if name is None
            else Note(f"{{}}: {note.template}", Name(name), *note.parts)
            for name, notes in remarks.items()
            for note in notes
            if note not in common
        ),
    ]


def _values(found: Assessed, where: str) -> Mapping[str, Any]:
    """The numbers of a table that a limit speaks of."""
    _, _, secret = where.partition(".")
    return found.inference.get(secret, {}) if secret else found.reidentification


def _asked(policy: Policy, secrets: Sequence[str]) -> Iterator[tuple[str, str, MeasureLimit]]:
    """Every limit at every place where its measure makes sense, in the order of an assessment."""
    places = [("reidentification", "record", policy.reidentification)]
    places += [(f"inference.{s}", "secret", policy.inference.get(s, {})) for s in secrets]
    for where, kind, narrower in places:
        for measure, limit in {**policy.everywhere, **narrower}.items():
            if kind in BY_ID[measure].kinds:
                yield where, measure, limit


def _evaluable(
    policy: Policy, found: Assessed, secrets: Sequence[str], lacking: Mapping[tuple[str, str], str]
) -> Policy:
    """The policy without limits on numbers that are not there; mistakes are left in it."""

    def there(where: str, limits: Mapping[str, MeasureLimit]) -> dict[str, MeasureLimit]:
        return {m: limit for m, limit in limits.items() if (where, m) not in lacking}

    lacked = {measure for _, measure in lacking}
    held = set(found.reidentification).union(*found.inference.values())
    gone = set(secrets) - set(found.inference)
    return policy.model_copy(
        update={
            "everywhere": {m: x for m, x in policy.everywhere.items() if m not in lacked - held},
            "reidentification": there("reidentification", policy.reidentification),
            "inference": {
                s: there(f"inference.{s}", limits)
                for s, limits in policy.inference.items()
                if s not in gone
            },
        }
    )


def _named(policy: Policy) -> Iterator[str]:
    """The measures that limits are on."""
    for limits in (policy.everywhere, policy.reidentification, *policy.inference.values()):
        yield from limits


def _nothing_to_hold(name: str | None, measure: str, why: str) -> UsageError:
    """A policy of which no limit says anything about a table is a mistake."""
    whose = "the original" if name is None else repr(name)
    return UsageError(
        f"{whose}: no limit of the policy can be evaluated; {measure}: {why}",
        hint="give what it needs (--type, an order, a hierarchy, a partition), or drop the limit",
    )


def _unevaluated(lacking: Mapping[tuple[str, str], str]) -> list[Note]:
    """Which limits say nothing here, and why."""
    found = [
        Note(f"the limit on {measure} ({{}}) was not evaluated: {why}", _secret(where))
        for (where, measure), why in lacking.items()
        if why != NOT_RELEASED
    ]
    gone = dict.fromkeys(w for (w, _), why in lacking.items() if why == NOT_RELEASED)
    text = f"the limits on {{}} were not evaluated: {NOT_RELEASED}"
    return [*found, *(Note(text, _secret(where)) for where in gone)]


def _secret(where: str) -> Name:
    return Name(where.partition(".")[2])
