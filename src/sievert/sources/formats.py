"""SPSS, Stata, SAS and Excel files, read as plain columns.

Times of day and Stata's leap-second %tC stay numbers. Blank text is missing in SPSS and SAS, which
have no other missing text, and empty text in Stata. Empty cells and errors (#N/A) are missing;
errors are counted.
"""

import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from pathlib import Path, PurePosixPath
from typing import Any

from sievert.errors import InputError, RefusedError, SievertError, require
from sievert.formatting import plural
from sievert.formatting.canonical import canonical_text
from sievert.formatting.remarks import Remark, figure
from sievert.sources.options import optional_package

SAS = bytes(12) + bytes.fromhex("c2ea8160b31411cfbd92080009c7318c181f1011")
BEGINNINGS = {
    "sav": re.compile(rb"\$FL[23]"),
    "dta": re.compile(rb"[\x68-\x73][\x01\x02]\x01|<stata_dta>"),  # text has no bytes 1 and 2
    "sas7bdat": re.compile(re.escape(SAS)),
}
NAMES = {"sav": "an SPSS file", "dta": "a Stata file", "sas7bdat": "a SAS file", "xlsx": "xlsx"}
EXACT = 2**53
RATIO = 100
MOST = 1 << 30
CELLS = 1 << 27  # a reader takes memory for every cell of an area, empty or not
STRINGS = 1 << 20  # texts that a workbook may announce, however small it is
BLANKS = re.compile(rb"\s+")
CELL = re.compile(rb""" r ?= ?["']([A-Za-z]{0,3})(\d+)["']""")
ANNOUNCED = re.compile(rb""" uniqueCount ?= ?["'](\d+)["']""")
# Display formats that make a number a date: of one day, or of a moment, in a unit.
SAS_DAY = r"(DATE|WEEKDAT[EX]|(MMDDYY|DDMMYY|YYMMDD)[BCDNPS]?|(IS|E|B)8601DA)[\d.]*$"
SAS_MOMENT = r"(DATETIME|DATEAMPM|MDYAMPM|DTDATE|(IS|E|B)8601D[TN])[\d.]*$"
DATES = {
    "sav": ((r"[AEJS]?DATE[\d.]*$", "seconds", True), (r"DATETIME|YMDHMS", "seconds", False)),
    "dta": ((r"%-?t?d", "days", True), (r"%-?tc", "milliseconds", False)),
    "sas7bdat": ((SAS_DAY, "days", True), (SAS_MOMENT, "seconds", False)),
}
BLOCK = 1 << 20
ERROR = re.compile(rb"""\st\s*=\s*["']e["']""")  # the type of a cell
ROOM = 32  # bytes of it at the end of a block
PLACE = re.compile(r"([A-Z]*)\d*")
Element = Callable[[str, Mapping[str, str]], None]


@dataclass(frozen=True, kw_only=True)
class FileColumns:
    """The columns of a file, the orders of its ordinal columns, and remarks on their conversion."""

    columns: dict[str, list[Any]]
    orders: dict[str, tuple[str, ...]]
    notes: tuple[Remark, ...]
    error_cells: dict[str, int] = field(default_factory=dict)  # of Excel; they count as missing
    # Of columns with value labels: the texts whose labels coincide if they are spelt alike.
    same_labels: dict[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    other_sheets: int = 0  # of Excel, which are not read and hold something


def kind(start: bytes, path: Path) -> str | None:
    """The format of a file that begins with `start`; `path` is for a look into a zip file."""
    for kind, begins in BEGINNINGS.items():
        if begins.match(start):
            return kind
    if start.startswith(b"PK\3\4"):
        with suppress(Exception), zipfile.ZipFile(path) as archive:  # if wrong: not a workbook
            return "xlsx" if "xl/workbook.xml" in archive.namelist() else None
    return None


def read_columns(
    path: Path, kind: str, sheet: str | None = None, *, most: int = MOST, cells: int = CELLS
) -> FileColumns:
    """Read the columns of a file of this `kind`; the values of each have one type or are None.

    A file is refused if it unpacks to more than `most` bytes and 100 times its size, or if it makes
    a reader take memory for more than `cells` values.
    """
    require(sheet is None or kind == "xlsx", f"{path.name}: {NAMES[kind]} has no sheets")
    name = "python_calamine" if kind == "xlsx" else "pyreadstat"
    package = optional_package(name, f"{NAMES[kind]} needs")
    try:
        if kind == "xlsx":
            return _sheet(path, package, sheet, most, cells)
        return _records(path, kind, package, cells)
    except (SievertError, MemoryError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # a panic in Rust is no Exception; the messages may hold values
        raise InputError(f"{path.name}: damaged, or not readable as {NAMES[kind]}") from None


def _records(path: Path, kind: str, package: Any, most_cells: int) -> FileColumns:
    reader = getattr(package, f"read_{kind}")
    tally = Counter[str]()
    orders = {}
    how = {"output_format": "dict", "user_missing": True, "disable_datetime_conversion": True}
    _, about = reader(path.absolute(), metadataonly=True, **how)
    rows = 0 if about.number_rows is None else about.number_rows
    cells = rows * len(about.column_names)
    require(
        cells
        <= max(most_cells, 10 * RATIO * path.stat().st_size),  # zsav: less than a byte per value
        f"{path.name}: announces {cells:,} values, too many for its size",
        error=RefusedError,
    )
    raw, about = reader(path.absolute(), **how)
    require(
        len(raw) == len(about.column_names),
        f"{path.name}: two columns have the same name",
        hint="rename one of them",
        error=InputError,
    )
    columns: dict[str, list[Any]] = {}
    same_labels: dict[str, tuple[tuple[str, ...], ...]] = {}
    for name in about.column_names:
        text = about.readstat_variable_types[name] in ("string", "string_ref")
        codes = about.variable_value_labels.get(name, {})
        ranges = about.missing_ranges.get(name, ())
        kept = {v: _clean_value(v, kind, text, ranges) for v in {*raw[name], *codes}}
        tally.update(kept[v][1] for v in raw[name])
        values = [kept[v][0] for v in raw.pop(name)]
        labels = {kept[c][0]: s.strip() for c, s in codes.items() if s.strip()}
        labels.pop(None, None)  # with labels only for missing codes, numbers stay numbers
        if labels:
            tally["value_labels"] += 1
            columns[name], order, same = _apply_labels(values, labels)
            if same:
                same_labels[name] = same
            if about.variable_measure.get(name) == "ordinal":
                orders[name] = order
        else:
            display = about.original_variable_types[name]
            if not text:
                values = _convert_dates(values, kind, display if display else "", tally)
            columns[name] = values
    return FileColumns(columns=columns, orders=orders, notes=_notes(tally), same_labels=same_labels)


def _clean_value(value: Any, kind: str, text: bool, ranges: Iterable[Any]) -> tuple[Any, str]:
    """Return a value without what its format adds, None if it is missing, and what to report.

    That is the key of a remark, or nothing.
    """
    if value is None or value != value:
        return None, "system_missing"
    plain = value if kind == "dta" else _bare(value)  # Stata fills with NUL: a blank is data
    tagged = isinstance(value, str) and not text  # .a to .z among numbers
    if tagged or any(_bare(r["lo"]) <= plain <= _bare(r["hi"]) for r in ranges):
        return None, "user_missing"
    if plain == "" and kind != "dta":
        return None, "blank_texts"
    return plain, "" if plain == value else "trailing_blanks"


def _bare(value: Any) -> Any:
    """Remove the blanks that fill a text field of fixed width."""
    return value.rstrip(" ") if isinstance(value, str) else value


def _apply_labels(
    values: list[Any], labels: Mapping[Any, str]
) -> tuple[list[Any], tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Replace codes by labels that differ for all codes; also return all texts in code order.

    The third value has groups of texts that occur and whose labels coincide if they are spelt
    alike: a text that got its code beside the label does not show that.
    """
    codes = sorted({*values, *labels} - {None})
    own = {c: _spell(c) for c in codes}
    short = {c: labels.get(c, own[c]) for c in codes}
    long = {c: f"{short[c]} ({own[c]})" for c in codes}
    times = Counter(short.values())
    mixed = {c: short[c] if times[short[c]] == 1 else long[c] for c in codes}
    texts = next(t for t in (mixed, long, own) if len(set(t.values())) == len(codes))
    occurring = {*values}
    alike: dict[str, list[str]] = {}
    for code in codes:
        if code in occurring:
            alike.setdefault(canonical_text(short[code]), []).append(texts[code])
    same = tuple(tuple(group) for group in alike.values() if len(group) > 1)
    return [None if v is None else texts[v] for v in values], tuple(texts.values()), same


def _convert_dates(values: list[Any], kind: str, display: str, tally: Counter[str]) -> list[Any]:
    """Convert numbers to dates if the display format says so and every number is a date."""
    origin = datetime(1582, 10, 14) if kind == "sav" else datetime(1960, 1, 1)
    for unit, day in ((u, d) for pattern, u, d in DATES[kind] if re.match(pattern, display)):
        try:
            moments = [None if v is None else origin + timedelta(**{unit: v}) for v in values]
        except (OverflowError, ValueError):
            tally["dates_out_of_range"] += 1
            break
        # A hidden time of day tells records apart, so it stays.
        midnights = all(v is None or v.time() == time() for v in moments)
        return [v and v.date() for v in moments] if day and midnights else moments
    return _numbers(values)


def _numbers(values: list[Any]) -> list[Any]:
    """Convert to integers if all are whole (SPSS and Excel have only floats), else to floats."""
    whole = all(v is None or (float(v).is_integer() and abs(v) <= EXACT) for v in values)
    convert: Callable[[Any], Any] = int if whole else float
    return [None if v is None else convert(v) for v in values]


def _spell(value: Any) -> str:
    """Write a value as text: 5 and not 5.0, true, 2020-01-31, 2020-01-31 12:00:00."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer() and abs(value) <= EXACT:
        return str(int(value))
    return str(value)


def _notes(tally: Counter[str]) -> tuple[Remark, ...]:
    """Say how many values, columns and rows were changed, by the key of a remark."""
    notes = []
    for key, number in tally.items():
        if not key or not number:
            continue
        if key == "empty_rows":
            notes.append(Remark(key, rows=plural(number, "row")))
        elif key in ("value_labels", "dates_out_of_range", "several_types"):
            notes.append(Remark(key, columns=plural(number, "column")))
        else:
            notes.append(Remark(key, values=plural(number, "value")))
    return tuple(sorted(notes))


def _sheet(path: Path, package: Any, wanted: str | None, most: int, most_cells: int) -> FileColumns:
    _check_zip(path, most, most_cells)
    with path.open("rb") as file:  # of a path, calamine would believe the extension
        book = package.load_workbook(file)
        names = [s.name for s in book.sheets_metadata if s.typ == package.SheetTypeEnum.WorkSheet]
        require(
            wanted is None or wanted in names,
            f"{path.name}: sheet {wanted!r} does not exist",
            hint=f"one of {', '.join(map(repr, names))}",
        )
        read = names[0] if wanted is None else wanted
        sheet = book.get_sheet_by_name(read)
        rows = sheet.to_python()
        others = [s for s in book.sheets_metadata if s.name != read]
        filled = sum(s.name not in names or _holds_something(book, s.name) for s in others)
    header = [_spell(cell) for cell in rows[0]] if rows else []
    unnamed = header.index("") + 1 if "" in header else None
    require(unnamed is None, f"{path.name}: column {unnamed} has no name", error=InputError)
    require(
        len(set(header)) == len(header),
        f"{path.name}: two columns have the same name",
        hint="rename one of them",
        error=InputError,
    )
    tally = Counter[str]()
    tally["empty_rows"] = sum(set(row) == {""} for row in rows[1:])
    columns = {n: _cells([r[i] for r in rows[1:]], tally) for i, n in enumerate(header)}
    start = (0, 0) if sheet.start is None else sheet.start
    numbers = count_error_cells(path, sheet.name, start)
    errors = {header[i]: n for i, n in numbers.items() if 0 <= i < len(header)}
    which = (Remark("sheet_read", sheet=repr(names[0]), number=figure(len(names))),)
    notes = (which if wanted is None and names[1:] else ()) + _notes(tally)
    return FileColumns(
        columns=columns, orders={}, notes=notes, error_cells=errors, other_sheets=filled
    )


def _holds_something(book: Any, sheet: str) -> bool:
    """Whether a sheet has a cell with a value; of one that cannot be read that is not known."""
    try:
        rows = book.get_sheet_by_name(sheet).to_python()
    except Exception:
        return True
    return any(cell != "" for row in rows for cell in row)


def _cells(cells: list[Any], tally: Counter[str]) -> list[Any]:
    """Convert the cells of a column to one type; to text where they have none in common."""
    values = [None if cell == "" else cell for cell in cells]
    types = {type(v) for v in values if v is not None}
    if types <= {int, float}:
        return _numbers(values)
    if types == {date, datetime}:  # calamine gives midnight as a date
        return [datetime(v.year, v.month, v.day) if type(v) is date else v for v in values]
    if len(types) == 1 and types <= {str, bool, date, datetime}:
        return values
    if len(types) > 1:
        tally["several_types"] += 1
    return [None if v is None else _spell(v) for v in values]


def _check_zip(path: Path, most: int, most_cells: int) -> None:
    """Refuse a bomb or a damaged file: by sizes, checksums, and cells far out in an empty sheet."""
    size = path.stat().st_size
    with zipfile.ZipFile(path) as archive:
        entries = archive.infolist()
        require(
            sum(e.file_size for e in entries) <= max(RATIO * size, most),
            f"{path.name}: unpacks to more than {RATIO} times its size",
            error=RefusedError,
        )
        if sum(e.compress_size for e in entries) > size:  # entries that overlap
            raise zipfile.BadZipFile
        for entry in entries:
            area, strings = _announced_sizes(archive, entry)
            require(
                area <= most_cells,
                f"{path.name}: a sheet of mostly empty cells is too large",
                error=RefusedError,
            )
            require(
                strings <= max(STRINGS, entry.file_size),
                f"{path.name}: announces {strings:,} texts, too many for its size",
                error=RefusedError,
            )


def _announced_sizes(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> tuple[int, int]:
    """The number of cells that a reader would make room for, and of texts that are announced.

    The number of cells is 0 unless it is more than 100 times the number of cells in the sheet.
    """
    width = b""
    height = 0
    number = 0
    strings = 0
    rest = b""
    with archive.open(entry) as file:  # read to its end, so its checksum is compared
        while block := file.read(1 << 20):
            text = BLANKS.sub(b" ", rest + block)
            cells = CELL.findall(text)
            rest = text[-256:]
            number += len(cells)
            width = max({width, *(c.upper() for c, _ in cells)}, key=lambda c: (len(c), c))
            height = max({height, *(int(r) for _, r in cells)})
            strings = max([strings, *map(int, ANNOUNCED.findall(text))])
    area = height * sum((c - 64) * 26**i for i, c in enumerate(reversed(width)))
    return area if area > RATIO * number else 0, strings


# -- the error cells of a sheet of Excel (#N/A, #DIV/0!), which a reader returns as empty ----------


def count_error_cells(path: Path, sheet: str, start: tuple[int, int]) -> Counter[int]:
    """Count the error cells of each column, numbered from 0, below the first row.

    `start` is the first row and the first column of the used part of the sheet, from 0.
    """
    counts = Counter[int]()
    row = -1
    column = -1
    error = False

    def element(name: str, attributes: Mapping[str, str]) -> None:
        nonlocal row, column, error
        place = attributes.get("r", "")
        if name == "row":
            row = int(place) - 1 if place else row + 1
            column = -1
        elif name == "c":
            letters = PLACE.match(place)
            column = _number(letters[1]) if letters and letters[1] else column + 1
            error = attributes.get("t") == "e"
        elif name == "v" and error and row > start[0]:
            counts[column - start[1]] += 1

    with zipfile.ZipFile(path) as archive:
        entry = _entry(archive, sheet)
        if entry is not None and _has_errors(archive, entry):
            _parse(archive, entry, element)
    return counts


def _number(letters: str) -> int:
    """The number of a column, from 0: A, ..., Z, AA, ..."""
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - 64
    return number - 1


def _has_errors(archive: zipfile.ZipFile, entry: str) -> bool:
    rest = b""
    with archive.open(entry) as file:
        while block := file.read(BLOCK):
            if ERROR.search(rest + block):
                return True
            rest = block[-ROOM:]
    return False


def _entry(archive: zipfile.ZipFile, sheet: str) -> str | None:
    """Return the name of the file of a sheet inside the workbook; None if it is missing."""
    ids = dict[str, str]()
    targets = dict[str, str]()

    def read_sheet(name: str, attributes: Mapping[str, str]) -> None:
        if name == "sheet":
            own = (v for k, v in attributes.items() if k.rpartition(":")[2] == "id")
            ids[attributes.get("name", "")] = next(own, "")

    def read_relationship(name: str, attributes: Mapping[str, str]) -> None:
        if name == "Relationship":
            targets[attributes.get("Id", "")] = attributes.get("Target", "")

    _parse(archive, "xl/workbook.xml", read_sheet)
    _parse(archive, "xl/_rels/workbook.xml.rels", read_relationship)
    target = targets.get(ids.get(sheet, ""), "")
    entry = target.lstrip("/") if target.startswith("/") else str(PurePosixPath("xl", target))
    return entry if target and entry in archive.namelist() else None


def _parse(archive: zipfile.ZipFile, entry: str, element: Element) -> None:
    """Call a function for every element of an XML file, with its name and attributes."""
    from xml.parsers import expat  # for workbooks only

    if entry not in archive.namelist():
        return
    parser = expat.ParserCreate()
    parser.StartElementHandler = lambda name, attributes: element(
        name.rpartition(":")[2], attributes
    )
    parser.EntityDeclHandler = _refuse_entities
    with archive.open(entry) as file:
        parser.ParseFile(file)


def _refuse_entities(*_: object) -> None:
    raise zipfile.BadZipFile  # workbooks declare none; they could grow without end
