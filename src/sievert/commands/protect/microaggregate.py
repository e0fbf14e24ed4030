"""`--how microaggregate`: groups of near records, which all get the same quasi-identifiers."""

from dataclasses import replace

import numpy as np

from sievert.arrays import Bools, Floats, Ints
from sievert.commands.protect.method import RecordRelease, RecordTable
from sievert.commands.protect.microaggregation import (
    GROUPINGS,
    CategoryColumn,
    MixedRecords,
    v_mdav,
)
from sievert.commands.protect.number_columns import (
    NumberColumn,
    change_losses,
    number_columns,
    remark_on_numbers,
)
from sievert.commands.protect.settings import ProtectSettings
from sievert.errors import InputError, require
from sievert.formatting import plural
from sievert.releases.files import FileColumn
from sievert.request.requested import check_known


def make(table: RecordTable, settings: ProtectSettings) -> RecordRelease:
    """Replace numbers by the mean of their group, ordered values by its median, others by its mode.

    A column with missing values has one more column beside it, which tells whether the value is
    there. A group gets a missing value if more than half of its values are missing.
    """
    check_known("--grouping", settings.grouping, tuple(GROUPINGS))
    size = settings.group if settings.group is not None else _least_class(table)
    require(
        size >= 2,
        "a group has at least 2 records",
        hint="--group 5, or a limit on k_anonymity in the policy",
    )
    numbers = number_columns(table)
    places = {name: column.numbers for name, column in numbers.items()}
    for name in table.roles.quasi:
        ranks = None if name in numbers else _ranks(table, name)
        if ranks is not None:
            places[name] = ranks
    categories = [_category(table, name) for name in table.roles.quasi if name not in places]
    lacks = [np.isnan(place) for place in places.values()]
    categories += [CategoryColumn.plain(x.astype(np.int64)) for x in lacks if x.any()]
    records = MixedRecords.of(
        [np.where(x, np.nanmean(p), p) for p, x in zip(places.values(), lacks, strict=True)],
        categories,
    )
    grouping = GROUPINGS[settings.grouping]
    options = {"gamma": settings.gamma} if grouping is v_mdav else {}
    groups = grouping(records, size, **options)
    changed: dict[str, FileColumn] = {}
    for name in table.roles.quasi:
        own = table.columns[name]
        if name in numbers:
            changed[name] = _means(numbers[name], groups)
        elif name in places:
            changed[name] = replace(own, codes=_medians(own.codes, places[name], groups))
        else:
            changed[name] = replace(own, codes=_modes(own.codes, groups))
    sizes = np.bincount(groups)
    return RecordRelease(
        columns=changed,
        loss=change_losses(table, changed),
        details={
            "grouping": settings.grouping,
            **options,
            "groups": len(sizes),
            "smallest_group": int(sizes.min()),
            "largest_group": int(sizes.max()),
        },
        suppressed=np.zeros(table.records, dtype=bool),
        holds=_holds(table, size),
        notes=[remark_on_numbers(numbers)] if numbers else (),
    )


def _least_class(table: RecordTable) -> int:
    """The largest k that the policy requires of classes; 0 if it requires none."""
    largest = 0
    for _, measure, limit in table.policy.every_limit():
        if measure == "k_anonymity" and limit.min is not None:
            largest = max(largest, int(np.ceil(limit.min)))
    return largest


def _holds(table: RecordTable, size: int) -> bool:
    """Tell whether groups of a size meet the policy, because it limits only k."""
    for _, measure, limit in table.policy.every_limit():
        least = limit.min or 0
        if measure == "k_anonymity":
            if least > size or limit.max is not None:
                return False
        elif measure != "suppressed_records" or least > 0:
            return False
    return True


def _ranks(table: RecordTable, name: str) -> Floats | None:
    """The rank of each record's value, NaN if it is missing; None if the column has no order."""
    column = table.columns[name]
    order = table.measuring.orders.get(name)
    known = [t for t in column.texts if t is not None]
    dates = column.kind.startswith(("DATE", "TIMESTAMP"))
    if not known or (order is None and not dates):
        return None
    places = {text: place for place, text in enumerate(sorted(known) if order is None else order)}
    lacking = sum(text not in places for text in known)
    require(
        not lacking,
        f"{plural(lacking, 'value')} of column {name!r} have no place in its order",
        error=InputError,
    )
    ranks = np.array([np.nan if t is None else places[t] for t in column.texts], dtype=np.float64)
    return np.asarray(ranks[column.codes])


def _category(table: RecordTable, name: str) -> CategoryColumn:
    """Make a column of categories, with its hierarchy if one was given."""
    column = table.columns[name]
    tree = table.hierarchies.get(name)
    if name not in table.measuring.hierarchies or tree is None:
        return CategoryColumn.plain(column.codes)
    tree.require([t for t in column.texts if t is not None], name)
    levels = np.empty((len(column.texts), tree.height), dtype=np.int64)
    for level in range(tree.height):
        numbers: dict[str | None, int] = {}
        for code, text in enumerate(column.texts):
            label = None if text is None else tree.at(text, level)
            levels[code, level] = numbers.setdefault(label, len(numbers))
    return CategoryColumn(column.codes, levels)


def _most_missing(missing: Bools, groups: Ints) -> Bools:
    """Tell which groups have no value for more than half of their records."""
    return np.asarray(2 * np.bincount(groups, missing) > np.bincount(groups))


def _means(column: NumberColumn, groups: Ints) -> FileColumn:
    """Replace each number by the mean of its group; missing if most of the group are missing."""
    missing = np.isnan(column.numbers)
    known = np.bincount(groups, ~missing)
    sums = np.bincount(groups, np.where(missing, 0.0, column.numbers))
    means = np.divide(sums, known, out=np.full(len(sums), np.nan), where=known > 0)
    means[_most_missing(missing, groups)] = np.nan
    return column.with_numbers(means[groups])


def _medians(codes: Ints, ranks: Floats, groups: Ints) -> Ints:
    """The code of the lower median of each record's group; that of missing if most are missing."""
    missing = np.isnan(ranks)
    order = np.lexsort((ranks, groups))  # missing last
    starts = np.searchsorted(groups[order], np.arange(int(groups.max()) + 1))
    known = np.bincount(groups, ~missing).astype(np.int64)
    middle = order[starts + np.maximum(known - 1, 0) // 2]
    last = order[np.append(starts[1:], len(groups)) - 1]
    return np.asarray(np.where(_most_missing(missing, groups), codes[last], codes[middle])[groups])


def _modes(codes: Ints, groups: Ints) -> Ints:
    """The most frequent code of each record's group; of several, the most frequent in the table."""
    width = int(codes.max()) + 1
    cells, times = np.unique(groups * width + codes, return_counts=True)
    group = cells // width
    code = cells % width
    order = np.lexsort((code, -np.bincount(codes)[code], -times, group))
    first = order[np.searchsorted(group[order], np.arange(int(groups.max()) + 1))]
    return np.asarray(code[first][groups])
