"""The result of an estimate about a population, and the numbers of a sample it starts from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

from sievert.counts.answers import Sizes
from sievert.errors import require
from sievert.formatting import plural
from sievert.measures.kernel import ratio

NO_UNIQUES = "no record of the sample is unique"


@dataclass(frozen=True)
class Estimate:
    """An estimate about the population, its method, and further numbers.

    `value` is None, with a `reason`, where the number is undefined; it is never NaN.
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
    """N, given itself or by the sampling fraction f: N = round(n/f), f as it is written.

    >>> population_size(30162, fraction=0.1), population_size(30162, size=50_000)
    (301620, 50000)
    """
    require(
        (size is None) != (fraction is None),
        "either the size of the population or the sampling fraction is needed",
    )
    if fraction is not None:
        try:
            share = Fraction(str(fraction))
        except (ValueError, ZeroDivisionError):
            share = Fraction(0)
        require(0 < share <= 1, "a sampling fraction is greater than 0 and at most 1")
        size = round(records / share)
    assert size is not None
    require(
        size >= records,
        f"a population of {size:,} cannot have a sample of {plural(records, 'record')}",
        hint="the number of people the sample was drawn from",
    )
    return size


@dataclass(frozen=True)
class SampleClasses:
    """The numbers of a histogram of class sizes that the models share."""

    sizes: Sizes
    records: int
    population: int

    @classmethod
    def from_sizes(cls, sizes: Sizes, population: int) -> SampleClasses:
        records = sizes.records
        require(records != 0, "a sample without records tells nothing about its population")
        return cls(sizes, records, population_size(records, size=population))

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
        """ln(1 - f), with all its digits for f near 0 and near 1."""
        if 2 * self.records <= self.population:
            return math.log1p(-self.fraction)
        return math.log(self.outside / self.population)

    def of_size(self, size: int) -> int:
        """c_i, the number of classes with so many records."""
        return int(self.sizes.times[self.sizes.sizes == size].sum())

    def without_model(self, method: str) -> Estimate | None:
        """Where no model is needed: the sample is the population, or nobody in it is unique."""
        alone = self.of_size(1)
        if self.outside == 0:
            value = ratio(alone, self.records)
            return Estimate(value, "counted", details={"sample_uniques": alone})
        return Estimate(0.0, method, details={"sample_uniques": 0}) if alone == 0 else None
