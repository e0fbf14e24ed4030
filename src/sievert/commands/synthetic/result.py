"""The result of `sievert synthetic`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sievert.commands.synthetic.attacks.attacks import SyntheticAttacks
from sievert.commands.synthetic.attacks.evidence import SyntheticAttack
from sievert.commands.synthetic.losses import LossNumbers, SavedLoss, UnpairedLoss
from sievert.policy import Judgement
from sievert.result import Result

ALARM = 0.05  # of all headline tests together


def alarms_of(results: SyntheticAttacks) -> list[str]:
    """List the headline tests that say more than chance, all of them being looked at."""
    return [name for name, p in results.adjusted.items() if p < ALARM]


@dataclass(frozen=True, kw_only=True)
class AttackedTable:
    """One synthetic table: what it is, and what every attack found."""

    name: str
    records: int
    columns: tuple[str, ...]  # that all tables share
    results: SyntheticAttacks
    policy: Judgement | None
    utility: UnpairedLoss | SavedLoss
    chance: UnpairedLoss | SavedLoss | None  # of the control, which is as far by chance alone
    stated_alarms: tuple[str, ...] | None = None  # of a table that was read back from JSON

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "AttackedTable":
        """Read a table back from the JSON, with the alarms that it states."""
        utility = {key: entry for key, entry in data["utility"].items() if key != "control"}
        chance = data["utility"]["control"]
        policy = data["policy"]
        return cls(
            name=data["name"],
            records=data["rows"],
            columns=tuple(data["columns"]),
            results=SyntheticAttacks.from_dict(data["attacks"], data.get("every", 1)),
            policy=None if policy is None else Judgement.from_dict(policy),
            utility=SavedLoss(content=utility),
            chance=None if chance is None else SavedLoss(content=chance),
            stated_alarms=tuple(data["alarms"]),
        )

    @cached_property
    def lost(self) -> LossNumbers:
        """What the table has lost."""
        return LossNumbers.from_dict(self.utility.to_dict())

    @cached_property
    def lost_by_chance(self) -> LossNumbers | None:
        """What the control differs by; None without one."""
        return None if self.chance is None else LossNumbers.from_dict(self.chance.to_dict())

    @property
    def every_attack(self) -> Iterator[tuple[str, str | None, SyntheticAttack]]:
        """Each attack with its name, and the secret that it is about, if there is one."""
        results = self.results
        yield from ((name, None, attack) for name, attack in results.attacks.items())
        for name, each in results.on_secrets.items():
            yield from ((name, secret, attack) for secret, attack in each.items())

    @property
    def alarms(self) -> list[str]:
        """The headline tests that say more than chance, all of them being looked at."""
        if self.stated_alarms is not None:
            return list(self.stated_alarms)
        return alarms_of(self.results)

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON."""
        results = self.results
        return {
            "name": self.name,
            "rows": self.records,
            "columns": list(self.columns),
            "every": results.every,
            "attacks": results.to_dict(),
            "adjusted": dict(results.adjusted),
            "alarms": self.alarms,
            "utility": {
                **self.utility.to_dict(),
                "control": None if self.chance is None else self.chance.to_dict(),
            },
            "policy": self._policy_dict(),
        }

    def _policy_dict(self) -> dict[str, Any] | None:
        """The verdict with the alarms beside it: limits may be met, and traces be found."""
        return None if self.policy is None else {**self.policy.to_dict(), "alarms": self.alarms}


@dataclass(frozen=True, repr=False)
class SyntheticAssessment(Result):
    """How much synthetic tables say of the people in the original, attack by attack."""

    tables: Sequence[AttackedTable]  # one for each synthetic table
    control: Mapping[str, Any] | None  # as it was read
    settings: Mapping[str, Any]  # the choices of the attacks

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "SyntheticAssessment":
        """Read the attacks on synthetic tables back from the JSON."""
        return cls(
            **cls.saved_fields(data),
            tables=tuple(AttackedTable.from_dict(entry) for entry in data["synthetic"]),
            control=data["control"],
            settings=data.get("settings") or {},
        )

    @property
    def control_people(self) -> int | None:
        """The number of people in the control group; None without one."""
        return None if self.control is None else int(self.control["rows"])

    @property
    def met(self) -> bool | None:
        """Whether every synthetic table meets the policy; None without one, or if undecided."""
        states = {t.policy.met for t in self.tables if t.policy is not None}
        return False if False in states else None if None in states or not states else True

    @property
    def passed(self) -> bool:
        """Whether nothing stands against the tables: there is no policy, or all meet it."""
        return all(t.policy is None or t.policy.met is True for t in self.tables)

    def _content(self) -> dict[str, Any]:
        tables = [table.to_dict() for table in self.tables]
        # One verdict for all: that of a table that does not meet the policy, if there is one.
        worst = next((t for t in self.tables if t.policy and t.policy.met is not True), None)
        worst = next((t for t in self.tables if t.policy and t.policy.met is False), worst)
        worst = worst or next((t for t in self.tables if t.alarms), self.tables[0])
        return {
            "synthetic": tables,
            "attacks": tables[0]["attacks"],
            "control": None if self.control is None else dict(self.control),
            "settings": dict(self.settings),
            "policy": worst.to_dict()["policy"],
        }

    def _rows(self) -> Iterator[dict[str, Any]]:
        return (
            {
                "table": table.name,
                "attack": name,
                "secret": secret,
                "people": attack.original.people,
                "rate": attack.original.rate,
                "control": None if attack.control is None else attack.control.rate,
                "baseline": attack.baseline,
                "risk": attack.risk,
                "low": attack.low,
                "high": attack.high,
                "p": attack.p,
                "least_excess": attack.least_excess,
            }
            for table in self.tables
            for name, secret, attack in table.every_attack
        )
