"""A Vega-Lite dict as a static SVG: no script, no link, no font from elsewhere, the same bytes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from typing import Any

from sievert.charts.drawing import Spec
from sievert.charts.page_width import narrow
from sievert.errors import InvariantError, UsageError

MARK = "<!-- drawn by sievert -->"
NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
ROOT = re.compile(r"<svg\b([^>]*)>")


def svg(spec: Spec, *, for_page: bool = False) -> str:
    """The picture, with its title and its description for those who do not see it.

    For a page that sets the title itself it is narrower, without the title on it.
    """
    import vl_convert  # heavy, and needed only here

    if any(NOT_XML.search(text) for text in _texts(spec)):  # the renderer would end the process
        raise UsageError("a chart holds a character that no picture can show")
    try:
        drawn: str = vl_convert.vegalite_to_svg(
            narrow(spec) if for_page else spec, show_warnings=False, allowed_base_urls=[]
        )
    except (MemoryError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # a panic in Rust is no Exception; the messages may hold values
        raise InvariantError("a chart cannot be drawn") from None
    title = escape(" ".join(spec["title"]["text"]), quote=True)
    about = escape(spec["description"], quote=True)
    root = ROOT.match(drawn)
    if root is None:
        raise InvariantError("a chart was drawn, but not as SVG")
    head = f'{MARK}\n<svg role="img" aria-label="{title}"{root[1]}>'
    return f"{head}<title>{title}</title><desc>{about}</desc>{drawn[root.end() :]}\n"


def _texts(part: Any) -> Iterator[str]:
    """Every text in a dict of dicts and lists."""
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict):
        for key, value in part.items():
            yield str(key)
            yield from _texts(value)
    elif isinstance(part, list | tuple):
        for value in part:
            yield from _texts(value)
