"""The table of a comparison: one row per release, what it discloses and what it has lost."""

from __future__ import annotations

from collections.abc import Iterator

from sievert.charts.drawing import short_name
from sievert.formatting import percent
from sievert.report.chapters.compare_limits import bases
from sievert.report.chapters.compare_tables import smallest_class
from sievert.report.chapters.compare_view import ComparisonView, ReleaseTexts
from sievert.report.limits import STATES, limits_of, state_of
from sievert.report.page import Block, BulletList, Chapter, Grid, Paragraph, make_grid
from sievert.report.parts import Data

MOST_SECRETS = 3  # in one table
LONGEST = 16  # letters of a secret in the head of a column


def overview(view: ComparisonView) -> Chapter:
    """The releases side by side, and what to know before their numbers are read."""
    blocks: list[Block] = [_grid(view)]
    if (left := len(view.secrets) - MOST_SECRETS) > 0:
        blocks.append(Paragraph(view.say("table_secrets", number=left), "note"))
    blocks += (Paragraph(text, "note") for text in _chance(view))
    if len(view.releases) > 1 and view.secrets:
        out = tuple(_dominance(view))
        none = Paragraph(view.say("none_dominated"), "reading")
        blocks.append(BulletList(out) if out else none)
    if any(state_of(release.data) for release in view.releases):
        blocks += bases(view)
    return Chapter(view.say("table_title"), view.anchor("overview"), tuple(blocks), screen=True)


def _grid(view: ComparisonView) -> Grid:
    secrets, original = view.secrets[:MOST_SECRETS], view.data["original"]
    judged = any(r.data.get("policy") for r in view.releases)
    head = view.texts.each("compared.table", ("release", "identity", "share", "k", "suppressed"))
    head += [view.say("table_policy")] if judged else []
    for secret in secrets:
        name = short_name(secret, LONGEST)
        head += (view.say(f"table_{what}", secret=name) for what in ("attribute", "loss"))
    first: list[object] = [view.say("original"), view.key, percent(1.0)]
    first += _own(view, original, view.data["table"].get("suppressed") or 0, judged=judged)
    for secret in secrets:
        value, corrected = (view.before(secret, what) for what in ("value", "corrected"))
        first += (view.say("table_bits", value=value, corrected=corrected), "")
    rows = [first, *(_row(view, r, secrets, judged=judged) for r in view.releases)]
    key = "table_caption" if secrets else "table_caption_identity"
    return make_grid(view.say(key, whole=view.key), head, rows)


def _row(
    view: ComparisonView, release: ReleaseTexts, secrets: tuple[str, ...], *, judged: bool
) -> list[object]:
    data, identity = release.data, str(release.identity)
    if release.by_chance:
        identity = view.say("table_chance", value=identity)
    row: list[object] = [release.label, identity, release.share]
    row += _own(view, data, data["records"]["suppressed"], judged=judged)
    for secret in secrets:
        each = release.secrets[secret]
        low, high = data["information_loss"][secret]["interval"]
        half = f"{(high - low) / 2:.2g}"
        row.append(view.say("table_bits", value=each.value, corrected=each.corrected))
        row.append(view.say("table_lost", lost=each.lost, half=half))
    return row


def _own(view: ComparisonView, table: Data, suppressed: int, *, judged: bool) -> Iterator[object]:
    """What a table is like on its own: its smallest group, records hidden, limits met."""
    yield smallest_class(view.writer, table["assessment"]["reidentification"])
    yield view.writer.count(suppressed)
    if judged:
        limits, state = limits_of(table), STATES[state_of(table)]
        met = sum(limit["met"] is True for limit in limits)
        known = table.get("policy") is not None
        yield view.say(f"table_{state}", met=met, number=len(limits)) if known else ""


def _chance(view: ComparisonView) -> Iterator[str]:
    """Of which releases most of the bits would be there by chance."""
    for release in view.releases:
        if release.by_chance:
            numbers = {"value": release.identity, "corrected": release.corrected}
            yield view.say("identity_chance", release=release.label, **numbers)


def _dominance(view: ComparisonView) -> Iterator[str]:
    """Which releases are out."""
    for release in view.releases:
        if by := view.dominators[release.number]:
            key = "dominated_by" if len(by) == 1 else "dominated_by_several"
            others = view.dominating(release)
            yield view.say(key, release=release.label, others=others)
