"""The charts of Adult: the slides show them without numbers and do not say how releases were made.

With Adult alone the simplest releases are made here: records of classes that are too small, or not
diverse enough, lose all four values. Releases by any other tool may be given instead.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sievert
from sievert.charts import of_attacks
from sievert.errors import require
from sievert.papers.claims import (
    Claim,
    Given,
    PaperPart,
    announce,
    number,
    open_question,
    statement,
)
from sievert.papers.discrimination_rate.rates import LISTED, QUASI, SECRET, VALUES_OF_ADULT
from sievert.papers.given_tables import ADULT, GIVE_ADULT, Columns, read_columns, suppress_rare
from sievert.report.page import Grid, Picture

K10 = "10-anonymous"
K15 = "15-anonymous"
L5 = "10-anonymous and 5-diverse"
FILES = {K10: "adult_k10", K15: "adult_k15", L5: "adult_k10_l5"}  # names of Given.data
RULES = {K10: (10, 1), K15: (15, 1), L5: (10, 5)}  # least records, least different secrets
LACKING = (
    "the slides show a chart whose numbers are not printed, and do not say how the releases "
    "were made"
)
SAME = 1e-9
MISSING = {"", "?"}
WHOLE = 32_561  # records of the whole file; one work class, Never-worked, is in no complete record
NEVER_WORKED = (
    " The 8th work class, Never-worked, is in no complete record: give the file of 32,561 records "
    "to have it counted."
)


@dataclass(frozen=True)
class Adult:
    """The five columns, the releases, and what the attacks on them found."""

    columns: Columns
    attacks: Mapping[str, Mapping[str, Any]]
    how: str

    @property
    def is_whole(self) -> bool:
        """Whether the records with missing values are there, too."""
        return len(self.columns[SECRET]) >= WHOLE


@announce("Adult")
def parts(given: Given) -> tuple[PaperPart, ...]:
    """The columns and the three charts."""
    adult = _adult(given)
    about = "How many values the columns have."
    if adult is None:
        about += f" {GIVE_ADULT}"
    elif not adult.is_whole:
        about += NEVER_WORKED
    return (
        PaperPart(
            "Adult: the columns",
            about,
            (
                number(
                    "values of Marital Status that the last table lists",
                    VALUES_OF_ADULT["marital-status"],
                    len(LISTED),
                    contradicts=True,
                    why="the tables before count 7 values, the last one names 6: "
                    "Married-AF-spouse is missing",
                ),
                *(_columns(adult.columns) if adult is not None else ()),
            ),
        ),
        *(_chart(adult, *chart) for chart in CHARTS),
    )


# title, chart of `of_attacks`, releases
CHARTS = (
    ("Adult: identity attack, 10-anonymous against 15-anonymous", "identity_white_box", (K10, K15)),
    (
        "Adult: homogeneity attack, k-anonymity against l-diversity",
        f"homogeneity_{SECRET}",
        (K10, L5),
    ),
    (
        "Adult: homogeneity attack by values of Marital Status",
        f"homogeneity_{SECRET}_by_marital-status",
        (K10, L5),
    ),
)
SEEN = {
    CHARTS[0][1]: "How much the released values tell of the original ones, by column and combined.",
    CHARTS[1][1]: "How much the released columns tell about the occupation.",
    CHARTS[2][1]: "A value's rate contains its share of the records: a rare value has a high one "
    "even where its people are diverse.",
}


# -- reading and releasing ------------------------------------------------------------------------


def _adult(given: Given) -> Adult | None:
    if "adult" not in given.data:
        for name in FILES.values():
            require(
                name not in given.data,
                f"{name} is a release of Adult",
                hint="--data adult=FILE as well",
            )
        return None
    columns = _read_table(given, "adult")
    attacks = {}
    own = []
    for release, name in FILES.items():
        given.step(f"Adult, {release}")
        if name in given.data:
            table, original = (_read_table(given, each, ordered=True) for each in (name, "adult"))
        else:
            own.append(release)
            original = _complete(columns)
            table = make_release(original, release)
        attacks[release] = sievert.attack(
            table,
            quasi=QUASI,
            sensitive=SECRET,
            original=original,
            show_values=True,
            keep_suppressed=True,
        ).attacks
    return Adult(columns, attacks, _how(own))


def _complete(columns: Columns) -> Columns:
    """The records without a missing value; the slides have about 30,000."""
    rows = zip(*columns.values(), strict=True)
    kept = [i for i, row in enumerate(rows) if MISSING.isdisjoint(row)]
    return {name: [values[i] for i in kept] for name, values in columns.items()}


def _read_table(given: Given, name: str, *, ordered: bool = False) -> Columns:
    what = ADULT if name == "adult" else f"a release of {ADULT}"
    return read_columns(given.data[name], [*QUASI, SECRET], what, ordered=ordered)


def make_release(columns: Columns, release: str) -> Columns:
    """The simplest release that keeps the rule."""
    least, diverse = RULES[release]
    return suppress_rare(columns, QUASI, least, secret=SECRET, diverse=diverse)


def _how(own: list[str]) -> str:
    if not own:
        return "The releases are those given."
    return (
        f"Made here by hiding all four values of records in classes that are too small or not "
        f"diverse enough: {', '.join(own)}. Releases of another tool, in the order of the "
        f"original, can be given as " + ", ".join(f"--data {n}=FILE" for n in FILES.values()) + "."
    )


# -- parts ----------------------------------------------------------------------------------------


def _columns(columns: Columns) -> list[Claim]:
    records = len(columns[SECRET])
    complete = len(_complete(columns)[SECRET])
    return [
        statement(
            "records of Adult",
            "~30000",
            f"{complete:,}",
            holds=round(complete, -4) == 30_000,
            why="not about 30,000 records",
        ),
        *(
            number(
                f"values of {name}",
                printed,
                len(set(columns[name]) - MISSING),
                why="the file is not the one that was counted",
            )
            for name, printed in VALUES_OF_ADULT.items()
            if name != "workclass" or records >= WHOLE
        ),
    ]


def _chart(adult: Adult | None, title: str, chart: str, releases: tuple[str, str]) -> PaperPart:
    if adult is None:
        claim = open_question(title.removeprefix("Adult: "), "a chart without numbers", LACKING)
        return PaperPart(title, f"{SEEN[chart]} {GIVE_ADULT}", (claim,))
    spec = of_attacks({name: adult.attacks[name] for name in releases})[chart]
    values = spec["data"]["values"]
    rates: dict[str, dict[str, float]] = {
        name: {row["row"]: row["number"] for row in values if row["series"] == name}
        for name in releases
    }
    rows = list(dict.fromkeys(row["row"] for row in values))
    texts = {row: [_rate_text(rates[name].get(row)) for name in releases] for row in rows}
    return PaperPart(
        title=title,
        about=f"{SEEN[chart]} {adult.how}",
        claims=(
            open_question(
                title.removeprefix("Adult: "),
                "a chart without numbers",
                LACKING,
                "drawn here",
            ),
        ),
        blocks=(
            Picture(
                spec=spec,
                caption=f"{SEEN[chart]} {_comparison(rates, rows)}",
                behind=Grid(
                    caption="Discrimination rates",
                    head=("Of", *releases),
                    rows=tuple((row, *pair) for row, pair in texts.items()),
                    right=(1, 2),
                ),
            ),
        ),
    )


def _rate_text(rate: float | None) -> str:
    return "-" if rate is None else f"{rate:.6f}"


def _comparison(rates: dict[str, dict[str, float]], rows: list[str]) -> str:
    """In how many rows the second release tells less than the first."""
    (first, a), (second, b) = rates.items()
    both = [row for row in rows if a.get(row) is not None and b.get(row) is not None]
    less = sum(b[row] < a[row] - SAME for row in both)
    return f"In {less} of {len(both)} rows the {second} release tells less than the {first} one."
