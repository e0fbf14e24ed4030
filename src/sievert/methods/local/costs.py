"""What classes cost: of records together, of two classes together, and which values are near.

The loops are compiled where numba is at hand. A column in which a class has several values costs by
how many its label stands for. A class that is to grow may yet get a second record with a value that
one of its records has, so such values cost less than their label in it: `rule` tells how much.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from sievert.arrays import Bools, Ints
from sievert.methods.local.columns import ENDS, INTERVAL, SET, ColumnArrays

F = TypeVar("F", bound=Callable[..., Any])


def _kernels() -> Any:
    """What is compiled, or what NumPy has where numba is missing."""
    try:
        from sievert.methods.local import kernels
    except ImportError:
        from sievert.methods.local import plain

        return plain
    return kernels


_loops = _kernels()
loop: Callable[[F], F] = _loops.loop
slack, nearest_rows, count_bits = _loops.slack, _loops.nearest_rows, _loops.count_bits
NOWHERE = 1 << 60  # in place of the second least position of a class of one record
UNSURE = 0.75  # the `rule` for a class that is to grow
PAIR = 0.5  # the `rule` for how near two combinations are


@loop
def label_width(
    kinds: Ints, grid: Ints, j: int, state: tuple[int, int, int, int], rule: float
) -> float:
    """How many values the label of a class in column j stands for, less one."""
    s, t, u, v = state
    if kinds[j, 0] == SET:
        if s & (s - 1) == 0:
            return 0.0
        # Missing and other values: only the root has both below it.
        cover, once, plain = s, (s & ~t) | (s & kinds[j, 1]), count_bits(s) - 1
        while once:
            low = once & -once
            cover |= grid[j, 2, count_bits(low - 1)]
            once ^= low
        return float(plain + rule * (count_bits(cover) - 1 - plain))
    if s == u:
        return 0.0
    if kinds[j, 0] == INTERVAL:
        first, last = s if t == s else grid[j, 0, s], u if v == u else grid[j, 1, u]
        return (u - s) + rule * ((last - first) - (u - s))
    level = ENDS
    while grid[j, level, s] != grid[j, level, u]:
        level += 2
    return float(grid[j, level + 1, s] - grid[j, level, s])


@loop
def joint_cost(columns: ColumnArrays, x: Ints, a: int, b: int, rule: float, limit: float) -> float:
    """What the classes of rows a and b cost together, per record; infinite from a limit on."""
    kinds, grid, scale = columns
    cost = 0.0
    for j in range(len(scale)):
        s, t, u, v = x[a, j, 0], x[a, j, 1], x[a, j, 2], x[a, j, 3]
        q, r = x[b, j, 0], x[b, j, 1]
        if kinds[j, 0] == SET:
            t |= r | (s & q)
            s |= q
        else:
            t = min(max(s, q), min(t, r))
            s = min(s, q)
            q, r = x[b, j, 2], x[b, j, 3]
            v = max(min(u, q), max(v, r))
            u = max(u, q)
        cost += scale[j] * label_width(kinds, grid, j, (s, t, u, v), rule)
        if cost >= limit:
            return np.inf
    return cost


@loop
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
    kinds, grid, scale = columns
    cost = 0.0
    for j in range(len(scale)):
        if kinds[j, 0] == SET:
            s, t, u, v = 0, 0, 0, 0
            for i in range(number):
                bit = 1 << codes[own[i, 0], j]
                t |= bit if own[i, 1] > 1 else s & bit
                s |= bit
        else:
            s, t, u, v = NOWHERE, NOWHERE, -1, -1
            for i in range(number):
                p = codes[own[i, 0], j]
                q, r = (p, p) if own[i, 1] > 1 else (NOWHERE, -1)
                t, s = min(max(s, p), min(t, q)), min(s, p)
                v, u = max(min(u, p), max(v, r)), max(u, p)
        x[out, j, 0], x[out, j, 1], x[out, j, 2], x[out, j, 3] = s, t, u, v
        cost += scale[j] * label_width(kinds, grid, j, (s, t, u, v), rule)
        if cost >= limit:
            return np.inf
    return cost


@loop
def nearest_combinations(columns: ColumnArrays, codes: Ints, wanted: Bools, most: int) -> Ints:
    """Of every combination that is wanted the nearest others, by what two values cost together."""
    kinds, grid, scale = columns
    n, width = codes.shape
    near, rows = np.empty((n, most), dtype=np.int64), np.zeros((width, grid.shape[2]))
    there = np.zeros((width, grid.shape[2]), dtype=np.uint8)
    for a in range(n):
        for j in range(width):
            there[j, codes[a, j]] = 1
    for a in range(n):
        for i in range(most):
            near[a, i] = -1
        for j in range(width if wanted[a] else 0):
            p = codes[a, j]
            for q in range(grid.shape[2]):
                if there[j, q]:
                    low, high = min(p, q), max(p, q)
                    both = (low, low, high, high)
                    if kinds[j, 0] == SET:
                        both = ((1 << p) | (1 << q), 0 * p, 0 * p, 0 * p)
                    rows[j, q] = scale[j] * label_width(kinds, grid, j, both, PAIR)
        if wanted[a]:
            nearest_rows(rows, codes, a, near)
    return near
