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
    """Numbers become the mean of their group, ordered values its median, others its mode.

    A missing value counts as one more column, which tells whether the value is there; a group has
    none where more than half of it have none.
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
        if name not in numbers and (ranks := _ranks(table, name)) is not None:
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
    """The largest k that the policy limits classes to; 0 if none."""
    limits = (limit.min for _, m, limit in table.policy.every_limit() if m == "k_anonymity")
    return max((int(np.ceil(least)) for least in limits if least is not None), default=0)


def _holds(table: RecordTable, size: int) -> bool:
    """Whether groups of a size hold the policy: it limits nothing but k."""
    every = list(table.policy.every_limit())
    only_k = {measure for _, measure, _ in every} <= {"k_anonymity", "suppressed_records"}
    return only_k and all(
        (limit.min or 0) <= (size if m == "k_anonymity" else 0)
        and (limit.max is None or m != "k_anonymity")
        for _, m, limit in every
    )


def _ranks(table: RecordTable, name: str) -> Floats | None:
    """The rank of an ordered value per record, NaN where missing; None where there is no order."""
    column, order = table.columns[name], table.measuring.orders.get(name)
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
    """A column of categories, with its hierarchy where one was given."""
    column, tree = table.columns[name], table.hierarchies.get(name)
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
    """Of each group whether more than half have no value."""
    return np.asarray(2 * np.bincount(groups, missing) > np.bincount(groups))


def _means(column: NumberColumn, groups: Ints) -> FileColumn:
    missing = np.isnan(column.numbers)
    known = np.bincount(groups, ~missing)
    sums = np.bincount(groups, np.where(missing, 0.0, column.numbers))
    means = np.divide(sums, known, out=np.full(len(sums), np.nan), where=known > 0)
    means[_most_missing(missing, groups)] = np.nan
    return column.with_numbers(means[groups])


def _medians(codes: Ints, ranks: Floats, groups: Ints) -> Ints:
    """The code of the lower median of each record's group; of missing, where most are."""
    missing = np.isnan(ranks)
    order = np.lexsort((ranks, groups))  # missing last
    starts = np.searchsorted(groups[order], np.arange(int(groups.max()) + 1))
    known = np.bincount(groups, ~missing).astype(np.int64)
    middle = order[starts + np.maximum(known - 1, 0) // 2]
    last = order[np.append(starts[1:], len(groups)) - 1]
    return np.asarray(np.where(_most_missing(missing, groups), codes[last], codes[middle])[groups])


def _modes(codes: Ints, groups: Ints) -> Ints:
    """The code most frequent in each record's group; of as many, that of most records in all."""
    width = int(codes.max()) + 1
    cells, times = np.unique(groups * width + codes, return_counts=True)
    group, code = cells // width, cells % width
    order = np.lexsort((code, -np.bincount(codes)[code], -times, group))
    first = order[np.searchsorted(group[order], np.arange(int(groups.max()) + 1))]
    return np.asarray(code[first][groups])
