"""Pages as files: whole or absent, never over an input."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from typing import Any

from sievert import files
from sievert.errors import UsageError
from sievert.report import builder, saved_results
from sievert.report import html as as_html
from sievert.report import markdown as as_markdown
from sievert.report.page import Page

Place = str | os.PathLike[str]


def write_report(
    results: Any,
    *,
    html: Place | None = None,
    markdown: Place | None = None,
    internal: bool = False,
    title: str | None = None,
    texts: Place | None = None,
    min_cell: int | None = None,
    mask_names: bool = False,
    force: bool = False,
) -> None:
    """Write one result, or several, as one page to decide from.

    A result is what assess, explain, attack, compare, compromise or randomise return, or the path
    of a JSON file that one was saved to. The page is fit to pass on unless `internal`.
    """
    given = [results] if _single(results) else list(results)
    if html is None and markdown is None:
        raise UsageError("no file given", hint="html='report.html' or markdown='report.md'")
    settings = builder.Settings(
        internal, title, None if texts is None else os.fspath(texts), min_cell, mask_names
    )
    sources = [r for r in given if isinstance(r, str | os.PathLike)]
    for path in (html, markdown):
        if path is not None:
            files.check(path, sources=[*sources, texts], force=force)
    held = [saved_results.read(os.fspath(r)) if r in sources else r for r in given]
    with saved_results.as_saved() if sources else nullcontext():
        page = builder.build(held, settings)
    write(page, html, markdown, sources=[*sources, texts], force=force)


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
    drawn = None if to_html is None else as_html.render(page)
    if to_html is not None and drawn is not None:
        files.write_text(to_html, drawn, sources=sources, force=force)
    if to_markdown is not None:
        files.write_text(to_markdown, as_markdown.render(page), sources=sources, force=force)


def _single(results: Any) -> bool:
    kinds = (str, os.PathLike, Mapping)
    return isinstance(results, kinds) or hasattr(results, "to_dict")
