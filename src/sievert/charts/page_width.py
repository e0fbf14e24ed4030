"""A chart for a page: narrow enough for a telephone, its title left to the page."""

from __future__ import annotations

import textwrap
from typing import Any

from sievert.charts.drawing import CONFIG, Spec

NARROW = 250
TALLER = 1.2  # where texts stand between marks, and are larger on a page
LETTERS = 22  # of a line of a row's label
TWO_LINES, LINE = 42, 17  # pixels
SPLIT = "split(datum.label, '\\n')"
RAISED = {
    "condition": {"test": "indexof(datum.label, '\\n') >= 0", "value": -LINE / 2},
    "value": 0,
}


def narrow(spec: Spec) -> Spec:
    """The same chart for a page: its title stands above it in the page, and it fits a telephone."""
    config = {
        **CONFIG,
        "padding": {"left": 24, "right": 24, "top": 4, "bottom": 4},
        "axis": {
            **CONFIG["axis"],
            "labelFontSize": 13,
            "titleFontSize": 13,
            "labelLimit": 150,
            "labelPadding": 5,
            "titlePadding": 10,
        },
        "axisX": {"labelOverlap": True, "labelSeparation": 14},  # another font is wider
        "legend": {
            **CONFIG["legend"],
            "labelFontSize": 13,
            "columns": 2,
            "labelLimit": 180,
            "columnPadding": 30,
            "layout": {"bottom": {"direction": "vertical", "margin": 6}},
        },
    }
    found = {**spec, "width": NARROW, "config": config}
    if any(layer["mark"]["type"] == "text" for layer in spec["layer"]):
        found["height"] = round(spec["height"] * TALLER)
    del found["title"]
    found = {key: _fitted(value) if key != "data" else value for key, value in found.items()}
    return _labelled(found)


def _fitted(part: Any) -> Any:
    """Labels of rows and legends no wider than a narrow chart has room for."""
    if isinstance(part, list):
        return [_fitted(p) for p in part]
    if not isinstance(part, dict):
        return part
    found = {key: value if key == "data" else _fitted(value) for key, value in part.items()}
    if found.get("labelLimit", 0) > 180:
        found["labelLimit"] = 150
    if "symbolType" in found:
        found["columns"] = 2
    if found.get("type") == "text":
        found |= {"fontSize": 12, "limit": 150}
    return found


def _labelled(spec: Spec) -> Spec:
    """Labels of rows on two lines where one is too short for them."""
    values = spec["data"]["values"]
    rows = list(dict.fromkeys(value["row"] for value in values if "row" in value))
    lines = {row: _lines(row) for row in rows}
    if not any("\n" in text for text in lines.values()):
        return spec
    if len(set(lines.values())) < len(rows):  # what was cut off told them apart
        return spec
    found = _renamed({**spec, "data": {}}, lines)
    held = [{**v, "row": lines[v["row"]]} if "row" in v else v for v in values]
    height = max(spec["height"], TWO_LINES * len(rows))
    return {**found, "data": {"values": held}, "height": height}


def _lines(text: str) -> str:
    held = textwrap.wrap(text, LETTERS, max_lines=2, placeholder="…", break_on_hyphens=False)
    return "\n".join(held)


def _renamed(part: Any, lines: dict[str, str]) -> Any:
    """A part of a chart whose rows are called otherwise."""
    if isinstance(part, list):
        return [_renamed(p, lines) for p in part]
    if not isinstance(part, dict):
        return part
    found = {key: _renamed(value, lines) for key, value in part.items()}
    if found.get("field") == "row":
        if "sort" in found:
            found["sort"] = [lines[row] for row in found["sort"]]
        axis = {"labelExpr": SPLIT, "labelLineHeight": LINE, "labelOffset": RAISED}
        found["axis"] = {**found.get("axis", {}), **axis}
    return found
