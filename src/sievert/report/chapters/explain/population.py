"""What the table says of the population behind it; estimates, each with the name of its model."""

from __future__ import annotations

from collections.abc import Iterator

from sievert.charts import Bar
from sievert.report.chapters.explain.view import ExplanationView, captioned_bars, level
from sievert.report.page import Block, Chapter, Grid, Link, Paragraph, make_grid
from sievert.report.parts import Data
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


def chapter(view: ExplanationView) -> Iterator[Chapter]:
    """Estimates for the population, and the totals of numeric secrets."""
    about = view.data["population"]
    blocks: list[Block] = []
    if any(name in about for name in TOLD):
        blocks += _population(view, about)
    if view.internal and about["totals"]:
        blocks.append(_totals(view, about["totals"]))
    if blocks:
        yield Chapter(view.say("population_title"), view.part.anchor("population"), tuple(blocks))


def estimate_text(view: ExplanationView, name: str) -> NumberText:
    """An estimate; nothing of it where fewer are alone than may be told."""
    redactor, estimate = view.part.redactor, view.data["population"][name]
    if view.internal:
        return redactor.share(estimate["value"])
    alone = view.alone(view.whole).number
    if estimate["value"] is None or alone is None:
        return redactor.withheld()
    return redactor.share(estimate["value"], of=int(alone) if name in MATCHES else view.records)


def _population(view: ExplanationView, about: Data) -> Iterator[Block]:
    if "size" in about:
        fraction = about["fraction"] if view.internal else view.records / about["size"]
        share = view.part.redactor.setting("fraction", 100 * fraction)
        yield Paragraph(view.say("population_size", size=f"{about['size']:,}", share=share))
    models = {
        m: estimate_text(view, f"population_uniques_{m}")
        for m in MODELS
        if f"population_uniques_{m}" in about
    }
    rows: list[tuple[object, ...]] = [
        (Link(view.say(f"model_{m}"), "def-population_uniques"), text) for m, text in models.items()
    ]
    omitted = () if "truta_maximal" in about else IF_COUNTED
    rows += [
        (view.say(f"risk_{name}"), _with_error(view, name))
        for name in (*MATCHES, *OTHERS)
        if name in about and name not in omitted
    ]
    if view.internal and "expected_reidentifications" in about:
        expected = view.part.redactor.only_internal(about["expected_reidentifications"]["value"])
        rows.append((view.say("risk_expected"), view.say("expected", number=expected)))
    head = (view.say("number"), view.say("share"))
    grid = make_grid(view.say("population_table"), head, rows)
    marks = [
        (Bar(view.say(f"model_{m}"), level(view.part.redactor, text)), text)
        for m, text in models.items()
    ]
    yield captioned_bars(view.say, "population", marks, grid, axis="population_axis")
    yield Paragraph(view.say("population_reading"), "reading")


def _with_error(view: ExplanationView, name: str) -> str:
    said = estimate_text(view, name)
    error = (view.data["population"][name].get("details") or {}).get("standard_error")
    if not view.internal or error is None or said.number is None:
        return str(said)
    return view.say("with_error", number=said, error=view.part.redactor.only_internal(100 * error))


def _totals(view: ExplanationView, totals: Data) -> Grid:
    """Classes in which one or two people make up most of a total."""
    exact = view.part.redactor.only_internal
    rows = (
        (
            view.part.redactor.name(secret),
            exact(flags["classes"]),
            *(exact(flags[rule]["flagged"]) for rule in ("dominance", "p_percent")),
        )
        for secret, flags in totals.items()
    )
    head = [view.say(k) for k in ("secret", "classes", "dominated", "estimable")]
    return make_grid(view.say("totals_table"), head, rows)
