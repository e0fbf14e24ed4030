"""The chapter of `compromise`: how near an intruder comes to a confidential number.

To be passed on are means of bits over people, and nothing of single combinations: no least, no
quantile. Areas and errors are for the operator: one extreme number can decide them.
"""

from __future__ import annotations

from collections.abc import Iterator

from sievert.report.chapters.compromise import curves
from sievert.report.chapters.compromise.view import CompromiseView, make_views
from sievert.report.chapters.explain.view import terms
from sievert.report.page import Block, Chapter, Paragraph
from sievert.report.parts import ReportPart

MOST_SECRETS = 3  # with pictures
TERMS = (("initial_entropy", "term_entropy"), ("compromise_area", "term_area"))


def blocks(part: ReportPart) -> tuple[Block | Chapter, ...]:
    """Everything below the heading of this result."""
    if part.redactor.silent:
        return (Paragraph(part.texts("compromised.silent"), "note"),)
    return tuple(_blocks(part))


def _blocks(part: ReportPart) -> Iterator[Block | Chapter]:
    views, settings, internal = make_views(part), part.data["settings"], part.redactor.internal

    def say(key: str, /, **values: object) -> str:
        return part.texts(f"compromised.{key}", **values)

    for sentence in sentences(part)[:1]:
        yield Paragraph(sentence, "lead")
    method = settings["method"]
    yield Paragraph(say(f"method_{method}"))
    if method != "release":
        yield Paragraph(say("runs", number=settings["replicates"], seed=settings["seed"]), "note")
    for number, view in enumerate(views, 1):
        inner = tuple(_secret(view, pictures=number <= MOST_SECRETS))
        title = say("secret_title", secret=view.name)
        chapter = Chapter(title, part.anchor(f"secret{number}"), inner)
        yield from inner if len(views) == 1 else (chapter,)
    yield Paragraph(say("reading" if internal else "reading_bits"), "reading")
    yield terms(say, TERMS if internal else TERMS[:1])
    if not internal:
        yield Paragraph(say("only_internal"), "note")


def _secret(view: CompromiseView, *, pictures: bool) -> Iterator[Block]:
    if view.internal:
        counts = {k: view.redactor.count(view.domain[k]) for k in ("values", "records")}
        yield Paragraph(view.say("domain", secret=view.name, **counts))
    for number in curves.NAMES if view.internal else ("initial_entropy",):
        yield curves.guesses_left(view, number, pictures=pictures)
    yield from curves.targets(view)
    if view.internal:
        yield curves.useful(view, pictures=pictures)
        yield curves.spread(view)


def sentences(part: ReportPart) -> tuple[str, ...]:
    """What is left to an intruder who knows all columns; whose number is known; what it costs."""
    if part.redactor.silent:
        return ()
    views = make_views(part)
    costs = (curves.sentence_useful,) if part.redactor.internal else ()
    each = [curves.sentence_left(view) for view in views[:2]]
    each += [say(view) for say in (curves.sentence_exact, *costs) for view in views[:1]]
    return tuple([text for text in each if text is not None][:3])
