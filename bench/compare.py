"""A release compared with its original: every target against the plain counts it is made of.

``main``: 10^6 rows, six columns, two secrets, some 10^5 classes before and 10^4 after. ``unique``:
the same columns where nearly every row is alone. Beside them the bare counts: the 35 tables of a
column or the key with its release or a secret, one GROUP BY each, from the same two files.
``growth``: the main table with more and fewer rows, each in a process of its own.
"""

from __future__ import annotations

import json
import statistics
import sys
from pathlib import Path

import duckdb

from bench.common import (
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

QUASI = ["age", "sex", "zip", "marital", "race", "education"]
SECRETS = ["disease", "income"]
GOAL = 5.0
ROWS = 10**6
PEOPLE = 10**5  # kinds of people, the largest as frequent as 60 of the smallest
AGE, ZIP = "hash(i * 3) % 72 + 17", "least(hash(i * 5) % 400, hash(i * 23) % 400)"
VALUES = {
    "age": f"({AGE})::INT",
    "sex": "(hash(i * 7) % 2)::INT",
    "zip": f"'z' || ({ZIP} + 100)",
    "marital": "'m' || (hash(i * 11) % 7)",
    "race": "(hash(i * 13) % 5)::INT",
    "education": "'e' || least(hash(i * 19) % 16, 9)",
    "disease": f"'d' || least(hash(r * 29) % 20, ({AGE}) // 5)",
    "income": f"(hash(r * 31) % 50 + {ZIP} // 40)::INT",
}
MILD = {"age": "(age // 10 * 10)::VARCHAR", "zip": "'z' || substr(zip, 2)::INT // 40"}
RELEASED = {
    **MILD,
    "age": "(age // 20 * 20)::VARCHAR",
    "marital": "CASE WHEN marital < 'm3' THEN 'm' ELSE 's' END",
}


def write(folder: Path, rows: int, unique: bool = False) -> tuple[str, str]:
    """An original of so many rows and its release, as two Parquet files."""
    before, after = folder / "original.parquet", folder / "release.parquet"
    person = (
        "range" if unique else f"floor({PEOPLE} * pow(hash(range) / 18446744073709551616.0, 2))"
    )
    drawn = ", ".join(f"{value} AS {name}" for name, value in VALUES.items())
    masked = MILD if unique else RELEASED
    kept = ", ".join(f"{masked.get(c, c)} AS {c}" for c in VALUES)
    with duckdb.connect() as connection:
        connection.execute(
            f"COPY (SELECT {drawn} FROM (SELECT range AS r, ({person})::BIGINT AS i "
            f"FROM range({rows}))) TO '{before}' (FORMAT parquet)"
        )
        connection.execute(f"COPY (SELECT {kept} FROM '{before}') TO '{after}' (FORMAT parquet)")
    return str(before), str(after)


def counted() -> list[list[str]]:
    """The columns of each table that a comparison counts."""
    after = {c: f"r_{c}" for c in QUASI}
    found = [[*QUASI, *after.values()], *([c, r] for c, r in after.items())]
    for secret in SECRETS:
        found += [[*QUASI, secret], [*after.values(), secret]]
        found += [[c, secret] for c in (*QUASI, *after.values())]
    return found


def bare(before: str, after: str) -> int:
    """Both files joined by position, then one GROUP BY a table; how many cells there are."""
    names = ", ".join([*(f"b.{c}, a.{c} AS r_{c}" for c in QUASI), *(f"b.{s}" for s in SECRETS)])
    cells = 0
    with duckdb.connect() as connection:
        connection.execute(
            f"CREATE TABLE t AS SELECT {names} FROM '{before}' b POSITIONAL JOIN '{after}' a"
        )
        for columns in counted():
            sql = f"SELECT count(*) AS n FROM t GROUP BY {', '.join(columns)}"
            cells += len(connection.execute(sql).fetchnumpy()["n"])
    return cells


def ours(before: str, after: str) -> object:
    """All that `sievert compare` says: values, chance, p, intervals, losses."""
    import sievert

    return sievert.compare(before, [after], QUASI, SECRETS)


def one(title: str, files: tuple[str, str], rounds: int) -> Result:
    """Both ways in turns; memory in a process of its own."""
    names = "sievert compare", "35 bare counts"
    samples = interleave({names[0]: lambda: ours(*files), names[1]: lambda: bare(*files)}, rounds)
    alone = child(["-m", "bench.compare", *files], 3600)
    print(f"\n{title}, peak {alone['peak'] / 2**20:,.0f} MiB\n")
    rows = [
        (
            name,
            *(
                digits(statistics.median(v))
                for v in zip(*((s.wall, s.user + s.system) for s in taken), strict=True)
            ),
        )
        for name, taken in samples.items()
    ]
    print(table(("", "wall s", "CPU s"), rows))
    ratio = Ratio.of(*([s.wall for s in samples[name]] for name in names))
    outcome = verdict(ratio.median, GOAL, at_least=False)
    print_verdict("to the bare counts", ratio, outcome)
    return {"samples": samples, "peak": alone["peak"], "ratio": ratio, "goal": outcome}


def run(options: Options) -> Result:
    """Generate, measure, print, free."""
    rounds = options.rounds or (2 if options.quick else 5)
    result: Result = {}
    with scratch() as folder:
        result["main"] = one(f"{ROWS:,} rows, main", write(folder, ROWS), rounds)
        result["unique"] = one(f"{ROWS:,} rows, unique", write(folder, ROWS, True), rounds)
        growth = result["growth"] = {}
        for many in (10**5, 10**6) if options.quick else (10**5, 10**6, 10**7):
            growth[many] = child(["-m", "bench.compare", *write(folder, many)], 3600)
    print("\nGrowth, the main table, each in a process of its own\n")
    shown = [
        (
            f"{many:,}",
            digits(g["wall"]),
            digits(g["wall"] / many * 1e6),
            f"{g['peak'] / 2**20:,.0f}",
        )
        for many, g in growth.items()
    ]
    print(table(("rows", "wall s", "s a million", "peak MiB"), shown))
    return {**result, "goal": result["main"]["goal"]}


def main(before: str, after: str) -> Result:
    """One comparison, in the process that exists for it."""
    sample = timed(lambda: ours(before, after))
    return {"wall": sample.wall, "peak": peak_memory()}


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
