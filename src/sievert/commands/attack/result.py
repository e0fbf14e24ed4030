"""The result of `sievert attack`: frozen, readable, complete."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sievert.attacks.attack import Attack
from sievert.attacks.reasoning.result import HEADLINES, Beliefs, Reasoning
from sievert.errors import require
from sievert.pairing.evidence import Pairing
from sievert.result import Result

HOW = ("converged", "method")  # how beliefs were found, in the JSON beside the headlines


@dataclass(frozen=True, kw_only=True)
class LinkedRecords:
    """How many released records are linked to their own original, with an interval."""

    interval: tuple[float, float] | None
    level: float | None  # of the interval
    ties: int | None  # records with several originals equally near

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "LinkedRecords":
        """Read the entry of the JSON."""
        interval = data.get("interval")
        return cls(
            interval=(interval[0], interval[1]) if interval else None,
            level=data.get("level"),
            ties=data.get("ties"),
        )


@dataclass(frozen=True, kw_only=True)
class IdentityDetails:
    """What an attack on identities says beside its numbers; each attack has some of it."""

    paired: int | None  # records in both tables
    released_only: int | None  # released records without an original
    columns_shared: Sequence[str]  # of a register and the release
    linked: LinkedRecords

    @classmethod
    def of(cls, attack: Attack) -> "IdentityDetails":
        """Read the details of an attack."""
        details = attack.details
        return cls(
            paired=details.get("paired"),
            released_only=details.get("released_only"),
            columns_shared=tuple(details.get("columns_shared") or ()),
            linked=LinkedRecords.from_dict(details.get("linkage") or {}),
        )


@dataclass(frozen=True, kw_only=True)
class SkewnessDetails:
    """What skewness says beside its numbers."""

    named_value: bool  # whether it is about a value that was named
    occurs: bool  # whether that value occurs

    @classmethod
    def of(cls, attack: Attack) -> "SkewnessDetails":
        """Read the details of the attack."""
        return cls(
            named_value=bool(attack.details.get("named_value")),
            occurs=attack.details.get("occurs", True),
        )


@dataclass(frozen=True, kw_only=True)
class RunningMeans:
    """The mean of each chain after a number of sweeps."""

    sweeps: int
    by_chain: Sequence[float]

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "RunningMeans":
        """Read an entry of the JSON."""
        return cls(sweeps=data["sweeps"], by_chain=tuple(data["by_chain"]))


@dataclass(frozen=True, kw_only=True)
class ChainsOfReasoning:
    """How well the chains of a simulation agree."""

    chains: int
    sweeps: int
    rhat: float | None  # None: without bound
    effective: float  # independent draws that the draws are worth
    by_chain: Sequence[float]  # the attacker's accuracy, or what is hoped for
    least_agreed: str  # the quantity on which chains agree least; empty if not known
    so_far: Sequence[RunningMeans]  # of that quantity

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "ChainsOfReasoning":
        """Read the entry of the JSON."""
        return cls(
            chains=data["chains"],
            sweeps=data["sweeps"],
            rhat=data["rhat"],
            effective=data["effective"],
            by_chain=tuple(data["attacker_by_chain"]),
            least_agreed=data.get("least_agreed", ""),
            so_far=tuple(RunningMeans.from_dict(each) for each in data.get("so_far") or ()),
        )


@dataclass(frozen=True, kw_only=True)
class ExposedRecord:
    """A record about which the release tells more than a learner knows."""

    row: int  # of the original
    attacker: float  # belief in the true value
    learner: float
    relative_risk: float

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "ExposedRecord":
        """Read an entry of the JSON."""
        return cls(
            row=data["row"],
            attacker=data["attacker"],
            learner=data["learner"],
            relative_risk=data["relative_risk"],
        )


@dataclass(frozen=True, kw_only=True)
class OtherPrior:
    """The numbers of the same release with another weight of the prior."""

    beta: float
    attacker_accuracy: float | None
    learner_accuracy: float | None
    global_relative_risk: float | None
    global_relative_risk_literal: float | None

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "OtherPrior":
        """Read an entry of the JSON."""
        return cls(
            beta=data["beta"],
            attacker_accuracy=data["attacker_accuracy"],
            learner_accuracy=data["learner_accuracy"],
            global_relative_risk=data["global_relative_risk"],
            global_relative_risk_literal=data["global_relative_risk_literal"],
        )


@dataclass(frozen=True, kw_only=True)
class ReasoningDetails:
    """What reasoning about a secret says beside its numbers."""

    randomised: bool
    unreadable_labels: Sequence[str]  # columns
    converged: bool
    released: int  # records
    intervals: Mapping[str, tuple[float, float]]  # by number
    method: str
    likelihood: str  # the model; empty where nobody has reasoned
    largest_prior: float  # records for each value of the secret, of all priors
    records_a_secret: float  # that each value of the secret has on average
    observed_domain: bool  # whether some domain was taken from the original
    sampling: ChainsOfReasoning | None
    worst: Sequence[ExposedRecord]
    sensitivity: Sequence[OtherPrior]

    @classmethod
    def of(cls, attack: Attack) -> "ReasoningDetails":
        """Read the details of the attack."""
        details = attack.details
        domains = details.get("domains") or {}
        priors = details.get("prior_records_a_secret") or {}
        sampling = details.get("sampling")
        intervals = details.get("intervals") or {}
        return cls(
            randomised=bool(details.get("randomised")),
            unreadable_labels=tuple(details.get("unreadable_labels") or ()),
            converged=bool(details.get("converged")),
            released=details.get("released") or 1,
            intervals={name: (low, high) for name, (low, high) in intervals.items()},
            method=details.get("method", ""),
            likelihood=details.get("likelihood", ""),
            largest_prior=max(priors.values(), default=0.0),
            records_a_secret=details.get("records_a_secret", 0.0),
            observed_domain=any(not domain["public"] for domain in domains.values()),
            sampling=None if sampling is None else ChainsOfReasoning.from_dict(sampling),
            worst=tuple(ExposedRecord.from_dict(each) for each in details.get("worst") or ()),
            sensitivity=tuple(
                OtherPrior.from_dict(each) for each in details.get("sensitivity") or ()
            ),
        )


@dataclass(frozen=True, repr=False)
class Attacks(Result):
    """What the attacks on one release have found."""

    attacks: Mapping[str, Mapping[str, Attack]]  # by attack, then by target
    reasoning: Mapping[str, Reasoning] = field(
        default_factory=dict, compare=False, repr=False
    )  # by secret
    pairing: Pairing | None = None  # of the release with the original

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Attacks":
        """Read the attacks back from the JSON of `attack`, or of an assessment with attacks."""
        attacks = data.get("attacks") or {}
        pairing = data.get("pairing")
        return cls(
            **cls.saved_fields(data),
            attacks={
                name: {target: Attack.from_dict(entry) for target, entry in each.items()}
                for name, each in attacks.items()
            },
            pairing=Pairing.from_dict(pairing) if pairing else None,
        )

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
        attacks = [*self.attacks.get("reasoning", {}).values()]
        reasoned = [attack for attack in attacks if "converged" in attack.details]
        only = reasoned if reasoned else attacks
        if len(only) != 1:
            return {}
        (attack,) = only
        numbers = {name: attack.number(name) for name in HEADLINES if name in attack.numbers}
        how = {key: attack.details[key] for key in HOW if key in attack.details}
        return {**numbers, **how}

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

    def charts_beside_page(self) -> dict[str, Any]:
        """Draw the attacks by column and by value."""
        from sievert.charts import of_attacks

        return of_attacks({"": self.attacks})
