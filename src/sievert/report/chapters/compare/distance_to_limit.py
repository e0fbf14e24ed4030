"""Releases against the limit: what each tells of a secret, and the least that it could."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sievert.charts import Dot
from sievert.charts.risk_utility_map import limited
from sievert.report.chapters.compare.view import Shown, View
from sievert.report.chapters.limit.numbers import about, bits, proportion, times
from sievert.report.page import Cell, Chapter, Grid, Link, Picture, Points, Words
from sievert.report.redaction import Said

MOST_NAMED = 4  # releases in a sentence


@dataclass(frozen=True)
class Placed:
    """One release beside the best one that changes as much."""

    release: Shown
    distortion: Said
    told: Said
    least: Said
    bound: Said
    ratio: Said


def placed(view: View, secret: str) -> list[Placed]:
    """Each release against the limit of one secret; those that were not placed are left out."""
    pen, found = view.pen, []
    for release in view.releases:
        held = (release.data.get("limit") or {}).get(secret)
        if held is None:
            continue
        told, least = bits(pen, held["disclosed"]), bits(pen, held["least"])
        far = proportion(pen, held["distortion"])
        ratio = times(pen, told, least)
        found.append(Placed(release, far, told, least, bits(pen, held["bound"]), ratio))
    return found


def sentence(view: View) -> str | None:
    """How far the releases are from the limit of the first secret; None without a limit."""
    for secret in view.part.data.get("limit") or {}:
        held = placed(view, secret)
        known = [p for p in held if p.ratio.number is not None]
        texts, name = view.part.texts, view.pen.name(secret)
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


def _ratio(held: Placed) -> float:
    return held.ratio.number or 0.0


def _values(view: View, p: Placed, secret: str) -> dict[str, str]:
    return {
        "secret": secret,
        "told": about(view.pen, p.told),
        "least": about(view.pen, p.least),
        "ratio": str(p.ratio),
        "distortion": about(view.pen, p.distortion),
    }


def blocks(view: View, number: int, secret: str, *, pictured: bool) -> list[Chapter]:
    """The map with the limit, and each release beside what would have been possible."""
    limit = (view.part.data.get("limit") or {}).get(secret)
    held = placed(view, secret)
    if limit is None or not held:
        return []
    texts, name = view.part.texts, view.pen.name(secret)
    curve = list(_curve(view, limit))
    found: list[Any] = [Points(tuple(_said(view, p, name) for p in held))]
    grid = _grid(view, secret, held, curve)
    drawn = [p for p in held if None not in (p.distortion.number, p.told.number)]
    if pictured and drawn and len(curve) > 1:
        found.append(_picture(view, secret, drawn, curve, grid, known=not limit["merged"]))
    else:
        found.append(grid)
    found += [Words(text, "note") for text in _notes(view, limit)]
    found.append(Words(texts("compared.limit_reading"), "reading"))
    title = texts("compared.limit_title", secret=name)
    return [Chapter(title, view.part.anchor(f"limit{number}"), tuple(found))]


def _said(view: View, p: Placed, secret: str) -> str:
    values = {"release": p.release.label, **_values(view, p, secret)}
    if p.least.number is None:
        return view.part.texts("compared.placed_unknown", **values)
    key = "compared.placed" if p.ratio.number is not None else "compared.placed_no_ratio"
    return view.part.texts(key, **values)


def _curve(view: View, limit: Any) -> Iterator[tuple[Said, Said, Said]]:
    """Points of the limit as they are shown, each once."""
    seen = set()
    for point in limit["points"]:
        told = (
            proportion(view.pen, point["distortion"]),
            bits(view.pen, point["least"]),
            bits(view.pen, point["bound"]),
        )
        at = (told[0].number, told[1].number)
        if None not in at and at not in seen:
            seen.add(at)
            yield told


def _picture(
    view: View,
    secret: str,
    held: Sequence[Placed],
    curve: Sequence[tuple[Said, Said, Said]],
    grid: Grid,
    *,
    known: bool,
) -> Picture:
    texts, name = view.part.texts, view.pen.name(secret)
    spec = limited(
        texts("compared.limit_chart", secret=name),
        [texts("compared.limit_below" if known else "compared.limit_below_merged")],
        [(at.number or 0.0, least.number or 0.0, bound.number) for at, least, bound in curve],
        [_dot(p) for p in held],
    )
    return Picture(spec, texts("compared.limit_see"), grid)


def _dot(p: Placed) -> Dot:
    far, told = p.distortion.number or 0.0, p.told.number or 0.0
    least = told if p.least.number is None else p.least.number
    return Dot(p.release.label, far, told, (least, told))


def _grid(
    view: View,
    secret: str,
    held: Sequence[Placed],
    curve: Sequence[tuple[Said, Said, Said]],
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
        texts("compared.limit_caption", secret=view.pen.name(secret)),
        tuple(texts(f"compared.{h}") for h in head),
        tuple(rows),
        tuple(range(1, len(head))),
    )


def _notes(view: View, limit: Any) -> Iterator[str]:
    """From which distortion on nothing need be told, and what of the limit is not known."""
    texts = view.part.texts
    silent = proportion(view.pen, limit["perfect"])
    if silent.number is None:
        yield texts("compared.perfect_unknown")
    else:
        yield texts("compared.perfect", distortion=about(view.pen, silent))
    if limit["merged"]:
        yield texts("compared.limit_merged")
    if limit["reached"] is False:
        yield texts("compared.limit_not_reached")
