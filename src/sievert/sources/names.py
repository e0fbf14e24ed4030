"""The names of columns: text, not empty, and different from each other."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Any

from sievert.errors import InputError, UsageError


def check_names(names: Iterable[Any], where: str) -> tuple[str, ...]:
    """Names must be text, not empty, and differ by more than case."""
    names_by_form: dict[str, str] = {}
    for number, name in enumerate(names, 1):
        if not isinstance(name, str):
            raise UsageError(
                f"{where}: the label of column {number} is {type(name).__name__}, not text",
                hint="rename the columns",
            )
        if not name:
            raise InputError(f"{where}: column {number} has no name", hint="a name in the header")
        folded = unicodedata.normalize("NFC", name).strip().casefold()
        other = names_by_form.get(folded)
        if other is not None:
            raise InputError(
                f"{where}: columns {other!r} and {name!r} have the same name (case, blanks and "
                "Unicode form do not count)",
                hint="rename one of them",
            )
        names_by_form[folded] = name
    if not names_by_form:
        raise InputError(f"{where}: no columns")
    return tuple(names_by_form.values())
