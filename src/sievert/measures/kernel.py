"""The numeric kernel: where counts become floating-point numbers without losing digits.

Everything here takes integers and returns floats whose relative error stays below 1e-12 (bits are
base 2). Three rules keep the digits: a logarithm of a ratio near one goes through `log1p` of an
exact integer difference; sums of many terms are `math.fsum`, which rounds once and so does not
depend on the order; a small difference of two large numbers is computed again with 50 digits.
"""

import math
from collections.abc import Iterable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.counts.answers import JointCounts, Sizes
from sievert.numerics.special_functions import divergence

LN2 = math.log(2.0)
# Products of two counts stay exact in 64 bits up to this many records; above, Python's integers.
INT64 = 2**63 - 1
EXACT_PRODUCT = math.isqrt(INT64)
# Below this share of its operands a difference is computed again in decimal arithmetic.
CANCELLATION = 1e-2
# A class's entropy is summed term by term in a vector; longer profiles are summed by fsum.
LONG_PROFILE = 256
DIGITS = 50
MOST_FRACTIONS = 2000


def exact(values: Iterable[int]) -> Ints:
    """An array of Python integers, which cannot overflow."""
    return np.array([int(v) for v in values], dtype=object)


def exact_products(records: int, *counts: Ints) -> tuple[Ints, ...]:
    """Counts of a table with `records` records, as arrays where no product of two overflows."""
    if records > EXACT_PRODUCT:
        return tuple(exact(numbers) for numbers in counts)
    return counts


def log2_ratio(part: Ints, whole: Ints | int) -> Floats:
    """log2(whole / part) for 0 < part <= whole, accurate where part is nearly the whole.

    >>> [float(x) for x in log2_ratio(np.array([1, 2, 4]), 4)]
    [2.0, 1.0, 0.0]
    """
    if isinstance(whole, int) and whole > INT64:
        part = exact(part)
    rest = np.asarray(whole - part, dtype=np.float64)
    part_f = np.asarray(part, dtype=np.float64)
    whole_f = np.asarray(whole, dtype=np.float64)
    near = rest <= part_f
    with np.errstate(divide="ignore"):
        return np.where(
            near, -np.log1p(-np.where(near, rest / whole_f, 0.0)) / LN2, np.log2(whole_f / part_f)
        )


def total(terms: Floats) -> float:
    """The correctly rounded sum: the same digits for every order of the terms."""
    return math.fsum(terms.tolist())


def entropy(sizes: Ints, times: Ints, records: int) -> float:
    """H of a distribution given as a histogram: `times` values occur `sizes` times each, in bits.

    >>> entropy(np.array([1, 3]), np.array([1, 1]), 4)
    0.8112781244591328
    """
    weights = np.asarray(sizes, dtype=np.float64) * np.asarray(times, dtype=np.float64)
    return total(weights * log2_ratio(sizes, records)) / records


def mean_log2(sizes: Ints, times: Ints, records: int) -> float:
    """The mean over records of log2 of the size of their class, in bits."""
    sizes_f = np.asarray(sizes, dtype=np.float64)
    return total(sizes_f * np.asarray(times, dtype=np.float64) * np.log2(sizes_f)) / records


def mutual_information(joint: Ints, first: Ints, second: Ints, times: Ints, records: int) -> float:
    """I in bits, exact zero where the counts prove independence, all digits where it is small.

    Uses the sum over cells of q·[(1 + u)·ln(1 + u) - u] with q = n_x n_y / N^2 and
    u = (n_xy N - n_x n_y) / (n_x n_y): every term is positive, and u comes from exact integers.
    An empty cell has u = -1 and contributes q; what the occupied cells leave of 1 is exact as well.
    """
    joint, first, second = exact_products(records, joint, first, second)
    expected = first * second
    excess = joint * records - expected
    if not np.any(excess):
        return 0.0
    u = np.asarray(excess, dtype=np.float64) / np.asarray(expected, dtype=np.float64)
    occupied = expected * times  # at most N^2 in all: exact
    q = np.asarray(occupied, dtype=np.float64)
    empty = float(records * records - int(occupied.sum()))
    return total(np.append(q * divergence(u), empty)) / (float(records) * float(records)) / LN2


def profile_entropies(counts: Ints, starts: Ints) -> Floats:
    """H(S|q) of every profile, in bits; `starts` cuts the flat list of counts into profiles."""
    if len(starts) == 0:
        return np.zeros(0)
    sizes = np.add.reduceat(counts, starts)
    lengths = np.diff(np.append(starts, len(counts)))
    terms = np.asarray(counts, dtype=np.float64) * log2_ratio(counts, np.repeat(sizes, lengths))
    sums = np.add.reduceat(terms, starts)
    for i in np.flatnonzero(lengths > LONG_PROFILE).tolist():
        sums[i] = total(terms[starts[i] : starts[i] + lengths[i]])
    return np.asarray(sums / np.asarray(sizes, dtype=np.float64))


def decimal_entropy(sizes: Iterable[int], times: Iterable[int], records: int) -> Decimal:
    """The same entropy with 50 digits; call inside `precisely`."""
    n = Decimal(records)
    terms = (Decimal(s * t) * (n / Decimal(s)).ln() for s, t in zip(sizes, times, strict=True) if s)
    return sum(terms, Decimal(0)) / n / Decimal(2).ln()


def precisely() -> Any:
    """Decimal arithmetic with 50 digits, for differences that cancel."""
    return localcontext(prec=DIGITS)


def ratio(numerator: int, denominator: int) -> float:
    """A quotient of integers of any size, rounded once."""
    return float(Fraction(numerator, denominator))


def sum_ratios(numerators: Ints, denominators: Ints, by: int) -> float:
    """The sum of many fractions, divided by a whole number."""
    if len(numerators) > MOST_FRACTIONS:  # an exact sum of many has no end of digits
        return total(numerators / denominators) / by
    pairs = zip(numerators.tolist(), denominators.tolist(), strict=True)
    return float(sum((Fraction(*pair) for pair in pairs), Fraction(0)) / by)


def ln(value: Fraction) -> float:
    """The natural logarithm of an exact ratio, accurate near 1."""
    if Fraction(1, 2) < value < 2:
        return math.log1p(float(value - 1))
    return math.log(value.numerator) - math.log(value.denominator)


def largest_ratio(
    numerators: Ints | Sequence[int], denominators: Ints | Sequence[int]
) -> tuple[int, int]:
    """The largest of many fractions, compared exactly.

    >>> largest_ratio([1, 2, 3], [3, 4, 7])
    (2, 4)
    """
    rough = np.asarray(numerators, dtype=np.float64) / np.asarray(denominators, dtype=np.float64)
    edge = float(rough.max())
    candidates = np.flatnonzero(rough >= edge - abs(edge) * 1e-12).tolist()
    pairs = {(int(numerators[i]), int(denominators[i])) for i in candidates}
    return max(pairs, key=lambda pair: Fraction(*pair))


def close_below(values: Floats) -> Ints:
    """The positions of all values that might be the smallest without rounding."""
    least = float(values.min())
    return np.flatnonzero(values <= least + abs(least) * 1e-9)


Column = tuple[str, Sequence[Any]]


def class_columns(sizes: Sizes, records: int) -> dict[str, Column]:
    """For each class size the size, and the bits log2(N/n_q) that single the class out."""
    return {
        "nq": ("int", sizes.sizes.tolist()),
        "class_size": ("int", sizes.sizes.tolist()),
        "identity_bits": ("float", log2_ratio(sizes.sizes, records).tolist()),
    }


def cell_columns(cells: JointCounts, records: int, secret: str) -> dict[str, Column]:
    """For each kind of cell: p(s|q) of the record's own value, and log2(p(s|q)/p(s))."""
    posterior = [ratio(int(n), int(q)) for n, q in zip(cells.count, cells.class_size, strict=True)]
    gain = [
        ln(Fraction(int(n) * records, int(q) * int(s))) / LN2
        for n, q, s in zip(cells.count, cells.class_size, cells.value_size, strict=True)
    ]
    return {
        "nq": ("int", cells.class_size.tolist()),
        "ns": ("int", cells.value_size.tolist()),
        "n": ("int", cells.count.tolist()),
        f"{secret}.posterior": ("float", posterior),
        f"{secret}.information_gain": ("float", gain),
    }
