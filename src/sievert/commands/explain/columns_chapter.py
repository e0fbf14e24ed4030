"""Which columns drive the risk: each one's share, how many suffice, the most telling sets."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sievert.charts import lines
from sievert.commands.explain.content import KnowledgePoint
from sievert.commands.explain.view import ColumnsView
from sievert.formatting import count
from sievert.measurement.subsets import Subset
from sievert.report import why
from sievert.report.explanation_view import (
    MOST_ROWS,
    MOST_SECRETS,
    PictureKeys,
    screened,
)
from sievert.report.page import Block, Chapter, Grid, Paragraph, Picture
from sievert.report.parts import NumberText

MOST_SETS = 60  # of a long table
CURVE = PictureKeys(title="curve_chart", below="curve_below", caption="curve_caption")
SECRETS = PictureKeys(title="secrets_chart", below="secrets_below", caption="secrets_caption")


def chapters(view: ColumnsView) -> Iterator[Chapter]:
    """Shares, the path and the curve, and the most telling sets."""
    for key, write, title in (
        ("shares", _shares, why.finding(view) or view.say("shares_title")),
        ("curve", _curve, _suffice_title(view) or view.say("curve_title")),
        ("sets", _sets, _pair_title(view) or view.say("sets_title")),
    ):
        blocks = tuple(write(view))
        if blocks:
            yield Chapter(title=title, anchor=view.anchor(key), blocks=blocks, screen=key != "sets")


# -- shares ---------------------------------------------------------------------------------------


def _shares(view: ColumnsView) -> Iterator[Block]:
    """Each column's share of what is given away."""
    pictures = [*why.shares(view)]
    if pictures:
        yield Paragraph(view.say("shares_found"), "reading")
    for picture in pictures:
        yield from screened(picture, MOST_ROWS)
    yield from _removed(view)
    if pictures and view.columns.orders is not None:
        yield Paragraph(view.say("shares_sampled", orders=view.columns.orders), "note")
    if len(view.secrets) > MOST_SECRETS:
        yield Paragraph(view.say("secrets_first", shown=MOST_SECRETS, of=len(view.secrets)), "note")
    if pictures:
        yield Paragraph(view.say("shares_reading"), "reading")


def _removed(view: ColumnsView) -> Iterator[Paragraph]:
    """What all columns together remove of the uncertainty about a person, and each secret."""
    rates = dict(zip(view.labels, view.rates(view.whole), strict=False))
    known = [
        view.say("removed_of", rate=r, name=view.labels[t])
        for t, r in rates.items()
        if r.number is not None
    ]
    if known:
        key = "removed_one" if len(view.quasi) == 1 else "removed"
        yield Paragraph(view.say(key, rates=view.texts.join(known)), "reading")
    yield from (
        Paragraph(view.say("secret_constant", secret=view.labels[secret]))
        for secret, rate in rates.items()
        if rate.number is None and secret is not None
    )


# -- how many columns suffice ---------------------------------------------------------------------


def _suffice_title(view: ColumnsView) -> str:
    """How many columns single out most of those who are alone."""
    if not view.alone(view.whole).number:
        return view.say("curve_nobody")
    best = fewest_columns(view)
    if best is not None:
        number = len(best.columns)
        key = "curve_one" if number == 1 else "curve_few"
        counts = {"alone": view.alone(best), "whole": view.alone(view.whole)}
        return view.say(key, number=number, of=len(view.quasi), **counts)
    several = len(view.quasi) > 1 and view.columns.complete
    return view.say("enough_all", of=len(view.quasi)).rstrip(".") if several else ""


def fewest_columns(view: ColumnsView) -> Subset | None:
    """The smallest set of columns, not all, that singles out half of those who are alone."""
    whole = view.alone(view.whole).number or 0.0
    for size in range(1, len(view.quasi) if whole else 0):
        sets = order_sets(view, size)
        if sets and 2 * (sets[0].reidentification["unique_count"] or 0) >= whole:
            return sets[0]
    return None


def _curve(view: ColumnsView) -> Iterator[Block]:
    """What is given away, the more columns are known."""
    yield Paragraph(view.say("path_found"), "reading")
    for picture in why.path(view):
        yield from screened(picture, MOST_ROWS)
    yield Paragraph(view.say("curve_found"), "reading")
    yield _people_curve(view)
    yield from _secrets_curve(view)
    if not all(point.complete for point in view.columns.points):
        yield Paragraph(view.say("curve_partly"), "note")
    yield Paragraph(view.say("curve_reading"), "reading")


@dataclass(frozen=True, kw_only=True)
class UniqueTexts:
    """How many people the sets of one size make unique, as it is shown."""

    point: KnowledgePoint
    least: NumberText
    mean: NumberText
    most: NumberText


def _unique_texts(view: ColumnsView, point: KnowledgePoint) -> UniqueTexts:
    """Write the numbers of unique people of a point."""
    unique = point.unique_count
    return UniqueTexts(
        point=point,
        least=view.writer.count(unique.least),
        mean=view.writer.number(unique.mean),
        most=view.writer.count(unique.most),
    )


def _people_curve(view: ColumnsView) -> Block:
    texts = [_unique_texts(view, point) for point in view.columns.points]
    rows = (
        (each.point.known, _measured_sets(view, each.point), each.least, each.mean, each.most)
        for each in texts
    )
    grid = view.grid("curve_table", ("known", "sets", "least", "mean", "most"), rows, range(5))
    lines = {
        view.say("most"): _line((each.point, each.most) for each in texts),
        view.say("mean"): _line((each.point, each.mean) for each in texts),
        view.say("least"): _line((each.point, each.least) for each in texts),
    }
    return _line_chart(view, CURVE, lines, grid, "alone_axis")


def _line(heights: Iterable[tuple[KnowledgePoint, NumberText]]) -> list[tuple[float, float]]:
    """The places of a line over the number of known columns, where there is a number."""
    return [(point.known, text.number) for point, text in heights if text.number is not None]


def _line_chart(
    view: ColumnsView,
    keys: PictureKeys,
    points: dict[str, list[tuple[float, float]]],
    grid: Grid,
    axis: str,
) -> Block:
    """A picture of lines; the table alone where they have no two places."""
    points = {name: line for name, line in points.items() if line}
    if len({x for line in points.values() for x, _ in line}) < 2:
        return grid
    across = view.say("known_axis")
    spec = lines(
        view.say(keys.title), [view.say(keys.below)], points, across=across, up=view.say(axis)
    )
    return Picture(spec=spec, caption=view.say(keys.caption), behind=grid)


def _measured_sets(view: ColumnsView, point: KnowledgePoint) -> str:
    number = count(point.measured)
    if point.complete:
        return number
    return view.say("sets_of", number=number, of=count(point.possible))


def _secrets_curve(view: ColumnsView) -> Iterator[Block]:
    """What the columns tell about each secret, averaged over all sets with the same number."""
    secrets = view.secrets[:MOST_SECRETS]
    if not secrets:
        return
    points = view.columns.points
    share = view.writer.share
    means = {s: [share(point.rates[s].mean) for point in points] for s in secrets}
    most = {s: [share(point.rates[s].most) for point in points] for s in secrets}
    rows = (
        (point.known, *(rates[s][at] for s in secrets for rates in (means, most)))
        for at, point in enumerate(points)
    )
    labels = [view.labels[secret] for secret in secrets]
    head = [view.say(key, name=label) for label in labels for key in ("mean_of", "most_of")]
    grid = view.grid("secrets_table", ["known"], rows, range(len(head) + 1), more=head)
    lines = {view.labels[s]: _line(zip(points, means[s], strict=True)) for s in secrets}
    yield _line_chart(view, SECRETS, lines, grid, "rate_axis")


# -- the most telling sets ------------------------------------------------------------------------


def order_sets(view: ColumnsView, size: int) -> list[Subset]:
    """The sets of `size` columns, in descending order of what they give away."""

    def danger(subset: Subset) -> tuple[float, float, tuple[str, ...]]:
        unique = subset.reidentification["unique_count"] or 0
        rate = subset.reidentification["discrimination_rate"] or 0.0
        return -unique, -rate, subset.columns

    return sorted((s for s in view.subsets if len(s.columns) == size), key=danger)


def _pair_title(view: ColumnsView) -> str:
    """Which two columns give away most."""
    pairs = order_sets(view, 2) if len(view.quasi) > 2 else []
    return view.say("sets_pair", columns=view.names(pairs[0].columns)) if pairs else ""


def _sets(view: ColumnsView) -> Iterator[Block]:
    """The sets of known columns that give away most."""
    if len(view.quasi) < 2:
        return
    by_size = {size: order_sets(view, size) for size in range(1, len(view.quasi) + 1)}
    chosen = [s for size, each in by_size.items() for s in each[: 2 if size < 4 else 1]]
    chosen = [*chosen[:MOST_ROWS], *(s for s in chosen[MOST_ROWS:] if s is chosen[-1])]
    yield Paragraph(view.say("sets_found"), "reading")
    yield _sets_grid(view, chosen, "sets_table", folded=False)
    if len(view.subsets) > len(chosen):
        sets = [s for each in by_size.values() for s in each]
        yield _sets_grid(view, sets[:MOST_SETS], "sets_all", folded=True)
        if len(sets) > MOST_SETS:
            yield Paragraph(view.say("sets_left", number=count(len(sets) - MOST_SETS)), "note")
    yield Paragraph(view.say("sets_reading"), "reading")


def _sets_grid(view: ColumnsView, subsets: Sequence[Subset], caption: str, *, folded: bool) -> Grid:
    more: tuple[str, ...] = ("k_anonymity", "itpr", "itpr_unnormalized")
    more += ("separation", "distinction") if folded else ()
    rows = ((view.set_of(s.columns), view.alone(s), *view.rates(s, more)) for s in subsets)
    return view.grid(caption, ("columns", "alone"), rows, folded=folded, more=view.rate_heads(more))
