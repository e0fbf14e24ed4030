"""The chapter of `explain`: what drives the risk, what would help, how many columns suffice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sievert.charts import Bar
from sievert.charts.results import make_unique
from sievert.report.chapters import explain_columns, explain_records
from sievert.report.chapters.explain_view import (
    MOST_ROWS,
    MOST_SECRETS,
    ExplanationView,
    captioned_bars,
    terms,
)
from sievert.report.page import Block, Chapter, Grid, Paragraph, make_grid
from sievert.report.parts import Data, NumberText, ReportPart

TERMS = (
    ("discrimination_rate", "term_rate"),
    ("unique_records", "term_alone"),
    ("shapley", "term_shapley"),
    ("k_anonymity", "term_k"),
    ("itpr", "term_itpr"),
    ("itpr_unnormalized", "term_eq9"),
    ("suda", "term_suda"),
)
MOST_REMEDIES = 40
MOST_LISTED = 60  # columns of the ranking
FEW = 3  # changes together that are named one by one


def blocks(part: ReportPart) -> tuple[Block | Chapter, ...]:
    """Everything below the heading of this result."""
    view = ExplanationView(**vars(part))
    return tuple(_blocks(view))


def _blocks(view: ExplanationView) -> Iterator[Block | Chapter]:
    if "shapley" not in view.data:
        yield from (*_ranking(view), terms(view, TERMS[:1]))
        return
    yield Paragraph(_lead(view), "lead")
    for secret in view.secrets[:MOST_SECRETS]:
        yield Paragraph(_about(view, secret))
    yield from explain_columns.chapters(view)
    yield from _remedies_chapter(view)
    yield from explain_records.chapters(view)
    if "ranking" in view.data:
        yield view.chapter("ranking", _ranking(view))
    yield terms(view, TERMS)


def sentences(part: ReportPart) -> tuple[str, ...]:
    """What drives the risk; what would help most; how many columns suffice."""
    view = ExplanationView(**vars(part))
    if "shapley" in part.data:
        each = (_drives(view), _helps(view), _enough(view))
    else:
        each = (_ranking_sentence(view, _rank_columns(view)), None, None)
    return tuple(text for text in each if text is not None)


def alone_after_best_change(part: ReportPart) -> float | None:
    """The share of people who would still be unique after the best change, as it is shown."""
    if "shapley" not in part.data:
        return None
    view = ExplanationView(**vars(part))
    # without a change that helps there is nothing that "even then" could speak of
    if not (changes := _remedies(view)) or _helps(view) is None:
        return None
    return view.of_all(changes[0].alone).number


# -- sentences ------------------------------------------------------------------------------------


def _lead(view: ExplanationView) -> str:
    """How many people are unique with what an outsider may know."""
    alone, columns = view.alone(view.whole), view.set_of(view.quasi)
    if alone.number is None:
        return view.say("lead_few", number=alone, columns=columns)
    if not alone.number:
        k = view.writer.number(view.whole["reidentification"]["k_anonymity"])
        return view.say("lead_none", columns=columns, k=k)
    key = "lead_one" if alone.number == 1 else "lead"
    share, of = view.of_all(alone), f"{view.records:,}"
    return view.say(key, number=alone, of=of, share=share, columns=columns)


def _about(view: ExplanationView, secret: str) -> str:
    """What the columns tell of a secret."""
    rate = view.writer.share(view.whole["inference"][secret]["discrimination_rate"])
    key = "secret_constant" if rate.number is None else "secret_rate"
    return view.say(key, secret=view.writer.name(secret), rate=rate)


def _drives(view: ExplanationView) -> str | None:
    """Which columns carry most of what tells people apart."""
    shares = {column: view.share(column, None) for column in view.shapley(None)["columns"]}
    if not shares:
        return None
    known = [c for c in shares if shares[c].number is not None]
    if len(view.quasi) < 2 or not known:
        return _lead(view)
    order = sorted(known, key=lambda c: (-(shares[c].number or 0.0), view.column_names[c]))
    places: dict[str, object] = {
        "alone": view.with_share(view.alone(view.whole)),
        "first": view.column_names[order[0]],
        "share": shares[order[0]],
    }
    if len(order) < 2:
        return view.say("drives_one", **places)
    return view.say("drives", **places, second=view.column_names[order[1]], other=shares[order[1]])


def _helps(view: ExplanationView) -> str | None:
    """Which change would leave fewest people unique."""
    without, coarser, both = (_best(view, kind) for kind in ("without", "coarser", "together"))
    finer = (
        both
        if both is not None and (coarser is None or both.people_left < coarser.people_left)
        else coarser
    )
    each = sorted((r for r in (finer, without) if r is not None), key=lambda r: r.people_left)
    if not each:
        return None
    first, second = each[0], each[-1]
    return view.say(
        "helps_both" if len(each) > 1 else "helps",
        name=first.words,
        left=first.alone,
        now=view.alone(view.whole),
        second=second.words,
        other=second.alone,
    )


def _enough(view: ExplanationView) -> str | None:
    """How few columns find most of those who are unique."""
    whole = view.alone(view.whole).number
    for size in range(1, len(view.quasi) if whole else 0):
        sets = explain_columns.order_sets(view, size)
        alone = view.alone(sets[0]) if sets else None
        if alone is not None and alone.number and 2 * alone.number >= (whole or 0.0):
            return view.say(
                "enough_one" if size == 1 else "enough",
                columns=view.names(sets[0]["columns"]),
                number=size,
                of=len(view.quasi),
                alone=view.with_share(alone),
            )
    if whole and len(view.quasi) > 1 and view.data["subsets"]["complete"]:
        return view.say("enough_all", of=len(view.quasi))
    return None


# -- what coarser columns, or leaving out a column, would do --------------------------------------


@dataclass(frozen=True)
class Remedy:
    """One change of the table: its name in a table, in words, and what it would leave."""

    name: str
    words: str
    kind: str  # without, coarser, together
    alone: NumberText
    data: Data

    @property
    def people_left(self) -> float:
        """The number of unique people as it is shown; fewer than are shown count as none."""
        return self.alone.number or 0.0


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
    return sorted(each, key=lambda r: (r.people_left, r.name))


def _together(view: ExplanationView, changes: Sequence[Data]) -> tuple[str, str]:
    """Several changes by their columns, and in words if they are few."""
    name = view.say("remedy_together", columns=view.set_of([each["column"] for each in changes]))
    *others, last = map(view.coarser, changes)
    words = view.say("remedy_all", first=", ".join(others), last=last)
    return name, name if not others or len(changes) > FEW else words


def _best(view: ExplanationView, kind: str) -> Remedy | None:
    """The change of a kind that leaves fewest unique, if it is shown that it leaves fewer."""
    now = view.alone(view.whole).number
    first = next((r for r in _remedies(view) if r.kind == kind), None)
    return first if now is not None and first is not None and first.people_left < now else None


def _remedies_chapter(view: ExplanationView) -> Iterator[Chapter]:
    if changes := _remedies(view):
        name, left = view.say("remedy_now"), view.rows_first(MOST_REMEDIES, len(changes))
        now = Remedy(name, name, "now", view.alone(view.whole), view.whole)
        blocks = (
            Paragraph(_remedies_sentence(view)),
            _remedy_bars(view, [now, *changes[:MOST_REMEDIES]]),
            *([Paragraph(left, "note")] if left else ()),
            Paragraph(view.say("remedies_reading"), "reading"),
        )
        yield view.chapter("remedies", blocks)


def _remedies_sentence(view: ExplanationView) -> str:
    now = view.alone(view.whole)
    if not now.number:
        return view.say("remedies_none")
    helping = [r for r in (_best(view, k) for k in ("together", "coarser", "without")) if r]
    if not helping:
        return view.say("remedies_little", now=now)
    most = min(helping, key=lambda r: r.people_left)
    return view.say("remedies_best", name=most.words, left=most.alone, now=now)


def _remedy_bars(view: ExplanationView, changes: list[Remedy]) -> Block:
    names, more = make_unique(r.name for r in changes), ("k_anonymity",)
    rows = [
        (name, r.alone, view.of_all(r.alone), *view.rates(r.data, more))
        for name, r in zip(names, changes, strict=True)
    ]
    head = [*map(view.say, ("change", "alone", "alone_share")), *view.rate_heads(more)]
    grid = make_grid(view.say("remedies_table"), head, rows)
    shares = [(name, view.of_all(r.alone)) for name, r in zip(names, changes, strict=True)]
    marks = [(Bar(name, share.number), share) for name, share in shares[:MOST_ROWS]]
    first = view.say("remedies_first", shown=MOST_ROWS - 1) if len(changes) > MOST_ROWS else ""
    return captioned_bars(view, "remedies", marks, grid, axis="alone_share_axis", more=first)


# -- every column as the secret, given the others: to choose roles from ---------------------------


RankedColumn = tuple[str, NumberText, Data]  # its name, its rate as it is shown, its JSON


def _rank_columns(view: ExplanationView) -> list[RankedColumn]:
    """Columns with their rates, the highest first."""
    entries: Sequence[Data] = view.data["ranking"]
    names = make_unique(view.writer.name(entry["column"]) for entry in entries)
    rates = [(n, _target_rate(view, e), e) for n, e in zip(names, entries, strict=True)]
    return sorted(rates, key=lambda each: (-(each[1].number or 0.0), each[0]))


def _target_rate(view: ExplanationView, entry: Data) -> NumberText:
    return view.writer.share(entry["as_target"]["discrimination_rate"])


def _ranking(view: ExplanationView) -> Iterator[Block]:
    """What the other columns tell of each."""
    if not (columns := _rank_columns(view)):
        yield Paragraph(view.say("ranking_none"), "note")
        return
    yield Paragraph(_ranking_sentence(view, columns) or view.say("ranking_found"), "lead")
    marks = [(Bar(name, rate.number), rate) for name, rate, _ in columns[:MOST_ROWS]]
    more, grid = (
        view.rows_first(MOST_ROWS, len(columns)),
        _ranking_grid(view, columns[:MOST_LISTED]),
    )
    yield captioned_bars(view, "ranking", marks, grid, axis="rate_axis", more=more)
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
        itpr = writer.number(entry["as_target"]["itpr_unnormalized"])
        rows.append((name, text, by, writer.count(alone), writer.count(values), itpr))
    more = ("values", "head_itpr_unnormalized")
    head = map(view.say, ("column", "rate", "mostly_by", "alone_by_it", *more))
    return make_grid(view.say("ranking_table"), head, rows, (1, 3, 4, 5))
