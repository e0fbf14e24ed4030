"""Tails of the normal, the chi-square and the Beta distribution."""

from __future__ import annotations

import math

import numpy as np

from sievert.errors import InvariantError, require
from sievert.numerics.gamma import HALF_LOG_2PI, divergence, root, stirling_remainder

LN2 = math.log(2.0)
TINY = 1e-300
TERMS = 1_000_000  # of the continued fraction; it needs about the root of the larger parameter
NORMAL_QUANTILE = 1.959963984540054  # of two-sided 95 %


def two_sided(z: float) -> float:
    """The chance that a standard normal number is as far from 0 as z.

    >>> round(two_sided(1.959963984540054), 12)
    0.05
    """
    return math.erfc(abs(z) / math.sqrt(2))


def central(z: float) -> float:
    """The chance that a standard normal number is nearer to 0 than z: 1 - `two_sided`."""
    return math.erf(abs(z) / math.sqrt(2))


def chi_square(x: float, degrees: int) -> float:
    """The chance that a chi-square number of so many degrees of freedom is at least x.

    Sums of positive terms: a Poisson distribution for even degrees, and erfc with terms of half
    whole order for odd ones.

    >>> round(chi_square(3.841458820694124, 1), 12), round(chi_square(5.991464547107979, 2), 12)
    (0.05, 0.05)
    """
    require(degrees >= 1, "degrees of freedom are a whole number from 1 on")
    if x <= 0:
        return 1.0
    half, odd = x / 2, degrees % 2
    log = math.log(half)
    terms = [math.erfc(math.sqrt(half))] if odd else []
    for k in range(degrees // 2):
        order = k + 0.5 * odd
        terms.append(math.exp(order * log - half - math.lgamma(order + 1)))
    return min(1.0, math.fsum(terms))


def beta_interval(b: float, c: float, level: float = 0.9) -> tuple[float, float]:
    """Where a Beta(b, c) variable lies with probability `level`, both tails being equal.

    >>> [round(end, 12) for end in beta_interval(1.0, 1.0)]
    [0.05, 0.95]
    """
    require(0.0 < level < 1.0, "the level of an interval is between 0 and 1")
    return beta_quantile(b, c, (1.0 - level) / 2.0), beta_quantile(b, c, (1.0 + level) / 2.0)


def beta_quantile(b: float, c: float, p: float) -> float:
    """Below which a Beta(b, c) variable lies with probability p; 0 if it is less than 1e-300."""
    require(
        0.0 < b < math.inf and 0.0 < c < math.inf,
        "the parameters of a Beta variable are positive and finite",
    )
    require(0.0 < p < 1.0, "the probability of a quantile is between 0 and 1")
    lower = beta_below(b, c, 0.5) >= p
    return _lower_quantile(b, c, p) if lower else 1.0 - _lower_quantile(c, b, 1.0 - p)


def _lower_quantile(b: float, c: float, p: float) -> float:
    """A quantile that is at most 1/2: in logarithms, where it keeps its digits."""
    goal = math.log(p)

    def excess(y: float) -> float:
        return _log_below(b, c, math.exp(y)) - goal

    # P(Beta <= x) is at most 2·x^b/(b·B(b, c)) for x <= 1/2.
    least = (goal - LN2 + math.lgamma(b + 1.0) + math.lgamma(c) - math.lgamma(b + c)) / b
    low, high = max(math.log(TINY), least), math.log(0.5)
    if low >= high or excess(high) <= 0.0:
        return 0.5
    return 0.0 if excess(low) >= 0.0 else math.exp(root(excess, low, high))


def beta_below(b: float, c: float, x: float) -> float:
    """P(Beta(b, c) <= x), the regularised incomplete Beta function.

    >>> round(beta_below(2.0, 2.0, 0.25), 15)
    0.15625
    """
    return math.exp(_log_below(b, c, x)) if 0.0 < x < 1.0 else float(x >= 1.0)


def _log_below(b: float, c: float, x: float) -> float:
    if x * (b + c + 2.0) <= b + 1.0:
        return _log_tail(b, c, x, 1.0 - x)
    rest = _log_tail(c, b, 1.0 - x, x)
    return math.log(-math.expm1(rest)) if rest > -LN2 else math.log1p(-math.exp(rest))


def _log_tail(b: float, c: float, x: float, y: float) -> float:
    """ln P(Beta(b, c) <= x) for x up to about the mean; y = 1 - x."""
    n = b + c
    more = b - n * x if x < 0.5 else n * y - c  # the same number, from whichever is exact
    left, right = divergence(np.array([more / (n * x), -more / (n * y)]))
    log = 0.5 * math.log(b / n * c) - HALF_LOG_2PI - n * float(x * left + y * right)
    log += stirling_remainder(n) - stirling_remainder(b) - stirling_remainder(c)
    return log - math.log(_fraction(b, c, x, y, more))


def _fraction(b: float, c: float, x: float, y: float, more: float) -> float:
    """x^b·y^c/B(b, c) over P(Beta(b, c) <= x), with y = 1 - x and more = b·y - c·x.

    The continued fraction of DiDonato and Morris 1992, which keeps the digits of a small y.
    """
    fraction = up = b * (more + 1.0) / (b + 1.0)
    down = 0.0
    for m in range(1, TERMS):
        part = m * (c - m) * x / (b + 2 * m - 1.0)
        above = part * x * (b + m - 1.0) * (b + c + m - 1.0) / (b + 2 * m - 1.0)
        beside = m + part + (b + m) * (more + 1.0 + m * (1.0 + y)) / (b + 2 * m + 1.0)
        down, up = 1.0 / (beside + above * down), beside + above / up
        fraction *= down * up
        if abs(down * up - 1.0) < 4e-16:
            return fraction
    raise InvariantError("the continued fraction of a Beta distribution did not settle")
