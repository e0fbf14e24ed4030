"""A column on every level of its hierarchy, its values numbered so that labels are runs of numbers.

The values below any label have consecutive numbers. Merging the values of a sorted table therefore
keeps it nearly sorted: rows that get the same label stand side by side.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sievert.arrays import Floats, Ints, Text
from sievert.hierarchies import Hierarchy
from sievert.losses.formulas import GENERALISED


@dataclass(frozen=True, eq=False, kw_only=True)
class LevelledColumn:
    """A quasi-identifier: its values, and the label of every value on every level.

    `tables[l][v]` is the number of the label of value v on level l, from 0 upwards without gaps and
    never falling in v; level 0 has the values themselves. `labels[l]` are the texts of the labels,
    `leaves[l]` how many values of the hierarchy stand below each of them: of all values that the
    hierarchy has, `domain`, whether they occur or not.
    """

    name: str
    tables: tuple[Ints, ...]
    labels: tuple[tuple[Text, ...], ...]
    leaves: tuple[Ints, ...]
    domain: int
    floor: int = 0  # the level of the hierarchy that is level 0 here
    bits_below: float = 0.0  # that records have lost on it already

    @property
    def levels(self) -> int:
        """The number of levels, the values themselves included."""
        return len(self.tables)

    @cached_property
    def shares(self) -> tuple[Floats, ...]:
        """Of every label on every level (leaves - 1) / (domain - 1): how little it says."""
        return tuple(GENERALISED.of(leaves, self.domain) for leaves in self.leaves)

    @cached_property
    def steps(self) -> tuple[Ints, ...]:
        """For every level but the last: the label of the next level, of each label."""
        return tuple(
            upper[np.unique(lower, return_index=True)[1]]
            for lower, upper in zip(self.tables, self.tables[1:], strict=False)
        )

    def above(self, floor: int, counts: Ints) -> "LevelledColumn":
        """The column without the levels below one, whose labels stand for its values.

        `counts` are the records of every value. Losses stay those of the values.
        """
        first = np.unique(self.tables[floor], return_index=True)[1]
        return replace(
            self,
            tables=tuple(table[first] for table in self.tables[floor:]),
            labels=self.labels[floor:],
            leaves=self.leaves[floor:],
            floor=floor,
            bits_below=bits_lost(self.tables[floor], counts),
        )

    @classmethod
    def of_values(
        cls, name: str, texts: Sequence[Text], hierarchy: Hierarchy | None
    ) -> "tuple[LevelledColumn, Ints]":
        """The column of these values, and the number that each of them has in it.

        A missing value stays missing below a root that is the same for all values. The values must
        be distinct.

        >>> ages = Hierarchy.intervals(["27", "31", "38"], [10])
        >>> column, numbers = LevelledColumn.of_values("age", ["38", "27", "31"], ages)
        >>> column.labels[1], numbers.tolist(), column.shares[1].tolist()
        (('[20, 30)', '[30, 40)'), [2, 0, 1], [0.0, 0.5])
        """
        paths: dict[Text, tuple[Text, ...]] = dict.fromkeys(texts, ())
        counted: list[tuple[Text, ...]] = [(text,) for text in texts if text is not None]
        if hierarchy is not None:
            hierarchy.require((text for text in texts if text is not None), name)
            roots = {labels[-1:] for labels in hierarchy.labels.values()}
            root = next(iter(roots)) if len(roots) == 1 else ()
            lacking = (None,) * (hierarchy.height - len(root)) + root
            paths = {t: lacking if t is None else hierarchy.labels[t] for t in texts}
            counted = [(value, *labels) for value, labels in hierarchy.labels.items()]
        if None in paths:
            counted.append((None, *paths[None]))
        # Values are ordered by their labels from the root down; missing ones come last.
        ordered = sorted(
            paths, key=lambda t: [(x is None, x or "") for x in (*reversed(paths[t]), t)]
        )
        rank = {text: number for number, text in enumerate(ordered)}
        tables = []
        labels = []
        leaves = []
        for level in range(len(paths[ordered[0]]) + 1):
            of_values = [text if level == 0 else paths[text][level - 1] for text in ordered]
            distinct = list(dict.fromkeys(of_values))
            number_of = {label: number for number, label in enumerate(distinct)}
            tables.append(np.array([number_of[label] for label in of_values], dtype=np.int64))
            labels.append(tuple(distinct))
            below = np.zeros(len(distinct), dtype=np.int64)
            for path in counted:
                number = number_of.get(path[level])
                if number is not None:
                    below[number] += 1
            leaves.append(below)
        column = cls(
            name=name,
            tables=tuple(tables),
            labels=tuple(labels),
            leaves=tuple(leaves),
            domain=len(counted),
        )
        return column, np.array([rank[text] for text in texts], dtype=np.int64)


def bits_lost(table: Ints, counts: Ints) -> float:
    """Sum over records of log2(records with the label / records with the value)."""
    merged = np.bincount(table, counts)[table]
    present = counts > 0
    return float((counts[present] * np.log2(merged[present] / counts[present])).sum())


def column_order(columns: Sequence[LevelledColumn]) -> list[int]:
    """Columns with many values first: their levels decide most."""
    return sorted(range(len(columns)), key=lambda j: (-len(columns[j].tables[0]), j))
