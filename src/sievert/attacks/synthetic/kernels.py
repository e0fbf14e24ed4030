"""Compiled loops over all pairs of people and synthetic rows, in blocks that stay in the cache.

Rows are given column by column: `x[c, i]` is the place of row i in column c. Minima are found block
by block; ties are looked at only in blocks that hold the minimum.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from sievert.arrays import Bools, Floats, Ints
from sievert.attacks.synthetic.tables import UNIT
from sievert.numerics.acceleration import jit, thread_count

BLOCK = 512
FAR = 1 << 30
MOST = (1 << 15) - 1  # that a short integer holds
PARTS = 16  # of the rows per thread, at least
PART = 1 << 32  # cells that a part compares, at most: a second or less


def _no_tick() -> None:
    """Nobody watches."""


@dataclass(frozen=True)
class Workers:
    """Threads that go through all rows in parts; who watches may stop them between two."""

    threads: int | None = None
    tick: Callable[[], None] = _no_tick

    def run(self, loop: Callable[..., Any], rows: int, *arguments: Any) -> None:
        """Run a loop over all rows, which writes into its arguments; two tables are the first."""
        workers = thread_count(self.threads)
        x, y = arguments[:2]
        parts = max(workers * PARTS, x.shape[1] * y.size // PART)
        ends = np.linspace(0, rows, min(rows, parts) + 1).astype(np.int64).tolist()

        def run_part(span: tuple[int, int]) -> None:
            self.tick()
            loop(*span, *arguments)

        if workers == 1:
            for span in pairwise(ends):
                run_part(span)
            return
        pool = ThreadPoolExecutor(workers)
        try:
            for job in [pool.submit(run_part, span) for span in pairwise(ends)]:
                job.result()
        finally:
            pool.shutdown(cancel_futures=True)


ALONE = Workers()


# Whole loops over short integers are what a compiler turns into vector instructions: hence buffers
# of the type of the places, and no integer of another type in the same loop.


@jit
def add_distances(here: int, row: Ints, number: bool, unit: int, apart: Ints, total: Ints) -> None:
    """Add the distances of one column to those of a block; `apart` is room to work in."""
    if number:
        for j in range(len(row)):
            apart[j] = here - row[j]
        for j in range(len(row)):
            if apart[j] < 0:
                apart[j] = -apart[j]
        for j in range(len(row)):
            total[j] += min(apart[j], unit)
    else:
        for j in range(len(row)):
            if row[j] != here:
                total[j] += unit


@jit
def least_of(values: Ints) -> Any:
    """The least of a block."""
    least = values[0]
    for j in range(len(values)):
        least = min(least, values[j])
    return least


@jit
def places_at(values: Ints, most: int, places: Ints) -> int:
    """Where values are at most `most`; returns how many there are."""
    many = 0
    for j in range(len(values)):
        places[many] = j
        many += values[j] <= most
    return many


@jit
def count_near(
    first: int,
    last: int,
    x: Ints,
    y: Ints,
    counts: Ints,
    numeric: Bools,
    me: Ints,
    reach: Ints,
    weights: Floats,
    nearest: Ints,
    second: Ints,
    tied: Ints,
    near: Ints,
    share: Floats,
) -> None:
    """Per row of x: the least two distances to rows of y, how many are at the least, and near ones.

    `near` counts rows at distance 0, up to one unit, and beyond it up to two. `share` is the sum of
    the weights of the rows that lie exactly at their `reach`. A row of x that is
    a row of y, at `me` unless that is -1, does not count as its own neighbour.
    """
    (d, n), unit = y.shape, x.dtype.type(UNIT)
    room, buffer = np.zeros(BLOCK, dtype=x.dtype), np.zeros(BLOCK, dtype=x.dtype)
    at = np.zeros(BLOCK + 1, dtype=np.int64)
    for i in range(first, last):
        one, two, many = FAR, FAR, 0
        zero, within, beyond, part = 0, 0, 0, 0.0
        for start in range(0, n, BLOCK):
            stop = min(n, start + BLOCK)
            total, apart = room[: stop - start], buffer[: stop - start]
            total[:] = 0
            for c in range(d):
                add_distances(x[c, i], y[c, start:stop], numeric[c], unit, apart, total)
            for p in range(places_at(total, max(2 * UNIT, min(two, MOST)), at)):
                j = at[p]
                away, times = total[j], counts[start + j]
                times -= start + j == me[i]
                if times == 0:
                    continue
                zero += times if away == 0 else 0
                within += times if away <= UNIT else 0
                beyond += times if away <= 2 * UNIT else 0
                if away < one:
                    two = away if times > 1 else one
                    one, many = away, times
                elif away == one:
                    two = one
                    many += times
                elif away < two:
                    two = away
            if len(reach):
                for j in range(len(total)):
                    apart[j] = total[j] - reach[start + j]
                for p in range(places_at(apart, 0, at)):
                    part += weights[start + at[p]]
        nearest[i], second[i], tied[i], share[i] = one, two, many, part
        near[i, 0], near[i, 1], near[i, 2] = zero, within - zero, beyond - within


@jit
def link_halves(
    first: int,
    last: int,
    x: Ints,
    y: Ints,
    counts: Ints,
    numeric: Bools,
    half: Ints,
    linked: Floats,
) -> None:
    """Per row of x the chance that its nearest rows on both halves are one and the same row.

    `half` is 0 or 1 for the columns of the halves, and 2 for those of neither.
    """
    n, unit = y.shape[1], x.dtype.type(UNIT)
    blocks = (n + BLOCK - 1) // BLOCK
    total, buffer = np.zeros((2, BLOCK), dtype=x.dtype), np.zeros(BLOCK, dtype=x.dtype)
    least = np.zeros((2, blocks), dtype=np.int64)
    for i in range(first, last):
        best = np.full(2, FAR)
        for b in range(blocks):
            start, stop = b * BLOCK, min(n, b * BLOCK + BLOCK)
            _half_distances(x, i, y, start, stop, numeric, half, unit, buffer, total)
            for h in range(2):
                least[h, b] = least_of(total[h, : stop - start])
                best[h] = min(best[h], least[h, b])
        rows = np.zeros(3)
        for b in range(blocks):
            if least[0, b] != best[0] and least[1, b] != best[1]:
                continue
            start, stop = b * BLOCK, min(n, b * BLOCK + BLOCK)
            _half_distances(x, i, y, start, stop, numeric, half, unit, buffer, total)
            for j in range(stop - start):
                here, there = total[0, j] == best[0], total[1, j] == best[1]
                rows[0] += counts[start + j] if here else 0
                rows[1] += counts[start + j] if there else 0
                rows[2] += counts[start + j] if here and there else 0
        linked[i] = rows[2] / (rows[0] * rows[1])


@jit
def guess_secrets(
    first: int,
    last: int,
    x: Ints,
    y: Ints,
    counts: Ints,
    numeric: Bools,
    known: Bools,
    secrets: Ints,
    truth: Ints,
    values: Ints,
    offsets: Ints,
    right: Floats,
    expected: Floats,
    median: Ints,
) -> None:
    """Per row of x and secret: what the nearest rows of y, on the other known columns, say of it.

    `right` is the chance that their most frequent value is the true one, `expected` the share of
    them that have it, `median` the lower median of their values. `truth[i, s]` and `values[j, s]`
    are the codes of secret s; the codes of secret s are counted from `offsets[s]` on.
    """
    n, unit = y.shape[1], x.dtype.type(UNIT)
    blocks = (n + BLOCK - 1) // BLOCK
    room, buffer = np.zeros(BLOCK, dtype=x.dtype), np.zeros(BLOCK, dtype=x.dtype)
    ones = np.zeros((len(secrets), BLOCK), dtype=x.dtype)
    least = np.zeros((len(secrets), blocks), dtype=np.int64)
    sums = np.zeros(offsets[-1], dtype=np.int64)
    seen = np.zeros(offsets[-1], dtype=np.int64)
    for i in range(first, last):
        best = np.full(len(secrets), FAR)
        for b in range(blocks):
            start, stop = b * BLOCK, min(n, b * BLOCK + BLOCK)
            total, apart = room[: stop - start], buffer[: stop - start]
            _known_distances(
                x, i, y, start, stop, numeric, known, secrets, unit, apart, total, ones
            )
            for s in range(len(secrets)):
                one = ones[s, : stop - start]
                for j in range(len(total)):
                    apart[j] = total[j] - one[j]
                least[s, b] = least_of(apart)
                best[s] = min(best[s], least[s, b])
        many = np.zeros(len(secrets), dtype=np.int64)
        for b in range(blocks):
            wanted = False
            for s in range(len(secrets)):
                wanted |= least[s, b] == best[s]
            if not wanted:
                continue
            start, stop = b * BLOCK, min(n, b * BLOCK + BLOCK)
            total, apart = room[: stop - start], buffer[: stop - start]
            _known_distances(
                x, i, y, start, stop, numeric, known, secrets, unit, apart, total, ones
            )
            for s in range(len(secrets)):
                if least[s, b] != best[s]:
                    continue
                for j in range(stop - start):
                    if total[j] - ones[s, j] == best[s]:
                        code = values[start + j, s]
                        if sums[offsets[s] + code] == 0:
                            seen[offsets[s] + many[s]] = code
                            many[s] += 1
                        sums[offsets[s] + code] += counts[start + j]
        for s in range(len(secrets)):
            codes = np.sort(seen[offsets[s] : offsets[s] + many[s]])
            rows, most, modes = 0, 0, 0
            for code in codes:
                times = sums[offsets[s] + code]
                rows += times
                if times > most:
                    most, modes = times, 0
                modes += 1 if times == most else 0
            mine = sums[offsets[s] + truth[i, s]]
            right[i, s] = 1.0 / modes if mine == most else 0.0
            expected[i, s] = mine / rows
            below, middle = 0, -1
            for code in codes:
                below += sums[offsets[s] + code]
                if middle < 0 and 2 * below >= rows:
                    middle = code
                sums[offsets[s] + code] = 0
            median[i, s] = middle


@jit
def _known_distances(
    x: Ints,
    i: int,
    y: Ints,
    start: int,
    stop: int,
    numeric: Bools,
    known: Bools,
    secrets: Ints,
    unit: int,
    apart: Ints,
    total: Ints,
    ones: Ints,
) -> None:
    """The distances over known columns, and that part of them which each secret has itself."""
    total[:] = 0
    ones[:] = 0
    for s in range(len(secrets)):
        c = secrets[s]
        if known[c]:
            one = ones[s, : stop - start]
            add_distances(x[c, i], y[c, start:stop], numeric[c], unit, apart, one)
            for j in range(len(total)):
                total[j] += one[j]
    for c in range(len(known)):
        if known[c] and not (secrets == c).any():
            add_distances(x[c, i], y[c, start:stop], numeric[c], unit, apart, total)


@jit
def _half_distances(
    x: Ints,
    i: int,
    y: Ints,
    start: int,
    stop: int,
    numeric: Bools,
    half: Ints,
    unit: int,
    apart: Ints,
    total: Ints,
) -> None:
    """The distances over the columns of each half."""
    total[:] = 0
    for c in range(len(half)):
        if half[c] < 2:
            mine = total[half[c], : stop - start]
            add_distances(x[c, i], y[c, start:stop], numeric[c], unit, apart, mine)
