"""The chapter of a limit: the least that a release must tell, the curve, and a drawn release.

Constraints that were asked for are settings; those of other points follow from the data.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sievert.arrays import Floats
from sievert.charts import tradeoff
from sievert.charts.drawing import short_name
from sievert.charts.risk_utility_map import ASKED, BEST, LEAST, RECODED
from sievert.commands.limit.result import AlphabetResult, ReleaseCheck
from sievert.commands.limit.view import (
    DISTORTIONS,
    AlphabetTexts,
    CurvePointTexts,
    LimitView,
)
from sievert.formatting import significant
from sievert.releases.channels import Promise
from sievert.report.numbers import (
    bits_text,
    interval_text,
    proportion,
)
from sievert.report.page import Block, Chapter, Grid, Link, Paragraph, Picture
from sievert.report.parts import NumberText, NumberWriter, ReportPart

MOST_PICTURED = 4  # alphabets with a picture
MOST_SHOWN = 12  # points of a curve in the first table
MOST_VALUES = 12  # of a matrix that is shown
LONGEST = 24  # letters of a value
APART = 1e-3  # bits between searches that disagree
HEADS = {
    "risk": "head_risk",
    "identity": "head_identity",
    "distortion": "head_distortion",
    "gap": "head_gap",
    "epsilon": "head_epsilon",
}


# -- the chapter ----------------------------------------------------------------------------------


def blocks(part: ReportPart) -> tuple[Block | Chapter, ...]:
    """The chapters: the points asked for, then each alphabet with its curve and its channel."""
    view = LimitView(part)
    inner = [
        *([Paragraph(" ".join(_not_gaussian(view)), "warning")] if view.far_from_gaussian else ()),
        _requested(view),
        *([Paragraph(view.say("columns"))] if len(view.alphabets) > 1 else ()),
        *map(Paragraph, _whole(view)),
    ]
    points = view.result.points
    late = sum(point.reached is False for point in points)
    if late:
        inner.append(Paragraph(view.say("late" if late > 1 else "late_one", number=late), "note"))
    apart = max((point.spread or 0.0 for point in points), default=0.0)
    if apart > APART:
        inner.append(Paragraph(view.say("apart", bits=view.writer.number(apart)), "warning"))
    main = Chapter(
        title=part.say("title"),
        anchor=part.anchor("points"),
        blocks=(*inner, *_meaning(view)),
        screen=True,
    )
    chapters = (
        Chapter(
            title=part.say("columns_title", columns=part.writer.names(alphabet.result.columns)),
            anchor=f"{part.anchor('columns')}{number}",
            blocks=tuple(_alphabet(view, number)),
        )
        for number, alphabet in enumerate(view.alphabets, 1)
    )
    return (main, *chapters)


def points(part: ReportPart) -> list[tuple[str, str]]:
    """The least that a release must tell, what a drawn release tells, when this is valid.

    That columns are not what they were taken for stands before all numbers.
    """
    view = LimitView(part)
    each = (_first(view), _release_sentence(view), (view.say(view.valid), ""))
    check = [_not_gaussian(view)] if view.far_from_gaussian else []
    return [*check, *(point for point in each if point is not None)]


# -- sentences ------------------------------------------------------------------------------------


def _not_gaussian(view: LimitView) -> tuple[str, str]:
    """That the check of Gaussian columns failed, for which columns, and what follows."""
    check = view.result.normality
    far = [] if check is None else [column.name for column in check.columns if not column.near]
    which = view.say("not_gaussian_columns", columns=view.writer.names(far)) if far else ""
    return view.say("not_gaussian"), f"{which} {view.say('not_gaussian_means')}".strip()


def _first(view: LimitView) -> tuple[str, str] | None:
    """The requested points of the columns that a release must tell most about.

    A sentence comes first where columns were taken one by one.
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
        chosen = view.result.settings.alphabet == "auto"
        most = view.writer.count(view.result.settings.most)
        key = "one_by_one_many" if chosen else "one_by_one"
        column = view.writer.names(worst.result.columns)
        texts.insert(0, view.say(key, column=column, most=most))
    return texts[0], " ".join(filter(None, texts[1:]))


def _sentence(view: LimitView, alphabet: AlphabetTexts, point: CurvePointTexts) -> tuple[str, str]:
    """What the limit says at one point, and what the table itself tells."""
    measured = alphabet.result.information
    information = bits_text(view.writer, None if measured is None else measured.value)
    values = {
        "columns": view.writer.names(alphabet.result.columns),
        "secret": view.secret,
        "at": point.numbers["at"],
        "bound": point.numbers["bound"],
        "best": point.numbers["objective"],
        "table": information,
    }
    if point.point.unbounded:
        return view.say("unbounded", **values), ""
    model = view.model
    text = view.say(model.changed if view.distortion == "hamming" else model.sentence, **values)
    alone = information.number is None or view.of_identity
    return text, "" if alone else view.say("table", **values)


def _whole(view: LimitView) -> Iterator[str]:
    """What all columns tell together where each has a channel of its own."""
    whole = view.result.whole
    values = {
        what: bits_text(view.writer, whole[what].value)
        for what in ("table", "release")
        if what in whole
    }
    if "table" in values:
        key = "whole" if "release" in values else "whole_table"
        yield view.say(key, secret=view.secret, **values)


def _meaning(view: LimitView) -> Iterator[Paragraph]:
    valid = view.valid if len(view.alphabets) == 1 else "each"
    keys = (valid, "certain" if view.certain else "searched", "average")
    return (Paragraph(view.say(key), "reading") for key in keys)


# -- one alphabet ---------------------------------------------------------------------------------


def _alphabet(view: LimitView, number: int) -> Iterator[Block | Chapter]:
    alphabet = view.alphabets[number - 1]
    distortion = view.say(DISTORTIONS[view.distortion])
    sizes = view.say(
        "sizes",
        values=view.writer.count(alphabet.result.values),
        released=view.writer.count(alphabet.result.released),
    )
    yield Paragraph(distortion if view.result.settings.gaussian else f"{sizes} {distortion}")
    all_chosen = len(alphabet.points) + len(alphabet.recodings) <= len(_chosen(alphabet))
    if view.part.every_picture or not all_chosen:
        grid = _grid(view, alphabet)
        spec = _picture(view, alphabet) if view.part.pictured(number, MOST_PICTURED) else None
        name = ("limit", *alphabet.result.columns[:3])
        yield (
            grid
            if spec is None
            else Picture(spec=spec, caption=view.say("see"), behind=grid, name=name)
        )
    yield from _channel(view, number)


def _chosen(alphabet: AlphabetTexts) -> Sequence[CurvePointTexts]:
    """The points that were asked for; of a curve alone some."""
    step = -(-len(alphabet.points) // MOST_SHOWN)
    return alphabet.requested_points or alphabet.points[::step]


def _requested(view: LimitView) -> Grid:
    """The points asked for of every alphabet."""
    more = (*view.model.beside, "gap", "epsilon")
    head = [view.model.across, view.model.up, "head_bound", *(HEADS[what] for what in more)]
    points = [(alphabet, p) for alphabet in view.alphabets for p in _chosen(alphabet)]
    rows = [_point_cells(p, more) for _, p in points]
    if len(view.alphabets) > 1:
        head.insert(0, "head_columns")
        names = (view.writer.names(alphabet.result.columns) for alphabet, _ in points)
        rows = [(name, *row) for name, row in zip(names, rows, strict=True)]
    return view.part.grid("points_caption", head, rows, secret=view.secret)


def _point_cells(point: CurvePointTexts, more: Sequence[str]) -> tuple[object, ...]:
    numbers = point.numbers
    best = Link(str(numbers["objective"]), "def-limit_curve")
    return (numbers["at"], best, *(numbers[what] for what in ("bound", *more)))


def _picture(view: LimitView, alphabet: AlphabetTexts) -> dict[str, Any] | None:
    """Draw the curve; on a page none of a single point."""
    places: dict[tuple[float, float], float | None] = {}
    for p in alphabet.points:
        at, best, bound = (p.numbers[k].number for k in ("at", "objective", "bound"))
        if at is not None and best is not None:
            places.setdefault((at, best), bound)
    fewest = 1 if view.part.every_picture else 2
    if len({at for at, _ in places}) < fewest:
        return None
    lines = [
        line
        for (at, best), bound in places.items()
        for line in ((BEST, at, best), *([] if bound is None else [(LEAST, at, bound)]))
    ]
    points = [
        (ASKED, p.numbers["at"], p.numbers["objective"], "") for p in alphabet.requested_points
    ]
    points += [(RECODED, r.at, r.objective, f" ({r.intervals})") for r in alphabet.recodings]
    return tradeoff(
        view.say("chart", columns=view.writer.names(alphabet.result.columns)),
        [view.say("below", secret=view.secret)],
        lines,
        [
            (name, at.number, best.number, more)
            for name, at, best, more in points
            if at.number is not None and best.number is not None
        ],
        across=view.say(view.model.across),
        up=view.say(view.model.up),
    )


def _grid(view: LimitView, alphabet: AlphabetTexts) -> Grid:
    """Points of the curve, as they are drawn."""
    more = (*view.model.beside, "gap", "epsilon")
    head = [view.model.across, view.model.up, "head_bound", *(HEADS[what] for what in more)]
    head.append("head_what")
    rows: list[tuple[object, ...]] = [
        (*_point_cells(p, more), view.say("asked") if p.point.asked else "")
        for p in alphabet.points
    ]
    rows += [
        (r.at, r.objective, "", *("" for _ in more), view.say("recoded", intervals=r.intervals))
        for r in alphabet.recodings
    ]
    right = range(len(head) - 1)
    folded = len(alphabet.points) > MOST_SHOWN
    return view.part.grid("caption", head, rows, right, folded=folded, secret=view.secret)


# -- the channel that reaches the limit -----------------------------------------------------------


def _release_sentence(view: LimitView) -> tuple[str, str] | None:
    """What a release drawn from the channel tells beside what was promised."""
    checks = [(p, p.achieved) for p in view.result.parts if p.achieved is not None]
    if len(checks) == 1:
        return _promise_sentence(view, *checks[0])
    key = "all_inside" if view.result.inside else "some_outside"
    return (view.say(key), "") if checks else None


def _promise_sentence(
    view: LimitView, alphabet: AlphabetResult, achieved: ReleaseCheck
) -> tuple[str, str]:
    promised = None if alphabet.promise is None else alphabet.promise.risk
    return (
        view.say(
            "released" if view.result.settings.released else "drawn",
            secret=view.secret,
            promised=bits_text(view.writer, promised),
            drawn=bits_text(view.writer, achieved.risk.value),
        ),
        view.say("draw_inside" if achieved.inside else "draw_outside"),
    )


def _channel(view: LimitView, number: int) -> Iterator[Chapter]:
    """Promise against release, and the channel itself."""
    alphabet = view.alphabets[number - 1].result
    promise = alphabet.promise
    if promise is None:
        return
    inner: list[Block] = []
    if alphabet.achieved is not None and len(view.alphabets) > 1:
        sentence = _promise_sentence(view, alphabet, alphabet.achieved)
        inner.append(Paragraph(" ".join(sentence), "lead"))
    inner.append(_promises(view, promise, alphabet.achieved))
    reading = view.say("promise_reading", by=view.part.texts.remark(promise.by))
    inner.append(Paragraph(reading, "reading"))
    key = "epsilon_unbounded" if alphabet.epsilon is None else "epsilon"
    inner.append(Paragraph(view.say(key, epsilon=significant(alphabet.epsilon or 0.0))))
    if view.result.shown and alphabet.texts is not None and alphabet.channel is not None:
        inner.append(_matrix(view, *alphabet.texts, alphabet.channel))
    anchor = f"{view.part.anchor('channel')}{number}"
    yield Chapter(title=view.say("channel_title"), anchor=anchor, blocks=tuple(inner))


def _promises(view: LimitView, promise: Promise, achieved: ReleaseCheck | None) -> Grid:
    """What was promised, where most draws lie, what one draw shows."""
    risk: tuple[object, ...] = ()
    distortion: tuple[object, ...] = ()
    if achieved is not None:
        inside = view.say("inside_word" if achieved.risk_inside else "outside_word")
        risk = (bits_text(view.writer, achieved.risk.value), inside)
        inside = view.say("inside_word" if achieved.distortion_inside else "outside_word")
        distortion = (proportion(view.writer, achieved.distortion), inside)
    rows: list[tuple[object, ...]] = [
        (*_promised(view, "row_risk", bits_text, promise.risk, promise.risk_range), *risk),
        (
            *_promised(
                view, "row_distortion", proportion, promise.distortion, promise.distortion_range
            ),
            *distortion,
        ),
    ]
    corrected = None if achieved is None else achieved.risk.corrected
    if corrected is not None and not view.result.settings.gaussian:
        name = Link(view.say("row_corrected"), "def-channel")
        rows.append((name, "", "", bits_text(view.writer, corrected), ""))
    head = ["head_number", "head_promised", "head_draws"]
    head += ["head_drawn", "head_inside"] if achieved is not None else []
    right = (1, 2, 3) if achieved is not None else (1, 2)
    return view.part.grid("promise_caption", head, rows, right, secret=view.secret)


def _promised(
    view: LimitView,
    name: str,
    write: Callable[[NumberWriter, float | None], NumberText],
    promised: float,
    ends: tuple[float, float],
) -> tuple[object, ...]:
    """A number that is promised, with the range of the draws."""
    low, high = (write(view.writer, end) for end in ends)
    return (
        Link(view.say(name), "def-channel"),
        write(view.writer, promised),
        interval_text(view.writer, low, high),
    )


def _matrix(
    view: LimitView,
    values: Sequence[Sequence[str | None]],
    released: Sequence[Sequence[str | None]],
    channel: Floats,
) -> Block:
    """The chances by which values are released, where values may be shown and are few."""
    if max(len(values), len(released)) > MOST_VALUES:
        return Paragraph(view.say("matrix_large"), "note")
    head = (_value(view, v) for v in released)
    rows = (
        (_value(view, v), *(significant(round(p, 6)) for p in chances))
        for v, chances in zip(values, channel.tolist(), strict=True)
    )
    return view.part.grid("matrix_caption", ["head_true"], rows, folded=True, more=head)


def _value(view: LimitView, combination: Sequence[str | None]) -> str:
    missing = view.say("missing")
    return ", ".join(missing if v is None else short_name(v, LONGEST) for v in combination)
