"""What a publisher does and what an intruder is left with: reference vectors, choices, errors."""

from __future__ import annotations

import doctest
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sievert.errors import InputError, SievertError, UsageError
from sievert.estimators.contingency import rank_keys
from sievert.methods import (
    Noisy,
    Sample,
    add_noise,
    check_probabilities,
    draw_sample,
    frequencies,
    group_by_subsets,
    group_records,
    infer_from_answers,
    noise_span,
    origin_probabilities,
    range_queries,
    restrict_queries,
    subsets,
    utility,
)
from sievert.methods.intruder import scale_to_integers
from sievert.methods.query_restriction import chain_bounds

TENS = np.arange(10, 251, 10)
ONE = np.zeros((5, 1), dtype=np.int64)


def entropy(p: Any) -> float:
    return -math.fsum(x * math.log2(x) for x in np.ravel(p).tolist() if x)


def salaries(records: int, seed: int = 0) -> Any:
    """Log-normal salaries on 10, 20, ..., 250, as codes."""
    drawn = np.exp(np.random.default_rng(seed).normal(3.6, 0.7, records))
    return np.clip(np.rint(drawn / 10), 1, 25).astype(np.int64) - 1


# -- groups ------------------------------------------------------------------------------------


def test_subsets_are_listed_by_size() -> None:
    assert len(list(subsets(6))) == 63
    assert list(subsets(3)) == [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)]
    assert list(subsets(3, [3, 1, 1])) == [(0,), (1,), (2,), (0, 1, 2)]
    for sizes in ([0], [4]):
        with pytest.raises(UsageError, match="1 to 3"):
            subsets(3, sizes)


def test_groups_of_huge_codes() -> None:
    """Codes far beyond the records, whose product exceeds 64 bits."""
    codes = np.array([[2**62, 5, 2**61], [0, 5, 2**61], [2**62, 5, 2**61], [0, 5, 0]])
    found = group_records(codes, [0, 1, 2])
    assert found.ids.tolist() == [2, 1, 2, 0]
    assert found.sizes.tolist() == [1, 1, 2]
    assert found.keys.tolist() == [[0, 5, 0], [0, 5, 2**61], [2**62, 5, 2**61]]


def test_marking_and_sorting_number_alike() -> None:
    keys = np.random.default_rng(0).integers(0, 50, 200)
    marked, sorted_ = rank_keys(keys, 50), rank_keys(keys, 1 << 40)
    assert np.array_equal(marked[0], sorted_[0])
    assert marked[1] == sorted_[1]


# -- sampling ----------------------------------------------------------------------------------


def test_sampling_reference() -> None:
    """Five matches, of whom two with 10 and one with 30 were sampled."""
    people = group_records(ONE, [0])
    taken = np.array([True, True, True, False, False])
    found = Sample(
        fraction=0.6,
        taken=taken,
        secret=np.array([0, 0, 2, 3, 1]),
        values=np.array([10.0, 20, 30, 40]),
    )
    assert found.probabilities(people).tolist() == [[0.5, 0.1, 0.3, 0.1]]
    assert entropy(found.probabilities(people)) == pytest.approx(1.685475297, abs=5e-10)
    nobody = Sample(
        fraction=0.6, taken=~np.ones(5, dtype=bool), secret=found.secret, values=found.values
    )
    assert nobody.probabilities(people).tolist() == [[0.25] * 4]
    with pytest.raises(UsageError, match="no frequencies"):
        nobody.probabilities(people, prior="sample")


def test_sampling_with_the_prior_of_the_sample() -> None:
    people = group_records([[0], [0], [1], [1]], [0])
    found = Sample(
        fraction=0.5,
        taken=np.array([True, True, False, True]),
        secret=np.array([0, 1, 2, 0]),
        values=np.array([1.0, 2, 3]),
    )
    assert found.probabilities(people, prior="sample").tolist() == [
        [1 / 2, 1 / 2, 0],
        [5 / 6, 1 / 6, 0],
    ]


def test_sampling_takes_a_fixed_number_and_follows_its_seed() -> None:
    secret = salaries(2500)
    for fraction, number in ((0.05, 125), (0.1, 250), (0.2, 500), (0.5, 1250), (1, 2500)):
        assert draw_sample(secret, TENS, fraction).taken.sum() == number
    assert (
        draw_sample(secret, TENS, 0.29).taken.sum() == 725
    )  # 0.29 * 2500 is a little less in doubles
    first, again, other = (
        draw_sample(secret, TENS, 0.1, s).taken for s in ((3, 1), (3, 1), (3, 2))
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    share = np.mean([draw_sample(secret[:40], TENS, 0.25, s).taken for s in range(400)], axis=0)
    assert np.all(np.abs(share - 0.25) < 5 * math.sqrt(0.25 * 0.75 / 400))


def test_unique_people_are_known_if_they_were_sampled() -> None:
    """All records unique: mean H0 = (1 - fraction)·log2|D|."""
    people = group_records(np.arange(2500)[:, None], [0])
    found = draw_sample(salaries(2500), TENS, 0.5).probabilities(people)
    mean = math.fsum(entropy(row) for row in found) / 2500
    assert mean == pytest.approx(0.5 * math.log2(25), rel=1e-12)


# -- query restriction -------------------------------------------------------------------------


def test_query_reference() -> None:
    secret = np.array([1, 1, 3, 4, 5, 4, 2, 3]) - 1
    sums = [2, 7, 9, 5]
    found = infer_from_answers(np.add(sums[1:], sums[:-1]), [1, 2, 3, 4, 5], 4, range(8))
    bounds = [(1, 2), (1, 2), (1, 5), (1, 5), (4, 5), (4, 5), (1, 4), (1, 4)]
    assert list(zip(found.low.tolist(), found.high.tolist(), strict=True)) == bounds
    assert np.all((found.first <= secret) & (secret <= found.last))
    target = group_records([[0], [1], [1], [1], [0], [1], [1], [1]], [0])
    assert found.probabilities(target)[0].tolist() == [0.25, 0.25, 0, 0.25, 0.25]


def test_query_reference_of_a_chain_that_tells_all() -> None:
    c = np.array([2, 5, 3, 1, 4, 4])
    alone = infer_from_answers(c[1:] + c[:-1], [1, 2, 3, 4, 5], 2, range(6))
    assert alone.low.tolist() == alone.high.tolist() == alone.estimates.tolist() == c.tolist()
    pairs = c.reshape(-1, 2).sum(axis=1)
    in_pairs = infer_from_answers(pairs[1:] + pairs[:-1], [1, 2, 3, 4, 5], 4, range(6))
    assert set(in_pairs.low) == {1}
    assert set(in_pairs.high) == {5}


def test_records_in_no_query_may_have_any_value() -> None:
    found = restrict_queries(salaries(11), TENS, 8)
    assert len(found.answers) == 1
    outside = found.order[8:]
    assert set(found.low[outside]) == {10}
    assert set(found.high[outside]) == {250}
    assert set(found.estimates[outside]) == {np.mean(found.estimates[found.order[:8]])}


def test_mean_widths_of_salaries() -> None:
    """Sums of two tell everything, sums of 32 nothing.

    Another log-normal file of 2,500, of unknown parameters, has 1.00, 7.67, 15.0, 24.6, 25.0.
    """
    secret = salaries(2500)
    widths = []
    for size in (2, 4, 8, 16, 32):
        found = restrict_queries(secret, TENS, size)
        assert np.all((found.first <= secret) & (secret <= found.last))
        widths.append(float(np.mean(found.last - found.first + 1)))
    assert widths == pytest.approx([1, 7.67, 15, 24.6, 25], rel=0.2)
    assert widths[0] == 1


def test_real_numbers_are_exact_decimals() -> None:
    """In doubles 0.1 + 0.2 is not 0.3; bounds that touch a value must include it."""
    values = [0.1, 0.2, 0.3]
    secret = np.array([0, 1, 2, 0, 0, 2])
    found = restrict_queries(secret, values, 2, seed=1)
    given = infer_from_answers(found.answers, values, 2, found.order)
    floats = np.array(values)[secret[found.order]]
    rounded = infer_from_answers(floats[1:] + floats[:-1], values, 2, found.order)
    for each in (found, given, rounded):
        assert each.first.tolist() == each.last.tolist() == secret.tolist()
        assert each.low.tolist() == np.array(values)[secret].tolist()


def test_doubles_of_full_precision() -> None:
    """Sums of doubles that were rounded are not taken for a contradiction."""
    rng = np.random.default_rng(5)
    values = np.sort(rng.normal(0, 1e3, 60))
    secret = rng.permutation(60)
    for size in (2, 6):
        exact = restrict_queries(secret, values, size, seed=4)
        held = values[secret[exact.order]].reshape(-1, size // 2).sum(axis=1)
        found = infer_from_answers(held[1:] + held[:-1], values, size, exact.order)
        assert np.all((found.first <= secret) & (secret <= found.last))
        assert np.all((found.low <= exact.low) & (exact.high <= found.high))
        assert np.allclose(found.low, exact.low, atol=1e-4)
        assert np.allclose(found.high, exact.high, atol=1e-4)


@pytest.mark.parametrize("scale", [1e-320, 1e-30, 1e25, 1e300])
def test_numbers_of_any_size(scale: float) -> None:
    values = np.array([1.0, 2, 4]) * scale
    secret = np.array([0, 2, 1, 0, 0, 2, 1, 1])
    near, far = (restrict_queries(secret, v, 4, seed=2) for v in ([1, 2, 4], values))
    assert np.array_equal(near.first, far.first)
    assert np.array_equal(near.last, far.last)
    if scale != 1e-320:
        assert far.estimates == pytest.approx(near.estimates * scale, rel=1e-12)


def test_a_shuffle_follows_its_seed() -> None:
    secret = salaries(100)
    orders = [restrict_queries(secret, TENS, 4, seed).order.tolist() for seed in (0, 0, 1)]
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == list(range(100))


# -- noise -------------------------------------------------------------------------------------


def test_spans() -> None:
    assert [noise_span(25, p) for p in (0, 5, 10, 20, 25, 50, 100)] == [0, 2, 2, 4, 6, 12, 24]
    assert noise_span(2, 100) == 0  # halfway between 0 and 2
    assert noise_span(1, 100) == 0


@pytest.mark.parametrize(
    ("released", "span", "weights", "initial"),
    [
        (12, 4, "uniform", 2.321928095),
        (12, 4, "posterior", 2.030639062),
        (2, 4, "uniform", 2),
        (2, 4, "posterior", 1.806238929),
        (12, 24, "uniform", 4.584962501),
        (12, 24, "posterior", 3.339346531),
    ],
)
def test_noise_reference(released: int, span: int, weights: Any, initial: float) -> None:
    """D = 1..25; the first row is that of 1 - M/2."""
    row = origin_probabilities(25, span, weights)[released - 1 + span // 2]
    places = np.arange(1, 26)
    inside = np.abs(places - released) <= span // 2
    counts = np.array([math.comb(span, abs(released - d) + span // 2) for d in places.tolist()])
    plain = np.where(inside, 1 if weights == "uniform" else counts, 0)
    assert row == pytest.approx(plain / plain.sum(), rel=1e-14, abs=0)
    assert entropy(row) == pytest.approx(initial, abs=5e-10)


def test_a_prior_weighs_the_origins() -> None:
    row = origin_probabilities(3, 2, "posterior", [0, 3, 1])[2]
    assert row.tolist() == [0, 6 / 7, 1 / 7]


def test_noise_wider_than_doubles_reach() -> None:
    rows = origin_probabilities(3, 4000, "posterior")
    assert rows.sum(axis=1) == pytest.approx(1, abs=1e-14)
    assert rows[0].tolist() == [1, 0, 0]
    # C(4000, 2000 + k) / C(4000, 2000) of the middle, exactly
    side = 2000 / 2001
    assert rows[2001] == pytest.approx(np.array([side, 1, side]) / (1 + 2 * side), rel=1e-14)


def test_noise_is_binomial_on_every_column() -> None:
    n = 20_000
    known = np.stack((np.full(n, 10), np.full(n, 1), np.zeros(n, dtype=np.int64)), axis=1)
    found = add_noise(known, np.full(n, 12), np.arange(25), 20, sizes=[21, 2, 1])
    assert found.spans == (4, 0, 0)
    assert found.span == 4
    assert np.array_equal(found.known[:, 1:], known[:, 1:])
    for column, at in ((found.known[:, 0], 10), (found.secret, 12)):
        share = np.bincount(column - at + 2, minlength=5) / n
        expected = np.array([1, 4, 6, 4, 1]) / 16
        assert np.all(np.abs(share - expected) < 5 * np.sqrt(expected / n))
    both = np.corrcoef(found.known[:, 0], found.secret)[0, 1]
    assert abs(both) < 5 / math.sqrt(n)


def test_released_numbers_go_on_beyond_the_domain() -> None:
    found = Noisy(
        percent=50,
        known=ONE,
        sizes=(1,),
        spans=(0,),
        secret=np.array([-2, 0, 1, 2, 4]),
        values=np.array([1.0, 2, 5]),
        span=4,
    )
    assert found.numbers.tolist() == [-1, 1, 2, 5, 11]
    assert found.axis == 2
    single = add_noise(ONE, [0] * 5, [7], 100)
    assert single.numbers.tolist() == [7] * 5
    assert add_noise(ONE, [0] * 5, [7], 0).axis is None


def test_likelihood_without_noise_is_the_oracle() -> None:
    rng = np.random.default_rng(2)
    known = rng.integers(0, 4, (60, 3))
    found = add_noise(known, rng.integers(0, 5, 60), np.arange(5), 0)
    for people in group_by_subsets(known):
        oracle = found.probabilities(people)
        likely = found.probabilities(people, matching="likelihood", weights="posterior")
        assert np.allclose(oracle, likely, rtol=0, atol=1e-15)


def test_likelihood_does_not_depend_on_blocks() -> None:
    rng = np.random.default_rng(3)
    known = rng.integers(0, 9, (200, 2))
    found = add_noise(known, rng.integers(0, 5, 200), np.arange(5), 50)
    people = group_records(known, [0, 1])
    whole = found.probabilities(people, matching="likelihood")
    parts = found.probabilities(people, matching="likelihood", block=7, cells=30)
    assert np.allclose(parts, whole, atol=1e-15)


# -- other methods -----------------------------------------------------------------------------


def test_frequencies_of_a_sample_are_those_of_sampling() -> None:
    rng = np.random.default_rng(8)
    known, secret = rng.integers(0, 3, (50, 2)), rng.integers(0, 4, 50)
    found = draw_sample(secret, [1, 2, 3, 4], 0.4)
    shown = np.where(found.taken, secret, -1)
    for people in group_by_subsets(known):
        expected = found.probabilities(people)
        assert np.array_equal(frequencies(people, shown, 4), expected)
        own = np.where(found.taken, people.ids, -1)
        mixed = frequencies(people, shown, 4, own)
        assert np.allclose(mixed, expected, atol=1e-15)


def test_supplied_probabilities_are_checked() -> None:
    people = group_records([[0], [1]], [0])
    rows = [[0.5, 0.5 + 1e-11], [1, 0]]
    found = check_probabilities(people, rows, 2)
    assert found.sum(axis=1).tolist() == [1, 1]
    for wrong in (
        [[0.5, 0.5]],
        [[0.5, 0.5], [0.5, 0.4]],
        [[1.5, -0.5], [1, 0]],
        [[math.nan, 1], [1, 0]],
        [[math.inf, 0], [1, 0]],
        [["a", "b"], ["c", "d"]],
    ):
        with pytest.raises(UsageError, match="probabilities"):
            check_probabilities(people, wrong, 2)


# -- utility -----------------------------------------------------------------------------------


def table(records: int = 600) -> tuple[Any, Any]:
    rng = np.random.default_rng(11)
    known = np.stack([rng.integers(0, k, records) for k in (30, 2, 12)], axis=1)
    secret = np.clip(known[:, 0] // 2 + rng.integers(0, 9, records), 0, 24)
    return known, secret


def test_the_original_answers_without_error() -> None:
    known, secret = table()
    queries = range_queries(known, secret, TENS)
    assert len(queries.truth) == 1000
    assert {tuple(c) for c in queries.columns.tolist()} == {
        (0, -1), (1, -1), (2, -1), (0, 1), (0, 2), (1, 2),
    }  # fmt: skip
    found = utility(queries, known, TENS[secret])
    assert (found.error, found.queries, found.unanswered) == (0, 1000, 0)


def test_error_grows_as_less_is_released() -> None:
    """On average: one range of few records may decide the error of one release."""
    known, secret = table()
    queries = range_queries(known, secret, TENS)

    def sample(fraction: float, seed: int) -> float:
        taken = draw_sample(secret, TENS, fraction, seed).taken
        return utility(queries, known[taken], TENS[secret[taken]]).error

    def chain(size: float, seed: int) -> float:
        return utility(
            queries, known, restrict_queries(secret, TENS, int(size), seed).estimates
        ).error

    def noise(percent: float, seed: int) -> float:
        found = add_noise(known, secret, TENS, percent, seed)
        return utility(queries, found.nearest, found.numbers).error

    for method, amounts in ((sample, (1, 0.5, 0.2, 0.05)), (chain, (2, 4, 8, 16)),
                            (noise, (0, 5, 20, 100))):  # fmt: skip
        errors = [np.mean([method(amount, seed) for seed in range(10)]) for amount in amounts]
        assert errors == sorted(errors)
        # Sums of two tell everything only where enough people have the least or greatest value.
        assert errors[0] < 0.01 if method is chain else errors[0] == 0
        assert errors[-1] < 0.5


def test_an_empty_range_is_answered_by_the_overall_mean() -> None:
    known = np.array([[0], [1]])
    queries = range_queries(known, [0, 1], [10, 30], 50)
    found = utility(queries, [[0]], [10.0])
    alone = int(np.count_nonzero(queries.low[:, 0] == 1))
    assert 0 < found.unanswered == alone < 50
    off = np.where(queries.truth == 10, 0, np.where(queries.truth == 30, 20 / 30, 10 / 20))
    assert found.error == pytest.approx(math.sqrt(np.mean(off**2)), rel=1e-12)


def test_ranges_whose_mean_is_zero_are_not_asked() -> None:
    known, secret = np.array([[0], [1], [2]]), [0, 1, 2]
    queries = range_queries(known, secret, [-0.3, 0.1, 0.2], 200)  # in doubles the sum is not 0
    ranges = {(int(a), int(b)) for a, b in zip(queries.low[:, 0], queries.high[:, 0], strict=True)}
    assert ranges == {(0, 0), (1, 1), (2, 2), (0, 1), (1, 2)}
    with pytest.raises(InputError, match="mean other than 0"):
        range_queries(known, [0, 0, 0], [0], 10)


def test_axes_of_the_paper() -> None:
    known, secret = table(100)
    assert draw_sample(secret, TENS, 0.2).axis == 0.2
    assert restrict_queries(secret, TENS, 8).axis == 1 / 8
    assert add_noise(known, secret, TENS, 20).axis == 5


# -- errors ------------------------------------------------------------------------------------

FIVE = [1, 2, 3, 4, 5]
SECRET = [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("kind", "words", "call"),
    [
        (UsageError, "even number", lambda: restrict_queries(SECRET, FIVE, 3)),
        (UsageError, "even number", lambda: restrict_queries(SECRET, FIVE, 0)),
        (UsageError, "needs as many; there are 4", lambda: restrict_queries(SECRET, FIVE, 6)),
        (UsageError, "every record once", lambda: infer_from_answers([4], FIVE, 2, [0, 0])),
        (UsageError, "1 answer", lambda: infer_from_answers([4, 4], FIVE, 2, [0, 1])),
        (UsageError, "as numbers", lambda: infer_from_answers(["x"], FIVE, 2, [0, 1])),
        (InputError, "have these sums", lambda: infer_from_answers([11], FIVE, 2, [0, 1])),
        (InputError, "have these sums", lambda: infer_from_answers([2, 10], FIVE, 2, [0, 1, 2])),
        (InputError, "no sum of values", lambda: infer_from_answers([4.5], FIVE, 2, [0, 1])),
        (InputError, "not a finite", lambda: infer_from_answers([math.nan], FIVE, 2, [0, 1])),
        (
            InputError,
            "no value of the domain",
            lambda: infer_from_answers([2, 4], [1, 5, 7], 2, [0, 1, 2]),
        ),
        (UsageError, "above 0", lambda: draw_sample(SECRET, FIVE, 0)),
        (UsageError, "above 0", lambda: draw_sample(SECRET, FIVE, math.nan)),
        (UsageError, "has none", lambda: draw_sample(SECRET, FIVE, 0.01)),
        (UsageError, "from 0 to 4", lambda: draw_sample([5], FIVE, 1)),
        (UsageError, "from 0 to 4", lambda: draw_sample([-1], FIVE, 1)),
        (UsageError, "whole numbers", lambda: draw_sample([0.5], FIVE, 1)),
        (UsageError, "at least one record", lambda: draw_sample(np.array([], dtype=int), FIVE, 1)),
        (UsageError, "ascend", lambda: draw_sample(SECRET, [1, 3, 2, 4], 1)),
        (UsageError, "ascend", lambda: draw_sample(SECRET, [1, 1, 2, 4], 1)),
        (UsageError, "finite", lambda: draw_sample(SECRET, [1, 2, 3, math.inf], 1)),
        (UsageError, "holds numbers", lambda: draw_sample(SECRET, ["a"], 1)),
        (UsageError, "seed", lambda: draw_sample(SECRET, FIVE, 1, seed=-1)),
        (UsageError, "seed", lambda: draw_sample(SECRET, FIVE, 1, seed=[])),
        (UsageError, "finite percentage", lambda: add_noise([[0]] * 4, SECRET, FIVE, -1)),
        (UsageError, "finite percentage", lambda: add_noise([[0]] * 4, SECRET, FIVE, math.inf)),
        (UsageError, "as its codes say", lambda: add_noise([[3]] * 4, SECRET, FIVE, 5, sizes=[3])),
        (UsageError, "one place a record", lambda: add_noise([[3]], SECRET, FIVE, 5)),
        (UsageError, "weights are", lambda: origin_probabilities(5, 2, "flat")),  # type: ignore[arg-type]
        (UsageError, "have a prior", lambda: origin_probabilities(2, 2, "uniform", [1, 1])),
        (UsageError, "5 finite numbers", lambda: origin_probabilities(5, 2, "posterior", [1])),
        (UsageError, "0 everywhere", lambda: origin_probabilities(2, 2, "posterior", [0, 0])),
        (UsageError, "codes start at 0", lambda: group_records([[-1]], [0])),
        (UsageError, "whole numbers", lambda: group_records([[0.5]], [0])),
        (UsageError, "a row a record", lambda: group_records([1, 2], [0])),
        (UsageError, "2 known columns", lambda: group_records([[1, 2]], [2])),
        (UsageError, "2 known columns", lambda: group_records([[1, 2]], [])),
        (UsageError, "at least one query", lambda: range_queries([[0]], [0], FIVE, 0)),
        (UsageError, "one place a record", lambda: range_queries([[0]], SECRET, FIVE)),
        (UsageError, "as its codes say", lambda: range_queries([[3]], [0], FIVE, sizes=[3])),
    ],
)
def test_errors(kind: type[SievertError], words: str, call: Any) -> None:
    with pytest.raises(kind, match=words):
        call()


def test_errors_of_results() -> None:
    people = group_records([[0], [1]], [0])
    sample, noise = draw_sample(SECRET, FIVE, 1), add_noise([[0]] * 4, SECRET, FIVE, 0)
    for method in (sample, noise, restrict_queries(SECRET, FIVE, 2)):
        with pytest.raises(UsageError, match="one place a record"):
            method.probabilities(people)
    four = group_records([[0], [0], [0], [1]], [0])
    with pytest.raises(UsageError, match="prior of sampling"):
        sample.probabilities(four, prior="flat")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="matching is"):
        noise.probabilities(four, matching="guess")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no origin"):
        noise.probabilities(four, weights="posterior", prior=[1, 1, 1, 0, 0])
    for known, secret in (([[1]], [0]), ([[0]], [-2]), ([[0]], [4])):
        with pytest.raises(UsageError, match="than noise reaches"):
            Noisy(
                percent=50,
                known=np.array(known),
                sizes=(1,),
                spans=(0,),
                secret=np.array(secret),
                values=np.array([1.0, 2, 5]),
                span=2,
            )
    with pytest.raises(InputError, match="that of a group"):
        noise.probabilities(four, matching="likelihood")
    for wrong in ([0, 0, 0, 5], [0, 0, 0, -2], [0.0] * 4):
        with pytest.raises(UsageError, match="codes"):
            frequencies(four, wrong, 5)
    with pytest.raises(UsageError, match="one value"):
        frequencies(four, SECRET, 0)
    with pytest.raises(UsageError, match="released classes"):
        frequencies(four, SECRET, 5, [0, 0, 0, -2])
    with pytest.raises(UsageError, match="no released value"):
        frequencies(four, SECRET, 5, [0, 0, 0, -1])
    queries = range_queries([[0, 1]] * 4, SECRET, FIVE, 20)
    with pytest.raises(UsageError, match="lacks"):
        utility(queries, [[0]], [1.0])
    with pytest.raises(UsageError, match="finite confidential number"):
        utility(queries, [[0, 1]], [math.nan])


def test_large_whole_numbers_do_not_overflow() -> None:
    whole, units = scale_to_integers(np.array([0.1, 1e300]))
    assert units == 10
    assert whole.tolist() == [1, 10**301]
    top = 2**61
    _, (low, high) = chain_bounds(np.array([2 * top]), 2, 0, top)
    assert (low.tolist(), high.tolist()) == ([top, top], [top, top])


def test_the_page() -> None:
    page = Path(__file__).parents[3] / "docs" / "methods.md"
    failed, run = doctest.testfile(str(page), module_relative=False)
    assert failed == 0
    assert run > 10
