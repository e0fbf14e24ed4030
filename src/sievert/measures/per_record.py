"""Numbers for each record: computed once for each kind of class or cell, joined by the engine."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from sievert.counts.answers import JointCounts, Sizes
from sievert.measures import kernel

Column = tuple[str, Sequence[Any]]


def of_class(sizes: Sizes, records: int) -> dict[str, Column]:
    """For each class size: the size, and the bits log2(N/n_q) that single the class out."""
    return {
        "nq": ("int", sizes.sizes.tolist()),
        "class_size": ("int", sizes.sizes.tolist()),
        "identity_bits": ("float", kernel.log2_ratio(sizes.sizes, records).tolist()),
    }


def of_cell(cells: JointCounts, records: int, secret: str) -> dict[str, Column]:
    """For each kind of cell: p(s|q) of the record's own value, and log2(p(s|q)/p(s))."""
    posterior = [
        kernel.ratio(int(n), int(q)) for n, q in zip(cells.count, cells.class_size, strict=True)
    ]
    gain = [
        kernel.ln(Fraction(int(n) * records, int(q) * int(s))) / kernel.LN2
        for n, q, s in zip(cells.count, cells.class_size, cells.value_size, strict=True)
    ]
    return {
        "nq": ("int", cells.class_size.tolist()),
        "ns": ("int", cells.value_size.tolist()),
        "n": ("int", cells.count.tolist()),
        f"{secret}.posterior": ("float", posterior),
        f"{secret}.information_gain": ("float", gain),
    }
