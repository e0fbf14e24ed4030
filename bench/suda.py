"""Minimal sample uniques of Adult, all sizes, against a group-by of the records for every set.

The other way is what one would write with pandas: for every set of columns the records that are
alone in their group, then those of them that are not alone on any set with one column less. Ours
includes counting the classes of the coded columns. The MSUs by size of both are compared. A second
table shows how a large file does, with numba and without.
"""

from __future__ import annotations

import importlib
import statistics
from itertools import combinations
from typing import Any

import numpy as np

from bench.common import (
    Options,
    Ratio,
    Result,
    Sample,
    digits,
    interleave,
    print_verdict,
    table,
    timed,
    verdict,
)
from bench.pycanon import adult, frame

GOAL = 10.0
QUICK_COLUMNS = 6
VALUES = (2, 2, 3, 5, 6, 8, 12, 16, 40, 90)  # of the columns of the large table
LARGE, QUICK_LARGE = 1_000_000, 100_000
LARGEST = 3


def group_by(records: Any) -> list[int]:
    """MSUs by size, one group-by for each set of columns."""
    found = []
    before: dict[frozenset[str], Any] = {}
    for size in range(1, len(records.columns) + 1):
        alone = {}
        number = 0
        for columns in combinations(records.columns, size):
            group = records.groupby(list(columns), observed=True)
            mine = (group[columns[0]].transform("size") == 1).to_numpy()
            alone[frozenset(columns)] = mine
            minimal = mine.copy()
            for column in columns:
                if size > 1:
                    minimal &= ~before[frozenset(columns) - {column}]
            number += int(minimal.sum())
        found.append(number)
        before = alone
    return found


def classes(codes: list[Any]) -> tuple[list[Any], Any]:
    """The codes of the classes, by column, and their records."""
    keys = np.zeros(len(codes[0]), dtype=np.uint64)
    for column in codes:
        keys = keys * np.uint64(int(column.max()) + 1) + column.astype(np.uint64)
    _, firsts, counts = np.unique(keys, return_index=True, return_counts=True)
    return [column[firsts] for column in codes], counts


def generated(rows: int) -> tuple[list[Any], Any]:
    """Classes of a table with columns of the given numbers of values, the first ones frequent."""
    rng = np.random.default_rng(1)
    codes = []
    for values in VALUES:
        chances = 1 / np.arange(1, values + 1)
        codes.append(rng.choice(values, size=rows, p=chances / chances.sum()) + 1)
    return classes(codes)


def ways() -> dict[str, bool]:
    """What can be run here: compiled code needs numba."""
    try:
        importlib.import_module("numba")
    except ImportError:
        return {"NumPy": False}
    return {"numba": True, "NumPy": False}


def run(options: Options) -> Result:
    """Compare on Adult, then time the large table."""
    from sievert.attacks.suda import MinimalUniques, minimal_uniques

    records = frame(adult()).astype("category")
    if options.quick:
        records = records[records.columns[:QUICK_COLUMNS]]
    codes = [records[name].cat.codes.to_numpy().astype(np.int64) + 1 for name in records.columns]

    def ours(compiled: bool) -> MinimalUniques:
        return minimal_uniques(*classes(codes), compiled=compiled)

    naive = group_by(records)
    agree = {
        name: ours(fast).by_size.sum(axis=0).tolist() == naive for name, fast in ways().items()
    }
    samples = interleave(
        {
            "group-by": lambda: group_by(records),
            **{name: lambda fast=fast: ours(fast) for name, fast in ways().items()},
        },
        options.rounds or (1 if options.quick else 3),
        warmups=0,
    )
    walls = {name: [sample.wall for sample in each] for name, each in samples.items()}
    ratios = {name: Ratio.of(walls["group-by"], walls[name]) for name in ways()}
    print(f"Adult, {len(records):,} records, {len(codes)} columns, {sum(naive):,} MSUs\n")
    rows = [
        (name, digits(statistics.median(seconds)), str(ratios.get(name, "")))
        for name, seconds in walls.items()
    ]
    print(table(("", "wall s (median)", "group-by / it"), rows))
    large = generated(QUICK_LARGE if options.quick else LARGE)
    big: dict[str, Sample] = {
        name: timed(lambda fast=fast: minimal_uniques(*large, LARGEST, compiled=fast))
        for name, fast in ways().items()
    }
    shape = f"{int(large[1].sum()):,} records, {len(large[1]):,} classes, {len(VALUES)} columns"
    taken = ", ".join(f"{name} {digits(sample.wall)} s" for name, sample in big.items())
    print(f"\n{shape}, sets of up to {LARGEST}: {taken}")
    first = next(iter(ratios.values()))
    goal = verdict(first.median, GOAL, at_least=True)
    if not all(agree.values()):
        print("\nThe numbers of MSUs differ, so the times are not of the same work.")
        goal["met"] = False
    print_verdict("group-by / minimal_uniques", first, goal)
    return {
        "samples": samples,
        "ratios": ratios,
        "large": big,
        "msus": naive,
        "agree": agree,
        "goal": goal,
    }
