"""What the table says of the population behind it; estimates, each with the name of its model."""

from __future__ import annotations

from collections.abc import Iterator

from sievert.charts import Bar, bars
from sievert.charts.captions import told
from sievert.report.chapters.explain.numbers import Numbers, Reader, level, term
from sievert.report.page import Block, Cell, Chapter, Grid, Picture, Words
from sievert.report.redaction import Said

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


def chapter(reader: Reader) -> Iterator[Chapter]:
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


def told_of(reader: Reader, name: str) -> Said:
    """An estimate; nothing of it where fewer are alone than may be told."""
    pen, found = reader.part.pen, reader.data["population"][name]
    if reader.internal:
        return pen.share(found["value"])
    alone = reader.alone(reader.whole).number
    if found["value"] is None or alone is None:
        return pen.withheld()
    return pen.share(found["value"], of=int(alone) if name in MATCHES else reader.records)


def _population(reader: Reader, about: Numbers) -> Iterator[Block]:
    if "size" in about:
        fraction = about["fraction"] if reader.internal else reader.records / about["size"]
        share = reader.part.pen.setting("fraction", 100 * fraction)
        yield Words(reader.say("population_size", size=f"{about['size']:,}", share=share))
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
        expected = reader.part.pen.only_internal(about["expected_reidentifications"]["value"])
        rows.append((reader.say("risk_expected"), reader.say("expected", number=expected)))
    head = (reader.say("number"), reader.say("share"))
    grid = Grid(reader.say("population_table"), head, tuple(rows), (1,))
    if any(level(reader.part.pen, s) is not None for s in said.values()):
        marks = [Bar(reader.say(f"model_{m}"), level(reader.part.pen, said[m])) for m in models]
        spec = bars(
            reader.say("population_chart"),
            [reader.say("population_below")],
            marks,
            axis=reader.say("population_axis"),
        )
        spec = told(spec, [said[m].text for m in models])
        yield Picture(spec, reader.say("population_caption"), grid)
    else:
        yield grid
    yield Words(reader.say("population_reading"), "reading")


def _with_error(reader: Reader, name: str) -> str:
    said = told_of(reader, name)
    error = (reader.data["population"][name].get("details") or {}).get("standard_error")
    if not reader.internal or error is None or said.number is None:
        return str(said)
    return reader.say("with_error", number=said, error=reader.part.pen.only_internal(100 * error))


def _totals(reader: Reader, totals: Numbers) -> Grid:
    """Classes in which one or two people make up most of a total."""
    pen = reader.part.pen
    rows = []
    for secret, flags in totals.items():
        rule, other = flags["dominance"], flags["p_percent"]
        rows.append(
            (
                pen.name(secret),
                str(pen.only_internal(flags["classes"])),
                str(pen.only_internal(rule["flagged"])),
                str(pen.only_internal(other["flagged"])),
            )
        )
    head = tuple(reader.say(k) for k in ("secret", "classes", "dominated", "estimable"))
    return Grid(reader.say("totals_table"), head, tuple(rows), (1, 2, 3))
