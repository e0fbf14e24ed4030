"""One table in every format: the same JSON but for the source."""

from __future__ import annotations

import gzip
import json
import zipfile
from pathlib import Path
from typing import Any

import duckdb
import pandas
import polars
import pyarrow
import pyarrow.feather
import pyarrow.parquet
import pyreadstat
import zstandard

import sievert

COLUMNS: dict[str, list[Any]] = {
    "sex": ["f", "m", "f", "f", "m", "x", "m", "f"],
    "town": ["Köln", "Bonn", "Köln", None, "Bonn", "Aachen", "Bonn", None],
    "age": [34, 71, 34, 34, 71, 19, 70, 34],
    "disease": ["flu", "hiv", "flu", "asthma", "flu", "flu", "hiv", "flu"],
}


def workbook(path: Path) -> None:
    """A smallest .xlsx file."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"

    def cell(value: Any) -> str:
        if value is None:
            return "<c/>"
        if isinstance(value, int):
            return f"<c><v>{value}</v></c>"
        return f'<c t="inlineStr"><is><t>{value}</t></is></c>'

    table = [list(COLUMNS), *map(list, zip(*COLUMNS.values(), strict=True))]
    rows = "".join(f"<row>{''.join(cell(v) for v in row)}</row>" for row in table)
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types"><Default Extension="rels" '
        f'ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override '
        f'PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/><Override '
        f'PartName="/xl/worksheets/sheet1.xml" ContentType="{kind}.worksheet+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
        f'Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets><sheet '
        'name="Data" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships">'
        f'<Relationship Id="r1" Type="{office}/worksheet" Target="worksheets/sheet1.xml"/>'
        "</Relationships>",
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}"><sheetData>{rows}</sheetData>'
        "</worksheet>",
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, f'<?xml version="1.0" encoding="UTF-8"?>{text}')


def sources(folder: Path) -> dict[str, Any]:
    lines = [",".join(COLUMNS)]
    lines += [",".join("" if v is None else str(v) for v in row)
              for row in zip(*COLUMNS.values(), strict=True)]  # fmt: skip
    text = ("\n".join(lines) + "\n").encode()
    frame, arrow = pandas.DataFrame(COLUMNS), pyarrow.table(COLUMNS)
    (folder / "t.csv").write_bytes(text)
    (folder / "t.tsv").write_bytes(text.replace(b",", b"\t"))
    (folder / "t.csv.gz").write_bytes(gzip.compress(text))
    (folder / "t.csv.zst").write_bytes(zstandard.ZstdCompressor().compress(text))
    (folder / "latin.csv").write_bytes(text.decode().encode("latin-1"))
    pyarrow.parquet.write_table(arrow, folder / "t.parquet")
    (folder / "lake").mkdir()
    pyarrow.parquet.write_table(arrow.slice(0, 3), folder / "lake" / "a.parquet")
    pyarrow.parquet.write_table(arrow.slice(3), folder / "lake" / "b.parquet")
    pyarrow.feather.write_feather(arrow, str(folder / "t.feather"))
    with duckdb.connect(str(folder / "t.db")) as connection:
        connection.register("given", arrow)
        connection.execute("CREATE TABLE t AS SELECT * FROM given")
    pyreadstat.write_sav(frame, str(folder / "t.sav"))
    coded = frame.assign(sex=frame["sex"].map({"f": 1, "m": 2, "x": 3}))
    labels = {"sex": {1: "f", 2: "m", 3: "x"}}
    pyreadstat.write_sav(coded, str(folder / "labels.sav"), variable_value_labels=labels)
    pyreadstat.write_dta(coded.assign(town=frame["town"].fillna("")), str(folder / "t.dta"),
                         variable_value_labels=labels)  # fmt: skip
    workbook(folder / "t.xlsx")
    files = {p.name: p for p in sorted(folder.iterdir())}
    return {
        **files,
        "dict": COLUMNS,
        "pandas": frame,
        "polars": polars.DataFrame(COLUMNS),
        "arrow": arrow,
    }


def test_the_same_json_from_every_source(tmp_path: Path) -> None:
    found: dict[str, str] = {}
    for name, source in sources(tmp_path).items():
        options: dict[str, Any] = {"types": {"age": "int"}}
        if name == "latin.csv":
            options["encoding"] = "latin-1"
        if name == "t.dta":  # Stata has no missing text: compared below
            continue
        found[name] = ""
        for roles in ((["sex", "town", "age"], "disease"), (["sex", "town"], ["disease", "age"])):
            whole = sievert.assess(source, *roles, **options).to_dict()
            del whole["table"]
            whole["warnings"] = [
                w for w in whole["warnings"] if "without" in w and "secret" not in w
            ]
            found[name] += json.dumps(whole, sort_keys=True)
    assert len(found) >= 15
    different = [name for name, text in found.items() if text != found["dict"]]
    assert not different, different


def test_stata_without_missing_text(tmp_path: Path) -> None:
    """The same from .dta, where no text is missing."""
    sources(tmp_path)
    columns = ["sex", "age"]
    stata = sievert.assess(tmp_path / "t.dta", columns, "disease").to_dict()
    plain = sievert.assess(COLUMNS, columns, "disease").to_dict()
    for chapter in ("reidentification", "inference"):
        assert stata[chapter] == plain[chapter]
