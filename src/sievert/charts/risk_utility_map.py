"""A map of releases: what each has lost across, what each discloses upwards."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sievert.charts.drawing import (
    CURVE_HEIGHT,
    INK,
    LONGEST,
    PLAIN,
    WIDTH,
    Spec,
    frame_chart,
    short_name,
)
from sievert.charts.results import file_name, make_unique
from sievert.errors import UsageError
from sievert.formatting import significant

ROOM = 1.08  # beyond the outermost point
LINE = 12  # pixels from one label to the next


@dataclass(frozen=True)
class Dot:
    """One release on the map; hollow where another one is better."""

    name: str
    across: float
    up: float
    interval: tuple[float, float]  # of what is across
    hollow: bool = False


def risk_utility_chart(
    title: str, below: Sequence[str], given: Iterable[Dot], *, across: str, up: str
) -> Spec:
    """Named points, with the interval of what is across; both axes have their zero.

    >>> dots = [Dot("a", 0.1, 2.0, (0.0, 0.2))]
    >>> spec = risk_utility_chart("Map", ["bits"], dots, across="loss", up="risk")
    >>> [(row["name"], row["across"], row["up"]) for row in spec["data"]["values"]]
    [('a', 0.1, 2.0)]
    """
    held = list(given)
    names = make_unique(short_name(d.name, LONGEST) for d in held)
    values: list[Spec] = [
        {
            "name": name,
            "across": d.across,
            "up": d.up,
            "low": d.interval[0],
            "high": d.interval[1],
            "kind": HOLLOW if d.hollow else FULL,
            "said": f"{name}: {significant(d.across)} bits lost, {significant(d.up)} bits "
            f"disclosed{', dominated' if d.hollow else ''}",
        }
        for name, d in zip(names, held, strict=True)
    ]
    least = ROOM * min([0.0, *(d.interval[0] for d in held)])
    most = ROOM * (max([0.0, *(d.interval[1] for d in held), *(d.across for d in held)]) or 1.0)
    high = ROOM * (max([0.0, *(d.up for d in held)]) or 1.0)
    height = max(CURVE_HEIGHT, LINE * len(held))
    for value, level in zip(values, _labels(held, high, LINE / height * high), strict=True):
        value |= {"label": level, "edge": most}
    x: Spec = {
        "field": "across",
        "type": "quantitative",
        "title": across,
        "scale": {"domain": [least, most], "nice": False},
        "axis": {"tickCount": 5, "grid": True},
    }
    y: Spec = {
        "field": "up",
        "type": "quantitative",
        "title": up,
        "scale": {"domain": [0, high], "nice": False},
        "axis": {"tickCount": 5, "grid": True},
    }
    kinds = [FULL, HOLLOW] if any(d.hollow for d in held) else [FULL]
    fill: Spec = {
        "field": "kind",
        "type": "nominal",
        "scale": {"domain": kinds, "range": [PLAIN, "white"][: len(kinds)]},
        "legend": {"symbolType": "circle", "labelLimit": WIDTH} if len(kinds) > 1 else None,
    }
    layers: list[Spec] = [
        {
            "mark": {
                "type": "rule",
                "stroke": "#888888",
                "strokeDash": [1, 3],
                "aria": False,
            },
            "encoding": {"x": x, "x2": {"field": "edge"}, "y": y, "y2": {"field": "label"}},
        },
        {
            "mark": {"type": "rule", "stroke": "#888888", "aria": False},
            "encoding": {"x": {**x, "field": "low"}, "x2": {"field": "high"}, "y": y},
        },
        {
            "mark": {"type": "circle", "size": 90, "stroke": INK, "strokeWidth": 1, "opacity": 1},
            "encoding": {
                "x": x,
                "y": y,
                "fill": fill,
                "description": {"field": "said", "type": "nominal"},
            },
        },
        {
            "mark": {
                "type": "text",
                "align": "left",
                "dx": 5,
                "baseline": "middle",
                "fontSize": 10,
                "fill": INK,
                "aria": False,
            },
            "encoding": {
                "x": {**x, "field": "edge"},
                "y": {**y, "field": "label"},
                "text": {"field": "name", "type": "nominal"},
            },
        },
    ]
    return frame_chart(title, below, values, layers, height)


def limit_chart(
    title: str,
    below: Sequence[str],
    curve: Sequence[tuple[float, float, float | None]],
    given: Iterable[Dot],
) -> Spec:
    """Releases above the curve of the best; the interval of a dot reaches down to it.

    >>> dot = Dot("a", 0.1, 0.5, (0.3, 0.5))
    >>> spec = limit_chart("Limit", ["bits"], [(0.0, 0.5, 0.5), (0.5, 0.0, 0.0)], [dot])
    >>> [(row["kind"], row["across"]) for row in spec["data"]["values"]]
    [('release', 0.1), ('curve', 0.0), ('curve', 0.5)]
    """
    held = list(given)
    names = make_unique(short_name(d.name, LONGEST) for d in held)
    most = ROOM * (max([0.0, *(at for at, *_ in curve), *(d.across for d in held)]) or 1.0)
    high = ROOM * (max([0.0, *(x for _, x, _ in curve), *(d.up for d in held)]) or 1.0)
    height = max(CURVE_HEIGHT, LINE * len(held))
    values: list[Spec] = [
        {
            "kind": "release",
            "name": name,
            "across": d.across,
            "up": d.up,
            "least": d.interval[0],
            "label": level,
            "edge": most,
            "said": f"{name}: distortion {significant(d.across)}, {significant(d.up)} bits told, "
            f"{significant(d.interval[0])} possible",
        }
        for name, d, level in zip(
            names, held, _labels(held, high, LINE / height * high), strict=True
        )
    ]
    for at, least, bound in curve:
        said = f"limit at distortion {significant(at)}: {significant(least)} bits"
        said += "" if bound is None else f", none below {significant(bound)}"
        values.append({"kind": "curve", "across": at, "up": least, "bound": bound, "said": said})
    x: Spec = {
        "field": "across",
        "type": "quantitative",
        "title": "Distortion",
        "scale": {"domain": [0, most], "nice": False},
        "axis": {"tickCount": 5, "grid": True},
    }
    y: Spec = {
        "field": "up",
        "type": "quantitative",
        "title": "Told of the secret, bits",
        "scale": {"domain": [0, high], "nice": False},
        "axis": {"tickCount": 5, "grid": True},
    }
    said_ = {"field": "said", "type": "nominal"}
    line: Spec = {"type": "line", "stroke": INK, "strokeWidth": 1.6, "aria": False}
    curves = [{"filter": "datum.kind === 'curve'"}]
    known = [{"filter": "datum.kind === 'curve' && isValid(datum.bound)"}]
    releases = [{"filter": "datum.kind === 'release'"}]
    grey: Spec = {"type": "rule", "stroke": "#888888", "aria": False}
    layers: list[Spec] = [
        {"transform": curves, "mark": line, "encoding": {"x": x, "y": y}},
        {
            "transform": known,
            "mark": {**line, "strokeWidth": 1, "strokeDash": [4, 3]},
            "encoding": {"x": x, "y": {**y, "field": "bound"}},
        },
        {
            "transform": curves,
            "mark": {"type": "circle", "size": 14, "fill": INK, "opacity": 1},
            "encoding": {"x": x, "y": y, "description": said_},
        },
        {
            "transform": releases,
            "mark": {**grey, "strokeDash": [1, 3]},
            "encoding": {"x": x, "x2": {"field": "edge"}, "y": y, "y2": {"field": "label"}},
        },
        {
            "transform": releases,
            "mark": grey,
            "encoding": {"x": x, "y": {**y, "field": "least"}, "y2": {"field": "up"}},
        },
        {
            "transform": releases,
            "mark": {
                "type": "circle",
                "size": 90,
                "fill": PLAIN,
                "stroke": INK,
                "strokeWidth": 1,
                "opacity": 1,
            },
            "encoding": {"x": x, "y": y, "description": said_},
        },
        {
            "transform": releases,
            "mark": {
                "type": "text",
                "align": "left",
                "dx": 5,
                "baseline": "middle",
                "fontSize": 10,
                "fill": INK,
                "aria": False,
            },
            "encoding": {
                "x": {**x, "field": "edge"},
                "y": {**y, "field": "label"},
                "text": {"field": "name", "type": "nominal"},
            },
        },
    ]
    return frame_chart(title, below, values, layers, height)


def _labels(held: Sequence[Dot], high: float, line: float) -> list[float]:
    """How high each point's label stands at the side, so that none hides another."""
    levels = [0.0] * len(held)
    above = high + line
    for i in sorted(range(len(held)), key=lambda i: (-held[i].up, held[i].across)):
        above = levels[i] = min(held[i].up, above - line)
    lift = max(0.0, -min(levels, default=0.0))
    return [level + lift for level in levels]


FULL, HOLLOW = "not dominated", "dominated: another discloses no more and has lost no more"


def of_comparison(found: Any) -> dict[str, Spec]:
    """The risk-utility map of each secret of a comparison."""
    if not found.original["attribute_disclosure"]:
        raise UsageError("a map of risk and loss needs a secret", hint="-s COLUMNS")
    charts: dict[str, Spec] = {}
    for secret, before in found.original["attribute_disclosure"].items():
        whole = significant(before.whole.corrected)
        charts[file_name(charts, "map", secret)] = risk_utility_chart(
            f"What each release discloses, and what it has lost of {short_name(secret)}",
            (
                f"Lost: I(X;Y) - I(X';Y) beyond chance, of {whole} bits, with its interval of 95 %",
                "Disclosed: I(X';X), bits a record. Down and to the left is better",
            ),
            (_dot(release, secret) for release in found.releases),
            across="Information loss, bits",
            up="Identity disclosure, bits",
        )
    for secret, limit in found.limits.items():
        charts[file_name(charts, "limit", secret)] = limit_chart(
            f"What each release tells of {short_name(secret)}, and the least that it could",
            (
                "A point straight above the curve tells more than its distortion needs",
                "Curve: the best releases there are"
                + ("" if limit.merged else "; dashed: what no release is below"),
                "Distortion: mean share of quasi-identifiers read wrongly",
            ),
            [(p.at, p.objective, None if limit.merged else p.bound) for p in limit.points],
            (_beside(release, secret) for release in found.releases),
        )
    return charts


def _beside(release: Any, secret: str) -> Dot:
    placed = release.limit[secret]
    least = placed.disclosed if placed.least is None else placed.least
    return Dot(release.name, placed.distortion, placed.disclosed, (least, placed.disclosed))


def _dot(release: Any, secret: str) -> Dot:
    lost = release.disclosed.loss[secret].whole
    half = (lost.interval[1] - lost.interval[0]) / 2
    return Dot(
        release.name,
        lost.beyond,
        release.disclosed.identity.whole.value,
        (lost.beyond - half, lost.beyond + half),
        bool(release.dominated_by),
    )
