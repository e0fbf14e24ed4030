"""What coarser columns, or leaving out a column, would do, in people who are alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sievert.charts import Bar, bars
from sievert.charts.captions import caption_bars
from sievert.charts.results import make_unique
from sievert.report.chapters.explain.columns import MOST_ROWS, target
from sievert.report.chapters.explain.view import MOST_SECRETS, ExplanationView, Numbers
from sievert.report.page import Block, Chapter, Grid, Paragraph, Picture
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
    held: Numbers

    @property
    def left(self) -> float:
        """People alone as they are told; fewer than are told count as none."""
        return self.alone.number or 0.0


def remedies(reader: ExplanationView) -> list[Remedy]:
    """Every change that was measured, the one that leaves fewest alone first."""
    found = []
    for column, about in reader.data["columns"].items():
        if len(reader.quasi) > 1:
            name = reader.say("remedy_without", column=reader.called[column])
            found.append(_remedy(reader, name, "without", about["without"]))
        for rung in about.get("coarser") or ():
            (how,) = rung["coarsened"]
            if reader.telling(how):
                found.append(_remedy(reader, reader.coarser(how), "coarser", rung))
    together = reader.data.get("coarser_together")
    if together is not None and all(map(reader.telling, together["coarsened"])):
        name, words = _named(reader, together)
        found.append(Remedy(name, words, "together", reader.alone(together), together))
    return sorted(found, key=lambda r: (r.left, r.name))


def _named(reader: ExplanationView, together: Numbers) -> tuple[str, str]:
    """Several changes by their columns, and in words if they are few."""
    held = together["coarsened"]
    columns = reader.set_of([each["column"] for each in held])
    name = reader.say("remedy_together", columns=columns)
    *others, last = [reader.coarser(each) for each in held]
    if not others or len(held) > FEW:
        return name, name
    return name, reader.say("remedy_all", first=", ".join(others), last=last)


def _remedy(reader: ExplanationView, name: str, kind: str, held: Numbers) -> Remedy:
    return Remedy(name, name, kind, reader.alone(held), held)


def best(reader: ExplanationView, kind: str) -> Remedy | None:
    """The change of a kind that leaves fewest alone, if it is told that it leaves fewer."""
    now = reader.alone(reader.whole).number
    held = [r for r in remedies(reader) if r.kind == kind]
    return held[0] if now is not None and held and held[0].left < now else None


def chapter(reader: ExplanationView) -> Iterator[Chapter]:
    """What would help."""
    held = remedies(reader)
    if not held:
        return
    now = _remedy(reader, reader.say("remedy_now"), "now", reader.whole)
    blocks: list[Block] = [Paragraph(_found(reader))]
    blocks += _drawn(reader, [now, *held[:MOST_REMEDIES]])
    if len(held) > MOST_REMEDIES:
        blocks.append(
            Paragraph(reader.say("rows_first", shown=MOST_REMEDIES, of=len(held)), "note")
        )
    blocks.append(Paragraph(reader.say("remedies_reading"), "reading"))
    yield Chapter(reader.say("remedies_title"), reader.part.anchor("remedies"), tuple(blocks))


def _found(reader: ExplanationView) -> str:
    now = reader.alone(reader.whole)
    if now.number is None or not now.number:
        return reader.say("remedies_none")
    helping = [r for r in (best(reader, k) for k in ("together", "coarser", "without")) if r]
    if not helping:
        return reader.say("remedies_little", now=now)
    most = min(helping, key=lambda r: r.left)
    return reader.say("remedies_best", name=most.words, left=most.alone, now=now)


def _drawn(reader: ExplanationView, held: list[Remedy]) -> Iterator[Block]:
    secrets = reader.secrets[:MOST_SECRETS]
    names = make_unique(r.name for r in held)
    more = ("k_anonymity",) if reader.internal else ()
    head = [reader.say("change"), reader.say("alone"), reader.say("alone_share")]
    head += [reader.say("rate_of_finding")]
    head += [reader.say("rate_of", name=target(reader, s)) for s in secrets]
    head += [reader.say(f"head_{name}") for name in more]
    rows = []
    for name, r in zip(names, held, strict=True):
        numbers = r.held["reidentification"]
        row = [name, str(r.alone), str(reader.of_all(r.alone)), str(reader.rate(numbers, None))]
        row += [str(reader.rate(r.held["inference"][s], s)) for s in secrets]
        row += [str(reader.part.redactor.only_internal(numbers[n])) for n in more]
        rows.append(tuple(row))
    grid = Grid(reader.say("remedies_table"), tuple(head), tuple(rows), tuple(range(1, len(head))))
    said = [reader.of_all(r.alone) for r in held[:MOST_ROWS]]
    if all(s.number is None for s in said):
        yield grid
        return
    below = [reader.say("remedies_below")]
    if len(held) > MOST_ROWS:
        below.append(reader.say("remedies_first", shown=MOST_ROWS - 1))
    marks = [Bar(name, s.number) for name, s in zip(names, said, strict=False)]
    spec = bars(reader.say("remedies_chart"), below, marks, axis=reader.say("alone_share_axis"))
    spec = caption_bars(spec, [s.text for s in said])
    yield Picture(spec, reader.say("remedies_caption"), grid)
