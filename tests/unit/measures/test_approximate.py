"""Approximate compromise: printed and exact reference numbers, what is given, what is said."""

from __future__ import annotations

import doctest
import json
import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest

from sievert.errors import UsageError
from sievert.measures.approximate.compromise import (
    approximate_compromise,
    class_compromises,
    compromises,
)
from sievert.measures.approximate.curves import Axis

APPENDIX = ([1, 3, 8, 9], [0.15, 0.1, 0.7, 0.05])
STEPS = ((0, 1.319035), (1, 1.054016), (2, 0.811278), (6, 0.609840), (7, 0.286397), (8, 0.0))
DIGITS = 5e-10  # reference numbers are printed with nine decimals


def bell(chances: int, values: range) -> list[float]:
    """Binomial weights, the first value having those of one success."""
    weights = [math.comb(chances, chances - value) for value in values]
    return [w / sum(weights) for w in weights]


def test_appendix_of_the_paper() -> None:
    found = approximate_compromise(*APPENDIX)
    assert [eps for eps, _ in found.steps] == [eps for eps, _ in STEPS]
    assert [round(h, 6) for _, h in found.steps] == [h for _, h in STEPS]
    printed = [1.319, 1.054, 0.811, 0.811, 0.811, 0.811, 0.610, 0.286, 0.0]
    assert [round(found.entropy(eps), 3) for eps in range(9)] == printed
    assert abs(found.area - 6.514400807) <= DIGITS
    assert found.bounds == (found.area, found.area)
    assert found.exact
    assert found.range == 8.0


def test_the_area_is_the_integral_not_another_sum() -> None:
    found = approximate_compromise(*APPENDIX)
    right = math.fsum(found.entropy(eps) for eps in range(1, 9))
    left = math.fsum(found.entropy(eps) for eps in range(8))
    assert abs(right - 5.195365533) <= DIGITS
    assert abs((left + right) / 2 - 5.854883170) <= DIGITS
    assert found.area == pytest.approx(left, rel=1e-15)


def test_the_least_entropy_is_taken_not_the_largest() -> None:
    """For a window of 5 the cover {1}, {3, 8}, {9} would leave 0.884 bits."""
    other = -sum(p * math.log2(p) for p in (0.15, 0.8, 0.05))
    assert round(other, 3) == 0.884
    assert approximate_compromise(*APPENDIX).entropy(5) < other


@pytest.mark.parametrize(
    ("values", "probabilities", "entropy", "area"),
    [
        ([50, 107], [0.5, 0.5], 1.0, 57.0),
        ([77, 80], [0.5, 0.5], 1.0, 3.0),
        ([10, 20, 30, 40], [0.5, 0.1, 0.3, 0.1], 1.685475297, 31.254214853),
        ([10, 20, 30, 40], [0.25] * 4, 2.0, 38.112781245),
        (range(10, 251, 10), [1 / 25] * 25, 4.643856190, 370.836565299),
        (range(1, 6), [0.2] * 5, 2.321928095, 5.536734879),
        (range(10, 15), [0.2] * 5, 2.321928095, 5.536734879),
        (range(10, 15), [w / 16 for w in (1, 4, 6, 4, 1)], 2.030639062, 4.234685983),
        (range(1, 5), [0.25] * 4, 2.0, 3.811278124),
        (range(1, 5), bell(4, range(1, 5)), 1.806238929, 3.077894098),
        (range(1, 25), [1 / 24] * 24, 4.584962501, 35.087360009),
        (range(1, 25), bell(24, range(1, 25)), 3.339346531, 13.709253037),
        (range(1, 6), [0.25, 0.25, 0, 0.25, 0.25], 2.0, 4.811278124),
    ],
)  # fmt: skip
def test_reference_numbers(
    values: Any, probabilities: list[float], entropy: float, area: float
) -> None:
    found = approximate_compromise(list(values), probabilities)
    assert abs(found.initial_entropy - entropy) <= DIGITS
    assert abs(found.area - area) <= DIGITS
    many = compromises(list(values), [probabilities])
    assert many.area[0] == pytest.approx(found.area, rel=1e-14)
    assert many.initial_entropy[0] == found.initial_entropy


def test_steps_of_the_sampling_example() -> None:
    found = approximate_compromise([10, 20, 30, 40], [0.5, 0.1, 0.3, 0.1])
    assert [(e, round(h, 6)) for e, h in found.steps] == [
        (0, 1.685475), (10, 0.970951), (20, 0.468996), (30, 0),
    ]  # fmt: skip


# -- what is given ------------------------------------------------------------------------------


def test_order_ties_and_zeros_do_not_matter() -> None:
    plain = approximate_compromise(*APPENDIX)
    other = approximate_compromise([9, 3, 8, 1, 8, 40], [0.05, 0.1, 0.5, 0.15, 0.2, 0.0])
    assert np.array(other.steps) == pytest.approx(np.array(plain.steps), rel=1e-14)
    assert other.range == 8
    assert other.area == pytest.approx(plain.area, rel=1e-14)


def test_sums_that_nearly_are_one() -> None:
    p = np.array(APPENDIX[1])
    found = approximate_compromise(APPENDIX[0], p * (1 + 9e-10))
    assert found.area == pytest.approx(approximate_compromise(*APPENDIX).area, rel=1e-13)
    with pytest.raises(UsageError, match="do not add up to 1"):
        approximate_compromise(APPENDIX[0], p * (1 + 2e-9))
    with pytest.raises(UsageError, match="distribution 2 do not"):
        compromises(APPENDIX[0], [p, p * 1.1])


@pytest.mark.parametrize(
    ("values", "probabilities", "says"),
    [
        ([], [], "there are none"),
        ([1, 2], [1.0], "2 values and 1 probabilities"),
        ([1, 2], [1.5, -0.5], "negative"),
        ([1, 2], [0.0, 0.0], "do not add up"),
        ([1, 2], [math.nan, 1.0], "missing or not finite"),
        ([1, 2], [math.inf, 0.0], "missing or not finite"),
        ([1, 2], [1e308, 1e308], "do not add up"),
        ([1, math.nan], [0.5, 0.5], "missing or not finite"),
        ([1, math.inf], [0.5, 0.5], "missing or not finite"),
        (["secret", "x"], [0.5, 0.5], "not an array of numbers"),
        ([[1, 2]], [0.5, 0.5], "2 dimensions"),
        ([-1e308, 1e308], [0.5, 0.5], "too far apart"),
        (5, 1, "0 dimensions"),
    ],
)
def test_what_makes_no_sense(values: Any, probabilities: Any, says: str) -> None:
    with pytest.raises(UsageError, match=says) as error:
        approximate_compromise(values, probabilities)
    assert "secret" not in str(error.value)


def test_options_that_make_no_sense() -> None:
    with pytest.raises(UsageError, match="not in the domain"):
        approximate_compromise([1, 2], [0.5, 0.5], domain=[1, 3])
    for tolerance in (0.0, -1.0, math.nan):
        with pytest.raises(UsageError, match="tolerance"):
            approximate_compromise([1, 2], [0.5, 0.5], tolerance=tolerance)
    for eps in (-1.0, math.nan):
        with pytest.raises(UsageError, match="a window"):
            approximate_compromise([1, 2], [0.5, 0.5]).entropy(eps)
    rng = np.random.default_rng(7)
    with pytest.raises(UsageError, match="too many differences"):
        approximate_compromise(rng.random(7_000), np.full(7_000, 1 / 7_000), exact=True)
    with pytest.raises(UsageError, match="one place for each"):
        compromises([1, 2, 3], [[0.5, 0.5]])
    with pytest.raises(UsageError, match="1 dimension instead of 2"):
        compromises([1, 2], [0.5, 0.5])
    with pytest.raises(UsageError, match="a window"):
        compromises([1, 2], [[0.5, 0.5]], epsilons=[-1])
    with pytest.raises(UsageError, match="too many for many"):
        compromises(range(1_001), np.full((1, 1_001), 1 / 1_001))


# -- what is said -------------------------------------------------------------------------------


def test_one_value_leaves_nothing() -> None:
    found = approximate_compromise([5, 6], [1.0, 0.0])
    assert (found.initial_entropy, found.area, found.range) == (0.0, 0.0, 0.0)
    assert found.average_entropy is None
    assert found.relative_area == 0.0
    assert approximate_compromise([5], [1.0]).relative_area is None
    assert found.entropy(0) == found.entropy(math.inf) == 0.0
    assert (found.standard_deviation, found.width90) == (0.0, 0.0)
    many = compromises([5, 6], [[1.0, 0.0]], epsilons=[0, 3])
    assert (many.area[0], many.range[0]) == (0.0, 0.0)
    assert many.entropies.tolist() == [[0.0, 0.0]]


def test_beside_the_area() -> None:
    found = approximate_compromise(*APPENDIX)
    mean = sum(x * p for x, p in zip(*APPENDIX, strict=True))
    variance = sum(p * (x - mean) ** 2 for x, p in zip(*APPENDIX, strict=True))
    assert found.standard_deviation == pytest.approx(math.sqrt(variance), rel=1e-13)
    assert found.width90 == 7.0  # 1 to 8 holds 95 %; 3 to 9 only 85 %
    assert found.average_entropy == pytest.approx(6.514400807 / 8, abs=1e-9)
    uniform = approximate_compromise([1, 3, 8, 9], [0.25] * 4)
    assert found.relative_area == pytest.approx(found.area / uniform.area, rel=1e-14)
    wider = approximate_compromise(*APPENDIX, domain=range(1, 11))
    whole = approximate_compromise(range(1, 11), [0.1] * 10)
    assert wider.relative_area == pytest.approx(found.area / whole.area, rel=1e-13)
    assert whole.relative_area == pytest.approx(1.0, rel=1e-13)


def test_the_shortest_interval_counts_nine_tenths_as_enough() -> None:
    tenths = approximate_compromise(range(10), [0.1] * 10)
    assert tenths.width90 == 8.0


def test_json_and_words() -> None:
    found = approximate_compromise(*APPENDIX)
    held = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert held["steps"][1] == [1.0, found.entropy(1)]
    assert held["exact"] is True
    assert "area 6.5144," in repr(found)
    x = np.arange(100) ** 2
    rough = approximate_compromise(x, np.full(100, 0.01), exact=False, tolerance=0.2)
    assert not rough.exact
    assert " to " in repr(rough)
    assert json.dumps(rough.to_dict(), allow_nan=False)


# -- numbers on paper and in a computer ---------------------------------------------------------


def test_decimals_are_taken_as_they_are_written() -> None:
    """0.3 - 0.2, 0.2 - 0.1 and 0.1 are one window."""
    tenths = [0.1 * k for k in range(1, 26)]
    tenths = [round(x, 1) for x in tenths]
    found = approximate_compromise(tenths, [1 / 25] * 25)
    assert found.area == pytest.approx(3.70836565299, abs=1e-11)
    assert all(eps == round(eps, 1) for eps, _ in found.steps)
    assert found.entropy(0.3) == pytest.approx(approximate_compromise(
        range(1, 26), [1 / 25] * 25).entropy(3), rel=1e-14)  # fmt: skip


def test_equal_spaces_are_seen() -> None:
    thirds = np.linspace(0, 8, 25)
    axis = Axis.from_values(thirds)
    assert axis.whole
    assert axis.places.tolist() == list(range(25))
    found = approximate_compromise(thirds, np.full(25, 1 / 25))
    assert found.area == pytest.approx(370.836565299 / 30, abs=1e-9)
    assert found.range == 8.0
    assert not Axis.from_values(np.sort(np.random.default_rng(1).random(25))).whole


def test_large_whole_numbers_keep_their_differences() -> None:
    base = 2**52
    found = approximate_compromise([base, base + 1, base + 3], [0.2, 0.3, 0.5])
    assert [eps for eps, _ in found.steps] == [0, 1, 2, 3]


def test_small_probabilities_keep_their_digits() -> None:
    with mpmath.workdps(60):
        for p in ([1e-12, 1 - 3e-12, 2e-12], [1 - 1e-9, 1e-9 / 3, 2e-9 / 3], [1.0, 1e-17, 1e-18]):
            found = approximate_compromise([0, 1, 3], p)
            total = mpmath.fsum(p)

            def h(*masses: Any, total: Any = total) -> Any:
                return -mpmath.fsum(m / total * mpmath.log(m / total, 2) for m in masses)

            a, b, c = (mpmath.mpf(x) for x in p)
            truth = {0: h(a, b, c), 1: h(a + b, c), 2: min(h(a + b, c), h(a, b + c)), 3: 0}
            for eps, value in truth.items():
                assert found.entropy(eps) == pytest.approx(float(value), rel=1e-12, abs=0), eps


def test_what_is_nearly_impossible_is_left_out() -> None:
    found = approximate_compromise([0, 1, 9], [0.5, 0.5, 1e-31])
    assert found.steps == ((0.0, 1.0), (1.0, 0.0))
    assert compromises([0, 1, 9], [[0.5, 0.5, 1e-31]]).range[0] == 1.0
    least = approximate_compromise([0, 1, 9], [0.5, 0.5, 1e-29])
    assert least.entropy(8.5) > 0.0
    assert least.range == 9.0


# -- large ones ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def large() -> tuple[Any, Any]:
    rng = np.random.default_rng(11)
    return rng.lognormal(3, 1, 400), rng.dirichlet(np.full(400, 0.5))


@pytest.mark.slow
def test_bounds_hold_the_exact_area(large: tuple[Any, Any]) -> None:
    exact = approximate_compromise(*large)
    assert exact.exact
    for tolerance in (0.1, 1e-2, 1e-3):
        rough = approximate_compromise(*large, exact=False, tolerance=tolerance)
        low, high = rough.bounds
        assert low <= exact.area <= high
        assert low < high
        assert high - low <= tolerance * (high + low)
        assert not rough.exact
        assert rough.range == exact.range
        assert rough.initial_entropy == exact.initial_entropy
        for eps in (0.0, 1.0, 17.3, exact.steps[9][0], exact.range / 2, exact.range):
            assert rough.entropy(eps) == pytest.approx(exact.entropy(eps), rel=1e-13)
        for eps, h in rough.steps:
            assert h == pytest.approx(exact.entropy(eps), rel=1e-12)


def test_bounds_end_in_the_exact_area() -> None:
    for values in ([1, 3, 8, 9], [0.1, 0.3, 0.8, 0.9], [1, 2], np.sqrt([1, 2, 5, 11])):
        p = [0.15, 0.1, 0.7, 0.05][: len(values)]
        p = np.array(p) / sum(p)
        found = approximate_compromise(values, p, exact=False, tolerance=1e-15)
        exact = approximate_compromise(values, p)
        assert found.area == pytest.approx(exact.area, rel=1e-14)
        if exact.steps[1][0] in (1.0, 0.1):  # whole steps, all of them found
            assert found.exact
            assert found.steps == exact.steps
        assert found.bounds[1] - found.bounds[0] <= 1e-14 * exact.area


def test_the_same_without_compiled_loops(large: tuple[Any, Any]) -> None:
    values, p = large[0][:120], large[1][:120] / large[1][:120].sum()
    one, other = (approximate_compromise(values, p, compiled=c) for c in (True, False))
    assert one.steps == other.steps  # to the last bit: both add the same costs
    assert one.area == other.area
    wide = [
        approximate_compromise(*large, exact=False, tolerance=0.05, compiled=c, threads=t)
        for c, t in ((True, 1), (True, 2), (False, 1))
    ]
    assert wide[0].steps == wide[1].steps
    assert [h for _, h in wide[0].steps] == pytest.approx([h for _, h in wide[2].steps], rel=1e-13)


@pytest.mark.parametrize("kind", ["equally likely", "few records", "next to impossible"])
def test_steps_let_in_one_by_one_are_those_found_by_halving(kind: str) -> None:
    """Where sums of other runs are as large but for rounding, and where steps are next to flat."""
    rng = np.random.default_rng(6)
    for size in (2, 3, 17, 50):
        records = {
            "equally likely": np.ones(size),
            "few records": rng.integers(1, 4, size),
            "next to impossible": 10.0 ** rng.uniform(-17, 0, size),
        }[kind]
        values = rng.lognormal(0, 1, size)
        one, other = (
            approximate_compromise(values, records / records.sum(), compiled=c)
            for c in (True, False)
        )
        assert one.steps == other.steps
        assert one.area == other.area


def test_equally_spaced_values_are_many_and_exact() -> None:
    size = 1_500
    found = approximate_compromise(range(size), np.full(size, 1 / size))
    assert found.exact
    assert found.relative_area == pytest.approx(1.0, rel=1e-12)


# -- many distributions -------------------------------------------------------------------------


def test_many_are_as_each_alone() -> None:
    rng = np.random.default_rng(3)
    for domain in (np.arange(10, 130, 10), rng.random(12), [1, 5, 5, 2, 9, 1, 7.5, 3, 3, 3, 0, -2]):
        matrix = rng.dirichlet(np.full(12, 0.4), 60)
        matrix[rng.random(matrix.shape) < 0.4] = 0.0
        matrix[:, 3] += matrix.sum(axis=1) == 0.0
        matrix /= matrix.sum(axis=1, keepdims=True)
        matrix = np.concatenate((matrix, matrix[:20]))
        epsilons = [0.0, 0.3, 1.5, 7.5, 40.0, 1e9]
        found = [compromises(domain, matrix, epsilons=epsilons, compiled=c, threads=t)
                 for c, t in ((True, 1), (True, 2), (False, 1))]  # fmt: skip
        for other in found[1:]:
            assert np.array_equal(other.area, found[0].area)
            assert np.array_equal(other.entropies, found[0].entropies)
        assert found[0].distinct == 60
        assert found[0].epsilons == tuple(epsilons)
        for k, row in enumerate(matrix):
            alone = approximate_compromise(domain, row)
            assert found[0].area[k] == pytest.approx(alone.area, rel=1e-13)
            assert found[0].initial_entropy[k] == pytest.approx(alone.initial_entropy, rel=1e-13)
            assert found[0].range[k] == pytest.approx(alone.range, rel=1e-15)
            each = [alone.entropy(eps) for eps in epsilons]
            assert found[0].entropies[k].tolist() == pytest.approx(each, rel=1e-13)


def test_a_large_domain_where_little_is_possible() -> None:
    rng = np.random.default_rng(4)
    domain = np.sort(rng.random(800))
    matrix = rng.dirichlet(np.ones(800), 3)
    matrix[rng.random(matrix.shape) < 0.93] = 0.0
    matrix /= matrix.sum(axis=1, keepdims=True)
    for some in (matrix, matrix[:1]):
        found = compromises(domain, some, epsilons=[0.01, 0.4], compiled=True)
        for k, row in enumerate(some):
            alone = approximate_compromise(domain, row)
            assert found.area[k] == pytest.approx(alone.area, rel=1e-13)
            assert found.entropies[k, 1] == pytest.approx(alone.entropy(0.4), rel=1e-13)


def test_steps_fall() -> None:
    rng = np.random.default_rng(5)
    found = approximate_compromise(rng.random(60), rng.dirichlet(np.ones(60)))
    for (a, high), (b, low) in pairwise(found.steps):
        assert a < b
        assert high > low
    assert found.steps[-1] == (found.range, 0.0)


def test_the_page() -> None:
    page = Path(__file__).parents[3] / "docs" / "approximate.md"
    failed, run = doctest.testfile(
        str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert failed == 0
    assert run > 10


# -- classes of a table -------------------------------------------------------------------------


def classes_of(values: Any, classes: int, each: float, seed: int) -> tuple[Any, ...]:
    """Random cells in the order of classes and values: their values, records, and bounds."""
    rng, size = np.random.default_rng(seed), len(values)
    owner = np.repeat(np.arange(classes), 1 + rng.poisson(each, classes))
    code = np.minimum(rng.integers(0, size, len(owner)), rng.integers(0, size + 3, len(owner)))
    keys, counts = np.unique(owner * size + code, return_counts=True)
    return keys % size, counts, np.searchsorted(keys // size, np.arange(classes + 1))


@pytest.mark.parametrize(
    ("values", "classes", "each"),
    [
        (np.arange(20), 800, 4.5),
        (np.arange(60), 60, 90),
        (np.arange(150), 20, 600),  # sums of more than 128 numbers
        (np.arange(12) * 1.37 + 0.25, 300, 6),
        (np.sort(np.random.default_rng(1).random(40)), 200, 12),
        (np.array([0, 1, 2, 50, 51, 4000]), 200, 4),
        (np.arange(0, 300, 7) ** 2, 100, 20),
        (np.array([-1.0, 1000.0]), 300, 1),
        (np.cumsum(np.random.default_rng(2).integers(1, 5000, 70)), 15, 120),
    ],
)
@pytest.mark.parametrize("times", [1, 1 << 21])  # records of a cell: enough to hide a move in
def test_classes_have_the_bits_of_distributions(
    values: Any, classes: int, each: float, times: int
) -> None:
    values = np.asarray(values, dtype=np.float64)
    codes, counts, bounds = classes_of(values, classes, each, 7)
    counts *= times
    plain, quick = (
        class_compromises(values, codes, counts, bounds, compiled=c) for c in (False, True)
    )
    assert len(plain.classes) == quick.times.sum() == classes
    assert len(quick.classes) == len(quick.times) <= classes
    for name in ("initial_entropy", "area"):
        one, other = getattr(plain, name), getattr(quick, name)
        assert np.array_equal(one[quick.classes], other)
        assert math.fsum(one) == math.fsum(np.repeat(other, quick.times))


def test_equal_classes_are_solved_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """So many classes are solved as differ, each in one share of the work."""
    from sievert.measures.approximate import class_curves

    solved: list[int] = []
    trace = class_curves.trace_curves

    def count(costs: Any, codes: Any, bounds: Any, classes: Any, *others: Any) -> Any:
        solved.extend(classes.tolist())
        return trace(costs, codes, bounds, classes, *others)

    monkeypatch.setattr(class_curves, "trace_curves", count)
    codes, counts, bounds = classes_of(np.arange(4), 5000, 1.0, 3)
    pairs = [(*codes[a:b].tolist(), *counts[a:b].tolist()) for a, b in pairwise(bounds.tolist())]
    found = class_compromises(np.arange(4.0), codes, counts, bounds, compiled=True)
    assert sorted(solved) == sorted(found.classes.tolist())
    assert len(solved) == len(set(pairs)) < 500
