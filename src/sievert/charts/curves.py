"""Curves: what is left to an intruder against what is known, and against the width of a window."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sievert.charts.drawing import (
    CURVE_HEIGHT,
    LABEL,
    SAID,
    STROKES,
    Bar,
    Spec,
    bars,
    frame_chart,
    in_per_cent,
    number_axis,
    shades,
    short_name,
)
from sievert.charts.results import file_name
from sievert.formatting import make_unique, percent, printable, significant

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
    fill = {**which, "scale": colours, "legend": None}
    dots: Spec = {
        "mark": {"type": "circle", "size": 36, "opacity": 1},
        "encoding": {"x": x, "y": y, "fill": fill, "description": SAID},
    }
    marks = [{"mark": line, "encoding": encoding}, dots]
    if stair:
        marks = [{"mark": {**line, "interpolate": "step-after"}, "encoding": encoding}]
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
            charts[file_name(charts, number, secret)] = lines(
                TITLES[number].format(short_name(secret)),
                (
                    f"{method.capitalize()}: mean over all combinations of known values",
                    "High is better protected",
                ),
                {
                    _parameter(method, c.parameter): [
                        (p.known, p.combinations[number].mean) for p in c.points
                    ]
                    for c in curves
                },
                across="Known columns",
                up=unit,
            )
    return charts


def of_approximate(curves: Mapping[str, Mapping[str, Any]]) -> dict[str, Spec]:
    """H(eps) of each secret number in the worst class, beside that of the whole table."""
    charts: dict[str, Spec] = {}
    for secret, curve in curves.items():
        steps = {"whole table": curve["table"]["steps"], "worst class": curve["worst"]["steps"]}
        charts[file_name(charts, "approximate", secret)] = lines(
            f"How near somebody comes to {short_name(secret)}",
            (
                "H(epsilon): bits left to guess for somebody content with a window of that width",
                "Worst class: the one with the smallest area below the curve; low is riskier",
            ),
            close_stairs(steps),
            across="Width of the window",
            up="Bits",
            stair=True,
        )
    return charts


def close_stairs(
    curves: Mapping[str, Sequence[Sequence[float]]],
) -> dict[str, list[tuple[float, float]]]:
    """Continue curves to 0 at a common end, and thin them out, keeping the first and last step."""
    end = max(steps[-1][0] for steps in curves.values())
    strides = {name: max(1, -(-len(steps) // WIDEST)) for name, steps in curves.items()}
    return {
        name: [*((x, y) for x, y in (*steps[: -1 : strides[name]], steps[-1])), (end, 0.0)]
        for name, steps in curves.items()
    }


def _parameter(method: str, value: float | None) -> str:
    if value is None:
        return "as released"
    return {"sampling": f"{100 * value:g} %", "query": f"Q = {value:g}"}.get(method, f"{value:g} %")


PER_CENT = ".3~%"  # of an axis
NARROWEST = 0.02  # of an axis of running means: less than that is no difference
ROOM = 0.1  # beyond the outermost point


WHO = (
    ("attacker", "attacker_accuracy"),
    ("attacker expects", "attacker_expects"),
    ("learner", "learner_accuracy"),
    ("guessing", "baseline"),
)


def of_reasoning(attacks: Mapping[str, Any]) -> dict[str, Spec]:
    """Attacker against learner and guessing, and running means of the chains, by secret."""
    charts: dict[str, Spec] = {}
    for secret, attack in attacks.items():
        data = attack.to_dict()
        name = short_name(secret)
        intervals = data.get("intervals") or {}
        given = [
            Bar(
                row=who,
                number=value,
                interval=tuple(intervals[key]) if intervals.get(key) else None,
                text=percent(value),
            )
            for who, key in WHO
            if data.get("converged") and (value := (data.get(key) or {}).get("value")) is not None
        ]
        if len(given) > 1:
            charts[file_name(charts, "reasoning", secret)] = shares(
                f"Attacker against learner: {name}",
                (f"People whose {name} is named", "An attacker far above the learner is risky"),
                given,
                axis="Share of people",
            )
        places = (data.get("sampling") or {}).get("so_far")
        if places:
            number = str(data["sampling"]["least_agreed"]).replace("_", " ")
            charts[file_name(charts, "chains", secret)] = running(
                f"Convergence of the chains: {name}",
                (f"Running mean of the number they agree on least: {number}",),
                {
                    f"chain {c + 1}": [(float(p["sweeps"]), p["by_chain"][c]) for p in places]
                    for c in range(len(places[0]["by_chain"]))
                },
                across="Sweeps",
                up="Running mean",
            )
    return charts


def shares(title: str, below: Sequence[str], given: Iterable[Bar], *, axis: str) -> Spec:
    """Bars from 0 in per cent, each with the words that the table behind it has; no two alike.

    >>> given = [Bar(row="attacker", number=0.25, text="25 %")]
    >>> spec = shares("Named", ["people"], given, axis="people")
    >>> [(row["row"], row["number"], row["shown"]) for row in spec["data"]["values"]]
    [('attacker', 0.25, '25 %')]
    """
    all_bars = list(given)
    spec = bars(title, below, all_bars, axis=axis, most=len(all_bars))
    for row, bar in zip(spec["data"]["values"], all_bars, strict=True):
        words = f"{row['row']}: {printable(bar.text)}"
        row |= {"shown": printable(bar.shown or bar.text), "said": words}
    said = [row["said"] for row in spec["data"]["values"]]
    return {**in_per_cent(spec, "x", PER_CENT), "description": _description(below, said)}


def running(
    title: str,
    below: Sequence[str],
    given: Mapping[str, Sequence[tuple[float, float]]],
    *,
    across: str,
    up: str,
) -> Spec:
    """Lines of running means in per cent; upwards the axis has what they reach, and no zero.

    >>> spec = running("Chains", ["mean"], {"1": [(5, 0.4), (10, 0.5)]}, across="sweeps", up="mean")
    >>> spec["layer"][0]["encoding"]["y"]["scale"]["domain"]
    [0.39, 0.51]
    """
    spec = lines(title, below, given, across=across, up=up)
    reached = [y for points in given.values() for _, y in points]
    low = min(reached, default=0.0)
    high = max(reached, default=1.0)
    room = max(ROOM * (high - low), (NARROWEST - high + low) / 2)
    domain = [max(0.0, round(low - room, 9)), min(1.0, round(high + room, 9))]
    spec["layer"] = spec["layer"][:1]  # as many dots would hide the lines
    spec["layer"][0]["encoding"]["y"]["scale"] = {"domain": domain, "nice": False, "zero": False}
    ends = {row["line"]: row["said"] for row in spec["data"]["values"]}  # the last of each
    return {**in_per_cent(spec, "y", PER_CENT), "description": _description(below, ends.values())}


def _description(below: Sequence[str], said: Iterable[str]) -> str:
    return f"{'. '.join(printable(line) for line in below)}. {'; '.join(said)}."
