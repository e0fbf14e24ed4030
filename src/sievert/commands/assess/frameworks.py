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


def framework_evidence(name: str, content: Mapping[str, Any]) -> dict[str, Any]:
    """Answer the criteria of a framework by an assessment; `content` is its JSON.

    Each number is that of the worse reading of missing values, by which limits are judged. It is
    the number of the suppressed records as a class of their own, if this is limited and worse.
    """
    framework = FRAMEWORKS[name]
    policy = content["policy"] or {}
    return {
        "id": name,
        "source_read": framework.read,
        "criteria": [
            {"id": criterion.id, "numbers": [*_numbers(criterion, content)]}
            for criterion in framework.criteria
        ],
        "unanswered": list(framework.unanswered),
        "record": {
            "version": __version__,
            "input_sha256": (content["table"].get("verified") or {}).get("sha256"),
            "policy": policy.get("name"),
            "policy_sha256": policy.get("sha256"),
            "met": policy.get("met"),
        },
    }


def _within(value: float | None, most: float | None, *, sure: bool) -> bool | None:
    """Tell whether a number is within a threshold; None if undecided.

    It is not `sure` if rows may not be people, or if suppressed records were not measured.
    """
    if value is None or most is None:
        return None
    if value > most:
        return False
    return True if sure else None


def _numbers(criterion: Criterion, content: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
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
            yield {
                "where": where,
                "measure": measure,
                "value": value,
                "max": most.get(measure),
                "within": _within(value, most.get(measure), sure=sure),
                **({} if scope is None else {"scope": scope}),
            }


def _is_worse(value: float, other: float, measure: str) -> bool:
    """Tell whether a value of a measure is riskier than another one."""
    return value < other if BY_ID[measure].riskier == "low" else value > other
