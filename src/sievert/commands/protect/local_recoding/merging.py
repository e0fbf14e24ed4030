"""The joining of classes until none breaks a rule: "merge or borrow".

A piece is a number of records of one combination. A class that breaks a rule borrows the records
that it lacks from a combination that can spare them, or is joined with another class. The class
with the smallest cost per record comes first. A partner is searched among the classes of the
nearest combinations, and among all classes if none of these is suitable. With rules about secrets
nothing is borrowed, because the borrowed records could be chosen by their secret. Functions are
called from few places and with whole numbers of one type: every other use would be compiled again.
"""

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.commands.protect.local_recoding.columns import ColumnArrays
from sievert.commands.protect.local_recoding.costs import (
    UNSURE,
    gather,
    grown_cost,
    inner,
    joint_cost,
    loop,
)
from sievert.commands.protect.local_recoding.slack import slack
from sievert.commands.protect.local_recoding.states import (
    AFTER,
    AMOUNT,
    COMBINATION,
    HEAD,
    OWNER,
    SIZE,
    VISIT,
    ClassBlock,
    SecretRules,
)


@inner
def altered_cost(
    columns: ColumnArrays,
    block: ClassBlock,
    k: int,
    c: int,
    exchange: tuple[int, int, int, int],
    out: int,
    limit: float,
) -> float:
    """Compute the cost of a class after an exchange, summed over records.

    `exchange` has the piece that leaves and the piece that comes, each with the number of records.
    From `limit` on the cost is infinite. The state of the class becomes row `out`.
    """
    leaving, fewer, coming, more = exchange
    number = 0
    size = 0
    p = block.classes[c, HEAD]
    while p >= 0:
        amount = block.pieces[p, AMOUNT] - (fewer if p == leaving else 0)
        block.own[number, 0] = block.pieces[p, COMBINATION]
        block.own[number, 1] = amount
        if amount > 0:
            number += 1
        size += amount
        p = block.pieces[p, AFTER]
    if more > 0:
        block.own[number, 0] = block.pieces[coming, COMBINATION]
        block.own[number, 1] = more
        number += 1
        size += more
    if number == 0:
        return 0.0
    rule = UNSURE if size < k else 1.0
    cost: float = gather(
        columns, block.codes, block.own, number, block.states, out, rule, limit / size
    )
    return size * cost


@inner
def keep_state(block: ClassBlock, c: int, out: int, cost: float) -> None:
    """Make row `out` the state of a class, and `cost` its cost."""
    for j in range(block.states.shape[1]):
        for i in range(4):
            block.states[c, j, i] = block.states[out, j, i]
    block.costs[c] = cost / max(block.classes[c, SIZE], 1)


@inner
def move_records(block: ClassBlock, piece: int, moved: int, to: int) -> None:
    """Move records of a piece to another class; the caller computes the states again."""
    pieces = block.pieces
    classes = block.classes
    new = piece
    source = pieces[piece, OWNER]
    combination = pieces[piece, COMBINATION]
    if moved == pieces[piece, AMOUNT]:
        before = -1
        p = classes[source, HEAD]
        while p != piece:
            before = p
            p = pieces[p, AFTER]
        if before < 0:
            classes[source, HEAD] = pieces[piece, AFTER]
        else:
            pieces[before, AFTER] = pieces[piece, AFTER]
        for v in range(block.tallies.shape[1]):
            block.class_tallies[source, v] -= block.tallies[combination, v]
            block.class_tallies[to, v] += block.tallies[combination, v]
    else:
        new = block.number[0]
        block.number[0] += 1
        pieces[new, COMBINATION] = combination
        pieces[piece, AMOUNT] -= moved
    pieces[new, AMOUNT] = moved
    pieces[new, OWNER] = to
    pieces[new, AFTER] = classes[to, HEAD]
    classes[to, HEAD] = new
    classes[source, SIZE] -= moved
    classes[to, SIZE] += moved


@inner
def _list_others(block: ClassBlock, a: int, everyone: bool, others: Ints) -> int:
    """List the classes of the nearest combinations of a class, or all; return their number."""
    number = 0
    p = block.classes[a, HEAD]
    if everyone:
        for c in range(len(block.classes)):
            if c != a and block.classes[c, SIZE] > 0:
                others[number] = c
                number += 1
        return number
    block.number[1] += 1
    block.classes[a, VISIT] = block.number[1]
    while p >= 0:
        for i in range(block.near.shape[1]):
            q = block.near[block.pieces[p, COMBINATION], i]
            c = block.pieces[q, OWNER]
            if q >= 0 and block.classes[c, VISIT] != block.number[1]:
                block.classes[c, VISIT] = block.number[1]
                others[number] = c
                number += 1
        p = block.pieces[p, AFTER]
    return number


@loop
def _choose_partner(
    columns: ColumnArrays,
    rules: SecretRules,
    block: ClassBlock,
    k: int,
    a: int,
    others: Ints,
    slacks: Floats,
    joint: Ints,
) -> tuple[float, int, int, int]:
    """Find the partner with the least cost; return the cost, the class, the records and the piece.

    A class of more than k records lends records of one of its pieces: as many as class a lacks, or
    two if that costs less. Another class is taken whole, and the piece is -1. If `slacks` has the
    slack of every class, the cost is divided by the slack that joining removes. `joint` is to work
    with.
    """
    size = block.classes[a, SIZE]
    lacking = 0 if len(rules.secrets) > 0 else max(0, k - size)
    best = np.inf
    partner = -1
    taken = 0
    source = -1
    for b in others:
        worth = 1.0
        if len(slacks) > 0:
            for v in range(len(joint)):
                joint[v] = block.class_tallies[a, v] + block.class_tallies[b, v]
            worth = slacks[a] + slacks[b] - slack(rules, joint)
            if worth <= 0.0:
                continue
        spare = block.classes[b, SIZE] - k
        lends = 0 < lacking <= spare
        p = block.classes[b, HEAD] if lends else -1
        least = lacking if lends else block.classes[b, SIZE]
        while True:
            most = min(max(lacking, 2), block.pieces[p, AMOUNT], spare) if lends else least
            for n in range(least, most + 1):
                base = size * block.costs[a] + n * block.costs[b]
                limit = (best * worth + base) / (size + n)
                rule = UNSURE if size + n < k else 1.0
                if lends:
                    grown = (block.pieces[p, COMBINATION], n, rule)
                    more = grown_cost(columns, block.states, a, block.codes, grown, limit)
                else:
                    more = joint_cost(columns, block.states, a, b, rule, limit)
                more = (size + n) * more
                if (more - base) / worth < best:
                    best = (more - base) / worth
                    partner = b
                    taken = n
                    source = p
            if lends:
                p = block.pieces[p, AFTER]
            if p < 0:
                break
    return best, partner, taken, source


@inner
def _sift_down(heap: Ints, number: int, keys: Floats) -> None:
    """Move the first of a heap down to its place by key; of equal keys the least comes first."""
    i = 0
    own = heap[0]
    while 2 * i + 1 < number:
        child = 2 * i + 1
        for other in range(child + 1, min(child + 2, number)):
            x = heap[child]
            y = heap[other]
            if keys[y] < keys[x] or (keys[y] == keys[x] and y < x):
                child = other
        c = heap[child]
        if keys[own] < keys[c] or (keys[own] == keys[c] and own < c):
            break
        heap[i] = c
        i = child
    heap[i] = own


@loop
def join_classes(
    columns: ColumnArrays, rules: SecretRules, block: ClassBlock, k: int, convex: bool
) -> None:
    """Join classes until none breaks a rule, or only one is left.

    The partner of a class is the nearest one. If a rule bounds a distance (`convex`), it is the
    class with the least cost for each unit of slack that joining removes. A class is compared with
    others when it comes first in the heap, and again if its partner has changed since.
    """
    n = len(block.classes)
    none = block.number[0] * 0
    out = len(block.classes)
    keys = np.full(n, -np.inf)
    slacks = np.zeros(n)
    others = np.empty(n, dtype=np.int64)
    heap = np.empty(n, dtype=np.int64)
    number = 0
    nothing = (none, none, none, none)
    choice = np.full((n, 4), -1, dtype=np.int64)
    versions = np.zeros(n, dtype=np.int64)
    joint = np.empty(block.class_tallies.shape[1], dtype=np.int64)
    for c in range(n):
        if block.classes[c, SIZE] == 0:
            continue
        keep_state(block, c, out, altered_cost(columns, block, k, c, nothing, out, np.inf))
        slacks[c] = slack(rules, block.class_tallies[c]) if len(rules.secrets) > 0 else 0.0
        if block.classes[c, SIZE] < k or slacks[c] > 0.0:
            heap[number] = c
            number += 1
    while number:
        a = heap[0]
        b = choice[a, 0]
        amount = choice[a, 1]
        piece = choice[a, 2]
        if b >= 0 and block.classes[a, SIZE] > 0 and versions[b] == choice[a, 3]:
            p = piece if piece >= 0 else block.classes[b, HEAD]
            while p >= 0:
                move_records(block, p, amount if piece >= 0 else block.pieces[p, AMOUNT], a)
                p = -1 if piece >= 0 else block.classes[b, HEAD]
            for side in range(2):
                c = b if side else a
                versions[c] += 1
                keep_state(block, c, out, altered_cost(columns, block, k, c, nothing, out, np.inf))
            slacks[a] = slack(rules, block.class_tallies[a]) if len(rules.secrets) > 0 else 0.0
        size = block.classes[a, SIZE]
        if size == 0 or (size >= k and slacks[a] == 0.0):
            number -= 1
            heap[0] = heap[number]
            _sift_down(heap, number, keys)
            continue
        choice[a, 0] = -1
        by_slack = convex and slacks[a] > 0.0
        for attempt in range(4 if by_slack else 2):  # near ones, all; then regardless of slack
            if choice[a, 0] < 0:
                listed = _list_others(block, a, attempt % 2 == 1, others)
                weighed = by_slack and attempt < 2
                known = slacks[: n if weighed else 0]
                more, choice[a, 0], choice[a, 1], choice[a, 2] = _choose_partner(
                    columns, rules, block, k, a, others[:listed], known, joint
                )
                keys[a] = more if weighed else more / size
        if choice[a, 0] < 0:
            break
        choice[a, 3] = versions[choice[a, 0]]
        _sift_down(heap, number, keys)


def holds_rules(rules: SecretRules, block: ClassBlock, k: int) -> bool:
    """Tell whether every class keeps the rules."""
    there = np.flatnonzero(block.classes[:, SIZE])
    if int(block.classes[there, SIZE].min()) < k:
        return False
    if not len(rules.secrets):
        return True
    return not any(slack(rules, block.class_tallies[c]) for c in there)
