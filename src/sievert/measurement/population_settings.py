"""What the user states about the people behind a table: their number, weights, households."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from sievert.counts.questions import Questions
from sievert.counts.wildcards import MOST_PARTS
from sievert.errors import require
from sievert.request.requested import check_known


@dataclass(frozen=True)
class PopulationSettings:
    """What the user states about the population, and the columns of weights and households.

    `alpha` is how much a record counts that lacks a value which another one has, where missing
    values match anything; `individual_risk` says how the risk is computed from weights.
    """

    size: int | None = None
    fraction: float | str | None = None
    table: Any = None
    weight: str | None = None
    household: str | None = None
    alpha: float | str | None = None
    individual_risk: str = "exact"

    def __post_init__(self) -> None:
        require(
            sum(x is not None for x in (self.size, self.fraction, self.table)) <= 1,
            "--population-size, --fraction and --population say the same thing: one of them",
        )
        path = str(self.table) if isinstance(self.table, str | Path) else ""
        require(
            not path.isdecimal() or Path(path).exists(),
            "--population is a table of everybody, not a number",
            hint=f"--population-size {path}",
        )
        if self.individual_risk != "exact":
            from sievert.population.individual_risk import METHODS

            check_known("--individual-risk:", self.individual_risk, METHODS)
            require(
                self.weight is not None,
                "the individual risk follows from weights",
                hint="--weight COLUMN",
            )

    @property
    def any(self) -> bool:
        """Whether anything is stated of the population itself."""
        stated = (self.size, self.fraction, self.table, self.weight, self.household)
        return any(x is not None for x in stated)

    @property
    def parameters(self) -> dict[str, dict[str, Any]]:
        """What the measure of the population needs, as a policy would state it."""
        given = {"population_size": self.size, "fraction": _plain_number(self.fraction)}
        stated = {name: number for name, number in given.items() if number is not None}
        return {"population_uniques": stated} if stated else {}

    @property
    def columns(self) -> dict[str, Any]:
        """The columns of weights and households, by their role."""
        given = {"weight": self.weight, "household": self.household}
        return {role: column for role, column in given.items() if column is not None}

    def share_of_match(self, missing: str) -> Fraction | None:
        """Alpha as it is written, 1 unless given; None unless missing values match anything."""
        require(
            self.alpha is None or missing == "wildcard",
            "--alpha is about missing values that match anything",
            hint="--missing wildcard",
        )
        try:
            alpha = Fraction(1 if self.alpha is None else str(self.alpha))
        except (ValueError, ZeroDivisionError):
            alpha = Fraction(-1)
        require(0 <= alpha <= 1, "--alpha is a number from 0 to 1", hint="--alpha 0.5")
        require(
            alpha.denominator <= MOST_PARTS,
            "--alpha has at most six digits after the point",
            hint="--alpha 0.5",
        )
        return alpha if missing == "wildcard" else None

    def check_columns(self, questions: Questions, quasi: Sequence[str]) -> None:
        """Make sure that weights and households are columns that can be used."""
        for role, column in self.columns.items():
            check_known(f"{role}: column", column, questions.columns)
            require(
                column not in quasi,
                f"column {column!r} is a quasi-identifier and cannot be the {role}",
            )
            questions.engine.check_usable(column)


def _plain_number(written: float | str | None) -> float | str | None:
    """A number that is written as text, as a policy has it; the text where it is another number."""
    try:
        number = float(written) if isinstance(written, str) else written
        return number if Fraction(str(number)) == Fraction(str(written)) else written
    except (ValueError, ZeroDivisionError):  # refused where it is used
        return written


def check_rows_of_people(several: bool, stated: PopulationSettings, alpha: Fraction | None) -> None:
    """Raise an error for what is not defined of people with several rows."""
    require(
        not several or not stated.any,
        "a population is not estimated from people with several rows",
        hint="without the options of the population",
    )
    require(
        not several or alpha is None,
        "a missing value that matches anything is not defined for people with several rows",
        hint="--missing value",
    )
