"""Laws of estimated informations: Lemma 1, Pinsker, all permutations, names and orders."""

from __future__ import annotations

import itertools
import math
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sievert.estimators import ContingencyTable, InformationEstimate, information, information_lost
from sievert.estimators.permutation import ShuffleLayout, TableBlocks, independent, shuffle_test
from sievert.losses.loss import GONE, combination_codes

MANY = settings(max_examples=120, deadline=None, derandomize=True)
FEW = settings(max_examples=40, deadline=None, derandomize=True)


@st.composite
def columns(draw: Any, most: int = 40) -> tuple[Any, Any]:
    """Two columns of codes, one place a record."""
    n = draw(st.integers(1, most))
    sides = [
        draw(st.lists(st.integers(0, draw(st.integers(0, 8))), min_size=n, max_size=n))
        for _ in range(2)
    ]
    return np.array(sides[0]), np.array(sides[1])


@st.composite
def released(draw: Any) -> tuple[Any, Any, Any]:
    """Records whose released value depends on the original one alone, exactly.

    Counts of (x, y) times integer weights of (x, x') whose sums are the same for every x.
    """
    nx, nc, ny = (draw(st.integers(1, 4)) for _ in range(3))
    cells = draw(st.lists(st.integers(0, 3), min_size=nx * ny, max_size=nx * ny))
    joint = np.array(cells).reshape(nx, ny)
    joint[0, 0] += not joint.any()
    rows = [
        np.bincount(draw(st.lists(st.integers(0, nc - 1), min_size=4, max_size=4)), minlength=nc)
        for _ in range(nx)
    ]
    counts = joint[:, None, :] * np.array(rows)[:, :, None]
    x, c, y = (np.repeat(i.ravel(), counts.ravel()) for i in np.indices(counts.shape))
    return x, c, y


def markov(x: Any, c: Any, y: Any) -> bool:
    """Whether original and secret are independent within each released value, in integers."""
    for value in np.unique(c):
        x_, y_ = x[c == value], y[c == value]
        for a, b in itertools.product(np.unique(x_), np.unique(y_)):
            both = int(((x_ == a) & (y_ == b)).sum())
            if both * len(x_) != int((x_ == a).sum()) * int((y_ == b).sum()):
                return False
    return True


def with_digits(x: Any, y: Any) -> Any:
    """Mutual information by its definition, with 50 digits."""
    joint = ContingencyTable.from_codes(x, y)
    n = joint.records
    cells = zip(joint.counts.tolist(), *(i.tolist() for i in joint.codes), strict=True)
    return mpmath.fsum(
        mpmath.mpf(k) / n * mpmath.log(mpmath.mpf(k * n) / int(joint.first[a] * joint.second[b]), 2)
        for k, a, b in cells
    )


@MANY
@given(released())
def test_lemma_1(trio: tuple[Any, Any, Any]) -> None:
    """X' a randomised function of X alone: the loss is not negative, and 0 only if X - X' - Y."""
    x, c, y = trio
    found = information_lost(x, c, y, shuffles=0).value
    assert found >= 0.0
    assert (found == 0.0) == markov(x, c, y)
    with mpmath.workdps(50):
        due = with_digits(x, y) - with_digits(c, y)
        assert abs(found - due) <= 1e-12 * abs(due) + 1e-45


@MANY
@given(columns(), st.data())
def test_a_coarser_column_never_tells_more(pair: tuple[Any, Any], data: Any) -> None:
    x, y = pair
    groups = np.array(data.draw(st.lists(st.integers(0, 3), min_size=9, max_size=9)))
    found = information_lost(x, groups[x], y, shuffles=0)
    assert found.value >= 0.0
    assert found.value <= found.maximum * (1 + 1e-12)
    with mpmath.workdps(50):
        due = with_digits(x, y) - with_digits(groups[x], y)
        assert abs(found.value - due) <= 1e-12 * abs(due) + 1e-45


@MANY
@given(columns(), st.data())
def test_any_release_is_a_difference(pair: tuple[Any, Any], data: Any) -> None:
    """Also where the sample's release knows more than its original."""
    x, y = pair
    c = np.array(data.draw(st.lists(st.integers(0, 4), min_size=len(x), max_size=len(x))))
    found = information_lost(x, c, y, shuffles=0)
    due = (
        ContingencyTable.from_codes(x, y).information
        - ContingencyTable.from_codes(c, y).information
    )
    assert found.value == pytest.approx(due, abs=1e-13)
    assert all(math.isfinite(v) for v in (*found.interval, found.miller_madow, found.chance))


@FEW
@given(columns(most=6))
def test_chance_is_the_mean_over_all_permutations(pair: tuple[Any, Any]) -> None:
    x, y = pair
    every = [
        ContingencyTable.from_codes(x, y[list(order)]).information
        for order in itertools.permutations(range(len(y)))
    ]
    due = math.fsum(every) / len(every)
    assert ContingencyTable.from_codes(x, y).chance == pytest.approx(due, rel=1e-13, abs=1e-300)


@MANY
@given(columns())
def test_pinsker(pair: tuple[Any, Any]) -> None:
    """I = sum p(q)·KL_q >= (2/ln 2)·sum p(q)·t_q^2, t_q half the sum of |p(s|q) - p(s)|."""
    c, y = pair
    n = len(y)
    prior = np.bincount(y) / n
    kl = bound = 0.0
    for q in np.unique(c):
        own = np.bincount(y[c == q], minlength=len(prior)) / (c == q).sum()
        there = own > 0
        share = float((c == q).mean())
        kl += share * float((own[there] * np.log2(own[there] / prior[there])).sum())
        bound += share * (float(np.abs(own - prior).sum()) / 2) ** 2
    found = information(c, y, shuffles=0).value
    assert found == pytest.approx(kl, abs=1e-13)
    assert found >= 2 / math.log(2) * bound - 1e-15


@MANY
@given(st.data())
def test_combinations_are_numbered_in_their_order(data: Any) -> None:
    """As the ranks of the different rows, however large the codes."""
    n = data.draw(st.integers(1, 30))
    tops = data.draw(st.lists(st.sampled_from([1, 3, 300, 10**6, 2**40]), min_size=1, max_size=6))
    codes = [
        np.array(data.draw(st.lists(st.integers(GONE, top), min_size=n, max_size=n)))
        for top in tops
    ]
    due = np.unique(np.stack(codes, axis=1), axis=0, return_inverse=True)[1].ravel()
    assert combination_codes(codes).tolist() == due.tolist()
    here = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    found = combination_codes(codes, here)
    assert (found == GONE).tolist() == (~here).tolist()
    if here.any():
        assert found[here].tolist() == combination_codes([held[here] for held in codes]).tolist()


def numbers(found: InformationEstimate) -> tuple[Any, ...]:
    return (
        found.value, found.chance, found.miller_madow, found.interval, found.standard_error,
        found.p_value, found.cells,
    )  # fmt: skip


@MANY
@given(columns(), st.randoms(use_true_random=False))
def test_names_and_orders_do_not_matter(pair: tuple[Any, Any], random: Any) -> None:
    """To the last bit: other codes, other order of records, columns exchanged."""
    x, y = pair
    due = numbers(information(x, y, shuffles=9))
    order = random.sample(range(len(x)), len(x))
    names = np.array(random.sample(range(30), 9)), np.array(random.sample(range(10**9), 9))
    assert numbers(information(x[order], y[order], shuffles=9)) == due
    assert numbers(information(names[0][x], names[1][y], shuffles=9)) == due
    assert numbers(information(y, x, shuffles=9)) == due


@FEW
@given(columns(), st.data(), st.randoms(use_true_random=False))
def test_names_and_orders_do_not_matter_for_a_loss(
    pair: tuple[Any, Any], data: Any, random: Any
) -> None:
    x, y = pair
    c = np.array(data.draw(st.lists(st.integers(0, 4), min_size=len(x), max_size=len(x))))
    due = information_lost(x, c, y, shuffles=5)
    order = random.sample(range(len(x)), len(x))
    assert information_lost(x[order], c[order], y[order], shuffles=5) == due
    names = np.array(random.sample(range(30), 9))
    found = information_lost(names[x], names[c], names[y], shuffles=0)
    plain = information_lost(x, c, y, shuffles=0)
    assert (found.value, found.chance, found.miller_madow, found.standard_error) == (
        plain.value, plain.chance, plain.miller_madow, plain.standard_error,
    )  # fmt: skip
    assert (plain.value, plain.miller_madow) == (due.value, due.miller_madow)


@MANY
@given(columns())
def test_bounds(pair: tuple[Any, Any]) -> None:
    x, y = pair
    found = information(x, y, shuffles=3)
    slack = 1 + 1e-14
    assert 0 <= found.value <= found.maximum * slack
    assert (
        0 <= found.chance <= min(found.maximum, ContingencyTable.from_codes(y, x).entropy) * slack
    )
    assert found.interval[0] <= found.corrected <= found.interval[1]
    assert found.p_value in (0.25, 0.5, 0.75, 1.0)
    assert (found.chance == 0) == (len(set(x.tolist())) == 1 or len(set(y.tolist())) == 1)


@pytest.mark.parametrize("limit", [0, 10**9])
def test_p_values_are_uniform_without_dependence(limit: int) -> None:
    """1/20, ..., 1 equally often, up to ties; and never below 1/20."""
    random = np.random.default_rng(12)
    found = []
    for seed in range(600):
        x, y = random.integers(0, 7, 150), random.integers(0, 5, 150)
        joint = ContingencyTable.from_codes(x, y)
        plan = independent(joint, per_cell=limit)
        assert isinstance(plan, ShuffleLayout if limit else TableBlocks)
        found.append(shuffle_test(joint.counts, joint.information, plan, 19, seed).p)
    assert min(found) == 0.05
    assert max(found) == 1.0
    counts = np.histogram(found, bins=4, range=(0.025, 1.025))[0]
    assert ((counts - 150) ** 2 / 150).sum() < 16.3  # 99.9 % of chi-square with 3 degrees


def test_p_values_of_a_loss_are_uniform_where_nothing_is_lost() -> None:
    """The secret hangs on the released value alone."""
    random = np.random.default_rng(5)
    for noise in (0.0, 0.3):
        found = []
        for seed in range(300):
            x = random.integers(0, 8, 120)
            c = np.where(random.random(120) < noise, random.integers(0, 4, 120), x // 2)
            y = (random.random(120) < 0.15 + 0.2 * c).astype(int)
            found.append(information_lost(x, c, y, shuffles=19, seed=seed).p_value)
        counts = np.histogram(found, bins=4, range=(0.025, 1.025))[0]
        assert ((counts - 75) ** 2 / 75).sum() < 16.3
