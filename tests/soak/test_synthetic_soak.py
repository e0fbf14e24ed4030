"""Attacks on synthetic tables: 300 random tables by brute force, false alarms, coverage, power.

`python tests/soak/test_synthetic_soak.py no_leak adult 200` prints alarms and coverage, `relabelled
adult 4000` alarms of one pool, `power census 50` how often copies are seen, of 1 % and 5 % of the
rows with up to two columns changed, and `power census 200 0.005` of another share.
"""

from __future__ import annotations

import csv
import gzip
import math
import sys
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

if __name__ == "__main__":
    sys.path.append(str(Path(__file__).parents[1]))

from helpers.synthetictables import (
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

from sievert.commands.synthetic.attacks.evidence import PoolGroups, hypergeometric_tail, weigh

KINDS = {"any": 240, "one record": 30, "all equal": 30}
PEOPLE, REPETITIONS, RELABELLED = 10_000, 200, 4_000
CENSUS_PEOPLE, RATIO_DRAWS = 2_500, 100
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


@lru_cache
def adult_people() -> Population:
    """Adult, all of it."""
    own, fake, other, names = adult("fresh")
    return Population.of(own + fake + other, names, ["age"])


@lru_cache
def census_people() -> Population:
    """The people of Massachusetts, with 18 columns."""
    with gzip.open(reference() / "data/nist/ma2019.csv.gz", "rt", encoding="utf-8") as file:
        names, *rows = csv.reader(file)
    kept = [at for at, name in enumerate(names) if name not in DETAILED]
    table: Rows = [tuple(row[at] for at in kept) for row in rows]
    return Population.of(table, [names[at] for at in kept], ["AGEP"])


# How many people each sample has, the draws of the published shares, and how many times as many
# tables with 1 % of copies the density ratio sees as DCR. In the census no attack could see 8 times
# as many: DCR sees 15 %. Where columns tell nearly everybody apart, a share s of copies among n
# originals, with as many controls, lifts the area under the curve by nearly s/2, whose standard
# error is 1/sqrt(6 n): 1 % of 2,500 are 0.6 standard errors. So what is compared there is how many
# copies are needed.
POPULATIONS = {
    "adult": (adult_people, PEOPLE, 60, 3),
    "census": (census_people, CENSUS_PEOPLE, 50, 5),
}
# Shares of tables in which copies are seen, as measured with a prototype: by columns of `COPIED`.
PUBLISHED = {
    "adult": {
        "density_ratio": (0.85, 0.42, 0.20, 1.00, 0.98, 0.78),
        "nearer_than_kin": (0.77, 0.33, 0.08, 1.00, 1.00, 0.65),
        "unique_copies": (0.48, 0.13, 0.05, 1.00, 1.00, 0.32),
        "copies": (0.27, 0.10, 0.05, 1.00, 0.75, 0.17),
        "linkability": (0.78, 0.28, 0.10, 1.00, 0.97, 0.50),
        "inference": (0.22, 0.12, 0.05, 1.00, 0.78, 0.25),
        "singling_out": (0.07, 0.05, 0.03, 0.23, 0.10, 0.12),
        "dcr_auc": (0.22, 0.09, 0.04, 1.00, 0.63, 0.21),
        "nndr_auc": (0.22, 0.12, 0.08, 0.98, 0.68, 0.23),
        "dcr_share": (0.12, 0.10, 0.08, 0.92, 0.60, 0.28),
    },
    "census": {
        "density_ratio": (1.00, 0.86, 0.62, 1.00, 1.00, 1.00),
        "nearer_than_kin": (0.36, 0.20, 0.16, 1.00, 1.00, 0.96),
        "dcr_auc": (0.10, 0.10, 0.10, 0.92, 0.74, 0.66),
    },
}


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
    people: Population, size: int, times: int, copied: float, changed: int, *, whole: bool = False
) -> dict[str, float]:
    """How often attacks see that some rows are copies, with some columns changed.

    All of them on the `whole`, else those by distances.
    """
    seen: dict[str, int] = {}
    for seed in range(times):
        tables = people.draw(size, seed, copied, changed)
        for name, own in scores_of(tables, people.names if whole else ()).items():
            seen[name] = seen.get(name, 0) + (chance_of(own, tables.originals) <= 0.05)
    shares = {name: round(many / times, 3) for name, many in seen.items()}
    print(f"{copied:.2%} copied, {changed} changed, {times} draws: {shares}", flush=True)
    return shares


def relabelled(people: Population, size: int, times: int) -> dict[str, float]:
    """Alarms at 5 % of one pool, who is original being drawn again and again."""
    tables = people.draw(size, 0)
    scores = scores_of(tables, people.names)
    alarms = relabelled_alarms(scores, tables.originals, times, np.random.default_rng(1))
    return {name: many / times for name, many in alarms.items()}


def test_no_leak_raises_no_alarm_and_is_in_the_interval() -> None:
    alarms, covered = no_leak(adult_people(), PEOPLE, REPETITIONS)
    print(alarms, covered)
    assert max(alarms.values()) <= 20, alarms
    assert min(covered.values()) >= 0.91, covered


def test_relabelling_gives_the_level() -> None:
    shares = relabelled(adult_people(), PEOPLE, RELABELLED)
    print(shares)
    assert max(shares.values()) <= 0.057, shares


@pytest.mark.parametrize("copied, changed", COPIED)
@pytest.mark.parametrize("which", PUBLISHED)
def test_power_is_that_of_the_published_table(which: str, copied: float, changed: int) -> None:
    """Each cell against the share that was published, as two samples of one chance (Fisher).

    The level is 1 % for all cells of a population together (Bonferroni, as they share draws). Of
    copies unchanged, of 1 % of the rows, the density ratio sees several times what DCR sees.
    """
    make, size, draws, least = POPULATIONS[which]
    at, level = COPIED.index((copied, changed)), 0.01 / len(COPIED) / len(PUBLISHED[which])
    seen = power(make(), size, draws, copied, changed, whole=which == "adult")
    chances = {}
    for name, shares in PUBLISHED[which].items():
        own, other = round(seen[name] * draws), round(shares[at] * draws)
        both = 2 * draws, own + other, draws
        one_sided = min(hypergeometric_tail(hits, *both) for hits in (own, other))
        chances[name] = min(1.0, 2 * one_sided)
        errors = (math.sqrt(share * (1 - share) / draws) for share in (shares[at], seen[name]))
        published, ours = (f"{e:.3f}" for e in errors)
        print(f"{name}: {shares[at]:.2f} +- {published}, here {seen[name]:.3f} +- {ours},", end=" ")
        print(f"p {chances[name]:.3f}")
    assert min(chances.values()) >= level, chances
    if (copied, changed) == COPIED[0]:
        assert seen["density_ratio"] >= max(0.8, least * seen["dcr_auc"]), seen


def test_distances_need_eight_times_as_many_copies_in_the_census() -> None:
    people = census_people()
    few = power(people, CENSUS_PEOPLE, RATIO_DRAWS, 0.005, 0)
    many = power(people, CENSUS_PEOPLE, RATIO_DRAWS, 0.04, 0)
    assert few["density_ratio"] >= many["dcr_auc"], (few, many)


if __name__ == "__main__":
    what, name, times = sys.argv[1], sys.argv[2], int(sys.argv[3])
    make, size, *_ = POPULATIONS[name]
    if what == "power":
        shares = [(float(each), 0) for each in sys.argv[4:]] or COPIED
        for share, changed in shares:
            power(make(), size, times, share, changed, whole=name == "adult")
    else:
        print({"no_leak": no_leak, "relabelled": relabelled}[what](make(), size, times))
