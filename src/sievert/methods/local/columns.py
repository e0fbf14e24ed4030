"""A column for local recoding: its values in an order in which every label is a run of positions.

What the records of a class have in a column is kept as four numbers, by the kind of its labels:

- `TREE`: the first and the last position below the lowest common label;
- `INTERVAL`, of numbers: the two least and the two largest positions;
- `SET`: bit masks of the values that one record has, and of those that two or more have.

A set or an interval never names a value that a single record of the class has, unless all have it:
the label above it takes its place, the lowest one that stands for other values too. An interval
names its two ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.hierarchies import NUMBER, Hierarchy
from sievert.methods.full_domain import LevelledColumn

Text = str | None
TREE, INTERVAL, SET = 0, 1, 2
MOST_MEMBERS = 62  # values of a column whose labels are sets: the bits of a mask


class ColumnArrays(NamedTuple):
    """All columns as the kernels read them; `first[j, l, p]` begins the label of p on level l."""

    kinds: Ints
    first: Ints
    last: Ints
    above: Ints  # `above[j, p]`: the level of the lowest label of p that has other values
    masks: Ints  # `masks[j, p]`: the values below that label, of a column of sets
    scale: Floats  # what one more value below a label costs
    missing: Ints  # the mask of missing values


@dataclass(frozen=True, eq=False)
class LocalColumn:
    """A quasi-identifier: `texts[p]` is the value at position p, of all that its hierarchy has."""

    name: str
    kind: int
    texts: tuple[Text, ...]
    labels: tuple[tuple[Text, ...], ...]  # of every level and position
    first: Ints
    last: Ints

    @property
    def domain(self) -> int:
        """The number of values."""
        return len(self.texts)

    @classmethod
    def of_values(
        cls, name: str, present: Sequence[Text], hierarchy: Hierarchy | None, *, sets: bool
    ) -> LocalColumn:
        """The column with these values, and those that its hierarchy has besides them."""
        if hierarchy is not None:
            hierarchy.require((text for text in present if text is not None), name)
        known: Sequence[Text] = present if hierarchy is None else list(hierarchy.labels)
        domain = list(dict.fromkeys([*known, *([None] if None in present else [])]))
        column, numbers = LevelledColumn.of_values(name, domain, hierarchy)
        order = np.argsort(numbers)
        kind = TREE
        if sets:
            by_size = _numeric_order(domain)
            if by_size is not None and _are_runs([t[numbers[by_size]] for t in column.tables]):
                kind, order = INTERVAL, by_size
            elif len(domain) <= MOST_MEMBERS:
                kind = SET
        tables = [table[numbers[order]] for table in column.tables]
        firsts, lasts = zip(*map(_run_ends, tables), strict=True)
        labels = tuple(
            tuple(texts[i] for i in table)
            for texts, table in zip(column.labels, tables, strict=True)
        )
        texts = tuple(domain[i] for i in order)
        return cls(name, kind, texts, labels, np.stack(firsts), np.stack(lasts))

    def run_above(self, p: int) -> tuple[int, int]:
        """The first and the last position below the lowest label of p that has other values."""
        level = min(int((self.first[:, p] == self.last[:, p]).sum()), len(self.first) - 1)
        return int(self.first[level, p]), int(self.last[level, p])

    def mask_above(self, p: int) -> int:
        """The same as a mask."""
        first, last = self.run_above(p)
        return ((1 << (last - first + 1)) - 1) << first

    def positions(self, texts: Sequence[Text]) -> Ints:
        """The position of each text; 0 for one that no record has."""
        place = {text: p for p, text in enumerate(self.texts)}
        return np.array([place.get(text, 0) for text in texts], dtype=np.int64)


def column_arrays(columns: Sequence[LocalColumn], weights: Sequence[float]) -> ColumnArrays:
    """The columns as arrays, with how much each of them counts."""
    levels, widest = max(len(c.first) for c in columns), max(c.domain for c in columns)
    first = np.zeros((len(columns), levels, widest), dtype=np.int64)
    last = np.zeros_like(first)
    for j, column in enumerate(columns):
        first[j, : len(column.first), : column.domain] = column.first
        last[j, : len(column.first), : column.domain] = column.last
    above, masks = np.zeros((2, len(columns), widest), dtype=np.int64)
    missing = np.zeros(len(columns), dtype=np.int64)
    for j, column in enumerate(columns):
        alone = (column.first == column.last).sum(axis=0)
        above[j, : column.domain] = np.minimum(alone, len(column.first) - 1)
        if column.kind == SET:
            masks[j, : column.domain] = [column.mask_above(p) for p in range(column.domain)]
            missing[j] = 1 << column.texts.index(None) if None in column.texts else 0
    shares = np.asarray(weights, dtype=np.float64) / float(np.sum(weights))
    domain = np.array([c.domain for c in columns], dtype=np.int64)
    kinds = np.array([c.kind for c in columns], dtype=np.int64)
    scale = shares / np.maximum(domain - 1, 1)
    return ColumnArrays(kinds, first, last, above, masks, scale, missing)


def _numeric_order(texts: Sequence[Text]) -> Ints | None:
    """The order of numbers by size; None where some are none, or two are equal."""
    if any(text is None or not NUMBER.fullmatch(text) for text in texts):
        return None
    from fractions import Fraction

    numbers: list[Any] = [Fraction(text) for text in texts if text is not None]
    if len(set(numbers)) < len(numbers):
        return None
    return np.array(sorted(range(len(numbers)), key=numbers.__getitem__), dtype=np.int64)


def _are_runs(tables: Sequence[Ints]) -> bool:
    """Whether equal labels stand side by side, on every level."""
    return all(
        int((table[1:] != table[:-1]).sum()) + 1 == len(np.unique(table)) for table in tables
    )


def _run_ends(table: Ints) -> tuple[Ints, Ints]:
    """Where the run of equal labels of each position begins, and where it ends."""
    starts = np.flatnonzero(np.append(True, table[1:] != table[:-1]))
    sizes = np.diff(np.append(starts, len(table)))
    return np.repeat(starts, sizes), np.repeat(starts + sizes - 1, sizes)
