"""The encoding, the header and the delimiter of a delimited text file, read by Sievert itself.

The engine gets the names, the delimiter and text as the type of all columns, so that it guesses
nothing. The `name` in messages is that of the user's file; `path` may be our private copy of it.
"""

import codecs
import csv
import itertools
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sievert.errors import (
    ExhaustedError,
    InputError,
    RefusedError,
    SievertError,
    UsageError,
    require,
)

DELIMITERS = (",", ";", "\t", "|")
SHOWN = {"\t": "tab"}
CHUNK = 1 << 20
FIELD_LIMIT = 1 << 20
BOM = codecs.BOM_UTF8
ESCAPES = ("utf-7", "unicode-escape", "raw-unicode-escape", "idna", "punycode", "undefined")
SAMPLE = 1000
MANY = 10


def codec(encoding: str) -> str:
    """The canonical name of a text encoding."""
    info = None
    with suppress(LookupError):
        info = codecs.lookup(encoding)
    if info is None or not info._is_text_encoding or info.name in ESCAPES:
        raise UsageError(f"encoding {encoding!r} is not known", hint="utf-8, latin-1 or cp1252")
    return info.name


@contextmanager
def room_for(name: str) -> Iterator[None]:
    """Turn a failure to write a private copy of a file into an error that names the file."""
    try:
        yield
    except OSError as error:
        raise ExhaustedError(
            f"no room for a copy of {name}: {error.strerror}", hint="--temp DIR"
        ) from None


def transcode(path: Path, name: str, encoding: str, target: Path) -> None:
    """Write a private UTF-8 copy of a file in another encoding."""
    try:
        with (
            room_for(name),
            path.open(encoding=encoding, newline="") as source,
            target.open("w", encoding="utf-8", newline="") as out,
        ):
            while block := source.read(CHUNK):
                out.write(block)
    except UnicodeError as error:
        raise InputError(
            f"{name}: not {encoding} text ({type(error).__name__})",
            hint="another --encoding",
        ) from None


def header(
    path: Path,
    name: str,
    delimiter: str | None,
    *,
    named: bool = True,
    max_field: int = FIELD_LIMIT,
) -> tuple[list[str], str]:
    """Return the names of the columns and the delimiter, read from the first record unless given.

    In a file without names, the columns are called column1, column2, ...
    """
    given = delimiter is not None
    names, delimiter = _header(path, name, delimiter, max_field)
    if len(names) == 1:
        _check_single_column(path, name, delimiter, names[0] if given else None)
    return names if named else [f"column{i}" for i in range(1, len(names) + 1)], delimiter


def _header(path: Path, name: str, delimiter: str | None, max_field: int) -> tuple[list[str], str]:
    def first(delimiter: str) -> list[str]:
        names, _ = next(_records(path, name, delimiter, max_field, strict=False), (None, 0))
        if names is None:
            raise InputError(f"{name}: empty file ({path.stat().st_size} bytes)")
        return names

    def rectangular(delimiter: str, fields: int) -> bool:
        return all(
            len(row) in (fields, 0)
            for row, _ in _records(path, name, delimiter, FIELD_LIMIT, strict=False)
        )

    if delimiter is not None:
        require(
            len(delimiter) == 1 and delimiter not in '"\r\n' and ord(delimiter) <= 127,
            "the delimiter is not one character that can separate columns",
            hint="--delimiter ';' or tab",
        )
        return first(delimiter), delimiter
    headers = {d: first(d) for d in DELIMITERS}
    candidates = {d: names for d, names in headers.items() if len(names) > 1}
    if not candidates:
        return first(","), ","
    if len(candidates) > 1:
        candidates = {d: names for d, names in candidates.items() if rectangular(d, len(names))}
    require(
        len(candidates) == 1,
        f"{name}: the delimiter is not clear from the header",
        hint="--delimiter with the character that separates the columns",
        error=InputError,
    )
    (delimiter, names), *_ = candidates.items()
    return names, delimiter


def _check_single_column(path: Path, name: str, delimiter: str, column: str | None) -> None:
    """Refuse a single column if nearly all of its lines contain another delimiter.

    If the user has given the delimiter, the name of the column must also split into several names,
    and there must be many lines.
    """
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        lines = [line for line in itertools.islice(file, 1, SAMPLE) if line.strip()]
    for other in DELIMITERS if column is None or len(lines) >= MANY else ():
        names = [] if column is None else [part.strip() for part in column.split(other)]
        likely = other != delimiter and (column is None or (len(names) > 1 and all(names)))
        times = sum(other in line for line in lines)
        shown = SHOWN.get(other, other)
        require(
            not (likely and times > 0.9 * len(lines) > 0),
            f"{name}: one column is found, but nearly every line holds a {shown!r}",
            hint=f"--delimiter '{shown}', or another first line",
            error=InputError,
        )


def _records(
    path: Path, name: str, delimiter: str, max_field: int, *, strict: bool = True
) -> Iterator[tuple[list[str], int]]:
    """Yield each record and the number of its first line, as Python's csv module reads them."""
    before = csv.field_size_limit(max_field)
    line = 0
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            reader = csv.reader(lines, delimiter=delimiter, strict=strict)
            for row in reader:
                yield row, line + 1
                line = reader.line_num
    except UnicodeDecodeError:
        raise not_utf8(name, _first_bad_byte(path)) from None
    except csv.Error as error:
        raise _unreadable(f"{name}, line {line + 1}", str(error), max_field) from None
    finally:
        csv.field_size_limit(before)


def _unreadable(where: str, message: str, max_field: int) -> SievertError:
    if "field limit" in message:
        return _too_long(where, max_field)
    if "end of data" in message:
        return InputError(f"{where}: a quoted field does not end", hint="repair the quotes")
    return InputError(
        f"{where}: text beside a quoted field",
        hint="quote the whole field, or double the quotes inside it",
    )


def _too_long(where: str, max_field: int) -> RefusedError:
    return RefusedError(
        f"{where}: a field of more than {max_field:,} bytes", hint="a larger --max-field"
    )


def not_utf8(name: str, at: int) -> InputError:
    """Return the error for the first byte that is not UTF-8."""
    return InputError(f"{name}: not UTF-8 at byte {at}", hint="--encoding latin-1 or cp1252")


def _first_bad_byte(path: Path) -> int:
    """The place of the first byte that is not UTF-8, counted from the start of the file."""
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


def count_fields(path: Path, name: str, delimiter: str, columns: int, max_field: int) -> int:
    """Count the records of a file with its header, field by field; an error names a bad line.

    A quote within an unquoted field is a character like any other. Text that readers interpret
    differently is refused: blanks between a delimiter and a quote, text after a closing quote.
    """
    records = 0
    for row, line in _records(path, name, delimiter, max_field):
        if not row and columns > 1:
            continue  # a blank line
        where = f"{name}, line {line}"
        require(
            max(len(row), 1) == columns,
            f"{where}: {len(row)} field(s) where the header has {columns}",
            hint="repair the line, or --delimiter",
            error=InputError,
        )
        if any(field[:1] == " " and field.lstrip(" ")[:1] == '"' for field in row):
            raise _unreadable(where, "", max_field)
        if any(4 * len(field) > max_field and len(field.encode()) > max_field for field in row):
            raise _too_long(where, max_field)
        records += 1
    return records
