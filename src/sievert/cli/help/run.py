"""The pages of help: of all commands, and of one."""

import shutil
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import MISSING
from inspect import cleandoc

from sievert.cli.help.settings import HelpSettings
from sievert.cli.messages import say
from sievert.cli.parser import (
    COMMANDS,
    SUMMARIES,
    next_words,
    parameters_of,
    settings_of,
    split_command,
)
from sievert.settings.option import HEADINGS, Parameter, split_paragraphs

WIDEST = 100
ABOUT = """Measure how much a data release exposes the people in it.

Exit codes: 0 done; 1 a policy is not met or undecided; 2 usage; 3 input unreadable; 5 memory, disk
or time ran out; 6 the engine failed; 7 refused for safety; 70 a defect of sievert; 130, 143
interrupted.
"""


def run(settings: HelpSettings) -> int:
    """Show the page of a command, or that of all commands."""
    show_page(split_command(settings.command)[0])
    return 0


def show_page(command: str) -> None:
    """Print the page of a command, or of the words that several begin with."""
    say("\n".join(page(command, min(WIDEST, shutil.get_terminal_size().columns))) + "\n")


def paragraphs_of(command: str) -> list[str]:
    """Split the text on a command into paragraphs."""
    return split_paragraphs(cleandoc(settings_of(command).__doc__ or ""))


def summary(command: str) -> str:
    """The first sentence of a page."""
    return SUMMARIES.get(command) or paragraphs_of(command)[0]


def page(command: str, width: int = WIDEST) -> Iterator[str]:
    """The lines of a page."""
    if command not in COMMANDS:
        yield f"Usage: {' '.join(['sievert', *command.split(), 'COMMAND'])}"
        yield from _paragraphs([SUMMARIES[command]] if command else ABOUT.split("\n\n"), width)
        names = sorted(next_words(command))
        rows = [(name, summary(f"{command} {name}".strip())) for name in names]
        yield from _table("Commands", rows, width)
        if not command:
            options = (
                ("-h, --help", "Show this page, or that of a command."),
                ("--version", "Show the version."),
            )
            yield from _table("Options", options, width)
        return
    known = [p for p in parameters_of(command) if not p.hidden]
    places = (f"[{p.names[0]}...]" if p.several else p.names[0] for p in known if p.positional)
    words = ["sievert", command, *([] if all(p.positional for p in known) else ["[OPTIONS]"])]
    yield f"Usage: {' '.join([*words, *places])}"
    yield from _paragraphs(paragraphs_of(command), width)
    for heading in HEADINGS:
        yield from _table(heading, [_row(p) for p in known if p.heading == heading], width)


def _row(parameter: Parameter) -> tuple[str, str]:
    names = sorted(parameter.names, key=lambda name: (name.startswith("--"), -len(name)))
    kind = "" if parameter.positional or parameter.kind is bool else _kind(parameter)
    text = parameter.help
    if parameter.choices:
        text += f" [choices: {', '.join(parameter.choices)}]"
    # The default of an option that may be repeated is not a text that could be typed.
    given = parameter.default is not MISSING and parameter.default and not parameter.several
    if parameter.kind is not bool and given:
        text += f" [default: {parameter.default}]"
    return f"{', '.join(names)}{kind}", f"{text} [required]" if parameter.required else text


def _kind(parameter: Parameter) -> str:
    name = "PATH" if parameter.file else parameter.kind.__name__.upper()
    return f" {name}{'...' if parameter.several else ''}"


def _paragraphs(paragraphs: Iterable[str], width: int) -> Iterator[str]:
    for paragraph in paragraphs:
        yield ""
        yield from [paragraph] if paragraph.startswith(" ") else textwrap.wrap(paragraph, width)


def _table(heading: str, rows: Sequence[tuple[str, str]], width: int) -> Iterator[str]:
    """Names and their sentences; a long name has a line of its own."""
    if not rows:
        return
    yield from ("", f"{heading}:")
    longest = max(width // 3, min(len(name) for name, _ in rows))
    column = 4 + max(len(name) for name, _ in rows if len(name) <= longest)
    for name, text in rows:
        lines = textwrap.wrap(text, max(width - column, 20), break_on_hyphens=False)
        first = f"  {name}".ljust(column)
        yield f"{first}{lines.pop(0)}" if len(name) <= longest else first
        yield from (f"{' ' * column}{line}" for line in lines)
