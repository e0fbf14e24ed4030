"""Table 1 and figure 1: two salaries with one bit each, and how far apart they are."""

from __future__ import annotations

from typing import Any

import sievert
from sievert.charts import lines
from sievert.papers.claims import Claim, Given, PaperPart, number, require_number, statement
from sievert.report.page import Grid, Picture

# Largest and mean salary of two people, in thousands: the answers of Table 1.
ANSWERS = {"Layla": (107.0, 78.5), "Qays": (80.0, 78.5)}
# What the text takes from them: the other salary, half the range, the range.
PRINTED = {"Layla": ("50", "28.5", "57"), "Qays": ("77", "1.5", "3")}


def remaining_compromise(name: str) -> Any:
    """What the two answers leave of somebody's salary."""
    most, mean = ANSWERS[name]
    return sievert.approximate_compromise([2 * mean - most, most], [0.5, 0.5])


def table_1(given: Given) -> PaperPart:
    """The two examples: what follows from a maximum and a mean."""
    given.step("table 1")
    return PaperPart(
        "Table 1: two examples",
        "Two people each time, their largest and their mean salary. The other salary follows, "
        "and the intruder does not know whose is which. Salaries are in thousands.",
        tuple(claim for name in ANSWERS for claim in _example(name)),
    )


def _example(name: str) -> tuple[Claim, ...]:
    (most, mean), (other, half, width) = ANSWERS[name], PRINTED[name]
    compromise = remaining_compromise(name)
    return (
        number(f"{name}: the other salary", other, 2 * mean - most),
        number(f"{name}: X0, the middle of the range", "78.5", most - compromise.range / 2),
        number(f"{name}: half the range", half, compromise.range / 2),
        number(f"{name}: range of approximate compromise", width, compromise.range),
        number(f"{name}: Shannon's entropy, bits", "1", compromise.initial_entropy),
    )


def figure_1(given: Given) -> PaperPart:
    """H(eps) of both examples."""
    given.step("figure 1")
    compromises = {name: remaining_compromise(name) for name in ANSWERS}
    layla, qays = compromises["Layla"], compromises["Qays"]
    reciprocal = {name: _reciprocal(name) for name in ANSWERS}
    return PaperPart(
        "Figure 1: what is left for every window",
        "H(eps) of the two examples. The figure is drawn without numbers; with two equal "
        "probabilities H is 1 bit until the window holds both salaries.",
        (
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
        (_picture(compromises),),
    )


def _reciprocal(name: str) -> float:
    most, mean = ANSWERS[name]
    pair = {"group": ["a", "a"], "salary": [f"{2 * mean - most:g}", f"{most:g}"]}
    return require_number(sievert.reciprocal_entropy(pair, "group", "salary"))


def _picture(compromises: dict[str, Any]) -> Picture:
    end = max(each.range for each in compromises.values())
    stairs = {name: [*each.steps, (end, 0.0)] for name, each in compromises.items()}
    return Picture(
        lines(
            "What is left of one bit",
            ("Salaries of 77 or 80, and of 50 or 107, in thousands",),
            stairs,
            across="Window, thousands",
            up="Bits",
            stair=True,
        ),
        "Both curves start at one bit. A window of 3 settles Qays' salary, and it takes one of 57 "
        "for Layla's: the area below the curve is the measure.",
        Grid(
            "Areas",
            ("name", "salaries", "H(0), bits", "eps_max", "area"),
            tuple(
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
