"""Numbers in words: measures as in the JSON of an assessment, bits, distortions and quotients.

A quotient is made of the two numbers that stand on the page, never of the exact ones: a share of
little would tell more than both of its parts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence

from sievert.charts.drawing import short_name
from sievert.formatting import percent, printable, significant
from sievert.measures import BY_ID, Decides, decided_by
from sievert.measures.measure import NOTHING_TO_LEARN, SUPPRESSED, UNBOUNDED
from sievert.report.page import Cell, Link, Paragraph
from sievert.report.redaction import Data, NumberText, Redactor, ReportPart
from sievert.report.texts import Texts
from sievert.sharing import COARSEST, FINEST, SHAREABLE, round_step, rounding

SHORT = "_short"  # in tables and pictures
SHARES = {"unique_records"}  # of people: value_text in per cent
NOISE = 1e-9  # bits: rounding alone
TELLING = 10  # steps of rounding that a number must have before others are divided by it
MOST_NAMED = 4  # releases or limits in a sentence
LONGEST = 18  # letters of a release's name
NOTHING = 1e-3  # bits: a ratio to less is not disclosed
REASONS = {UNBOUNDED: "unbounded", NOTHING_TO_LEARN: "nothing_to_learn", SUPPRESSED: "withheld"}


# -- measures -------------------------------------------------------------------------------------


def value_text(
    redactor: Redactor, measure: str, entry: Data, bits: float | None = None
) -> NumberText:
    """A value of an assessment that is exact, or has been made shareable already.

    `bits` is the entropy of the secret it is about.
    """
    texts, value, by = redactor.texts, entry["value"], decided_by(measure)
    if value is None:
        return NumberText(why(texts, entry), None)
    if not redactor.internal and by not in SHAREABLE:
        return redactor.withheld_text()
    if isinstance(value, int):
        exact = redactor.internal or by is Decides.SMALLEST_CLASS or value in (0, redactor.rows)
        text = f"{value:,}"
        return NumberText(text if exact else texts("words.about", number=text), value)
    if measure in SHARES:
        return NumberText(percent(value), value)
    if not redactor.internal and by is Decides.CLASS_SHARE:
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
    """A share at an end of its range on a shareable page: nothing and nearly nothing look alike."""
    if redactor.internal or BY_ID[measure].high != 1 or redactor.rows < 2:
        return None
    step = rounding(measure, redactor.rows, redactor.least, bits)
    if value <= step * (1 + 1e-9):
        return redactor.texts(f"words.at_most{short}", number=written(step))
    if value >= 1 - step * (1 + 1e-9):
        return redactor.texts(f"words.at_least{short}", number=written(1 - step))
    return None


def within(value: float) -> float:
    """A share of one class: certainty looks like near certainty."""
    return min(max(value, COARSEST), 1 - COARSEST)


def why(texts: Texts, entry: Data) -> str:
    """In place of a number that is not there."""
    if entry["reason"] == SUPPRESSED and "below" in entry:
        return texts("words.few", least=entry["below"])
    return texts(f"words.{REASONS.get(entry['reason'], 'undefined')}")


def measure_title(texts: Texts, measure: str) -> str:
    """A measure by its title; by its id where this version does not know it."""
    return texts.get(f"measures.{measure}.title", printable(measure))


def scale(texts: Texts, measure: str) -> str:
    """The unit of a measure in words."""
    if (m := BY_ID[measure]).unit != "1":
        return unit(texts, m.unit)
    word = "share_of_records" if measure in SHARES else "share" if m.high == 1 else "ratio"
    return texts(f"units.{word}")


def unit(texts: Texts, name: str) -> str:
    """A unit in words; a number without one is a share or a ratio."""
    key = name.replace(" ", "_").replace("/", "_per_").replace("²", "_squared")
    return texts.get(f"units.{key}", name)


def row(
    redactor: Redactor, measure: str, entry: Data, bits: float | None = None
) -> tuple[Cell, ...]:
    """A line of a table of measures: what, how much, in what unit, which side is risky."""
    title = measure_title(redactor.texts, measure)
    if measure == "records_below" and "k" in entry:
        title = redactor.texts("words.below_k", title=title, k=entry["k"])
    return (
        Link(title, f"def-{measure}"),
        value_text(redactor, measure, entry, bits).text,
        scale(redactor.texts, measure),
        redactor.texts(f"risky.{BY_ID[measure].riskier}"),
    )


# -- bits and quotients ---------------------------------------------------------------------------


def clean(value: float | None) -> float | None:
    """A number without what rounding alone leaves of nothing.

    >>> clean(-2e-17), clean(0.25), clean(None)
    (0.0, 0.25, None)
    """
    return None if value is None else float(value) if abs(value) > NOISE else 0.0


def bits_text(redactor: Redactor, value: float | None) -> NumberText:
    """Bits per record; never minus nothing."""
    return redactor.bits(clean(value))


def proportion(redactor: Redactor, value: float | None) -> NumberText:
    """A mean share of cells that were changed, in per cent; nothing is drawn as nothing."""
    mean = redactor.mean(clean(value))
    return mean if mean.number is None else NumberText(percent(mean.number), mean.number)


def bits_step(redactor: Redactor) -> float:
    """The step that bits are rounded to; 0 where they are exact."""
    rows = max(redactor.rows, 2)
    step = round_step(max(redactor.least / rows * math.log2(rows), FINEST))
    return 0.0 if redactor.internal else step


def divisible(redactor: Redactor, whole: NumberText) -> bool:
    """Whether bits are enough to divide by."""
    least = max(NOISE, (TELLING - 0.5) * bits_step(redactor))
    return whole.number is not None and whole.number > least


def share_of(
    redactor: Redactor, part: NumberText, whole: NumberText, *, rest: bool = False
) -> NumberText:
    """A shown part as a share of a shown whole, or what is left of it."""
    if part.number is None or whole.number is None or not divisible(redactor, whole):
        return redactor.undefined_text() if redactor.internal else redactor.withheld_text()
    if rest and part.number > whole.number:
        return redactor.undefined_text()
    share = part.number / whole.number
    share = min(1.0, max(0.0, 1.0 - share if rest else share))
    share = share if redactor.internal else round(share, 2)
    return NumberText(percent(clean(share) or 0.0), share)


def times(redactor: Redactor, disclosed: NumberText, least: NumberText) -> NumberText:
    """How many times the least possible is disclosed; not where that is next to nothing."""
    if disclosed.number is None or least.number is None:
        return redactor.undefined_text()
    if not divisible(redactor, least) or least.number <= NOTHING:
        return redactor.undefined_text() if redactor.internal else redactor.withheld_text()
    ratio = disclosed.number / least.number
    ratio = ratio if redactor.internal else float(f"{ratio:.2g}")
    return NumberText(significant(ratio), ratio)


def about(redactor: Redactor, text: NumberText) -> str:
    """A number in a sentence; a rounded one is marked as such."""
    exact = redactor.internal or text.number is None
    return str(text) if exact else redactor.texts("words.about", number=text)


def interval_text(redactor: Redactor, low: NumberText, high: NumberText) -> str:
    """From here to there."""
    if low.number is None or high.number is None:
        return str(low)
    return redactor.texts("compared.range", low=low, high=high)


def release_names(part: ReportPart, releases: Iterable[Data]) -> list[str]:
    """What releases are called: by their number, and by their name for the operator."""
    key = "compared.named" if part.internal else "compared.release"
    return [
        part.texts(key, number=number, name=short_name(str(release["name"]), LONGEST))
        for number, release in enumerate(releases, 1)
    ]


def some_names(part: ReportPart, more: str, names: Sequence[str]) -> str:
    """Things in a sentence; of many the first ones, and how many there are besides."""
    left, first = len(names) - MOST_NAMED, ", ".join(names[:MOST_NAMED])
    if left < 2:
        return part.texts.join(names)
    return part.texts(more, releases=first, limits=first, number=left)


def side_by_side(
    part: ReportPart, caption: str, number: int, width: int
) -> Iterator[tuple[slice, str]]:
    """Releases in tables of a few, each table with its caption."""
    for start in range(0, number, width):
        last = min(start + width, number)
        many = part.texts("compared.several", caption=caption, first=start + 1, last=last)
        yield slice(start, last), many if number > width else caption


def rounding_note(part: ReportPart) -> Paragraph:
    """How the numbers of a shareable page are rounded."""
    step = significant(bits_step(part.redactor))
    return Paragraph(part.texts("compared.rounded", step=step, least=part.redactor.least), "note")
