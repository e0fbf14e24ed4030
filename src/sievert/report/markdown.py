"""The same page as Markdown: pictures as their captions and numbers, texts as they are."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sievert.report.page import (
    Block,
    BulletList,
    Cell,
    Chapter,
    Figures,
    Grid,
    Link,
    Page,
    Paragraph,
    Picture,
)

MARK = "<!-- written by sievert -->"
SPECIAL = re.compile(
    r"([\\`*_{}\[\]<>()#+!|&~$:@=-])|(?<=\bwww)\.|(?:(?<=^\d)|(?<=^\d\d))\.(?=\s|$)"
)
PLAIN = re.compile(r"(?<=[0-9A-Za-z)])\\([-:])(?=[0-9A-Za-z ])|\\([()=])|(?<= )\\(-)(?=\d)")
LINE = re.compile(r"\s+")


def escape(text: str) -> str:
    r"""Text that Markdown shows as it is.

    >>> escape("<b>*x*</b> https://a.b")
    '\\<b\\>\\*x\\*\\</b\\> https\\://a.b'
    >>> escape("risky when high: 1,305 (65.2 %), k-anonymity")
    'risky when high: 1,305 (65.2 %), k-anonymity'
    """
    marked = SPECIAL.sub(lambda m: "\\" + m[0], LINE.sub(" ", text).strip())
    return PLAIN.sub(lambda m: m[1] or m[2] or m[3], marked)


def render(page: Page) -> str:
    """The whole file."""
    blocks = [line for block in (*page.front, *page.chapters) for line in _block(block, 2)]
    foot = [part for line in page.foot for part in (escape(line), "")]
    lines = [MARK, "", f"# {escape(page.title)}", "", *blocks, "---", "", *foot]
    return "\n".join(lines).rstrip() + "\n"


def _block(block: Block | Chapter, level: int) -> Iterator[str]:
    if isinstance(block, Chapter):
        yield from (f'<a id="{block.anchor}"></a>', "")
        yield from (f"{'#' * min(level, 6)} {escape(block.title)}", "")
        for inner in block.blocks:
            yield from _block(inner, level + 1)
    elif isinstance(block, Paragraph):
        text = escape(block.text)
        yield from (f"**{text}**" if block.kind.startswith("lead") else text, "")
    elif isinstance(block, BulletList):
        for place, item in enumerate(block.items):
            mark = f"**{escape(block.marks[place])}** " if block.marks else ""
            yield f"- {mark}{escape(item)}"
        yield ""
    elif isinstance(block, Figures):
        yield from (f"- **{escape(number)}** {escape(words)}" for number, words in block.items)
        yield ""
    elif isinstance(block, Picture):
        yield from (f"**{escape(' '.join(block.spec['title']['text']))}**", "")
        yield from (escape(block.caption), "")
        yield from _grid(block.behind, caption=False)
    else:
        yield from _grid(block, caption=True)


def _grid(grid: Grid, *, caption: bool) -> Iterator[str]:
    if caption:
        yield from (f"*{escape(grid.caption)}*", "")
    yield _row(grid.head)
    yield f"|{'|'.join('---:' if i in grid.right else '---' for i, _ in enumerate(grid.head))}|"
    yield from (*map(_row, grid.rows), "")


def _row(cells: tuple[Cell, ...]) -> str:
    return "| " + " | ".join(_cell(c) for c in cells) + " |"


def _cell(cell: Cell) -> str:
    return f"[{escape(cell.text)}](#{cell.anchor})" if isinstance(cell, Link) else escape(cell)
