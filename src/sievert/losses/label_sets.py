"""What a released label stands for: values of a hierarchy, or those that were seen to become it.

Everything is said of the different pairs (original value, released label) of a column and how
often each occurs; a column has few of them, however many records there are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from sievert.arrays import Bools, Ints
from sievert.estimators.contingency import count_keys
from sievert.hierarchies import Hierarchy
from sievert.losses.loss import PairedColumn

Thing = TypeVar("Thing")
SMALL = 1 << 16  # a table of so many cells is counted without sorting


@dataclass(frozen=True)
class ValueLabelPairs:
    """The different pairs of codes of a column, and how many records have each."""

    original: Ints
    released: Ints
    times: Ints
    suppressed: Bools
    unchanged: Bools  # the same text before and after

    @property
    def withheld(self) -> int:
        """How many cells were suppressed."""
        return int(self.times[self.suppressed].sum())


@dataclass(frozen=True)
class LabelCoverage:
    """What the label of each pair of a column stands for.

    `leaves` is how many values it covers, all of them where the cell is suppressed; `covered` how
    many records of the original have one of these, or the cell's own value; `own` how many have
    its own. `level` is the label's, the height where suppressed, and `meeting` that of the lowest
    common ancestor of label and value.
    """

    pairs: ValueLabelPairs
    values: int
    leaves: Ints
    own: Ints
    covered: Ints
    hierarchy: Hierarchy | None
    level: Ints
    meeting: Ints
    strayed: Bools  # the label is in the hierarchy, but not above the value
    unknown: Bools  # the label is not in the hierarchy

    @property
    def times(self) -> Ints:
        """How many records have each pair."""
        return self.pairs.times

    def records(self, which: Bools) -> int:
        """How many records have one of these pairs."""
        return int(self.times[which].sum())


def value_label_pairs(column: PairedColumn) -> ValueLabelPairs:
    """The different pairs of a column."""
    return cached_on_column(column, "pairs", _pairs)


def label_coverage(column: PairedColumn) -> LabelCoverage:
    """What the labels of a column stand for."""
    return cached_on_column(column, "cells", _cells)


def value_code_of_label(column: PairedColumn) -> tuple[Ints, int]:
    """Of each label the code of the value with its text, or a code after all these; how many."""
    return cached_on_column(column, "renamed", _value_code_of_label)


def cached_on_column(
    column: PairedColumn, name: str, compute: Callable[[PairedColumn], Thing]
) -> Thing:
    """Made once a column and kept with it, as its own properties are."""
    cache = vars(column)
    key = f"{__name__}.{name}"
    if key not in cache:
        cache[key] = compute(column)
    value: Thing = cache[key]
    return value


def sum_by_code(codes: Ints, times: Ints, size: int) -> Ints:
    """The sum of `times` of each code."""
    return np.bincount(codes, weights=times, minlength=size).astype(np.int64)


def _value_code_of_label(column: PairedColumn) -> tuple[Ints, int]:
    codes: dict[str | None, int] = {}
    for code, text in enumerate(column.values):
        codes.setdefault(text, code)
    size = len(column.values)
    names = [codes.get(text, size + i) for i, text in enumerate(column.labels)]
    return np.array(names, dtype=np.int64), size + len(column.labels)


def _pairs(column: PairedColumn) -> ValueLabelPairs:
    width = len(column.labels) + 1
    keys = column.original.astype(np.int64) * width + column.released + 1
    present, times = count_keys(keys, len(column.values) * width)
    original, released = present // width, present % width - 1
    suppressed = replace(column, original=original, released=released).suppressed
    unchanged = ~suppressed & (np.append(value_code_of_label(column)[0], -1)[released] == original)
    return ValueLabelPairs(original, released, times, suppressed, unchanged)


def _cells(column: PairedColumn) -> LabelCoverage:
    if column.hierarchy is None:
        return _coverage_without_hierarchy(column)
    return _coverage_in_hierarchy(column, column.hierarchy.with_root())


def _own(column: PairedColumn) -> tuple[Ints, Ints]:
    """How many records have the value of each code, and that of each pair."""
    pairs = value_label_pairs(column)
    totals = sum_by_code(pairs.original, pairs.times, len(column.values))
    return totals, totals[pairs.original]


def _observed_coverage(column: PairedColumn, own: Ints) -> tuple[Ints, Ints]:
    """Of each pair: how many values became its label, and how many records have one of them."""
    pairs = value_label_pairs(column)
    size = len(column.labels) + 1
    shown = (~pairs.suppressed).astype(np.int64)
    values = sum_by_code(pairs.released + 1, shown, size)
    records = sum_by_code(pairs.released + 1, shown * own, size)
    return values[pairs.released + 1], records[pairs.released + 1]


def _coverage_without_hierarchy(column: PairedColumn) -> LabelCoverage:
    """Without a hierarchy: a label stands for the values that became it."""
    pairs = value_label_pairs(column)
    totals, own = _own(column)
    values = int(np.count_nonzero(totals))
    leaves, covered = _observed_coverage(column, own)
    none = np.zeros(len(own), dtype=bool)
    return LabelCoverage(
        pairs,
        values,
        np.where(pairs.suppressed, values, leaves),
        own,
        np.where(pairs.suppressed, totals.sum(), covered),
        None,
        np.full(len(own), -1),
        np.full(len(own), -1),
        none,
        none,
    )


class _Rungs:
    """A hierarchy as numbers: of each value, and each level, the number of its label's text."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        self.height = hierarchy.height
        self.leaf: dict[str | None, int] = {v: i for i, v in enumerate(hierarchy.labels)}
        self.text = dict(self.leaf)
        number = self.text.setdefault
        columns = zip(*hierarchy.labels.values(), strict=True)
        self.labels = [np.arange(len(self.leaf))]
        self.labels += [
            np.array([number(label, len(self.text)) for label in level]) for level in columns
        ]
        # The lowest level on which a text occurs, and a leaf below it there.
        self.lowest = np.full(len(self.text), -1)
        self.below = np.zeros(len(self.text), dtype=np.int64)
        for level in range(self.height, -1, -1):
            self.lowest[self.labels[level]] = level
            self.below[self.labels[level]] = np.arange(len(self.leaf))
        self.leaves = np.stack([self.over(level) for level in range(self.height + 1)])

    def over(self, level: int, each: Ints | None = None) -> Ints:
        """Of each text the sum over the leaves that have it on this level."""
        each = np.ones(len(self.leaf), dtype=np.int64) if each is None else each
        return sum_by_code(self.labels[level], each, len(self.text))


def _coverage_in_hierarchy(column: PairedColumn, hierarchy: Hierarchy) -> LabelCoverage:
    pairs = value_label_pairs(column)
    rungs = _Rungs(hierarchy)
    totals, own = _own(column)
    everything = int(totals.sum())
    leaf_of = np.array([rungs.leaf.get(value, -1) for value in column.values])
    text_of = np.array([*(rungs.text.get(t, -1) for t in column.labels), -1])
    leaf, text = leaf_of[pairs.original], text_of[pairs.released]
    leaf_records = np.zeros(len(rungs.leaf), dtype=np.int64)
    np.add.at(leaf_records, leaf_of[leaf_of >= 0], totals[leaf_of >= 0])
    records = np.stack([rungs.over(level, leaf_records) for level in range(rungs.height + 1)])

    # The lowest level on which the value has this label; on which value and label meet.
    level, meeting = np.full(len(own), -1), np.full(len(own), rungs.height)
    lowest, below = rungs.lowest[text], rungs.below[text]
    placed, known = leaf >= 0, text >= 0
    for rung in range(rungs.height, -1, -1):
        mine = np.where(placed, rungs.labels[rung][leaf], -1)
        level[known & (mine == text)] = rung
        meeting[known & (mine == rungs.labels[rung][below])] = rung
    above = (level >= 0) | pairs.unchanged
    level[pairs.unchanged] = 0
    meeting = np.where(above, level, meeting)
    strayed = ~above & known & ~pairs.suppressed
    unknown = ~above & ~known & ~pairs.suppressed
    level = np.where(strayed, lowest, level)

    seen, seen_records = _observed_coverage(column, own)
    rung = np.maximum(level, 0)
    leaves = np.where(unknown, np.minimum(seen, len(rungs.leaf)), rungs.leaves[rung, text])
    covered = np.where(unknown, seen_records, records[rung, text] + np.where(strayed, own, 0))
    leaves, covered = (
        np.where(pairs.unchanged, least, np.where(pairs.suppressed, most, some))
        for least, most, some in ((1, len(rungs.leaf), leaves), (own, everything, covered))
    )
    for some in (level, meeting):
        some[pairs.suppressed] = rungs.height
    return LabelCoverage(
        pairs, len(rungs.leaf), leaves, own, covered, hierarchy, level, meeting, strayed, unknown
    )
