"""What somebody could do with a release: every attack with what it finds, and for whom."""

from __future__ import annotations

from collections.abc import Iterator

from sievert.report.chapters.attack import identity, reasoning
from sievert.report.chapters.attack import secrets as of_secrets
from sievert.report.chapters.attack.common import (
    certain,
    number,
    record_bits,
    secret_bits,
    secrets,
    share,
    uncertainty,
)
from sievert.report.page import Block, Chapter, Grid, Link, Paragraph, make_grid
from sievert.report.parts import Data, ReportPart
from sievert.report.redaction import NumberText

# Its name, what it is on, for how many people it is certain, what it removes of the uncertainty.
AttackRow = tuple[str, str, NumberText | None, NumberText | None]


def blocks(part: ReportPart) -> tuple[Block | Chapter, ...]:
    """A table of all attacks, then a chapter for each way of finding somebody or something."""
    if not part.data.get("attacks"):
        return ()
    if part.redactor.silent:
        return (Paragraph(part.texts("attacked.silent"), "note"),)
    note = Paragraph(part.texts("attacked.internal_only"), "note")
    return (
        _summary(part),
        Paragraph(part.texts("attacked.reading"), "reading"),
        *identity.chapters(part),
        *of_secrets.chapters(part),
        *reasoning.chapters(part),
        *(() if part.redactor.internal else (note,)),
    )


def sentences(part: ReportPart) -> tuple[str, ...]:
    """Who is found, for whom a secret is certain, and what reasoning adds."""
    if not part.data.get("attacks") or part.redactor.silent:
        return ()
    each = (_identity_sentence(part), _secret_sentence(part), reasoning.sentence(part))
    return tuple(s for s in each if s is not None)


def _identity_sentence(part: ReportPart) -> str | None:
    boxes = part.data["attacks"].get("identity") or {}
    if "grey_box" in boxes:
        box = boxes["grey_box"]
        single = identity.register_redactor(part, box).count(number(box, "single")).number
        if single or "black_box" not in boxes:
            return identity.grey_sentence(part, box, "attacked.first_grey")
    return identity.black_sentence(part, boxes["black_box"]) if "black_box" in boxes else None


def _secret_sentence(part: ReportPart) -> str | None:
    """The secret that is certain for most people; of several alike the first."""
    each = secrets(part, "homogeneity")
    counts = [part.redactor.count(certain(data)).number or 0.0 for *_, data in each]
    if not each:
        return None
    _, secret, data = each[counts.index(max(counts))]
    return of_secrets.homogeneity_sentence(part, secret, data)


def _summary(part: ReportPart) -> Grid:
    """One line for each attack and what it was on."""
    rows = [
        (
            Link(part.texts(f"definitions.attack_{attack}.title"), f"def-attack_{attack}"),
            about,
            "" if many is None else many,
            "" if rate is None else rate,
        )
        for attack, about, many, rate in (*_on_records(part), *_on_secrets(part))
    ]
    head = part.texts.each("attacked.summary", ("attack", "about", "people", "rate"))
    return make_grid(part.texts("attacked.summary"), head, rows, (2, 3))


def _on_records(part: ReportPart) -> Iterator[AttackRow]:
    boxes, redactor = part.data["attacks"].get("identity") or {}, part.redactor
    record, original = part.texts.each("attacked.about", ("record", "original"))
    if box := boxes.get("black_box"):
        rate = uncertainty(redactor, number(box, "discrimination_rate"), bits=record_bits(redactor))
        yield "black_box", record, redactor.count(identity.alone(box)), rate
    if box := boxes.get("grey_box"):
        own = identity.register_redactor(part, box)
        single = own.count(number(box, "single"))
        yield "grey_box", record, single, identity.register_rate(own, box)
    if box := boxes.get("white_box"):
        rate = identity.white_rate(redactor, box)
        yield "white_box", original, redactor.count(certain(box)), rate
    if box := boxes.get("linkage"):
        yield "linkage", record, None, share(redactor, number(box, "correct_linkage"))


def _on_secrets(part: ReportPart) -> Iterator[AttackRow]:
    count = part.redactor.count
    attacks = ("homogeneity", "background", "skewness", "semantic", "reasoning")
    for attack, (_, secret, data) in ((a, each) for a in attacks for each in secrets(part, a)):
        about = part.texts("attacked.about_secret", secret=part.redactor.name(secret))
        many: NumberText | None = None
        rate: NumberText | None = None
        if attack == "homogeneity":
            value, bits = number(data, "discrimination_rate"), secret_bits(part, secret)
            many, rate = count(certain(data)), uncertainty(part.redactor, value, bits=bits)
        elif attack == "background":
            many = count(number(data.get("ruled_out_1") or {}, "certain"))
        elif attack == "skewness":
            many = count(number(data, "people"))
        elif attack == "semantic":
            many, rate = _meaning(part, data)
        else:
            rate = reasoning.headline(part, data)
        if attack != "skewness" or part.redactor.internal:
            yield attack, about, many, rate


def _meaning(part: ReportPart, data: Data) -> tuple[NumberText | None, NumberText | None]:
    """The way of merging by which most people are certain; of several alike the first."""
    ways = [way for _, way in of_secrets.merges(data)]
    counts = [part.redactor.count(certain(way)) for way in ways]
    numbers = [count.number or 0.0 for count in counts]
    if not ways:
        return None, None
    best = numbers.index(max(numbers))
    return counts[best], of_secrets.merged_rate(part.redactor, ways[best])
