"""A pairing file: the row of the original that each row of a release is.

It is Parquet with one column, `record`: row numbers of the original, from 1, in the order of the
release. It contains no cell of either table. Its footer names the files.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sievert.arrays import Ints
from sievert.counts.duckdb.reading import literal

KIND = "pairing"  # of a file to write, and the key in the footer


def write_row_numbers(
    engine: Any, numbers: Ints | str, path: Path, details: Mapping[str, Any]
) -> None:
    """Write the row numbers: an array of them, or the table of the engine with their places."""
    text = json.dumps(details, sort_keys=True)
    if isinstance(numbers, str):
        engine.write(f"SELECT n AS record FROM {numbers} ORDER BY place", path, KIND, details=text)
        return
    engine.register("numbers", {"record": numbers})
    engine.write("SELECT record FROM numbers", path, KIND, details=text)
    engine.unregister("numbers")


def read_details(engine: Any, path: Path) -> Any:
    """Read the footer of a pairing file; None if the file is another one."""
    rows = engine.rows(
        f"SELECT decode(value) FROM parquet_kv_metadata({literal(str(path))}) "
        f"WHERE decode(key) = '{KIND}'"
    )
    return json.loads(rows[0][0]) if rows else None


def read_row_numbers(engine: Any) -> Ints:
    """The row numbers of a pairing file, in the order of the release."""
    (numbers,) = engine.arrays(f"SELECT c{engine.columns.index('record')} FROM input")
    return np.asarray(numbers)
