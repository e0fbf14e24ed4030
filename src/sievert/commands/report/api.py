"""A page of results: those of this session, and those that were saved as JSON."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sievert import files
from sievert.errors import InputError, require
from sievert.formatting import ENGLISH
from sievert.formatting.recognition import recognise_all
from sievert.report import builder
from sievert.report.builder import Place, write
from sievert.report.page import Page
from sievert.sharing import command_name


def write_report(
    results: Any,
    *,
    html: Place | None = None,
    markdown: Place | None = None,
    share: bool = False,
    internal: bool = False,
    title: str | None = None,
    texts: Place | None = None,
    min_cell: int | None = None,
    mask_names: bool = False,
    language: str = ENGLISH,
    force: bool = False,
) -> None:
    """Write one result, or several, as one page to decide from.

    A result is what assess, explain, attack, compare, compromise or limit return, or the path of a
    JSON file that one was saved to. The page is exact, and marked as internal; with `share` it is
    short and shareable: verdicts, and numbers that one person can hardly move. `internal` is what
    a page is without `share`: the word is no longer needed. `language` is "en" or "de".
    """
    require(not (share and internal), "a page is internal or shareable")
    single = isinstance(results, str | os.PathLike | Mapping) or hasattr(results, "to_dict")
    results = [results] if single else list(results)
    require(
        html is not None or markdown is not None,
        "no file given",
        hint="html='report.html' or markdown='report.md'",
    )
    settings = builder.ReportSettings(
        share, title, None if texts is None else os.fspath(texts), min_cell, mask_names, language
    )
    sources = [*(r for r in results if isinstance(r, str | os.PathLike)), texts]
    for path in (html, markdown):
        if path is not None:
            files.check(path, sources=sources, force=force)
    write(build_page(results, settings), html, markdown, sources=sources, force=force)


def build_page(results: Sequence[Any], settings: builder.ReportSettings | None = None) -> Page:
    """One page of results, of paths that results were saved to, or of their JSON."""
    paths = [r for r in results if isinstance(r, str | os.PathLike)]
    read = [_read_result(r) if isinstance(r, str | os.PathLike) else r for r in results]
    try:
        return builder.build(
            [SavedResult(r) if isinstance(r, Mapping) else r for r in read], settings
        )
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError, RecursionError):
        if not paths:
            raise
        # A file that was edited by hand, or is of another version, is bad input and no defect.
        raise InputError(
            "a saved result is not as sievert writes it", hint="write it again with --json"
        ) from None


def _read_result(given: Place) -> dict[str, Any]:
    """The JSON of one command, as it was written."""
    result: dict[str, Any] = files.read_json(given, "a file written with --json")
    require(
        isinstance(result, dict) and "sievert" in result and command_name(result) is not None,
        f"{Path(given).name}: not a result of sievert",
        hint="a file written with --json by assess, explain, attack, compare and their like",
        error=InputError,
    )
    return result


class SavedResult:
    """A result that was read from its JSON, whose sentences are remarks again."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.data: Mapping[str, Any] = recognise_all(data)

    def to_dict(self) -> Mapping[str, Any]:
        """The JSON, as it was written."""
        return self.data
