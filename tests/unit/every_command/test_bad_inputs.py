"""Bad inputs and faults, one case each: the right exit code, one line, never a value of a cell.

Cases are numbered through seven groups: A files, B Parquet and databases, C names and roles,
D values, E degenerate statistics, F options, G the environment. Cells hold a mark, and after every
case the mark is looked for in all that was said and written. Numbers that are left out belong to
databases on a server, to weights and to attacks.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import pickle
import resource
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas
import polars
import pyarrow
import pytest
import zstandard
from helpers.badinputs import (
    MARKS,
    PARQUET,
    N,
    V,
    at_most,
    children,
    database,
    excel,
    feather,
    lines,
    one_processor,
    parquet,
    patched,
    required,
    statistical,
    tarred,
    thrift,
    with_footer,
    without_privileges,
    write,
    zipped,
)
from helpers.commandline import command_line, environment, run, run_process

import sievert
from sievert.errors import InputError, SievertError, UsageError

Build = Callable[[Path], Any]
pytestmark = pytest.mark.slow
SHORT = {
    "rows": "table/rows",
    "k": "reidentification/k_anonymity/value",
    "classes": "reidentification/classes/value",
}
GROUPS = [f"@{i % 7},{i % 5},@{i % 3}" for i in range(70)]
TABLE = lines("q,r,s", *GROUPS)
ROUGH = b"q,r\n%s,1\n" % V.encode()  # a good start to which something bad is added


@dataclass(frozen=True)
class Case:
    """An input, what the command line makes of it, and what it says."""

    id: str
    data: str | bytes | Build
    code: int | tuple[int, ...] = 0
    says: str | tuple[str, ...] = ()  # in the error, or else in a warning
    finds: Mapping[str, object] = field(default_factory=dict)
    quasi: str | None = "q"
    options: tuple[str, ...] = ()  # FOLDER stands for the folder of the input
    name: str = "t.csv"
    records: bool = True  # whether a record file is asked for as well
    one_line: bool = True

    def build(self, folder: Path) -> object:
        if callable(self.data):
            return self.data(folder)
        return write(folder / self.name, self.data)


@dataclass(frozen=True)
class Call:
    """Data in memory, what the functions make of it, and what they say."""

    id: str
    data: Callable[[], Any]
    raises: type[SievertError] | None = None
    says: str = ""
    finds: Mapping[str, object] = field(default_factory=dict)
    quasi: str | list[str] = "q"
    options: Mapping[str, Any] = field(default_factory=dict)


def cases(*found: Any) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", found, ids=lambda case: case.id)


def silent(*texts: str) -> None:
    """No text shows a cell, nor the inside of the program."""
    for text in texts:
        assert not [mark for mark in MARKS if mark in text.casefold()], "a cell is shown"
        assert "Traceback" not in text


def said(fragments: str | tuple[str, ...], text: str) -> None:
    text = " ".join(text.split()).casefold()
    for fragment in (fragments,) if isinstance(fragments, str) else fragments:
        assert fragment.casefold() in text, f"{fragment!r} is not in {text!r}"


def found_as(finds: Mapping[str, object], found: Mapping[str, Any]) -> None:
    for name, due in finds.items():
        value: Any = found
        for part in SHORT.get(name, name).split("/"):
            value = value[part]
        assert value == due, name


def places(tmp_path: Path) -> tuple[Path, Path, Path]:
    """Folders for the input, for temporary data and for outputs."""
    found = tmp_path / "in", tmp_path / "temp", tmp_path / "out"
    for folder in found:
        folder.mkdir()
    return found


def judge(case: Case, code: int, out: str, err: str, temp: Path, target: Path) -> None:
    """Hold what a run has said and left behind against what is due."""
    silent(out, err)
    assert code in (case.code if isinstance(case.code, tuple) else (case.code,)), err
    assert list(temp.iterdir()) == [], "temporary data is left"
    written = sorted(p.name for p in target.iterdir())
    if code > 1:
        assert out == "" and written == []
        start = "error: " if case.one_line else "no quasi-identifiers given"  # which is help
        assert err.startswith(start) and err.endswith("\n")
        assert not case.one_line or err.count("\n") == 1
        said(case.says, err)
        return
    assert err == ""
    assert written == (["out.json", "records.csv"] if case.records else ["out.json"])
    text = (target / "out.json").read_text()
    found = json.loads(text)
    silent(text)
    found_as(case.finds, found)
    said(case.says, " ".join(found["warnings"]))
    said(case.says, out)
    if case.records:
        rows = (target / "records.csv").read_text()
        silent(rows)
        assert rows.count("\n") == found["table"]["rows"] + 1


def arguments(case: Case, data: object, folder: Path, temp: Path, target: Path) -> list[str]:
    found = ["assess", str(data), "--temp", str(temp), "--json", str(target / "out.json")]
    found += ["--records", str(target / "records.csv")] if case.records else []
    found += ["-q", case.quasi] if case.quasi is not None else []
    return [*found, *(o.replace("FOLDER", str(folder)) for o in case.options)]


def stamps(folder: Path) -> dict[Path, tuple[int, int]]:
    return {p: (p.lstat().st_size, p.lstat().st_mtime_ns) for p in folder.rglob("*")}


def on_the_command_line(case: Case, tmp_path: Path, capfd: Any) -> None:
    folder, temp, target = places(tmp_path)
    data = case.build(folder)
    before = stamps(folder)
    code = run(*arguments(case, data, folder, temp, target))
    out, err = capfd.readouterr()
    judge(case, code, out, err, temp, target)
    assert stamps(folder) == before, "the input is changed"


def from_python(case: Call, tmp_path: Path) -> None:
    data = case.data()
    if case.raises is None:
        found = sievert.assess(data, case.quasi, temp=tmp_path, **case.options)
        silent(repr(found), found._repr_html_(), json.dumps(found.to_dict()))
        found_as(case.finds, found.to_dict())
        said(case.says, " ".join(found.warnings))
    else:
        with pytest.raises(SievertError) as raised:
            sievert.assess(data, case.quasi, temp=tmp_path, **case.options)
        assert raised.type is case.raises, raised.value
        said(case.says, str(raised.value))
        # One traceback, whose first word is cut off: nothing of the engine's is chained to it.
        silent("".join(traceback.format_exception(raised.value)).removeprefix("Traceback"))
    assert list(tmp_path.iterdir()) == []


# -- A: files -----------------------------------------------------------------------------------

LINE = b"%s,1\n" % V.encode()
MANY = 1 << 21
UNEVEN = lines("q,r", "@a,1", "@b,2", "@b,3", "@c,4")
MORE = lines("@c,5").encode()
ODD_NAME = 'it\'s "50%"\n\U0001f600;.csv'


def late(folder: Path) -> Path:
    """Thirty megabytes, and in the last line a byte of another encoding."""
    return write(folder / "t.csv", ROUGH + LINE * MANY + LINE[:-3] + b"\xe9,1\n")


def bomb(compress: Callable[[bytes], bytes]) -> Build:
    return lambda folder: write(folder / "t.csv", compress(b"q\n" + b"Zq7\n" * (10 << 20)))


def mixed_ends(text: str) -> str:
    """The same lines, each with the next of three line ends."""
    ends = ("\r\n", "\n", "\r")
    return "".join(line + ends[i % 3] for i, line in enumerate(text.splitlines()))


def linked(folder: Path) -> Path:
    link = folder / "link.csv"
    link.symlink_to(write(folder / "t.csv", UNEVEN))
    return link


def cut(build: Build) -> Build:
    """The first two thirds of a file."""

    def shorter(folder: Path) -> Path:
        path: Path = build(folder)
        content = path.read_bytes()
        return write(path, content[: len(content) * 2 // 3])

    return shorter


def made(make: Callable[..., Path], name: str, *content: Any, **how: Any) -> Build:
    """A file that one of the makers of files writes."""
    return lambda folder: make(folder / name, *content, **how)


TEXTS = {"q": [f"{V}{i}" for i in range(500)], "r": [V] * 500}
FAR_CELL = f'<row r="1048576"><c r="XFD1048576" t="inlineStr"><is><t>{V}</t></is></c></row>'


def lake(*parts: Mapping[str, Any]) -> Build:
    """A directory of Parquet files."""

    def build(folder: Path) -> Path:
        for number, columns in enumerate(parts):
            parquet(folder / "lake" / f"{number}.parquet", columns)
        return folder / "lake"

    return build


@cases(
    Case("A01-missing-file", lambda folder: folder / "none.csv", 3, ("none.csv", "no such file")),
    Case("A02-directory", lambda folder: folder, 3, "directory"),
    Case("A04-zero-bytes", b"", 3, "t.csv: empty file (0 bytes)"),
    Case("A05-header-only", "q,r\n", 3, "0 records; nothing to measure"),
    Case("A06-one-record", lines("q,r", "@,1"), finds={"rows": 1, "k": 1}),
    Case("A07-byte-order-mark", "\ufeff" + UNEVEN, finds={"rows": 4, "classes": 3}),
    Case("A07-byte-order-mark-and-quotes", f'\ufeff"q","r"\n"{V}","1"\n', finds={"rows": 1}),
    Case("A08-utf-16", UNEVEN.encode("utf-16"), 3, ("not UTF-8 at byte 0", "utf-16")),
    Case("A08-utf-16-big-endian", b"\xfe\xff" + UNEVEN.encode("utf-16-be"), 3, "looks like UTF-16"),
    Case("A09-latin-1", ROUGH + V.encode() + b"\xe9,1\n", 3,
         ("t.csv", f"not UTF-8 at byte {len(ROUGH) + len(V)}", "--encoding")),
    Case("A09-latin-1-in-gzip", gzip.compress(ROUGH + V.encode() + b"\xe9,1\n"), 3,
         ("t.csv", f"not UTF-8 at byte {len(ROUGH) + len(V)}")),
    Case("A09-latin-1-in-the-header", b"q,caf\xe9\n%s,1\n" % V.encode(), 3, "not UTF-8 at byte 5"),
    Case("A10-latin-1-late", late, 3,
         f"not UTF-8 at byte {len(ROUGH) + len(LINE) * MANY + len(V)}"),
    Case("A11-carriage-returns", UNEVEN.replace("\n", "\r"), finds={"rows": 4, "classes": 3}),
    Case("A11-windows-line-ends", UNEVEN.replace("\n", "\r\n"), finds={"rows": 4, "classes": 3}),
    Case("A11-mixed-line-ends", mixed_ends(UNEVEN), finds={"rows": 4, "classes": 3}),
    Case("A12-nul-byte", ROUGH + b"%s\0,1\n" % V.encode(), 3, ("t.csv, line 3", "NUL")),
    Case("A12-nul-byte-in-gzip", gzip.compress(ROUGH + b"%s\0,1\n" % V.encode()), 3,
         ("t.csv, line 3", "NUL")),
    Case("A13-open-quote", lines("q,r", "@,1", '"@,2', "@,3", "@,4"), 3, "t.csv, line 3: a quoted"),
    Case("A14-quoted-newline", lines("q,r", '"@a', 'b",1', "@,2"), finds={"rows": 2, "classes": 2}),
    Case("A15-short-row", lines("q,r", "@,1", "@", "@,3"), 3, ("line 3", "1 field")),
    Case("A15-short-row-of-tabs", lines("q\tr", "@\t1", "@", "@\t3"), 3, ("line 3", "1 field"),
         name="t.tsv"),
    Case("A15-short-row-in-zstd", zstandard.compress(lines("q,r", "@,1", "@").encode()), 3,
         ("t.csv, line 3", "1 field")),
    Case("A16-long-row", lines("q,r", "@,1", "@,2,@", "@,3"), 3, ("line 3", "3 field")),
    Case("A16-short-and-long-row", lines("q,r,s", "@,1", "@,2,@,@"), 3, ("line 2", "2 field")),
    Case("A17-trailing-delimiter", lines("q,r,", "@,1,", "@,2,"), 3, "column 3 has no name"),
    Case("A18-blank-lines", UNEVEN + "\n\n\n", finds={"rows": 4, "table/blank_lines": 3}),
    Case("A19-repeated-header", UNEVEN + UNEVEN, 0, "header", {"rows": 9, "classes": 4}),
    Case("A20-semicolons", lines("q;r", *["@;1"] * 20), 3, ("--delimiter", "';'"), quasi="q;r",
         options=("--delimiter", ",")),
    Case("A20-tabs", lines("q", *["@\t1"] * 20), 3, ("--delimiter", "tab")),
    Case("A20-bars", lines("q", *["@|1"] * 19, "@"), 3, ("--delimiter", "'|'")),
    Case("A21-decimal-comma", lines("q;r", "@1,5;1", "@1.5;1", "@1,50;1"), finds={"classes": 3}),
    Case("A22-comment-sign", lines("q,r", "#@,1", "@,1"), finds={"rows": 2, "classes": 2}),
    Case("A23-no-header", lines("@a,1", "@b,2"), finds={"rows": 2, "classes": 2}, quasi="column1",
         options=("--no-header",)),
    Case("A23-no-header-but-a-name", lines("@a,1", "@b,2"), 2, ("'q'", "column1"),
         options=("--no-header",)),
    Case("A24-picture", b"\x89PNG\r\n\x1a\n" + ROUGH, 3, "picture"),
    Case("A24-document", b"%PDF-1.7\n" + ROUGH, 3, "PDF"),
    Case("A24-parquet-called-csv", made(parquet, "t.csv", {"q": [V, V]}),
         finds={"table/kind": "parquet", "rows": 2}),
    Case("A25-truncated-gzip", gzip.compress(TABLE.encode())[:-9], 3, "truncated gzip"),
    Case("A25-truncated-zstd", zstandard.compress(TABLE.encode())[:-5], 3, "truncated zstd"),
    Case("A25-truncated-arrow", cut(made(feather, "t.feather", TEXTS)), 3, "t.feather: damaged"),
    Case("A25-truncated-spss", cut(made(statistical, "t.sav", TEXTS)), 3, "t.sav: damaged"),
    Case("A25-truncated-stata", cut(made(statistical, "t.dta", TEXTS)), 3, "t.dta: damaged"),
    Case("A25-truncated-excel", cut(made(excel, "t.xlsx", ["q"], [V])), (3, 7), "t.xlsx"),
    Case("A26-gzip-members", gzip.compress(UNEVEN.encode()) + gzip.compress(MORE),
         finds={"rows": 5, "table/compression": "gzip"}),
    Case("A26-zstd-frames", zstandard.compress(UNEVEN.encode()) + zstandard.compress(MORE),
         finds={"rows": 5, "table/compression": "zstd"}),
    Case("A27-zip", made(zipped, "t.zip", {"t.csv": TABLE}), 7, "archive"),
    Case("A27-tar", made(tarred, "t.tar", "t.csv", TABLE), 7, "archive"),
    Case("A27-tar-gz", made(tarred, "t.tgz", "t.csv", TABLE, "w:gz"), 7, "archive"),
    Case("A28-gzip-bomb", bomb(gzip.compress), 7, "--max-unpacked"),
    Case("A28-zstd-bomb", bomb(zstandard.compress), 7, "--max-unpacked"),
    Case("A28-small-limit", gzip.compress(TABLE.encode()), 7, ("100 bytes", "--max-unpacked"),
         options=("--max-unpacked", "100B")),
    Case("A28-far-cell-in-excel", made(excel, "t.xlsx", ["q"], [V], FAR_CELL), 7, "t.xlsx"),
    Case("A31-web", lambda _: f"https://user:{V}@example.org/t.csv", 7, "network"),
    Case("A31-bucket", lambda _: f"s3://{V}/t.parquet", 7, "network"),
    Case("A32-symbolic-link", linked, finds={"rows": 4, "classes": 3}),
    Case("A33-odd-name", UNEVEN, name=ODD_NAME, finds={"rows": 4}),
    Case("A33-odd-name-of-a-bad-file", lines("q,r", "@"), 3, "line 2: 1 field", name=ODD_NAME),
    Case("A34-other-columns", lake({"q": [V], "r": [V]}, {"q": [V], "s": [V]}), 3, "other columns"),
    Case("A34-other-order", lake({"q": [V], "r": ["1"]}, {"r": ["1"], "q": [V]}),
         finds={"rows": 2, "classes": 1}),
)  # fmt: skip
def test_files(case: Case, tmp_path: Path, capfd: Any) -> None:
    on_the_command_line(case, tmp_path, capfd)


@cases(Case("A03-no-permission", TABLE, 3, ("t.csv", "permission denied")))
def test_a_file_of_somebody_else(case: Case, tmp_path: Path) -> None:
    folder, temp, target = places(tmp_path)
    path = folder / "t.csv"
    case.build(folder)
    path.chmod(0)
    done = run_process(*arguments(case, path, folder, temp, target), preexec_fn=without_privileges)
    judge(case, done.returncode, done.stdout, done.stderr, temp, target)


@cases(
    Case("A29-stdin", TABLE, finds={"rows": 70, "classes": 7}),
    Case("A29-stdin-empty", b"", 3, "empty"),
    Case(
        "A29-stdin-beyond-a-limit", TABLE, 7, "--max-unpacked", options=("--max-unpacked", "100B")
    ),
)
def test_standard_input(case: Case, tmp_path: Path) -> None:
    folder, temp, target = places(tmp_path)
    case.build(folder)
    with (folder / "t.csv").open() as file:
        done = run_process(*arguments(case, "-", folder, temp, target), stdin=file)
    judge(case, done.returncode, done.stdout, done.stderr, temp, target)


@cases(Case("A29-pipe", TABLE, finds={"rows": 70, "classes": 7}))
def test_a_named_pipe_is_read_once(case: Case, tmp_path: Path) -> None:
    folder, temp, target = places(tmp_path)
    case.build(folder)
    os.mkfifo(folder / "pipe.csv")
    fill = ["sh", "-c", 'exec cat "$0" > "$1"', str(folder / "t.csv"), str(folder / "pipe.csv")]
    with subprocess.Popen(fill) as writer:
        try:
            done = run_process(*arguments(case, folder / "pipe.csv", folder, temp, target))
        finally:
            writer.kill()
    judge(case, done.returncode, done.stdout, done.stderr, temp, target)


@pytest.mark.parametrize("fate", ["grows", "vanishes", "is-replaced"], ids="A30-{}".format)
def test_a_file_that_changes(fate: str, tmp_path: Path) -> None:
    folder, temp, _ = places(tmp_path)
    path = write(folder / "t.csv", UNEVEN)

    def change(step: str, _: object) -> None:
        if step != "computing":
            return
        if fate != "grows":
            path.unlink()
        if fate != "vanishes":
            write(path, UNEVEN + (lines("@,9") if fate == "grows" else ""))

    watched = {"watch": change}
    from_python(Call(fate, lambda: path, InputError, "changed during", options=watched), temp)


# -- B: Parquet, Arrow and databases ------------------------------------------------------------

MOMENT = 1_577_836_800 * 10**9
HALF_PAST_TWO_TWICE = [1_603_585_800 * 10**6, 1_603_589_400 * 10**6]  # the clocks go back
FINE = pyarrow.array([MOMENT, MOMENT + 1, MOMENT + 1], pyarrow.timestamp("ns"))
DIGITS = [Decimal(d) for d in ("1.0", "1.00", "9" * 28 + ".0000000001", "9" * 28 + ".0000000002")]
RUNS = [V + c for c in "abc" for _ in range(16)]
LZO = b"\x06"


def one(columns: Mapping[str, Any] | pyarrow.Table, **how: Any) -> Build:
    return made(parquet, "t.parquet", columns, **how)


def flipped(**how: Any) -> Build:
    """A bit of a value is another one than was written."""
    good = one(required([V + str(i) for i in range(9)]), use_dictionary=False, **how)
    return lambda folder: patched(good(folder), b"Zq7cellvalue3", b"Zq7cellvalue2")


def without_footer(folder: Path) -> Path:
    path = parquet(folder / "t.parquet", {"q": [V] * 9})
    return write(path, path.read_bytes()[:-40])


def bad_magic(folder: Path) -> Path:
    path = parquet(folder / "t.parquet", {"q": [V] * 9})
    return write(path, path.read_bytes()[:-4] + b"PAR9")


def beyond_the_dictionary(folder: Path) -> Path:
    """Three values in runs of sixteen: the last run is made to name a fourth one."""
    runs = bytes([2, 32, 0, 32, 1, 32])
    return patched(parquet(folder / "t.parquet", required(RUNS)), runs + b"\2", runs + b"\3")


def boastful(folder: Path) -> Path:
    path = parquet(folder / "t.parquet", required([V] * 12_345))
    return with_footer(path, lambda footer: footer.replace(thrift(12_345), thrift(10**9)))


def packed_otherwise(folder: Path) -> Path:
    """The name of the column, and after it the codec: none, then one that nobody reads."""
    before = b"\x19\x18\x01q\x15"
    path = parquet(folder / "t.parquet", required([V] * 9))
    return with_footer(path, lambda footer: footer.replace(before + b"\0", before + LZO))


class Trap:
    """What runs a command when somebody unpickles it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


def pickled_type(ending: str) -> Build:
    def build(folder: Path) -> Path:
        about = {
            b"ARROW:extension:name": b"arrow.py_extension_type",
            b"ARROW:extension:metadata": pickle.dumps(Trap(folder / "trapped")),
        }
        schema = pyarrow.schema([pyarrow.field("q", pyarrow.string(), metadata=about)])
        table = pyarrow.table([pyarrow.array([V, V])], schema=schema)
        if ending == "parquet":
            return parquet(folder / "t.parquet", table)
        return feather(folder / "t.feather", table)

    return build


def later_version(folder: Path) -> Path:
    """The number of the storage format stands after the eight bytes of a checksum and DUCK."""
    path = database(folder / "t.db", "CREATE TABLE t AS SELECT '@' AS q")
    content = path.read_bytes()
    assert content[8:12] == b"DUCK"
    return write(path, content[:12] + (60_000).to_bytes(8, "little") + content[20:])


def view_of_a_file(folder: Path) -> str:
    hidden = write(folder / "hidden.txt", V)
    view = f"CREATE VIEW v AS SELECT content AS q FROM read_text('{hidden}')"
    database(folder / "t.db", "CREATE TABLE t AS SELECT '@' AS q", view)
    return f"{folder}/t.db?table=v"


@cases(
    Case("B35-truncated-footer", without_footer, 3, "t.parquet: damaged"),
    Case("B36-bad-magic", bad_magic, 3, "t.parquet: damaged"),
    Case("B36-nothing-but-magic", PARQUET + V.encode() + PARQUET, 3, "damaged", name="t.parquet"),
    Case("B37-page-checksum", flipped(write_page_checksum=True), 3, "checksum",
         options=("--verify",)),
    Case("B38-no-page-checksums", one({"q": [V] * 9}), options=("--verify",),
         finds={"table/verified/page_checksums": "none stored"}),
    Case("B38-not-verified", one({"q": [V] * 9}, write_page_checksum=True),
         finds={"table/verified": False}),
    Case("B40-dictionary-index", beyond_the_dictionary, (3, 6), "t.parquet"),
    Case("B41-a-milliard-values", boastful, (3, 5, 7), "t.parquet"),
    Case("B42-unknown-codec", packed_otherwise, 3, "t.parquet"),
    Case("B43-list", one({"q": [[V], [V]]}), 2, "column 'q' is nested"),
    Case("B43-structure", one({"q": [{"a": V}]}), 2, "column 'q' is nested"),
    Case("B43-unused-list", one({"q": [V, V], "r": [[V], [V]]}), finds={"k": 2}),
    Case("B44-nanoseconds", one({"q": FINE}), finds={"classes": 2}),
    Case("B44-int96", one({"q": FINE}, use_deprecated_int96_timestamps=True),
         says="INT96", finds={"classes": 1}),
    Case("B44-zone", one({"q": pyarrow.array(HALF_PAST_TWO_TWICE,
         pyarrow.timestamp("us", "Europe/Berlin"))}), finds={"classes": 2}),
    Case("B45-decimals", one({"q": pyarrow.array(DIGITS, pyarrow.decimal128(38, 10))}),
         finds={"classes": 3}),
    Case("B46-floating-point", one({"q": [0.0, -0.0, float("nan"), N + 0.5]}), 0,
         "floating-point", {"classes": 3}),
    Case("B47-pickled-type-in-arrow", pickled_type("feather")),
    Case("B47-pickled-type-in-parquet", pickled_type("parquet")),
    Case("B48-encrypted", b"PARE" + V.encode() * 9 + b"\x10\0\0\0PARE", 3, "encrypted",
         name="t.parquet"),
    Case("B49-two-types", lake({"q": [V], "r": [1]}, {"q": [V], "r": ["1"]}), 3, "other columns"),
    Case("B50-missing-column", lake({"q": [V], "r": ["1"]}, {"q": [V]}), 3, "other columns"),
    Case("B51-later-version", later_version, 3, "t.db"),
    Case("B53-view-of-a-file", view_of_a_file, (2, 7), "t.db"),
)  # fmt: skip
def test_parquet_arrow_and_databases(case: Case, tmp_path: Path, capfd: Any) -> None:
    on_the_command_line(case, tmp_path, capfd)
    assert not (tmp_path / "in" / "trapped").exists()


@cases(Case("B39-flipped-bit-without-checksum", flipped(), options=("--verify",)))
def test_what_cannot_be_seen_is_on_record(case: Case, tmp_path: Path, capfd: Any) -> None:
    """The number changes without a word; the digest of the input tells the files apart."""
    on_the_command_line(case, tmp_path, capfd)
    found = json.loads((tmp_path / "out" / "out.json").read_text())
    digest = hashlib.sha256((tmp_path / "in" / "t.parquet").read_bytes()).hexdigest()
    due = {"classes": 8, "table/verified": {"sha256": digest, "page_checksums": "none stored"}}
    found_as(due, found)


@cases(Case("B52-database-in-use", lambda folder: folder / "t.db", 6, ("t.db", "in use")))
def test_a_database_somebody_writes_to(case: Case, tmp_path: Path, capfd: Any) -> None:
    script = (
        "import duckdb, sys\n"
        "connection = duckdb.connect(sys.argv[1])\n"
        f"connection.execute(\"CREATE TABLE t AS SELECT '{V}' AS q\")\n"
        "print('ready', flush=True)\n"
        "sys.stdin.read()\n"
    )
    folder, temp, target = places(tmp_path)
    holder = [sys.executable, "-c", script, str(folder / "t.db")]
    with subprocess.Popen(holder, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None and other.stdout.readline() == b"ready\n"
        code = run(*arguments(case, case.build(folder), folder, temp, target))
        other.communicate(b"")
    out, err = capfd.readouterr()
    judge(case, code, out, err, temp, target)


# -- C: names and roles -------------------------------------------------------------------------

ODD_COLUMN = "a\"b;c\n`d.e --'%\U0001f600"
OURS = ["c0", "c1", "given", "input", "n", "nq", "ns", "record", "class_size", "stored"]


def wide(columns: int) -> str:
    return lines(",".join(f"q{i}" for i in range(columns)), *[",".join(["@"] * columns)] * 2)


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@cases(
    Case("C62-same-name", lines("q,r,q", "@,1,2"), 3, ("'q'", "same name")),
    Case("C62-same-name-in-parquet", one(pyarrow.table([[V], [V]], names=["q", "q"])), 3,
         ("'q'", "same name")),
    Case("C62-same-name-in-excel", made(excel, "t.xlsx", ["q", "q"], [V, V]), 3, "same name"),
    Case("C63-names-but-for-case-in-parquet", one({"q": [V], "Q": [V]}), 3, ("'q'", "'Q'")),
    Case("C63-names-but-for-case", lines("q,r,Q", "@,1,2"), 3, ("'q'", "'Q'")),
    Case("C63-names-but-for-a-blank", lines("q,r,q ", "@,1,2"), 3, ("'q'", "'q '")),
    Case("C63-names-but-for-unicode-form", lines("\u00e9,r,e\u0301", "@,1,2"), 3,
         ("'\u00e9'", "'e\u0301'"), quasi="r"),
    Case("C64-no-name", lines("q,,r", "@,1,2"), 3, "column 2 has no name"),
    Case("C64-no-name-in-excel", made(excel, "t.xlsx", ["q", ""], [V, V]), 3,
         "column 2 has no name"),
    Case("C64-no-name-in-arrow", made(feather, "t.feather", {"": [V], "q": [V]}), 3,
         "column 1 has no name"),
    Case("C65-odd-name", lines(quoted(ODD_COLUMN) + ",r", "@,1", "@,2"), finds={"k": 2},
         quasi=ODD_COLUMN),
    Case("C65-odd-name-of-a-secret", lines(quoted(ODD_COLUMN) + ",q", "@,1", "@,2"),
         finds={"classes": 2}, options=("-s", ODD_COLUMN), records=False),
    Case("C67-unknown-column", lines("postcode,r", "@,1"), 2, ("'postcod'", "Try: 'postcode'"),
         quasi="postcod"),
    Case("C67-unknown-secret", lines("q,disease", "@,1"), 2, "Try: 'disease'",
         options=("-s", "diseases")),
    Case("C68-named-twice", TABLE, 2, "'q' is named twice", quasi="q,q"),
    Case("C69-quasi-and-sensitive", TABLE, 0, "'q' is both", options=("-s", "q"),
         finds={"inference/q/discrimination_rate/value": 1.0}),
    Case("C69-identifier-and-quasi", TABLE, 2, "'q' is an identifier", options=("-i", "q")),
    Case("C70-no-quasi-identifier", TABLE, 2, "no quasi-identifiers given", quasi=None,
         one_line=False),
    Case("C70-no-secret", TABLE, finds={"inference": {}, "classes": 7}),
    Case("C71-many-columns", wide(10_000), quasi=",".join(f"q{i}" for i in range(30)),
         finds={"k": 2, "table/columns": 10_000}),
    Case("C71-too-many-columns", wide(10_001), 7, "--max-columns", quasi="q0"),
    Case("C71-more-than-asked", wide(11), 7, ("11", "--max-columns"), quasi="q0",
         options=("--max-columns", "10")),
    Case("C71-too-many-columns-in-parquet", one({f"q{i}": [V] for i in range(11)}), 7,
         "--max-columns", quasi="q0", options=("--max-columns", "10")),
    # Names end where the engine begins, so none is taken: not by a prefix, not by a word.
    Case("C74-our-own-names", lines(",".join(OURS), ",".join(["@"] * len(OURS))),
         quasi=",".join(OURS[:5]), options=("-s", ",".join(OURS[5:])), finds={"rows": 1}),
)  # fmt: skip
def test_names_and_roles(case: Case, tmp_path: Path, capfd: Any) -> None:
    on_the_command_line(case, tmp_path, capfd)


PAIRS = pandas.MultiIndex.from_tuples([("q", "r"), ("q", "s")])


@cases(
    Call("C72-number-as-label", lambda: pandas.DataFrame({1: [V]}), UsageError, "not text"),
    Call("C72-pair-as-label", lambda: pandas.DataFrame([[V, V]], columns=PAIRS), UsageError,
         "not text"),
    Call("C73-several-levels-of-rows", lambda: pandas.DataFrame({"q": [V, V]}, index=PAIRS),
         UsageError, "reset_index"),
    Call("C73-index-as-data", lambda: pandas.DataFrame({"r": [V]}, pandas.Index([V], name="q")),
         finds={"rows": 1, "classes": 1}),  # pandas writes it into files as a column
    Call("C73-labels-are-not-positions", lambda: pandas.DataFrame({"q": [V, V, "b"]}, [9, 9, 0]),
         finds={"rows": 3, "classes": 2}),
)  # fmt: skip
def test_names_of_frames(case: Call, tmp_path: Path) -> None:
    from_python(case, tmp_path)


# -- D: values ----------------------------------------------------------------------------------

LOOKS_MISSING = [" ", "NA", "NULL", "nan", "-", "?", "."]
FIELD = 1 << 20
TYPED = """CREATE TYPE mood AS ENUM ('@low', '@high', '@never');
CREATE TABLE t (q BLOB, u UUID, i INTERVAL, e mood);
INSERT INTO t VALUES
 ('\\xAA@'::BLOB, '77007700-0000-0000-0000-000000000001', INTERVAL 30 DAY, '@low'),
 ('\\xAB@'::BLOB, '77007700-0000-0000-0000-000000000002', INTERVAL 1 MONTH, '@high')"""
OF_TYPES = made(database, "t.db", *TYPED.split(";"))


def text_of(*values: str) -> str:
    """A column q of these values, written as they are, beside a column that says nothing."""
    return lines("q,r", *(f"{value},1" for value in values))


def many_values(folder: Path) -> Path:
    """More than fit into the memory that is allowed; ten times as many in tests/soak."""
    path = folder / "t.parquet"
    database(folder / "t.db", f"COPY (SELECT '@' || i AS q FROM range(1000000) r(i)) TO '{path}'")
    return path


@cases(
    Case("D76-all-missing", text_of("", "", ""), 0, "3 records without", {"k": 3, "classes": 1}),
    Case("D77-some-missing", text_of("@", "@", ""), 0, "1 record without",
         {"k": 1, "reidentification/k_anonymity/wildcard": 3}),
    Case("D77-some-missing-in-parquet", one({"q": [V, V, None]}), 0, "1 record without",
         {"k": 1, "reidentification/k_anonymity/wildcard": 3, "table/missing_values":
          {"q": {"missing": 1, "empty_text": 0, "na_codes": 0, "looks_missing": 0}}}),
    Case("D78-looks-missing-in-parquet", one({"q": ["", "NA", "?", V]}), 0, "may mean missing", {
        "classes": 4, "table/missing_values":
        {"q": {"missing": 0, "empty_text": 1, "na_codes": 0, "looks_missing": 2}}}),
    Case("D78-looks-missing", text_of("", '""', *LOOKS_MISSING), 0, "may mean missing", {
        "classes": 9, "table/missing_values":
        {"q": {"missing": 1, "empty_text": 1, "na_codes": 0, "looks_missing": 7}}}),
    Case("D78-empty-text", text_of("@", '""', '""'), 0, "2 records with a 'q' that may", {
        "classes": 2, "table/missing_values":
        {"q": {"missing": 0, "empty_text": 2, "na_codes": 0, "looks_missing": 0}}}),
    Case("D78-codes-for-missing", text_of("@", "NA", "NA", "?"), options=("--na", "NA"), finds={
        "classes": 3, "table/missing_values":
        {"q": {"missing": 0, "empty_text": 0, "na_codes": 2, "looks_missing": 1}}}),
    Case("D78-nothing-missing", text_of("@", "@"), finds={"table/missing_values": {}}),
    Case("D79-leading-zeros", text_of("07700770077", "7700770077"), finds={"classes": 2}),
    Case("D80-numbers-as-text", text_of(f"{N}", f"{N}.0", f"0{N}"), finds={"classes": 3}),
    Case("D80-numbers-as-numbers", text_of(f"{N}", f"{N}.0", f"0{N}"), finds={"classes": 1},
         options=("--type", "q=float")),
    Case("D81-large-integers", text_of(f"{N}{2**53}", f"{N}{2**53 + 1}", f"{N}{2**63}",
         f"{N}{2**63 + 1}", f"{N}" + "0" * 30, f"{N}" + "0" * 29 + "1"), finds={"classes": 6}),
    Case("D81-large-typed-integers", text_of(str(N * 10**8), str(N * 10**8 + 1)),
         finds={"classes": 2}, options=("--type", "q=int")),
    Case("D81-too-large-for-its-type", text_of(str(N * 10**10), str(N * 10**10 + 1)), 3,
         "2 value(s) of column 'q' are not int", options=("--type", "q=int")),
    Case("D83-infinities", text_of("inf", "-inf", "nan", "NaN", f"{N}.5"),
         finds={"classes": 4, "k": 1}, options=("--type", "q=float")),
    Case("D84-dates-are-text", text_of("01/02/2020@", "02/01/2020@", "2020-02-01@"),
         finds={"classes": 3}),
    Case("D84-dates-of-no-format", text_of("01/02/2020", "02/01/2020"), 3,
         "2 value(s) of column 'q' are not date", options=("--type", "q=date")),
    Case("D85-31-february", text_of("2020-01-31", "2020-02-31"), 3,
         ("1 value(s) of column 'q' are not date",), options=("--type", "q=date")),
    Case("D86-years", text_of("0001-01-01", "1582-10-10", "1899-12-31", "9999-12-31"),
         finds={"classes": 4}, options=("--type", "q=date")),
    Case("D87-words-for-yes", text_of("True", "true", "TRUE", "1"), finds={"classes": 4}),
    Case("D90-unicode-forms", text_of("@\u00e9", "@e\u0301"), 0, "coincide with others",
         {"classes": 2}),
    Case("D90-case", text_of("@x", "@X"), 0, "case", {"classes": 2}),
    Case("D90-blanks", text_of("@x", "@x ", " @x"), 0, "blank", {"classes": 3}),
    Case("D90-emoji-and-direction", text_of("@\U0001f600", "@\U0001f601", "@\u05d0", "@\u200b",
         "@\u202e", "@"), finds={"classes": 6}),
    Case("D91-lone-surrogate", ROUGH + b"%s\xed\xa0\x80,1\n" % V.encode(), 3, "not UTF-8 at byte"),
    Case("D92-long-field", text_of("@".ljust(FIELD - len(V) + 1, "x"), "@"), finds={"classes": 2}),
    Case("D92-long-quoted-field", text_of('"@' + "x\n" * 500_000 + '"', "@"), finds={"classes": 2}),
    Case("D92-too-long-field", text_of("@" + "x" * FIELD, "@"), 7, "--max-field"),
    Case("D92-too-long-quoted-field", text_of('"@' + "x\n" * FIELD + '"', "@"), 7, "--max-field"),
    Case("D92-longer-than-asked", text_of("@" + "x" * 2000, "@"), 7, "--max-field",
         options=("--max-field", "1KB")),
    Case("D92-as-long-as-asked", text_of("@" + "x" * FIELD, "@"), finds={"classes": 2},
         options=("--max-field", "2MB")),
    Case("D93-many-values", many_values, finds={"classes": 10**6}, options=("--memory", "50MB"),
         records=False),
    Case("D94-bytes", OF_TYPES, finds={"classes": 2}),
    Case("D94-uuid", OF_TYPES, finds={"classes": 2}, quasi="u"),
    Case("D94-interval", OF_TYPES, finds={"classes": 2}, quasi="i"),
    Case("D94-enumeration", OF_TYPES, finds={"classes": 2}, quasi="e"),
    Case("D95-generalised", text_of("@3*", "@[20-30)", "*", "@*"), finds={"classes": 3, "k": 1}),
    Case("D96-formulas", lines("=q(),r", "=@(),1", "+@,1", "-@,1", "\t@,1"), finds={"classes": 4},
         quasi="=q()", options=("-s", "r")),
    Case("D97-script", text_of("<script>@</script>", "<img onerror=@>"), finds={"classes": 2}),
)  # fmt: skip
def test_values(case: Case, tmp_path: Path, capfd: Any) -> None:
    on_the_command_line(case, tmp_path, capfd)


def test_what_is_written_is_no_formula(tmp_path: Path) -> None:
    """D96: a column may be called like a formula; in a record file it is none."""
    records = tmp_path / "records.csv"
    sievert.assess({"q": [V], "=s()": [V]}, "q", "=s()", records=records)
    assert "'=s()" in records.read_text() and ",=s()" not in records.read_text()


def test_what_is_shown_is_no_script(tmp_path: Path) -> None:
    """D97: a column may be called like a script; on a page it is none."""
    name = "<script>alert(1)</script>"
    page = sievert.assess({"q": [V, "b"], name: [V, "b"]}, "q", name)._repr_html_()
    assert "<script" not in page and "&lt;script" in page


def ordered() -> pandas.DataFrame:
    levels = [V + "low", V + "middle", V + "high", V + "never"]
    kind = pandas.CategoricalDtype(levels, ordered=True)
    return pandas.DataFrame({"q": list("abb"), "s": pandas.Series(levels[:3], dtype=kind)})


def odd_types() -> polars.DataFrame:
    enumeration = polars.Enum([V + "a", V + "b", V + "never"])
    return polars.DataFrame(
        {
            "q": [V.encode() + b"\xaa", V.encode() + b"\xab"],
            "d": [timedelta(days=1), timedelta(days=2)],
            "e": polars.Series([V + "a", V + "b"], dtype=enumeration),
        }
    )


INFINITE = [float("inf"), float("-inf"), float("nan"), N + 0.5, 0.0, -0.0]
BEYOND = [float(2**53 + 2), float(N), None]


def objects(*values: object) -> Callable[[], pandas.DataFrame]:
    return lambda: pandas.DataFrame({"q": pandas.Series(values, dtype=object)})


@cases(
    Call("D82-float64-integers", lambda: pandas.DataFrame({"q": BEYOND}), InputError, "'q'"),
    Call("D82-float64-integers-unused", lambda: pandas.DataFrame({"q": [V] * 3, "r": BEYOND}),
         finds={"k": 3}),
    Call("D82-exact-integers", lambda: pandas.DataFrame({"q": [2**53, 2**53 + 1]}),
         finds={"classes": 2}),
    Call("D83-infinities", lambda: pandas.DataFrame({"q": INFINITE}), says="floating-point",
         finds={"classes": 5}),
    Call("D83-infinities-in-polars", lambda: polars.DataFrame({"q": INFINITE}),
         finds={"classes": 5}),
    Call("D86-years", lambda: {"q": [date(1, 1, 1), date(1582, 10, 10), date(9999, 12, 31)]},
         finds={"classes": 3}),
    Call("D86-moments", lambda: polars.DataFrame({"q": [datetime(1, 1, 1), datetime(9999, 1, 1)]}),
         finds={"classes": 2}),
    Call("D87-truth-and-number", objects(True, 1), InputError, "mixed"),
    Call("D87-truth-and-text", objects(True, "True"), InputError, "mixed"),
    Call("D87-truth-and-number-in-lists", lambda: {"q": [True, 1]}, InputError, "bool, int"),
    Call("D88-number-and-text", objects(N, V), InputError, "mixed"),
    Call("D88-number-and-text-in-lists", lambda: {"q": [N, V]}, InputError, "int, str"),
    Call("D88-bytes-and-text", objects(V, V.encode()), InputError, "mixed"),
    Call("D89-unused-category", ordered, quasi="s", finds={"classes": 3, "k": 1}),
    Call("D89-order-of-categories", ordered, options={"sensitive": "s"},
         finds={"inference/s/t_closeness_ordered/value": 0.5}),
    Call("D91-lone-surrogate", lambda: {"q": [V + "\ud800", V]}, InputError),
    Call("D91-lone-surrogate-in-pandas", objects(V + "\ud800", V), InputError),
    Call("D94-odd-types", odd_types, quasi=["q", "d", "e"], finds={"classes": 2}),
)  # fmt: skip
def test_values_of_frames(case: Call, tmp_path: Path) -> None:
    from_python(case, tmp_path)


# -- E: degenerate statistics -------------------------------------------------------------------

NONE = {"q": pyarrow.array([], pyarrow.string())}  # a column without a value
EMPTY = "CREATE TABLE t (q VARCHAR)"
LADDERS = {
    "lacking.csv": lines("@1;x;*"),
    "torn.csv": lines("@1;x;y;*", "@2;x;z;*"),
    "two-parents.csv": lines("@1;x;*", "@1;y;*", "@2;x;*"),
}
SECRETS = lines("q,s", "1,@1", "1,@2", "2,@1", "2,@2")
SEPARATE = lines("q,s", "1,@1", "1,@1", "2,@2", "2,@1")
CONSTANT = lines("q,s", "1,@", "1,@", "2,@")


def about(secret: str, **values: object) -> dict[str, object]:
    return {f"inference/{secret}/{measure}/value": value for measure, value in values.items()}


def with_policy(text: str, table: str) -> Build:
    def build(folder: Path) -> Path:
        write(folder / "house.toml", text)
        return write(folder / "t.csv", table)

    return build


def with_ladder(name: str) -> Build:
    def build(folder: Path) -> Path:
        write(folder / name, LADDERS[name])
        return write(folder / "t.csv", SECRETS)

    return build


def laddered(name: str) -> tuple[str, ...]:
    return ("-s", "s", "--hierarchy", f"s=FOLDER/{name}")


HOUSE = ("-s", "s", "--policy", "FOLDER/house.toml")


@cases(
    Case("E98-no-records-in-parquet", one(NONE), 3,
         "t.parquet: 0 records; nothing to measure"),
    Case("E98-no-records-in-arrow", made(feather, "t.feather", NONE), 3,
         "t.feather: 0 records; nothing to measure"),
    Case("E98-no-records-in-stata", made(statistical, "t.dta", NONE), 3,
         "t.dta: 0 records; nothing to measure"),
    Case("E98-no-records-in-excel", made(excel, "t.xlsx", ["q", "r"]), 3,
         "t.xlsx: 0 records; nothing to measure"),
    Case("E98-no-records-in-a-database", made(database, "t.db", EMPTY), 3,
         "t.db: 0 records; nothing to measure"),
    Case("E99-one-record", lines("q,s", "@,@"), options=("-s", "s"), finds={
        "k": 1, "reidentification/discrimination_rate/value": None,
        "reidentification/itpr/value": None, "reidentification/mutual_information/value": 0.0,
        "reidentification/entropy/value": 0.0, "reidentification/conditional_privacy/value": 0.0}),
    Case("E100-constant-secret", CONSTANT, options=("-s", "s"), finds={
        **about("s", mutual_information=0.0, conditional_privacy=0.0, l_diversity=1,
                maximum_information_leakage=0.0, entropy_l_diversity=1.0, t_closeness=0.0,
                beta_likeness=0.0, delta_disclosure=0.0, discrimination_rate=None, itpr=None)}),
    Case("E100-constant-secret-is-a-breach",
         with_policy("[limits.inference.s]\ndiscrimination_rate = { max = 0.9 }\n", CONSTANT), 1,
         options=HOUSE, finds={"policy/met": False}),
    Case("E101-constant-quasi-identifier", lines("q,s", "@,1", "@,2", "@,2"), options=("-s", "s"),
         finds={"k": 3, "reidentification/discrimination_rate/value": 0.0,
                "reidentification/itpr/value": 0.0,
                **about("s", discrimination_rate=0.0, itpr=0.0)}),
    Case("E102-all-unique", text_of("@1", "@2", "@3"), finds={
        "k": 1, "reidentification/discrimination_rate/value": 1.0,
        "reidentification/itpr/value": 1.0}),
    Case("E103-copy", lines("q,s", "@1,@1", "@2,@2", "@2,@2"), options=("-s", "s"),
         finds=about("s", discrimination_rate=1.0)),
    Case("E104-independent", SECRETS, options=("-s", "s"),
         finds=about("s", mutual_information=0.0, discrimination_rate=0.0, t_closeness=0.0)),
    Case("E105-one-number", lines("q,s", f"@1,{N}", f"@2,{N}"),
         finds=about("s", t_closeness_ordered=0.0), options=("-s", "s", "--type", "s=int")),
    Case("E106-absent-value", SEPARATE, options=("-s", "s"), finds={
        **about("s", delta_disclosure=None), "inference/s/delta_disclosure/reason": "unbounded"}),
    Case("E109-k-beyond-the-records",
         with_policy("[limits]\nk_anonymity = { min = 99 }\n", SECRETS), 1, options=HOUSE,
         finds={"policy/met": False}),
    Case("E109-l-beyond-the-records",
         with_policy("[limits.inference.s]\nl_diversity = { min = 99 }\n", SECRETS), 1,
         options=HOUSE, finds={"policy/met": False}),
    Case("E110-value-without-a-place", with_ladder("lacking.csv"), 3,
         "lacking.csv: 1 value(s) of column 's'", options=laddered("lacking.csv")),
    Case("E111-not-nested", with_ladder("torn.csv"), 3, "torn.csv: not nested: 1 label(s)",
         options=laddered("torn.csv")),
    Case("E111-two-parents", with_ladder("two-parents.csv"), 3, "two-parents.csv, line 2",
         options=laddered("two-parents.csv")),
)  # fmt: skip
def test_degenerate_statistics(case: Case, tmp_path: Path, capfd: Any) -> None:
    on_the_command_line(case, tmp_path, capfd)


@cases(
    Call("E98-no-records-in-lists", lambda: {"q": []}, InputError, "0 records"),
    Call("E98-no-records-in-pandas", lambda: pandas.DataFrame({"q": []}), InputError, "0 records"),
    Call("E98-no-records-in-polars", lambda: polars.DataFrame({"q": []}), InputError, "0 records"),
)
def test_degenerate_frames(case: Call, tmp_path: Path) -> None:
    from_python(case, tmp_path)


# -- F: options ---------------------------------------------------------------------------------


@cases(
    Case("F116-unknown-option", TABLE, 2, "--quasi", options=("--quazi", "q")),
    Case("F116-another-engine", TABLE, 2, "'flink'", options=("--engine", "flink")),
    Case("F116-no-size", TABLE, 2, "--memory", options=("--memory", "plenty")),
    Case("F116-no-size-of-a-field", TABLE, 2, "--max-field", options=("--max-field", "plenty")),
    Case("F116-no-number-of-columns", TABLE, 2, "--max-columns", options=("--max-columns", "0")),
)
def test_options(case: Case, tmp_path: Path, capfd: Any) -> None:
    on_the_command_line(case, tmp_path, capfd)


@pytest.mark.parametrize("threads", [1, 2, 5], ids="F115-{}-threads".format)
def test_the_same_bytes_every_time(threads: int, tmp_path: Path, capfd: Any) -> None:
    path = write(tmp_path / "t.csv", TABLE)
    seen = set()
    for attempt in (0, threads, threads):
        target = tmp_path / "out.json", tmp_path / "records.csv"
        options = ["-q", "q,r", "-s", "s", "--json", str(target[0]), "--records", str(target[1])]
        options += ["--threads", str(attempt)] if attempt else []
        assert run("assess", path, *options) == 0
        seen.add((*(t.read_bytes() for t in target), capfd.readouterr().out))
    assert len(seen) == 1


# -- G: the environment -------------------------------------------------------------------------


def many_records(folder: Path, records: int) -> Path:
    """Texts, of which about half are different."""
    texts = f"SELECT '@' || hash(i) % {records // 2} AS q, hash(i + 1) % 5 AS s"
    select = f"{texts} FROM range({records}) r(i)"
    database(folder / "big.db", f"COPY ({select}) TO '{folder / 'big.parquet'}'")
    return folder / "big.parquet"


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Records enough to be still at work when something happens."""
    return many_records(tmp_path_factory.mktemp("big"), 6_000_000)


@pytest.fixture(scope="module")
def spilling(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Records enough not to fit into the least memory that is allowed."""
    return many_records(tmp_path_factory.mktemp("spilling"), 1_000_000)


def full(case: Case, data: object, most: int, tmp_path: Path) -> None:
    """A run in which no file may grow beyond some bytes, as if the disk were full."""
    folder, temp, target = places(tmp_path)
    data = data or case.build(folder)
    limit = at_most(resource.RLIMIT_FSIZE, most)
    done = run_process(*arguments(case, data, folder, temp, target), preexec_fn=limit)
    judge(case, done.returncode, done.stdout, done.stderr, temp, target)


@cases(
    Case("G117-no-room-to-unpack", gzip.compress(TABLE.encode() + b"%s,1,2\n" % V.encode() * 9999),
         5, "no room", name="t.csv.gz"),
    Case("G117-no-room-for-a-copy", TABLE.encode("latin-1") + b"%s,1,2\n" % V.encode() * 9999,
         5, "no room", options=("--encoding", "latin-1")),
    Case("G117-no-room-for-records", text_of(*(f"@{i}" for i in range(9999))), 5, "records.csv"),
)  # fmt: skip
def test_a_full_disk(case: Case, tmp_path: Path) -> None:
    full(case, None, 1 << 16, tmp_path)


@cases(Case("G117-no-room-to-spill", b"", 5, "temporary space", options=("--memory", "100MB")))
def test_a_full_disk_for_temporary_data(case: Case, spilling: Path, tmp_path: Path) -> None:
    full(case, spilling, 1 << 20, tmp_path)


@cases(Case("G117-no-memory-at-all", b"", 5, "memory", options=("--memory", "1MB")))
def test_no_memory(case: Case, spilling: Path, tmp_path: Path, capfd: Any) -> None:
    folder, temp, target = places(tmp_path)
    code = run(*arguments(case, spilling, folder, temp, target))
    out, err = capfd.readouterr()
    judge(case, code, out, err, temp, target)


@pytest.mark.parametrize("option", ["json", "records"], ids="G117-old-{}-stays".format)
def test_a_full_disk_leaves_the_old_output(option: str, tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", text_of(*(f"@{i}" for i in range(999))))
    target = tmp_path / ("out.json" if option == "json" else "out.csv")
    options = ["assess", path, "-q", "q", f"--{option}", target]
    assert run_process(*options).returncode == 0
    before = target.read_bytes()
    done = run_process(*options, preexec_fn=at_most(resource.RLIMIT_FSIZE, len(before) // 2))
    assert done.returncode == 5 and done.stderr.startswith(f"error: {target.name}")
    silent(done.stdout, done.stderr)
    assert target.read_bytes() == before
    assert sorted(tmp_path.iterdir()) == sorted([path, target])


def test_a_full_disk_behind_stdout(tmp_path: Path) -> None:
    """G117: what cannot be printed is an error, not a traceback."""
    path = write(tmp_path / "t.csv", TABLE)
    with Path("/dev/full").open("w") as device:
        done = run_process("assess", path, "-q", "q", capture_output=False, stdout=device,
                   stderr=subprocess.PIPE)  # fmt: skip
    assert done.returncode == 5 and done.stderr.startswith("error: the output cannot be written")


@dataclass(frozen=True)
class Blow:
    """A signal in the middle of a run, to the command or to the process that reads."""

    id: str
    sent: signal.Signals
    codes: tuple[int, ...]
    says: str = ""
    to_the_reader: bool = False


@cases(
    Blow("G118-interrupt", signal.SIGINT, (130,)),
    Blow("G118-terminate", signal.SIGTERM, (143,)),
    Blow("G118-reader-crashes", signal.SIGSEGV, (6,), "big.parquet", True),
    Blow("G118-reader-aborts", signal.SIGABRT, (6,), "big.parquet", True),
    # Whether a kill came from the kernel, which was short of memory, cannot always be told.
    Blow("G118-reader-is-killed", signal.SIGKILL, (5, 6), "big.parquet", True),
)
def test_signals(case: Blow, big: Path, tmp_path: Path) -> None:
    _, temp, target = places(tmp_path)
    options = ["-q", "q", "-s", "s", "--temp", temp, "--json", target / "out.json"]
    options += ["--records", target / "records.csv", "--threads", "1"]
    with subprocess.Popen(
        command_line("assess", big, *options), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, preexec_fn=at_most(resource.RLIMIT_CORE, 0),
    ) as process:  # fmt: skip
        deadline = time.monotonic() + 120
        while not any(temp.iterdir()) and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(0.5)
        readers = children(process.pid) if case.to_the_reader else [process.pid]
        ended = process.poll() is not None
        for reader in readers:
            os.kill(reader, case.sent)
        if not readers:
            process.kill()
        out, err = process.communicate(timeout=60)
    assert not ended, "the run ended before anything could happen"
    assert readers, "no process of its own reads the file"
    assert process.returncode in case.codes and out == ""
    silent(err)
    said(case.says, err)
    assert list(temp.iterdir()) == [] and list(target.iterdir()) == []


@dataclass(frozen=True)
class Surroundings:
    """Something about a process that must not change its numbers."""

    id: str
    variables: Mapping[str, str | None] = field(default_factory=dict)
    before: Callable[[], None] | None = None


def seen(tmp_path: Path, **how: Any) -> tuple[bytes, bytes, str]:
    """Everything a run says and writes."""
    moments = pyarrow.array([*HALF_PAST_TWO_TWICE] * 35, pyarrow.timestamp("us", "Asia/Tokyo"))
    words = [f"{V}{'Iıiİ'[i % 4]}" for i in range(70)]
    columns = {"I": words, "when": moments, "s": [i % 5 for i in range(70)]}
    path, out, records = (tmp_path / n for n in ("t.parquet", "out.json", "records.csv"))
    done = run_process("assess", parquet(path, columns), "-q", "I,when", "-s", "s", "--json", out,
               "--records", records, **how)  # fmt: skip
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    silent(done.stdout)
    return out.read_bytes(), records.read_bytes(), done.stdout


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, bytes, str]:
    return seen(tmp_path_factory.mktemp("usual"))


@cases(
    Surroundings("G118-time-zone", {"TZ": "Pacific/Kiritimati"}),
    Surroundings("G118-no-such-time-zone", {"TZ": "Nowhere/Atall"}),
    Surroundings("G118-turkish", {"LC_ALL": "tr_TR.UTF-8"}),
    Surroundings("G118-plain-locale", {"LC_ALL": "C", "PYTHONUTF8": "0"}),
    Surroundings("G118-hash-seed-0", {"PYTHONHASHSEED": "0"}),
    Surroundings("G118-hash-seed-1", {"PYTHONHASHSEED": "1"}),
    Surroundings("G118-read-only-home", {"HOME": "/proc/self"}, without_privileges),
    Surroundings("G118-no-home", {"HOME": None}),
    Surroundings("G118-home-that-is-not-there", {"HOME": "/nonexistent"}),
    Surroundings("G118-temporary-folder-that-is-not-there", {"TMPDIR": "/nonexistent"}),
    Surroundings("G118-one-processor", {}, one_processor),
    Surroundings("G118-few-open-files", {}, at_most(resource.RLIMIT_NOFILE, 64)),
    Surroundings("G118-no-core-dumps", {}, at_most(resource.RLIMIT_CORE, 0)),
)
def test_surroundings(case: Surroundings, usual: tuple[bytes, bytes, str], tmp_path: Path) -> None:
    how = {"env": environment(**case.variables), "preexec_fn": case.before}
    assert seen(tmp_path, **how) == usual


NOWHERE = """
import sys, tempfile
from sievert.sources import isolation

def nowhere():
    raise FileNotFoundError(2, "No usable temporary directory found")

isolation.temporary_directory = nowhere
tempfile.gettempdir = nowhere
"""


@cases(
    Case("G118-no-temporary-folder", TABLE, 5, ("no temporary directory", "--temp")),
    Case("G118-no-temporary-folder-but-another", TABLE, finds={"rows": 70}),
)
def test_without_a_temporary_folder(case: Case, tmp_path: Path) -> None:
    folder, temp, target = places(tmp_path)
    given = arguments(case, case.build(folder), folder, temp, target)
    if case.code:
        given = [g for g in given if g not in ("--temp", str(temp))]
    script = f"{NOWHERE}from sievert.cli.app import main\nmain(sys.argv[1:])"
    done = subprocess.run([sys.executable, "-c", script, *given], capture_output=True, text=True)
    judge(case, done.returncode, done.stdout, done.stderr, temp, target)


def test_the_clock_jumps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """G118: the time of day goes backwards at every look."""
    path = write(tmp_path / "t.csv", TABLE)
    before = sievert.assess(path, "q", "s").to_dict()
    times = iter(range(2 * 10**9, 0, -86_400))
    monkeypatch.setattr(time, "time", lambda: float(next(times)))
    assert sievert.assess(path, "q", "s", timeout=60).to_dict() == before


def test_a_fork_of_a_busy_process(tmp_path: Path) -> None:
    """G118: as in a notebook, a process that has counted before, and has threads, forks."""
    path = write(tmp_path / "t.csv", TABLE)
    script = (
        "import json, os, sys, sievert\n"
        "def look(): return json.dumps(sievert.assess(sys.argv[1], 'q', 's').to_dict())\n"
        "before, (read, write) = look(), os.pipe()\n"
        "child = os.fork()\n"
        "if not child: os.write(write, look().encode()); os._exit(0)\n"
        "_, status = os.waitpid(child, 0)\n"
        "same = os.read(read, 1 << 20).decode() == before\n"
        "sys.exit(status or (0 if same and look() == before else 1))\n"
    )
    forked = [sys.executable, "-W", "ignore", "-c", script, str(path)]
    done = subprocess.run(forked, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_called_from_a_thread(tmp_path: Path) -> None:
    """G118: signals belong to the main thread; the functions work in any other."""
    path = write(tmp_path / "t.csv", TABLE)
    found: list[int] = []
    worker = threading.Thread(target=lambda: found.append(sievert.classes(path, "q")))
    worker.start()
    worker.join(60)
    assert found == [7]
