"""The chapter of the frontier: all recodings that no other one is better than, drawn and listed."""

from collections.abc import Iterator
from functools import partial

from sievert.charts.frontier import frontier_chart, frontier_dots, least_points
from sievert.report.page import Block, Chapter, Paragraph, Picture
from sievert.report.parts import Data, ReportPart

MOST_OPEN = 12  # rows of the table that are not folded


def frontier_chapters(part: ReportPart) -> Iterator[Chapter]:
    """The chapter; none without a frontier."""
    points = part.data.get("frontier")
    if not points:
        return
    secret = part.data["frontier_secret"]
    name = part.writer.name(secret) if secret else part.say(f"minimised_{part.data['minimised']}")
    given = part.data.get("frontier_beside") or ()
    rows = [*map(partial(_given_row, part), given), *map(partial(_row, part), points)]
    heads = ("disclosed", "lost", "gap", "suppressed", "classes", "levels", "verdict")
    grid = part.grid(
        "frontier_table",
        [f"head_frontier_{head}" for head in heads],
        rows,
        range(5),
        folded=len(rows) > MOST_OPEN,
        columns=part.writer.names(points[0]["levels"]),
        lost=name,
    )
    spec = frontier_chart(
        part.say("frontier_chart", lost=name),
        [part.say("frontier_below")],
        frontier_dots(part.data),
        least=least_points(part.data),
        across=part.say("frontier_across", lost=name),
        up=part.say("frontier_up"),
    )
    number = {key: part.writer.count(sum(p[key] for p in points)) for key in ("meets", "optimal")}
    blocks: tuple[Block, ...] = (
        Paragraph(part.say("frontier_reading", **number), "lead"),
        *_limit(part),
        Picture(spec, part.say("frontier_see"), grid, screen=True),
    )
    yield Chapter(part.say("frontier_title"), part.anchor("frontier"), blocks, screen=True)


def _limit(part: ReportPart) -> Iterator[Paragraph]:
    """Of which alphabet the curve is, and how far the chosen release is from it."""
    limit, chosen = part.data.get("frontier_limit"), part.data["frontier"]
    if not limit:
        return
    coarser = [name for name, level in limit["levels"].items() if level]
    words = {"columns": part.writer.names(coarser), "lost": part.writer.number(limit["lost"])}
    words["combinations"] = part.writer.count(limit["combinations"])
    text = part.say("frontier_limit_coarser" if coarser else "frontier_limit", **words)
    gap = next((p["gap"] for p in chosen if p["chosen"] and p["gap"] is not None), None)
    if gap is not None:
        text = f"{text} {part.say('frontier_gap', gap=part.writer.number(gap))}"
    yield Paragraph(text, "note")


def _given_row(part: ReportPart, release: Data) -> tuple[object, ...]:
    writer = part.writer
    return (
        writer.number(release["disclosed"]),
        writer.number(release["lost"]),
        _gap(part, release),
        "",
        writer.count(release["classes"]),
        "",
        part.say("frontier_given", name=release["name"]),
    )


def _gap(part: ReportPart, point: Data) -> object:
    return "" if point.get("gap") is None else part.writer.number(point["gap"])


def _row(part: ReportPart, point: Data) -> tuple[object, ...]:
    writer = part.writer
    verdict = "chosen" if point["chosen"] else "meets" if point["meets"] else "breaks"
    return (
        writer.number(point["disclosed"]),
        writer.number(point["lost"]),
        _gap(part, point),
        writer.count(point["suppressed"]),
        writer.count(point["classes"]),
        ", ".join(map(str, point["levels"].values())),
        part.say(f"frontier_{verdict}"),
    )
