"""The chapter of a protected table: the level of each column, what is lost, and the limits."""

from collections.abc import Iterator
from typing import Any

from sievert.report.chapters.numbers import measure_title
from sievert.report.limits import STATES, asked, limits_of
from sievert.report.page import Block, Chapter, Paragraph
from sievert.report.parts import ReportPart


def blocks(part: ReportPart) -> tuple[Block | Chapter, ...]:
    """The columns, the losses, the limits."""
    if "loss" not in part.data:
        return (Chapter(part.say("title"), part.anchor("columns"), (), screen=True),)
    inner = (_columns(part), *_meaning(part))
    return (
        Chapter(part.say("title"), part.anchor("columns"), inner, screen=True),
        Chapter(part.say("loss_title"), part.anchor("loss"), (_losses(part),), screen=True),
        Chapter(part.say("limits_title"), part.anchor("limits"), (_limits(part),), screen=True),
    )


def points(part: ReportPart) -> list[tuple[str, str]]:
    """What was done to the table, what it has cost, and what the release holds."""
    data, writer = part.data, part.writer
    if "loss" not in data:
        return [(part.say("nothing"), part.say("nothing_why"))]
    changed = [name for name, level in data["levels"].items() if level]
    values = {
        "columns": writer.names(changed),
        "suppressed": writer.count(data["suppressed"]),
        "rows": writer.count(part.rows),
        "classes": writer.count(data["classes"]),
        "loss": writer.share(data["loss"]["generalization_loss"]["arithmetic"]),
        "dropped": writer.names(data["dropped_columns"]),
        "limit": data["unmet"],
    }
    first = part.say("coarser" if changed else "unchanged", **values)
    findings = [(first, part.say("suppressed" if data["suppressed"] else "nobody", **values))]
    findings.append((part.say("lost", **values), part.say("proven" if data["proven"] else "open")))
    if data["unmet"]:
        findings.insert(0, (part.say("unmet", **values), part.say("unmet_why")))
    elif data["dropped_columns"]:
        findings.append((part.say("holds"), part.say("dropped", **values)))
    return findings[:3]


def _columns(part: ReportPart) -> Any:
    rows = [
        (
            part.writer.name(name),
            part.say("level", level=column["level"], height=column["height"]),
            part.writer.count(column["labels"]),
            column["hierarchy"] or "",
        )
        for name, column in part.data["columns"].items()
    ]
    return part.grid(
        "columns_table", ("head_column", "head_level", "head_labels", "head_hierarchy"), rows
    )


def _meaning(part: ReportPart) -> Iterator[Paragraph]:
    yield Paragraph(part.say("reading"), "reading")
    yield Paragraph(part.say("checked" if part.data["released"] else "unwritten"), "note")


def _losses(part: ReportPart) -> Any:
    loss, writer = part.data["loss"], part.writer
    rows: list[tuple[object, object]] = [
        (part.say("arithmetic"), writer.share(loss["generalization_loss"]["arithmetic"])),
        (part.say("geometric"), writer.number(loss["generalization_loss"]["geometric"])),
        (part.say("penalty"), writer.share(loss["certainty_penalty"])),
        (part.say("entropy"), writer.number(loss["entropy"])),
        (part.say("discernability"), writer.count(loss["discernability"])),
    ]
    rows += [
        (part.say("bits", secret=writer.name(secret)), writer.number(bits))
        for secret, bits in loss["bits"].items()
    ]
    minimised = part.say(f"minimised_{part.data['minimised']}")
    return part.grid("loss_table", ("head_loss", "head_value"), rows, minimised=minimised)


def _limits(part: ReportPart) -> Any:
    rows = [
        (
            part.texts(f"front.{STATES[limit['met']]}"),
            measure_title(part.texts, limit["measure"]),
            part.writer.name(limit["where"].partition(".")[2]) or part.say("finding"),
            part.writer.number(limit["value"]),
            asked(part.texts, limit),
        )
        for limit in limits_of(part.data)
    ]
    heads = ("head_verdict", "head_measure", "head_where", "head_value", "head_limit")
    return part.grid("limits_table", heads, rows)
