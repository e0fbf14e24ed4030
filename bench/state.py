"""Count states: an update of 0.1 % of the records against counting again, to 10^9 records.

``few``: the table of the ITPR paper's largest run (12,000 combinations), as in ``scale``. ``many``:
records in nearly as many combinations as there are records, the hardest case for a state. Half of
the change is added, half removed, and the JSON of the changed state must be that of the changed
table. ``merge``: a hundred parts against the whole.

    python -m bench state [--quick]
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb

from bench.common import (
    BenchError,
    Options,
    Ratio,
    Result,
    Sample,
    digits,
    print_verdict,
    scratch,
    table,
    timed,
    verdict,
)
from bench.scale import QUASI, write_billion, write_classes

SHARE = 2000  # one record of so many is added, and one removed
FEW, MANY = (10**6, 10**7, 10**8, 10**9), (10**5, 10**6, 10**7)
QUICK_FEW, QUICK_MANY = FEW[:2], MANY[:2]
MOST = 0.1  # of the time of counting again
Write = Callable[[Path, int], object]


def write_few(folder: Path, rows: int) -> None:
    """Parts of age and disease."""
    write_billion(folder, rows)


def write_many(folder: Path, rows: int) -> None:
    """One file of six quasi-identifiers, and a secret."""
    write_classes(folder / "part00.parquet", rows, 1150)


def cut(folder: Path, rows: int, target: Path) -> None:
    """Take some records of the first part as a file of their own."""
    with duckdb.connect() as connection:
        source = sorted(folder.glob("part*.parquet"))[0]
        connection.execute(
            f"COPY (SELECT * FROM read_parquet('{source}') LIMIT {rows}) TO '{target}' "
            "(FORMAT parquet)"
        )


def stable(result: Any) -> str:
    """The JSON, as one text."""
    return json.dumps(result.to_dict(), sort_keys=True)


def change(folder: Path, write: Write, rows: int, quasi: list[str]) -> Result:
    """Count, change, count again; each with its seconds."""
    import sievert

    data, state, again = folder / "data", folder / "state", folder / "again"
    data.mkdir()
    write(data, rows)
    part = max(1, rows // SHARE)
    cut(data, part, folder / "gone.parquet")
    shutil.copy(folder / "gone.parquet", data / "gone.parquet")
    cut(data, 2 * part, folder / "new.parquet")
    samples: dict[str, Sample] = {}
    samples["count"] = timed(lambda: sievert.count(data, quasi, "disease", out=state))
    samples["update"] = timed(
        lambda: sievert.update(state, add=folder / "new.parquet", remove=folder / "gone.parquet")
    )
    (data / "gone.parquet").unlink()
    shutil.copy(folder / "new.parquet", data / "new.parquet")
    samples["recount"] = timed(lambda: sievert.count(data, quasi, "disease", out=again))
    results: list[Any] = []
    samples["assess state"] = timed(lambda: results.append(sievert.assess(state)))
    samples["assess table"] = timed(lambda: results.append(sievert.assess(data, quasi, "disease")))
    if stable(results[0]) != stable(results[1]):
        raise BenchError("the changed state has another JSON than the changed table")
    size = sum(path.stat().st_size for path in state.iterdir())
    cells = sum(s.rows for s in sievert.update(state, compact=True).manifest.segments)
    for each in (data, state, again):
        shutil.rmtree(each)
    for name in ("gone", "new"):
        (folder / f"{name}.parquet").unlink()
    return {"rows": rows, "combinations": cells, "bytes": size, "samples": samples}


def merge_parts(folder: Path, rows: int) -> Result:
    """A hundred states, added up, against one."""
    import sievert

    source, parts = folder / "whole.parquet", []
    write_classes(source, rows, 100)
    with duckdb.connect() as connection:
        for at in range(100):
            path = folder / f"cut{at}.parquet"
            connection.execute(
                f"COPY (SELECT * FROM (SELECT *, row_number() OVER () AS r FROM "
                f"read_parquet('{source}')) WHERE r % 100 = {at}) TO '{path}' (FORMAT parquet)"
            )
            parts.append(folder / f"state{at}")
            sievert.count(path, QUASI, "disease", leave_out="r", out=parts[-1])
    sample = timed(lambda: sievert.merge(parts, out=folder / "sum"))
    sums = sievert.assess(folder / "sum").to_dict()
    whole = sievert.assess(source, QUASI, "disease").to_dict()
    for result in (sums, whole):
        result["table"]["name"] = ""  # of the first part, and of the whole
    if json.dumps(sums, sort_keys=True) != json.dumps(whole, sort_keys=True):
        raise BenchError("a hundred parts have another JSON than the whole")
    return {"rows": rows, "sample": sample}


def _cpu(sample: Sample) -> float:
    return sample.user + sample.system


def _show(title: str, results: list[Result]) -> None:
    print(f"\n{title}: wall seconds (CPU seconds)\n")
    steps = list(results[0]["samples"])
    rows = [
        (
            f"{r['rows']:,}",
            f"{r['combinations']:,}",
            f"{r['bytes'] / 1e6:.2f}",
            *(f"{digits(r['samples'][s].wall)} ({digits(_cpu(r['samples'][s]))})" for s in steps),
        )
        for r in results
    ]
    print(table(("records", "combinations", "MB", *steps), rows))


def run(options: Options) -> Result:
    """Generate, count, change, count again, compare, print, free."""
    result: Result = {}
    for name, write, sizes, quasi in (
        ("few combinations", write_few, QUICK_FEW if options.quick else FEW, ["age"]),
        ("many combinations", write_many, QUICK_MANY if options.quick else MANY, QUASI),
    ):
        with scratch() as folder:
            result[name] = results = [change(folder, write, rows, quasi) for rows in sizes]
        _show(name, results)
        last = results[-1]["samples"]
        for what, seconds in (("wall", lambda s: s.wall), ("CPU", _cpu)):
            ratio = Ratio.of([seconds(last["update"])], [seconds(last["recount"])])
            outcome = verdict(ratio.median, MOST, at_least=False)
            print_verdict(f"of counting again, {what}, {name}", ratio, outcome)
            results[-1][f"ratio {what}"] = ratio
            if name == "few combinations" and what == "wall":
                result["goal"] = outcome
    with scratch() as folder:
        result["merge"] = merged = merge_parts(folder, 10**5 if options.quick else 10**6)
    print(
        f"\nmerge of 100 states: {digits(merged['sample'].wall)} s, the JSON is that of the whole"
    )
    return result
