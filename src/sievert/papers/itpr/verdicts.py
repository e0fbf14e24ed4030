"""What the paper says of each measure, as orderings: section 3.3 and table 7."""

from dataclasses import dataclass

import sievert
from sievert.papers.claims import Claim, PaperPart, require_number, statement
from sievert.papers.itpr.cases import (
    IDS,
    RISES,
    SAME,
    Cases,
    Columns,
    Series,
    hardly_moves,
    interpretation,
    list_numbers,
)
from sievert.papers.itpr.inference import SHARED, Inference
from sievert.report.page import Grid

OTHERS = tuple(name for name in IDS if name != "ITPR")
HIGH_1 = "Age case 1 highest"
LOW_2 = "Age case 2 lowest"
HIGH_3 = "Age case 3 highest"
ORDER_345 = "Age case 3 above 4 above 5"
LOW_D1 = "Disease case 1 lowest"
ORDER_D23 = "Disease case 2 below 3"
RECORD = "re-identification"
SECRET = "inference"


def expected_of_ages(values: tuple[float, ...]) -> dict[str, bool]:
    """What section 3.3 expects of cases 1 to 5 of Age."""
    one, two, three, four, five = values
    high = max(values) - SAME
    low = min(values) + SAME
    return {
        HIGH_1: one >= high,
        LOW_2: two <= low,
        HIGH_3: three >= high,
        ORDER_345: three > four + SAME and four > five + SAME,
    }


def expected_of_diseases(values: tuple[float, ...]) -> dict[str, bool]:
    """What section 3.3 expects of cases 1 to 3 of Disease."""
    one, two, three = values
    return {
        LOW_D1: one < two - SAME and one < three - SAME,
        ORDER_D23: two < three - SAME,
    }


def expectations(cases: Cases) -> PaperPart:
    """Section 3.3, sentence by sentence and measure by measure: a long list, one claim each."""
    ages = {name: expected_of_ages(cases.ages(name)) for name in IDS}
    diseases = {name: expected_of_diseases(cases.diseases(name)) for name in IDS}
    rows = tuple(
        (name, *(("yes" if met else "no") for met in (ages[name] | diseases[name]).values()))
        for name in IDS
    )
    head = ("Measure", *expected_of_ages((0.0,) * 5), *expected_of_diseases((0.0,) * 3))
    return PaperPart(
        title="Section 3.3: which measure orders the cases as expected",
        about="The paper expects the highest risk for cases 1 and 3 of Age, the lowest for case 2, "
        "case 3 above 4 above 5; and of Disease case 1 below case 2 below case 3. Then it says "
        "which measure meets this. Each sentence is decided by the computed values, in the order "
        "of the cases.",
        claims=(
            *(
                _statement(
                    f"{n} is right on cases 1 and 2 of Age",
                    "correct",
                    cases.ages(n),
                    holds=ages[n][HIGH_1] and ages[n][LOW_2],
                )
                for n in ("DR", "MI", "MIL")
            ),
            *(
                _statement(
                    f"{n} gives case 3 of Age less than case 5",
                    "fails",
                    cases.ages(n),
                    holds=cases.ages(n)[2] < cases.ages(n)[4] - SAME,
                )
                for n in ("DR", "MI", "MIL")
            ),
            _statement(
                "CP is right on case 2 of Age", "correct", cases.ages("CP"), holds=ages["CP"][LOW_2]
            ),
            _statement(
                "CP is wrong on case 1 of Age",
                "fails",
                cases.ages("CP"),
                holds=not ages["CP"][HIGH_1],
            ),
            _statement(
                "CP is wrong on cases 3, 4 and 5 of Age",
                "fails",
                cases.ages("CP"),
                holds=not ages["CP"][ORDER_345],
            ),
            _statement(
                "ELD is right on all cases of Age",
                "correct",
                cases.ages("ELD"),
                holds=all(ages["ELD"].values()),
            ),
            _statement(
                "ELD is right on all cases of Disease",
                "correct",
                cases.diseases("ELD"),
                holds=all(diseases["ELD"].values()),
            ),
            *(
                _statement(
                    f"{n} is right on case 1 of Disease",
                    "correct",
                    cases.diseases(n),
                    holds=diseases[n][LOW_D1],
                )
                for n in OTHERS
            ),
            *(
                _statement(
                    f"{n} is wrong on cases 2 and 3 of Disease",
                    "fails",
                    cases.diseases(n),
                    holds=not all(diseases[n].values()),
                )
                for n in OTHERS
            ),
        ),
        blocks=(Grid(caption="Expectations met, by the computed values", head=head, rows=rows),),
    )


WHY_SAID = {
    "MIL gives case 3 of Age less than case 5": "table 4 prints 3.0, 2.75 and 2.0 for cases 3, 4 "
    "and 5: MIL is in the expected order, and table 7 counts it as correct",
    "CP is wrong on case 1 of Age": "table 4 prints 0.875 for case 1, the most of the five; "
    "by equation (7) CP = 1 - 2^-MI orders everything as MI does, which the text calls right here",
    "MI is right on case 1 of Disease": "table 4 prints 1.0, 1.0 and 0.54 for the three cases, "
    "where case 1 is to be below the others",
    "CP is right on case 1 of Disease": "table 4 prints 0.5, 0.5 and 0.31 for the three cases, "
    "where case 1 is to be below the others",
    "MIL is right on case 1 of Disease": "table 4 prints 2.0, 1.0 and 1.0 for the three cases, "
    "where case 1 is to be below the others; as computed, too, it is not",
    "ELD is wrong on cases 2 and 3 of Disease": "table 4 prints 0.25, 0.35 and 1.0, as expected, "
    "and the paragraph before says that ELD is right on all cases",
}


def _statement(what: str, printed: str, values: tuple[float, ...], *, holds: bool) -> Claim:
    why = WHY_SAID.get(what, "the values are in another order")
    return statement(
        what, printed, list_numbers(values), holds=holds, why=why, contradicts=what in WHY_SAID
    )


@dataclass(frozen=True)
class MeasuredTables:
    """Everything that the verdicts of table 7 rest on."""

    cases: Cases
    two: Series
    ten: Series
    inference: Inference

    def orderings(self, name: str, risk: str) -> dict[str, bool]:
        """Every ordering that the paper expects of a correct measure, and whether it is met."""
        if risk == RECORD:
            return {
                **expected_of_ages(self.cases.ages(name)),
                "rises with epsilon, two values": self.two.goes(name) == RISES,
                "rises with epsilon, ten values": self.ten.goes(name) == RISES,
            }
        inference = self.inference
        return {
            **expected_of_diseases(self.cases.diseases(name)),
            "rises with lambda": inference.growing[SHARED].goes(name) == RISES,
            "rises with theta, one age drifts": inference.drifting.goes(name) == RISES,
            "rises with theta, ages move apart": inference.moving.goes(name) == RISES,
        }


# Table 7: re-identification, inference; a mark in brackets is "correct, but hard interpretation".
YES = "correct"
BRACKETS = "correct, hard interpretation"
NO = "not correct"
MARKS = {
    "DR": (NO, BRACKETS),
    "MI": (NO, BRACKETS),
    "CP": (NO, BRACKETS),
    "MIL": (BRACKETS, NO),
    "ELD": (BRACKETS, NO),
    "ITPR": (YES, YES),
}


def table_7(tried: MeasuredTables, worst: dict[str, tuple[float, float]]) -> PaperPart:
    """Every mark as orderings, then every bracket, then that ITPR stands alone."""
    alone = [
        name
        for name in IDS
        if all(all(tried.orderings(name, risk).values()) for risk in (RECORD, SECRET))
    ]
    return PaperPart(
        title="Table 7: which measure is correct",
        about="A mark holds if the measure meets every ordering that the paper itself expects: the "
        "cases of section 3.3, figures 1 and 2 for finding a record, figure 3 and both readings of "
        "figure 4 for finding out the disease. A cross holds if it fails one of them. "
        "That of ELD rests on the second reading of figure 4 alone.",
        claims=(
            *(
                _mark(name, risk, mark, tried.orderings(name, risk))
                for name, marks in MARKS.items()
                for risk, mark in zip((RECORD, SECRET), marks, strict=True)
            ),
            *(
                interpretation(name, worst, where="table 7")
                for name, marks in MARKS.items()
                if BRACKETS in marks and name != "ELD"
            ),
            hardly_moves(
                tried.two, "ELD is hard to read: by section 5.1 it hardly moves (table 7)"
            ),
            statement(
                "ITPR alone assesses both risks (abstract, section 6)",
                "the only measure",
                f"every ordering is met by {', '.join(alone) or 'none'}",
                holds=alone == ["ITPR"],
                why="the orderings are met by other measures too, or not by ITPR",
            ),
        ),
        blocks=(_orderings(tried, RECORD), _orderings(tried, SECRET), _beyond()),
    )


def _mark(name: str, risk: str, mark: str, met: dict[str, bool]) -> Claim:
    failed = [what for what, holds in met.items() if not holds]
    return statement(
        f"{name}, {risk}",
        mark,
        f"fails: {'; '.join(failed)}" if failed else "meets every ordering",
        holds=bool(failed) == (mark == NO),
        contradicts=True,
        why="section 3.3 says that the measure fails on rows 7 and 8 of table 4, and the printed "
        "numbers of these rows are in another order than it expects; the figures alone would bear "
        "the mark out"
        if failed
        else "it meets every ordering that the paper expects",
    )


def _orderings(tried: MeasuredTables, risk: str) -> Grid:
    met = {name: tried.orderings(name, risk) for name in MARKS}
    rows = tuple(
        (what, *("yes" if met[name][what] else "no" for name in MARKS)) for what in met["ITPR"]
    )
    return Grid(caption=f"Orderings met, {risk}", head=("Ordering", *MARKS), rows=rows)


def _beyond() -> Grid:
    """Tables on which ITPR misleads; the paper does not try any of them."""
    secret = ["a", "b"] * 10
    tables: dict[str, Columns] = {
        "Six records, three classes of 2": {"y": [f"y{i // 2}" for i in range(6)]},
        "The same, two classes merged: 2 and 4": {"y": ["y0"] * 2 + ["y1"] * 4},
        "Ten equal classes that tell nothing of the secret": {
            "y": [f"y{i // 2}" for i in range(20)],
            "x": secret,
        },
        "The same, nine of them merged": {"y": ["y0"] * 2 + ["rest"] * 18, "x": secret},
    }
    return Grid(
        caption="Not tried in the paper: merging values makes nobody easier to find, yet "
        "ITPR can rise",
        head=("Table", "ITPR", "DR"),
        rows=tuple(
            (
                what,
                *(
                    f"{require_number(f(table, *table)) + 0.0:.4f}"
                    for f in (sievert.itpr, sievert.discrimination_rate)
                ),
            )
            for what, table in tables.items()
        ),
        right=(1, 2),
    )
