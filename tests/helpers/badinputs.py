"""Files that are wrong on purpose, and processes that run short of something."""

from __future__ import annotations

import ctypes
import io
import os
import resource
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import duckdb
import pandas
import pyarrow
import pyarrow.feather
import pyarrow.parquet
import pyreadstat

V = "Zq7cellvalue"  # the start of every text in every cell: no message may show it
N = 7700770077  # the same for numbers
MARKS = ("zq7", "77007700")
PARQUET = b"PAR1"
CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 1, 2
PR_CAPBSET_DROP = 24


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def lines(*rows: str, end: str = "\n") -> str:
    """Rows as text; @ stands for the mark of a cell."""
    return "".join(row.replace("@", V) + end for row in rows)


# -- Parquet ------------------------------------------------------------------------------------


def parquet(path: Path, columns: Mapping[str, Any] | pyarrow.Table, **how: Any) -> Path:
    table = columns if isinstance(columns, pyarrow.Table) else pyarrow.table(dict(columns))
    how = {"compression": "none"} | how
    path.parent.mkdir(parents=True, exist_ok=True)
    pyarrow.parquet.write_table(table, path, **how)
    return path


def required(values: list[str]) -> pyarrow.Table:
    """One column of text without missing values, so that its pages hold nothing but values."""
    schema = pyarrow.schema([pyarrow.field("q", pyarrow.string(), nullable=False)])
    return pyarrow.table({"q": values}, schema=schema)


def thrift(number: int) -> bytes:
    """An integer as Thrift's compact protocol spells it."""
    number, found = number * 2, b""
    while number > 127:
        found, number = found + bytes([number & 127 | 128]), number >> 7
    return found + bytes([number])


def patched(path: Path, old: bytes, new: bytes, *, times: int = 1) -> Path:
    """The same file with other bytes somewhere before its footer."""
    content = path.read_bytes()
    assert content.count(old) >= times, "the writer lays the file out in another way"
    return write(path, content.replace(old, new, times))


def with_footer(path: Path, change: Callable[[bytes], bytes]) -> Path:
    """The same file with another footer, of the length it then has."""
    content = path.read_bytes()
    length = int.from_bytes(content[-8:-4], "little")
    body, footer = content[: -8 - length], content[-8 - length : -8]
    other = change(footer)
    assert other != footer, "the writer spells the footer in another way"
    return write(path, body + other + len(other).to_bytes(4, "little") + PARQUET)


# -- others -------------------------------------------------------------------------------------


def database(path: Path, *statements: str) -> Path:
    with duckdb.connect(str(path)) as connection:
        for statement in statements:
            connection.execute(statement.replace("@", V))
    return path


def feather(path: Path, columns: Mapping[str, Any] | pyarrow.Table) -> Path:
    table = columns if isinstance(columns, pyarrow.Table) else pyarrow.table(dict(columns))
    pyarrow.feather.write_feather(table, str(path))
    return path


def statistical(path: Path, columns: Mapping[str, Any]) -> Path:
    """An SPSS or Stata file, by its ending."""
    frame = pandas.DataFrame(dict(columns))
    getattr(pyreadstat, f"write_{path.suffix[1:]}")(frame, path)
    return path


def excel(path: Path, *rows: list[str] | str) -> Path:
    """A workbook with one sheet of rows of text, or of rows as the format spells them."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"

    def related(kind: str, target: str) -> str:
        one = f'<Relationship Id="r" Type="{office}/{kind}" Target="{target}"/>'
        return f'<Relationships xmlns="{package}/relationships">{one}</Relationships>'

    def spelled(row: list[str]) -> str:
        cells = (f'<c t="inlineStr"><is><t>{cell}</t></is></c>' for cell in row)
        return f"<row>{''.join(cells)}</row>"

    sheet = "".join(row if isinstance(row, str) else spelled(row) for row in rows)
    return zipped(
        path,
        {
            "[Content_Types].xml": f'<Types xmlns="{package}/content-types"/>',
            "_rels/.rels": related("officeDocument", "xl/workbook.xml"),
            "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>'
            '<sheet name="Data" sheetId="1" r:id="r"/></sheets></workbook>',
            "xl/_rels/workbook.xml.rels": related("worksheet", "worksheets/s.xml"),
            "xl/worksheets/s.xml": f'<worksheet xmlns="{main}"><sheetData>{sheet}</sheetData>'
            "</worksheet>",
        },
    )


def zipped(path: Path, members: Mapping[str, str]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def tarred(path: Path, name: str, content: str, mode: Any = "w") -> Path:
    entry = tarfile.TarInfo(name)
    entry.size = len(content)
    with tarfile.open(path, mode) as archive:
        archive.addfile(entry, io.BytesIO(content.encode()))
    return path


# -- processes ----------------------------------------------------------------------------------


def without_privileges() -> None:
    """For a child about to start: root, too, has to keep to the modes of files."""
    libc = ctypes.CDLL(None, use_errno=True)
    if os.geteuid() == 0:
        for capability in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH):
            libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)


def at_most(kind: int, number: int) -> Callable[[], None]:
    """For a child about to start: a resource limit."""
    return lambda: resource.setrlimit(kind, (number, number))


def one_processor() -> None:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def children(process: int) -> list[int]:
    """The processes another one has started."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == process and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found
