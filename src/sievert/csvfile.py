"""A delimited text file, looked at by ourselves: its header, its delimiter, its records.

The engine is told the names, the delimiter and that everything is text; nothing is sniffed. The
number of records is counted here from the bytes, independently of the engine, so that a record lost
on the way is noticed.
"""

from __future__ import annotations

import codecs
import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from sievert.errors import InputError, UsageError

DELIMITERS = (",", ";", "\t", "|")
SHOWN = {"\t": "tab"}
CHUNK = 1 << 24
FIELD_LIMIT = 1 << 20


def codec(encoding: str) -> str:
    """The canonical name of a text encoding."""
    try:
        return codecs.lookup(encoding).name
    except LookupError:
        raise UsageError(
            f"encoding {encoding!r} is not known", hint="utf-8, latin-1 or cp1252"
        ) from None


def transcode(path: Path, encoding: str, target: Path) -> None:
    """Write a private UTF-8 copy of a file in another encoding."""
    try:
        with (
            path.open(encoding=encoding, newline="") as source,
            target.open("w", encoding="utf-8", newline="") as out,
        ):
            while block := source.read(CHUNK):
                out.write(block)
    except UnicodeError as error:
        raise InputError(
            f"{path.name}: not {encoding} text ({type(error).__name__})", hint="another --encoding"
        ) from None


def header(path: Path, delimiter: str | None) -> tuple[list[str], str]:
    """The names of the columns and the delimiter, found from the header where not given."""
    if delimiter is not None:
        if len(delimiter) != 1:
            raise UsageError("the delimiter is not one character", hint="--delimiter ';' or tab")
        return _first(path, delimiter), delimiter
    found = {d: names for d in DELIMITERS if len(names := _first(path, d)) > 1}
    if not found:
        return _first(path, ","), ","
    if len(found) > 1:
        found = {d: names for d, names in found.items() if _rectangular(path, d, len(names))}
    if len(found) != 1:
        raise InputError(
            f"{path.name}: the delimiter is not clear from the header",
            hint="--delimiter with the character that separates the columns",
        )
    (delimiter, names), *_ = found.items()
    return names, delimiter


def _first(path: Path, delimiter: str) -> list[str]:
    names = next(_records(path, delimiter), None)
    if names is None:
        raise InputError(f"{path.name}: empty file ({path.stat().st_size} bytes)")
    return names


def _rectangular(path: Path, delimiter: str, fields: int) -> bool:
    return all(len(row) in (fields, 0) for row in _records(path, delimiter))


def _records(path: Path, delimiter: str) -> Iterator[list[str]]:
    """Records as Python's csv module reads them: slow, and independent of any engine."""
    csv.field_size_limit(FIELD_LIMIT)
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            yield from csv.reader(lines, delimiter=delimiter)
    except UnicodeDecodeError:
        raise InputError(
            f"{path.name}: not UTF-8 at byte {_first_bad_byte(path)}",
            hint="--encoding latin-1 or cp1252",
        ) from None
    except csv.Error:
        raise InputError(f"{path.name}: not a table of delimited text") from None


def _first_bad_byte(path: Path) -> int:
    """Where the file stops being UTF-8, counted in bytes from its start."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    read = 0
    with path.open("rb") as file:
        while block := file.read(CHUNK):
            pending = len(decoder.getstate()[0])
            try:
                decoder.decode(block)
            except UnicodeDecodeError as error:
                return read - pending + error.start
            read += len(block)
    return read


def count_records(path: Path, columns: int) -> int:
    """Records in the file after the header, counted from newlines outside quotes.

    Blank lines hold no record, except in a file of one column, where they are an empty field.
    """
    data = np.memmap(path, dtype=np.uint8, mode="r")
    newline = _line_end(data)
    lines = blank = 0
    inside = 0
    last = -1  # where the previous line ended
    for start in range(0, len(data), CHUNK):
        block = np.asarray(data[start : start + CHUNK])
        if not block.all():
            at = int(np.flatnonzero(block == 0)[0])
            line = lines + int((block[:at] == newline).sum()) + 1
            raise InputError(
                f"{path.name}, line {line}: a NUL byte; this is not plain text",
                hint="--encoding utf-16 if it was saved as such",
            )
        ends = np.flatnonzero(block == newline)
        quotes = np.flatnonzero(block == 34)
        if len(quotes) or inside:
            ends = ends[(np.searchsorted(quotes, ends) + inside) % 2 == 0]
            inside = (inside + len(quotes)) % 2
        if len(ends):
            gaps = np.diff(ends + start, prepend=last) - 1
            empty = gaps == 0
            after_cr = np.flatnonzero(gaps == 1)
            if newline == 10 and len(after_cr):
                empty[after_cr] = data[ends[after_cr] + start - 1] == 13
            blank += int(empty.sum())
            lines += len(ends)
            last = int(ends[-1]) + start
    if last + 1 < len(data):  # the last line has no newline
        lines += 1
    return lines - 1 - (blank if columns > 1 else 0)


def _line_end(data: np.ndarray) -> int:
    """The byte that ends a line: the first line feed, or a carriage return that stands alone."""
    for start in range(0, len(data), CHUNK):
        found = np.flatnonzero(
            (data[start : start + CHUNK] == 10) | (data[start : start + CHUNK] == 13)
        )
        if len(found):
            at = start + int(found[0])
            alone = data[at] == 13 and (at + 1 == len(data) or data[at + 1] != 10)
            return 13 if alone else 10
    return 10


def count_slowly(path: Path, delimiter: str, columns: int) -> int:
    """The same count by Python's csv module, for files with stray quotes."""
    return sum(1 for row in _records(path, delimiter) if row or columns == 1) - 1
