"""Remarks and reasons of results, which are English in every JSON, in the language of a page.

A remark is found by its English words: those of the texts, with anything where braces are.
"""

import re
from collections.abc import Mapping
from functools import cache

from sievert.formatting.language import ENGLISH, FILES, digits, read_lines

SECTIONS = ("remarks.", "suggested.", "errors.")
BRACES = re.compile(r"\{(\w+)\}")
NAMES = {"column", "table", "name", "first", "second", "sheet", "measure"}  # stay as they are
NUMBER = re.compile(r"[-+]?\d[\d,]*(\.\d+)?(e[-+]?\d+)?( %)?")
THINGS = re.compile(r"(\d[\d,.]*) ([a-z][a-z -]*)")
NAMED = re.compile(r"('[^']*'|\"[^\"]*\"): (.+)", re.S)


def translate(text: str, texts: Mapping[str, str]) -> str:
    """A remark in the words of these texts; as it is where they do not know it."""
    if all(texts[key] == english for key, english in _english().items()):
        return text
    return _translate(text, texts)


@cache
def _english() -> Mapping[str, str]:
    lines = read_lines(FILES[ENGLISH])
    return {key: text for key, text in lines.items() if key.startswith(SECTIONS)}


@cache
def _patterns() -> list[tuple[str, re.Pattern[str]]]:
    """What each remark looks like, those with the most words of their own first."""
    words = {key: BRACES.sub("", text) for key, text in _english().items()}
    return [(key, pattern(_english()[key])) for key in sorted(words, key=lambda k: -len(words[k]))]


def pattern(text: str) -> re.Pattern[str]:
    """What a text with braces looks like when these are filled."""
    parts = BRACES.split(text)
    fixed, places = map(re.escape, parts[::2]), (f"(?P<{name}>.+?)" for name in parts[1::2])
    return re.compile("".join(a + b for a, b in zip(fixed, [*places, ""], strict=True)), re.S)


def _translate(text: str, texts: Mapping[str, str]) -> str:
    if match := NAMED.fullmatch(text):  # a remark on one of several tables
        return f"{match[1]}: {_value(match[2], texts)}"
    for key, looks in _patterns():
        if match := looks.fullmatch(text):
            values = {
                name: value if name in NAMES else _value(value, texts)
                for name, value in match.groupdict().items()
            }
            return texts[key].format_map(values)
    for separator in ("; ", ", "):
        if separator in text:
            return separator.join(_value(part, texts) for part in text.split(separator))
    return text


def _value(value: str, texts: Mapping[str, str]) -> str:
    """A number, a number of things, another remark, or a name, which stays as it is."""
    if NUMBER.fullmatch(value):
        return digits(value)
    things = THINGS.fullmatch(value)
    if things and (key := f"things.{things[2].replace(' ', '_')}") in texts:
        return texts[key].format_map({"number": digits(things[1])})
    return _translate(value, texts)
