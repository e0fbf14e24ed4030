"""A release that the engine writes from its own records: the same as one written from memory."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

import sievert
from sievert.commands.protect import run
from sievert.errors import SievertError, UsageError

RULES: dict[str, Any] = {
    "roles": {"quasi": ["age", "day", "town"], "sensitive": ["ill"], "rows_are_people": True},
    "limits": {"k_anonymity": {"min": 4}},
}
TREES = {"age": "interval:5,10,20"}


def table(seed: int, path: Path) -> Path:
    """Numbers, dates and texts, some missing, empty or to be quoted; a semicolon between them."""
    random = Random(seed)
    lines = ["age;day;name;town;ill"]
    for number in range(400):
        town = random.choice(("a", "b", '"x;y"', '""', "c d", ""))
        ill = random.choice(("flu", '"a ""b"""', "", "cold"))
        age = random.choice(("", *map(str, range(20, 60))))
        day = f"2024-0{random.randint(1, 2)}-1{random.randint(0, 3)}"
        lines.append(f"{age};{day};n{number};{town};{ill}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("seed", range(4))
def test_the_same_bytes(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data, share = table(seed, tmp_path / "t.csv"), (0, 0.1, 0.3)[seed % 3]
    more: dict[str, Any] = {"drop": seed % 2 == 1, "keep": ["name"] if seed > 1 else []}
    rules = {**RULES, "roles": {**RULES["roles"], "ignored": {"name": "kept"}}}
    results = []
    for place, least in (("memory", 10**9), ("engine", 1)):
        monkeypatch.setattr(run, "IN_THE_ENGINE", least)
        out = tmp_path / f"{place}.csv"
        result = sievert.protect(
            data, policy=rules, hierarchies=TREES, out=out, suppress=share, threads=2, **more
        )
        assert result.released
        results.append((out.read_bytes(), result.to_dict()))
    assert results[0] == results[1]


def test_the_same_columns_of_parquet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    data, tables = table(9, tmp_path / "t.csv"), []
    for least in (10**9, 1):
        monkeypatch.setattr(run, "IN_THE_ENGINE", least)
        out = tmp_path / f"{least}.parquet"
        rules = {**RULES, "roles": {**RULES["roles"], "ignored": {"name": "not kept"}}}
        assert sievert.protect(data, policy=rules, hierarchies=TREES, out=out).released
        tables.append(parquet.read_table(out))
        sievert.protect(data, policy=rules, hierarchies=TREES, out=out)  # unchanged: it may go
        Path(f"{out}.json").unlink()
        with pytest.raises(SievertError):  # nobody knows that it is ours
            sievert.protect(data, policy=rules, hierarchies=TREES, out=out)
    assert tables[0].equals(tables[1])


def test_other_engines_do_not_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sievert.counts.duckdb.adapter.DuckDB.name", "spark")
    with pytest.raises(UsageError, match="spark does not write"):
        sievert.protect(table(1, tmp_path / "t.csv"), policy=RULES, out=tmp_path / "r.csv")


def test_a_directory_of_parquet_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parquet, arrow = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow")
    data = tmp_path / "parts"
    data.mkdir()
    random = Random(3)
    ages = [random.randint(20, 30) for _ in range(300)]
    for part in range(3):
        own = ages[100 * part : 100 * part + 100]
        columns = {"age": own, "ill": [f"i{age % 3}" for age in own]}
        parquet.write_table(arrow.table(columns), data / f"{part}.parquet")
    monkeypatch.setattr(run, "IN_THE_ENGINE", 1)
    roles = {"quasi": ["age"], "sensitive": ["ill"], "rows_are_people": True}
    rules = {"roles": roles, "limits": {"k_anonymity": {"min": 25}}}
    out = tmp_path / "release.parquet"
    result = sievert.protect(data, policy=rules, hierarchies=TREES, out=out, suppress=0.3)
    released = parquet.read_table(out).to_pydict()
    assert result.released and released["ill"] == [f"i{age % 3}" for age in ages]
    assert released["age"].count("*") == result.suppressed_records > 0
