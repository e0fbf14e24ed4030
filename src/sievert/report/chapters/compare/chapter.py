"""The chapter of a comparison: which release discloses least, which keeps most, how far both could.

Releases are columns of its tables, numbers rows: each number leads to what it means.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sievert.charts import Bar, Dot, bars, risk_utility_chart
from sievert.report.chapters.compare import distance_to_limit
from sievert.report.chapters.compare import tables as compared_tables
from sievert.report.chapters.compare.tables import Row, grids
from sievert.report.chapters.compare.view import ComparisonView, ReleaseTexts
from sievert.report.chapters.limit.numbers import (
    Blocks,
    about,
    divisible,
    interval,
    join_names,
    rounding,
    too_small,
)
from sievert.report.page import Block, BulletList, Chapter, Paragraph, Picture, make_grid
from sievert.report.parts import ReportPart

MOST_NAMED = 4  # releases in a sentence
MOST_PICTURED = 3  # secrets with pictures, two each
NOISE = 0.2  # share of the bits that chance may have before it is said


def blocks(part: ReportPart) -> Blocks:
    """The whole chapter."""
    if part.redactor.silent:
        return too_small(part)
    view, several, internal = (
        ComparisonView(part),
        len(part.data["releases"]) > 1,
        part.redactor.internal,
    )
    by = part.data["settings"].get("key")
    pairing = "compared.paired_order" if by is None else "compared.paired_key"
    numbered, only_internal = part.texts.each("compared", ("numbered", "only_internal"), ".")
    return (
        Paragraph(_answer(view), "lead"),
        *([BulletList(tuple(_dominance(view)))] if several and view.secrets else ()),
        Paragraph(part.texts(pairing)),
        *(() if internal else (Paragraph(numbered, "note"), rounding(part))),
        _key(view),
        *(_secret(view, i, s) for i, s in enumerate(view.secrets, 1)),
        compared_tables.own(view),
        *compared_tables.losses(view),
        *(() if internal else (Paragraph(only_internal, "note"),)),
    )


def sentences(part: ReportPart) -> tuple[str, ...]:
    """What the best choice is, how much each release keeps, how far they are from the limit."""
    if part.redactor.silent:
        return ()
    view = ComparisonView(part)
    keeps = (_keeps(view, secret) for secret in view.secrets[:1])
    return (_answer(view), *keeps, distance_to_limit.sentence(view) or _smallest(view))


# -- sentences ------------------------------------------------------------------------------------


def _names(view: ComparisonView, releases: Sequence[ReleaseTexts]) -> str:
    """Releases in a sentence; of many the first ones."""
    texts, left = view.part.texts, len(releases) - MOST_NAMED
    if left < 2:
        return join_names(texts, [r.label for r in releases])
    first = ", ".join(r.label for r in releases[:MOST_NAMED])
    return texts("compared.others", releases=first, number=left)


def _answer(view: ComparisonView) -> str:
    """Which release is the better one, and why."""
    texts = view.part.texts
    if not view.identity_known:
        return texts("compared.answer_withheld")
    least, number = view.least, len(view.releases)
    values = {
        "release": _names(view, least),
        "bits": about(view.redactor, least[0].identity),
        "whole": str(view.key),
        "share": str(least[0].share),
        "number": number,
    }
    if number == 1:
        return texts("compared.answer_one", **values)
    if len(view.best) == 1:
        return texts("compared.answer_best", **values)
    alike = texts("compared.answer_alike" if len(least) > 1 else "compared.answer_least", **values)
    if not view.secrets:
        return alike
    apart = [(s, best) for s in view.secrets if (best := view.keeps_most(s))]
    if not apart:
        return f"{alike} {texts('compared.answer_not_apart')}"
    secret, best = apart[0]
    values = {"release": _names(view, best), "secret": view.redactor.name(secret)}
    same = {r.number for r in best} & {r.number for r in least}
    key = "compared.answer_also" if same and len(best) == 1 else "compared.answer_keeps"
    key = key if len(best) == 1 else "compared.answer_keep"
    end = "" if same else f" {texts('compared.answer_choice')}"
    return f"{alike} {texts(key, **values)}{end}"


def _dominance(view: ComparisonView) -> list[str]:
    """Which releases are out."""
    texts, names = view.part.texts, {r.number: r.label for r in view.releases}
    sentences = []
    for release in view.releases:
        if by := view.dominated[release.number]:
            key = "compared.dominated_by" if len(by) == 1 else "compared.dominated_by_several"
            others = join_names(texts, [names[n] for n in by])
            sentences.append(texts(key, release=release.label, others=others))
    none = "compared.none_dominated" if view.redactor.internal else "compared.none_shown"
    return sentences or [texts(none)]


def _keeps(view: ComparisonView, secret: str) -> str:
    """How much each release keeps of what the original tells of a secret."""
    texts, redactor = view.part.texts, view.redactor
    whole = view.before(secret, "corrected")
    shares = [(r, r.secrets[secret].kept) for r in view.releases]
    known = sorted((s.number, i) for i, (_, s) in enumerate(shares) if s.number is not None)
    values = {"secret": redactor.name(secret), "whole": about(redactor, whole)}
    if not divisible(redactor, whole) or not known:
        return texts("compared.keeps_unknown", **values)
    if len(known) == 1 and len(shares) == 1:
        return texts("compared.keeps_one", share=str(shares[0][1]), **values)
    if len(shares) <= MOST_NAMED:
        items = [texts("compared.keeps_item", release=r.label, share=str(s)) for r, s in shares]
        return texts("compared.keeps", items=join_names(texts, items), **values)
    low, high = str(shares[known[0][1]][1]), str(shares[known[-1][1]][1])
    return texts("compared.keeps_range", low=low, high=high, **values)


def _smallest(view: ComparisonView) -> str:
    """How large the smallest class is, where no limit was asked for."""
    texts, shown = view.part.texts, view.releases[: MOST_NAMED + 1]
    if len(shown) > MOST_NAMED:
        shown = (view.least or view.releases)[:1]
    items = [
        texts("compared.k_item", release=r.label, k=str(compared_tables.smallest(view, r.data)))
        for r in shown
    ]
    return texts("compared.k", items=join_names(texts, items))


# -- the key --------------------------------------------------------------------------------------


def _key(view: ComparisonView) -> Chapter:
    """What each release tells of the original key."""
    texts, redactor, releases = view.part.texts, view.redactor, view.releases
    names = {r.number: r.label for r in releases}
    ranges = [interval(redactor, r.low, r.high) for r in releases]
    suppressed = [redactor.count(r.data["records"]["suppressed"]) for r in releases]
    rows = [
        Row("identity_disclosure", "identity", view.key, [r.identity for r in releases]),
        Row("identity_disclosure", "identity_share", "", [r.share for r in releases]),
        Row("beyond_chance", "corrected", "", [r.corrected for r in releases]),
        Row("beyond_chance", "range", "", ranges),
        Row("suppressed_records", "suppressed", "", suppressed),
    ]
    if view.secrets and len(releases) > 1:
        by = [join_names(texts, [names[n] for n in view.dominated[r.number]]) for r in releases]
        rows.append(Row("dominated", "dominated", "", by))
    caption, reading = texts.each("compared.key", ("caption", "reading"))
    blocks: list[Block] = [*grids(view, caption, rows), Paragraph(reading, "reading")]
    known = [(r.label, r.identity) for r in releases if r.identity.number is not None]
    if known and not view.secrets:
        axis = texts("compared.axis_identity")
        spec = bars(
            texts("compared.key_chart"),
            [texts("compared.key_below", whole=view.key)],
            [Bar(label, text.number) for label, text in known],
            axis=axis,
        )
        grid = make_grid(caption, (texts("compared.head_release"), axis), known)
        blocks.insert(0, Picture(spec, texts("compared.key_see"), grid))
    title = texts("compared.key_title")
    return Chapter(title, view.part.anchor("key"), (*blocks, *compared_tables.by_column(view)))


# -- a secret -------------------------------------------------------------------------------------


def _secret(view: ComparisonView, number: int, secret: str) -> Chapter:
    """What each release tells of one secret, what it has lost of it, and how far it could go."""
    texts, name, pictured = view.part.texts, view.redactor.name(secret), number <= MOST_PICTURED
    chance = tuple(_chance(view, secret))
    blocks = (
        Paragraph(_keeps(view, secret), "lead"),
        *(_map(view, secret) if pictured else ()),
        *grids(view, texts("compared.secret_caption", secret=name), list(_rows(view, secret))),
        *([BulletList(chance)] if chance else ()),
        Paragraph(texts("compared.secret_reading"), "reading"),
        *distance_to_limit.blocks(view, number, secret, pictured=pictured),
    )
    title = texts("compared.secret_title", secret=name)
    return Chapter(title, view.part.anchor(f"secret{number}"), blocks)


def _map(view: ComparisonView, secret: str) -> Iterator[Picture]:
    """Risk upwards, loss to the right, of the releases whose numbers are told."""
    texts, redactor, rows, dots = view.part.texts, view.redactor, [], []
    for r in view.releases:
        t = r.secrets[secret]
        numbers = [x.number for x in (t.lost, r.identity, t.lost_low, t.lost_high)]
        if None not in numbers:
            lost, identity, low, high = (float(n or 0.0) for n in numbers)
            hollow = bool(view.dominated[r.number])
            dots.append(Dot(r.label, lost, identity, (low, high), hollow))
            rows.append((r.label, t.lost, interval(redactor, t.lost_low, t.lost_high), r.identity))
    if not dots:
        return
    head = texts.each("compared", ("head_release", "axis_lost", "row_range", "axis_identity"), ".")
    spec = risk_utility_chart(
        texts("compared.map_chart", secret=redactor.name(secret)),
        [texts("compared.map_below", whole=view.before(secret, "corrected"))],
        dots,
        across=head[1],
        up=head[3],
    )
    grid = make_grid(texts("compared.map_caption", secret=redactor.name(secret)), head, rows)
    yield Picture(spec, texts("compared.map_see"), grid)


def _rows(view: ComparisonView, secret: str) -> Iterator[Row]:
    redactor, each = view.redactor, [r.secrets[secret] for r in view.releases]
    before = view.part.data["original"]["attribute_disclosure"][secret]
    ends = interval(redactor, *map(redactor.bits, before["interval"]))
    value, corrected = (view.before(secret, what) for what in ("value", "corrected"))
    ranges = [interval(redactor, t.low, t.high) for t in each]
    lost_ranges = [interval(redactor, t.lost_low, t.lost_high) for t in each]
    yield Row("attribute_disclosure", "told", value, [t.value for t in each])
    yield Row("beyond_chance", "corrected", corrected, [t.corrected for t in each])
    yield Row("beyond_chance", "range", ends, ranges)
    yield Row("information_loss", "lost", "", [t.lost for t in each])
    yield Row("information_loss", "range", "", lost_ranges)
    yield Row("information_loss", "kept", "", [t.kept for t in each])
    if redactor.internal:
        yield from compared_tables.exact(view, secret)


def _chance(view: ComparisonView, secret: str) -> Iterator[str]:
    """What cannot be told from chance."""
    texts, name = view.part.texts, view.redactor.name(secret)
    value, chance = view.before(secret, "value"), view.before(secret, "chance")
    if value.number and chance.number and chance.number > NOISE * value.number:
        yield texts(
            "compared.chance_before",
            secret=name,
            value=about(view.redactor, value),
            chance=about(view.redactor, chance),
        )
    for key, releases in (
        ("told", view.by_chance(secret, "attribute_disclosure")),
        ("lost", view.by_chance(secret, "information_loss")),
    ):
        if releases:
            yield texts(f"compared.chance_{key}", releases=_names(view, releases), secret=name)
    for key, releases in (("told", view.near_nothing(secret)), ("lost", view.not_lost(secret))):
        if releases:
            yield texts(f"compared.near_{key}", releases=_names(view, releases), secret=name)
    if len(view.best) > 1 and not view.keeps_most(secret):
        yield texts("compared.chance_apart", secret=name)
