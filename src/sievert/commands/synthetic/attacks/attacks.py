"""All attacks on one synthetic table: `ATTACKS` declares them.

The recipe is in CONTRIBUTING.md, "Add an attack on synthetic data".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sievert.arrays import Floats
from sievert.commands.synthetic.attacks.evidence import SyntheticAttack, holm
from sievert.commands.synthetic.attacks.keys import attack_by_copies, attack_by_keys
from sievert.commands.synthetic.attacks.nearness import (
    attack_by_inference,
    attack_by_linking,
    attack_by_membership,
)
from sievert.commands.synthetic.attacks.singling_out import attack_by_singling_out
from sievert.commands.synthetic.attacks.tables import SyntheticTables
from sievert.commands.synthetic.attacks.task import AttackFindings, AttackTask, DeclaredAttack

# In the order in which they are made, and in which the JSON and the page have them.
ATTACKS: tuple[DeclaredAttack, ...] = (
    DeclaredAttack(ids=("copies", "unique_copies"), run=attack_by_copies),
    DeclaredAttack(ids=("singling_out",), run=attack_by_singling_out),
    DeclaredAttack(ids=("linkability",), run=attack_by_linking),
    DeclaredAttack(ids=("inference",), run=attack_by_inference, by_secret=True),
    DeclaredAttack(
        ids=("attribute_disclosure",), run=attack_by_keys, by_secret=True, headline=False
    ),
    DeclaredAttack(ids=("membership",), run=attack_by_membership),
)
ON_PEOPLE = tuple(name for attack in ATTACKS if not attack.by_secret for name in attack.ids)
ON_SECRETS = tuple(name for attack in ATTACKS if attack.by_secret for name in attack.ids)
HEADLINES = {name for attack in ATTACKS if attack.headline for name in attack.ids}
NARROWER = "singling_out_by_columns"  # the entry of the JSON


@dataclass(frozen=True, eq=False, kw_only=True)
class SyntheticAttacks:
    """What every attack did, and per person what each scored."""

    attacks: Mapping[str, SyntheticAttack]  # on all people
    on_secrets: Mapping[str, Mapping[str, SyntheticAttack]]  # by attack and secret
    narrower: Mapping[int, SyntheticAttack]  # singling out by fewer columns
    scores: Mapping[str, Floats]
    every: int = 1  # of how many people one was attacked by nearness

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], every: int) -> "SyntheticAttacks":
        """Read the attacks on a table back from the JSON, which has no scores of people."""
        read = SyntheticAttack.from_dict
        narrower = data.get(NARROWER) or {}
        on_people = {n: e for n, e in data.items() if n not in (*ON_SECRETS, NARROWER)}
        return cls(
            attacks={name: read(name, entry) for name, entry in on_people.items()},
            on_secrets={
                name: {secret: read(name, entry) for secret, entry in data.get(name, {}).items()}
                for name in ON_SECRETS
            },
            narrower={int(width): read("singling_out", entry) for width, entry in narrower.items()},
            scores={},
            every=every,
        )

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON."""
        return {
            **{name: attack.to_dict() for name, attack in self.attacks.items()},
            **{
                name: {secret: attack.to_dict() for secret, attack in each.items()}
                for name, each in self.on_secrets.items()
            },
            NARROWER: {str(width): attack.to_dict() for width, attack in self.narrower.items()},
        }

    @property
    def inference(self) -> Mapping[str, SyntheticAttack]:
        """The inference of each secret."""
        return self.on_secrets["inference"]

    @property
    def disclosure(self) -> Mapping[str, SyntheticAttack]:
        """The attack by equal keys on each secret."""
        return self.on_secrets["attribute_disclosure"]

    @property
    def headline_chances(self) -> dict[str, float]:
        """The chances of the headline tests, each secret's inference being one."""
        tests = {name: attack for name, attack in self.attacks.items() if name in HEADLINES}
        for name, each in self.on_secrets.items():
            if name in HEADLINES:
                tests |= {f"{name}.{secret}": attack for secret, attack in each.items()}
        return {name: test.p for name, test in tests.items() if test.p is not None}

    @property
    def adjusted(self) -> dict[str, float]:
        """The same after Holm, for all tests together."""
        return holm(self.headline_chances)


def attack_synthetic(tables: SyntheticTables, task: AttackTask) -> SyntheticAttacks:
    """Try every attack that the task asks for."""
    attacks: dict[str, SyntheticAttack] = {}
    on_secrets: dict[str, Mapping[str, SyntheticAttack]] = {}
    narrower: dict[int, SyntheticAttack] = {}
    scores: dict[str, Floats] = {}
    for declared in ATTACKS:
        findings: AttackFindings = declared.run(tables, task)
        attacks |= findings.on_people
        narrower |= findings.narrower
        scores |= findings.scores
        if declared.by_secret:
            on_secrets[declared.ids[0]] = findings.on_secrets
    return SyntheticAttacks(
        attacks=attacks,
        on_secrets=on_secrets,
        narrower=narrower,
        scores=scores,
        every=tables.stride,
    )
