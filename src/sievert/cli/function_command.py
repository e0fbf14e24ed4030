"""One call of a command whose options are arguments of a function."""

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sievert import files
from sievert.cli.messages import say, tell
from sievert.cli.options import (
    EngineOptions,
    GateOptions,
    OutputOptions,
    PageOptions,
    ReadingOptions,
    RoleOptions,
)
from sievert.cli.outputs import (
    Draw,
    _check_charts,
    _version,
    announce,
    check_outputs,
    timings,
    write_json,
    write_page,
)
from sievert.cli.parameters import STDIN, TableName
from sievert.errors import NOT_SHAREABLE, require
from sievert.formatting import printable
from sievert.result import Result

if TYPE_CHECKING:
    from sievert.report.builder import ReportSettings, ResultPages
    from sievert.report.parts import ResultContent


@dataclass(frozen=True)
class FunctionCall:
    """One call of a command, with the options that all of them have."""

    name: str
    roles: RoleOptions
    reading: ReadingOptions
    output: OutputOptions
    page: PageOptions
    engine: EngineOptions
    charts: Path | None
    gate: GateOptions = GateOptions()

    def check_tables(self, *tables: TableName | None) -> list[str]:
        """The tables; standard input holds one of them only."""
        if self.output.share:
            self._check_sharing()
        given = [str(t) for t in tables if t is not None]
        require(
            given.count(STDIN) <= 1, "standard input holds one table", hint="files for the others"
        )
        return given

    def _check_sharing(self) -> None:
        """Nothing is shareable of a command that gives no verdict, nor of its charts."""
        if self.name not in ("assess", "compare"):
            raise NOT_SHAREABLE[self.name]
        if self.charts is not None:
            raise NOT_SHAREABLE["charts"]
        if self.name == "compare" and self.roles.policy is None:
            raise NOT_SHAREABLE["compare"]

    def check_roles(self) -> dict[str, Any]:
        """The roles as the library takes them; some options go with other commands only."""
        roles = self.roles.arguments()
        require(
            self.name == "assess" or not roles.pop("parameters"),
            "--alpha-value goes with assess",
        )
        require(
            self.name not in ("ledger", "sketch") or not roles.pop("hierarchies"),
            "--hierarchy goes with assess, explain and compare",
        )
        return roles

    def run(
        self,
        tables: list[str],
        *arguments: Any,
        function: str | None = None,
        inputs: Iterable[Any] = (),
        files: Iterable[Path | None] = (),
        announced: bool = False,
        **options: Any,
    ) -> int:
        """Call the command's function in the library, and write and print what it returns."""
        from sievert.cli.progress import Watch

        output, roles = self.output, self.check_roles()
        self.gate.check_policy(self.roles.policy)
        every = [*tables, *self.roles.files, *inputs]
        outputs = FunctionOutputs(
            output, self.page, every, *files, charts_to=self.charts, gate=self.gate
        )
        api = import_module(f"sievert.commands.{self.name}.api")
        with Watch() as watch:
            result = getattr(api, function or self.name)(
                *arguments,
                watch=watch,
                **options,
                **roles,
                **self.reading.arguments(),
                **self.engine.arguments(),
            )
            code = 0 if getattr(result, "passed", True) else 1
            if output.share:
                min_cell = 10 if output.min_cell is None else output.min_cell
                result = result.share(min_cell=min_cell, mask_names=output.mask_names)
        if announced:
            outputs.announce_tables()
        from sievert.report.builder import ResultPages
        from sievert.report.parts import ResultContent

        pages = ResultPages(ResultContent(result), output.language)
        outputs.write(pages, result.charts, timed=result)
        outputs.write_limits(pages.result, self.roles.policy)
        if output.json_ != "-":
            from sievert.report import terminal

            say(terminal.for_stdout(pages.screen(), everything=output.all_))
        return code


class FunctionOutputs:
    """The outputs of one command: checked when made, written in the end."""

    def __init__(
        self,
        output: OutputOptions,
        page: PageOptions,
        inputs: list[Any],
        *others: Path | None,
        charts_to: Path | None = None,
        gate: GateOptions = GateOptions(),
    ) -> None:
        self.output, self.page, self.charts_to, self.gate = output, page, charts_to, gate
        self.inputs = [i for i in (*inputs, page.texts) if i is not None]
        require(
            (not output.mask_names and output.min_cell is None) or output.share,
            "--mask-names and --min-cell go with --share",
        )
        page.check_internal(share=output.share)
        self.settings = _settings(output, page)
        self.before = {path: _version(path) for path in others if path is not None}
        given = (output.json_, output.timings, page.html, page.markdown, gate.junit, gate.sarif)
        paths = check_outputs((*given, *others), self.inputs, force=output.force)
        page.check_endings()
        if charts_to is not None:
            _check_charts(charts_to, self.inputs, paths)

    def announce_tables(self) -> None:
        """Say which tables the library has written, and which are those of an earlier run."""
        for path, before in self.before.items():
            if _version(path) != before:
                announce(path)
            elif before is not None:
                tell(f"not written: {printable(str(path))} is from an earlier run\n")

    def write(self, pages: "ResultPages", draw: Draw, *, timed: Result) -> None:
        """Write numbers first: whatever a page or a picture fails of, they are there.

        `draw` makes the charts, and `timed` knows how long each step took.
        """
        output = self.output
        force = output.force
        if self.charts_to is not None:
            from sievert import charts

            specs = draw()
            hint = "--attacks, -q COLUMNS, or a secret of numbers"
            require(specs, "no chart can be drawn of this", hint=hint)
            charts.check(self.charts_to, specs, sources=self.inputs, force=force)
        if output.json_ is not None:
            write_json(output.json_, pages.result.content, self.inputs, force=force)
        if output.timings is not None:
            write_json(output.timings, timings(timed), self.inputs, force=force)
        if self.settings is not None:
            write_page(pages.page(self.settings), self.page, self.inputs, force=force)
        if self.charts_to is not None:
            for chart in charts.write(self.charts_to, specs, sources=self.inputs, force=force):
                announce(chart)

    def write_limits(self, result: "ResultContent", policy: Path | None) -> None:
        """Write the limits of a policy for a pipeline."""
        if policy is None or (self.gate.junit is None and self.gate.sarif is None):
            return
        from sievert.report import pipeline

        place = None if self.output.share else policy
        for path, text in ((self.gate.junit, pipeline.junit), (self.gate.sarif, pipeline.sarif)):
            if path is not None:
                written = text(result.content, place)
                files.write_text(path, written, sources=self.inputs, force=self.output.force)


def _settings(output: OutputOptions, page: PageOptions) -> "ReportSettings | None":
    if not page.exists:
        return None
    from sievert.report.builder import ReportSettings
    from sievert.report.texts import read_texts

    read_texts(page.texts)  # so that a mistake in it is an error before the work
    return ReportSettings(
        output.share,
        page.title,
        page.texts,
        output.min_cell,
        output.mask_names,
        output.language,
    )
