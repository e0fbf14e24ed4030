"""Combinations in blocks of near ones, each recoded by itself: a kd-tree."""

from collections.abc import Callable

import numpy as np

from sievert.arrays import Floats, Ints

MOST = 12_000  # combinations in a block of a small table
FEWEST = 500  # combinations in a block of a large table
PAIRS = 10**8  # pairs of combinations that may be compared, unless blocks get too small
Judge = Callable[[Ints], int]


def block_size(combinations: int) -> int:
    """The largest number of combinations that a block of a table has.

    Every combination is compared with the others in its block. A table with more combinations has
    nearer ones, so smaller blocks do. The time hardly grows up to 200,000 combinations, and in
    proportion from there on.
    """
    return max(FEWEST, min(MOST, PAIRS // max(combinations, 1)))


def split_blocks(codes: Ints, scale: Floats, most: int, fitness: Judge) -> list[Ints]:
    """Split combinations into blocks of at most `most`, as far as each can be recoded by itself.

    A block is split in the column in which its records differ most, by the cost of a label there.
    The cut is between two values if that leaves a quarter on either side. `fitness` of combinations
    is 2 if they are fit to be recoded by themselves, 1 if they are just fit, and 0 if they are not.
    1 is enough for blocks that are four times too large; with 0 the block is split in another
    column, or not at all.
    """
    waiting = [np.arange(len(codes))]
    blocks = []
    while waiting:
        block = waiting.pop()
        halves = _split(block, codes, scale, most, fitness) if len(block) > most else ()
        if halves:
            waiting += halves[::-1]
        else:
            blocks.append(block)
    return blocks


def _split(
    block: Ints, codes: Ints, scale: Floats, most: int, fitness: Judge
) -> tuple[Ints, Ints] | tuple[()]:
    """Choose the best halves that are fit; none if no column gives fit ones."""
    own = codes[block]
    spread = own.std(axis=0) * scale
    best = 0 if len(block) > 4 * most else 1
    halves: tuple[Ints, Ints] | tuple[()] = ()
    for j in np.argsort(-spread, kind="stable"):
        if spread[j] == 0 or best == 2:
            break
        parts = _halves(block, own[:, j])
        worst = min(map(fitness, parts))
        if worst > best:
            halves = parts
            best = worst
    return halves


def _halves(block: Ints, values: Ints) -> tuple[Ints, Ints]:
    """Cut a block in the middle of its values, or between two values near the middle."""
    order = np.argsort(values, kind="stable")
    middle = len(block) // 2
    cuts = np.flatnonzero(np.diff(values[order])) + 1
    if len(cuts):
        nearest = int(cuts[np.argmin(np.abs(cuts - middle))])
        smaller = min(nearest, len(block) - nearest)
        if 4 * smaller >= len(block):
            middle = nearest
    return np.sort(block[order[:middle]]), np.sort(block[order[middle:]])
