"""Chapters about subsets of the columns: shares of the columns, risk by what is known.

`explain` has them, and an assessment that is to be explained.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sievert.arrays import Floats
from sievert.commands import _shapley
from sievert.commands._combinations import CombinationCounts
from sievert.commands._common import Clock
from sievert.commands._subsets import (
    MOST_SUBSETS,
    Subset,
    Subsets,
    knowledge,
    largest_size,
    undefined_reasons,
)
from sievert.errors import require
from sievert.formatting import plural
from sievert.measures import BY_ID
from sievert.measures.measure import NOTHING_TO_LEARN

ORDERS = 64  # orders of columns from which Shapley values are sampled
MOST_SAMPLED = 4096  # subsets that are measured for it, unless more orders are given
UNITS = {"unique_count": ("records", "high")}


@dataclass(frozen=True)
class SubsetSettings:
    """Which subsets are measured, and from how many orders shares are sampled."""

    max_size: int | None = None
    budget: int | None = None
    orders: int | None = None
    seed: int = 0
    threads: int = 2

    def __post_init__(self) -> None:
        require(
            self.max_size is None or self.budget is None,
            "--max-size and --budget exclude each other",
        )
        for name, number, least in (
            ("--max-size", self.max_size, 1),
            ("--budget", self.budget, 1),
            ("--orders", self.orders, 4),
            ("--seed", self.seed, 0),
        ):
            require(number is None or number >= least, f"{name} must be at least {least}")


def measure_subsets(
    combinations: CombinationCounts,
    settings: SubsetSettings,
    clock: Clock,
    most: int = MOST_SUBSETS,
) -> tuple[Subsets, dict[str, Any]]:
    """Measure subsets; the curve by number of known columns; each column's share."""
    clock("measuring subsets", None)
    quasi, n = combinations.quasi, len(combinations.quasi)
    size = largest_size(n, most) if settings.max_size is None else min(settings.max_size, n)
    subsets = Subsets(combinations, settings.threads)
    if settings.budget is not None:
        subsets.best_first(settings.budget)
        way = "best first"
    elif size == n:
        subsets.all()
        way = "all"
    else:
        subsets.up_to(size)
        way = f"up to {plural(size, 'column')}"
    subsets.some([quasi, *([c for c in quasi if c != other] for other in quasi)])
    complete = len(subsets.results) == 1 << n
    shares, prefixes = _share_chapter(subsets, complete, settings, clock)
    nothing = subsets.results[()]
    return subsets, {
        "shapley": shares,
        "knowledge": knowledge(subsets, prefixes),
        "subsets": {
            "measured": len(subsets.results) - 1,
            "of": (1 << n) - 1,
            "way": way,
            "complete": complete,
            "nothing_known": nothing.to_dict(),
            "undefined": undefined_reasons(nothing),
            "measures": _units(subsets.whole),
        },
    }


def _share_chapter(
    subsets: Subsets, complete: bool, settings: SubsetSettings, clock: Clock
) -> tuple[dict[str, Any], dict[int, list[tuple[str, ...]]]]:
    """Shapley values of what all columns disclose, and the subsets sampled for them by size."""
    quasi, n = subsets.quasi, len(subsets.quasi)
    rates = ("discrimination_rate", "mutual_information")
    names: list[tuple[str | None, str]] = [(None, m) for m in (*rates, "unique_count")]
    names += [(secret, m) for secret in subsets.combinations.secrets for m in rates]

    def value(places: Sequence[int]) -> list[float]:
        subset = subsets.one(quasi[p] for p in places)
        return [float(subset.numbers(secret)[m] or 0.0) for secret, m in names]

    chapter: dict[str, Any] = {"exact": complete, "reidentification": {}, "inference": {}}
    prefixes: dict[int, list[tuple[str, ...]]] = {}
    errors: Sequence[Floats | None] = [None] * len(names)
    if complete:
        every = np.array([value([p for p in range(n) if m >> p & 1]) for m in range(1 << n)])
        shares: Sequence[Floats] = [_shapley.exact_shares(column) for column in every.T]
    else:
        clock("sampling orders of columns", None)
        orders, seed = settings.orders, settings.seed
        orders = orders or max(8, min(ORDERS, MOST_SAMPLED // n))
        means, halves, sampled = _shapley.sample_shares(value, n, orders, seed)
        shares, errors = list(means), list(halves)
        for prefix in sampled:
            prefixes.setdefault(len(prefix), []).append(tuple(quasi[p] for p in prefix))
        chapter |= {"orders": len(sampled) // n, "seed": seed, "level": _shapley.LEVEL}
    wholes = np.subtract(value(range(n)), value(())).tolist()
    for (secret, name), share, whole, error in zip(names, shares, wholes, errors, strict=True):
        place = chapter["reidentification"]
        if secret is not None:
            place = chapter["inference"].setdefault(secret, {})
        if subsets.whole.numbers(secret)[name] is None:
            place[name] = {"whole": None, "reason": NOTHING_TO_LEARN, "columns": {}}
        else:
            place[name] = _shapley.shares_by_column(quasi, share, whole, error) | {"reason": None}
    return chapter, prefixes


def _units(whole: Subset) -> dict[str, dict[str, str]]:
    """The unit of every number of a subset, and which way is risky."""
    return {
        name: {"unit": unit, "riskier": riskier}
        for name in sorted({*whole.reidentification}.union(*whole.inference.values()))
        for unit, riskier in [UNITS.get(name) or (BY_ID[name].unit, BY_ID[name].riskier)]
    }
