"""Classes that match each other if a missing value matches anything: sums and values over them.

Matching is not transitive: each record has its own matches, and there are no classes of matches.
The records of one class have the same matches. Classes that lack the same columns have the same
pattern. All classes of a pattern are matched with all classes of another pattern at once, by the
columns that neither pattern lacks.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import groupby, product

import numpy as np

from sievert.arrays import Ints
from sievert.counts.answers import Sizes
from sievert.counts.cube import Cube, narrow_keys, pack_codes, run_starts

# Limits up to which matches are counted if a missing value matches anything.
MOST_KEYS = 60  # a bit for each
MOST_PATTERNS = 64  # of the columns that are missing
MOST_WORK = 10**8  # pairs of patterns times classes
MOST_PARTS = 10**6  # of a record that counts in part
WORD = 64  # values that are marked in one integer


def can_match(patterns: int, classes: int) -> bool:
    """Whether it is feasible to match the classes; `patterns` counts patterns of missing values."""
    return patterns <= MOST_PATTERNS and patterns**2 * classes <= MOST_WORK


class WildcardMatches:
    """The classes of a table by the columns that they lack, and the classes that match each."""

    def __init__(self, classes: Cube) -> None:
        bits = [(codes == 0).astype(np.uint64) for codes in classes.codes]
        masks = pack_codes(bits, [1] * len(bits), len(classes.counts))
        patterns, self._pattern = np.unique(masks, return_inverse=True)
        self.classes = classes
        self.patterns = patterns.tolist()

    @classmethod
    def find(cls, classes: Cube, times: int = 1) -> "WildcardMatches | None":
        """Match classes; None if summing over the matches `times` times would take too long."""
        if len(classes.codes) > MOST_KEYS:
            return None
        matches = cls(classes)
        return matches if can_match(len(matches.patterns), len(classes.counts) * times) else None

    def sums(self, amounts: Ints, alpha: Fraction = Fraction(1)) -> Ints:
        """For each class the sum of whole numbers over the classes that match it, itself included.

        A class that lacks a column which the class has counts as `alpha`; sums are in units of the
        denominator of `alpha`. The numbers may be Python integers, which do not overflow.
        """
        whole = np.zeros_like(amounts)
        for own, other, ours, sums in self._each(np.add, amounts):
            whole[ours] += sums * (alpha.numerator if other & ~own else alpha.denominator)
        return whole

    def count_values(self, cells: Cube) -> Ints:
        """For each class the number of values of the cells' last column among all its matches.

        The cells are of the same classes in the same order; missing is a value.
        """
        codes = cells.codes[-1].astype(np.uint64)
        owner = cells.owner
        numbers = np.zeros(len(self.classes.counts), dtype=np.int64)
        for first in range(0, len(cells.values[-1]), WORD):
            inside = (codes >= first) & (codes < first + WORD)
            marks = np.where(inside, np.uint64(1) << (codes - np.uint64(first)) % WORD, 0)
            seen = np.bitwise_or.reduceat(marks.astype(np.uint64), run_starts(owner))
            matched = np.zeros_like(seen)
            for _, _, ours, others in self._each(np.bitwise_or, seen):
                matched[ours] |= others
            numbers += np.bitwise_count(matched)
        return numbers

    def _each(self, operation: np.ufunc, amounts: Ints) -> Iterator[tuple[int, int, Ints, Ints]]:
        """Two patterns, the classes of the first, and the operation over matches of the second."""
        members = [np.flatnonzero(self._pattern == number) for number in range(len(self.patterns))]
        pairs = product(enumerate(self.patterns), repeat=2)
        by_mask = sorted((own | other, a, b) for (a, own), (b, other) in pairs)
        for mask, group_of_pairs in groupby(by_mask, lambda pair: pair[0]):
            order, group = self._group_cells(mask)
            for _, a, b in group_of_pairs:
                theirs = order[self._pattern[order] == b]
                starts = run_starts(group[theirs])
                together = np.zeros(len(order), dtype=amounts.dtype)
                together[group[theirs[starts]]] = operation.reduceat(amounts[theirs], starts)
                yield self.patterns[a], self.patterns[b], members[a], together[group[members[a]]]

    def _group_cells(self, mask: int) -> tuple[Ints, Ints]:
        """Group the classes by their values outside of a mask, whose lowest bit is the last column.

        Return the classes in the order of their groups, and the group of each class.
        """
        cube = self.classes
        places = [p for p in range(len(cube.codes)) if not mask >> (len(cube.codes) - 1 - p) & 1]
        codes = [cube.codes[p] for p in places]
        widths = [cube.widths[p] for p in places]
        keys = narrow_keys(codes, widths, len(cube.counts))
        order = np.argsort(keys, kind="stable")
        group = np.zeros(len(order), dtype=np.int64)
        starts = run_starts(keys[order])
        group[order] = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(order))))
        return order, group


def class_values(cells: Cube, *, wildcard: bool) -> Ints | None:
    """For each class the number of values of the cells' last column, a secret; missing is one.

    With `wildcard`, the values among all records that match those of the class are counted; None if
    that would take too long.
    """
    if not wildcard:
        return np.minimum(np.bincount(cells.owner), cells.classes[1])  # people may have several
    matches = WildcardMatches.find(cells.class_cube, -(-len(cells.values[-1]) // WORD))
    return None if matches is None else matches.count_values(cells)


def count_matches(classes: Cube) -> tuple[int, Sizes | None]:
    """Count the records that lack a value, and make the histogram of the matches of each record.

    A missing value matches anything; the histogram is None if that would take too long.
    """
    missing = int(classes.counts[classes.lacking].sum())
    matches = WildcardMatches.find(classes) if missing else None
    if matches is None:
        return missing, None
    return missing, Sizes.from_arrays(matches.sums(classes.counts), classes.counts)
