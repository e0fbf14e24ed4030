"""Chapters about subsets of the columns: shares of the columns, and risk by known columns.

`explain` has these chapters, and so has an assessment that is explained.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from sievert.arrays import Floats
from sievert.attacks.suda import number_of_sets
from sievert.errors import require
from sievert.formatting import plural
from sievert.formatting.remarks import Remark
from sievert.measurement.combinations import CombinationCounts, PeopleCombinations
from sievert.measurement.subsets import (
    MOST_SUBSETS,
    Subset,
    Subsets,
    exposure,
    knowledge,
    largest_size,
    undefined_reasons,
)
from sievert.measurement.table_measures import TableMeasures, most_cells
from sievert.measures import BY_ID
from sievert.measures.measure import NOTHING_TO_LEARN
from sievert.session import Clock

ORDERS = 64  # orders of columns from which Shapley values are sampled
MOST_SAMPLED = 4096  # subsets that are measured for samples, unless more orders are given
UNITS = {"unique_count": ("records", "high")}


@dataclass(frozen=True, kw_only=True)
class SubsetSettings:
    """The subsets that are measured, and the number of orders from which shares are sampled."""

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
    """Measure subsets, the curve by the number of known columns, and each column's share."""
    quasi = combinations.quasi
    n = len(combinations.quasi)
    size = largest_size(n, most) if settings.max_size is None else min(settings.max_size, n)
    expected = settings.budget or number_of_sets(n, size)
    subsets = Subsets(combinations, settings.threads)
    subsets.pace = clock.count("measuring subsets", expected + n + 1)
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
    """The Shapley values of what all columns disclose, and the sampled subsets by size."""
    quasi = subsets.quasi
    n = len(subsets.quasi)
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
        places = [[p for p in range(n) if mask >> p & 1] for mask in range(1 << n)]
        values = np.array([value(subset) for subset in places])
        shares: Sequence[Floats] = [exact_shares(column) for column in values.T]
    else:
        orders = settings.orders or default_orders(n)
        seed = settings.seed
        subsets.pace = clock.count("sampling orders of columns", orders * n)
        means, halves, sampled = sample_shares(value, n, orders, seed)
        shares = list(means)
        errors = list(halves)
        for prefix in sampled:
            prefixes.setdefault(len(prefix), []).append(tuple(quasi[p] for p in prefix))
        chapter |= {"orders": len(sampled) // n, "seed": seed, "level": LEVEL}
    wholes = np.subtract(value(range(n)), value(())).tolist()
    for (secret, name), share, whole, error in zip(names, shares, wholes, errors, strict=True):
        place = chapter["reidentification"]
        if secret is not None:
            place = chapter["inference"].setdefault(secret, {})
        if subsets.whole.numbers(secret)[name] is None:
            place[name] = {"whole": None, "reason": NOTHING_TO_LEARN, "columns": {}}
        else:
            place[name] = shares_by_column(quasi, share, whole, error) | {"reason": None}
    return chapter, prefixes


def default_orders(columns: int) -> int:
    """The number of orders from which shares are sampled: fewer if there are many columns."""
    return max(8, min(ORDERS, MOST_SAMPLED // columns))


def _units(whole: Subset) -> dict[str, dict[str, str]]:
    """The unit of every number of a subset, and which way is risky."""
    units: dict[str, dict[str, str]] = {}
    for name in sorted({*whole.reidentification}.union(*whole.inference.values())):
        if name in UNITS:
            unit, riskier = UNITS[name]
        else:
            unit = BY_ID[name].unit
            riskier = BY_ID[name].riskier
        units[name] = {"unit": unit, "riskier": riskier}
    return units


# -- Shapley values ------------------------------------------------------------------------------


LEVEL = 0.95


def exact_shares(values: Floats) -> Floats:
    """The exact shares; `values[mask]` is v of the columns whose bits are set in the mask.

    phi_i = sum over subsets S without i of |S|!(n-|S|-1)!/n! · (v(S + i) - v(S)): what column i
    adds, averaged over all orders in which the columns could become known. They add up to
    v(all) - v(none). Shapley 1953.

    >>> exact_shares(np.array([0.0, 1.0, 1.0, 4.0])).tolist()
    [2.0, 2.0]
    """
    n = (len(values) - 1).bit_length()
    masks = np.arange(len(values))
    sizes = np.array([m.bit_count() for m in range(len(values))])
    weights = np.array([1.0 / (n * math.comb(n - 1, s)) for s in range(n)])
    return np.array(
        [
            math.fsum((weights[sizes[s]] * (values[s | 1 << i] - values[s])).tolist())
            for i, s in enumerate([masks[masks >> i & 1 == 0] for i in range(n)])
        ]
    )


def sample_shares(
    value: Callable[[tuple[int, ...]], Sequence[float]], columns: int, orders: int, seed: int
) -> tuple[Floats, Floats, list[tuple[int, ...]]]:
    """Estimate shares from orders drawn with equal chances, each taken backwards as well.

    `value` gives the numbers of a set of columns. Every order adds up to the whole, so the means
    do. The intervals of 95 % are Student's over pairs of orders. Return the means, one row per
    number, half the width of their intervals, and the sets of columns that were measured.
    """
    rng = np.random.default_rng(seed)
    nothing = np.asarray(value(()), dtype=np.float64)
    pairs = []
    prefixes = []
    for _ in range(max(2, orders // 2)):
        order = rng.permutation(columns).tolist()
        increase = np.zeros((len(nothing), columns))
        for way in (order, order[::-1]):
            before = nothing
            for known, column in enumerate(way, 1):
                prefixes.append(tuple(sorted(way[:known])))
                after = np.asarray(value(prefixes[-1]), dtype=np.float64)
                increase[:, column] += (after - before) / 2
                before = after
        pairs.append(increase)
    increases = np.array(pairs)
    error = increases.std(axis=0, ddof=1) / math.sqrt(len(increases))
    return increases.mean(axis=0), error * _student(len(increases) - 1), prefixes


def _student(freedom: int) -> float:
    """The quantile of Student's distribution, from that of the normal distribution.

    >>> round(_student(31), 3)  # 2.040
    2.04
    """
    z = NormalDist().inv_cdf(0.5 + LEVEL / 2)
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return math.fsum(term / freedom**power for power, term in enumerate(terms))


def shares_by_column(
    columns: Sequence[str], values: Floats, whole: float, error: Floats | None
) -> dict[str, Any]:
    """The entry of the JSON: for each column the value, its share, and its interval if sampled."""
    halves = [None] * len(columns) if error is None else error.tolist()
    by_column: dict[str, dict[str, float | None]] = {}
    for column, value, half in zip(columns, values.tolist(), halves, strict=True):
        entry = {"value": value, "share": value / whole if whole else None}
        if half is not None:
            entry |= {"low": value - half, "high": value + half}
        by_column[column] = entry
    return {"whole": whole, "columns": by_column}


# -- why the numbers of an assessment are as they are --------------------------------------------


MOST_CELLS = 10**6  # combinations up to which they are fetched
WORK = 10**9  # most cells times subsets that are rolled up together
WORK_ALONE = 10**8  # the same, if one subset is rolled up after the other
LEAST_ORDERS = 4
LONGEST = 12  # most columns that become known one after the other
STEP = ("k_anonymity", "unique_count", "unique_records", "discrimination_rate")


def explain_columns(
    measures: TableMeasures, count: Callable[[], CombinationCounts], clock: Clock
) -> tuple[dict[str, Any] | None, list[Remark]]:
    """The chapters of `explain` on columns, and the most telling columns one after the other.

    None, and a note, if there are too many combinations to count.
    """
    if most_cells(measures) > MOST_CELLS:
        return None, [Remark("shares_left_out")]
    clock("counting combinations", measures.questions)
    combinations = count()
    cells = sum(len(cube.counts) for cube in combinations.cubes)
    n = len(combinations.quasi)
    alone = WORK_ALONE // (cells * n)
    settings = SubsetSettings(orders=max(LEAST_ORDERS, min(default_orders(n), alone)))
    work = WORK_ALONE if isinstance(combinations, PeopleCombinations) else WORK
    most = min(MOST_SUBSETS, max(n, work // cells))
    subsets, chapters = measure_subsets(combinations, settings, clock, most)
    return {**chapters, "path": _path(subsets, min(n, LONGEST, max(1, alone)))}, []


def _path(subsets: Subsets, steps: int) -> list[dict[str, Any]]:
    """The steps from no known column on: each adds the column that makes most people unique."""
    known: tuple[str, ...] = ()
    path = [_step(subsets, known, None)]
    while len(known) < steps:
        others = [c for c in subsets.quasi if c not in known]
        subsets.some([*known, c] for c in others)

        exposures = {c: exposure(subsets.one([*known, c])) for c in others}
        column = max(exposures, key=exposures.__getitem__)
        known = (*known, column)
        path.append(_step(subsets, known, column))
    return path


def _step(subsets: Subsets, known: tuple[str, ...], column: str | None) -> dict[str, Any]:
    numbers = subsets.one(known).reidentification
    return {"column": column, "known": list(known), **{name: numbers[name] for name in STEP}}
