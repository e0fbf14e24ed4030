"""What coarser columns would do: bands for numbers, shorter codes, rare values as one, ladders.

Nothing is changed by this; the same table is measured with values merged. How values are merged is
said without naming any.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sievert.arrays import Ints
from sievert.attacks.attack import ladder
from sievert.commands.explain.subsets import Counted, Subset
from sievert.hierarchies import NUMBER

MOST_VALUES = 10**5  # different values of a column that are looked at one by one
FEW_VALUES = 8  # of so few, numbers and codes are categories
BANDS = (20, 10, 5)  # about so many
LARGEST = 10**18  # reach of numbers that are put into bands
RARE = 100  # below one record in so many, values of a category are merged


@dataclass(frozen=True)
class Rung:
    """One way to coarsen a column: how, in words, and the new code of every old one."""

    column: str
    how: str
    codes: Ints
    values: int  # different ones that are left; missing may be one


@dataclass(frozen=True)
class Coarser:
    """What one or more rungs would leave."""

    rungs: tuple[Rung, ...]
    subset: Subset

    def to_dict(self) -> dict[str, Any]:
        """As it stands in the JSON."""
        found = self.subset.to_dict()
        del found["columns"]
        how = [{"column": r.column, "how": r.how, "values": r.values} for r in self.rungs]
        return {"coarsened": how, **found}


def measured(counted: Counted, rungs: Sequence[Rung]) -> Coarser:
    """The table with these columns coarsened."""
    codes = {rung.column: rung.codes for rung in rungs}
    return Coarser(tuple(rungs), counted.recoded(codes).measured())


def rungs(counted: Counted, given: Mapping[str, Any]) -> dict[str, list[Rung]]:
    """The rungs of every column that has any: of its hierarchy where one is given."""
    found = {}
    for at, column in enumerate(counted.quasi):
        texts = counted.classes.values[at]
        times = counted.classes.totals(at)
        if column in given:
            held = _of_ladder(column, texts, times, given[column])
        else:
            held = _of_texts(column, texts, times)
        if held:
            found[column] = held
    return found


def _of_ladder(column: str, texts: Sequence[str | None], times: Ints, given: Any) -> list[Rung]:
    values = [v for v in texts if v is not None]
    tree = ladder(given, values)
    if tree is None or not values:
        return []
    tree.require(values, column)
    found = []
    for level in range(1, tree.height + 1):
        how = f"at level {level} of its hierarchy"
        rung = _rung(column, texts, times, how, lambda v, level=level: tree.at(v, level))  # type: ignore[misc]
        if rung.values > 1:
            found.append(rung)
    return found


def _of_texts(column: str, texts: Sequence[str | None], times: Ints) -> list[Rung]:
    """What can be said of values by their looks: numbers, codes of one length, categories."""
    values = [v for v in texts if v is not None]
    if not 2 < len(values) <= MOST_VALUES:
        return []
    if len(values) > FEW_VALUES:
        length = {len(v) for v in values}
        numbers = all(NUMBER.fullmatch(v) for v in values)
        padded = any(v[0] == "0" and v[1:2].isdigit() for v in values) if numbers else False
        if len(length) == 1 and (not numbers or padded or min(length) > 4):
            return _cut(column, texts, times, min(length))
        if numbers and not padded:
            return _banded(column, texts, times)
    return _rare(column, texts, times)


def _rung(
    column: str,
    texts: Sequence[str | None],
    times: Ints,
    how: str,
    label: Callable[[str], Any],
) -> Rung:
    """Values of one label get one code; missing stays what it is."""
    numbers: dict[Any, int] = {}
    codes = [0 if v is None else numbers.setdefault(label(v), len(numbers) + 1) for v in texts]
    return Rung(column, how, np.array(codes, dtype=np.uint32), len(numbers) + bool(times[0]))


def _fewer(texts: Sequence[str | None], found: list[Rung]) -> list[Rung]:
    """Only rungs that merge a good part of what the one before leaves, and not everything."""
    kept, before = [], len(texts)
    for rung in found:
        if 2 < rung.values <= 0.7 * before:
            kept.append(rung)
            before = rung.values
    return kept


def _cut(column: str, texts: Sequence[str | None], times: Ints, length: int) -> list[Rung]:
    found = []
    for kept in range(length - 1, 0, -1):
        how = f"cut to the first {'character' if kept == 1 else f'{kept} characters'}"
        found.append(_rung(column, texts, times, how, lambda v, kept=kept: v[:kept]))  # type: ignore[misc]
    return _fewer(texts, found)[:3]


def _banded(column: str, texts: Sequence[str | None], times: Ints) -> list[Rung]:
    numbers = {v: Fraction(v) for v in texts if v is not None}
    reach = max(numbers.values()) - min(numbers.values())
    if (
        not Fraction(1, LARGEST) < reach < LARGEST
    ):  # equal numbers written in many ways, or odd ones
        return []
    found = []
    for bands in BANDS:
        width = _round(float(reach) / bands)
        how = f"in bands of {float(width):g}"
        found.append(_rung(column, texts, times, how, lambda v, w=width: numbers[v] // w))  # type: ignore[misc]
    return _fewer(texts, found)


def _round(width: float) -> Fraction:
    """The nearest of 1, 2, 5, 10, 20, ... by ratio.

    >>> [float(_round(x)) for x in (5.15, 3.7, 14.6, 0.03)]
    [5.0, 5.0, 20.0, 0.02]
    """
    power = math.floor(math.log10(width))
    ten = Fraction(10) ** power
    return min((ten * d for d in (1, 2, 5, 10)), key=lambda w: abs(math.log(float(w) / width)))


def _rare(column: str, texts: Sequence[str | None], times: Ints) -> list[Rung]:
    limit = int(times.sum()) // RARE
    rare = [i for i, v in enumerate(texts) if v is not None and times[i] <= limit]
    if len(rare) < 2 or len(texts) - len(rare) < 2:
        return []
    codes = np.arange(len(texts), dtype=np.uint32)
    codes[rare] = rare[0]
    left = len(texts) - len(rare) + bool(times[0])  # the first text is that of missing
    return [Rung(column, f"the {len(rare):,} rarest values merged", codes, left)]
