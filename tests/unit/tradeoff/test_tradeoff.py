"""Models 1 to 4 for finite alphabets: known values, ends of the curves, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sievert.errors import InputError, UsageError
from sievert.hierarchies import Hierarchy
from sievert.tradeoff import (
    Joint,
    absolute,
    curve,
    hamming,
    ladder,
    least_distortion,
    least_risk,
    matrix,
    perfect,
    squared,
)
from sievert.tradeoff.channel import ChannelProblem
from sievert.tradeoff.joint_distribution import disclosed_information
from sievert.tradeoff.mirror_descent import descend

LN2 = math.log(2)
BINARY = [[9, 1], [1, 9]]
TABLE = [[8, 1, 1], [2, 6, 2], [1, 2, 7], [4, 4, 2]]
DIGITS = 1.1e-9  # the reference values have nine decimals


def brackets(found, nats, gap=1e-8):
    assert found.bound * LN2 <= nats + DIGITS
    assert nats - DIGITS <= found.objective * LN2
    assert 0 <= found.gap <= gap
    assert found.reached


@pytest.mark.parametrize(
    ("at", "nats"), [(0.05, 0.288183695), (0.1, 0.221753694), (0.25, 0.082282879)]
)
def test_binary_symmetric(at, nats):
    found = least_risk(BINARY, "hamming", at, gap=1e-8)
    brackets(found, nats)
    assert found.distortion <= at * (1 + 1e-12)
    assert found.loss == pytest.approx(Joint.of(BINARY).information - found.risk, abs=1e-15)


@pytest.mark.parametrize(
    ("p", "at", "nats"),
    [
        (0.5, 0.1, 0.368064207),
        (0.5, 0.2, 0.192744757),
        (0.3, 0.1, 0.285781329),
        (0.3, 0.2, 0.110461879),
    ],
)
def test_rate_distortion_and_its_reverse(p, at, nats):
    joint = Joint.identity([p, 1 - p])
    found = least_risk(joint, "hamming", at, gap=1e-8)
    brackets(found, nats)
    assert found.risk == pytest.approx(found.identity, abs=1e-12)
    back = least_distortion(joint, "hamming", nats / LN2, gap=1e-6)
    assert back.bound - 1e-8 <= at <= back.objective + 1e-8
    assert back.risk <= nats / LN2 + 1e-12


def test_the_identity_as_a_table_is_the_identity():
    weights = [3, 1, 2, 2]
    one = least_risk(Joint.identity(weights), "absolute", 0.4, gap=1e-6)
    other = least_risk(np.diag(weights), "absolute", 0.4, gap=1e-6)
    assert one.objective == pytest.approx(other.objective, abs=2e-6)


@pytest.mark.parametrize(("at", "nats"), [(0.25, 0.086812656), (0.5, 0.001559540)])
def test_four_by_three(at, nats):
    assert Joint.of(TABLE).information * LN2 == pytest.approx(0.232769813, abs=DIGITS)
    brackets(least_risk(TABLE, "absolute", at, gap=1e-8), nats)
    back = least_distortion(TABLE, "absolute", nats / LN2, gap=1e-5)
    assert back.bound - 1e-6 <= at <= back.objective + 1e-6
    assert back.gap <= 1e-5


@pytest.mark.parametrize("at", [0.576086957, 0.6, 0.99])
def test_nothing_need_be_told_beyond_perfect_privacy(at):
    found = least_risk(TABLE, "absolute", at, gap=1e-6)
    assert 0 <= found.objective <= 1e-6
    assert found.bound == 0


@pytest.mark.parametrize(
    ("price", "nats"),
    [(0.5, 0.209537732), (0.1, 0.051559540), (0.2, 0.101559540), (1.0, 0.232769813)],
)
def test_lagrangian_minima(price, nats):
    d = matrix("absolute", 4)
    found = descend(ChannelProblem(Joint.of(TABLE), d, cost=price * d), 1e-8, 5000)
    assert found.bound <= nats + DIGITS
    assert nats - DIGITS <= found.value
    assert found.value - found.bound <= 1e-8


def test_perfect_privacy():
    found = perfect(TABLE, "absolute")
    assert found.distortion == pytest.approx(0.576086957, abs=DIGITS)
    assert found.bound <= found.objective <= found.bound + 1e-9
    assert found.risk < 1e-12
    zero = least_distortion(TABLE, "absolute", 0)
    assert zero.objective == found.objective
    assert found.distortion < least_risk(TABLE, "absolute", 1.0).distortion == 1.0


def test_perfect_privacy_without_scipy(monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setitem(perfect.__globals__, "import_module", missing)
    with pytest.raises(UsageError, match="SciPy"):
        perfect(TABLE, "absolute")


def test_discretised_gaussian():
    """81 by 61 points of a Gaussian pair with correlation 0.8, squared error."""
    x, y = np.linspace(-4, 4, 81), np.linspace(-4, 4, 61)
    joint = np.exp(-(x[:, None] ** 2 - 1.6 * x[:, None] * y + y**2) / (2 * 0.36))
    known = ((0.25, 0.32619, 0.32663), (0.5, 0.19220, 0.19251), (0.75, 0.08632, 0.08689))
    for at, low, high in known:
        found = least_risk(joint, squared(x), at, gap=5e-4)
        assert found.bound * LN2 <= high + 1e-5
        assert low - 1e-5 <= found.objective * LN2
        assert found.reached


def test_a_smaller_alphabet_of_releases():
    d = absolute(np.arange(4), [0.5, 2.5])
    found = least_risk(TABLE, d, 0.6, gap=1e-6)
    assert found.channel.shape == (4, 2)
    assert found.reached
    whole = least_risk(TABLE, absolute(np.arange(4), [0, 0.5, 1, 2, 2.5, 3]), 0.6, gap=1e-6)
    assert whole.bound <= found.objective


def test_slsqp_lies_between():
    from scipy.optimize import minimize

    joint, d, at = Joint.of([[5, 1, 2], [1, 4, 1], [2, 2, 6]]), hamming(3), 0.2

    def channel(free):
        return free.reshape(3, 3)

    solved = minimize(
        lambda free: disclosed_information(joint, np.maximum(channel(free), 1e-12)),
        (0.8 * np.eye(3) + 0.2 / 3).ravel(),
        bounds=[(0, 1)] * 9,
        constraints=[
            {"type": "eq", "fun": lambda free: channel(free).sum(axis=1) - 1},
            {"type": "ineq", "fun": lambda free: at - joint.weights @ (channel(free) * d).sum(1)},
        ],
        options={"ftol": 1e-13, "maxiter": 500},
    )
    found = least_risk(joint, d, at, gap=1e-7)
    assert found.bound * LN2 <= solved.fun + 1e-7
    assert found.objective * LN2 <= solved.fun + 1e-6


def test_no_distortion_at_all():
    found = least_risk(TABLE, "absolute", 0)
    assert found.objective == pytest.approx(Joint.of(TABLE).information, abs=1e-15)
    assert found.gap == 0
    assert np.array_equal(found.channel, np.eye(4))


def test_no_distortion_with_two_values_as_near():
    """Rows 0 and 1 may be exchanged at no distortion, which hides all that tells them apart."""
    d = np.array([[0.0, 0, 1], [0, 0, 1], [1, 1, 0]])
    found = least_risk([[4, 0], [0, 4], [2, 2]], d, 0, gap=1e-7)
    assert found.objective == pytest.approx(0, abs=1e-7)
    assert found.distortion == 0
    free = least_distortion([[4, 0], [0, 4], [2, 2]], d, 0.001)
    assert free.objective == free.bound == 0


def test_nearly_no_distortion():
    found = least_risk(TABLE, "absolute", 1e-9, gap=1e-5)
    assert found.distortion <= 1e-9
    assert found.bound <= found.objective <= Joint.of(TABLE).information + 1e-12
    assert found.gap < 1e-3


def test_one_value_for_all_from_some_distortion_on():
    found = least_risk(BINARY, "hamming", 0.5)
    assert (found.objective, found.bound, found.distortion) == (0, 0, 0.5)
    assert least_risk(BINARY, "hamming", 7).objective == 0


@pytest.mark.parametrize("table", [[[1], [2], [3]], [[1, 2], [2, 4], [3, 6]]])
def test_a_secret_that_is_independent_needs_no_distortion(table):
    found = least_risk(table, "hamming", 0.1)
    assert found.objective == pytest.approx(0, abs=1e-15)
    back = least_distortion(table, "hamming", 0)
    assert back.objective == pytest.approx(0, abs=1e-15)


def test_one_value_of_x():
    found = least_risk([[3, 4]], "hamming", 0)
    assert (found.objective, found.bound, found.channel.tolist()) == (0, 0, [[1.0]])
    assert least_distortion([[3, 4]], "hamming", 0).objective == 0


def test_values_that_never_occur():
    empty = [[9, 0, 1], [0, 0, 0], [1, 0, 9]]
    d = np.array([[0.0, 1, 1], [1, 0, 1], [1, 1, 0]])
    found = least_risk(empty, d, 0.1, gap=1e-7)
    brackets(found, 0.221753694, 1e-7)
    assert found.channel.shape == (3, 3)
    assert np.allclose(found.channel.sum(axis=1), 1)
    assert found.channel[1].tolist() == [0, 1, 0]


def test_a_whole_risk_needs_no_distortion():
    found = least_distortion(TABLE, "absolute", 2.0)
    assert found.objective == found.bound == 0


def test_a_limit_of_steps_gives_what_is_there():
    found = least_risk(TABLE, "absolute", 0.25, gap=1e-12, most=7)
    assert found.iterations == 7
    assert not found.reached
    assert found.bound <= 0.086812656 / LN2 <= found.objective
    assert found.distortion <= 0.25
    soon = least_risk(TABLE, "absolute", 0.25, gap=0, seconds=0)
    assert soon.iterations == 0
    late = least_distortion(TABLE, "absolute", 0.1, gap=0, seconds=0)
    assert late.bound <= late.objective
    assert late.risk <= 0.1 + 1e-12


def test_the_same_bits_again():
    one, other = (least_risk(TABLE, "absolute", 0.25) for _ in range(2))
    assert one.objective == other.objective
    assert np.array_equal(one.channel, other.channel)


def test_distortions():
    assert squared([1, 3], [2]).tolist() == [[1.0], [1.0]]
    assert matrix("squared", 3)[0].tolist() == [0, 1, 4]
    assert matrix("absolute", 2, [5, 9]).tolist() == [[0, 4], [4, 0]]
    assert hamming(2, 3).tolist() == [[0, 1, 1], [1, 0, 1]]
    values = ["000", "001", "010", "100"]
    found = ladder(Hierarchy.prefixes(values), values)
    assert found[0] == pytest.approx([0, 1 / 3, 2 / 3, 1])
    assert np.array_equal(found, found.T)


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (lambda: Joint.of([[1, -1]]), InputError),
        (lambda: Joint.of([[0, 0]]), InputError),
        (lambda: Joint.of([1, 2]), InputError),
        (lambda: Joint.of([["a", "b"]]), InputError),
        (lambda: Joint.of([[math.nan]]), InputError),
        (lambda: Joint.identity([0, 0]), InputError),
        (lambda: matrix("euclid", 2), UsageError),
        (lambda: matrix([[1, 2]], 2), UsageError),
        (lambda: matrix([["a"], ["b"]], 2), InputError),
        (lambda: matrix([[-1.0], [1.0]], 2), InputError),
        (lambda: matrix("squared", 2, [1]), UsageError),
        (lambda: squared([1, math.inf]), InputError),
        (lambda: squared([[1, 2]]), UsageError),
        (lambda: least_risk(BINARY, "hamming", -1), UsageError),
        (lambda: least_risk(BINARY, "hamming", math.nan), UsageError),
        (lambda: least_risk(BINARY, [[1.0], [1.0]], 0.5), UsageError),
        (lambda: least_risk(BINARY, "hamming", 0.1, gap=-1), UsageError),
        (lambda: curve(BINARY, "hamming", model=7), UsageError),
        (lambda: curve(BINARY, model=1), UsageError),
        (lambda: curve(BINARY, "hamming", points=0), UsageError),
    ],
)
def test_refused(wrong, error):
    with pytest.raises(error):
        wrong()


def test_curves_agree_with_single_answers():
    found = curve(TABLE, "absolute", points=6, gap=1e-5)
    assert len(found.points) == 6
    for point in found.points:
        alone = least_risk(TABLE, "absolute", point.at, gap=1e-5)
        assert point.bound <= alone.objective
        assert alone.bound <= point.objective
        assert point.reached
        assert point.distortion <= point.at + 1e-12
    back = curve(TABLE, "absolute", model=2, points=4)
    for point in back.points:
        alone = least_distortion(TABLE, "absolute", point.at)
        assert point.bound <= alone.objective
        assert alone.bound <= point.objective
        assert point.risk <= point.at + 1e-12


def test_a_large_alphabet_ends_in_time():
    x, y = np.linspace(0, 1, 120)[:, None], np.linspace(0, 1, 40)
    joint = np.exp(-((x - y) ** 2) / 0.045)
    found = least_risk(joint, squared(x[:, 0]), 0.04, gap=1e-3, most=200)
    assert found.reached
    assert found.iterations < 120


def test_to_dict_has_plain_values():
    import json

    held = json.loads(json.dumps(least_risk(BINARY, "hamming", 0.1).to_dict()))
    assert held["gap"] == held["objective"] - held["bound"]
