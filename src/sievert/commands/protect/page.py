"""The chapter of a protected table: levels of columns, what is lost, the limits, the frontier."""

from collections.abc import Iterator
from functools import partial
from pathlib import PurePath
from typing import Any

from sievert.commands.protect.frontier_chart import frontier_chart, frontier_dots, least_points
from sievert.formatting.loss_names import WRITTEN
from sievert.report.limits import limits_chapter
from sievert.report.page import Block, Chapter, Paragraph, Picture
from sievert.report.parts import Data, ReportPart

MOST_OPEN = 12  # rows of the table of the frontier that are not folded
FILES = (".csv", ".toml", ".json")  # of hierarchies
FRONTIER_HEADS = (
    *("head_frontier_disclosed", "head_frontier_lost", "head_frontier_gap"),
    *("head_frontier_suppressed", "head_frontier_classes", "head_frontier_levels"),
    "head_frontier_verdict",
)
SHARES = {  # among what a method says of itself and has lost
    *("share_suppressed", "changed_share", "changed_cells", "unlinked", "fraction", "records"),
    *("attacker_accuracy", "attacker_accuracy_low", "attacker_accuracy_high", "learner_accuracy"),
}


def blocks(part: ReportPart) -> tuple[Block | Chapter, ...]:
    """The columns, the losses, the limits."""
    if "loss" not in part.data:
        first = Chapter(part.say("title"), part.anchor("columns"), (), screen=True)
        return (first, *frontier_chapters(part))
    if "details" in part.data:
        inner: tuple[Block, ...] = (_details(part), *_meaning(part, "when"))
    else:
        inner = (_columns(part), *_meaning(part, "reading"))
    return (
        Chapter(part.say("title"), part.anchor("columns"), inner, screen=True),
        _loss_chapter(part),
        *limits_chapter(part),
        *frontier_chapters(part),
    )


def _loss_chapter(part: ReportPart) -> Chapter:
    """What the release has lost; its title is the share of the detail, where that is known."""
    topic, loss = part.say("loss_title"), part.data["loss"].get("generalization_loss")
    title = part.say("loss_share", loss=part.writer.share(loss["arithmetic"])) if loss else topic
    return Chapter(title, part.anchor("loss"), (_losses(part),), screen=True, topic=topic)


def points(part: ReportPart) -> list[tuple[str, str]]:
    """What was done to the table, what it has cost, and what the release holds."""
    data, writer = part.data, part.writer
    if "loss" not in data:
        if data.get("stopped"):
            return [(part.say("stopped"), part.say("stopped_why"))]
        return [(part.say("nothing"), part.say("nothing_why"))]
    if "details" in data:
        return _method_points(part)
    one_label = [name for name, c in data["columns"].items() if c["level"] and c["labels"] == 1]
    changed = [n for n, level in data["levels"].items() if level and n not in one_label]
    values = {
        "columns": writer.names(changed),
        "gone": writer.names(one_label),
        "suppressed": writer.count(data["suppressed"]),
        "rows": writer.count(part.rows),
        "classes": part.texts.number_of(data["classes"], "class"),
        "loss": writer.share(data["loss"]["generalization_loss"]["arithmetic"]),
        "dropped": writer.names(data["dropped_columns"]),
        "limit": data["unmet"],
        "bound": writer.number(data["bound"]),
        "minimised": part.say(f"minimised_{data['minimised']}"),
        "floor": ", ".join(f"{writer.name(c)} {n}" for c, n in data.get("floor", {}).items()),
    }
    said = [key for key, names in (("coarser", changed), ("gone", one_label)) if names]
    first = " ".join(part.say(key, **values) for key in said or ["unchanged"])
    gone = "suppressed_dropped" if data.get("suppressed_rows") == "dropped" else "suppressed"
    findings = [(first, part.say(gone if data["suppressed"] else "nobody", **values))]
    proven = "above_floor" if "floor" in data else "proven"
    why = proven if data["proven"] else "open" if data["evaluated"] else "given"
    why = "nearest" if data["unmet"] else why
    findings.append((part.say("lost", **values), part.say(why, **values)))
    if data["unmet"]:
        findings.insert(0, (part.say("unmet", **values), part.say("unmet_why", **values)))
    elif data["dropped_columns"]:
        findings.append((_holds(part), part.say("dropped", **values)))
    return findings[:3]


def _holds(part: ReportPart) -> str:
    """What the release holds: columns that were kept are not measured."""
    data, roles = part.data, part.data["roles"]
    measured = {*roles["quasi"], *roles["sensitive"]}
    kept = data["table"]["columns"] - len(data["dropped_columns"]) - len(measured)
    return part.say("holds" if kept <= 0 else "holds_more")


def _method_points(part: ReportPart) -> list[tuple[str, str]]:
    """What a method that changes records has done, and what the release holds."""
    data, how = part.data, part.data["how"]
    findings = [(part.say(f"how_{how}"), part.say(f"when_{how}"))]
    if not data["policy"]["met"]:
        findings.append((part.say("not_released"), part.say("not_released_why")))
    if columns := data["dropped_columns"]:
        findings.append((_holds(part), part.say("dropped", dropped=part.writer.names(columns))))
    return findings


def _details(part: ReportPart) -> Any:
    """The numbers that a method gives about itself."""
    rows = [
        (part.say(f"detail_{name}"), _value(part, name, value))
        for name, value in part.data["details"].items()
    ]
    rows.append((part.say("detail_suppressed"), part.writer.count(part.data["suppressed"])))
    return part.grid("details_table", ("head_detail", "head_value"), rows)


def _value(part: ReportPart, name: str, value: Any) -> object:
    """A number as it is written: a count, a share or with its digits; words in its language."""
    if isinstance(value, str):
        return part.texts.remark(value)
    if name in SHARES and isinstance(value, float):
        return part.writer.share(value)
    return part.writer.count(value) if isinstance(value, int) else part.writer.number(value)


def _columns(part: ReportPart) -> Any:
    rows = [
        (
            part.writer.name(name),
            part.say("level", level=column["level"], height=column["height"]),
            part.writer.count(column["labels"]),
            _hierarchy(part, column["hierarchy"] or ""),
        )
        for name, column in part.data["columns"].items()
    ]
    return part.grid(
        "columns_table", ("head_column", "head_level", "head_labels", "head_hierarchy"), rows, (2,)
    )


def _hierarchy(part: ReportPart, source: str) -> str:
    """Where a hierarchy is from: of a file its name, as of the table and the policy."""
    if source == "*":
        return part.say("one_label")
    return part.writer.file(PurePath(source).name if source.lower().endswith(FILES) else source)


def _meaning(part: ReportPart, key: str) -> Iterator[Paragraph]:
    if key == "reading":
        yield Paragraph(part.say("reading"), "reading")
    if (joint := part.data.get("earlier")) is not None:
        numbers = {key: part.writer.count(joint[key]) for key in ("k_anonymity", "people_below")}
        yield Paragraph(part.say("together", **numbers), "note")
    if part.data["policy"]["met"]:
        yield Paragraph(part.say("checked" if part.data["released"] else "unwritten"), "note")
    if part.data["released"] and part.data.get("order") == "by_hash":
        yield Paragraph(part.say("paired" if part.data["pairing_file"] else "unpaired"), "note")


def _losses(part: ReportPart) -> Any:
    loss, writer = part.data["loss"], part.writer
    if "generalization_loss" not in loss:
        own = [
            (part.say(f"loss_{name}"), _value(part, name, value)) for name, value in loss.items()
        ]
        return part.grid("loss_table_plain", ("head_loss", "head_value"), own)
    rows: list[tuple[object, object]] = [
        (part.say("arithmetic"), writer.share(loss["generalization_loss"]["arithmetic"])),
        (part.say("geometric"), writer.number(loss["generalization_loss"]["geometric"])),
    ]
    write = {"share": writer.share, "number": writer.number, "count": writer.count}
    rows += [
        (part.say(f"loss_{name}"), write[written](loss[name]))
        for name, written in WRITTEN.items()
        if name in loss and name not in ("generalization_loss", "bits")
    ]
    rows += [
        (part.say("bits", secret=writer.name(secret)), writer.number(bits))
        for secret, bits in loss["bits"].items()
    ]
    minimised = part.say(f"minimised_{part.data['minimised']}")
    searched = part.data["how"] != "full" or part.data["proven"] or part.data["evaluated"]
    caption = "loss_table" if searched else "loss_table_plain"  # the levels were given
    return part.grid(caption, ("head_loss", "head_value"), rows, minimised=minimised)


# -- the frontier: all recodings that no other one is better than, drawn and listed ----------------


def frontier_chapters(part: ReportPart) -> Iterator[Chapter]:
    """The chapter; none without a frontier."""
    points = part.data.get("frontier")
    if not points:
        return
    secret = part.data["frontier_secret"]
    name = part.writer.name(secret) if secret else part.say(f"minimised_{part.data['minimised']}")
    given = part.data.get("frontier_beside") or ()
    rows = [*map(partial(_given_row, part), given), *map(partial(_row, part), points)]
    grid = part.grid(
        "frontier_table",
        FRONTIER_HEADS,
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
        Picture(spec, part.say("frontier_see"), grid, screen=True, name="frontier"),
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
    return (
        part.writer.number(release["disclosed"]),
        part.writer.number(release["lost"]),
        _gap(part, release),
        "",
        part.writer.count(release["classes"]),
        "",
        part.say("frontier_given", name=release["name"]),
    )


def _gap(part: ReportPart, point: Data) -> object:
    return "" if point.get("gap") is None else part.writer.number(point["gap"])


def _row(part: ReportPart, point: Data) -> tuple[object, ...]:
    verdict = "frontier_meets" if point["meets"] else "frontier_breaks"
    if point["chosen"]:
        verdict = "frontier_chosen"
    return (
        part.writer.number(point["disclosed"]),
        part.writer.number(point["lost"]),
        _gap(part, point),
        part.writer.count(point["suppressed"]),
        part.writer.count(point["classes"]),
        ", ".join(map(str, point["levels"].values())),
        part.say(verdict),
    )
