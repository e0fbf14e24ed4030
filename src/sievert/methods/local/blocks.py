"""Combinations split into blocks of near ones, each recoded by itself: a kd-tree."""

from __future__ import annotations

import numpy as np

from sievert.arrays import Floats, Ints

MOST = 2000  # combinations of a block


def split_blocks(codes: Ints, counts: Ints, scale: Floats, least: int, most: int) -> list[Ints]:
    """Blocks of at most `most` combinations, if each of them can have `least` records.

    A block is split in the column in which its records differ most, by what a label costs there;
    between two values, if that leaves a quarter on either side.
    """
    waiting, blocks = [np.arange(len(codes))], []
    while waiting:
        block = waiting.pop()
        halves = _split(block, codes, scale) if len(block) > most else ()
        if halves and all(int(counts[half].sum()) >= least for half in halves):
            waiting += halves[::-1]
        else:
            blocks.append(block)
    return blocks


def _split(block: Ints, codes: Ints, scale: Floats) -> tuple[Ints, Ints]:
    own = codes[block]
    widest = int(np.argmax(own.std(axis=0) * scale))
    order = np.argsort(own[:, widest], kind="stable")
    ordered, middle = own[order, widest], len(block) // 2
    cuts = np.flatnonzero(np.diff(ordered)) + 1
    if len(cuts):
        nearest = int(cuts[np.argmin(np.abs(cuts - middle))])
        middle = nearest if len(block) <= 4 * min(nearest, len(block) - nearest) else middle
    return np.sort(block[order[:middle]]), np.sort(block[order[middle:]])
