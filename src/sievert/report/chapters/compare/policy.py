"""The limits of a policy on the first screen of a comparison: which release keeps to them.

Passed on are verdicts only, as in an assessment; the numbers they are of stay inside.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sievert.formatting import significant
from sievert.measures import BY_ID, Decides, decided_by
from sievert.report.chapters.limit.numbers import join_names, labels
from sievert.report.chapters.numbers import SHARES, measure_title, scale, value_text, why, within
from sievert.report.definitions import link_definition
from sievert.report.page import Block, BulletList, Grid, Paragraph, make_grid
from sievert.report.parts import Data, ReportPart

ABREAST = 4  # releases beside each other
MOST_NAMED = 4  # releases or limits in a sentence
BOUND = ".12g"
MARKS = {True: "met", False: "breached", None: "doubtful"}


# -- a limit in words -----------------------------------------------------------------------------


def limit_text(part: ReportPart, verdict: Data) -> str:
    """What a limit asks for."""
    texts, least, most = part.texts, verdict["min"], verdict["max"]
    least, most = (None if n is None else _bound_text(verdict, n) for n in (least, most))
    if least is not None and most is not None:
        return texts("front.between", least=least, most=most)
    key = "front.at_most" if least is None else "front.at_least"
    return texts(key, bound=most if least is None else least)


def _bound_text(verdict: Data, number: float) -> str:
    in_per_cent = verdict["measure"] in SHARES
    return f"{100 * number:{BOUND}} %" if in_per_cent else f"{number:,{BOUND}}"


def side(part: ReportPart, verdict: Data) -> str | None:
    """On which side of its limit a number lies, where the number as it is told does not say so."""
    value, met = verdict["value"], verdict["met"]
    if (
        part.redactor.internal
        or met is None
        or (verdict["min"] is None) == (verdict["max"] is None)
    ):
        return None
    end = "max" if verdict["min"] is None else "min"
    bound = verdict[end]
    if value is not None:
        of_one = decided_by(verdict["measure"]) is Decides.CLASS_SHARE
        value = within(value) if of_one else value
        beyond = value > bound if end == "max" else value < bound
        if beyond is not met and value != bound:
            return None
    key = {"max": ("above", "not_above"), "min": ("below", "not_below")}[end][met]
    return part.texts(f"front.{key}", bound=_bound_text(verdict, bound))


def figure(part: ReportPart, verdict: Data) -> str:
    """A number that a limit was held against, with its unit."""
    texts, measure, value = part.texts, verdict["measure"], verdict["value"]
    beside = side(part, verdict)
    if beside is not None:
        return beside
    exact = significant(value)
    bounds = [verdict[b] for b in ("min", "max") if verdict[b] is not None and value != verdict[b]]
    if any(float(exact.replace(",", "")) == bound for bound in bounds):
        number = _bound_text(verdict, value)  # as many digits as tell on which side it lies
    else:
        number = value_text(part.redactor, measure, {"value": value, "reason": None}).text
    unit = scale(texts, measure) if BY_ID[measure].unit != "1" else ""
    return texts("front.limit_value", number=number, unit=unit).strip()


def where(part: ReportPart, verdict: Data) -> str:
    """Whom or what a limit is about."""
    _, _, secret = verdict["where"].partition(".")
    return part.redactor.name(secret) if secret else part.texts("front.everybody")


# -- releases -------------------------------------------------------------------------------------


def has_limits(part: ReportPart) -> bool:
    """Whether limits were held against releases."""
    return part.kind == "compare" and any(_limits(r) for r in part.data["releases"])


def lead(part: ReportPart) -> str:
    """Which releases meet the limits, and which do not."""
    texts, releases = part.texts, part.data["releases"]
    states = [_state(release) for release in releases]
    if len(releases) == 1:
        limits = _limits(releases[0])
        counts = {MARKS[m]: sum(v["met"] is m for v in limits) for m in MARKS}
        key = f"compared.policy_one_{MARKS[states[0]]}"
        key += "_one" if states[0] is False and counts["breached"] == 1 else ""
        return texts(key, number=len(limits), **counts)
    if all(state is False for state in states):
        return texts("compared.policy_none", number=len(releases))
    if all(state is True for state in states):
        return texts("compared.policy_all", number=len(releases))
    sentences, names = [], labels(part, releases)
    for state, mark in MARKS.items():
        such = [name for name, s in zip(names, states, strict=True) if s is state]
        if such:
            key = f"compared.policy_{mark}{'' if len(such) == 1 else '_several'}"
            sentences.append(texts(key, releases=_some(part, "compared.others", such)))
    return " ".join(sentences)


def blocks(part: ReportPart) -> tuple[Block, ...]:
    """What each release breaches, then every limit against every table."""
    return (
        _points(part),
        *_grids(part),
        Paragraph(part.texts("compared.policy_reading"), "reading"),
    )


def _limits(table: Data) -> list[Data]:
    policy = table.get("policy")
    return list(policy["limits"]) if policy else []


def _state(release: Data) -> bool | None:
    """Met, breached, or neither for sure."""
    met = {v["met"] for v in _limits(release)}
    return False if False in met else None if None in met else True


def _some(part: ReportPart, more: str, items: Sequence[str]) -> str:
    """Things in a sentence; of many the first ones."""
    left = len(items) - MOST_NAMED
    if left < 2:
        return join_names(part.texts, items)
    first = ", ".join(items[:MOST_NAMED])
    return part.texts(more, releases=first, limits=first, number=left)


def _points(part: ReportPart) -> BulletList:
    texts, releases = part.texts, part.data["releases"]
    words = {False: "policy_breaches", None: "policy_open", True: "policy_keeps"}
    items, marks = [], []
    for name, release in zip(labels(part, releases), releases, strict=True):
        state = _state(release)
        limits = [_limit_name(part, v) for v in _limits(release) if v["met"] is state]
        some = _some(part, "compared.policy_more", limits)
        items.append(texts(f"compared.{words[state]}", release=name, limits=some))
        marks.append(texts("compared.policy_mark" if state is None else f"front.{MARKS[state]}"))
    return BulletList(tuple(items), tuple(marks))


def _limit_name(part: ReportPart, verdict: Data) -> str:
    title = measure_title(part.texts, verdict["measure"])
    return part.texts("compared.policy_limit", what=title, where=where(part, verdict))


def _grids(part: ReportPart) -> Iterator[Grid]:
    """Limits as rows, the original and the releases as columns."""
    texts, releases = part.texts, part.data["releases"]
    names, caption = labels(part, releases), texts("compared.policy_caption")
    head = (
        *texts.each("compared.policy_head", ("limit", "where", "asked")),
        texts("compared.original"),
    )
    for start in range(0, len(releases), ABREAST):
        abreast = slice(start, start + ABREAST)
        tables = [part.data["original"], *releases[abreast]]
        rows = (
            (
                link_definition(
                    verdicts[0]["measure"], measure_title(texts, verdicts[0]["measure"])
                ),
                where(part, verdicts[0]),
                limit_text(part, verdicts[0]),
                *(_cell(part, v) for v in verdicts),
            )
            for verdicts in zip(*map(_limits, tables), strict=True)
        )
        last = start + len(tables) - 1
        many = texts("compared.several", caption=caption, first=start + 1, last=last)
        title = caption if len(releases) <= ABREAST else many
        yield make_grid(title, (*head, *names[abreast]), rows, ())


def _cell(part: ReportPart, verdict: Data) -> str:
    """The verdict; for the operator its number too."""
    texts, mark = part.texts, part.texts(f"front.{MARKS[verdict['met']]}")
    if not part.redactor.internal or (verdict["value"] is None and verdict["met"] is None):
        return mark
    value = why(texts, verdict) if verdict["value"] is None else figure(part, verdict)
    if verdict["reading"]:
        value = f"{value}, {texts('front.without_missing')}"
    return texts("compared.policy_cell", mark=mark, value=value)
