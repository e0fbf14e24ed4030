"""Attacks on synthetic tables: 300 random tables by brute force, false alarms, coverage, power.

`python tests/soak/test_synthetic_soak.py no_leak adult 200` prints alarms and coverage, `relabelled
adult 4000` alarms of one pool, `power census 40` how often copies are seen.
"""

from __future__ import annotations

import csv
import gzip
import sys
from pathlib import Path

import numpy as np
import pytest

if __name__ == "__main__":
    sys.path.append(str(Path(__file__).parents[1]))

from synthetictables import (
    Population,
    Rows,
    adult,
    chance_of,
    check_clusters,
    check_every_score,
    check_keys,
    random_tables,
    reference,
    relabelled_alarms,
    scores_of,
)

from sievert.attacks.synthetic.evidence import PoolGroups, weigh

KINDS = {"any": 240, "one record": 30, "all equal": 30}
PEOPLE, REPETITIONS, RELABELLED = 10_000, 200, 4_000
CENSUS_PEOPLE, POWER_REPETITIONS = 2_500, 40
COPIED = ((0.01, 0), (0.01, 1), (0.01, 2), (0.05, 0), (0.05, 1), (0.05, 2))
RATES = ("copies", "unique_copies", "singling_out", "linkability", "inference", "nearer_than_kin")
DETAILED = (
    "PWGTP",
    "WGTP",
    "INDP",
    "PINCP",
    "POVPIP",
    "DENSITY",
)  # weights; coarser ones are there


@pytest.mark.parametrize("kind", KINDS)
def test_random_tables_by_brute_force(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(1000, 1000 + KINDS[kind]):
        given = random_tables(seed, kind)
        check_every_score(given, monkeypatch)
        check_keys(given)
        check_clusters(given, seed)


def adult_people() -> Population:
    """Adult, all of it."""
    own, fake, other, names = adult("fresh")
    return Population.of(own + fake + other, names, ["age"])


def census_people() -> Population:
    """The people of Massachusetts, with 18 columns."""
    with gzip.open(reference() / "data/nist/ma2019.csv.gz", "rt", encoding="utf-8") as file:
        names, *rows = csv.reader(file)
    kept = [at for at, name in enumerate(names) if name not in DETAILED]
    table: Rows = [tuple(row[at] for at in kept) for row in rows]
    return Population.of(table, [names[at] for at in kept], ["AGEP"])


def no_leak(people: Population, size: int, times: int) -> tuple[dict[str, int], dict[str, float]]:
    """Alarms at 5 % by attack, and how often an interval holds no risk."""
    alarms: dict[str, int] = {}
    covered: dict[str, list[bool]] = {name: [] for name in RATES}
    for seed in range(times):
        tables = people.draw(size, seed)
        scores, n = scores_of(tables, people.names), tables.originals
        for name, own in scores.items():
            alarms[name] = alarms.get(name, 0) + (chance_of(own, n) <= 0.05)
        for name in RATES:
            attack = weigh(name, scores[name], PoolGroups(n))
            if attack.low is not None and attack.high is not None:
                covered[name].append(attack.low <= 0.0 <= attack.high)
    return alarms, {name: sum(each) / len(each) for name, each in covered.items()}


def power(
    people: Population, size: int, times: int, copied: float, changed: int, *, made: bool = True
) -> dict[str, float]:
    """How often each attack sees that some rows are copies, with some columns changed."""
    seen: dict[str, int] = {}
    for seed in range(times):
        tables = people.draw(size, seed, copied, changed, made=made)
        for name, own in scores_of(tables).items():
            seen[name] = seen.get(name, 0) + (chance_of(own, tables.originals) <= 0.05)
    return {name: many / times for name, many in seen.items()}


def relabelled(people: Population, size: int, times: int) -> dict[str, float]:
    """Alarms at 5 % of one pool, who is original being drawn again and again."""
    tables = people.draw(size, 0)
    scores = scores_of(tables, people.names)
    alarms = relabelled_alarms(scores, tables.originals, times, np.random.default_rng(1))
    return {name: many / times for name, many in alarms.items()}


def test_no_leak_raises_no_alarm_and_is_in_the_interval() -> None:
    alarms, covered = no_leak(adult_people(), PEOPLE, REPETITIONS)
    assert max(alarms.values()) <= 20, alarms
    assert min(covered.values()) >= 0.91, covered


def test_relabelling_gives_the_level() -> None:
    shares = relabelled(adult_people(), PEOPLE, RELABELLED)
    assert max(shares.values()) <= 0.057, shares


def test_the_density_ratio_sees_more_copies_than_distances() -> None:
    seen = power(adult_people(), PEOPLE, POWER_REPETITIONS, 0.01, 0, made=False)
    assert seen["density_ratio"] >= 0.7 and seen["density_ratio"] >= 3 * seen["dcr"], seen
    seen = power(census_people(), CENSUS_PEOPLE, POWER_REPETITIONS, 0.01, 0, made=False)
    assert seen["density_ratio"] >= 0.9 and seen["density_ratio"] >= 8 * seen["dcr"], seen


if __name__ == "__main__":
    populations = {"adult": (adult_people, PEOPLE), "census": (census_people, CENSUS_PEOPLE)}
    what, name, *numbers = sys.argv[1:]
    make, size = populations[name]
    times = int(numbers[0])
    if what == "power":
        for share, changed in COPIED:
            print(share, changed, power(make(), size, times, share, changed), flush=True)
    else:
        print({"no_leak": no_leak, "relabelled": relabelled}[what](make(), size, times))
