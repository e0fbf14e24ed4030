"""Tables of a comparison: releases as columns, each number a row that leads to its definition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sievert.formatting import percent, significant
from sievert.losses import BY_ID
from sievert.measures import Decides
from sievert.report.chapters.compare_view import ComparisonView
from sievert.report.chapters.numbers import bits_text, clean, side_by_side
from sievert.report.declarations import decides
from sievert.report.page import Block, Chapter, Grid, Link, Paragraph, make_grid
from sievert.report.redaction import Data, NumberText, Redactor

ABREAST = 5  # releases beside each other
OF_RECORDS = (  # the first four are shareable
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
# Losses that many records decide, and by how much one can move them.
MEANS = {Decides.EVERYBODY: 1.0, Decides.TWICE: 2.0}
PLAIN_SCALES = {None, "hierarchy"}  # distances that were given, and that no single cell decides


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
    """What only the operator sees of a secret."""
    original: Data = view.data["original"]["attribute_disclosure"][secret]
    nothing: Data = {}
    for definition, words, what, data, before in (
        ("beyond_chance", "chance", "chance", "attribute_disclosure", original),
        ("beyond_chance", "p_value", "p_value", "attribute_disclosure", original),
        ("beyond_chance", "rows_per_cell", "rows_per_cell", "attribute_disclosure", original),
        ("information_loss", "lost_value", "value", "information_loss", nothing),
        ("information_loss", "lost_p_value", "p_value", "information_loss", nothing),
    ):
        first, *cells = (
            view.redactor.only_internal(clean(numbers.get(what)))
            for numbers in (before, *(r.data[data][secret] for r in view.releases))
        )
        yield Row(definition, words, ["" if before.get(what) is None else first, *cells])


def by_column(view: ComparisonView) -> Iterator[Grid]:
    """What each column alone tells of its original."""
    redactor, rows = view.redactor, []
    disclosures = [r.data["identity_disclosure"]["columns"] for r in view.releases]
    for column in disclosures[0]:
        each = [columns.get(column) for columns in disclosures]
        whole = bits_text(redactor, next((entry["maximum"] for entry in each if entry), None))
        cells = [bits_text(redactor, entry["value"]) if entry else "" for entry in each]
        name = redactor.name(column)
        rows.append(Row("identity_disclosure", "", [whole, *cells], "high", name))
    if len(rows) > 1:
        yield from grids(view, view.say("columns_caption"), rows, folded=True)


# -- each table on its own ------------------------------------------------------------------------


def smallest_class(redactor: Redactor, values: Data) -> NumberText:
    """The size of a table's smallest class."""
    if (k := (values.get("k_anonymity") or {}).get("value")) is None:
        return redactor.undefined_text()
    if not redactor.internal and k < redactor.least:
        return NumberText(redactor.texts("words.few", least=redactor.least), None)
    return NumberText(f"{k:,}", k)


def own(view: ComparisonView) -> Iterator[Block]:
    """The measures of every table on its own, the original first."""
    redactor, releases = view.redactor, [r.data for r in view.releases]
    tables = [view.data["original"]["assessment"], *(r["assessment"] for r in releases)]
    sizes = [view.rows, *(int(r["rows"] or 0) for r in releases)]
    identity = [(t["reidentification"], n) for t, n in zip(tables, sizes, strict=True)]
    rows = [
        Row(m, m, [_identity_measure(redactor, m, *table) for table in identity])
        for m in (OF_RECORDS if redactor.internal else OF_RECORDS[:4])
    ]
    yield from grids(view, view.say("own_caption"), rows)
    for secret in view.secrets if redactor.internal else ():
        learnt = [t["inference"].get(secret, {}) for t in tables]
        rows = [Row(m, m, [_exact(redactor, m, t.get(m)) for t in learnt]) for m in OF_SECRET]
        yield from grids(view, view.say("own_secret", secret=redactor.name(secret)), rows)
    yield Paragraph(view.say("own_reading"), "reading")


def _exact(redactor: Redactor, measure: str, entry: Data | None) -> str:
    value = None if entry is None else entry["value"]
    if value is None:
        return str(redactor.undefined_text())
    if isinstance(value, int):
        return f"{value:,}"
    return significant(value) if measure == "mutual_information" else percent(value)


def _identity_measure(redactor: Redactor, measure: str, values: Data, rows: int) -> NumberText:
    """A measure of finding a person; what one class decides only where it may be."""
    entry, by = values.get(measure), decides(measure)
    if entry is None:
        return redactor.undefined_text()
    if by is Decides.SMALLEST_CLASS:
        return smallest_class(redactor, values)
    if by is Decides.UNIQUES:
        k = (values.get("k_anonymity") or {}).get("value")
        if k is not None and k >= redactor.least:  # which is shown
            return NumberText(redactor.texts("words.none"), 0)
        return redactor.count(entry.get("records"))
    if redactor.internal:
        return NumberText(_exact(redactor, measure, entry), entry["value"])
    if by is Decides.UNCERTAINTY:
        return redactor.identity(entry["value"], of=rows)
    if by is Decides.CLASSES and not _few_alone(redactor, values, rows):
        return redactor.share(entry["value"], of=rows)
    return redactor.withheld_text()


def _few_alone(redactor: Redactor, values: Data, rows: int) -> bool:
    """Whether the number of classes would reveal how few people are unique, as in an assessment."""
    k, classes = (values.get(m, {}).get("value") for m in ("k_anonymity", "classes"))
    alone = values.get("unique_records", {}).get("records") or 0
    small = k is None or k < redactor.least
    return small and alone < redactor.least and (classes or 0) > rows / 2 - redactor.least


# -- other losses ---------------------------------------------------------------------------------


def losses(view: ComparisonView) -> Iterator[Chapter]:
    """One row per loss, and for the operator whether it ranks the releases as bits do."""
    redactor, rows = view.redactor, []
    for name in view.releases[0].data["losses"]:
        each = [r.data["losses"].get(name) or {} for r in view.releases]
        known = name in BY_ID and any(loss.get("value") is not None for loss in each)
        if known and (redactor.internal or _shareable(name, each)):
            cells, side = [_loss(redactor, name, e) for e in each], f"lost_{BY_ID[name].worse}"
            rows.append(Row(name, "", ["", *cells], side, _title(view, name)))
    if not rows:
        return
    blocks: list[Block] = list(grids(view, view.say("losses_caption"), rows))
    ranks = [(row, view.data["rank_correlation"].get(row.definition) or {}) for row in rows]
    if redactor.internal and any(by for _, by in ranks):
        body = (
            (
                Link(row.title, f"def-{row.definition}"),
                *map(redactor.only_internal, map(by.get, view.secrets)),
            )
            for row, by in ranks
        )
        head = (view.say("head_number"), *map(redactor.name, view.secrets))
        blocks.append(make_grid(view.say("ranks_caption"), head, body, folded=True))
    yield view.chapter("losses", (*blocks, Paragraph(view.say("losses_reading"), "reading")))


def _title(view: ComparisonView, name: str) -> str:
    """A loss by the title of its definition; on a shareable page some are shares."""
    title = view.say(f"loss_{name}")
    return title if view.internal else view.texts.get(f"compared.shared_{name}", title)


def _shareable(name: str, each: Sequence[Data]) -> bool:
    """Whether many records decide a loss."""
    columns = [c for loss in each for c in (loss.get("columns") or {}).values()]
    scales = {c.get("scale") for c in columns if isinstance(c, Mapping)}
    return decides(name) in {*MEANS, Decides.ROOT, Decides.BITS} and scales <= PLAIN_SCALES


def _loss(redactor: Redactor, name: str, loss: Data) -> NumberText:
    if (value := clean(loss.get("value"))) is None:
        return redactor.undefined_text()
    if redactor.internal:
        return NumberText(significant(value), value)
    value, by = clean(loss.get(BY_ID[name].passed_on)), decides(name)
    if by is Decides.BITS:
        return bits_text(redactor, value)
    # near nothing a root moves by the root of the records
    spans = {**MEANS, Decides.ROOT: (max(redactor.rows, 1) / redactor.least) ** 0.5}
    return redactor.mean(value, span=spans[by]) if by in spans else redactor.withheld_text()
