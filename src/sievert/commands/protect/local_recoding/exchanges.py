"""The improvement of classes that keep the rules: pieces are exchanged, classes are dissolved."""

import numpy as np

from sievert.arrays import Ints
from sievert.commands.protect.local_recoding.columns import SET, ColumnArrays
from sievert.commands.protect.local_recoding.costs import (
    NOWHERE,
    UNSURE,
    gather,
    grown_cost,
    inner,
    loop,
    with_value,
)
from sievert.commands.protect.local_recoding.merging import altered_cost, keep_state, move_records
from sievert.commands.protect.local_recoding.slack import slack
from sievert.commands.protect.local_recoding.states import (
    AFTER,
    AMOUNT,
    COMBINATION,
    HEAD,
    OWNER,
    SIZE,
    ClassBlock,
    SecretRules,
)

CROWD = 64  # a class of more pieces stays as it is: the cost of each piece depends on all others
ENOUGH = 1e-9  # a cost that falls by less has not fallen


@loop
def _exchanges(
    columns: ColumnArrays,
    rules: SecretRules,
    block: ClassBlock,
    k: int,
    rests: Ints,
    exchange: tuple[int, int, int, int],
    joint: Ints,
) -> bool:
    """Exchange records of a piece for records of a piece in another class, if that costs less.

    `exchange` has both pieces, each with the number of records, which may be 0. Both classes must
    keep the rules. `rests` has for each piece the state of its class without it; `joint` is to work
    with.
    """
    pieces = block.pieces
    classes = block.classes
    x = block.states
    given, fewer, taken, more = exchange
    a = pieces[given, OWNER]
    b = pieces[taken, OWNER]
    out = len(classes)
    none = k * 0
    size = classes[a, SIZE] + more - fewer
    other = classes[b, SIZE] + fewer - more
    if size < k or other < k:
        return False
    before = classes[a, SIZE] * block.costs[a] + classes[b, SIZE] * block.costs[b] - ENOUGH
    cost = 0.0
    for side in range(2):
        # A class that gives nothing grows; a class that gives a part of a piece keeps the rest.
        p, gone, q, come = (taken, more, given, fewer) if side else exchange
        number = other if side else size
        left = pieces[p, AMOUNT] - gone
        grown = (pieces[q if come else p, COMBINATION], come if come else left, 1.0)
        limit = (before - cost) / number
        if gone == 0:
            row = b if side else a
            cost += number * grown_cost(columns, x, row, block.codes, grown, limit)
        else:
            cost += number * grown_cost(columns, rests, p, block.codes, grown, limit)
        if cost >= before:
            return False
    for side in range(2 if len(rules.secrets) > 0 else 0):
        for v in range(len(joint)):
            ours = block.tallies[pieces[given, COMBINATION], v] if fewer else 0
            theirs = block.tallies[pieces[taken, COMBINATION], v] if more else 0
            change = ours - theirs if side else theirs - ours
            joint[v] = block.class_tallies[b if side else a, v] + change
        if slack(rules, joint) > 0.0:
            return False
    for side in range(2):
        if (more if side else fewer) > 0:
            move_records(block, taken if side else given, more if side else fewer, a if side else b)
    for side in range(2):
        c = b if side else a
        nothing = (none, none, none, none)
        keep_state(block, c, out, altered_cost(columns, block, k, c, nothing, out, np.inf))
    return True


@inner
def _leave_out(kinds: Ints, block: ClassBlock, own: Ints, rests: Ints) -> None:
    """Compute the state of a class without each of its pieces, as the piece's row of `rests`."""
    pieces = block.pieces
    number = len(own)
    for j in range(len(kinds)):
        union = kinds[j, 0] >= SET
        for turn in range(2):  # the pieces before each one, then the pieces after it
            s, t, u, v = (0, 0, 0, 0) if union else (NOWHERE, NOWHERE, -1, -1)
            for i in range(number):
                p = own[number - 1 - i] if turn else own[i]
                amount = pieces[p, AMOUNT]
                code = block.codes[pieces[p, COMBINATION], j]
                e = s
                f = t
                g = u
                h = v
                if turn:
                    e = rests[p, j, 0]
                    f = rests[p, j, 1]
                    g = rests[p, j, 2]
                    h = rests[p, j, 3]
                    if union:
                        f = f | t | (e & s)
                        e = e | s
                        h = h | v | (g & u)
                        g = g | u
                    else:
                        f = min(max(e, s), min(f, t))
                        e = min(e, s)
                        h = max(min(g, u), max(h, v))
                        g = max(g, u)
                rests[p, j, 0] = e
                rests[p, j, 1] = f
                rests[p, j, 2] = g
                rests[p, j, 3] = h
                if union:
                    s, t, u, v = with_value((s, t, u, v), code, amount)
                else:
                    q, r = (code, code) if amount > 1 else (NOWHERE, -1)
                    t = min(max(s, code), min(t, q))
                    s = min(s, code)
                    v = max(min(u, code), max(v, r))
                    u = max(u, code)


@inner
def _list_pieces(block: ClassBlock, c: int, pieces: Ints) -> int:
    """Put the pieces of a class into a list; return their number, or 0 if there are too many."""
    number = 0
    p = block.classes[c, HEAD]
    while p >= 0:
        if number == CROWD:
            return 0
        pieces[number] = p
        number += 1
        p = block.pieces[p, AFTER]
    return number


@loop
def _place(
    columns: ColumnArrays,
    rules: SecretRules,
    block: ClassBlock,
    piece: int,
    others: Ints,
    most: float,
    joint: Ints,
) -> tuple[float, int]:
    """Find the class in which a piece costs least, if less than `most`; return cost and class.

    Classes of near combinations come first: after them little work is left for the others.
    """
    source = block.pieces[piece, OWNER]
    best = most
    to = -1
    combination = block.pieces[piece, COMBINATION]
    m = block.pieces[piece, AMOUNT]
    nearest = block.near.shape[1]
    for i in range(nearest + len(others)):
        q = block.near[combination, i] if i < nearest else -1
        b = block.pieces[q, OWNER] if q >= 0 else others[max(0, i - nearest)]
        n = block.classes[b, SIZE]
        if n > 0 and b != source:
            base = n * block.costs[b]
            limit = (best + base) / (n + m)
            grown = (combination, m, 1.0)
            more = (n + m) * grown_cost(columns, block.states, b, block.codes, grown, limit) - base
            if more < best:
                best = more
                to = b
    if to < 0 or len(rules.secrets) == 0:
        return best, to
    for v in range(len(joint)):
        joint[v] = block.class_tallies[to, v] + block.tallies[combination, v]
    return (np.inf, -1) if slack(rules, joint) > 0.0 else (best, to)


@loop
def dissolve_classes(columns: ColumnArrays, rules: SecretRules, block: ClassBlock, k: int) -> None:
    """Spread the pieces of a class over all others, if that costs less.

    The cost is computed first, and then the pieces are moved. A piece that finds no place any more
    stays in its class.
    """
    n = len(block.classes)
    none = k * 0
    pieces = np.empty(CROWD, dtype=np.int64)
    nothing = (none, none, none, none)
    classes: Ints = np.flatnonzero(block.classes[:, SIZE])
    joint = np.empty(block.class_tallies.shape[1], dtype=np.int64)
    for c in classes:
        whole = block.classes[c, SIZE] * block.costs[c]
        number = _list_pieces(block, c, pieces) if whole > 0.0 else none
        spent = 0.0
        i = 0
        while i < 2 * number and spent < whole - ENOUGH:
            if i == number:
                spent = 0.0
            most = whole - spent if i < number else np.inf
            more, to = _place(columns, rules, block, pieces[i % number], classes, most, joint)
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
    near: tuple[int, int],
    lists: Ints,
    rests: Ints,
    left_out: Ints,
    joint: Ints,
) -> bool:
    """Exchange pieces between the classes of two near pieces, if that costs less.

    These exchanges are tried: the first piece goes to the other class; the second piece comes, or
    one or two of its records; the first piece is exchanged for another piece of the other class;
    the second piece is exchanged for another piece of this class.
    """
    p, q = near
    pieces = block.pieces
    whole = len(rules.secrets) > 0
    none = k * 0
    a = pieces[p, OWNER]
    b = pieces[q, OWNER]
    m = pieces[p, AMOUNT]
    n = pieces[q, AMOUNT]
    if block.number[0] + 2 > len(pieces):
        return False
    ours = _list_pieces(block, a, lists[1])
    theirs = _list_pieces(block, b, lists[2])
    if ours == 0 or theirs == 0:
        return False
    for side in range(2):
        c, number = (b, theirs) if side else (a, ours)
        if not left_out[c]:
            _leave_out(columns.kinds, block, lists[1 + side, :number], rests)
            left_out[c] = 1
    size = block.classes[a, SIZE]
    other = block.classes[b, SIZE]
    out = len(block.classes) + none
    before = size * block.costs[a] + other * block.costs[b]
    block.own[0, 0] = pieces[p, COMBINATION]
    block.own[1, 0] = pieces[q, COMBINATION]
    pair = gather(columns, block.codes, block.own, none + 2, block.states, out, 0.0, np.inf)
    for side in range(2):
        # Hardly any exchange pays if the two pieces and the rest of a class cost too much.
        r, remain = (q, other - n) if side else (p, size - m)
        grown = (pieces[r, COMBINATION], none, UNSURE if remain < k else 1.0)
        rest = grown_cost(columns, rests, r, block.codes, grown, np.inf) if remain else 0.0
        if side == 0 and size * rest + other * pair >= before:
            theirs = 0
        if side == 1 and size * pair + other * rest >= before:
            ours = 0
    for y in range(3 + theirs + ours):
        given = p
        fewer = m
        taken = q
        more = n
        if y == 0:
            fewer = m if whole else min(m, size - k)
            more = 0
        elif y < 3:
            fewer = 0
            more = n if whole else min(n, y)
        elif y < 3 + theirs:
            taken = lists[2, y - 3]
            more = 0 if taken == q else pieces[taken, AMOUNT]
        else:
            given = lists[1, y - 3 - theirs]
            fewer = 0 if given == p else pieces[given, AMOUNT]
        if (fewer == 0 or more == 0) and (fewer + more <= 0 or y >= 3):
            continue
        if _exchanges(columns, rules, block, k, rests, (given, fewer, taken, more), joint):
            left_out[a] = left_out[b] = 0
            return True
    return False


@loop
def improve_classes(
    columns: ColumnArrays, rules: SecretRules, block: ClassBlock, k: int, sweeps: int, near: int
) -> None:
    """Move and exchange pieces between classes of near combinations, if that costs less."""
    changed = np.ones(len(block.classes), dtype=np.uint8)
    left_out = np.zeros(len(block.classes), dtype=np.uint8)
    rests = np.empty((len(block.pieces), block.codes.shape[1], 4), dtype=np.int64)
    lists = np.empty((3, CROWD), dtype=np.int64)
    joint = np.empty(block.class_tallies.shape[1], dtype=np.int64)
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
                    if a != b and _exchange_near(
                        columns, rules, block, k, (p, q), lists, rests, left_out, joint
                    ):
                        changed[a] = changed[b] = 1
