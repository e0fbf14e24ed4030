"""Values and records that carry the risk: for the operator alone, none of it is passed on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sievert.charts import Bar
from sievert.charts.results import make_unique
from sievert.report.chapters.explain.view import (
    MOST_ROWS,
    MOST_SECRETS,
    ExplanationView,
    captioned_bars,
)
from sievert.report.page import Block, Chapter, Paragraph, make_grid
from sievert.report.parts import Data
from sievert.report.redaction import NumberText

EACH = 3  # values of a column in the picture
MOST_LISTED = 60


def chapters(view: ExplanationView) -> Iterator[Chapter]:
    """Values, slips, records and minimal uniques, on an internal page only."""
    if not view.internal:
        return
    values = view.data.get("values")
    if values is not None:
        blocks = (*_values(view, values), *_rare(view, values), *_alike(view, values))
        if blocks:
            yield Chapter(view.say("values_title"), view.part.anchor("values"), blocks)
    blocks = (*_suda(view), *_records(view))
    yield Chapter(view.say("records_title"), view.part.anchor("records"), blocks)


def _values(view: ExplanationView, values: Data) -> Iterator[Block]:
    redactor, secrets = view.part.redactor, view.secrets[:MOST_SECRETS]
    listed = [
        (number, {**value, "column": about["column"]})
        for about in values["columns"]
        for number, value in enumerate(about["riskiest"], 1)
    ]
    if not listed:
        return
    labels = make_unique(view.value_in_column(value, number) for number, value in listed)
    rows = []
    marks: list[tuple[Bar, NumberText]] = []
    for label, (number, value) in zip(labels, listed, strict=True):
        rate = redactor.rate(value["discrimination_rate"])
        counts = (redactor.count(value[n]) for n in ("records", "unique_count"))
        others = (redactor.rate(value["inference"].get(s)) for s in secrets)
        rows.append((label, *counts, rate, *others))
        if number <= EACH and len(marks) < 2 * MOST_ROWS and rate.number is not None:
            marks.append((Bar(label, rate.number), rate))
    head = [*(view.say(k) for k in ("value", "records", "alone")), *view.rate_heads()]
    grid = make_grid(view.say("values_table"), head, rows[:MOST_LISTED], folded=True)
    yield Paragraph(view.say("values_found"))
    yield captioned_bars(view.say, "values", marks, grid, axis="rate_axis", number=EACH)
    if left := view.rows_first(MOST_LISTED, len(rows)):
        yield Paragraph(left, "note")


def _rare(view: ExplanationView, values: Data) -> Iterator[Block]:
    """Rare values, and what leaving their records out would change."""
    count, exact = view.part.redactor.count, view.part.redactor.only_internal
    rows = [
        (
            view.value_in_column(value, number, "value_rare"),
            *(count(value[n]) for n in ("records", "unique_count")),
            count(value["gain"]["unique_count"]),
            *(exact(value["gain"][n]) for n in ("k_anonymity", "discrimination_rate")),
        )
        for number, value in enumerate(values["rare"], 1)
    ]
    if rows:
        keys = ("value", "records", "alone", "gain_alone", "gain_k", "gain_rate")
        yield make_grid(view.say("rare_table"), map(view.say, keys), rows)
        yield Paragraph(view.say("rare_reading"), "reading")


def _alike(view: ExplanationView, values: Data) -> Iterator[Block]:
    """Rare values that differ little from a frequent one."""
    count = view.part.redactor.count
    rows = [
        (
            view.value_in_column(value, number, "value_rare"),
            count(value["records"]),
            view.value_of(value["like"], number) if "value" in value["like"] else "",
            count(value["like"]["records"]),
            count(value["gain"]["unique_count"]),
        )
        for number, value in enumerate(values["lookalikes"], 1)
    ]
    if rows:
        keys = ("value", "records", "like", "like_records", "gain_alone")
        yield make_grid(view.say("alike_table"), map(view.say, keys), rows, (1, 3, 4))


def _suda(view: ExplanationView) -> Iterator[Block]:
    suda, redactor = view.data.get("suda"), view.part.redactor
    if suda is None:
        yield Paragraph(view.say("suda_missing"), "note")
        return
    parts: Mapping[str, float] | None = suda["column_contributions"]
    if parts is None:
        yield Paragraph(view.say("suda_none"))
        return
    yield Paragraph(view.say("suda_found", number=redactor.count(suda["records_with_msu"])))
    sizes = (
        (size, redactor.count(people), redactor.share(suda["size_shares"][size]))
        for size, people in suda["records_by_smallest_msu"].items()
    )
    head = map(view.say, ("suda_size", "people", "suda_part"))
    yield make_grid(view.say("suda_sizes"), head, sizes, range(3))
    columns = (
        (view.column_names.get(c, redactor.name(c)), redactor.share(part))
        for c, part in sorted(parts.items(), key=lambda each: -each[1])
    )
    yield make_grid(view.say("suda_columns"), map(view.say, ("column", "suda_part")), columns)
    yield Paragraph(view.say("suda_reading"), "reading")


def _records(view: ExplanationView) -> Iterator[Block]:
    records, redactor = view.data.get("records"), view.part.redactor
    if records is None or records["reason"] is not None or not records["riskiest"]:
        yield Paragraph(view.say("records_none"), "note")
        return
    rows = []
    for record in records["riskiest"]:
        shares = record.get("column_contributions") or {}
        most = [c for c in sorted(shares, key=lambda c: -shares[c])[:2] if shares[c] > 0]
        counts = (redactor.count(record[n]) for n in ("record", "class_size"))
        scores = (redactor.only_internal(record.get(n)) for n in ("suda_score", "smallest_msu"))
        rows.append((*counts, *scores, redactor.names(most)))
    head = map(view.say, ("row", "like_it", "suda_score", "suda_size", "mostly_by"))
    yield make_grid(view.say("records_table"), head, rows, range(4), folded=True)
