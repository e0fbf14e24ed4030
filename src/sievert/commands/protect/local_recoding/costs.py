"""What classes cost: of records together, of two classes together, and which values are near.

The loops are compiled where numba is at hand. A column in which a class has several values costs by
how many its label stands for. A class that is to grow may yet get a second record with a value that
one of its records has, so such values cost less than their label in it: `rule` tells how much.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from sievert.arrays import Bools, Floats, Ints
from sievert.commands.protect.local_recoding.columns import (
    ENDS,
    INTERVAL,
    NUMBERS,
    SET,
    WORD,
    ColumnArrays,
)

F = TypeVar("F", bound=Callable[..., Any])


def _kernels() -> Any:
    """What is compiled, or what NumPy has where numba is missing."""
    try:
        from sievert.commands.protect.local_recoding import kernels
    except ImportError:
        from sievert.commands.protect.local_recoding import plain

        return plain
    return kernels


_loops = _kernels()
COMPILED: bool = _loops.COMPILED
loop: Callable[[F], F] = _loops.loop
inner: Callable[[F], F] = _loops.inner
inlined: Callable[[F], F] = _loops.inlined  # where a call would take longer than the work
nearest_rows = _loops.nearest_rows
count_bits = _loops.count_bits
NOWHERE = 1 << 60  # in place of the second least position of a class of one record
UNSURE = 0.75  # the `rule` for a class that is to grow
PAIR = 0.5  # the `rule` for how near two combinations are


@inner
def highest_bit(mask: int) -> int:
    """The place of the highest one in a mask."""
    for shift in (1, 2, 4, 8, 16, 32):
        mask |= mask >> shift
    place: int = count_bits(mask) - 1
    return place


@inlined
def label_width(
    kinds: Ints, grid: Ints, pairs: Ints, j: int, state: tuple[int, int, int, int], rule: float
) -> float:
    """How many values the label of a class in column j stands for, less one."""
    s, t, u, v = state
    if kinds[j, 0] >= SET:
        plain = count_bits(s) + count_bits(u) - 1
        if plain == 0:
            return 0.0
        # Missing and other values: only the root has both below it.
        covers, more, once = s, u, (s & ~t) | (s & kinds[j, 1])
        for begin in (0, WORD):
            while once:
                low = once & -once
                p = begin + count_bits(low - 1)
                covers, more, once = covers | grid[j, 2, p], more | grid[j, 3, p], once ^ low
            once = (u & ~v) | (u & kinds[j, 2])
        width = count_bits(covers) + count_bits(more) - 1
        if kinds[j, 0] == NUMBERS:
            least, most = s if s else u, u if u else s
            low, high = count_bits((least & -least) - 1), highest_bit(most)
            first, last = low + (0 if s else WORD), high + (WORD if u else 0)
            first = first if (t if s else v) >> low & 1 else grid[j, 0, first]
            last = last if (v if u else t) >> high & 1 else grid[j, 1, last]
            width = min(width, last - first)
        return float(plain + rule * (width - plain))
    if s == u:
        return 0.0
    if kinds[j, 0] == INTERVAL:
        first, last = s if t == s else grid[j, 0, s], u if v == u else grid[j, 1, u]
        return (u - s) + rule * ((last - first) - (u - s))
    if u < pairs.shape[1]:
        return float(pairs[j, s, u])
    level = ENDS
    while grid[j, level, s] != grid[j, level, u]:
        level += 2
    return float(grid[j, level + 1, s] - grid[j, level, s])


@inner
def with_value(masks: tuple[int, int, int, int], p: int, records: int) -> tuple[int, int, int, int]:
    """The masks of a class that gets records with the value at position p."""
    s, t, u, v = masks
    if p < WORD:
        bit = 1 << p
        return s | bit, t | (bit if records > 1 else s & bit), u, v
    bit = 1 << (p - WORD)
    return s, t, u | bit, v | (bit if records > 1 else u & bit)


@inner
def joint_cost(columns: ColumnArrays, x: Ints, a: int, b: int, rule: float, limit: float) -> float:
    """What the classes of rows a and b cost together, per record; infinite from a limit on."""
    kinds, grid, scale, pairs = columns
    cost = 0.0
    for j in range(len(scale)):
        s, t, u, v = x[a, j, 0], x[a, j, 1], x[a, j, 2], x[a, j, 3]
        if kinds[j, 0] >= SET:
            q, r = x[b, j, 0], x[b, j, 2]
            t |= x[b, j, 1] | (s & q)
            v |= x[b, j, 3] | (u & r)
            s |= q
            u |= r
        else:
            q, r = x[b, j, 0], x[b, j, 2]
            if kinds[j, 0] == INTERVAL:
                t = min(max(s, q), min(t, x[b, j, 1]))
                v = max(min(u, r), max(v, x[b, j, 3]))
            s, u = min(s, q), max(u, r)
        cost += scale[j] * label_width(kinds, grid, pairs, j, (s, t, u, v), rule)
        if cost >= limit:
            return np.inf
    return cost


@inner
def grown_cost(
    columns: ColumnArrays, x: Ints, a: int, codes: Ints, grown: tuple[int, int, float], limit: float
) -> float:
    """What the class of row a costs with further records of one combination, per record.

    `grown` has the combination, the number of its records, which may be none, and the rule.
    """
    kinds, grid, scale, pairs = columns
    combination, more, rule = grown
    cost = 0.0
    for j in range(len(scale)):
        s, t, u, v = x[a, j, 0], x[a, j, 1], x[a, j, 2], x[a, j, 3]
        p = codes[combination, j]
        if more <= 0:
            pass
        elif kinds[j, 0] >= SET:
            s, t, u, v = with_value((s, t, u, v), p, more)
        else:
            if kinds[j, 0] == INTERVAL:
                q, r = (p, p) if more > 1 else (NOWHERE, -1)
                t, v = min(max(s, p), min(t, q)), max(min(u, p), max(v, r))
            s, u = min(s, p), max(u, p)
        cost += scale[j] * label_width(kinds, grid, pairs, j, (s, t, u, v), rule)
        if cost >= limit:
            return np.inf
    return cost


@inner
def gather(
    columns: ColumnArrays,
    codes: Ints,
    own: Ints,
    number: int,
    x: Ints,
    out: int,
    rule: float,
    limit: float,
) -> float:
    """What records cost together, per record, and their state, which becomes row `out` of x.

    Row i of `own` is a combination, and how many records of it there are. From a limit on the cost
    is infinite, and the state is not to be used.
    """
    kinds, grid, scale, pairs = columns
    cost = 0.0
    for j in range(len(scale)):
        if kinds[j, 0] >= SET:
            s, t, u, v = 0, 0, 0, 0
            for i in range(number):
                s, t, u, v = with_value((s, t, u, v), codes[own[i, 0], j], own[i, 1])
        else:
            s, t, u, v = NOWHERE, NOWHERE, -1, -1
            for i in range(number):
                p = codes[own[i, 0], j]
                q, r = (p, p) if own[i, 1] > 1 else (NOWHERE, -1)
                t, s = min(max(s, p), min(t, q)), min(s, p)
                v, u = max(min(u, p), max(v, r)), max(u, p)
        x[out, j, 0], x[out, j, 1], x[out, j, 2], x[out, j, 3] = s, t, u, v
        cost += scale[j] * label_width(kinds, grid, pairs, j, (s, t, u, v), rule)
        if cost >= limit:
            return np.inf
    return cost


@inner
def _pair_costs(
    columns: ColumnArrays, own: Ints, before: Ints, present: Ints, values: Ints, rows: Floats
) -> None:
    """What the values that are present in each column cost together with those of a combination.

    `before` are the values for which `rows` has them so far.
    """
    kinds, grid, scale, pairs = columns
    for j in range(len(scale)):
        p, known = own[j], before[j]
        before[j] = p
        for i in range(values[j] if p != known else 0):
            q = present[j, i]
            low, high = min(p, q), max(p, q)
            both = (low, low, high, high)
            if kinds[j, 0] >= SET:
                both = with_value(with_value((0 * p, 0 * p, 0 * p, 0 * p), p, 1), q, 1)
            rows[j, q] = scale[j] * label_width(kinds, grid, pairs, j, both, PAIR)


@loop
def nearest_combinations(columns: ColumnArrays, codes: Ints, wanted: Bools, most: int) -> Ints:
    """Of every combination that is wanted the nearest others, by what two values cost together."""
    (n, width), widest = codes.shape, columns.grid.shape[2]
    near, rows = np.full((n, most), -1, dtype=np.int64), np.zeros((width, widest))
    present, values = np.zeros((width, widest), dtype=np.int64), np.zeros(width, dtype=np.int64)
    shared, before = np.zeros(n, dtype=np.int64), np.full(width, -1, dtype=np.int64)
    for a in range(n):
        for j in range(width):
            rows[j, codes[a, j]] = 1.0
        while a and shared[a] < width and codes[a, shared[a]] == codes[a - 1, shared[a]]:
            shared[a] += 1
    for j in range(width):
        for p in range(widest):
            if rows[j, p] > 0.0:
                present[j, values[j]] = p
                values[j] += 1
    for a in range(n):
        if wanted[a]:
            _pair_costs(columns, codes[a], before, present, values, rows)
            nearest_rows(rows, codes, shared, a, near)
    return near
