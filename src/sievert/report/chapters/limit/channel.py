"""The channel that reaches a limit: what it promises, and what a release drawn from it shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sievert.charts.drawing import short_name
from sievert.formatting import significant
from sievert.report.chapters.limit.numbers import about, bits, interval, proportion
from sievert.report.chapters.limit.view import LimitView
from sievert.report.page import Block, Chapter, Grid, Link, Paragraph, make_grid
from sievert.report.parts import Data

MOST_VALUES = 12  # of a matrix that is shown
LONGEST = 24  # letters of a value


def sentence(view: LimitView) -> str | None:
    """What a release drawn from the channel tells beside what was promised."""
    drawn = [alphabet.data for alphabet in view.alphabets if alphabet.data.get("achieved")]
    if len(drawn) == 1:
        return _sentence(view, drawn[0])
    key = "limits.all_inside" if view.part.data["channel"]["inside"] else "limits.some_outside"
    return view.part.texts(key) if drawn else None


def _sentence(view: LimitView, data: Data) -> str:
    redactor, achieved = view.redactor, data["achieved"]
    inside = achieved["risk_inside"] and achieved["distortion_inside"]
    released = "_released" if view.part.data["settings"]["released"] else ""
    return view.part.texts(
        f"limits.{'inside' if inside else 'outside'}{released}",
        promised=about(redactor, bits(redactor, data["promised"]["risk"])),
        drawn=about(redactor, bits(redactor, achieved["risk"])),
        secret=view.secret,
    )


def blocks(view: LimitView, number: int) -> Iterator[Chapter]:
    """Promise against release, and for the operator the channel itself."""
    data, texts = view.alphabets[number - 1].data, view.part.texts
    inner: list[Block] = []
    if data.get("promised"):
        lead = [Paragraph(_sentence(view, data), "lead")] if data["achieved"] else []
        reading = Paragraph(texts("limits.promise_reading"), "reading")
        inner += [*lead, _promises(view, data), reading]
    if view.redactor.internal:
        inner += [*_local(view, data), *_matrix(view, data)]
    if inner:
        title = texts("limits.channel_title")
        yield Chapter(title, view.part.anchor(f"channel{number}"), tuple(inner))


def _promises(view: LimitView, data: Data) -> Grid:
    """What was promised, where most draws lie, what one draw shows."""
    texts, redactor = view.part.texts, view.redactor
    promise, achieved = data["promised"], data["achieved"] or {}
    rows: list[tuple[object, ...]] = []
    for what, text in (("risk", bits), ("distortion", proportion)):
        low, high = (text(redactor, end) for end in promise[f"{what}_interval"])
        draw: tuple[object, ...] = ()
        if achieved:
            inside = "inside_word" if achieved[f"{what}_inside"] else "outside_word"
            draw = (text(redactor, achieved[what]), texts(f"limits.{inside}"))
        name = Link(texts(f"limits.row_{what}"), "def-channel")
        rows.append((name, text(redactor, promise[what]), interval(redactor, low, high), *draw))
    if achieved.get("risk_corrected") is not None and not view.gaussian:
        name = Link(texts("limits.row_corrected"), "def-channel")
        rows.append((name, "", "", bits(redactor, achieved["risk_corrected"]), ""))
    head = ("number", "promised", "draws", *(("drawn", "inside") if achieved else ()))
    caption = texts("limits.promise_caption", secret=view.secret)
    right = (1, 2, 3) if achieved else (1, 2)
    return make_grid(caption, texts.each("limits.head", head), rows, right)


# -- for the operator -----------------------------------------------------------------------------


def _local(view: LimitView, data: Data) -> Iterator[Paragraph]:
    if "epsilon" in data:
        epsilon = data["epsilon"]
        key = "limits.epsilon_unbounded" if epsilon is None else "limits.epsilon"
        text = "" if epsilon is None else significant(epsilon)
        yield Paragraph(view.part.texts(key, epsilon=text))


def _matrix(view: LimitView, data: Data) -> Iterator[Block]:
    """The chances by which values are released, where values may be shown and are few."""
    matrix, texts = data.get("matrix"), view.part.texts
    if not matrix:
        return
    if max(len(matrix["values"]), len(matrix["released"])) > MOST_VALUES:
        yield Paragraph(texts("limits.matrix_large"), "note")
        return
    head = (texts("limits.head_true"), *(_value(view, v) for v in matrix["released"]))
    rows = (
        (_value(view, v), *(significant(round(p, 6)) for p in chances))
        for v, chances in zip(matrix["values"], matrix["probabilities"], strict=True)
    )
    yield make_grid(texts("limits.matrix_caption"), head, rows, folded=True)


def _value(view: LimitView, combination: Sequence[str | None]) -> str:
    missing = view.part.texts("limits.missing")
    return ", ".join(missing if v is None else short_name(v, LONGEST) for v in combination)
