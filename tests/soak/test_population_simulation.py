"""Estimates of unique people against populations whose unique people are counted.

`python tests/soak/test_population_simulation.py [ADULT.csv]` prints the table of
`docs/population.md`; `make soak` holds the estimates to what the page says.
"""

from __future__ import annotations

import csv
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sievert.population import Known, dankar, known_unique_match, pitman, snb, unique_match, zayatz

pytestmark = pytest.mark.soak

PEOPLE = 200_000
SAMPLES = 50
FRACTIONS = (0.01, 0.05, 0.1, 0.2, 0.5)
ESTIMATES = (zayatz, pitman, snb, dankar)
QI4 = ("marital-status", "native-country", "race", "workclass")
QI8 = (*QI4, "sex", "age", "education", "salary-class")
Labels = Any  # the class of each person, a whole number


def attributes(random: np.random.Generator) -> Labels:
    """Seven skewed attributes, independent of each other: an ordinary table of people."""
    codes = np.zeros(PEOPLE, dtype=np.int64)
    for values in (2, 5, 7, 12, 16, 20, 40):
        chances = 1.0 / np.arange(1, values + 1) ** 1.2
        codes = codes * values + random.choice(values, PEOPLE, p=chances / chances.sum())
    return np.unique(codes, return_inverse=True)[1]


def lognormal(random: np.random.Generator) -> Labels:
    """60,000 classes with lognormal chances."""
    chances = np.exp(random.normal(0, 2, 60_000))
    return random.choice(60_000, PEOPLE, p=chances / chances.sum())


def model_of_pitman(random: np.random.Generator) -> Labels:
    """theta = 500, alpha = 0.6: a newcomer opens a class with chance (theta+u·alpha)/(theta+j).

    Else they join a class with weight n_q - alpha: that of somebody drawn, but only with chance
    1 - alpha where that is the first of the class.
    """
    theta, alpha = 500.0, 0.6
    labels: list[int] = []
    first: list[int] = []
    for j in range(PEOPLE):
        if random.random() * (theta + j) < theta + alpha * len(first):
            labels.append(len(first))
            first.append(j)
            continue
        while True:
            other = int(random.random() * j)
            if first[labels[other]] != other or random.random() > alpha:
                break
        labels.append(labels[other])
    return np.array(labels)


def model_of_snb(random: np.random.Generator) -> Labels:
    """alpha = 0.2, beta = 0.1: every class has one and a negative binomial number of people."""
    sizes = 1 + random.negative_binomial(0.2, 0.1, PEOPLE)
    return np.repeat(np.arange(PEOPLE), sizes)[:PEOPLE]


def adult(path: Path, columns: tuple[str, ...]) -> Labels:
    """The 30,162 people of Adult as a population."""
    with path.open(newline="") as file:
        rows = [tuple(row[name] for name in columns) for row in csv.DictReader(file, delimiter=";")]
    codes = {row: i for i, row in enumerate(dict.fromkeys(rows))}
    return np.array([codes[row] for row in rows])


SIMULATED = {
    "attributes": attributes,
    "lognormal": lognormal,
    "Pitman's model": model_of_pitman,
    "SNB's model": model_of_snb,
}


def unique_share(labels: Labels) -> float:
    return float((np.bincount(labels) == 1).sum()) / len(labels)


def simulated(labels: Labels, fraction: float, seed: int) -> dict[str, Any]:
    """The estimates of so many simple random samples; for the match how many errors it is off."""
    random = np.random.default_rng(seed)
    everybody = np.bincount(labels)
    one_each = np.ones(len(everybody), dtype=np.int64)
    found: dict[str, Any] = {e.__name__: [] for e in ESTIMATES}
    found["unique_match"] = []
    for _ in range(SAMPLES):
        drawn = random.choice(labels, round(fraction * len(labels)), replace=False)
        known = Known.of(np.bincount(drawn, minlength=len(everybody)), everybody, one_each)
        sizes = known.sizes
        for estimate in ESTIMATES:
            found[estimate.__name__].append(estimate(sizes, len(labels)).value)
        guess, truth = unique_match(sizes, len(labels)), known_unique_match(known)
        assert guess.value is not None and truth.value is not None
        error = guess.details["standard_error"]
        found["unique_match"].append((guess.value - truth.value) / error)
    return found


def bias(values: list[float | None], true: float) -> tuple[float, float, int]:
    """Bias and standard deviation relative to the truth, and how often there was no answer."""
    given = np.array([v for v in values if v is not None]) / true
    if not len(given):
        return float("nan"), float("nan"), len(values)
    return float(given.mean() - 1), float(given.std(ddof=1)), len(values) - len(given)


@pytest.mark.parametrize(("model", "name", "fraction"), [(model_of_pitman, "pitman", 0.05),
                                                           (model_of_snb, "snb", 0.5)])  # fmt: skip
def test_a_model_fits_its_own_population(model: Any, name: str, fraction: float) -> None:
    """Within 5 %; SNB only from a large sample, because its number of classes is an estimate."""
    labels = model(np.random.default_rng(1))
    found = simulated(labels, fraction, 2)
    assert abs(bias(found[name], unique_share(labels))[0]) < 0.05


@pytest.mark.parametrize(("fraction", "low", "high"), [(0.1, -0.3, 1.5), (0.5, -0.1, 0.35)])
def test_no_estimate_is_far_off(fraction: float, low: float, high: float) -> None:
    """More often too high than too low; the standard error of the match is what it says."""
    random = np.random.default_rng(3)
    for name, make in SIMULATED.items():
        labels = make(random)
        found = simulated(labels, fraction, 4)
        for estimate in ESTIMATES:
            off, spread, missing = bias(found[estimate.__name__], unique_share(labels))
            assert not missing, (name, estimate.__name__)
            assert low < off < high, (name, estimate.__name__)
            assert spread < 0.1, (name, estimate.__name__)
        match = np.array(found["unique_match"])
        assert abs(match.mean()) < 0.8 and 0.7 < match.std(ddof=1) < 1.4, name


# Means of 30 samples that were drawn elsewhere: Zayatz, Pitman, SNB.
ELSEWHERE = {
    (QI8, 0.1): (0.382, 0.312, 0.296),
    (QI8, 0.2): (0.332, 0.313, 0.299),
    (QI8, 0.5): (0.301, 0.306, 0.298),
    (QI4, 0.2): (0.0126, 0.0146, 0.0131),
    (QI4, 0.5): (0.0106, 0.0125, 0.0108),
}


@pytest.mark.parametrize(("columns", "fraction"), ELSEWHERE)
def test_adult_as_a_population(columns: tuple[str, ...], fraction: float) -> None:
    folder = os.environ.get("SIEVERT_REFERENCE")
    if not folder:
        pytest.skip("SIEVERT_REFERENCE is not set: no reference data to compare with")
    labels = adult(Path(folder) / "data" / "adult" / "adult.csv", columns)
    found = simulated(labels, fraction, 5)
    for estimate, due in zip(ESTIMATES, ELSEWHERE[columns, fraction], strict=False):
        values = [v for v in found[estimate.__name__] if v is not None]
        assert len(values) == SAMPLES
        error = np.std(values, ddof=1) * (1 / SAMPLES + 1 / 30) ** 0.5
        assert np.mean(values) == pytest.approx(due, abs=4 * error + 0.5 * 10.0**-4 + due / 500)


def main(arguments: list[str]) -> None:
    """Print the table in Markdown."""
    random = np.random.default_rng(0)
    populations = {name: make(random) for name, make in SIMULATED.items()}
    for path in arguments:
        populations["Adult, 8 columns"] = adult(Path(path), QI8)
        populations["Adult, 4 columns"] = adult(Path(path), QI4)
    print("| population, unique share | f | Zayatz | Pitman | SNB | Dankar | match, in errors |")
    print("|---|---|---|---|---|---|---|")
    for name, labels in populations.items():
        true = unique_share(labels)
        for k, fraction in enumerate(FRACTIONS):
            found = simulated(labels, fraction, 100 + k)
            cells = []
            for estimate in ESTIMATES:
                off, spread, missing = bias(found[estimate.__name__], true)
                lost = f"; {missing} none" if missing else ""
                cells.append("none" if missing == SAMPLES else f"{off:+.0%} ({spread:.0%}{lost})")
            match = np.array(found["unique_match"])
            cells.append(f"{match.mean():+.1f} ({match.std(ddof=1):.1f})")
            print(f"| {name}, {true:.4f} | {fraction} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
