"""The rate itself: its definition, the worked example, and the table of other metrics."""

import math
from collections import Counter
from itertools import combinations
from statistics import mean

import sievert
from sievert.papers.claims import (
    Claim,
    Given,
    PaperPart,
    announce,
    number,
    open_question,
    remark,
    require_number,
    statement,
)
from sievert.papers.given_tables import Columns
from sievert.report.page import Grid

AGES = ["2*"] * 3 + [">=40"] * 3 + ["3*"] * 3
VALUES = ("2*", ">=40", "3*")  # in the order of the slides

EXAMPLE: Columns = {
    "zip": ["35000"] * 9,
    "age": ["22", "35", "63", "22", "22", "35", "45", "35", "40"],
    "salary": ["4K", "5K", "3K", "13K", "8K", "15K", "9K", "7K", "11K"],
    "disease": [
        "cancer",
        "diabetes",
        "malaria",
        *["cancer"] * 2,
        *["malaria"] * 2,
        *["diabetes"] * 2,
    ],
}

# "Originale Table": what is to be made 3-anonymous.
BEFORE: Columns = {
    "age": ["22", "22", "22", "45", "63", "40", "35", "35", "32"],
    "disease": ["lung cancer"] * 3
    + ["stomach cancer", "diabetes", "aids", "aids", "flu", "diabetes"],
}
GENERALISED: Columns = {"age": BEFORE["age"], "age_star": AGES}
K_ANONYMOUS: Columns = {
    "age_star": AGES,
    "disease": ["lung cancer"] * 3
    + ["stomach cancer", "diabetes", "flu"]
    + ["aids", "aids", "diabetes"],
}

# The second original, and its 3-diverse release.
SECOND: Columns = {
    "zip": ["35567", "35502", "35560", "35817", "35810", "35812", "35502", "35568", "35505"],
    "age": BEFORE["age"],
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
}
L_DIVERSE: Columns = {
    "zip_star": ["355**"] * 3 + ["3581*"] * 3 + ["355**"] * 3,
    "age_star": AGES,
    "salary": SECOND["salary"],
    "disease": SECOND["disease"],
}

# Not in the slides. Of all ways to fill the classes >=40 and 3*, with one disease in 2*, only those
# alike to this one give the three printed numbers that the printed table excludes.
EXPLAINS: Columns = {
    "age_star": AGES,
    "disease": ["lung cancer"] * 4 + ["aids", "flu", "aids", "aids", "diabetes"],
}

CANCERS = {"cancer": ["colon cancer", "stomach cancer", "lung cancer"]}

# How many values the columns of Adult have, by the slides.
VALUES_OF_ADULT = {
    "marital-status": "7",
    "native-country": "41",
    "race": "5",
    "workclass": "8",
    "occupation": "14",
}
QUASI = ["marital-status", "native-country", "race", "workclass"]
SECRET = "occupation"
# The values of marital-status that the last chart names.
LISTED = (
    "Divorced",
    "Married-civ-spouse",
    "Married spouse absent",
    "Never Married",
    "Seperated",
    "Widowed",
)


COUNTED = {"22": "3", "35": "3", "63": "1", "45": "1", "40": "1"}
ENTROPIES = {age: f"{math.log2(int(n)):.4f}" if n != "1" else "0" for age, n in COUNTED.items()}
CUT = "the slides cut 0.666... off after two digits"


@announce("simple discrimination rate")
def simple(given: Given) -> PaperPart:
    """Definition 3 and its worked example."""
    people = Counter(EXAMPLE["age"])
    whole = require_number(sievert.entropy(EXAMPLE, "age", "salary"))
    return PaperPart(
        title="Simple discrimination rate",
        about="Nine people; X has nine outcomes that are equally likely (the formula has log2(9) "
        "below the line), as Salary has here, and as the record itself would have. Disease has "
        "three outcomes and is not meant. Logarithms are to base 2.",
        claims=(
            number("values of Age", "5", len(people)),
            *(number(f"people aged {age}", n, people[age]) for age, n in COUNTED.items()),
            *(_entropy(age, printed) for age, printed in ENTROPIES.items()),
            number("H(X) = log2(9), as printed", f"{math.log2(9):.4f}", whole),
            number("SDR of Age", "0.66", _rate(["age"], "salary"), why=CUT),
            _record(),
            *_scale_claims(),
        ),
        blocks=(
            Grid(
                caption="Rates of all columns and combinations, of Salary (or the record)",
                head=("Columns", "Discrimination rate"),
                rows=tuple(
                    (" and ".join(quasi), f"{_rate(quasi, 'salary'):.4f}")
                    for quasi in _subsets("salary")
                ),
                right=(1,),
            ),
        ),
    )


def _entropy(age: str, printed: str) -> Claim:
    """H(X|Y=y) of one age: of the people who have it."""
    rows = [i for i, a in enumerate(EXAMPLE["age"]) if a == age]
    group = {name: [column[i] for i in rows] for name, column in EXAMPLE.items()}
    shown = f"H(X|Y = {age})" + (" = -log(1/3), as printed" if printed != "0" else "")
    return number(shown, printed, require_number(sievert.entropy(group, "age", "salary")))


def _record() -> Claim:
    record = require_number(sievert.discrimination_rate(EXAMPLE, "age"))
    salary = _rate(["age"], "salary")
    return statement(
        "The SDR is the capability of a column to refine the anonymity set",
        "an anonymity set of 9 people",
        f"of the record {record:.4f}, of Salary {salary:.4f}",
        holds=math.isclose(record, salary),
        why="every salary occurs once, so that both rates must be the same",
    )


def _scale_claims() -> list[Claim]:
    rates = [
        _rate(quasi, secret)
        for secret in ("age", "salary", "disease")
        for quasi in _subsets(secret)
    ]
    parts = [
        (
            1 - _rate([quasi], "salary"),
            sum(
                1 - (v or 0.0)
                for v in sievert.discrimination_rate_by_value(EXAMPLE, quasi, "salary").values()
            ),
        )
        for quasi in ("zip", "age", "disease")
    ]
    return [
        statement(
            "The results are scaled between 0 and 1",
            "0 to 1",
            f"{len(rates)} rates of this table, from {min(rates):g} to {max(rates):g}",
            holds=min(rates) >= 0 and max(rates) <= 1,
            why="a rate outside of 0 to 1",
        ),
        statement(
            "Capacity to measure down to the attribute's values",
            "a rate a value",
            "what the rates of the values leave to 1 adds up to what the column's leaves: "
            + ", ".join(f"{whole:.4f}" for whole, _ in parts),
            holds=all(math.isclose(a, b, abs_tol=1e-12) for a, b in parts),
            why="the values' rests do not add up to the column's",
        ),
    ]


def _subsets(secret: str) -> list[list[str]]:
    others = [c for c in EXAMPLE if c != secret]
    return [list(q) for n in (1, 2, 3) for q in combinations(others, n)]


def _rate(quasi: list[str], secret: str) -> float:
    return require_number(sievert.discrimination_rate(EXAMPLE, quasi, secret))


@announce("combined discrimination rate")
def combined_rates(given: Given) -> PaperPart:
    """Definition 4; the slides that compute it show the table only."""
    pairs = (["age", "disease"], ["zip", "age"], ["zip", "age", "disease"])
    singles = {c: _rate([c], "salary") for c in ("zip", "age", "disease")}
    together = _rate(["zip", "age", "disease"], "salary")
    return PaperPart(
        title="Combined discrimination rate",
        about="The slides repeat the example table for the combined rate, but no columns are named "
        "and no number is printed.",
        claims=(
            statement(
                "The CDR is the capability of N attributes",
                "n attributes",
                f"all three together {together:.4f}, singly "
                + ", ".join(f"{c} {r:.4f}" for c, r in singles.items()),
                holds=together >= max(singles.values()),
                why="a column that is known besides must not lower the rate",
            ),
        ),
        blocks=(
            remark(
                "CDR of the example",
                "the slides name neither the columns nor the result; these are rates of Salary",
                ", ".join(f"{' and '.join(p)} {_rate(p, 'salary'):.4f}" for p in pairs),
            ),
        ),
    )


@announce("comparison with existing metrics")
def comparison(given: Given) -> PaperPart:
    """The table of six metrics, and the limitations told before."""
    return PaperPart(
        title="Comparison with existing metrics",
        about="A table in words: how finely each metric measures, where it applies, how close it "
        "is to re-identification; and two limitations told before. What can be computed is "
        "computed on the slides' own tables.",
        claims=(
            *_worst(),
            *_columns(),
            *_averages(),
            _epsilon(),
            open_question(
                "Link with re-identification",
                "weak, medium, high",
                "the scale is not published: the slides do not say how weak, medium and high were "
                "found",
            ),
        ),
        blocks=(
            remark(
                "The discrimination rate of a column",
                "the same average as mutual information, divided by H(X); finer are only the "
                "rates of values",
                _same_average(),
            ),
        ),
    )


def _epsilon() -> Claim:
    """An answer that is true three times in four: what its largest and its mean log ratio are."""
    most = math.log(3)
    mean_ratio = 0.75 * math.log(3) - 0.25 * math.log(3)
    return statement(
        "Granularity of epsilon",
        "average",
        f"an answer that is true 3 times in 4: epsilon ln 3 = {most:.4f}; the mean log ratio is "
        f"{mean_ratio:.4f}",
        holds=math.isclose(most, mean_ratio),
        why="by the definition of the paper that the slides cite (Dwork, 2008), epsilon bounds the "
        "log ratio of the probabilities of every answer and of every two neighbouring tables: the "
        "largest, not a mean",
    )


def _worst() -> list[Claim]:
    """k, l and t are called averages; they are the worst class's."""
    sizes = list(Counter(EXAMPLE["age"]).values())
    k = require_number(sievert.k_anonymity(EXAMPLE, "age"))
    each = [len(set(K_ANONYMOUS["disease"][i : i + 3])) for i in (0, 3, 6)]
    diverse = require_number(sievert.l_diversity(K_ANONYMOUS, "age_star", "disease"))
    t = require_number(sievert.t_closeness(K_ANONYMOUS, "age_star", "disease"))
    apart = [_closeness(i) for i in (0, 3, 6)]
    return [
        statement(
            "Granularity of k-anonymity",
            "average",
            f"k = {k}, the smallest class; the mean class of Age has {mean(sizes):.2f}",
            holds=math.isclose(k, mean(sizes)),
            contradicts=True,
            why="the slides define k by at least k subjects for each combination: the size of the "
            "smallest class, not of the mean one",
        ),
        statement(
            "Granularity of l-diversity",
            "average",
            f"l = {diverse}, the least diverse class; the mean class has {mean(each):.2f} diseases",
            holds=math.isclose(diverse, mean(each)),
            why="by the definition of the paper that the slides cite (Machanavajjhala et al., "
            "2007) each class has at least l values: l is that of the least diverse class",
        ),
        statement(
            "Granularity of t-closeness",
            "average",
            f"t = {t:.4f}, the farthest class; the mean distance is {mean(apart):.4f}",
            holds=math.isclose(t, mean(apart)),
            why="by the definition of the paper that the slides cite (Li et al., 2007) each class "
            "is no farther than t: t is the distance of the farthest class",
        ),
    ]


def _closeness(start: int) -> float:
    """Half the absolute differences between a class of three and the whole table."""
    whole = Counter(K_ANONYMOUS["disease"])
    part = Counter(K_ANONYMOUS["disease"][start:][:3])
    return sum(abs(part[d] / 3 - n / 9) for d, n in whole.items()) / 2


def _columns() -> list[Claim]:
    one, two = (
        require_number(sievert.k_anonymity(EXAMPLE, q)) for q in ("disease", ["age", "disease"])
    )
    diverse = require_number(sievert.l_diversity(L_DIVERSE, ["zip_star", "age_star"], "disease"))
    return [
        statement(
            "k-anonymity measures 1 attribute",
            "1 attribute",
            f"k of Disease {one}, of Age and Disease together {two}",
            holds=one == two,
            contradicts=True,
            why="the slides define k for each combination of key attributes: for any number of "
            "them, and it differs with them",
        ),
        statement(
            "k-anonymity-like metrics do not measure more than 2 variables",
            "at most 2 variables",
            f"l of Disease by ZIP Code* and Age* together: {diverse}",
            holds=diverse is None,
            contradicts=True,
            why="the slides' own 3-diversity table has three: the two key attributes ZIP Code* and "
            "Age*, and Disease, of which every class has 3 values",
        ),
    ]


def _averages() -> list[Claim]:
    rates = sievert.discrimination_rate_by_value(K_ANONYMOUS, "age_star", "disease")
    whole = require_number(sievert.discrimination_rate(K_ANONYMOUS, "age_star", "disease"))
    bits = require_number(sievert.mutual_information(K_ANONYMOUS, "age_star", "disease"))
    of_classes = [_surprise(i) for i in (0, 3, 6)]
    highest = max(r for r in rates.values() if r is not None)
    return [
        statement(
            "Average measurements lead to the worst-case problem",
            "average hides the worst case",
            f"on the whole {whole:.4f}, of the value 2* {highest:.4f}",
            holds=whole < highest,
            why="the whole is not below the worst value",
        ),
        statement(
            "Granularity of DR",
            "fine",
            f"{len(rates)} values of Age* with a rate each",
            holds=len(rates) == 3,
            why="a value without a rate",
        ),
        statement(
            "Granularity of mutual information",
            "average",
            f"{bits:.4f} bits, the mean of {', '.join(f'{b:.4f}' for b in of_classes)} of the "
            "values of Age*",
            holds=math.isclose(bits, mean(of_classes)),
            why="it is not the mean of what the values tell",
        ),
    ]


def _surprise(start: int) -> float:
    """H(X) - H(X|Y=y) of a class of three, in bits."""
    whole = Counter(K_ANONYMOUS["disease"])
    part = Counter(K_ANONYMOUS["disease"][start:][:3])
    return sum(n / 9 * math.log2(9 / n) for n in whole.values()) - sum(
        n / 3 * math.log2(3 / n) for n in part.values()
    )


def _same_average() -> str:
    bits = require_number(sievert.mutual_information(K_ANONYMOUS, "age_star", "disease"))
    entropy = require_number(sievert.entropy(K_ANONYMOUS, "age_star", "disease"))
    rate = require_number(sievert.discrimination_rate(K_ANONYMOUS, "age_star", "disease"))
    return f"{rate:.4f} = I/H(X) = {bits:.4f}/{entropy:.4f}"
