"""The samples of classes of one table, for several sets of columns in one pass over its records.

The records are counted once, in all columns together, and the combinations that occur are hashed.
Databases answer one query, and only the smallest hashes leave them. Compiled code hashes packed
keys. If most records have a combination of their own, DuckDB hashes a stream of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sievert.arrays import Ints
from sievert.counts.cube import Cube
from sievert.counts.questions import Questions
from sievert.counts.sketch import hashes
from sievert.counts.sketch.sample import LEAST_CLASS, ClassSample, Part, make_sample
from sievert.counts.sketch.stream import is_worth_streaming, stream_hashes


@dataclass(frozen=True)
class SampleRequest:
    """A request for samples: sets of columns, secrets, the key of the hash, room for each."""

    key_sets: tuple[tuple[str, ...], ...]  # each in the order of the names
    secrets: tuple[str, ...]
    key: str
    room: int  # bytes

    @property
    def most(self) -> int:
        """The number of classes for which there is room."""
        return self.room // LEAST_CLASS

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns, the secrets last."""
        keys = dict.fromkeys(column for key_set in self.key_sets for column in key_set)
        return (*sorted(keys), *self.secrets)


def sample_classes(questions: Questions, request: SampleRequest) -> list[ClassSample]:
    """Make the sample of every set of columns from all records."""
    hashes.check_columns(questions.engine, request.columns)
    parts: list[Part] | None = None
    if is_worth_streaming(questions, request.columns, len(request.key_sets)):
        parts = stream_hashes(
            questions, request.key_sets, request.secrets, request.key, request.most
        )
    else:
        cube = questions.memory.compiled_cube(request.columns)
        parts = None if cube is None else _hash_cube(cube, questions, request)
    if parts is None:
        parts = _ask_engine(questions, request)
    return [
        make_sample(key_set, questions.records, classes, cells, request.most).cut(request.room)
        for key_set, (classes, cells) in zip(request.key_sets, parts, strict=True)
    ]


# -- in SQL ---------------------------------------------------------------------------------------


def _ask_engine(questions: Questions, request: SampleRequest) -> list[Part]:
    """Ask one query: its rows are the classes (secret -1) and cells of every set of columns."""
    rows = questions.engine.query_records(sample_query(questions, request))
    groups: dict[tuple[int, int], list[tuple[Any, ...]]] = {
        (which, secret): []
        for which in range(len(request.key_sets))
        for secret in range(-1, len(request.secrets))
    }
    for which, secret, *row in rows:
        groups[which, secret].append(tuple(row))

    def numbers(which: int, secret: int) -> tuple[Ints, Ints, Ints]:
        own = groups[which, secret]
        owner = np.array([int(row[0] or "0", 16) for row in own], np.uint64)
        values = np.array([int(row[1] or "0", 16) for row in own], np.uint64)
        return owner, values, np.array([row[2] for row in own], np.int64)

    parts: list[Part] = []
    for which in range(len(request.key_sets)):
        owner, _, counts = numbers(which, -1)
        cells = [numbers(which, secret) for secret in range(len(request.secrets))]
        parts.append(((owner, counts), cells))
    return parts


def sample_query(questions: Questions, request: SampleRequest) -> str:
    """The query for all samples; it reads the records once."""
    names = questions.sql_name
    engine = questions.engine
    dialect = engine.hash_dialect()
    floats = {c: (names(c), hashes.has_floats(engine, c)) for c in request.columns}
    all_columns = questions.sql_names(request.columns)
    cells = f"SELECT {all_columns}, COUNT(*) AS n FROM {questions.source} GROUP BY {all_columns}"
    tables = [f"cells AS ({cells})"]
    parts = list[str]()
    several = len(request.key_sets) > 1 or request.secrets
    if several and engine.keep_there("cells", cells):
        del tables[0]
    for which, key_set in enumerate(request.key_sets):
        own = questions.sql_names(key_set)
        digest = dialect.hash(request.key, hashes.CLASS, [floats[c] for c in key_set])
        tables.append(
            f"k{which} AS (SELECT {digest} AS h, n FROM {_roll_up(own, all_columns)} AS g "
            f"ORDER BY h LIMIT {request.most + 1})"
        )
        parts.append(f"SELECT {which} AS which, -1 AS secret, h, '' AS v, n FROM k{which}")
        for place, secret in enumerate(request.secrets):
            s = names(secret)
            value = dialect.hash(request.key, hashes.VALUE, [floats[secret]])
            rolled_up = _roll_up(f"{own}, {s}", all_columns)
            finer = f"SELECT {digest} AS h, {s}, n FROM {rolled_up} AS g"
            parts.append(
                f"SELECT {which}, {place}, h, v, CAST(SUM(n) AS BIGINT) FROM (SELECT h, {value} "
                f"AS v, n FROM ({finer}) AS f WHERE h <= (SELECT MAX(h) FROM k{which})) AS c "
                "GROUP BY h, v"
            )
    return f"SELECT * FROM (WITH {', '.join(tables)} {' UNION ALL '.join(parts)}) AS samples"


def _roll_up(own: str, all_columns: str) -> str:
    """The cells of some columns, from those of all columns."""
    if own == all_columns:
        return "cells"
    return f"(SELECT {own}, CAST(SUM(n) AS BIGINT) AS n FROM cells GROUP BY {own})"


# -- packed keys ----------------------------------------------------------------------------------


def _hash_cube(cube: Cube, questions: Questions, request: SampleRequest) -> list[Part]:
    """Hash combinations that are in memory."""
    encoded = {
        column: [
            hashes.encode_value(
                hashes.plain_text(text, of_float=hashes.has_floats(questions.engine, column))
            )
            for text in texts
        ]
        for column, texts in zip(cube.columns, cube.values, strict=True)
    }
    return [_hash_key_set(cube, encoded, key_set, request) for key_set in request.key_sets]


def _hash_key_set(
    cube: Cube, encoded: dict[str, list[bytes]], key_set: Sequence[str], request: SampleRequest
) -> Part:
    from sievert.counts.packed.hashing import hash_combinations

    start = (request.key + hashes.CLASS).encode()
    classes = cube.roll_up(key_set) if key_set != cube.columns else cube
    own = hash_combinations(start, [encoded[c] for c in key_set], classes.codes)
    smallest = np.arange(len(own))
    if len(own) > request.most + 1:
        smallest = np.argpartition(own, request.most)[: request.most + 1]
    cells = []
    for secret in request.secrets:
        finer = cube.roll_up((*key_set, secret))  # its classes are in the same order
        sampled = np.zeros(len(own), dtype=bool)
        sampled[smallest] = True
        kept = sampled[finer.owner]
        codes = finer.codes[-1][kept].astype(np.int64)
        values = [hashes.hash_bytes(request.key, hashes.VALUE, value) for value in encoded[secret]]
        cells.append(
            (own[finer.owner[kept]], np.array(values, np.uint64)[codes], finer.counts[kept])
        )
    return (own[smallest], classes.counts[smallest]), cells
