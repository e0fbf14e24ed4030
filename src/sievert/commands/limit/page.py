"""The chapter of a limit: the least that a release must tell, the curve, and a drawn release.

Constraints that were asked for are settings; those of other points follow from the data.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from sievert.charts import tradeoff
from sievert.charts.drawing import short_name
from sievert.charts.risk_utility_map import ASKED, BEST, LEAST, RECODED
from sievert.commands.limit.view import (
    CERTAIN,
    AlphabetTexts,
    CurvePointTexts,
    LimitView,
)
from sievert.formatting import significant
from sievert.report.numbers import (
    bits_text,
    interval_text,
    proportion,
)
from sievert.report.page import Block, Chapter, Grid, Link, Paragraph, Picture
from sievert.report.parts import Data, ReportPart

MOST_PICTURED = 4  # alphabets with a picture
MOST_SHOWN = 12  # points of a curve in the first table
MOST_VALUES = 12  # of a matrix that is shown
LONGEST = 24  # letters of a value
APART = 1e-3  # bits between searches that disagree
# What stands beside the two numbers of each model.
BESIDE: dict[str, tuple[str, ...]] = {
    "1": ("identity",),
    "2": ("identity",),
    "3": ("risk", "distortion"),
    "4": ("risk", "distortion"),
    "funnel": ("distortion",),
    "identity": (),
    "identity_reverse": (),
}


# -- the chapter ----------------------------------------------------------------------------------


def blocks(part: ReportPart) -> tuple[Block | Chapter, ...]:
    """The chapters: the points asked for, then each alphabet with its curve and its channel."""
    view = LimitView(**vars(part))
    inner = [
        *([Paragraph(" ".join(_not_gaussian(view)), "warning")] if view.far_from_gaussian else ()),
        _requested(view),
        *([Paragraph(view.say("columns"))] if len(view.alphabets) > 1 else ()),
        *map(Paragraph, _whole(view)),
    ]
    points = [p.data for alphabet in view.alphabets for p in alphabet.points]
    if late := sum(point["reached"] is False for point in points):
        inner.append(Paragraph(view.say("late" if late > 1 else "late_one", number=late), "note"))
    apart = max((point.get("spread") or 0.0 for point in points), default=0.0)
    if apart > APART:
        inner.append(Paragraph(view.say("apart", bits=view.writer.number(apart)), "warning"))
    main = Chapter(view.say("title"), view.anchor("points"), (*inner, *_meaning(view)), screen=True)
    chapters = (
        Chapter(
            view.say("columns_title", columns=view.writer.names(alphabet.data["columns"])),
            view.anchor(f"columns{number}"),
            tuple(_alphabet(view, number)),
        )
        for number, alphabet in enumerate(view.alphabets, 1)
    )
    return (main, *chapters)


def points(part: ReportPart) -> list[tuple[str, str]]:
    """The least that a release must tell, what a drawn release tells, when this is valid.

    That columns are not what they were taken for stands before all numbers.
    """
    view = LimitView(**vars(part))
    each = (_first(view), _release_sentence(view), (view.say(f"valid_{view.valid}"), ""))
    check = [_not_gaussian(view)] if view.far_from_gaussian else []
    return [*check, *(point for point in each if point is not None)]


# -- sentences ------------------------------------------------------------------------------------


def _not_gaussian(view: LimitView) -> tuple[str, str]:
    """That the check of Gaussian columns failed, for which columns, and what follows."""
    check = view.data["channel"]["normality"]
    far = [column["name"] for column in check["columns"] if not column["near"]]
    which = view.say("not_gaussian_columns", columns=view.writer.names(far)) if far else ""
    return view.say("not_gaussian"), f"{which} {view.say('not_gaussian_means')}".strip()


def _first(view: LimitView) -> tuple[str, str] | None:
    """The points that were asked for, of the columns of which a release must tell most.

    That columns were taken one by one comes first.
    """
    worst = max(
        (alphabet for alphabet in view.alphabets if alphabet.requested_points),
        key=lambda each: each.requested_points[0].numbers["objective"].number or 0.0,
        default=None,
    )
    if worst is None:
        return None
    each = [_sentence(view, worst, p) for p in worst.requested_points]
    texts = [text for text, _ in each] + [each[-1][1]]
    if len(view.alphabets) > 1:
        chosen = view.data["settings"]["alphabet"] == "auto"
        most = view.writer.count(view.data["settings"]["most"])
        key = "one_by_one_many" if chosen else "one_by_one"
        texts.insert(0, view.say(key, column=view.writer.names(worst.data["columns"]), most=most))
    return texts[0], " ".join(filter(None, texts[1:]))


def _sentence(view: LimitView, alphabet: AlphabetTexts, point: CurvePointTexts) -> tuple[str, str]:
    """What the limit says at one point, and what the table itself tells."""
    information = bits_text(view.writer, (alphabet.data["information"] or {}).get("value"))
    values = {
        "columns": view.writer.names(alphabet.data["columns"]),
        "secret": view.secret,
        "at": point.numbers["at"],
        "bound": point.numbers["bound"],
        "best": point.numbers["objective"],
        "table": information,
    }
    if point.unbounded:
        return view.say("unbounded", **values), ""
    changed = view.model in CERTAIN and view.distortion == "hamming"
    text = view.say(f"model_{view.model}{'_changed' if changed else ''}", **values)
    alone = information.number is None or view.model.startswith("identity")
    return text, "" if alone else view.say("table", **values)


def _whole(view: LimitView) -> Iterator[str]:
    """What all columns tell together where each has a channel of its own."""
    whole = view.data["channel"]["whole"]
    values = {
        what: bits_text(view.writer, whole[what]["value"])
        for what in ("table", "release")
        if whole.get(what) is not None
    }
    if "table" in values:
        key = "whole" if "release" in values else "whole_table"
        yield view.say(key, secret=view.secret, **values)


def _meaning(view: LimitView) -> Iterator[Paragraph]:
    valid = f"valid_{view.valid}" if len(view.alphabets) == 1 else "each"
    keys = (valid, "certain" if view.model in CERTAIN else "searched", "average")
    return (Paragraph(view.say(key), "reading") for key in keys)


# -- one alphabet ---------------------------------------------------------------------------------


def _alphabet(view: LimitView, number: int) -> Iterator[Block | Chapter]:
    alphabet, distortion = view.alphabets[number - 1], view.say(f"distortion_{view.distortion}")
    sizes = view.say(
        "sizes", **{k: view.writer.count(alphabet.data[k]) for k in ("values", "released")}
    )
    yield Paragraph(distortion if view.data["settings"]["gaussian"] else f"{sizes} {distortion}")
    if len(alphabet.points) + len(alphabet.recodings) > len(_chosen(alphabet)):
        grid = _grid(view, alphabet)
        spec = _picture(view, alphabet) if number <= MOST_PICTURED else None
        yield grid if spec is None else Picture(spec, view.say("see"), grid)
    yield from _channel(view, number)


def _chosen(alphabet: AlphabetTexts) -> Sequence[CurvePointTexts]:
    """The points that were asked for; of a curve alone some."""
    step = -(-len(alphabet.points) // MOST_SHOWN)
    return alphabet.requested_points or alphabet.points[::step]


def _requested(view: LimitView) -> Grid:
    """The points asked for of every alphabet."""
    more = (*BESIDE[view.model], "gap", "epsilon")
    head = [f"across_{view.model}", f"up_{view.model}", "head_bound"]
    head += [f"head_{what}" for what in more]
    points = [(alphabet, p) for alphabet in view.alphabets for p in _chosen(alphabet)]
    rows = [_point_cells(p, more) for _, p in points]
    if len(view.alphabets) > 1:
        head.insert(0, "head_columns")
        names = (view.writer.names(alphabet.data["columns"]) for alphabet, _ in points)
        rows = [(name, *row) for name, row in zip(names, rows, strict=True)]
    return view.grid("points_caption", head, rows, secret=view.secret)


def _point_cells(point: CurvePointTexts, more: Sequence[str]) -> tuple[object, ...]:
    numbers = point.numbers
    best = Link(str(numbers["objective"]), "def-limit_curve")
    return (numbers["at"], best, *(numbers[what] for what in ("bound", *more)))


def _picture(view: LimitView, alphabet: AlphabetTexts) -> dict[str, Any] | None:
    """The curve; none of a single point."""
    places: dict[tuple[float, float], float | None] = {}
    for p in alphabet.points:
        at, best, bound = (p.numbers[k].number for k in ("at", "objective", "bound"))
        if at is not None and best is not None:
            places.setdefault((at, best), bound)
    if len({at for at, _ in places}) < 2:
        return None
    lines = [
        line
        for (at, best), bound in places.items()
        for line in ((BEST, at, best), *([] if bound is None else [(LEAST, at, bound)]))
    ]
    points = [
        (ASKED, p.numbers["at"], p.numbers["objective"], "") for p in alphabet.requested_points
    ]
    points += [(RECODED, at, best, f" ({n})") for n, at, best in alphabet.recodings]
    return tradeoff(
        view.say("chart", columns=view.writer.names(alphabet.data["columns"])),
        [view.say("below", secret=view.secret)],
        lines,
        [
            (name, at.number, best.number, more)
            for name, at, best, more in points
            if at.number is not None and best.number is not None
        ],
        across=view.say(f"across_{view.model}"),
        up=view.say(f"up_{view.model}"),
    )


def _grid(view: LimitView, alphabet: AlphabetTexts) -> Grid:
    """Points of the curve, as they are drawn."""
    more = (*BESIDE[view.model], "gap", "epsilon")
    head = [f"across_{view.model}", f"up_{view.model}", "head_bound"]
    head += [f"head_{what}" for what in (*more, "what")]
    rows: list[tuple[object, ...]] = [
        (*_point_cells(p, more), view.say("asked") if p.data["asked"] else "")
        for p in alphabet.points
    ]
    rows += [
        (at, best, "", *("" for _ in more), view.say("recoded", intervals=intervals))
        for intervals, at, best in alphabet.recodings
    ]
    right, folded = range(len(head) - 1), len(alphabet.points) > 12
    return view.grid("caption", head, rows, right, folded=folded, secret=view.secret)


# -- the channel that reaches the limit -----------------------------------------------------------


def _release_sentence(view: LimitView) -> tuple[str, str] | None:
    """What a release drawn from the channel tells beside what was promised."""
    drawn = [alphabet.data for alphabet in view.alphabets if alphabet.data.get("achieved")]
    if len(drawn) == 1:
        return _promise_sentence(view, drawn[0])
    key = "all_inside" if view.data["channel"]["inside"] else "some_outside"
    return (view.say(key), "") if drawn else None


def _promise_sentence(view: LimitView, data: Data) -> tuple[str, str]:
    writer, achieved = view.writer, data["achieved"]
    inside = achieved["risk_inside"] and achieved["distortion_inside"]
    written = view.data["settings"]["released"]
    bits = {"promised": data["promised"]["risk"], "drawn": achieved["risk"]}
    values = {k: bits_text(writer, x) for k, x in bits.items()}
    return (
        view.say("released" if written else "drawn", secret=view.secret, **values),
        view.say("draw_inside" if inside else "draw_outside"),
    )


def _channel(view: LimitView, number: int) -> Iterator[Chapter]:
    """Promise against release, and the channel itself."""
    data, inner = view.alphabets[number - 1].data, list[Block]()
    if data.get("promised"):
        if data["achieved"] and len(view.alphabets) > 1:
            inner.append(Paragraph(" ".join(_promise_sentence(view, data)), "lead"))
        reading = view.say("promise_reading", by=view.texts.remark(data["promised"]["interval_by"]))
        inner += [_promises(view, data), Paragraph(reading, "reading")]
    if "epsilon" in data:
        key = "epsilon_unbounded" if data["epsilon"] is None else "epsilon"
        inner.append(Paragraph(view.say(key, epsilon=significant(data["epsilon"] or 0.0))))
    if data.get("matrix"):
        inner.append(_matrix(view, data["matrix"]))
    if inner:
        yield Chapter(view.say("channel_title"), view.anchor(f"channel{number}"), tuple(inner))


def _promises(view: LimitView, data: Data) -> Grid:
    """What was promised, where most draws lie, what one draw shows."""
    writer, promise, achieved = view.writer, data["promised"], data["achieved"] or {}
    rows: list[tuple[object, ...]] = []
    for what, text in (("risk", bits_text), ("distortion", proportion)):
        ends = (text(writer, end) for end in promise[f"{what}_interval"])
        draw: tuple[object, ...] = ()
        if achieved:
            inside = "inside_word" if achieved[f"{what}_inside"] else "outside_word"
            draw = (text(writer, achieved[what]), view.say(inside))
        name = Link(view.say(f"row_{what}"), "def-channel")
        rows.append((name, text(writer, promise[what]), interval_text(writer, *ends), *draw))
    corrected = achieved.get("risk_corrected")
    if corrected is not None and not view.data["settings"]["gaussian"]:
        name = Link(view.say("row_corrected"), "def-channel")
        rows.append((name, "", "", bits_text(writer, corrected), ""))
    head = ["head_number", "head_promised", "head_draws"]
    head += ["head_drawn", "head_inside"] if achieved else []
    right = (1, 2, 3) if achieved else (1, 2)
    return view.grid("promise_caption", head, rows, right, secret=view.secret)


def _matrix(view: LimitView, matrix: Data) -> Block:
    """The chances by which values are released, where values may be shown and are few."""
    if max(len(matrix["values"]), len(matrix["released"])) > MOST_VALUES:
        return Paragraph(view.say("matrix_large"), "note")
    head = (_value(view, v) for v in matrix["released"])
    rows = (
        (_value(view, v), *(significant(round(p, 6)) for p in chances))
        for v, chances in zip(matrix["values"], matrix["probabilities"], strict=True)
    )
    return view.grid("matrix_caption", ["head_true"], rows, folded=True, more=head)


def _value(view: LimitView, combination: Sequence[str | None]) -> str:
    missing = view.say("missing")
    return ", ".join(missing if v is None else short_name(v, LONGEST) for v in combination)
