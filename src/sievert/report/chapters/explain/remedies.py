"""What coarser columns, or leaving out a column, would do, in people who are alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sievert.charts import Bar
from sievert.charts.results import make_unique
from sievert.report.chapters.explain.view import MOST_ROWS, ExplanationView, captioned_bars
from sievert.report.page import Block, Chapter, Paragraph, make_grid
from sievert.report.parts import Data
from sievert.report.redaction import NumberText

MOST_REMEDIES = 40
FEW = 3  # changes together that are named one by one


@dataclass(frozen=True)
class Remedy:
    """One change of the table: its name in a table, in words, and what it would leave."""

    name: str
    words: str
    kind: str  # without, coarser, together
    alone: NumberText
    data: Data

    @property
    def left(self) -> float:
        """People alone as they are told; fewer than are told count as none."""
        return self.alone.number or 0.0


def remedies(view: ExplanationView) -> list[Remedy]:
    """Every change that was measured, the one that leaves fewest alone first."""
    changes = []
    for column, about in view.data["columns"].items():
        if len(view.quasi) > 1:
            name = view.say("remedy_without", column=view.column_names[column])
            changes.append((name, name, "without", about["without"]))
        for level in about.get("coarser") or ():
            (how,) = level["coarsened"]
            if view.telling(how):
                changes.append((view.coarser(how), view.coarser(how), "coarser", level))
    together = view.data.get("coarser_together")
    if together is not None and all(map(view.telling, together["coarsened"])):
        changes.append((*_together(view, together["coarsened"]), "together", together))
    each = (Remedy(n, words, k, view.alone(data), data) for n, words, k, data in changes)
    return sorted(each, key=lambda r: (r.left, r.name))


def _together(view: ExplanationView, changes: Sequence[Data]) -> tuple[str, str]:
    """Several changes by their columns, and in words if they are few."""
    name = view.say("remedy_together", columns=view.set_of([each["column"] for each in changes]))
    *others, last = map(view.coarser, changes)
    if not others or len(changes) > FEW:
        return name, name
    return name, view.say("remedy_all", first=", ".join(others), last=last)


def best(view: ExplanationView, kind: str) -> Remedy | None:
    """The change of a kind that leaves fewest alone, if it is told that it leaves fewer."""
    now = view.alone(view.whole).number
    first = next((r for r in remedies(view) if r.kind == kind), None)
    return first if now is not None and first is not None and first.left < now else None


def chapter(view: ExplanationView) -> Iterator[Chapter]:
    """What would help."""
    changes = remedies(view)
    if not changes:
        return
    name, left = view.say("remedy_now"), view.rows_first(MOST_REMEDIES, len(changes))
    now = Remedy(name, name, "now", view.alone(view.whole), view.whole)
    blocks = (
        Paragraph(_sentence(view)),
        _bars(view, [now, *changes[:MOST_REMEDIES]]),
        *([Paragraph(left, "note")] if left else ()),
        Paragraph(view.say("remedies_reading"), "reading"),
    )
    yield Chapter(view.say("remedies_title"), view.part.anchor("remedies"), blocks)


def _sentence(view: ExplanationView) -> str:
    now = view.alone(view.whole)
    if not now.number:
        return view.say("remedies_none")
    helping = [r for r in (best(view, k) for k in ("together", "coarser", "without")) if r]
    if not helping:
        return view.say("remedies_little", now=now)
    most = min(helping, key=lambda r: r.left)
    return view.say("remedies_best", name=most.words, left=most.alone, now=now)


def _bars(view: ExplanationView, changes: list[Remedy]) -> Block:
    names, more = make_unique(r.name for r in changes), ("k_anonymity",) if view.internal else ()
    rows = [
        (name, r.alone, view.of_all(r.alone), *view.rates(r.data, more))
        for name, r in zip(names, changes, strict=True)
    ]
    head = [*(view.say(k) for k in ("change", "alone", "alone_share")), *view.rate_heads(more)]
    grid = make_grid(view.say("remedies_table"), head, rows)
    shares = [(name, view.of_all(r.alone)) for name, r in zip(names, changes, strict=True)]
    marks = [(Bar(name, share.number), share) for name, share in shares[:MOST_ROWS]]
    left = len(changes) > MOST_ROWS
    first = view.say("remedies_first", shown=MOST_ROWS - 1) if left else ""
    return captioned_bars(view.say, "remedies", marks, grid, axis="alone_share_axis", more=first)
