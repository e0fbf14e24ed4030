"""Measured numbers in words: values as they stand in the JSON of an assessment."""

from __future__ import annotations

from collections.abc import Callable

from sievert.formatting import percent, printable, significant
from sievert.measures import BY_ID, Decides, decided_by
from sievert.measures.measure import NOTHING_TO_LEARN, SUPPRESSED, UNBOUNDED
from sievert.report.definitions import link_definition, unit
from sievert.report.page import Cell
from sievert.report.parts import Data
from sievert.report.redaction import NumberText, Redactor
from sievert.report.texts import Texts
from sievert.sharing import COARSEST, SHAREABLE, rounding

SHORT = "_short"  # in tables and pictures
SHARES = {"unique_records"}  # of people: value_text in per cent


def value_text(
    redactor: Redactor, measure: str, entry: Data, bits: float | None = None
) -> NumberText:
    """A value of an assessment that is exact, or has been made fit to pass on already.

    `bits` is the entropy of the secret it is about.
    """
    texts, value = redactor.texts, entry["value"]
    if value is None:
        return NumberText(why(texts, entry), None)
    if not redactor.internal and decided_by(measure) not in SHAREABLE:
        return redactor.withheld()
    if isinstance(value, int):
        smallest = decided_by(measure) is Decides.SMALLEST_CLASS
        rounded = not redactor.internal and not smallest and value != redactor.rows
        text = f"{value:,}"
        return NumberText(texts("words.about", number=text) if rounded and value else text, value)
    if measure in SHARES:
        return NumberText(percent(value), value)
    if not redactor.internal and decided_by(measure) is Decides.CLASS_SHARE:
        half = COARSEST / 2  # no coarser step there is
        value = within(value)
        low = 0.0 if value <= COARSEST else value - half
        high = 1.0 if value >= 1 - COARSEST - 1e-9 else value + half
        span = {"low": significant(round(low, 6)), "high": significant(round(high, 6))}
        return NumberText(texts("words.from_to", **span), value)
    near = near_end(redactor, measure, value, bits, significant, SHORT)
    return NumberText(near or significant(value), value)


def near_end(
    redactor: Redactor,
    measure: str,
    value: float,
    bits: float | None,
    written: Callable[[float], str],
    short: str = "",
) -> str | None:
    """A share at an end of its range, to be passed on: nothing and nearly nothing look alike."""
    if redactor.internal or BY_ID[measure].high != 1 or redactor.rows < 2:
        return None
    step = rounding(measure, redactor.rows, redactor.least, bits)
    if value <= step * (1 + 1e-9):
        return redactor.texts(f"words.at_most{short}", number=written(step))
    if value >= 1 - step * (1 + 1e-9):
        return redactor.texts(f"words.at_least{short}", number=written(1 - step))
    return None


def within(value: float) -> float:
    """A share of one class: certainty is not told from nearly so."""
    return min(max(value, COARSEST), 1 - COARSEST)


REASONS = {UNBOUNDED: "unbounded", NOTHING_TO_LEARN: "nothing_to_learn", SUPPRESSED: "withheld"}


def why(texts: Texts, entry: Data) -> str:
    """In place of a number that is not there."""
    if entry["reason"] == SUPPRESSED and "below" in entry:
        return texts("words.few", least=entry["below"])
    return texts(f"words.{REASONS.get(entry['reason'], 'undefined')}")


def measure_title(texts: Texts, measure: str) -> str:
    """A measure by its title; by its id where this version does not know it."""
    key = f"measures.{measure}.title"
    return texts(key) if key in texts else printable(measure)


def scale(texts: Texts, measure: str) -> str:
    """The unit of a measure in words."""
    m = BY_ID[measure]
    if m.unit != "1":
        return unit(texts, m.unit)
    if measure in SHARES:
        return texts("units.share_of_records")
    return texts("units.share") if m.high == 1 else texts("units.ratio")


def row(
    redactor: Redactor, measure: str, entry: Data, bits: float | None = None
) -> tuple[Cell, ...]:
    """A line of a table of measures: what, how much, in what, which side is risky."""
    texts = redactor.texts
    title = measure_title(texts, measure)
    if measure == "records_below" and "k" in entry:
        title = texts("words.below_k", title=title, k=entry["k"])
    return (
        link_definition(measure, title),
        value_text(redactor, measure, entry, bits).text,
        scale(texts, measure),
        texts(f"risky.{BY_ID[measure].riskier}"),
    )
