"""A billion records on one machine: every measure, against a bare count and against Spark.

``billion``: the table of the ITPR paper's largest run (age of 120 values, disease of 100), written
as dictionary-coded Parquet with the counts of its cells kept as the truth. ``classes``: 10^7
records in 7.5 million classes of six columns. ``limit``: 5x10^7 records in 24 million classes, with
and without a memory limit of 2 GB, each in a process of its own.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

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
    touch_memory,
    verdict,
    version,
)

PAPER = 10**9 / 19 / 100  # records a second and core, of 100 workers
AGES, DISEASES, SLOTS = 120, 100, 1 << 16
GROUP = 10**6
QUASI = ["age", "sex", "zip", "marital", "race", "education"]


def weights() -> np.ndarray[Any, Any]:
    """Slots of each (age, disease): uneven, none empty, so that ITPR is neither 0 nor 1."""
    random = np.random.default_rng(7)
    raw = random.gamma(0.6, size=(AGES, DISEASES)) * random.uniform(0.5, 2, size=(AGES, 1))
    slots = 1 + np.floor(raw / raw.sum() * (SLOTS - AGES * DISEASES - 1)).astype(np.int64)
    slots[0, 0] += SLOTS - slots.sum()
    return slots


def write_billion(folder: Path, rows: int) -> np.ndarray[Any, Any]:
    """Write parts of the table, two at a time; returns how many records each cell has."""
    import pyarrow as pa
    from pyarrow import parquet

    cells = np.repeat(np.arange(AGES * DISEASES), weights().ravel()).astype(np.int32)
    groups = -(-rows // GROUP)

    def part(number: int) -> np.ndarray[Any, Any]:
        counts = np.zeros(AGES * DISEASES, dtype=np.int64)
        kinds = pa.schema([("age", pa.uint8()), ("disease", pa.uint8())])
        name = folder / f"part{number:02}.parquet"
        with parquet.ParquetWriter(name, kinds, compression="snappy") as writer:
            for group in range(number, groups, 16):
                size = min(GROUP, rows - group * GROUP)
                random = np.random.default_rng([3, group])
                drawn = cells[random.integers(0, SLOTS, size, dtype=np.uint16)]
                counts += np.bincount(drawn, minlength=AGES * DISEASES)
                columns = [
                    (drawn // DISEASES).astype(np.uint8),
                    (drawn % DISEASES).astype(np.uint8),
                ]
                writer.write_table(pa.table(columns, schema=kinds), row_group_size=GROUP)
        return counts

    with ThreadPoolExecutor(2) as pool:
        return np.asarray(sum(pool.map(part, range(16))))


def write_classes(path: Path, rows: int, zips: int) -> None:
    """Records in very many classes, some of them shared."""
    with duckdb.connect() as connection:
        connection.execute("SET preserve_insertion_order = false")
        connection.execute(
            f"""COPY (SELECT (hash(i) % 90)::INT AS age, (hash(i * 3) % 2)::INT AS sex,
            least((hash(i * 5) % {zips}), (hash(i * 23) % {zips}))::INT AS zip,
            'm' || (hash(i * 7) % 4) AS marital, (hash(i * 11) % 5)::INT AS race,
            least(hash(i * 19) % 16, 9)::INT AS education,
            'd' || least(hash(i * 13) % 20, hash(i * 29) % 14) AS disease
            FROM range({rows}) AS t(i)) TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE {GROUP})"""
        )


def spark_count(data: str, columns: list[str], classes: bool) -> Callable[[], object] | None:
    """The same counts on Spark with two cores, or None where it is not installed."""
    if version("pyspark") is None:
        return None
    from pyspark.sql import SparkSession, functions

    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.memory", "6g")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2" if not classes else "4")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    frame = spark.read.parquet(data)

    def count() -> object:
        cells = frame.groupBy(*columns).count()
        if not classes:
            return cells.collect()
        n = "count"
        held = cells.groupBy(*columns[:-1]).agg(
            functions.sum(n).alias("nq"), functions.max(n).alias("most"),
            functions.count(n).alias("l"),
            functions.sort_array(functions.collect_list(n), asc=False).alias("held"),
        )  # fmt: skip
        return held.groupBy("nq", "most", "l", "held").count().collect()

    return count


def bare(data: str, columns: list[str], classes: bool) -> Callable[[], object]:
    """DuckDB's own count with its default settings; two levels where classes are many."""
    keys = ", ".join(columns)
    cells = f"SELECT {keys}, count(*) AS n FROM read_parquet('{data}') GROUP BY ALL"
    sql = cells
    if classes:
        quasi = ", ".join(columns[:-1])
        sql = (
            f"WITH c AS MATERIALIZED ({cells}), y AS ("
            f"SELECT {quasi}, sum(n) AS nq, max(n) AS most, "
            f"count(*) AS l, list_sort(list(n), 'DESC') AS held FROM c GROUP BY {quasi}) "
            "SELECT nq, most, l, held, count(*) FROM y GROUP BY ALL"
        )

    def count() -> object:
        with duckdb.connect() as connection:
            return connection.execute(sql).fetchall()

    return count


def billion(folder: Path, rows: int, rounds: int) -> Result:
    """Every measure of the paper's table, of both kinds of risk."""
    import sievert

    data = folder / "billion"
    data.mkdir()
    truth = write_billion(data, rows)
    found: list[sievert.Assessment] = []

    def ours() -> None:
        found.append(sievert.assess(data, ["age"], ["disease"]))

    actions: dict[str, Callable[[], object]] = {
        "sievert, every measure": ours,
        "DuckDB, bare count": bare(f"{data}/*.parquet", ["age", "disease"], classes=False),
    }
    spark = spark_count(str(data), ["age", "disease"], classes=False)
    if spark is not None:
        actions["Spark local[2], bare count"] = spark
    samples = interleave(actions, rounds)
    _check_billion(found[-1], truth.reshape(AGES, DISEASES))
    return {"rows": rows, "samples": samples, "itpr": _itpr(found[-1], "disease")}


def _itpr(found: Any, secret: str) -> float:
    return float(found.inference[secret]["itpr"].value)


def _check_billion(found: Any, truth: np.ndarray[Any, Any]) -> None:
    """The result against the counts that the generator kept."""
    sizes = truth.sum(axis=1).astype(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(truth > 0, truth / sizes[:, None], 1)
    entropies = -(shares * np.log2(shares)).sum(axis=1)
    p = truth.sum(axis=0) / truth.sum()
    whole = -(p[p > 0] * np.log2(p[p > 0])).sum()
    itpr = 1 - AGES * (sizes / truth.sum() * entropies).min() / whole
    measured = _itpr(found, "disease")
    k = found.reidentification["k_anonymity"].value
    if found.rows != truth.sum() or k != sizes.min() or abs(measured - itpr) > 1e-9:
        raise BenchError(f"the numbers are wrong: ITPR {measured}, expected {itpr}")
    if not 0.01 < itpr < 0.99:
        raise BenchError(f"an ITPR of {itpr} proves nothing")


def many_classes(folder: Path, rows: int, rounds: int) -> Result:
    """Every measure where classes are nearly as many as records."""
    import sievert

    data = folder / "classes.parquet"
    write_classes(data, rows, 1150)
    found: list[sievert.Assessment] = []

    def ours() -> None:
        found.append(sievert.assess(data, QUASI, ["disease"]))

    columns = [*QUASI, "disease"]
    actions: dict[str, Callable[[], object]] = {
        "sievert, every measure": ours,
        "DuckDB, bare two-level count": bare(str(data), columns, classes=True),
    }
    spark = spark_count(str(data), columns, classes=True)
    if spark is not None:
        actions["Spark local[2], bare two-level count"] = spark
    samples = interleave(actions, rounds)
    data.unlink()
    classes = found[-1].reidentification["classes"].value
    return {
        "rows": rows,
        "classes": classes,
        "samples": samples,
        "itpr": _itpr(found[-1], "disease"),
    }


def limited(folder: Path, rows: int, rounds: int) -> Result:
    """With and without a limit of 2 GB, each run in a process of its own."""
    data = folder / "limit.parquet"
    write_classes(data, rows, 1450)
    taken: dict[str, list[Result]] = {"2GB": [], "": []}
    for _ in range(rounds):
        for memory, runs in taken.items():
            touch_memory(6 << 30)
            runs.append(child(["-m", "bench.scale", str(data), memory], 3600))
    data.unlink()
    if len({json.dumps(r["numbers"]) for runs in taken.values() for r in runs}) != 1:
        raise BenchError("a memory limit changes the numbers")
    return {"rows": rows, "runs": taken}


def one(path: str, memory: str) -> Result:
    """One run in the process that exists for it."""
    import sievert

    found: list[sievert.Assessment] = []
    options = {"memory": memory} if memory else {}
    sample = timed(lambda: found.append(sievert.assess(path, QUASI, ["disease"], **options)))
    classes = found[0].reidentification["classes"].value
    return {
        "wall": sample.wall,
        "peak": peak_memory(),
        "numbers": [classes, _itpr(found[0], "disease")],
    }


def _told(title: str, result: Result, cores: int) -> dict[str, list[float]]:
    walls = {name: [s.wall for s in samples] for name, samples in result["samples"].items()}
    print(f"\n{title}: {result['rows']:,} records (ITPR {result['itpr']:.6f})\n")
    rows = [
        (
            name,
            digits(statistics.median(w)),
            f"{result['rows'] / statistics.median(w) / cores:,.0f}",
        )
        for name, w in walls.items()
    ]
    print(table(("", "wall s (median)", "records/s/core"), rows))
    return walls


def run(options: Options) -> Result:
    """Generate, measure, print, free."""
    scale = 100 if options.quick else 1
    cores = len(os.sched_getaffinity(0))
    rounds = options.rounds or 3
    result: Result = {}
    with scratch() as folder:
        result["billion"] = first = billion(folder, 10**9 // scale, rounds)
        walls = _told("Age and disease, every measure", first, cores)
        ours = walls["sievert, every measure"]
        speed = [first["rows"] / w / cores / PAPER for w in ours]
        goals = {"paper": (Ratio.of(speed, [1.0] * len(speed)), 250.0)}
        for name, other in walls.items():
            if name != "sievert, every measure":
                goals[name] = (Ratio.of(other, ours), 6.0 if "Spark" in name else 1.0)
        for name, (ratio, goal) in goals.items():
            first[f"ratio to {name}"] = ratio
            print_verdict(f"of {name}", ratio, verdict(ratio.median, goal, at_least=True))
        result["classes"] = second = many_classes(folder, 10**7 // scale, rounds)
        walls = _told(f"{second['classes']:,} classes", second, cores)
        for name, other in walls.items():
            if name != "sievert, every measure":
                ratio = Ratio.of(other, walls["sievert, every measure"])
                second[f"ratio to {name}"] = ratio
                goal = 40.0 if "Spark" in name else 3.0
                print_verdict(f"of {name}", ratio, verdict(ratio.median, goal, at_least=True))
        result["limit"] = third = limited(folder, 5 * 10**7 // scale, max(1, rounds - 1))
        held = third["runs"]
        ratio = Ratio.of([r["wall"] for r in held["2GB"]], [r["wall"] for r in held[""]])
        peak = max(r["peak"] for r in held["2GB"])
        classes = held["2GB"][0]["numbers"][0]
        print(f"\n{third['rows']:,} records, {classes:,} classes, 2 GB: peak {peak / 1e9:.2f} GB")
        print_verdict(
            "of the run without a limit", ratio, verdict(ratio.median, 1.5, at_least=False)
        )
        third["ratio"] = ratio
    return result


if __name__ == "__main__":
    print(json.dumps(one(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "")))
