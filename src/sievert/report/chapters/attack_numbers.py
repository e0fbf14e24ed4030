"""What the chapters on attacks have in common: numbers of the JSON, people in words, columns."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from sievert.charts.curves import Share, shares
from sievert.charts.drawing import short_name
from sievert.charts.results import make_unique
from sievert.report.page import Block, Grid, Link, Paragraph, Picture, make_grid
from sievert.report.redaction import LONGEST, Data, NumberText, Redactor, ReportPart
from sievert.sharing import FEW_CELLS

NAMED_COLUMNS = 4  # more are counted
MOST_COLUMNS, MOST_VALUES = 30, 30
DRAWN_COLUMNS, LISTED_COLUMNS = 2, 6  # whose values are drawn, and listed


def number(data: Data, name: str) -> float | None:
    """A number of the JSON; None where there is none."""
    entry = data.get(name)
    return entry.get("value") if isinstance(entry, Mapping) else None


def certain(data: Data) -> int:
    """People of whom everything is certain: those in classes where no doubt is left."""
    left = number(data.get("worst_class") or {}, "conditional_entropy")
    return int(number(data, "people") or 0) if left == 0 else 0


def people(
    part: ReportPart, key: str, many: float, redactor: Redactor | None = None, **places: object
) -> str:
    """The sentence for nobody, one, few or many people.

    On a shareable page nobody and few are one sentence.
    """
    redactor = redactor or part.redactor
    count = redactor.count(many)
    if redactor.internal:
        end = {0.0: "none", 1.0: "one"}.get(many, "many")
    else:
        end = "few" if count.number is None else "many"
    return part.texts(f"{key}_{end}", **{**places, "people": count, "least": redactor.least})


def is_withheld(redactor: Redactor, text: NumberText) -> bool:
    """Whether a number is not shown at all, not even roughly."""
    return text == redactor.withheld_text()


def uncertainty(
    redactor: Redactor, value: float | None, of: int | None = None, bits: float | None = None
) -> NumberText:
    """A share of uncertainty; a shareable page does not tell either that there is none."""
    if value is None and not redactor.internal:
        return redactor.withheld_text()
    return _whole_bar(redactor, redactor.rate(value, of, bits), value)


def share(redactor: Redactor, value: float | None, of: int | None = None) -> NumberText:
    """A share of people."""
    return _whole_bar(redactor, redactor.share(value, of), value)


def _whole_bar(redactor: Redactor, text: NumberText, value: float | None) -> NumberText:
    """What is nearly everything is drawn as a whole bar: none at all would look like nothing."""
    nearly = text.number is None and value is not None and value > 0.5
    return NumberText(text.text, 1.0) if nearly and not is_withheld(redactor, text) else text


def among(
    redactor: Redactor, value: float | None, many: float, *, uncertain: bool = False
) -> NumberText:
    """A share of some people only; withheld where they are few."""
    if not redactor.internal and many < FEW_CELLS * redactor.least:
        return redactor.withheld_text()
    return (uncertainty if uncertain else share)(redactor, value, int(many))


def record_bits(redactor: Redactor) -> float:
    """Bits that tell whose a record is."""
    return math.log2(max(redactor.rows, 2))


def secret_bits(part: ReportPart, secret: str) -> float | None:
    """Bits of a secret: measured by an assessment, or what it has at least."""
    entropy = part.data.get("inference", {}).get(secret, {}).get("entropy") or {}
    if entropy.get("value") is not None:
        return float(entropy["value"])
    attacks = part.data.get("attacks") or {}
    skewness, reasoning = (
        (attacks.get(a) or {}).get(secret) or {} for a in ("skewness", "reasoning")
    )
    return max(value_bits(skewness), least_bits([number(reasoning, "baseline")]))


def value_bits(skewness: Data) -> float:
    """The fewest bits that values have of which these are the shares."""
    listed = (skewness.get("values") or {}).get("listed") or []
    return max(least_bits([v["prior"] for v in listed]), least_bits([number(skewness, "prior")]))


def release_bits(data: Data) -> float:
    """The fewest bits that released columns have, at most one: originals hardly have less."""
    return max(map(column_bits, (data.get("columns") or {}).values()), default=0.0)


def column_bits(column: Data) -> float:
    """The fewest bits that one released column has, at most one."""
    records = [v["records"] for v in (column.get("values") or {}).get("listed") or []]
    return min(1.0, least_bits([r / (sum(records) or 1) for r in records]))


def least_bits(shares: Sequence[float | None]) -> float:
    """The fewest bits of anything with these shares, all others taken for one value.

    >>> least_bits([0.5, 0.5]), least_bits([0.25]) > 0.8, least_bits([])
    (1.0, True, 0.0)
    """
    known = [p for p in shares if p is not None]
    return sum((-p * math.log2(p) for p in [*known, max(0.0, 1.0 - sum(known))] if 0 < p < 1), 0.0)


def columns(part: ReportPart, given: Sequence[str] | None = None) -> str:
    """The columns that an outsider knows, in a sentence; many are counted only."""
    names = list(part.data["roles"]["quasi"] if given is None else given)
    many = len(names) > NAMED_COLUMNS
    return part.say("many_columns", number=len(names)) if many else part.redactor.names(names)


def secrets(part: ReportPart, attack: str) -> list[tuple[int, str, Data]]:
    """The secrets of an attack in the order of the roles, with the number of each."""
    attacks = (part.data.get("attacks") or {}).get(attack) or {}
    order = dict.fromkeys([*(part.data["roles"].get("sensitive") or ()), *attacks])
    return [(i, s, attacks[s]) for i, s in enumerate(order, 1) if s in attacks]


def share_chart(
    part: ReportPart, key: str, title: str, bars: Sequence[Share], grid: Grid, axis: str = ""
) -> Picture:
    """A picture of shares; its texts begin with the same key."""
    below, caption = part.texts.each(key, ("below", "caption"))
    spec = shares(title, (below,), bars, axis=part.texts(axis) if axis else below)
    return Picture(spec, caption, grid)


def by_column(
    part: ReportPart,
    data: Data,
    title: str,
    *,
    of: int | None = None,
    bits: float | None = None,
    each: bool = False,
    drawn: bool = True,
) -> Iterator[Block]:
    """How much each column alone removes of the uncertainty, and all of them: picture, table.

    With `each`, a column is uncertain by itself.
    """
    redactor, columns = part.redactor, data.get("columns") or {}

    def rate(entry: Data, own: Callable[[Data], float]) -> NumberText:
        value = number(entry, "discrimination_rate")
        return uncertainty(redactor, value, of, own(entry) if each else bits)

    order = [c for c in dict.fromkeys((*part.data["roles"]["quasi"], *columns)) if c in columns]
    rates = [(redactor.name(c), rate(columns[c], column_bits)) for c in order]
    if len(order) > MOST_COLUMNS:
        rates = sorted(rates, key=lambda r: (-(r[1].number or 0.0), r[0]))[:MOST_COLUMNS]
    if many := len(order) > 1:
        rates.append((part.say("combined"), rate(data, release_bits)))
    if all(is_withheld(redactor, text) for _, text in rates):
        yield from [Paragraph(part.say("columns_withheld"), "note")] if rates else ()
        return
    names = make_unique(name for name, _ in rates)
    rows = list(zip(names, (text for _, text in rates), strict=True))
    grid = make_grid(title, part.texts.each("attacked.columns", ("head", "rate")), rows)
    if drawn and any(text.number is not None for _, text in rows):
        bars = [
            Share(name, text.number, str(text), last=many and name == names[-1])
            for name, text in rows
        ]
        below, axis = part.texts.each("attacked.columns", ("below", "axis"))
        caption = part.say(f"columns_caption{'' if many else '_one'}")
        yield Picture(shares(title, (below,), bars, axis=axis), caption, grid)
    else:
        yield grid
    if len(order) > MOST_COLUMNS:
        yield Paragraph(part.say("columns_left", shown=MOST_COLUMNS, number=len(order)), "note")


def by_value(part: ReportPart, data: Data, secret: str) -> Iterator[Block]:
    """The values of the columns that tell most, on an internal page only."""
    if not part.internal:
        return
    every = data.get("columns") or {}
    order = sorted(every, key=lambda c: -(number(every[c], "discrimination_rate") or 0.0))
    for place, column in enumerate(order[:LISTED_COLUMNS]):
        yield from _values(part, every[column]["values"], secret, column, place < DRAWN_COLUMNS)
    if len(order) > LISTED_COLUMNS:
        yield Paragraph(part.say("values_columns", shown=LISTED_COLUMNS, number=len(order)), "note")
    if any("values" not in g for column in every.values() for g in column["values"]["listed"]):
        yield Paragraph(part.say("values_hidden"), "note")


def _values(
    part: ReportPart, values: Data, secret: str, column: str, drawn: bool
) -> Iterator[Block]:
    redactor, groups = part.redactor, values["listed"][:MOST_VALUES]
    rates = [redactor.rate(g["discrimination_rate_of_value"]) for g in groups]
    if all(rate.number is None for rate in rates):
        return
    rows = value_names(part, groups, column)
    names = {"secret": redactor.name(secret), "column": redactor.name(column)}
    grid = make_grid(
        part.say("values_title", **names),
        part.texts.each("attacked.values", ("head", "records", "rate")),
        zip(rows, (redactor.count(g["records"]) for g in groups), rates, strict=True),
        folded=True,
    )
    bars = [Share(row, rate.number, str(rate)) for row, rate in zip(rows, rates, strict=True)]
    title, key = part.say("values_chart", **names), "attacked.values"
    yield share_chart(part, key, title, bars, grid, "attacked.columns_axis") if drawn else grid
    yield from values_left(part, values, groups)


def values_left(part: ReportPart, values: Data, groups: Sequence[Data]) -> Iterator[Block]:
    """How many values are not shown, where there are any."""
    if values["number"] > len(groups):
        of = {"shown": len(groups), "number": f"{values['number']:,}"}
        yield Paragraph(part.say("values_left", **of), "note")


def value_names(part: ReportPart, groups: Sequence[Data], column: str) -> list[str]:
    """Values as they are called: by themselves where they are shown, or by their rank."""
    return make_unique(_value_name(part, g, column, rank) for rank, g in enumerate(groups, 1))


def _value_name(part: ReportPart, group: Data, column: str, rank: int) -> str:
    if "values" not in group:
        return part.say("value_rank", rank=rank)
    if (value := group["values"].get(column)) is None:
        return part.say("value_missing")
    return short_name(value, LONGEST) if value.strip() else part.say("value_blank")


def numbers(part: ReportPart, given: Iterable[tuple[str, NumberText, str]]) -> Grid:
    """A table of measures, each with its definition behind a link, and its risky side."""
    rows = (
        (Link(part.say(f"name_{name}"), f"def-{name}"), text, part.say(f"side_{side}"))
        for name, text, side in given
    )
    head = part.texts.each("attacked.numbers", ("name", "value", "side"))
    return make_grid(part.say("numbers_table"), head, rows, (1,))


def worst_class(redactor: Redactor, data: Data) -> list[tuple[str, NumberText, str]]:
    """What one class tells, for the operator."""
    sides = {"conditional_entropy": "low", "discrimination_rate_of_value": "high"}
    worst = data.get("worst_class") if redactor.internal else None
    return [(m, redactor.only_internal(number(worst, m)), s) for m, s in sides.items() if worst]
