"""How often chance does as well: records shuffled, the sizes of all values kept.

With the sizes fixed, a mutual information rises and falls with the sum over cells of n·log2 n, so
only the counts of the cells are needed. Tables of few cells are drawn whole, cell by cell; others
by shuffling the codes of one column. Both are fixed by the seed, whatever the threads.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sievert.counts.answers import Sizes
from sievert.counts.cube import histogram
from sievert.counts.machine import cores, loops
from sievert.errors import UsageError
from sievert.estimating.joint import Joint, counted
from sievert.measures import kernel

Ints = NDArray[Any]
Floats = NDArray[np.float64]
TOLERANCE = 1e-12  # of an information: two that differ by less are equal
ROUNDING = 4e-15  # of a sum of n·log2 n
PER_CELL = 128  # records a cell from which whole tables are drawn
MOST_DRAWN = 10**9  # NumPy's limit for hypergeometric numbers
DRAWN = 1 << 23  # numbers of the tables that are drawn at a time
COMPILE = 4_000_000  # records to shuffle from which compiled loops pay


@dataclass(frozen=True, eq=False)
class Layout:
    """Runs of places that share a value of one column; the codes of the other are shuffled.

    A run goes from one of `starts` to one of `ends` and takes its codes from there up to its limit.
    `codes` are where they are before the shuffle, below `values`. Places in no run cannot matter.
    """

    codes: Ints
    values: int
    starts: Ints
    ends: Ints
    limits: Ints

    @classmethod
    def of(cls, codes: Ints, values: int, sizes: Ints, firsts: Ints) -> Layout:
        """Values of such sizes side by side in blocks, which begin at `firsts`, largest first."""
        ends = np.cumsum(sizes)
        limits = np.repeat(np.append(ends[firsts[1:] - 1], ends[-1]), _lengths(firsts, len(sizes)))
        runs = sizes > 1
        few = codes.astype(np.min_scalar_type(values))
        return cls(few, values, (ends - sizes)[runs], ends[runs], limits[runs])

    @cached_property
    def most(self) -> int:
        """No cell holds more records than this."""
        return int((self.ends - self.starts).max(initial=1))


@dataclass(frozen=True, eq=False)
class Tables:
    """Blocks as tables: sizes of their rows and columns, and where these are in the whole table."""

    shape: tuple[int, int]
    blocks: tuple[tuple[Ints, Ints, Ints, Ints], ...]  # rows, their sizes, columns, their sizes

    @property
    def cells(self) -> int:
        """How many cells there are to draw, or to add up."""
        drawn = sum(len(rows) * len(columns) for rows, _, columns, _ in self.blocks)
        return max(drawn, self.shape[0] * self.shape[1])


class Shuffled(NamedTuple):
    """What shuffles say of an information."""

    p: float  # the share of shuffles, itself among them, that are not below it
    above: float  # bits above the mean of the shuffles


def shuffled(
    counts: Ints, bits: float, plan: Layout | Tables, shuffles: int, seed: int, **how: Any
) -> Shuffled:
    """So many bits, of cells with these counts, against those of shuffled records."""
    if shuffles < 1:
        raise UsageError("at least one shuffle is needed")
    records = int(counts.sum())
    whole = score(histogram(counts))
    due = whole - max(TOLERANCE * records * bits, ROUNDING * whole)
    how_many = _drawn if isinstance(plan, Tables) else _shuffled
    gaps = whole - np.fromiter(how_many(plan, shuffles, seed, **how), np.float64, shuffles)
    gaps[np.abs(gaps) <= ROUNDING * whole] = 0.0
    return Shuffled((1 + reached) / (shuffles + 1), above)


def score(counts: Sizes) -> float:
    """The sum over cells of n·log2 n."""
    sizes = np.asarray(counts.sizes, dtype=np.float64)
    return kernel.total(np.asarray(counts.times, dtype=np.float64) * (sizes * np.log2(sizes)))


def independent(joint: Joint) -> Layout | Tables:
    """All records as one block. Only sizes enter: neither names nor the order of columns matter."""
    sides = [-np.sort(-side[side > 0]) for side in (joint.first, joint.second)]
    columns, rows = sorted(sides, key=lambda side: (len(side), side.tolist()))
    tables = Tables(
        (len(rows), len(columns)), ((np.arange(len(rows)), rows, np.arange(len(columns)), columns),)
    )
    if small(tables, joint.records):
        return tables
    ends = np.cumsum(rows)
    runs = int(np.searchsorted(-rows, -1))  # those of two and more
    return Layout(
        np.repeat(np.arange(len(columns), dtype=np.int32), columns),
        len(columns),
        np.array([0, joint.records]),
        ends[runs - 1 : runs] if runs else np.zeros(1, dtype=np.int64),
        (ends - rows)[:runs],
        ends[:runs],
    )


def small(tables: Tables, records: int) -> bool:
    """Whether drawing tables costs less than shuffling records."""
    return tables.cells * PER_CELL <= records < MOST_DRAWN


# Tables drawn whole.


def _drawn(tables: Tables, shuffles: int, seed: int) -> Iterator[float]:
    """The score of each random table with the sizes of this one."""
    step = max(1, DRAWN // (tables.shape[0] * tables.shape[1]))
    for at in range(0, shuffles, step):
        random = np.random.default_rng([seed, at])
        many = min(step, shuffles - at)
        found = np.zeros((many, *tables.shape), dtype=np.int64)
        for rows, sizes, columns, totals in tables.blocks:
            found[:, rows[:, None], columns] += _table(random, sizes, totals, many)
        for cells in found.reshape(many, -1):
            yield score(histogram(cells[cells > 0]))


def _table(random: np.random.Generator, rows: Ints, columns: Ints, many: int) -> Ints:
    """Random tables with these sizes of rows and columns: each cell given those before it."""
    found = np.empty((many, len(rows), len(columns)), dtype=np.int64)
    left = np.repeat(columns[None, :], many, axis=0)
    for i, size in enumerate(rows[:-1].tolist()):
        due = np.full(many, size)
        rest = left.sum(axis=1)
        for j in range(len(columns) - 1):
            rest -= left[:, j]
            found[:, i, j] = random.hypergeometric(left[:, j], rest, due)
            due -= found[:, i, j]
        found[:, i, -1] = due
        left -= found[:, i]
    found[:, -1] = left
    return found


# Records shuffled.


def _shuffled(
    layout: Layout,
    shuffles: int,
    seed: int,
    *,
    threads: int | None = None,
    compiled: bool | None = None,
) -> Iterator[float]:
    """The score of each shuffle."""
    size = int((layout.stops - layout.bounds[:-1]).sum())
    if compiled is None:
        compiled = size * shuffles >= COMPILE and loops() is not None
    once = _once_compiled if compiled else _once

    def work(shuffle: int) -> float:
        uniform = np.random.default_rng([seed, shuffle]).random(size)
        return score(once(layout, uniform))

    workers = cores(threads)
    if workers == 1 or size * shuffles < COMPILE:
        yield from map(work, range(shuffles))
        return
    with ThreadPoolExecutor(workers) as pool:
        yield from pool.map(work, range(shuffles))


def _once_compiled(layout: Layout, uniform: Floats) -> Sizes:
    """The counts, from 2 on, of the cells of one shuffle."""
    from sievert.estimating import kernels

    codes = layout.codes.copy()
    kernels.swap(codes, uniform, layout.bounds[:-1], layout.bounds[1:], layout.stops)
    reached = kernels.tally(codes, layout.starts, layout.ends, layout.values, layout.most)
    times = reached[:-1] - reached[1:]
    times[:2] = 0
    sizes = np.flatnonzero(times)
    return Sizes(sizes, times[sizes])


def _once(layout: Layout, uniform: Floats) -> Sizes:
    """The same in NumPy."""
    lengths = layout.stops - layout.bounds[:-1]
    begins = np.cumsum(lengths) - lengths
    place = np.arange(len(uniform)) + np.repeat(layout.bounds[:-1] - begins, lengths)
    room = (np.repeat(layout.bounds[1:], lengths) - place).astype(np.float64)
    codes = _swapped(layout.codes.copy(), place, place + (uniform * room).astype(np.int64))
    lengths = layout.ends - layout.starts
    run = np.repeat(np.arange(len(lengths)), lengths)
    begins = np.cumsum(lengths) - lengths
    place = np.arange(len(run)) + np.repeat(layout.starts - begins, lengths)
    _, counts = counted(run * layout.values + codes[place], len(lengths) * layout.values)
    return histogram(counts[counts > 1])


def _swapped(codes: Ints, one: Ints, other: Ints) -> Ints:
    """Codes swapped in the order given, many swaps at a time.

    A swap is done once it is the first left of both its places.
    """
    first = np.empty(len(codes), dtype=np.int64)
    while len(one):
        turn = np.arange(len(one))
        first[one] = first[other] = len(one)
        first[other[::-1]] = turn[::-1]  # of several the last is kept: the earliest swap
        first[one] = np.minimum(first[one], turn)
        ready = (first[one] == turn) & (first[other] == turn)
        a, b = one[ready], other[ready]
        codes[a], codes[b] = codes[b], codes[a]
        one, other = one[~ready], other[~ready]
    return codes
