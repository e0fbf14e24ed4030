"""Values and records that carry the risk, and the population behind them.

Estimates of the population stand beside the name of their model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sievert.charts import Bar
from sievert.charts.results import make_unique
from sievert.report.chapters.explain_view import (
    MOST_ROWS,
    MOST_SECRETS,
    ExplanationView,
    captioned_bars,
)
from sievert.report.page import Block, Chapter, Grid, Link, Paragraph, make_grid
from sievert.report.parts import Data, NumberText

EACH = 3  # values of a column in the picture
MOST_LISTED = 60
MODELS = ("zayatz", "pitman", "snb", "dankar")
MATCHES = ("unique_match", "unique_match_known")
OTHERS = (
    "prosecutor",
    "journalist",
    "marketer",
    "truta_minimal",
    "truta_maximal",
    "global_risk",
    "household_risk",
)
IF_COUNTED = ("journalist", "marketer")  # else as for somebody who knows who is in the table
SHOWN_WITH = ("size", "global_risk", "household_risk")


def chapters(view: ExplanationView) -> Iterator[Chapter]:
    """The population, values, slips, records and minimal uniques."""
    about, values = view.data["population"], view.data.get("values")
    totals = about["totals"]
    writers = (_values, _rare, _alike) if values else ()
    chapters: dict[str, tuple[Block, ...]] = {
        "population": (
            *(_population(view, about) if any(name in about for name in SHOWN_WITH) else ()),
            *([_totals(view, totals)] if totals else ()),
        ),
        "values": tuple(block for write in writers for block in write(view, values or {})),
        "records": (*_suda(view), *_records(view)),
    }
    yield from (view.chapter(key, blocks) for key, blocks in chapters.items() if blocks)


# -- the population -------------------------------------------------------------------------------


def _estimate(view: ExplanationView, name: str) -> NumberText:
    return view.writer.share(view.data["population"][name]["value"])


def _population(view: ExplanationView, about: Data) -> Iterator[Block]:
    if "size" in about:
        share = view.writer.number(100 * about["fraction"])
        yield Paragraph(view.say("population_size", size=f"{about['size']:,}", share=share))
    models = {
        view.say(f"model_{m}"): _estimate(view, f"population_uniques_{m}")
        for m in MODELS
        if f"population_uniques_{m}" in about
    }
    rows: list[tuple[object, ...]] = [
        (Link(model, "def-population_uniques"), text) for model, text in models.items()
    ]
    omitted = () if "truta_maximal" in about else IF_COUNTED
    rows += [
        (view.say(f"risk_{name}"), _with_error(view, name))
        for name in (*MATCHES, *OTHERS)
        if name in about and name not in omitted
    ]
    if "expected_reidentifications" in about:
        expected = view.writer.number(about["expected_reidentifications"]["value"])
        rows.append((view.say("risk_expected"), view.say("expected", number=expected)))
    grid = make_grid(view.say("population_table"), map(view.say, ("number", "share")), rows)
    marks = [(Bar(model, text.number), text) for model, text in models.items()]
    yield captioned_bars(view, "population", marks, grid, axis="population_axis")
    yield Paragraph(view.say("population_reading"), "reading")


def _with_error(view: ExplanationView, name: str) -> str:
    text = _estimate(view, name)
    error = (view.data["population"][name].get("details") or {}).get("standard_error")
    if error is None or text.number is None:
        return str(text)
    return view.say("with_error", number=text, error=view.writer.number(100 * error))


def _totals(view: ExplanationView, totals: Data) -> Grid:
    """Classes in which one or two people make up most of a total."""
    exact = view.writer.number
    rows = (
        (
            view.writer.name(secret),
            exact(flags["classes"]),
            *(exact(flags[rule]["flagged"]) for rule in ("dominance", "p_percent")),
        )
        for secret, flags in totals.items()
    )
    return make_grid(
        view.say("totals_table"),
        map(view.say, ("secret", "classes", "dominated", "estimable")),
        rows,
    )


# -- values and records ---------------------------------------------------------------------------


def _values(view: ExplanationView, values: Data) -> Iterator[Block]:
    writer, secrets = view.writer, view.secrets[:MOST_SECRETS]
    listed = [
        (number, {**value, "column": about["column"]})
        for about in values["columns"]
        for number, value in enumerate(about["riskiest"], 1)
    ]
    if not listed:
        return
    labels = make_unique(view.value_in_column(value, number) for number, value in listed)
    rates = [writer.share(value["discrimination_rate"]) for _, value in listed]
    rows = [
        (
            label,
            *(writer.count(value[n]) for n in ("records", "unique_count")),
            rate,
            *(writer.share(value["inference"].get(s)) for s in secrets),
        )
        for label, (_, value), rate in zip(labels, listed, rates, strict=True)
    ]
    marks = [
        (Bar(label, rate.number), rate)
        for label, (number, _), rate in zip(labels, listed, rates, strict=True)
        if number <= EACH and rate.number is not None
    ]
    head = [*map(view.say, ("value", "records", "alone")), *view.rate_heads()]
    grid = make_grid(view.say("values_table"), head, rows[:MOST_LISTED], folded=True)
    yield Paragraph(view.say("values_found"))
    yield captioned_bars(
        view, "values", marks[: 2 * MOST_ROWS], grid, axis="rate_axis", number=EACH
    )
    if left := view.rows_first(MOST_LISTED, len(rows)):
        yield Paragraph(left, "note")


def _rare(view: ExplanationView, values: Data) -> Iterator[Block]:
    """Rare values, and what leaving their records out would change."""
    count, exact = view.writer.count, view.writer.number
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
    rows = [
        (
            view.value_in_column(value, number, "value_rare"),
            view.writer.count(value["records"]),
            view.value_of(value["like"], number) if "value" in value["like"] else "",
            view.writer.count(value["like"]["records"]),
            view.writer.count(value["gain"]["unique_count"]),
        )
        for number, value in enumerate(values["lookalikes"], 1)
    ]
    if rows:
        keys = ("value", "records", "like", "like_records", "gain_alone")
        yield make_grid(view.say("alike_table"), map(view.say, keys), rows, (1, 3, 4))


def _suda(view: ExplanationView) -> Iterator[Block]:
    suda, writer = view.data.get("suda"), view.writer
    parts: Mapping[str, float] | None = suda and suda["column_contributions"]
    if suda is None or parts is None:
        none = Paragraph(view.say("suda_missing"), "note")
        yield none if suda is None else Paragraph(view.say("suda_none"))
        return
    yield Paragraph(view.say("suda_found", number=writer.count(suda["records_with_msu"])))
    sizes = (
        (size, writer.count(people), writer.share(suda["size_shares"][size]))
        for size, people in suda["records_by_smallest_msu"].items()
    )
    yield make_grid(
        view.say("suda_sizes"), map(view.say, ("suda_size", "people", "suda_part")), sizes, range(3)
    )
    columns = (
        (view.column_names.get(c, writer.name(c)), writer.share(part))
        for c, part in sorted(parts.items(), key=lambda each: -each[1])
    )
    yield make_grid(view.say("suda_columns"), map(view.say, ("column", "suda_part")), columns)
    yield Paragraph(view.say("suda_reading"), "reading")


def _records(view: ExplanationView) -> Iterator[Block]:
    records, writer = view.data.get("records"), view.writer
    if records is None or records["reason"] is not None or not records["riskiest"]:
        yield Paragraph(view.say("records_none"), "note")
        return
    rows = (
        (
            *(writer.count(record[n]) for n in ("record", "class_size")),
            *(writer.number(record.get(n)) for n in ("suda_score", "smallest_msu")),
            writer.names(_most_telling(record.get("column_contributions") or {})),
        )
        for record in records["riskiest"]
    )
    head = map(view.say, ("row", "like_it", "suda_score", "suda_size", "mostly_by"))
    yield make_grid(view.say("records_table"), head, rows, range(4), folded=True)


def _most_telling(shares: Mapping[str, float]) -> list[str]:
    """The two columns that contribute most to the score of a record."""
    return [c for c in sorted(shares, key=lambda c: -shares[c])[:2] if shares[c] > 0]
