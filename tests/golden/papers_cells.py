"""The example tables of two papers and the 72 numbers they give for them, typed in.

Sources: the ITPR paper (tables 1 to 5 and figure 1) and the slides on the discrimination rate (DR).
Each cell has what is printed there and the exact value under our definition. Five printed numbers
do not follow from the printed tables; `contradiction` says why, and the exact value stands.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

Columns = dict[str, list[Any]]

TABLES: dict[str, Columns] = {
    "itpr.table3": {
        "id": ["#1", "#2", "#3", "#4", "#5", "#6", "#7", "#8"],
        "age1": [30, 62, 37, 21, 19, 47, 71, 73],
        "age2": [30] * 8,
        "age3": [30, 30, 30, 47, 30, 30, 30, 30],
        "age4": [30, 30, 30, 47, 30, 47, 30, 30],
        "age5": [30, 30, 30, 30, 47, 47, 47, 47],
        "disease1": [
            "Diabetes",
            "Epilepsy",
            "Asthma",
            "Allergies",
            "Depression",
            "HIV",
            "Heart Disease",
            "Cancer",
        ],
        "disease2": [
            "Diabetes",
            "Diabetes",
            "Epilepsy",
            "Depression",
            "HIV",
            "Heart Disease",
            "Cancer",
            "Allergies",
        ],
        "disease3": ["Diabetes"] * 5 + ["HIV", "Asthma", "Allergies"],
        "zip1": ["35000"] * 3 + ["35510"] * 5,
        "zip2": ["35000"] * 3 + ["35510"] * 3 + ["35200"] * 2,
    },
    "itpr.table1": {
        "zip": ["3551*"] * 3 + ["3559*"] * 3 + ["352*"] * 3,
        "age": ["2*"] * 3 + ["4*"] * 3 + ["3*"] * 3,
        "disease": ["Asthma", "Diabetes", "HIV"] * 3,
    },
    "itpr.table2": {
        "zip": ["3551*"] * 5 + ["3559*"] * 5 + ["352*"] * 5,
        "age": ["2*"] * 5 + ["4*"] * 5 + ["3*"] * 5,
        "disease": ["Asthma", "Diabetes", "Diabetes", "HIV", "Diabetes"] * 3,
    },
    "dr.example": {
        "zip": ["35000"] * 9,
        "age": [22, 35, 63, 22, 22, 35, 45, 35, 40],
        "salary": ["4K", "5K", "3K", "13K", "8K", "15K", "9K", "7K", "11K"],
        "disease": [
            "cancer",
            "diabetes",
            "malaria",
            "cancer",
            "cancer",
            "malaria",
            "malaria",
            "diabetes",
            "diabetes",
        ],
    },
    "dr.identity": {
        "age": [22, 22, 22, 45, 63, 40, 35, 35, 32],
        "age_star": ["2*"] * 3 + [">=40"] * 3 + ["3*"] * 3,
    },
    "dr.kanon": {
        "age_star": ["2*"] * 3 + [">=40"] * 3 + ["3*"] * 3,
        "disease": [
            "lung cancer",
            "lung cancer",
            "lung cancer",
            "stomach cancer",
            "diabetes",
            "flu",
            "aids",
            "aids",
            "diabetes",
        ],
    },
    "dr.ldiv": {
        "zip_star": ["355**"] * 3 + ["3581*"] * 3 + ["355**"] * 3,
        "age_star": ["2*"] * 3 + [">=40"] * 3 + ["3*"] * 3,
        "salary": ["4K", "5K", "6K", "7K", "12K", "9K", "8K", "10K", "11K"],
        "disease": [
            "colon cancer",
            "stomach cancer",
            "lung cancer",
            "stomach cancer",
            "diabetes",
            "aids",
            "aids",
            "flu",
            "lung cancer",
        ],
    },
}


class Cell(NamedTuple):
    """One printed number: where it stands, what it measures, and what it should be."""

    source: str
    measure: str
    table: str
    target: str | None
    """"id": the record (re-identification); None: a class measure; else the secret's column."""
    given: tuple[str, ...]
    printed: float | None
    exact: float
    value: str | None = None
    """The quasi-identifier's value, for the discrimination rate of a value."""
    contradiction: str | None = None

    @property
    def label(self) -> str:
        of_value = "" if self.value is None else f" of {self.value}"
        return f"{self.source}: {self.measure}{of_value}"


MIL_CONTRADICTS = "no one reading of the measure gives this row's 1.0 and also the rows above"
DR_CONTRADICTS = "the printed rate cannot be computed from the table printed beside it"

TABLE_4_MEASURES = (
    "discrimination_rate",
    "mutual_information",
    "conditional_privacy",
    "maximum_information_leakage",
    "entropy_l_diversity",
)

# Row, target, quasi-identifier, then (printed, exact) for each of the five measures above.
TABLE_4: list[tuple[int, str, str, list[tuple[float, float]]]] = [
    (1, "id", "age1", [(1, 1.0), (3, 3.0), (0.875, 0.875), (3, 3.0), (1, 1.0)]),
    (2, "id", "age2", [(0, 0.0), (0, 0.0), (0, 0.0), (0, 0.0), (0.125, 0.125)]),
    (
        3,
        "id",
        "age3",
        [
            (0.18, 0.181188147733),
            (0.54, 0.5435644432),
            (0.31, 0.313926257897),
            (3, 3.0),
            (1, 1.0),
        ],
    ),
    (
        4,
        "id",
        "age4",
        [
            (0.27, 0.270426041486),
            (0.81, 0.811278124459),
            (0.43, 0.430123235761),
            (2.75, 2.75),
            (0.5, 0.5),
        ],
    ),
    (5, "id", "age5", [(0.33, 0.333333333333), (1, 1.0), (0.5, 0.5), (2, 2.0), (0.25, 0.25)]),
    (6, "disease1", "age5", [(0.33, 0.333333333333), (1, 1.0), (0.5, 0.5), (2, 2.0), (0.25, 0.25)]),
    (
        7,
        "disease2",
        "age5",
        [(0.36, 0.363636363636), (1, 1.0), (0.5, 0.5), (1, 2.0), (0.35, 0.353553390593)],
    ),
    (
        8,
        "disease3",
        "age5",
        [
            (0.35, 0.354336733854),
            (0.54, 0.548794940695),
            (0.31, 0.31640911787),
            (1, 1.548794940695),
            (1, 1.0),
        ],
    ),
]
TABLE_4_CONTRADICTIONS = {
    (7, "maximum_information_leakage"): MIL_CONTRADICTS,
    (8, "maximum_information_leakage"): MIL_CONTRADICTS,
}

# Row, target, quasi-identifiers, printed, exact.
TABLE_5: list[tuple[int, str, tuple[str, ...], float, float]] = [
    (1, "id", ("age1",), 1, 1.0),
    (2, "id", ("age2",), 0, 0.0),
    (3, "id", ("age3",), 1, 1.0),
    (4, "id", ("age4",), 0.83, 0.833333333333),
    (5, "id", ("age5",), 0.33, 0.333333333333),
    (6, "id", ("age2", "zip1"), 0.6, 0.60375937482),
    (7, "id", ("age2", "zip2"), 0.75, 0.75),
    (8, "disease1", ("age5",), 0.33, 0.333333333333),
    (9, "disease2", ("age5",), 0.45, 0.454545454545),
    (10, "disease3", ("age5",), 1, 1.0),
]

# Table, measure, target, printed, exact; the quasi-identifiers are zip and age.
TABLES_1_AND_2: list[tuple[int, str, str | None, float, float]] = [
    (1, "k_anonymity", None, 3, 3),
    (1, "l_diversity", "disease", 3, 3),
    (1, "t_closeness", "disease", 0, 0),
    (1, "max_confidence", "disease", 0.33, 0.333333333333),
    (2, "k_anonymity", None, 5, 5),
    (2, "l_diversity", "disease", 3, 3),
    (2, "t_closeness", "disease", 0, 0),
    (2, "max_confidence", "disease", 0.6, 0.6),
]

# Table, target, value of age_star (None: the whole column), printed, exact, contradiction.
SLIDES: list[tuple[str, str, str | None, float, float, str | None]] = [
    ("dr.identity", "age", "2*", 1, 1.0, None),
    ("dr.identity", "age", ">=40", 0.78, 0.781629835453, None),
    ("dr.identity", "age", "3*", 0.87, 0.873480658189, None),
    ("dr.identity", "age", None, 0.66, 0.655110493642, None),
    ("dr.kanon", "disease", "2*", 1, 1.0, None),
    ("dr.kanon", "disease", ">=40", 0.7, 0.759543729142, DR_CONTRADICTS),
    ("dr.kanon", "disease", "3*", 0.83, 0.860684406287, DR_CONTRADICTS),
    ("dr.kanon", "disease", None, 0.52, 0.620228135429, DR_CONTRADICTS),
    ("dr.ldiv", "disease", "2*", 0.78, 0.788946739442, None),
    ("dr.ldiv", "disease", ">=40", 0.78, 0.788946739442, None),
    ("dr.ldiv", "disease", "3*", 0.78, 0.788946739442, None),
    ("dr.ldiv", "disease", None, 0.36, 0.366840218326, None),
]


def _cells() -> Iterator[Cell]:
    for row, target, column, numbers in TABLE_4:
        for measure, (printed, exact) in zip(TABLE_4_MEASURES, numbers, strict=True):
            yield Cell(
                f"ITPR paper, table 4 row {row}",
                measure,
                "itpr.table3",
                target,
                (column,),
                printed,
                exact,
                contradiction=TABLE_4_CONTRADICTIONS.get((row, measure)),
            )
    for row, target, given, printed, exact in TABLE_5:
        source = f"ITPR paper, table 5 row {row}"
        yield Cell(source, "itpr", "itpr.table3", target, given, printed, exact)
    for number, measure, secret, printed, exact in TABLES_1_AND_2:
        source, table = f"ITPR paper, table {number}", f"itpr.table{number}"
        yield Cell(source, measure, table, secret, ("zip", "age"), printed, exact)
    # Every salary of this table is different, so finding the salary is finding the record.
    yield Cell(
        "DR slides, SDR computation",
        "discrimination_rate",
        "dr.example",
        "salary",
        ("age",),
        0.66,
        0.666666666667,
    )
    yield Cell(
        "DR slides, CDR (not printed)",
        "discrimination_rate",
        "dr.example",
        "salary",
        ("age", "disease"),
        None,
        0.763230027381,
    )
    for table, target, value, printed, exact, contradiction in SLIDES:
        whole = value is None
        yield Cell(
            f"DR slides, {table}",
            "discrimination_rate" if whole else "discrimination_rate_of_value",
            table,
            target,
            ("age_star",),
            printed,
            exact,
            value,
            contradiction,
        )


CELLS: list[Cell] = list(_cells())

# ITPR paper, figure 1: 10,000 records, the record as target, two values of the quasi-identifier.
# Sizes of the two classes, and ITPR. The text states 1 at the skewed end and 0.07 at the even one.
FIGURE_1: list[tuple[int, int, float]] = [
    (1, 9999, 1.0),
    (10, 9990, 0.9995),
    (100, 9900, 0.99),
    (1000, 9000, 0.85),
    (2500, 7500, 0.5752574989159953),
    (5000, 5000, 0.07525749891599531),
]
FIGURE_1_PRINTED: list[tuple[int, int, float]] = [(1, 9999, 1), (5000, 5000, 0.07)]
