"""One key attribute and one secret, both Gaussian: the four models in closed form.

All four release X' = (1-d)·X + d·mu_X + N(0, d·(1-d)·Var X), with 0 <= d <= 1 the share of X's
variance that the error has. Domingo-Ferrer and Rebollo-Monedero 2009, section 5. In bits; an oracle
for the vectors.
"""

from __future__ import annotations

import math

from sievert.errors import UsageError
from sievert.losses.gaussian import scalar as information
from sievert.measures.kernel import LN2


def risk(rho: float, share: float) -> float | None:
    """Model 1: the least I(X';Y) with E(X-X')^2 <= share·Var X; None where it is unbounded.

    -1/2 log2(1 - (1-d)·rho^2); 0 from d = 1 on.

    >>> round(risk(0.8, 0.25), 9)
    0.471708236
    """
    _check(rho, share, "a distortion")
    if share >= 1:
        return 0.0
    square = rho * rho
    information_share = (1 - share) * square
    if information_share < 0.5:
        return max(0.0, -0.5 * math.log1p(-information_share) / LN2)
    left = _rest(rho) + share * square
    return None if left == 0 else -0.5 * math.log(left) / LN2


def distortion(rho: float, bits: float) -> float:
    """Model 2: the least E(X-X')^2 / Var X with I(X';Y) at most so many bits.

    1 - (1 - 4^-R)/rho^2, and 0 where that is negative.

    >>> round(distortion(0.8, 0.1 / math.log(2)), 9)
    0.716766802
    """
    _check(rho, bits, "a number of bits")
    most = information(rho)
    if most is None:
        return math.exp(-2 * bits * LN2)
    if bits >= most:
        return 0.0
    if bits * LN2 < 0.25:
        return min(1.0, max(0.0, 1 + math.expm1(-2 * bits * LN2) / (rho * rho)))
    return min(1.0, _rest(rho) * math.expm1(2 * (most - bits) * LN2) / (rho * rho))


def rate(rho: float, loss: float) -> float | None:
    """Model 3: the least I(X;X') with I(X;Y) - I(X';Y) <= loss; None where it is unbounded.

    >>> round(rate(0.8, information(0.8) - 0.259224939 / math.log(2)) * math.log(2), 8)
    0.5
    """
    _check(rho, loss, "a loss")
    most = information(rho)
    if most is None:
        raise UsageError("X determines Y: the loss is unbounded")
    if loss >= most:
        return 0.0
    share = _rest(rho) * math.expm1(2 * loss * LN2) / (rho * rho)
    return None if share == 0 else max(0.0, -0.5 * math.log(share) / LN2)


def loss(rho: float, bits: float) -> float:
    """Model 4: the least I(X;Y) - I(X';Y) with I(X;X') at most so many bits.

    I(X;Y) - I(X';Y) = 1/2 log2(1 + 4^-R·rho^2/(1 - rho^2)).
    """
    _check(rho, bits, "a number of bits")
    if information(rho) is None:
        raise UsageError("X determines Y: the loss is unbounded")
    return 0.5 * math.log1p((rho * rho / _rest(rho)) * math.exp(-2 * bits * LN2)) / LN2


def _rest(rho: float) -> float:
    return (1 - abs(rho)) * (1 + abs(rho))


def _check(rho: float, at: float, what: str) -> None:
    if not abs(rho) <= 1:
        raise UsageError("a correlation is between -1 and 1")
    if not 0 <= at < math.inf:
        raise UsageError(f"{what} is a number from 0 on")
