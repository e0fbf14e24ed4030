"""The chapter of a limit: the least that must be told, the curve, and a release drawn from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sievert.charts import tradeoff
from sievert.charts.tradeoff_curve import ASKED, BEST, LEAST, RECODED
from sievert.report.chapters.limit import channel
from sievert.report.chapters.limit.numbers import Blocks, about, bits, rounding, too_small
from sievert.report.chapters.limit.view import CERTAIN, AlphabetTexts, CurvePointTexts, LimitView
from sievert.report.page import Block, Chapter, Grid, Link, Paragraph, Picture, make_grid
from sievert.report.parts import ReportPart
from sievert.report.redaction import NumberText

MOST_PICTURED = 4  # alphabets with a picture
MOST_WANTED = 5  # points in sentences
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


def blocks(part: ReportPart) -> Blocks:
    """The whole chapter."""
    if part.redactor.silent:
        return too_small(part)
    view, texts = LimitView(part), part.texts
    if len(view.alphabets) == 1:
        return (*_alphabet(view, 1), *_meaning(view))
    chapters = (
        Chapter(
            texts("limits.columns_title", columns=part.redactor.names(alphabet.names)),
            part.anchor(f"columns{number}"),
            tuple(_alphabet(view, number)),
        )
        for number, alphabet in enumerate(view.alphabets, 1)
    )
    lead = Paragraph(texts("limits.columns"), "lead")
    return (lead, *(Paragraph(text) for text in _whole(view)), *chapters, *_meaning(view))


def sentences(part: ReportPart) -> tuple[str, ...]:
    """The least that must be told, what a drawn release tells, for what this holds."""
    if part.redactor.silent:
        return ()
    view = LimitView(part)
    each = [text for text in (_first(view), channel.sentence(view)) if text]
    return (*each, part.texts(f"limits.valid_{view.valid}"))


# -- sentences ------------------------------------------------------------------------------------


def _first(view: LimitView) -> str | None:
    """The point that was asked for, of the columns of which most must be told."""
    points = [(c, p) for c in view.alphabets for p in c.wanted[:1]]
    most = max(points, key=lambda each: each[1].objective.number or 0.0, default=None)
    return None if most is None else _sentence(view, *most)


def _sentence(view: LimitView, alphabet: AlphabetTexts, point: CurvePointTexts) -> str:
    """What the limit says at one point, in a sentence."""
    texts, redactor = view.part.texts, view.redactor
    values = {
        "columns": redactor.names(alphabet.names),
        "secret": view.secret,
        "at": point.at,
        "bound": about(redactor, point.bound),
        "best": about(redactor, point.objective),
        "table": about(redactor, alphabet.information),
    }
    if point.unbounded:
        return texts("limits.unbounded", **values)
    changed = view.model in CERTAIN and view.changed
    said = texts(f"limits.model_{view.model}{'_changed' if changed else ''}", **values)
    if alphabet.information.number is None or view.model.startswith("identity"):
        return said
    return f"{said} {texts('limits.table', **values)}"


def _whole(view: LimitView) -> Iterator[str]:
    """What all columns tell together where each has a channel of its own."""
    whole = view.part.data["channel"]["whole"]
    values = {
        what: about(view.redactor, bits(view.redactor, whole[what]["value"]))
        for what in ("table", "release")
        if whole.get(what) is not None
    }
    if "table" in values:
        key = "limits.whole" if "release" in values else "limits.whole_table"
        yield view.part.texts(key, secret=view.secret, **values)


def _meaning(view: LimitView) -> Iterator[Paragraph]:
    texts = view.part.texts
    valid = f"valid_{view.valid}" if len(view.alphabets) == 1 else "each"
    for key in (valid, "certain" if view.certain else "searched", "average"):
        yield Paragraph(texts(f"limits.{key}"), "reading")
    if not view.redactor.internal:
        yield rounding(view.part)
        yield Paragraph(texts("limits.only_internal"), "note")


# -- one alphabet ---------------------------------------------------------------------------------


def _alphabet(view: LimitView, number: int) -> Iterator[Block | Chapter]:
    texts, alphabet = view.part.texts, view.alphabets[number - 1]
    for point in alphabet.wanted[:MOST_WANTED]:
        yield Paragraph(_sentence(view, alphabet, point), "lead")
    distortion = texts(f"limits.distortion_{view.distortion}")
    sizes = texts("limits.sizes", values=alphabet.values, released=alphabet.released)
    yield Paragraph(distortion if view.gaussian else f"{sizes} {distortion}")
    grid = _grid(view, alphabet)
    spec = _picture(view, alphabet) if number <= MOST_PICTURED else None
    yield grid if spec is None else Picture(spec, texts("limits.see"), grid)
    if late := sum(1 for p in alphabet.points if p.reached is False):
        key = "limits.late" if late > 1 else "limits.late_one"
        yield Paragraph(texts(key, number=late), "note")
    yield from channel.blocks(view, number)


def _picture(view: LimitView, alphabet: AlphabetTexts) -> dict[str, Any] | None:
    """The curve; none of a single point."""
    texts, lines = view.part.texts, []
    places: dict[tuple[float, float], CurvePointTexts] = {}
    for p in alphabet.points:
        if p.at.number is not None and p.objective.number is not None:
            places.setdefault((p.at.number, p.objective.number), p)
    if len({at for at, _ in places}) < 2:
        return None
    for (at, best), p in places.items():
        lines.append((BEST, at, best))
        if p.bound.number is not None:
            lines.append((LEAST, at, p.bound.number))
    points: list[tuple[str, NumberText, NumberText, str]] = [
        (ASKED, p.at, p.objective, "") for p in alphabet.wanted
    ]
    points += [(RECODED, r.at, r.objective, f" ({r.intervals})") for r in alphabet.recodings]
    marks = [
        (name, at.number, best.number, more)
        for name, at, best, more in points
        if at.number is not None and best.number is not None
    ]
    return tradeoff(
        texts("limits.chart", columns=view.redactor.names(alphabet.names)),
        [texts("limits.below", secret=view.secret)],
        lines,
        marks,
        across=texts(f"limits.across_{view.model}"),
        up=texts(f"limits.up_{view.model}"),
    )


def _grid(view: LimitView, alphabet: AlphabetTexts) -> Grid:
    """Points of the curve, as they are drawn."""
    texts = view.part.texts
    more = (*BESIDE[view.model], *(("gap", "epsilon") if view.redactor.internal else ()))
    head = [f"across_{view.model}", f"up_{view.model}", "head_bound"]
    head += [f"head_{what}" for what in (*more, "what")]
    rows: list[tuple[object, ...]] = [
        (
            p.at,
            Link(str(p.objective), "def-limit_curve"),
            p.bound,
            *(getattr(p, what) for what in more),
            texts("limits.asked") if p.wanted else "",
        )
        for p in alphabet.points
    ]
    rows += [
        (r.at, r.objective, "", *("" for _ in more), texts("limits.recoded", intervals=r.intervals))
        for r in alphabet.recodings
    ]
    caption, folded = texts("limits.caption", secret=view.secret), len(alphabet.points) > 12
    return make_grid(
        caption, texts.each("limits", head, "."), rows, range(len(head) - 1), folded=folded
    )
