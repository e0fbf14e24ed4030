"""The chapter of `explain`: what drives the risk, what would help, how many columns suffice."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sievert.charts import Bar
from sievert.commands.explain import columns_chapter as explain_columns
from sievert.commands.explain.content import (
    Coarsening,
    CoarserTable,
    ExplanationContent,
    MeasuredTable,
    RankedColumn,
)
from sievert.commands.explain.view import ColumnsView, columns_view
from sievert.formatting import count, make_unique
from sievert.measurement.subsets import Subset
from sievert.report import records_chapter as explain_records
from sievert.report import why
from sievert.report.explanation_view import (
    MOST_ROWS,
    PictureKeys,
    Term,
    captioned_bars,
    screened,
    words_chapter,
)
from sievert.report.page import Block, Chapter, Grid, Paragraph
from sievert.report.parts import NumberText, ReportPart

TERMS = (
    Term("discrimination_rate", "term_rate", "term_rate_says"),
    Term("unique_records", "term_alone", "term_alone_says"),
    Term("shapley", "term_shapley", "term_shapley_says"),
    Term("k_anonymity", "term_k", "term_k_says"),
    Term("itpr", "term_itpr", "term_itpr_says"),
    Term("itpr_unnormalized", "term_eq9", "term_eq9_says"),
    Term("suda", "term_suda", "term_suda_says"),
)
REMEDIES = PictureKeys(title="remedies_chart", below="remedies_below", caption="remedies_caption")
RANKING = PictureKeys(title="ranking_chart", below="ranking_below", caption="ranking_caption")
MOST_REMEDIES = 40
FEW_REMEDIES = 5  # and the table as it is, on a terminal
MOST_RANKED = 20  # columns, on a terminal
MOST_LISTED = 60  # columns of the ranking
FEW = 3  # changes together that are named one by one


def blocks(part: ReportPart) -> Iterator[Chapter]:
    """Everything below the heading of this result."""
    view = columns_view(part)
    content = part.read(ExplanationContent)
    if content.columns is None:
        yield from _ranking_chapter(view, content)
        yield words_chapter(view, TERMS[:1])
        return
    yield from explain_columns.chapters(view)
    yield from _remedies_chapter(view)
    yield from explain_records.chapters(view)
    if content.ranking is not None:
        yield from _ranking_chapter(view, content)
    yield words_chapter(view, TERMS)


def points(part: ReportPart) -> list[tuple[str, str]]:
    """Who is found and by which columns; what would help most; how many columns suffice."""
    view = columns_view(part)
    content = part.read(ExplanationContent)
    if content.columns is not None:
        return [*_drives(view), *_helps(view), *_enough(view)]
    text = _ranking_sentence(view, _rank_columns(view, content.ranking or ()))
    return [] if text is None else [(text, view.say("ranking_found"))]


def alone_after_best_change(part: ReportPart) -> float | None:
    """The share of people who would still be unique after the best change, as it is shown."""
    if part.read(ExplanationContent).columns is None:
        return None
    view = columns_view(part)
    # without a change that helps there is nothing that "even then" could speak of
    changes = _remedies(view)
    if not changes or not [*_helps(view)]:
        return None
    return view.of_all(changes[0].alone).number


# -- findings -------------------------------------------------------------------------------------


def _drives(view: ColumnsView) -> Iterator[tuple[str, str]]:
    """How many people are alone, and which columns carry most of what tells people apart."""
    alone = view.alone(view.whole)
    columns = view.values_in(view.quasi)
    if not alone.number:
        k = view.writer.count(view.whole.reidentification["k_anonymity"])
        head = view.say("nobody")
        text = view.say("nobody_alone", columns=columns, k=k)
    else:
        key = "alone_one" if alone.number == 1 else "alone_many"
        people = "person" if view.records == 1 else "people_of"
        of = view.say(people, number=count(view.records))
        share = view.of_all(alone)
        text = view.say(key, number=alone, of=of, columns=columns)
        head = view.say("unique_share", share=share)
    text = " ".join((text, *explain_records.population_sentences(view)))
    parts = view.shares(None)
    order = [c for c in why.order_columns(view) if parts[c].number is not None]
    if len(order) > 1:
        first, second = order[:2]
        places = {"first": view.column_names[first], "share": parts[first]}
        more = {"second": view.column_names[second], "other": parts[second]}
        text = f"{text} {view.say('drives', **places, **more)}"
    yield head, text


def _helps(view: ColumnsView) -> Iterator[tuple[str, str]]:
    """Which changes would leave fewest people unique; where nobody is, the largest groups."""
    best = [_best(view, kind) for kind in ("without", "coarser", "together")]
    changes = [change for change in best if change is not None]
    without = [r for r in changes if r.kind == "without"]
    coarser = min((r for r in changes if r.kind != "without"), key=_order, default=None)
    each = sorted([*without, *([coarser] if coarser else [])], key=_order)
    if not each:
        return
    first = each[0]
    second = each[-1]
    nobody = not view.alone(view.whole).number
    now, left, other = (
        view.writer.count(table.reidentification["k_anonymity"]) if nobody else view.alone(table)
        for table in (view.whole, first.table, second.table)
    )
    if nobody:
        key = "helps_k"
    elif not left.number:
        key = "helps_none"
    else:
        key = "helps_one" if left.number == 1 else "helps"
    text = view.say(key, name=first.words, left=left, now=now)
    if len(each) > 1:
        text = f"{text} {view.say('helps_other', name=second.words, left=other)}"
    yield view.say("help_without" if first.kind == "without" else "help_coarser"), text


def _enough(view: ColumnsView) -> Iterator[tuple[str, str]]:
    """How few columns find most of those who are unique."""
    best = explain_columns.fewest_columns(view)
    if best is not None:
        key = "few_one" if len(best.columns) == 1 else "few"
        alone = view.alone(best)
        text = view.say(
            "enough",
            columns=view.names(best.columns),
            alone=alone,
            whole=view.alone(view.whole),
            share=view.of_all(alone),
        )
        yield view.say(key), text
    elif view.alone(view.whole).number and len(view.quasi) > 1 and view.columns.complete:
        yield view.say("few_all"), view.say("enough_all", of=len(view.quasi))


# -- what coarser columns, or leaving out a column, would do --------------------------------------


@dataclass(frozen=True, kw_only=True)
class Remedy:
    """One change of the table: its name in a table, in words, and what it would leave."""

    name: str
    words: str
    kind: str  # without, coarser, together; now: no change
    alone: NumberText
    table: MeasuredTable
    values: int | None = None  # that are left of the one column that is made coarser


def _order(change: Remedy) -> tuple[float, float, str]:
    """Put changes that leave few people unique first, then those with a large smallest class."""
    smallest = change.table.reidentification["k_anonymity"] or 0
    return change.alone.number or 0.0, -smallest, change.name


def _remedies(view: ColumnsView) -> list[Remedy]:
    """Every change that was measured, the one that leaves fewest people unique first."""
    remedies = []
    for column, changes in view.columns.changes.items():
        if len(view.quasi) > 1 and changes.without is not None:
            remedies.append(_without(view, column, changes.without))
        remedies += [_coarser(view, coarser) for coarser in changes.coarser]
    if view.columns.together is not None:
        remedies.append(_together(view, view.columns.together))
    return sorted(remedies, key=_order)


def _without(view: ColumnsView, column: str, table: Subset) -> Remedy:
    """The change that leaves a column out."""
    name = view.say("remedy_without", column=view.column_names[column])
    return Remedy(name=name, words=name, kind="without", alone=view.alone(table), table=table)


def _coarser(view: ColumnsView, table: CoarserTable) -> Remedy:
    """The change that makes one column coarser."""
    (change,) = table.coarsened
    name = view.coarser(change)
    return Remedy(
        name=name,
        words=name,
        kind="coarser",
        alone=view.alone(table),
        table=table,
        values=change.values,
    )


def _together(view: ColumnsView, table: CoarserTable) -> Remedy:
    """Several changes at once: named by their columns, in words if they are few."""
    changes = table.coarsened
    name = view.say("remedy_together", columns=view.set_of([each.column for each in changes]))
    return Remedy(
        name=name,
        words=_in_words(view, changes) if 1 < len(changes) <= FEW else name,
        kind="together",
        alone=view.alone(table),
        table=table,
    )


def _in_words(view: ColumnsView, changes: Sequence[Coarsening]) -> str:
    """Name several changes one by one."""
    *others, last = map(view.coarser, changes)
    return view.say("remedy_all", first=", ".join(others), last=last)


def _now(view: ColumnsView, name: str = "") -> Remedy:
    """The table as it is, beside its changes."""
    return Remedy(name=name, words=name, kind="now", alone=view.alone(view.whole), table=view.whole)


def _best(view: ColumnsView, kind: str) -> Remedy | None:
    """The change of a kind that helps most, if it is shown to help."""
    first = next((r for r in _remedies(view) if r.kind == kind), None)
    now = _now(view)
    return first if first is not None and _order(first)[:2] < _order(now)[:2] else None


def _remedies_chapter(view: ColumnsView) -> Iterator[Chapter]:
    changes = _remedies(view)
    if changes:
        left = view.rows_first(MOST_REMEDIES, len(changes))
        now = _now(view, view.say("remedy_now"))
        blocks = (
            Paragraph(view.say("remedies_found"), "reading"),
            _remedy_grid(view, [now, *changes[:FEW_REMEDIES]]),
            _remedy_bars(view, [now, *changes[:MOST_REMEDIES]]),
            *([Paragraph(left, "note")] if left else ()),
            Paragraph(view.say("remedies_reading"), "reading"),
        )
        yield Chapter(
            title=_remedies_title(view), anchor=view.anchor("remedies"), blocks=blocks, screen=True
        )


def _remedies_title(view: ColumnsView) -> str:
    now = view.alone(view.whole)
    if not now.number:
        return view.say("remedies_none")
    helping = [r for r in (_best(view, k) for k in ("together", "coarser", "without")) if r]
    if not helping:
        return view.say("remedies_little", now=now)
    return view.say("remedies_best", left=min(helping, key=_order).alone, now=now)


def _remedy_grid(view: ColumnsView, changes: list[Remedy]) -> Grid:
    """What the best changes would leave."""
    rows = (
        (name, r.alone, view.of_all(r.alone), *view.rates(r.table, ("k_anonymity",))[-1:])
        for name, r in zip(make_unique(r.name for r in changes), changes, strict=True)
    )
    return view.grid("remedies_few", ("change", "alone", "alone_share", "head_k_anonymity"), rows)


def _remedy_bars(view: ColumnsView, changes: list[Remedy]) -> Block:
    names = make_unique(r.name for r in changes)
    more = ("k_anonymity",)
    rows = [
        (
            name,
            "" if r.values is None else view.writer.count(r.values),
            r.alone,
            view.of_all(r.alone),
            *view.rates(r.table, more),
        )
        for name, r in zip(names, changes, strict=True)
    ]
    head = ("change", "values", "alone", "alone_share")
    grid = view.grid("remedies_table", head, rows, more=view.rate_heads(more))
    shares = zip(names, (view.of_all(r.alone) for r in changes[:MOST_ROWS]), strict=False)
    marks = [(Bar(row=name, number=share.number), share) for name, share in shares]
    first = view.say("remedies_first", shown=MOST_ROWS - 1) if len(changes) > MOST_ROWS else ""
    return captioned_bars(view, REMEDIES, marks, grid, axis="alone_share_axis", more=first)


# -- every column as the secret, given the others: to choose roles from ---------------------------


@dataclass(frozen=True, kw_only=True)
class RankingRow:
    """A column of the ranking: its name and its rate as they are shown."""

    name: str
    rate: NumberText
    column: RankedColumn


def _rank_columns(view: ColumnsView, columns: Sequence[RankedColumn]) -> list[RankingRow]:
    """Columns with their rates, the highest first."""
    names = make_unique(view.writer.name(column.column) for column in columns)
    rows = [
        RankingRow(
            name=name, rate=view.writer.share(column.told["discrimination_rate"]), column=column
        )
        for name, column in zip(names, columns, strict=True)
    ]
    return sorted(rows, key=lambda row: (-(row.rate.number or 0.0), row.name))


def _ranking_chapter(view: ColumnsView, content: ExplanationContent) -> Iterator[Chapter]:
    """What the other columns tell of each."""
    columns = _rank_columns(view, content.ranking or ())
    alone = content.columns is None  # then the sentence stands on the first screen
    title = (None if alone else _ranking_sentence(view, columns)) or view.say("ranking_title")
    yield Chapter(
        title=title,
        anchor=view.anchor("ranking"),
        blocks=tuple(_ranking(view, columns)),
        screen=alone,
    )


def _ranking(view: ColumnsView, columns: Sequence[RankingRow]) -> Iterator[Block]:
    if not columns:
        yield Paragraph(view.say("ranking_none"), "note")
        return
    marks = [(Bar(row=row.name, number=row.rate.number), row.rate) for row in columns[:MOST_ROWS]]
    more = view.rows_first(MOST_ROWS, len(columns))
    grid = _ranking_grid(view, columns[:MOST_LISTED])
    picture = captioned_bars(view, RANKING, marks, grid, axis="rate_axis", more=more)
    yield from screened(picture, MOST_RANKED)
    left = view.rows_first(MOST_LISTED, len(columns))
    if left:
        yield Paragraph(left, "note")
    yield Paragraph(view.say("ranking_reading"), "reading")


def _ranking_sentence(view: ColumnsView, columns: Sequence[RankingRow]) -> str | None:
    """Which column can be worked out best."""
    if not columns or not columns[0].rate.number:
        return None
    first = columns[0]
    alike = len([row for row in columns if row.rate.text == first.rate.text])
    key = "ranking_many" if alike > 1 else "ranking_most"
    return view.say(key, number=alike, column=first.name, rate=first.rate)


def _ranking_grid(view: ColumnsView, columns: Sequence[RankingRow]) -> Grid:
    writer = view.writer
    rows = [
        (
            row.name,
            row.rate,
            _told_most_by(view, row.column),
            writer.count(row.column.unique_count),
            writer.count(row.column.values),
            writer.number(row.column.told["mutual_information"]),
            writer.number(row.column.told["itpr_unnormalized"]),
        )
        for row in columns
    ]
    more = ("values", "head_mutual_information", "head_itpr_unnormalized")
    head = ("column", "rate", "mostly_by", "alone_by_it", *more)
    return view.grid("ranking_table", head, rows, (1, 3, 4, 5, 6))


def _told_most_by(view: ColumnsView, column: RankedColumn) -> str:
    """The one column that tells most of a column, and how much; empty where none tells anything."""
    most = column.told_most_by
    if most is None:
        return ""
    rate = view.writer.share(most.discrimination_rate)
    if not rate.number:
        return ""
    return view.say("ranking_by", column=view.writer.name(most.column), rate=rate)
