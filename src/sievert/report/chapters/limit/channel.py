"""The channel that reaches a limit: what it promises, and what a release drawn from it shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sievert.formatting import printable, significant
from sievert.report.chapters.limit.numbers import about, bits, interval, proportion
from sievert.report.chapters.limit.view import AlphabetTexts, LimitView
from sievert.report.page import Cell, Chapter, Grid, Link, Paragraph
from sievert.report.redaction import NumberText

MOST_VALUES = 12  # of a matrix that is shown
LONGEST = 24  # letters of a value

Data = Mapping[str, Any]


def sentence(view: LimitView) -> str | None:
    """What a release drawn from the channel tells beside what was promised."""
    held = [c for c in view.columns if c.data.get("achieved")]
    if not held:
        return None
    if len(held) > 1:
        key = "limits.all_inside" if view.part.data["channel"]["inside"] else "limits.some_outside"
        return view.part.texts(key)
    return _said(view, held[0].data)


def _said(view: LimitView, data: Data) -> str:
    redactor, done = view.redactor, data["achieved"]
    key = "limits.inside" if done["risk_inside"] and done["distortion_inside"] else "limits.outside"
    if view.part.data["settings"]["released"]:
        key += "_released"
    return view.part.texts(
        key,
        promised=about(redactor, bits(redactor, data["promised"]["risk"])),
        drawn=about(redactor, bits(redactor, done["risk"])),
        secret=view.secret,
    )


def blocks(view: LimitView, held: AlphabetTexts) -> list[Any]:
    """Promise against release, and for the operator the channel itself."""
    data, texts = held.data, view.part.texts
    found: list[Any] = []
    if data.get("promised"):
        if data["achieved"]:
            found.append(Paragraph(_said(view, data), "lead"))
        found += [_promised(view, data), Paragraph(texts("limits.promise_reading"), "reading")]
    if view.redactor.internal:
        found += _local(view, data) + _matrix(view, data)
    if not found:
        return []
    number = view.columns.index(held) + 1
    return [
        Chapter(texts("limits.channel_title"), view.part.anchor(f"channel{number}"), tuple(found))
    ]


def _promised(view: LimitView, data: Data) -> Grid:
    """What was promised, where most draws lie, what one draw shows."""
    texts, redactor = view.part.texts, view.redactor
    promise, done = data["promised"], data["achieved"] or {}
    rows: list[tuple[Cell, ...]] = []
    for what, told in (("risk", bits), ("distortion", proportion)):
        low, high = (told(redactor, end) for end in promise[f"{what}_interval"])
        row: list[Cell] = [
            Link(texts(f"limits.row_{what}"), "def-channel"),
            str(told(redactor, promise[what])),
            interval(redactor, low, high),
        ]
        if done:
            inside = "inside_word" if done[f"{what}_inside"] else "outside_word"
            row += [str(told(redactor, done[what])), texts(f"limits.{inside}")]
        rows.append(tuple(row))
    if done and done.get("risk_corrected") is not None and not view.gaussian:
        name = Link(texts("limits.row_corrected"), "def-channel")
        rows.append((name, "", "", str(bits(redactor, done["risk_corrected"])), ""))
    head = ["head_number", "head_promised", "head_draws"]
    head += ["head_drawn", "head_inside"] if done else []
    return Grid(
        texts("limits.promise_caption", secret=view.secret),
        tuple(texts(f"limits.{h}") for h in head),
        tuple(rows),
        (1, 2, 3) if done else (1, 2),
    )


# -- for the operator -----------------------------------------------------------------------------


def _local(view: LimitView, data: Data) -> list[Paragraph]:
    if "epsilon" not in data:
        return []
    epsilon = data["epsilon"]
    if epsilon is None:
        return [Paragraph(view.part.texts("limits.epsilon_unbounded"))]
    return [Paragraph(view.part.texts("limits.epsilon", epsilon=significant(epsilon)))]


def _matrix(view: LimitView, data: Data) -> list[Grid | Paragraph]:
    """The chances by which values are released, where values may be shown and are few."""
    held, texts = data.get("matrix"), view.part.texts
    if not held:
        return []
    if max(len(held["values"]), len(held["released"])) > MOST_VALUES:
        return [Paragraph(texts("limits.matrix_large"), "note")]
    head = (texts("limits.head_true"), *(_value(view, v) for v in held["released"]))
    rows = tuple(
        (_value(view, v), *(_chance(p).text for p in chances))
        for v, chances in zip(held["values"], held["probabilities"], strict=True)
    )
    right = tuple(range(1, len(head)))
    return [Grid(texts("limits.matrix_caption"), head, rows, right, folded=True)]


def _chance(chance: float) -> NumberText:
    return NumberText(significant(round(chance, 6)), chance)


def _value(view: LimitView, combination: Any) -> str:
    parts = [view.part.texts("limits.missing") if v is None else _cut(v) for v in combination]
    return ", ".join(parts)


def _cut(text: str) -> str:
    text = printable(text[: LONGEST + 1])
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
