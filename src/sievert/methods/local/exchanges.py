"""Classes that hold the rules, improved: pieces exchanged between them, classes dissolved."""

from __future__ import annotations

import numpy as np

from sievert.arrays import Ints
from sievert.methods.local.columns import ColumnArrays
from sievert.methods.local.costs import gather, joint_cost, loop, slack
from sievert.methods.local.merging import altered_cost, keep_state, move_records
from sievert.methods.local.states import (
    AFTER,
    AMOUNT,
    COMBINATION,
    HEAD,
    OWNER,
    SIZE,
    ClassBlock,
    SecretRules,
)

CROWD = 64  # pieces of a class that is left as it is: what one of them costs takes all to tell
ENOUGH = 1e-9  # of a cost: what falls by less has not fallen


@loop
def _exchanges(
    columns: ColumnArrays,
    rules: SecretRules,
    block: ClassBlock,
    k: int,
    a: int,
    b: int,
    exchange: tuple[int, int, int, int],
) -> bool:
    """Exchange records of a piece of class a for those of one of b, if that costs less.

    `exchange` has both pieces, each with the number of records, which may be none. The classes must
    hold the rules with it.
    """
    given, fewer, taken, more = exchange
    size, other, n = block.classes[a, SIZE], block.classes[b, SIZE], len(block.classes)
    if size + more - fewer < k or other + fewer - more < k:
        return False
    before = size * block.costs[a] + other * block.costs[b] - ENOUGH
    cost, first = 0.0, 0.0
    joint = np.empty(block.class_tallies.shape[1], dtype=np.int64)
    for side in range(2):
        first, c = cost, b if side else a
        turned = (taken, more, given, fewer) if side else exchange
        cost += altered_cost(columns, block, k, c, turned, n + side, before - cost)
        if cost >= before:
            return False
    for side in range(2 if len(rules.kinds) > 0 else 0):
        for v in range(len(joint)):
            ours = block.tallies[block.pieces[given, COMBINATION], v] if fewer else 0
            theirs = block.tallies[block.pieces[taken, COMBINATION], v] if more else 0
            change = ours - theirs if side else theirs - ours
            joint[v] = block.class_tallies[b if side else a, v] + change
        if slack(rules, joint) > 0.0:
            return False
    for side in range(2):
        if (more if side else fewer) > 0:
            move_records(block, taken if side else given, more if side else fewer, a if side else b)
    for side in range(2):
        keep_state(block, b if side else a, n + side, cost - first if side else first)
    return True


@loop
def _list_pieces(block: ClassBlock, c: int, pieces: Ints) -> int:
    """Put the pieces of a class in a list; how many, or none if there are too many."""
    number, p = 0, block.classes[c, HEAD]
    while p >= 0:
        if number == CROWD:
            return 0
        pieces[number] = p
        number, p = number + 1, block.pieces[p, AFTER]
    return number


@loop
def _place(
    columns: ColumnArrays, rules: SecretRules, block: ClassBlock, piece: int, most: float
) -> tuple[float, int]:
    """What a piece costs in the class where that is least, if less than `most`; which one."""
    source, best, to, row = block.pieces[piece, OWNER], most, -1, len(block.states) - 1
    combination, m = block.pieces[piece, COMBINATION], block.pieces[piece, AMOUNT]
    block.own[0, 0], block.own[0, 1], one = combination, m, m // m
    gather(columns, block.codes, block.own, one, block.states, row, 1.0, np.inf)
    for b in range(len(block.classes)):
        n = block.classes[b, SIZE]
        if n > 0 and b != source:
            base = n * block.costs[b]
            limit = (best + base) / (n + m)
            more = (n + m) * joint_cost(columns, block.states, row, b, 1.0, limit) - base
            if more < best:
                best, to = more, b
    if to < 0 or len(rules.kinds) == 0:
        return best, to
    joint = block.class_tallies[to] + block.tallies[combination]
    return (np.inf, -1) if slack(rules, joint) > 0.0 else (best, to)


@loop
def dissolve_classes(columns: ColumnArrays, rules: SecretRules, block: ClassBlock, k: int) -> None:
    """Spread the pieces of a class over all others, where that costs less.

    First it is only reckoned, then done; a piece that finds no place then stays where it is.
    """
    n, none = len(block.classes), k * 0
    pieces, nothing = np.empty(CROWD, dtype=np.int64), (none, none, none, none)
    for c in range(n):
        whole = block.classes[c, SIZE] * block.costs[c]
        number = _list_pieces(block, c, pieces) if whole > 0.0 else none
        spent, i = 0.0, 0
        while i < 2 * number and spent < whole - ENOUGH:
            if i == number:
                spent = 0.0
            more, to = _place(
                columns, rules, block, pieces[i % number], whole - spent if i < number else np.inf
            )
            spent += more if i < number else 0.0
            if i < number and to < 0:
                break
            if i >= number and to >= 0:
                move_records(
                    block, pieces[i % number], block.pieces[pieces[i % number], AMOUNT], to
                )
                cost = altered_cost(columns, block, k, to, nothing, n + none, np.inf)
                keep_state(block, to, n + none, cost)
            i += 1


@loop
def _exchange_near(
    columns: ColumnArrays,
    rules: SecretRules,
    block: ClassBlock,
    k: int,
    p: int,
    q: int,
    lists: Ints,
) -> bool:
    """Exchange something between the classes of two near pieces, if that costs less.

    The first piece goes to the other class, that one comes (or one or two of its records), the
    first is exchanged for another piece there, or the near one for another piece here.
    """
    pieces, whole, none = block.pieces, len(rules.kinds) > 0, k * 0
    a, b, m, n = pieces[p, OWNER], pieces[q, OWNER], pieces[p, AMOUNT], pieces[q, AMOUNT]
    ours, theirs = _list_pieces(block, a, lists[1]), _list_pieces(block, b, lists[2])
    if theirs == 0 or block.number[0] + 2 > len(pieces):
        return False
    size, other, out = block.classes[a, SIZE], block.classes[b, SIZE], len(block.classes) + none
    before = size * block.costs[a] + other * block.costs[b]
    block.own[0, 0], block.own[1, 0] = pieces[p, COMBINATION], pieces[q, COMBINATION]
    pair = gather(columns, block.codes, block.own, none + 2, block.states, out, 0.0, np.inf)
    for side in range(2):
        # Hardly any exchange pays where the two pieces and the rest of a class cost too much.
        gone = (q, n, none, none) if side else (p, m, none, none)
        rest = altered_cost(columns, block, k, b if side else a, gone, out, np.inf)
        rest /= max(1, other - n if side else size - m)
        if side == 0 and size * rest + other * pair >= before:
            theirs = 0
        if side == 1 and size * pair + other * rest >= before:
            ours = 0
    for y in range(3 + theirs + ours):
        given, fewer, taken, more = p, m, q, n
        if y == 0:
            fewer, more = m if whole else min(m, size - k), 0
        elif y < 3:
            fewer, more = 0, n if whole else min(n, y)
        elif y < 3 + theirs:
            taken = lists[2, y - 3]
            more = 0 if taken == q else pieces[taken, AMOUNT]
        else:
            given = lists[1, y - 3 - theirs]
            fewer = 0 if given == p else pieces[given, AMOUNT]
        if (fewer == 0 or more == 0) and (fewer + more <= 0 or y >= 3):
            continue
        if _exchanges(columns, rules, block, k, a, b, (given, fewer, taken, more)):
            return True
    return False


@loop
def improve_classes(
    columns: ColumnArrays, rules: SecretRules, block: ClassBlock, k: int, sweeps: int, near: int
) -> None:
    """Move and exchange pieces between classes of near combinations, where that costs less."""
    changed = np.ones(len(block.classes), dtype=np.uint8)
    lists = np.empty((3, CROWD), dtype=np.int64)
    for _ in range(sweeps):
        for a in range(len(block.classes)):
            if not changed[a] or block.costs[a] <= 0.0:
                continue
            changed[a] = 0
            for i in range(_list_pieces(block, a, lists[0])):
                p = lists[0, i]
                for x in range(near):
                    q = block.near[block.pieces[p, COMBINATION], x]
                    b = block.pieces[q, OWNER]
                    if q < 0 or block.pieces[p, OWNER] != a:
                        break
                    if a != b and _exchange_near(columns, rules, block, k, p, q, lists):
                        changed[a] = changed[b] = 1
