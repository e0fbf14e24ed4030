"""The outputs of a command: checked before the work, and written after it, numbers first."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from sievert import files
from sievert.cli.messages import INTERNAL, say, tell
from sievert.errors import UsageError, require
from sievert.formatting import printable
from sievert.result import Result
from sievert.settings.command import PageCommand
from sievert.settings.groups import Place
from sievert.settings.option import STDIN
from sievert.version import __version__

if TYPE_CHECKING:
    from sievert.report.builder import ReportSettings, ResultPages
    from sievert.report.page import Page
    from sievert.report.parts import ResultContent


class PageFiles(Protocol):
    """Options that name the files of a page."""

    @property
    def html(self) -> Place | None:
        """The file of HTML."""

    @property
    def markdown(self) -> Place | None:
        """The file of Markdown."""

    def check_endings(self) -> None:
        """Refuse a page whose name has another ending."""


def as_json(content: Mapping[str, Any]) -> str:
    """Write JSON as a stable text: sorted keys, no NaN or infinity, one form for each number."""
    return json.dumps(content, sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def check_outputs(given: Iterable[Any], sources: Iterable[Any], *, force: bool) -> list[Path]:
    """List the files to write; refuse equal ones, inputs, and files of other programs."""
    require(
        not any(str(p) == STDIN for p in given if p is not None),
        "only --json can be written to standard output",
        hint="a file name",
    )
    paths = [Path(p) for p in given if p not in (None, "-")]
    require(len({p.resolve() for p in paths}) >= len(paths), "two outputs have the same name")
    for path in paths:
        try:
            files.check(path, sources=sources, force=force)
        except UsageError as error:
            if error.hint is not None:
                raise
            raise UsageError(error.what, hint="another name, in a directory that exists") from None
    return paths


def write_json(
    path: str | Path, content: Mapping[str, Any], sources: Iterable[Any], *, force: bool
) -> None:
    """Write JSON to a file; - is stdout."""
    if path == "-":
        say(as_json(content))
    else:
        files.write_text(path, as_json(content), sources=sources, force=force)


def announce(path: Path) -> None:
    """Say on stderr where a file is, and of a pairing file that it is private."""
    private = " (private: do not pass it on)" if path.name.endswith(files.PAIRING) else ""
    tell(f"written: {printable(str(path))}{private}\n")


class Outputs:
    """The outputs of one command: checked when made, written in the end."""

    def __init__(self, settings: PageCommand, inputs: Iterable[Any]) -> None:
        self.settings = settings
        self.inputs = [i for i in (*inputs, settings.texts) if i is not None]
        require(
            (not settings.mask_names and settings.min_cell is None) or settings.share,
            "--mask-names and --min-cell go with --share",
        )
        if settings.internal:
            tell(INTERNAL)
        self.page = _page_settings(settings)
        others = settings.written_files()
        self.before = {path: _version(path) for path in others if path is not None}
        gate = settings.gate
        given = (
            settings.json,
            settings.timings,
            settings.html,
            settings.markdown,
            gate.junit,
            gate.sarif,
        )
        paths = check_outputs((*given, *others), self.inputs, force=settings.force)
        settings.check_endings()
        if settings.chart_folder is not None:
            _check_charts(settings.chart_folder, self.inputs, paths)

    def announce_tables(self) -> None:
        """Say which tables this run has written, and which are from an earlier run."""
        for path, before in self.before.items():
            if _version(path) != before:
                announce(path)
            elif before is not None:
                tell(f"not written: {printable(str(path))} is from an earlier run\n")

    def write(self, pages: ResultPages, *, timed: Result) -> None:
        """Write numbers first, so that they are there even if a page or a chart fails.

        `timed` has the time of each step.
        """
        settings = self.settings
        force = settings.force
        folder = settings.chart_folder
        if folder is not None:
            from sievert import charts

            specs = pages.charts()
            hint = "--attacks, -q COLUMNS, or a secret of numbers"
            require(specs, "no chart can be drawn of this", hint=hint)
            charts.check(folder, specs, sources=self.inputs, force=force)
        if settings.json is not None:
            write_json(settings.json, pages.result.content, self.inputs, force=force)
        if settings.timings is not None:
            write_json(settings.timings, timings(timed), self.inputs, force=force)
        if self.page is not None:
            page_settings = replace(self.page, release_command=pages.release_command)
            write_page(pages.page(page_settings), settings, self.inputs, force=force)
        if folder is not None:
            for chart in charts.write(folder, specs, sources=self.inputs, force=force):
                announce(chart)

    def write_limits(self, result: ResultContent, policy: Any) -> None:
        """Write the limits of a policy for a pipeline."""
        gate = self.settings.gate
        if policy is None or not gate.is_gate:
            return
        from sievert.report import pipeline

        place = None if self.settings.share else Path(policy)
        for path, text in ((gate.junit, pipeline.junit), (gate.sarif, pipeline.sarif)):
            if path is not None:
                written = text(result.content, place)
                files.write_text(path, written, sources=self.inputs, force=self.settings.force)


def _version(path: Path) -> tuple[int, int] | None:
    """The facts by which a new version of a file differs; None if there is no file."""
    try:
        facts = path.stat()
    except OSError:
        return None
    return facts.st_ino, facts.st_mtime_ns


def _page_settings(settings: PageCommand) -> ReportSettings | None:
    """The settings of the page; None if no page is written."""
    if not settings.has_page:
        return None
    from sievert.report.builder import ReportSettings
    from sievert.report.texts import read_texts

    read_texts(settings.texts)  # a mistake in the file is an error before the work
    return ReportSettings(
        share=settings.share,
        title=settings.title,
        texts=settings.texts,
        min_cell=settings.min_cell,
        mask_names=settings.mask_names,
        language=settings.language,
    )


def write_page(page: Page, options: PageFiles, sources: list[Any], *, force: bool) -> None:
    """Write a page as HTML, as Markdown or both."""
    from sievert.report.builder import write

    options.check_endings()
    write(page, options.html, options.markdown, sources=sources, force=force)
    for path in (options.html, options.markdown):
        if path is not None:
            announce(Path(path))


def timings(result: Result) -> dict[str, Any]:
    """The seconds of a run and of its steps, and the memory that it used."""
    whole = sum(result.timings.values())
    return {
        "sievert": __version__,
        "seconds": dict(result.timings),
        "total": whole,
        "records_per_second": result.rows / whole if whole and result.rows else None,
        "peak_memory_bytes": dict(result.peaks),
    }


def _check_charts(folder: Path, inputs: list[Any], others: list[Path]) -> None:
    """Refuse a folder of charts that is an input, or another output, or has one in it."""
    require(str(folder) != STDIN, "charts are files in a directory", hint="--charts DIR")
    place = folder.resolve()
    taken = [other.resolve() for other in others]
    require(
        place not in taken
        and not any(t.parent == place and t.suffix.lower() == ".svg" for t in taken),
        "two outputs have the same name",
    )
    from sievert import charts

    charts.check(folder, sources=inputs)
