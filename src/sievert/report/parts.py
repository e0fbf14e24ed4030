"""A result as a part of a page: its numbers as they stand in the JSON, and how to write them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sievert.report.page import Block, Chapter
from sievert.report.redaction import Redactor
from sievert.report.texts import Texts

Data = Mapping[str, Any]
# The section of the texts that a command's chapter is written with.
CHAPTERS = {
    "assess": "assessed",
    "explain": "explained",
    "attack": "attacked",
    "compare": "compared",
    "compromise": "compromised",
    "limit": "limits",
}


@dataclass(frozen=True)
class ReportPart:
    """One result: its command, its JSON, the redactor of its numbers, its place on the page.

    `data` is exact, except for an assessment on a shareable page: that has been made shareable
    already. `exact` is that assessment before; `result` the result itself.
    """

    kind: str  # a key of CHAPTERS
    data: Data
    redactor: Redactor
    number: int = 1
    result: Any = None
    exact: Data | None = None

    @property
    def texts(self) -> Texts:
        """All sentences."""
        return self.redactor.texts

    @property
    def internal(self) -> bool:
        """Whether the page is internal: everything may be shown."""
        return self.redactor.internal

    @property
    def rows(self) -> int:
        """The number of records of the table; 0 where it is withheld."""
        return int(self.data["table"]["rows"] or 0)

    def say(self, key: str, /, **values: object) -> str:
        """A text of this part's own section."""
        return self.texts(f"{CHAPTERS[self.kind]}.{key}", **values)

    def anchor(self, word: str) -> str:
        """A place on the page; `word` is our own."""
        return f"part{self.number}-{word}"

    def chapter(self, key: str, blocks: Iterable[Block | Chapter]) -> Chapter:
        """A chapter whose title and anchor have the same key."""
        return Chapter(self.say(f"{key}_title"), self.anchor(key), tuple(blocks))


def command_name(data: Data) -> str | None:
    """Which command has written this JSON.

    >>> command_name({"points": [], "channel": {}}), command_name({"seconds": {}})
    ('limit', None)
    """
    signs = {
        "shapley": "explain",
        "ranking": "explain",
        "releases": "compare",
        "curves": "compromise",
        "points": "limit",
        "reidentification": "assess",
        "attacks": "attack",
    }
    return next((kind for key, kind in signs.items() if key in data), None)
