"""The nearest originals of every released record: the loops, compiled."""

from __future__ import annotations

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.attacks.linkage.tree import DistanceWeights, Nearest, SearchTree
from sievert.numerics.acceleration import jit


# One long function: with calls for a leaf and for a box it was three times slower.
@jit
def search_tree(
    tree: SearchTree, weights: DistanceWeights, xs: Floats, ks: Ints, roots: Ints, result: Nearest
) -> None:
    """Fill in the nearest originals of each record: depth first, the nearer child first."""
    numbers, codes, times, levels = tree.file.numbers, tree.file.codes, tree.times, tree.levels
    first, last, left, originals = tree.first, tree.last, tree.left, tree.originals
    low, high, gaps, masks, only = tree.low, tree.high, tree.gaps, tree.masks, tree.only
    w, lack, mismatch, power, slack = weights
    best, total, where, sure = result
    stack = np.empty(levels + 2, dtype=np.int64)
    bounds = np.empty(levels + 2)
    flat = np.empty(levels + 2, dtype=np.bool_)  # all originals of the node are equally far
    for i in range(len(xs)):
        if roots[i] < 0:
            continue
        stack[0], bounds[0], flat[0], top = roots[i], 0.0, False, 1
        near, second, several, many, at = np.inf, np.inf, 0, 0, -1
        while top > 0:
            top -= 1
            node, limit = stack[top], near + slack
            if bounds[top] > limit:
                continue
            if flat[top] and slack == 0.0:
                if bounds[top] < near:
                    near, many = bounds[top], 0
                many += originals[node]
                continue
            if left[node] < 0:
                for r in range(first[node], last[node]):
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
                        near, second, several, many, at = far, near, 1, times[r], r
                        limit = near + slack
                    elif far == near:
                        several += 1
                        many += times[r]
                    elif far < second:
                        second = far
                continue
            for child in range(left[node], left[node] + 2):
                bound, even = 0.0, True
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
                    stack[top], bounds[top], flat[top] = child, bound, even
                    top += 1
                    if top > 1 and stack[top - 2] == child - 1 and bounds[top - 2] < bound:
                        stack[top - 1], stack[top - 2] = child - 1, child  # the nearer one on top
                        bounds[top - 1], bounds[top - 2] = bounds[top - 2], bound
                        flat[top - 1], flat[top - 2] = flat[top - 2], even
        best[i], total[i], where[i] = near, many, at
        sure[i] = several < 2 and second > near + slack
