"""The language of a page: its words by key, and how it writes numbers; English unless told."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path

ENGLISH = "en"
# The texts of each language are one file.
FILES = {code: Path(__file__).parents[1] / "report" / f"{code}.toml" for code in (ENGLISH, "de")}
_SPOKEN: ContextVar[Mapping[str, str] | None] = ContextVar("spoken", default=None)


@cache
def read_lines(path: Path) -> Mapping[str, str]:
    """The texts of our own file, ten times as fast as TOML is read: each is one line of it."""
    texts, above = {}, ""
    for line in path.read_text(encoding="utf-8").splitlines():
        key, sign, value = line.partition(" = ")
        if line.startswith("["):
            above = f"{line[1:-1]}."
        elif sign and not line.startswith("#"):
            plain = value[1:-1]
            texts[f"{above}{key}"] = json.loads(value) if "\\" in plain else plain
    return texts


@contextmanager
def speaking(texts: Mapping[str, str]) -> Iterator[None]:
    """Within it, words and numbers are those of these texts."""
    token = _SPOKEN.set(texts)
    try:
        yield
    finally:
        _SPOKEN.reset(token)


def say(key: str, /, **values: object) -> str:
    """A text of the language that is spoken.

    >>> say("words.and", first="age", last="zip")
    'age and zip'
    """
    return (_SPOKEN.get() or read_lines(FILES[ENGLISH]))[key].format_map(values)


def marks() -> tuple[str, str]:
    """The decimal mark and what stands between thousands.

    >>> marks()
    ('.', ',')
    """
    return (say("numbers.decimal"), say("numbers.thousands")) if _SPOKEN.get() else (".", ",")


def digits(number: str) -> str:
    """A number that was written in English, as the language that is spoken writes it.

    >>> german = {"numbers.decimal": ",", "numbers.thousands": "."}
    >>> with speaking(german):
    ...     digits("1,234.5")
    '1.234,5'
    """
    decimal, thousands = marks()
    if (decimal, thousands) == (".", ","):
        return number
    return number.translate({ord("."): decimal, ord(","): thousands})


def count(number: float) -> str:
    """A number of things.

    >>> count(12345)
    '12,345'
    """
    return digits(f"{number:,}")
