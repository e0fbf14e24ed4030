"""Permutation tests of a mutual information: records are shuffled, the sizes of values kept.

With the sizes fixed, a mutual information rises and falls with the sum over cells of n·log2 n, so
only the counts of the cells are needed. Tables of few cells are drawn cell by cell, other tables by
a shuffle of the codes of one column. The seed determines both, for any number of threads, compiled
or not.
"""

import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from sievert.arrays import Ints
from sievert.counts.answers import Sizes
from sievert.counts.cube import histogram
from sievert.errors import require
from sievert.estimators.contingency import ContingencyTable, cached_value, count_keys
from sievert.estimators.splitmix import FIRST_FACTOR, LOW_BITS, SECOND_FACTOR, STEP
from sievert.measures import kernel
from sievert.numerics.acceleration import compile_loops, thread_count

TOLERANCE = 1e-12  # relative difference below which two informations are equal
ROUNDING = 4e-15  # relative error of a sum of n·log2 n
PER_CELL = 128  # records per cell from which tables are drawn cell by cell
MOST_DRAWN = 10**9  # NumPy's limit for hypergeometric numbers
DRAWN = 1 << 23  # cells that are drawn at a time
COMPILE = 1_000_000  # records to shuffle from which compiled loops pay


@dataclass(frozen=True, eq=False, kw_only=True)
class ShuffleLayout:
    """Runs of places that share a value of one column; the codes of the other are shuffled.

    A run, from one of `starts` to one of `ends`, takes codes from its start up to its limit.
    `codes`, all below `values`, have the order before the shuffle. Places in no run do not matter.
    """

    codes: Ints
    values: int
    starts: Ints
    ends: Ints
    limits: Ints

    @classmethod
    def from_blocks(cls, codes: Ints, values: int, sizes: Ints, firsts: Ints) -> Self:
        """Lay out values with `sizes` in blocks, which begin at `firsts` with the largest value."""
        ends = np.cumsum(sizes)
        lengths = np.diff(np.append(firsts, len(sizes)))
        limits = np.repeat(ends[firsts + lengths - 1], lengths)
        runs = sizes > 1
        return cls(
            codes=codes,
            values=values,
            starts=(ends - sizes)[runs],
            ends=ends[runs],
            limits=limits[runs],
        )

    @property
    def size(self) -> int:
        """The number of places in runs."""
        return int((self.ends - self.starts).sum())

    @cached_value
    def most(self) -> int:
        """An upper bound of the records of a cell."""
        return int((self.ends - self.starts).max(initial=1))


@dataclass(frozen=True, eq=False)
class TableBlocks:
    """Blocks as tables: the sizes of their rows and columns, and the places of these."""

    shape: tuple[int, int]
    blocks: tuple[tuple[Ints, Ints, Ints, Ints], ...]  # rows, their sizes, columns, their sizes

    @property
    def cells(self) -> int:
        """The number of cells to draw, or to add up."""
        drawn = sum(len(rows) * len(columns) for rows, _, columns, _ in self.blocks)
        return max(drawn, self.shape[0] * self.shape[1])


class ShuffleTest(NamedTuple):
    """The result of a permutation test of an information."""

    p: float  # the share of shuffles, with the original, that are not below it
    above: float  # bits above the mean of the shuffles


def shuffle_test(
    counts: Ints,
    bits: float,
    plan: ShuffleLayout | TableBlocks,
    shuffles: int,
    seed: int,
    *,
    threads: int | None = None,
    compiled: bool | None = None,
    drawn: int = DRAWN,
) -> ShuffleTest:
    """Compare the information of cells with `counts`, in bits, with that of shuffled records.

    `threads` and `compiled` are for shuffles; tables are drawn `drawn` cells at a time.
    """
    require(shuffles >= 1, "at least one shuffle is needed")
    records = int(counts.sum())
    whole = score(histogram(counts))
    slack = max(TOLERANCE * records * bits, ROUNDING * whole)
    if isinstance(plan, TableBlocks):
        scores = _scores_of_tables(plan, shuffles, seed, drawn)
    else:
        scores = _scores_of_shuffles(plan, shuffles, seed, threads=threads, compiled=compiled)
    gaps = whole - np.fromiter(scores, dtype=np.float64)
    reached = int(np.count_nonzero(gaps <= slack))
    gaps[np.abs(gaps) <= ROUNDING * whole] = 0.0
    return ShuffleTest((1 + reached) / (shuffles + 1), math.fsum(gaps) / shuffles / records)


def score(counts: Sizes) -> float:
    """The sum over cells of n·log2 n."""
    sizes = np.asarray(counts.sizes, dtype=np.float64)
    return kernel.total(np.asarray(counts.times, dtype=np.float64) * (sizes * np.log2(sizes)))


def few(values: int) -> type[np.unsignedinteger[Any]]:
    """The smallest type for codes below `values`, so that many of them fit into the cache."""
    if values <= 1 << 8:
        return np.uint8
    return np.uint16 if values <= 1 << 16 else np.uint32


def independent(joint: ContingencyTable, per_cell: int = PER_CELL) -> ShuffleLayout | TableBlocks:
    """Plan shuffles of all records as one block, from the sizes of both columns only.

    Tables are drawn cell by cell from `per_cell` records per cell on.
    """
    sides = [-np.sort(-side[side > 0]) for side in (joint.first, joint.second)]
    columns, rows = sorted(sides, key=lambda side: (len(side), side.tolist()))
    shape = (len(rows), len(columns))
    tables = TableBlocks(shape, ((np.arange(shape[0]), rows, np.arange(shape[1]), columns),))
    if small(tables, joint.records, per_cell):
        return tables
    codes = np.repeat(np.arange(shape[1], dtype=few(shape[1])), columns)
    return ShuffleLayout.from_blocks(codes, shape[1], rows, np.zeros(1, dtype=np.int64))


def small(tables: TableBlocks, records: int, per_cell: int = PER_CELL) -> bool:
    """Say whether drawing tables costs less than shuffling records."""
    return tables.cells * per_cell <= records < MOST_DRAWN


# Tables drawn whole.


def _scores_of_tables(tables: TableBlocks, shuffles: int, seed: int, drawn: int) -> Iterator[float]:
    """The score of each random table with the sizes of this one."""
    step = max(1, drawn // (tables.shape[0] * tables.shape[1]))
    for at in range(0, shuffles, step):
        random = np.random.default_rng([seed, at])
        many = min(step, shuffles - at)
        tables_drawn = np.zeros((many, *tables.shape), dtype=np.int64)
        for rows, sizes, columns, totals in tables.blocks:
            if len(rows) < len(columns):
                block = _table(random, sizes, totals, many)
            else:
                block = _table(random, totals, sizes, many).transpose(0, 2, 1)
            tables_drawn[:, rows[:, None], columns] += block
        for table in tables_drawn.reshape(many, -1):
            cells = np.maximum(table, 1).astype(np.float64)
            yield float((cells * np.log2(cells)).sum())


def _table(random: np.random.Generator, rows: Ints, columns: Ints, many: int) -> Ints:
    """Draw random tables with these sizes of rows and columns: each row given the earlier rows."""
    table = np.empty((many, len(rows), len(columns)), dtype=np.int64)
    left = np.zeros((many, 1 << (len(columns) - 1).bit_length()), dtype=np.int64)
    left[:, : len(columns)] = columns
    for i, size in enumerate(rows[:-1].tolist()):
        sums = [left]
        while sums[-1].shape[1] > 1:
            sums.append(sums[-1][:, 0::2] + sums[-1][:, 1::2])
        row = np.full((many, 1), size)
        for halves in sums[-2::-1]:  # all columns, then each half of them, and so on
            taken = random.hypergeometric(halves[:, 0::2], halves[:, 1::2], row)
            row = np.stack((taken, row - taken), axis=2).reshape(many, -1)
        table[:, i] = row[:, : len(columns)]
        left -= row
    table[:, -1] = left[:, : len(columns)]
    return table


# Records shuffled.


def _scores_of_shuffles(
    layout: ShuffleLayout,
    shuffles: int,
    seed: int,
    *,
    threads: int | None = None,
    compiled: bool | None = None,
) -> Iterator[float]:
    """The score of each shuffle."""
    work = layout.size * shuffles
    if compiled is None:
        compiled = work >= COMPILE and compile_loops() is not None
    shuffle = _shuffle_compiled if compiled else _shuffle_plain
    keys = np.random.SeedSequence(seed).generate_state(shuffles, np.uint64)
    workers = thread_count(threads)
    if workers == 1 or work < COMPILE:
        yield from (score(shuffle(layout, key)) for key in keys)
        return
    with ThreadPoolExecutor(workers) as pool:
        yield from pool.map(lambda key: score(shuffle(layout, key)), keys)


def _shuffle_compiled(layout: ShuffleLayout, key: np.uint64) -> Sizes:
    """The histogram of the counts, from 2 on, of the cells of one shuffle."""
    from sievert.estimators import compiled_loops

    reached = compiled_loops.shuffle(
        layout.codes.copy(),
        key,
        layout.starts,
        layout.ends,
        layout.limits,
        layout.values,
        layout.most,
    )
    times = reached[:-1] - reached[1:]
    times[:2] = 0
    sizes = np.flatnonzero(times)
    return Sizes(sizes, times[sizes])


def _shuffle_plain(layout: ShuffleLayout, key: np.uint64) -> Sizes:
    """The histogram of the counts from 2 on, computed in NumPy."""
    lengths = layout.ends - layout.starts
    run = np.repeat(np.arange(len(lengths)), lengths)
    place = np.arange(len(run)) + (layout.starts - (np.cumsum(lengths) - lengths))[run]
    codes = _swap(
        layout.codes.copy(), place, place + _random_below(layout.limits[run] - place, key)
    )
    _, counts = count_keys(run * layout.values + codes[place], len(lengths) * layout.values)
    return histogram(counts[counts > 1])


def _random_below(room: Ints, key: np.uint64) -> Ints:
    """Draw a random number below each of `room`, which are below 2^32."""
    room = room.astype(np.uint64)
    z = np.arange(1, len(room) + 1, dtype=np.uint64) * np.uint64(STEP) + key
    z = (z ^ (z >> np.uint64(30))) * np.uint64(FIRST_FACTOR)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(SECOND_FACTOR)
    z ^= z >> np.uint64(31)
    low = (z & np.uint64(LOW_BITS)) * room >> np.uint64(32)
    return (((z >> np.uint64(32)) * room + low) >> np.uint64(32)).astype(np.int64)


def _swap(codes: Ints, one: Ints, other: Ints) -> Ints:
    """Swap codes in the given order, many swaps at a time.

    A swap is done when it is the first remaining swap of both its places.
    """
    first = np.empty(len(codes), dtype=np.int64)
    while len(one):
        turn = np.arange(len(one))
        first[one] = len(one)
        first[other] = len(one)
        first[other[::-1]] = turn[::-1]  # NumPy keeps the last of several: the earliest swap
        first[one] = np.minimum(first[one], turn)
        ready = (first[one] == turn) & (first[other] == turn)
        a = one[ready]
        b = other[ready]
        codes[a], codes[b] = codes[b], codes[a]
        one = one[~ready]
        other = other[~ready]
    return codes
