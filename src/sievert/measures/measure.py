"""The record of a measure, and one measured number with its unit, as results and JSON have it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

from sievert.formatting.remarks import Remark
from sievert.measures.class_rules import ClassRule, SizeRule
from sievert.measures.class_sums import SumRule
from sievert.measures.influence import Bound

Number = int | float
UNBOUNDED = Remark("unbounded")
NOTHING_TO_LEARN = Remark("nothing_to_learn")
ONE_RECORD = Remark("one_record")
ROWS = "rows"  # what a measure needs that counts rows, also where people are counted
SEVERAL_CLASSES = Remark("several_classes")
UNORDERED_MISSING = Remark("unordered_missing")


@dataclass(frozen=True)
class MeasureResult:
    """A measured number with its details; None with a reason where it is undefined."""

    value: Number | None
    reason: Remark | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


def undefined(reason: Remark, **details: Any) -> MeasureResult:
    """A value that does not exist, and why."""
    return MeasureResult(None, reason, details)


class Law(StrEnum):
    """A law that a measure declares and tests check."""

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


Options = Mapping[str, Any]  # parameters of a measure by their names
ALWAYS = (Law.PERMUTATION, Law.RENAMING, Law.RELABEL_QUASI, Law.COPY)
BLIND = (*ALWAYS, Law.RELABEL_SECRET, Law.REPETITION)
MONOTONE = (Law.COARSENING, Law.REFINING)

TargetKind = Literal["record", "secret"]


@dataclass(frozen=True, kw_only=True)
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
    compute: Callable[[Any, Mapping[str, Any]], Number | MeasureResult]
    kinds: tuple[TargetKind, ...] = ("record", "secret")
    needs: frozenset[str] = frozenset()
    influence: Bound | None = field(kw_only=True)  # of one person; None: it is never shareable
    aliases: tuple[str, ...] = field(default=(), kw_only=True)  # other names that the field uses
    of_class: bool = field(default=False, kw_only=True)  # a class alone can breach a limit on it
    # What a limit demands of every class, where `protect` can tell that from the class alone.
    class_rules: tuple[ClassRule, ...] = field(default=(), kw_only=True)
    size_rule: SizeRule | None = field(default=None, kw_only=True)
    sum_rule: SumRule | None = field(default=None, kw_only=True)  # if it is a sum over classes
    in_percent: bool = field(default=False, kw_only=True)  # pages show it so: a share of people
    exposes_group: bool = field(default=False, kw_only=True)  # a breach is that of one group
    instead: str = field(default="", kw_only=True)  # a limit that more tables can meet

    @property
    def bounds(self) -> str:
        """The range in words."""
        low = "-∞" if self.low is None else f"{self.low:g}"
        return f"[{low}, {self.high:g}]" if self.high is not None else f">= {low}"


WITHOUT_MISSING = "without missing secrets"  # readings of missing values: the worse decides
AS_VALUE = "a missing value as a value of its own"
SPELT_ALIKE = Remark("spelt_alike")  # the worse of two readings decides, too
SUPPRESSED = "suppressed"
OF_EVERY_VALUE = frozenset({"value", "unit", "riskier", "reason"})  # in the JSON; others: details


@dataclass(frozen=True, kw_only=True)
class Value:
    """One measured number with its unit, which way is risky, and why it is missing if it is."""

    id: str  # of the measure
    value: Number | None  # None where it is undefined or unbounded
    unit: str  # such as "bits"; "1" of a share
    riskier: str  # "high", "low" or "neither"
    reason: str | None = None  # why there is no value: of a measure a remark
    details: Mapping[str, Any] = field(default_factory=dict)  # more that belongs to the number

    @classmethod
    def from_dict(cls, measure: str, data: Mapping[str, Any]) -> "Value":
        """Read the number of a measure back from the JSON."""
        return cls(
            id=measure,
            value=data["value"],
            unit=data["unit"],
            riskier=data["riskier"],
            reason=data["reason"],
            details={key: entry for key, entry in data.items() if key not in OF_EVERY_VALUE},
        )

    def to_dict(self) -> dict[str, Any]:
        """As it stands in the JSON."""
        return {
            "value": self.value,
            "unit": self.unit,
            "riskier": self.riskier,
            "reason": self.reason,
            **self.details,
        }


def read_values(data: Mapping[str, Mapping[str, Any]]) -> dict[str, Value]:
    """Read numbers back from the JSON, by their measures."""
    return {measure: Value.from_dict(measure, entry) for measure, entry in data.items()}
