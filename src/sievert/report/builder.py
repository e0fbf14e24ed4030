"""Results become a page: parts, chapters, the first screen, definitions.

A page becomes files: whole or absent, never over an input.
"""

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from sievert import files
from sievert.charts.drawing import chart_file_name
from sievert.errors import UsageError, require
from sievert.formatting import ENGLISH
from sievert.measures import BY_ID as MEASURES
from sievert.policy import Verdict
from sievert.report.first_screen import (
    file_name,
    front,
    not_measured,
    subject,
    what_was_assessed,
)
from sievert.report.limits import asked, basis, is_plan, limits_of
from sievert.report.numbers import RISKY, WORSE, unit
from sievert.report.overview import Overview
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
    Spec,
    walk,
)
from sievert.report.page_modules import page_module
from sievert.report.parts import NumberWriter, ReportPart, ResultContent
from sievert.report.remarks import remarks
from sievert.report.texts import Texts, read_texts
from sievert.sharing import LEAST, check_min_cell, command_name
from sievert.version import __version__

Place = str | os.PathLike[str]
DEFINITION = "def-"  # before the key of a definition, in its anchor
LONGEST_EPOCH = 12  # digits of SOURCE_DATE_EPOCH
# The title of the page of a command, and with the name of a file; None of several results.
TITLES: dict[str | None, tuple[str, str]] = {
    None: ("front.title", "front.title_named"),
    "assess": ("front.title", "front.title_named"),
    "explain": ("front.title_explain", "front.title_explain_named"),
    "attack": ("front.title_attack", "front.title_attack_named"),
    "compare": ("front.title_compare", "front.title_compare_named"),
    "compromise": ("front.title_compromise", "front.title_compromise_named"),
    "limit": ("front.title_limit", "front.title_limit_named"),
    "protect": ("front.title_protect", "front.title_protect_named"),
    "hierarchies": ("front.title_hierarchies", "front.title_hierarchies_named"),
    "synthetic": ("front.title", "front.title_named"),
    "ledger": ("front.title_ledger", "front.title_ledger_named"),
    "sketch": ("front.title_sketch", "front.title_sketch_named"),
}
HELPS = {"explain": 1, "compare": 0}  # which of their sentences says what would help


@dataclass(frozen=True, kw_only=True)
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
    made = [as_content(result) for result in results]
    with texts.spoken():
        return _page_of(made, settings, texts)


def as_content(result: Any) -> ResultContent:
    """Join a result with its JSON, unless it is joined already."""
    return result if isinstance(result, ResultContent) else ResultContent(result)


def _page_of(results: Sequence[ResultContent], settings: ReportSettings, texts: Texts) -> Page:
    parts = [make_part(result, i, texts) for i, result in enumerate(results, 1)]
    shared = [result.shared for result in results]
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
    draft = PageDraft(parts)
    return draft.page(settings.title, draft.chapters(settings.release_command), _now())


def screen(result: Any, language: str = ENGLISH, release_command: str = "") -> Page:
    """The page of one result for a terminal: without definitions and without a date."""
    return ResultPages(result, language, release_command).screen()


class ResultPages:
    """The pages of one result in one language: for files and for a terminal, made once."""

    def __init__(self, result: Any, language: str = ENGLISH, release_command: str = "") -> None:
        self.result = as_content(result)
        self.language = language
        self.release_command = release_command  # makes the best release; empty where there is none

    @cached_property
    def _draft(self) -> "PageDraft":
        texts = read_texts(None, self.language)
        return PageDraft([make_part(self.result, 1, texts)])

    def page(self, settings: ReportSettings) -> Page:
        """Make the page of a file; custom texts need a page of their own."""
        if self.result.shared or settings.share or settings.texts is not None:
            return build([self.result], settings)
        with self._draft.texts.spoken():
            chapters = self._draft.chapters(self.release_command)
            return self._draft.page(settings.title, chapters, _now())

    def screen(self) -> Page:
        """The page of a terminal: without definitions and without a date."""
        if self.result.shared:
            return build([self.result], ReportSettings(language=self.language))
        texts = self._draft.texts
        command = self.release_command
        with texts.spoken():
            page = self._draft.page(None, self._draft.chapters(""), None)
            words = (f"{texts('options.command')}:", f"  {command}") if command else ()
            fits = self._draft.parts[0].kind == "assess"
            return replace(page, commands=words, fits=fits)

    def charts(self) -> dict[str, Spec]:
        """Draw the charts by the names of their files: the pictures of the page that have a name.

        A picture is drawn here even where a page has no room for it. Charts that no page shows
        come first.
        """
        texts = read_texts(None, self.language)
        part = replace(make_part(self.result, 1, texts), every_picture=True)
        charts = dict(self.result.result.charts_beside_page())
        with texts.spoken():
            for block in walk(PageDraft([part]).chapters("")):
                if isinstance(block, Picture) and block.name:
                    charts[chart_file_name(charts, *block.name)] = block.spec
        return charts


class PageDraft:
    """The common ground of a page in a file and a page on a terminal."""

    def __init__(self, parts: Sequence[ReportPart]) -> None:
        self.parts = parts
        self.texts = parts[0].texts

    def chapters(self, release_command: str) -> tuple[Chapter, ...]:
        """The chapters of all parts."""
        assessed = [part for part in self.parts if part.kind == "assess"]
        assess = page_module("assess")
        chapters = [c for part in assessed for c in assess.making(part, release_command)]
        return (*chapters, *self._of_parts)

    @cached_property
    def _of_parts(self) -> tuple[Chapter, ...]:
        return tuple(c for part in self.parts for c in _chapters(part, self.parts))

    @cached_property
    def _points(self) -> tuple[tuple[str, str], ...]:
        return tuple(dict.fromkeys(_points(self.parts)))

    @cached_property
    def _ways(self) -> list[Block | Chapter]:
        assessed = [part for part in self.parts if part.kind == "assess"]
        return [c for part in assessed for c in page_module("assess").cards(part)]

    def page(
        self, title: str | None, chapters: Sequence[Chapter], written: datetime | None
    ) -> Page:
        """Make a page of these chapters; without a time (`written`), it has no definitions."""
        texts = self.texts
        parts = self.parts
        first = front(parts, self._points, self._ways, written)
        closing = _closing(texts, parts, () if written is None else (*first, *chapters))
        more = (texts("front.more_numbers"), texts("front.more"))
        return Page(
            title=_title(parts, title),
            language=texts("words.language"),
            front=first,
            chapters=(*chapters, *closing),
            foot=(texts("front.made", version=__version__),),
            contents=texts("front.contents"),
            undrawn=texts("front.undrawn"),
            warning=texts("front.internal"),
            kind=texts(_kind(parts)),
            more=more if written is None else (),
        )


def _now() -> datetime:
    """The time of writing; SOURCE_DATE_EPOCH fixes it for reproducible pages."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    given = int(epoch) if epoch.isdecimal() and len(epoch) < LONGEST_EPOCH else time.time()
    return datetime.fromtimestamp(given, UTC)


def _closing(
    texts: Texts, parts: Sequence[ReportPart], blocks: Sequence[Block | Chapter]
) -> list[Chapter]:
    """Close the page: what was assessed, what was not, and what the words mean."""
    rests = dict.fromkeys(p for part in parts for p in basis(part))
    assessed: tuple[Block, ...] = (BulletList(tuple(what_was_assessed(parts))), *rests)
    return [
        Chapter(title=texts("front.assessed"), anchor="assessed", blocks=assessed),
        not_measured(texts),
        *_definitions(texts, blocks),
    ]


def make_part(result: Any, number: int, texts: Texts) -> ReportPart:
    """A result, which has to_dict(), as a part of a page."""
    made = as_content(result)
    kind = command_name(made.content)
    if kind is None:
        raise UsageError("a report is made of results of assess, explain and their like")
    return ReportPart(
        kind=kind, data=made.content, writer=NumberWriter(texts), number=number, result=made.result
    )


def _chapters(part: ReportPart, parts: Sequence[ReportPart]) -> Iterator[Chapter]:
    """The chapters of a part; for a lone assessment they are the chapters of the page."""
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
    yield Chapter(title=title, anchor=part.anchor("chapter"), blocks=blocks, screen=True)


def _attacks(part: ReportPart) -> Iterator[Chapter]:
    """The attacks that an assessment brings along."""
    if part.kind == "assess" and part.read(Overview).attacked:
        attack = page_module("attack")
        blocks = attack.blocks(part) or (Paragraph(part.texts("words.none")),)
        points = tuple(attack.points(part))
        inner = (Points(points), *blocks) if points else blocks
        yield Chapter(
            title=part.texts("attacked.title"),
            anchor=part.anchor("attacks"),
            blocks=inner,
            screen=True,
        )


def _helping(parts: Sequence[ReportPart]) -> ReportPart | None:
    """Choose the part beside an assessment whose finding says what would help."""
    kinds = {part.kind: part for part in parts}
    if "assess" not in kinds:
        return None
    return kinds.get("compare") or kinds.get("explain")


def _points(parts: Sequence[ReportPart]) -> Iterator[tuple[str, str]]:
    """The findings that matter: who is found, what is learnt, what would help."""
    helping = _helping(parts)
    for part in parts:
        if part.kind == "assess":
            yield from page_module(part.kind).points(part)
            if helping is None:
                yield from page_module(part.kind).helping_points(part)
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
            short = next((v for v in limits if left is not None and left > (v.max or 0)), None)
            if short is not None:
                text = f"{text} {part.texts('front.still', asked=asked(part.texts, short))}"
            yield head, text


def _more_points(part: ReportPart, parts: Sequence[ReportPart]) -> Iterator[Points]:
    """The findings of one of several parts that do not stand on the first screen."""
    if part.kind == "assess":
        return
    points = tuple(page_module(part.kind).points(part))
    if part is (_helping(parts) or part):
        shown = min(HELPS.get(part.kind, 0), len(points) - 1)
        points = (*points[:shown], *points[shown + 1 :])
    if points:
        yield Points(points)


def _limits_on_uniques(part: ReportPart, other: ReportPart) -> list[Verdict]:
    """The limits on unique people, from an assessment of the same table."""
    if part.kind != "assess" or subject(part)[::2] != subject(other)[::2]:
        return []
    limits = limits_of(part.read(Overview).policy)
    return [v for v in limits if v.measure == "unique_records" and v.max is not None]


def _kind(parts: Sequence[ReportPart]) -> str:
    """Name the kind of page above its title: a plan is no decision."""
    part = parts[0]
    policies = [each.read(Overview).policy for each in parts]
    plans = {is_plan(policy) for policy in policies if policy is not None}
    if len(plans) > 1:
        return "front.page"
    if is_plan(policies[0]):
        return "front.plan"
    return "front.decision" if part.kind == "assess" else "front.page"


def _title(parts: Sequence[ReportPart], given: str | None) -> str:
    if given is not None:
        from sievert.report.summary import check_title

        return check_title(given)
    part = parts[0]
    name = file_name(part)
    overview = part.read(Overview)
    if part.kind == "synthetic" and len(parts) == 1:
        return part.say("question_several" if len(overview.releases) > 1 else "question")
    if overview.policy is not None and part.kind != "protect":
        if is_plan(overview.policy):
            return part.texts("front.title_plan" if name else "front.title_plan_unnamed", name=name)
        key = "front.title_policy" if name else "front.title_policy_unnamed"
        return part.texts(key, name=name)
    title, of_file = TITLES[None if len(parts) > 1 else part.kind]
    return part.texts(of_file, name=name) if name else part.texts(title)


# -- definitions: what the words and numbers of a page mean, which links lead to ------------------


def _definitions(texts: Texts, blocks: Sequence[Block | Chapter]) -> Iterator[Chapter]:
    """The definitions that these blocks lead to, in alphabetical order of their titles."""
    definitions = (_definition(texts, key) for key in dict.fromkeys(_keys(blocks)))
    order = tuple(sorted(definitions, key=lambda c: c.title.casefold()))
    if order:
        yield Chapter(
            title=texts("definitions.heading"), anchor="definitions", blocks=order, folded=True
        )


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
        return Chapter(title=texts(f"definitions.{key}.title"), anchor=anchor, blocks=(words,))
    kind = "losses"
    name = unit(texts, record.unit)
    if key in MEASURES:
        kind = "measures"
        side = texts(RISKY[record.riskier])
        scale = texts("definitions.scale", unit=name, bounds=record.bounds, side=side)
    else:
        scale = texts("definitions.loss_scale", unit=name, side=texts(WORSE[record.worse]))
    facts = (
        texts("definitions.formula", formula=record.formula),
        scale,
        texts("definitions.source", source=record.source),
        texts("definitions.id", id=key),
    )
    words = Paragraph(texts(f"{kind}.{key}.reading"))
    return Chapter(
        title=texts(f"{kind}.{key}.title"), anchor=anchor, blocks=(words, BulletList(facts))
    )


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
