"""Where the labels of points stand, so that none hides another or a point.

Of a few points names stand at the side, each with a line to its point. Of many, whose lines would
cross, each has a number: beside it, or where it is free, with a line.
"""

from collections.abc import Sequence

import numpy as np

from sievert.arrays import Bools, Floats
from sievert.charts.drawing import GREY, INK, Spec, label_mark

DOT = 6.0  # pixels: the radius of a point, with its edge
# Pixels of a number: the width of a letter, the gap around it, its height.
LETTER = 7.2
GAP = 4.0
TALL = 11.5
RINGS = 14  # around a point
STEP = 7.0  # pixels from one ring to the next
# Up to the right first, then up to the left, beside, above and below, and between these.
ANGLES = np.deg2rad([45, 135, 0, 180, 90, 315, 225, 270, 22, 68, 112, 158, 338, 292, 248, 202])
STOPS = np.linspace(0.0, 1.0, 9)  # where the line to a number is looked at
CLEARLY = 1.4  # times as far as its own point is every other from a number without a line
KEY_LINE = 17  # pixels from one name to the next, above the points


def place_numbers(points: Floats, width: Floats, size: tuple[float, float]) -> Floats:
    """The middle of each number: beside its point, or as near as other numbers and points allow.

    The one whose point is leftmost chooses first. None leaves the chart, of the `size` given, as
    long as there is room; `width` is that of each number, and all lengths are pixels.

    >>> places = place_numbers(np.array([[50, 50], [52, 50]]), np.array([7, 7]), (100, 100))
    >>> places.tolist()
    [[42.0, 40.0], [60.0, 40.0]]
    """
    places = np.zeros((len(points), 2))
    taken = np.concatenate([points - DOT, points + DOT], axis=1)
    around = np.stack([np.cos(ANGLES), -np.sin(ANGLES)], axis=1)
    around /= np.sqrt(np.abs(around).max(axis=1, keepdims=True))  # a label is no circle
    directions = np.tile(around, (RINGS, 1))
    farther = STEP * np.arange(RINGS).repeat(len(ANGLES))[:, None]
    for i in np.lexsort([points[:, 1], points[:, 0]]).tolist():
        half = np.array([width[i], TALL]) / 2
        middles = points[i] + np.rint(directions * (DOT + half + farther))
        boxes = np.concatenate([middles - half, middles + half], axis=1)
        edges = points[i] + directions * (DOT + 1)  # of the point, where a line can be seen
        lines = edges + STOPS[:, None, None] * (middles - edges)
        others = np.delete(taken, i, axis=0)
        hidden = _overlaps(boxes, others).sum(axis=1)
        crossed = np.any([_overlaps(np.tile(stops, 2), others) for stops in lines], axis=0)
        outside = ((boxes[:, :2] < 0) | (boxes[:, 2:] > np.array(size))).any(axis=1)
        cost = len(taken) * (2 * hidden + outside) + crossed.sum(axis=1)
        best = int(np.argmin(cost))  # the first of equals
        places[i] = middles[best]
        taken = np.concatenate([taken, boxes[[best]], np.tile(lines[:, best], 2)])
    return places


def _overlaps(boxes: Floats, others: Floats) -> Bools:
    """Which of the others each box overlaps."""
    first = boxes[:, None]
    second = others[None]
    apart = (first[..., :2] > second[..., 2:]) | (first[..., 2:] < second[..., :2])
    overlapping: Bools = np.logical_not(apart[..., 0] | apart[..., 1])
    return overlapping


def number_points(
    values: Sequence[Spec],
    across: tuple[float, float],
    up: float,
    size: tuple[float, float],
    beyond: float = 0.0,
) -> list[Spec]:
    """The points with their numbers, from the top down, and places for these.

    `across` is where the axis begins and ends, `up` where the other one ends; in a larger chart
    than one of this `size` in pixels, numbers have more room; on its right they may go `beyond`.
    """
    ranked = sorted(range(len(values)), key=lambda i: (-values[i]["up"], values[i]["across"]))
    unit = np.array([across[1] - across[0], -up]) / np.array(size)
    start = np.array([across[0], up])
    at = np.array([[values[i]["across"], values[i]["up"]] for i in ranked])
    points = (at - start) / unit
    numbers = [str(rank) for rank in range(1, len(ranked) + 1)]
    width = LETTER * np.array([len(number) for number in numbers]) + GAP
    places = place_numbers(points, width, (size[0] + beyond, size[1]))
    away = np.sqrt(((places[:, None] - points[None]) ** 2).sum(axis=2))
    numbered = [dict(value) for value in values]
    for i, own, number, point, place, distances in zip(
        ranked, at.tolist(), numbers, points, places, away, strict=True
    ):
        mine = distances[int(number) - 1]
        near = mine <= 2 * DOT + TALL and (distances < CLEARLY * mine).sum() == 1
        end = point + (place - point) * max(0.0, 1 - 0.6 * TALL / mine)
        middle = (place * unit + start).tolist()
        tip = (end * unit + start).tolist()
        numbered[i] |= {
            "number": number,
            "number_across": middle[0],
            "number_up": middle[1],
            "to_across": (own if near else tip)[0],
            "to_up": (own if near else tip)[1],
            "key": (int(number) - 1 - len(ranked)) * KEY_LINE,
        }
    return numbered


def number_layers(x: Spec, y: Spec) -> tuple[Spec, Spec]:
    """The lines to numbers that are not clearly beside their points, and the numbers."""
    ends = {"x": x, "x2": {"field": "to_across"}, "y": y, "y2": {"field": "to_up"}}
    place = {"x": {**x, "field": "number_across"}, "y": {**y, "field": "number_up"}}
    mark = {"type": "text", "baseline": "middle", "fill": INK, "aria": False}
    text = {"text": {"field": "number", "type": "nominal"}}
    return {"mark": GREY, "encoding": ends}, {"mark": mark, "encoding": {**place, **text}}


NAMES_ABOVE: Spec = {  # where beside the points there is no room for them
    "mark": label_mark(0, limit=300),
    "encoding": {
        "x": {"value": -60},
        "y": {"field": "key", "type": "quantitative", "scale": None},
        "text": {"field": "name", "type": "nominal"},
    },
}


def stack_labels(places: Sequence[tuple[float, float]], high: float, line: float) -> list[float]:
    """The height of each label at the side, near that of its point and a line from the next.

    `places` are how far across and how high the points are, of `high` at most.

    >>> stack_labels([(0.0, 1.0), (1.0, 1.0), (2.0, 0.0)], 4.0, 1.0)
    [2.0, 1.0, 0.0]
    """
    levels = [0.0] * len(places)
    above = high + line
    for i in sorted(range(len(places)), key=lambda i: (-places[i][1], places[i][0])):
        above = levels[i] = min(places[i][1], above - line)
    below = -line
    for i in sorted(range(len(places)), key=lambda i: levels[i]):
        below = levels[i] = max(levels[i], below + line)
    return levels
