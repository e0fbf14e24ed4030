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
join_column, breaks_rules = _loops.join_column, _loops.breaks_rules
SWEEPS = 6  # over all classes, to move pieces
ENOUGH = 1e-9  # of a cost: what falls by less has not fallen


@loop
def _add(columns: ColumnArrays, x: Ints, a: int, y: Ints, b: int, single: bool) -> None:
    """The state of class a of x becomes that of it together with class b of y."""
    for j in range(len(columns.kinds)):
        s, t, u, v = join_column(columns, j, x, a, y, b, single)
        x[a, j, 0], x[a, j, 1], x[a, j, 2], x[a, j, 3] = s, t, u, v


@loop
def _piece_state(columns: ColumnArrays, codes: Ints, i: int, amount: int) -> Ints:
    """The state of a piece alone."""
    state = np.zeros((1, codes.shape[1], 4), dtype=np.int64)
    for j in range(codes.shape[1]):
        p = codes[i, j]
        if columns.kinds[j] == SET:
            state[0, j, 0 if amount == 1 else 1] = np.int64(1) << p
        else:
            state[0, j, 0] = state[0, j, 1] = p
            if columns.kinds[j] == INTERVAL:
                state[0, j, 2] = state[0, j, 3] = p
                if amount == 1:
                    state[0, j, 1], state[0, j, 3] = NOWHERE, -1
    return state


@loop
def _is_bad(block: ClassBlock, rules: SecretRules, k: int, c: int) -> bool:
    """Whether a class breaks a rule."""
    return block.sizes[c] < k or (
        len(rules.kinds) > 0 and breaks_rules(rules, block.class_tallies[c])
    )


@loop
def holds_rules(rules: SecretRules, block: ClassBlock, k: int) -> bool:
    """Whether no class breaks a rule."""
    for c in range(len(block.sizes)):
        if block.sizes[c] > 0 and _is_bad(block, rules, k, c):
            return False
    return True


@loop
def _find_partner(
    columns: ColumnArrays, rules: SecretRules, block: ClassBlock, k: int, c: int
) -> tuple[float, int, int, int]:
    """The nearest class; one that lends records only where there is no rule about a secret."""
    of = (c, block.sizes[c], block.costs[c], np.inf)
    lend = len(rules.kinds) == 0
    return nearest(columns, block, block.states[c : c + 1], of, k, lend)  # type: ignore[no-any-return]


@loop
def join_classes(columns: ColumnArrays, rules: SecretRules, block: ClassBlock, k: int) -> None:
    """Join classes until none breaks a rule, or only one is left."""
    n = len(block.sizes)
    keys, partners = np.full(n, np.inf), np.full(n, -1, dtype=np.int64)
    amounts, pieces = np.zeros(n, dtype=np.int64), np.full(n, -1, dtype=np.int64)
    versions = np.zeros(n, dtype=np.int64)
    known = np.zeros(n, dtype=np.int64)  # the version of the partner when it was chosen
    for c in range(n):
        if block.sizes[c] > 0 and _is_bad(block, rules, k, c):
            more, partners[c], amounts[c], pieces[c] = _find_partner(columns, rules, block, k, c)
            keys[c] = more / block.sizes[c]
    while n:
        a = int(np.argmin(keys))
        b = partners[a]
        if keys[a] == np.inf or b < 0:
            break
        if versions[b] == known[a]:
            if pieces[a] >= 0:
                _move(columns, block, pieces[a], amounts[a], b, a)
            else:
                _merge(columns, block, a, b)
                keys[b] = np.inf
            versions[a] += 1
            versions[b] += 1
            if not _is_bad(block, rules, k, a):
                keys[a] = np.inf
                continue
        more, partners[a], amounts[a], pieces[a] = _find_partner(columns, rules, block, k, a)
        known[a] = versions[partners[a]]
        keys[a] = more / block.sizes[a]


@loop
def _merge(columns: ColumnArrays, block: ClassBlock, a: int, b: int) -> None:
    """All records of class b go to class a."""
    _add(columns, block.states, a, block.states, b, False)
    block.costs[a] = state_cost(columns, block.states, a)
    last = block.heads[b]
    block.owners[last] = a
    while block.after[last] >= 0:
        last = block.after[last]
        block.owners[last] = a
    block.after[last] = block.heads[a]
    block.heads[a] = block.heads[b]
    block.heads[b] = -1
    block.class_tallies[a] += block.class_tallies[b]
    block.sizes[a] += block.sizes[b]
    block.sizes[b] = 0


@loop
def _state_without(
    columns: ColumnArrays, block: ClassBlock, c: int, piece: int, moved: int
) -> Ints:
    """The state of a class without some records of one of its pieces."""
    state, empty = block.states[c : c + 1], True
    p = block.heads[c]
    while p >= 0:
        amount = block.amounts[p] - (moved if p == piece else 0)
        if amount > 0:
            own = _piece_state(columns, block.codes, block.combinations[p], amount)
            if empty:
                state, empty = own, False
            else:
                _add(columns, state, 0, own, 0, False)
        p = block.after[p]
    return state


@loop
def _move(
    columns: ColumnArrays, block: ClassBlock, piece: int, moved: int, source: int, to: int
) -> None:
    """Some records of a piece go from one class to another."""
    combination = block.combinations[piece]
    rest = _state_without(columns, block, source, piece, moved)
    own = _piece_state(columns, block.codes, combination, moved)
    _add(columns, block.states, to, own, 0, False)
    block.costs[to] = state_cost(columns, block.states, to)
    if moved == block.amounts[piece]:
        before, p = -1, block.heads[source]
        while p != piece:
            before, p = p, block.after[p]
        if before < 0:
            block.heads[source] = block.after[piece]
        else:
            block.after[before] = block.after[piece]
        block.class_tallies[source] -= block.tallies[combination]
        block.class_tallies[to] += block.tallies[combination]
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
    block.states[source] = rest[0]
    block.costs[source] = state_cost(columns, rest, 0) if block.sizes[source] else 0.0


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
    own = _piece_state(columns, block.codes, block.combinations[piece], moved)
    more, to, _, _ = nearest(columns, block, own, (source, moved, 0.0, most), 0, False)
    if to >= 0 and len(rules.kinds) > 0:
        joint = block.class_tallies[to] + block.tallies[block.combinations[piece]]
        if breaks_rules(rules, joint):
            return np.inf, -1
    return more, to


@loop
def move_pieces(columns: ColumnArrays, rules: SecretRules, block: ClassBlock, k: int) -> float:
    """Move pieces to classes where they cost less, if theirs still holds the rules; what is won."""
    won = 0.0
    for c in range(len(block.sizes)):
        piece = block.heads[c]
        while piece >= 0 and block.costs[c] > 0.0:
            following = block.after[piece]
            moved = min(block.amounts[piece], block.sizes[c] - k)
            whole = moved == block.amounts[piece]
            if moved > 0 and len(rules.kinds) > 0:
                rest = block.class_tallies[c] - block.tallies[block.combinations[piece]]
                if not whole or breaks_rules(rules, rest):
                    moved = 0
            if moved > 0 and block.number[0] < len(block.amounts):
                size = block.sizes[c]
                cost = state_cost(columns, _state_without(columns, block, c, piece, moved), 0)
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
        if whole <= 0.0:
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


@loop
def improve_classes(columns: ColumnArrays, rules: SecretRules, block: ClassBlock, k: int) -> None:
    """Move pieces and dissolve classes until little is won by it."""
    total = 0.0
    for c in range(len(block.sizes)):
        total += block.sizes[c] * block.costs[c]
    for _ in range(SWEEPS):
        won = move_pieces(columns, rules, block, k) + dissolve_classes(columns, rules, block)
        total -= won
        if won < 1e-3 * total:
            break
