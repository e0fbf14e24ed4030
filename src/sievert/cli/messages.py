"""Every failure as one line of our own words, without anything that comes from the data."""

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
MOST_LOOKED_AT = 10_000  # files of a directory, for the one that was meant

# Errors that say nothing of the data: with --share they are shown as they are.
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
    """Say something on stderr; where that cannot be written, nothing else changes."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError):
        forget(sys.stderr)


def say(text: str) -> None:
    """Print on stdout; somebody who has stopped reading changes no exit code."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        forget(sys.stdout)


def forget(stream: TextIO) -> None:
    """What is still in the buffer cannot be written either; do not fail again at the exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def in_our_words(error: Exception) -> SievertError:
    """Every failure as one of ours."""
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
    """The same error; where a file is not there, with one of its directory that is called alike."""
    cause = error.__context__
    if error.hint is not None or not isinstance(cause, FileNotFoundError) or not cause.filename:
        return error
    path = Path(os.fsdecode(cause.filename))
    if not path.name or not error.what.startswith(path.name):  # of something else
        return error
    try:
        with os.scandir(path.parent) as entries:
            names = [entry.name for entry in islice(entries, MOST_LOOKED_AT)]
    except OSError:
        return error
    stems = {Path(name).stem: name for name in names}
    close = nearest(path.name, names)
    if close is None or (Path(close).suffix and nearest(path.stem, stems) is None):
        return error  # of two files, a suffix alone is nothing alike
    place, here = path.parent / close, Path.cwd()
    shown = place.relative_to(here) if place.is_relative_to(here) else place
    return type(error)(error.what, hint=str(shown))


def command_line(arguments: Iterable[str], error: SievertError) -> str:
    """The command to go on with: what was typed, and the hint.

    Options that may hold values of the data are not repeated.
    """
    command, places, values = parser.read(arguments)
    kept = {p: v for p, v in values.items() if p.field not in OF_VALUES}
    more = "" if len(kept) == len(values) else " ..."
    words = [parser.spell(f"sievert {command}", places), error.hint, parser.spell("", (), kept)]
    return " ".join(filter(None, words)) + more


def language_of(arguments: Iterable[str]) -> str:
    """The language that the arguments ask for."""
    return next((v for p, v in parser.read(arguments)[2].items() if p.field == "language"), ENGLISH)


def to_be_shared(arguments: Iterable[str]) -> bool:
    """Whether what is written may be seen by others."""
    return any(token.partition("=")[0] == "--share" for token in arguments)
