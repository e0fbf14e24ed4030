"""The tables of the experiment: one with the sizes of Table 2, and census records where given."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from sievert.errors import InputError
from sievert.papers.given_tables import Columns, read_columns, too_few

RECORDS = 2_500
# Table 2: least and greatest value, rounding, number of values.
TABLE_2: dict[str, tuple[int, int, int, int]] = {
    "Salary": (10, 250, 10, 25),
    "Age": (16, 84, 1, 69),
    "Sex": (1, 2, 1, 2),
    "Education": (1, 16, 1, 16),
    "Industry": (1, 18, 1, 18),
    "Occupation": (1, 25, 1, 25),
    "Work Travel Time": (1, 177, 1, 177),
}
SALARIES = list(range(10, 251, 10))
CENSUS = "an extract of the census"
PUMS = ["sex", "age", "educ", "latino", "black", "married"]


@dataclass(frozen=True)
class PaperTable:
    """A table of the experiment: its known columns, its confidential one, and how to round it."""

    name: str
    columns: Columns
    secret: str
    step: int
    unit: int  # of areas, as they are shown

    @property
    def known(self) -> list[str]:
        """The columns that an intruder may know."""
        return [name for name in self.columns if name != self.secret]


def numbers(seed: int) -> dict[str, Any]:
    """Generated people with the domains of Table 2; pay hangs on education, age, sex and trade.

    Each salary of the domain is that of one of the first records, so that all of them occur.
    """
    rng = np.random.default_rng([seed, RECORDS])
    age, sex = rng.integers(16, 85, RECORDS), rng.integers(1, 3, RECORDS)
    education = np.clip(np.rint(rng.normal(10, 3, RECORDS)), 1, 16)
    industry, occupation = rng.integers(1, 19, RECORDS), rng.integers(1, 26, RECORDS)
    travel = np.clip(np.rint(np.exp(rng.normal(3, 0.7, RECORDS))), 1, 177)
    mean = 3.3 + 0.05 * (education - 10) + 0.01 * np.minimum(age - 16, 30)
    mean = mean + 0.15 * (sex == 1) + 0.01 * (occupation - 12)
    salary = np.clip(10 * np.rint(np.exp(rng.normal(mean, 0.6)) / 10), 10, 250)
    salary[: len(SALARIES)] = SALARIES
    return {
        "age": age,
        "sex": sex,
        "education": education,
        "industry": industry,
        "occupation": occupation,
        "travel": travel,
        "salary": salary,
    }


def generate_table(seed: int) -> PaperTable:
    """The generated people as a table of text."""
    columns = {
        name: [str(int(x)) for x in column.tolist()] for name, column in numbers(seed).items()
    }
    return PaperTable("generated", columns, "salary", 10, 1)


def census(path: str) -> tuple[PaperTable, PaperTable]:
    """The first 2,500 records, and the first 2,500 whose income is in the paper's range."""
    whole = read_columns(path, [*PUMS, "income"], CENSUS, ordered=True)
    try:
        tens = [round(Fraction(x) / 10_000) for x in whole["income"]]
    except (ValueError, ZeroDivisionError):
        raise InputError(
            f"{Path(path).name}: column income has values that are not numbers", hint=CENSUS
        ) from None
    paid = [i for i, x in enumerate(tens) if 1 <= x <= 25][:RECORDS]
    if len(paid) < RECORDS:
        of = "records with an income of 10,000 to 250,000"
        raise too_few(path, len(paid), of, RECORDS, CENSUS)
    return (
        _study("census, all incomes", whole, range(RECORDS), 15_000),
        _study("census, 10,000 to 250,000", whole, paid, 10_000),
    )


def _study(name: str, whole: Columns, rows: Any, step: int) -> PaperTable:
    columns = {c: [whole[c][i] for i in rows] for c in (*PUMS, "income")}
    return PaperTable(name, columns, "income", step, 1000)
