"""Recoding: every value of a column becomes the label it has on one level of a hierarchy.

Data are plain columns: a mapping of names to sequences of text, None where a value is missing. Read
a file before it comes here.
"""

import csv
import itertools
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np

from sievert.arrays import Bools, Ints
from sievert.errors import ExhaustedError, InputError, require, unknown
from sievert.estimators.contingency import rank_keys
from sievert.formatting import plural
from sievert.hierarchies import ROOT, Hierarchy
from sievert.methods.intruder import MOST, check_whole, grouped

Text = str | None
Columns = Mapping[str, Sequence[Any]]
MOST_NODES = 1 << 20  # of a lattice of levels
FAILS, REACHES = 1, 2


@dataclass(frozen=True)
class Released:
    """A table whose quasi-identifiers were made coarser, its records in the order of the input.

    `columns` has every column of the input, those of `quasi` recoded; `classes` the class of each
    record, from 0 on: records of one class have the same quasi-identifiers.
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
    """A table on one level of each hierarchy; `suppressed` tells which records have only `*`."""

    levels: Mapping[str, int]
    heights: Mapping[str, int]
    suppressed: Bools

    @property
    def loss(self) -> float:
        """The mean of level/height over the quasi-identifiers; a column of height 0 counts as 0."""
        parts = (Fraction(self.levels[c], self.heights[c] or 1) for c in self.quasi)
        return float(sum(parts, Fraction(0)) / len(self.quasi))


def recoded(
    data: Columns,
    quasi_levels: Mapping[str, int],
    hierarchies: Mapping[str, Hierarchy],
    *,
    suppress: int | None = None,
) -> Recoded:
    """Full-domain recoding: each quasi-identifier on a given level of its hierarchy.

    With `suppress=k`, records in classes of fewer than k have `*` in every quasi-identifier. A
    missing value stays missing, except on a top level that has one label for all.

    >>> ages = Hierarchy.intervals(["27", "31", "38"], [10])
    >>> found = recoded({"age": ["27", "31", "38"]}, {"age": 1}, {"age": ages}, suppress=2)
    >>> found.columns["age"], found.loss
    (['*', '[30, 40)', '[30, 40)'], 0.5)
    """
    columns = check_columns(data, quasi_levels)
    quasi = tuple(quasi_levels)
    if suppress is not None:
        check_whole(suppress, "suppress")
    coded = [_ColumnHierarchy.from_texts(c, columns[c], hierarchies.get(c)) for c in quasi]
    return _on(columns, coded, [quasi_levels[c] for c in quasi], suppress)


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
    of level/height; of recodings that lose as much the one that suppresses fewest records, then the
    one with lower levels in the first columns. A column without a hierarchy stays as it is. `most`
    limits the combinations of levels.

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
    coded = [_ColumnHierarchy.from_texts(c, columns[c], hierarchies.get(c)) for c in quasi]
    nodes = math.prod(column.height + 1 for column in coded)
    require(
        nodes <= most,
        f"{nodes:,} combinations of levels, more than {most:,}",
        hint="fewer columns, hierarchies of fewer levels, or a larger `most`",
        error=ExhaustedError,
    )
    records = len(coded[0].codes)
    levels = _LevelSearch(coded, k, math.floor(Fraction(repr(float(suppressed))) * records)).best()
    if levels is None:
        raise InputError(
            f"no recoding of {plural(records, 'record')} reaches k = {k}",
            hint="a smaller k, more suppressed records, or hierarchies that end in one label",
        )
    return _on(columns, coded, levels, k)


@dataclass(frozen=True)
class _ColumnHierarchy:
    """One column: codes of its values, and on each level the code of every value's label."""

    name: str
    codes: Ints
    tables: tuple[Ints, ...]
    labels: tuple[list[Text], ...]

    @classmethod
    def from_texts(cls, name: str, texts: Sequence[Text], hierarchy: Hierarchy | None) -> Self:
        codes, values = encode(texts)
        levels = [values]
        if hierarchy is not None:
            hierarchy.require((v for v in values if v is not None), name)
            heights = range(1, hierarchy.height + 1)
            levels += [[None if v is None else hierarchy.at(v, i) for v in values] for i in heights]
            roots = {labels[-1:] for labels in hierarchy.labels.values()}
            if len(roots) == 1 and hierarchy.height:  # one label for all, missing values included
                levels[-1] = [*next(iter(roots))] * len(values)
        tables, labels = zip(*map(encode, levels), strict=True)
        return cls(name, codes, tables, labels)

    @property
    def height(self) -> int:
        return len(self.tables) - 1


class _LevelSearch:
    """The combinations of levels that reach k, from the counted combinations of values."""

    def __init__(self, hierarchies: Sequence[_ColumnHierarchy], k: int, allowed: int) -> None:
        self.hierarchies, self.k, self.allowed = hierarchies, k, allowed
        cells = grouped(
            np.stack([each.codes for each in hierarchies], axis=1),
            range(len(hierarchies)),
        )
        self.keys, self.counts = np.asfortranarray(cells.keys), cells.sizes
        self.heights = [column.height for column in hierarchies]
        self.top = tuple(self.heights)
        self.state = np.zeros([height + 1 for height in self.heights], dtype=np.uint8)

    def below(self, node: tuple[int, ...]) -> int:
        """The number of records in classes of fewer than k."""
        ids, count = np.zeros(len(self.counts), dtype=np.int64), 1
        for place, (column, level) in enumerate(zip(self.hierarchies, node, strict=True)):
            width = len(column.labels[level])
            if width == 1:
                continue
            if count * width > MOST:
                ids, count = rank_keys(ids, count)
            ids = ids * width + column.tables[level][self.keys[:, place]]
            count *= width
        ids, count = rank_keys(ids, count)
        sizes = np.bincount(ids, self.counts, count)  # whole numbers, exact as doubles
        return int(sizes[sizes < self.k].sum())

    def reaches(self, node: tuple[int, ...]) -> bool:
        """Whether few enough are below k: then so on every node above, else on none below."""
        if not self.state[node]:
            if self.below(node) <= self.allowed:
                self.state[tuple(slice(level, None) for level in node)] = REACHES
            else:
                self.state[tuple(slice(level + 1) for level in node)] = FAILS
        return bool(self.state[node] == REACHES)

    def climb(self, node: tuple[int, ...]) -> None:
        """Halve a path to the top from a node that fails, to find a high one that does too."""
        path, here = [node], list(node)
        while path[-1] != self.top:
            open_ = [c for c, height in enumerate(self.heights) if here[c] < height]
            here[min(open_, key=lambda c: (Fraction(here[c], self.heights[c]), c))] += 1
            path.append(tuple(here))
        low, high = 0, len(path) - 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.reaches(path[middle]) else (middle, high)

    def best(self) -> list[int] | None:
        """The node of least loss; None where none reaches k."""
        if not self.reaches(self.top):
            return None
        whole = math.lcm(*(height or 1 for height in self.heights))
        units = [np.arange(height + 1) * (whole // (height or 1)) for height in self.heights]
        flat, states = np.asarray(sum(np.ix_(*units))).ravel(), self.state.reshape(-1)
        candidates: list[tuple[int, tuple[int, ...]]] = []
        reached = flat[-1]
        for place in np.argsort(flat, kind="stable").tolist():
            if candidates and (flat[place] > reached or not min(candidates)[0]):
                break
            node = tuple(int(level) for level in np.unravel_index(place, self.state.shape))
            if states[place] != FAILS and self.reaches(node):
                candidates.append((self.below(node), node))
                reached = flat[place]
            elif not candidates:
                self.climb(node)
        return list(min(candidates)[1])


def _on(
    columns: dict[str, list[Text]],
    hierarchies: Sequence[_ColumnHierarchy],
    levels: Sequence[int],
    suppress: int | None,
) -> Recoded:
    """The table on these levels."""
    pairs = list(zip(hierarchies, levels, strict=True))
    for column, level in pairs:
        require(
            isinstance(level, int) and 0 <= level <= column.height,
            f"column {column.name!r}: its level is a whole number from 0 to {column.height}",
            hint=None if column.height else "a hierarchy for the column",
        )
    codes = np.stack([column.tables[level][column.codes] for column, level in pairs], axis=1)
    labels = [column.labels[level] for column, level in pairs]
    classes = grouped(codes, range(len(hierarchies)))
    small = np.zeros(len(codes), dtype=bool)
    if suppress is not None and (small := (classes.sizes < suppress)[classes.ids]).any():
        labels = [texts if ROOT in texts else [*texts, ROOT] for texts in labels]
        codes[small] = [texts.index(ROOT) for texts in labels]
        classes = grouped(codes, range(len(hierarchies)))
    quasi = tuple(column.name for column in hierarchies)
    columns |= {
        name: [texts[code] for code in column.tolist()]
        for name, texts, column in zip(quasi, labels, codes.T, strict=True)
    }
    return Recoded(
        columns,
        quasi,
        classes.ids,
        dict(zip(quasi, levels, strict=True)),
        {column.name: column.height for column in hierarchies},
        small,
    )


def check_columns(data: Columns, quasi: Iterable[str]) -> dict[str, list[Text]]:
    """Plain columns, checked: text (numbers as they print) or None, one place per record each."""
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
    return (
        items
        if set(map(type, items)) <= {str, type(None)}
        else [None if v is None or v != v else str(v) for v in items]
    )


def encode(texts: Sequence[Text]) -> tuple[Ints, list[Text]]:
    """The place of every text among the different ones, and these as they come.

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
    """Columns as a CSV file, whole or not at all; a missing value is an empty field."""
    from sievert import files

    with files.write_whole(path, sources=sources, force=force) as target, files.name_output(path):
        assert target is not None
        with target.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(
                itertools.chain([list(columns)], zip(*columns.values(), strict=True))
            )
