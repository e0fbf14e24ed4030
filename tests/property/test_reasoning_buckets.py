"""Laws of a release in two tables, against all its tables counted with fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, permutations, product
from math import prod

import numpy as np
import pytest

from sievert.attacks.reasoning.model import Buckets
from sievert.attacks.reasoning.vertical.gibbs import GroupSampler
from sievert.attacks.reasoning.vertical.matchings import MOST
from sievert.attacks.reasoning.vertical.release import enumerate_tables


def release(seed: int, sizes: tuple[int, ...], most: int = 0) -> Buckets:
    """A random release with repeated secrets, people alike, and unequal priors.

    `most` limits in how many ways its secrets can be handed out; 0 does not.
    """
    rng = np.random.default_rng([20, seed])
    kinds, factors = int(rng.integers(1, 5)), int(rng.integers(1, 4))
    atoms = [int(rng.integers(1, 4)) for _ in range(factors)]
    while True:
        secrets = [sorted(rng.integers(0, kinds, size).tolist()) for size in sizes]
        if not most or prod(len(set(permutations(each))) for each in secrets) <= most:
            break
    people = np.stack([rng.integers(0, a, sum(sizes)) for a in atoms], axis=1)
    priors = tuple(rng.integers(1, 17, (kinds, a)) / 8 for a in atoms)
    return Buckets(
        priors=priors, atoms=people, secrets=np.concatenate(secrets), starts=np.cumsum([0, *sizes])
    )


def weight(priors: list[list[list[Fraction]]], rows: list[list[int]], held: list[int]) -> Fraction:
    """The product of rising factorials, one person after the other."""
    seen: dict[tuple[int, int, int], int] = {}
    found = Fraction(1)
    for row, s in zip(rows, held, strict=True):
        for f, a in enumerate(row):
            found *= priors[f][s][a] + seen.get((f, s, a), 0)
            seen[f, s, a] = seen.get((f, s, a), 0) + 1
    return found


def counted(
    buckets: Buckets,
) -> tuple[dict[tuple[int, int], Fraction], dict[tuple[int, ...], Fraction]]:
    """The chance of every (person, secret), and of every table."""
    priors = [[[Fraction(x) for x in line] for line in p.tolist()] for p in buckets.priors]
    rows, starts = buckets.atoms.tolist(), buckets.starts.tolist()
    groups = [buckets.secrets[a:b].tolist() for a, b in pairwise(starts)]
    shares: dict[tuple[int, int], Fraction] = {}
    tables: dict[tuple[int, ...], Fraction] = {}
    whole = Fraction(0)
    for ways in product(*(sorted(set(permutations(group))) for group in groups)):
        held = [s for way in ways for s in way]
        w = weight(priors, rows, held)
        whole += w
        for place in enumerate(held):
            shares[place] = shares.get(place, Fraction(0)) + w
        table = []
        for f, prior in enumerate(priors):
            cells = [[0] * len(prior[0]) for _ in prior]
            for row, s in zip(rows, held, strict=True):
                cells[s][row[f]] += 1
            table += [n for line in cells for n in line]
        tables[tuple(table)] = tables.get(tuple(table), Fraction(0)) + w
    return (
        {place: w / whole for place, w in shares.items()},
        {table: w / whole for table, w in tables.items()},
    )


@pytest.mark.parametrize("block", range(6))
def test_all_tables_agree_with_fractions(block: int) -> None:
    for seed in range(25 * block, 25 * block + 25):
        rng = np.random.default_rng([21, seed])
        sizes = tuple(rng.integers(1, 5, rng.integers(1, 5)).tolist())
        buckets = release(seed, sizes, most=150)
        found = enumerate_tables(buckets)
        assert found is not None
        shares, tables = counted(buckets)
        places = zip(found.slots.rows.tolist(), found.slots.secrets.tolist(), strict=True)
        wanted = [float(shares.get(place, Fraction(0))) for place in places]
        np.testing.assert_allclose(found.shares, wanted, rtol=1e-12, atol=0)
        seen = {
            tuple(np.concatenate([part.ravel() for part in table]).tolist()): w
            for w, table in found.tables
        }
        assert seen == pytest.approx({k: float(w) for k, w in tables.items()}, rel=1e-12)
        mean = np.concatenate([part.ravel() for part in found.expected_counts])
        exact = [float(sum(w * t[c] for t, w in tables.items())) for c in range(len(mean))]
        np.testing.assert_allclose(mean, exact, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("block", range(4))
def test_a_single_group_is_redrawn_with_its_exact_shares(block: int) -> None:
    for seed in range(10 * block, 10 * block + 10):
        buckets = release(1000 + seed, (2 + seed % 7,))
        exact = enumerate_tables(buckets)
        assert exact is not None
        chain = GroupSampler(buckets, np.random.default_rng(seed))
        for _ in range(2):
            chain.sweep()
            np.testing.assert_allclose(chain.read(), exact.shares, rtol=1e-12, atol=0)


def test_a_walk_keeps_what_is_released() -> None:
    for seed in range(6):
        buckets = release(2000 + seed, (1, 9, 3, 12, 2))
        chain = GroupSampler(buckets, np.random.default_rng(seed))
        chain.sweep(5)
        shares, slots = chain.read(), chain.slots
        sums = np.bincount(slots.rows, weights=shares)
        np.testing.assert_allclose(sums, 1.0, rtol=1e-12)
        assert (shares >= 0).all() and (shares <= 1 + 1e-12).all()
        for a, b in pairwise(slots.starts.tolist()):
            assert sorted(chain.secrets[a:b].tolist()) == buckets.secrets[a:b].tolist()
        for f, counts in enumerate(chain.counts):
            wanted = np.zeros_like(counts)
            np.add.at(wanted, (chain.secrets, buckets.atoms[:, f]), 1)
            np.testing.assert_array_equal(counts, wanted)
        # A group that is redrawn is given its own secrets, so each kind keeps its sum.
        group = np.repeat(np.arange(5), np.diff(slots.starts))[slots.rows]
        many = len(buckets.priors[0])
        found = np.bincount(group * many + slots.secrets, weights=shares, minlength=5 * many)
        kinds = np.repeat(np.arange(5), np.diff(slots.kind_starts)) * many + slots.kinds
        small = np.repeat(np.diff(slots.starts) <= MOST, np.diff(slots.kind_starts))
        np.testing.assert_allclose(found[kinds[small]], slots.times[small], rtol=1e-11)
