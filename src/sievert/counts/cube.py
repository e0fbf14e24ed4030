"""The different combinations of some columns' values, as small integers, and how often each occurs.

What subsets of columns, single values and attacks are measured from: fetched once, rolled up ever
after. Texts stay in this process. A code is the rank of the value's text; 0 is a missing value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sievert.counts.answers import Sizes
from sievert.errors import InvariantError

Ints = NDArray[Any]
MOST_BITS = 62


@dataclass(frozen=True)
class Cube:
    """Cells: `codes[i][j]` is the code of column i in cell j, which `counts[j]` records have."""

    columns: tuple[str, ...]
    codes: tuple[Ints, ...]
    counts: Ints
    values: tuple[tuple[str | None, ...], ...]  # of each column, the text of each code

    @classmethod
    def of(
        cls,
        columns: Sequence[str],
        codes: Sequence[Any],
        counts: Any,
        values: Sequence[Sequence[str | None]],
    ) -> Cube:
        """Number the values of each column in the order of their texts, missing first."""
        numbered, texts = [], []
        for held, given in zip(codes, values, strict=True):
            order = sorted(
                range(len(given)),
                key=lambda i, g=given: (g[i] is not None, g[i] or ""),  # type: ignore[misc]
            )
            lacks = all(v is not None for v in given)
            place = np.empty(max(1, len(given)), dtype=np.uint32)
            place[order] = np.arange(len(order)) + lacks
            numbered.append(place[np.asarray(held, dtype=np.int64)])
            texts.append(((None,) if lacks else ()) + tuple(given[i] for i in order))
        found = cls(
            tuple(columns), tuple(numbered), np.asarray(counts, dtype=np.int64), tuple(texts)
        )
        if found.bits > MOST_BITS:
            order_ = np.lexsort(found.codes[::-1])
        elif np.all(found.keys[1:] > found.keys[:-1]):
            return found
        else:
            order_ = np.argsort(found.keys)
        return cls(
            found.columns,
            tuple(c[order_] for c in found.codes),
            found.counts[order_],
            found.values,
        )

    @property
    def records(self) -> int:
        """How many records there are."""
        return int(self.counts.sum())

    @cached_property
    def widths(self) -> tuple[int, ...]:
        """Bits that each column's codes need."""
        return tuple(max(1, (len(v) - 1).bit_length()) for v in self.values)

    @property
    def bits(self) -> int:
        """Bits of a key of all columns."""
        return sum(self.widths)

    @cached_property
    def keys(self) -> Ints:
        """One integer a cell: the codes side by side, the last column's lowest."""
        if self.bits > MOST_BITS:
            raise InvariantError(f"a key of {self.bits} bits")
        found = np.zeros(len(self.counts), dtype=np.uint64)
        for held, width in zip(self.codes, self.widths, strict=True):
            found = (found << np.uint64(width)) | held
        return found

    def rolled(self, columns: Sequence[str]) -> Cube:
        """Only some of the columns, in this order."""
        places = [self.columns.index(c) for c in columns]
        codes = [self.codes[p] for p in places]
        first, sums = merged(codes, [self.widths[p] for p in places], self.counts)
        return Cube(
            tuple(columns),
            tuple(c[first] for c in codes),
            sums,
            tuple(self.values[p] for p in places),
        )

    @cached_property
    def classes(self) -> tuple[Ints, Ints]:
        """Of cells whose last column is a secret: where classes begin, and their sizes."""
        differs = np.zeros(len(self.counts), dtype=bool)
        for held in self.codes[:-1]:
            differs[1:] |= held[1:] != held[:-1]
        differs[:1] = True
        starts = np.flatnonzero(differs)
        return starts, np.add.reduceat(self.counts, starts)

    def sizes(self) -> Sizes:
        """The histogram of the cells' sizes."""
        return histogram(self.counts)


def merged(codes: Sequence[Ints], widths: Sequence[int], counts: Ints) -> tuple[Ints, Ints]:
    """Of cells in some columns only: one place of each kind in ascending order, and the sums."""
    key: Ints = np.zeros(len(counts), dtype=np.uint64)
    used = 0
    for held, width in zip(codes, widths, strict=True):
        if used + width > MOST_BITS:  # ranks need no more bits than there are cells
            key = np.unique(key, return_inverse=True)[1].astype(np.uint64)
            used = len(counts).bit_length()
        key = (key << np.uint64(width)) | held
        used += width
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    return order[starts], np.add.reduceat(counts[order], starts)


def histogram(sizes: Ints) -> Sizes:
    """How many are of each size."""
    return Sizes.of(*np.unique(sizes, return_counts=True))
