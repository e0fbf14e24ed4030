"""The least entropy of the values of a class, for all of its windows: the loops.

A run that fits the window is never cut: each part would add the entropy of the cut, which is at
least one over the records of the class, far more than rounding can hide. Of two neighbouring runs
one cannot grow into the other (`windows`). Otherwise a value moved from one to the other would
lower the entropy by at least 2.8 over the squared records, which for up to a million records is
more than rounding can hide, too. H of a window is the least of the sums of all cuts. Each sum is
added up and rounded from the first run on, so it does not depend on which windows are solved
together.

A pair of values is one number: the number of its window, and 16 bits for each of the two codes.
"""

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.measures.approximate.curves import FLAT
from sievert.numerics.acceleration import jit

DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)  # times a power of two: its highest six bits tell which
BIT_NUMBERS = np.argsort([(int(DE_BRUIJN) << i & (1 << 64) - 1) >> 58 for i in range(64)])


@jit
def solve_all(costs: Floats, places: Ints, every: bool, h: Floats) -> None:
    """Write to h[i, w] the least entropy of the first i values for each whole window w.

    Rows before the last have only what later rows need. Unless `every`, a run is tried only for
    windows where it and the run before it cannot both grow, and likewise it and the run behind.
    """
    size = len(places)
    top = places[-1]
    for i in range(1, size + 1):
        base = i * (i - 1) // 2
        reach = places[i - 1]
        for w in range(np.uint64(reach), np.uint64(top)):
            h[i, w] = costs[base]
        if i > 1:
            cost = costs[base + i - 1]
            for w in range(np.uint64(reach)):
                h[i, w] = h[i - 1, w] + cost
        j = i - 2
        while j >= 4:  # four beginnings of the last run at a time: what they share is read once
            a = costs[base + j]
            b = costs[base + j - 1]
            c = costs[base + j - 2]
            d = costs[base + j - 3]
            end = max(reach - places[j - 4], places[j])
            if i < size:
                end = min(end, max(top - reach, places[i] - places[j - 3]))
            end = reach if every else min(end, reach)
            common = min(reach - places[j - 3], end)
            fits = np.uint64(reach - places[j - 1]), np.uint64(reach - places[j - 2])
            for w in range(np.uint64(reach - places[j]), np.uint64(common)):
                least = min(h[i, w], h[j, w] + a)
                second = h[j - 1, w] + b
                third = h[j - 2, w] + c
                least = min(least, second if w >= fits[0] else least)
                h[i, w] = min(least, third if w >= fits[1] else least)
            for w in range(np.uint64(common), np.uint64(end)):
                later = min(h[j, w] + a, h[j - 1, w] + b)
                earlier = min(h[j - 2, w] + c, h[j - 3, w] + d)
                h[i, w] = min(h[i, w], min(later, earlier))
            j -= 4
        for k in range(j, 0, -1):
            end = max(reach - places[k - 1], places[k])
            if i < size:
                end = min(end, max(top - reach, places[i] - places[k]))
            end = reach if every else min(end, reach)
            for w in range(np.uint64(reach - places[k]), np.uint64(end)):
                h[i, w] = min(h[i, w], h[k, w] + costs[base + k])


@jit
def rank_pairs(codes: Ints, ranks: Ints, pairs: Ints, bits: Ints, own: Ints) -> int:
    """Write the pairs of a class's values in the order of their distances; return their number.

    `ranks` of two codes is the place of their pair among all `pairs` in that order. `bits` has a
    bit for each place, which is 0 before and after.
    """
    number = 0
    for j in range(len(codes)):
        row = ranks[codes[j]]
        for i in range(j + 1, len(codes)):
            rank = np.uint64(row[codes[i]])
            bits[rank >> np.uint64(6)] |= np.uint64(1) << (rank & np.uint64(63))
    for place in range(len(bits)):
        word = bits[place]
        bits[place] = 0
        while word != 0:
            lowest = word & (~word + np.uint64(1))
            own[number] = pairs[64 * place + BIT_NUMBERS[(lowest * DE_BRUIJN) >> np.uint64(58)]]
            number += 1
            word ^= lowest
    return number


@jit
def solve_narrow(
    costs: Floats,
    pairs: Ints,
    place: Ints,
    last: Ints,
    column: Ints,
    table: Floats,
    h: Floats,
    at: Ints,
    levels: Floats,
) -> int:
    """Write the windows of these pairs where the least entropy falls, and its values there.

    The window 0 is the first. All windows are solved together, with a column of the table for each;
    a run is tried from its own `column` on. Afterwards `last` and `h` are those of the widest
    window. Return the number of falls.
    """
    size = len(last)
    falls = 1
    columns = 1
    for j in range(size):
        last[j] = j + 1
    at[0] = 0
    for pair in pairs:
        begin = place[pair >> 16 & 0xFFFF]
        i = place[pair & 0xFFFF] + 1
        if pair >> 32 != at[columns - 1]:
            at[columns] = pair >> 32
            columns += 1
        column[i * (i - 1) // 2 + begin] = columns - 1
        last[begin] = i
    for i in range(1, size + 1):
        base = i * (i - 1) // 2
        j = i - 2
        cost = costs[base + i - 1]
        for w in range(np.uint64(columns)):
            table[i, w] = table[i - 1, w] + cost
        while j >= 1 and last[j - 1] >= i:  # two runs at a time: what they share is read once
            cost = costs[base + j]
            other = costs[base + j - 1]
            both = column[base + j - 1]
            for w in range(np.uint64(column[base + j]), np.uint64(both)):
                table[i, w] = min(table[i, w], table[j, w] + cost)
            for w in range(np.uint64(both), np.uint64(columns)):
                least = min(table[j, w] + cost, table[j - 1, w] + other)
                table[i, w] = min(table[i, w], least)
            j -= 2
        if j >= 0 and last[j] >= i:
            cost = costs[base + j]
            for w in range(np.uint64(column[base + j]), np.uint64(columns)):
                table[i, w] = min(table[i, w], table[j, w] + cost)
        h[i] = table[i, columns - 1]
    levels[0] = table[size, 0]
    for w in range(1, columns):
        if table[size, w] != levels[falls - 1]:
            at[falls] = at[w]
            levels[falls] = table[size, w]
            falls += 1
    return falls


@jit
def solve_growing(
    costs: Floats,
    pairs: Ints,
    place: Ints,
    every: bool,
    last: Ints,
    eights: Ints,
    h: Floats,
    at: Ints,
    levels: Floats,
    falls: int,
) -> int:
    """Do the same for the windows of the other pairs, one after the other, after `falls` falls.

    The window admits one run after the other: `last[j]` is the end of the longest run from j. An
    improvement is passed on to the runs behind. Unless `every`, of two neighbours one cannot grow
    into the other: behind a run that can grow (change 1), only runs that cannot grow back are
    tried, and from `far` on, where a run to the end can grow back, only runs after runs that cannot
    grow. `eights` has the changes, 0 before and after: eight places without a change are one word
    that is 0.
    """
    size = len(last)
    k = 0
    change = eights.view(np.uint8)
    far = size
    while far > 1 and last[far - 2] == size:
        far -= 1
    while k < len(pairs):
        window = pairs[k] >> 32
        j = size
        while k < len(pairs) and pairs[k] >> 32 == window:
            begin = place[pairs[k] >> 16 & 0xFFFF]
            i = place[pairs[k] & 0xFFFF] + 1
            last[begin] = i
            far = min(far, begin + 1) if i == size else far
            value = h[begin] + costs[i * (i - 1) // 2 + begin]
            if value < h[i]:
                h[i] = value
                change[i] = 2
                j = min(j, i)
            k += 1
        while j < size:
            if change[j] == 0:
                j = (j | 7) + 1 if eights[j >> 3] == 0 else j + 1
                continue
            begin = j + 1 if every or change[j] >= 2 else max(j, last[j - 1]) + 1
            change[j] = 0
            end = last[j]
            here = h[j]
            run = begin * (begin - 1) // 2 + j
            for i in range(np.uint64(begin), np.uint64(end if every else min(end, far))):
                value = here + costs[run]
                before = h[i]
                h[i] = value if value < before else before
                change[i] |= value < before
                run += np.int64(i)
            value = here + costs[end * (end - 1) // 2 + j]
            before = h[end]
            h[end] = value if value < before else before
            change[end] |= np.uint8(2) if value < before else np.uint8(0)
            j += 1
        change[size] = 0
        if h[size] != levels[falls - 1]:
            at[falls] = window
            levels[falls] = h[size]
            falls += 1
    return falls


def order_pairs(places: Floats, windows: Floats) -> Ints:
    """All pairs of values in the order of their distances; `windows` has these distances."""
    first, second = np.triu_indices(len(places), 1)
    lengths = places[second] - places[first]
    order = np.argsort(lengths, kind="stable")
    return np.asarray(
        np.searchsorted(windows, lengths[order]) << 32 | first[order] << 16 | second[order]
    )


def trace_alone(costs: Floats, places: Floats, windows: Floats) -> tuple[Ints, Floats]:
    """Every step of the curve of one distribution: the place of its window, and H from there on."""
    size = len(places)
    pairs = order_pairs(places, windows)
    place = np.arange(size)
    last = np.zeros(size, dtype=np.int64)
    column = np.zeros_like(pairs)
    h = np.zeros(size + 1)
    table = np.zeros((size + 1, 1))
    at = np.zeros(len(windows), dtype=np.int64)
    levels = np.zeros(len(windows))
    eights = np.zeros(size // 8 + 1, dtype=np.uint64)
    falls = solve_narrow(costs, pairs[:0], place, last, column, table, h, at, levels)
    falls = solve_growing(costs, pairs, place, True, last, eights, h, at, levels, falls)
    at = at[:falls]
    levels = levels[:falls]
    step = np.append(True, levels[:-1] - levels[1:] > FLAT * levels[:-1])
    return at[step], levels[step]
