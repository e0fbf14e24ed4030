"""What the table says of the population behind it; estimates, each with the name of its model."""

from __future__ import annotations

from collections.abc import Iterator

from sievert.charts import Bar, bars
from sievert.charts.captions import caption_bars
from sievert.report.chapters.explain.view import ExplanationView, Numbers, level, term
from sievert.report.page import Block, Cell, Chapter, Grid, Paragraph, Picture
from sievert.report.redaction import NumberText

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
TOLD = ("size", "global_risk", "household_risk")


def chapter(reader: ExplanationView) -> Iterator[Chapter]:
    """Estimates for the population, and the totals of numeric secrets."""
    about = reader.data["population"]
    blocks: list[Block] = []
    if any(name in about for name in TOLD):
        blocks += _population(reader, about)
    if reader.internal and about["totals"]:
        blocks.append(_totals(reader, about["totals"]))
    if blocks:
        yield Chapter(
            reader.say("population_title"), reader.part.anchor("population"), tuple(blocks)
        )


def told_of(reader: ExplanationView, name: str) -> NumberText:
    """An estimate; nothing of it where fewer are alone than may be told."""
    redactor, found = reader.part.redactor, reader.data["population"][name]
    if reader.internal:
        return redactor.share(found["value"])
    alone = reader.alone(reader.whole).number
    if found["value"] is None or alone is None:
        return redactor.withheld()
    return redactor.share(found["value"], of=int(alone) if name in MATCHES else reader.records)


def _population(reader: ExplanationView, about: Numbers) -> Iterator[Block]:
    if "size" in about:
        fraction = about["fraction"] if reader.internal else reader.records / about["size"]
        share = reader.part.redactor.setting("fraction", 100 * fraction)
        yield Paragraph(reader.say("population_size", size=f"{about['size']:,}", share=share))
    models = [m for m in MODELS if f"population_uniques_{m}" in about]
    said = {m: told_of(reader, f"population_uniques_{m}") for m in models}
    rows: list[tuple[Cell, ...]] = [
        (term(reader.say(f"model_{m}"), "population_uniques"), str(said[m])) for m in models
    ]
    counted = "truta_maximal" in about
    for name in (*MATCHES, *OTHERS):
        if name in about and (counted or name not in IF_COUNTED):
            rows.append((reader.say(f"risk_{name}"), _with_error(reader, name)))
    if reader.internal and "expected_reidentifications" in about:
        expected = reader.part.redactor.only_internal(about["expected_reidentifications"]["value"])
        rows.append((reader.say("risk_expected"), reader.say("expected", number=expected)))
    head = (reader.say("number"), reader.say("share"))
    grid = Grid(reader.say("population_table"), head, tuple(rows), (1,))
    if any(level(reader.part.redactor, s) is not None for s in said.values()):
        marks = [
            Bar(reader.say(f"model_{m}"), level(reader.part.redactor, said[m])) for m in models
        ]
        spec = bars(
            reader.say("population_chart"),
            [reader.say("population_below")],
            marks,
            axis=reader.say("population_axis"),
        )
        spec = caption_bars(spec, [said[m].text for m in models])
        yield Picture(spec, reader.say("population_caption"), grid)
    else:
        yield grid
    yield Paragraph(reader.say("population_reading"), "reading")


def _with_error(reader: ExplanationView, name: str) -> str:
    said = told_of(reader, name)
    error = (reader.data["population"][name].get("details") or {}).get("standard_error")
    if not reader.internal or error is None or said.number is None:
        return str(said)
    return reader.say(
        "with_error", number=said, error=reader.part.redactor.only_internal(100 * error)
    )


def _totals(reader: ExplanationView, totals: Numbers) -> Grid:
    """Classes in which one or two people make up most of a total."""
    redactor = reader.part.redactor
    rows = []
    for secret, flags in totals.items():
        rule, other = flags["dominance"], flags["p_percent"]
        rows.append(
            (
                redactor.name(secret),
                str(redactor.only_internal(flags["classes"])),
                str(redactor.only_internal(rule["flagged"])),
                str(redactor.only_internal(other["flagged"])),
            )
        )
    head = tuple(reader.say(k) for k in ("secret", "classes", "dominated", "estimable"))
    return Grid(reader.say("totals_table"), head, tuple(rows), (1, 2, 3))
