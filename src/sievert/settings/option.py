"""One option: a field of a command's settings, with its type, default, sentence and heading.

The command line, its help, the completion in shells and the signature of the public function are
all made from these fields.
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from enum import Enum
from inspect import get_annotations
from pathlib import Path
from types import NoneType
from typing import Any, ClassVar, Literal, TypeVar, get_args, get_origin

from sievert.errors import UsageError

STDIN = "stdin:"
FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
# The order of a help page.
HEADINGS = (
    "Arguments",
    "Parameters",
    "Roles",
    "Attacks",
    "Reasoning",
    "Comparison",
    "Method",
    "Limit",
    "Release",
    "Subsets",
    "Population",
    "Reading",
    "Output",
    "Page",
    "Engine",
)
OUTPUT = "Output"  # under this heading a command's own files stand before those of all commands
Side = Literal["both", "command line", "python"]


class Unstated(Enum):
    """The default of an option for which a policy may say something else."""

    UNSTATED = "unstated"

    def __repr__(self) -> str:
        return "UNSTATED"


UNSTATED = Unstated.UNSTATED


class TablePath(Path):
    """The kind of options that name a table: a file, or an address."""


def _unchanged(given: Any, _flag: str) -> Any:
    return given


@dataclass(frozen=True, kw_only=True)
class TextReader:
    """How the texts of a command line become the value of an option."""

    kind: type[Any]  # of one text
    several: bool = False  # whether the option may be repeated
    convert: Callable[[Any, str], Any] = _unchanged  # of what was read, and of the option's name


@dataclass(frozen=True, kw_only=True)
class OptionFacts:
    """What a field declares besides its type and its default."""

    sentence: str
    in_python: str = ""  # what the reference of Python says, where it is something else
    heading: str = ""  # that of its group unless given
    flags: tuple[str, ...] = ()  # on the command line; from the field's name unless given
    reader: TextReader | None = None  # from the field's type unless given
    side: Side = "both"
    place: bool = False  # given by its place, not by a name
    hidden: bool = False
    file: bool = False  # a text that is the name of a file, unless it is -
    reads: bool = False  # names a table or another file that is read
    writes: bool = False  # names a file that is written


def option(sentence: str, *, default: Any = MISSING, **facts: Any) -> Any:
    """Declare an option: a field of a group of settings.

    `sentence` is its line of help; `facts` are the fields of `OptionFacts`. Without a `default` the
    option is required.
    """
    metadata = {"option": OptionFacts(sentence=sentence, **facts)}
    if isinstance(default, list | dict | set):
        return field(default_factory=default.copy, metadata=metadata)
    return field(default=default, metadata=metadata)


def redeclared(group: type[Any], name: str, **facts: Any) -> Any:
    """Declare the option `name` of a `group` again for one command, with some other `facts`."""
    known = {f.name: f for f in fields(group)}[name]
    metadata = {"option": replace(known.metadata["option"], **facts)}
    return field(default=known.default, metadata=metadata)


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One option as the command line has it."""

    field: str
    names: tuple[str, ...]  # of the option; of an argument, its name in capitals
    kind: type[Any]
    several: bool
    default: Any
    heading: str
    help: str
    choices: tuple[str, ...]
    hidden: bool
    file: bool  # for shells to complete
    reader: TextReader
    shared: bool  # whether its group belongs to several commands

    @property
    def positional(self) -> bool:
        """Whether the option is given by its place."""
        return not self.names[0].startswith("-")

    @property
    def required(self) -> bool:
        """Whether a command is incomplete without the option."""
        return self.default is MISSING and not self.several

    def read(self, text: str, name: str) -> Any:
        """Read one `text` that was typed for the option `name`."""
        if self.kind is bool and text.lower() in FLAGS:
            return FLAGS[text.lower()]
        if issubclass(self.kind, Path):
            text = STDIN if text == "-" else text
            return text if self.kind is TablePath else Path(text)
        try:
            if self.kind is not bool:
                return self.kind(text)
        except ValueError:
            pass
        what = f'unable to convert "{text}" into {self.kind.__name__}'
        raise UsageError(f"Invalid value for {name}: {what}")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a command is given: a frozen dataclass of options, or a group of them."""

    heading: ClassVar[str] = "Parameters"
    reference: ClassVar[str] = ""  # what the public function does, and an example
    in_order: ClassVar[tuple[str, ...]] = ()  # the options that it takes by their place

    def __post_init__(self) -> None:
        """Refuse a switch that is neither True nor False: the text "false" would count as true."""
        for f in fields(self):
            if f.type is bool and not isinstance(getattr(self, f.name), bool):
                raise UsageError(f"{f.name}: True or False", hint=f"{f.name}=True")


S = TypeVar("S", bound=Settings)


def parameters(command: type[Settings]) -> tuple[Parameter, ...]:
    """List the arguments and options of a command, in the order of its help page."""
    known = [
        _parameter(command, f.name, f.type, f.default, f.metadata["option"])
        for f in fields(command)
        if "option" in f.metadata and f.metadata["option"].side != "python"
    ]
    return tuple(sorted(known, key=_place_on_page))


def _place_on_page(parameter: Parameter) -> tuple[int, bool]:
    """Order by headings; a command's own options follow shared ones, but its outputs precede."""
    own_first = parameter.heading == OUTPUT
    return HEADINGS.index(parameter.heading), parameter.shared == own_first


def _parameter(
    command: type[Settings], name: str, annotation: Any, default: Any, given: OptionFacts
) -> Parameter:
    group = _group_of(command, name)
    reader = given.reader or TextReader(kind=_plain_kind(annotation))
    plainly = name.replace("_", "-")
    return Parameter(
        field=name,
        names=given.flags or ((plainly.upper() if given.place else f"--{plainly}"),),
        kind=reader.kind,
        several=reader.several,
        default=None if default is UNSTATED else default,
        heading=given.heading or ("Arguments" if given.place else group.heading),
        help=given.sentence,
        choices=_choices(annotation),
        hidden=given.hidden,
        file=given.file or issubclass(reader.kind, Path),
        reader=reader,
        shared=group is not command,
    )


def _group_of(command: type[Settings], name: str) -> type[Settings]:
    """Find the group that declares a field first: it gives the heading."""
    declaring = [c for c in command.__mro__ if name in get_annotations(c)]
    group: type[Settings] = declaring[-1]
    return group


def _choices(annotation: Any) -> tuple[str, ...]:
    """List the texts that a `Literal` allows."""
    for part in (annotation, *get_args(annotation)):
        if get_origin(part) is Literal:
            return tuple(text for text in get_args(part) if isinstance(text, str))
    return ()


def _plain_kind(annotation: Any) -> type[Any]:
    """Find the type of a text that needs no reader of its own."""
    if _choices(annotation):
        return str
    kinds = [kind for kind in get_args(annotation) or (annotation,) if kind is not NoneType]
    for kind in (bool, int, float, Path, str):
        if kind in kinds:
            return kind
    raise TypeError(f"an option of the type {annotation} needs a reader")


def from_command_line(command: type[S], places: list[Any], values: Mapping[Parameter, Any]) -> S:
    """Make the settings of a command from its arguments and options as they were typed."""
    given: dict[str, Any] = {}
    rest = list(places)
    for parameter in parameters(command):
        name = min(parameter.names, key=len)
        typed: Any = values.get(parameter, MISSING)
        if parameter.positional and parameter.several:
            typed = rest
        elif parameter.positional and rest:
            typed = rest.pop(0)
        if typed is not MISSING:
            given[parameter.field] = parameter.reader.convert(typed, name)
    return command(**given)


def split_paragraphs(text: str) -> list[str]:
    """Split a text into its paragraphs; indented paragraphs keep their line ends."""
    paragraphs = [part for part in text.strip("\n").split("\n\n") if part.strip()]
    return [p if p.startswith(" ") else " ".join(p.split()) for p in paragraphs]
