"""The ITPR paper: six measures of re-identification and inference, compared on small tables.

Everything is computed from tables that the paper prints or whose making it states; nothing is
random, so the seed has no effect.
"""

from __future__ import annotations

from sievert.papers.claims import Given, Paper
from sievert.papers.itpr import (
    formulas,
    generated,
    inferring,
    ranges,
    reidentifying,
    surface,
    tables,
    timing,
    verdicts,
)
from sievert.papers.itpr.common import cases

TAKES: tuple[str, ...] = ("timings",)


def paper(given: Given) -> Paper:
    """Every table and figure, in the order of the paper."""
    timed = timing.figure_6(given)  # first, so that a wrong file is told at once
    given.step("tables 1 to 3")
    parts = [tables.groups(), tables.description()]
    given.step("table 4")
    measured_cases = cases()
    parts += [tables.measurements(measured_cases), verdicts.expectations(measured_cases)]
    given.step("table 5")
    parts += [formulas.formulas(measured_cases), tables.proposal(measured_cases)]
    given.step("figures 1 and 2")
    two, ten = reidentifying.growing(2), reidentifying.growing(10)
    parts += [reidentifying.figure_1(two), reidentifying.figure_2(ten)]
    given.step("figures 3 and 4")
    inference, worst = generated.inference(), ranges.worst()
    parts += [inferring.figure_3(inference, worst), inferring.figure_4(inference)]
    given.step("figure 5")
    parts.append(surface.figure_5(generated.surface()))
    parts.append(timed)
    given.step("table 7")
    parts.append(
        verdicts.table_7(verdicts.MeasuredTables(measured_cases, two, ten, inference), worst)
    )
    return Paper(
        name="itpr",
        title="Information Theoretic-based Privacy Risk Evaluation for Data Anonymization",
        source="Manuscript without authors' names, 2019 (ACSAC '19)",
        about="The paper proposes ITPR, a measure of the worst class, and compares it with five "
        "other measures on eight records and on generated tables of 10,000. Its tables and the "
        "ends of figure 1 are fixed by the text; figures 2 to 5 need a reading, which is stated "
        "with each. It uses no real data.",
        parts=tuple(parts),
    )
