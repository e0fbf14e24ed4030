"""The ITPR paper: six measures of re-identification and inference, compared on small tables.

Everything is computed from tables that the paper prints or whose making it states; nothing is
random, so the seed has no effect.
"""

from sievert.papers.claims import Given, Paper
from sievert.papers.itpr import figures, formulas, inference, tables, verdicts
from sievert.papers.itpr.cases import measure_cases, worst_values

TAKES: tuple[str, ...] = ("timings",)


def paper(given: Given) -> Paper:
    """Every table and figure, in the order of the paper."""
    timed = figures.figure_6(given)  # first, so that a wrong file is told at once
    given.step("tables 1 to 3")
    parts = [tables.groups(), tables.description()]
    given.step("table 4")
    cases = measure_cases()
    parts += [tables.measurements(cases), verdicts.expectations(cases)]
    given.step("table 5")
    parts += [formulas.formulas(cases), tables.proposal(cases)]
    given.step("figures 1 and 2")
    two = figures.growing(2)
    ten = figures.growing(10)
    parts += [figures.figure_1(two), figures.figure_2(ten, two)]
    given.step("figures 3 and 4")
    inferred = inference.inference()
    worst = worst_values()
    parts += [inference.figure_3(inferred, worst), inference.figure_4(inferred)]
    given.step("figure 5")
    parts += [figures.figure_5(inference.surface()), timed]
    given.step("table 7")
    parts.append(
        verdicts.table_7(
            verdicts.MeasuredTables(cases=cases, two=two, ten=ten, inference=inferred), worst
        )
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
