"""A delimited text file, looked at by ourselves: its header, its delimiter, its records.

The engine is told the names, the delimiter and that everything is text; nothing is sniffed. The
number of records is counted here from the bytes, independently of the engine, so that a record lost
on the way is noticed.
"""

from __future__ import annotations

import codecs
import csv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sievert.errors import ExhaustedError, InputError, UsageError

DELIMITERS = (",", ";", "\t", "|")
SHOWN = {"\t": "tab"}
CHUNK = 1 << 24
FIELD_LIMIT = 1 << 20
QUOTE = 34
BOM = codecs.BOM_UTF8
Bytes = NDArray[Any]


_called: list[str] = []


@contextmanager
def called(name: str) -> Iterator[None]:
    """Inside the block, messages name the user's file, not our private copy of it."""
    _called.append(name)
    try:
        yield
    finally:
        _called.pop()


def _name(path: Path) -> str:
    return _called[-1] if _called else path.name


def codec(encoding: str) -> str:
    """The canonical name of a text encoding."""
    try:
        found = codecs.lookup(encoding)
        if not found._is_text_encoding:
            raise LookupError
        return found.name
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
    except OSError as error:
        raise ExhaustedError(
            f"no room for a copy of {_name(path)} as UTF-8: {error.strerror}", hint="--temp DIR"
        ) from None
    except UnicodeError as error:
        raise InputError(
            f"{_name(path)}: not {encoding} text ({type(error).__name__})",
            hint="another --encoding",
        ) from None


def header(path: Path, delimiter: str | None) -> tuple[list[str], str]:
    """The names of the columns and the delimiter, found from the header where not given."""
    if delimiter is not None:
        if len(delimiter) != 1 or delimiter in '"\r\n' or ord(delimiter) > 127:
            raise UsageError(
                "the delimiter is not one character that can separate columns",
                hint="--delimiter ';' or tab",
            )
        return _first(path, delimiter), delimiter
    found = {d: names for d in DELIMITERS if len(names := _first(path, d)) > 1}
    if not found:
        return _first(path, ","), ","
    if len(found) > 1:
        found = {d: names for d, names in found.items() if _rectangular(path, d, len(names))}
    if len(found) != 1:
        raise InputError(
            f"{_name(path)}: the delimiter is not clear from the header",
            hint="--delimiter with the character that separates the columns",
        )
    (delimiter, names), *_ = found.items()
    return names, delimiter


def _first(path: Path, delimiter: str) -> list[str]:
    names = next(_records(path, delimiter), None)
    if names is None:
        raise InputError(f"{_name(path)}: empty file ({path.stat().st_size} bytes)")
    return names


def _rectangular(path: Path, delimiter: str, fields: int) -> bool:
    return all(len(row) in (fields, 0) for row in _records(path, delimiter))


def _records(path: Path, delimiter: str) -> Iterator[list[str]]:
    """Records as Python's csv module reads them: slow, and independent of any engine."""
    before = csv.field_size_limit(FIELD_LIMIT)
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            yield from csv.reader(lines, delimiter=delimiter)
    except UnicodeDecodeError:
        raise InputError(
            f"{_name(path)}: not UTF-8 at byte {_first_bad_byte(path)}",
            hint="--encoding latin-1 or cp1252",
        ) from None
    except csv.Error:
        raise InputError(f"{_name(path)}: not a table of delimited text") from None
    finally:
        csv.field_size_limit(before)


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


class _IrregularError(Exception):
    """Quotes or delimiters stand where the quick count cannot vouch for them."""


def count_records(path: Path, delimiter: str, columns: int) -> int:
    """Records in the file after the header, counted from the bytes, independently of any engine.

    Every record must have as many fields as the header. Blank lines hold no record, except in a
    file of one column, where they are an empty field.
    """
    try:
        return _count_quickly(path, ord(delimiter), columns)
    except _IrregularError:
        return _count_slowly(path, delimiter, columns)


def _count_quickly(path: Path, delimiter: int, columns: int) -> int:
    """A count by newlines and delimiters outside quotes; quotes must stand around whole fields."""
    data = np.memmap(path, dtype=np.uint8, mode="r")
    newline = _line_end(data)
    lines = blank = delimiters = inside = 0
    last = -1  # where the previous line ended
    for start in range(0, len(data), CHUNK):
        block = np.asarray(data[start : start + CHUNK])
        if not block.all():
            raise _nul(path, data, newline, start + int(np.flatnonzero(block == 0)[0]))
        ends = np.flatnonzero(block == newline)
        between = np.flatnonzero(block == delimiter)
        quotes = np.flatnonzero(block == QUOTE)
        if len(quotes) or inside:
            _check_quotes(data, quotes + start, inside, delimiter)
            ends = ends[(np.searchsorted(quotes, ends) + inside) % 2 == 0]
            between = between[(np.searchsorted(quotes, between) + inside) % 2 == 0]
            inside = (inside + len(quotes)) % 2
        delimiters += len(between)
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
    lines -= blank if columns > 1 else 0
    if inside or delimiters != lines * (columns - 1):
        raise _IrregularError
    return lines - 1


def _check_quotes(data: Bytes, quotes: Bytes, inside: int, delimiter: int) -> None:
    """A quote opens after a delimiter or a line end, closes before one, or stands doubled."""
    opening, closing = quotes[inside::2], quotes[1 - inside :: 2]
    before = data[np.maximum(opening - 1, 0)]
    after = data[np.minimum(closing + 1, len(data) - 1)]
    start = (opening == 0) | ((opening == 3) & (data[:3].tobytes() == BOM))
    stop = closing + 1 == len(data)
    edges = np.array([delimiter, 10, 13, QUOTE], dtype=np.uint8)
    if not (np.all(start | np.isin(before, edges)) and np.all(stop | np.isin(after, edges))):
        raise _IrregularError


def _nul(path: Path, data: Bytes, newline: int, at: int) -> InputError:
    line = 1 + sum(
        int(np.count_nonzero(data[i : min(i + CHUNK, at)] == newline)) for i in range(0, at, CHUNK)
    )
    return InputError(
        f"{_name(path)}, line {line}: a NUL byte; this is not plain text",
        hint="--encoding utf-16 if it was saved as such",
    )


def _line_end(data: Bytes) -> int:
    """The byte that ends a line: the first line feed, or a carriage return that stands alone."""
    for start in range(0, len(data), CHUNK):
        block = data[start : start + CHUNK]
        found = np.flatnonzero((block == 10) | (block == 13))
        if len(found):
            at = start + int(found[0])
            alone = data[at] == 13 and (at + 1 == len(data) or data[at + 1] != 10)
            return 13 if alone else 10
    return 10


def _count_slowly(path: Path, delimiter: str, columns: int) -> int:
    """The same count character by character, for files with quotes inside fields.

    A quote within an unquoted field is a character like any other. What readers disagree about is
    refused: blanks between a delimiter and a quote, text after a closing quote.
    """
    records = fields = 0
    line = first_line = 1
    state, blanks = "start", False
    previous = ""

    def finished() -> None:
        nonlocal records, fields
        if columns > 1 and fields == 0 and state == "start" and not blanks:
            return  # a blank line
        if fields + 1 != columns:
            raise InputError(
                f"{_name(path)}, line {first_line}: {fields + 1} field(s) where the header has "
                f"{columns}",
                hint="repair the line, or --delimiter",
            )
        records += 1

    for c in _characters(path):
        if previous == "\r" and c == "\n" and state == "start" and not fields:
            previous = c
            continue  # the second half of a line end
        previous = c
        if state == "quoted":
            state = "closing" if c == '"' else state
        elif c == delimiter:
            fields, state, blanks = fields + 1, "start", False
        elif c in "\r\n":
            finished()
            fields, state, blanks = 0, "start", False
            first_line = line + 1
        elif c == '"' and state == "closing":
            state = "quoted"
        elif state == "closing" or (c == '"' and state == "start" and blanks):
            raise InputError(
                f"{_name(path)}, line {line}: text beside a quoted field",
                hint="quote the whole field, or double the quotes inside it",
            )
        elif c == '"' and state == "start":
            state = "quoted"
        elif c == " " and state == "start":
            blanks = True
        else:
            state = "plain"
        line += c == "\n"
    if state == "quoted":
        raise InputError(
            f"{_name(path)}, line {first_line}: a quoted field does not end",
            hint="repair the quotes",
        )
    if fields or state != "start" or blanks:
        finished()
    return records - 1


def _characters(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        while block := file.read(1 << 16):
            yield from block
