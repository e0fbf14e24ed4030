"""The appendix's example step by step, figure 3, and Algorithm 1 as it is printed."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import sievert
from sievert.charts import lines
from sievert.papers.claims import Claim, Given, PaperPart, apart, number, open_question, statement
from sievert.report.page import Grid, Picture

X, P = (1.0, 3.0, 8.0, 9.0), (0.15, 0.1, 0.7, 0.05)
# Windows and what is printed for them; for 3 and 4 it is that of 2.
ENTROPIES = {
    0: "1.319",
    1: "1.054",
    2: "0.811",
    3: "0.811",
    4: "0.811",
    5: "0.811",
    6: "0.61",
    7: "0.286",
    8: "0",
}


def approximate_entropies() -> Any:
    """What is left of the four values."""
    return sievert.approximate_compromise(X, P)


def entropy(p: Sequence[float]) -> float:
    """Shannon's entropy in bits."""
    return -math.fsum(x * math.log2(x) for x in p if x)


def covers(eps: float, x: Sequence[float] = X, p: Sequence[float] = P) -> Iterator[list[float]]:
    """Probabilities of the runs, for every way to cut the values into runs no longer than eps."""
    for cuts in itertools.product((False, True), repeat=len(x) - 1):
        at = [0, *(i + 1 for i, cut in enumerate(cuts) if cut), len(x)]
        runs = list(itertools.pairwise(at))
        if all(x[end - 1] - x[start] <= eps for start, end in runs):
            yield [math.fsum(p[start:end]) for start, end in runs]


def appendix(given: Given) -> PaperPart:
    """Every number of the calculation."""
    given.step("appendix")
    left = approximate_entropies()
    least = {eps: min(entropy(q) for q in covers(eps)) for eps in ENTROPIES}
    worst = max(abs(least[eps] - left.entropy(eps)) for eps in ENTROPIES)
    return PaperPart(
        "Appendix: the example with four values",
        "Values 1, 3, 8, 9 with probabilities 0.15, 0.1, 0.7, 0.05. H(eps) is the least entropy "
        "over all ways to cover the values with windows of length eps.",
        (
            *(
                number(f"H({eps})", printed, left.entropy(eps))
                for eps, printed in ENTROPIES.items()
            ),
            number("Step 2: probability of 8 and 9 together", "0.75", P[2] + P[3]),
            number("Step 2: their common value", "8.5", (X[2] + X[3]) / 2),
            number("Step 5: the other cover, {1}, {3, 8}, {9}", "0.884", _other()),
            number("Step 8: the window that covers everything", "8", left.range),
            _largest(),
            statement(
                "The least of all covers, one by one, is H(eps)",
                "the minimum",
                apart(worst, 1e-12),
                holds=worst < 1e-12,
                why="another cover is better",
            ),
        ),
    )


def _other() -> float:
    return entropy([P[0], P[1] + P[2], P[3]])


def _largest() -> Claim:
    """Section 3 says that H is maximised over all collections."""
    return number(
        "H(5) by the words of section 3: the largest entropy of all covers",
        ENTROPIES[5],
        max(entropy(q) for q in covers(5)),
        contradicts=True,
        why="The formal problem of section 3 says that H is maximised. Then H would be H(0) for "
        "every window. The sentence before it, the recurrence, the algorithm and the appendix all "
        "minimise.",
    )


def figure_3(given: Given) -> PaperPart:
    """H(eps) of the example and the area below it."""
    given.step("figure 3")
    left = approximate_entropies()
    return PaperPart(
        "Figure 3: the measure of the example",
        "The curve of the appendix's example. The text says that the figure shows the area; its "
        "number is not in the text.",
        (
            open_question(
                "The area",
                "drawn",
                "The number is not in the text; ours follows from H(0) to H(7), which are.",
                f"{left.area:.6f}",
            ),
            statement(
                "H(eps) > 0 below eps_max, and 0 there",
                "H(8) = 0",
                f"least H before: {min(left.entropy(e) for e in range(8)):.4f}; at 8: "
                f"{left.entropy(8):g}",
                holds=left.entropy(8) == 0 < min(h for eps, h in left.steps if eps < 8),
                why="H is 0 elsewhere",
            ),
        ),
        (
            Picture(
                lines(
                    "What is left of the four values",
                    ("Values 1, 3, 8 and 9",),
                    {"H(eps)": list(left.steps)},
                    across="Window",
                    up="Bits",
                    stair=True,
                ),
                f"H falls where a wider window joins more values; the area below it is "
                f"{left.area:.4f} bits times the unit of the values.",
                Grid(
                    "Steps",
                    ("from a window of", "H, bits"),
                    tuple((f"{eps:g}", f"{h:.6f}") for eps, h in left.steps),
                    right=(0, 1),
                ),
            ),
        ),
    )


# -- Algorithm 1 ---------------------------------------------------------------------------------


def printed_algorithm(x: Sequence[int], p: Sequence[float]) -> tuple[list[float], int]:
    """Algorithm 1 line by line: H for eps = 0, 1, ..., and how often it reads a row before 0."""
    rows: list[list[float]] = []
    lacking = 0
    n = len(x)
    for eps in range(x[-1] - x[0] + 1):
        h = [0.0, _cost(p[0])] + [math.inf] * (n - 1)
        for i in range(2, n + 1):
            lacking += eps == 0
            h[i] = rows[-1][i] if rows else math.inf
            j, partial = i, 0.0
            while j != 0 and x[i - 1] - x[j - 1] <= eps:
                partial += p[j - 1]
                h[i] = min(h[i], _cost(partial) + h[j - 1])
                j -= 1
        rows.append(h)
    return [row[n] for row in rows], lacking


def _cost(p: float) -> float:
    return -p * math.log2(p) if p > 0 else 0.0


def algorithm_1(given: Given) -> PaperPart:
    """The printed dynamic programme beside ours."""
    given.step("algorithm 1")
    rng = np.random.default_rng([given.seed, 25])
    weights = rng.dirichlet(np.ones(25)).tolist()
    worst, lacking = 0.0, 0
    for x, p in (([int(v) for v in X], list(P)), (list(range(1, 26)), weights)):
        theirs, reads = printed_algorithm(x, p)
        ours = sievert.approximate_compromise(x, p)
        worst = max(worst, *(abs(h - ours.entropy(e)) for e, h in enumerate(theirs)))
        lacking += reads
    return PaperPart(
        "Section 4: Algorithm 1",
        "The printed loop, run as it stands, on the appendix's values and on 25 values with "
        "generated probabilities. Its base cases are H(eps, 0) and H(eps, 1): the text above it "
        "has the arguments the other way round.",
        (
            statement(
                "The algorithm finds the least entropy for every eps",
                "optimal",
                apart(worst, 1e-9),
                holds=worst < 1e-9,
                why="it finds another entropy",
            ),
            statement(
                "It is complete as printed",
                "complete",
                f"{lacking} reads of a row before eps = 0",
                holds=lacking == 0,
                why="Each row starts from the row of eps - 1, and for eps = 0 there is none. "
                "Infinity does in its place; the start is a bound that is not needed.",
            ),
        ),
    )
