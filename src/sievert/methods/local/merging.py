"""Classes joined until none breaks a rule, then improved by moving pieces: "merge or borrow".

A piece is some records of one combination. A class that breaks a rule borrows the records that it
lacks from a combination that can spare them, or is joined with another class; the one that costs
least per record comes first. With rules about secrets nothing is borrowed: whoever would choose the
records could choose them by their secret. The loops are compiled where numba is at hand.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from sievert.arrays import Ints
from sievert.methods.local.columns import INTERVAL, SET, ColumnArrays
from sievert.methods.local.states import NOWHERE, ClassBlock, SecretRules

F = TypeVar("F", bound=Callable[..., Any])


def _kernels() -> Any:
    """The compiled loops, or those of NumPy where numba is missing."""
    try:
        from sievert.methods.local import kernels
    except ImportError:
        from sievert.methods.local import plain

        return plain
    return kernels


_loops = _kernels()
loop: Callable[[F], F] = _loops.loop
nearest, state_cost = _loops.nearest, _loops.state_cost
join_column, slack = _loops.join_column, _loops.slack
SWEEPS = 6  # over all classes, to move pieces
CROWD = 64  # pieces of a class that is left as it is: what one of them costs takes all to tell
ENOUGH = 1e-9  # of a cost: what falls by less has not fallen


@loop
def _add(columns: ColumnArrays, x: Ints, a: int, b: int) -> None:
    """The state of class a becomes that of it together with class b."""
    for j in range(len(columns.kinds)):
        s, t, u, v = join_column(columns, j, x, a, b)
        x[a, j, 0], x[a, j, 1], x[a, j, 2], x[a, j, 3] = s, t, u, v


@loop
def _copy_state(x: Ints, a: int, b: int) -> None:
    """The state of class a becomes that of class b."""
    for j in range(x.shape[1]):
        for i in range(4):
            x[a, j, i] = x[b, j, i]


@loop
def _piece_state(columns: ColumnArrays, block: ClassBlock, combination: int, amount: int) -> int:
    """The row with the state of a piece alone: the last one."""
    x, at = block.states, len(block.states) - 1
    for j in range(x.shape[1]):
        p = block.codes[combination, j]
        x[at, j, 0] = x[at, j, 1] = x[at, j, 2] = x[at, j, 3] = p
        if columns.kinds[j] == SET:
            x[at, j, 0] = np.int64(1) << p if amount == 1 else 0
            x[at, j, 1] = 0 if amount == 1 else np.int64(1) << p
        if columns.kinds[j] != INTERVAL:
            x[at, j, 2] = x[at, j, 3] = 0
        elif amount == 1:
            x[at, j, 1], x[at, j, 3] = NOWHERE, -1
    return at


@loop
def _add_tally(sums: Ints, a: int, more: Ints, b: int, sign: np.int64) -> None:
    """Count the secrets of row b of `more` in row a, or no longer."""
    for v in range(sums.shape[1]):
        sums[a, v] += sign * more[b, v]


@loop
def _joint_slack(rules: SecretRules, x: Ints, a: int, y: Ints, b: int, sign: np.int64) -> float:
    """The slack of the records of row a of tallies with, or without, those of row b of others."""
    joint = np.empty(x.shape[1], dtype=np.int64)
    for v in range(len(joint)):
        joint[v] = x[a, v] + sign * y[b, v]
    return slack(rules, joint)  # type: ignore[no-any-return]


@loop
def join_classes(
    columns: ColumnArrays, rules: SecretRules, block: ClassBlock, k: int, convex: bool
) -> None:
    """Join classes until none breaks a rule, or only one is left.

    The partner of a class is the nearest one. Where a rule bounds a distance (`convex`) it is the
    one with the least cost for each unit of slack that is removed by joining them.
    """
    n, ruled = len(block.sizes), len(rules.kinds) > 0
    keys, partners = np.full(n, np.inf), np.full(n, -1, dtype=np.int64)
    amounts, pieces = np.zeros(n, dtype=np.int64), np.full(n, -1, dtype=np.int64)
    versions = np.zeros(n, dtype=np.int64)
    known = np.zeros(n, dtype=np.int64)  # the version of the partner when it was chosen
    slacks, merits, none = np.zeros(n), np.zeros(n), np.zeros(0)
    for c in range(n):
        if ruled and block.sizes[c] > 0:
            slacks[c] = slack(rules, block.class_tallies[c])
        if block.sizes[c] > 0 and (block.sizes[c] < k or slacks[c] > 0.0):
            keys[c] = -np.inf  # the partner is to be chosen
    while n:
        a = int(np.argmin(keys))
        b = partners[a]
        if keys[a] == np.inf:
            break
        if b >= 0 and versions[b] == known[a]:
            if pieces[a] >= 0:
                _move(columns, block, pieces[a], amounts[a], b, a)
            else:
                _merge(columns, block, a, b)
                keys[b] = np.inf
                if ruled:
                    slacks[a] = slack(rules, block.class_tallies[a])
            versions[a] += 1
            versions[b] += 1
            if block.sizes[a] >= k and slacks[a] == 0.0:
                keys[a] = np.inf
                continue
        of, partners[a] = (a, a, block.sizes[a], block.costs[a], np.inf), -1
        if convex and slacks[a] > 0.0:
            for c in range(n):
                merits[c] = 0.0
                if c != a and block.sizes[c] > 0:
                    joint = _joint_slack(
                        rules, block.class_tallies, a, block.class_tallies, c, np.int64(1)
                    )
                    merits[c] = slacks[a] + slacks[c] - joint
            keys[a], partners[a], amounts[a], pieces[a] = nearest(
                columns, block, of, np.int64(0), merits
            )
        if partners[a] < 0:
            more, partners[a], amounts[a], pieces[a] = nearest(
                columns, block, of, np.int64(0) if ruled else k, none
            )
            keys[a] = more / block.sizes[a]
        if partners[a] < 0:
            break
        known[a] = versions[partners[a]]


@loop
def _merge(columns: ColumnArrays, block: ClassBlock, a: int, b: int) -> None:
    """All records of class b go to class a."""
    _add(columns, block.states, a, b)
    block.costs[a] = state_cost(columns, block.states, a)
    last = block.heads[b]
    block.owners[last] = a
    while block.after[last] >= 0:
        last = block.after[last]
        block.owners[last] = a
    block.after[last] = block.heads[a]
    block.heads[a] = block.heads[b]
    block.heads[b] = -1
    _add_tally(block.class_tallies, a, block.class_tallies, b, np.int64(1))
    block.sizes[a] += block.sizes[b]
    block.sizes[b] = 0


@loop
def _state_without(columns: ColumnArrays, block: ClassBlock, c: int, piece: int, moved: int) -> int:
    """The row with the state of a class without some records of a piece: the last but one."""
    empty, p, at = True, block.heads[c], len(block.states) - 2
    while p >= 0:
        amount = block.amounts[p] - (moved if p == piece else 0)
        if amount > 0:
            own = _piece_state(columns, block, block.combinations[p], amount)
            if empty:
                _copy_state(block.states, at, own)
                empty = False
            else:
                _add(columns, block.states, at, own)
        p = block.after[p]
    return at


@loop
def _move(
    columns: ColumnArrays, block: ClassBlock, piece: int, moved: int, source: int, to: int
) -> None:
    """Some records of a piece go from one class to another."""
    combination = block.combinations[piece]
    rest = _state_without(columns, block, source, piece, moved)
    own = _piece_state(columns, block, combination, moved)
    _add(columns, block.states, to, own)
    block.costs[to] = state_cost(columns, block.states, to)
    if moved == block.amounts[piece]:
        before, p = -1, block.heads[source]
        while p != piece:
            before, p = p, block.after[p]
        if before < 0:
            block.heads[source] = block.after[piece]
        else:
            block.after[before] = block.after[piece]
        _add_tally(block.class_tallies, source, block.tallies, combination, np.int64(-1))
        _add_tally(block.class_tallies, to, block.tallies, combination, np.int64(1))
        new = piece
    else:
        new = block.number[0]
        block.number[0] += 1
        block.combinations[new] = combination
        block.amounts[piece] -= moved
    block.amounts[new], block.owners[new] = moved, to
    block.after[new] = block.heads[to]
    block.heads[to] = new
    block.sizes[source] -= moved
    block.sizes[to] += moved
    _copy_state(block.states, source, rest)
    block.costs[source] = state_cost(columns, block.states, rest) if block.sizes[source] else 0.0


@loop
def _place(
    columns: ColumnArrays,
    rules: SecretRules,
    block: ClassBlock,
    source: int,
    piece: int,
    moved: int,
    most: float,
) -> tuple[float, int]:
    """What records of a piece cost in the class where that is least, if less than `most`; which."""
    own = _piece_state(columns, block, block.combinations[piece], moved)
    more, to, _, _ = nearest(
        columns, block, (own, source, moved, 0.0, most), np.int64(0), np.zeros(0)
    )
    combination = block.combinations[piece]
    if to < 0 or len(rules.kinds) == 0:
        return more, to
    broken = _joint_slack(rules, block.class_tallies, to, block.tallies, combination, np.int64(1))
    return (np.inf, -1) if broken > 0.0 else (more, to)


@loop
def _count_pieces(block: ClassBlock, c: int) -> int:
    """The number of pieces of a class."""
    number, p = 0, block.heads[c]
    while p >= 0:
        number, p = number + 1, block.after[p]
    return number


@loop
def move_pieces(columns: ColumnArrays, rules: SecretRules, block: ClassBlock, k: int) -> float:
    """Move pieces to classes where they cost less, if theirs still holds the rules; what is won."""
    won = 0.0
    for c in range(len(block.sizes)):
        piece = block.heads[c] if _count_pieces(block, c) <= CROWD else -1
        while piece >= 0 and block.costs[c] > 0.0:
            following = block.after[piece]
            moved = min(block.amounts[piece], block.sizes[c] - k)
            whole = moved == block.amounts[piece]
            if moved > 0 and len(rules.kinds) > 0:
                own = block.combinations[piece]
                if not whole or _joint_slack(
                    rules, block.class_tallies, c, block.tallies, own, np.int64(-1)
                ):
                    moved = 0
            if moved > 0 and block.number[0] < len(block.amounts):
                size = block.sizes[c]
                rest = _state_without(columns, block, c, piece, moved)
                cost = state_cost(columns, block.states, rest)
                gain = size * block.costs[c] - (size - moved) * cost
                if gain > 0.0:
                    more, to = _place(columns, rules, block, c, piece, moved, gain)
                    if to >= 0 and gain - more > ENOUGH:
                        _move(columns, block, piece, moved, c, to)
                        won += gain - more
            piece = following
    return won


@loop
def dissolve_classes(columns: ColumnArrays, rules: SecretRules, block: ClassBlock) -> float:
    """Spread the pieces of a class over others, where that costs less; what is won."""
    won = 0.0
    for c in range(len(block.sizes)):
        whole = block.sizes[c] * block.costs[c]
        if whole <= 0.0 or _count_pieces(block, c) > CROWD:
            continue
        spent, piece = 0.0, block.heads[c]
        while piece >= 0 and spent < whole:
            left = whole - spent
            more, _ = _place(columns, rules, block, c, piece, block.amounts[piece], left)
            spent += more
            piece = block.after[piece]
        if spent >= whole - ENOUGH:
            continue
        spent = 0.0
        while block.heads[c] >= 0:
            piece = block.heads[c]
            more, to = _place(columns, rules, block, c, piece, block.amounts[piece], np.inf)
            if to < 0:
                break  # what was moved before leaves no class that holds the rules with it
            _move(columns, block, piece, block.amounts[piece], c, to)
            spent += more
        won += whole - spent
    return won


def improve_classes(columns: ColumnArrays, rules: SecretRules, block: ClassBlock, k: int) -> None:
    """Move pieces and dissolve classes until little is won by it."""
    for _ in range(SWEEPS):
        won = move_pieces(columns, rules, block, k) + dissolve_classes(columns, rules, block)
        if won < 1e-3 * float(block.sizes @ block.costs):
            break


def holds_rules(rules: SecretRules, block: ClassBlock, k: int) -> bool:
    """Whether no class breaks a rule."""
    there = np.flatnonzero(block.sizes)
    return int(block.sizes[there].min()) >= k and not any(
        slack(rules, block.class_tallies[c]) for c in (there if len(rules.kinds) else ())
    )
