"""Estimates about a population, the sample they start from, and rules of dominance."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from fractions import Fraction
from heapq import nlargest
from typing import Any, Self

from sievert.counts.answers import Sizes
from sievert.errors import UsageError, require
from sievert.formatting import plural
from sievert.formatting.remarks import Remark
from sievert.measures.kernel import ratio

NO_UNIQUES = Remark("no_unique")
NEGATIVE = "a contribution is negative"
NOTHING = "all contributions are 0"
Amount = int | float | Decimal | Fraction


@dataclass(frozen=True)
class Estimate:
    """An estimate about the population, its method, and further numbers.

    If the number is undefined, `value` is None, with a `reason`; it is never NaN.
    """

    value: float | None
    method: str
    reason: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The values as JSON."""
        return asdict(self)


def population_size(
    records: int, *, size: int | None = None, fraction: float | str | Decimal | None = None
) -> int:
    """The size N of the population: `size`, or round(n/f) for the exact decimal fraction f.

    >>> population_size(30162, fraction=0.1), population_size(30162, size=50_000)
    (301620, 50000)
    """
    require(
        (size is None) != (fraction is None),
        "either the size of the population or the sampling fraction is needed",
    )
    if size is None:
        try:
            share = Fraction(str(fraction))
        except (ValueError, ZeroDivisionError):
            share = Fraction(0)
        require(0 < share <= 1, "a sampling fraction is greater than 0 and at most 1")
        size = round(records / share)
    require(
        size >= records,
        f"a population of {size:,} cannot have a sample of {plural(records, 'record')}",
        hint="the number of people the sample was drawn from",
    )
    return size


@dataclass(frozen=True)
class SampleClasses:
    """A histogram of class sizes with the numbers that the models share."""

    sizes: Sizes
    records: int
    population: int

    @classmethod
    def from_sizes(cls, sizes: Sizes, population: int) -> Self:
        require(sizes.records, "a sample without records tells nothing about its population")
        return cls(sizes, sizes.records, population_size(sizes.records, size=population))

    @property
    def classes(self) -> int:
        return self.sizes.things

    @property
    def fraction(self) -> float:
        return self.records / self.population

    @property
    def outside(self) -> int:
        """N - n: the people outside the sample."""
        return self.population - self.records

    @property
    def log_outside(self) -> float:
        """ln(1 - f), exact to all digits for f near 0 and near 1."""
        small = 2 * self.records <= self.population
        return math.log1p(-self.fraction) if small else math.log(self.outside / self.population)

    def of_size(self, size: int) -> int:
        """c_i, the number of classes with `size` records."""
        return int(self.sizes.times[self.sizes.sizes == size].sum())

    def without_model(self, method: str) -> Estimate | None:
        """The estimate if no model is needed: the sample is the population, or nobody is unique."""
        alone = self.of_size(1)
        if self.outside and alone:
            return None
        details = {"sample_uniques": alone}
        if self.outside:
            return Estimate(0.0, method, details=details)
        return Estimate(ratio(alone, self.records), "counted", details=details)


# -- whether one or two people make up most of a class's total of a numeric secret ----------------
#
# x_1 >= x_2 >= ... are the contributions to the total X of one class. A member of the class can
# subtract their own contribution from a published total; the rest may be nearly one person's.
# Both rules are in the Handbook on Statistical Disclosure Control (Hundepool et al. 2012, chapter
# 4) and hold for contributions that are not negative.


def dominance(
    contributions: Iterable[Amount],
    n: int = 2,
    k: Amount = 85,
    *,
    total: Amount | None = None,
) -> Estimate:
    """The (n, k) rule: (x_1 + ... + x_n)/X, `flagged` where it exceeds k percent.

    With a `total`, `contributions` may be the n largest only. n = 2 and k = 85 are the example of
    the handbook's glossary; n = 1 ignores the knowledge of the second largest.

    >>> found = dominance([50, 30, 15, 5])
    >>> found.value, found.details["flagged"]
    (0.8, False)
    """
    require(n >= 1 and 0 < k < 100, "the rule needs n of at least 1 and k between 0 and 100")
    largest, reason, whole = _exactly(contributions, n, total)
    share = None if reason else sum(largest, Fraction(0)) / whole
    flagged = share is not None and 100 * share > Fraction(str(k))
    return _rule("dominance", share, reason, {"n": n, "k": float(k)}, flagged)


def p_percent(
    contributions: Iterable[Amount], p: Amount = 10, *, total: Amount | None = None
) -> Estimate:
    """The p% rule: (X - x_1 - x_2)/x_1, `flagged` where it is below p percent.

    This is the relative error with which the second largest contributor can estimate the largest
    contribution. With a `total`, `contributions` may be the two largest only. p = 10 is the
    handbook's example; it flags less than n = 2 with k = 10000/(100 + p).

    >>> found = p_percent([52_000, 50_000], total=110_000)
    >>> round(found.value, 3), found.details["flagged"]
    (0.154, False)
    """
    require(p > 0, "the rule needs p above 0")
    largest, reason, whole = _exactly(contributions, 2, total)
    left = None if reason else (whole - sum(largest, Fraction(0))) / largest[0]
    flagged = left is not None and 100 * left < Fraction(str(p))
    return _rule("p percent", left, reason, {"p": float(p)}, flagged)


def _rule(
    method: str, share: Fraction | None, reason: str | None, limits: dict[str, Any], flagged: bool
) -> Estimate:
    """Make the estimate of a rule; with a negative contribution `flagged` is unknown."""
    details = {**limits, "flagged": None if reason == NEGATIVE else flagged}
    return Estimate(
        value=None if share is None else float(share), method=method, reason=reason, details=details
    )


def _exactly(
    contributions: Iterable[Amount], n: int, total: Amount | None
) -> tuple[list[Fraction], str | None, Fraction]:
    """The n largest contributions, the reason why they have no share, and the exact total."""
    try:
        values = [Fraction(x) for x in contributions]
        whole = sum(values, Fraction(0)) if total is None else Fraction(total)
    except (ValueError, OverflowError, TypeError):
        raise UsageError("a contribution is missing or infinite") from None
    require(values, "a class without contributions has no total")
    require(
        whole >= sum(values, Fraction(0)) or min(values) < 0, "the contributions exceed their total"
    )
    reason = None
    if min(values) < 0:
        reason = NEGATIVE
    elif whole == 0:
        reason = NOTHING
    return nlargest(n, values), reason, whole
