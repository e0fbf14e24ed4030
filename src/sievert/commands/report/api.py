"""A page of results: those of this session, and those that were saved as JSON."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any

from sievert import files
from sievert.commands.report.saved_results import SavedResult, as_saved, read
from sievert.errors import UsageError
from sievert.report import builder
from sievert.report.builder import Place, write
from sievert.report.page import Page


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

    A result is what assess, explain, attack, compare, compromise or limit return, or the path of a
    JSON file that one was saved to. The page is shareable unless `internal`.
    """
    single = isinstance(results, str | os.PathLike | Mapping) or hasattr(results, "to_dict")
    results = [results] if single else list(results)
    if html is None and markdown is None:
        raise UsageError("no file given", hint="html='report.html' or markdown='report.md'")
    settings = builder.ReportSettings(
        internal, title, None if texts is None else os.fspath(texts), min_cell, mask_names
    )
    sources = [*(r for r in results if isinstance(r, str | os.PathLike)), texts]
    for path in (html, markdown):
        if path is not None:
            files.check(path, sources=sources, force=force)
    write(build_page(results, settings), html, markdown, sources=sources, force=force)


def build_page(results: Sequence[Any], settings: builder.ReportSettings | None = None) -> Page:
    """One page of results, of paths that results were saved to, or of their JSON."""
    saved = [read(os.fspath(r)) if isinstance(r, str | os.PathLike) else r for r in results]
    with as_saved() if any(isinstance(r, str | os.PathLike) for r in results) else nullcontext():
        return builder.build(
            [SavedResult(r) if isinstance(r, Mapping) else r for r in saved], settings
        )
