"""Laws of the Gaussian limit, other ways to the same numbers, and what the paper got wrong.

E12 to E16 name the errata of the paper on mutual information.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import mpmath
import numpy as np
import pytest
from helpers import scalargaussian as scalar
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from sievert.commands.limit.gaussian_model import Channel, Pair, gaussian_limit
from sievert.commands.limit.gaussian_model.closed_forms import (
    cheapest_shares,
    least_disclosing_shares,
    nats,
)
from sievert.commands.limit.gaussian_model.max_determinant import DeterminantProblem
from sievert.losses.gaussian import gaussian_information
from sievert.losses.gaussian import scalar as information
from sievert.measures.kernel import mutual_information

LN2 = math.log(2)
Floats = Any

correlations = st.just(0.0) | st.floats(1e-9, 0.999) | st.floats(-0.999, -1e-9)
shares = st.floats(0.0, 1.0)
seeds = st.integers(0, 10_000)
sizes = st.tuples(st.integers(1, 4), st.integers(1, 4))


def drawn(seed: int, p: int, q: int) -> Pair:
    a = np.random.default_rng([seed, p, q]).normal(size=(p + q, p + q + 2))
    joint = a @ a.T
    return Pair.of(joint[:p, :p], joint[p:, p:], joint[:p, p:])


def trace(pair: Pair) -> float:
    return float(np.trace(pair.cov_x))


def number(value: float | None) -> float:
    assert value is not None
    return value


# One column, with all digits.


@given(correlations, shares)
def test_digits_of_model_1(rho: float, share: float) -> None:
    with mpmath.workdps(90):
        exact = -mpmath.log(1 - (1 - mpmath.mpf(share)) * mpmath.mpf(rho) ** 2, 2) / 2
    assert scalar.risk(rho, share) == pytest.approx(float(exact), rel=1e-12, abs=1e-300)


@given(correlations, st.floats(1e-9, 0.999))
def test_digits_of_models_2_and_4(rho: float, part: float) -> None:
    bits = part * number(information(rho))
    lost = scalar.loss(rho, bits)
    with mpmath.workdps(90):
        r = mpmath.mpf(rho) ** 2
        rate = mpmath.mpf(bits)
        told = -mpmath.log(1 - r * (1 - mpmath.mpf(4) ** -rate), 2) / 2
        exact = -mpmath.log(1 - r, 2) / 2 - told if r else mpmath.mpf(0)
        share = 1 - (1 - mpmath.mpf(4) ** -rate) / r if bits else mpmath.mpf(0)
    assert lost == pytest.approx(float(exact), rel=1e-12, abs=1e-300)
    if abs(rho) > 1e-3:
        assert scalar.distortion(rho, bits) == pytest.approx(float(share), rel=1e-9, abs=1e-12)
        # Models 1 and 2, and 3 and 4, are inverse to each other.
        assert scalar.risk(rho, scalar.distortion(rho, bits)) == pytest.approx(bits, rel=1e-7)
        assert scalar.rate(rho, lost) == pytest.approx(bits, rel=1e-7, abs=1e-9)


# Certificates: no release does better than the bound.


@settings(max_examples=25, deadline=None)
@given(seeds, sizes, st.floats(0.01, 0.95))
def test_no_channel_beats_the_bound(seed: int, size: tuple[int, int], part: float) -> None:
    """Any linear map with any noise, made to distort as much as is allowed."""
    pair = drawn(seed, *size)
    limit = gaussian_limit(pair, 1, part * trace(pair))
    assert number(limit.objective) - number(limit.bound) == pytest.approx(limit.gap, abs=1e-15)
    assert limit.gap < 2e-10
    assert pair.risk(limit.channel) == pytest.approx(limit.risk, abs=1e-11)
    assert pair.distortion(limit.channel) == pytest.approx(limit.distortion, rel=1e-11)
    assert limit.distortion <= limit.at * (1 + 1e-13)
    rng = np.random.default_rng(seed)
    p = size[0]
    for spread in (0.01, 0.1, 1.0, 3.0):
        matrix = limit.channel.matrix + spread * rng.normal(size=(p, p))
        root = spread * rng.normal(size=(p, p))
        noise = limit.channel.noise + root @ root.T
        moved = np.eye(p) - matrix
        bent = float(np.trace(moved @ pair.cov_x @ moved.T))
        factor = min(1.0, math.sqrt(limit.at / bent))
        left = max(0.0, limit.at - factor * factor * bent)
        other = Channel(
            np.eye(p) - factor * moved,
            noise * min(1.0, left / float(np.trace(noise))),
            pair.mean,
        )
        assert pair.distortion(other) <= limit.at * (1 + 1e-9)
        told = pair.risk(other)
        assert told is None or told >= number(limit.bound) - 1e-9


@pytest.mark.parametrize("part", [0.05, 0.3])
def test_an_early_end_is_bracketed_too(part: float) -> None:
    pair = drawn(12, 4, 3)
    for model, at in ((1, part * trace(pair)), (2, part * number(pair.information))):
        fine = gaussian_limit(pair, model, at)
        for tolerance in (0.3, 1e-2, 1e-4):
            rough = gaussian_limit(pair, model, at, tolerance=tolerance)
            assert number(rough.bound) <= number(fine.objective) <= number(rough.objective)
            assert rough.gap > 0


@pytest.mark.parametrize("cheapest", [False, True])
def test_the_certificate_holds_and_is_sharp(cheapest: bool) -> None:
    """Of any T: never below the distance to the optimum, and equal where f is nearly linear."""
    rng = np.random.default_rng(13)
    for scale, most in ((1.0, math.inf), (0.01, 1.01)):
        rho = scale * np.array([0.9, 0.8, 0.5])
        rest = 1 - rho**2
        for _ in range(20):
            turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
            error = (turn * rng.uniform(0.05, 0.95, size=3)) @ turn.T
            told = DeterminantProblem(
                rho=rho, rest=rest, cost=np.eye(3), limit=0.0, cheapest=False
            ).unknown(error)
            limit = told if cheapest else float(np.trace(error))
            solve = cheapest_shares if cheapest else least_disclosing_shares
            best, theta = solve(rho, rest, np.ones(3), -told / 2 if cheapest else limit)
            problem = DeterminantProblem(
                rho=rho, rest=rest, cost=np.eye(3), limit=limit, cheapest=cheapest
            )
            gap, _ = problem.certificate(error, theta if cheapest else 1 / theta)
            away = (
                float(np.trace(error)) - best.sum()
                if cheapest
                else -told - 2 * number(nats(rho, rest, best))
            )
            assert away - 1e-12 <= gap <= most * away + 1e-12


@pytest.mark.parametrize(("p", "q"), [(2, 1), (2, 2), (3, 2), (3, 4), (4, 3)])
@pytest.mark.parametrize("part", [0.05, 0.3])
def test_another_optimiser_ends_in_the_bracket(p: int, q: int, part: float) -> None:
    """ln det(B·S·B^T + S_{Y|X}), 0 <= S <= S_X, tr S <= D, by sequential quadratic programmes."""
    pair = drawn(11, p, q)
    at = part * trace(pair)
    b = np.linalg.solve(pair.cov_x, pair.cov_xy).T
    left = pair.cov_y - b @ pair.cov_xy
    values, vectors = np.linalg.eigh(pair.cov_x)
    root = (vectors * np.sqrt(values)) @ vectors.T
    low = np.tril_indices(p, -1)

    def error(z: Floats) -> Floats:
        """S = S_X^1/2·Q·diag(sin^2 phi)·Q^T·S_X^1/2, Q a turn: all S, none at infinity."""
        skew = np.zeros((p, p))
        skew[low] = z[p:]
        skew = skew - skew.T
        turned = root @ np.linalg.solve(np.eye(p) + skew, np.eye(p) - skew)
        return (turned * np.sin(z[:p]) ** 2) @ turned.T

    def told(z: Floats) -> float:
        after = np.linalg.slogdet(b @ error(z) @ b.T + left)[1]
        return float(np.linalg.slogdet(pair.cov_y)[1] - after) / 2

    room = {"type": "ineq", "fun": lambda z: at - np.trace(error(z))}
    best = math.inf
    for seed in range(3):
        start = np.random.default_rng(seed).uniform(0.2, 0.6, size=p + len(low[0]))
        found = minimize(
            told, start, method="SLSQP", constraints=[room], options={"maxiter": 300, "ftol": 1e-12}
        )
        if np.trace(error(found.x)) <= at * (1 + 1e-7):
            best = min(best, float(found.fun))
    limit = gaussian_limit(pair, 1, at)
    assert number(limit.bound) * LN2 - 1e-9 <= best
    assert number(limit.risk) * LN2 == pytest.approx(best, abs=1e-9)


@settings(max_examples=15, deadline=None)
@given(seeds, sizes, st.floats(0.05, 0.9))
def test_models_1_and_2_are_inverse(seed: int, size: tuple[int, int], part: float) -> None:
    pair = drawn(seed, *size)
    bits = part * number(pair.information)
    two = gaussian_limit(pair, 2, bits)
    assert two.gap <= 2e-10 * two.distortion
    assert number(two.risk) <= bits * (1 + 1e-9)
    one = gaussian_limit(pair, 1, two.distortion)
    assert number(one.bound) - 1e-9 <= bits <= number(one.risk) + 1e-9


@settings(max_examples=25)
@given(seeds, sizes, st.floats(0.01, 0.95))
def test_models_3_and_4_are_inverse(seed: int, size: tuple[int, int], part: float) -> None:
    pair = drawn(seed, *size)
    loss = part * number(pair.information)
    three = gaussian_limit(pair, 3, loss)
    assert three.loss == pytest.approx(loss, rel=1e-9)
    four = gaussian_limit(pair, 4, number(three.rate))
    assert four.loss == pytest.approx(loss, rel=1e-9)
    assert four.beta == pytest.approx(three.beta, rel=1e-6)
    # What is told of Y is at most what is told of X, and at most what X tells.
    assert number(four.risk) <= min(number(four.rate), number(pair.information)) + 1e-12


# Laws of the curve.


@settings(max_examples=10, deadline=None)
@given(seeds, sizes)
def test_the_curve_falls_and_is_convex(seed: int, size: tuple[int, int]) -> None:
    pair = drawn(seed, *size)
    first = gaussian_limit(pair, 1, 0.0)
    assert first.risk == pytest.approx(pair.information, rel=1e-9)
    points = np.linspace(0.0, first.private, 6)
    risks = [number(gaussian_limit(pair, 1, float(at)).risk) for at in points]
    assert all(a >= b - 1e-10 for a, b in itertools.pairwise(risks))
    assert all(a + c >= 2 * b - 1e-9 for a, b, c in zip(risks, risks[1:], risks[2:], strict=False))
    assert risks[-1] == gaussian_limit(pair, 1, trace(pair)).risk == 0.0


@settings(max_examples=10, deadline=None)
@given(seeds, sizes, st.floats(0.05, 0.8))
def test_units_where_they_do_not_matter(seed: int, size: tuple[int, int], part: float) -> None:
    pair = drawn(seed, *size)
    rng = np.random.default_rng(seed + 1)
    p, q = size
    at = part * trace(pair)
    risk = number(gaussian_limit(pair, 1, at).risk)
    # Any units, and any mixture, of the secrets.
    mix = rng.normal(size=(q, q)) + 3 * np.eye(q)
    other = Pair.of(pair.cov_x, mix @ pair.cov_y @ mix.T, pair.cov_xy @ mix.T)
    assert gaussian_limit(other, 1, at).risk == pytest.approx(risk, abs=1e-9)
    # Turns of X, and one unit for all of it.
    turn = 7.0 * np.linalg.qr(rng.normal(size=(p, p)))[0]
    other = Pair.of(turn @ pair.cov_x @ turn.T, pair.cov_y, turn @ pair.cov_xy)
    assert gaussian_limit(other, 1, 49.0 * at).risk == pytest.approx(risk, abs=1e-9)
    # Any units of X, where its distance has them too.
    change = rng.normal(size=(p, p)) + 3 * np.eye(p)
    other = Pair.of(change @ pair.cov_x @ change.T, pair.cov_y, change @ pair.cov_xy)
    one, two = (gaussian_limit(x, 1, part * p, "mahalanobis").risk for x in (pair, other))
    assert one == pytest.approx(two, abs=1e-9)
    for model in (3, 4):
        a, b = (gaussian_limit(x, model, part).objective for x in (pair, other))
        assert a == pytest.approx(b, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("weights", [[1.0, 0.0, 2.0], np.ones((3, 3)), [1e12, 1.0, 1e-12]])
def test_uneven_weights_are_bracketed(weights: Any) -> None:
    pair = drawn(5, 3, 2)
    private = gaussian_limit(pair, 1, 0.0, weights).private
    for part in (1e-6, 0.1, 0.7):
        limit = gaussian_limit(pair, 1, part * private, weights)
        assert limit.gap < 2e-10
        assert limit.distortion <= limit.at * (1 + 1e-12)
        assert pair.risk(limit.channel) == pytest.approx(limit.risk, abs=1e-9)


def test_twenty_columns() -> None:
    pair = drawn(1, 20, 20)
    limit = gaussian_limit(pair, 1, 0.2 * trace(pair))
    assert limit.gap < 2e-10
    assert limit.distortion == pytest.approx(limit.at, rel=1e-8)
    assert gaussian_limit(pair, 1, 0.2 * trace(pair)).to_dict() == limit.to_dict()


# What the paper says, and what is so.


def test_e12_the_variance_standardises_not_the_estimate() -> None:
    """(T - t)/sqrt(T) of a mean with standard error 0.1 around 100 is no standard normal number."""
    drawn = 100 + 0.1 * np.random.default_rng(1).normal(size=20_000)
    assert ((drawn - 100) / np.sqrt(drawn)).std() == pytest.approx(0.01, rel=0.05)
    assert ((drawn - 100) / 0.1).std() == pytest.approx(1.0, rel=0.05)


def test_e13_the_best_estimate_keeps_what_it_tells_of_u_not_of_v() -> None:
    rho = 0.8  # U' = rho·V
    assert gaussian_information([[rho * rho]], [[1.0]], [[rho]]) is None  # I(U';V)
    told = gaussian_information([[1.0]], [[rho * rho]], [[rho * rho]])  # I(U;U')
    assert told == pytest.approx(information(rho), rel=1e-12)
    assert number(told) * LN2 == pytest.approx(0.510826, abs=5e-7)


def test_e14_only_the_cross_covariance_is_kept() -> None:
    pair = Pair.of([[9.0]], [[2.0, 0.5], [0.5, 1.0]], [[2.0, 1.5]])
    a = np.linalg.solve(pair.cov_y, pair.cov_xy[0])  # X' = a^T·Y
    assert len(a) == 2  # as many entries as Y
    assert a @ pair.cov_y == pytest.approx(pair.cov_xy[0])
    assert a @ pair.cov_y @ a == pytest.approx(float(pair.canonical.rho[0] ** 2) * 9.0)
    assert a @ pair.cov_y @ a < 0.5 * 9.0
    # A function of Y is no release of X: models 3 and 4 never tell all of Y at a finite rate.
    assert all(scalar.loss(0.8, bits) > 0 for bits in (0.1, 1.0, 5.0, 20.0))


def test_e15_no_loss_needs_no_bijection() -> None:
    """X one of four values, Y = X' its first bit; and a Gaussian X with a direction of no use."""
    half = np.array([1, 1])
    before = mutual_information(
        np.array([1, 1, 1, 1]), np.ones(4, int), 2 * np.ones(4, int), np.ones(4, int), 4
    )
    after = mutual_information(2 * half, 2 * half, 2 * half, half, 4)
    assert before == after == 1.0
    pair = Pair.of(np.eye(2), [[1.0]], [[0.8], [0.0]])
    found = gaussian_limit(pair, 3, 0.0)
    assert found.loss == 0.0
    assert np.linalg.matrix_rank(found.channel.matrix) == 1
    assert pair.risk(found.channel) == pytest.approx(pair.information, rel=1e-12)


def test_e16_the_noise_is_around_the_mean_and_the_share_at_most_1() -> None:
    mean, variance, share = 5.0, 4.0, 0.25
    pair = Pair.of([[variance]], [[1.0]], [[1.6]], [mean])
    limit = gaussian_limit(pair, 1, share * variance)
    x = mean + 2.0 * np.random.default_rng(2).normal(size=100_000)
    error = (limit.channel.apply(x, seed=3) - x) ** 2
    assert error.mean() == pytest.approx(1.0, abs=4 * error.std() / math.sqrt(len(x)))
    off = Channel(limit.channel.matrix, limit.channel.noise, np.zeros(1))
    error = (off.apply(x, seed=3) - x) ** 2
    # A mean of 0 instead adds (share·mean)^2.
    assert error.mean() == pytest.approx(1 + 1.5625, abs=4 * error.std() / math.sqrt(len(x)))
    # Beyond the variance the formula would have negative noise, and less than no risk.
    assert -0.5 * math.log(1 - (1 - 1.5) * 0.64) < 0 > 1.5 * (1 - 1.5)
    for at in (variance, 1.5 * variance, 100.0):
        beyond = gaussian_limit(pair, 1, at)
        assert (beyond.risk, beyond.distortion) == (0.0, variance)
        assert set(beyond.channel.apply(x[:9], seed=4).tolist()) == {mean}
