"""A result as a part of a page: its numbers as they stand in the JSON, and how to write them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sievert.report.redaction import Redactor
from sievert.report.texts import Texts

Data = Mapping[str, Any]


@dataclass(frozen=True)
class ReportPart:
    """One result: its command, its JSON, the redactor of its numbers, its place on the page.

    `data` is exact, except for an assessment that is to be passed on: that is shared already.
    `exact` is that assessment before; `result` the result itself.
    """

    kind: str  # assess, explain, attack, compare, compromise, limit
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
    def rows(self) -> int:
        """Records of the table; 0 where that is not told."""
        return int(self.data["table"]["rows"] or 0)

    def anchor(self, word: str) -> str:
        """A place on the page; `word` is our own."""
        return f"part{self.number}-{word}"


def command_name(data: Data) -> str | None:
    """Which command has written this JSON.

    >>> command_name({"points": [], "channel": {}}), command_name({"seconds": {}})
    ('limit', None)
    """
    signs = (
        ("explain", "shapley"),
        ("explain", "ranking"),
        ("compare", "releases"),
        ("compromise", "curves"),
        ("limit", "points"),
        ("assess", "reidentification"),
        ("attack", "attacks"),
    )
    return next((kind for kind, key in signs if key in data), None)
