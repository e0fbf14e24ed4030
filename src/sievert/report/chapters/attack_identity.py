"""Whose record is whose: from the release alone, with a register, with the original."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sievert.charts.curves import Share
from sievert.report.chapters.attack_numbers import (
    among,
    by_column,
    certain,
    columns,
    is_withheld,
    number,
    numbers,
    people,
    record_bits,
    release_bits,
    share,
    share_chart,
    uncertainty,
    worst_class,
)
from sievert.report.page import Block, Chapter, Grid, Paragraph, make_grid
from sievert.report.redaction import Data, NumberText, Redactor, ReportPart

COUNTED = ("unmatched", "single", "known", "true_matches", "false_matches", "lost")


def chapters(part: ReportPart) -> tuple[Chapter, ...]:
    """One chapter for each box that was opened."""
    boxes = (part.data.get("attacks") or {}).get("identity") or {}
    writers = {"black_box": _black, "grey_box": _grey, "white_box": _white, "linkage": _linkage}
    return tuple(
        Chapter(
            part.say(f"{box.removesuffix('_box')}_title"),
            part.anchor(box.replace("_", "-")),
            tuple(write(part, boxes[box])),
        )
        for box, write in writers.items()
        if box in boxes
    )


def sentence(part: ReportPart) -> str | None:
    """How many rows of a register have one candidate; without any, how many people are unique."""
    boxes = part.data["attacks"].get("identity") or {}
    if box := boxes.get("grey_box"):
        single = register_redactor(part, box).count(number(box, "single")).number
        if single or "black_box" not in boxes:
            return _grey_sentence(part, box, "attacked.first_grey")
    return _black_sentence(part, boxes["black_box"]) if "black_box" in boxes else None


# -- black box ------------------------------------------------------------------------------------


def alone(data: Data) -> int:
    """The number of people who are unique."""
    return int(number(data, "people") or 0) if number(data, "candidates") == 1 else 0


def _black_sentence(part: ReportPart, data: Data) -> str:
    rows, known = part.redactor.everybody(), columns(part)
    return people(part, "attacked.black", alone(data), rows=rows, columns=known)


def _black(part: ReportPart, data: Data) -> Iterator[Block]:
    redactor, bits = part.redactor, record_bits(part.redactor)
    yield Paragraph(_black_sentence(part, data), "lead")
    size = number(data, "candidates") or 0
    if redactor.internal and size > 1:
        counts = {"size": redactor.count(size), "people": redactor.count(number(data, "people"))}
        yield Paragraph(part.say("black_groups", **counts))
    elif size >= redactor.least:
        yield Paragraph(part.say("black_ten", least=redactor.least))
    yield from _rate(part, data, "attacked.black_rate", None, bits)
    yield from by_column(part, data, part.say("columns_chart_record"), bits=bits)
    rate = uncertainty(redactor, number(data, "discrimination_rate"), bits=bits)
    yield numbers(part, [("discrimination_rate", rate, "high")])


def _rate(
    part: ReportPart, data: Data, key: str, of: int | None, bits: float | None
) -> Iterator[Block]:
    """What the columns remove, in a sentence; none where it is withheld or not defined."""
    value = number(data, "discrimination_rate")
    rate = uncertainty(part.redactor, value, of, bits)
    if value is not None and not is_withheld(part.redactor, rate):
        end = "one" if len(data.get("columns") or ()) == 1 else "many"
        yield Paragraph(part.texts(f"{key}_{end}", rate=rate))


# -- the original ---------------------------------------------------------------------------------


def white_rate(redactor: Redactor, data: Data) -> NumberText:
    """What a release removes of the uncertainty about the original."""
    value = number(data, "discrimination_rate")
    return uncertainty(redactor, value, data.get("paired"), release_bits(data))


def _white(part: ReportPart, data: Data) -> Iterator[Block]:
    redactor, of = part.redactor, data.get("paired")  # in both tables
    same = redactor.internal and number(data, "discrimination_rate") is None
    lead = people(part, "attacked.white", certain(data))
    yield Paragraph(part.say("white_same") if same else lead, "lead")
    yield from _rate(part, data, "attacked.white_rate", of, release_bits(data))
    key = "white_paired" if redactor.internal else "white_paired_shared"
    yield Paragraph(part.say(f"{key}", paired=redactor.count(of)))
    if redactor.internal and of != redactor.rows:
        yield Paragraph(part.say("white_alone", number=redactor.count(data.get("released_only"))))
    yield from by_column(part, data, part.say("columns_chart_original"), of=of, each=True)
    rate = ("discrimination_rate", white_rate(redactor, data), "high")
    yield numbers(part, [rate, *worst_class(redactor, data)])


def _linkage(part: ReportPart, data: Data) -> Iterator[Block]:
    redactor, more = part.redactor, data.get("linkage") or {}
    right, chance = (share(redactor, number(data, n)) for n in ("correct_linkage", "baseline"))
    if is_withheld(redactor, right):
        yield Paragraph(part.say("linkage_withheld"), "note")
        return
    yield Paragraph(part.say("linkage_lead", share=right, chance=chance), "lead")
    words, interval = str(right), None
    if redactor.internal and more.get("interval"):
        low, high = interval = tuple(more["interval"])
        ends = {"low": redactor.share(low), "high": redactor.share(high)}
        words = part.texts("reasoned.interval", share=right, **ends)
        yield Paragraph(part.say("linkage_interval", level=redactor.share(more["level"]), **ends))
        if low <= (number(data, "baseline") or 0.0):
            yield Paragraph(part.say("linkage_chance"))
        yield Paragraph(part.say("linkage_ties", number=redactor.count(more["ties"])))
    title, how, below, by_link, by_chance = part.texts.each(
        "attacked.linkage", ("chart", "how", "below", "right", "by_chance")
    )
    bars = [
        Share(by_link, right.number, words, interval, shown=str(right)),
        Share(by_chance, chance.number, str(chance)),
    ]
    grid = make_grid(title, (how, below), ((by_link, words), (by_chance, chance)))
    drawn = right.number is not None
    yield share_chart(part, "attacked.linkage", title, bars, grid) if drawn else grid


# -- a register -----------------------------------------------------------------------------------


def register_redactor(part: ReportPart, data: Data) -> Redactor:
    """Numbers of a register are about its own rows."""
    return replace(part.redactor, rows=int(number(data, "rows") or 0))


def _grey_sentence(part: ReportPart, data: Data, key: str) -> str | None:
    """How many rows have exactly one candidate; None where the register is too small."""
    redactor = register_redactor(part, data)
    single, rows = number(data, "single") or 0, redactor.everybody()
    return None if redactor.silent else people(part, key, single, redactor, rows=rows)


def _grey(part: ReportPart, data: Data) -> Iterator[Block]:
    redactor = register_redactor(part, data)
    if (lead := _grey_sentence(part, data, "attacked.grey")) is None:
        yield Paragraph(part.say("grey_small"), "note")
        return
    yield Paragraph(lead, "lead")
    yield Paragraph(
        part.say("grey_shared", columns=columns(part, data.get("columns_shared") or ()))
    )
    if redactor.internal:
        fewest, many = number(data, "candidates"), redactor.count(number(data, "people"))
        key = "grey_no_match" if fewest is None else "grey_fewest"
        yield Paragraph(part.say(key, size=redactor.count(fewest), people=many))
    # a shareable page does not show that there are a few suppressed records
    few = not redactor.internal and (number(data, "suppressed") or 0) < redactor.least
    rest = None if few else data.get("without_suppressed")
    if rest is not None:
        yield Paragraph(part.say("grey_hidden"), "note")
    yield _rows(part, redactor, [data] if rest is None else [data, rest])
    if "known" in data:
        yield Paragraph(part.say("grey_harm"), "note")


def _rows(part: ReportPart, redactor: Redactor, sides: Sequence[Data]) -> Grid:
    """The rows of a register by what became of them."""
    count = redactor.count
    guesses = redactor.only_internal if redactor.internal else count
    rows: list[tuple[object, ...]] = [
        (part.say(f"grey_{name}"), *(kind(number(s, name)) for s in sides))
        for name, kind in {**dict.fromkeys(COUNTED, count), "right_guesses": guesses}.items()
        if name in sides[0]
    ]
    rates = (register_rate(redactor, side) for side in sides)
    hidden = part.redactor.count(number(sides[0], "suppressed"))
    rows += [
        (part.say("grey_register_discrimination_rate"), *rates),
        (part.say("grey_suppressed"), hidden, *("" for _ in sides[1:])),
    ]
    head = part.texts.each("attacked.grey", ("number", "all", "without")[: len(sides) + 1])
    return make_grid(part.say("grey_table"), head, rows)


def register_rate(redactor: Redactor, data: Data) -> NumberText:
    """What a register's rows with candidates remove of the uncertainty."""
    matched = redactor.rows - (number(data, "unmatched") or 0)
    return among(redactor, number(data, "register_discrimination_rate"), matched, uncertain=True)
