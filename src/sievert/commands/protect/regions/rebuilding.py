"""Neighbouring classes made anew: whole combinations are dealt again among a few near classes.

A class and its nearest ones give their combinations to a pool, in which classes are joined from
single combinations. The new classes take the place of the old ones if the loss with the prices of
the limits falls, every class holds the rules, and no limit on the table is breached.
"""

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.commands.protect.local_recoding.columns import ENDS, ColumnArrays
from sievert.commands.protect.local_recoding.slack import slack
from sievert.commands.protect.local_recoding.states import SecretRules
from sievert.commands.protect.regions.sums import Cells, SumArrays, add_class
from sievert.numerics.acceleration import jit_if_possible

POOL = 120  # combinations of a pool
NEAREST = 9  # classes that join the first one
PERIOD = 100  # tries between two looks at the prices
ROOM = 0.003  # of the records: a limit with more room than this gets cheaper
CHEAPER = 0.85
DEARER = 1.15
DEAREST = 1.5  # times the first price
FREE = 0.7  # of the tries: the limits have prices; then only the loss counts
DUST = 1e-9


@jit_if_possible
def _next(state: Ints) -> int:
    """Return the next of a row of numbers from 0 to 2^31 - 1, the same on every machine."""
    state[0] = (state[0] * 1103515245 + 12345) % 2147483648
    return state[0]


@jit_if_possible
def _fraction(state: Ints) -> float:
    return (_next(state) >> 8) / 8388608.0


@jit_if_possible
def _joint_loss(columns: ColumnArrays, lows: Ints, highs: Ints, a: int, b: int) -> float:
    """What the labels of two boxes together cost per record."""
    loss = 0.0
    grid = columns.grid
    for j in range(lows.shape[1]):
        low = min(lows[a, j], lows[b, j])
        high = max(highs[a, j], highs[b, j])
        if low != high:
            level = ENDS
            while grid[j, level, low] != grid[j, level, high]:
                level += 2
            loss += columns.scale[j] * (grid[j, level + 1, low] - grid[j, level, low])
    return loss


@jit_if_possible
def _join(lows: Ints, highs: Ints, tallies: Ints, sizes: Ints, a: int, b: int) -> None:
    """Class a gets the records of class b."""
    for j in range(lows.shape[1]):
        lows[a, j] = min(lows[a, j], lows[b, j])
        highs[a, j] = max(highs[a, j], highs[b, j])
    for v in range(tallies.shape[1]):
        tallies[a, v] += tallies[b, v]
    sizes[a] += sizes[b]
    sizes[b] = 0


@jit_if_possible
def _holds(rules: SecretRules, size: int, tally: Ints, k: int) -> bool:
    if size < k:
        return False
    if len(rules.rules.numbers) == 0:
        return True
    return slack(rules, tally[: rules.begins[-1]]) == 0.0


@jit_if_possible
def _price(sums: SumArrays, prices: Floats, size: int, tally: Ints, out: Floats) -> float:
    """What a class adds to the limits, at their prices; each by itself in `out`."""
    add_class(sums, size, tally, out)
    total = 0.0
    for m in range(len(prices)):
        total += prices[m] * out[m]
    return total


@jit_if_possible
def _joining_costs(
    columns: ColumnArrays,
    sums: SumArrays,
    prices: Floats,
    lows: Ints,
    highs: Ints,
    sizes: Ints,
    tallies: Ints,
    losses: Floats,
    own_prices: Floats,
    joint: Ints,
    added: Floats,
    x: int,
    y: int,
) -> float:
    """What the loss and the priced sums rise by if the classes x and y are joined."""
    size = sizes[x] + sizes[y]
    more = size * _joint_loss(columns, lows, highs, x, y) - losses[x] - losses[y]
    if len(prices) > 0:
        for v in range(tallies.shape[1]):
            joint[v] = tallies[x, v] + tallies[y, v]
        more += _price(sums, prices, size, joint, added) - own_prices[x] - own_prices[y]
    return float(more)


@jit_if_possible
def rebuild(
    columns: ColumnArrays,
    roots: Ints,
    rules: SecretRules,
    sums: SumArrays,
    cells: Cells,
    codes: Ints,
    counts: Ints,
    k: int,
    places: int,
    first_prices: Floats,
    owner: Ints,
    tries: int,
    seed: int,
) -> float:
    """Improve classes by `tries` pools; return the loss, summed over records.

    `owner` has the class of every combination, -1 of suppressed ones, and is changed in place.
    """
    n = codes.shape[0]
    width = codes.shape[1]
    limits = len(sums.forms)
    state = np.array([seed * 7919 + 12345], dtype=np.int64)
    classes = 0
    for c in range(n):
        classes = max(classes, owner[c] + 1)
    room_for = classes + POOL + 1
    lows = np.full((room_for, width), 1 << 60, dtype=np.int64)
    highs = np.full((room_for, width), -1, dtype=np.int64)
    sizes = np.zeros(room_for, np.int64)
    members = np.zeros(room_for, np.int64)
    heads = np.full(room_for, -1, np.int64)
    after = np.full(n, -1, np.int64)
    tallies = np.zeros((room_for, places), np.int64)
    for c in range(n):
        a = owner[c]
        if a < 0:
            continue
        sizes[a] += counts[c]
        members[a] += 1
        after[c] = heads[a]
        heads[a] = c
        for j in range(width):
            lows[a, j] = min(lows[a, j], codes[c, j])
            highs[a, j] = max(highs[a, j], codes[c, j])
        for e in range(cells.starts[c], cells.starts[c + 1]):
            tallies[a, cells.values[e]] += cells.counts[e]
    losses = np.zeros(room_for)
    own_sums = np.zeros((room_for, limits))
    used = np.zeros(limits)
    total = 0.0
    added = np.zeros(limits)
    for a in range(classes):
        if sizes[a] > 0:
            losses[a] = sizes[a] * _joint_loss(columns, lows, highs, a, a)
            total += losses[a]
            add_class(sums, sizes[a], tallies[a], added)
            for m in range(limits):
                own_sums[a, m] = added[m]
                used[m] += added[m]
    records = 0
    for c in range(n):
        records += counts[c]
    prices = first_prices.copy()
    # Classes that are there, to draw from.
    there = np.empty(room_for, np.int64)
    place_of = np.full(room_for, -1, np.int64)
    alive = 0
    for a in range(classes):
        if sizes[a] > 0:
            there[alive] = a
            place_of[a] = alive
            alive += 1
    free = np.empty(room_for, np.int64)
    free_number = 0
    for a in range(room_for):
        if place_of[a] < 0:
            free[free_number] = a
            free_number += 1
    # The pool.
    p_low = np.zeros((POOL, width), np.int64)
    p_high = np.zeros((POOL, width), np.int64)
    p_size = np.zeros(POOL, np.int64)
    p_tally = np.zeros((POOL, places), np.int64)
    p_of = np.zeros(POOL, np.int64)
    p_member = np.zeros(POOL, np.int64)
    p_loss = np.zeros(POOL)
    p_price = np.zeros(POOL)
    p_bad = np.zeros(POOL, np.bool_)
    key = np.zeros((POOL, POOL))
    nearest = np.empty(POOL, np.int64)
    joint = np.zeros(places, np.int64)
    chosen = np.empty(NEAREST + 1, np.int64)
    near_cost = np.empty(NEAREST + 1)
    new_sums = np.zeros(limits)
    for turn in range(tries):
        if alive < 2:
            break
        if turn % PERIOD == PERIOD - 1:
            for m in range(limits):
                if turn > FREE * tries:
                    prices[m] = 0.0
                elif sums.bounds[m] - used[m] > ROOM * records:
                    prices[m] *= CHEAPER
                else:
                    prices[m] = min(prices[m] * DEARER, DEAREST * first_prices[m])
        a = there[_next(state) // 64 % alive]
        wanted = 1 + (_next(state) // 64) % NEAREST
        number = 0
        for i in range(alive):
            b = there[i]
            if b == a:
                continue
            lesser = min(sizes[a], sizes[b])
            cost = (sizes[a] + sizes[b]) * _joint_loss(columns, lows, highs, a, b)
            cost = (cost - losses[a] - losses[b]) / lesser * (1.0 + 0.5 * _fraction(state))
            if number == wanted and cost >= near_cost[number - 1]:
                continue
            at = number if number < wanted else number - 1
            number = min(number + 1, wanted)
            while at > 0 and near_cost[at - 1] > cost:
                near_cost[at] = near_cost[at - 1]
                chosen[at] = chosen[at - 1]
                at -= 1
            near_cost[at] = cost
            chosen[at] = b
        chosen[number] = a
        pool = members[a]
        last = 0
        if pool > POOL:
            continue
        while last < number and pool + members[chosen[last]] <= POOL:
            pool += members[chosen[last]]
            last += 1
        chosen[last] = a
        number = last + 1
        if number < 2:
            continue
        before = 0.0
        for i in range(number):
            before += losses[chosen[i]]
            for m in range(limits):
                before += prices[m] * own_sums[chosen[i], m]
        # Every combination is a class by itself.
        at = 0
        for i in range(number):
            c = heads[chosen[i]]
            while c >= 0:
                p_member[at] = c
                p_of[at] = at
                p_size[at] = counts[c]
                for j in range(width):
                    p_low[at, j] = codes[c, j]
                    p_high[at, j] = codes[c, j]
                for v in range(places):
                    p_tally[at, v] = 0
                for e in range(cells.starts[c], cells.starts[c + 1]):
                    p_tally[at, cells.values[e]] += cells.counts[e]
                p_loss[at] = 0.0
                p_price[at] = _price(sums, prices, p_size[at], p_tally[at], added)
                p_bad[at] = not _holds(rules, p_size[at], p_tally[at], k)
                at += 1
                c = after[c]
        for x in range(pool):
            nearest[x] = -1
            for y in range(x):
                key[x, y] = _joining_costs(
                    columns, sums, prices, p_low, p_high, p_size, p_tally, p_loss, p_price,
                    joint, added, x, y,
                )  # fmt: skip
                key[y, x] = key[x, y]
        for x in range(pool):
            for y in range(pool):
                if y != x and (nearest[x] < 0 or key[x, y] < key[x, nearest[x]]):
                    nearest[x] = y
        while True:
            some_bad = False
            for x in range(pool):
                if p_size[x] > 0 and p_bad[x]:
                    some_bad = True
            best = np.inf if some_bad else -DUST
            first = -1
            for x in range(pool):
                if p_size[x] == 0 or nearest[x] < 0 or (some_bad and not p_bad[x]):
                    continue
                more = key[x, nearest[x]]
                weighed = more / p_size[x] if some_bad else more
                if weighed < best:
                    best = weighed
                    first = x
            if first < 0:
                break
            second = nearest[first]
            _join(p_low, p_high, p_tally, p_size, first, second)
            for i in range(pool):
                if p_of[i] == second:
                    p_of[i] = first
            p_loss[first] = p_size[first] * _joint_loss(columns, p_low, p_high, first, first)
            p_price[first] = _price(sums, prices, p_size[first], p_tally[first], added)
            p_bad[first] = not _holds(rules, p_size[first], p_tally[first], k)
            for x in range(pool):
                if p_size[x] == 0 or x == first:
                    continue
                key[x, first] = _joining_costs(
                    columns, sums, prices, p_low, p_high, p_size, p_tally, p_loss, p_price,
                    joint, added, x, first,
                )  # fmt: skip
                key[first, x] = key[x, first]
            for x in range(pool):
                if p_size[x] == 0:
                    continue
                again = x == first or nearest[x] == first or nearest[x] == second
                if again:
                    nearest[x] = -1
                for y in range(pool if again else 0):
                    if y == x or p_size[y] == 0:
                        continue
                    if nearest[x] < 0 or key[x, y] < key[x, nearest[x]]:
                        nearest[x] = y
                if not again and key[x, first] < key[x, nearest[x]]:
                    nearest[x] = first
        after_loss = 0.0
        good = True
        for m in range(limits):
            new_sums[m] = used[m]
            for i in range(number):
                new_sums[m] -= own_sums[chosen[i], m]
        made = 0
        for x in range(pool):
            if p_size[x] == 0:
                continue
            made += 1
            after_loss += p_loss[x] + p_price[x]
            at_root = True
            for j in range(width):
                level = ENDS
                while columns.grid[j, level, p_low[x, j]] != columns.grid[j, level, p_high[x, j]]:
                    level += 2
                first_place = columns.grid[j, level, p_low[x, j]]
                if columns.grid[j, level + 1, p_low[x, j]] - first_place < roots[j]:
                    at_root = False
            if p_bad[x] or at_root:
                good = False
            add_class(sums, p_size[x], p_tally[x], added)
            for m in range(limits):
                new_sums[m] += added[m]
        if not good or after_loss >= before - DUST:
            continue
        for m in range(limits):
            if new_sums[m] > sums.bounds[m] and new_sums[m] > used[m]:
                good = False
        if not good:
            continue
        # The new classes take the place of the old ones.
        for i in range(number):
            b = chosen[i]
            total -= losses[b]
            sizes[b] = 0
            members[b] = 0
            heads[b] = -1
            at = place_of[b]
            alive -= 1
            there[at] = there[alive]
            place_of[there[at]] = at
            place_of[b] = -1
            free[free_number] = b
            free_number += 1
        for m in range(limits):
            used[m] = new_sums[m]
        for x in range(pool):
            if p_size[x] == 0:
                continue
            free_number -= 1
            b = free[free_number]
            place_of[b] = alive
            there[alive] = b
            alive += 1
            sizes[b] = p_size[x]
            losses[b] = p_loss[x]
            total += p_loss[x]
            for j in range(width):
                lows[b, j] = p_low[x, j]
                highs[b, j] = p_high[x, j]
            for v in range(places):
                tallies[b, v] = p_tally[x, v]
            add_class(sums, p_size[x], p_tally[x], added)
            for m in range(limits):
                own_sums[b, m] = added[m]
            for i in range(pool):
                if p_of[i] == x:
                    c = p_member[i]
                    owner[c] = b
                    after[c] = heads[b]
                    heads[b] = c
                    members[b] += 1
    return total
