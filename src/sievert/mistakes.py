"""What went wrong, in our words: one line, without anything the data may have put into it."""

from __future__ import annotations

from collections.abc import Iterable

from cyclopts import CycloptsError, UnusedCliTokensError

from sievert.errors import (
    ExhaustedError,
    InvariantError,
    RefusedError,
    SievertError,
    UsageError,
)

PAGE = "--html FILE without --share: a page fit to pass on; or sievert assess --share"
ATTACKS_TO_SHARE = RefusedError(
    "attacks point at single classes: they are not fit to pass on", hint=PAGE
)
COMPARISON_TO_SHARE = RefusedError(
    "a comparison holds exact numbers of the original: it is not fit to pass on", hint=PAGE
)
LIMIT_TO_SHARE = RefusedError(
    "a limit holds exact numbers of the original: it is not fit to pass on", hint=PAGE
)
NOT_TO_SHARE = RefusedError(
    "explain points at columns, values and records: it is not fit to pass on", hint=PAGE
)
# nothing of the data in them
NEVER_SHARED = (ATTACKS_TO_SHARE, COMPARISON_TO_SHARE, LIMIT_TO_SHARE, NOT_TO_SHARE)
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
    if isinstance(error, SievertError):
        return error
    if isinstance(error, UnusedCliTokensError):
        return UsageError("names are separated by commas, without blanks", hint="-q age,zip")
    if isinstance(error, CycloptsError):
        ours = error.__cause__
        if isinstance(ours, SievertError):  # of an option that does not go with another
            return ours
        return UsageError(" ".join(str(error).split()).rstrip("."), hint="sievert --help")
    if isinstance(error, MemoryError):
        return ExhaustedError("out of memory", hint="--memory with a smaller size")
    if isinstance(error, OSError):
        return ExhaustedError(f"the output cannot be written: {error.strerror}")
    return InvariantError(
        f"a defect of sievert itself ({type(error).__name__})",
        hint="the same command with --debug, and report what it shows",
    )


def said(error: SievertError, *, to_be_shared: bool) -> str:
    """The line; names of files and columns and small counts may not go out with --share."""
    if to_be_shared and error not in NEVER_SHARED:
        return f"{PLAINLY[error.exit_code]}. Try: the same without --share, which says more"
    return str(error)


def to_be_shared(arguments: Iterable[str]) -> bool:
    """Whether what is written may be seen by others."""
    return any(token.partition("=")[0] == "--share" for token in arguments)
