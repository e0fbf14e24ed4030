"""The result of `sievert attack`: frozen, readable, complete."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sievert.attacks.attack import Attack
from sievert.attacks.reasoning.result import Beliefs, Reasoning
from sievert.errors import require
from sievert.pairing.evidence import Pairing
from sievert.result import Result


@dataclass(frozen=True, repr=False)
class Attacks(Result):
    """What the attacks on one release have found."""

    attacks: Mapping[str, Mapping[str, Attack]]  # by attack, then by target
    reasoning: Mapping[str, Reasoning] = field(
        default_factory=dict, compare=False, repr=False
    )  # by secret
    pairing: Pairing | None = None  # of the release with the original

    def __getitem__(self, name: str) -> Mapping[str, Attack]:
        return self.attacks[name]

    @property
    def beliefs(self) -> Beliefs:
        """What attacker and learner believe of a victim, by the values that are known of it."""
        return self._only_reasoning.beliefs

    @property
    def population(self) -> Mapping[str, Any]:
        """What anybody learns of the population: of the secret, and of the key given the secret."""
        return self._only_reasoning.population

    @property
    def _only_reasoning(self) -> Reasoning:
        require(len(self.reasoning) <= 1, "there are several secrets", hint=".reasoning[SECRET]")
        require(
            self.reasoning,
            "nobody has reasoned here",
            hint="sensitive='COLUMN'; .warnings say why",
        )
        return next(iter(self.reasoning.values()))

    def _content(self) -> dict[str, Any]:
        return {
            "attacks": {
                name: {target: attack.to_dict() for target, attack in each.items()}
                for name, each in self.attacks.items()
            },
            **({} if self.pairing is None else {"pairing": self.pairing.to_dict()}),
            **self._headlines(),
        }

    def _headlines(self) -> dict[str, Any]:
        """The numbers of the only secret that was reasoned about; None where they are withheld."""
        if self.reasoning:
            return self._only_reasoning.headlines if len(self.reasoning) == 1 else {}
        attacks = [*self.attacks.get("reasoning", {}).values()]
        return {v.id: v.value for v in attacks[0].numbers.values()} if len(attacks) == 1 else {}

    def _rows(self) -> Iterator[dict[str, Any]]:
        return (
            {
                "attack": name,
                "target": target,
                "number": v.id,
                "value": v.value,
                "unit": v.unit,
                "riskier": v.riskier,
                "reason": v.reason,
            }
            for name, each in self.attacks.items()
            for target, attack in each.items()
            for v in attack.numbers.values()
        )

    def charts(self) -> dict[str, Any]:
        """Vega-Lite dicts by name: the attacks by column and by value, attacker against learner."""
        from sievert.charts import of_attacks, of_reasoning

        return of_attacks({"": self.attacks}) | of_reasoning(self.attacks.get("reasoning", {}))
