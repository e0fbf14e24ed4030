"""The engine spark: the same JSON as DuckDB's, to the last bit, and nothing left behind."""

from __future__ import annotations

import csv
import datetime
import io
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from helpers import enginereleases, ledgerparity, sketchtables, spellingtables
from helpers.commandline import command_line
from helpers.effort import SOAKING, tried
from helpers.randomtables import Case, case, mark_suppressed
from helpers.roworder import without_order
from helpers.suppressedoracle import limits_on_classes

import sievert
from sievert.counts.questions import Questions
from sievert.counts.spark import fetched_cells, releases
from sievert.counts.spark import session as spark_session
from sievert.counts.spark.adapter import Spark
from sievert.errors import (
    EngineError,
    ExhaustedError,
    InputError,
    InvariantError,
    RefusedError,
    SievertError,
    UsageError,
)
from sievert.sources.isolation import private_directory
from sievert.sources.table import Table

pytest.importorskip("pyspark")

ROOT = Path(__file__).parents[2]
SECRET = "canary-7391"
SOME = ("classes", "k_anonymity", "l_diversity", "itpr", "alpha_k", "t_closeness_ordered",
        "t_closeness_hierarchical")  # fmt: skip
ODD = ("a.b", "c`d", 'e"f', "Ünï 😀", "x; --", "select", "c0", " lead", "it's", "_metadata")


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    """A session that goes on: every test of this file is a guest in it."""
    with private_directory() as scratch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = Table(kind="csv", name="t", path=Path(__file__))
        with spark_session._start_spark(table, scratch, None, None, None) as session:
            for name in spark_session.INTERPRETED:  # of a small table; a large one is compiled
                session.sparkContext._jsc.sc().conf().remove(name)
            yield session


@pytest.fixture
def interpreted(spark: Any) -> Iterator[None]:
    """No code is compiled, no plan revised: half the time where no two questions are alike."""
    conf = spark.sparkContext._jsc.sc().conf()
    told = {**spark_session.INTERPRETED, "spark.sql.adaptive.enabled": "false"}
    for name, value in told.items():
        conf.set(name, value)
    yield
    for name in told:
        conf.remove(name)


@pytest.fixture
def cells_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells are not fetched, as where there are many: Spark answers from them, and matches them."""
    monkeypatch.setattr(fetched_cells, "MOST_CELLS", 0)
    monkeypatch.setattr("sievert.counts.questions.FEW_CLASSES", 0)


def told(source: Any, quasi: Sequence[str], secrets: Sequence[str], **options: Any) -> str:
    """The whole result but for the engine, or the error."""
    try:
        whole = sievert.assess(source, quasi, secrets, **options).to_dict()
    except SievertError as error:
        return f"{type(error).__name__}: {error}"
    del whole["table"]["engine"]
    return json.dumps(without_order(whole), sort_keys=True, indent=1)


def same(source: Any, quasi: Sequence[str], secrets: Sequence[str], **options: Any) -> str:
    ours = told(source, quasi, secrets, engine="spark", **options)
    assert ours == told(source, quasi, secrets, **options)
    return ours


def write_csv(path: Path, columns: dict[str, list[Any]], end: str = "\n") -> Path:
    """Missing values as nothing, empty text as quotes around nothing."""

    def cell(value: Any) -> str:
        if value is None:
            return ""
        text = str(value)
        quoted = not text or set(text) & set(',"\r\n') or text[0] == " "
        return '"' + text.replace('"', '""') + '"' if quoted else text

    rows = [list(columns), *zip(*columns.values(), strict=True)]
    path.write_bytes("".join(",".join(map(cell, row)) + end for row in rows).encode())
    return path


def write_parquet(path: Path, columns: dict[str, Any]) -> Path:
    table = pyarrow.table({n: pyarrow.array(v, type=None) for n, v in columns.items()})
    pyarrow.parquet.write_table(table, path)
    return path


# -- the same numbers -----------------------------------------------------------------------------


def test_hospital(interpreted: None, tmp_path: Path) -> None:
    path, ladders = tmp_path / "hospital.csv", tmp_path / "ladders"
    command = [sys.executable, ROOT / "examples" / "hospital.py", path, "--hierarchies", ladders]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    found = same(
        path,
        ["sex", "age", "postcode"],
        ["diagnosis", "length_of_stay"],
        types={"length_of_stay": "int"},
        hierarchies={"diagnosis": str(ladders / "diagnosis.csv"), "length_of_stay": "interval:2,4"},
        policy={"limits": {"k_anonymity": {"min": 2}}},
    )
    assert '"t_closeness_hierarchical"' in found and '"limits"' in found


def test_adult(spark: Any, reference: Path) -> None:
    path = reference / "data" / "adult" / "adult.csv"
    found = same(
        path,
        ["age", "sex", "race", "native-country"],
        ["salary-class"],
        types={"age": "int"},
        orders={"salary-class": ["<=50K", ">50K"]},
        delimiter=";",
    )
    assert '"rows": 30162' in found


def test_wildcards_weights_and_nan(interpreted: None, tmp_path: Path) -> None:
    chance = Random(7)
    columns: dict[str, list[Any]] = {
        "zip": [chance.choice((None, *"abc")) for _ in range(60)],
        "age": [chance.choice((None, *"12")) for _ in range(60)],
        "w": [chance.choice(("1", "2.5", "1e19", "1.000000001")) for _ in range(60)],
        "x": [chance.choice((float("nan"), None, 1.5, 2.5)) for _ in range(60)],
    }
    path = write_parquet(tmp_path / "t.parquet", columns)
    wild = same(path, ["zip", "age"], ["x"], missing="wildcard", alpha="0.3", weight="w")
    assert '"global_risk"' in wild and '"alpha": 0.3' in wild
    assert '"not_a_number"' in same(path, ["zip"], ["x"], na=["1.5"])


def asked(c: Case, number: int) -> dict[str, Any]:
    """What a measure may be told, in turns."""
    options: dict[str, Any] = {
        "parameters": {"recursive_c": {"l": c.l}, "records_below": {"k": [2, 3]}},
        "missing": ("value", "drop", "wildcard", "value")[number % 4],
        "na": ("NULL", "s1", "never")[: number % 5],
    }
    if number % 3 == 0:
        options["orders"] = {c.secret: c.order}
        options["parameters"]["alpha_k"] = {"value": {c.secret: c.named}}
    elif number % 3 == 1:
        ladder = {v: labels for v, labels in c.ladder.items() if v is not None}
        options["hierarchies"] = {c.secret: sievert.Hierarchy(ladder)}
    else:
        options["partitions"] = {c.secret: c.partition}
    return options


def compare(folder: Path, name: str) -> None:
    """One random table with odd names, as CSV or as Parquet."""
    number = int(name.split()[-1])
    random = Random(name)
    c = case(random)
    names = dict(zip(c.columns, random.sample(ODD, len(c.columns)), strict=True))
    columns = {names[n]: values for n, values in c.columns.items()}
    path = folder / f"{number}.{('csv', 'parquet')[number % 2]}"
    if number % 2:
        strings = {n: pyarrow.array(v, pyarrow.string()) for n, v in columns.items()}
        write_parquet(path, strings)
    else:
        write_csv(path, columns, end=("\n", "\r\n", "\r")[number % 3])
    options = asked(c, number)
    for told in (options, options["parameters"].get("alpha_k", {})):
        for option in {"orders", "hierarchies", "partitions", "value"} & set(told):
            told[option] = {names[c.secret]: told[option][c.secret]}
    same(path, [names[q] for q in c.quasi], [names[c.secret]], **options)


def test_random_tables(interpreted: None, tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as two:
        list(two.map(lambda n: compare(tmp_path, f"spark {n}"), range(tried(6, soak=60))))


def test_random_tables_whose_cells_stay(
    interpreted: None, cells_stay: None, tmp_path: Path
) -> None:
    with ThreadPoolExecutor(2) as two:
        list(two.map(lambda n: compare(tmp_path, f"spark {n}"), range(tried(3, soak=60))))


MARKS = ("*", "it's %s \\ é?", "a", None)  # None is a missing value


@pytest.mark.parametrize("stay", [False, True])
def test_suppressed_records(
    interpreted: None, stay: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if stay:
        monkeypatch.setattr(fetched_cells, "MOST_CELLS", 0)
    for number, mark in enumerate(MARKS):
        if stay and number % 2 == 0 and not SOAKING:
            continue
        random = Random(f"suppressed {number}")
        table = mark_suppressed(case(random), random, mark)
        columns: dict[str, Any] = {**table.columns, "number": [5] * len(table.rows)}
        strings = {n: pyarrow.array(v, pyarrow.string()) for n, v in table.columns.items()}
        path = write_parquet(tmp_path / f"{number}.parquet", {**columns, **strings})
        roles: Any = (table.quasi, [table.secret])
        found = same(path, *roles, suppressed=mark, missing=("value", "drop")[number == 1])
        assert '"suppressed": 0' not in found
        rules = limits_on_classes(table.quasi, table.secret, mark=mark, ignored=["number"])
        found = same(path, *roles, suppressed=mark, policy=rules, quick=True)
        assert '"scope": "suppressed"' in found or "nothing is left" in found
        rules = limits_on_classes(table.quasi, table.secret, mark=mark, person="number")
        same(path, *roles, suppressed=mark, policy=rules, quick=True)
        same(path, ("number", *table.quasi), [table.secret], suppressed=mark, measures=["classes"])


def test_cells_that_become_many(
    interpreted: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was fetched before is counted again where all cells stay from then on."""
    chance = Random(8)
    columns = {
        "q": [chance.choice("abc") for _ in range(60)],
        "few": [chance.choice((None, "x", "y")) for _ in range(60)],
        "many": [chance.randrange(30) for _ in range(60)],
    }
    path = write_parquet(tmp_path / "t.parquet", columns)
    asked: list[str] = []
    real = fetched_cells.ClusterCells.keep
    monkeypatch.setattr(fetched_cells, "MOST_CELLS", 20)
    monkeypatch.setattr(
        fetched_cells.ClusterCells, "keep", lambda *given: asked.append(given[1]) or real(*given)
    )
    ladder = sievert.Hierarchy({"x": ("*",), "y": ("*",)})
    parts = {"few": {"one": ["x"], "other": ["y"]}}
    options = {"hierarchies": {"few": ladder}, "partitions": parts}
    same(path, ["q"], ["few"], **options)
    assert len(asked) == 1  # to see how many they are
    same(path, ["q"], ["few", "many"], **options)
    assert len(asked) > 10


def note_calls(patch: pytest.MonkeyPatch, owner: Any, name: str, calls: list[Any]) -> None:
    """Note the first argument of every call of a method."""
    real = getattr(owner, name)

    def ask(engine: Any, *given: Any, **options: Any) -> Any:
        calls.append(given[0])
        return real(engine, *given, **options)

    patch.setattr(owner, name, ask)


def test_how_often_spark_is_asked(
    interpreted: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The work is counted: one pass over the records for all secrets, one answer for a secret."""
    chance = Random(9)
    names = {"q": "abc", "r": "de", "s": "xyz", "t": "uvw"}
    columns = {name: [chance.choice(values) for _ in range(60)] for name, values in names.items()}
    path, asked = write_parquet(tmp_path / "t.parquet", columns), list[Any]()
    with monkeypatch.context() as patch:
        note_calls(patch, Spark, "_ask", asked)
        same(path, ["q", "r"], ["s"])
        assert len(asked) == 1  # the cells; how many records there are follows from them
        same(path, ["q"], ["s", "t"])
        assert len(asked) == 2 and asked[1].count("FROM input") == 1
    asked.clear()
    monkeypatch.setattr(fetched_cells, "MOST_CELLS", 0)
    for name in ("rows", "each_answer"):
        note_calls(monkeypatch, fetched_cells.ClusterCells, name, asked)
    same(path, ["q", "r"], ["s"])
    assert max(len(queries) for queries in asked if not isinstance(queries, str)) == 4
    assert len(asked) <= 7


def test_cells_larger_than_the_driver_takes(spark: Any, interpreted: None, tmp_path: Path) -> None:
    columns = {name: list(range(30_000)) for name in "abcd"}
    path = write_parquet(tmp_path / "t.parquet", columns)
    conf = spark.sparkContext._jsc.sc().conf()
    before = conf.get("spark.driver.maxResultSize")
    conf.set("spark.driver.maxResultSize", "200k")
    try:
        assert '"rows": 30000' in same(path, list(columns), [])
    finally:
        conf.set("spark.driver.maxResultSize", before)


def test_records_that_were_not_read(spark: Any) -> None:
    """As many are read as the file has, whether cells are counted or records are asked first."""
    cells = "SELECT c0, COUNT(*) AS n FROM input GROUP BY c0"
    for ask in (
        lambda engine: engine.query_records("SELECT COUNT(*) FROM input"),
        lambda engine: engine.count("t0", cells, 11),
    ):
        with private_directory() as scratch:
            engine = Spark(Table(kind="frame", name="frame", data=spark.range(10)), scratch)
            engine.expected, engine._checked = 11, False
            try:
                with pytest.raises(InputError, match="10 records were read where the file has 11"):
                    ask(engine)
                with pytest.raises(InputError, match="two counts"):
                    engine.count("t1", cells, 9)
            finally:
                engine.close()


FLOATS = [0.1, 1e7, 12345678.5, 1e15, 1e16, 1e-4, 1e-5, 2e-7, -0.0, 0.0, float("nan"),
          float("inf"), float("-inf"), None, 1.5e300, 123456789012345680.0]  # fmt: skip


def typed_columns() -> dict[str, Any]:
    """Every type that both engines read, 96 records."""
    many = 96 // len(FLOATS)
    moments = [0, 1, 10**9, 1_600_000_000_123_456_789, -1, None]

    def repeated(values: Sequence[Any], kind: Any = None) -> Any:
        return pyarrow.array([values[i % len(values)] for i in range(96)], kind)

    return {
        "double": repeated(FLOATS, pyarrow.float64()),
        "float": pyarrow.array([1.5, float("nan"), -0.0, 0.0, None, 2e7] * 16, pyarrow.float32()),
        "tiny": repeated([1, -2, None], pyarrow.int8()),
        "unsigned": repeated([1, 2**64 - 1, None], pyarrow.uint64()),
        "decimal": repeated([Decimal("1.10"), None, Decimal("0.01")], pyarrow.decimal128(20, 9)),
        "flag": repeated([True, False, None]),
        "day": repeated([datetime.date(1, 1, 1), datetime.date(2020, 2, 29), None]),
        "moment": repeated(moments, pyarrow.timestamp("ns")),
        "local": pyarrow.array([1, 2_500_000, None] * 32, pyarrow.timestamp("us")),
        "instant": pyarrow.array([1, 2_500_000] * 48, pyarrow.timestamp("us", tz="Asia/Tokyo")),
        "bytes": repeated([b"a", b"", None]),
        "category": repeated(["x", "y", None]).dictionary_encode(),
        "text": repeated(["a", "A", "é", "e\u0301", "", " a", "a ", "a\n", None]),
        "list": pyarrow.array([[1], None, [2]] * 32),
        "number": pyarrow.array(list(range(many)) * len(FLOATS)),
    }


def both(questions: Sequence[tuple[Any, ...]], **options: Any) -> None:
    """Two at a time, beside each other in one Spark."""
    with ThreadPoolExecutor(2) as two:
        list(two.map(lambda q: same(*q[:3], **options, **(q[3] if len(q) > 3 else {})), questions))


def test_compare(interpreted: None, tmp_path: Path) -> None:
    chance = Random(6)
    rows = [(f"p{i}", str(chance.randrange(9)), chance.choice("abc")) for i in range(200)]
    kept = [row for i, row in enumerate(rows) if i % 9]
    chance.shuffle(kept)
    original, release = tmp_path / "original.csv", tmp_path / "release.csv"
    for path, held in ((original, rows), (release, [(i, z[0] + "*", d) for i, z, d in kept])):
        lines = [",".join(row) for row in (("id", "zip", "disease"), *held)]
        path.write_text("\n".join(lines) + "\n")

    def compared(engine: str) -> dict[str, Any]:
        found = sievert.compare(
            original, release, "zip", "disease", key="id", shuffles=19, engine=engine
        ).to_dict()
        for table in (found["table"], found["releases"][0]["table"]):
            assert table.pop("engine") == engine
        return without_order(found)

    assert compared("spark") == compared("duckdb")


def ladder_of_floats() -> sievert.Hierarchy:
    spelled = ["0.1", "10000000.0", "12345678.5", "1000000000000000.0", "1e+16", "0.0001", "1e-05"]
    spelled += ["2e-07", "0.0", "inf", "-inf", "1.5e+300", "1.2345678901234568e+17"]
    return sievert.Hierarchy({v: ("low" if i < 5 else "high", "*") for i, v in enumerate(spelled)})


def test_types_of_cells_that_stay(interpreted: None, cells_stay: None, tmp_path: Path) -> None:
    """Spark spells the values of its cells as DuckDB does."""
    columns = typed_columns()
    names = ("number", "double", "instant")
    path = write_parquet(tmp_path / "t.parquet", {name: columns[name] for name in names})
    found = same(
        path,
        ["number"],
        ["double", "instant"],
        hierarchies={"double": ladder_of_floats()},
        partitions={"instant": {"some": ["1970-01-01 00:00:00.000001+00"]}},
        parameters={"alpha_k": {"value": {"double": 1e16}}},
        measures=("alpha_k", "t_closeness_hierarchical", "semantic_discrimination_rate"),
    )
    assert "Error" not in found


def test_types(interpreted: None, tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "t.parquet", typed_columns())
    named = {
        "hierarchies": {"double": ladder_of_floats()},
        "parameters": {"alpha_k": {"value": {"double": 1e16}}},
        "na": ["12345678.5"],
    }
    text = {"types": {"double": "text", "local": "text"}, "missing": "drop"}
    both([
        (path, ["tiny", "instant"], ["moment", "decimal", "flag"]),
        (path, ["float", "number"], ["category", "text", "unsigned"]),
        (path, ["day", "bytes"], ["double"], named),
        (path, ["double", "local"], ["instant"], text),
    ], measures=SOME)  # fmt: skip
    assert "UsageError" in same(path, ["list"], ["text"])
    assert "UsageError" in same(path, ["tiny"], ["text"], types={"tinny": "int"})


def test_states(interpreted: None, tmp_path: Path) -> None:
    """Counted by Spark's own GROUP BY and files, a state is that of DuckDB, and both add up."""
    columns = typed_columns()
    names = [n for n in columns if n not in ("instant", "bytes", "list")]
    path = write_parquet(tmp_path / "t.parquet", {n: columns[n] for n in names})
    quasi, secrets = names[4:], names[:4]
    for engine in ("spark", "duckdb"):
        state = sievert.count(path, quasi, secrets, out=tmp_path / engine, engine=engine)
        assert state.records == 96
        whole = sievert.assess(path, quasi, secrets, engine=engine).to_dict()
        ours = sievert.assess(tmp_path / engine).to_dict()
        assert json.dumps(ours, sort_keys=True) == json.dumps(whole, sort_keys=True)
    sievert.merge([tmp_path / "spark", tmp_path / "duckdb"], out=tmp_path / "both", again=True)
    sievert.update(tmp_path / "both", remove=path)
    assert told(tmp_path / "both", quasi, secrets) == told(path, quasi, secrets)


def test_ledger(interpreted: None, tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "t.parquet", ledgerparity.COLUMNS)
    here = ledgerparity.note(tmp_path, "here", path)
    assert ledgerparity.note(tmp_path, "there", path, engine="spark") == here


def test_types_of_text(interpreted: None, tmp_path: Path) -> None:
    columns = {
        "whole": ["1", "1.0", "+5", "-0.00", "007", "9223372036854775807", None, "1.", "NA"],
        "real": ["nan", "-NaN", "+inf", "1e400", ".5", "1.", "-0", "1E5", "INFINITY"],
        "day": ["2020-01-01", "0001-01-01", "9999-12-31", None, "1582-10-10", *["1970-01-01"] * 4],
        "s": list("aabbccdda"),
    }
    path = write_csv(tmp_path / "t.csv", columns)
    types = {"whole": "int", "real": "float", "day": "date"}
    two = [(path, ["whole", "real"], ["day", "s"]), (path, ["day"], ["real", "whole"])]
    both(two, types=types, na=["NA"], missing="drop", measures=SOME)


@pytest.mark.parametrize(
    ("kind", "lines"),
    [
        ("int", ["1.4", SECRET, "2", "9223372036854775808", " 1"]),
        ("float", ["1e", "1d", "0x1p3", "1_0", "5"]),
        ("date", ["2020-02-30", "2020-1-1", "2020-01-01", SECRET, ""]),
    ],
)
def test_values_that_do_not_fit(spark: Any, tmp_path: Path, kind: str, lines: list[str]) -> None:
    """The column and how many, in the words of the other engine; never a value."""
    columns = {"x": [v or None for v in lines], "s": ["a"] * 5}
    found = same(write_csv(tmp_path / "t.csv", columns), ["x"], ["s"], types={"x": kind})
    assert "InputError" in found and "of column 'x' are not" in found and SECRET not in found


def test_text_as_it_stands(interpreted: None, tmp_path: Path) -> None:
    """Quotes, line ends within them, blanks, no header, a mark at the start, odd delimiters."""
    texts = {
        "quotes.csv": 'a,b,s\n"x","",1\n,"",1\n"x,""y""\r\nz", x ,2\n"x,""y""\nz", x ,2\n\n'
        '5" ,#,1\n',
        "lines.csv": '"a\nb",s\n"x\r\ny",1\n"x\ny",1\nx,"\r"\n',
        "windows.csv": 'a,s\r\n"x\r\ny",1\r\n"x\ny",1\r\nx,"\r"\r\n',
        "mark.csv": "\ufeffa,s\nx,1\ny,2\na,s\n",
        "tabs.tsv": "a\tb\ts\n\t\t\nx\t\t1\n \t \t \n",
        "_hidden.csv": "a,s\nx,1\ny,1\n",
        "plain.gz": "a,s\nx,1\ny,1\n",
        "Köln {a,b}.csv": "a,s\nx,1\ny,1\n",
        "back.csv": "a\\s\nx\\1\ny\\\n",
    }
    asked = []
    for name, text in texts.items():
        (tmp_path / name).write_bytes(text.encode())
        delimiter = {"tabs.tsv": "\t", "back.csv": "\\"}.get(name, ",")
        lines = io.StringIO(text.lstrip("\ufeff"), newline="")
        header = next(csv.reader(lines, delimiter=delimiter))
        asked.append((tmp_path / name, header[:-1], ["s"], {"delimiter": delimiter}))
    asked.append((tmp_path / "mark.csv", ["column1"], ["column2"], {"header": False}))
    asked.append((tmp_path / "quotes.csv", ["a"], ["s"], {"na": ["1"]}))
    both(asked, measures=SOME)
    found = told(tmp_path / "mark.csv", ["a"], ["s"], engine="spark")
    assert "1 record equal to the header" in found


def test_lakes(interpreted: None, tmp_path: Path) -> None:
    """A directory of Parquet files; folders called key=value are columns of text."""
    lake = tmp_path / "lake"
    for place, values in {
        "land=DE/year=2020": ["a", "b"],
        "land=%C3%84%20x/year=2020": ["a", "a"],
        "land=__HIVE_DEFAULT_PARTITION__/year=02021": ["c", "a"],
    }.items():
        (lake / place).mkdir(parents=True)
        write_parquet(lake / place / "p.parquet", {"s": values, "n": [1, 2]})
    assert '"rows": 6' in same(lake, ["year", "land"], ["s"])
    counts = sievert.classes(lake, ["land"], engine="spark"), sievert.classes(lake, ["year"])
    assert counts == (3, 2)
    flat = tmp_path / "flat"
    (flat / "sub").mkdir(parents=True)
    write_parquet(flat / "a.parquet", {"q": ["x", "y"], "s": [1, 2]})
    write_parquet(flat / "sub" / "_b.parquet", {"q": ["x", "y"], "s": [1, 3]})
    assert '"rows": 4' in same(flat, ["q"], ["s"])
    write_parquet(flat / "c.parquet", {"q": ["x", "y"]})
    assert "1 of 3 files have other columns" in same(flat, ["q"], ["s"])
    url = f"file://{flat}"
    assert "other columns" in told(url, ["q"], ["s"], engine="spark")
    (flat / "c.parquet").unlink()
    (flat / "sub" / "_b.parquet").rename(flat / "b.parquet")
    there, here = (json.loads(told(s, ["q"], ["s"], engine="spark")) for s in (url, flat))
    assert there.pop("table") | {"kind": "parquet", "verified": False} == here.pop("table")
    assert there == here


def test_timestamps_of_the_old_kind(spark: Any, tmp_path: Path) -> None:
    moments = pyarrow.array([1, 2_500_000, None, -(10**15)], pyarrow.timestamp("us"))
    table = pyarrow.table({"q": moments, "s": ["a", "b", "a", "b"]})
    path = tmp_path / "t.parquet"
    pyarrow.parquet.write_table(table, path, use_deprecated_int96_timestamps=True)
    assert "of the old kind" in same(path, ["q"], ["s"])


# -- frames, and a session that goes on -----------------------------------------------------------


def test_frames(spark: Any, tmp_path: Path) -> None:
    """A Spark frame gives the numbers of the file it was read from; its session stays as it was."""
    path = write_parquet(tmp_path / "t.parquet", typed_columns())
    base = spark.newSession()
    base.conf.set("spark.sql.ansi.enabled", "false")
    base.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    base.conf.set("spark.sql.legacy.parquet.nanosAsLong", "true")
    frame = base.read.parquet(str(path)).drop("moment")
    base.sparkContext.setJobGroup("mine", "mine")
    columns, secrets = ["double", "instant"], ["day", "text", "local"]
    ours = json.loads(told(frame, columns, secrets))
    theirs = json.loads(told(path, columns, secrets))
    for whole in (ours, theirs):
        whole["table"] = {k: whole["table"][k] for k in ("rows", "missing_values")}
        whole["ignored"] = [c for c in whole.get("ignored", []) if c != "moment"]
    assert ours == {**theirs, **{k: ours[k] for k in ours if "moment" in str(theirs[k])}}
    assert base.conf.get("spark.sql.session.timeZone") == "Asia/Tokyo"
    assert base.sparkContext.getLocalProperty("spark.jobGroup.id") == "mine"
    assert base.catalog.listTables() == []
    assert base.sparkContext._jsc.getPersistentRDDs().isEmpty()
    assert spark.range(3).count() == 3
    values = "VALUES ('a', 1), ('A', 2) AS t(q, s)"
    collated = base.sql(f"SELECT COLLATE(q, 'UNICODE_CI') AS q, s FROM {values}")
    found = sievert.assess(collated, ["q"], ["s"])
    assert found.reidentification["classes"].value == 2
    with pytest.raises(InputError, match="same name"):
        sievert.assess(frame.select(frame.tiny.alias("a"), frame.tiny.alias("A")), ["a"])


@pytest.mark.parametrize("wide", [False, True])
def test_gaps_of_many_records(spark: Any, cells_stay: None, wide: bool) -> None:
    """Products of counts beyond 2^63 stay exact."""
    scale = 2**40 if wide else 1
    sql = (
        f"SELECT {3 * scale}L AS nq, ARRAY(NAMED_STRUCT('n', {scale}L, 'ns', {2 * scale}L)) AS held"
    )
    frame = spark.sql(sql)
    frame.createOrReplaceTempView("held")
    with private_directory() as scratch:
        engine = Spark(Table(kind="frame", name="frame", data=frame), scratch)
        try:
            gap = f"SELECT {engine.gap(7 * scale, wide)} AS g FROM ({sql}) AS d"
            assert int(engine.rows(gap)[0][0]) == scale * scale * (7 - 6)
        finally:
            engine.close()


def test_time_runs_out(spark: Any) -> None:
    """A count that takes too long is stopped, in a session that goes on."""
    frame = spark.range(10**11).selectExpr("id % 7 AS q", "hash(id) % 5 AS s")
    with pytest.raises(ExhaustedError, match="not done within 1 seconds"):
        sievert.assess(frame, ["q"], ["s"], timeout=1)
    assert not spark.sparkContext.statusTracker().getActiveJobsIds()
    assert spark.range(3).count() == 3


def test_progress(spark: Any) -> None:
    with private_directory() as scratch:
        engine = Spark(Table(kind="frame", name="frame", data=spark.range(10)), scratch)
        try:
            assert engine.progress() == -1
            assert Questions(engine).records == 10
            engine.interrupt()
            with pytest.raises(ExhaustedError):
                engine.query_records("SELECT COUNT(*) FROM input")
            with pytest.raises(ExhaustedError):
                engine.rows("SELECT 1")
        finally:
            engine.close()


# -- refusals -------------------------------------------------------------------------------------


def test_refusals(spark: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    import pandas

    columns = {"q": ["a", "b"], "s": ["x", SECRET]}
    for source in (columns, pandas.DataFrame(columns), pyarrow.table(columns)):
        with pytest.raises(UsageError, match="reads files"):
            sievert.assess(source, ["q"], ["s"], engine="spark")
    path = write_csv(tmp_path / "t.csv", columns)
    for option in ({"memory": "1GB"}, {"threads": 1}, {"master": "local[2]"}):
        with pytest.raises(UsageError, match="running already"):
            sievert.assess(path, ["q"], ["s"], engine="spark", **option)
    with pytest.raises(UsageError, match="--records"):
        sievert.assess(path, ["q"], ["s"], engine="spark", records=tmp_path / "r.csv")
    assert not (tmp_path / "r.csv").exists()
    coded = tmp_path / "coded.csv"
    coded.write_text('q,s\nNA,1\n"NA",2\n"x ""NA"",",3\n')
    same(coded, ["q"], ["s"], na=["NA"])
    coded.write_text('q,s\n"",1\n,2\nx,3\n')
    same(coded, ["q"], ["s"], na=[""])
    blank = tmp_path / "blank.csv"
    blank.write_text("q\nx\n\ny\n")
    with pytest.raises(InputError, match="blank lines"):
        sievert.assess(blank, ["q"], engine="spark")
    damaged = write_parquet(tmp_path / "d.parquet", {"q": [f"{SECRET} {i}" for i in range(10**4)]})
    content = bytearray(damaged.read_bytes())
    content[1000:9000] = bytes(8000)
    damaged.write_bytes(content)
    with pytest.raises(InputError, match="damaged") as caught:
        sievert.assess(damaged, ["q"], engine="spark")
    assert SECRET not in str(caught.value) and caught.value.__suppress_context__
    clock = pyarrow.array([1, 2], pyarrow.time64("us"))
    with pytest.raises(InputError, match="a type that Spark does not read"):
        sievert.assess(write_parquet(damaged, {"q": clock}), ["q"], engine="spark")
    with pytest.raises(InputError, match="does not reach"):
        sievert.assess("file:///nowhere/x.parquet", ["q"], engine="spark")
    named = {"alpha_k": {"value": {"s": "\ud800"}}}
    assert "surrogate" in same(path, ["q"], ["s"], parameters=named)
    assert capfd.readouterr() == ("", "")


def test_without_pyspark(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    path = write_csv(tmp_path / "t.csv", {"q": ["a", "b"]})
    with pytest.raises(UsageError, match=r"pip install 'sievert\[spark\]'"):
        sievert.assess(path, ["q"], engine="spark")


def test_nothing_that_depends_on_the_order_of_records() -> None:
    modules = list((ROOT / "src" / "sievert" / "counts" / "spark").glob("*.py"))
    assert len(modules) > 5
    for module in modules:
        text = module.read_text(encoding="utf-8")
        for word in ("toPandas", "repartition", "sample(", "monotonically", "first("):
            assert word not in text


# -- the command line -----------------------------------------------------------------------------


def run(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = command_line("assess", *arguments, "--engine", "spark")
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300,
                          env={**os.environ, **environment})  # fmt: skip


def test_command_line(tmp_path: Path) -> None:
    """One run in a Spark of its own: the same JSON, silence, and nothing left behind."""
    temp, here, place = (tmp_path / name for name in ('t e"mp', "here", "data"))
    for folder in (temp, here, place):
        folder.mkdir()
    path = write_csv(place / "t.csv", {"q": ["a", "b", "a"], "s": ["x", SECRET, None]})
    common = [str(path), "-q", "q", "-s", "s", "--json", "-"]
    done = run(here, *common, "--temp", str(temp), "--memory", "1GB", "--threads", "1",
               TMPDIR=str(temp))  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    whole = json.loads(done.stdout)
    assert whole["table"].pop("engine") == "spark"
    assert json.dumps(whole, sort_keys=True, indent=1) == told(path, ["q"], ["s"])
    assert [*temp.iterdir(), *here.iterdir(), *place.iterdir()] == [path]


def test_no_java(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "t.csv", {"q": ["a", "b"]})
    done = run(tmp_path, str(path), "-q", "q", PATH="/nowhere", JAVA_HOME="")
    assert (done.returncode, done.stdout) == (EngineError.exit_code, "")
    assert done.stderr.startswith("error: Spark needs Java")


def test_people_with_several_rows(spark: Any, interpreted: None, tmp_path: Path) -> None:
    """Random tables whose rows are of fewer people, some rows of nobody known."""
    for seed in range(tried(2, 200)):
        made, random = case(Random(seed)), Random(seed)
        people = [random.choice(["a", "b", "c", None]) for _ in made.columns["s"]]
        columns = {c: pyarrow.array(v, pyarrow.string()) for c, v in made.columns.items()}
        table = pyarrow.table({**columns, "id": pyarrow.array(people, pyarrow.string())})
        path = tmp_path / f"{seed}.parquet"
        pyarrow.parquet.write_table(table, path)
        same(path, list(made.quasi), ["s"], person="id", partitions={"s": made.partition})


# -- releases -------------------------------------------------------------------------------------


def test_releases(
    spark: Any, interpreted: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark writes the records that DuckDB writes, by the same recoding, with the same verdicts."""
    orders = enginereleases.confirm_here(monkeypatch)
    for seed in range(1, tried(3, 24)):
        enginereleases.start_from_a_floor(monkeypatch, seed)
        data = tmp_path / f"{seed}.parquet"
        pyarrow.parquet.write_table(enginereleases.frame(seed), data)
        given, kind = enginereleases.options(seed), ("parquet", "csv")[seed % 2]
        here = enginereleases.release(data, tmp_path / f"here{seed}.{kind}", **given)
        out = tmp_path / f"there{seed}.{kind}"
        there = enginereleases.release(data, out, engine="spark", **given)
        assert here == there
        assert orders[-1]["file"]["options"]["engine"] == "spark"
        assert out.is_dir() == (kind == "parquet")
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


@pytest.fixture
def sorted_in_two_parts(spark: Any) -> Iterator[None]:
    """Spark sorts few rows in two parts, which it would otherwise put into one."""
    settings = {
        "spark.sql.adaptive.coalescePartitions.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
    }
    before = {name: spark.conf.get(name) for name in settings}
    for name, setting in settings.items():
        spark.conf.set(name, setting)
    yield
    for name, setting in before.items():
        spark.conf.set(name, setting)


def in_two_parts(spark: Any, folder: Path) -> Any:
    """A table that Spark has in two parts."""
    (folder / "data").mkdir()
    pyarrow.parquet.write_table(enginereleases.frame(1), folder / "data" / "t.parquet")
    return spark.read.parquet(f"file://{folder}/data/t.parquet").repartition(2)


def test_a_directory_of_parts(
    spark: Any,
    interpreted: None,
    sorted_in_two_parts: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Private files with names of ours; replaced if that is wanted, and only if they are ours."""
    enginereleases.confirm_here(monkeypatch)
    out, given = tmp_path / "r.parquet", enginereleases.options(1)
    data = in_two_parts(spark, tmp_path)
    assert sievert.protect(data, out=out, **given).released
    assert sorted(p.name for p in out.iterdir()) == ["part-00000.parquet", "part-00001.parquet"]
    assert {p.stat().st_mode & 0o777 for p in out.iterdir()} == {0o600}
    manifest = json.loads((tmp_path / "r.parquet.json").read_text(encoding="utf-8"))
    assert manifest["release"]["files"] == 2
    with pytest.raises(RefusedError, match="is there already"):
        sievert.protect(data, out=out, **given)
    before = (out / "part-00000.parquet").stat().st_ino
    assert sievert.protect(data, out=out, force=True, **given).released
    assert (out / "part-00000.parquet").stat().st_ino != before
    (out / "mine").write_text("")
    with pytest.raises(UsageError, match="is a directory"):
        sievert.protect(data, out=out, force=True, **given)


def test_a_release_that_is_not_confirmed(
    spark: Any,
    interpreted: None,
    sorted_in_two_parts: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A part that was lost, as on a disk that workers do not share: nothing is written."""
    enginereleases.confirm_here(monkeypatch)
    data = in_two_parts(spark, tmp_path)
    parts = releases._parts
    monkeypatch.setattr(releases, "_parts", lambda place: parts(place)[1:])
    for kind in ("csv", "parquet"):
        with pytest.raises((InvariantError, InputError), match=r"not confirmed|0 records"):
            sievert.protect(data, out=tmp_path / f"r.{kind}", **enginereleases.options(1))
    for how, out in (("noise", "r.csv"), (None, "r.xlsx")):
        with pytest.raises(UsageError):
            sievert.protect(data, out=tmp_path / out, how=how, **enginereleases.options(1))
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_sketches(interpreted: None, tmp_path: Path) -> None:
    table = sketchtables.arrow_table(sketchtables.typed_columns(2000))
    pyarrow.parquet.write_table(table, path := tmp_path / "typed.parquet")
    options: Any = {"key_sets": sketchtables.KEYS, "sensitive": sketchtables.SECRETS}
    options |= {"salt": sketchtables.SALT, "size": sketchtables.SMALL}
    ours = sievert.sketch(path, engine="spark", **options)
    assert ours.to_bytes() == sievert.sketch(path, **options).to_bytes()
    assert not any(key.exact for key in ours.keys[1:])


@pytest.mark.parametrize("stay", [False, True])
def test_spellings(spark: Any, stay: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Persons and secrets that coincide canonically: both readings, and the same verdicts."""
    if stay:
        monkeypatch.setattr(fetched_cells, "MOST_CELLS", 0)
    path = tmp_path / "spelt.parquet"
    pyarrow.parquet.write_table(pyarrow.table(spellingtables.TABLE), path)
    there, here = (
        spellingtables.judged(
            sievert.assess(path, policy=spellingtables.POLICY, engine=engine, quick=True)
        )
        for engine in ("spark", "duckdb")
    )
    assert there == here and there["policy"]["met"] is False
    assert there["policy"]["spellings"] == {"ill": 7, "key": 40}
    values = tmp_path / "values.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"v": spellingtables.VALUES}), values)
    spellingtables.check_values(values, monkeypatch, engine="spark")
