"""A comparison as a page shows it: each release's numbers, and what follows from these."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from sievert.charts import Dot
from sievert.charts.risk_utility_map import limit_chart
from sievert.commands.compare.result import (
    Bits,
    Compared,
    Comparison,
    Estimated,
    LeastDisclosure,
    ReleaseDistance,
)
from sievert.formatting import percent
from sievert.policy import Judgement
from sievert.report.numbers import (
    bits_text,
    proportion,
    release_names,
    share_of,
    times,
)
from sievert.report.page import BulletList, Chapter, Grid, Link, Paragraph, Picture, make_grid
from sievert.report.parts import NumberText, ReportPart

Ends = tuple[NumberText, NumberText]
NARROW = 0.15  # the width of an interval of a share that is worth telling
LIMIT_HEADS = (
    *("head_release", "head_distortion", "head_told"),
    *("head_least", "head_bound", "head_ratio"),
)
RARE = 0.05  # a p-value up to which chance is not the reason


@dataclass(frozen=True, kw_only=True)
class SecretTexts:
    """What one release tells of one secret, and what it has lost, in bits per record."""

    value: NumberText
    corrected: NumberText
    interval: Ends
    lost: NumberText
    lost_interval: Ends
    kept: NumberText  # a share with its interval, where that is narrow


@dataclass(frozen=True, kw_only=True)
class ReleaseTexts:
    """One release."""

    number: int
    label: str
    release: Compared
    identity: NumberText
    corrected: NumberText
    interval: Ends
    share: NumberText
    secrets: Mapping[str, SecretTexts]
    at_most: bool  # the same values became different ones: the bits are the most that it tells

    @property
    def policy(self) -> Judgement | None:
        """The judgement by the policy, if there is one."""
        return self.release.policy


class ComparisonView(ReportPart):
    """All releases beside their original."""

    @property
    def comparison(self) -> Comparison:
        """The result."""
        return self.read(Comparison)

    @cached_property
    def secrets(self) -> tuple[str, ...]:
        """The secrets, in their order."""
        return tuple(self.comparison.original.attribute)

    @cached_property
    def key(self) -> NumberText:
        """The information in the original key: the most that a release can tell of it."""
        return bits_text(self.writer, self.comparison.releases[0].disclosed.identity.whole.maximum)

    def before(self, secret: str) -> Bits:
        """What the original tells of a secret."""
        return self.comparison.original.attribute[secret]

    def before_corrected(self, secret: str) -> NumberText:
        """What the original tells of a secret, corrected for chance."""
        return bits_text(self.writer, self.before(secret).whole.corrected)

    @cached_property
    def releases(self) -> tuple[ReleaseTexts, ...]:
        """Each release, in the order given."""
        each = self.comparison.releases
        names = release_names((release.name, release.table.get("name")) for release in each)
        return tuple(
            self._release(number, label, release)
            for number, (label, release) in enumerate(zip(names, each, strict=True), 1)
        )

    def _release(self, number: int, label: str, release: Compared) -> ReleaseTexts:
        identity = release.disclosed.identity
        whole = identity.whole
        value = bits_text(self.writer, whole.value)
        return ReleaseTexts(
            number=number,
            label=label,
            release=release,
            identity=value,
            corrected=bits_text(self.writer, whole.corrected),
            interval=self._ends(whole),
            share=share_of(self.writer, value, self.key),
            secrets={s: self._secret(release, s) for s in self.secrets},
            at_most=identity.deterministic is False and 2 * whole.chance > whole.value,
        )

    def _ends(self, estimate: Estimated) -> Ends:
        low, high = estimate.interval
        return bits_text(self.writer, low), bits_text(self.writer, high)

    def _secret(self, release: Compared, secret: str) -> SecretTexts:
        told = release.disclosed.attribute[secret].whole
        loss = release.disclosed.loss[secret].whole
        lost = self.lost(loss)
        whole = self.before_corrected(secret)
        share = share_of(self.writer, lost, whole, rest=True)
        return SecretTexts(
            value=bits_text(self.writer, told.value),
            corrected=bits_text(self.writer, told.corrected),
            interval=self._ends(told),
            lost=lost,
            lost_interval=self._ends(loss),
            kept=self._kept(share, told.corrected, whole, loss),
        )

    def lost(self, estimate: Estimated) -> NumberText:
        """What was lost beyond chance; no number where the estimate is none."""
        if estimate.reason is not None:
            return NumberText(self.say("lost_unknown"), None)
        return bits_text(self.writer, estimate.beyond)

    def _kept(
        self, share: NumberText, told: float, whole: NumberText, loss: Estimated
    ) -> NumberText:
        """The share that is kept; no number where its interval is wide.

        Nor where a release seems to tell more than its original: one of both is not known well.
        """
        if share.number is None or not whole.number:
            return share
        least, most = loss.interval
        if told > whole.number or most - least > NARROW * whole.number:
            return NumberText(self.say("keeps_no_share"), None)
        kept = (1.0 - end / whole.number for end in (most, least))
        low, high = (percent(min(1.0, max(0.0, end))) for end in kept)
        return NumberText(self.say("keeps_interval", share=share, low=low, high=high), share.number)

    # -- what follows ---------------------------------------------------------------------------

    @cached_property
    def dominators(self) -> Mapping[int, tuple[int, ...]]:
        """By release, the other releases that are nowhere worse and somewhere better."""
        numbers = {r.release.name: r.number for r in self.releases}
        return {
            r.number: tuple(numbers[name] for name in r.release.dominated_by) for r in self.releases
        }

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
        best = _lowest([r for r, _ in each], [t.lost.number for _, t in each])
        if not best:
            return ()
        end = best[0].secrets[secret].lost_interval[1].number
        lows = [t.lost_interval[0].number for _, t in each]
        return () if all(low is None or end is None or low <= end for low in lows) else best

    def told_by_chance(self, secret: str) -> tuple[ReleaseTexts, ...]:
        """Releases whose information may be due to chance; not where the loss is not known."""
        return tuple(
            r
            for r in self.releases
            if (r.release.disclosed.attribute[secret].whole.p_value or 0.0) > RARE
            and r.secrets[secret].lost.number is not None
        )

    def lost_by_chance(self, secret: str) -> tuple[ReleaseTexts, ...]:
        """Releases whose loss may be due to chance; not where it is not known."""
        return tuple(
            r
            for r in self.releases
            if (r.release.disclosed.loss[secret].whole.p_value or 0.0) > RARE
            and r.secrets[secret].lost.number is not None
        )

    def told_near_nothing(self, secret: str) -> tuple[ReleaseTexts, ...]:
        """Releases for which the interval of what is told begins at 0."""
        return tuple(r for r in self.releases if _begins_at_nothing(r.secrets[secret].interval))

    def lost_near_nothing(self, secret: str) -> tuple[ReleaseTexts, ...]:
        """Releases for which the interval of what is lost begins at 0."""
        return tuple(
            r for r in self.releases if _begins_at_nothing(r.secrets[secret].lost_interval)
        )


def _begins_at_nothing(ends: Ends) -> bool:
    low = ends[0].number
    return low is not None and low <= 0


def comparison_view(part: ReportPart) -> ComparisonView:
    """A comparison in the words of its part of a page."""
    result = part.read(Comparison)
    return ComparisonView(
        kind=part.kind,
        data=part.data,
        writer=part.writer,
        number=part.number,
        result=result,
        every_picture=part.every_picture,
    )


def _lowest(
    each: Sequence[ReleaseTexts], numbers: Sequence[float | None]
) -> tuple[ReleaseTexts, ...]:
    known = [n for n in numbers if n is not None]
    if not known or len(known) < len(numbers):
        return ()
    return tuple(r for r, n in zip(each, numbers, strict=True) if n == min(known))


CurvePoint = tuple[NumberText, NumberText, NumberText]  # distortion, least, bound


@dataclass(frozen=True, kw_only=True)
class DistanceToLimit:
    """One release beside the best one that changes as much, as sentences name its numbers."""

    release: str
    secret: str
    distortion: NumberText
    told: NumberText
    least: NumberText
    bound: NumberText
    ratio: NumberText


def distances(view: ComparisonView, secret: str) -> Iterator[DistanceToLimit]:
    """Each release against the limit of one secret, without releases that were not placed."""
    for release in view.releases:
        distance = release.release.limit.get(secret)
        if distance is not None:
            yield _distance_texts(view, release.label, secret, distance)


def _distance_texts(
    view: ComparisonView, label: str, secret: str, distance: ReleaseDistance
) -> DistanceToLimit:
    told = bits_text(view.writer, distance.disclosed)
    least = bits_text(view.writer, distance.least)
    return DistanceToLimit(
        release=label,
        secret=view.writer.name(secret),
        distortion=proportion(view.writer, distance.distortion),
        told=told,
        least=least,
        bound=bits_text(view.writer, distance.bound),
        ratio=times(view.writer, told, least),
    )


def limit_point(view: ComparisonView) -> tuple[str, str] | None:
    """How far the releases are from the limit of the first secret; None without a limit."""
    secret = next(iter(view.comparison.limits), None)
    each = [] if secret is None else list(distances(view, secret))
    if secret is None or not each:
        return None
    known = [d for d in each if d.ratio.number is not None]
    name = view.writer.name(secret)
    if not known:
        return view.say("far_unknown", secret=name), view.say("far_unknown_why")
    if len(known) == 1:
        key = "far_one" if len(each) == 1 else "far_some"
        return view.say("far_times", **vars(known[0])), view.say(key, **vars(known[0]))
    low = min(known, key=_ratio)
    high = max(known, key=_ratio)
    head = view.say("far_range", secret=name, low=low.ratio, high=high.ratio)
    return head, view.say("far_names", nearest=low.release, farthest=high.release)


def _ratio(distance: DistanceToLimit) -> float:
    return distance.ratio.number or 0.0


def limit_chapter(
    view: ComparisonView, number: int, secret: str, *, pictured: bool
) -> Iterator[Chapter]:
    """The map with the limit, and each release beside what would have been possible."""
    limit = view.comparison.limits.get(secret)
    each = list(distances(view, secret))
    if limit is None or not each:
        return
    name = view.writer.name(secret)
    curve = _curve(view, limit)
    grid = _grid(view, name, each, curve)
    drawn = [d for d in each if None not in (d.distortion.number, d.told.number)]
    fewest = 1 if view.every_picture else 2
    picture = pictured and drawn and len(curve) >= fewest
    inner = (
        BulletList(tuple(_sentence(view, d) for d in each)),
        _picture(view, secret, drawn, curve, grid, merged=limit.merged) if picture else grid,
        *(Paragraph(text, "note") for text in _notes(view, limit)),
        Paragraph(view.say("limit_reading"), "reading"),
    )
    anchor = f"{view.anchor('limit')}{number}"
    yield Chapter(title=view.say("limit_title", secret=name), anchor=anchor, blocks=inner)


def _sentence(view: ComparisonView, distance: DistanceToLimit) -> str:
    if distance.least.number is None:
        key = "placed_unknown"
    else:
        key = "placed_no_ratio" if distance.ratio.number is None else "placed"
    return view.say(key, **vars(distance))


def _curve(view: ComparisonView, limit: LeastDisclosure) -> list[CurvePoint]:
    """Points of the limit as they are shown, each once."""
    shown: dict[tuple[float | None, float | None], CurvePoint] = {}
    for point in limit.points:
        at = proportion(view.writer, point.at)
        least = bits_text(view.writer, point.objective)
        bound = bits_text(view.writer, None if limit.merged else point.bound)
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
        told = d.told.number or 0.0
        low = told if d.least.number is None else d.least.number
        across = d.distortion.number or 0.0
        dots.append(Dot(name=d.release, across=across, up=told, interval=(low, told)))
    spec = limit_chart(
        view.say("limit_chart", secret=view.writer.name(secret)),
        [view.say("limit_below_merged" if merged else "limit_below")],
        [(at.number or 0.0, least.number or 0.0, bound.number) for at, least, bound in curve],
        dots,
    )
    return Picture(spec=spec, caption=view.say("limit_see"), behind=grid, name=("limit", secret))


def _grid(
    view: ComparisonView,
    secret: str,
    distances: Sequence[DistanceToLimit],
    curve: Sequence[CurvePoint],
) -> Grid:
    """Releases first, then the points of the limit; what none is below where that is known."""
    best = Link(view.say("limit_row"), "def-least_possible")
    rows: list[tuple[object, ...]] = [
        (d.release, d.distortion, d.told, d.least, d.bound, d.ratio) for d in distances
    ]
    rows += [(best, at, "", least, bound, "") for at, least, bound in curve]
    head = [view.say(key) for key in LIMIT_HEADS]
    if all(bound.number is None for _, _, bound in curve):
        head = [*head[:4], head[5]]
        rows = [(*row[:4], row[5]) for row in rows]
    return make_grid(view.say("limit_caption", secret=secret), head, rows)


def _notes(view: ComparisonView, limit: LeastDisclosure) -> Iterator[str]:
    """From which distortion on a release can tell nothing, and what is unknown of the limit."""
    silent = proportion(view.writer, limit.perfect)
    yield view.say("perfect_unknown" if silent.number is None else "perfect", distortion=silent)
    if limit.merged:
        yield view.say("limit_merged")
    if not limit.reached:
        yield view.say("limit_not_reached")
