"""Tails of the normal and the chi-square distribution."""

from __future__ import annotations

import math

from sievert.errors import UsageError

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
    if degrees < 1:
        raise UsageError("degrees of freedom are a whole number from 1 on")
    if x <= 0:
        return 1.0
    half, odd = x / 2, degrees % 2
    log = math.log(half)
    terms = [math.erfc(math.sqrt(half))] if odd else []
    for k in range(degrees // 2):
        order = k + 0.5 * odd
        terms.append(math.exp(order * log - half - math.lgamma(order + 1)))
    return min(1.0, math.fsum(terms))
