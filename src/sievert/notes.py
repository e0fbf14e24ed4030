"""Remarks for the reader, as text in which counts and names can still be told from the rest."""

from __future__ import annotations

from dataclasses import dataclass

from sievert.formatting import plural


@dataclass(frozen=True)
class Count:
    """How many records or values a remark speaks of."""

    number: int
    thing: str = "record"

    def __str__(self) -> str:
        return plural(self.number, self.thing)


@dataclass(frozen=True)
class Name:
    """The name of a column (or of a part of a file) in a remark."""

    name: str

    def __str__(self) -> str:
        return repr(self.name)


@dataclass(frozen=True)
class Reason:
    """Why a number is undefined."""

    why: str | None

    def __str__(self) -> str:
        return str(self.why)


@dataclass(frozen=True)
class SectionName:
    """A chapter of the result in a remark: nothing to hide."""

    name: str

    def __str__(self) -> str:
        return self.name


Piece = Count | Name | Reason | SectionName


class Note(str):
    """One remark.

    >>> Note("{} without {}", Count(3), Name("age"))
    "3 records without 'age'"
    """

    template: str
    parts: tuple[Piece, ...]

    def __new__(cls, template: str, *parts: Piece) -> Note:
        note = super().__new__(cls, template.format(*parts) if parts else template)
        note.template, note.parts = template, parts
        return note


class Caution(Note):
    """A remark that stands before the first number: what the numbers count may not be people."""
