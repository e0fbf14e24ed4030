"""The posterior of a factor against all assignments of its records, listed in fractions.

Small random factors have overlapping sets, sets inside others, single atoms, the whole domain,
labels of no record, and priors from tiny to huge. What is drawn is compared with what is expected
by its own spread.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from helpers.reasoningtools import dense_shares

from sievert.attacks.reasoning.horizontal.dirichlet_tree import solve_tree, solve_trees
from sievert.attacks.reasoning.horizontal.enumeration import enumerate_tables
from sievert.attacks.reasoning.horizontal.gibbs import UrnSampler
from sievert.attacks.reasoning.model import Factor, FactorPosterior

FACTORS = 200
WAYS = 1500
Sets = list[tuple[int, ...]]


@dataclass
class Listed:
    """Exact expectations of one secret: powers of shares, shares within labels, and tables."""

    population: list[Fraction]
    squares: list[Fraction]
    fourths: list[Fraction]
    inside: list[Fraction]
    tables: dict[tuple[int, ...], Fraction]


def listed(sets: Sets, counts: list[int], prior: list[float]) -> Listed:
    """Every record takes every atom of its label in turn."""
    weights = [Fraction(w) for w in prior]
    size, whole = len(prior), sum(weights, Fraction(0))
    records = [label for label, n in enumerate(counts) for _ in range(n)]
    held: dict[tuple[int, ...], Fraction] = {}
    inside = {(label, atom): Fraction(0) for label in range(len(sets)) for atom in sets[label]}
    tables: dict[tuple[int, ...], Fraction] = {}
    for chosen in itertools.product(*(sets[label] for label in records)):
        table = tuple(chosen.count(atom) for atom in range(size))
        if table not in held:
            held[table] = math.prod(
                (rising(w, n) for w, n in zip(weights, table, strict=True)), start=Fraction(1)
            )
        weight = held[table]
        for label, atom in zip(records, chosen, strict=True):
            inside[label, atom] += weight / counts[label]
        known = tuple(
            sum(c == atom and len(sets[r]) < size for r, c in zip(records, chosen, strict=True))
            for atom in range(size)
        )
        tables[known] = tables.get(known, Fraction(0)) + weight
    total = sum(tables.values())
    tables = {table: weight / total for table, weight in tables.items()}
    n = sum(next(iter(tables)))

    def powers(times: int) -> list[Fraction]:
        return [
            sum((p * rising(w + table[a], times) for table, p in tables.items()), Fraction(0))
            / rising(whole + n, times)
            for a, w in enumerate(weights)
        ]

    shares = [value / total for value in inside.values()]
    return Listed(powers(1), powers(2), powers(4), shares, tables)


def rising(base: Fraction, times: int) -> Fraction:
    return math.prod((base + k for k in range(times)), start=Fraction(1))


def factor_of(sets: Sets, counts: Any, prior: Any) -> Factor:
    starts = np.cumsum([0, *map(len, sets)])
    members = np.array([atom for label in sets for atom in label], dtype=np.int64)
    return Factor(
        prior=np.asarray(prior, dtype=np.float64),
        starts=starts,
        members=members,
        counts=np.asarray(counts),
    )


def laminar(sets: list[set[int]]) -> bool:
    return all(
        not one & other or one <= other or other <= one
        for one, other in itertools.combinations(sets, 2)
    )


def split(rng: np.random.Generator, atoms: list[int]) -> Sets:
    """Sets inside a set, and inside these."""
    if len(atoms) < 2:
        return [tuple(atoms)]
    cut = int(rng.integers(1, len(atoms)))
    mixed = rng.permutation(atoms).tolist()
    found = [tuple(sorted(atoms))]
    return found + split(rng, sorted(mixed[:cut])) + split(rng, sorted(mixed[cut:]))


def weights_of(rng: np.random.Generator, size: int, kind: int) -> list[float]:
    if kind == 0:
        return [1.0] * size
    if kind == 1:
        return [float(w) for w in rng.choice([0.25, 0.1, 1.0, 3.0, 7.5], size)]
    if kind == 2:
        return [1e-6] * size
    if kind == 3:
        return [float(w) for w in 10.0 ** rng.integers(-9, 10, size)]
    return [1e12] * (size - 1) + [1e-6]


def random_factor(seed: int) -> tuple[Sets, Any, list[list[float]]]:
    rng = np.random.default_rng([11, seed])
    size = int(rng.integers(1, 6))
    if seed % 3 == 0:
        every = sorted(set(split(rng, list(range(size)))))
    else:
        every = [
            label for n in range(1, size + 1) for label in itertools.combinations(range(size), n)
        ]
    few = min(len(every), int(rng.integers(1, 6)))
    sets = [every[i] for i in rng.choice(len(every), few, replace=False)]
    counts = np.zeros((few, 2), dtype=np.int64)
    for s in range(2):
        ways = 1
        for _ in range(int(rng.integers(0, 9))):
            label = int(rng.integers(few))
            if ways * len(sets[label]) <= WAYS:
                ways *= len(sets[label])
                counts[label, s] += 1
    return sets, counts, [weights_of(rng, size, (seed + s) % 5) for s in range(2)]


def same(found: FactorPosterior, exact: Listed) -> None:
    for numbers, fractions in ((found.population, exact.population), (found.inside, exact.inside)):
        assert numbers.tolist() == pytest.approx([float(x) for x in fractions], rel=1e-13, abs=0)


@pytest.mark.parametrize("block", range(10))
def test_all_assignments(block: int) -> None:
    for seed in range(block * FACTORS // 10, (block + 1) * FACTORS // 10):
        sets, counts, prior = random_factor(seed)
        factor = factor_of(sets, counts, prior)
        shared = solve_trees(factor)
        for s in range(2):
            exact = listed(sets, counts[:, s].tolist(), prior[s])
            tables = enumerate_tables(factor, s)
            assert tables is not None
            same(tables.posterior(), exact)
            found = {
                tuple(row): w
                for row, w in zip(tables.counts().tolist(), tables.weights, strict=True)
            }
            assert len(found) == len(tables.weights)
            for atom in range(len(prior[s])):
                assert np.array_equal(tables.number(atom), tables.counts()[:, atom])
            assert found.keys() == exact.tables.keys()
            for table, weight in found.items():
                assert weight == pytest.approx(float(exact.tables[table]), rel=1e-13, abs=0)
            tree = solve_tree(factor, s)
            seen = [set(label) for label, n in zip(sets, counts[:, s], strict=True) if n]
            assert (tree is not None) == laminar(seen)
            for each in (tree, shared[s]):
                if each is None:
                    assert not laminar(seen)
                    continue
                same(each.posterior(), exact)
                for atom in range(len(prior[s])):
                    betas = each.betas(atom)
                    assert all(b > 0 and c > 0 for b, c in betas)
                    mean = math.prod(b / (b + c) for b, c in betas)
                    square = math.prod(b * (b + 1) / ((b + c) * (b + c + 1)) for b, c in betas)
                    assert mean == pytest.approx(float(exact.population[atom]), rel=1e-12)
                    assert square == pytest.approx(float(exact.squares[atom]), rel=1e-12)


def test_the_random_factors_are_of_all_kinds() -> None:
    kinds = {"overlap": 0, "nested": 0, "single": 0, "whole": 0, "none": 0}
    for seed in range(FACTORS):
        sets, counts, prior = random_factor(seed)
        for s in range(2):
            seen = [set(label) for label, n in zip(sets, counts[:, s], strict=True) if n]
            kinds["overlap"] += not laminar(seen)
            kinds["nested"] += laminar(seen) and any(
                one < other and len(other) < len(prior[s]) for one in seen for other in seen
            )
            kinds["single"] += any(len(label) == 1 for label in seen)
            kinds["whole"] += any(len(label) == len(prior[s]) > 1 for label in seen)
            kinds["none"] += len(seen) < len(sets)
    assert min(kinds.values()) >= 20, kinds


CASES: list[tuple[Sets, list[int], list[float]]] = [
    # Overlapping sets, a single atom, the whole domain.
    ([(0, 1), (1, 2), (0, 2, 3), (1,), (0, 1, 2, 3, 4)], [2, 2, 1, 2, 1], [1.0] * 5),
    ([(0, 1, 2), (2, 3), (0, 3)], [3, 2, 3], [0.5, 1.0, 2.0, 0.25]),
    ([(0, 1), (1, 2)], [4, 4], [0.3, 3.0, 1e-3]),
    # Cells that are drawn as counts.
    ([(0, 1), (1, 2), (0, 2)], [30, 25, 3], [1.0, 0.5, 2.0]),
    ([(0, 1, 2), (1, 2, 3), (3, 4)], [13, 13, 11], [1.0, 1.0, 0.2, 0.7, 1.5]),
    ([(0, 1), (1, 2), (2, 3)], [9, 2, 60], [1e4, 2e4, 1e4, 3e4]),
    # Apart: nothing is learned within a set.
    ([(0, 1), (2, 3)], [3, 50], [1.0, 3.0, 0.1, 0.2]),
]


@pytest.mark.parametrize("case", range(len(CASES)))
def test_chains_against_all_tables(case: int) -> None:
    sets, counts, prior = CASES[case]
    factor = factor_of(sets, np.array([counts]).T, [prior])
    tables = enumerate_tables(factor, 0)
    assert tables is not None
    exact = tables.posterior()
    chain = UrnSampler(factor, [0], np.random.default_rng([1, case]))
    chain.sweep(300)
    chain.read()
    populations, insides, tallies = [], [], []
    for _ in range(80):
        tally = np.zeros(len(prior))
        for _ in range(20):
            chain.sweep(25)
            tally += chain.counts[0]
        population, inside = chain.read()
        populations.append(population[0])
        insides.append(dense_shares(chain, inside)[0])
        tallies.append(tally / 20)
    expected = tables.weights @ tables.counts()
    for found, right in (
        (populations, exact.population),
        (insides, exact.inside),
        (tallies, expected),
    ):
        error = np.std(found, axis=0, ddof=1) / math.sqrt(len(found))
        assert np.all(np.abs(np.mean(found, axis=0) - right) <= 4 * error + 1e-12)


def test_chains_of_many_secrets_do_not_meet() -> None:
    sets = [(0, 1, 2), (1, 2, 3), (0, 3), (2,)]
    rng = np.random.default_rng(4)
    counts = rng.integers(0, 4, (4, 6))
    counts[:, 2] = 0
    prior = rng.choice([0.5, 1.0, 4.0], (6, 4))
    factor = factor_of(sets, counts, prior)
    secrets = [5, 0, 2, 3]
    chain = UrnSampler(factor, secrets, rng)
    chain.sweep(100)
    chain.read()
    found = []
    for _ in range(60):
        chain.sweep(400)
        population, inside = chain.read()
        found.append(np.concatenate((population, dense_shares(chain, inside)), axis=1))
    error = np.std(found, axis=0, ddof=1) / math.sqrt(len(found))
    for row, s in enumerate(secrets):
        exact = listed(sets, counts[:, s].tolist(), prior[s].tolist())
        right = np.array([float(x) for x in (*exact.population, *exact.inside)])
        assert np.all(np.abs(np.mean(found, axis=0)[row] - right) <= 4 * error[row] + 1e-12)


@pytest.mark.parametrize(
    ("sets", "counts", "prior"),
    [
        ([(0, 1, 2, 3), (0, 1), (2,), (4, 5)], [3, 4, 1, 2], [1.0, 0.5, 2.0, 1.0, 0.3, 1.0]),
        ([(0, 1), (2, 3)], [2, 3], [1e-6] * 5),
        ([(0, 1, 2), (1, 2)], [1, 5], [1e6, 3e6, 1e3]),
        ([(0, 1), (1, 2), (0, 2)], [3, 2, 2], [1.0, 0.5, 3.0, 1.0]),
        ([(0, 1), (1, 2)], [3, 2], [1e-6, 1e-6, 1e-6]),
    ],
)
def test_draws(sets: Sets, counts: list[int], prior: list[float]) -> None:
    factor = factor_of(sets, np.array([counts]).T, [prior])
    exact = listed(sets, counts, prior)
    ways = [way for way in (solve_tree(factor, 0), enumerate_tables(factor, 0)) if way is not None]
    times = 40_000
    for way in ways:
        drawn = way.draw(np.random.default_rng(9), times)
        assert drawn.shape == (times, len(prior))
        assert np.all((drawn >= 0) & (drawn <= 1 + 1e-12))
        assert np.abs(drawn.sum(axis=1) - 1).max() < 1e-12
        for moment, right, square in (
            (drawn, exact.population, exact.squares),
            (drawn**2, exact.squares, exact.fourths),
        ):
            spread = [math.sqrt(two - one**2) for one, two in zip(right, square, strict=True)]
            wrong = np.abs(moment.mean(axis=0) - np.array([float(x) for x in right]))
            assert np.all(wrong <= 4 / math.sqrt(times) * np.array(spread))


def test_what_a_chain_draws() -> None:
    sets, counts, prior = CASES[1]
    factor = factor_of(sets, np.array([counts]).T, [prior])
    exact = listed(sets, counts, prior)
    rng = np.random.default_rng(2)
    chain = UrnSampler(factor, [0], rng)
    chain.sweep(100)
    batches = []
    for _ in range(50):
        drawn = []
        for _ in range(60):
            chain.sweep(3)
            drawn.append(chain.draw(rng)[0])
        batches.append(np.mean([np.concatenate((pi, pi**2)) for pi in drawn], axis=0))
    right = np.array([float(x) for x in (*exact.population, *exact.squares)])
    error = np.std(batches, axis=0, ddof=1) / math.sqrt(len(batches))
    assert np.all(np.abs(np.mean(batches, axis=0) - right) <= 4 * error)


@pytest.mark.parametrize("weight", [1e-6, 1e9])
def test_many_records_with_extreme_priors(weight: float) -> None:
    """Apart sets have no chain to mix: shares within a label keep their prior ratio."""
    factor = factor_of([(0, 1, 2), (3, 4)], [[100_000], [50]], [[weight, weight, 2 * weight, 1, 1]])
    tree = solve_tree(factor, 0)
    assert tree is not None
    exact = tree.posterior()
    assert exact.inside.tolist() == pytest.approx([0.25, 0.25, 0.5, 0.5, 0.5], rel=1e-14)
    chain = UrnSampler(factor, [0], np.random.default_rng(0))
    chain.sweep(50)
    population, inside = chain.read()
    assert dense_shares(chain, inside)[0].tolist() == pytest.approx(
        exact.inside.tolist(), rel=1e-12
    )
    assert population[0].tolist() == pytest.approx(exact.population.tolist(), rel=1e-12)
    assert np.isfinite(chain.draw(np.random.default_rng(1))).all()
