"""A limit in words and numbers: what no release can do better, and what the channel does."""

from __future__ import annotations

from collections.abc import Sequence

from sievert.commands._terminal import tabulate, whole_text, wrap_all
from sievert.commands.limit.result import AlphabetResult, Limited, TradeoffPoint
from sievert.formatting import percent, plural, printable, significant, wrap

FEW = 12  # points of a curve that are shown
HEADS: dict[int | str, str] = {
    2: "distorted",
    "identity reverse": "distorted",
    3: "told",
    4: "lost",
}
CERTAIN = (1, 2, "identity", "identity reverse")  # models with a certificate
RISK = (
    "With {far}, {none} can disclose less than {bound} bits about {about}; this channel discloses "
    "{best}{whole}."
)
DISTORTION = (
    "With at most {at} bits disclosed about {about}, {none} {changes}; this channel "
    "{changed}{whole_tells}."
)
SENTENCES: dict[int | str, str] = {
    1: RISK,
    2: DISTORTION,
    3: "To lose at most {at} bits about {about}, the least that a release was found to tell of who "
    "is who is {best} bits; none tells less than {bound}.{tells}",
    4: "With at most {at} bits told of who is who, the least that a release was found to lose "
    "about {about} is {best} bits; none loses less than {bound}.{tells}",
    "funnel": "To keep at least {at} bits of the values, the least that a release was found to "
    "disclose about {about} is {best} bits; none discloses less than {bound}{whole}.",
    "identity": RISK,
    "identity reverse": DISTORTION,
}
MEANINGS = {
    True: "No release of these columns, made without looking at the secret, is below the bound; "
    "the channel is at most the gap away from it.",
    False: "The best that several searches have found; the bound is weak, and the truth lies "
    "between the two.",
}


def render(result: Limited, *, width: int = 100, everything: bool = False) -> str:
    """The whole text."""
    lines = [
        "",
        *wrap_all(
            (sentence(p, point, result) for p in result.parts for point in p.requested_points),
            width,
            "",
        ),
    ]
    for part in result.parts:
        lines += ["", *_points(part, width, everything), *_channel(part, result, width)]
    lines += [*_whole(result, width), "", *_meaning(result, width)]
    more = not everything and any(len(p.points) > FEW for p in result.parts)
    return whole_text(result, lines, width, "All points: --all." if more else "")


def secrets(result: Limited) -> str:
    """The sensitive attributes in words."""
    names = " with ".join(printable(s) for s in result.roles.sensitive)
    itself = result.settings["model"] in ("identity", "identity reverse")
    return "the values themselves" if itself else names


def who(part: AlphabetResult, result: Limited) -> str:
    """Of which releases a bound is true."""
    if result.alphabet == "gaussian":
        return "no method that works from these columns, were they Gaussian,"
    these = "this column" if len(part.columns) == 1 else "these columns"
    if part.reduced:
        return f"no method that works from {these} and releases these combinations only"
    if part.merged:
        return "no method that takes rare combinations for their nearest frequent ones"
    values = len(part.columns) == 1 or part.everything
    if part.hamming and values:
        return f"no method whatsoever that works from {these}"
    what = "values" if values else "combinations"
    return f"no method that works from {these} and releases {what} of the table"


def _far(part: AlphabetResult, at: float) -> str:
    changed = f"at most {percent(min(1.0, at))} of the values changed"
    return changed if part.hamming else f"a distortion of at most {at:g}"


def sentence(part: AlphabetResult, point: TradeoffPoint, result: Limited) -> str:
    """What the limit says, in a sentence."""
    about, whole, tells = secrets(result), "", ""
    first = f"{printable(part.columns[0])}: " if len(result.parts) > 1 else ""
    if part.information is not None:
        bits = significant(part.information.value)
        whole, tells = f"; the table itself {bits}", f" The table tells {bits} bits about {about}."
    if point.objective is None or point.bound is None:
        return f"{first}At {point.at:g} what is disclosed about {about} is unbounded."
    changed, least_changed = (
        percent(x) if part.hamming else significant(x) for x in (point.objective, point.bound)
    )
    what = "changes fewer than {} of the values" if part.hamming else "distorts less than {}"
    return first + SENTENCES[point.model].format(
        far=_far(part, point.at),
        at=f"{point.at:g}",
        none=who(part, result),
        about=about,
        best=significant(point.objective),
        bound=significant(point.bound),
        changed=changed,
        changes=what.format(least_changed),
        whole=whole,
        whole_tells=whole.replace("itself", "itself tells"),
        tells=tells,
    )


def _points(part: AlphabetResult, width: int, everything: bool) -> list[str]:
    what = HEADS.get(part.points[0].model, "disclosed")
    names = ", ".join(printable(c) for c in part.columns)
    if part.values:
        names += f": {plural(part.values, 'combination')}, released as {part.released:,}"
    lines = wrap(f"{names}. Distortion: {part.words}", width, "", "  ")
    at = "at" if part.points[0].model in (1, "identity") else "at, bits"
    unit = "" if what == "distorted" else ", bits"
    head = [at, what + unit, "no less than", "gap", "I(X';Y)", "I(X;X')", "distortion", "epsilon"]
    chosen = _select_points(part.points, everything)
    rows = [
        [
            f"{p.at:.4g}",
            *map(_number, (p.objective, p.bound)),
            "" if p.gap is None else f"{p.gap:.1e}",
            *map(_number, (p.risk, p.identity, p.distortion, p.epsilon)),
        ]
        for p in chosen
    ]
    several = len(part.points) > len(part.requested_points)
    lines += tabulate(
        [head, *rows], ["", *("asked" if p.asked and several else "" for p in chosen)], width
    )
    if late := sum(p.reached is False for p in part.points):
        lines += wrap(
            f"{plural(late, 'point')} stopped before the gap was reached: the truth lies between "
            "the two numbers",
            width,
            "  ",
        )
    if part.recodings[1:]:
        intervals = ", ".join(
            f"{r.intervals}: {significant(r.risk)} at {significant(r.distortion)}"
            for r in part.recodings[1:6]
        )
        lines += wrap(
            f"Best recodings into intervals, bits disclosed at their distortion: {intervals}",
            width,
            "  ",
            "    ",
        )
    return lines


def _select_points(points: Sequence[TradeoffPoint], everything: bool) -> list[TradeoffPoint]:
    if everything or len(points) <= FEW:
        return list(points)
    kept = [p for p in points if p.asked]
    others = [p for p in points if not p.asked]
    step = -(-len(others) // max(1, FEW - len(kept)))
    return sorted([*kept, *others[::step]], key=lambda p: (p.at, not p.asked))


def _number(x: float | None) -> str:
    """A number as the search knows it: what lies beyond its gap is rounding."""
    return "unbounded" if x is None else significant(round(x, 7))


def _channel(part: AlphabetResult, result: Limited, width: int) -> list[str]:
    """What was promised, and what the release that was drawn shows."""
    promise, check, title = part.promise, part.achieved, "The channel"
    if promise is None:
        return []
    risk, distortion = ["", ""], ["", ""]
    if check is not None:
        words = {True: "inside", False: "OUTSIDE"}
        risk = [significant(check.risk.value), words[check.risk_inside]]
        distortion = [significant(check.distortion), words[check.distortion_inside]]
        title += ", and a release drawn from it"
    risk_range, far_range = (
        f"{significant(low)} to {significant(high)}"
        for low, high in (promise.risk_range, promise.distortion_range)
    )
    written = "this release" if result.settings["released"] else "one draw"
    rows = [
        ["", "promised", "95 % of draws", written, ""],
        ["bits about the secret", _number(promise.risk), risk_range, *risk],
        ["distortion", significant(promise.distortion), far_range, *distortion],
    ]
    if check is not None and result.alphabet != "gaussian":
        rows.append(["bits without chance", "", "", significant(check.risk.corrected), ""])
    if len(result.parts) > 1:
        title += f": {printable(part.columns[0])}"
    local = "unbounded" if part.epsilon is None else f"{significant(part.epsilon)} nats"
    return ["", title, *tabulate(rows, width=width), f"  Local epsilon: {local}"]


def _whole(result: Limited, width: int) -> list[str]:
    bits = {
        name: f"{significant(e.value)} bits ({significant(e.corrected)} without chance)"
        for name, e in result.whole.items()
    }
    if "table" not in bits:
        return []
    release = f", the release {bits['release']}" if "release" in bits else ""
    text = (
        f"All columns together: the table tells {bits['table']}{release} about {secrets(result)}."
    )
    return ["", *wrap(text, width, "")]


def _meaning(result: Limited, width: int) -> list[str]:
    text = MEANINGS[result.settings["model"] in CERTAIN] + (
        " I(X';Y): bits told about the secret; I(X;X'): bits told of who is who; both, and epsilon "
        "(nats), are risky when high. Bits are of these records, chance included."
    )
    promises = [p.promise for p in result.parts if p.promise is not None]
    if promises:
        text += (
            f" 95 %: {promises[0].by}, given these records; one in twenty is outside. A draw of "
            "few records tells more than was promised by chance alone: the range has it."
            " Local epsilon: max ln W(x'|x1)/W(x'|x2) of the channel; it is no differential "
            "privacy of the release, since the channel was computed from the same records."
        )
    return wrap(text, width, "  ")
