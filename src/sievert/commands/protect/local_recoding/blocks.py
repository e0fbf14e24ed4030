"""Combinations split into blocks of near ones, each recoded by itself: a kd-tree."""

from collections.abc import Callable

import numpy as np

from sievert.arrays import Floats, Ints

MOST, FEWEST = 12_000, 500  # combinations that a block may have, by how many the table has
PAIRS = 10**8  # of combinations that may be compared, unless blocks get too small by it
Judge = Callable[[Ints], int]


def block_size(combinations: int) -> int:
    """How many combinations a block of a table has at most.

    The nearest others are near where there are many, and every combination is compared with those
    of its block: the time hardly grows up to 200,000 combinations, and in proportion from there on.
    """
    return max(FEWEST, min(MOST, PAIRS // max(combinations, 1)))


def split_blocks(codes: Ints, scale: Floats, most: int, fitness: Judge) -> list[Ints]:
    """Blocks of at most `most` combinations, if each of them is fit to be recoded by itself.

    A block is split in the column in which its records differ most, by what a label costs there;
    between two values, if that leaves a quarter on either side. `fitness` of combinations is 2 if
    they are fit, 1 if they are just so, which is enough for blocks four times too large, and 0 if
    they are not: then the block is split in another column, or not at all.
    """
    waiting, blocks = [np.arange(len(codes))], []
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
    """The best of the halves that are fit; none if no column gives such."""
    own = codes[block]
    spread, best = own.std(axis=0) * scale, 0 if len(block) > 4 * most else 1
    halves: tuple[Ints, Ints] | tuple[()] = ()
    for j in np.argsort(-spread, kind="stable"):
        if spread[j] == 0 or best == 2:
            break
        parts = _halves(block, own[:, j])
        worst = min(map(fitness, parts))
        if worst > best:
            halves, best = parts, worst
    return halves


def _halves(block: Ints, values: Ints) -> tuple[Ints, Ints]:
    order, middle = np.argsort(values, kind="stable"), len(block) // 2
    cuts = np.flatnonzero(np.diff(values[order])) + 1
    if len(cuts):
        nearest = int(cuts[np.argmin(np.abs(cuts - middle))])
        middle = nearest if len(block) <= 4 * min(nearest, len(block) - nearest) else middle
    return np.sort(block[order[:middle]]), np.sort(block[order[middle:]])
