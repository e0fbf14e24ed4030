"""Plain tables written as TOML; a parser reads the same tables."""

import json
from collections.abc import Iterator, Mapping
from typing import Any


def toml_value(entry: Any) -> str:
    """Write a text, a number, a list or a table in one line of TOML.

    >>> toml_value({"min": 5, "of": ["a", True]})
    '{ "min" = 5, "of" = ["a", true] }'
    """
    if isinstance(entry, Mapping):
        inner = ", ".join(f"{toml_value(str(k))} = {toml_value(v)}" for k, v in entry.items())
        return f"{{ {inner} }}"
    if isinstance(entry, list | tuple):
        return f"[{', '.join(map(toml_value, entry))}]"
    if isinstance(entry, bool):
        return "true" if entry else "false"
    if isinstance(entry, int | float):
        return repr(entry)
    return json.dumps(str(entry), ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_document(tables: Mapping[str, Any]) -> str:
    """Write the tables of a file: first the entries that are no tables, then tables with headings.

    >>> print(toml_document({"version": 1, "roles": {"quasi": ["age"]}}), end="")
    version = 1
    <BLANKLINE>
    [roles]
    quasi = ["age"]
    """
    return "\n".join(_lines(tables, ())).lstrip("\n") + "\n"


def _lines(tables: Mapping[str, Any], above: tuple[str, ...]) -> Iterator[str]:
    plain = {k: v for k, v in tables.items() if not _is_section(v)}
    if above and (plain or not tables):
        yield from ("", f"[{'.'.join(map(_key, above))}]")
    yield from (f"{_key(key)} = {_short(value)}" for key, value in plain.items())
    for key, value in tables.items():
        if _is_section(value):
            yield from _lines(value, (*above, key))


def _is_section(value: Any) -> bool:
    """Say whether a value is a table with its own heading; a limit stays in one line."""
    return isinstance(value, Mapping) and not ({"min", "max"} & set(value) or not value)


def _short(value: Any) -> str:
    """Write a value in one line; a small table, such as a limit, has bare keys."""
    if not isinstance(value, Mapping) or not value:
        return toml_value(value)
    return f"{{ {', '.join(f'{_key(k)} = {toml_value(v)}' for k, v in value.items())} }}"


def _key(name: str) -> str:
    bare = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if bare else toml_value(name)
