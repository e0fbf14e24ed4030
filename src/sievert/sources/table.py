"""A source opened read-only: a file, a frame or plain columns. What it is, not what is in it."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any, Literal, Unpack

from sievert.errors import InputError, RefusedError, UsageError, unknown
from sievert.notes import Note
from sievert.sources import csv_header, csv_scan, formats, frames, unpack
from sievert.sources.names import check_names
from sievert.sources.options import ReaderOptions

DATABASES = ("postgresql://", "postgres://")
STDIN = "stdin:"
MOST_COLUMNS = 10_000
TYPES = ("text", "int", "float", "date")
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

    def check_types(self, columns: Iterable[str]) -> None:
        """An error for a type that the user gives to a column that is not there."""
        columns = tuple(columns)
        for column in self.types:
            if column not in columns:
                raise unknown("--type: column", column, columns)

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
    if isinstance(data, str) and "://" in data:
        if not settings.remote:
            hint = "a file on this machine"
            raise RefusedError("data is not fetched from the network", hint=hint)
        return Table("remote", PurePosixPath(data).name, data=data, types=types, na=na)
    if isinstance(data, str | os.PathLike):
        return _open_path(Path(data), settings, scratch)
    if isinstance(data, Mapping):
        columns = check_names(data, "the columns")
        return Table("columns", "columns", data=data, columns=columns, types=types, na=na)
    frame, columns = frames.plain_frame(data)
    return Table(
        "frame",
        "frame",
        data=frame,
        columns=columns,
        types=types,
        na=na,
        orders=frames.ordered_categories(frame),
        unusable=frames.unusable_columns(frame, columns),
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


def _open_path(path: Path, settings: _Settings, scratch: Path) -> Table:
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
        return _open_pipe(path, settings, scratch)
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
    stamp = _stamp(path)  # before anything is read
    table = _open_file(path, member, start, settings, scratch)
    return replace(table, types=settings.types, na=settings.na, stamp=stamp)


def _open_file(
    path: Path, member: str | None, start: bytes, settings: _Settings, scratch: Path
) -> Table:
    """A regular file, by its first bytes."""
    readable = path.resolve()
    if set("[*?") & set(str(readable)):  # the engine would take the name for a pattern
        readable = scratch / "input"
        readable.symlink_to(path.resolve())
    if not start:
        raise InputError(f"{path.name}: empty file (0 bytes)")
    if start[:4] == b"PARE":
        raise InputError(f"{path.name}: encrypted Parquet", hint="a file that is not encrypted")
    if start[:4] == b"PAR1":
        return Table("parquet", path.name, readable)
    if start[8:12] == b"DUCK":
        return Table("duckdb", path.name, readable, member=member)
    statistical = formats.kind(start, path)
    if not settings.header and (statistical or start[:6] == b"ARROW1"):
        raise UsageError(f"{path.name}: --no-header is for text files", hint="name the columns")
    if statistical is not None:
        return _statistical(path, statistical, member)
    if member is not None:
        raise UsageError(f"{path.name}: only a database has tables to choose from")
    if start[:6] == b"ARROW1":
        return _arrow_file(path)
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
    return replace(_text(path, readable, settings, scratch), compression=compression)


def _open_pipe(path: Path, settings: _Settings, scratch: Path) -> Table:
    """Standard input or a pipe, read once into the private directory."""
    name, copy = (STDIN, scratch / "stdin") if str(path) == STDIN else (path.name, scratch / "pipe")
    stream: Any = sys.stdin.buffer if name == STDIN else path.open("rb")
    with stream:
        unpack.drain(stream, copy, name, settings.max_unpacked)
    table = _open_path(copy, settings, scratch)
    return replace(table, name="standard input" if name == STDIN else name, stamp=())


def _text(path: Path, readable: Path, settings: _Settings, scratch: Path) -> Table:
    """A file of delimited text: its names, its delimiter, how many records it has."""
    encoding, text = csv_header.codec(settings.encoding), readable
    with readable.open("rb") as file:
        start = file.read(4)
    if encoding == "utf-8" and start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise InputError(
            f"{path.name}: not UTF-8 at byte 0; looks like UTF-16", hint="--encoding utf-16"
        )
    delimiter = "\t" if settings.delimiter == "tab" else settings.delimiter
    header, max_field = settings.header, settings.max_field
    with csv_header.name_messages(path.name):
        if encoding != "utf-8":
            text = scratch / "input.utf8"
            csv_header.transcode(readable, encoding, text)
        names, delimiter = csv_header.header(text, delimiter, named=header, max_field=max_field)
        columns = check_names(names, path.name)
        scan = csv_scan.scan(text, delimiter, len(columns), header=header, max_field=max_field)
        if scan.mixed or start == csv_header.BOM + b'"':  # the engine stumbles over both
            mixed, text = text, scratch / "input.lines"
            csv_scan.one_line_end(mixed, text)
    if any(delimiter in code for code in settings.na):
        raise UsageError(
            "--na: a code holds the delimiter", hint="one code at a time: --na A --na B"
        )
    return Table(
        "csv",
        path.name,
        text,
        columns=columns,
        delimiter=delimiter,
        encoding=encoding,
        header=header,
        scan=scan,
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
        before, named, member = str(path).partition(sign)
        if named and not path.exists():
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


def _statistical(path: Path, kind: str, sheet: str | None) -> Table:
    """An SPSS, Stata, SAS or Excel file as plain columns."""
    content = formats.read_columns(path, kind, sheet)
    return Table(
        "columns",
        path.name,
        data=content.columns,
        columns=check_names(content.columns, path.name),
        orders=content.orders,
        notes=content.notes,
    )


def _arrow_file(path: Path) -> Table:
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
    unusable = frames.too_fine(frame, columns)
    return Table("frame", path.name, data=frame, columns=columns, unusable=unusable)


def _stamp(path: Path) -> tuple[int, ...]:
    path, _ = _member(path)
    if path.is_dir():
        parts = sorted(p for p in path.rglob("*.parquet") if p.is_file())
        return tuple(number for part in parts for number in _stamp(part))
    status = path.stat()
    return (status.st_size, status.st_mtime_ns, status.st_ino)
