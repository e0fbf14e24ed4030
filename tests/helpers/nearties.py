"""Tables whose secrets are about equally likely, and how often intervals hold the exact number.

The exact number is the package's own, by counting; on the smallest tables `reasoningoracle`, which
lists every table that a release allows, says the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

import pytest
from helpers import reasoningoracle as oracle

import sievert
from sievert.attacks.reasoning import posterior
from sievert.attacks.reasoning.horizontal import release as horizontal
from sievert.attacks.reasoning.vertical import release as vertical

NUMBERS = {
    "attacker_accuracy": "attacker_fractional",
    "learner_accuracy": "learner_fractional",
    "global_relative_risk": "global_fractional",
    "global_relative_risk_literal": "global_literal",
}
FAMILIES = ("overlapping sets, 2 secrets", "overlapping sets, 3 secrets", "two tables")
SWEEPS = 1500


@dataclass(frozen=True)
class NearTie:
    """A release and its original, as the package reads them and as the oracle does."""

    kind: str
    release: Any
    original: dict[str, list[str]]
    groups: list[Any]
    truth: list[Any]

    def listed(self) -> dict[str, float]:
        """Every number, by listing all tables: slow."""
        domain = "abcd" if self.kind == "horizontal" else sorted(set(self.original["q"]))
        victims = sorted({values for _, values in self.truth})
        solve = oracle.horizontal if self.kind == "horizontal" else oracle.vertical
        risk = oracle.risk(self.truth, solve(self.groups, [list(domain)], victims))
        shares = {name: float(risk[key]) for name, key in NUMBERS.items()}
        for name in ("attacker_accuracy", "learner_accuracy"):
            shares[name] /= len(self.truth)
        return shares

    def attacked(self, **how: Any) -> dict[str, Any]:
        """What the package says, in the JSON: exactly, or by chains."""
        with pytest.MonkeyPatch.context() as patch:  # the printed learner is not looked at
            patch.setattr(posterior, "DRAWS", 100)
            patch.setattr(horizontal, "MOST_PRINTED", 0)
            patch.setattr(vertical, "MOST_PRINTED", 0)
            found = sievert.attack(
                self.release, original=self.original, quasi="q", sensitive="s",
                threads=1, **how,
            ).to_dict()  # fmt: skip
        return {**found, **found["attacks"]["reasoning"]["s"]}


def near_tie(family: str, seed: int, size: int = 0) -> NearTie:
    """Groups with each secret about equally often, so that beliefs differ by what overlaps tell."""
    random, sets = Random(f"{family}{seed}"), (family != "two tables")
    secrets = "xyz" if family.endswith("3 secrets") else "xy"
    size = size or 6 * len(secrets) // (1 if sets else 3)
    groups: list[Any] = []
    truth: list[Any] = []
    numbers: list[str] = []
    for number, pair in enumerate(("ab", "bc", "cd" if sets else "ac")):
        own = [secrets[(i + number) % len(secrets)] for i in range(size)]
        if random.random() < 0.3:
            own[0] = random.choice(secrets)
        values = [(random.choice(pair),) for _ in own]
        truth += list(zip(own, values, strict=True))
        groups.append(((frozenset(pair),), own) if sets else (values, own))
        numbers += [str(number)] * size
    original = {"q": [v for _, (v,) in truth], "s": [s for s, _ in truth]}
    released: Any = {"q": [f"{{{','.join(sorted(s))}}}" for (s,), own in groups for _ in own],
                     "s": original["s"]} if sets else (
        {"group": numbers, "q": original["q"]}, {"group": numbers, "s": original["s"]}
    )  # fmt: skip
    return NearTie("horizontal" if sets else "vertical", released, original, groups, truth)


def held(family: str, seed: int) -> dict[str, tuple[bool, float]] | None:
    """Of each number whether its interval holds the exact one, and its width; None: no number."""
    table = near_tie(family, seed)
    exact = table.attacked()
    assert exact["method"] == "exact"
    sampled = table.attacked(method="gibbs", sweeps=SWEEPS, seed=seed)
    if not sampled["converged"]:
        return None
    ends = sampled["intervals"]
    return {
        name: (low - 1e-9 <= exact[name]["value"] <= high + 1e-9, high - low)
        for name, (low, high) in ((n, ends[n]) for n in NUMBERS)
    }


def coverage(family: str, seeds: range) -> dict[str, tuple[float, float, int]]:
    """Of each number the share of tables whose interval holds it, the mean width, the tables."""
    results = [each for seed in seeds if (each := held(family, seed)) is not None]
    return {
        name: (
            sum(each[name][0] for each in results) / max(1, len(results)),
            sum(each[name][1] for each in results) / max(1, len(results)),
            len(results),
        )
        for name in NUMBERS
    }
