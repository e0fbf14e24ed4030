"""What the user states about the people behind a table: their number, weights, households."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from sievert.errors import require
from sievert.settings.checks import check_known
from sievert.settings.option import Settings, option
from sievert.settings.readers import TABLE, TEXT

if TYPE_CHECKING:
    from sievert.counts.questions import Questions

IndividualRisk = Literal["exact", "approx"]


@dataclass(frozen=True, kw_only=True)
class PopulationSettings(Settings):
    """What the user states about the population, and the columns of weights and households."""

    heading: ClassVar[str] = "Population"

    population_size: int | None = option("The table is a sample of so many people.", default=None)
    fraction: float | str | None = option(
        "The table is this share of the people: 0.1 for one in ten.", default=None, reader=TEXT
    )
    population: Any = option(
        "A table of everybody, with the same quasi-identifiers.",
        default=None,
        reader=TABLE,
        reads=True,
    )
    weight: str | None = option(
        "The column that says how many people a record stands for.", default=None
    )
    household: str | None = option(
        "The column that says which household a record belongs to.", default=None
    )
    individual_risk: IndividualRisk = option(
        "With --weight: the exact risk of a record, or approx, sdcMicro's default, never below it.",
        default="exact",
    )
    alpha: float | str | None = option(
        "With --missing wildcard: a record that lacks a value which another one has counts as this "
        "much of a match, from 0 to 1; 1 unless given.",
        default=None,
        reader=TEXT,
    )

    def check_population(self) -> None:
        """Refuse statements that contradict each other."""
        stated = (self.population_size, self.fraction, self.population)
        require(
            sum(x is not None for x in stated) <= 1,
            "--population-size, --fraction and --population say the same thing: one of them",
        )
        table = self.population
        path = os.fspath(table) if isinstance(table, str | Path) else ""
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
    def states_population(self) -> bool:
        """Whether anything is stated about the population itself."""
        stated = (
            self.population_size,
            self.fraction,
            self.population,
            self.weight,
            self.household,
        )
        return any(x is not None for x in stated)

    @property
    def changes_population(self) -> bool:
        """Whether any option of the population is given."""
        risk = self.individual_risk != "exact"
        return self.states_population or risk or self.alpha is not None

    @property
    def population_parameters(self) -> dict[str, dict[str, Any]]:
        """Give what the measure of the population needs, as a policy would state it."""
        return population_parameters(self.population_size, self.fraction)

    @property
    def weight_columns(self) -> dict[str, Any]:
        """Give the columns of weights and households, by their role."""
        given = {"weight": self.weight, "household": self.household}
        return {role: column for role, column in given.items() if column is not None}

    def share_of_match(self, missing: str) -> Fraction | None:
        """Read alpha as it is written, 1 unless given; None unless missing values match anything.

        `missing` is the reading of missing quasi-identifiers.
        """
        require(
            self.alpha is None or missing == "wildcard",
            "--alpha is about missing values that match anything",
            hint="--missing wildcard",
        )
        from sievert.counts.wildcards import MOST_PARTS

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

    def check_weight_columns(self, questions: "Questions", quasi: Sequence[str]) -> None:
        """Make sure that weights and households are columns that can be used."""
        for role, column in self.weight_columns.items():
            check_known(f"{role}: column", column, questions.columns)
            require(
                column not in quasi,
                f"column {column!r} is a quasi-identifier and cannot be the {role}",
            )
            questions.engine.check_usable(column)


def population_parameters(
    size: int | None, fraction: float | str | None = None
) -> dict[str, dict[str, Any]]:
    """Give what the measure of the population needs, as a policy would state it."""
    given = {"population_size": size, "fraction": _plain_number(fraction)}
    stated = {name: number for name, number in given.items() if number is not None}
    return {"population_uniques": stated} if stated else {}


def _plain_number(written: float | str | None) -> float | str | None:
    """Read a number that is written as text; return the text if the float is another number."""
    try:
        number = float(written) if isinstance(written, str) else written
        return number if Fraction(str(number)) == Fraction(str(written)) else written
    except (ValueError, ZeroDivisionError):  # refused where it is used
        return written


def check_rows_of_people(several: bool, stated: PopulationSettings, alpha: Fraction | None) -> None:
    """Refuse what is not defined for people with several rows."""
    require(
        not several or not stated.states_population,
        "a population is not estimated from people with several rows",
        hint="without the options of the population",
    )
    require(
        not several or alpha is None,
        "a missing value that matches anything is not defined for people with several rows",
        hint="--missing value",
    )
