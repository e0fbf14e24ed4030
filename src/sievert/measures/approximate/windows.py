"""Values cut into runs no longer than a window so that least entropy is left: the loops.

Values x ascend. A run (j, i] consists of x[j] to x[i-1]. Its mass comes from prefix sums in two
parts, `high + low`, and `rest[i]` is the mass from x[i] on. h[i] is the least entropy, in bits, of
the first i values; first[i] is the least j such that (j, i] fits the window. For every i,
h[i] = min over first[i] <= j < i of h[j] + cost(j, i).

Three facts make it quick. First, the cost of two neighbouring runs is strictly concave in their
common end, so the end is where the left run cannot grow or the right run cannot: j is first[i], or
one of the `cols`, beyond which a window no longer reaches as far back. Second, an older j that is
as good as a younger one remains so for all larger i that it reaches (the inverse quadrangle
inequality). Third, rows come in chunks: all rows of a chunk reach back to its start, so only
columns of the chunk before expire.

Compiled loops take arrays, not objects with arrays. That is why they have many parameters.
"""

import math
from typing import Any

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.numerics.acceleration import jit

PER_NAT = 1.4426950408889634  # bits
FEW = 12  # columns a row up to which all are tried
ZERO: Any = np.int64(0)  # a plain 0 would be compiled as a type of its own
DEEP = 512  # more than what is kept of all halvings of any number of rows


@jit
def cost(high: Floats, low: Floats, rest: Floats, j: int, i: int) -> float:
    """-q·log2(q) of the run (j, i], accurate near 0 and near 1."""
    mass: float = (high[i] - high[j]) + (low[i] - low[j])
    if mass > 0.5:
        return -mass * math.log1p(-(high[j] + rest[i])) * PER_NAT
    return -mass * math.log2(mass) if mass > 0.0 else 0.0


@jit
def reach(x: Floats, eps: float, first: Ints) -> None:
    """Write the beginning of the longest run that ends at each place."""
    j = 0
    for i in range(len(x)):
        while x[i] - x[j] > eps:
            j += 1
        first[i + 1] = j


@jit
def least_entropy_from_table(
    costs: Floats, x: Floats, rows: Ints, epsilons: Floats, entropies: Floats
) -> None:
    """Write the least entropy of distributions for windows, pair by pair, from a table of costs.

    The cost of (j, i] is at place i·(i-1)/2 + j of the distribution's row.
    """
    size = len(x)
    first = np.zeros(size + 1, dtype=np.int64)
    h = np.zeros(size + 1)
    eps = -1.0
    for pair in range(len(rows)):
        if epsilons[pair] != eps:
            eps = epsilons[pair]
            reach(x, eps, first)
        row = rows[pair]
        for i in range(1, size + 1):
            base = i * (i - 1) // 2
            least = h[i - 1] + costs[row, base + i - 1]
            for j in range(first[i], i - 1):
                least = min(least, h[j] + costs[row, base + j])
            h[i] = least
        entropies[pair] = h[size]


@jit
def _rectangle(
    high: Floats,
    low: Floats,
    rest: Floats,
    h: Floats,
    best: Floats,
    rows: Ints,
    cols: Ints,
    todo: Ints,
    top: int,
    rfirst: int,
    rlast: int,
    cfirst: int,
    clast: int,
) -> None:
    """Try columns that serve all these rows, ends included; the best is older for later rows."""
    floor = top
    todo[top] = rfirst
    todo[top + 1] = rlast
    todo[top + 2] = cfirst
    todo[top + 3] = clast
    top += 4
    while top > floor:
        top -= 4
        a = todo[top]
        b = todo[top + 1]
        c = todo[top + 2]
        d = todo[top + 3]
        m = (a + b) // 2
        i = rows[m]
        least = np.inf
        where = c
        for k in range(c, d + 1):
            value = h[cols[k]] + cost(high, low, rest, cols[k], i)
            if value < least:
                least = value
                where = k
        best[m] = min(best[m], least)
        if a < m:
            todo[top] = a
            todo[top + 1] = m - 1
            todo[top + 2] = where
            todo[top + 3] = d
            top += 4
        if m < b:
            todo[top] = m + 1
            todo[top + 1] = b
            todo[top + 2] = c
            todo[top + 3] = where
            top += 4


@jit
def _staircase(
    high: Floats,
    low: Floats,
    rest: Floats,
    h: Floats,
    best: Floats,
    rows: Ints,
    cols: Ints,
    begin: Ints,
    todo: Ints,
    rfirst: int,
    rlast: int,
    cend: int,
) -> None:
    """Try columns before `cend` that expire one by one: row m is served from begin[m] on."""
    todo[0] = rfirst
    todo[1] = rlast
    todo[2] = cend
    top = 3
    while top > 0:
        top -= 3
        a = todo[top]
        b = todo[top + 1]
        end = todo[top + 2]
        m = (a + b) // 2
        start = begin[m]
        if m < b:
            todo[top] = m + 1
            todo[top + 1] = b
            todo[top + 2] = end
            top += 3
        if a < m and begin[a] < min(start, end):
            todo[top] = a
            todo[top + 1] = m - 1
            todo[top + 2] = min(start, end)
            top += 3
        if start < end:
            _rectangle(high, low, rest, h, best, rows, cols, todo, top, a, m, start, end - 1)


@jit
def _overtaking_row(
    high: Floats,
    low: Floats,
    rest: Floats,
    h: Floats,
    rows: Ints,
    old: int,
    new: int,
    after: int,
    last: int,
) -> int:
    """The first row behind `after` where the older column is as good; last + 1 if there is none."""
    a = after + 1
    b = last + 1
    while a < b:
        m = (a + b) // 2
        i = rows[m]
        if h[old] + cost(high, low, rest, old, i) <= h[new] + cost(high, low, rest, new, i):
            b = m
        else:
            a = m + 1
    return a


@jit
def _fill_chunk(
    high: Floats,
    low: Floats,
    rest: Floats,
    h: Floats,
    best: Floats,
    rows: Ints,
    first: Ints,
    ends: Ints,
    kept: Ints,
    until: Ints,
    start: int,
    rfirst: int,
    rlast: int,
) -> None:
    """Fill in h of the rows of a chunk; columns of the chunk are kept as long as they may be best.

    The youngest is on top; each is best until the one below overtakes it.
    """
    kept[0] = start
    top = 0
    for r in range(rfirst, rlast + 1):
        i = rows[r]
        while top > 0 and until[top] <= r:
            top -= 1
        least = min(best[r], h[kept[top]] + cost(high, low, rest, kept[top], i))
        j = first[i]
        if j < start:
            least = min(least, h[j] + cost(high, low, rest, j, i))
        h[i] = least
        if r == rlast or not ends[i]:
            continue
        while top > 0 and until[top] <= r + 1:
            top -= 1
        then = rows[r + 1]
        old = kept[top]
        if least + cost(high, low, rest, i, then) >= h[old] + cost(high, low, rest, old, then):
            continue
        when = _overtaking_row(high, low, rest, h, rows, old, i, r + 1, rlast)
        while top > 0 and when >= until[top]:
            top -= 1
            when = _overtaking_row(high, low, rest, h, rows, kept[top], i, r + 1, rlast)
        top += 1
        kept[top] = i
        until[top] = when


@jit
def _one_by_one(
    high: Floats,
    low: Floats,
    rest: Floats,
    h: Floats,
    rows: Ints,
    first: Ints,
    cols: Ints,
    begin: Ints,
    before: Ints,
    nrows: int,
) -> None:
    """Fill in h of all rows, trying every column."""
    for r in range(nrows):
        i = rows[r]
        least = h[first[i]] + cost(high, low, rest, first[i], i)
        for k in range(begin[r], before[i]):
            least = min(least, h[cols[k]] + cost(high, low, rest, cols[k], i))
        h[i] = least


@jit
def least_entropy_by_search(
    x: Floats, high: Floats, low: Floats, rest: Floats, epsilons: Floats, entropies: Floats
) -> None:
    """Write the least entropy for each window in O(n log² n), for positive probabilities."""
    size = len(x)
    places = np.zeros((8, size + 2), dtype=np.int64)  # rows taken by number are known to be whole
    first = places[0]
    ends = places[1]
    rows = places[2]
    cols = places[3]
    begin = places[4]
    kept = places[5]
    until = places[6]
    before = places[7]
    h = np.zeros(size + 1)
    best = np.zeros(size + 1)
    todo = np.empty(DEEP, dtype=np.int64)
    for number in range(len(epsilons)):
        reach(x, epsilons[number], first)
        # ends: 1 where a run ends that cannot be longer. rows: those, and what windows reach.
        ends[0] = before[size] = 1
        for i in range(1, size):
            ends[i] = before[i] = first[i + 1] > first[i]
        for i in range(size, 0, -1):
            if before[i]:
                before[first[i]] = 1
        nrows = ncols = ZERO
        for i in range(size + 1):
            rows[nrows] = cols[ncols] = i  # a place that counts for neither is written over
            nrows += before[i] * (i > 0)
            before[i] = ncols  # from here on: how many columns come before a place
            ncols += ends[i]
        tries = 0
        for r in range(nrows):
            begin[r] = before[first[rows[r]]]
            best[r] = np.inf
            tries += before[rows[r]] - begin[r]
        if tries <= FEW * nrows:
            _one_by_one(high, low, rest, h, rows, first, cols, begin, before, nrows)
            entropies[number] = h[size]
            continue
        start = r = ZERO
        while r < nrows:
            rlast = r
            while rlast + 1 < nrows and first[rows[rlast + 1]] <= start:
                rlast += 1
            _fill_chunk(high, low, rest, h, best, rows, first, ends, kept, until, start, r, rlast)
            start = rows[rlast]
            r = last = rlast + 1
            while last < nrows and first[rows[last]] < start:
                last += 1
            if r < last:
                _staircase(
                    high, low, rest, h, best, rows, cols, begin, todo, r, last - 1, before[start]
                )
        entropies[number] = h[size]
