"""Curves: what is left to an intruder against what is known, and against the width of a window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sievert.charts.drawing import (
    CURVE_HEIGHT,
    LABEL,
    SAID,
    STROKES,
    Spec,
    frame_chart,
    number_axis,
    shades,
    short_name,
)
from sievert.charts.results import file_name, make_unique
from sievert.formatting import significant

DASHES: tuple[list[int], ...] = ([1, 0], [6, 3], [2, 3], [8, 3, 2, 3], [1, 2])
WIDEST = 400  # points of a stair


def lines(
    title: str,
    below: Sequence[str],
    given: Mapping[str, Sequence[tuple[float, float]]],
    *,
    across: str,
    up: str,
    stair: bool = False,
) -> Spec:
    """One line per name through its points; both axes have their zero.

    >>> spec = lines("Known", ["bits"], {"5 %": [(1, 4.0), (2, 3.5)]}, across="known", up="H0")
    >>> [(row["x"], row["y"]) for row in spec["data"]["values"]]
    [(1, 4.0), (2, 3.5)]
    """
    names = make_unique(short_name(name, LABEL) for name in given)
    values: list[Spec] = [
        {
            "line": name,
            "x": x,
            "y": y,
            "said": f"{name}, {significant(x)}: {significant(y)}",
        }
        for name, points in zip(names, given.values(), strict=True)
        for x, y in points
    ]
    ticks = sorted({row["x"] for row in values})
    whole = all(float(x).is_integer() for x in ticks) and len(ticks) <= 12 and not stair
    numbers: Spec = {"values": ticks, "format": "d"} if whole else {}
    x = number_axis("x", across, {"zero": not whole, "nice": False}, grid=False, **numbers)
    y = number_axis("y", up, {"zero": True}, tickCount=5, grid=True)
    legend = {**STROKES, "columns": 5} if len(names) > 1 else None
    which: Spec = {"field": "line", "type": "nominal", "sort": names}
    dashes = [DASHES[i % len(DASHES)] for i, _ in enumerate(names)]
    colours = {"domain": names, "range": shades(len(names) + 1)[:-1]}  # the lightest is invisible
    line: Spec = {"type": "line", "strokeWidth": 1.8, "aria": False}
    encoding: Spec = {
        "x": x,
        "y": y,
        "stroke": {**which, "scale": colours, "legend": legend},
        "strokeDash": {**which, "scale": {"domain": names, "range": dashes}, "legend": legend},
    }
    if stair:
        marks = [{"mark": {**line, "interpolate": "step-after"}, "encoding": encoding}]
        return frame_chart(title, below, values, marks, CURVE_HEIGHT)
    fill = {**which, "scale": colours, "legend": None}
    dots: Spec = {
        "mark": {"type": "circle", "size": 36, "opacity": 1},
        "encoding": {"x": x, "y": y, "fill": fill, "description": SAID},
    }
    marks = [{"mark": line, "encoding": encoding}, dots]
    return frame_chart(title, below, values, marks, CURVE_HEIGHT)


UNITS = {"initial_entropy": "Bits", "area": "Bits times the unit of the column"}
TITLES = {
    "initial_entropy": "What an intruder still has to guess of {}",
    "area": "How far off the guesses about {} are (area below H(epsilon))",
}


def of_compromises(compromises: Any) -> dict[str, Spec]:
    """Entropy and area against the number of known columns, a line for each parameter."""
    charts: dict[str, Spec] = {}
    method = compromises.settings["method"]
    for secret, curves in compromises.curves.items():
        for number, unit in UNITS.items():
            points = {
                _parameter(method, c.parameter): [
                    (p.known, p.combinations[number].mean) for p in c.points
                ]
                for c in curves
            }
            charts[file_name(charts, number, secret)] = lines(
                TITLES[number].format(short_name(secret)),
                (
                    f"{method.capitalize()}: mean over all combinations of known values",
                    "High is better protected",
                ),
                points,
                across="Known columns",
                up=unit,
            )
    return charts


def of_approximate(curves: Mapping[str, Mapping[str, Any]]) -> dict[str, Spec]:
    """H(eps) of each secret number in the worst class, beside that of the whole table."""
    charts: dict[str, Spec] = {}
    for secret, curve in curves.items():
        steps = {"whole table": curve["table"]["steps"], "worst class": curve["worst"]["steps"]}
        stairs = close_stairs(steps)
        charts[file_name(charts, "approximate", secret)] = lines(
            f"How near somebody comes to {short_name(secret)}",
            (
                "H(epsilon): bits left to guess for somebody content with a window of that width",
                "Worst class: the one with the smallest area below the curve; low is riskier",
            ),
            stairs,
            across="Width of the window",
            up="Bits",
            stair=True,
        )
    return charts


def close_stairs(
    curves: Mapping[str, Sequence[Sequence[float]]],
) -> dict[str, list[tuple[float, float]]]:
    """Curves down to 0 at a common end, of at most so many steps, with the first and the last."""
    end = max(steps[-1][0] for steps in curves.values())
    every = {name: max(1, -(-len(steps) // WIDEST)) for name, steps in curves.items()}
    return {
        name: [*((x, y) for x, y in (*steps[: -1 : every[name]], steps[-1])), (end, 0.0)]
        for name, steps in curves.items()
    }


def _parameter(method: str, value: float | None) -> str:
    if value is None:
        return "as released"
    return {"sampling": f"{100 * value:g} %", "query": f"Q = {value:g}"}.get(method, f"{value:g} %")
