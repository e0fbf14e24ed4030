"""Counts of a secret straight from a table of classes by values, without any engine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sievert.counts.answers import Gaps, JointCounts, Profiles, RecordCounts, SecretCounts, Sizes


def record_counts(sizes: Sequence[int], times: Sequence[int] | None = None) -> RecordCounts:
    found = Sizes.from_arrays(sizes, times or [1] * len(sizes))
    return RecordCounts(records=found.records, sizes=found)


def secret_counts(matrix: Sequence[Sequence[int]]) -> SecretCounts:
    """`matrix[q][s]` records of class q have value s; integers of any size."""
    rows = [list(map(int, row)) for row in matrix if any(row)]
    columns = [sum(column) for column in zip(*rows, strict=True)]
    records = sum(columns)
    sizes = Counter(sum(row) for row in rows)
    values = Counter(c for c in columns if c)
    profiles = Counter(tuple(sorted((n for n in row if n), reverse=True)) for row in rows)
    joint = Counter((sum(row), columns[s], n) for row in rows for s, n in enumerate(row) if n)
    nq, ns, n = zip(*joint, strict=True)
    gaps: dict[int, int] = {}
    for row in rows:
        size = sum(row)
        gap = sum(max(0, n * records - columns[s] * size) for s, n in enumerate(row))
        gaps[size] = max(gap, gaps.get(size, 0))
    return SecretCounts(
        records=records,
        sizes=Sizes.from_arrays(list(sizes), list(sizes.values())),
        values=Sizes.from_arrays(list(values), list(values.values())),
        profiles=Profiles.from_arrays([list(p) for p in profiles], list(profiles.values())),
        joint=JointCounts.from_arrays(nq, ns, n, list(joint.values())),
        gaps=Gaps.from_arrays(gaps, gaps.values()),
    )
