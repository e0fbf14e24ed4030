"""Results become a page: parts with their pens, chapters, the first screen, definitions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from types import ModuleType
from typing import Any

from sievert.errors import UsageError
from sievert.formatting import printable
from sievert.report import definitions, saved_results
from sievert.report.chapters.attack import chapter as attacked
from sievert.report.chapters.compare.policy import asked
from sievert.report.chapters.explain import chapter as explained
from sievert.report.declared import admitted
from sievert.report.first_screen import front, subject
from sievert.report.page import Block, Chapter, Page, Words
from sievert.report.parts import Part, kind_of
from sievert.report.redaction import Pen, masks
from sievert.report.texts import Texts, read
from sievert.sharing import FEWEST, LEAST
from sievert.version import __version__

CHAPTERS = {
    "assess": "assessed",
    "explain": "explained",
    "attack": "attacked",
    "compare": "compared",
    "compromise": "compromised",
    "limit": "limits",
}
LONGEST = 200  # letters of a title
HELPS = {"explain": 1, "compare": 0}  # which of their sentences says what would help


@dataclass(frozen=True)
class Settings:
    """Who may see a page, and what it is called."""

    internal: bool = False
    title: str | None = None
    texts: str | None = None
    min_cell: int | None = None
    mask_names: bool = False

    def __post_init__(self) -> None:
        if self.min_cell is not None and self.min_cell < FEWEST:
            raise UsageError(f"--min-cell must be at least {FEWEST}")
        if self.internal and (self.mask_names or self.min_cell is not None):
            raise UsageError("--mask-names and --min-cell do not go with --internal")


def build(results: Sequence[Any], settings: Settings | None = None) -> Page:
    """One page of one result or several; each is a result or the JSON that one was saved as."""
    settings = settings or Settings()
    if not results:
        raise UsageError("no result given", hint="the JSON of an assessment")
    texts = read(settings.texts)
    parts = [part_of(r, i, texts, settings) for i, r in enumerate(results, 1)]
    chapters = tuple(_chapter(part, alone=len(parts) == 1) for part in parts)
    first = front(parts, tuple(dict.fromkeys(_sentences(parts))))
    meant = definitions.chapter(texts, (*first, *chapters))
    return Page(
        title=_title(parts, settings),
        language=texts("words.language"),
        front=first,
        chapters=chapters if meant is None else (*chapters, meant),
        foot=(texts("front.made", version=__version__),),
        contents=texts("front.contents"),
        warning=texts("front.internal") if parts[0].pen.internal else "",
    )


def part_of(result: Any, number: int, texts: Texts, settings: Settings) -> Part:
    """A result with the pen that its page is written with."""
    live = None if isinstance(result, Mapping) else result
    data = result if live is None else live.to_dict()
    kind = kind_of(data)
    if kind is None:
        raise UsageError("a report is made of results of assess, explain and their like")
    least = data["table"].get("shared") or settings.min_cell or LEAST
    pen = Pen(
        texts,
        int(data["table"]["rows"] or 0),
        settings.internal and "shared" not in data["table"],
        least,
        masks(data["roles"], texts) if settings.mask_names else None,
    )
    part = Part(kind, data, pen, number, live)
    if kind == "assess" and pen.masks is not None and "shared" in data["table"]:
        return replace(part, data={**data, "warnings": []})  # they name columns in their words
    if kind != "assess":
        return part if pen.internal else replace(part, data=admitted(data))
    if pen.internal or "shared" in data["table"]:
        return part
    assessment = saved_results.assessment(data) if live is None else live
    fit = replace(assessment, attacks=None).share(min_cell=least, mask_names=settings.mask_names)
    if pen.masks is not None:  # names are masked in the shared one already
        pen = replace(pen, masks={name: name for name in masks_of(fit.to_dict()["roles"])})
    return replace(part, data=fit.to_dict(), exact=admitted(data), pen=pen)


def masks_of(roles: Mapping[str, Any]) -> Iterator[str]:
    """Every column that has a role."""
    for columns in roles.values():
        yield from columns


def module(part: Part) -> ModuleType:
    """The chapter's own file."""
    return import_module(f"sievert.report.chapters.{part.kind}.chapter")


def _chapter(part: Part, *, alone: bool) -> Chapter:
    texts, room = part.texts, module(part)
    title = texts(f"{CHAPTERS[part.kind]}.title")
    if not alone:
        title = texts("front.part", number=part.number, title=title)
    found: list[Block | Chapter] = list(room.blocks(part))
    told = _attacked(part)
    if told is not None:
        found.append(Chapter(texts("attacked.title"), part.anchor("attacks"), told))
    return Chapter(title, part.anchor("chapter"), tuple(found))


def _attacked(part: Part) -> tuple[Block | Chapter, ...] | None:
    """The attacks that an assessment brings along."""
    data = part.exact or part.data
    if part.kind != "assess" or "attacks" not in data:
        return None
    texts = part.texts
    pen = part.pen
    if part.exact is not None and pen.masks is not None:
        pen = replace(pen, masks=masks(data["roles"], texts))
    data = data if pen.internal else admitted(data)
    return attacked.blocks(replace(part, data=data, pen=pen)) or (Words(texts("words.none")),)


def _sentences(parts: Sequence[Part]) -> Iterator[str]:
    """The three sentences that matter: who is found, what is learnt, what would help."""
    told = [(part, module(part).sentences(part)) for part in parts]
    if len(parts) == 1:
        part, found = told[0]
        yield from found[:3]
        if part.kind == "assess":
            yield part.texts("front.help")
        return
    for part, found in told:
        if part.kind == "assess":
            yield from found[:2]
        elif found:
            text = found[min(HELPS.get(part.kind, 0), len(found) - 1)]
            left = explained.helped(part) if part.kind == "explain" else None
            limits = [v for each in parts for v in _on_uniques(each, part)]
            short = [v for v in limits if left is not None and left > v["max"]]
            yield f"{text} {_still(part, short[0])}" if short else text


def _on_uniques(part: Part, other: Part) -> list[Mapping[str, Any]]:
    """Limits of an assessment of the same table on how many people may be alone."""
    if part.kind != "assess" or subject(part)[::2] != subject(other)[::2]:
        return []
    held = (part.data.get("policy") or {}).get("limits", ())
    return [v for v in held if v["measure"] == "unique_records" and v["max"] is not None]


def _still(part: Part, verdict: Mapping[str, Any]) -> str:
    return part.texts("front.still", asked=asked(part, verdict))


def _title(parts: Sequence[Part], settings: Settings) -> str:
    part = parts[0]
    if settings.title is not None:
        title = printable(" ".join(settings.title.split()))
        if not title or len(title) > LONGEST:
            raise UsageError(f"--title: 1 to {LONGEST} letters")
        return title
    name = part.data["table"].get("name")
    if part.pen.internal and name:
        return part.texts("front.title_named", name=part.pen.file(name))
    own = f"front.title_{part.kind}"
    return part.texts(own if len(parts) == 1 and own in part.texts else "front.title")
