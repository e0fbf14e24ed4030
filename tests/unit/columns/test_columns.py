"""`sievert columns`: what columns look like, and never a value unless it is wanted."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from helpers.commandline import command_line

import sievert
from sievert.commands.columns.result import ColumnList
from sievert.counts import cells
from sievert.counts.duckdb.adapter import DuckDB
from sievert.counts.questions import Questions
from sievert.session import open_source

TABLE = {
    "id": [f"p{i}" for i in range(60)],
    "age": [str(i % 30 + 20) for i in range(60)],
    "admission": [f"2024-0{i % 9 + 1}-03" for i in range(60)],
    "diagnosis": ["canary", "flu", None] * 20,
    "weight": ["-9"] * 20 + [str(i) for i in range(40)],
    "batch": ["b"] * 60,
}


def test_kinds_roles_and_missing_values() -> None:
    result = sievert.describe_columns(TABLE)
    rows = {c.name: (c.kind, c.values, c.missing, c.role, c.reason) for c in result.columns}
    assert rows == {
        "id": ("texts", 60, 0, "identifier", "identifier"),
        "age": ("numbers", 30, 0, "quasi", "known"),
        "admission": ("dates", 9, 0, "quasi", "date"),
        "diagnosis": ("texts", 3, 20, "sensitive", "secret"),
        "weight": ("numbers", 41, 0, "weight", "weight"),
        "batch": ("constant", 1, 0, None, "constant"),
    }
    weight = result.columns[4]
    assert (weight.codes, weight.coded) == (1, 20)
    again = ColumnList.from_dict(json.loads(json.dumps(result.to_dict())))
    assert again == result


def test_marks_of_suppression_are_counted_in_each_column() -> None:
    table = {"age": ["*", "*", "30"], "job": ["x", "*", None], "year": [1, 2, 3]}
    columns = sievert.describe_columns(table).columns
    assert [c.suppressed for c in columns] == [2, 1, 0]
    columns = sievert.describe_columns(table, suppressed="3").columns
    assert [c.suppressed for c in columns] == [0, 0, 1]


def test_values_are_named_only_where_they_are_wanted() -> None:
    for language in ("en", "de"):
        assert "canary" not in sievert.describe_columns(TABLE).describe(language)
    plain = json.dumps(sievert.describe_columns(TABLE).to_dict())
    assert "canary" not in plain and "examples" not in plain
    shown = sievert.describe_columns(TABLE, show_values=True).columns[3]
    assert shown.examples == ("canary", "flu")


def test_a_first_line_that_may_be_a_record_is_not_listed(tmp_path: Path) -> None:
    (path := tmp_path / "data.csv").write_text("canary,34,1990-02-01\n" * 3)
    with pytest.raises(sievert.SievertError, match="--no-header") as error:
        sievert.describe_columns(path)
    assert "canary" not in str(error.value)
    command = command_line("columns", str(path), "--no-header", "--json", "-")
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    names = [column["name"] for column in json.loads(done.stdout)["columns"]]
    assert names == ["column1", "column2", "column3"] and "canary" not in done.stdout


@pytest.mark.parametrize("columns", [3, 40])
def test_a_text_file_is_not_read_once_for_each_column(
    columns: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"x{j}" for j in range(columns)]
    table = {
        c: [None if i % 7 == j else i % (j + 2) for i in range(60)] for j, c in enumerate(names)
    }
    table["x1"] = [f" {i % 2}" if i % 3 else f"{i % 2}" for i in range(60)]
    lines = [names, *zip(*table.values(), strict=True)]
    text = "\n".join(",".join("" if v is None else str(v) for v in line) for line in lines)
    (path := tmp_path / "wide.csv").write_text(text + "\n")
    monkeypatch.setattr("sievert.session.SMALL", 0)  # counted by the engine
    asked, execute = list[str](), DuckDB._execute
    monkeypatch.setattr(
        DuckDB,
        "_execute",
        lambda self, sql, *given: asked.append(sql) or execute(self, sql, *given),
    )
    found = sievert.describe_columns(path, show_values=True)
    monkeypatch.setattr(cells, "MOST_SETS", 1)
    alone = sievert.describe_columns(path, show_values=True)
    assert found.columns == alone.columns
    read = [sql for sql in asked if "FROM input" in sql]
    assert sum(sql.startswith("CREATE TEMP TABLE") for sql in read) == {3: 2, 40: 6}[columns]
    assert sum("GROUP BY" in sql for sql in read) == 2 * columns  # those of `alone`
    for column in found.columns:
        counts = Counter(str(v) for v in table[column.name] if v is not None)
        assert column.values == len({*table[column.name]})
        ranked = sorted(counts, key=lambda v: (-counts[v], v))
        assert column.examples == tuple(ranked[:3])


def test_records_in_order_are_read_once_for_a_dozen_columns(tmp_path: Path) -> None:
    names = [f"x{j}" for j in range(30)]
    rows = [[f"{(i * j) % 11}" for j in range(30)] for i in range(50)]
    (path := tmp_path / "wide.csv").write_text("\n".join(map(",".join, [names, *rows])) + "\n")
    with open_source(path) as (_, opened):
        questions, asked = Questions(opened.engine), list[str]()
        engine, execute = opened.engine, DuckDB._execute
        assert isinstance(engine, DuckDB)
        engine.__dict__["_execute"] = lambda sql, *given: (
            asked.append(sql) or execute(engine, sql, *given)
        )
        cube = questions.records_in_order(names)
        assert sum("FROM input" in sql for sql in asked) == 3
    for j, (codes, texts) in enumerate(zip(cube.codes, cube.values, strict=True)):
        assert [texts[code] for code in codes] == [row[j] for row in rows]
