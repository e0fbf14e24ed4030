"""The result of `sievert limit`: points of the curve, channels, checks of the release."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sievert.arrays import Floats, Text
from sievert.estimators import InformationEstimate
from sievert.measures.measure import UNBOUNDED
from sievert.releases.channels import UNITS, Promise
from sievert.result import Result
from sievert.tradeoff import Recoding


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

    risk: InformationEstimate
    distortion: float
    identity: float | None
    risk_inside: bool
    distortion_inside: bool

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
    information: InformationEstimate | None  # of the original table
    points: tuple[TradeoffPoint, ...]
    recodings: tuple[Recoding, ...] = ()
    channel: Floats | None = field(default=None, repr=False)
    epsilon: float | None = None
    promise: Promise | None = None
    achieved: ReleaseCheck | None = None
    texts: tuple[list[tuple[Text, ...]], list[tuple[Text, ...]]] | None = field(
        default=None, repr=False
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
        if self.channel is None or self.promise is None:
            return chapter
        promise = self.promise
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
                "level": 0.95,
                "interval_by": promise.by,
            },
            "achieved": None if self.achieved is None else self.achieved.to_dict(),
        }
        if show_values and self.texts is not None:
            chapter["matrix"] = {
                "values": [list(t) for t in self.texts[0]],
                "released": [list(t) for t in self.texts[1]],
                "probabilities": self.channel.tolist(),
            }
        return chapter


@dataclass(frozen=True, repr=False, kw_only=True)
class Limited(Result):
    """The limit of a table: points of the curve, the channel, and a check of its release."""

    alphabet: str  # joint, columns, merged or gaussian
    parts: tuple[AlphabetResult, ...]  # one for each alphabet
    whole: Mapping[str, InformationEstimate]  # of all columns, if each has its own channel
    settings: Mapping[str, Any]  # model, distortion and other choices
    shown: bool = False  # values of the data in to_dict
    normality: Mapping[str, Any] | None = None  # the check of columns taken as Gaussian

    @property
    def points(self) -> tuple[TradeoffPoint, ...]:
        """All points, alphabet by alphabet."""
        return tuple(p for part in self.parts for p in part.points)

    @property
    def inside(self) -> bool | None:
        """Say whether the release keeps the promise; None if nothing was drawn."""
        checks = [p.achieved for p in self.parts if p.achieved is not None]
        return all(c.risk_inside and c.distortion_inside for c in checks) if checks else None

    def _content(self) -> dict[str, Any]:
        return {
            "settings": dict(self.settings),
            "points": [p.to_dict() for p in self.points],
            "channel": {
                "alphabet": self.alphabet,
                "inside": self.inside,
                **({} if self.normality is None else {"normality": dict(self.normality)}),
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

    def charts(self) -> dict[str, Any]:
        """Vega-Lite dicts by name: the curve of each alphabet."""
        from sievert.charts import of_limit

        return of_limit(self)
