"""A canary: tables of unique tokens, taken through everything there is, looked for in all bytes.

Every cell, every name of a column and every name of a file is a token that occurs nowhere else.
After a run all that was said, written, logged or left behind is searched for them: for cells always,
for names of files and folders with `--share`, for names of columns with `--mask-names` as well. The
first characters of a token are enough for a hit, and so are other spellings of it.
"""

from __future__ import annotations

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
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest
import zstandard
from badinputs import children, command, environment, excel, feather, parquet, statistical

import sievert
from sievert import cli, progress

# -- tokens -------------------------------------------------------------------------------------

KINDS = {"cell": "qxc", "name": "jqh", "file": "wqf", "place": "vqd"}
PART = 8  # so many characters of a token are a hit
_chance = random.Random(20_250_101)
_given: set[str] = set()


def token(kind: str) -> str:
    """A word nobody else has: its kind, and letters that make no syllables."""
    while True:
        word = KINDS[kind] + "".join(_chance.choices("bcdfghjklmnpqrstvwxz", k=9))
        if word[:PART] not in _given:
            _given.add(word[:PART])
            return word


def numeral() -> int:
    """A number of ten digits nobody else has."""
    while True:
        number = _chance.randrange(7 * 10**9, 8 * 10**9)
        if str(number)[:PART] not in _given:
            _given.add(str(number)[:PART])
            return number


def day() -> date:
    """A day long ago nobody else has."""
    while True:
        found = date(1601, 1, 1) + timedelta(days=_chance.randrange(100_000))
        if found.isoformat() not in _given:
            _given.add(found.isoformat())
            return found


def spellings(value: Any) -> set[str]:
    """How a value could be written down."""
    if isinstance(value, date):
        d = value
        return {f"{d}", f"{d.year}, {d.month}, {d.day}", f"{d:%d/%m/%Y}", f"{d:%m/%d/%Y}",
                f"{d:%d.%m.%Y}", f"{d:%Y%m%d}"}  # fmt: skip
    if isinstance(value, int | float):
        whole = int(value)
        return {f"{whole}", f"{whole:,}", f"{float(value):.7e}"[:9]}
    return {str(value).strip().lower()}


@cache
def _pattern(spelled: frozenset[str]) -> re.Pattern[str]:
    """A number must not stand within a longer one: timings have many digits."""
    parts = set()
    for text in spelled:
        start = text if "/" in text or ", " in text else text[:PART]
        start = text if re.fullmatch(r"\d{8}", text) or text.count("-") == 2 else start
        start = text if "," in text or text.count(".") else start
        parts.add((r"(?<![\d.])" if start[0].isdigit() else "") + re.escape(start))
    return re.compile("|".join(sorted(parts)))


def hits(content: bytes, values: Iterable[Any]) -> list[str]:
    """Which of the values, or of their first characters, stand in some bytes."""
    spelled = frozenset(s for v in values for s in spellings(v))
    if not spelled:
        return []
    found: set[str] = set()
    for text in (
        content.decode("latin-1").lower(),
        *(content.decode(e, "replace").lower() for e in ("utf-16-le", "utf-16-be")),
    ):
        found |= set(_pattern(spelled).findall(text))
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
    def cells(self) -> set[Any]:
        return {v for values in self.columns.values() for v in values if v is not None}

    @property
    def names(self) -> set[str]:
        return set(self.columns)

    @property
    def key(self) -> str:
        """The quasi-identifier that nobody lacks, and that is text."""
        return self.quasi[-1]

    @property
    def secret(self) -> str:
        return self.secrets[0]

    @property
    def roles(self) -> list[str]:
        return [
            *("-q", ",".join(self.quasi), "-s", ",".join(self.secrets), "-i", self.identifier),
        ]

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


def cell() -> str:
    return token("cell")


def shaped(quasi: list[list[Any]], secrets: list[list[Any]], **types: str) -> Shape:
    """A shape of these columns, with an identifier and a column without a role."""
    number = len(quasi[0])
    names = [token("name") for _ in range(len(quasi) + len(secrets) + 2)]
    columns = [*quasi, *secrets, [cell() for _ in range(number)], spread([number], cell)]
    q, s = names[: len(quasi)], names[len(quasi) : -2]
    kinds = {names[int(at[1:])]: kind for at, kind in types.items()}
    return Shape(
        dict(zip(names, columns, strict=True)), tuple(q), tuple(s), names[-2], kinds
    )  # fmt: skip


def mixed(values: list[Any], step: int) -> list[Any]:
    """The same values in another order."""
    return [values[i * step % len(values)] for i in range(len(values))]


def with_gaps(values: list[Any], every: int) -> list[Any]:
    return [None if i % every == 2 else v for i, v in enumerate(values)]


def shapes() -> dict[str, Shape]:
    sizes = (25, 14, 12, 6, 2, 2)
    secret = mixed(spread((30, 15, 13, 3), cell), 7)
    other = mixed(spread((40, 18, 3), cell), 5)
    return {
        "all alone": shaped(
            [[cell() for _ in range(15)] for _ in range(3)], [[cell() for _ in range(15)]]
        ),
        "small and large classes": shaped(
            [spread(sizes, cell), mixed(spread((50, 11), cell), 3)], [secret, other]
        ),
        "with gaps": shaped(
            [with_gaps(spread(sizes, cell), 6), mixed(spread((50, 11), cell), 3)],
            [with_gaps(secret, 5), other],
        ),
        "numbers and dates": shaped(
            [spread(sizes, numeral), spread(sizes, day), mixed(spread((50, 11), cell), 3)],
            [
                mixed(spread((30, 15, 13, 3), numeral), 7),
                [float(n) + 0.5 for n in mixed(spread((30, 28, 3), numeral), 7)],
                mixed(spread((30, 28, 3), day), 7),
            ],
            c0="int",
            c1="date",
            c3="int",
            c4="float",
            c5="date",
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
            n: pandas.Series([v for v in values], dtype=object if kind is date else None)
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

SHARED, MASKED = ["--share"], ["--share", "--mask-names"]
MODES: dict[str, list[str]] = {"plain": [], "shared": SHARED, "masked": MASKED}


def inside(path: Path) -> bytes:
    """The bytes of a file; what a Parquet file has compressed is unpacked as well."""
    content = path.read_bytes()
    if content.startswith(b"PAR1"):
        table = pyarrow.parquet.read_table(path)
        content += f"\n{table.schema}\n{table.to_pylist()}".encode()
    return content


@dataclass
class Run:
    """How a run ended, and every byte that can be read after it, by where it is found."""

    code: int
    seen: dict[str, bytes]
    left: list[str]

    def found(self, forbidden: Iterable[Any]) -> dict[str, list[str]]:
        forbidden = set(forbidden)
        searched = {where: hits(content, forbidden) for where, content in self.seen.items()}
        return {where: found for where, found in searched.items() if found}


class Stage:
    """Folders with telling names, and the command run among them."""

    def __init__(self, root: Path, capture: Any, log: pytest.LogCaptureFixture) -> None:
        self.home, self.out = root / USER / FOLDER, root / USER / token("place")
        self.temp, self.here = root / "temp", root / "here"
        for folder in (self.home, self.out, self.temp, self.here):
            folder.mkdir(parents=True)
        self.capture, self.log = capture, log
        self.shape = CROWD
        self.more: set[Any] = set()  # further cells

    def file(self, content: str | bytes, ending: str = "", name: str = "") -> Path:
        """A file with a telling name."""
        path = self.home / ((name or token("file")) + ending)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def table(self, shape: Shape = CROWD, write: Writer = csv_file) -> str:
        self.shape = shape
        return write(self.home, shape)

    def output(self, ending: str) -> Path:
        return self.out / f"{token('file')}{ending}"

    def run(self, *arguments: object) -> Run:
        """The command in this process: its output, its log, its warnings, what it wrote."""
        self.capture.readouterr()
        self.log.clear()
        with warnings.catch_warnings(record=True) as warned, self.log.at_level(logging.DEBUG):
            warnings.simplefilter("always")
            code = cli._run([str(a) for a in arguments])
        out, err = self.capture.readouterr()
        seen = {"stdout": out, "stderr": err, "log": self.log.text.encode()}
        seen["warnings"] = "\n".join(f"{w.message} {w.filename}" for w in warned).encode()
        return self.gathered(code, seen)

    def gathered(self, code: int, seen: dict[str, bytes]) -> Run:
        for path in sorted(self.out.rglob("*")):
            if path.is_file() and not path.is_symlink():
                seen[f"file {path.suffix} {len(seen)}"] = inside(path)
        seen["names"] = "\n".join(p.name for p in self.out.rglob("*")).encode()
        left = [p.name for folder in (self.temp, self.here) for p in folder.rglob("*")]
        return Run(code, seen, left)

    def check(self, run: Run, mode: str) -> None:
        """Nothing is found that this mode hides, and nothing is left behind."""
        forbidden = self.shape.cells | self.more
        found = run.found(forbidden)
        if mode != "plain":  # outputs are called as the test calls them
            said = Run(run.code, {k: v for k, v in run.seen.items() if k != "names"}, [])
            found |= {f"{k}, a place": v for k, v in said.found([p for p in _places()]).items()}
        if mode == "masked":
            names = {w for w in _given if w.startswith(KINDS["name"])}
            found |= {f"{k}, a name": v for k, v in run.found(names).items()}
        assert not found, found
        assert not run.left, "temporary data is left behind"


def _places() -> set[str]:
    """The starts of all names of files and folders, of the user and of the machine."""
    found = {w for w in _given if w.startswith((KINDS["file"], KINDS["place"]))}
    return found | {n for n in (platform.node(), getpass.getuser()) if len(n) >= PART}


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


def outputs(stage: Stage, mode: str, number: int = 0) -> list[list[Any]]:
    """Ways to write the result; single records only where the result is not to be passed on."""
    found: list[list[Any]] = [
        ["--json", stage.output(".json"), "--timings", stage.output(".json"), "--all"],
        ["--json", "-", "--timings", stage.output(".json"), "--debug"],
    ]
    if mode == "plain":
        found[0] += ["--records", stage.output(".csv")]
        found[1] += ["--records", stage.output(".parquet")]
    return found


# -- results ------------------------------------------------------------------------------------

TABLES = [
    (kind, shape)
    for kind in FORMATS
    for shape in SHAPES
    if kind in ("csv", "parquet") or shape in ("with gaps", "numbers and dates")
]


@pytest.mark.parametrize(("kind", "shape"), TABLES)
def test_results_tell_no_cell(kind: str, shape: str, stage: Stage) -> None:
    data = stage.table(SHAPES[shape], FORMATS[kind])
    typed = stage.shape.typed if kind in TEXT else []
    for mode, options in MODES.items():
        for ways in outputs(stage, mode):
            run = stage.run("assess", data, *stage.shape.roles, *typed, *options, *ways)
            assert run.code == 0, run.seen["stderr"]
            assert json.loads(run.seen["stdout"]) if "-" in ways else run.seen["stdout"]
            stage.check(run, mode)
            for path in stage.out.iterdir():
                path.unlink()


def house(shape: Shape, **more: str) -> str:
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
            "t_closeness_ordered = { max = 0.9 }" if None not in shape.columns[shape.secret] else "",
            *more.values(),
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
        stage.more.add(named)
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
    swapped = [records[0].upper(), records[1].replace(",", " ,"), "NA,?,-,null,.,n/a", header]
    data = stage.file("\n".join([header, *records, *swapped, "", ""]), ".csv")
    return [data, *CROWD.roles]


def two_tables(stage: Stage) -> list[Any]:
    data = stage.table(write=database_file)
    with duckdb.connect(data.partition("?")[0]) as connection:
        connection.execute(f"CREATE TABLE {token('name')} AS SELECT '{CROWD.of(CROWD.key)[0]}' AS x")
    return [data, *CROWD.roles]


def two_sheets(stage: Stage) -> Path:
    from test_formats import text, xlsx

    sheets = {token("name"): ["".join(map(text, row)) for row in CROWD.rows()] for _ in range(2)}
    return xlsx(stage.home / f"{token('file')}.xlsx", **sheets)


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
    "smaller cells": lambda s: [s.table(), *CROWD.roles, "--temp", s.temp],
    "a table of two": two_tables,
    "the first of two sheets": lambda s: [two_sheets(s), *CROWD.roles],
    "relative path": lambda s: [os.path.relpath(s.table()), *CROWD.roles],
    "quasi-identifier and secret": lambda s: [
        s.table(), "-q", ",".join(CROWD.quasi), "-s", CROWD.key,
    ],
}  # fmt: skip
KNOWN: dict[tuple[str, str], str] = {}


def in_modes(cases: Iterable[str]) -> list[Any]:
    """Every case in every mode; one that is known to tell too much must go on failing."""

    def param(case: str, mode: str) -> Any:
        reason = KNOWN.get((case, mode))
        marks = [pytest.mark.xfail(reason=reason, strict=True)] if reason else []
        return pytest.param(case, mode, marks=marks, id=f"{case}, {mode}")

    return [param(case, mode) for case in cases for mode in MODES]


@pytest.mark.parametrize(("case", "mode"), in_modes(SETTINGS))
def test_settings_tell_no_cell(case: str, mode: str, stage: Stage) -> None:
    arguments = ["assess", *SETTINGS[case](stage), *MODES[mode]]
    wild = "wildcard" in case
    for ways in outputs(stage, mode):
        if wild and "--records" in ways:
            ways = ways[: ways.index("--records")]
        run = stage.run(*arguments, *ways)
        assert run.code == ("policy" in case), run.seen["stderr"]
        stage.check(run, mode)
