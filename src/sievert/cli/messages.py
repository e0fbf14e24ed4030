"""Every failure as one line of our own words, without anything that comes from the data."""

import os
import shlex
from collections.abc import Iterable
from itertools import islice, takewhile
from pathlib import Path

from cyclopts import (
    CycloptsError,
    MissingArgumentError,
    UnknownCommandError,
    UnknownOptionError,
    UnusedCliTokensError,
)

from sievert.errors import (
    NOT_SHAREABLE,
    ExhaustedError,
    InvariantError,
    SievertError,
    UsageError,
)
from sievert.formatting import nearest, printable

OF_FILES = ("--policy", "--html", "--markdown", "--json", "--records")
MOST_LOOKED_AT = 10_000  # files of a directory, for the one that was meant

INTERNAL_AND_SHARED = UsageError(
    "an output is internal or shareable: --internal and --share exclude each other",
    hint="--share alone",
)
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


def in_our_words(error: Exception) -> SievertError:
    """Every failure as one of ours."""
    match error:
        case SievertError():
            return _with_the_nearest_file(error)
        case CycloptsError():
            return _usage_error(error)
        case MemoryError():
            return ExhaustedError("out of memory", hint="--memory with a smaller size")
        case OSError():
            return ExhaustedError(f"the output cannot be written: {error.strerror}")
    return InvariantError(
        f"a defect of sievert itself ({type(error).__name__})",
        hint="the same command with --debug, and report what it shows",
    )


def _usage_error(error: CycloptsError) -> SievertError:
    """The error of a command line that cannot be parsed, with the nearest correct spelling."""
    if isinstance(error.__cause__, SievertError):  # of an option that does not go with another
        return error.__cause__
    command = " ".join(error.command_chain or ())
    help_ = " ".join(["sievert", *(error.command_chain or ()), "--help"])
    match error:
        case UnusedCliTokensError():
            return UsageError("names are separated by commas", hint="-q age,zip")
        case UnknownCommandError():
            given = (error.unused_tokens or [""])[0]
            names = [] if error.app is None else [n for n in error.app if not n.startswith("-")]
            hint = nearest(given, names) or ", ".join(names) or "sievert --help"
            return UsageError(f"no command is called {given!r}", hint=hint)
        case UnknownOptionError():
            given = (error.token.keyword or error.token.value).partition("=")[0]
            names = [n for a in error.argument_collection if a.parse for n in a.names]
            close = nearest(given, [n for n in names if n.startswith("-")])
            hint = f"{close}, or {help_}" if close else help_
            return UsageError(f"no option of {command or 'sievert'} is called {given!r}", hint=hint)
        case MissingArgumentError() if error.argument is not None:
            given = error.keyword or error.argument.name
            lacks = f"{given} needs a value" if given.startswith("-") else f"{given} is missing"
            return UsageError(f"{command}: {lacks}" if command else lacks, hint=help_)
    return UsageError(" ".join(str(error).split()).rstrip(".?"), hint=help_)


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
    close = nearest(path.name, names)
    return error if close is None else type(error)(error.what, hint=close)


def command_line(arguments: Iterable[str], error: SievertError) -> str:
    """The command to go on with: the same tables, the hint, and options that name files.

    Other options may hold values of the data.
    """
    given = list(arguments)
    command = list(takewhile(lambda token: not token.startswith("-") or token == "-", given))
    tables, rest = command[1:] or ["DATA"], given[len(command) :]
    kept = [
        token
        for before, token in zip(["", *rest], rest, strict=False)
        if before in OF_FILES or token.partition("=")[0] in OF_FILES
    ]
    more = "" if len(kept) == len(rest) else " ..."
    files = f" {shlex.join(map(printable, kept))}" if kept else ""
    first = shlex.join(map(printable, ["sievert", *given[:1], *tables]))
    return f"{first} {error.hint}{files}{more}"


def to_be_shared(arguments: Iterable[str]) -> bool:
    """Whether what is written may be seen by others."""
    return any(token.partition("=")[0] == "--share" for token in arguments)
