"""Two tables record by record: the same person found in both, by a key or by the records' order.

A table is a cube of codes with one cell per record. Texts stay in this process.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sievert.arrays import Ints
from sievert.counts.cube import Cube, rank_texts
from sievert.errors import InputError, UsageError
from sievert.formatting import plural

if TYPE_CHECKING:
    from sievert.counts.cells import Adapter
    from sievert.counts.questions import Questions


TOGETHER = 12  # columns that are looked up in one question: more take ever longer to plan


def by_key(questions: Questions, columns: Sequence[str], key: str, name: str) -> Cube:
    """One cell per record that has a key, the key last; no two records may share a key."""
    cube = questions.cube((*columns, key))
    totals = cube.totals(-1)[1:]
    shared = int(totals[totals > 1].sum())
    if shared:
        raise InputError(
            f"{name}: the key {key!r} is not unique: {plural(shared, 'record')} share theirs",
            hint="a column with one value a person",
        )
    return select_cells(cube, np.flatnonzero(cube.codes[-1] > 0))


def in_order(questions: Questions, columns: Sequence[str], name: str) -> Cube:
    """One cell per record, in the order of the input."""
    engine = questions.engine
    if engine.name != "duckdb":
        raise UsageError(f"{name}: {engine.name} knows no order of records", hint="--key COLUMN")
    names = [f"c{questions.columns.index(c)}" for c in columns]
    both = [
        rank_texts(*pair)
        for at in range(0, len(names), TOGETHER)
        for pair in _rank_records(engine, names[at : at + TOGETHER])
    ]
    codes, values = zip(*both, strict=True)
    return Cube(tuple(columns), codes, np.ones(len(codes[0]), dtype=np.int64), values)


def _rank_records(engine: Adapter, names: Sequence[str]) -> list[tuple[Any, list[str | None]]]:
    """Of some columns the rank of each record's value, in the order of the input; the texts."""
    texts = []
    for i, c in enumerate(names):
        engine.keep(
            f"o{i}",
            f"SELECT {c} AS v, CAST(ROW_NUMBER() OVER (ORDER BY {c}) - 1 AS INTEGER) AS r "
            f"FROM (SELECT {c} FROM input GROUP BY {c}) AS d",
        )
        rows = engine.rows(f"SELECT {engine.as_text('v')} FROM o{i} ORDER BY r")
        texts.append([v for (v,) in rows])
    joins = " ".join(f"JOIN o{i} ON a.{c} IS NOT DISTINCT FROM o{i}.v" for i, c in enumerate(names))
    select = ", ".join(f"o{i}.r AS r{i}" for i in range(len(names)))
    source = f"SELECT ROW_NUMBER() OVER () AS record, {', '.join(dict.fromkeys(names))} FROM input"
    ranks = engine.arrays(f"SELECT {select} FROM ({source}) AS a {joins} ORDER BY a.record")
    for i in range(len(names)):
        engine.forget(f"o{i}")
    return list(zip(ranks, texts, strict=True))


def match_keys(first: Cube, second: Cube) -> tuple[Ints, Ints]:
    """The cells of two cubes whose last column, a key, has the same text."""
    place: dict[str | None, int]
    place = {text: code for code, text in enumerate(second.values[-1]) if text is not None}
    code = np.array([place.get(text, -1) for text in first.values[-1]], dtype=np.int64)
    at = np.full(len(second.values[-1]), -1, dtype=np.int64)
    at[second.codes[-1]] = np.arange(len(second.counts))
    wanted = code[first.codes[-1]]
    mine = np.flatnonzero(wanted >= 0)
    theirs = at[wanted[mine]]
    there = theirs >= 0
    return mine[there], theirs[there]


def pair_columns(
    first: Cube, mine: Ints, second: Cube, theirs: Ints, columns: Sequence[str]
) -> Cube:
    """Columns of both tables side by side, and how many pairs of records have them."""
    ours, others = (
        select_columns(select_cells(cube, rows), columns)
        for cube, rows in ((first, mine), (second, theirs))
    )
    names = (*columns, *(f"other {c}" for c in columns))
    both = Cube(names, (*ours.codes, *others.codes), ours.counts, (*ours.values, *others.values))
    return both.roll_up(names)


def select_columns(cube: Cube, columns: Sequence[str]) -> Cube:
    """Only these columns, cell by cell."""
    places = [cube.columns.index(c) for c in columns]
    return Cube(
        tuple(columns),
        tuple(cube.codes[p] for p in places),
        cube.counts,
        tuple(cube.values[p] for p in places),
    )


def select_cells(cube: Cube, rows: Ints) -> Cube:
    """Only these cells, in this order."""
    return Cube(cube.columns, tuple(c[rows] for c in cube.codes), cube.counts[rows], cube.values)
