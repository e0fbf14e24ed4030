"""How the attacker reasons: the model, the priors, the domains, and how long to sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sievert.attacks.reasoning.horizontal.release import METHODS
from sievert.attacks.reasoning.priors import Weights
from sievert.errors import require, unknown
from sievert.hierarchies import Hierarchy

LIKELIHOODS = ("product", "saturated")
DOMAINS = ("cross", "observed")
MOST_CHAINS = 64


@dataclass(frozen=True)
class ReasoningSettings:
    """How to reason.

    `domain` is "cross" (what is public: the domains of the columns), "observed" (what occurs in the
    original), or the domains of some columns.
    """

    likelihood: str = "product"
    alpha: Weights = 1.0
    beta: Weights = 1.0
    domain: str | Mapping[str, Any] = "cross"
    method: str = "auto"
    chains: int | None = None
    sweeps: int | None = None
    seed: int = 0
    threads: int = 1
    wildcard: bool = False
    hierarchies: Mapping[str, Hierarchy | None] = field(default_factory=dict)

    def check(self) -> None:
        """Refuse what makes no sense for any table."""
        named = "cross" if isinstance(self.domain, Mapping) else self.domain
        for what, given, known in (
            ("--likelihood:", self.likelihood, LIKELIHOODS),
            ("--domain:", named, DOMAINS),
            ("method:", self.method, METHODS),
        ):
            if given not in known:
                raise unknown(what, str(given), known)
        for name, number, least, most in (
            ("--chains", self.chains, 2, MOST_CHAINS),
            ("--sweeps", self.sweeps, 50, 10**9),
            ("--seed", self.seed, 0, 2**63),
        ):
            whole = number is None or (isinstance(number, int) and least <= number <= most)
            require(whole, f"{name} must be a whole number from {least} to {most:,}")

    def check_columns(self, columns: Sequence[str]) -> None:
        """Refuse domains of columns that nobody knows anything of."""
        if isinstance(self.domain, Mapping):
            for column in self.domain:
                if column not in columns:
                    raise unknown("--domain: column", column, columns)

    @property
    def observed(self) -> bool:
        """Whether the original's values are the domain."""
        return self.domain == "observed"

    def domain_for(self, column: str) -> Any:
        """The domain given for a column, if any."""
        return self.domain.get(column) if isinstance(self.domain, Mapping) else None
