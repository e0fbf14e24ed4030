"""Every column as the secret, given the others: what could be worked out, to choose roles from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sievert.charts import Bar
from sievert.charts.results import make_unique
from sievert.report.chapters.explain.view import MOST_ROWS, captioned_bars, level, rank
from sievert.report.page import Block, Grid, Paragraph, make_grid
from sievert.report.parts import Data, ReportPart
from sievert.report.redaction import NumberText

MOST_LISTED = 60


def rank_columns(part: ReportPart) -> list[tuple[str, NumberText, Data]]:
    """Columns with their told rates, the highest first."""
    entries: Sequence[Data] = part.data["ranking"]
    names = make_unique(part.redactor.name(entry["column"]) for entry in entries)
    rates = [(name, _rate(part, entry), entry) for name, entry in zip(names, entries, strict=True)]
    return sorted(rates, key=lambda each: (-rank(part.redactor, each[1]), each[0]))


def _rate(part: ReportPart, entry: Data) -> NumberText:
    value = entry["as_target"]["discrimination_rate"]
    if value is None and not part.redactor.internal:  # that all are alike is not told
        return part.redactor.withheld()
    return part.redactor.rate(value, of=_weight(part, entry))


def _weight(part: ReportPart, entry: Data) -> int:
    """So many records a rate rests on: fewer where less than a bit is to be learned."""
    return max(1, int(part.redactor.rows * min(1.0, entry["entropy"])))


def blocks(part: ReportPart) -> Iterator[Block]:
    """What the other columns tell of each."""
    columns = rank_columns(part)

    def say(key: str, /, **values: object) -> str:
        return part.texts(f"explained.{key}", **values)

    if not columns:
        yield Paragraph(say("ranking_none"), "note")
        return
    yield Paragraph(sentence(part, columns) or say("ranking_found"), "lead")
    marks = [(Bar(name, level(part.redactor, rate)), rate) for name, rate, _ in columns[:MOST_ROWS]]
    left = len(columns) > MOST_ROWS
    more = say("rows_first", shown=MOST_ROWS, of=len(columns)) if left else ""
    grid = _grid(part, columns[:MOST_LISTED])
    yield captioned_bars(say, "ranking", marks, grid, axis="rate_axis", more=more)
    if len(columns) > MOST_LISTED:
        yield Paragraph(say("rows_first", shown=MOST_LISTED, of=len(columns)), "note")
    yield Paragraph(say("ranking_reading"), "reading")


def sentence(part: ReportPart, columns: Sequence[tuple[str, NumberText, Data]]) -> str | None:
    """Which column can be worked out best."""
    if not columns or not rank(part.redactor, columns[0][1]):
        return None
    name, said, _ = columns[0]
    alike = [each for each in columns if each[1].text == said.text]
    if len(alike) > 1:
        return part.texts("explained.ranking_many", number=len(alike), rate=said)
    return part.texts("explained.ranking_most", column=name, rate=said)


def _grid(part: ReportPart, columns: Sequence[tuple[str, NumberText, Data]]) -> Grid:
    redactor, rows = part.redactor, []
    for name, text, entry in columns:
        most, by = entry["told_most_by"], ""
        if most is not None:
            rate = redactor.rate(most["discrimination_rate"], of=_weight(part, entry))
            if level(redactor, rate):
                column = redactor.name(most["column"])
                by = part.texts("explained.ranking_by", column=column, rate=rate)
        row: list[object] = [name, text, by, redactor.count(entry["as_key"]["unique_count"])]
        if redactor.internal:
            row.append(redactor.count(entry["values"]))
            row.append(redactor.only_internal(entry["as_target"]["itpr_unnormalized"]))
        rows.append(row)
    more = ("values", "head_itpr_unnormalized") if redactor.internal else ()
    head = part.texts.each("explained", ("column", "rate", "mostly_by", "alone_by_it", *more), ".")
    right = (1, 3, 4, 5) if redactor.internal else (1, 3)
    return make_grid(part.texts("explained.ranking_table"), head, rows, right)
