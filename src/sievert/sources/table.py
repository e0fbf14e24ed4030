"""A source opened read-only: a file, a frame or plain columns; its description, not its records."""

import json
import os
import re
import sys
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any, Literal, Unpack

from sievert.errors import InputError, RefusedError, require, unknown
from sievert.formatting import plural
from sievert.formatting.remarks import Caution, Remark
from sievert.sources import csv_header, csv_scan, formats, unpack
from sievert.sources.addresses import DATABASES, decode_percent
from sievert.sources.columns import (
    check_names,
    index_note,
    ordered_categories,
    plain_frame,
    too_fine,
    unusable_columns,
)
from sievert.sources.options import ReaderOptions, missing_codes, optional_package
from sievert.sources.state_manifest import MANIFEST, StateManifest, is_state, read_manifest

MEMBERS = ("table", "sheet")  # what FILE?KEY=NAME names
STDIN = "stdin:"
INDEX = "column1"  # what a first column without a name is called
MOST_COLUMNS = 10_000
ASIDE = "._"  # how names begin that programs leave beside a table, such as _SUCCESS
TYPES = ("text", "int", "float", "date")
SURROGATE = re.compile("[\ud800-\udfff]")  # a byte that is not UTF-8, in a name of Python's
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


@dataclass(frozen=True, kw_only=True)
class Table:
    """The place of the records, and how to read them."""

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
    notes: tuple[Remark, ...] = ()
    error_cells: Mapping[str, int] = field(default_factory=dict)  # of Excel, by column
    # Of columns with value labels: values whose labels coincide if they are spelt alike.
    same_labels: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    not_read: int = 0  # other sheets, tables or files that the source holds
    state: StateManifest | None = None  # the counts that stand in place of the records

    def check_types(self, columns: Iterable[str]) -> None:
        """Raise an error if the user gives a type to a column that does not exist."""
        names = tuple(columns)
        absent = [column for column in self.types if column not in names]
        if absent:
            raise unknown("--type: column", absent[0], names)

    def check_records(self, read: int, expected: int | None = None) -> None:
        """Check that every record of the file was read, and that there is at least one."""
        if self.scan is not None:
            expected = self.scan.records
        if expected not in (None, read):
            if self.scan is not None:
                assert self.path is not None and self.delimiter is not None
                csv_header.count_fields(  # names the line, if a line is to blame
                    self.path, self.name, self.delimiter, len(self.columns), csv_header.FIELD_LIMIT
                )
            raise InputError(
                f"{self.name}: {read} records were read where the file has {expected}",
                hint="look for stray quotes and line ends" if self.scan is not None else None,
            )
        require(read, f"{self.name}: 0 records; nothing to measure", error=InputError)

    def check_unchanged(self, original: Path) -> None:
        """Raise an error if the file has changed: the numbers would belong to no table at all."""
        try:
            path = original if self.state is None else original / MANIFEST
            same = not self.stamp or _stamp(path) == self.stamp
        except OSError:
            same = False
        require(
            same,
            f"{self.name}: changed during the run",
            hint="run again on a still file",
            error=InputError,
        )


def open_table(
    data: Any, scratch: Path, *, remote: bool = False, **options: Unpack[ReaderOptions]
) -> Table:
    """Open `data`: a path, a pandas, Polars or Arrow frame, or a dict of lists."""
    given = options.get("types")
    types = dict(given) if given else {}
    na = missing_codes(options)
    _field_limit(options)  # refuses a text that is no size, whatever the source is
    require(options.get("max_columns", MOST_COLUMNS) >= 1, "--max-columns must be at least 1")
    for column, kind in types.items():
        require(
            kind in TYPES,
            f"column {column!r}: type {kind!r} is not known",
            hint=f"one of {', '.join(TYPES)}",
        )
    table = _open(data, options, scratch, remote=remote)
    if table.state is None:
        table = replace(table, types=types, na=na)
    else:
        table.state.check_reading(types, na)
    require(
        table.delimiter is None or not any(table.delimiter in code for code in na),
        "--na: a code holds the delimiter",
        hint="one code at a time: --na A --na B",
    )
    check_width(table.name, len(table.columns), options)
    return table


def check_width(name: str, columns: int, options: ReaderOptions) -> None:
    """Raise an error for a table with more columns than the limit."""
    most = options.get("max_columns", MOST_COLUMNS)
    require(
        columns <= most,
        f"{name}: {columns:,} columns, more than {most:,}",
        hint="a larger --max-columns",
        error=RefusedError,
    )


def _field_limit(options: ReaderOptions) -> int:
    given = options.get("max_field")
    return csv_header.FIELD_LIMIT if given is None else unpack.size(given, "--max-field")


def _open(data: Any, options: ReaderOptions, scratch: Path, *, remote: bool) -> Table:
    if isinstance(data, str) and data.startswith(DATABASES):
        return _database(data)
    if isinstance(data, str) and "://" in data:
        require(
            remote,
            "data is not fetched from the network",
            hint="a file on this machine",
            error=RefusedError,
        )
        return Table(kind="remote", name=PurePosixPath(data).name, data=data)
    if isinstance(data, str | os.PathLike):
        return _open_path(Path(data), options, scratch)
    if isinstance(data, Mapping):
        return Table(
            kind="columns", name="columns", data=data, columns=check_names(data, "the columns")
        )
    frame, columns = plain_frame(data)
    return Table(
        kind="frame",
        name="frame",
        data=frame,
        columns=columns,
        orders=ordered_categories(frame),
        notes=index_note(data, columns),
        unusable=unusable_columns(frame, columns),
    )


def _open_path(path: Path, options: ReaderOptions, scratch: Path) -> Table:
    try:
        path, member = split_member(path)
        there = path.exists()
    except OSError:
        there = False
    require(
        there or not (len(str(path)) > 4000 or "\n" in str(path) or len(path.name) > 255),
        "no such file: the name is too long, or holds line ends",
        hint="a path",
        error=InputError,
    )
    if path.is_dir():
        return _open_state(path) if is_state(path) else _open_directory(path)
    if str(path) == STDIN or path.is_fifo():
        return _open_pipe(path, options, scratch)
    require(
        not there or path.is_file(),
        f"{path.name}: not a regular file",
        hint="save the table as a file first",
        error=InputError,
    )
    require(not SURROGATE.search(str(path)), "the name of the file is not UTF-8", hint="rename it")
    try:
        start = _first_bytes(path)
    except OSError as error:
        reason = error.strerror if error.strerror else "cannot be read"
        raise InputError(f"{path.name}: {reason}") from None
    stamp = _stamp(path)  # before anything is read
    return replace(_open_file(path, member, start, options, scratch), stamp=stamp)


def _first_bytes(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(512)


def _open_file(
    path: Path, member: str | None, start: bytes, options: ReaderOptions, scratch: Path
) -> Table:
    """Open a regular file according to its first bytes."""
    name = path.name
    readable = path.resolve()
    if set("[*?") & set(str(readable)):  # the engine would take the name for a pattern
        readable = scratch / "input"
        readable.symlink_to(path.resolve())
    require(start, f"{name}: empty file (0 bytes)", error=InputError)
    what = f"{name}: encrypted Parquet"
    require(start[:4] != b"PARE", what, hint="a file that is not encrypted", error=InputError)
    if start[:4] == b"PAR1":
        return Table(kind="parquet", name=name, path=readable)
    if start[8:12] == b"DUCK":
        return Table(kind="duckdb", name=name, path=readable, member=member)
    statistical = formats.kind(start, path)
    arrow = start[:6] == b"ARROW1"
    require(
        options.get("header", True) or not (statistical or arrow),
        f"{name}: --no-header is for text files",
        hint="name the columns",
    )
    if statistical is not None:
        content = formats.read_columns(path, statistical, member)
        columns = check_names(content.columns, name)
        data = content.columns
        return Table(
            kind="columns",
            name=name,
            data=data,
            columns=columns,
            orders=content.orders,
            notes=(*content.notes, *note_not_read(content.other_sheets, "other sheet")),
            error_cells=content.error_cells,
            same_labels=content.same_labels,
            not_read=content.other_sheets,
        )
    what = f"{name}: not an Excel file, whatever its name says"
    require(path.suffix.lower() != ".xlsx", what, hint="CSV, or a workbook", error=InputError)
    require(member is None, f"{name}: only a database has tables to choose from")
    if arrow:
        return _arrow_file(path)
    compression = unpack.kind(start)
    if compression is not None:
        readable = scratch / "input.unpacked"
        unpack.unpack(path, compression, readable, options.get("max_unpacked"))
        start = _first_bytes(readable)
    for magic, kind in MAGIC.items():
        require(
            not start.startswith(magic) and not start[257:].startswith(magic),
            f"{name}: {kind}",
            hint="archives are not opened: extract it first",
            error=RefusedError,
        )
    for magic, kind in OTHER.items():
        require(
            not start.startswith(magic),
            f"{name}: {kind}, not a table",
            hint="CSV, Parquet or another table",
            error=InputError,
        )
    return replace(_text(name, readable, start, options, scratch), compression=compression)


def _open_pipe(path: Path, options: ReaderOptions, scratch: Path) -> Table:
    """Read standard input or a pipe into the private directory, and open the copy."""
    name, copy = (STDIN, scratch / "stdin") if str(path) == STDIN else (path.name, scratch / "pipe")
    stream: Any = sys.stdin.buffer if name == STDIN else path.open("rb")
    with stream:
        unpack.drain(stream, copy, name, options.get("max_unpacked"))
    return replace(
        _open_path(copy, options, scratch),
        name="standard input" if name == STDIN else name,
        stamp=(),
    )


def _text(name: str, path: Path, start: bytes, options: ReaderOptions, scratch: Path) -> Table:
    """Open a file of delimited text: read its names, find its delimiter, count its records."""
    encoding = csv_header.codec(options.get("encoding", "utf-8"))
    header = options.get("header", True)
    max_field = _field_limit(options)
    require(
        encoding != "utf-8" or start[:2] not in (b"\xff\xfe", b"\xfe\xff"),
        f"{name}: not UTF-8 at byte 0; looks like UTF-16",
        hint="--encoding utf-16",
        error=InputError,
    )
    if encoding != "utf-8":
        source = path
        path = scratch / "input.utf8"
        csv_header.transcode(source, name, encoding, path)
    delimiter = "\t" if options.get("delimiter") == "tab" else options.get("delimiter")
    names, delimiter = csv_header.header(path, name, delimiter, named=header, max_field=max_field)
    unnamed = header and len(names) > 1 and names[0] == "" and INDEX not in names
    columns = check_names([INDEX, *names[1:]] if unnamed else names, name)
    scan = csv_scan.scan(path, name, delimiter, len(columns), header=header, max_field=max_field)
    if scan.mixed or start[:4] == csv_header.BOM + b'"':  # the engine misreads both
        mixed = path
        path = scratch / "input.lines"
        csv_scan.one_line_end(mixed, name, path)
    return Table(
        kind="csv",
        name=name,
        path=path,
        columns=columns,
        delimiter=delimiter,
        encoding=encoding,
        header=header,
        scan=scan,
        notes=(Remark("index_column", column=repr(INDEX)),) if unnamed else (),
    )


def _database(url: str) -> Table:
    """Open a table of a Postgres database: postgresql://host/db?table=schema.name."""
    before, _, query = url.partition("?")
    options = [o for o in query.split("&") if o]
    named = [o.removeprefix("table=") for o in options if o.startswith("table=")]
    require(len(named) == 1, "which table of the database?", hint="postgresql://host/db?table=NAME")
    rest = "&".join(o for o in options if not o.startswith("table="))
    member = decode_percent(named[0])
    return Table(
        kind="postgres", name=member, member=member, data=f"{before}?{rest}" if rest else before
    )


def note_not_read(number: int, what: str) -> list[Caution]:
    """The caution that a source holds more than the table; none where it does not."""
    return [Caution("not_read", others=plural(number, what))] if number else []


def split_member(path: Path) -> tuple[Path, str | None]:
    """Split FILE?table=NAME (of a database file) or FILE?sheet=NAME (of a workbook)."""
    for key in MEMBERS:
        before, named, member = str(path).partition(f"?{key}=")
        if named and not path.exists():
            return Path(before), member
    before, mark, named = str(path).rpartition("?")
    if mark and "=" in named and not path.exists() and Path(before).is_file():
        raise unknown(f"{Path(before).name}: key", named.partition("=")[0], MEMBERS)
    return path, None


def _open_directory(path: Path) -> Table:
    """Open all Parquet files below a directory as one table; folders key=value are columns."""
    parts = tuple(p.resolve() for p in _parquet_files(path))
    name = path.name or str(path)
    require(parts, f"{name}: a directory without .parquet files", error=InputError)
    require(
        not any(set("[*?") & set(str(p)) for p in parts),
        f"{name}: names with [ * or ? cannot be read in a directory",
        hint="rename",
    )
    folders = {p.relative_to(path.resolve()).parts[:-1] for p in parts}
    keys = {tuple(f.partition("=")[0] for f in folder if "=" in f) for folder in folders}
    require(
        len(keys) == 1, f"{name}: its folders carry different columns (key=value)", error=InputError
    )
    keys_of_folders = "/".join(keys.pop())
    member = keys_of_folders if keys_of_folders else None
    others = _count_other_files(path.resolve(), {*parts})
    return Table(
        kind="parquet",
        name=name,
        path=path.resolve(),
        parts=parts,
        member=member,
        stamp=_stamp(path),
        notes=tuple(note_not_read(others, "other file")),
        not_read=others,
    )


def _open_state(path: Path) -> Table:
    """Open the counts of a table; they have the description of the table."""
    state = read_manifest(path.resolve())
    facts, blank, file = state.description()
    scan = csv_scan.Scan(state.records, blank, 0, mixed=False) if blank else None
    return Table(**facts, scan=scan, stamp=_stamp(path / MANIFEST) if file else (), state=state)


def _parquet_files(directory: Path) -> list[Path]:
    """The .parquet files of a directory and all below; of the root directory, only its own."""
    walk = os.walk(directory)  # leaves out directories that cannot be read or are gone
    folders = [next(walk)] if directory.resolve() == Path(directory.resolve().anchor) else walk
    paths = (Path(at, n) for at, _, names in folders for n in names if n.endswith(".parquet"))
    return sorted(path for path in paths if path.is_file())


def _count_other_files(directory: Path, parts: Collection[Path]) -> int:
    """Count the files below a directory of Parquet files that are none of its `parts`.

    Three kinds of files do not count: empty ones, names that begin with a dot or an underscore
    (other programs leave them beside a table), and our own manifest of a part.
    """
    own = {part.with_name(f"{part.name}.json") for part in parts}
    number = 0
    for at, folders, names in os.walk(directory):
        folders[:] = [] if at == Path(at).anchor else [f for f in folders if f[0] not in ASIDE]
        for name in names:
            path = Path(at, name)
            known = name[0] in ASIDE or path.resolve() in parts
            if known or (path in own and _is_manifest(path)) or not path.is_file():
                continue
            number += path.stat().st_size > 0
    return number


def _is_manifest(path: Path) -> bool:
    """Whether a file says how a release was made, as `protect` writes it beside the release."""
    try:
        content = json.loads(path.read_bytes())
        return isinstance(content["sievert"], str) and isinstance(content["release"], dict)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False


def _arrow_file(path: Path) -> Table:
    """Map an Arrow or Feather file into memory, and open it as a frame."""
    arrow = optional_package("pyarrow", "Arrow files need")
    try:
        frame = arrow.ipc.open_file(arrow.memory_map(str(path))).read_all()
    except (arrow.ArrowInvalid, OSError):
        raise InputError(f"{path.name}: damaged, or not readable as an Arrow file") from None
    columns = check_names(frame.column_names, path.name)
    return Table(
        kind="frame", name=path.name, data=frame, columns=columns, unusable=too_fine(frame, columns)
    )


def _stamp(path: Path) -> tuple[int, ...]:
    path, _ = split_member(path)
    if path.is_dir():
        return tuple(number for part in _parquet_files(path) for number in _stamp(part))
    status = path.stat()
    return (status.st_size, status.st_mtime_ns, status.st_ino)
