"""Laws of approximate compromise, and every way to part a few values, neighbours or not."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sievert.measures.approximate import windows
from sievert.measures.approximate.compromise import Compromise, approximate_compromise, compromises
from sievert.measures.approximate.curves import Masses, least, window_starts

MANY = settings(max_examples=100, deadline=None, derandomize=True)
CLOSE = 1e-12


@st.composite
def distributions(draw: Any, most: int = 12) -> tuple[list[int], list[int]]:
    """Whole values and whole weights, some of them 0."""
    values = draw(st.lists(st.integers(-40, 40), min_size=1, max_size=most))
    weights = draw(st.lists(st.integers(0, 9), min_size=len(values), max_size=len(values)))
    weights[0] += not any(weights)
    return values, weights


def measured(values: Any, weights: Any) -> Compromise:
    w = np.array(weights, dtype=float)
    return approximate_compromise(values, w / w.sum())


def close(one: Compromise, other: Compromise, factor: float = 1.0) -> None:
    """The same curve, its windows so many times as long."""
    assert len(one.steps) == len(other.steps)
    for (a, h), (b, g) in zip(one.steps, other.steps, strict=True):
        assert b == pytest.approx(a * factor, rel=CLOSE)
        assert g == pytest.approx(h, rel=CLOSE)
    assert other.area == pytest.approx(one.area * factor, rel=CLOSE)
    assert other.width90 == pytest.approx(one.width90 * factor, rel=CLOSE)
    deviation = one.standard_deviation * factor
    assert other.standard_deviation == pytest.approx(deviation, rel=CLOSE)


@MANY
@given(distributions())
def test_shape_of_the_curve(given_: tuple[list[int], list[int]]) -> None:
    values, weights = given_
    found = measured(values, weights)
    held = {v: 0 for v, w in zip(values, weights, strict=True) if w}
    for v, w in zip(values, weights, strict=True):
        if w:
            held[v] += w
    total = sum(held.values())
    shannon = mpmath.fsum(mpmath.mpf(w) / total * mpmath.log(mpmath.mpf(total) / w, 2)
                          for w in held.values())  # fmt: skip
    assert found.initial_entropy == pytest.approx(float(shannon), rel=CLOSE)
    assert found.range == max(held) - min(held)
    assert found.entropy(found.range) == 0.0
    assert found.steps[0] == (0.0, found.initial_entropy)
    for k, (eps, h) in enumerate(found.steps):
        assert found.entropy(eps) == h  # from the right
        if k:
            assert found.entropy(math.nextafter(eps, 0.0)) == found.steps[k - 1][1] > h
        assert (h == 0.0) == (eps >= found.range)
    left = [found.entropy(eps) for eps in range(int(found.range))]
    assert found.area == pytest.approx(math.fsum(left), rel=CLOSE)
    assert left == sorted(left, reverse=True)
    assert found.area <= found.initial_entropy * found.range


@MANY
@given(distributions(), st.integers(-(10**6), 10**6))
def test_translation_and_reflection(given_: tuple[list[int], list[int]], shift: int) -> None:
    values, weights = given_
    found = measured(values, weights)
    close(found, measured([v + shift for v in values], weights))
    close(found, measured([-v for v in values], weights))


@MANY
@given(distributions(), st.sampled_from([0.1, 0.25, 7.0, 1e-9, 1e6, math.pi, 1 / 3]))
def test_scaling(given_: tuple[list[int], list[int]], factor: float) -> None:
    """The area grows as the values. For pi and 1/3 equal differences are no longer equal numbers:
    a step may become several within rounding, but the area does not change."""
    values, weights = given_
    found, other = measured(values, weights), measured([factor * v for v in values], weights)
    if len(found.steps) == len(other.steps):
        close(found, other, factor)
    assert other.area == pytest.approx(found.area * factor, rel=CLOSE)
    for eps in range(int(found.range) + 1):
        near = factor * (eps + 0.5)
        assert other.entropy(near) == pytest.approx(found.entropy(eps), rel=CLOSE)


@MANY
@given(distributions(), st.integers(2, 5))
def test_nearer_values_leave_no_more(given_: tuple[list[int], list[int]], by: int) -> None:
    """Where no two values are farther apart than before, H is not larger for any window."""
    values, weights = given_
    found, nearer = measured(values, weights), measured([v // by for v in values], weights)
    for eps in range(int(found.range) + 1):
        assert nearer.entropy(eps) <= found.entropy(eps) * (1 + CLOSE)
    assert nearer.area <= found.area * (1 + CLOSE)


@MANY
@given(st.integers(2, 30), st.floats(0.1, 1e3))
def test_uniform_on_equal_spaces_in_closed_form(size: int, space: float) -> None:
    found = measured([space * k for k in range(size)], [1] * size)
    assert found.initial_entropy == pytest.approx(math.log2(size), rel=CLOSE)
    assert found.relative_area == pytest.approx(1.0, rel=CLOSE)


def test_uniform_is_not_the_largest() -> None:
    """With less in the middle, taking two of three values for one says less."""
    found = measured([1, 2, 3], [9, 7, 9])
    assert found.relative_area is not None
    assert 1.0 < found.relative_area < 1.02
    assert found.initial_entropy < math.log2(3)


# -- every way to part a few values -------------------------------------------------------------


@cache
def partitions(size: int) -> Any:
    """Every partition of so many things, a row each: its parts as bits, filled up with 0."""

    def grown(parts: list[int], at: int) -> Any:
        if at == size:
            yield parts + [0] * (size - len(parts))
            return
        for k in range(len(parts)):
            yield from grown([*parts[:k], parts[k] | 1 << at, *parts[k + 1 :]], at + 1)
        yield from grown([*parts, 1 << at], at + 1)

    return np.array(list(grown([], 0)))


def by_all_partitions(x: Any, p: Any, epsilons: Any) -> list[float]:
    """H for windows, x of any order: parts need not be neighbours."""
    size = len(x)
    costs, lengths = np.zeros(1 << size), np.zeros(1 << size)
    for part in range(1, 1 << size):
        inside = [k for k in range(size) if part >> k & 1]
        mass = math.fsum(p[k] for k in inside)
        costs[part] = -mass * math.log2(mass) if 0.0 < mass < 1.0 else 0.0
        lengths[part] = max(x[k] for k in inside) - min(x[k] for k in inside)
    every = partitions(size)
    h, longest = costs[every].sum(axis=1), lengths[every].max(axis=1)
    return [float(h[longest <= eps].min()) for eps in epsilons]


@pytest.mark.parametrize("kind", ["whole", "real", "spaced", "decimal"])
def test_all_partitions(kind: str) -> None:
    """300 cases of each kind: ties, impossible values, one to eight values."""
    assert [len(partitions(n)) for n in range(1, 9)] == [1, 2, 5, 15, 52, 203, 877, 4140]
    rng = np.random.default_rng([300, len(kind)])
    for case in range(300):
        size = int(rng.integers(1, 9))
        x = {
            "whole": lambda n: rng.integers(0, 14, n).astype(float),
            "real": lambda n: rng.lognormal(0, 1, n),
            "spaced": lambda n: np.arange(n) * 10.0,
            "decimal": lambda n: rng.integers(0, 30, n).astype(float),
        }[kind](size)
        p = rng.dirichlet(np.full(size, rng.choice([0.2, 1.0, 20.0])))
        if case % 3 == 0:
            p = rng.integers(1, 3, size).astype(float)
        p[rng.random(size) < 0.2] = 0.0
        if not p.any():
            p[0] = 1.0
        p /= math.fsum(p)
        there = x[p > 0]
        epsilons = np.unique(np.abs(np.subtract.outer(there, there)))
        truth = by_all_partitions(x, p, epsilons)
        unit = 0.1 if kind == "decimal" else 1.0
        found = approximate_compromise([round(v * unit, 1) if unit < 1 else v for v in x], p)
        if unit < 1:  # windows as they are written, too
            seen = [found.entropy(round(eps * unit, 1)) for eps in epsilons]
        else:
            seen = [found.entropy(eps) for eps in epsilons]
        assert seen == pytest.approx(truth, rel=CLOSE, abs=1e-15)
        area = math.fsum(h * w for h, w in zip(truth, np.diff(epsilons), strict=False))
        assert found.area == pytest.approx(area * unit, rel=CLOSE, abs=1e-14)
        many = compromises(x, p[None], epsilons=epsilons)
        assert many.entropies[0].tolist() == pytest.approx(truth, rel=CLOSE, abs=1e-15)
        assert many.area[0] == pytest.approx(area, rel=CLOSE, abs=1e-14)


# -- two ways to the same -----------------------------------------------------------------------


def row_by_row(x: Any, p: Any, eps: float) -> float:
    """The recurrence as it stands: every run that fits, its probabilities added one by one."""
    h = [0.0]
    for i in range(len(x)):
        best, mass = math.inf, 0.0
        for j in range(i, -1, -1):
            if x[i] - x[j] > eps:
                break
            mass += p[j]
            best = min(best, h[j] - mass * math.log2(mass))
        h.append(best)
    return h[-1]


def cases(count: int, most: int) -> Any:
    """Values, probabilities and windows of several kinds."""
    rng = np.random.default_rng([count, most])
    for case in range(count):
        size = int(rng.integers(2, most))
        x = [
            np.unique(rng.integers(0, 3 * size, size)).astype(float),
            np.arange(size, dtype=float),
            np.sort(rng.random(size)),
            np.sort(rng.lognormal(0, 2, size)),
        ][case % 4]
        p = rng.dirichlet(np.full(len(x), rng.choice([0.05, 0.3, 1.0, 10.0]))) + 1e-25
        if case % 3 == 0:
            p = np.ones(len(x))
        if case % 7 == 0:
            p = rng.integers(1, 4, len(x)).astype(float)
        p /= math.fsum(p)
        differences = np.unique(np.subtract.outer(x, x))
        differences = differences[differences >= 0]
        yield x, p, np.append(rng.choice(differences, 6), [0.0, differences[-1]])


def test_search_is_row_by_row() -> None:
    for x, p, epsilons in cases(32, 300):
        masses = Masses(p[None])
        parts = (masses.high[0], masses.low[0], masses.rest[0])
        found = np.empty(len(epsilons))
        windows.least_entropy_by_search(x, *parts, epsilons, found)
        truth = [row_by_row(x, p, eps) for eps in epsilons]
        assert found.tolist() == pytest.approx(truth, rel=CLOSE, abs=1e-14)


def test_every_way_is_the_same() -> None:
    for x, p, epsilons in cases(240, 300):
        first, masses = np.zeros(len(epsilons), dtype=np.int64), Masses(p[None])
        table = masses.table()
        one, other = np.empty(len(epsilons)), np.empty(len(epsilons))
        windows.least_entropy_from_table(table, x, first, epsilons, one)
        windows.least_entropy_by_search(
            x, masses.high[0], masses.low[0], masses.rest[0], epsilons, other
        )
        assert other.tolist() == pytest.approx(one.tolist(), rel=1e-13)
        some = np.s_[:3]
        plain = least(x, p[None], compiled=False)(first[some], epsilons[some])
        assert np.array_equal(plain, one[some])


def test_windows_reach_as_far_as_differences_say() -> None:
    for x, _, epsilons in cases(60, 60):
        for eps in epsilons:
            first = np.zeros(len(x) + 1, dtype=np.int64)
            windows.reach(x, eps, first)
            assert window_starts(x, float(eps)) == first.tolist()
            naive = [min(j for j in range(i + 1) if x[i] - x[j] <= eps) for i in range(len(x))]
            assert first[1:].tolist() == naive


def test_masses_against_fifty_digits() -> None:
    rng = np.random.default_rng(2)
    with mpmath.workdps(50):
        for _ in range(30):
            p = rng.dirichlet(np.full(40, 0.1)) + 1e-18
            p /= math.fsum(p)
            masses = Masses(p[None])
            for i in (1, 7, 25, 40):
                for j, found in enumerate(masses.costs(i, slice(0, i))[0].tolist()):
                    q = mpmath.fsum(p[j:i].tolist()) / mpmath.fsum(p.tolist())
                    truth = float(-q * mpmath.log(q, 2))
                    assert found == pytest.approx(truth, rel=CLOSE, abs=1e-25)
