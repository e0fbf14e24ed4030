"""What would help: a few ways to change the table, and whether the policy is then met."""

from __future__ import annotations

from collections.abc import Iterator

from sievert.report.page import Chapter
from sievert.report.parts import ReportPart


def points(part: ReportPart) -> Iterator[tuple[str, str]]:
    """The finding about what would help most."""
    if part.data.get("policy") is None:
        yield part.texts("options.explain"), part.texts("options.explain_text")


def chapters(part: ReportPart) -> list[Chapter]:
    """The options side by side."""
    return []
