"""Curves: what is left to an intruder against what is known, and against the width of a window."""

from collections.abc import Iterable, Mapping, Sequence

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
from sievert.formatting import make_unique, printable, significant

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


PER_CENT = ".3~%"  # of an axis
NARROWEST = 0.02  # of an axis of running means: less than that is no difference
ROOM = 0.1  # beyond the outermost point


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
