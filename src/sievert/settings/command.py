"""What the command line knows of a command: what it reads and writes, and how it is run."""

import os
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

from sievert.errors import NOT_SHAREABLE, require
from sievert.formatting import ENGLISH
from sievert.settings.groups import (
    EngineSettings,
    GateSettings,
    Language,
    OutputSettings,
    PageSettings,
    Place,
    ReadingSettings,
    RoleSettings,
    check_page_endings,
)
from sievert.settings.option import STDIN, OptionFacts, Settings, option


@dataclass(frozen=True, kw_only=True)
class Command(Settings):
    """The settings of a command, which the command line fills and then runs."""

    def named(self, what: str) -> list[Any]:
        """List the values of the options for which `what` (reads, writes) is true."""
        values: list[Any] = []
        for f in fields(self):
            facts: OptionFacts | None = f.metadata.get("option")
            if facts is not None and getattr(facts, what):
                value = getattr(self, f.name)
                values += value if isinstance(value, list | tuple) else [value]
        return values

    def read_files(self) -> list[Any]:
        """List the tables and the other files that are read: no output may be one of them."""
        return [value for value in self.named("reads") if isinstance(value, str | os.PathLike)]

    def written_files(self) -> list[Path | None]:
        """List the files that the command itself writes, besides JSON and pages."""
        return [None if value is None else Path(value) for value in self.named("writes")]

    def check_one_stdin(self) -> None:
        """Refuse standard input for more than one table."""
        given = [str(value) for value in self.named("reads") if value is not None]
        require(
            given.count(STDIN) <= 1, "standard input holds one table", hint="files for the others"
        )


@dataclass(frozen=True, kw_only=True)
class PageCommand(
    EngineSettings, PageSettings, OutputSettings, ReadingSettings, RoleSettings, Command
):
    """The settings of a command that analyses a table, and whose result is a page."""

    def check(self) -> None:
        """Refuse combinations of options that only the command line has."""

    def check_roles(self) -> None:
        """Refuse options of the roles that only other commands read."""
        require(not self.alpha_value, "--alpha-value goes with assess")

    def as_typed(self) -> Self:
        """Return the settings of the work itself, where the command line means more by them."""
        return self

    @property
    def gate(self) -> GateSettings:
        """The files for a pipeline; none of a command whose answer is no gate."""
        return GateSettings()

    @property
    def chart_folder(self) -> Path | None:
        """The directory of charts, of commands that draw some."""
        return None

    @property
    def is_announced(self) -> bool:
        """Tell whether the files that were written are named on stderr."""
        return False

    def refuse_sharing(self, what: str) -> None:
        """Refuse --share for `what` is not shareable."""
        if self.share:
            raise NOT_SHAREABLE[what]

    def refuse_values(self) -> None:
        """Refuse --show-values where no output names values."""
        require(
            not self.show_values,
            "--show-values goes with explain and attacks: nothing here names values",
        )


@dataclass(frozen=True, kw_only=True)
class LinesCommand(Command):
    """The settings of a command whose result is a few lines of text.

    A command that has an option declares a field of its name; the properties are for the others.
    """

    @property
    def json(self) -> str | None:
        """The file of JSON; - is stdout."""
        return None

    @property
    def force(self) -> bool:
        """Whether a file that is there is replaced."""
        return False

    @property
    def language(self) -> str:
        """The language of the terminal."""
        return ENGLISH

    @property
    def is_printed(self) -> bool:
        """Tell whether the lines are printed: not if stdout has the JSON."""
        return self.json != "-"

    @property
    def failure_code(self) -> int:
        """The exit code where the answer is no."""
        return 1

    @property
    def shows_progress(self) -> bool:
        """Tell whether stderr shows what takes longer than a second."""
        return True

    def check(self) -> None:
        """Refuse combinations of options that only the command line has."""

    def as_typed(self) -> Self:
        """Return the settings of the work itself, where the command line means more by them."""
        return self


@dataclass(frozen=True, kw_only=True)
class ListCommand(LinesCommand):
    """The settings of a command whose result is a few lines of text, with the usual outputs."""

    json: str | None = option(
        "Write it to this file; - is stdout.",
        default=None,
        heading="Output",
        side="command line",
        file=True,
    )
    force: bool = option(
        "Replace an existing file that sievert has not written.", default=False, heading="Output"
    )
    language: Language = option(
        "The language of the terminal.", default=ENGLISH, heading="Output", side="command line"
    )
    debug: bool = option(
        "Show where in the program an error came up.",
        default=False,
        heading="Output",
        side="command line",
    )


@dataclass(frozen=True, kw_only=True)
class DocumentCommand(Command):
    """The settings of a command whose result is a document, such as a page of saved results.

    A command that has an option declares a field of its name; the properties are for the others.
    """

    @property
    def json(self) -> str | None:
        """The file of JSON; - is stdout."""
        return None

    @property
    def html(self) -> Place | None:
        """The file of the page as HTML."""
        return None

    @property
    def markdown(self) -> Place | None:
        """The file of the page as Markdown."""
        return None

    @property
    def force(self) -> bool:
        """Whether files that are there are replaced."""
        return False

    @property
    def internal(self) -> bool:
        """Whether --internal was typed, which is no longer needed."""
        return False

    @property
    def has_page(self) -> bool:
        """Tell whether the page is written to a file."""
        return self.html is not None or self.markdown is not None

    @property
    def shows_progress(self) -> bool:
        """Tell whether stderr shows what takes longer than a second."""
        return True

    def check(self) -> None:
        """Refuse combinations of options that only the command line has."""

    def check_endings(self, *, existing: bool = True) -> None:
        """Refuse a page whose name has another ending; with `existing` also of a file there is."""
        check_page_endings(self.html, self.markdown, existing=existing)


@dataclass(frozen=True, kw_only=True)
class TextCommand(Command):
    """The settings of a command that prints what it has to say."""
