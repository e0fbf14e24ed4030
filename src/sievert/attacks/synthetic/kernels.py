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
from sievert.numerics.acceleration import jit_only, thread_count

BLOCK = 512
SOME = 32  # rows of a block that are skipped at once if none of them is near
FAR = 1 << 30
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


@jit_only
def add_distances(here: int, row: Ints, number: bool, unit: int, total: Ints) -> None:
    """Add the distances of one column to those of a block; a negative unit takes them away."""
    if number:
        short = total.dtype.type
        most, sign = short(abs(unit)), short(1 if unit > 0 else -1)
        for j in range(len(row)):
            apart = short(here - row[j])
            total[j] += sign * min(max(apart, short(-apart)), most)
    else:
        for j in range(len(row)):
            if row[j] != here:
                total[j] += unit


@jit_only
def subtract(values: Ints, others: Ints, result: Ints) -> None:
    """The differences of two blocks."""
    for j in range(len(values)):
        result[j] = values[j] - others[j]


@jit_only
def least_of(values: Ints) -> Any:
    """The least of a block."""
    least = values[0]
    for j in range(len(values)):
        least = min(least, values[j])
    return least


@jit_only
def places_at(values: Ints, most: int, places: Ints) -> int:
    """Where values are at most `most`; returns how many there are."""
    many = 0
    for start in range(0, len(values), SOME):
        some = values[start : start + SOME]
        if least_of(some) <= most:
            for j in range(len(some)):
                places[many] = start + j
                many += some[j] <= most
    return many


@jit_only
def count_at(values: Ints, least: int, most: int, counts: Ints) -> int:
    """How many records have values between two limits, both included."""
    many = 0
    for j in range(len(values)):
        many += counts[j] if least <= values[j] and values[j] <= most else 0
    return many


@jit_only
def count_both(first: Ints, second: Ints, here: int, there: int, counts: Ints) -> int:
    """How many records have two values."""
    many = 0
    for j in range(len(first)):
        many += counts[j] if (first[j] == here) & (second[j] == there) else 0
    return many


@jit_only
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

    `near`, if it has room, counts rows at distance 0, up to one unit, and beyond it up to two.
    `share` is the sum of the weights of the rows that lie exactly at their `reach`. A row of x that
    is a row of y, at `me` unless that is -1, does not count as its own neighbour.
    """
    (d, n), unit = y.shape, x.dtype.type(UNIT)
    room, buffer = np.zeros(BLOCK, dtype=x.dtype), np.zeros(BLOCK, dtype=x.dtype)
    at, bounds = np.zeros(BLOCK + 1, dtype=np.int64), np.array([0, UNIT, 2 * UNIT])
    for i in range(first, last):
        one, two, many, part = FAR, FAR, 0, 0.0
        for start in range(0, n, BLOCK):
            stop = min(n, start + BLOCK)
            total, apart, times = room[: stop - start], buffer[: stop - start], counts[start:stop]
            total[:] = 0
            for c in range(d):
                add_distances(x[c, i], y[c, start:stop], numeric[c], unit, total)
            mine = me[i] - start if start <= me[i] < stop else -1
            least, below = least_of(total), -1
            for b in range(3):
                if least <= bounds[b] and len(near):
                    near[i, b] += count_at(total, below + 1, bounds[b], times)
                below = bounds[b]
            if mine >= 0:
                near[i, 0] -= 1
            if least < two:
                for p in range(places_at(total, two, at)):
                    away, rows = total[at[p]], times[at[p]] - (at[p] == mine)
                    if rows == 0:
                        continue
                    if away < one:
                        two = away if rows > 1 else one
                        one, many = away, rows
                    elif away == one:
                        two = one
                        many += rows
                    elif away < two:
                        two = away
            elif least == one:
                many += count_at(total, one, one, times) - (mine >= 0 and one == 0)
            if len(reach):
                subtract(total, reach[start:stop], apart)
                for p in range(places_at(apart, 0, at)):
                    part += weights[start + at[p]]
        nearest[i], second[i], tied[i], share[i] = one, two, many, part


@jit_only
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
    room = np.zeros((2, BLOCK), dtype=x.dtype)
    best, rows = np.zeros(2, dtype=np.int64), np.zeros(3)
    for i in range(first, last):
        best[:] = FAR
        for start in range(0, n, BLOCK):
            stop = min(n, start + BLOCK)
            size, times, nearest = stop - start, counts[start:stop], 0
            room[:] = 0
            for c in range(len(half)):
                if half[c] < 2:
                    mine = room[half[c], :size]
                    add_distances(x[c, i], y[c, start:stop], numeric[c], unit, mine)
            for h in range(2):
                total = room[h, :size]
                least = least_of(total)
                if least < best[h]:  # no row before is as near on this half, so none is on both
                    best[h], rows[h], rows[2] = least, 0.0, 0.0
                if least == best[h]:
                    rows[h] += count_at(total, least, least, times)
                    nearest += 1
            if nearest == 2:
                rows[2] += count_both(room[0, :size], room[1, :size], best[0], best[1], times)
        linked[i] = rows[2] / (rows[0] * rows[1])


@jit_only
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
    n, unit, back = y.shape[1], x.dtype.type(UNIT), x.dtype.type(-UNIT)
    room, buffer = np.zeros(BLOCK, dtype=x.dtype), np.zeros(BLOCK, dtype=x.dtype)
    blocks = (n + BLOCK - 1) // BLOCK
    at = np.zeros(BLOCK + 1, dtype=np.int64)
    best, many = np.zeros(len(secrets), dtype=np.int64), np.zeros(len(secrets), dtype=np.int64)
    sums = np.zeros(offsets[-1], dtype=np.int64)
    seen = np.zeros(offsets[-1], dtype=np.int64)
    for i in range(first, last):
        best[:], many[:] = FAR, 0
        skipped = i * blocks // x.shape[1]  # rows are in order: the near ones are about here
        for b in range(blocks):
            start = (b + skipped) % blocks * BLOCK
            stop = min(n, start + BLOCK)
            total, apart = room[: stop - start], buffer[: stop - start]
            total[:] = 0
            for c in range(len(known)):
                if known[c]:
                    add_distances(x[c, i], y[c, start:stop], numeric[c], unit, total)
            within = least_of(total) - UNIT  # without a secret, nobody is nearer
            for s in range(len(secrets)):
                if within > best[s]:
                    continue
                apart[:] = total
                c = secrets[s]
                if known[c]:
                    add_distances(x[c, i], y[c, start:stop], numeric[c], back, apart)
                least, mine = least_of(apart), sums[offsets[s] : offsets[s + 1]]
                codes = seen[offsets[s] : offsets[s + 1]]
                if least > best[s]:
                    continue
                if least < best[s]:
                    for k in range(many[s]):
                        mine[codes[k]] = 0
                    best[s], many[s] = least, 0
                for p in range(places_at(apart, least, at)):
                    code = values[start + at[p], s]
                    if mine[code] == 0:
                        codes[many[s]] = code
                        many[s] += 1
                    mine[code] += counts[start + at[p]]
        for s in range(len(secrets)):
            codes = np.sort(seen[offsets[s] : offsets[s] + many[s]])
            rows, most, modes = 0, 0, 0
            for code in codes:
                times = sums[offsets[s] + code]
                rows += times
                if times > most:
                    most, modes = times, 0
                modes += 1 if times == most else 0
            true = sums[offsets[s] + truth[i, s]]
            right[i, s] = 1.0 / modes if true == most else 0.0
            expected[i, s] = true / rows
            below, middle = 0, -1
            for code in codes:
                below += sums[offsets[s] + code]
                if middle < 0 and 2 * below >= rows:
                    middle = code
                sums[offsets[s] + code] = 0
            median[i, s] = middle
