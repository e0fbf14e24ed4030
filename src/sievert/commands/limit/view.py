"""A limit as a page shows it: its points, its alphabets and its settings."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from sievert.formatting import percent, significant
from sievert.report.numbers import bits_text, proportion
from sievert.report.parts import Data, NumberText, ReportPart

MOST_INTERVALS = 12
CERTAIN = ("1", "2", "identity", "identity_reverse")  # models with a certificate
REVERSED = ("2", "identity_reverse")  # whose result is a distortion
AT_DISTORTION = ("1", "identity")


@dataclass(frozen=True)
class CurvePointTexts:
    """One point of the curve: its JSON, and its numbers by their names there."""

    data: Data
    numbers: Mapping[str, NumberText]
    unbounded: bool


@dataclass(frozen=True)
class AlphabetTexts:
    """The columns of one channel: their JSON, their points, and recodings for the operator.

    A recoding is a number of intervals, and the coordinates of its point: at, objective.
    """

    data: Data
    points: tuple[CurvePointTexts, ...]
    recodings: tuple[tuple[int, NumberText, NumberText], ...]

    @property
    def requested_points(self) -> list[CurvePointTexts]:
        """The points of the constraints that the user gave."""
        return [p for p in self.points if p.data["asked"]]


class LimitView(ReportPart):
    """A limit and its settings."""

    @property
    def model(self) -> str:
        """The model, as a part of a text's key."""
        return str(self.data["settings"]["model"]).replace(" ", "_")

    @property
    def distortion(self) -> str:
        """The distortion, as a part of a text's key."""
        settings = self.data["settings"]
        if settings["gaussian"]:
            return "gaussian"
        return "hierarchy" if settings["hierarchies"] else str(settings["distortion"])

    @property
    def secret(self) -> str:
        """The secrets in words."""
        if self.model.startswith("identity"):
            return self.say("themselves")
        return self.writer.names(self.data["roles"]["sensitive"])

    @property
    def valid(self) -> str:
        """The releases for which a bound is true, as a part of a text's key."""
        channel = self.data["channel"]
        if self.data["settings"]["gaussian"]:
            return "gaussian"
        if any(p["reduced"] for p in channel["parts"]):
            return "reduced"
        if channel["alphabet"] == "merged":
            return "merged"
        if all(len(p["columns"]) == 1 or p["all_combinations"] for p in channel["parts"]):
            return "any" if self.distortion == "hamming" else "values"
        return "combinations"

    @property
    def far_from_gaussian(self) -> bool:
        """Say whether columns taken as Gaussian are far from it, so that nothing is bounded."""
        normality = self.data["channel"].get("normality")
        return bool(normality) and not normality["near"]

    @cached_property
    def alphabets(self) -> tuple[AlphabetTexts, ...]:
        """Each alphabet with its points."""
        return tuple(
            AlphabetTexts(
                p,
                tuple(self._point(x) for x in self.data["points"] if x["columns"] == p["columns"]),
                tuple(self._recodings(p)),
            )
            for p in self.data["channel"]["parts"]
        )

    def _recodings(self, part: Data) -> Iterator[tuple[int, NumberText, NumberText]]:
        """The recodings of a part, if the model has a certificate."""
        if self.model not in CERTAIN:
            return
        for recoding in part["recodings"][:MOST_INTERVALS]:
            distortion = proportion(self.writer, recoding["distortion"])
            risk = bits_text(self.writer, recoding["risk"])
            ends = (distortion, risk) if self.model in AT_DISTORTION else (risk, distortion)
            yield int(recoding["intervals"]), *ends

    def _point(self, point: Data) -> CurvePointTexts:
        writer = self.writer
        endless = NumberText(self.texts("words.unbounded"), None)
        unbounded = point["objective"] is None or point["bound"] is None
        result = proportion if self.model in REVERSED else bits_text
        numbers = {
            "at": self._constraint(point),
            "distortion": proportion(writer, point["distortion"]),
            "gap": writer.number(None if point["gap"] is None else float(f"{point['gap']:.2g}")),
            "epsilon": endless if point["epsilon"] is None else writer.number(point["epsilon"]),
            **{
                key: endless if unbounded else result(writer, point[key])
                for key in ("objective", "bound")
            },
            **{
                key: endless if key in point["reason"] else bits_text(writer, point[key])
                for key in ("risk", "identity")
            },
        }
        return CurvePointTexts(point, numbers, unbounded)

    def _constraint(self, point: Data) -> NumberText:
        far = self.model in AT_DISTORTION
        value = point["at"]
        if point["asked"]:
            return NumberText(percent(value) if far else significant(value), value)
        return (proportion if far else bits_text)(self.writer, value)
