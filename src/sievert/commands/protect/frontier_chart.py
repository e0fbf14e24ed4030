"""The chart of the frontier: loss on the horizontal axis, disclosure on the vertical one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sievert.charts.drawing import (
    CURVE_HEIGHT,
    INK,
    PLAIN,
    SAID,
    Spec,
    frame_chart,
    number_axis,
    short_name,
)
from sievert.commands.protect.content import Frontier
from sievert.formatting import say, significant

ROOM = 1.08  # beyond the outermost point
# Kinds of points; the words of a kind are the text charts.KIND.
CHOSEN = "chosen"
MEETS = "meets"
BREAKS = "breaks"
GIVEN = "given"
SHAPES = {CHOSEN: "diamond", MEETS: "circle", BREAKS: "circle", GIVEN: "square"}
FILLS = {CHOSEN: INK, MEETS: PLAIN, BREAKS: "white", GIVEN: "white"}
NAMED = 24  # letters of a release's name in the chart
REGION = "#e4e4e4"


@dataclass(frozen=True, kw_only=True)
class FrontierDot:
    """One release: its loss, what it discloses, and whether it meets the policy."""

    across: float
    up: float
    kind: str  # CHOSEN, MEETS, BREAKS or GIVEN
    meets: bool
    name: str = ""  # of a release that was given


def frontier_chart(
    title: str,
    below: Sequence[str],
    dots: Sequence[FrontierDot],
    *,
    across: str,
    up: str,
    least: Sequence[tuple[float, float]] = (),
) -> Spec:
    """Draw the releases, and the region in which some release meets the policy and is no worse.

    `least` is the curve below which no release was found.

    >>> dots = [
    ...     FrontierDot(across=0.1, up=2.0, kind=MEETS, meets=True),
    ...     FrontierDot(across=0.0, up=3.0, kind=BREAKS, meets=False),
    ... ]
    >>> spec = frontier_chart("Frontier", ["bits"], dots, across="lost", up="told")
    >>> [(row["kind"], row["across"], row["up"]) for row in spec["data"]["values"]]
    [('meets the policy', 0.1, 2.0), ('does not meet the policy', 0.0, 3.0)]
    """
    first = ROOM * min([0.0, *(d.across for d in dots)])
    most = ROOM * (max([0.0, *(d.across for d in dots)]) or 1.0)
    high = ROOM * (max([0.0, *(d.up for d in dots)]) or 1.0)
    words = {kind: say(f"charts.{kind}") for kind in SHAPES}
    values: list[Spec] = [
        {
            "kind": words[d.kind],
            "across": d.across,
            "up": d.up,
            "name": short_name(d.name, NAMED),
            "said": say(
                "charts.recoding",
                name=d.name or words[d.kind],
                lost=significant(d.across),
                told=significant(d.up),
            ),
        }
        for d in dots
    ]
    x = number_axis(
        "across", across, {"domain": [first, most], "nice": False}, tickCount=6, grid=False
    )
    y = number_axis("up", up, {"domain": [0, high], "nice": False}, tickCount=5, grid=True)
    kinds = [kind for kind in SHAPES if any(d.kind == kind for d in dots)]
    by_kind = {
        "field": "kind",
        "type": "nominal",
        "legend": {"labelLimit": 260, "symbolStrokeWidth": 1},
    }
    layers: list[Spec] = [
        {
            "data": {"values": _region(dots, most, high)},
            "mark": {"type": "area", "interpolate": "step-after", "fill": REGION, "aria": False},
            "encoding": {"x": x, "y": y, "y2": {"field": "top"}},
        },
        {
            "mark": {"type": "point", "size": 60, "strokeWidth": 1, "opacity": 1},
            "encoding": {
                "x": x,
                "y": y,
                "shape": {**by_kind, "scale": _scale(kinds, SHAPES)},
                "fill": {**by_kind, "scale": _scale(kinds, FILLS)},
                "stroke": {**by_kind, "scale": _scale(kinds, dict.fromkeys(kinds, INK))},
                "description": SAID,
            },
        },
    ]
    named = {
        "data": {"values": [row for row in values if row["name"]]},
        "mark": {"type": "text", "align": "left", "dx": 8, "fill": INK, "aria": False},
        "encoding": {"x": x, "y": y, "text": {"field": "name"}},
    }
    if any(d.name for d in dots):
        layers.append(named)
    if least:
        shown = [point for point in least if point[0] <= most and point[1] <= high]
        line = [{"across": a, "up": u, "what": say("charts.least_found")} for a, u in shown]
        where: Spec = {"x": x, "y": y}
        mark: Spec = {"stroke": INK, "strokeWidth": 1.6, "strokeDash": [6, 3], "aria": False}
        text: Spec = {"type": "text", "align": "left", "dx": 10, "dy": -4, "fill": INK}
        layers[1:1] = [
            {"data": {"values": line}, "mark": {"type": "line", **mark}, "encoding": where},
            {
                "data": {"values": line[:1]},
                "mark": {**text, "aria": False},
                "encoding": {**where, "text": {"field": "what"}},
            },
        ]
    return frame_chart(title, below, values, layers, CURVE_HEIGHT)


def _scale(kinds: Sequence[str], looks: Mapping[str, str]) -> Spec:
    """The scale of an encoding: the words of each kind, and its shape or colour."""
    shown = [say(f"charts.{kind}") for kind in kinds]
    return {"domain": shown, "range": [looks[kind] for kind in kinds]}


def _region(dots: Sequence[FrontierDot], most: float, high: float) -> list[Spec]:
    """The lower edge of the region, from left to right: no release below it meets the policy."""
    corners: list[tuple[float, float]] = []
    for d in sorted((d for d in dots if d.meets), key=lambda d: (d.across, d.up)):
        if not corners or d.up < corners[-1][1]:
            corners.append((d.across, d.up))
    if corners:
        corners.append((most, corners[-1][1]))
    return [{"across": at, "up": low, "top": high} for at, low in corners]


def frontier_dots(frontier: Frontier) -> list[FrontierDot]:
    """Make the dots of the chart from the points and the further releases of a frontier."""
    dots = []
    for point in frontier.points:
        kind = MEETS if point.meets else BREAKS
        if point.chosen:
            kind = CHOSEN
        dots.append(
            FrontierDot(across=point.lost, up=point.disclosed, kind=kind, meets=point.meets)
        )
    for release in frontier.beside:
        dots.append(
            FrontierDot(
                across=release.lost,
                up=release.disclosed,
                kind=GIVEN,
                meets=False,
                name=release.name,
            )
        )
    return dots
