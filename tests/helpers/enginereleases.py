"""Releases made on several engines: the same recoding, the same verdicts, the same records."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pyarrow
import pytest

import sievert
from sievert.commands.protect import check, writing
from sievert.errors import InvariantError
from sievert.releases import floor as _search_floor

TREES = {"age": "interval:5,10,20", "weight": "interval:10,40"}
POSTGRES = ("int", "date", "double precision", "text", "text", "text", "int", "text")
KINDS = (pyarrow.int64(), pyarrow.date32(), pyarrow.float64(), *[pyarrow.string()] * 3,
         pyarrow.int64(), pyarrow.string())  # fmt: skip
WARD = {"ward": {"reason": "the hospital plans by it", "outsiders_cannot_know": True}}


def columns(seed: int, rows: int = 300) -> dict[str, list[Any]]:
    """Numbers, dates and texts: some missing, empty, or to be quoted; people with several rows."""
    random = Random(seed)
    return {
        "age": [random.choice([None, *range(20, 60)]) for _ in range(rows)],
        "day": [datetime.date(2024, random.randint(1, 2), random.randint(1, 3))
                for _ in range(rows)],
        "weight": [random.choice([None, 1e-5, 62.5, 70.0, 81.25]) for _ in range(rows)],
        'to"wn, x': [random.choice(["a", "b", "x,y", "", 'c "d"', "e\nf", "ü", None])
                     for _ in range(rows)],
        "person": [f"p{random.randint(0, rows // 2)}" for _ in range(rows)],
        "ill": [random.choice(["flu", "cold", "", None, 'a,"b"']) for _ in range(rows)],
        "stay": [random.choice([1, 2, None, 14]) for _ in range(rows)],
        "ward": [random.choice(["north", "south", None]) for _ in range(rows)],
    }  # fmt: skip


def frame(seed: int) -> pyarrow.Table:
    """The same as a table of Arrow's."""
    named = zip(columns(seed).items(), KINDS, strict=True)
    return pyarrow.table({name: pyarrow.array(v, kind) for (name, v), kind in named})


def policy(seed: int) -> dict[str, Any]:
    """k, or k and l; with people, where the seed is even."""
    roles: dict[str, Any] = {
        "quasi": ["age", "day", "weight", 'to"wn, x'],
        "sensitive": ["ill", "stay"],
        "kept": WARD,
    }
    if seed % 2:
        roles |= {"rows_are_people": True, "ignored": {"person": "not released"}}
    else:
        roles["person"] = "person"
    inference = {"ill": {"l_diversity": {"min": 2}}} if seed % 3 else {}
    return {"roles": roles, "limits": {"k_anonymity": {"min": 4}, "inference": inference}}


def options(seed: int) -> dict[str, Any]:
    """Suppressed records are marked or dropped, nothing or much is suppressed, a column is kept."""
    return {
        "policy": policy(seed),
        "hierarchies": TREES,
        "suppress": (0.3, 0.0, 0.15)[seed % 3],
        "drop": seed % 4 > 1,
        "keep": ["ward"] if seed % 2 and seed % 3 else [],
    }


def start_from_a_floor(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Of some tables too many combinations, so that the search starts from coarser ones."""
    few = 100 if seed % 4 == 3 else 10**8
    monkeypatch.setattr(_search_floor, "MOST_COMBINATIONS", few)


def confirm_here(monkeypatch: pytest.MonkeyPatch) -> list[Mapping[str, Any]]:
    """Releases are confirmed in this process, as a guest of an engine that is there already."""
    orders: list[Mapping[str, Any]] = []

    def confirm(path: Path, rules: Any, how: Any, records: Any, *, released: Path) -> list[str]:
        of_file = {"path": str(path), "policy": rules, "options": how}
        orders.append({"file": of_file, "records": records, "released": str(released)})
        cautions = check.cautions_of(json.loads(json.dumps(orders[-1])))
        if cautions is None:
            raise InvariantError(check.NOT_CHECKED)
        return cautions

    monkeypatch.setattr(writing, "confirm", confirm)
    return orders


def release(data: Any, out: Path, **given: Any) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
    """The result but for its source, the manifest but for its digest, the rows in order."""
    result = sievert.protect(data, out=out, **given)
    assert result.released
    whole = result.to_dict()
    # Rows have numbers, and so a pairing file, only where records are read here.
    del whole["pairing_file"]
    assert ("floor" in whole) == (_search_floor.MOST_COMBINATIONS < 300)
    del whole["table"]
    manifest = json.loads(out.with_name(f"{out.name}.json").read_text(encoding="utf-8"))
    digest = manifest.pop("release")
    manifest.pop("pairing", None)
    verified = sievert.assess(out, result.roles.quasi, verify=True, quick=True)
    assert verified.table["verified"]["sha256"] == digest["sha256"]
    return whole, manifest, [*map(repr, records(out))]


def records(path: Path) -> Sequence[tuple[Any, ...]]:
    """All cells as text; a missing one is None."""
    with duckdb.connect() as engine:
        read = f"read_parquet('{path}{'/*' if path.is_dir() else ''}')"
        if path.suffix == ".csv":
            names = engine.sql(f"SELECT * FROM read_csv('{path}', all_varchar=true)").columns
            kinds = ", ".join("'" + n.replace("'", "''") + "': 'VARCHAR'" for n in names)
            read = (
                f"read_csv('{path}', columns={{{kinds}}}, header=true, delim=',', quote='\"', "
                "escape='\"', allow_quoted_nulls=false, auto_detect=false)"
            )
        rows = engine.sql(f"SELECT COLUMNS(*)::VARCHAR FROM {read}")
        return [tuple(rows.columns), *rows.fetchall()]
