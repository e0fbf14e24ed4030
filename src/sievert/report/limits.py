"""Measures in a table with the limits of a policy: value, limit and how far beyond it."""

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

from sievert.formatting import count, digits, marks, percent, significant, significant_digits
from sievert.measures import BY_ID, MEASURES
from sievert.measures.measure import AS_VALUE, SPELT_ALIKE, Number, Value
from sievert.policy.judgement import (
    ABOVE_CAP,
    PLANNED,
    STRICT,
    WITH_KEPT,
    GateReason,
    Judgement,
    Verdict,
)
from sievert.report.numbers import WHY, measure_title, unit, why
from sievert.report.overview import Overview
from sievert.report.page import Block, Chapter, NumberGroup, NumberRow, Numbers, Paragraph
from sievert.report.parts import ReportPart
from sievert.report.texts import Texts

BOUND = ".12g"
NOTHING = "–"  # in place of a number
STATES = {True: "met", None: "doubtful", False: "breached"}
ORDER = (*STATES.values(),)
WORST_FIRST = (False, None, True)
HEAD = (
    *("limits_table.measure", "limits_table.verdict", "limits_table.value"),
    *("limits_table.asked", "limits_table.far", "limits_table.id"),
)
OPEN_HEAD = (*HEAD[:4], "limits_table.side", HEAD[5])  # without a policy
# Shares of people or of uncertainty, which are shown in per cent.
PERCENT = {m.id for m in MEASURES if m.in_percent}
STATE_WORDS = {
    "met": "limits_table.met",
    "breached": "limits_table.breached",
    "doubtful": "limits_table.doubtful",
}
TALLY = {
    "met": "front.tally_met",
    "breached": "front.tally_breached",
    "doubtful": "front.tally_doubtful",
}
BUDGET = {
    "met": "front.budget_met",
    "breached": "front.budget_breached",
    "doubtful": "front.budget_doubtful",
}
SIDES = {
    "high": "limits_table.risky_high",
    "low": "limits_table.risky_low",
    "neither": "limits_table.risky_neither",
}
READ = {  # a reading, by its words in the JSON
    AS_VALUE: "limits_table.as_value",
    SPELT_ALIKE: "limits_table.spelt_alike",
    WITH_KEPT: "limits_table.with_kept",
}
# Numbers with their units, of one thing and of several.
NUMBERS_OF = {
    "records": ("limits_table.records_one", "limits_table.records"),
    "people": ("limits_table.people_one", "limits_table.people"),
    "rows": ("limits_table.rows_one", "limits_table.rows"),
    "values": ("limits_table.values_one", "limits_table.values"),
    "classes": ("limits_table.classes_one", "limits_table.classes"),
}
# What a decision rests on, whether a policy limits it or not.
OF_RECORDS = ("k_anonymity", "unique_records", "average_risk")
ORDERED = "t_closeness_ordered"
SUPPRESSED_RECORDS = "suppressed_records"
SUPPRESSED_SCOPE = "suppressed"  # of a line about suppressed records as a class of their own
OF_SECRETS = (
    "l_diversity",
    "t_closeness",
    "guess_gain",
    "discrimination_rate",
    "mutual_information",
)


def can_be_found(part: ReportPart, share: float) -> str:
    """Say which share of the people can be found; of the rows, where rows may not be people."""
    texts = part.texts
    rows = counts_rows(part)
    if share == 1:
        return texts("assessed.found_all_rows" if rows else "assessed.found_all")
    if share > 0.95:
        return texts("assessed.found_nearly_all_rows" if rows else "assessed.found_nearly_all")
    if share < 0.005:
        return texts("assessed.found_few_rows" if rows else "assessed.found_few")
    usual = (Fraction(1, round(1 / share)), Fraction(2, 3), Fraction(3, 4))
    near = min((*usual, Fraction(round(10 * share), 10)), key=lambda each: abs(each - share))
    key = "assessed.found_some_rows" if rows else "assessed.found_some"
    return texts(key, one=near.numerator, of=count(near.denominator))


def counts_rows(part: ReportPart) -> bool:
    """Whether rows were counted that may not be people."""
    return part.read(Overview).counts_rows


def limits_of(policy: Judgement | None) -> tuple[Verdict, ...]:
    """The limits of a policy, each with its verdict; none without a policy."""
    return () if policy is None else policy.verdicts


def own_limits(policy: Judgement | None, *, budget: bool = False) -> list[Verdict]:
    """The limits that the policy states, each once.

    With a `budget` of suppressed records the limit on these is not the policy's.
    """
    return [
        verdict
        for verdict in each_limit(limits_of(policy))
        if not (budget and verdict.measure == SUPPRESSED_RECORDS)
    ]


def each_limit(limits: Iterable[Verdict]) -> list[Verdict]:
    """Each limit once, by its worst line: suppressed records have lines of their own.

    A limit is breached if the table breaches it or the suppressed records do.
    """
    each: dict[tuple[str, str], Verdict] = {}
    for line in limits:
        known = each.setdefault((line.where, line.measure), line)
        if WORST_FIRST.index(line.met) < WORST_FIRST.index(known.met):
            each[line.where, line.measure] = line
    return [*each.values()]


def budget_text(overview: Overview, texts: Texts) -> str:
    """Say whether a release keeps its budget of suppressed records, unless the policy sets it."""
    limits = limits_of(overview.policy)
    of_records = [verdict for verdict in limits if verdict.measure == SUPPRESSED_RECORDS]
    if not (overview.budget and of_records):
        return ""
    return texts(BUDGET[STATES[of_records[0].met]])


def left_out(policy: Judgement | None, texts: Texts, *, drops: bool = False) -> str:
    """Say how many records are suppressed, and whether limits were judged on them as a class.

    `drops` tells that a release does not have them.
    """
    number = 0 if policy is None else policy.suppressed_records
    if not number:
        return ""
    lines = [verdict for verdict in limits_of(policy) if verdict.scope == SUPPRESSED_SCOPE]
    if not lines:
        key = "front.suppressed_dropped" if drops else "front.suppressed_too"
        return texts(key, records=count(number))
    words = texts("front.suppressed_judged", records=count(number))
    breached = sum(verdict.met is False for verdict in lines)
    if not breached:
        return words
    keys = ("front.suppressed_breach_one", "front.suppressed_breach")
    return f"{words} {texts.plural(breached, *keys, number=breached)}"


def reasons_of(policy: Judgement | None) -> tuple[GateReason, ...]:
    """The reasons besides limits that keep a policy from being met."""
    return () if policy is None else policy.reasons


def state_of(policy: Judgement | None) -> bool | None:
    """Conclude from limits and reasons: met, not met, or undecided."""
    return None if policy is None else policy.conclusion


def is_plan(policy: Judgement | None) -> bool:
    """Whether a planned release was asked about, in place of the file."""
    return policy is not None and policy.question == PLANNED


def counts_of(limits: Iterable[Verdict]) -> dict[str, int]:
    """Count the limits in each state."""
    return dict.fromkeys(STATES.values(), 0) | Counter(STATES[verdict.met] for verdict in limits)


def tally(texts: Texts, counts: Mapping[str, int]) -> tuple[tuple[str, ...], str]:
    """The states of limits, met ones first, and how many of each in words."""
    there = [state for state in ORDER if counts[state]]
    words = (texts(TALLY[state], number=counts[state]) for state in there)
    return tuple(state for state in there for _ in range(counts[state])), ", ".join(words)


def numbers_chapter(
    part: ReportPart,
    reidentification: Mapping[str, Value],
    inference: Mapping[str, Mapping[str, Value]],
    value: str | None = None,
) -> Chapter:
    """The numbers a decision rests on: those with a limit, and the best known ones.

    `value` is the head of their column, where they are not those of the table.
    """
    texts = part.texts
    limits = limits_of(part.read(Overview).policy)
    title = _title(texts, limits)
    head = [texts(key) for key in (HEAD if limits else OPEN_HEAD)]
    if value:
        head[HEAD.index("limits_table.value")] = value
    groups = [_group(part, "reidentification", OF_RECORDS, reidentification, limits)]
    for secret, values in inference.items():
        groups.append(_group(part, f"inference.{secret}", _of_secret(values), values, limits))
    lead = texts("limits_table.lead" if limits else "limits_table.lead_open")
    axis = (texts("limits_table.inside"), texts("limits_table.limit"))
    shown = tuple(group for group in groups if group.rows)
    numbers = Numbers(
        caption=title, head=tuple(head), groups=shown, axis=axis, thousands=marks()[1]
    )
    blocks: tuple[Block, ...] = (Paragraph(lead, "reading"), numbers, *_basis_of_met(part))
    topic = texts("limits_table.topic" if limits else "limits_table.topic_open")
    return Chapter(title=title, anchor="limits", blocks=blocks, screen=True, topic=topic)


def _title(texts: Texts, limits: Sequence[Verdict]) -> str:
    """Count the breached limits; if none is, the undecided ones; else say that all are met."""
    limits = each_limit(limits)
    counts = counts_of(limits)
    values = {"number": len(limits), **counts}
    if not limits:
        return texts("limits_table.title_none", **values)
    breached = counts["breached"]
    if breached:
        keys = ("limits_table.title_breached_one", "limits_table.title_breached")
        return texts.plural(breached, *keys, **values)
    doubtful = counts["doubtful"]
    if doubtful:
        keys = ("limits_table.title_doubtful_one", "limits_table.title_doubtful")
        return texts.plural(doubtful, *keys, **values)
    if len(limits) == 2:
        return texts("limits_table.title_met_both", **values)
    keys = ("limits_table.title_met_one", "limits_table.title_met")
    return texts.plural(len(limits), *keys, **values)


def limits_chapter(part: ReportPart) -> Iterator[Chapter]:
    """Show how a release meets the limits of a policy, where nothing else of it is shown."""
    limits = limits_of(part.read(Overview).policy)
    if not limits:
        return
    places = dict.fromkeys(verdict.where for verdict in limits)
    groups = tuple(_group(part, where, (), {}, limits) for where in places)
    texts = part.texts
    head = [texts(key) for key in HEAD]
    head[HEAD.index("limits_table.value")] = part.say("head_release")
    axis = (texts("limits_table.inside"), texts("limits_table.limit"))
    numbers = Numbers(
        caption=part.say("limits_table"),
        head=tuple(head),
        groups=groups,
        axis=axis,
        thousands=marks()[1],
    )
    topic = texts("limits_table.topic")
    blocks: tuple[Block, ...] = (numbers, *_basis_of_met(part))
    title = _title(texts, limits)
    yield Chapter(
        title=title, anchor=part.anchor("limits"), blocks=blocks, screen=True, topic=topic
    )


def _of_secret(values: Mapping[str, Value]) -> tuple[str, ...]:
    """The measures of a secret; an ordered secret has the ordered t-closeness as well."""
    if ORDERED not in values or values[ORDERED].value is None:
        return OF_SECRETS
    after = OF_SECRETS.index("t_closeness") + 1
    return (*OF_SECRETS[:after], ORDERED, *OF_SECRETS[after:])


def _basis_of_met(part: ReportPart) -> tuple[Paragraph, ...]:
    """Say what verdicts rest on, below the limits of a policy that is met."""
    return basis(part) if state_of(part.read(Overview).policy) else ()


def basis(part: ReportPart) -> tuple[Paragraph, ...]:
    """Say what verdicts rest on: the question, people or rows, roles, secrets without a limit."""
    policy = part.read(Overview).policy
    return tuple(
        Paragraph(text, "note") for text in basis_texts(part.texts, policy, part.writer.name)
    )


def basis_texts(
    texts: Texts, policy: Judgement | None, shown: Callable[[str], str]
) -> Iterator[str]:
    """Say in sentences what the verdicts of a policy rest on; `shown` writes names of columns."""
    if policy is None:
        return
    if policy.rests_on:
        yield texts("front.rests_on", basis=texts.remark(policy.rests_on))
    for secret in policy.unjudged:
        name = shown(secret.secret)
        if secret.people is None or secret.of is None:
            yield texts("front.unjudged", secret=name)
        else:
            people = count(secret.people)
            yield texts("front.unjudged_number", secret=name, people=people, of=count(secret.of))


def _group(
    part: ReportPart,
    where: str,
    measures: Collection[str],
    values: Mapping[str, Value],
    limits: Iterable[Verdict],
) -> NumberGroup:
    here = [verdict for verdict in limits if verdict.where == where]
    here.sort(key=lambda verdict: (verdict.met is True, verdict.met is None))
    rows = [limited_row(part, values, verdict) for verdict in here]
    seen = {verdict.measure for verdict in here}
    if not all(measure in values for measure in measures):
        measures = values  # a part of the measures was asked for: show it
    rows += [number_row(part, values[m]) for m in measures if m in values and m not in seen]
    secret = where.partition(".")[2]
    texts = part.texts
    key = "limits_table.learning" if secret else "limits_table.finding"
    overview = part.read(Overview)
    own = [
        verdict
        for verdict in own_limits(overview.policy, budget=overview.budget)
        if verdict.where == where
    ]
    breached = sum(verdict.met is False for verdict in own)
    tally = "limits_table.tally_breached" if breached else "limits_table.tally_met"
    words = texts(tally, breached=breached, number=len(own)) if own else ""
    return NumberGroup(texts(key, secret=part.writer.name(secret)), tuple(rows), words)


def number_row(part: ReportPart, value: Value) -> NumberRow:
    """A measure without a limit, in the worse reading of missing secrets, as limits are judged."""
    measure = value.id
    known = worse_without_missing(value)
    number = value.value if known is None else known
    shown = NOTHING if number is None else value_with_unit(part, measure, number, value.unit)
    title, short = titles(part.texts, measure, value.details.get("k"))
    side = part.texts(SIDES[BY_ID[measure].riskier]) if measure in BY_ID else ""
    remarks = (
        "" if known is None else part.texts("limits_table.without_missing"),
        _no_number(part, number, value.reason),
        _wildcard(part, number, value),
        _as_value(part, number, value),
    )
    remark = " ".join(filter(None, remarks))
    return NumberRow(name=title, id=measure, value=shown, far=side, remark=remark, short=short)


def worse_without_missing(value: Value) -> Number | None:
    """The value among records with a known secret, where that is the riskier one."""
    known: Number | None = value.details.get("without_missing")
    if known is None or value.value is None or value.id not in BY_ID:
        return None
    worse = known > value.value if BY_ID[value.id].riskier == "high" else known < value.value
    return known if worse else None


def _no_number(part: ReportPart, number: float | None, reason: str | None) -> str:
    """Say why a number is missing."""
    if number is not None:
        return ""
    if reason and reason not in WHY:
        return part.texts("limits_table.no_number", why=part.texts.remark(reason))
    return part.texts("limits_table.no_number", why=why(part.texts, reason))


def _wildcard(part: ReportPart, number: float | None, value: Value) -> str:
    """The other k of a table with missing quasi-identifiers."""
    k = value.details.get("wildcard")
    return "" if k in (None, number) else part.texts("limits_table.wildcard", k=count(k))


def _as_value(part: ReportPart, number: float | None, value: Value) -> str:
    """The other number of a table whose missing quasi-identifiers match anything."""
    other = value.details.get("missing_as_value")
    if other is None or other == number:
        return ""
    return part.texts("limits_table.number_as_value", number=count(other))


def titles(texts: Texts, measure: str, k: object = None) -> tuple[str, str]:
    """The two names of a measure: in plain words, and in the words of the field.

    `k` is that of the number of records in classes below k.
    """
    title = measure_title(texts, measure)
    short = texts.get(f"short_names.{measure}", title)
    if measure == "records_below" and k is not None:
        title = texts("words.below_k", title=title, k=k)
        short = texts("words.below_k", title=short, k=k)
    return title, short


def value_with_unit(part: ReportPart, measure: str, value: Number, name: str | None = None) -> str:
    """A value of a measure, as it stands in one cell; `name` is a unit other than the measure's."""
    if measure in PERCENT:
        return percent(value)
    text = count(value) if isinstance(value, int) else significant(value)
    if name is None:
        name = BY_ID[measure].unit
    if name == "records" and counts_rows(part):
        name = "rows"
    if name == "1":
        return text
    if name in NUMBERS_OF:
        return part.texts.plural(value, *NUMBERS_OF[name], number=text)
    return f"{text} {unit(part.texts, name)}"


def limited_row(part: ReportPart, values: Mapping[str, Value], verdict: Verdict) -> NumberRow:
    """A measure with a limit: its number, what the policy asks for, and the verdict."""
    texts = part.texts
    measure = verdict.measure
    number = verdict.value
    own = verdict.scope == SUPPRESSED_SCOPE
    value = None if own else values.get(measure)
    shown = NOTHING
    if number is not None:
        if isinstance(number if value is None else value.value, int):
            number = int(number)
        shown = shown_value(part, verdict, number, None if value is None else value.unit)
    state = STATES[verdict.met]
    far, position = _distance(texts, verdict)
    title, short = titles(texts, measure, verdict.k if value is None else value.details.get("k"))
    if own:
        title = texts("limits_table.of_suppressed", measure=title)
        short = texts("limits_table.of_suppressed", measure=short)
    words = (
        _no_number(part, verdict.value, verdict.reason),
        *remarks(part, verdict),
        "" if value is None else _wildcard(part, value.value, value),
    )
    return NumberRow(
        name=title,
        id=measure,
        value=shown,
        state=state,
        mark=texts(STATE_WORDS[state]),
        limit=asked(texts, verdict),
        far=far,
        position=position,
        remark=" ".join(filter(None, words)),
        short=short,
    )


def remarks(part: ReportPart, verdict: Verdict) -> Iterator[str]:
    """Say which reading a limit is about, and whether the table could meet it at all."""
    if verdict.reading:
        yield part.texts(READ.get(verdict.reading, "limits_table.without_missing"))
    if verdict.reason == ABOVE_CAP:
        yield part.texts("limits_table.above_cap")
    if verdict.impossible:
        yield part.texts("front.impossible", why=part.texts.remark(verdict.impossible))


def shown_value(part: ReportPart, verdict: Verdict, number: Number, unit: str | None = None) -> str:
    """The number that a limit judged, with enough digits to show on which side it is."""
    rounded = float(significant_digits(number).replace(",", ""))
    if number != rounded and rounded in (verdict.min, verdict.max):
        return bound_text(verdict.measure, number)
    return value_with_unit(part, verdict.measure, number, unit)


def bound_text(measure: str, value: float) -> str:
    """A limit as it is written: with all its digits."""
    return digits(f"{100 * value:{BOUND}} %" if measure in PERCENT else f"{value:,{BOUND}}")


# What a limit asks for, by the sides that it bounds.
ASKED = {
    "at_least": "limits_table.at_least",
    "at_most": "limits_table.at_most",
    "between": "limits_table.between",
    "strictly_below": "limits_table.strictly_below",
    "between_below": "limits_table.between_below",
}


def asked(texts: Texts, limit: Verdict, words: Mapping[str, str] = ASKED) -> str:
    """Say what a limit asks for; `words` are the keys of its texts."""
    return asked_bounds(texts, limit.measure, limit.min, limit.max, words)


def asked_bounds(
    texts: Texts,
    measure: str,
    low: float | None,
    high: float | None,
    words: Mapping[str, str] = ASKED,
) -> str:
    """Say what a limit asks for, if its measure lies between `low` and `high`."""
    least = None if low is None else bound_text(measure, low)
    most = None if high is None else bound_text(measure, high)
    if most is None:
        key = "at_least"
    elif measure in STRICT:
        key = "strictly_below" if least is None else "between_below"
    else:
        key = "at_most" if least is None else "between"
    return texts(words[key], least=least, most=most)


def _distance(texts: Texts, verdict: Verdict) -> tuple[str, float | None]:
    """The distance of a number from its limit: in words, and as a power of two."""
    value = verdict.value
    least = verdict.min
    most = verdict.max
    if value is None or verdict.met is None:
        return "", None
    if verdict.reason == ABOVE_CAP:
        return texts("limits_table.beyond"), None  # the number itself may be below the limit
    over = most is not None and (least is None or value > most)
    bound = most if over else least
    if bound is None:
        return texts("limits_table.inside") if verdict.met else "", None
    ratio = (value, bound) if over else (bound, value)
    if verdict.met:
        words = texts("limits_table.inside")
    elif min(ratio) <= 0:
        words = texts("limits_table.beyond")
    else:
        times = f"{ratio[0] / ratio[1]:.3g}"
        key = "limits_table.over" if over else "limits_table.short"
        words = texts(key, times=digits(times)) if float(times) > 1 else ""
    return words, math.log2(ratio[0] / ratio[1]) if bound and min(ratio) > 0 else None
