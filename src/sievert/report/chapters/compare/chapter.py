"""The chapter of a comparison: which release discloses least, which keeps most, how far both could.

Releases are columns of its tables, numbers rows: each number leads to what it means.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

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
    listed,
    rounding,
    too_small,
)
from sievert.report.page import BulletList, Chapter, Grid, Paragraph, Picture
from sievert.report.parts import ReportPart

MOST_NAMED = 4  # releases in a sentence
MOST_PICTURED = 3  # secrets with pictures, two each
NOISE = 0.2  # share of the bits that chance may have before it is said


def blocks(part: ReportPart) -> Blocks:
    """The whole chapter."""
    if part.redactor.silent:
        return too_small(part)
    view = ComparisonView(part)
    found: list[Any] = [Paragraph(_answer(view), "lead")]
    found += (
        [BulletList(tuple(_dominated(view)))] if len(view.releases) > 1 and view.secrets else []
    )
    found.append(Paragraph(_paired(view)))
    if not part.redactor.internal:
        found += [Paragraph(part.texts("compared.numbered"), "note"), rounding(part)]
    found += [_key(view), *(_secret(view, i, s) for i, s in enumerate(view.secrets, 1))]
    found += [*compared_tables.own(view), *compared_tables.losses(view)]
    if not part.redactor.internal:
        found.append(Paragraph(part.texts("compared.only_internal"), "note"))
    return tuple(found)


def sentences(part: ReportPart) -> tuple[str, ...]:
    """What the best choice is, how much each release keeps, how far they are from the limit."""
    if part.redactor.silent:
        return ()
    view = ComparisonView(part)
    found = [_answer(view)]
    found += [_keeps(view, view.secrets[0])] if view.secrets else []
    far = distance_to_limit.sentence(view)
    return (*found, far or _smallest(view))


# -- sentences ------------------------------------------------------------------------------------


def _names(view: ComparisonView, releases: Sequence[ReleaseTexts]) -> str:
    """Releases in a sentence; of many the first ones."""
    texts, left = view.part.texts, len(releases) - MOST_NAMED
    if left < 2:
        return listed(texts, [r.label for r in releases])
    first = ", ".join(r.label for r in releases[:MOST_NAMED])
    return texts("compared.others", releases=first, number=left)


def _answer(view: ComparisonView) -> str:
    """Which release is the better one, and why."""
    texts = view.part.texts
    if not view.told:
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
    if len(view.left) == 1:
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


def _dominated(view: ComparisonView) -> Iterator[str]:
    """Which releases are out."""
    texts, named = view.part.texts, {r.number: r.label for r in view.releases}
    any_ = False
    for release in view.releases:
        by = view.dominated[release.number]
        if by:
            any_ = True
            key = "compared.dominated_by" if len(by) == 1 else "compared.dominated_by_several"
            others = listed(texts, [named[n] for n in by])
            yield texts(key, release=release.label, others=others)
    if not any_:
        yield texts("compared.none_dominated" if view.redactor.internal else "compared.none_shown")


def _paired(view: ComparisonView) -> str:
    by = view.part.data["settings"].get("key")
    return view.part.texts("compared.paired_order" if by is None else "compared.paired_key")


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
        return texts("compared.keeps", items=listed(texts, items), **values)
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
    return texts("compared.k", items=listed(texts, items))


# -- the key --------------------------------------------------------------------------------------


def _key(view: ComparisonView) -> Chapter:
    """What each release tells of the original key."""
    texts, redactor = view.part.texts, view.redactor
    named = {r.number: r.label for r in view.releases}
    rows = [
        Row(
            "identity_disclosure",
            "identity",
            str(view.key),
            [str(r.identity) for r in view.releases],
        ),
        Row("identity_disclosure", "identity_share", "", [str(r.share) for r in view.releases]),
        Row("beyond_chance", "corrected", "", [str(r.corrected) for r in view.releases]),
        Row(
            "beyond_chance", "range", "", [interval(redactor, r.low, r.high) for r in view.releases]
        ),
        Row(
            "suppressed_records",
            "suppressed",
            "",
            [str(redactor.count(r.data["records"]["suppressed"])) for r in view.releases],
        ),
    ]
    if view.secrets and len(view.releases) > 1:
        by = [listed(texts, [named[n] for n in view.dominated[r.number]]) for r in view.releases]
        rows.append(Row("dominated", "dominated", "", by))
    found: list[Any] = []
    drawn = [r for r in view.releases if r.identity.number is not None]
    tables = grids(view, texts("compared.key_caption"), rows)
    if drawn and not view.secrets:
        spec = bars(
            texts("compared.key_chart"),
            [texts("compared.key_below", whole=str(view.key))],
            [Bar(r.label, r.identity.number) for r in drawn],
            axis=texts("compared.axis_identity"),
        )
        behind = Grid(
            texts("compared.key_caption"),
            (texts("compared.head_release"), texts("compared.axis_identity")),
            tuple((r.label, str(r.identity)) for r in drawn),
            (1,),
        )
        found.append(Picture(spec, texts("compared.key_see"), behind))
    found += [*tables, Paragraph(texts("compared.key_reading"), "reading")]
    found += compared_tables.by_column(view)
    return Chapter(texts("compared.key_title"), view.part.anchor("key"), tuple(found))


# -- a secret -------------------------------------------------------------------------------------


def _secret(view: ComparisonView, number: int, secret: str) -> Chapter:
    """What each release tells of one secret, what it has lost of it, and how far it could go."""
    texts, name = view.part.texts, view.redactor.name(secret)
    found: list[Any] = [Paragraph(_keeps(view, secret), "lead")]
    found += [_map(view, secret)] if number <= MOST_PICTURED and _drawn(view, secret) else []
    caption = texts("compared.secret_caption", secret=name)
    found += grids(view, caption, list(_rows(view, secret)))
    said = tuple(_chance(view, secret))
    found += [BulletList(said)] if said else []
    found.append(Paragraph(texts("compared.secret_reading"), "reading"))
    found += distance_to_limit.blocks(view, number, secret, pictured=number <= MOST_PICTURED)
    title = texts("compared.secret_title", secret=name)
    return Chapter(title, view.part.anchor(f"secret{number}"), tuple(found))


def _drawn(view: ComparisonView, secret: str) -> list[tuple[ReleaseTexts, Dot]]:
    found = []
    for r in view.releases:
        t = r.secrets[secret]
        numbers = (t.lost.number, r.identity.number, t.lost_low.number, t.lost_high.number)
        if all(n is not None for n in numbers):
            lost, identity, low, high = (float(n or 0.0) for n in numbers)
            hollow = bool(view.dominated[r.number])
            found.append((r, Dot(r.label, lost, identity, (low, high), hollow)))
    return found


def _map(view: ComparisonView, secret: str) -> Picture:
    """Risk upwards, loss to the right."""
    texts, redactor, drawn = view.part.texts, view.redactor, _drawn(view, secret)
    spec = risk_utility_chart(
        texts("compared.map_chart", secret=redactor.name(secret)),
        [texts("compared.map_below", whole=str(view.before(secret, "corrected")))],
        [dot for _, dot in drawn],
        across=texts("compared.axis_lost"),
        up=texts("compared.axis_identity"),
    )
    head = ("head_release", "axis_lost", "row_range", "axis_identity")
    rows = []
    for r, _ in drawn:
        t = r.secrets[secret]
        ends = interval(redactor, t.lost_low, t.lost_high)
        rows.append((r.label, str(t.lost), ends, str(r.identity)))
    caption = texts("compared.map_caption", secret=redactor.name(secret))
    behind = Grid(caption, tuple(texts(f"compared.{h}") for h in head), tuple(rows), (1, 2, 3))
    return Picture(spec, texts("compared.map_see"), behind)


def _rows(view: ComparisonView, secret: str) -> Iterator[Row]:
    redactor = view.redactor
    held = [r.secrets[secret] for r in view.releases]
    before = view.part.data["original"]["attribute_disclosure"][secret]
    low, high = (view.redactor.bits(end) for end in before["interval"])
    yield Row(
        "attribute_disclosure",
        "told",
        str(view.before(secret, "value")),
        [str(t.value) for t in held],
    )
    yield Row(
        "beyond_chance",
        "corrected",
        str(view.before(secret, "corrected")),
        [str(t.corrected) for t in held],
    )
    yield Row(
        "beyond_chance",
        "range",
        interval(redactor, low, high),
        [interval(redactor, t.low, t.high) for t in held],
    )
    yield Row("information_loss", "lost", "", [str(t.lost) for t in held])
    yield Row(
        "information_loss", "range", "", [interval(redactor, t.lost_low, t.lost_high) for t in held]
    )
    yield Row("information_loss", "kept", "", [str(t.kept) for t in held])
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
    for key, held in (
        ("told", view.by_chance(secret, "attribute_disclosure")),
        ("lost", view.by_chance(secret, "information_loss")),
    ):
        if held:
            yield texts(f"compared.chance_{key}", releases=_names(view, held), secret=name)
    for key, held in (("told", view.near_nothing(secret)), ("lost", view.not_lost(secret))):
        if held:
            yield texts(f"compared.near_{key}", releases=_names(view, held), secret=name)
    if len(view.left) > 1 and not view.keeps_most(secret):
        yield texts("compared.chance_apart", secret=name)
