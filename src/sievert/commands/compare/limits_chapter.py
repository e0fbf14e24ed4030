"""The limits of a policy against releases: one line per release, then limits by releases."""

from collections.abc import Iterator, Sequence

from sievert.commands.compare.view import ComparisonView
from sievert.policy import Judgement, Verdict
from sievert.report.first_screen import reason_text
from sievert.report.limits import (
    NOTHING,
    STATE_WORDS,
    STATES,
    SUPPRESSED_SCOPE,
    asked,
    basis_texts,
    left_out,
    limits_of,
    reasons_of,
    remarks,
    shown_value,
    state_of,
    titles,
)
from sievert.report.numbers import side_by_side, some_names, why
from sievert.report.page import BulletList, Chapter, Grid, Link, Paragraph, make_grid

ABREAST = 4  # releases beside each other
HEADS = ("policy_head_limit", "policy_head_where", "policy_head_asked")
# What is said of a release that meets its limits, or not; and the mark before a number.
OF_RELEASE = {"met": "policy_met", "doubtful": "policy_doubtful", "breached": "policy_breached"}
MARKS = {"met": "front.met", "doubtful": "front.doubtful", "breached": "front.breached"}


def limits_chapters(view: ComparisonView) -> Iterator[Chapter]:
    """Which limits each release meets; nothing without a policy."""
    policies = [release.policy for release in view.releases]
    if not any(policies):
        return
    notes = _notes(view)
    blocks = (
        *(_grids(view) if any(map(limits_of, policies)) else ()),
        *([BulletList(notes)] if notes else ()),
        Paragraph(view.say("policy_reading"), "reading"),
        *(() if any(map(state_of, policies)) else bases(view)),
    )
    yield view.chapter("policy_title", "policy", blocks)


def bases(view: ComparisonView) -> list[Paragraph]:
    """What verdicts rest on: people or rows, roles, the secrets that no limit is about."""
    texts = [
        text
        for release in view.releases
        for text in basis_texts(view.texts, release.policy, view.writer.name)
    ]
    return [Paragraph(text, "note") for text in dict.fromkeys(texts)]


def limits_of_releases(view: ComparisonView) -> BulletList:
    """What each release breaches, or what of it cannot be decided."""
    items = []
    marks = []
    states = []
    for release in view.releases:
        met = state_of(release.policy)
        state = STATES[met]
        limits = [
            view.say("policy_limit", what=_title(view, v, 1), where=_where(view, v))
            for v in limits_of(release.policy)
            if v.met is met
        ]
        some = some_names(view, "compared.policy_more", limits)
        key = OF_RELEASE[state] if limits or met else "policy_none"
        words = [view.say(key, release=release.label, limits=some)]
        words += [reason_text(view, r) for r in reasons_of(release.policy) if r.met is met]
        items.append(" ".join(filter(None, [*words, left_out(release.policy, view.texts)])))
        other = met is False and not limits  # what stands against it is no limit
        marks.append(view.say("policy_not_met") if other else view.texts(STATE_WORDS[state]))
        states.append(state)
    return BulletList(tuple(items), tuple(marks), tuple(states))


def _grids(view: ComparisonView) -> Iterator[Grid]:
    """Limits as rows, the original and the releases as columns."""
    head = [view.say(key) for key in (*HEADS, "original")]
    for abreast, title in side_by_side(
        view, view.say("policy_caption"), len(view.releases), ABREAST
    ):
        some = view.releases[abreast]
        policies = [view.comparison.original.policy, *(r.policy for r in some)]
        rows = (_row(view, verdicts) for verdicts in _side_by_side(policies))
        yield make_grid(title, (*head, *(r.label for r in some)), rows, ())


def _side_by_side(policies: Sequence[Judgement | None]) -> Iterator[list[Verdict | None]]:
    """The verdicts of all tables on each limit; only some have suppressed records to judge."""
    by_table = [
        {(v.where, v.measure, v.scope): v for v in limits_of(policy)} for policy in policies
    ]
    every = dict.fromkeys(line for verdicts in by_table for line in verdicts)
    of_tables = [line for line in every if line[2] is None]
    of_suppressed = [line for line in every if line[2] is not None]
    for line in (*of_tables, *of_suppressed):
        yield [verdicts.get(line) for verdicts in by_table]


def _row(view: ComparisonView, verdicts: Sequence[Verdict | None]) -> tuple[object, ...]:
    first = next(verdict for verdict in verdicts if verdict is not None)
    title = Link(_title(view, first), f"def-{first.measure}")
    return title, _where(view, first), asked(view.texts, first), *(_cell(view, v) for v in verdicts)


def _title(view: ComparisonView, verdict: Verdict, short: int = 0) -> str:
    """What a limit is on; the `short` way is that of the field."""
    secret = verdict.where.partition(".")[2]
    original = view.comparison.original.assessment
    values = original.inference.get(secret, {}) if secret else original.reidentification
    value = values.get(verdict.measure)
    k = None if value is None else value.details.get("k")
    title = titles(view.texts, verdict.measure, k)[short]
    if verdict.scope == SUPPRESSED_SCOPE:
        return view.texts("limits_table.of_suppressed", measure=title)
    return title


def _notes(view: ComparisonView) -> tuple[str, ...]:
    """What a star in the table stands for."""
    policies = (view.comparison.original.policy, *(release.policy for release in view.releases))
    notes = (
        view.say("policy_star", what=_title(view, v), where=_where(view, v), remark=remark)
        for policy in policies
        for v in limits_of(policy)
        if v.value is not None
        for remark in remarks(view, v)
    )
    return tuple(dict.fromkeys(notes))


def _where(view: ComparisonView, verdict: Verdict) -> str:
    """Whom or what a limit is about."""
    secret = verdict.where.partition(".")[2]
    return view.writer.name(secret) if secret else view.texts("front.about_finding")


def _cell(view: ComparisonView, verdict: Verdict | None) -> str:
    """The verdict with its number; a dash where there is nothing to judge."""
    if verdict is None:
        return NOTHING
    mark = view.texts(MARKS[STATES[verdict.met]])
    if verdict.value is not None:
        value = shown_value(view, verdict, verdict.value)
    elif verdict.met is None:
        return mark
    else:
        value = why(view.texts, verdict.reason)
    star = " *" if any(remarks(view, verdict)) and verdict.value is not None else ""
    return view.say("policy_cell", mark=mark, value=f"{value}{star}")
