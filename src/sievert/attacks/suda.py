"""Minimal sample uniques (MSUs): the smallest sets of columns that single a record out; SUDA2.

A set C of columns, at least one, is an MSU of record r when no other record agrees with r on C and
some other record agrees with r on every smaller set that is left of C. A missing value agrees with
no value, and belongs to no MSU: neither its own record nor another is found by it. So a record that
only a gap tells apart is unique (its class has one record) but has no MSU.

The search works on classes. Sets are visited in the order of their bits, so that every set comes
after its subsets. The groups of a set come from splitting the groups of the set without its lowest
column. A record alone in its group is noted, unless it has an MSU within the set, and dropped: it
is alone on all larger sets. So are records with a missing value there, and groups in which nobody
can be found. Two or more records of a class are never alone.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.errors import InvariantError, require
from sievert.formatting import plural
from sievert.measures.kernel import total
from sievert.numerics.acceleration import compile_loops

SCORES = ("sdcmicro", "ihsn")
ALL_SIZES = 12  # columns up to which all sizes are searched unless asked otherwise
MOST_SETS = 1 << 16
MOST_WRITTEN = 10**18  # sets whose number is written out
ROOM = 1 << 28  # bytes for what is known of the records searched at a time
WORD = 64
FEW_WITHIN = 4  # columns of a set whose subsets are looked up one by one
WORK = 10**8  # classes times sets from which compiled code is worth its loading


@dataclass(frozen=True, eq=False)
class MinimalUniques:
    """How many MSUs every class has, by size and column; the scores follow from it.

    `counts` are the records of the classes, `unique` the places of those with one record, and
    `found[s - 1, c, i]` is the number of MSUs of size s with column c of the class `unique[i]`.
    `largest` is M of the formula. All arrays below have one row per class: 0 where it has no MSU.
    """

    counts: Ints
    unique: Ints
    found: Ints
    largest: int

    @property
    def columns(self) -> int:
        """A, the number of quasi-identifiers."""
        return int(self.found.shape[1])

    @property
    def sizes(self) -> int:
        """The largest size that was searched."""
        return int(self.found.shape[0])

    @cached_property
    def by_size(self) -> Ints:
        """The number of MSUs of every class, a column for each size 1, 2, ..."""
        whole = np.zeros((len(self.counts), self.sizes), dtype=np.int64)
        sizes = np.arange(1, self.sizes + 1)  # an MSU was counted once for each of its columns
        whole[self.unique] = self.found.sum(axis=1, dtype=np.int64).T // sizes
        return whole

    def weights(self, scores: str = "sdcmicro") -> tuple[Fraction, ...]:
        """What an MSU of size 1, 2, ... adds to the score of its record.

        `sdcmicro`: prod_{i=s}^{M} (A - i); `ihsn`: (2^(A-s) - 1) s! (A-s)!/A!.
        """
        require(
            scores in SCORES, f"scores {scores!r} do not exist", hint=" or ".join(map(repr, SCORES))
        )
        a = self.columns
        sizes = range(1, self.sizes + 1)
        tops = range(self.largest + 1)
        if scores == "ihsn":
            return tuple(Fraction(2 ** (a - s) - 1, math.comb(a, s)) for s in sizes)
        return tuple(Fraction(math.prod(a - i for i in tops[s:])) for s in sizes)

    def suda_score(self, scores: str = "sdcmicro") -> Floats:
        """The sum over a record's MSUs of their weights."""
        weighed = zip(self.weights(scores), self.by_size.T, strict=True)
        return sum(
            (float(weight) * number for weight, number in weighed), np.zeros(len(self.counts))
        )

    def dis_suda_score(self, fraction: float, scores: str = "sdcmicro") -> Floats:
        """DIS_r = 1/(1 + (U/D - U)/(score_r^Q · S)) for a sample of this fraction f.

        U records are unique and P in classes of two, D = U f/(U f + P(1 - f)), so that
        U/D - U = P(1 - f)/f; Q = 1 + (8 - A)/20; S = sum of score^(-Q) where the score is not 0.
        """
        require(
            0 < fraction <= 1,
            "the sampling fraction is not above 0 and at most 1",
            hint="0.01 for one in 100",
        )
        score = self.suda_score(scores)
        risky = score > 0
        power = score[risky] ** (1 + (8 - self.columns) / 20)
        pairs = 2 * int(np.count_nonzero(self.counts == 2))
        dis = np.zeros(len(score))
        dis[risky] = 1 / (1 + pairs * (1 - fraction) / fraction / (power * total(1 / power)))
        return dis

    def contributions(self, scores: str = "sdcmicro") -> Floats:
        """The share of a record's score by MSUs that have the column, a column for each.

        MSUs have several columns: the shares overlap, and do not add to 1.
        """
        mine = np.zeros((self.columns, len(self.unique)))
        for weight, number in zip(self.weights(scores), self.found, strict=True):
            mine += float(weight) * number
        score = self.suda_score(scores)[self.unique]
        whole = np.zeros((len(self.counts), self.columns))
        whole[self.unique] = np.divide(mine, score, out=mine, where=score > 0).T
        return whole

    def column_shares(self, scores: str = "sdcmicro") -> tuple[float, ...] | None:
        """The same over the file, sum by sum; None where no record has a score."""
        return self._shares(self.found.sum(axis=2, dtype=np.int64).T.tolist(), scores)

    def size_shares(self, scores: str = "sdcmicro") -> tuple[float, ...] | None:
        """The share of the file's score by MSUs of size 1, 2, ...; None where there is none."""
        return self._shares(np.diag(self.by_size.sum(axis=0)).tolist(), scores)

    def _shares(self, times: list[list[int]], scores: str) -> tuple[float, ...] | None:
        """Each row's score, its MSUs counted by size, over that of the file; rounded once."""
        weights = self.weights(scores)
        file = _score(weights, self.by_size.sum(axis=0).tolist())
        return tuple(float(_score(weights, row) / file) for row in times) if file else None


def _score(weights: Sequence[Fraction], times: Sequence[int]) -> Fraction:
    return sum((w * n for w, n in zip(weights, times, strict=True)), Fraction(0))


def minimal_uniques(
    codes: Sequence[Ints],
    counts: Ints,
    largest: int | None = None,
    *,
    compiled: bool | None = None,
    pace: Callable[[], None] | None = None,
) -> MinimalUniques:
    """Find the MSUs of a table given as classes: their codes by column, and their records.

    Parameters
    ----------
    codes
        For each quasi-identifier the values of the classes as small whole numbers; 0 is missing.
    counts
        The records of each class. No two classes have the same codes.
    largest
        M, the largest size of the sets searched. Without it, or from A - 1 on, all sizes are.
    compiled
        Whether to use compiled code, if numba is there; by default where it pays. The numbers are
        the same.
    pace
        Called at each set of columns; may raise to end the search.

    Examples
    --------
    Three people by sex and town: one is the only man, one the only person of the second town, and
    one shares the sex with one and the town with the other.

    >>> sex, town = np.array([2, 1, 1]), np.array([1, 2, 1])
    >>> found = minimal_uniques([sex, town], np.ones(3, dtype=np.int64))
    >>> found.by_size.tolist()
    [[1, 0], [1, 0], [0, 1]]
    """
    require(
        all(len(column) == len(counts) for column in codes),
        "a column of codes and the counts differ in length",
        error=InvariantError,
    )
    sizes = _sizes(len(codes), largest)
    counts = np.asarray(counts, dtype=np.int64)
    unique = np.flatnonzero(counts == 1)
    if compiled is None:
        compiled = len(counts) * number_of_sets(len(codes), sizes) >= WORK
    loops = compile_loops(_split_runs) if compiled else None
    # For compiled loops the group of all rows is one run, from its first row to its last.
    runs = _Tools(lambda rows: np.array([0, rows], dtype=np.int32), loops[0]) if loops else None
    order = np.append(unique, np.flatnonzero(counts != 1))
    search = _MinimalUniqueSearch(codes, order, sizes, runs or PLAIN, pace)
    return MinimalUniques(
        counts=counts,
        unique=unique,
        found=search.run(len(unique)),
        largest=min(sizes, len(codes) - 1),
    )


def _sizes(columns: int, largest: int | None) -> int:
    """The largest size to search; refuse a search of too many sets."""
    require(columns >= 1, "minimal uniques of 0 quasi-identifiers", hint="at least 1")
    require(
        largest is None or largest >= 1, "the largest size of minimal uniques is below 1", hint="3"
    )
    sizes = columns if largest is None or largest >= columns - 1 else largest
    number = number_of_sets(columns, sizes)
    most = MOST_SETS if largest is not None else number_of_sets(ALL_SIZES, ALL_SIZES)
    fits = max((s for s in range(1, sizes) if number_of_sets(columns, s) <= MOST_SETS), default=1)
    many = f"{number:,}" if number < MOST_WRITTEN else f"more than {MOST_WRITTEN:,}"
    require(
        number <= most,
        f"{plural(columns, 'quasi-identifier')} have {many} sets of up to {sizes}",
        hint=f"a largest size of {min(fits, 4)}",
    )
    return sizes


def number_of_sets(columns: int, size: int) -> int:
    """Count the sets of at least one and at most `size` columns.

    >>> number_of_sets(250, 2)
    31375
    """
    return sum(math.comb(columns, s) for s in range(1, size + 1))


class _Tools(NamedTuple):
    """The functions of a search: one writes the group of all rows, one splits groups."""

    whole: Callable[[int], Ints]
    split: Callable[[Ints, Ints, Ints, int, int, int, bool], tuple[Ints, Ints, Ints]]


class _RowBlock(NamedTuple):
    """The unique rows searched at a time, the counts of their MSUs, and one bit for each MSU."""

    first: int
    last: int
    counts: Ints
    marks: Ints


class _MinimalUniqueSearch:
    """A search through all sets of columns, bit by bit; rows are classes, the unique ones first."""

    def __init__(
        self,
        codes: Sequence[Ints],
        order: Ints,
        sizes: int,
        tools: _Tools,
        pace: Callable[[], None] | None,
    ) -> None:
        widths = [int(column.max(initial=0)) + 1 for column in codes]
        # The most values at the highest bit: groups are small before they are split often.
        self.places = sorted(range(len(codes)), key=lambda c: (widths[c], c))
        self.widths = [widths[c] for c in self.places]
        kind = np.uint16 if self.widths[-1] <= 1 << 16 else np.uint32
        self.columns = [codes[c][order].astype(kind) for c in self.places]
        self.rows = len(order)
        self.sizes = sizes
        self.tools = tools
        self.pace = pace or (lambda: None)
        bits = [1 << b for b in range(len(codes))]
        masks = (sum(c) for s in range(1, sizes + 1) for c in combinations(bits, s))
        self.numbers = {mask: number for number, mask in enumerate(sorted(masks))}
        long = len(codes) >= WORD  # then sets are small
        self.sets = np.array(list(self.numbers), dtype=object if long else np.int64)

    def run(self, unique: int) -> Ints:
        """Count the MSUs by size, column and unique row; search as many rows at a time as fit."""
        columns = len(self.columns)
        rows = np.arange(self.rows, dtype=np.int32)
        most = max(math.comb(columns - 1, s - 1) for s in range(1, self.sizes + 1))
        counts = np.zeros((self.sizes, columns, unique), dtype=np.min_scalar_type(most))
        words = -(-len(self.sets) // WORD)
        block = max(1, ROOM // (8 * words))
        for first in range(0, unique, block):
            last = min(first + block, unique)
            marks = np.zeros((last - first, words), dtype=np.uint64)
            part = _RowBlock(first=first, last=last, counts=counts[:, :, first:last], marks=marks)
            self._visit(part, rows, self.tools.whole(self.rows), 0, columns)
        return counts

    def _visit(self, part: _RowBlock, rows: Ints, groups: Ints, above: int, lowest: int) -> None:
        """Visit all sets that add to the set `above` columns below its lowest column, `lowest`."""
        size = above.bit_count() + 1
        for bit in range(lowest):
            self.pace()
            leaf = bit == 0 or size == self.sizes
            left, parts, alone = self.tools.split(
                rows, groups, self.columns[bit], self.widths[bit], part.first, part.last, leaf
            )
            if len(alone):
                self._note(part, alone, above | 1 << bit, size)
            if len(left):
                self._visit(part, left, parts, above | 1 << bit, bit)

    def _note(self, part: _RowBlock, alone: Ints, mask: int, size: int) -> None:
        """Note the set as an MSU of the rows in `alone` that have no MSU within it."""
        number = self.numbers[mask]
        within = np.zeros(part.marks.shape[1] * WORD, dtype=np.uint8)
        if size <= FEW_WITHIN:
            within[[self.numbers[smaller] for smaller in _subsets(mask)]] = 1
        else:
            within[:number] = self.sets[:number] & ~mask == 0
        words = np.packbits(within, bitorder="little").view(np.uint64)
        news = alone - part.first
        for word in np.flatnonzero(words):  # left are those without a mark among the words
            news = news[part.marks[news, word] & words[word] == 0]
        part.marks[news, number // WORD] |= np.uint64(1 << number % WORD)
        places = [place for bit, place in enumerate(self.places) if mask >> bit & 1]
        part.counts[size - 1, places, news[:, None]] += 1


def _subsets(mask: int) -> list[int]:
    """All proper, non-empty subsets of `mask`."""
    subsets = []
    subset = (mask - 1) & mask
    while subset:
        subsets.append(subset)
        subset = (subset - 1) & mask
    return subsets


def _split(
    rows: Ints, groups: Ints, codes: Ints, width: int, first: int, last: int, leaf: bool
) -> tuple[Ints, Ints, Ints]:
    """Split groups, one number per row, by a column: rows still together, their groups, rows alone.

    Only the rows from `first` to `last` are looked for; groups without them are dropped.
    """
    own = codes[rows]
    if not own.all():
        rows = rows[own > 0]
        groups = groups[own > 0]
        own = own[own > 0]
    keys = groups * width + own
    if len(keys) and (int(groups.max()) + 1) * width > 4 * len(keys):
        keys = np.unique(keys, return_inverse=True)[1]
    numbers = np.bincount(keys)
    sought = (rows >= first) & (rows < last)
    alone = rows[sought & (numbers[keys] == 1)]
    if leaf:
        return rows[:0], groups[:0], alone
    stay = (np.bincount(keys[sought], minlength=len(numbers)) > 0) & (numbers > 1)
    kept = stay[keys]
    return rows[kept], (np.cumsum(stay) - 1)[keys[kept]], alone


PLAIN = _Tools(lambda rows: np.zeros(rows, dtype=np.int64), _split)


def _split_runs(
    rows: Ints, starts: Ints, codes: Ints, width: int, first: int, last: int, leaf: bool
) -> tuple[Ints, Ints, Ints]:
    """Split like `_split`, in compiled code: groups are runs of rows, between two of `starts`."""
    tally = np.zeros((width, 3), dtype=np.int32)  # of a code: rows, rows looked for, last row
    seen = np.empty(width, dtype=np.int32)
    left = np.empty(0 if leaf else len(rows), dtype=np.int32)
    parts = np.empty(1 if leaf else len(rows) // 2 + 1, dtype=np.int32)
    alone = np.empty(min(len(rows), last - first), dtype=np.int32)
    kept = groups = single = 0
    for g in range(len(starts) - 1):
        values = 0
        for i in range(starts[g], starts[g + 1]):
            row = rows[i]
            code = codes[row]
            if code == 0:
                continue
            if tally[code, 0] == 0:
                seen[values] = code
                values += 1
            tally[code, 0] += 1
            if first <= row < last:
                tally[code, 1] += 1
            tally[code, 2] = row
        for v in range(values):
            code = seen[v]
            number = tally[code, 0]
            sought = tally[code, 1]
            tally[code, 0] = tally[code, 1] = 0
            if number == 1 and sought:
                alone[single] = tally[code, 2]
                single += 1
            tally[code, 2] = -1
            if number > 1 and sought and not leaf:
                parts[groups] = tally[code, 2] = kept
                groups += 1
                kept += number
        if leaf:
            continue
        for i in range(starts[g], starts[g + 1]):
            code = codes[rows[i]]
            if code and tally[code, 2] >= 0:
                left[tally[code, 2]] = rows[i]
                tally[code, 2] += 1
    parts[groups] = kept
    return left[:kept], parts[: groups + 1], alone[:single]
