"""What each column contributes: its share of the whole, coarser versions, and how well others tell.

Nothing changes in the data: where columns are coarsened, the same table is measured with values
merged. The description of a coarser column names no value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from statistics import NormalDist
from typing import Any

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.attacks.attack import to_hierarchy
from sievert.commands.explain.combinations import CombinationCounts
from sievert.commands.explain.subsets import about_records, about_secret, measure_whole
from sievert.counts.cube import Cube
from sievert.counts.questions import Questions
from sievert.hierarchies import NUMBER
from sievert.lattice import Lattice

MOST_VALUES = 10**5  # different values of a column that are looked at one by one
FEW_VALUES = 8  # with so few values, numbers and codes are categories
BANDS = (20, 10, 5)  # about so many
LARGEST = 10**18  # the largest range of numbers that are put into bands
RARE = 100  # values of a category below one record in so many are merged

Texts = Sequence[str | None]
LEVEL = 0.95
RANKED_BY = ("discrimination_rate", "itpr_unnormalized", "mutual_information")
MOST_PAIRS = 16  # known columns up to which each is tried alone


# -- coarser columns -----------------------------------------------------------------------------


@dataclass(frozen=True)
class CoarserColumn:
    """One way to coarsen a column: its description and the new code of every old one."""

    column: str
    how: str
    codes: Ints
    values: int  # different values that are left; missing may be one


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
    ways = {}
    for at, column in enumerate(combinations.quasi):
        texts, records = combinations.classes.values[at], combinations.classes.totals(at)
        ways[column] = (
            _by_hierarchy(column, texts, records, hierarchies[column])
            if column in hierarchies
            else _by_values(column, texts, records)
        )
    return {column: coarser for column, coarser in ways.items() if coarser}


def _by_hierarchy(column: str, texts: Texts, records: Ints, given: Any) -> list[CoarserColumn]:
    values = [v for v in texts if v is not None]
    tree = to_hierarchy(given, values)
    if tree is None or not values:
        return []
    tree.require(values, column)
    return [
        coarser
        for level in range(1, tree.height + 1)
        for how in [f"at level {level} of its hierarchy"]
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
    codes = [0 if v is None else numbers.setdefault(label(v), len(numbers) + 1) for v in texts]
    return CoarserColumn(
        column, how, np.array(codes, dtype=np.uint32), len(numbers) + bool(records[0])
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
    numbers = {v: Fraction(v) for v in texts if v is not None}
    span = max(numbers.values()) - min(numbers.values())
    # Otherwise they are equal numbers written in many ways, or extreme ones.
    if not Fraction(1, LARGEST) < span < LARGEST:
        return []

    def band(width: Fraction) -> CoarserColumn:
        return _coarser(
            column, texts, records, f"in bands of {float(width):g}", lambda v: numbers[v] // width
        )

    return _far_apart(texts, (band(_round(float(span) / bands)) for bands in BANDS))


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


# -- Shapley values -----------------------------------------------------------------------------


def exact_shares(values: Floats) -> Floats:
    """From v of every subset: `values[mask]` belongs to the columns whose bits are set in the mask.

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
    """From orders drawn with equal chances, each taken backwards as well.

    `value` gives the numbers of a set of columns. Every order adds up to the whole, so the means
    do. The interval is Student's over pairs of orders, of 95 % each. Returns the means, one row per
    number, half the width of their intervals, and the sets of columns that were measured.
    """
    rng = np.random.default_rng(seed)
    nothing = np.asarray(value(()), dtype=np.float64)
    pairs, prefixes = [], []
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
    every = np.array(pairs)
    error = every.std(axis=0, ddof=1) / math.sqrt(len(every))
    return every.mean(axis=0), error * _student(len(every) - 1), prefixes


def _student(freedom: int) -> float:
    """The quantile of Student's distribution, from that of the normal one.

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
    """As it stands in the JSON: by column the value, its share, and its interval if sampled."""
    halves = [None] * len(columns) if error is None else error.tolist()
    by_column = {
        column: {"value": value, "share": value / whole if whole else None}
        | ({} if half is None else {"low": value - half, "high": value + half})
        for column, value, half in zip(columns, values.tolist(), halves, strict=True)
    }
    return {"whole": whole, "columns": by_column}


# -- every column as the target -----------------------------------------------------------------


def rank_columns(
    questions: Questions, columns: Sequence[str], known: Sequence[str], cube: Cube
) -> list[dict[str, Any]]:
    """What the `known` columns disclose about each column, themselves excepted; the most first.

    `cube` holds the combinations of the known columns; other columns are counted with them.
    """
    entries = []
    for column in columns:
        others = [c for c in known if c != column]
        cells = cube if column in known else questions.cube((*known, column))
        if not others:
            continue
        alone = cells.roll_up([column])
        lattice = Lattice(cells, column, compiled=False)
        (rolled,) = lattice.some([others])
        best = None
        if len(others) <= MOST_PAIRS and lattice.prior:
            singles = [
                (about_secret(r, cells.records, lattice.prior)["discrimination_rate"], r.columns[0])
                for r in lattice.some([c] for c in others)
            ]
            rate, which = max(singles, key=lambda pair: pair[0] or 0.0)
            best = {"column": which, "discrimination_rate": rate}
        entries.append(
            {
                "column": column,
                "known": column in known,
                "values": len(alone.counts),
                "entropy": lattice.prior,
                "as_target": about_secret(rolled, cells.records, lattice.prior),
                "told_most_by": best,
                "as_key": about_records(alone.sizes(), cells.records),
                "reason": "H(X) = 0" if lattice.prior == 0.0 else None,
            }
        )
    return sorted(
        entries,
        key=lambda entry: [
            -1.0 if (number := entry["as_target"][name]) is None else -number for name in RANKED_BY
        ],
    )
