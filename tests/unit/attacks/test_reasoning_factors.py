"""The posterior of a factor three ways, on the worked examples of a table with eight patients.

The expected numbers are fractions found by listing all assignments of the examples.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest
from helpers.reasoningtools import dense_shares, shares_at

from sievert.attacks.reasoning.horizontal.dirichlet_tree import (
    build_forest,
    solve_tree,
    solve_trees,
)
from sievert.attacks.reasoning.horizontal.enumeration import enumerate_tables
from sievert.attacks.reasoning.horizontal.gibbs import UrnSampler
from sievert.attacks.reasoning.model import Factor, FactorPosterior
from sievert.errors import UsageError

SECRETS = ("Heart", "Flu", "Stomach", "HIV", "Diabetes")
SEEN = (("Heart", "Flu"), ("Flu", "Stomach"), ("HIV", "Diabetes"), ("Flu", "Heart"))
NATIONS = ("MJ", "J", "CJ", "IM")
ZIPS = ("1", "2", "3", "4", "6", "7")  # 45501 45502 55503 55504 66601 77701
CODES = ("12", "34", "6", "7")
EIGHT = ("M1", "J2", "J3", "J4", "C6", "J6", "I7", "M7")
PAIRS = tuple((EIGHT[2 * g], EIGHT[2 * g + 1]) for g in range(4))
BOXES = tuple(
    tuple(n + z for n in nations for z in zips)
    for nations, zips in zip(NATIONS, CODES, strict=True)
)
Groups = Sequence[Iterable[str]]


class Example:
    """A release whose groups have these sets, one factor an item."""

    def __init__(self, *factors: tuple[Groups, Sequence[str], Sequence[float] | None]) -> None:
        self.domains = [domain for _, domain, _ in factors]
        self.groups = [[set(label) for label in groups] for groups, _, _ in factors]
        self.labels: list[list[int]] = []
        self.factors = []
        for groups, (_, domain, weights) in zip(self.groups, factors, strict=True):
            distinct = [label for g, label in enumerate(groups) if label not in groups[:g]]
            of = [distinct.index(label) for label in groups]
            sets = [sorted(domain.index(value) for value in label) for label in distinct]
            counts = np.zeros((len(sets), len(SECRETS)), dtype=np.int64)
            for label, secrets in zip(of, SEEN, strict=True):
                for secret in secrets:
                    counts[label, SECRETS.index(secret)] += 1
            prior = np.ones(len(domain)) if weights is None else np.array(weights)
            starts = np.cumsum([0, *map(len, sets)])
            members = np.concatenate(sets)
            self.factors.append(
                Factor(prior=np.tile(prior, (5, 1)), starts=starts, members=members, counts=counts)
            )
            self.labels.append(of)

    def beliefs(self, victim: Sequence[str], found: Sequence[Sequence[FactorPosterior]]) -> Any:
        """p_A and p_L4 of a victim, with a posterior for each factor and secret."""
        atoms = [d.index(value) for d, value in zip(self.domains, victim, strict=True)]
        attacker, learner = np.zeros(5), np.zeros(5)
        for s, secret in enumerate(SECRETS):
            for g, secrets in enumerate(SEEN):
                share = float(secrets.count(secret))
                for f, factor in enumerate(self.factors):
                    label = self.labels[f][g]
                    own = factor.members[factor.starts[label] : factor.starts[label + 1]]
                    place = np.flatnonzero(own == atoms[f])
                    at = factor.starts[label] + place
                    share *= float(found[f][s].inside[at[0]]) if len(place) else 0.0
                attacker[s] += share
            learner[s] = 1 + sum(secrets.count(secret) for secrets in SEEN)
            for f, atom in enumerate(atoms):
                learner[s] *= found[f][s].population[atom]
        return attacker / attacker.sum(), learner / learner.sum()


NATION = Example((NATIONS, "MJCI", None))
OBSERVED = Example((PAIRS, EIGHT, None))
CROSS = Example((BOXES, [n + z for n in "MJCI" for z in ZIPS], None))
PRODUCT = Example((NATIONS, "MJCI", None), (CODES, ZIPS, None))
UNLUMPED = Example((("MJKL", "J", "CJ", "IMKL"), "MJCIKLxyz", None))
LUMPED = Example((("MJK", "J", "CJ", "IMK"), "MJCIKx", [1, 1, 1, 1, 2, 3]))

NH = {
    "M": ([F(6, 11), F(5, 11), 0, 0, 0], [F(k, 241) for k in (77, 80, 28, 28, 28)]),
    "J": (
        [F(14, 139), F(55, 139), F(35, 139), F(35, 278), F(35, 278)],
        [F(343, 2043), F(80, 227), F(392, 2043), F(98, 681), F(98, 681)],
    ),
    "C": ([0, 0, 0, F(1, 2), F(1, 2)], [F(k, 187) for k in (35, 40, 28, 42, 42)]),
    "I": ([F(14, 29), F(15, 29), 0, 0, 0], [F(k, 1331) for k in (343, 400, 196, 196, 196)]),
}
NB = {
    "M1": ([F(7, 12), F(5, 12), 0, 0, 0], [F(k, 1909) for k in (693, 640, 192, 192, 192)]),
    "J2": ([F(7, 17), F(10, 17), 0, 0, 0], [F(k, 5189) for k in (1029, 1920, 896, 672, 672)]),
    "M7": (
        [F(21, 41), F(20, 41), 0, 0, 0],
        [F(693, 1765), F(128, 353), *[F(144, 1765)] * 3],
    ),
    "I7": ([F(14, 29), F(15, 29), 0, 0, 0], [F(k, 9311) for k in (3087, 3200, *[1008] * 3)]),
    "J6": (
        [0, 0, 0, F(1, 2), F(1, 2)],
        [F(343, 2775), F(128, 555), F(448, 2775), F(224, 925), F(224, 925)],
    ),
}


def by_trees(factor: Factor) -> list[FactorPosterior]:
    found = [solve_tree(factor, s) for s in range(5)]
    assert None not in found
    return [tree.posterior() for tree in found if tree is not None]


def by_tables(factor: Factor) -> list[FactorPosterior]:
    found = [enumerate_tables(factor, s) for s in range(5)]
    return [tables.posterior() for tables in found if tables is not None]


def by_either(factor: Factor) -> list[FactorPosterior]:
    """In closed form where there is one."""
    found = [solve_tree(factor, s) or enumerate_tables(factor, s) for s in range(5)]
    return [each.posterior() for each in found if each is not None]


EXACT = (by_tables, by_either)
Way = Callable[[Factor], list[FactorPosterior]]


def checked(example: Example, victim: Sequence[str], way: Way, expected: Any) -> None:
    found = example.beliefs(victim, [way(factor) for factor in example.factors])
    for numbers, exact in zip(found, expected, strict=True):
        assert numbers.tolist() == pytest.approx([float(x) for x in exact], rel=1e-13, abs=1e-300)


@pytest.mark.parametrize("way", EXACT)
@pytest.mark.parametrize("victim", NH)
def test_nationality(victim: str, way: Way) -> None:
    checked(NATION, victim, way, NH[victim])


@pytest.mark.parametrize("way", EXACT)
@pytest.mark.parametrize("victim", NB)
def test_two_attributes(victim: str, way: Way) -> None:
    checked(PRODUCT, victim, way, NB[victim])


def test_only_flu_has_overlapping_sets() -> None:
    found = [solve_tree(NATION.factors[0], s) is None for s in range(5)]
    assert found == [True, True, False, False, False]
    assert [tree is None for tree in solve_trees(NATION.factors[0])] == found
    assert None not in solve_trees(PRODUCT.factors[1])


@pytest.mark.parametrize("way", [by_trees, by_tables])
def test_observed_pairs(way: Way) -> None:
    learners = {
        "M1": [0.2707383774, 0.3281677302, *[0.1336979641] * 3],
        "J6": [0.1932335719, 0.2342225114, 0.1431359792, 0.2147039688, 0.2147039688],
    }
    found = [way(OBSERVED.factors[0])]
    for victim, expected in learners.items():
        attacker, learner = OBSERVED.beliefs([victim], found)
        assert sorted(attacker.tolist()) == pytest.approx([0, 0, 0, 0.5, 0.5], rel=1e-14)
        assert learner.tolist() == pytest.approx(expected, abs=5.1e-11)


@pytest.mark.parametrize("way", [by_trees, by_tables])
def test_all_pairs(way: Way) -> None:
    _, learner = CROSS.beliefs(["M1"], [way(CROSS.factors[0])])
    expected = [0.2532959748, 0.3252195232, *[0.1404948340] * 3]
    assert learner.tolist() == pytest.approx(expected, abs=5.1e-11)


@pytest.mark.parametrize("way", EXACT)
def test_lumping(way: Way) -> None:
    one = UNLUMPED.beliefs("M", [way(UNLUMPED.factors[0])])
    other = LUMPED.beliefs("M", [way(LUMPED.factors[0])])
    assert one[0][0] == pytest.approx(0.5239179954, abs=5.1e-11)
    for mine, theirs in zip(one, other, strict=True):
        assert mine.tolist() == pytest.approx(theirs.tolist(), rel=1e-13)


@pytest.mark.parametrize(
    ("example", "victims"), [(NATION, NH), (PRODUCT, NB), (CROSS, ("M1",)), (LUMPED, "MJ")]
)
def test_chains_come_close(example: Example, victims: Iterable[str]) -> None:
    exact = [by_either(factor) for factor in example.factors]
    chains = [
        UrnSampler(f, range(5), np.random.default_rng([7, i]))
        for i, f in enumerate(example.factors)
    ]
    batches = []
    for chain in chains:
        chain.sweep(200)
        chain.read()
        means = []
        for _ in range(60):
            chain.sweep(500)
            population, inside = chain.read()
            means.append(
                [
                    FactorPosterior(*both)
                    for both in zip(population, dense_shares(chain, inside), strict=True)
                ]
            )
        batches.append(means)
    for victim in victims:
        expected = np.array(example.beliefs(victim if len(chains) > 1 else [victim], exact))
        each = [
            example.beliefs(victim if len(chains) > 1 else [victim], found)
            for found in zip(*batches, strict=True)
        ]
        error = np.std(each, axis=0, ddof=1) / np.sqrt(len(each))
        assert np.all(np.abs(np.mean(each, axis=0) - expected) <= 4 * error + 1e-14)


def mixed() -> Factor:
    """Overlapping sets with few and with many records, single atoms, and any atom; tiny weights."""
    sets = [[0, 1, 2], [1, 2, 3], [2, 3, 4, 5], [0], [5], [0, 1, 2, 3, 4, 5, 6], [3, 4]]
    counts = np.array([[5, 40], [3, 2], [90, 9], [4, 0], [0, 7], [6, 1], [0, 0]])
    prior = np.stack((np.full(7, 1e-6), np.linspace(0.2, 3, 7)))
    return Factor(
        prior=prior,
        starts=np.cumsum([0, *map(len, sets)]),
        members=np.concatenate(sets),
        counts=counts,
    )


def test_compiled_and_plain_chains_are_the_same() -> None:
    chains = [
        UrnSampler(mixed(), [1, 0], np.random.default_rng(3), compiled=compiled)
        for compiled in (True, False)
    ]
    for _ in range(3):
        for chain in chains:
            chain.sweep(40)
        fast, plain = chains
        assert np.array_equal(fast.counts, plain.counts)
        (population, inside), (alike, within) = fast.read(), plain.read()
        assert population.tobytes() == alike.tobytes()
        assert dense_shares(fast, inside).tobytes() == dense_shares(plain, within).tobytes()


def test_chains_in_threads() -> None:
    def run(seed: int, found: dict[int, bytes]) -> None:
        chain = UrnSampler(mixed(), [0, 1], np.random.default_rng([5, seed]))
        chain.sweep(300)
        found[seed] = dense_shares(chain, chain.read()[1]).tobytes()

    alone: dict[int, bytes] = {}
    together: dict[int, bytes] = {}
    for seed in range(4):
        run(seed, alone)
    threads = [threading.Thread(target=run, args=(seed, together)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert alone == together


def test_a_chain_keeps_its_books() -> None:
    factor = mixed()
    chain = UrnSampler(factor, [1], np.random.default_rng(0))
    for _ in range(20):
        chain.sweep()
        assert chain.counts.min() >= 0
        assert chain.counts.sum() == 40 + 2 + 9 + 7  # not the record of the whole domain
        assert chain.counts[0, 5] >= 7
        assert chain.counts[0, 6] == 0
    population, inside = chain.read()
    assert population.sum() == pytest.approx(1, rel=1e-14)
    dense = dense_shares(chain, inside)[0]
    sums = np.add.reduceat(dense, factor.starts[:-1])
    assert sums.tolist() == pytest.approx([1, 1, 1, 0, 1, 1, 0], rel=1e-14)
    assert np.array_equal(dense[factor.starts[5] : factor.starts[6]], population[0])
    places = np.array([2, 16, 0])
    assert np.array_equal(shares_at(chain, inside, np.zeros(3, dtype=int), places), dense[places])
    drawn = chain.draw(np.random.default_rng(1))
    assert drawn.shape == (1, 7)
    assert drawn.sum() == pytest.approx(1)
    with pytest.raises(UsageError, match="after a sweep"):
        chain.read()


def test_a_chain_without_open_records() -> None:
    factor = Factor(
        prior=np.ones((1, 2)),
        starts=np.array([0, 1, 3]),
        members=np.array([1, 0, 1]),
        counts=np.array([[3], [2]]),
    )
    chain = UrnSampler(factor, [0], np.random.default_rng(0))
    chain.sweep(2)
    population, inside = chain.read()
    assert population.tolist() == [[0.2, 0.8]]
    assert dense_shares(chain, inside).tolist() == [[1, 0.2, 0.8]]


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, np.inf, 1e-320])
def test_prior_weights_that_are_no_numbers(bad: float) -> None:
    factor = Factor(
        prior=np.array([[1.0, bad]]),
        starts=np.array([0, 1]),
        members=np.array([0]),
        counts=np.array([[1]]),
    )
    for run in (
        solve_tree,
        enumerate_tables,
        lambda f, s: UrnSampler(f, [s], np.random.default_rng(0)),
    ):
        with pytest.raises(UsageError, match="prior weight"):
            run(factor, 0)


def test_too_many_tables() -> None:
    sets = [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
    counts = np.full((3, 1), 30)
    factor = Factor(
        prior=np.ones((1, 6)), starts=np.arange(4) * 3, members=np.concatenate(sets), counts=counts
    )
    assert enumerate_tables(factor, 0, most=1000) is None
    wide = Factor(
        prior=np.ones((1, 6)),
        starts=np.arange(4) * 3,
        members=np.concatenate(sets),
        counts=counts * 10**6,
    )
    assert enumerate_tables(wide, 0) is None


def test_many_sets() -> None:
    blocks = 3000  # a set of ten, two of five in it, seven single atoms; and any atom
    base = np.arange(blocks)[:, None] * 10
    sets = [*(base + np.arange(10)), *(base + np.arange(5)), *(base + np.arange(5, 10))]
    sets += [np.array([atom]) for atom in range(7 * blocks)]
    sets += [np.arange(10 * blocks)]
    rng = np.random.default_rng(1)
    counts = rng.integers(0, 3, (len(sets), 2))
    starts = np.cumsum([0, *map(len, sets)])
    factor = Factor(
        prior=np.ones((2, 10 * blocks)), starts=starts, members=np.concatenate(sets), counts=counts
    )
    for s, tree in enumerate(solve_trees(factor)):
        assert tree is not None
        found, alone = tree.posterior(), solve_tree(factor, s)
        assert alone is not None
        other = alone.posterior()
        assert np.allclose(found.population, other.population, rtol=1e-13, atol=0)
        assert np.allclose(found.inside, other.inside, rtol=1e-13, atol=0)
        assert found.population.sum() == pytest.approx(1, rel=1e-13)
        sums = np.add.reduceat(found.inside, starts[:-1])
        assert np.allclose(sums, counts[:, s] > 0, rtol=1e-13, atol=0)


def test_deep_sets_do_not_vanish() -> None:
    """Two hundred sets, each with all but one atom of the one around it, and heavy outsiders."""
    size = 201
    sets = [np.arange(k, size) for k in range(1, size)]
    prior = np.full((1, size), 1e-5)
    prior[0, :-1] = 1e5
    factor = Factor(
        prior=prior,
        starts=np.cumsum([0, *map(len, sets)]),
        members=np.concatenate(sets),
        counts=np.ones((len(sets), 1), dtype=np.int64),
    )
    tree = solve_tree(factor, 0)
    assert tree is not None
    assert len(tree.forest.levels) == size - 1
    found = tree.posterior()
    assert np.all(found.inside > 0)
    assert np.all(found.population > 0)
    assert found.population.sum() == pytest.approx(1, rel=1e-13)
    drawn = tree.draw(np.random.default_rng(0), 3)
    assert drawn.sum(axis=1).tolist() == pytest.approx([1, 1, 1], rel=1e-12)


def test_no_label_at_all() -> None:
    factor = Factor(
        prior=np.array([[1.0, 3.0]]),
        starts=np.array([0]),
        members=np.zeros(0, int),
        counts=np.zeros((0, 1), int),
    )
    tree, tables = solve_tree(factor, 0), enumerate_tables(factor, 0)
    assert tree is not None
    assert tables is not None
    for found in (tree.posterior(), tables.posterior()):
        assert found.population.tolist() == [0.25, 0.75]
        assert len(found.inside) == 0
    assert tree.betas(0) == [(1.0, 3.0)]
    assert tables.counts().tolist() == [[0, 0]]


def test_the_same_set_twice_is_one_set() -> None:
    prior, sets = np.array([[1.0, 2.0, 4.0]]), [[0, 1], [0, 1]]
    twice = Factor(
        prior=prior,
        starts=np.array([0, 2, 4]),
        members=np.concatenate(sets),
        counts=np.array([[2], [3]]),
    )
    once = Factor(
        prior=prior, starts=np.array([0, 2]), members=np.array([0, 1]), counts=np.array([[5]])
    )
    one, other = solve_tree(twice, 0), solve_tree(once, 0)
    assert one is not None
    assert other is not None
    assert one.posterior().population.tolist() == other.posterior().population.tolist()
    assert one.posterior().inside.tolist() == [*other.posterior().inside.tolist()] * 2
    assert one.betas(0) == other.betas(0) == [(8.0, 4.0), (1.0, 2.0)]


def test_betas_of_labels_that_no_record_has() -> None:
    """They are skipped: the whole of what is known of an atom takes no more Betas than needed."""
    sets = [[0, 1], [0, 1, 2], [0, 1, 2, 3]]
    members = np.concatenate(sets)
    factor = Factor(
        prior=np.ones((2, 5)),
        starts=np.array([0, 2, 5, 9]),
        members=members,
        counts=np.array([[1, 0], [1, 2], [1, 0]]),
    )
    every, one = solve_trees(factor)
    assert every is not None
    assert one is not None
    assert every.betas(0) == [(7.0, 1.0), (5.0, 1.0), (3.0, 1.0), (1.0, 1.0)]
    assert one.betas(0) == [(5.0, 2.0), (1.0, 2.0)]
    assert one.betas(4) == [(1.0, 6.0)]


def test_betas_keep_small_weights_beside_large_ones() -> None:
    prior = np.array([[1e12, 1e-6, 2e-6, 1e9]])
    factor = Factor(
        prior=prior, starts=np.array([0, 3]), members=np.array([0, 1, 2]), counts=np.array([[2]])
    )
    tree = solve_tree(factor, 0)
    assert tree is not None
    assert tree.betas(0) == [(1e12 + 2, 1e9), (1e12, pytest.approx(3e-6, rel=1e-14))]


def test_records_added_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    factor = Factor(
        prior=np.array([[0.5, 1.0, 3.0, 1.0]]),
        starts=np.array([0, 3, 5]),
        members=np.array([0, 1, 2, 1, 3]),
        counts=np.array([[7], [9]]),
    )
    whole = enumerate_tables(factor, 0)
    monkeypatch.setattr("sievert.attacks.reasoning.horizontal.enumeration.AT_ONCE", 1)
    pieces = enumerate_tables(factor, 0)
    assert whole is not None
    assert pieces is not None
    assert np.array_equal(whole.counts(), pieces.counts())
    assert np.allclose(whole.weights, pieces.weights, rtol=1e-13, atol=0)
    assert np.allclose(whole.posterior().inside, pieces.posterior().inside, rtol=1e-13, atol=0)


def test_chosen_labels_only() -> None:
    factor = NATION.factors[0]
    pairs = itertools.combinations(range(4), 2)
    apart = [pair for pair in pairs if build_forest(factor, np.array(pair)) is not None]
    assert apart == [(0, 1), (1, 2), (1, 3), (2, 3)]
