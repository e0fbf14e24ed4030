"""Gaussian information: closed forms, every digit against mpmath, and what the papers got wrong.

E12 to E16 name the errata of the paper on mutual information that are statements about numbers.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import mpmath
import numpy as np
import pytest
from helpers.gaussian_records import from_data
from hypothesis import given, settings
from hypothesis import strategies as st

from sievert.losses.gaussian import gaussian_information, scalar
from sievert.losses.loss import PairedColumn, Release
from sievert.losses.moments import probabilistic_information_loss
from sievert.measures.kernel import mutual_information

LN2 = math.log(2)
Floats = Any


def bits(nats: float) -> float:
    return nats / LN2


def digits(u: Any, v: Any, uv: Any) -> Any:
    """1/2 log2 of det(S_U)·det(S_V)/det(S), with 50 digits, from the very same doubles."""
    with mpmath.workdps(50):
        joint = np.block([[np.asarray(u), np.asarray(uv)], [np.asarray(uv).T, np.asarray(v)]])
        one, two, both = (mpmath.det(mpmath.matrix(np.asarray(m).tolist())) for m in (u, v, joint))
        return mpmath.log(one * two / both, 2) / 2


def random_covariance(rng: np.random.Generator, size: int) -> Floats:
    a = rng.normal(size=(size, size + 2))
    return np.tril(a @ a.T) + np.tril(a @ a.T, -1).T


def split(joint: Floats, at: int) -> tuple[Floats, Floats, Floats]:
    return joint[:at, :at], joint[at:, at:], joint[:at, at:]


# Closed forms.


@pytest.mark.parametrize("rho", [0.0, 1e-9, -0.3, 0.5, 0.8, 0.95, 1 - 1e-9])
def test_scalar_and_vector_agree(rho: float) -> None:
    found = gaussian_information([[1.0]], [[1.0]], [[rho]])
    with mpmath.workdps(50):
        exact = -mpmath.log(1 - mpmath.mpf(rho) ** 2, 2) / 2
    assert scalar(rho) == pytest.approx(float(exact), rel=1e-14, abs=0)
    assert found == pytest.approx(float(exact), rel=1e-14, abs=0)


def test_perfect_dependence_is_unbounded() -> None:
    assert scalar(1.0) is None
    assert scalar(-1.0) is None
    assert gaussian_information([[1.0]], [[4.0]], [[2.0]]) is None
    assert gaussian_information([[1, 0], [0, 1]], [[2.0]], [[1.0], [1.0]]) is None


@pytest.mark.parametrize(
    ("rho", "d", "nats"),
    [(0.8, 0.25, 0.326963234), (0.5, 0.5, 0.066765696), (0.95, 0.1, 0.836321994)],
)
def test_best_channel_for_squared_error(rho: float, d: float, nats: float) -> None:
    """E16: X' = (1-d)·X + d·mu_X + N(0, d·(1-d)·Var X); R = -1/2 ln(1 - (1-d)·rho^2)."""
    var_x, var_y, mean_x = 3.0, 0.7, 5.0
    cross = rho * math.sqrt(var_x * var_y)
    var_released = (1 - d) ** 2 * var_x + d * (1 - d) * var_x
    assert var_released == pytest.approx((1 - d) * var_x, rel=1e-14)
    assert d * d * var_x + d * (1 - d) * var_x == pytest.approx(d * var_x, rel=1e-14)
    assert (1 - d) * mean_x + d * mean_x == pytest.approx(mean_x)  # so mu must be mu_X
    found = gaussian_information([[var_released]], [[var_y]], [[(1 - d) * cross]])
    assert found == pytest.approx(bits(nats), abs=bits(1e-9))
    assert found == pytest.approx(bits(-0.5 * math.log1p(-(1 - d) * rho * rho)), rel=1e-13)
    assert gaussian_information([[0.0]], [[var_y]], [[0.0]]) == 0.0  # d = 1: nothing is told


@pytest.mark.parametrize(("rate", "d"), [(0.1, 0.716766802), (0.2, 0.484875072)])
def test_distortion_of_a_rate(rate: float, d: float) -> None:
    assert 1 + math.expm1(-2 * rate) / 0.64 == pytest.approx(d, abs=1e-9)
    assert scalar(math.sqrt(1 - d) * 0.8) == pytest.approx(bits(rate), abs=bits(1e-9))


@pytest.mark.parametrize(
    ("d", "nats"),
    [
        ((0.413966, 0.086034, 0.0), 1.098217268),
        ((0.663966, 0.336034, 0.0), 0.772167131),
        ((0.878060, 0.550128, 0.071812), 0.525091732),
        ((1.0, 0.989158, 0.510842), 0.140494353),
    ],
)
def test_water_filling(d: Sequence[float], nats: float) -> None:
    """Three canonical correlations .9, .8, .7, seen through any change of coordinates."""
    rng = np.random.default_rng(3)
    rho = np.array([0.9, 0.8, 0.7])
    left = 1 - np.array(d)
    turn, stretch = rng.normal(size=(3, 3)), rng.normal(size=(3, 3))
    u = turn @ np.diag(left) @ turn.T
    v = stretch @ stretch.T
    uv = turn @ np.diag(left * rho) @ stretch.T
    found = gaussian_information(u, v, uv)
    assert found == pytest.approx(bits(nats), abs=bits(2e-6))  # d is printed with six digits
    apart = sum(scalar(math.sqrt(x) * r) or 0.0 for x, r in zip(left, rho, strict=True))
    assert found == pytest.approx(apart, rel=1e-11)


def test_bottleneck_in_one_dimension() -> None:
    """T tells R of X: rho(X,T)^2 = 1 - exp(-2R), and rho(T,Y) is the product."""
    seen = math.sqrt(-math.expm1(-1.0))
    assert scalar(0.8 * seen) == pytest.approx(bits(0.259224939), abs=bits(1e-9))


# Errata.


def test_e12_discrepancies_are_in_standard_errors() -> None:
    """Z divides by sqrt(Var), not by the root of the estimate: the unit of a column is nothing."""
    rng = np.random.default_rng(0)
    x = rng.gamma(2.0, size=200).round(4)
    y = (x + rng.normal(scale=0.1, size=200)).round(4)
    found = []
    for factor in (1, 1024):
        values, labels = ([repr(float(t * factor)) for t in side] for side in (x, y))
        codes = np.arange(200)
        release = Release(
            quasi=(
                PairedColumn(
                    name="a", original=codes, released=codes, values=values, labels=labels
                ),
            )
        )
        found.append(probabilistic_information_loss(release))
    assert found[0].value == pytest.approx(found[1].value, rel=1e-12)
    assert 0 < float(found[0].value or 0) < 1


def test_e13_best_linear_estimate_tells_of_u_what_v_does() -> None:
    """I(U;U') = I(U;V) for U' = S_UV·S_V^-1·V; I(U';V) is unbounded."""
    rho = 0.8
    found = gaussian_information([[1.0]], [[rho * rho]], [[rho * rho]])
    assert found == pytest.approx(bits(0.510826), abs=1e-6)
    assert found == pytest.approx(scalar(rho), rel=1e-13)
    assert gaussian_information([[rho * rho]], [[1.0]], [[rho]]) is None
    rng = np.random.default_rng(1)
    for size in (3, 5, 6):
        u, v, uv = split(random_covariance(rng, size), 2)
        estimate = np.linalg.solve(v, uv.T).T  # U' = estimate·V
        var, cross = estimate @ v @ estimate.T, uv @ estimate.T
        told = gaussian_information(u, var, cross)
        assert told == pytest.approx(gaussian_information(u, v, uv), rel=1e-9)


def test_e14_only_the_cross_covariance_is_preserved() -> None:
    """Cov(X',Y) = Cov(X,Y), but Var(X') = rho^2·Var(X)."""
    rng = np.random.default_rng(2)
    y = rng.normal(size=5000)
    x = 0.8 * y + 0.6 * rng.normal(size=5000)
    cov = np.cov(x, y, bias=True)
    best = cov[0, 1] / cov[1, 1] * y
    after = np.cov(best, y, bias=True)
    rho = cov[0, 1] / math.sqrt(cov[0, 0] * cov[1, 1])
    assert after[0, 1] == pytest.approx(cov[0, 1], rel=1e-12)
    assert after[0, 0] == pytest.approx(rho * rho * cov[0, 0], rel=1e-12)
    assert from_data(x[:, None], best[:, None]) == pytest.approx(scalar(rho), rel=1e-10)
    assert from_data(best[:, None], y[:, None]) is None


def test_e15_no_loss_does_not_mean_one_to_one() -> None:
    """X uniform on four values, Y = X' = its first bit: no loss, X -> X' two to one."""
    one = np.ones(4, dtype=np.int64)
    before = mutual_information(one, one, 2 * one, one, 4)  # four cells of X and Y
    after = mutual_information(2 * one[:2], 2 * one[:2], 2 * one[:2], one[:2], 4)
    assert before == after == 1.0


# Digits.


@pytest.mark.parametrize("eps", [1e-2, 1e-6, 1e-9, 1e-11])
def test_nearly_singular_blocks(eps: float) -> None:
    u = [[1.0, 1 - eps], [1 - eps, 1.0]]
    v = [[2.0, 0.3], [0.3, 0.5]]
    uv = [[0.1, 0.2], [0.1, 0.2 - 0.3 * eps]]
    exact = digits(u, v, uv)
    assert abs(gaussian_information(u, v, uv) / exact - 1) < 1e-14


def test_nearly_perfect_dependence() -> None:
    for eps in (1e-6, 1e-9, 1e-11):
        exact = digits([[1.0]], [[1.0]], [[1 - eps]])
        assert abs(gaussian_information([[1.0]], [[1.0]], [[1 - eps]]) / exact - 1) < 1e-13


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 8), st.floats(-8, 8))
def test_every_digit(seed: int, size: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    u, v, uv = split(random_covariance(rng, size) * 10.0**scale, int(rng.integers(1, size)))
    exact = digits(u, v, uv)
    assert abs(gaussian_information(u, v, uv) / exact - 1) < 1e-13


def test_floating_point_beyond_the_exact_size() -> None:
    rng = np.random.default_rng(8)
    u, v, uv = split(random_covariance(rng, 8), 4)
    exact = gaussian_information(u, v, uv)
    assert gaussian_information(u, v, uv, most_exact=0) == pytest.approx(exact, rel=1e-10)


# Laws.


def test_duplicates_and_constants_tell_nothing_more() -> None:
    rng = np.random.default_rng(4)
    u, v = rng.normal(size=(400, 2)), rng.normal(size=(400, 2))
    v += u
    plain = from_data(u, v)
    total = u[:, :1] + u[:, 1:]
    constant = np.full((400, 1), 7.0)
    for more in (u[:, :1], total, constant, 3 * u - 1):
        assert from_data(np.hstack([u, more]), v) == pytest.approx(plain, rel=1e-10)
        assert from_data(v, np.hstack([u, more])) == pytest.approx(plain, rel=1e-10)
    assert from_data(constant, v) == 0.0
    assert from_data(u, np.hstack([v, u[:, :1] + 2 * u[:, 1:]])) is None


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_information_is_symmetric_and_grows(seed: int) -> None:
    """I(U;V) = I(V;U) >= 0, unchanged by linear maps, and more variables tell no less."""
    rng = np.random.default_rng(seed)
    joint = random_covariance(rng, 5)
    u, v, uv = split(joint, 2)
    found = gaussian_information(u, v, uv)
    assert found is not None
    assert found >= 0
    assert gaussian_information(v, u, uv.T) == pytest.approx(found, rel=1e-12)
    turn = rng.normal(size=(2, 2)) + 3 * np.eye(2)
    moved = gaussian_information(turn @ u @ turn.T, v, turn @ uv)
    assert moved == pytest.approx(found, rel=1e-6)
    fewer = gaussian_information(u, v[:2, :2], uv[:, :2])
    assert fewer is not None
    assert fewer <= found


def test_noise_never_adds() -> None:
    """U' = U + noise: I(U';V) falls as the noise grows (data processing)."""
    rng = np.random.default_rng(9)
    u, v, uv = split(random_covariance(rng, 6), 3)
    told = [gaussian_information(u + s * np.eye(3), v, uv) or 0.0 for s in (0, 0.1, 1, 10, 1e6)]
    assert all(a > b for a, b in itertools.pairwise(told))
    assert told[-1] < 1e-4


# Discretised data.


def quantised(rho: float, parts: int) -> float:
    """I of two Gaussian variables cut into parts of equal probability, by quadrature, in bits."""
    inner = [float(mpmath.sqrt(2) * mpmath.erfinv(2 * mpmath.mpf(k) / parts - 1)) for k in
             range(1, parts)]  # fmt: skip
    nodes, weights = np.polynomial.legendre.leggauss(40)
    ends = np.array([-9.0, *inner, 9.0])
    spread = math.sqrt(2 * (1 - rho * rho))
    erf = np.vectorize(math.erf)
    cells = np.empty((parts, parts))
    for i in range(parts):
        half = (ends[i + 1] - ends[i]) / 2
        x = ends[i] + half * (nodes + 1)
        mass = half * weights * np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
        upto = erf((np.array(inner)[:, None] - rho * x) / spread) / 2 + 0.5
        upto = np.vstack([np.zeros(len(x)), upto, np.ones(len(x))])
        cells[i] = (np.diff(upto, axis=0) * mass).sum(axis=1)
    cells /= cells.sum()
    expected = np.outer(cells.sum(axis=1), cells.sum(axis=0))
    there = cells > 0
    return float((cells[there] * np.log2(cells[there] / expected[there])).sum())


def test_finer_parts_approach_the_closed_form() -> None:
    """Cutting only loses; each doubling of the parts leaves less than 0.45 of the loss."""
    whole = scalar(0.8)
    assert whole is not None
    lost = [whole - quantised(0.8, parts) for parts in (5, 10, 20, 40, 80)]
    assert all(0 < b < 0.45 * a for a, b in itertools.pairwise(lost))
    assert lost[1] == pytest.approx(0.737 - 0.664, abs=5e-3)  # ten quantile bins, a large sample


@pytest.mark.parametrize("parts", [5, 10, 20, 40])
def test_discretised_data(parts: int) -> None:
    """The plug-in of n records less its bias (cells - rows - columns + 1)/(2n ln 2), Miller-Madow.

    Its standard deviation is at most that of the information density, rho/sqrt(n) nats; the
    deviation allowed from the exact value is four of them, .0074 bits for n = 200,000. What the
    correction leaves of the bias is of the order of the squared number of cells over n^2.
    """
    n, rho = 200_000, 0.8
    rng = np.random.default_rng(6)
    x = rng.normal(size=n)
    y = rho * x + math.sqrt(1 - rho * rho) * rng.normal(size=n)
    codes = [
        np.searchsorted(np.quantile(z, np.arange(1, parts) / parts), z, side="right")
        for z in (x, y)
    ]
    table = np.bincount(codes[0] * parts + codes[1], minlength=parts**2).reshape(parts, parts)
    i, j = np.nonzero(table)
    plugin = mutual_information(
        table[i, j], table.sum(axis=1)[i], table.sum(axis=0)[j], np.ones_like(i), n
    )
    corrected = plugin - (len(i) - 2 * parts + 1) / (2 * n * LN2)
    assert abs(corrected - quantised(rho, parts)) < bits(4 * rho / math.sqrt(n))
    assert from_data(x[:, None], y[:, None]) == pytest.approx(
        scalar(rho), abs=bits(4 * rho / math.sqrt(n))
    )
