"""Pointing at records: the numbers of the few in some classes, and a file with one row for each.

Classes are told by the codes of their values; a small table for each column says which text has
which code. Numbers are those of the input, from 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sievert.arrays import Ints
from sievert.counts.cells import LoadedColumns
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
    tables, joined = _join_classes(questions, classes, np.asarray(places), {})
    numbers: list[list[int]] = [[] for _ in places]
    sql = f"SELECT k.place, r.record FROM {joined} ORDER BY k.place, r.record"
    for place, record in questions.engine.rows(sql):
        if len(numbers[int(place)]) < most:
            numbers[int(place)].append(int(record))
    questions.drop_tables(*tables)
    return numbers


def write_row_marks(
    questions: Questions, classes: Cube, marks: LoadedColumns, path: Path, kind: str
) -> None:
    """One row per record in input order, with the marks of its class."""
    places = np.arange(len(classes.counts))
    tables, joined = _join_classes(questions, classes, places, marks)
    names = "".join(f", k.{quote_identifier(m)} AS {quote_identifier(m)}" for m in marks)
    sql = f"SELECT r.record AS record{names} FROM {joined} ORDER BY r.record"
    questions.engine.write(sql, path, kind)
    questions.drop_tables(*tables)


def _join_classes(
    questions: Questions, classes: Cube, places: Ints, marks: LoadedColumns
) -> tuple[list[str], str]:
    """Tables of the codes of some classes, and the SQL that joins them to the numbered records."""
    engine, keys = questions.engine, [questions.sql_name(c) for c in classes.columns]
    codes = {f"q{i}": ("int", c[places].tolist()) for i, c in enumerate(classes.codes)}
    wanted = questions.load_table({"place": ("int", range(len(places))), **codes, **marks})
    # Only codes that occur in these classes: few where few are pointed at.
    tables, same = [wanted], []
    joins = [f"(SELECT ROW_NUMBER() OVER () AS record, {', '.join(keys)} FROM input) AS r"]
    for i, key in enumerate(keys):
        present = np.unique(classes.codes[i][places]).tolist()
        texts = [classes.values[i][code] for code in present]
        tables.append(questions.load_table({"v": ("text", texts), "code": ("int", present)}))
        text = engine.as_text(f"r.{key}")
        joins.append(f"JOIN {tables[-1]} AS d{i} ON {text} IS NOT DISTINCT FROM d{i}.v")
        same.append(f"d{i}.code = k.q{i}")
    joins.append(f"JOIN {wanted} AS k ON {' AND '.join(same)}")
    return tables, " ".join(joins)
