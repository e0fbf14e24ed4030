"""What the formulas say as they are printed, and which reading the tables need."""

from collections import Counter

import sievert
from sievert.papers.claims import Claim, PaperPart, number, require_number, statement
from sievert.papers.itpr.cases import CASES, SAME, Cases, Columns
from sievert.papers.itpr.tables import ROWS_5, label
from sievert.report.page import Grid

Shares = tuple[tuple[float, float], ...]  # of each class: its share of the records, H(X|Y=y)
IDENTITIES = ("entropy", "conditional_entropy", "joint_entropy", "mutual_information")


def _classes(quasi: str, secret: str) -> tuple[float, Shares]:
    """H(X), and of each class its share of the records and the entropy inside it."""
    whole = require_number(sievert.entropy(CASES, [quasi], secret))
    shares = {value: n / len(CASES[quasi]) for value, n in Counter(CASES[quasi]).items()}
    return whole, tuple(
        (shares[value], (1 - float(rate or 0)) * whole / shares[value])
        for (value,), rate in sievert.discrimination_rate_by_value(CASES, [quasi], secret).items()
    )


def _literal(whole: float, classes: Shares) -> float:
    """Equation (10) with the entropy inside the class, as it is printed."""
    return max(1 - len(classes) * inside / whole for _, inside in classes)


def _largest(whole: float, classes: Shares) -> float:
    """ITPR if it took the largest entropy of a class, as the words of section 4 have it."""
    return 1 - len(classes) * max(share * inside for share, inside in classes) / whole


def formulas(cases: Cases) -> PaperPart:
    """Readings of equations (4) to (10)."""
    classes_by_row = {
        row: _classes(columns[0], secret or "id") for row, columns, secret in _single()
    }
    case3 = classes_by_row[3]
    case4 = classes_by_row[4]
    case5 = classes_by_row[5]
    return PaperPart(
        title="Section 4: how the formulas are to be read",
        about="Some formulas do not give the paper's own tables when they are read as they are "
        "printed. Each is tried here on a row that tells the readings apart.",
        claims=(
            *_identities(),
            number(
                "Table 5 row 5 by equation (10) as printed",
                "0.33",
                _literal(*case5),
                contradicts=True,
                why="four records leave H(X|Y=y) = 2 of 3 bits, and 1 - 2 x 2/3 is below 0, out of "
                "the stated range. H(X|Y=y) must be the share p(y) H(X|Y=y), the term of y in "
                "equation (2): with it all ten rows of table 5 come out",
            ),
            number(
                "Table 4 row 4, MIL by equation (8) without the share",
                "2.75",
                case4[0] - min(inside for _, inside in case4[1]),
                contradicts=True,
                why="I(X;Y=y) is H(X) - H(X|Y=y) = 3 - 1 = 2, and 2 as well as the divergence "
                "log2(8/2) of the class from the table; 2.75 needs the share of the class: "
                "3 - (2/8) 1",
            ),
            number(
                "Table 4 row 3, ELD by the formula as printed",
                "1.0",
                2 ** -max(inside for _, inside in case3[1]),
                contradicts=True,
                why="the least sum of p log p is that of the largest entropy, log2(7) of the seven "
                "records alike, and 2^-log2(7) = 1/7; table 4 needs the smallest, 2^(-min H)",
            ),
            number(
                "Table 5 row 3 with the largest entropy of a class, as the words of section 4 say",
                "1.0",
                _largest(*case3),
                contradicts=True,
                why="equation (10) is the largest of 1 - 2h/H, which takes the smallest entropy h, "
                "and so do the tables; the largest leaves the stated range from 0 to 1",
            ),
            *_ranges(case5, cases),
        ),
        blocks=(_readings(classes_by_row, cases),),
    )


def _single() -> list[tuple[int, tuple[str, ...], str | None]]:
    """The rows of table 5 with one column."""
    rows = enumerate(ROWS_5, start=1)
    return [(row, columns, secret) for row, (columns, secret, _) in rows if len(columns) == 1]


def _identities() -> list[Claim]:
    """Equation (6) in its three forms, and that it is 0 for independent columns."""
    assessment = sievert.assess(CASES, ["age5"], ["disease3"], measures=IDENTITIES)
    entropy, given, joint, mutual = (
        float(assessment.inference["disease3"][name].value or 0) for name in IDENTITIES
    )
    age = require_number(sievert.entropy(CASES, ["disease3"], "age5"))
    alone = require_number(sievert.mutual_information(_independent(3), ["y"], "x"))
    return [
        statement(
            "Equation (6): mutual information in its forms",
            "H(X) - H(X|Y) = H(X) + H(Y) - H(X,Y)",
            f"{mutual:.6f}, {entropy - given:.6f}, {entropy + age - joint:.6f}",
            holds=abs(entropy - given - mutual) < SAME
            and abs(entropy + age - joint - mutual) < SAME,
            why="the forms differ",
        ),
        statement(
            "Mutual information of independent columns",
            "equal to zero",
            f"{alone:g}",
            holds=alone == 0,
            why="it is not zero",
        ),
    ]


def _independent(values: int) -> Columns:
    """A secret of two values, distributed evenly in each of `values` equal classes."""
    return {
        "y": [f"y{i}" for i in range(values) for _ in "ab"],
        "x": ["a", "b"] * values,
    }


def _ranges(case5: tuple[float, Shares], cases: Cases) -> list[Claim]:
    """What section 4 says of the ranges of equations (9) and (10)."""
    two, three = (
        require_number(sievert.itpr_unnormalized(_independent(m), ["y"], "x")) for m in (2, 3)
    )
    whole, classes = case5
    leakage = max(1 - share * inside / whole for share, inside in classes)
    most = require_number(sievert.itpr_unnormalized(CASES, ["age3"]))
    itpr = [numbers["ITPR"] for numbers in cases.values.values()]
    return [
        number("Equation (9), least for two values of Y", "0.5", two),
        number("Equation (9), least for three values of Y", "0.66", three),
        number("Equation (9), most (case 3 of Age)", "1.0", most),
        statement(
            "Case 5 of Age lies in the range for two values",
            "between 0.5 and 1.0",
            f"{leakage:.4f}; {1 - classes[0][1] / whole:.4f} without the share",
            holds=0.5 <= leakage <= 1,
            why="it lies outside",
        ),
        statement(
            "Equation (10) is normalised",
            "between 0 and 1.0",
            f"{min(itpr):.4f} to {max(itpr):.4f} with the share",
            holds=min(itpr) >= 0 and max(itpr) <= 1,
            why="it leaves the range",
        ),
    ]


def _readings(classes_by_row: dict[int, tuple[float, Shares]], cases: Cases) -> Grid:
    return Grid(
        caption="ITPR with the share of the class, and by equation (10) as printed",
        head=("Table 5", "Printed", "With the share", "As printed"),
        rows=tuple(
            (
                f"Row {row}, {label(secret or columns[0])}",
                ROWS_5[row - 1][2],
                f"{cases.values[secret or columns[0]]['ITPR']:.4f}",
                f"{_literal(*classes_by_row[row]) + 0.0:.4f}",
            )
            for row, columns, secret in _single()
        ),
        right=(1, 2, 3),
    )
