"""What all methods share: checks of domains and codes, random numbers, mean probabilities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.errors import UsageError
from sievert.methods.known_columns import Groups, compact, matrix

Seed = int | Sequence[int]
WHOLE = 2**53  # up to which a double is exact
LONG = 2**62


class Method(Protocol):
    """A protection method as an intruder and a user see it."""

    @property
    def axis(self) -> float | None:
        """The utility on the axis of the paper; None where it has none."""

    def probabilities(self, groups: Groups) -> Floats:
        """Of each group the probability of every value of the domain."""


def generator(seed: Seed, *places: int) -> np.random.Generator:
    """Random numbers for one use: the last of the places tells uses apart and is not 0."""
    given = list(seed) if isinstance(seed, Sequence) else [seed]
    if not given or any(int(s) < 0 for s in given):
        raise UsageError("a seed is a whole number, or several, from 0 on")
    return np.random.default_rng([*(int(s) for s in given), *places])


def check_domain(values: Any) -> Floats:
    """The values a confidential number may take, checked: finite and ascending."""
    try:
        domain = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise UsageError("the domain of a confidential column holds numbers") from None
    if domain.ndim != 1 or not len(domain) or not np.isfinite(domain).all():
        raise UsageError("the domain of a confidential column holds at least one finite number")
    if not (domain[1:] > domain[:-1]).all():
        raise UsageError("the values of a domain ascend, each once")
    return domain


def check_codes(codes: Any, size: int, *, least: int = 0) -> Ints:
    """Codes of a confidential column, checked: whole numbers from `least` to below `size`."""
    checked = np.asarray(codes)
    if checked.ndim != 1 or not len(checked) or checked.dtype.kind not in "iu":
        raise UsageError("codes are whole numbers, one place a record, of at least one record")
    if int(checked.min()) < least or int(checked.max()) >= size:
        raise UsageError(f"codes of a domain of {size} values run from {least} to {size - 1}")
    return checked.astype(np.int64)


def check_whole(number: Any, name: str, least: int = 1) -> None:
    """An error unless it is a whole number of at least so much."""
    if not isinstance(number, int) or number < least:
        raise UsageError(f"{name} is a whole number of at least {least}")


def check_table(
    known: Any, secret: Any, values: Any, sizes: Sequence[int] | None
) -> tuple[Ints, Ints, Floats, tuple[int, ...]]:
    """Codes of the known and of the confidential column, its domain, and the known columns' sizes.

    A known column has as many values as its largest code says unless sizes are given.
    """
    codes, domain = matrix(known), check_domain(values)
    hidden = check_codes(secret, len(domain))
    if len(hidden) != len(codes):
        raise UsageError("known and confidential columns have one place a record each")
    tops = tuple(int(top) + 1 for top in codes.max(axis=0))
    widths = tops if sizes is None else tuple(int(size) for size in sizes)
    if len(widths) != len(tops) or any(a < b for a, b in zip(widths, tops, strict=True)):
        raise UsageError("a known column has at least as many values as its codes say")
    return codes, hidden, domain, widths


def check_records(groups: Groups, records: int) -> None:
    """An error unless the groups are of so many records."""
    if len(groups.ids) != records:
        raise UsageError("groups and confidential values have one place a record each")


def nearest(number: float, times: int, over: int = 1) -> int:
    """number·times/over to the nearest whole one, exactly, halves to the even one.

    The number is the decimal it prints as.

    >>> nearest(0.05, 2500), nearest(10, 24, 200), nearest(0.5, 5)
    (125, 1, 2)
    """
    return round(Fraction(repr(float(number))) * times / over)


def scale_to_integers(values: Floats) -> tuple[Ints, int]:
    """Numbers, read as they print, as whole multiples of one unit; how many units make 1.

    >>> scale_to_integers(np.array([0.1, 2.25]))
    (array([ 2, 45]), 20)
    """
    if np.all(np.abs(values) < WHOLE) and np.all(values == np.rint(values)):
        return values.astype(np.int64), 1
    exact = [Fraction(repr(value)) for value in values.tolist()]
    units = math.lcm(*(each.denominator for each in exact))
    whole = [int(each * units) for each in exact]
    return np.array(whole, dtype=np.int64 if max(map(abs, whole)) < LONG else object), units


def windows(first: Ints, last: Ints, size: int) -> Floats:
    """One row for each window: equal probabilities from place `first` to `last`.

    >>> windows(np.array([0, 1]), np.array([1, 1]), 3)
    array([[0.5, 0.5, 0. ],
           [0. , 1. , 0. ]])
    """
    places = np.arange(size)
    inside = (places >= first[:, None]) & (places <= last[:, None])
    return np.asarray(inside / (last - first + 1)[:, None])


def mean_rows(groups: Groups, kinds: Ints, rows: Floats) -> Floats:
    """Of each group the mean, over its records, of the row of the record's kind."""
    number, size = rows.shape
    pairs, count = compact(groups.ids * number + kinds, groups.count * number)
    owner, kind = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    owner[pairs], kind[pairs] = groups.ids, kinds
    times = np.bincount(pairs, minlength=count)
    by_value = np.empty((size, groups.count))
    for place, column in enumerate(np.ascontiguousarray(rows.T)):
        by_value[place] = np.bincount(owner, times * column[kind], groups.count)
    return np.ascontiguousarray((by_value / groups.sizes).T)
