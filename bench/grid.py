"""Tables of many shapes: every measure against DuckDB's bare count of the same cells.

A cell of the grid is one table: so many records, classes, quasi-identifiers and secrets, of some
type, in some source. The bare count is `SELECT q..., s, COUNT(*) ... GROUP BY ALL`, once for each
secret, added up; of a CSV file, reading it as text comes once before. Each cell runs in a process
of its own, both sides in turns after a warm-up, so that its peak memory is its own. CPU seconds
decide, as wall seconds of two threads depend on who else is on the machine; both are kept.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import duckdb

from bench.common import (
    ROOT,
    BenchError,
    Options,
    Result,
    Sample,
    child,
    digits,
    peak_memory,
    scratch,
    table,
    timed,
)

PICTURE = ROOT / "docs" / "images" / "grid.svg"
FREE = 0.1  # seconds that a table may take whatever its size
GOAL, CSV_GOAL, LARGE_GOAL = 2.0, 1.5, 1.2
LARGE = 10**7  # records of a Parquet file from which the goal is stricter
SIZES = (10**4, 10**5, 10**6, 10**7, 10**8)
QUICK = 10**6  # the most records of a quick run


@dataclass(frozen=True)
class GridShape:
    """What the tables of a row of the grid have in common; `spread` is classes per record."""

    name: str
    kind: str = "text"  # of the secrets: text, int, float, irregular (a float), date
    values: int = 20
    secrets: int = 1
    quasi: int = 3
    classes: int = 0  # exactly so many, or by the spread
    spread: float = 0.18
    source: str = "parquet"
    sizes: tuple[int, ...] = SIZES[:4]

    @property
    def quasi_names(self) -> list[str]:
        """Names of the quasi-identifiers."""
        return [f"q{i}" for i in range(self.quasi)]

    @property
    def secret_names(self) -> list[str]:
        """Names of the secrets."""
        return [f"s{i}" for i in range(self.secrets)]

    def sql(self, records: int) -> str:
        """The query that generates a table; its chance is DuckDB's hash()."""
        classes = self.classes or max(10, int(self.spread * records))
        base = 4
        if self.quasi < 60:
            base = next(b for b in range(2, classes + 2) if b**self.quasi >= classes)
        columns = []
        for i, name in enumerate(self.quasi_names):
            digit = f"hash(class * 64 + {i}) % 4" if self.quasi >= 60 else ""
            digit = digit or f"(class // {base**i}) % {base}"
            value = f"({digit})::INTEGER" if i == 0 else f"'{name} ' || ({digit})::VARCHAR"
            columns.append(f"{value} AS {name}")
        for i, name in enumerate(self.secret_names):
            number = f"(hash(i + {(i + 1) * 1_000_003}) % {self.values})"
            number = f"CASE WHEN hash(i + {i + 17}) % 3 = 0 THEN {number} ELSE {number} // 2 END"
            value = {
                "text": f"'value ' || ({number})::VARCHAR",
                "int": f"({number})::BIGINT",
                "float": f"({number})::DOUBLE / 100",
                "irregular": f"exp((hash({number}) % 90000) / 2e4)",
                "date": f"DATE '1950-01-01' + ({number})::INTEGER",
            }[self.kind]
            columns.append(f"{value} AS {name}")
        return (
            f"SELECT {', '.join(columns)} FROM ("
            f"SELECT range AS i, (hash(range) % {classes})::BIGINT AS class FROM range({records}))"
        )


FEW, ALL = 10, 8.0  # classes; classes per record where nearly all records are alone
SHAPES = (
    GridShape("text of 20 values, 10 classes", classes=FEW, sizes=SIZES),
    GridShape("text of 20 values", sizes=SIZES),
    GridShape("text of 20 values, nearly all alone", spread=ALL),
    GridShape("text of 2 values, 1,000 classes", values=2, classes=1000, sizes=SIZES),
    GridShape("text of 10^6 values", values=10**6),
    GridShape("integer of 60 values", "int", 60),
    GridShape("integer of 10^6 values", "int", 10**6, sizes=SIZES[:3]),
    GridShape("float with two decimals", "float", 10**4, sizes=SIZES[:3]),
    GridShape("date of 3,650 days", "date", 3650, sizes=SIZES[:3]),
    GridShape(
        "200 irregular floats, 10,000 classes", "irregular", 200, classes=10**4, sizes=SIZES[:3]
    ),
    GridShape("20 text secrets", secrets=20),
    GridShape("10 quasi-identifiers", quasi=10),
    GridShape("60 quasi-identifiers of 4 values", quasi=60, sizes=SIZES[:3]),
    GridShape("CSV, text of 20 values", source="csv"),
    GridShape("CSV, nearly all alone", spread=ALL, source="csv", sizes=SIZES[:3]),
    GridShape("CSV, 20 text secrets", secrets=20, source="csv", sizes=SIZES[:3]),
    GridShape("pandas, text of 20 values", source="pandas"),
    GridShape("pandas, integer of 60 values", "int", 60, source="pandas", sizes=SIZES[:3]),
    GridShape("Polars, text of 20 values", source="polars"),
)


def write(shape: GridShape, records: int, path: Path) -> None:
    """Write a table as CSV or as Parquet with dictionaries; frames are read from Parquet."""
    form = "FORMAT csv" if shape.source == "csv" else "FORMAT parquet, ROW_GROUP_SIZE 1000000"
    with duckdb.connect() as connection:
        connection.execute("SET preserve_insertion_order = false")
        connection.execute("SET memory_limit = '4GB'")
        connection.execute(f"SET temp_directory = '{path.parent / 'spill'}'")
        connection.execute(f"COPY ({shape.sql(records)}) TO '{path}' ({form})")


def load(shape: GridShape, path: Path) -> Any:
    """The table as the caller of the library would give it."""
    if shape.source == "pandas":
        import pandas

        return pandas.read_parquet(path)
    if shape.source == "polars":
        import polars

        return polars.read_parquet(path)
    return path


def bare(shape: GridShape, data: Any) -> Callable[[], object]:
    """DuckDB's own count with its default settings; the cells are fetched as arrays."""
    keys = ", ".join(shape.quasi_names)

    def count() -> object:
        with duckdb.connect() as connection:
            source = f"read_parquet('{data}')"
            if shape.source == "csv":
                source = f"read_csv('{data}', all_varchar=true)"
            elif shape.source in ("pandas", "polars"):
                source = "given"
                connection.register(source, data)
            if shape.source == "csv" and shape.secrets > 1:
                connection.execute(f"CREATE TEMP TABLE read AS FROM {source}")
                source = "read"
            return [
                connection.sql(
                    f"SELECT {keys}, {secret}, COUNT(*) AS n FROM {source} GROUP BY ALL"
                ).to_arrow_table()
                for secret in shape.secret_names
            ]  # fmt: skip

    return count


def measure(shape: GridShape, records: int, path: Path, rounds: int) -> Result:
    """Both sides in turns, in the process that exists for it; the first run of ours is the peak."""
    import sievert
    import sievert.counts.packed.records  # a warm process has loaded it, whatever it counted

    data = load(shape, path)
    before = peak_memory()

    def ours() -> object:
        return sievert.assess(data, shape.quasi_names, shape.secret_names)

    ours()
    peak, count = peak_memory(), bare(shape, data)
    count()
    turns: list[tuple[Sample, Sample]] = []
    for turn in range(rounds):
        first, second = (timed(side) for side in ((ours, count), (count, ours))[turn % 2])
        turns.append((first, second) if turn % 2 == 0 else (second, first))
    return {
        "peak": peak,
        "before": before,
        "wall": [[a.wall, b.wall] for a, b in turns],
        "cpu": [[a.user + a.system, b.user + b.system] for a, b in turns],
        "bytes": path.stat().st_size,
    }


@dataclass(frozen=True)
class CellResult:
    """One cell of the grid: medians over the turns."""

    shape: str
    records: int
    ours: float
    bare: float
    wall_ratio: float
    peak: int
    goal: float

    @property
    def ratio(self) -> float:
        """CPU seconds of ours by those of the bare count."""
        return self.ours / self.bare

    @property
    def met(self) -> bool:
        """Whether ours takes at most the goal times the bare count, and a moment more."""
        return self.ours <= self.goal * self.bare + FREE


def goal(shape: GridShape, records: int) -> float:
    """How many times the bare count a table may take."""
    if shape.source == "csv":
        return CSV_GOAL
    return LARGE_GOAL if shape.source == "parquet" and records >= LARGE else GOAL


def results(folder: Path, options: Options, names: str = "") -> Iterator[CellResult]:
    """Every cell, each generated, measured in a process of its own and removed."""
    for number, shape in enumerate(SHAPES):
        for records in shape.sizes:
            if names not in shape.name or (options.quick and records > QUICK):
                continue
            path = folder / f"table.{'csv' if shape.source == 'csv' else 'parquet'}"
            write(shape, records, path)
            rounds = options.rounds or (3 if records <= 10**6 else 2)
            arguments = ["-m", "bench.grid", str(number), str(records), str(path), str(rounds)]
            measured = child(arguments, 3600)
            path.unlink()
            yield CellResult(
                shape.name,
                records,
                *(statistics.median(turn[i] for turn in measured["cpu"]) for i in range(2)),
                statistics.median(a / b for a, b in measured["wall"]),
                measured["peak"],
                goal(shape, records),
            )


def run(options: Options) -> Result:
    """Measure every cell, print the table, draw the heat map."""
    with scratch() as folder:
        cells = []
        for cell in results(folder, options):
            print(_line(cell), flush=True)
            cells.append(cell)
    missed = [cell for cell in cells if not cell.met]
    print(f"\n{len(cells)} cells, {len(missed)} beyond their goal")
    print(table(("CPU s: ours / bare", *(f"{n:,}" for n in SIZES)), list(_rows(cells))))
    if not options.quick:
        PICTURE.write_text(heat_map(cells), encoding="utf-8")
    return {
        "cells": [{**asdict(c), "ratio": c.ratio, "met": c.met} for c in cells],
        "goal": {"value": len(missed), "goal": 0, "wanted": "<=", "met": not missed},
    }


def _line(cell: CellResult) -> str:
    met = "met" if cell.met else "MISSED"
    return (
        f"{cell.shape:38} {cell.records:>11,}  CPU {cell.ours:7.3f} / {cell.bare:7.3f} s = "
        f"{digits(cell.ratio):>5}  wall ratio {digits(cell.wall_ratio):>5}  "
        f"peak {cell.peak / 1e6:6,.0f} MB  goal {cell.goal} + {FREE} s: {met}"
    )


def _rows(cells: list[CellResult]) -> Iterator[tuple[str, ...]]:
    by_place = {(c.shape, c.records): c for c in cells}
    for shape in SHAPES:
        row = [by_place.get((shape.name, n)) for n in SIZES]
        yield shape.name, *("" if c is None else digits(c.ratio) for c in row)


# -- the heat map ---------------------------------------------------------------------------------

WIDTH, HEIGHT, LEFT, TOP = 92, 30, 250, 64
COLOURS = ((1.0, "#1a7a43"), (2.0, "#7fb98f"), (4.0, "#f0c36d"), (8.0, "#e08a3b"))
WORST = "#a8201a"


def heat_map(cells: list[CellResult]) -> str:
    """The ratios as a picture: a row for each shape, a column for each number of records."""
    by_place = {(c.shape, c.records): c for c in cells}
    wide, high = LEFT + WIDTH * len(SIZES) + 12, TOP + HEIGHT * len(SHAPES) + 40
    title = "Time of every measure, as a multiple of DuckDB's bare count of the same cells"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {wide} {high}" '
        f'width="{wide}" height="{high}" font-family="sans-serif" font-size="12">',
        f"<title>{title}</title>",
        f'<rect width="{wide}" height="{high}" fill="#ffffff"/>',
        f'<text x="12" y="24" font-size="14" font-weight="bold">{title}</text>',
        *(
            f'<text x="{LEFT + WIDTH * (i + 0.5)}" y="{TOP - 10}" text-anchor="middle">{n:,}</text>'
            for i, n in enumerate(SIZES)
        ),
    ]
    for y, shape in enumerate(SHAPES):
        middle = TOP + HEIGHT * (y + 0.5) + 4
        parts.append(f'<text x="12" y="{middle}">{shape.name}</text>')
        for x, n in enumerate(SIZES):
            if (cell := by_place.get((shape.name, n))) is None:
                continue
            fill = next((c for most, c in COLOURS if cell.ratio <= most), WORST)
            ink = "#14191f" if fill in ("#7fb98f", "#f0c36d", "#e08a3b") else "#ffffff"
            parts += [
                f'<rect x="{LEFT + WIDTH * x + 1}" y="{TOP + HEIGHT * y + 1}" '
                f'width="{WIDTH - 2}" height="{HEIGHT - 2}" fill="{fill}"/>',
                f'<text x="{LEFT + WIDTH * (x + 0.5)}" y="{middle}" text-anchor="middle" '
                f'fill="{ink}">{digits(cell.ratio)} · {_memory(cell.peak)}</text>',
            ]
    parts.append(
        f'<text x="12" y="{high - 14}">CPU seconds in one warm process; beside the ratio the peak '
        "memory of the whole process</text></svg>\n"
    )
    return "\n".join(parts)


def _memory(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"


if __name__ == "__main__":
    if len(sys.argv) != 5:
        raise BenchError("python -m bench grid")
    shape_number, record_number, file, turns_wanted = sys.argv[1:]
    found = measure(SHAPES[int(shape_number)], int(record_number), Path(file), int(turns_wanted))
    print(json.dumps(found))
