"""The result of `sievert compare`: releases of one original, side by side."""

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sievert.checks.spellings import Respelt
from sievert.errors import require
from sievert.estimators import InformationEstimate, SavedEstimate
from sievert.formatting import own_name
from sievert.losses import BY_ID
from sievert.losses.loss import Loss
from sievert.measures.measure import Value, read_values
from sievert.pairing.evidence import STATED, Pairing
from sievert.policy import Judgement
from sievert.renamed import SubscriptedRecord
from sievert.result import Result

FRAME_COLUMNS = ("number", "target", "column", "what", "value", "unit", "reason")
ESTIMATE_UNITS = dict.fromkeys(("value", "corrected", "chance", "miller_madow"), "bits")
ESTIMATE_UNITS["p_value"] = "1"
DISTANCE_UNITS = {"distortion": "1", "least": "bits", "bound": "bits", "ratio": "1"}
NOTHING = 1e-3  # bits: a ratio to less is not told
LEVEL = 0.95  # of the intervals of estimates
Estimated = InformationEstimate | SavedEstimate  # measured, or read back


@dataclass(frozen=True, kw_only=True)
class ComparisonChoices(SubscriptedRecord):
    """How releases were compared."""

    shuffles: int
    seed: int
    level: float = LEVEL
    key: str | None  # the column by which records were paired
    bins: Mapping[str, int]  # of columns of numbers that were cut
    predicted: tuple[str, ...]  # columns

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "ComparisonChoices":
        """Read the choices back from the JSON; what no page shows may be missing."""
        return cls(
            shuffles=data.get("shuffles", 0),
            seed=data.get("seed", 0),
            level=data.get("level", LEVEL),
            key=data.get("key"),
            bins=data.get("bins", {}),
            predicted=tuple(data.get("predicted", ())),
        )

    def to_dict(self) -> dict[str, Any]:
        """As they stand in the JSON."""
        return {**vars(self), "bins": dict(self.bins), "predicted": list(self.predicted)}


@dataclass(frozen=True, kw_only=True)
class Assessed:
    """The measures of one table that stand beside each other before and after."""

    reidentification: Mapping[str, Value]
    inference: Mapping[str, Mapping[str, Value]]
    best: Mapping[str | None, Mapping[str, Value]] = field(default_factory=dict)  # of any release
    suppressed: tuple[Mapping[str, Value], Mapping[str, Mapping[str, Value]]] = ({}, {})
    respelt: Respelt = field(default_factory=Respelt)
    certain: Mapping[str, tuple[int, int]] = field(default_factory=dict)  # in classes of one value

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Assessed":
        """Read the measures back from the JSON, which has only the compared ones."""
        return cls(
            reidentification=read_values(data["reidentification"]),
            inference={s: read_values(values) for s, values in data["inference"].items()},
        )

    def to_dict(self) -> dict[str, Any]:
        """As it stands in the JSON."""
        return {
            "reidentification": {k: v.to_dict() for k, v in self.reidentification.items()},
            "inference": {
                s: {k: v.to_dict() for k, v in values.items()}
                for s, values in self.inference.items()
            },
        }


@dataclass(frozen=True, kw_only=True)
class Bits:
    """An information of the whole key and of each column, and what belongs beside it."""

    whole: Estimated
    columns: Mapping[str, Estimated]
    t_closeness: float | None = None  # about a secret: the largest shift of a class
    floor: float | None = None  # about a secret: the least that such shifts tell
    ksg: Mapping[str, Mapping[str, Any]] | None = None  # of columns of numbers, by neighbours
    deterministic: bool | None = None  # of the key: equal records were released as equal ones

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Bits":
        """Read an information back from the JSON."""
        return cls(
            whole=SavedEstimate.from_dict(data),
            columns={c: SavedEstimate.from_dict(e) for c, e in data["columns"].items()},
            t_closeness=data.get("t_closeness"),
            floor=data.get("floor"),
            ksg=data.get("ksg"),
            deterministic=data.get("deterministic"),
        )

    @property
    def details(self) -> dict[str, Any]:
        """What stands beside the information, by its names (deprecated: read the attributes)."""
        message = "Bits.details is now attributes of Bits: t_closeness, floor, ksg, deterministic"
        warnings.warn(message, DeprecationWarning, stacklevel=2)
        return self._beside()

    def _beside(self) -> dict[str, Any]:
        """What stands beside the information in the JSON."""
        beside = {
            "t_closeness": self.t_closeness,
            "floor": self.floor,
            "ksg": self.ksg,
            "deterministic": self.deterministic,
        }
        return {name: entry for name, entry in beside.items() if entry is not None}

    def to_dict(self) -> dict[str, Any]:
        """As it stands in the JSON."""
        return {
            **self.whole.to_dict(),
            **self._beside(),
            "columns": {c: e.to_dict() for c, e in self.columns.items()},
        }


def _read_bits(data: Mapping[str, Any]) -> dict[str, Bits]:
    """Read what is told of each secret back from the JSON."""
    return {secret: Bits.from_dict(bits) for secret, bits in data.items()}


@dataclass(frozen=True)
class Disclosed:
    """What a release tells of the original key and of each secret, and what it no longer tells."""

    identity: Bits
    attribute: Mapping[str, Bits]
    loss: Mapping[str, Bits]

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Disclosed":
        """Read what a release tells back from its JSON."""
        return cls(
            identity=Bits.from_dict(data["identity_disclosure"]),
            attribute=_read_bits(data["attribute_disclosure"]),
            loss=_read_bits(data["information_loss"]),
        )

    def to_dict(self) -> dict[str, Any]:
        """As it stands in the JSON."""
        return {
            "identity_disclosure": self.identity.to_dict(),
            "attribute_disclosure": {s: b.to_dict() for s, b in self.attribute.items()},
            "information_loss": {s: b.to_dict() for s, b in self.loss.items()},
        }

    def every(self) -> Iterator[tuple[str, str | None, str | None, Estimated]]:
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


@dataclass(frozen=True, kw_only=True)
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

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "ReleaseDistance":
        """Read a distance back from the JSON."""
        return cls(
            distortion=data["distortion"],
            disclosed=data["disclosed"],
            corrected=data.get("corrected"),
            as_channel=data.get("as_channel"),
            as_released=data.get("distortion_as_released"),
            least=data["least"],
            bound=data["bound"],
            columns=data.get("columns"),
        )

    @property
    def ratio(self) -> float | None:
        """A lower bound: bits disclosed, divided by the least that a release could disclose."""
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


@dataclass(frozen=True, kw_only=True)
class LeastPoint:
    """The least bits that were found at one distortion; below the bound there is no release."""

    at: float  # the distortion
    objective: float
    bound: float | None

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "LeastPoint":
        """Read a point back from the JSON."""
        return cls(at=data["distortion"], objective=data["least"], bound=data["bound"])


@dataclass(frozen=True, kw_only=True)
class LeastDisclosure:
    """The least bits about one secret against the distortion."""

    combinations: int
    values: int  # fewer where combinations were merged
    information: float  # what the values tell without any distortion
    points: tuple[LeastPoint, ...]
    reached: bool  # whether the search ended where it was to end
    perfect: float | None  # the least distortion that tells nothing
    reason: str | None = None  # why this is not known

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "LeastDisclosure":
        """Read the least bits back from the JSON."""
        return cls(
            combinations=data["combinations"],
            values=data["values"],
            information=data.get("information", 0.0),
            points=tuple(LeastPoint.from_dict(point) for point in data["points"]),
            reached=data["reached"],
            perfect=data["perfect"],
            reason=data.get("perfect_reason"),
        )

    @property
    def merged(self) -> bool:
        """Whether rare combinations count as a nearest one: then there is no bound."""
        return self.values < self.combinations

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


@dataclass(frozen=True, kw_only=True)
class PairedRecords(SubscriptedRecord):
    """The numbers of records of an original, by what a release has of them."""

    paired: int
    suppressed: int
    not_released: int
    unknown: int  # records of the release that the original lacks
    cells_suppressed: int

    @classmethod
    def from_dict(cls, data: Mapping[str, int]) -> "PairedRecords":
        """Read the numbers back from the JSON."""
        return cls(
            paired=data.get("paired", 0),
            suppressed=data["suppressed"],
            not_released=data.get("not_released", 0),
            unknown=data.get("unknown", 0),
            cells_suppressed=data.get("cells_suppressed", 0),
        )

    def to_dict(self) -> dict[str, int]:
        """As they stand in the JSON."""
        return dict(vars(self))


@dataclass(frozen=True, kw_only=True)
class ComparedOriginal(SubscriptedRecord):
    """The original: what it tells of each secret, its measures, its judgement by the policy."""

    attribute: Mapping[str, Bits]
    assessment: Assessed
    policy: Judgement | None = None

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "ComparedOriginal":
        """Read the original back from the JSON."""
        return cls(
            attribute=_read_bits(data["attribute_disclosure"]),
            assessment=Assessed.from_dict(data["assessment"]),
            policy=_read_policy(data),
        )

    def to_dict(self) -> dict[str, Any]:
        """As it stands in the JSON."""
        return {
            "attribute_disclosure": {s: bits.to_dict() for s, bits in self.attribute.items()},
            "assessment": self.assessment.to_dict(),
            **_limits_of(self.policy),
        }

    def _entries(self) -> Mapping[str, Any]:
        policy = {} if self.policy is None else {"policy": self.policy}
        return {
            "attribute_disclosure": self.attribute,
            "assessment": self.assessment,
            **policy,
        }


@dataclass(frozen=True, kw_only=True)
class Compared:
    """One release beside its original."""

    name: str
    table: Mapping[str, Any]
    rows: int
    records: PairedRecords
    disclosed: Disclosed
    losses: Mapping[str, Loss]
    assessment: Assessed
    dominated_by: tuple[str, ...] = ()
    limit: Mapping[str, ReleaseDistance] = field(
        default_factory=dict
    )  # by secret, where it was asked for
    policy: Judgement | None = None  # its judgement by the policy, if there is one
    pairing: Pairing | None = STATED  # with the records of the original; None: not known

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Compared":
        """Read a release back from the JSON."""
        pairing = data.get("pairing")
        limit = data.get("limit") or {}
        return cls(
            name=data["name"],
            table=data.get("table") or {},
            rows=data.get("rows", 0),
            records=PairedRecords.from_dict(data["records"]),
            disclosed=Disclosed.from_dict(data),
            losses={name: Loss.from_dict(loss) for name, loss in data["losses"].items()},
            assessment=Assessed.from_dict(data["assessment"]),
            dominated_by=tuple(data["dominated_by"]),
            limit={secret: ReleaseDistance.from_dict(each) for secret, each in limit.items()},
            policy=_read_policy(data),
            pairing=Pairing.from_dict(pairing) if pairing else None,
        )

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
            "records": self.records.to_dict(),
            "pairing": None if self.pairing is None else self.pairing.to_dict(),
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


def _limits_of(policy: Judgement | None) -> dict[str, Any]:
    """The policy in the JSON; nothing where there is none."""
    return {} if policy is None else {"policy": policy.to_dict()}


def _read_policy(table: Mapping[str, Any]) -> Judgement | None:
    """Read back what a table of the JSON says of the policy; None where there is none."""
    policy = table.get("policy")
    return Judgement.from_dict(policy) if policy else None


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


@dataclass(frozen=True, repr=False, kw_only=True)
class Comparison(Result):
    """Releases of one original, side by side."""

    original: ComparedOriginal  # what it tells of secrets, its assessment, its limits
    releases: tuple[Compared, ...]  # one each, in their order
    rank_correlation: Mapping[str, Mapping[str, float | None]]  # by loss: with what is lost
    settings: ComparisonChoices  # seed, shuffles and other choices
    limits: Mapping[str, LeastDisclosure] = field(
        default_factory=dict
    )  # by secret, where it was asked for

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Comparison":
        """Read a comparison back from the JSON."""
        limits = data.get("limit") or {}
        return cls(
            **cls.saved_fields(data),
            original=ComparedOriginal.from_dict(data["original"]),
            releases=tuple(Compared.from_dict(release) for release in data["releases"]),
            rank_correlation=data["rank_correlation"],
            settings=ComparisonChoices.from_dict(data["settings"]),
            limits={secret: LeastDisclosure.from_dict(limit) for secret, limit in limits.items()},
        )

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
            "settings": self.settings.to_dict(),
            "original": self.original.to_dict(),
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

    def charts_beside_page(self) -> dict[str, Any]:
        """Refuse a comparison without a secret: it has no map."""
        require(
            self.original.attribute,
            "a map of risk and loss needs a secret",
            hint="-s COLUMNS",
        )
        return {}
