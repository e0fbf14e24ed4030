"""Closed forms, in nats: water-filling (models 1 and 2) and the bottleneck (models 3 and 4).

Water-filling is for costs without products of canonical directions. Direction i has correlation
rho_i with Y and cost c_i; its error has the share d_i = clip(theta/c_i - (1 - rho_i^2)/rho_i^2, 0,
1). With c_i = 1 this is the Mahalanobis distance; with rho_i = 1 it is the reverse water-filling of
rate-distortion theory.

The Gaussian information bottleneck discloses direction i from beta = 1/rho_i^2 on, with error share
d_i = (1-rho_i^2)/((beta-1)·rho_i^2). Chechik, Globerson, Tishby and Weiss 2005: 1 - rho_i^2 are the
eigenvalues of S_{X|Y}·S_X^-1. Correlations descend, and are below 1.
"""

import itertools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sievert.arrays import Floats


def nats(rho: Floats, rest: Floats, shares: Floats) -> float | None:
    """-1/2 sum ln(1 - (1-d_i)·rho_i^2): I(X';Y); None if it is unbounded."""
    triples = zip(rho.tolist(), rest.tolist(), shares.tolist(), strict=True)
    pairs = [((1 - d) * r * r, q + d * r * r) for r, q, d in triples]
    if any(left <= 0 for _, left in pairs):
        return None
    terms = [math.log1p(-square) if square < 0.5 else math.log(left) for square, left in pairs]
    return max(0.0, -0.5 * math.fsum(terms))


def least_disclosing_shares(
    rho: Floats, rest: Floats, cost: Floats, distortion: float
) -> tuple[Floats, float]:
    """Model 1: the shares d_i that disclose least with sum c_i·d_i <= `distortion`, and theta.

    >>> import numpy as np
    >>> rho = np.array([0.9, 0.8, 0.7])
    >>> shares, theta = least_disclosing_shares(rho, 1 - rho**2, np.ones(3), 0.5)
    >>> shares.round(6).tolist(), round(theta, 9)
    ([0.413966, 0.086034, 0.0], 0.648533951)
    """
    correlated, low, high = _levels(rho, rest, cost)
    edges = np.unique(np.concatenate((low[correlated], high[correlated])))
    if not len(edges) or distortion >= math.fsum(cost[correlated].tolist()):
        return correlated.astype(np.float64), float(edges[-1]) if len(edges) else 0.0
    theta = float(edges[0])
    shares = np.zeros(len(rho))
    for left, right in itertools.pairwise(edges.tolist()):
        full = correlated & (high <= left)
        rising = correlated & (low <= left) & (high >= right)
        many = int(rising.sum())
        if not many:
            theta = right
            shares = full.astype(np.float64)
            continue
        terms = [distortion, *(-cost[full]).tolist(), *low[rising].tolist()]
        theta = math.fsum(terms) / many
        shares = full.astype(np.float64)
        for i in np.flatnonzero(rising).tolist():  # (theta - low)/cost, rounded once
            shares[i] = math.fsum([*terms, *[-float(low[i])] * many]) / (many * float(cost[i]))
        if theta <= right:
            break
    return np.clip(shares, 0.0, 1.0), theta


def cheapest_shares(rho: Floats, rest: Floats, cost: Floats, risk: float) -> tuple[Floats, float]:
    """Model 2: the cheapest shares d_i that disclose at most `risk` nats, and theta."""
    correlated, low, high = _levels(rho, rest, cost)
    edges = np.unique(np.concatenate((low[correlated], high[correlated])))
    if not len(edges):
        return np.zeros(len(rho)), 0.0
    free = (correlated & (cost == 0)).astype(np.float64)
    least = nats(rho, rest, free)
    if least is not None and risk >= least:
        return free, float(edges[0])
    theta = float(edges[-1])
    shares = correlated.astype(np.float64)
    for left, right in itertools.pairwise(edges.tolist()):
        rising = correlated & (low <= left) & (high >= right)
        hidden = correlated & (low >= right)
        many = int(rising.sum())
        if not many:
            continue
        slopes = cost[rising] / rho[rising] ** 2
        terms = [-2 * risk, *(-np.log(rest[hidden])).tolist(), *np.log(slopes).tolist()]
        level = math.fsum(terms) / many
        if level > math.log(right):
            continue
        theta = math.exp(level)
        shares = (correlated & (high <= left)).astype(np.float64)
        for i in np.flatnonzero(rising).tolist():
            if low[i] == 0:
                shares[i] = theta / cost[i]
            else:  # (theta/low - 1)·low/cost
                rise = math.fsum([*terms, *[-math.log(low[i])] * many]) / many
                shares[i] = math.expm1(rise) * low[i] / cost[i]
        break
    return np.clip(shares, 0.0, 1.0), theta


def _levels(rho: Floats, rest: Floats, cost: Floats) -> tuple[NDArray[np.bool_], Floats, Floats]:
    """The directions correlated with Y, and the thetas at which their error begins and ends."""
    correlated = rho > 0
    low = cost * np.divide(rest, rho * rho, out=np.zeros_like(rest), where=correlated)
    return correlated, low, low + cost


@dataclass(frozen=True, eq=False, kw_only=True)
class Bottleneck:
    """A point of the curve; `beta` is None at its end, where all of X is disclosed."""

    beta: float | None
    shares: Floats
    rate: float | None  # I(X;X'); None: unbounded
    risk: float  # I(X';Y)
    loss: float  # I(X;Y) - I(X';Y)


def at_beta(rho: Floats, rest: Floats, beta: float) -> Bottleneck:
    """The point of the least I(X;X') - beta·I(X';Y).

    >>> rho = np.array([0.9, 0.6, 0.3])
    >>> round(at_beta(rho, 1 - rho**2, 2.733235).risk, 5)
    0.60262
    """
    is_released = (beta > 1) & (beta * rho * rho > 1)
    odds = np.divide(rest, rho * rho, out=np.ones_like(rho), where=is_released)
    shares = np.divide(odds, beta - 1, out=np.ones_like(rho), where=is_released)
    return _point(rho, rest, np.minimum(1.0, shares), beta)


def at_rate(rho: Floats, rest: Floats, rate: float) -> Bottleneck:
    """Model 4: the least loss with an I(X;X') of at most `rate` nats.

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
    """Model 3: the least I(X;X') with an I(X;Y) - I(X';Y) of at most `loss` nats."""
    directions = [(r, q) for r, q in zip(rho.tolist(), rest.tolist(), strict=True) if r]
    if not directions or loss >= -0.5 * math.fsum(math.log(q) for _, q in directions):
        beta = 1 / directions[0][0] ** 2 if directions else None
        return _point(rho, rest, np.ones(len(rho)), beta)
    shares = np.ones(len(rho))
    if loss == 0:
        shares[: len(directions)] = 0.0
        return _point(rho, rest, shares, None)
    # If the first `number` directions are disclosed, ln(beta/(beta-1)) is v.
    for number in range(len(directions), 0, -1):
        v = (2 * loss + math.fsum(math.log(q) for _, q in directions[number:])) / number
        r, q = directions[number - 1]
        if v > 0 and math.expm1(v) * q <= r * r:
            break
    shares[:number] = [min(1.0, q * math.expm1(v) / (r * r)) for r, q in directions[:number]]
    return _point(rho, rest, shares, 1 + 1 / math.expm1(v))


def _point(rho: Floats, rest: Floats, shares: Floats, beta: float | None) -> Bottleneck:
    rate = nats(np.ones(len(rho)), np.zeros(len(rho)), shares)
    risk = nats(rho, rest, shares)
    assert risk is not None  # no direction is disclosed exactly
    return Bottleneck(
        beta=beta, shares=shares, rate=rate, risk=risk, loss=lost(rho, rest, np.diag(shares))
    )


def lost(rho: Floats, rest: Floats, error: Floats) -> float:
    """I(X;Y) - I(X';Y) for an error with this covariance in canonical directions.

    1/2 ln det(I + L^-1/2·P·T·P·L^-1/2), P = diag(rho), L = I - P^2.
    """
    odds = rho / np.sqrt(rest)
    values = np.linalg.eigvalsh(np.outer(odds, odds) * error)
    return 0.5 * math.fsum(np.log1p(np.maximum(values, 0.0)).tolist())
