"""Charts of attacks whose every word is given: shares as bars, chains as running means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sievert.charts.curves import lines
from sievert.charts.drawing import Bar, Spec, bars, short_name
from sievert.charts.results import file_name
from sievert.formatting import percent, printable

PER_CENT = ".3~%"  # of an axis
NARROWEST = 0.02  # of an axis of running means: less than that is no difference
ROOM = 0.1  # beyond the outermost point


@dataclass(frozen=True)
class Share:
    """One bar: its row, its number (None is not drawn), how it is told, its interval if any."""

    row: str
    number: float | None
    told: str
    interval: tuple[float, float] | None = None
    last: bool = False  # of all together: set apart
    shown: str | None = None  # beside the bar, where what is told is long


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
        data, name = attack.to_dict(), short_name(secret)
        intervals = data.get("intervals") or {}
        given = [
            Share(who, value, percent(value), _ends(intervals.get(key)))
            for who, key in WHO
            if data.get("converged") and (value := (data.get(key) or {}).get("value")) is not None
        ]
        if len(given) > 1:
            below = (
                f"People whose {name} is named",
                "An attacker far above the learner is risky",
            )
            charts[file_name(charts, "reasoning", secret)] = shares(
                f"Attacker against learner: {name}", below, given, axis="Share of people"
            )
        places = (data.get("sampling") or {}).get("so_far")
        if places:
            number = str(data["sampling"]["least_agreed"]).replace("_", " ")
            lines = {
                f"chain {c + 1}": [(float(p["sweeps"]), p["by_chain"][c]) for p in places]
                for c in range(len(places[0]["by_chain"]))
            }
            charts[file_name(charts, "chains", secret)] = running(
                f"Convergence of the chains: {name}",
                (f"Running mean of the number they agree on least: {number}",),
                lines,
                across="Sweeps",
                up="Running mean",
            )
    return charts


def _ends(interval: Sequence[float] | None) -> tuple[float, float] | None:
    return None if interval is None else (interval[0], interval[1])


def shares(title: str, below: Sequence[str], given: Iterable[Share], *, axis: str) -> Spec:
    """Bars from 0 in per cent, each with the words that the table behind it has; no two alike.

    >>> spec = shares("Named", ["people"], [Share("attacker", 0.25, "25 %")], axis="people")
    >>> [(row["row"], row["number"], row["shown"]) for row in spec["data"]["values"]]
    [('attacker', 0.25, '25 %')]
    """
    shares_given = list(given)
    spec = bars(
        title,
        below,
        [Bar(s.row, s.number, interval=s.interval, last=s.last) for s in shares_given],
        axis=axis,
        most=len(shares_given),
    )
    for row, share in zip(spec["data"]["values"], shares_given, strict=True):
        shown = share.told if share.shown is None else share.shown
        row |= {"shown": printable(shown), "said": f"{row['row']}: {printable(share.told)}"}
    said = [row["said"] for row in spec["data"]["values"]]
    return {**_in_per_cent(spec, "x"), "description": _description(below, said)}


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
    low, high = min(reached, default=0.0), max(reached, default=1.0)
    room = max(ROOM * (high - low), (NARROWEST - high + low) / 2)
    domain = [max(0.0, round(low - room, 9)), min(1.0, round(high + room, 9))]
    spec["layer"] = spec["layer"][:1]  # as many dots would hide the lines
    spec["layer"][0]["encoding"]["y"]["scale"] = {"domain": domain, "nice": False, "zero": False}
    ends = {row["line"]: row["said"] for row in spec["data"]["values"]}  # the last of each
    return {**_in_per_cent(spec, "y"), "description": _description(below, ends.values())}


def _in_per_cent(spec: Spec, channel: str) -> Spec:
    for layer in spec["layer"]:
        scale: Any = layer["encoding"][channel]
        layer["encoding"][channel] = {**scale, "axis": {**scale["axis"], "format": PER_CENT}}
    return spec


def _description(below: Sequence[str], said: Iterable[str]) -> str:
    return f"{'. '.join(printable(line) for line in below)}. {'; '.join(said)}."
