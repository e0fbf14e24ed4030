"""Numbers for each record: computed once for each kind of class or cell, joined by the engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sievert.counts.answers import Joint, Sizes
from sievert.measures import kernel

Column = tuple[str, Sequence[Any]]


def of_class(sizes: Sizes, records: int) -> dict[str, Column]:
    """For each class size: the size, and the bits log2(N/n_q) that single the class out."""
    return {
        "nq": ("int", sizes.sizes.tolist()),
        "class_size": ("int", sizes.sizes.tolist()),
        "identity_bits": ("float", kernel.log2_ratio(sizes.sizes, records).tolist()),
    }


def of_cell(cells: Joint, records: int, secret: str) -> dict[str, Column]:
    """For each kind of cell: p(s|q) of the record's own value, and log2(p(s|q)/p(s))."""
    posterior = [
        kernel.ratio(int(n), int(q)) for n, q in zip(cells.count, cells.class_size, strict=True)
    ]
    gain = [
        _log2_ratio(int(n) * records, int(q) * int(s))
        for n, q, s in zip(cells.count, cells.class_size, cells.value_size, strict=True)
    ]
    return {
        "nq": ("int", cells.class_size.tolist()),
        "ns": ("int", cells.value_size.tolist()),
        "n": ("int", cells.count.tolist()),
        f"{secret}.posterior": ("float", posterior),
        f"{secret}.information_gain": ("float", gain),
    }


def _log2_ratio(top: int, bottom: int) -> float:
    """log2(top/bottom), accurate near 1, positive or negative."""
    if top == bottom:
        return 0.0
    if bottom < 2 * top and top < 2 * bottom:
        return float(np.log1p((top - bottom) / bottom) / kernel.LN2)
    return float(np.log2(top / bottom))
