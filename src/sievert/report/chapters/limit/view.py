"""A limit as a page may show it: points of the curve, of each alphabet, in numbers that are told.

Constraints that were asked for are settings; those of other points follow from the data.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from sievert.formatting import percent, significant
from sievert.report.chapters.limit.numbers import bits, proportion
from sievert.report.parts import Data, ReportPart
from sievert.report.redaction import NumberText, Redactor

CERTAIN = ("1", "2", "identity", "identity_reverse")  # models with a certificate
REVERSED = ("2", "identity_reverse")  # whose result is a distortion
AT_DISTORTION = ("1", "identity")
MOST_INTERVALS = 12
MANY = 4  # the share of records, one in so many, from which combinations are not counted


@dataclass(frozen=True)
class CurvePointTexts:
    """One point of the curve."""

    at: NumberText
    objective: NumberText
    bound: NumberText
    risk: NumberText
    identity: NumberText
    distortion: NumberText
    gap: NumberText
    epsilon: NumberText
    wanted: bool
    reached: bool | None
    unbounded: bool


@dataclass(frozen=True)
class RecodingTexts:
    """The best recoding into so many intervals, where the curve has its point."""

    intervals: int
    at: NumberText
    objective: NumberText


@dataclass(frozen=True)
class AlphabetTexts:
    """The columns of one channel: their points, what the table itself tells, the JSON."""

    names: tuple[str, ...]
    points: tuple[CurvePointTexts, ...]
    information: NumberText
    values: str
    released: str
    data: Data
    recodings: tuple[RecodingTexts, ...] = ()  # none where the page is passed on

    @property
    def wanted(self) -> tuple[CurvePointTexts, ...]:
        """The points that were asked for."""
        return tuple(p for p in self.points if p.wanted)


@dataclass(frozen=True)
class LimitView:
    """A limit, and how it was asked for."""

    part: ReportPart

    @property
    def redactor(self) -> Redactor:
        """The hand it is written with."""
        return self.part.redactor

    @property
    def model(self) -> str:
        """Which model, as a part of a text's key."""
        return str(self.part.data["settings"]["model"]).replace(" ", "_")

    @property
    def certain(self) -> bool:
        """Whether the bound is close to what was found."""
        return self.model in CERTAIN

    @property
    def gaussian(self) -> bool:
        """Whether columns are taken as Gaussian."""
        return bool(self.part.data["settings"]["gaussian"])

    @property
    def distortion(self) -> str:
        """What a distortion is, as a part of a text's key."""
        settings = self.part.data["settings"]
        if self.gaussian:
            return "gaussian"
        return "hierarchy" if settings["hierarchies"] else str(settings["distortion"])

    @property
    def changed(self) -> bool:
        """Whether a distortion is the share of values changed."""
        return self.distortion == "hamming"

    @property
    def secret(self) -> str:
        """The secrets in words."""
        if self.model.startswith("identity"):
            return self.part.texts("limits.themselves")
        return self.redactor.names(self.part.data["roles"]["sensitive"])

    @property
    def valid(self) -> str:
        """Of which releases a bound is true, as a part of a text's key."""
        channel = self.part.data["channel"]
        if self.gaussian:
            return "gaussian"
        if any(p["reduced"] for p in channel["parts"]):
            return "reduced"
        if channel["alphabet"] == "merged":
            return "merged"
        single = all(len(p["columns"]) == 1 or p["all_combinations"] for p in channel["parts"])
        if self.changed and single:
            return "any"
        return "values" if single else "combinations"

    @cached_property
    def alphabets(self) -> tuple[AlphabetTexts, ...]:
        """Each alphabet with its points."""
        points = self.part.data["points"]
        return tuple(
            AlphabetTexts(
                tuple(p["columns"]),
                tuple(self._point(x) for x in points if x["columns"] == p["columns"]),
                bits(
                    self.redactor, None if p["information"] is None else p["information"]["value"]
                ),
                self._size(p["values"]),
                self._size(p["released"]),
                p,
                tuple(self._recodings(p)),
            )
            for p in self.part.data["channel"]["parts"]
        )

    def _recodings(self, part: Data) -> Iterator[RecodingTexts]:
        """None where the page is shareable, or where the model has no certificate."""
        certain = self.redactor.internal and self.certain
        for recoding in part["recodings"][:MOST_INTERVALS] if certain else ():
            ends = (
                proportion(self.redactor, recoding["distortion"]),
                bits(self.redactor, recoding["risk"]),
            )
            at, objective = ends if self.model in AT_DISTORTION else ends[::-1]
            yield RecodingTexts(int(recoding["intervals"]), at, objective)

    def _size(self, number: int) -> str:
        """So many combinations; not where their number would tell of people who are alone."""
        said = self.redactor.count(number)
        if (
            self.redactor.internal
            or said.number is None
            or said.number <= self.redactor.rows / MANY
        ):
            return str(said)
        return self.part.texts("limits.many")

    def _result(self, value: float | None) -> NumberText:
        return (
            proportion(self.redactor, value)
            if self.model in REVERSED
            else bits(self.redactor, value)
        )

    def _at(self, point: Data) -> NumberText:
        far, value = self.model in AT_DISTORTION, point["at"]
        if point["asked"]:
            return NumberText(percent(value) if far else significant(value), value)
        return (proportion if far else bits)(self.redactor, value)

    def _point(self, point: Data) -> CurvePointTexts:
        redactor, unbounded = self.redactor, point["reason"]
        endless = NumberText(self.part.texts("words.unbounded"), None)

        def number(what: str) -> NumberText:
            return endless if what in unbounded else bits(redactor, point[what])

        lacking = point["objective"] is None or point["bound"] is None
        return CurvePointTexts(
            self._at(point),
            endless if lacking else self._result(point["objective"]),
            endless if lacking else self._result(point["bound"]),
            number("risk"),
            number("identity"),
            proportion(redactor, point["distortion"]),
            redactor.only_internal(None if point["gap"] is None else float(f"{point['gap']:.2g}")),
            endless if point["epsilon"] is None else redactor.only_internal(point["epsilon"]),
            bool(point["asked"]),
            point["reached"],
            lacking,
        )
