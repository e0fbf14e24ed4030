"""Attacks on synthetic tables: 300 random tables by brute force, false alarms, coverage, power.

`python tests/soak/test_synthetic_soak.py` prints the alarms, the coverage and the power.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

if __name__ == "__main__":
    sys.path.append(str(Path(__file__).parents[1]))

from synthetictables import (
    Rows,
    adult,
    chance_of,
    check_clusters,
    check_every_score,
    check_keys,
    columns,
    random_tables,
    relabelled_alarms,
    scores_of,
)

from sievert.attacks.synthetic.evidence import PoolGroups, weigh
from sievert.attacks.synthetic.tables import join_tables

KINDS = {"any": 240, "one record": 30, "all equal": 30}
PEOPLE, REPETITIONS = 10_000, 200
POOL, RELABELLED = 2_000, 4_000
POWER_REPETITIONS, COPIED = 40, 0.01
RATES = ("copies", "unique_copies", "singling_out", "linkability", "inference", "nearer_than_kin")


@pytest.mark.parametrize("kind", KINDS)
def test_random_tables_by_brute_force(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(1000, 1000 + KINDS[kind]):
        given = random_tables(seed, kind)
        check_every_score(given, monkeypatch)
        check_keys(given)
        check_clusters(given, seed)


def drawn(people: int, seed: int, copied: float = 0.0) -> tuple[dict[str, Any], int]:
    """Scores of three samples of Adult: originals, synthetic rows that never saw them, controls."""
    own, fake, other, names = adult("fresh")
    records = own + fake + other
    order = np.random.default_rng(seed).permutation(len(records))[: 3 * people].tolist()
    parts: list[Rows] = [[records[i] for i in order[at::3]] for at in range(3)]
    parts[1][: round(copied * people)] = parts[0][: round(copied * people)]
    tables = join_tables(*(columns(rows, names) for rows in parts))
    return scores_of(tables, names), tables.originals


def no_leak() -> tuple[dict[str, int], dict[str, float]]:
    """Alarms at 5 % by attack, and how often an interval holds no risk."""
    alarms: dict[str, int] = {}
    held: dict[str, list[bool]] = {name: [] for name in RATES}
    for seed in range(REPETITIONS):
        scores, n = drawn(PEOPLE, seed)
        for name, own in scores.items():
            alarms[name] = alarms.get(name, 0) + (chance_of(own, n) <= 0.05)
        for name in RATES:
            attack = weigh(name, scores[name], PoolGroups(n))
            if attack.low is not None and attack.high is not None:
                held[name].append(attack.low <= 0.0 <= attack.high)
    return alarms, {name: sum(each) / len(each) for name, each in held.items()}


def power() -> dict[str, float]:
    """How often each attack sees that one row of a hundred is a copy."""
    seen: dict[str, int] = {}
    for seed in range(POWER_REPETITIONS):
        scores, n = drawn(PEOPLE, seed, COPIED)
        for name, own in scores.items():
            seen[name] = seen.get(name, 0) + (chance_of(own, n) <= 0.05)
    return {name: many / POWER_REPETITIONS for name, many in seen.items()}


def relabelled() -> dict[str, float]:
    """Alarms at 5 % of one pool, who is original being drawn again and again."""
    scores, n = drawn(POOL, 0)
    alarms = relabelled_alarms(scores, n, RELABELLED, np.random.default_rng(1))
    return {name: many / RELABELLED for name, many in alarms.items()}


def test_no_leak_raises_no_alarm_and_is_in_the_interval() -> None:
    alarms, held = no_leak()
    assert max(alarms.values()) <= 20, alarms
    assert min(held.values()) >= 0.91, held


def test_relabelling_gives_the_level() -> None:
    shares = relabelled()
    assert max(shares.values()) <= 0.057, shares


def test_the_density_ratio_sees_three_times_as_many_copies_as_distances() -> None:
    seen = power()
    assert seen["density_ratio"] >= 0.7, seen
    assert seen["density_ratio"] >= 3 * seen["dcr"], seen


if __name__ == "__main__":
    for what in (relabelled, no_leak, power):
        print(what.__doc__, what(), flush=True)
