"""The options of an attacker who reasons, and what may not be combined."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from sievert.errors import require, unknown
from sievert.settings.option import Settings, TextReader, option
from sievert.settings.readers import TABLE, WITHOUT, column_values

Weights = float | Mapping[Any, Any]
Likelihood = Literal["product", "saturated"]
ReasoningMethod = Literal["auto", "closed form", "exact", "gibbs"]

LIKELIHOODS: tuple[Likelihood, ...] = get_args(Likelihood)
METHODS: tuple[ReasoningMethod, ...] = get_args(ReasoningMethod)
AUTO, CLOSED, EXACT, GIBBS = METHODS
CROSS = "cross"
OBSERVED = "observed"
DOMAINS = (CROSS, OBSERVED)  # the names of domains; others are given by column
MOST_CHAINS = 64


def _read_domain(given: list[str], flag: str) -> str | dict[str, str]:
    """Read the name of a domain, or COLUMN=VALUES as often as it was given."""
    if len(given) == 1 and given[0] in DOMAINS:
        return given[0]
    return column_values(given, flag, "age=17..90")


@dataclass(frozen=True, kw_only=True)
class ReasoningSettings(Settings):
    """Somebody who reasons by Bayes' rule from the release itself."""

    heading: ClassVar[str] = "Reasoning"

    reasoning: bool = option(
        "Leave out the attack by reasoning.",
        in_python="Whether somebody reasons about the secrets, by Bayes' rule.",
        default=True,
        flags=("--no-reasoning",),
        reader=WITHOUT,
    )
    sensitive_table: Any = option(
        "The second table of a release by Anatomy: groups and their secrets.",
        in_python="Of a release in two tables the second one: groups and their secrets.",
        default=None,
        reader=TABLE,
        reads=True,
    )
    group: str | None = option(
        "The column of groups, within which it is unknown who has which secret.",
        in_python="The column that joins the two tables of a release. With a group but without a "
        "second table, it is unknown within a group who has which secret.",
        default=None,
    )
    likelihood: Likelihood = option(
        "product: columns are independent given the secret; saturated: all columns are one symbol.",
        in_python='"product": columns are independent given the secret; "saturated": every '
        "combination of values is a symbol of its own.",
        default="product",
    )
    alpha: Weights = option(
        "The weight of every secret before the release is seen.",
        in_python="The weight of each secret before the release is seen: a number, or a mapping of "
        "columns or of secrets.",
        default=1.0,
    )
    beta: Weights = option(
        "The weight of every value given the secret before the release is seen.",
        in_python="The weight of each value given the secret before the release is seen: a number, "
        "or a mapping of columns, of secrets or of values.",
        default=1.0,
    )
    domain: str | Mapping[str, Any] = option(
        "COL=FILE or COL=LOW..HIGH: values that a column may have; or observed: the original's.",
        in_python='The values that columns may have: "cross" (hierarchies and the release say '
        'which), "observed" (those of the original), or a mapping of columns to lists, files or '
        '"LOW..HIGH".',
        default=CROSS,
        reader=TextReader(kind=str, several=True, convert=_read_domain),
    )
    method: ReasoningMethod = option(
        '"auto" solves in closed form or counts all tables where it can, and samples ("gibbs") '
        "otherwise.",
        default=AUTO,
        side="python",
    )
    chains: int | None = option(
        "How many chains, where beliefs must be sampled: 4, or 8 by groups, unless given.",
        default=None,
    )
    sweeps: int | None = option("At most so many sweeps of each chain.", default=None)
    seed: int = option("Where chance starts.", default=0)

    @property
    def takes_original_domain(self) -> bool:
        """Tell whether columns may have the values of the original only."""
        return self.domain == OBSERVED

    @property
    def is_usual(self) -> bool:
        """Tell whether no option says how to reason, apart from the seed."""
        usual = ReasoningSettings()
        return (
            self.likelihood == usual.likelihood
            and self.alpha == usual.alpha
            and self.beta == usual.beta
            and self.domain == usual.domain
            and self.method == usual.method
            and self.chains == usual.chains
            and self.sweeps == usual.sweeps
        )

    def check_reasoning(self) -> None:
        """Refuse names that do not exist and numbers that are out of their range."""
        domain = CROSS if isinstance(self.domain, Mapping) else self.domain
        for what, given, names in (
            ("--likelihood:", self.likelihood, LIKELIHOODS),
            ("--domain:", domain, DOMAINS),
            ("method:", self.method, METHODS),
        ):
            if given not in names:
                raise unknown(what, str(given), names)
        for flag, number, least, most in (
            ("--chains", self.chains, 2, MOST_CHAINS),
            ("--sweeps", self.sweeps, 50, 10**9),
            ("--seed", self.seed, 0, 2**63),
        ):
            in_range = number is None or (isinstance(number, int) and least <= number <= most)
            require(in_range, f"{flag} must be a whole number from {least} to {most:,}")

    def check_domain_columns(self, columns: Sequence[str]) -> None:
        """Refuse a domain of a column that is none of the `columns`."""
        for column in self.domain if isinstance(self.domain, Mapping) else ():
            if column not in columns:
                raise unknown("--domain: column", column, columns)
