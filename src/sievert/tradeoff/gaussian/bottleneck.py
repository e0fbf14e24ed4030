"""Models 3 and 4: the Gaussian information bottleneck.

Direction i is told from beta = 1/rho_i^2 on, with error share d_i = (1-rho_i^2)/((beta-1)·rho_i^2).
Chechik, Globerson, Tishby and Weiss 2005: 1 - rho_i^2 are the eigenvalues of S_{X|Y}·S_X^-1.
In nats; correlations in falling order, below 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sievert.arrays import Floats
from sievert.tradeoff.gaussian.water_filling import nats


@dataclass(frozen=True, eq=False)
class Bottleneck:
    """A point of the curve; `beta` is None at its end, where all of X is told."""

    beta: float | None
    shares: Floats
    rate: float | None  # I(X;X'); None: unbounded
    risk: float  # I(X';Y)
    loss: float  # I(X;Y) - I(X';Y)


def at_beta(rho: Floats, rest: Floats, beta: float) -> Bottleneck:
    """The point that makes I(X;X') - beta·I(X';Y) least.

    >>> rho = np.array([0.9, 0.6, 0.3])
    >>> round(at_beta(rho, 1 - rho**2, 2.733235).risk, 5)
    0.60262
    """
    is_released = (beta > 1) & (beta * rho * rho > 1)
    odds = np.divide(rest, rho * rho, out=np.ones_like(rho), where=is_released)
    shares = np.divide(odds, beta - 1, out=np.ones_like(rho), where=is_released)
    return _point(rho, rest, np.minimum(1.0, shares), beta)


def at_rate(rho: Floats, rest: Floats, rate: float) -> Bottleneck:
    """Model 4: the least loss with I(X;X') at most so many nats.

    >>> rho = np.array([0.9, 0.6, 0.3])
    >>> round(at_rate(rho, 1 - rho**2, 1.0).risk, 9)
    0.602617501
    """
    depths = [math.log(r * r / q) for r, q in zip(rho.tolist(), rest.tolist(), strict=True) if r]
    if not depths:
        return _point(rho, rest, np.ones(len(rho)), None)
    for number in range(1, len(depths) + 1):
        level = (2 * rate - math.fsum(depths[:number])) / number
        if number == len(depths) or level <= -depths[number]:
            break
    shares = np.ones(len(rho))
    shares[:number] = [math.exp(-max(0.0, level + w)) for w in depths[:number]]
    return _point(rho, rest, shares, 1 + math.exp(level) if level < 700 else None)


def at_loss(rho: Floats, rest: Floats, loss: float) -> Bottleneck:
    """Model 3: the least I(X;X') with I(X;Y) - I(X';Y) at most so many nats."""
    directions = [(r, q) for r, q in zip(rho.tolist(), rest.tolist(), strict=True) if r]
    if not directions or loss >= -0.5 * math.fsum(math.log(q) for _, q in directions):
        beta = 1 / directions[0][0] ** 2 if directions else None
        return _point(rho, rest, np.ones(len(rho)), beta)
    shares = np.ones(len(rho))
    if loss == 0:
        shares[: len(directions)] = 0.0
        return _point(rho, rest, shares, None)
    # ln(beta/(beta-1)) is v when the first `number` are told: all others are lost.
    for number in range(len(directions), 0, -1):
        v = (2 * loss + math.fsum(math.log(q) for _, q in directions[number:])) / number
        r, q = directions[number - 1]
        if v > 0 and math.expm1(v) * q <= r * r:
            break
    shares[:number] = [min(1.0, q * math.expm1(v) / (r * r)) for r, q in directions[:number]]
    beta = 1 + 1 / math.expm1(v)
    return _point(rho, rest, shares, beta)


def _point(rho: Floats, rest: Floats, shares: Floats, beta: float | None) -> Bottleneck:
    rate = nats(np.ones(len(rho)), np.zeros(len(rho)), shares)
    risk = nats(rho, rest, shares)
    assert risk is not None  # no direction is told exactly
    return Bottleneck(beta, shares, rate, risk, lost(rho, rest, np.diag(shares)))


def lost(rho: Floats, rest: Floats, error: Floats) -> float:
    """I(X;Y) - I(X';Y) of errors with this covariance in canonical directions.

    1/2 ln det(I + L^-1/2·P·T·P·L^-1/2), P = diag(rho), L = I - P^2.
    """
    odds = rho / np.sqrt(rest)
    values = np.linalg.eigvalsh(np.outer(odds, odds) * error)
    return 0.5 * math.fsum(np.log1p(np.maximum(values, 0.0)).tolist())
