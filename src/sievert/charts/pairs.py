"""Bars of several series in another form: as dumbbells, and as panels side by side.

Both keep the rows of the chart, so every mark is said as before.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

from sievert.charts.drawing import (
    BAR,
    BETWEEN,
    EXPOSED,
    INK,
    PLAIN,
    SAID,
    Bar,
    Spec,
    bars,
    label_mark,
)

ROW = 42  # pixels of a row of dumbbells
# Where the number of a mark stands: left of it there may be the name of the row.
BESIDE: dict[str, Spec] = {
    "left": {"dx": -2, "dy": -15},
    "right": {"dx": 10},
}
GAP = 0.45  # of the widest bar, between two panels: room for the number
PANELS = 560  # pixels, of all panels together


def dumbbells(title: str, below: Sequence[str], given: Iterable[Bar], *, axis: str) -> Spec:
    """Two numbers per row, a ring for the first and a dot for the second, joined by a line.

    >>> before = Bar(row="disease", number=0.25, series="before")
    >>> given = [before, Bar(row="disease", number=0.5, series="after")]
    >>> spec = dumbbells("Guesses", ["right"], given, axis="share")
    >>> [(row["series"], row["number"], row["side"]) for row in spec["data"]["values"]]
    [('before', 0.25, 'left'), ('after', 0.5, 'right')]
    """
    spec = bars(title, below, [replace(b, interval=None) for b in given], axis=axis)
    rows: list[Spec] = spec["data"]["values"]
    for one, other in pairwise(rows):
        if one["row"] == other["row"]:
            right = other["end"] >= one["end"]
            one |= {"side": "left" if right else "right"}
            other |= {"side": "right" if right else "left", "other": one["end"]}
    bar, *_ = spec["layer"]
    place = {channel: bar["encoding"][channel] for channel in ("x", "y")}
    series = bar["encoding"]["fill"]
    colours = {"domain": series["scale"]["domain"], "range": ["white", EXPOSED]}
    legend = {"symbolType": "circle", "symbolSize": 110, "symbolStrokeColor": EXPOSED, "columns": 4}
    point = {"type": "point", "shape": "circle", "size": 110, "stroke": EXPOSED, "opacity": 1}
    spec["layer"] = [
        {
            "transform": [{"filter": "isValid(datum.other)"}],
            "mark": {"type": "rule", "stroke": EXPOSED, "strokeWidth": 3, "aria": False},
            "encoding": {**place, "x2": {"field": "other"}},
        },
        {
            "mark": {**point, "strokeWidth": 2},
            "encoding": {
                **place,
                "description": SAID,
                "fill": {**series, "scale": colours, "legend": legend},
            },
        },
        *(
            {
                "transform": [{"filter": f"datum.side === '{side}'"}],
                "mark": label_mark(**beside),
                "encoding": place | {"text": {"field": "shown", "type": "nominal"}},
            }
            for side, beside in BESIDE.items()
        ),
    ]
    spec["height"] = ROW * len(place["y"]["sort"])
    return spec


def panels(spec: Spec) -> Spec:
    """The bars of several series as panels side by side, each from its own 0.

    Where a page has little room the bars stay as they were.

    >>> identity = Bar(row="age", number=0.5, series="identity")
    >>> given = [identity, Bar(row="age", number=0.25, series="disease")]
    >>> spec = panels(bars("Shares", ["DR"], given, axis="share"))
    >>> [(row["begin"], row["stop"]) for row in spec["data"]["values"]]
    [(0.0, 0.5), (0.725, 0.975)]
    """
    bar, *others = spec["layer"]
    if "fill" not in bar["encoding"]:
        return spec
    series = bar["encoding"]["fill"]["sort"]
    widest = bar["encoding"]["x"]["scale"]["domain"][1]
    begins = {name: i * widest * (1 + GAP) for i, name in enumerate(series)}
    x = {
        **bar["encoding"]["x"],
        "scale": {"domain": [0, len(series) * widest * (1 + GAP)], "nice": False},
        "axis": {"labels": False, "ticks": False, "domain": False, "grid": False},
        "title": None,
    }
    y = bar["encoding"]["y"]
    shown = {"text": {"field": "shown", "type": "nominal"}}
    layers: list[Spec] = [
        {
            "mark": {"type": "bar", "fill": PLAIN, "stroke": INK, "strokeWidth": 0.5},
            "encoding": {
                "y": y,
                "x": {**x, "field": "begin"},
                "x2": {"field": "stop"},
                "description": SAID,
            },
        },
        *(
            {
                "mark": layer["mark"],
                "encoding": {"y": y, "x": {**x, "field": "from"}, "x2": {"field": "to"}},
            }
            for layer in others
            if layer["mark"]["type"] == "rule"
        ),
        {
            "mark": label_mark(4),
            "encoding": {"y": y, "x": {**x, "field": "end_stop"}, **shown},
        },
        {
            "data": {"values": [{"begin": begins[name], "head": name} for name in series]},
            "mark": {
                **label_mark(0),
                "dy": -8,
                "limit": PANELS // len(series),
                "fontWeight": "bold",
            },
            "encoding": {
                "x": {**x, "field": "begin"},
                "y": {"value": 0},
                "text": {"field": "head", "type": "nominal"},
            },
        },
    ]
    return {
        **spec,
        "data": {"values": [_placed(row, begins[row["series"]]) for row in spec["data"]["values"]]},
        "layer": layers,
        "height": len(y["sort"]) * (BAR + BETWEEN),
        "usermeta": {"narrow": {"layer": spec["layer"], "height": spec["height"]}},
    }


def _placed(row: Spec, begin: float) -> Spec:
    """A bar's row with its place in the panel that begins there."""
    ends = {"begin": begin, "stop": begin + (row["number"] or 0.0), "end_stop": begin + row["end"]}
    if "low" in row:
        ends |= {"from": begin + max(row["low"], 0.0), "to": begin + row["high"]}
    return {**row, **ends}
