"""A map of releases as SVG: what each has lost across, what it still discloses upwards.

It has attributes only, no styles, as the policy of the pages demands. A point that can be taken is
a button of a form; the table beside the map has the same buttons, for the keyboard.
"""

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from sievert.charts.colours import colour
from sievert.formatting import significant

LEFT = 44
RIGHT = 14
TOP = 16
BOTTOM = 60
SHAPE = 40  # hundredths of the width are the height
TARGET = 24  # pixels of a button
LETTER = 7.3  # pixels
LINE = 16
ROOM = 1.06  # beyond the outermost point
HAIR = 0.02  # of the width: nearer to 0 than can be seen
MANY = 40  # points from which on they are smaller
MET = "met"
BREACHED = "breached"
DOUBTFUL = "doubtful"


@dataclass(frozen=True, kw_only=True)
class MapPoint:
    """A release on the map, with its state; `take` is what its button sends, if it has one."""

    across: float
    up: float
    state: str
    said: str = ""  # of its button, for somebody who does not see the map
    name: str = ""
    take: str = ""
    chosen: bool = False
    hollow: bool = False  # another one is better in both respects


@dataclass(frozen=True, kw_only=True)
class MapWords:
    """What a map says: its label, its axes, the names of its lines."""

    label: str
    across: str
    up: str
    chosen: str = ""
    curve: str = ""
    note: str = ""  # below the axis across: which loss it is


@dataclass(frozen=True)
class MapScale:
    """Where a number stands on a map of a size."""

    width: int
    least: float
    most: float
    high: float

    @property
    def height(self) -> int:
        """Pixels from top to bottom."""
        return max(260, self.width * SHAPE // 100 + TOP + BOTTOM)

    def x(self, value: float) -> float:
        """Pixels from the left."""
        part = (value - self.least) / (self.most - self.least)
        return LEFT + (self.width - LEFT - RIGHT) * min(max(part, 0.0), 1.0)

    def y(self, value: float) -> float:
        """Pixels from the top."""
        whole = self.height - TOP - BOTTOM
        return TOP + whole * (1 - min(max(value / self.high, 0.0), 1.0))


def draw_map(
    points: Sequence[MapPoint],
    words: MapWords,
    width: int,
    *,
    curve: Sequence[tuple[float, float]] = (),
    form: str = "",
) -> Markup:
    """The map of one width; `curve` is what no release was seen below."""
    scale = _scale(points, width)
    drawn = "".join(
        (
            *_frame(scale, words),
            *_region(scale, points),
            *_curve(scale, words, curve),
            *(_mark(scale, p, 4 if len(points) < MANY else 3) for p in sorted(points, key=_depth)),
            *_names(scale, points, words),
            *(_button(scale, p, form) for p in sorted(points, key=_depth) if p.take),
        )
    )
    return Markup(  # noqa: S704 - drawn here, and its texts are escaped
        f'<svg class="map" role="group" aria-label="{escape(words.label)}" width="{width}" '
        f'height="{scale.height}" viewBox="0 0 {width} {scale.height}">{drawn}</svg>'
    )


def _scale(points: Sequence[MapPoint], width: int) -> MapScale:
    """Upwards from 0; across as well, unless all points are far from it."""
    places = [p.across for p in points] or [0.0]
    low = min(places)
    most = ROOM * max(*places, 0.0) or 1.0
    step = ticks(most)[1]
    beside = low > most / 2 or low < -HAIR * most
    least = step * math.floor(low / step) if beside else 0.0
    return MapScale(
        width=width, least=least, most=most, high=ROOM * max([0.0, *(p.up for p in points)]) or 1.0
    )


def _depth(point: MapPoint) -> tuple[bool, bool]:
    """What lies above others is drawn later."""
    return point.chosen, point.state == MET


def ticks(most: float, number: int = 5) -> list[float]:
    """Round numbers from 0 to a number.

    >>> ticks(4.3)
    [0.0, 1.0, 2.0, 3.0, 4.0]
    """
    rough = most / number
    unit = 10 ** math.floor(math.log10(rough))
    step = next(unit * times for times in (1, 2, 2.5, 5, 10) if unit * times >= rough)
    return [round(step * n, 12) for n in range(int(most / step) + 1)]


def across_ticks(scale: MapScale) -> list[float]:
    """Round numbers between both ends of a map."""
    step = ticks(scale.most - scale.least)[1]
    first = math.ceil(scale.least / step)
    last = math.floor(scale.most / step)
    return [round(step * n, 12) for n in range(first, last + 1)]


def _text(x: float, y: float, text: str, *more: str) -> str:
    attributes = " ".join(more)
    return f'<text x="{x:.4g}" y="{y:.4g}" font-size="13" {attributes}>{escape(text)}</text>'


def _frame(scale: MapScale, words: MapWords) -> Iterator[str]:
    soft = f'fill="{colour("soft")}"'
    ink = f'fill="{colour("ink")}" font-weight="700"'
    bottom = scale.height - BOTTOM
    right = scale.width - RIGHT
    for value in ticks(scale.high):
        y = scale.y(value)
        line = colour("line" if value else "control")
        yield f'<path d="M{LEFT} {y:.4g}H{right}" stroke="{line}"/>'
        yield _text(LEFT - 6, y + 4, significant(value), 'text-anchor="end"', soft)
    for value in across_ticks(scale):
        yield _text(scale.x(value), bottom + 16, significant(value), 'text-anchor="middle"', soft)
    yield _text(LEFT, scale.height - 24, words.across, ink)
    yield _text(LEFT, scale.height - 8, words.note, soft)
    yield _text(LEFT + 4, TOP - 4, words.up, ink)


def _region(scale: MapScale, points: Iterable[MapPoint]) -> Iterator[str]:
    """Where some release that meets the policy is no worse."""
    corners: list[tuple[float, float]] = []
    for p in sorted((p for p in points if p.state == MET), key=lambda p: (p.across, p.up)):
        if not corners or p.up < corners[-1][1]:
            corners.append((p.across, p.up))
    if not corners:
        return
    stairs = "".join(f"H{scale.x(across):.4g}V{scale.y(up):.4g}" for across, up in corners)
    path = f"M{scale.x(corners[0][0]):.4g} {TOP}{stairs}H{scale.width - RIGHT}V{TOP}z"
    dashed = f'stroke="{colour("met")}" stroke-dasharray="4 3"'
    yield f'<path d="{path}" fill="{colour("met-tint")}" {dashed}/>'


def _curve(scale: MapScale, words: MapWords, curve: Sequence[tuple[float, float]]) -> Iterator[str]:
    shown = list(_within(scale, sorted(curve)))
    if len(shown) < 2:
        return
    path = "L".join(f"{scale.x(a):.4g} {scale.y(u):.4g}" for a, u in shown)
    yield f'<path d="M{path}" fill="none" stroke="{colour("soft")}" stroke-width="1.5"/>'
    yield _text(LEFT + 6, scale.height - BOTTOM - 6, words.curve, f'fill="{colour("soft")}"')


def _within(scale: MapScale, curve: Sequence[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    """The part of a falling curve that is on the map."""
    for (a, u), (b, v) in itertools.pairwise(curve):
        cuts = {0.0, 1.0}
        if b > a:
            cuts |= {(end - a) / (b - a) for end in (scale.least, scale.most) if a < end < b}
        if u > scale.high > v:
            cuts.add((u - scale.high) / (u - v))
        for part in sorted(cuts):
            x = a + part * (b - a)
            y = u + part * (v - u)
            if scale.least <= x <= scale.most and y <= scale.high * (1 + 1e-9):
                yield x, y


def _mark(scale: MapScale, point: MapPoint, size: int) -> str:
    """The shape of a state, as everywhere: a square, a circle, a diamond."""
    x = scale.x(point.across)
    y = scale.y(point.up)
    fill = colour("page") if point.hollow else colour(point.state)
    edge = f'fill="{fill}" stroke="{colour(point.state)}" stroke-width="1.5"'
    if point.state == MET:
        side = f'width="{2 * size}" height="{2 * size}"'
        shape = f'<rect x="{x - size:.4g}" y="{y - size:.4g}" {side} rx="1.5" {edge}/>'
    elif point.state == DOUBTFUL:
        shape = f'<path d="M{x:.4g} {y - 6:.4g}l6 6-6 6-6-6z" {edge}/>'
    else:
        open_ = point.hollow or (point.take and not point.chosen)
        edge = edge.replace(f'fill="{fill}"', f'fill="{colour("page")}"') if open_ else edge
        shape = f'<circle cx="{x:.4g}" cy="{y:.4g}" r="{size}" {edge}/>'
    if not point.chosen:
        return shape
    ring = f'fill="none" stroke="{colour("link")}" stroke-width="3"'
    return f'{shape}<circle cx="{x:.4g}" cy="{y:.4g}" r="11" {ring}/>'


def _names(scale: MapScale, points: Sequence[MapPoint], words: MapWords) -> Iterator[str]:
    """Names beside the points, none on another."""
    named = [(p, words.chosen if p.chosen else p.name) for p in points]
    named = sorted(((p, n) for p, n in named if n), key=lambda each: -each[0].up)
    above = -math.inf
    halo = f'stroke="{colour("page")}" stroke-width="4" paint-order="stroke"'
    for point, name in named:
        y = above = max(scale.y(point.up) + 4, above + LINE)
        width = len(name) * LETTER
        x = scale.x(point.across)
        left = x + 15 + width > scale.width - RIGHT
        fill = colour("link" if point.chosen else "ink")
        anchor = 'text-anchor="end"' if left else 'text-anchor="start"'
        bold = f'font-weight="700" fill="{fill}"'
        yield _text(x - 15 if left else x + 15, y, name, anchor, bold, halo)


def _button(scale: MapScale, point: MapPoint, form: str) -> str:
    x = scale.x(point.across) - TARGET / 2
    y = scale.y(point.up) - TARGET / 2
    return (
        f'<foreignObject x="{x:.4g}" y="{y:.4g}" width="{TARGET}" height="{TARGET}">'
        f'<button class="point" form="{escape(form)}" name="point" value="{escape(point.take)}" '
        f'tabindex="-1" title="{escape(point.said)}" aria-label="{escape(point.said)}"></button>'
        "</foreignObject>"
    )
