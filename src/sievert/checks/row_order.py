"""Whether the order of the rows tells more than the columns that are released.

A release often keeps the order of its original. If that was sorted by age, rows with the same
label for the age, or with the same sex within one age, come in runs, and the place of a row gives
its exact age. A random order has few runs of equal neighbours, and how few is known
(`estimators.runs`): a column *tells* if it has far fewer runs than that.

An order that follows from what is released tells nothing more. So rows may be sorted by released
columns, in any priority, each upwards or downwards: as text, with or without regard to case, as
numbers, by the numbers in labels such as `[5, 10)`, or in an order of values that is given. Then
the rows with the same values of all sorted columns are a block, and a column tells only if it has
far fewer runs inside the blocks than a random order inside each block would give.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sievert.arrays import Bools, Ints
from sievert.counts.questions import Questions
from sievert.counts.row_runs import changes, count_block_runs
from sievert.estimators.runs import block_moments, run_moments
from sievert.formatting import list_names
from sievert.formatting.remarks import Caution, Remark
from sievert.roles import Roles

if TYPE_CHECKING:
    from sievert.policy import Gate

LEAST_ROWS = 20  # with fewer rows, an order cannot be distinguished from chance
NUMBERS = re.compile(r"\d+(?:\.\d+)?")

Orders = Mapping[str, Iterable[str]]


@dataclass(frozen=True)
class RowOrder:
    """What the order of the rows tells: the columns in runs, and the columns of the sort order.

    `seen` is False if the rows have no order, as in a database or a state. `few` is True if there
    are too few rows to examine it.
    """

    tells: tuple[str, ...] = ()
    sorted_by: tuple[str, ...] = ()
    seen: bool = True
    few: bool = False

    @property
    def notes(self) -> list[Remark]:
        """The remarks on the order."""
        if not self.seen:
            return [Remark("no_order")]
        if not self.tells:
            return []
        return [Caution("order_tells", columns=list_names(self.tells))]


def released_columns(questions: Questions, roles: Roles) -> tuple[str, ...]:
    """The columns of the table that a release has."""
    released = (*roles.measured_columns, *roles.other_quasi, *roles.kept, roles.weight)
    return tuple(c for c in dict.fromkeys(released) if c in questions.columns)


def examine_order(
    questions: Questions, columns: Sequence[str], orders: Orders | None = None
) -> RowOrder:
    """Look for `columns` about which the order of the rows tells more than their values.

    The rows may be sorted by `orders`, which list the values of some columns.
    """
    if not questions.engine.keeps_order:
        return RowOrder(seen=False)
    counted = questions.count_runs(columns)
    if any(own.values.records < LEAST_ROWS for own in counted.values()):
        return RowOrder(few=True)
    suspicious = [
        column for column, own in counted.items() if run_moments(own.values).far_exceed(own.runs)
    ]
    if not suspicious:
        return RowOrder()
    varying = [column for column, own in counted.items() if own.runs > 1]
    return _examine_sorted(questions, varying, suspicious, orders or {})


def _examine_sorted(
    questions: Questions, columns: Sequence[str], suspicious: Sequence[str], orders: Orders
) -> RowOrder:
    """Examine an order with suspicious columns, by which the rows may be sorted."""
    coded = {column: questions.codes_in_order(column) for column in columns}
    sorted_by, starts = _find_sorted(coded, questions.suppression.mark, orders)
    if not sorted_by:
        return RowOrder(tells=tuple(suspicious))
    tells = []
    for column in columns:
        if column not in sorted_by:
            blocks = count_block_runs(coded[column][0], starts)
            if block_moments(blocks.owners, blocks.counts).far_exceed(blocks.runs):
                tells.append(column)
    return RowOrder(tells=tuple(tells), sorted_by=tuple(sorted_by))


def judge_order(gate: "Gate | None", order: RowOrder) -> None:
    """Report to the gate of a file what the order of its rows tells."""
    if gate is None:
        return
    from sievert.policy import PLANNED

    if gate.question == PLANNED:
        gate.clauses.append(Remark("order_of_plan"))
        return
    reason = gate.policy.release.order
    if order.tells and reason is None:
        gate.undecided("order_tells", order.tells)
    gate.clauses.append(_basis(order, reason))


def _basis(order: RowOrder, reason: str | None) -> Remark:
    """What a verdict assumes about the order of the rows, without names."""
    from sievert.policy.judgement import (
        ORDER_EXPLAINED,
        ORDER_IN_RUNS,
        ORDER_NOT_EXAMINED,
        ORDER_OF_COLUMNS,
        ORDER_TELLS_NOTHING,
    )

    if not order.seen:
        return Remark("rows_without_order")
    if order.few:
        return ORDER_NOT_EXAMINED
    if order.tells:
        return ORDER_IN_RUNS if reason is None else ORDER_EXPLAINED
    return ORDER_OF_COLUMNS if order.sorted_by else ORDER_TELLS_NOTHING


# -- the sort order of the rows ------------------------------------------------------------------


def _find_sorted(
    coded: Mapping[str, tuple[Ints, list[str | None]]], mark: str | None, orders: Orders
) -> tuple[list[str], Bools]:
    """The columns by which the rows are sorted, the first one first, and the starts of blocks.

    A column belongs to them if it is sorted inside all blocks of the columns before it. Finer
    blocks leave it sorted, so the order of the search does not matter.
    """
    sorted_by: list[str] = []
    starts = np.zeros(len(next(iter(coded.values()))[0]), dtype=bool)
    starts[0] = True
    another = True
    while another:
        another = False
        for column, (codes, texts) in coded.items():
            if column in sorted_by:
                continue
            changed = changes(codes) & ~starts
            if changed.any() and _is_sorted(codes, texts, changed, mark, orders.get(column)):
                sorted_by.append(column)
                starts |= changed
                another = True
    return sorted_by, starts


def _is_sorted(
    codes: Ints,
    texts: Sequence[str | None],
    changed: Bools,
    mark: str | None,
    order: Iterable[str] | None,
) -> bool:
    """Whether all changes of a column go upwards, or all downwards, in one of the known orders."""
    places = np.flatnonzero(changed)
    pairs = np.unique(np.column_stack((codes[places - 1], codes[places])), axis=0)
    for ranks in _rankings(texts, mark, order):
        rises = ranks[pairs[:, 1]] > ranks[pairs[:, 0]]
        if rises.all() or not rises.any():
            return True
    return False


def _rankings(
    texts: Sequence[str | None], mark: str | None, order: Iterable[str] | None
) -> Iterator[Ints]:
    """The rank of each code in every known order of texts; missing ones come first, or last."""
    present = {text for text in texts if text is not None}
    keys: list[Callable[[str], Any]] = [str, _fold_case, _by_numbers]
    numbers = _as_numbers(present - {mark})
    if numbers is not None:
        lowest = min(numbers.values(), default=0) - 1
        keys.append(lambda text: (numbers.get(text, lowest), text))
    given = {text: rank for rank, text in enumerate(order or ())}
    if given and present <= given.keys():
        keys.append(given.__getitem__)
    for key in keys:
        place = {text: rank for rank, text in enumerate(sorted(present, key=key), start=1)}
        for missing in (0, len(place) + 1):
            yield np.array([missing if text is None else place[text] for text in texts])


def _fold_case(text: str) -> tuple[str, str]:
    """A text without regard to case."""
    return text.casefold(), text


def _by_numbers(text: str) -> tuple[list[float], str]:
    """A text by the numbers in it: [5, 10) comes before [10, 15)."""
    return [float(number) for number in NUMBERS.findall(text)], text


def _as_numbers(texts: set[str]) -> dict[str, float] | None:
    """The numbers of texts; None unless all texts are numbers."""
    try:
        numbers = {text: float(text) for text in texts}
    except ValueError:
        return None
    return None if any(map(math.isnan, numbers.values())) else numbers
