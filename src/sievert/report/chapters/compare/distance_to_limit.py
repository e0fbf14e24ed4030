"""Releases against the limit: what each tells of a secret, and the least that it could."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sievert.charts import Dot
from sievert.charts.risk_utility_map import limit_chart
from sievert.report.chapters.compare.view import ComparisonView, ReleaseTexts
from sievert.report.chapters.limit.numbers import about, bits, proportion, times
from sievert.report.page import BulletList, Cell, Chapter, Grid, Link, Paragraph, Picture
from sievert.report.redaction import NumberText

MOST_NAMED = 4  # releases in a sentence


@dataclass(frozen=True)
class DistanceToLimit:
    """One release beside the best one that changes as much."""

    release: ReleaseTexts
    distortion: NumberText
    told: NumberText
    least: NumberText
    bound: NumberText
    ratio: NumberText


def placed(view: ComparisonView, secret: str) -> list[DistanceToLimit]:
    """Each release against the limit of one secret; those that were not placed are left out."""
    redactor, found = view.redactor, []
    for release in view.releases:
        held = (release.data.get("limit") or {}).get(secret)
        if held is None:
            continue
        told, least = bits(redactor, held["disclosed"]), bits(redactor, held["least"])
        far = proportion(redactor, held["distortion"])
        ratio = times(redactor, told, least)
        found.append(
            DistanceToLimit(release, far, told, least, bits(redactor, held["bound"]), ratio)
        )
    return found


def sentence(view: ComparisonView) -> str | None:
    """How far the releases are from the limit of the first secret; None without a limit."""
    for secret in view.part.data.get("limit") or {}:
        held = placed(view, secret)
        known = [p for p in held if p.ratio.number is not None]
        texts, name = view.part.texts, view.redactor.name(secret)
        if not known:
            return texts("compared.far_unknown", secret=name) if held else None
        if len(known) == 1:
            key = "compared.far_one" if len(held) == 1 else "compared.far_some"
            return texts(key, release=known[0].release.label, **_values(view, known[0], name))
        low, high = (end(known, key=_ratio) for end in (min, max))
        return texts(
            "compared.far_range",
            secret=name,
            low=str(low.ratio),
            high=str(high.ratio),
            nearest=low.release.label,
            farthest=high.release.label,
        )
    return None


def _ratio(held: DistanceToLimit) -> float:
    return held.ratio.number or 0.0


def _values(view: ComparisonView, p: DistanceToLimit, secret: str) -> dict[str, str]:
    return {
        "secret": secret,
        "told": about(view.redactor, p.told),
        "least": about(view.redactor, p.least),
        "ratio": str(p.ratio),
        "distortion": about(view.redactor, p.distortion),
    }


def blocks(view: ComparisonView, number: int, secret: str, *, pictured: bool) -> list[Chapter]:
    """The map with the limit, and each release beside what would have been possible."""
    limit = (view.part.data.get("limit") or {}).get(secret)
    held = placed(view, secret)
    if limit is None or not held:
        return []
    texts, name = view.part.texts, view.redactor.name(secret)
    curve = list(_curve(view, limit))
    found: list[Any] = [BulletList(tuple(_said(view, p, name) for p in held))]
    grid = _grid(view, secret, held, curve)
    drawn = [p for p in held if None not in (p.distortion.number, p.told.number)]
    if pictured and drawn and len(curve) > 1:
        found.append(_picture(view, secret, drawn, curve, grid, known=not limit["merged"]))
    else:
        found.append(grid)
    found += [Paragraph(text, "note") for text in _notes(view, limit)]
    found.append(Paragraph(texts("compared.limit_reading"), "reading"))
    title = texts("compared.limit_title", secret=name)
    return [Chapter(title, view.part.anchor(f"limit{number}"), tuple(found))]


def _said(view: ComparisonView, p: DistanceToLimit, secret: str) -> str:
    values = {"release": p.release.label, **_values(view, p, secret)}
    if p.least.number is None:
        return view.part.texts("compared.placed_unknown", **values)
    key = "compared.placed" if p.ratio.number is not None else "compared.placed_no_ratio"
    return view.part.texts(key, **values)


def _curve(view: ComparisonView, limit: Any) -> Iterator[tuple[NumberText, NumberText, NumberText]]:
    """Points of the limit as they are shown, each once."""
    seen = set()
    for point in limit["points"]:
        told = (
            proportion(view.redactor, point["distortion"]),
            bits(view.redactor, point["least"]),
            bits(view.redactor, point["bound"]),
        )
        at = (told[0].number, told[1].number)
        if None not in at and at not in seen:
            seen.add(at)
            yield told


def _picture(
    view: ComparisonView,
    secret: str,
    held: Sequence[DistanceToLimit],
    curve: Sequence[tuple[NumberText, NumberText, NumberText]],
    grid: Grid,
    *,
    known: bool,
) -> Picture:
    texts, name = view.part.texts, view.redactor.name(secret)
    spec = limit_chart(
        texts("compared.limit_chart", secret=name),
        [texts("compared.limit_below" if known else "compared.limit_below_merged")],
        [(at.number or 0.0, least.number or 0.0, bound.number) for at, least, bound in curve],
        [_dot(p) for p in held],
    )
    return Picture(spec, texts("compared.limit_see"), grid)


def _dot(p: DistanceToLimit) -> Dot:
    far, told = p.distortion.number or 0.0, p.told.number or 0.0
    least = told if p.least.number is None else p.least.number
    return Dot(p.release.label, far, told, (least, told))


def _grid(
    view: ComparisonView,
    secret: str,
    held: Sequence[DistanceToLimit],
    curve: Sequence[tuple[NumberText, NumberText, NumberText]],
) -> Grid:
    """Releases first, then the points of the limit; what none is below where that is known."""
    texts = view.part.texts
    known = any(bound.number is not None for _, _, bound in curve)
    rows: list[tuple[Cell, ...]] = []
    for p in held:
        bound = (str(p.bound),) if known else ()
        rows.append(
            (p.release.label, str(p.distortion), str(p.told), str(p.least), *bound, str(p.ratio))
        )
    best = Link(texts("compared.limit_row"), "def-least_possible")
    for at, least, none in curve:
        bound = (str(none),) if known else ()
        rows.append((best, str(at), "", str(least), *bound, ""))
    head = ["head_release", "head_distortion", "head_told", "head_least"]
    head += ["head_bound", "head_ratio"] if known else ["head_ratio"]
    return Grid(
        texts("compared.limit_caption", secret=view.redactor.name(secret)),
        tuple(texts(f"compared.{h}") for h in head),
        tuple(rows),
        tuple(range(1, len(head))),
    )


def _notes(view: ComparisonView, limit: Any) -> Iterator[str]:
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
