"""What somebody could do with a release: every attack with what it finds, and for whom."""

from __future__ import annotations

from sievert.report.chapters.attack import identity, reasoning
from sievert.report.chapters.attack import secrets as of_secrets
from sievert.report.chapters.attack.common import (
    Held,
    certain,
    number,
    of_record,
    of_secret,
    secrets,
    share,
    uncertainty,
)
from sievert.report.page import Block, Cell, Chapter, Grid, Link, Paragraph
from sievert.report.parts import ReportPart
from sievert.report.redaction import NumberText

MOST_SENTENCES = 3


def has(part: ReportPart) -> bool:
    """Whether there are attacks to tell of."""
    return bool(part.data.get("attacks"))


def blocks(part: ReportPart) -> tuple[Block | Chapter, ...]:
    """A table of all attacks, then a chapter for each way of finding somebody or something."""
    if not has(part):
        return ()
    if part.redactor.silent:
        return (Paragraph(part.texts("attacked.silent"), "note"),)
    found: list[Block | Chapter] = [
        _summary(part),
        Paragraph(part.texts("attacked.reading"), "reading"),
        *identity.chapters(part),
        *of_secrets.chapters(part),
        *reasoning.chapters(part),
    ]
    if not part.redactor.internal:
        found.append(Paragraph(part.texts("attacked.internal_only"), "note"))
    return tuple(found)


def sentences(part: ReportPart) -> tuple[str, ...]:
    """Who is found, for whom a secret is certain, and what reasoning adds."""
    if not has(part) or part.redactor.silent:
        return ()
    found = [_found(part), _told(part), reasoning.sentence(part)]
    return tuple(s for s in found if s is not None)[:MOST_SENTENCES]


def _found(part: ReportPart) -> str | None:
    held = part.data["attacks"].get("identity") or {}
    if "grey_box" in held:
        box = held["grey_box"]
        single = identity.register_redactor(part, box).count(number(box, "single")).number
        if single or "black_box" not in held:
            return identity.grey_sentence(part, box, "attacked.first_grey")
    return identity.black_sentence(part, held["black_box"]) if "black_box" in held else None


def _told(part: ReportPart) -> str | None:
    """The secret that is certain for most people; of several alike the first."""
    each = secrets(part, "homogeneity")
    if not each:
        return None
    shown = {s: part.redactor.count(certain(h)).number or 0.0 for _, s, h in each}
    most = max(shown.values())
    secret, held = next((s, h) for _, s, h in each if shown[s] == most)
    return of_secrets.homogeneity_sentence(part, secret, held)


# -- all attacks in one table ---------------------------------------------------------------------


def _summary(part: ReportPart) -> Grid:
    rows = [*_of_records(part), *_of_secrets(part)]
    head = ("attack", "about", "people", "rate")
    return Grid(
        part.texts("attacked.summary"),
        tuple(part.texts(f"attacked.summary_{h}") for h in head),
        tuple(rows),
        (2, 3),
    )


def _row(
    part: ReportPart, attack: str, about: str, many: NumberText | None, rate: NumberText | None
) -> tuple[Cell, ...]:
    title = part.texts(f"definitions.{attack}.title")
    counted = ("" if s is None else str(s) for s in (many, rate))
    return (Link(title, f"def-{attack}"), about, *counted)


def _of_records(part: ReportPart) -> list[tuple[Cell, ...]]:
    held, redactor = part.data["attacks"].get("identity") or {}, part.redactor
    record, original = (part.texts(f"attacked.about_{w}") for w in ("record", "original"))
    rows = []
    if "black_box" in held:
        box = held["black_box"]
        rate = uncertainty(redactor, number(box, "discrimination_rate"), bits=of_record(redactor))
        rows.append(
            _row(part, "attack_black_box", record, redactor.count(identity.alone(box)), rate)
        )
    if "grey_box" in held:
        box = held["grey_box"]
        own = identity.register_redactor(part, box)
        rate = identity.register_rate(own, box)
        rows.append(_row(part, "attack_grey_box", record, own.count(number(box, "single")), rate))
    if "white_box" in held:
        box = held["white_box"]
        rate = identity.white_rate(redactor, box)
        rows.append(_row(part, "attack_white_box", original, redactor.count(certain(box)), rate))
    if "linkage" in held:
        linked = share(redactor, number(held["linkage"], "correct_linkage"))
        rows.append(_row(part, "attack_linkage", record, None, linked))
    return rows


def _of_secrets(part: ReportPart) -> list[tuple[Cell, ...]]:
    redactor, rows = part.redactor, []
    for _, secret, held in secrets(part, "homogeneity"):
        bits = of_secret(part, secret)
        rate = uncertainty(redactor, number(held, "discrimination_rate"), bits=bits)
        rows.append(_about(part, "attack_homogeneity", secret, redactor.count(certain(held)), rate))
    for _, secret, held in secrets(part, "background"):
        then = number(held.get("ruled_out_1") or {}, "certain")
        rows.append(_about(part, "attack_background", secret, redactor.count(then), None))
    for _, secret, held in secrets(part, "skewness") if redactor.internal else ():
        many = redactor.count(number(held, "people"))
        rows.append(_about(part, "attack_skewness", secret, many, None))
    for _, secret, held in secrets(part, "semantic"):
        rows.append(_meaning(part, secret, held))
    for _, secret, held in secrets(part, "reasoning"):
        said = reasoning.headline(part, held)
        rows.append(_about(part, "attack_reasoning", secret, None, said))
    return rows


def _about(
    part: ReportPart, attack: str, secret: str, many: NumberText | None, rate: NumberText | None
) -> tuple[Cell, ...]:
    name = part.texts("attacked.about_secret", secret=part.redactor.name(secret))
    return _row(part, attack, name, many, rate)


def _meaning(part: ReportPart, secret: str, held: Held) -> tuple[Cell, ...]:
    """The way of merging by which most people are certain; of several alike the first."""
    redactor = part.redactor
    ways = [h for _, h in of_secrets.merged(held)]
    counted = [redactor.count(certain(h)) for h in ways]
    most = max((c.number or 0.0 for c in counted), default=0.0)
    for said, way in zip(counted, ways, strict=True):
        if (said.number or 0.0) == most:
            return _about(part, "attack_semantic", secret, said, of_secrets.meant(redactor, way))
    return _about(part, "attack_semantic", secret, None, None)
