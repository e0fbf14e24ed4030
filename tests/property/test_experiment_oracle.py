"""The experiment of approximate compromise against plain loops in fractions.

What chance does (who is sampled, the order of the queries, the noise) comes from the methods
themselves; everything after it is counted again, record by record: the matches of every
combination of every set of columns, bounds by narrowing intervals along the chain of sums, the
entropy of every window, the means over combinations and over records.
"""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

import sievert
from sievert.commands.compromise.run import QUERIES, multiples
from sievert.methods import Queries, add_noise, draw_sample, range_queries, restrict_queries

RECORDS, REPLICATES, SEED = 200, 2, 5
EPSILONS = (0.0, 3.0, 12.0)
VALUES = [1, 2, 4, 5, 7, 10, 11, 16, 18]
Dist = tuple[Fraction, ...]


def people() -> dict[str, list[str]]:
    """200 records: a secret that depends a little on three known columns."""
    rng = random.Random(11)
    table: dict[str, list[str]] = {"age": [], "sex": [], "town": [], "pay": []}
    for _ in range(RECORDS):
        age, sex = rng.randint(8, 23), rng.choice("fm")
        table["age"].append(str(age))
        table["sex"].append(sex)
        table["town"].append(rng.choice(["north", "south", "east", "west", "west"]))
        place = min(8, max(0, round(rng.gauss((age - 8) / 3 + (sex == "m"), 2))))
        table["pay"].append(str(VALUES[place]))
    return table


TABLE = people()
KNOWN = ("age", "sex", "town")
ORDERS = {
    "age": sorted(set(TABLE["age"]), key=int),
    "sex": sorted(set(TABLE["sex"])),
    "town": sorted(set(TABLE["town"])),
}
CODES = np.array([[ORDERS[c].index(TABLE[c][i]) for c in KNOWN] for i in range(RECORDS)])
DOMAIN = sorted({int(p) for p in TABLE["pay"]})
SECRET = np.array([DOMAIN.index(int(p)) for p in TABLE["pay"]])


# -- what each record's match tells, as a distribution over the domain ------------------------


def even(places: Sequence[int]) -> Dist:
    return tuple(Fraction(i in places, len(places)) for i in range(len(DOMAIN)))


def from_sample(fraction: float, seed: tuple[int, ...]) -> list[Dist]:
    taken = draw_sample(SECRET, DOMAIN, fraction, seed).taken
    assert taken.sum() == round(fraction * RECORDS)
    whole = range(len(DOMAIN))
    return [even([int(c)] if t else whole) for c, t in zip(SECRET, taken, strict=True)]


def from_sums(size: int, seed: tuple[int, ...]) -> list[Dist]:
    order = restrict_queries(SECRET, DOMAIN, size, seed).order.tolist()
    pay, half = [DOMAIN[c] for c in SECRET], size // 2
    blocks = [order[i : i + half] for i in range(0, RECORDS - half + 1, half)]
    totals = [sum(pay[r] for r in block) for block in blocks]
    answers = [a + b for a, b in itertools.pairwise(totals)]
    assert len(answers) == 2 * RECORDS // size - 1
    least, most = DOMAIN[0], DOMAIN[-1]
    low, high = [half * least] * len(blocks), [half * most] * len(blocks)
    there = list(range(len(answers)))
    for one, other, places in ((0, 1, there), (1, 0, there[::-1])):  # along the chain and back
        for j in places:
            a, b = j + one, j + other
            low[b] = max(low[b], answers[j] - high[a])
            high[b] = min(high[b], answers[j] - low[a])
    found = [even(range(len(DOMAIN)))] * RECORDS
    for j, block in enumerate(blocks):
        bottom, top = low[j] - (half - 1) * most, high[j] - (half - 1) * least
        inside = [i for i, d in enumerate(DOMAIN) if bottom <= d <= top]
        for record in block:
            assert SECRET[record] in inside
            found[record] = even(inside)
    return found


def from_noise(percent: float, seed: tuple[int, ...], weights: str) -> list[Dist]:
    made = add_noise(CODES, SECRET, DOMAIN, percent, seed)
    span = 2 * round(Fraction(percent) * (len(DOMAIN) - 1) / 200)
    found = []
    for released in made.secret.tolist():
        reached = [i for i in range(len(DOMAIN)) if abs(released - i) <= span // 2]
        if weights == "uniform":
            found.append(even(reached))
            continue
        chance = [
            math.comb(span, released - i + span // 2) if i in reached else 0
            for i in range(len(DOMAIN))
        ]
        found.append(tuple(Fraction(c, sum(chance)) for c in chance))
    return found


# -- entropy and area ---------------------------------------------------------------------------


def term(mass: Fraction) -> float:
    return -float(mass) * math.log2(mass) if mass else 0.0


@cache
def window(chances: Dist, eps: int) -> float:
    held = [(d, p) for d, p in zip(DOMAIN, chances, strict=True) if p]
    best = [0.0]
    for i in range(1, len(held) + 1):
        fits = [j for j in range(i) if held[i - 1][0] - held[j][0] <= eps]
        best.append(min(best[j] + term(sum((p for _, p in held[j:i]), Fraction())) for j in fits))
    return best[-1]


@cache
def measured(chances: Dist) -> tuple[float, float, int]:
    """H0, the area, and the range of what is possible."""
    held = [d for d, p in zip(DOMAIN, chances, strict=True) if p]
    span = held[-1] - held[0]
    return window(chances, 0), math.fsum(window(chances, e) for e in range(span)), span


# -- the experiment -----------------------------------------------------------------------------


def slow(matches: Callable[[tuple[int, ...]], list[Dist]], place: int) -> dict[int, list[Any]]:
    """By number of known columns: (records, H0, area, range) of every target and replicate."""
    found: dict[int, list[Any]] = defaultdict(list)
    for number in range(REPLICATES):
        each = matches((SEED, place, number))
        for count in (1, 2, 3):
            for columns in itertools.combinations(range(3), count):
                groups: dict[tuple[int, ...], list[int]] = defaultdict(list)
                for record in range(RECORDS):
                    groups[tuple(CODES[record, list(columns)].tolist())].append(record)
                for group in groups.values():
                    times = Counter(each[r] for r in group)
                    mixed = tuple(
                        sum((n * dist[i] for dist, n in times.items()), Fraction()) / len(group)
                        for i in range(len(DOMAIN))
                    )
                    assert sum(mixed) == 1
                    found[count].append((len(group), *measured(mixed)))
    return found


def told(numbers: list[float], weights: list[int]) -> tuple[float, float, float]:
    """Mean, least, and the least number that 5 % do not exceed."""
    whole = sum(weights)
    pairs = sorted(zip(numbers, weights, strict=True))
    below = itertools.accumulate(w for _, w in pairs)
    number = next(n for (n, _), seen in zip(pairs, below, strict=True) if 20 * seen >= whole)
    mean = math.fsum(n * w for n, w in zip(numbers, weights, strict=True)) / whole
    return mean, min(numbers), number


CASES: dict[str, tuple[str, tuple[float, ...], dict[str, Any], Any]] = {
    "sampling": ("sampling", (0.1, 0.5), {}, lambda p: lambda s: from_sample(p, s)),
    "query": ("query", (2, 4, 6), {}, lambda p: lambda s: from_sums(int(p), s)),
    "noise": ("noise", (25, 100), {}, lambda p: lambda s: from_noise(p, s, "uniform")),
    "posterior": (
        "noise", (25, 100), {"weights": "posterior"},
        lambda p: lambda s: from_noise(p, s, "posterior"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_every_cell(case: str) -> None:
    method, parameters, options, matches = CASES[case]
    found = sievert.compromise(
        TABLE, KNOWN, "pay", method=method, parameters=parameters, replicates=REPLICATES,
        seed=SEED, epsilon=EPSILONS, **options,
    )  # fmt: skip
    for place, (parameter, curve) in enumerate(zip(parameters, found.curves["pay"], strict=True)):
        expected = slow(matches(parameter), place)
        assert [p.known for p in curve.points] == [1, 2, 3]
        for point in curve.points:
            cells = expected[point.known]
            sizes, alike = [c[0] for c in cells], [1] * len(cells)
            assert point.subsets == math.comb(3, point.known)
            assert point.targets * REPLICATES == len(cells)
            for over, weights in ((point.combinations, alike), (point.records, sizes)):
                for name, at in (("initial_entropy", 1), ("area", 2)):
                    t = over[name]
                    assert (t.mean, t.minimum, t.quantile) == pytest.approx(
                        told([c[at] for c in cells], weights), rel=1e-12, abs=1e-13
                    )
            assert point.exact == pytest.approx(shares(cells, 0), rel=1e-12)
            for eps in EPSILONS:
                assert point.near[eps] == pytest.approx(shares(cells, eps), rel=1e-12)


def shares(cells: list[Any], eps: float) -> tuple[float, float]:
    """Of combinations and of records, those whose possible values fit one window."""
    near = [c[0] for c in cells if c[3] <= eps]
    return len(near) / len(cells), sum(near) / sum(c[0] for c in cells)


def test_sampling_is_the_papers_formula() -> None:
    """p_i = f_i/|Mo| + (1 - |Ms|/|Mo|)/|D|, of one combination."""
    taken = draw_sample(SECRET, DOMAIN, 0.5, (SEED, 1, 0)).taken
    each = from_sample(0.5, (SEED, 1, 0))
    group = [i for i in range(RECORDS) if TABLE["sex"][i] == "f"]
    for i in range(len(DOMAIN)):
        f = sum(1 for r in group if taken[r] and SECRET[r] == i)
        unseen = sum(1 for r in group if not taken[r])
        share = Fraction(f, len(group)) + Fraction(unseen, len(group) * len(DOMAIN))
        assert sum((each[r][i] for r in group), Fraction()) / len(group) == share


def test_utility() -> None:
    """The error of range means, by walking over the records."""
    found = sievert.compromise(
        TABLE, KNOWN, "pay", parameters=[0.5], replicates=REPLICATES, seed=SEED
    )
    queries = range_queries(CODES, SECRET, DOMAIN, QUERIES, SEED)
    everybody = set(range(RECORDS))
    errors = []
    for number in range(REPLICATES):
        taken = draw_sample(SECRET, DOMAIN, 0.5, (SEED, 0, number)).taken
        sample = set(np.flatnonzero(taken).tolist())
        squares = [
            ((mean(queries, i, sample) - mean(queries, i, everybody)) / mean(queries, i, everybody))
            ** 2
            for i in range(len(queries.truth))
        ]
        errors.append(math.sqrt(math.fsum(squares) / len(squares)))
    assert found.curves["pay"][0].error == pytest.approx(sum(errors) / len(errors), rel=1e-12)


def mean(queries: Queries, at: int, among: set[int]) -> float:
    """The answer to one query; of all records among whom nobody is in the range."""
    chosen = [
        r
        for r in among
        if all(
            c < 0 or queries.low[at, side] <= CODES[r, c] <= queries.high[at, side]
            for side, c in enumerate(queries.columns[at].tolist())
        )
    ]
    return sum(int(TABLE["pay"][r]) for r in chosen or among) / len(chosen or among)


@pytest.mark.parametrize("method", ["sampling", "query", "noise"])
def test_the_unit_does_not_matter(method: str) -> None:
    """Tenths, rounded to tenths, leave what whole numbers leave: 3·0.1 is 0.3."""
    tenths = {**TABLE, "pay": [f"{int(p) / 10}4" for p in TABLE["pay"]]}
    parameters = {"sampling": [0.2], "query": [4.0], "noise": [50.0]}[method]
    plain = sievert.compromise(
        TABLE, KNOWN, "pay", method=method, parameters=parameters, replicates=REPLICATES
    )
    small = sievert.compromise(
        tenths, KNOWN, "pay", method=method, parameters=parameters, replicates=REPLICATES, step=0.1
    )
    for a, b in zip(plain.curves["pay"][0].points, small.curves["pay"][0].points, strict=True):
        for over in ("combinations", "records"):
            one, other = getattr(a, over), getattr(b, over)
            assert other["initial_entropy"].mean == one["initial_entropy"].mean
            assert 10 * other["area"].mean == pytest.approx(one["area"].mean, rel=1e-14)


def test_halves_are_rounded_as_they_are_written() -> None:
    for step in ("0.1", "0.01", "0.2", "5", "0.3"):
        numbers = [f"{i / 1000:.3f}" for i in range(-400, 400, 5)] + [str(i / 2) for i in range(99)]
        exact = [float(round(Fraction(n) / Fraction(step)) * Fraction(step)) for n in numbers]
        rounded = multiples(np.array([float(n) for n in numbers]), float(step))
        assert rounded.tolist() == exact
