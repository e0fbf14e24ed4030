"""The record file: in input order for large inputs, its means are the mutual informations."""

from __future__ import annotations

import math
from pathlib import Path

import duckdb
import pytest

import sievert


def test_names_are_no_formulas(tmp_path: Path) -> None:
    """A spreadsheet that opens the file must not run the name of a column."""
    table = {"q": ["a", "b"], "=cmd|' /C calc'!A0": ["x", "y"]}
    sievert.assess(table, "q", "=cmd|' /C calc'!A0", records=tmp_path / "r.csv")
    header = (tmp_path / "r.csv").read_text().splitlines()[0]
    assert ",'=cmd" in header and ",=cmd" not in header


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_large_files_keep_their_order(tmp_path: Path, ending: str) -> None:
    source, out = tmp_path / f"in.{ending}", tmp_path / "records.parquet"
    duckdb.execute(
        "COPY (SELECT 'r' || i AS id, hash(i) % 50 AS q, hash(i + 7) % 40 AS p, hash(i) % 3 + "
        f"hash(i + 3) % 4 AS s FROM range(300000) t(i)) TO '{source}'"
    )
    found = sievert.assess(source, ["q", "p"], ["s"], records=out, threads=2)
    read = f"read_{ending}('{source}'" + (
        ", header=true, all_varchar=true)" if ending == "csv" else ")"
    )
    joined = f"""
        WITH t AS (SELECT CAST(substr(id, 2) AS INT) + 1 AS record, q, p, s FROM {read}),
             c AS (SELECT q, p, count(*) AS n FROM t GROUP BY q, p),
             d AS (SELECT q, p, s, count(*) AS n FROM t GROUP BY q, p, s)
        SELECT count(*), sum((r.class_size = c.n)::INT),
               sum((abs(r."s.posterior" - d.n / c.n) < 1e-15)::INT)
        FROM read_parquet('{out}') AS r JOIN t USING (record)
        JOIN c ON c.q = t.q AND c.p = t.p JOIN d ON d.q = t.q AND d.p = t.p AND d.s = t.s"""
    assert duckdb.execute(joined).fetchall() == [(300000, 300000, 300000)]
    numbered = f"SELECT record, row_number() OVER () AS place FROM read_parquet('{out}')"
    moved = f"SELECT count(*) FROM ({numbered}) WHERE record <> place"
    assert duckdb.execute(moved).fetchall() == [(0,)]
    means = f"SELECT avg(identity_bits), avg(\"s.information_gain\") FROM read_parquet('{out}')"
    ((identity, gain),) = duckdb.execute(means).fetchall()
    record = found.reidentification["mutual_information"].value
    secret = found.inference["s"]["mutual_information"].value
    assert record is not None and math.isclose(identity, record, rel_tol=1e-9)
    assert secret is not None and math.isclose(gain, secret, rel_tol=1e-6)
