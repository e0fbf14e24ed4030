"""The result of `sievert limit`: points of the curve, channels, checks of the release."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sievert.arrays import Floats, Text
from sievert.commands.limit.gaussian_model.normality import Normality
from sievert.estimators import InformationEstimate
from sievert.measures.measure import UNBOUNDED
from sievert.releases.channels import UNITS, Promise
from sievert.renamed import SubscriptedRecord
from sievert.result import Result
from sievert.tradeoff import Recoding

LEVEL = 0.95  # of the intervals of a promise


@dataclass(frozen=True, kw_only=True)
class SavedBits:
    """An estimate of bits as the JSON has it, which leaves out its uncertainty."""

    value: float
    corrected: float | None
    chance: float | None

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "SavedBits":
        """Read an estimate of the JSON."""
        return cls(value=data["value"], corrected=data.get("corrected"), chance=data.get("chance"))


Bits = InformationEstimate | SavedBits  # measured, or read back


@dataclass(frozen=True, kw_only=True)
class LimitChoices(SubscriptedRecord):
    """The model that was solved, and for what."""

    model: int | str
    at: tuple[float, ...]
    distortion: str  # hamming, squared, absolute or matrix
    hierarchies: tuple[str, ...]  # the columns that have one
    alphabet: str
    most: int | None
    occurring: bool
    reduced: int | None
    gaussian: bool
    points: int
    gap: float | None
    seconds: float | None
    seed: int
    released: bool  # whether a release was written

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "LimitChoices":
        """Read the choices back from the JSON; what no page shows may be missing."""
        return cls(
            model=data["model"],
            at=tuple(data.get("at") or ()),
            distortion=data["distortion"],
            hierarchies=tuple(data["hierarchies"]),
            alphabet=data["alphabet"],
            most=data.get("most"),
            occurring=data.get("occurring", False),
            reduced=data.get("reduced"),
            gaussian=data["gaussian"],
            points=data.get("points", 0),
            gap=data.get("gap"),
            seconds=data.get("seconds"),
            seed=data.get("seed", 0),
            released=data["released"],
        )

    def to_dict(self) -> dict[str, Any]:
        """The choices as JSON."""
        return {**vars(self), "at": list(self.at), "hierarchies": list(self.hierarchies)}


@dataclass(frozen=True, kw_only=True)
class TradeoffPoint:
    """One point of the curve of a model; information in bits."""

    columns: tuple[str, ...]
    model: int | str
    at: float
    objective: float | None
    bound: float | None
    gap: float | None
    risk: float | None
    loss: float | None
    identity: float | None
    distortion: float | None
    epsilon: float | None  # None: a released value rules out some values of X
    reached: bool | None = None
    spread: float | None = None
    asked: bool = True

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "TradeoffPoint":
        """Read a point back from the JSON."""
        return cls(
            columns=tuple(data["columns"]),
            model=data.get("model", ""),
            at=data["at"],
            objective=data["objective"],
            bound=data["bound"],
            gap=data["gap"],
            risk=data["risk"],
            loss=data.get("loss"),
            identity=data["identity"],
            distortion=data["distortion"],
            epsilon=data["epsilon"],
            reached=data["reached"],
            spread=data.get("spread"),
            asked=data["asked"],
        )

    @property
    def unbounded(self) -> bool:
        """Say whether there is no limit to what a release tells."""
        return self.objective is None or self.bound is None

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON."""
        unit = UNITS[self.model]
        numbers = {k: v for k, v in vars(self).items() if k != "columns"}
        return numbers | {
            "columns": list(self.columns),
            "reason": {
                k: UNBOUNDED
                for k in ("objective", "risk", "loss", "identity", "epsilon")
                if numbers[k] is None
            },
            "units": {
                "objective": unit,
                "bound": unit,
                "gap": unit,
                "risk": "bits",
                "loss": "bits",
                "identity": "bits",
                "distortion": "1",
                "epsilon": "nats",
            },
        }


@dataclass(frozen=True, kw_only=True)
class ReleaseCheck:
    """The numbers of one release, compared with the promise of its channel."""

    risk: Bits
    distortion: float
    identity: float | None
    risk_inside: bool
    distortion_inside: bool

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "ReleaseCheck":
        """Read the numbers of a release back from the JSON."""
        return cls(
            risk=SavedBits(
                value=data["risk"],
                corrected=data.get("risk_corrected"),
                chance=data.get("risk_chance"),
            ),
            distortion=data["distortion"],
            identity=data.get("identity"),
            risk_inside=data["risk_inside"],
            distortion_inside=data["distortion_inside"],
        )

    @property
    def inside(self) -> bool:
        """Say whether the release lies where 95 % of all draws lie."""
        return self.risk_inside and self.distortion_inside

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON."""
        return {
            "risk": self.risk.value,
            "risk_corrected": self.risk.corrected,
            "risk_chance": self.risk.chance,
            "distortion": self.distortion,
            "identity": self.identity,
            "risk_inside": self.risk_inside,
            "distortion_inside": self.distortion_inside,
        }


@dataclass(frozen=True, eq=False, kw_only=True)
class AlphabetResult:
    """The alphabet of some columns, and the channel that was chosen for it."""

    columns: tuple[str, ...]
    words: str  # the definition of the distortion
    values: int
    released: int
    merged: int
    everything: bool
    reduced: bool
    information: Bits | None  # of the original table
    points: tuple[TradeoffPoint, ...]
    recodings: tuple["Recoding | SavedRecoding", ...] = ()
    channel: Floats | None = field(default=None, repr=False)
    epsilon: float | None = None
    promise: Promise | None = None
    achieved: ReleaseCheck | None = None
    texts: tuple[list[tuple[Text, ...]], list[tuple[Text, ...]]] | None = field(
        default=None, repr=False
    )

    @classmethod
    def from_dict(
        cls, data: Mapping[str, Any], points: tuple[TradeoffPoint, ...]
    ) -> "AlphabetResult":
        """Read an alphabet back from the JSON; of all `points` it takes those of its columns."""
        columns = tuple(data["columns"])
        information = data["information"]
        achieved = data.get("achieved")
        matrix = data.get("matrix")
        texts = None
        if matrix is not None:
            texts = ([*map(tuple, matrix["values"])], [*map(tuple, matrix["released"])])
        return cls(
            columns=columns,
            words=data.get("distortion", ""),
            values=data["values"],
            released=data["released"],
            merged=data.get("merged_records", 0),
            everything=data["all_combinations"],
            reduced=data["reduced"],
            information=None if information is None else SavedBits.from_dict(information),
            points=tuple(p for p in points if p.columns == columns),
            recodings=tuple(SavedRecoding.from_dict(r) for r in data["recodings"]),
            channel=None if matrix is None else np.asarray(matrix["probabilities"]),
            epsilon=data.get("epsilon"),
            promise=_saved_promise(data["promised"]) if data.get("promised") else None,
            achieved=ReleaseCheck.from_dict(achieved) if achieved else None,
            texts=texts,
        )

    @property
    def requested_points(self) -> tuple[TradeoffPoint, ...]:
        """The points of the constraints that the user gave."""
        return tuple(p for p in self.points if p.asked)

    def to_dict(self, *, show_values: bool) -> dict[str, Any]:
        """The result as JSON; with values of the data if they may be shown."""
        chapter: dict[str, Any] = {
            "columns": list(self.columns),
            "distortion": self.words,
            "values": self.values,
            "released": self.released,
            "merged_records": self.merged,
            "all_combinations": self.everything,
            "reduced": self.reduced,
            "information": None
            if self.information is None
            else {
                "value": self.information.value,
                "corrected": self.information.corrected,
                "chance": self.information.chance,
            },
            "recodings": [
                {"intervals": r.intervals, "risk": r.risk, "distortion": r.distortion}
                for r in self.recodings
            ],
        }
        promise = self.promise
        if promise is None:
            return chapter
        chapter |= {
            "epsilon": self.epsilon,
            "epsilon_reason": UNBOUNDED if self.epsilon is None else None,
            "promised": {
                "risk": promise.risk,
                "loss": promise.loss,
                "identity": promise.identity,
                "distortion": promise.distortion,
                "risk_interval": list(promise.risk_range),
                "distortion_interval": list(promise.distortion_range),
                "risk_bias": promise.bias,
                "level": LEVEL,
                "interval_by": promise.by,
            },
            "achieved": None if self.achieved is None else self.achieved.to_dict(),
        }
        if show_values and self.texts is not None and self.channel is not None:
            chapter["matrix"] = {
                "values": [list(t) for t in self.texts[0]],
                "released": [list(t) for t in self.texts[1]],
                "probabilities": self.channel.tolist(),
            }
        return chapter


@dataclass(frozen=True, kw_only=True)
class SavedRecoding:
    """A recoding into intervals as the JSON has it: their number, not where they begin."""

    intervals: int
    risk: float
    distortion: float

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "SavedRecoding":
        """Read a recoding of the JSON."""
        return cls(intervals=data["intervals"], risk=data["risk"], distortion=data["distortion"])


def _saved_promise(data: Mapping[str, Any]) -> Promise:
    """Read what a channel promises back from the JSON."""
    return Promise(
        risk=data["risk"],
        loss=data.get("loss"),
        identity=data.get("identity"),
        distortion=data["distortion"],
        risk_range=tuple(data["risk_interval"]),
        distortion_range=tuple(data["distortion_interval"]),
        bias=data.get("risk_bias", 0.0),
        by=data["interval_by"],
    )


@dataclass(frozen=True, repr=False, kw_only=True)
class Limited(Result):
    """The limit of a table: points of the curve, the channel, and a check of its release."""

    alphabet: str  # joint, columns, merged or gaussian
    parts: tuple[AlphabetResult, ...]  # one for each alphabet
    whole: Mapping[str, Bits]  # of all columns, if each has its own channel
    settings: LimitChoices  # model, distortion and other choices
    shown: bool = False  # values of the data in to_dict
    normality: Normality | None = None  # the check of columns taken as Gaussian

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Limited":
        """Read a limit back from the JSON, which does not say where intervals begin."""
        channel = data["channel"]
        normality = channel.get("normality")
        points = tuple(TradeoffPoint.from_dict(point) for point in data["points"])
        parts = channel["parts"]
        return cls(
            **cls.saved_fields(data),
            alphabet=channel["alphabet"],
            parts=tuple(AlphabetResult.from_dict(part, points) for part in parts),
            whole={what: SavedBits.from_dict(bits) for what, bits in channel["whole"].items()},
            settings=LimitChoices.from_dict(data["settings"]),
            shown=any("matrix" in part for part in parts),
            normality=Normality.from_dict(normality) if normality else None,
        )

    @property
    def points(self) -> tuple[TradeoffPoint, ...]:
        """All points, alphabet by alphabet."""
        return tuple(p for part in self.parts for p in part.points)

    @property
    def inside(self) -> bool | None:
        """Say whether the release keeps the promise; None if nothing was drawn."""
        checks = [p.achieved for p in self.parts if p.achieved is not None]
        return all(check.inside for check in checks) if checks else None

    def _content(self) -> dict[str, Any]:
        return {
            "settings": self.settings.to_dict(),
            "points": [p.to_dict() for p in self.points],
            "channel": {
                "alphabet": self.alphabet,
                "inside": self.inside,
                **({} if self.normality is None else {"normality": self.normality.to_dict()}),
                "parts": [p.to_dict(show_values=self.shown) for p in self.parts],
                "whole": {
                    k: {"value": e.value, "corrected": e.corrected} for k, e in self.whole.items()
                },
            },
        }

    def _rows(self) -> Iterator[dict[str, Any]]:
        return (
            {
                "columns": ", ".join(p.columns),
                "at": p.at,
                "asked": p.asked,
                "what": name,
                "value": getattr(p, name),
                "unit": unit,
            }
            for p in self.points
            for name, unit in p.to_dict()["units"].items()
        )
