"""Paths that somebody types: looked up without a surprise, and replaced only if that is said."""

import os
from pathlib import Path
from typing import Any

from sievert.errors import RefusedError, UsageError
from sievert.formatting import middle_cut
from sievert.workbench.step import Argv, Form, View

LONGEST = 60  # letters of a name in a message
REPLACE = "replace"  # the field of a box that names the file which it is about


def look_up(path: str) -> os.stat_result | None:
    """What lies at a path; None where nothing does, and one line where that cannot be said."""
    try:
        return os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise UsageError(f"{short_name(path)}: {error.strerror}") from None
    except ValueError:
        raise UsageError("a path has a character that no file name can have") from None


def not_an_option(path: str) -> str:
    """The same path, spelled so that no command takes it for an option.

    >>> not_an_option("-x.csv"), not_an_option("a/-x.csv")
    ('./-x.csv', 'a/-x.csv')
    """
    return f"./{path}" if path.startswith("-") else path


def is_text(path: str) -> bool:
    """Whether a name can be sent by a form: the system allows bytes that are no text."""
    return not any("\ud800" <= c <= "\udfff" for c in path)


def short_name(path: str) -> str:
    """The name of a file as it may stand in a line."""
    return middle_cut(Path(path).name or path, LONGEST)


def is_there(path: str) -> bool:
    """Whether something would be replaced."""
    try:
        return look_up(path) is not None
    except UsageError:
        return False


def replacing(path: str) -> Argv:
    """The option that replaces a file, where there is one."""
    return ("--force",) if is_there(path) else ()


def typed_output(view: View, proposed: str) -> dict[str, Any]:
    """Where a file is to be written, as proposed or as it was typed, and whether one is there."""
    path = (view.sent.one("path") if view.sent is not None else "") or proposed
    return {"path": path, "there": is_there(path)}


def refusal_to_replace(form: Form, path: str) -> str:
    """What is said instead of replacing a file unasked: the box has to name this very file."""
    if not is_there(path) or form.one(REPLACE) == path:
        return ""
    what = f"{short_name(path)} is there already"
    return str(RefusedError(what, hint="tick the box that replaces it, or another name"))
