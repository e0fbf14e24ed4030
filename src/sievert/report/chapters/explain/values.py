"""Values and records that carry the risk: for the operator alone, none of it is passed on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sievert.charts import Bar, bars
from sievert.charts.captions import caption_bars
from sievert.charts.results import make_unique
from sievert.report.chapters.explain.columns import MOST_ROWS, target
from sievert.report.chapters.explain.view import MOST_SECRETS, ExplanationView, Numbers, term
from sievert.report.page import Block, Chapter, Grid, Paragraph, Picture

EACH = 3  # values of a column in the picture
MOST_LISTED = 60


def chapters(reader: ExplanationView) -> Iterator[Chapter]:
    """Values, slips, records and minimal uniques, on an internal page only."""
    if not reader.internal:
        return
    held = reader.data.get("values")
    if held is not None:
        blocks = (*_values(reader, held), *_rare(reader, held), *_alike(reader, held))
        if blocks:
            yield Chapter(reader.say("values_title"), reader.part.anchor("values"), blocks)
    blocks = (*_suda(reader), *_records(reader))
    if blocks:
        yield Chapter(reader.say("records_title"), reader.part.anchor("records"), blocks)


def _values(reader: ExplanationView, held: Numbers) -> Iterator[Block]:
    redactor, secrets = reader.part.redactor, reader.secrets[:MOST_SECRETS]
    listed = [
        (about["column"], number, value)
        for about in held["columns"]
        for number, value in enumerate(about["riskiest"], 1)
    ]
    labels = make_unique(
        reader.say("value_of", column=reader.called[c], value=reader.value_of(v, i))
        for c, i, v in listed
    )
    rows, words = [], []
    marks: list[Bar] = []
    for label, (_, number, value) in zip(labels, listed, strict=True):
        rate = redactor.rate(value["discrimination_rate"])
        row = [
            label,
            str(redactor.count(value["records"])),
            str(redactor.count(value["unique_count"])),
        ]
        row += [str(rate), *(str(redactor.rate(value["inference"].get(s))) for s in secrets)]
        rows.append(tuple(row))
        if number <= EACH and len(marks) < 2 * MOST_ROWS and rate.number is not None:
            marks.append(Bar(label, rate.number))
            words.append(rate.text)
    if not rows:
        return
    head = [reader.say(k) for k in ("value", "records", "alone", "rate_of_finding")]
    head += [reader.say("rate_of", name=target(reader, s)) for s in secrets]
    right = tuple(range(1, len(head)))
    grid = Grid(reader.say("values_table"), tuple(head), tuple(rows[:MOST_LISTED]), right, True)
    yield Paragraph(reader.say("values_found"))
    if marks:
        below = [reader.say("values_below", number=EACH)]
        spec = bars(reader.say("values_chart"), below, marks, axis=reader.say("rate_axis"))
        yield Picture(caption_bars(spec, words), reader.say("values_caption"), grid)
    else:
        yield grid
    if len(rows) > MOST_LISTED:
        yield Paragraph(reader.say("rows_first", shown=MOST_LISTED, of=len(rows)), "note")


def _rare(reader: ExplanationView, held: Numbers) -> Iterator[Block]:
    """Rare values, and what leaving their records out would change."""
    redactor, rows = reader.part.redactor, []
    for number, value in enumerate(held["rare"], 1):
        gain = value["gain"]
        name = reader.called[value["column"]]
        text = reader.value_of(value, number, "value_rare")
        rows.append(
            (
                reader.say("value_of", column=name, value=text),
                str(redactor.count(value["records"])),
                str(redactor.count(value["unique_count"])),
                str(redactor.count(gain["unique_count"])),
                str(redactor.only_internal(gain["k_anonymity"])),
                str(redactor.only_internal(gain["discrimination_rate"])),
            )
        )
    if rows:
        keys = ("value", "records", "alone", "gain_alone", "gain_k", "gain_rate")
        head = tuple(reader.say(k) for k in keys)
        yield Grid(reader.say("rare_table"), head, tuple(rows), (1, 2, 3, 4, 5))
        yield Paragraph(reader.say("rare_reading"), "reading")


def _alike(reader: ExplanationView, held: Numbers) -> Iterator[Block]:
    """Rare values that differ little from a frequent one."""
    redactor, rows = reader.part.redactor, []
    for number, value in enumerate(held["lookalikes"], 1):
        rows.append(
            (
                reader.say(
                    "value_of",
                    column=reader.called[value["column"]],
                    value=reader.value_of(value, number, "value_rare"),
                ),
                str(redactor.count(value["records"])),
                reader.value_of(value["like"], number) if "value" in value["like"] else "",
                str(redactor.count(value["like"]["records"])),
                str(redactor.count(value["gain"]["unique_count"])),
            )
        )
    if rows:
        keys = ("value", "records", "like", "like_records", "gain_alone")
        head = tuple(reader.say(k) for k in keys)
        yield Grid(reader.say("alike_table"), head, tuple(rows), (1, 3, 4))


def _suda(reader: ExplanationView) -> Iterator[Block]:
    suda = reader.data.get("suda")
    if suda is None:
        yield Paragraph(reader.say("suda_missing"), "note")
        return
    redactor = reader.part.redactor
    if suda["column_contributions"] is None:
        yield Paragraph(reader.say("suda_none"))
        return
    yield Paragraph(reader.say("suda_found", number=redactor.count(suda["records_with_msu"])))
    sizes = suda["records_by_smallest_msu"]
    rows = [
        (size, str(redactor.count(people)), str(redactor.share(suda["size_shares"][size])))
        for size, people in sizes.items()
    ]
    head = tuple(reader.say(k) for k in ("suda_size", "people", "suda_part"))
    yield Grid(reader.say("suda_sizes"), head, tuple(rows), (0, 1, 2))
    parts: Mapping[str, float] = suda["column_contributions"]
    order = sorted(parts, key=lambda c: -parts[c])
    cells = tuple(
        (reader.called.get(c, redactor.name(c)), str(redactor.share(parts[c]))) for c in order
    )
    yield Grid(
        reader.say("suda_columns"), (reader.say("column"), reader.say("suda_part")), cells, (1,)
    )
    yield Paragraph(reader.say("suda_reading"), "reading")


def _records(reader: ExplanationView) -> Iterator[Block]:
    held = reader.data.get("records")
    if held is None or held["reason"] is not None or not held["riskiest"]:
        yield Paragraph(reader.say("records_none"), "note")
        return
    redactor, rows = reader.part.redactor, []
    for record in held["riskiest"]:
        shares = record.get("column_contributions") or {}
        most = [c for c in sorted(shares, key=lambda c: -shares[c])[:2] if shares[c] > 0]
        rows.append(
            (
                str(redactor.count(record["record"])),
                str(redactor.count(record["class_size"])),
                str(redactor.only_internal(record.get("suda_score"))),
                str(redactor.only_internal(record.get("smallest_msu"))),
                redactor.names(most),
            )
        )
    keys = ("row", "like_it", "suda_score", "suda_size", "mostly_by")
    head = tuple(reader.say(k) for k in keys)
    yield Grid(reader.say("records_table"), head, tuple(rows), (0, 1, 2, 3), folded=True)


def links(reader: ExplanationView) -> Grid:
    """The words of this chapter, each with what it means in short."""
    words = [
        ("discrimination_rate", "term_rate"),
        ("unique_records", "term_alone"),
        ("shapley", "term_shapley"),
    ]
    if reader.internal:
        words += [("k_anonymity", "term_k"), ("itpr", "term_itpr")]
        words += [("itpr_unnormalized", "term_eq9"), ("suda", "term_suda")]
    rows = tuple(
        (term(reader.say(key), anchor), reader.say(f"{key}_says")) for anchor, key in words
    )
    head = (reader.say("word"), reader.say("meaning"))
    return Grid(reader.say("words_table"), head, rows)
