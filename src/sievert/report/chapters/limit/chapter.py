"""The chapter of a limit: the least that must be told, the curve, and a release drawn from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sievert.charts import tradeoff
from sievert.charts.tradeoff_curve import ASKED, BEST, LEAST, RECODED
from sievert.report.chapters.limit import channel
from sievert.report.chapters.limit.numbers import Blocks, about, bits, rounding, too_small
from sievert.report.chapters.limit.view import AlphabetTexts, CurvePointTexts, LimitView
from sievert.report.page import Cell, Chapter, Grid, Link, Paragraph, Picture
from sievert.report.parts import ReportPart

MOST_PICTURED = 4  # alphabets with a picture
MOST_ASKED = 5  # points in sentences
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
    view = LimitView(part)
    texts = part.texts
    found: list[Any] = []
    one = len(view.columns) == 1
    if not one:
        found.append(Paragraph(texts("limits.columns"), "lead"))
        found += [Paragraph(text) for text in _whole(view)]
    for number, held in enumerate(view.columns, 1):
        inside = _alphabet(view, held, pictured=number <= MOST_PICTURED)
        if one:
            found += inside
            continue
        title = texts("limits.columns_title", columns=part.redactor.names(held.names))
        found.append(Chapter(title, part.anchor(f"columns{number}"), tuple(inside)))
    found += _meaning(view)
    return tuple(found)


def sentences(part: ReportPart) -> tuple[str, ...]:
    """The least that must be told, what a drawn release tells, for what this holds."""
    if part.redactor.silent:
        return ()
    view = LimitView(part)
    found = [text for text in (_first(view), channel.sentence(view)) if text]
    return (*found, part.texts(f"limits.valid_{view.valid}"))


# -- sentences ------------------------------------------------------------------------------------


def _first(view: LimitView) -> str | None:
    """The asked point, of the columns of which most must be told."""
    held = [(c, p) for c in view.columns for p in c.asked[:1]]
    if not held:
        return None
    most = max(held, key=lambda found: found[1].objective.number or 0.0)
    return _said(view, *most)


def _said(view: LimitView, held: AlphabetTexts, point: CurvePointTexts) -> str:
    """What the limit says at one point, in a sentence."""
    texts, redactor = view.part.texts, view.redactor
    values = {
        "columns": redactor.names(held.names),
        "secret": view.secret,
        "at": str(point.at),
        "bound": about(redactor, point.bound),
        "best": about(redactor, point.objective),
        "table": about(redactor, held.information),
    }
    if point.unbounded:
        return texts("limits.unbounded", **values)
    key = f"limits.model_{view.model}"
    if view.model in ("1", "identity", "2", "identity_reverse") and view.changed:
        key += "_changed"
    said = texts(key, **values)
    if held.information.number is None or view.model.startswith("identity"):
        return said
    return f"{said} {texts('limits.table', **values)}"


def _whole(view: LimitView) -> Iterator[str]:
    """What all columns tell together where each has a channel of its own."""
    table, release = (view.part.data["channel"]["whole"].get(w) for w in ("table", "release"))
    if table is None:
        return
    values = {
        "secret": view.secret,
        "table": about(view.redactor, bits(view.redactor, table["value"])),
    }
    if release is None:
        yield view.part.texts("limits.whole_table", **values)
    else:
        told = about(view.redactor, bits(view.redactor, release["value"]))
        yield view.part.texts("limits.whole", release=told, **values)


def _meaning(view: LimitView) -> Iterator[Paragraph]:
    texts = view.part.texts
    if len(view.columns) == 1:
        yield Paragraph(texts(f"limits.valid_{view.valid}"), "reading")
    else:
        yield Paragraph(texts("limits.each"), "reading")
    yield Paragraph(texts("limits.certain" if view.certain else "limits.searched"), "reading")
    yield Paragraph(texts("limits.average"), "reading")
    if not view.redactor.internal:
        yield rounding(view.part)
        yield Paragraph(texts("limits.only_internal"), "note")


# -- one alphabet ---------------------------------------------------------------------------------


def _alphabet(view: LimitView, held: AlphabetTexts, *, pictured: bool) -> list[Any]:
    texts, asked = view.part.texts, held.asked
    found: list[Any] = [Paragraph(_said(view, held, p), "lead") for p in asked[:MOST_ASKED]]
    found.append(Paragraph(_sizes(view, held)))
    grid = _grid(view, held)
    spec = _picture(view, held) if pictured else None
    if spec is not None:
        found.append(Picture(spec, texts("limits.see"), grid))
    else:
        found.append(grid)
    late = sum(1 for p in held.points if p.reached is False)
    if late:
        found.append(
            Paragraph(texts("limits.late" if late > 1 else "limits.late_one", number=late), "note")
        )
    return [*found, *channel.blocks(view, held)]


def _sizes(view: LimitView, held: AlphabetTexts) -> str:
    """How many combinations there are, and what a distortion is."""
    texts = view.part.texts
    far = texts(f"limits.distortion_{view.distortion}")
    if view.gaussian:
        return far
    return f"{texts('limits.sizes', values=held.values, released=held.released)} {far}"


def _picture(view: LimitView, held: AlphabetTexts) -> dict[str, Any] | None:
    """The curve; none of a single point."""
    texts, lines, marks = view.part.texts, [], []
    drawn: dict[tuple[float | None, float | None], CurvePointTexts] = {}
    for p in held.points:
        if None not in (p.at.number, p.objective.number):
            drawn.setdefault((p.at.number, p.objective.number), p)
    if len({at for at, _ in drawn}) < 2:
        return None
    for p in drawn.values():
        at, best = p.at.number or 0.0, p.objective.number or 0.0
        lines.append((BEST, at, best))
        if p.bound.number is not None:
            lines.append((LEAST, at, p.bound.number))
    for p in held.asked:
        if None not in (p.at.number, p.objective.number):
            marks.append((ASKED, p.at.number or 0.0, p.objective.number or 0.0, ""))
    for r in held.recoded:
        if None not in (r.at.number, r.objective.number):
            more = f" ({r.intervals})"
            marks.append((RECODED, r.at.number or 0.0, r.objective.number or 0.0, more))
    return tradeoff(
        texts("limits.chart", columns=view.redactor.names(held.names)),
        [texts("limits.below", secret=view.secret)],
        lines,
        marks,
        across=texts(f"limits.across_{view.model}"),
        up=texts(f"limits.up_{view.model}"),
    )


def _grid(view: LimitView, held: AlphabetTexts) -> Grid:
    """Points of the curve, as they are drawn."""
    texts, internal = view.part.texts, view.redactor.internal
    more = BESIDE[view.model]
    head = [f"across_{view.model}", f"up_{view.model}", "head_bound"]
    head += [f"head_{what}" for what in more]
    head += ["head_gap", "head_epsilon"] if internal else []
    head.append("head_what")
    rows: list[tuple[Cell, ...]] = []
    for p in held.points:
        cells: list[Cell] = [str(p.at), Link(str(p.objective), "def-limit_curve"), str(p.bound)]
        cells += [str(getattr(p, what)) for what in more]
        cells += [str(p.gap), str(p.epsilon)] if internal else []
        cells.append(texts("limits.asked") if p.asked else "")
        rows.append(tuple(cells))
    for r in held.recoded:
        empty = [""] * (len(head) - 3)
        what = texts("limits.recoded", intervals=r.intervals)
        rows.append((str(r.at), str(r.objective), *empty, what))
    return Grid(
        texts("limits.caption", secret=view.secret),
        tuple(texts(f"limits.{h}") for h in head),
        tuple(rows),
        tuple(range(len(head) - 1)),
        folded=len(held.points) > 12,
    )
