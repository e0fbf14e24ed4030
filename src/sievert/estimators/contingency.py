"""Two columns counted together: their mutual information, and its mean under independence.

With both columns' sizes fixed, a cell of a class of a records and a value of b records has k
records, k hypergeometric. The mean of I is the sum over classes and values of
q·E[(1 + u)·ln(1 + u) - u], q = ab/N^2, u = kN/(ab) - 1 (E[u] = 0, so that every term is positive).
Vinh, Epps and Bailey 2010.
"""

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.counts.answers import Sizes
from sievert.counts.cube import histogram, run_starts
from sievert.errors import require
from sievert.measures import kernel
from sievert.numerics.acceleration import compile_loops, thread_count
from sievert.numerics.special_functions import divergence

if TYPE_CHECKING:
    cached_value = cached_property
else:

    class cached_value:  # noqa: N801
        """A `functools.cached_property` without the lock for all objects of Python before 3.12."""

        def __init__(self, function: Callable[[Any], Any]) -> None:
            self.function = function
            self.__doc__ = function.__doc__

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            if instance is None:
                return self
            value = self.function(instance)
            instance.__dict__[self.function.__name__] = value
            return value


BLOCK = 1 << 19  # terms that NumPy makes at a time
COMPILE = 100_000  # terms from which compiled loops pay
TAIL = 101.0  # 2·ln(1e22): by Bernstein's bound, probabilities beyond it are negligible


def chance(
    first: Sizes, second: Sizes, *, threads: int | None = None, compiled: bool | None = None
) -> float:
    """The mean mutual information, in bits, of two independent columns with these sizes.

    >>> pairs, uneven = Sizes.from_arrays([2], [2]), Sizes.from_arrays([1, 3], [1, 1])
    >>> round(chance(pairs, uneven), 12)  # always 3/4·log2(4/3)
    0.311278124459
    """
    records = first.records
    # The order of the columns is fixed, so that it does not change the result.
    low, high = sorted(
        (first, second), key=lambda s: (len(s.sizes), s.sizes.tolist(), s.times.tolist())
    )
    if compiled is None:
        spread = float(np.sqrt(low.sizes).sum() * np.sqrt(high.sizes).sum()) / records**0.5
        terms = 40 * len(low.sizes) * len(high.sizes) + 20 * spread
        compiled = terms > COMPILE and compile_loops() is not None
    if compiled:
        rows = _rows_compiled(low, high, records, thread_count(threads))
    else:
        rows = _rows_plain(low, high, records)
    mean = kernel.total(rows * np.asarray(low.times, dtype=np.float64))
    return mean / (float(records) * float(records)) / kernel.LN2


def _rows_compiled(low: Sizes, high: Sizes, records: int, threads: int) -> Floats:
    from sievert.estimators import compiled_loops

    rows = np.zeros(len(low.sizes))
    step = max(1, -(-len(rows) // (8 * threads)))

    def work(at: int) -> None:
        part = slice(at, at + step)
        compiled_loops.expected_terms(low.sizes[part], high.sizes, high.times, records, rows[part])

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, range(0, len(rows), step)))
    return rows


def _rows_plain(low: Sizes, high: Sizes, records: int) -> Floats:
    """Sum over the sizes of the column `high` for each size of the column `low`."""
    step = max(1, BLOCK // len(high.sizes))
    parts = (low.sizes[at : at + step] for at in range(0, len(low.sizes), step))
    return np.concatenate([_rows(part, high, records) for part in parts])


def _rows(sizes: Ints, high: Sizes, records: int) -> Floats:
    a, b = (x.ravel() for x in np.meshgrid(sizes, high.sizes, indexing="ij"))
    variance = a / records * b * (1 - a / records) * (1 - b / records)
    # The distance from the mode up to which probabilities matter.
    far = np.ceil(TAIL / 6 + np.sqrt((TAIL / 6) ** 2 + TAIL * variance)) + 2.0
    reach = np.minimum(far, np.minimum(a, b) + 1).astype(np.int64)
    order = np.argsort(reach, kind="stable")
    means = np.empty(len(a))
    end = len(order)
    while end:
        widest = int(reach[order[end - 1]])
        start = max(0, end - max(1, BLOCK // widest))
        some = order[start:end]
        means[some] = _means(a[some], b[some], records, widest)
        end = start
    terms = (means * a * b).reshape(len(sizes), -1) * np.asarray(high.times, dtype=np.float64)
    return np.array([kernel.total(row) for row in terms])


def _means(a: Ints, b: Ints, records: int, reach: int) -> Floats:
    """E[(1 + u)·ln(1 + u) - u] of each pair of sizes, summed up to `reach` from the mode."""
    a = a[:, None]
    b = b[:, None]
    rest = records - a - b
    mode = (a + 1) * (b + 1) // (records + 2)
    up = mode + np.arange(reach + 1)
    down = mode - np.arange(min(reach, int(mode.max())) + 1)
    with np.errstate(divide="ignore", invalid="ignore", under="ignore"):
        rise = (a - up + 1.0) * (b - up + 1.0) / (up * (rest + up + 0.0))
        fall = (down + 1.0) * (rest + down + 1.0) / ((a - down + 0.0) * (b - down + 0.0))
        rise = np.where(up <= np.minimum(a, b), rise, 0.0)
        fall = np.where(down >= np.maximum(0, -rest), fall, 0.0)
        rise[:, 0] = 1.0
        fall[:, 0] = 1.0
        more = np.cumprod(rise, axis=1)
        less = np.cumprod(fall, axis=1)
    less[:, 0] = 0.0
    weights = np.concatenate((more, less), axis=1)
    u = (np.concatenate((up, np.maximum(down, 0)), axis=1) * records - a * b) / (a * b + 0.0)
    return np.asarray((weights * divergence(u)).sum(axis=1) / weights.sum(axis=1))


DENSE = 1 << 24  # keys that are counted into an array
FEW = 1000  # terms that are added one by one
PARTS = 3  # parts of a term that are added separately


@dataclass(frozen=True, eq=False, kw_only=True)
class ContingencyTable:
    """The number of records with each value of a first column, of a second, and of both.

    `first` and `second` have a place for every code, with 0 for a code that does not occur. The key
    of a cell is its first code times len(second) plus its second code; `keys` are the keys of the
    occupied cells, ascending.
    """

    records: int
    first: Ints
    second: Ints
    keys: Ints
    counts: Ints

    @classmethod
    def from_codes(cls, first: Any, second: Any) -> Self:
        """Count two columns of codes, one code per record.

        >>> table = ContingencyTable.from_codes([0, 0, 1, 1], [3, 3, 5, 5])
        >>> table.cells, table.information, table.miller_madow == 1 + 1 / (8 * math.log(2))
        (2, 1.0, True)
        """
        x = validate_codes(first)
        y = validate_codes(second)
        require(len(x) == len(y), "two columns of one table have one place a record each")
        sizes = np.bincount(x)
        values = np.bincount(y)
        keys, counts = count_keys(x * len(values) + y, len(sizes) * len(values))
        return cls(records=len(x), first=sizes, second=values, keys=keys, counts=counts)

    of = from_codes  # the name of earlier versions

    @property
    def cells(self) -> int:
        """The number of combinations that occur."""
        return len(self.keys)

    @cached_value
    def codes(self) -> tuple[Ints, Ints]:
        """The two codes of each cell."""
        x, y = np.divmod(self.keys, len(self.second))
        return x, y

    @cached_value
    def margins(self) -> tuple[Sizes, Sizes]:
        """The histogram of the numbers of records per value, of each column."""
        return histogram(self.first[self.first > 0]), histogram(self.second[self.second > 0])

    @cached_value
    def _alike(self) -> tuple[Ints, Ints, Ints, Ints]:
        """The distinct triples of a cell's count and its values' sizes, and their numbers."""
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
        """(K_x + K_y - K_xy - 1)/(2N ln 2): the correction of the bias of first order, in bits."""
        first, second = self.margins
        return (first.things + second.things - self.cells - 1) / (2.0 * self.records * kernel.LN2)

    @property
    def miller_madow(self) -> float:
        """The information without its bias of first order, in bits."""
        return self.information + self.excess

    @cached_value
    def entropy(self) -> float:
        """H of the second column, an upper bound of the information."""
        values = self.margins[1]
        return kernel.entropy(values.sizes, values.times, self.records)

    @cached_value
    def standard_error(self) -> float:
        """The standard error of the information, by the jackknife over records, in bits."""
        counts, a, b, times = self._alike
        return jackknife(weights(counts, a, b, self.records), counts * times, self.records)


def validate_codes(codes: Any) -> Ints:
    """Check codes, and replace them by their ranks if they are far from dense."""
    numbers = np.asarray(codes)
    require(
        numbers.ndim == 1 and numbers.dtype.kind in "iu" and len(numbers),
        "codes are whole numbers, one place a record, of at least one record",
    )
    require(int(numbers.min()) >= 0, "codes start at 0")
    if int(numbers.max()) >= 4 * len(numbers) + 1024:
        numbers = np.unique(numbers, return_inverse=True)[1]
    return numbers.astype(np.int64, copy=False)


def dense(keys: Ints, bound: int) -> bool:
    """Say whether an array with a place for every key below `bound` is efficient."""
    return bound <= min(DENSE, 16 * len(keys) + 4096)


def count_keys(keys: Ints, bound: int) -> tuple[Ints, Ints]:
    """The distinct keys below `bound`, ascending, and the number of occurrences of each.

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


def table_size(keys: Ints) -> int:
    """The largest size of a table of all possible keys."""
    return 4 * len(keys) + 4096


def rank_keys(keys: Ints, bound: int) -> tuple[Ints, int]:
    """The rank of each key below `bound` among the distinct keys, and the number of these."""
    if bound > table_size(keys):
        different, inverse = np.unique(keys, return_inverse=True)
        return inverse, len(different)
    there = np.zeros(bound, dtype=bool)
    there[keys] = True
    ranks: Ints = np.cumsum(there, dtype=np.int32 if bound < 1 << 31 else np.int64) - 1
    return ranks[keys].astype(np.int64), int(ranks[-1]) + 1


def weights(counts: Ints, first: Ints, second: Ints, records: int) -> Floats:
    """N·I less N - 1 times I without one record of each of these cells, up to a constant.

    It is log2(n_xy·N/(n_x·n_y)) with n·log2 n - (n - 1)·log2(n - 1) instead of log2 n.
    """
    expected = first * second
    u = (counts * records - expected) / expected
    return np.asarray((np.log1p(u) + (_step(counts) - (_step(first) + _step(second)))) / kernel.LN2)


def _step(n: Ints) -> Floats:
    """n·ln n - (n - 1)·ln(n - 1) - ln n - 1."""
    m = np.maximum(n, 2).astype(np.float64)
    return np.where(n > 1, (1.0 - m) * np.log1p(-1.0 / m), 0.0) - 1.0


def jackknife(weighed: Floats, times: Ints, records: int) -> float:
    """The standard error of an information, from the weights and `times` of its records."""
    many = np.asarray(times, dtype=np.float64)
    mean = total(weighed * many) / records
    return math.sqrt(total(many * (weighed - mean) ** 2) / records / max(1, records - 1))


def total(terms: Floats) -> float:
    """The sum of many terms, correct to about the last bit and independent of their order.

    The leading bits of all terms are added first, few enough for an exact sum, then the next bits
    (Rump, Ogita and Oishi 2008). Bits below 2^-90 of the largest term are ignored.
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
