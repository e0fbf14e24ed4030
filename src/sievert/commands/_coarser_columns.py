"""Coarser versions of columns: by a hierarchy, or by what the values look like.

Nothing changes in the data: the same table is measured with values merged. The description of a
coarser column names no value.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from sievert.arrays import Ints
from sievert.commands._combinations import CombinationCounts
from sievert.commands._subsets import measure_whole
from sievert.hierarchies import NUMBER, describe_level, to_hierarchy

MOST_VALUES = 10**5  # different values of a column that are looked at one by one
FEW_VALUES = 8  # with so few values, numbers and codes are categories
BANDS = (20, 10, 5)  # about so many
LARGEST = 10**18  # the largest range of numbers that are put into bands
RARE = 100  # values of a category below one record in so many are merged

Texts = Sequence[str | None]


@dataclass(frozen=True)
class CoarserColumn:
    """One way to coarsen a column: its description and the new code of every old one."""

    column: str
    how: str
    codes: Ints
    values: int  # different values that are left; missing may be one
    labels: Sequence[Any] = ()  # of every old code, where the way to coarsen gives one


def measure_coarser(
    combinations: CombinationCounts, columns: Sequence[CoarserColumn]
) -> dict[str, Any]:
    """The measures of the table with these columns coarsened, as they stand in the JSON."""
    whole = measure_whole(combinations.merge_values({c.column: c.codes for c in columns})).to_dict()
    whole["coarsened"] = [{"column": c.column, "how": c.how, "values": c.values} for c in columns]
    return {name: whole[name] for name in ("coarsened", "reidentification", "inference")}


def coarser_columns(
    combinations: CombinationCounts, hierarchies: Mapping[str, Any]
) -> dict[str, list[CoarserColumn]]:
    """The ways to coarsen each column that has any: by its hierarchy where one is given."""
    ways = {c: coarser_column(combinations, c, hierarchies.get(c)) for c in combinations.quasi}
    return {column: coarser for column, coarser in ways.items() if coarser}


def coarser_column(
    combinations: CombinationCounts, column: str, hierarchy: Any
) -> list[CoarserColumn]:
    """The ways to coarsen one column: by its hierarchy if one is given."""
    at = combinations.quasi.index(column)
    texts, records = combinations.classes.values[at], combinations.classes.totals(at)
    if hierarchy is None:
        return _by_values(column, texts, records)
    return _by_hierarchy(column, texts, records, hierarchy)


def _by_hierarchy(column: str, texts: Texts, records: Ints, given: Any) -> list[CoarserColumn]:
    counted = zip(texts, records.tolist(), strict=True)
    values = {v: n for v, n in counted if v is not None}
    tree = to_hierarchy(given, values)
    if tree is None or not values:
        return []
    tree.require(values, column)
    return [
        coarser
        for level in range(1, tree.height + 1)
        for how in [describe_level(given, level, tree.height)]
        for coarser in [_coarser(column, texts, records, how, partial(tree.at, level=level))]
        if coarser.values > 1
    ]


def _by_values(column: str, texts: Texts, records: Ints) -> list[CoarserColumn]:
    """What the values look like decides: numbers, codes of one length, categories."""
    values = [v for v in texts if v is not None]
    if not 2 < len(values) <= MOST_VALUES:
        return []
    if len(values) > FEW_VALUES:
        lengths = {len(v) for v in values}
        numbers = all(NUMBER.fullmatch(v) for v in values)
        padded = numbers and any(v[0] == "0" and v[1:2].isdigit() for v in values)
        if len(lengths) == 1 and (not numbers or padded or min(lengths) > 4):
            return _prefixes(column, texts, records, min(lengths))
        if numbers and not padded:
            return _bands(column, texts, records)
    return _rare_merged(column, texts, records)


def _coarser(
    column: str, texts: Texts, records: Ints, how: str, label: Callable[[str], Any]
) -> CoarserColumn:
    """Values of one label get one code; missing stays missing."""
    numbers: dict[Any, int] = {}
    labels = [None if v is None else label(v) for v in texts]
    codes = [0 if v is None else numbers.setdefault(v, len(numbers) + 1) for v in labels]
    return CoarserColumn(
        column, how, np.array(codes, dtype=np.uint32), len(numbers) + bool(records[0]), labels
    )


def _far_apart(texts: Texts, ways: Iterable[CoarserColumn]) -> list[CoarserColumn]:
    """Only those that merge a good part of what the one before leaves, and not everything."""
    chosen, before = [], len(texts)
    for coarser in ways:
        if 2 < coarser.values <= 0.7 * before:
            chosen.append(coarser)
            before = coarser.values
    return chosen


def _prefixes(column: str, texts: Texts, records: Ints, length: int) -> list[CoarserColumn]:
    def prefix(characters: int) -> CoarserColumn:
        what = "character" if characters == 1 else f"{characters} characters"
        return _coarser(
            column, texts, records, f"cut to the first {what}", lambda v: v[:characters]
        )

    return _far_apart(texts, map(prefix, range(length - 1, 0, -1)))[:3]


def _bands(column: str, texts: Texts, records: Ints) -> list[CoarserColumn]:
    numbers = {v: _number(v) for v in texts if v is not None}
    span = max(numbers.values()) - min(numbers.values())
    # Otherwise they are equal numbers written in many ways, or extreme ones.
    if not Fraction(1, LARGEST) < span < LARGEST:
        return []

    def band(width: Fraction) -> CoarserColumn:
        step = int(width) if width.denominator == 1 else width  # whole numbers are faster
        return _coarser(
            column, texts, records, f"in bands of {float(width):g}", lambda v: numbers[v] // step
        )

    return _far_apart(texts, (band(_round(float(span) / bands)) for bands in BANDS))


def _number(text: str) -> int | Fraction:
    whole = text.isascii() and text.removeprefix("-").isdigit()
    return int(text) if whole else Fraction(text)


def _round(width: float) -> Fraction:
    """The nearest of 1, 2, 5, 10, 20, ... by ratio.

    >>> [float(_round(x)) for x in (5.15, 3.7, 14.6, 0.03)]
    [5.0, 5.0, 20.0, 0.02]
    """
    ten = Fraction(10) ** math.floor(math.log10(width))
    return min((ten * d for d in (1, 2, 5, 10)), key=lambda w: abs(math.log(float(w) / width)))


def _rare_merged(column: str, texts: Texts, records: Ints) -> list[CoarserColumn]:
    limit = int(records.sum()) // RARE
    rare = [i for i, v in enumerate(texts) if v is not None and records[i] <= limit]
    if len(rare) < 2 or len(texts) - len(rare) < 2:
        return []
    codes = np.arange(len(texts), dtype=np.uint32)
    codes[rare] = rare[0]
    left = len(texts) - len(rare) + bool(records[0])  # the first text stands for missing
    return [CoarserColumn(column, f"the {len(rare):,} rarest values merged", codes, left)]
