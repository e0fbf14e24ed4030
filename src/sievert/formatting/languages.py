"""The current language, English by default: its texts, and how it writes numbers."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path

ENGLISH = "en"
PACKAGE = Path(__file__).parents[1]
# The folder of each language, whose texts are in files texts/CODE.toml of rooms and commands.
LANGUAGES = {ENGLISH: PACKAGE, "de": PACKAGE}
_SPOKEN: ContextVar[Mapping[str, str] | None] = ContextVar("spoken", default=None)


def printable(name: str) -> str:
    """Make a name safe for a terminal: no line breaks, no escape sequences.

    >>> printable("a\\x1b[31m\\nb")
    'a\\\\x1b[31m\\\\nb'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)


def language_files(language: str) -> list[Path]:
    """List the files that have the texts of a language: those of rooms and those of commands."""
    folder = LANGUAGES[language]
    name = f"texts/{language}.toml"
    return [*sorted(folder.glob(f"*/{name}")), *sorted(folder.glob(f"*/*/{name}"))]


@cache
def read_language(language: str) -> Mapping[str, str]:
    """Read every text of a language by its key."""
    return {
        key: text for path in language_files(language) for key, text in read_lines(path).items()
    }


def read_lines(path: Path) -> Mapping[str, str]:
    """Read a file of texts, ten times as fast as TOML: each text is one line."""
    texts = {}
    above = ""
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
    """Use these texts for words and numbers within the block."""
    token = _SPOKEN.set(texts)
    try:
        yield
    finally:
        _SPOKEN.reset(token)


def say(key: str, /, **values: object) -> str:
    """A text of the current language.

    >>> say("words.and", first="age", last="zip")
    'age and zip'
    """
    texts = _SPOKEN.get()
    if not texts:
        texts = read_language(ENGLISH)
    return texts[key].format_map(values)


def marks() -> tuple[str, str]:
    """The decimal mark and the mark between thousands.

    >>> marks()
    ('.', ',')
    """
    return (say("numbers.decimal"), say("numbers.thousands")) if _SPOKEN.get() else (".", ",")


def digits(number: str) -> str:
    """Convert a number that is written in English to the marks of the current language.

    >>> german = {"numbers.decimal": ",", "numbers.thousands": "."}
    >>> with speaking(german):
    ...     digits("1,234.5")
    '1.234,5'
    """
    decimal, thousands = marks()
    if (decimal, thousands) == (".", ","):
        return number
    return number.translate({ord("."): decimal, ord(","): thousands})


def percent(share: float) -> str:
    """Write a share in per cent, without rounding to 0 % or 100 %.

    >>> [percent(x) for x in (0.0, 0.00001, 0.12345, 0.9996, 0.99999, 1.0)]
    ['0 %', 'under 0.01 %', '12.3 %', '99.96 %', 'over 99.99 %', '100 %']
    """
    if 0 < share < 0.0001:
        return say("numbers.under", share=digits("0.01 %"))
    if 0.9999 < share < 1:
        return say("numbers.over", share=digits("99.99 %"))
    text = f"{100 * share:.3g}"
    if text == "100" and share < 1:
        text = f"{100 * share:.4g}"
    return digits(f"{text} %")
