"""What anybody learns of the population from a release, and how near it comes to the truth.

The share of one atom of a Dirichlet distribution is a Beta variable: its intervals are exact.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.errors import InvariantError, require
from sievert.measures.kernel import LN2, divergence, total
from sievert.measures.measure import UNBOUNDED, MeasureResult, undefined
from sievert.numerics.gamma import HALF_LOG_2PI, root, stirling_remainder

TINY = 1e-300
TERMS = 1_000_000  # of the continued fraction; it needs about the root of the larger parameter
LEVEL = 0.9
Text = str | None


def of_secrets(
    alpha: Floats, secret_counts: Ints, secrets: Sequence[Text], truth: Ints | None
) -> tuple[dict[Text, dict[str, float]], dict[str, Any]]:
    """The secret's distribution, exactly: means, 90 % intervals; and its distance to the truth."""
    weights = alpha + secret_counts
    total = float(weights.sum())
    shares = None if truth is None else _shares(truth.sum(axis=0)[: len(secrets)])
    shares_by_secret = {}
    for s, text in enumerate(secrets):
        b = float(weights[s])
        low, high = interval(b, total - b, LEVEL) if total > b else (1.0, 1.0)
        shares_by_secret[text] = {"mean": b / total, "low": low, "high": high}
        if shares is not None:
            shares_by_secret[text]["truth"] = float(shares[s])
    return shares_by_secret, {} if shares is None else _distance(shares, weights / total)


def of_keys(
    mean: Floats,
    drawn: Floats,
    atoms: Mapping[Any, int],
    secrets: Sequence[Text],
    truth: Ints | None,
) -> tuple[dict[Text, dict[Any, dict[str, float]]], dict[str, Any]]:
    """A factor's distribution given each secret, by value; and its distance to the truth.

    `atoms` are the values that are asked about and their atoms; `truth[s, a]` counts the original.
    """
    low, high = empirical(drawn, LEVEL)
    shares_by_secret: dict[Text, dict[Any, dict[str, float]]] = {}
    for s, text in enumerate(secrets):
        own = None if truth is None else _shares(truth[s])
        shares_by_secret[text] = {}
        for name, a in atoms.items():
            estimate = {
                "mean": float(mean[s, a]),
                "low": float(low[s, a]),
                "high": float(high[s, a]),
            }
            shares_by_secret[text][name] = (
                estimate if own is None else {**estimate, "truth": float(own[a])}
            )
    if truth is None:
        return shares_by_secret, {}
    people = _shares(truth.sum(axis=1))
    each = [
        _distance(_shares(truth[s]), mean[s]) if people[s] else None for s in range(len(secrets))
    ]
    return shares_by_secret, {
        name: _mean(people, [None if e is None else e[name] for e in each])
        for name in ("total_variation", "bits")
    }


def _shares(counts: Ints) -> Floats:
    total = counts.sum()
    return counts / total if total else np.zeros(len(counts))


def _distance(truth: Floats, estimate: Floats) -> dict[str, float | None]:
    distance = total_variation(truth, estimate)
    return {"total_variation": distance, "bits": bits(truth, estimate).value}


def _mean(weights: Floats, numbers: Sequence[float | None]) -> float | None:
    """The mean over people; None where it is unbounded for some."""
    if any(n is None and w > 0 for n, w in zip(numbers, weights, strict=True)):
        return None
    return float(sum(w * n for n, w in zip(numbers, weights, strict=True) if n is not None))


def interval(b: float, c: float, level: float = 0.9) -> tuple[float, float]:
    """Where a Beta(b, c) variable lies with probability `level`, both tails being equal.

    >>> [round(end, 12) for end in interval(1.0, 1.0)]
    [0.05, 0.95]
    """
    _level(level)
    return quantile(b, c, (1.0 - level) / 2.0), quantile(b, c, (1.0 + level) / 2.0)


def empirical(draws: Any, level: float = 0.9) -> tuple[Any, Any]:
    """The same of draws, along their first axis.

    >>> low, high = empirical([0.0, 1.0, 2.0, 3.0, 4.0], 0.5)
    >>> float(low), float(high)
    (1.0, 3.0)
    """
    _level(level)
    numbers = np.asarray(draws, dtype=np.float64)
    require(numbers.ndim != 0 and len(numbers) != 0, "an interval needs one draw at least")
    low, high = np.quantile(numbers, [(1.0 - level) / 2.0, (1.0 + level) / 2.0], axis=0)
    return low, high


def _level(level: float) -> None:
    require(0.0 < level < 1.0, "the level of an interval is between 0 and 1")


def quantile(b: float, c: float, p: float) -> float:
    """Below which a Beta(b, c) variable lies with probability p; 0 if it is less than 1e-300."""
    require(
        0.0 < b < math.inf and 0.0 < c < math.inf,
        "the parameters of a Beta variable are positive and finite",
    )
    require(0.0 < p < 1.0, "the probability of a quantile is between 0 and 1")
    if below(b, c, 0.5) >= p:
        return _lower(b, c, p)
    return 1.0 - _lower(c, b, 1.0 - p)


def _lower(b: float, c: float, p: float) -> float:
    """A quantile that is at most 1/2: in logarithms, where it keeps its digits."""
    goal = math.log(p)

    def excess(y: float) -> float:
        return _log_below(b, c, math.exp(y)) - goal

    # P(Beta <= x) is at most 2·x^b/(b·B(b, c)) for x <= 1/2.
    least = (goal - LN2 + math.lgamma(b + 1.0) + math.lgamma(c) - math.lgamma(b + c)) / b
    low, high = max(math.log(TINY), least), math.log(0.5)
    if low >= high or excess(high) <= 0.0:
        return 0.5
    if excess(low) >= 0.0:
        return 0.0
    return math.exp(root(excess, low, high))


def below(b: float, c: float, x: float) -> float:
    """P(Beta(b, c) <= x), the regularised incomplete Beta function.

    >>> round(below(2.0, 2.0, 0.25), 15)
    0.15625
    """
    if not 0.0 < x < 1.0:
        return float(x >= 1.0)
    return math.exp(_log_below(b, c, x))


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


def total_variation(p: Any, q: Any) -> float:
    """The largest difference of the probabilities that two distributions give to one event.

    >>> total_variation([0.5, 0.5, 0.0], [0.25, 0.25, 0.5])
    0.5
    """
    first, second = _two(p, q)
    return total(np.abs(first - second)) / 2.0


def bits(p: Any, q: Any) -> MeasureResult:
    """The divergence of p from q: what p knows more than q, in bits; unbounded if q rules it out.

    >>> bits([1.0, 0.0], [0.5, 0.5]).value, bits([0.5, 0.5], [1.0, 0.0]).reason
    (1.0, 'unbounded')
    """
    first, second = _two(p, q)
    if ((second == 0) & (first > 0)).any():
        return undefined(UNBOUNDED)
    kept = second > 0
    first, second = first[kept], second[kept]
    # q·((1 + u)·ln(1 + u) - u) with u = p/q - 1: every term is positive, small ones keep digits.
    near = first < 1e12 * second
    u = np.where(near, first - second, 0.0) / second
    terms = second * divergence(u)
    far, base = first[~near], second[~near]
    terms[~near] = far * (np.log(far) - np.log(base)) - far + base
    return MeasureResult(total(terms) / LN2)


def _two(p: Any, q: Any) -> tuple[Floats, Floats]:
    first, second = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    require(
        first.ndim == 1 and first.shape == second.shape, "two distributions have the same values"
    )
    for probabilities in (first, second):
        require(
            (np.isfinite(probabilities) & (probabilities >= 0)).all()
            and abs(total(probabilities) - 1.0) <= 1e-9,
            "the probabilities of a distribution are not negative and add to 1",
        )
    return first, second
