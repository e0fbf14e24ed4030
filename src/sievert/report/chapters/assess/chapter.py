"""The chapter of an assessment: how easily a person is found, what is learnt of each secret."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sievert.charts import Bar, bars, lines
from sievert.charts.captions import caption_bars
from sievert.charts.curves import close_stairs
from sievert.charts.results import make_unique
from sievert.formatting import percent, significant
from sievert.measures import Decides, decided_by
from sievert.measures.value import SUPPRESSED
from sievert.report.chapters.numbers import SHORT, near_end, row, said, titled, why
from sievert.report.page import Block, BulletList, Chapter, Grid, Paragraph, Picture
from sievert.report.parts import ReportPart
from sievert.report.redaction import NumberText, Redactor

FOUND = (
    "k_anonymity",
    "unique_records",
    "records_below",
    "classes",
    "average_risk",
    "highest_risk",
    "discrimination_rate",
    "itpr",
)
LEARNT = (
    "max_confidence",
    "l_diversity",
    "bayes_vulnerability_posterior",
    "bayes_vulnerability_prior",
    "t_closeness",
    "t_closeness_ordered",
    "t_closeness_hierarchical",
    "mutual_information",
    "discrimination_rate",
    "semantic_discrimination_rate",
    "itpr",
)
BELOW = (2, 3, 5, 10, 20, 50, 100, 1000)
NAMED = 6  # columns in a sentence
MOST_BEHIND = 25  # rows of a table behind a curve


def blocks(part: ReportPart) -> tuple[Block | Chapter, ...]:
    """What the chapter holds."""
    return tuple(_blocks(part))


def _blocks(part: ReportPart) -> Iterator[Block | Chapter]:
    texts, data = part.texts, part.data
    found: list[Block] = [Paragraph(s) for s in _found(part)]
    sizes = _sizes(part)
    found += [sizes] if sizes is not None else []
    found.append(_table(part, texts("assessed.found_table"), FOUND, data["reidentification"]))
    found.append(Paragraph(texts("assessed.found_reading"), "reading"))
    yield Chapter(texts("assessed.found"), part.anchor("found"), tuple(found))
    if data["inference"]:
        yield Chapter(texts("assessed.learnt"), part.anchor("learnt"), tuple(_learnt(part)))
    yield _everything(part)
    if data["warnings"]:
        remarks = BulletList(tuple(data["warnings"]))
        yield Chapter(texts("assessed.remarks"), part.anchor("remarks"), (remarks,))


def sentences(part: ReportPart) -> tuple[str, ...]:
    """How easily somebody is found; what is learnt of the secret that is given away most."""
    first = _found(part)[:1]
    worst = _worst_first(part)
    return (*first, *(_about(part, worst[0])[:1] if worst else ()))


# -- a person is found ----------------------------------------------------------------------------


def _found(part: ReportPart) -> list[str]:
    texts, values, redactor = part.texts, part.data["reidentification"], part.redactor
    found = []
    unique, k = values.get("unique_records"), values.get("k_anonymity")
    if unique is not None and unique["value"] is not None:
        alone = unique.get("records")
        if unique["value"] and alone is not None:
            number = said(redactor, "classes", {"value": alone, "reason": None})
            rows, share = f"{part.rows:,}", said(redactor, "unique_records", unique)
            key = "assessed.one_alone" if redactor.internal and alone == 1 else "assessed.alone"
            columns = _columns(part)
            text = texts(key, number=number, rows=rows, share=share, columns=columns)
            found.append(text[:1].upper() + text[1:])
        elif k is not None and k["value"] is not None:
            found.append(texts("assessed.nobody_alone", k=f"{k['value']:,}"))
    elif unique is not None and unique["reason"] == SUPPRESSED:
        few = why(texts, unique)
        key = "assessed.few_alone" if "below" in unique else "assessed.alone_withheld"
        text = texts(key, few=few)
        found.append(text[:1].upper() + text[1:])
    rate = values.get("discrimination_rate")
    if rate is not None and rate["value"] is not None:
        gone = _share(part, values, "discrimination_rate")
        found.append(texts("assessed.identity_gone", share=gone))
    return found


def _columns(part: ReportPart) -> str:
    held = part.data["roles"]["quasi"]
    if len(held) > NAMED:
        return part.texts("assessed.many_columns", number=len(held))
    return part.redactor.names(held)


def _sizes(part: ReportPart) -> Picture | None:
    """Records by the size of their class; to be passed on, only in whole cells."""
    spans = (part.exact or part.data)["table"].get("class_sizes")
    if not spans or part.redactor.silent:
        return None
    texts, redactor = part.texts, part.redactor
    if redactor.internal:
        rows = [
            (_span(part, s), redactor.count(s["records"]), redactor.count(s["classes"]))
            for s in spans
            if s["records"]
        ]
        given = [Bar(name, records.number) for name, records, _ in rows]
        below = (texts("assessed.sizes_below"),)
        behind = Grid(
            texts("assessed.behind"),
            (texts("assessed.size"), texts("units.records"), texts("units.classes")),
            tuple((name, str(records), str(classes)) for name, records, classes in rows),
            right=(1, 2),
        )
        title, caption = texts("assessed.sizes"), texts("assessed.sizes_caption")
    else:
        held = _below(spans, part.rows)
        told = [(texts("assessed.below_k", k=f"{k:,}"), _held(part, n)) for k, n in held.items()]
        while len(told) > 1 and told[-1][1] == told[-2][1]:
            told.pop()  # nothing more to see
        given = [Bar(name, number.number) for name, number in told]
        below = (texts("assessed.below_below", least=redactor.least),)
        behind = Grid(
            texts("assessed.behind"),
            (texts("assessed.size"), texts("units.records")),
            tuple((name, str(number)) for name, number in told),
            right=(1,),
        )
        title, caption = texts("assessed.below"), texts("assessed.below_caption")
    if not any(bar.number for bar in given):
        return None
    spec = bars(title, below, given, axis=texts("units.records"))
    return Picture(spec, caption, behind)


def _held(part: ReportPart, number: int) -> NumberText:
    """Everybody only where the table says so, as `_below` knows."""
    return part.redactor.everybody() if number == part.rows else part.redactor.count(number)


def _span(part: ReportPart, span: Mapping[str, int | None]) -> str:
    least, most = span["least"], span["most"]
    if least == most:
        return part.texts("assessed.size_one", n=f"{least:,}")
    if most is None:
        return part.texts("assessed.size_more", n=f"{least:,}")
    return part.texts("assessed.size_span", least=f"{least:,}", most=f"{most:,}")


def _below(spans: list[dict[str, Any]], rows: int) -> dict[int, int]:
    """Records in classes of fewer than k; all of them is said only where it is so from k = 2 on."""
    exact = {
        k: sum(s["records"] for s in spans if s["most"] is not None and s["most"] < k)
        for k in BELOW
    }
    everybody = min(exact.values()) == rows
    return {k: n if everybody else min(n, rows - 1) for k, n in exact.items()}


# -- a secret is learnt -------------------------------------------------------------------------


def _learnt(part: ReportPart) -> Iterator[Block | Chapter]:
    texts, data = part.texts, part.data
    worst = _worst_first(part)
    picture = _guesses(part, worst)
    if picture is not None:
        yield picture
    for number, secret in enumerate(worst, 1):
        inside: list[Block] = [Paragraph(s) for s in _about(part, secret)]
        caption = texts("assessed.learnt_table", secret=part.redactor.name(secret))
        inside.append(_table(part, caption, LEARNT, data["inference"][secret]))
        near = _near(part, secret)
        inside += [near] if near is not None else []
        yield Chapter(part.redactor.name(secret), part.anchor(f"learnt{number}"), tuple(inside))
    yield Paragraph(texts("assessed.learnt_reading"), "reading")


def _worst_first(part: ReportPart) -> list[str]:
    """Secrets by the share of uncertainty that is gone, as it is shown."""
    held = part.data["inference"]

    def gone(secret: str) -> float:
        rate = held[secret].get("discrimination_rate", {"value": None})["value"]
        return 2.0 if rate is None else float(rate)

    return sorted(held, key=lambda s: (-gone(s), part.redactor.name(s)))


def _about(part: ReportPart, secret: str) -> list[str]:
    texts, values = part.texts, part.data["inference"][secret]
    name = part.redactor.name(secret)
    rate = values.get("discrimination_rate")
    if rate is None:
        return []
    if rate["value"] is None and rate["reason"] != SUPPRESSED:
        return [texts("assessed.constant", secret=name)]
    found = []
    before = values.get("bayes_vulnerability_prior", {"value": None})["value"]
    after = values.get("bayes_vulnerability_posterior", {"value": None})["value"]
    if None not in (before, after, rate["value"]):
        found.append(
            texts(
                "assessed.guess",
                secret=name,
                after=_share(part, values, "bayes_vulnerability_posterior"),
                before=_share(part, values, "bayes_vulnerability_prior"),
                gone=_share(part, values, "discrimination_rate"),
            )
        )
    certain = values.get("max_confidence", {"value": None})["value"]
    if part.redactor.internal and certain == 1.0:
        found.append(texts("assessed.certain", secret=name))
    return found or [texts("assessed.learnt_withheld", secret=name)]


def _share(part: ReportPart, values: Mapping[str, Any], measure: str, short: str = "") -> str:
    value = values[measure]["value"]
    near = near_end(part.redactor, measure, value, _entropy(values), percent, short)
    return near or percent(value)


def _guesses(part: ReportPart, secrets: list[str]) -> Picture | None:
    """How often the best guess is right, without and with the columns."""
    texts, held = part.texts, part.data["inference"]
    series = (
        (texts("assessed.guess_before"), "bayes_vulnerability_prior"),
        (texts("assessed.guess_after"), "bayes_vulnerability_posterior"),
    )
    labels = dict(zip(secrets, make_unique(part.redactor.name(s) for s in secrets), strict=True))
    given, told = [], []
    for secret, label in labels.items():
        numbers = [held[secret].get(m, {"value": None, "reason": None}) for _, m in series]
        if all(n["value"] is not None for n in numbers):
            given += [
                Bar(label, n["value"], name) for (name, _), n in zip(series, numbers, strict=True)
            ]
            told.append((label, *(_share(part, held[secret], m, SHORT) for _, m in series)))
    if not given:
        return None
    spec = caption_bars(
        bars(
            texts("assessed.guesses"),
            (texts("assessed.guesses_below"),),
            given,
            axis=texts("assessed.guesses_axis"),
        ),
        [text for _, *each in told for text in each],
    )
    head = (texts("assessed.secret"), *(name for name, _ in series))
    behind = Grid(texts("assessed.behind"), head, tuple(told), right=(1, 2))
    return Picture(spec, texts("assessed.guesses_caption"), behind)


def _near(part: ReportPart, secret: str) -> Picture | None:
    """H(eps) of a secret number: windows may be values, so only for the operator."""
    texts = part.texts
    near = getattr(part.result, "approximate", {}).get(secret)
    if near is None or not part.redactor.internal:
        return None
    steps = {texts(f"assessed.near_{w}"): near[w]["steps"] for w in ("table", "worst")}
    stairs = close_stairs(steps)
    spec = lines(
        texts("assessed.near", secret=part.redactor.name(secret)),
        (texts("assessed.near_below"),),
        stairs,
        across=texts("assessed.near_across"),
        up=texts("units.bits"),
        stair=True,
    )
    rows = [
        (name, significant(x), significant(y))
        for name, steps in stairs.items()
        for x, y in steps[:: max(1, len(steps) // MOST_BEHIND)]
    ]
    head = (texts("assessed.near_line"), texts("assessed.near_across"), texts("units.bits"))
    behind = Grid(texts("assessed.behind"), head, tuple(rows), right=(1, 2))
    return Picture(spec, texts("assessed.near_caption"), behind)


# -- tables ---------------------------------------------------------------------------------------


def _head(part: ReportPart) -> tuple[str, ...]:
    return tuple(part.texts(f"assessed.head_{word}") for word in ("what", "number", "unit", "side"))


def _table(
    part: ReportPart, caption: str, wanted: tuple[str, ...], values: Mapping[str, Any]
) -> Grid:
    bits = _entropy(values)
    rows = [row(part.redactor, m, values[m], bits) for m in wanted if m in values]
    return Grid(caption, _head(part), tuple(rows), right=(1,))


def _entropy(values: Mapping[str, Any]) -> float | None:
    """Bits of what is asked for, where they are told."""
    held: float | None = values.get("entropy", {"value": None})["value"]
    return held


def _hidden(redactor: Redactor, measure: str, held: Mapping[str, Any]) -> bool:
    """Whether nothing is told of a number."""
    undeclared = not redactor.internal and decided_by(measure) is Decides.UNDECLARED
    return undeclared or (held["reason"] == SUPPRESSED and "below" not in held)


def _everything(part: ReportPart) -> Chapter:
    """Every measure of every target, folded."""
    texts, data = part.texts, part.data
    grids: list[Block] = [Paragraph(texts("assessed.everything_reading"), "reading")]
    targets = [(texts("assessed.record"), data["reidentification"])]
    targets += [(part.redactor.name(s), v) for s, v in data["inference"].items()]
    for name, values in targets:
        hidden = [m for m, v in values.items() if _hidden(part.redactor, m, v)]
        bits = _entropy(values)
        rows = tuple(row(part.redactor, m, v, bits) for m, v in values.items() if m not in hidden)
        caption = texts("assessed.everything_of", target=name)
        grids.append(Grid(caption, _head(part), rows, right=(1,), folded=True))
        if hidden:
            names = ", ".join(titled(texts, m) for m in hidden)
            grids.append(Paragraph(texts("assessed.withheld_too", names=names), "note"))
    return Chapter(texts("assessed.everything"), part.anchor("everything"), tuple(grids))
