"""The same page as Markdown: pictures as their captions and numbers, texts as they are."""

import re
from collections.abc import Iterator

from sievert.report.page import (
    Block,
    BulletList,
    Cell,
    Chapter,
    Facts,
    Figures,
    Grid,
    Hundred,
    Link,
    Numbers,
    OptionCards,
    Page,
    Paragraph,
    Picture,
    Points,
    PolicyAnswer,
)

MARK = "<!-- written by sievert -->"
SPECIAL = re.compile(
    r"([\\`*_{}\[\]<>()#+!|&~$:@=-])|(?<=\bwww)\.|(?:(?<=^\d)|(?<=^\d\d))\.(?=\s|$)"
)
PLAIN = re.compile(r"(?<=[0-9A-Za-z)])\\([-:])(?=[0-9A-Za-z ])|\\([()=])|(?<= )\\(-)(?=\d)")
MARKS = {"met": "✓", "breached": "✗", "doubtful": "?", "open": "–", "planned": "~", "": ""}
LINE = re.compile(r"\s+")


def escape(text: str) -> str:
    r"""Escape a text, so that Markdown shows it unchanged.

    >>> escape("<b>*x*</b> https://a.b")
    '\\<b\\>\\*x\\*\\</b\\> https\\://a.b'
    >>> escape("risky when high: 1,305 (65.2 %), k-anonymity")
    'risky when high: 1,305 (65.2 %), k-anonymity'
    """
    marked = SPECIAL.sub(lambda m: "\\" + m[0], LINE.sub(" ", text).strip())
    return PLAIN.sub(lambda m: m[1] or m[2] or m[3], marked)


def render(page: Page) -> str:
    """Write a page as one Markdown file."""
    blocks = [line for block in (*page.front, *page.chapters) for line in _block(block, 2)]
    foot = [part for line in page.foot for part in (escape(line), "")]
    warning = [f"*{escape(page.warning)}*", ""] if page.warning else []
    lines = [MARK, "", f"# {escape(page.title)}", "", *warning, *blocks, "---", "", *foot]
    return "\n".join(lines).rstrip() + "\n"


def _block(block: Block | Chapter, level: int) -> Iterator[str]:
    match block:
        case Chapter():
            yield from (f'<a id="{block.anchor}"></a>', "")
            yield from (f"{'#' * min(level, 6)} {escape(block.title)}", "")
            for inner in block.blocks:
                yield from _block(inner, level + 1)
            return
        case Paragraph(kind="command"):
            yield f"    {block.text}"
        case Paragraph():
            text = escape(block.text)
            yield f"**{text}**" if block.kind.startswith("lead") else text
        case BulletList():
            for place, item in enumerate(block.items):
                mark = f"**{escape(block.marks[place])}** " if block.marks else ""
                mark = f"{MARKS[block.states[place]]} {mark}" if block.states else mark
                yield f"- {mark}{escape(item)}"
        case Figures():
            yield from (f"- **{escape(number)}** {escape(words)}" for number, words in block.items)
        case Picture():
            yield from (f"**{escape(' '.join(block.spec['title']['text']))}**", "")
            yield from (escape(block.caption), "", *_grid(block.behind))
        case Grid():
            yield from (f"*{escape(block.caption)}*", "", *_grid(block))
        case PolicyAnswer():
            yield f"**{MARKS[block.state]} {escape(block.text)}** {escape(block.why)}".rstrip()
        case Facts():
            yield " · ".join(f"{escape(name)} **{escape(fact)}**" for name, fact in block.items)
        case Points():
            for number, (head, text) in enumerate(block.items, 1):
                start = f"**{escape(head)}** " if head else ""
                yield f"{number}. {start}{escape(text)}"
        case Hundred():
            parts = ", ".join(f"{key} ({words})" for key, words in block.labels)
            yield escape(f"{block.title}: {parts}. {block.allowance}".rstrip())
        case Numbers():
            yield from _numbers(block)
        case OptionCards():
            yield from _options(block)
    yield ""


def _numbers(block: Numbers) -> Iterator[str]:
    """Write every number as a row; groups are rows of their own."""
    fields = (
        ("name", "mark", "value", "limit", "far") if block.limited else ("name", "value", "far")
    )
    names = ("name", "mark", "value", "limit", "far", "id")
    yield _row(tuple(h for h, f in zip(block.head, names, strict=True) if f in fields))
    yield f"|{'|'.join('---:' if f == 'value' else '---' for f in fields)}|"
    for group in block.groups:
        title = escape(" · ".join(filter(None, (group.title, group.tally))))
        yield f"| **{title}** |{' |' * (len(fields) - 1)}"
        for row in group.rows:
            mark = f"{MARKS[row.state]} {row.mark}".strip()
            cells = {**vars(row), "name": Link(row.name, f"def-{row.id}"), "mark": mark}
            cells["far"] = " ".join(filter(None, (row.far, row.remark)))
            yield _row(tuple(cells[f] for f in fields))


def _options(block: OptionCards) -> Iterator[str]:
    first = block.items[0].rows
    yield _row(("", "", *(row.name for row in first)))
    yield "|---|---|" + "---:|" * len(first)
    yield _row((block.now, "", *(row.before for row in first)))
    for option in block.items:
        mark = f"{MARKS[option.state]} {option.mark}"
        yield _row((option.title, mark, *(row.after for row in option.rows)))


def _grid(grid: Grid) -> Iterator[str]:
    yield _row(grid.head)
    yield f"|{'|'.join('---:' if i in grid.right else '---' for i, _ in enumerate(grid.head))}|"
    yield from map(_row, grid.rows)


def _row(cells: tuple[Cell, ...]) -> str:
    shown = (
        f"[{escape(c.text)}](#{c.anchor})" if isinstance(c, Link) else escape(c) for c in cells
    )
    return f"| {' | '.join(shown)} |"
