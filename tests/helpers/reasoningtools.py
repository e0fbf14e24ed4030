"""Slower ways to the same numbers, which tests of reasoning compare with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.attacks.reasoning.chains import diagnose
from sievert.attacks.reasoning.domains import Domain
from sievert.attacks.reasoning.horizontal.gibbs import UrnSampler
from sievert.attacks.reasoning.published_learner import CELLS, STEP, TAIL, Mixture
from sievert.attacks.reasoning.value_sets import Labels
from sievert.errors import UsageError


def label_set(label: str | None, domain: Domain, *rest: Any, **options: Any) -> Ints:
    """The positions of the values that one label may stand for."""
    return Labels.read([label], domain, *rest, **options).sets[0]


def shares_at(chain: UrnSampler, values: Floats, rows: Any, places: Any) -> Floats:
    """Of a reading, the shares at some places of the factor's members, a row of secrets each."""
    return values.take(chain.layout.spots(rows, places))


def dense_shares(chain: UrnSampler, values: Floats) -> Floats:
    """Of a reading, the shares at all places, a row for each secret."""
    rows, places = len(chain.layout.offsets), len(chain.layout.factor.members)
    every = np.tile(np.arange(places), rows)
    row = np.repeat(np.arange(rows), places)
    return shares_at(chain, values, row, every).reshape(rows, places)


def rhat(series: Any) -> Floats:
    """Split R-hat of each quantity."""
    return diagnose(series).rhat


def ess(series: Any) -> Floats:
    """The effective sample size of the mean of each quantity."""
    return diagnose(series).ess


def mcse(series: Any) -> Floats:
    """The Monte Carlo standard error of the mean of each quantity."""
    return diagnose(series).mcse


def batch_means(series: Any, count: int) -> Floats:
    """Means of `count` batches of each chain, one after another: shape (chains·count, ...).

    The first draws that fill no batch are left out.

    >>> batch_means([[9.0, 1.0, 3.0, 5.0, 7.0]], 2)
    array([2., 6.])
    """
    numbers = np.asarray(series, dtype=np.float64)
    if numbers.ndim < 2 or not 1 <= count <= numbers.shape[1]:
        raise UsageError("a chain has one draw at least for every batch")
    size = numbers.shape[1] // count
    kept = numbers[:, numbers.shape[1] - size * count :]
    return np.asarray(
        kept.reshape(numbers.shape[0] * count, size, *numbers.shape[2:]).mean(axis=1),
        dtype=np.float64,
    )


def shares_of_draws(gammas: Sequence[float], pis: Any) -> Floats:
    """The mean over draws of E[G_s·pi_s / sum_z G_z·pi_z], pi being as drawn, for every s.

    `pis` has shape (draws, secrets); the Gamma variables are integrated out, not drawn.

    >>> shares_of_draws([2.0, 1.0, 1.0], [[0.5, 0.5, 0.5], [0.1, 0.1, 0.1]]).round(12)
    array([0.5 , 0.25, 0.25])
    """
    a = np.asarray(gammas, dtype=np.float64)
    pi = np.asarray(pis, dtype=np.float64)
    if pi.ndim != 2 or len(pi) == 0 or pi.shape[1] != len(a):
        raise UsageError("draws have one number for every secret")
    if not np.isfinite(pi).all() or (pi < 0).any() or not (pi > 0).any(axis=1).all():
        raise UsageError("drawn shares are finite and not negative, and not 0 for every secret")
    pi = pi / pi.max(axis=1, keepdims=True)
    # Runner s arrives by u with 1 - (1 + u·pi_s)^(-a_s): before the grid and after it, nobody does.
    low = -TAIL - math.log(max(1.0, float(a.sum())))
    slow = TAIL / float(np.where(pi == 1.0, a, 0.0).max(axis=1).min())
    high = slow + math.log(-math.expm1(-slow))
    y = np.arange(low, high + 2 * STEP, 2 * STEP)
    with np.errstate(divide="ignore"):
        logs = np.log(pi)
    total = np.zeros(len(a))
    step = max(1, CELLS // (len(a) * len(y)))
    for at in range(0, len(logs), step):
        x = logs[at : at + step, :, None] + y
        more = np.logaddexp(0.0, x)
        alive = (a[:, None] * more).sum(axis=1, keepdims=True)
        total += np.exp(x - more - alive).sum(axis=(0, 2)) * a
    return np.asarray(total * (2 * STEP / len(pi)))


def simulate_shares(
    gammas: Sequence[float], betas: Sequence[Mixture], draws: int, generator: np.random.Generator
) -> tuple[Floats, Floats]:
    """`shares` by drawing all variables, in logarithms: means and their standard errors.

    For parameters of any size, those that are too small for `shares` too.
    """
    if draws < 2:
        raise UsageError("a standard error needs two draws at least")
    runners = list(zip(gammas, betas, strict=True))
    log = np.empty((len(runners), draws))
    for s, (a, mixture) in enumerate(runners):
        log[s] = log_gamma_draws(a, draws, generator)
        weights = np.array([weight for weight, _ in mixture])
        chosen = generator.choice(len(mixture), draws, p=weights / weights.sum())
        for k, (_, pairs) in enumerate(mixture):
            here = np.flatnonzero(chosen == k)
            for b, c in pairs:
                one = log_gamma_draws(b, len(here), generator)
                log[s, here] += one - np.logaddexp(one, log_gamma_draws(c, len(here), generator))
    share = np.exp(log - log.max(axis=0))
    share /= share.sum(axis=0)
    return share.mean(axis=1), share.std(axis=1, ddof=1) / math.sqrt(draws)


def log_gamma_draws(a: float, draws: int, generator: np.random.Generator) -> Floats:
    """Logarithms of Gamma variables: Gamma(a) = Gamma(a + 1)·U^(1/a), U uniform."""
    logs = np.log(generator.gamma(a + 1.0, size=draws))
    return np.asarray(logs - generator.exponential(size=draws) / a)
