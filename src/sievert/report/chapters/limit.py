"""The chapter of a limit: the least that a release must tell, the curve, and a drawn release.

Constraints that were asked for are settings; those of other points follow from the data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sievert.charts import tradeoff
from sievert.charts.drawing import short_name
from sievert.charts.risk_utility_map import ASKED, BEST, LEAST, RECODED
from sievert.formatting import percent, significant
from sievert.report.chapters.numbers import (
    bits_text,
    interval_text,
    proportion,
)
from sievert.report.page import Block, Chapter, Grid, Link, Paragraph, Picture, make_grid
from sievert.report.parts import Data, NumberText, ReportPart

MOST_PICTURED = 4  # alphabets with a picture
MOST_WANTED = 5  # points in sentences
MOST_INTERVALS = 12
MOST_VALUES = 12  # of a matrix that is shown
LONGEST = 24  # letters of a value
CERTAIN = ("1", "2", "identity", "identity_reverse")  # models with a certificate
REVERSED = ("2", "identity_reverse")  # whose result is a distortion
AT_DISTORTION = ("1", "identity")
# What stands beside the two numbers of each model.
BESIDE: dict[str, tuple[str, ...]] = {
    "1": ("identity",),
    "2": ("identity",),
    "3": ("risk", "distortion"),
    "4": ("risk", "distortion"),
    "funnel": ("distortion",),
    "identity": (),
    "identity_reverse": (),
}


# -- the numbers of a limit -----------------------------------------------------------------------


@dataclass(frozen=True)
class CurvePointTexts:
    """One point of the curve: its JSON, and its numbers by their names there."""

    data: Data
    numbers: Mapping[str, NumberText]
    unbounded: bool


@dataclass(frozen=True)
class AlphabetTexts:
    """The columns of one channel: their JSON, their points, and for the operator recodings.

    A recoding is a number of intervals, and where the curve has its point: at, objective.
    """

    data: Data
    points: tuple[CurvePointTexts, ...]
    recodings: tuple[tuple[int, NumberText, NumberText], ...]

    @property
    def requested_points(self) -> list[CurvePointTexts]:
        """The points that were asked for."""
        return [p for p in self.points if p.data["asked"]]


class LimitView(ReportPart):
    """A limit, and how it was asked for."""

    @property
    def model(self) -> str:
        """Which model, as a part of a text's key."""
        return str(self.data["settings"]["model"]).replace(" ", "_")

    @property
    def distortion(self) -> str:
        """What a distortion is, as a part of a text's key."""
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
        """Of which releases a bound is true, as a part of a text's key."""
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

    @cached_property
    def alphabets(self) -> tuple[AlphabetTexts, ...]:
        """Each alphabet with its points."""
        points = self.data["points"]
        return tuple(
            AlphabetTexts(
                p,
                tuple(self._point(x) for x in points if x["columns"] == p["columns"]),
                tuple(self._recodings(p)),
            )
            for p in self.data["channel"]["parts"]
        )

    def _recodings(self, part: Data) -> Iterator[tuple[int, NumberText, NumberText]]:
        """None where the model has no certificate."""
        certain = self.model in CERTAIN
        for recoding in part["recodings"][:MOST_INTERVALS] if certain else ():
            distortion = proportion(self.writer, recoding["distortion"])
            risk = bits_text(self.writer, recoding["risk"])
            ends = (distortion, risk) if self.model in AT_DISTORTION else (risk, distortion)
            yield int(recoding["intervals"]), *ends

    def _point(self, point: Data) -> CurvePointTexts:
        writer, endless = self.writer, NumberText(self.texts("words.unbounded"), None)
        unbounded = point["objective"] is None or point["bound"] is None
        result = proportion if self.model in REVERSED else bits_text
        gap = None if point["gap"] is None else float(f"{point['gap']:.2g}")
        numbers = {
            "at": self._constraint(point),
            "distortion": proportion(writer, point["distortion"]),
            "gap": writer.number(gap),
            "epsilon": endless if point["epsilon"] is None else writer.number(point["epsilon"]),
        }
        for key in ("objective", "bound"):
            numbers[key] = endless if unbounded else result(writer, point[key])
        for key in ("risk", "identity"):
            numbers[key] = endless if key in point["reason"] else bits_text(writer, point[key])
        return CurvePointTexts(point, numbers, unbounded)

    def _constraint(self, point: Data) -> NumberText:
        far, value = self.model in AT_DISTORTION, point["at"]
        if point["asked"]:
            return NumberText(percent(value) if far else significant(value), value)
        return (proportion if far else bits_text)(self.writer, value)


# -- the chapter ----------------------------------------------------------------------------------


def blocks(part: ReportPart) -> tuple[Block | Chapter, ...]:
    """The whole chapter."""
    view = LimitView(**vars(part))
    if len(view.alphabets) == 1:
        return (*_alphabet(view, 1), *_meaning(view))
    chapters = (
        Chapter(
            view.say("columns_title", columns=view.writer.names(alphabet.data["columns"])),
            view.anchor(f"columns{number}"),
            tuple(_alphabet(view, number)),
        )
        for number, alphabet in enumerate(view.alphabets, 1)
    )
    lead = Paragraph(view.say("columns"), "lead")
    return (lead, *(Paragraph(text) for text in _whole(view)), *chapters, *_meaning(view))


def sentences(part: ReportPart) -> tuple[str, ...]:
    """The least that a release must tell, what a drawn release tells, when this is valid."""
    view = LimitView(**vars(part))
    each = (_first(view), _release_sentence(view), view.say(f"valid_{view.valid}"))
    return tuple(text for text in each if text)


# -- sentences ------------------------------------------------------------------------------------


def _first(view: LimitView) -> str | None:
    """The point that was asked for, of the columns of which a release must tell most."""
    points = [(alphabet, p) for alphabet in view.alphabets for p in alphabet.requested_points[:1]]
    most = max(points, key=lambda each: each[1].numbers["objective"].number or 0.0, default=None)
    return None if most is None else _sentence(view, *most)


def _sentence(view: LimitView, alphabet: AlphabetTexts, point: CurvePointTexts) -> str:
    """What the limit says at one point, in a sentence."""
    information = bits_text(view.writer, (alphabet.data["information"] or {}).get("value"))
    values = {
        "columns": view.writer.names(alphabet.data["columns"]),
        "secret": view.secret,
        "at": point.numbers["at"],
        "bound": point.numbers["bound"],
        "best": point.numbers["objective"],
        "table": information,
    }
    if point.unbounded:
        return view.say("unbounded", **values)
    changed = view.model in CERTAIN and view.distortion == "hamming"
    text = view.say(f"model_{view.model}{'_changed' if changed else ''}", **values)
    alone = information.number is None or view.model.startswith("identity")
    return text if alone else f"{text} {view.say('table', **values)}"


def _whole(view: LimitView) -> Iterator[str]:
    """What all columns tell together where each has a channel of its own."""
    whole = view.data["channel"]["whole"]
    values = {
        what: bits_text(view.writer, whole[what]["value"])
        for what in ("table", "release")
        if whole.get(what) is not None
    }
    if "table" in values:
        key = "whole" if "release" in values else "whole_table"
        yield view.say(key, secret=view.secret, **values)


def _meaning(view: LimitView) -> Iterator[Paragraph]:
    valid = f"valid_{view.valid}" if len(view.alphabets) == 1 else "each"
    for key in (valid, "certain" if view.model in CERTAIN else "searched", "average"):
        yield Paragraph(view.say(key), "reading")


# -- one alphabet ---------------------------------------------------------------------------------


def _alphabet(view: LimitView, number: int) -> Iterator[Block | Chapter]:
    alphabet, distortion = view.alphabets[number - 1], view.say(f"distortion_{view.distortion}")
    for point in alphabet.requested_points[:MOST_WANTED]:
        yield Paragraph(_sentence(view, alphabet, point), "lead")
    sizes = view.say(
        "sizes", **{k: view.writer.count(alphabet.data[k]) for k in ("values", "released")}
    )
    yield Paragraph(distortion if view.data["settings"]["gaussian"] else f"{sizes} {distortion}")
    grid = _grid(view, alphabet)
    spec = _picture(view, alphabet) if number <= MOST_PICTURED else None
    yield grid if spec is None else Picture(spec, view.say("see"), grid)
    if late := sum(p.data["reached"] is False for p in alphabet.points):
        yield Paragraph(view.say("late" if late > 1 else "late_one", number=late), "note")
    yield from _channel(view, number)


def _picture(view: LimitView, alphabet: AlphabetTexts) -> dict[str, Any] | None:
    """The curve; none of a single point."""
    places: dict[tuple[float, float], float | None] = {}
    for p in alphabet.points:
        at, best, bound = (p.numbers[k].number for k in ("at", "objective", "bound"))
        if at is not None and best is not None:
            places.setdefault((at, best), bound)
    if len({at for at, _ in places}) < 2:
        return None
    lines = []
    for (at, best), bound in places.items():
        lines += [(BEST, at, best), *([] if bound is None else [(LEAST, at, bound)])]
    points = [
        (ASKED, p.numbers["at"], p.numbers["objective"], "") for p in alphabet.requested_points
    ]
    points += [(RECODED, at, best, f" ({n})") for n, at, best in alphabet.recodings]
    marks = [
        (name, at.number, best.number, more)
        for name, at, best, more in points
        if at.number is not None and best.number is not None
    ]
    return tradeoff(
        view.say("chart", columns=view.writer.names(alphabet.data["columns"])),
        [view.say("below", secret=view.secret)],
        lines,
        marks,
        across=view.say(f"across_{view.model}"),
        up=view.say(f"up_{view.model}"),
    )


def _grid(view: LimitView, alphabet: AlphabetTexts) -> Grid:
    """Points of the curve, as they are drawn."""
    more = (*BESIDE[view.model], "gap", "epsilon")
    head = [f"across_{view.model}", f"up_{view.model}", "head_bound"]
    head += [f"head_{what}" for what in (*more, "what")]
    rows: list[tuple[object, ...]] = [
        (
            p.numbers["at"],
            Link(str(p.numbers["objective"]), "def-limit_curve"),
            *(p.numbers[what] for what in ("bound", *more)),
            view.say("asked") if p.data["asked"] else "",
        )
        for p in alphabet.points
    ]
    rows += [
        (at, best, "", *("" for _ in more), view.say("recoded", intervals=intervals))
        for intervals, at, best in alphabet.recodings
    ]
    caption, folded = view.say("caption", secret=view.secret), len(alphabet.points) > 12
    return make_grid(caption, map(view.say, head), rows, range(len(head) - 1), folded=folded)


# -- the channel that reaches the limit -----------------------------------------------------------


def _release_sentence(view: LimitView) -> str | None:
    """What a release drawn from the channel tells beside what was promised."""
    drawn = [alphabet.data for alphabet in view.alphabets if alphabet.data.get("achieved")]
    if len(drawn) == 1:
        return _promise_sentence(view, drawn[0])
    key = "all_inside" if view.data["channel"]["inside"] else "some_outside"
    return view.say(key) if drawn else None


def _promise_sentence(view: LimitView, data: Data) -> str:
    writer, achieved = view.writer, data["achieved"]
    inside = achieved["risk_inside"] and achieved["distortion_inside"]
    released = "_released" if view.data["settings"]["released"] else ""
    return view.say(
        f"{'inside' if inside else 'outside'}{released}",
        promised=bits_text(writer, data["promised"]["risk"]),
        drawn=bits_text(writer, achieved["risk"]),
        secret=view.secret,
    )


def _channel(view: LimitView, number: int) -> Iterator[Chapter]:
    """Promise against release, and the channel itself."""
    data, inner = view.alphabets[number - 1].data, list[Block]()
    if data.get("promised"):
        lead = [Paragraph(_promise_sentence(view, data), "lead")] if data["achieved"] else []
        inner += [*lead, _promises(view, data), Paragraph(view.say("promise_reading"), "reading")]
    if "epsilon" in data:
        key = "epsilon_unbounded" if data["epsilon"] is None else "epsilon"
        inner.append(Paragraph(view.say(key, epsilon=significant(data["epsilon"] or 0.0))))
    if data.get("matrix"):
        inner.append(_matrix(view, data["matrix"]))
    if inner:
        yield Chapter(view.say("channel_title"), view.anchor(f"channel{number}"), tuple(inner))


def _promises(view: LimitView, data: Data) -> Grid:
    """What was promised, where most draws lie, what one draw shows."""
    writer, promise, achieved = view.writer, data["promised"], data["achieved"] or {}
    rows: list[tuple[object, ...]] = []
    for what, text in (("risk", bits_text), ("distortion", proportion)):
        ends = (text(writer, end) for end in promise[f"{what}_interval"])
        draw: tuple[object, ...] = ()
        if achieved:
            inside = "inside_word" if achieved[f"{what}_inside"] else "outside_word"
            draw = (text(writer, achieved[what]), view.say(inside))
        name = Link(view.say(f"row_{what}"), "def-channel")
        rows.append((name, text(writer, promise[what]), interval_text(writer, *ends), *draw))
    corrected = achieved.get("risk_corrected")
    if corrected is not None and not view.data["settings"]["gaussian"]:
        name = Link(view.say("row_corrected"), "def-channel")
        rows.append((name, "", "", bits_text(writer, corrected), ""))
    head = ("number", "promised", "draws", *(("drawn", "inside") if achieved else ()))
    caption, right = (
        view.say("promise_caption", secret=view.secret),
        (1, 2, 3) if achieved else (1, 2),
    )
    return make_grid(caption, view.texts.each("limits.head", head), rows, right)


def _matrix(view: LimitView, matrix: Data) -> Block:
    """The chances by which values are released, where values may be shown and are few."""
    if max(len(matrix["values"]), len(matrix["released"])) > MOST_VALUES:
        return Paragraph(view.say("matrix_large"), "note")
    head = (view.say("head_true"), *(_value(view, v) for v in matrix["released"]))
    rows = (
        (_value(view, v), *(significant(round(p, 6)) for p in chances))
        for v, chances in zip(matrix["values"], matrix["probabilities"], strict=True)
    )
    return make_grid(view.say("matrix_caption"), head, rows, folded=True)


def _value(view: LimitView, combination: Sequence[str | None]) -> str:
    missing = view.say("missing")
    return ", ".join(missing if v is None else short_name(v, LONGEST) for v in combination)
