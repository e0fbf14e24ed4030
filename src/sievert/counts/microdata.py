"""Microdata: records one by one. Their row numbers, their weights, the same person in two tables.

A class is identified by the codes of its values; a small table per column maps texts to codes. Row
numbers are those of the input, from 1. A table of single records is a cube with one
cell per record. Texts stay in this process.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np

from sievert.arrays import Ints
from sievert.counts.cells import LoadedColumns, quote_identifier
from sievert.counts.cube import Cube
from sievert.counts.questions import TOGETHER, Questions
from sievert.errors import InputError, require
from sievert.formatting import plural
from sievert.hierarchies import NUMBER

NO_ORDER = "records have no order on this engine"
MOST_DIGITS = 40

# -- row numbers -------------------------------------------------------------------------------


def row_numbers(
    questions: Questions, classes: Cube, places: Sequence[int], most: int
) -> list[list[int]]:
    """The row numbers of the records of some classes, at most the first `most` of each class."""
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
    tables, joined = _join_classes(questions, classes, np.arange(len(classes.counts)), marks)
    names = "".join(f", k.{quote_identifier(m)} AS {quote_identifier(m)}" for m in marks)
    sql = f"SELECT r.record AS record{names} FROM {joined} ORDER BY r.record"
    questions.engine.write(sql, path, kind)
    questions.drop_tables(*tables)


def _join_classes(
    questions: Questions, classes: Cube, places: Ints, marks: LoadedColumns
) -> tuple[list[str], str]:
    """Tables of some classes, and the SQL that joins them to the numbered records."""
    engine, keys = questions.engine, [questions.sql_name(c) for c in classes.columns]
    joins = [f"(SELECT ROW_NUMBER() OVER () AS record, {', '.join(keys)} FROM input) AS r"]
    codes = [c[places].tolist() for c in classes.codes]
    number: LoadedColumns = {"place": ("int", range(len(places)))}
    if len(keys) > TOGETHER:  # one join, of texts
        texts = {
            f"q{i}": ("text", [values[code] for code in own])
            for i, (own, values) in enumerate(zip(codes, classes.values, strict=True))
        }
        wanted = questions.load_table({**number, **texts, **marks})
        same = [
            f"{engine.as_text(f'r.{key}')} IS NOT DISTINCT FROM k.q{i}"
            for i, key in enumerate(keys)
        ]
        return [wanted], " ".join([*joins, f"JOIN {wanted} AS k ON {' AND '.join(same)}"])
    wanted = questions.load_table(
        {**number, **{f"q{i}": ("int", own) for i, own in enumerate(codes)}, **marks}
    )
    # Only the codes that occur in these classes: for a few classes there are few.
    tables, same = [wanted], []
    for i, key in enumerate(keys):
        present = sorted(set(codes[i]))
        texts_of = [classes.values[i][code] for code in present]
        tables.append(questions.load_table({"v": ("text", texts_of), "code": ("int", present)}))
        text = engine.as_text(f"r.{key}")
        joins.append(f"JOIN {tables[-1]} AS d{i} ON {text} IS NOT DISTINCT FROM d{i}.v")
        same.append(f"d{i}.code = k.q{i}")
    joins.append(f"JOIN {wanted} AS k ON {' AND '.join(same)}")
    return tables, " ".join(joins)


# -- two tables ---------------------------------------------------------------------------------


def by_key(questions: Questions, columns: Sequence[str], key: str, name: str) -> Cube:
    """One cell per record that has a key, the key last; no two records may share a key."""
    cube = questions.cube((*columns, key))
    totals = cube.totals(-1)[1:]
    require(
        not (shared := int(totals[totals > 1].sum())),
        f"{name}: the key {key!r} is not unique: {plural(shared, 'record')} share theirs",
        hint="a column with one value a person",
        error=InputError,
    )
    return cube.select_cells(np.flatnonzero(cube.codes[-1] > 0))


def in_order(questions: Questions, columns: Sequence[str], name: str) -> Cube:
    """One cell per record, in the order of the input."""
    engine = questions.engine
    require(
        engine.name == "duckdb",
        f"{name}: {engine.name} knows no order of records",
        hint="--key COLUMN",
    )
    return questions.records_in_order(columns)


def match_keys(first: Cube, second: Cube) -> tuple[Ints, Ints]:
    """The cells of two cubes whose last column, a key, has the same text."""
    texts, codes = second.values[-1], second.codes[-1].tolist()
    cells = {texts[code]: cell for cell, code in enumerate(codes) if code}
    matches = np.array([cells.get(text, -1) for text in first.values[-1]])[first.codes[-1]]
    mine = np.flatnonzero(matches >= 0)
    return mine, matches[mine]


def pair_columns(
    first: Cube, mine: Ints, second: Cube, theirs: Ints, columns: Sequence[str]
) -> Cube:
    """Columns of both tables side by side, and how many pairs of records have them."""
    ours, others = (
        cube.select_cells(places).select_columns(columns)
        for cube, places in ((first, mine), (second, theirs))
    )
    names = (*columns, *(f"other {c}" for c in columns))
    both = Cube(names, (*ours.codes, *others.codes), ours.counts, (*ours.values, *others.values))
    return both.roll_up(names)


# -- weights ------------------------------------------------------------------------------------
# The engine counts the combinations of class and weight, as it counts anything; the weights' texts
# become integers of a common scale here. So no engine adds decimals, and all give the same sums.


@dataclass(frozen=True)
class ClassWeights:
    """Classes in ascending order of their codes: records, and weights in units of 10^-scale."""

    records: Ints
    sums: Ints
    scale: int

    def kinds(self) -> tuple[list[int], list[Fraction], Ints, Ints]:
        """Distinct pairs of records and weight, the classes of each, the pair of each class."""
        pairs: dict[tuple[int, int], int] = {}
        both = zip(self.records.tolist(), self.sums.tolist(), strict=True)
        which = np.array([pairs.setdefault(pair, len(pairs)) for pair in both], dtype=np.int64)
        return (
            [n for n, _ in pairs],
            [Fraction(int(w), 10**self.scale) for _, w in pairs],
            np.bincount(which),
            which,
        )


def class_weights(questions: Questions, quasi: Sequence[str], column: str) -> ClassWeights:
    """The records of every class and the sum of their weights."""
    require(
        column not in quasi, f"column {column!r} is a quasi-identifier and cannot be the weight"
    )
    cube = questions.cube((*quasi, column))
    units, scale = _units(cube, column)
    starts, sizes = cube.classes
    cell_weights = units[cube.codes[-1].astype(np.int64)]
    if float(abs(units).max()) * cube.records < 2**62:
        sums = np.add.reduceat(cell_weights.astype(np.int64) * cube.counts, starts)
    else:
        sums = np.add.reduceat(cell_weights * cube.counts.astype(object), starts)
    return ClassWeights(sizes, sums, scale)


def _units(cube: Cube, column: str) -> tuple[Ints, int]:
    """The weight of every code as an integer, and how many digits it stands for after the point."""
    texts = cube.values[-1]
    wrong = [t is None or not NUMBER.fullmatch(t) for t in texts]
    require(
        not (bad := int(cube.totals(-1)[np.array(wrong)].sum())),
        f"{plural(bad, 'record')} without a weight that is a finite number in {column!r}",
        hint="a weight column of numbers without missing values",
        error=InputError,
    )
    numbers = [Decimal(0 if t is None else t) for t in texts]
    scale = max(0, *(-int(d.as_tuple().exponent) for d in numbers))
    require(
        scale <= MOST_DIGITS,
        f"a weight of {column!r} has {scale} digits after the point",
        error=InputError,
    )
    return np.array([int(Fraction(d) * 10**scale) for d in numbers], dtype=object), scale
