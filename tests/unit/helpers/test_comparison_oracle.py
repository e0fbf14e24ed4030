"""The oracle of comparisons against hand calculations and laws, so that it can be trusted."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from functools import cache
from typing import Any

import mpmath
import pytest
from helpers import comparisonoracle as oracle

SEEDS = range(300)
DUST = mpmath.mpf(10) ** -40
HALF = Fraction(1, 2)


@cache
def case(seed: int) -> dict[str, Any]:
    return oracle.random_case(seed)


def tables(seed: int) -> tuple[Any, Any, Any]:
    one = case(seed)
    return one["original"], one["release"], one["pairs"]


def column(*texts: str | None) -> list[dict[str, str | None]]:
    return [{"q": text} for text in texts]


def near(result: Any, expected: float, tolerance: float = 1e-12) -> bool:
    return bool(abs(result - expected) <= tolerance)


# --------------------------------------------------------------------------- laws


def test_the_cases_are_varied() -> None:
    cases = [case(seed) for seed in SEEDS]
    steps = Counter(step for one in cases for step in one["steps"])
    assert min(steps.values()) > 25, steps
    assert len(steps) == 12
    functions = sum(one["function"] for one in cases)
    assert 80 < functions < 220
    assert sum(len(one["original"]) <= 7 for one in cases) > 40
    assert sum(None in one["pairs"] for one in cases) > 40
    cells = [row[q] for one in cases for row in one["original"] for q in one["quasi"]]
    assert None in cells
    assert oracle.STAR not in cells
    labels = [
        path
        for one in cases
        for hierarchy in one["hierarchies"].values()
        for path in hierarchy.values()
    ]
    assert {len(path) for path in labels} == {1, 2, 3, 4}
    assert any(len(set(path)) < len(path) for path in labels)


@pytest.mark.parametrize("echoes", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_hierarchies_are_nested(seed: int, echoes: bool) -> None:
    values = [f"v{i}" for i in range(seed % 7 + 1)]
    tree = oracle.random_hierarchy(random.Random(seed), values, "q", echoes)
    for level in range(oracle.height(tree)):
        lower = [([v, *tree[v]][level]) for v in values]
        assert oracle.is_function(lower, [tree[v][level] for v in values])
    assert {path[-1] for path in tree.values()} == {oracle.STAR}


def test_one_case_is_one_case() -> None:
    assert oracle.random_case(7) == oracle.random_case(7)


def test_no_negative_loss_when_the_release_depends_on_the_original_key() -> None:
    seen = 0
    for seed in SEEDS:
        one = case(seed)
        original, release, pairs = tables(seed)
        for quasi in [one["quasi"], *([q] for q in one["quasi"])]:
            before = oracle.keys(original, quasi)
            after = oracle.released_keys(release, pairs, quasi)
            if not oracle.is_function(before, after):
                continue
            for secret in one["secrets"]:
                loss = oracle.information_loss(original, release, pairs, quasi, secret)
                assert loss["plugin"] >= -DUST, seed
                seen += 1
    assert seen > 300


def test_information_stays_above_its_floor() -> None:
    tight = mpmath.mpf(1)
    for seed in SEEDS:
        one = case(seed)
        original, release, pairs = tables(seed)
        after = oracle.released_keys(release, pairs, one["quasi"])
        for secret in one["secrets"]:
            ys = [row[secret] for row in original]
            found = oracle.mutual_information(after, ys)
            floor = oracle.information_floor(after, ys)
            assert found >= floor - DUST, seed
            if floor > 0:
                tight = min(tight, (found - floor) / found)
    assert tight < 0.2


def test_chance_by_counts_is_chance_by_force() -> None:
    seen = 0
    for seed in SEEDS:
        one = case(seed)
        original, release, pairs = tables(seed)
        if len(original) > 7:
            continue
        after = oracle.released_keys(release, pairs, one["quasi"])
        ys = [row[one["secrets"][0]] for row in original]
        chance = oracle.permutation_mean(after, ys)
        assert abs(chance - oracle.permutation_mean_by_force(after, ys)) < DUST, seed
        seen += 1
    assert seen > 40


@pytest.mark.parametrize("xs", ["a", "ab", "aab", "abcd", "aabb", "aaabb", "abcdd", "aabbcd"])
def test_chance_of_a_key_with_itself(xs: str) -> None:
    by_force = oracle.permutation_mean_by_force(xs, xs)
    assert abs(oracle.permutation_mean(xs, xs) - by_force) < DUST


def test_a_release_of_everything_loses_nothing() -> None:
    for seed in range(0, 300, 10):
        one = case(seed)
        rows, quasi, trees = one["original"], one["quasi"], one["hierarchies"]
        order = random.Random(seed).sample(range(len(rows)), len(rows))
        release = [rows[place] for place in order]
        pairs = [order.index(i) for i in range(len(rows))]
        given = (rows, release, pairs, quasi)
        for secret in one["secrets"]:
            loss = oracle.information_loss(*given, secret)
            assert all(value == 0 for value in loss.values())
        identity = oracle.identity_disclosure(*given)["plugin"]
        entropy = oracle.mutual_information(oracle.keys(rows, quasi), oracle.keys(rows, quasi))
        assert abs(identity - entropy) < DUST
        assert oracle.generalization_loss(*given, trees) == 0
        assert oracle.precision(*given, trees) in (1, None)
        assert oracle.non_uniform_entropy(*given) == 0
        assert oracle.normalized_certainty_penalty(*given, trees) == 0
        distortion = oracle.expected_distortion(*given, trees, one["numeric"])
        assert set(distortion.values()) <= {0, None}
        assert all(value == 0 for value in oracle.hellinger_margins(*given).values())
        assert all(value == 0 for value in oracle.hellinger_pairs(*given).values())
        sizes = Counter(oracle.keys(rows, quasi)).values()
        assert oracle.discernability(*given) == sum(size * size for size in sizes)
        assert oracle.average_class_size(*given) == Fraction(len(rows), len(sizes))


@pytest.mark.parametrize("echoes", [False, True])
@pytest.mark.slow
def test_ranges_on_random_cases(echoes: bool) -> None:
    for seed in SEEDS:
        one = oracle.random_case(seed, echoes=True) if echoes else case(seed)
        original = one["original"]
        given = (original, one["release"], one["pairs"], one["quasi"])
        trees, n = one["hierarchies"], len(original)
        assert 0 <= oracle.generalization_loss(*given, trees) <= 1, seed
        assert 0 <= oracle.normalized_certainty_penalty(*given, trees) <= 1
        kept = oracle.precision(*given, trees)
        assert kept is None or 0 <= kept <= 1
        assert n <= oracle.discernability(*given) <= n * n
        distortion = oracle.expected_distortion(*given, trees, one["numeric"])
        assert all(d is None or d >= 0 for d in distortion.values())
        hellinger = oracle.hellinger_pairs(*given).values()
        assert all(-DUST <= h <= 1 + DUST for h in hellinger)
        identity = oracle.identity_disclosure(*given)
        assert -DUST <= identity["plugin"] <= mpmath.log(n, 2) + DUST
        assert identity["chance"] >= 0


def test_a_pair_of_columns_is_at_least_as_far_as_each() -> None:
    for seed in range(0, 300, 3):
        one = case(seed)
        given = (*tables(seed), one["quasi"])
        margins = oracle.hellinger_margins(*given)
        for (a, b), distance in oracle.hellinger_pairs(*given).items():
            assert distance >= max(margins[a], margins[b]) - DUST


def test_global_recoding_cannot_lower_the_non_uniform_entropy() -> None:
    seen = 0
    for seed in SEEDS:
        one = case(seed)
        if not set(one["steps"]) <= {"generalise global", "shuffle", "secrets", "by class"}:
            continue
        given = (*tables(seed), one["quasi"])
        for suppressed in ("all", "own"):
            assert oracle.non_uniform_entropy(*given, suppressed) >= 0
        seen += 1
    assert seen > 25


# --------------------------------------------------------------------------- by hand


def test_two_classes_that_tell_the_secret() -> None:
    xs, ys = "aabb", "sstt"
    assert oracle.mutual_information(xs, ys) == 1
    # Two of the six orders of s s t t tell all, the other four nothing.
    assert near(oracle.permutation_mean(xs, ys), 1 / 3)
    # Two values, two values, two pairs: (2 + 2 - 2 - 1)/(2 * 4 * ln 2).
    assert near(oracle.miller_madow(xs, ys), 1 + 0.125 / 0.6931471805599453)
    assert oracle.t_by_class(xs, ys) == {"a": HALF, "b": HALF}
    assert near(oracle.information_floor(xs, ys), 0.5 / 0.6931471805599453)
    assert oracle.interval_half_width(oracle.pointwise_information(xs, ys)) == 0


def test_a_skewed_table_by_hand() -> None:
    # n_xy: a-s 2, a-t 1, b-t 1.
    xs, ys = "aaab", "sstt"
    expected = 0.5 * 0.4150374992788438 + 0.25 * (-0.5849625007211562) + 0.25
    assert near(oracle.mutual_information(xs, ys), expected)
    bits = [0.4150374992788438, 0.4150374992788438, -0.5849625007211562, 1.0]
    mean = sum(bits) / 4
    variance = sum((value - mean) ** 2 for value in bits) / 4
    width = oracle.interval_half_width(oracle.pointwise_information(xs, ys))
    assert near(width, 1.959964 * (variance / 4) ** 0.5)
    assert oracle.t_by_class(xs, ys) == {"a": Fraction(1, 6), "b": HALF}


def test_hidden_dropped_and_missing_are_told_apart() -> None:
    original = column("a", "a", "b", None, None, "b")
    release = column("*", None, None, "*", "b")
    pairs = [0, 1, None, 2, 3, 4]
    assert oracle.suppressed_cells(original, release, pairs, "q") == [
        True,
        True,
        True,
        False,
        True,
        False,
    ]
    released = oracle.released_keys(release, pairs, ["q"])
    assert len(set(released)) == 4
    assert released[1] == released[3] == (None,)
    assert released[2] == oracle.GONE
    # Two records are left: one missing as it was, one b.
    assert oracle.discernability(original, release, pairs, ["q"]) == 1 + 1 + 4 * 6
    assert oracle.average_class_size(original, release, pairs, ["q"]) == 1


TREE = {
    "a": ["ab", "low", "*"],
    "b": ["ab", "low", "*"],
    "c": ["c", "low", "*"],
    "d": ["d", "d", "*"],
}


def test_levels_and_leaves() -> None:
    assert oracle.level_of(TREE, "a", "low") == 2
    assert oracle.level_of(TREE, "c", "c") == 0
    assert oracle.leaves(TREE, "a", "ab") == 2
    assert oracle.leaves(TREE, "a", "low") == 3
    assert oracle.leaves(TREE, "a", "d") == 1
    assert oracle.leaves(TREE, None, None) == 1
    assert oracle.common_level(TREE, "a", "b") == 1
    assert oracle.common_level(TREE, "a", "c") == 2
    assert oracle.common_level(TREE, "c", "ab") == 2
    assert oracle.common_level(TREE, "d", "low") == 3
    assert oracle.common_level(TREE, None, "a") == 3
    echo = {"a": ["a", "*"], "b": ["a", "*"], "c": ["c", "*"]}
    assert [oracle.leaves(echo, value, "a") for value in "abc"] == [1, 2, 1]
    assert [oracle.common_level(echo, value, "a") for value in "abc"] == [0, 1, 2]
    with pytest.raises(ValueError, match="not in the hierarchy"):
        oracle.leaves(TREE, "a", "nowhere")


def test_generalisation_by_hand() -> None:
    original = column("a", "b", "c", "d", "d", "a")
    release = column("ab", "low", "c", "*", "b")
    given = (original, release, [0, 1, 2, 3, None, 4], "q")
    tree = TREE
    # Shares 2/4, 3/4, 1/4, 1, 1, 1/4: mean 5/8.
    assert oracle.generalization_loss_of(*given, tree) == (
        Fraction(5, 8) - Fraction(1, 4)
    ) / Fraction(3, 4)
    assert near(oracle.generalization_loss(*given[:3], ["q"], {"q": tree}), 0.5)
    # Levels 1, 2, 0, 3, 3 and, of the wrong leaf, 0 of 3.
    assert oracle.precision_of(*given, tree) == 1 - Fraction(9, 18)
    assert oracle.normalized_certainty_penalty_of(*given, tree) == Fraction(13, 24)
    # A wrong leaf is one level away from the common ancestor.
    assert oracle.hierarchy_distortion(*given, tree) == Fraction(10, 18)
    assert oracle.hamming_distortion(*given) == Fraction(5, 6)
    # ab 1/2, low 1/1, c 1/1, * 6/2 twice (or 2/2), b 1/2.
    assert near(oracle.non_uniform_entropy_of(*given), -2 + 2 * 1.584962500721156)
    assert near(oracle.non_uniform_entropy_of(*given, "own"), -2)


def test_generalisation_without_a_hierarchy() -> None:
    original = column("a", "b", "c", "d", "d", "a")
    release = column("x", "x", "y", "y", "d", "*")
    given = (original, release, list(range(6)), "q")
    # Shares 2/4 four times, 1/4, 1: mean 13/24.
    assert oracle.generalization_loss_of(*given, None) == (
        Fraction(13, 24) - Fraction(1, 4)
    ) / Fraction(3, 4)
    assert oracle.normalized_certainty_penalty_of(*given, None) == HALF


def test_the_overall_loss_is_a_geometric_mean() -> None:
    original = [{"a": "1", "b": "1"}, {"a": "2", "b": "2"}]
    release = [{"a": "1", "b": "*"}, {"a": "2", "b": "*"}]
    loss = oracle.generalization_loss(original, release, [0, 1], ["a", "b"], {})
    assert near(loss, 2**0.5 - 1)


def test_squared_error_by_hand() -> None:
    original = column("1", "3", "5", None, "7")
    release = column("2", "3", "1", "4", "*")
    given = (original, release, list(range(5)), "q")
    assert oracle.squared_error(*given) == Fraction(17, 3)
    assert oracle.numeric_distortion(*given) == Fraction(17, 3) / 5
    whole = oracle.expected_distortion(*given[:3], ["q"], {}, ["q"])
    assert whole == {"q": Fraction(17, 15), "": Fraction(17, 15)}


def test_hellinger_by_hand() -> None:
    given = (column("a", "a", "b", "b"), column("a", "a", "*"), [0, 1, None, 2])
    assert near(oracle.hellinger(*given, ["q"]), 0.5**0.5)
    assert near(oracle.hellinger_of("ab", "cd"), 1)


def test_probabilistic_loss_by_hand() -> None:
    xs = [Fraction(v) for v in (0, 0, 1, 3)]
    moved = [x + 1 for x in xs]
    # Mean 1, moments of the deviations -1, -1, 0, 2: mu_2 = 3/2, mu_4 = 9/2.
    assert oracle.pil_mean(xs, moved) is None
    assert near(oracle.pil_mean(xs, moved, 0), float(mpmath.erf(mpmath.sqrt(mpmath.mpf(4) / 3))))
    assert oracle.pil_variance(xs, moved, 0) == 0
    doubled = [2 * x for x in xs]
    z = mpmath.mpf(9) / 2 / mpmath.sqrt(mpmath.mpf(9) / 4 / 4)
    assert near(oracle.pil_variance(xs, doubled, 0), float(mpmath.erf(z / mpmath.sqrt(2))))
    ys = [Fraction(v) for v in (1, 0, 0, 1)]
    # mu_11 = 1/4 and 1/2 when x is doubled; mu_22 = 3/2 * 1/4.
    z = mpmath.mpf(1) / 4 / mpmath.sqrt((mpmath.mpf(3) / 8 - mpmath.mpf(1) / 16) / 4)
    found = oracle.pil_covariance((xs, ys), (doubled, ys), 0)
    assert near(found, float(mpmath.erf(z / mpmath.sqrt(2))))
    assert abs(oracle.pil_correlation((xs, ys), (doubled, ys), 0)) < DUST
    assert oracle.pil_correlation((xs, xs), (xs, ys), 0) is None


def test_the_variance_of_a_correlation_on_gaussian_moments() -> None:
    for r in (Fraction(0), Fraction(1, 3), Fraction(-4, 5)):
        moments = {
            (2, 0): Fraction(1), (0, 2): Fraction(1), (1, 1): r, (2, 2): 1 + 2 * r * r,
            (4, 0): Fraction(3), (0, 4): Fraction(3), (3, 1): 3 * r, (1, 3): 3 * r,
        }  # fmt: skip
        assert oracle.correlation_variance(50, moments) == (1 - r * r) ** 2 / 50


def test_ranks_and_fronts() -> None:
    assert oracle.ranks([3, 1, 3, 2]) == [Fraction(7, 2), 1, Fraction(7, 2), 2]
    assert near(oracle.spearman([1, 2, 3, 4], [2, 4, 8, 16]), 1)
    assert near(oracle.spearman([1, 2, 3], [3, 2, 1]), -1)
    assert near(oracle.spearman([1, 2, 2, 3], [1, 3, 2, 4]), 0.9486832980505138)
    assert oracle.spearman([1, 1], [1, 2]) is None
    points = [(1, 2), (2, 1), (2, 2), (1, 2), (3, 3)]
    assert oracle.dominated(points) == [False, False, True, False, True]
