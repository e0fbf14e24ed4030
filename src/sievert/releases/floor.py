"""The floor of a search: if a table has too many combinations, the search starts from coarser ones.

Combinations with a secret are counted in memory. If too many occur, the column with the most labels
goes up by one level, the first column of several, until the engine counts few enough. The search is
exact from there upwards; finer levels are not searched.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sievert.arrays import Ints
from sievert.counts.cube import Cube
from sievert.counts.questions import Questions
from sievert.counts.recoded_records import ColumnMap, RecodedRecords
from sievert.errors import ExhaustedError, UsageError, require
from sievert.formatting.remarks import Remark, figure
from sievert.hierarchies import ROOT, Hierarchy
from sievert.measurement.combinations import CombinationCounts, count_combinations
from sievert.methods.full_domain import LevelledColumn
from sievert.roles import Roles

MOST_COMBINATIONS = 10**8


def column_sets(
    roles: Roles, person: str | None = None, key: str | None = None
) -> list[tuple[str, ...]]:
    """The sets of columns whose combinations are kept in memory: one for each secret.

    Each set has the column of the `person`, if people have several rows. The `key` of earlier
    releases makes a set of its own with the quasi-identifiers.
    """
    secrets = [[s] for s in roles.sensitive if s not in roles.quasi] or [[]]
    last = [] if person is None else [person]
    sets = [(*roles.quasi, *secret, *last) for secret in secrets]
    if key is not None:
        sets.append((*roles.quasi, key))
    return [tuple(dict.fromkeys(columns)) for columns in sets]


def fits_in_memory(questions: Questions, sets: Sequence[tuple[str, ...]]) -> bool:
    """Tell whether the combinations can be searched without a floor.

    No table has more combinations than records, so those of a small one are not counted.
    """
    if questions.records <= MOST_COMBINATIONS:
        return True
    return _count_cells(questions, sets) <= MOST_COMBINATIONS


def _count_cells(questions: Questions, sets: Sequence[tuple[str, ...]]) -> int:
    """Count the combinations of each set of columns; return the largest number."""
    return max(questions.count_combinations(columns) for columns in sets)


@dataclass(frozen=True, eq=False)
class SearchFloor:
    """The columns with all their levels, and the lowest ones that are searched."""

    values: tuple[ColumnMap, ...]  # for each column its values, and their numbers
    columns: tuple[LevelledColumn, ...]
    counts: tuple[Ints, ...]  # the records of each value by its number
    levels: tuple[int, ...]

    @classmethod
    def of_values(
        cls, counted: Sequence[Cube], roles: Roles, trees: Mapping[str, Hierarchy | None]
    ) -> SearchFloor:
        """Start from the columns as they are; `counted` has the values of each quasi-identifier."""
        columns = []
        values = []
        counts = []
        for name, cube in zip(roles.quasi, counted, strict=True):
            totals = cube.totals(0)
            present = np.flatnonzero(totals)
            texts = [cube.values[0][code] for code in present]
            column, numbers = LevelledColumn.of_values(name, texts, trees.get(name))
            columns.append(column)
            values.append(ColumnMap(texts, texts, numbers.tolist()))
            counts.append(totals[present][np.argsort(numbers)])
        return cls(
            values=tuple(values),
            columns=tuple(columns),
            counts=tuple(counts),
            levels=(0,) * len(columns),
        )

    def at(self, levels: Sequence[int]) -> SearchFloor:
        """The same columns on another floor."""
        for column, level in zip(self.columns, levels, strict=True):
            if not 0 <= level < column.levels:
                raise UsageError(
                    f"--levels: {column.name!r} has the levels 0 to {column.levels - 1}"
                )
        return SearchFloor(
            values=self.values, columns=self.columns, counts=self.counts, levels=tuple(levels)
        )

    def raise_one(self) -> SearchFloor | None:
        """Raise the column with the most labels by one level; None if all are at the top."""
        labels = [
            len(column.labels[level]) if level + 1 < column.levels else 0
            for column, level in zip(self.columns, self.levels, strict=True)
        ]
        if not any(labels):
            return None
        highest = labels.index(max(labels))
        levels = list(self.levels)
        levels[highest] += 1
        return self.at(levels)

    @property
    def search_columns(self) -> list[LevelledColumn]:
        """The columns from the floor upwards."""
        parts = zip(self.columns, self.levels, self.counts, strict=True)
        return [column.above(level, counts) for column, level, counts in parts]

    @property
    def levels_by_name(self) -> dict[str, int]:
        """The floor of every column that has one."""
        pairs = zip(self.columns, self.levels, strict=True)
        return {column.name: level for column, level in pairs if level}

    @property
    def remark(self) -> Remark:
        """The remark on the floor beside a result."""
        floor = ", ".join(f"{name!r} {level}" for name, level in self.levels_by_name.items())
        return Remark("search_floor", number=figure(MOST_COMBINATIONS), levels=floor)

    def recode(self, questions: Questions, names: Sequence[str]) -> Questions:
        """Ask the engine about some columns of the table, recoded to this floor."""
        maps = {
            column.name: self.label_map(j, self.levels[j])
            for j, column in enumerate(self.columns)
            if self.levels[j]
        }
        none = np.zeros(0, dtype=np.int64)
        view = f"floor_{'_'.join(map(str, self.levels))}"
        return questions.recode(
            view, RecodedRecords(names=tuple(names), maps=maps, suppressed=none, mark=ROOT)
        )

    def label_map(self, place: int, level: int, low: int = 0) -> ColumnMap:
        """Map every value of a column to its label on a level.

        The number of the label is shifted to the left by `low` bits.
        """
        column = self.columns[place]
        values = self.values[place]
        own = column.tables[level][np.array(values.numbers, dtype=np.int64)].tolist()
        texts = column.labels[level]
        return ColumnMap(values.values, [texts[n] for n in own], [n << low for n in own])


def find_floor(
    questions: Questions,
    roles: Roles,
    start: SearchFloor,
    given: Sequence[int] | None,
    sets: Sequence[tuple[str, ...]],
) -> tuple[SearchFloor, Questions, CombinationCounts]:
    """Find the lowest floor whose combinations can be searched.

    Return it with questions about the table on this floor, and with the combinations. The levels of
    the floor may be `given`. `sets` are the sets of columns whose combinations are counted. People
    and keys are never recoded, so a table with too many of them is refused at once.
    """
    for column in {columns[-1] for columns in sets} - {*roles.quasi, *roles.sensitive}:
        require(
            questions.count_combinations((column,)) <= MOST_COMBINATIONS,
            f"{column!r} tells more than {MOST_COMBINATIONS:,} people apart, who are searched in "
            "memory",
            hint="one record for each person and no earlier release, or parts of the table",
            error=ExhaustedError,
        )
    names = dict.fromkeys(
        (*roles.quasi, *roles.sensitive, *(c for columns in sets for c in columns))
    )
    require(
        not set(roles.sensitive) & set(roles.quasi),
        "a table of so many combinations has a secret among its quasi-identifiers",
        hint="name it once",
    )
    floor: SearchFloor | None = start if given is None else start.at(given)
    while floor is not None:
        on_floor = floor.recode(questions, [*names])
        if _count_cells(on_floor, sets) <= MOST_COMBINATIONS:
            return floor, on_floor, count_combinations(on_floor, roles.quasi, roles.sensitive)
        floor = floor.raise_one() if given is None else None
    raise ExhaustedError(
        f"more than {MOST_COMBINATIONS:,} combinations of values on any level",
        hint="fewer quasi-identifiers, coarser hierarchies, or fewer values of the secrets",
    )
