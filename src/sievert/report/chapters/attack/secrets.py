"""What a release tells of a secret: homogeneity, background knowledge, skewness, meaning."""

from __future__ import annotations

from collections.abc import Iterator

from sievert.charts.reasoning import Share
from sievert.report.chapters.attack.common import (
    MOST_VALUES,
    among,
    by_column,
    by_value,
    certain,
    columns,
    kept_back,
    number,
    numbers,
    people,
    secret_bits,
    secrets,
    share_chart,
    uncertainty,
    value_bits,
    value_names,
    values_left,
    worst_class,
)
from sievert.report.page import Block, Chapter, Paragraph, make_grid
from sievert.report.parts import Data, ReportPart
from sievert.report.redaction import NumberText, Redactor

DRAWN = 3  # secrets with pictures; more have tables
WITH_VALUES = 1  # secrets with pictures by value


def chapters(part: ReportPart) -> Iterator[Block | Chapter]:
    """A chapter for each secret, with a chapter for each attack on it."""
    every = secrets(part, "homogeneity")
    others = {a: {s: data for _, s, data in secrets(part, a)} for a in WRITERS}
    for i, secret, data in every:
        attacks = {"homogeneity": homogeneity(part, i, secret, data)} | {
            attack: tuple(write(part, secret, others[attack][secret]))
            for attack, write in WRITERS.items()
            if secret in others[attack]
        }
        inner = tuple(
            Chapter(part.texts(f"attacked.{a}_title"), part.anchor(f"secret{i}-{a}"), blocks)
            for a, blocks in attacks.items()
            if blocks
        )
        title = part.texts("attacked.secret_title", secret=part.redactor.name(secret))
        yield Chapter(title, part.anchor(f"secret{i}"), inner)
    if len(every) > DRAWN:
        left = part.texts("attacked.columns_rest", shown=DRAWN, number=len(every))
        yield Paragraph(left, "note")


# -- homogeneity ----------------------------------------------------------------------------------


def homogeneity_sentence(part: ReportPart, secret: str, data: Data) -> str:
    """For how many a secret is certain."""
    name = part.redactor.name(secret)
    if part.redactor.internal and number(data, "discrimination_rate") is None:
        return part.texts("attacked.homogeneity_same", secret=name)
    known = columns(part)
    return people(part, "attacked.homogeneity", certain(data), secret=name, columns=known)


def homogeneity(part: ReportPart, i: int, secret: str, data: Data) -> tuple[Block, ...]:
    """Who is certain, how much the columns tell, and which of them."""
    texts, redactor, name = part.texts, part.redactor, part.redactor.name(secret)
    bits, value = secret_bits(part, secret), number(data, "discrimination_rate")
    rate = uncertainty(redactor, value, bits=bits)
    lead = Paragraph(homogeneity_sentence(part, secret, data), "lead")
    if redactor.internal and value is None:
        return (lead,)
    blocks: list[Block] = [lead]
    if not kept_back(redactor, rate):
        blocks.append(Paragraph(texts("attacked.homogeneity_rate", rate=rate, secret=name)))
    worst = data.get("worst_class")
    if redactor.internal and worst:
        said = {
            "records": redactor.count(worst["records"]),
            "confidence": uncertainty(redactor, number(worst, "confidence")),
            "bits": redactor.bits(number(worst, "conditional_entropy")),
        }
        blocks.append(Paragraph(texts("attacked.homogeneity_worst", **said)))
    title = texts("attacked.columns_chart_secret", secret=name)
    return (
        *blocks,
        *by_column(part, data, title, bits=bits, drawn=i <= DRAWN),
        numbers(part, [("discrimination_rate", rate, "high"), *worst_class(redactor, data)]),
        *(by_value(part, data, secret) if i <= WITH_VALUES else ()),
        Paragraph(texts("attacked.homogeneity_reading"), "reading"),
    )


# -- background knowledge -------------------------------------------------------------------------


def background(part: ReportPart, secret: str, data: Data) -> Iterator[Block]:
    """What is still missing, and what ruling out likely values gives."""
    texts, redactor, name = part.texts, part.redactor, part.redactor.name(secret)
    missing = number(data, "missing")
    if redactor.internal and missing is None:
        yield Paragraph(texts("attacked.background_same", secret=name), "lead")
        return
    left = uncertainty(redactor, missing, bits=secret_bits(part, secret))
    key, kind = ("withheld", "note") if kept_back(redactor, left) else ("lead", "lead")
    yield Paragraph(texts(f"attacked.background_{key}", missing=left, secret=name), kind)
    rows = []
    for m in (1, 2, 3):
        if (after := data.get(f"ruled_out_{m}")) is not None:
            gain = among(redactor, number(after, "gain"), number(after, "people") or 0)
            counts = (redactor.count(number(after, n)) for n in ("people", "certain"))
            rows.append((texts(f"attacked.background_{m}"), *counts, str(gain).replace(" %", "")))
    head = texts.each("attacked.background", ("which", "people", "certain", "gain"))
    yield make_grid(texts("attacked.background_table"), head, rows)
    yield Paragraph(texts("attacked.background_reading"), "reading")


# -- skewness -------------------------------------------------------------------------------------


def skewness(part: ReportPart, secret: str, data: Data) -> Iterator[Block]:
    """What is rare in the table and likely in a class: one class decides, so the operator's own."""
    texts, redactor, name = part.texts, part.redactor, part.redactor.name(secret)
    worst = data.get("worst_class")
    if not redactor.internal:
        return
    if worst is None or not data.get("occurs", True):
        key = "flat" if data.get("occurs", True) else "absent"
        yield Paragraph(texts(f"attacked.skewness_{key}", secret=name), "lead")
        return
    lead = texts(
        f"attacked.skewness_lead_{'named' if data.get('named_value') else 'any'}",
        secret=name,
        prior=redactor.share(number(data, "prior")),
        posterior=redactor.share(number(data, "posterior")),
        records=redactor.count(worst["records"]),
        ratio=redactor.only_internal(number(data, "ratio")),
    )
    yield Paragraph(lead, "lead")
    concerned = redactor.count(number(data, "people"))
    yield Paragraph(texts("attacked.skewness_people", people=concerned))
    measures = ("semantic_discrimination_rate", "t_closeness", "entropy_variation")
    exact = redactor.only_internal
    yield numbers(part, [(m, exact(number(data, m)), "high") for m in measures])
    yield from _likely_values(part, secret, data.get("values") or {})


def _likely_values(part: ReportPart, secret: str, values: Data) -> Iterator[Block]:
    """The values of a secret by how likely they become in some class."""
    texts, redactor = part.texts, part.redactor
    groups = (values.get("listed") or [])[:MOST_VALUES]
    if not groups:
        return
    names = value_names(part, groups, secret)
    shares = [redactor.share(g["posterior"]) for g in groups]
    columns = texts.each("attacked.values", ("head", "records"))
    columns += texts.each("attacked.skewness", ("prior", "posterior", "ratio"))
    title = texts("attacked.skewness_chart", secret=redactor.name(secret))
    rows = (
        (
            name,
            redactor.count(g["records"]),
            redactor.share(g["prior"]),
            share,
            redactor.only_internal(g["ratio"]),
        )
        for name, g, share in zip(names, groups, shares, strict=True)
    )
    grid = make_grid(title, columns, rows, folded=True)
    bars = [Share(name, s.number, str(s)) for name, s in zip(names, shares, strict=True)]
    differ = len({s.number for s in shares}) > 1  # as many equal bars would show nothing
    key = "attacked.skewness"
    yield share_chart(part, key, title, bars, grid, f"{key}_axis") if differ else grid
    yield from values_left(part, values, groups)


# -- meaning --------------------------------------------------------------------------------------


def merges(data: Data) -> list[tuple[int | None, Data]]:
    """How a secret was merged: by the partition (None), by levels of its hierarchy."""
    levels = sorted(int(k[6:]) for k in data if k.startswith("level_") and k[6:].isdecimal())
    partition = [(None, data["partition"])] if "partition" in data else []
    return [*partition, *((level, data[f"level_{level}"]) for level in levels)]


def merged_rate(redactor: Redactor, data: Data) -> NumberText:
    """What is removed of the uncertainty about a merged secret."""
    value = number(data, "semantic_discrimination_rate")
    return uncertainty(redactor, value, bits=value_bits(data.get("skewness") or {}))


def semantic(part: ReportPart, secret: str, data: Data) -> Iterator[Block]:
    """Who is certain after values that mean the same were put together."""
    texts, redactor, ways = part.texts, part.redactor, merges(data)
    if not ways:
        return
    most = max(certain(way) for _, way in ways)
    lead = people(part, "attacked.semantic", most, secret=redactor.name(secret))
    yield Paragraph(lead, "lead")
    rows = [
        (
            texts(f"attacked.semantic_{'partition' if level is None else 'level'}", level=level),
            redactor.count(certain(way)),
            merged_rate(redactor, way),
            *([redactor.count(number(way, "parts"))] if redactor.internal else ()),
        )
        for level, way in ways
    ]
    head = texts.each("attacked.semantic", ("by", "people", "rate", "parts")[: len(rows[0])])
    yield make_grid(texts("attacked.semantic_table"), head, rows)
    yield Paragraph(texts("attacked.semantic_reading"), "reading")


WRITERS = {"background": background, "skewness": skewness, "semantic": semantic}
