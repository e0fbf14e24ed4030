"""Microaggregation against the definitions, written out slowly and apart from the package."""

from __future__ import annotations

import math
from random import Random
from typing import Any

import numpy as np
import pytest

from sievert.commands.protect.microaggregation import (
    GROUPINGS,
    CategoryColumn,
    MixedRecords,
    mdav,
    v_mdav,
)

Row = tuple[Any, ...]
TREE = {0: ("a", "top"), 1: ("a", "top"), 2: ("b", "top"), 3: ("b", "top"), 4: ("c", "top")}


class Naive:
    """Records with the distance of the documentation, from pairs of records."""

    def __init__(self, rows: list[Row], kinds: list[str]) -> None:
        self.rows, self.kinds = rows, kinds
        n = len(rows)
        self.scale = [
            math.fsum(self.gap(j, a[j], b[j]) for a in rows for b in rows) / n**2 or 1.0
            for j in range(len(kinds))
        ]

    def gap(self, column: int, a: Any, b: Any) -> float:
        if self.kinds[column] == "number":
            return float((a - b) ** 2)
        if self.kinds[column] == "tree":
            labels = [(a, *TREE[a]), (b, *TREE[b])]
            level = next(i for i, pair in enumerate(zip(*labels, strict=True)) if len({*pair}) == 1)
            return (level / 2) ** 2
        return float(a != b)

    def far(self, a: Row, b: Row) -> float:
        return math.fsum(
            self.gap(j, x, y) / self.scale[j] for j, (x, y) in enumerate(zip(a, b, strict=True))
        )

    def center(self, some: list[int]) -> Row:
        rows = [self.rows[i] for i in some]
        out: list[Any] = []
        for j, kind in enumerate(self.kinds):
            column = [row[j] for row in rows]
            most = max(column.count(x) for x in column)
            mode = min(x for x in column if column.count(x) == most)
            out.append(math.fsum(column) / len(column) if kind == "number" else mode)
        return tuple(out)

    def farthest(self, some: list[int], point: Row) -> int:
        return max(some, key=lambda i: self.far(self.rows[i], point))

    def nearest(self, some: list[int], point: Row, k: int) -> list[int]:
        return sorted(some, key=lambda i: self.far(self.rows[i], point))[:k]

    def mdav(self, k: int) -> set[frozenset[int]]:
        left, groups = list(range(len(self.rows))), []
        while len(left) >= 3 * k:
            r = self.farthest(left, self.center(left))
            s = self.farthest(left, self.rows[r])
            for start in (r, s):
                groups.append(self.nearest(left, self.rows[start], k))
                left = [i for i in left if i not in groups[-1]]
        if len(left) >= 2 * k:
            r = self.farthest(left, self.center(left))
            groups.append(self.nearest(left, self.rows[r], k))
            left = [i for i in left if i not in groups[-1]]
        return {frozenset(group) for group in [*groups, left]}

    def v_mdav(self, k: int, gamma: float) -> set[frozenset[int]]:
        left, groups = list(range(len(self.rows))), []
        middle = self.center(left)
        while len(left) >= k:
            group = self.nearest(left, self.rows[self.farthest(left, middle)], k)
            left = [i for i in left if i not in group]
            while left and len(group) < 2 * k - 1:
                reach = {i: min(self.apart(i, m) for m in group) for i in left}
                best = min(left, key=lambda i: reach[i])
                outside = [self.apart(best, i) for i in left if i != best]
                if not reach[best] < gamma * min(outside, default=math.inf):
                    break
                group.append(best)
                left.remove(best)
            groups.append(group)
        homes = {
            i: min(range(len(groups)), key=lambda g: min(self.apart(i, m) for m in groups[g]))
            for i in left
        }
        for i, home in homes.items():
            groups[home] = [*groups[home], i]
        return {frozenset(group) for group in groups}

    def apart(self, a: int, b: int) -> float:
        return math.sqrt(self.far(self.rows[a], self.rows[b]))


def table(seed: int) -> tuple[list[Row], list[str], MixedRecords]:
    random = Random(f"microaggregation {seed}")
    kinds = ["number", *random.choices(("number", "plain", "tree"), k=random.randint(0, 3))]
    size = random.randint(4, 40)
    draw = {
        "number": lambda: random.gauss(3, 50),
        "plain": lambda: random.randrange(4),
        "tree": lambda: random.randrange(5),
    }
    columns = [[draw[kind]() for _ in range(size)] for kind in kinds]
    labels = {text: place for place, text in enumerate("abc")}
    levels = np.array([[value, labels[TREE[value][0]]] for value in TREE])
    categories = []
    for kind, column in zip(kinds, columns, strict=True):
        codes = np.array(column, dtype=np.int64 if kind != "number" else None)
        if kind == "plain":
            categories.append(CategoryColumn.plain(codes))
        elif kind == "tree":
            categories.append(CategoryColumn(codes, levels))
    numbers = [c for kind, c in zip(kinds, columns, strict=True) if kind == "number"]
    return list(zip(*columns, strict=True)), kinds, MixedRecords.of(numbers, categories)


def as_sets(groups: Any) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(groups == g).tolist()) for g in range(int(groups.max()) + 1)}


@pytest.mark.parametrize("seed", range(120))
def test_groups_are_those_of_the_definition(seed: int) -> None:
    rows, kinds, records = table(seed)
    naive, k = Naive(rows, kinds), Random(seed).randint(1, min(6, len(rows)))
    assert as_sets(mdav(records, k)) == naive.mdav(k)
    gamma = Random(seed).choice((0.0, 0.2, 0.8, 1.1, 3.0))
    assert as_sets(v_mdav(records, k, gamma)) == naive.v_mdav(k, gamma)


@pytest.mark.parametrize("seed", range(60))
def test_sizes_of_groups(seed: int) -> None:
    """Also with equal records: every record has a group, and groups have k records or more."""
    random = Random(f"sizes {seed}")
    size = random.randint(1, 60)
    k = random.randint(1, size)
    records = MixedRecords.of([[random.randrange(3) for _ in range(size)] for _ in range(2)])
    for name, grouping in GROUPINGS.items():
        groups = grouping(records, k)
        sizes = np.bincount(groups)
        assert len(groups) == size and groups.min() >= 0 and sizes.min() >= k
        if name != "v-mdav":  # whose leftovers join the nearest group
            assert sizes.max() <= 2 * k - 1 or size < 2 * k
        assert np.array_equal(groups, grouping(records, k))
