"""One released column: its values, the labels it may be released as, their distances."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.attacks.attack import to_hierarchy as hierarchy
from sievert.errors import InputError, UsageError, unknown
from sievert.formatting import plural
from sievert.hierarchies import MOST_BYTES
from sievert.losses.loss import as_numbers
from sievert.notes import Name, Note
from sievert.tradeoff import ladder

NAMES = ("hamming", "squared", "absolute")
HAMMING, SQUARED, ABSOLUTE = NAMES
HIERARCHY, MATRIX = "hierarchy", "matrix"
WORDS = {
    HAMMING: "share of values changed",
    SQUARED: "squared difference as a share of the squared range",
    ABSOLUTE: "difference as a share of the range",
    HIERARCHY: "level of the lowest common label as a share of the height",
    MATRIX: "distances from a file",
}
Text = str | None


@dataclass(frozen=True, eq=False)
class ReleasedColumn:
    """Values that occur, in their order, with the code of each record; distances to the labels."""

    name: str
    values: tuple[Text, ...]
    codes: Ints
    labels: tuple[Text, ...]
    distances: Floats
    kind: str
    numeric: bool

    @property
    def is_ordered(self) -> bool:
        """Whether neighbours are near: intervals of the values make sense."""
        return self.numeric and None not in self.values


def released_column(
    name: str, texts: Sequence[Text], codes: Any, kind: Any, tree: Any
) -> ReleasedColumn:
    """A column from its codes: numbers in their order, other texts in that of the alphabet."""
    present, places = np.unique(np.asarray(codes, dtype=np.int64), return_inverse=True)
    occurring = [texts[p] for p in present.tolist()]
    numbers = as_numbers(occurring)
    if numbers is not None:
        order = np.argsort(numbers, kind="stable")  # missing ones last
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        places, numbers = rank[places], numbers[order]
        occurring = [occurring[i] for i in order.tolist()]
    values = tuple(occurring)
    labels, distances, how = values, 1.0 - np.eye(len(values)), HAMMING
    if tree is not None:
        distances, how = _by_hierarchy(name, values, tree), HIERARCHY
    elif kind not in NAMES:
        (labels, distances), how = _by_file(name, values, kind), MATRIX
    elif kind != HAMMING and numbers is not None:
        distances, how = _by_numbers(numbers, squared=kind == SQUARED), kind
    return ReleasedColumn(name, values, places.ravel(), labels, distances, how, numbers is not None)


def _by_numbers(numbers: Floats, *, squared: bool) -> Floats:
    """Differences as shares of the range; missing is as far away as possible."""
    scale = float(np.nanmax(numbers)) - float(np.nanmin(numbers))
    if not scale > 0:
        return 1.0 - np.eye(len(numbers))
    apart = np.abs(numbers[:, None] - numbers) / scale
    apart = np.where(np.isnan(apart), 1.0, apart)
    np.fill_diagonal(apart, 0.0)
    return np.asarray(apart**2 if squared else apart)


def _by_hierarchy(name: str, values: Sequence[Text], given: Any) -> Floats:
    known = [v for v in values if v is not None]
    tree = hierarchy(given, known)
    matrix = 1.0 - np.eye(len(values))
    if tree is not None and known:
        tree.require(known, name)
        at = np.array([i for i, v in enumerate(values) if v is not None])
        matrix[np.ix_(at, at)] = ladder(tree, known)
    return matrix


def _by_file(name: str, values: Sequence[Text], path: Any) -> tuple[tuple[Text, ...], Floats]:
    """A CSV file: released values in the first line, each value before its distances."""
    table = read_matrix(path)
    labels = tuple(v or None for v in table[0][1:])
    rows = {row[0] or None: row[1:] for row in table[1:]}
    lacking = sum(1 for v in values if v not in rows)
    called = Path(path).name
    if lacking:
        raise InputError(
            f"{called}: {plural(lacking, 'value')} of column {name!r} have no line in it",
            hint="one line a value that occurs",
        )
    if not labels or len(set(labels)) < len(labels):
        raise InputError(f"{called}: the first line names each released value once")
    try:
        matrix = np.array([[float(x) for x in rows[v]] for v in values])
    except ValueError:
        raise InputError(f"{called}: not a number, or lines of different lengths") from None
    if matrix.shape != (len(values), len(labels)):
        raise InputError(f"{called}: a line has another number of distances than the first")
    if not np.isfinite(matrix).all() or (matrix < 0).any():
        raise InputError(f"{called}: distances are numbers of at least 0")
    return labels, matrix


def read_matrix(path: str | os.PathLike[str]) -> list[list[str]]:
    """The lines of a small CSV file."""
    path = Path(path)
    try:
        if path.stat().st_size > MOST_BYTES:
            raise InputError(f"{path.name}: a matrix of more than {MOST_BYTES} bytes")
        with path.open(encoding="utf-8-sig", newline="") as file:
            sign = max(";,\t", key=file.readline().count)
            file.seek(0)
            rows = [row for row in csv.reader(file, delimiter=sign) if row]
    except OSError as error:
        raise InputError(
            f"{path.name}: {error.strerror}", hint=f"{', '.join(NAMES)}, or a CSV file"
        ) from None
    except (UnicodeDecodeError, csv.Error):
        raise InputError(f"{path.name}: not a table of delimited UTF-8 text") from None
    if len(rows) < 2:
        raise InputError(f"{path.name}: a first line of released values, then one line a value")
    return rows


def check_kind(distortion: Any, columns: int, hierarchies: Mapping[str, Any]) -> None:
    """Whether a distortion is a name, or a file for the one column there is."""
    if not isinstance(distortion, str | os.PathLike):
        raise UsageError("a distortion is a name or a CSV file", hint=", ".join(NAMES))
    if distortion in NAMES:
        return
    if isinstance(distortion, str) and Path(distortion).suffix.lower() not in (".csv", ".tsv"):
        raise unknown("--distortion:", distortion, NAMES)
    if columns > 1 or hierarchies:
        raise UsageError(
            "distances from a file are of one column, without a hierarchy",
            hint="one -q, or --distortion hamming",
        )


def remarks(columns: Sequence[ReleasedColumn], distortion: Any) -> list[Note]:
    """How distances are scaled, where that differs from the distortion the user named."""
    notes = [
        Note("{} does not hold numbers: its distortion is whether a value is changed", Name(c.name))
        for c in columns
        if distortion in (SQUARED, ABSOLUTE) and c.kind == HAMMING
    ]
    if any(c.kind in (SQUARED, ABSOLUTE) for c in columns):
        notes.append(Note("distances of numbers are shares of their column's range"))
    if any(c.kind in (SQUARED, ABSOLUTE, HIERARCHY) and None in c.values for c in columns):
        notes.append(Note("a missing value is as far from every other as values can be"))
    return notes


def describe_distortion(columns: Sequence[ReleasedColumn]) -> str:
    """What the distortion of some columns is."""
    text = ", or ".join(WORDS[kind] for kind in dict.fromkeys(c.kind for c in columns))
    number = len(columns)
    return f"mean over {plural(number, 'column')} of the {text}" if number > 1 else text
