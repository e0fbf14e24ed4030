"""What sievert adds to the database: a whole ``assess`` against its bare SQL statements.

The statements are those that ``assess`` itself sends, noted once, then replayed on a new connection
with the same settings, fetching the same integers. What is left is the cost of opening the
table safely, of the numeric kernel and of the result. Both sides include making the connection;
a second ratio leaves connection and settings out of the bare side.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb

from bench.common import (
    Options,
    Ratio,
    Result,
    Shape,
    digits,
    interleave,
    print_verdict,
    scratch,
    table,
    verdict,
)

GOAL = 1.5
SHAPE = Shape(rows=1_000_000, classes=10_000, quasi=6, secrets=2)
QUICK = Shape(rows=100_000, classes=10_000, quasi=6, secrets=2)

# What the library sets when it connects, before the first statement.
CONFIG = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}

Statement = tuple[str, object, bool]


def replayable(statements: Sequence[Statement]) -> list[Statement]:
    """Leave out the lock of the configuration, which nothing has to be counted for."""
    return [s for s in statements if "lock_configuration" not in s[0].lower()]


def is_setting(sql: str) -> bool:
    """Tell whether a statement only configures the connection."""
    return sql.lstrip().upper().startswith(("SET ", "PRAGMA ", "RESET "))


class Replay:
    """Runs the noted statements and remembers how much it fetched and how long the set-up took."""

    def __init__(self, statements: Sequence[Statement]) -> None:
        self.statements = replayable(statements)
        self.fetched = 0
        self.setup: list[float] = []

    def __call__(self) -> None:
        """Replay once on a new connection."""
        self.fetched = 0
        start = time.perf_counter()
        with duckdb.connect(config=dict(CONFIG)) as connection:
            setup = time.perf_counter() - start
            for sql, parameters, fetch in self.statements:
                begun = time.perf_counter()
                answer = connection.execute(sql, parameters or None)
                if fetch:
                    self.fetched += sum(len(column) for column in answer.fetchnumpy().values())
                if is_setting(sql):
                    setup += time.perf_counter() - begun
        self.setup.append(setup)


@contextmanager
def noted() -> Iterator[list[Statement]]:
    """Note every statement that the adapter runs inside the block, and whether it fetches."""
    from sievert.counts.duckdb.adapter import DuckDB

    statements: list[Statement] = []
    methods = {name: getattr(DuckDB, name) for name in ("run", "rows", "arrays")}

    def noting(name: str) -> Callable[..., object]:
        def method(self: DuckDB, sql: str, parameters: Sequence[object] = ()) -> object:
            statements.append((sql, list(parameters), name != "run"))
            return methods[name](self, sql, *([parameters] if parameters else []))

        return method

    for name in methods:
        setattr(DuckDB, name, noting(name))
    try:
        yield statements
    finally:
        for name, method in methods.items():
            setattr(DuckDB, name, method)


def measure(shape: Shape, path: Path, rounds: int) -> Result:
    """Time both sides on the table at the path."""
    import sievert

    def assess() -> sievert.Assessment:
        return sievert.assess(path, quasi=shape.quasi_names, sensitive=shape.secret_names)

    assess()
    with noted() as statements:
        assessment = assess()
    replay = Replay(statements)
    samples = interleave({"assess": assess, "statements": replay}, rounds)
    setup = replay.setup[-rounds:]  # the first call was the warm-up
    ours = [sample.wall for sample in samples["assess"]]
    bare = [sample.wall for sample in samples["statements"]]
    itpr = assessment.inference[shape.secret_names[0]]["itpr"].value
    return {
        "rows": assessment.rows,
        "classes": assessment.reidentification["classes"].value,
        "itpr": itpr,
        "statements": len(replay.statements),
        "fetched": replay.fetched,
        "samples": samples,
        "setup": setup,
        "ratio": Ratio.of(ours, bare),
        "ratio_without_setup": Ratio.of(ours, [b - s for b, s in zip(bare, setup, strict=True)]),
    }


def run(options: Options) -> Result:
    """Generate the table, measure, print."""
    shape = QUICK if options.quick else SHAPE
    with scratch() as folder:
        path = folder / "table.parquet"
        shape.write(path)
        result = measure(shape, path, options.rounds or (3 if options.quick else 9))
    rows = [
        (
            name,
            digits(statistics.median(sample.wall for sample in samples)),
            digits(min(sample.wall for sample in samples)),
            digits(statistics.median(sample.user for sample in samples)),
            digits(statistics.median(sample.system for sample in samples)),
        )
        for name, samples in result["samples"].items()
    ]
    print(
        f"{result['rows']:,} rows, {shape.quasi} quasi-identifiers, {result['classes']:,} classes, "
        f"{shape.secrets} secrets (ITPR of the first: {result['itpr']:.6f});\n"
        f"{result['statements']} statements, {result['fetched']:,} values fetched\n"
    )
    print(table(("", "wall s (median)", "best", "user s", "system s"), rows))
    print(f"\nwithout connection and settings on the bare side: {result['ratio_without_setup']}")
    result["goal"] = verdict(result["ratio"].median, GOAL, at_least=False)
    print_verdict("assess / bare statements", result["ratio"], result["goal"])
    return result
