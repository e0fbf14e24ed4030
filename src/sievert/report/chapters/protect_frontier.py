"""The chapter of the frontier: all recodings that no other one is better than, drawn and listed."""

from collections.abc import Iterator

from sievert.charts.frontier import frontier_chart, frontier_dots
from sievert.report.page import Chapter, Paragraph, Picture
from sievert.report.parts import Data, ReportPart

MOST_OPEN = 12  # rows of the table that are not folded


def frontier_chapters(part: ReportPart) -> Iterator[Chapter]:
    """The chapter; none without a frontier."""
    points = part.data.get("frontier")
    if not points:
        return
    secret = part.data["frontier_secret"]
    name = part.writer.name(secret) if secret else part.say(f"minimised_{part.data['minimised']}")
    rows = [_row(part, p) for p in points]
    heads = ("disclosed", "lost", "suppressed", "classes", "levels", "verdict")
    grid = part.grid(
        "frontier_table",
        [f"head_frontier_{head}" for head in heads],
        rows,
        range(4),
        folded=len(rows) > MOST_OPEN,
        columns=part.writer.names(points[0]["levels"]),
        lost=name,
    )
    spec = frontier_chart(
        part.say("frontier_chart", lost=name),
        [part.say("frontier_below")],
        frontier_dots(points),
        across=part.say("frontier_across", lost=name),
        up=part.say("frontier_up"),
    )
    number = {key: part.writer.count(sum(p[key] for p in points)) for key in ("meets", "optimal")}
    blocks = (
        Paragraph(part.say("frontier_reading", **number), "lead"),
        Picture(spec, part.say("frontier_see"), grid, screen=True),
    )
    yield Chapter(part.say("frontier_title"), part.anchor("frontier"), blocks, screen=True)


def _row(part: ReportPart, point: Data) -> tuple[object, ...]:
    writer = part.writer
    verdict = "chosen" if point["chosen"] else "meets" if point["meets"] else "breaks"
    return (
        writer.number(point["disclosed"]),
        writer.number(point["lost"]),
        writer.count(point["suppressed"]),
        writer.count(point["classes"]),
        ", ".join(map(str, point["levels"].values())),
        part.say(f"frontier_{verdict}"),
    )
