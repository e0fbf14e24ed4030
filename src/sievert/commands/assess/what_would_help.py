"""The sentences and cards on changes that would help; `helpful_changes` searches for them.

Their texts are in `[options]` of `report/texts`, because a workbench and a short page say some too.
"""

from collections.abc import Iterator

from sievert.commands.assess.result import Assessment, ChangeOption, ChangeOptions
from sievert.formatting import count, percent
from sievert.report.limits import ORDER, STATES, limits_of, titles
from sievert.report.page import Block, Chapter, Option, OptionCards, OptionRow, Paragraph
from sievert.report.parts import ReportPart, first_words, some_columns

LEFT_OUT = "left out"
FEW_LIMITS = 2  # that are named
CHANGES = 200  # letters of all changes of an option
MARKS = {  # of an option that breaches no limit
    "met": "options.mark_met",
    "doubtful": "options.mark_doubtful",
    "breached": "options.mark_not_met",
}
REASONS = {  # why no change is proposed
    "only_suppressed": "options.reason_only_suppressed",
    "nothing_helps": "options.reason_nothing_helps",
    "too_many_combinations": "options.reason_too_many_combinations",
    "kept_columns": "options.reason_kept_columns",
    "wildcards": "options.reason_wildcards",
    "values_without_order": "options.reason_values_without_order",
}


def helping_points(part: ReportPart) -> Iterator[tuple[str, str]]:
    """The finding about what would help most."""
    texts = part.texts
    result = part.read(Assessment)
    options = result.options
    if options is None:
        policy = result.policy
        if policy is None or policy.outcome is not True:
            key = "options.not_asked_text" if policy is None else "options.quick_text"
            yield texts("options.not_asked"), texts(key)
        return
    best = options.best
    if best is None:
        if options.reason in REASONS:
            said = texts(REASONS[options.reason], tried=options.tried)
            if not options.complete:
                said = f"{said} {texts('options.budget_none')}"
            yield texts("options.none"), said
        return
    limits = best.limits_met
    number = len(best.verdicts)
    if best.met is True:
        head = "options.meets"
    elif limits == number:  # what stands against it is no limit
        head = "options.all_limits"
    else:
        head = "options.helps" if limits > options.before.limits_met else "options.none_meets"
    text = texts(
        "options.text",
        change=_change(part, best),
        limits=limits,
        number=number,
        lost=percent(best.detail_lost),
    )
    still = _still_breached(part, best)
    if still:
        text = f"{text} {texts('options.still', limits=still)}"
    impossible = sum(bool(verdict.impossible) for verdict in limits_of(result.policy))
    if impossible:
        keys = ("options.impossible_one", "options.impossible")
        text = f"{text} {texts.plural(impossible, *keys, number=impossible)}"
    yield texts(head), text


def _still_breached(part: ReportPart, way: ChangeOption) -> str:
    """The limits that an option breaches, where they are few."""
    breached = [limit for limit in way.verdicts if limit.met is False]
    words = []
    for limit in breached if len(breached) <= FEW_LIMITS else ():
        measure = titles(part.texts, limit.measure)[1]
        secret = limit.where.partition(".")[2]
        of = part.texts("options.of_secret", measure=measure, secret=part.writer.name(secret))
        words.append(of if secret else measure)
    return part.texts.join(words) if words else ""


def cards(part: ReportPart) -> Iterator[Chapter]:
    """The options side by side."""
    texts = part.texts
    options = part.read(Assessment).options
    if options is None or not options.ways:
        return
    items = tuple(_option(part, options.before, way) for way in options.ways)
    blocks: tuple[Block, ...] = (OptionCards(texts("options.now"), items),)
    if not (options.complete or _is_proven(options)):
        blocks += (Paragraph(texts("options.budget", tried=options.tried), "note"),)
    yield Chapter(
        title=texts("options.title"), anchor=part.anchor("options"), blocks=blocks, screen=True
    )


def making(part: ReportPart, command: str = "") -> Iterator[Chapter]:
    """How the best option is made: the command, if it is known. A terminal has it at the end."""
    texts = part.texts
    options = part.read(Assessment).options
    best = None if options is None else options.best
    if options is None or best is None or not (command or best.levels is not None):
        return
    blocks: tuple[Block, ...]
    blocks = (Paragraph(command, "command") if command else Paragraph(texts("options.make")),)
    if not options.complete and _is_proven(options):
        blocks += (Paragraph(texts("options.budget_proven", tried=options.tried), "note"),)
    topic = texts("options.making")
    yield Chapter(
        title=texts("options.command"), anchor=part.anchor("making"), blocks=blocks, topic=topic
    )


def _is_proven(options: ChangeOptions) -> bool:
    """Whether no recoding that meets the policy loses less than one of the options."""
    return any(way.proven for way in options.ways)


def _option(part: ReportPart, before: ChangeOption, way: ChangeOption) -> Option:
    texts = part.texts
    state = STATES[way.met]
    breached = sum(limit.met is False for limit in way.verdicts)
    people = part.read(Assessment).people
    alone = way.alone or 0
    ordered = sorted((STATES[limit.met] for limit in way.verdicts), key=ORDER.index)
    rows = (
        OptionRow(
            name=texts("options.alone"),
            before=count(before.alone or 0),
            after=count(alone),
            share=alone / people if people else None,
            risky=True,
        ),
        OptionRow(
            name=texts("options.limits_met"),
            before=texts("options.of", met=before.limits_met, number=len(way.verdicts)),
            after=texts("options.of", met=way.limits_met, number=len(way.verdicts)),
            states=tuple(ordered),
        ),
        OptionRow(
            name=texts("options.detail_lost"),
            before=percent(before.detail_lost),
            after=percent(way.detail_lost),
            share=way.detail_lost,
        ),
    )
    keys = ("options.mark_breached_one", "options.mark_breached")
    mark = texts.plural(breached, *keys, number=breached) if breached else texts(MARKS[state])
    still = _still_breached(part, way)
    if still:
        mark = texts("options.mark_named", limits=still)
    title = _change(part, way)
    return Option(title[:1].upper() + title[1:], state, mark, rows)


def _change(part: ReportPart, way: ChangeOption) -> str:
    """The changes of an option in words: columns left out, then coarser ones."""
    texts = part.texts
    name = part.writer.name
    gone = [change.column for change in way.changes if change.how == LEFT_OUT]
    quasi = part.read(Assessment).roles.quasi
    left = [c for c in quasi if c not in gone]
    words = [texts("options.without", columns=some_columns(texts, gone, name))] if gone else []
    if len(gone) > len(quasi) / 2:
        words = [texts("options.only", columns=some_columns(texts, left, name))]
    coarser = [change for change in way.changes if change.how != LEFT_OUT]
    changes = [f"{name(change.column)} {texts.remark(change.how)}" for change in coarser]
    words += first_words(texts, changes, letters=CHANGES, more="options.more")
    if way.suppressed_records:
        number = texts.number_of(way.suppressed_records, "record")
        words.append(texts("options.suppressed", number=number))
    return ", ".join(words)
