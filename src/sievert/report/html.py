"""A page as one HTML file that needs nothing else: no script, no request, its own styles.

Texts are escaped by the template engine; pictures are SVG that we have drawn ourselves.
"""

import base64
import hashlib
import itertools
import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup, escape

from sievert.charts.rendering import TAG, can_draw, svg
from sievert.report import drawings
from sievert.report.page import Block, Chapter, Hundred, Link, Page, Points, walk
from sievert.version import __version__

HERE = Path(__file__).parent
MARK = "<!-- written by sievert -->"
DEEPEST = 6  # a heading below h6 there is not
STACKED = 3  # columns from which on a table is set as cards on a narrow screen
LONG = re.compile(r"[^\s-]{25}|(?=\S*[^\w\s.,:%()-])\S{16}")  # of a table: no word of a language
IDS = re.compile(r'\b(id="|url\(#|href="#)')
FALLBACK = re.compile(r"(var\(--[a-z-]+), #[0-9a-f]{6}\)")
GLUED = re.compile(r" (?=[%×])")
HYPHENED = re.compile(r"\b[klt]-(anonymity|diversity|[Cc]loseness|Anonymität|Diversität)\b")
WIDE = 760  # pixels of a chart on a screen
NARROW = 340  # on a telephone
CELL = 640  # in a notebook


def render(page: Page) -> str:
    """Write a page as one HTML file."""
    style = _style()
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    rendered = _render("page", page, style=Markup(style), digest=digest)  # noqa: S704 - ours
    return f"<!DOCTYPE html>\n{MARK}\n{rendered}\n"


def render_parts(page: Page) -> dict[str, Markup]:
    """Write the first screen and the chapters for a page with its own heading and styles."""
    parts = ("front", "chapters")
    return {name: Markup(_render(name, page)) for name in parts}  # noqa: S704 - by our templates


def _render(name: str, page: Page, **more: object) -> str:
    chapters = (b for b in walk((*page.front, *page.chapters)) if isinstance(b, Chapter))
    template = _environment(for_page=True).get_template(f"{name}.html.j2")
    return template.render(
        page=page,
        front=arrange(page.front),
        anchors={chapter.anchor for chapter in chapters},
        whole=name == "page",
        version=__version__,
        draw=_drawing(),
        draws=can_draw(),
        undrawn="" if can_draw() or not any(page.pictures()) else page.undrawn,
        **more,
    )


@cache
def _style() -> str:
    """The styles without comments and needless blanks."""
    text = re.sub(r"/\*.*?\*/", "", (HERE / "style.css").read_text(encoding="utf-8"))
    return re.sub(r"\s*([{};,])\s*", r"\1", re.sub(r"\s+", " ", text)).strip()


def fragment(*blocks: Any) -> str:
    """Blocks as a piece of HTML for a notebook, with the numbers of pictures as tables.

    Nothing in it has an id, as another cell could have the same; so no link leads anywhere.
    """
    template = _environment(for_page=False).get_template("fragment.html.j2")
    return str(template.render(blocks=blocks, anchors=(), draws=can_draw()))


def arrange(front: Sequence[Block | Chapter]) -> list[tuple[bool, list[Block | Chapter]]]:
    """The first screen in rows, and whether a row has two columns: findings, people beside them."""
    rows = itertools.groupby(front, key=lambda block: isinstance(block, Points | Hundred))
    return [(len(blocks) > 1 and beside, blocks) for beside, row in rows for blocks in [list(row)]]


def tidy(text: str) -> Markup:
    """Keep a line from breaking before a unit or within a term.

    >>> tidy("83 % have k-anonymity")
    Markup('83\\xa0% have <span class="whole">k-anonymity</span>')
    """
    plain = escape(GLUED.sub("\N{NO-BREAK SPACE}", str(text)))
    whole = HYPHENED.sub(r'<span class="whole">\g<0></span>', str(plain))
    return Markup(whole)  # noqa: S704 - escaped above


@cache
def _environment(*, for_page: bool) -> jinja2.Environment:
    rendered = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    rendered.globals |= {
        "drawn": _drawing,
        "widths": {"wide": WIDE, "narrow": NARROW} if for_page else {"cell": CELL},
        "heading": lambda level: f"h{min(level, DEEPEST)}",
        "drawings": drawings,
        "classes": _classes,
    }
    rendered.filters |= {
        "kind": lambda block: type(block).__name__,
        "stacked": lambda grid: len(grid.head) > STACKED,
        "tidy": tidy if for_page else escape,
        "parted": lambda key: Markup("_<wbr>").join(key.split("_")),
    }
    return rendered


def _classes(cell: str | Link, *names: str) -> Markup:
    """The classes of a cell: the given ones, and a mark for a word too long for any column."""
    text = cell.text if isinstance(cell, Link) else cell
    given = " ".join([name for name in (*names, "long" if LONG.search(text) else "") if name])
    return Markup(' class="{}"').format(given) if given else Markup()


def _drawing() -> Callable[[dict[str, Any], str, int], Markup]:
    """Return a function that draws the pictures of a page; ids differ between pictures."""
    numbers = itertools.count(1)

    def draw(spec: dict[str, Any], kind: str, width: int) -> Markup:
        text = svg(spec, width=width)
        text = text[text.index("<svg") :].replace('class="marks"', f'class="chart {kind}"', 1)
        apart = f"{hashlib.sha256(text.encode()).hexdigest()[:6]}-{next(numbers)}-"
        text = IDS.sub(rf"\g<1>p{apart}", text)
        if kind != "cell":  # the page has the colours
            text = TAG.sub(lambda tag: FALLBACK.sub(r"\1)", tag[0]), text)
        return Markup(text.strip())  # noqa: S704 - the renderer escapes names, and svg() titles

    return draw
