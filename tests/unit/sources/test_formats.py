"""SPSS, Stata, SAS and Excel files become plain columns that mean what the file says."""

from __future__ import annotations

import importlib
import zipfile
from collections import Counter
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest
from helpers.workbooks import MAIN, xlsx
from helpers.workbooks import number_cell as number
from helpers.workbooks import text_cell as text

import sievert
from sievert.counts.duckdb.reading import _common_type
from sievert.errors import InputError, RefusedError, UsageError
from sievert.sources import formats

pyreadstat = pytest.importorskip("pyreadstat")
pytest.importorskip("python_calamine")
pandas = pytest.importorskip("pandas")  # what pyreadstat writes from
CANARY = "q7Zcanary"


def read(path: Path, sheet: str | None = None) -> formats.FileColumns:
    kind = formats.kind(path.read_bytes()[:64], path)
    assert kind is not None
    found = formats.read_columns(path, kind, sheet)
    for name, values in found.columns.items():
        _common_type(name, values)  # one type a column
        assert len({type(v) for v in values} - {type(None)}) <= 1, name
    return found


def sav(path: Path, columns: dict[str, list[Any]], **how: Any) -> Path:
    pyreadstat.write_sav(pandas.DataFrame(columns), path, **how)
    return path


def dta(path: Path, columns: dict[str, list[Any]], **how: Any) -> Path:
    pyreadstat.write_dta(pandas.DataFrame(columns), path, **how)
    return path


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        (b"$FL2@(#) SPSS", "sav"),
        (b"$FL3@(#) SPSS", "sav"),
        (b"<stata_dta><header>", "dta"),
        (b"\x73\x02\x01\x00\x05", "dta"),
        (b"\x6c\x01\x01\x00\x05", "dta"),
        (formats.SAS + bytes(32), "sas7bdat"),
        (b"sex,age\n", None),
        (b"p;q;r\n", None),
        (b"s", None),
        (b"", None),
        (b"PK\x03\x04 not a zip", None),
    ],
)
def test_kind_is_found_by_content(start: bytes, expected: str | None, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(start)
    assert formats.kind(start, path) == expected


def test_a_zip_without_a_workbook_is_none_of_ours(tmp_path: Path) -> None:
    path = tmp_path / "table.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("table.csv", "a\n1\n")
    assert formats.kind(path.read_bytes()[:64], path) is None


@pytest.mark.parametrize("how", [{}, {"compress": True}, {"row_compress": True}])
def test_spss_means_what_it_says(tmp_path: Path, how: dict[str, bool]) -> None:
    path = sav(
        tmp_path / "t.sav",
        {
            "school": [2.0, 1.0, 3.0, 9.0, None, 95.0],
            "income": [10.0, 20.5, -1.0, 3.0, 4.0, 5.0],
            "town": ["b", "N/A", "", "a", "c", "d"],
            "born": [date(1950, 1, 2), None, date(1900, 3, 1)] * 2,
            "seen": [datetime(2020, 1, 2, 3, 4, 5), None, datetime(2020, 1, 2)] * 2,
            "age": [30.0, None, 50.0, 1.0, 2.0, 3.0],
        },
        variable_value_labels={
            "school": {1: "low", 2: "high", 4: "none seen", 9: "refused"},
            "income": {-1: "refused"},
        },
        missing_ranges={
            "school": [9, {"lo": 90, "hi": 99}],
            "income": [-1],
            "town": ["N/A"],
        },
        variable_measure={"school": "ordinal"},
        **how,
    )
    found = read(path)
    assert found.columns == {
        "school": ["high", "low", "3", None, None, None],
        "income": [10.0, 20.5, None, 3.0, 4.0, 5.0],
        "town": ["b", None, None, "a", "c", "d"],
        "born": [date(1950, 1, 2), None, date(1900, 3, 1)] * 2,
        "seen": [datetime(2020, 1, 2, 3, 4, 5), None, datetime(2020, 1, 2)] * 2,
        "age": [30, None, 50, 1, 2, 3],
    }
    assert all(type(v) is int for v in found.columns["age"] if v is not None)
    assert found.orders == {"school": ("low", "high", "3", "none seen")}
    assert found.notes == (
        "blank texts read as missing: 1 value",
        "system-missing values read as missing: 6 values",
        "user-defined missing codes read as missing: 4 values",
        "value labels used for 1 column",
    )


def test_open_ended_missing_ranges(tmp_path: Path) -> None:
    path = sav(
        tmp_path / "t.sav",
        {"a": [-1e300, -1.0, 0.0, 7.0]},
        missing_ranges={"a": [{"lo": float("-inf"), "hi": -1}]},
    )
    assert read(path).columns == {"a": [None, None, 0, 7]}


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ({1: "x", 2: "x", 3: "y"}, ["x (1)", "x (2)", "y", "5"]),
        ({1: "5", 2: "b", 3: "c"}, ["5 (1)", "b", "c", "5 (5)"]),
        ({1: "x", 2: "x", 3: "x (1)"}, ["x (1)", "x (2)", "x (1) (3)", "5 (5)"]),
        ({1: " a ", 2: " ", 3: "c"}, ["a", "2", "c", "5"]),
    ],
)
def test_two_codes_never_become_one_text(
    tmp_path: Path, labels: dict[int, str], expected: list[str]
) -> None:
    path = sav(tmp_path / "t.sav", {"a": [1.0, 2.0, 3.0, 5.0]}, variable_value_labels={"a": labels})
    assert read(path).columns == {"a": expected}


def test_labels_of_text(tmp_path: Path) -> None:
    path = sav(
        tmp_path / "t.sav", {"a": ["m", "f", "x"]}, variable_value_labels={"a": {"m": "man"}}
    )
    assert read(path).columns == {"a": ["man", "f", "x"]}


def test_hidden_parts_of_dates_are_not_lost(tmp_path: Path) -> None:
    day = 86400.0
    columns = {"a": [day, day + 60], "b": [day, 1e300], "t": [3600.0, 3600.0 + day]}
    shown = {"a": "DATE11", "b": "DATE11", "t": "TIME8"}
    found = read(sav(tmp_path / "t.sav", columns, variable_format=shown))
    assert found.columns == {
        "a": [datetime(1582, 10, 15), datetime(1582, 10, 15, 0, 1)],
        "b": [day, 1e300],
        "t": [3600, 90000],
    }
    assert found.notes == ("dates out of range, read as numbers: 1 column",)


@pytest.mark.parametrize("version", [12, 15])
def test_stata_means_what_it_says(tmp_path: Path, version: int) -> None:
    path = dta(
        tmp_path / "t.dta",
        {
            "sex": [1, 2, "a", None],
            "name": ["ab", "", "c  ", "d"],
            "born": [date(1950, 1, 2), None, date(1900, 3, 1), date(1960, 1, 1)],
            "seen": [datetime(2020, 1, 2, 3, 4, 5), None, datetime(1959, 1, 2), None],
            "x": [1.5, 2.0, 3.0, float("nan")],
        },
        variable_value_labels={"sex": {1: "m", 2: "f", "a": "refused"}},
        missing_user_values={"sex": ["a"]},
        version=version,
    )
    found = read(path)
    assert found.columns == {
        "sex": ["m", "f", None, None],
        "name": ["ab", "", "c  ", "d"],  # blanks are data: Stata fills with NUL
        "born": [date(1950, 1, 2), None, date(1900, 3, 1), date(1960, 1, 1)],
        "seen": [datetime(2020, 1, 2, 3, 4, 5), None, datetime(1959, 1, 2), None],
        "x": [1.5, 2.0, 3.0, None],
    }
    assert found.orders == {}
    assert found.notes == (
        "system-missing values read as missing: 5 values",
        "user-defined missing codes read as missing: 1 value",
        "value labels used for 1 column",
    )


def test_sheet_means_what_it_says(tmp_path: Path) -> None:
    header = "".join(map(text, ["n", "x", "t", "d", "s", "b", "mix", "c"])) + number(2020)
    path = xlsx(
        tmp_path / "named.csv",  # the extension does not count
        One=[
            header,
            number(1)
            + number(1)
            + text("a ")
            + number(44000, 1)
            + number(44000.5, 2)
            + '<c t="b"><v>1</v></c>'
            + number(5)
            + number(0.5, 3)
            + number(1),
            '<row r="4">' + number(2) + number(1.5) + text("b") + number(44001, 1)
            # midnight, and an error
            + number(44001, 2) + '<c t="e"><v>#N/A</v></c>' + text("x") + "</row>",
        ],
    )  # fmt: skip
    found = read(path)
    assert found.columns == {
        "n": [1, None, 2],
        "x": [1.0, None, 1.5],
        "t": ["a ", None, "b"],
        "d": [date(2020, 6, 18), None, date(2020, 6, 19)],
        "s": [datetime(2020, 6, 18, 12), None, datetime(2020, 6, 19)],
        "b": [True, None, None],
        "mix": ["5", None, "x"],
        "c": ["12:00:00", None, None],
        "2020": [1, None, None],
    }
    assert found.notes == (
        "empty rows, read as records: 1 row",
        "values of several types, read as text: 1 column",
    )
    assert found.error_cells == {"b": 1}


def test_error_cells_are_told_apart_from_empty_ones(tmp_path: Path) -> None:
    error = '<c{} t="e"><v>#DIV/0!</v></c>'
    path = xlsx(
        tmp_path / "t.xlsx",
        One=[text("z"), number(1)],
        Two=[
            '<row r="3"><c r="C3" t="inlineStr"><is><t>a</t></is></c>' + text("b") + "</row>",
            '<row r="4">' + error.format(' r="C4"') + error.format("") + "</row>",
            '<row r="5"><c r="C5"><v>1</v></c>' + error.format(' r="D5"') + "</row>",
            '<row r="7"><c r="C7"><v>1</v></c></row>',  # an empty row before it
        ],
    )
    assert read(path, "One").error_cells == {}
    assert read(path, "Two").error_cells == {"a": 1, "b": 2}
    found = sievert.assess(f"{path}?sheet=Two", ["a", "b"])
    assert found.table["missing_values"] == {
        "a": {"missing": 1, "empty_text": 0, "looks_missing": 0, "na_codes": 0, "error_cells": 1},
        "b": {"missing": 2, "empty_text": 0, "looks_missing": 0, "na_codes": 0, "error_cells": 2},
    }


def test_sheets_are_named(tmp_path: Path) -> None:
    path = xlsx(tmp_path / "t.xlsx", One=[text("a"), number(1)], Two=[text("b"), number(2)])
    assert read(path).columns == {"a": [1]}
    assert read(path).notes == ("sheet 'One' read, the first of 2",)
    assert read(path, "Two") == formats.FileColumns(
        columns={"b": [2]}, orders={}, notes=(), other_sheets=1
    )
    with pytest.raises(UsageError, match=r"'Three' does not exist. Try: one of 'One', 'Two'"):
        read(path, "Three")
    with pytest.raises(UsageError, match="has no sheets"):
        read(sav(tmp_path / "t.sav", {"a": [1.0]}), "One")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([text("a") + "<c/>" + text("c"), number(1)], "t.xlsx: column 2 has no name"),
        ([text("a"), number(1) + number(2)], "t.xlsx: column 2 has no name"),
        ([text("a") + text("a"), number(1)], "t.xlsx: two columns have the same name"),
    ],
)
def test_headers_of_sheets(tmp_path: Path, rows: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(xlsx(tmp_path / "t.xlsx", One=rows))


def test_sheets_with_no_records(tmp_path: Path) -> None:
    assert read(xlsx(tmp_path / "t.xlsx", One=[text("a")])).columns == {"a": []}
    assert read(xlsx(tmp_path / "t.xlsx", One=[])).columns == {}


FAR = ('r="XFD1048576"', "r='XFD1048576'", 'r = "XFD1048576"', "r\n=\t'xfd0001048576'")


@pytest.mark.parametrize("place", FAR)
def test_far_cells_however_they_are_spelt(place: str, tmp_path: Path) -> None:
    far = ["<row r='1'><c r='A1'><v>1</v></c></row>", f"<row><c {place}><v>1</v></c></row>"]
    with pytest.raises(RefusedError, match="mostly empty cells"):
        read(xlsx(tmp_path / "far.xlsx", One=far))


@pytest.mark.parametrize("many", ['uniqueCount="4000000000"', "uniqueCount =\n'4000000000'"])
def test_a_workbook_that_announces_too_many_texts(many: str, tmp_path: Path) -> None:
    path = xlsx(tmp_path / "texts.xlsx", One=[text("a"), number(1)])
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("xl/sharedStrings.xml", f'<sst xmlns="{MAIN}" {many}/>')
    with pytest.raises(RefusedError, match="announces 4,000,000,000 texts, too many for its size"):
        read(path)


def test_bombs_are_refused(tmp_path: Path) -> None:
    bomb = xlsx(tmp_path / "bomb.xlsx", One=[text("a"), text("a" * (1 << 24))])
    with pytest.raises(RefusedError, match="unpacks to more than 100 times its size"):
        formats.read_columns(bomb, "xlsx", most=1 << 20)
    path = sav(tmp_path / "t.sav", {"a": [1.0]})
    raw = path.read_bytes()
    path.write_bytes(raw[:80] + (1 << 28).to_bytes(4, "little") + raw[84:])  # number of cases
    with pytest.raises(RefusedError, match="too many for its size"):
        formats.read_columns(path, "sav", cells=10)


@pytest.mark.parametrize("suffix", ["sav", "dta", "xlsx"])
@pytest.mark.parametrize("share", [0.5, 0.9])
def test_damaged_files_say_so_and_no_value(tmp_path: Path, suffix: str, share: float) -> None:
    path = tmp_path / f"t.{suffix}"
    values = [f"{CANARY}{i}" for i in range(500)]
    if suffix == "xlsx":
        xlsx(path, One=[text("a"), *map(text, values)])
    else:
        {"sav": sav, "dta": dta}[suffix](path, {"a": values})
    raw = path.read_bytes()
    path.write_bytes(raw[: int(len(raw) * share)])
    with pytest.raises(InputError, match=f"t.{suffix}: damaged, or not readable as ") as error:
        formats.read_columns(path, suffix)
    assert CANARY not in str(error.value)
    assert error.value.__suppress_context__


def test_a_flipped_bit_in_a_workbook_is_found(tmp_path: Path) -> None:
    path = xlsx(tmp_path / "t.xlsx", One=[text("a"), *(number(i) for i in range(2000))])
    raw = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        entry = archive.getinfo("xl/worksheets/s1.xml")
    raw[entry.header_offset + 60 + entry.compress_size // 2] ^= 1
    path.write_bytes(raw)
    with pytest.raises(InputError, match="damaged"):
        read(path)


def test_damaged_sas(tmp_path: Path) -> None:
    path = tmp_path / "t.sas7bdat"
    path.write_bytes(formats.SAS + bytes(2000))
    with pytest.raises(InputError, match=r"t.sas7bdat: damaged, or not readable as a SAS file"):
        read(path)


@pytest.mark.parametrize(
    ("display", "value", "expected"),
    [
        ("DATE9", 0, date(1960, 1, 1)),
        ("YYMMDDN8", -1, date(1959, 12, 31)),
        ("DATETIME19.", 3600, datetime(1960, 1, 1, 1)),
        ("DTDATE9", 86400, datetime(1960, 1, 2)),
        ("TIME8", 3600, 3600),
        ("BEST12", 3600, 3600),
        ("", 1.5, 1.5),
    ],
)
def test_dates_of_sas(display: str, value: float, expected: object) -> None:
    assert formats._convert_dates([float(value), None], "sas7bdat", display, Counter()) == [
        expected,
        None,
    ]


@pytest.mark.parametrize(("kind", "name"), [("sav", "pyreadstat"), ("xlsx", "python-calamine")])
def test_a_missing_package_is_named(
    kind: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(package: str) -> None:
        raise ImportError(package)

    monkeypatch.setattr(importlib, "import_module", absent)
    with pytest.raises(UsageError, match=name) as error:
        formats.read_columns(tmp_path / "t", kind)
    assert error.value.hint == "pip install 'sievert[formats]'"
