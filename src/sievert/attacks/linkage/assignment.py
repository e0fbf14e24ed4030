"""One-to-one linkage: the originals that a record has in some cheapest assignment."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sievert.arrays import Bools, Ints
from sievert.attacks.linkage.space import LONG, DistanceSpace, File
from sievert.errors import ExhaustedError, require
from sievert.formatting import plural

MOST_ASSIGNED = 5000  # records of a block that are assigned one to one
CLOSE = 1e-9  # of the largest distance: what counts as equal in an assignment of rounded distances


def one_to_one(
    space: DistanceSpace, mine: File, theirs: File, origin: Ints
) -> tuple[Ints, Bools, Ints]:
    """For each released record the originals it has in some assignment of least total distance.

    The third array counts places that are left over as well.
    """
    blocks = int(max(mine.block.max(), theirs.block.max())) + 1
    parts = [_rows_by_block(file.block, blocks) for file in (mine, theirs)]
    size = max(max(len(a), len(b)) for a, b in zip(*parts, strict=True) if len(a))
    require(
        size <= MOST_ASSIGNED,
        f"one-to-one linkage is for at most {plural(MOST_ASSIGNED, 'record')} of a block, "
        f"and there are {size:,}",
        hint="linkage nearest, or block columns",
        error=ExhaustedError,
    )
    nearest, among = np.zeros(len(origin), dtype=np.int64), np.zeros(len(origin), dtype=np.int64)
    is_hit = np.zeros(len(origin), dtype=bool)
    for rows, others in zip(*parts, strict=True):
        if not len(rows) or not len(others):
            continue
        size = max(len(rows), len(others))
        cost = np.zeros((size, size))
        cost[: len(rows), : len(others)] = space.table(mine.take(rows), theirs.take(others))
        close = CLOSE * float(cost.max())
        if not space.slack and space.most * 2 * size < LONG:
            cost, close = cost.astype(np.int64), 0
        choice = _choices(cost, close)[: len(rows)]
        among[rows] = np.count_nonzero(choice, axis=1)
        choice = choice[:, : len(others)]
        nearest[rows] = np.count_nonzero(choice, axis=1)
        known = np.flatnonzero(origin[rows] >= 0)
        is_hit[rows[known]] = choice[known, np.searchsorted(others, origin[rows])[known]]
    return nearest, is_hit, among


def _rows_by_block(block: Ints, blocks: int) -> list[Ints]:
    """The rows of each block, upwards."""
    ends = np.cumsum(np.bincount(block, minlength=blocks))
    return np.split(np.argsort(block, kind="stable"), ends[:-1])


def _choices(cost: NDArray[Any], close: float) -> Bools:
    """Whether a row has a column in some assignment of least cost.

    It has if its reduced cost is 0 and a cycle of such pairs, in turn chosen and not, leads back.
    """
    above, beside, column = _assign(cost)
    tight: Bools = cost - above[:, None] - beside <= close
    steps = tight[:, column]  # from a row to those whose column it could have
    part = _components(steps)
    steps &= part[:, None] == part
    choice = np.zeros_like(tight)
    choice[:, column] = steps
    return choice


def _components(steps: Bools) -> Ints:
    """The strongly connected components of a dense graph (Kosaraju): a number for each node."""
    size = len(steps)
    fresh, order = np.ones(size, dtype=bool), []
    for start in range(size):
        path = [start] if fresh[start] else []
        fresh[start] = False
        while path:
            onward = steps[path[-1]] & fresh
            after = int(onward.argmax())
            if onward[after]:
                fresh[after] = False
                path.append(after)
            else:
                order.append(path.pop())
    back, part = np.ascontiguousarray(steps.T), np.full(size, -1)
    for start in reversed(order):
        path = [start] if part[start] < 0 else []
        part[path] = start
        while path:
            reached = np.flatnonzero(back[path.pop()] & (part < 0))
            part[reached] = start
            path += reached.tolist()
    return part


def _assign(cost: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], Ints]:
    """Prices, and the column of each row at the least cost: shortest paths (Jonker and Volgenant).

    No cost is below the prices `above` of its row and `beside` its column; those of the chosen are
    equal to them.
    """
    size = len(cost)
    above, beside = cost.min(axis=1), np.zeros(size, dtype=cost.dtype)
    column, row = np.full(size, -1), np.full(size, -1)
    for i in range(size):
        free = np.flatnonzero((cost[i] == above[i]) & (row < 0))
        if len(free):
            column[i], row[free[0]] = free[0], i
    for start in np.flatnonzero(column < 0):
        far = cost[start] - above[start] - beside
        before = np.full(size, start)
        left = np.ones(size, dtype=bool)
        while True:
            least = far[left].min()
            here = np.flatnonzero(left & (far == least))
            free = here[row[here] < 0]
            if len(free):
                break
            for j in here:
                left[j] = False
                through = cost[row[j]] - above[row[j]] - beside + least
                shorter = left & (through < far)
                far = np.where(shorter, through, far)
                before = np.where(shorter, row[j], before)
        seen = np.flatnonzero(~left)
        above[row[seen]] += least - far[seen]
        beside[seen] -= least - far[seen]
        above[start] += least
        end, i = free[0], -1
        while i != start:
            i = before[end]
            row[end] = i
            column[i], end = end, column[i]
    return above, beside, column
