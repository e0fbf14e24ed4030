"""Why the numbers are as they are: the share of each column, and risk by what is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sievert.commands._combinations import CombinationCounts, PeopleCombinations
from sievert.commands._measuring import TableMeasures, most_cells
from sievert.commands._subset_chapters import ORDERS, SubsetSettings, measure_subsets
from sievert.commands._subsets import MOST_SUBSETS, Subsets

MOST_CELLS = 10**6  # combinations that are fetched
WORK = 10**9  # cells times subsets that are rolled up together
WORK_ALONE = 10**8  # the same, where one subset is rolled up after the other
LEAST_ORDERS = 4
LONGEST = 12  # columns that become known one after the other
STEP = ("k_anonymity", "unique_count", "unique_records", "discrimination_rate")


def explain_columns(
    measures: TableMeasures, count: Callable[[], CombinationCounts]
) -> tuple[dict[str, Any] | None, list[str]]:
    """The chapters of `explain` on columns, and the most telling columns one after the other.

    None, and a note, where there are too many combinations to count.
    """
    if most_cells(measures) > MOST_CELLS:
        return None, ["the shares of the columns are left out: too many combinations"]
    measures.clock("counting combinations", measures.questions)
    combinations = count()
    cells = sum(len(cube.counts) for cube in combinations.cubes)
    n = len(combinations.quasi)
    orders = max(LEAST_ORDERS, min(ORDERS, WORK_ALONE // (cells * n)))
    work = WORK_ALONE if isinstance(combinations, PeopleCombinations) else WORK
    most = min(MOST_SUBSETS, max(n, work // cells))
    settings = SubsetSettings(orders=orders)
    subsets, chapters = measure_subsets(combinations, settings, measures.clock, most)
    steps = min(n, LONGEST, max(1, WORK_ALONE // (cells * n)))
    return {**chapters, "path": _path(subsets, steps)}, []


def _path(subsets: Subsets, steps: int) -> list[dict[str, Any]]:
    """Nothing known, then the column that leaves most people alone, and so on."""
    known: tuple[str, ...] = ()
    path = [_step(subsets, known, None)]
    while len(known) < steps:
        others = [c for c in subsets.quasi if c not in known]
        subsets.some([*known, c] for c in others)

        def risk(column: str, known: tuple[str, ...] = known) -> tuple[float, float]:
            numbers = subsets.one([*known, column]).reidentification
            return numbers["unique_count"] or 0, numbers["discrimination_rate"] or 0.0

        column = max(others, key=risk)
        known = (*known, column)
        path.append(_step(subsets, known, column))
    return path


def _step(subsets: Subsets, known: tuple[str, ...], column: str | None) -> dict[str, Any]:
    numbers = subsets.one(known).reidentification
    return {"column": column, "known": list(known), **{name: numbers[name] for name in STEP}}
