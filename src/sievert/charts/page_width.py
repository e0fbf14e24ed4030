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
    narrowed = {**spec, "width": NARROW, "config": config}
    if any(layer["mark"]["type"] == "text" for layer in spec["layer"]):
        narrowed["height"] = round(spec["height"] * TALLER)
    del narrowed["title"]
    narrowed = {
        key: _fit_labels(value) if key != "data" else value for key, value in narrowed.items()
    }
    return _break_labels(narrowed)


def _fit_labels(part: Any) -> Any:
    """Labels of rows and legends no wider than a narrow chart has room for."""
    if isinstance(part, list):
        return [_fit_labels(p) for p in part]
    if not isinstance(part, dict):
        return part
    narrowed = {key: value if key == "data" else _fit_labels(value) for key, value in part.items()}
    if narrowed.get("labelLimit", 0) > 180:
        narrowed["labelLimit"] = 150
    if "symbolType" in narrowed:
        narrowed["columns"] = 2
    if narrowed.get("type") == "text":
        narrowed |= {"fontSize": 12, "limit": 150}
    return narrowed


def _break_labels(spec: Spec) -> Spec:
    """Labels of rows on two lines where one is too short for them."""
    values = spec["data"]["values"]
    rows = list(dict.fromkeys(value["row"] for value in values if "row" in value))
    lines = {row: _lines(row) for row in rows}
    if not any("\n" in text for text in lines.values()):
        return spec
    if len(set(lines.values())) < len(rows):  # what was cut off told them apart
        return spec
    narrowed = _rename_rows({**spec, "data": {}}, lines)
    broken = [{**v, "row": lines[v["row"]]} if "row" in v else v for v in values]
    height = max(spec["height"], TWO_LINES * len(rows))
    return {**narrowed, "data": {"values": broken}, "height": height}


def _lines(text: str) -> str:
    broken = textwrap.wrap(text, LETTERS, max_lines=2, placeholder="…", break_on_hyphens=False)
    return "\n".join(broken)


def _rename_rows(part: Any, lines: dict[str, str]) -> Any:
    """A part of a chart whose rows are called otherwise."""
    if isinstance(part, list):
        return [_rename_rows(p, lines) for p in part]
    if not isinstance(part, dict):
        return part
    narrowed = {key: _rename_rows(value, lines) for key, value in part.items()}
    if narrowed.get("field") == "row":
        if "sort" in narrowed:
            narrowed["sort"] = [lines[row] for row in narrowed["sort"]]
        axis = {"labelExpr": SPLIT, "labelLineHeight": LINE, "labelOffset": RAISED}
        narrowed["axis"] = {**narrowed.get("axis", {}), **axis}
    return narrowed
