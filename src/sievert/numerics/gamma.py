"""Differences of ln Gamma and digamma without their cancellation, and roots to the last digits."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from sievert.arrays import Complex, Floats, Ints

EULER = 0.5772156649015329
HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)
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


def rises(z: float, m: Ints) -> Floats:
    """`rise` for one z and many m."""
    head = np.concatenate([[0.0], np.cumsum(1.0 / (z + np.arange(LARGE)))])
    few = np.minimum(m, LARGE).astype(np.int64)
    sums: Floats = head[few]
    many = m > LARGE
    z, rest = z + LARGE, m[many].astype(np.float64) - LARGE
    log = np.log1p(rest / z)
    tail = log + rest / (2.0 * z * (z + rest))
    for k, b in enumerate(DIGAMMA, 1):
        tail -= b * z ** (-2 * k) * np.expm1(-2 * k * log)
    sums[many] += tail
    return sums


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
    step = (x - 0.5) * log + d * math.log(x + d) - d
    power = 1.0 / x
    for k, b in enumerate(STIRLING, 1):
        step += b * power * math.expm1(-(2 * k - 1) * log)
        power /= x * x
    return head + step


def stirling_remainder(x: float) -> float:
    """The remainder of Stirling's formula: ln Gamma(x) - ((x - 1/2)·ln x - x + ln(2·pi)/2)."""
    if x < LARGE:
        return math.lgamma(x) - ((x - 0.5) * math.log(x) - x + HALF_LOG_2PI)
    series = 0.0
    for k in reversed(STIRLING):
        series = series / (x * x) + k
    return series / x


def gamma_ratios(x: Floats, t: Floats) -> Complex:
    """Gamma(x + it)/Gamma(x) for ascending x, a row each."""
    ratios = np.empty((len(x), len(t)), dtype=np.complex128)
    few = int(np.searchsorted(x, LARGE))
    ratios[few:] = _large_gamma_ratios(x[few:, None], t)
    if few:
        small = x[:few, None]
        product = 1.0 + 1j * (t / small)
        for j in range(1, LARGE):
            product *= 1.0 + 1j * (t / (small + j))
        ratios[:few] = _large_gamma_ratios(small + LARGE, t) / product
    return ratios


def _large_gamma_ratios(x: Floats, t: Floats) -> Complex:
    """Gamma(x + it)/Gamma(x) for large x: Stirling's series, the leading terms cancelled."""
    turn, log = np.arctan(t / x), 0.5 * np.log1p((t / x) ** 2)
    inverse: Complex = np.asarray(1.0 / (x + 1j * t))
    square, rest, at_x = inverse * inverse, np.zeros_like(inverse), np.zeros_like(x)
    for k in reversed(STIRLING):
        rest *= square
        rest += k
        at_x = at_x / x**2 + k
    rest *= inverse
    rest -= at_x / x
    modulus = (x - 0.5) * log - t * turn + rest.real
    phase = (x - 0.5) * turn + t * log - t + t * np.log(x) + rest.imag
    size = np.exp(modulus)
    rest.real, rest.imag = size * np.cos(phase), size * np.sin(phase)
    return rest


def harmonic_numbers(n: Ints) -> Floats:
    """1 + 1/2 + ... + 1/n = psi(n + 1) + Euler's constant."""
    head = np.concatenate(([0.0], np.cumsum(1.0 / np.arange(1, LARGE))))
    z = np.maximum(n, LARGE).astype(np.float64)
    w = 1.0 / (z * z)
    series = w * (1 / 12 - w * (1 / 120 - w * (1 / 252 - w * (1 / 240 - w / 132))))
    tail = np.log(z) + EULER + 0.5 / z - series
    return np.asarray(np.where(n < LARGE, head[np.minimum(n, LARGE - 1)], tail))


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


def divergence(u: Floats) -> Floats:
    """(1 + u)·ln(1 + u) - u, by its series where |u| is small."""
    small = np.abs(u) < 1e-2
    v = np.where(small, u, 0.0)
    series = np.zeros_like(v)
    for k in range(9, 1, -1):  # u^2/2 - u^3/6 + u^4/12 - ...: the next term is below 1e-18 of it
        series = 1.0 / (k * (k - 1)) - v * series
    big = np.where(small, 1.0, u)
    with np.errstate(divide="ignore", invalid="ignore"):
        direct = np.where(big > -1.0, (1.0 + big) * np.log1p(big) - big, 1.0)
    return np.where(small, v * v * series, direct)
