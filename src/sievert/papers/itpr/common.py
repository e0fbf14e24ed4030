"""What the parts share: the six measures under the paper's names, and which way a row goes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import sievert
from sievert.formatting import significant
from sievert.papers.itpr.data import CASES, Columns

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

RISES, FALLS, CONSTANT, NEITHER = "rises", "falls", "stays the same", "goes up and down"

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

    found: Mapping[str, Numbers]  # age1 to age5, disease1 to disease3

    def ages(self, name: str) -> tuple[float, ...]:
        """Cases 1 to 5 of Age: finding a record."""
        return tuple(self.found[f"age{i}"][name] for i in range(1, 6))

    def diseases(self, name: str) -> tuple[float, ...]:
        """Cases 1 to 3 of Disease given case 5 of Age: finding out the disease."""
        return tuple(self.found[f"disease{i}"][name] for i in range(1, 4))


def direction(values: Sequence[float]) -> str:
    """Which way values go from the first to the last.

    >>> direction([1, 2, 3]), direction([1, 1]), direction([1, 2, 1])
    ('rises', 'stays the same', 'goes up and down')
    """
    steps = [b - a for a, b in pairwise(values)]
    if all(abs(step) <= SAME for step in steps):
        return CONSTANT
    if all(step > SAME for step in steps):
        return RISES
    return FALLS if all(step < -SAME for step in steps) else NEITHER


def by_paper_name(values: Mapping[str, Any]) -> Numbers:
    """The values of an assessment under the paper's names; theta under its own."""
    names = {**IDS, THETA: THETA}
    return {name: float(values[id_].value) for name, id_ in names.items() if id_ in values}


def records(data: Columns, quasi: str) -> Numbers:
    """The six measures of finding a record."""
    return by_paper_name(sievert.assess(data, [quasi], measures=IDS.values()).reidentification)


def secrets(data: Columns, quasi: str, names: Sequence[str]) -> dict[str, Numbers]:
    """The six measures and theta of finding out each secret."""
    measures = [*IDS.values(), THETA]
    assessment = sievert.assess(data, [quasi], list(names), measures=measures)
    return {name: by_paper_name(assessment.inference[name]) for name in names}


def series(axis: Sequence[float], points: Sequence[Numbers]) -> Series:
    """Points in the order of a rising axis."""
    order = sorted(range(len(axis)), key=lambda i: axis[i])
    return Series(
        tuple(axis[i] for i in order),
        {name: tuple(points[i][name] for i in order) for name in points[0]},
    )


def cases() -> Cases:
    """Table 3, measured once."""
    ages = {name: records(CASES, name) for name in (f"age{i}" for i in range(1, 6))}
    return Cases({**ages, **secrets(CASES, "age5", ["disease1", "disease2", "disease3"])})


def list_numbers(values: Sequence[float]) -> str:
    """Numbers in a row, for people."""
    return ", ".join(f"{significant(round(v, 4) + 0.0)}" for v in values)
