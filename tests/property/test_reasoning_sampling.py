"""Chains against exact probabilities, over many seeds; and chains that cannot agree.

The error of a belief is that of a quotient of means, to first order: `mcse` of the
series of blocks, each as its part of the numerator less its part of the denominator. It looks at
all lags, where the errors from batches that a result reports take batches to be independent; these
are looked at as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from helpers.effort import tried
from helpers.reasoningtools import mcse

from sievert.arrays import Floats, Ints
from sievert.attacks.reasoning import chains, posterior
from sievert.attacks.reasoning.candidates import CandidatePairs
from sievert.attacks.reasoning.chains import Block, ChainSamples, Progress, SamplingPlan
from sievert.attacks.reasoning.horizontal.release import HorizontalModel
from sievert.attacks.reasoning.model import Buckets, Factor, normalise
from sievert.attacks.reasoning.settings import ReasoningSettings
from sievert.attacks.reasoning.vertical.release import VerticalModel

SEEDS = tried(100, soak=200)
ENOUGH = 99 * SEEDS // 100  # of these seeds
EFFORT = SamplingPlan(chains=2, burn=30, least=600, most=600, block=15)
NAMES = ("N-h", "N-v", "NB-h", "NB-v")

# Table 1 of Boreale and Corradi. Heart, Flu, Stomach, HIV, Diabetes; M, J, C, I; six zips.
SECRETS = np.array([0, 1, 1, 2, 3, 4, 1, 0])  # of the rows, two and two a group
NATION = np.array([0, 1, 1, 1, 2, 1, 3, 0])
ZIP = np.array([0, 1, 2, 3, 4, 4, 5, 5])
NATION_SETS = [[0, 1], [1], [1, 2], [0, 3]]
ZIP_SETS = [[0, 1], [2, 3], [4], [5]]
VICTIMS = np.array([[0, 0], [1, 1], [0, 5], [3, 5], [1, 4]])

EXPECTED = {
    "N-h": (
        ["6/11 5/11 0 0 0", "14/139 55/139 35/139 35/278 35/278", "0 0 0 1/2 1/2",
         "14/29 15/29 0 0 0"],
        ["77/241 80/241 28/241 28/241 28/241", "343/2043 80/227 392/2043 98/681 98/681",
         "35/187 40/187 28/187 42/187 42/187",
         "343/1331 400/1331 196/1331 196/1331 196/1331"],
    ),
    "N-v": (
        ["11/18 7/18 0 0 0", "1/12 5/12 1/4 1/8 1/8", "0 0 0 1/2 1/2", "4/9 5/9 0 0 0"],
        ["175/524 40/131 63/524 63/524 63/524", "7/44 4/11 21/110 63/440 63/440",
         "35/187 40/187 28/187 42/187 42/187", "65/253 80/253 36/253 36/253 36/253"],
    ),
    "NB-h": (
        ["7/12 5/12 0 0 0", "7/17 10/17 0 0 0", "21/41 20/41 0 0 0", "14/29 15/29 0 0 0",
         "0 0 0 1/2 1/2"],
        ["693/1909 640/1909 192/1909 192/1909 192/1909",
         "1029/5189 1920/5189 896/5189 672/5189 672/5189",
         "693/1765 128/353 144/1765 144/1765 144/1765",
         "3087/9311 3200/9311 1008/9311 1008/9311 1008/9311",
         "343/2775 128/555 448/2775 224/925 224/925"],
    ),
    "NB-v": (
        ["2/3 1/3 0 0 0", "1/3 2/3 0 0 0", "5/9 4/9 0 0 0", "4/9 5/9 0 0 0", "0 0 0 1/2 1/2"],
        ["135/319 640/2233 216/2233 216/2233 216/2233",
         "189/1069 448/1069 864/5345 648/5345 648/5345",
         "1575/3827 1280/3827 324/3827 324/3827 324/3827",
         "4095/12463 4480/12463 1296/12463 1296/12463 1296/12463",
         "315/2683 640/2683 432/2683 648/2683 648/2683"],
    ),
}  # fmt: skip


def factor(sets: list[list[int]], values: int) -> Factor:
    """A column with the sets of the four groups."""
    counts = np.zeros((4, 5), dtype=np.int64)
    np.add.at(counts, (np.arange(8) // 2, SECRETS), 1)
    starts = np.cumsum([0, *map(len, sets)])
    return Factor(
        prior=np.ones((5, values)), starts=starts, members=np.concatenate(sets), counts=counts
    )


@cache
def model(name: str) -> HorizontalModel | VerticalModel:
    """A release of which everything is sampled."""
    wide = name.startswith("NB")
    victims: Ints = VICTIMS if wide else np.arange(4)[:, None]
    if name.endswith("h"):
        sets = [NATION_SETS, ZIP_SETS] if wide else [NATION_SETS]
        factors = [factor(own, many) for own, many in zip(sets, (4, 6), strict=False)]
        pairs = [
            (v, g)
            for v, person in enumerate(victims.tolist())
            for g in range(4)
            if all(a in own[g] for a, own in zip(person, sets, strict=True))
        ]
        labels = np.repeat(np.arange(4)[:, None], len(sets), axis=1)
        places = CandidatePairs(*np.array(pairs).T)
        return HorizontalModel.build(
            factors, factors[0].counts, labels, victims, places, np.ones(5), "gibbs"
        )
    people = np.stack([NATION, ZIP], axis=1)[:, : victims.shape[1]]
    starts = np.arange(0, 9, 2)
    secrets = np.concatenate([np.sort(SECRETS[i : i + 2]) for i in starts[:-1]])
    priors = tuple(np.ones((5, many)) for many in (4, 6)[: victims.shape[1]])
    known = {tuple(person): v for v, person in enumerate(victims.tolist())}
    owners = np.array([known.get(tuple(person), -1) for person in people.tolist()])
    return VerticalModel.build(
        Buckets(priors=priors, atoms=people, secrets=secrets, starts=starts),
        owners,
        victims,
        np.ones(5),
        "gibbs",
    )


def seen(block: Block) -> Floats:
    """All that beliefs are made of."""
    return np.concatenate([block.expected.ravel(), block.learned.ravel()])


def sampled(name: str, seed: int, effort: SamplingPlan = EFFORT, threads: int = 1) -> ChainSamples:
    own = model(name)

    def walk(chain: int) -> Any:
        return own.walk(np.random.default_rng([seed, 1, chain]))

    return chains.run(walk, seen, 1, effort, threads, Progress(), 1)


def errors(found: ChainSamples, kind: int, beliefs: Floats) -> Floats:
    """Of every belief, from the series of blocks."""
    victims, secrets = beliefs.shape
    size = victims * secrets
    parts = found.series[:, :, kind * size : (kind + 1) * size]
    held = parts.reshape(*parts.shape[:2], victims, secrets)
    totals = held.sum(axis=3, keepdims=True)
    linear = (held - beliefs * totals) / totals.mean(axis=(0, 1))
    # About 1, so that what never moves is seen not to.
    flat = 1.0 + linear.reshape(*parts.shape[:2], size)
    return mcse(flat).reshape(victims, secrets)


@dataclass(frozen=True)
class Trials:
    """Of one release over all seeds: how far off beliefs were, and their two kinds of errors."""

    off: Floats  # seeds, attacker or learner, victims, secrets
    series: Floats
    batches: Floats


@cache
def trials(name: str) -> Trials:
    exact = np.array(
        [[[float(Fraction(p)) for p in row.split()] for row in who] for who in EXPECTED[name]]
    )
    off, series, batches = [], [], []
    for seed in range(SEEDS):
        found = sampled(name, seed)
        beliefs = normalise(found.mean()[:2])
        off.append(beliefs - exact)
        series.append([errors(found, kind, beliefs[kind]) for kind in range(2)])
        batches.append([posterior._error(found, kind) for kind in range(2)])
    return Trials(np.array(off), np.array(series), np.array(batches))


@pytest.mark.parametrize("name", NAMES)
def test_beliefs_are_within_their_errors(name: str) -> None:
    found = trials(name)
    still = found.series.max(axis=0) == 0
    assert np.abs(found.off[:, still]).max(initial=0.0) < 1e-12
    scores = found.off[:, ~still] / found.series[:, ~still]
    assert ((np.abs(scores) <= 4).sum(axis=0) >= ENOUGH).all()


@pytest.mark.parametrize("name", NAMES)
def test_beliefs_are_not_biased(name: str) -> None:
    """The mean over all seeds is as near as so many independent runs should be."""
    off = trials(name).off
    error = off.std(axis=0, ddof=1) / np.sqrt(SEEDS)
    assert (np.abs(off.mean(axis=0)) <= 4 * error + 1e-12).all()


@pytest.mark.parametrize("name", NAMES)
def test_errors_are_neither_small_nor_large(name: str) -> None:
    found = trials(name)
    moving = found.series.max(axis=0) > 0
    for errors_of in (found.series, found.batches):
        scores = found.off[:, moving] / errors_of[:, moving]
        spread = np.sqrt((scores**2).mean(axis=0))
        assert spread.min() > 0.75 and spread.max() < 1.3


# --------------------------------------------------------------------------- chains


@pytest.mark.parametrize("name", NAMES)
def test_threads_change_nothing(name: str) -> None:
    short = SamplingPlan(chains=5, burn=10, least=60, most=90, block=3)
    first = sampled(name, 1, short)
    assert first.sweeps == 90 and first.burnt == 10 and first.chains == 5
    for threads in (2, 5, 9):
        second = sampled(name, 1, short, threads)
        assert np.array_equal(first.series, second.series)
        assert np.array_equal(first.batches, second.batches)
        for a, b in zip(first.populations, second.populations, strict=True):
            assert np.array_equal(a, b)
        for one, two in zip(first.drawn, second.drawn, strict=True):
            assert all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))


def test_a_chain_depends_on_its_number_alone() -> None:
    short = SamplingPlan(chains=2, burn=10, least=60, most=60, block=3)
    few, many = (
        sampled("NB-v", 1, SamplingPlan(chains=c, burn=10, least=60, most=60, block=3))
        for c in (2, 6)
    )
    assert np.array_equal(few.series, many.series[:2])
    assert np.array_equal(few.series, sampled("NB-v", 1, short).series)
    assert not np.array_equal(few.series[0], few.series[1])
    assert not np.array_equal(few.series, sampled("NB-v", 2, short).series)


class Stuck:
    """A chain that stays about one of two places."""

    def __init__(self, place: float, noise: float, rng: np.random.Generator) -> None:
        self.place, self.noise, self.rng = place, noise, rng
        self.swept = 0

    def burn(self, sweeps: int) -> None:
        self.swept += sweeps

    def block(self, sweeps: int) -> Block:
        self.swept += sweeps
        share = self.place + self.noise * self.rng.standard_normal()
        held = np.array([[share, 1 - share]])
        return Block(expected=held, learned=held, printed=held, populations=(held,), drawn=(held,))


def stuck(places: tuple[float, ...], noise: float) -> ChainSamples:
    effort = SamplingPlan(chains=len(places), burn=5, least=200, most=300, block=1)

    def walk(chain: int) -> Stuck:
        return Stuck(places[chain], noise, np.random.default_rng([7, chain]))

    return chains.run(walk, seen, 1, effort, 2, Progress(), 50)


def test_chains_that_stay_in_different_places() -> None:
    moving, frozen = stuck((0.2, 0.2, 0.8, 0.8), 0.01), stuck((0.2, 0.2, 0.2, 0.8), 0.0)
    for found in (moving, frozen):
        assert found.rhat > 10 and not found.converged
        assert found.ess < 20
        assert found.sweeps == 300
    assert np.allclose([moving.mean(c)[0][0, 0] for c in range(4)], [0.2, 0.2, 0.8, 0.8], atol=0.01)


def test_chains_that_agree_stop_early() -> None:
    for noise in (0.0, 0.01):
        found = stuck((0.2,) * 4, noise)
        assert found.converged and found.sweeps == 200
        assert found.rhat < 1.01


def two_worlds() -> VerticalModel:
    """Twenty pairs of people and of secrets, and weights that want all pairs alike."""
    people = np.tile([[0], [1]], (20, 1))
    secrets = np.tile([0, 1], 20)
    buckets = Buckets(
        priors=(np.full((2, 2), 0.001),), atoms=people, secrets=secrets, starts=np.arange(0, 41, 2)
    )
    return VerticalModel.build(buckets, people[:, 0], np.array([[0], [1]]), np.ones(2), "gibbs")


def test_a_release_that_can_be_seen_in_two_ways() -> None:
    truth = np.array([[20, 0, 0], [0, 20, 0]])
    found = posterior.believe(
        two_worlds(), truth, ReasoningSettings(chains=16, sweeps=150), Progress()
    )
    assert found.sampled is not None and not found.converged
    assert found.sampled.rhat > 10
    own = np.array([normalise(found.sampled.mean(c)[0])[0, 0] for c in range(16)])
    assert ((own < 0.01) | (own > 0.99)).all()
    assert own.min() < 0.01 and own.max() > 0.99
