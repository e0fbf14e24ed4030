"""A policy file with what it lacks for a table, written into it as comments.

A repair never makes a gate pass: it adds comments, and at most an empty table [roles]. Whoever owns
the policy turns a comment into a role, a statement or another limit.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Sequence
from typing import Any

from sievert.errors import InvariantError
from sievert.formatting import printable

BEGIN = (
    "# >>> sievert policy check: comments change nothing; decide on each, then delete this block"
)
END = "# <<< sievert policy check"
_BLOCK = re.compile(rf"^{re.escape(BEGIN)}\r?\n(?:#.*\r?\n)*?{re.escape(END)}(?:\r?\n|\Z)", re.M)
_ROLES = re.compile(r"^[ \t]*\[[ \t]*roles[ \t]*\][ \t]*(?:#.*)?$", re.M)


def repair_text(text: str, comments: Sequence[str]) -> str:
    """The text of a policy with these comments in [roles]; those of an earlier repair are gone."""
    tables = tomllib.loads(text)
    bare = _BLOCK.sub("", text)
    text = bare if _same(bare, tables) else text
    if not comments:
        return text
    for candidate in _candidates(text, comments, "roles" in tables):
        if _same(candidate, tables) or _same(candidate, {**tables, "roles": {}}):
            return candidate
    raise InvariantError("the policy cannot be repaired without changing what it says")


def toml_key(name: str) -> str:
    """A column's name as a policy spells it, in quotes and without control characters."""
    return printable(json.dumps(name, ensure_ascii=False))


def _candidates(text: str, comments: Sequence[str], has_roles: bool) -> Iterator[str]:
    """The comments behind the header of [roles]; at the end of the file where there is none."""
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = [BEGIN, *(f"# {printable(line)}" for line in comments), END]
    block = "".join(line + newline for line in lines)
    header = _ROLES.search(text)
    if header is not None:
        end = text.find("\n", header.end())
        yield text + newline + block if end < 0 else text[: end + 1] + block + text[end + 1 :]
    whole = text if text.endswith("\n") or not text else text + newline
    yield whole + (block if has_roles else f"{newline}[roles]{newline}{block}")


def _same(text: str, tables: dict[str, Any]) -> bool:
    """Whether a text says what these tables say."""
    try:
        return tomllib.loads(text) == tables
    except tomllib.TOMLDecodeError:
        return False
