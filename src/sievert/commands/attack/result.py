"""The result of `sievert attack`: frozen, readable, complete."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sievert.attacks.attack import Attack
from sievert.attacks.reasoning.result import Beliefs, Reasoning
from sievert.commands._result import Result
from sievert.errors import UsageError
from sievert.roles import Roles
from sievert.version import __version__


@dataclass(frozen=True, repr=False)
class Attacks(Result):
    """What the attacks on one release have found."""

    table: Mapping[str, Any]
    roles: Roles
    attacks: Mapping[str, Mapping[str, Attack]]
    warnings: tuple[str, ...] = ()
    unassessed: tuple[str, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict, compare=False, repr=False)
    peaks: Mapping[str, int] = field(default_factory=dict, compare=False, repr=False)
    reasoning: Mapping[str, Reasoning] = field(default_factory=dict, compare=False, repr=False)

    def __getitem__(self, name: str) -> Mapping[str, Attack]:
        return self.attacks[name]

    @property
    def beliefs(self) -> Beliefs:
        """What attacker and learner believe of a victim, by the values that are known of it."""
        return self._reasoned().beliefs

    @property
    def population(self) -> Mapping[str, Any]:
        """What anybody learns of the population: of the secret, and of the key given the secret."""
        return self._reasoned().population

    def _reasoned(self) -> Reasoning:
        if len(self.reasoning) == 1:
            return next(iter(self.reasoning.values()))
        if self.reasoning:
            raise UsageError("there are several secrets", hint=".reasoning[SECRET]")
        raise UsageError("nobody has reasoned here", hint="sensitive='COLUMN'; .warnings say why")

    def to_dict(self) -> dict[str, Any]:
        """The JSON of the command line: stable, without timings."""
        return {
            "sievert": __version__,
            "table": dict(self.table),
            "roles": self.roles.to_dict(self.unassessed),
            "attacks": {
                name: {target: attack.to_dict() for target, attack in each.items()}
                for name, each in self.attacks.items()
            },
            **(self._reasoned().headlines if len(self.reasoning) == 1 else {}),
            "warnings": list(self.warnings),
        }

    def _rows(self) -> Iterator[dict[str, Any]]:
        for name, each in self.attacks.items():
            for target, attack in each.items():
                for v in attack.numbers.values():
                    yield {
                        "attack": name,
                        "target": target,
                        "number": v.id,
                        "value": v.value,
                        "unit": v.unit,
                        "riskier": v.riskier,
                        "reason": v.reason,
                    }

    def charts(self) -> dict[str, Any]:
        """Vega-Lite dicts by name: the attacks by column and by value, attacker against learner."""
        from sievert.charts import of_attacks, of_reasoning

        return of_attacks({"": self.attacks}) | of_reasoning(self.attacks.get("reasoning", {}))
