"""The chapter of `compromise`: how near an intruder comes to a confidential number.

To be passed on are means of bits over people, and nothing of single combinations: no least, no
quantile. Areas and errors are for the operator: one extreme number can decide them.
"""

from __future__ import annotations

from collections.abc import Iterator

from sievert.report.chapters.compromise import curves
from sievert.report.chapters.compromise.view import CompromiseView, cases
from sievert.report.page import Block, Chapter, Grid, Link, Paragraph
from sievert.report.parts import ReportPart

MOST_SECRETS = 3  # with pictures
TERMS = (("initial_entropy", "term_entropy"), ("compromise_area", "term_area"))


def blocks(part: ReportPart) -> tuple[Block | Chapter, ...]:
    """Everything below the heading of this result."""
    if part.redactor.silent:
        return (Paragraph(part.texts("compromised.silent"), "note"),)
    return tuple(_blocks(part))


def _blocks(part: ReportPart) -> Iterator[Block | Chapter]:
    say, settings = curves.texts(part), part.data["settings"]
    held = cases(part)
    for sentence in sentences(part)[:1]:
        yield Paragraph(sentence, "lead")
    method = settings["method"]
    yield Paragraph(say(f"method_{method}"))
    if method != "release":
        yield Paragraph(say("runs", number=settings["replicates"], seed=settings["seed"]), "note")
    for number, case in enumerate(held, 1):
        inner = tuple(_case(case, pictures=number <= MOST_SECRETS))
        if len(held) == 1:
            yield from inner
        else:
            title = say("secret_title", secret=part.redactor.name(case.secret))
            yield Chapter(title, part.anchor(f"secret{number}"), inner)
    yield Paragraph(say("reading" if part.redactor.internal else "reading_bits"), "reading")
    terms = TERMS if part.redactor.internal else TERMS[:1]
    rows = tuple((Link(say(key), f"def-{a}"), say(f"{key}_says")) for a, key in terms)
    yield Grid(say("words_table"), (say("word"), say("meaning")), rows)
    if not part.redactor.internal:
        yield Paragraph(say("only_internal"), "note")


def _case(case: CompromiseView, *, pictures: bool) -> Iterator[Block]:
    if case.internal:
        domain = case.domain
        yield Paragraph(
            case.say(
                "domain",
                values=case.redactor.count(domain["values"]),
                records=case.redactor.count(domain["records"]),
                secret=case.name,
            )
        )
    yield from curves.left(case, "initial_entropy", pictures=pictures)
    if case.internal:
        yield from curves.left(case, "area", pictures=pictures)
    yield from curves.targets(case)
    if case.internal:
        yield from curves.useful(case, pictures=pictures)
        yield from curves.spread(case)


def sentences(part: ReportPart) -> tuple[str, ...]:
    """What is left to an intruder who knows all columns; whose number is known; what it costs."""
    if part.redactor.silent:
        return ()
    held = cases(part)
    found = [curves.sentence_left(case) for case in held[:2]]
    costs = (curves.sentence_useful,) if part.redactor.internal else ()
    for about in (curves.sentence_exact, *costs):
        found += [about(case) for case in held[:1]]
    return tuple([text for text in found if text is not None][:3])
