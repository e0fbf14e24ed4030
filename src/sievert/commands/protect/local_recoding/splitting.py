"""Large classes are split in two, if both parts keep the rules about secrets.

Nothing is borrowed with such rules, so every combination is in one class.
"""

from collections.abc import Iterator

import numpy as np

from sievert.arrays import Ints
from sievert.commands.protect.local_recoding.columns import ColumnArrays
from sievert.commands.protect.local_recoding.costs import gather
from sievert.commands.protect.local_recoding.slack import slack
from sievert.commands.protect.local_recoding.states import (
    AMOUNT,
    OWNER,
    ClassBlock,
    SecretRules,
    first_block,
)

CUTS = 8  # cuts that are tried in a column, beginning with those nearest to the middle


def split_classes(
    columns: ColumnArrays, rules: SecretRules, block: ClassBlock, k: int
) -> ClassBlock:
    """Split each class between two values of the column that costs least; split the parts again."""
    counts = block.pieces[: len(block.codes), AMOUNT]
    owners = block.pieces[: len(block.codes), OWNER]
    order = np.argsort(owners, kind="stable")
    ends = np.flatnonzero(np.diff(owners[order])) + 1
    waiting = np.split(order, ends)
    split = []
    while waiting:
        whole = waiting.pop()
        best = _cost(columns, block, whole)
        halves: tuple[Ints, ...] = ()
        if best > 0.0 and int(counts[whole].sum()) >= 2 * k:
            for parts in _halves(rules, block, whole, counts, k):
                cost = sum(_cost(columns, block, part) for part in parts)
                if cost < best:
                    best = cost
                    halves = parts
        waiting += halves
        if not halves:
            split.append(whole)
    return first_block(block.codes, block.near, counts, block.tallies, split)


def _cost(columns: ColumnArrays, block: ClassBlock, own: Ints) -> float:
    """The cost of some combinations as one class, summed over records."""
    block.own[: len(own), 0] = own
    block.own[: len(own), 1] = block.pieces[own, AMOUNT]
    size = int(block.pieces[own, AMOUNT].sum())
    last = len(block.states) - 1
    return size * float(
        gather(columns, block.codes, block.own, len(own), block.states, last, 1.0, np.inf)
    )


def _halves(
    rules: SecretRules, block: ClassBlock, whole: Ints, counts: Ints, k: int
) -> Iterator[tuple[Ints, Ints]]:
    """Yield for each column two parts that keep the rules, with sizes as equal as possible."""
    for j in range(block.codes.shape[1]):
        own = whole[np.argsort(block.codes[whole, j], kind="stable")]
        cuts = np.flatnonzero(np.diff(block.codes[own, j])) + 1
        sizes = np.cumsum(counts[own])
        lesser = np.minimum(sizes[cuts - 1], sizes[-1] - sizes[cuts - 1])
        near = np.argsort(-lesser, kind="stable")[:CUTS]
        tallies = np.cumsum(block.tallies[own], axis=0)
        for cut in cuts[near[lesser[near] >= k]].tolist():
            below = tallies[cut - 1]
            if slack(rules, below) == 0.0 and slack(rules, tallies[-1] - below) == 0.0:
                yield own[:cut], own[cut:]
                break
