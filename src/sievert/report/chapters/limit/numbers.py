"""Numbers that comparisons and limits share: bits, distortions, and quotients of what is shown.

A quotient is made of the two numbers that stand on the page, never of the exact ones: a share of
little would tell more than both of its parts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sievert.charts.drawing import short_name
from sievert.formatting import percent, significant
from sievert.report.page import Block, Chapter, Paragraph
from sievert.report.parts import ReportPart
from sievert.report.redaction import NumberText, Redactor
from sievert.report.texts import Texts
from sievert.sharing import FINEST, round_step

NOISE = 1e-9  # bits: rounding alone
TELLING = 10  # steps of rounding that a number must have before others are divided by it
LONGEST = 18  # letters of a release's name
NOTHING = 1e-3  # bits: a ratio to less is not disclosed

Blocks = tuple[Block | Chapter, ...]


def clean(value: float | None) -> float | None:
    """A number without what rounding alone leaves of nothing.

    >>> clean(-2e-17), clean(0.25), clean(None)
    (0.0, 0.25, None)
    """
    return None if value is None else float(value) if abs(value) > NOISE else 0.0


def bits(redactor: Redactor, value: float | None) -> NumberText:
    """Bits a record; never minus nothing."""
    return redactor.bits(clean(value))


def proportion(redactor: Redactor, value: float | None) -> NumberText:
    """A mean share of cells that were changed, in per cent; nothing is drawn as nothing."""
    mean = redactor.mean(clean(value))
    return mean if mean.number is None else NumberText(percent(mean.number), mean.number)


def step(redactor: Redactor) -> float:
    """The step that bits are rounded to; 0 where they are exact."""
    if redactor.internal:
        return 0.0
    rows = max(redactor.rows, 2)
    return round_step(max(redactor.least / rows * math.log2(rows), FINEST))


def divisible(redactor: Redactor, whole: NumberText) -> bool:
    """Whether bits are enough to divide by."""
    return whole.number is not None and whole.number > max(NOISE, (TELLING - 0.5) * step(redactor))


def share_of(
    redactor: Redactor, part: NumberText, whole: NumberText, *, rest: bool = False
) -> NumberText:
    """A shown part as a share of a shown whole, or what is left of it."""
    if part.number is None or whole.number is None:
        return redactor.withheld() if not redactor.internal else redactor.undefined()
    if not divisible(redactor, whole):
        return redactor.undefined() if redactor.internal else redactor.withheld()
    if rest and part.number > whole.number:
        return redactor.undefined()
    share = part.number / whole.number
    share = min(1.0, max(0.0, 1.0 - share if rest else share))
    share = share if redactor.internal else round(share, 2)
    return NumberText(percent(clean(share) or 0.0), share)


def times(redactor: Redactor, disclosed: NumberText, least: NumberText) -> NumberText:
    """How many times the least possible is disclosed; not where that is next to nothing."""
    if disclosed.number is None or least.number is None:
        return redactor.undefined()
    if not divisible(redactor, least) or least.number <= NOTHING:
        return redactor.undefined() if redactor.internal else redactor.withheld()
    ratio = disclosed.number / least.number
    ratio = ratio if redactor.internal else float(f"{ratio:.2g}")
    return NumberText(significant(ratio), ratio)


def about(redactor: Redactor, said: NumberText) -> str:
    """A number in a sentence: rounded ones are said to be."""
    if redactor.internal or said.number is None:
        return str(said)
    return redactor.texts("words.about", number=str(said))


def join_names(texts: Texts, items: Sequence[str]) -> str:
    """Things in a sentence."""
    if len(items) < 2:
        return items[0] if items else texts("words.none")
    return texts("words.and", first=", ".join(items[:-1]), last=items[-1])


def interval(redactor: Redactor, low: NumberText, high: NumberText) -> str:
    """From here to there."""
    if low.number is None or high.number is None:
        return str(low)
    return redactor.texts("compared.range", low=str(low), high=str(high))


def labels(part: ReportPart, releases: Iterable[Mapping[str, Any]]) -> list[str]:
    """What releases are called: by their number, and by their name for the operator."""
    key = "compared.named" if part.redactor.internal else "compared.release"
    return [
        part.texts(key, number=number, name=short_name(str(release["name"]), LONGEST))
        for number, release in enumerate(releases, 1)
    ]


def too_small(part: ReportPart) -> Blocks:
    """All that is said of a table of a few records."""
    return (Paragraph(part.texts("compared.silent"), "note"),)


def rounding(part: ReportPart) -> Paragraph:
    """How numbers that are passed on are rounded."""
    said = part.texts(
        "compared.rounded", step=significant(step(part.redactor)), least=part.redactor.least
    )
    return Paragraph(said, "note")
