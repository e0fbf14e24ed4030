"""Results of commands as blocks of pages: the JSON goes through the report's own builder."""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from markupsafe import Markup

from sievert.commands.report.api import SavedResult, build_page
from sievert.report import html
from sievert.report.builder import ReportSettings, make_part
from sievert.report.chapters.numbers import releases_of
from sievert.report.limits import ORDER, STATES, state_of
from sievert.report.page import Page
from sievert.report.parts import ReportPart
from sievert.report.texts import Texts

KEPT = 24  # rendered pages in memory


def page_of(result: Mapping[str, Any], texts: Texts) -> Page:
    """The page of one result, as `--html` writes it."""
    return build_page([result], ReportSettings(language=texts("words.language")))


def rendered(result: Mapping[str, Any], texts: Texts) -> dict[str, Markup]:
    """Its first screen and its chapters, as templates call them."""
    return _rendered(json.dumps(result), texts("words.language"))


@lru_cache(maxsize=KEPT)
def _rendered(result: str, language: str) -> dict[str, Markup]:
    return html.render_parts(build_page([json.loads(result)], ReportSettings(language=language)))


def releases_state(result: Mapping[str, Any], texts: Texts) -> str:
    """The verdict on the releases of a result: met if one of them meets the policy; open without.

    It is the one that the page of the result begins with.
    """
    releases = [r for r in releases_of(part_of(result, texts)) if r.get("policy")]
    states = {STATES[state_of(release)] for release in releases}
    return next((state for state in ORDER if state in states), "open")


def part_of(result: Mapping[str, Any], texts: Texts) -> ReportPart:
    """A result as a part of a page, for its names and numbers."""
    return make_part(SavedResult(result), 1, texts)
