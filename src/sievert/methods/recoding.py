"""Recoding: every value of a column becomes its label on one level of a hierarchy.

Data are plain columns: a mapping of names to sequences of text, None for a missing value.
"""

import csv
import itertools
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sievert.arrays import Bools, Ints, Text
from sievert.errors import ExhaustedError, InputError, require, unknown
from sievert.formatting import plural
from sievert.hierarchies import ROOT, Hierarchy
from sievert.methods.full_domain import LevelledColumn, Search
from sievert.methods.full_domain.losses import HEIGHTS
from sievert.methods.intruder import check_whole, group_records

Columns = Mapping[str, Sequence[Any]]
MOST_NODES = 1 << 20  # nodes of a lattice of levels


@dataclass(frozen=True)
class Released:
    """A table with coarser quasi-identifiers, its records in the order of the input.

    `columns` has every column of the input, with the columns of `quasi` recoded. `classes` has the
    class of each record, from 0 on: records of one class have the same quasi-identifiers.
    """

    columns: Mapping[str, list[Text]]
    quasi: tuple[str, ...]
    classes: Ints

    @property
    def sizes(self) -> Ints:
        """The number of records per class."""
        return np.bincount(self.classes)

    def write(
        self, path: str | os.PathLike[str], *, sources: Iterable[Any] = (), force: bool = False
    ) -> None:
        """Save the table as a CSV file, whole or not at all, never over one of the sources."""
        save(path, self.columns, sources, force=force)


@dataclass(frozen=True)
class Recoded(Released):
    """A table on one level of each hierarchy; `suppressed` marks the records that have only `*`."""

    levels: Mapping[str, int]
    heights: Mapping[str, int]
    suppressed: Bools

    @property
    def loss(self) -> float:
        """The mean of level/height over the quasi-identifiers; a column of height 0 counts as 0."""
        parts = (Fraction(self.levels[c], max(1, self.heights[c])) for c in self.quasi)
        return float(sum(parts, Fraction(0)) / len(self.quasi))


def recode(
    data: Columns,
    quasi_levels: Mapping[str, int],
    hierarchies: Mapping[str, Hierarchy],
    *,
    suppress: int | None = None,
) -> Recoded:
    """Recode each quasi-identifier to a given level of its hierarchy (full-domain recoding).

    With `suppress=k`, records in classes of fewer than k have `*` in every quasi-identifier. A
    missing value stays missing, except on a top level that has one label for all.

    >>> ages = Hierarchy.intervals(["27", "31", "38"], [10])
    >>> found = recode({"age": ["27", "31", "38"]}, {"age": 1}, {"age": ages}, suppress=2)
    >>> found.columns["age"], found.loss
    (['*', '[30, 40)', '[30, 40)'], 0.5)
    """
    columns = check_columns(data, quasi_levels)
    quasi = tuple(quasi_levels)
    if suppress is not None:
        check_whole(suppress, "suppress")
    levelled, codes = _put_on_levels(columns, quasi, hierarchies)
    return _recode_to(columns, levelled, codes, [quasi_levels[c] for c in quasi], suppress)


def smallest_recoding(
    data: Columns,
    quasi: Sequence[str],
    hierarchies: Mapping[str, Hierarchy],
    k: int,
    *,
    suppressed: float = 0.0,
    most: int = MOST_NODES,
) -> Recoded:
    """The full-domain recoding of least loss whose classes have at least k records.

    At most the share `suppressed` of the records may be suppressed instead. The loss is the mean
    of level/height. Ties are decided by the fewest suppressed records, then by lower levels in the
    first columns. A column without a hierarchy stays as it is. `most` limits the combinations of
    levels.

    >>> data = {"age": ["27", "29", "38", "31"], "sex": ["f", "f", "m", "m"]}
    >>> ages = Hierarchy.intervals(data["age"], [5, 10])
    >>> sexes = Hierarchy({"f": ("*",), "m": ("*",)})
    >>> found = smallest_recoding(data, ["age", "sex"], {"age": ages, "sex": sexes}, 2)
    >>> found.levels, round(found.loss, 3)
    ({'age': 2, 'sex': 0}, 0.333)
    """
    columns = check_columns(data, quasi)
    check_whole(k, "k")
    require(0 <= suppressed <= 1, "the share of suppressed records is from 0 to 1")
    levelled, codes = _put_on_levels(columns, quasi, hierarchies)
    nodes = math.prod(column.levels for column in levelled)
    require(
        nodes <= most,
        f"{nodes:,} combinations of levels, more than {most:,}",
        hint="fewer columns, hierarchies of fewer levels, or a larger `most`",
        error=ExhaustedError,
    )
    allowed = math.floor(Fraction(repr(float(suppressed))) * len(codes))
    cells = group_records(codes, range(len(levelled)))
    search = Search(levelled, cells.keys, cells.sizes, k=k, suppress=allowed, loss=HEIGHTS.id)
    recoding = search.run()
    if recoding is None:
        raise InputError(
            f"no recoding of {plural(len(codes), 'record')} reaches k = {k}",
            hint="a smaller k, more suppressed records, or hierarchies that end in one label",
        )
    return _recode_to(columns, levelled, codes, recoding.levels, k)


def _put_on_levels(
    columns: Mapping[str, Sequence[Text]],
    quasi: Iterable[str],
    hierarchies: Mapping[str, Hierarchy],
) -> tuple[list[LevelledColumn], Ints]:
    """Every column with its levels, and the codes of all records."""
    levelled = []
    codes = []
    for name in quasi:
        places, values = encode(columns[name])
        column, numbers = LevelledColumn.of_values(name, values, hierarchies.get(name))
        levelled.append(column)
        codes.append(numbers[places])
    return levelled, np.stack(codes, axis=1)


def _recode_to(
    columns: dict[str, list[Text]],
    levelled: Sequence[LevelledColumn],
    codes: Ints,
    levels: Sequence[int],
    suppress: int | None,
) -> Recoded:
    """Recode a table to these levels."""
    pairs = list(zip(levelled, levels, strict=True))
    for column, level in pairs:
        require(
            isinstance(level, int) and 0 <= level < column.levels,
            f"column {column.name!r}: its level is a whole number from 0 to {column.levels - 1}",
            hint=None if column.levels > 1 else "a hierarchy for the column",
        )
    tables = [column.tables[level] for column, level in pairs]
    codes = np.stack([table[own] for table, own in zip(tables, codes.T, strict=True)], axis=1)
    labels = [list(column.labels[level]) for column, level in pairs]
    classes = group_records(codes, range(len(levelled)))
    small = np.zeros(len(codes), dtype=bool)
    if suppress is not None:
        small = (classes.sizes < suppress)[classes.ids]
    if small.any():
        labels = [texts if ROOT in texts else [*texts, ROOT] for texts in labels]
        codes[small] = [texts.index(ROOT) for texts in labels]
        classes = group_records(codes, range(len(levelled)))
    quasi = tuple(column.name for column in levelled)
    columns |= {
        name: [texts[code] for code in column.tolist()]
        for name, texts, column in zip(quasi, labels, codes.T, strict=True)
    }
    return Recoded(
        columns=columns,
        quasi=quasi,
        classes=classes.ids,
        levels=dict(zip(quasi, levels, strict=True)),
        heights={column.name: column.levels - 1 for column in levelled},
        suppressed=small,
    )


def check_columns(data: Columns, quasi: Iterable[str]) -> dict[str, list[Text]]:
    """Check plain columns of one length; their values become text, as they print, or None."""
    require(
        isinstance(data, Mapping),
        "data are plain columns",
        hint="a dict of lists: {'age': ['27', '31']}",
    )
    chosen = list(quasi)
    for name in chosen:
        if name not in data:
            raise unknown("column", name, data)
    require(
        chosen and len(set(chosen)) == len(chosen),
        "name at least one quasi-identifier, and each once",
    )
    columns = {name: _texts(values) for name, values in data.items()}
    lengths = {len(values) for values in columns.values()}
    require(lengths != {0}, "a table without records", error=InputError)
    require(
        len(lengths) <= 1,
        "columns have one place a record each: their lengths differ",
        error=InputError,
    )
    return columns


def _texts(values: Iterable[Any]) -> list[Text]:
    items = values.tolist() if isinstance(values, np.ndarray) else list(values)
    if set(map(type, items)) <= {str, type(None)}:
        return items
    return [None if v is None or v != v else str(v) for v in items]


def encode(texts: Sequence[Text]) -> tuple[Ints, list[Text]]:
    """The place of every text among the distinct texts, and these in order of appearance.

    >>> encode(["b", "a", "b"])
    (array([0, 1, 0]), ['b', 'a'])
    """
    values = list(dict.fromkeys(texts))
    place = {value: at for at, value in enumerate(values)}
    return np.fromiter(map(place.__getitem__, texts), np.int64, len(texts)), values


def save(
    path: str | os.PathLike[str],
    columns: Mapping[str, Sequence[Text]],
    sources: Iterable[Any] = (),
    *,
    force: bool = False,
) -> None:
    """Write columns to a CSV file, whole or not at all; a missing value is an empty field."""
    from sievert import files

    with files.write_whole(path, sources=sources, force=force) as target, files.name_output(path):
        assert target is not None
        with target.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(
                itertools.chain([list(columns)], zip(*columns.values(), strict=True))
            )
