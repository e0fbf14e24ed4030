"""From the sample to the population: every digit against mpmath, and the laws of the measures."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from random import Random
from typing import Any

import mpmath
import numpy as np
import pytest
from helpers.effort import tried
from hypothesis import given, settings
from hypothesis import strategies as st

from sievert.counts.answers import Sizes
from sievert.numerics import special_functions
from sievert.population import (
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
from sievert.population.estimate import SampleClasses

TOLERANCE = 1e-12
MANY = settings(max_examples=tried(75, soak=150), deadline=None, derandomize=True)
HISTOGRAM = st.dictionaries(st.integers(2, 60), st.integers(1, 200), min_size=1, max_size=8)
ONES = st.integers(1, 500)


def close(ours: float | None, due: Any, tolerance: float = TOLERANCE) -> None:
    assert ours is not None
    assert abs(mpmath.mpf(ours) - due) <= tolerance * abs(due), f"{ours!r} against {due}"


def histogram(ones: int, others: dict[int, int]) -> Sizes:
    return Sizes.from_arrays([1, *others], [ones, *others.values()])


def rows(sizes: Sizes) -> list[tuple[int, int]]:
    return [(int(i), int(c)) for i, c in zip(sizes.sizes, sizes.times, strict=True)]


# Zayatz and Shlosser.


def exact_zayatz(sizes: Sizes, population: int) -> Fraction:
    """The definition, in fractions."""
    n, terms = sizes.records, Fraction(0)
    for i, c in rows(sizes):
        chance = i * Fraction(n, population)
        for j in range(1, i):
            chance *= Fraction(max(0, population - n - j + 1), population - j)
        terms += c * chance
    ones = dict(rows(sizes)).get(1, 0)
    theta = ones * Fraction(n, population) / terms
    return ones * theta / n


@given(ONES, HISTOGRAM, st.integers(1, 10_000))
@MANY
def test_zayatz_is_the_definition(ones: int, others: dict[int, int], unseen: int) -> None:
    sizes = histogram(ones, others)
    population = sizes.records + unseen
    due = exact_zayatz(sizes, population)
    close(zayatz(sizes, population).value, mpmath.mpf(due.numerator) / due.denominator)


BIG = [
    ([1, 2, 3, 1000, 10**6], [10**6, 10**5, 10**4, 1000, 900], 10**10),
    ([1, 2, 700, 40_000, 650_000], [5, 3, 2, 1, 1], 10**10),
    (list(range(1, 1200)), [7] * 1199, 10**10),
    ([1, 5, 10**9 - 20], [10, 2, 1], 10**9 + 3),
    ([1, 2, 9, 100], [3, 2, 1, 1], 10**12),
]


@pytest.mark.parametrize(("sizes", "times", "population"), BIG)
def test_zayatz_and_shlosser_of_large_numbers(
    sizes: list[int], times: list[int], population: int
) -> None:
    """Up to 10^12 people; the product as a quotient of gamma functions with 60 digits."""
    found = Sizes.from_arrays(sizes, times)
    n = found.records
    with mpmath.workdps(80):
        f, terms = mpmath.mpf(n) / population, []
        for i, c in rows(found):
            if i - 1 > population - n:
                continue
            top, bottom = population - n, population - 1
            log = mpmath.loggamma(top + 1) - mpmath.loggamma(top - i + 2)
            log -= mpmath.loggamma(bottom + 1) - mpmath.loggamma(bottom - i + 2)
            terms.append(c * i * mpmath.exp(log))
        close(zayatz(found, population).value, mpmath.mpf(times[0]) ** 2 / mpmath.fsum(terms) / n)
        pairs = rows(found)
        first = mpmath.fsum(c * i * f**2 * (1 - f**2) ** (i - 1) for i, c in pairs)
        second = mpmath.fsum(c * ((1 - f**2) ** i - (1 - f) ** i) for i, c in pairs)
        above = mpmath.fsum(c * (1 - f) ** i for i, c in pairs)
        below = mpmath.fsum(c * i * f * (1 - f) ** (i - 1) for i, c in pairs)
        due = found.things + times[0] * first / second * (above / below) ** 2
        close(shlosser(found, population), due)


# Pitman.


@pytest.mark.parametrize("m", [1, 2, 15, 16, 17, 1000, 10**9])
@pytest.mark.parametrize("z", [1e-6, 0.3, 1.0, 15.99, 16.0, 17.3, 1e3, 1e6, 1e12])
def test_sums_of_reciprocals(z: float, m: int) -> None:
    with mpmath.workdps(80):
        x = mpmath.mpf(z)
        rise = mpmath.digamma(x + m) - mpmath.digamma(x)
        close(special_functions.rise(z, m), rise, 1e-14)
        close(float(special_functions.rises(z, np.array([m]))[0]), rise, 1e-14)
        due = m - x * (mpmath.digamma(x + m + 1) - mpmath.digamma(x + 1))
        close(special_functions.weighted_rise(z, m), due, 1e-14)


@pytest.mark.parametrize("d", [0.0, 1e-9, 0.3, 0.999, 1.0])
@pytest.mark.parametrize("x", [1e-9, 0.2, 1.0, 15.5, 16.0, 733.7, 1e6, 1e10, 1e18])
def test_steps_of_the_gamma_function(x: float, d: float) -> None:
    with mpmath.workdps(80):
        exact = mpmath.mpf(x)
        due = mpmath.exp(mpmath.loggamma(exact + mpmath.mpf(d)) - mpmath.loggamma(exact))
        close(math.exp(special_functions.log_gamma_step(x, d)), due, 1e-13)


def likelihood(sizes: Sizes, theta: Any, alpha: Any) -> Any:
    """The logarithm of Pitman's sampling formula, factor by factor."""
    u, n = sizes.things, sizes.records
    found = mpmath.log(mpmath.fprod(theta + j * alpha for j in range(1, u)))
    found -= mpmath.log(mpmath.fprod(theta + j for j in range(1, n)))
    for i, c in rows(sizes):
        found += c * mpmath.log(mpmath.fprod(j - alpha for j in range(1, i)))
    return found


@pytest.mark.parametrize("seed", range(tried(12, soak=25)))
def test_pitman_is_the_maximum(seed: int) -> None:
    """Nowhere near or far is the likelihood greater; the score equations hold to 1e-9."""
    random = Random(seed)
    others = {random.randint(2, 40): random.randint(1, 30) for _ in range(random.randint(1, 5))}
    sizes = histogram(random.randint(1, 120), others)
    found = pitman(sizes, 10 * sizes.records)
    theta, alpha = found.details["theta"], found.details["alpha"]
    with mpmath.workdps(30):
        here = likelihood(sizes, mpmath.mpf(max(theta, 1e-300)), mpmath.mpf(alpha))
        near = [(theta * (1 + a), alpha + b) for a in (-1e-3, 0, 1e-3) for b in (-1e-3, 0, 1e-3)]
        far = [(10 ** random.uniform(-2, 4), random.random()) for _ in range(30)]
        for t, a in near + far:
            if t > 0 and 0 <= a < 1:
                assert likelihood(sizes, mpmath.mpf(t), mpmath.mpf(a)) <= here + mpmath.mpf(1e-9)
        u, n = sizes.things, sizes.records
        t, a = mpmath.mpf(theta), mpmath.mpf(alpha)
        if theta > 0:
            left = mpmath.fsum(1 / (t + j * a) for j in range(1, u))
            close(float(left), mpmath.fsum(1 / (t + j) for j in range(1, n)), 1e-9)
        if alpha > 0:
            left = mpmath.fsum(j / (t + j * a) for j in range(1, u))
            falling = (c * mpmath.fsum(1 / (j - a) for j in range(1, i)) for i, c in rows(sizes))
            close(float(left), mpmath.fsum(falling), 1e-9)


LARGE = [
    ([1, 2, 3, 50, 10**6], [10**8, 10**7, 10**6, 1000, 5], 10**10),
    ([1, 2, 3], [10**9 - 5, 1, 1], 10**10),
    ([1, 2], [998, 1], 10**10),
    (list(range(1, 44_000)), [1] * 43_999, 10**10),
    ([1, 2, 4, 10**5], [10**5, 10**4, 10**3, 10**3], 10**10),
]


@pytest.mark.parametrize(("sizes", "times", "population"), LARGE)
def test_pitman_of_large_numbers(sizes: list[int], times: list[int], population: int) -> None:
    """10^9 records: the score equations by digamma functions of 60 digits, both shares exact.

    To 1e-9, or to what the last digit of alpha leaves where alpha is almost 1.
    """
    found = Sizes.from_arrays(sizes, times)
    estimate = pitman(found, population)
    u, n = found.things, found.records
    with mpmath.workdps(60):
        t, a = (mpmath.mpf(estimate.details[x]) for x in ("theta", "alpha"))
        digamma = mpmath.digamma
        left = (digamma(t / a + u) - digamma(t / a + 1)) / a if a else (u - 1) / t
        right = digamma(t + n) - digamma(t + 1)
        if t:
            close(float(left), right, 1e-9)
        else:
            assert left < right and estimate.details["edge"] == "theta = 0"
        if a:
            falling = mpmath.fsum(c * (digamma(i - a) - digamma(1 - a)) for i, c in rows(found))
            close(float((u - 1 - t * left) / a), falling, 1e-9 + 2e-16 / float(1 - a))
        ratio = mpmath.gammaprod([t + 1], [t + a]) if t < 1e6 else None
        ratio = ratio or mpmath.exp(mpmath.loggamma(t + 1) - mpmath.loggamma(t + a))
        large = ratio * mpmath.mpf(population) ** (a - 1)
        tail = mpmath.loggamma(t + a + population - 1) - mpmath.loggamma(t + population)
        exact = ratio * mpmath.exp(tail)
        close(estimate.details["exact"], exact)
        close(estimate.value, large if estimate.details["form"] == "large N" else exact)
        assert (large <= 1) == (estimate.details["form"] == "large N")


@pytest.mark.parametrize("lost", [1, 1000])
@pytest.mark.parametrize("theta", [3.0, 1e9, 1e12, 1e17])
@pytest.mark.parametrize("alpha", [0.0, 0.3, 0.99])
def test_score_of_a_nearly_unique_sample(alpha: float, theta: float, lost: int) -> None:
    """10^9 records in almost as many classes: the two sums differ by one part in 10^9 or less.

    Their parts around it are what rounding is measured by.
    """
    n, u = 10**9, 10**9 - lost
    with mpmath.workdps(60):
        t, a, digamma = mpmath.mpf(theta), mpmath.mpf(alpha), mpmath.digamma
        left = (digamma(t / a + u) - digamma(t / a + 1)) / a if a else (u - 1) / t
        due = t * (left - (digamma(t + n) - digamma(t + 1)))
        rest = t * (digamma(t + n) - digamma(t + u)) if theta > u else t * left
        assert abs(inside._theta_score(theta, alpha, u, n) - due) <= 1e-12 * (abs(due) + rest)


@pytest.mark.parametrize(("n", "population"), [(1, 10**10), (5, 7), (10**10 - 1, 10**10)])
def test_logarithm_of_the_unseen(n: int, population: int) -> None:
    sample = SampleClasses.from_sizes(Sizes.from_arrays([1], [n]), population)
    with mpmath.workdps(40):
        close(sample.log_outside, mpmath.log(1 - mpmath.mpf(n) / population), 1e-15)


# The slide negative binomial model.


@given(ONES, HISTOGRAM, st.integers(1, 500), st.floats(0.001, 0.99))
@MANY
def test_snb_solves_its_equations(
    ones: int, others: dict[int, int], twos: int, fraction: float
) -> None:
    """As they are published, with 60 digits; the expected counts are c_1 and c_2 to 1e-9."""
    sizes = histogram(ones, {**others, 2: twos})
    population = math.ceil(sizes.records / fraction)
    found = snb(sizes, population)
    if found.value is None:
        assert found.reason == inside.NO_SOLUTION
        return
    with mpmath.workdps(60):
        k, alpha, log = (mpmath.mpf(found.details[x]) for x in ("classes", "alpha", "log_beta"))
        beta = mpmath.exp(log)
        f = mpmath.mpf(sizes.records) / population
        d = (1 - f) * (1 - beta)
        base = (beta / (1 - d)) ** alpha
        close(ones, k * f * base * (1 + alpha * d / (1 - d)), 1e-9)
        square = alpha * (1 - beta) * base / (1 - d) ** 2 * (2 - (1 - alpha) * d)
        close(twos, k * f**2 / 2 * square, 1e-9)
        close(found.value, k * beta**alpha / population, 1e-11)


@pytest.mark.parametrize("f", [0.05, 0.3])
@pytest.mark.parametrize(("alpha", "beta"), [(0.1, 0.1), (1.0, 0.4), (3.0, 0.02)])
def test_snb_equations_are_the_model(alpha: float, beta: float, f: float) -> None:
    """The generating function, summed term by term: a class of F people leaves i in the sample."""
    chance, expected = beta**alpha, [0.0, 0.0]
    for size in range(1, 4000):
        expected[0] += chance * size * f * (1 - f) ** (size - 1)
        expected[1] += chance * size * (size - 1) / 2 * f**2 * (1 - f) ** max(0, size - 2)
        chance *= (alpha + size - 1) / size * (1 - beta)
    model = inside._Slide(
        classes=10**6,
        fraction=f,
        outside=1 - f,
        alone=10**6 * expected[0],
        pairs=10**6 * expected[1],
    )
    x = math.log(beta / (1 - beta))
    assert model.alpha(x) == pytest.approx(alpha, rel=1e-9)
    assert model.excess(x) == pytest.approx(0, abs=1e-9)
    assert max(map(abs, model.residuals(x))) < 1e-9


@pytest.mark.parametrize("f", [1e-9, 1e-5, 0.3])
@pytest.mark.parametrize("x", [-700.0, -20.0, -1.0, 0.0, 3.0, 30.0])
def test_every_digit_of_the_reduced_equation(x: float, f: float) -> None:
    """alpha from the quadratic and the first equation from it, with 60 digits."""
    model = inside._Slide(classes=5e6, fraction=f, outside=1 - f, alone=1000, pairs=120)
    with mpmath.workdps(400):
        beta = 1 / (1 + mpmath.exp(-x))
        share = mpmath.mpf(f)
        d = (1 - share) * (1 - beta)
        rest, r = 1 - d, mpmath.mpf(120) / 1000
        a = share * (1 - beta) * d / 2
        b = share * (1 - beta) * (2 - d) / 2 - r * rest * d
        alpha = (-b + mpmath.sqrt(b * b + 4 * a * r * rest * rest)) / (2 * a)
        close(model.alpha(x), alpha, 1e-11)
        ones = mpmath.log(5000 * share) + alpha * mpmath.log(beta / rest)
        ones += mpmath.log1p(alpha * d / rest)
        assert abs(model.excess(x) - ones) <= 1e-11 * (1 + abs(ones))


# Laws of the estimates.


@given(ONES, HISTOGRAM, st.integers(1, 10**6))
@MANY
def test_estimates_are_shares(ones: int, others: dict[int, int], unseen: int) -> None:
    """Within [0, 1]; Zayatz and SNB never above the sample's own share; never NaN."""
    sizes = histogram(ones, others)
    population = sizes.records + unseen
    share = ones / sizes.records
    for estimate in (zayatz, snb):
        value = estimate(sizes, population).value
        assert value is None or 0 <= value <= share * (1 + 1e-12)
    for estimate in (pitman, dankar, unique_match):
        value = estimate(sizes, population).value
        assert value is not None and 0 <= value <= 1
    details = pitman(sizes, population).details
    assert 0 < details["exact"] <= 1
    taken = dankar(sizes, population)
    assert taken.value == taken.details["considered"][taken.details["taken"]]


@given(ONES, HISTOGRAM, st.integers(1, 1000), st.integers(1, 1000))
@MANY
def test_a_larger_population_has_a_smaller_share(
    ones: int, others: dict[int, int], unseen: int, more: int
) -> None:
    sizes = histogram(ones, others)
    small, large = sizes.records + unseen, sizes.records + unseen + more
    for estimate in (zayatz, pitman, unique_match):
        above, below = estimate(sizes, small).value, estimate(sizes, large).value
        assert above is not None and below is not None
        if estimate is not pitman or pitman(sizes, small).details["form"] == "large N":
            assert below <= above * (1 + 1e-12)
    exact = [pitman(sizes, n).details["exact"] for n in (small, large)]
    assert exact[1] <= exact[0] * (1 + 1e-12)


@given(ONES, HISTOGRAM, st.randoms(use_true_random=False))
@MANY
def test_the_order_of_sizes_does_not_matter(
    ones: int, others: dict[int, int], random: Random
) -> None:
    pairs = [(1, ones), *others.items()]
    random.shuffle(pairs)
    mixed = Sizes.from_arrays([i for i, _ in pairs], [c for _, c in pairs])
    sizes = histogram(ones, others)
    population = 5 * sizes.records
    for estimate in (zayatz, pitman, snb, dankar, unique_match):
        assert estimate(sizes, population) == estimate(mixed, population)


def people(random: np.random.Generator, classes: int, total: int) -> Any:
    """The class of each person of a population: a few classes are large, most are small."""
    chances = random.pareto(0.8, classes) + 0.01
    return random.choice(classes, total, p=chances / chances.sum())


def sampled(random: np.random.Generator, population: Any, n: int) -> Known:
    """A simple random sample, and the people in each class."""
    everybody = np.bincount(population)
    some = np.bincount(random.choice(population, n, replace=False), minlength=len(everybody))
    kept = everybody > 0
    return Known.of(some[kept], everybody[kept], np.ones(int(kept.sum()), dtype=int))


@pytest.mark.parametrize("fraction", [0.1, 0.3])
def test_simulated_population_with_known_uniques(fraction: float) -> None:
    """Means over samples of a population whose uniques are counted.

    Zayatz and SNB lie within a third of the truth here; the standard error of the match covers it.
    """
    random = np.random.default_rng(7)
    population = people(random, 20_000, 20_000)
    n = int(fraction * len(population))
    true = float((np.bincount(population) == 1).sum()) / len(population)
    shares: dict[str, list[float]] = {"zayatz": [], "pitman": [], "snb": []}
    off: list[float] = []
    for _ in range(12):
        known = sampled(random, population, n)
        for estimate in (zayatz, pitman, snb):
            value = estimate(known.sizes, len(population)).value
            assert value is not None
            shares[estimate.__name__].append(value)
        guess, truth = unique_match(known.sizes, len(population)), known_unique_match(known)
        assert guess.value is not None and truth.value is not None
        off.append((guess.value - truth.value) / guess.details["standard_error"])
    for name, found in shares.items():
        assert np.mean(found) == pytest.approx(true, rel=0.35), name
    assert abs(np.mean(off)) < 1.2 and max(map(abs, off)) < 4


# Laws of the known population.

KNOWN = st.lists(
    st.tuples(st.integers(0, 20), st.integers(0, 50), st.integers(1, 9)), min_size=1, max_size=12
).filter(lambda rows: any(f for f, _, _ in rows))


def known(triples: list[tuple[int, int, int]]) -> Known:
    """f and F - f, so that F is never too small; a class nobody is in has one person."""
    f, more, times = zip(*triples, strict=True)
    all_of = [a + b or 1 for a, b in zip(f, more, strict=True)]
    return Known.of(f, all_of, times)


@given(KNOWN)
@MANY
def test_attackers_in_order(triples: list[tuple[int, int, int]]) -> None:
    """marketer <= journalist's average <= its highest <= prosecutor's highest; all agree on F = f.

    The sums are exact fractions.
    """
    found = known(triples)
    risk, jury = marketer(found).value, journalist(found)
    accused = prosecutor(found.sizes)
    assert risk is not None and jury.value is not None and accused.value is not None
    assert risk <= jury.value <= jury.details["highest"] * (1 + 1e-15)
    assert jury.details["highest"] <= accused.details["highest"]
    assert jury.value <= accused.value * (1 + 1e-15)
    pairs = list(zip(found.sample, found.population, found.times, strict=True))
    due = sum(Fraction(int(f * t), int(F)) for f, F, t in pairs) / found.records
    close(risk, mpmath.mpf(due.numerator) / due.denominator, 1e-15)
    for x in (0.05, 0.1, 0.2):
        above = sum(int(f * t) for f, F, t in pairs if Fraction(1, int(F)) > Fraction(str(x)))
        assert jury.details["at_risk"][f"{x:g}"] == above / found.records
    same = Known.alone(found.sizes)
    for value in (marketer(same).value, journalist(same).value):
        assert value == accused.value == prosecutor(same.sizes).value


@given(KNOWN, st.integers(0, 1000), st.floats(0, 1), st.floats(0, 1))
@MANY
def test_truta_in_order(
    triples: list[tuple[int, int, int]], more: int, some: float, other: float
) -> None:
    """minimal <= weighted <= maximal = n/N times the marketer's; the ends are special weights."""
    found = known(triples)
    total = found.people(sampled=False) + more
    low, high = truta_minimal(found, total).value, truta_maximal(found, total).value
    assert low is not None and high is not None
    pair = (int(found.sample[-1]), int(found.population[-1]))
    weights = {pair: some, (1, 1): 1.0}
    value = truta_weighted(found, total, weights, otherwise=other).value
    assert value is not None
    assert low * (1 - 1e-15) <= value <= high * (1 + 1e-15)
    assert truta_weighted(found, total, {(1, 1): 3.0}).value == pytest.approx(low, rel=1e-15)
    assert truta_weighted(found, total, {}, otherwise=2.0).value == high
    assert high == pytest.approx(marketer(found).value * found.records / total, rel=1e-14)


# Individual risk.


@given(
    st.one_of(st.integers(1, 60), st.floats(1, 60), st.integers(1, 10**6)),
    st.floats(-12, 10),
)
@settings(max_examples=tried(100, soak=200), deadline=None, derandomize=True)
def test_every_digit_of_the_individual_risk(f: float, exponent: float) -> None:
    """Any frequency, whole or not, p from 10^-10 to 1 - 10^-12."""
    found = Weighted.of_records(np.array([float(f)]), np.array([float(f) * (1 + 10**exponent)]))
    with mpmath.workdps(40):
        n, odds = mpmath.mpf(float(f)), mpmath.mpf(float(found.excess[0])) / mpmath.mpf(float(f))
        p, rest = 1 / (1 + odds), odds / (1 + odds)
        due = p / n * mpmath.hyp2f1(1, 1, n + 1, rest)
        if f <= 10:
            form = p**n / n * mpmath.hyp2f1(n, n, n + 1, rest)
            close(float(due), form, 1e-15)
        close(float(individual_risk(found)[0]), due)


@pytest.mark.parametrize("odds", [1e-12, 0.5, 1.0, 1.0 + 1e-9, 30.0, 1e4, 1e10])
@pytest.mark.parametrize("f", [1, 1.01, 1.5, 1.99, 2, 3, 7.3, 19, 19.99, 20, 21.5, 1000])
def test_where_one_form_hands_over_to_the_next(f: float, odds: float) -> None:
    """The seams between series, recurrence and quadrature, to 1e-13."""
    found = Weighted.of_records(np.array([float(f)]), np.array([float(f) * (1 + odds)]))
    with mpmath.workdps(40):
        n = mpmath.mpf(float(f))
        exact = mpmath.mpf(float(found.excess[0])) / n
        due = mpmath.hyp2f1(1, 1, n + 1, exact / (1 + exact)) / (1 + exact) / n
        close(float(individual_risk(found)[0]), due, 1e-13)


@given(
    st.lists(st.tuples(st.floats(1, 40), st.floats(0, 6)), min_size=2, max_size=30),
    st.sampled_from(["exact", "approx"]),
)
@MANY
def test_individual_risk_lies_between_and_falls(
    pairs: list[tuple[float, float]], method: str
) -> None:
    """1/F <= r <= 1/f; more people or more records (F the same): less risk; approx >= exact."""
    f = np.array([a for a, _ in pairs])
    weight = f * 10 ** np.array([b for _, b in pairs])
    risks = individual_risk(Weighted.of_records(f, weight), method)
    edge = 1 + 1e-12
    assert (1 / weight <= risks * edge).all() and (risks <= edge / f).all()
    assert (individual_risk(Weighted.of_records(f, 1.5 * weight)) <= risks * edge).all()
    more = np.minimum(1.3 * f, weight)
    exact = individual_risk(Weighted.of_records(f, weight))
    assert (individual_risk(Weighted.of_records(more, weight)) <= exact * edge).all()
    assert (exact <= individual_risk(Weighted.of_records(f, weight), "approx") * edge).all()


def test_individual_risk_is_the_mean_of_a_negative_binomial() -> None:
    """E[1/F] over P(F = h) = C(h-1, f-1) p^f (1-p)^(h-f), summed term by term."""
    for f, p in itertools.product((1, 2, 3, 7), (0.05, 0.4, 0.9)):
        chance, total = p**f, 0.0
        for h in range(f, 3000):
            total += chance / h
            chance *= h / (h - f + 1) * (1 - p)
        risk = individual_risk(Weighted.of_records([f], [Fraction(f) / Fraction(str(p))]))
        assert float(risk[0]) == pytest.approx(total, rel=1e-12)


@given(st.dictionaries(st.integers(1, 30), st.integers(1, 100), min_size=1, max_size=9))
@MANY
def test_weights_of_one_are_no_weights(counts: dict[int, int]) -> None:
    """p = 1: r = 1/f exactly, the expected number is that of the classes, the mean u/n."""
    f, times = list(counts), list(counts.values())
    found = Weighted.of_classes(f, f, times)
    assert individual_risk(found).tolist() == [1 / n for n in f]
    assert expected_reidentifications(found).value == pytest.approx(sum(times), rel=1e-15)
    sizes = Sizes.from_arrays(f, times)
    assert global_risk(found).value == pytest.approx(prosecutor(sizes).value, rel=1e-15)


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 4)), min_size=1, max_size=20))
@MANY
def test_households(members: list[tuple[float, int]]) -> None:
    """At least the riskiest member, at most the sum of all; every digit; the order is nothing."""
    risks, ids = [r for r, _ in members], [h for _, h in members]
    found = household_risks(risks, ids)
    for home in set(ids):
        own = [r for r, h in members if h == home]
        value = {float(x) for x, h in zip(found, ids, strict=True) if h == home}
        assert len(value) == 1
        one = value.pop()
        assert max(own) <= one <= min(1.0, sum(own) * (1 + 1e-12))
        with mpmath.workdps(400):
            due = 1 - mpmath.fprod(1 - mpmath.mpf(r) for r in own)
            close(one, due)
    assert household_risks(risks[::-1], ids[::-1]).tolist() == found.tolist()[::-1]
    summary = household_risk(risks, ids)
    assert summary.value is not None
    assert summary.details["households"] == len(set(ids))
    assert summary.details["expected_households"] <= summary.details["expected"] * (1 + 1e-12)


# Dominance.


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=9), st.integers(1, 90))
@MANY
def test_p_percent_flags_no_more_than_dominance(amounts: list[int], p: int) -> None:
    """The handbook's A: what n = 2, k = 10000/(100 + p) lets pass, the p% rule lets pass."""
    lead = dominance(amounts, 2, Fraction(10_000, 100 + p))
    left = p_percent(amounts, p)
    assert left.details["flagged"] <= lead.details["flagged"]
    assert (lead.value is None) == (left.value is None) == (not any(amounts))
    top = sorted(amounts, reverse=True)
    assert dominance(top[:2], 2, Fraction(10_000, 100 + p), total=sum(amounts)) == lead
    assert p_percent(top[:2], p, total=sum(amounts)) == left
    shares = [dominance(amounts, n).value or 0 for n in (1, 2, 3)]
    assert shares == sorted(shares)
