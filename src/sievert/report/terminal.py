"""A page as lines of text for a terminal: its first screen, and the chapters meant for one.

What is too long for a screen is made shorter step by step, as long as it can be made to fit. Lines
are pieces of text with a style, so that colours are put on where there are any.
"""

import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from enum import IntEnum
from itertools import chain, pairwise, zip_longest
from os import environ

from sievert.formatting import middle_cut, wrap
from sievert.report.page import (
    Block,
    BulletList,
    Chapter,
    Facts,
    Figures,
    Grid,
    Hundred,
    Link,
    NumberGroup,
    NumberRow,
    Numbers,
    OptionCards,
    Page,
    Paragraph,
    Picture,
    Points,
    PolicyAnswer,
    walk,
)

WIDTH = 100  # of sentences; tables are as wide as the terminal
LEAST = 56
WIDEST = 240
SCREEN = 40  # lines of an answer about one secret
PER_SECRET = 12  # lines for every further secret
NARROW = 100  # columns of a terminal below which ids are left out
NARROWEST = 72  # columns below which the distance to a limit is left out
SHORTEST = 14  # letters to which names in the first column of a table are cut
LONGEST = 40  # letters of a cell, where a table is set line by line
GAP = "  "
MARKS = {"met": "✓", "breached": "✗", "doubtful": "?", "open": "-", "planned": "~", "": " "}
STYLES = {
    "met": "green",
    "breached": "bright_red",
    "doubtful": "yellow",
    "open": "bold",
    "planned": "bold",
    "warning": "yellow",
    "note": "dim",
    "reading": "dim",
    "head": "bold",
}
CODES = {"bold": "1", "dim": "2", "green": "32", "yellow": "33", "bright_red": "91"}
Line = tuple[tuple[str, str], ...]  # pieces of text, each with a style


class Fit(IntEnum):
    """The steps of shortening to fit a screen; each step also leaves out what earlier steps do."""

    ALL = -1  # everything is shown, with --all
    WHOLE = 0
    REMARKS = 1  # are counted, titles of options cut to a line
    MET = 2  # limits that are met share a line
    HEADS = 3  # of the findings
    OPTIONS = 4  # but the best one
    BEST = 5  # option too: a finding says it
    BLANKS = 6  # between the chapters


def render(page: Page, *, width: int = WIDTH, everything: bool = False) -> list[Line]:
    """The lines of a page; the answer of assess fits a screen, other pages begin with their title.

    Tables may be as wide as that, sentences are narrower.
    """
    whole = _lines(page, width, Fit.ALL if everything else Fit.WHOLE)
    if everything or not page.fits or not _answers(page):
        return whole
    secrets = sum(len(b.groups) - 1 for b in walk(page.chapters) if isinstance(b, Numbers))
    wrapped = sum(len(line) // width for line in page.commands)  # by the terminal itself
    further = sum(len([*_block(c, width, Fit.WHOLE)]) for c in page.chapters if c.further)
    most = SCREEN + PER_SECRET * max(0, secrets - 1) + further - wrapped
    every = chain([whole], (_lines(page, width, fit) for fit in Fit if fit > Fit.WHOLE))
    return next((lines for lines in every if len(lines) <= most), whole)


def _lines(page: Page, width: int, fit: Fit) -> list[Line]:
    lines: list[Line] = []
    if not _answers(page):
        lines += _text(page.title, width, style="head")
    front = sorted(page.front, key=lambda block: not isinstance(block, PolicyAnswer))
    blocks = (*front, *page.chapters)
    for before, block in zip((None, *blocks), blocks, strict=False):
        warnings = all(isinstance(b, Paragraph) and b.kind == "warning" for b in (before, block))
        lines += [*_block(block, width, fit)][warnings:]  # no blank line between two
    if page.more:
        short = [f"{c.title} ({c.instead})." for c in page.chapters if _is_counted(c, fit)]
        words = " ".join([*short, *page.more[fit is Fit.ALL :]])
        lines += [(), *_text(words, width, style="note")]
    lines += [((line, ""),) for line in page.commands]
    if fit is Fit.BLANKS:
        return [line for line in lines if line]
    return [line for before, line in pairwise([(("", ""),), *lines]) if line or before]


def _answers(page: Page) -> bool:
    return any(isinstance(block, PolicyAnswer) for block in page.front)


def _is_counted(chapter: Chapter, fit: Fit) -> bool:
    """Whether a chapter is no more than a word at the end."""
    return bool(chapter.instead) and fit >= Fit.REMARKS


def as_text(lines: Iterable[Line]) -> str:
    """Join the lines without any style."""
    return "\n".join("".join(text for text, _ in line).rstrip() for line in lines)


def for_stdout(page: Page, *, everything: bool = False) -> str:
    """Render a page for stdout: coloured and as wide as the terminal, or plain without one."""
    if not sys.stdout.isatty():
        return as_text(render(page, everything=everything)) + "\n"
    width = max(LEAST, min(WIDEST, shutil.get_terminal_size().columns))
    lines = render(page, width=width, everything=everything)
    plain = environ.get("NO_COLOR") or environ.get("TERM") == "dumb"
    return (as_text(lines) if plain else _in_colours(lines)) + "\n"


def _in_colours(lines: Iterable[Line]) -> str:
    """Add the escape sequences of styles to the lines."""
    return "\n".join("".join(_painted(text, style) for text, style in line) for line in lines)


def _painted(text: str, style: str) -> str:
    codes = ";".join(CODES[word] for word in style.split())
    return f"\x1b[{codes}m{text}\x1b[0m" if codes and text else text


# -- blocks ---------------------------------------------------------------------------------------


def _block(block: Block | Chapter, width: int, fit: Fit) -> Iterator[Line]:
    everything = fit is Fit.ALL
    match block:
        case Chapter() if _is_counted(block, fit) or (
            fit >= Fit.BEST and any(isinstance(inner, OptionCards) for inner in block.blocks)
        ):
            return
        case Chapter(screen=screen) if screen or everything:
            if not any(isinstance(inner, Numbers | OptionCards) for inner in block.blocks):
                inside = (c.instead for c in block.blocks if isinstance(c, Chapter) and c.instead)
                title = " ".join([block.title, *(f"({i})" for i in inside if not everything)])
                yield from ((), *_text(title, width, style="head"))
            for inner in block.blocks:
                if isinstance(inner, OptionCards):
                    yield from _options(inner, block.title, width, fit)
                    continue
                if isinstance(inner, Grid) and inner.caption == block.title:
                    inner = replace(inner, caption="")  # it was said just above
                yield from _block(inner, width, fit)
        case Paragraph(kind=kind) if everything or kind != "reading":
            yield from _paragraph(block, width)
        case BulletList():
            yield from _list(block, width)
        case Grid(folded=folded) if everything or not folded:
            yield from _grid(block, width)
        case Picture(screen=screen) if everything or screen:
            if everything:
                yield from ((), *_text(block.caption, width))
            yield from _grid(block.behind, width)
        case Hundred() if everything:
            parts = (f"{key} ({words})" for key, words in block.labels)
            text = f"{block.title}: {', '.join(parts)}. {block.allowance}"
            yield from _text(text.rstrip(), width, GAP, GAP * 2)
        case PolicyAnswer():
            text = f"{MARKS[block.state]} {block.text}"
            lines = wrap(f"{text} {block.why}".rstrip(), min(width, WIDTH), "", GAP)
            yield from _lead(text, lines, (f"bold {STYLES[block.state]}", "bold"))
        case Facts():
            facts = (f"{name} {fact}".strip() for name, fact in block.items)
            yield from _text(" · ".join(facts), width, style="note")
        case Points():
            yield ()
            for head, text in block.items:
                lead = head if fit < Fit.HEADS else ""
                lines = wrap(f"{lead} {text}".lstrip(), min(width, WIDTH), GAP, GAP * 2)
                yield from _lead(f"{GAP}{lead}", lines, ("bold", ""))
        case Figures():
            yield ()
            for number, words in block.items:
                yield from _text(f"{number} {words}", width, GAP, GAP * 2)
        case Numbers():
            yield from _numbers(block, width, fit)
        case OptionCards():
            yield from _options(block, "", width, fit)


def _lead(lead: str, lines: Sequence[str], styles: tuple[str, str]) -> Iterator[Line]:
    """Put `lead` before the first line, in a style of its own."""
    first = len(lead)
    for line in lines:
        yield ((line[:first], styles[0]), (line[first:], styles[1]))
        first = 0


def _text(
    text: str, width: int, indent: str = "", after: str | None = None, style: str = ""
) -> Iterator[Line]:
    lines = wrap(text, min(width, WIDTH), indent, after)
    return (((line, STYLES.get(style, style)),) for line in lines)


def _paragraph(block: Paragraph, width: int) -> Iterator[Line]:
    kind, _, state = block.kind.partition(" ")
    mark = ""
    if kind == "warning":
        mark = "! "
    elif state:
        mark = f"{MARKS[state]} "
    style = state or kind
    if kind == "lead" and not state:
        style = "head"
    yield from ((), *_text(f"{mark}{block.text}", width, "", GAP if mark else "", style))


def _list(block: BulletList, width: int) -> Iterator[Line]:
    for item, mark, state in zip_longest(block.items, block.marks, block.states, fillvalue=""):
        sign = MARKS[state] if state else "-"
        for number, line in enumerate(wrap(f"{mark} {item}".strip(), min(width, WIDTH) - 4, "")):
            start = ((f"  {sign} ", STYLES.get(state, "")),) if not number else (("    ", ""),)
            yield (*start, (line, ""))


# -- tables ---------------------------------------------------------------------------------------


def _grid(grid: Grid, width: int) -> Iterator[Line]:
    if grid.caption:
        yield from ((), *_text(grid.caption, width, style="reading"))
    rows = [[c.text if isinstance(c, Link) else c for c in row] for row in (grid.head, *grid.rows)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(grid.head))]
    if max(widths[1:], default=0) > LONGEST:
        yield from _row_by_row(rows, width)
        return
    room = width - len(GAP)
    left = room - sum(w + len(GAP) for w in widths[1:])
    names, widths[0] = _first_column([r[0] for r in rows], left if left >= SHORTEST else LONGEST)
    groups: list[list[int]] = [[]]
    for i, wide in enumerate(widths[1:], 1):
        if groups[-1] and sum(widths[j] + len(GAP) for j in (0, *groups[-1])) + wide > room:
            groups.append([])
        groups[-1].append(i)
    for number, group in enumerate(groups):
        if number:
            yield ()
        for at, row in enumerate(rows):
            first, *more = names[at]
            cells = [first.ljust(widths[0])]
            cells += [
                row[i].rjust(widths[i]) if i in grid.right else row[i].ljust(widths[i])
                for i in group
            ]
            yield ((f"{GAP}{GAP.join(cells)}".rstrip(), "" if at else STYLES["note"]),)
            yield from (((f"{GAP}{line}", ""),) for line in more)


def _first_column(texts: Sequence[str], longest: int) -> tuple[list[list[str]], int]:
    """The lines of each row's name, and their width: words go on below, long names are cut."""
    lines = [wrap(text, longest, "", GAP) or [""] for text in texts]
    room = longest - len(GAP)  # of a word on a line below the first
    cut = [at for at, text in enumerate(texts) if any(len(word) > room for word in text.split())]
    short, wide = _shorten([texts[at] for at in cut], longest) if cut else ([], 0)
    for at, name in zip(cut, short, strict=True):
        lines[at] = [name]
    return lines, max(wide, *(len(line) for each in lines for line in each))


def _row_by_row(rows: Sequence[Sequence[str]], width: int) -> Iterator[Line]:
    """A table with long texts: each row a sentence, its cells behind their heads if several."""
    (_, *head), *body = rows
    for first, *cells in body:
        pairs = zip(head if len(head) > 1 else [""], cells, strict=True)
        text = "; ".join(f"{name}: {cell}" if name else cell for name, cell in pairs if cell)
        yield from _text(f"{first}: {text}", width, GAP, GAP * 2)


def _shorten(names: Sequence[str], longest: int) -> tuple[list[str], int]:
    """Cut long names in the middle, and return their width; no two become alike.

    >>> _shorten(["adult_k10_s0", "adult_k10_s5", "adult_k15_s0"], 7)
    (['adul…0_s0', 'adul…0_s5', 'adul…5_s0'], 9)
    """
    while True:
        short = [middle_cut(name, longest) for name in names]
        if len(set(short)) == len(set(names)):
            return short, max(map(len, short))
        longest += 1


def _numbers(block: Numbers, width: int, fit: Fit) -> Iterator[Line]:
    parted = [_in_rows(group, fit, limited=block.limited) for group in block.groups]
    groups = [replace(g, rows=tuple(r)) for g, (r, _) in zip(block.groups, parted, strict=True)]
    rows = [row for group in groups for row in group.rows]
    optional = {"limit": block.limited, "far": width >= NARROWEST, "id": width >= NARROW}
    fields = ["name", "value", *(name for name, there in optional.items() if there)]
    heads = dict(zip(("name", "mark", "value", "limit", "far", "id"), block.head, strict=True))
    wide = {
        f: max([len(heads[f]) if f != "name" else 0, *(len(getattr(r, f)) for r in rows)])
        for f in fields
    }
    titles = [len(group.title) - len(GAP) * 2 for group in groups]
    taken = sum(wide[f] + len(GAP) for f in fields[1:])
    longest = max((len(word) for row in rows for word in row.name.split()), default=0)
    if "id" in fields and width - 2 * len(GAP) - taken < longest:  # no word is broken for an id
        taken -= wide["id"] + len(GAP)
        fields.remove("id")
    wide["name"] = max(SHORTEST, min(max(wide["name"], *titles), width - 2 * len(GAP) - taken))
    for number, (group, (_, beside)) in enumerate(zip(groups, parted, strict=True)):
        yield ()
        title = (group.title.ljust(wide["name"] + 4), "bold")
        above = fields[1:] if rows and not number else []
        yield (title, *((f"{GAP}{_pad(heads[f], f, wide)}", "dim") for f in above))
        for row in group.rows:
            name, *more = wrap(row.name, wide["name"], "") or [""]
            yield _number_line(replace(row, name=name), fields, wide)
            yield from (((f"{GAP * 2}{line}", ""),) for line in more)
            if row.remark:
                yield from _text(row.remark, width, " " * 6, style="note")
        for side in dict.fromkeys(row.far for row in beside):
            words = ", ".join(f"{row.name} {row.value}" for row in beside if row.far == side)
            yield from _text(f"{side}: {words}" if side else words, width, GAP * 2, style="note")


def _in_rows(
    group: NumberGroup, fit: Fit, *, limited: bool
) -> tuple[list[NumberRow], list[NumberRow]]:
    """Divide the numbers of a group: a row for each of some, one line below for the others."""
    rows = [replace(row, name=row.short or row.name) for row in group.rows]
    if not limited:
        return rows, []
    first = [r for r in rows if r.limit and (fit < Fit.MET or r.state != "met")]
    beside = [r for r in rows if r not in first and not r.remark]
    if fit < Fit.MET and len(beside) == 1:
        beside = []
    own = [r for r in rows if r not in beside]
    # Which side is risky stands where others have a limit.
    return [r if r.limit else replace(r, limit=r.far, far="") for r in own], [
        replace(r, far=r.mark, value=f"{r.value} ({r.limit})") if r.limit else r for r in beside
    ]


def _number_line(row: NumberRow, fields: Sequence[str], wide: dict[str, int]) -> Line:
    style = STYLES.get(row.state, "")
    styles = {"value": "bold", "far": style if row.state == "breached" else "dim", "id": "dim"}
    pieces = [(f"{GAP}{MARKS[row.state]} ", style), (row.name.ljust(wide["name"]), "")]
    pieces += [
        (f"{GAP}{_pad(getattr(row, f), f, wide)}", styles.get(f, "")) for f in fields if f != "name"
    ]
    return tuple(pieces)


def _pad(text: str, field: str, wide: dict[str, int]) -> str:
    return text.rjust(wide[field]) if field == "value" else text.ljust(wide[field])


def _options(block: OptionCards, title: str, width: int, fit: Fit) -> Iterator[Line]:
    yield ()
    names = [row.name for row in block.items[0].rows]
    rows = [(block.now, "", [row.before for row in block.items[0].rows])]
    best = next((o for o in block.items if o.state == "met"), block.items[-1])
    shown = block.items if fit < Fit.OPTIONS else [best]
    rows += [(o.title, o.state, [row.after for row in o.rows]) for o in shown]
    wide = [max(len(n), *(len(r[2][i]) for r in rows)) for i, n in enumerate(names)]
    room = width - 4 - sum(w + len(GAP) for w in wide)
    first = min(max(len(r[0]) for r in rows), max(SHORTEST - 2, room))
    head = "".join(f"{GAP}{n.rjust(w)}" for n, w in zip(names, wide, strict=True))
    yield ((title.ljust(4 + first), STYLES["head"]), (head, STYLES["note"]))
    for title, state, cells in rows:
        style = STYLES.get(state, "")
        titles = wrap(title, first, "") or [""]
        if fit >= Fit.REMARKS:
            titles = [title if len(title) <= first else f"{title[: first - 1]}…"]
        numbers = "".join(f"{GAP}{c.rjust(w)}" for c, w in zip(cells, wide, strict=True))
        mark = (f"{GAP}{MARKS[state]} ", style)
        yield (mark, (titles[0].ljust(first), ""), (numbers, style if state == "met" else ""))
        yield from (((f"{GAP * 2}{line}", ""),) for line in titles[1:])
