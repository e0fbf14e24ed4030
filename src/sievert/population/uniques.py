"""Estimates of the share of unique people in the population, from the classes of a sample.

A table of n records is a sample of a population of N people, and f = n/N. The sample has u classes,
and c_i classes of i records. Every estimate is a share of the population and names its model. Two
estimates of one share may differ by a factor.
"""

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sievert.arrays import Floats
from sievert.counts.answers import Sizes
from sievert.formatting.remarks import Remark
from sievert.measures.kernel import ratio, total
from sievert.numerics.special_functions import (
    log_gamma_step,
    log_logistic,
    rise,
    rises,
    root,
    weighted_rise,
)
from sievert.population.estimate import NO_UNIQUES, Estimate, SampleClasses

ALL_UNIQUE = Remark("no_maximum")
NO_PAIRS = Remark("no_pairs")
NO_SOLUTION = Remark("no_solution")
MISFIT = Remark("above_sample")
RESIDUAL = 1e-9
# Logits of beta: far below all that counts can need, and the last where 1 - beta matters.
LOWEST = -1e12
HIGHEST = 36.0
# Terms of Zayatz's sum smaller than exp(-CUT) of the first change no digit, however many.
CUT = 57.0


def zayatz(sizes: Sizes, population: int) -> Estimate:
    """Share of the population that is unique, by Zayatz's estimate.

    With h(i) = i·(n/N)·prod_{j=1}^{i-1} (N-n-j+1)/(N-j), the chance that exactly one of i people
    is drawn: theta = c_1·h(1)/sum_i c_i·h(i), the chance that a unique record is unique in the
    population; share c_1·theta/n. Zayatz 1991.

    >>> round(zayatz(Sizes.from_arrays([1, 2, 3, 4, 7, 12], [40, 15, 6, 3, 2, 1]), 1280).value, 12)
    0.124580441627
    """
    sample = SampleClasses.from_sizes(sizes, population)
    estimate = sample.without_model("zayatz")
    if estimate is not None:
        return estimate
    alone = sample.of_size(1)
    others = sizes.sizes >= 2
    terms = _drawn_once(sample, sizes.sizes[others]) * sizes.times[others].astype(np.float64)
    theta = alone / (alone + total(terms))
    return Estimate(
        alone * theta / sample.records,
        "zayatz",
        details={"theta": theta, "sample_uniques": alone},
    )


def _drawn_once(sample: SampleClasses, sizes: NDArray[Any]) -> Floats:
    """h(i)/h(1) for ascending sizes i >= 2: i times the product of the chances not to be drawn.

    Its logarithm is the sum of ln((N-n-j)/(N-1-j)) over j < i-1, continued from size to size. The
    sum ends if a factor is 0, or if n^2 times the product is too small to matter.
    """
    ratios = np.zeros(len(sizes))
    last = 3 + (CUT + 2 * math.log(sample.records)) / -sample.log_outside
    reach = (sizes[sizes <= min(last, sample.outside + 1)] - 1).tolist()
    if sample.records == 1 or not reach:
        return ratios
    others = (sample.population - 1) - np.arange(reach[-1], dtype=np.float64)
    with np.errstate(divide="ignore"):
        logs = np.log1p(-(sample.records - 1) / others).tolist()
    log = 0.0
    for k, (start, stop) in enumerate(itertools.pairwise([0, *reach])):
        log += math.fsum(logs[start:stop])
        ratios[k] = (stop + 1) * math.exp(log)
    return ratios


def pitman(sizes: Sizes, population: int) -> Estimate:
    """Share of the population that is unique, under Pitman's sampling formula.

    theta > 0 and 0 <= alpha < 1 are those of greatest likelihood. Share
    Gamma(theta+1)/Gamma(theta+alpha)·N^(alpha-1), the form for a large N; `exact` is the
    expectation Gamma(theta+1)·Gamma(theta+alpha+N-1)/(Gamma(theta+alpha)·Gamma(theta+N)), which is
    the value where the form for a large N exceeds 1. A maximum on the edge (alpha = 0, Ewens; or
    theta = 0) is an answer like any other; `doubt` says where it hardly fits. Hoshino 2001.

    >>> round(pitman(Sizes.from_arrays([1, 2, 3, 4, 7, 12], [40, 15, 6, 3, 2, 1]), 1280).value, 10)
    0.056943737
    """
    sample = SampleClasses.from_sizes(sizes, population)
    estimate = sample.without_model("pitman")
    if estimate is not None:
        return estimate
    alone = sample.of_size(1)
    if sample.classes == sample.records:
        return Estimate(
            value=None, method="pitman", reason=ALL_UNIQUE, details={"sample_uniques": alone}
        )
    theta, alpha = _pitman_maximum(sample)
    log_ratio = log_gamma_step(theta + alpha, 1.0 - alpha)
    large = math.exp(log_ratio - (1.0 - alpha) * math.log(population))
    exact = math.exp(log_ratio - log_gamma_step(theta + alpha + (population - 1), 1.0 - alpha))
    value = large if large <= 1.0 else exact
    edge = None
    if alpha == 0.0:
        edge = "alpha = 0"
    elif theta == 0.0:
        edge = "theta = 0"
    return Estimate(
        value,
        "pitman",
        details={
            "theta": theta,
            "alpha": alpha,
            "exact": exact,
            "form": "large N" if large <= 1.0 else "exact",
            "edge": edge,
            "doubt": MISFIT if value > alone / sample.records else None,
            "sample_uniques": alone,
        },
    )


def _pitman_maximum(sample: SampleClasses) -> tuple[float, float]:
    """Maximise the likelihood in theta for every alpha, then in alpha.

    The score in theta changes its sign once, from + to -: N(x) = min([x/alpha], u-1) -
    min([x], n-1) does, and the score is the integral of N(x)/(theta+x)^2.
    """

    def slope(alpha: float) -> float:
        return _alpha_score(_pitman_theta(alpha, sample.classes, sample.records), alpha, sample)

    edges = [0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99]
    edges += [
        1 - 10.0**-k for k in (*range(3, 16), 15)
    ]  # the last one if the likelihood falls nowhere
    falls = next((k for k, edge in enumerate(edges) if slope(edge) <= 0.0), len(edges) - 1)
    alpha = root(slope, edges[falls - 1], edges[falls]) if falls else 0.0
    return _pitman_theta(alpha, sample.classes, sample.records), alpha


def _pitman_theta(alpha: float, classes: int, records: int) -> float:
    """The theta of greatest likelihood for one alpha; 0 if the likelihood falls from 0 on."""

    def score(log_theta: float) -> float:
        return _theta_score(math.exp(log_theta), alpha, classes, records)

    if alpha > 0.0 and rise(1.0, classes - 1) <= alpha * rise(1.0, records - 1):
        return 0.0
    low = math.log(classes)
    high = low
    down = 1.0
    up = 1.0
    while score(low) < 0.0:
        low -= down
        down *= 2
    while score(high) > 0.0:
        high += up
        up *= 2
    return math.exp(root(score, low, high))


def _theta_score(theta: float, alpha: float, classes: int, records: int) -> float:
    """theta times sum_{j<u} 1/(theta+j·alpha) - sum_{j<n} 1/(theta+j), j from 1.

    For a large theta, the two sums are nearly (u-1)/theta and (n-1)/theta. These parts are left out
    of both.
    """
    m = classes - 1
    if theta > classes:
        seen = weighted_rise(theta, m) - (weighted_rise(theta / alpha, m) if alpha else 0.0)
        return seen - theta * rise(theta + classes, records - classes)
    first = theta / alpha * rise(theta / alpha + 1.0, m) if alpha else float(m)
    return first - theta * rise(theta + 1.0, records - 1)


def _alpha_score(theta: float, alpha: float, sample: SampleClasses) -> float:
    """sum_{j<u} j/(theta+j·alpha) - sum_{i>=2} c_i·sum_{j<i} 1/(j-alpha), j from 1."""
    u = sample.classes
    rising = weighted_rise(theta / alpha, u - 1) / alpha if alpha else u * (u - 1) / 2 / theta
    others = sample.sizes.sizes >= 2
    falling = rises(1.0 - alpha, sample.sizes.sizes[others] - 1)
    return rising - total(falling * sample.sizes.times[others].astype(np.float64))


def snb(sizes: Sizes, population: int) -> Estimate:
    """Share of the population that is unique, under the slide negative binomial model.

    F_q - 1 is negative binomial with alpha > 0 and 0 < beta < 1; K classes of the population by
    Shlosser's third estimator. alpha and beta give the expected numbers of classes of one and of
    two in the sample: c_1 and c_2. Share K·beta^alpha/N. Chen and Keller-McNulty 1998, Haas and
    Stokes 1998.

    >>> round(snb(Sizes.from_arrays([1, 2, 3, 4, 7, 12], [40, 15, 6, 3, 2, 1]), 1280).value, 10)
    0.0715043478
    """
    sample = SampleClasses.from_sizes(sizes, population)
    estimate = sample.without_model("snb")
    if estimate is not None:
        return estimate
    alone = sample.of_size(1)
    pairs = sample.of_size(2)
    classes = shlosser(sizes, population)
    details: dict[str, Any] = {"classes": classes, "sample_uniques": alone}
    if pairs == 0:
        return Estimate(value=None, method="snb", reason=NO_PAIRS, details=details)
    model = _Slide(
        classes=classes,
        fraction=sample.fraction,
        outside=sample.outside / population,
        alone=alone,
        pairs=pairs,
    )
    if not model.excess(LOWEST) < 0.0 < model.excess(HIGHEST):
        return Estimate(value=None, method="snb", reason=NO_SOLUTION, details=details)
    x = root(model.excess, LOWEST, HIGHEST)
    alpha = model.alpha(x)
    log_beta = log_logistic(x)
    residual = max(map(abs, model.residuals(x)))
    beta = math.exp(log_beta)
    details |= {"alpha": alpha, "beta": beta, "log_beta": log_beta, "residual": residual}
    if residual > RESIDUAL:
        return Estimate(value=None, method="snb", reason=NO_SOLUTION, details=details)
    return Estimate(classes / population * math.exp(alpha * log_beta), "snb", details=details)


def shlosser(sizes: Sizes, population: int) -> float:
    """The number of classes in the population, by Shlosser's third estimator.

    u + c_1·[sum i·f^2·(1-f^2)^(i-1)·c_i]/[sum ((1-f^2)^i - (1-f)^i)·c_i]
    ·([sum (1-f)^i·c_i]/[sum i·f·(1-f)^(i-1)·c_i])^2. Haas and Stokes 1998, equation 30b.
    """
    sample = SampleClasses.from_sizes(sizes, population)
    alone = sample.of_size(1)
    f = sample.fraction
    if alone == 0 or sample.outside == 0:
        return float(sample.classes)
    i = sizes.sizes.astype(np.float64)
    c = sizes.times.astype(np.float64)
    once = sample.log_outside
    twice = sample.log_outside + math.log1p(f)
    first = total(c * i * np.exp((i - 1) * twice)) * f * f
    second = total(-c * np.exp(i * twice) * np.expm1(-i * math.log1p(f)))
    missed = total(c * np.exp(i * once)) / (total(c * i * np.exp((i - 1) * once)) * f)
    return sample.classes + alone * first / second * missed * missed


@dataclass(frozen=True, kw_only=True)
class _Slide:
    """The two equations of the slide negative binomial model, reduced to one in x = logit(beta).

    With a = 1-beta, d = (1-f)·a and D = 1-d they are
    K·f·(beta/D)^alpha·(1 + alpha·d/D) = c_1 and
    K·(f^2/2)·alpha·a·(beta/D)^alpha·D^(-2)·(2 - (1-alpha)·d) = c_2.
    Their quotient is a quadratic in alpha with one positive root for every beta; put into the
    first equation, it leaves a function of x that rises from minus infinity.
    """

    classes: float
    fraction: float
    outside: float
    alone: int
    pairs: int

    def parts(self, x: float) -> tuple[float, float, float]:
        """a, d and D."""
        a = math.exp(log_logistic(-x))
        beta = math.exp(log_logistic(x))
        return a, self.outside * a, self.fraction + self.outside * beta

    def alpha(self, x: float) -> float:
        """The root of (f·a·d/2)·alpha^2 + (f·a·(2-d)/2 - r·D·d)·alpha = r·D^2, r = c_2/c_1."""
        a, d, rest = self.parts(x)
        r = self.pairs / self.alone
        square = self.fraction * a * d / 2
        constant = r * rest * rest
        linear = self.fraction * a * (2 - d) / 2 - r * rest * d
        discriminant = math.sqrt(linear * linear + 4 * square * constant)
        small = linear + discriminant
        large = discriminant - linear
        return 2 * constant / small if linear > 0 else large / (2 * square)

    def excess(self, x: float) -> float:
        """ln of the expected number of classes of one, less ln c_1."""
        _, d, rest = self.parts(x)
        alpha = self.alpha(x)
        scale = math.log(self.classes * self.fraction / self.alone)
        return scale + alpha * self.log_share(x) + math.log1p(alpha * d / rest)

    def log_share(self, x: float) -> float:
        """ln(beta/D) = ln(1 - f·a/D)."""
        a, _, rest = self.parts(x)
        near = 2 * self.fraction * a <= rest
        return math.log1p(-self.fraction * a / rest) if near else log_logistic(x) - math.log(rest)

    def residuals(self, x: float) -> tuple[float, float]:
        """The errors of both equations, relative to c_1 and c_2."""
        a, d, rest = self.parts(x)
        alpha = self.alpha(x)
        common = self.classes * self.fraction * math.exp(alpha * self.log_share(x))
        ones = common * (1 + alpha * d / rest)
        twos = common * self.fraction / 2 * alpha * a / rest / rest * (2 - (1 - alpha) * d)
        return ones / self.alone - 1, twos / self.pairs - 1


def dankar(sizes: Sizes, population: int) -> Estimate:
    """Share of the population that is unique, by the decision rule of Dankar et al. 2012.

    f <= 0.1: Pitman, or Zayatz if Pitman has no answer. f > 0.1: the smaller of Zayatz and the
    slide negative binomial, or Zayatz if the latter has no answer. `taken` names the model.

    >>> found = dankar(Sizes.from_arrays([1, 2, 3, 4, 7, 12], [40, 15, 6, 3, 2, 1]), 1280)
    >>> found.details["taken"], round(found.value, 10)
    ('pitman', 0.056943737)
    """
    sample = SampleClasses.from_sizes(sizes, population)
    estimate = sample.without_model("dankar")
    if estimate is not None:
        return estimate
    model = pitman if 10 * sample.records <= population else snb
    first = model(sizes, population)
    second = zayatz(sizes, population)
    assert second.value is not None
    better = first.value is not None and (model is pitman or first.value <= second.value)
    taken = first if better else second
    details = {
        "taken": taken.method,
        "considered": {e.method: e.value for e in (first, second)},
        "doubt": taken.details.get("doubt"),
        "sample_uniques": sample.of_size(1),
        **({} if first.reason is None else {"instead_of": f"{first.method}: {first.reason}"}),
    }
    return Estimate(taken.value, "dankar", details=details)


def cautious(sizes: Sizes, population: int) -> Estimate:
    """Share of the population that is unique: the largest of Zayatz, Pitman and SNB.

    No share exceeds c_1/n, the sample's own share, because a person who is unique in the population
    is unique in every sample. If a model gives more, it does not fit, and c_1/n is taken. Zayatz
    always has an answer: 1 if every record is unique. `taken` names the model.

    >>> found = cautious(Sizes.from_arrays([1, 2, 3, 4, 7, 12], [40, 15, 6, 3, 2, 1]), 1280)
    >>> found.details["taken"], round(found.value, 10)
    ('zayatz', 0.1245804416)
    """
    sample = SampleClasses.from_sizes(sizes, population)
    estimate = sample.without_model("cautious")
    if estimate is not None:
        return estimate
    considered = {model.__name__: model(sizes, population) for model in (zayatz, pitman, snb)}
    own = ratio(sample.of_size(1), sample.records)
    shares = {name: min(e.value, own) for name, e in considered.items() if e.value is not None}
    taken = max(shares, key=lambda name: shares[name])
    details = {
        "taken": taken if shares[taken] < own else "sample uniques",
        "considered": {name: e.value for name, e in considered.items()},
        "sample_uniques": sample.of_size(1),
    }
    return Estimate(shares[taken], "cautious", details=details)


def unique_match(sizes: Sizes, population: int) -> Estimate:
    """The probability that a match of a unique record with one person is right.

    theta = f·c_1/(f·c_1 + 2·(1-f)·c_2), standard error
    theta^2·sqrt(2·(1-f)·(2-f)·c_2 + 6·(1-f)^2·c_3)/(f·c_1), for a sample that was drawn with equal
    probabilities. Skinner and Elliot 2002.

    >>> found = unique_match(Sizes.from_arrays([1, 2, 3, 4, 7, 12], [40, 15, 6, 3, 2, 1]), 1280)
    >>> round(found.value, 12), round(found.details["standard_error"], 12)
    (0.127080181543, 0.036842755622)
    """
    sample = SampleClasses.from_sizes(sizes, population)
    ones, twos, threes = (sample.of_size(i) for i in (1, 2, 3))
    if ones == 0:
        return Estimate(None, "skinner-elliot", NO_UNIQUES)
    seen = sample.records * ones
    theta = ratio(seen, seen + 2 * sample.outside * twos)
    spread = 2 * sample.outside * (population + sample.outside) * twos
    spread += 6 * sample.outside**2 * threes
    return Estimate(
        theta,
        "skinner-elliot",
        details={
            "standard_error": theta * theta * math.sqrt(spread) / seen,
            "sample_uniques": ones,
        },
    )
