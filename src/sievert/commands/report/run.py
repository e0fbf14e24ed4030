"""A page of results, from this session or from saved JSON."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sievert import files
from sievert.commands.report.result import ResultsPage
from sievert.commands.report.settings import ReportPageSettings
from sievert.errors import InputError, require
from sievert.formatting.recognition import recognise_all
from sievert.report import builder
from sievert.report.builder import Place
from sievert.report.page import Page
from sievert.session import Steps, no_progress
from sievert.sharing import command_name


def run(settings: ReportPageSettings, watch: Steps = no_progress) -> ResultsPage:
    """Build one page of the results that were saved; `watch` is told nothing."""
    page = build_page(settings.results, page_settings(settings))
    return ResultsPage(content=page, has_file=settings.has_page)


def write(settings: ReportPageSettings) -> None:
    """Write one page of results to the files that are named."""
    require(not (settings.share and settings.internal), "a page is internal or shareable")
    results = listed_results(settings.results)
    require(settings.has_page, "no file given", hint="html='report.html' or markdown='report.md'")
    sources = [*(r for r in results if isinstance(r, str | os.PathLike)), settings.texts]
    how = page_settings(settings)
    for path in (settings.html, settings.markdown):
        if path is not None:
            files.check(path, sources=sources, force=settings.force)
    builder.write(
        build_page(results, how),
        settings.html,
        settings.markdown,
        sources=sources,
        force=settings.force,
    )


def listed_results(given: Any) -> list[Any]:
    """List what was given: one result, its JSON or a path, or several of them."""
    single = isinstance(given, str | os.PathLike | Mapping) or hasattr(given, "to_dict")
    return [given] if single else list(given)


def page_settings(settings: ReportPageSettings) -> builder.ReportSettings:
    """Collect what the settings say of the page."""
    return builder.ReportSettings(
        share=settings.share,
        title=settings.title,
        texts=None if settings.texts is None else os.fspath(settings.texts),
        min_cell=settings.min_cell,
        mask_names=settings.mask_names,
        language=settings.language,
    )


def build_page(results: Sequence[Any], settings: builder.ReportSettings | None = None) -> Page:
    """Build one page of results, of paths that results were saved to, or of their JSON."""
    paths = [r for r in results if isinstance(r, str | os.PathLike)]
    read = [_read_result(r) if isinstance(r, str | os.PathLike) else r for r in results]
    try:
        saved = [SavedResult(r) if isinstance(r, Mapping) else r for r in read]
        return builder.build(saved, settings)
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError, RecursionError):
        if not paths:
            raise
        # A file that was edited by hand, or is of another version, is bad input and no defect.
        raise InputError(
            "a saved result is not as sievert writes it", hint="write it again with --json"
        ) from None


def _read_result(given: Place) -> dict[str, Any]:
    """Read the JSON of one command, as it was written."""
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
