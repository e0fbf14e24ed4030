"""What would help: a few ways to change the table, and whether the policy is then met."""

from collections.abc import Iterator, Sequence

from sievert.formatting import count, percent
from sievert.report.limits import ORDER, STATES, limits_of, outcome_of, titles
from sievert.report.page import Block, Chapter, Option, OptionCards, OptionRow, Paragraph
from sievert.report.parts import Data, ReportPart, first_words, some_columns

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


def points(part: ReportPart) -> Iterator[tuple[str, str]]:
    """The finding about what would help most."""
    texts, options = part.texts, part.data.get("options")
    if options is None:
        policy = part.data.get("policy")
        if policy is None or outcome_of(policy) is not True:
            key = "options.not_asked_text" if policy is None else "options.quick_text"
            yield texts("options.not_asked"), texts(key)
        return
    ways = options["ways"]
    if not ways:
        if options["reason"] in REASONS:
            said = texts(REASONS[options["reason"]], tried=options["tried"])
            if not options.get("complete", True):
                said = f"{said} {texts('options.budget_none')}"
            yield texts("options.none"), said
        return
    best = best_way(ways)
    limits, number = best["limits_met"], len(best["limits"])
    if best["met"] is True:
        head = "options.meets"
    elif limits == number:  # what stands against it is no limit
        head = "options.all_limits"
    else:
        head = "options.helps" if limits > options["before"]["limits_met"] else "options.none_meets"
    text = texts(
        "options.text",
        change=_change(part, best),
        limits=limits,
        number=number,
        lost=percent(best["detail_lost"]),
    )
    if still := _still_breached(part, best):
        text = f"{text} {texts('options.still', limits=still)}"
    if impossible := sum(bool(v["impossible"]) for v in limits_of(part.data)):
        keys = ("options.impossible_one", "options.impossible")
        text = f"{text} {texts.plural(impossible, *keys, number=impossible)}"
    yield texts(head), text


def best_way(ways: Sequence[Data]) -> Data:
    """The first one that meets the policy, or the one that meets most limits at the least loss."""
    met = next((way for way in ways if way["met"] is True), None)
    return met or max(ways, key=lambda way: (way["limits_met"], -way["detail_lost"]))


def _still_breached(part: ReportPart, way: Data) -> str:
    """The limits that an option breaches, where they are few."""
    breached = [limit for limit in way["limits"] if limit["met"] is False]
    words = []
    for limit in breached if len(breached) <= FEW_LIMITS else ():
        measure, secret = (
            titles(part.texts, limit["measure"], {})[1],
            limit["where"].partition(".")[2],
        )
        of = part.texts("options.of_secret", measure=measure, secret=part.writer.name(secret))
        words.append(of if secret else measure)
    return part.texts.join(words) if words else ""


def cards(part: ReportPart) -> Iterator[Chapter]:
    """The options side by side."""
    texts, options = part.texts, part.data.get("options")
    if not options or not options["ways"]:
        return
    items = tuple(_option(part, options["before"], way) for way in options["ways"])
    blocks: tuple[Block, ...] = (OptionCards(texts("options.now"), items),)
    if not (options.get("complete", True) or _is_proven(options)):
        blocks += (Paragraph(texts("options.budget", tried=options["tried"]), "note"),)
    yield Chapter(texts("options.title"), part.anchor("options"), blocks, screen=True)


def making(part: ReportPart, command: str = "") -> Iterator[Chapter]:
    """How the best option is made: the command, if it is known. A terminal has it at the end."""
    texts, options = part.texts, part.data.get("options")
    if not options or not options["ways"] or not (command or "levels" in best_way(options["ways"])):
        return
    blocks: tuple[Block, ...]
    blocks = (Paragraph(command, "command") if command else Paragraph(texts("options.make")),)
    if not options.get("complete", True) and _is_proven(options):
        blocks += (Paragraph(texts("options.budget_proven", tried=options["tried"]), "note"),)
    topic = texts("options.making")
    yield Chapter(texts("options.command"), part.anchor("making"), blocks, topic=topic)


def _is_proven(options: Data) -> bool:
    """Whether no recoding that meets the policy loses less than one of the options."""
    return any(way.get("proven") for way in options["ways"])


def _option(part: ReportPart, before: Data, way: Data) -> Option:
    texts, state = part.texts, STATES[way["met"]]
    breached = sum(limit["met"] is False for limit in way["limits"])
    people = part.data["table"].get("people") or part.rows
    ordered = sorted((STATES[limit["met"]] for limit in way["limits"]), key=ORDER.index)
    rows = (
        OptionRow(
            texts("options.alone"),
            count(before["alone"]),
            count(way["alone"]),
            way["alone"] / people if people else None,
            risky=True,
        ),
        OptionRow(
            texts("options.limits_met"),
            texts("options.of", met=before["limits_met"], number=len(way["limits"])),
            texts("options.of", met=way["limits_met"], number=len(way["limits"])),
            states=tuple(ordered),
        ),
        OptionRow(
            texts("options.detail_lost"),
            percent(before["detail_lost"]),
            percent(way["detail_lost"]),
            way["detail_lost"],
        ),
    )
    keys = ("options.mark_breached_one", "options.mark_breached")
    mark = texts.plural(breached, *keys, number=breached) if breached else texts(MARKS[state])
    if still := _still_breached(part, way):
        mark = texts("options.mark_named", limits=still)
    title = _change(part, way)
    return Option(title[:1].upper() + title[1:], state, mark, rows)


def _change(part: ReportPart, way: Data) -> str:
    """The changes of an option in words: columns left out, then coarser ones."""
    texts, name = part.texts, part.writer.name
    gone = [c["column"] for c in way["changes"] if c["how"] == LEFT_OUT]
    quasi = part.data["roles"]["quasi"]
    left = [c for c in quasi if c not in gone]
    words = [texts("options.without", columns=some_columns(texts, gone, name))] if gone else []
    if len(gone) > len(quasi) / 2:
        words = [texts("options.only", columns=some_columns(texts, left, name))]
    coarser = [c for c in way["changes"] if c["how"] != LEFT_OUT]
    changes = [f"{name(c['column'])} {texts.remark(c['how'])}" for c in coarser]
    words += first_words(texts, changes, letters=CHANGES, more="options.more")
    if way["suppressed_records"]:
        words.append(
            texts("options.suppressed", number=texts.number_of(way["suppressed_records"], "record"))
        )
    return ", ".join(words)
