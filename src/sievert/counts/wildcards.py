"""Counting matches where a missing quasi-identifier matches anything.

Classes are grouped by which of their keys are missing. Two of them match when they agree on the
keys neither lacks, so for each pair of patterns one join on those keys counts. The relation is not
transitive: there are frequencies of records, but no classes.
"""

from __future__ import annotations

from collections.abc import Sequence

MOST_KEYS = 60  # a bit for each
MOST_PATTERNS = 64
MOST_WORK = 10**8  # pairs of patterns times classes


def feasible(patterns: int, classes: int) -> bool:
    """Whether all pairs of patterns can be joined in reasonable time."""
    return patterns <= MOST_PATTERNS and patterns**2 * classes <= MOST_WORK


def patterns(keys: Sequence[str], classes: str) -> str:
    """The classes with a number that says which of their keys are missing."""
    mask = " + ".join(
        f"(CASE WHEN {c} IS NULL THEN {1 << i} ELSE 0 END)" for i, c in enumerate(keys)
    )
    return (
        f"SELECT {', '.join(keys)}, n, {mask} AS mask, "
        f"ROW_NUMBER() OVER (ORDER BY n) AS id FROM {classes}"
    )


def matches(keys: Sequence[str], classes: str, a: int, masks: Sequence[int]) -> str:
    """For the classes of pattern `a`: how many records match so many records."""
    parts = []
    for b in sorted(masks):
        common = [c for i, c in enumerate(keys) if not (a | b) & (1 << i)]
        shared = "".join(f"{c}, " for c in common)
        grouped = f" GROUP BY {', '.join(common)}" if common else ""
        on = " AND ".join(f"x.{c} = y.{c}" for c in common) or "1 = 1"
        parts.append(
            f"SELECT x.id AS id, x.n AS own, y.n AS n FROM {classes} AS x JOIN (SELECT {shared}"
            f"CAST(SUM(n) AS BIGINT) AS n FROM {classes} WHERE mask = {b}{grouped}) AS y "
            f"ON {on} WHERE x.mask = {a}"
        )
    return (
        "SELECT f, CAST(SUM(own) AS BIGINT) FROM (SELECT MAX(own) AS own, CAST(SUM(n) AS BIGINT) "
        f"AS f FROM ({' UNION ALL '.join(parts)}) AS u GROUP BY id) AS v GROUP BY f"
    )
