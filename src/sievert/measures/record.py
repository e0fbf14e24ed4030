"""The record a measure carries: what it is, how to read it, and which laws it obeys."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

Number = int | float
UNBOUNDED = "unbounded"
NOTHING_TO_LEARN = "H(X) = 0"
ONE_RECORD = "one record"
UNORDERED_MISSING = "missing values have no place in the order"


@dataclass(frozen=True)
class Found:
    """A measured number with what belongs beside it; None with a reason where it is undefined."""

    value: Number | None
    reason: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


def undefined(reason: str, **details: Any) -> Found:
    """A value that does not exist, and why."""
    return Found(None, reason, details)


class Law(StrEnum):
    """A law that a measure declares and the tests hold it to."""

    PERMUTATION = "the order of the records does not matter"
    RENAMING = "names, order of columns and unused columns do not matter"
    RELABEL_QUASI = "renaming the values of a quasi-identifier one to one changes nothing"
    RELABEL_SECRET = "renaming the values of the secret one to one changes nothing"
    COPY = "adding a constant column or a copy of a quasi-identifier changes nothing"
    COARSENING = "merging values of a quasi-identifier never raises the risk"
    REFINING = "adding a quasi-identifier never lowers the risk"
    MERGED_SECRET_LOWER = "merging values of the secret never raises the number"
    MERGED_SECRET_HIGHER = "merging values of the secret never lowers the number"
    REPETITION = "repeating every record changes nothing about a secret"
    REPETITION_RECORD = "repeating every record changes nothing about finding one"
    SYMMETRY = "exchanging the secret and the quasi-identifier changes nothing"


ALWAYS = (Law.PERMUTATION, Law.RENAMING, Law.RELABEL_QUASI, Law.COPY)
MONOTONE = (Law.COARSENING, Law.REFINING)

Kind = Literal["record", "secret"]


@dataclass(frozen=True)
class Measure:
    """One measure: a pure function of counts, and everything a reader needs beside the number."""

    id: str
    title: str
    unit: str
    low: float | None
    high: float | None
    riskier: Literal["high", "low", "neither"]
    formula: str
    source: str
    reading: str
    laws: tuple[Law, ...]
    compute: Callable[[Any, Mapping[str, Any]], Number | Found]
    kinds: tuple[Kind, ...] = ("record", "secret")
    needs: frozenset[str] = frozenset()

    @property
    def bounds(self) -> str:
        """The range in words."""
        low = "-∞" if self.low is None else f"{self.low:g}"
        return f"[{low}, {self.high:g}]" if self.high is not None else f">= {low}"
