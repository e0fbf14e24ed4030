"""Releases against the limit: what each tells of a secret, and the least that it could."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sievert.charts import Dot
from sievert.charts.risk_utility_map import limit_chart
from sievert.report.chapters.compare.view import ComparisonView, ReleaseTexts
from sievert.report.chapters.limit.numbers import about, bits, proportion, times
from sievert.report.page import BulletList, Chapter, Grid, Link, Paragraph, Picture, make_grid
from sievert.report.parts import Data
from sievert.report.redaction import NumberText

CurvePoint = tuple[NumberText, NumberText, NumberText]  # distortion, least, bound


@dataclass(frozen=True)
class DistanceToLimit:
    """One release beside the best one that changes as much."""

    release: ReleaseTexts
    distortion: NumberText
    disclosed: NumberText
    least: NumberText
    bound: NumberText
    ratio: NumberText


def distances(view: ComparisonView, secret: str) -> Iterator[DistanceToLimit]:
    """Each release against the limit of one secret; those that were not placed are left out."""
    for release in view.releases:
        data = (release.data.get("limit") or {}).get(secret)
        if data is not None:
            values = (bits(view.redactor, data[k]) for k in ("disclosed", "least", "bound"))
            disclosed, least, bound = values
            far = proportion(view.redactor, data["distortion"])
            ratio = times(view.redactor, disclosed, least)
            yield DistanceToLimit(release, far, disclosed, least, bound, ratio)


def sentence(view: ComparisonView) -> str | None:
    """How far the releases are from the limit of the first secret; None without a limit."""
    secret = next(iter(view.part.data.get("limit") or {}), None)
    each = [] if secret is None else list(distances(view, secret))
    if secret is None or not each:
        return None
    known = [d for d in each if d.ratio.number is not None]
    texts, name = view.part.texts, view.redactor.name(secret)
    if not known:
        return texts("compared.far_unknown", secret=name)
    if len(known) == 1:
        key = "compared.far_one" if len(each) == 1 else "compared.far_some"
        return texts(key, **_values(view, known[0], name))
    low, high = (end(known, key=lambda d: d.ratio.number or 0.0) for end in (min, max))
    return texts(
        "compared.far_range",
        secret=name,
        low=low.ratio,
        high=high.ratio,
        nearest=low.release.label,
        farthest=high.release.label,
    )


def _values(view: ComparisonView, distance: DistanceToLimit, secret: str) -> dict[str, object]:
    return {
        "release": distance.release.label,
        "secret": secret,
        "told": about(view.redactor, distance.disclosed),
        "least": about(view.redactor, distance.least),
        "ratio": distance.ratio,
        "distortion": about(view.redactor, distance.distortion),
    }


def blocks(view: ComparisonView, number: int, secret: str, *, pictured: bool) -> Iterator[Chapter]:
    """The map with the limit, and each release beside what would have been possible."""
    limit = (view.part.data.get("limit") or {}).get(secret)
    each = list(distances(view, secret))
    if limit is None or not each:
        return
    texts, name = view.part.texts, view.redactor.name(secret)
    curve = _curve(view, limit)
    grid = _grid(view, name, each, curve)
    drawn = [d for d in each if None not in (d.distortion.number, d.disclosed.number)]
    picture = pictured and drawn and len(curve) > 1
    inner = (
        BulletList(tuple(_sentence(view, d, name) for d in each)),
        _picture(view, name, drawn, curve, grid, merged=limit["merged"]) if picture else grid,
        *(Paragraph(text, "note") for text in _notes(view, limit)),
        Paragraph(texts("compared.limit_reading"), "reading"),
    )
    title = texts("compared.limit_title", secret=name)
    yield Chapter(title, view.part.anchor(f"limit{number}"), inner)


def _sentence(view: ComparisonView, distance: DistanceToLimit, secret: str) -> str:
    key = "" if distance.ratio.number is not None else "_no_ratio"
    key = "_unknown" if distance.least.number is None else key
    return view.part.texts(f"compared.placed{key}", **_values(view, distance, secret))


def _curve(view: ComparisonView, limit: Data) -> list[CurvePoint]:
    """Points of the limit as they are shown, each once."""
    shown: dict[tuple[float | None, float | None], CurvePoint] = {}
    for point in limit["points"]:
        at = proportion(view.redactor, point["distortion"])
        least, bound = (bits(view.redactor, point[k]) for k in ("least", "bound"))
        if None not in (at.number, least.number):
            shown.setdefault((at.number, least.number), (at, least, bound))
    return list(shown.values())


def _picture(
    view: ComparisonView,
    secret: str,
    distances: Sequence[DistanceToLimit],
    curve: Sequence[CurvePoint],
    grid: Grid,
    *,
    merged: bool,
) -> Picture:
    texts, dots = view.part.texts, []
    for d in distances:
        far, told = d.distortion.number or 0.0, d.disclosed.number or 0.0
        least = told if d.least.number is None else d.least.number
        dots.append(Dot(d.release.label, far, told, (least, told)))
    spec = limit_chart(
        texts("compared.limit_chart", secret=secret),
        [texts("compared.limit_below_merged" if merged else "compared.limit_below")],
        [(at.number or 0.0, least.number or 0.0, bound.number) for at, least, bound in curve],
        dots,
    )
    return Picture(spec, texts("compared.limit_see"), grid)


def _grid(
    view: ComparisonView,
    secret: str,
    distances: Sequence[DistanceToLimit],
    curve: Sequence[CurvePoint],
) -> Grid:
    """Releases first, then the points of the limit; what none is below where that is known."""
    texts = view.part.texts
    best = Link(texts("compared.limit_row"), "def-least_possible")
    rows: list[tuple[object, ...]] = [
        (d.release.label, d.distortion, d.disclosed, d.least, d.bound, d.ratio) for d in distances
    ]
    rows += [(best, at, "", least, bound, "") for at, least, bound in curve]
    head = texts.each("compared.head", ("release", "distortion", "told", "least", "bound", "ratio"))
    if all(bound.number is None for _, _, bound in curve):
        head, rows = [*head[:4], head[5]], [(*row[:4], row[5]) for row in rows]
    return make_grid(texts("compared.limit_caption", secret=secret), head, rows)


def _notes(view: ComparisonView, limit: Data) -> Iterator[str]:
    """From which distortion on nothing need be told, and what of the limit is not known."""
    texts = view.part.texts
    silent = proportion(view.redactor, limit["perfect"])
    if silent.number is None:
        yield texts("compared.perfect_unknown")
    else:
        yield texts("compared.perfect", distortion=about(view.redactor, silent))
    if limit["merged"]:
        yield texts("compared.limit_merged")
    if limit["reached"] is False:
        yield texts("compared.limit_not_reached")
