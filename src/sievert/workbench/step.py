"""A step of the workbench: what it may choose, which commands it needs, what its page shows."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from sievert.report.texts import Texts
from sievert.workbench.choices import Choices

Argv: TypeAlias = tuple[str, ...]  # of a command, without "sievert" and without --json
# States on the rail.
MET = "met"
DOUBTFUL = "doubtful"
OPEN = "open"


class Form:
    """The fields of a form that was sent: texts by name, each perhaps several times."""

    def __init__(self, fields: Mapping[str, Sequence[str]]) -> None:
        self._fields = fields

    def one(self, name: str, default: str = "") -> str:
        """The text of a field; the last one, where there are several."""
        values = self._fields.get(name)
        return values[-1].strip() if values else default

    def many(self, name: str) -> tuple[str, ...]:
        """All texts of a field."""
        return tuple(self._fields.get(name, ()))

    def beginning(self, prefix: str) -> dict[str, str]:
        """The texts of all fields whose names begin so, by the rest of the name."""
        return {
            name.removeprefix(prefix): self.one(name)
            for name in self._fields
            if name.startswith(prefix)
        }


class ResultLookup(Protocol):
    """What commands have given so far."""

    def get(self, argv: Argv) -> Any:
        """The JSON of a command; None where it has not ended well yet."""

    def error(self, argv: Argv) -> str | None:
        """The line of a command that failed."""

    def running(self, argv: Argv) -> bool:
        """Whether a command runs or waits for its turn."""


@dataclass(frozen=True, kw_only=True)
class View:
    """What a page is made of: the choices, what commands have given, the texts."""

    choices: Choices
    results: ResultLookup
    texts: Texts
    outcome: str = ""  # the line of this step's last action, if it failed
    sent: Form | None = None  # a form that was refused: the page shows it as it was filled in

    @property
    def show_values(self) -> bool:
        """Whether pages may name values of the data."""
        return bool(self.choices.text("load", "show_values"))

    def get(self, argv: Argv) -> Any:
        """The JSON of a command; None where it has not ended well yet."""
        return self.results.get(argv)


@dataclass(frozen=True, kw_only=True)
class Action:
    """A command that writes a file: it is run once, and changes the choices when it has ended."""

    argv: Argv
    known_by: Argv = ()  # the same without a file: it may tell enough
    then: Callable[[Choices], Choices] = lambda choices: choices
    inputs: Mapping[str, Argv] = field(default_factory=dict)  # private files: results of commands
    accepted: Collection[int] = (0, 1)  # exit codes after which there is a file
    kept: Choices | None = None  # what the form says, chosen even if the command fails
    refusal: str = ""  # said instead of running it


@dataclass(frozen=True)
class WrittenFile:
    """A file that was written, and how it is made again."""

    path: str
    argv: Argv
    inputs: Mapping[str, Argv] = field(default_factory=dict)  # private files: results of commands
    outdated: bool = False  # made under other choices: it would not be the same file


@dataclass(frozen=True, kw_only=True)
class Step:
    """One page of the workbench, with its name in the address."""

    name: str
    context: Callable[[View], dict[str, Any]]
    status: Callable[[View], tuple[str, str]]
    change: Callable[[Choices, Form], Choices] = lambda choices, _form: choices
    commands: Callable[[Choices], tuple[Argv, ...]] = lambda _: ()
    act: Callable[[Choices, Form], Action | None] = lambda _choices, _form: None
    settings: Collection[str] = ()
    files: Callable[[Choices], tuple[WrittenFile, ...]] = lambda _: ()  # that were written so far
    further: Callable[[View], tuple[Argv, ...]] = lambda _: ()  # that earlier results ask for

    @property
    def template(self) -> str:
        """The file of the page's template."""
        return f"{self.name}.html.j2"


def known_settings(steps: Sequence[Step]) -> dict[str, Collection[str]]:
    """The settings that a session may have, by step."""
    return {step.name: step.settings for step in steps}
