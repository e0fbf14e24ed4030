"""A page as one HTML file that needs nothing else: no script, no request, its own styles.

Texts are escaped by the template engine; pictures are SVG that we have drawn ourselves.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from sievert.charts.svg import svg
from sievert.report.page import Page

HERE = Path(__file__).parent
MARK = "<!-- written by sievert -->"
DEEPEST = 6  # a heading below h6 there is not
STACKED = 3  # columns from which on a table is set as cards on a narrow screen
IDS = re.compile(r'\b(id="|url\(#|href="#)')


def render(page: Page) -> str:
    """The whole file."""
    style = (HERE / "style.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    template = _environment().get_template("page.html.j2")
    rendered = template.render(page=page, style=Markup(style), digest=digest)  # noqa: S704 - ours
    return f"<!DOCTYPE html>\n{MARK}\n{rendered}\n"


def fragment(*blocks: Any) -> str:
    """Blocks as a piece of HTML for a notebook, with the numbers of pictures as tables."""
    return str(_environment().get_template("fragment.html.j2").render(blocks=blocks))


@cache
def _environment() -> jinja2.Environment:
    rendered = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    rendered.globals |= {"drawn": _drawing, "heading": lambda level: f"h{min(level, DEEPEST)}"}
    rendered.filters |= {
        "kind": lambda block: type(block).__name__,
        "stacked": lambda grid: len(grid.head) > STACKED,
    }
    return rendered


def _drawing() -> Callable[[dict[str, Any]], Markup]:
    """Draws the pictures of a page; what a picture names inside is named apart from the others."""
    numbers = itertools.count(1)

    def draw(spec: dict[str, Any]) -> Markup:
        text = svg(spec, for_page=True)
        text = IDS.sub(rf"\g<1>p{next(numbers)}-", text[text.index("<svg") :])
        return Markup(text.strip())  # noqa: S704 - the renderer escapes names, and svg() titles

    return draw
