"""Every column as the secret, given the others: what could be worked out, to choose roles from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sievert.charts import Bar, bars
from sievert.charts.captions import caption_bars
from sievert.charts.results import make_unique
from sievert.report.chapters.explain.columns import MOST_ROWS
from sievert.report.chapters.explain.view import level, rank, term
from sievert.report.page import Block, Cell, Grid, Paragraph, Picture
from sievert.report.parts import ReportPart
from sievert.report.redaction import NumberText

MOST_LISTED = 60


def ranked(part: ReportPart) -> list[tuple[str, NumberText, Mapping[str, Any]]]:
    """Columns with their told rates, the highest first."""
    held: Sequence[Mapping[str, Any]] = part.data["ranking"]
    names = make_unique(part.redactor.name(entry["column"]) for entry in held)
    found = [(name, _rate(part, entry), entry) for name, entry in zip(names, held, strict=True)]
    return sorted(found, key=lambda each: (-rank(part.redactor, each[1]), each[0]))


def _rate(part: ReportPart, entry: Mapping[str, Any]) -> NumberText:
    value = entry["as_target"]["discrimination_rate"]
    if value is None and not part.redactor.internal:  # that all are alike is not told
        return part.redactor.withheld()
    return part.redactor.rate(value, of=_weight(part, entry))


def _weight(part: ReportPart, entry: Mapping[str, Any]) -> int:
    """So many records a rate rests on: fewer where less than a bit is to be learned."""
    return max(1, int(part.redactor.rows * min(1.0, entry["entropy"])))


def blocks(part: ReportPart) -> Iterator[Block]:
    """What the other columns tell of each."""
    held = ranked(part)
    if not held:
        yield Paragraph(part.texts("explained.ranking_none"), "note")
        return
    yield Paragraph(sentence(part, held) or part.texts("explained.ranking_found"), "lead")
    grid = _grid(part, held[:MOST_LISTED])
    drawn = [(name, said) for name, said, _ in held[:MOST_ROWS]]
    if any(level(part.redactor, said) is not None for _, said in drawn):
        below = [part.texts("explained.ranking_below")]
        if len(held) > MOST_ROWS:
            below.append(part.texts("explained.rows_first", shown=MOST_ROWS, of=len(held)))
        spec = bars(
            part.texts("explained.ranking_chart"),
            below,
            [Bar(name, level(part.redactor, said)) for name, said in drawn],
            axis=part.texts("explained.rate_axis"),
        )
        spec = caption_bars(spec, [said.text for _, said in drawn])
        yield Picture(spec, part.texts("explained.ranking_caption"), grid)
    else:
        yield grid
    if len(held) > MOST_LISTED:
        yield Paragraph(part.texts("explained.rows_first", shown=MOST_LISTED, of=len(held)), "note")
    yield Paragraph(part.texts("explained.ranking_reading"), "reading")


def sentence(
    part: ReportPart, held: Sequence[tuple[str, NumberText, Mapping[str, Any]]]
) -> str | None:
    """Which column can be worked out best."""
    if not held or not rank(part.redactor, held[0][1]):
        return None
    name, said, _ = held[0]
    alike = [each for each in held if each[1].text == said.text]
    if len(alike) > 1:
        return part.texts("explained.ranking_many", number=len(alike), rate=said)
    return part.texts("explained.ranking_most", column=name, rate=said)


def _grid(part: ReportPart, held: Sequence[tuple[str, NumberText, Mapping[str, Any]]]) -> Grid:
    redactor, rows = part.redactor, []
    for name, said, entry in held:
        most = entry["told_most_by"]
        by, alone = "", redactor.count(entry["as_key"]["unique_count"])
        if most is not None:
            rate = redactor.rate(most["discrimination_rate"], of=_weight(part, entry))
            if level(redactor, rate):
                by = part.texts(
                    "explained.ranking_by", column=redactor.name(most["column"]), rate=rate
                )
        row: list[Cell] = [name, str(said), by, str(alone)]
        if redactor.internal:
            row.append(str(redactor.count(entry["values"])))
            row.append(str(redactor.only_internal(entry["as_target"]["itpr_unnormalized"])))
        rows.append(tuple(row))
    keys = ["column", "rate", "mostly_by", "alone_by_it"]
    keys += ["values", "head_itpr_unnormalized"] if redactor.internal else []
    head = tuple(part.texts(f"explained.{key}") for key in keys)
    right = (1, 3, 4, 5) if redactor.internal else (1, 3)
    return Grid(part.texts("explained.ranking_table"), head, tuple(rows), right)


def link(part: ReportPart) -> Grid:
    """The word that a ranking rests on."""
    cell = term(part.texts("explained.term_rate"), "discrimination_rate")
    head = (part.texts("explained.word"), part.texts("explained.meaning"))
    rows = ((cell, part.texts("explained.term_rate_says")),)
    return Grid(part.texts("explained.words_table"), head, rows)
