"""Remarks and what is put into them: English texts that can be said in another language.

A result has them as plain text: each is a `str`, so that JSON has the English sentence. A page says
it by the key of its text and the values that are put in, in the language of the page.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Self, SupportsIndex

from sievert.formatting.languages import (
    ENGLISH,
    digits,
    percent,
    printable,
    read_language,
    speaking,
)


class Spoken(str):
    """An English text that can be said in another language."""

    def said(self, texts: Mapping[str, str]) -> str:
        """Say it with the `texts` of a language, by their keys."""
        raise NotImplementedError


class Figure(Spoken):
    """A number, as English writes it.

    >>> Figure("1,234.5").said({})
    '1,234.5'
    """

    __slots__ = ()

    def said(self, texts: Mapping[str, str]) -> str:
        """Write the number with the decimal mark of the language that is spoken."""
        return digits(self)


class Share(Spoken):
    """A share, in per cent.

    >>> Share(0.1234)
    '12.3 %'
    """

    share: float

    def __new__(cls, share: float) -> "Share":
        with speaking(read_language(ENGLISH)):
            made = super().__new__(cls, percent(share))
        made.share = share
        return made

    def __getnewargs__(self) -> Any:
        return (self.share,)

    def said(self, texts: Mapping[str, str]) -> str:
        """Write the share in the language that is spoken."""
        return percent(self.share)


class Things(Spoken):
    """A number of things; the number may be written already.

    >>> Things(2, "class"), Things(2, "class").said({"things.classes": "{number} Klassen"})
    ('2 classes', '2 Klassen')
    >>> Things("0.5", "record")
    '0.5 records'
    """

    number: str  # as English writes it
    thing: str  # in the singular

    def __new__(cls, number: int | str, thing: str) -> "Things":
        written = number if isinstance(number, str) else f"{number:,}"
        made = super().__new__(cls, f"{written} {_counted(written, thing)}")
        made.number = written
        made.thing = thing
        return made

    def __getnewargs__(self) -> Any:
        return self.number, self.thing

    def said(self, texts: Mapping[str, str]) -> str:
        """Say the number of things; in English if the `texts` do not have the thing."""
        text = texts.get(f"things.{_counted(self.number, self.thing).replace(' ', '_')}")
        return str(self) if text is None else text.format_map({"number": digits(self.number)})


def _counted(number: str, thing: str) -> str:
    """Return the singular or the plural of a thing."""
    if number == "1":
        return thing
    return f"{thing}es" if thing.endswith("s") else f"{thing}s"


class Joined(Spoken):
    """Several texts in a row, such as the clauses of a ground.

    >>> Joined([Things(1, "row"), Figure("0.5")])
    '1 row, 0.5'
    """

    parts: tuple[str, ...]
    separator: str

    def __new__(cls, parts: Iterable[str], separator: str = ", ") -> "Joined":
        parts = tuple(parts)
        made = super().__new__(cls, separator.join(parts))
        made.parts = parts
        made.separator = separator
        return made

    def __getnewargs__(self) -> Any:
        return self.parts, self.separator

    def said(self, texts: Mapping[str, str]) -> str:
        """Say each part."""
        return self.separator.join(say_value(part, texts) for part in self.parts)


class Remark(Spoken):
    """A sentence beside a result: the key of its text, and the values that are put in.

    Names stay as they are in every language. Numbers are a `Figure` or `Things`, and a value may be
    another remark.

    >>> Remark("without_person", records=Things(2, "record"))
    '2 records without a person: each counts as a person of its own'
    """

    SECTION = "remarks"  # of the texts
    key: str  # of its text, with the section
    values: Mapping[str, str]

    def __new__(cls, key: str, /, **values: str) -> Self:
        return cls.by_key(f"{cls.SECTION}.{key}", values)

    @classmethod
    def by_key(cls, key: str, values: Mapping[str, str]) -> Self:
        """Make a remark of the text with a whole `key`, such as "remarks.no_control"."""
        made = super().__new__(cls, read_language(ENGLISH)[key].format_map(values))
        made.key = key
        made.values = values
        return made

    def with_values(self, **values: str) -> Self:
        """Make the same remark with some values replaced."""
        return self.by_key(self.key, {**self.values, **values})

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        return _remake, (type(self), self.key, dict(self.values))

    def said(self, texts: Mapping[str, str]) -> str:
        """Say the sentence with the values in the same language."""
        values = {name: say_value(value, texts) for name, value in self.values.items()}
        return texts[self.key].format_map(values)


class Caution(Remark):
    """A remark that stands before the first number: what the numbers count may not be people."""


def _remake(kind: type[Remark], key: str, values: Mapping[str, str]) -> Remark:
    """Make a remark of a `kind` by the whole key of its text."""
    return kind.by_key(key, values)


def say_value(value: str, texts: Mapping[str, str]) -> str:
    """Say what can be said in a language; a name stays as it is."""
    return value.said(texts) if isinstance(value, Spoken) else printable(value)


def figure(number: float) -> Figure:
    """Write a number for a remark.

    >>> figure(1234)
    '1,234'
    """
    return Figure(f"{number:,}")


def plural(number: int, thing: str) -> Things:
    """Count things.

    >>> plural(1, "record"), plural(2_000, "record"), plural(2, "class")
    ('1 record', '2,000 records', '2 classes')
    """
    return Things(number, thing)
