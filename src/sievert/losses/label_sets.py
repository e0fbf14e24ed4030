"""What a released label stands for: values of a hierarchy, or the values that became the label.

All numbers are about the different pairs (original value, released label) of a column, and how
often each occurs. A column has few such pairs, even if there are many records.
"""

from dataclasses import dataclass, replace

import numpy as np

from sievert.arrays import Bools, Ints
from sievert.estimators.contingency import count_keys
from sievert.hierarchies import Hierarchy
from sievert.losses.loss import PairedColumn, computed_once

SMALL = 1 << 16  # cells up to which a table is counted without sorting


@dataclass(frozen=True, kw_only=True)
class ValueLabelPairs:
    """The different pairs of codes of a column, and how many records have each."""

    original: Ints
    released: Ints
    times: Ints
    suppressed: Bools
    unchanged: Bools  # the same text before and after

    @property
    def withheld(self) -> int:
        """The number of suppressed cells."""
        return int(self.times[self.suppressed].sum())


@dataclass(frozen=True, kw_only=True)
class LabelCoverage:
    """What the label of each pair of a column stands for.

    `leaves` is the number of values that the label covers: all values where the cell is suppressed.
    `covered` is the number of records of the original with one of these values or with the cell's
    own value, and `own` the number with its own value. `level` is the level of the label (the
    height where the cell is suppressed), and `meeting` the level of the lowest common ancestor of
    label and value.
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
    listed: Bools  # but is a set or an interval with the value in it, and read as such

    @property
    def times(self) -> Ints:
        """The number of records with each pair."""
        return self.pairs.times

    def records(self, which: Bools) -> int:
        """Count the records that have one of these pairs."""
        return int(self.times[which].sum())


def sum_by_code(codes: Ints, times: Ints, size: int) -> Ints:
    """The sum of `times` of each code."""
    return np.bincount(codes, weights=times, minlength=size).astype(np.int64)


@computed_once
def value_code_of_label(column: PairedColumn) -> tuple[Ints, int]:
    """For each label the code of the value with its text, or a new code; the number of codes."""
    codes = {text: code for code, text in reversed(list(enumerate(column.values)))}
    size = len(column.values)
    names = [codes.get(text, size + i) for i, text in enumerate(column.labels)]
    return np.array(names, dtype=np.int64), size + len(column.labels)


@computed_once
def value_label_pairs(column: PairedColumn) -> ValueLabelPairs:
    """The different pairs of a column."""
    width = len(column.labels) + 1
    keys = column.original.astype(np.int64) * width + column.released + 1
    present, times = count_keys(keys, len(column.values) * width)
    original = present // width
    released = present % width - 1
    suppressed = replace(column, original=original, released=released).suppressed
    unchanged = ~suppressed & (np.append(value_code_of_label(column)[0], -1)[released] == original)
    return ValueLabelPairs(
        original=original,
        released=released,
        times=times,
        suppressed=suppressed,
        unchanged=unchanged,
    )


@computed_once
def label_coverage(column: PairedColumn) -> LabelCoverage:
    """What the labels of a column stand for."""
    pairs = value_label_pairs(column)
    totals = sum_by_code(pairs.original, pairs.times, len(column.values))
    if column.hierarchy is not None:
        return _coverage_in_hierarchy(column, column.hierarchy.with_root(), totals)
    # A label stands for the values that became it.
    own = totals[pairs.original]
    values = int(np.count_nonzero(totals))
    leaves, covered = _observed_coverage(column, own)
    nowhere = np.full(len(own), -1)
    none = np.zeros(len(own), dtype=bool)
    return LabelCoverage(
        pairs=pairs,
        values=values,
        leaves=np.where(pairs.suppressed, values, leaves),
        own=own,
        covered=np.where(pairs.suppressed, totals.sum(), covered),
        hierarchy=None,
        level=nowhere,
        meeting=nowhere,
        strayed=none,
        unknown=none,
        listed=none,
    )


def _observed_coverage(column: PairedColumn, own: Ints) -> tuple[Ints, Ints]:
    """For each pair the values that became its label, and the records with one of these values."""
    pairs = value_label_pairs(column)
    codes = pairs.released + 1
    shown = (~pairs.suppressed).astype(np.int64)
    size = len(column.labels) + 1
    values = sum_by_code(codes, shown, size)
    records = sum_by_code(codes, shown * own, size)
    return values[codes], records[codes]


class _HierarchyCodes:
    """A hierarchy as numbers: for each value and level the number of its label's text."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        self.height = hierarchy.height
        self.leaf: dict[str | None, int] = {v: i for i, v in enumerate(hierarchy.labels)}
        self.text = dict(self.leaf)
        number = self.text.setdefault
        self.labels = [
            np.arange(len(self.leaf)),
            *(
                np.array([number(label, len(self.text)) for label in labels])
                for labels in zip(*hierarchy.labels.values(), strict=True)
            ),
        ]
        # The lowest level on which a text occurs, and a leaf below it there.
        self.lowest = np.full(len(self.text), -1)
        self.below = np.zeros(len(self.text), dtype=np.int64)
        for level in range(self.height, -1, -1):
            self.lowest[self.labels[level]] = level
            self.below[self.labels[level]] = np.arange(len(self.leaf))

    def over(self, each: Ints) -> Ints:
        """For each level and text the sum over the leaves that have the text on the level."""
        return np.stack([sum_by_code(labels, each, len(self.text)) for labels in self.labels])


def _coverage_in_hierarchy(
    column: PairedColumn, hierarchy: Hierarchy, totals: Ints
) -> LabelCoverage:
    """What labels stand for by a hierarchy; `totals` has the records of each value."""
    pairs = value_label_pairs(column)
    codes = _HierarchyCodes(hierarchy)
    own = totals[pairs.original]
    leaf_of = np.array([codes.leaf.get(value, -1) for value in column.values])
    text_of = np.array([*(codes.text.get(t, -1) for t in column.labels), -1])
    leaf = leaf_of[pairs.original]
    text = text_of[pairs.released]
    leaf_records = np.zeros(len(codes.leaf), dtype=np.int64)
    np.add.at(leaf_records, leaf_of[leaf_of >= 0], totals[leaf_of >= 0])

    # `level` is the lowest level on which the value has this label, `meeting` the lowest level on
    # which value and label have the same ancestor.
    level = np.full(len(own), -1)
    meeting = np.full(len(own), codes.height)
    placed = leaf >= 0
    known = text >= 0
    for height in range(codes.height, -1, -1):
        mine = np.where(placed, codes.labels[height][leaf], -1)
        level[known & (mine == text)] = height
        meeting[known & (mine == codes.labels[height][codes.below[text]])] = height
    above = (level >= 0) | pairs.unchanged
    level[pairs.unchanged] = 0
    meeting = np.where(above, level, meeting)
    strayed = ~above & known & ~pairs.suppressed
    unknown = ~above & ~known & ~pairs.suppressed
    level = np.where(strayed, codes.lowest[text], level)

    seen, seen_records = _observed_coverage(column, own)
    all_leaves = len(codes.leaf)
    place = (np.maximum(level, 0), text)
    leaves = codes.over(np.ones(all_leaves, dtype=np.int64))[place]
    leaves = np.where(unknown, np.minimum(seen, all_leaves), leaves)
    covered = codes.over(leaf_records)[place] + np.where(strayed, own, 0)
    covered = np.where(unknown, seen_records, covered)
    listed = np.zeros(len(own), dtype=bool)
    for i in np.flatnonzero(unknown):
        members = column.listed.get(column.labels[pairs.released[i]] or "")
        if members is not None and leaf[i] in members:
            listed[i] = True
            leaves[i] = len(members)
            covered[i] = leaf_records[members].sum()
            common = [len(np.unique(labels[members])) == 1 for labels in codes.labels]
            meeting[i] = common.index(True)  # the root has all values below it
    leaves = np.where(pairs.suppressed, all_leaves, leaves)
    leaves = np.where(pairs.unchanged, 1, leaves)
    covered = np.where(pairs.suppressed, int(totals.sum()), covered)
    covered = np.where(pairs.unchanged, own, covered)
    level[pairs.suppressed] = codes.height
    meeting[pairs.suppressed] = codes.height
    return LabelCoverage(
        pairs=pairs,
        values=all_leaves,
        leaves=leaves,
        own=own,
        covered=covered,
        hierarchy=hierarchy,
        level=level,
        meeting=meeting,
        strayed=strayed,
        unknown=unknown,
        listed=listed,
    )
