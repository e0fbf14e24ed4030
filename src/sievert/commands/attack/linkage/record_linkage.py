"""Released records linked to originals by their distance, and how many are linked rightly."""

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sievert.arrays import Bools, Floats, Ints
from sievert.commands.attack.linkage.search import nearest
from sievert.commands.attack.linkage.space import (
    LONG,
    Columns,
    Distance,
    DistanceSpace,
    File,
    Scale,
    build_space,
    check_name,
    set_blocks,
)
from sievert.errors import ExhaustedError, InputError, require
from sievert.formatting import plural
from sievert.numerics.acceleration import thread_count
from sievert.numerics.special_functions import wilson

Matching = Literal["nearest", "one-to-one"]

WORK = 10**8  # pairs from which compiled code is worth its loading
MOST_ASSIGNED = 5000  # records of a block that are assigned one to one
CLOSE = 1e-9  # of the largest distance: what counts as equal in an assignment of rounded distances


@dataclass(frozen=True, eq=False, kw_only=True)
class Linkage:
    """How many released records are linked to their origin, and for each record whether it is.

    `nearest[i]` is the number of originals that released record i is linked to, `found[i]` whether
    its origin is among them, `credit[i]` the chance that a choice among them hits it.
    """

    distance: Distance
    linkage: Matching
    scale: Scale | None
    columns: int
    originals: int
    with_origin: int
    baseline: float
    level: float
    nearest: Ints
    found: Bools
    credit: Floats
    ties: int

    @property
    def records(self) -> int:
        """The number of released records."""
        return len(self.credit)

    @property
    def correct_linkage(self) -> float:
        """The share of released records that are linked to their origin; a tie of t counts 1/t."""
        return min(1.0, math.fsum(self.credit.tolist()) / self.records)

    @property
    def spruill_confidentiality(self) -> float:
        """1 - correct_linkage."""
        return 1.0 - self.correct_linkage

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's interval of the share."""
        return wilson(self.correct_linkage * self.records, self.records, self.level)

    def to_dict(self) -> dict[str, Any]:
        """The values as JSON: shares and counts, nothing about a single record."""
        return {
            "distance": self.distance,
            "linkage": self.linkage,
            "scale": self.scale,
            "columns": self.columns,
            "records": self.records,
            "originals": self.originals,
            "with_origin": self.with_origin,
            "correct_linkage": self.correct_linkage,
            "spruill_confidentiality": self.spruill_confidentiality,
            "baseline": self.baseline,
            "interval": list(self.interval),
            "level": self.level,
            "ties": self.ties,
        }


def link(
    released: Columns,
    original: Columns,
    origin: Ints,
    *,
    distance: Distance = "gower",
    linkage: Matching = "nearest",
    scale: Scale = "sd",
    block: tuple[Columns, Columns] | None = None,
    level: float = 0.95,
    compiled: bool | None = None,
    threads: int | None = None,
) -> Linkage:
    """Link every released record to its nearest originals, and count the true ones.

    Parameters
    ----------
    released, original
        The columns of both files, in the same order: floats are numbers (NaN is missing), integers
        codes of categories (0 is missing), the same code for the same value in both.
    origin
        For each released record the row of its original, from 0; -1 if it has none.
    distance
        "gower": the mean over columns of |x - y|/range for numbers, of 0 or 1 for categories.
        "l1", "l2": the sum over columns of numbers of |x - y|^p.
    linkage
        "nearest": to the nearest originals; "one-to-one": the assignment of least total distance.
    scale
        For l1 and l2: divide by the standard deviation of the original ("sd"), or not ("none").
    block
        Columns of codes of both files: records are compared only where all of these are equal.
    level
        Of the interval.
    compiled
        Whether to use compiled code, if numba is there; by default where it pays. The numbers are
        the same.
    threads
        For compiled code; by default one per core.

    >>> ages = np.array([21.0, 34.0, 34.0]), np.array([20.0, 33.0, 36.0])
    >>> found = link([ages[0]], [ages[1]], np.arange(3))
    >>> found.correct_linkage, found.baseline
    (0.6666666666666666, 0.3333333333333333)
    """
    check_name("linkage", linkage, Matching)
    require(0.0 < level < 1.0, "the level of an interval is between 0 and 1")
    space, mine, theirs = build_space(released, original, distance, scale)
    origin = np.asarray(origin)
    n = len(mine.block)
    m = len(theirs.block)
    require(
        origin.shape == (n,) and origin.dtype.kind in "iu",
        "the origins are one row number for each released record",
    )
    require(
        not n or (origin.min() >= -1 and origin.max() < m),
        f"an origin is not a row of the {plural(m, 'original record')}",
    )
    require(n and m, f"the {'original' if n else 'release'} has no record", error=InputError)
    origin = origin.astype(np.int64)
    mine, theirs = set_blocks(mine, theirs, block)
    sizes = np.bincount(theirs.block, minlength=int(mine.block.max()) + 1)[mine.block]
    # An origin in another block, or none, cannot be hit, not even by chance.
    hittable = (origin >= 0) & (theirs.block[origin] == mine.block)
    home = np.where(hittable, origin, -1)
    if linkage == "nearest":
        fast = int(sizes.sum()) >= WORK if compiled is None else compiled
        workers = thread_count(threads)
        linked, is_hit = nearest(space, mine, theirs, home, compiled=fast, threads=workers)
        among = linked
    else:
        linked, is_hit, among = one_to_one(space, mine, theirs, home)
    return Linkage(
        distance=distance,
        linkage=linkage,
        scale=None if distance == "gower" else scale,
        columns=space.columns,
        originals=m,
        with_origin=int(np.count_nonzero(origin >= 0)),
        baseline=math.fsum((hittable / np.maximum(sizes, 1)).tolist()) / n,
        level=level,
        nearest=linked,
        found=is_hit,
        credit=is_hit / np.maximum(among, 1),
        ties=int(np.count_nonzero(among > 1)),
    )


def distances(
    released: Columns, original: Columns, *, distance: Distance = "gower", scale: Scale = "sd"
) -> Floats:
    """The distance of every released record, a row each, to every original.

    >>> distances([np.array([20.0, 30.0]), np.array([1, 2])], [np.array([40.0]), np.array([1])])
    array([[0.5 ],
           [0.75]])
    """
    space, mine, theirs = build_space(released, original, distance, scale)
    return space.table(mine, theirs) * float(space.unit)


# -- one to one -----------------------------------------------------------------------------------


def one_to_one(
    space: DistanceSpace, mine: File, theirs: File, origin: Ints
) -> tuple[Ints, Bools, Ints]:
    """For each released record the originals it has in some assignment of least total distance.

    The third array counts places that are left over as well.
    """
    blocks = int(max(mine.block.max(), theirs.block.max())) + 1
    ends = [np.cumsum(np.bincount(each.block, minlength=blocks))[:-1] for each in (mine, theirs)]
    parts = [  # the rows of each block, upwards
        np.split(np.argsort(each.block, kind="stable"), end)
        for each, end in zip((mine, theirs), ends, strict=True)
    ]
    size = max(max(len(a), len(b)) for a, b in zip(*parts, strict=True) if len(a))
    require(
        size <= MOST_ASSIGNED,
        f"one-to-one linkage is for at most {plural(MOST_ASSIGNED, 'record')} of a block, "
        f"and there are {size:,}",
        hint="linkage nearest, or block columns",
        error=ExhaustedError,
    )
    nearest = np.zeros(len(origin), dtype=np.int64)
    among = np.zeros(len(origin), dtype=np.int64)
    is_hit = np.zeros(len(origin), dtype=bool)
    for rows, others in zip(*parts, strict=True):
        if not len(rows) or not len(others):
            continue
        size = max(len(rows), len(others))
        cost = np.zeros((size, size))
        cost[: len(rows), : len(others)] = space.table(mine.take(rows), theirs.take(others))
        close = CLOSE * float(cost.max())
        if not space.slack and space.most * 2 * size < LONG:
            cost = cost.astype(np.int64)
            close = 0
        choice = _choices(cost, close)[: len(rows)]
        among[rows] = np.count_nonzero(choice, axis=1)
        choice = choice[:, : len(others)]
        nearest[rows] = np.count_nonzero(choice, axis=1)
        known = np.flatnonzero(origin[rows] >= 0)
        is_hit[rows[known]] = choice[known, np.searchsorted(others, origin[rows])[known]]
    return nearest, is_hit, among


def _choices(cost: NDArray[Any], close: float) -> Bools:
    """Whether a row has a column in some assignment of least cost.

    It has if its reduced cost is 0 and a cycle of such pairs, in turn chosen and not, leads back.
    """
    above, beside, column = _assign(cost)
    tight: Bools = cost - above[:, None] - beside <= close
    part = _components(tight[:, column])  # from a row to those whose column it could have
    tight[:, column] &= part[:, None] == part
    return tight


def _components(steps: Bools) -> Ints:
    """The strongly connected components of a dense graph (Kosaraju): a number for each node."""
    size = len(steps)
    fresh = np.ones(size, dtype=bool)
    order = []
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
    back = np.ascontiguousarray(steps.T)
    part = np.full(size, -1)
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
    above = cost.min(axis=1)
    beside = np.zeros(size, dtype=cost.dtype)
    column = np.full(size, -1)
    row = np.full(size, -1)
    for i in range(size):
        free = np.flatnonzero((cost[i] == above[i]) & (row < 0))
        if len(free):
            column[i] = free[0]
            row[free[0]] = i
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
        end = free[0]
        i = -1
        while i != start:
            i = before[end]
            row[end] = i
            column[i], end = end, column[i]
    return above, beside, column
