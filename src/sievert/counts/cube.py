"""The different combinations of some columns' values, as small integers, and how often each occurs.

Measures of subsets of columns, of single values and of attacks start from such a cube: it is
fetched once and then rolled up. Texts stay in this process. A code is the rank of a text; 0 is
missing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from sievert.arrays import Bools, Ints
from sievert.counts.answers import NumberCells, Sizes
from sievert.errors import InvariantError, require

MOST_BITS = 62
DENSE_SIZES = 1 << 22  # up to this size, sizes are counted in an array


@dataclass(frozen=True)
class Cube:
    """Cells: `codes[i][j]` is the code of column i in cell j, which `counts[j]` records have."""

    columns: tuple[str, ...]
    codes: tuple[Ints, ...]
    counts: Ints
    values: tuple[tuple[str | None, ...], ...]  # of each column, the text of each code

    @classmethod
    def from_cells(
        cls,
        columns: Sequence[str],
        codes: Sequence[Any],
        counts: Any,
        values: Sequence[Sequence[str | None]],
    ) -> Cube:
        """Number the values of each column in the order of their texts, missing first."""
        ranked = [rank_texts(*pair) for pair in zip(codes, values, strict=True)]
        cube = cls(
            columns=tuple(columns),
            codes=tuple(ranks for ranks, _ in ranked),
            counts=np.asarray(counts, dtype=np.int64),
            values=tuple(texts for _, texts in ranked),
        )
        if cube.bits > MOST_BITS:
            return cube.select_cells(np.lexsort(cube.codes[::-1]))
        ordered = bool(np.all(cube.keys[1:] > cube.keys[:-1]))
        return cube if ordered else cube.select_cells(np.argsort(cube.keys))

    @property
    def records(self) -> int:
        """The number of records."""
        return int(self.counts.sum())

    @cached_property
    def widths(self) -> tuple[int, ...]:
        """The number of bits that the codes of each column need."""
        return tuple(max(1, (len(v) - 1).bit_length()) for v in self.values)

    @property
    def bits(self) -> int:
        """The number of bits of a key of all columns."""
        return sum(self.widths)

    @cached_property
    def keys(self) -> Ints:
        """One integer per cell: the codes side by side, the last column's lowest."""
        if self.bits > MOST_BITS:
            raise InvariantError(f"a key of {self.bits} bits")
        return pack_codes(self.codes, self.widths, len(self.counts))

    def select_cells(self, places: Ints) -> Cube:
        """Only these cells, in this order."""
        return replace(self, codes=tuple(c[places] for c in self.codes), counts=self.counts[places])

    def select_columns(self, columns: Sequence[str]) -> Cube:
        """Only these columns, cell by cell."""
        places = [self.columns.index(c) for c in columns]
        codes = tuple(self.codes[p] for p in places)
        values = tuple(self.values[p] for p in places)
        return Cube(columns=tuple(columns), codes=codes, counts=self.counts, values=values)

    def all_have(self, columns: Sequence[str], text: str | None) -> Bools:
        """Whether each cell has this text, None for missing, in all of these columns."""
        have = np.ones(len(self.counts), dtype=bool)
        for place in (self.columns.index(c) for c in columns):
            texts = self.values[place]
            have &= self.codes[place] == (texts.index(text) if text in texts else len(texts))
        return have

    def roll_up(self, columns: Sequence[str]) -> Cube:
        """Only some of the columns, in this order; cells that have become equal are merged."""
        cube = self.select_columns(columns)
        first, sums = merge_cells(cube.codes, cube.widths, self.counts)
        return replace(cube.select_cells(first), counts=sums)

    @cached_property
    def classes(self) -> tuple[Ints, Ints]:
        """The starts and sizes of the classes of cells whose last column is a secret."""
        starts = run_starts(np.zeros(len(self.counts)), *self.codes[:-1])
        return starts, np.add.reduceat(self.counts, starts)

    @cached_property
    def owner(self) -> Ints:
        """The class of each cell, if the last column is a secret."""
        starts, _ = self.classes
        return np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(self.counts))))

    @cached_property
    def class_cube(self) -> Cube:
        """The classes of cells whose last column is a secret, without the secret."""
        starts, sizes = self.classes
        return replace(self.select_columns(self.columns[:-1]).select_cells(starts), counts=sizes)

    @property
    def number_cells(self) -> NumberCells:
        """The cells of the last column, a secret; classes are in the order of their texts."""
        bounds = np.append(self.classes[0], len(self.counts))
        return NumberCells(
            texts=self.values[-1],
            codes=self.codes[-1],
            counts=self.counts,
            bounds=bounds,
            first=lambda some: int(some.min()),
        )

    @property
    def lacking(self) -> Bools:
        """Whether each cell lacks a value."""
        return np.asarray(np.any([codes == 0 for codes in self.codes], axis=0))

    def check(self, records: int) -> Cube:
        """Return the cube; raise an error if it does not cover every record: that is a defect."""
        covered = f"combinations cover {self.records} records where {records} were read"
        require(self.records == records, covered, error=InvariantError)
        return self

    def totals(self, place: int) -> Ints:
        """The number of records with each code of one column."""
        codes = self.codes[place].astype(np.int64)
        texts = self.values[place]
        return np.bincount(codes, self.counts, len(texts)).astype(np.int64)

    def value_counts(self, place: int) -> dict[str, int]:
        """Count the records with each value of one column that is not missing."""
        pairs = zip(self.values[place], self.totals(place).tolist(), strict=True)
        return {text: number for text, number in pairs if text is not None}

    def tally(self) -> dict[str | None, int]:
        """The number of records with each value of the first column, if every cell has another."""
        texts = map(self.values[0].__getitem__, self.codes[0].tolist())
        return dict(zip(texts, self.counts.tolist(), strict=True))

    def sizes(self) -> Sizes:
        """The histogram of the cells' sizes."""
        return histogram(self.counts)


def rank_texts(codes: Any, texts: Sequence[str | None]) -> tuple[Ints, tuple[str | None, ...]]:
    """Number codes in the order of their texts, and sort the texts; 0 is missing."""
    order = sorted(range(len(texts)), key=lambda i: (texts[i] is not None, texts[i] or ""))
    lacks = all(text is not None for text in texts)
    place = np.empty(max(1, len(texts)), dtype=np.uint32)
    place[order] = np.arange(len(order)) + lacks
    there = tuple(texts[i] for i in order)
    return place[np.asarray(codes, dtype=np.int64)], (None, *there) if lacks else there


def pack_codes(codes: Sequence[Ints], widths: Sequence[int], cells: int) -> Ints:
    """Put codes side by side in one integer per cell, the last column's lowest."""
    keys = np.zeros(cells, dtype=np.uint64)
    for column, width in zip(codes, widths, strict=True):
        keys <<= np.uint64(width)
        keys |= column
    return keys


def run_starts(*columns: Ints) -> Ints:
    """The places of the cells that differ from the cell before in at least one of these columns."""
    differs = np.ones(len(columns[0]), dtype=bool)
    differs[1:] = False
    for column in columns:
        differs[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(differs)


def rank_keys(keys: Ints) -> tuple[Ints, int]:
    """The place of each key among the different keys, and the number of these."""
    different, ranks = np.unique(keys, return_inverse=True)
    return ranks.astype(np.uint64), len(different)


def narrow_keys(
    codes: Sequence[Ints],
    widths: Sequence[int],
    cells: int,
    rank: Callable[[Ints], tuple[Ints, int]] = rank_keys,
) -> Ints:
    """One integer per cell, in the order of the codes, for any number of bits."""
    key: Ints = np.zeros(cells, dtype=np.uint64)
    used = 0
    for column, width in zip(codes, widths, strict=True):
        if used + width > MOST_BITS:  # ranks need no more bits than there are cells
            key, different = rank(key)
            used = cells.bit_length()
            if different == cells:
                break  # further columns tell no two cells apart
        key <<= np.uint64(width)
        key |= column
        used += width
    return key


def merge_cells(codes: Sequence[Ints], widths: Sequence[int], counts: Ints) -> tuple[Ints, Ints]:
    """Merge cells that are equal in these columns; return a place of each, in order, and sums."""
    key = narrow_keys(codes, widths, len(counts))
    order = np.argsort(key, kind="stable")
    starts = run_starts(key[order])
    return order[starts], np.add.reduceat(counts[order], starts)


def histogram(sizes: Ints) -> Sizes:
    """The histogram of some sizes."""
    if int(sizes.max(initial=0)) < min(DENSE_SIZES, 8 * len(sizes)):
        times = np.bincount(sizes)
        present = np.flatnonzero(times)
        return Sizes(present, times[present])
    return Sizes.from_arrays(*np.unique(sizes, return_counts=True))  # of 64 bits
