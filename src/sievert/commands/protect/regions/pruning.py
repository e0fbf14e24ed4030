"""Nodes of a tree chosen as classes: the least loss at a price for each limit on the table.

The price of a limit is what one unit of its sum costs. It is raised until the limit is met: then
the loss with these prices is the least that a choice of nodes has (Lagrange). What is left of the
room is filled by splitting classes again.
"""

from dataclasses import dataclass

import numpy as np

from sievert.arrays import Bools, Floats, Ints
from sievert.commands.protect.regions.tree import CLASS, Tree
from sievert.numerics.acceleration import jit_if_possible

KEPT = 0  # a node that is a class
GONE = 1  # a node whose records are suppressed
SPLIT = 2  # a node whose children are used
ROUNDS = 4  # over all limits
HALVINGS = 24  # of the interval of a price
DOUBLINGS = 40
DUST = 1e-9
LARGEST_CLASSES = (1.0, 0.25, 0.08, 0.025, 0.008)  # shares of the records
CHEAPER = (0.75, 0.5, 0.25, 0.1, 0.0)  # parts of the prices at which the room is filled


@dataclass(frozen=True, eq=False, kw_only=True)
class Choice:
    """What becomes of each node, the loss in all, and what is used up of each limit."""

    steps: Ints  # KEPT, GONE or SPLIT, of every node
    loss: float  # summed over records, suppressed ones included
    sums: Floats
    suppressed: int
    prices: Floats  # of each limit
    price_of_gone: float  # of a suppressed record, besides its loss


@jit_if_possible
def choose(tree: Tree, prices: Floats, price_of_gone: float, most: int, loss: Floats) -> Ints:
    """Return the best step for every node at these prices.

    A class may have at most `most` records unless its node is a leaf. `loss` gets the loss of each
    node with its prices.
    """
    nodes = len(tree.sizes)
    steps = np.zeros(nodes, np.int64)
    for y in range(nodes):
        x = nodes - 1 - y
        best = np.inf
        step = GONE
        if tree.kinds[x] == CLASS and (tree.sizes[x] <= most or tree.firsts[x] < 0):
            best = tree.losses[x]
            for m in range(len(prices)):
                best += prices[m] * tree.sums[x, m]
            step = KEPT
        if tree.firsts[x] >= 0:
            split = 0.0
            for z in range(tree.firsts[x], tree.firsts[x] + tree.children[x]):
                split += loss[z]
            if split < best:
                best = split
                step = SPLIT
        gone = (1.0 + price_of_gone) * tree.sizes[x]
        if gone < best:
            best = gone
            step = GONE
        loss[x] = best
        steps[x] = step
    return steps


@jit_if_possible
def used(tree: Tree, steps: Ints, sums: Floats) -> tuple[float, int]:
    """Add up the loss and the suppressed records of some steps; `sums` gets those of the limits."""
    for m in range(len(sums)):
        sums[m] = 0.0
    loss = 0.0
    suppressed = 0
    reached = np.zeros(len(steps), np.bool_)
    reached[0] = True
    for x in range(len(steps)):
        if not reached[x]:
            continue
        if steps[x] == SPLIT:
            for z in range(tree.firsts[x], tree.firsts[x] + tree.children[x]):
                reached[z] = True
        elif steps[x] == GONE:
            loss += tree.sizes[x]
            suppressed += tree.sizes[x]
        else:
            loss += tree.losses[x]
            for m in range(len(sums)):
                sums[m] += tree.sums[x, m]
    return loss, suppressed


@jit_if_possible
def _excess(sums: Floats, bounds: Floats) -> float:
    """How far the sums are beyond their bounds, in all."""
    total = 0.0
    for m in range(len(bounds)):
        total += max(0.0, sums[m] - bounds[m])
    return total


@jit_if_possible
def solve(
    tree: Tree, bounds: Floats, allowed: int, most: int, prices: Floats, sums: Floats
) -> tuple[Ints, float, int, float]:
    """Find the least prices at which all limits are met, limit by limit, then again.

    Return the steps, the loss, the suppressed records and the price of a suppressed record; the
    `prices` are changed in place.
    """
    loss = np.zeros(len(tree.sizes), np.float64)
    gone_price = 0.0 if allowed > 0 else 1e12
    steps = choose(tree, prices, gone_price, most, loss)
    total, suppressed = used(tree, steps, sums)
    for turn in range(ROUNDS):
        changed = False
        if suppressed > allowed:
            low = 0.0
            high = 1e-3
            for _ in range(DOUBLINGS):
                steps = choose(tree, prices, high, most, loss)
                total, suppressed = used(tree, steps, sums)
                if suppressed <= allowed:
                    break
                low = high
                high *= 2.0
            for _ in range(HALVINGS):
                middle = 0.5 * (low + high)
                steps = choose(tree, prices, middle, most, loss)
                total, suppressed = used(tree, steps, sums)
                if suppressed <= allowed:
                    high = middle
                else:
                    low = middle
            gone_price = high
            changed = True
            steps = choose(tree, prices, gone_price, most, loss)
            total, suppressed = used(tree, steps, sums)
        for m in range(len(bounds)):
            if sums[m] <= bounds[m] and (turn == 0 or prices[m] == 0.0):
                continue
            before = prices[m]
            low = 0.0
            high = max(1e-4, before)
            for _ in range(DOUBLINGS):
                prices[m] = high
                steps = choose(tree, prices, gone_price, most, loss)
                total, suppressed = used(tree, steps, sums)
                if sums[m] <= bounds[m]:
                    break
                low = high
                high *= 2.0
            for _ in range(HALVINGS):
                if high - low <= 1e-4 * high:
                    break
                middle = 0.5 * (low + high)
                prices[m] = middle
                steps = choose(tree, prices, gone_price, most, loss)
                total, suppressed = used(tree, steps, sums)
                if sums[m] <= bounds[m]:
                    high = middle
                else:
                    low = middle
            prices[m] = high
            changed = changed or abs(high - before) > 1e-3 * high
            steps = choose(tree, prices, gone_price, most, loss)
            total, suppressed = used(tree, steps, sums)
        if not changed:
            break
    return steps, total, suppressed, gone_price


@jit_if_possible
def fill(
    tree: Tree,
    bounds: Floats,
    allowed: int,
    prices: Floats,
    gone_price: float,
    steps: Ints,
    sums: Floats,
    suppressed: int,
) -> int:
    """Split classes again while the limits leave room; return the suppressed records.

    `steps` and `sums` are changed in place. What a class is split into is chosen at a part of the
    prices. The class that saves most for what it uses of the room comes first.
    """
    nodes = len(steps)
    loss = np.zeros(nodes, np.float64)
    limits = len(bounds)
    own_loss = np.zeros(nodes, np.float64)
    own_gone = np.zeros(nodes, np.int64)
    own_sums = np.zeros((nodes, limits), np.float64)
    stack = np.empty(nodes + 1, np.int64)
    for part in CHEAPER:
        cheaper = choose(tree, prices * part, gone_price, tree.sizes[0], loss)
        for y in range(nodes):
            x = nodes - 1 - y
            own_loss[x] = 0.0
            own_gone[x] = 0
            for m in range(limits):
                own_sums[x, m] = 0.0
            if cheaper[x] == SPLIT:
                for z in range(tree.firsts[x], tree.firsts[x] + tree.children[x]):
                    own_loss[x] += own_loss[z]
                    own_gone[x] += own_gone[z]
                    for m in range(limits):
                        own_sums[x, m] += own_sums[z, m]
            elif cheaper[x] == GONE:
                own_loss[x] = tree.sizes[x]
                own_gone[x] = tree.sizes[x]
            else:
                own_loss[x] = tree.losses[x]
                for m in range(limits):
                    own_sums[x, m] = tree.sums[x, m]
        reached = np.zeros(nodes, np.bool_)
        reached[0] = True
        worth = np.full(nodes, -1.0)
        for x in range(nodes):
            if not reached[x]:
                continue
            if steps[x] == SPLIT:
                for z in range(tree.firsts[x], tree.firsts[x] + tree.children[x]):
                    reached[z] = True
                continue
            if cheaper[x] != SPLIT:
                continue
            before = tree.losses[x] if steps[x] == KEPT else float(tree.sizes[x])
            saved = before - own_loss[x]
            if saved <= DUST:
                continue
            share = 1e-9
            for m in range(limits):
                more = own_sums[x, m] - (tree.sums[x, m] if steps[x] == KEPT else 0.0)
                room = bounds[m] - sums[m]
                if more > 0.0:
                    share = max(share, more / max(room, 1e-12))
            more_gone = own_gone[x] - (tree.sizes[x] if steps[x] == GONE else 0)
            if more_gone > 0:
                share = max(share, more_gone / max(allowed - suppressed, 1e-12))
            worth[x] = saved / share
        for x in np.argsort(-worth, kind="mergesort"):
            if worth[x] < 0.0:
                break
            fits = True
            for m in range(limits):
                more = own_sums[x, m] - (tree.sums[x, m] if steps[x] == KEPT else 0.0)
                if more > 0.0 and sums[m] + more > bounds[m]:
                    fits = False
            more_gone = own_gone[x] - (tree.sizes[x] if steps[x] == GONE else 0)
            if suppressed + more_gone > allowed and more_gone > 0:
                fits = False
            if not fits:
                continue
            for m in range(limits):
                sums[m] += own_sums[x, m] - (tree.sums[x, m] if steps[x] == KEPT else 0.0)
            suppressed += more_gone
            # The steps of the subtree are those at the cheaper prices.
            stack[0] = x
            waiting = 1
            while waiting > 0:
                waiting -= 1
                y = stack[waiting]
                steps[y] = cheaper[y]
                if steps[y] == SPLIT:
                    for z in range(tree.firsts[y], tree.firsts[y] + tree.children[y]):
                        stack[waiting] = z
                        waiting += 1
    return suppressed


def best_choice(tree: Tree, bounds: Floats, allowed: int) -> Choice | None:
    """Choose the nodes of least loss that meet all bounds; None if no choice that is tried does.

    At most `allowed` records are suppressed. Where one price makes many large classes at once, a
    bound on their size makes others.
    """
    best: Choice | None = None
    records = int(tree.sizes[0])
    for share in LARGEST_CLASSES:
        prices = np.zeros(len(bounds))
        sums = np.zeros(len(bounds))
        steps, loss, suppressed, gone_price = solve(
            tree, bounds, allowed, max(1, int(share * records)), prices, sums
        )
        if suppressed > allowed or bool((sums > bounds).any()):
            continue
        suppressed = fill(tree, bounds, allowed, prices, gone_price, steps, sums, suppressed)
        loss, suppressed = used(tree, steps, sums)
        met = suppressed <= allowed and not bool((sums > bounds).any())
        if met and (best is None or loss < best.loss):
            best = Choice(
                steps=steps,
                loss=loss,
                sums=sums.copy(),
                suppressed=suppressed,
                prices=prices,
                price_of_gone=gone_price,
            )
    return best


def owners(tree: Tree, steps: Ints) -> tuple[Ints, Bools]:
    """Return the class of each combination, numbered from 0, and which classes are suppressed."""
    owner = np.full(len(tree.order), -1, dtype=np.int64)
    gone: list[bool] = []
    waiting = [0]
    while waiting:
        x = waiting.pop()
        if steps[x] == SPLIT:
            first = int(tree.firsts[x])
            waiting += range(first, first + int(tree.children[x]))
            continue
        owner[tree.order[tree.begins[x] : tree.ends[x]]] = len(gone)
        gone.append(bool(steps[x] == GONE))
    return owner, np.array(gone, dtype=bool)
