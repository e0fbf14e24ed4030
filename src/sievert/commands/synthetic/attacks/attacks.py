"""All attacks on one synthetic table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sievert.arrays import Floats
from sievert.commands.synthetic.attacks.evidence import SyntheticAttack, holm
from sievert.commands.synthetic.attacks.kernels import ALONE, Workers
from sievert.commands.synthetic.attacks.keys import attribute_disclosure, copies
from sievert.commands.synthetic.attacks.nearness import (
    SecretGuesses,
    guesses,
    inference,
    link_chances,
    linkability,
    membership,
    nearness,
)
from sievert.commands.synthetic.attacks.singling_out import WIDEST, count_predicates, singling_out
from sievert.commands.synthetic.attacks.tables import SyntheticTables


@dataclass(frozen=True, kw_only=True)
class AttackTask:
    """What an attacker of one synthetic table knows and wants to know."""

    secrets: tuple[str, ...]
    known: tuple[str, ...] | None = None  # all other columns unless given
    halves: tuple[tuple[str, ...], tuple[str, ...]] | None = None  # for linkability
    workers: Workers = ALONE


# Entries of the JSON that hold several attacks.
NESTED = frozenset({"inference", "attribute_disclosure", "singling_out_by_columns"})


@dataclass(frozen=True, eq=False, kw_only=True)
class SyntheticAttacks:
    """What every attack did, and per person what each scored."""

    attacks: Mapping[str, SyntheticAttack]
    inference: Mapping[str, SyntheticAttack]
    disclosure: Mapping[str, SyntheticAttack]
    narrower: Mapping[int, SyntheticAttack]  # singling out by fewer columns
    scores: Mapping[str, Floats]
    every: int = 1  # of how many people one was attacked by nearness

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], every: int) -> "SyntheticAttacks":
        """Read the attacks on a table back from the JSON, which has no scores of people."""
        read = SyntheticAttack.from_dict
        narrower = data.get("singling_out_by_columns") or {}
        disclosure = data["attribute_disclosure"]
        headlines = {name: entry for name, entry in data.items() if name not in NESTED}
        return cls(
            attacks={name: read(name, entry) for name, entry in headlines.items()},
            inference={s: read("inference", entry) for s, entry in data["inference"].items()},
            disclosure={s: read("attribute_disclosure", e) for s, e in disclosure.items()},
            narrower={int(width): read("singling_out", entry) for width, entry in narrower.items()},
            scores={},
            every=every,
        )

    @property
    def headline_chances(self) -> dict[str, float]:
        """The chances of the headline tests, each secret's inference being one."""
        p_values = {name: attack.p for name, attack in self.attacks.items()}
        p_values |= {f"inference.{secret}": attack.p for secret, attack in self.inference.items()}
        return {name: p for name, p in p_values.items() if p is not None}

    @property
    def adjusted(self) -> dict[str, float]:
        """The same after Holm, for all tests together."""
        return holm(self.headline_chances)


def attack_synthetic(tables: SyntheticTables, task: AttackTask) -> SyntheticAttacks:
    """Try every attack; linkability only where the columns are split in two."""
    workers = task.workers
    attacks = dict(zip(("copies", "unique_copies"), copies(tables), strict=True))
    narrower = {}
    for width in range(1, min(WIDEST, len(tables.columns)) + 1):
        counts = count_predicates(tables, width, workers)
        narrower[width] = singling_out(tables, counts)
    attacks["singling_out"] = narrower.pop(max(narrower))
    scores: dict[str, Floats] = {"singling_out": (counts.per_person > 0).astype(float)}
    if task.halves is not None:
        scores["linkability"] = link_chances(tables, task.halves, workers)
        attacks["linkability"] = linkability(tables, scores["linkability"])
    own = {}
    secrets = [s for s in task.secrets if len(_keys(tables, task, s))]
    if secrets:
        kin: Sequence[SecretGuesses | None] = [None] * len(secrets)
        if not tables.controls and tables.people > 1:
            kin = guesses(tables, secrets, task.known, workers, kin=True)
        for guess, other in zip(guesses(tables, secrets, task.known, workers), kin, strict=True):
            own[guess.secret] = inference(tables, guess, other)
            scores[f"inference.{guess.secret}"] = guess.right
    disclosed = {
        secret: attribute_disclosure(tables, _keys(tables, task, secret), secret, workers)
        for secret in (secrets if task.known is not None else ())
    }
    near = nearness(tables, workers)
    attacks["membership"] = membership(tables, near)
    scores |= {
        "nearest_synthetic": near.synthetic,
        "nearest_other": near.other,
        "density_ratio": near.density_ratio,
    }
    return SyntheticAttacks(
        attacks=attacks,
        inference=own,
        disclosure=disclosed,
        narrower=narrower,
        scores=scores,
        every=tables.stride,
    )


def _keys(tables: SyntheticTables, task: AttackTask, secret: str) -> list[str]:
    """List the columns that are known where a secret is guessed."""
    names = [column.name for column in tables.columns]
    return [n for n in task.known or names if n != secret and n in names]
