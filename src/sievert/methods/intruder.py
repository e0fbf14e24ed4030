"""The knowledge of an intruder: groups and frequencies; checks that all methods share."""

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.errors import UsageError, require
from sievert.estimators.contingency import rank_keys

MOST = 1 << 62


@dataclass(frozen=True)
class Groups:
    """Groups of records that agree in some columns, in the order of their codes.

    `ids` has the group of each record, from 0 on; `sizes` the number of records of each group;
    `keys` its codes, one for each of `columns`.
    """

    columns: tuple[int, ...]
    ids: Ints
    sizes: Ints
    keys: Ints

    @property
    def count(self) -> int:
        """The number of groups."""
        return len(self.sizes)


def subsets(columns: int, sizes: Iterable[int] | None = None) -> Iterator[tuple[int, ...]]:
    """Every non-empty set of columns, or every set of some `sizes`; small sets first.

    >>> list(subsets(3, sizes=[2, 3]))
    [(0, 1), (0, 2), (1, 2), (0, 1, 2)]
    """
    wanted = range(1, columns + 1) if sizes is None else sorted(set(sizes))
    require(
        all(1 <= size <= columns for size in wanted),
        f"a set of known columns has 1 to {columns} of them",
    )
    return itertools.chain.from_iterable(
        itertools.combinations(range(columns), size) for size in wanted
    )


def group_records(codes: Any, columns: Sequence[int]) -> Groups:
    """Group the records that agree in some columns.

    >>> found = group_records([[1, 0], [0, 5], [1, 0], [1, 5]], [0, 1])
    >>> found.ids, found.sizes, found.keys.tolist()
    (array([1, 0, 1, 2]), array([1, 2, 1]), [[0, 5], [1, 0], [1, 5]])
    """
    known = matrix(codes)
    chosen = tuple(int(c) for c in columns)
    require(
        chosen and set(chosen) <= set(range(known.shape[1])),
        f"a group is told by some of the {known.shape[1]} known columns",
    )
    return next(_walk_subsets(known, iter([chosen])))


def group_by_subsets(codes: Any, sizes: Iterable[int] | None = None) -> Iterator[Groups]:
    """Group the records by every set of columns, or by sets of some `sizes`; small sets first."""
    known = matrix(codes)
    return _walk_subsets(known, subsets(known.shape[1], sizes))


def matrix(codes: Any) -> Ints:
    """Check the codes of the known columns: one row per record, one column each, from 0 on."""
    known = np.asarray(codes)
    require(
        known.ndim == 2 and known.size and known.dtype.kind in "iu",
        "known columns are whole numbers, a row a record and a column each",
    )
    require(known.min() >= 0, "codes start at 0")
    return np.asfortranarray(known, dtype=np.int64)


def _walk_subsets(known: Ints, chosen: Iterable[tuple[int, ...]]) -> Iterator[Groups]:
    """Group by each set of columns, reusing the groups of the columns shared with the last set."""
    widths = [int(top) + 1 for top in known.max(axis=0)]
    prefix: list[tuple[int, Ints, int]] = []  # a column, the groups up to it, how many
    for columns in chosen:
        alike = 0
        while alike < min(len(prefix), len(columns)) and prefix[alike][0] == columns[alike]:
            alike += 1
        del prefix[alike:]
        for column in columns[alike:]:
            ids: Any = np.int64(0)
            count = 1
            if prefix:
                _, ids, count = prefix[-1]
            codes = known[:, column]
            width = widths[column]
            if count * width > MOST:
                codes, width = rank_keys(codes, width)
            prefix.append((column, *rank_keys(ids * width + codes, count * width)))
        _, ids, count = prefix[-1]
        member = np.empty(count, dtype=np.int64)
        member[ids] = np.arange(len(ids))
        keys = np.stack([known[member, c] for c in columns], axis=1)
        yield Groups(columns=columns, ids=ids, sizes=np.bincount(ids, minlength=count), keys=keys)


Seed = int | Sequence[int]
WHOLE = 2**53  # doubles are exact for whole numbers up to this
LONG = 2**62


class Method(Protocol):
    """A protection method as an intruder and a user see it."""

    @property
    def axis(self) -> float | None:
        """The utility on the axis of the paper; None if the method has none."""

    def probabilities(self, groups: Groups) -> Floats:
        """The probability of every value of the domain for each group."""


def generator(seed: Seed, *places: int) -> np.random.Generator:
    """Make a generator for one use; the last of the places differs between uses and is not 0."""
    given = list(seed) if isinstance(seed, Sequence) else [seed]
    require(
        given and all(int(s) >= 0 for s in given),
        "a seed is a whole number, or several, from 0 on",
    )
    return np.random.default_rng([*(int(s) for s in given), *places])


def check_domain(values: Any) -> Floats:
    """Check the values that a confidential number may have: finite and ascending."""
    try:
        domain = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise UsageError("the domain of a confidential column holds numbers") from None
    require(
        domain.ndim == 1 and len(domain) and np.isfinite(domain).all(),
        "the domain of a confidential column holds at least one finite number",
    )
    require((domain[1:] > domain[:-1]).all(), "the values of a domain ascend, each once")
    return domain


def check_codes(codes: Any, size: int, *, least: int = 0) -> Ints:
    """Check the codes of a confidential column: whole numbers from `least` to below `size`."""
    checked = np.asarray(codes)
    require(
        checked.ndim == 1 and len(checked) and checked.dtype.kind in "iu",
        "codes are whole numbers, one place a record, of at least one record",
    )
    require(
        int(checked.min()) >= least and int(checked.max()) < size,
        f"codes of a domain of {size} values run from {least} to {size - 1}",
    )
    return checked.astype(np.int64)


def check_whole(number: Any, name: str, least: int = 1) -> None:
    """Raise an error unless a number is whole and at least `least`."""
    require(
        isinstance(number, int) and number >= least,
        f"{name} is a whole number of at least {least}",
    )


def check_table(
    known: Any, secret: Any, values: Any, sizes: Sequence[int] | None
) -> tuple[Ints, Ints, Floats, tuple[int, ...]]:
    """Check the known and the confidential columns, the domain, and the known columns' sizes.

    By default, the largest code of a known column decides the number of its values.
    """
    codes = matrix(known)
    domain = check_domain(values)
    hidden = check_codes(secret, len(domain))
    require(
        len(hidden) == len(codes), "known and confidential columns have one place a record each"
    )
    tops = tuple(int(top) + 1 for top in codes.max(axis=0))
    widths = tops if sizes is None else tuple(int(size) for size in sizes)
    require(
        len(widths) == len(tops) and all(a >= b for a, b in zip(widths, tops, strict=True)),
        "a known column has at least as many values as its codes say",
    )
    return codes, hidden, domain, widths


def check_records(groups: Groups, records: int) -> None:
    """Raise an error unless the groups have the given number of `records`."""
    require(
        len(groups.ids) == records, "groups and confidential values have one place a record each"
    )


def nearest(number: float, times: int, over: int = 1) -> int:
    """Round number·times/over to the nearest whole number, exactly; halves to the even one.

    The number is read as the decimal that it prints as.

    >>> nearest(0.05, 2500), nearest(10, 24, 200), nearest(0.5, 5)
    (125, 1, 2)
    """
    return round(Fraction(repr(float(number))) * times / over)


def scale_to_integers(values: Floats) -> tuple[Ints, int]:
    """Write numbers, read as they print, as multiples of one unit; also return units per 1.

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
    """Make one row for each window: equal probabilities from place `first` to `last`.

    >>> windows(np.array([0, 1]), np.array([1, 1]), 3)
    array([[0.5, 0.5, 0. ],
           [0. , 1. , 0. ]])
    """
    places = np.arange(size)
    inside = (places >= first[:, None]) & (places <= last[:, None])
    return np.asarray(inside / (last - first + 1)[:, None])


def mean_rows(groups: Groups, kinds: Ints, rows: Floats) -> Floats:
    """The mean over the records of each group of the row of the record's kind."""
    number = len(rows)
    pairs, count = rank_keys(groups.ids * number + kinds, groups.count * number)
    owner = np.empty(count, dtype=np.int64)
    kind = np.empty(count, dtype=np.int64)
    owner[pairs] = groups.ids
    kind[pairs] = kinds
    times = np.bincount(pairs, minlength=count)
    columns = np.ascontiguousarray(rows.T)
    by_value = [np.bincount(owner, times * column[kind], groups.count) for column in columns]
    return np.ascontiguousarray((np.stack(by_value) / groups.sizes).T)


WITHHELD = -1  # the code of a record or value that is not released
NEAR = 1e-9


def frequencies(groups: Groups, released: Any, size: int, classes: Any = None) -> Floats:
    """The relative frequency of each of `size` values in the released records of each group.

    `released` has one code for each original record, WITHHELD for a record without one: then all
    values are equally likely. With `classes`, the released class of each record (WITHHELD if it was
    left out), every record of a group counts as its whole class.

    >>> from sievert.methods.intruder import group_records
    >>> people = group_records([[0], [0], [1]], [0])
    >>> frequencies(people, [0, 0, 1], 2)
    array([[1., 0.],
           [0., 1.]])
    >>> frequencies(people, [0, 0, 1], 2, classes=[0, 1, 1])
    array([[0.75, 0.25],
           [0.5 , 0.5 ]])
    """
    require(size >= 1, "a domain has at least one value")
    codes = check_codes(released, size, least=WITHHELD)
    check_records(groups, len(codes))
    if classes is None:
        return _group_frequencies(groups.ids, groups.count, codes, size)
    among = np.asarray(classes)
    require(
        among.shape == codes.shape and among.dtype.kind in "iu" and int(among.min()) >= WITHHELD,
        "released classes are whole numbers from 0 on, or -1, one for each record",
    )
    among = among.astype(np.int64)
    require(
        np.all(codes[among == WITHHELD] == WITHHELD),
        "a record that was left out has no released value",
    )
    # Class 0 has the records left out: nothing is known of them, so all values are equally likely.
    ids, count = rank_keys(np.append(among + 1, 0), int(among.max()) + 2)
    return mean_rows(
        groups, ids[:-1], _group_frequencies(ids, count, np.append(codes, WITHHELD), size)
    )


def check_probabilities(groups: Groups, probabilities: Any, size: int) -> Floats:
    """Check probabilities from elsewhere: a row for each group, a column for each value.

    Rows may differ from 1 by rounding (1e-9), and are scaled to add up to 1.
    """
    try:
        rows = np.array(probabilities, dtype=np.float64)
    except (TypeError, ValueError):
        raise UsageError("probabilities are numbers") from None
    require(
        rows.shape == (groups.count, size),
        f"probabilities have a row for each of {groups.count} groups and a column for each of "
        f"{size} values",
    )
    require(
        np.isfinite(rows).all() and not (rows < 0).any(),
        "probabilities are finite and not negative",
    )
    sums = rows.sum(axis=1)
    off = int(np.count_nonzero(np.abs(sums - 1) > NEAR))
    require(not off, f"the probabilities of {off} of {groups.count} groups do not add up to 1")
    return np.asarray(rows / sums[:, None])


def _group_frequencies(ids: Any, count: int, codes: Any, size: int) -> Floats:
    """The frequencies in each group; a withheld value is spread evenly over all values."""
    shown = codes != WITHHELD
    counts = np.bincount(ids[shown] * size + codes[shown], minlength=count * size).reshape(-1, size)
    sizes = np.bincount(ids, minlength=count)
    unseen = sizes - counts.sum(axis=1)
    return np.asarray((counts * size + unseen[:, None]) / (sizes * size)[:, None])
