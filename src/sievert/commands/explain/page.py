"""The chapter of `explain`: what drives the risk, what would help, how many columns suffice."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sievert.charts import Bar
from sievert.commands.explain import columns_chapter as explain_columns
from sievert.formatting import count, make_unique
from sievert.report import records_chapter as explain_records
from sievert.report import why
from sievert.report.explanation_view import (
    MOST_ROWS,
    ExplanationView,
    PictureKeys,
    Term,
    captioned_bars,
    screened,
    words_chapter,
)
from sievert.report.page import Block, Chapter, Grid, Paragraph
from sievert.report.parts import Data, NumberText, ReportPart

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
    view = ExplanationView(**vars(part))
    if "shapley" not in view.data:
        yield from (*_ranking_chapter(view), words_chapter(view, TERMS[:1]))
        return
    yield from explain_columns.chapters(view)
    yield from _remedies_chapter(view)
    yield from explain_records.chapters(view)
    if "ranking" in view.data:
        yield from _ranking_chapter(view)
    yield words_chapter(view, TERMS)


def points(part: ReportPart) -> list[tuple[str, str]]:
    """Who is found and by which columns; what would help most; how many columns suffice."""
    view = ExplanationView(**vars(part))
    if "shapley" in part.data:
        return [*_drives(view), *_helps(view), *_enough(view)]
    text = _ranking_sentence(view, _rank_columns(view))
    return [] if text is None else [(text, view.say("ranking_found"))]


def alone_after_best_change(part: ReportPart) -> float | None:
    """The share of people who would still be unique after the best change, as it is shown."""
    if "shapley" not in part.data:
        return None
    view = ExplanationView(**vars(part))
    # without a change that helps there is nothing that "even then" could speak of
    if not (changes := _remedies(view)) or not [*_helps(view)]:
        return None
    return view.of_all(changes[0].alone).number


# -- findings -------------------------------------------------------------------------------------


def _drives(view: ExplanationView) -> Iterator[tuple[str, str]]:
    """How many people are alone, and which columns carry most of what tells people apart."""
    alone, columns = view.alone(view.whole), view.values_in(view.quasi)
    if not alone.number:
        k = view.writer.count(view.whole["reidentification"]["k_anonymity"])
        head, text = view.say("nobody"), view.say("nobody_alone", columns=columns, k=k)
    else:
        key = "alone_one" if alone.number == 1 else "alone_many"
        people = "person" if view.records == 1 else "people_of"
        of, share = view.say(people, number=count(view.records)), view.of_all(alone)
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


def _helps(view: ExplanationView) -> Iterator[tuple[str, str]]:
    """Which changes would leave fewest people unique; where nobody is, the largest groups."""
    changes = [r for kind in ("without", "coarser", "together") if (r := _best(view, kind))]
    without = [r for r in changes if r.kind == "without"]
    coarser = min((r for r in changes if r.kind != "without"), key=_order, default=None)
    each = sorted([*without, *([coarser] if coarser else [])], key=_order)
    if not each:
        return
    first, second = each[0], each[-1]
    nobody = not view.alone(view.whole).number
    now, left, other = (
        view.writer.count(r["reidentification"]["k_anonymity"]) if nobody else view.alone(r)
        for r in (view.whole, first.data, second.data)
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


def _enough(view: ExplanationView) -> Iterator[tuple[str, str]]:
    """How few columns find most of those who are unique."""
    if (best := explain_columns.fewest_columns(view)) is not None:
        columns, alone, whole = (
            view.names(best["columns"]),
            view.alone(best),
            view.alone(view.whole),
        )
        key = "few_one" if len(best["columns"]) == 1 else "few"
        places = {"columns": columns, "alone": alone, "whole": whole, "share": view.of_all(alone)}
        yield view.say(key), view.say("enough", **places)
    elif view.alone(view.whole).number and len(view.quasi) > 1 and view.data["subsets"]["complete"]:
        yield view.say("few_all"), view.say("enough_all", of=len(view.quasi))


# -- what coarser columns, or leaving out a column, would do --------------------------------------


@dataclass(frozen=True)
class Remedy:
    """One change of the table: its name in a table, in words, and what it would leave."""

    name: str
    words: str
    kind: str  # without, coarser, together
    alone: NumberText
    data: Data


def _order(change: Remedy) -> tuple[float, float, str]:
    """Fewest people unique first; among those alike, the largest smallest class."""
    smallest = change.data["reidentification"]["k_anonymity"] or 0
    return change.alone.number or 0.0, -smallest, change.name


def _remedies(view: ExplanationView) -> list[Remedy]:
    """Every change that was measured, the one that leaves fewest people unique first."""
    changes = []
    for column, about in view.data["columns"].items():
        if len(view.quasi) > 1:
            name = view.say("remedy_without", column=view.column_names[column])
            changes.append((name, name, "without", about["without"]))
        for coarser in about.get("coarser") or ():
            (how,) = coarser["coarsened"]
            changes.append((view.coarser(how), view.coarser(how), "coarser", coarser))
    together = view.data.get("coarser_together")
    if together is not None:
        changes.append((*_together(view, together["coarsened"]), "together", together))
    each = (Remedy(n, words, k, view.alone(data), data) for n, words, k, data in changes)
    return sorted(each, key=_order)


def _together(view: ExplanationView, changes: Sequence[Data]) -> tuple[str, str]:
    """Several changes by their columns, and in words if they are few."""
    name = view.say("remedy_together", columns=view.set_of([each["column"] for each in changes]))
    *others, last = map(view.coarser, changes)
    words = view.say("remedy_all", first=", ".join(others), last=last)
    return name, name if not others or len(changes) > FEW else words


def _best(view: ExplanationView, kind: str) -> Remedy | None:
    """The change of a kind that helps most, if it is shown to help."""
    first = next((r for r in _remedies(view) if r.kind == kind), None)
    now = Remedy("", "", "now", view.alone(view.whole), view.whole)
    return first if first is not None and _order(first)[:2] < _order(now)[:2] else None


def _remedies_chapter(view: ExplanationView) -> Iterator[Chapter]:
    if changes := _remedies(view):
        name, left = view.say("remedy_now"), view.rows_first(MOST_REMEDIES, len(changes))
        now = Remedy(name, name, "now", view.alone(view.whole), view.whole)
        blocks = (
            Paragraph(view.say("remedies_found"), "reading"),
            _remedy_grid(view, [now, *changes[:FEW_REMEDIES]]),
            _remedy_bars(view, [now, *changes[:MOST_REMEDIES]]),
            *([Paragraph(left, "note")] if left else ()),
            Paragraph(view.say("remedies_reading"), "reading"),
        )
        yield Chapter(_remedies_title(view), view.anchor("remedies"), blocks, screen=True)


def _remedies_title(view: ExplanationView) -> str:
    now = view.alone(view.whole)
    if not now.number:
        return view.say("remedies_none")
    helping = [r for r in (_best(view, k) for k in ("together", "coarser", "without")) if r]
    if not helping:
        return view.say("remedies_little", now=now)
    return view.say("remedies_best", left=min(helping, key=_order).alone, now=now)


def _remedy_grid(view: ExplanationView, changes: list[Remedy]) -> Grid:
    """What the best changes would leave."""
    rows = (
        (name, r.alone, view.of_all(r.alone), *view.rates(r.data, ("k_anonymity",))[-1:])
        for name, r in zip(make_unique(r.name for r in changes), changes, strict=True)
    )
    return view.grid("remedies_few", ("change", "alone", "alone_share", "head_k_anonymity"), rows)


def _remedy_bars(view: ExplanationView, changes: list[Remedy]) -> Block:
    names, more = make_unique(r.name for r in changes), ("k_anonymity",)
    rows = [
        (
            name,
            view.writer.count(r.data["coarsened"][0]["values"]) if r.kind == "coarser" else "",
            r.alone,
            view.of_all(r.alone),
            *view.rates(r.data, more),
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


RankedColumn = tuple[str, NumberText, Data]  # its name, its rate as it is shown, its JSON


def _rank_columns(view: ExplanationView) -> list[RankedColumn]:
    """Columns with their rates, the highest first."""
    entries: Sequence[Data] = view.data["ranking"]
    names = make_unique(view.writer.name(entry["column"]) for entry in entries)
    rates = (view.writer.share(entry["as_target"]["discrimination_rate"]) for entry in entries)
    columns = zip(names, rates, entries, strict=True)
    return sorted(columns, key=lambda each: (-(each[1].number or 0.0), each[0]))


def _ranking_chapter(view: ExplanationView) -> Iterator[Chapter]:
    """What the other columns tell of each."""
    columns = _rank_columns(view)
    alone = "shapley" not in view.data  # then the sentence stands on the first screen
    title = (None if alone else _ranking_sentence(view, columns)) or view.say("ranking_title")
    yield Chapter(title, view.anchor("ranking"), tuple(_ranking(view, columns)), screen=alone)


def _ranking(view: ExplanationView, columns: Sequence[RankedColumn]) -> Iterator[Block]:
    if not columns:
        yield Paragraph(view.say("ranking_none"), "note")
        return
    marks = [(Bar(row=name, number=rate.number), rate) for name, rate, _ in columns[:MOST_ROWS]]
    more = view.rows_first(MOST_ROWS, len(columns))
    grid = _ranking_grid(view, columns[:MOST_LISTED])
    picture = captioned_bars(view, RANKING, marks, grid, axis="rate_axis", more=more)
    yield from screened(picture, MOST_RANKED)
    if left := view.rows_first(MOST_LISTED, len(columns)):
        yield Paragraph(left, "note")
    yield Paragraph(view.say("ranking_reading"), "reading")


def _ranking_sentence(view: ExplanationView, columns: Sequence[RankedColumn]) -> str | None:
    """Which column can be worked out best."""
    if not columns or not columns[0][1].number:
        return None
    name, rate, _ = columns[0]
    alike = sum(each[1].text == rate.text for each in columns)
    key = "ranking_many" if alike > 1 else "ranking_most"
    return view.say(key, number=alike, column=name, rate=rate)


def _ranking_grid(view: ExplanationView, columns: Sequence[RankedColumn]) -> Grid:
    writer, rows = view.writer, []
    for name, text, entry in columns:
        most, by = entry["told_most_by"], ""
        if most is not None:
            rate = writer.share(most["discrimination_rate"])
            if rate.number:
                by = view.say("ranking_by", column=writer.name(most["column"]), rate=rate)
        alone, values = entry["as_key"]["unique_count"], entry["values"]
        target = entry["as_target"]
        exact = (writer.number(target[n]) for n in ("mutual_information", "itpr_unnormalized"))
        rows.append((name, text, by, writer.count(alone), writer.count(values), *exact))
    more = ("values", "head_mutual_information", "head_itpr_unnormalized")
    head = ("column", "rate", "mostly_by", "alone_by_it", *more)
    return view.grid("ranking_table", head, rows, (1, 3, 4, 5, 6))
