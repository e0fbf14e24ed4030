"""Singling out: predicates that hold for one synthetic record, and for one real person.

A predicate takes some columns of a synthetic record. A category has to be equal to its value. A
number has to be at least its value if this is above the median of the synthetic table, otherwise at
most its value. A predicate attacks if it holds for exactly one synthetic record. It singles out a
person if it holds for nobody else in the pool.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Any

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.commands.synthetic.attacks.evidence import SyntheticAttack, weigh
from sievert.commands.synthetic.attacks.kernels import ALONE, Workers
from sievert.commands.synthetic.attacks.orthants import count_in_orthants
from sievert.commands.synthetic.attacks.tables import SyntheticTables
from sievert.commands.synthetic.attacks.task import AttackFindings, AttackTask

WIDEST = 3  # columns of a predicate
MOST_CELLS = 4 * 10**6  # of a table of counts; beyond it, people are looked up in a tree
MOST_SETS = 50_000  # of columns, of one width
WORK = 2 * 10**9  # records and cells that are looked at, for one width: about a minute
LOOKED_UP = 40  # records looked up in a table, at the cost of one looked up in a tree


@dataclass(frozen=True, eq=False, kw_only=True)
class PredicateCounts:
    """The attacking predicates with `width` columns, and the people for whom they hold.

    An attacking predicate holds for exactly one synthetic record.
    """

    width: int
    originals: Ints  # per predicate, how many originals it holds for
    controls: Ints
    per_person: Ints  # per person of the pool, the predicates that hold for nobody else
    sets: int = 1  # of columns that were tried
    stride: int = 1  # of how many sets one was tried

    def singled_out(self, people: int, controls: int, size: int) -> tuple[float, float]:
        """Predicates that hold for exactly one original, and one control, rarefied to one size."""
        own = math.fsum(rarefied(self.originals, people, size).tolist())
        return own, math.fsum(rarefied(self.controls, controls, size).tolist()) if controls else 0.0


def rarefied(counts: Ints, people: int, size: int) -> Floats:
    """The chance that a predicate holds for exactly one of `size` people, drawn from `people`.

    >>> rarefied(np.array([0, 1, 2]), 6, 6).tolist(), rarefied(np.array([1]), 6, 4).tolist()
    ([0.0, 1.0, 0.0], [0.6666666666666666])
    """
    values, of_count = np.unique(counts, return_inverse=True)
    chances = np.zeros(int(values.max(initial=0)) + 1)
    part = size / people if people else 0.0
    for k in range(1, len(chances)):  # C(n - k, n0 - 1) / C(n, n0), from one k to the next
        chances[k] = k * part
        part *= max(0, people - k - size + 1) / max(1, people - k)
    return np.asarray(chances[values][of_count])


def plan_sets(tables: SyntheticTables, width: int) -> tuple[list[tuple[int, ...]], int]:
    """The sets of columns that are tried, and of how many one: all, or every k-th in their order.

    The work of each set is known before: its records, and the cells of its table of counts.
    """
    columns = len(tables.columns)
    stride = max(1, math.ceil(math.comb(columns, width) / MOST_SETS))
    sets = list(islice(combinations(range(columns), width), 0, None, stride))
    more = math.ceil(sum(_work(tables, at) for at in sets) / WORK)
    return sets[::more], stride * more


def _cells(tables: SyntheticTables, at: Sequence[int]) -> int:
    return math.prod(tables.columns[i].values for i in at)


def _work(tables: SyntheticTables, at: Sequence[int]) -> int:
    records = tables.people + len(tables.synthetic)
    cells = _cells(tables, at)
    return records + cells if cells <= MOST_CELLS else LOOKED_UP * records


def count_predicates(
    tables: SyntheticTables, width: int, workers: Workers = ALONE
) -> PredicateCounts:
    """The predicates of a number of columns: of all sets of columns that the plan has."""
    cuts = [_cut(tables, at) for at in range(len(tables.columns))]
    per_person = np.zeros(tables.people, dtype=np.int64)
    originals = []
    controls = []
    sets, stride = plan_sets(tables, width)
    begin_set = workers.count("singling people out", len(sets))
    for at in sets:
        begin_set()
        count = _by_cells if _cells(tables, at) <= MOST_CELLS else _by_tree
        own, other, hits = count(tables, at, [cuts[i] for i in at])
        originals.append(own)
        controls.append(other)
        per_person += hits
    own, other = (np.concatenate(each) for each in (originals, controls))
    return PredicateCounts(
        width=width,
        originals=own,
        controls=other,
        per_person=per_person,
        sets=len(sets),
        stride=stride,
    )


def singling_out(tables: SyntheticTables, counts: PredicateCounts) -> SyntheticAttack:
    """People who are singled out, and what share of the predicates single somebody out."""
    n = tables.originals
    c = tables.controls
    size = min(n, c) if c else n
    own, other = counts.singled_out(n, c, size)
    predicate_count = len(counts.originals)
    details: dict[str, Any] = {
        "columns": counts.width,
        "sets": counts.sets,
        "every": counts.stride,
        "predicates": predicate_count,
        "predicate_rate": {
            "people": size,
            "original": own / predicate_count if predicate_count else None,
            "control": other / predicate_count if predicate_count and c else None,
        },
    }
    return weigh(
        "singling_out", (counts.per_person > 0).astype(float), tables.groups, None, **details
    )


def _cut(tables: SyntheticTables, at: int) -> int:
    """From which code on numbers are above the median of the synthetic table; 0: no numbers."""
    column = tables.columns[at]
    if not column.is_number:
        return 0
    codes = np.sort(tables.synthetic[:, at])
    codes = codes[codes != column.missing]
    if not len(codes):
        return 0
    low = codes[(len(codes) - 1) // 2]
    high = codes[len(codes) // 2]
    numbers = column.numbers or ()
    middle = (numbers[low] + numbers[high]) / 2
    return int(np.searchsorted([n > middle for n in numbers], True))


# -- small sets of columns: tables of counts ------------------------------------------------------


def _by_cells(
    tables: SyntheticTables, at: Sequence[int], cuts: Sequence[int]
) -> tuple[Ints, Ints, Ints]:
    """Attacking predicates of some columns by a count of every combination of values."""
    columns = [tables.columns[i] for i in at]
    shape = tuple(column.values for column in columns)
    pool = np.ravel_multi_index(tuple(tables.pool[:, i] for i in at), shape)
    fake = np.ravel_multi_index(tuple(tables.synthetic[:, i] for i in at), shape)
    cells = math.prod(shape)
    n = tables.originals
    ranges = [
        (axis, cut, len(column.numbers))
        for axis, (column, cut) in enumerate(zip(columns, cuts, strict=True))
        if column.numbers is not None
    ]
    counts = [
        np.bincount(keys, minlength=cells).reshape(shape) for keys in (fake, pool[:n], pool[n:])
    ]
    present = counts[0] == 1
    for table in counts:
        for axis, cut, known in ranges:
            _accumulate(table, axis, cut, known)
    attacks = present & (counts[0] == 1)
    own = counts[1][attacks]
    other = counts[2][attacks]
    marks = np.zeros(shape, dtype=np.int64)
    marks[attacks] = own + other == 1
    for axis, cut, known in ranges:
        _accumulate(marks, axis, cut, known, back=True)
    return own, other, marks.ravel()[pool]


def _accumulate(table: Ints, axis: int, cut: int, known: int, *, back: bool = False) -> None:
    """Per value how many are at most it, up to the cut, and at least it beyond; or the reverse."""
    values = np.moveaxis(table, axis, 0)
    for part, downwards in ((values[:cut], back), (values[cut:known], not back)):
        part = part[::-1] if downwards else part
        np.cumsum(part, axis=0, out=part)


# -- large sets of columns: trees -----------------------------------------------------------------


def _by_tree(
    tables: SyntheticTables, at: Sequence[int], cuts: Sequence[int]
) -> tuple[Ints, Ints, Ints]:
    """The same by looking up every predicate among the records."""
    fake = tables.synthetic[:, at]
    pool = tables.pool[:, at]
    lows = fake.copy()
    highs = fake.copy()
    for j, (i, cut) in enumerate(zip(at, cuts, strict=True)):
        column = tables.columns[i]
        if column.numbers is None:
            continue
        number = fake[:, j] < len(column.numbers)
        above = number & (fake[:, j] >= cut)
        highs[above, j] = len(column.numbers) - 1
        lows[number & ~above, j] = 0
    alone = count_in_orthants(fake, lows, highs, 2)[0] == 1
    lows = lows[alone]
    highs = highs[alone]
    n = tables.originals
    own, who = count_in_orthants(pool[:n], lows, highs)
    other, stranger = count_in_orthants(pool[n:], lows, highs)
    hits = np.zeros(len(pool), dtype=np.int64)
    np.add.at(hits, who[(own == 1) & (other == 0)], 1)
    np.add.at(hits, n + stranger[(own == 0) & (other == 1)], 1)
    return own, other, hits


def attack_by_singling_out(tables: SyntheticTables, task: AttackTask) -> AttackFindings:
    """Single people out by sets of up to three columns; the widest sets are the headline."""
    by_width = {}
    for width in range(1, min(WIDEST, len(tables.columns)) + 1):
        counts = count_predicates(tables, width, task.workers)
        by_width[width] = singling_out(tables, counts)
    widest = by_width.pop(max(by_width))
    return AttackFindings(
        on_people={"singling_out": widest},
        narrower=by_width,
        scores={"singling_out": (counts.per_person > 0).astype(float)},
    )
