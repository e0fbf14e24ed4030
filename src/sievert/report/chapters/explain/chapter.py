"""The chapter of `explain`: what drives the risk, what would help, how many columns suffice."""

from __future__ import annotations

from collections.abc import Iterator

from sievert.report.chapters.explain import columns as explained_columns
from sievert.report.chapters.explain import population, ranking, remedies, values
from sievert.report.chapters.explain.view import MOST_SECRETS, ExplanationView, terms
from sievert.report.page import Block, Chapter, Paragraph
from sievert.report.parts import ReportPart
from sievert.report.redaction import NumberText

TERMS = (
    ("discrimination_rate", "term_rate"),
    ("unique_records", "term_alone"),
    ("shapley", "term_shapley"),
    ("k_anonymity", "term_k"),  # from here on for the operator
    ("itpr", "term_itpr"),
    ("itpr_unnormalized", "term_eq9"),
    ("suda", "term_suda"),
)


def blocks(part: ReportPart) -> tuple[Block | Chapter, ...]:
    """Everything below the heading of this result."""
    if part.redactor.silent:
        return (Paragraph(part.texts("explained.silent"), "note"),)
    if "shapley" not in part.data:
        return (*ranking.blocks(part), terms(ExplanationView(part).say, TERMS[:1]), *_notes(part))
    view = ExplanationView(part)
    return tuple(_blocks(view))


def _blocks(view: ExplanationView) -> Iterator[Block | Chapter]:
    part = view.part
    yield Paragraph(_lead(view), "lead")
    for secret in view.secrets[:MOST_SECRETS]:
        yield Paragraph(_about(view, secret))
    yield from explained_columns.shares(view)
    yield from explained_columns.curve(view)
    yield from explained_columns.sets(view)
    yield from remedies.chapter(view)
    yield from population.chapter(view)
    yield from values.chapters(view)
    if "ranking" in part.data:
        blocks = tuple(ranking.blocks(part))
        yield Chapter(part.texts("explained.ranking_title"), part.anchor("ranking"), blocks)
    yield terms(view.say, TERMS if view.internal else TERMS[:3])
    yield from _notes(part)


def _notes(part: ReportPart) -> Iterator[Block]:
    if not part.redactor.internal:
        yield Paragraph(part.texts("explained.only_internal", least=part.redactor.least), "note")


def sentences(part: ReportPart) -> tuple[str, ...]:
    """What drives the risk; what would help most; how many columns suffice."""
    if part.redactor.silent:
        return ()
    if "shapley" not in part.data:
        most = ranking.sentence(part, ranking.rank_columns(part))
        return () if most is None else (most,)
    view = ExplanationView(part)
    each = (_drives(view), _helps(view), _enough(view))
    return tuple(text for text in each if text is not None)


def alone_after_best_change(part: ReportPart) -> float | None:
    """The share of people who would still be alone after the best change, as it is known."""
    if part.redactor.silent or "shapley" not in part.data:
        return None
    view = ExplanationView(part)
    changes = remedies.remedies(view)
    if not changes or _helps(view) is None:  # nothing that "even then" could speak of
        return None
    return view.of_all(changes[0].alone).number


def _lead(view: ExplanationView) -> str:
    """How many people are alone with what an outsider may know."""
    alone, columns = view.alone(view.whole), view.set_of(view.quasi)
    if alone.number is None:
        return view.say("lead_few", number=alone, columns=columns)
    if not alone.number:
        k = view.part.redactor.only_internal(view.whole["reidentification"]["k_anonymity"])
        return view.say("lead_none", columns=columns, k=k)
    key = "lead_one" if alone.number == 1 else "lead"
    share, of = view.of_all(alone), f"{view.records:,}"
    return view.say(key, number=alone, of=of, share=share, columns=columns)


def _about(view: ExplanationView, secret: str) -> str:
    """What the columns tell of a secret."""
    name = view.part.redactor.name(secret)
    numbers = view.whole["inference"][secret]
    if view.internal and numbers["discrimination_rate"] is None:
        return view.say("secret_constant", secret=name)
    said = view.rate(numbers, secret)
    if said.text == view.part.redactor.withheld().text:
        return view.say("secret_withheld", secret=name)
    return view.say("secret_rate", secret=name, rate=said)


def _drives(view: ExplanationView) -> str | None:
    """Which columns carry most of what tells people apart."""
    shares_by_column = view.shapley(None)["columns"]
    if not shares_by_column:
        return None
    shares: dict[str, NumberText] = {c: view.share(c, None) for c in shares_by_column}
    known = [c for c in shares if shares[c].number is not None]
    if len(view.quasi) < 2 or not known:
        return _lead(view)
    order = sorted(known, key=lambda c: (-(shares[c].number or 0.0), view.column_names[c]))
    first, alone = order[0], view.alone(view.whole)
    places: dict[str, object] = {
        "alone": view.with_share(alone),
        "first": view.column_names[first],
        "share": shares[first],
    }
    if len(order) < 2:
        return view.say("drives_one", **places)
    second = order[1]
    return view.say("drives", **places, second=view.column_names[second], other=shares[second])


def _helps(view: ExplanationView) -> str | None:
    """Which change would leave fewest alone."""
    now = view.alone(view.whole)
    without = remedies.best(view, "without")
    coarser = remedies.best(view, "coarser")
    both = remedies.best(view, "together")
    finer = both if both is not None and (coarser is None or both.left < coarser.left) else coarser
    if finer is not None and without is not None:
        first, second = sorted((finer, without), key=lambda r: r.left)
        return view.say(
            "helps_both",
            name=first.words,
            left=first.alone,
            now=now,
            second=second.words,
            other=second.alone,
        )
    one = finer or without
    return None if one is None else view.say("helps", name=one.words, left=one.alone, now=now)


def _enough(view: ExplanationView) -> str | None:
    """How few columns find most of those who are alone."""
    whole = view.alone(view.whole).number
    for size in range(1, len(view.quasi) if whole else 0):
        sets = explained_columns.order_sets(view, size)
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
