"""Bars and bands as Vega-Lite dicts: what is shown, what is said of every mark, how it looks.

Names from the data are values of our own fields, never field names or expressions.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sievert.formatting import printable, significant

Spec = dict[str, Any]

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"  # the first one comes with the renderer
WIDTH, CURVE_HEIGHT = 440, 260
LETTERS = 84  # of a line above the chart
LONGEST = 32  # letters of a name above the chart
LABEL = 80  # of a name beside a bar; the axis shows what fits
BAR, BETWEEN = 15, 9  # pixels
MOST_SAID = 60  # marks whose numbers the description repeats
INK, DARK, LIGHT, PLAIN = "#222222", (28, 49, 77), (206, 219, 233), "#5b7a9d"
CONFIG: Spec = {
    "font": FONT,
    "background": "white",
    "padding": {"left": 26, "right": 20, "top": 10, "bottom": 10},  # another font is wider
    "view": {"stroke": None},
    "title": {
        "anchor": "start",
        "frame": "group",
        "offset": 12,
        "fontSize": 15,
        "color": INK,
        "subtitleFontSize": 11,
        "subtitleColor": "#444444",
        "subtitlePadding": 5,
    },
    "axis": {
        "labelColor": INK,
        "titleColor": INK,
        "labelFontSize": 11,
        "titleFontSize": 11,
        "titleFontWeight": "normal",
        "domainColor": "#888888",
        "tickColor": "#888888",
        "gridColor": "#e4e4e4",
        "labelFlush": False,
    },
    "legend": {
        "orient": "bottom",
        "direction": "horizontal",
        "labelFontSize": 11,
        "labelColor": INK,
        "labelLimit": 200,
        "title": None,
        "symbolStrokeColor": INK,
    },
}


@dataclass(frozen=True)
class Bar:
    """One bar: its row, its number (None is undefined), whose it is, its interval if it has one."""

    row: str
    number: float | None
    series: str = ""
    interval: tuple[float, float] | None = None
    note: str = ""  # beside the number
    last: bool = False  # of all together: set apart, never left out


@dataclass(frozen=True)
class BandPoint:
    """What so many known columns give away: least, mean and most; None where not measured."""

    known: int
    least: float | None
    mean: float | None
    most: float | None


def short_name(text: str, most: int = LONGEST) -> str:
    """A name from the data as it may stand in a chart: printable, and not endless.

    >>> short_name("marital-status"), len(short_name(40 * "x"))
    ('marital-status', 32)
    """
    text = printable(text[: most + 1])  # a cell may be a megabyte
    return text if len(text) <= most else text[: most - 1] + "…"


def bars(
    title: str,
    below: Sequence[str],
    given: Iterable[Bar],
    *,
    axis: str,
    most: int = 60,
    of: int = 0,
) -> Spec:
    """Bars from 0, a row a label; those of several series side by side.

    Of many rows only the `most` highest, of as many as are given or, if that is more, `of`.

    >>> spec = bars("Homogeneity", ["DR"], [Bar("age", 0.25), Bar("zip", 0.5)], axis="DR")
    >>> [(row["row"], row["number"]) for row in spec["data"]["values"]]
    [('age', 0.25), ('zip', 0.5)]
    """
    plain = (replace(b, row=printable(b.row), series=printable(b.series)) for b in given)
    held, left = _highest(list(plain), most)
    if left:
        below = [*below, f"The {most} highest of {max(most + left, of):,}"]
    series = list(dict.fromkeys(b.series for b in held))
    rows = list(dict.fromkeys(b.row for b in held))
    values = [_said(b, series) for b in held]
    low = min((b.interval[0] for b in held if b.interval), default=0.0)
    ends = [b.interval[1] if b.interval else b.number or 0.0 for b in held]
    scale = {"domain": [min(0.0, low), top(ends)], "nice": False, "zero": True}
    bold = {"test": "datum.index === 1", "value": "bold"} if held[-1].last else None
    rest = {"condition": bold, "value": "normal"} if bold else "normal"
    y: Spec = {
        "field": "row",
        "type": "nominal",
        "sort": rows,
        "title": None,
        "scale": {"paddingInner": 0.3, "paddingOuter": 0.15},
        "axis": {"labelLimit": 230, "labelFontWeight": rest, "ticks": False, "labelPadding": 6},
    }
    x: Spec = {
        "field": "number",
        "type": "quantitative",
        "title": axis,
        "scale": scale,
        "axis": {"tickCount": 5, "grid": True},
    }
    said = {"field": "said", "type": "nominal"}
    encoding: Spec = {"y": y, "x": x, "description": said}
    mark: Spec = {"type": "bar", "fill": PLAIN, "stroke": INK, "strokeWidth": 0.5}
    if len(series) > 1:
        offset = {"field": "series", "type": "nominal", "sort": series}
        encoding["yOffset"] = offset | {"scale": {"paddingInner": 0.08}}
        scale_ = {"domain": series, "range": shades(len(series))}
        legend = {"symbolType": "square", "columns": 4}
        fill = {**offset, "scale": scale_, "legend": legend}
        del mark["fill"]
    else:
        fill = None
    layers: list[Spec] = [
        {"mark": mark, "encoding": {**encoding, **({"fill": fill} if fill else {})}}
    ]
    if any(b.interval for b in held):
        layers.append(
            {
                "mark": {"type": "rule", "stroke": INK, "aria": False},
                "encoding": {
                    **{k: v for k, v in encoding.items() if k != "description"},
                    "x": {**x, "field": "low"},
                    "x2": {"field": "high"},
                },
            }
        )
    layers.append(
        {
            "mark": {
                "type": "text",
                "align": "left",
                "dx": 4,
                "fontSize": 10,
                "fill": INK,
                "aria": False,
            },
            "encoding": {
                **{k: v for k, v in encoding.items() if k != "description"},
                "x": {**x, "field": "end"},
                "text": {"field": "shown", "type": "nominal"},
            },
        }
    )
    height = len(rows) * (BAR * len(series) + BETWEEN)
    return frame_chart(title, below, values, layers, height)


def band(
    title: str, below: Sequence[str], given: Iterable[BandPoint], *, axis: str, known: str
) -> Spec:
    """A curve of the mean inside the band from the least to the most.

    >>> points = [BandPoint(0, 0, 0, 0), BandPoint(1, 0.1, 0.2, 0.4)]
    >>> spec = band("Known", ["DR"], points, axis="DR", known="columns")
    >>> [(row["known"], row["least"], row["most"]) for row in spec["data"]["values"]]
    [(0, 0, 0), (1, 0.1, 0.4)]
    """
    held = list(given)
    values = [
        {
            "known": p.known,
            "least": p.least,
            "mean": p.mean,
            "most": p.most,
            "said": f"{p.known} known: "
            + ", ".join(f"{which} {_shown(getattr(p, which))}" for which in WHICH),
        }
        for p in held
    ]
    highest = top(x for p in held for x in (p.least, p.mean, p.most) if x is not None)
    x: Spec = {
        "field": "known",
        "type": "quantitative",
        "title": known,
        "scale": {"domain": [held[0].known, max(held[-1].known, held[0].known + 1)], "nice": False},
        "axis": {"tickMinStep": 1, "format": "d", "grid": False},
    }
    y: Spec = {
        "type": "quantitative",
        "title": axis,
        "scale": {"domain": [0, highest], "nice": False},
        "axis": {"tickCount": 5},
    }
    lines = {
        "color": {
            "field": "which",
            "type": "nominal",
            "sort": list(WHICH),
            "scale": {"domain": list(WHICH), "range": ["#555555", _hex(DARK), "#555555"]},
        },
        "strokeDash": {
            "field": "which",
            "type": "nominal",
            "sort": list(WHICH),
            "scale": {"domain": list(WHICH), "range": [[6, 3], [1, 0], [2, 3]]},
        },
    }
    legend = {"symbolType": "stroke", "symbolSize": 400, "symbolStrokeWidth": 2}
    for channel in lines.values():
        channel["legend"] = legend
    defined = {"filter": "isValid(datum.least) && isValid(datum.most)"}
    layers: list[Spec] = [
        {
            "transform": [defined],
            "mark": {"type": "area", "fill": _hex(LIGHT), "aria": False},
            "encoding": {"x": x, "y": {**y, "field": "least"}, "y2": {"field": "most"}},
        },
        {
            "transform": [
                {"fold": list(WHICH), "as": ["which", "number"]},
                {"filter": "isValid(datum.number)"},
            ],
            "mark": {"type": "line", "strokeWidth": 1.6, "aria": False},
            "encoding": {"x": x, "y": {**y, "field": "number"}, **lines},
        },
        {
            "transform": [{"filter": "isValid(datum.mean)"}],
            "mark": {
                "type": "point",
                "filled": True,
                "size": 45,
                "color": _hex(DARK),
                "opacity": 1,
            },
            "encoding": {
                "x": x,
                "y": {**y, "field": "mean"},
                "description": {"field": "said", "type": "nominal"},
            },
        },
    ]
    return frame_chart(title, below, values, layers, CURVE_HEIGHT)


WHICH = ("most", "mean", "least")


def top(numbers: Iterable[float]) -> float:
    """Where an axis from 0 ends: 1, .5, .2, .1, ..., or 2, 5, 10, ..., the least that holds all.

    >>> [top([x]) for x in (0.96, 0.28, 0.0878, 0.0, 1, 1305, 4.1)]
    [1.0, 0.5, 0.1, 1.0, 1.0, 2000.0, 5.0]
    """
    highest = max(numbers, default=0.0)
    found = 1.0
    if highest <= 0.0:
        return found
    if highest > 1:
        power = 10.0 ** math.floor(math.log10(highest))
        return next(step * power for step in (1, 2, 5, 10) if step * power >= highest)
    for power in range(1, 10):
        for step in (5, 2, 1):
            lower = step / 10**power
            if lower < highest:
                return found
            found = lower
    return found


def _highest(held: list[Bar], most: int) -> tuple[list[Bar], int]:
    """The bars of the rows with the highest numbers, in their order; how many rows are left out."""
    best: dict[str, float] = {}
    for b in held:
        best[b.row] = max(best.get(b.row, -1.0), b.number if b.number is not None else -1.0)
    always = {b.row for b in held if b.last}
    others = [row for row in best if row not in always]
    kept = {*sorted(others, key=lambda row: -best[row])[:most], *always}
    return [b for b in held if b.row in kept], max(0, len(others) - most)


def _said(bar: Bar, series: Sequence[str]) -> Spec:
    who = f"{bar.row}, {bar.series}" if len(series) > 1 else bar.row
    shown = f"{_shown(bar.number)}{bar.note}"
    found: Spec = {"row": bar.row, "number": bar.number, "end": bar.number or 0.0, "shown": shown}
    if bar.interval is not None:
        low, high = bar.interval
        shown = f"{shown} ({significant(low)} to {significant(high)})"
        found |= {"low": low, "high": high, "end": max(high, found["end"])}
    if len(series) > 1:
        found["series"] = bar.series
    return found | {"said": f"{who}: {shown}"}


def _shown(number: float | None) -> str:
    return "undefined" if number is None else significant(number)


def shades(number: int) -> list[str]:
    """Colours from dark to light: they stay distinct in grey."""
    steps = [i / (number - 1) for i in range(number)]
    return [
        _hex(tuple(round(a + (b - a) * step) for a, b in zip(DARK, LIGHT, strict=True)))
        for step in steps
    ]


def _hex(colour: Sequence[int]) -> str:
    return "#" + "".join(f"{part:02x}" for part in colour)


def frame_chart(
    title: str, below: Sequence[str], values: list[Spec], layers: list[Spec], height: int
) -> Spec:
    """A chart of these layers, with a title, lines below it and a description in words."""
    title, below = printable(title), [printable(line) for line in below]
    said = [row["said"] for row in values[:MOST_SAID]]
    if len(values) > MOST_SAID:
        said.append(f"and {len(values) - MOST_SAID} more")
    return {
        "$schema": SCHEMA,
        "title": {
            "text": textwrap.wrap(title, LETTERS * 11 // 15),
            "subtitle": [part for line in below for part in textwrap.wrap(line, LETTERS)],
        },
        "description": f"{'. '.join(below)}. {'; '.join(said)}.",
        "width": WIDTH,
        "height": height,
        "data": {"values": values},
        "layer": layers,
        "config": CONFIG,
    }
