"""What the chapters on attacks have in common: numbers of the JSON, people in words, columns."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sievert.charts.drawing import short_name
from sievert.charts.reasoning import Share, shares
from sievert.charts.results import make_unique
from sievert.report.page import Block, Cell, Grid, Link, Paragraph, Picture
from sievert.report.parts import ReportPart
from sievert.report.redaction import LONGEST, NumberText, Redactor
from sievert.sharing import FEW_CELLS

Held = Mapping[str, Any]
NAMED_COLUMNS = 4  # more are counted
MOST_COLUMNS, MOST_VALUES = 30, 30
DRAWN_COLUMNS, LISTED_COLUMNS = 2, 6  # whose values are drawn, and listed


def number(held: Held, name: str) -> float | None:
    """A number of the JSON; None where there is not any."""
    found = held.get(name)
    return found.get("value") if isinstance(found, Mapping) else None


def certain(held: Held) -> int:
    """People of whom everything is certain: those in classes where no doubt is left."""
    left = number(held.get("worst_class") or {}, "conditional_entropy")
    return int(number(held, "people") or 0) if left == 0 else 0


def people(
    part: ReportPart, key: str, many: float, redactor: Redactor | None = None, **places: object
) -> str:
    """The sentence for nobody, one, few or many people.

    Fit to pass on, nobody and few are one sentence.
    """
    redactor = redactor or part.redactor
    said = redactor.count(many)
    places = {**places, "people": said, "least": redactor.least}
    if not redactor.internal:
        return part.texts(f"{key}_{'few' if said.number is None else 'many'}", **places)
    return part.texts(f"{key}_{'none' if many == 0 else 'one' if many == 1 else 'many'}", **places)


def kept_back(redactor: Redactor, said: NumberText) -> bool:
    """Whether a number is not told at all, not even roughly."""
    return said == redactor.withheld()


def uncertainty(
    redactor: Redactor, value: float | None, of: int | None = None, bits: float | None = None
) -> NumberText:
    """A share of uncertainty; fit to pass on, that there is none to share is not told either."""
    if value is None and not redactor.internal:
        return redactor.withheld()
    return _drawn(redactor, redactor.rate(value, of, bits), value)


def of_record(redactor: Redactor) -> float:
    """Bits that tell whose a record is."""
    return math.log2(max(redactor.rows, 2))


def of_secret(part: ReportPart, secret: str) -> float | None:
    """Bits of a secret: measured by an assessment, or what it has at least."""
    held = part.data.get("inference", {}).get(secret, {}).get("entropy") or {}
    if held.get("value") is not None:
        return float(held["value"])
    attacks = part.data.get("attacks") or {}
    skewness = (attacks.get("skewness") or {}).get(secret) or {}
    named = number((attacks.get("reasoning") or {}).get(secret) or {}, "baseline")
    return max(of_values(skewness), at_least([named] if named else []))


def of_values(skewness: Held) -> float:
    """The fewest bits that values have of which these are the shares."""
    listed = (skewness.get("values") or {}).get("listed") or []
    prior = number(skewness, "prior")
    return max(at_least([v["prior"] for v in listed]), at_least([prior] if prior else []))


def of_released(held: Held) -> float:
    """The fewest bits that released columns have, at most one: originals hardly have less."""
    each = (held.get("columns") or {}).values()
    return max((released(column) for column in each), default=0.0)


def released(column: Held) -> float:
    """The fewest bits that one released column has, at most one."""
    listed = (column.get("values") or {}).get("listed") or []
    records = [v["records"] for v in listed]
    return min(1.0, at_least([r / (sum(records) or 1) for r in records]))


def at_least(shares: Sequence[float]) -> float:
    """The fewest bits of anything with these shares, all others taken for one value.

    >>> at_least([0.5, 0.5]), at_least([0.25]) > 0.8, at_least([])
    (1.0, True, 0.0)
    """
    parts = [*shares, max(0.0, 1.0 - sum(shares))] if shares else []
    return sum((-p * math.log2(p) for p in parts if 0 < p < 1), 0.0)


def share(redactor: Redactor, value: float | None, of: int | None = None) -> NumberText:
    """A share of people."""
    return _drawn(redactor, redactor.share(value, of), value)


def _drawn(redactor: Redactor, said: NumberText, value: float | None) -> NumberText:
    """What is nearly everything is drawn as a whole bar: none at all would look like nothing."""
    if said.number is None and value is not None and value > 0.5 and not kept_back(redactor, said):
        return NumberText(said.text, 1.0)
    return said


def among(
    redactor: Redactor, value: float | None, many: float, *, uncertain: bool = False
) -> NumberText:
    """A share of some people only; not told where they are few."""
    if not redactor.internal and many < FEW_CELLS * redactor.least:
        return redactor.withheld()
    return (
        uncertainty(redactor, value, int(many)) if uncertain else share(redactor, value, int(many))
    )


def columns(part: ReportPart, given: Sequence[str] | None = None) -> str:
    """The columns that an outsider knows, in a sentence; many are counted only."""
    held = list(part.data["roles"]["quasi"] if given is None else given)
    if len(held) > NAMED_COLUMNS:
        return part.texts("attacked.many_columns", number=len(held))
    return part.redactor.names(held)


def secrets(part: ReportPart, attack: str) -> list[tuple[int, str, Held]]:
    """The secrets of an attack in the order of the roles, with the number of each."""
    held = (part.data.get("attacks") or {}).get(attack) or {}
    order = list(dict.fromkeys([*(part.data["roles"].get("sensitive") or ()), *held]))
    return [(i, s, held[s]) for i, s in enumerate(order, 1) if s in held]


def by_column(
    part: ReportPart,
    held: Held,
    title: str,
    *,
    of: int | None = None,
    bits: float | None = None,
    each: bool = False,
    drawn: bool = True,
) -> tuple[Block, ...]:
    """How much each column alone removes of the uncertainty, and all of them: picture, table.

    With `each`, a column is uncertain by itself.
    """
    texts, redactor = part.texts, part.redactor
    columns = held.get("columns") or {}
    order = [c for c in dict.fromkeys((*part.data["roles"]["quasi"], *columns)) if c in columns]
    found = []
    for c in order:
        value, own = number(columns[c], "discrimination_rate"), columns[c]
        found.append(
            (redactor.name(c), uncertainty(redactor, value, of, released(own) if each else bits))
        )
    kept = _longest(found) if len(found) > MOST_COLUMNS else found
    if not kept:
        return ()
    if len(found) > 1:
        value = number(held, "discrimination_rate")
        whole = uncertainty(redactor, value, of, of_released(held) if each else bits)
        kept = [*kept, (texts("attacked.combined"), whole)]
    if all(kept_back(redactor, said) for _, said in kept):
        return (Paragraph(texts("attacked.columns_withheld"), "note"),)
    rows = make_unique(row for row, _ in kept)
    grid = Grid(
        title,
        (texts("attacked.columns_head"), texts("attacked.columns_rate")),
        tuple((row, str(said)) for row, (_, said) in zip(rows, kept, strict=True)),
        (1,),
    )
    last = len(kept) - 1 if len(found) > 1 else -1
    if not drawn or all(said.number is None for _, said in kept):
        blocks: tuple[Block, ...] = (grid,)
    else:
        bars = [
            Share(row, said.number, str(said), last=i == last)
            for i, (row, (_, said)) in enumerate(zip(rows, kept, strict=True))
        ]
        below, axis = texts("attacked.columns_below"), texts("attacked.columns_axis")
        caption = texts(f"attacked.columns_caption{'' if len(found) > 1 else '_one'}")
        blocks = (Picture(shares(title, (below,), bars, axis=axis), caption, grid),)
    if len(found) > MOST_COLUMNS:
        left = texts("attacked.columns_left", shown=MOST_COLUMNS, number=len(found))
        blocks = (*blocks, Paragraph(left, "note"))
    return blocks


def _longest(found: list[tuple[str, NumberText]]) -> list[tuple[str, NumberText]]:
    """Those with the highest shown numbers; alike ones by name."""
    return sorted(found, key=lambda f: (-(f[1].number or 0.0), f[0]))[:MOST_COLUMNS]


def by_value(part: ReportPart, held: Held, secret: str) -> tuple[Block, ...]:
    """The values of the columns that tell most: for the operator alone."""
    texts, redactor = part.texts, part.redactor
    if not redactor.internal:
        return ()
    every = held.get("columns") or {}
    order = sorted(every, key=lambda c: -(number(every[c], "discrimination_rate") or 0.0))
    found: list[Block] = []
    for place, column in enumerate(order[:LISTED_COLUMNS]):
        found += _values(part, every[column]["values"], secret, column, place < DRAWN_COLUMNS)
    if len(order) > LISTED_COLUMNS:
        left = texts("attacked.values_columns", shown=LISTED_COLUMNS, number=len(order))
        found.append(Paragraph(left, "note"))
    if any("values" not in g for h in every.values() for g in h["values"]["listed"]):
        found.append(Paragraph(texts("attacked.values_hidden"), "note"))
    return tuple(found)


def _values(part: ReportPart, listed: Held, secret: str, column: str, drawn: bool) -> list[Block]:
    texts, redactor = part.texts, part.redactor
    groups = listed["listed"][:MOST_VALUES]
    told = [redactor.rate(g["discrimination_rate_of_value"]) for g in groups]
    if not groups or all(t.number is None for t in told):
        return []
    rows = value_names(part, groups, column)
    grid = Grid(
        texts("attacked.values_title", column=redactor.name(column)),
        tuple(texts(f"attacked.values_{h}") for h in ("head", "records", "rate")),
        tuple(
            (row, str(redactor.count(g["records"])), str(t))
            for row, g, t in zip(rows, groups, told, strict=True)
        ),
        (1, 2),
        folded=True,
    )
    found: list[Block] = [grid]
    if drawn:
        title = texts(
            "attacked.values_chart", secret=redactor.name(secret), column=redactor.name(column)
        )
        bars = [Share(r, t.number, str(t)) for r, t in zip(rows, told, strict=True)]
        below, axis = texts("attacked.values_below"), texts("attacked.columns_axis")
        spec = shares(title, (below,), bars, axis=axis)
        found = [Picture(spec, texts("attacked.values_caption"), grid)]
    if listed["number"] > len(groups):
        left = texts("attacked.values_left", shown=len(groups), number=f"{listed['number']:,}")
        found.append(Paragraph(left, "note"))
    return found


def value_names(part: ReportPart, groups: Sequence[Held], column: str) -> list[str]:
    """Values as they are called: by themselves where they are shown, or by their rank."""
    return make_unique(_called(part, g, column, rank) for rank, g in enumerate(groups, 1))


def _called(part: ReportPart, group: Held, column: str, rank: int) -> str:
    if "values" not in group:
        return part.texts("attacked.value_rank", rank=rank)
    value = group["values"].get(column)
    if value is None:
        return part.texts("attacked.value_missing")
    return short_name(value, LONGEST) if value.strip() else part.texts("attacked.value_blank")


def numbers(part: ReportPart, given: Iterable[tuple[str, NumberText, str]]) -> Grid:
    """A table of measures, each with its definition behind a link, and its risky side."""
    texts = part.texts
    rows: list[tuple[Cell, ...]] = [
        (
            Link(texts(f"attacked.name_{name}"), f"def-{name}"),
            str(said),
            texts(f"attacked.side_{side}"),
        )
        for name, said, side in given
    ]
    head = tuple(texts(f"attacked.numbers_{h}") for h in ("name", "value", "side"))
    return Grid(texts("attacked.numbers_table"), head, tuple(rows), (1,))
