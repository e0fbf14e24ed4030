"""What somebody who reasons is told: the model, the priors, the domains, how long to think."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sievert.arrays import Ints
from sievert.attacks.reasoning.horizontal.release import METHODS
from sievert.attacks.reasoning.priors import Weights
from sievert.errors import InputError, UsageError, unknown
from sievert.hierarchies import Hierarchy
from sievert.notes import Count, Name, Note

LIKELIHOODS = ("product", "saturated")
DOMAINS = ("cross", "observed")
MOST_CHAINS = 64
Text = str | None


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
            if not whole:
                raise UsageError(f"{name} must be a whole number from {least} to {most:,}")

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

    def given(self, column: str) -> Any:
        """The domain given for a column, if any."""
        return self.domain.get(column) if isinstance(self.domain, Mapping) else None


Remark = Callable[[Note], None]


def remark_domains(public: Mapping[str, bool], remark: Remark) -> None:
    """Say whose domain is taken from the original."""
    secret = [column for column, known in public.items() if not known]
    if secret:
        who = Name(secret[0]) if len(secret) == 1 else Count(len(secret), "column")
        text = "the values that {} may have are known from the original: an attacker may know fewer"
        remark(Note(text + " (--domain)", who))


def remark_secrets(truth: Ints, remark: Remark) -> None:
    """Say how many records of the original have a secret that the release does not have."""
    strange = int(truth[:, -1].sum())
    if strange == truth.sum():
        raise InputError(
            "no secret of the original occurs in the release", hint="are they of the same people?"
        )
    if strange:
        text = "{} of the original with a secret that the release does not have"
        remark(Note(text, Count(strange)))


def remark_misplaced(records: int, remark: Remark) -> None:
    """Say how many records of the original fit no released class."""
    if records:
        text = "{} of the original fit no released class: how were values made coarser?"
        remark(Note(text + " (--hierarchy COL=FILE)", Count(records)))
