"""The chapter of proposed hierarchies: one per column, with its reason."""

from typing import Any

from sievert.commands.hierarchies.result import REASONS, ProposedHierarchies
from sievert.formatting import count
from sievert.report.page import Block, Chapter, Paragraph
from sievert.report.parts import ReportPart


def blocks(part: ReportPart) -> tuple[Block | Chapter, ...]:
    """The table of the columns, and what to do with it."""
    inner = (_columns(part), Paragraph(part.say("reading"), "reading"), Paragraph(part.say("use")))
    return (
        Chapter(title=part.say("title"), anchor=part.anchor("columns"), blocks=inner, screen=True),
    )


def points(part: ReportPart) -> list[tuple[str, str]]:
    """Say how many columns have a hierarchy, and that these are proposals."""
    result = part.read(ProposedHierarchies)
    count = part.writer.count
    values = {"number": count(result.proposed), "columns": count(len(result.columns))}
    return [(part.say("proposals", **values), part.say("decide"))]


def _columns(part: ReportPart) -> Any:
    rows = [
        (
            part.writer.name(name),
            column.text,
            " ".join(part.writer.count(number).text for number in column.labels),
            part.texts(REASONS[column.reason], distinct=count(column.distinct)),
        )
        for name, column in part.read(ProposedHierarchies).columns.items()
    ]
    heads = ("head_column", "head_hierarchy", "head_labels", "head_reason")
    return part.grid("columns_table", heads, rows, ())
