"""Results become a page: parts, chapters, the first screen, definitions.

A page becomes files: whole or absent, never over an input.
"""

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from sievert import files
from sievert.errors import UsageError, require
from sievert.formatting import ENGLISH
from sievert.measures import BY_ID as MEASURES
from sievert.report import what_would_help as options
from sievert.report.first_screen import (
    file_name,
    front,
    not_measured,
    subject,
    what_was_assessed,
)
from sievert.report.limits import asked, basis, is_plan
from sievert.report.numbers import unit
from sievert.report.page import (
    Block,
    BulletList,
    Chapter,
    Grid,
    Link,
    Numbers,
    Page,
    Paragraph,
    Picture,
    Points,
    walk,
)
from sievert.report.page_modules import page_module
from sievert.report.parts import Data, NumberWriter, ReportPart
from sievert.report.remarks import remarks
from sievert.report.texts import Texts, read_texts
from sievert.sharing import LEAST, check_min_cell, command_name
from sievert.version import __version__

Place = str | os.PathLike[str]
DEFINITION = "def-"  # before the key of a definition, in its anchor
LONGEST_EPOCH = 12  # digits of SOURCE_DATE_EPOCH
HELPS = {"explain": 1, "compare": 0}  # which of their sentences says what would help


@dataclass(frozen=True)
class ReportSettings:
    """Who may see a page, and what it is called."""

    share: bool = False
    title: str | None = None
    texts: Place | None = None
    min_cell: int | None = None
    mask_names: bool = False
    language: str = ENGLISH
    release_command: str = ""  # makes the best release, where the command that was run is known

    def __post_init__(self) -> None:
        if self.min_cell is not None:
            check_min_cell(self.min_cell)
        require(
            self.share or (not self.mask_names and self.min_cell is None),
            "--mask-names and --min-cell go with --share",
        )


def build(results: Sequence[Any], settings: ReportSettings | None = None) -> Page:
    """One page of one result or several: internal, or the shareable one."""
    settings = settings or ReportSettings()
    require(results, "no result given", hint="the JSON of an assessment")
    texts = read_texts(settings.texts, settings.language)
    with texts.spoken():
        return _page_of(results, settings, texts)


def _page_of(results: Sequence[Any], settings: ReportSettings, texts: Texts) -> Page:
    parts = [make_part(result, i, texts) for i, result in enumerate(results, 1)]
    shared = ["shared" in part.data["table"] for part in parts]
    if settings.share or all(shared):
        from sievert.report.summary import build_summary, share_all

        every = share_all(
            [part.data for part in parts],
            min_cell=settings.min_cell or LEAST,
            mask_names=settings.mask_names,
        )
        return build_summary(every, texts, settings.title)
    require(
        not any(shared),
        "shareable and internal results do not go on one page",
        hint="--share: one shareable page of all",
    )
    return _build(parts, settings, _now())


def screen(result: Any, language: str = ENGLISH, release_command: str = "") -> Page:
    """The page of one result for a terminal: without definitions and without a date."""
    settings = ReportSettings(language=language)
    if "shared" in result.to_dict()["table"]:
        return build([result], settings)
    texts = read_texts(None, language)
    with texts.spoken():
        part = make_part(result, 1, texts)
        page = _build([part], settings, None)
        words = (f"{texts('options.command')}:", f"  {release_command}") if release_command else ()
        return replace(page, commands=words, fits=part.kind == "assess")


def _build(parts: Sequence[ReportPart], settings: ReportSettings, written: datetime | None) -> Page:
    texts = parts[0].texts
    assessed = [part for part in parts if part.kind == "assess"]
    ways = [c for part in assessed for c in options.cards(part)]
    chapters = [c for part in assessed for c in options.making(part, settings.release_command)]
    chapters += [c for part in parts for c in _chapters(part, parts)]
    first = front(parts, tuple(dict.fromkeys(_points(parts))), ways, written)
    chapters += _closing(texts, parts, () if written is None else (*first, *chapters))
    return Page(
        title=_title(parts, settings),
        language=texts("words.language"),
        front=first,
        chapters=tuple(chapters),
        foot=(texts("front.made", version=__version__),),
        contents=texts("front.contents"),
        undrawn=texts("front.undrawn"),
        warning=texts("front.internal"),
        kind=texts(_kind(parts)),
        more=()
        if written is not None
        else tuple(texts.each("front", ("more_numbers", "more"), ".")),
    )


def _now() -> datetime:
    """When a page is written; SOURCE_DATE_EPOCH says so for pages that can be made again."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    given = int(epoch) if epoch.isdecimal() and len(epoch) < LONGEST_EPOCH else time.time()
    return datetime.fromtimestamp(given, UTC)


def _closing(
    texts: Texts, parts: Sequence[ReportPart], blocks: Sequence[Block | Chapter]
) -> list[Chapter]:
    """What was assessed and what was not, and what the words mean."""
    rests = dict.fromkeys(p for part in parts for p in basis(part))
    assessed: tuple[Block, ...] = (BulletList(tuple(what_was_assessed(parts))), *rests)
    return [
        Chapter(texts("front.assessed"), "assessed", assessed),
        not_measured(texts),
        *_definitions(texts, blocks),
    ]


def make_part(result: Any, number: int, texts: Texts) -> ReportPart:
    """A result, which has to_dict(), as a part of a page."""
    data = result.to_dict()
    if (kind := command_name(data)) is None:
        raise UsageError("a report is made of results of assess, explain and their like")
    return ReportPart(kind, data, NumberWriter(texts), number, result)


def _chapters(part: ReportPart, parts: Sequence[ReportPart]) -> Iterator[Chapter]:
    """The chapters of a part: of an assessment alone they are those of the page."""
    alone = len(parts) == 1
    blocks = (*page_module(part.kind).blocks(part), *_attacks(part))
    if part.kind != "assess":
        blocks += tuple(remarks(part))
    if alone and all(isinstance(block, Chapter) for block in blocks):
        yield from blocks
        return
    title = part.say("title")
    if not alone:
        title = part.texts("front.part", number=part.number, title=title)
        blocks = (*_more_points(part, parts), *blocks)
    yield Chapter(title, part.anchor("chapter"), blocks, screen=True)


def _attacks(part: ReportPart) -> Iterator[Chapter]:
    """The attacks that an assessment brings along."""
    if part.kind == "assess" and "attacks" in part.data:
        attack = page_module("attack")
        blocks = attack.blocks(part) or (Paragraph(part.texts("words.none")),)
        points = tuple(attack.points(part))
        inner = (Points(points), *blocks) if points else blocks
        yield Chapter(part.texts("attacked.title"), part.anchor("attacks"), inner, screen=True)


def _helping(parts: Sequence[ReportPart]) -> ReportPart | None:
    """Beside an assessment, the part whose finding says what would help: there is room for one."""
    kinds = {part.kind: part for part in parts}
    return kinds.get("compare") or kinds.get("explain") if "assess" in kinds else None


def _points(parts: Sequence[ReportPart]) -> Iterator[tuple[str, str]]:
    """The findings that matter: who is found, what is learnt, what would help."""
    helping = _helping(parts)
    for part in parts:
        if part.kind == "assess":
            yield from page_module(part.kind).points(part)
            yield from options.points(part) if helping is None else ()
            continue
        points = page_module(part.kind).points(part)
        if len(parts) == 1:
            yield from points[:3]
        elif points and part is (helping or part):
            head, text = points[min(HELPS.get(part.kind, 0), len(points) - 1)]
            left = (
                page_module(part.kind).alone_after_best_change(part)
                if part.kind == "explain"
                else None
            )
            limits = (v for each in parts for v in _limits_on_uniques(each, part))
            short = next((v for v in limits if left is not None and left > v["max"]), None)
            if short is not None:
                text = f"{text} {part.texts('front.still', asked=asked(part.texts, short))}"
            yield head, text


def _more_points(part: ReportPart, parts: Sequence[ReportPart]) -> Iterator[Points]:
    """Of one part of several, the findings that do not stand on the first screen."""
    if part.kind == "assess":
        return
    points = tuple(page_module(part.kind).points(part))
    if part is (_helping(parts) or part):
        shown = min(HELPS.get(part.kind, 0), len(points) - 1)
        points = (*points[:shown], *points[shown + 1 :])
    if points:
        yield Points(points)


def _limits_on_uniques(part: ReportPart, other: ReportPart) -> list[Data]:
    """Limits of an assessment of the same table on how many people may be unique."""
    if part.kind != "assess" or subject(part)[::2] != subject(other)[::2]:
        return []
    limits = (part.data.get("policy") or {}).get("limits", ())
    return [v for v in limits if v["measure"] == "unique_records" and v["max"] is not None]


def _kind(parts: Sequence[ReportPart]) -> str:
    """What a page is called above its title: of a plan it is no decision."""
    part = parts[0]
    plans = {is_plan(each.data) for each in parts if each.data.get("policy")}
    if len(plans) > 1:
        return "front.page"
    if is_plan(part.data):
        return "front.plan"
    return "front.decision" if part.kind == "assess" else "front.page"


def _title(parts: Sequence[ReportPart], settings: ReportSettings) -> str:
    if settings.title is not None:
        from sievert.report.summary import check_title

        return check_title(settings.title)
    part = parts[0]
    name, policy = file_name(part), part.data.get("policy") is not None
    if part.kind == "synthetic" and len(parts) == 1:
        return part.say("question_several" if len(part.data["synthetic"]) > 1 else "question")
    if policy and part.kind != "protect":
        key = "front.title_plan" if is_plan(part.data) else "front.title_policy"
        return part.texts(f"{key}{'' if name else '_unnamed'}", name=name)
    if name:
        own = f"front.title_{part.kind}_named"
        key = own if len(parts) == 1 and own in part.texts else "front.title_named"
        return part.texts(key, name=name)
    title = part.texts("front.title")
    return part.texts.get(f"front.title_{part.kind}", title) if len(parts) == 1 else title


# -- definitions: what the words and numbers of a page mean, which links lead to ------------------


def _definitions(texts: Texts, blocks: Sequence[Block | Chapter]) -> Iterator[Chapter]:
    """The definitions that these blocks lead to, in alphabetical order of their titles."""
    definitions = (_definition(texts, key) for key in dict.fromkeys(_keys(blocks)))
    if order := tuple(sorted(definitions, key=lambda c: c.title.casefold())):
        yield Chapter(texts("definitions.heading"), "definitions", order, folded=True)


def _keys(blocks: Sequence[Block | Chapter]) -> Iterator[str]:
    for block in walk(tuple(blocks)):
        if isinstance(block, Numbers):
            yield from (row.id for group in block.groups for row in group.rows)
        grid = block.behind if isinstance(block, Picture) else block
        for cell in (cell for row in grid.rows for cell in row) if isinstance(grid, Grid) else ():
            if isinstance(cell, Link) and cell.anchor.startswith(DEFINITION):
                yield cell.anchor.removeprefix(DEFINITION)


def _loss(key: str) -> Any:
    from sievert.losses import BY_ID

    return BY_ID.get(key)


def _definition(texts: Texts, key: str) -> Chapter:
    anchor = f"{DEFINITION}{key}"
    record: Any = MEASURES.get(key) or _loss(key)
    if record is None:
        words = Paragraph(texts(f"definitions.{key}.text"))
        return Chapter(texts(f"definitions.{key}.title"), anchor, (words,))
    measured, bounds = key in MEASURES, getattr(record, "bounds", "")
    kind, scale = ("measures", "scale") if measured else ("losses", "loss_scale")
    side = texts(f"risky.{record.riskier}" if measured else f"worse.{record.worse}")
    facts = (
        texts("definitions.formula", formula=record.formula),
        texts(f"definitions.{scale}", unit=unit(texts, record.unit), bounds=bounds, side=side),
        texts("definitions.source", source=record.source),
        texts("definitions.id", id=key),
    )
    words = Paragraph(texts(f"{kind}.{key}.reading"))
    return Chapter(texts(f"{kind}.{key}.title"), anchor, (words, BulletList(facts)))


# -- outputs --------------------------------------------------------------------------------------


def write(
    page: Page,
    to_html: Place | None,
    to_markdown: Place | None,
    *,
    sources: Iterable[Any] = (),
    force: bool = False,
) -> None:
    """Write a page in one form or both."""
    from sievert.report import html, markdown

    sources = list(sources)
    for path, renderer in ((to_html, html), (to_markdown, markdown)):
        if path is not None:
            files.write_text(path, renderer.render(page), sources=sources, force=force)


def notebook_html(result: Any) -> str:
    """The first screen of a result and the table of its numbers, exact."""
    from sievert.report import html

    page = screen(result)
    blocks = [*walk(page.chapters)]
    kinds = [Numbers] if any(isinstance(b, Numbers) for b in blocks) else [Picture, Grid]
    firsts = (b for kind in kinds for b in [b for b in blocks if isinstance(b, kind)][:1])
    return html.fragment(*page.front, *firsts)
