"""The rows of a release in the order of its original: as the private pairing file has it."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import duckdb


def row_numbers(release: Path) -> list[int]:
    """Of each released row the number of its row in the original, from 1."""
    beside = release.with_name(f"{release.name}.pairing.parquet")
    with duckdb.connect() as engine:
        return [n for (n,) in engine.sql(f"SELECT record FROM '{beside}'").fetchall()]


def details(release: Path) -> dict[str, Any]:
    """What the pairing file says of itself."""
    beside = release.with_name(f"{release.name}.pairing.parquet")
    with duckdb.connect() as engine:
        sql = f"SELECT decode(key), decode(value) FROM parquet_kv_metadata('{beside}')"
        return dict(next(json.loads(v) for k, v in engine.sql(sql).fetchall() if k == "pairing"))


def csv_rows(release: Path) -> list[dict[str, str]]:
    """The rows of a release as they stand in the file."""
    with release.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def in_input_order(release: Path) -> list[dict[str, str]]:
    """The rows of a release in the order of the original; rows that were dropped are missing."""
    pairs = zip(row_numbers(release), csv_rows(release), strict=True)
    return [row for _, row in sorted(pairs, key=lambda pair: pair[0])]
