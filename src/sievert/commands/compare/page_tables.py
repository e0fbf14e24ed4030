"""Tables of a comparison: releases as columns, each number a row that leads to its definition."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sievert.commands.compare.view import ComparisonView
from sievert.formatting import count, percent, significant
from sievert.losses import BY_ID
from sievert.report.numbers import bits_text, clean, side_by_side
from sievert.report.page import Block, BulletList, Chapter, Grid, Link, Paragraph, make_grid
from sievert.report.parts import Data, NumberText, NumberWriter

ABREAST = 5  # releases beside each other
OF_RECORDS = (
    "k_anonymity",
    "unique_records",
    "average_risk",
    "discrimination_rate",
    "classes",
    "itpr",
    "itpr_unnormalized",
)
OF_SECRET = (
    "l_diversity",
    "t_closeness",
    "max_confidence",
    "mutual_information",
    "discrimination_rate",
    "itpr",
    "itpr_unnormalized",
)


@dataclass(frozen=True)
class Row:
    """One number of all tables, the original first: its definition, its words, its cells."""

    definition: str
    words: str
    cells: Sequence[object]
    direction: str = ""  # where not that of the words
    title: str = ""  # in place of words: a name from the data, or of a loss


def grids(
    view: ComparisonView, caption: str, rows: Sequence[Row], *, folded: bool = False
) -> Iterator[Grid]:
    """The rows as tables of a few releases each."""
    texts, before = view.texts, [view.say("original")] if any(row.cells[0] for row in rows) else []
    for abreast, title in side_by_side(view, caption, len(view.releases), ABREAST):
        labels = [r.label for r in view.releases[abreast]]
        head = [*texts.each("compared.head", ("number", "direction")), *before, *labels]
        body = (
            (
                Link(row.title or texts(f"compared.row_{row.words}"), f"def-{row.definition}"),
                texts.get(f"compared.direction_{row.direction or row.words}", ""),
                *(row.cells[:1] if before else ()),
                *row.cells[1:][abreast],
            )
            for row in rows
        )
        yield make_grid(title, head, body, range(2, len(head)), folded=folded)


def exact(view: ComparisonView, secret: str) -> Iterator[Row]:
    """What lies behind the numbers of a secret."""
    original: Data = view.data["original"]["attribute_disclosure"][secret]
    nothing: Data = {}
    for definition, words, what, data, before in (
        ("beyond_chance", "chance", "chance", "attribute_disclosure", original),
        ("beyond_chance", "p_value", "p_value", "attribute_disclosure", original),
        ("beyond_chance", "rows_per_cell", "rows_per_cell", "attribute_disclosure", original),
        ("beyond_chance", "miller_madow", "miller_madow", "attribute_disclosure", original),
        ("t_closeness", "t_closeness", "t_closeness", "attribute_disclosure", original),
        ("attribute_disclosure", "floor", "floor", "attribute_disclosure", original),
        ("information_loss", "lost_value", "value", "information_loss", nothing),
        ("information_loss", "lost_p_value", "p_value", "information_loss", nothing),
    ):
        first, *cells = (
            view.writer.number(clean(numbers.get(what)))
            for numbers in (before, *(r.data[data][secret] for r in view.releases))
        )
        yield Row(definition, words, ["" if before.get(what) is None else first, *cells])


def by_column(view: ComparisonView) -> Iterator[Grid]:
    """What each column alone tells of its original."""
    writer, rows = view.writer, []
    disclosures = [r.data["identity_disclosure"]["columns"] for r in view.releases]
    for column in disclosures[0]:
        each = [columns.get(column) for columns in disclosures]
        whole = bits_text(writer, next((entry["maximum"] for entry in each if entry), None))
        cells = [bits_text(writer, entry["value"]) if entry else "" for entry in each]
        rows.append(Row("identity_disclosure", "", [whole, *cells], "high", writer.name(column)))
    if len(rows) > 1:
        yield from grids(view, view.say("columns_caption"), rows, folded=True)


def secret_by_column(view: ComparisonView, secret: str) -> Iterator[Grid]:
    """What each column alone tells of a secret, and what of that was lost, corrected for chance."""
    writer, rows = view.writer, []
    releases, before = [r.data for r in view.releases], view.data["original"]
    columns = before["attribute_disclosure"][secret]["columns"]
    for what, words in (("attribute_disclosure", "told"), ("information_loss", "lost")):
        for column in columns if len(columns) > 1 else ():
            each = [r[what][secret]["columns"].get(column) for r in releases]
            first = bits_text(writer, columns[column]["value"]) if words == "told" else ""
            cells = [
                ""
                if e is None
                else bits_text(writer, e["value"])
                if words == "told"
                else view.lost(e)
                for e in each
            ]
            title = view.say(f"column_{words}", column=writer.name(column))
            rows.append(Row(what, words, [first, *cells], title=title))
    if rows:
        caption = view.say("secret_columns_caption", secret=writer.name(secret))
        yield from grids(view, caption, rows, folded=True)


# -- each table on its own ------------------------------------------------------------------------


def smallest_class(writer: NumberWriter, values: Data) -> NumberText:
    """The size of a table's smallest class."""
    return writer.count((values.get("k_anonymity") or {}).get("value"))


def own(view: ComparisonView) -> Iterator[Block]:
    """The measures of every table on its own, the original first."""
    writer, releases = view.writer, [r.data for r in view.releases]
    tables = [view.data["original"]["assessment"], *(r["assessment"] for r in releases)]
    identity = [table["reidentification"] for table in tables]
    rows = [Row(m, m, [_identity_measure(writer, m, t) for t in identity]) for m in OF_RECORDS]
    yield from grids(view, view.say("own_caption"), rows)
    for secret in view.secrets:
        learnt = [t["inference"].get(secret, {}) for t in tables]
        rows = [Row(m, m, [_exact(writer, m, t.get(m)) for t in learnt]) for m in OF_SECRET]
        yield from grids(view, view.say("own_secret", secret=writer.name(secret)), rows)
    yield Paragraph(view.say("own_reading"), "reading")


def _exact(writer: NumberWriter, measure: str, entry: Data | None) -> str:
    value = None if entry is None else entry["value"]
    if value is None:
        return str(writer.undefined())
    if isinstance(value, int):
        return count(value)
    return significant(value) if measure == "mutual_information" else percent(value)


def _identity_measure(writer: NumberWriter, measure: str, values: Data) -> str:
    """A measure of finding a person; of those who are unique their number."""
    if measure == "unique_records" and measure in values:
        return str(writer.count(values[measure].get("records")))
    return _exact(writer, measure, values.get(measure))


# -- other losses ---------------------------------------------------------------------------------


def losses(view: ComparisonView) -> Iterator[Chapter]:
    """One row per loss, and whether it ranks the releases as bits do."""
    writer, rows = view.writer, []
    for name in view.releases[0].data["losses"]:
        each = [r.data["losses"].get(name) or {} for r in view.releases]
        if name in BY_ID and any(loss.get("value") is not None for loss in each):
            cells = ["", *(writer.number(clean(e.get("value"))) for e in each)]
            rows.append(Row(name, "", cells, f"lost_{BY_ID[name].worse}", view.say(f"loss_{name}")))
    if not rows:
        return
    blocks: list[Block] = list(grids(view, view.say("losses_caption"), rows))
    ranks = [(row, view.data["rank_correlation"].get(row.definition) or {}) for row in rows]
    if any(by for _, by in ranks):
        body = (
            (
                Link(row.title, f"def-{row.definition}"),
                *map(writer.number, map(by.get, view.secrets)),
            )
            for row, by in ranks
        )
        names = map(writer.name, view.secrets)
        blocks.append(view.grid("ranks_caption", ["head_number"], body, folded=True, more=names))
    blocks += _losses_by_column(view, rows)
    reasons = dict.fromkeys(_undefined(view))
    blocks += [BulletList(tuple(reasons))] if reasons else []
    blocks = (*blocks, Paragraph(view.say("losses_reading"), "reading"))
    yield view.chapter("losses_title", "losses", blocks)


def _undefined(view: ComparisonView) -> Iterator[str]:
    """Why a loss is not defined for a release."""
    for release in view.releases:
        for name, loss in release.data["losses"].items():
            if name in BY_ID and loss.get("value") is None and loss.get("reason"):
                reason = view.texts.remark(loss["reason"])
                yield view.say("loss_undefined", loss=view.say(f"loss_{name}"), reason=reason)


def _losses_by_column(view: ComparisonView, losses: Sequence[Row]) -> Iterator[Grid]:
    """Losses that each column has a number of its own for."""
    rows = []
    for loss in losses:
        each = [
            (r.data["losses"].get(loss.definition) or {}).get("columns", {}) for r in view.releases
        ]
        for column in dict.fromkeys(c for columns in each for c in columns):
            numbers = [_own_loss(columns.get(column)) for columns in each]
            if any(x is not None for x in numbers):
                cells = ["" if x is None else view.writer.number(clean(x)) for x in numbers]
                title = view.say("column_loss", loss=loss.title, column=view.writer.name(column))
                rows.append(Row(loss.definition, "", ["", *cells], loss.direction, title))
    if rows:
        yield from grids(view, view.say("losses_columns_caption"), rows, folded=True)


def _own_loss(entry: object) -> float | None:
    """The number of one column, which may stand beside others."""
    value = entry.get("value") if isinstance(entry, Mapping) else entry
    return float(value) if isinstance(value, int | float) else None
