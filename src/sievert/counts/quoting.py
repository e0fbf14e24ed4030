"""The one way a name enters SQL."""

from __future__ import annotations

from sievert.errors import InputError


def quote_identifier(name: str) -> str:
    """A column's name as an SQL identifier, whatever it holds.

    >>> quote_identifier('a"; drop table x; --')
    '"a""; drop table x; --"'
    """
    if "\0" in name:
        raise InputError("a column name holds a NUL character")
    return '"' + name.replace('"', '""') + '"'
