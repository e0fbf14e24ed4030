"""Special functions: ln Gamma and digamma without cancellation, tails of distributions, roots."""

import math
from collections.abc import Callable

import numpy as np

from sievert.arrays import Complex, Floats, Ints
from sievert.errors import InvariantError, require

EULER = 0.5772156649015329
HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)
# The asymptotic series of ln Gamma and digamma are exact to all digits from here on.
ASYMPTOTIC = 16
MOST_TERMS = 2000  # degrees of freedom, beyond which a chi-square tail is approximated
# B_2k/(2k), k = 1, 2, ...: the terms of digamma after ln x - 1/(2x), by powers of 1/x^2.
DIGAMMA = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132)
# B_2k/(2k(2k - 1)): the terms of ln Gamma after Stirling's formula, by odd powers of 1/x.
STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188)


def rise(z: float, m: int) -> float:
    """sum_{j=0}^{m-1} 1/(z+j) = digamma(z+m) - digamma(z), without its cancellation.

    >>> rise(1.0, 3) == 1 + 1/2 + 1/3
    True
    """
    head = 0.0
    while z < ASYMPTOTIC and m > 0:
        head += 1.0 / z
        z = z + 1.0
        m = m - 1
    if m == 0:
        return head
    log = math.log1p(m / z)
    return head + (log + _digamma_step(z, m, log))


def _digamma_step(z: float, m: float, log: float) -> float:
    """The excess of digamma(z+m) - digamma(z) over log = ln(1+m/z), for a large z."""
    rest = m / (2.0 * z * (z + m))
    power = 1.0
    for k, b in enumerate(DIGAMMA, 1):
        power /= z * z
        rest -= b * power * math.expm1(-2 * k * log)
    return rest


def rises(z: float, m: Ints) -> Floats:
    """`rise` for one z and many m."""
    head = np.concatenate([[0.0], np.cumsum(1.0 / (z + np.arange(ASYMPTOTIC)))])
    sums: Floats = head[np.minimum(m, ASYMPTOTIC).astype(np.int64)]
    many = m > ASYMPTOTIC
    z = z + ASYMPTOTIC
    rest = m[many].astype(np.float64) - ASYMPTOTIC
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
    if z < ASYMPTOTIC:
        return math.fsum(j / (z + j) for j in range(1, m + 1))
    y = m / (z + 1.0)
    w = y / (2.0 + y)
    tail = math.fsum(w ** (2 * k + 1) / (2 * k + 1) for k in range(1, 20))
    return z * (y * w - 2.0 * tail) + y - z * _digamma_step(z + 1.0, m, math.log1p(y))


def log_gamma_step(x: float, d: float) -> float:
    """ln Gamma(x+d) - ln Gamma(x) for 0 <= d <= 1, without its cancellation."""
    head = 0.0
    while x < ASYMPTOTIC:
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
    if x < ASYMPTOTIC:
        return math.lgamma(x) - ((x - 0.5) * math.log(x) - x + HALF_LOG_2PI)
    series = 0.0
    for k in reversed(STIRLING):
        series = series / (x * x) + k
    return series / x


def gamma_ratios(x: Floats, t: Floats) -> Complex:
    """Gamma(x + it)/Gamma(x) for ascending x, one row per x."""
    ratios = np.empty((len(x), len(t)), dtype=np.complex128)
    few = int(np.searchsorted(x, ASYMPTOTIC))
    ratios[few:] = _large_gamma_ratios(x[few:, None], t)
    if few:
        small = x[:few, None]
        product = 1.0 + 1j * (t / small)
        for j in range(1, ASYMPTOTIC):
            product *= 1.0 + 1j * (t / (small + j))
        ratios[:few] = _large_gamma_ratios(small + ASYMPTOTIC, t) / product
    return ratios


def _large_gamma_ratios(x: Floats, t: Floats) -> Complex:
    """Gamma(x + it)/Gamma(x) for large x, by Stirling's series without its leading terms."""
    turn = np.arctan(t / x)
    log = 0.5 * np.log1p((t / x) ** 2)
    inverse: Complex = np.asarray(1.0 / (x + 1j * t))
    square = inverse * inverse
    rest = np.zeros_like(inverse)
    at_x = np.zeros_like(x)
    for k in reversed(STIRLING):
        rest *= square
        rest += k
        at_x = at_x / x**2 + k
    rest *= inverse
    rest -= at_x / x
    phase = (x - 0.5) * turn + t * log - t + t * np.log(x) + rest.imag
    size = np.exp((x - 0.5) * log - t * turn + rest.real)
    rest.real = size * np.cos(phase)
    rest.imag = size * np.sin(phase)
    return rest


def harmonic_numbers(n: Ints) -> Floats:
    """1 + 1/2 + ... + 1/n = psi(n + 1) + Euler's constant."""
    head = np.concatenate(([0.0], np.cumsum(1.0 / np.arange(1, ASYMPTOTIC))))
    z = np.maximum(n, ASYMPTOTIC).astype(np.float64)
    w = 1.0 / (z * z)
    series = w * (1 / 12 - w * (1 / 120 - w * (1 / 252 - w * (1 / 240 - w / 132))))
    tail = np.log(z) + EULER + 0.5 / z - series
    return np.asarray(np.where(n < ASYMPTOTIC, head[np.minimum(n, ASYMPTOTIC - 1)], tail))


def root(function: Callable[[float], float], low: float, high: float) -> float:
    """The point between `low` and `high` where a function changes its sign, to the last digits.

    Inverse quadratic steps where they are reliable, else bisection (Chandrupatla 1997).
    """
    a = high
    b = low
    fa = function(a)
    fb = function(b)
    t = 0.5
    for _ in range(200):
        x = a + t * (b - a)
        fx = function(x)
        if (fx > 0) == (fa > 0):
            c = a
            fc = fa
        else:
            c = b
            b = a
            fc = fb
            fb = fa
        a = x
        fa = fx
        best = a if abs(fa) < abs(fb) else b
        close = 4e-16 * abs(best) + 1e-300
        if fa == 0.0 or abs(b - a) <= close:
            return best
        xi = (a - b) / (c - b)
        phi = (fa - fb) / (fc - fb)
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


LN2 = math.log(2.0)
TINY = 1e-300
TERMS = 1_000_000  # terms of the continued fraction, about the root of the larger parameter
NORMAL_QUANTILE = 1.959963984540054  # of two-sided 95 %


def two_sided(z: float) -> float:
    """The probability that a standard normal number is at least as far from 0 as z.

    >>> round(two_sided(1.959963984540054), 12)
    0.05
    """
    return math.erfc(abs(z) / math.sqrt(2))


def central(z: float) -> float:
    """The probability that a standard normal number is nearer to 0 than z: 1 - `two_sided`."""
    return math.erf(abs(z) / math.sqrt(2))


def chi_square(x: float, degrees: int) -> float:
    """The probability that a chi-square number of some `degrees` of freedom is at least x.

    The sum has positive terms only: of a Poisson distribution for even degrees, and erfc with
    terms of half-integer order for odd degrees.

    >>> round(chi_square(3.841458820694124, 1), 12), round(chi_square(5.991464547107979, 2), 12)
    (0.05, 0.05)
    """
    require(degrees >= 1, "degrees of freedom are a whole number from 1 on")
    if x <= 0:
        return 1.0
    half = x / 2
    odd = degrees % 2
    log = math.log(half)
    terms = [math.erfc(math.sqrt(half))] if odd else []
    orders = (k + 0.5 * odd for k in range(degrees // 2))
    terms += [math.exp(order * log - half - math.lgamma(order + 1)) for order in orders]
    return min(1.0, math.fsum(terms))


def chi_square_below(x: float, degrees: int) -> float:
    """The chance that a chi-square number with `degrees` degrees of freedom is at most x.

    Beyond 2,000 degrees by the approximation of Wilson and Hilferty (1931).

    >>> round(chi_square_below(0.0039321400000195, 1), 6), round(chi_square_below(1900.0, 2001), 3)
    (0.05, 0.053)
    """
    if x <= 0:
        return 0.0
    if degrees <= MOST_TERMS:
        return max(0.0, 1.0 - chi_square(x, degrees))
    spread = 2 / (9 * degrees)
    z = ((x / degrees) ** (1 / 3) - (1 - spread)) / math.sqrt(spread)
    return 0.5 * math.erfc(-z / math.sqrt(2))


def binomial_from(number: int, trials: int, share: float) -> float:
    """The chance of at least `number` successes in `trials` trials, each with the chance `share`.

    >>> round(binomial_from(2, 3, 0.5), 12), round(binomial_from(1, 100, 0.001), 6)
    (0.5, 0.095208)
    """
    return beta_below(number, trials - number + 1, share) if number > 0 else 1.0


def poisson_below(number: int, mean: float) -> float:
    """The probability that a Poisson variable with a `mean` is at most `number`.

    >>> round(poisson_below(2, 3.0), 4)
    0.4232
    """
    if mean <= 0:
        return 1.0
    terms = (i * math.log(mean) - mean - math.lgamma(i + 1) for i in range(number + 1))
    return min(1.0, math.fsum(map(math.exp, terms)))


def beta_interval(b: float, c: float, level: float = 0.9) -> tuple[float, float]:
    """The interval of a Beta(b, c) variable with probability `level` and equal tails.

    >>> [round(end, 12) for end in beta_interval(1.0, 1.0)]
    [0.05, 0.95]
    """
    require(0.0 < level < 1.0, "the level of an interval is between 0 and 1")
    return beta_quantile(b, c, (1.0 - level) / 2.0), beta_quantile(b, c, (1.0 + level) / 2.0)


def beta_quantile(b: float, c: float, p: float) -> float:
    """The quantile p of a Beta(b, c) variable; 0 if it is less than 1e-300."""
    require(
        0.0 < b < math.inf and 0.0 < c < math.inf,
        "the parameters of a Beta variable are positive and finite",
    )
    require(0.0 < p < 1.0, "the probability of a quantile is between 0 and 1")
    lower = beta_below(b, c, 0.5) >= p
    return _lower_quantile(b, c, p) if lower else 1.0 - _lower_quantile(c, b, 1.0 - p)


def _lower_quantile(b: float, c: float, p: float) -> float:
    """A quantile that is at most 1/2, computed in logarithms, which keep its digits."""
    goal = math.log(p)

    def excess(y: float) -> float:
        return _log_below(b, c, math.exp(y)) - goal

    # P(Beta <= x) is at most 2·x^b/(b·B(b, c)) for x <= 1/2.
    least = (goal - LN2 + math.lgamma(b + 1.0) + math.lgamma(c) - math.lgamma(b + c)) / b
    low = max(math.log(TINY), least)
    high = math.log(0.5)
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
    more = b - n * x if x < 0.5 else n * y - c  # one number, from the exact one of x and y
    left, right = divergence(np.array([more / (n * x), -more / (n * y)]))
    log = 0.5 * math.log(b / n * c) - HALF_LOG_2PI - n * float(x * left + y * right)
    log += stirling_remainder(n) - stirling_remainder(b) - stirling_remainder(c)
    return log - math.log(_fraction(b, c, x, y, more))


def _fraction(b: float, c: float, x: float, y: float, more: float) -> float:
    """x^b·y^c/B(b, c) over P(Beta(b, c) <= x), with y = 1 - x and more = b·y - c·x.

    The continued fraction of DiDonato and Morris 1992, which keeps the digits of a small y.
    """
    fraction = b * (more + 1.0) / (b + 1.0)
    up = fraction
    down = 0.0
    for m in range(1, TERMS):
        part = m * (c - m) * x / (b + 2 * m - 1.0)
        above = part * x * (b + m - 1.0) * (b + c + m - 1.0) / (b + 2 * m - 1.0)
        beside = m + part + (b + m) * (more + 1.0 + m * (1.0 + y)) / (b + 2 * m + 1.0)
        down = 1.0 / (beside + above * down)
        up = beside + above / up
        fraction *= down * up
        if abs(down * up - 1.0) < 4e-16:
            return fraction
    raise InvariantError("the continued fraction of a Beta distribution did not settle")


def wilson(successes: float, trials: float, level: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval of the share of successes in trials, which may be fractions.

    >>> [round(end, 6) for end in wilson(23, 100)]
    [0.158433, 0.321544]
    """
    from statistics import NormalDist

    z = NormalDist().inv_cdf((1.0 + level) / 2.0)
    share = successes / trials
    middle = share + z * z / (2 * trials)
    half = z * math.sqrt(max(0.0, share * (1.0 - share)) / trials + (z / (2 * trials)) ** 2)
    whole = 1.0 + z * z / trials
    low = (middle - half) / whole if successes > 0 else 0.0
    return max(0.0, low), (middle + half) / whole if successes < trials else 1.0
