"""What `kernels` has in NumPy, for machines without numba: the same answers, more slowly."""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.commands.protect.local_recoding.states import SecretRules
from sievert.methods.full_domain.plain import judge_tallies
from sievert.methods.full_domain.rules import CONVEX, KINDS

COMPILED = False
F = TypeVar("F", bound=Callable[..., Any])


def loop(function: F) -> F:
    """A loop of `costs` and `merging` as it is."""
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
