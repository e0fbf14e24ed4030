"""The tree of the originals: split where they differ most, with what is below each node."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sievert.arrays import Bools, Floats, Ints
from sievert.commands.attack.linkage.space import DistanceSpace, File


class SearchTree(NamedTuple):
    """Originals in the order of the leaves, and for each node what is below it."""

    file: File
    times: Ints  # how often each occurs
    rows: Ints  # where each was before
    roots: Ints  # the node of each block, or -1
    levels: int
    first: Ints
    last: Ints
    left: Ints  # the right child is the next; -1 for a leaf
    low: Floats  # NaN where all are missing
    high: Floats
    gaps: Bools  # some are missing
    masks: Ints  # a bit for each code, by its last six bits
    only: Ints  # the code, if there is only one, or -1
    originals: Ints  # how many originals, all told


def build_tree(space: DistanceSpace, file: File, times: Ints, blocks: int, leaf: int) -> SearchTree:
    """Split the originals of a block where they differ most, and so on until few are together."""
    rows = np.argsort(file.block, kind="stable")
    present, first = np.unique(file.block[rows], return_index=True)
    last = np.append(first[1:], len(rows))
    roots = np.full(blocks, -1)
    roots[present] = np.arange(len(present))
    ranks = np.column_stack((file.places, file.codes))
    levels: list[tuple[Ints, Ints, Ints]] = []
    nodes = 0
    while len(first):
        nodes += len(first)
        large = np.flatnonzero(last - first > leaf)
        cut = _split(space, file, ranks, rows, first[large], last[large])
        large = large[cut > 0]
        cut = cut[cut > 0]
        left = np.full(len(first), -1)
        left[large] = nodes + 2 * np.arange(len(large))
        levels.append((first, last, left))
        first = np.column_stack((first[large], cut)).ravel()
        last = np.column_stack((cut, last[large])).ravel()
    return _bounding_boxes(file.take(rows), times[rows], rows, roots, levels)


def _split(
    space: DistanceSpace, file: File, ranks: Ints, rows: Ints, first: Ints, last: Ints
) -> Ints:
    """Sort runs of rows, each by one column; where to cut them, or 0 if nothing differs."""
    if not len(first):
        return first
    sizes = last - first
    own = np.arange(len(first))
    starts = np.cumsum(sizes) - sizes
    run = np.repeat(own, sizes)
    inside = np.arange(len(run)) - starts[run]
    some = rows[first[run] + inside]
    others = rows[first[run] + (inside + sizes[run] // 2) % sizes[run]]
    spread = [
        *(space.term(j, x[some], x[others]) for j, x in enumerate(file.numbers.T)),
        *(space.mismatch * (x[some] != x[others]) for x in file.codes.T),
    ]
    chosen = np.argmax([np.add.reduceat(s, starts) / sizes for s in spread], axis=0)
    key = ranks[some, chosen[run]]
    by = np.lexsort((key, run))
    rows[first[run] + inside] = some[by]
    key = key[by]
    edges = np.flatnonzero((key[1:] != key[:-1]) & (run[1:] == run[:-1])) + 1
    if not len(edges):
        return np.zeros_like(first)
    middle = starts + sizes // 2
    after = np.minimum(np.searchsorted(edges, middle), len(edges) - 1)
    cuts = edges[np.stack((np.maximum(after - 1, 0), after))]
    off = np.where(run[cuts] == own, np.abs(cuts - middle), len(run))
    nearer = off.argmin(axis=0)
    return np.where(off[nearer, own] < len(run), cuts[nearer, own] - starts + first, 0)


def _bounding_boxes(
    file: File, times: Ints, rows: Ints, roots: Ints, levels: list[tuple[Ints, Ints, Ints]]
) -> SearchTree:
    """What is below each node: of leaves from their originals, of others from their children."""
    first, last, left = (np.concatenate(part) for part in zip(*levels, strict=True))
    leaves = np.flatnonzero(left < 0)
    leaves = leaves[np.argsort(first[leaves])]
    bits = np.uint64(1) << (file.codes & 63).astype(np.uint64)
    parts: list[tuple[np.ufunc, NDArray[Any]]] = [
        (np.fmin, file.numbers),
        (np.fmax, file.numbers),
        (np.logical_or, np.isnan(file.numbers)),
        (np.bitwise_or, bits),
        (np.minimum, file.codes),
        (np.maximum, file.codes),
    ]
    inner = np.flatnonzero(left >= 0)
    by_level = np.split(inner, np.searchsorted(inner, np.cumsum([len(n) for n, _, _ in levels])))
    boxes = [np.zeros((len(left), values.shape[1]), dtype=values.dtype) for _, values in parts]
    for box, (combine, values) in zip(boxes, parts, strict=True):
        box[leaves] = combine.reduceat(values, first[leaves], axis=0)
        for nodes in reversed(by_level):
            box[nodes] = combine(box[left[nodes]], box[left[nodes] + 1])
    low, high, gaps, masks, least, most = boxes
    until = np.concatenate(([0], np.cumsum(times)))
    return SearchTree(
        file=file,
        times=times,
        rows=rows,
        roots=roots,
        levels=len(levels),
        first=first,
        last=last,
        left=left,
        low=low,
        high=high,
        gaps=gaps,
        masks=masks,
        only=np.where(least == most, least, -1),
        originals=until[last] - until[first],
    )
