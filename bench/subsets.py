"""Every subset of the quasi-identifiers, every measure of it, against one GROUP BY a subset.

``adult``: 255 subsets of 8 columns of Adult (where SIEVERT_REFERENCE names the folder that has it).
``eight``, ``ten``: 255 and 1,023 subsets of 10^6 generated rows in some 2x10^4 and 10^5 classes.
``unique``: the same ten columns where nearly every row is alone. ``wide``: 2,047 subsets of eleven
columns of 5x10^7 rows, in a process that may hold 8 GiB.
"""

from __future__ import annotations

import itertools
import json
import os
import resource
import statistics
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb

from bench.common import (
    BenchError,
    Options,
    Ratio,
    Result,
    child,
    digits,
    interleave,
    peak_memory,
    print_verdict,
    scratch,
    table,
    timed,
    verdict,
)

EIGHT = (2, 2, 5, 7, 9, 10, 16, 50)
TEN = (2, 3, 4, 5, 6, 8, 10, 16, 30, 50)
ELEVEN = (2, 2, 3, 4, 5, 6, 8, 10, 16, 30, 50)
GOAL = 10.0
LIMIT = 8 << 30


def write(path: Path, rows: int, spread: Sequence[int], people: int) -> None:
    """Columns of so many values each, in about so many combinations; a secret of 14 values."""
    columns = ", ".join(
        f"'v' || least(hash(i * {31 + 2 * j}) % {n}, hash(i * {101 + 2 * j}) % {n}) AS q{j}"
        for j, n in enumerate(spread)
    )
    with duckdb.connect() as connection:
        connection.execute("SET preserve_insertion_order = false")
        connection.execute(
            f"COPY (SELECT {columns}, 'd' || least(hash(r * 7 + 1) % 14, hash(i * 3) % 20) AS s "
            f"FROM (SELECT range AS r, hash(range) % {people} AS i FROM range({rows}))) "
            f"TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE 1000000)"
        )


def bare(path: str, quasi: Sequence[str], secret: str) -> Callable[[], object]:
    """One GROUP BY a subset, from rows in memory: class sizes, values, largest counts."""
    connection = duckdb.connect()
    names = ", ".join(f'"{c}"' for c in [*quasi, secret])
    connection.execute(f"CREATE TABLE t AS SELECT {names} FROM '{path}'")

    def count() -> object:
        found = 0
        for size in range(1, len(quasi) + 1):
            for subset in itertools.combinations(quasi, size):
                keys = ", ".join(f'"{c}"' for c in subset)
                sql = (
                    f"SELECT nq, l, most, count(*) FROM (SELECT {keys}, sum(n) AS nq, "
                    "count(*) AS l, max(n) AS most FROM "
                    f'(SELECT {keys}, "{secret}", count(*) AS n FROM t '
                    f'GROUP BY {keys}, "{secret}") GROUP BY {keys}) GROUP BY ALL'
                )
                found += len(connection.execute(sql).fetchall())
        return found

    return count


def ours(path: str, quasi: Sequence[str], secret: str) -> list[Any]:
    """Every measure of every subset, from the file."""
    from sievert.measurement.combinations import count_combinations
    from sievert.measurement.population_risks import LARGE_POPULATION
    from sievert.measurement.subsets import Subsets
    from sievert.session import open_source

    with open_source(path, large=LARGE_POPULATION) as (_, questions):
        subsets = Subsets(count_combinations(questions, quasi, [secret]))
        subsets.all()
        return subsets.nonempty


def one(title: str, path: Path, quasi: Sequence[str], secret: str, rounds: int) -> Result:
    """Both ways in turns."""
    ours(str(path), quasi, secret)  # compiles
    samples = interleave(
        {
            "sievert, every measure": lambda: ours(str(path), quasi, secret),
            "DuckDB, one count a subset": bare(str(path), quasi, secret),
        },
        rounds,
        warmups=0,
    )
    walls = {name: [s.wall for s in taken] for name, taken in samples.items()}
    print(f"\n{title}: {2 ** len(quasi) - 1:,} subsets\n")
    rows = [(name, digits(statistics.median(w))) for name, w in walls.items()]
    print(table(("", "wall s (median)"), rows))
    ratio = Ratio.of(walls["DuckDB, one count a subset"], walls["sievert, every measure"])
    print_verdict("of one count a subset", ratio, verdict(ratio.median, GOAL, at_least=True))
    return {"walls": walls, "ratio": ratio}


def run(options: Options) -> Result:
    """Generate, measure, print, free."""
    scale = 20 if options.quick else 1
    rounds = options.rounds or 2
    result: Result = {}
    with scratch() as folder:
        path = folder / "table.parquet"
        shared = os.environ.get("SIEVERT_REFERENCE")
        if shared:
            source = Path(shared) / "data" / "adult" / "adult.csv"
            with duckdb.connect() as connection:
                names = [
                    row[0]
                    for row in connection.execute(
                        f"DESCRIBE SELECT * FROM read_csv('{source}', all_varchar = true)"
                    ).fetchall()
                ]
                connection.execute(
                    f"COPY (SELECT * FROM read_csv('{source}', all_varchar = true)) TO '{path}'"
                )
            quasi = [n for n in names if n != "occupation"][:8]
            result["adult"] = one("Adult", path, quasi, "occupation", rounds)
        for name, rows, spread, people in (
            ("eight", 10**6, EIGHT, 20_000 // scale),
            ("ten", 10**6, TEN, 100_000 // scale),
            ("unique", 2 * 10**5, TEN, 10**12),
        ):
            write(path, rows // scale, spread, people)
            quasi = [f"q{i}" for i in range(len(spread))]
            result[name] = one(f"{rows // scale:,} rows, {name}", path, quasi, "s", rounds)
        write(path, 5 * 10**7 // scale, ELEVEN, 4_000_000 // scale)
        wide = child(["-m", "bench.subsets", str(path)], 3600)
        result["wide"] = wide
        print(
            f"\n2,047 subsets of {5 * 10**7 // scale:,} rows in {wide['classes']:,} classes: "
            f"{digits(wide['wall'])} s, peak {wide['peak'] / 2**30:.2f} GiB"
        )
        if wide["peak"] > LIMIT:
            raise BenchError("more memory than allowed")
    return result


def main(path: str) -> Result:
    """The wide table, in the process that exists for it."""
    resource.setrlimit(resource.RLIMIT_DATA, (LIMIT, LIMIT))
    quasi = [f"q{i}" for i in range(len(ELEVEN))]
    found: list[Any] = []
    sample = timed(lambda: found.extend(ours(path, quasi, "s")))
    classes = max(int(s.reidentification["classes"]) for s in found)
    return {"wall": sample.wall, "peak": peak_memory(), "classes": classes}


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1])))
