"""Shapley values: the share of each column in what all of them disclose together."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import NormalDist
from typing import Any

import numpy as np

from sievert.arrays import Floats

LEVEL = 0.95


def exact_shares(values: Floats) -> Floats:
    """From v of every subset: `values[mask]` belongs to the columns whose bits are set in the mask.

    phi_i = sum over subsets S without i of |S|!(n-|S|-1)!/n! · (v(S + i) - v(S)): what column i
    adds, averaged over all orders in which the columns could become known. They add up to
    v(all) - v(none). Shapley 1953.

    >>> exact_shares(np.array([0.0, 1.0, 1.0, 4.0])).tolist()
    [2.0, 2.0]
    """
    n = (len(values) - 1).bit_length()
    masks = np.arange(len(values))
    sizes = np.array([m.bit_count() for m in range(len(values))])
    weights = np.array([1.0 / (n * math.comb(n - 1, s)) for s in range(n)])
    return np.array(
        [
            math.fsum((weights[sizes[s]] * (values[s | 1 << i] - values[s])).tolist())
            for i, s in enumerate([masks[masks >> i & 1 == 0] for i in range(n)])
        ]
    )


def sample_shares(
    value: Callable[[tuple[int, ...]], Sequence[float]], columns: int, orders: int, seed: int
) -> tuple[Floats, Floats, list[tuple[int, ...]]]:
    """From orders drawn with equal chances, each taken backwards as well.

    `value` gives the numbers of a set of columns. Every order adds up to the whole, so the means
    do. The interval is Student's over pairs of orders, of 95 % each. Returns the means, one row per
    number, half the width of their intervals, and the sets of columns that were measured.
    """
    rng = np.random.default_rng(seed)
    nothing = np.asarray(value(()), dtype=np.float64)
    pairs, prefixes = [], []
    for _ in range(max(2, orders // 2)):
        order = rng.permutation(columns).tolist()
        increase = np.zeros((len(nothing), columns))
        for way in (order, order[::-1]):
            before = nothing
            for known, column in enumerate(way, 1):
                prefixes.append(tuple(sorted(way[:known])))
                after = np.asarray(value(prefixes[-1]), dtype=np.float64)
                increase[:, column] += (after - before) / 2
                before = after
        pairs.append(increase)
    every = np.array(pairs)
    error = every.std(axis=0, ddof=1) / math.sqrt(len(every))
    return every.mean(axis=0), error * _student(len(every) - 1), prefixes


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


def shares_by_column(
    columns: Sequence[str], values: Floats, whole: float, error: Floats | None
) -> dict[str, Any]:
    """As it stands in the JSON: by column the value, its share, and its interval if sampled."""
    halves = [None] * len(columns) if error is None else error.tolist()
    by_column = {
        column: {"value": value, "share": value / whole if whole else None}
        | ({} if half is None else {"low": value - half, "high": value + half})
        for column, value, half in zip(columns, values.tolist(), halves, strict=True)
    }
    return {"whole": whole, "columns": by_column}
