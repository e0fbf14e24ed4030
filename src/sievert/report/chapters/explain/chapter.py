"""The chapter of `explain`: what drives the risk, what would help, how many columns suffice."""

from __future__ import annotations

from collections.abc import Iterator

from sievert.report.chapters.explain import columns as explained_columns
from sievert.report.chapters.explain import population, ranking, remedies, values
from sievert.report.chapters.explain.view import MOST_SECRETS, ExplanationView
from sievert.report.page import Block, Chapter, Paragraph
from sievert.report.parts import ReportPart
from sievert.report.redaction import NumberText


def blocks(part: ReportPart) -> tuple[Block | Chapter, ...]:
    """Everything below the heading of this result."""
    if part.redactor.silent:
        return (Paragraph(part.texts("explained.silent"), "note"),)
    if "shapley" not in part.data:
        return (*ranking.blocks(part), ranking.link(part), *_notes(part))
    reader = ExplanationView(part)
    return tuple(_blocks(reader))


def _blocks(reader: ExplanationView) -> Iterator[Block | Chapter]:
    part = reader.part
    yield Paragraph(_lead(reader), "lead")
    for secret in reader.secrets[:MOST_SECRETS]:
        yield Paragraph(_about(reader, secret))
    yield from explained_columns.shares(reader)
    yield from explained_columns.curve(reader)
    yield from explained_columns.sets(reader)
    yield from remedies.chapter(reader)
    yield from population.chapter(reader)
    yield from values.chapters(reader)
    if "ranking" in part.data:
        held = tuple(ranking.blocks(part))
        yield Chapter(part.texts("explained.ranking_title"), part.anchor("ranking"), held)
    yield values.links(reader)
    yield from _notes(part)


def _notes(part: ReportPart) -> Iterator[Block]:
    if not part.redactor.internal:
        yield Paragraph(part.texts("explained.only_internal", least=part.redactor.least), "note")


def sentences(part: ReportPart) -> tuple[str, ...]:
    """What drives the risk; what would help most; how many columns suffice."""
    if part.redactor.silent:
        return ()
    if "shapley" not in part.data:
        most = ranking.sentence(part, ranking.ranked(part))
        return () if most is None else (most,)
    reader = ExplanationView(part)
    found = (_drives(reader), _helps(reader), _enough(reader))
    return tuple(text for text in found if text is not None)


def helped(part: ReportPart) -> float | None:
    """The share of people who would still be alone after the best change, as it is told."""
    if part.redactor.silent or "shapley" not in part.data:
        return None
    reader = ExplanationView(part)
    held = remedies.remedies(reader)
    if not held or _helps(reader) is None:  # nothing that "even then" could speak of
        return None
    return reader.of_all(held[0].alone).number


def _lead(reader: ExplanationView) -> str:
    """How many people are alone with what an outsider may know."""
    alone, columns = reader.alone(reader.whole), reader.set_of(reader.quasi)
    if alone.number is None:
        return reader.say("lead_few", number=alone, columns=columns)
    if not alone.number:
        k = reader.part.redactor.only_internal(reader.whole["reidentification"]["k_anonymity"])
        return reader.say("lead_none", columns=columns, k=k)
    key = "lead_one" if alone.number == 1 else "lead"
    share, of = reader.of_all(alone), f"{reader.records:,}"
    return reader.say(key, number=alone, of=of, share=share, columns=columns)


def _about(reader: ExplanationView, secret: str) -> str:
    """What the columns tell of a secret."""
    name = reader.part.redactor.name(secret)
    numbers = reader.whole["inference"][secret]
    if reader.internal and numbers["discrimination_rate"] is None:
        return reader.say("secret_constant", secret=name)
    said = reader.rate(numbers, secret)
    if said.text == reader.part.redactor.withheld().text:
        return reader.say("secret_withheld", secret=name)
    return reader.say("secret_rate", secret=name, rate=said)


def _drives(reader: ExplanationView) -> str | None:
    """Which columns carry most of what tells people apart."""
    held = reader.shapley(None)["columns"]
    if not held:
        return None
    shares: dict[str, NumberText] = {c: reader.share(c, None) for c in held}
    told = [c for c in shares if shares[c].number is not None]
    if len(reader.quasi) < 2 or not told:
        return _lead(reader)
    order = sorted(told, key=lambda c: (-(shares[c].number or 0.0), reader.called[c]))
    first, alone = order[0], reader.alone(reader.whole)
    places: dict[str, object] = {
        "alone": reader.with_share(alone),
        "first": reader.called[first],
        "share": shares[first],
    }
    if len(order) < 2:
        return reader.say("drives_one", **places)
    second = order[1]
    return reader.say("drives", **places, second=reader.called[second], other=shares[second])


def _helps(reader: ExplanationView) -> str | None:
    """Which change would leave fewest alone."""
    now = reader.alone(reader.whole)
    without = remedies.best(reader, "without")
    coarser = remedies.best(reader, "coarser")
    both = remedies.best(reader, "together")
    finer = both if both is not None and (coarser is None or both.left < coarser.left) else coarser
    if finer is not None and without is not None:
        first, second = sorted((finer, without), key=lambda r: r.left)
        return reader.say(
            "helps_both",
            name=first.words,
            left=first.alone,
            now=now,
            second=second.words,
            other=second.alone,
        )
    one = finer or without
    return None if one is None else reader.say("helps", name=one.words, left=one.alone, now=now)


def _enough(reader: ExplanationView) -> str | None:
    """How few columns find most of those who are alone."""
    whole = reader.alone(reader.whole).number
    for size in range(1, len(reader.quasi) if whole else 0):
        held = explained_columns.ordered(reader, size)
        alone = reader.alone(held[0]) if held else None
        if alone is not None and alone.number and 2 * alone.number >= (whole or 0.0):
            return reader.say(
                "enough_one" if size == 1 else "enough",
                columns=reader.names(held[0]["columns"]),
                number=size,
                of=len(reader.quasi),
                alone=reader.with_share(alone),
            )
    if whole and len(reader.quasi) > 1 and reader.data["subsets"]["complete"]:
        return reader.say("enough_all", of=len(reader.quasi))
    return None
