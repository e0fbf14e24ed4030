"""Section 5: Adult, as far as the text determines it, and what the prior does to such numbers."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import sievert
from sievert.charts import Bar, bars
from sievert.errors import require
from sievert.hierarchies import Hierarchy
from sievert.methods import Recoded, recode, smallest_recoding
from sievert.papers.claims import (
    Claim,
    Given,
    PaperPart,
    announce,
    number,
    open_question,
    statement,
)
from sievert.papers.given_tables import Columns
from sievert.papers.relative_risk.example import (
    ADULT_RECORDS,
    KEYS,
    OCCUPATION,
    adult,
    read_trees,
)
from sievert.report.page import Grid, Picture

# What is printed: of k = 4, 5 and 10, and from the least to the most of the three.
RISKS = {4: "3.98 %", 5: "1.7 %", 10: "1.86 %"}
ATTACKER = ("27.3 %", "29.4 %")
LARGEST = ("1.9", "3.93")
APPRECIABLE = 0.01  # the least GR that is; the text has no threshold
BENCH = "python -m bench relativerisk"
LACKS = (
    "The text does not say which 5,692 records these are, how the columns were made coarser, "
    "which weights the Dirichlet distributions have, which combinations of values may occur, and "
    "how a tie counts."
)
# Columns that are kept, all others are `*`; groups of fewer than k are left out.
LEFT_OUT = 0.05  # of the records, at most
RECODINGS = {
    4: ("marital-status", "education", "workclass"),
    5: ("sex", "race", "marital-status", "workclass", "salary-class"),
    10: ("education",),
}
SETTINGS: tuple[tuple[str, float], ...] = (
    ("observed", 1.0),
    ("observed", 0.1),
    ("cross", 1.0),
    ("cross", 0.1),
)
KEYS_OF_NUMBERS = (
    "attacker_accuracy",
    "attacker_accuracy_literal",
    "global_relative_risk",
    "global_relative_risk_literal",
    "max_relative_risk",
)
DOMAINS = {"observed": "those that occur", "cross": "all"}
HEAD = (
    "release",
    "groups",
    "combinations",
    "beta",
    "attacker right, %",
    "ties in full, %",
    "GR, %",
    "GR, ties in full, %",
    "largest R",
)


@dataclass(frozen=True, kw_only=True)
class Line:
    """One reading of a release: shares, not per cent; `ties` count every tie in full."""

    release: str
    groups: int
    combinations: str
    beta: str
    attacker: float
    attacker_ties: float
    risk: float
    risk_ties: float
    largest: float

    def cells(self) -> tuple[str, ...]:
        """As a line of a table, in per cent."""
        return (
            self.release,
            str(self.groups),
            self.combinations,
            self.beta,
            f"{100 * self.attacker:.2f}",
            f"{100 * self.attacker_ties:.2f}",
            f"{100 * self.risk:.2f}",
            f"{100 * self.risk_ties:.2f}",
            f"{self.largest:.2f}",
        )


def look(
    name: str,
    released: Mapping[str, Any],
    original: Mapping[str, Any],
    quasi: Iterable[str],
    secret: str,
    trees: Mapping[str, Hierarchy],
    domain: str,
    beta: float,
) -> Line:
    """Attacker and learner of a release whose sets do not overlap: closed form, nothing drawn."""
    reasoning: Any = sievert.attack(
        released,
        original,
        quasi,
        secret,
        hierarchies=trees,
        likelihood="saturated",
        method="closed form",
        domain=domain,
        beta=beta,
    )["reasoning"][secret]
    numbers = {key: float(reasoning.numbers[key].value) for key in KEYS_OF_NUMBERS}
    return Line(
        release=name,
        groups=int(reasoning.details["classes"]),
        combinations=DOMAINS[domain],
        beta=f"{beta:g}" if beta >= 0.01 else f"1/{1 / beta:,.0f}",
        attacker=numbers["attacker_accuracy"],
        attacker_ties=numbers["attacker_accuracy_literal"],
        risk=numbers["global_relative_risk"],
        risk_ties=numbers["global_relative_risk_literal"],
        largest=numbers["max_relative_risk"],
    )


@announce("section 5: group sizes")
def sizes(given: Given) -> PaperPart:
    """What follows from the printed sizes alone."""
    return PaperPart(
        "Section 5: the sizes of the groups",
        "Mean sizes of 38 and 355 records are printed for k = 4 and k = 10. The number of groups "
        "is whole, so the sizes tell it: 148 to 151 groups, and 16.",
        (
            number("k = 4: records a group, if there are 150", "38", ADULT_RECORDS / 150),
            number(
                "k = 10: records a group, if there are 16",
                "355",
                ADULT_RECORDS / 16,
                why="no whole number of groups of 5,692 records has a mean between 354.5 and "
                "355.5; 16 is nearest, so the printed mean is cut off",
            ),
        ),
    )


@announce("section 5: a table of the same size")
def generated_experiment(given: Given) -> PaperPart:
    """A table of the paper's size, in which the secret has nothing to do with the key."""
    lines = _generated_lines(given.seed)
    low = min(line.risk for line in lines)
    high = max(line.risk_ties for line in lines)
    return PaperPart(
        title="Section 5: what the prior alone does to a table of this size",
        about=f"{ADULT_RECORDS:,} generated records, 1,200 keys in 150 groups of keys, 14 secrets "
        "that are drawn whatever the key. One release, so the attacker believes the same in every "
        "line: the shares of the group. Only the learner's weight beta of each key changes, and "
        "whether a tie counts in full, as Definition 1 has it, or in shares. One and the same "
        f"release has a GR from {100 * low:.2f} to {100 * high:.2f} % by these alone. The text has "
        "no threshold for an appreciable fraction; ours is 1 % of the people, the unit in which "
        "shares are told. The three printed numbers reach any up to 1.7 %, one of them more.",
        claims=(
            statement(
                "Conclusion: the relative risk is significant for an appreciable fraction: GR of "
                f"{100 * APPRECIABLE:g} % or more",
                "significant",
                f"printed GR {', '.join(RISKS.values())}",
                holds=all(float(gr.rstrip(" %")) >= 100 * APPRECIABLE for gr in RISKS.values()),
                why="a printed GR is smaller",
            ),
        ),
        blocks=(
            Picture(
                spec=bars(
                    "One release, three priors",
                    ("Global relative risk, ties in shares and in full",),
                    [
                        Bar(row=f"beta {line.beta}", number=value, series=ties)
                        for line in lines
                        for ties, value in (
                            ("ties in shares", line.risk),
                            ("ties in full", line.risk_ties),
                        )
                    ],
                    axis="Global relative risk",
                ),
                caption="The smaller the weight of the prior, the more the learner believes "
                "what the "
                "attacker believes, and the relative risk goes to 0. The release is the same.",
                behind=_grid("Generated table, per cent", lines),
            ),
        ),
    )


def _generated_lines(seed: int) -> list[Line]:
    rng = np.random.default_rng([seed, ADULT_RECORDS])
    keys = rng.integers(0, 1200, ADULT_RECORDS)
    shares = np.arange(14, 0, -1.0) ** 0.5
    secrets = rng.choice(14, ADULT_RECORDS, p=shares / shares.sum())
    original = {"key": [f"k{i}" for i in keys], "secret": [f"s{i}" for i in secrets]}
    tree = Hierarchy({f"k{i}": (f"group {i % 150}", "*") for i in range(1200)}, "key")
    released = {"key": [tree.at(key, 1) for key in original["key"]], "secret": original["secret"]}
    return [
        look("generated", released, original, ["key"], "secret", {"key": tree}, "cross", beta)
        for beta in (1.0, 0.1, 1 / 1200)
    ]


def with_adult(given: Given) -> PaperPart:
    """The printed numbers beside those of some readings, where Adult is given."""
    lines: dict[int, list[Line]] = {}
    require(
        "adult" in given.data or "hierarchies" not in given.data,
        "the hierarchies are those of Adult",
        hint="--data adult=FILE as well",
    )
    if "adult" in given.data:
        people, trees = adult(given.data["adult"])
        finer = read_trees(given.data["hierarchies"]) if "hierarchies" in given.data else {}
        for k, kept in RECODINGS.items():
            given.step(f"section 5: Adult, k = {k}")
            lines[k] = _readings(people, trees, k, kept)
            if finer:
                lines[k] += _generalised(people, finer, k)
    all_lines = [line for each in lines.values() for line in each]
    return PaperPart(
        title="Section 5: Adult",
        about=_about(all_lines),
        claims=(
            *(
                _open(
                    f"GR, k = {k}",
                    printed,
                    [x for m in lines.get(k, ()) for x in (m.risk, m.risk_ties)],
                )
                for k, printed in RISKS.items()
            ),
            *_ends(
                "rows classified correctly by the attacker",
                ATTACKER,
                [
                    [x for m in each for x in (m.attacker, m.attacker_ties)]
                    for each in lines.values()
                ],
            ),
            *_ends(
                "largest relative risk R",
                LARGEST,
                [[m.largest for m in each] for each in lines.values()],
            ),
        ),
        blocks=(_grid("Adult, its first 5,692 complete records, per cent", all_lines),)
        if all_lines
        else (),
    )


def _about(lines: list[Line]) -> str:
    if not lines:
        return (
            "The paper's numbers for k = 4, 5 and 10. They need Adult: give it with "
            "--data adult=FILE, a CSV file with a header; its first 5,692 complete records are "
            "taken, under several readings; with --data hierarchies=FOLDER, hierarchies as ARX "
            "writes them, also the best full-domain recodings."
        )
    return (
        "The paper's numbers for k = 4, 5 and 10, beside the first 5,692 complete records under "
        "several readings: columns are kept or `*`, with 150 groups for k = 4 and one for each "
        "education for k = 10, as the printed sizes suggest, and for k = 5 as many columns as 5 % "
        "of suppressed records allow. With --data hierarchies=FOLDER the full-domain recoding of "
        "least loss stands beside them, with its levels. Groups of fewer than k are left out. "
        "Sets do not overlap, so everything is a closed form. More records, recodings and models, "
        f"and chains: {BENCH}."
    )


def _open(what: str, printed: str, values: list[float]) -> Claim:
    return open_question(what, printed, LACKS, _range_text(values, printed))


def _range_text(values: list[float], printed: str) -> str:
    """From the least to the most of all readings."""
    if not values:
        return "-"
    many, unit = (100, " %") if "%" in printed else (1, "")
    return f"{many * min(values):.2f} to {many * max(values):.2f}{unit}"


def _ends(what: str, printed: tuple[str, str], by_release: list[list[float]]) -> list[Claim]:
    values = [x for each in by_release for x in each]
    return [
        _open(f"{end} of the three: {what}", text, values)
        for end, text in zip(("Least", "Most"), printed, strict=True)
    ]


def _readings(
    people: Columns, trees: Mapping[str, Hierarchy], k: int, kept: tuple[str, ...]
) -> list[Line]:
    release = recode(people, {name: int(name not in kept) for name in KEYS}, trees, suppress=k)
    return _looks(f"k = {k}", people, release, trees)


def _looks(
    name: str, people: Columns, release: Recoded, trees: Mapping[str, Hierarchy]
) -> list[Line]:
    """A release under every prior; records that are left out are not attacked."""
    rows = np.flatnonzero(~release.suppressed).tolist()
    released, original = (
        {column: [values[i] for i in rows] for column, values in columns.items()}
        for columns in (release.columns, people)
    )
    return [
        look(name, released, original, KEYS, OCCUPATION, trees, domain, beta)
        for domain, beta in SETTINGS
    ]


def _generalised(people: Columns, trees: Mapping[str, Hierarchy], k: int) -> list[Line]:
    """The full-domain recoding of least loss by the given hierarchies, 5 % left out at most."""
    release = smallest_recoding(people, KEYS, trees, k, suppressed=LEFT_OUT)
    levels = " ".join(str(release.levels[name]) for name in KEYS)
    return _looks(f"k = {k}, levels {levels}", people, release, trees)


def _grid(caption: str, lines: list[Line]) -> Grid:
    return Grid(
        caption=caption,
        head=HEAD,
        rows=tuple(line.cells() for line in lines),
        right=(1, 3, 4, 5, 6, 7, 8),
    )
