"""The cost of records together and of two classes together, and the combinations that are near.

The loops are compiled if numba is installed. A column in which a class has several values costs by
the number of values that its label stands for. A class that will grow may still get a second record
with a value that only one of its records has. Such values cost less than their label: `rule` says
how much less.
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
    """Import the compiled functions, or those in NumPy if numba is missing."""
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
inlined: Callable[[F], F] = _loops.inlined  # if a call would take longer than the work
nearest_rows = _loops.nearest_rows
count_bits = _loops.count_bits
NOWHERE = 1 << 60  # in place of the second least position of a class of one record
UNSURE = 0.75  # the `rule` for a class that will grow
PAIR = 0.5  # the `rule` for the distance of two combinations


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
    """The number of values that the label of a class in column j stands for, less one."""
    s, t, u, v = state
    if kinds[j, 0] >= SET:
        plain = count_bits(s) + count_bits(u) - 1
        if plain == 0:
            return 0.0
        # Only the root stands for missing and other values together.
        covers = s
        more = u
        once = (s & ~t) | (s & kinds[j, 1])
        for begin in (0, WORD):
            while once:
                low = once & -once
                p = begin + count_bits(low - 1)
                covers = covers | grid[j, 2, p]
                more = more | grid[j, 3, p]
                once = once ^ low
            once = (u & ~v) | (u & kinds[j, 2])
        width = count_bits(covers) + count_bits(more) - 1
        if kinds[j, 0] == NUMBERS:
            least = s if s else u
            most = u if u else s
            low = count_bits((least & -least) - 1)
            high = highest_bit(most)
            first = low + (0 if s else WORD)
            last = high + (WORD if u else 0)
            first = first if (t if s else v) >> low & 1 else grid[j, 0, first]
            last = last if (v if u else t) >> high & 1 else grid[j, 1, last]
            width = min(width, last - first)
        return float(plain + rule * (width - plain))
    if s == u:
        return 0.0
    if kinds[j, 0] == INTERVAL:
        first = s if t == s else grid[j, 0, s]
        last = u if v == u else grid[j, 1, u]
        return (u - s) + rule * ((last - first) - (u - s))
    if u < pairs.shape[1]:
        return float(pairs[j, s, u])
    level = ENDS
    while grid[j, level, s] != grid[j, level, u]:
        level += 2
    return float(grid[j, level + 1, s] - grid[j, level, s])


@inner
def with_value(masks: tuple[int, int, int, int], p: int, records: int) -> tuple[int, int, int, int]:
    """The masks of a class after it gets `records` with the value at position p."""
    s, t, u, v = masks
    if p < WORD:
        bit = 1 << p
        return s | bit, t | (bit if records > 1 else s & bit), u, v
    bit = 1 << (p - WORD)
    return s, t, u | bit, v | (bit if records > 1 else u & bit)


@inner
def joint_cost(columns: ColumnArrays, x: Ints, a: int, b: int, rule: float, limit: float) -> float:
    """The cost per record of the classes of rows a and b together; infinite from `limit` on."""
    kinds, grid, scale, pairs = columns
    cost = 0.0
    for j in range(len(scale)):
        s = x[a, j, 0]
        t = x[a, j, 1]
        u = x[a, j, 2]
        v = x[a, j, 3]
        if kinds[j, 0] >= SET:
            q = x[b, j, 0]
            r = x[b, j, 2]
            t |= x[b, j, 1] | (s & q)
            v |= x[b, j, 3] | (u & r)
            s |= q
            u |= r
        else:
            q = x[b, j, 0]
            r = x[b, j, 2]
            if kinds[j, 0] == INTERVAL:
                t = min(max(s, q), min(t, x[b, j, 1]))
                v = max(min(u, r), max(v, x[b, j, 3]))
            s = min(s, q)
            u = max(u, r)
        cost += scale[j] * label_width(kinds, grid, pairs, j, (s, t, u, v), rule)
        if cost >= limit:
            return np.inf
    return cost


@inner
def grown_cost(
    columns: ColumnArrays, x: Ints, a: int, codes: Ints, grown: tuple[int, int, float], limit: float
) -> float:
    """The cost per record of the class of row a with further records of one combination.

    `grown` has the combination, the number of its records, which may be 0, and the rule.
    """
    kinds, grid, scale, pairs = columns
    combination, more, rule = grown
    cost = 0.0
    for j in range(len(scale)):
        s = x[a, j, 0]
        t = x[a, j, 1]
        u = x[a, j, 2]
        v = x[a, j, 3]
        p = codes[combination, j]
        if more <= 0:
            pass
        elif kinds[j, 0] >= SET:
            s, t, u, v = with_value((s, t, u, v), p, more)
        else:
            if kinds[j, 0] == INTERVAL:
                q, r = (p, p) if more > 1 else (NOWHERE, -1)
                t = min(max(s, p), min(t, q))
                v = max(min(u, p), max(v, r))
            s = min(s, p)
            u = max(u, p)
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
    """Compute the cost of records together, per record; write their state into row `out` of x.

    Row i of `own` has a combination and its number of records. From `limit` on the cost is
    infinite, and the state must not be used.
    """
    kinds, grid, scale, pairs = columns
    cost = 0.0
    for j in range(len(scale)):
        if kinds[j, 0] >= SET:
            s = 0
            t = 0
            u = 0
            v = 0
            for i in range(number):
                s, t, u, v = with_value((s, t, u, v), codes[own[i, 0], j], own[i, 1])
        else:
            s = NOWHERE
            t = NOWHERE
            u = -1
            v = -1
            for i in range(number):
                p = codes[own[i, 0], j]
                q, r = (p, p) if own[i, 1] > 1 else (NOWHERE, -1)
                t = min(max(s, p), min(t, q))
                s = min(s, p)
                v = max(min(u, p), max(v, r))
                u = max(u, p)
        x[out, j, 0] = s
        x[out, j, 1] = t
        x[out, j, 2] = u
        x[out, j, 3] = v
        cost += scale[j] * label_width(kinds, grid, pairs, j, (s, t, u, v), rule)
        if cost >= limit:
            return np.inf
    return cost


@inner
def _pair_costs(
    columns: ColumnArrays, own: Ints, before: Ints, present: Ints, values: Ints, rows: Floats
) -> None:
    """Fill `rows` with the cost of each present value together with the value of a combination.

    `own` has the values of this combination, and `before` those of the combination before, for
    which `rows` is filled already.
    """
    kinds, grid, scale, pairs = columns
    for j in range(len(scale)):
        p = own[j]
        known = before[j]
        before[j] = p
        for i in range(values[j] if p != known else 0):
            q = present[j, i]
            low = min(p, q)
            high = max(p, q)
            both = (low, low, high, high)
            if kinds[j, 0] >= SET:
                both = with_value(with_value((0 * p, 0 * p, 0 * p, 0 * p), p, 1), q, 1)
            rows[j, q] = scale[j] * label_width(kinds, grid, pairs, j, both, PAIR)


@loop
def nearest_combinations(columns: ColumnArrays, codes: Ints, wanted: Bools, most: int) -> Ints:
    """Find the nearest others of every `wanted` combination, by the cost of two values together."""
    n, width = codes.shape
    widest = columns.grid.shape[2]
    near = np.full((n, most), -1, dtype=np.int64)
    rows = np.zeros((width, widest))
    present = np.zeros((width, widest), dtype=np.int64)
    values = np.zeros(width, dtype=np.int64)
    shared = np.zeros(n, dtype=np.int64)
    before = np.full(width, -1, dtype=np.int64)
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
