"""A release that the engine writes from its own records: the same as one written from memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from helpers.pairedrows import row_numbers

import sievert
from sievert.commands.protect import protection
from sievert.counts.duckdb.adapter import DuckDB
from sievert.counts.duckdb.releases import write_release
from sievert.counts.recoded_records import RecodedRecords
from sievert.errors import ExhaustedError, InvariantError, SievertError

RULES: dict[str, Any] = {
    "roles": {"quasi": ["age", "day", "town"], "sensitive": ["ill"], "rows_are_people": True},
    "limits": {"k_anonymity": {"min": 4}},
}
UNKNOWN = {"reason": "the wave of the survey", "outsiders_cannot_know": True}
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
        lines.append(f"{age};{day};n{number % 7};{town};{ill}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def with_kept() -> dict[str, Any]:
    """The policy, with a role for every column: the wave is released."""
    return {**RULES, "roles": {**RULES["roles"], "kept": {"name": UNKNOWN}}}


def rules() -> dict[str, Any]:
    """The policy, with a role for every column."""
    return {**RULES, "roles": {**RULES["roles"], "dropped": ["name"]}}


@pytest.mark.parametrize("seed", range(4))
def test_the_same_bytes(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data, share = table(seed, tmp_path / "t.csv"), (0, 0.1, 0.3)[seed % 3]
    more: dict[str, Any] = {
        "drop": seed % 2 == 1,
    }
    wanted = with_kept() if seed > 1 else rules()
    results = []
    for place, least in (("memory", 10**9), ("engine", 1)):
        monkeypatch.setattr(protection, "IN_THE_ENGINE", least)
        out = tmp_path / f"{place}.csv"
        result = sievert.protect(
            data, policy=wanted, hierarchies=TREES, out=out, suppress=share, **more,
            threads=2, memory="1GB", temp=tmp_path,
        )  # fmt: skip
        assert result.released
        results.append((out.read_bytes(), result.to_dict()))
    assert results[0] == results[1]


def test_the_same_columns_of_parquet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    data, tables = table(9, tmp_path / "t.csv"), []
    for least in (10**9, 1):
        monkeypatch.setattr(protection, "IN_THE_ENGINE", least)
        out = tmp_path / f"{least}.parquet"
        assert sievert.protect(data, policy=rules(), hierarchies=TREES, out=out).released
        tables.append(parquet.read_table(out))
        sievert.protect(data, policy=rules(), hierarchies=TREES, out=out)  # unchanged: it may go
        Path(f"{out}.json").unlink()
        with pytest.raises(SievertError):  # nobody knows that it is ours
            sievert.protect(data, policy=rules(), hierarchies=TREES, out=out)
    assert tables[0].equals(tables[1])


def test_a_release_with_fewer_records_is_not_confirmed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protection, "IN_THE_ENGINE", 1)

    def lose_some(engine: Any, records: RecodedRecords, *where: Any, **how: Any) -> str | None:
        return write_release(engine, replace(records, drop=True), *where, **how)

    monkeypatch.setattr(DuckDB, "write_release", lose_some)
    data, out = table(2, tmp_path / "t.csv"), tmp_path / "r.csv"
    given = {"policy": rules(), "hierarchies": TREES, "suppress": 0.3, "out": out}
    with pytest.raises(InvariantError, match="not confirmed"):
        sievert.protect(data, **given)
    assert not out.exists()
    assert sievert.protect(data, drop=True, **given).suppressed_records > 0


@pytest.mark.parametrize("drop", [False, True])
def test_people_with_several_rows(
    drop: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Written by the engine, the person of each record beside the copy that is checked."""
    data, results = table(5, tmp_path / "t.csv"), []
    lines = data.read_text(encoding="utf-8").splitlines()
    random = Random(1)
    rows = [f"{line};p{random.randint(0, 150)}" for line in lines[1:]]
    data.write_text("\n".join([f"{lines[0]};who", *rows, ""]), encoding="utf-8")
    roles = {"quasi": ["age", "day"], "sensitive": ["ill"], "person": "who",
             "ignored": {"name": "dropped", "town": "dropped"}}  # fmt: skip
    given = {"policy": {"roles": roles, "limits": {"k_anonymity": {"min": 4}}}, "drop": drop}
    for least in (10**9, 1):
        monkeypatch.setattr(protection, "IN_THE_ENGINE", least)
        out = tmp_path / f"{least}.csv"
        result = sievert.protect(data, out=out, hierarchies=TREES, suppress=0.2, **given)
        results.append((out.read_bytes(), result.to_dict()))
    assert results[0] == results[1] and results[0][1]["released"]


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
    monkeypatch.setattr(protection, "IN_THE_ENGINE", 1)
    roles = {"quasi": ["age"], "sensitive": ["ill"], "rows_are_people": True}
    limits = {"k_anonymity": {"min": 25}}
    out = tmp_path / "release.parquet"
    result = sievert.protect(
        data, policy={"roles": roles, "limits": limits}, hierarchies=TREES, out=out, suppress=0.3
    )
    released = parquet.read_table(out).to_pydict()
    secrets = [secret for _, secret in sorted(zip(row_numbers(out), released["ill"], strict=True))]
    assert result.released and secrets == [f"i{age % 3}" for age in ages]
    assert released["age"].count("*") == result.suppressed_records > 0


def test_people_that_do_not_fit_into_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Refused with an estimate, before any combination is counted."""
    data = {"age": [20, 21] * 50, "who": [f"p{n // 2}" for n in range(100)]}
    roles = {"quasi": ["age"], "person": "who"}
    given: dict[str, Any] = {"policy": {"roles": roles, "limits": {"k_anonymity": {"min": 2}}}}
    assert sievert.protect(data, **given).met
    monkeypatch.setattr(protection, "count_combinations", None)
    monkeypatch.setattr("sievert.releases.people_problem.CELL", 10**8)
    with pytest.raises(ExhaustedError, match=r"about 27\.9 GB, more than the 1\.0 GB"):
        sievert.protect(data, memory="1GB", **given)
