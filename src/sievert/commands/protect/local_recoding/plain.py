"""The functions of `kernels` in NumPy, for machines without numba: slower, the same answers."""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from sievert.arrays import Floats, Ints

COMPILED = False
F = TypeVar("F", bound=Callable[..., Any])


def loop(function: F) -> F:
    """Return a loop of `costs` and `merging` as it is."""
    return function


inner = inlined = loop


def count_bits(mask: int) -> int:
    """The number of ones in a mask."""
    return int(mask).bit_count()


def nearest_rows(rows: Floats, codes: Ints, shared: Ints, a: int, near: Ints) -> None:
    """Put the combinations that are nearest to a in row a of `near`; of equal ones the first."""
    costs = np.zeros(len(codes))
    for j, row in enumerate(rows):
        costs += row[codes[:, j]]
    costs[a] = np.inf
    order = np.argsort(costs, kind="stable")[: min(near.shape[1], len(codes) - 1)]
    near[a, : len(order)] = order
