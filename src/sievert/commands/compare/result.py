"""The result of `sievert compare`: releases of one original, side by side."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sievert.checks.spellings import Respelt
from sievert.estimators import InformationEstimate
from sievert.formatting import own_name
from sievert.losses import BY_ID
from sievert.losses.loss import Loss
from sievert.measures.measure import Value
from sievert.pairing.evidence import STATED, Pairing
from sievert.result import Result
from sievert.tradeoff import Tradeoff

if TYPE_CHECKING:
    from sievert.policy import Judgement

FRAME_COLUMNS = ("number", "target", "column", "what", "value", "unit", "reason")
ESTIMATE_UNITS = dict.fromkeys(("value", "corrected", "chance", "miller_madow"), "bits")
ESTIMATE_UNITS["p_value"] = "1"
DISTANCE_UNITS = {"distortion": "1", "least": "bits", "bound": "bits", "ratio": "1"}
NOTHING = 1e-3  # bits: a ratio to less is not told


@dataclass(frozen=True)
class Assessed:
    """The measures of one table that stand beside each other before and after."""

    reidentification: Mapping[str, Value]
    inference: Mapping[str, Mapping[str, Value]]
    best: Mapping[str | None, Mapping[str, Value]] = field(default_factory=dict)  # of any release
    suppressed: tuple[Mapping[str, Value], Mapping[str, Mapping[str, Value]]] = ({}, {})
    respelt: Respelt = field(default_factory=Respelt)
    certain: Mapping[str, tuple[int, int]] = field(default_factory=dict)  # in classes of one value

    def to_dict(self) -> dict[str, Any]:
        """As it stands in the JSON."""
        return {
            "reidentification": {k: v.to_dict() for k, v in self.reidentification.items()},
            "inference": {
                s: {k: v.to_dict() for k, v in values.items()}
                for s, values in self.inference.items()
            },
        }


@dataclass(frozen=True)
class Bits:
    """An information of the whole key and of each column, and what belongs beside it."""

    whole: InformationEstimate
    columns: Mapping[str, InformationEstimate]
    details: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """As it stands in the JSON."""
        return {
            **self.whole.to_dict(),
            **self.details,
            "columns": {c: e.to_dict() for c, e in self.columns.items()},
        }


@dataclass(frozen=True)
class Disclosed:
    """What a release tells of the original key and of each secret, and what it no longer tells."""

    identity: Bits
    attribute: Mapping[str, Bits]
    loss: Mapping[str, Bits]

    def to_dict(self) -> dict[str, Any]:
        """As it stands in the JSON."""
        return {
            "identity_disclosure": self.identity.to_dict(),
            "attribute_disclosure": {s: b.to_dict() for s, b in self.attribute.items()},
            "information_loss": {s: b.to_dict() for s, b in self.loss.items()},
        }

    def every(self) -> Iterator[tuple[str, str | None, str | None, InformationEstimate]]:
        """Every estimate: its name, its secret, its column, itself."""
        return (
            (name, secret, column, estimate)
            for name, by_secret in (
                ("identity_disclosure", [(None, self.identity)]),
                ("attribute_disclosure", self.attribute.items()),
                ("information_loss", self.loss.items()),
            )
            for secret, bits in by_secret
            for column, estimate in ((None, bits.whole), *bits.columns.items())
        )


@dataclass(frozen=True)
class ReleaseDistance:
    """One release against the limit of one secret; information in bits.

    `least` was attained by some release with this distortion, below `bound` is none; `as_channel`
    is what the release tells if its chance has nothing to do with the secret.
    """

    distortion: float
    disclosed: float
    corrected: float | None = None
    as_channel: float | None = None
    as_released: float | None = None
    least: float | None = None
    bound: float | None = None
    columns: Mapping[str, float] | None = None

    @property
    def ratio(self) -> float | None:
        """At least so many times the least possible is disclosed."""
        known = self.least is not None and self.least > NOTHING
        return self.disclosed / self.least if known and self.least else None

    @property
    def reason(self) -> str | None:
        """Why there is no ratio."""
        if self.least is None:
            return "no release made from the merged combinations distorts so little"
        return None if self.ratio is not None else "so much distortion allows to tell nothing"

    def to_dict(self) -> dict[str, Any]:
        """As it stands in the JSON."""
        return {
            "distortion": self.distortion,
            "distortion_as_released": self.as_released,
            "columns": dict(self.columns or {}),
            "disclosed": self.disclosed,
            "corrected": self.corrected,
            "as_channel": self.as_channel,
            "least": self.least,
            "bound": self.bound,
            "gap": None if self.least is None or self.bound is None else self.least - self.bound,
            "ratio": self.ratio,
            "reason": self.reason,
        }


@dataclass(frozen=True)
class LeastDisclosure:
    """The least bits about one secret against the distortion."""

    combinations: int
    values: int  # fewer where combinations were merged
    information: float  # what the values tell without any distortion
    points: tuple[Tradeoff, ...]
    perfect: float | None  # the least distortion that tells nothing
    reason: str | None = None  # why this is not known

    @property
    def merged(self) -> bool:
        """Whether rare combinations count as a nearest one: then there is no bound."""
        return self.values < self.combinations

    @property
    def reached(self) -> bool:
        """Whether the search ended where it was to end."""
        return all(bool(p.reached) for p in self.points)

    def to_dict(self) -> dict[str, Any]:
        """As it stands in the JSON."""
        return {
            "distortion": "hamming, mean over columns",
            "combinations": self.combinations,
            "values": self.values,
            "merged": self.merged,
            "information": self.information,
            "reached": self.reached,
            "points": [
                {
                    "distortion": p.at,
                    "least": p.objective,
                    "bound": None if self.merged else p.bound,
                }
                for p in self.points
            ],
            "perfect": self.perfect,
            "perfect_reason": self.reason,
        }


@dataclass(frozen=True)
class Compared:
    """One release beside its original."""

    name: str
    table: Mapping[str, Any]
    rows: int
    records: Mapping[str, int]  # paired, suppressed, ...
    disclosed: Disclosed
    losses: Mapping[str, Loss]
    assessment: Assessed
    dominated_by: tuple[str, ...] = ()
    limit: Mapping[str, ReleaseDistance] = field(
        default_factory=dict
    )  # by secret, where it was asked for
    policy: "Judgement | None" = None  # the policy held against it, where there is one
    pairing: Pairing = STATED  # with the records of the original

    @property
    def file(self) -> str:
        """Its name with the endings of its file, where it is named after one."""
        return own_name(self.name, self.table.get("name"))

    def to_dict(self) -> dict[str, Any]:
        """As it stands in the JSON."""
        return {
            "name": self.name,
            "rows": self.rows,
            "table": dict(self.table),
            "records": dict(self.records),
            "pairing": self.pairing.to_dict(),
            **self.disclosed.to_dict(),
            "losses": {
                k: {
                    **_without_values(v.details),
                    "value": v.value,
                    "unit": BY_ID[k].unit,
                    "worse": BY_ID[k].worse,
                    "reason": v.reason,
                    "columns": dict(v.columns),
                }
                for k, v in self.losses.items()
            },
            "assessment": self.assessment.to_dict(),
            "dominated_by": list(self.dominated_by),
            **({"limit": {s: p.to_dict() for s, p in self.limit.items()}} if self.limit else {}),
            **_limits_of(self.policy),
        }


def _limits_of(policy: "Judgement | None") -> dict[str, Any]:
    """The policy in the JSON; nothing where there is none."""
    return {} if policy is None else {"policy": policy.to_dict()}


def _without_values(details: Mapping[str, Any]) -> dict[str, Any]:
    """Details without means and quantiles themselves: a quantile is the number of a person."""

    def bare(entry: Mapping[str, Any]) -> dict[str, Any]:
        if "at" in entry:
            return {**entry, "at": {q: bare(statistic) for q, statistic in entry["at"].items()}}
        return {k: v for k, v in entry.items() if k not in ("original", "released")}

    return {
        k: {**v, "columns": {c: bare(entry) for c, entry in v["columns"].items()}}
        if k in ("mean", "quantiles") and isinstance(v, Mapping)
        else v
        for k, v in details.items()
    }


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """Releases of one original, side by side."""

    original: Mapping[str, Any]  # what it tells of secrets, its assessment, its limits
    releases: tuple[Compared, ...]  # one each, in their order
    rank_correlation: Mapping[str, Mapping[str, float | None]]  # by loss: with what is lost
    settings: Mapping[str, Any]  # seed, shuffles and other choices
    limits: Mapping[str, LeastDisclosure] = field(
        default_factory=dict
    )  # by secret, where it was asked for

    @property
    def met(self) -> bool | None:
        """Whether some release meets the policy; None where that is open, or without a policy."""
        states = {r.policy.met for r in self.releases if r.policy is not None}
        return True if True in states else False if states == {False} else None

    @property
    def passed(self) -> bool:
        """Whether some release meets the policy, or there is none."""
        return self.met is True or all(r.policy is None for r in self.releases)

    def __getitem__(self, name: str) -> Compared:
        return {release.name: release for release in self.releases}[name]

    def _content(self) -> dict[str, Any]:
        return {
            "settings": dict(self.settings),
            "original": {
                "attribute_disclosure": {
                    s: e.to_dict() for s, e in self.original["attribute_disclosure"].items()
                },
                "assessment": self.original["assessment"].to_dict(),
                **_limits_of(self.original.get("policy")),
            },
            "releases": [release.to_dict() for release in self.releases],
            "rank_correlation": {k: dict(v) for k, v in self.rank_correlation.items()},
            **({"limit": {s: x.to_dict() for s, x in self.limits.items()}} if self.limits else {}),
        }

    def _rows(self) -> Iterator[dict[str, Any]]:
        for release in self.releases:
            rows: list[tuple[Any, ...]] = [
                (number, target, column, what, getattr(estimate, what), unit, None)
                for number, target, column, estimate in release.disclosed.every()
                for what, unit in ESTIMATE_UNITS.items()
            ]
            rows += [
                (name, None, None, "value", loss.value, BY_ID[name].unit, loss.reason)
                for name, loss in release.losses.items()
            ]
            rows += [
                ("limit", secret, None, what, getattr(distance, what), unit, reason)
                for secret, distance in release.limit.items()
                for what, unit in DISTANCE_UNITS.items()
                for reason in [distance.reason if what == "ratio" else None]
            ]
            yield from (
                {"release": release.name, **dict(zip(FRAME_COLUMNS, row, strict=True))}
                for row in rows
            )

    def charts(self) -> dict[str, Any]:
        """Vega-Lite dicts by name: the risk-utility map of each secret, and its limit if asked."""
        from sievert.charts import of_comparison

        return of_comparison(self)
