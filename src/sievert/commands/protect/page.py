"""The chapter of a protected table: levels of columns, what is lost, the limits, the frontier."""

from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

from sievert.commands.protect.content import (
    BesideRelease,
    Frontier,
    FrontierRecoding,
    ProtectedContent,
)
from sievert.commands.protect.frontier_chart import frontier_chart, frontier_dots
from sievert.formatting.loss_names import WRITTEN
from sievert.report.limits import limits_chapter
from sievert.report.overview import Overview
from sievert.report.page import Block, Chapter, Grid, Paragraph, Picture
from sievert.report.parts import ReportPart

BY_HASH = "by_hash"  # an order of rows that tells nothing
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
    content = part.read(ProtectedContent)
    if not content.found:
        first = Chapter(
            title=part.say("title"), anchor=part.anchor("columns"), blocks=(), screen=True
        )
        return (first, *frontier_chapters(part))
    if content.details is not None:
        inner: tuple[Block, ...] = (_details(part, content.details), *_meaning(part))
    else:
        reading = Paragraph(part.say("reading"), "reading")
        inner = (_columns(part), reading, *_meaning(part))
    return (
        Chapter(title=part.say("title"), anchor=part.anchor("columns"), blocks=inner, screen=True),
        _loss_chapter(part),
        *limits_chapter(part),
        *frontier_chapters(part),
    )


def _loss_chapter(part: ReportPart) -> Chapter:
    """What the release has lost; its title is the share of the detail, where that is known."""
    topic = part.say("loss_title")
    title = topic
    losses = part.read(ProtectedContent).losses
    if losses is not None:
        title = part.say("loss_share", loss=part.writer.share(losses.arithmetic))
    return Chapter(
        title=title, anchor=part.anchor("loss"), blocks=(_losses(part),), screen=True, topic=topic
    )


def points(part: ReportPart) -> list[tuple[str, str]]:
    """What was done to the table, what it has cost, and what the release holds."""
    content = part.read(ProtectedContent)
    if not content.found:
        if content.stopped:
            return [(part.say("stopped"), part.say("stopped_why"))]
        return [(part.say("nothing"), part.say("nothing_why"))]
    if content.details is not None:
        return _method_points(part)
    findings = [(_coarser(part), _suppressed(part))]
    share = None if content.losses is None else content.losses.arithmetic
    findings.append((part.say("lost", loss=part.writer.share(share)), _how_good(part)))
    dropped = part.read(Overview).dropped_columns
    if content.unmet:
        findings.insert(0, (part.say("unmet"), part.say("unmet_why", limit=content.unmet)))
    elif dropped:
        findings.append((_holds(part), part.say("dropped", dropped=part.writer.names(dropped))))
    return findings[:3]


def _coarser(part: ReportPart) -> str:
    """Which columns have become coarser, and which have one label for all."""
    content = part.read(ProtectedContent)
    gone = [name for name, c in content.columns.items() if c.level and c.labels == 1]
    changed = [name for name, level in content.levels.items() if level and name not in gone]
    words = []
    if changed:
        words.append(part.say("coarser", columns=part.writer.names(changed)))
    if gone:
        words.append(part.say("gone", gone=part.writer.names(gone)))
    return " ".join(words) or part.say("unchanged")


def _suppressed(part: ReportPart) -> str:
    """How many records are suppressed, and the classes of the others."""
    content = part.read(ProtectedContent)
    key = "nobody"
    if content.suppressed:
        key = "suppressed_dropped" if part.read(Overview).drops else "suppressed"
    return part.say(
        key,
        suppressed=part.writer.count(content.suppressed),
        rows=part.writer.count(part.rows),
        classes=part.texts.number_of(content.classes or 0, "class"),
    )


def _how_good(part: ReportPart) -> str:
    """Whether another recoding could lose less."""
    content = part.read(ProtectedContent)
    if content.unmet:
        return part.say("nearest")
    if content.proven and content.floor:
        levels = (f"{part.writer.name(c)} {level}" for c, level in content.floor.items())
        return part.say("above_floor", floor=", ".join(levels))
    if content.proven:
        return part.say("proven")
    if content.evaluated:
        bound = part.writer.number(content.bound)
        return part.say("open", bound=bound, minimised=_minimised(part))
    return part.say("given")


def _minimised(part: ReportPart) -> str:
    """The loss that was minimised, as a sentence names it."""
    return part.say(f"minimised_{part.read(ProtectedContent).minimised}")


def _holds(part: ReportPart) -> str:
    """What the release holds: columns that were kept are not measured."""
    overview = part.read(Overview)
    measured = overview.roles.measured_columns
    kept = overview.table.columns - len(overview.dropped_columns) - len(measured)
    return part.say("holds" if kept <= 0 else "holds_more")


def _method_points(part: ReportPart) -> list[tuple[str, str]]:
    """What a method that changes records has done, and what the release holds."""
    how = part.read(ProtectedContent).how
    overview = part.read(Overview)
    findings = [(part.say(f"how_{how}"), part.say(f"when_{how}"))]
    if overview.policy is None or not overview.policy.met:
        findings.append((part.say("not_released"), part.say("not_released_why")))
    columns = overview.dropped_columns
    if columns:
        findings.append((_holds(part), part.say("dropped", dropped=part.writer.names(columns))))
    return findings


def _details(part: ReportPart, details: Mapping[str, Any]) -> Grid:
    """The numbers that a method gives about itself."""
    rows = [
        (part.say(f"detail_{name}"), _value(part, name, value)) for name, value in details.items()
    ]
    suppressed = part.writer.count(part.read(ProtectedContent).suppressed)
    rows.append((part.say("detail_suppressed"), suppressed))
    return part.grid("details_table", ("head_detail", "head_value"), rows)


def _value(part: ReportPart, name: str, value: Any) -> object:
    """A number as it is written: a count, a share or with its digits; words in its language."""
    if isinstance(value, str):
        return part.texts.remark(value)
    if name in SHARES and isinstance(value, float):
        return part.writer.share(value)
    return part.writer.count(value) if isinstance(value, int) else part.writer.number(value)


def _columns(part: ReportPart) -> Grid:
    rows = [
        (
            part.writer.name(name),
            part.say("level", level=column.level, height=column.height),
            part.writer.count(column.labels),
            _hierarchy(part, column.hierarchy or ""),
        )
        for name, column in part.read(ProtectedContent).columns.items()
    ]
    return part.grid(
        "columns_table", ("head_column", "head_level", "head_labels", "head_hierarchy"), rows, (2,)
    )


def _hierarchy(part: ReportPart, source: str) -> str:
    """Where a hierarchy is from: of a file its name, as of the table and the policy."""
    if source == "*":
        return part.say("one_label")
    return part.writer.file(PurePath(source).name if source.lower().endswith(FILES) else source)


def _meaning(part: ReportPart) -> Iterator[Paragraph]:
    """What a release means together with earlier ones, and where it was written."""
    content = part.read(ProtectedContent)
    policy = part.read(Overview).policy
    if content.earlier is not None:
        k = part.writer.count(content.earlier.k_anonymity)
        below = part.writer.count(content.earlier.people_below)
        yield Paragraph(part.say("together", k_anonymity=k, people_below=below), "note")
    if policy is not None and policy.met:
        yield Paragraph(part.say("checked" if content.released else "unwritten"), "note")
    if content.released and content.order == BY_HASH:
        yield Paragraph(part.say("paired" if content.paired else "unpaired"), "note")


def _losses(part: ReportPart) -> Grid:
    content = part.read(ProtectedContent)
    losses = content.losses
    writer = part.writer
    if losses is None:
        own = [
            (part.say(f"loss_{name}"), _value(part, name, value))
            for name, value in content.own_losses.items()
        ]
        return part.grid("loss_table_plain", ("head_loss", "head_value"), own)
    rows: list[tuple[object, object]] = [
        (part.say("arithmetic"), writer.share(losses.arithmetic)),
        (part.say("geometric"), writer.number(losses.geometric)),
    ]
    write = {"share": writer.share, "number": writer.number, "count": writer.count}
    rows += [
        (part.say(f"loss_{name}"), write[written](losses.others[name]))
        for name, written in WRITTEN.items()
        if name in losses.others
    ]
    rows += [
        (part.say("bits", secret=writer.name(secret)), writer.number(bits))
        for secret, bits in losses.bits.items()
    ]
    caption = "loss_table" if content.searched else "loss_table_plain"  # the levels were given
    heads = ("head_loss", "head_value")
    return part.grid(caption, heads, rows, minimised=_minimised(part))


# -- the frontier: all recodings that no other one is better than, drawn and listed ----------------


def frontier_chapters(part: ReportPart) -> Iterator[Chapter]:
    """The chapter; none without a frontier."""
    frontier = part.read(ProtectedContent).frontier
    if frontier is None:
        return
    name = part.writer.name(frontier.secret) if frontier.secret else _minimised(part)
    rows = [
        *(_given_row(part, release) for release in frontier.beside),
        *(_row(part, point) for point in frontier.points),
    ]
    grid = part.grid(
        "frontier_table",
        FRONTIER_HEADS,
        rows,
        range(5),
        folded=len(rows) > MOST_OPEN,
        columns=part.writer.names(frontier.points[0].levels),
        lost=name,
    )
    spec = frontier_chart(
        part.say("frontier_chart", lost=name),
        [part.say("frontier_below")],
        frontier_dots(frontier),
        least=() if frontier.limit is None else frontier.limit.points,
        across=part.say("frontier_across", lost=name),
        up=part.say("frontier_up"),
    )
    meets = part.writer.count(sum(point.meets for point in frontier.points))
    optimal = part.writer.count(sum(point.optimal for point in frontier.points))
    blocks: tuple[Block, ...] = (
        Paragraph(part.say("frontier_reading", meets=meets, optimal=optimal), "lead"),
        *_limit(part, frontier),
        Picture(
            spec=spec,
            caption=part.say("frontier_see"),
            behind=grid,
            screen=True,
            name=("frontier",),
        ),
    )
    yield Chapter(
        title=part.say("frontier_title"), anchor=part.anchor("frontier"), blocks=blocks, screen=True
    )


def _limit(part: ReportPart, frontier: Frontier) -> Iterator[Paragraph]:
    """Say which alphabet the curve has, and how far the chosen release is from it."""
    limit = frontier.limit
    if limit is None:
        return
    coarser = [name for name, level in limit.levels.items() if level]
    text = part.say(
        "frontier_limit_coarser" if coarser else "frontier_limit",
        columns=part.writer.names(coarser),
        lost=part.writer.number(limit.lost),
        combinations=part.writer.count(limit.combinations),
    )
    gaps = (point.gap for point in frontier.points if point.chosen)
    gap = next((gap for gap in gaps if gap is not None), None)
    if gap is not None:
        text = f"{text} {part.say('frontier_gap', gap=part.writer.number(gap))}"
    yield Paragraph(text, "note")


def _given_row(part: ReportPart, release: BesideRelease) -> tuple[object, ...]:
    return (
        part.writer.number(release.disclosed),
        part.writer.number(release.lost),
        _gap(part, release.gap),
        "",
        part.writer.count(release.classes),
        "",
        part.say("frontier_given", name=release.name),
    )


def _gap(part: ReportPart, gap: float | None) -> object:
    return "" if gap is None else part.writer.number(gap)


def _row(part: ReportPart, point: FrontierRecoding) -> tuple[object, ...]:
    verdict = "frontier_meets" if point.meets else "frontier_breaks"
    if point.chosen:
        verdict = "frontier_chosen"
    return (
        part.writer.number(point.disclosed),
        part.writer.number(point.lost),
        _gap(part, point.gap),
        part.writer.count(point.suppressed),
        part.writer.count(point.classes),
        ", ".join(map(str, point.levels.values())),
        part.say(verdict),
    )
