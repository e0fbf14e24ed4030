"""A column for local recoding: its values in an order in which every label is a run of positions.

Four numbers describe the values of a class in a column. If labels come from a hierarchy (`TREE`) or
are intervals of numbers (`INTERVAL`), these are the two least and the two largest positions. For
sets (`SET`) they are bit masks: of the values that occur, and of the values that two or more
records have; then the same for positions from `WORD` on. Numbers with few values (`NUMBERS`) have
masks, too: their label is a set or an interval, the one that stands for fewer values.

A set or an interval never names a value that only one record of the class has, unless all records
have it. The lowest label that stands for other values, too, takes its place. An interval names its
two ends.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sievert.arrays import Floats, Ints, Text
from sievert.hierarchies import NUMBER, Hierarchy
from sievert.methods.full_domain import LevelledColumn

# Kinds of columns; those from SET on have masks.
TREE = 0
INTERVAL = 1
SET = 2
NUMBERS = 3
ENDS = 4  # the row of a grid from which the ends of the labels of all levels follow
TABULATED = 128  # positions of a column whose pairs have a table
WORD = 62  # bits of a mask
MOST_MEMBERS = 2 * WORD  # values of a column whose labels are sets


class ColumnArrays(NamedTuple):
    """All columns as the loops read them.

    `kinds[j]` has the kind of column j and its two masks of missing values. `grid[j, :, p]` is
    about the value at position p: the ends of the lowest label with other values, the two masks of
    this label, and the ends of the label on every level.
    """

    kinds: Ints
    grid: Ints
    scale: Floats  # the cost of one more value below a label
    pairs: Ints  # by column and two of its first positions: the width of their lowest common label


@dataclass(frozen=True, eq=False, kw_only=True)
class LocalColumn:
    """A quasi-identifier with all values of its hierarchy; `texts[p]` is that at position p."""

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
    ) -> "LocalColumn":
        """Make the column with the `present` values and with all values of its hierarchy."""
        if hierarchy is not None:
            hierarchy.require((text for text in present if text is not None), name)
        known: Sequence[Text] = present if hierarchy is None else list(hierarchy.labels)
        domain = list(dict.fromkeys([*known, *([None] if None in present else [])]))
        column, numbers = LevelledColumn.of_values(name, domain, hierarchy)
        order = np.argsort(numbers)
        kind = TREE
        if sets:
            by_size = _numeric_order(domain)
            few = len(domain) <= MOST_MEMBERS
            if by_size is not None and _are_runs([t[numbers[by_size]] for t in column.tables]):
                kind = NUMBERS if few else INTERVAL
                order = by_size
            elif few:
                kind = SET
        tables = [table[numbers[order]] for table in column.tables]
        firsts, lasts = zip(*map(_run_ends, tables), strict=True)
        labels = tuple(
            tuple(texts[i] for i in table)
            for texts, table in zip(column.labels, tables, strict=True)
        )
        texts = tuple(domain[i] for i in order)
        return cls(
            name=name,
            kind=kind,
            texts=texts,
            labels=labels,
            first=np.stack(firsts),
            last=np.stack(lasts),
        )

    def run_above(self, p: int) -> tuple[int, int]:
        """The first and the last position below the lowest label of p that has other values."""
        level = min(int((self.first[:, p] == self.last[:, p]).sum()), len(self.first) - 1)
        return int(self.first[level, p]), int(self.last[level, p])

    def pair_widths(self, positions: int) -> Ints:
        """The number of values below the lowest common label of two positions, less one.

        The table is of the first `positions`.
        """
        widths = np.zeros((positions, positions), dtype=np.int32)
        for first, last in zip(self.first[::-1], self.last[::-1], strict=True):
            own = first[:positions]
            widths[own[:, None] == own] = 0
            widths += np.where(own[:, None] == own, (last[:positions] - own)[:, None], 0)
        return widths

    def positions(self, texts: Sequence[Text]) -> Ints:
        """The position of each text; 0 for one that no record has."""
        place = {text: p for p, text in enumerate(self.texts)}
        return np.array([place.get(text, 0) for text in texts], dtype=np.int64)


def column_arrays(columns: Sequence[LocalColumn], weights: Sequence[float]) -> ColumnArrays:
    """Put the columns into arrays; `weights` says how much each of them counts."""
    levels = max(len(c.first) for c in columns)
    widest = max(c.domain for c in columns)
    grid = np.zeros((len(columns), ENDS + 2 * levels, widest), dtype=np.int64)
    kinds = np.zeros((len(columns), 3), dtype=np.int64)
    tabulated = min(widest, TABULATED)
    pairs = np.zeros((len(columns), tabulated, tabulated), dtype=np.int32)
    for j, column in enumerate(columns):
        alone = (column.first == column.last).sum(axis=0)
        positions = np.arange(column.domain)
        above = np.minimum(alone, len(column.first) - 1)
        grid[j, 0, : column.domain] = column.first[above, positions]
        grid[j, 1, : column.domain] = column.last[above, positions]
        ends = np.stack([column.first, column.last], axis=1).reshape(-1, column.domain)
        grid[j, ENDS : ENDS + len(ends), : column.domain] = ends
        kinds[j, 0] = column.kind
        if column.kind == TREE:
            own = min(column.domain, TABULATED)
            pairs[j, :own, :own] = column.pair_widths(own)
        if column.kind >= SET:
            grid[j, 2:ENDS, : column.domain] = np.transpose(
                [_masks(*column.run_above(p)) for p in range(column.domain)]
            )
        if None in column.texts and column.kind == SET:
            missing = column.texts.index(None)
            kinds[j, 1:] = _masks(missing, missing)
    shares = np.asarray(weights, dtype=np.float64) / float(np.sum(weights))
    domain = np.array([c.domain for c in columns], dtype=np.int64)
    return ColumnArrays(
        kinds=kinds, grid=grid, scale=shares / np.maximum(domain - 1, 1), pairs=pairs
    )


def _masks(first: int, last: int) -> tuple[int, int]:
    """The two masks of the positions from `first` to `last`."""
    mask = (1 << (last + 1)) - (1 << first)
    return mask & ((1 << WORD) - 1), mask >> WORD


def _numeric_order(texts: Sequence[Text]) -> Ints | None:
    """The order of numbers by size; None if a text is no number, or if two numbers are equal."""
    if any(text is None or not NUMBER.fullmatch(text) for text in texts):
        return None
    from fractions import Fraction

    numbers: list[Any] = [Fraction(text) for text in texts if text is not None]
    if len(set(numbers)) < len(numbers):
        return None
    return np.array(sorted(range(len(numbers)), key=numbers.__getitem__), dtype=np.int64)


def _are_runs(tables: Sequence[Ints]) -> bool:
    """Tell whether equal labels stand side by side, on every level."""
    return all(
        int((table[1:] != table[:-1]).sum()) + 1 == len(np.unique(table)) for table in tables
    )


def _run_ends(table: Ints) -> tuple[Ints, Ints]:
    """Where the run of equal labels of each position begins, and where it ends."""
    starts = np.flatnonzero(np.append(True, table[1:] != table[:-1]))
    sizes = np.diff(np.append(starts, len(table)))
    return np.repeat(starts, sizes), np.repeat(starts + sizes - 1, sizes)
