"""Chains that agree, draws that count: against slow sums, known processes and closed numbers."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from helpers.reasoningtools import batch_means, ess, mcse, rhat

from sievert.attacks.reasoning.chains import diagnose, running_means
from sievert.attacks.reasoning.posterior import bits, total_variation
from sievert.errors import UsageError
from sievert.numerics.special_functions import beta_below, beta_interval, beta_quantile


def plainly(x):
    """R-hat and ESS of one quantity by sums that follow the definitions term by term."""
    chains, draws = x.shape
    half = draws // 2
    cut = [part for chain in x for part in (chain[:half], chain[draws - half :])]
    means = [math.fsum(part) / half for part in cut]
    within = math.fsum(
        math.fsum((v - mean) ** 2 for v in part) / (half - 1)
        for part, mean in zip(cut, means, strict=True)
    ) / len(cut)
    middle = math.fsum(means) / len(cut)
    between = math.fsum((mean - middle) ** 2 for mean in means) / (len(cut) - 1)
    spread = within * (half - 1) / half + between

    def rho(lag):
        if lag == 0:
            return 1.0
        if lag >= half:
            return 0.0
        covariance = math.fsum(
            (part[i] - mean) * (part[i + lag] - mean)
            for part, mean in zip(cut, means, strict=True)
            for i in range(half - lag)
        ) / (half * len(cut))
        return 1 - (within - covariance) / spread

    kept, lag, last = [], 0, math.inf
    while lag + 1 < half and rho(lag) + rho(lag + 1) > 0:
        last = min(last, rho(lag) + rho(lag + 1))
        kept.append(last)
        lag += 2
    tau = -1 + 2 * math.fsum(kept) + max(0.0, rho(lag))
    size = chains * draws
    return math.sqrt(spread / within), size / max(tau, 1 / math.log10(size))


def autoregressive(phi, shape, seed):
    noise = np.random.default_rng(seed).normal(size=shape)
    found = np.empty(shape)
    found[:, 0] = noise[:, 0]
    for i in range(1, shape[1]):
        found[:, i] = phi * found[:, i - 1] + math.sqrt(1 - phi * phi) * noise[:, i]
    return found


@pytest.mark.parametrize("shape", [(1, 4), (1, 5), (2, 7), (3, 20), (4, 41)])
@pytest.mark.parametrize("phi", [-0.8, 0.0, 0.6])
def test_the_definitions_term_by_term(shape, phi):
    series = np.stack([autoregressive(phi, shape, seed) for seed in range(5)], axis=2)
    found = diagnose(series)
    for k in range(5):
        agreed, worth = plainly(series[:, :, k])
        assert found.rhat[k] == pytest.approx(agreed, rel=1e-12)
        assert found.ess[k] == pytest.approx(worth, rel=1e-10)
        assert found.mcse[k] == pytest.approx(
            series[:, :, k].std(ddof=1) / math.sqrt(worth), rel=1e-10
        )


@pytest.mark.parametrize("phi", [0.0, 0.3, 0.7, 0.9, -0.3, -0.6])
@pytest.mark.slow
def test_an_autoregressive_series_is_worth_what_is_known(phi):
    series = np.stack([autoregressive(phi, (4, 2000), seed) for seed in range(40)], axis=2)
    found = diagnose(series)
    known = 8000 * (1 - phi) / (1 + phi)
    assert found.ess.mean() == pytest.approx(known, rel=0.05)
    # Single estimates spread by sqrt(2·(2·W + 1)/N) of a window W of about 3·tau (Sokal 1997).
    spread = math.sqrt(2 * (6 * max(1.0, 8000 / known) + 1) / 8000)
    assert math.sqrt(np.mean((found.ess / known - 1) ** 2)) < 1.3 * spread
    assert np.all(found.rhat < 1.03)
    # Means of many series spread as their errors say.
    assert (found.mean / found.mcse).std() == pytest.approx(1.0, abs=0.35)


def test_draws_that_avoid_each_other_are_worth_no_more_than_the_bound():
    series = np.tile([1.0, -1.0], (4, 500)) + np.random.default_rng(0).normal(
        scale=0.01, size=(4, 1000)
    )
    assert float(ess(series)) == pytest.approx(4000 * math.log10(4000), rel=1e-12)


def test_shifted_chains_disagree_by_a_closed_number():
    # Halves of a chain of -1, 1 have mean 0 and variance n/(n-1): only the shifts differ.
    n, shift = 50, 3.0
    chain = np.tile([1.0, -1.0], n)
    series = np.array([chain, chain + shift])
    within = n / (n - 1)
    between = shift**2 / 3  # of 0, 0, 3, 3
    expected = math.sqrt(((n - 1) / n * within + between) / within)
    assert float(rhat(series)) == pytest.approx(expected, rel=1e-13)
    assert float(ess(series)) < 5


def test_a_moving_chain_disagrees_with_itself():
    series = np.linspace(0, 10, 400)[None, :] + np.random.default_rng(1).normal(size=(4, 400))
    assert float(rhat(series)) > 1.5


def test_what_never_changes_is_settled():
    found = diagnose(np.full((4, 10, 3), 0.1))
    assert found.rhat.tolist() == [1.0] * 3 and found.ess.tolist() == [40.0] * 3
    assert found.mcse.tolist() == [0.0] * 3 and found.mean.tolist() == [0.1] * 3
    wobble = 0.3 * (1 + 2e-16 * np.random.default_rng(0).integers(0, 4, (4, 100)))
    assert len(np.unique(wobble)) > 1
    assert (float(rhat(wobble)), float(ess(wobble)), float(mcse(wobble))) == (1.0, 400.0, 0.0)
    assert float(rhat(np.zeros((2, 6)))) == 1.0


def test_a_series_is_left_as_it_was():
    series = np.random.default_rng(2).random((3, 20, 1))
    kept = series.copy()
    diagnose(series)
    diagnose(series[:, :, 0])
    assert np.array_equal(series, kept)


def test_chains_that_stand_still_apart_never_settle():
    found = diagnose(np.repeat([[0.1], [0.2], [0.2]], 100, axis=1))
    assert float(found.rhat) == math.inf
    assert 0 < float(found.ess) < 4 and math.isfinite(float(found.mcse))
    jump = np.repeat([[0.1, 0.2], [0.1, 0.2]], 100, axis=1)
    assert float(rhat(jump)) == math.inf


def test_heavy_ties():
    draws = (np.random.default_rng(3).random((4, 1000, 20)) < 0.01).astype(float)
    found = diagnose(draws)
    assert np.all(found.rhat < 1.05) and np.all(found.ess > 1500)
    once = np.zeros((4, 100))
    once[2, 57] = 1.0
    assert math.isfinite(float(rhat(once))) and float(ess(once)) > 100


def test_a_small_change_of_a_large_number_keeps_its_digits():
    small = autoregressive(0.5, (2, 64), 7)
    shifted = diagnose(small * 2.0**-20 + 2.0**10)
    exact = (small * 2.0**-20 + 2.0**10) - 2.0**10
    assert float(shifted.ess) == pytest.approx(plainly(exact)[1], rel=1e-9)
    assert float(shifted.sd) == pytest.approx(exact.std(ddof=1), rel=1e-9)


def test_many_quantities_one_by_one_or_together():
    series = np.random.default_rng(5).random((4, 1000, 150), dtype=np.float32)  # three chunks
    together = diagnose(series)
    for k in (0, 64, 65, 66, 149):
        alone = diagnose(series[:, :, k])
        for name in ("mean", "sd", "rhat", "ess", "mcse"):
            assert float(getattr(alone, name)) == getattr(together, name)[k]
    assert diagnose(series[:, :, :0]).rhat.shape == (0,)


@pytest.mark.parametrize(
    "series", [[1.0, 2.0], [[1.0, 2.0, 3.0]], np.zeros((0, 9)), [[1.0, math.nan, 2.0, 3.0]]]
)
def test_a_series_that_is_none(series):
    with pytest.raises(UsageError):
        diagnose(series)


@pytest.mark.parametrize("draws", [1, 3, 49, 50, 51, 997])
def test_running_means(draws):
    x = np.random.default_rng(draws).normal(size=(3, draws))
    after, means = running_means(x)
    assert len(after) == min(50, draws) and after[-1] == draws and after == sorted(set(after))
    assert means.shape == (len(after), 3)
    for place, n in enumerate(after):
        for chain in range(3):
            assert means[place, chain] == pytest.approx(math.fsum(x[chain, :n]) / n, abs=1e-12)
    assert len(running_means(x, 2)[0]) == min(2, draws)
    with pytest.raises(UsageError):
        running_means(x, 0)
    with pytest.raises(UsageError):
        running_means(x[0])


def test_batches():
    x = np.random.default_rng(8).normal(size=(4, 103, 2))
    parts = batch_means(x, 10)
    assert parts.shape == (40, 2)
    assert parts[0] == pytest.approx(x[0, 3:13].mean(axis=0), rel=1e-12)
    assert parts[39] == pytest.approx(x[3, 93:].mean(axis=0), rel=1e-12)
    with pytest.raises(UsageError):
        batch_means(x, 104)


def test_the_error_of_batches_is_that_of_a_dependent_series():
    series = autoregressive(0.6, (4, 4000), 2)
    parts = batch_means(series, 25)
    error = parts.std(ddof=1) / math.sqrt(len(parts))
    assert error == pytest.approx(float(mcse(series)), rel=0.25)


EXTREMES = [0.001, 0.3, 1.0, 17.5, 3000.0, 1e7]


@pytest.mark.parametrize("b", EXTREMES)
@pytest.mark.parametrize("c", EXTREMES)
def test_intervals_of_beta_variables(b, c):
    """One Newton step in 40 digits from an end shows how far it is from the exact one."""
    for p, end in zip((0.05, 0.95), beta_interval(b, c), strict=True):
        with mpmath.workdps(40):
            x, one = mpmath.mpf(end), mpmath.mpf(1)
            if end in (0.0, 1.0):  # less than the least double from there
                at = mpmath.mpf("1e-290") if end == 0.0 else one - mpmath.mpf("1e-16")
                lies = incomplete(b, c, at)
                assert lies > p if end == 0.0 else lies < p
                continue
            lies = incomplete(b, c, x)
            density = x ** (b - one) * (1 - x) ** (c - one) / mpmath.beta(b, c)
            away = abs((lies - mpmath.mpf(p)) / density)
            assert away <= 1e-11 * x
            assert away <= 1e-11 * (1 - x) + 2.3e-16


def incomplete(b, c, x):
    """P(Beta(b, c) <= x) by a power series of x or of 1 - x, or as the area of a narrow peak."""

    def small(b, c, x):  # alternating: x^b/(b·B)·sum of (1-c)_n·b/((b+n)·n!)·x^n
        found, term, n = 0, mpmath.mpf(1), 0
        while abs(term) > mpmath.mpf("1e-45") or n < 3:
            found += term * b / (b + n)
            n += 1
            term *= (n - c) / n * x
        return mpmath.exp(b * mpmath.log(x) - mpmath.log(b * mpmath.beta(b, c))) * found

    def large(b, c, x):  # all terms positive
        found = term = mpmath.mpf(1)
        n = 0
        while term > found * mpmath.mpf("1e-28"):
            term *= (b + c + n) / (b + 1 + n) * x
            found, n = found + term, n + 1
        return mpmath.exp(b * mpmath.log(x) + c * mpmath.log(1 - x) - whole) / b * found

    def peak(b, c, x):  # what lies further left is below 1e-40
        start = b / (b + c) - 14 * mpmath.sqrt(b * c / (b + c) ** 3)
        at = mpmath.linspace(start, x, 8)
        return mpmath.quad(
            lambda z: mpmath.exp((b - 1) * mpmath.log(z) + (c - 1) * mpmath.log(1 - z) - whole), at
        )

    b, c = mpmath.mpf(b), mpmath.mpf(c)
    whole = mpmath.log(mpmath.beta(b, c))
    if b > 1000 and c > 1000:
        return peak(b, c, x)
    if x < 0.5 and c * x < 30:
        return small(b, c, x)
    if x > 0.5 and b * (1 - x) < 30:
        return 1 - small(c, b, 1 - x)
    return large(b, c, x) if x * (b + c) < b else 1 - large(c, b, 1 - x)


def test_quantiles_with_closed_forms():
    assert beta_quantile(1.0, 1.0, 0.3) == pytest.approx(0.3, rel=1e-15)
    assert beta_quantile(5.0, 1.0, 0.01) == pytest.approx(0.01**0.2, rel=1e-14)
    assert beta_quantile(1.0, 4.0, 0.99) == pytest.approx(1 - 0.01**0.25, rel=1e-14)
    assert beta_quantile(0.5, 0.5, 0.2) == pytest.approx(math.sin(math.pi * 0.1) ** 2, rel=1e-14)
    assert beta_quantile(7.0, 7.0, 0.5) == pytest.approx(0.5, rel=1e-15)
    assert beta_below(3.0, 2.0, 0.0) == 0.0 and beta_below(3.0, 2.0, 1.0) == 1.0
    for level in (0.0, 1.0, math.nan):
        with pytest.raises(UsageError):
            beta_interval(1.0, 1.0, level)
    for wrong in ((0.0, 1.0), (1.0, math.inf), (-1.0, 1.0)):
        with pytest.raises(UsageError):
            beta_interval(*wrong)
    with pytest.raises(UsageError):
        beta_quantile(1.0, 1.0, 1.0)


def test_how_far_two_distributions_are_apart():
    assert bits([0.5, 0.5], [0.25, 0.75]).value == pytest.approx(
        0.5 * math.log2(2) + 0.5 * math.log2(2 / 3), rel=1e-14
    )
    assert bits([0.2, 0.8], [0.2, 0.8]).value == 0.0
    assert bits([0.0, 1.0, 0.0], [0.5, 0.5, 0.0]).value == 1.0
    missing = bits([0.5, 0.5], [0.0, 1.0])
    assert missing.value is None and missing.reason == "unbounded"
    assert bits([1.0, 0.0], [1e-310, 1.0]).value == pytest.approx(310 * math.log2(10), rel=1e-12)
    # 1e-9 apart: the difference of logarithms alone would leave no digit.
    p, q = [0.5 + 1e-9, 0.5 - 1e-9], [0.5, 0.5]
    assert bits(p, q).value == pytest.approx(2 * (p[0] - 0.5) ** 2 / math.log(2), rel=1e-6)
    assert total_variation([1.0, 0.0], [0.0, 1.0]) == 1.0
    for wrong in (([1.0], [0.5, 0.5]), ([0.5, 0.4], [0.5, 0.5]), ([1.5, -0.5], [0.5, 0.5])):
        with pytest.raises(UsageError):
            bits(*wrong)
