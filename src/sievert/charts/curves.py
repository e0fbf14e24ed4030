"""Curves: what is left to an intruder against what is known, and against the width of a window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sievert.charts.drawing import CURVE_HEIGHT, LABEL, Spec, frame_chart, shades, short_name
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
    """One line a name through its points; both axes have their zero.

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
    x: Spec = {
        "field": "x",
        "type": "quantitative",
        "title": across,
        "scale": {"zero": not whole, "nice": False},
        "axis": {"grid": False, **({"values": ticks, "format": "d"} if whole else {})},
    }
    y: Spec = {
        "field": "y",
        "type": "quantitative",
        "title": up,
        "scale": {"zero": True},
        "axis": {"tickCount": 5, "grid": True},
    }
    legend: Any = {"symbolType": "stroke", "symbolSize": 400, "symbolStrokeWidth": 2, "columns": 5}
    legend = legend if len(names) > 1 else None
    which: Spec = {"field": "line", "type": "nominal", "sort": names}
    dashes = [DASHES[i % len(DASHES)] for i, _ in enumerate(names)]
    colours = shades(len(names) + 1)[:-1]  # the lightest does not show
    line: Spec = {"type": "line", "strokeWidth": 1.8, "aria": False}
    if stair:
        line["interpolate"] = "step-after"
    encoding: Spec = {
        "x": x,
        "y": y,
        "stroke": {**which, "scale": {"domain": names, "range": colours}, "legend": legend},
        "strokeDash": {**which, "scale": {"domain": names, "range": dashes}, "legend": legend},
    }
    marks: list[Spec] = [{"mark": line, "encoding": encoding}]
    if not stair:
        marks.append(
            {
                "mark": {"type": "circle", "size": 36, "opacity": 1},
                "encoding": {
                    "x": x,
                    "y": y,
                    "fill": {
                        **which,
                        "scale": {"domain": names, "range": colours},
                        "legend": None,
                    },
                    "description": {"field": "said", "type": "nominal"},
                },
            }
        )
    return frame_chart(title, below, values, marks, CURVE_HEIGHT)


UNITS = {"initial_entropy": "Bits", "area": "Bits times the unit of the column"}
TITLES = {
    "initial_entropy": "What an intruder still has to guess of {}",
    "area": "How far off the guesses about {} are (area below H(epsilon))",
}


def of_compromises(found: Any) -> dict[str, Spec]:
    """Entropy and area against the number of known columns, a line for each parameter."""
    charts: dict[str, Spec] = {}
    method = found.settings["method"]
    for secret, curves in found.curves.items():
        for number, unit in UNITS.items():
            held = {
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
                held,
                across="Known columns",
                up=unit,
            )
    return charts


def of_approximate(found: Mapping[str, Mapping[str, Any]]) -> dict[str, Spec]:
    """H(eps) of each secret number in the worst class, beside that of the whole table."""
    charts: dict[str, Spec] = {}
    for secret, told in found.items():
        held = {"whole table": told["table"]["steps"], "worst class": told["worst"]["steps"]}
        end = max(steps[-1][0] for steps in held.values())
        stairs = {name: [*thin_steps(steps), (end, 0.0)] for name, steps in held.items()}
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


def thin_steps(steps: Sequence[Sequence[float]]) -> list[tuple[float, float]]:
    """At most so many steps, evenly spread, with the first and the last."""
    by = max(1, -(-len(steps) // WIDEST))
    kept = [*steps[:-1:by], steps[-1]]
    return [(x, y) for x, y in kept]


def _parameter(method: str, value: float | None) -> str:
    if value is None:
        return "as released"
    return {"sampling": f"{100 * value:g} %", "query": f"Q = {value:g}"}.get(method, f"{value:g} %")
