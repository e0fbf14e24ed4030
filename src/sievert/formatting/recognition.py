"""Sentences that were read from saved JSON become remarks again, by the words of their texts.

JSON has the English sentences only. A sentence is found by its words, with anything where braces
are. What is not found stays a plain text, which every language says as it is.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from sievert.formatting.languages import ENGLISH, read_language
from sievert.formatting.remarks import Caution, Figure, Joined, Remark, Things

SECTIONS = ("remarks.", "suggested.", "errors.")
OF_TABLE = "remarks.of_table"  # a name before another remark, which is found by its quotes
# The fields of the JSON of results that hold remarks, alone or in lists.
FIELDS = frozenset(
    {
        *("warnings", "cautions", "notes", "sentences", "reduced", "text", "suggestion", "why"),
        *("reason", "epsilon_reason", "impossible", "rests_on", "how", "page_checksums"),
        *("interval_by", "spellings_merged_reason", "without_missing_reason"),
        *("missing_as_value_reason", "reasons"),
        *("noise", "rounding", "labels", "reasoning"),  # of the methods of protect
    }
)
BRACES = re.compile(r"\{(\w+)\}")
NAMES = {"column", "table", "name", "first", "second", "sheet", "measure"}  # stay as they are
NUMBER = re.compile(r"[-+]?\d[\d,]*(\.\d+)?(e[-+]?\d+)?( %)?")
THINGS = re.compile(r"(\d[\d,.]*) ([a-z][a-z -]*)")
NAMED = re.compile(r"('[^']*'|\"[^\"]*\"): (.+)", re.S)


def recognise_all(content: Any, field: str = "") -> Any:
    """Return the same JSON, with remarks in place of the sentences in its `FIELDS`."""
    if isinstance(content, Mapping):
        inside = field if field in FIELDS else ""
        return {key: recognise_all(entry, inside or key) for key, entry in content.items()}
    if isinstance(content, list):
        return [recognise_all(entry, field) for entry in content]
    if isinstance(content, str) and field in FIELDS:
        return recognise(content)
    return content


def recognise(sentence: str) -> str:
    """Return the remark that has these words; the sentence as it is where there is none.

    >>> remark = recognise("2 records without a person: each counts as a person of its own")
    >>> remark.key, remark.values
    ('remarks.without_person', {'records': '2 records'})
    """
    match = NAMED.fullmatch(sentence)
    if match:  # a remark on one of several tables
        return Remark.by_key(OF_TABLE, {"name": match[1], "what": _value(match[2])})
    for key, looks in _patterns():
        match = looks.fullmatch(sentence)
        if match:
            values = {
                name: value if name in NAMES else _value(value)
                for name, value in match.groupdict().items()
            }
            return Remark.by_key(key, values)
    for separator in ("; ", ", "):
        if separator in sentence:
            return Joined((_value(part) for part in sentence.split(separator)), separator)
    return sentence


def recognise_caution(sentence: str) -> Caution:
    """Return the caution that has these words."""
    remark = recognise(sentence)
    if isinstance(remark, Remark):
        return Caution.by_key(remark.key, remark.values)
    raise LookupError("no caution has these words")


@cache
def _patterns() -> list[tuple[str, re.Pattern[str]]]:
    """What each remark looks like, those with the most words of their own first."""
    texts = {
        key: text
        for key, text in read_language(ENGLISH).items()
        if key.startswith(SECTIONS) and key != OF_TABLE
    }
    words = {key: BRACES.sub("", text) for key, text in texts.items()}
    return [(key, pattern(texts[key])) for key in sorted(words, key=lambda k: -len(words[k]))]


def pattern(text: str) -> re.Pattern[str]:
    """What a text with braces looks like when these are filled."""
    parts = BRACES.split(text)
    fixed = map(re.escape, parts[::2])
    places = (f"(?P<{name}>.+?)" for name in parts[1::2])
    return re.compile("".join(a + b for a, b in zip(fixed, [*places, ""], strict=True)), re.S)


def _value(value: str) -> str:
    """A number, a number of things, another remark, or a name, which stays as it is."""
    if NUMBER.fullmatch(value):
        return Figure(value)
    things = THINGS.fullmatch(value)
    if things:
        singular = _singular(things[2], one=things[1] == "1")
        if f"things.{singular.replace(' ', '_')}" in read_language(ENGLISH):
            return Things(things[1], singular)
    return recognise(value)


def _singular(thing: str, *, one: bool) -> str:
    """Return the singular of a thing that is counted; of `one` it is one already."""
    if one:
        return thing
    return thing.removesuffix("es") if thing.endswith("sses") else thing.removesuffix("s")
