"""Messages on stderr: every error is one line of our own words, with nothing from the data."""

import os
import sys
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import TextIO

from sievert.cli import parser
from sievert.errors import (
    INTERNAL_AND_SHARED,
    NOT_SHAREABLE,
    ExhaustedError,
    InvariantError,
    SievertError,
    is_out_of_memory,
)
from sievert.formatting import ENGLISH, nearest
from sievert.sources.isolation import is_short_of_addresses

# Options whose texts may be values of the data.
OF_VALUES = ("na", "suppressed", "value", "alpha_value", "domain")
MOST_LOOKED_AT = 10_000  # files of a directory that are compared with a mistyped name

# Errors that say nothing about the data: with --share they are shown as they are.
ABOUT_SHARING = (*NOT_SHAREABLE.values(), INTERNAL_AND_SHARED)
INTERNAL = "note: --internal is no longer needed: every output is internal without --share\n"
PLAINLY = {
    2: "an option, a role or the policy does not make sense",
    3: "the data cannot be read as they stand",
    5: "memory, disk or time ran out",
    6: "the engine failed, or the data made a reader fail",
    7: "refused for safety",
    70: "a defect of sievert itself",
}


def tell(text: str) -> None:
    """Print a text on stderr; if it cannot be written, nothing else changes."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError):
        forget(sys.stderr)


def say(text: str) -> None:
    """Print a text on stdout; if the reader has stopped, the exit code stays the same."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        forget(sys.stdout)


def forget(stream: TextIO) -> None:
    """Discard what is still in the buffer, so that the program does not fail again at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def in_our_words(error: Exception) -> SievertError:
    """Turn any exception into an error of our own."""
    match error:
        case SievertError():
            return _with_the_nearest_file(error)
        case _ if is_out_of_memory(error) or is_short_of_addresses():
            return ExhaustedError("out of memory", hint="--memory with a smaller size")
        case OSError():
            return ExhaustedError(f"the output cannot be written: {error.strerror}")
    return InvariantError(
        f"a defect of sievert itself ({type(error).__name__})",
        hint="the same command with --debug, and report what it shows",
    )


def _with_the_nearest_file(error: SievertError) -> SievertError:
    """Add a hint to an error about a missing file: a file of its directory with a similar name."""
    cause = error.__context__
    if error.hint is not None or not isinstance(cause, FileNotFoundError) or not cause.filename:
        return error
    path = Path(os.fsdecode(cause.filename))
    if not path.name or not error.what.startswith(path.name):  # an error about something else
        return error
    try:
        with os.scandir(path.parent) as entries:
            names = [entry.name for entry in islice(entries, MOST_LOOKED_AT)]
    except OSError:
        return error
    stems = {Path(name).stem: name for name in names}
    close = nearest(path.name, names)
    if close is None or (Path(close).suffix and nearest(path.stem, stems) is None):
        return error  # the same suffix alone does not make names similar
    place = path.parent / close
    here = Path.cwd()
    shown = place.relative_to(here) if place.is_relative_to(here) else place
    return type(error)(error.what, hint=str(shown))


def command_line(arguments: Iterable[str], error: SievertError) -> str:
    """Write the command to go on with: what was typed, and the hint.

    Options that may have values of the data are not repeated.
    """
    command, places, values = parser.read(arguments)
    kept = {p: v for p, v in values.items() if p.field not in OF_VALUES}
    more = "" if len(kept) == len(values) else " ..."
    words = [parser.spell(f"sievert {command}", places), error.hint, parser.spell("", (), kept)]
    return " ".join(filter(None, words)) + more


def language_of(arguments: Iterable[str]) -> str:
    """The language that the arguments name."""
    return next((v for p, v in parser.read(arguments)[2].items() if p.field == "language"), ENGLISH)


def to_be_shared(arguments: Iterable[str]) -> bool:
    """Tell whether others may see the output, by the option --share."""
    return any(token.partition("=")[0] == "--share" for token in arguments)
