"""Whose record is whose: from the release alone, with a register, with the original."""

from __future__ import annotations

from dataclasses import replace

from sievert.charts.reasoning import Share, shares
from sievert.report.chapters.attack.common import (
    Held,
    among,
    by_column,
    certain,
    columns,
    kept_back,
    number,
    numbers,
    of_record,
    of_released,
    people,
    share,
    uncertainty,
)
from sievert.report.page import Block, Chapter, Grid, Paragraph, Picture
from sievert.report.parts import ReportPart
from sievert.report.redaction import NumberText, Redactor

COUNTED = ("unmatched", "single", "known", "true_matches", "false_matches", "lost")


def chapters(part: ReportPart) -> tuple[Chapter, ...]:
    """One chapter for each box that was opened."""
    held = (part.data.get("attacks") or {}).get("identity") or {}
    made = {"black_box": _black, "grey_box": _grey, "white_box": _white, "linkage": _linkage}
    return tuple(
        Chapter(
            part.texts(f"attacked.{box.removesuffix('_box')}_title"),
            part.anchor(box.replace("_", "-")),
            make(part, held[box]),
        )
        for box, make in made.items()
        if box in held
    )


# -- black box ------------------------------------------------------------------------------------


def alone(held: Held) -> int:
    """People who look like nobody else."""
    return int(number(held, "people") or 0) if number(held, "candidates") == 1 else 0


def black_sentence(part: ReportPart, held: Held) -> str:
    """How many are alone."""
    rows, known = part.redactor.everybody(), columns(part)
    return people(part, "attacked.black", alone(held), rows=rows, columns=known)


def _black(part: ReportPart, held: Held) -> tuple[Block, ...]:
    texts, redactor = part.texts, part.redactor
    found: list[Block] = [Paragraph(black_sentence(part, held), "lead")]
    size = number(held, "candidates") or 0
    if redactor.internal and size > 1:
        said = {"size": redactor.count(size), "people": redactor.count(number(held, "people"))}
        found.append(Paragraph(texts("attacked.black_groups", **said)))
    elif size >= redactor.least:
        found.append(Paragraph(texts("attacked.black_ten", least=redactor.least)))
    bits = of_record(redactor)
    found += _rate(part, held, "attacked.black_rate", None, bits)
    found += by_column(part, held, texts("attacked.columns_chart_record"), bits=bits)
    rate = uncertainty(redactor, number(held, "discrimination_rate"), bits=bits)
    return (*found, numbers(part, [("discrimination_rate", rate, "high")]))


def _rate(
    part: ReportPart, held: Held, key: str, of: int | None, bits: float | None = None
) -> list[Block]:
    """What the columns remove, in a sentence; none where it is not told or not defined."""
    many = len(held.get("columns") or ()) != 1
    value = number(held, "discrimination_rate")
    rate = uncertainty(part.redactor, value, of, bits)
    if value is None or kept_back(part.redactor, rate):
        return []
    return [Paragraph(part.texts(f"{key}_{'many' if many else 'one'}", rate=rate))]


# -- the original ---------------------------------------------------------------------------------


def paired(held: Held) -> int | None:
    """Records that both tables have."""
    return held.get("paired")


def white_rate(redactor: Redactor, held: Held) -> NumberText:
    """What a release removes of the uncertainty about the original."""
    value = number(held, "discrimination_rate")
    return uncertainty(redactor, value, paired(held), of_released(held))


def white_sentence(part: ReportPart, held: Held) -> str:
    """Of how many the original values are certain."""
    if part.redactor.internal and number(held, "discrimination_rate") is None:
        return part.texts("attacked.white_same")
    return people(part, "attacked.white", certain(held))


def _white(part: ReportPart, held: Held) -> tuple[Block, ...]:
    texts, redactor, of = part.texts, part.redactor, paired(held)
    found: list[Block] = [Paragraph(white_sentence(part, held), "lead")]
    bits = of_released(held)
    found += _rate(part, held, "attacked.white_rate", of, bits)
    key = "white_paired" if redactor.internal else "white_paired_shared"
    found.append(Paragraph(texts(f"attacked.{key}", paired=redactor.count(of))))
    if redactor.internal and of != redactor.rows:
        lost = redactor.count(held.get("released_only"))
        found.append(Paragraph(texts("attacked.white_alone", number=lost)))
    found += by_column(part, held, texts("attacked.columns_chart_original"), of=of, each=True)
    told: list[tuple[str, NumberText, str]] = [
        ("discrimination_rate", white_rate(redactor, held), "high")
    ]
    worst = held.get("worst_class")
    if redactor.internal and worst:
        for name, side in (
            ("conditional_entropy", "low"),
            ("discrimination_rate_of_value", "high"),
        ):
            told.append((name, redactor.only_internal(number(worst, name)), side))
    return (*found, numbers(part, told))


def _linkage(part: ReportPart, held: Held) -> tuple[Block, ...]:
    texts, redactor, more = part.texts, part.redactor, held.get("linkage") or {}
    right, chance = (share(redactor, number(held, n)) for n in ("correct_linkage", "baseline"))
    if kept_back(redactor, right):
        return (Paragraph(texts("attacked.linkage_withheld"), "note"),)
    found: list[Block] = [
        Paragraph(texts("attacked.linkage_lead", share=right, chance=chance), "lead")
    ]
    told, interval = str(right), None
    if redactor.internal and more.get("interval"):
        low, high = interval = tuple(more["interval"])
        ends = {"low": redactor.share(low), "high": redactor.share(high)}
        told = texts("reasoned.interval", share=right, **ends)
        level = redactor.share(more["level"])
        found.append(Paragraph(texts("attacked.linkage_interval", level=level, **ends)))
        if low <= (number(held, "baseline") or 0.0):
            found.append(Paragraph(texts("attacked.linkage_chance")))
        found.append(Paragraph(texts("attacked.linkage_ties", number=redactor.count(more["ties"]))))
    title, below = texts("attacked.linkage_chart"), texts("attacked.linkage_below")
    rows = (texts("attacked.linkage_right"), texts("attacked.linkage_by_chance"))
    bars = [
        Share(rows[0], right.number, told, interval, shown=str(right)),
        Share(rows[1], chance.number, str(chance)),
    ]
    head = (texts("attacked.linkage_how"), below)
    grid = Grid(title, head, ((rows[0], told), (rows[1], str(chance))), (1,))
    if right.number is None:
        return (*found, grid)
    spec = shares(title, (below,), bars, axis=below)
    return (*found, Picture(spec, texts("attacked.linkage_caption"), grid))


# -- a register -----------------------------------------------------------------------------------


def register_redactor(part: ReportPart, held: Held) -> Redactor:
    """Numbers of a register are about its own rows."""
    return replace(part.redactor, rows=int(number(held, "rows") or 0))


def grey_sentence(part: ReportPart, held: Held, key: str) -> str | None:
    """How many rows have exactly one candidate; None where the register is too small."""
    redactor = register_redactor(part, held)
    if redactor.silent:
        return None
    return people(part, key, number(held, "single") or 0, redactor, rows=redactor.everybody())


def _grey(part: ReportPart, held: Held) -> tuple[Block, ...]:
    texts, redactor = part.texts, register_redactor(part, held)
    lead = grey_sentence(part, held, "attacked.grey")
    if lead is None:
        return (Paragraph(texts("attacked.grey_small"), "note"),)
    both = columns(part, held.get("columns_shared") or ())
    found: list[Block] = [
        Paragraph(lead, "lead"),
        Paragraph(texts("attacked.grey_shared", columns=both)),
    ]
    if redactor.internal:
        fewest = number(held, "candidates")
        said = {"size": redactor.count(fewest), "people": redactor.count(number(held, "people"))}
        key = "attacked.grey_no_match" if fewest is None else "attacked.grey_fewest"
        found.append(Paragraph(texts(key, **said)))
    rest = held.get("without_suppressed")
    if not redactor.internal and (number(held, "suppressed") or 0) < redactor.least:
        rest = None  # that there is any such record is not told
    if rest is not None:
        found.append(Paragraph(texts("attacked.grey_hidden"), "note"))
    found.append(_rows(part, redactor, held, rest))
    if "known" in held:
        found.append(Paragraph(texts("attacked.grey_harm"), "note"))
    return tuple(found)


def _rows(part: ReportPart, redactor: Redactor, held: Held, rest: Held | None) -> Grid:
    """The rows of a register by what became of them."""
    texts = part.texts
    sides = [held] if rest is None else [held, rest]
    rows = [
        (texts(f"attacked.grey_{name}"), *(str(redactor.count(number(s, name))) for s in sides))
        for name in COUNTED
        if name in held
    ]
    if "right_guesses" in held:
        told = [number(s, "right_guesses") for s in sides]
        said = [
            str(redactor.only_internal(x) if redactor.internal else redactor.count(x)) for x in told
        ]
        rows.append((texts("attacked.grey_right_guesses"), *said))
    name = "register_discrimination_rate"
    rows.append(
        (texts(f"attacked.grey_{name}"), *(str(register_rate(redactor, side)) for side in sides))
    )
    blank = ("",) * (len(sides) - 1)
    hidden = str(part.redactor.count(number(held, "suppressed")))
    rows.append((texts("attacked.grey_suppressed"), hidden, *blank))
    head = ["number", "all", *(["without"] if rest is not None else [])]
    return Grid(
        texts("attacked.grey_table"),
        tuple(texts(f"attacked.grey_{h}") for h in head),
        tuple(rows),
        tuple(range(1, len(head))),
    )


def register_rate(redactor: Redactor, held: Held) -> NumberText:
    """What a register's rows with candidates remove of the uncertainty."""
    matched = redactor.rows - (number(held, "unmatched") or 0)
    return among(redactor, number(held, "register_discrimination_rate"), matched, uncertain=True)
