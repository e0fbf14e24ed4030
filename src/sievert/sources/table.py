"""A source opened read-only: a file, a frame or plain columns. What it is, not what is in it."""

from __future__ import annotations

import os
import re
import sys
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any, Literal, Unpack

from sievert.errors import InputError, RefusedError, UsageError
from sievert.notes import Note
from sievert.sources import csv_header, csv_scan, formats, unpack
from sievert.sources.options import ReaderOptions

DATABASES = ("postgresql://", "postgres://")
STDIN = "stdin:"
EXACT = 2**53
MOST_COLUMNS = 10_000
TYPES = ("text", "int", "float", "date")
TOO_FINE = re.compile(
    r"timedelta64\[ns|datetime64\[ns, |Duration\(time_unit='ns'|^duration\[ns|month_day_nano"
    r"|^date64|Datetime\(time_unit='ns', time_zone='|timestamp\[ns, tz|^decimal256|halffloat"
)
MAGIC = {
    b"PK\x03\x04": "a zip archive",
    b"ustar": "a tar archive",
    b"7z\xbc\xaf": "a 7z archive",
    b"Rar!": "a rar archive",
    b"BZh": "a bzip2 file",
    b"\xfd7zXZ": "an xz file",
}
OTHER = {
    b"\x89PNG": "a picture",
    b"%PDF": "a PDF document",
    b"\xd0\xcf\x11\xe0": "an old Office file",
}


@dataclass(frozen=True)
class Table:
    """Where the records are, and how they are to be read."""

    kind: Literal["csv", "parquet", "duckdb", "frame", "columns", "postgres", "remote"]
    name: str
    path: Path | None = None
    parts: tuple[Path, ...] = ()
    member: str | None = None
    data: Any = None
    columns: tuple[str, ...] = ()
    delimiter: str | None = None
    encoding: str = "utf-8"
    compression: str | None = None
    header: bool = True
    scan: csv_scan.Scan | None = None
    na: tuple[str, ...] = ()
    types: Mapping[str, str] = field(default_factory=dict)
    orders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unusable: Mapping[str, str] = field(default_factory=dict)
    stamp: tuple[int, ...] = ()
    verified: Mapping[str, Any] | None = None
    notes: tuple[Note, ...] = ()

    def original(self, given: Path) -> Path:
        """The file the user named, without the name of a table in it."""
        return _member(given)[0]

    def check_unchanged(self, original: Path) -> None:
        """A file that changes during the run gives numbers of no table at all."""
        try:
            same = not self.stamp or _stamp(original) == self.stamp
        except OSError:
            same = False
        if not same:
            raise InputError(
                f"{self.name}: changed during the run", hint="run again on a still file"
            )


def open_table(
    data: Any, scratch: Path, *, remote: bool = False, **options: Unpack[ReaderOptions]
) -> Table:
    """Find out what `data` is: a path, a pandas, Polars or Arrow frame, or a dict of lists."""
    max_field = options.get("max_field")
    settings = _Settings(
        options.get("delimiter"),
        options.get("encoding", "utf-8"),
        dict(options.get("types") or {}),
        tuple(options.get("na", ())),
        options.get("header", True),
        options.get("max_unpacked"),
        csv_header.FIELD_LIMIT if max_field is None else unpack.size(max_field, "--max-field"),
        remote,
    )
    if options.get("max_columns", MOST_COLUMNS) < 1:
        raise UsageError("--max-columns must be at least 1")
    table = _open(data, settings, scratch)
    check_width(table.name, len(table.columns), options)
    return table


def check_width(name: str, columns: int, options: ReaderOptions) -> None:
    """An error for a table beyond the limit of columns."""
    most = options.get("max_columns", MOST_COLUMNS)
    if columns > most:
        raise RefusedError(
            f"{name}: {columns:,} columns, more than {most:,}", hint="a larger --max-columns"
        )


def _open(data: Any, settings: _Settings, scratch: Path) -> Table:
    types, na = settings.types, settings.na
    if any(set('"\r\n') & set(code) or not code for code in na):
        raise UsageError("--na: a code is empty, or holds a quote or a line end")
    for column, kind in types.items():
        if kind not in TYPES:
            raise UsageError(
                f"column {column!r}: type {kind!r} is not known", hint=f"one of {', '.join(TYPES)}"
            )
    if isinstance(data, str) and data.startswith(DATABASES):
        return _database(data, settings)
    if isinstance(data, str) and "://" in data and settings.remote:
        name = PurePosixPath(data).name
        return Table("remote", name, data=data, types=types, na=na)
    if isinstance(data, str) and "://" in data:
        raise RefusedError("data is not fetched from the network", hint="a file on this machine")
    if isinstance(data, str | os.PathLike):
        return _open_file(Path(data), settings, scratch)
    if isinstance(data, Mapping):
        columns = check_names(data, "the columns")
        return Table("columns", "columns", data=data, columns=columns, types=types, na=na)
    frame, columns = _frame(data)
    return Table(
        "frame",
        "frame",
        data=frame,
        columns=columns,
        types=types,
        na=na,
        orders=_ordered_categories(frame),
        unusable=_too_fine(frame, columns) | _too_large(frame),
    )


@dataclass(frozen=True)
class _Settings:
    """How the user wants a file to be read."""

    delimiter: str | None
    encoding: str
    types: Mapping[str, str]
    na: tuple[str, ...]
    header: bool
    max_unpacked: str | None
    max_field: int
    remote: bool


def _open_file(path: Path, settings: _Settings, scratch: Path) -> Table:
    try:
        path, member = _member(path)
        there = path.exists()
    except OSError:
        there = False
    if not there and (len(str(path)) > 4000 or "\n" in str(path) or len(path.name) > 255):
        raise InputError("no such file: the name is too long, or holds line ends", hint="a path")
    if path.is_dir():
        return _open_directory(path, settings)
    if str(path) == STDIN or path.is_fifo():
        return _piped(path, settings, scratch)
    if path.exists() and not path.is_file():
        raise InputError(f"{path.name}: not a regular file", hint="save the table as a file first")
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise UsageError("the name of the file is not UTF-8", hint="rename it") from None
    try:
        with path.open("rb") as file:
            start = file.read(512)
    except OSError as error:
        raise InputError(f"{path.name}: {error.strerror or 'cannot be read'}") from None
    stamp = _stamp(path)
    readable = path.resolve()
    if set("[*?") & set(str(readable)):  # the engine would take the name for a pattern
        readable = scratch / "input"
        readable.symlink_to(path.resolve())
    if not start:
        raise InputError(f"{path.name}: empty file (0 bytes)")
    if start[:4] == b"PARE":
        raise InputError(f"{path.name}: encrypted Parquet", hint="a file that is not encrypted")
    if start[:4] == b"PAR1":
        return Table(
            "parquet", path.name, readable, types=settings.types, na=settings.na, stamp=stamp
        )
    if start[8:12] == b"DUCK":
        return Table(
            "duckdb",
            path.name,
            readable,
            member=member,
            types=settings.types,
            na=settings.na,
            stamp=stamp,
        )
    statistical = formats.kind(start, path)
    if not settings.header and (statistical or start[:6] == b"ARROW1"):
        raise UsageError(f"{path.name}: --no-header is for text files", hint="name the columns")
    if statistical is not None:
        return _statistical(path, statistical, member, settings, stamp)
    if member is not None:
        raise UsageError(f"{path.name}: only a database has tables to choose from")
    if start[:6] == b"ARROW1":
        return _arrow_file(path, settings, stamp)
    compression = unpack.kind(start)
    if compression is not None:
        readable = scratch / "input.unpacked"
        unpack.unpack(path, compression, readable, settings.max_unpacked)
        with readable.open("rb") as file:
            start = file.read(512)
    for magic, what in MAGIC.items():
        if start.startswith(magic) or start[257:].startswith(magic):
            raise RefusedError(
                f"{path.name}: {what}", hint="archives are not opened: extract it first"
            )
    for magic, what in OTHER.items():
        if start.startswith(magic):
            raise InputError(
                f"{path.name}: {what}, not a table", hint="CSV, Parquet or another table"
            )
    return _text(path, readable, compression, settings, scratch, stamp)


def _piped(path: Path, settings: _Settings, scratch: Path) -> Table:
    """Standard input or a pipe, read once into the private directory."""
    name, copy = (STDIN, scratch / "stdin") if str(path) == STDIN else (path.name, scratch / "pipe")
    stream: Any = sys.stdin.buffer if name == STDIN else path.open("rb")
    with stream:
        unpack.drain(stream, copy, name, settings.max_unpacked)
    return replace(
        _open_file(copy, settings, scratch),
        name="standard input" if name == STDIN else name,
        stamp=(),
    )


def _text(
    path: Path,
    readable: Path,
    compression: str | None,
    settings: _Settings,
    scratch: Path,
    stamp: tuple[int, ...],
) -> Table:
    """A file of delimited text: its names, its delimiter, how many records it has."""
    encoding = csv_header.codec(settings.encoding)
    text = readable
    with readable.open("rb") as file:
        start = file.read(4)
    if encoding != "utf-8":
        text = scratch / "input.utf8"
        with csv_header.name_messages(path.name):
            csv_header.transcode(readable, encoding, text)
    elif start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise InputError(
            f"{path.name}: not UTF-8 at byte 0; looks like UTF-16", hint="--encoding utf-16"
        )
    given = {"tab": "\t"}.get(settings.delimiter or "", settings.delimiter)
    with csv_header.name_messages(path.name):
        names, found = csv_header.header(
            text, given, named=settings.header, max_field=settings.max_field
        )
        columns = check_names(names, path.name)
        scan = csv_scan.scan(
            text, found, len(columns), header=settings.header, max_field=settings.max_field
        )
        if scan.mixed or start == csv_header.BOM + b'"':  # the engine stumbles over both
            text, given_text = scratch / "input.lines", text
            csv_scan.one_line_end(given_text, text)
    if any(found in code for code in settings.na):
        raise UsageError(
            "--na: a code holds the delimiter", hint="one code at a time: --na A --na B"
        )
    return Table(
        "csv",
        path.name,
        text,
        columns=columns,
        delimiter=found,
        encoding=encoding,
        compression=compression,
        header=settings.header,
        scan=scan,
        na=settings.na,
        types=settings.types,
        stamp=stamp,
    )


def _database(url: str, settings: _Settings) -> Table:
    """A table of a Postgres database: postgresql://host/db?table=schema.name."""
    before, _, query = url.partition("?")
    options = [o for o in query.split("&") if o]
    named = [o.removeprefix("table=") for o in options if o.startswith("table=")]
    if len(named) != 1:
        raise UsageError("which table of the database?", hint="postgresql://host/db?table=NAME")
    rest = [o for o in options if not o.startswith("table=")]
    url = before + ("?" + "&".join(rest) if rest else "")
    member = _percent_decoded(named[0])
    return Table("postgres", member, member=member, data=url, types=settings.types, na=settings.na)


def _percent_decoded(text: str) -> str:
    """%20 and the like as characters; importing a URL library for this would look like network."""
    parts = re.split(r"((?:%[0-9A-Fa-f]{2})+)", text)
    return "".join(
        bytes.fromhex(p.replace("%", "")).decode(errors="replace") if p.startswith("%") else p
        for p in parts
    )


def _member(path: Path) -> tuple[Path, str | None]:
    """FILE?table=NAME names a table of a database file, FILE?sheet=NAME a sheet of a workbook."""
    for sign in ("?table=", "?sheet="):
        before, found, member = str(path).partition(sign)
        if found and not path.exists():
            return Path(before), member
    return path, None


def _open_directory(path: Path, settings: _Settings) -> Table:
    """All Parquet files below a directory, as one table; folders called key=value are columns."""
    parts = tuple(sorted(p.resolve() for p in path.rglob("*.parquet") if p.is_file()))
    name = path.name or str(path)
    if not parts:
        raise InputError(f"{name}: a directory without .parquet files")
    if any(set("[*?") & set(str(p)) for p in parts):
        raise UsageError(
            f"{name}: names with [ * or ? cannot be read in a directory", hint="rename"
        )
    folders = {p.relative_to(path.resolve()).parts[:-1] for p in parts}
    keys = {tuple(f.partition("=")[0] for f in folder if "=" in f) for folder in folders}
    if len(keys) > 1:
        raise InputError(f"{name}: its folders carry different columns (key=value)")
    return Table(
        "parquet",
        name,
        path.resolve(),
        parts,
        member="/".join(keys.pop()) or None,
        types=settings.types,
        na=settings.na,
        stamp=_stamp(path),
    )


def _statistical(
    path: Path, kind: str, sheet: str | None, settings: _Settings, stamp: tuple[int, ...]
) -> Table:
    """An SPSS, Stata, SAS or Excel file as plain columns."""
    found = formats.read(path, kind, sheet)
    columns = check_names(found.columns, path.name)
    return Table(
        "columns",
        path.name,
        data=found.columns,
        columns=columns,
        orders=found.orders,
        notes=found.notes,
        types=settings.types,
        na=settings.na,
        stamp=stamp,
    )


def _arrow_file(path: Path, settings: _Settings, stamp: tuple[int, ...]) -> Table:
    """An Arrow or Feather file, mapped into memory and handed on as a frame."""
    try:
        from pyarrow import ArrowInvalid, ipc, memory_map
    except ImportError:
        raise UsageError(
            "Arrow files need the package pyarrow", hint="pip install 'sievert[formats]'"
        ) from None
    try:
        frame = ipc.open_file(memory_map(str(path))).read_all()
    except (ArrowInvalid, OSError):
        raise InputError(f"{path.name}: damaged, or not readable as an Arrow file") from None
    columns = check_names(frame.column_names, path.name)
    unusable = _too_fine(frame, columns)
    return Table(
        "frame",
        path.name,
        data=frame,
        columns=columns,
        na=settings.na,
        types=settings.types,
        unusable=unusable,
        stamp=stamp,
    )


def _stamp(path: Path) -> tuple[int, ...]:
    path, _ = _member(path)
    if path.is_dir():
        parts = sorted(p for p in path.rglob("*.parquet") if p.is_file())
        return tuple(number for part in parts for number in _stamp(part))
    found = path.stat()
    return (found.st_size, found.st_mtime_ns, found.st_ino)


def _frame(data: Any) -> tuple[Any, tuple[str, ...]]:
    kind = type(data).__name__
    library = type(data).__module__.partition(".")[0]
    if kind == "LazyFrame" and library == "polars":
        try:
            data = data.collect()
        except Exception:  # its words may hold values
            raise InputError("the lazy frame cannot be computed", hint="its collect()") from None
    if kind == "RecordBatchReader":
        raise UsageError("a RecordBatchReader can be read only once", hint="its read_all()")
    if library == "pandas" and kind == "DataFrame":
        names = check_names(data.columns, "the frame")
        if data.index.nlevels > 1:
            raise UsageError("a frame with several levels of rows", hint="frame.reset_index()")
        if data.columns.nlevels > 1:
            raise UsageError("a frame with several levels of columns", hint="flatten the columns")
        return _plain(data), names
    if hasattr(data, "__arrow_c_stream__") and hasattr(data, "schema"):
        names = getattr(data, "column_names", None) or data.columns
        return data, check_names(names, "the frame")
    raise UsageError(
        f"data of type {library}.{kind} is not understood",
        hint="a path, a pandas, Polars or Arrow table, or a dict of lists",
    )


def _ordered_categories(frame: Any) -> dict[str, tuple[str, ...]]:
    """The order of categories that have one: pandas' ordered ones, Polars' enumerations."""
    library = type(frame).__module__.partition(".")[0]
    if library == "pandas":
        return {
            name: tuple(_spelled(c) for c in kind.categories)
            for name, kind in frame.dtypes.items()
            if getattr(kind, "ordered", False)
        }
    if library == "polars":
        kinds = frame.schema.items()
        return {n: tuple(k.categories) for n, k in kinds if type(k).__name__ == "Enum"}
    return {}


def _too_fine(frame: Any, columns: tuple[str, ...]) -> dict[str, str]:
    """Columns whose type DuckDB would round: what differs by less would become equal."""
    library = type(frame).__module__.partition(".")[0]
    if library == "pandas" or library == "polars":
        kinds = [str(k) for k in frame.dtypes]
    else:
        kinds = [str(f.type) for f in frame.schema] if library == "pyarrow" else []
    return {
        name: f"is of type {kind}, which would be rounded"
        for name, kind in zip(columns, kinds, strict=False)
        if TOO_FINE.search(kind)
    }


def _too_large(frame: Any) -> dict[str, str]:
    """Float columns of whole numbers beyond 2^53: different integers have become equal in them."""
    if type(frame).__module__.partition(".")[0] != "pandas":
        return {}
    found = {}
    for name, kind in frame.dtypes.items():
        if str(kind) in ("float64", "Float64"):
            values = frame[name].to_numpy(dtype=float, na_value=float("nan"))
            finite = values[abs(values) < float("inf")]
            if (finite % 1 == 0).all() and (abs(finite) > EXACT).any():
                found[str(name)] = (
                    "holds whole numbers beyond 2^53 as floats, which makes some equal"
                )
    return found


def _spelled(category: Any) -> str:
    """A category as the engine spells it."""
    return str(category).lower() if isinstance(category, bool) else str(category)


def _decimal(number: Any) -> str | None:
    """A decimal as text in one spelling: 1.0 and 1.00 are one value, however many digits."""
    if number.is_nan():
        return None
    text = format(number, "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def _plain(frame: Any) -> Any:
    """A pandas frame whose columns an engine can read: intervals and periods become text."""
    from pandas.api.types import infer_dtype

    odd = {}
    for name, kind in frame.dtypes.items():
        # Text beside numbers in one column would silently become equal text.
        if str(kind) == "object" and infer_dtype(frame[name], skipna=True).startswith("mixed"):
            raise InputError(
                f"column {name!r} holds values of mixed types", hint="frame[column].astype(str)"
            )
        decimals = str(kind) == "object" and infer_dtype(frame[name], skipna=True) == "decimal"
        if decimals:
            values = frame[name]
            odd[name] = values.map(_decimal, na_action="ignore")
        elif str(kind).startswith(("interval", "period", "complex", "Sparse")):
            values = frame[name].astype(object)
            odd[name] = values.map(str).where(values.notna(), None)
        elif str(getattr(getattr(kind, "categories", None), "dtype", "")).startswith("interval"):
            odd[name] = frame[name].cat.rename_categories([str(c) for c in kind.categories])
    return frame.assign(**odd) if odd else frame


def check_names(names: Iterable[Any], where: str) -> tuple[str, ...]:
    """Names must be text, not empty, and differ by more than case."""
    found: dict[str, str] = {}
    for number, name in enumerate(names, 1):
        if not isinstance(name, str):
            raise UsageError(
                f"{where}: the label of column {number} is {type(name).__name__}, not text",
                hint="rename the columns",
            )
        if not name:
            raise InputError(f"{where}: column {number} has no name", hint="a name in the header")
        folded = unicodedata.normalize("NFC", name).strip().casefold()
        other = found.get(folded)
        if other is not None:
            raise InputError(
                f"{where}: columns {other!r} and {name!r} have the same name (case, blanks and "
                "Unicode form do not count)",
                hint="rename one of them",
            )
        found[folded] = name
    if not found:
        raise InputError(f"{where}: no columns")
    return tuple(found.values())
