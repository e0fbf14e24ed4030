"""Tables 1 to 4: what they print, beside the same numbers computed from the tables themselves."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from math import log2
from typing import Any

import sievert
from sievert.papers.claims import Claim, PaperPart, number, remark, require_number, statement
from sievert.papers.itpr.cases import (
    CASES,
    FIRST,
    FIRST_GROUP,
    SECOND,
    SECOND_GROUP,
    Cases,
    Columns,
    generalise,
    list_numbers,
)
from sievert.report.page import Paragraph

GROUPED = {
    "k": "k_anonymity",
    "l": "l_diversity",
    "t": "t_closeness",
    "chance of the likeliest disease": "max_confidence",
}
PRINTED_GROUPED = {1: ("3", "3", "0", "0.33"), 2: ("5", "3", "0", "0.60")}

# Table 4: the case, then DR, MI, CP, MIL and ELD as printed.
ROWS_4 = (
    ("age1", "1.0", "3.0", "0.875", "3.0", "1.0"),
    ("age2", "0.0", "0.0", "0.0", "0.0", "0.125"),
    ("age3", "0.18", "0.54", "0.31", "3.0", "1.0"),
    ("age4", "0.27", "0.81", "0.43", "2.75", "0.5"),
    ("age5", "0.33", "1.0", "0.5", "2.0", "0.25"),
    ("disease1", "0.33", "1.0", "0.5", "2.0", "0.25"),
    ("disease2", "0.36", "1.0", "0.5", "1.0", "0.35"),
    ("disease3", "0.35", "0.54", "0.31", "1.0", "1.0"),
)
COLUMNS_4 = ("DR", "MI", "CP", "MIL", "ELD")
CUT_OFF = "the third digit is cut off, not rounded"
MIL_WHY = {
    "disease2 MIL": "H(Disease) is 2.75 bits and the age 30 leaves 1.5: with its share, as rows 4 "
    "to 6 need it, 2.75 - 1.5/2 = 2. Readings that give 1 here do not give rows 4 to 6 (below)",
    "disease3 MIL": "everybody with the age 30 has Diabetes, so nothing is left to learn there and "
    "the largest leakage is all of H(Disease) = 1.549 bits, with the share or without it. The only "
    "reading that gives 1 gives 1 in row 6 as well, where 2.0 is printed (below)",
}


def groups() -> PaperPart:
    """Tables 1 and 2."""
    tables = {1: (generalise(FIRST), FIRST_GROUP), 2: (generalise(SECOND), SECOND_GROUP)}
    measured = {which: _group_measures(table) for which, (table, _) in tables.items()}
    one, two = measured.values()
    chance = "chance of the likeliest disease"
    return PaperPart(
        "Tables 1 and 2: what k, l and t do not see",
        "Two tables of diseases, generalised to three groups each. We generalise the printed "
        "records ourselves and measure the result: k-anonymity, l-diversity, t-closeness, and how "
        "likely the likeliest disease of a group is.",
        (
            *(
                claim
                for which, table in tables.items()
                for claim in (
                    _follows(which, *table),
                    *(
                        number(f"Table {which}b: {name}", printed, measured[which][name])
                        for name, printed in zip(GROUPED, PRINTED_GROUPED[which], strict=True)
                    ),
                )
            ),
            statement(
                "By k, l and t the second table is the better one (section 3.1)",
                "k is larger, l and t are equal",
                f"k {one['k']:.0f} and {two['k']:.0f}, l {one['l']:.0f} and {two['l']:.0f}, "
                f"t {one['t']:.0f} and {two['t']:.0f}",
                holds=two["k"] > one["k"] and two["l"] == one["l"] and two["t"] == one["t"],
                why="they do not say so",
            ),
            statement(
                "Whoever knows the group guesses the disease more easily in the second table",
                "0.60 against 0.33",
                f"{two[chance]:.2f} against {one[chance]:.2f}",
                holds=two[chance] > one[chance],
                why="the chance is not larger",
            ),
        ),
    )


def _group_measures(table: Columns) -> dict[str, float]:
    assessment = sievert.assess(table, ["zip", "age"], ["disease"], measures=GROUPED.values())
    values = {**assessment.inference["disease"], **assessment.reidentification}
    return {name: float(values[id_].value or 0) for name, id_ in GROUPED.items()}


def _follows(which: int, table: Columns, group: dict[str, int]) -> Claim:
    """Whether the generalised table is the printed one."""
    groups: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for zip_, age, disease in zip(*table.values(), strict=True):
        groups[zip_, age][disease] += 1
    printed = ", ".join(f"{n} {disease}" for disease, n in group.items())
    return statement(
        f"Table {which}b follows from table {which}a",
        f"three groups, each with {printed}",
        f"{len(groups)} groups of {', '.join(str(c.total()) for c in groups.values())} records",
        holds=len(groups) == 3 and all(c == group for c in groups.values()),
        why="the generalised records have other diseases",
    )


DIFFERENT = "all records contain unique values"
EQUAL = "all records contain the same value"
ONE = "only one record contains a different value"
DESCRIBED = (
    ("age1", "Age, case 1", DIFFERENT, (1,) * 8),
    ("age2", "Age, case 2", EQUAL, (8,)),
    ("age3", "Age, case 3", ONE, (7, 1)),
    ("age4", "Age, case 4", "only two records contain a different value", (6, 2)),
    ("age5", "Age, case 5", "half of the records contain one value, half another", (4, 4)),
    ("disease1", "Disease, case 1, as case 1 of Age", DIFFERENT, (1,) * 8),
    ("disease2", "Disease, case 2, as case 2 of Age", EQUAL, (8,)),
    ("disease3", "Disease, case 3, as case 3 of Age", ONE, (7, 1)),
)


def description() -> PaperPart:
    """Table 3 beside what the text says of its columns."""
    sizes = {
        column: tuple(sorted(Counter(values).values(), reverse=True))
        for column, values in CASES.items()
    }
    return PaperPart(
        "Table 3: the cases",
        "Eight records with five cases of Age and three of Disease. The text describes the cases "
        "in words; here each description stands beside the column that is printed.",
        tuple(
            statement(
                what,
                printed,
                f"values held by {', '.join(map(str, sizes[column]))} records",
                holds=sizes[column] == wanted,
                contradicts=True,
                why="the text says that Disease has the first three cases of Age; table 3 prints "
                "another column, and table 4 is computed from that one",
            )
            for column, what, printed, wanted in DESCRIBED
        ),
    )


def measurements(cases: Cases) -> PaperPart:
    """Table 4."""
    return PaperPart(
        title="Table 4: five measures of the cases",
        about="Rows 1 to 5 are about finding a record by its age, rows 6 to 8 about finding out "
        "the disease by case 5 of Age. DR is the discrimination rate, MI the mutual information, "
        "CP conditional privacy, MIL the maximum information leakage, ELD entropy l-diversity. "
        "MI and MIL are in bits. MIL and ELD are read as the other rows need them; the "
        "formulas are discussed below.",
        claims=tuple(
            number(
                f"{label(column)}: {name}",
                shown,
                cases.values[column][name],
                why=MIL_WHY.get(f"{column} {name}", CUT_OFF),
                contradicts=f"{column} {name}" in MIL_WHY,
            )
            for column, *printed in ROWS_4
            for name, shown in zip(COLUMNS_4, printed, strict=True)
        ),
        blocks=(_leakages(),),
    )


def _leakages() -> Paragraph:
    """MIL of rows 4 to 8 by every reading of I(X;Y=y)."""
    pairs = [("age4", "id"), ("age5", "id"), *(("age5", f"disease{n}") for n in (1, 2, 3))]
    rows = [_readings(CASES[known], CASES[secret]) for known, secret in pairs]
    return remark(
        "MIL of rows 4 to 8, printed 2.75, 2.0, 2.0, 1.0 and 1.0, by reading",
        "none gives the five",
        "; ".join(f"{name} {list_numbers([row[name] for row in rows])}" for name in rows[0]),
    )


def _readings(known: list[Any], secret: list[Any]) -> dict[str, float]:
    terms = list(_terms(known, secret))
    reverse = _terms(secret, known)
    return {
        "with the share of the class": max(h - p * own for h, p, own, _ in terms),
        "without it": max(h - own for h, _, own, _ in terms),
        "as the divergence of the class from the table": max(far for *_, far in terms),
        "about the age by the secret": max(h - p * own for h, p, own, _ in reverse),
    }


def _terms(known: list[Any], secret: list[Any]) -> Iterator[tuple[float, float, float, float]]:
    """Of each class H(X), its share, H(X|Y=y) and its divergence from the table, in bits."""
    n = len(secret)
    whole = Counter(secret)
    entropy = sum(c / n * log2(n / c) for c in whole.values())
    for value, size in Counter(known).items():
        own = Counter(x for y, x in zip(known, secret, strict=True) if y == value)
        yield (
            entropy,
            size / n,
            sum(c / size * log2(size / c) for c in own.values()),
            sum(c / size * log2(c / size * n / whole[x]) for x, c in own.items()),
        )


def label(column: str) -> str:
    """How a row is called.

    >>> label("age3"), label("disease1")
    ('Age case 3', 'Age case 5, Disease case 1')
    """
    case = column[-1]
    return f"Age case {case}" if column[:3] == "age" else f"Age case 5, Disease case {case}"


# Table 5: the columns, the secret (None: the record), what is printed.
ROWS_5 = (
    (("age1",), None, "1.0"),
    (("age2",), None, "0.0"),
    (("age3",), None, "1.0"),
    (("age4",), None, "0.83"),
    (("age5",), None, "0.33"),
    (("age2", "zip1"), None, "0.6"),
    (("age2", "zip2"), None, "0.75"),
    (("age5",), "disease1", "0.33"),
    (("age5",), "disease2", "0.45"),
    (("age5",), "disease3", "1.0"),
)


def proposal(cases: Cases) -> PaperPart:
    """Tables 5 and 6."""
    zips = {which: require_number(sievert.itpr(CASES, ["age2", f"zip{which}"])) for which in (1, 2)}
    rows = {
        **{name: (label(name), numbers["ITPR"]) for name, numbers in cases.values.items()},
        **{f"zip{n}": (f"Age case 2 with Zip Code case {n}", zips[n]) for n in zips},
    }
    return PaperPart(
        "Tables 5 and 6: ITPR of the cases",
        "The measure that the paper proposes, on the same cases and on two columns together: case "
        "2 of Age with the two cases of Zip Code that table 6 prints.",
        (
            *(
                number(f"Row {row}, {what}: ITPR", printed, ours)
                for row, (columns, secret, printed) in enumerate(ROWS_5, start=1)
                for what, ours in (rows[secret or columns[-1]],)
            ),
            number(
                "Row 7 as it is labelled, with case 1 of Zip Code",
                "0.75",
                zips[1],
                contradicts=True,
                why="rows 6 and 7 have the same label and different numbers; 0.75 is that of case "
                "2",
            ),
            *_statements(cases, zips),
        ),
    )


def _statements(cases: Cases, zips: dict[int, float]) -> list[Claim]:
    ages = cases.ages("ITPR")
    diseases = cases.diseases("ITPR")
    one, two, three, four, five = ages
    return [
        statement(
            "ITPR orders the cases of Age as section 3.3 expects",
            "cases 1 and 3 highest, case 2 lowest, 3 above 4 above 5",
            list_numbers(ages),
            holds=one == three == max(ages) and two == min(ages) and three > four > five,
            why="the values are in another order",
        ),
        statement(
            "ITPR orders the cases of Disease as section 3.3 expects",
            "case 1 below case 2 below case 3",
            list_numbers(diseases),
            holds=diseases[0] < diseases[1] < diseases[2],
            why="the values are in another order",
        ),
        statement(
            "Rows 6 and 7: a zip code that splits more is riskier",
            "case 2 of Zip Code above case 1",
            list_numbers((zips[1], zips[2])),
            holds=zips[2] > zips[1],
            why="the values are in another order",
        ),
    ]
