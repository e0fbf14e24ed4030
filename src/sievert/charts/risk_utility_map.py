"""A map of releases: what each has lost across, what each discloses upwards."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from sievert.charts.drawing import (
    CURVE_HEIGHT,
    GREY,
    INK,
    LONGEST,
    PLAIN,
    SAID,
    STROKES,
    WIDTH,
    Spec,
    frame_chart,
    label_mark,
    number_axis,
    short_name,
)
from sievert.charts.placement import (
    NAMES_ABOVE,
    number_layers,
    number_points,
    stack_labels,
)
from sievert.formatting import make_unique, say, significant

ROOM = 1.08  # beyond the outermost point
LINE = 12  # pixels from one label to the next
MOST_LED = 8  # points with lines to their labels; of more, which would cross, numbers tell
# Pixels of the axis across, at least, with names beside it or above it, and to the right of the
# latter; those of a page, whose letters and height are larger, as many as if they were not.
BESIDE_NAMES = 320
BELOW_NAMES = 180
BEYOND = 18


@dataclass(frozen=True, kw_only=True)
class Dot:
    """One release on the map; hollow where another one is better."""

    name: str
    across: float
    up: float
    interval: tuple[float, float]  # of what is across
    hollow: bool = False


def _description(dot: Dot) -> str:
    key = "charts.dot_dominated" if dot.hollow else "charts.dot"
    return say(key, name=dot.name, lost=significant(dot.across), told=significant(dot.up))


def risk_utility_chart(
    title: str,
    below: Sequence[str],
    given: Iterable[Dot],
    *,
    across: str,
    up: str,
    said: Callable[[Dot], str] = _description,
) -> Spec:
    """Named points, with the interval of what is across; both axes have their zero.

    `said` is what a reader who hears the chart is told of a point.

    >>> dots = [Dot(name="a", across=0.1, up=2.0, interval=(0.0, 0.2))]
    >>> spec = risk_utility_chart("Map", ["bits"], dots, across="loss", up="risk")
    >>> [(row["name"], row["across"], row["up"]) for row in spec["data"]["values"]]
    [('a', 0.1, 2.0)]
    """
    dots = list(given)
    least = ROOM * min([0.0, *(d.interval[0] for d in dots)])
    most = ROOM * (max([0.0, *(end for d in dots for end in (d.interval[1], d.across))]) or 1.0)
    high = ROOM * (max([0.0, *(d.up for d in dots)]) or 1.0)
    height = max(CURVE_HEIGHT, LINE * len(dots))
    full = say("charts.not_dominated")
    hollow = say("charts.dominated")
    values: list[Spec] = [
        {
            "name": name,
            "across": d.across,
            "up": d.up,
            "low": d.interval[0],
            "high": d.interval[1],
            "kind": hollow if d.hollow else full,
            "said": said(replace(d, name=name)),
            "label": level,
            "edge": most,
        }
        for name, d, level in _labels(dots, high, LINE / height * high)
    ]
    x, y = (_axis(*given) for given in (("across", across, least, most), ("up", up, 0, high)))
    kinds = [full, hollow] if any(d.hollow for d in dots) else [full]
    fill: Spec = {
        "field": "kind",
        "type": "nominal",
        "scale": {"domain": kinds, "range": [PLAIN, "white"][: len(kinds)]},
        "legend": {"symbolType": "circle", "labelLimit": WIDTH} if len(kinds) > 1 else None,
    }
    circle = {"type": "circle", "size": 90, "stroke": INK, "strokeWidth": 1, "opacity": 1}
    points: list[Spec] = [
        {"mark": GREY, "encoding": {"x": {**x, "field": "low"}, "x2": {"field": "high"}, "y": y}},
        {"mark": circle, "encoding": {"x": x, "y": y, "fill": fill, "description": SAID}},
    ]
    if len(dots) <= MOST_LED:
        return frame_chart(title, below, values, [_leader(x, y), *points, _name(x, y)], height)
    values = number_points(values, (least, most), high, (BESIDE_NAMES, height))
    values = [{**value, "name": f"{value['number']}  {value['name']}"} for value in values]
    close = number_points(values, (least, most), high, (BELOW_NAMES, height), BEYOND)
    pointer, number = number_layers(x, y)
    layers = [pointer, *points, number]
    spec = frame_chart(title, below, values, [*layers, _name(x, y)], height)
    narrow = {"data": {"values": close}, "layer": [*layers, NAMES_ABOVE]}
    return {**spec, "usermeta": {"narrow": narrow}}


def limit_chart(
    title: str,
    below: Sequence[str],
    curve: Sequence[tuple[float, float, float | None]],
    given: Iterable[Dot],
) -> Spec:
    """Releases above the curve of the best; the interval of a dot reaches down to it.

    >>> dot = Dot(name="a", across=0.1, up=0.5, interval=(0.3, 0.5))
    >>> spec = limit_chart("Limit", ["bits"], [(0.0, 0.5, 0.5), (0.5, 0.0, 0.0)], [dot])
    >>> [(row["kind"], row["across"]) for row in spec["data"]["values"]]
    [('release', 0.1), ('curve', 0.0), ('curve', 0.5)]
    """
    dots = list(given)
    most = ROOM * (max([0.0, *(at for at, *_ in curve), *(d.across for d in dots)]) or 1.0)
    high = ROOM * (max([0.0, *(x for _, x, _ in curve), *(d.up for d in dots)]) or 1.0)
    height = max(CURVE_HEIGHT, LINE * len(dots))
    values: list[Spec] = [
        {
            "kind": "release",
            "name": name,
            "across": d.across,
            "up": d.up,
            "least": d.interval[0],
            "label": level,
            "edge": most,
            "said": say(
                "charts.placed",
                name=name,
                distortion=significant(d.across),
                told=significant(d.up),
                least=significant(d.interval[0]),
            ),
        }
        for name, d, level in _labels(dots, high, LINE / height * high)
    ]
    values += [
        {
            "kind": "curve",
            "across": at,
            "up": least,
            "bound": bound,
            "said": say(
                "charts.limit_at" if bound is None else "charts.limit_bound_at",
                distortion=significant(at),
                least=significant(least),
                bound=significant(bound or 0.0),
            ),
        }
        for at, least, bound in curve
    ]
    x = _axis("across", say("charts.distortion"), 0, most)
    y = _axis("up", say("charts.told"), 0, high)
    line: Spec = {"type": "line", "stroke": INK, "strokeWidth": 1.6, "aria": False}
    dashed = {**line, "strokeWidth": 1, "strokeDash": [4, 3]}
    dot: Spec = {"type": "circle", "size": 14, "fill": INK, "opacity": 1}
    release = {**dot, "size": 90, "fill": PLAIN, "stroke": INK, "strokeWidth": 1}
    to_curve = {"x": x, "y": {**y, "field": "least"}, "y2": {"field": "up"}}
    point = {"x": x, "y": y, "description": SAID}
    curves = "datum.kind === 'curve'"
    releases = "datum.kind === 'release'"
    layers: list[tuple[str, Spec]] = [
        (curves, {"mark": line, "encoding": {"x": x, "y": y}}),
        (
            f"{curves} && isValid(datum.bound)",
            {"mark": dashed, "encoding": {"x": x, "y": {**y, "field": "bound"}}},
        ),
        (curves, {"mark": dot, "encoding": point}),
        (releases, _leader(x, y)),
        (releases, {"mark": GREY, "encoding": to_curve}),
        (releases, {"mark": release, "encoding": point}),
        (releases, _name(x, y)),
    ]
    filtered = [{"transform": [{"filter": rows}], **layer} for rows, layer in layers]
    return frame_chart(title, below, values, filtered, height)


def _axis(field: str, title: str, low: float, high: float) -> Spec:
    return number_axis(field, title, {"domain": [low, high], "nice": False}, tickCount=5, grid=True)


def _leader(x: Spec, y: Spec) -> Spec:
    """The dotted line from a point to its label at the side."""
    ends = {"x": x, "x2": {"field": "edge"}, "y": y, "y2": {"field": "label"}}
    return {"mark": {**GREY, "strokeDash": [1, 3]}, "encoding": ends}


def _name(x: Spec, y: Spec) -> Spec:
    """The label of a point at the side."""
    name = {"text": {"field": "name", "type": "nominal"}}
    place = {"x": {**x, "field": "edge"}, "y": {**y, "field": "label"}}
    return {"mark": label_mark(5, baseline="middle"), "encoding": {**place, **name}}


def _labels(dots: Sequence[Dot], high: float, line: float) -> Iterator[tuple[str, Dot, float]]:
    """Each point with its name and the height of its label, so that none hides another."""
    names = make_unique(short_name(d.name, LONGEST) for d in dots)
    return zip(names, dots, stack_labels([(d.across, d.up) for d in dots], high, line), strict=True)


# Kinds of curves and points; their words: charts.KIND.
BEST = "best"
LEAST = "least"
RECODED = "recoded"
ASKED = "asked"
DASHES: dict[str, list[int]] = {BEST: [1, 0], LEAST: [3, 3]}
PALE = "#bbbbbb"
SHAPES = {RECODED: "square", ASKED: "diamond"}


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

    >>> spec = tradeoff("Limit", [""], [("best", 0.1, 0.3)], [], across="D", up="bits")
    >>> spec["data"]["values"][0]["said"]
    'best channel, 0.1: 0.3'
    """
    words = {kind: say(f"charts.{kind}") for kind in (*DASHES, *SHAPES)}
    values: list[Spec] = [
        {"line": name, "x": x, "y": y, "said": f"{name}, {significant(x)}: {significant(y)}"}
        for name, x, y in ((words[kind], x, y) for kind, x, y in lines)
    ]
    values += [
        {"mark": name, "x": x, "y": y, "said": f"{name}{more}, {significant(x)}: {significant(y)}"}
        for name, x, y, more in ((words[kind], x, y, more) for kind, x, y, more in marks)
    ]
    x = number_axis("x", across, {"zero": True, "nice": False}, tickCount=6, grid=False)
    y = number_axis("y", up, {"zero": True}, tickCount=5, grid=True)
    curves = [kind for kind in DASHES if any(row[0] == kind for row in lines)]
    dashes: Spec = {
        "field": "line",
        "type": "nominal",
        "sort": [words[kind] for kind in DASHES],
        "scale": {"domain": [words[n] for n in curves], "range": [DASHES[n] for n in curves]},
        "legend": STROKES,
    }
    layers: list[Spec] = [
        {
            "transform": [{"filter": {"field": "line", "oneOf": [words[n] for n in curves]}}],
            "mark": {"type": "line", "strokeWidth": 1.8, "stroke": PLAIN, "aria": False},
            "encoding": {"x": x, "y": y, "strokeDash": dashes},
        },
        {
            "transform": [{"filter": {"field": "line", "equal": words[BEST]}}],
            "mark": {"type": "circle", "size": 20, "opacity": 1, "fill": PLAIN},
            "encoding": {"x": x, "y": y, "description": SAID},
        },
    ]
    kinds = [kind for kind in SHAPES if any(row[0] == kind for row in marks)]
    if kinds:
        shape = {
            "field": "mark",
            "type": "nominal",
            "scale": {"domain": [words[k] for k in kinds], "range": [SHAPES[k] for k in kinds]},
            "legend": {"labelLimit": 260, "symbolFillColor": PALE},
        }
        layers.append(
            {
                "transform": [{"filter": {"field": "mark", "oneOf": [words[k] for k in kinds]}}],
                "mark": {"type": "point", "size": 70, "stroke": INK, "fill": PALE, "opacity": 1},
                "encoding": {"x": x, "y": y, "shape": shape, "description": SAID},
            }
        )
    return frame_chart(title, below, values, layers, CURVE_HEIGHT)
