"""Table 1, figures 1 and 3, and the appendix: the examples that can be worked out to the digit."""

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import sievert
from sievert.charts import lines
from sievert.papers.claims import (
    Claim,
    Given,
    PaperPart,
    announce,
    apart,
    number,
    remark,
    require_number,
    statement,
)
from sievert.report.page import Grid, Picture

# Largest and mean salary of two people, in thousands: the answers of Table 1.
ANSWERS = {"Layla": (107.0, 78.5), "Qays": (80.0, 78.5)}
# What the text takes from them: the other salary, half the range, the range.
PRINTED = {"Layla": ("50", "28.5", "57"), "Qays": ("77", "1.5", "3")}


def remaining_compromise(name: str) -> Any:
    """What the two answers leave of somebody's salary."""
    most, mean = ANSWERS[name]
    return sievert.approximate_compromise([2 * mean - most, most], [0.5, 0.5])


@announce("table 1")
def table_1(given: Given) -> PaperPart:
    """The two examples: what follows from a maximum and a mean."""
    return PaperPart(
        "Table 1: two examples",
        "Two people each time, their largest and their mean salary. The other salary follows, "
        "and the intruder does not know whose is which. Salaries are in thousands.",
        tuple(claim for name in ANSWERS for claim in _example(name)),
    )


def _example(name: str) -> tuple[Claim, ...]:
    most, mean = ANSWERS[name]
    other, half, width = PRINTED[name]
    compromise = remaining_compromise(name)
    return (
        number(f"{name}: the other salary", other, 2 * mean - most),
        number(f"{name}: X0, the middle of the range", "78.5", most - compromise.range / 2),
        number(f"{name}: half the range", half, compromise.range / 2),
        number(f"{name}: range of approximate compromise", width, compromise.range),
        number(f"{name}: Shannon's entropy, bits", "1", compromise.initial_entropy),
    )


@announce("figure 1")
def figure_1(given: Given) -> PaperPart:
    """H(eps) of both examples."""
    compromises = {name: remaining_compromise(name) for name in ANSWERS}
    layla = compromises["Layla"]
    qays = compromises["Qays"]
    reciprocal = {name: _reciprocal(name) for name in ANSWERS}
    return PaperPart(
        title="Figure 1: what is left for every window",
        about="H(eps) of the two examples. The figure is drawn without numbers; with two equal "
        "probabilities H is 1 bit until the window holds both salaries.",
        claims=(
            statement(
                "H(0) is the same in both cases",
                "the same",
                f"{layla.initial_entropy:g} and {qays.initial_entropy:g} bits",
                holds=layla.initial_entropy == qays.initial_entropy,
                why="the entropies differ",
            ),
            statement(
                "(1), the reciprocal of the entropy, does not tell the cases apart",
                "the same",
                f"{reciprocal['Layla']:g} and {reciprocal['Qays']:g}",
                holds=reciprocal["Layla"] == reciprocal["Qays"],
                why="the reciprocals differ",
            ),
            statement(
                "The area is much larger for Layla",
                "much larger",
                f"{layla.area:g} and {qays.area:g}, {layla.area / qays.area:g} times",
                holds=layla.area > 2 * qays.area,
                why="less than twice as large",
            ),
            statement(
                "The intruder knows more about Qays",
                "more",
                f"a range of {qays.range:g} against {layla.range:g}",
                holds=qays.range < layla.range,
                why="the range is not smaller",
            ),
        ),
        blocks=(_picture(compromises),),
    )


def _reciprocal(name: str) -> float:
    most, mean = ANSWERS[name]
    pair = {"group": ["a", "a"], "salary": [f"{2 * mean - most:g}", f"{most:g}"]}
    return require_number(sievert.reciprocal_entropy(pair, "group", "salary"))


def _picture(compromises: dict[str, Any]) -> Picture:
    end = max(each.range for each in compromises.values())
    return Picture(
        spec=lines(
            "What is left of one bit",
            ("Salaries of 77 or 80, and of 50 or 107, in thousands",),
            {name: [*each.steps, (end, 0.0)] for name, each in compromises.items()},
            across="Window, thousands",
            up="Bits",
            stair=True,
        ),
        caption="Both curves start at one bit. A window of 3 settles Qays' salary, and it "
        "takes one of 57 "
        "for Layla's: the area below the curve is the measure.",
        behind=Grid(
            caption="Areas",
            head=("name", "salaries", "H(0), bits", "eps_max", "area"),
            rows=tuple(
                (
                    name,
                    f"{most - each.range:g} or {most:g}",
                    f"{each.initial_entropy:g}",
                    f"{each.range:g}",
                    f"{each.area:g}",
                )
                for (name, each), (most, _) in zip(
                    compromises.items(), ANSWERS.values(), strict=True
                )
            ),
            right=(2, 3, 4),
        ),
    )


X = (1.0, 3.0, 8.0, 9.0)
P = (0.15, 0.1, 0.7, 0.05)
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
        runs = list(itertools.pairwise([0, *(i + 1 for i, cut in enumerate(cuts) if cut), len(x)]))
        if all(x[end - 1] - x[start] <= eps for start, end in runs):
            yield [math.fsum(p[start:end]) for start, end in runs]


@announce("appendix")
def appendix(given: Given) -> PaperPart:
    """Every number of the calculation."""
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
            number(
                "Step 5: the other cover, {1}, {3, 8}, {9}",
                "0.884",
                entropy([P[0], P[1] + P[2], P[3]]),
            ),
            number("Step 8: the window that covers everything", "8", left.range),
            number(
                "H(5) by the words of section 3: the largest entropy of all covers",
                ENTROPIES[5],
                max(entropy(q) for q in covers(5)),
                contradicts=True,
                why="The formal problem of section 3 says that H is maximised. Then H would be "
                "H(0) for every window. The sentence before it, the recurrence, the algorithm and "
                "the appendix all minimise.",
            ),
            statement(
                "The least of all covers, one by one, is H(eps)",
                "the minimum",
                apart(worst, 1e-12),
                holds=worst < 1e-12,
                why="another cover is better",
            ),
        ),
    )


@announce("figure 3")
def figure_3(given: Given) -> PaperPart:
    """H(eps) of the example and the area below it."""
    left = approximate_entropies()
    return PaperPart(
        title="Figure 3: the measure of the example",
        about="The curve of the appendix's example. The text says that the figure shows the area; "
        f"its number, {left.area:.6f} from H(0) to H(7), is not in the text.",
        claims=(
            statement(
                "H(eps) > 0 below eps_max, and 0 there",
                "H(8) = 0",
                f"least H before: {min(left.entropy(e) for e in range(8)):.4f}; at 8: "
                f"{left.entropy(8):g}",
                holds=left.entropy(8) == 0 < min(h for eps, h in left.steps if eps < 8),
                why="H is 0 elsewhere",
            ),
        ),
        blocks=(
            Picture(
                spec=lines(
                    "What is left of the four values",
                    ("Values 1, 3, 8 and 9",),
                    {"H(eps)": list(left.steps)},
                    across="Window",
                    up="Bits",
                    stair=True,
                ),
                caption=f"H falls where a wider window joins more values; the area below it is "
                f"{left.area:.4f} bits times the unit of the values.",
                behind=Grid(
                    caption="Steps",
                    head=("from a window of", "H, bits"),
                    rows=tuple((f"{eps:g}", f"{h:.6f}") for eps, h in left.steps),
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
            j = i
            partial = 0.0
            while j != 0 and x[i - 1] - x[j - 1] <= eps:
                partial += p[j - 1]
                h[i] = min(h[i], _cost(partial) + h[j - 1])
                j -= 1
        rows.append(h)
    return [row[n] for row in rows], lacking


def _cost(p: float) -> float:
    return -p * math.log2(p) if p > 0 else 0.0


@announce("algorithm 1")
def algorithm_1(given: Given) -> PaperPart:
    """The printed dynamic programme beside ours."""
    weights = np.random.default_rng([given.seed, 25]).dirichlet(np.ones(25)).tolist()
    worst = 0.0
    lacking = 0
    for x, p in (([int(v) for v in X], list(P)), (list(range(1, 26)), weights)):
        theirs, reads = printed_algorithm(x, p)
        ours = sievert.approximate_compromise(x, p)
        worst = max(worst, *(abs(h - ours.entropy(e)) for e, h in enumerate(theirs)))
        lacking += reads
    return PaperPart(
        title="Section 4: Algorithm 1",
        about="The printed loop, run as it stands, on the appendix's values and on 25 values with "
        "generated probabilities. Its base cases are H(eps, 0) and H(eps, 1): the text above it "
        "has the arguments the other way round.",
        claims=(
            statement(
                "The algorithm finds the least entropy for every eps",
                "optimal",
                apart(worst, 1e-9),
                holds=worst < 1e-9,
                why="it finds another entropy",
            ),
        ),
        blocks=(
            remark(
                "The first row",
                "each row starts from the row of eps - 1, and for eps = 0 there is none; infinity "
                "does in its place, since the start is a bound that is not needed",
                f"{lacking} reads of a row before eps = 0",
            ),
        ),
    )
