"""Two columns counted together, and all that follows from their counts without a shuffle."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.counts.answers import Sizes
from sievert.counts.cube import histogram, run_starts
from sievert.errors import UsageError
from sievert.estimators.cached import cached_value
from sievert.estimators.chance import chance
from sievert.measures import kernel

DENSE = 1 << 24  # keys that are counted into an array
FEW = 1000  # terms that are added one by one
PARTS = 3  # of a term that are added by themselves


@dataclass(frozen=True, eq=False)
class ContingencyTable:
    """How many records have each value of a first and of a second column, and both.

    `first` and `second` have a place for every code, 0 where no record has it. A cell's key is
    its first code times len(second) plus its second; `keys` are those of the occupied, ascending.
    """

    records: int
    first: Ints
    second: Ints
    keys: Ints
    counts: Ints

    @classmethod
    def from_codes(cls, first: Any, second: Any) -> ContingencyTable:
        """Count two columns of codes, one place a record.

        >>> table = ContingencyTable.from_codes([0, 0, 1, 1], [3, 3, 5, 5])
        >>> table.cells, table.information, table.miller_madow == 1 + 1 / (8 * math.log(2))
        (2, 1.0, True)
        """
        x, y = validate_codes(first), validate_codes(second)
        if len(x) != len(y):
            raise UsageError("two columns of one table have one place a record each")
        sizes, values = np.bincount(x), np.bincount(y)
        keys, counts = count_keys(x * len(values) + y, len(sizes) * len(values))
        return cls(len(x), sizes, values, keys, counts)

    of = from_codes  # the name of earlier versions

    @property
    def cells(self) -> int:
        """How many combinations occur."""
        return len(self.keys)

    @cached_value
    def codes(self) -> tuple[Ints, Ints]:
        """The two codes of each cell."""
        x, y = np.divmod(self.keys, len(self.second))
        return x, y

    @cached_value
    def margins(self) -> tuple[Sizes, Sizes]:
        """How many values of each column have so many records."""
        first, second = self.first[self.first > 0], self.second[self.second > 0]
        return histogram(first), histogram(second)

    @cached_value
    def _alike(self) -> tuple[Ints, Ints, Ints, Ints]:
        """Different cells by their count and the sizes of both values; how many there are."""
        a, b = self.margins
        x, y = self.codes
        tall = int(self.counts.max()) + 1
        row = np.searchsorted(a.sizes, self.first)[x] * len(b.sizes)
        row += np.searchsorted(b.sizes, self.second)[y]
        kinds, times = count_keys(row * tall + self.counts, len(a.sizes) * len(b.sizes) * tall)
        row, counts = np.divmod(kinds, tall)
        i, j = np.divmod(row, len(b.sizes))
        return counts, a.sizes[i], b.sizes[j], times

    @cached_value
    def information(self) -> float:
        """The mutual information of these records (plug-in), in bits."""
        return kernel.mutual_information(*self._alike, self.records)

    @cached_value
    def chance(self) -> float:
        """The mean of the information over all permutations of one column, in bits."""
        return chance(*self.margins)

    @property
    def excess(self) -> float:
        """(K_x + K_y - K_xy - 1)/(2N ln 2): what corrects a bias of first order, in bits."""
        first, second = self.margins
        return (first.things + second.things - self.cells - 1) / (2.0 * self.records * kernel.LN2)

    @property
    def miller_madow(self) -> float:
        """The information without its bias of first order, in bits."""
        return self.information + self.excess

    @cached_value
    def entropy(self) -> float:
        """H of the second column: the most that the information could be."""
        values = self.margins[1]
        return kernel.entropy(values.sizes, values.times, self.records)

    @cached_value
    def standard_error(self) -> float:
        """How far the information strays over samples, by leaving out each record, in bits."""
        counts, a, b, times = self._alike
        return jackknife(weights(counts, a, b, self.records), counts * times, self.records)


def validate_codes(codes: Any) -> Ints:
    """Codes from 0 on that are not far from dense; others are ranked."""
    numbers = np.asarray(codes)
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu" or not len(numbers):
        raise UsageError("codes are whole numbers, one place a record, of at least one record")
    if int(numbers.min()) < 0:
        raise UsageError("codes start at 0")
    if int(numbers.max()) >= 4 * len(numbers) + 1024:
        numbers = np.unique(numbers, return_inverse=True)[1]
    return numbers.astype(np.int64, copy=False)


def dense(keys: Ints, bound: int) -> bool:
    """Whether an array with a place for every key below a bound is worth it."""
    return bound <= min(DENSE, 16 * len(keys) + 4096)


def count_keys(keys: Ints, bound: int) -> tuple[Ints, Ints]:
    """The different keys below a bound, ascending, and how often each occurs.

    >>> [x.tolist() for x in count_keys(np.array([4, 1, 4]), 6)]
    [[1, 4], [1, 2]]
    """
    if dense(keys, bound):
        counts = np.bincount(keys)
        occupied = np.flatnonzero(counts)
        return occupied, counts[occupied]
    keys = np.sort(keys)
    starts = run_starts(keys)
    return keys[starts], np.diff(np.append(starts, len(keys)))


def weights(counts: Ints, first: Ints, second: Ints, records: int) -> Floats:
    """N·I less N - 1 times what I is without a record of each of these cells, but for a constant.

    It is log2(n_xy·N/(n_x·n_y)) with n·log2 n - (n - 1)·log2(n - 1) instead of log2 n.
    """
    expected = first * second
    u = (counts * records - expected) / expected
    rest = _step(counts) - (_step(first) + _step(second))
    return np.asarray((np.log1p(u) + rest) / kernel.LN2)


def _step(n: Ints) -> Floats:
    """n·ln n - (n - 1)·ln(n - 1) - ln n - 1."""
    m = np.maximum(n, 2).astype(np.float64)
    return np.where(n > 1, (1.0 - m) * np.log1p(-1.0 / m), 0.0) - 1.0


def jackknife(weighed: Floats, times: Ints, records: int) -> float:
    """The standard error of an information, from the weights of its records, `times` of each."""
    many = np.asarray(times, dtype=np.float64)
    mean = total(weighed * many) / records
    squares = total(many * (weighed - mean) ** 2)
    return math.sqrt(squares / records / max(1, records - 1))


def total(terms: Floats) -> float:
    """The sum of many terms, correct to about the last bit, the same whatever their order.

    Of every term the leading bits are added first, so few of them that sums stay exact, then the
    next ones (Rump, Ogita and Oishi 2008); below 2^-90 of the largest term nothing is left.
    """
    if len(terms) < FEW:
        return math.fsum(terms.tolist())
    parts: list[float] = []
    most = float(np.abs(terms).max())
    while len(parts) < PARTS and most > 0.0:
        most = math.ldexp(1.0, math.frexp(most)[1] + len(terms).bit_length())
        leading = (terms + most) - most
        parts.append(float(leading.sum()))
        terms = terms - leading
        most = float(np.abs(terms).max())
    return math.fsum(parts)
