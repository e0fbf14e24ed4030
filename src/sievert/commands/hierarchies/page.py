"""The chapter of proposed hierarchies: one per column, with its reason."""

from typing import Any

from sievert.formatting import count
from sievert.report.page import Block, Chapter, Paragraph
from sievert.report.parts import ReportPart


def blocks(part: ReportPart) -> tuple[Block | Chapter, ...]:
    """The table of the columns, and what to do with it."""
    inner = (_columns(part), Paragraph(part.say("reading"), "reading"), Paragraph(part.say("use")))
    return (Chapter(part.say("title"), part.anchor("columns"), inner, screen=True),)


def points(part: ReportPart) -> list[tuple[str, str]]:
    """How many columns have a hierarchy, and that they are proposals."""
    proposals = part.data["proposals"]
    number = sum(entry["reason"] != "given" for entry in proposals.values())
    values = {"number": part.writer.count(number), "columns": part.writer.count(len(proposals))}
    return [(part.say("proposals", **values), part.say("decide"))]


def _columns(part: ReportPart) -> Any:
    rows = [
        (
            part.writer.name(name),
            entry["hierarchy"],
            " ".join(part.writer.count(number).text for number in entry["labels"]),
            part.say(entry["reason"], distinct=count(entry["distinct"])),
        )
        for name, entry in part.data["proposals"].items()
    ]
    heads = ("head_column", "head_hierarchy", "head_labels", "head_reason")
    return part.grid("columns_table", heads, rows, ())
