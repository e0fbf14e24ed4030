"""A release as a file: its columns in the order of the input, its records in their own order."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from sievert.arrays import Bools, Ints, Text
from sievert.counts.questions import Questions
from sievert.counts.release_order import encode_cell, row_hashes, row_places
from sievert.errors import ExhaustedError, UsageError, require
from sievert.files import KINDS, csv_cell
from sievert.losses.loss import combination_codes

BLOCK = 1 << 16  # records that are written at once
TEXT = "VARCHAR"


@dataclass(frozen=True, eq=False)
class FileColumn:
    """A column of the release: its texts, the code of each record's text, the engine's type."""

    name: str
    texts: Sequence[Text]
    codes: Ints
    kind: str = TEXT

    def only(self, records: Bools | Ints) -> "FileColumn":
        """The same column, with only some records."""
        return replace(self, codes=self.codes[records])


def order_by_hash(columns: Sequence[FileColumn], key: str) -> Ints:
    """Order the records as a release has them, by their hashes with `key`.

    The order depends only on the content of the records, and on the number of equal records.

    >>> ages = FileColumn("age", ["34", "35"], np.array([0, 1, 0]))
    >>> [["34", "35"][code] for code in ages.codes[order_by_hash([ages], "0")].tolist()]
    ['35', '34', '34']
    """
    codes = [_codes_by_text(column) for column in columns]
    rows = combination_codes(codes)
    distinct, first = np.unique(rows, return_index=True)
    cells = []
    for column, own in zip(columns, codes, strict=True):
        encoded = np.array([*map(encode_cell, column.texts), b""], dtype=object)[:-1]
        cells.append(encoded[own[first]].tolist())
    hashes = np.array(row_hashes(key, zip(*cells, strict=True)), dtype=np.uint64)
    together = np.argsort(rows, kind="stable")
    counts = np.bincount(rows, minlength=len(distinct))
    begins = np.cumsum(counts) - counts
    copies = np.arange(len(rows)) - np.repeat(begins, counts) + 1
    places = row_places(key, np.repeat(hashes, counts).tolist(), copies.tolist())
    return np.asarray(together[np.argsort(np.array(places, dtype=np.uint64), kind="stable")])


def _codes_by_text(column: FileColumn) -> Ints:
    """Renumber the codes of a column so that equal texts have one code."""
    first: dict[Text, int] = {}
    own = [first.setdefault(text, code) for code, text in enumerate(column.texts)]
    return np.array(own, dtype=np.int64)[column.codes]


def release_kind(path: Any) -> str:
    """The format of a release, by the ending of its file."""
    suffix = Path(path).suffix.lower()
    require(suffix in KINDS, "a release ends in .csv or .parquet", hint="-o release.csv")
    if KINDS[suffix] == "parquet":
        _parquet()
    return KINDS[suffix]


def write_release(
    target: Path,
    kind: str,
    columns: Sequence[FileColumn],
    questions: Questions,
    *,
    delimiter: str = ",",
    header: bool = True,
) -> None:
    """Write a release, its records in the order that the columns have."""
    if kind == "parquet":
        _as_parquet(target, columns, questions)
        return
    try:
        with target.open("w", encoding="utf-8", newline="") as file:
            if header:
                file.write(delimiter.join(csv_cell(c.name, delimiter) for c in columns) + "\n")
            cells = [np.array([csv_cell(t, delimiter) for t in c.texts], object) for c in columns]
            for at in range(0, len(columns[0].codes), BLOCK):
                block = (x[c.codes[at : at + BLOCK]] for x, c in zip(cells, columns, strict=True))
                file.writelines(delimiter.join(row) + "\n" for row in zip(*block, strict=True))
    except OSError as error:
        raise ExhaustedError(f"the release cannot be written: {error.strerror}") from None


def _parquet() -> Any:
    """Import the module that writes Parquet files, or say how to install it."""
    try:
        return import_module("pyarrow.parquet")
    except ImportError:
        raise UsageError(
            "a Parquet release needs pyarrow", hint="pip install 'sievert[formats]', or -o x.csv"
        ) from None


def _as_parquet(target: Path, columns: Sequence[FileColumn], questions: Questions) -> None:
    """Write a Parquet file, in which each column has the engine's type.

    A number keeps the order of the records in the engine; the file is written without it.
    """
    parquet = _parquet()
    names = {c.name for c in columns}
    number = "record"
    while number in names:
        number += "_"
    typed = {c.name: (c.kind, np.array(c.texts, object)[c.codes].tolist()) for c in columns}
    order = {number: ("BIGINT", range(1, len(columns[0].codes) + 1))}
    questions.write_columns(order | typed, target, "parquet")
    table = parquet.read_table(target).drop_columns([number]).replace_schema_metadata(None)
    try:
        parquet.write_table(table, target)
    except OSError as error:
        raise ExhaustedError(f"the release cannot be written: {error.strerror}") from None
