"""A table that was given by its path: some of its columns as texts, and a plain release of it."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sievert.counts.microdata import in_order
from sievert.errors import InputError, require
from sievert.session import open_source

ADULT = "Adult"
GIVE_ADULT = "Give Adult with --data adult=FILE to have it computed."
HIDDEN = "*"

Columns = dict[str, list[str]]


def column_names(path: str) -> list[str]:
    """The names of the columns of a table, in its order."""
    with open_source(path) as (_, questions):
        return list(questions.columns)


def read_columns(path: str, names: Sequence[str], what: str, *, ordered: bool = False) -> Columns:
    """Some columns as texts without blanks around them; in the file's order where that matters."""
    with open_source(path) as (table, questions):
        lacking = [name for name in names if name not in questions.columns]
        require(
            not lacking,
            f"{table.name} is not {what}: it has no column {', '.join(map(repr, lacking))}",
            hint=f"a file with a header and the columns {', '.join(names)}",
            error=InputError,
        )
        cube = in_order(questions, names, table.name) if ordered else questions.cube(names)
        times = np.asarray(cube.counts)
        return {
            name: [(texts[code] or "").strip() for code in np.repeat(codes, times).tolist()]
            for name, codes, texts in zip(cube.columns, cube.codes, cube.values, strict=True)
            if name in names
        }


def require_records(path: str, records: int, of: str, needed: int, what: str) -> None:
    """An error unless a table has enough records of the kind that is needed."""
    require(
        records >= needed,
        f"{Path(path).name}: {records:,} {of}, fewer than {needed:,}",
        hint=f"a larger file of {what}",
        error=InputError,
    )


def suppress_rare(
    table: Columns, quasi: Sequence[str], least: int, *, secret: str = "", diverse: int = 1
) -> Columns:
    """The table without the key of everybody in a class that is too small or not diverse enough.

    >>> suppress_rare({"age": ["30", "30", "41"]}, ["age"], 2)
    {'age': ['30', '30', '*']}
    """
    keys = list(zip(*(table[name] for name in quasi), strict=True))
    pairs = set(zip(keys, table[secret] if secret else keys, strict=True))
    secrets = Counter(key for key, _ in pairs)
    kept = {key for key, n in Counter(keys).items() if n >= least and secrets[key] >= diverse}
    rows = [key if key in kept else (HIDDEN,) * len(quasi) for key in keys]
    return {**table, **{name: [row[i] for row in rows] for i, name in enumerate(quasi)}}
