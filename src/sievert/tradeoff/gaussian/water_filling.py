"""Models 1 and 2 where the cost has no products of canonical directions: water-filling.

Direction i has correlation rho_i with Y and cost c_i; its error has the share
d_i = clip(theta/c_i - (1 - rho_i^2)/rho_i^2, 0, 1). With c_i = 1 this is the Mahalanobis distance;
with rho_i = 1 it is the reverse water-filling of rate-distortion theory. In nats.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import NDArray

from sievert.arrays import Floats


def nats(rho: Floats, rest: Floats, shares: Floats) -> float | None:
    """-1/2 sum ln(1 - (1-d_i)·rho_i^2): I(X';Y); None where it is unbounded."""
    terms = []
    for r, q, d in zip(rho.tolist(), rest.tolist(), shares.tolist(), strict=True):
        square = (1 - d) * r * r
        left = q + d * r * r
        if left <= 0:
            return None
        terms.append(math.log1p(-square) if square < 0.5 else math.log(left))
    return max(0.0, -0.5 * math.fsum(terms))


def within(rho: Floats, rest: Floats, cost: Floats, distortion: float) -> tuple[Floats, float]:
    """Model 1: the shares d_i that tell least with sum c_i·d_i <= D, and theta.

    >>> import numpy as np
    >>> rho = np.array([0.9, 0.8, 0.7])
    >>> shares, theta = within(rho, 1 - rho**2, np.ones(3), 0.5)
    >>> shares.round(6).tolist(), round(theta, 9)
    ([0.413966, 0.086034, 0.0], 0.648533951)
    """
    correlated, low, high = _levels(rho, rest, cost)
    edges = np.unique(np.concatenate((low[correlated], high[correlated])))
    if not len(edges) or distortion >= math.fsum(cost[correlated].tolist()):
        return correlated.astype(np.float64), float(edges[-1]) if len(edges) else 0.0
    theta, shares = float(edges[0]), np.zeros(len(rho))
    for left, right in itertools.pairwise(edges.tolist()):
        full, rising = correlated & (high <= left), correlated & (low <= left) & (high >= right)
        many = int(rising.sum())
        if not many:
            theta, shares = right, full.astype(np.float64)
            continue
        terms = [distortion, *(-cost[full]).tolist(), *low[rising].tolist()]
        theta, shares = math.fsum(terms) / many, full.astype(np.float64)
        for i in np.flatnonzero(rising).tolist():  # (theta - low)/cost, rounded once
            shares[i] = math.fsum([*terms, *[-float(low[i])] * many]) / (many * float(cost[i]))
        if theta <= right:
            break
    return np.clip(shares, 0.0, 1.0), theta


def revealing(rho: Floats, rest: Floats, cost: Floats, risk: float) -> tuple[Floats, float]:
    """Model 2: the cheapest shares d_i that tell at most so many nats, and theta."""
    correlated, low, high = _levels(rho, rest, cost)
    edges = np.unique(np.concatenate((low[correlated], high[correlated])))
    if not len(edges):
        return np.zeros(len(rho)), 0.0
    free = (correlated & (cost == 0)).astype(np.float64)
    least = nats(rho, rest, free)
    if least is not None and risk >= least:
        return free, float(edges[0])
    theta, shares = float(edges[-1]), correlated.astype(np.float64)
    for left, right in itertools.pairwise(edges.tolist()):
        rising, hidden = correlated & (low <= left) & (high >= right), correlated & (low >= right)
        many = int(rising.sum())
        if not many:
            continue
        slopes = cost[rising] / rho[rising] ** 2
        terms = [-2 * risk, *(-np.log(rest[hidden])).tolist(), *np.log(slopes).tolist()]
        level = math.fsum(terms) / many
        if level > math.log(right):
            continue
        theta, shares = math.exp(level), (correlated & (high <= left)).astype(np.float64)
        for i in np.flatnonzero(rising).tolist():
            if low[i] == 0:
                shares[i] = theta / cost[i]
            else:  # (theta/low - 1)·low/cost
                rise = math.fsum([*terms, *[-math.log(low[i])] * many]) / many
                shares[i] = math.expm1(rise) * low[i] / cost[i]
        break
    return np.clip(shares, 0.0, 1.0), theta


def _levels(rho: Floats, rest: Floats, cost: Floats) -> tuple[NDArray[np.bool_], Floats, Floats]:
    """Which directions tell something, and the theta at which their error begins and is whole."""
    correlated = rho > 0
    odds = np.divide(rest, rho * rho, out=np.zeros_like(rest), where=correlated)
    low = cost * odds
    return correlated, low, low + cost
