"""How often a release agrees with its original in one column, and how often chance would agree.

A released value agrees with an original value if it equals it or stands above it. Let x be the
number of records that agree, M_ij whether released record j agrees with original record i, r_i and
c_j the sums of the rows and columns of M, and S the sum of all. A random permutation of n records
has

    E[x] = S/n,   Var[x] = (n^2·S - n·(sum r_i^2 + sum c_j^2) + S^2) / (n^2·(n - 1)),

which for plain equality is the variance of matches. If records are permuted within strata only,
expectations and variances add up.
"""

import itertools
import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sievert.arrays import Bools, Floats, Ints
from sievert.attacks.reasoning.value_sets import label_members
from sievert.estimators.contingency import count_keys
from sievert.hierarchies import NUMBER, ROOT
from sievert.losses.loss import PairedColumn, as_numbers

BANDS = 20  # of the ranks of numbers, in each table
MOST_READ = 20_000  # labels of a column that are read one by one
MOST_MEMBERS = 2 * 10**6  # values below all labels of a column
MOST_LISTS = 16  # labels above one value up to which they are compared one after the other
MOST_CELLS = 1 << 26  # of a table of values and labels
NO_LABEL = -1
ALMOST_ONE = 1 - 1e-12  # a correlation whose artanh is finite


@dataclass(frozen=True)
class Moments:
    """Records that agree: as found, by chance (mean and standard deviation), at most."""

    found: int
    expected: float
    deviation: float
    most: float

    @property
    def excess(self) -> float:
        """The excess over chance in standard deviations; 0 if chance cannot vary."""
        return 0.0 if self.deviation == 0 else (self.found - self.expected) / self.deviation


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """A column of both tables as codes in the order of records, and the labels above each value.

    `above` has lists: each has one label for every value, or NO_LABEL.
    """

    name: str
    original: Ints
    released: Ints
    values: int
    labels: int
    above: tuple[Ints, ...]
    readable: Bools | None = None  # of each label: whether it is known which values it excludes

    @property
    def different(self) -> int:
        """The number of different values of the original in this column."""
        return int(np.count_nonzero(np.bincount(self.original, minlength=self.values)))

    @cached_property
    def _sides(self) -> tuple[list[Ints], Ints]:
        """The labels above each record's value, list by list, and its released label."""
        kind = np.min_scalar_type(-max(self.labels, 2))
        lists = [labels.astype(kind)[self.original] for labels in self.above]
        return lists, self.released.astype(kind)

    @cached_property
    def _table(self) -> Bools:
        """Whether a value (row) and a label (column) agree, if there are many lists."""
        table = np.zeros((self.values, self.labels + 1), dtype=bool)
        for labels in self.above:
            table[np.arange(self.values), labels] = True
        table[:, self.labels] = False
        return table

    def agrees(self) -> Bools:
        """Whether each record agrees."""
        if len(self.above) > MOST_LISTS:
            return np.asarray(self._table[self.original, self.released])
        lists, released = self._sides
        same = np.zeros(len(released), dtype=bool)
        for labels in lists:
            same |= labels == released
        return same

    def count(self, shift: int = 0) -> int:
        """Count the records that agree if the release is shifted by `shift` rows, in a circle."""
        if len(self.above) > MOST_LISTS:
            released = np.roll(self.released, shift)
            return int(np.count_nonzero(self._table[self.original, released]))
        lists, released = self._sides
        cut = shift % max(1, len(released))
        end = len(released) - cut
        number = 0
        for labels in lists:
            number += int(np.count_nonzero(labels[cut:] == released[:end]))
            number += int(np.count_nonzero(labels[:cut] == released[end:]))
        return number

    def moments(self, strata: Ints | None = None) -> Moments:
        """The agreement found, and that of permutations of all records or within strata."""
        number = 1 if strata is None else int(strata.max(initial=0)) + 1
        ours = _margin(self.original, self.values, strata, number)
        theirs = _margin(self.released, self.labels, strata, number)
        rows = np.zeros(len(ours.codes))
        columns = np.zeros(len(theirs.codes))
        for labels in self.above:
            label = labels[ours.codes]
            keys = np.where(label == NO_LABEL, -1, ours.strata * self.labels + label)
            place = np.minimum(np.searchsorted(theirs.keys, keys), len(theirs.keys) - 1)
            hit = np.flatnonzero(theirs.keys[place] == keys)
            rows[hit] += theirs.counts[place[hit]]
            columns += np.bincount(place[hit], ours.counts[hit], len(columns))
        sizes = ours.sum(number)
        there = sizes > 0
        n = sizes[there]
        total = ours.sum(number, rows)[there]
        ours_squared = ours.sum(number, rows**2)[there]
        theirs_squared = theirs.sum(number, columns**2)[there]
        spread = total - (ours_squared + theirs_squared) / n + (total / n) ** 2
        variance = float((np.maximum(spread, 0.0) / np.maximum(n - 1, 1))[n > 1].sum())
        most = min(np.minimum(ours.counts, rows).sum(), np.minimum(theirs.counts, columns).sum())
        expected = float((total / n).sum())
        return Moments(
            found=self.count(),
            expected=expected,
            deviation=float(np.sqrt(variance)),
            most=float(most),
        )


@dataclass(frozen=True)
class _Margin:
    """The values of one table that occur in each stratum, and how often, in the order of `keys`."""

    keys: Ints
    counts: Floats
    strata: Ints
    codes: Ints

    def sum(self, number: int, weights: Floats | None = None) -> Floats:
        """The sum of weights over the records of each stratum; their number without weights."""
        weighted = self.counts if weights is None else self.counts * weights
        return np.asarray(np.bincount(self.strata, weighted, number), dtype=np.float64)


def _margin(codes: Ints, size: int, strata: Ints | None, number: int) -> _Margin:
    keys = codes.astype(np.int64)
    if strata is not None:
        keys = strata.astype(np.int64) * size + keys
    present, counts = count_keys(keys, number * size)
    return _Margin(
        keys=present, counts=counts.astype(np.float64), strata=present // size, codes=present % size
    )


# -- which labels are above which values ----------------------------------------------------------


def agreement(column: PairedColumn) -> Agreement:
    """Compare released values: equal to the original's, above them in a hierarchy, or neither.

    Without a hierarchy, intervals, masks and sets are read as the values that they stand for.
    Numbers that agree no more often than by chance are compared by bands of ranks.
    """
    exact = exact_agreement(column)
    before = column.value_numbers
    after = column.label_numbers
    if before is None or after is None or column.hierarchy is not None:
        return exact
    return exact if exceeds(exact.moments()) else _by_bands(column, before, after)


def exact_agreement(column: PairedColumn) -> Agreement:
    """Find the released labels of a column that equal an original value or stand above it."""
    above: list[Ints] = []
    filled: dict[int, int] = defaultdict(int)
    readable = np.zeros(len(column.labels), dtype=bool)
    occurring = np.flatnonzero(np.bincount(column.released, minlength=len(column.labels)))
    size = sum(value is not None for value in column.values)
    for label, members in _members(column, occurring.tolist()):
        if column.labels[label] == ROOT or len(members) >= max(2, size):
            continue  # it may stand for anybody, so it agrees with every record
        readable[label] = True
        for value in members:
            if filled[value] == len(above):
                above.append(np.full(len(column.values), NO_LABEL, dtype=np.int64))
            above[filled[value]][value] = label
            filled[value] += 1
    cells = len(column.values) * len(column.labels)
    known = len(above) <= MOST_LISTS or cells <= MOST_CELLS
    return Agreement(
        name=column.name,
        original=column.original,
        released=column.released,
        values=len(column.values),
        labels=len(column.labels),
        above=tuple(above) if known else (),
        readable=readable if known else None,
    )


def _members(column: PairedColumn, occurring: Sequence[int]) -> list[tuple[int, Sequence[int]]]:
    """The values that each readable label stands for."""
    place = {text: code for code, text in reversed(list(enumerate(column.values)))}
    texts = column.labels
    plain: list[tuple[int, Sequence[int]]] = [
        (w, [place[texts[w]]]) for w in occurring if texts[w] in place
    ]
    if column.hierarchy is None:
        others = [w for w in occurring if texts[w] not in place]
        if as_numbers([texts[w] for w in others]) is not None:  # numbers stand for themselves
            others = [w for w in others if texts[w] == ROOT]
    else:
        plain = []
        others = list(occurring)
    if len(others) > MOST_READ:
        return plain
    sets = label_members([texts[w] for w in others], column.values, column.hierarchy)
    totals = itertools.accumulate(len(below) for below in sets)
    return plain + [
        (label, below.tolist())
        for label, below, total in zip(others, sets, totals, strict=True)
        if len(below) and total <= MOST_MEMBERS
    ]


def _by_bands(column: PairedColumn, before: Floats, after: Floats) -> Agreement:
    """Compare numbers by their ranks in their own table: ranks agree if they share a band."""
    ours, values = _ranges(before, column.original)
    theirs, labels = _ranges(after, column.released)
    shared = (values[:, None, 0] <= labels[None, :, 1]) & (labels[None, :, 0] <= values[:, None, 1])
    shared &= (values[:, None, 0] < BANDS) & (labels[None, :, 0] < BANDS)
    above = [np.full(len(values), NO_LABEL) for _ in range(int(shared.sum(1).max(initial=0)))]
    for value, row in enumerate(shared):
        for own_labels, label in zip(above, np.flatnonzero(row), strict=False):
            own_labels[value] = label
    return Agreement(
        name=column.name,
        original=ours,
        released=theirs,
        values=len(values),
        labels=len(labels),
        above=tuple(above),
    )


def _ranges(numbers: Floats, codes: Ints) -> tuple[Ints, Ints]:
    """For each record a code of its number's bands, and the first and last band of each code."""
    bands, places = np.unique(rank_bands(numbers, codes), axis=0, return_inverse=True)
    return np.asarray(places).reshape(-1)[codes], bands


def rank_bands(numbers: Floats, codes: Ints) -> Ints:
    """For each code the first and the last band of its number's ranks; BANDS if it has no number.

    All bands have equally many records, so equal numbers may reach over several bands.

    >>> rank_bands(np.array([5.0, 1.0, np.nan]), np.array([0, 1, 1, 0, 2])).tolist()
    [[10, 19], [0, 9], [20, 20]]
    """
    times = np.bincount(codes, minlength=len(numbers)).astype(np.int64)
    times[np.isnan(numbers)] = 0
    order = np.argsort(numbers, kind="stable")
    last = np.cumsum(times[order])
    records = max(1, int(times.sum()))
    bands = np.full((len(numbers), 2), BANDS, dtype=np.int64)
    bands[order, 0] = BANDS * (last - times[order]) // records
    bands[order, 1] = np.maximum((BANDS * last - 1) // records, bands[order, 0])
    bands[np.isnan(numbers) | (times == 0)] = BANDS
    return bands


# -- how much is enough ---------------------------------------------------------------------------

ENOUGH = 6.0  # standard deviations
SEEN = 4.0  # standard deviations that are hardly chance, but no proof


def least_excess(moments: Moments) -> float:
    """The number of records of 6 standard deviations.

    A deviation below one record counts as one: if almost nothing agrees by chance, numbers of
    records are far from normal.
    """
    return ENOUGH * max(moments.deviation, 1.0)


def exceeds(moments: Moments) -> bool:
    """Whether more records agree than by chance."""
    return moments.found - moments.expected > least_excess(moments)


def could_exceed(moments: Moments) -> bool:
    """Whether perfect agreement would be more than chance."""
    return moments.most - moments.expected > least_excess(moments)


def seems_paired(column: PairedColumn, moments: Moments, strata: Ints | None = None) -> bool:
    """Whether a column agrees more than by chance, though it may be too little for a proof.

    Its records agree by more than 4 standard deviations, or its numbers are correlated by as much:
    noise changes most numbers, but larger ones stay larger. `moments` and the correlation are
    within `strata`, if given.
    """
    if moments.found - moments.expected > SEEN * max(moments.deviation, 1.0):
        return True
    return rank_correlation_deviations(column, strata) > SEEN


def rank_correlation_deviations(column: PairedColumn, strata: Ints | None = None) -> float:
    """The correlation of the ranks of a column's numbers in standard deviations of chance.

    In a random order of n records, artanh(correlation) is nearly normal with the mean 0 and the
    variance 1/(n - 3) (Fisher); within s strata the variance is 1/(n - s - 2).
    """
    correlation, freedom = rank_correlation(column, strata)
    return math.atanh(max(-ALMOST_ONE, min(ALMOST_ONE, correlation))) * math.sqrt(freedom)


def rank_correlation(column: PairedColumn, strata: Ints | None = None) -> tuple[float, int]:
    """The correlation of the ranks of a column's numbers, and its degrees of freedom.

    Within strata it is the correlation of the differences from their means. It is 0 if the column
    has no numbers.
    """
    if column.numbers is None:
        return 0.0, 0
    before, after = column.numbers
    known = ~(np.isnan(before) | np.isnan(after))
    groups = np.zeros(len(before), dtype=np.int64) if strata is None else strata
    places, sizes = np.unique(groups[known], return_inverse=True, return_counts=True)[1:]
    freedom = int(sizes.sum()) - len(sizes) - 2
    if freedom < 1:
        return 0.0, 0
    centred = []
    for numbers in (before, after):
        ranks = _mid_ranks(numbers[known])
        means = np.bincount(places, ranks) / sizes
        centred.append(ranks - means[places])
    first, second = centred
    spread = math.sqrt(float(first @ first) * float(second @ second))
    return (float(first @ second) / spread if spread else 0.0), freedom


def _mid_ranks(numbers: Floats) -> Floats:
    """The rank of each number; equal numbers have the middle of their ranks."""
    _, places, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[places], dtype=np.float64)


def changed_records(column: PairedColumn) -> Bools:
    """Whether each record has a value that is neither the original's nor above it.

    Labels that cannot be read or may be anybody, suppressed cells and records that were not
    released are none.
    """
    exact = exact_agreement(column)
    if exact.readable is None:
        return np.zeros(len(column.original), dtype=bool)
    plain = exact.readable.copy()
    if column.value_numbers is not None:
        plain |= np.array(
            [bool(NUMBER.fullmatch(text or "")) for text in column.labels], dtype=bool
        )
    plain &= np.array([text not in (None, ROOT) for text in column.labels], dtype=bool)
    return np.asarray(plain[column.released] & ~exact.agrees())
