"""What the benchmarks share: fair timing, peak memory, generated tables and kept results.

Other programs disturb a measurement, and the disturbance changes from minute to minute. So whatever
is compared runs in turns, a ratio is formed within each turn, and the median over the turns is
what counts. CPU seconds stand beside wall seconds: where the two disagree, the machine was busy.
"""

from __future__ import annotations

import json
import math
import mmap
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import duckdb

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "bench" / "results"

Result = dict[str, Any]


class BenchError(Exception):
    """A benchmark cannot run here; the message says why and what to try."""


@dataclass(frozen=True)
class Options:
    """What the command line may set for every benchmark."""

    quick: bool = False
    rounds: int | None = None


@dataclass(frozen=True)
class Sample:
    """Seconds that one run took; CPU seconds are of this process, all its threads."""

    wall: float
    user: float
    system: float


def timed(action: Callable[[], object]) -> Sample:
    """Run the action once and return its seconds."""
    before, start = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    action()
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF)
    return Sample(wall, after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime)


def interleave(
    actions: Mapping[str, Callable[[], object]], rounds: int, warmups: int = 1
) -> dict[str, list[Sample]]:
    """Time the actions in turns, every other turn in reverse order."""
    for _ in range(warmups):
        for action in actions.values():
            action()
    samples: dict[str, list[Sample]] = {name: [] for name in actions}
    for turn in range(rounds):
        for name in list(actions)[:: 1 if turn % 2 == 0 else -1]:
            samples[name].append(timed(actions[name]))
    return samples


@dataclass(frozen=True)
class Ratio:
    """Median, least and greatest of the ratios of the turns."""

    median: float
    least: float
    greatest: float

    @classmethod
    def of(cls, above: Sequence[float], below: Sequence[float]) -> Ratio:
        """Divide turn by turn."""
        ratios = [a / b for a, b in zip(above, below, strict=True)]
        return cls(statistics.median(ratios), min(ratios), max(ratios))

    def __str__(self) -> str:
        return f"{digits(self.median)} ({digits(self.least)} to {digits(self.greatest)})"


def peak_memory() -> int:
    """Return the most bytes of memory this process has held at once.

    Linux only: ``VmHWM`` begins anew with the program, unlike ``ru_maxrss``, which a child
    inherits from the process that started it.
    """
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError as error:
        raise BenchError("peak memory is read from /proc/self/status, which only Linux has") from (
            error
        )
    line = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024


def touch_memory(size: int) -> None:
    """Touch and free so many bytes, at most half of what is free.

    A virtual machine that has not used its memory for a while may have to fetch it from its host,
    page by page, which would be charged to whoever comes first.
    """
    size = min(size, os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2)
    with mmap.mmap(-1, size) as pages, memoryview(pages) as view:
        with view[:: mmap.PAGESIZE] as first_bytes:
            first_bytes[:] = b"\1" * len(first_bytes)


def child(arguments: Sequence[str], timeout: float) -> Any:
    """Run this Python with the arguments from the repository's root; return its printed JSON."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    if done.returncode != 0:
        raise BenchError(f"a child process failed ({done.returncode}):\n{done.stderr.strip()}")
    return json.loads(done.stdout.splitlines()[-1])


@contextmanager
def scratch() -> Iterator[Path]:
    """Give a folder for generated tables that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="sievert-bench-") as folder:
        yield Path(folder)


@dataclass(frozen=True)
class Shape:
    """A table to generate: so many rows, exactly so many classes, so many columns.

    Classes are uneven: the largest have many times the records of the smallest. Each class prefers
    one value of every secret but has others too, so that no rate is trivially 0 or 1
    (where there are many rows a class).
    """

    rows: int
    classes: int
    quasi: int
    secrets: int
    first_is_int: bool = False

    @property
    def quasi_names(self) -> list[str]:
        """Names of the quasi-identifiers."""
        return [f"q{i}" for i in range(self.quasi)]

    @property
    def secret_names(self) -> list[str]:
        """Names of the secrets."""
        return [f"s{i}" for i in range(self.secrets)]

    def sql(self) -> str:
        """Return the query that generates the table; its chance is DuckDB's hash()."""
        base = 2
        while base**self.quasi < self.classes:
            base += 1
        # Every step-th row visits the next class, so that none stays empty.
        step, stride = max(1, self.rows // self.classes), 7919
        if math.gcd(stride, self.classes) != 1 or self.classes > self.rows:
            raise BenchError(f"cannot spread {self.rows} rows over {self.classes} classes")
        columns = []
        for i, name in enumerate(self.quasi_names):
            digit = f"(class // {base**i}) % {base}"
            text = f"'{name} ' || ({digit})::VARCHAR"
            value = f"({digit})::INTEGER" if i == 0 and self.first_is_int else text
            columns.append(f"{value} AS {name}")
        for i, name in enumerate(self.secret_names):
            own = f"hash(class + {i + 1}) % 14"
            free = f"hash(i + {(i + 1) * 1_000_003}) % 14"
            value = f"CASE WHEN hash(i + {i + 17}) % 3 = 0 THEN {own} ELSE least({free}, 9) END"
            columns.append(f"'{name} value ' || ({value})::VARCHAR AS {name}")
        uneven = f"least({self.classes - 1}, floor({self.classes} * u * u))::BIGINT"
        visit = f"((i // {step}) * {stride}) % {self.classes}"
        visits = f"i % {step} = 0 AND i // {step} < {self.classes}"
        return (
            f"SELECT {', '.join(columns)} FROM ("
            f"SELECT i, CASE WHEN {visits} THEN {visit} ELSE {uneven} END AS class FROM ("
            f"SELECT range AS i, (hash(range) >> 11)::DOUBLE / 9007199254740992.0 AS u "
            f"FROM range({self.rows})))"
        )

    def write(self, path: Path) -> None:
        """Write the table as Parquet: dictionaries, snappy, a million rows a group."""
        with duckdb.connect() as connection:
            connection.execute("SET preserve_insertion_order = false")
            connection.execute("SET memory_limit = '4GB'")
            connection.execute(f"SET temp_directory = '{path.parent / 'spill'}'")
            connection.execute(
                f"COPY ({self.sql()}) TO '{path}' "
                "(FORMAT parquet, COMPRESSION snappy, ROW_GROUP_SIZE 1000000)"
            )


def table(headers: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Lay out rows as text: the first column to the left, the others to the right."""
    cells = [[str(cell) for cell in row] for row in (headers, *rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(headers))]
    lines = [
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines)


def digits(value: float) -> str:
    """Write a number with three digits that matter, never in powers of ten."""
    places = 3 if value <= 0 else max(0, 2 - math.floor(math.log10(value)))
    return f"{value:,.{places}f}"


def verdict(value: float, goal: float, at_least: bool) -> Result:
    """Compare a ratio with its goal."""
    met = value >= goal if at_least else value <= goal
    return {"value": value, "goal": goal, "wanted": ">=" if at_least else "<=", "met": met}


def print_verdict(name: str, ratio: Ratio, outcome: Result) -> None:
    """Print the line a reader looks for."""
    met = "met" if outcome["met"] else "MISSED"
    print(f"\nRATIO {name}: {ratio}   goal {outcome['wanted']} {outcome['goal']}: {met}")


def plain(value: Any) -> Any:
    """Turn samples and ratios into what JSON can hold."""
    if isinstance(value, Sample | Ratio):
        return asdict(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def version(package: str) -> str | None:
    """Return the version of an installed package."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def save(name: str, result: Result) -> Path:
    """Write a result with what it was measured on; the file is there whole or not at all."""
    machine = {
        "cores": os.cpu_count(),
        "load": os.getloadavg(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "packages": {p: version(p) for p in ("sievert", "duckdb", "numpy", "pandas")},
    }
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / f"{name}.json"
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    text = json.dumps(plain({"machine": machine, **result}), indent=2, sort_keys=True)
    try:
        unfinished.write_text(text + "\n", encoding="utf-8")
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    return path
