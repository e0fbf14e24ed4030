"""How time and memory of ``assess`` grow with the rows, and with the classes.

Every cell is a process of its own, so that its peak memory is its own. The exponent between
neighbours is log(ratio of the costs) / log(ratio of the sizes): 1 is linear, 0 is constant. Time is
that of the call, without the imports.

    python -m bench growth [--quick]
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from dataclasses import asdict, replace
from pathlib import Path

from bench.common import (
    BenchError,
    Options,
    Result,
    Shape,
    child,
    digits,
    peak_memory,
    scratch,
    table,
    timed,
    touch_memory,
)

BY_ROWS = (10**5, 10**6, 10**7, 10**8, 10**9)
BY_CLASSES = (10**2, 10**3, 10**4, 10**5, 10**6, 10**7)
ROWS_OF_BY_CLASSES = 2 * 10**7
QUICK_ROWS, QUICK_CLASSES = 10**7, 10**6
TIMEOUT = 3600.0
BASE = Shape(rows=10**5, classes=10**4, quasi=4, secrets=1, first_is_int=True)


def measure_cell(path: Path, shape: Shape) -> Result:
    """Assess one table, in the process that exists for it."""
    import sievert

    before = peak_memory()
    held: list[sievert.Assessment] = []

    def assess() -> None:
        held.append(sievert.assess(path, quasi=shape.quasi_names, sensitive=shape.secret_names))

    sample = timed(assess)
    (assessment,) = held
    secret = assessment.inference[shape.secret_names[0]]
    return {
        **asdict(sample),
        "peak": peak_memory(),
        "peak_before": before,
        "rows": assessment.rows,
        "classes": assessment.reidentification["classes"].value,
        "itpr": secret["itpr"].value,
        "discrimination_rate": secret["discrimination_rate"].value,
    }


def cell(shape: Shape, folder: Path, rounds: int, memory: int) -> Result:
    """Generate a table, assess it in children, keep the fastest of them, free the table."""
    path = folder / "table.parquet"
    shape.write(path)
    size = path.stat().st_size
    brief = json.dumps({"path": str(path), "shape": asdict(shape)})
    taken: list[Result] = []
    for _ in range(rounds):
        touch_memory(memory)
        taken.append(child(["-m", "bench.growth", "--cell", brief], TIMEOUT))
    path.unlink()
    best = min(taken, key=lambda result: float(result["wall"]))
    if (best["rows"], best["classes"]) != (shape.rows, shape.classes):
        raise BenchError(f"wanted {shape}, counted {best['rows']} rows, {best['classes']} classes")
    return {**best, "file": size, "walls": [result["wall"] for result in taken]}


def exponent(cells: list[Result], cost: str, size: str) -> float | None:
    """Return the growth exponent between the last two cells."""
    if len(cells) < 2:
        return None
    before, after = cells[-2:]
    return math.log(after[cost] / before[cost]) / math.log(after[size] / before[size])


def series(title: str, shapes: list[Shape], varies: str, options: Options) -> list[Result]:
    """Measure the shapes in rising order and print their table."""
    cells: list[Result] = []
    rows: list[tuple[str, ...]] = []
    with scratch() as folder:
        for shape in shapes:
            print(f"  {shape.rows:,} rows, {shape.classes:,} classes ...", file=sys.stderr)
            # Twice what the last one needed should do for the next.
            memory = max(1 << 30, 2 * int(cells[-1]["peak"]) if cells else 0)
            rounds = options.rounds or (1 if options.quick else 2)
            cells.append(cell(shape, folder, rounds, memory))
            last = cells[-1]
            last["time_exponent"] = exponent(cells, "wall", varies)
            last["memory_exponent"] = exponent(cells, "peak", varies)
            powers = [last["time_exponent"], last["memory_exponent"]]
            rows.append(
                (
                    f"{last[varies]:,}",
                    digits(last["wall"]),
                    digits(last["user"]),
                    digits(last["system"]),
                    f"{last['peak'] / 2**20:,.0f}",
                    f"{last['rows'] / last['wall'] / 1e6:.2f}",
                    *("" if power is None else f"{power:.2f}" for power in powers),
                    f"{last['discrimination_rate']:.4f}",
                )
            )
    headers = ("wall s", "user s", "system s", "peak MiB", "M rows/s", "time ^", "memory ^", "DR")
    print(f"\n{title}\n")
    print(table((varies, *headers), rows))
    return cells


def run(options: Options) -> Result:
    """Measure both series and print them with the exponent from one cell to the next."""
    rows = [n for n in BY_ROWS if not options.quick or n <= QUICK_ROWS]
    classes = [n for n in BY_CLASSES if not options.quick or n <= QUICK_CLASSES]
    rows_of_classes = QUICK_ROWS if options.quick else ROWS_OF_BY_CLASSES
    by_rows = series(
        f"Growth with the rows, {BASE.classes:,} classes of two columns",
        [replace(BASE, rows=n, quasi=2) for n in rows],
        "rows",
        options,
    )
    by_classes = series(
        f"Growth with the classes of {BASE.quasi} columns, {rows_of_classes:,} rows",
        [replace(BASE, rows=rows_of_classes, classes=n) for n in classes],
        "classes",
        options,
    )
    ratio = {
        "time": by_rows[-1]["wall"] / by_rows[0]["wall"],
        "memory": by_rows[-1]["peak"] / by_rows[0]["peak"],
    }
    times = rows[-1] // rows[0]
    print(
        f"\nRATIO {times:,} times the rows: {digits(ratio['time'])} times the time, "
        f"{digits(ratio['memory'])} times the memory"
    )
    return {"by_rows": by_rows, "by_classes": by_classes, "ratio": ratio}


def main() -> int:
    """Measure one cell and print it as JSON; this is what the child processes run."""
    parser = argparse.ArgumentParser(prog="python -m bench.growth")
    parser.add_argument("--cell", required=True, help="JSON: path and shape of a generated table")
    brief = json.loads(parser.parse_args().cell)
    print(json.dumps(measure_cell(Path(brief["path"]), Shape(**brief["shape"]))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
