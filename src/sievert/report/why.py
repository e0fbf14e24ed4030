"""Why people are found: each column's share, and how many are alone the more is known."""

from collections.abc import Iterator

from sievert.charts import Bar
from sievert.charts.drawing import EXPOSED
from sievert.formatting import percent
from sievert.report.explanation import ColumnShapley
from sievert.report.explanation_view import (
    MOST_ROWS,
    MOST_SECRETS,
    ExplanationView,
    PictureKeys,
    captioned_bars,
    explanation_view,
)
from sievert.report.limits import limits_of
from sievert.report.overview import Overview
from sievert.report.page import Block, Chapter, Paragraph
from sievert.report.parts import NumberText, ReportPart

MOSTLY = 0.5  # of what tells people apart: two columns with less do not stand out
LEADING = 2  # columns that may stand out
SHARES = PictureKeys(title="shares_chart", below="shares_below", caption="shares_caption")
PATH = PictureKeys(title="path_chart", below="path_below", caption="path_caption")


def why_chapter(part: ReportPart) -> Chapter | None:
    """Explain the numbers of an assessment, if it has an explanation."""
    view = explanation_view(part)
    lead = " ".join((*_together(view), *_suffice(view)))
    blocks = [*([Paragraph(lead, "reading")] if lead else ()), *shares(view), *path(view)]
    title = finding(view)
    if not title or not blocks:
        return None
    return Chapter(
        title=title,
        anchor=part.anchor("why"),
        blocks=tuple(blocks),
        topic=part.texts("assessed.why_topic"),
    )


# -- sentences ------------------------------------------------------------------------------------


def leading_columns(view: ExplanationView) -> list[str]:
    """The one or two columns that carry most of what tells people apart; none where none do."""
    order = order_columns(view)
    carried = 0.0
    for number, column in enumerate(order[:LEADING], 1):
        carried += view.shares(None)[column].number or 0.0
        if carried >= MOSTLY and number < len(order):
            return order[:number]
    return []


def order_columns(view: ExplanationView) -> list[str]:
    """Columns by their share of what tells people apart, largest first."""
    parts = view.shares(None)
    return sorted(view.quasi, key=lambda c: (-(parts[c].number or 0.0), view.column_names[c], c))


def finding(view: ExplanationView) -> str:
    """Name the columns that drive the risk in a short sentence; empty where nothing is known."""
    order = order_columns(view)
    parts = view.shares(None)
    if all(text.number is None for text in parts.values()):
        return ""
    if len(order) == 1:
        return view.say("drive_only", column=view.column_names[order[0]])
    first = leading_columns(view)
    if first:
        return view.say("drive_most", columns=view.names(first))
    column = order[0]
    return view.say("drive_alike", column=view.column_names[column], share=parts[column])


def _together(view: ExplanationView) -> Iterator[str]:
    """Say how much of the risk the leading columns carry."""
    parts = view.shares(None)
    first = leading_columns(view)
    if len(view.quasi) > 1 and first:
        whole = sum(int(parts[c].text.split()[0]) for c in first)
        key = "carry_one" if len(first) == 1 else "carry_both"
        yield view.say(key, columns=view.names(first), share=f"{whole} %")


def _suffice(view: ExplanationView) -> Iterator[str]:
    """Say how few columns single out half of the unique people."""
    path = view.read(ColumnShapley).path
    whole = path.unique_count
    for number, step in enumerate(path.steps[:-1] if whole else (), 1):
        if 2 * step.unique_count >= whole:
            known = view.names([each.column for each in path.steps[:number]])
            yield view.say("suffice", columns=known, alone=view.writer.count(step.unique_count))
            return


# -- pictures -------------------------------------------------------------------------------------


def shares(view: ExplanationView) -> Iterator[Block]:
    """Each column's share of finding a person, and of each secret."""
    targets: list[str | None] = [None, *view.secrets[:MOST_SECRETS]]
    shapley = view.read(ColumnShapley)
    texts = {t: view.shares(t) for t in targets if shapley.of(t).columns}
    if not texts or len(view.quasi) < 2:
        return
    order = order_columns(view)
    alone = shapley.alone_without
    rows = (
        (
            view.column_names[column],
            *(_with_interval(view, texts[t][column], column, t) for t in texts),
            *([view.writer.count(alone[column])] if alone else ()),
        )
        for column in order
    )
    heads = (*(view.labels[t] for t in texts), *([view.say("alone_without")] if alone else ()))
    grid = view.grid("shares_table", ["column"], rows, more=heads)
    marks = [
        (
            Bar(
                row=view.column_names[c],
                number=text[c].number,
                series=view.labels[t] if len(texts) > 1 else "",
                interval=view.interval(c, t),
            ),
            text[c],
        )
        for c in order[:MOST_ROWS]
        for t, text in texts.items()
    ]
    more = view.rows_first(MOST_ROWS, len(order))
    yield captioned_bars(view, SHARES, marks, grid, axis="shares_axis", more=more)


def _with_interval(view: ExplanationView, text: NumberText, column: str, secret: str | None) -> str:
    ends = view.interval(column, secret)
    if ends is None:
        return str(text)
    low, high = (percent(max(0.0, end)) for end in ends)
    return view.say("shares_interval", share=text, low=low, high=high)


def path(view: ExplanationView) -> Iterator[Block]:
    """People alone as one column after the other becomes known, and what the policy allows."""
    known = view.read(ColumnShapley).path
    writer = view.writer
    number = len(view.quasi)
    rows: list[tuple[str, NumberText, NumberText]] = []
    for place, step in enumerate(known.steps, 1):
        last = place == number and number > 1
        key = "path_more"
        if place == 1:
            key = "path_first"
        elif last:
            key = "path_all"
        name = view.say(key, column=view.column_names[step.column], number=number)
        alone = writer.count(step.unique_count)
        rows.append((name, alone, writer.share(step.unique_records)))
    if len(known.steps) < number:
        alone = writer.count(known.unique_count)
        share = writer.share(known.unique_records)
        rows.append((view.say("all_columns", number=number), alone, share))
    limits = limits_of(view.read(Overview).policy)
    marks = [(Bar(row=name, number=share.number), share) for name, _, share in rows[:MOST_ROWS]]
    more = ""
    limit = None
    of_uniques = (limit.max for limit in limits if limit.measure == "unique_records")
    most = next((most for most in of_uniques if most is not None), None)
    if most is not None:
        allowed = NumberText(percent(most), most)
        more = view.say("path_allowed", share=allowed)
        rows.append((view.say("path_policy"), NumberText("", None), allowed))
        limit = (most, more)
    if rows:
        yield captioned_bars(
            view,
            PATH,
            marks,
            view.grid("path_table", ("path_known", "alone", "alone_share"), rows),
            axis="alone_share_axis",
            more=more,
            fill=EXPOSED,
            limit=limit,
        )
