"""Compiled loops of local recoding: what a class costs with others, and the nearest other class."""

from __future__ import annotations

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.methods.full_domain.kernels import (
    BETA,
    ENTROPY,
    NAMED,
    breaks_other,
    rule_distance,
)
from sievert.methods.local.columns import INTERVAL, TREE, ColumnArrays
from sievert.methods.local.states import NOWHERE, ClassBlock, SecretRules
from sievert.numerics.acceleration import jit

loop = jit  # the loops of `merging` are compiled too


@jit
def count_bits(mask: int) -> int:
    """The number of ones in a mask."""
    mask -= (mask >> 1) & 0x5555555555555555
    mask = (mask & 0x3333333333333333) + ((mask >> 2) & 0x3333333333333333)
    mask = (mask + (mask >> 4)) & 0x0F0F0F0F0F0F0F0F
    return ((mask * 0x0101010101010101) >> 56) & 0x7F


@jit
def set_width(masks: Ints, missing: Ints, j: int, once: int, twice: int) -> int:
    """How many values are below the labels of a set, less one; `once` are those to be replaced."""
    union = once | twice
    if union & (union - 1) == 0:
        return 0
    cover = union
    once |= union & missing[j]  # missing and other values: only the root has both below it
    while once:
        low = once & -once
        cover |= masks[j, count_bits(low - 1)]
        once ^= low
    return count_bits(cover) - 1


@jit
def interval_width(
    first: Ints, last: Ints, above: Ints, j: int, s: int, t: int, u: int, v: int
) -> int:
    """How many values an interval has, less one; s to v are the numbers of its state."""
    if s == u:
        return 0
    low = s if t == s else first[j, above[j, s], s]
    high = u if v == u else last[j, above[j, u], u]
    return high - low


@jit
def tree_width(first: Ints, last: Ints, j: int, low: int, high: int) -> int:
    """How many values are below the lowest label of two positions, less one."""
    level = 0
    while first[j, level, low] != first[j, level, high]:
        level += 1
    width: int = last[j, level, low] - first[j, level, low]
    return width


@jit
def state_cost(columns: ColumnArrays, x: Ints, a: int) -> float:
    """What a class costs per record."""
    first, last, cost = columns.first, columns.last, 0.0
    for j in range(len(columns.kinds)):
        s, t, u, v = x[a, j]
        if columns.kinds[j] == TREE:
            width = t - s
        elif columns.kinds[j] == INTERVAL:
            width = interval_width(first, last, columns.above, j, s, t, u, v)
        else:
            width = set_width(columns.masks, columns.missing, j, s, t)
        cost += columns.scale[j] * width
    return cost


@jit
def join_column(
    columns: ColumnArrays, j: int, x: Ints, a: int, b: int
) -> tuple[int, int, int, int]:
    """The state in a column of classes a and b together."""
    kind = columns.kinds[j]
    if kind == TREE:
        low, high = min(x[a, j, 0], x[b, j, 0]), max(x[a, j, 1], x[b, j, 1])
        if low == high:
            return low, high, 0, 0
        level = 0
        while columns.first[j, level, low] != columns.first[j, level, high]:
            level += 1
        return columns.first[j, level, low], columns.last[j, level, low], 0, 0
    if kind == INTERVAL:
        return (
            min(x[a, j, 0], x[b, j, 0]),
            min(max(x[a, j, 0], x[b, j, 0]), min(x[a, j, 1], x[b, j, 1])),
            max(x[a, j, 2], x[b, j, 2]),
            max(min(x[a, j, 2], x[b, j, 2]), max(x[a, j, 3], x[b, j, 3])),
        )
    twice = x[a, j, 1] | x[b, j, 1] | (x[a, j, 0] & x[b, j, 0])
    return (x[a, j, 0] | x[b, j, 0]) & ~twice, twice, 0, 0


# One loop with everything in it: tuples and arrays are slow to pass on in the innermost loop.
@jit
def nearest(
    columns: ColumnArrays,
    block: ClassBlock,
    of: tuple[int, int, int, float, float],
    k: int,
    merits: Floats,
) -> tuple[float, int, int, int]:
    """What costs least together with a class: how much, which one, how many records, which piece.

    `of` is the row of its state, its number, its size, its cost per record, and from how much on
    another is of no use (the answer is then that class -1 costs so much).
    With `merits`, the cost is divided by that of the other class, if that has any.
    Unless k is 0, a class of more than k records lends some of one of its pieces, as many as are
    lacking, or two if that costs less; other classes are taken whole (the piece is -1).
    """
    kinds, first, last, above = columns.kinds, columns.first, columns.last, columns.above
    masks, missing, scale, states = columns.masks, columns.missing, columns.scale, block.states
    mine, a, size, cost, most = of
    lacking, classes = max(0, k - size), len(block.sizes)
    best, partner, taken, source = most, -1, 0, -1
    for row in range(classes + (block.number[0] if lacking else 0)):
        p = row - classes
        b = row if p < 0 else block.owners[p]
        n = block.sizes[b] if p < 0 else lacking
        lends = 0 < lacking <= block.sizes[b] - k
        if b == a or n == 0 or (lends if p < 0 else not lends or n > block.amounts[p]):
            continue
        worth = 1.0 if len(merits) == 0 else merits[b]
        if worth <= 0.0:
            continue
        at = b if p < 0 else classes + block.combinations[p]
        while True:
            base, single, union = size * cost + n * block.costs[b], p >= 0 and n == 1, 0.0
            for j in range(len(kinds)):
                q, r, s, t = (
                    states[mine, j, 0],
                    states[mine, j, 1],
                    states[at, j, 0],
                    states[at, j, 1],
                )
                if kinds[j] == TREE:
                    low, high = min(q, s), max(r, t)
                    if low == high:
                        continue
                    width = tree_width(first, last, j, low, high)
                elif kinds[j] == INTERVAL:
                    u, v, w, x = (
                        states[mine, j, 2],
                        states[mine, j, 3],
                        states[at, j, 2],
                        states[at, j, 3],
                    )
                    if single:
                        t, x = NOWHERE, -1
                    low, high = min(max(q, s), min(r, t)), max(min(u, w), max(v, x))
                    q, u = min(q, s), max(u, w)
                    width = interval_width(first, last, above, j, q, low, u, high)
                else:
                    if single:
                        s, t = s | t, 0
                    twice = r | t | (q & s)
                    width = set_width(masks, missing, j, (q | s) & ~twice, twice)
                union += scale[j] * width
                if (size + n) * union - base >= best * worth:
                    break
            more = ((size + n) * union - base) / worth
            if more < best:
                best, partner, taken, source = more, b, n, p
            if not single or block.amounts[p] < 2 or block.sizes[b] - k < 2:
                break
            n = 2
    return best, partner, taken, max(source, -1)


@jit
def slack(rules: SecretRules, tally: Ints) -> float:
    """How far a class is from holding the rules about secrets, in records; 0 if it holds them.

    `tally` counts its values, secret by secret. For a rule that bounds a distance it is how far
    that is beyond its limit, for every record; for another rule that is broken, every record.
    """
    total = 0.0
    for s in range(len(rules.begins) - 1):
        own = tally[rules.begins[s] : rules.begins[s + 1]]
        totals = rules.totals[rules.begins[s] : rules.begins[s + 1]]
        tree = rules.trees[s, : rules.heights[s], : len(own)]
        values, size, seen = 0, own.sum(), np.empty(len(own), dtype=np.int64)
        for v in range(len(own)):
            if own[v] > 0:
                seen[values] = v
                values += 1
        for r in range(len(rules.kinds)):
            kind, limit = rules.kinds[r], rules.limits[r]
            if rules.secrets[r] != s:
                continue
            if ENTROPY <= kind <= BETA and kind != NAMED:
                over = rule_distance(kind, limit, own, seen[:values], size, totals, tree)
                over -= 0.0 if kind == ENTROPY else limit
                total += size * over if over > (1e-12 if kind == ENTROPY else 0.0) else 0.0
            elif breaks_other(
                *(kind, limit, rules.values[r], own),
                *(seen[:values], size, totals, rules.missing[s]),
            ):
                total += size
    return total
