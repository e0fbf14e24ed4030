"""A tree of regions: boxes of labels, each split in one column into the labels one level below.

The label of a node in a column is the lowest one above all its records. A node is split in the
column that saves most loss for what it gives away. The tree goes on below what the limits allow;
`pruning` then chooses which nodes become classes.
"""

from typing import NamedTuple

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.commands.protect.local_recoding.columns import ENDS, ColumnArrays
from sievert.commands.protect.local_recoding.slack import slack
from sievert.commands.protect.local_recoding.states import SecretRules
from sievert.commands.protect.regions.sums import Cells, SumArrays, add_class
from sievert.numerics.acceleration import jit_if_possible

# How a column is split where some of its labels would break a rule as classes.
STRICT = 0  # not at all
SUPPRESS = 1  # they become nodes that can only be suppressed
MOST_SUPPRESSED = 0.5  # of a node, if some of its labels can only be suppressed

CLASS = 0  # a node that may become a class
ONLY_SPLIT = 1  # a node that holds no rules, but its children may
ONLY_SUPPRESSED = 2


class Tree(NamedTuple):
    """The nodes of a tree; a node comes before its children, which stand side by side.

    The records of a node are those of the combinations `order[begins[x]:ends[x]]`.
    """

    order: Ints
    begins: Ints
    ends: Ints
    firsts: Ints  # the first child; -1 of a leaf
    children: Ints  # how many
    sizes: Ints  # records
    kinds: Ints  # CLASS, ONLY_SPLIT, ONLY_SUPPRESSED
    losses: Floats  # summed over records
    sums: Floats  # of every node and limit on the table


class Growth(NamedTuple):
    """How a tree is grown: what weighs against the loss that a split saves."""

    sizes: float  # weight of how much smaller classes get
    information: float  # weight of what is learnt about the secrets, in bits
    mode: int  # STRICT or SUPPRESS
    allowed: int  # records that may be suppressed
    prices: Floats  # of what a split adds to each sum


@jit_if_possible
def _label_level(grid: Ints, j: int, low: int, high: int) -> int:
    """The lowest level on which the positions low and high of column j have one label."""
    level = 0
    while grid[j, ENDS + 2 * level, low] != grid[j, ENDS + 2 * level, high]:
        level += 1
    return level


@jit_if_possible
def _box_loss(columns: ColumnArrays, lows: Ints, highs: Ints) -> float:
    """What the labels of a box cost per record."""
    loss = 0.0
    for j in range(len(lows)):
        if lows[j] != highs[j]:
            level = _label_level(columns.grid, j, lows[j], highs[j])
            first = columns.grid[j, ENDS + 2 * level, lows[j]]
            last = columns.grid[j, ENDS + 2 * level + 1, lows[j]]
            loss += columns.scale[j] * (last - first)
    return loss


@jit_if_possible
def _doubt(sums: SumArrays, spans: Ints, tally: Ints) -> float:
    """The records of a class times the entropy of each secret in it, in bits."""
    total = 0.0
    for s in range(len(spans)):
        size = 0
        for v in range(spans[s, 0], spans[s, 1]):
            if tally[v] > 0:
                size += tally[v]
                total -= tally[v] * np.log2(tally[v])
        if size > 0:
            total += size * np.log2(size)
    return total


@jit_if_possible
def grow(
    columns: ColumnArrays,
    roots: Ints,
    rules: SecretRules,
    sums: SumArrays,
    spans: Ints,
    cells: Cells,
    codes: Ints,
    counts: Ints,
    k: int,
    places: int,
    growth: Growth,
    members: Ints,
    forced: Ints,
) -> Tree:
    """Grow a tree over the combinations `members`.

    `roots[j]` is the width of the root label of column j, and `spans` says where the values of each
    secret stand in a tally of `places`. `forced[x]` is the column in which node x is split if it
    can be; -1 for the best one, as for nodes beyond the end of `forced`.
    """
    n = len(members)
    prices = growth.prices
    width = codes.shape[1]
    grid = columns.grid
    widest = grid.shape[2]
    limits = len(sums.forms)
    most = 2 * n + 1
    tree = Tree(
        members.copy(),
        np.zeros(most, np.int64),
        np.zeros(most, np.int64),
        np.full(most, -1, np.int64),
        np.zeros(most, np.int64),
        np.zeros(most, np.int64),
        np.zeros(most, np.int64),
        np.zeros(most, np.float64),
        np.zeros((most, limits), np.float64),
    )
    order = tree.order
    ruled = len(rules.rules.numbers) > 0
    rule_places = rules.begins[-1]
    group_of = np.full(widest, -1, np.int64)
    touched = np.empty(widest, np.int64)
    group_sizes = np.zeros(widest + 1, np.int64)
    group_counts = np.zeros(widest + 1, np.int64)
    lows = np.zeros((widest + 1, width), np.int64)
    highs = np.zeros((widest + 1, width), np.int64)
    tallies = np.zeros((widest + 1, places), np.int64)
    bad = np.zeros(widest + 1, np.bool_)
    added = np.zeros(limits, np.float64)
    moved = np.empty(n, np.int64)
    own_low = np.zeros(width, np.int64)
    own_high = np.zeros(width, np.int64)
    own_tally = np.zeros(places, np.int64)
    # The groups of the best column, kept until the node is split.
    best_group = np.full(widest, -1, np.int64)
    nodes = 1
    tree.begins[0] = 0
    tree.ends[0] = n
    x = 0
    while x < nodes:
        begin = tree.begins[x]
        end = tree.ends[x]
        size = 0
        for v in range(places):
            own_tally[v] = 0
        for j in range(width):
            own_low[j] = codes[order[begin], j]
            own_high[j] = own_low[j]
        for i in range(begin, end):
            c = order[i]
            size += counts[c]
            for j in range(width):
                p = codes[c, j]
                if p < own_low[j]:
                    own_low[j] = p
                if p > own_high[j]:
                    own_high[j] = p
            for e in range(cells.starts[c], cells.starts[c + 1]):
                own_tally[cells.values[e]] += cells.counts[e]
        box_loss = _box_loss(columns, own_low, own_high)
        tree.sizes[x] = size
        tree.losses[x] = size * box_loss
        add_class(sums, size, own_tally, added)
        for m in range(limits):
            tree.sums[x, m] = added[m]
        at_root = True
        for j in range(width):
            level = _label_level(grid, j, own_low[j], own_high[j])
            span = grid[j, ENDS + 2 * level + 1, own_low[j]] - grid[j, ENDS + 2 * level, own_low[j]]
            if span < roots[j] or roots[j] == 0:
                at_root = False
        if tree.kinds[x] != ONLY_SUPPRESSED:
            holds = size >= k
            if holds and ruled:
                holds = slack(rules, own_tally[:rule_places]) == 0.0
            tree.kinds[x] = CLASS if holds and not at_root else ONLY_SPLIT
        if tree.kinds[x] == ONLY_SUPPRESSED or size < 2 * k or end - begin < 2 or box_loss == 0.0:
            x += 1
            continue
        doubt = _doubt(sums, spans, own_tally)
        best = 0.0
        best_column = -1
        best_groups = 0
        best_level = 0
        for j in range(width):
            if own_low[j] == own_high[j]:
                continue
            if x < len(forced) and forced[x] >= 0 and forced[x] != j:
                continue
            level = _label_level(grid, j, own_low[j], own_high[j]) - 1
            groups = 0
            for i in range(begin, end):
                c = order[i]
                first = grid[j, ENDS + 2 * level, codes[c, j]]
                g = group_of[first]
                if g < 0:
                    g = groups
                    group_of[first] = g
                    touched[g] = first
                    groups += 1
                    group_sizes[g] = 0
                    for v in range(places):
                        tallies[g, v] = 0
                    for h in range(width):
                        lows[g, h] = codes[c, h]
                        highs[g, h] = codes[c, h]
                group_sizes[g] += counts[c]
                for h in range(width):
                    p = codes[c, h]
                    if p < lows[g, h]:
                        lows[g, h] = p
                    if p > highs[g, h]:
                        highs[g, h] = p
                for e in range(cells.starts[c], cells.starts[c + 1]):
                    tallies[g, cells.values[e]] += cells.counts[e]
            broken = 0
            for g in range(groups):
                bad[g] = group_sizes[g] < k
                if not bad[g] and ruled:
                    bad[g] = slack(rules, tallies[g, :rule_places]) > 0.0
                if bad[g]:
                    broken += group_sizes[g]
            refused = False
            if broken > 0:
                if growth.mode == STRICT:
                    refused = True
                else:
                    refused = broken > growth.allowed or broken > MOST_SUPPRESSED * size
            if not refused:
                saved = size * box_loss
                price = 0.0
                spread = 0.0
                left = 0.0
                for g in range(groups):
                    own = group_sizes[g]
                    if bad[g]:
                        saved -= own
                        continue
                    saved -= own * _box_loss(columns, lows[g], highs[g])
                    spread += own * np.log(size / own)
                    left += _doubt(sums, spans, tallies[g])
                    add_class(sums, own, tallies[g], added)
                    for m in range(limits):
                        price += prices[m] * added[m]
                for m in range(limits):
                    price -= prices[m] * tree.sums[x, m]
                against = growth.sizes * spread + growth.information * max(0.0, doubt - left)
                against += max(0.0, price) + 1e-9
                score = saved / against
                if score > best:
                    best = score
                    best_column = j
                    best_level = level
                    best_groups = groups
                    for g in range(groups):
                        best_group[touched[g]] = -2 - g if bad[g] else g
            for g in range(groups):
                group_of[touched[g]] = -1
        if best_column < 0:
            x += 1
            continue
        # Sort the combinations of the node by their group.
        for g in range(widest + 1):
            group_counts[g] = 0
        for i in range(begin, end):
            first = grid[best_column, ENDS + 2 * best_level, codes[order[i], best_column]]
            g = best_group[first]
            group_counts[g if g >= 0 else -2 - g] += 1
        place = begin
        kept = 0
        tree.firsts[x] = nodes
        for g in range(widest + 1):
            if g > best_groups:
                break
            if group_counts[g] > 0:
                tree.begins[nodes + kept] = place
                place += group_counts[g]
                tree.ends[nodes + kept] = place
                group_counts[g] = tree.begins[nodes + kept]
                kept += 1
        for i in range(begin, end):
            c = order[i]
            first = grid[best_column, ENDS + 2 * best_level, codes[c, best_column]]
            g = best_group[first]
            at = g if g >= 0 else -2 - g
            moved[group_counts[at]] = c
            if g < 0:
                # The node that begins here can only be suppressed: found again by its place.
                moved_begin = group_counts[at]
                for y in range(nodes, nodes + kept):
                    if tree.begins[y] <= moved_begin < tree.ends[y]:
                        tree.kinds[y] = ONLY_SUPPRESSED
                        break
            group_counts[at] += 1
        for i in range(begin, end):
            order[i] = moved[i]
        tree.children[x] = kept
        nodes += kept
        x += 1
    return Tree(
        order,
        tree.begins[:nodes],
        tree.ends[:nodes],
        tree.firsts[:nodes],
        tree.children[:nodes],
        tree.sizes[:nodes],
        tree.kinds[:nodes],
        tree.losses[:nodes],
        tree.sums[:nodes],
    )
