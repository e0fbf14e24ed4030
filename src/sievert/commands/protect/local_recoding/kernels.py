"""Compiled loops of local recoding of which `plain` has a form in NumPy."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit

from sievert.arrays import Floats, Ints
from sievert.commands.protect.local_recoding.states import SecretRules
from sievert.methods.full_domain.kernels import (
    ENHANCED,
    ENTROPY,
    NAMED,
    breaks_other,
    rule_excess,
)
from sievert.numerics.acceleration import jit

COMPILED = True
loop = jit  # the loops of `costs` and `merging` are compiled too
F = TypeVar("F", bound=Callable[..., Any])


def inner(function: F) -> F:
    """Compile a function that makes no arrays, nor calls one that does (such as `slack`).

    Nobody counts who uses the given ones: that took several times as long as the work itself.
    """
    return cast("F", njit(cache=True, nogil=True, _nrt=False)(function))


def inlined(function: F) -> F:
    """Compile a function as a part of those that call it."""
    return cast("F", njit(cache=True, nogil=True, inline="always")(function))


@inner
def count_bits(mask: int) -> int:
    """The number of ones in a mask."""
    mask -= (mask >> 1) & 0x5555555555555555
    mask = (mask & 0x3333333333333333) + ((mask >> 2) & 0x3333333333333333)
    mask = (mask + (mask >> 4)) & 0x0F0F0F0F0F0F0F0F
    return ((mask * 0x0101010101010101) >> 56) & 0x7F


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
            if ENTROPY <= kind <= ENHANCED and kind != NAMED:
                over = rule_excess(kind, limit, own, seen[:values], size, totals, tree)
                total += size * max(0.0, over)
            elif breaks_other(
                *(kind, limit, rules.values[r], own),
                *(seen[:values], size, totals, rules.missing[s]),
            ):
                total += size
    return total


@jit
def nearest_rows(rows: Floats, codes: Ints, shared: Ints, a: int, near: Ints) -> None:
    """Put the combinations that are nearest to a in row a of `near`; of equal ones the first.

    `rows[j, p]` is what value p of column j costs together with that of combination a. `shared[b]`
    is in how many columns, from the first on, combination b is the same as the one before it: all
    that begin alike are passed over together, those beside a come first.
    """
    (n, width), most = codes.shape, near.shape[1]
    costs, sums, limit, number = np.empty(most), np.zeros(width + 1), np.inf, 0
    for part in range(2):
        b, end, j = (0, a, 0) if part else (a + 1, n, 0)
        while b < end:
            cost = sums[j]
            while j < width and cost <= limit:
                cost += rows[j, codes[b, j]]
                j += 1
                sums[j] = cost
            if cost < limit or (cost == limit and (number < most or b < near[a, most - 1])):
                i = min(number, most - 1)
                number = min(number + 1, most)
                while i > 0 and (
                    costs[i - 1] > cost or (costs[i - 1] == cost and near[a, i - 1] > b)
                ):
                    costs[i], near[a, i] = costs[i - 1], near[a, i - 1]
                    i -= 1
                costs[i], near[a, i] = cost, b
                limit = costs[most - 1] if number == most else limit
            b += 1
            while b < end and shared[b] >= j:
                b += 1
            j = shared[b] if b < end else 0
