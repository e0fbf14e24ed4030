"""Codes in the fields of packed keys; secrets whose values have an order."""

from collections.abc import Callable, Sequence

import numpy as np

from sievert.arrays import Ints
from sievert.counts.answers import NumberCells, Ranked
from sievert.counts.cells import WIDE
from sievert.counts.packed import kernels, run_kernels
from sievert.counts.packed.coding import CodedColumn
from sievert.counts.packed.keys import KeyLayout

FEW_BITS = 22
Spelling = Callable[[CodedColumn, Ints], list[str | None]]  # the texts of codes


def code_field(keys: Ints, shift: int, bits: int) -> Ints:
    """The codes in the `bits` bits of the keys above their `shift` lowest bits."""
    return ((keys >> np.uint64(shift)) & np.uint64((1 << bits) - 1)).astype(np.int64)


def rank_codes(codes: Ints, bits: int) -> tuple[Ints, Ints]:
    """The codes that occur, 0 (missing) in any case, and the rank of each code among them."""
    if bits > FEW_BITS:
        numbers, different = kernels.rank_keys(np.append(codes.view(np.uint64), np.uint64(0)))
        order = np.argsort(different)
        ranks = np.empty(len(order), dtype=np.int64)
        ranks[order] = np.arange(len(order))
        return different[order].view(np.int64), ranks[numbers[:-1]]
    occurs = np.bincount(codes, minlength=1 << bits) > 0
    occurs[0] = True
    return np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[codes]


def rank_values(values: Ints, counts: Ints, bounds: Ints, totals: Ints, order: Ints) -> Ranked:
    """The classes by the ranks of their values; `order` has those of the values that occur."""
    occurs = totals > 0
    ranks = order[np.cumsum(occurs) - 1][values]
    by_rank = np.empty(len(order), dtype=np.int64)
    by_rank[order] = totals[occurs]
    if (order[1:] < order[:-1]).any():  # a word holds the rank and the count
        words = -((ranks << 32) | counts)
        run_kernels.sort_downwards(words, bounds)
        ranks, counts = -words >> 32, -words & 0xFFFFFFFF
    return Ranked(ranks, counts, bounds[:-1], by_rank)


def number_cells(
    ranked: Ranked,
    texts: Sequence[str | None],
    classes: Ints,
    layout: KeyLayout,
    spell: Spelling,
) -> NumberCells:
    """The cells of a secret; its texts by rank, the keys of the classes and how they are coded."""

    def first(some: Ints) -> int:
        columns, places = [], layout.fields(classes[some])
        for column in layout.columns:
            own = spell(column, code_field(*places[column.name], column.bits))
            columns.append([(text is not None, text or "") for text in own])
        order = list(zip(*columns, strict=True))
        return int(some[min(range(len(order)), key=order.__getitem__)])

    bounds = np.append(ranked.starts, len(ranked.ranks))
    return NumberCells(tuple(texts), ranked.ranks, ranked.counts, bounds, first)


assert WIDE == 2**31  # a count and a rank fit one word
