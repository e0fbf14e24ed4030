"""A canary: tables of unique tokens, taken through everything there is, looked for in all bytes.

Every cell, every name of a column and every name of a file is a token that occurs nowhere else.
After a run all that was said, written, logged or left behind is searched for them: for cells in any
case, for names of files and folders with `--share`, for names of columns with `--mask-names` too.
The first characters of a token are enough for a hit, and so are other spellings of it.
"""

from __future__ import annotations

import fcntl
import getpass
import gzip
import io
import json
import logging
import os
import platform
import random
import re
import signal
import socket
import subprocess
import sys
import termios
import threading
import time
import traceback
import warnings
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pandas
import polars
import pyarrow
import pyarrow.compute
import pyarrow.parquet
import pytest
import zstandard
from helpers.badinputs import (
    children,
    excel,
    feather,
    parquet,
    statistical,
    zipped,
)
from helpers.commandline import command_line, environment

import sievert
from sievert.cli import app, messages, progress
from sievert.cli import outputs as written
from sievert.counts.duckdb import connection

# -- tokens -------------------------------------------------------------------------------------

pytestmark = pytest.mark.slow
KINDS = {"cell": "qxc", "name": "jqh", "file": "wqf", "place": "vqd"}
PART = 8  # so many characters of a token are a hit
WORD = re.compile("(?=(" + "|".join(f"{start}[a-z]{{5}}" for start in KINDS.values()) + "))")
_chance = random.Random(20_250_101)
_given: set[str] = set()  # the first characters of every token
_spelled: set[str] = set()  # numbers and dates, in every spelling
_real: set[str] = {n for n in (platform.node(), getpass.getuser()) if len(n) >= PART}


def token(kind: str) -> str:
    """A word nobody else has: its kind, and letters that make no syllables."""
    while True:
        word = KINDS[kind] + "".join(_chance.choices("bcdfghjklmnpqrstvwxz", k=9))
        if word[:PART] not in _given:
            _given.add(word[:PART])
            return word


def cell() -> str:
    return token("cell")


def numeral() -> int:
    """A number of ten digits nobody else has."""
    number = _chance.randrange(7 * 10**9, 8 * 10**9)
    _spelled.update({str(number)[:PART], f"{number:,}"[: PART + 1]})
    return number


def day() -> date:
    """A day long ago nobody else has."""
    d = date(1601, 1, 1) + timedelta(days=_chance.randrange(100_000))
    _spelled.update({f"{d}", f"{d:%Y%m%d}", f"{d.year}, {d.month}, {d.day}"})
    _spelled.update({f"{d:%d/%m/%Y}", f"{d:%m/%d/%Y}", f"{d:%d.%m.%Y}"})
    return d


def hits(content: bytes, *kinds: str) -> list[str]:
    """The starts of all tokens of some kinds that stand in some bytes, however they are spelled."""
    text = content.replace(b"\0", b"").decode("latin-1").lower()  # UTF-16 is text with zeros
    starts = tuple(KINDS[kind] for kind in kinds)
    found = {w for w in WORD.findall(text) if w in _given and w.startswith(starts)}
    if "cell" in kinds:  # a number within a longer one is none: timings have many digits
        known = (s for s in _spelled if s in text)
        found |= {s for s in known if re.search(rf"(?<![\d.]){re.escape(s)}", text)}
    if "place" in kinds:
        found |= {n for n in _real if n.lower() in text}
    return sorted(found)


# -- tables -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Shape:
    """A table of tokens, and the roles of its columns."""

    columns: Mapping[str, list[Any]]
    quasi: tuple[str, ...]
    secrets: tuple[str, ...]
    identifier: str
    types: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The quasi-identifier that nobody lacks, and that is text."""
        return self.quasi[-1]

    @property
    def secret(self) -> str:
        return self.secrets[0]

    @property
    def roles(self) -> list[str]:
        q, s = ",".join(self.quasi), ",".join(self.secrets)
        return ["-q", q, "-s", s, "-i", self.identifier]

    @property
    def typed(self) -> list[str]:
        return [part for c, kind in self.types.items() for part in ("--type", f"{c}={kind}")]

    def of(self, column: str) -> list[Any]:
        """The different values of a column."""
        return list(dict.fromkeys(v for v in self.columns[column] if v is not None))

    def rows(self) -> list[list[str]]:
        """Header and records as text; nothing stands for missing."""
        records = zip(*self.columns.values(), strict=True)
        return [list(self.columns), *(["" if v is None else str(v) for v in r] for r in records)]

    def text(self, delimiter: str = ",") -> str:
        return "".join(delimiter.join(row) + "\n" for row in self.rows())


def spread(sizes: Iterable[int], make: Callable[[], Any]) -> list[Any]:
    """One value for each size, as often as the size says."""
    return [v for size in sizes for v in [make()] * size]


def shaped(quasi: list[list[Any]], secrets: list[list[Any]], **types: str) -> Shape:
    """A shape of these columns, with an identifier and a column without a role."""
    number = len(quasi[0])
    names = [token("name") for _ in range(len(quasi) + len(secrets) + 2)]
    columns = [*quasi, *secrets, [cell() for _ in range(number)], spread([number], cell)]
    q, s = names[: len(quasi)], names[len(quasi) : -2]
    kinds = {names[int(at[1:])]: kind for at, kind in types.items()}
    return Shape(dict(zip(names, columns, strict=True)), tuple(q), tuple(s), names[-2], kinds)


def mixed(values: list[Any], step: int) -> list[Any]:
    """The same values in another order."""
    return [values[i * step % len(values)] for i in range(len(values))]


def with_gaps(values: list[Any], every: int) -> list[Any]:
    return [None if i % every == 2 else v for i, v in enumerate(values)]


def shapes() -> dict[str, Shape]:
    sizes = (25, 14, 12, 6, 2, 2)
    secret = mixed(spread((30, 15, 13, 3), cell), 7)
    return {
        "all alone": shaped(
            [[cell() for _ in range(15)] for _ in range(3)], [[cell() for _ in range(15)]]
        ),
        "small and large classes": shaped(
            [spread(sizes, cell), mixed(spread((50, 11), cell), 3)], [secret]
        ),
        "with gaps": shaped(
            [with_gaps(spread(sizes, cell), 6), mixed(spread((50, 11), cell), 3)],
            [with_gaps(secret, 5)],
        ),
        "numbers and dates": shaped(
            [spread(sizes, numeral), spread(sizes, day), mixed(spread((50, 11), cell), 3)],
            [
                mixed(spread((30, 15, 13, 3), numeral), 7),
                [n + 0.5 for n in mixed(spread((30, 28, 3), numeral), 7)],
            ],
            c0="int",
            c1="date",
            c3="int",
            c4="float",
        ),
    }


SHAPES = shapes()
ALONE, CROWD, GAPS, NUMBERS = SHAPES.values()
USER, HOST, FOLDER = token("place"), token("place"), token("place")


# -- formats ------------------------------------------------------------------------------------

Writer = Callable[[Path, Shape], str]


def arrow(shape: Shape) -> pyarrow.Table:
    return pyarrow.table(dict(shape.columns))


def delimited(ending: str, delimiter: str = ",", pack: Callable[[bytes], bytes] = bytes) -> Writer:
    def write(folder: Path, shape: Shape) -> str:
        path = folder / f"{token('file')}{ending}"
        path.write_bytes(pack(shape.text(delimiter).encode()))
        return str(path)

    return write


def one_parquet(folder: Path, shape: Shape) -> str:
    return str(parquet(folder / f"{token('file')}.parquet", arrow(shape)))


def parquet_folder(folder: Path, shape: Shape) -> str:
    """Folders called key=value: a value is in a name."""
    home = folder / token("file")
    whole = arrow(shape)
    for value in shape.of(shape.key):
        part = whole.filter(pyarrow.compute.equal(whole[shape.key], value))
        kept = part.drop_columns([shape.key])
        parquet(home / f"{shape.key}={value}" / f"{token('file')}.parquet", kept)
    return str(home)


def arrow_file(folder: Path, shape: Shape) -> str:
    return str(feather(folder / f"{token('file')}.arrow", arrow(shape)))


def database_file(folder: Path, shape: Shape) -> str:
    path, name = folder / f"{token('file')}.db", token("name")
    with duckdb.connect(str(path)) as connection:
        connection.register("given", arrow(shape))
        connection.execute(f"CREATE TABLE {name} AS SELECT * FROM given")
    return f"{path}?table={name}"


def statistical_file(ending: str) -> Writer:
    def write(folder: Path, shape: Shape) -> str:
        columns = {
            n: pandas.Series(values, dtype=object if kind is date else None)
            for n, values in shape.columns.items()
            for kind in [type(next(v for v in values if v is not None))]
        }
        return str(statistical(folder / f"{token('file')}.{ending}", columns))

    return write


def workbook(folder: Path, shape: Shape) -> str:
    def spelled(value: Any) -> str:
        if isinstance(value, int | float):
            return f"<c><v>{value}</v></c>"
        return f'<c t="inlineStr"><is><t>{"" if value is None else value}</t></is></c>'

    records = zip(*shape.columns.values(), strict=True)
    rows = ["<row>" + "".join(map(spelled, r)) + "</row>" for r in (list(shape.columns), *records)]
    return str(excel(folder / f"{token('file')}.xlsx", *rows))


FORMATS: dict[str, Writer] = {
    "csv": delimited(".csv"),
    "tsv": delimited(".tsv", "\t"),
    "gz": delimited(".csv.gz", pack=gzip.compress),
    "zst": delimited(".csv.zst", ";", zstandard.compress),
    "parquet": one_parquet,
    "parquet folder": parquet_folder,
    "arrow": arrow_file,
    "duckdb": database_file,
    "sav": statistical_file("sav"),
    "dta": statistical_file("dta"),
    "xlsx": workbook,
}
TEXT = ("csv", "tsv", "gz", "zst")
csv_file, tsv_file = FORMATS["csv"], FORMATS["tsv"]


# -- runs ---------------------------------------------------------------------------------------

MODES: dict[str, list[str]] = {
    "plain": [],
    "shared": ["--share"],
    "masked": ["--share", "--mask-names"],
}
HIDDEN = {
    "plain": ["cell"],
    "shared": ["cell", "file", "place"],
    "masked": ["cell", "file", "place", "name"],
}


def inside(path: Path) -> bytes:
    """The bytes of a file; what a Parquet file has compressed is unpacked as well."""
    content = path.read_bytes()
    if content.startswith(b"PAR1"):
        table = pyarrow.parquet.read_table(path)
        content += f"\n{table.schema}\n{table.to_pylist()}".encode()
    return content


class Leak(AssertionError):
    """Something was found that should not be there."""


@dataclass
class Run:
    """How a run ended, every byte that can be read after it, and what is left behind."""

    code: int
    seen: dict[str, bytes]
    left: list[str]

    def check(self, mode: str) -> None:
        """Nothing is found that this mode hides."""
        found = {where: hits(content, *HIDDEN[mode]) for where, content in self.seen.items()}
        found = {where: tokens for where, tokens in found.items() if tokens}
        if found or self.left:
            raise Leak(f"found: {found}; left behind: {len(self.left)}")


class Stage:
    """Folders with telling names, and the command run among them."""

    def __init__(self, root: Path, capture: Any, log: pytest.LogCaptureFixture) -> None:
        self.home, self.out = root / USER / FOLDER, root / USER / token("place")
        self.temp, self.here = root / "temp", root / "here"
        for folder in (self.home, self.out, self.temp, self.here):
            folder.mkdir(parents=True)
        self.capture, self.log = capture, log

    def file(self, content: str | bytes, ending: str = "", name: str = "") -> Path:
        """A file with a telling name."""
        path = self.home / ((name or token("file")) + ending)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def table(self, shape: Shape | None = None, write: Writer | None = None) -> str:
        return (write or FORMATS["csv"])(self.home, shape or CROWD)

    def output(self, ending: str) -> Path:
        return self.out / f"{token('file')}{ending}"

    def run(self, *arguments: object) -> Run:
        """The command in this process: its output, its log, its warnings, what it wrote."""
        self.capture.readouterr()
        self.log.clear()
        with warnings.catch_warnings(record=True) as warned, self.log.at_level(logging.DEBUG):
            warnings.simplefilter("always")
            code = app._run([str(a) for a in arguments])
        out, err = self.capture.readouterr()
        told = "\n".join(f"{w.message} {w.filename}" for w in warned)
        return self.gathered(code, stdout=out, stderr=err, log=self.log.text, warnings=told)

    def gathered(self, code: int, **said: str | bytes) -> Run:
        """All that a run said, with the files it has written and what it has left."""
        seen = {k: v.encode() if isinstance(v, str) else v for k, v in said.items()}
        for path in sorted(self.out.rglob("*")):
            if path.is_file() and not path.is_symlink():
                seen[f"{path.suffix} file {len(seen)}"] = inside(path)
                path.unlink()
        left = [p.name for folder in (self.temp, self.here) for p in folder.rglob("*")]
        return Run(code, seen, left)


@pytest.fixture
def stage(
    tmp_path: Path,
    capfdbinary: Any,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> Stage:
    found = Stage(tmp_path, capfdbinary, caplog)
    monkeypatch.chdir(found.here)
    monkeypatch.setattr("tempfile.tempdir", str(found.temp))
    for name in ("USER", "LOGNAME", "USERNAME"):
        monkeypatch.setenv(name, USER)
    monkeypatch.setenv("HOME", str(tmp_path / USER))
    monkeypatch.setenv("HOSTNAME", HOST)
    for module, name in ((platform, "node"), (socket, "gethostname")):
        monkeypatch.setattr(module, name, lambda: HOST)
    monkeypatch.setattr(getpass, "getuser", lambda: USER)
    return found


def outputs(stage: Stage, mode: str, number: int) -> list[Any]:
    """A way to write the result; single records only where it is not to be passed on."""
    way = [["--json", stage.output(".json"), "--all"], ["--json", "-", "--debug"]][number % 2]
    if mode != "plain":
        return [*way, "--min-cell", 3]
    ending = (".csv", ".parquet")[number % 2]
    return [*way, "--timings", stage.output(".json"), "--records", stage.output(ending)]


# -- results ------------------------------------------------------------------------------------

TABLES = [
    (kind, shape)
    for kind in FORMATS
    for shape in SHAPES
    if kind in ("csv", "parquet")
    or shape == "with gaps"
    or (shape == "numbers and dates" and kind in ("duckdb", "sav", "xlsx"))
]


@pytest.mark.parametrize(("kind", "shape"), TABLES)
def test_results_tell_no_cell(kind: str, shape: str, stage: Stage) -> None:
    table = SHAPES[shape]
    data = stage.table(table, FORMATS[kind])
    typed = table.typed if kind in TEXT else []
    for number, mode in enumerate(MODES, TABLES.index((kind, shape))):
        if mode == "shared" and kind not in ("csv", "parquet"):
            continue
        way = outputs(stage, mode, number)
        run = stage.run("assess", data, *table.roles, *typed, *MODES[mode], *way)
        assert run.code == 0, run.seen["stderr"]
        assert json.loads(run.seen["stdout"]) if "-" in way else run.seen["stdout"]
        assert sum(" file " in where for where in run.seen) == sum("/" in str(a) for a in way)
        run.check(mode)


DRAWN = ("small and large classes", "with gaps")  # a picture takes a second


@pytest.mark.parametrize("command", ["explain", "ranking", "attack", "attacks"])
@pytest.mark.parametrize("shape", SHAPES)
def test_explanations_and_attacks_tell_no_cell(command: str, shape: str, stage: Stage) -> None:
    table = SHAPES[shape]
    data = stage.table(table, FORMATS["csv"])
    way = ["--json", stage.output(".json"), "--all"]
    given: list[Any] = [*table.roles, *table.typed]
    if command == "explain":
        given += ["--population", data, "--records", stage.output(".csv")]
    elif command == "ranking":
        given = table.typed
    elif command == "attack":
        given += ["--register", data, "--original", data, "--key", table.identifier]
    else:
        given += ["--attacks"]
    name = {"ranking": "explain", "attacks": "assess"}.get(command, command)
    if command != "ranking" and shape in DRAWN:
        way += ["--charts", stage.output("")]
    run = stage.run(name, data, *given, *way)
    assert run.code == 0, run.seen["stderr"]
    assert ("--charts" in way) == any(where.startswith(".svg") for where in run.seen)
    run.check("plain")


def house(shape: Shape) -> str:
    """A policy full of values and names."""
    one, two, *rest = shape.of(shape.secret)
    parts = {token("name"): [one, two], token("name"): rest}
    listed = {k: json.dumps([str(x) for x in v]) for k, v in parts.items()}
    return "\n".join(
        [
            "[roles]",
            f"quasi = {json.dumps(shape.quasi)}",
            f"sensitive = {json.dumps(shape.secrets)}",
            f"identifier = {json.dumps([shape.identifier])}",
            f"[partitions.{shape.secret}]",
            *(f"{k} = {v}" for k, v in listed.items()),
            "[orders]",
            f"{shape.secret} = {json.dumps([str(x) for x in shape.of(shape.secret)])}",
            "[parameters]",
            f"alpha_k = {{ value = {{ {shape.secret} = '{one}' }} }}",
            "recursive_c = { l = 3 }",
            "[limits]",
            "k_anonymity = { min = 5 }",
            "discrimination_rate = { max = 0.9 }",
            f"[limits.inference.{shape.secret}]",
            "max_confidence = { max = 0.3 }",
            "semantic_discrimination_rate = { min = 0 }",
        ]
    )


def ladder(values: Iterable[Any], roots: int = 2) -> str:
    """A hierarchy as ARX writes them."""
    tops = [cell() for _ in range(roots)]
    return "".join(f"{v};{tops[i % roots]};*\n" for i, v in enumerate(values))


Build = Callable[[Stage], list[Any]]


def with_policy(shape: Shape) -> Build:
    def build(stage: Stage) -> list[Any]:
        data = stage.table(shape)
        return [data, "--policy", stage.file(house(shape), ".toml"), *shape.typed]

    return build


def with_ladder(stage: Stage) -> list[Any]:
    data, secret = stage.table(), CROWD.secret
    file = stage.file(ladder(CROWD.of(secret)), ".csv")
    return [data, *CROWD.roles, "--hierarchy", f"{secret}={file}"]


def with_unused(stage: Stage) -> list[Any]:
    """What is said about a column that is no secret is told by its name."""
    data, key = stage.table(), CROWD.key
    file = stage.file(ladder(CROWD.of(key)), ".csv")
    return [data, *CROWD.roles, "--hierarchy", f"{key}={file}",
            "--alpha-value", f"{CROWD.quasi[0]}={CROWD.of(CROWD.quasi[0])[0]}"]  # fmt: skip


def with_prefixes(stage: Stage) -> list[Any]:
    return [stage.table(), *CROWD.roles, "--hierarchy", f"{CROWD.secret}=prefix"]


def with_intervals(stage: Stage) -> list[Any]:
    data, secret = stage.table(NUMBERS), NUMBERS.secret
    return [data, *NUMBERS.roles, *NUMBERS.typed, "--hierarchy", f"{secret}=interval:5,10,1000"]


def with_alpha(value: str | None = None) -> Build:
    def build(stage: Stage) -> list[Any]:
        data, named = stage.table(), value or CROWD.of(CROWD.secret)[1]
        return [data, *CROWD.roles, "--alpha-value", f"{CROWD.secret}={named}"]

    return build


def with_codes(stage: Stage) -> list[Any]:
    data = stage.table()
    codes = [CROWD.of(CROWD.quasi[0])[4], CROWD.of(CROWD.secret)[3]]
    return [data, *CROWD.roles, *(part for code in codes for part in ("--na", code))]


def with_missing(how: str) -> Build:
    def build(stage: Stage) -> list[Any]:
        return [stage.table(GAPS), *GAPS.roles, "--missing", how]

    return build


def without_header(stage: Stage) -> list[Any]:
    data = stage.file(CROWD.text().partition("\n")[2], ".csv")
    return [data, "-q", "column1,column2", "-s", "column3", "--no-header"]


def in_encoding(encoding: str) -> Build:
    def build(stage: Stage) -> list[Any]:
        data = stage.file((CROWD.text()).encode(encoding), ".csv")
        return [data, *CROWD.roles, "--encoding", encoding]

    return build


def alike(stage: Stage) -> list[Any]:
    """Values that differ by case and blanks, look like missing, or are the header again."""
    header, *records = CROWD.text().splitlines()
    swapped = [records[0].upper(), records[1].replace(",", " ,"), "NA,?,-,null,.", header]
    data = stage.file("\n".join([header, *records, *swapped, "", ""]), ".csv")
    return [data, *CROWD.roles]


def two_tables(stage: Stage) -> list[Any]:
    data = stage.table(write=database_file)
    with duckdb.connect(data.partition("?")[0]) as connection:
        connection.execute(f"CREATE TABLE {token('name')} AS SELECT '{cell()}' AS {token('name')}")
    return [data, *CROWD.roles]


def two_sheets(stage: Stage) -> Path:
    one = Path(stage.table(write=workbook))
    with zipfile.ZipFile(one) as archive:
        members = {name: archive.read(name).decode() for name in archive.namelist()}
    sheets = (f'<sheet name="{token("name")}" sheetId="{i}" r:id="r"/>' for i in (1, 2))
    book = re.sub("<sheet .*?/>", "".join(sheets), members["xl/workbook.xml"])
    return zipped(one.with_name(f"{token('file')}.xlsx"), members | {"xl/workbook.xml": book})


SETTINGS: dict[str, Build] = {
    "policy": with_policy(CROWD),
    "policy and gaps": with_policy(GAPS),
    "policy and numbers": with_policy(NUMBERS),
    "hierarchy": with_ladder,
    "prefixes": with_prefixes,
    "intervals": with_intervals,
    "what is not used": with_unused,
    "value for alpha": with_alpha(),
    "absent value for alpha": with_alpha(cell()),
    "codes for missing": with_codes,
    "missing is a value": with_missing("value"),
    "missing is a wildcard": with_missing("wildcard"),
    "missing drops": with_missing("drop"),
    "no header": without_header,
    "latin-1": in_encoding("latin-1"),
    "utf-16": in_encoding("utf-16"),
    "values that look alike": alike,
    "delimiter given": lambda s: [s.table(write=tsv_file), *CROWD.roles, "--delimiter", "tab"],
    "verified": lambda s: [s.table(write=one_parquet), *CROWD.roles, "--verify"],
    "few threads": lambda s: [s.table(), *CROWD.roles, "--threads", 1, "--memory", "200MB"],
    "a folder for temporary data": lambda s: [s.table(), *CROWD.roles, "--temp", s.temp],
    "a table of two": two_tables,
    "the first of two sheets": lambda s: [two_sheets(s), *CROWD.roles],
    "relative path": lambda s: [os.path.relpath(s.table()), *CROWD.roles],
    "quasi-identifier and secret": lambda s: [
        s.table(), "-q", ",".join(CROWD.quasi), "-s", CROWD.key,
    ],
}  # fmt: skip


def in_modes(cases: Iterable[str], *modes: str) -> list[Any]:
    """Every case in every mode."""
    return [pytest.param(c, mode, id=f"{c}, {mode}") for c in cases for mode in modes]


@pytest.mark.parametrize(("case", "mode"), in_modes(SETTINGS, "plain", "masked"))
def test_settings_tell_no_cell(case: str, mode: str, stage: Stage) -> None:
    arguments = ["assess", *SETTINGS[case](stage), *MODES[mode]]
    way = outputs(stage, mode, list(SETTINGS).index(case) + list(MODES).index(mode))
    run = stage.run(*arguments, *way)
    assert run.code == ("policy" in case), run.seen["stderr"]
    run.check(mode)


def test_standard_input(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    for mode, options in MODES.items():
        given = io.TextIOWrapper(io.BytesIO(CROWD.text().encode()))
        monkeypatch.setattr(sys, "stdin", given)
        run = stage.run("assess", "-", *CROWD.roles, *options, *outputs(stage, mode, 1))
        assert run.code == 0
        run.check(mode)


def test_the_other_command(stage: Stage) -> None:
    for arguments in ([], ["--json", "-"], ["--json", stage.output(".json")], ["itpr", "--debug"]):
        run = stage.run("measures", *arguments)
        assert run.code == 0
        run.check("masked")
    run = stage.run("measures", token("name"))  # what was typed is said again
    assert run.code == 2
    run.check("shared")


# -- errors -------------------------------------------------------------------------------------


def spoilt(change: Callable[[str], str | bytes], *options: str, ending: str = ".csv") -> Build:
    """A text file with a mistake in it."""

    def build(stage: Stage) -> list[Any]:
        return ["assess", stage.file(change(CROWD.text()), ending), *CROWD.roles, *options]

    return build


def cut(kind: str, share: float = 0.6, *options: str) -> Build:
    """A file that ends too early."""

    def build(stage: Stage) -> list[Any]:
        data = stage.table(write=FORMATS[kind])
        path = Path(data.partition("?")[0])
        content = path.read_bytes()
        path.write_bytes(content[: int(share * len(content))])
        return ["assess", data, *CROWD.roles, *options]

    return build


def overwritten(kind: str, *options: str) -> Build:
    """A file with other bytes in its middle."""

    def build(stage: Stage) -> list[Any]:
        data = stage.table(write=FORMATS[kind])
        path = Path(data.partition("?")[0])
        content = bytearray(path.read_bytes())
        at = content.index(CROWD.of(CROWD.quasi[0])[0].encode())
        content[at - 40 : at + 6] = b"\xff" * 46
        path.write_bytes(content)
        return ["assess", data, *CROWD.roles, *options]

    return build


def asked(*options: Any, shape: Shape | None = None) -> Build:
    """A sound table, and a mistake in the options."""
    shape = shape or CROWD
    return lambda stage: ["assess", stage.table(shape), *options]


def laddered(text: str | bytes, column: str = "", how: str = "") -> Build:
    """A sound table, and a mistake in a hierarchy."""

    def build(stage: Stage) -> list[Any]:
        file = how or stage.file(text, ".csv")
        named = column or CROWD.secret
        return ["assess", stage.table(), *CROWD.roles, "--hierarchy", f"{named}={file}"]

    return build


def ruled(text: str, *options: str) -> Build:
    """A sound table, and a mistake in a policy."""

    def build(stage: Stage) -> list[Any]:
        file = stage.file(text, ".toml")
        return ["assess", stage.table(), *(options or CROWD.roles), "--policy", file]

    return build


def nearly(name: str) -> str:
    """A name with a typing error."""
    return name[:-1] + ("b" if name[-1] != "b" else "c")


def other_columns(stage: Stage) -> list[Any]:
    home = Path(stage.table(write=parquet_folder))
    parquet(home / f"{CROWD.key}={cell()}" / "x.parquet", {token("name"): [cell()]})
    return ["assess", home, *CROWD.roles]


def nested(stage: Stage) -> list[Any]:
    name = token("name")
    path = stage.home / f"{token('file')}.parquet"
    return ["assess", parquet(path, {name: [{token("name"): cell()}]}), "-q", name]


def not_text(stage: Stage) -> list[Any]:
    """Bytes that are not UTF-8 in a column of text."""
    name, value = token("name"), cell().encode()
    sizes = (0).to_bytes(4, "little") + (len(value) + 1).to_bytes(4, "little")
    buffers = [None, pyarrow.py_buffer(sizes), pyarrow.py_buffer(value + b"\xff")]
    column = pyarrow.Array.from_buffers(pyarrow.string(), 1, buffers)
    path = stage.home / f"{token('file')}.parquet"
    return ["assess", parquet(path, pyarrow.table({name: column})), "-q", name]


def without_table(stage: Stage) -> list[Any]:
    data, *roles = two_tables(stage)
    return ["assess", data.partition("?")[0], *roles]


def headless_workbook(stage: Stage) -> list[Any]:
    path = excel(stage.home / f"{token('file')}.xlsx", *CROWD.rows()[1:])
    return ["assess", path, "-q", "column1", "--no-header"]


def linked(stage: Stage) -> list[Any]:
    link = stage.output(".json")
    link.symlink_to(stage.home)
    return ["assess", stage.table(), *CROWD.roles, "--json", link]


def over_input(stage: Stage) -> list[Any]:
    data = stage.table()
    return ["assess", data, *CROWD.roles, "--json", data, "--force"]


def empty_first(text: str) -> str:
    return "".join(
        line if n == 0 else line[line.index(",") :]
        for n, line in enumerate(text.splitlines(keepends=True))
    )


HEADER = CROWD.text().partition("\n")[0]
SECRET, KEY, FIRST = CROWD.secret, CROWD.key, CROWD.quasi[0]
VALUES = CROWD.of(SECRET)
OF_CONTENT: dict[str, tuple[int, Build]] = {
    # text
    "too many fields": (3, spoilt(lambda t: f"{t}{cell()},{t.splitlines()[1]}\n")),
    "too few fields": (3, spoilt(lambda t: f"{t}{cell()}\n")),
    "text beside quotes": (3, spoilt(lambda t: f'{t}"{cell()}"{cell()},b,c,d,e\n')),
    "quotes within a field": (3, spoilt(lambda t: f'{t}{cell()},"b" {cell()},c,d,e\n')),
    "no closing quote": (3, spoilt(lambda t: f'{t}"{cell()},b,c,d,e\n')),
    "not UTF-8": (3, spoilt(lambda t: t.encode() + f"{cell()}\xe9,b,c,d,e\n".encode("latin-1"))),
    "not ASCII": (3, spoilt(lambda t: t.replace(",", "\xe9,"), "--encoding", "ascii")),
    "not UTF-16": (3, spoilt(lambda t: t.encode() + b"x", "--encoding", "utf-16")),
    "UTF-16": (3, spoilt(lambda t: t.encode("utf-16"))),
    "a zero byte": (3, spoilt(lambda t: t + "\0")),
    "long field": (7, spoilt(str, "--max-field", "4B")),
    "many columns": (7, spoilt(str, "--max-columns", "2")),
    "header only": (3, spoilt(lambda t: t.partition("\n")[0])),
    "empty": (3, spoilt(lambda t: "")),
    "unclear delimiter": (3, spoilt(lambda t: t.replace("\n", f";{cell()}\n"))),
    "another delimiter": (3, spoilt(lambda t: f"{FIRST}\n" + t.replace(",", ";"))),
    "the same name twice": (3, spoilt(lambda t: t.replace(KEY, FIRST.upper()))),
    "no name": (3, spoilt(lambda t: t.replace(KEY, ""))),
    "unpacks too far": (7, spoilt(lambda t: gzip.compress(t.encode()), "--max-unpacked", "10B")),
    "an archive": (7, spoilt(lambda t: b"7z\xbc\xaf" + t.encode())),
    "a document": (3, spoilt(lambda t: "%PDF" + t)),
    # types, and what is missing
    "not whole numbers": (3, asked(*CROWD.roles, "--type", f"{FIRST}=int")),
    "not numbers": (3, asked(*CROWD.roles, "--type", f"{SECRET}=float")),
    "not dates": (3, asked(*NUMBERS.roles, "--type", f"{NUMBERS.quasi[0]}=date", shape=NUMBERS)),
    "type of no column": (2, asked(*CROWD.roles, "--type", f"{nearly(FIRST)}=int")),
    "unknown type": (2, asked(*CROWD.roles, "--type", f"{FIRST}=integer")),
    "type given twice": (2, asked(*CROWD.roles, *["--type", f"{FIRST}=int"] * 2)),
    "missing is an error": (3, asked(*GAPS.roles, "--missing", "error", shape=GAPS)),
    "all is missing": (3, spoilt(empty_first, "--missing", "drop")),
    "unknown reading of missing": (2, asked(*CROWD.roles, "--missing", nearly(FIRST))),
    "code with a delimiter": (2, asked(*CROWD.roles, "--na", f"{VALUES[0]},{VALUES[1]}")),
    # hierarchies
    "hierarchy lacks a value": (3, laddered(ladder(VALUES[1:]))),
    "hierarchy is not nested": (3, laddered("".join(f"{v};x;{v};*\n" for v in VALUES))),
    "hierarchy is uneven": (3, laddered(ladder(VALUES[1:]) + VALUES[0] + "\n")),
    "hierarchy has an empty label": (3, laddered(ladder(VALUES).replace("*", ""))),
    "hierarchy says it twice": (3, laddered(ladder(VALUES) + ladder(VALUES))),
    "hierarchy is not UTF-8": (3, laddered(VALUES[0].encode() + b"\xff;*\n")),
    "no hierarchy": (3, laddered("", how=f"{FOLDER}/{token('file')}")),
    "hierarchy of no column": (2, laddered(ladder(VALUES), nearly(SECRET))),
    "intervals of text": (3, laddered("", how="interval:5,10")),
    "intervals that do not fit": (2, laddered("", how="interval:5,7")),
    # policies
    "order lacks a value": (2, ruled(f"[orders]\n{SECRET} = {VALUES[1:]}\n")),
    "order says it twice": (2, ruled(f"[orders]\n{SECRET} = {VALUES + VALUES[:1]}\n")),
    "order of no column": (2, ruled(f"[orders]\n{nearly(SECRET)} = {VALUES}\n")),
    "order is no list": (2, ruled(f"[orders]\n{SECRET} = '{VALUES[0]}'\n")),
    "partition overlaps": (
        2,
        ruled(f"[partitions.{SECRET}]\n{token('name')} = {VALUES}\n{token('name')} = {VALUES}\n"),
    ),
    "part called like a value": (
        2,
        ruled(f"[partitions.{SECRET}]\n{VALUES[0]} = {VALUES}\n{VALUES[1]} = {VALUES}\n"),
    ),
    "part with a number": (
        2,
        ruled(f"[partitions.{SECRET}]\n{token('name')} = ['{VALUES[0]}', 1]\n"),
    ),
    "not TOML": (2, ruled(f"[orders]\n{SECRET} = ['{VALUES[0]}' '{VALUES[1]}']\n")),
    "table twice": (2, ruled(f"[partitions.{SECRET}]\n[partitions.{SECRET}]\n")),
    "key twice": (
        2,
        ruled(f"[parameters]\nalpha_k = {{value = {{{SECRET} = '{VALUES[0]}', {SECRET} = 1}}}}\n"),
    ),
    "unknown section": (2, ruled(f"[ordres]\n{SECRET} = {VALUES}\n")),
    "wrong value for alpha": (2, ruled(f"[parameters]\nalpha_k = {{ value = {VALUES} }}\n")),
    "unknown measure": (2, ruled(f"[limits.inference.{SECRET}]\nk_anonimity = {{ min = 2 }}\n")),
    "limit out of range": (2, ruled(f"[limits.inference.{SECRET}]\nitpr = {{ max = 80 }}\n")),
    "limit is text": (2, ruled(f"[limits.inference.{SECRET}]\nitpr = {{ max = '{VALUES[0]}' }}\n")),
    "limit without a number": (
        2,
        ruled(f"[limits.inference.{SECRET}]\nt_closeness_ordered = {{ max = 0.5 }}\n"),
    ),
    "limit for no secret": (
        2,
        ruled(f"[limits.inference.{nearly(SECRET)}]\nitpr = {{ max = 1 }}\n"),
    ),
    "role of no column": (2, ruled(f"[roles]\nquasi = ['{nearly(FIRST)}']\n", "--all")),
    # other formats
    **{
        f"{kind}, cut short": (3, cut(kind))
        for kind in ("gz", "zst", "parquet", "arrow", "sav", "dta", "duckdb", "xlsx")
    },
    "parquet, other bytes": (3, overwritten("parquet")),
    "parquet, other bytes, verified": (3, overwritten("parquet", "--verify")),
    "parquet, other columns in a folder": (3, other_columns),
    "parquet, nested": (2, nested),
    "parquet, not text": (3, not_text),
    "duckdb, no such table": (
        2,
        lambda s: ["assess", f"{s.table(write=database_file)}x", "-q", KEY],
    ),
    "duckdb, which table": (2, without_table),
    "xlsx, no such sheet": (
        2,
        lambda s: ["assess", f"{two_sheets(s)}?sheet={token('name')}", "-q", KEY],
    ),
    "xlsx, no header": (2, headless_workbook),
    "sav, no sheets": (
        2,
        lambda s: ["assess", f"{s.table(write=FORMATS['sav'])}?sheet={token('name')}", "-q", KEY],
    ),
}  # fmt: skip
# Messages that may repeat what was typed: quotes are kept unless names are masked.
OF_OPTIONS: dict[str, tuple[int, Build]] = {
    # roles
    "unknown column": (2, asked("-q", nearly(FIRST))),
    "unlike any column": (2, asked("-q", token("name")[::-1] + token("name"))),
    "unknown secret": (2, asked("-q", FIRST, "-s", nearly(SECRET))),
    "unknown identifier": (2, asked("-q", FIRST, "-i", nearly(SECRET))),
    "named twice": (2, asked("-q", f"{FIRST},{FIRST}")),
    "identifier and more": (2, asked("-q", FIRST, "-i", FIRST)),
    "blanks between names": (2, asked("-q", FIRST, KEY)),
    "no roles": (2, asked()),
    "roles without names": (2, asked("-q", ",")),
    "no roles in the policy": (2, ruled("", "--all")),
    "alpha of no column": (
        2,
        asked(*CROWD.roles, "--alpha-value", f"{nearly(SECRET)}={VALUES[0]}"),
    ),
    "alpha without a value": (2, asked(*CROWD.roles, "--alpha-value", VALUES[0])),
    # files
    "no such file": (3, lambda s: ["assess", s.home / token("file"), *CROWD.roles]),
    "an empty folder": (3, lambda s: ["assess", s.home, *CROWD.roles]),
    "the table itself for its name": (
        3,
        lambda s: ["assess", "\n".join(CROWD.text().splitlines()[:2]), "-q", KEY],
    ),
    "no-break space in the file's name": (
        3,
        lambda s: ["assess", s.file(HEADER, name=f"{token('file')}\xa0x"), "-q", KEY],
    ),
    "signs in the file's name": (
        3,
        lambda s: ["assess", s.file(HEADER, name=f"{token('file')}=1?{token('file')}"), "-q", KEY],
    ),
    "no such folder for output": (
        2,
        lambda s: ["assess", s.table(), *CROWD.roles, "--json", s.out / token("place") / "x.json"],
    ),
    "a folder for output": (2, lambda s: ["assess", s.table(), *CROWD.roles, "--json", s.out]),
    "a link for output": (7, linked),
    "output is input": (7, over_input),
    "output exists": (
        7,
        lambda s: ["assess", s.table(), *CROWD.roles, "--json", s.file(VALUES[0], ".json")],
    ),
    "one name for two outputs": (
        2,
        lambda s: ["assess", s.table(), "-q", KEY, *[x for o in ("--json", "--markdown")
                                                     for x in (o, s.out / "x.json")]],
    ),
    "no folder for temporary data": (
        2,
        asked(*CROWD.roles, "--temp", f"{FOLDER}/{token('place')}"),
    ),
    # options
    "a name for a number": (2, asked("-q", KEY, "--max-columns", KEY)),
    "a path for a number": (2, lambda s: ["assess", s.table(), "-q", KEY, "--timeout", s.table()]),
    "a path for a column": (2, lambda s: ["assess", s.table(), "-q", s.table()]),
    "a path for an encoding": (
        2,
        lambda s: ["assess", s.table(), "-q", KEY, "--encoding", s.table()],
    ),
    "a path for an engine": (2, lambda s: ["assess", s.table(), "-q", KEY, "--engine", s.table()]),
    "a path for a command": (2, lambda s: [s.table(), *CROWD.roles]),
    "unknown command": (2, lambda s: ["asess", s.table(), *CROWD.roles]),
    "unknown option": (2, asked(f"--quazi={KEY}", "--alpha-valu", f"{SECRET}={VALUES[0]}")),
    "unknown option with a value": (2, asked("-q", KEY, f"--alpha-valu={SECRET}={VALUES[0]}")),
    "option without its argument": (2, asked("-q", KEY, "--alpha-value")),
    "policy after a sign": (2, lambda s: ["assess", s.table(), f"--policy={s.file('[', '.toml')}"]),
    "output after a sign": (
        2,
        lambda s: ["assess", s.table(), "-q", KEY, f"--json={s.out / 'none' / token('file')}"],
    ),
    "hierarchy after a sign": (
        3,
        lambda s: ["assess", s.table(), *CROWD.roles, f"--hierarchy={SECRET}={token('file')}"],
    ),
    # what runs out
    "no memory": (5, asked(*CROWD.roles, "--memory", "1MB")),
    "no time": (5, asked(*CROWD.roles, "--timeout", "0.000001")),
}  # fmt: skip


ERRORS = OF_CONTENT | OF_OPTIONS


@pytest.mark.parametrize(
    ("case", "mode"), in_modes(OF_CONTENT, "plain", "masked") + in_modes(OF_OPTIONS, *MODES)
)
def test_errors_tell_no_cell(case: str, mode: str, stage: Stage) -> None:
    code, build = ERRORS[case]
    debug = [] if mode == "shared" else ["--debug"]  # says the same, and more
    run = stage.run(*build(stage), *MODES[mode], *debug)
    assert run.code == code, run.seen["stderr"]
    helps = b"no quasi-identifiers given: which columns" in run.seen["stderr"]
    assert (helps or b"error: " in run.seen["stderr"]) and not run.seen["stdout"]
    run.check(mode)


# -- failures that are brought about ------------------------------------------------------------

SOURCE = Path(sievert.__file__).parent
FAILURES = sorted(
    {e for e in vars(duckdb).values() if isinstance(e, type) and issubclass(e, duckdb.Error)},
    key=lambda e: e.__name__,
)


# Words by which failures are told apart.
TRAITS = ("", " utf-8", " unterminated quote", " no space left", " Expected Number of Columns")


def telling(stage: Stage) -> str:
    """What an engine could say: a value, a column, a file."""
    path = stage.home / token("file")
    return (
        f'Could not convert string "{cell()}" in column "{KEY}" of "{path}"\n'
        f"CSV Error on Line: 3\nOriginal Line: {cell()},{cell()}"
    )


class Broken:
    """A connection that fails at the first question about records."""

    def __init__(self, connection: Any, error: BaseException) -> None:
        self._connection, self._error = connection, error

    def execute(self, sql: str, *rest: Any) -> Any:
        if "COUNT(*)" in sql:
            raise self._error
        return self._connection.execute(sql, *rest)

    def cursor(self) -> Broken:
        return Broken(self._connection.cursor(), self._error)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


@pytest.fixture
def engine_fails(monkeypatch: pytest.MonkeyPatch) -> Callable[[BaseException], None]:
    connect = duckdb.connect

    def fails(error: BaseException) -> None:
        monkeypatch.setattr(duckdb, "connect", lambda *a, **k: Broken(connect(*a, **k), error))
        monkeypatch.setattr(connection, "shared_engine", connection.own_engine)
        monkeypatch.setattr(connection.FileEngine, "idle", defaultdict(list))

    return fails


@pytest.mark.parametrize("failure", FAILURES, ids=lambda e: e.__name__)
def test_an_engine_that_fails(failure: type[Exception], stage: Stage, engine_fails: Any) -> None:
    number = FAILURES.index(failure)
    mode = list(MODES)[number % len(MODES)]
    engine_fails(failure(telling(stage) + TRAITS[number % len(TRAITS)]))
    run = stage.run("assess", stage.table(), *CROWD.roles, *MODES[mode], "--debug")
    assert run.code in (3, 5, 6), run.seen["stderr"]
    run.check(mode)


def test_values_are_shown_where_they_are_asked_for(stage: Stage, engine_fails: Any) -> None:
    data = stage.table()
    engine_fails(duckdb.InternalException(telling(stage)))
    run = stage.run("assess", data, *CROWD.roles, "--show-values")
    assert run.code == 6
    run.check("plain")
    run = stage.run("assess", data, *CROWD.roles, "--debug", "--show-values")
    assert run.code == 6 and hits(run.seen["stderr"], "cell")


def test_what_does_not_go_together(stage: Stage) -> None:
    arguments = ["assess", stage.table(), *CROWD.roles, "--share", "--debug"]
    for mode, options, code in (
        ("shared", ["--show-values"], 7),
        ("masked", ["--mask-names", "--show-values"], 7),
        ("shared", ["--timings", stage.output(".json")], 7),
        ("shared", ["--internal"], 2),
        ("shared", ["--records", stage.output(".csv")], 7),
        ("masked", ["--mask-names", "--records", stage.output(".parquet")], 7),
    ):
        run = stage.run(*arguments, *options)
        assert run.code == code and not run.seen["stdout"]
        assert not any(" file " in where for where in run.seen)
        run.check(mode)


@pytest.mark.parametrize("spelling", ["=true", "=1", "=yes"])
def test_options_with_a_sign(spelling: str, stage: Stage) -> None:
    run = stage.run("assess", stage.home / token("file"), "-q", KEY, f"--share{spelling}")
    assert run.code == 3
    run.check("shared")


def test_masks_with_a_sign(stage: Stage) -> None:
    run = stage.run("assess", stage.table(), "-q", nearly(KEY), "--share", "--mask-names=true")
    assert run.code == 2
    run.check("masked")


def test_where_the_program_is_installed(stage: Stage) -> None:
    """It may be below a home directory, whose name is that of its owner."""
    run = stage.run("assess", stage.home / token("file"), *CROWD.roles, "--share", "--debug")
    assert run.code == 3
    if str(SOURCE).encode() in run.seen["stderr"]:
        raise Leak(SOURCE)


class Noted(ZeroDivisionError):
    """An error with a cause and a note."""

    def __init__(self, *what: object) -> None:
        super().__init__(*what)
        self.__cause__ = KeyError(*what)
        self.add_note(str(what))


DEFECTS: dict[str, Callable[[str], Exception]] = {
    "sievert.commands.assess.run.run": ZeroDivisionError,
    "sievert.sources.csv_scan.scan": Noted,
    "sievert.counts.coded.CodedTable.secret_counts": KeyError,
    "sievert.commands.assess.odd_values.value_remarks": lambda t: UnicodeDecodeError(
        "utf-8", t.encode(), 0, 9, t
    ),
    "sievert.policy.judge": AssertionError,
    "sievert.files.write_text": RecursionError,
    "sievert.cli.outputs.as_json": lambda t: StopIteration(t),
    "sievert.commands.assess.result.Assessment.to_dict": Noted,
    "sievert.cli.outputs.timings": MemoryError,
}


@pytest.mark.parametrize("where", DEFECTS)
def test_defects(where: str, stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise DEFECTS[where](telling(stage))

    monkeypatch.setattr(where, broken)
    data, rules = stage.table(), stage.file(house(CROWD), ".toml")
    arguments = ["assess", data, "--policy", rules]
    for mode, debug in (("plain", False), ("plain", True), ("masked", True)):
        if mode == "masked" and where.endswith("timings"):
            continue
        kinds = ["--json"] if mode == "masked" else ["--timings", "--json"]
        way = [x for kind in kinds for x in (kind, stage.output(".json"))]
        run = stage.run(*arguments, *MODES[mode], *way, *["--debug"] * debug)
        assert run.code == (5 if DEFECTS[where] is MemoryError else 70)
        assert (debug and mode == "plain") == (b'File "' in run.seen["stderr"])
        run.check(mode)


# -- comparisons ----------------------------------------------------------------------------------


def released(shape: Shape) -> dict[str, Shape]:
    """Releases of a shape: labels of their own, cells withheld, other numbers, another order."""
    coarse, starred, moved = ({**shape.columns} for _ in range(3))
    for column in shape.quasi:
        values = shape.of(column)
        tops = [cell() for _ in range(2)]
        label = {v: tops[i % 2] for i, v in enumerate(values)} | {None: None}
        coarse[column] = [label[v] for v in shape.columns[column]]
        text = isinstance(values[0], str)
        star = "*" if text else None
        held = shape.columns[column]
        starred[column] = [star if i % 3 == 0 else v for i, v in enumerate(held)]
        if isinstance(values[0], int):
            moved[column] = [None if v is None else v + numeral() % 1000 for v in held]
    secret = shape.secret
    # Most secrets stay: a column that is moved as a whole shows that rows are not paired.
    few = len(moved[secret]) // 10
    moved[secret] = [*reversed(moved[secret][:few]), *moved[secret][few:]]
    return {
        name: Shape(columns, shape.quasi, shape.secrets, shape.identifier, shape.types)
        for name, columns in (("coarse", coarse), ("starred", starred), ("moved", moved))
    }


def shuffled(shape: Shape, step: int = 7) -> Shape:
    """Some of the records in another order, and one that nobody knows."""
    number = len(shape.columns[shape.identifier])
    order = [i * step % number for i in range(number - 3)]
    columns = {
        c: [*(values[i] for i in order), cell() if c == shape.identifier else values[0]]
        for c, values in shape.columns.items()
    }
    return Shape(columns, shape.quasi, shape.secrets, shape.identifier, shape.types)


def comparison_outputs(stage: Stage) -> dict[str, list[Any]]:
    return {
        "text": [],
        "everything": ["--all", "--debug"],
        "files": ["--json", stage.output(".json"), "--timings", stage.output(".json")],
        "stdout": ["--json", "-", "--debug"],
    }


@pytest.mark.parametrize("keyed", [True, False], ids=["key", "order"])
@pytest.mark.parametrize("shape", SHAPES)
def test_comparisons_tell_no_cell(shape: str, keyed: bool, stage: Stage) -> None:
    table = SHAPES[shape]
    others = released(table)
    if keyed:
        others = {name: shuffled(other) for name, other in others.items()}
    data = stage.table(table, one_parquet)
    files = [stage.table(other, one_parquet) for other in others.values()]
    q, s = ",".join(table.quasi), ",".join(table.secrets)
    given: list[Any] = ["-q", q, "-s", s, *(["--key", table.identifier] if keyed else [])]
    given += ["--shuffles", 9, "--predict", f"{table.key},{s}"]
    for name, way in comparison_outputs(stage).items():
        if name == "everything" and shape in DRAWN:
            way += ["--charts", stage.output("")]
        run = stage.run("compare", data, *(files if name == "files" else files[:1]), *given, *way)
        assert run.code == 0, run.seen["stderr"]
        assert "-" not in way or json.loads(run.seen["stdout"])
        assert ("--charts" in way) == any(where.startswith(".svg") for where in run.seen)
        run.check("plain")


# -- pages ----------------------------------------------------------------------------------------

PAGES = {"shared": ["--share"], "masked": ["--share", "--mask-names"], "inside": []}
SHARED = ("assess", "alone")  # commands of which something is shareable
PAGED: dict[str, str] = {
    "assess": "small and large classes",
    "attacks": "with gaps",
    "explain": "small and large classes",
    "ranking": "with gaps",
    "attack": "small and large classes",
    "compare": "numbers and dates",
    "compromise": "numbers and dates",
    "limit": "with gaps",
    "alone": "all alone",
}


def paged(command: str, shape: Shape, stage: Stage) -> list[Any]:
    """A command whose result becomes a page."""
    data = stage.table(shape, one_parquet)
    key = shape.identifier
    given: dict[str, list[Any]] = {
        "assess": ["assess", data, "--policy", stage.file(house(shape), ".toml")],
        "attacks": ["assess", data, *shape.roles, "--attacks"],
        "explain": ["explain", data, *shape.roles, "--population", data],
        "ranking": ["explain", data],
        "attack": [
            *("attack", data, *shape.roles, "--register", data, "--original", data),
            *("--key", key),
        ],
        "compare": ["compare", data, "-q", ",".join(shape.quasi), "-s", ",".join(shape.secrets)],
        "compromise": ["compromise", data, "-q", shape.key, "-s", shape.secret],
        "limit": ["limit", data, "-q", shape.key, "-s", shape.secret, "--at", "0.1"],
        "alone": ["assess", data, *shape.roles],
    }
    found = given[command]
    if command == "compare":
        found[2:2] = [stage.table(other, one_parquet) for other in released(shape).values()]
        found += ["--shuffles", 9]
    return found


@pytest.mark.parametrize("mode", PAGES)
@pytest.mark.parametrize("command", PAGED)
def test_pages_tell_no_cell(command: str, mode: str, stage: Stage) -> None:
    """Every chart, table, title and description of a page, and of its Markdown twin."""
    given = paged(command, SHAPES[PAGED[command]], stage)
    way = ["--html", stage.output(".html"), "--markdown", stage.output(".md"), *PAGES[mode]]
    run = stage.run(*given, *way)
    if mode != "inside" and command not in SHARED:
        assert run.code == 7 and not any(" file " in where for where in run.seen)
        run.check(mode)
        return
    assert run.code in (0, 1), run.seen["stderr"]
    pages = {where: text for where, text in run.seen.items() if where[:5] in (".html", ".md f")}
    assert len(pages) == 2
    Run(run.code, pages, run.left).check("plain" if mode == "inside" else mode)
    run.check("plain")


@pytest.mark.parametrize("mode", MODES)
def test_limits_for_pipelines_tell_no_cell(mode: str, stage: Stage) -> None:
    shape = SHAPES["with gaps"]
    way = ["--junit", stage.output(".xml"), "--sarif", stage.output(".sarif"), *MODES[mode]]
    run = stage.run(*paged("assess", shape, stage), "--quick", *way)
    assert run.code == 1 and sum(" file " in where for where in run.seen) == 2
    run.check(mode)


def test_a_page_of_saved_results_tells_no_cell(stage: Stage) -> None:
    shape = SHAPES["with gaps"]
    kept = [stage.home / f"{token('file')}.json" for _ in range(2)]
    for path, which in zip(kept, ("attacks", "explain"), strict=True):
        assert stage.run(*paged(which, shape, stage), "--json", path).code == 0
    for mode, options in PAGES.items():
        way = ["--html", stage.output(".html"), "--markdown", stage.output(".md"), *options]
        run = stage.run("report", *kept, *way)
        assert run.code == 0, run.seen["stderr"]
        pages = {where: text for where, text in run.seen.items() if " file " in where}
        assert len(pages) == 2
        Run(run.code, pages, run.left).check("plain" if mode == "inside" else mode)


def compared(*options: Any, release: Callable[[str], str | bytes] = str) -> Build:
    """A sound original, and a mistake in the release or in the options."""

    def build(stage: Stage) -> list[Any]:
        data = stage.table()
        return ["compare", data, stage.file(release(CROWD.text()), ".csv"), *options]

    return build


def keyed(change: Callable[[str], str]) -> Build:
    """A key that does not do, and a release in which a line is another."""

    def build(stage: Stage) -> list[Any]:
        lines = CROWD.text().splitlines(keepends=True)
        text = "".join([lines[0], *map(change, lines[1:])])
        data, roles = stage.table(), CROWD.roles[:4]
        return ["compare", data, stage.file(text, ".csv"), *roles, "--key", CROWD.identifier]

    return build


def laddered_release(stage: Stage) -> list[Any]:
    file = stage.file(ladder(CROWD.of(KEY)[1:]), ".csv")
    return [*compared(*CROWD.roles)(stage), "--hierarchy", f"{KEY}={file}"]


def last_replaced(line: str) -> str:
    """The identifier, last but one, is another."""
    *rest, _, end = line.split(",")
    return ",".join([*rest, cell(), end])


OF_COMPARISONS: dict[str, tuple[int, Build]] = {
    "too few fields": (3, compared(*CROWD.roles, release=lambda t: f"{t}{cell()}\n")),
    "fewer records": (2, compared(*CROWD.roles, release=lambda t: t[: t.rstrip().rfind("\n") + 1])),
    "not UTF-8": (3, compared(*CROWD.roles, release=lambda t: f"{t}\xe9".encode("latin-1"))),
    "other columns": (2, compared(*CROWD.roles, release=lambda t: t.replace(KEY, token("name"))
                                  .replace(CROWD.quasi[0], token("name")))),
    "not whole numbers": (3, compared(*CROWD.roles, "--type", f"{CROWD.quasi[0]}=int")),
    "no such column": (2, compared(*CROWD.roles, "--predict", token("name"))),
    "bins of text": (2, compared(*CROWD.roles, "--bins", f"{CROWD.quasi[0]}=3")),
    "a value for bins": (2, compared(*CROWD.roles, "--bins", f"{KEY}={CROWD.of(KEY)[0]}")),
    "a value for a key": (2, compared(*CROWD.roles, "--key", CROWD.of(KEY)[0][::-1])),
    "a key of many": (3, compared(*CROWD.roles[:2], "--key", CROWD.secret)),
    "keys of nobody": (3, keyed(last_replaced)),
    "no time": (5, compared(*CROWD.roles, "--timeout", "0.000001")),
    "to pass on": (7, compared(*CROWD.roles, "--share")),
    "values to show": (2, compared(*CROWD.roles, "--show-values")),
    "hierarchy lacks a value": (3, laddered_release),
    "output exists": (7, lambda s: [*compared(*CROWD.roles)(s), "--json", s.file("{}", ".json")]),
    "charts into a file": (2, lambda s: [*compared(*CROWD.roles)(s), "--charts", s.file("", ".x")]),
    "charts of nothing": (2, lambda s: [*compared("-q", KEY)(s), "--charts", s.output("")]),
}  # fmt: skip


@pytest.mark.parametrize("case", OF_COMPARISONS)
def test_errors_of_comparisons_tell_no_cell(case: str, stage: Stage) -> None:
    code, build = OF_COMPARISONS[case]
    run = stage.run(*build(stage), "--debug")
    assert run.code == code, run.seen["stderr"]
    assert b"error: " in run.seen["stderr"] and not run.seen["stdout"]
    run.check("plain")


@pytest.mark.parametrize(
    "where",
    ["sievert.commands.compare.run.run", "sievert.pairing.record_pairs.pair_columns",
     "sievert.losses.label_sets._observed_coverage", "sievert.commands.compare.page.blocks",
     "sievert.commands.compare.result.Comparison.to_dict"],
)  # fmt: skip
def test_defects_in_comparisons(where: str, stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise Noted(telling(stage))

    monkeypatch.setattr(where, broken)
    for debug in (False, True):
        given = compared(*CROWD.roles, "--shuffles", 3, "--json", stage.output(".json"))
        run = stage.run(*given(stage), *["--debug"] * debug)
        assert run.code == 70, run.seen["stderr"]
        assert debug == (b'File "' in run.seen["stderr"])
        run.check("plain")


# -- progress -----------------------------------------------------------------------------------


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Progress at once, as on a terminal; threads that fail say so as they do by themselves."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(progress, "INTERVAL", 0.002)
    monkeypatch.setattr(threading, "excepthook", threading.__excepthook__)


@pytest.mark.parametrize("mode", MODES)
def test_progress(mode: str, shown: None, stage: Stage) -> None:
    run = stage.run("assess", stage.table(), *CROWD.roles, *MODES[mode])
    assert run.code == 0 and b"\x1b" in run.seen["stderr"]
    run.check(mode)


def test_a_defect_of_the_bar(shown: None, stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: object) -> float:
        raise ZeroDivisionError(cell())

    monkeypatch.setattr("sievert.counts.duckdb.adapter.DuckDB.progress", broken)
    run = stage.run("assess", stage.table(), *CROWD.roles, "--share")
    assert run.code == 0
    run.check("shared")


def test_the_bar_after_the_work(shown: None, stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Removing temporary data takes its time; the bar is there until it is done."""
    from sievert.counts.duckdb.adapter import DuckDB

    close = DuckDB.close

    def slow(engine: DuckDB) -> None:
        close(engine)
        time.sleep(0.2)

    monkeypatch.setattr(DuckDB, "close", slow)
    run = stage.run("assess", stage.table(), *CROWD.roles, "--share")
    assert run.code == 0
    if b"Traceback" in run.seen["stderr"]:
        raise Leak(run.seen["stderr"])


# -- processes ----------------------------------------------------------------------------------


def surroundings(stage: Stage) -> dict[str, Any]:
    home = str(stage.home.parent)
    names = environment(USER=USER, LOGNAME=USER, HOME=home, TMPDIR=str(stage.temp))
    return {"env": names, "cwd": stage.here, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}


def developing(*arguments: Any) -> list[str]:
    """The command with all that Python can be made to say."""
    first, *rest = command_line(*arguments)
    return [first, "-X", "dev", "-W", "always", *rest]


def test_a_talkative_python(stage: Stage) -> None:
    for code, mode, arguments in (
        (0, "masked", [stage.table(GAPS), *GAPS.roles, "--json", stage.output(".json")]),
        (3, "plain", ERRORS["not whole numbers"][1](stage)[1:]),
        (3, "masked", ERRORS["gz, cut short"][1](stage)[1:]),
    ):
        line = developing("assess", *arguments, *MODES[mode])
        done = subprocess.run(line, timeout=60, **surroundings(stage))
        assert done.returncode == code, done.stderr
        stage.gathered(done.returncode, stdout=done.stdout, stderr=done.stderr).check(mode)


DEFECT = """
import errno, sys
from sievert.cli import app as cli
from sievert.commands.assess import run as assessment
class Panic(BaseException): pass
def broken(*_, **__):
    raise {error}
assessment.run = broken
cli.main(sys.argv[1:])
"""


@pytest.mark.parametrize(
    ("error", "code", "mode"),
    [("Panic(text)", 70, "plain"), ("OSError(errno.EIO, 'broken', text)", 5, "masked")],
)
def test_what_is_no_usual_error(error: str, code: int, mode: str, stage: Stage) -> None:
    script = DEFECT.format(error=error.replace("text", repr(telling(stage))))
    options = [stage.table(), *CROWD.roles, *MODES[mode], "--debug"]
    line = [sys.executable, "-c", script, "assess", *options]
    done = subprocess.run(line, timeout=60, **surroundings(stage))
    assert done.returncode == code, done.stderr
    stage.gathered(code, stdout=done.stdout, stderr=done.stderr).check(mode)


def opened(pipe: Path, process: subprocess.Popen[bytes]) -> int:
    """The end of a pipe to write to, once somebody reads from it."""
    for _ in range(3000):
        try:
            end = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            assert process.poll() is None, "the run ended before it could be stopped"
            time.sleep(0.01)
        else:
            os.set_blocking(end, True)
            return end
    raise AssertionError("nobody reads from the pipe")


def unread(pipe: int) -> int:
    """How many bytes are still in a pipe."""
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


@pytest.mark.parametrize(
    ("sent", "code", "mode"),
    [
        (signal.SIGINT, 130, "plain"),
        (signal.SIGTERM, 143, "masked"),
        (signal.SIGKILL, 6, "plain"),
        (signal.SIGKILL, 6, "masked"),
    ],
)
def test_signals(sent: signal.Signals, code: int, mode: str, stage: Stage) -> None:
    """The process that reads is stopped while it waits for the rest of the table."""
    pipe = stage.home / token("file")
    os.mkfifo(pipe)
    line = command_line("assess", pipe, *CROWD.roles, *MODES[mode], "--json", stage.output(".json"))
    with subprocess.Popen(line, **surroundings(stage)) as process:
        end = opened(pipe, process)
        try:
            with open(end, "wb", closefd=False) as file:
                file.write(CROWD.text().encode() * 400)  # more than is read at once
            for _ in range(1000):
                copies = [p for p in stage.temp.rglob("*") if p.is_file()]
                found = copies and hits(copies[0].read_bytes()[:4096], "cell")
                if found and not unread(end):
                    break
                time.sleep(0.01)
            else:
                raise AssertionError("no copy of the table is found")
            time.sleep(0.1)
            if sent == signal.SIGKILL:
                (child,) = children(process.pid)
                os.kill(child, sent)
            else:
                process.send_signal(sent)
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
            os.close(end)
    assert process.returncode == code, err
    stage.gathered(code, stdout=out, stderr=err).check(mode)


# -- Python -------------------------------------------------------------------------------------

Q, S = token("name"), token("name")


class Thing:
    """Something that shows a value."""

    def __init__(self) -> None:
        self.value = cell()

    def __repr__(self) -> str:
        return f"Thing({self.value})"


def plain(**more: Any) -> Any:
    columns = {Q: [cell(), cell()], S: [cell(), cell()]}
    return sievert.assess(columns, Q, S, **more)


def frame(library: Any, *values: Any, **more: Any) -> Any:
    return sievert.assess(library({Q: list(values)}), Q, **more)


CALLS: dict[str, Callable[[], Any]] = {
    "mixed types": lambda: sievert.assess({Q: [cell(), numeral()]}, Q),
    "things": lambda: sievert.assess({Q: [Thing()]}, Q),
    "bytes": lambda: sievert.assess({Q: [cell().encode()]}, Q),
    "lone surrogate": lambda: sievert.assess({Q: [cell() + "\udc80"]}, Q),
    "huge number": lambda: sievert.assess({Q: [numeral() * 10**40, 1]}, Q),
    "different lengths": lambda: sievert.assess({Q: [cell()], S: [cell(), cell()]}, Q, S),
    "text for a list": lambda: sievert.assess({Q: cell()}, Q),
    "a list of rows": lambda: sievert.assess([[cell()]], Q),
    "text for a path": lambda: sievert.assess("\n".join(CROWD.text().splitlines()[:2]), Q),
    "much text for a path": lambda: sievert.assess(CROWD.text(), Q),
    "text in bytes": lambda: sievert.assess(CROWD.text().encode(), Q),
    "not whole numbers": lambda: sievert.assess({Q: [cell()]}, Q, types={Q: "int"}),
    "missing": lambda: sievert.assess({Q: [cell(), None]}, Q, missing="error"),
    "order lacks": lambda: plain(orders={S: [cell()]}),
    "hierarchy lacks": lambda: plain(hierarchies={S: {cell(): ["*"]}}),
    "hierarchy is uneven": lambda: plain(hierarchies={S: {cell(): ["*"], cell(): ["x", "*"]}}),
    "hierarchy of intervals": lambda: sievert.Hierarchy.intervals([cell()], [5]),
    "place in a hierarchy": lambda: sievert.Hierarchy({cell(): ("*",)}).at(cell(), 1),
    "partition overlaps": lambda: plain(partitions={S: dict.fromkeys("ab", [cell()] * 2)}),
    "list for alpha": lambda: plain(parameters={"alpha_k": {"value": [cell()]}}),
    "text for l": lambda: plain(parameters={"recursive_c": {"l": cell()}}),
    "policy with text for a list": lambda: plain(policy={"orders": {S: cell()}}),
    "policy with text for a limit": lambda: plain(policy={"limits": {"itpr": {"max": cell()}}}),
    "policy with text for limits": lambda: plain(policy={"limits": cell()}),
    "pandas, mixed types": lambda: frame(pandas.DataFrame, cell(), numeral()),
    "pandas, things": lambda: frame(pandas.DataFrame, Thing(), Thing()),
    "pandas, lists": lambda: frame(pandas.DataFrame, [cell()], [cell()]),
    "pandas, not dates": lambda: frame(pandas.DataFrame, cell(), types={Q: "date"}),
    "pandas, labels": lambda: sievert.assess(pandas.DataFrame({Thing(): [cell()]}), Q),
    "pandas, a series": lambda: sievert.assess(pandas.Series([cell()]), Q),
    "polars, lists": lambda: frame(polars.DataFrame, [cell()]),
    "polars, not collected": lambda: sievert.assess(
        polars.LazyFrame({Q: [cell()]}).with_columns(polars.col(Q).cast(polars.Int64)), Q
    ),
    "duckdb, not computed": lambda: sievert.assess(
        duckdb.sql(f"select cast('{cell()}' as integer) as {Q}"), Q
    ),
    "arrow, nested": lambda: frame(pyarrow.table, {"x": cell()}),
    "arrow, not whole numbers": lambda: frame(pyarrow.table, cell(), types={Q: "int"}),
}


def told(error: BaseException) -> str:
    """All that is shown of an error, and of what it is chained to."""
    found = ["".join(traceback.format_exception(error))]
    link: BaseException | None = error
    while link is not None:
        found += [str(link), repr(link), repr(link.args), repr(vars(link))]
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
    return "\n".join(found)


def raised(call: Callable[[], Any], log: pytest.LogCaptureFixture) -> str:
    """All that is shown of the error that a call raises, and of its log."""
    with log.at_level(logging.DEBUG), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            call()
        except Exception as error:
            logging.exception("not done")
            shown = [told(error), log.text, *(str(w.message) for w in warned)]
            return "\n".join(shown)
    raise AssertionError("nothing was raised")


@pytest.mark.parametrize("case", CALLS)
def test_exceptions(case: str, caplog: pytest.LogCaptureFixture) -> None:
    if found := hits(raised(CALLS[case], caplog).encode(), "cell"):
        raise Leak(found)


def test_exceptions_of_files(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    for case, options in (
        ("too many fields", {}),
        ("no closing quote", {}),
        ("not UTF-8", {}),
        ("not whole numbers", {"types": {FIRST: "int"}}),
        ("parquet, other bytes", {}),
        ("parquet, not text", {}),
        ("sav, cut short", {}),
        ("xlsx, cut short", {}),
        ("duckdb, cut short", {}),
        ("no memory", {"memory": "1MB"}),
    ):
        _, data, _, quasi, *_ = ERRORS[case][1](stage)
        text = raised(lambda: sievert.assess(data, quasi.split(","), **options), caplog)  # noqa: B023
        assert hits(text.encode(), "cell") == [], case
        assert not list(stage.temp.iterdir())


def test_exceptions_of_the_engine(
    stage: Stage, engine_fails: Any, caplog: pytest.LogCaptureFixture
) -> None:
    for failure in FAILURES[::6]:
        engine_fails(failure(telling(stage)))
        assert hits(raised(plain, caplog).encode(), "cell") == [], failure


@pytest.mark.parametrize("make", [dict, pandas.DataFrame, polars.DataFrame, pyarrow.table])
def test_results_as_python_shows_them(make: Any) -> None:
    for shape in (GAPS, NUMBERS):
        columns: Any = dict(shape.columns)
        found = sievert.assess(make(columns), shape.quasi, shape.secrets, policy={"limits": {}})
        for mode, result in (
            ("plain", found),
            ("shared", found.share()),
            ("masked", found.share(mask_names=True)),
        ):
            parts = (repr(result), result._repr_html_(), result.to_dict(), vars(result))
            text = "\n".join(map(str, (*parts, result.to_frame().to_csv())))
            assert hits(text.encode(), *HIDDEN[mode]) == []


# -- the canary itself --------------------------------------------------------------------------


def says(text: Callable[[], str]) -> Callable[[pytest.MonkeyPatch], None]:
    """Another line at the end of what the terminal shows."""

    def patch(monkeypatch: pytest.MonkeyPatch) -> None:
        from sievert.report import terminal

        write = terminal.as_text
        monkeypatch.setattr(terminal, "as_text", lambda lines: f"{write(lines)}\n {text()}\n")

    return patch


def does(act: Callable[[], Any]) -> Callable[[pytest.MonkeyPatch], None]:
    """Something else before anything is shown."""

    def quietly() -> str:
        act()
        return ""

    return says(quietly)


def in_json(monkeypatch: pytest.MonkeyPatch) -> None:
    to_dict = sievert.Assessment.to_dict
    monkeypatch.setattr(sievert.Assessment, "to_dict", lambda a: {**to_dict(a), "x": VALUES[0]})


def in_timings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(written, "timings", lambda *_: {"seconds": {VALUES[0]: 1.0}})


def in_records(monkeypatch: pytest.MonkeyPatch) -> None:
    from sievert.counts.duckdb.adapter import DuckDB

    write = DuckDB.write

    def leaky(engine: DuckDB, sql: str, path: Path, kind: str) -> None:
        write(engine, f"SELECT *, '{VALUES[0]}' AS x FROM ({sql})", path, kind)

    monkeypatch.setattr(DuckDB, "write", leaky)


def in_temporary_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sievert.sources.isolation.shutil.rmtree", lambda *_, **__: None)


LEAKS: dict[str, tuple[str, Callable[[pytest.MonkeyPatch], None]]] = {
    "a cell": ("plain", says(lambda: VALUES[0])),
    "the start of a cell": ("plain", says(lambda: f"x{VALUES[0][:PART]}")),
    "a cell in capitals": ("plain", says(lambda: VALUES[0].upper())),
    "a number": ("plain", says(lambda: f"{NUMBERS.of(NUMBERS.secret)[0]:,}")),
    "the start of a number": ("plain", says(lambda: str(NUMBERS.of(NUMBERS.secret)[0])[:PART])),
    "a date": ("plain", says(lambda: f"{NUMBERS.of(NUMBERS.quasi[1])[0]:%d.%m.%Y}")),
    "UTF-16": ("plain", does(lambda: sys.stdout.buffer.write(VALUES[0].encode("utf-16-be")))),
    "stderr": ("plain", does(lambda: print(VALUES[0], file=sys.stderr))),
    "a descriptor": ("plain", does(lambda: os.write(2, VALUES[0].encode()))),
    "the log": ("plain", does(lambda: logging.getLogger("sievert").debug(VALUES[0]))),
    "a warning": ("plain", does(lambda: warnings.warn(VALUES[0], stacklevel=2))),
    "JSON": ("plain", in_json),
    "timings": ("plain", in_timings),
    "records as text": ("plain", in_records),
    "records in Parquet": ("plain", in_records),
    "temporary data": ("plain", in_temporary_data),
    "the working directory": ("plain", does(lambda: Path("left").write_text(""))),
    "a file's name": ("shared", says(lambda: token("file"))),
    "a folder's name": ("shared", says(lambda: f"/data/{FOLDER}/x")),
    "the user": ("shared", says(lambda: getpass.getuser())),
    "the machine": ("shared", says(lambda: platform.node())),
    "a column's name": ("masked", says(lambda: KEY)),
}


@pytest.mark.parametrize("leak", ["", *LEAKS])
def test_the_canary_sings(leak: str, stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    mode, patch = LEAKS.get(leak, ("masked", lambda _: None))
    arguments = ["assess", stage.table(), "-q", KEY, "-s", SECRET, *MODES[mode]]
    with monkeypatch.context() as patched:
        patch(patched)
        run = stage.run(*arguments, *outputs(stage, mode, "Parquet" in leak or leak == "JSON"))
    assert run.code == 0
    if leak:
        with pytest.raises(Leak):
            run.check(mode)
    else:
        run.check(mode)


def test_many_tokens_are_looked_for() -> None:
    assert len(_given) > 300 and len(_spelled) > 50


def test_the_canary_sings_of_errors(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def leaky(*_: object, **__: object) -> None:
        try:
            raise ValueError(VALUES[0])
        except ValueError as error:
            raise sievert.SievertError("not done") from error

    assert hits(raised(leaky, caplog).encode(), "cell")
    monkeypatch.setattr("sievert.commands.assess.run.run", leaky)
    run = stage.run("assess", stage.table(), *CROWD.roles, "--debug")
    assert run.code == 70
    run.check("plain")
    monkeypatch.setattr(messages, "in_our_words", lambda e: sievert.SievertError(str(e.__cause__)))
    with pytest.raises(Leak):
        stage.run("assess", stage.table(), *CROWD.roles).check("plain")
