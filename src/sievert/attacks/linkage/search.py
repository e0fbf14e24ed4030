"""The nearest originals of every released record: searched in NumPy, or compiled."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from sievert.arrays import Bools, Floats, Ints
from sievert.attacks.linkage.space import DistanceSpace, File
from sievert.attacks.linkage.tree import DistanceWeights, Nearest, SearchTree, build_tree, walk
from sievert.counts.cube import run_starts
from sievert.numerics.acceleration import compile_loops

LEAF, WIDE_LEAF = 8, 64  # originals of a leaf of the tree: compiled, in NumPy
CHUNK = 4096  # released records that NumPy searches at a time


def nearest(
    space: DistanceSpace, mine: File, theirs: File, origin: Ints, *, compiled: bool, threads: int
) -> tuple[Ints, Bools]:
    """For each released record the number of nearest originals, and if its origin is among them."""
    firsts, group = mine.groups()
    kinds, kind = theirs.groups()
    blocks = int(max(mine.block.max(), theirs.block.max())) + 1
    compiled = compiled and compile_loops() is not None
    leaf = LEAF if compiled else WIDE_LEAF
    tree = build_tree(space, theirs.take(kinds), np.bincount(kind), blocks, leaf)
    queries = mine.take(firsts)
    if compiled:
        near = _search_compiled(space, tree, queries, threads)
    else:
        near = _search_plain(space, tree, queries)
    place = np.empty_like(tree.rows)
    place[tree.rows] = np.arange(len(place))
    home = np.where(origin >= 0, place[kind[origin]], -1)
    if not space.slack:
        known = np.flatnonzero(home >= 0)
        is_hit = np.zeros(len(home), dtype=bool)
        own = space.total(mine.take(known), tree.file.take(home[known]))
        is_hit[known] = own == near.best[group[known]]
        return near.total[group], is_hit
    is_hit = (home >= 0) & near.sure[group] & (near.where[group] == home)
    total = np.where(near.sure, near.total, 0)
    pair = np.where(home >= 0, group * len(place) + home, -1)
    for some, rows in _resolve_ties(space, tree, queries, np.flatnonzero(~near.sure), near.best):
        np.add.at(total, some, tree.times[rows])
        is_hit |= np.isin(pair, some * len(place) + rows)
    return total[group], is_hit


def _resolve_ties(
    space: DistanceSpace, tree: SearchTree, queries: File, unsure: Ints, best: Floats
) -> Iterator[tuple[Ints, Ints]]:
    """Records and their nearest originals, where integers have to decide which these are."""
    for start in range(0, len(unsure), CHUNK):
        pairs = list(_pairs(space, tree, queries, unsure[start : start + CHUNK], best))
        some, rows = (np.concatenate(part) for part in zip(*pairs, strict=True))
        by = np.argsort(some, kind="stable")
        some, rows = some[by], rows[by]
        far = space.exactly(queries.take(some), tree.file.take(rows))
        starts = run_starts(some)
        least = np.minimum.reduceat(far, starts)
        lengths = np.diff(np.append(starts, len(some)))
        nearest = (far <= np.repeat(least, lengths) + space.tolerance).astype(bool)
        yield some[nearest], rows[nearest]


def _pairs(
    space: DistanceSpace, tree: SearchTree, queries: File, some: Ints, best: Floats
) -> Iterator[tuple[Ints, Ints]]:
    """Records and originals that are nearest as far as doubles can tell."""
    for active, first, last in walk(space, tree, queries, some, best, greedy=False):
        far = space.table(queries.take(active), tree.file.take(np.s_[first:last]))
        one, other = np.nonzero(far <= best[active, None] + space.slack)
        yield active[one], first + other


def _search_plain(space: DistanceSpace, tree: SearchTree, queries: File) -> Nearest:
    """The nearest of every record, many records at a time."""
    size = len(queries.block)
    best = np.full(size, np.inf)
    total, kinds = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    where = np.full(size, -1)
    for start in range(0, size, CHUNK):
        some = np.arange(start, min(size, start + CHUNK))
        for greedy in (True, False):
            for active, first, last in walk(space, tree, queries, some, best, greedy=greedy):
                far = space.table(queries.take(active), tree.file.take(np.s_[first:last]))
                best[active] = np.minimum(best[active], far.min(axis=1))
        for one, rows in _pairs(space, tree, queries, some, best):
            np.add.at(total, one, tree.times[rows])
            np.add.at(kinds, one, 1)
            where[one] = rows
    return Nearest(best, total, where, kinds < 2)


def _search_compiled(
    space: DistanceSpace, tree: SearchTree, queries: File, threads: int
) -> Nearest:
    """The same, record by record."""
    from sievert.attacks.linkage.compiled_search import search_tree

    size = len(queries.block)
    result = Nearest(
        np.full(size, np.inf), np.zeros(size, np.int64), np.full(size, -1), np.ones(size, bool)
    )
    weights = DistanceWeights(space.w, space.lack, space.mismatch, space.power, space.slack)

    def work(part: slice) -> None:
        numbers, codes = queries.numbers[part], queries.codes[part]
        roots = tree.roots[queries.block[part]]
        search_tree(tree, weights, numbers, codes, roots, Nearest._make(a[part] for a in result))

    step = max(1, -(-size // (8 * threads)))
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, [slice(at, at + step) for at in range(0, size, step)]))
    return result
