"""Each column's share of the whole: Shapley values, exact over all subsets or sampled.

phi_i = sum over subsets S without i of |S|!(n-|S|-1)!/n! · (v(S + i) - v(S)): what column i adds,
averaged over all orders in which the columns could become known. They add up to v(all) - v(none).
Shapley 1953.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from sievert.arrays import Floats

LEVEL = 0.95


def exact(values: Floats) -> Floats:
    """From v of every subset: `values[mask]` is of the columns whose bits are set in the mask.

    >>> exact(np.array([0.0, 1.0, 1.0, 4.0])).tolist()
    [2.0, 2.0]
    """
    n = (len(values) - 1).bit_length()
    masks = np.arange(len(values))
    sizes = np.array([m.bit_count() for m in range(len(values))])
    weights = np.array([1.0 / (n * math.comb(n - 1, s)) for s in range(n)])
    found = []
    for i in range(n):
        without = masks[masks >> i & 1 == 0]
        added = values[without | 1 << i] - values[without]
        found.append(math.fsum((weights[sizes[without]] * added).tolist()))
    return np.array(found)


@dataclass(frozen=True)
class SampledShares:
    """Means over sampled orders, a row a function, with half the width of their intervals."""

    values: Floats
    error: Floats
    orders: int
    prefixes: tuple[tuple[int, ...], ...]


def sampled(
    value: Callable[[tuple[int, ...]], Sequence[float]], columns: int, orders: int, seed: int
) -> SampledShares:
    """From orders drawn with equal chances, each taken backwards as well.

    `value` gives the numbers of a set of columns. Every order adds up to the whole, so the means
    do. The interval is Student's over pairs of orders, of 95 % each.
    """
    rng = np.random.default_rng(seed)
    nothing = np.asarray(value(()), dtype=np.float64)
    pairs, prefixes = [], []
    for _ in range(max(2, orders // 2)):
        order = rng.permutation(columns).tolist()
        added = np.zeros((len(nothing), columns))
        for way in (order, order[::-1]):
            before = nothing
            for known in range(1, columns + 1):
                prefix = tuple(sorted(way[:known]))
                prefixes.append(prefix)
                after = np.asarray(value(prefix), dtype=np.float64)
                added[:, way[known - 1]] += (after - before) / 2
                before = after
        pairs.append(added)
    every = np.array(pairs)
    error = every.std(axis=0, ddof=1) / math.sqrt(len(every))
    return SampledShares(
        every.mean(axis=0),
        error * _student(len(every) - 1),
        2 * len(every),
        tuple(prefixes),
    )


def _student(freedom: int) -> float:
    """The quantile of Student's distribution, from that of the normal one.

    >>> round(_student(31), 3)  # 2.040
    2.04
    """
    z = NormalDist().inv_cdf(0.5 + LEVEL / 2)
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return math.fsum(term / freedom**power for power, term in enumerate(terms))


def shares(values: Sequence[float], whole: float) -> list[float | None]:
    """Each as a part of the whole; none where there is nothing to share."""
    return [v / whole if whole else None for v in values]


def to_dict(
    columns: Sequence[str], values: Floats, whole: float, error: Floats | None
) -> dict[str, Any]:
    """As it stands in the JSON: by column the value, its share, and its interval if sampled."""
    found = {}
    parts = shares(values.tolist(), whole)
    for i, column in enumerate(columns):
        value = float(values[i])
        found[column] = {"value": value, "share": parts[i]}
        if error is not None:
            half = float(error[i])
            found[column] |= {"low": value - half, "high": value + half}
    return {"whole": whole, "columns": found}
