"""The chapter of an assessment: how easily a person is found, what is learnt of each secret."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sievert.charts import Bar, bars, lines
from sievert.charts.curves import close_stairs
from sievert.charts.drawing import caption_bars
from sievert.charts.results import make_unique
from sievert.formatting import percent, significant
from sievert.measures import Decides, decided_by
from sievert.measures.measure import SUPPRESSED
from sievert.report.chapters.numbers import SHORT, measure_title, near_end, row, value_text, why
from sievert.report.page import Block, BulletList, Chapter, Grid, Paragraph, Picture, make_grid
from sievert.report.redaction import Data, Redactor, ReportPart

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
    chapters: dict[str, tuple[Block | Chapter, ...]] = {
        "found": (
            *(Paragraph(text) for text in _identity_sentences(part)),
            *_sizes(part),
            _table(part, part.say("found_table"), FOUND, part.data["reidentification"]),
            Paragraph(part.say("found_reading"), "reading"),
        ),
        "learnt": tuple(_secrets(part)),
        "everything": tuple(_everything(part)),
        "remarks": (BulletList(tuple(part.data["warnings"])),) if part.data["warnings"] else (),
    }
    return tuple(
        Chapter(part.say(k), part.anchor(k), inner) for k, inner in chapters.items() if inner
    )


def sentences(part: ReportPart) -> tuple[str, ...]:
    """How easily somebody is found; what is learnt of the secret that is given away most."""
    worst = (_secret_sentences(part, secret)[:1] for secret in _worst_first(part)[:1])
    return (*_identity_sentences(part)[:1], *(text for texts in worst for text in texts))


# -- a person is found ----------------------------------------------------------------------------


def _identity_sentences(part: ReportPart) -> list[str]:
    values, redactor, sentences = part.data["reidentification"], part.redactor, []
    unique, k, rate = map(values.get, ("unique_records", "k_anonymity", "discrimination_rate"))
    if unique is not None and unique["value"] is not None:
        alone = unique.get("records")
        if unique["value"] and alone is not None:
            places = {
                "number": value_text(redactor, "classes", {"value": alone, "reason": None}),
                "rows": f"{part.rows:,}",
                "share": value_text(redactor, "unique_records", unique),
                "columns": _columns(part),
            }
            key = "one_alone" if redactor.internal and alone == 1 else "alone"
            sentences.append(_capital(part.say(key, **places)))
        elif k is not None and k["value"] is not None:
            sentences.append(part.say("nobody_alone", k=f"{k['value']:,}"))
    elif unique is not None and unique["reason"] == SUPPRESSED:
        key = "few_alone" if "below" in unique else "alone_withheld"
        sentences.append(_capital(part.say(key, few=why(part.texts, unique))))
    if rate is not None and rate["value"] is not None:
        gone = _share(part, values, "discrimination_rate")
        sentences.append(part.say("identity_gone", share=gone))
    return sentences


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _columns(part: ReportPart) -> str:
    columns = part.data["roles"]["quasi"]
    many = len(columns) > NAMED
    return part.say("many_columns", number=len(columns)) if many else part.redactor.names(columns)


def _sizes(part: ReportPart) -> Iterator[Picture]:
    """Records by the size of their class; on a shareable page, only in whole cells."""
    spans = (part.exact or part.data)["table"].get("class_sizes")
    count = part.redactor.count
    if not spans or part.redactor.silent:
        return
    if part.internal:
        key, units = "sizes", ["records", "classes"]
        rows = [(_span(part, s), [count(s[unit]) for unit in units]) for s in spans if s["records"]]
    else:
        key, units = "below", ["records"]
        rows = [
            (
                part.say("below_k", k=f"{k:,}"),  # everybody where `_below` says so
                [part.redactor.everybody() if n == part.rows else count(n)],
            )
            for k, n in _below(spans, part.rows).items()
        ]
        while len(rows) > 1 and rows[-1][1] == rows[-2][1]:
            rows.pop()  # nothing more to see
    given = [Bar(name, counts[0].number) for name, counts in rows]
    if any(bar.number for bar in given):
        below = (part.say(f"{key}_below", least=part.redactor.least),)
        heads = part.texts.each("units", units, ".")
        body = ((name, *counts) for name, counts in rows)
        grid = make_grid(part.say("behind"), (part.say("size"), *heads), body)
        spec = bars(part.say(key), below, given, axis=heads[0])
        yield Picture(spec, part.say(f"{key}_caption"), grid)


def _span(part: ReportPart, span: Mapping[str, int | None]) -> str:
    least, most = span["least"], span["most"]
    key = "one" if least == most else "more" if most is None else "span"
    return part.say(f"size_{key}", n=f"{least:,}", least=f"{least:,}", most=f"{most or 0:,}")


def _below(spans: list[dict[str, Any]], rows: int) -> dict[int, int]:
    """Records in classes of fewer than k; all of them only where that is so from k = 2 on."""
    exact = {
        k: sum(s["records"] for s in spans if s["most"] is not None and s["most"] < k)
        for k in BELOW
    }
    everybody = min(exact.values()) == rows
    return {k: n if everybody else min(n, rows - 1) for k, n in exact.items()}


# -- a secret is learnt -------------------------------------------------------------------------


def _secrets(part: ReportPart) -> Iterator[Block | Chapter]:
    if not (worst := _worst_first(part)):
        return
    yield from _guesses(part, worst)
    for number, secret in enumerate(worst, 1):
        name, values = part.redactor.name(secret), part.data["inference"][secret]
        inside: tuple[Block, ...] = (
            *(Paragraph(text) for text in _secret_sentences(part, secret)),
            _table(part, part.say("learnt_table", secret=name), LEARNT, values),
            *_near(part, secret),
        )
        yield Chapter(name, part.anchor(f"learnt{number}"), inside)
    yield Paragraph(part.say("learnt_reading"), "reading")


def _number(values: Data, measure: str) -> float | None:
    """A value of an assessment; None where it is not measured or withheld."""
    value: float | None = values.get(measure, {"value": None})["value"]
    return value


def _worst_first(part: ReportPart) -> list[str]:
    """Secrets by the share of uncertainty that is gone, as it is shown."""
    rates = {s: _number(v, "discrimination_rate") for s, v in part.data["inference"].items()}
    order = {s: 2.0 if rate is None else float(rate) for s, rate in rates.items()}
    return sorted(order, key=lambda s: (-order[s], part.redactor.name(s)))


def _secret_sentences(part: ReportPart, secret: str) -> list[str]:
    values, name = part.data["inference"][secret], part.redactor.name(secret)
    if (rate := values.get("discrimination_rate")) is None:
        return []
    if rate["value"] is None and rate["reason"] != SUPPRESSED:
        return [part.say("constant", secret=name)]
    measures = {
        "after": "bayes_vulnerability_posterior",
        "before": "bayes_vulnerability_prior",
        "gone": "discrimination_rate",
    }
    sentences = []
    if all(_number(values, m) is not None for m in measures.values()):
        places = {place: _share(part, values, m) for place, m in measures.items()}
        sentences.append(part.say("guess", secret=name, **places))
    if part.internal and _number(values, "max_confidence") == 1.0:
        sentences.append(part.say("certain", secret=name))
    return sentences or [part.say("learnt_withheld", secret=name)]


def _share(part: ReportPart, values: Data, measure: str, short: str = "") -> str:
    value, bits = values[measure]["value"], _number(values, "entropy")
    return near_end(part.redactor, measure, value, bits, percent, short) or percent(value)


def _guesses(part: ReportPart, secrets: list[str]) -> Iterator[Picture]:
    """How often the best guess is right, without and with the columns."""
    series = {
        "bayes_vulnerability_prior": part.say("guess_before"),
        "bayes_vulnerability_posterior": part.say("guess_after"),
    }
    labels = make_unique(map(part.redactor.name, secrets))
    known = [
        (label, values)
        for label, values in zip(labels, map(part.data["inference"].get, secrets), strict=True)
        if None not in [_number(values, m) for m in series]
    ]
    rows = [(label, *(_share(part, values, m, SHORT) for m in series)) for label, values in known]
    if rows:
        given = [
            Bar(label, _number(v, m), name) for label, v in known for m, name in series.items()
        ]
        title, below, axis, caption = (
            part.say(f"guesses{k}") for k in ("", "_below", "_axis", "_caption")
        )
        words = [text for _, *each in rows for text in each]
        spec = caption_bars(bars(title, (below,), given, axis=axis), words)
        grid = make_grid(part.say("behind"), (part.say("secret"), *series.values()), rows)
        yield Picture(spec, caption, grid)


def _near(part: ReportPart, secret: str) -> Iterator[Picture]:
    """H(eps) of a secret number: windows may be values, so only for the operator."""
    near = getattr(part.result, "approximate", {}).get(secret)
    if near is None or not part.internal:
        return
    stairs = close_stairs({part.say(f"near_{w}"): near[w]["steps"] for w in ("table", "worst")})
    line, across, below, caption = part.texts.each(
        "assessed.near", ("line", "across", "below", "caption")
    )
    title, up = part.say("near", secret=part.redactor.name(secret)), part.texts("units.bits")
    rows = (
        (name, significant(x), significant(y))
        for name, steps in stairs.items()
        for x, y in steps[:: max(1, len(steps) // MOST_BEHIND)]
    )
    grid = make_grid(part.say("behind"), (line, across, up), rows)
    yield Picture(lines(title, (below,), stairs, across=across, up=up, stair=True), caption, grid)


# -- tables ---------------------------------------------------------------------------------------


def _table(
    part: ReportPart, caption: str, measures: Iterable[str], values: Data, *, folded: bool = False
) -> Grid:
    bits = _number(values, "entropy")
    rows = (row(part.redactor, m, values[m], bits) for m in measures if m in values)
    head = part.texts.each("assessed.head", ("what", "number", "unit", "side"))
    return make_grid(caption, head, rows, (1,), folded=folded)


def _is_hidden(redactor: Redactor, measure: str, value: Data) -> bool:
    """Whether nothing is shown of a number."""
    undeclared = not redactor.internal and decided_by(measure) is Decides.UNDECLARED
    return undeclared or (value["reason"] == SUPPRESSED and "below" not in value)


def _everything(part: ReportPart) -> Iterator[Block]:
    """Every measure of every target, folded."""
    yield Paragraph(part.say("everything_reading"), "reading")
    targets = [(part.say("record"), part.data["reidentification"])]
    targets += [(part.redactor.name(s), v) for s, v in part.data["inference"].items()]
    for name, values in targets:
        hidden = [m for m, v in values.items() if _is_hidden(part.redactor, m, v)]
        caption = part.say("everything_of", target=name)
        yield _table(part, caption, (m for m in values if m not in hidden), values, folded=True)
        if hidden:
            names = ", ".join(measure_title(part.texts, m) for m in hidden)
            yield Paragraph(part.say("withheld_too", names=names), "note")
