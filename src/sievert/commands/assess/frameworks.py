"""The numbers of an assessment that answer the criteria of a regulator's framework.

A framework is a list of criteria. Each names the measures that answer it, and a threshold if the
framework has one. Criteria that no number answers are named, too. The sentences stand in the texts.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sievert.measures import BY_ID
from sievert.policy.judgement import SUPPRESSED, worse_reading
from sievert.version import __version__

FINDING = ("k_anonymity", "unique_records", "highest_risk")
LEARNING = ("max_confidence", "guess_gain", "l_diversity", "discrimination_rate")


@dataclass(frozen=True)
class Criterion:
    """One criterion, and the measures of records and secrets that answer it, possibly none.

    `highest` has the framework's own thresholds: the largest value of a measure that it accepts.
    """

    id: str
    records: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    highest: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Framework:
    """The criteria of a regulator; no number answers the `unanswered` ones."""

    criteria: tuple[Criterion, ...]
    unanswered: tuple[str, ...]
    read: bool = False  # whether its own text was read, and not somebody's account of it


THREE_CRITERIA = (
    Criterion("singling_out", FINDING),
    Criterion("linkability"),
    Criterion("inference", secrets=LEARNING),
)
FRAMEWORKS = {
    "wp216": Framework(THREE_CRITERIA, ("means", "other_releases", "residual"), read=True),
    "ico": Framework(
        (*THREE_CRITERIA, Criterion("motivated_intruder", ("average_risk", "highest_risk"))),
        ("means", "recipients", "review"),
        read=True,
    ),
    "hipaa": Framework(
        (
            Criterion("very_small", ("highest_risk", "average_risk", "unique_records")),
            Criterion("safe_harbor"),
        ),
        ("expert", "recipients", "actual_knowledge"),
    ),
    "ema0070": Framework(
        (
            Criterion("maximum_risk", ("highest_risk",), highest={"highest_risk": 0.09}),
            *THREE_CRITERIA,
        ),
        ("context", "documents", "utility"),
    ),
    "iso27559": Framework(
        (
            Criterion("maximum_or_average", ("highest_risk", "average_risk")),
            Criterion("population_or_sample"),
            Criterion("privacy_models", ("k_anonymity",), ("l_diversity", "t_closeness")),
            Criterion(
                "quantifying", ("unique_records",), ("discrimination_rate", "mutual_information")
            ),
            Criterion("adversarial_testing"),
        ),
        ("context", "environment", "governance"),
    ),
    "sp800188": Framework(
        (
            Criterion("identity", FINDING),
            Criterion("attribute", secrets=("l_diversity", "max_confidence")),
            Criterion("inferential", secrets=("guess_gain", "mutual_information")),
            Criterion("study"),
        ),
        ("board", "sharing_model", "formal_privacy"),
    ),
}


@dataclass(frozen=True, kw_only=True)
class CriterionNumber:
    """A number that answers a criterion, and whether it is within the framework's threshold."""

    where: str
    measure: str
    value: float | None
    max: float | None  # None where the framework names none
    within: bool | None
    scope: str | None  # "suppressed": of the suppressed records as a class of their own

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "CriterionNumber":
        """Read an entry of the JSON."""
        return cls(
            where=data["where"],
            measure=data["measure"],
            value=data["value"],
            max=data["max"],
            within=data["within"],
            scope=data.get("scope"),
        )

    def to_dict(self) -> dict[str, Any]:
        """As it stands in the JSON."""
        entry = dict(vars(self))
        if self.scope is None:
            del entry["scope"]
        return entry


@dataclass(frozen=True, kw_only=True)
class CriterionEvidence:
    """A criterion with the numbers that answer it."""

    id: str
    numbers: tuple[CriterionNumber, ...]

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "CriterionEvidence":
        """Read an entry of the JSON."""
        numbers = tuple(CriterionNumber.from_dict(number) for number in data["numbers"])
        return cls(id=data["id"], numbers=numbers)

    def to_dict(self) -> dict[str, Any]:
        """As it stands in the JSON."""
        return {"id": self.id, "numbers": [number.to_dict() for number in self.numbers]}


@dataclass(frozen=True, kw_only=True)
class CheckerRecord:
    """What an output checker files: the tool, the input, the policy."""

    version: str
    input_sha256: str | None
    policy: str | None
    policy_sha256: str | None
    met: bool | None

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "CheckerRecord":
        """Read the record back from the JSON."""
        return cls(
            version=data["version"],
            input_sha256=data["input_sha256"],
            policy=data["policy"],
            policy_sha256=data["policy_sha256"],
            met=data["met"],
        )


@dataclass(frozen=True, kw_only=True)
class FrameworkEvidence:
    """What a framework asks, and which numbers of an assessment answer it."""

    id: str
    source_read: bool  # whether its own text was read
    criteria: tuple[CriterionEvidence, ...]
    unanswered: tuple[str, ...]
    record: CheckerRecord

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "FrameworkEvidence":
        """Read the evidence back from the JSON."""
        return cls(
            id=data["id"],
            source_read=data["source_read"],
            criteria=tuple(CriterionEvidence.from_dict(each) for each in data["criteria"]),
            unanswered=tuple(data["unanswered"]),
            record=CheckerRecord.from_dict(data["record"]),
        )

    def to_dict(self) -> dict[str, Any]:
        """As it stands in the JSON."""
        return {
            "id": self.id,
            "source_read": self.source_read,
            "criteria": [criterion.to_dict() for criterion in self.criteria],
            "unanswered": list(self.unanswered),
            "record": dict(vars(self.record)),
        }


def framework_evidence(name: str, content: Mapping[str, Any]) -> FrameworkEvidence:
    """Answer the criteria of a framework by an assessment; `content` is its JSON.

    Each number is that of the worse reading of missing values, by which limits are judged. It is
    the number of the suppressed records as a class of their own, if this is limited and worse.
    """
    framework = FRAMEWORKS[name]
    policy = content["policy"] or {}
    return FrameworkEvidence(
        id=name,
        source_read=framework.read,
        criteria=tuple(
            CriterionEvidence(id=criterion.id, numbers=tuple(_numbers(criterion, content)))
            for criterion in framework.criteria
        ),
        unanswered=framework.unanswered,
        record=CheckerRecord(
            version=__version__,
            input_sha256=(content["table"].get("verified") or {}).get("sha256"),
            policy=policy.get("name"),
            policy_sha256=policy.get("sha256"),
            met=policy.get("met"),
        ),
    )


def _within(value: float | None, most: float | None, *, sure: bool) -> bool | None:
    """Tell whether a number is within a threshold; None if undecided.

    It is not `sure` if rows may not be people, or if suppressed records were not measured.
    """
    if value is None or most is None:
        return None
    if value > most:
        return False
    return True if sure else None


def _numbers(criterion: Criterion, content: Mapping[str, Any]) -> Iterator[CriterionNumber]:
    """Yield the numbers that answer a criterion, each with its place and threshold."""
    places = [("reidentification", criterion.records, content["reidentification"])]
    places += [(f"inference.{s}", criterion.secrets, v) for s, v in content["inference"].items()]
    most = criterion.highest
    for where, measures, values in places:
        for measure in measures:
            own = worse_reading(values[measure]) if measure in values else None
            value = own
            scope = None
            known = not content["table"].get("suppressed")
            for verdict in (content["policy"] or {}).get("limits", ()):
                same = (verdict["where"], verdict["measure"]) == (where, measure)
                if same and verdict.get("scope") == SUPPRESSED:
                    known = verdict["value"] is not None
                    if known and own is not None and _is_worse(verdict["value"], own, measure):
                        value = verdict["value"]
                        scope = SUPPRESSED
            known = known or not BY_ID[measure].of_class
            sure = known and not content.get("cautions")
            yield CriterionNumber(
                where=where,
                measure=measure,
                value=value,
                max=most.get(measure),
                within=_within(value, most.get(measure), sure=sure),
                scope=scope,
            )


def _is_worse(value: float, other: float, measure: str) -> bool:
    """Tell whether a value of a measure is riskier than another one."""
    return value < other if BY_ID[measure].riskier == "low" else value > other
