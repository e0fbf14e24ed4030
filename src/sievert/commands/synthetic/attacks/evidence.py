"""What an attack proves: people of the original against strangers of a control group.

Every attack gives each person of the pool a score that never uses who is in the original. If the
synthetic table tells nothing beyond the population, who is an original and who a control is
exchangeable, and a difference of their means is noise of a known size.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any

import numpy as np

from sievert.arrays import Bools, Floats, Ints
from sievert.numerics.special_functions import wilson

POWERFUL = 0.8  # the share of tables in which something is to be seen
POWER = NormalDist().inv_cdf(0.95) + NormalDist().inv_cdf(POWERFUL)  # one-sided 5 %
SKEWED = 2.0  # the skewness of scores from which the normal approximation is corrected
LEVEL = 0.95
NUMBERS = ("baseline", "risk", "low", "high", "p", "least_excess")
OF_EVERY_ATTACK = frozenset({"original", "control", *NUMBERS})  # in the JSON; others: details


@dataclass(frozen=True, kw_only=True)
class GroupRate:
    """How an attack fares against some people: how many, the sum of their scores, its mean."""

    people: int
    hits: float
    rate: float | None
    low: float | None = None  # of the rate, where not all people were attacked
    high: float | None = None

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "GroupRate":
        """Read the rate of a group back from the JSON."""
        return cls(
            people=data["people"],
            hits=data["hits"],
            rate=data["rate"],
            low=data.get("low"),
            high=data.get("high"),
        )

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON."""
        hits = int(self.hits) if float(self.hits).is_integer() else self.hits
        own = {"people": self.people, "hits": hits, "rate": self.rate}
        return own if self.low is None else own | {"low": self.low, "high": self.high}


@dataclass(frozen=True, kw_only=True)
class SyntheticAttack:
    """One attack: rates of originals and of strangers, and what their difference proves."""

    name: str
    original: GroupRate
    control: GroupRate | None
    baseline: float | None
    risk: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    least_excess: float | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_dict(cls, name: str, data: Mapping[str, Any]) -> "SyntheticAttack":
        """Read an attack back from the JSON, by its name."""
        control = data["control"]
        return cls(
            name=name,
            original=GroupRate.from_dict(data["original"]),
            control=None if control is None else GroupRate.from_dict(control),
            baseline=data["baseline"],
            risk=data["risk"],
            low=data["low"],
            high=data["high"],
            p=data["p"],
            least_excess=data["least_excess"],
            details={key: entry for key, entry in data.items() if key not in OF_EVERY_ATTACK},
        )

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON."""
        own = {
            "original": self.original.to_dict(),
            "control": None if self.control is None else self.control.to_dict(),
            **{name: getattr(self, name) for name in NUMBERS},
        }
        return own | dict(self.details)


@dataclass(frozen=True, eq=False)
class PoolGroups:
    """Who is in the original, and which people came there together and change sides together."""

    originals: int
    clusters: Ints | None = None  # per person of the pool; each on their own unless given
    sampled: bool = False  # more people were there to be attacked

    def only(self, concerned: Bools) -> "PoolGroups":
        """The same of some people."""
        own = int(np.count_nonzero(concerned[: self.originals]))
        clusters = None if self.clusters is None else self.clusters[concerned]
        return PoolGroups(own, clusters, self.sampled)

    def rates(self, scores: Floats) -> tuple[GroupRate, GroupRate]:
        """The rates of originals and of strangers."""
        n = self.originals
        several = self.clusters
        parts = (scores[:n], scores[n:])
        if not self.sampled:
            return _rate(parts[0]), _rate(parts[1])
        clusters = (None, None) if several is None else (several[:n], several[n:])
        own, other = (_sampled_rate(p, c) for p, c in zip(parts, clusters, strict=True))
        return own, other


def weigh(
    name: str, scores: Floats, groups: PoolGroups, baseline: float | None = None, **details: Any
) -> SyntheticAttack:
    """The rates, the risk with its interval, and the test that an attack's scores allow.

    `scores` has one number from 0 to 1 per person, originals first; NaN: the attack does not
    concern this person.
    """
    concerned = ~np.isnan(scores)
    alone = groups.originals == len(scores)
    groups = groups.only(concerned)
    scores = scores[concerned]
    n = groups.originals
    own = scores[:n]
    other = scores[n:]
    rates = groups.rates(scores)
    if alone:
        return SyntheticAttack(
            name=name, original=rates[0], control=None, baseline=baseline, details=details
        )
    risk = None
    low = None
    high = None
    least = None
    if len(own) and len(other):
        more = design_effect(scores, groups)
        risk, low, high = risk_interval(own, other, more)
        least = math.sqrt(more) * least_excess(rates[1].rate or 0.0, len(own), len(other))
    return SyntheticAttack(
        name=name,
        original=rates[0],
        control=rates[1],
        baseline=baseline,
        risk=risk,
        low=low,
        high=high,
        p=chance(scores, groups),
        least_excess=least,
        details=details,
    )


def _rate(scores: Floats) -> GroupRate:
    total = math.fsum(scores.tolist())
    return GroupRate(
        people=len(scores), hits=total, rate=total / len(scores) if len(scores) else None
    )


def _sampled_rate(scores: Floats, clusters: Ints | None) -> GroupRate:
    """The rate of sampled people, with Wilson limits for the rate of all people."""
    own = _rate(scores)
    design = 1.0
    if own.rate is None:
        return own
    if clusters is not None:
        centred = scores - own.rate
        alone = math.fsum((centred**2).tolist())
        sums = math.fsum((_cluster_sums(centred, clusters) ** 2).tolist())
        design = max(1.0, sums / alone) if alone else 1.0
    low, high = _failing(scores, design)[1]
    return GroupRate(
        people=own.people, hits=own.hits, rate=own.rate, low=1.0 - high, high=1.0 - low
    )


def least_excess(rate: float, originals: int, controls: int) -> float:
    """The smallest excess of the hit rate that the test detects with 80 % power, at 5 %.

    It is at least the excess that is detected if no control person is hit.

    >>> round(least_excess(0.08, 20108, 10054), 4)
    0.0082
    >>> round(least_excess(0.0, 1600, 400), 4)
    0.0109
    """
    normal = POWER * math.sqrt(rate * (1.0 - rate) * (1 / originals + 1 / controls))
    return max(normal, _least_without_strangers(originals, controls))


def _least_without_strangers(originals: int, controls: int) -> float:
    """The smallest hit rate that the test detects with 80 % power if no control person is hit.

    The chance that all `hits` people are originals is C(n, hits)/C(n + c, hits).
    """
    hits = 0
    alone = 1.0
    while alone > 1.0 - LEVEL:
        if hits == originals:
            return 1.0
        alone *= (originals - hits) / (originals + controls - hits)
        hits += 1
    return wilson(hits, originals, 2 * POWERFUL - 1)[1]


# -- risk -----------------------------------------------------------------------------------------


def risk_interval(
    own: Floats, other: Floats, design: float = 1.0
) -> tuple[float | None, float | None, float | None]:
    """The risk (r_T - r_C)/(1 - r_C) with its interval: one minus a ratio of two failure rates.

    The ratio's limits are those of Donner and Zou (MOVER-R), from the Wilson limits of both rates;
    people who came together count as fewer, by the design effect. There is no lower end where
    it may be that nobody is spared of the strangers.

    >>> import numpy as np
    >>> own, other = np.array([1.0, 1, 1, 1, 0, 0]), np.array([1.0, 1, 1, 0])
    >>> [round(number, 4) for number in risk_interval(own, other)]
    [-0.3333, -7.1832, 0.7301]
    """
    failing, (low_own, high_own) = _failing(own, design)
    spared, (low_other, high_other) = _failing(other, design)
    if not spared:
        return None, None, None
    # The roots of below t^2 - 2 product t + above: the smaller one has the form without
    # cancellation, which also holds where the upper limit of the strangers makes `below` negative.
    product = failing * spared
    above = low_own * (2 * failing - low_own)
    below = high_other * (2 * spared - high_other)
    least = above / (product + math.sqrt(product * product - above * below)) if above else 0.0
    above = high_own * (2 * failing - high_own)
    below = low_other * (2 * spared - low_other)
    most = product + math.sqrt(max(0.0, product * product - above * below))
    return 1.0 - failing / spared, 1.0 - most / below if below else None, 1.0 - least


def _failing(scores: Floats, design: float) -> tuple[float, tuple[float, float]]:
    """The mean of 1 - score, and its Wilson limits; fractions count as fewer whole people."""
    n = len(scores)
    mean = 1.0 - math.fsum(scores.tolist()) / n
    trials = float(n)
    if not _is_binary(scores) and n > 1:
        spread = _spread(scores)
        trials = n * mean * (1.0 - mean) / spread if spread > 0 else trials
    trials /= design
    return mean, wilson(mean * trials, trials, LEVEL)


def _is_binary(scores: Floats) -> bool:
    return bool(((scores == 0.0) | (scores == 1.0)).all())


# -- tests ----------------------------------------------------------------------------------------


def chance(scores: Floats, groups: PoolGroups) -> float | None:
    """How likely chance alone gives originals so much more than strangers, one-sided.

    Exact for scores of 0 and 1 (Fisher); normal for others, corrected where they are skewed, and
    for people who came together.
    """
    n = groups.originals
    c = len(scores) - groups.originals
    if not n or not c:
        return None
    if groups.clusters is None and _is_binary(scores):
        return hypergeometric_tail(int(scores[:n].sum()), n + c, int(scores.sum()), n)
    z = difference(scores, groups)
    if z is None:
        return 1.0
    p = NormalDist().cdf(-z)
    parts = scores - math.fsum(scores.tolist()) / len(scores)
    if groups.clusters is not None:
        firsts = np.unique(groups.clusters[:n])
        parts = _cluster_sums(parts, groups.clusters)
        n = len(firsts)
        c = len(parts) - len(firsts)
    p = max(p, _one_draw(n, c))
    spread = float(np.mean(parts**2))
    skew = float(np.mean(parts**3)) / spread**1.5 if spread else 0.0
    if abs(skew) <= SKEWED or c <= 0:
        return p
    whole = n + c
    g = skew * (c * c - n * n) / (whole * math.sqrt(n * c * whole))
    return max(p, NormalDist().cdf(-(z - g * (z * z - 1.0) / 6.0)))


def _one_draw(n: int, c: int) -> float:
    """The chance of one way to draw the originals from the pool: no test is more certain."""
    ways = math.lgamma(n + c + 1) - math.lgamma(n + 1) - math.lgamma(max(c, 0) + 1)
    return math.exp(-ways)


def difference(scores: Floats, groups: PoolGroups) -> float | None:
    """z: the difference of the means, in standard errors under exchange; None without spread."""
    n = groups.originals
    c = len(scores) - groups.originals
    if len(scores) < 2 or not n or not c:
        return None
    spread = _spread(scores)
    if not spread:
        return None
    means = math.fsum(scores[:n].tolist()) / n - math.fsum(scores[n:].tolist()) / c
    return means / math.sqrt(spread * (1 / n + 1 / c) * design_effect(scores, groups))


def _spread(scores: Floats) -> float:
    """The variance; exactly 0 for equal scores, although sums of them are rounded."""
    varies = len(scores) > 1 and scores.min() != scores.max()
    return float(np.var(scores, ddof=1)) if varies else 0.0


def _cluster_sums(scores: Floats, clusters: Ints) -> Floats:
    return np.asarray(np.bincount(clusters, scores)[np.bincount(clusters) > 0])


def design_effect(scores: Floats, groups: PoolGroups) -> float:
    """How much more the difference varies where people who came together change sides together."""
    if groups.clusters is None:
        return 1.0
    n = groups.originals
    whole = len(scores)
    spread = _spread(scores)
    if not spread:
        return 1.0
    centred = scores - math.fsum(scores.tolist()) / whole
    sums = _cluster_sums(centred, groups.clusters)
    many = len(sums)
    mine = len(np.unique(groups.clusters[:n]))
    if not 0 < mine < many:
        return 1.0
    varies = mine * (1 - mine / many) * math.fsum((sums**2).tolist()) / (many - 1)
    alone = n * (1 - n / whole) * spread
    return varies / alone if varies else 1.0


def hypergeometric_tail(hits: int, people: int, successes: int, originals: int) -> float:
    """The chance of at least `hits` hits among the originals, if the originals are drawn at random.

    >>> hypergeometric_tail(3, 10, 3, 6)
    0.16666666666666666
    """
    least = max(0, successes + originals - people)
    most = min(successes, originals)
    if hits <= least:
        return 1.0
    # From the most likely number on both sides, each term by the one before it.
    start = (successes + 1) * (originals + 1) // (people + 2)
    start = min(max(start, least), most)
    terms = {start: 1.0}
    for k in range(start, most):
        above = (successes - k) * (originals - k)
        terms[k + 1] = terms[k] * above / ((k + 1) * (people - successes - originals + k + 1))
    for k in range(start, least, -1):
        below = k * (people - successes - originals + k)
        terms[k - 1] = terms[k] * below / ((successes - k + 1) * (originals - k + 1))
    tail = math.fsum(term for k, term in terms.items() if k >= hits)
    return min(1.0, tail / math.fsum(terms.values()))


def holm(chances: Mapping[str, float]) -> dict[str, float]:
    """The chances of several tests, adjusted so that any false alarm at all is that unlikely.

    >>> holm({"a": 0.01, "b": 0.04, "c": 0.03})
    {'a': 0.03, 'b': 0.06, 'c': 0.06}
    """
    ordered = sorted(chances, key=lambda name: chances[name])
    adjusted = {}
    least = 0.0
    for rank, name in enumerate(ordered):
        least = max(least, min(1.0, (len(ordered) - rank) * chances[name]))
        adjusted[name] = least
    return {name: adjusted[name] for name in chances}


def area_under_curve(own: Sequence[float] | Floats, other: Sequence[float] | Floats) -> float:
    """How often an original's score is above a stranger's; ties count half.

    >>> area_under_curve([1.0, 2.0], [1.0, 0.0])
    0.875
    """
    values, codes = np.unique(np.concatenate([own, other]), return_inverse=True)
    first = np.bincount(codes[: len(own)], minlength=len(values))
    second = np.bincount(codes[len(own) :], minlength=len(values))
    below = np.cumsum(second) - second
    return int((first * (2 * below + second)).sum()) / (2 * len(own) * len(other))
