"""The limits of a policy held against each table of a comparison: the original and every release.

A comparison computes some measures only, and a release may lack a secret: such limits are not
evaluated, and that is said. What would be a mistake in an assessment is one here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sievert.measures import BY_ID
from sievert.notes import Name, Note

if TYPE_CHECKING:
    from sievert.comparing.found import Assessed
    from sievert.policy import Limit, Policy, Verdict

NOT_COMPARED = "a comparison does not compute it"
NOT_RELEASED = "the release does not have this column"

Remarks = Mapping[str | None, Sequence[Note]]  # by release; None is the original


@dataclass(frozen=True)
class Held:
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

    def __init__(self, policy: Policy | None) -> None:
        limits = policy and (policy.everywhere or policy.reidentification or policy.inference)
        self.policy = policy if limits else None
        self.held: dict[str | None, Held] = {}  # by release; None is the original
        self._doubts: dict[str | None, list[Note]] = {}
        self._computed: set[tuple[str, str]] = set()  # where, which measure, of the original

    def see(self, name: str | None, found: Assessed, secrets: Sequence[str]) -> None:
        """Hold the limits against one table; `secrets` are those of the original."""
        if self.policy is None:
            return
        from sievert.policy import Verdict, judge

        asked = list(_asked(self.policy, secrets))
        there = {(w, m) for w, m, _ in asked if m in _values(found, w)}
        self._computed |= there  # the original comes first
        lacking = {
            (w, m): NOT_RELEASED if (w, m) in self._computed else NOT_COMPARED
            for w, m, _ in asked
            if (w, m) not in there
        }
        policy = _evaluable(self.policy, found, secrets, lacking)
        verdicts, doubts = judge(policy, found.reidentification, found.inference)
        judged = {(v.where, v.measure): v for v in verdicts}
        self.held[name] = Held(
            tuple(
                judged.get((w, m)) or Verdict(m, w, limit.min, limit.max, None, None, lacking[w, m])
                for w, m, limit in asked
            )
        )
        self._doubts[name] = [*doubts, *_unevaluated(lacking)]

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


def _asked(policy: Policy, secrets: Sequence[str]) -> Iterator[tuple[str, str, Limit]]:
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

    def there(where: str, limits: Mapping[str, Limit]) -> dict[str, Limit]:
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


def _unevaluated(lacking: Mapping[tuple[str, str], str]) -> list[Note]:
    """Which limits say nothing here, and why."""
    found = []
    names = list(dict.fromkeys(m for (_, m), why in lacking.items() if why == NOT_COMPARED))
    if names:
        *first, last = names
        which = f"limits on {', '.join(first)} and {last} were" if first else f"limit on {last} was"
        them = "them" if first else "it"
        text = f"the {which} not evaluated, for a comparison does not compute {them}"
        found.append(Note(f"{text}: sievert assess does"))
    gone = dict.fromkeys(w for (w, _), why in lacking.items() if why == NOT_RELEASED)
    for where in gone:
        text = f"the limits on {{}} were not evaluated: {NOT_RELEASED}"
        found.append(Note(text, Name(where.partition(".")[2])))
    return found
