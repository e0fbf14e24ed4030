"""Estimates of all classes from a sample of classes: shares of people, with a 95 % interval.

Every class is in the sample with the same probability p, whatever its size, and its count is exact.
A sum over classes, such as the number of unique people, is estimated by the sum over the sample
divided by p (Horvitz and Thompson 1952; for a threshold that the sample itself sets: Ting 2022,
"Adaptive Threshold Sampling"). The interval contains the totals that the sum in the sample does not
contradict. It is the score interval (Wilson 1927) of a binomial count; for unequal weights, of the
effective number of classes.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sievert.arrays import Floats, Ints

COVERAGE = 0.95
QUANTILE = 1.959963984540054  # of the normal distribution, two-sided
BELOW = (2, 3, 5, 10, 20)  # sizes of classes; smaller classes are counted
ENOUGH = 1000  # classes in a sample from which on the intervals have their coverage


@dataclass(frozen=True)
class IntervalEstimate:
    """A number with its interval; it is exact if both ends are the number."""

    value: float
    low: float
    high: float

    @classmethod
    def from_dict(cls, data: Mapping[str, float]) -> "IntervalEstimate":
        """Read an estimate back from the JSON."""
        return cls(value=data["estimate"], low=data["low"], high=data["high"])

    def to_dict(self) -> dict[str, float]:
        """The estimate as JSON."""
        return {"estimate": self.value, "low": self.low, "high": self.high}


def estimate_total(weights: Ints, share: float, largest: int, most: int) -> IntervalEstimate:
    """Estimate the sum of weights over all classes from a sample with a `share` of the classes.

    No weight is larger than `largest`, and the sum is no larger than `most`.

    >>> estimate_total(np.array([1, 1, 0, 1]), 1.0, 1, 10)
    IntervalEstimate(value=3.0, low=3.0, high=3.0)
    """
    total = float(weights.sum())
    squares = float((weights.astype(float) ** 2).sum())
    if share >= 1:
        return IntervalEstimate(total, total, total)
    weight = squares / total if total else float(largest)
    low, high = score_interval(total / weight, share)
    return IntervalEstimate(
        min(total / share, most), max(total, weight * low), min(max(weight * high, total), most)
    )


def score_interval(seen: float, share: float) -> tuple[float, float]:
    """The range of the classes U with |seen - U p| <= z sqrt(U p (1 - p)): a quadratic in U.

    >>> [round(end) for end in score_interval(100, 0.5)]
    [174, 230]
    """
    middle = 2 * seen + QUANTILE**2 * (1 - share)
    half = math.sqrt(middle**2 - 4 * seen**2)
    return (middle - half) / (2 * share), (middle + half) / (2 * share)


def scale(estimate: IntervalEstimate, by: float) -> IntervalEstimate:
    """Divide an estimate by an exact number."""
    return IntervalEstimate(estimate.value / by, estimate.low / by, estimate.high / by)


@dataclass(frozen=True)
class SampleEstimates:
    """The estimates of one key."""

    classes: IntervalEstimate  # their number
    average_risk: IntervalEstimate  # mean over people of one over the size of the class
    below: dict[int, IntervalEstimate]  # share of people in classes of fewer people than this
    certain: dict[str, IntervalEstimate]  # by secret, people in small classes with one value


def estimate_sample(
    counts: Ints, share: float, records: int, single: dict[str, Floats]
) -> SampleEstimates:
    """Make all estimates of a sample of classes; `single` marks classes with one value."""

    def people(of_class: Ints, below: int) -> IntervalEstimate:
        weights = of_class * (counts < below)
        return scale(estimate_total(weights, share, below - 1, records), records)

    classes = estimate_total(np.ones(len(counts), dtype=np.int64), share, 1, records)
    return SampleEstimates(
        classes=classes,
        average_risk=scale(classes, records),
        below={below: people(counts, below) for below in BELOW},
        certain={secret: people(counts * own, BELOW[-1]) for secret, own in single.items()},
    )
