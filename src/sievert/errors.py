"""Errors: what went wrong, what was found, what to try; never the value of a cell.

Every error a user can cause is a `SievertError` with the exit code of the command line. Messages
name files, columns, types and counts. They never repeat a value of the data.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import ClassVar

from sievert.formatting import ENGLISH, nearest, printable

OUT_OF_MEMORY = re.compile(
    "annot allocate memory|failed to map segment|can't start new thread|bad_alloc|OutOfMemory"
)


class SievertError(Exception):
    """A failure with one line for the user: what happened, and what to try."""

    exit_code: ClassVar[int] = 70

    def __init__(self, what: str, *, hint: str | None = None, lines: str = "") -> None:
        self.what = printable(what)
        self.hint = None if hint is None else printable(hint)
        self.body = f"{self.what}\n{lines}" if lines else self.what
        end = "" if self.body.endswith(("?", ".")) else "."
        super().__init__(self.body if hint is None else f"{self.body}{end} Try: {self.hint}")


class UsageError(SievertError):
    """An option, a role or a configuration file does not make sense (exit 2)."""

    exit_code = 2


class SettingsError(UsageError):
    """A mistake in the command that names no file and no column: it is shown with --share too."""


class MissingRolesError(UsageError):
    """No quasi-identifiers are given: the message is help, with likely roles and the reasons.

    `describe` says its first line and the others in a language.
    """

    def __init__(self, describe: Callable[[str], tuple[str, str]], *, hint: str) -> None:
        what, lines = describe(ENGLISH)
        super().__init__(what, lines=lines, hint=hint)
        self.describe = describe


class InputError(SievertError):
    """The data cannot be read as it stands (exit 3)."""

    exit_code = 3


class ExhaustedError(SievertError):
    """Memory, disk or time ran out (exit 5)."""

    exit_code = 5


class EngineError(SievertError):
    """The engine or the database failed (exit 6)."""

    exit_code = 6


class RefusedError(SievertError):
    """Doing it would not be safe (exit 7)."""

    exit_code = 7


class InvariantError(SievertError):
    """Two things that must agree do not: a defect of Sievert itself (exit 70)."""


def unknown(what: str, name: str, names: Iterable[str]) -> UsageError:
    """Make the error for an unknown name, with the nearest known name as the hint."""
    names = list(names)
    close = nearest(name, names)
    hint = f"{close!r}" if close else f"one of {', '.join(repr(n) for n in names[:30])}"
    return UsageError(f"{what} {name!r} does not exist", hint=hint)


def require(
    condition: object,
    what: str,
    *,
    hint: str | None = None,
    error: type[SievertError] = UsageError,
) -> None:
    """Raise an error, by default a mistake in the use of a function, unless a condition holds."""
    if not condition:
        raise error(what, hint=hint)


def is_out_of_memory(error: BaseException) -> bool:
    """Say whether memory ran out, also by the system's words in an error of a library.

    >>> is_out_of_memory(ImportError("x.so: failed to map segment from shared object"))
    True
    """
    words = f"{type(error).__name__}: {error}"
    return isinstance(error, MemoryError) or OUT_OF_MEMORY.search(words) is not None


ASSESSED = "sievert assess --share"


def _refusal(why: str, hint: str) -> RefusedError:
    return RefusedError(f"{why} not shareable", hint=hint)


INTERNAL_AND_SHARED = UsageError(
    "an output is internal or shareable: --internal and --share exclude each other",
    hint="--share alone",
)
# The reasons why something cannot be shared; the texts reveal nothing about the data.
NOT_SHAREABLE: Mapping[str, RefusedError] = {
    "attack": _refusal("attacks point at single people: they are", ASSESSED),
    "explain": _refusal("explain points at columns, values and records: it is", ASSESSED),
    "compromise": _refusal("how near an intruder comes to one number is", ASSESSED),
    "limit": _refusal("a limit can be moved by one record: it is", ASSESSED),
    "synthetic": _refusal("attacks point at single people: they are", "the file of limits met"),
    "ledger": _refusal("releases together point at single people: they are", ASSESSED),
    "sketch": _refusal("one person can move an estimate: a sketch is", ASSESSED),
    "hierarchies": _refusal("what the values of columns look like is", ASSESSED),
    "protect": _refusal("how a release was made is", "sievert assess RELEASE --share"),
    "compare": _refusal(
        "of a comparison only verdicts can be shared; its numbers are", "--policy FILE with limits"
    ),
    "framework": _refusal(
        "the numbers that answer a framework are exact: they are", "--share without --framework"
    ),
    "key_sets": _refusal(
        "one person can decide which of several key sets is the worst: they are",
        "--share with -q, one set at a time",
    ),
    "attacks": _refusal("attacks point at single people: they are", "--share without --attacks"),
    "records": _refusal("a record file tells about single people: it is", "--share alone"),
    "population": _refusal(
        "what follows from the population and from weights can be moved by one person: it is",
        "--share without the options of the population",
    ),
    "charts": _refusal("charts draw exact numbers: they are", "--html FILE with --share"),
    "timings": _refusal("timings depend on single records: they are", "--share without --timings"),
    "values": _refusal("values of the data are", "--share without --show-values"),
}
