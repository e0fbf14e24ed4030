"""The learner as printed: against exact numbers, closed forms, quadrature and draws."""

from __future__ import annotations

import math
from itertools import permutations, product

import mpmath
import numpy as np
import pytest
from helpers.reasoningtools import shares_of_draws, simulate_shares

from sievert.attacks.reasoning.published_learner import shares
from sievert.errors import UsageError

HEART, FLU, STOMACH, HIV, DIABETES = range(5)
SECRETS = [HEART, FLU, FLU, STOMACH, HIV, DIABETES, FLU, HEART]
ALPHA = [1.0 + SECRETS.count(s) for s in range(5)]

HORIZONTAL = [("MJ", HEART), ("MJ", FLU), ("J", FLU), ("J", STOMACH), ("CJ", HIV), ("CJ", DIABETES),
              ("IM", FLU), ("IM", HEART)]  # fmt: skip
ANATOMY = [("JM", (HEART, FLU)), ("JJ", (FLU, STOMACH)), ("JC", (HIV, DIABETES)),
           ("MI", (FLU, HEART))]  # fmt: skip

# Exact numbers of the paper's example, nationality only, ten digits.
NATION_H = {
    "M": [0.3122540093, 0.3209939663, 0.1222506748, 0.1222506748, 0.1222506748],
    "J": [0.1675331230, 0.3481027123, 0.1947122468, 0.1448259589, 0.1448259589],
    "C": [0.1895358348, 0.2139674851, 0.1539237996, 0.2212864402, 0.2212864402],
    "I": [0.2524545560, 0.2903747375, 0.1523902355, 0.1523902355, 0.1523902355],
}
NATION_V = {
    "M": [0.3312100345, 0.2994772053, 0.1231042534, 0.1231042534, 0.1231042534],
    "J": [0.1605247611, 0.3588111584, 0.1914669184, 0.1445985811, 0.1445985811],
    "C": [0.1876313645, 0.2118610595, 0.1523374140, 0.2240850810, 0.2240850810],
    "I": [0.2559008926, 0.3095940200, 0.1448350291, 0.1448350291, 0.1448350291],
}


def weight(values):
    """How likely these values of people with one secret are, but for a factor: beta = 1."""
    return math.prod(math.factorial(values.count(r)) for r in set(values))


def beta(values, r):
    return (1.0 + values.count(r), 3.0 + len(values) - values.count(r))


@pytest.mark.parametrize("r", "MJCI")
def test_the_example_made_coarser(r):
    mixtures = []
    for s in range(5):
        cases = list(product(*[labels for labels, secret in HORIZONTAL if secret == s]))
        whole = sum(weight(case) for case in cases)
        mixtures.append([(weight(case) / whole, [beta(case, r)]) for case in cases])
    found = shares(ALPHA, mixtures)
    assert found == pytest.approx(NATION_H[r], abs=6e-11)
    assert found.sum() == pytest.approx(1.0, abs=1e-13)


@pytest.mark.parametrize("r", "MJCI")
def test_the_example_in_two_tables(r):
    total, whole = np.zeros(5), 0.0
    for choice in product(*[list(permutations(labels)) for labels, _ in ANATOMY]):
        held = [[] for _ in range(5)]
        for labels, (_, secrets) in zip(choice, ANATOMY, strict=True):
            for label, s in zip(labels, secrets, strict=True):
                held[s].append(label)
        times = math.prod(weight(values) for values in held)
        total += times * shares(ALPHA, [[(1.0, [beta(values, r)])] for values in held])
        whole += times
    assert total / whole == pytest.approx(NATION_V[r], abs=6e-11)


@pytest.mark.parametrize(
    "gammas",
    [
        [1.0],
        [1.0, 2.0, 3.0],
        [0.001, 0.5, 1e6],
        [0.001, 0.001],
        [1e6, 999_999.0, 1e6 + 0.5],
        [0.002, 0.01, 0.3, 4.0],
        np.linspace(0.5, 100, 200),
    ],
)
def test_gamma_variables_alone_have_the_shares_of_their_parameters(gammas):
    found = shares(gammas, [[(1.0, [])]] * len(gammas))
    assert found == pytest.approx(np.array(gammas) / np.sum(gammas), abs=1e-13)


@pytest.mark.parametrize("least", [0.001, 0.05, 1.0, 400.0])
def test_betas_that_leave_gamma_variables(least):
    """Gamma(b + c)·Beta(b, c) is Gamma(b): a chain of seven Betas is known in closed form."""
    rng = np.random.default_rng(11)
    gammas, betas, left = [], [], []
    for _ in range(14):
        b = math.exp(rng.uniform(math.log(least), math.log(3 * least)))
        left.append(b)
        pairs = []
        for c in np.exp(rng.uniform(math.log(0.01), math.log(100.0), 7)).tolist():
            pairs.append((b, c))
            b = b + c
        gammas.append(b)
        betas.append([(1.0, pairs)])
    if least < 0.01:
        gammas, betas, left = gammas[:3], betas[:3], left[:3]
    found = shares(gammas, betas)
    assert found == pytest.approx(np.array(left) / sum(left), abs=1e-12)


def quadrature(gammas, betas):
    """E[w_s / sum w] from hypergeometric functions, one Beta each (by u = e^y, tanh-sinh)."""

    def passed(s, u):
        a, (b, c) = gammas[s], betas[s]
        return mpmath.hyp2f1(a, b, b + c, -u)

    def arriving(s, u):
        a, (b, c) = gammas[s], betas[s]
        return a * b / (b + c) * mpmath.hyp2f1(a + 1, b + 1, b + c + 1, -u)

    def first(s, y):
        u = mpmath.exp(y)
        others = mpmath.fprod(passed(z, u) for z in range(len(gammas)) if z != s)
        return u * arriving(s, u) * others

    with mpmath.workdps(20):  # other oracles set 50 digits for all: four times the work
        return [
            float(mpmath.quad(lambda y, s=s: first(s, y), [-40, -8, 0, 8, 50], maxdegree=5))
            for s in range(len(gammas))
        ]


@pytest.mark.parametrize(
    ("gammas", "betas"),
    [
        ([1.5, 4.0], [(0.7, 2.5), (3.0, 0.4)]),
        ([12.3, 2.0], [(1.2, 30.0), (6.0, 7.0)]),
    ],
)
@pytest.mark.slow
def test_single_betas_by_quadrature(gammas, betas):
    found = shares(gammas, [[(1.0, [pair])] for pair in betas])
    assert found == pytest.approx(quadrature(gammas, betas), abs=1e-12)


def test_a_mixture_is_the_mean_over_its_parts():
    gammas = [3.0, 0.4, 7.0]
    parts = [
        [(0.25, [(1.0, 5.0), (0.3, 2.0)]), (0.75, [(4.0, 1.5)])],
        [(1.0, [(2.0, 2.0)])],
        [(0.5, [(0.05, 3.0)]), (0.125, []), (0.375, [(9.0, 0.2), (1.0, 1.0)])],
    ]
    mean = np.zeros(3)
    for choice in product(*parts):
        chance = math.prod(weight for weight, _ in choice)
        mean += chance * shares(gammas, [[(1.0, pairs)] for _, pairs in choice])
    assert shares(gammas, parts) == pytest.approx(mean, abs=1e-13)


@pytest.mark.parametrize(("low", "high"), [(0.02, 20.0), (1.0, 300.0), (1e5, 1e6)])
def test_products_of_betas_by_draws(low, high):
    rng = np.random.default_rng([3, int(high)])
    gammas = rng.uniform(1.0, 60.0, 6)
    betas = [
        [(1.0, np.exp(rng.uniform(math.log(low), math.log(high), (5, 2))).tolist())] for _ in gammas
    ]
    means, errors = simulate_shares(gammas, betas, 40_000, rng)
    found = shares(gammas, betas)
    assert found.sum() == pytest.approx(1.0, abs=1e-12)
    assert np.all(np.abs(means - found) < 4.5 * errors + 1e-6)


def test_simulated_variables_of_any_size():
    means, errors = simulate_shares([1e-7, 1e-7], [[(1.0, [])]] * 2, 4000, np.random.default_rng(1))
    assert np.all(np.abs(means - 0.5) < 4.5 * errors) and np.isfinite(means).all()
    again, _ = simulate_shares([1e-7, 1e-7], [[(1.0, [])]] * 2, 4000, np.random.default_rng(1))
    assert again.tolist() == means.tolist()


@pytest.mark.slow
def test_drawn_shares_have_the_gamma_variables_integrated():
    gammas = [2.5, 0.8, 30.0, 1000.0]
    pis = np.array([[0.2, 0.5, 0.01, 0.0003], [0.9, 1e-12, 0.0, 1e-5]])
    found = [shares_of_draws(gammas, row[None, :]) for row in pis]
    assert shares_of_draws(gammas, pis) == pytest.approx((found[0] + found[1]) / 2, abs=1e-15)
    for row, each in zip(pis, found, strict=True):
        assert each.sum() == pytest.approx(1.0, abs=1e-13)

        def first(y, s, row=row):
            u = mpmath.exp(y)
            log = [mpmath.log1p(u * p) * a for p, a in zip(row, gammas, strict=True)]
            return gammas[s] * row[s] * u / (1 + u * row[s]) * mpmath.exp(-sum(log))

        known = [
            float(mpmath.quad(lambda y, s=s: first(y, s), [-45, -10, -4, 0, 4, 10, 60]))
            for s in range(4)
        ]
        assert each == pytest.approx(known, abs=1e-13)


@pytest.mark.parametrize("gammas", [[0.02, 0.05], [1.0, 1e6], [3.0, 4.0, 5.0]])
def test_drawn_shares_of_equal_draws(gammas):
    pis = np.array([[0.3] * len(gammas), [1e-9] * len(gammas)])
    assert shares_of_draws(gammas, pis) == pytest.approx(np.array(gammas) / sum(gammas), abs=1e-13)


def test_drawn_shares_come_near_the_exact_ones():
    rng = np.random.default_rng(4)
    gammas, pairs = [3.0, 5.0, 2.0], [(2.0, 7.0), (1.0, 4.0), (6.0, 2.0)]
    pis = np.column_stack([rng.beta(b, c, 20_000) for b, c in pairs])
    exact = shares(gammas, [[(1.0, [pair])] for pair in pairs])
    assert shares_of_draws(gammas, pis) == pytest.approx(exact, abs=0.006)


@pytest.mark.parametrize(
    ("gammas", "betas"),
    [
        ([], []),
        ([1.0], []),
        ([0.0], [[(1.0, [])]]),
        ([1e-4], [[(1.0, [])]]),
        ([math.nan], [[(1.0, [])]]),
        ([1.0], [[(0.5, [])]]),
        ([1.0], [[]]),
        ([1.0], [[(2.0, []), (-1.0, [])]]),
        ([1.0], [[(1.0, [(0.0, 1.0)])]]),
        ([1.0], [[(1.0, [(1e-4, 1.0)])]]),
        ([1.0], [[(1.0, [(1.0, -1.0)])]]),
        ([1.0], [[(1.0, [(math.inf, 1.0)])]]),
    ],
)
def test_wrong_parameters(gammas, betas):
    with pytest.raises(UsageError):
        shares(gammas, betas)


@pytest.mark.parametrize("pis", [[], [0.5, 0.5], [[0.5]], [[0.0, 0.0]], [[-0.1, 1.0]]])
def test_wrong_draws(pis):
    with pytest.raises(UsageError):
        shares_of_draws([1.0, 1.0], pis)
    with pytest.raises(UsageError):
        simulate_shares([1.0], [[(1.0, [])]], 1, np.random.default_rng(0))
