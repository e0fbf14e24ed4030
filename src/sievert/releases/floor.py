"""A floor under a search: where a table has too many combinations, it starts from coarser ones.

Combinations are counted in memory. Where there are more of them, with a secret, than fit there, the
column with the most labels goes up by one level, the first of equal ones, until the engine counts
few enough. The search is exact from there upwards; what is finer was not looked at.
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


def counted_sets(
    roles: Roles, person: str | None = None, key: str | None = None
) -> list[tuple[str, ...]]:
    """The sets of columns whose combinations are kept in memory: one for each secret.

    Where a `person` has several rows, each holds the person; the `key` of earlier releases is kept
    beside the quasi-identifiers.
    """
    secrets = [[s] for s in roles.sensitive if s not in roles.quasi]
    last = [] if person is None else [person]
    sets = [(*roles.quasi, *secret, *last) for secret in secrets or [[]]]
    sets += [] if key is None else [(*roles.quasi, key)]
    return [tuple(dict.fromkeys(columns)) for columns in sets]


def fits(questions: Questions, sets: Sequence[tuple[str, ...]]) -> bool:
    """Whether the combinations can be searched as they are; a few records have no more of them."""
    return questions.records <= MOST_COMBINATIONS or _count_cells(questions, sets) <= (
        MOST_COMBINATIONS
    )


def _count_cells(questions: Questions, sets: Sequence[tuple[str, ...]]) -> int:
    """The most combinations that there are of one of some sets of columns."""
    return max(questions.count_combinations(columns) for columns in sets)


@dataclass(frozen=True, eq=False)
class SearchFloor:
    """The columns with all their levels, and the lowest ones that are searched."""

    values: tuple[ColumnMap, ...]  # of each column its values, and their numbers
    columns: tuple[LevelledColumn, ...]
    counts: tuple[Ints, ...]  # the records of each value by its number
    levels: tuple[int, ...]

    @classmethod
    def of_values(
        cls, counted: Sequence[Cube], roles: Roles, trees: Mapping[str, Hierarchy | None]
    ) -> SearchFloor:
        """No floor yet; `counted` are the values of every quasi-identifier by itself."""
        columns, values, counts = [], [], []
        for name, cube in zip(roles.quasi, counted, strict=True):
            totals = cube.totals(0)
            present = np.flatnonzero(totals)
            texts = [cube.values[0][code] for code in present]
            column, numbers = LevelledColumn.of_values(name, texts, trees.get(name))
            columns.append(column)
            values.append(ColumnMap(texts, texts, numbers.tolist()))
            counts.append(totals[present][np.argsort(numbers)])
        return cls(tuple(values), tuple(columns), tuple(counts), (0,) * len(columns))

    def at(self, levels: Sequence[int]) -> SearchFloor:
        """The same columns on another floor."""
        for column, level in zip(self.columns, levels, strict=True):
            if not 0 <= level < column.levels:
                raise UsageError(
                    f"--levels: {column.name!r} has the levels 0 to {column.levels - 1}"
                )
        return SearchFloor(self.values, self.columns, self.counts, tuple(levels))

    def raised(self) -> SearchFloor | None:
        """One level higher in the column with the most labels; None where all are on the top."""
        labels = [
            len(column.labels[level]) if level + 1 < column.levels else 0
            for column, level in zip(self.columns, self.levels, strict=True)
        ]
        if not any(labels):
            return None
        highest = labels.index(max(labels))
        return self.at([level + (j == highest) for j, level in enumerate(self.levels)])

    @property
    def searched(self) -> list[LevelledColumn]:
        """The columns from the floor upwards."""
        parts = zip(self.columns, self.levels, self.counts, strict=True)
        return [column.above(level, counts) for column, level, counts in parts]

    @property
    def named(self) -> dict[str, int]:
        """The floor of every column that has one."""
        pairs = zip(self.columns, self.levels, strict=True)
        return {column.name: level for column, level in pairs if level}

    @property
    def remark(self) -> Remark:
        """What is said of it beside a result."""
        floor = ", ".join(f"{name!r} {level}" for name, level in self.named.items())
        return Remark("search_floor", number=figure(MOST_COMBINATIONS), levels=floor)

    def recode(self, questions: Questions, names: Sequence[str]) -> Questions:
        """Questions about some columns of the table on this floor, asked of the engine."""
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
        """Of every value of a column its label on a level; the number of the label, shifted."""
        column, values = self.columns[place], self.values[place]
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
    """The lowest floor whose combinations can be searched, with questions about it, and these.

    It is that of levels if `given`. `sets` are what is counted; who is told apart by a column that
    is no quasi-identifier is told apart on every level, so that too many of them are refused here.
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
        floor = floor.raised() if given is None else None
    raise ExhaustedError(
        f"more than {MOST_COMBINATIONS:,} combinations of values on any level",
        hint="fewer quasi-identifiers, coarser hierarchies, or fewer values of the secrets",
    )
