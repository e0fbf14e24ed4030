"""Bars and bands as Vega-Lite dicts: what is shown, what is said of every mark, how it looks.

Names from the data are values of our own fields, never field names or expressions.
"""

import itertools
import math
import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sievert.formatting import ENGLISH, count, marks, printable, say, significant

Spec = dict[str, Any]

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"  # the first one comes with the renderer
WIDTH = 440
CURVE_HEIGHT = 260
LETTERS = 84  # of a line above the chart
LONGEST = 32  # letters of a name above the chart
LABEL = 80  # of a name beside a bar; the axis shows what fits
# Pixels of a bar, and between two bars.
BAR = 15
BETWEEN = 9
MOST_SAID = 60  # marks whose numbers the description repeats
INK = "#222222"
DARK = (28, 49, 77)
LIGHT = (206, 219, 233)
PLAIN = "#5b7a9d"
EXPOSED = "#a8201a"  # people who can be found, secrets that can be guessed
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


@dataclass(frozen=True, kw_only=True)
class Bar:
    """One bar: its row, its number (None is undefined), whose it is, its interval if it has one."""

    row: str
    number: float | None
    series: str = ""
    interval: tuple[float, float] | None = None
    note: str = ""  # beside the number
    last: bool = False  # of all together: set apart, never left out
    text: str = ""  # of a share, in place of the number
    shown: str = ""  # beside the bar, where the text is long


@dataclass(frozen=True)
class BandPoint:
    """What `known` columns give away: least, mean and most; None where not measured."""

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


def chart_file_name(taken: Iterable[str], *parts: str) -> str:
    """Join `parts` to a plain file name that is not `taken`, whatever the columns are called.

    >>> chart_file_name([], "homogeneity", "../a b")
    'homogeneity_a-b'
    >>> chart_file_name(["shares_Age"], "shares", "age")
    'shares_age_2'
    """
    plain = (re.sub(r"[^0-9A-Za-z_-]", "-", part) for part in parts)
    text = "_".join(part.strip("-")[:40] or "x" for part in plain)
    used = {t.casefold() for t in taken}
    numbered = (f"{text}_{number}" for number in itertools.count(2))
    return next(t for t in itertools.chain([text], numbered) if t.casefold() not in used)


def number_axis(field: str, title: str, scale: Spec, **axis: Any) -> Spec:
    """A channel for a number, with its axis."""
    return {
        "field": field,
        "type": "quantitative",
        "title": title,
        "scale": scale,
        "axis": axis,
    }


def label_mark(dx: int, **more: Any) -> Spec:
    """Words beside a mark."""
    size = {"fontSize": 10, "fill": INK, "aria": False}
    return {"type": "text", "align": "left", "dx": dx, **more, **size}


HALO: Spec = {"stroke": "white", "strokeWidth": 7, "strokeJoin": "round"}
GREY: Spec = {"type": "rule", "stroke": "#888888", "aria": False}
SAID: Spec = {"field": "said", "type": "nominal"}  # what a screen reader reads
STROKES: Spec = {"symbolType": "stroke", "symbolSize": 400, "symbolStrokeWidth": 2}  # a legend


def bars(
    title: str,
    below: Sequence[str],
    given: Iterable[Bar],
    *,
    axis: str,
    most: int = 60,
    of: int = 0,
    fill: str = PLAIN,
    limit: tuple[float, str] | None = None,
) -> Spec:
    """Bars from 0, one row per label; those of several series side by side.

    Of many rows only the `most` highest, of as many as are given or, if that is more, `of`. A
    `limit` is a line across all rows, with its words.

    >>> given = [Bar(row="age", number=0.25), Bar(row="zip", number=0.5)]
    >>> spec = bars("Homogeneity", ["DR"], given, axis="DR")
    >>> [(row["row"], row["number"]) for row in spec["data"]["values"]]
    [('age', 0.25), ('zip', 0.5)]
    """
    plain = (replace(b, row=printable(b.row), series=printable(b.series)) for b in given)
    chosen, left = _highest(list(plain), most)
    if left:
        below = [*below, say("charts.highest", most=most, number=count(max(most + left, of)))]
    series = list(dict.fromkeys(b.series for b in chosen))
    rows = list(dict.fromkeys(b.row for b in chosen))
    low = min((b.interval[0] for b in chosen if b.interval), default=0.0)
    ends = [b.interval[1] if b.interval else b.number or 0.0 for b in chosen]
    ends += [limit[0]] if limit else []
    scale = {"domain": [min(0.0, low), top(ends)], "nice": False, "zero": True}
    x = number_axis("number", axis, scale, tickCount=5, grid=True)
    offset: Spec = {"field": "series", "type": "nominal", "sort": series}
    place: Spec = {"y": _rows_axis(rows, bold_last=chosen[-1].last), "x": x}
    by_series: Spec = {}
    if len(series) > 1:
        place["yOffset"] = offset | {"scale": {"paddingInner": 0.08}}
        colours = {"domain": series, "range": shades(len(series))}
        legend = {"symbolType": "square", "columns": 4}
        by_series = {"fill": {**offset, "scale": colours, "legend": legend}}
    bar: Spec = {"type": "bar", **({} if by_series else {"fill": fill})}
    layers: list[Spec] = [
        {
            "mark": bar | {"stroke": INK, "strokeWidth": 0.5},
            "encoding": {**place, "description": SAID, **by_series},
        }
    ]
    interval = {
        "mark": {"type": "rule", "stroke": INK, "aria": False},
        "encoding": place | {"x": {**x, "field": "low"}, "x2": {"field": "high"}},
    }
    text = {"x": {**x, "field": "end"}, "text": {"field": "shown", "type": "nominal"}}
    words = {"mark": label_mark(4), "encoding": place | text}
    layers += [interval] if any(b.interval for b in chosen) else []
    if limit:  # numbers stand in the way of its line
        layers += [*limit_line(limit, x), {**words, "mark": {**words["mark"], **HALO}}]
    layers.append(words)
    height = len(rows) * (BAR * len(series) + BETWEEN)
    return frame_chart(title, below, [_bar_row(b, series) for b in chosen], layers, height)


def limit_line(limit: tuple[float, str], x: Spec) -> list[Spec]:
    """A line at a limit across all rows, and its words above it."""
    number, words = limit
    left = number <= sum(x["scale"]["domain"]) / 2
    beside = {"align": "left" if left else "right", "dy": -7, "limit": 260}
    layers: list[Spec] = [
        {"mark": {"type": "rule", "stroke": INK, "strokeWidth": 2, "aria": False}, "encoding": {}},
        {
            "mark": {**label_mark(-4 if left else 4), **beside},
            "encoding": {"y": {"value": 0}, "text": {"value": words}},
        },
    ]
    at = {"data": {"values": [{"limit": number}]}}
    place = {"x": {**x, "field": "limit"}}
    return [{**layer, **at, "encoding": layer["encoding"] | place} for layer in layers]


def _rows_axis(rows: Sequence[str], *, bold_last: bool) -> Spec:
    bold = {"condition": {"test": "datum.index === 1", "value": "bold"}, "value": "normal"}
    weight = bold if bold_last else "normal"
    return {
        "field": "row",
        "type": "nominal",
        "sort": rows,
        "title": None,
        "scale": {"paddingInner": 0.3, "paddingOuter": 0.15},
        "axis": {"labelLimit": 230, "labelFontWeight": weight, "ticks": False, "labelPadding": 6},
    }


WHICH = ("most", "mean", "least")


def band(
    title: str, below: Sequence[str], given: Iterable[BandPoint], *, axis: str, known: str
) -> Spec:
    """A curve of the mean inside the band from the least to the most.

    >>> points = [BandPoint(0, 0, 0, 0), BandPoint(1, 0.1, 0.2, 0.4)]
    >>> spec = band("Known", ["DR"], points, axis="DR", known="columns")
    >>> [(row["known"], row["least"], row["most"]) for row in spec["data"]["values"]]
    [(0, 0, 0), (1, 0.1, 0.4)]
    """
    points = list(given)
    values = [
        {
            **vars(p),
            "said": f"{p.known} known: "
            + ", ".join(f"{which} {_number(getattr(p, which))}" for which in WHICH),
        }
        for p in points
    ]
    highest = top(n for p in points for n in (p.least, p.mean, p.most) if n is not None)
    ends = {"domain": [points[0].known, max(points[-1].known, points[0].known + 1)], "nice": False}
    x = number_axis("known", known, ends, tickMinStep=1, format="d", grid=False)
    y: Spec = {
        "type": "quantitative",
        "title": axis,
        "scale": {"domain": [0, highest], "nice": False},
        "axis": {"tickCount": 5},
    }
    which = {"field": "which", "type": "nominal", "sort": list(WHICH)}
    styles = {
        "color": ["#555555", _hex(DARK), "#555555"],
        "strokeDash": [[6, 3], [1, 0], [2, 3]],
    }
    lines = {
        channel: {**which, "scale": {"domain": list(WHICH), "range": style}, "legend": STROKES}
        for channel, style in styles.items()
    }
    dot = {"type": "point", "filled": True, "size": 45, "color": _hex(DARK), "opacity": 1}
    fold = {"fold": list(WHICH), "as": ["which", "number"]}
    layers: list[Spec] = [
        {
            "transform": [{"filter": "isValid(datum.least) && isValid(datum.most)"}],
            "mark": {"type": "area", "fill": _hex(LIGHT), "aria": False},
            "encoding": {"x": x, "y": {**y, "field": "least"}, "y2": {"field": "most"}},
        },
        {
            "transform": [fold, {"filter": "isValid(datum.number)"}],
            "mark": {"type": "line", "strokeWidth": 1.6, "aria": False},
            "encoding": {"x": x, "y": {**y, "field": "number"}, **lines},
        },
        {
            "transform": [{"filter": "isValid(datum.mean)"}],
            "mark": dot,
            "encoding": {"x": x, "y": {**y, "field": "mean"}, "description": SAID},
        },
    ]
    return frame_chart(title, below, values, layers, CURVE_HEIGHT)


def top(numbers: Iterable[float]) -> float:
    """Where an axis from 0 ends: 1, .5, .2, .1, ..., or 2, 5, 10, ..., the least that holds all.

    >>> [top([x]) for x in (0.96, 0.28, 0.0878, 0.0, 1, 1305, 4.1)]
    [1.0, 0.5, 0.1, 1.0, 1.0, 2000.0, 5.0]
    """
    highest = max(numbers, default=0.0)
    if highest > 1:
        power = 10.0 ** math.floor(math.log10(highest))
        return next(step * power for step in (1, 2, 5, 10) if step * power >= highest)
    ends = [1.0, *(step / 10**power for power in range(1, 10) for step in (5, 2, 1))]
    return min(end for end in ends if end >= highest) if highest > 0 else 1.0


def _highest(given: list[Bar], most: int) -> tuple[list[Bar], int]:
    """The bars of the rows with the highest numbers, in their order; how many rows are left out."""
    best: dict[str, float] = {}
    for b in given:
        best[b.row] = max(best.get(b.row, -1.0), b.number if b.number is not None else -1.0)
    always = {b.row for b in given if b.last}
    others = [row for row in best if row not in always]
    chosen = {*sorted(others, key=lambda row: -best[row])[:most], *always}
    return [b for b in given if b.row in chosen], max(0, len(others) - most)


def _bar_row(bar: Bar, series: Sequence[str]) -> Spec:
    shown = f"{_number(bar.number)}{bar.note}"
    number = bar.number or 0.0
    row: Spec = {"row": bar.row, "number": bar.number, "end": number, "shown": shown}
    if bar.interval is not None:
        low, high = bar.interval
        shown = say("charts.interval", number=shown, low=significant(low), high=significant(high))
        row |= {"low": low, "high": high, "end": max(high, number)}
    if len(series) > 1:
        return row | {"series": bar.series, "said": f"{bar.row}, {bar.series}: {shown}"}
    return row | {"said": f"{bar.row}: {shown}"}


def _number(number: float | None) -> str:
    return say("charts.undefined") if number is None else significant(number)


def shades(number: int) -> list[str]:
    """Colours from dark to light: they stay distinct in grey."""
    return [
        _hex([round(a + (b - a) * (i / (number - 1))) for a, b in zip(DARK, LIGHT, strict=True)])
        for i in range(number)
    ]


def _hex(colour: Sequence[int]) -> str:
    return "#" + "".join(f"{part:02x}" for part in colour)


def frame_chart(
    title: str, below: Sequence[str], values: list[Spec], layers: list[Spec], height: int
) -> Spec:
    """A chart of these layers, with a title, lines below it and a description in words."""
    title = printable(title)
    below = [printable(line) for line in below]
    left = len(values) - MOST_SAID
    more = [say("charts.more", number=left)] if left > 0 else []
    said = [row["said"] for row in values[:MOST_SAID]] + more
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
        "config": CONFIG | _spoken_config(),
    }


def _spoken_config() -> Spec:
    """How axes write numbers in another language than English.

    The renderer would read axes and legends aloud in English; the description says what they do.
    """
    if say("words.language") == ENGLISH:
        return {}
    decimal, thousands = marks()
    number = {"decimal": decimal, "thousands": thousands, "grouping": [3], "currency": ["", ""]}
    silent = {part: {**CONFIG[part], "aria": False} for part in ("axis", "legend")}
    return {"locale": {"number": number}, **silent}


def caption_bars(spec: Spec, given: Sequence[tuple[Bar, str]]) -> Spec:
    """The bars of `charts.bars`, each with its own words in place of its number.

    Words of bars that are left out, because there are many, are left out as well.

    >>> from sievert.charts.drawing import Bar, bars
    >>> age = Bar(row="age", number=None)
    >>> spec = caption_bars(bars("Alone", ["people"], [age], axis="share"), [(age, "few")])
    >>> spec["data"]["values"][0]["said"], spec["description"]
    ('age: few', 'people. age: few.')
    """
    drawn = {row["row"] for row in spec["data"]["values"]}
    words = [text for bar, text in given if printable(bar.row) in drawn]
    rows = [_row(row, text) for row, text in zip(spec["data"]["values"], words, strict=True)]
    below = " ".join(spec["title"]["subtitle"])
    said = "; ".join(row["said"] for row in rows)
    captioned = {**spec, "data": {"values": rows}, "description": f"{below}. {said}."}
    return in_per_cent(captioned, "x") if any("%" in text for text in words) else captioned


def in_per_cent(spec: Spec, channel: str, digits: str = "~%") -> Spec:
    """The same chart with the axis of one channel in per cent."""

    def rescale(encoding: Spec) -> Spec:
        axis = {**encoding[channel].get("axis", {}), "format": digits}
        return {**encoding, channel: {**encoding[channel], "axis": axis}}

    layers = [{**layer, "encoding": rescale(layer["encoding"])} for layer in spec["layer"]]
    return {**spec, "layer": layers}


def _row(row: Spec, text: str) -> Spec:
    who = f"{row['row']}, {row['series']}" if "series" in row else row["row"]
    return {**row, "shown": text, "said": f"{who}: {text}"}
