"""The numeric columns of a release: numbers before and after, alone and in pairs.

Pairs are kept in standard units, so that no power of a large number is ever formed. The original's
moments are over its records, the release's over the cells it still shows.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.formatting.remarks import Remark
from sievert.losses.loss import PairedColumn, Release, computed_once
from sievert.measures.kernel import total

LARGEST = 1e150  # beyond, a square is no number any more
FARTHEST = 1e75  # standard deviations beyond which a fourth power is none
BLOCK = 1 << 13
NO_RECORDS = Remark("too_few_whole")
SINGULAR = 1e-12  # of the largest eigenvalue: a matrix with a smaller one has no inverse
REACH = 8.6  # bandwidths beyond which a normal density adds nothing


@dataclass(frozen=True)
class Side:
    """The numbers of a column on one side: distinct, in order, and how often each occurs."""

    values: Floats
    counts: Ints

    @classmethod
    def from_codes(cls, numbers: Floats, counts: Ints) -> "Side":
        """Make a side from the number of each code (NaN for none) and how often each occurs."""
        there = (counts > 0) & ~np.isnan(numbers)
        values, place = np.unique(numbers[there], return_inverse=True)
        return cls(values, np.bincount(place, counts[there], len(values)).astype(np.int64))

    @cached_property
    def records(self) -> int:
        """The number of records that have a number."""
        return int(self.counts.sum())

    @cached_property
    def mean(self) -> float:
        """The mean."""
        if len(self.values) == 1:
            return float(self.values[0])
        return total(self.values * self.counts) / self.records

    @cached_property
    def deviation(self) -> float:
        """The standard deviation, over all records (divided by n)."""
        return math.sqrt(total((self.values - self.mean) ** 2 * self.counts) / self.records)

    def quantile(self, q: float) -> float:
        """The q-quantile, interpolated between neighbours (R's type 7)."""
        at = q * (self.records - 1)
        upto = np.cumsum(self.counts)
        above = min(at + 1, self.records - 1)
        low = float(self.values[np.searchsorted(upto, math.floor(at), side="right")])
        high = float(self.values[np.searchsorted(upto, math.floor(above), side="right")])
        return low + (high - low) * (at - math.floor(at))

    @cached_property
    def bandwidth(self) -> float:
        """Silverman's rule: 0.9·min(s, interquartile range/1.34)·n^(-1/5)."""
        spread = (self.quantile(0.75) - self.quantile(0.25)) / 1.34
        narrow = min(self.deviation, spread) if spread > 0 else self.deviation
        return 0.9 * narrow * math.exp(-0.2 * math.log(self.records))

    def density(self, x: float) -> float:
        """The density at x by normal kernels of the bandwidth."""
        h = self.bandwidth
        low, high = np.searchsorted(self.values, (x - REACH * h, x + REACH * h))
        apart = (self.values[low:high] - x) / h
        mass = total(np.exp(-0.5 * apart * apart) * self.counts[low:high])
        return mass / (self.records * h * math.sqrt(2 * math.pi))


@dataclass(frozen=True, kw_only=True)
class NumericColumn:
    """A column that is numeric before and after."""

    name: str
    before: Side
    after: Side
    coded: tuple[Floats, Floats]  # a number for each code; NaN where there is none
    numbers: tuple[Floats, Floats]  # a number for each record

    @cached_property
    def missing(self) -> tuple[bool, bool]:
        """Whether a record lacks a number, before and after."""
        records = len(self.numbers[0])
        return self.before.records < records, self.after.records < records

    @cached_property
    def standard(self) -> tuple[Floats, Floats]:
        """Before and after in standard units; zeros where there is one value."""
        before = _standardise(self.numbers[0], self.before)
        after = _standardise(self.numbers[1], self.after)
        return before, after


def _standardise(numbers: Floats, side: Side) -> Floats:
    return (numbers - side.mean) / (side.deviation or 1.0) if side.records else numbers


def _numeric(column: PairedColumn) -> NumericColumn | None:
    """The column as numbers, if it is numeric before and after."""
    before = column.value_numbers
    after = column.label_numbers
    if before is None or after is None or not (in_range(before) and in_range(after)):
        return None
    counts = np.bincount(column.original, minlength=len(before))
    left = np.bincount(column.released.astype(np.int64) + 1, minlength=len(after) + 1)[1:]
    side_before = Side.from_codes(before, counts)
    side_after = Side.from_codes(after, left)
    if not _on_scale(side_before, side_after):
        return None
    return NumericColumn(
        name=column.name,
        before=side_before,
        after=side_after,
        coded=(before, after),
        numbers=(before[column.original], np.append(after, np.nan)[column.released]),
    )


def in_range(numbers: Floats) -> bool:
    """Whether the squares of all numbers are finite."""
    return bool(np.nanmax(np.abs(numbers)) <= LARGEST)


def _on_scale(before: Side, after: Side) -> bool:
    """Whether the original's standard deviation is a unit for the numbers of both sides."""
    if not before.records or (len(before.values) > 1 and before.deviation < 1 / LARGEST):
        return False
    far = np.abs(after.values - before.mean) / (before.deviation or 1.0)
    return bool(far.max(initial=0.0) <= FARTHEST)


def ranks(times: Ints) -> Ints:
    """The rank of each of these counts, the largest first."""
    out = np.empty(len(times), dtype=np.int64)
    out[np.argsort(-times, kind="stable")] = np.arange(len(times))
    return out


def original_numbers(column: PairedColumn) -> Floats | None:
    """The original's numbers of a column, whatever was released of it."""
    numbers = column.value_numbers
    return numbers[column.original] if numbers is not None and in_range(numbers) else None


@dataclass(frozen=True, kw_only=True)
class NumericColumnPair:
    """How two numeric columns vary together before and after, over the records that have both.

    `spread` is n times the sampling variance of the covariance, in units of both standard
    deviations; `wobble` is n times that of the correlation.
    """

    columns: tuple[str, str]
    records: int
    scale: float  # product of the standard deviations in the original
    correlation: float | None
    covariance: float
    spread: float
    wobble: float
    released_correlation: float | None
    released_covariance: float | None

    @classmethod
    def from_columns(cls, a: NumericColumn, b: NumericColumn) -> "NumericColumnPair":
        """Compare how two columns vary together."""
        names = (a.name, b.name)
        scale, x, y = _standard_units(a, b, 0)
        now, x2, y2 = _standard_units(a, b, 1)
        released_correlation: float | None = None
        released_covariance: float | None = None
        if len(x2) > 1:
            if now > 0:
                released_correlation = _mean_product(x2, y2)
            released_covariance = (released_correlation or 0.0) * now
        if scale <= 0:
            return cls(
                columns=names,
                records=len(x),
                scale=0.0,
                correlation=None,
                covariance=0.0,
                spread=0.0,
                wobble=0.0,
                released_correlation=released_correlation,
                released_covariance=released_covariance,
            )
        r = _mean_product(x, y)
        spread, wobble = _variances(x, y, r)
        return cls(
            columns=names,
            records=len(x),
            scale=scale,
            correlation=r,
            covariance=r * scale,
            spread=spread,
            wobble=wobble,
            released_correlation=released_correlation,
            released_covariance=released_covariance,
        )


def _standard_units(a: NumericColumn, b: NumericColumn, side: int) -> tuple[float, Floats, Floats]:
    """Two columns in standard units, and the product of the standard deviations (0: one value)."""
    sides = [(c.before, c.after)[side] for c in (a, b)]
    product = math.prod(s.deviation for s in sides) if all(s.records for s in sides) else 0.0
    x = a.standard[side]
    y = b.standard[side]
    if not (a.missing[side] or b.missing[side]):
        return product, x, y
    both = ~(np.isnan(x) | np.isnan(y))
    x = x[both]
    y = y[both]
    for z in (x, y):
        if product == 0 or len(z) == 0 or z.min() == z.max():
            return 0.0, x, y
        z -= z.mean()
        deviation = math.sqrt(float((z * z).mean()))
        z /= deviation
        product *= deviation
    return product, x, y


def _blocks(*columns: Floats) -> Iterator[tuple[Floats, ...]]:
    """Columns cut into pieces that stay in a core's cache."""
    for start in range(0, len(columns[0]), BLOCK):
        yield tuple(c[start : start + BLOCK] for c in columns)


def correlations(columns: Sequence[Floats]) -> Floats:
    """The mean products of columns in standard units."""
    products: list[list[list[float]]] = [[[] for _ in columns] for _ in columns]
    for block in _blocks(*columns):
        rows = np.stack(block)
        for i, row in enumerate(rows):
            for j, x in enumerate((row * rows[i:]).sum(axis=1).tolist(), i):
                products[i][j].append(x)
    upper = np.array([[math.fsum(cell) / len(columns[0]) for cell in row] for row in products])
    return np.asarray(np.triu(upper) + np.triu(upper, 1).T)


def _mean_product(x: Floats, y: Floats) -> float:
    return max(-1.0, min(1.0, math.fsum(float((a * b).sum()) for a, b in _blocks(x, y)) / len(x)))


def _variances(x: Floats, y: Floats, r: float) -> tuple[float, float]:
    """The means of (xy - r)^2 and (xy - r·(x^2 + y^2)/2)^2, x and y in standard units.

    They are n times the variances of the covariance and of the correlation: multiplied out, the
    second is r^2·[mu_22/mu_11^2 + (mu_40/mu_20^2 + mu_04/mu_02^2 + 2·mu_22/(mu_20·mu_02))/4
    - mu_31/(mu_11·mu_20) - mu_13/(mu_11·mu_02)], and mu_22/(mu_20·mu_02) where mu_11 = 0.
    """
    terms = ((a * b - r, a * b - (0.5 * r) * (a * a + b * b)) for a, b in _blocks(x, y))
    sums = [[float((term**2).sum()) for term in pair] for pair in terms]
    first, second = (math.fsum(each) / len(x) for each in zip(*sums, strict=True))
    return first, second


@dataclass(frozen=True)
class NumericColumns:
    """All numeric columns of a release, and each pair of them."""

    columns: tuple[NumericColumn, ...]

    @cached_property
    def pairs(self) -> tuple[NumericColumnPair, ...]:
        """Every two columns."""
        return tuple(
            NumericColumnPair.from_columns(a, b) for a, b in itertools.combinations(self.columns, 2)
        )


@computed_once
def numeric_columns(release: Release) -> NumericColumns:
    """The numeric columns of a release; kept with it, as several losses ask for them."""
    columns = map(_numeric, release.columns)
    return NumericColumns(tuple(column for column in columns if column is not None))
