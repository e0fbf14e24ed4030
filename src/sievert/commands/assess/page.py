"""The chapter of an assessment: how easily a person is found, what is learnt of each secret."""

import math
from collections.abc import Iterable, Iterator, Mapping

from sievert.charts import Bar, bars
from sievert.charts.drawing import caption_bars
from sievert.charts.pairs import dumbbells
from sievert.commands.assess.framework_chapter import framework_chapter
from sievert.commands.assess.near_numbers_chapter import near_numbers
from sievert.formatting import count, make_unique, percent
from sievert.measures import BY_ID, MEASURES
from sievert.measures.measure import NOTHING_TO_LEARN
from sievert.report.explanation_view import explanation_view
from sievert.report.limits import (
    STATES,
    can_be_found,
    counts_rows,
    limits_of,
    numbers_chapter,
    outcome_of,
    suppressed_records,
    titles,
    value_with_unit,
    worse_without_missing,
)
from sievert.report.numbers import scale, value_text
from sievert.report.page import (
    Block,
    Cell,
    Chapter,
    Link,
    Paragraph,
    Picture,
    make_grid,
)
from sievert.report.parts import Data, ReportPart, names_of
from sievert.report.records_chapter import population_chapter
from sievert.report.remarks import remarks
from sievert.report.why import why_chapter

MOST_SECRETS = 3  # of which a finding speaks
SIZE_UNITS = {"records": "units.records", "classes": "units.classes"}
GAIN = (0.01, 0.1)  # of right guesses: next to nothing, something
NOTICEABLE = 0.05  # by which the gain of those whose secret is known is higher
GUESSES = ("bayes_vulnerability_posterior", "bayes_vulnerability_prior")  # known, unknown
HIGH_GAIN = 0.5  # in confidence, of one group
WORST = {m.id for m in MEASURES if m.exposes_group}  # of the most exposed group
# What is said by how much the columns help to guess the secrets.
LEARNT = {"nothing": "learnt_nothing", "some": "learnt_some", "much": "learnt_much"}
TELL = {"nothing": "tell_nothing", "some": "tell_some", "much": "tell_much"}
TOPICS = {"learnt": "assessed.learnt_topic", "sizes": "assessed.sizes_topic"}
RISKY = {"high": "risky.high", "low": "risky.low", "neither": "risky.neither"}
KEY_SET_STATES = {
    "met": "key_sets_met",
    "breached": "key_sets_breached",
    "doubtful": "key_sets_doubtful",
}
KEY_SET_HEADS = (
    *("key_sets_columns", "key_sets_k", "key_sets_unique"),
    *("key_sets_average", "key_sets_gain"),
)


def blocks(part: ReportPart) -> tuple[Block | Chapter, ...]:
    """What the chapter holds."""
    chapters: dict[str, tuple[Block | Chapter, ...]] = {
        "learnt": tuple(_secrets(part)),
        "trajectory": tuple(_trajectory(part)),
        "sizes": tuple(_sizes(part)),
        "everything": tuple(_everything(part)),
    }
    return (
        numbers_chapter(part),
        *_key_sets(part),
        *filter(None, [why_chapter(part)]),
        *(population_chapter(explanation_view(part)) if part.data.get("population") else ()),
        *(
            Chapter(
                _finding(part, k),
                part.anchor(k),
                inner,
                screen=k == "trajectory",
                folded=k == "everything",
                topic=part.texts(TOPICS[k]) if k in TOPICS else "",
            )
            for k, inner in chapters.items()
            if inner
        ),
        *framework_chapter(part),
        *remarks(part),
    )


def _finding(part: ReportPart, chapter: str) -> str:
    """The title of a chapter: what was found, where that can be said in a short sentence."""
    values = part.data["reidentification"]
    alone, k = _number(values, "unique_records"), _number(values, "k_anonymity")
    if chapter == "learnt" and (gains := _gains(part)):
        return part.say(LEARNT[_how_much(gains.values())])
    if chapter == "sizes" and alone:
        key = "sizes_alone_rows" if counts_rows(part) else "sizes_alone"
        return part.say(key, share=part.writer.share(alone))
    if chapter == "sizes" and alone == 0 and k:
        return part.say(
            "sizes_nobody", k=value_with_unit(part, "k_anonymity", values["k_anonymity"])
        )
    return part.say(chapter)


# -- the findings ---------------------------------------------------------------------------------


def points(part: ReportPart) -> list[tuple[str, str]]:
    """How many people can be found; what is learnt of the secrets. Each with its finding."""
    return [*_found(part), *_learnt(part)]


def _found(part: ReportPart) -> Iterator[tuple[str, str]]:
    values, writer = part.data["reidentification"], part.writer
    unique, k = (values.get(m) or {"value": None} for m in ("unique_records", "k_anonymity"))
    columns = names_of(part, part.data["roles"]["quasi"])
    alone, share = unique.get("records"), unique["value"]
    people = part.data["table"].get("people", part.rows)
    rest = part.say("not_suppressed", number=count(people)) if suppressed_records(part) else ""
    if alone:
        of = rest or count(people)
        key = "only_one" if people == 1 else "one_alone" if alone == 1 else "alone"
        text = part.say(key, number=writer.count(alone), people=of, columns=columns)
        limit = next((v for v in limits_of(part.data) if v["measure"] == "unique_records"), None)
        if limit is not None and limit["max"] is not None:
            text += f" {part.say('allowed', number=count(math.floor(limit['max'] * people)))}"
        yield can_be_found(part, share), text
    elif k.get("reading") == "wildcard" and "missing_as_value" in k:
        each = {"k": k, "as_value": {"value": k["missing_as_value"], "unit": k["unit"]}}
        sizes = {name: value_with_unit(part, "k_anonymity", entry) for name, entry in each.items()}
        yield part.say("wildcards"), part.say("wildcards_match", columns=columns, **sizes)
    elif k["value"] is not None:
        head = "somebody" if k["value"] == 1 else "nobody_of" if rest else "nobody"
        yield (
            part.say(head, rest=rest),
            part.say("nobody_alone", k=value_with_unit(part, "k_anonymity", k), columns=columns),
        )


def _learnt(part: ReportPart) -> Iterator[tuple[str, str]]:
    """The best guess of the secrets with and without the columns, what is gained most first."""
    sentences: list[str] = []
    gains = _gains(part)
    for secret in sorted(_worst_first(part), key=lambda secret: -gains.get(secret, 0.0)):
        values, name = part.data["inference"][secret], part.writer.name(secret)
        after, before = (_number(values, m) for m in GUESSES)
        if after is None or before is None:
            continue
        shares = {"secret": name, "after": percent(after), "before": percent(before)}
        if values.get("discrimination_rate", {}).get("reason") == NOTHING_TO_LEARN:
            sentences.append(part.say("constant", secret=name))
        else:
            sentences.append(part.say("guess_too" if sentences else "guess", **shares))
            gain = values.get("guess_gain", {"value": None})
            known = worse_without_missing("guess_gain", gain)
            if known is not None and known > gain["value"] + NOTICEABLE:
                sentences[-1] += f" {part.say('guess_known', secret=name, gain=percent(known))}"
    if sentences:
        text = " ".join([*sentences[:MOST_SECRETS], *_most_exposed(part)])
        yield part.say(TELL[_how_much(gains.values())]), text


def _how_much(gains: Iterable[float]) -> str:
    """How much the columns help to guess the secrets: nothing, some or much."""
    largest = max(gains)
    return "nothing" if largest < GAIN[0] else "some" if largest < GAIN[1] else "much"


def _gains(part: ReportPart) -> dict[str, float]:
    """By how much the columns raise the share of right guesses, of every secret."""
    each = {s: [_number(v, m) for m in GUESSES] for s, v in part.data["inference"].items()}
    return {s: a - b for s, (a, b) in each.items() if a is not None and b is not None}


def _most_exposed(part: ReportPart) -> Iterator[str]:
    """The group in which most is learnt, where a limit on it is breached or the gain is high."""
    breached = {v["where"] for v in limits_of(part.data) if not v["met"] and v["measure"] in WORST}
    shares = {
        secret: known if (known := best.get("without_missing")) is not None else best["value"]
        for secret, values in part.data["inference"].items()
        if (best := values.get("max_confidence"))
        and (
            f"inference.{secret}" in breached
            or (_number(values, "confidence_gain") or 0) >= HIGH_GAIN
        )
    }
    worst = max((s for s in shares if shares[s] is not None), key=shares.__getitem__, default=None)
    if worst is not None:
        key = "exposed_all" if shares[worst] == 1 else "exposed"
        secret, share = part.writer.name(worst), part.writer.share(shares[worst])
        yield part.say(key, secret=secret, share=share)


# -- several key sets --------------------------------------------------------------------------


def _key_sets(part: ReportPart) -> Iterator[Chapter]:
    """One row per set of quasi-identifiers that was assessed."""
    if not (sets := part.data.get("key_sets")):
        return
    judged = ("key_sets_policy",) if part.data.get("policy") else ()
    rows = (
        (
            part.writer.names(each["quasi"]),
            part.writer.count(_number(each["reidentification"], "k_anonymity")),
            part.writer.share(_number(each["reidentification"], "unique_records")),
            part.writer.share(_number(each["reidentification"], "average_risk")),
            part.writer.share(_highest_gain(each)),
            *(part.say(KEY_SET_STATES[STATES[outcome_of(each["policy"])]]) for _ in judged),
        )
        for each in sets
    )
    sentence = part.say("key_sets_worst", columns=names_of(part, part.data["roles"]["quasi"]))
    heads = (*KEY_SET_HEADS, *judged)
    inner = (Paragraph(sentence), part.grid("key_sets", heads, rows, (1, 2, 3, 4)))
    yield Chapter(part.say("key_sets"), part.anchor("key_sets"), inner, screen=True)


def _highest_gain(assessment: Data) -> float | None:
    """The highest gain of a best guess of any secret; None where there is none."""
    gains = (_number(values, "guess_gain") for values in assessment["inference"].values())
    return max((gain for gain in gains if gain is not None), default=None)


# -- a person is found ----------------------------------------------------------------------------


def _sizes(part: ReportPart) -> Iterator[Picture]:
    """Records by the size of their class."""
    spans, count, units = part.data["table"].get("class_sizes"), part.writer.count, SIZE_UNITS
    rows = [
        (_span(part, s), [count(s[unit]) for unit in units]) for s in spans or () if s["records"]
    ]
    given = [Bar(row=name, number=counts[0].number) for name, counts in rows]
    if any(bar.number for bar in given):
        heads = [part.texts(key) for key in units.values()]
        body = ((name, *counts) for name, counts in rows)
        grid = make_grid(part.say("behind"), (part.say("size"), *heads), body)
        spec = bars(part.say("sizes_below"), (), given, axis=heads[0])
        yield Picture(spec, part.say("sizes_caption"), grid)


def _span(part: ReportPart, span: Mapping[str, int | None]) -> str:
    key = "size_span"
    if span["least"] == span["most"]:
        key = "size_one"
    elif span["most"] is None:
        key = "size_more"
    least, most = (count(span[end] or 0) for end in ("least", "most"))
    return part.say(key, n=least, least=least, most=most)


def _trajectory(part: ReportPart) -> Iterator[Block]:
    """How often a few sightings of a person are nobody else's."""
    unicity = part.data.get("trajectory")
    if unicity is not None:
        places = {"number": unicity["sightings"], "share": part.writer.share(unicity["value"])}
        yield Paragraph(part.say("trajectory_share", **places))
        if not unicity["exact"]:
            ends = {end: part.writer.share(unicity[end]) for end in ("low", "high")}
            yield Paragraph(part.say("trajectory_sampled", **ends), "note")


# -- a secret is learnt -------------------------------------------------------------------------


def _secrets(part: ReportPart) -> Iterator[Block | Chapter]:
    if not (worst := _worst_first(part)):
        return
    yield from _guesses(part, worst)
    for number, secret in enumerate(worst, 1):
        inside = tuple(Paragraph(text) for text in _secret_sentences(part, secret))
        yield Chapter(part.writer.name(secret), f"{part.anchor('learnt')}{number}", inside)
    yield Paragraph(part.say("learnt_reading"), "reading")


def _number(values: Data, measure: str) -> float | None:
    """A value of an assessment; None where it is not measured."""
    value: float | None = values.get(measure, {"value": None})["value"]
    return value


def _worst_first(part: ReportPart) -> list[str]:
    """Secrets by the share of uncertainty that is gone."""
    rates = {s: _number(v, "discrimination_rate") for s, v in part.data["inference"].items()}
    order = {s: 2.0 if rate is None else float(rate) for s, rate in rates.items()}
    return sorted(order, key=lambda s: (-order[s], part.writer.name(s)))


def _secret_sentences(part: ReportPart, secret: str) -> list[str]:
    values, name = part.data["inference"][secret], part.writer.name(secret)
    if (rate := values.get("discrimination_rate")) is None:
        return []
    if rate["value"] is None:
        return [part.say("constant", secret=name)]
    sentences = [part.say("uncertainty_gone", secret=name, gone=percent(rate["value"]))]
    if best := values.get("max_confidence"):
        known = best.get("without_missing")
        share = best["value"] if known is None else known
        key = "certain_worst" if share != 1.0 else "certain" if known is None else "certain_known"
        sentences.append(part.say(key, secret=name, share=part.writer.share(share)))
    return sentences


def _guesses(part: ReportPart, secrets: list[str]) -> Iterator[Picture]:
    """How often the best guess is right, without and with the columns."""
    series = {
        "bayes_vulnerability_prior": part.say("guess_before"),
        "bayes_vulnerability_posterior": part.say("guess_after"),
    }
    labels = make_unique(map(part.writer.name, secrets))
    known = [
        (label, values)
        for label, values in zip(labels, map(part.data["inference"].get, secrets), strict=True)
        if None not in [_number(values, m) for m in series]
    ]
    rows = [(label, *(str(part.writer.share(v[m]["value"])) for m in series)) for label, v in known]
    if rows:
        given = [
            Bar(row=label, number=_number(v, m), series=name)
            for label, v in known
            for m, name in series.items()
        ]
        words = [text for _, *each in rows for text in each]
        below = (part.say("guesses_below"),)
        spec = dumbbells(part.say("guesses"), below, given, axis=part.say("guesses_axis"))
        spec = caption_bars(spec, list(zip(given, words, strict=True)))
        grid = make_grid(part.say("behind"), (part.say("secret"), *series.values()), rows)
        yield Picture(spec, part.say("guesses_caption"), grid)


# -- tables ---------------------------------------------------------------------------------------


def _row(part: ReportPart, measure: str, entry: Data) -> tuple[Cell, ...]:
    """A line of a table of measures: what, how much, in what unit, which side is risky."""
    unit = scale(part.texts, measure)
    one = part.texts.get(f"units.one.{entry['unit']}", unit)
    return (
        Link(titles(part.texts, measure, entry)[0], f"def-{measure}"),
        value_text(part.writer, measure, entry).text,
        one if entry["value"] == 1 else unit,
        part.texts(RISKY[BY_ID[measure].riskier]),
    )


def _everything(part: ReportPart) -> Iterator[Block]:
    """Every measure of every target, folded."""
    yield Paragraph(part.say("everything_reading"), "reading")
    targets = [(part.say("record"), part.data["reidentification"])]
    targets += [(part.writer.name(s), v) for s, v in part.data["inference"].items()]
    head = ("head_what", "head_number", "head_unit", "head_side")
    for name, values in targets:
        rows = (_row(part, measure, entry) for measure, entry in values.items())
        yield part.grid("everything_of", head, rows, (1,), folded=True, target=name)
    for secret in _worst_first(part):
        yield from near_numbers(part, secret)
