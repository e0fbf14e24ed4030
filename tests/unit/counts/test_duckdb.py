"""The DuckDB engines that small tables share: locked, and no table sees another."""

from __future__ import annotations

import os
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import duckdb
import pyarrow
import pytest
from pyarrow import parquet

import sievert
from sievert.counts.duckdb import adapter, connection
from sievert.errors import SievertError
from sievert.sources.table import Table

SECRET = "canary-5512"


def opened(columns: dict[str, list[str]], tmp_path: Path) -> adapter.DuckDB:
    return adapter.DuckDB(Table(kind="columns", name="t", data=columns), tmp_path)


def test_tables_do_not_see_each_other(tmp_path: Path) -> None:
    first, second = (opened({"a": [value]}, tmp_path) for value in (SECRET, "other"))
    first.keep("mine", "SELECT * FROM input")
    with pytest.raises(SievertError):
        second.rows("SELECT * FROM mine")
    assert second.rows("SELECT * FROM input") == [("other",)]
    everything = (
        "SELECT table_name FROM duckdb_tables() UNION ALL SELECT view_name FROM duckdb_views()"
    )
    assert ("mine",) not in second.rows(everything)
    first.close()
    assert second.rows("SELECT * FROM input") == [("other",)]
    second.close()
    third = opened({"b": ["x"]}, tmp_path)
    assert third.rows("SELECT COUNT(*) FROM duckdb_tables() WHERE table_name <> 'given'") == [(0,)]
    third.close()


@pytest.mark.parametrize(
    "forbidden",
    [
        "SET enable_external_access = true",
        "SET temp_directory = '/tmp'",
        "SELECT * FROM read_csv('/etc/passwd')",
        "COPY (SELECT 1) TO '{folder}/out.csv'",
        "ATTACH '{folder}/other.db'",
        "INSTALL httpfs",
    ],
)
def test_shared_engines_are_locked(forbidden: str, tmp_path: Path) -> None:
    cursor = connection.shared_engine().cursor()
    with pytest.raises(duckdb.Error):
        cursor.execute(forbidden.format(folder=tmp_path))
    assert not list(tmp_path.iterdir())
    file = write(tmp_path / "t.csv", "a\nx\n")
    engine = adapter.DuckDB(file, tmp_path)
    with pytest.raises(SievertError):
        engine.run(forbidden.format(folder=tmp_path))
    engine.close()
    assert list(tmp_path.iterdir()) == [file.path]


def write(path: Path, text: str) -> Table:
    path.write_text(text)
    return Table(kind="csv", name=path.name, path=path, columns=("a",))


def idle() -> list[connection.FileEngine]:
    return connection.FileEngine.idle[os.getpid()]


def test_files_do_not_see_each_other(tmp_path: Path) -> None:
    idle().clear()
    first = adapter.DuckDB(write(tmp_path / "1.csv", f"a\n{SECRET}\n{SECRET}\n"), tmp_path)
    second = adapter.DuckDB(write(tmp_path / "2.csv", "a\nother\n"), tmp_path)
    first.keep("mine", "SELECT * FROM input")
    assert first.rows("SELECT * FROM input") == [(SECRET,), (SECRET,)]
    assert second.rows("SELECT * FROM input") == [("other",)]
    path = first._opened.lent.path
    with pytest.raises(SievertError):
        second.rows(f"SELECT * FROM read_csv('{path}')")
    for engine in (second, first):
        engine.close()
    (engine,) = idle()  # the other one had a question that failed
    assert path.read_bytes() == b""
    third = adapter.DuckDB(write(tmp_path / "3.csv", "a\nz\n"), tmp_path)
    assert third._opened.lent is engine and third.rows("SELECT * FROM input") == [("z",)]
    assert third.rows("SELECT COUNT(*) FROM duckdb_tables()") == [(0,)]
    third.close()
    third.close()
    assert idle() == [engine]
    with pytest.raises(SievertError):
        adapter.DuckDB(write(tmp_path / "4.csv", "a\n1,2\n"), tmp_path).rows("FROM input")


def test_a_parquet_file_is_small_by_its_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.parquet"
    parquet.write_table(pyarrow.table({"a": ["x"] * 5}), path)
    table = Table(kind="parquet", name=path.name, path=path)
    for small, lent in ((6, True), (5, False)):
        monkeypatch.setattr(connection, "SMALL", small)
        engine = adapter.DuckDB(table, tmp_path)
        assert (engine._opened.lent is not None) is lent
        assert engine.rows("SELECT COUNT(*) FROM input") == [(5,)]
        engine.close()
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(SievertError, match="damaged"):
        adapter.DuckDB(table, tmp_path)


@pytest.mark.parametrize("files", [False, True])
def test_side_by_side(files: bool, tmp_path: Path) -> None:
    """Many threads with tables of their own get the numbers that one alone gets."""
    tables: list[Any] = [
        {"q": [str(i % n) for i in range(60)], "s": ["a", "b"] * 30} for n in range(1, 9)
    ]
    if files:
        paths = [tmp_path / f"{n}.csv" for n in range(8)]
        for path, columns in zip(paths, tables, strict=True):
            lines = ["q,s", *map(",".join, zip(*columns.values(), strict=True))]
            path.write_text("\n".join(lines) + "\n")
        tables = paths
    alone = [sievert.assess(t, "q", "s").to_dict() for t in tables]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(3):
            assert list(pool.map(lambda t: sievert.assess(t, "q", "s").to_dict(), tables)) == alone


def test_large_tables_and_other_settings_have_an_engine_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only they may spill, or need more threads or less memory."""
    monkeypatch.setattr(connection, "shared_engine", lambda: pytest.fail("shared"))
    columns = {"a": ["x"] * 3}
    small = Table(kind="columns", name="t", data=columns)
    for settings in ({"threads": 1}, {"memory": "1GB"}, {"outputs": [tmp_path / "r.csv"]}):
        adapter.DuckDB(small, tmp_path, **settings).close()
    monkeypatch.setattr(connection, "SMALL", 3)
    opened(columns, tmp_path).close()
    monkeypatch.setattr(connection.FileEngine, "__init__", lambda _: pytest.fail("shared"))
    monkeypatch.setattr(connection.FileEngine, "idle", defaultdict(list))
    file = write(tmp_path / "t.csv", "a\nx\n")
    for settings in ({"threads": 1}, {"memory": "1GB"}, {"outputs": [tmp_path / "r.csv"]}):
        adapter.DuckDB(file, tmp_path, **settings).close()
    monkeypatch.setattr(connection, "SMALL_FILE", 4)
    adapter.DuckDB(file, tmp_path).close()
