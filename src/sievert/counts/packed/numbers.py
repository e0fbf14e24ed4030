"""Codes in the fields of packed keys; secrets whose values, and so their codes, are in an order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sievert.arrays import Ints
from sievert.counts.answers import NumberCells, Ranked
from sievert.counts.packed.keys import CodedColumn

FEW_BITS = 22


def code_field(keys: Ints, shift: int, bits: int) -> Ints:
    """The codes in the `bits` bits of the keys above their `shift` lowest bits."""
    return ((keys >> np.uint64(shift)) & np.uint64((1 << bits) - 1)).astype(np.int64)


def rank_codes(codes: Ints, bits: int) -> tuple[Ints, Ints]:
    """The codes that occur, 0 (missing) in any case, and the rank of each code among them."""
    if bits > FEW_BITS:
        present = np.union1d(codes, [0])
        return present, np.searchsorted(present, codes)
    occurs = np.bincount(codes, minlength=1 << bits) > 0
    occurs[0] = True
    return np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[codes]


def rank_values(values: Ints, counts: Ints, bounds: Ints, totals: Ints) -> Ranked:
    """The classes by the ranks of their values: codes of numbers are in their order."""
    there = totals > 0
    return Ranked((np.cumsum(there) - 1)[values], counts, bounds[:-1], totals[there])


def number_cells(
    ranked: Ranked, texts: Sequence[str | None], classes: Ints, quasi: Sequence[CodedColumn]
) -> NumberCells:
    """The cells of a secret; its texts by rank, the keys of the classes and how they are coded."""

    def first(some: Ints) -> int:
        keys, columns = classes[some], []
        for column in reversed(quasi):
            codes = (keys & np.uint64((1 << column.bits) - 1)).astype(np.int64)
            columns.append([(text is not None, text or "") for text in column.spell(codes)])
            keys = keys >> np.uint64(column.bits)
        order = list(zip(*columns[::-1], strict=True))
        return int(some[min(range(len(order)), key=order.__getitem__)])

    bounds = np.append(ranked.starts, len(ranked.ranks))
    return NumberCells(tuple(texts), ranked.ranks, ranked.counts, bounds, first)
