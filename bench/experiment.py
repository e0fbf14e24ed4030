"""The sampling experiment of approximate compromise against a straightforward loop.

The loop does what the experiment's text says: for every combination of known values select its
records, count their values, and go through the published table for every window. It is timed on one
per cent of the combinations of one run, and its time for all of them follows.

    python -m bench experiment [--quick]
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from bench.common import (
    Options,
    Ratio,
    Result,
    digits,
    print_verdict,
    table,
    timed,
    verdict,
)

GOAL, QUICK_GOAL = 50.0, 10.0
RECORDS, QUICK_RECORDS = 2_500, 500
FRACTIONS, REPLICATES = (0.05, 0.1, 0.2, 0.5), 30
SIZES = (16, 2, 60, 20, 20, 12)  # values of the six known columns
VALUES = [10.0 * i for i in range(1, 26)]
GROWTH = (1_000, 2_500, 5_000, 10_000)


def people(records: int) -> tuple[Any, Any]:
    """Known codes and confidential codes: common values are more common, pay hangs on them."""
    rng = np.random.default_rng(7)
    known = np.stack([np.minimum(*rng.integers(0, size, (2, records))) for size in SIZES], axis=1)
    pay = np.exp(rng.normal(3.5 + 0.02 * known[:, 0], 0.6)) / 4
    return known, np.clip(pay.astype(int), 0, len(VALUES) - 1)


def as_table(known: Any, secret: Any) -> dict[str, list[str]]:
    """The same as columns of text."""
    found = {f"k{i}": [str(x) for x in known[:, i].tolist()] for i in range(known.shape[1])}
    return found | {"pay": [f"{VALUES[s]:g}" for s in secret.tolist()]}


def area(p: list[float]) -> float:
    """The published table: H for every window of the lattice, by its recurrence."""
    whole = 0.0
    for window in range(len(p)):
        h = [0.0] * (len(p) + 1)
        for i in range(1, len(p) + 1):
            mass, least = 0.0, math.inf
            for j in range(i, max(0, i - window - 1), -1):
                mass += p[j - 1]
                cost = -mass * math.log2(mass) if mass > 0 else 0.0
                least = min(least, cost + h[j - 1])
            h[i] = least
        whole += h[len(p)] * 10
    return whole


def loop(known: Any, secret: Any, taken: Any, share: float) -> tuple[float, int, int]:
    """Some of the combinations of one run: their mean area, how many, of how many."""
    found, every = [], 0
    step = round(1 / share)
    for size in range(1, known.shape[1] + 1):
        for columns in itertools.combinations(range(known.shape[1]), size):
            kinds = sorted({tuple(row) for row in known[:, columns].tolist()})
            for kind in kinds:
                every += 1
                if every % step:
                    continue
                match = np.all(known[:, columns] == kind, axis=1)
                seen = secret[match & taken]
                rest = 1 - len(seen) / match.sum()
                p = [
                    float((seen == d).sum() / match.sum() + rest / len(VALUES))
                    for d in range(len(VALUES))
                ]
                found.append(area(p))
    return math.fsum(found) / len(found), len(found), every


def run(options: Options) -> Result:
    """The whole experiment, and the loop on a part of it."""
    import sievert
    from sievert.methods import draw_sample

    records = QUICK_RECORDS if options.quick else RECORDS
    replicates = 3 if options.quick else REPLICATES
    known, secret = people(records)
    data = as_table(known, secret)
    held: list[Any] = []

    def ours() -> None:
        held.append(
            sievert.compromise(
                data, [c for c in data if c != "pay"], "pay",
                parameters=FRACTIONS, replicates=replicates,
            )
        )  # fmt: skip

    ours()  # compiles, once and for all
    sample = timed(ours)
    taken = draw_sample(secret, np.array(VALUES), 0.2, 0).taken
    told: list[tuple[float, int, int]] = []
    slow = timed(lambda: told.append(loop(known, secret, taken, 0.01)))
    mean, looked, every = told[0]
    estimate = slow.wall / looked * every * len(FRACTIONS) * replicates
    ratio = Ratio.of([estimate], [sample.wall])
    print(f"{records:,} records, 6 known columns, {every:,} combinations, 4 fractions, "
          f"{replicates} runs each\n")  # fmt: skip
    rows = [
        ("sievert.compromise, everything", digits(sample.wall)),
        (f"the loop, {looked:,} combinations of one run", digits(slow.wall)),
        ("the loop, all of them (estimated)", digits(estimate)),
    ]
    print(table(("way", "wall s"), rows))
    goal = verdict(ratio.median, QUICK_GOAL if options.quick else GOAL, at_least=True)
    curve = held[-1].curves["pay"][2]
    ourselves = np.average(
        [p.combinations["area"].mean for p in curve.points],
        weights=[p.targets for p in curve.points],
    )
    print(f"\nMean area at 20 %: {ourselves:.4f} (the part that the loop saw: {mean:.4f})")
    print_verdict("loop / sievert", ratio, goal)
    growth = {}
    for many in GROWTH[:2] if options.quick else GROWTH:
        some = as_table(*people(many))
        growth[many] = timed(
            lambda some=some: sievert.compromise(
                some, [c for c in some if c != "pay"], "pay", parameters=[0.2], replicates=3
            )
        ).wall
    print("\nOne fraction, three runs\n")
    print(table(("records", "wall s"), [(f"{n:,}", digits(s)) for n, s in growth.items()]))
    return {
        "ours": sample, "loop": slow, "looked": looked, "combinations": every,
        "ratio": ratio, "growth": growth, "goal": goal,
    }  # fmt: skip
