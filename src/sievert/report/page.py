"""What a report is made of, before anybody decides how it looks: a page of chapters of blocks.

Texts are plain: renderers escape them. Nothing here knows HTML or Markdown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sievert.formatting import wrap

WIDTH = 100  # of a terminal
Spec = dict[str, Any]


@dataclass(frozen=True)
class Link:
    """Words that lead to a place of the same page."""

    text: str
    anchor: str


Cell = str | Link


@dataclass(frozen=True)
class Paragraph:
    """A paragraph; `kind` is plain, reading, note, warning, or lead (what matters most).

    A lead that is a verdict has a second word: met, breached or doubtful.
    """

    text: str
    kind: str = "plain"


@dataclass(frozen=True)
class BulletList:
    """A list of sentences; with `marks`, one word before each (met, breached, ...).

    `states` are the same in our own words: met, breached or doubtful.
    """

    items: tuple[str, ...]
    marks: tuple[str, ...] = ()
    states: tuple[str, ...] = ()


@dataclass(frozen=True)
class Grid:
    """A table; columns whose numbers stand in `right` are set flush right."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    right: tuple[int, ...] = ()
    folded: bool = False  # behind a line to click on; open in print


@dataclass(frozen=True)
class Picture:
    """A chart, what to see in it, and the table of its numbers."""

    spec: Spec
    caption: str
    behind: Grid


@dataclass(frozen=True)
class Figures:
    """A few numbers beside each other, each with the words that say what it is."""

    items: tuple[tuple[str, str], ...]


Block = Paragraph | BulletList | Grid | Picture | Figures


@dataclass(frozen=True)
class Chapter:
    """A heading and what stands below it; the anchor is our own word, unique on the page."""

    title: str
    anchor: str
    blocks: tuple[Block | Chapter, ...]


@dataclass(frozen=True)
class Page:
    """A whole page: its title, what stands on the first screen, its chapters, its last line."""

    title: str
    language: str
    front: tuple[Block | Chapter, ...]
    chapters: tuple[Chapter, ...]
    foot: tuple[str, ...] = ()
    contents: str = "Contents"
    warning: str = ""  # once more at the end, and on every printed page
    shared: bool = False  # the short page of --share

    def pictures(self) -> Iterator[Picture]:
        """Every picture, in the order of the page."""
        yield from (b for b in walk((*self.front, *self.chapters)) if isinstance(b, Picture))


def make_grid(
    caption: str,
    head: Iterable[str],
    rows: Iterable[Iterable[object]],
    right: Sequence[int] | None = None,
    *,
    folded: bool = False,
) -> Grid:
    """A table of anything that has a text; all columns but the first flush right, unless given."""
    head = tuple(head)
    cells = tuple(tuple(c if isinstance(c, Link) else str(c) for c in row) for row in rows)
    right = range(1, len(head)) if right is None else right
    return Grid(caption, head, cells, tuple(right), folded)


def walk(blocks: tuple[Block | Chapter, ...]) -> Iterator[Block | Chapter]:
    """Every block and chapter below, in reading order."""
    for block in blocks:
        yield block
        if isinstance(block, Chapter):
            yield from walk(block.blocks)


def summarise(page: Page) -> str:
    """The answer of a page for a terminal: its title, its verdict and the sentences below it."""
    lines = wrap(page.title, WIDTH, "")
    for block in page.front:
        if isinstance(block, Paragraph) and block.kind.startswith("lead"):
            lines += wrap(block.text, WIDTH, "")
        elif isinstance(block, Chapter) and block.anchor == "short":
            points = (b for b in block.blocks if isinstance(b, BulletList))
            items = (item for each in points for item in each.items)
            lines += (line for item in items for line in wrap(item, WIDTH, "- ", "  "))
    return "\n".join(lines)
