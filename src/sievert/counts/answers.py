"""What leaves an engine: small exact integer tables, and nothing else.

Three histograms determine almost every measure. *Sizes*: how many classes have n records.
*Profiles*: how many classes have the values of their secret n1 >= n2 >= ... times. *Joint*: how
many cells have this class size, this total of their value and this count. The rest (gaps, ranked
profiles) is for measures that depend on which value is which. Every answer is put into one order,
so the same table gives the same arrays for every engine, number of threads and order of rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sievert.arrays import Ints
from sievert.errors import InvariantError, require


def _ints(values: Any) -> Ints:
    require(
        not np.any(getattr(values, "mask", False)),  # without importing numpy.ma for it
        "an engine answered with a missing count",
        error=InvariantError,
    )
    array = np.asarray(values)
    return array if array.dtype == object else array.astype(np.int64)


@dataclass(frozen=True)
class Sizes:
    """A histogram: `times[i]` things (classes, or values of a secret) have `sizes[i]` records."""

    sizes: Ints
    times: Ints

    @classmethod
    def from_arrays(cls, sizes: Any, times: Any) -> Sizes:
        """Put a histogram into ascending order, each size once."""
        times = _ints(times)
        different, place = np.unique(_ints(sizes), return_inverse=True)
        sums = np.zeros(len(different), dtype=times.dtype)
        np.add.at(sums, place, times)
        return cls(different, sums)

    @property
    def records(self) -> int:
        """The exact number of records that the histogram covers."""
        if self.sizes.dtype != object and len(self.sizes) and self.things * self.most < 1 << 62:
            return int(self.sizes @ self.times)
        return sum(int(s) * int(t) for s, t in zip(self.sizes, self.times, strict=True))

    @property
    def things(self) -> int:
        """The number of classes (or values)."""
        return int(self.times.sum())

    @property
    def least(self) -> int:
        """The smallest size."""
        return int(self.sizes[0])

    @property
    def most(self) -> int:
        """The largest size."""
        return int(self.sizes[-1])

    def records_below(self, k: int) -> int:
        """Count the records in classes of fewer than `k`."""
        below = self.sizes < k
        return int((self.sizes[below] * self.times[below]).sum())

    def check(self, records: int) -> None:
        """Raise an error if the histogram does not cover every record: that is a defect."""
        require(
            self.records == records,
            f"a histogram covers {self.records} records where {records} were read",
            error=InvariantError,
        )


@dataclass(frozen=True)
class Profiles:
    """Distinct class profiles: the counts of a secret's values within a class, in descending order.

    `counts` is flat; profile i begins at `starts[i]` and `times[i]` classes have it.
    """

    counts: Ints
    starts: Ints
    times: Ints
    people: Ints | None = None  # of each class, where a person may have several values

    @classmethod
    def from_arrays(cls, lists: Any, times: Any, people: Any = None) -> Profiles:
        """Flatten lists of counts, in the order they come."""
        times = _ints(times)
        people = None if people is None else _ints(people)
        lengths = np.fromiter((len(x) for x in lists), dtype=np.int64, count=len(lists))
        counts = np.concatenate(list(lists)).astype(np.int64) if len(lists) else np.zeros(0, int)
        starts = np.zeros(len(lengths), dtype=np.int64)
        np.cumsum(lengths[:-1], out=starts[1:])
        return cls(counts=counts, starts=starts, times=times, people=people)

    @property
    def members(self) -> Ints:
        """The people of a class of each profile: its records, unless people have several values."""
        return self.sizes if self.people is None else self.people

    @property
    def lengths(self) -> Ints:
        """The number of different values in each profile."""
        return np.diff(np.append(self.starts, len(self.counts)))

    @property
    def sizes(self) -> Ints:
        """The number of records of a class of each profile."""
        return np.add.reduceat(self.counts, self.starts)

    def class_sizes(self) -> Sizes:
        """The histogram of the sizes of the classes."""
        return Sizes.from_arrays(self.sizes, self.times)

    @property
    def largest(self) -> Ints:
        """The count of each profile's most frequent value."""
        return self.counts[self.starts]

    def profile(self, i: int) -> list[int]:
        """The counts of one profile in descending order."""
        stop = self.starts[i + 1] if i + 1 < len(self.starts) else len(self.counts)
        return [int(n) for n in self.counts[self.starts[i] : stop]]


@dataclass(frozen=True)
class JointCounts:
    """How many (class, value) cells have this class size, this total of the value, this count."""

    class_size: Ints
    value_size: Ints
    count: Ints
    times: Ints

    @classmethod
    def from_arrays(cls, class_size: Any, value_size: Any, count: Any, times: Any) -> JointCounts:
        """Put the cells into one order."""
        a = _ints(class_size)
        b = _ints(value_size)
        c = _ints(count)
        t = _ints(times)
        order = np.lexsort((c, b, a))
        return cls(class_size=a[order], value_size=b[order], count=c[order], times=t[order])

    @property
    def certain(self) -> tuple[int, int]:
        """Count the records in classes with one value, and all records."""
        records = self.count * self.times
        alone = self.count == self.class_size
        return int(records[alone].sum()), int(records.sum())


@dataclass(frozen=True)
class Gaps:
    """For each class size the largest sum over s of max(0, n_qs·N - n_s·n_q).

    `levels` is 1 for the plain distance; for a hierarchy the gaps of its levels are added up.
    """

    class_size: tuple[int, ...]
    gap: tuple[int, ...]
    levels: int = 1

    @classmethod
    def from_arrays(cls, class_size: Any, gap: Any, levels: int = 1) -> Gaps:
        """Put the rows into ascending order of class size."""
        rows = sorted(zip((int(n) for n in class_size), (int(g) for g in gap), strict=True))
        return cls(tuple(n for n, _ in rows), tuple(g for _, g in rows), levels)


@dataclass(frozen=True)
class Named:
    """Distinct classes: size, records with a known secret, and records with the named value."""

    class_size: tuple[int, ...]
    known_size: tuple[int, ...]
    count: tuple[int, ...]
    # Whether records that are not counted here have the value.
    elsewhere: bool = field(default=False, kw_only=True)


@dataclass(frozen=True)
class Ranked:
    """Classes as (rank of the value, count) pairs in the order of the values.

    One of several classes with equal pairs is enough. `totals[r]` is the number of records of the
    table with the value of rank r.
    """

    ranks: Ints
    counts: Ints
    starts: Ints
    totals: Ints


@dataclass(frozen=True, kw_only=True)
class NumberCells:
    """Cells in the order of their classes: the value of cell i is `texts[codes[i]]`.

    Class c goes from `bounds[c]` up to `bounds[c + 1]`. `first` returns the class, among some
    classes, whose texts come first.
    """

    texts: tuple[str | None, ...]
    codes: Ints
    counts: Ints
    bounds: Ints
    first: Callable[[Ints], int]


@dataclass(frozen=True, kw_only=True)
class PeopleCounts:
    """People, some seen in several classes; the sizes of classes are counts of people.

    `smallest` is the histogram of the sizes of each person's smallest class. `times[i]` pairs of a
    person and a class have a person who was seen in `classes[i]` classes and a class with
    `sizes[i]` people.
    """

    people: int
    smallest: Sizes
    classes: Ints
    sizes: Ints
    times: Ints

    def check(self, pairs: int) -> None:
        """Raise an error if the counts do not cover every person and every pair: a defect."""
        counted = (self.smallest.things, int(self.times.sum()), sum(self.by_classes().values()))
        require(
            counted == (self.people, pairs, self.people),
            f"{self.people} people in {pairs} pairs were counted as {counted}",
            error=InvariantError,
        )

    def by_classes(self) -> dict[int, int]:
        """Count the people who were seen in each number of classes."""
        pairs: dict[int, int] = {}
        for seen, times in zip(self.classes.tolist(), self.times.tolist(), strict=True):
            pairs[seen] = pairs.get(seen, 0) + times
        return {seen: times // seen for seen, times in sorted(pairs.items())}


@dataclass(frozen=True, kw_only=True)
class RecordCounts:
    """The counts behind every measure of re-identification: the sizes of the classes.

    `missing` is the number of records that lack a quasi-identifier, 0 if it was not requested.
    `wildcard` is the histogram of matching records when a missing value matches anything; None if
    no quasi-identifier is missing, if it was not requested, or if it would take too long.
    """

    records: int
    sizes: Sizes
    missing: int = 0
    wildcard: Sizes | None = None
    people: PeopleCounts | None = None  # where somebody was seen in several classes
    suppressed: int = 0  # records with the mark of suppression in every quasi-identifier


@dataclass(frozen=True, kw_only=True)
class SecretCounts:
    """The counts behind every measure of one secret; a field that was not requested is None."""

    records: int
    sizes: Sizes
    values: Sizes
    profiles: Profiles
    joint: JointCounts | None = None
    gaps: Gaps | None = None
    missing: int = 0
    known_profiles: Profiles | None = None
    known_joint: JointCounts | None = None
    ranked: Ranked | None = None
    hierarchy_gaps: Gaps | None = None
    parts: SecretCounts | None = None
    named: Named | None = None
    # Where people have several values, the cells by the people of the class, the people with the
    # value, and the people who are both.
    confidence: JointCounts | None = None
    people: int | None = None
    known_people: int | None = None  # with at least one value that is not missing
