"""Results of commands as blocks of pages: the JSON goes through the report's own builder.

Of a release also its verdict: the answer, what has changed, the limit that is nearest.
"""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from markupsafe import Markup

from sievert.commands.report.run import SavedResult, build_page
from sievert.policy import Verdict
from sievert.report import html
from sievert.report.builder import ReportSettings, make_part
from sievert.report.limits import (
    ORDER,
    STATES,
    each_limit,
    limited_row,
    limits_of,
    state_of,
    titles,
)
from sievert.report.overview import Overview, read_judgement
from sievert.report.page import Page, Points, PolicyAnswer, walk
from sievert.report.parts import Data, ReportPart
from sievert.report.texts import Texts
from sievert.workbench.command_lines import with_field_names
from sievert.workbench.step import View

KEPT = 24  # rendered pages in memory
MOST_LIMITS = 4  # numbers before and after


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
    releases = part_of(result, texts).read(Overview).releases
    states = {STATES[state_of(r.policy)] for r in releases if r.policy is not None}
    return next((state for state in ORDER if state in states), "open")


def part_of(result: Mapping[str, Any], texts: Texts) -> ReportPart:
    """A result as a part of a page, for its names and numbers."""
    return make_part(SavedResult(result), 1, texts)


# -- the verdict on a release ----------------------------------------------------------------------


def release_verdict(view: View, release: Any, before: Any) -> dict[str, Any] | None:
    """What the panel of a release says; None while there is none."""
    if release is None:
        return None
    page = page_of(release, view.texts)
    answer = next((b for b in walk(page.front) if isinstance(b, PolicyAnswer)), None)
    part = part_of(release, view.texts)
    return {
        "answer": answer,
        "why": with_field_names(answer.why, view.texts) if answer else "",
        "nearest": _nearest(part),
        "advice": _advice(page) if release.get("unmet") else "",
        "numbers": [*_limits(view, part, before), *_own(part)],
        **rendered(release, view.texts),
        "warnings": [view.texts.remark(warning) for warning in part.data.get("warnings", ())],
    }


def _advice(page: Page) -> str:
    """What the page says first of a policy that no release meets."""
    points = next((b for b in walk(page.front) if isinstance(b, Points)), None)
    return " ".join(points.items[0]) if points is not None and points.items else ""


def _key(limit: Verdict) -> tuple[str, str]:
    return limit.where, limit.measure


def _limits(view: View, part: ReportPart, before: Any) -> list[dict[str, str]]:
    """The numbers of limits that the table as it is breaches, before and after."""
    policy = read_judgement(before or {})
    table = {_key(limit): limit for limit in each_limit(limits_of(policy))}
    judged = each_limit(limits_of(part.read(Overview).policy))
    after = [limit for limit in judged if limit.value is not None]
    first = [v for v in after if _key(v) in table and table[_key(v)].met is not True]
    rows = []
    for limit in (first or after)[:MOST_LIMITS]:
        row = limited_row(part, {}, limit)
        old = table.get(_key(limit))
        shown = limited_row(part_of(before, view.texts), {}, old).value if old else ""
        _, name = titles(view.texts, limit.measure, _entry(before or {}, limit).get("k"))
        secret = limit.where.partition(".")[2]
        if secret:
            name = view.texts("options.of_secret", measure=name, secret=part.writer.name(secret))
        rows.append({"name": name, "before": shown, "after": row.value})
    return rows


def _entry(table: Data, limit: Verdict) -> Data:
    """What the assessment of the table says of the measure of a limit."""
    place, _, secret = limit.where.partition(".")
    measures = table.get(place, {})
    return (measures.get(secret, {}) if secret else measures).get(limit.measure) or {}


def _own(part: ReportPart) -> list[dict[str, str]]:
    """What the release costs: people hidden, detail lost."""
    texts = part.texts
    data = part.data
    writer = part.writer
    rows = []
    if "suppressed" in data:
        name = texts("workbench.protect.hidden")
        hidden = str(writer.count(data["suppressed"]))
        rows.append({"name": name, "before": str(writer.count(0)), "after": hidden})
    loss = data.get("loss", {}).get("generalization_loss")
    if loss:
        name = texts("workbench.protect.lost")
        lost = str(writer.share(loss["arithmetic"]))
        rows.append({"name": name, "before": str(writer.share(0.0)), "after": lost})
    return rows


def _nearest(part: ReportPart) -> str:
    """The limit that is met most narrowly, or the limit that is breached most."""
    rows = [limited_row(part, {}, limit) for limit in limits_of(part.read(Overview).policy)]
    near = [row for row in rows if row.position is not None]
    breached = [row for row in near if row.state == "breached"]
    if not near:
        return ""
    row = max(breached or near, key=lambda row: row.position or 0.0)
    key = "worst" if breached else "nearest"
    values = {"name": row.short or row.name, "value": row.value, "limit": row.limit}
    return part.texts(f"workbench.protect.{key}", **values, far=row.far)
