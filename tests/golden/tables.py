"""Reading and writing the reference tables: columns of text, plain or gzipped CSV."""

import csv
import gzip
from collections.abc import Sequence
from pathlib import Path
from typing import Any

Columns = dict[str, list[Any]]


def read_columns(path: Path, delimiter: str) -> Columns:
    """A CSV file, gzipped or not, as {column name: list of text}."""
    opened = gzip.open(path, "rt", newline="") if path.suffix == ".gz" else path.open(newline="")
    with opened as file:
        header, *records = csv.reader(file, delimiter=delimiter)
    return {name: [record[i] for record in records] for i, name in enumerate(header)}


def write_columns(path: Path, columns: Columns) -> Path:
    """Write the columns as a comma-separated file with a header line."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


def without_suppressed(columns: Columns, quasi: Sequence[str]) -> Columns:
    """The records that ARX kept: not those with `*` in every quasi-identifier."""
    rows = len(columns[quasi[0]])
    kept = [i for i in range(rows) if any(columns[name][i] != "*" for name in quasi)]
    return {name: [values[i] for i in kept] for name, values in columns.items()}


def whole_numbers(values: Sequence[str]) -> list[int]:
    """Whole numbers that were written as `76.0`."""
    numbers = [float(value) for value in values]
    assert all(number.is_integer() for number in numbers)
    return [int(number) for number in numbers]
