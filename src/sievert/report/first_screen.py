"""The first screen: what was assessed, what matters, the limits, and what was not measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sievert.measures.measure import SUPPRESSED
from sievert.report.chapters.compare import policy as compared_policy
from sievert.report.chapters.compare.policy import figure, limit_text, side, where
from sievert.report.chapters.numbers import measure_title, why
from sievert.report.page import Block, BulletList, Chapter, Paragraph
from sievert.report.parts import ReportPart


def front(parts: Sequence[ReportPart], sentences: Sequence[str]) -> tuple[Block | Chapter, ...]:
    """The blocks below the title."""
    texts, redactor = parts[0].texts, parts[0].redactor
    verdicts = [v for part in parts for v in _verdicts(part)]
    compared = [part for part in parts if compared_policy.has_limits(part)]
    leads = [_lead(parts[0], verdicts, bool(compared))] if verdicts or not compared else []
    leads += [compared_policy.lead(part) for part in compared]
    lacking = texts.each("front", ("no_dp", "no_tables", "no_outside", "no_judgement"), ".")
    lists = {
        "short": sentences,
        "assessed": tuple(_what(parts)),
        "limits": (),
        "not_measured": tuple(lacking),
    }
    chapters = {
        key: Chapter(texts(f"front.{key}"), key.replace("_", "-"), (BulletList(tuple(items)),))
        for key, items in lists.items()
        if items
    }
    if verdicts or compared:
        chapters["limits"] = _limits(parts, compared)
    warning = [Paragraph(texts("front.internal"), "warning")] if redactor.internal else []
    shared = Paragraph(texts("front.shared", least=redactor.least), "note")
    return (
        *warning,
        Paragraph(" ".join(leads), "lead"),
        *(chapters[key] for key in lists if key in chapters),
        *([] if redactor.internal else [shared]),
    )


def _verdicts(part: ReportPart) -> list[Mapping[str, Any]]:
    policy = part.data.get("policy")
    return list(policy["limits"]) if policy else []


def _lead(part: ReportPart, verdicts: Sequence[Mapping[str, Any]], compared: bool) -> str:
    texts = part.texts
    if not verdicts:
        return texts("front.open")
    breached = sum(v["met"] is False for v in verdicts)
    if breached:
        key = "front.one_breached" if breached == 1 else "front.some_breached"
        key = "front.table_breached" if compared else key
        return texts(key, breached=breached, number=len(verdicts))
    doubtful = sum(v["met"] is None for v in verdicts)
    key = "front.some_doubtful" if doubtful else "front.all_met"
    lead = texts(key, doubtful=doubtful, number=len(verdicts))
    others = len(part.data["roles"].get("unassessed") or ())
    if not others:
        return lead
    key = "front.unassessed_one" if others == 1 else "front.unassessed_too"
    return f"{lead} {texts(key, number=others)}"


# -- what was assessed ------------------------------------------------------------------------


def _what(parts: Sequence[ReportPart]) -> Iterator[str]:
    """The table of the first part; another one only where a later part speaks of it."""
    first = parts[0]
    yield from _table(first)
    for part in parts[1:]:
        if subject(part) != subject(first):
            yield part.texts(
                "front.another",
                number=part.number,
                rows=_rows(part),
                columns=part.redactor.names(part.data["roles"]["quasi"]),
                secrets=part.redactor.names(part.data["roles"]["sensitive"]),
            )


ROLES = ("quasi", "sensitive")


def subject(part: ReportPart) -> tuple[object, ...]:
    """What a part speaks of, whatever its columns are called here: its roles, its records."""
    data = part.exact or part.data
    rows = data["table"]["rows"] or 0
    few = not part.redactor.internal and rows < part.redactor.least
    return (*(tuple(data["roles"].get(r) or ()) for r in ROLES), 0 if few else rows)


def _rows(part: ReportPart) -> str:
    rows = part.data["table"]["rows"]
    few = not part.redactor.internal and (rows or 0) < part.redactor.least
    return part.texts("words.few", least=part.redactor.least) if few else f"{rows:,}"


def _table(part: ReportPart) -> Iterator[str]:
    texts, table, roles, redactor = (
        part.texts,
        part.data["table"],
        part.data["roles"],
        part.redactor,
    )
    columns = table["columns"]
    if not redactor.internal and (table["rows"] or 0) < redactor.least:
        yield texts("front.table_few")
    else:
        key = "front.table_one" if columns == 1 else "front.table"
        yield texts(key, rows=f"{table['rows']:,}", columns=f"{columns:,}")
    if redactor.internal and table.get("name"):
        yield texts("front.named", name=redactor.file(table["name"]))
    for key, role in (
        ("outsider", "quasi"),
        ("secrets", "sensitive"),
        ("dropped", "identifier"),
        ("unassessed", "unassessed"),
    ):
        if roles.get(role):
            yield texts(f"front.{key}", columns=redactor.names(roles[role]))


# -- limits -------------------------------------------------------------------------------------


def _limits(parts: Sequence[ReportPart], compared: Sequence[ReportPart]) -> Chapter:
    texts = parts[0].texts
    limits = [(part, v) for part in parts for v in _verdicts(part)]
    limits.sort(key=lambda pair: pair[1]["met"] is not False)
    words = {True: "met", False: "breached", None: "doubtful"}
    marks = tuple(texts(f"front.{words[v['met']]}") for _, v in limits)
    blocks: list[Block] = []
    if limits:
        blocks += [Paragraph(texts("front.limits_table"))] if compared else []
        blocks.append(BulletList(tuple(_limit(part, v) for part, v in limits), marks))
    for part in compared:
        blocks += [Paragraph(texts("front.limits_releases"))] if limits else []
        blocks += compared_policy.blocks(part)
    if any(not part.redactor.internal for part in (*(part for part, _ in limits), *compared)):
        blocks.append(Paragraph(texts("front.exact"), "note"))
    return Chapter(texts("front.limits"), "limits", tuple(blocks))


def _limit(part: ReportPart, verdict: Mapping[str, Any]) -> str:
    texts, about = part.texts, where(part, verdict)
    if verdict["reading"]:
        about = f"{about}, {texts('front.without_missing')}"
    return texts(
        "front.limit",
        what=measure_title(texts, verdict["measure"]),
        where=about,
        value=_value(part, verdict),
        asked=limit_text(part, verdict),
    )


def _value(part: ReportPart, verdict: Mapping[str, Any]) -> str:
    if verdict["value"] is not None:
        return figure(part, verdict)
    beside = side(part, verdict) if verdict["reason"] == SUPPRESSED else None
    if beside is not None:
        return beside
    chapter, _, secret = verdict["where"].partition(".")
    limits = part.data[chapter]
    limits = (limits[secret] if secret else limits)[verdict["measure"]]
    return why(part.texts, {**limits, "reason": verdict["reason"]})
