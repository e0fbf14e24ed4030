"""What somebody could do with a release: every attack with what it finds, and for whom.

A table of all attacks comes first; the attacks on secrets are written here.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

from sievert.attacks.attack import Attack, Listed
from sievert.charts import Bar
from sievert.charts.curves import shares
from sievert.commands.attack import identity_chapter as identity
from sievert.commands.attack import reasoning_chapter as reasoning
from sievert.commands.attack.number_rows import (
    MOST_VALUES,
    by_column,
    by_value,
    certain,
    columns,
    numbers,
    people,
    rate_text,
    secrets,
    value_names,
    values_left,
    worst_class,
    worst_values,
)
from sievert.commands.attack.result import Attacks, SkewnessDetails
from sievert.report.page import (
    Block,
    BulletList,
    Chapter,
    Grid,
    Link,
    Paragraph,
    Picture,
)
from sievert.report.parts import NumberText, ReportPart

# Its name, what it is on, for how many people it is certain, what it removes of the uncertainty.
AttackRow = tuple[str, str, NumberText | None, NumberText | None]
# The sentences for nobody, one and many people.
SECRET = ("attacked.secret_none", "attacked.secret_one", "attacked.secret_many")
HOMOGENEITY = ("attacked.homogeneity_none", "attacked.homogeneity_one", "attacked.homogeneity_many")
SEMANTIC = ("attacked.semantic_none", "attacked.semantic_one", "attacked.semantic_many")
MERGED = "semantic_discrimination_rate"  # what is removed of that about a merged secret
RIGHT = ("linkage", "reasoning")  # attacks that are right for a share, by guessing
DRAWN = 3  # secrets with pictures; more have tables
WITH_VALUES = 1  # secrets with pictures by value
# What somebody knows who rules out the likeliest values of a class.
RULED_OUT = {
    "ruled_out_1": "background_1",
    "ruled_out_2": "background_2",
    "ruled_out_3": "background_3",
}
# Of each box what it is on, for how many people it is certain, what it removes.
BOXES: dict[str, tuple[str, Callable[[Attack], float | None] | None, str]] = {
    "black_box": ("about_record", identity.unique_people, "discrimination_rate"),
    "grey_box": ("about_record", identity.single_candidates, "register_discrimination_rate"),
    "white_box": ("about_original", certain, "discrimination_rate"),
    "linkage": ("about_record", None, "correct_linkage"),
}


def blocks(part: ReportPart) -> tuple[Chapter, ...]:
    """A table of all attacks, then a chapter for each way of finding somebody or something."""
    part = replace(part, kind="attack")  # an assessment may bring attacks along
    if not part.read(Attacks).attacks:
        return ()
    summary = (
        _summary(part),
        *_skewness_lines(part),
        *_worst_classes(part),
        Paragraph(part.say("reading"), "reading"),
    )
    return (
        Chapter(
            title=_summary_title(part), anchor=part.anchor("summary"), blocks=summary, screen=True
        ),
        *identity.chapters(part),
        *_secret_chapters(part),
        *reasoning.chapters(part),
    )


def points(part: ReportPart) -> list[tuple[str, str]]:
    """Who is found, for whom a secret is certain, and what reasoning adds.

    An assessment has already said who is found.
    """
    own = part.kind == "attack"
    part = replace(part, kind="attack")
    if not part.read(Attacks).attacks:
        return []
    return [*(identity.points(part) if own else ()), *_secret_points(part), *reasoning.points(part)]


def _secret_points(part: ReportPart) -> Iterator[tuple[str, str]]:
    """The secret that is certain for most people; of several alike the first."""
    worst = max(
        secrets(part, "homogeneity"), key=lambda each: (certain(each[2]), -each[0]), default=None
    )
    if worst is not None:
        _, secret, outcome = worst
        yield part.say(_certain_key(part, outcome)), _homogeneity_sentence(part, secret, outcome)


def _certain_key(part: ReportPart, outcome: Attack) -> str:
    """Whether a secret is certain for nobody, for some or for most people."""
    if outcome.number("discrimination_rate") is None:
        return "certain_same"
    many = certain(outcome)
    return (
        "certain_none" if not many else "certain_most" if 2 * many > part.rows else "certain_some"
    )


# -- the table of all attacks ---------------------------------------------------------------------


def _summary_title(part: ReportPart) -> str:
    """How many of the attacks that aim at certainty find somebody or something."""
    rows = [*_on_records(part), *_on_secrets(part)]
    successes = sum(bool(many is not None and many.number) for _, _, many, _ in rows)
    key = "summary_none"
    if successes:
        key = "summary_one" if successes == 1 else "summary_some"
    return part.say(key, found=successes, number=sum(many is not None for _, _, many, _ in rows))


def _summary(part: ReportPart) -> Grid:
    """One line for each attack and what it was on."""
    rows = (
        (
            Link(part.texts(f"definitions.attack_{attack}.title"), f"def-attack_{attack}"),
            about,
            many or "",
            (rate if attack in RIGHT else None) or "",
            (rate if attack not in RIGHT else None) or "",
        )
        for attack, about, many, rate in (*_on_records(part), *_on_secrets(part))
    )
    head = (
        *("summary_attack", "summary_about", "summary_people", "summary_right"),
        "summary_rate",
    )
    return part.grid("summary", head, rows, (2, 3, 4))


def _skewness_lines(part: ReportPart) -> Iterator[Paragraph]:
    """What becomes likely in the worst class of each secret: nobody is found, nothing certain."""
    share = part.writer.share
    for _, secret, outcome in secrets(part, "skewness"):
        worst = outcome.worst
        if worst is not None and SkewnessDetails.of(outcome).occurs:
            line = part.say(
                "skewness_line",
                secret=part.writer.name(secret),
                posterior=share(outcome.number("posterior")),
                prior=share(outcome.number("prior")),
                people=part.writer.count(worst.records),
            )
            yield Paragraph(line, "note")


def _worst_classes(part: ReportPart) -> Iterator[Block]:
    """Who is in the worst class of each attack, where the result names values."""
    items = []
    for name, each in part.read(Attacks).attacks.items():
        for target, outcome in each.items():
            values = worst_values(part, outcome)
            if values:
                attack = part.texts(
                    f"definitions.attack_{target if name == 'identity' else name}.title"
                )
                about = "" if name == "identity" else f", {part.writer.name(target)}"
                items.append(part.say("worst_class", attack=attack + about, values=values))
    if items:
        yield Paragraph(part.say("worst_classes"))
        yield BulletList(tuple(items))


def _on_records(part: ReportPart) -> Iterator[AttackRow]:
    boxes = part.read(Attacks).attacks.get("identity") or {}
    for box, (about, count, rate) in BOXES.items():
        outcome = boxes.get(box)
        if outcome is not None:
            many = None if count is None else part.writer.count(count(outcome))
            yield box, part.say(about), many, rate_text(part, outcome, rate)


def _on_secrets(part: ReportPart) -> Iterator[AttackRow]:
    for attack in ("homogeneity", *WRITERS, "reasoning"):
        for _, secret, outcome in secrets(part, attack):
            about = part.say("about_secret", secret=part.writer.name(secret))
            match attack:
                case "homogeneity":
                    yield (
                        attack,
                        about,
                        part.writer.count(certain(outcome)),
                        rate_text(part, outcome),
                    )
                case "background":
                    ruled_out = outcome.parts.get("ruled_out_1")
                    then = None if ruled_out is None else ruled_out.number("certain")
                    yield attack, about, part.writer.count(then), None
                case "skewness":  # nobody is found, and nothing certain
                    yield attack, about, None, None
                case "semantic":
                    yield attack, about, *_meaning(part, outcome)
                case "reasoning":
                    yield attack, about, None, reasoning.headline(part, outcome)


def _meaning(part: ReportPart, outcome: Attack) -> tuple[NumberText | None, NumberText | None]:
    """The way of merging by which most people are certain; of several alike the first."""
    counts = [(part.writer.count(certain(way)), way) for _, way in _merges(outcome)]
    if not counts:
        return None, None
    many, way = max(counts, key=lambda each: each[0].number or 0.0)
    return many, rate_text(part, way, MERGED)


# -- secrets --------------------------------------------------------------------------------------


def _secret_chapters(part: ReportPart) -> Iterator[Chapter]:
    """A chapter for each secret, with a chapter for each attack on it."""
    others = {a: {s: outcome for _, s, outcome in secrets(part, a)} for a in WRITERS}
    for i, secret, outcome in secrets(part, "homogeneity"):
        anchor = f"{part.anchor('secret')}{i}"
        homogeneity = _homogeneity(part, i, secret, outcome)
        inner = [
            Chapter(
                title=part.say("homogeneity_title"),
                anchor=f"{anchor}-homogeneity",
                blocks=homogeneity,
            )
        ]
        for attack, (title, write) in WRITERS.items():
            if secret in others[attack]:
                blocks = tuple(write(part, secret, others[attack][secret]))
                if blocks:
                    inner.append(
                        Chapter(title=part.say(title), anchor=f"{anchor}-{attack}", blocks=blocks)
                    )
        yield Chapter(
            title=_secret_title(part, secret, outcome), anchor=anchor, blocks=tuple(inner)
        )


def _secret_title(part: ReportPart, secret: str, outcome: Attack) -> str:
    """For how many people a secret is certain."""
    name = part.writer.name(secret)
    if outcome.number("discrimination_rate") is None:
        return part.say("secret_same", secret=name)
    return people(part, SECRET, certain(outcome), secret=name)


def _homogeneity_sentence(part: ReportPart, secret: str, outcome: Attack) -> str:
    """For how many a secret is certain."""
    name = part.writer.name(secret)
    if outcome.number("discrimination_rate") is None:
        return part.say("homogeneity_same", secret=name)
    return people(part, HOMOGENEITY, certain(outcome), secret=name, columns=columns(part))


def _homogeneity(part: ReportPart, i: int, secret: str, outcome: Attack) -> tuple[Block, ...]:
    """Who is certain, how much the columns tell, and which of them."""
    writer = part.writer
    name = writer.name(secret)
    rate = rate_text(part, outcome)
    if rate.number is None:
        return (Paragraph(_homogeneity_sentence(part, secret, outcome)),)
    blocks: list[Block] = [Paragraph(part.say("homogeneity_rate", rate=rate, secret=name))]
    worst = outcome.worst
    if worst is not None:
        places = {
            "records": writer.count(worst.records),
            "confidence": writer.share(worst.number("confidence")),
            "bits": writer.number(worst.number("conditional_entropy")),
        }
        blocks.append(Paragraph(part.say("homogeneity_worst", **places)))
    return (
        *blocks,
        *by_column(part, outcome, part.say("columns_chart_secret", secret=name), drawn=i <= DRAWN),
        *([Paragraph(part.say("columns_rest", shown=DRAWN), "note")] if i == DRAWN + 1 else ()),
        numbers(part, [("discrimination_rate", rate, "high"), *worst_class(writer, outcome)]),
        *(by_value(part, outcome, secret) if i <= WITH_VALUES else ()),
        Paragraph(part.say("homogeneity_reading"), "reading"),
    )


def _background(part: ReportPart, secret: str, outcome: Attack) -> Iterator[Block]:
    """What is still missing, and what ruling out likely values gives."""
    writer = part.writer
    name = part.writer.name(secret)
    missing = rate_text(part, outcome, "missing")
    if missing.number is None:
        yield Paragraph(part.say("background_same", secret=name), "lead")
        return
    yield Paragraph(part.say("background_lead", missing=missing, secret=name), "lead")
    rows = []
    for name, key in RULED_OUT.items():
        after = outcome.parts.get(name)
        if after is not None:
            people = writer.count(after.number("people"))
            certain = writer.count(after.number("certain"))
            gain = str(rate_text(part, after, "gain")).replace(" %", "")
            rows.append((part.say(key), people, certain, gain))
    head = ("background_which", "background_people", "background_certain", "background_gain")
    yield part.grid("background_table", head, rows)
    yield Paragraph(part.say("background_reading"), "reading")


def _skewness(part: ReportPart, secret: str, outcome: Attack) -> Iterator[Block]:
    """What is rare in the table and likely in a class."""
    writer = part.writer
    worst = outcome.worst
    details = SkewnessDetails.of(outcome)
    if worst is None or not details.occurs:
        key = "skewness_flat" if details.occurs else "skewness_absent"
        yield Paragraph(part.say(key, secret=writer.name(secret)), "lead")
        return
    lead = part.say(
        "skewness_lead_named" if details.named_value else "skewness_lead_any",
        secret=writer.name(secret),
        prior=rate_text(part, outcome, "prior"),
        posterior=rate_text(part, outcome, "posterior"),
        records=writer.count(worst.records),
        ratio=writer.number(outcome.number("ratio")),
    )
    yield Paragraph(lead, "lead")
    yield Paragraph(part.say("skewness_people", people=writer.count(outcome.number("people"))))
    measures = ("semantic_discrimination_rate", "t_closeness", "entropy_variation")
    yield numbers(part, [(m, writer.number(outcome.number(m)), "high") for m in measures])
    if outcome.values is not None and outcome.values.groups:
        yield from _likely_values(part, secret, outcome.values)


def _likely_values(part: ReportPart, secret: str, values: Listed) -> Iterator[Block]:
    """The values of a secret by how likely they become in some class."""
    writer = part.writer
    groups = values.groups[:MOST_VALUES]
    names = value_names(part, groups, secret)
    likely = [writer.share(group.number("posterior")) for group in groups]
    rows = (
        (
            name,
            writer.count(group.records),
            writer.share(group.number("prior")),
            share,
            writer.number(group.number("ratio")),
        )
        for name, group, share in zip(names, groups, likely, strict=True)
    )
    head = (
        *("values_head", "values_records", "skewness_prior", "skewness_posterior"),
        "skewness_ratio",
    )
    grid = part.grid("skewness_chart", head, rows, folded=True, secret=writer.name(secret))
    bars = [
        Bar(row=name, number=share.number, text=str(share))
        for name, share in zip(names, likely, strict=True)
    ]
    if len({each.number for each in likely}) > 1:  # as many equal bars would show nothing
        below = part.say("skewness_below")
        spec = shares(grid.caption, (below,), bars, axis=part.say("skewness_axis"))
        yield Picture(spec=spec, caption=part.say("skewness_caption"), behind=grid)
    else:
        yield grid
    yield from values_left(part, values, groups)


def _merges(outcome: Attack) -> list[tuple[int | None, Attack]]:
    """How a secret was merged: by the partition (None), by levels of its hierarchy."""
    merges: list[tuple[int | None, Attack]] = []
    if "partition" in outcome.parts:
        merges.append((None, outcome.parts["partition"]))
    levels = {}
    for name, merged in outcome.parts.items():
        level = name.removeprefix("level_")
        if level != name and level.isdecimal():
            levels[int(level)] = merged
    return [*merges, *sorted(levels.items())]


def _semantic(part: ReportPart, secret: str, outcome: Attack) -> Iterator[Block]:
    """Who is certain after values that mean the same were merged."""
    writer = part.writer
    ways = _merges(outcome)
    if not ways:
        return
    most = max(certain(way) for _, way in ways)
    yield Paragraph(people(part, SEMANTIC, most, secret=writer.name(secret)), "lead")
    rows = [
        (
            part.say("semantic_partition" if level is None else "semantic_level", level=level),
            writer.count(certain(way)),
            rate_text(part, way, MERGED),
            writer.count(way.number("parts")),
        )
        for level, way in ways
    ]
    head = ("semantic_by", "semantic_people", "semantic_rate", "semantic_parts")
    yield part.grid("semantic_table", head, rows)
    yield Paragraph(part.say("semantic_reading"), "reading")


# The attacks on a secret beside homogeneity: the title of the chapter, and what writes it.
WRITERS = {
    "background": ("background_title", _background),
    "skewness": ("skewness_title", _skewness),
    "semantic": ("semantic_title", _semantic),
}
