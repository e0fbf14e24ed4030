"""The limit of disclosure: steps and seconds to a gap, and against Clarabel on the same problem.

Model 1 of a smooth table: X and Y evenly spaced on [0, 1], p(x) rising and falling, p(y|x) a bell
of width 0.15 around x, the squared difference as distortion, at a share of all distortion worth
having. Clarabel (an interior-point method) gets the same constrained problem as exponential cones,
with p(x',y) and p(x') as variables of their own, the quicker of the two ways to state it here. It
stops at a gap of 1e-3 nats and infeasibilities of 1e-4, with which its value is off by 0.0005 to
0.001 nats; putting its matrices together is not timed. All is measured with the threads that a
user's BLAS has, and again with one.

    python -m bench limit [--quick]
"""

from __future__ import annotations

import json
import math
import statistics
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.common import (
    BenchError,
    Options,
    Ratio,
    Result,
    child,
    digits,
    interleave,
    plain,
    print_verdict,
    table,
    timed,
    verdict,
    version,
)

LN2 = math.log(2)
SIZES, QUICK_SIZES = ((10, 10), (100, 50), (1000, 100)), ((10, 10), (100, 50))
GAPS = (1e-2, 1e-3, 1e-4)  # nats
SHARES = (0.1, 0.3, 0.6)  # of all distortion worth having
GOALS = {(60, 40): 2.0, (100, 50): 5.0}
QUICK_GOALS = {(60, 40): 2.0}
STOP, FEASIBLE = 1e-3, 1e-4  # of Clarabel
AGREE = 2e-3  # nats that two answers to 1e-3 may differ by
POINTS = 20
LONGEST = 300.0  # seconds for one search
THREADS = ("as found", "1")
CODE = (
    "import os, sys\n"
    "if sys.argv[1] == '1':\n"
    "    for name in ('OPENBLAS', 'OMP', 'MKL', 'BLIS'):\n"
    "        os.environ[name + '_NUM_THREADS'] = '1'\n"
    "from bench.limit import within\n"
    "within(*sys.argv[1:])\n"
)

Floats = NDArray[np.float64]


def smooth(n: int, k: int) -> tuple[Floats, Floats]:
    """A table X by Y, and a distortion."""
    x, y = (np.arange(n) + 0.5) / n, (np.arange(k) + 0.5) / k
    given = np.exp(-((x[:, None] - y) ** 2) / (2 * 0.15**2))
    given /= given.sum(axis=1, keepdims=True)
    return (1 + np.sin(3 * x))[:, None] * given, (x[:, None] - x) ** 2


def place(n: int, k: int, share: float) -> float:
    """The distortion that is such a share of all worth having."""
    from sievert.tradeoff.models import DistortionTask

    task = DistortionTask.from_table(*smooth(n, k))
    return task.nearest + share * task.span


def reaching(n: int, k: int, share: float) -> list[Result]:
    """Steps and seconds to each gap."""
    from sievert.tradeoff import least_risk

    joint, distortion = smooth(n, k)
    at = place(n, k, share)
    found = []
    for gap in GAPS:
        held: list[Any] = []

        def run(gap: float = gap, held: list[Any] = held) -> None:
            held[:] = [least_risk(joint, distortion, at, gap=gap / LN2, seconds=LONGEST)]

        taken = [timed(run)]
        if taken[0].wall < 1:
            taken += [timed(run) for _ in range(4)]
        wall = statistics.median(sample.wall for sample in taken)
        cpu = statistics.median(sample.user + sample.system for sample in taken)
        found.append(
            {"gap": gap, "steps": held[0].iterations, "wall": wall, "cpu": cpu,
             "reached": held[0].reached, "left": held[0].gap * LN2}
        )  # fmt: skip
    return found


def cones(n: int, k: int, at: float, threads: str) -> Callable[[], float]:
    """Model 1 as a programme of cones: a function that has Clarabel solve it, in nats."""
    clarabel, sparse = import_module("clarabel"), import_module("scipy.sparse")
    from sievert.tradeoff.models import DistortionTask

    task = DistortionTask.from_table(*smooth(n, k))
    p, given, d = task.joint.weights, task.joint.given, task.distortion
    m = d.shape[1]
    cells, pairs = n * m, k * m
    sizes = (cells, pairs, pairs, m)  # the channel, the terms of I, p(x',y), p(x')
    each = sparse.eye_array(m)

    def row(rows: int, **blocks: Any) -> Any:
        names = ("channel", "terms", "together", "released")
        held = [blocks.get(name) for name in names]
        return sparse.hstack(
            [
                sparse.csr_array((rows, size)) if block is None else block
                for block, size in zip(held, sizes, strict=True)
            ]
        )

    one, joint = sparse.csr_array(p[None]), sparse.csr_array((p[:, None] * given).T)
    own, released = sparse.eye_array(pairs), sparse.kron(task.joint.secret[:, None], each)
    triples = sparse.vstack(
        (row(pairs, terms=own), row(pairs, together=-own), row(pairs, released=-released))
    ).tocsr()[np.arange(3 * pairs).reshape(3, pairs).T.ravel()]
    a = sparse.vstack(
        (
            row(n, channel=sparse.kron(sparse.eye_array(n), np.ones((1, m)))),
            row(pairs, channel=sparse.kron(joint, each), together=-own),
            row(m, channel=sparse.kron(one, each), released=-each),
            row(cells, channel=-sparse.eye_array(cells)),
            row(1, channel=sparse.csr_array((p[:, None] * d).reshape(1, -1))),
            triples,
        )
    )
    equal = n + pairs + m
    right = np.concatenate((np.ones(n), np.zeros(pairs + m + cells), [at], np.zeros(3 * pairs)))
    kinds = [clarabel.ZeroConeT(equal), clarabel.NonnegativeConeT(cells + 1)]
    kinds += [clarabel.ExponentialConeT()] * pairs
    cost = np.concatenate((np.zeros(cells), np.ones(pairs), np.zeros(pairs + m)))
    nothing, matrix = sparse.csc_matrix((len(cost), len(cost))), sparse.csc_matrix(a)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs, settings.tol_gap_rel, settings.tol_feas = STOP, 1e-12, FEASIBLE
    if threads == "1":
        settings.max_threads = 1

    def solve() -> float:
        found = clarabel.DefaultSolver(nothing, cost, matrix, right, kinds, settings).solve()
        if str(found.status) not in ("Solved", "AlmostSolved"):
            raise BenchError(f"Clarabel ended with {found.status}")
        return float(found.obj_val)

    return solve


def against(n: int, k: int, rounds: int, threads: str) -> Result:
    """Both on the same problem in turns, to about 1e-3 nats."""
    from sievert.tradeoff import least_risk

    joint, distortion = smooth(n, k)
    at = place(n, k, SHARES[1])
    solve = cones(n, k, at, threads)
    held: dict[str, Any] = {}

    def theirs() -> None:
        held["clarabel"] = solve()

    def ours() -> None:
        held["sievert"] = least_risk(joint, distortion, at, gap=STOP / LN2)

    taken = interleave({"clarabel": theirs, "sievert": ours}, rounds)
    walls = {name: [sample.wall for sample in samples] for name, samples in taken.items()}
    cpu = {name: [s.user + s.system for s in samples] for name, samples in taken.items()}
    truth = least_risk(joint, distortion, at, gap=1e-5 / LN2)
    middle = 0.5 * (truth.objective + truth.bound) * LN2
    found = held["sievert"]
    off = held["clarabel"] - middle
    return {
        "values": [n, k], "seconds": walls, "cpu": cpu, "clarabel off by": off,
        "sievert bracket": [found.bound * LN2, found.objective * LN2], "truth": middle,
        "same": bool(found.reached and abs(off) <= AGREE),
        "ratio": Ratio.of(walls["clarabel"], walls["sievert"]),
        "cpu ratio": Ratio.of(cpu["clarabel"], cpu["sievert"]),
    }  # fmt: skip


def others(quick: bool) -> list[Result]:
    """A whole curve, and the models without a certificate."""
    from sievert.tradeoff import curve, funnel, least_distortion, least_identity, least_loss
    from sievert.tradeoff.joint_distribution import Joint

    n, k = (10, 10) if quick else (100, 50)
    joint, distortion = smooth(n, k)
    held = Joint.of(joint)
    gap = STOP / LN2
    rows: list[tuple[str, Callable[[], Any]]] = [
        (f"curve of {POINTS} points", lambda: curve(held, distortion, points=POINTS, gap=gap)),
        ("model 2", lambda: least_distortion(held, distortion, held.information / 2)),
        ("model 3", lambda: least_identity(held, held.information / 2)),
        ("model 4", lambda: least_loss(held, held.entropy / 4)),
        ("funnel", lambda: funnel(held, held.entropy / 2)),
    ]  # fmt: skip
    found = []
    for name, action in rows:
        answers: list[Any] = []

        def act(action: Callable[[], Any] = action, answers: list[Any] = answers) -> None:
            answers.append(action())

        sample = timed(act)
        answer = answers[0]
        points = getattr(answer, "points", (answer,))
        found.append(
            {"name": name, "values": [n, k], "sample": sample,
             "steps": sum(p.iterations for p in points), "gap": max(p.gap for p in points),
             "spread": max((p.spread for p in points if p.spread is not None), default=None)}
        )  # fmt: skip
    return found


def within(threads: str, quick: str, rounds: str) -> None:
    """All measures of one process, printed as JSON."""
    short, turns = quick == "True", int(rounds)
    found: Result = {
        "reaching": [
            {"values": [n, k], "share": share, "gaps": reaching(n, k, share)}
            for n, k in (QUICK_SIZES if short else SIZES)
            for share in (SHARES if n < 1000 else SHARES[1:2])
        ],
        "others": others(short),
        "compared": [],
    }
    if version("clarabel") is not None and version("scipy") is not None:
        for n, k in QUICK_GOALS if short else GOALS:
            found["compared"].append(against(n, k, turns, threads))
    sys.stdout.write(json.dumps(plain(found)) + "\n")


def run(options: Options) -> Result:
    """The measure: gaps, models, and Clarabel, twice over."""
    rounds = options.rounds or (3 if options.quick else 5)
    goals = QUICK_GOALS if options.quick else GOALS
    found: Result = {}
    outcomes: list[Result] = []
    for threads in THREADS:
        held = child(["-c", CODE, threads, str(options.quick), str(rounds)], 3_600)
        found[f"threads {threads}"] = held
        print(f"\nBLAS threads: {threads}. Model 1, seconds (median) to a gap in nats\n")
        print(_reached(held["reaching"]))
        print("\nOther searches; gap and spread in bits, of model 2 as a distortion\n")
        print(_others(held["others"]))
        for cell, goal in zip(held["compared"], goals.values(), strict=False):
            outcomes.append(_judged(cell, goal))
    if not outcomes:
        print("\nClarabel is not installed, so nothing is compared: pip install sievert[dev]")
    return {
        **found, "outcomes": outcomes, "clarabel": version("clarabel"), "scipy": version("scipy"),
        "goal": {"met": all(outcome["met"] for outcome in outcomes)},
    }  # fmt: skip


def _reached(cells: list[Result]) -> str:
    headers = ["X x Y", "distortion"]
    for gap in GAPS:
        headers += [f"{gap:g}: steps", "s", "CPU s"]
    lines = []
    for cell in cells:
        line: list[object] = [" x ".join(f"{v:,}" for v in cell["values"]), cell["share"]]
        for gap in cell["gaps"]:
            mark = "" if gap["reached"] else f" (left {gap['left']:.1g})"
            line += [f"{gap['steps']:,}{mark}", digits(gap["wall"]), digits(gap["cpu"])]
        lines.append(line)
    return table(headers, lines)


def _others(cells: list[Result]) -> str:
    lines = []
    for cell in cells:
        spread = "" if cell["spread"] is None else f"{cell['spread']:.1g}"
        sample = cell["sample"]
        lines.append(
            (cell["name"], " x ".join(f"{v:,}" for v in cell["values"]), f"{cell['steps']:,}",
             digits(sample["wall"]), digits(sample["user"] + sample["system"]),
             f"{cell['gap']:.1g}", spread)
        )  # fmt: skip
    return table(("search", "X x Y", "steps", "s", "CPU s", "gap", "spread"), lines)


def _judged(cell: Result, goal: float) -> Result:
    ratio = Ratio(**cell["ratio"])
    outcome = verdict(ratio.median, goal, at_least=True)
    n, k = cell["values"]
    medians = {name: statistics.median(walls) for name, walls in cell["seconds"].items()}
    print(
        f"\n{n} x {k}, to 1e-3 nats: Clarabel {digits(medians['clarabel'])} s (its value is "
        f"{cell['clarabel off by']:+.1g} nats off), sievert {digits(medians['sievert'])} s "
        f"(gap {cell['sievert bracket'][1] - cell['sievert bracket'][0]:.1g})"
    )
    if not cell["same"]:
        print("The results differ, so the times are not of the same work.")
        outcome["met"] = False
    print_verdict(f"Clarabel / sievert, {n} x {k}", ratio, outcome)
    print(f"in CPU seconds: {Ratio(**cell['cpu ratio'])}")
    return outcome
