"""Pages as files: whole or absent, never over an input."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from sievert import files
from sievert.report import html, markdown
from sievert.report.page import Page

Place = str | os.PathLike[str]


def write(
    page: Page,
    to_html: Place | None,
    to_markdown: Place | None,
    *,
    sources: Iterable[Any] = (),
    force: bool = False,
) -> None:
    """A page in one form or both."""
    sources = list(sources)
    for path, renderer in ((to_html, html), (to_markdown, markdown)):
        if path is not None:
            files.write_text(path, renderer.render(page), sources=sources, force=force)
