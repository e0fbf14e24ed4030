"""How many rows lie in a box, and which one if it is one: a tree of boxes, searched box by box."""

import numpy as np

from sievert.arrays import Ints
from sievert.numerics.acceleration import jit_only

LEAF = 16
MANY = 1 << 40


def count_in_orthants(rows: Ints, lows: Ints, highs: Ints, most: int = MANY) -> tuple[Ints, Ints]:
    """Per box, with both ends in it, how many rows lie in it, and one of them; or at least `most`.

    >>> rows = np.array([[0, 0], [1, 5], [2, 3]])
    >>> [each.tolist() for each in count_in_orthants(rows, np.array([[1, 4]]), np.array([[2, 9]]))]
    [[1], [1]]
    """
    counts = np.zeros(len(lows), dtype=np.int64)
    one = np.full(len(lows), -1, dtype=np.int64)
    if len(rows) and len(lows):
        order = np.arange(len(rows))
        boxes = _build(np.ascontiguousarray(rows), order)
        _count(np.ascontiguousarray(rows[order]), order, *boxes, lows, highs, most, counts, one)
    return counts, one


@jit_only
def _build(rows: Ints, order: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Order the rows so that every box is a span of them; the boxes in the order of a search.

    Returns the ends of the spans, where to go on if a box is left out, and the boxes' corners.
    """
    n, d = rows.shape
    room = 4 * (n // LEAF + 1)
    spans = np.zeros((room, 2), dtype=np.int64)
    after = np.zeros(room, dtype=np.int64)
    least = np.zeros((room, d), dtype=np.int64)
    most = np.zeros((room, d), dtype=np.int64)
    parents = np.full(room, -1, dtype=np.int64)
    stack = [(0, n, -1)]
    boxes = 0
    while len(stack):
        first, last, parent = stack.pop()
        here = boxes
        boxes += 1
        spans[here, 0] = first
        spans[here, 1] = last
        parents[here] = parent
        widest = 0
        for c in range(d):
            low = high = rows[order[first], c]
            for i in range(first, last):
                low = min(low, rows[order[i], c])
                high = max(high, rows[order[i], c])
            least[here, c] = low
            most[here, c] = high
            if high - low > most[here, widest] - least[here, widest]:
                widest = c
        if last - first <= LEAF or most[here, widest] == least[here, widest]:
            continue
        own = order[first:last].copy()
        keys = np.empty(last - first, dtype=np.int64)
        for i in range(last - first):
            keys[i] = rows[own[i], widest]
        by = np.argsort(keys, kind="mergesort")
        for i in range(last - first):
            order[first + i] = own[by[i]]
        middle = (first + last) // 2
        stack.append((middle, last, here))
        stack.append((first, middle, here))
    for here in range(boxes - 1, -1, -1):  # the subtree of a box follows it
        after[here] = max(after[here], here + 1)
        if parents[here] >= 0:
            after[parents[here]] = max(after[parents[here]], after[here])
    return spans[:boxes], after[:boxes], least[:boxes], most[:boxes]


@jit_only
def _count(
    rows: Ints,
    order: Ints,
    spans: Ints,
    after: Ints,
    least: Ints,
    most: Ints,
    lows: Ints,
    highs: Ints,
    enough: int,
    counts: Ints,
    one: Ints,
) -> None:
    boxes, d = least.shape
    for q in range(len(lows)):
        total = 0
        at = 0
        while at < boxes and total < enough:
            outside = False
            inside = True
            for c in range(d):
                outside |= most[at, c] < lows[q, c] or least[at, c] > highs[q, c]
                inside &= lows[q, c] <= least[at, c] and most[at, c] <= highs[q, c]
            first = spans[at, 0]
            last = spans[at, 1]
            if outside:
                at = after[at]
            elif inside:
                total += last - first
                one[q] = order[first]
                at = after[at]
            elif after[at] == at + 1:
                for i in range(first, last):
                    within = True
                    for c in range(d):
                        within &= lows[q, c] <= rows[i, c] and rows[i, c] <= highs[q, c]
                    if within:
                        total += 1
                        one[q] = order[i]
                at += 1
            else:
                at += 1
        counts[q] = total
