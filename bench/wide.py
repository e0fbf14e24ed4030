"""Wide tables: linkage by 18 columns against the search it replaces, explain with 250 columns.

Linkage: CPU seconds of one thread, in turns within one process, on the same tree of originals. The
search before compared one original after the other, in leaves of eight; it is kept here only. Both
must link the same. Explain: the command with a --timeout, its exit code and what its plan was.

    python -m bench wide [--quick]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.common import (
    ROOT,
    Options,
    Ratio,
    Result,
    digits,
    print_verdict,
    scratch,
    table,
    verdict,
)

GOAL, QUICK_GOAL = 10.0, 2.0
ROWS, QUICK_ROWS = 32_500, 3_000
COLUMNS = 18
ADULT = Path("data") / "adult" / "adult_uci_32561.csv"
EXPLAINED, QUICK_EXPLAINED = (5_000, 32_500), (500,)
TIMEOUT = 120
LEAF = 8

Table = list[NDArray[Any]]


def noisy(original: Table, rng: np.random.Generator) -> Table:
    """Numbers with noise as large as their deviation, a tenth of the categories swapped."""
    rows = len(original[0])
    return [
        c + rng.normal(scale=c.std(), size=rows)
        if c.dtype.kind == "f"
        else np.where(rng.random(rows) < 0.1, rng.permutation(c), c)
        for c in original
    ]


def pairs(rows: int) -> dict[str, tuple[Table, Table]]:
    """Releases and originals of 18 columns."""
    rng = np.random.default_rng(18)
    real: Table = [rng.random(rows) for _ in range(COLUMNS)]
    mixed: Table = [
        rng.normal(size=rows).round(2) if j % 2 else rng.integers(1, 9, rows)
        for j in range(COLUMNS)
    ]
    tables = {
        "real numbers, noise": (noisy(real, rng), real),
        "real numbers, unrelated": ([rng.random(rows) for _ in real], real),
        "mixed, noise": (noisy(mixed, rng), mixed),
        "mixed, unrelated": ([rng.permutation(c) for c in mixed], mixed),
    }
    if (reference := os.environ.get("SIEVERT_REFERENCE")) is not None:
        adult = widen_adult(Path(reference) / ADULT, rows)
        tables["Adult, noise"] = noisy(adult, rng), adult
    return tables


def widen_adult(path: Path, rows: int) -> Table:
    """The 15 columns of Adult and three of them again, in another order of the records."""
    texts = [line.replace(" ", "").split(",") for line in path.read_text().splitlines()[1:]]
    columns: Table = []
    for column in zip(*(t for t in texts if len(t) == 15), strict=True):
        numeric = all(value.isdigit() for value in column)
        codes = np.unique(np.array(column), return_inverse=True)[1] + 1
        columns.append((np.array(column, dtype=float) if numeric else codes)[:rows])
    rng = np.random.default_rng(15)
    return columns + [rng.permutation(columns[j]) for j in (0, 6, 12)]


# The search as it was, kept to be compared with: one loop, as numba wants it.
def search_one_by_one(tree: Any, weights: Any, xs: Any, ks: Any, roots: Any, result: Any) -> None:
    """Fill in the nearest originals of each record: depth first, the nearer child first."""
    numbers, codes, times, levels = tree.file.numbers, tree.file.codes, tree.times, tree.levels
    first, last, left, originals = tree.first, tree.last, tree.left, tree.originals
    low, high, gaps, masks, only = tree.low, tree.high, tree.gaps, tree.masks, tree.only
    w, lack, mismatch, power, slack = weights
    best, total, where, sure = result
    stack, bounds = np.empty(levels + 2, dtype=np.int64), np.empty(levels + 2)
    flat = np.empty(levels + 2, dtype=np.bool_)  # all originals of the node are equally far
    for i in range(len(xs)):
        if roots[i] < 0:
            continue
        stack[0], bounds[0], flat[0], top = roots[i], 0.0, False, 1
        near, second, several, many, at = np.inf, np.inf, 0, 0, -1
        while top > 0:
            top -= 1
            node, limit = stack[top], near + slack
            if bounds[top] > limit:
                continue
            if flat[top] and slack == 0.0:
                if bounds[top] < near:
                    near, many = bounds[top], 0
                many += originals[node]
                continue
            if left[node] < 0:
                for r in range(first[node], last[node]):
                    far = 0.0
                    for j in range(codes.shape[1]):
                        if codes[r, j] != ks[i, j]:
                            far += mismatch
                    for j in range(numbers.shape[1]):
                        if far > limit:
                            break
                        gap = abs(numbers[r, j] - xs[i, j])
                        if gap == gap:
                            far += w[j] * (gap * gap) if power == 2 else w[j] * gap
                        elif numbers[r, j] == numbers[r, j] or xs[i, j] == xs[i, j]:
                            far += lack[j]
                    if far < near:
                        near, second, several, many, at = far, near, 1, times[r], r
                        limit = near + slack
                    elif far == near:
                        several += 1
                        many += times[r]
                    elif far < second:
                        second = far
                continue
            for child in range(left[node], left[node] + 2):
                bound, even = 0.0, True
                for j in range(codes.shape[1]):
                    if only[child, j] >= 0:
                        if only[child, j] != ks[i, j]:
                            bound += mismatch
                    elif (masks[child, j] >> np.uint64(ks[i, j] & 63)) & np.uint64(1):
                        even = False
                    else:
                        bound += mismatch
                for j in range(numbers.shape[1]):
                    if bound > limit:
                        break
                    x = xs[i, j]
                    if low[child, j] != low[child, j]:
                        if x == x:
                            bound += lack[j]
                    elif x != x:
                        if gaps[child, j]:
                            even = False
                        else:
                            bound += lack[j]
                    else:
                        gap = max(0.0, low[child, j] - x, x - high[child, j])
                        bound += w[j] * (gap * gap) if power == 2 else w[j] * gap
                        even &= low[child, j] == high[child, j] and not gaps[child, j]
                if bound <= limit:
                    stack[top], bounds[top], flat[top] = child, bound, even
                    top += 1
                    if top > 1 and stack[top - 2] == child - 1 and bounds[top - 2] < bound:
                        stack[top - 1], stack[top - 2] = child - 1, child  # the nearer one on top
                        bounds[top - 1], bounds[top - 2] = bounds[top - 2], bound
                        flat[top - 1], flat[top - 2] = flat[top - 2], even
        best[i], total[i], where[i] = near, many, at
        sure[i] = several < 2 and second > near + slack


def link_both_ways(released: Table, original: Table) -> dict[str, Callable[[], Any]]:
    """The search before and the present one, on the same files, by one thread."""
    from sievert.commands.attack.linkage import search
    from sievert.commands.attack.linkage.space import build_space
    from sievert.commands.attack.linkage.tree import build_tree
    from sievert.numerics.acceleration import jit

    space, mine, theirs = build_space(released, original, "gower", "sd")
    weights = space.w, space.lack, space.mismatch, space.power, space.slack
    loop, origin = jit(search_one_by_one), np.arange(len(mine.block))

    def before() -> Any:
        firsts, group = mine.groups()
        kinds, kind = theirs.groups()
        queries = mine.take(firsts)
        tree = build_tree(space, theirs.take(kinds), np.bincount(kind), 1, LEAF)
        size = len(firsts)
        near = search.Nearest(
            best=np.full(size, np.inf),
            total=np.zeros(size, np.int64),
            where=np.full(size, -1),
            sure=np.ones(size, bool),
        )
        loop(tree, weights, queries.numbers, queries.codes, tree.roots[queries.block], near)
        return near.total[group], near.sure[group]

    def now() -> Any:
        return search.nearest(space, mine, theirs, origin, compiled=True, threads=1)

    return {"before": before, "now": now}


def compare(name: str, released: Table, original: Table, rounds: int) -> Result:
    """CPU seconds of both ways in turns; where doubles decide, they must agree."""
    few = [[c[:50] for c in side] for side in (released, original)]
    for action in link_both_ways(*few).values():
        action()  # compiled
    seconds: dict[str, list[float]] = {"before": [], "now": []}
    same = True
    for _ in range(rounds):
        results = {}
        for way, action in link_both_ways(released, original).items():
            start = time.process_time()
            results[way] = action()
            seconds[way].append(time.process_time() - start)
        total, sure = results["before"]
        same &= bool(np.array_equal(total[sure], results["now"][0][sure]))
    return {"table": name, "seconds": seconds, "same": same}


def explain(rows: int, folder: Path) -> Result:
    """The command on 250 columns of two to five values, with a time limit."""
    rng = np.random.default_rng(rows)
    names = [f"q{j}" for j in range(250)]
    cells = np.column_stack([rng.integers(0, 2 + j % 4, rows) for j in range(251)])
    data, target = folder / f"wide{rows}.csv", folder / f"wide{rows}.json"
    header = ",".join([*names, "s"])
    np.savetxt(data, cells, fmt="%d", delimiter=",", header=header, comments="")
    options = ["-q", ",".join(names), "-s", "s", "--timeout", str(TIMEOUT), "--json", str(target)]
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "sievert", "explain", str(data), *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.perf_counter() - start
    plan = json.loads(target.read_text()).get("plan", {}) if target.exists() else {}
    reduced = "; ".join(plan.get("reduced", [])) or done.stderr.strip() or "everything"
    return {"rows": rows, "seconds": seconds, "code": done.returncode, "plan": reduced}


def run(options: Options) -> Result:
    """Compare both searches, then explain a table of 250 columns."""
    rows = QUICK_ROWS if options.quick else ROWS
    cells = [compare(name, *pair, options.rounds or 1) for name, pair in pairs(rows).items()]
    ratios = {
        cell["table"]: Ratio.of(cell["seconds"]["before"], cell["seconds"]["now"]) for cell in cells
    }
    print(f"Linkage of {rows:,} records by {COLUMNS} columns, CPU seconds of one thread\n")
    lines = [
        (
            cell["table"],
            *(digits(min(cell["seconds"][way])) for way in ("before", "now")),
            str(ratios[cell["table"]]),
            "yes" if cell["same"] else "NO",
        )
        for cell in cells
    ]
    print(table(("table", "before", "now", "ratio", "same"), lines))
    ratio = ratios["real numbers, noise"]
    goal = verdict(ratio.median, QUICK_GOAL if options.quick else GOAL, at_least=True)
    goal["met"] &= all(cell["same"] for cell in cells)
    print_verdict("search before / now", ratio, goal)
    with scratch() as folder:
        sizes = QUICK_EXPLAINED if options.quick else EXPLAINED
        explained = [explain(size, folder) for size in sizes]
    print(f"\nexplain of 250 quasi-identifiers, --timeout {TIMEOUT}\n")
    lines = [(f"{e['rows']:,}", digits(e["seconds"]), str(e["code"]), e["plan"]) for e in explained]
    print(table(("records", "s", "exit code", "left out"), lines))
    return {"linkage": cells, "ratio": ratio, "explain": explained, "goal": goal}
