"""The chapter of an assessment: how easily a person is found, what is learnt of each secret."""

import math
from collections.abc import Iterable, Iterator, Mapping

from sievert.charts import Bar, bars
from sievert.charts.drawing import caption_bars
from sievert.charts.pairs import dumbbells
from sievert.commands.assess.framework_chapter import framework_chapter
from sievert.commands.assess.near_numbers_chapter import near_numbers
from sievert.commands.assess.result import Assessment
from sievert.commands.assess.what_would_help import cards, helping_points, making
from sievert.formatting import count, make_unique, percent
from sievert.measures import BY_ID, MEASURES
from sievert.measures.measure import NOTHING_TO_LEARN, Value
from sievert.policy import Judgement
from sievert.report.explanation_view import explanation_view
from sievert.report.limits import (
    STATES,
    can_be_found,
    counts_rows,
    limits_of,
    numbers_chapter,
    titles,
    value_with_unit,
    worse_without_missing,
)
from sievert.report.numbers import scale, value_text
from sievert.report.overview import ClassSpan, Overview
from sievert.report.page import (
    Block,
    Cell,
    Chapter,
    Link,
    Paragraph,
    Picture,
    make_grid,
)
from sievert.report.parts import ReportPart, names_of
from sievert.report.records_chapter import population_chapter
from sievert.report.remarks import remarks
from sievert.report.why import why_chapter

__all__ = ["blocks", "cards", "helping_points", "making", "points"]

MOST_SECRETS = 3  # that a finding names
SIZE_UNITS = ("units.records", "units.classes")
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
    result = part.read(Assessment)
    chapters: dict[str, tuple[Block | Chapter, ...]] = {
        "learnt": tuple(_secrets(part)),
        "trajectory": tuple(_trajectory(part)),
        "sizes": tuple(_sizes(part)),
        "everything": tuple(_everything(part)),
    }
    return (
        numbers_chapter(part, result.reidentification, result.inference),
        *_key_sets(part),
        *_why(part),
        *(population_chapter(explanation_view(part)) if part.read(Assessment).population else ()),
        *(
            Chapter(
                title=_finding(part, k),
                anchor=part.anchor(k),
                blocks=inner,
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


def _why(part: ReportPart) -> Iterator[Chapter]:
    """Why the numbers are as they are, where that was explained."""
    if part.read(Assessment).explanation:
        chapter = why_chapter(part)
        if chapter is not None:
            yield chapter


def _finding(part: ReportPart, chapter: str) -> str:
    """The title of a chapter: what was found, where that can be said in a short sentence."""
    values = part.read(Assessment).reidentification
    alone = _number(values, "unique_records")
    k = values.get("k_anonymity")
    if chapter == "learnt":
        gains = _gains(part)
        if gains:
            return part.say(LEARNT[_how_much(gains.values())])
    if chapter == "sizes" and alone:
        key = "sizes_alone_rows" if counts_rows(part) else "sizes_alone"
        return part.say(key, share=part.writer.share(alone))
    if chapter == "sizes" and alone == 0 and k is not None and k.value:
        return part.say("sizes_nobody", k=value_with_unit(part, k.id, k.value, k.unit))
    return part.say(chapter)


# -- the findings ---------------------------------------------------------------------------------


def points(part: ReportPart) -> list[tuple[str, str]]:
    """How many people can be found; what is learnt of the secrets. Each with its finding."""
    return [*_found(part), *_learnt(part)]


def _found(part: ReportPart) -> Iterator[tuple[str, str]]:
    result = part.read(Assessment)
    writer = part.writer
    unique = result.reidentification.get("unique_records")
    k = result.reidentification.get("k_anonymity")
    columns = names_of(part, result.roles.quasi)
    alone = None if unique is None else unique.details.get("records")
    people = result.people
    rest = ""
    if part.read(Overview).table.left_out:
        rest = part.say("not_suppressed", number=count(people))
    if unique is not None and unique.value is not None and alone:
        of = rest or count(people)
        key = "only_one" if people == 1 else "one_alone" if alone == 1 else "alone"
        text = part.say(key, number=writer.count(alone), people=of, columns=columns)
        limits = (v for v in limits_of(result.policy) if v.measure == "unique_records")
        limit = next(limits, None)
        if limit is not None and limit.max is not None:
            text += f" {part.say('allowed', number=count(math.floor(limit.max * people)))}"
        yield can_be_found(part, unique.value), text
    elif k is not None and k.value is not None:
        size = value_with_unit(part, k.id, k.value, k.unit)
        if k.details.get("reading") == "wildcard" and "missing_as_value" in k.details:
            as_value = value_with_unit(part, k.id, k.details["missing_as_value"], k.unit)
            text = part.say("wildcards_match", columns=columns, k=size, as_value=as_value)
            yield part.say("wildcards"), text
            return
        head = "nobody_of" if rest else "nobody"
        if k.value == 1:
            head = "somebody"
        yield part.say(head, rest=rest), part.say("nobody_alone", k=size, columns=columns)


def _learnt(part: ReportPart) -> Iterator[tuple[str, str]]:
    """The best guess of the secrets with and without the columns, what is gained most first."""
    sentences: list[str] = []
    gains = _gains(part)
    for secret in sorted(_worst_first(part), key=lambda secret: -gains.get(secret, 0.0)):
        values = part.read(Assessment).inference[secret]
        name = part.writer.name(secret)
        after, before = (_number(values, m) for m in GUESSES)
        if after is None or before is None:
            continue
        shares = {"secret": name, "after": percent(after), "before": percent(before)}
        rate = values.get("discrimination_rate")
        if rate is not None and rate.reason == NOTHING_TO_LEARN:
            sentences.append(part.say("constant", secret=name))
        else:
            sentences.append(part.say("guess_too" if sentences else "guess", **shares))
            gain = values.get("guess_gain")
            known = None if gain is None else worse_without_missing(gain)
            if known is not None and known > (_number(values, "guess_gain") or 0.0) + NOTICEABLE:
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
    each = {s: [_number(v, m) for m in GUESSES] for s, v in part.read(Assessment).inference.items()}
    return {s: a - b for s, (a, b) in each.items() if a is not None and b is not None}


def _most_exposed(part: ReportPart) -> Iterator[str]:
    """The group in which most is learnt, where a limit on it is breached or the gain is high."""
    result = part.read(Assessment)
    limits = limits_of(result.policy)
    breached = {v.where for v in limits if not v.met and v.measure in WORST}
    shares: dict[str, float] = {}
    for secret, values in result.inference.items():
        high = (_number(values, "confidence_gain") or 0) >= HIGH_GAIN
        share = _known_confidence(values)
        if share is not None and (high or f"inference.{secret}" in breached):
            shares[secret] = share
    worst = max(shares, key=shares.__getitem__, default=None)
    if worst is not None:
        key = "exposed_all" if shares[worst] == 1 else "exposed"
        text = part.writer.share(shares[worst])
        yield part.say(key, secret=part.writer.name(worst), share=text)


def _known_confidence(values: Mapping[str, Value]) -> float | None:
    """The largest confidence, of the records whose secret is known where some are missing."""
    best = values.get("max_confidence")
    if best is None:
        return None
    known: float | None = best.details.get("without_missing")
    return best.value if known is None else known


# -- several key sets --------------------------------------------------------------------------


def _key_sets(part: ReportPart) -> Iterator[Chapter]:
    """One row per set of quasi-identifiers that was assessed."""
    result = part.read(Assessment)
    if not result.key_sets:
        return
    judged = () if result.policy is None else ("key_sets_policy",)
    rows = (
        (
            part.writer.names(each.roles.quasi),
            part.writer.count(_number(each.reidentification, "k_anonymity")),
            part.writer.share(_number(each.reidentification, "unique_records")),
            part.writer.share(_number(each.reidentification, "average_risk")),
            part.writer.share(_highest_gain(each)),
            *([] if each.policy is None else [_key_set_state(part, each.policy)]),
        )
        for each in result.key_sets
    )
    sentence = part.say("key_sets_worst", columns=names_of(part, result.roles.quasi))
    heads = (*KEY_SET_HEADS, *judged)
    inner = (Paragraph(sentence), part.grid("key_sets", heads, rows, (1, 2, 3, 4)))
    yield Chapter(
        title=part.say("key_sets"), anchor=part.anchor("key_sets"), blocks=inner, screen=True
    )


def _key_set_state(part: ReportPart, policy: Judgement) -> str:
    """Whether a set of quasi-identifiers meets the policy."""
    return part.say(KEY_SET_STATES[STATES[policy.outcome]])


def _highest_gain(assessment: Assessment) -> float | None:
    """The highest gain of a best guess of any secret; None where there is none."""
    gains = (_number(values, "guess_gain") for values in assessment.inference.values())
    return max((gain for gain in gains if gain is not None), default=None)


# -- a person is found ----------------------------------------------------------------------------


def _sizes(part: ReportPart) -> Iterator[Picture]:
    """Records by the size of their class."""
    count = part.writer.count
    rows = [
        (_span(part, span), (count(span.records), count(span.classes)))
        for span in part.read(Overview).table.class_sizes
        if span.records
    ]
    given = [Bar(row=name, number=counts[0].number) for name, counts in rows]
    if any(bar.number for bar in given):
        heads = [part.texts(key) for key in SIZE_UNITS]
        body = ((name, *counts) for name, counts in rows)
        grid = make_grid(part.say("behind"), (part.say("size"), *heads), body)
        spec = bars(part.say("sizes_below"), (), given, axis=heads[0])
        yield Picture(
            spec=spec, caption=part.say("sizes_caption"), behind=grid, name=("class_sizes",)
        )


def _span(part: ReportPart, span: ClassSpan) -> str:
    key = "size_span"
    if span.least == span.most:
        key = "size_one"
    elif span.most is None:
        key = "size_more"
    least = count(span.least)
    most = count(span.most or 0)
    return part.say(key, n=least, least=least, most=most)


def _trajectory(part: ReportPart) -> Iterator[Block]:
    """How often a few sightings of a person are nobody else's."""
    unicity = part.read(Assessment).trajectory
    if unicity is None:
        return
    share = part.writer.share(unicity.value)
    yield Paragraph(part.say("trajectory_share", number=unicity.sightings, share=share))
    if not unicity.exact:
        low = part.writer.share(unicity.low)
        high = part.writer.share(unicity.high)
        yield Paragraph(part.say("trajectory_sampled", low=low, high=high), "note")


# -- a secret is learnt -------------------------------------------------------------------------


def _secrets(part: ReportPart) -> Iterator[Block | Chapter]:
    worst = _worst_first(part)
    if not worst:
        return
    yield from _guesses(part, worst)
    for number, secret in enumerate(worst, 1):
        inside = tuple(Paragraph(text) for text in _secret_sentences(part, secret))
        yield Chapter(
            title=part.writer.name(secret), anchor=f"{part.anchor('learnt')}{number}", blocks=inside
        )
    yield Paragraph(part.say("learnt_reading"), "reading")


def _number(values: Mapping[str, Value], measure: str) -> float | None:
    """A value of an assessment; None where it is not measured."""
    return values[measure].value if measure in values else None


def _worst_first(part: ReportPart) -> list[str]:
    """Secrets by the share of uncertainty that is gone."""
    inference = part.read(Assessment).inference
    rates = {s: _number(values, "discrimination_rate") for s, values in inference.items()}
    order = {s: 2.0 if rate is None else float(rate) for s, rate in rates.items()}
    return sorted(order, key=lambda s: (-order[s], part.writer.name(s)))


def _secret_sentences(part: ReportPart, secret: str) -> list[str]:
    values = part.read(Assessment).inference[secret]
    name = part.writer.name(secret)
    rate = values.get("discrimination_rate")
    if rate is None:
        return []
    if rate.value is None:
        return [part.say("constant", secret=name)]
    sentences = [part.say("uncertainty_gone", secret=name, gone=percent(rate.value))]
    if "max_confidence" in values:
        share = _known_confidence(values)
        known = values["max_confidence"].details.get("without_missing") is not None
        key = "certain_known" if known else "certain"
        if share != 1.0:
            key = "certain_worst"
        sentences.append(part.say(key, secret=name, share=part.writer.share(share)))
    return sentences


def _guesses(part: ReportPart, secrets: list[str]) -> Iterator[Picture]:
    """How often the best guess is right, without and with the columns."""
    series = {
        "bayes_vulnerability_prior": part.say("guess_before"),
        "bayes_vulnerability_posterior": part.say("guess_after"),
    }
    labels = make_unique(map(part.writer.name, secrets))
    inference = part.read(Assessment).inference
    known = [
        (label, values)
        for label, values in zip(labels, map(inference.__getitem__, secrets), strict=True)
        if None not in [_number(values, m) for m in series]
    ]
    rows = [(label, *(str(part.writer.share(v[m].value)) for m in series)) for label, v in known]
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
        yield Picture(spec=spec, caption=part.say("guesses_caption"), behind=grid)


# -- tables ---------------------------------------------------------------------------------------


def _row(part: ReportPart, value: Value) -> tuple[Cell, ...]:
    """A line of a table of measures: what, how much, in what unit, which side is risky."""
    measure = value.id
    unit = scale(part.texts, measure)
    one = part.texts.get(f"units.one.{value.unit}", unit)
    return (
        Link(titles(part.texts, measure, value.details.get("k"))[0], f"def-{measure}"),
        value_text(part.writer, value).text,
        one if value.value == 1 else unit,
        part.texts(RISKY[BY_ID[measure].riskier]),
    )


def _everything(part: ReportPart) -> Iterator[Block]:
    """Every measure of every target, folded."""
    yield Paragraph(part.say("everything_reading"), "reading")
    result = part.read(Assessment)
    targets = [(part.say("record"), result.reidentification)]
    targets += [(part.writer.name(s), values) for s, values in result.inference.items()]
    head = ("head_what", "head_number", "head_unit", "head_side")
    for name, values in targets:
        rows = (_row(part, value) for value in values.values())
        yield part.grid("everything_of", head, rows, (1,), folded=True, target=name)
    for secret in _worst_first(part):
        yield from near_numbers(part, secret)
