"""The small tables that the paper prints, the six measures of them, and how they are drawn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import sievert
from sievert import charts
from sievert.formatting import significant
from sievert.papers.claims import Claim, statement, turning
from sievert.report.page import Grid, Picture

Columns = dict[str, list[Any]]

# Tables 1a and 2a: zip code, age, disease; table 2a goes on where table 1a ends.
FIRST = (
    ("35510", 21, "Asthma"),
    ("35591", 42, "HIV"),
    ("35593", 47, "Asthma"),
    ("35210", 38, "Diabetes"),
    ("35273", 32, "HIV"),
    ("35517", 20, "Diabetes"),
    ("35599", 49, "Diabetes"),
    ("35262", 33, "Asthma"),
    ("35511", 26, "HIV"),
)
SECOND = (
    *FIRST,
    ("35212", 39, "Diabetes"),
    ("35281", 32, "Diabetes"),
    ("35596", 41, "Diabetes"),
    ("35592", 46, "Diabetes"),
    ("35515", 23, "Diabetes"),
    ("35511", 26, "Diabetes"),
)
# Tables 1b and 2b: how often each disease stands in each of the three groups.
FIRST_GROUP = {"Asthma": 1, "Diabetes": 1, "HIV": 1}
SECOND_GROUP = {"Asthma": 1, "Diabetes": 3, "HIV": 1}

# Tables 3 and 6.
CASES: Columns = {
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
}


def generalise(records: tuple[tuple[str, int, str], ...]) -> Columns:
    """Tables 1b and 2b: the zip code cut after 352 or four digits, the age after its decade."""
    return {
        "zip": [zip_[:3] + "*" if zip_[:3] == "352" else zip_[:4] + "*" for zip_, _, _ in records],
        "age": [f"{age // 10}*" for _, age, _ in records],
        "disease": [disease for _, _, disease in records],
    }


# The paper's names, in the order of its figures.
IDS = {
    "ITPR": "itpr",
    "DR": "discrimination_rate",
    "MI": "mutual_information",
    "CP": "conditional_privacy",
    "ELD": "entropy_l_diversity",
    "MIL": "maximum_information_leakage",
}
THETA = "entropy_variation"
SAME = 1e-9  # numbers that differ by less do not differ

RISES = "rises"
FALLS = "falls"
CONSTANT = "stays the same"
NEITHER = "goes up and down"

Numbers = dict[str, float]  # the paper's name of a measure -> its value


@dataclass(frozen=True)
class Series:
    """The six measures along an axis."""

    axis: tuple[float, ...]
    of: Mapping[str, tuple[float, ...]]

    def goes(self, name: str) -> str:
        """Which way a measure goes while the axis rises."""
        return direction(self.of[name])


@dataclass(frozen=True)
class Cases:
    """The six measures of the five cases of Age and the three cases of Disease (table 3)."""

    values: Mapping[str, Numbers]  # age1 to age5, disease1 to disease3

    def ages(self, name: str) -> tuple[float, ...]:
        """Cases 1 to 5 of Age: finding a record."""
        return tuple(self.values[f"age{i}"][name] for i in range(1, 6))

    def diseases(self, name: str) -> tuple[float, ...]:
        """Cases 1 to 3 of Disease given case 5 of Age: finding out the disease."""
        return tuple(self.values[f"disease{i}"][name] for i in range(1, 4))


def direction(values: Sequence[float]) -> str:
    """Which way values go from the first to the last.

    >>> direction([1, 2, 3]), direction([1, 1]), direction([1, 2, 1])
    ('rises', 'stays the same', 'goes up and down')
    """
    signs = {(b - a > SAME) - (b - a < -SAME) for a, b in pairwise(values)}
    return {(): CONSTANT, (0,): CONSTANT, (1,): RISES, (-1,): FALLS}.get(tuple(signs), NEITHER)


def by_paper_name(values: Mapping[str, Any]) -> Numbers:
    """The values of an assessment under the paper's names; theta under its own."""
    names = {**IDS, THETA: THETA}
    return {name: float(values[id_].value) for name, id_ in names.items() if id_ in values}


def records(data: Columns, quasi: str) -> Numbers:
    """The six measures of finding a record."""
    return by_paper_name(sievert.assess(data, [quasi], measures=IDS.values()).reidentification)


def secrets(data: Columns, quasi: str, names: Sequence[str]) -> dict[str, Numbers]:
    """The six measures and theta of finding out each secret."""
    assessment = sievert.assess(data, [quasi], list(names), measures=[*IDS.values(), THETA])
    return {name: by_paper_name(assessment.inference[name]) for name in names}


def series(axis: Sequence[float], points: Sequence[Numbers]) -> Series:
    """Points in the order of a rising axis."""
    pairs = sorted(zip(axis, points, strict=True), key=lambda pair: pair[0])
    return Series(
        tuple(at for at, _ in pairs),
        {name: tuple(point[name] for _, point in pairs) for name in points[0]},
    )


def measure_cases() -> Cases:
    """Table 3, measured once."""
    ages = {name: records(CASES, name) for name in (f"age{i}" for i in range(1, 6))}
    return Cases({**ages, **secrets(CASES, "age5", ["disease1", "disease2", "disease3"])})


def list_numbers(values: Sequence[float]) -> str:
    """Numbers in a row, for people."""
    return ", ".join(f"{significant(round(v, 4) + 0.0)}" for v in values)


APART = "MIL"  # has a scale of its own


def draw(
    title: str, series: Series, *, across: str, below: str, seen: str, apart: str
) -> tuple[Picture, Picture]:
    """All but MIL in one picture, MIL in another; `seen` and `apart` say what to see in them."""
    together = [name for name in IDS if name != APART]
    points = {name: list(zip(series.axis, series.of[name], strict=True)) for name in IDS}
    first = charts.lines(
        title, [below], {name: points[name] for name in together}, across=across, up="Value"
    )
    second = charts.lines(
        f"{title}: MIL", [below], {APART: points[APART]}, across=across, up="Bits"
    )
    return (
        Picture(spec=first, caption=seen, behind=_grid(series, together, across)),
        Picture(spec=second, caption=apart, behind=_grid(series, [APART], across)),
    )


def _grid(series: Series, names: list[str], across: str) -> Grid:
    rows = tuple(
        (text(at), *(text(series.of[name][i]) for name in names))
        for i, at in enumerate(series.axis)
    )
    right = tuple(range(len(names) + 1))
    return Grid(
        caption="The numbers of the picture",
        head=(across, *names),
        rows=rows,
        right=right,
        folded=True,
    )


def text(number: float) -> str:
    """A number for people; what is 0 but for its last bits is 0.

    >>> text(-2e-16), text(0.25)
    ('0', '0.25')
    """
    return significant(0.0 if abs(number) < 1e-12 else number)


def unit(name: str) -> str:
    """What stands behind a value of a measure.

    >>> unit("MI"), unit("ITPR")
    (' bits', '')
    """
    return " bits" if name in ("MI", APART) else ""


def worst_values() -> dict[str, tuple[float, float]]:
    """Each measure where the class tells the secret wholly, with two and with ten secrets."""
    columns = ([f"v{i}" for i in range(values)] for values in (2, 10))
    two, ten = (secrets({"y": column, "x": column}, "y", ["x"])["x"] for column in columns)
    return {name: (two[name], ten[name]) for name in IDS}


def interpretation(name: str, worst: dict[str, tuple[float, float]], *, where: str) -> Claim:
    """That a measure is hard to read because its worst value depends on the table."""
    two, ten = worst[name]
    return statement(
        f"{name} is hard to read: its worst value depends on the table ({where})",
        "correct, but hard interpretation",
        f"worst {text(two)} with two secrets, {text(ten)}{unit(name)} with ten",
        holds=abs(two - ten) > SAME,
        contradicts=True,
        why=WHY_EASY.get(name, "its worst value is always 1"),
    )


WHY_EASY = {
    "DR": "section 3.3.1 says that DR lies in [0, 1], where 1 is a single individual: its worst "
    "value is always 1, as that of ITPR, which the text calls free of this limitation",
}
SLOW = 0.01  # of the range of a measure, over nine tenths of the axis; the text has no threshold


def hardly_moves(growth: Series, what: str) -> Claim:
    """That ELD stays near its least value along nine tenths of figure 1."""
    late = growth.axis.index(9000)
    eld = growth.of["ELD"]
    gained = (eld[late] - eld[0]) / (eld[-1] - eld[0])
    end = growth.axis[-1]
    return statement(
        f"{what}: less than {100 * SLOW:g} % of its range up to 9000",
        "extremely slowly",
        f"{text(eld[0])} at epsilon 0, {text(eld[late])} at 9000, {text(eld[-1])} at {end:g}: "
        f"{100 * gained:.2f} %{turning(gained, SLOW)}",
        holds=gained < SLOW,
        why=f"it gains {100 * gained:.2f} % before",
    )
