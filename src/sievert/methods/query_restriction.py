"""Query restriction: only sums over many records are released, for a chain of overlapping ranges.

Records are shuffled and cut into blocks of l = Q/2 records. Each query is the sum over two
neighbouring blocks. All arithmetic is exact, in whole multiples of the domain's unit.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.errors import InputError, require
from sievert.estimators.contingency import rank_keys
from sievert.formatting import plural
from sievert.methods.intruder import (
    LONG,
    WHOLE,
    Groups,
    Seed,
    check_codes,
    check_domain,
    check_records,
    generator,
    mean_rows,
    scale_to_integers,
    windows,
)

USE = 0x5A3D1E02  # separates the random numbers of the shuffle from those of other methods
FINE = 10**12  # units of an answer from which sums of doubles may be inexact
PARTS = 10**9  # bounds are then wider by the largest answer divided by this
NEAR = Fraction(1, 1000)  # units by which an answer may differ from a multiple


@dataclass(frozen=True, kw_only=True)
class Restricted:
    """A chain of range sums, and the bounds of every record that follow from it.

    `order` has the records in the order of the ranges. `first` and `last` are the places in
    `values` of the least and the greatest possible value of each record. `low` and `high` are its
    bounds before they are cut to the domain.
    """

    size: int
    values: Floats
    order: Ints
    answers: Floats
    low: Floats
    high: Floats
    first: Ints
    last: Ints
    estimates: Floats  # of each record, for a user of the sums

    @property
    def axis(self) -> float:
        """1/Q."""
        return 1 / self.size

    @cached_property
    def _kinds(self) -> tuple[Ints, Floats]:
        """The window of each record, and the probabilities in each window."""
        size = len(self.values)
        kinds, count = rank_keys(self.first * size + self.last, size * size)
        first = np.empty(count, dtype=np.int64)
        last = np.empty(count, dtype=np.int64)
        first[kinds] = self.first
        last[kinds] = self.last
        return kinds, windows(first, last, size)

    def probabilities(self, groups: Groups) -> Floats:
        """The mean over each group's records of equal probabilities on D within [L, U]."""
        check_records(groups, len(self.order))
        return mean_rows(groups, *self._kinds)


def restrict_queries(secret: Any, values: Any, size: int, seed: Seed = 0) -> Restricted:
    """Release sums over ranges of `size` (Q) shuffled records; neighbours overlap by half.

    >>> found = restrict_queries([0, 4, 1, 0, 3, 2, 2, 1], [1, 2, 3, 4, 5], 4)
    >>> len(found.answers), bool(np.all(found.low <= found.high))
    (3, True)
    """
    domain = check_domain(values)
    codes = check_codes(secret, len(domain))
    half = _half(size, len(codes))
    order = generator(seed, USE).permutation(len(codes))
    whole, units = scale_to_integers(domain)
    if size * _largest(whole) >= LONG:
        whole = whole.astype(object)
    sums = whole[codes[order[: len(codes) // half * half]]].reshape(-1, half).sum(axis=1)
    return _restrict(sums[1:] + sums[:-1], domain, whole, units, size, order)


def infer_from_answers(answers: Any, values: Any, size: int, order: Any) -> Restricted:
    """Infer the bounds of every record from answers, one for each range of `size` records.

    `order` has the records in the order of the ranges. Answers may be rounded: each is read as the
    nearest multiple of the domain's unit. If doubles are not exact enough for that, bounds are
    wider by 1e-9 of the largest possible answer.

    >>> chain = infer_from_answers([9, 16, 14], [1, 2, 3, 4, 5], 4, range(8))
    >>> list(zip(chain.low.tolist(), chain.high.tolist()))[::2]
    [(1.0, 2.0), (1.0, 5.0), (4.0, 5.0), (1.0, 4.0)]
    """
    domain = check_domain(values)
    places = np.asarray(order)
    require(
        places.ndim == 1 and np.array_equal(np.sort(places), np.arange(len(places))),
        "the order of the queries has every record once",
    )
    given = np.asarray(answers)
    expected = len(places) // _half(size, len(places)) - 1
    require(
        given.dtype.kind in "iuf" and given.shape == (expected,),
        f"{len(places)} records have {plural(expected, 'answer')}, as numbers",
    )
    require(np.isfinite(given).all(), "an answer is not a finite number", error=InputError)
    whole, units = scale_to_integers(domain)
    exact = [Fraction(repr(answer)) * units for answer in given.tolist()]
    sums = [round(answer) for answer in exact]
    top = max(map(abs, sums))
    rough = units > 1 and top >= FINE
    require(
        rough or all(abs(a - b) <= NEAR for a, b in zip(exact, sums, strict=True)),
        "an answer is no sum of values of the domain",
        error=InputError,
    )
    slack = size * _largest(whole) // PARTS + 1 if rough else 0
    kind = np.int64 if top < LONG else object
    return _restrict(np.array(sums, dtype=kind), domain, whole, units, size, places, slack)


def chain_bounds(
    answers: Ints, size: int, low: int, high: int, slack: int = 0
) -> tuple[tuple[Ints, Ints], tuple[Ints, Ints]]:
    """Bound values from `low` to `high` by their sums over neighbouring blocks.

    Return the least and the greatest sum of each block, and the same of any one of its records.
    The bounds are exact for whole numbers: neighbouring blocks add up to an answer, so one number t
    determines the sums of all blocks, B_j = ±(h_j + t), and inside a block all records but one are
    free. `slack` widens the interval of t.
    """
    half = size // 2
    reach = len(answers) * _largest(answers) + 4 * (size * max(abs(low), abs(high)) + slack)
    kind: Any = np.int64 if reach < LONG else object
    sign = np.ones(len(answers) + 1, dtype=kind)
    shift = np.zeros(len(answers) + 1, dtype=kind)
    sign[1::2] = -1
    shift[1:] = -np.cumsum(sign[:-1] * answers.astype(kind))
    least = half * low
    most = half * high
    turned = (sign < 0).astype(np.int64)
    t_low = (np.array([least, -most], dtype=kind)[turned] - shift).max() - slack
    t_high = (np.array([most, -least], dtype=kind)[turned] - shift).min() + slack
    require(
        t_low <= t_high,
        "no values between the least and the greatest have these sums",
        error=InputError,
    )
    ends = (sign * (shift + t_low), sign * (shift + t_high))
    sum_low = np.minimum(*ends)
    sum_high = np.maximum(*ends)
    others = half - 1
    return (sum_low, sum_high), (
        np.maximum(sum_low - others * high, low),
        np.minimum(sum_high - others * low, high),
    )


def _restrict(
    sums: Ints,
    domain: Floats,
    whole: Ints,
    units: int,
    size: int,
    order: Ints,
    slack: int = 0,
) -> Restricted:
    low = int(whole[0])
    high = int(whole[-1])
    half = size // 2
    (sum_low, sum_high), (lows, highs) = chain_bounds(sums, size, low, high, slack)
    # Records behind the last block are in no query; they are a block of their own.
    block = np.empty(len(order), dtype=np.int64)
    block[order] = np.minimum(np.arange(len(order)) // half, len(lows))
    lows = np.append(lows, low)
    highs = np.append(highs, high)
    first = np.searchsorted(whole, lows.astype(whole.dtype), "left")
    last = np.searchsorted(whole, highs.astype(whole.dtype), "right") - 1
    require(
        np.all(first <= last),
        "the answers leave a record no value of the domain",
        error=InputError,
    )
    middle = _numbers(sum_low + sum_high, size * units)
    middle = np.append(middle, middle.mean())
    return Restricted(
        size=size,
        values=domain,
        order=order,
        answers=_numbers(sums, units),
        low=_numbers(lows, units)[block],
        high=_numbers(highs, units)[block],
        first=first[block],
        last=last[block],
        estimates=middle[block],
    )


def _half(size: int, records: int) -> int:
    """l = Q/2, for a Q that a chain over `records` can have."""
    require(size >= 2 and size % 2 == 0, f"a query is over an even number of records, not {size}")
    require(size <= records, f"a query over {size} records needs as many; there are {records}")
    return size // 2


def _largest(whole: Ints) -> int:
    return max(abs(int(whole.min())), abs(int(whole.max())))


def _numbers(whole: Ints, units: int) -> Floats:
    """Convert whole multiples to the nearest doubles."""
    if units < LONG and _largest(whole) < WHOLE:
        return np.asarray(whole.astype(np.int64) / units)
    return np.asarray(whole.astype(object) / units).astype(np.float64)
