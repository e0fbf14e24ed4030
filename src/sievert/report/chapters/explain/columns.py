"""Which columns drive the risk: each one's share, how many suffice, the most telling sets."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from sievert.charts import Bar, bars, lines
from sievert.charts.captions import caption_bars
from sievert.formatting import percent
from sievert.report.chapters.explain.view import MOST_SECRETS, ExplanationView, Numbers, level, rank
from sievert.report.page import Block, Chapter, Grid, Paragraph, Picture
from sievert.report.redaction import NumberText

MOST_ROWS = 12  # of a picture
MOST_SETS = 60  # of a long table
EACH = ("min", "mean", "max")
KEYS = {"min": "least", "mean": "mean", "max": "most"}


# -- shares ---------------------------------------------------------------------------------------


def shares(reader: ExplanationView) -> Iterator[Chapter]:
    """Each column's share of what is given away."""
    targets: list[str | None] = [None, *reader.secrets[:MOST_SECRETS]]
    found = {
        t: {c: reader.share(c, t) for c in reader.quasi}
        for t in targets
        if reader.shapley(t)["columns"] or (t is not None and not reader.internal)
    }
    if not found or len(reader.quasi) < 2:
        return
    first = next(iter(found.values()))
    order = sorted(
        reader.quasi, key=lambda c: (-rank(reader.part.redactor, first[c]), reader.called[c], c)
    )
    blocks: list[Block] = [Paragraph(reader.say("shares_found"))]
    blocks += _drawn(reader, order, found)
    if not reader.data["shapley"]["exact"]:
        blocks.append(
            Paragraph(reader.say("shares_sampled", orders=reader.data["shapley"]["orders"]), "note")
        )
    if len(reader.secrets) > MOST_SECRETS:
        blocks.append(
            Paragraph(
                reader.say("secrets_first", shown=MOST_SECRETS, of=len(reader.secrets)), "note"
            )
        )
    blocks.append(Paragraph(reader.say("shares_reading"), "reading"))
    yield Chapter(reader.say("shares_title"), reader.part.anchor("shares"), tuple(blocks))


def target(reader: ExplanationView, secret: str | None) -> str:
    """Finding a person, or a secret by its name."""
    return reader.labels[secret]


def _drawn(
    reader: ExplanationView, order: list[str], found: dict[str | None, dict[str, NumberText]]
) -> Iterator[Block]:
    head = [reader.say("column"), *(target(reader, t) for t in found), reader.say("alone_without")]
    rows = []
    for column in order:
        cells = [_with_interval(reader, found[t][column], column, t) for t in found]
        without = reader.alone(reader.data["columns"][column]["without"])
        rows.append((reader.called[column], *cells, str(without)))
    right = tuple(range(1, len(head)))
    grid = Grid(reader.say("shares_table"), tuple(head), tuple(rows), right)
    many = len(found) > 1
    marks = [
        (
            Bar(
                reader.called[c],
                level(reader.part.redactor, said[c]),
                target(reader, t) if many else "",
                reader.interval(c, t),
            ),
            said[c].text,
        )
        for c in order[:MOST_ROWS]
        for t, said in found.items()
    ]
    if all(bar.number is None for bar, _ in marks):
        yield grid
        return
    below = [reader.say("shares_below")]
    if len(order) > MOST_ROWS:
        below.append(reader.say("rows_first", shown=MOST_ROWS, of=len(order)))
    spec = bars(
        reader.say("shares_chart"), below, [bar for bar, _ in marks], axis=reader.say("shares_axis")
    )
    spec = caption_bars(spec, [text for _, text in marks])
    yield Picture(spec, reader.say("shares_caption"), grid)


def _with_interval(
    reader: ExplanationView, said: NumberText, column: str, secret: str | None
) -> str:
    ends = reader.interval(column, secret)
    if ends is None:
        return str(said)
    low, high = (percent(max(0.0, end)) for end in ends)
    return reader.say("shares_interval", share=said, low=low, high=high)


# -- how many columns suffice ---------------------------------------------------------------------


def curve(reader: ExplanationView) -> Iterator[Chapter]:
    """What is given away by how many columns are known."""
    known = reader.data["knowledge"]
    blocks: list[Block] = [Paragraph(reader.say("curve_found")), *_people_curve(reader)]
    blocks += _secrets_curve(reader)
    if not known["complete"]:
        blocks.append(Paragraph(reader.say("curve_partly"), "note"))
    blocks.append(Paragraph(reader.say("curve_reading"), "reading"))
    yield Chapter(reader.say("curve_title"), reader.part.anchor("curve"), tuple(blocks))


def _alone_by(reader: ExplanationView, point: Numbers, which: str) -> NumberText:
    """People alone; a mean over sets is that of the counts as they are told."""
    redactor = reader.part.redactor
    exact = point["reidentification"]["unique_count"][which]
    if which != "mean" or reader.internal:
        return redactor.mean(exact) if which == "mean" else redactor.count(exact)
    sets = [s for s in reader.subsets if len(s["columns"]) == point["known"]]
    if len(sets) == point["subsets"]:
        exact = statistics.fmean(reader.alone(s).number or 0.0 for s in sets)
    return redactor.count(exact)


def _people_curve(reader: ExplanationView) -> Iterator[Block]:
    points = reader.data["knowledge"]["points"]
    told_ = [(p, {w: _alone_by(reader, p, w) for w in EACH}) for p in points if p["known"]]
    head = tuple(reader.say(k) for k in ("known", "sets", "least", "mean", "most"))
    rows = [(str(p["known"]), _sets(reader, p), *(str(said[w]) for w in EACH)) for p, said in told_]
    grid = Grid(reader.say("curve_table"), head, tuple(rows), (0, 1, 2, 3, 4))
    given: dict[str, list[tuple[float, float]]] = {}
    for which in reversed(EACH):
        for p, said in told_:
            if (number := said[which].number) is not None:
                given.setdefault(reader.say(KEYS[which]), []).append((p["known"], number))
    if len({x for held in given.values() for x, _ in held}) < 2:
        yield grid
        return
    spec = lines(
        reader.say("curve_chart"),
        [reader.say("curve_below")],
        given,
        across=reader.say("known_axis"),
        up=reader.say("alone_axis"),
    )
    yield Picture(spec, reader.say("curve_caption"), grid)


def _sets(reader: ExplanationView, point: Numbers) -> str:
    if point["reason"] is None:
        return f"{point['subsets']:,}"
    return reader.say("sets_of", number=f"{point['subsets']:,}", of=f"{point['of']:,}")


def _secrets_curve(reader: ExplanationView) -> Iterator[Block]:
    """What is told of each secret, on average over the sets of so many columns."""
    secrets = reader.secrets[:MOST_SECRETS]
    points = [p for p in reader.data["knowledge"]["points"] if p["known"]]
    if not secrets:
        return
    rows, given = [], {target(reader, s): list[tuple[float, float]]() for s in secrets}
    for p in points:
        cells = [str(p["known"])]
        for s in secrets:
            held = p["inference"][s]["discrimination_rate"]
            mean, most = (reader.rated(held[w], s) for w in ("mean", "max"))
            cells += [str(mean), str(most)]
            height = level(reader.part.redactor, mean)
            if height is not None:
                given[target(reader, s)].append((p["known"], height))
        rows.append(tuple(cells))
    head = [reader.say("known")]
    for s in secrets:
        name = target(reader, s)
        head += [reader.say("mean_of", name=name), reader.say("most_of", name=name)]
    right = tuple(range(len(head)))
    grid = Grid(reader.say("secrets_table"), tuple(head), tuple(rows), right)
    given = {name: held for name, held in given.items() if held}
    if len({x for held in given.values() for x, _ in held}) < 2:
        yield grid
        return
    spec = lines(
        reader.say("secrets_chart"),
        [reader.say("secrets_below")],
        given,
        across=reader.say("known_axis"),
        up=reader.say("rate_axis"),
    )
    yield Picture(spec, reader.say("secrets_caption"), grid)


# -- the most telling sets ------------------------------------------------------------------------


def ordered(reader: ExplanationView, size: int) -> list[Numbers]:
    """Sets of so many columns, those that give away most first, by what is told of them."""

    def danger(held: Numbers) -> tuple[float, float, list[str]]:
        rate = rank(reader.part.redactor, reader.rate(held["reidentification"], None))
        return -(reader.alone(held).number or 0.0), -rate, list(held["columns"])

    return sorted((s for s in reader.subsets if len(s["columns"]) == size), key=danger)


def sets(reader: ExplanationView) -> Iterator[Chapter]:
    """The sets of known columns that give away most."""
    if len(reader.quasi) < 2:
        return
    chosen = [
        s
        for size in range(1, len(reader.quasi) + 1)
        for s in ordered(reader, size)[: 2 if size < 4 else 1]
    ]
    chosen = [*chosen[:MOST_ROWS], *(s for s in chosen[MOST_ROWS:] if s is chosen[-1])]
    grids: list[Block] = [_listed(reader, chosen, reader.say("sets_table"), folded=False)]
    if reader.internal and len(reader.subsets) > len(chosen):
        every = [s for n in range(1, len(reader.quasi) + 1) for s in ordered(reader, n)]
        grids.append(_listed(reader, every[:MOST_SETS], reader.say("sets_all"), folded=True))
        left = len(reader.subsets) - MOST_SETS
        if left > 0:
            grids.append(Paragraph(reader.say("sets_left", number=f"{left:,}"), "note"))
    yield Chapter(
        reader.say("sets_title"),
        reader.part.anchor("sets"),
        (
            Paragraph(reader.say("sets_found")),
            *grids,
            Paragraph(reader.say("sets_reading"), "reading"),
        ),
    )


def _listed(
    reader: ExplanationView, held: Sequence[Numbers], caption: str, *, folded: bool
) -> Grid:
    secrets = reader.secrets[:MOST_SECRETS]
    more = ("k_anonymity", "itpr", "itpr_unnormalized") if reader.internal else ()
    head = [reader.say("columns"), reader.say("alone"), reader.say("rate_of_finding")]
    head += [reader.say("rate_of", name=target(reader, s)) for s in secrets]
    head += [reader.say(f"head_{name}") for name in more]
    rows = []
    for s in held:
        numbers = s["reidentification"]
        row = [reader.set_of(s["columns"]), str(reader.alone(s)), str(reader.rate(numbers, None))]
        row += [str(reader.rate(s["inference"][x], x)) for x in secrets]
        row += [str(reader.part.redactor.only_internal(numbers[name])) for name in more]
        rows.append(tuple(row))
    return Grid(caption, tuple(head), tuple(rows), tuple(range(1, len(head))), folded)
