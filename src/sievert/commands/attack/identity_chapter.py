"""Whose record is whose: from the release alone, with a register, with the original."""

from collections.abc import Iterator, Sequence

from sievert.attacks.attack import Attack
from sievert.charts import Bar
from sievert.charts.curves import shares
from sievert.commands.attack.number_rows import (
    by_column,
    certain,
    columns,
    numbers,
    people,
    rate_text,
    worst_class,
)
from sievert.commands.attack.result import Attacks, IdentityDetails
from sievert.report.limits import can_be_found
from sievert.report.numbers import pairing_paragraphs
from sievert.report.page import Block, Chapter, Grid, Paragraph, Picture, make_grid
from sievert.report.parts import ReportPart

# The sentences for nobody, one and many people.
BLACK = ("attacked.black_none", "attacked.black_one", "attacked.black_many")
FIRST_GREY = ("attacked.first_grey_none", "attacked.first_grey_one", "attacked.first_grey_many")
TITLES = {
    "black_box": (
        "attacked.black_title_none",
        "attacked.black_title_one",
        "attacked.black_title_many",
    ),
    "grey_box": (
        "attacked.grey_title_none",
        "attacked.grey_title_one",
        "attacked.grey_title_many",
    ),
    "white_box": (
        "attacked.white_title_none",
        "attacked.white_title_one",
        "attacked.white_title_many",
    ),
}
# Numbers of rows of a register, by what became of them.
COUNTED = {
    "unmatched": "grey_unmatched",
    "single": "grey_single",
    "known": "grey_known",
    "true_matches": "grey_true_matches",
    "false_matches": "grey_false_matches",
    "lost": "grey_lost",
}


def chapters(part: ReportPart) -> tuple[Chapter, ...]:
    """One chapter for each box that was opened: its title is what was found."""
    boxes = part.read(Attacks).attacks.get("identity") or {}
    writers = {
        "black_box": ("black_topic", _black),
        "grey_box": ("grey_topic", _grey),
        "white_box": ("white_topic", _white),
        "linkage": ("linkage_topic", _linkage),
    }
    return tuple(
        Chapter(
            title=_title(part, box, boxes[box]),
            anchor=part.anchor(box.replace("_", "-")),
            blocks=(
                Paragraph(part.say(topic), "reading"),
                *write(part, boxes[box]),
            ),
        )
        for box, (topic, write) in writers.items()
        if box in boxes
    )


def _title(part: ReportPart, box: str, attack: Attack) -> str:
    if box == "linkage":
        right = rate_text(part, attack, "correct_linkage")
        return part.say("linkage_title", share=right, chance=rate_text(part, attack, "baseline"))
    if box == "white_box" and attack.number("discrimination_rate") is None:
        return part.say("white_same")
    many: float
    rows: float
    if box == "black_box":
        many = unique_people(attack)
        rows = part.rows
    elif box == "grey_box":
        many = attack.number("single") or 0
        rows = attack.number("rows") or 0
    else:
        many = certain(attack)
        rows = IdentityDetails.of(attack).paired or 0
    return people(part, TITLES[box], many, rows=part.writer.count(rows))


def points(part: ReportPart) -> Iterator[tuple[str, str]]:
    """How many rows of a register have one candidate; without any, how many people are unique."""
    boxes = part.read(Attacks).attacks.get("identity") or {}
    box = boxes.get("grey_box")
    if box is not None:
        single = box.number("single") or 0
        if single or "black_box" not in boxes:
            key = "matched_some" if single else "matched_none"
            rows = part.writer.count(box.number("rows") or 0)
            yield part.say(key), people(part, FIRST_GREY, single, rows=rows)
            return
    box = boxes.get("black_box")
    if box is not None:
        many = unique_people(box)
        rows = part.writer.count(part.rows)
        head = can_be_found(part, many / part.rows) if many else part.say("black_nobody")
        yield head, people(part, BLACK, many, rows=rows, columns=columns(part))


# -- black box ------------------------------------------------------------------------------------


def unique_people(attack: Attack) -> int:
    """The number of people who are unique."""
    return int(attack.number("people") or 0) if attack.number("candidates") == 1 else 0


def single_candidates(attack: Attack) -> float | None:
    """The number of rows of a register that have one candidate."""
    return attack.number("single")


def _black(part: ReportPart, attack: Attack) -> Iterator[Block]:
    writer = part.writer
    size = attack.number("candidates") or 0
    if size > 1:
        counts = {"size": writer.count(size), "people": writer.count(attack.number("people"))}
        yield Paragraph(part.say("black_groups", **counts))
    yield from _rate(part, attack, "attacked.black_rate_one", "attacked.black_rate_many")
    yield from by_column(part, attack, part.say("columns_chart_record"))
    yield numbers(part, [("discrimination_rate", rate_text(part, attack), "high")])


def _rate(part: ReportPart, attack: Attack, one: str, several: str) -> Iterator[Block]:
    """What one column or several remove, in a sentence; none where it is not defined."""
    rate = rate_text(part, attack)
    if rate.number is not None:
        yield Paragraph(part.texts.plural(len(attack.columns), one, several, rate=rate))


# -- the original ---------------------------------------------------------------------------------


def _white(part: ReportPart, attack: Attack) -> Iterator[Block]:
    writer = part.writer
    details = IdentityDetails.of(attack)
    yield from _rate(part, attack, "attacked.white_rate_one", "attacked.white_rate_many")
    yield Paragraph(part.say("white_paired", paired=writer.count(details.paired)))
    pairing = part.read(Attacks).pairing
    if pairing is not None:
        yield from pairing_paragraphs(part, [pairing])
    if details.paired != part.rows:
        alone = writer.count(details.released_only)
        yield Paragraph(part.say("white_alone", number=alone))
    yield from by_column(part, attack, part.say("columns_chart_original"))
    rate = ("discrimination_rate", rate_text(part, attack), "high")
    yield numbers(part, [rate, *worst_class(writer, attack)])


def _linkage(part: ReportPart, attack: Attack) -> Iterator[Block]:
    writer = part.writer
    linked = IdentityDetails.of(attack).linked
    right = rate_text(part, attack, "correct_linkage")
    chance = rate_text(part, attack, "baseline")
    missed = rate_text(part, attack, "spruill_confidentiality")
    yield Paragraph(part.say("linkage_missed", share=missed))
    words = str(right)
    interval = linked.interval
    if interval is not None:
        low, high = interval
        ends = {"low": writer.share(low), "high": writer.share(high)}
        words = part.texts("reasoned.interval", share=right, **ends)
        yield Paragraph(part.say("linkage_interval", level=writer.share(linked.level), **ends))
        if low <= (attack.number("baseline") or 0.0):
            yield Paragraph(part.say("linkage_chance"))
        yield Paragraph(part.say("linkage_ties", number=writer.count(linked.ties)))
    title = part.say("linkage_chart")
    by_link = part.say("linkage_right")
    by_chance = part.say("linkage_by_chance")
    below = part.say("linkage_below")
    bars = [
        Bar(row=by_link, number=right.number, interval=interval, text=words, shown=str(right)),
        Bar(row=by_chance, number=chance.number, text=str(chance)),
    ]
    head = (part.say("linkage_how"), below)
    grid = make_grid(title, head, ((by_link, words), (by_chance, chance)))
    if right.number is None:
        yield grid
    else:
        spec = shares(title, (below,), bars, axis=below)
        yield Picture(spec=spec, caption=part.say("linkage_caption"), behind=grid)


# -- a register -----------------------------------------------------------------------------------


def _grey(part: ReportPart, attack: Attack) -> Iterator[Block]:
    shared = IdentityDetails.of(attack).columns_shared
    yield Paragraph(part.say("grey_shared", columns=columns(part, shared)))
    fewest = attack.number("candidates")
    many = part.writer.count(attack.number("people"))
    key = "grey_no_match" if fewest is None else "grey_fewest"
    yield Paragraph(part.say(key, size=part.writer.count(fewest), people=many))
    rest = attack.parts.get("without_suppressed")
    if rest is not None:
        yield Paragraph(part.say("grey_hidden"), "note")
    yield _rows(part, [attack] if rest is None else [attack, rest])
    if "known" in attack.numbers:
        yield Paragraph(part.say("grey_harm"), "note")


def _rows(part: ReportPart, sides: Sequence[Attack]) -> Grid:
    """The rows of a register by what became of them."""
    count = part.writer.count
    rows: list[tuple[object, ...]] = [
        (part.say(key), *(count(side.number(name)) for side in sides))
        for name, key in COUNTED.items()
        if name in sides[0].numbers
    ]
    if "right_guesses" in sides[0].numbers:
        guesses = (part.writer.number(side.number("right_guesses")) for side in sides)
        rows.append((part.say("grey_right_guesses"), *guesses))
    rates = (rate_text(part, side, "register_discrimination_rate") for side in sides)
    hidden = count(sides[0].number("suppressed"))
    rows += [
        (part.say("grey_register_discrimination_rate"), *rates),
        (part.say("grey_suppressed"), hidden, *("" for _ in sides[1:])),
    ]
    head = ("grey_number", "grey_all", "grey_without")[: len(sides) + 1]
    return part.grid("grey_table", head, rows)
