"""The curve of the best trade-off, what no release is below, and where a release stands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sievert.charts.drawing import (
    CURVE_HEIGHT,
    INK,
    PLAIN,
    SAID,
    STROKES,
    Spec,
    frame_chart,
    number_axis,
    short_name,
)
from sievert.charts.results import file_name
from sievert.formatting import significant

BEST, LEAST = "best channel", "no release is below"
RECODED, ASKED = "intervals, best recoding", "asked for"
DASHES: dict[str, list[int]] = {BEST: [1, 0], LEAST: [3, 3]}
GREY = "#bbbbbb"
SHAPES = {RECODED: "square", ASKED: "diamond"}
ACROSS = {
    1: "Distortion",
    2: "Bits disclosed of the secret",
    3: "Bits lost of the secret",
    4: "Bits told of who is who",
    "funnel": "Bits kept of the values",
    "identity": "Distortion",
    "identity reverse": "Bits told of who is who",
}
UP = {
    1: "Bits disclosed of the secret",
    2: "Distortion",
    3: "Bits told of who is who",
    4: "Bits lost of the secret",
    "funnel": "Bits disclosed of the secret",
    "identity": "Bits told of who is who",
    "identity reverse": "Distortion",
}


def tradeoff(
    title: str,
    below: Sequence[str],
    lines: Sequence[tuple[str, float, float]],
    marks: Sequence[tuple[str, float, float, str]],
    *,
    across: str,
    up: str,
) -> Spec:
    """Lines through (name, x, y), and marks (name, x, y, what is said besides).

    >>> spec = tradeoff("Limit", [""], [("best channel", 0.1, 0.3)], [], across="D", up="bits")
    >>> spec["data"]["values"][0]["said"]
    'best channel, 0.1: 0.3'
    """
    values: list[Spec] = [
        {"line": name, "x": x, "y": y, "said": f"{name}, {significant(x)}: {significant(y)}"}
        for name, x, y in lines
    ]
    values += [
        {"mark": name, "x": x, "y": y, "said": f"{name}{more}, {significant(x)}: {significant(y)}"}
        for name, x, y, more in marks
    ]
    x = number_axis("x", across, {"zero": True, "nice": False}, tickCount=6, grid=False)
    y = number_axis("y", up, {"zero": True}, tickCount=5, grid=True)
    curves = [name for name in DASHES if any(row[0] == name for row in lines)]
    dashes: Spec = {
        "field": "line",
        "type": "nominal",
        "sort": list(DASHES),
        "scale": {"domain": curves, "range": [DASHES[n] for n in curves]},
        "legend": STROKES,
    }
    layers: list[Spec] = [
        {
            "transform": [{"filter": {"field": "line", "oneOf": curves}}],
            "mark": {"type": "line", "strokeWidth": 1.8, "stroke": PLAIN, "aria": False},
            "encoding": {"x": x, "y": y, "strokeDash": dashes},
        },
        {
            "transform": [{"filter": {"field": "line", "equal": BEST}}],
            "mark": {"type": "circle", "size": 20, "opacity": 1, "fill": PLAIN},
            "encoding": {"x": x, "y": y, "description": SAID},
        },
    ]
    kinds = [name for name in SHAPES if any(row[0] == name for row in marks)]
    if kinds:
        shape = {
            "field": "mark",
            "type": "nominal",
            "scale": {"domain": kinds, "range": [SHAPES[k] for k in kinds]},
            "legend": {"labelLimit": 260, "symbolFillColor": GREY},
        }
        layers.append(
            {
                "transform": [{"filter": {"field": "mark", "oneOf": kinds}}],
                "mark": {"type": "point", "size": 70, "stroke": INK, "fill": GREY, "opacity": 1},
                "encoding": {"x": x, "y": y, "shape": shape, "description": SAID},
            }
        )
    return frame_chart(title, below, values, layers, CURVE_HEIGHT)


def of_limit(limits: Any) -> dict[str, Spec]:
    """The curve of each alphabet, with the best recodings into intervals where it is ordered."""
    charts: dict[str, Spec] = {}
    model = limits.settings["model"]
    secret = ", ".join(limits.roles.sensitive) or "the values themselves"
    for part in limits.parts:
        lines: list[tuple[str, float, float]] = []
        marks: list[tuple[str, float, float, str]] = []
        for p in part.points:
            if p.objective is None or p.bound is None:
                continue
            lines += [(BEST, p.at, p.objective), (LEAST, p.at, p.bound)]
            if p.asked:
                marks.append((ASKED, p.at, p.objective, ""))
        for r in part.recodings:
            ends = (r.distortion, r.risk) if model in (1, "identity") else (r.risk, r.distortion)
            marks.append((RECODED, *ends, f" ({r.intervals})"))
        if not lines:
            continue
        columns = ", ".join(short_name(c) for c in part.columns)
        charts[file_name(charts, "limit", *part.columns[:3])] = tradeoff(
            f"The best release of {short_name(columns, 80)}",
            (
                f"What is secret: {short_name(secret, 80)}. Distortion: {part.words}",
                "Below the dashed line nothing is possible; far above the line a method leaves "
                "something on the table",
            ),
            lines,
            marks,
            across=ACROSS[model],
            up=UP[model],
        )
    return charts
