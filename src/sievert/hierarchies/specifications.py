"""Specifications of hierarchies: `interval:5,10`, a file, a tree, a function; read and written."""

import itertools
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from sievert.errors import InputError, UsageError, require
from sievert.formatting.remarks import Figure, Remark
from sievert.hierarchies import categories, intervals
from sievert.hierarchies.categories import ELSE, OTHER, read_tree, tree_hierarchy, tree_of
from sievert.hierarchies.dates import ORDERS, check_units, date_hierarchy
from sievert.hierarchies.hierarchy import Hierarchy, check_file
from sievert.hierarchies.labels import ROOT

TREES = (".toml", ".json")
WORDS = {  # the remark on a column on one level, with a number
    "interval": "bands",
    "quantile": "quantile_bands",
    "prefix": "first_characters",
    "order": "groups_of",
    "top": "most_frequent",
}
ONE = {
    ("prefix", "1"): Remark("first_character"),
    ("top", "1"): Remark("most_frequent_value"),
}
UNITS = {
    "day": Remark("unit_day"),
    "week": Remark("unit_week"),
    "month": Remark("unit_month"),
    "quarter": Remark("unit_quarter"),
    "year": Remark("unit_year"),
    "decade": Remark("unit_decade"),
}
Maker = Callable[[Mapping[str, int]], Hierarchy]


def to_hierarchy(
    given: Any, values: Iterable[str] | Mapping[str, int], column: str | None = None
) -> Hierarchy | None:
    """Make the hierarchy that a text, a tree, the labels of each value or a function specifies.

    `values` are the values of the column: each with its number of records, or all of them.
    """
    try:
        return _hierarchy(given, values)
    except InputError as error:
        if column is None:
            raise
        raise InputError(f"column {column!r}: {error.what}", hint=error.hint) from None


def _hierarchy(given: Any, values: Iterable[str] | Mapping[str, int]) -> Hierarchy | None:
    if given is None or isinstance(given, Hierarchy):
        return given
    if isinstance(given, Mapping) and any(isinstance(x, Mapping) for x in given.values()):
        return tree_hierarchy(given, values)
    if isinstance(given, Mapping):
        return Hierarchy({str(v): _labels(labels) for v, labels in given.items()})
    if not values:
        return None
    if callable(given):
        return Hierarchy({v: _labels(given(v)) for v in dict.fromkeys(values)}, "function")
    return parse(str(given), values)


def parse(spec: str, values: Iterable[str] | Mapping[str, int]) -> Hierarchy:
    """Parse SPEC of `--hierarchy COL=SPEC`: a kind with its numbers, a file of labels, a tree."""
    counts = values if isinstance(values, Mapping) else Counter(values)
    maker = _maker(spec)
    if maker is not None:
        return maker(counts)
    path = Path(spec)
    if path.suffix.lower() in TREES:
        return tree_hierarchy(read_tree(path), counts, path.name)
    return Hierarchy.read(path)


def check_specification(given: Any) -> None:
    """Raise an error unless a text is a specification, or a file that can be opened."""
    if isinstance(given, str | os.PathLike) and _maker(str(given)) is None:
        check_file(Path(given))


def with_orders(
    hierarchies: Mapping[str, Any], orders: Mapping[str, Iterable[str]]
) -> dict[str, Any]:
    """Replace each `order:2,4` by the hierarchy of its groups, if the column's order is given."""
    ordered = dict(hierarchies)
    for column, given in hierarchies.items():
        if column in orders and isinstance(given, str) and given.startswith("order:"):
            order = list(dict.fromkeys(map(str, orders[column])))
            sizes = _order_sizes(given.removeprefix("order:"))
            ladder = categories.neighbours(order, sizes, order).labels
            ordered[column] = Hierarchy(ladder, "order", given)
    return ordered


def is_generated(given: Any) -> bool:
    """Say whether a specification makes labels from the values, and names no value."""
    return isinstance(given, str) and _maker(given) is not None


def is_made_from_data(given: Any) -> bool:
    """Say whether other data with the same specification may get other labels."""
    return isinstance(given, str) and given.partition(":")[0] in ("quantile", "order", "top")


def read_hierarchies(path: str | Path) -> dict[str, Any]:
    """Read the hierarchies of several columns: `[hierarchies]` of a TOML file."""
    path = Path(path)
    table = read_tree(path).get("hierarchies")
    require(
        isinstance(table, Mapping) and all(isinstance(x, str | Mapping) for x in table.values()),
        f"{path.name}: no table [hierarchies] with a text or a tree for each column",
        hint='[hierarchies], then age = "interval:5,10"',
    )
    return {c: x if isinstance(x, str) else below_root(x) for c, x in table.items()}


def below_root(tree: Mapping[str, Any]) -> Mapping[str, Any]:
    """Put a tree below one root, so that it is never taken for the labels of each value."""
    return tree if [*tree] == [ROOT] else {ROOT: tree}


def fixed_form(hierarchy: Hierarchy) -> str | dict[str, Any]:
    """Write a hierarchy for other data: as a text without values, else as a tree of the values."""
    if hierarchy.fixed is not None:
        return hierarchy.fixed
    if hierarchy.source != "top":
        return tree_of(hierarchy)
    kept = {v: labels for v, labels in hierarchy.labels.items() if labels[0] != OTHER}
    return tree_of(Hierarchy({**kept, ELSE: (OTHER,) * (hierarchy.height - 1) + (ROOT,)}))


def _labels(labels: Any) -> tuple[str, ...]:
    return (labels,) if isinstance(labels, str) else tuple(map(str, labels))


# -- kinds --------------------------------------------------------------------------------------


def _maker(spec: str) -> Maker | None:
    """The function that makes a hierarchy from counted values; None if the text names a file."""
    kind, sign, rest = spec.partition(":")
    if spec == ROOT:
        return lambda counts: Hierarchy(dict.fromkeys(counts, (ROOT,)), "one label", ROOT)
    if spec == "prefix":
        return lambda counts: Hierarchy.prefixes(counts)
    return _KINDS[kind](rest) if sign and kind in _KINDS else None


def _numeric(levels: intervals.NumberLevels) -> Maker:
    return lambda counts: Hierarchy(levels.label_values(counts), levels.kind, levels.text)


def _interval_levels(rest: str) -> intervals.IntervalLevels:
    widths = intervals.read_numbers(rest, "intervals: the widths", "interval:5,10,20")
    return intervals.IntervalLevels(widths)


def _cuts(rest: str) -> Maker:
    read = partial(intervals.read_numbers, what="cuts: they", example="cuts:10,20,30/20")
    return _numeric(intervals.CutLevels([read(cuts) for cuts in rest.split("/")]))


def _ends(rest: str) -> Maker:
    example = "ends:18,85, ends:,85 or ends:18,85/interval:5,10"
    ends, _, inner = rest.partition("/")
    low, comma, high = ends.partition(",")
    require(bool(comma), "ends: two ends with a comma, one may be empty", hint=example)
    lowest, highest = (
        intervals.read_numbers(end, "ends: they", example)[0] if end.strip() else None
        for end in (low, high)
    )
    require(
        not inner or inner.startswith("interval:"),
        "ends: intervals only may follow",
        hint=example,
    )
    levels = _interval_levels(inner.removeprefix("interval:")) if inner else None
    return _numeric(intervals.EndLevels(lowest, highest, levels))


def _quantile(rest: str) -> Maker:
    groups = _whole_numbers(rest, "quantile", "quantile:16,8,4", least=2)
    require(
        all(a > b and a % b == 0 for a, b in itertools.pairwise(groups)),
        "quantile: each number of groups is a multiple of the next",
        hint="quantile:16,8,4",
    )
    return lambda counts: _numeric(intervals.quantile_levels(counts, groups))(counts)


def _prefix(rest: str) -> Maker:
    kept, _, width = rest.partition("/")
    example = "prefix:4,3,2"
    lengths = _whole_numbers(kept, "prefix", example, least=0)
    require(
        all(a > b for a, b in itertools.pairwise(lengths)),
        "prefix: fewer characters are kept from level to level",
        hint=example,
    )
    whole = _whole_numbers(width, "prefix", f"{example}/5", least=1)[0] if width else None
    return lambda counts: Hierarchy.prefixes(counts, lengths, whole)


def _date(rest: str) -> Maker:
    named, slash, order = rest.partition("/")
    units = [unit.strip() for unit in named.split(",")]
    check_units(units)
    require(
        not slash or order in ORDERS,
        "date: not an order of day, month and year",
        hint="date:month,year/dmy or date:month,year/mdy",
    )
    known = order if order else None
    return lambda counts: date_hierarchy(counts, units, known)


def _order_sizes(rest: str) -> list[int]:
    sizes = _whole_numbers(rest, "order", "order:2,4", least=2)
    require(
        all(b > a and b % a == 0 for a, b in itertools.pairwise(sizes)),
        "order: each size of groups is a multiple of the one before",
        hint="order:2,4",
    )
    return sizes


def _top(rest: str) -> Maker:
    numbers = _whole_numbers(rest, "top", "top:20,5", least=1)
    require(
        all(a > b for a, b in itertools.pairwise(numbers)),
        "top: fewer values are kept from level to level",
        hint="top:20,5",
    )
    return lambda counts: categories.most_frequent(counts, numbers)


_KINDS: Mapping[str, Callable[[str], Maker]] = {
    "interval": lambda rest: _numeric(_interval_levels(rest)),
    "cuts": _cuts,
    "quantile": _quantile,
    "ends": _ends,
    "prefix": _prefix,
    "date": _date,
    "order": lambda rest: partial(categories.neighbours, sizes=_order_sizes(rest)),
    "top": _top,
}


def _whole_numbers(text: str, what: str, example: str, least: int) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and len(part) < 10 for part in parts):
        raise UsageError(f"{what}: not whole numbers", hint=example)
    numbers = [int(part) for part in parts]
    require(min(numbers) >= least, f"{what}: a number below {least}", hint=example)
    return numbers


def describe_level(given: Any, level: int, height: int, labels: int) -> Remark:
    """Say in words how a hierarchy, `given` as a text, changes a column on a `level`.

    The level has `labels` labels, and the hierarchy `height` levels.

    >>> describe_level("interval:5,10", 2, 3, 7), describe_level("prefix", 2, 5, 9)
    ('in bands of 10', 'cut to the first 3 characters')
    >>> describe_level("interval:5,10", 3, 3, 1), describe_level("jobs.csv", 1, 3, 4)
    ('with one label for all', 'at level 1 of its hierarchy')
    >>> describe_level("quantile:16,8", 2, 3, 8), describe_level("quantile:16,8", 2, 3, 3)
    ('in 8 bands of about as many people', 'in 3 bands')
    """
    kind, _, rest = given.partition(":") if isinstance(given, str) else ("", "", "")
    steps = rest.partition("/")[0].split(",")
    if kind == "prefix" and not rest:
        steps = [str(height - at) for at in range(1, height + 1)]
    if kind not in WORDS and kind != "date":
        return Remark("at_level", number=Figure(level))
    if level > len(steps) or steps[level - 1] == "0":
        return Remark("one_label_for_all")
    step = steps[level - 1]
    if kind == "date":
        return Remark("by_unit", unit=UNITS.get(step, step))
    if kind == "quantile" and step != str(labels):  # many people have the same number
        return Remark("some_bands", number=Figure(labels))
    if (kind, step) in ONE:
        return ONE[kind, step]
    return Remark(WORDS[kind], number=Figure(step))
