"""Tables of a comparison: releases as columns, each number a row that leads to its definition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sievert.formatting import percent, significant
from sievert.losses import BY_ID
from sievert.measures import Decides
from sievert.report.chapters.compare.view import ComparisonView
from sievert.report.chapters.limit.numbers import bits, clean
from sievert.report.declarations import decides
from sievert.report.page import Cell, Chapter, Grid, Link, Paragraph
from sievert.report.redaction import NumberText, Redactor

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
PASSED_ON = OF_RECORDS[:4]
# Losses that many records decide, and by how much one can move them.
MEANS = {Decides.EVERYBODY: 1.0, Decides.TWICE: 2.0}
PLAIN_SCALES = {None, "hierarchy"}  # distances that were given, and that no single cell decides

Data = Mapping[str, Any]


@dataclass(frozen=True)
class Row:
    """One number of all releases: its definition, its words, the original's, theirs."""

    definition: str
    words: str
    before: str
    cells: Sequence[str]
    direction: str = ""  # where not that of the words
    title: str = ""  # in place of words: a name from the data, or of a loss


def grids(
    view: ComparisonView, caption: str, rows: Sequence[Row], *, folded: bool = False
) -> list[Grid]:
    """The rows as tables of a few releases each."""
    texts, found = view.part.texts, []
    original = any(row.before for row in rows)
    for start in range(0, len(view.releases), ABREAST):
        held = view.releases[start : start + ABREAST]
        head = [texts("compared.head_number"), texts("compared.head_direction")]
        head += [texts("compared.original")] if original else []
        head += [r.label for r in held]
        body: list[tuple[Cell, ...]] = []
        for row in rows:
            link = Link(_words(view, row), f"def-{row.definition}")
            cells = [row.before] if original else []
            cells += row.cells[start : start + len(held)]
            body.append((link, _direction(view, row), *cells))
        many = texts("compared.several", caption=caption, first=start + 1, last=start + len(held))
        title = caption if len(view.releases) <= ABREAST else many
        right = tuple(range(2, len(head)))
        found.append(Grid(title, tuple(head), tuple(body), right, folded))
    return found


def _words(view: ComparisonView, row: Row) -> str:
    return row.title or view.part.texts(f"compared.row_{row.words}")


def _direction(view: ComparisonView, row: Row) -> str:
    if row.direction:
        return view.part.texts(f"compared.direction_{row.direction}")
    key = f"compared.direction_{row.words}"
    return view.part.texts(key) if key in view.part.texts else ""


def exact(view: ComparisonView, secret: str) -> Iterator[Row]:
    """What only the operator sees of a secret."""
    held = [r.data["attribute_disclosure"][secret] for r in view.releases]
    losses = [r.data["information_loss"][secret] for r in view.releases]
    before = view.part.data["original"]["attribute_disclosure"][secret]

    def row(definition: str, words: str, what: str, found: Sequence[Data], first: Data) -> Row:
        cells = [str(view.redactor.only_internal(clean(each.get(what)))) for each in found]
        known = first and first.get(what) is not None
        start = str(view.redactor.only_internal(clean(first[what]))) if known else ""
        return Row(definition, words, start, cells)

    yield row("beyond_chance", "chance", "chance", held, before)
    yield row("beyond_chance", "p_value", "p_value", held, before)
    yield row("beyond_chance", "rows_per_cell", "rows_per_cell", held, before)
    yield row("information_loss", "lost_value", "value", losses, {})
    yield row("information_loss", "lost_p_value", "p_value", losses, {})


def by_column(view: ComparisonView) -> list[Grid]:
    """What each column alone tells of its original."""
    columns = list(view.releases[0].data["identity_disclosure"]["columns"])
    if len(columns) < 2:
        return []
    redactor, rows = view.redactor, []
    for column in columns:
        held = [r.data["identity_disclosure"]["columns"].get(column) for r in view.releases]
        whole = next((each["maximum"] for each in held if each), None)
        cells = [str(bits(redactor, each["value"])) if each else "" for each in held]
        row = Row(
            "identity_disclosure",
            "",
            str(bits(redactor, whole)),
            cells,
            "high",
            redactor.name(column),
        )
        rows.append(row)
    return grids(view, view.part.texts("compared.columns_caption"), rows, folded=True)


# -- each table on its own ------------------------------------------------------------------------


def smallest(view: ComparisonView, data: Data) -> NumberText:
    """The size of a release's smallest class."""
    return _smallest(view.redactor, data["assessment"]["reidentification"].get("k_anonymity"))


def _smallest(redactor: Redactor, held: Data | None) -> NumberText:
    k = None if held is None else held["value"]
    if k is None:
        return redactor.undefined()
    if not redactor.internal and k < redactor.least:
        return NumberText(redactor.texts("words.few", least=redactor.least), None)
    return NumberText(f"{k:,}", k)


def own(view: ComparisonView) -> tuple[Chapter, ...]:
    """The measures of every table on its own, the original first."""
    texts, data = view.part.texts, view.part.data
    tables = [data["original"]["assessment"], *(r.data["assessment"] for r in view.releases)]
    sizes = [view.part.rows, *(int(r.data["rows"] or 0) for r in view.releases)]
    chosen = OF_RECORDS if view.redactor.internal else PASSED_ON
    rows = []
    for measure in chosen:
        cells = [
            str(_measured(view.redactor, measure, t["reidentification"], n))
            for t, n in zip(tables, sizes, strict=True)
        ]
        rows.append(Row(measure, measure, cells[0], cells[1:]))
    found: list[Any] = grids(view, texts("compared.own_caption"), rows)
    for secret in view.secrets if view.redactor.internal else ():
        rows = []
        for measure in OF_SECRET:
            held = [t["inference"].get(secret, {}).get(measure) for t in tables]
            cells = [_exact(view.redactor, measure, each) for each in held]
            rows.append(Row(measure, measure, cells[0], cells[1:]))
        found += grids(view, texts("compared.own_secret", secret=view.redactor.name(secret)), rows)
    found.append(Paragraph(texts("compared.own_reading"), "reading"))
    return (Chapter(texts("compared.own_title"), view.part.anchor("own"), tuple(found)),)


def _exact(redactor: Redactor, measure: str, held: Data | None) -> str:
    if held is None or held["value"] is None:
        return str(redactor.undefined())
    value = held["value"]
    if isinstance(value, int):
        return f"{value:,}"
    return significant(value) if measure == "mutual_information" else percent(value)


def _measured(redactor: Redactor, measure: str, values: Data, rows: int) -> NumberText:
    """A measure of finding a person; what one class decides only where it may be."""
    held = values.get(measure)
    if held is None:
        return redactor.undefined()
    by = decides(measure)
    if by is Decides.SMALLEST_CLASS:
        return _smallest(redactor, held)
    if by is Decides.UNIQUES:
        k = (values.get("k_anonymity") or {}).get("value")
        if k is not None and k >= redactor.least:  # which is told
            return NumberText(redactor.texts("words.none"), 0)
        return redactor.count(held.get("records"))
    if redactor.internal:
        return NumberText(_exact(redactor, measure, held), held["value"])
    if by is Decides.UNCERTAINTY:
        return redactor.identity(held["value"], of=rows)
    if by is Decides.CLASSES and not _crowded(redactor, values, rows):
        return redactor.share(held["value"], of=rows)
    return redactor.withheld()


def _crowded(redactor: Redactor, values: Data, rows: int) -> bool:
    """Whether the number of classes would tell how few people are alone, as in an assessment."""
    k, classes = (values.get(m, {}).get("value") for m in ("k_anonymity", "classes"))
    alone = values.get("unique_records", {}).get("records") or 0
    small = k is None or k < redactor.least
    return small and alone < redactor.least and (classes or 0) > rows / 2 - redactor.least


# -- other losses ---------------------------------------------------------------------------------


def losses(view: ComparisonView) -> tuple[Chapter, ...]:
    """One row a loss, and for the operator whether it ranks the releases as bits do."""
    texts, redactor = view.part.texts, view.redactor
    rows, ranked = [], []
    for name in view.releases[0].data["losses"]:
        if name not in BY_ID:
            continue
        held = [r.data["losses"].get(name) or {} for r in view.releases]
        if not redactor.internal and not _means(name, held):
            continue
        if all(each.get("value") is None for each in held):
            continue
        cells = [str(_loss(redactor, name, each)) for each in held]
        kind = BY_ID[name]
        rows.append(Row(name, "", "", cells, f"lost_{kind.worse}", _titled(view, name)))
        ranked.append((name, view.part.data["rank_correlation"].get(name) or {}))
    if not rows:
        return ()
    found: list[Any] = grids(view, texts("compared.losses_caption"), rows)
    if redactor.internal and any(by for _, by in ranked):
        found.append(_ranks(view, ranked))
    found.append(Paragraph(texts("compared.losses_reading"), "reading"))
    return (Chapter(texts("compared.losses_title"), view.part.anchor("losses"), tuple(found)),)


def _titled(view: ComparisonView, name: str) -> str:
    """A loss by the title of its definition; passed on, some are told as shares."""
    key = f"compared.loss_{name}" if view.redactor.internal else f"compared.shared_{name}"
    texts = view.part.texts
    return texts(key) if key in texts else texts(f"compared.loss_{name}")


def _means(name: str, held: Sequence[Data]) -> bool:
    """Whether many records decide a loss."""
    columns = [c for each in held for c in (each.get("columns") or {}).values()]
    scales = {c.get("scale") for c in columns if isinstance(c, Mapping)}
    return decides(name) in {*MEANS, Decides.ROOT, Decides.BITS} and scales <= PLAIN_SCALES


def _loss(redactor: Redactor, name: str, held: Data) -> NumberText:
    value = clean(held.get("value"))
    if value is None:
        return redactor.undefined()
    if redactor.internal:
        return NumberText(significant(value), value)
    value, by = clean(held.get(BY_ID[name].passed_on)), decides(name)
    if by is Decides.BITS:
        return bits(redactor, value)
    if by is Decides.ROOT:  # near nothing it moves by the root of the records
        return redactor.mean(value, span=(max(redactor.rows, 1) / redactor.least) ** 0.5)
    return redactor.mean(value, span=MEANS[by]) if by in MEANS else redactor.withheld()


def _ranks(view: ComparisonView, ranked: Sequence[tuple[str, Data]]) -> Grid:
    """Whether each loss puts the releases into the order that the bits do."""
    texts, redactor = view.part.texts, view.redactor
    body: list[tuple[Cell, ...]] = []
    for name, by in ranked:
        cells = [str(redactor.only_internal(by.get(s))) for s in view.secrets]
        body.append((Link(_titled(view, name), f"def-{name}"), *cells))
    head = (texts("compared.head_number"), *(redactor.name(s) for s in view.secrets))
    right = tuple(range(1, len(head)))
    return Grid(texts("compared.ranks_caption"), head, tuple(body), right, folded=True)
