"""A sketch against a full count, as tables grow: CPU seconds and memory, and the error.

``few classes``: the table of the ITPR paper's largest run, up to 10^9 records (12,000 classes of
two columns, so that the sketch is exact). ``many classes``: six columns, most records unique. Every
cell is a process of its own, so that its peak memory is its own.

    python -m bench sketch [--quick]
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

from bench.common import Options, Result, child, digits, peak_memory, scratch, table, timed
from bench.scale import QUASI, write_billion, write_classes

TIMEOUT = 3600.0
FEW, MANY = (10**7, 10**8, 10**9), (10**6, 10**7, 10**8)


def measure_cell(path: Path, quasi: list[str], how: str) -> Result:
    """Sketch a table or count it, in the process that exists for it."""
    import sievert

    shares: list[dict[str, float]] = []

    def run() -> None:
        if how == "sketch":
            shares.append(sievert.sketch(path, quasi).keys[0].estimates.below[2].to_dict())
        else:
            counted = sievert.assess(path, quasi, measures=["unique_records"], quick=True)
            shares.append({"estimate": counted.reidentification["unique_records"].value or 0.0})

    return {**asdict(timed(run)), "peak": peak_memory(), **shares[0]}


def run(options: Options) -> Result:
    """Both, on tables of both kinds."""
    cells: list[Result] = []
    rows: list[tuple[str, ...]] = []
    for kind, sizes, quasi in (("few", FEW, ["age", "disease"]), ("many", MANY, QUASI)):
        for records in sizes[: 1 if options.quick else 3]:
            with scratch() as folder:
                path = folder
                if kind == "few":
                    write_billion(folder, records)
                else:
                    write_classes(path := folder / "t.parquet", records, 50_000)
                print(f"  {records:,} records, {kind} classes ...", file=sys.stderr)
                ways = {}
                for how in ("sketch", "count"):
                    brief = json.dumps([str(path), quasi, how])
                    ways[how] = child(["-m", "bench.sketch", brief], TIMEOUT)
            cells.append({"records": records, "classes": kind, **ways})
            print(f"  {cells[-1]}", file=sys.stderr)  # the next one may take an hour
            cost = {how: each["user"] + each["system"] for how, each in ways.items()}
            rows.append(
                (
                    f"{records:,}",
                    kind,
                    *(digits(cost[how]) for how in ways),
                    *(f"{ways[how]['peak'] / 2**20:,.0f}" for how in ways),
                    f"{ways['count']['estimate']:.5f}",
                    f"{ways['sketch']['estimate']:.5f}",
                    f"{ways['sketch']['low']:.5f} to {ways['sketch']['high']:.5f}",
                )
            )
    heads = ("classes", "sketch CPU s", "count CPU s", "sketch MiB", "count MiB")
    print(table(("records", *heads, "unique", "estimated", "interval"), rows))
    return {"cells": cells}


if __name__ == "__main__":
    place, names, way = json.loads(sys.argv[1])
    print(json.dumps(measure_cell(Path(place), names, way)))
