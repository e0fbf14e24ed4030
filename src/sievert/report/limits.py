"""Measures in a table with the limits of a policy: value, limit and how far beyond it."""

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from sievert.formatting import count, digits, marks, percent, significant, significant_digits
from sievert.measures import BY_ID, MEASURES
from sievert.measures.measure import AS_VALUE, SPELT_ALIKE
from sievert.policy.judgement import ABOVE_CAP, STRICT, WITH_KEPT
from sievert.report.numbers import REASONS, measure_title, unit, why
from sievert.report.page import Block, Chapter, NumberGroup, NumberRow, Numbers, Paragraph
from sievert.report.parts import Data, ReportPart
from sievert.report.texts import Texts

BOUND = ".12g"
SHARED = "rows share the identifier"  # in a caution: rows may not be people
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
    texts, rows = part.texts, counts_rows(part)
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
    shared = any(SHARED in caution for caution in part.data.get("cautions", ()))
    return shared and part.data["table"].get("people") is None


def limits_of(table: Data) -> list[Data]:
    """The limits of a policy, each with its verdict."""
    return list((table.get("policy") or {"limits": ()})["limits"])


def own_limits(table: Data) -> list[Data]:
    """The limits that the policy states, each once: not the budget of suppressed records."""
    budget = bool(table.get("budget"))
    return [
        v
        for v in each_limit(limits_of(table))
        if not (budget and v["measure"] == SUPPRESSED_RECORDS)
    ]


def each_limit(limits: Iterable[Data]) -> list[Data]:
    """Each limit once, by its worst line: suppressed records have lines of their own.

    A limit is breached if the table breaches it or the suppressed records do.
    """
    each: dict[tuple[str, str], Data] = {}
    for line in limits:
        known = each.setdefault((line["where"], line["measure"]), line)
        if WORST_FIRST.index(line["met"]) < WORST_FIRST.index(known["met"]):
            each[line["where"], line["measure"]] = line
    return [*each.values()]


def budget_text(table: Data, texts: Texts) -> str:
    """Whether a release keeps its budget of suppressed records, where it is not the policy's."""
    of_records = [v for v in limits_of(table) if v["measure"] == SUPPRESSED_RECORDS]
    if not (table.get("budget") and of_records):
        return ""
    return texts(BUDGET[STATES[of_records[0]["met"]]])


def left_out(table: Data, texts: Texts) -> str:
    """How many suppressed records there are, and whether limits were judged on them as a class."""
    number = (table.get("policy") or {}).get("suppressed_records")
    if not number:
        return ""
    lines = [v for v in limits_of(table) if v.get("scope") == SUPPRESSED_SCOPE]
    if not lines:
        dropped = table.get("suppressed_rows") == "dropped"
        key = "front.suppressed_dropped" if dropped else "front.suppressed_too"
        return texts(key, records=count(number))
    words = texts("front.suppressed_judged", records=count(number))
    breached = sum(v["met"] is False for v in lines)
    if not breached:
        return words
    keys = ("front.suppressed_breach_one", "front.suppressed_breach")
    return f"{words} {texts.plural(breached, *keys, number=breached)}"


def reasons_of(table: Data) -> list[Data]:
    """What else keeps a policy from being met."""
    return list((table.get("policy") or {}).get("reasons", ()))


def state_of(table: Data) -> bool | None:
    """Met, not met, or neither for sure."""
    limits = limits_of(table)
    met = {each["met"] for each in (*limits, *reasons_of(table))}
    return False if False in met else None if None in met or not limits else True


def is_plan(table: Data) -> bool:
    """Whether a planned release was asked about, in place of the file."""
    return "planned_met" in (table.get("policy") or {})


def outcome_of(policy: Data) -> bool | None:
    """The answer to the question: of the file, or of the planned release."""
    met: bool | None = policy.get("planned_met", policy["met"])
    return met


def counts_of(limits: Iterable[Data]) -> dict[str, int]:
    """How many limits are in each state."""
    return dict.fromkeys(STATES.values(), 0) | Counter(STATES[v["met"]] for v in limits)


def tally(texts: Texts, counts: Data) -> tuple[tuple[str, ...], str]:
    """The states of limits, met ones first, and how many of each in words."""
    there = [state for state in ORDER if counts[state]]
    words = (texts(TALLY[state], number=counts[state]) for state in there)
    return tuple(state for state in there for _ in range(counts[state])), ", ".join(words)


def numbers_chapter(part: ReportPart, value: str | None = None) -> Chapter:
    """The numbers a decision rests on: those with a limit, and the best known ones.

    `value` is the head of their column, where they are not those of the table.
    """
    texts, limits = part.texts, limits_of(part.data)
    title = _title(texts, limits)
    head = [texts(key) for key in (HEAD if limits else OPEN_HEAD)]
    if value:
        head[HEAD.index("limits_table.value")] = value
    places: list[tuple[str, tuple[str, ...], Data]]
    places = [("reidentification", OF_RECORDS, part.data["reidentification"])]
    places += [(f"inference.{s}", _of_secret(v), v) for s, v in part.data["inference"].items()]
    groups = tuple(g for place in places if (g := _group(part, *place, limits)).rows)
    lead = texts("limits_table.lead" if limits else "limits_table.lead_open")
    axis = (texts("limits_table.inside"), texts("limits_table.limit"))
    numbers = Numbers(title, tuple(head), groups, axis, marks()[1])
    rests = basis(part) if state_of(part.data) else ()
    blocks: tuple[Block, ...] = (Paragraph(lead, "reading"), numbers, *rests)
    topic = texts("limits_table.topic" if limits else "limits_table.topic_open")
    return Chapter(title, "limits", blocks, screen=True, topic=topic)


def _title(texts: Texts, limits: Sequence[Data]) -> str:
    """How many limits are breached; if none is, how many are undecided; else that all are met."""
    limits = each_limit(limits)
    counts = counts_of(limits)
    values = {"number": len(limits), **counts}
    if not limits:
        return texts("limits_table.title_none", **values)
    if breached := counts["breached"]:
        keys = ("limits_table.title_breached_one", "limits_table.title_breached")
        return texts.plural(breached, *keys, **values)
    if doubtful := counts["doubtful"]:
        keys = ("limits_table.title_doubtful_one", "limits_table.title_doubtful")
        return texts.plural(doubtful, *keys, **values)
    if len(limits) == 2:
        return texts("limits_table.title_met_both", **values)
    keys = ("limits_table.title_met_one", "limits_table.title_met")
    return texts.plural(len(limits), *keys, **values)


def limits_chapter(part: ReportPart) -> Iterator[Chapter]:
    """The limits of a policy held against a release, of which nothing else is shown."""
    if not (limits := limits_of(part.data)):
        return
    places = dict.fromkeys(verdict["where"] for verdict in limits)
    groups = tuple(_group(part, where, (), {}, limits) for where in places)
    texts, title = part.texts, _title(part.texts, limits)
    head = [texts(key) for key in HEAD]
    head[HEAD.index("limits_table.value")] = part.say("head_release")
    axis = (texts("limits_table.inside"), texts("limits_table.limit"))
    numbers = Numbers(part.say("limits_table"), tuple(head), groups, axis, marks()[1])
    topic = texts("limits_table.topic")
    rests = basis(part) if state_of(part.data) else ()
    blocks: tuple[Block, ...] = (numbers, *rests)
    yield Chapter(title, part.anchor("limits"), blocks, screen=True, topic=topic)


def _of_secret(values: Data) -> tuple[str, ...]:
    """The measures of a secret; of one with an order the t-closeness that goes by it as well."""
    if (values.get(ORDERED) or {"value": None})["value"] is None:
        return OF_SECRETS
    return tuple(m for each in OF_SECRETS for m in (each, *(ORDERED,) * (each == "t_closeness")))


def basis(part: ReportPart) -> tuple[Paragraph, ...]:
    """What verdicts rest on: the question, people or rows, roles, the secrets without a limit."""
    return tuple(
        Paragraph(text, "note")
        for text in basis_texts(part.texts, part.data.get("policy"), part.writer.name)
    )


def basis_texts(texts: Texts, policy: Data | None, shown: Callable[[str], str]) -> Iterator[str]:
    """What the verdicts of a policy rest on, in sentences; names of columns as they are `shown`."""
    policy = policy or {}
    if policy.get("rests_on"):
        yield texts("front.rests_on", basis=texts.remark(policy["rests_on"]))
    for secret in policy.get("unjudged") or ():
        name = shown(secret["secret"])
        if secret["people"] is None:
            yield texts("front.unjudged", secret=name)
        else:
            people, everybody = count(secret["people"]), count(secret["of"])
            yield texts("front.unjudged_number", secret=name, people=people, of=everybody)


def _group(
    part: ReportPart, where: str, measures: Collection[str], values: Data, limits: Iterable[Data]
) -> NumberGroup:
    here = [v for v in limits if v["where"] == where]
    here.sort(key=lambda v: (v["met"] is True, v["met"] is None))
    rows = [limited_row(part, values, v) for v in here]
    seen = {v["measure"] for v in here}
    if not all(m in values for m in measures):
        measures = values  # a part of the measures was asked for: show it
    rows += [number_row(part, m, values[m]) for m in measures if m in values and m not in seen]
    secret, texts = where.partition(".")[2], part.texts
    key = "limits_table.learning" if secret else "limits_table.finding"
    own = [v for v in own_limits(part.data) if v["where"] == where]
    breached = sum(v["met"] is False for v in own)
    tally = "limits_table.tally_breached" if breached else "limits_table.tally_met"
    words = texts(tally, breached=breached, number=len(own)) if own else ""
    return NumberGroup(texts(key, secret=part.writer.name(secret)), tuple(rows), words)


def number_row(part: ReportPart, measure: str, entry: Data) -> NumberRow:
    """A measure without a limit, in the worse reading of missing secrets, as limits are judged."""
    known = worse_without_missing(measure, entry)
    entry = entry if known is None else {**entry, "value": known}
    shown = NOTHING if entry["value"] is None else value_with_unit(part, measure, entry)
    title, short = titles(part.texts, measure, entry)
    side = part.texts(SIDES[BY_ID[measure].riskier]) if measure in BY_ID else ""
    reading = "" if known is None else part.texts("limits_table.without_missing")
    others = (reading, _no_number(part, entry), _wildcard(part, entry), _as_value(part, entry))
    remark = " ".join(filter(None, others))
    return NumberRow(title, measure, shown, far=side, remark=remark, short=short)


def worse_without_missing(measure: str, entry: Data) -> Any:
    """The number of the records whose secret is known, where it is the riskier one."""
    known, value = entry.get("without_missing"), entry["value"]
    if known is None or value is None or measure not in BY_ID:
        return None
    worse = known > value if BY_ID[measure].riskier == "high" else known < value
    return known if worse else None


def _no_number(part: ReportPart, entry: Data) -> str:
    """Why a number is not there."""
    if entry["value"] is not None:
        return ""
    known = entry["reason"] in REASONS or not entry["reason"]
    reason = why(part.texts, entry) if known else part.texts.remark(entry["reason"])
    return part.texts("limits_table.no_number", why=reason)


def _wildcard(part: ReportPart, entry: Data) -> str:
    """The other k of a table with missing quasi-identifiers."""
    k = entry.get("wildcard")
    return "" if k in (None, entry["value"]) else part.texts("limits_table.wildcard", k=count(k))


def _as_value(part: ReportPart, entry: Data) -> str:
    """The other number of a table whose missing quasi-identifiers match anything."""
    number = entry.get("missing_as_value")
    if number is None or number == entry["value"]:
        return ""
    return part.texts("limits_table.number_as_value", number=count(number))


def titles(texts: Texts, measure: str, entry: Data) -> tuple[str, str]:
    """What a measure is called: in plain words, and in those of the field."""
    title = measure_title(texts, measure)
    short = texts.get(f"short_names.{measure}", title)
    if measure == "records_below" and "k" in entry:
        title, short = (texts("words.below_k", title=t, k=entry["k"]) for t in (title, short))
    return title, short


def value_with_unit(part: ReportPart, measure: str, entry: Data) -> str:
    """A value with its unit, as it stands in one cell."""
    value = entry["value"]
    if measure in PERCENT:
        return percent(value)
    text = count(value) if isinstance(value, int) else significant(value)
    name = entry.get("unit", BY_ID[measure].unit)
    if name == "records" and counts_rows(part):
        name = "rows"
    if name == "1":
        return text
    if name in NUMBERS_OF:
        return part.texts.plural(value, *NUMBERS_OF[name], number=text)
    return f"{text} {unit(part.texts, name)}"


def limited_row(part: ReportPart, values: Data, verdict: Data) -> NumberRow:
    """A measure with a limit: its number, what the policy asks for, and the verdict."""
    texts, measure, value = part.texts, verdict["measure"], verdict["value"]
    own = verdict.get("scope") == SUPPRESSED_SCOPE
    entry = (None if own else values.get(measure)) or verdict
    shown, no_number = NOTHING, _no_number(part, verdict)
    if value is not None:
        number = int(value) if isinstance(entry["value"], int) else value
        shown = shown_value(part, verdict, {**entry, "value": number})
    state = STATES[verdict["met"]]
    far, position = _distance(texts, verdict)
    title, short = titles(texts, measure, entry)
    if own:
        title, short = (
            texts("limits_table.of_suppressed", measure=name) for name in (title, short)
        )
    return NumberRow(
        title,
        measure,
        shown,
        state,
        texts(STATE_WORDS[state]),
        asked(texts, verdict),
        far,
        position,
        " ".join(filter(None, (no_number, *remarks(part, verdict), _wildcard(part, entry)))),
        short,
    )


def remarks(part: ReportPart, verdict: Data) -> Iterator[str]:
    """Which reading a limit is about, and whether the table could meet it at all."""
    if verdict["reading"]:
        yield part.texts(READ.get(verdict["reading"], "limits_table.without_missing"))
    if verdict["reason"] == ABOVE_CAP:
        yield part.texts("limits_table.above_cap")
    if verdict.get("impossible"):
        yield part.texts("front.impossible", why=part.texts.remark(verdict["impossible"]))


def shown_value(part: ReportPart, verdict: Data, entry: Data | None = None) -> str:
    """The number that a limit was held against, with digits enough to tell on which side it is."""
    measure, value = verdict["measure"], verdict["value"]
    rounded = float(significant_digits(value).replace(",", ""))
    if value != rounded and rounded in (verdict["min"], verdict["max"]):
        return bound_text(measure, value)
    return value_with_unit(part, measure, entry or verdict)


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


def asked(texts: Texts, limit: Data, words: Mapping[str, str] = ASKED) -> str:
    """What a limit asks for; `words` are the keys of its texts."""
    least, most = (
        None if limit[end] is None else bound_text(limit["measure"], limit[end])
        for end in ("min", "max")
    )
    if most is None:
        key = "at_least"
    elif limit["measure"] in STRICT:
        key = "strictly_below" if least is None else "between_below"
    else:
        key = "at_most" if least is None else "between"
    return texts(words[key], least=least, most=most)


def _distance(texts: Texts, verdict: Data) -> tuple[str, float | None]:
    """How far a number lies from its limit: in words, and as a power of two."""
    value, least, most = verdict["value"], verdict["min"], verdict["max"]
    if value is None or verdict["met"] is None:
        return "", None
    if verdict["reason"] == ABOVE_CAP:
        return texts("limits_table.beyond"), None  # the number itself may be below the limit
    over = most is not None and (least is None or value > most)
    bound, ratio = (most, (value, most)) if over else (least, (least, value))
    if verdict["met"]:
        words = texts("limits_table.inside")
    elif bound is None or min(ratio) <= 0:
        words = texts("limits_table.beyond") if bound is not None else ""
    else:
        times = f"{ratio[0] / ratio[1]:.3g}"
        key = "limits_table.over" if over else "limits_table.short"
        words = texts(key, times=digits(times)) if float(times) > 1 else ""
    return words, math.log2(ratio[0] / ratio[1]) if bound and min(ratio) > 0 else None


def suppressed_records(part: ReportPart) -> int:
    """How many records are in no number, because they are suppressed."""
    table = part.data["table"]
    return 0 if table.get("keep_suppressed") else table.get("suppressed") or 0
