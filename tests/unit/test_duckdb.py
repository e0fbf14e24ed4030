"""The DuckDB engine that all small frames share: locked, and no table sees another."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import pytest

import sievert
from sievert.counts.duckdb import adapter, connection
from sievert.errors import SievertError
from sievert.sources.table import Table

SECRET = "canary-5512"


def opened(columns: dict[str, list[str]], tmp_path: Path) -> adapter.DuckDB:
    return adapter.DuckDB(Table("columns", "t", data=columns), tmp_path)


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
def test_theshared_engine_is_locked(forbidden: str, tmp_path: Path) -> None:
    cursor = connection.shared_engine().cursor()
    with pytest.raises(duckdb.Error):
        cursor.execute(forbidden.format(folder=tmp_path))
    assert not list(tmp_path.iterdir())


def test_side_by_side() -> None:
    """Many threads with tables of their own get the numbers that one alone gets."""
    tables = [{"q": [str(i % n) for i in range(60)], "s": ["a", "b"] * 30} for n in range(1, 9)]
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
    small = Table("columns", "t", data=columns)
    for settings in ({"threads": 1}, {"memory": "1GB"}, {"outputs": [tmp_path / "r.csv"]}):
        adapter.DuckDB(small, tmp_path, **settings).close()
    monkeypatch.setattr(connection, "SMALL", 3)
    opened(columns, tmp_path).close()
