"""Levels of columns as a button sends them."""

import json
from collections.abc import Mapping
from typing import Any

from sievert.errors import UsageError, require

MOST_DIGITS = 3


def levels_text(levels: Mapping[str, Any]) -> str:
    """The level of each column as the value of a button.

    >>> levels_text({"age": 5})
    '{"age": "5"}'
    """
    return json.dumps({column: str(level) for column, level in levels.items()}, ensure_ascii=False)


def read_levels(text: str) -> dict[str, str]:
    """What the value of a button says.

    >>> read_levels('{"age": "5"}')
    {'age': '5'}
    """
    try:
        levels = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        levels = None
    require(isinstance(levels, dict), "the levels of a release were not understood")
    return check_levels(levels)


def check_levels(levels: Mapping[str, Any]) -> dict[str, str]:
    """The same levels, if each is a whole number."""
    for level in levels.values():
        if not (
            isinstance(level, str)
            and level.isascii()
            and level.isdigit()
            and len(level) <= MOST_DIGITS
        ):
            raise UsageError("a level is a whole number from 0", hint="age=2")
    return {column: str(int(level)) for column, level in levels.items()}
