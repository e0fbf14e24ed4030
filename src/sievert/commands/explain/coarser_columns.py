"""Coarser versions of columns, by a given hierarchy or by a proposal.

The data does not change: the same table is measured with merged values. The description of a
coarser column names no value.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sievert.arrays import Ints
from sievert.hierarchies import describe_level, propose, to_hierarchy
from sievert.measurement.combinations import CombinationCounts
from sievert.measurement.subsets import measure_whole

MOST_VALUES = 10**5  # different values of a column for which a hierarchy is proposed


@dataclass(frozen=True)
class CoarserColumn:
    """One way to coarsen a column: its description, and the new code of each old one."""

    column: str
    how: str
    codes: Ints
    values: int  # different values that are left; missing may be one


def measure_coarser(
    combinations: CombinationCounts, columns: Sequence[CoarserColumn]
) -> dict[str, Any]:
    """Measure the table with the coarser `columns`; return the entry of the JSON."""
    whole = measure_whole(combinations.merge_values({c.column: c.codes for c in columns})).to_dict()
    whole["coarsened"] = [{"column": c.column, "how": c.how, "values": c.values} for c in columns]
    return {name: whole[name] for name in ("coarsened", "reidentification", "inference")}


def coarser_columns(
    combinations: CombinationCounts, hierarchies: Mapping[str, Any]
) -> dict[str, list[CoarserColumn]]:
    """List the ways to coarsen each column that has any, by its hierarchy if one is given."""
    ways = {c: coarser_column(combinations, c, hierarchies.get(c)) for c in combinations.quasi}
    return {column: coarser for column, coarser in ways.items() if coarser}


def coarser_column(
    combinations: CombinationCounts, column: str, hierarchy: Any
) -> list[CoarserColumn]:
    """List the ways to coarsen one column: levels that merge values, and leave more than one."""
    at = combinations.quasi.index(column)
    texts = combinations.classes.values[at]
    records = combinations.classes.totals(at)
    values = {v: n for v, n in zip(texts, records.tolist(), strict=True) if v is not None and n}
    if hierarchy is None and len(values) <= MOST_VALUES:
        proposal = propose(values, column)
        hierarchy = proposal.text
        tree = proposal.hierarchy
    else:
        tree = to_hierarchy(hierarchy, values, column)
    if tree is None or not values:
        return []
    tree.require(values, column)
    ways = []
    before = len(values) + bool(records[0])
    for level in range(1, tree.height + 1):
        numbers: dict[str, int] = {}
        codes = [
            numbers.setdefault(tree.at(v, level), len(numbers) + 1) if v in values else 0
            for v in texts
        ]
        left = len(numbers) + bool(records[0])  # missing stays missing
        if len(numbers) > 1 and left < before:
            how = describe_level(hierarchy, level, tree.height, len(numbers))
            ways.append(
                CoarserColumn(
                    column=column, how=how, codes=np.array(codes, dtype=np.uint32), values=left
                )
            )
            before = left
    return ways
