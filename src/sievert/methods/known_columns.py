"""Target groups: records with the same values in the columns that an intruder knows."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sievert.arrays import Ints
from sievert.errors import UsageError

SPARSE = 16  # times as many keys as records, beyond which keys are sorted instead of marked
MOST = 1 << 62


@dataclass(frozen=True)
class Groups:
    """The records in groups that agree in some columns, in the order of their codes.

    `ids` has the group of each record, from 0 on; `sizes` the records of each group; `keys` its
    codes, one place for each of `columns`.
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
    """Every set of columns but the empty one, or those of some sizes, small ones first.

    >>> list(subsets(3, sizes=[2, 3]))
    [(0, 1), (0, 2), (1, 2), (0, 1, 2)]
    """
    wanted = range(1, columns + 1) if sizes is None else sorted(set(sizes))
    if not all(1 <= size <= columns for size in wanted):
        raise UsageError(f"a set of known columns has 1 to {columns} of them")
    return itertools.chain.from_iterable(
        itertools.combinations(range(columns), size) for size in wanted
    )


def grouped(codes: Any, columns: Sequence[int]) -> Groups:
    """The records in groups that agree in these columns.

    >>> found = grouped([[1, 0], [0, 5], [1, 0], [1, 5]], [0, 1])
    >>> found.ids, found.sizes, found.keys.tolist()
    (array([1, 0, 1, 2]), array([1, 2, 1]), [[0, 5], [1, 0], [1, 5]])
    """
    known = matrix(codes)
    chosen = tuple(int(c) for c in columns)
    if not chosen or not set(chosen) <= set(range(known.shape[1])):
        raise UsageError(f"a group is told by some of the {known.shape[1]} known columns")
    return next(_walk_subsets(known, iter([chosen])))


def every(codes: Any, sizes: Iterable[int] | None = None) -> Iterator[Groups]:
    """The groups of every set of columns, or of those of some sizes, small ones first."""
    known = matrix(codes)
    return _walk_subsets(known, subsets(known.shape[1], sizes))


def matrix(codes: Any) -> Ints:
    """Codes of the known columns, checked: one row per record, one column each, from 0 on."""
    known = np.asarray(codes)
    if known.ndim != 2 or not known.size or known.dtype.kind not in "iu":
        raise UsageError("known columns are whole numbers, a row a record and a column each")
    if known.min() < 0:
        raise UsageError("codes start at 0")
    return np.asfortranarray(known, dtype=np.int64)


def compact(keys: Ints, space: int) -> tuple[Ints, int]:
    """Keys below `space` numbered from 0 without gaps, in their order; how many there are."""
    if space > SPARSE * len(keys) + SPARSE:
        different, places = np.unique(keys, return_inverse=True)
        return places, len(different)
    there = np.zeros(space, dtype=bool)
    there[keys] = True
    place = np.cumsum(there, dtype=np.int32 if len(keys) < 1 << 31 else np.int64)
    return place[keys].astype(np.int64) - 1, int(place[-1])


def _walk_subsets(known: Ints, chosen: Iterable[tuple[int, ...]]) -> Iterator[Groups]:
    """Groups of each set, made from those of the columns it begins with like the one before."""
    widths = [int(top) + 1 for top in known.max(axis=0)]
    prefix: list[tuple[int, Ints, int]] = []  # a column, the groups up to it, how many
    for columns in chosen:
        alike = sum(
            1
            for _ in itertools.takewhile(
                lambda pair: pair[0][0] == pair[1], zip(prefix, columns, strict=False)
            )
        )
        del prefix[alike:]
        for column in columns[alike:]:
            ids, count = (prefix[-1][1], prefix[-1][2]) if prefix else (np.int64(0), 1)
            codes, width = known[:, column], widths[column]
            if count * width > MOST:
                codes, width = compact(codes, width)
            prefix.append((column, *compact(ids * width + codes, count * width)))
        _, ids, count = prefix[-1]
        member = np.empty(count, dtype=np.int64)
        member[ids] = np.arange(len(ids))
        keys = np.stack([known[member, c] for c in columns], axis=1)
        yield Groups(columns, ids, np.bincount(ids, minlength=count), keys)
