"""A comparison as a page shows it: each release's numbers, and what follows from these."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sievert.charts import Dot
from sievert.charts.risk_utility_map import limit_chart
from sievert.formatting import percent
from sievert.policy import Judgement
from sievert.report.numbers import (
    bits_text,
    proportion,
    release_names,
    share_of,
    times,
)
from sievert.report.overview import read_judgement
from sievert.report.page import BulletList, Chapter, Grid, Link, Paragraph, Picture, make_grid
from sievert.report.parts import Data, NumberText, ReportPart

Ends = tuple[NumberText, NumberText]
NARROW = 0.15  # the width of an interval of a share that is worth telling
LIMIT_HEADS = (
    *("head_release", "head_distortion", "head_told"),
    *("head_least", "head_bound", "head_ratio"),
)
RARE = 0.05  # a p-value up to which chance is not the reason


@dataclass(frozen=True)
class SecretTexts:
    """What one release tells of one secret, and what it has lost, in bits per record."""

    value: NumberText
    corrected: NumberText
    interval: Ends
    lost: NumberText
    lost_interval: Ends
    kept: NumberText  # a share with its interval, where that is narrow


@dataclass(frozen=True)
class ReleaseTexts:
    """One release."""

    number: int
    label: str
    data: Data
    identity: NumberText
    corrected: NumberText
    interval: Ends
    share: NumberText
    secrets: Mapping[str, SecretTexts]
    at_most: bool  # the same values became different ones: the bits are the most that it tells

    @property
    def policy(self) -> Judgement | None:
        """The policy held against it, where there is one."""
        return read_judgement(self.data)


class ComparisonView(ReportPart):
    """All releases beside their original."""

    @cached_property
    def secrets(self) -> tuple[str, ...]:
        """The secrets, in their order."""
        return tuple(self.data["original"]["attribute_disclosure"])

    @cached_property
    def key(self) -> NumberText:
        """The information in the original key: the most that a release can tell of it."""
        return bits_text(self.writer, self.data["releases"][0]["identity_disclosure"]["maximum"])

    @property
    def original_policy(self) -> Judgement | None:
        """The policy held against the original, where there is one."""
        return read_judgement(self.data["original"])

    def before(self, secret: str, what: str) -> NumberText:
        """A number of the original about a secret."""
        return bits_text(self.writer, self.data["original"]["attribute_disclosure"][secret][what])

    @cached_property
    def releases(self) -> tuple[ReleaseTexts, ...]:
        """Each release, in the order given."""
        each = self.data["releases"]
        names = release_names((str(r["name"]), (r.get("table") or {}).get("name")) for r in each)
        numbered = zip(range(1, len(each) + 1), names, each, strict=True)
        return tuple(self._release(*release) for release in numbered)

    def _release(self, number: int, label: str, data: Data) -> ReleaseTexts:
        writer, numbers = self.writer, data["identity_disclosure"]
        value = bits_text(writer, numbers["value"])
        return ReleaseTexts(
            number,
            label,
            data,
            value,
            bits_text(writer, numbers["corrected"]),
            self._ends(*numbers["interval"]),
            share_of(writer, value, self.key),
            {s: self._secret(data, s) for s in self.secrets},
            not numbers.get("deterministic", True) and 2 * numbers["chance"] > numbers["value"],
        )

    def _ends(self, low: float, high: float) -> Ends:
        return bits_text(self.writer, low), bits_text(self.writer, high)

    def _secret(self, data: Data, secret: str) -> SecretTexts:
        writer, numbers = self.writer, data["attribute_disclosure"][secret]
        loss = data["information_loss"][secret]
        lost, whole = self.lost(loss), self.before(secret, "corrected")
        low, high = loss["interval"]
        return SecretTexts(
            bits_text(writer, numbers["value"]),
            bits_text(writer, numbers["corrected"]),
            self._ends(*numbers["interval"]),
            lost,
            self._ends(low, high),
            self._kept(share_of(writer, lost, whole, rest=True), numbers["corrected"], whole, loss),
        )

    def lost(self, numbers: Data) -> NumberText:
        """What was lost beyond chance; no number where the estimate is none."""
        if numbers.get("reason") is not None:
            return NumberText(self.say("lost_unknown"), None)
        return bits_text(self.writer, numbers.get("excess", numbers["corrected"]))

    def _kept(self, share: NumberText, told: float, whole: NumberText, loss: Data) -> NumberText:
        """The share that is kept; no number where its interval is wide.

        Nor where a release seems to tell more than its original: one of both is not known well.
        """
        if share.number is None or not whole.number:
            return share
        least, most = loss["interval"]
        if told > whole.number or most - least > NARROW * whole.number:
            return NumberText(self.say("keeps_no_share"), None)
        kept = (1.0 - end / whole.number for end in (most, least))
        low, high = (percent(min(1.0, max(0.0, end))) for end in kept)
        return NumberText(self.say("keeps_interval", share=share, low=low, high=high), share.number)

    # -- what follows ---------------------------------------------------------------------------

    @cached_property
    def dominators(self) -> Mapping[int, tuple[int, ...]]:
        """Of each release those that are nowhere worse and somewhere better."""
        numbers = {r.data["name"]: r.number for r in self.releases}
        return {r.number: tuple(numbers[n] for n in r.data["dominated_by"]) for r in self.releases}

    def dominating(self, release: ReleaseTexts) -> str:
        """The releases that dominate one, in words."""
        numbers = self.dominators[release.number]
        return self.texts.join([self.releases[number - 1].label for number in numbers])

    @property
    def best(self) -> tuple[ReleaseTexts, ...]:
        """The releases that no other one dominates."""
        return tuple(r for r in self.releases if not self.dominators[r.number])

    @property
    def least(self) -> tuple[ReleaseTexts, ...]:
        """Of the best releases the one that discloses least of the key, or several alike."""
        return _lowest(self.best, [r.identity.number for r in self.best])

    def keeps_most(self, secret: str) -> tuple[ReleaseTexts, ...]:
        """Of the best releases the one that has lost least; none where intervals overlap."""
        each = [(r, r.secrets[secret]) for r in self.best]
        if not (best := _lowest([r for r, _ in each], [t.lost.number for _, t in each])):
            return ()
        end = best[0].secrets[secret].lost_interval[1].number
        lows = [t.lost_interval[0].number for _, t in each]
        return () if all(low is None or end is None or low <= end for low in lows) else best

    def by_chance(self, secret: str, what: str) -> tuple[ReleaseTexts, ...]:
        """Releases whose information, or loss, may be due to chance; not where it is not known."""
        return tuple(
            r
            for r in self.releases
            if (r.data[what][secret]["p_value"] or 0.0) > RARE
            and r.secrets[secret].lost.number is not None
        )

    def at_nothing(self, secret: str, which: str) -> tuple[ReleaseTexts, ...]:
        """Releases whose interval, or lost_interval, begins at 0."""
        ends = {r.number: getattr(r.secrets[secret], which)[0].number for r in self.releases}
        return tuple(r for r in self.releases if (end := ends[r.number]) is not None and end <= 0)


def _lowest(
    each: Sequence[ReleaseTexts], numbers: Sequence[float | None]
) -> tuple[ReleaseTexts, ...]:
    known = [n for n in numbers if n is not None]
    if not known or len(known) < len(numbers):
        return ()
    return tuple(r for r, n in zip(each, numbers, strict=True) if n == min(known))


CurvePoint = tuple[NumberText, NumberText, NumberText]  # distortion, least, bound


# One release beside the best one that changes as much, as sentences name its numbers.
DistanceToLimit = dict[str, Any]


def distances(view: ComparisonView, secret: str) -> Iterator[DistanceToLimit]:
    """Each release against the limit of one secret; those that were not placed are left out."""
    for release in view.releases:
        if (data := (release.data.get("limit") or {}).get(secret)) is not None:
            told, least, bound = (
                bits_text(view.writer, data[k]) for k in ("disclosed", "least", "bound")
            )
            yield {
                "release": release.label,
                "secret": view.writer.name(secret),
                "distortion": proportion(view.writer, data["distortion"]),
                "told": told,
                "least": least,
                "bound": bound,
                "ratio": times(view.writer, told, least),
            }


def limit_point(view: ComparisonView) -> tuple[str, str] | None:
    """How far the releases are from the limit of the first secret; None without a limit."""
    secret = next(iter(view.data.get("limit") or {}), None)
    each = [] if secret is None else list(distances(view, secret))
    if secret is None or not each:
        return None
    known = [d for d in each if d["ratio"].number is not None]
    name = view.writer.name(secret)
    if not known:
        return view.say("far_unknown", secret=name), view.say("far_unknown_why")
    if len(known) == 1:
        key = "far_one" if len(each) == 1 else "far_some"
        return view.say("far_times", **known[0]), view.say(key, **known[0])
    low, high = (end(known, key=lambda d: d["ratio"].number) for end in (min, max))
    head = view.say("far_range", secret=name, low=low["ratio"], high=high["ratio"])
    return head, view.say("far_names", nearest=low["release"], farthest=high["release"])


def limit_chapter(
    view: ComparisonView, number: int, secret: str, *, pictured: bool
) -> Iterator[Chapter]:
    """The map with the limit, and each release beside what would have been possible."""
    limit = (view.data.get("limit") or {}).get(secret)
    each = list(distances(view, secret))
    if limit is None or not each:
        return
    name = view.writer.name(secret)
    curve = _curve(view, limit)
    grid = _grid(view, name, each, curve)
    drawn = [d for d in each if None not in (d["distortion"].number, d["told"].number)]
    picture = pictured and drawn and len(curve) > 1
    inner = (
        BulletList(tuple(_sentence(view, d) for d in each)),
        _picture(view, name, drawn, curve, grid, merged=limit["merged"]) if picture else grid,
        *(Paragraph(text, "note") for text in _notes(view, limit)),
        Paragraph(view.say("limit_reading"), "reading"),
    )
    anchor = f"{view.anchor('limit')}{number}"
    yield Chapter(view.say("limit_title", secret=name), anchor, inner)


def _sentence(view: ComparisonView, distance: DistanceToLimit) -> str:
    if distance["least"].number is None:
        key = "placed_unknown"
    else:
        key = "placed_no_ratio" if distance["ratio"].number is None else "placed"
    return view.say(key, **distance)


def _curve(view: ComparisonView, limit: Data) -> list[CurvePoint]:
    """Points of the limit as they are shown, each once."""
    shown: dict[tuple[float | None, float | None], CurvePoint] = {}
    for point in limit["points"]:
        at = proportion(view.writer, point["distortion"])
        least, bound = (bits_text(view.writer, point[k]) for k in ("least", "bound"))
        if None not in (at.number, least.number):
            shown.setdefault((at.number, least.number), (at, least, bound))
    return list(shown.values())


def _picture(
    view: ComparisonView,
    secret: str,
    distances: Sequence[DistanceToLimit],
    curve: Sequence[CurvePoint],
    grid: Grid,
    *,
    merged: bool,
) -> Picture:
    dots = []
    for d in distances:
        told, least = d["told"].number, d["least"].number
        low = told if least is None else least
        dots.append(
            Dot(name=d["release"], across=d["distortion"].number, up=told, interval=(low, told))
        )
    spec = limit_chart(
        view.say("limit_chart", secret=secret),
        [view.say("limit_below_merged" if merged else "limit_below")],
        [(at.number or 0.0, least.number or 0.0, bound.number) for at, least, bound in curve],
        dots,
    )
    return Picture(spec, view.say("limit_see"), grid)


def _grid(
    view: ComparisonView,
    secret: str,
    distances: Sequence[DistanceToLimit],
    curve: Sequence[CurvePoint],
) -> Grid:
    """Releases first, then the points of the limit; what none is below where that is known."""
    best = Link(view.say("limit_row"), "def-least_possible")
    rows: list[tuple[object, ...]] = [
        tuple(d[k] for k in ("release", "distortion", "told", "least", "bound", "ratio"))
        for d in distances
    ]
    rows += [(best, at, "", least, bound, "") for at, least, bound in curve]
    head = [view.say(key) for key in LIMIT_HEADS]
    if all(bound.number is None for _, _, bound in curve):
        head, rows = [*head[:4], head[5]], [(*row[:4], row[5]) for row in rows]
    return make_grid(view.say("limit_caption", secret=secret), head, rows)


def _notes(view: ComparisonView, limit: Data) -> Iterator[str]:
    """From which distortion on a release can tell nothing, and what is unknown of the limit."""
    silent = proportion(view.writer, limit["perfect"])
    yield view.say("perfect_unknown" if silent.number is None else "perfect", distortion=silent)
    if limit["merged"]:
        yield view.say("limit_merged")
    if limit["reached"] is False:
        yield view.say("limit_not_reached")
