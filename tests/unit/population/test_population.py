"""From the sample to the population: edges, errors and forms."""

from __future__ import annotations

import doctest
import json
import subprocess
import sys
import time
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sievert.counts.answers import Sizes
from sievert.errors import InputError, UsageError
from sievert.population import (
    Estimate,
    Known,
    Weighted,
    dankar,
    dominance,
    expected_reidentifications,
    global_risk,
    household_risk,
    household_risks,
    individual_risk,
    journalist,
    known_unique_match,
    marketer,
    p_percent,
    pitman,
    population_size,
    prosecutor,
    shlosser,
    snb,
    truta_maximal,
    truta_minimal,
    truta_weighted,
    unique_match,
    zayatz,
)
from sievert.population import uniques as inside

PAGE = Path(__file__).parents[3] / "docs" / "population.md"
ESTIMATES = (zayatz, pitman, snb, dankar)
SOME = Sizes.from_arrays([1, 2, 3, 4, 7, 12], [40, 15, 6, 3, 2, 1])
Estimator = Callable[[Sizes, int], Estimate]


def of(**counts: int) -> Sizes:
    """`of(c1=3, c2=1)`: three classes of one, one of two."""
    return Sizes.from_arrays([int(name[1:]) for name in counts], list(counts.values()))


# The size of the population.


def test_population_size() -> None:
    assert population_size(100, size=100) == 100
    assert population_size(30_162, fraction=0.1) == 301_620
    assert population_size(30_162, fraction="0.2") == 150_810
    assert population_size(7, fraction=Decimal("0.3")) == 23
    assert population_size(10, fraction=1) == 10
    assert population_size(10**9, fraction=0.07) == 14_285_714_286


@pytest.mark.parametrize("fraction", [0, -0.1, 1.01, float("nan"), float("inf"), "much", "1/0"])
def test_a_fraction_is_a_fraction(fraction: Any) -> None:
    with pytest.raises(UsageError, match="greater than 0 and at most 1"):
        population_size(10, fraction=fraction)


def test_one_of_size_and_fraction() -> None:
    with pytest.raises(UsageError, match="either"):
        population_size(10)
    with pytest.raises(UsageError, match="either"):
        population_size(10, size=100, fraction=0.1)


@pytest.mark.parametrize("estimate", [*ESTIMATES, unique_match, shlosser])
def test_fewer_people_than_records(estimate: Estimator) -> None:
    with pytest.raises(UsageError, match="125 cannot have a sample of 126 records") as error:
        estimate(SOME, 125)
    assert error.value.exit_code == 2


@pytest.mark.parametrize("estimate", [*ESTIMATES, unique_match, shlosser])
def test_no_records(estimate: Estimator) -> None:
    with pytest.raises(UsageError, match="without records"):
        estimate(Sizes.from_arrays([], []), 10)


# The rules all estimates share.


@pytest.mark.parametrize("estimate", ESTIMATES)
def test_the_whole_population_is_counted(estimate: Estimator) -> None:
    found = estimate(SOME, 126)
    assert found == Estimate(40 / 126, "counted", details={"sample_uniques": 40})
    assert estimate(of(c1=5), 5).value == 1.0
    assert estimate(of(c2=5), 10).value == 0.0


@pytest.mark.parametrize("estimate", ESTIMATES)
def test_nobody_is_unique(estimate: Estimator) -> None:
    found = estimate(of(c2=5, c3=1), 1000)
    assert found.value == 0.0
    assert found.method == estimate.__name__
    assert found.reason is None


def test_everybody_is_unique() -> None:
    sizes = of(c1=50)
    assert pitman(sizes, 1000) == Estimate(
        value=None, method="pitman", reason=inside.ALL_UNIQUE, details={"sample_uniques": 50}
    )
    assert snb(sizes, 1000).reason == inside.NO_PAIRS
    assert zayatz(sizes, 1000).value == 1.0
    rule = dankar(sizes, 1000)
    assert (rule.value, rule.details["taken"]) == (1.0, "zayatz")
    assert rule.details["instead_of"] == f"pitman: {inside.ALL_UNIQUE}"
    assert unique_match(sizes, 1000).value == 1.0
    assert unique_match(sizes, 1000).details["standard_error"] == 0.0


def test_one_record() -> None:
    for population in (1, 2, 10**10):
        assert zayatz(of(c1=1), population).value == 1.0
        assert dankar(of(c1=1), population).value == 1.0
    assert pitman(of(c1=1), 2).value is None


def test_results_are_plain() -> None:
    """JSON holds them, without NaN; they are frozen."""
    for estimate in (*ESTIMATES, unique_match):
        for sizes, population in ((SOME, 1280), (of(c1=50), 1000), (SOME, 126), (of(c2=3), 9)):
            found = estimate(sizes, population)
            assert set(found.to_dict()) == {"value", "method", "reason", "details"}
            json.dumps(found.to_dict(), allow_nan=False)
            assert (found.value is None) == (found.reason is not None)
            with pytest.raises(AttributeError):
                found.value = 0.5  # type: ignore[misc]


# Each estimate.


def test_zayatz_where_a_class_cannot_be_seen_once() -> None:
    """Two people are outside the sample: of four in a class, one alone cannot have been drawn."""
    found = zayatz(of(c1=4, c2=1, c4=3), 20)
    pairs = 2 * 2 / 19
    assert found.details["theta"] == pytest.approx(4 / (4 + pairs), rel=1e-15)


def test_pitman_on_the_edges() -> None:
    ewens = pitman(of(c1=60, c2=20, c3=10, c5=4, c9=1), 720)
    assert (ewens.details["alpha"], ewens.details["edge"]) == (0.0, "alpha = 0")
    heavy = pitman(of(c1=300, c2=50, c3=20, c1000=9), 10**5)
    assert (heavy.details["theta"], heavy.details["edge"]) == (0.0, "theta = 0")
    assert heavy.value == pytest.approx(heavy.details["exact"], rel=1e-4)
    inner = pitman(SOME, 1280)
    assert inner.details["edge"] is None


def test_pitman_never_exceeds_one() -> None:
    """theta is larger than N: the form for a large N would give more people than there are."""
    found = pitman(of(c1=998, c2=1), 1280)
    assert found.details["theta"] > 1280
    assert found.details["form"] == "exact"
    assert found.value == found.details["exact"] < 1


def test_pitman_says_where_it_cannot_be_right() -> None:
    """Few huge classes beside single people: a unique person of the sample is rarer than that."""
    sizes = of(c1=300, c2=50, c3=20, c1000=9)
    found = pitman(sizes, 10**5)
    assert found.value is not None and found.value > 300 / sizes.records
    assert found.details["doubt"] == inside.MISFIT
    assert dankar(sizes, 10**5).details["doubt"] == inside.MISFIT
    assert pitman(SOME, 1280).details["doubt"] is None


def test_snb_without_a_solution() -> None:
    assert snb(of(c1=1, c2=2), 16).reason == inside.NO_SOLUTION
    assert snb(of(c1=1, c3=2), 100).reason == inside.NO_PAIRS
    assert snb(of(c1=1, c2=2), 16).details["classes"] > 3


def test_snb_with_a_tiny_beta() -> None:
    """Many single people and hardly a pair: the solution is far out, but there is one."""
    found = snb(of(c1=91_624, c2=16, c8=3, c1279=1), 30_400_000)
    assert found.details["log_beta"] < -1000
    assert found.details["beta"] == 0.0
    assert found.details["residual"] < 1e-9
    assert found.value is not None and 0 < found.value < 91_624 / 92_959


def test_dankar_takes_the_smaller_above_a_tenth() -> None:
    """f = 0.1 exactly is still Pitman's; one person less is not."""
    sizes = of(c1=40, c2=15, c3=10)
    assert sizes.records == 100
    assert dankar(sizes, 1000).details["taken"] == "pitman"
    above = dankar(sizes, 999)
    assert set(above.details["considered"]) == {"snb", "zayatz"}
    assert above.value == min(above.details["considered"].values())
    none = dankar(of(c1=5, c3=2), 20)
    assert none.details["taken"] == "zayatz"
    assert none.details["instead_of"] == f"snb: {inside.NO_PAIRS}"


def test_unique_match_by_hand() -> None:
    """f = 1/2, c_1 = 4, c_2 = 1, c_3 = 1: 2/(2 + 1), sqrt(1.5 + 1.5)·(4/9)/2."""
    found = unique_match(of(c1=4, c2=1, c3=1), 18)
    assert found.value == pytest.approx(2 / 3, rel=1e-15)
    assert found.details["standard_error"] == pytest.approx(3**0.5 * 4 / 9 / 2, rel=1e-15)
    assert unique_match(of(c2=1), 18) == Estimate(None, "skinner-elliot", inside.NO_UNIQUES)
    whole = unique_match(of(c1=4, c2=1), 6)
    assert (whole.value, whole.details["standard_error"]) == (1.0, 0.0)


def test_shlosser_counts_what_is_there() -> None:
    assert shlosser(SOME, 126) == 67
    assert shlosser(of(c2=9), 1000) == 9
    assert shlosser(SOME, 1280) > 67


def test_a_billion_records_take_a_moment() -> None:
    """44,720 different sizes, 10^9 records, 10^10 people: far less than these seconds."""
    sizes = Sizes.from_arrays(np.arange(1, 44_721), np.ones(44_720, dtype=int))
    start = time.process_time()
    for estimate in (*ESTIMATES, unique_match):
        assert estimate(sizes, 10**10).value is not None
    assert time.process_time() - start < 10


# The known population.

KNOWN = Known.of([1, 1, 2, 5, 0], [1, 2, 4, 5, 6], [1, 1, 1, 1, 1])


def test_attackers_by_hand() -> None:
    """9 records in 4 classes, 12 people in them; f/F adds up to 1 + 1/2 + 1/2 + 1."""
    assert (KNOWN.records, KNOWN.classes) == (9, 4)
    assert (KNOWN.people(sampled=True), KNOWN.people(sampled=False)) == (12, 18)
    assert marketer(KNOWN).value == 3 / 9
    assert journalist(KNOWN).value == 4 / 12
    assert journalist(KNOWN).details["highest"] == 1.0
    assert journalist(KNOWN, [0.2, 0.24, 0.5]).details["at_risk"] == {
        "0.2": 4 / 9,
        "0.24": 4 / 9,
        "0.5": 1 / 9,
    }
    found = prosecutor(KNOWN.sizes)
    assert found.value == 4 / 9
    assert found.details["at_risk"] == {"0.05": 1.0, "0.1": 1.0, "0.2": 4 / 9}
    assert known_unique_match(KNOWN).value == 2 / 3


def test_journalist_takes_the_larger_average() -> None:
    """(1/n)·sum f/F = 1.1/2 against u/sum F = 2/11; then 1.5/101 against 2/102."""
    assert journalist(Known.of([1, 1], [1, 10], [1, 1])).value == pytest.approx(0.55, rel=1e-15)
    other = Known.of([1, 100], [2, 100], [1, 1])
    assert journalist(other).value == pytest.approx(2 / 102, rel=1e-15)
    assert marketer(other).value == pytest.approx(1.5 / 101, rel=1e-15)


def test_the_sample_as_its_own_population() -> None:
    alone = Known.alone(SOME)
    assert prosecutor(SOME).value == journalist(alone).value == marketer(alone).value == 67 / 126
    assert known_unique_match(alone).value == 1.0
    assert known_unique_match(Known.of([2], [5], [1])).reason == inside.NO_UNIQUES


def test_a_population_that_lacks_the_sample() -> None:
    """So many records, not which."""
    with pytest.raises(InputError, match="7 records of the sample in classes") as error:
        Known.of([1, 3, 1], [4, 0, 0], [1, 2, 1])
    assert error.value.exit_code == 3
    with pytest.raises(InputError, match="6 records in classes with fewer people"):
        Known.of([1, 3], [4, 2], [1, 2])
    with pytest.raises(UsageError, match="without records"):
        Known.of([0], [4], [1])
    with pytest.raises(UsageError, match="without records"):
        Known.of([], [], [])
    with pytest.raises(UsageError, match="more people"):
        Known.of([1], [2**62], [1])


def test_rows_in_any_order_are_the_same() -> None:
    other = Known.of([0, 5, 1, 2, 1], [6, 5, 2, 4, 1], [1, 1, 1, 1, 1])
    assert other.sample.tolist() == KNOWN.sample.tolist() == [0, 1, 1, 2, 5]
    assert other.population.tolist() == KNOWN.population.tolist()


def test_truta_needs_sense() -> None:
    assert truta_maximal(KNOWN, 18).value == 3 / 18
    assert truta_minimal(KNOWN, 36).value == 1 / 36
    with pytest.raises(UsageError, match="17 cannot have 18"):
        truta_minimal(KNOWN, 17)
    for weights, otherwise in [({}, 0.0), ({(1, 1): 1.0}, 2.0), ({(1, 1): 1.0, (1, 2): -1.0}, 0.0)]:
        with pytest.raises(UsageError, match="largest"):
            truta_weighted(KNOWN, 18, weights, otherwise)


# Individual risk.


def test_closed_forms() -> None:
    """f = 1 and 2 as they are published, p = 1/100; p = 1 is 1/f."""
    p = 0.01
    found = individual_risk(Weighted.of_records([1, 2], [100, 200]))
    assert found[0] == pytest.approx(p / (1 - p) * np.log(1 / p), rel=1e-13)
    q = p / (1 - p)
    assert found[1] == pytest.approx(q - q * q * np.log(1 / p), rel=1e-13)
    assert individual_risk(Weighted.of_records([1, 2, 9], [1, 2, 9])).tolist() == [1, 0.5, 1 / 9]


def test_weights_are_subtracted_exactly() -> None:
    """Eleven digits of F - f are gone in a double of 3·10^8 + 10^-6; a decimal keeps them."""
    exact = Decimal("300000000.000001")
    found = Weighted.of_records([300_000_000], [exact])
    assert found.excess.tolist() == [1e-6]
    assert Weighted.of_records([1], [Fraction(4, 3)]).excess.tolist() == [1 / 3]
    assert Weighted.of_records([2], [Decimal("2.5")]).excess.tolist() == [0.5]


def test_classes_and_records() -> None:
    classes = Weighted.of_classes([2, 1], [110, 17], [3, 5])
    assert classes.records.tolist() == [6, 5]
    records = Weighted.of_records([2] * 6 + [1] * 5, [110] * 6 + [17] * 5)
    for measure in (expected_reidentifications, global_risk):
        assert measure(classes).value == pytest.approx(measure(records).value, rel=1e-15)
        assert measure(classes).details["highest"] == pytest.approx(0.17707583, abs=1e-8)


@pytest.mark.parametrize("weight", [float("nan"), float("inf"), None, Decimal("NaN")])
def test_a_weight_is_a_number(weight: Any) -> None:
    with pytest.raises(InputError, match="missing or infinite"):
        Weighted.of_records([1, 1], [5, weight])


def test_weights_below_one() -> None:
    with pytest.raises(InputError, match="12 records with weights that add up to less"):
        Weighted.of_classes([4, 2], [3.9, 7], [3, 1])
    with pytest.raises(InputError, match="below 1"):
        Weighted.of_records([0.5], [3])
    with pytest.raises(UsageError, match="without records"):
        Weighted.of_records([], [])


def test_methods_have_names() -> None:
    with pytest.raises(UsageError, match="'aprox' does not exist") as error:
        individual_risk(Weighted.of_records([3], [9]), "aprox")
    assert error.value.hint == "'approx'"


def test_approx_leaves_fractions_to_the_exact_form() -> None:
    """sdcMicro's code gives 0 for 1 < f < 2 and the approximation for 2 < f < 3."""
    weighted = Weighted.of_records([1.5, 2.5, 3.0], [65, 129.5, 108])
    exact, approx = (individual_risk(weighted, m).tolist() for m in ("exact", "approx"))
    assert approx[:2] == exact[:2]
    assert approx[2] == pytest.approx(3 / 108 / (3 - (1 - 3 / 108)), rel=1e-15)
    assert min(exact) > 0


def test_households() -> None:
    risks, homes = [0.1, 0.2, 1.0, 0.0, 0.3], [4, 4, 9, 9, 1]
    assert household_risks(risks, homes).tolist() == [pytest.approx(0.28)] * 2 + [1.0, 1.0, 0.3]
    found = household_risk(risks, homes)
    assert found.value == pytest.approx((0.28 * 2 + 2 + 0.3) / 5)
    assert found.details["households"] == 3
    assert found.details["expected_households"] == pytest.approx(1.58)
    tiny = household_risks([1e-18, 1e-18], [1, 1])
    assert tiny[0] == pytest.approx(2e-18, rel=1e-15)


@pytest.mark.parametrize(
    ("risks", "homes", "words"),
    [([0.1], [1, 2], "for each record"), ([], [], "for each record"), ([1.1], [1], "at most 1"),
     ([float("nan")], [1], "at most 1")],
)  # fmt: skip
def test_households_need_sense(risks: list[float], homes: list[int], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        household_risks(risks, homes)


# Dominance.


def test_dominance_by_hand() -> None:
    assert dominance([50, 35, 15]).details == {"n": 2, "k": 85.0, "flagged": False}
    assert dominance([50, 35.000001, 15]).details["flagged"] is True
    assert dominance([7]).value == 1.0
    assert dominance([Decimal("0.1")] * 10, 1, 10).details["flagged"] is False
    assert p_percent([50, 35, 5]).details == {"p": 10.0, "flagged": False}
    assert p_percent([50, 35, 4]).details["flagged"] is True
    assert (p_percent([7]).value, p_percent([7, 7]).details["flagged"]) == (0.0, True)


def test_dominance_is_undefined_for_some_classes() -> None:
    for rule in (dominance, p_percent):
        below = rule([5, -1, 3])
        assert (below.value, below.details["flagged"]) == (None, None)
        assert below.reason == "a contribution is negative"
        zero = rule([0, 0])
        assert (zero.value, zero.details["flagged"]) == (None, False)
        assert zero.reason == "all contributions are 0"
        json.dumps(zero.to_dict(), allow_nan=False)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (lambda: dominance([1], 0), "at least 1"),
        (lambda: dominance([1], 1, 100), "between 0 and 100"),
        (lambda: p_percent([1], 0), "above 0"),
        (lambda: dominance([]), "without contributions"),
        (lambda: dominance([5], total=4), "exceed their total"),
        (lambda: p_percent([float("nan")]), "missing or infinite"),
        (lambda: p_percent([float("inf")]), "missing or infinite"),
    ],
)
def test_dominance_needs_sense(rule: Callable[[], Estimate], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        rule()


# The room.


def test_the_page_runs() -> None:
    failed, run = doctest.testfile(
        str(PAGE), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert failed == 0
    assert run > 10


def test_starting_costs_nothing() -> None:
    code = "import sys, sievert, sievert.cli.app; sys.exit('sievert.population' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
