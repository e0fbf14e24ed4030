"""Approximate compromise against the dynamic programme as it was published, both compiled.

One H(eps) for a window of half the range: the published row loop tries every run that fits, adding
probabilities and taking a logarithm each time. Both must find the same. Values are drawn uniformly,
probabilities from a flat Dirichlet distribution. Time is that of the loops, without the compiling,
which is kept.

    python -m bench compromise [--quick]
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.common import (
    BenchError,
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

GOALS = {1_000: 10.0, 10_000: 50.0}
QUICK_GOALS = {1_000: 5.0}
HALF, OTHERS = 0.5, (0.01, 0.1, 0.9)  # of the range
SAME = 1e-12
CURVES = (
    ("exact", 1_000, None, 1e-3),
    ("1 %", 10_000, False, 1e-2),
    ("0.1 %", 10_000, False, 1e-3),
)
QUICK_CURVES = (("exact", 300, None, 1e-3), ("1 %", 1_000, False, 1e-2))
ROWS, QUICK_ROWS = 20_000, 2_000
DOMAIN = 25

Floats = NDArray[np.float64]


def published(x: Floats, p: Floats, eps: float, h: Floats) -> float:
    """One row of the published table: h[i] for the first i values."""
    h[0] = 0.0
    for i in range(1, len(x) + 1):
        j, mass, least = i, 0.0, np.inf
        while j != 0 and x[i - 1] - x[j - 1] <= eps:
            mass += p[j - 1]
            value = mass * math.log2(1.0 / mass) + h[j - 1]
            if value < least:
                least = value
            j -= 1
        h[i] = least
    return float(h[len(x)])


def drawn(size: int) -> tuple[Floats, Floats]:
    """Values in order and their probabilities."""
    rng = np.random.default_rng(size)
    return np.sort(rng.random(size)), rng.dirichlet(np.ones(size))


def compare(size: int, rounds: int, share: float = HALF) -> Result:
    """Time both ways in turns, each repeated until it can be timed."""
    from sievert.measures.approximate import windows
    from sievert.measures.approximate.curves import Masses
    from sievert.numerics.acceleration import compile_loops

    compiled = compile_loops(published)
    if compiled is None:
        raise BenchError("nothing can be compiled here; install sievert[fast]")
    x, p = drawn(size)
    eps, room, found = share * float(x[-1] - x[0]), np.empty(size + 1), np.empty(1)
    masses = Masses(p[None])
    parts = (masses.high[0], masses.low[0], masses.rest[0])
    once = np.array([eps])
    windows.least_entropy_by_search(x, *parts, once, found)
    truth = compiled[0](x, p, eps, room)
    plain_times, times = max(1, 10**7 // size**2), max(1, 4 * 10**6 // size)
    many, every = np.full(times, eps), np.empty(times)

    def plain() -> None:
        for _ in range(plain_times):
            compiled[0](x, p, eps, room)

    samples = interleave(
        {
            "published": plain,
            "searched": lambda: windows.least_entropy_by_search(x, *parts, many, every),
        },
        rounds,
    )
    walls = {
        name: [s.wall / n for s in taken]
        for (name, taken), n in zip(samples.items(), (plain_times, times), strict=True)
    }
    same = bool(abs(found[0] - truth) <= SAME * truth)
    return {
        "values": size, "share": share, "same": same, "seconds": walls,
        "ratio": Ratio.of(walls["published"], walls["searched"]),
    }  # fmt: skip


def curve(name: str, size: int, exact: bool | None, tolerance: float) -> Result:
    """Time a whole curve, or bounds of its area."""
    from sievert.measures.approximate.compromise import approximate_compromise

    values, p = drawn(size)
    held: list[Any] = []

    def run() -> None:
        held.append(approximate_compromise(values, p, exact=exact, tolerance=tolerance))

    sample = timed(run)
    return {"name": name, "values": size, "sample": sample, "points": len(held[0].steps)}


def many(rows: int) -> Result:
    """Time many distributions over 25 equally spaced values."""
    from sievert.measures.approximate.compromise import compromises

    matrix = np.random.default_rng(rows).dirichlet(np.ones(DOMAIN), rows)
    domain = np.arange(10, 10 * (DOMAIN + 1), 10)
    compromises(domain, matrix[:10], compiled=True)
    sample = timed(lambda: compromises(domain, matrix, compiled=True))
    return {"rows": rows, "sample": sample, "microseconds": 1e6 * sample.wall / rows}


def run(options: Options) -> Result:
    """The measure: one window, whole curves, many distributions."""
    goals = QUICK_GOALS if options.quick else GOALS
    compared = [compare(n, options.rounds or (3 if options.quick else 7)) for n in goals]
    lines = [
        (f"{cell['values']:,}", *(digits(1e3 * min(w)) for w in cell["seconds"].values()))
        for cell in compared
    ]
    print("One H(eps), eps half the range; best ms\n")
    print(table(("values", "published", "searched"), lines))
    outcomes = []
    for cell, goal in zip(compared, goals.values(), strict=True):
        outcome = verdict(cell["ratio"].median, goal, at_least=True)
        if not cell["same"]:
            print("\nThe results differ, so the times are not of the same work.")
            outcome["met"] = False
        print_verdict(f"published / searched, {cell['values']:,} values", cell["ratio"], outcome)
        outcomes.append(outcome)
    others = [compare(n, 1, share) for n in goals for share in OTHERS]
    print("\nOther windows\n")
    print(
        table(
            ("values", "of the range", "published ms", "searched ms", "ratio"),
            [
                (f"{c['values']:,}", c["share"], digits(1e3 * c["seconds"]["published"][0]),
                 digits(1e3 * c["seconds"]["searched"][0]), digits(c["ratio"].median))
                for c in others
            ],
        )
    )  # fmt: skip
    curves = [curve(*each) for each in (QUICK_CURVES if options.quick else CURVES)]
    print("\nWhole curves\n")
    print(
        table(
            ("curve", "values", "points", "wall s", "CPU s"),
            [
                (c["name"], f"{c['values']:,}", f"{c['points']:,}", digits(c["sample"].wall),
                 digits(c["sample"].user + c["sample"].system))
                for c in curves
            ],
        )
    )  # fmt: skip
    batch = many(QUICK_ROWS if options.quick else ROWS)
    print(f"\n{batch['rows']:,} distributions over {DOMAIN} values: "
          f"{digits(batch['microseconds'])} us each")  # fmt: skip
    return {
        "compared": compared, "others": others, "curves": curves, "many": batch,
        "outcomes": outcomes,
        "goal": {"met": all(outcome["met"] for outcome in outcomes)},
    }  # fmt: skip
