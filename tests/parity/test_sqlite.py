"""An engine in one file: SQLite counts the records, and the JSON is that of DuckDB.

The adapter below is all that it takes. It stands here, not in the package, to show that nothing
else of Sievert has to know an engine.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from helpers.effort import tried
from helpers.randomtables import Case, case, mark_suppressed
from helpers.roworder import without_order
from helpers.suppressedoracle import limits_on_classes

import sievert
from sievert.counts import engines
from sievert.counts.duckdb.counted_elsewhere import CountedElsewhere
from sievert.errors import SievertError, UsageError, require
from sievert.session import open_source
from sievert.sources.table import Table

TYPES = {str: ("TEXT", "VARCHAR"), int: ("INTEGER", "BIGINT")}


# -- the engine -----------------------------------------------------------------------------------


class SQLite(CountedElsewhere):
    """Columns of texts and whole numbers, counted by SQLite; its cells are answered by DuckDB."""

    name = "sqlite"

    def __init__(self, table: Table, scratch: Path, **options: Any) -> None:
        super().__init__(table, scratch, **options)
        require(not table.na and not table.types, "no codes for missing here, and no types")
        self._database = sqlite3.connect(":memory:")
        self._database.create_function("regexp", 2, _matches, deterministic=True)
        self.columns = tuple(table.data)
        types = [_types(table.data[column]) for column in self.columns]
        self.kinds = {c: kind for c, (_, kind) in zip(self.columns, types, strict=True)}
        fields = ", ".join(f"c{i} {own}" for i, (own, _) in enumerate(types))
        places = ", ".join("?" for _ in types)
        self._database.execute(f"CREATE TABLE records ({fields})")
        rows = zip(*table.data.values(), strict=True)
        self._database.executemany(f"INSERT INTO records VALUES ({places})", rows)
        self.view("input", "SELECT * FROM records")

    def ask(self, sql: str, parameters: Sequence[Any] | None = None) -> list[tuple[Any, ...]]:
        return self._database.execute(sql, parameters or ()).fetchall()

    def matches(self, column: str, pattern: str) -> str:
        return f"{self.record_text(column)} REGEXP {self.text_literal(pattern)}"

    def interrupt(self) -> None:
        self._database.interrupt()
        super().interrupt()

    def close(self) -> None:
        self._database.close()
        super().close()


def _types(values: Sequence[Any]) -> tuple[str, str]:
    """The type of a column in SQLite, and in DuckDB."""
    kinds = {type(value) for value in values if value is not None} or {str}
    require(len(kinds) == 1, "a column with values of several types")
    return TYPES[kinds.pop()]


def _matches(pattern: str, text: str) -> bool:
    return re.fullmatch(pattern, text) is not None


# -- the same numbers -----------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    adapter = f"{SQLite.__module__}:{SQLite.__name__}"
    engines.register(engines.Engine(name="sqlite", adapter=adapter, owns=lambda _: False))
    yield
    del engines.ENGINES["sqlite"]


def told(columns: Mapping[str, list[Any]], engine: str, made: Case, **options: Any) -> str:
    """An assessment as text, but for the name of the engine; or the error."""
    options["engine"] = engine
    try:
        whole = sievert.assess(columns, made.quasi, [made.secret], **options).to_dict()
    except SievertError as error:
        return f"{type(error).__name__}: {error}"
    assert whole["table"].pop("engine") == engine
    return json.dumps(without_order(whole), sort_keys=True, ensure_ascii=False)


def compare(columns: Mapping[str, list[Any]], made: Case, **options: Any) -> str:
    """The same JSON of both engines."""
    ours = told(columns, "sqlite", made, **options)
    assert ours == told(columns, "duckdb", made, **options)
    return ours


@pytest.mark.parametrize("missing", ["value", "drop", "wildcard"])
def test_random_tables(missing: str) -> None:
    for seed in range(tried(20, 400)):
        made = case(Random(f"sqlite {seed}"))
        options: dict[str, Any] = {
            "missing": missing,
            "orders": {"s": made.order},
            "partitions": {"s": made.partition},
            "hierarchies": {"s": {k: v for k, v in made.ladder.items() if k is not None}},
            "parameters": {"alpha_k": {"value": made.named}, "recursive_c": {"l": made.l}},
        }
        answered = compare(made.columns, made, **options)
        assert "Error" not in answered or missing != "value", answered


def test_numbers() -> None:
    for seed in range(tried(10, 100)):
        random = Random(f"sqlite numbers {seed}")
        made = case(random)
        rows = len(made.columns["s"])
        ages = [random.choice([-1, 9, 10, 2**40, None]) for _ in range(rows)]
        compare({**made.columns, "q0": ages}, made)
        compare({**made.columns, "s": ages}, made, attacks=True)


@pytest.mark.parametrize("mark", ["*", "it's ? \\ é", "a", None])
def test_suppressed_records(mark: str | None) -> None:
    for seed in range(tried(5, 50)):
        random = Random(f"sqlite suppressed {seed} {mark}")
        made = mark_suppressed(case(random), random, mark)
        rules = limits_on_classes(made.quasi, made.secret, person=None, mark=mark)
        kept = seed == 2
        answered = compare(made.columns, made, suppressed=mark, keep_suppressed=kept)
        assert '"suppressed": 0' not in answered
        options: dict[str, Any] = {"policy": rules, "quick": True}
        compare(made.columns, made, suppressed=mark, keep_suppressed=kept, **options)


def test_people() -> None:
    for seed in range(tried(20, 400)):
        random = Random(f"sqlite people {seed}")
        made = case(random)
        who = [random.choice(["a", "b", "c", None]) for _ in made.columns["s"]]
        columns = {**made.columns, "id": who}
        answered = compare(columns, made, person="id", partitions={"s": made.partition})
        assert "Error" not in answered, answered


def test_what_needs_more_than_counts_says_so(tmp_path: Path) -> None:
    made = case(Random(3))
    state = tmp_path / "s.state"
    sievert.count(made.columns, made.quasi, [made.secret], out=state)
    with pytest.raises(UsageError, match="the engine sqlite does not read a state"):
        sievert.assess(state, made.quasi, [made.secret], engine="sqlite")
    with pytest.raises(UsageError, match="sqlite knows no order of records"):
        sievert.compare(made.columns, made.columns, made.quasi, engine="sqlite")
    with pytest.raises(UsageError, match="--records needs the records here"):
        path = tmp_path / "r.csv"
        sievert.assess(made.columns, made.quasi, [made.secret], engine="sqlite", records=path)


def test_an_engine_is_chosen_by_its_registration() -> None:
    made = case(Random(1))
    for name in ("sqlite", "duckdb"):
        with open_source(made.columns, engine=name) as (_, questions):
            assert questions.engine.name == name
            assert questions.engine.keeps_order == (name == "duckdb")
    with pytest.raises(UsageError, match="--master goes with --engine spark"):
        sievert.assess(made.columns, made.quasi, engine="sqlite", master="local[1]")
    with pytest.raises(UsageError, match="does not read this source"):
        sievert.assess("postgresql://host/db?table=t", ["a"], engine="sqlite")
