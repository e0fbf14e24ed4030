"""Local recoding of a table of combinations: blocks, the classes in each, and their pieces."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from sievert.arrays import Ints
from sievert.commands.protect.local_recoding.blocks import FEWEST, block_size, split_blocks
from sievert.commands.protect.local_recoding.columns import (
    TREE,
    ColumnArrays,
    LocalColumn,
    column_arrays,
)
from sievert.commands.protect.local_recoding.costs import COMPILED, nearest_combinations
from sievert.commands.protect.local_recoding.exchanges import dissolve_classes, improve_classes
from sievert.commands.protect.local_recoding.merging import holds_rules, join_classes
from sievert.commands.protect.local_recoding.slack import slack
from sievert.commands.protect.local_recoding.splitting import split_classes
from sievert.commands.protect.local_recoding.states import (
    AMOUNT,
    COMBINATION,
    OWNER,
    ClassBlock,
    SecretRules,
    first_block,
    secret_rules_arrays,
)
from sievert.methods.full_domain import SecretCells
from sievert.methods.full_domain.rules import CLASS_RULES
from sievert.numerics.acceleration import thread_count

TALLIES = 1 << 25  # numbers in the tallies of a block
# The nearest combinations among which partners are searched, those with which pieces are exchanged,
# and the sweeps over all classes to exchange them.
EFFORT = (64, 12, 6)
LESS = (24, 4, 1)  # of a table with more than MANY combinations, in which others are near enough
MANY = 100_000
UNCOMPILED = (12, 2, 1)  # if numba is missing; blocks are the smallest then
WIDE = 256  # the nearest combinations to join with, if a rule bounds a distance


@dataclass(frozen=True, eq=False)
class Pieces:
    """The pieces of classes: `amount` records of `combination` are in the class `owner`."""

    combination: Ints
    amount: Ints
    owner: Ints


def recode_locally(
    columns: Sequence[LocalColumn],
    codes: Ints,
    counts: Ints,
    secrets: Sequence[SecretCells],
    *,
    k: int,
    weights: Sequence[float],
    most: int | None = None,
    effort: tuple[int, int, int] | None = None,
) -> Pieces:
    """Make classes of at least k records that keep the rules, if all records together do.

    `codes[i, j]` is the position of combination i in column j. The result depends only on the
    combinations and their counts, so the order of the records does not matter.
    """
    arrays = column_arrays(columns, weights)
    rules = secret_rules_arrays(secrets)
    # Columns in which classes differ at a high cost come first; others often need no look then.
    order = np.argsort(-codes.std(axis=0) * arrays.scale, kind="stable")
    arrays = ColumnArrays(*(part[order] for part in arrays))
    codes = np.ascontiguousarray(codes[:, order])
    tallies = _Tallies([s for s in secrets if s.rules], len(codes))
    most = most or (block_size(len(codes)) if COMPILED else FEWEST)
    most = max(2, min(most, TALLIES // max(tallies.values, 1)))
    fitness = _Fitness(rules=rules, counts=counts, tallies=tallies, k=k)
    blocks = [_sort(codes, ids) for ids in split_blocks(codes, arrays.scale, most, fitness)]
    chosen = _default_effort(len(codes)) if effort is None else effort

    def solve(ids: Ints) -> ClassBlock:
        return _solve(arrays, rules, codes[ids], counts[ids], tallies.of(ids), k, chosen)

    solved: list[tuple[Ints, ClassBlock]] = []
    with ThreadPoolExecutor(thread_count(None)) as pool:  # the loops run without the GIL
        parts = list(zip(blocks, pool.map(solve, blocks), strict=True))
    for ids, block in parts:
        # A block that cannot hold the rules by itself is recoded together with the one before it.
        while solved and not all(holds_rules(rules, b, k) for b in (block, solved[-1][1])):
            ids = _sort(codes, np.append(solved.pop()[0], ids))
            block = solve(ids)
        solved.append((ids, block))
    return _join_pieces([_pieces_of(block, ids) for ids, block in solved])


def _default_effort(combinations: int) -> tuple[int, int, int]:
    """The effort for a table with a number of combinations."""
    if not COMPILED:
        return UNCOMPILED
    return EFFORT if combinations <= MANY else LESS


def _sort(codes: Ints, ids: Ints) -> Ints:
    """Sort combinations by their codes, so that combinations which begin alike are neighbours."""
    return ids[np.lexsort(codes[ids].T[::-1])]


def _solve(
    arrays: ColumnArrays,
    rules: SecretRules,
    codes: Ints,
    counts: Ints,
    tallies: Ints,
    k: int,
    effort: tuple[int, int, int],
) -> ClassBlock:
    """Make the classes of one block."""
    most, nearer, sweeps = effort
    convex = bool(rules.rules.gradual.any())
    wanted = counts < 2 * k if not len(rules.secrets) else np.ones(len(counts), dtype=bool)
    near = nearest_combinations(arrays, codes, wanted, WIDE if convex else most)
    block = first_block(codes, near, counts, tallies)
    join_classes(arrays, rules, block, k, convex)
    if len(rules.secrets):
        block = split_classes(arrays, rules, block, k)
        join_classes(arrays, rules, block, k, convex)
    if bool((arrays.kinds[:, 0] == TREE).all()):  # a wide label takes further records at no cost
        dissolve_classes(arrays, rules, block, k)
    improve_classes(arrays, rules, block, k, sweeps, nearer)
    join_classes(arrays, rules, block, k, convex)  # pieces that stayed in their class
    return block


class _Fitness:
    """The fitness of combinations to be recoded by themselves: 2 (fit), 1 (just fit) or 0.

    They need k records, and must keep the rules as one class. They are fit if they keep half the
    limit on a distance from the table: a block near the limit would become one class or few.
    """

    def __init__(self, rules: SecretRules, counts: Ints, tallies: "_Tallies", k: int) -> None:
        self.rules = rules
        self.counts = counts
        self.tallies = tallies
        self.k = k
        of_classes = list(CLASS_RULES.values())
        distances = [of_classes[number].distance for number in rules.rules.numbers]
        limits = rules.rules.limits / np.where(distances, 2.0, 1.0)
        self.strict = rules._replace(rules=rules.rules._replace(limits=limits))

    def __call__(self, ids: Ints) -> int:
        if int(self.counts[ids].sum()) < self.k:
            return 0
        if not len(self.rules.secrets):
            return 2
        tally = self.tallies.of(ids).sum(axis=0)
        if slack(self.rules, tally) > 0:
            return 0
        if slack(self.strict, tally) > 0:
            return 1
        return 2


class _Tallies:
    """The number of records with each value of the secrets, for each combination."""

    def __init__(self, secrets: Sequence[SecretCells], combinations: int) -> None:
        self.begins = np.cumsum([0, *(s.values for s in secrets)])
        self.values = int(self.begins[-1])
        self.cells = []
        for s in secrets:
            order = np.argsort(s.combination, kind="stable")
            starts = np.searchsorted(s.combination[order], np.arange(combinations + 1))
            self.cells.append((starts, s.value[order], s.counts[order]))

    def of(self, ids: Ints) -> Ints:
        """Count the values of the combinations `ids`, one secret beside the other."""
        tallies = np.zeros((len(ids), self.values), dtype=np.int64)
        for begin, (starts, value, counts) in zip(self.begins, self.cells, strict=False):
            sizes = starts[ids + 1] - starts[ids]
            row = np.repeat(np.arange(len(ids)), sizes)
            within = np.arange(len(row)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
            cell = starts[ids][row] + within
            np.add.at(tallies, (row, begin + value[cell]), counts[cell])
        return tallies


def _pieces_of(block: ClassBlock, ids: Ints) -> Pieces:
    """The pieces of a block, by class; pieces of one combination in one class become one."""
    pieces = block.pieces[: int(block.number[0])]
    width = len(ids)
    distinct, at = np.unique(pieces[:, OWNER] * width + pieces[:, COMBINATION], return_inverse=True)
    amounts = np.bincount(at, pieces[:, AMOUNT]).astype(np.int64)
    return Pieces(ids[distinct % width], amounts, distinct // width)


def _join_pieces(parts: Sequence[Pieces]) -> Pieces:
    """Put the pieces of all blocks together, with new numbers for their classes."""
    ends = np.cumsum([0, *(int(p.owner.max()) + 1 for p in parts)])
    owners = [p.owner + end for p, end in zip(parts, ends[:-1], strict=True)]
    owner = np.unique(np.concatenate(owners), return_inverse=True)[1]
    return Pieces(
        np.concatenate([p.combination for p in parts]),
        np.concatenate([p.amount for p in parts]),
        owner,
    )
