"""The loops of `kernels` in NumPy, for machines without numba: the same answers, more slowly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.methods.full_domain.plain import judge_tallies
from sievert.methods.full_domain.rules import CONVEX, KINDS
from sievert.methods.local.columns import INTERVAL, TREE, ColumnArrays
from sievert.methods.local.states import NOWHERE, ClassBlock, SecretRules

F = TypeVar("F", bound=Callable[..., Any])


def loop(function: F) -> F:
    """A loop of `merging` as it is."""
    return function


def _widths(columns: ColumnArrays, j: int, states: Ints) -> Ints:
    """How many values the labels of classes have in a column, less one."""
    s, t, u, v = states.T
    if columns.kinds[j] == TREE:
        return np.asarray(t - s)
    if columns.kinds[j] == INTERVAL:
        low = np.where(s == t, s, columns.first[j, columns.above[j, s], s])
        high = np.where(u == v, u, columns.last[j, columns.above[j, u], u])
        return np.where(s == u, 0, high - low)
    union = s | t
    once, cover = s | (union & columns.missing[j]), union.copy()
    for p in np.flatnonzero((np.bitwise_or.reduce(once) >> np.arange(62)) & 1):
        cover |= np.where((once >> p) & 1, columns.masks[j, p], 0)
    bits = ((cover[:, None] >> np.arange(62)) & 1).sum(axis=1)
    return np.where(union & (union - 1), bits - 1, 0)


def _join(columns: ColumnArrays, j: int, a: Ints, b: Ints, single: Any) -> Ints:
    """The states in a column of a class together with each of others, or with a record of each."""
    if columns.kinds[j] == TREE:
        low, high = np.minimum(a[0], b[:, 0]), np.maximum(a[1], b[:, 1])
        first, last = low.copy(), high.copy()
        open_ = low != high
        for level in range(len(columns.first[j])):
            same = open_ & (columns.first[j, level, low] == columns.first[j, level, high])
            first[same] = columns.first[j, level, low[same]]
            last[same] = columns.last[j, level, low[same]]
            open_ &= ~same
        return np.stack([first, last, 0 * low, 0 * low], axis=1)
    if columns.kinds[j] == INTERVAL:
        second, other = np.where(single, NOWHERE, b[:, 1]), np.where(single, -1, b[:, 3])
        low = np.minimum(np.maximum(a[0], b[:, 0]), np.minimum(a[1], second))
        high = np.maximum(np.minimum(a[2], b[:, 2]), np.maximum(a[3], other))
        return np.stack([np.minimum(a[0], b[:, 0]), low, np.maximum(a[2], b[:, 2]), high], axis=1)
    once, twice = np.where(single, b[:, 0] | b[:, 1], b[:, 0]), np.where(single, 0, b[:, 1])
    twice = a[1] | twice | (a[0] & once)
    return np.stack([(a[0] | once) & ~twice, twice, 0 * once, 0 * once], axis=1)


def join_column(
    columns: ColumnArrays, j: int, x: Ints, a: int, b: int
) -> tuple[int, int, int, int]:
    """The state in a column of classes a and b together."""
    s, t, u, v = _join(columns, j, x[a, j], x[b : b + 1, j], False)[0].tolist()
    return s, t, u, v


def state_cost(columns: ColumnArrays, x: Ints, a: int) -> float:
    """What a class costs per record."""
    cost = 0.0
    for j in range(len(columns.kinds)):
        cost += float(columns.scale[j] * _widths(columns, j, x[a : a + 1, j])[0])
    return cost


def nearest(
    columns: ColumnArrays,
    block: ClassBlock,
    of: tuple[int, int, int, float, float],
    k: int,
    merits: Floats,
) -> tuple[float, int, int, int]:
    """What costs least together with a class: how much, which one, how many records, which piece.

    The candidates are in the order of the compiled loop: classes, then pieces with one and with
    two records.
    """
    mine, a, size, cost, most = of
    lacking, classes = max(0, k - size), len(block.sizes)
    everyone, lends = np.arange(classes), (lacking > 0) & (block.sizes - k >= lacking)
    b = everyone[(everyone != a) & (block.sizes > 0) & ~lends]
    owner, n, piece, rows = b, block.sizes[b], np.full(len(b), -1), b
    if lacking:
        every = np.repeat(np.arange(int(block.number[0])), 2 if lacking == 1 else 1)
        wanted = np.full(len(every), lacking)
        if lacking == 1:
            wanted[1::2] = 2
        of_piece = block.owners[every]
        able = (of_piece != a) & (wanted <= block.amounts[every])
        able &= wanted <= block.sizes[of_piece] - k
        every, wanted = every[able], wanted[able]
        owner = np.append(owner, of_piece[able])
        n, piece = np.append(n, wanted), np.append(piece, every)
        rows = np.append(rows, classes + block.combinations[every])
    if not len(rows):
        return most, -1, 0, -1
    union = np.zeros(len(rows))
    for j in range(len(columns.kinds)):
        joint = _join(
            columns, j, block.states[mine, j], block.states[rows, j], (piece >= 0) & (n == 1)
        )
        union += columns.scale[j] * _widths(columns, j, joint)
    more = (size + n) * union - (size * cost + n * block.costs[owner])
    if len(merits):
        worth = merits[owner]
        more = np.where(worth > 0, more / np.where(worth > 0, worth, 1.0), np.inf)
    best = int(np.argmin(more))
    if more[best] >= most:
        return most, -1, 0, -1
    return float(more[best]), int(owner[best]), int(n[best]), int(piece[best])


def slack(rules: SecretRules, tally: Ints) -> float:
    """How far a class is from holding the rules about secrets, in records; 0 if it holds them."""
    total = 0.0
    for r, s in enumerate(rules.secrets):
        begin, end = rules.begins[s], rules.begins[s + 1]
        tree = rules.trees[s, : rules.heights[s], : end - begin]
        kind = KINDS[rules.kinds[r]]
        broken, excess = judge_tallies(
            kind,
            float(rules.limits[r]),
            int(rules.values[r]),
            tally[None, begin:end],
            rules.totals[begin:end],
            tree,
            int(rules.missing[s]),
        )
        if broken[0]:
            size = int(tally[begin:end].sum())
            total += size * float(excess[0]) if kind in CONVEX - {"named"} else size
    return total
