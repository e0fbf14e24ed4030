"""One call of a command: its outputs are checked, its work is done, its result is written."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

from sievert.cli.messages import INTERNAL, say, tell
from sievert.errors import INTERNAL_AND_SHARED, NOT_SHAREABLE
from sievert.result import DescribedResult, DocumentResult, Result, ShownResult
from sievert.session import Steps, no_progress
from sievert.settings.command import DocumentCommand, LinesCommand, PageCommand
from sievert.settings.groups import EngineSettings, ReadingSettings, RoleSettings, hierarchy_files
from sievert.settings.option import Parameter, parameters

R = TypeVar("R")
S = TypeVar("S")
SHAREABLE = ("assess", "compare")  # the commands whose verdicts may be shared


@dataclass(frozen=True, kw_only=True)
class PageCall:
    """A call of a command whose result is a page."""

    name: str
    settings: PageCommand
    typed: Mapping[Parameter, Any]  # the options as they were typed
    run: Callable[[Any, Steps], Result]

    def work(self) -> int:
        """Do the work, write and print the result; return the exit code."""
        from sievert.cli.outputs import Outputs

        settings = self.settings
        settings.check_output()
        settings.check_page()
        settings.check()
        if settings.share:
            self._check_sharing()
        settings.check_one_stdin()
        settings.check_roles()
        settings.gate.check_policy(settings.policy)
        if settings.internal and settings.share:
            raise INTERNAL_AND_SHARED
        outputs = Outputs(settings, self._inputs())
        result = watched(self.run, settings.as_typed(), shown=True)
        passed = result.passed
        shown: ShownResult = result
        if settings.share:
            min_cell = 10 if settings.min_cell is None else settings.min_cell
            shown = result.share(min_cell=min_cell, mask_names=settings.mask_names)
        if settings.is_announced:
            outputs.announce_tables()
        line = "" if settings.share else self._release_command(result)
        from sievert.report.builder import ResultPages
        from sievert.report.parts import ResultContent

        pages = ResultPages(ResultContent(shown), settings.language, line)
        outputs.write(pages, timed=result)
        outputs.write_limits(pages.result, settings.policy)
        if settings.json != "-":
            from sievert.report import terminal

            say(terminal.for_stdout(pages.screen(), everything=settings.everything))
        return 0 if passed else 1

    def _check_sharing(self) -> None:
        """Refuse what is not shareable: charts, and commands that give no verdict."""
        if self.name not in SHAREABLE:
            raise NOT_SHAREABLE[self.name]
        if self.settings.chart_folder is not None:
            raise NOT_SHAREABLE["charts"]
        if self.name == "compare" and self.settings.policy is None:
            raise NOT_SHAREABLE["compare"]

    def _inputs(self) -> list[Any]:
        """List the files that are read, and the files that a policy or a hierarchy names."""
        hierarchies = [t for p, t in self.typed.items() if p.field == "hierarchies"]
        texts = hierarchies[0] if hierarchies else []
        return [*self.settings.read_files(), *hierarchy_files(texts, self.settings.policy)]

    def _release_command(self, result: Result) -> str:
        """Write the command that makes the best release, for the directory of this command."""
        if not result.offers_release:
            return ""
        from sievert.cli.parser import settings_of, spell

        groups = (RoleSettings, ReadingSettings, EngineSettings)
        shared = {f.name for group in groups for f in fields(group)} - {"alpha_value"}
        shared |= {"population_size", "language"}
        typed = {p.field: v for p, v in self.typed.items() if p.field in shared and _changes(p, v)}
        place = next(p for p in parameters(type(self.settings)) if p.positional)
        table = str(getattr(self.settings, place.field))
        known = {p.field: p for p in parameters(settings_of("protect"))}
        release = next(p for p in known.values() if "-o" in p.names)
        values = {known[name]: value for name, value in typed.items() if name in known}
        values[release] = _release_name(table)
        given = [p for p in known.values() if p in values]
        given.sort(key=lambda p: (p.heading != RoleSettings.heading, p.shared))
        return spell("sievert protect", [table], {p: values[p] for p in given})


@dataclass(frozen=True, kw_only=True)
class LinesCall:
    """A call of a command whose result is a few lines of text."""

    settings: LinesCommand
    run: Callable[[Any, Steps], DescribedResult]

    def work(self) -> int:
        """Do the work, write its JSON and print its lines; return the exit code."""
        from sievert.cli.outputs import check_outputs, write_json

        settings = self.settings
        settings.check()
        inputs = settings.read_files()
        check_outputs([settings.json], inputs, force=settings.force)
        result = watched(self.run, settings.as_typed(), shown=settings.shows_progress)
        if settings.json is not None:
            write_json(settings.json, result.to_dict(), inputs, force=settings.force)
        if settings.is_printed:
            say(f"{result.describe(settings.language)}\n")
        return 0 if result.passed else settings.failure_code


@dataclass(frozen=True, kw_only=True)
class DocumentCall:
    """A call of a command whose result is a document, such as a page of saved results."""

    settings: DocumentCommand
    run: Callable[[Any, Steps], DocumentResult]

    def work(self) -> int:
        """Do the work, write its JSON and its page, and print its text; return the exit code."""
        from sievert.cli.outputs import check_outputs, write_json, write_page

        settings = self.settings
        settings.check()
        if settings.internal:
            tell(INTERNAL)
        inputs = settings.read_files()
        outputs = (settings.json, settings.html, settings.markdown)
        check_outputs(outputs, inputs, force=settings.force)
        result = watched(self.run, settings, shown=settings.shows_progress)
        if settings.json is not None:
            write_json(settings.json, result.to_dict(), inputs, force=settings.force)
        if settings.has_page:
            write_page(result.page(), settings, inputs, force=settings.force)
        if settings.json != "-":
            say(result.text())
        return 0


def watched(run: Callable[[S, Steps], R], settings: S, *, shown: bool) -> R:
    """Run a command; its steps are `shown` on stderr if they take longer than a second."""
    if not shown:
        return run(settings, no_progress)
    from sievert.cli.progress import Watch

    with Watch() as watch:
        return run(settings, watch)


def _changes(parameter: Parameter, value: Any) -> bool:
    """Tell whether a typed value differs from the default; a flag differs if it is set."""
    return bool(value if parameter.kind is bool else value != parameter.default)


def _release_name(table: str) -> str:
    """Name the file of a release so that it does not take the place of the table.

    >>> _release_name("data/adult.csv.gz"), _release_name("release.csv"), _release_name("-")
    ('adult_release.csv', 'new_release.csv', 'release.csv')
    """
    name = Path(table).name.partition(".")[0]
    if name == "release":
        return "new_release.csv"
    return f"{name}_release.csv" if re.fullmatch(r"\w[\w-]*", name) else "release.csv"
