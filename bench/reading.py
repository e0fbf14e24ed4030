"""What the care costs: a CSV file read by sievert against DuckDB's own ``read_csv`` of it.

Both sides put the same columns, of the same types, into a table of a new connection. Ours tells the
engine everything and lets it guess nothing, and counts the records from the bytes before; the other
side is DuckDB as it comes, told only names and types. Compressed files are unpacked by us first,
so that their size can be limited and their end checked; DuckDB unpacks while it reads.
"""

from __future__ import annotations

import gzip
import shutil
import statistics
from collections.abc import Callable
from pathlib import Path

import duckdb

from bench.common import (
    Options,
    Ratio,
    Result,
    digits,
    interleave,
    print_verdict,
    scratch,
    table,
    verdict,
)

GOAL = 1.6
COLUMNS = {
    "age": ("int", "(hash(i) % 90)"),
    "sex": ("int", "(hash(i * 3) % 2)"),
    "region": ("text", "'region ' || (hash(i * 5) % 50)"),
    "zip": ("text", "lpad(CAST(hash(i * 7) % 500 AS VARCHAR), 5, '0')"),
    "education": ("int", "(hash(i * 11) % 7)"),
    "disease": ("text", "'disease ' || (hash(i * 13) % 20)"),
    "income": ("float", "round((hash(i * 17) % 1000000) / 7.0, 2)"),
}
TYPES = {"int": "BIGINT", "text": "VARCHAR", "float": "DOUBLE"}


def write(path: Path, rows: int) -> None:
    """Generate the file."""
    values = ", ".join(f"{value} AS {name}" for name, (_, value) in COLUMNS.items())
    with duckdb.connect() as connection:
        connection.execute(
            f"COPY (SELECT {values} FROM range({rows}) AS t(i)) TO '{path}' (FORMAT csv, HEADER)"
        )


def theirs(path: Path) -> Callable[[], object]:
    """DuckDB as it comes."""
    types = ", ".join(f"'{name}': '{TYPES[kind]}'" for name, (kind, _) in COLUMNS.items())

    def read() -> object:
        with duckdb.connect() as connection:
            sql = f"CREATE TEMP TABLE t AS SELECT * FROM read_csv('{path}', columns={{{types}}})"
            return connection.execute(sql).fetchall()

    return read


def ours(path: Path, rows: int) -> Callable[[], object]:
    """As sievert reads: the scan, the strict options, the same types."""
    from sievert.counts.duckdb.adapter import DuckDB
    from sievert.sources.table import open_table

    def read() -> object:
        with scratch() as folder:
            found = open_table(path, folder)
            assert found.scan is not None and found.scan.records == rows
            adapter = DuckDB(found, folder)
            casts = ", ".join(
                f"CAST(c{i} AS {TYPES[kind]})" for i, (kind, _) in enumerate(COLUMNS.values())
            )
            adapter.run(f"CREATE TEMP TABLE t AS SELECT {casts} FROM input")
            assert adapter.rows("SELECT COUNT(*) FROM t") == [(rows,)]
            adapter.close()
        return None

    return read


def scan(path: Path) -> Callable[[], object]:
    """The count from the bytes alone."""
    from sievert.sources import csv_scan

    return lambda: csv_scan.scan(path, path.name, ",", len(COLUMNS))


def run(options: Options) -> Result:
    """Generate the files, measure, print."""
    import zstandard

    rows = 1_000_000 if options.quick else 10_000_000
    rounds = options.rounds or (3 if options.quick else 5)
    with scratch() as folder:
        plain = folder / "table.csv"
        write(plain, rows)
        size = plain.stat().st_size
        packed = {".gz": folder / "table.csv.gz", ".zst": folder / "table.csv.zst"}
        with plain.open("rb") as source, gzip.open(packed[".gz"], "wb", compresslevel=1) as target:
            shutil.copyfileobj(source, target, 1 << 20)
        with plain.open("rb") as source, packed[".zst"].open("wb") as target:
            zstandard.ZstdCompressor().copy_stream(source, target)
        actions = {"sievert": ours(plain, rows), "DuckDB": theirs(plain), "our scan": scan(plain)}
        samples = interleave(actions, rounds)
        for ending, path in packed.items():
            pair = {f"sievert {ending}": ours(path, rows), f"DuckDB {ending}": theirs(path)}
            samples |= interleave(pair, max(1, rounds // 2), warmups=0)
    walls = {name: [s.wall for s in found] for name, found in samples.items()}
    print(f"{rows:,} rows, {len(COLUMNS)} columns, {size / 1e6:.0f} MB\n")
    lines = [
        (name, digits(statistics.median(w)), digits(min(w)), f"{size / 1e6 / min(w):,.0f}")
        for name, w in walls.items()
    ]
    print(table(("", "wall s (median)", "best", "MB of text/s (best)"), lines))
    result: Result = {
        "rows": rows,
        "bytes": size,
        "samples": samples,
        "ratio": Ratio.of(walls["sievert"], walls["DuckDB"]),
    }
    for ending in packed:
        result[f"ratio{ending}"] = Ratio.of(walls[f"sievert {ending}"], walls[f"DuckDB {ending}"])
        print(f"\n{ending}: sievert / DuckDB {result[f'ratio{ending}']}")
    result["goal"] = verdict(result["ratio"].median, GOAL, at_least=False)
    print_verdict("reading with care / read_csv", result["ratio"], result["goal"])
    return result
