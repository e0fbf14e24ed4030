"""The attacks on tables of nine people: identity, homogeneity, background knowledge, the rest."""

import math

import sievert
from sievert.charts import Bar, bars
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
from sievert.papers.discrimination_rate.rates import (
    BEFORE,
    CANCERS,
    EXPLAINS,
    GENERALISED,
    K_ANONYMOUS,
    L_DIVERSE,
    SECOND,
    VALUES,
)
from sievert.papers.given_tables import Columns
from sievert.report.page import Grid, Paragraph, Picture

WHOLE = "Age*"
IDENTITY = {"2*": "1", ">=40": "0.78", "3*": "0.87", WHOLE: "0.66"}
HOMOGENEITY = {
    "3-anonymous": {"2*": "1", ">=40": "0.70", "3*": "0.83", WHOLE: "0.52"},
    "3-diverse": {"2*": "0.78", ">=40": "0.78", "3*": "0.78", WHOLE: "0.36"},
}
BACKGROUND = {
    "3-anonymous": {"2*": "0", ">=40": "0.30", "3*": "0.17", WHOLE: "0.48"},
    "3-diverse": {"2*": "0.22", ">=40": "0.22", "3*": "0.22", WHOLE: "0.64"},
}
RELEASES = {"3-anonymous": K_ANONYMOUS, "3-diverse": L_DIVERSE}
EXCLUDED = (
    "the 3-anonymity table above has stomach cancer, diabetes, flu in >=40 and aids, aids, "
    "diabetes in 3*, and H(Disease) of 2.197 bits; the printed values together need diseases that "
    "occur 4, 3, 1 and 1 times, and 1.753 bits"
)
CUT = "cut off after two digits"
REST = "1 minus the printed rate, which is itself cut off"


def rates(table: Columns, secret: str) -> dict[str, float]:
    """The rate of every value of Age*, and of the column."""
    rate_by_value = sievert.discrimination_rate_by_value(table, "age_star", secret)
    return {v: float(rate_by_value[(v,)] or 0.0) for v in VALUES} | {
        WHOLE: require_number(sievert.discrimination_rate(table, "age_star", secret))
    }


# -- the tables -----------------------------------------------------------------------------------


@announce("tables of the k-anonymity model")
def tables(given: Given) -> PaperPart:
    """What the printed tables themselves promise."""
    changed = [
        i + 1
        for i, pair in enumerate(zip(BEFORE["disease"], K_ANONYMOUS["disease"], strict=True))
        if pair[0] != pair[1]
    ]
    diverse = require_number(sievert.l_diversity(L_DIVERSE, ["zip_star", "age_star"], "disease"))
    both = [
        require_number(sievert.entropy(t, "age_star", "disease")) for t in (K_ANONYMOUS, L_DIVERSE)
    ]
    return PaperPart(
        title="The tables of the k-anonymity model",
        about="Nine people, once 3-anonymous and once, with other diseases, 3-diverse.",
        claims=(
            number(
                "k of the 3-anonymity table",
                "3",
                require_number(sievert.k_anonymity(K_ANONYMOUS, "age_star")),
            ),
            number(
                "k of the 3-diversity table",
                "3",
                require_number(sievert.k_anonymity(L_DIVERSE, ["zip_star", "age_star"])),
            ),
            number("l of the 3-diversity table", "3", diverse),
            number(
                "records of the 3-anonymity table with another disease than in the original",
                "0",
                len(changed),
                contradicts=True,
                why=f"only Age was to be generalised, but the diseases of records "
                f"{' and '.join(map(str, changed))} differ between tables (1) and (3)",
            ),
            number(
                "records of the 3-diversity table with another disease than in the original",
                "0",
                sum(a != b for a, b in zip(SECOND["disease"], L_DIVERSE["disease"], strict=True)),
                why="as above",
            ),
        ),
        blocks=(
            Paragraph(
                f"The two releases are of different diseases: H(Disease) is {both[0]:.4f} bits in "
                f"the first and {both[1]:.4f} in the second. What differs between their rates is "
                f"not the protection alone.",
                kind="note",
            ),
        ),
    )


# -- identity -------------------------------------------------------------------------------------


@announce("identity attack")
def identity(given: Given) -> PaperPart:
    """Age from Age*: what the white box sees."""
    ours = rates(GENERALISED, "age")
    released = {"age": GENERALISED["age_star"]}
    original = {"age": GENERALISED["age"]}
    boxes = sievert.attack(released, quasi="age", original=original)["identity"]
    white, black = (
        require_number(boxes[box].numbers["discrimination_rate"].value)
        for box in ("white_box", "black_box")
    )
    before = require_number(sievert.discrimination_rate(BEFORE, "age"))
    return PaperPart(
        title="Identity attack",
        about="How far the generalised age tells the original one, by value and on the whole.",
        claims=(
            *(number(f"DR of Age by {v}", IDENTITY[v], ours[v]) for v in (*VALUES, WHOLE)),
            statement(
                "The white box is what was measured",
                "from the generalisation table",
                f"white box {white:.4f}, the rate of Age by Age* {ours[WHOLE]:.4f}",
                holds=math.isclose(white, ours[WHOLE]),
                why="they are not the same",
            ),
            statement(
                "k-anonymity protects against the identity attack",
                "protects",
                f"rate of the record by Age {before:.4f}, by Age* {black:.4f}",
                holds=black < before,
                why="the rate did not fall",
            ),
        ),
        blocks=(
            remark(
                "Black box",
                "the slides name it and print no number; the rate of the record by Age*",
                f"{black:.4f}",
            ),
            remark("Grey box", "the slides name no external data"),
        ),
    )


# -- homogeneity and background knowledge ---------------------------------------------------------


@announce("homogeneity attack")
def homogeneity(given: Given) -> PaperPart:
    """Disease from Age*, of both releases."""
    ours = {name: rates(table, "disease") for name, table in RELEASES.items()}
    return PaperPart(
        title="Homogeneity attack",
        about="How far Age* tells the disease, in the 3-anonymous and in the 3-diverse release. "
        "Three numbers of the first do not follow from the table that is printed above them.",
        claims=(
            *(
                number(
                    f"DR of Disease by {v}, {name}",
                    printed,
                    ours[name][v],
                    why=CUT if name == "3-diverse" else EXCLUDED,
                    contradicts=name == "3-anonymous",
                )
                for name, row in HOMOGENEITY.items()
                for v, printed in row.items()
            ),
            *(_lower(v, ours) for v in ("2*", WHOLE)),
        ),
        blocks=(_explanation(), _others(ours), _picture(ours)),
    )


def _lower(value: str, ours: dict[str, dict[str, float]]) -> Claim:
    first, second = (ours[name][value] for name in RELEASES)
    return statement(
        f"The 3-diverse release tells less by {value} than the 3-anonymous one",
        "l-diversity protects against homogeneity",
        f"{first:.4f} and {second:.4f}",
        holds=second < first,
        why="the rate of the homogeneous class, or of the column, is not lower",
    )


def _others(ours: dict[str, dict[str, float]]) -> Paragraph:
    """The classes that were not homogeneous; the slides claim nothing about them."""
    pairs = {v: " to ".join(f"{ours[name][v]:.4f}" for name in RELEASES) for v in (">=40", "3*")}
    return remark(
        "The classes that were not homogeneous",
        "of these the slides claim nothing; in >=40 three different diseases stand before and "
        "after, but on the whole there are more of them, so that the same entropy of the class is "
        "a smaller share, by the printed rates (0.70 and 0.78) as well",
        "; ".join(f"{v} goes from {pair}" for v, pair in pairs.items()),
    )


def _explanation() -> Paragraph:
    rate = rates(EXPLAINS, "disease")
    first = rates({"age_star": GENERALISED["age_star"], "disease": BEFORE["disease"]}, "disease")
    return Paragraph(
        f"Where 0.70, 0.83 and 0.52 come from: with lung cancer, aids and flu in >=40 and aids, "
        f"aids and diabetes in 3* the rates are {rate['>=40']:.4f}, {rate['3*']:.4f} and "
        f"{rate[WHOLE]:.4f}. No other pattern of diseases gives the three. With the diseases of "
        f"the original table (1) the column has {first[WHOLE]:.4f}, the printed 0.52 again, but "
        f">=40 and 3* have {first['>=40']:.4f} both.",
        kind="note",
    )


def _picture(ours: dict[str, dict[str, float]]) -> Picture:
    given = [
        Bar(
            row=f"{v}, {name}",
            number=float(row[v]) if series == "printed" else ours[name][v],
            series=series,
        )
        for name, row in HOMOGENEITY.items()
        for v in (*VALUES, WHOLE)
        for series in ("printed", "ours")
    ]
    rows = tuple(
        (name, v, row[v], f"{ours[name][v]:.4f}")
        for name, row in HOMOGENEITY.items()
        for v in (*VALUES, WHOLE)
    )
    return Picture(
        spec=bars(
            "Homogeneity attack, as printed and as computed",
            ("Discrimination rate of Disease", "0 tells nothing, 1 tells it for certain"),
            given,
            axis="Discrimination rate",
        ),
        caption="Printed and computed rates differ by more than a digit in the 3-anonymous "
        "table only. "
        "Printed or computed, 3-diversity lowers the rate on the whole and raises that of >=40.",
        behind=Grid(
            caption="Rates of Disease",
            head=("Release", "By", "Printed", "Ours"),
            rows=rows,
            right=(2, 3),
        ),
    )


@announce("background knowledge")
def background(given: Given) -> PaperPart:
    """What is lacking to certainty after the homogeneity attack."""
    ours = {name: _missing(table) for name, table in RELEASES.items()}
    off = [
        abs(1 - float(HOMOGENEITY[name][v]) - float(printed))
        for name, row in BACKGROUND.items()
        for v, printed in row.items()
    ]
    return PaperPart(
        "Background knowledge attack",
        "What somebody needs to know besides to be certain: the rest to 1 of the rates before.",
        (
            *(
                number(
                    f"1 - DR of Disease by {v}, {name}",
                    printed,
                    ours[name][v],
                    why=REST if name == "3-diverse" else EXCLUDED,
                    contradicts=name == "3-anonymous",
                )
                for name, row in BACKGROUND.items()
                for v, printed in row.items()
            ),
            statement(
                "Background knowledge is 1 - DR of the homogeneity attack",
                "1 - DR",
                f"the eight printed pairs and 1: {apart(max(off), 1e-9)}",
                holds=max(off) < 1e-9,
                why="a pair does not add up to 1",
            ),
        ),
    )


def _missing(table: Columns) -> dict[str, float]:
    """The rest by the attack itself, which the slides take for 1 - DR."""
    assessment = sievert.assess(table, "age_star", "disease", attacks=True, show_values=True)
    assert assessment.attacks is not None
    rest = assessment.attacks["background"]["disease"]
    values: dict[str, float] = {}
    for group in rest.columns["age_star"].values.groups:
        (numbers,) = group.numbers.values()
        assert group.values is not None
        values[str(group.values["age_star"])] = float(numbers.value or 0.0)
    return {v: values[v] for v in VALUES} | {WHOLE: float(rest.numbers["missing"].value or 0.0)}


@announce("other attacks")
def others(given: Given) -> PaperPart:
    """Skewness and semantic attacks are named; no number of them is printed."""
    assessment = sievert.assess(
        L_DIVERSE, "age_star", "disease", partitions={"disease": CANCERS}, attacks=True
    ).attacks
    assert assessment is not None
    semantic = require_number(
        sievert.semantic_discrimination_rate(L_DIVERSE, "age_star", "disease", partition=CANCERS)
    )
    t = require_number(sievert.t_closeness(L_DIVERSE, "age_star", "disease"))
    named = ("identity", "homogeneity", "background", "skewness", "semantic")
    return PaperPart(
        title="The other attacks",
        about="The slides name five attacks, and print numbers of three. The other two are "
        "computed on the 3-diverse table.",
        claims=(
            statement(
                "DR enables the assessment of all five attacks",
                ", ".join(named),
                f"attacks found: {', '.join(assessment)}",
                holds=all(name in assessment for name in named),
                why="an attack is lacking",
            ),
        ),
        blocks=(
            remark(
                "Skewness attack",
                "no number is printed, and no target; the t of the 3-diverse table",
                f"{t:.4f}",
            ),
            remark(
                "Semantic attack, semantic discrimination rate (SeDR)",
                "defined in words only, and no subsets are named; the rate of the 3-diverse table "
                "with all cancers as one",
                f"{semantic:.4f}",
            ),
        ),
    )
