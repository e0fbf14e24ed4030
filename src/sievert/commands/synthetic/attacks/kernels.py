"""Compiled loops over all pairs of people and synthetic rows, in blocks that stay in the cache.

Rows are given column by column, in order: `x[c, i]` is the place of row i in column c. What a row
shares with the one before it, in its first columns, is added up once (`shared_columns`). Only some
rows of a block at a time are looked at one by one, where the least of them is near enough.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from sievert.arrays import Bools, Floats, Ints
from sievert.commands.synthetic.attacks.tables import UNIT
from sievert.numerics.acceleration import jit_only, thread_count

BLOCK = 1024
SOME = 32  # rows of a block that are skipped at once if none of them is near
TILE = 64  # rows that go through a block one after the other, and share what they have in common
ROOM = 1 << 20  # counts of secrets that are kept at once
FAR = 1 << 30
PARTS = 16  # of the rows per thread, at least
PART = 1 << 32  # cells that a part compares, at most: a second or less


def _nobody(_step: str, _parts: int) -> Callable[[], None]:
    """Nobody watches."""
    return lambda: None


@dataclass(frozen=True)
class Workers:
    """Threads that go through all rows in parts; they may be stopped between two parts.

    `count` begins a step with a number of parts, and returns a function to call at each part.
    """

    threads: int | None = None
    count: Callable[[str, int], Callable[[], None]] = _nobody

    def run(self, step: str, loop: Callable[..., Any], rows: int, *arguments: Any) -> None:
        """Run a loop over all rows, which writes into its arguments; two tables are the first."""
        workers = thread_count(self.threads)
        x, y = arguments[:2]
        parts = max(workers * PARTS, x.shape[1] * y.size // PART)
        ends = np.linspace(0, rows, min(rows, parts) + 1).astype(np.int64).tolist()
        begin_part = self.count(step, len(ends) - 1)

        def run_part(span: tuple[int, int]) -> None:
            begin_part()
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


def shared_columns(x: Ints) -> Ints:
    """Per row the leading columns in which it is like the row before it.

    >>> shared_columns(np.array([[1, 1, 2], [3, 3, 3], [4, 5, 5]])).tolist()
    [0, 2, 0]
    """
    shared = np.zeros(x.shape[1], dtype=np.int64)
    apart = x[:, 1:] != x[:, :-1]
    shared[1:] = np.where(apart.any(axis=0), apart.argmax(axis=0), len(x))
    return shared


@jit_only
def add_distances(here: int, row: Ints, number: bool, before: Ints, after: Ints) -> None:
    """The distances of a block with one column more."""
    short = after.dtype.type
    unit = short(UNIT)
    none = short(0)
    if number:
        for j in range(len(row)):
            apart = short(here - row[j])
            after[j] = before[j] + min(max(apart, short(-apart)), unit)
    else:
        for j in range(len(row)):
            after[j] = before[j] + (unit if row[j] != here else none)


@jit_only
def add_columns(
    i: int, old: int, x: Ints, y: Ints, start: int, numeric: Bools, previous: Ints, room: Ints
) -> None:
    """The distances of row i to a block: `room[c + 1]` adds column c to `room[previous[c]]`.

    The first `old` columns are those of the row before.
    """
    size = min(BLOCK, y.shape[1] - start)
    for c in range(old, len(x)):
        row = y[c, start : start + size]
        add_distances(x[c, i], row, numeric[c], room[previous[c], :size], room[c + 1, :size])


@jit_only
def least_of(values: Ints) -> Any:
    """The least of some values."""
    least = values[0]
    for j in range(len(values)):
        least = min(least, values[j])
    return least


@jit_only
def places_at(values: Ints, most: int, places: Ints) -> int:
    """Where values are at most `most`; returns how many there are."""
    many = 0
    if least_of(values) > most:
        return many
    for start in range(0, len(values), SOME):
        some = values[start : start + SOME]
        if least_of(some) <= most:
            for j in range(len(some)):
                places[many] = start + j
                many += some[j] <= most
    return many


@jit_only
def subtract(values: Ints, others: Ints, result: Ints) -> None:
    """The differences of two blocks."""
    for j in range(len(values)):
        result[j] = values[j] - others[j]


@jit_only
def count_near(
    first: int,
    last: int,
    x: Ints,
    y: Ints,
    counts: Ints,
    numeric: Bools,
    shared: Ints,
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
    d, n = y.shape
    room = np.zeros((d + 1, BLOCK), dtype=x.dtype)
    previous = np.arange(d)
    buffer = np.zeros(BLOCK, dtype=x.dtype)
    at = np.zeros(BLOCK + 1, dtype=np.int64)
    bound = 2 * UNIT if len(near) else -1
    nearest[first:last] = FAR
    second[first:last] = FAR
    for tile in range(first, last, TILE):
        for start in range(0, n, BLOCK):
            size = min(BLOCK, n - start)
            total = room[d, :size]
            apart = buffer[:size]
            for i in range(tile, min(last, tile + TILE)):
                add_columns(i, shared[i] if i > tile else 0, x, y, start, numeric, previous, room)
                one = nearest[i]
                two = second[i]
                many = tied[i]
                part = share[i]
                for p in range(places_at(total, max(bound, two), at)):
                    away = total[at[p]]
                    times = counts[start + at[p]] - (start + at[p] == me[i])
                    if times == 0:
                        continue
                    if away <= bound:
                        near[i, (away + UNIT - 1) // UNIT] += times
                    if away < one:
                        two = away if times > 1 else one
                        one = away
                        many = times
                    elif away == one:
                        two = one
                        many += times
                    elif away < two:
                        two = away
                if len(reach):
                    subtract(total, reach[start : start + size], apart)
                    for p in range(places_at(apart, 0, at)):
                        part += weights[start + at[p]]
                nearest[i] = one
                second[i] = two
                tied[i] = many
                share[i] = part


@jit_only
def link_halves(
    first: int,
    last: int,
    x: Ints,
    y: Ints,
    counts: Ints,
    numeric: Bools,
    shared: Ints,
    half: Ints,
    linked: Floats,
) -> None:
    """Per row of x the chance that its nearest rows on both halves are one and the same row.

    `half` is 0 or 1: the half of each column.
    """
    d, n = y.shape
    room = np.zeros((d + 1, BLOCK), dtype=x.dtype)
    previous = np.zeros(d, dtype=np.int64)
    ends = np.zeros(2, dtype=np.int64)
    for c in range(d):
        previous[c] = ends[half[c]]
        ends[half[c]] = c + 1
    best = np.zeros((TILE, 2), dtype=np.int64)
    least = np.zeros(2, dtype=np.int64)
    records = np.zeros((TILE, 3))  # nearest on the first half, on the second, and on both
    at = np.zeros(BLOCK + 1, dtype=np.int64)
    for tile in range(first, last, TILE):
        best[:] = FAR
        records[:] = 0.0
        for start in range(0, n, BLOCK):
            size = min(BLOCK, n - start)
            times = counts[start : start + size]
            for i in range(tile, min(last, tile + TILE)):
                add_columns(i, shared[i] if i > tile else 0, x, y, start, numeric, previous, room)
                closest = best[i - tile]
                sums = records[i - tile]
                for h in range(2):
                    least[h] = least_of(room[ends[h], :size])
                    if least[h] < closest[h]:  # no row before is as near, so none is on both
                        closest[h] = least[h]
                        sums[h] = 0.0
                        sums[2] = 0.0
                for h in range(2):
                    if least[h] == closest[h]:
                        other = room[ends[1 - h]]
                        for p in range(places_at(room[ends[h], :size], closest[h], at)):
                            sums[h] += times[at[p]]
                            if h == 1 and other[at[p]] == closest[0]:
                                sums[2] += times[at[p]]
        for i in range(tile, min(last, tile + TILE)):
            sums = records[i - tile]
            linked[i] = sums[2] / (sums[0] * sums[1])


@jit_only
def guess_secrets(
    first: int,
    last: int,
    x: Ints,
    y: Ints,
    counts: Ints,
    numeric: Bools,
    shared: Ints,
    me: Ints,
    secrets: Ints,
    truth: Ints,
    values: Ints,
    offsets: Ints,
    right: Floats,
    expected: Floats,
    median: Ints,
) -> None:
    """Per row of x and secret: what the nearest rows of y, on the other columns, say of it.

    `right` is the chance that their most frequent value is the true one, `expected` the share of
    them that have it, `median` the lower median of their values. `secrets` are places of columns,
    or -1 for a secret that is none of them. `truth[i, s]` and `values[j, s]` are the codes of
    secret s; the codes of secret s are counted from `offsets[s]` on. A row of x that is a row of y,
    at `me` unless that is -1, does not count as its own neighbour.
    """
    d, n = y.shape
    many_secrets = len(secrets)
    room = np.zeros((d + 1, BLOCK), dtype=x.dtype)
    previous = np.arange(d)
    blocks = (n + BLOCK - 1) // BLOCK
    at = np.zeros(BLOCK + 1, dtype=np.int64)
    tiled = max(1, min(TILE, ROOM // offsets[-1]))
    best = np.zeros((tiled, many_secrets), dtype=np.int64)
    many = np.zeros((tiled, many_secrets), dtype=np.int64)
    sums = np.zeros((tiled, offsets[-1]), dtype=np.int64)
    seen = np.zeros((tiled, offsets[-1]), dtype=np.int64)
    for tile in range(first, last, tiled):
        best[:] = FAR
        many[:] = 0
        skipped = tile * blocks // x.shape[1]  # rows are in order: the near ones are about here
        for b in range(blocks):
            start = (b + skipped) % blocks * BLOCK
            size = min(BLOCK, n - start)
            total = room[d, :size]
            for i in range(tile, min(last, tile + tiled)):
                add_columns(i, shared[i] if i > tile else 0, x, y, start, numeric, previous, room)
                closest = best[i - tile]
                t = i - tile
                # Without a secret, nobody is nearer by more than a unit.
                within = closest.max() + UNIT
                if me[i] < 0:
                    within = min(within, least_of(total) + UNIT)
                for p in range(places_at(total, within, at)):
                    j = at[p]
                    times = counts[start + j] - (start + j == me[i])
                    if times == 0:
                        continue
                    for s in range(many_secrets):
                        away = np.int64(total[j])
                        c = secrets[s]
                        if away > closest[s] + UNIT:
                            continue
                        if c >= 0 and numeric[c]:
                            away -= min(abs(np.int64(x[c, i]) - y[c, start + j]), UNIT)
                        elif c >= 0 and x[c, i] != y[c, start + j]:
                            away -= UNIT
                        if away > closest[s]:
                            continue
                        mine = sums[t, offsets[s] :]
                        codes = seen[t, offsets[s] :]
                        if away < closest[s]:
                            for k in range(many[t, s]):
                                mine[codes[k]] = 0
                            closest[s] = away
                            many[t, s] = 0
                        code = values[start + j, s]
                        if mine[code] == 0:
                            codes[many[t, s]] = code
                            many[t, s] += 1
                        mine[code] += times
        for i in range(tile, min(last, tile + tiled)):
            t = i - tile
            for s in range(many_secrets):
                mine = sums[t, offsets[s] :]
                codes = np.sort(seen[t, offsets[s] : offsets[s] + many[t, s]])
                right[i, s], expected[i, s], median[i, s] = weigh_guess(mine, codes, truth[i, s])
                mine[codes] = 0


@jit_only
def weigh_guess(times: Ints, codes: Ints, truth: int) -> tuple[float, float, int]:
    """The chance that the most frequent code is the true one, its share, and the lower median."""
    rows = 0
    most = 0
    modes = 0
    below = 0
    middle = -1
    for code in codes:
        rows += times[code]
        if times[code] > most:
            most = times[code]
            modes = 0
        modes += 1 if times[code] == most else 0
    for code in codes:
        below += times[code]
        if middle < 0 and 2 * below >= rows:
            middle = code
    return 1.0 / modes if times[truth] == most else 0.0, times[truth] / rows, middle
