"""The nearest originals of every released record, in a tree: searched in NumPy, or compiled."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from sievert.arrays import Bools, Floats, Ints
from sievert.commands.attack.linkage.space import DistanceSpace, File
from sievert.commands.attack.linkage.tree import SearchTree, build_tree
from sievert.counts.cube import run_starts
from sievert.numerics.acceleration import compile_loops

LEAF = 512  # originals of a leaf of the tree, searched by compiled loops
WIDE_LEAF = 64  # originals of a leaf of the tree, searched by NumPy
SIDE_BY_SIDE = 128  # originals of a leaf that are compared together
CHUNK = 4096  # released records that NumPy searches at a time


class Nearest(NamedTuple):
    """For each record searched: the least distance, how many originals have it, one of them, and
    whether doubles are enough to say so."""

    best: Floats
    total: Ints
    where: Ints
    sure: Bools


def walk(
    space: DistanceSpace, tree: SearchTree, queries: File, some: Ints, best: Floats, *, greedy: bool
) -> Iterator[tuple[Ints, int, int]]:
    """Leaves with the records that may have their nearest there; greedy: one leaf per record."""
    some = some[np.argsort(queries.block[some], kind="stable")]
    blocks, starts = np.unique(queries.block[some], return_index=True)
    stack = list(zip(tree.roots[blocks].tolist(), np.split(some, starts[1:]), strict=True))
    while stack:
        node, active = stack.pop()
        if node < 0 or not len(active):
            continue
        left = int(tree.left[node])
        if left < 0:
            yield active, int(tree.first[node]), int(tree.last[node])
            continue
        here = queries.take(active)
        near = _lower_bound(space, tree, left, here)
        far = _lower_bound(space, tree, left + 1, here)
        limit = best[active] + space.slack
        one, other = (near <= far, near > far) if greedy else (near <= limit, far <= limit)
        stack += [(left, active[one]), (left + 1, active[other])]


def _lower_bound(space: DistanceSpace, tree: SearchTree, node: int, queries: File) -> Floats:
    """No original of the node is nearer than this."""
    bound = np.zeros(len(queries.block))
    for j, x in enumerate(queries.numbers.T):
        low = tree.low[node, j]
        high = tree.high[node, j]
        lack = space.lack[j]
        gap = np.maximum(0.0, np.maximum(low - x, x - high))
        term = lack if np.isnan(low) else space.w[j] * space.raise_gap(gap)
        bound += np.where(np.isnan(x), 0.0 if tree.gaps[node, j] else lack, term)
    bits = np.uint64(1) << (queries.codes & 63).astype(np.uint64)
    bound += space.mismatch * np.count_nonzero((tree.masks[node] & bits) == 0, axis=1)
    return bound


def nearest(
    space: DistanceSpace, mine: File, theirs: File, origin: Ints, *, compiled: bool, threads: int
) -> tuple[Ints, Bools]:
    """For each released record the number of nearest originals, and if its origin is among them."""
    firsts, group = mine.groups()
    kinds, kind = theirs.groups()
    blocks = int(max(mine.block.max(), theirs.block.max())) + 1
    loops = compile_loops(search_tree) if compiled else None
    leaf = LEAF if loops else WIDE_LEAF
    queries = mine.take(firsts)
    tree = build_tree(space, theirs.take(kinds), np.bincount(kind), blocks, leaf)
    near = (
        _search_compiled(loops[0], space, tree, queries, threads)
        if loops
        else _search_plain(space, tree, queries)
    )
    place = np.argsort(tree.rows)
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
        some = some[by]
        rows = rows[by]
        far = space.exactly(queries.take(some), tree.file.take(rows))
        starts = run_starts(some)
        lengths = np.diff(np.append(starts, len(some)))
        least = np.repeat(np.minimum.reduceat(far, starts), lengths)
        nearest = (far <= least + space.tolerance).astype(bool)
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
    where = np.full(size, -1)
    total, kinds = np.zeros((2, size), dtype=np.int64)
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
    return Nearest(best=best, total=total, where=where, sure=kinds < 2)


def draw_sketch(space: DistanceSpace, file: File) -> tuple[Floats, Floats, Ints]:
    """The originals in single precision: sums of capped gaps are shares of the largest distance.

    Returns a row for each column, an even number of them; the caps; and the order of the columns.
    Columns that distinguish most originals come first.
    """
    shares = space.shares(file)
    caps = space.caps
    gaps = space.raise_gap(np.abs(shares - np.roll(shares, len(shares) // 2, axis=0)))
    order = np.argsort(-np.minimum(gaps, caps).mean(axis=0), kind="stable")
    return np.ascontiguousarray(shares[:, order].T), caps[order], order


def _search_compiled(
    search: Callable[..., None], space: DistanceSpace, tree: SearchTree, queries: File, threads: int
) -> Nearest:
    """The same, record by record, by the compiled `search_tree`."""
    size = len(queries.block)
    result = Nearest(
        best=np.full(size, np.inf),
        total=np.zeros(size, np.int64),
        where=np.full(size, -1),
        sure=np.ones(size, bool),
    )
    columns, caps, order = draw_sketch(space, tree.file)
    sketch = columns, caps, space.margin, space.whole
    weights = space.w, space.lack, space.mismatch, space.power, space.slack

    def work(part: slice) -> None:
        some = queries.take(part)
        near = Nearest._make(a[part] for a in result)
        shares = np.ascontiguousarray(space.shares(some)[:, order])
        search(
            tree, weights, sketch, some.numbers, some.codes, shares, tree.roots[some.block], near
        )

    step = max(1, -(-size // (8 * threads)))
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, [slice(at, at + step) for at in range(0, size, step)]))
    return result


# One long function, with a parameter for each array: with calls for a leaf and for a box it was
# three times slower.
def search_tree(
    tree: SearchTree,
    weights: Any,
    sketch: tuple[Floats, Floats, float, float],
    xs: Floats,
    ks: Ints,
    shares: Floats,
    roots: Ints,
    result: Nearest,
) -> None:
    """Fill in the nearest originals of each record: depth first, the nearer child first.

    Originals of a leaf are compared side by side in single precision, until none of them can be
    nearest. Only originals that may be nearest, by a bound on the error, are compared in doubles.
    """
    numbers = tree.file.numbers
    codes = tree.file.codes
    times = tree.times
    levels = tree.levels
    first = tree.first
    last = tree.last
    left = tree.left
    originals = tree.originals
    low = tree.low
    high = tree.high
    gaps = tree.gaps
    masks = tree.masks
    only = tree.only
    w, lack, mismatch, power, slack = weights
    columns, caps, margin, whole = sketch
    sums = np.zeros(SIDE_BY_SIDE, dtype=np.float32)
    zero = np.float32(0.0)
    best, total, where, sure = result
    stack = np.empty(levels + 2, dtype=np.int64)
    bounds = np.empty(levels + 2)
    flat = np.empty(levels + 2, dtype=np.bool_)  # all originals of the node are equally far
    for i in range(len(xs)):
        if roots[i] < 0:
            continue
        stack[0] = roots[i]
        bounds[0] = 0.0
        flat[0] = False
        top = 1
        near = np.inf
        second = np.inf
        several = 0
        many = 0
        at = -1
        while top > 0:
            top -= 1
            node = stack[top]
            limit = near + slack
            if bounds[top] > limit:
                continue
            if flat[top] and slack == 0.0:
                if bounds[top] < near:
                    near = bounds[top]
                    many = 0
                many += originals[node]
                continue
            if left[node] < 0:
                for start in range(first[node], last[node], SIDE_BY_SIDE):
                    size = min(SIDE_BY_SIDE, last[node] - start)
                    bar = np.float32(limit / whole + margin)
                    candidates = size
                    for j in range(0, len(columns), 2):
                        u = columns[j, start : start + size]
                        v = columns[j + 1, start : start + size]
                        x = shares[i, j]
                        y = shares[i, j + 1]
                        c = caps[j]
                        d = caps[j + 1]
                        for k in range(size):
                            p = abs(u[k] - x)
                            q = abs(v[k] - y)
                            if power == 2:
                                p = p * p
                                q = q * q
                            sums[k] = (sums[k] if j else zero) + (min(p, c) + min(q, d))
                        if j % 8 == 6 or j == len(columns) - 2:
                            candidates = 0
                            for k in range(size):
                                candidates += sums[k] <= bar
                            if candidates == 0:
                                break
                    for k in range(size if candidates else 0):
                        if sums[k] > bar:
                            continue
                        r = start + k
                        far = 0.0
                        for j in range(codes.shape[1]):
                            if codes[r, j] != ks[i, j]:
                                far += mismatch
                        for j in range(numbers.shape[1]):
                            if far > limit:
                                break
                            gap = abs(numbers[r, j] - xs[i, j])
                            if gap == gap:
                                far += w[j] * (gap * gap) if power == 2 else w[j] * gap
                            elif numbers[r, j] == numbers[r, j] or xs[i, j] == xs[i, j]:
                                far += lack[j]
                        if far < near:
                            at = r
                            many = times[r]
                            several = 1
                            second = near
                            near = far
                            limit = near + slack
                        elif far == near:
                            several += 1
                            many += times[r]
                        elif far < second:
                            second = far
                continue
            for child in range(left[node], left[node] + 2):
                bound = 0.0
                even = True
                for j in range(codes.shape[1]):
                    if only[child, j] >= 0:
                        if only[child, j] != ks[i, j]:
                            bound += mismatch
                    elif (masks[child, j] >> np.uint64(ks[i, j] & 63)) & np.uint64(1):
                        even = False
                    else:
                        bound += mismatch
                for j in range(numbers.shape[1]):
                    if bound > limit:
                        break
                    x = xs[i, j]
                    if low[child, j] != low[child, j]:
                        if x == x:
                            bound += lack[j]
                    elif x != x:
                        if gaps[child, j]:
                            even = False
                        else:
                            bound += lack[j]
                    else:
                        gap = max(0.0, low[child, j] - x, x - high[child, j])
                        bound += w[j] * (gap * gap) if power == 2 else w[j] * gap
                        even &= low[child, j] == high[child, j] and not gaps[child, j]
                if bound <= limit:
                    stack[top] = child
                    bounds[top] = bound
                    flat[top] = even
                    top += 1
                    if top > 1 and stack[top - 2] == child - 1 and bounds[top - 2] < bound:
                        # The nearer one on top.
                        stack[top - 1] = child - 1
                        stack[top - 2] = child
                        bounds[top - 1] = bounds[top - 2]
                        bounds[top - 2] = bound
                        flat[top - 1] = flat[top - 2]
                        flat[top - 2] = even
        best[i] = near
        total[i] = many
        where[i] = at
        sure[i] = several < 2 and second > near + slack
