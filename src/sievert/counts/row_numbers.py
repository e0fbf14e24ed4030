"""Pointing at records: the numbers of the few in some classes, and a file with one row for each.

Classes are told by the codes of their values; a small table for each column says which text has
which code. Numbers are those of the input, from 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sievert.arrays import Ints
from sievert.counts.cube import Cube
from sievert.counts.quoting import quote_identifier

if TYPE_CHECKING:
    from sievert.counts.questions import Questions

NO_ORDER = "records have no order on this engine"


def has_row_numbers(questions: Questions) -> bool:
    """Whether records have numbers: only where they are read in the order of the input."""
    return questions.engine.name == "duckdb"


def row_numbers(
    questions: Questions, classes: Cube, places: Sequence[int], most: int
) -> list[list[int]]:
    """The numbers of the records of some classes, the first `most` of each."""
    joined_classes = _Loaded(questions, classes, np.asarray(places), {})
    numbers: list[list[int]] = [[] for _ in places]
    rows = questions.engine.rows(
        f"SELECT k.place, r.record FROM {joined_classes.joined} ORDER BY k.place, r.record"
    )
    for place, record in rows:
        if len(numbers[int(place)]) < most:
            numbers[int(place)].append(int(record))
    joined_classes.drop()
    return numbers


def write_row_marks(
    questions: Questions,
    classes: Cube,
    marks: Mapping[str, tuple[str, Sequence[Any]]],
    path: Path,
    kind: str,
) -> None:
    """One row a record in input order, with the marks of its class."""
    joined_classes = _Loaded(questions, classes, np.arange(len(classes.counts)), marks)
    names = "".join(f", k.{quote_identifier(m)} AS {quote_identifier(m)}" for m in marks)
    questions.engine.write(
        f"SELECT r.record AS record{names} FROM {joined_classes.joined} ORDER BY r.record",
        path,
        kind,
    )
    joined_classes.drop()


class _Loaded:
    """Tables of the codes of some classes, joined to the numbered records."""

    def __init__(
        self,
        questions: Questions,
        classes: Cube,
        places: Ints,
        marks: Mapping[str, tuple[str, Sequence[Any]]],
    ) -> None:
        self.questions = questions
        engine = questions.engine
        self.tables = [questions.new_name() for _ in range(len(classes.columns) + 1)]
        keys = [questions.sql_name(c) for c in classes.columns]
        engine.load(
            self.tables[0],
            {
                "place": ("int", list(range(len(places)))),
                **{f"q{i}": ("int", c[places].tolist()) for i, c in enumerate(classes.codes)},
                **marks,
            },
        )
        # Only codes that occur in these classes: few where few are pointed at.
        joins = [f"(SELECT ROW_NUMBER() OVER () AS record, {', '.join(keys)} FROM input) AS r"]
        same = []
        for i, (table, key) in enumerate(zip(self.tables[1:], keys, strict=True)):
            used = np.unique(classes.codes[i][places]).tolist()
            texts = [classes.values[i][code] for code in used]
            engine.load(table, {"v": ("text", texts), "code": ("int", used)})
            joins.append(
                f"JOIN {table} AS d{i} ON {engine.as_text(f'r.{key}')} IS NOT DISTINCT FROM d{i}.v"
            )
            same.append(f"d{i}.code = k.q{i}")
        joins.append(f"JOIN {self.tables[0]} AS k ON {' AND '.join(same)}")
        self.joined = " ".join(joins)

    def drop(self) -> None:
        """Give the room back."""
        self.questions.drop_tables(*self.tables)
