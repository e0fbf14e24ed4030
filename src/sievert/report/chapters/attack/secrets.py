"""What a release tells of a secret: homogeneity, background knowledge, skewness, meaning."""

from __future__ import annotations

from sievert.charts.reasoning import Share, shares
from sievert.report.chapters.attack.common import (
    MOST_VALUES,
    Held,
    among,
    by_column,
    by_value,
    certain,
    columns,
    kept_back,
    number,
    numbers,
    of_secret,
    of_values,
    people,
    secrets,
    uncertainty,
    value_names,
)
from sievert.report.page import Block, Chapter, Grid, Paragraph, Picture, Spec
from sievert.report.parts import ReportPart
from sievert.report.redaction import NumberText, Redactor

DRAWN = 3  # secrets with pictures; more have tables
WITH_VALUES = 1  # secrets with pictures by value


def chapters(part: ReportPart) -> tuple[Block | Chapter, ...]:
    """A chapter for each secret, with a chapter for each attack on it."""
    found: list[Block | Chapter] = []
    every = secrets(part, "homogeneity")
    for i, secret, held in every:
        title = part.texts("attacked.secret_title", secret=part.redactor.name(secret))
        blocks = [_chapter(part, i, "homogeneity", homogeneity(part, i, secret, held))]
        for attack, make in MADE.items():
            told = {s: h for _, s, h in secrets(part, attack)}.get(secret)
            made = () if told is None else make(part, secret, told)
            if made:
                blocks.append(_chapter(part, i, attack, made))
        found.append(Chapter(title, part.anchor(f"secret{i}"), tuple(blocks)))
    if len(every) > DRAWN:
        left = part.texts("attacked.columns_rest", shown=DRAWN, number=len(every))
        found.append(Paragraph(left, "note"))
    return tuple(found)


def _chapter(part: ReportPart, i: int, attack: str, blocks: tuple[Block, ...]) -> Chapter:
    title = part.texts(f"attacked.{attack}_title")
    return Chapter(title, part.anchor(f"secret{i}-{attack}"), blocks)


# -- homogeneity ----------------------------------------------------------------------------------


def homogeneity_sentence(part: ReportPart, secret: str, held: Held) -> str:
    """For how many a secret is certain."""
    name = part.redactor.name(secret)
    if part.redactor.internal and number(held, "discrimination_rate") is None:
        return part.texts("attacked.homogeneity_same", secret=name)
    known = columns(part)
    return people(part, "attacked.homogeneity", certain(held), secret=name, columns=known)


def homogeneity(part: ReportPart, i: int, secret: str, held: Held) -> tuple[Block, ...]:
    """Who is certain, how much the columns tell, and which of them."""
    texts, redactor, name = part.texts, part.redactor, part.redactor.name(secret)
    bits = of_secret(part, secret)
    rate = uncertainty(redactor, number(held, "discrimination_rate"), bits=bits)
    found: list[Block] = [Paragraph(homogeneity_sentence(part, secret, held), "lead")]
    if redactor.internal and number(held, "discrimination_rate") is None:
        return tuple(found)
    if not kept_back(redactor, rate):
        found.append(Paragraph(texts("attacked.homogeneity_rate", rate=rate, secret=name)))
    told: list[tuple[str, NumberText, str]] = [("discrimination_rate", rate, "high")]
    worst = held.get("worst_class")
    if redactor.internal and worst:
        said = {
            "records": redactor.count(worst["records"]),
            "confidence": uncertainty(redactor, number(worst, "confidence")),
            "bits": redactor.bits(number(worst, "conditional_entropy")),
        }
        found.append(Paragraph(texts("attacked.homogeneity_worst", **said)))
        for measure, side in (
            ("conditional_entropy", "low"),
            ("discrimination_rate_of_value", "high"),
        ):
            told.append((measure, redactor.only_internal(number(worst, measure)), side))
    title = texts("attacked.columns_chart_secret", secret=name)
    found += by_column(part, held, title, bits=bits, drawn=i <= DRAWN)
    found.append(numbers(part, told))
    if i <= WITH_VALUES:
        found += by_value(part, held, secret)
    return (*found, Paragraph(texts("attacked.homogeneity_reading"), "reading"))


# -- background knowledge -------------------------------------------------------------------------


def background(part: ReportPart, secret: str, held: Held) -> tuple[Block, ...]:
    """What is still missing, and what ruling out likely values gives."""
    texts, redactor, name = part.texts, part.redactor, part.redactor.name(secret)
    missing = number(held, "missing")
    if redactor.internal and missing is None:
        return (Paragraph(texts("attacked.background_same", secret=name), "lead"),)
    left = uncertainty(redactor, missing, bits=of_secret(part, secret))
    key = f"attacked.background_{'withheld' if kept_back(redactor, left) else 'lead'}"
    lead = texts(key, missing=left, secret=name)
    rows = []
    for m in (1, 2, 3):
        ruled_out = held.get(f"ruled_out_{m}")
        if ruled_out is not None:
            many = number(ruled_out, "people") or 0
            gain = among(redactor, number(ruled_out, "gain"), many)
            counted = (str(redactor.count(number(ruled_out, n))) for n in ("people", "certain"))
            rows.append((texts(f"attacked.background_{m}"), *counted, str(gain).replace(" %", "")))
    head = tuple(texts(f"attacked.background_{h}") for h in ("which", "people", "certain", "gain"))
    return (
        Paragraph(lead, "note" if kept_back(redactor, left) else "lead"),
        Grid(texts("attacked.background_table"), head, tuple(rows), (1, 2, 3)),
        Paragraph(texts("attacked.background_reading"), "reading"),
    )


# -- skewness -------------------------------------------------------------------------------------


def skewness(part: ReportPart, secret: str, held: Held) -> tuple[Block, ...]:
    """What is rare in the table and likely in a class: one class decides, so the operator's own."""
    texts, redactor, name = part.texts, part.redactor, part.redactor.name(secret)
    if not redactor.internal:
        return ()
    if not held.get("occurs", True):
        return (Paragraph(texts("attacked.skewness_absent", secret=name), "lead"),)
    worst = held.get("worst_class")
    if worst is None:
        return (Paragraph(texts("attacked.skewness_flat", secret=name), "lead"),)
    key = f"attacked.skewness_lead_{'named' if held.get('named_value') else 'any'}"
    lead = texts(
        key,
        secret=name,
        prior=redactor.share(number(held, "prior")),
        posterior=redactor.share(number(held, "posterior")),
        records=redactor.count(worst["records"]),
        ratio=redactor.only_internal(number(held, "ratio")),
    )
    concerned = redactor.count(number(held, "people"))
    told = ("semantic_discrimination_rate", "t_closeness", "entropy_variation")
    return (
        Paragraph(lead, "lead"),
        Paragraph(texts("attacked.skewness_people", people=concerned)),
        numbers(part, [(n, redactor.only_internal(number(held, n)), "high") for n in told]),
        *_risen(part, secret, held),
    )


def _risen(part: ReportPart, secret: str, held: Held) -> tuple[Block, ...]:
    """The values of a secret by how likely they become in some class."""
    texts, redactor, listed = part.texts, part.redactor, held.get("values") or {}
    groups = (listed.get("listed") or [])[:MOST_VALUES]
    if not groups:
        return ()
    rows = value_names(part, groups, secret)
    told = [redactor.share(g["posterior"]) for g in groups]
    head = (
        "values_head",
        "values_records",
        "skewness_prior",
        "skewness_posterior",
        "skewness_ratio",
    )
    title = texts("attacked.skewness_chart", secret=redactor.name(secret))
    cells = [
        (
            row,
            str(redactor.count(g["records"])),
            str(redactor.share(g["prior"])),
            str(t),
            str(redactor.only_internal(g["ratio"])),
        )
        for row, g, t in zip(rows, groups, told, strict=True)
    ]
    grid = Grid(
        title, tuple(texts(f"attacked.{h}") for h in head), tuple(cells), (1, 2, 3, 4), folded=True
    )
    found: tuple[Block, ...] = (grid,)
    if len({t.number for t in told}) > 1:  # as many equal bars would show nothing
        found = (Picture(_bars(part, title, rows, told), texts("attacked.skewness_caption"), grid),)
    if listed["number"] > len(groups):
        left = texts("attacked.values_left", shown=len(groups), number=f"{listed['number']:,}")
        found = (*found, Paragraph(left, "note"))
    return found


def _bars(part: ReportPart, title: str, rows: list[str], told: list[NumberText]) -> Spec:
    bars = [Share(r, t.number, str(t)) for r, t in zip(rows, told, strict=True)]
    below, axis = (part.texts(f"attacked.skewness_{w}") for w in ("below", "axis"))
    return shares(title, (below,), bars, axis=axis)


# -- meaning --------------------------------------------------------------------------------------


def merged(held: Held) -> list[tuple[int | None, Held]]:
    """How a secret was merged: by the partition (None), by levels of its hierarchy."""
    found: list[tuple[int | None, Held]] = []
    if "partition" in held:
        found.append((None, held["partition"]))
    levels = sorted(int(k[6:]) for k in held if k.startswith("level_") and k[6:].isdecimal())
    return found + [(level, held[f"level_{level}"]) for level in levels]


def meant(redactor: Redactor, held: Held) -> NumberText:
    """What is removed of the uncertainty about a merged secret."""
    value = number(held, "semantic_discrimination_rate")
    return uncertainty(redactor, value, bits=of_values(held.get("skewness") or {}))


def semantic(part: ReportPart, secret: str, held: Held) -> tuple[Block, ...]:
    """Who is certain after values that mean the same were put together."""
    texts, redactor = part.texts, part.redactor
    ways = merged(held)
    if not ways:
        return ()
    most = max(certain(h) for _, h in ways)
    lead = people(part, "attacked.semantic", most, secret=redactor.name(secret))
    rows = []
    for level, told in ways:
        by = (
            texts("attacked.semantic_partition")
            if level is None
            else texts("attacked.semantic_level", level=level)
        )
        row = (by, str(redactor.count(certain(told))), str(meant(redactor, told)))
        rows.append(
            (*row, str(redactor.count(number(told, "parts")))) if redactor.internal else row
        )
    head = ("by", "people", "rate", "parts")[: len(rows[0])]
    grid = Grid(
        texts("attacked.semantic_table"),
        tuple(texts(f"attacked.semantic_{h}") for h in head),
        tuple(rows),
        tuple(range(1, len(head))),
    )
    return Paragraph(lead, "lead"), grid, Paragraph(texts("attacked.semantic_reading"), "reading")


MADE = {"background": background, "skewness": skewness, "semantic": semantic}
