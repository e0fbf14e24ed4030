"""The search for regions: trees grown in several ways, and their nodes chosen as classes."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sievert.arrays import Bools, Floats, Ints
from sievert.commands.protect.local_recoding.columns import ColumnArrays
from sievert.commands.protect.regions.pruning import Choice, best_choice, choose, owners
from sievert.commands.protect.regions.sums import Demands
from sievert.commands.protect.regions.tree import STRICT, SUPPRESS, Growth, Tree, grow

SIZES = (1.0, 0.1, 0.01)  # weights of how much smaller classes get
INFORMATION = (0.0, 1.0, 10.0)  # weights of a bit about the secrets
LARGE = 0.01  # share of the records from which the column of a node is tried out
LARGE_CLASSES = 8  # of the smallest class, the same
ROLLOUTS = 2
MANY = 50_000  # combinations from which only a few trees are grown


@dataclass(frozen=True, eq=False, kw_only=True)
class RegionProblem:
    """Combinations, what their classes must hold, and how many records may be suppressed."""

    columns: ColumnArrays
    roots: Ints  # of every column the width of its root label
    codes: Ints
    counts: Ints
    demands: Demands
    allowed: int

    @property
    def spans(self) -> Ints:
        """Where the values of each secret that a limit is on stand in a tally."""
        sums = self.demands.sums
        every = zip(sums.begins.tolist(), sums.ends.tolist(), strict=True)
        spans = sorted({(begin, end) for begin, end in every if end > begin})
        return np.array(spans, dtype=np.int64).reshape(-1, 2)

    def grow(self, growth: Growth, members: Ints | None = None, forced: Ints | None = None) -> Tree:
        """Grow a tree over all combinations, or over `members`."""
        demands = self.demands
        if members is None:
            members = np.arange(len(self.codes))
        if forced is None:
            forced = np.zeros(0, dtype=np.int64)
        return grow(
            self.columns,
            self.roots,
            demands.rules,
            demands.sums,
            self.spans,
            demands.cells,
            self.codes,
            self.counts,
            demands.k,
            demands.tally,
            growth,
            members,
            forced,
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Regions:
    """The classes that were found: of every combination its class, and which are suppressed."""

    owner: Ints
    gone: Bools
    loss: float  # summed over records; a suppressed one has 1
    suppressed: int  # records


@dataclass(frozen=True, eq=False, kw_only=True)
class _Candidate:
    """A tree with its best choice of nodes, and how it was grown."""

    tree: Tree
    choice: Choice
    growth: Growth


def find_regions(problem: RegionProblem) -> Regions | None:
    """Find the regions of least loss among several trees; None if none meets all limits."""
    few = len(problem.codes) <= MANY
    free = np.zeros(len(problem.demands.sums.bounds))
    best = None
    for growth in _growths(problem, free, few=few):
        best = _better(problem, best, growth, problem.grow(growth))
    if best is None:
        return None
    for growth in _growths(problem, best.choice.prices, few=few):
        if growth.prices.any():
            best = _better(problem, best, growth, problem.grow(growth)) or best
    for _ in range(ROLLOUTS if few else 0):
        choice = best.choice
        priced = best.growth._replace(prices=choice.prices)
        for growth in (best.growth, priced):
            tree = _rolled_out(problem, choice, growth)
            best = _better(problem, best, growth, tree) or best
    owner, gone = owners(best.tree, best.choice.steps)
    return Regions(owner=owner, gone=gone, loss=best.choice.loss, suppressed=best.choice.suppressed)


def _growths(problem: RegionProblem, prices: Floats, *, few: bool) -> Iterator[Growth]:
    """The ways in which trees are grown; only some of them where there are many combinations."""
    modes = (STRICT,) if problem.allowed == 0 else (STRICT, SUPPRESS)
    weights = INFORMATION if len(problem.spans) else INFORMATION[:1]
    for mode in modes if few else modes[-1:]:
        for sizes in SIZES if few else SIZES[1:2]:
            for information in weights if few else weights[:2]:
                yield Growth(sizes, information, mode, problem.allowed, prices)


def _better(
    problem: RegionProblem, best: _Candidate | None, growth: Growth, tree: Tree
) -> _Candidate | None:
    """Return what loses less: the best so far, or the best choice of nodes of a tree."""
    choice = best_choice(tree, problem.demands.sums.bounds, problem.allowed)
    if choice is None or (best is not None and best.choice.loss <= choice.loss):
        return best
    return _Candidate(tree=tree, choice=choice, growth=growth)


def _rolled_out(problem: RegionProblem, choice: Choice, growth: Growth) -> Tree:
    """Grow a tree whose large nodes are split in the column that turns out best.

    Every column is tried at a large node, with the rest of its subtree grown as ever.
    """
    records = int(problem.counts.sum())
    large = max(LARGE * records, LARGE_CLASSES * problem.demands.k)
    forced = np.zeros(0, dtype=np.int64)
    tree = problem.grow(growth)
    begin = 0
    end = 1
    while begin < end:
        forced = np.append(forced, np.full(end - len(forced), -1, dtype=np.int64))
        for x in range(begin, end):
            if tree.sizes[x] >= large and tree.firsts[x] >= 0:
                members = tree.order[tree.begins[x] : tree.ends[x]].copy()
                forced[x] = _best_column(problem, choice, growth, members)
        if (forced[begin:end] < 0).all():
            break
        tree = problem.grow(growth, forced=forced)
        below = [
            (int(tree.firsts[x]), int(tree.firsts[x] + tree.children[x]))
            for x in range(begin, end)
            if tree.firsts[x] >= 0
        ]
        begin = min((first for first, _ in below), default=end)
        end = max((last for _, last in below), default=end)
    return tree


def _best_column(problem: RegionProblem, choice: Choice, growth: Growth, members: Ints) -> int:
    """Return the column in which a node is split first at the least loss with its prices."""
    best = np.inf
    column = -1
    most = int(problem.counts.sum())
    for j in range(problem.codes.shape[1]):
        tree = problem.grow(growth, members, np.array([j]))
        if tree.firsts[0] < 0:
            continue
        loss = np.zeros(len(tree.sizes))
        choose(tree, choice.prices, choice.price_of_gone, most, loss)
        split = float(loss[tree.firsts[0] : tree.firsts[0] + tree.children[0]].sum())
        if split < best:
            best = split
            column = j
    return column
