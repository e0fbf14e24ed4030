"""The error cells of a sheet of Excel (#N/A, #DIV/0!), which a reader gives as empty, by column."""

import re
import zipfile
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath
from xml.parsers import expat

BLOCK = 1 << 20
ERROR = re.compile(rb"""\st\s*=\s*["']e["']""")  # the type of a cell
ROOM = 32  # bytes of it at the end of a block
PLACE = re.compile(r"([A-Z]*)\d*")
Element = Callable[[str, Mapping[str, str]], None]


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
    if entry not in archive.namelist():
        return
    parser = expat.ParserCreate()
    parser.StartElementHandler = lambda name, found: element(name.rpartition(":")[2], found)
    parser.EntityDeclHandler = _refuse_entities
    with archive.open(entry) as file:
        parser.ParseFile(file)


def _refuse_entities(*_: object) -> None:
    raise zipfile.BadZipFile  # workbooks declare none; they could grow without end
