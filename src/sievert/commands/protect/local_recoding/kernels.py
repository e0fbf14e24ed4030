"""Compiled loops of local recoding that have a form in NumPy in `plain`."""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.numerics.acceleration import jit, jit_with

COMPILED = True
loop = jit  # the loops of `costs` and `merging` are compiled too
F = TypeVar("F", bound=Callable[..., Any])


def inner(function: F) -> F:
    """Compile a function that makes no arrays, and calls none that does (such as `slack`).

    References to its arrays are not counted: that took several times as long as the work itself.
    """
    return jit_with(function, _nrt=False)


def inlined(function: F) -> F:
    """Compile a function as a part of its callers."""
    return jit_with(function, inline="always")


@inner
def count_bits(mask: int) -> int:
    """The number of ones in a mask."""
    mask -= (mask >> 1) & 0x5555555555555555
    mask = (mask & 0x3333333333333333) + ((mask >> 2) & 0x3333333333333333)
    mask = (mask + (mask >> 4)) & 0x0F0F0F0F0F0F0F0F
    return ((mask * 0x0101010101010101) >> 56) & 0x7F


@jit
def nearest_rows(rows: Floats, codes: Ints, shared: Ints, a: int, near: Ints) -> None:
    """Put the combinations that are nearest to a in row a of `near`; of equal ones the first.

    `rows[j, p]` is the cost of value p of column j together with the value of combination a.
    `shared[b]` counts the first columns in which combination b is the same as the one before it:
    all that begin alike are passed over together. Combinations beside a come first.
    """
    n, width = codes.shape
    most = near.shape[1]
    costs = np.empty(most)
    sums = np.zeros(width + 1)
    limit = np.inf
    number = 0
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
                    costs[i] = costs[i - 1]
                    near[a, i] = near[a, i - 1]
                    i -= 1
                costs[i] = cost
                near[a, i] = b
                limit = costs[most - 1] if number == most else limit
            b += 1
            while b < end and shared[b] >= j:
                b += 1
            j = shared[b] if b < end else 0
