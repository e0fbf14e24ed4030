"""Which columns drive the risk: each one's share, how many suffice, the most telling sets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sievert.charts import Bar, lines
from sievert.formatting import percent
from sievert.report.chapters.explain_view import (
    MOST_ROWS,
    MOST_SECRETS,
    ExplanationView,
    captioned_bars,
)
from sievert.report.page import Block, Chapter, Grid, Paragraph, Picture, make_grid
from sievert.report.parts import Data, NumberText

MOST_SETS = 60  # of a long table
KEYS = {"min": "least", "mean": "mean", "max": "most"}


def chapters(view: ExplanationView) -> Iterator[Chapter]:
    """Shares, the curve, and the most telling sets."""
    for key, write in {"shares": _shares, "curve": _curve, "sets": _sets}.items():
        if blocks := tuple(write(view)):
            yield view.chapter(key, blocks)


# -- shares ---------------------------------------------------------------------------------------


def _shares(view: ExplanationView) -> Iterator[Block]:
    """Each column's share of what is given away."""
    targets: list[str | None] = [None, *view.secrets[:MOST_SECRETS]]
    texts = {
        t: {c: view.share(c, t) for c in view.quasi} for t in targets if view.shapley(t)["columns"]
    }
    if not texts or len(view.quasi) < 2:
        return
    first = next(iter(texts.values()))
    order = sorted(view.quasi, key=lambda c: (-(first[c].number or 0.0), view.column_names[c], c))
    yield Paragraph(view.say("shares_found"))
    yield _share_bars(view, order, texts)
    if not view.data["shapley"]["exact"]:
        yield Paragraph(view.say("shares_sampled", orders=view.data["shapley"]["orders"]), "note")
    if len(view.secrets) > MOST_SECRETS:
        yield Paragraph(view.say("secrets_first", shown=MOST_SECRETS, of=len(view.secrets)), "note")
    yield Paragraph(view.say("shares_reading"), "reading")


def _share_bars(
    view: ExplanationView, order: list[str], texts: dict[str | None, dict[str, NumberText]]
) -> Block:
    rows = (
        (
            view.column_names[column],
            *(_with_interval(view, texts[t][column], column, t) for t in texts),
            view.alone(view.data["columns"][column]["without"]),
        )
        for column in order
    )
    head = [view.say("column"), *(view.labels[t] for t in texts), view.say("alone_without")]
    grid = make_grid(view.say("shares_table"), head, rows)
    marks = [
        (
            Bar(
                view.column_names[c],
                text[c].number,
                view.labels[t] if len(texts) > 1 else "",
                view.interval(c, t),
            ),
            text[c],
        )
        for c in order[:MOST_ROWS]
        for t, text in texts.items()
    ]
    more = view.rows_first(MOST_ROWS, len(order))
    return captioned_bars(view, "shares", marks, grid, axis="shares_axis", more=more)


def _with_interval(view: ExplanationView, text: NumberText, column: str, secret: str | None) -> str:
    if (ends := view.interval(column, secret)) is None:
        return str(text)
    low, high = (percent(max(0.0, end)) for end in ends)
    return view.say("shares_interval", share=text, low=low, high=high)


# -- how many columns suffice ---------------------------------------------------------------------


def _curve(view: ExplanationView) -> Iterator[Block]:
    """What is given away by how many columns are known."""
    yield Paragraph(view.say("curve_found"))
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
    grid = make_grid(
        view.say("curve_table"), map(view.say, ("known", "sets", *KEYS.values())), rows, range(5)
    )
    lines = {
        view.say(KEYS[which]): [
            (p["known"], n) for p, alone in texts if (n := alone[which].number) is not None
        ]
        for which in reversed(KEYS)
    }
    return _line_chart(view, "curve", lines, grid, "alone_axis")


def _line_chart(
    view: ExplanationView,
    key: str,
    points: dict[str, list[tuple[float, float]]],
    grid: Grid,
    axis: str,
) -> Block:
    """A picture of lines; the table alone where they have no two places."""
    points = {name: line for name, line in points.items() if line}
    if len({x for line in points.values() for x, _ in line}) < 2:
        return grid
    chart, below, caption = (view.say(f"{key}_{k}") for k in ("chart", "below", "caption"))
    across, up = view.say("known_axis"), view.say(axis)
    return Picture(lines(chart, [below], points, across=across, up=up), caption, grid)


def _measured_sets(view: ExplanationView, point: Data) -> str:
    number = f"{point['subsets']:,}"
    every = point["reason"] is None
    return number if every else view.say("sets_of", number=number, of=f"{point['of']:,}")


def _secrets_curve(view: ExplanationView) -> Iterator[Block]:
    """What the columns tell of each secret, on average over the sets of so many columns."""
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
        right = range(len(head) + 1)
        grid = make_grid(view.say("secrets_table"), [view.say("known"), *head], rows, right)
        yield _line_chart(view, "secrets", points, grid, "rate_axis")


# -- the most telling sets ------------------------------------------------------------------------


def order_sets(view: ExplanationView, size: int) -> list[Data]:
    """Sets of so many columns, those that give away most first."""

    def danger(subset: Data) -> tuple[float, float, list[str]]:
        numbers = subset["reidentification"]
        rate = numbers["discrimination_rate"] or 0.0
        return -numbers["unique_count"], -rate, list(subset["columns"])

    return sorted((s for s in view.subsets if len(s["columns"]) == size), key=danger)


def _sets(view: ExplanationView) -> Iterator[Block]:
    """The sets of known columns that give away most."""
    if len(view.quasi) < 2:
        return
    by_size = {size: order_sets(view, size) for size in range(1, len(view.quasi) + 1)}
    chosen = [s for size, each in by_size.items() for s in each[: 2 if size < 4 else 1]]
    chosen = [*chosen[:MOST_ROWS], *(s for s in chosen[MOST_ROWS:] if s is chosen[-1])]
    yield Paragraph(view.say("sets_found"))
    yield _sets_grid(view, chosen, "sets_table", folded=False)
    if len(view.subsets) > len(chosen):
        every = [s for each in by_size.values() for s in each]
        yield _sets_grid(view, every[:MOST_SETS], "sets_all", folded=True)
        if len(every) > MOST_SETS:
            yield Paragraph(view.say("sets_left", number=f"{len(every) - MOST_SETS:,}"), "note")
    yield Paragraph(view.say("sets_reading"), "reading")


def _sets_grid(
    view: ExplanationView, subsets: Sequence[Data], caption: str, *, folded: bool
) -> Grid:
    more = ("k_anonymity", "itpr", "itpr_unnormalized")
    head = [view.say("columns"), view.say("alone"), *view.rate_heads(more)]
    rows = ((view.set_of(s["columns"]), view.alone(s), *view.rates(s, more)) for s in subsets)
    return make_grid(view.say(caption), head, rows, folded=folded)
