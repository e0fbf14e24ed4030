"""The Gaussian limit: reference values in nats, what the channel does to records, and the check."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from helpers import scalargaussian as scalar
from helpers.gaussian_records import from_data
from scipy import stats

from sievert.commands.limit.gaussian_model import (
    Channel,
    Pair,
    at_beta,
    at_loss,
    at_rate,
    curve,
    gaussian_limit,
    limit_of_records,
    normality,
    rate_distortion,
)
from sievert.commands.limit.gaussian_model.canonical_pair import standard
from sievert.commands.limit.gaussian_model.closed_forms import (
    cheapest_shares,
    least_disclosing_shares,
    nats,
)
from sievert.commands.limit.gaussian_model.normality import _mardia
from sievert.errors import InputError, UsageError
from sievert.losses.gaussian import gaussian_information
from sievert.losses.gaussian import scalar as information
from sievert.numerics.special_functions import chi_square, two_sided

LN2 = math.log(2)
Floats = Any


def canonical(*rho: float) -> Pair:
    return Pair.of(np.eye(len(rho)), np.eye(len(rho)), np.diag(rho))


def random_pair(seed: int, p: int, q: int) -> Pair:
    a = np.random.default_rng([seed, p, q]).normal(size=(p + q, p + q + 2))
    joint = a @ a.T
    mean = np.arange(p, dtype=float)
    return Pair.of(joint[:p, :p], joint[p:, p:], joint[:p, p:], mean)


# One column.


@pytest.mark.parametrize(
    ("rho", "share", "expected"),
    [(0.8, 0.25, 0.326963234), (0.5, 0.5, 0.066765696), (0.95, 0.1, 0.836321994)],
)
def test_model_1_of_one_column(rho: float, share: float, expected: float) -> None:
    found = scalar.risk(rho, share)
    assert found is not None
    assert found * LN2 == pytest.approx(expected, abs=5e-10)
    pair = Pair.of([[9.0]], [[4.0]], [[6.0 * rho]], [7.0])
    limit = gaussian_limit(pair, 1, 9.0 * share)
    assert limit.risk == limit.objective == limit.bound == pytest.approx(found, rel=1e-12)
    assert (limit.gap, limit.method) == (0.0, "closed form")
    assert limit.channel.matrix[0, 0] == pytest.approx(1 - share, rel=1e-13)
    assert limit.channel.noise[0, 0] == pytest.approx(share * (1 - share) * 9.0, rel=1e-13)
    assert limit.distortion == pytest.approx(9.0 * share, rel=1e-13)
    assert pair.risk(limit.channel) == pytest.approx(found, rel=1e-12)


@pytest.mark.parametrize(("nat", "share"), [(0.1, 0.716766802), (0.2, 0.484875072)])
def test_model_2_of_one_column(nat: float, share: float) -> None:
    assert scalar.distortion(0.8, nat / LN2) == pytest.approx(share, abs=5e-10)
    found = gaussian_limit(canonical(0.8), 2, nat / LN2)
    assert found.objective == pytest.approx(share, abs=5e-10)
    assert found.risk == pytest.approx(nat / LN2, rel=1e-12)


def test_model_2_is_inactive_beyond_what_there_is_to_tell() -> None:
    assert scalar.distortion(0.8, 0.8) == 0.0
    found = gaussian_limit(canonical(0.8), 2, 0.8)
    assert (found.objective, found.rate) == (0.0, None)
    assert found.channel.apply([1.0, 2.5]).tolist() == [1.0, 2.5]


def test_models_3_and_4_of_one_column_are_inverse() -> None:
    bits = 0.5 / LN2
    lost = scalar.loss(0.8, bits)
    told = information(0.8)
    assert told is not None
    assert (told - lost) * LN2 == pytest.approx(0.259224939, abs=5e-10)
    assert scalar.rate(0.8, lost) == pytest.approx(bits, rel=1e-13)
    for model, at, aim in ((3, lost, bits), (4, bits, lost)):
        found = gaussian_limit(canonical(0.8), model, at)
        assert found.objective == pytest.approx(aim, rel=1e-12)
        assert found.channel.matrix[0, 0] == pytest.approx(1 - math.exp(-1), rel=1e-12)


def test_one_column_at_its_ends() -> None:
    assert scalar.risk(0.8, 0.0) == pytest.approx(information(0.8), rel=1e-15)
    assert scalar.risk(1.0, 0.0) is None
    assert scalar.risk(1.0, 0.25) == pytest.approx(1.0, rel=1e-15)
    assert scalar.risk(0.8, 1.0) == scalar.risk(0.8, 3.0) == scalar.risk(0.0, 0.0) == 0.0
    assert scalar.distortion(1.0, 1.0) == pytest.approx(0.25, rel=1e-15)
    assert scalar.distortion(0.8, 0.0) == 1.0
    assert scalar.distortion(0.0, 0.0) == 0.0
    assert scalar.rate(0.8, 0.0) is None
    assert scalar.rate(0.8, 5.0) == 0.0
    for wrong in (lambda: scalar.rate(1.0, 0.1), lambda: scalar.loss(-1.0, 0.1)):
        with pytest.raises(UsageError, match="unbounded"):
            wrong()
    with pytest.raises(UsageError, match="correlation"):
        scalar.risk(1.5, 0.1)
    with pytest.raises(UsageError, match="from 0 on"):
        scalar.risk(0.5, -0.1)


# Several columns.

WATER = [
    (0.5, (0.413966, 0.086034, 0.0), 1.098217268),
    (1.0, (0.663966, 0.336034, 0.0), 0.772167131),
    (1.5, (0.878060, 0.550128, 0.071812), 0.525091732),
    (2.5, (1.0, 0.989158, 0.510842), 0.140494353),
]


@pytest.mark.parametrize(("at", "shares", "expected"), WATER)
def test_water_filling_over_canonical_correlations(
    at: float, shares: tuple[float, ...], expected: float
) -> None:
    found = gaussian_limit(canonical(0.9, 0.8, 0.7), 1, at)
    assert found.method == "water-filling"
    assert found.shares == pytest.approx(shares, abs=5e-7)
    assert found.risk is not None
    assert found.risk * LN2 == pytest.approx(expected, abs=5e-10)
    assert found.distortion == pytest.approx(at, rel=1e-13)
    back = gaussian_limit(canonical(0.9, 0.8, 0.7), 2, found.risk)
    assert back.objective == pytest.approx(at, rel=1e-12)


@pytest.mark.parametrize(("at", "shares", "expected"), WATER)
def test_the_barrier_finds_the_same(at: float, shares: tuple[float, ...], expected: float) -> None:
    """Mahalanobis' distance of mixed columns, given as a matrix of weights."""
    mix = np.random.default_rng(3).normal(size=(3, 3))
    pair = Pair.of(mix @ mix.T, np.eye(3), mix @ np.diag([0.9, 0.8, 0.7]))
    weights = np.linalg.inv(pair.cov_x)
    named = gaussian_limit(pair, 1, at, "mahalanobis")
    assert named.shares == pytest.approx(shares, abs=5e-7)
    # A little cost between two directions keeps water-filling away.
    found = gaussian_limit(pair, 1, at, weights + 1e-11 * np.ones((3, 3)))
    assert found.method == "barrier"
    assert found.risk is not None
    assert found.risk * LN2 == pytest.approx(expected, abs=2e-9)
    assert found.gap < 2e-10


def test_theta_of_the_reference() -> None:
    rho = np.array([0.9, 0.8, 0.7])
    shares, theta = least_disclosing_shares(rho, 1 - rho**2, np.ones(3), 0.5)
    assert theta == pytest.approx(0.648533951, abs=5e-10)
    told = nats(rho, 1 - rho**2, shares)
    assert told is not None
    assert cheapest_shares(rho, 1 - rho**2, np.ones(3), told)[1] == pytest.approx(theta, rel=1e-12)


def test_rate_distortion_is_reverse_water_filling() -> None:
    turn = np.linalg.qr(np.random.default_rng(4).normal(size=(3, 3)))[0]
    covariance = turn @ np.diag([9.0, 4.0, 0.5]) @ turn.T
    found = rate_distortion(covariance, 2.5)
    assert found.method == "water-filling"
    # theta = 1: 1 + 1 + 0.5.
    assert found.risk == pytest.approx(0.5 * math.log2(36), rel=1e-12)
    assert found.risk == pytest.approx(found.rate, rel=1e-12)
    errors = np.sort(np.linalg.eigvalsh(covariance - found.channel.covariance(covariance)))
    assert errors == pytest.approx([0.5, 1.0, 1.0], rel=1e-12)
    assert rate_distortion(covariance, 13.5).risk == 0.0
    assert rate_distortion(covariance, 0.0).risk is None


@pytest.mark.parametrize(
    ("rate", "beta", "expected"),
    [
        (0.2, 1.349934, 0.155332595),
        (0.5, 1.637622, 0.358738024),
        (1.0, 2.733235, 0.602617501),
        (2.0, 5.771578, 0.863240681),
    ],
)
def test_bottleneck(rate: float, beta: float, expected: float) -> None:
    rho = np.array([0.9, 0.6, 0.3])
    rest = 1 - rho**2
    point = at_rate(rho, rest, rate)
    assert point.beta == pytest.approx(beta, abs=5e-7)
    assert point.risk == pytest.approx(expected, abs=5e-10)
    assert point.rate == pytest.approx(rate, rel=1e-13)
    assert point.beta is not None
    assert at_beta(rho, rest, point.beta).risk == pytest.approx(point.risk, rel=1e-12)
    back = at_loss(rho, rest, point.loss)
    assert (back.rate, back.beta) == pytest.approx((rate, point.beta), rel=1e-12)
    limit = gaussian_limit(canonical(0.9, 0.6, 0.3), 4, rate / LN2)
    assert limit.risk is not None
    assert limit.risk * LN2 == pytest.approx(expected, abs=5e-10)
    assert limit.beta == pytest.approx(beta, abs=5e-7)


def test_bottleneck_of_chechik_and_others() -> None:
    """T = A·X + N(0, I), rows of A the left eigenvectors of S_{X|Y}·S_X^-1, scaled."""
    pair = random_pair(1, 4, 3)
    given = pair.cov_x - pair.cov_xy @ np.linalg.solve(pair.cov_y, pair.cov_xy.T)
    values, vectors = np.linalg.eig((given @ np.linalg.inv(pair.cov_x)).T)
    assert np.sort(values.real) == pytest.approx(np.sort(pair.canonical.rest), abs=1e-10)
    beta = 4.0
    rows = []
    for value, v in zip(values.real, vectors.real.T, strict=True):
        if beta * (1 - value) > 1:
            rows.append(v * math.sqrt((beta * (1 - value) - 1) / (value * (v @ pair.cov_x @ v))))
    a = np.array(rows)
    after = a @ pair.cov_x @ a.T + np.eye(len(a))
    told = gaussian_information(after, pair.cov_y, a @ pair.cov_xy)
    rate = 0.5 * math.log2(np.linalg.det(after))
    found = at_beta(pair.canonical.rho, pair.canonical.rest, beta)
    assert found.risk / LN2 == pytest.approx(told, rel=1e-10)
    assert found.rate is not None
    assert found.rate / LN2 == pytest.approx(rate, rel=1e-10)


def test_bottleneck_at_its_ends() -> None:
    rho = np.array([0.9, 0.0])
    rest = 1 - rho**2
    assert at_beta(rho, rest, 1 / 0.81).risk == 0.0
    assert at_rate(rho, rest, 0.0).rate == 0.0
    assert at_loss(rho, rest, 0.0).rate is None
    assert at_loss(rho, rest, 9.0).rate == 0.0
    assert at_loss(np.zeros(2), np.ones(2), 0.0).rate == 0.0
    assert at_rate(np.zeros(2), np.ones(2), 1.0).risk == 0.0
    huge = at_rate(rho, rest, 1000.0)
    assert (huge.rate, huge.loss) == (None, 0.0)
    risks = [point.risk or 0.0 for point in curve(canonical(0.9, 0.5), 4, [0.0, 0.5, 1.0, 2.0])]
    assert risks == sorted(risks)


# Columns that are special.


def test_a_secret_that_x_determines() -> None:
    pair = Pair.of(np.eye(2), [[1.0]], [[1.0], [0.0]])
    assert gaussian_limit(pair, 1, 0.0).risk is None
    assert gaussian_limit(pair, 1, 0.25).risk == pytest.approx(1.0, rel=1e-12)
    assert gaussian_limit(pair, 2, 1.0).objective == pytest.approx(0.25, rel=1e-12)
    for model in (3, 4):
        with pytest.raises(InputError, match="unbounded"):
            gaussian_limit(pair, model, 1.0)


def test_telling_nothing_needs_no_constant() -> None:
    """Only what is correlated with the secret must go: 1 of the variance of 2."""
    found = gaussian_limit(canonical(0.9, 0.0), 1, 1.0)
    assert (found.risk, found.private, found.distortion) == (0.0, 1.0, 1.0)
    assert found.channel.matrix == pytest.approx(np.diag([0.0, 1.0]))
    assert gaussian_limit(canonical(0.9, 0.0), 2, 0.0).objective == 1.0
    pair = random_pair(2, 3, 1)
    limit = gaussian_limit(pair, 2, 0.0)
    assert limit.distortion == limit.private < np.trace(pair.cov_x)
    assert pair.risk(limit.channel) == pytest.approx(0.0, abs=1e-12)


def test_a_secret_of_no_use_costs_nothing() -> None:
    """One direction of three is correlated with the secrets; rounding is no correlation."""
    rng = np.random.default_rng(10)
    x, y = rng.normal(size=(3, 3)), rng.normal(size=(2, 2))
    cross = x @ np.array([[0.7, 0.0], [0.0, 0.0], [0.0, 0.0]]) @ y.T
    pair = Pair.of(x @ x.T, y @ y.T, cross)
    assert pair.canonical.rho.tolist() == pytest.approx([0.7, 0.0, 0.0])
    assert not pair.canonical.rho[1:].any()
    assert gaussian_limit(pair, 2, 0.0).private == pytest.approx(float(x[:, 0] @ x[:, 0]))


def test_a_release_of_nothing_is_exactly_the_mean() -> None:
    pair = random_pair(3, 3, 3)
    channel = gaussian_limit(pair, 1, float(np.trace(pair.cov_x))).channel
    assert not channel.matrix.any()
    assert (channel.apply(np.full((4, 3), 1e9 / 3)) == pair.mean).all()


def test_constant_and_repeated_columns() -> None:
    one = random_pair(4, 2, 2)
    wide = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    pair = Pair.of(wide @ one.cov_x @ wide.T, one.cov_y, wide @ one.cov_xy)
    found, plain = gaussian_limit(pair, 1, 1.0), gaussian_limit(one, 1, 1.0)
    assert found.risk == pytest.approx(plain.risk, abs=1e-9)
    twice = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    pair = Pair.of(twice @ one.cov_x @ twice.T, one.cov_y, twice @ one.cov_xy)
    double = gaussian_limit(one, 1, 1.0, [2.0, 1.0])
    assert gaussian_limit(pair, 1, 1.0).risk == pytest.approx(double.risk, abs=1e-9)


def test_columns_without_a_weight_are_free() -> None:
    pair = random_pair(5, 3, 2)
    found = gaussian_limit(pair, 1, 0.0, [1.0, 1.0, 0.0])
    part = gaussian_information(pair.cov_x[:2, :2], pair.cov_y, pair.cov_xy[:2])
    assert found.risk == pytest.approx(part, rel=1e-12)
    assert found.distortion == pytest.approx(0.0, abs=1e-14)
    assert found.rate is None
    nothing = gaussian_limit(pair, 1, 0.0, [0.0, 0.0, 0.0])
    assert nothing.risk == 0.0


def test_what_is_no_covariance() -> None:
    with pytest.raises(InputError, match="more than determined"):
        Pair.of([[1.0]], [[1.0]], [[1.1]])
    with pytest.raises(InputError, match="negative eigenvalue"):
        Pair.of([[1.0, 2.0], [2.0, 1.0]], [[1.0]], [[0.0], [0.0]])
    with pytest.raises(InputError, match="symmetric"):
        Pair.of([[1.0, 0.5], [0.1, 1.0]], [[1.0]], [[0.0], [0.0]])
    with pytest.raises(InputError, match="without variance"):
        Pair.of([[0.0]], [[1.0]], [[0.5]])
    with pytest.raises(InputError, match="too large"):
        Pair.of([[math.nan]], [[1.0]], [[0.5]])
    with pytest.raises(UsageError, match="fit each other"):
        Pair.of([[1.0]], [[1.0]], [[0.5, 0.5]])
    with pytest.raises(UsageError, match="one mean"):
        Pair.of([[1.0]], [[1.0]], [[0.5]], [0.0, 1.0])


def test_what_is_no_question() -> None:
    pair = canonical(0.5, 0.4)
    for wrong in (-1.0, math.nan, math.inf):
        with pytest.raises(UsageError, match="from 0 on"):
            gaussian_limit(pair, 1, wrong)
    with pytest.raises(UsageError, match="models 1, 2, 3 and 4"):
        gaussian_limit(pair, 5, 1.0)
    for weights in ("euclid", [1.0], [[1.0, 3.0], [3.0, 1.0]], [-1.0, 1.0]):
        with pytest.raises(UsageError, match="weights"):
            gaussian_limit(pair, 1, 1.0, weights)


# Records.


@pytest.mark.parametrize("model", [1, 2, 3, 4])
def test_released_records_do_what_the_limit_says(model: int) -> None:
    pair = random_pair(6, 3, 2)
    at = {1: 0.3 * float(np.trace(pair.cov_x)), 2: 0.2, 3: 0.2, 4: 0.8}[model]
    limit = gaussian_limit(pair, model, at)
    n = 100_000
    joint = np.block([[pair.cov_x, pair.cov_xy], [pair.cov_xy.T, pair.cov_y]])
    drawn = np.random.default_rng(7).multivariate_normal(np.zeros(5), joint, n)
    x, y = drawn[:, :3] + pair.mean, drawn[:, 3:]
    after = limit.channel.apply(x, seed=8)
    errors = ((x - after) ** 2).sum(axis=1)
    assert errors.mean() == pytest.approx(
        limit.distortion, abs=4 * errors.std() / math.sqrt(n) + 1e-12
    )
    for found, aim, size in (
        (from_data(after, y), limit.risk, 6),
        (from_data(x, after), limit.rate, 9),
    ):
        if aim is not None:
            assert found is not None
            told = Pair.of_records(after, y if size == 6 else x).canonical.rho
            error = math.sqrt(float((told**2).sum()) / n)
            assert abs(found - aim) * LN2 < 4 * error + size / (2 * n)
    assert after.mean(axis=0) == pytest.approx(pair.mean, abs=4 * x.std() / math.sqrt(n))
    assert (after == limit.channel.apply(x, seed=8)).all()
    assert (after != limit.channel.apply(x, seed=9)).any()


def test_a_channel_says_what_it_cannot_take() -> None:
    channel = gaussian_limit(canonical(0.5, 0.4), 1, 0.5).channel
    with pytest.raises(UsageError, match="one number for each column"):
        channel.apply([[1.0]])
    with pytest.raises(UsageError, match="seed"):
        channel.apply([[1.0, 2.0]], seed=-1)
    with pytest.raises(InputError, match="missing"):
        channel.apply([[1.0, math.nan]])
    flat = Channel(np.eye(1) / 2, np.eye(1), np.zeros(1)).apply([1.0, 2.0])
    assert flat.shape == (2,)


def test_limit_of_records() -> None:
    rng = np.random.default_rng(9)
    x = rng.normal(size=(500, 2))
    y = np.exp(x @ [0.5, 0.3] + rng.normal(size=500))
    x[0, 0] = math.nan
    found = limit_of_records(x, y, 1, 0.5, names=["age", "pay", "sum"])
    assert found.normality is not None
    assert found.normality.records == 499
    assert [c.name for c in found.normality.columns] == ["age", "pay", "sum"]
    assert {p.columns for p in found.normality.pairs} == {("age", "sum"), ("pay", "sum")}
    assert not found.normality.near
    assert found.information == pytest.approx(from_data(x[1:], y[1:, None]), rel=1e-10)
    text = json.dumps(found.to_dict(), allow_nan=False)
    assert '"sentences"' in text
    with pytest.raises(UsageError, match="one row a record"):
        Pair.of_records(x, y[1:])
    with pytest.raises(InputError, match="fewer than two"):
        Pair.of_records([math.nan, 1.0], [1.0, 2.0])


# How Gaussian columns are.


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 7, 10, 56, 165, 1540])
@pytest.mark.parametrize("times", [0.01, 0.5, 1.0, 1.1, 2.0])
def test_chi_square_tail(degrees: int, times: float) -> None:
    x = times * degrees
    assert chi_square(x, degrees) == pytest.approx(stats.chi2.sf(x, degrees), rel=1e-11)


def test_tails_at_their_ends() -> None:
    assert chi_square(0.0, 3) == chi_square(-1.0, 2) == 1.0
    assert chi_square(1e6, 3) == 0.0
    assert two_sided(0.0) == 1.0
    assert two_sided(-3.0) == pytest.approx(2 * stats.norm.sf(3.0), rel=1e-13)
    with pytest.raises(UsageError, match="degrees"):
        chi_square(1.0, 0)


@pytest.mark.parametrize("n", [20, 25, 100, 5000])
def test_shapes_as_scipy_has_them(n: int) -> None:
    rng = np.random.default_rng(n)
    for column in (rng.normal(size=n), rng.exponential(size=n) * 1e6, rng.uniform(size=n) - 7):
        found = normality({"x": column}).columns[0]
        assert found.skewness == pytest.approx(stats.skew(column), rel=1e-10)
        assert found.kurtosis == pytest.approx(stats.kurtosis(column), rel=1e-10)
        assert found.skewness_p == pytest.approx(stats.skewtest(column).pvalue, rel=1e-9)
        assert found.kurtosis_p == pytest.approx(stats.kurtosistest(column).pvalue, rel=1e-9)
        assert found.p_value == pytest.approx(stats.normaltest(column).pvalue, rel=1e-9)


def test_mardia_by_its_definition() -> None:
    x = np.random.default_rng(1).exponential(size=(60, 4))
    apart = x - x.mean(axis=0)
    inner = apart @ np.linalg.solve(np.cov(x.T, bias=True), apart.T)
    found = normality(x)
    assert found.skewness == pytest.approx((inner**3).mean(), rel=1e-10)
    assert found.kurtosis == pytest.approx((np.diag(inner) ** 2).mean(), rel=1e-10)


def test_mardia_is_right_on_average() -> None:
    """Of Gaussian columns: the mean of b_2, and evenly spread p-values of both."""
    rng = np.random.default_rng(2)
    drawn = [_mardia(standard(rng.normal(size=(80, 3)))[2]) for _ in range(300)]
    b2, expected, p1, p2 = (np.array([d[i] for d in drawn]) for i in (1, 2, 3, 4))
    assert b2.mean() == pytest.approx(expected[0], abs=4 * b2.std() / math.sqrt(300))
    for p in (p1, p2):
        assert p.mean() == pytest.approx(0.5, abs=4 * math.sqrt(1 / 12 / 300) + 0.02)
        assert (p < 0.05).mean() < 0.05 + 4 * math.sqrt(0.05 * 0.95 / 300)


def test_gaussian_columns_pass_and_others_do_not() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(3000, 2))
    x[:, 1] += x[:, 0]
    good = normality({"a": x[:, 0], "b": x[:, 1]})
    assert good.near
    assert not good.rejected
    assert good.apart is not None
    assert good.apart < 0.05
    assert "fair description" in good.sentences[-1]
    bad = normality({"a": x[:, 0], "b": x[:, 0] ** 2 + 0.1 * x[:, 1]})
    assert bad.rejected
    assert not bad.near
    assert bad.pairs[0].apart is not None
    assert bad.pairs[0].apart > 1
    assert any("were they Gaussian" in s for s in bad.sentences)


def test_columns_that_cannot_be_checked() -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(size=50)
    found = normality({"x": x, "y": 2 * x, "z": np.full(50, 3.25)})
    assert found.constant == ("z",)
    assert (found.skewness, found.kurtosis_p) == (None, None)
    assert found.pairs[0].reason == "one determines the other"
    assert "1 pair of columns" in " ".join(found.sentences)
    assert "3.25" not in json.dumps(found.to_dict())
    none = normality({"z": np.ones(50)})
    assert none.sentences == ("No column has more than one value.",)
    assert none.p_value == 1.0
    with pytest.raises(InputError, match="fewer than 20"):
        normality([1.0, 2.0])
    with pytest.raises(UsageError, match="one name"):
        normality(np.ones((30, 2)), names=["a"])
