"""Models 3 and 4, the funnel, intervals: known values, checks by a grid, all partitions."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from sievert.errors import UsageError
from sievert.tradeoff import (
    Joint,
    curve,
    funnel,
    grid,
    hamming,
    interval_recodings,
    least_identity,
    least_loss,
    matrix,
)
from sievert.tradeoff.bottleneck import (
    BottleneckCurve,
    contraction,
    sparse_starts,
    stationary_points,
)
from sievert.tradeoff.channel import deterministic_channel, evaluate_channel

LN2 = math.log(2)
BINARY = [[9, 1], [1, 9]]
TABLE = [[8, 1, 1], [2, 6, 2], [1, 2, 7], [4, 4, 2]]
THREE = [[6, 2, 1], [1, 5, 2], [2, 1, 7]]


@pytest.mark.parametrize(
    ("rate", "told"), [(0.1, 0.063178548), (0.3, 0.183368747), (0.5, 0.290822801)]
)
def test_mrs_gerbers_lemma(rate, told):
    found = least_loss(BINARY, rate / LN2)
    assert found.risk * LN2 == pytest.approx(told, abs=1e-8)
    assert found.identity * LN2 == pytest.approx(rate, abs=1e-9)
    assert found.bound <= found.objective == found.loss
    assert found.reached is None
    back = least_identity(BINARY, Joint.of(BINARY).information - told / LN2)
    assert back.objective * LN2 == pytest.approx(rate, abs=1e-8)
    assert back.bound <= back.objective


@pytest.mark.parametrize(
    ("beta", "rate", "told"),
    [
        (1.6, 0.0892236598982, 0.0564541015803),
        (2, 0.482730382582, 0.282272983615),
        (3, 0.65776259129, 0.358076477699),
        (5, 0.691648104287, 0.367794955742),
    ],
)
def test_stationary_points_of_the_binary_bottleneck(beta, rate, told):
    """Roots with 30 digits of ln((1-a)/a) = beta·(1-2·0.1)·ln((1-b)/b), b = a·0.9 + (1-a)·0.1."""
    start = np.array([[0.9, 0.1], [0.1, 0.9]])
    point, _ = next(stationary_points(Joint.of(BINARY), beta, start[None], 3000, still=-1.0))
    assert (point.rate, point.information) == pytest.approx((rate, told), abs=1e-11)


def test_below_the_critical_slope_nothing_is_told():
    start = np.array([[0.9, 0.1], [0.1, 0.9]])
    point, _ = next(stationary_points(Joint.of(BINARY), 1.5, start[None], 3000, still=-1.0))
    assert point.information == pytest.approx(0, abs=1e-12)


def test_the_bottleneck_and_a_grid():
    for rate in (0.3, 0.8):
        found = least_loss(THREE, rate)
        checked = grid(THREE, rate)
        assert checked - 1e-9 <= found.risk <= checked + 1e-3


SPARSE = [
    [[0.06, 0, 0.681, 0, 0], [0, 0, 2.308, 0.046, 0], [1.669, 21.028, 0, 0.044, 0]],
    [[0.266, 0.359, 0, 0], [4.487, 0.452, 0, 0.663], [0, 0, 1.467, 0.138]],
]


@pytest.mark.parametrize("values", [0, 3], ids=["restarts", "grid"])
@pytest.mark.parametrize("number", range(2))
def test_sparse_tables_reach_the_grid(number, values):
    """Where secrets never go with values, annealing ended up to 4e-4 bits short of the grid."""
    table, entropy = SPARSE[number], Joint.of(SPARSE[number]).entropy
    rate = (0.8, 0.5)[number] * entropy
    found = least_loss(table, rate, grid_values=values)
    assert found.identity <= rate + 1e-9
    assert found.risk >= grid(table, rate) - 1e-9
    assert (found.spread == 0) == (values == 3)
    if values == 3:
        assert least_identity(table, found.loss).objective <= rate + 1e-6


@pytest.mark.parametrize("number", range(2))
def test_no_channel_of_a_fine_enumeration_is_better(number):
    """Brute force: every channel with two released values, and shares of 1/24."""
    joint = Joint.of(SPARSE[number])
    shares = np.array(list(itertools.product(np.linspace(0, 1, 25), repeat=3)))
    released = np.stack([shares, 1 - shares], axis=1) * joint.weights  # channels, T, X
    sums = released.sum(axis=2)
    told = released @ joint.given / np.maximum(sums, 1e-300)[:, :, None]

    def information(posteriors, prior):
        terms = posteriors * np.log2(np.where(posteriors > 0, posteriors / prior, 1.0))
        return (sums * terms.sum(axis=2)).sum(axis=1)

    rates = information(released / np.maximum(sums, 1e-300)[:, :, None], joint.weights)
    tells = information(told, joint.secret)
    rate = 0.6 * joint.entropy
    assert least_loss(SPARSE[number], rate).risk >= tells[rates <= rate].max() - 1e-9


def test_starts_with_few_values_each():
    joint = Joint.of(SPARSE[0])
    starts = list(itertools.islice(sparse_starts(joint, np.random.default_rng(0)), 20))
    assert all((s.sum(axis=1) > 0).all() and (s >= 0).all() for s in starts)
    assert len({s.tobytes() for s in starts}) == 20


def test_equal_rows_are_one():
    """Two values that tell the same are released as one: no loss at less than H(X)."""
    table = [[4, 1], [8, 2], [1, 4]]
    found = least_identity(table, 0)
    assert found.loss == pytest.approx(0, abs=1e-12)
    kinds = Joint.of([[12, 3], [1, 4]]).entropy
    assert found.objective == pytest.approx(kinds, abs=1e-9)
    assert kinds < Joint.of(table).entropy
    assert np.array_equal(found.channel[0], found.channel[1])


def test_ends_of_the_bottleneck():
    assert least_loss(TABLE, 0).risk == pytest.approx(0, abs=1e-12)
    assert least_loss(TABLE, 9).loss == pytest.approx(0, abs=1e-12)
    assert least_identity(TABLE, 9).objective == pytest.approx(0, abs=1e-12)
    independent = least_loss([[1, 2], [2, 4]], 0.2)
    assert (independent.objective, independent.bound) == (0, 0)
    assert least_identity([[1, 2]], 0).objective == 0
    assert BottleneckCurve(Joint.of([[1, 2], [2, 4]])).points


def test_contraction_is_the_largest_distance():
    assert contraction(Joint.of(BINARY)) == pytest.approx(0.8)
    assert contraction(Joint.of([[1, 0], [0, 1], [1, 1]])) == 1.0


@pytest.mark.slow
def test_curves_of_models_3_and_4():
    for model in (3, 4):
        found = curve(THREE, model=model, points=5)
        assert len(found.points) == 5
        steps = np.diff(found.objective) / np.diff(found.at)
        assert (np.diff(steps) >= -1e-9).all()
        assert all(p.bound <= p.objective for p in found.points)


@pytest.mark.parametrize(
    ("rate", "told"), [(0.1, 0.053100441), (0.3, 0.159301322), (0.5, 0.265502203)]
)
def test_the_binary_funnel_erases(rate, told):
    found = funnel(BINARY, rate / LN2)
    assert found.risk * LN2 == pytest.approx(told, abs=1.1e-9)
    assert found.identity * LN2 == pytest.approx(rate, abs=1e-9)
    assert found.bound <= found.objective


@pytest.mark.slow
def test_the_funnel_and_a_grid():
    joint = Joint.of(THREE)
    for rate in (0.5, 1.3):
        found = funnel(THREE, rate)
        assert found.risk <= grid(THREE, rate, least=True) + 1e-4
        assert found.identity >= rate - 1e-9
        assert found.risk <= rate * joint.information / joint.entropy + 1e-12


def test_the_funnel_tells_nothing_where_it_need_not():
    """Four values, a secret of two: half of what X holds can be kept without a word of Y."""
    found = funnel([[3, 1], [1, 3], [3, 1], [1, 3]], 1.0)
    assert found.risk == pytest.approx(0, abs=1e-9)


def test_refused():
    with pytest.raises(UsageError):
        funnel(BINARY, 1.5)
    with pytest.raises(UsageError):
        funnel(BINARY, -1)
    with pytest.raises(UsageError):
        least_loss(BINARY, math.nan)
    with pytest.raises(UsageError):
        grid(TABLE, 0.1)
    with pytest.raises(UsageError):
        interval_recodings(BINARY, "hamming", most=0)
    with pytest.raises(UsageError):
        interval_recodings(BINARY, "hamming", weight=-1)


@pytest.mark.parametrize("weight", [None, 0.0, 0.3])
def test_intervals_are_the_best_of_all_partitions(weight):
    table = np.random.default_rng(4).integers(1, 9, size=(6, 3))
    joint, d = Joint.of(table), matrix("absolute", 6)
    found = interval_recodings(table, d, weight=weight)
    assert [r.intervals for r in found] == [1, 2, 3, 4, 5, 6]
    for recoding in found:
        sums = []
        for inner in itertools.combinations(range(1, 6), recoding.intervals - 1):
            cuts = (0, *inner, 6)
            groups = np.repeat(np.arange(recoding.intervals), np.diff(cuts))
            risk = evaluate_channel(joint, deterministic_channel(groups, recoding.intervals))[0]
            far = sum(
                (joint.weights[a:b, None] * d[a:b]).sum(axis=0).min()
                for a, b in itertools.pairwise(cuts)
            )
            sums.append(far if weight is None else risk + weight * far)
        mine = recoding.distortion
        mine = mine if weight is None else recoding.risk + weight * mine
        assert mine == pytest.approx(min(sums), abs=1e-12)
    assert found[0].risk == pytest.approx(0, abs=1e-12)
    assert found[-1].risk == pytest.approx(joint.information, abs=1e-12)


def test_intervals_pass_over_values_that_never_occur():
    found = interval_recodings([[0, 0], [4, 1], [0, 0], [1, 4]], "absolute")
    assert [r.starts for r in found] == [(0,), (0, 3)]
    assert found[1].representatives == (1, 3)
    assert found[1].distortion == 0
    assert interval_recodings(BINARY, hamming(2), most=1)[0].starts == (0,)
