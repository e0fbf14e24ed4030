"""The chapter of a comparison: which release discloses least, which keeps most, how far both could.

Releases are columns of its tables, numbers rows: each number leads to what it means.
"""

from collections.abc import Iterator, Sequence
from functools import partial

from sievert.charts import Bar, Dot, bars, risk_utility_chart
from sievert.charts.drawing import short_name
from sievert.commands.compare import page_tables as compare_tables
from sievert.commands.compare.limits_chapter import bases, limits_chapters, limits_of_releases
from sievert.commands.compare.page_tables import Row, grids, named_row, smallest_class
from sievert.commands.compare.result import Assessed
from sievert.commands.compare.view import (
    ComparisonView,
    ReleaseTexts,
    comparison_view,
    limit_chapter,
    limit_point,
)
from sievert.formatting import digits, percent
from sievert.policy import GateReason, Judgement
from sievert.report.limits import STATES, each_limit, limits_of, reasons_of, state_of
from sievert.report.numbers import (
    MOST_NAMED,
    bits_text,
    interval_text,
    pairing_paragraphs,
    some_names,
)
from sievert.report.page import Block, BulletList, Chapter, Grid, Paragraph, Picture, make_grid
from sievert.report.parts import ReportPart

MOST_PICTURED = 3  # secrets with pictures, two each
MOST_SECRETS = 3  # in one table
LONGEST = 16  # letters of a secret in the head of a column
HEADS = ("table_release", "table_identity", "table_share", "table_k", "table_suppressed")
# How many limits a table meets, and the same where something else stands against the policy.
TALLY = {"met": "table_met", "doubtful": "table_doubtful", "breached": "table_breached"}
BUT = {"doubtful": "table_but_doubtful", "breached": "table_but_breached"}
NOISE = 0.2  # share of the bits that chance may have without a remark


def blocks(part: ReportPart) -> tuple[Block | Chapter, ...]:
    """The chapters: all releases, the limits of a policy, then each number on its own."""
    view = comparison_view(part)
    return (
        _overview(view),
        *limits_chapters(view),
        _key(view),
        *(_secret(view, i, s) for i, s in enumerate(view.secrets, 1)),
        view.chapter("own_title", "own", compare_tables.own(view)),
        *compare_tables.losses(view),
        _pairing(view),
    )


def points(part: ReportPart) -> list[tuple[str, str]]:
    """What the best choice is, how much each release keeps, how far they are from the limit."""
    view = comparison_view(part)
    each = [_answer(view), *(_keeps(view, secret) for secret in view.secrets[:1])]
    return [*each, *(point for point in [limit_point(view)] if point is not None)]


def _pairing(view: ComparisonView) -> Chapter:
    """How the records of both tables were brought together, and what shows it."""
    key = "paired_order" if view.comparison.settings.key is None else "paired_key"
    pairings = [release.pairing for release in view.comparison.releases]
    shown = pairing_paragraphs(view, pairings, [r.label for r in view.releases])
    return view.chapter("pairing_title", "pairing", (Paragraph(view.say(key)), *shown))


# -- findings -------------------------------------------------------------------------------------


def _names(view: ComparisonView, releases: Sequence[ReleaseTexts]) -> str:
    return some_names(view, "compared.others", [r.label for r in releases])


def _answer(view: ComparisonView) -> tuple[str, str]:
    """Which release is the better one, and why."""
    least = view.least
    number = len(view.releases)
    values = {
        "release": _names(view, least),
        "bits": least[0].identity,
        "whole": view.key,
        "share": least[0].share,
        "number": number,
    }
    bits = view.say("answer_bits", **values)
    if number == 1 or len(view.best) == 1:
        key = "answer_one" if number == 1 else "answer_best"
        return view.say(key, **values), bits if number == 1 else f"{view.say('why_best')} {bits}"
    alike = view.say("answer_alike" if len(least) > 1 else "answer_least", **values)
    if not view.secrets:
        return alike, bits
    keepers = {s: view.keeps_most(s) for s in view.secrets}
    secret = next((s for s, best in keepers.items() if best), None)
    if secret is None:
        return alike, f"{bits} {view.say('answer_not_apart')}"
    best = keepers[secret]
    same = {r.number for r in best} & {r.number for r in least}
    key = "answer_keep" if len(best) > 1 else "answer_also" if same else "answer_keeps"
    keeps = view.say(key, release=_names(view, best), secret=view.writer.name(secret))
    return alike, " ".join((bits, keeps) if same else (bits, keeps, view.say("answer_choice")))


def _keeps(view: ComparisonView, secret: str) -> tuple[str, str]:
    """How much each release keeps of what the original tells of a secret."""
    writer = view.writer
    whole = view.before_corrected(secret)
    shares = [(r, r.secrets[secret].kept) for r in view.releases]
    known = sorted((s.number, i) for i, (_, s) in enumerate(shares) if s.number is not None)
    values = {"secret": writer.name(secret), "whole": whole}
    if not known:
        return view.say("keeps_unknown", **values), view.say("keeps_unknown_why", **values)
    low, high = (shares[known[end][1]][1] for end in (0, -1))
    if len(shares) == 1:
        return view.say("keeps_one", share=high, **values), view.say("keeps_whole", **values)
    if len(shares) <= MOST_NAMED:
        items = [view.say("keeps_item", release=r.label, share=s) for r, s in shares]
        text = view.say("keeps_items", items=view.texts.join(items))
    else:
        text = view.say("keeps_range", low=low, high=high)
    return view.say("keeps", **values), f"{text} {view.say('keeps_whole', **values)}"


# -- the key --------------------------------------------------------------------------------------


def _key(view: ComparisonView) -> Chapter:
    """What each release tells of the original key."""
    writer = view.writer
    releases = view.releases
    row = partial(named_row, view)
    ranges = [interval_text(writer, *r.interval) for r in releases]
    rows = [
        row("identity_disclosure", "row_identity", [view.key, *(r.identity for r in releases)]),
        row("identity_disclosure", "row_identity_share", ["", *(r.share for r in releases)]),
        row("beyond_chance", "row_corrected", ["", *(r.corrected for r in releases)]),
        row("beyond_chance", "row_range", ["", *ranges]),
        *_records(view),
    ]
    if view.secrets and len(releases) > 1:
        rows.append(
            row(
                "dominated",
                "row_dominated",
                ["", *(view.dominating(r) if view.dominators[r.number] else "" for r in releases)],
            )
        )
    caption = view.say("key_caption")
    reading = view.say("key_reading")
    blocks: list[Block] = [*grids(view, caption, rows), Paragraph(reading, "reading")]
    known = [(_marked(view, r), r.identity) for r in releases if r.identity.number is not None]
    if known and not view.secrets:
        axis = view.say("axis_identity")
        spec = bars(
            view.say("key_chart"),
            [view.say("key_below", whole=view.key)],
            [Bar(row=label, number=text.number) for label, text in known],
            axis=axis,
        )
        grid = make_grid(caption, (view.say("head_release"), axis), known)
        blocks.insert(0, Picture(spec=spec, caption=view.say("key_see"), behind=grid))
    return view.chapter("key_title", "key", (*blocks, *compare_tables.by_column(view)))


def _records(view: ComparisonView) -> Iterator[Row]:
    """The records of the original that a release does not have, or not whole."""
    each = [release.records for release in view.comparison.releases]
    for words, numbers in (
        ("row_suppressed", [records.suppressed for records in each]),
        ("row_cells_suppressed", [records.cells_suppressed for records in each]),
        ("row_not_released", [records.not_released for records in each]),
    ):
        cells = ["", *map(view.writer.count, numbers)]
        yield named_row(view, "suppressed_originals", words, cells)


# -- a secret -------------------------------------------------------------------------------------


def _secret(view: ComparisonView, number: int, secret: str) -> Chapter:
    """What each release tells of one secret, what it has lost of it, and how far it could go."""
    name = view.writer.name(secret)
    pictured = view.pictured(number, MOST_PICTURED)
    chance = tuple(_chance(view, secret))
    lead = Paragraph(" ".join(_keeps(view, secret)), "lead")
    blocks = (
        *([lead] if number > 1 else []),  # of the first secret it is a finding of the page
        *(_map(view, secret) if pictured else ()),
        *grids(view, view.say("secret_caption", secret=name), _rows(view, secret)),
        *compare_tables.secret_by_column(view, secret),
        *([BulletList(chance)] if chance else ()),
        Paragraph(view.say("secret_reading"), "reading"),
        *limit_chapter(view, number, secret, pictured=pictured),
    )
    anchor = f"{view.anchor('secret')}{number}"
    return Chapter(title=view.say("secret_title", secret=name), anchor=anchor, blocks=blocks)


def _map(view: ComparisonView, secret: str) -> Iterator[Picture]:
    """Risk upwards, loss to the right, of the releases whose numbers are shown."""
    name = view.writer.name(secret)
    each = [(r, r.secrets[secret]) for r in view.releases]
    known = [
        (r, t, [x.number or 0.0 for x in (t.lost, r.identity, *t.lost_interval)])
        for r, t in each
        if None not in [x.number for x in (t.lost, r.identity, *t.lost_interval)]
    ]
    if not known:
        return
    names = {r.number: _marked(view, r) for r in view.releases}
    dots = [
        Dot(
            name=names[r.number],
            across=lost,
            up=identity,
            interval=(low, high),
            hollow=bool(view.dominators[r.number]),
        )
        for r, _, (lost, identity, low, high) in known
    ]
    rows = (
        (names[r.number], t.lost, interval_text(view.writer, *t.lost_interval), r.identity)
        for r, t, _ in known
    )
    head = [*map(view.say, ("head_release", "axis_lost", "row_range", "axis_identity"))]
    spec = risk_utility_chart(
        view.say("map_chart", secret=name),
        [view.say("map_below", whole=view.before_corrected(secret))],
        dots,
        across=head[1],
        up=head[3],
    )
    grid = make_grid(view.say("map_caption", secret=name), head, rows)
    yield Picture(spec=spec, caption=view.say("map_see"), behind=grid, name=("map", secret))


def _marked(view: ComparisonView, release: ReleaseTexts) -> str:
    """A release on the map: its height may be the most that it can be."""
    return view.say("map_at_most", release=release.label) if release.at_most else release.label


def _rows(view: ComparisonView, secret: str) -> list[Row]:
    writer = view.writer
    each = [r.secrets[secret] for r in view.releases]
    before = view.before(secret).whole
    ends = interval_text(writer, *map(writer.number, before.interval))
    value = bits_text(writer, before.value)
    corrected = bits_text(writer, before.corrected)
    ranges = [interval_text(writer, *t.interval) for t in each]
    lost_ranges = [interval_text(writer, *t.lost_interval) for t in each]
    row = partial(named_row, view)
    return [
        row("attribute_disclosure", "row_told", [value, *(t.value for t in each)]),
        row("beyond_chance", "row_corrected", [corrected, *(t.corrected for t in each)]),
        row("beyond_chance", "row_range", [ends, *ranges]),
        row("information_loss", "row_lost", ["", *(t.lost for t in each)]),
        row("information_loss", "row_range", ["", *lost_ranges]),
        row("information_loss", "row_kept", ["", *(t.kept for t in each)]),
        *compare_tables.exact(view, secret),
    ]


def _chance(view: ComparisonView, secret: str) -> Iterator[str]:
    """What cannot be distinguished from chance."""
    name = view.writer.name(secret)
    before = view.before(secret).whole
    value = bits_text(view.writer, before.value)
    chance = bits_text(view.writer, before.chance)
    if value.number and chance.number and chance.number > NOISE * value.number:
        yield view.say("chance_before", secret=name, value=value, chance=chance)
    for key, releases in (
        ("chance_told", view.told_by_chance(secret)),
        ("chance_lost", view.lost_by_chance(secret)),
        ("near_told", view.told_near_nothing(secret)),
        ("near_lost", view.lost_near_nothing(secret)),
        ("lost_why", tuple(r for r in view.releases if r.secrets[secret].lost.number is None)),
    ):
        if releases:
            yield view.say(key, releases=_names(view, releases), secret=name)
    if len(view.best) > 1 and not view.keeps_most(secret):
        yield view.say("chance_apart", secret=name)


# -- one row per release --------------------------------------------------------------------------


def _overview(view: ComparisonView) -> Chapter:
    """The releases side by side, and what to know before their numbers are read."""
    left = len(view.secrets) - MOST_SECRETS
    releases = view.releases
    at_most = [
        view.say("identity_at_most", release=r.label, value=r.identity, corrected=r.corrected)
        for r in releases
        if r.at_most
    ]
    blocks = (
        _grid(view),
        *([limits_of_releases(view)] if any(r.policy for r in releases) else ()),
        *([Paragraph(view.say("table_secrets", number=left), "note")] if left > 0 else ()),
        *(Paragraph(text, "note") for text in at_most),
        *([_dominance(view)] if len(releases) > 1 and view.secrets else ()),
        *(bases(view) if any(state_of(r.policy) for r in releases) else ()),
    )
    return Chapter(
        title=view.say("table_title"), anchor=view.anchor("overview"), blocks=blocks, screen=True
    )


def _dominance(view: ComparisonView) -> Block:
    """Which releases are out, and by which."""
    out = []
    for release in view.releases:
        better = view.dominators[release.number]
        if better:
            key = "dominated_by" if len(better) == 1 else "dominated_by_several"
            text = view.say(key, release=release.label, others=view.dominating(release))
            out.append(text)
    if not out:
        return Paragraph(view.say("none_dominated"), "reading")
    return BulletList(tuple(out))


def _grid(view: ComparisonView) -> Grid:
    secrets = view.secrets[:MOST_SECRETS]
    original = view.comparison.original
    judged = any(r.policy for r in view.releases)
    head = [view.say(key) for key in HEADS]
    head += [view.say("table_policy")] if judged else []
    for secret in secrets:
        name = short_name(secret, LONGEST)
        head += (view.say(key, secret=name) for key in ("table_attribute", "table_loss"))
    first: list[object] = [view.say("original"), view.key, percent(1.0)]
    suppressed = view.comparison.table.get("suppressed") or 0
    first += _own(view, original.assessment, original.policy, suppressed, judged=judged)
    for secret in secrets:
        value = bits_text(view.writer, view.before(secret).whole.value)
        corrected = view.before_corrected(secret)
        first += (view.say("table_bits", value=value, corrected=corrected), "")
    rows = [first, *(_row(view, r, secrets, judged=judged) for r in view.releases)]
    key = "table_caption" if secrets else "table_caption_identity"
    return make_grid(view.say(key, whole=view.key), head, rows)


def _row(
    view: ComparisonView, release: ReleaseTexts, secrets: tuple[str, ...], *, judged: bool
) -> list[object]:
    data = release.release
    bits = release.identity
    identity = view.say("table_at_most", value=bits) if release.at_most else str(bits)
    row: list[object] = [release.label, identity, release.share]
    row += _own(view, data.assessment, data.policy, data.records.suppressed, judged=judged)
    for secret in secrets:
        each = release.secrets[secret]
        _, high = data.disclosed.loss[secret].whole.interval
        lost = each.lost.number
        row += (
            view.say("table_bits", value=each.value, corrected=each.corrected),
            str(each.lost)
            if lost is None
            else view.say(
                "table_lost", lost=each.lost, half=digits(f"{max(0.0, high - lost):.2g}")
            ),
        )
    return row


def _own(
    view: ComparisonView,
    assessed: Assessed,
    policy: Judgement | None,
    suppressed: int,
    *,
    judged: bool,
) -> Iterator[object]:
    """What a table is like on its own: its smallest group, records hidden, limits met."""
    yield smallest_class(view.writer, assessed)
    yield view.writer.count(suppressed)
    if judged:
        limits = each_limit(limits_of(policy))
        state = STATES[state_of(policy)]
        met = sum(limit.met is True for limit in limits)
        key = "" if policy is None else TALLY[state]
        reasons = [r for r in reasons_of(policy) if r.met is state_of(policy)]
        values: dict[str, object] = {"met": met, "number": len(limits)}
        if reasons and met == len(limits):  # what keeps the gate closed is something else
            key = BUT[state]
            values["reason"] = _reason(view, reasons)
        yield view.say(key, **values) if key else ""


def _reason(view: ComparisonView, reasons: Sequence[GateReason]) -> str:
    """Why a policy is not met though all of its limits are, in a few words."""
    names = next((r.names for r in reasons if r.what == "columns_without_role"), ())
    if not names:
        return view.say("table_reasons")
    return view.say("table_roles_one" if len(names) == 1 else "table_roles", number=len(names))
