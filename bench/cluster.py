"""Spark: every measure through ``engine="spark"``, against a bare two-level count in its session.

Tables of 54,000 classes with a secret of 60 values, as text and as integers, on two threads and on
a cluster of two executors on this machine. ``billion``: the table of the ITPR paper's largest run.
The bare count groups the records into cells, the cells into classes and the classes by their
profile. Every process of Spark counts: CPU seconds are those of this process and its children.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from collections.abc import Callable
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
    scratch,
    table,
    verdict,
    version,
)
from bench.scale import write_billion

QUASI = ["age", "zip", "job"]
SECRETS = ("disease", "stay")  # text, integers
MASTERS = ("local[2]", "local-cluster[2,1,2048]")
ROWS = (5 * 10**6, 10**8)
GOAL = 1.5
PAPER = 19.0  # seconds that 100 workers took for 10^9 records


def write_table(path: Path, rows: int) -> None:
    """54,000 classes; one secret twice, as text and as an integer."""
    with duckdb.connect() as connection:
        connection.execute("SET preserve_insertion_order = false")
        value = "least(hash(i * 13) % 60, hash(i * 29) % 60)"
        connection.execute(
            f"COPY (SELECT (hash(i) % 90)::INT AS age, (hash(i * 5) % 300)::INT AS zip, "
            f"'j' || (hash(i * 7) % 2) AS job, 'd' || {value} AS disease, {value}::INT AS stay "
            f"FROM range({rows}) AS t(i)) TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE 1_000_000)"
        )


def bare_count(spark: Any, path: str, quasi: list[str], secret: str) -> None:
    """Two levels: cells, and the classes by their profile."""
    from pyspark.sql import functions

    cells = spark.read.parquet(path).groupBy(*quasi, secret).count()
    classes = cells.groupBy(*quasi).agg(
        functions.sum("count").alias("size"),
        functions.sort_array(functions.collect_list("count"), asc=False).alias("profile"),
    )
    classes.groupBy("size", "profile").count().collect()


def tree_seconds() -> float:
    """CPU seconds of this process and of all that have come from it."""
    parents, ticks = {}, {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            fields = (place / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(place.name)] = int(fields[1])
        ticks[int(place.name)] = sum(map(int, fields[11:15]))

    def ours(process: int) -> bool:
        return process == os.getpid() or (process in parents and ours(parents[process]))

    return sum(n for p, n in ticks.items() if ours(p)) / os.sysconf("SC_CLK_TCK")


def measure(actions: dict[str, Callable[[], object]], rounds: int) -> dict[str, list[list[float]]]:
    """Wall and CPU seconds of each action in turns, after one in which Spark compiles."""
    taken: dict[str, list[list[float]]] = {name: [] for name in actions}
    for _ in range(rounds + 1):
        for name, action in actions.items():
            wall, cpu = time.perf_counter(), tree_seconds()
            action()
            taken[name].append([time.perf_counter() - wall, tree_seconds() - cpu])
    return {name: samples[1:] for name, samples in taken.items()}


def in_session(path: str, master: str, quasi: list[str], secrets: list[str], rounds: int) -> Result:
    """Both in one running session, secret by secret, in the process that exists for it."""
    from pyspark.sql import SparkSession

    import sievert

    spark = (
        SparkSession.builder.master(master)
        .config("spark.driver.memory", "4g")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "8")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    result: Result = {}
    for secret in secrets:
        last: list[sievert.Assessment] = []
        actions: dict[str, Callable[[], object]] = {
            "bare": lambda secret=secret: bare_count(spark, path, quasi, secret),
            "sievert": lambda secret=secret, last=last: last.append(
                sievert.assess(path, quasi, [secret], engine="spark")
            ),
        }
        result[secret] = measure(actions, rounds)
        ours, theirs = last[-1].to_dict(), sievert.assess(path, quasi, [secret]).to_dict()
        if any(ours[part] != theirs[part] for part in ("reidentification", "inference")):
            raise BenchError("the engines differ")
    spark.stop()
    return result


def run(options: Options) -> Result:
    """Generate, measure, print, free."""
    if version("pyspark") is None:
        raise BenchError("pyspark is not installed: pip install 'sievert[spark]'")
    rounds, lines = options.rounds or 3, []
    result: Result = {"runs": []}
    with scratch() as folder:
        for rows in ROWS[:1] if options.quick else ROWS:
            path = folder / f"{rows}.parquet"
            write_table(path, rows)
            for master in MASTERS:
                taken = child(
                    ["-m", "bench.cluster", str(path), master, ",".join(QUASI), ",".join(SECRETS),
                     str(rounds)], 7200,
                )  # fmt: skip
                for secret, samples in taken.items():
                    lines.append(_line(f"{rows:,} {secret} {master}", samples))
                    result["runs"].append({"rows": rows, "secret": secret, "master": master,
                                           "samples": samples})  # fmt: skip
                    print("  ".join(lines[-1]), flush=True)
            path.unlink()
        if not options.quick:
            data = folder / "billion"
            data.mkdir()
            write_billion(data, 10**9)
            taken = child(
                ["-m", "bench.cluster", str(data), "local[2]", "age", "disease", "1"], 7200
            )
            result["billion"] = taken["disease"]
            lines.append(_line("10^9 age, disease local[2]", taken["disease"]))
    print(table(("", "sievert s", "bare s", "ratio", "CPU s", "bare", "CPU ratio"), lines))
    if not options.quick:
        print(f"\nThe ITPR paper's 100 workers took {PAPER:g} s for 10^9 records.")
    worst = max(
        statistics.median(a[1] / b[1] for a, b in zip(*_both(run["samples"]), strict=True))
        for run in result["runs"]
    )
    result["goal"] = verdict(worst, GOAL, at_least=False)
    met = "met" if result["goal"]["met"] else "MISSED"
    print(f"\nRATIO of CPU seconds, the worst: {digits(worst)}   goal <= {GOAL}: {met}")
    return result


def _both(samples: Result) -> tuple[list[list[float]], list[list[float]]]:
    return samples["sievert"], samples["bare"]


def _line(title: str, samples: Result) -> list[str]:
    line = [title]
    for place in range(2):  # wall, CPU
        ours, bare = ([sample[place] for sample in taken] for taken in _both(samples))
        medians = (digits(statistics.median(ours)), digits(statistics.median(bare)))
        line += [*medians, str(Ratio.of(ours, bare))]
    return line


if __name__ == "__main__":
    source, master, quasi, secrets, rounds = sys.argv[1:]
    print(json.dumps(in_session(source, master, quasi.split(","), secrets.split(","), int(rounds))))
