"""Workbooks of Excel, written by hand."""

import zipfile
from pathlib import Path

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
STYLES = "".join(f'<xf numFmtId="{n}"/>' for n in (0, 14, 22, 21))  # plain, date, moment, time


def text_cell(value: str) -> str:
    return f'<c t="inlineStr"><is><t xml:space="preserve">{value}</t></is></c>'


def number_cell(value: object, style: int = 0) -> str:
    return f'<c s="{style}"><v>{value}</v></c>'


def xlsx(path: Path, **sheets: list[str]) -> Path:
    """A workbook of sheets, each a list of rows of cells."""
    names = "".join(
        f'<sheet name="{n}" sheetId="{i}" r:id="r{i}"/>' for i, n in enumerate(sheets, 1)
    )
    targets = "".join(
        f'<Relationship Id="r{i}" Type="{OFFICE}/worksheet" Target="worksheets/s{i}.xml"/>'
        for i in range(1, len(sheets) + 1)
    )
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types"/>',
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="w" '
        f'Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>{names}</sheets>'
        "</workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships">{targets}'
        "</Relationships>",
        "xl/styles.xml": f'<styleSheet xmlns="{MAIN}"><cellXfs>{STYLES}</cellXfs></styleSheet>',
    }
    for i, rows in enumerate(sheets.values(), 1):
        cells = "".join(f"<row>{row}</row>" if "<row" not in row else row for row in rows)
        parts[f"xl/worksheets/s{i}.xml"] = (
            f'<worksheet xmlns="{MAIN}"><sheetData>{cells}</sheetData></worksheet>'
        )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path
