"""What a command takes, read from the signature and the docstring of its function.

A parameter is an argument of the function, or a field of a group of options: a frozen dataclass
with a `heading`. Its type, its default and its sentence are where a reader of the code looks for
them, and parsing, help and completion all come from here.
"""

from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from functools import cache
from inspect import cleandoc, signature
from pathlib import Path
from typing import Annotated, Any

from sievert.errors import UsageError
from sievert.settings.option import TablePath

STDIN = "stdin:"
TableName = str | Path  # always a text; the second for shells, which complete the names of files
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


@dataclass(frozen=True)
class Traits:
    """How an option differs from what its name and its type say.

    Choices are for help and for shells: what does not exist is for the library to say.
    """

    names: tuple[str, ...] = ()
    heading: str = ""
    choices: tuple[str, ...] = ()
    hidden: bool = False
    file: bool = False  # a text that is the name of a file, unless it is -


JsonFile = Annotated[str | None, Traits(file=True)]


@dataclass(frozen=True)
class FunctionParameter:
    """One parameter of a command."""

    argument: str  # of the function
    field: str  # of the group that is the argument, or nothing
    names: tuple[str, ...]  # of the option; of an argument, its name in capitals
    kind: type[Any]
    several: bool
    default: Any
    heading: str
    help: str
    choices: tuple[str, ...]
    hidden: bool
    file: bool  # for shells to complete

    @property
    def positional(self) -> bool:
        """Whether it is given by its place."""
        return not self.names[0].startswith("-")

    @property
    def required(self) -> bool:
        """Whether a command is incomplete without it."""
        return self.default is MISSING and not self.several

    def read(self, text: str, name: str) -> Any:
        """The value of a text."""
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


@cache
def parameters(function: Callable[..., Any]) -> tuple[FunctionParameter, ...]:
    """The parameters of a command, in the order of its function."""
    helps = read_docstring(function)[1]
    known: list[FunctionParameter] = []
    for name, given in signature(function).parameters.items():
        group = given.annotation
        if hasattr(group, "heading"):
            about = read_docstring(group)[1]
            known += [
                _parameter(f.name, f.type, f.default, about, argument=name, heading=group.heading)
                for f in fields(group)
            ]
            continue
        default = MISSING if given.default is given.empty else given.default
        place, several = given.kind is not given.KEYWORD_ONLY, given.kind is given.VAR_POSITIONAL
        known.append(_parameter(name, group, default, helps, place=place, several=several))
    return tuple(known)


def _parameter(
    name: str,
    annotation: Any,
    default: Any,
    helps: dict[str, str],
    *,
    argument: str = "",
    heading: str = "Parameters",
    place: bool = False,
    several: bool = False,
) -> FunctionParameter:
    option = next(iter(getattr(annotation, "__metadata__", ())), Traits())
    plain = annotation.__origin__ if hasattr(annotation, "__metadata__") else annotation
    kinds = [kind for kind in getattr(plain, "__args__", (plain,)) if kind is not type(None)]
    many = getattr(kinds[0], "__origin__", None) is list
    kind = TablePath if len(kinds) > 1 else kinds[0].__args__[0] if many else kinds[0]
    plainly = name.rstrip("_").replace("_", "-")
    return FunctionParameter(
        argument or name,
        name if argument else "",
        option.names or ((plainly.upper() if place else f"--{plainly}"),),
        kind,
        several or many,
        default,
        option.heading or ("Arguments" if place else heading),
        helps.get(name, ""),
        option.choices,
        option.hidden,
        option.file or issubclass(kind, Path),
    )


def read_docstring(described: Any) -> tuple[list[str], dict[str, str]]:
    """The paragraphs of a docstring, the indented ones as they are, and what its list explains."""
    text = cleandoc(described.__doc__ or "")
    text, _, listed = text.replace("\nAttributes\n---", "\nParameters\n---").partition(
        "\nParameters\n----------\n"
    )
    helps: dict[str, str] = {}
    name = ""
    for line in listed.splitlines():
        if line[:1].strip():
            name = line.strip()
        elif line.strip():
            helps[name] = f"{helps.get(name, '')} {line.strip()}".strip()
    paragraphs = (part for part in text.strip("\n").split("\n\n") if part.strip())
    return [p if p.startswith(" ") else " ".join(p.split()) for p in paragraphs], helps
