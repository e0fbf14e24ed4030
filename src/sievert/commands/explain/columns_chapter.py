"""Which columns drive the risk: each one's share, how many suffice, the most telling sets."""

from collections.abc import Iterator, Sequence

from sievert.charts import lines
from sievert.formatting import count
from sievert.report import why
from sievert.report.explanation_view import (
    MOST_ROWS,
    MOST_SECRETS,
    ExplanationView,
    PictureKeys,
    screened,
)
from sievert.report.page import Block, Chapter, Grid, Paragraph, Picture
from sievert.report.parts import Data, NumberText

MOST_SETS = 60  # of a long table
KEYS = {"min": "least", "mean": "mean", "max": "most"}
CURVE = PictureKeys(title="curve_chart", below="curve_below", caption="curve_caption")
SECRETS = PictureKeys(title="secrets_chart", below="secrets_below", caption="secrets_caption")


def chapters(view: ExplanationView) -> Iterator[Chapter]:
    """Shares, the path and the curve, and the most telling sets."""
    for key, write, title in (
        ("shares", _shares, why.finding(view) or view.say("shares_title")),
        ("curve", _curve, _suffice_title(view) or view.say("curve_title")),
        ("sets", _sets, _pair_title(view) or view.say("sets_title")),
    ):
        blocks = tuple(write(view))
        if blocks:
            yield Chapter(title, view.anchor(key), blocks, screen=key != "sets")


# -- shares ---------------------------------------------------------------------------------------


def _shares(view: ExplanationView) -> Iterator[Block]:
    """Each column's share of what is given away."""
    pictures = [*why.shares(view)]
    if pictures:
        yield Paragraph(view.say("shares_found"), "reading")
    for picture in pictures:
        yield from screened(picture, MOST_ROWS)
    yield from _removed(view)
    if pictures and not view.data["shapley"]["exact"]:
        yield Paragraph(view.say("shares_sampled", orders=view.data["shapley"]["orders"]), "note")
    if len(view.secrets) > MOST_SECRETS:
        yield Paragraph(view.say("secrets_first", shown=MOST_SECRETS, of=len(view.secrets)), "note")
    if pictures:
        yield Paragraph(view.say("shares_reading"), "reading")


def _removed(view: ExplanationView) -> Iterator[Paragraph]:
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


def _suffice_title(view: ExplanationView) -> str:
    """How many columns single out most of those who are alone."""
    if not view.alone(view.whole).number:
        return view.say("curve_nobody")
    best = fewest_columns(view)
    if best is not None:
        number = len(best["columns"])
        key = "curve_one" if number == 1 else "curve_few"
        counts = {"alone": view.alone(best), "whole": view.alone(view.whole)}
        return view.say(key, number=number, of=len(view.quasi), **counts)
    several = len(view.quasi) > 1 and view.data["subsets"]["complete"]
    return view.say("enough_all", of=len(view.quasi)).rstrip(".") if several else ""


def fewest_columns(view: ExplanationView) -> Data | None:
    """The smallest set of columns, not all, that singles out half of those who are alone."""
    whole = view.alone(view.whole).number or 0.0
    for size in range(1, len(view.quasi) if whole else 0):
        sets = order_sets(view, size)
        if sets and 2 * sets[0]["reidentification"]["unique_count"] >= whole:
            return sets[0]
    return None


def _curve(view: ExplanationView) -> Iterator[Block]:
    """What is given away, the more columns are known."""
    yield Paragraph(view.say("path_found"), "reading")
    for picture in why.path(view):
        yield from screened(picture, MOST_ROWS)
    yield Paragraph(view.say("curve_found"), "reading")
    yield _people_curve(view)
    yield from _secrets_curve(view)
    if not view.data["knowledge"]["complete"]:
        yield Paragraph(view.say("curve_partly"), "note")
    yield Paragraph(view.say("curve_reading"), "reading")


def _alone_by(view: ExplanationView, point: Data, which: str) -> NumberText:
    """The number of unique people; of several sets their mean."""
    exact = point["reidentification"]["unique_count"][which]
    return (view.writer.number if which == "mean" else view.writer.count)(exact)


def _people_curve(view: ExplanationView) -> Block:
    points = view.data["knowledge"]["points"]
    texts = [(p, {w: _alone_by(view, p, w) for w in KEYS}) for p in points if p["known"]]
    rows = ((p["known"], _measured_sets(view, p), *alone.values()) for p, alone in texts)
    grid = view.grid("curve_table", ("known", "sets", *KEYS.values()), rows, range(5))
    lines = {
        view.say(KEYS[which]): [
            (p["known"], n) for p, alone in texts if (n := alone[which].number) is not None
        ]
        for which in reversed(KEYS)
    }
    return _line_chart(view, CURVE, lines, grid, "alone_axis")


def _line_chart(
    view: ExplanationView,
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
    return Picture(spec, view.say(keys.caption), grid)


def _measured_sets(view: ExplanationView, point: Data) -> str:
    number = count(point["subsets"])
    complete = point["reason"] is None
    return number if complete else view.say("sets_of", number=number, of=count(point["of"]))


def _secrets_curve(view: ExplanationView) -> Iterator[Block]:
    """What the columns tell about each secret, averaged over all sets with the same number."""
    labels = {s: view.labels[s] for s in view.secrets[:MOST_SECRETS]}
    by_point = [p for p in view.data["knowledge"]["points"] if p["known"]]
    means, most = (
        {
            s: [
                view.writer.share(p["inference"][s]["discrimination_rate"][which]) for p in by_point
            ]
            for s in labels
        }
        for which in ("mean", "max")
    )
    rows = (
        (p["known"], *(rates[s][i] for s in labels for rates in (means, most)))
        for i, p in enumerate(by_point)
    )
    points = {
        label: [
            (p["known"], height)
            for p, mean in zip(by_point, means[s], strict=True)
            if (height := mean.number) is not None
        ]
        for s, label in labels.items()
    }
    head = [view.say(k, name=label) for label in labels.values() for k in ("mean_of", "most_of")]
    if labels:
        grid = view.grid("secrets_table", ["known"], rows, range(len(head) + 1), more=head)
        yield _line_chart(view, SECRETS, points, grid, "rate_axis")


# -- the most telling sets ------------------------------------------------------------------------


def order_sets(view: ExplanationView, size: int) -> list[Data]:
    """The sets of `size` columns, in descending order of what they give away."""

    def danger(subset: Data) -> tuple[float, float, list[str]]:
        numbers = subset["reidentification"]
        rate = numbers["discrimination_rate"] or 0.0
        return -numbers["unique_count"], -rate, list(subset["columns"])

    return sorted((s for s in view.subsets if len(s["columns"]) == size), key=danger)


def _pair_title(view: ExplanationView) -> str:
    """Which two columns give away most."""
    pairs = order_sets(view, 2) if len(view.quasi) > 2 else []
    return view.say("sets_pair", columns=view.names(pairs[0]["columns"])) if pairs else ""


def _sets(view: ExplanationView) -> Iterator[Block]:
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


def _sets_grid(
    view: ExplanationView, subsets: Sequence[Data], caption: str, *, folded: bool
) -> Grid:
    more: tuple[str, ...] = ("k_anonymity", "itpr", "itpr_unnormalized")
    more += ("separation", "distinction") if folded else ()
    rows = ((view.set_of(s["columns"]), view.alone(s), *view.rates(s, more)) for s in subsets)
    return view.grid(caption, ("columns", "alone"), rows, folded=folded, more=view.rate_heads(more))
