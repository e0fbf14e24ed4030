"""The first screen: what was assessed, what matters, the limits, and what was not measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sievert.measures import BY_ID
from sievert.report.chapters.numbers import SHARES, said, scale, why
from sievert.report.page import Block, Chapter, Points, Words
from sievert.report.parts import Part
from sievert.terminal import significant

BOUND = ".12g"


def front(parts: Sequence[Part], sentences: Sequence[str]) -> tuple[Block | Chapter, ...]:
    """The blocks below the title."""
    texts, pen = parts[0].texts, parts[0].pen
    verdicts = [v for part in parts for v in _verdicts(part)]
    found: list[Block | Chapter] = [Words(_lead(parts[0], verdicts), "lead")]
    if sentences:
        found.append(Chapter(texts("front.short"), "short", (Points(tuple(sentences)),)))
    found.append(Chapter(texts("front.assessed"), "assessed", (Points(tuple(_what(parts))),)))
    if verdicts:
        found.append(_limits(parts))
    lacking = tuple(
        texts(f"front.{key}") for key in ("no_dp", "no_tables", "no_outside", "no_judgement")
    )
    found.append(Chapter(texts("front.not_measured"), "not-measured", (Points(lacking),)))
    key = "front.internal" if pen.internal else "front.shared"
    found.append(Words(texts(key, least=pen.least), "note"))
    return tuple(found)


def _verdicts(part: Part) -> list[Mapping[str, Any]]:
    policy = part.data.get("policy")
    return list(policy["limits"]) if policy else []


def _lead(part: Part, verdicts: Sequence[Mapping[str, Any]]) -> str:
    texts = part.texts
    if not verdicts:
        return texts("front.open")
    breached = sum(v["met"] is False for v in verdicts)
    if breached:
        return texts("front.some_breached", breached=breached, number=len(verdicts))
    doubtful = sum(v["met"] is None for v in verdicts)
    if doubtful:
        return texts("front.some_doubtful", doubtful=doubtful, number=len(verdicts))
    return texts("front.all_met", number=len(verdicts))


# -- what was assessed ------------------------------------------------------------------------


def _what(parts: Sequence[Part]) -> Iterator[str]:
    """The table of the first part; another one only where a later part speaks of it."""
    first = parts[0]
    yield from _table(first)
    for part in parts[1:]:
        same = all(part.data["roles"].get(r) == first.data["roles"].get(r) for r in ROLES)
        if not same or part.rows != first.rows:
            yield part.texts(
                "front.another",
                number=part.number,
                rows=_rows(part),
                columns=part.pen.names(part.data["roles"]["quasi"]),
                secrets=part.pen.names(part.data["roles"]["sensitive"]),
            )


ROLES = ("quasi", "sensitive")


def _rows(part: Part) -> str:
    rows = part.data["table"]["rows"]
    few = not part.pen.internal and (rows or 0) < part.pen.least
    return part.texts("words.few", least=part.pen.least) if few else f"{rows:,}"


def _table(part: Part) -> Iterator[str]:
    texts, table, roles, pen = part.texts, part.data["table"], part.data["roles"], part.pen
    columns = table["columns"]
    if not pen.internal and (table["rows"] or 0) < pen.least:
        yield texts("front.table_few")
    else:
        key = "front.table_one" if columns == 1 else "front.table"
        yield texts(key, rows=f"{table['rows']:,}", columns=f"{columns:,}")
    if pen.internal and table.get("name"):
        yield texts("front.named", name=pen.file(table["name"]))
    for key, role in (
        ("outsider", "quasi"),
        ("secrets", "sensitive"),
        ("dropped", "identifier"),
        ("unassessed", "unassessed"),
    ):
        if roles.get(role):
            yield texts(f"front.{key}", columns=pen.names(roles[role]))


# -- limits -------------------------------------------------------------------------------------


def _limits(parts: Sequence[Part]) -> Chapter:
    texts = parts[0].texts
    held = [(part, v) for part in parts for v in _verdicts(part)]
    held.sort(key=lambda pair: pair[1]["met"] is not False)
    words = {True: "met", False: "breached", None: "doubtful"}
    marks = tuple(texts(f"front.{words[v['met']]}") for _, v in held)
    points = Points(tuple(_limit(part, v) for part, v in held), marks)
    shared = any(not part.pen.internal for part, _ in held)
    note = (Words(texts("front.exact"), "note"),) if shared else ()
    return Chapter(texts("front.limits"), "limits", (points, *note))


def _limit(part: Part, verdict: Mapping[str, Any]) -> str:
    texts, measure = part.texts, verdict["measure"]
    chapter, _, secret = verdict["where"].partition(".")
    where = part.pen.name(secret) if secret else texts("front.everybody")
    if verdict["reading"]:
        where = f"{where}, {texts('front.without_missing')}"
    return texts(
        "front.limit",
        what=texts(f"measures.{measure}.title"),
        where=where,
        value=_value(part, verdict, chapter, secret),
        asked=_asked(part, verdict),
    )


def _value(part: Part, verdict: Mapping[str, Any], chapter: str, secret: str) -> str:
    texts, measure, value = part.texts, verdict["measure"], verdict["value"]
    if value is None:
        held = part.data[chapter]
        held = (held[secret] if secret else held)[measure]
        return why(texts, {**held, "reason": verdict["reason"]})
    exact = significant(value)
    bounds = [verdict[b] for b in ("min", "max") if verdict[b] is not None and value != verdict[b]]
    if any(float(exact.replace(",", "")) == bound for bound in bounds):
        number = format(value, BOUND)  # as many digits as tell on which side it lies
    else:
        number = said(part.pen, measure, {"value": value, "reason": None}).text
    unit = scale(texts, measure) if BY_ID[measure].unit != "1" else ""
    return texts("front.limit_value", number=number, unit=unit).strip()


def _asked(part: Part, verdict: Mapping[str, Any]) -> str:
    texts, least, most = part.texts, verdict["min"], verdict["max"]

    def bound(number: float) -> str:
        in_per_cent = verdict["measure"] in SHARES
        return f"{100 * number:{BOUND}} %" if in_per_cent else f"{number:,{BOUND}}"

    if least is not None and most is not None:
        return texts("front.between", least=bound(least), most=bound(most))
    if least is not None:
        return texts("front.at_least", bound=bound(least))
    return texts("front.at_most", bound=bound(most))
