"""The first screen: what was assessed, what matters, the limits, and what was not measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sievert.formatting import printable, significant
from sievert.measures import BY_ID
from sievert.policy.judgement import AS_VALUE
from sievert.report.chapters.numbers import (
    SHARES,
    measure_title,
    release_names,
    scale,
    side_by_side,
    some_names,
    value_text,
    why,
)
from sievert.report.page import Block, BulletList, Chapter, Grid, Link, Paragraph, make_grid
from sievert.report.parts import ROLE_TEXTS, Data, ReportPart
from sievert.report.texts import Texts
from sievert.roles import columns_by_role

ABREAST = 4  # releases beside each other
BOUND = ".12g"
MARKS = {True: "met", False: "breached", None: "doubtful"}
REASON_MARKS = {False: "not_met", None: "doubtful"}


def front(parts: Sequence[ReportPart], sentences: Sequence[str]) -> tuple[Block | Chapter, ...]:
    """The blocks below the title."""
    texts = parts[0].texts
    judged, compared = _judged(parts)
    lacking = texts.each("front", ("no_dp", "no_tables", "no_outside", "no_judgement"), ".")
    chapters: dict[str, Sequence[Block]] = {
        "short": [BulletList(tuple(sentences))] if sentences else [],
        "assessed": [BulletList(tuple(_what(parts)))],
        "limits": tuple(_limits(judged, compared)) if judged or compared else (),
        "not_measured": [BulletList(tuple(lacking))],
    }
    return (
        Paragraph(texts("front.internal"), "warning"),
        *(Paragraph(caution, "warning") for caution in _cautions(parts)),
        Paragraph(policy_lead(parts), "lead"),
        *(
            Chapter(texts(f"front.{key}"), key.replace("_", "-"), tuple(blocks))
            for key, blocks in chapters.items()
            if blocks
        ),
    )


def _judged(parts: Sequence[ReportPart]) -> tuple[list[ReportPart], list[ReportPart]]:
    """The parts whose table a policy was held against, and those whose releases."""
    compared = [
        part
        for part in parts
        if part.kind == "compare" and any(r.get("policy") for r in part.data["releases"])
    ]
    return [part for part in parts if part.data.get("policy")], compared


def policy_lead(parts: Sequence[ReportPart]) -> str:
    """Whether the policy is met, and if not, why; or that there is none."""
    judged, compared = _judged(parts)
    leads = [_lead(parts[0], judged, bool(compared))] if judged or not compared else []
    return " ".join([*leads, *map(_releases_lead, compared)])


def has_policy(part: ReportPart) -> bool:
    """Whether a policy was held against something in a part."""
    return any(_judged([part]))


def _lead(part: ReportPart, judged: Sequence[ReportPart], compared: bool) -> str:
    if not judged:
        return part.texts("front.open")
    verdicts = [v for each in judged for v in _limits_of(each.data)]
    reasons = [_reason(each, r) for each in judged for r in _reasons_of(each.data)]
    why = "".join(f" {reason}" for reason in reasons)
    apart = "".join(dict.fromkeys(_left_out(each.data, part.texts) for each in judged))
    if breached := sum(v["met"] is False for v in verdicts):
        key = "front.one_breached" if breached == 1 else "front.some_breached"
        key = "front.table_breached" if compared else key
        return part.texts(key, breached=breached, number=len(verdicts)) + why + apart
    if False in (states := [_state(each.data) for each in judged]):
        return part.texts("front.not_met_policy") + why + apart
    doubtful = sum(v["met"] is None for v in verdicts)
    if None in states and not doubtful:
        return part.texts("front.undecided_policy") + why + apart
    key = "front.some_doubtful" if doubtful else "front.all_met"
    lead = part.texts(key, doubtful=doubtful, number=len(verdicts)) + why + apart
    if not (others := len(part.data["roles"].get("unassessed") or ())):
        return lead
    key = "front.unassessed_one" if others == 1 else "front.unassessed_too"
    return f"{lead} {part.texts(key, number=others)}"


def _left_out(table: Data, texts: Texts) -> str:
    """How many suppressed records a verdict says nothing about; they stand beside it."""
    number = (table.get("policy") or {}).get("suppressed_records")
    return f" {texts('front.suppressed_too', records=f'{number:,}')}" if number else ""


# -- what was assessed ------------------------------------------------------------------------


def _what(parts: Sequence[ReportPart]) -> Iterator[str]:
    """The table of the first part; another one only where a later part speaks of it."""
    yield from _table(parts[0])
    for part in parts[1:]:
        if subject(part) != subject(parts[0]):
            yield part.texts(
                "front.another",
                number=part.number,
                rows=_rows(part),
                columns=part.writer.names(part.data["roles"]["quasi"]),
                secrets=part.writer.names(part.data["roles"]["sensitive"]),
            )


def subject(part: ReportPart) -> tuple[object, ...]:
    """What a part speaks of: its roles, its records."""
    roles = (tuple(part.data["roles"].get(role) or ()) for role in ("quasi", "sensitive"))
    return (*roles, part.rows)


def file_name(part: ReportPart) -> str | None:
    """The name of the file that was read; a frame of Python has none."""
    table = part.data["table"]
    named = table.get("name") and table["name"] != table.get("kind")
    return part.writer.file(table["name"]) if named else None


def _rows(part: ReportPart) -> str:
    return f"{part.rows:,}"


def _table(part: ReportPart) -> Iterator[str]:
    texts, table, writer = part.texts, part.data["table"], part.writer
    key = "table_one" if table["columns"] == 1 else "table"
    yield texts(f"front.{key}", rows=_rows(part), columns=f"{table['columns']:,}")
    if suppressed := table.get("suppressed"):
        key = "suppressed_kept" if table.get("keep_suppressed") else "suppressed"
        yield texts(f"front.{key}", records=f"{suppressed:,}")
    if name := file_name(part):
        yield texts("front.named", name=name)
    for role, key in ROLE_TEXTS.items():
        if columns := columns_by_role(part.data["roles"])[role]:
            yield texts(f"front.{key}", columns=writer.names(columns))


def _cautions(parts: Sequence[ReportPart]) -> Iterator[str]:
    """What stands before the first number: what is counted may not be people."""
    for caution in dict.fromkeys(c for part in parts for c in part.data.get("cautions", ())):
        yield parts[0].texts("front.caution", what=printable(caution))


# -- limits -------------------------------------------------------------------------------------


def _limits(parts: Sequence[ReportPart], compared: Sequence[ReportPart]) -> Iterator[Block]:
    texts = (*parts, *compared)[0].texts
    limits = [(part, v) for part in parts for v in _limits_of(part.data)]
    limits.sort(key=lambda pair: pair[1]["met"] is not False)
    reasons = [(part, r) for part in parts for r in _reasons_of(part.data)]
    if parts and compared:
        yield Paragraph(texts("front.limits_table"))
    if limits or reasons:
        marks = [texts(f"front.{REASON_MARKS[r['met']]}") for _, r in reasons]
        marks += [texts(f"front.{MARKS[v['met']]}") for _, v in limits]
        items = [_reason(part, r) for part, r in reasons]
        items += [_limit(part, v) for part, v in limits]
        yield BulletList(tuple(items), tuple(marks))
    for part in compared:
        if parts:
            yield Paragraph(texts("front.limits_releases"))
        yield _points(part)
        if any(map(_limits_of, part.data["releases"])):
            yield from _grids(part)
        yield Paragraph(texts("compared.policy_reading"), "reading")
    releases = [release for part in compared for release in part.data["releases"]]
    yield from _basis([*(part.data for part in parts), *releases], texts)


def _basis(tables: Sequence[Data], texts: Texts) -> Iterator[Block]:
    """What verdicts rest on: people or rows, roles, the rules for missing values and marks."""
    sentences = ((table.get("policy") or {}).get("rests_on") for table in tables)
    for sentence in dict.fromkeys(s for s in sentences if s):
        yield Paragraph(texts("front.rests_on", basis=sentence), "note")


def _reason(part: ReportPart, reason: Data) -> str:
    """Why a policy is not met or undecided, besides its limits."""
    texts, names = part.texts, reason["names"]
    shown = part.writer.names([n for n in names if n not in BY_ID])
    measures = texts.join([measure_title(texts, n) for n in names if n in BY_ID])
    key = f"front.reason_{reason['what']}"
    if key not in texts:
        return texts("front.reason_other")
    return texts(key, names=shown or measures)


def _limit(part: ReportPart, verdict: Data) -> str:
    reading = {AS_VALUE: "front.as_value"}.get(verdict["reading"], "front.without_missing")
    without = f", {part.texts(reading)}" if verdict["reading"] else ""
    impossible = verdict.get("impossible")
    after = f" {part.texts('front.impossible', why=impossible)}" if impossible else ""
    sentence = part.texts(
        "front.limit",
        what=measure_title(part.texts, verdict["measure"]),
        where=_where(part, verdict) + without,
        value=_value(part, verdict),
        asked=limit_text(part, verdict),
    )
    return sentence + after


def _value(part: ReportPart, verdict: Data) -> str:
    if verdict["value"] is not None:
        return _figure(part, verdict)
    chapter, _, secret = verdict["where"].partition(".")
    values = part.data[chapter][secret] if secret else part.data[chapter]
    entry = {**values.get(verdict["measure"], {}), "reason": verdict["reason"]}
    return why(part.texts, entry)


# -- a limit in words -----------------------------------------------------------------------------


def limit_text(part: ReportPart, verdict: Data) -> str:
    """What a limit asks for."""
    least, most = (
        n if n is None else _bound_text(verdict, n) for n in map(verdict.get, ("min", "max"))
    )
    key = "at_most" if least is None else "at_least" if most is None else "between"
    return part.texts(f"front.{key}", least=least, most=most, bound=least or most)


def _bound_text(verdict: Data, number: float) -> str:
    share = f"{100 * number:{BOUND}} %"
    return share if verdict["measure"] in SHARES else f"{number:,{BOUND}}"


def _figure(part: ReportPart, verdict: Data) -> str:
    """A number that a limit was held against, with its unit."""
    measure, value = verdict["measure"], verdict["value"]
    rounded = float(significant(value).replace(",", ""))
    number = value_text(part.writer, measure, {"value": value, "reason": None}).text
    if value != rounded and rounded in (verdict["min"], verdict["max"]):
        number = _bound_text(verdict, value)  # as many digits as tell on which side it lies
    unit = scale(part.texts, measure) if BY_ID[measure].unit != "1" else ""
    return part.texts("front.limit_value", number=number, unit=unit).strip()


def _where(part: ReportPart, verdict: Data) -> str:
    """Whom or what a limit is about."""
    secret = verdict["where"].partition(".")[2]
    return part.writer.name(secret) if secret else part.texts("front.everybody")


# -- releases -------------------------------------------------------------------------------------


def _releases_lead(part: ReportPart) -> str:
    """Which releases meet the limits, and which do not."""
    texts, releases = part.texts, part.data["releases"]
    states = [*map(_state, releases)]
    if len(releases) == 1:
        limits = _limits_of(releases[0])
        counts = {MARKS[m]: sum(v["met"] is m for v in limits) for m in MARKS}
        key = f"compared.policy_one_{MARKS[states[0]]}"
        key += "_one" if states[0] is False and counts["breached"] == 1 else ""
        if states[0] is not True and not counts[MARKS[states[0]]]:
            key = f"front.{'not_met' if states[0] is False else 'undecided'}_policy"
        reasons = (f" {_reason(part, r)}" for r in _reasons_of(releases[0]))
        lead = texts(key, number=len(limits), **counts) + "".join(reasons)
        return lead + _left_out(releases[0], texts)
    if len(set(states)) == 1 and states[0] is not None:
        every = "all" if states[0] else "none"
        return texts(f"compared.policy_{every}", number=len(releases))
    sentences, names = [], release_names(part, releases)
    for state, mark in MARKS.items():
        if such := [name for name, s in zip(names, states, strict=True) if s is state]:
            key = f"compared.policy_{mark}{'' if len(such) == 1 else '_several'}"
            sentences.append(texts(key, releases=some_names(part, "compared.others", such)))
    return " ".join(sentences)


def _limits_of(table: Data) -> list[Data]:
    return list((table.get("policy") or {"limits": ()})["limits"])


def _reasons_of(table: Data) -> list[Data]:
    return list((table.get("policy") or {}).get("reasons", ()))


def _state(table: Data) -> bool | None:
    """Met, not met, or neither for sure."""
    limits = _limits_of(table)
    met = {each["met"] for each in (*limits, *_reasons_of(table))}
    return False if False in met else None if None in met or not limits else True


def _points(part: ReportPart) -> BulletList:
    texts, releases = part.texts, part.data["releases"]
    words = {False: "policy_breaches", None: "policy_open", True: "policy_keeps"}
    items, marks = [], []
    for name, release in zip(release_names(part, releases), releases, strict=True):
        state = _state(release)
        limits = [
            texts(
                "compared.policy_limit",
                what=measure_title(texts, v["measure"]),
                where=_where(part, v),
            )
            for v in _limits_of(release)
            if v["met"] is state
        ]
        limits += [_reason(part, r).rstrip(".") for r in _reasons_of(release) if r["met"] is state]
        some = some_names(part, "compared.policy_more", limits)
        sentence = texts(f"compared.{words[state]}", release=name, limits=some)
        items.append(sentence + _left_out(release, texts))
        marks.append(texts("compared.policy_mark" if state is None else f"front.{MARKS[state]}"))
    return BulletList(tuple(items), tuple(marks))


def _grids(part: ReportPart) -> Iterator[Grid]:
    """Limits as rows, the original and the releases as columns."""
    texts, releases = part.texts, part.data["releases"]
    names, caption = release_names(part, releases), texts("compared.policy_caption")
    head = (
        *texts.each("compared.policy_head", ("limit", "where", "asked")),
        texts("compared.original"),
    )
    for abreast, title in side_by_side(part, caption, len(releases), ABREAST):
        tables = [part.data["original"], *releases[abreast]]
        rows = (
            (
                Link(
                    measure_title(texts, verdicts[0]["measure"]),
                    f"def-{verdicts[0]['measure']}",
                ),
                _where(part, verdicts[0]),
                limit_text(part, verdicts[0]),
                *(_cell(part, v) for v in verdicts),
            )
            for verdicts in zip(*map(_limits_of, tables), strict=True)
        )
        yield make_grid(title, (*head, *names[abreast]), rows, ())


def _cell(part: ReportPart, verdict: Data) -> str:
    """The verdict with its number."""
    texts, mark = part.texts, part.texts(f"front.{MARKS[verdict['met']]}")
    if verdict["value"] is None and verdict["met"] is None:
        return mark
    value = why(texts, verdict) if verdict["value"] is None else _figure(part, verdict)
    if verdict["reading"]:
        value = f"{value}, {texts('front.without_missing')}"
    if verdict.get("impossible"):
        value = f"{value}; {texts('front.impossible', why=verdict['impossible'])}".rstrip(".")
    return texts("compared.policy_cell", mark=mark, value=value)
