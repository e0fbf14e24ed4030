"""A limit in words: the numbers of its points and recodings, and the keys of its texts."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from sievert.commands.limit.result import AlphabetResult, Limited, TradeoffPoint
from sievert.formatting import percent, significant
from sievert.releases.choices import FUNNEL, IDENTITY, REVERSE
from sievert.report.numbers import bits_text, proportion
from sievert.report.parts import NumberText, ReportPart

MOST_INTERVALS = 12
AT_DISTORTION = (1, IDENTITY)  # models that bound the distortion
OF_DISTORTION = (2, REVERSE)  # models whose result is a distortion


@dataclass(frozen=True, kw_only=True)
class ModelTexts:
    """The keys of the texts of a model, and the numbers that stand beside its two."""

    sentence: str
    changed: str  # the sentence where the distortion counts changed values
    across: str
    up: str
    beside: tuple[str, ...]


MODELS = {
    1: ModelTexts(
        sentence="model_1",
        changed="model_1_changed",
        across="across_1",
        up="up_1",
        beside=("identity",),
    ),
    2: ModelTexts(
        sentence="model_2",
        changed="model_2_changed",
        across="across_2",
        up="up_2",
        beside=("identity",),
    ),
    3: ModelTexts(
        sentence="model_3",
        changed="model_3",
        across="across_3",
        up="up_3",
        beside=("risk", "distortion"),
    ),
    4: ModelTexts(
        sentence="model_4",
        changed="model_4",
        across="across_4",
        up="up_4",
        beside=("risk", "distortion"),
    ),
    FUNNEL: ModelTexts(
        sentence="model_funnel",
        changed="model_funnel",
        across="across_funnel",
        up="up_funnel",
        beside=("distortion",),
    ),
    IDENTITY: ModelTexts(
        sentence="model_identity",
        changed="model_identity_changed",
        across="across_identity",
        up="up_identity",
        beside=(),
    ),
    REVERSE: ModelTexts(
        sentence="model_identity_reverse",
        changed="model_identity_reverse_changed",
        across="across_identity_reverse",
        up="up_identity_reverse",
        beside=(),
    ),
}
# What is counted as a distortion.
DISTORTIONS = {
    "hamming": "distortion_hamming",
    "squared": "distortion_squared",
    "absolute": "distortion_absolute",
    "hierarchy": "distortion_hierarchy",
    "matrix": "distortion_matrix",
    "gaussian": "distortion_gaussian",
}


@dataclass(frozen=True, kw_only=True)
class CurvePointTexts:
    """One point of the curve, and its numbers by their names."""

    point: TradeoffPoint
    numbers: Mapping[str, NumberText]


@dataclass(frozen=True, kw_only=True)
class RecodingTexts:
    """A recoding into intervals: its place in the picture of a curve."""

    intervals: int
    at: NumberText
    objective: NumberText


@dataclass(frozen=True, kw_only=True)
class AlphabetTexts:
    """The columns of one channel, their points, and recodings for the operator."""

    result: AlphabetResult
    points: tuple[CurvePointTexts, ...]
    recodings: tuple[RecodingTexts, ...]

    @property
    def requested_points(self) -> list[CurvePointTexts]:
        """The points of the constraints that the user gave."""
        return [p for p in self.points if p.point.asked]


class LimitView:
    """A limit in the words of its part of a page."""

    def __init__(self, part: ReportPart) -> None:
        self.part = part
        self.result = part.read(Limited)
        self.writer = part.writer
        self.say = part.say

    @property
    def model(self) -> ModelTexts:
        """The texts of the model."""
        return MODELS[self.result.settings.model]

    @property
    def of_identity(self) -> bool:
        """Say whether the values themselves are the secret."""
        return self.result.settings.model in (IDENTITY, REVERSE)

    @property
    def certain(self) -> bool:
        """Say whether the model has a certificate."""
        return self.result.settings.model in (*AT_DISTORTION, *OF_DISTORTION)

    @property
    def distortion(self) -> str:
        """The kind of distortion: a key of DISTORTIONS."""
        settings = self.result.settings
        if settings.gaussian:
            return "gaussian"
        return "hierarchy" if settings.hierarchies else settings.distortion

    @property
    def secret(self) -> str:
        """The secrets in words."""
        if self.of_identity:
            return self.say("themselves")
        return self.writer.names(self.result.roles.sensitive)

    @property
    def valid(self) -> str:
        """The key of the sentence that says for which releases a bound is true."""
        result = self.result
        if result.settings.gaussian:
            return "valid_gaussian"
        if any(p.reduced for p in result.parts):
            return "valid_reduced"
        if result.alphabet == "merged":
            return "valid_merged"
        if all(len(p.columns) == 1 or p.everything for p in result.parts):
            return "valid_any" if self.distortion == "hamming" else "valid_values"
        return "valid_combinations"

    @property
    def far_from_gaussian(self) -> bool:
        """Say whether columns taken as Gaussian are far from it, so that nothing is bounded."""
        normality = self.result.normality
        return normality is not None and not normality.near

    @cached_property
    def alphabets(self) -> tuple[AlphabetTexts, ...]:
        """Each alphabet with its points."""
        return tuple(
            AlphabetTexts(
                result=part,
                points=tuple(map(self._point, part.points)),
                recodings=tuple(self._recodings(part)),
            )
            for part in self.result.parts
        )

    def _recodings(self, alphabet: AlphabetResult) -> Iterator[RecodingTexts]:
        """The recodings of an alphabet, if the model has a certificate."""
        if not self.certain:
            return
        at_distortion = self.result.settings.model in AT_DISTORTION
        for recoding in alphabet.recodings[:MOST_INTERVALS]:
            distortion = proportion(self.writer, recoding.distortion)
            risk = bits_text(self.writer, recoding.risk)
            yield RecodingTexts(
                intervals=recoding.intervals,
                at=distortion if at_distortion else risk,
                objective=risk if at_distortion else distortion,
            )

    def _point(self, point: TradeoffPoint) -> CurvePointTexts:
        writer = self.writer
        endless = NumberText(self.part.texts("words.unbounded"), None)
        result = proportion if self.result.settings.model in OF_DISTORTION else bits_text
        numbers = {
            "at": self._constraint(point),
            "distortion": proportion(writer, point.distortion),
            "gap": writer.number(None if point.gap is None else float(f"{point.gap:.2g}")),
            "epsilon": endless if point.epsilon is None else writer.number(point.epsilon),
            "objective": endless if point.unbounded else result(writer, point.objective),
            "bound": endless if point.unbounded else result(writer, point.bound),
            "risk": endless if point.risk is None else bits_text(writer, point.risk),
            "identity": endless if point.identity is None else bits_text(writer, point.identity),
        }
        return CurvePointTexts(point=point, numbers=numbers)

    def _constraint(self, point: TradeoffPoint) -> NumberText:
        at_distortion = self.result.settings.model in AT_DISTORTION
        if point.asked:
            text = percent(point.at) if at_distortion else significant(point.at)
            return NumberText(text, point.at)
        return (proportion if at_distortion else bits_text)(self.writer, point.at)
