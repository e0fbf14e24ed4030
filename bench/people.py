"""People with several rows: an assessment against a bare nested count of distinct pairs."""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

from bench.common import BenchError, Options, Ratio, Result, digits, interleave, table

ROWS, QUICK_ROWS = 10**7, 10**6
ROWS_EACH = 10  # rows per person
GOAL = 1.5
KEYS = "age, zip, sex"


def run(options: Options) -> Result:
    """Write a table, count its people in turns."""
    try:
        import duckdb
        import numpy as np
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise BenchError(f"not without {error.name}") from None
    import sievert

    rows = QUICK_ROWS if options.quick else ROWS
    random = np.random.default_rng(1)
    columns = {
        "id": random.integers(0, rows // ROWS_EACH, rows),
        "age": random.integers(18, 90, rows).astype(np.int32),
        "zip": random.integers(0, 1000, rows).astype(np.int32),
        "sex": random.integers(0, 2, rows).astype(np.int32),
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "people.parquet"
        parquet.write_table(pa.table(columns), path)
        bare = (
            f"SELECT n, count(*) FROM (SELECT {KEYS}, count(*) AS n FROM (SELECT {KEYS}, id "
            f"FROM '{path}' GROUP BY {KEYS}, id) GROUP BY {KEYS}) GROUP BY n"
        )
        samples = interleave(
            {
                "sievert, every measure": lambda: sievert.assess(
                    path, KEYS.split(", "), person="id"
                ),
                "DuckDB, bare count of people": lambda: duckdb.connect().execute(bare).fetchall(),
            },
            options.rounds or 5,
        )
    walls = {name: [s.wall for s in taken] for name, taken in samples.items()}
    medians = [(name, digits(statistics.median(w))) for name, w in walls.items()]
    print(table(("", "wall s (median)"), medians))
    ratio = Ratio.of(*walls.values())
    print(f"\nRATIO {rows:,} rows of {rows // ROWS_EACH:,} people: {ratio} (goal {GOAL})")
    return {"rows": rows, "samples": samples, "ratio": ratio, "met": ratio.median <= GOAL}
