"""Runs: rows one after the other that have the same value of a column, in the order of a file."""

from dataclasses import dataclass

import numpy as np

from sievert.arrays import Bools, Ints
from sievert.counts.answers import Sizes
from sievert.counts.cube import histogram


@dataclass(frozen=True)
class ColumnRuns:
    """The number of runs of a column, and the histogram of its values; missing is one."""

    runs: int
    values: Sizes


@dataclass(frozen=True)
class BlockRuns:
    """The runs of a column inside blocks of rows; a run ends with its block.

    Cell i says that the block `owners[i]` has a value in `counts[i]` rows.
    """

    runs: int
    owners: Ints
    counts: Ints


def changes(codes: Ints) -> Bools:
    """Whether each row has another code than the row before; False for the first row."""
    changed = np.zeros(len(codes), dtype=bool)
    changed[1:] = codes[1:] != codes[:-1]
    return changed


def count_column_runs(codes: Ints) -> ColumnRuns:
    """Count the runs of a column, given by the `codes` of its rows, which are not negative."""
    runs = int(np.count_nonzero(changes(codes))) + min(1, len(codes))
    counts = np.bincount(codes)
    return ColumnRuns(runs=runs, values=histogram(counts[counts > 0]))


def count_block_runs(codes: Ints, starts: Bools) -> BlockRuns:
    """Count the runs of a column inside the blocks that begin at `starts`; the first row is one."""
    blocks = np.cumsum(starts) - 1
    values = int(codes.max(initial=0)) + 1
    cells, counts = np.unique(blocks * values + codes, return_counts=True)
    runs = int(np.count_nonzero(changes(codes) | starts))
    return BlockRuns(runs=runs, owners=cells // values, counts=counts)
