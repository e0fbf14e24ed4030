"""Utility of all methods on one axis: the error of means over ranges, computed from a release."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sievert.arrays import Bools, Floats, Ints
from sievert.errors import InputError, require
from sievert.methods.intruder import Seed, check_table, generator, matrix

USE = 0x5A3D1E04  # separates the random numbers of queries from those of the methods
ROUNDS = 200  # rounds of drawing queries, until enough have an answer
ZERO = 1e-9  # share of the mean absolute number below which a mean is 0


@dataclass(frozen=True)
class Queries:
    """Queries for the mean of a confidential column where one or two known columns are in a range.

    `columns` has two places per query, the second -1 if there is one column. `low` and `high` are
    the ends of the ranges as codes, both included. `truth` has the answers of the original.
    """

    columns: Ints
    low: Ints
    high: Ints
    truth: Floats


@dataclass(frozen=True)
class Utility:
    """The root mean square relative error of the answers from a release.

    `unanswered` queries have no record of the release; its overall mean is their answer.
    """

    error: float
    queries: int
    unanswered: int


def range_queries(
    known: Any,
    secret: Any,
    values: Any,
    number: int = 1000,
    seed: Seed = 0,
    *,
    sizes: Sequence[int] | None = None,
) -> Queries:
    """Draw range-mean queries whose answer on the original exists and is not 0.

    One known column and two different ones are equally likely. The ends of a range are two codes
    drawn evenly from the column's values.
    """
    codes, hidden, domain, columns = check_table(known, secret, values, sizes)
    require(number >= 1, "at least one query is needed")
    numbers = domain[hidden]
    widths = np.array(columns, dtype=np.int64)
    rng = generator(seed, USE)
    missing = number
    kept: list[Queries] = []
    for _ in range(ROUNDS):
        drawn = _draw_queries(rng, number, widths)
        means, counts, sizes_ = _means(drawn, codes, numbers)
        good = np.flatnonzero((counts > 0) & (np.abs(means) > ZERO * sizes_))[:missing]
        kept.append(
            Queries(
                columns=drawn.columns[good],
                low=drawn.low[good],
                high=drawn.high[good],
                truth=means[good],
            )
        )
        missing -= len(good)
        if not missing:
            return Queries(
                columns=np.concatenate([q.columns for q in kept]),
                low=np.concatenate([q.low for q in kept]),
                high=np.concatenate([q.high for q in kept]),
                truth=np.concatenate([q.truth for q in kept]),
            )
    raise InputError("too few ranges have records and a mean other than 0")


def utility(queries: Queries, known: Any, numbers: Any) -> Utility:
    """Measure the error of answers from released codes and confidential numbers."""
    codes = matrix(known)
    values = np.asarray(numbers, dtype=np.float64)
    require(
        values.shape == codes.shape[:1] and np.isfinite(values).all(),
        "a release has one finite confidential number for each record",
    )
    require(
        int(queries.columns.max()) < codes.shape[1],
        "the queries ask for a column that the release lacks",
    )
    means, counts, _ = _means(queries, codes, values)
    lacks: Bools = counts == 0
    answers = np.where(lacks, math.fsum(values.tolist()) / len(values), means)
    off = (answers - queries.truth) / queries.truth
    error = math.sqrt(math.fsum((off * off).tolist()) / len(off))
    return Utility(error, len(off), int(lacks.sum()))


def _draw_queries(rng: np.random.Generator, number: int, widths: Ints) -> Queries:
    columns = np.full((number, 2), -1, dtype=np.int64)
    columns[:, 0] = rng.integers(len(widths), size=number)
    if len(widths) > 1:
        other = (columns[:, 0] + rng.integers(1, len(widths), size=number)) % len(widths)
        two = np.sort(np.stack((columns[:, 0], other), axis=1), axis=1)
        columns = np.where(rng.random((number, 1)) < 0.5, two, columns)
    tops = np.append(widths, 1)[columns]  # no column: one code
    ends = np.sort(rng.integers(np.repeat(tops[:, :, None], 2, axis=2)), axis=2)
    return Queries(columns=columns, low=ends[:, :, 0], high=ends[:, :, 1], truth=np.zeros(number))


def _means(queries: Queries, codes: Ints, numbers: Floats) -> tuple[Floats, Ints, Floats]:
    """The mean of each query, the records in its ranges, and the mean absolute number."""
    plain = np.concatenate((codes, np.zeros((len(codes), 1), dtype=np.int64)), axis=1)
    sums = np.zeros((3, len(queries.truth)))
    for pair in np.unique(queries.columns, axis=0):
        mine = np.flatnonzero((queries.columns == pair).all(axis=1))
        cells = np.zeros(len(codes), dtype=np.int64)
        ends = []
        shape = []
        for side, column in enumerate(pair.tolist()):
            low = queries.low[mine, side]
            high = queries.high[mine, side] + 1
            cuts = np.unique(np.concatenate((low, high)))
            cells = cells * (len(cuts) + 1) + np.searchsorted(cuts, plain[:, column], "right")
            ends.append((np.searchsorted(cuts, low) + 1, np.searchsorted(cuts, high) + 1))
            shape.append(len(cuts) + 1)
        (a, b), (c, d) = ends
        for place, weights in enumerate((None, numbers, np.abs(numbers))):
            table = np.zeros((shape[0] + 1, shape[1] + 1))
            table[1:, 1:] = np.bincount(cells, weights, shape[0] * shape[1]).reshape(shape)
            table = table.cumsum(axis=0).cumsum(axis=1)
            sums[place, mine] = table[b, d] - table[a, d] - table[b, c] + table[a, c]
    counts = sums[0].astype(np.int64)
    return sums[1] / np.maximum(counts, 1), counts, sums[2] / np.maximum(counts, 1)
