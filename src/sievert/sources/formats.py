"""What statistical offices have (SPSS, Stata, SAS and Excel files) as plain columns.

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


@dataclass(frozen=True)
class FileColumns:
    """The columns of a file, the order of the ordinal ones, and what was done on the way."""

    columns: dict[str, list[Any]]
    orders: dict[str, tuple[str, ...]]
    notes: tuple[Remark, ...]
    error_cells: dict[str, int] = field(default_factory=dict)  # of Excel, which are missing


def kind(start: bytes, path: Path) -> str | None:
    """What a file that begins like this is, by its content; `path` to look into a zip file."""
    for kind, begins in BEGINNINGS.items():
        if begins.match(start):
            return kind
    if start.startswith(b"PK\3\4"):
        with suppress(Exception), zipfile.ZipFile(path) as archive:  # if wrong: not a workbook
            return "xlsx" if "xl/workbook.xml" in archive.namelist() else None
    return None


def read_columns(path: Path, kind: str, sheet: str | None = None) -> FileColumns:
    """The columns of a file of this kind, each of one type or None."""
    require(sheet is None or kind == "xlsx", f"{path.name}: {NAMES[kind]} has no sheets")
    name = "python_calamine" if kind == "xlsx" else "pyreadstat"
    package = optional_package(name, f"{NAMES[kind]} needs")
    try:
        return _sheet(path, package, sheet) if kind == "xlsx" else _records(path, kind, package)
    except (SievertError, MemoryError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # a panic in Rust is no Exception; the messages may hold values
        raise InputError(f"{path.name}: damaged, or not readable as {NAMES[kind]}") from None


def _records(path: Path, kind: str, package: Any) -> FileColumns:
    reader, tally, orders = getattr(package, f"read_{kind}"), Counter[str](), {}
    how = {"output_format": "dict", "user_missing": True, "disable_datetime_conversion": True}
    _, about = reader(path.absolute(), metadataonly=True, **how)
    cells = (about.number_rows or 0) * len(about.column_names)
    require(
        cells <= max(CELLS, 10 * RATIO * path.stat().st_size),  # zsav: less than a byte per value
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
    for name in about.column_names:
        text = about.readstat_variable_types[name] in ("string", "string_ref")
        codes, ranges = about.variable_value_labels.get(name, {}), about.missing_ranges.get(name)
        kept = {v: _clean_value(v, kind, text, ranges or ()) for v in {*raw[name], *codes}}
        tally.update(kept[v][1] for v in raw[name])
        values = [kept[v][0] for v in raw.pop(name)]
        labels = {kept[c][0]: s.strip() for c, s in codes.items() if s.strip()}
        labels.pop(None, None)  # with labels only for missing codes, numbers stay numbers
        if labels:
            tally["value_labels"] += 1
            columns[name], order = _apply_labels(values, labels)
            if about.variable_measure.get(name) == "ordinal":
                orders[name] = order
        else:
            display = about.original_variable_types[name] or ""
            columns[name] = values if text else _convert_dates(values, kind, display, tally)
    return FileColumns(columns, orders, _notes(tally))


def _clean_value(value: Any, kind: str, text: bool, ranges: Iterable[Any]) -> tuple[Any, str]:
    """A value as it is kept, None if it stands for none, and what to say of it: a key, or none."""
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
    """Text without the blanks that fill a field of fixed width."""
    return value.rstrip(" ") if isinstance(value, str) else value


def _apply_labels(
    values: list[Any], labels: Mapping[Any, str]
) -> tuple[list[Any], tuple[str, ...]]:
    """Labels in place of codes, two codes never one text; and all texts in the order of codes."""
    codes = sorted({*values, *labels} - {None})
    own = {c: _spell(c) for c in codes}
    short = {c: labels.get(c, own[c]) for c in codes}
    long = {c: f"{short[c]} ({own[c]})" for c in codes}
    times = Counter(short.values())
    mixed = {c: short[c] if times[short[c]] == 1 else long[c] for c in codes}
    texts = next(t for t in (mixed, long, own) if len(set(t.values())) == len(codes))
    return [None if v is None else texts[v] for v in values], tuple(texts.values())


def _convert_dates(values: list[Any], kind: str, display: str, tally: Counter[str]) -> list[Any]:
    """Numbers, or the dates they stand for if every one of them is a date."""
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
    """Integers where all are whole (SPSS and Excel have no integers), else floats."""
    whole = all(v is None or (float(v).is_integer() and abs(v) <= EXACT) for v in values)
    return [None if v is None else int(v) if whole else float(v) for v in values]


def _spell(value: Any) -> str:
    """A value as text: 5 and not 5.0, true, 2020-01-31, 2020-01-31 12:00:00."""
    whole = isinstance(value, float) and value.is_integer() and abs(value) <= EXACT
    return str(value).lower() if isinstance(value, bool) else str(int(value) if whole else value)


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


def _sheet(path: Path, package: Any, wanted: str | None) -> FileColumns:
    _check_zip(path)
    with path.open("rb") as file:  # of a path, calamine would believe the extension
        book = package.load_workbook(file)
        names = [s.name for s in book.sheets_metadata if s.typ == package.SheetTypeEnum.WorkSheet]
        require(
            wanted is None or wanted in names,
            f"{path.name}: sheet {wanted!r} does not exist",
            hint=f"one of {', '.join(map(repr, names))}",
        )
        sheet = book.get_sheet_by_name(names[0] if wanted is None else wanted)
        rows = sheet.to_python()
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
    numbers = count_error_cells(path, sheet.name, sheet.start or (0, 0))
    errors = {header[i]: n for i, n in numbers.items() if 0 <= i < len(header)}
    which = (Remark("sheet_read", sheet=repr(names[0]), number=figure(len(names))),)
    notes = (which if wanted is None and names[1:] else ()) + _notes(tally)
    return FileColumns(columns, {}, notes, errors)


def _cells(cells: list[Any], tally: Counter[str]) -> list[Any]:
    """The cells of a column brought to one type; text where they have none in common."""
    values = [None if cell == "" else cell for cell in cells]
    types = {type(v) for v in values if v is not None}
    if types <= {int, float}:
        return _numbers(values)
    if types == {date, datetime}:  # calamine gives midnight as a date
        return [datetime(v.year, v.month, v.day) if type(v) is date else v for v in values]
    if len(types) == 1 and types <= {str, bool, date, datetime}:
        return values
    tally["several_types"] += len(types) > 1
    return [None if v is None else _spell(v) for v in values]


def _check_zip(path: Path) -> None:
    """Neither a bomb nor damaged: sizes, checksums, and no cell far out in an empty sheet."""
    size = path.stat().st_size
    with zipfile.ZipFile(path) as archive:
        entries = archive.infolist()
        require(
            sum(e.file_size for e in entries) <= max(RATIO * size, MOST),
            f"{path.name}: unpacks to more than {RATIO} times its size",
            error=RefusedError,
        )
        if sum(e.compress_size for e in entries) > size:  # entries that overlap
            raise zipfile.BadZipFile
        for entry in entries:
            area, strings = _announced_sizes(archive, entry)
            require(
                area <= CELLS,
                f"{path.name}: a sheet of mostly empty cells is too large",
                error=RefusedError,
            )
            require(
                strings <= max(STRINGS, entry.file_size),
                f"{path.name}: announces {strings:,} texts, too many for its size",
                error=RefusedError,
            )


def _announced_sizes(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> tuple[int, int]:
    """The cells a reader would make room for, if beyond 100 times those there are; and texts."""
    width, height, number, strings, rest = b"", 0, 0, 0, b""
    with archive.open(entry) as file:  # read to its end, so its checksum is compared
        while block := file.read(1 << 20):
            text = BLANKS.sub(b" ", rest + block)
            cells = CELL.findall(text)
            rest, number = text[-256:], number + len(cells)
            width = max({width, *(c.upper() for c, _ in cells)}, key=lambda c: (len(c), c))
            height = max({height, *(int(r) for _, r in cells)})
            strings = max([strings, *map(int, ANNOUNCED.findall(text))])
    area = height * sum((c - 64) * 26**i for i, c in enumerate(reversed(width)))
    return area if area > RATIO * number else 0, strings


# -- the error cells of a sheet of Excel (#N/A, #DIV/0!), which a reader gives as empty ------------


def count_error_cells(path: Path, sheet: str, start: tuple[int, int]) -> Counter[int]:
    """How many cells of each column, from 0, are errors, below the first row.

    The used part of the sheet starts at a row and a column, from 0.
    """
    counts = Counter[int]()
    row = column = -1
    error = False

    def element(name: str, attributes: Mapping[str, str]) -> None:
        nonlocal row, column, error
        place = attributes.get("r", "")
        if name == "row":
            row, column = (int(place) - 1 if place else row + 1), -1
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
    """The file of a sheet inside the workbook; None where it is not where it should be."""
    ids, targets = dict[str, str](), dict[str, str]()

    def named(name: str, attributes: Mapping[str, str]) -> None:
        if name == "sheet":
            own = (v for k, v in attributes.items() if k.rpartition(":")[2] == "id")
            ids[attributes.get("name", "")] = next(own, "")

    def related(name: str, attributes: Mapping[str, str]) -> None:
        if name == "Relationship":
            targets[attributes.get("Id", "")] = attributes.get("Target", "")

    _parse(archive, "xl/workbook.xml", named)
    _parse(archive, "xl/_rels/workbook.xml.rels", related)
    target = targets.get(ids.get(sheet, ""), "")
    entry = target.lstrip("/") if target.startswith("/") else str(PurePosixPath("xl", target))
    return entry if target and entry in archive.namelist() else None


def _parse(archive: zipfile.ZipFile, entry: str, element: Element) -> None:
    """Call a function for every element of an XML file, with its name and attributes."""
    from xml.parsers import expat  # for workbooks only

    if entry not in archive.namelist():
        return
    parser = expat.ParserCreate()
    parser.StartElementHandler = lambda name, found: element(name.rpartition(":")[2], found)
    parser.EntityDeclHandler = _refuse_entities
    with archive.open(entry) as file:
        parser.ParseFile(file)


def _refuse_entities(*_: object) -> None:
    raise zipfile.BadZipFile  # workbooks declare none; they could grow without end
