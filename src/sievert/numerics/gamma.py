"""Differences of ln Gamma and digamma without their cancellation, and roots to the last digits."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sievert.arrays import Floats


# From here on the asymptotic series of ln Gamma and digamma have all digits.
LARGE = 16
# B_2k/(2k), k = 1, 2, ...: what digamma lacks of ln x - 1/(2x), by powers of 1/x^2.
DIGAMMA = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132)
# B_2k/(2k(2k - 1)): what ln Gamma lacks of Stirling's formula, by odd powers of 1/x.
STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188)


def rise(z: float, m: int) -> float:
    """sum_{j=0}^{m-1} 1/(z+j) = digamma(z+m) - digamma(z), without its cancellation.

    >>> rise(1.0, 3) == 1 + 1/2 + 1/3
    True
    """
    head = 0.0
    while z < LARGE and m > 0:
        head += 1.0 / z
        z, m = z + 1.0, m - 1
    if m == 0:
        return head
    log = math.log1p(m / z)
    return head + (log + _digamma_step(z, m, log))


def _digamma_step(z: float, m: float, log: float) -> float:
    """What digamma(z+m) - digamma(z) exceeds log = ln(1+m/z) by, for a large z."""
    rest = m / (2.0 * z * (z + m))
    power = 1.0
    for k, b in enumerate(DIGAMMA, 1):
        power /= z * z
        rest -= b * power * math.expm1(-2 * k * log)
    return rest


def rises(z: float, m: NDArray[Any]) -> Floats:
    """`rise` of one z and many m."""
    head = np.concatenate([[0.0], np.cumsum(1.0 / (z + np.arange(LARGE)))])
    few = np.minimum(m, LARGE).astype(np.int64)
    found: Floats = head[few]
    many = m > LARGE
    z, rest = z + LARGE, m[many].astype(np.float64) - LARGE
    log = np.log1p(rest / z)
    tail = log + rest / (2.0 * z * (z + rest))
    for k, b in enumerate(DIGAMMA, 1):
        tail -= b * z ** (-2 * k) * np.expm1(-2 * k * log)
    found[many] += tail
    return found


def weighted_rise(z: float, m: int) -> float:
    """sum_{j=1}^{m} j/(z+j) = m - z·(digamma(z+m+1) - digamma(z+1)), without its cancellation.

    >>> round(weighted_rise(2.0, 2), 12) == round(1/3 + 2/4, 12)
    True
    """
    if z <= m:
        return m - z * rise(z + 1.0, m)
    if z < LARGE:
        return math.fsum(j / (z + j) for j in range(1, m + 1))
    y = m / (z + 1.0)
    w = y / (2.0 + y)
    tail = math.fsum(w ** (2 * k + 1) / (2 * k + 1) for k in range(1, 20))
    return z * (y * w - 2.0 * tail) + y - z * _digamma_step(z + 1.0, m, math.log1p(y))


def log_gamma_step(x: float, d: float) -> float:
    """ln Gamma(x+d) - ln Gamma(x) for 0 <= d <= 1, without its cancellation."""
    head = 0.0
    while x < LARGE:
        head -= math.log1p(d / x)
        x += 1.0
    log = math.log1p(d / x)
    found = (x - 0.5) * log + d * math.log(x + d) - d
    power = 1.0 / x
    for k, b in enumerate(STIRLING, 1):
        found += b * power * math.expm1(-(2 * k - 1) * log)
        power /= x * x
    return head + found


def root(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a function changes its sign between two points, to the last digits.

    Inverse quadratic steps where they are to be trusted, else halves (Chandrupatla 1997).
    """
    a, b = high, low
    fa, fb = function(a), function(b)
    t = 0.5
    for _ in range(200):
        x = a + t * (b - a)
        fx = function(x)
        if (fx > 0) == (fa > 0):
            c, fc = a, fa
        else:
            c, b, fc, fb = b, a, fb, fa
        a, fa = x, fx
        best = a if abs(fa) < abs(fb) else b
        close = 4e-16 * abs(best) + 1e-300
        if fa == 0.0 or abs(b - a) <= close:
            return best
        xi, phi = (a - b) / (c - b), (fa - fb) / (fc - fb)
        t = 0.5
        if phi * phi < xi and (1 - phi) * (1 - phi) < 1 - xi:
            t = fa / (fb - fa) * fc / (fb - fc)
            t += (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
        least = close / abs(b - a) / 2
        t = min(max(t, least), 1 - least)
    return best


def log_logistic(x: float) -> float:
    """ln(1/(1+exp(-x)))."""
    return -math.log1p(math.exp(-x)) if x > 0 else x - math.log1p(math.exp(x))
