"""Secrets that are about equally likely: undecided people widen every number that rests on them."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pandas
import pytest
from helpers.nearties import FAMILIES, NUMBERS, SWEEPS, near_tie

from sievert.attacks.reasoning.posterior import CorrectGuesses, likeliest, undecided


@pytest.mark.parametrize("seed", range(20))
def test_bounds_are_those_of_every_choice(seed: int) -> None:
    """Whatever subset of its candidates is the likeliest of each torn victim."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, 5, (3, 4))  # the last column: secrets that were not released
    chosen = random.random((3, 3)) < 0.6
    chosen[np.arange(3), random.integers(0, 3, 3)] = True
    torn = (random.random(3) < 0.7) & (chosen.sum(axis=1) > 1)
    choices = [
        [
            set(some)
            for size in range(1, len(own) + 1)
            for some in itertools.combinations(own.tolist(), size)
            if torn[v] or size == len(own)
        ]
        for v in range(3)
        for own in [np.flatnonzero(chosen[v])]
    ]
    fractional, literal = [], []
    for choice in itertools.product(*choices):
        right = [sum(truth[v, s] for s in own) for v, own in enumerate(choice)]
        literal.append(sum(right))
        fractional.append(sum(r / len(own) for r, own in zip(right, choice, strict=True)))
    fewest, most = CorrectGuesses.bounds(truth, chosen, torn)
    assert (fewest.literal, most.literal) == (min(literal), max(literal))
    assert fewest.fractional == pytest.approx(min(fractional))
    assert most.fractional == pytest.approx(max(fractional))


def test_one_unsure_candidate_is_enough_to_be_undecided() -> None:
    beliefs, errors = np.array([[0.4, 0.395, 0.205]]), np.array([[0.0, 0.01, 0.01]])
    assert undecided(likeliest(beliefs, errors), errors).tolist() == [True]
    assert undecided(likeliest(beliefs[:, [0, 0]]), errors[:, [0, 0]]).tolist() == [False]


def test_an_interval_that_chance_had_closed(tmp_path: Path) -> None:
    """The exact value is 1/3; 34.3 % (34.3 to 34.3) was printed once."""
    table, path = near_tie(FAMILIES[1], 12), tmp_path / "records.csv"
    found = table.attacked(method="gibbs", sweeps=SWEEPS, seed=12, records=path)
    low, high = found["intervals"]["attacker_accuracy"]
    assert low <= 1 / 3 <= high and low < high
    lows, highs = zip(*(found["intervals"][name] for name in NUMBERS), strict=True)
    numbers = [found[name]["value"] for name in NUMBERS]
    assert all(a <= x <= b for a, x, b in zip(lows, numbers, highs, strict=True))
    records = pandas.read_csv(path)
    assert records["s_attacker_mcse"].between(1e-6, 0.05).all()
    assert records["s_learner_mcse"].between(1e-6, 0.05).all()


@pytest.mark.parametrize("family", [FAMILIES[0], FAMILIES[2]])
def test_the_exact_number_by_listing_every_table(family: str) -> None:
    table = near_tie(family, 4, 2)
    exact = table.attacked()
    assert exact["method"] == "exact" and exact["intervals"] == {}
    for name, number in table.listed().items():
        assert exact[name]["value"] == pytest.approx(number, abs=1e-12)
