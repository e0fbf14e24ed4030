"""Linkage of a release to its original against all pairs in NumPy, and how far it reaches.

The release is a table of three numbers with noise and four categories, a tenth of each swapped; the
plain way forms every distance in blocks of rows, as large as the cache likes. Both must find the
same. Time is that of the call, without the imports and the compiling, which is kept.

    python -m bench linkage [--quick]
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.common import (
    Options,
    Ratio,
    Result,
    digits,
    interleave,
    print_verdict,
    table,
    timed,
    verdict,
)

GOAL, QUICK_GOAL = 20.0, 3.0
ROWS, QUICK_ROWS = 10**4, 2_000
REACH, QUICK_REACH = (10**4, 3 * 10**4, 10**5), (2_000, 10**4)
ASSIGNED, QUICK_ASSIGNED = 3_000, 500
BLOCK = 64
CLOSE = 1e-12

Table = list[NDArray[Any]]


def pair(rows: int, kind: str = "mixed") -> tuple[Table, Table]:
    """A release and its original, row by row."""
    rng = np.random.default_rng(rows)
    if kind == "real":
        original: Table = [rng.normal(size=rows) for _ in range(5)]
        return [x + rng.normal(scale=0.2, size=rows) for x in original], original
    numbers = [
        rng.integers(17, 91, rows).astype(float),
        rng.lognormal(10, 1, rows).round(),
        rng.integers(1, 100, rows).astype(float),
    ]
    noisy: Table = [(x + rng.normal(scale=x.std() / 10, size=rows)).round() for x in numbers]
    codes = [rng.integers(1, values + 1, rows) for values in (2, 5, 7, 16)]
    if kind == "suppressed":  # three in ten cells
        noisy = [np.where(rng.random(rows) < 0.3, np.nan, x) for x in numbers]
        return noisy + [np.where(rng.random(rows) < 0.3, 0, k) for k in codes], numbers + codes
    swapped = [np.where(rng.random(rows) < 0.1, rng.permutation(k), k) for k in codes]
    return noisy + swapped, numbers + codes


def all_pairs(released: Table, original: Table) -> tuple[NDArray[Any], NDArray[Any]]:
    """Gower's distance of every pair: how many originals are nearest, and if the true one is."""
    rows = len(released[0])
    nearest, found = np.empty(rows, dtype=np.int64), np.empty(rows, dtype=bool)
    both = [np.concatenate(sides) for sides in zip(released, original, strict=True)]
    ranges = [float(np.ptp(x)) if x.dtype.kind == "f" else 0.0 for x in both]
    for start in range(0, rows, BLOCK):
        part = slice(start, start + BLOCK)
        far = np.zeros((len(released[0][part]), len(original[0])))
        for x, y, span in zip(released, original, ranges, strict=True):
            far += np.abs(x[part, None] - y) / span if span else x[part, None] != y
        near = far <= far.min(axis=1, keepdims=True) + CLOSE
        nearest[part] = near.sum(axis=1)
        found[part] = near[np.arange(len(near)), np.arange(start, start + len(near))]
    return nearest, found


def compare(rows: int, rounds: int) -> Result:
    """Time both ways in turns."""
    from sievert.commands.attack.linkage import link

    released, original = pair(rows)
    ours = link(released, original, np.arange(rows), compiled=True)
    nearest, found = all_pairs(released, original)
    same = bool(np.array_equal(ours.nearest, nearest) and np.array_equal(ours.found, found))
    samples = interleave(
        {
            "all pairs": lambda: all_pairs(released, original),
            "compiled": lambda: link(released, original, np.arange(rows), compiled=True),
            "NumPy": lambda: link(released, original, np.arange(rows), compiled=False),
        },
        rounds,
        warmups=0,
    )
    return {"rows": rows, "same": same, "linked": ours.correct_linkage, "samples": samples}


def reach(rows: int, kind: str, distance: Any) -> Result:
    """Time one call for a release of so many records and as many originals."""
    from sievert.commands.attack.linkage import link

    released, original = pair(rows, kind)
    held: list[Any] = []

    def run() -> None:
        held.append(link(released, original, np.arange(rows), distance=distance, compiled=True))

    sample = timed(run)
    return {
        "rows": rows,
        "kind": kind,
        "distance": distance,
        "sample": sample,
        "linked": held[0].correct_linkage,
        "ties": held[0].ties,
    }


def assignment(rows: int) -> Result:
    """Time a one-to-one linkage."""
    from sievert.commands.attack.linkage import link

    released, original = pair(rows)
    sample = timed(lambda: link(released, original, np.arange(rows), linkage="one-to-one"))
    return {"rows": rows, "sample": sample}


def run(options: Options) -> Result:
    """Compare both ways, then print how the time grows."""
    rows = QUICK_ROWS if options.quick else ROWS
    compared = compare(rows, options.rounds or (1 if options.quick else 3))
    walls = {name: [s.wall for s in taken] for name, taken in compared["samples"].items()}
    ratio = Ratio.of(walls["all pairs"], walls["compiled"])
    print(f"{rows:,} released records, as many originals, 3 numbers, 4 categories, Gower\n")
    print(table(("way", "best s"), [(name, digits(min(w))) for name, w in walls.items()]))
    goal = verdict(ratio.median, QUICK_GOAL if options.quick else GOAL, at_least=True)
    if not compared["same"]:
        print("\nThe results differ, so the times are not of the same work.")
        goal["met"] = False
    print_verdict("all pairs in NumPy / link", ratio, goal)
    sizes = QUICK_REACH if options.quick else REACH
    kinds = [("mixed", "gower"), ("suppressed", "gower"), ("real", "gower"), ("real", "l2")]
    cells = [reach(n, kind, distance) for kind, distance in kinds for n in sizes]
    lines = [
        (
            f"{cell['kind']}, {cell['distance']}",
            f"{cell['rows']:,}",
            digits(cell["sample"].wall),
            digits(cell["sample"].user + cell["sample"].system),
            f"{cell['linked']:.4f}",
            f"{cell['ties']:,}",
        )
        for cell in cells
    ]
    print("\nNearest, by the number of records of each file\n")
    print(table(("table", "records", "wall s", "CPU s", "linked", "ties"), lines))
    one = assignment(QUICK_ASSIGNED if options.quick else ASSIGNED)
    print(f"\nOne to one, {one['rows']:,} records: {digits(one['sample'].wall)} s")
    return {"compared": compared, "ratio": ratio, "reach": cells, "one_to_one": one, "goal": goal}
