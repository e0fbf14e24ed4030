"""Proposals of hierarchies for columns, made from the form of their values, with reasons."""

import itertools
import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from sievert.errors import InputError
from sievert.hierarchies.codes import BY_NAME, FIRST_YEAR, LAST_YEAR, are_amounts, describe_codes
from sievert.hierarchies.dates import date_hierarchy, is_date
from sievert.hierarchies.hierarchy import Hierarchy
from sievert.hierarchies.intervals import LONGEST, exact_numbers, sorted_numbers
from sievert.hierarchies.labels import NUMBER, ROOT, all_digits
from sievert.hierarchies.specifications import parse

SKEWED = Fraction(1, 2)  # share of the records that lies in one of about 16 intervals
FEW_CATEGORIES = 8
MANY_CATEGORIES = 20
RARE = 100  # a category is rare if it has less than one record in 100


@dataclass(frozen=True)
class Proposal:
    """A specification, the reason for it, and the hierarchy that it makes of the values."""

    text: str
    reason: str  # such as numbers, codes or categories: a sentence of [proposed] in the texts
    distinct: int
    hierarchy: Hierarchy | None

    @property
    def by_name(self) -> bool:
        """Say whether the name of the column decided that its numbers are codes."""
        return self.reason in BY_NAME


def propose(values: Iterable[str] | Mapping[str, int], name: str | None = None) -> Proposal:
    """Propose a hierarchy by the form of the values; `values` may say how often each occurs.

    Numbers get intervals whose widths about double on every level, or quantiles if most records lie
    in one interval. Dates get months and years. Codes of one length, and numbers that the `name` of
    the column calls codes, lose their last characters. Many categories keep the most frequent ones,
    few categories all that are not rare; the others become one label. Cuts are round.

    >>> propose(["01234", "01299", "20095"]).text, propose([str(n) for n in range(17, 81)]).text
    ('prefix', 'interval:5,10,20,40')
    >>> propose(["jan thru mar", "apr thru jun", "jul thru sep"]).text  # words are no codes
    '*'
    """
    counts = values if isinstance(values, Mapping) else Counter(values)
    text, reason = _describe(counts, name)
    return Proposal(
        text=text,
        reason=reason,
        distinct=len(counts),
        hierarchy=parse(text, counts) if counts else None,
    )


def _describe(counts: Mapping[str, int], name: str | None) -> tuple[str, str]:
    lengths = {len(v) for v in counts}
    if len(counts) <= 2:
        return ROOT, "few_values"
    if all(is_date(v) and not _odd_year(v) for v in counts):
        dates = _dates(counts)
        if dates is not None:
            return dates
    code = describe_codes(counts, name)
    if code is not None:
        specification, reason = code
        if specification is None:
            specification, _ = _categories(counts)
        return specification, reason
    numbers = all(len(v) <= LONGEST and NUMBER.fullmatch(v) for v in counts)
    padded = numbers and any(v[0] == "0" and v[1:2].isdigit() for v in counts)
    amounts = len(lengths) > 1 or min(lengths) <= 4 or are_amounts(counts, name)
    sizes = numbers and not padded and amounts
    widths = _widths(counts) if sizes else []
    if widths:
        if _fullest(counts, widths[0]) > SKEWED * sum(counts.values()):
            return "quantile:16,8,4", "skewed_numbers"
        return f"interval:{','.join(map(all_digits, widths))}", "numbers"
    if len(lengths) == 1 and 2 < min(lengths) <= 12 and not _words(counts):
        return "prefix", "codes"
    return _categories(counts)


def _categories(counts: Mapping[str, int]) -> tuple[str, str]:
    """Keep the most frequent of many categories, or all of few categories that are not rare."""
    if len(counts) > FEW_CATEGORIES:
        return "top:20,5" if len(counts) > MANY_CATEGORIES else "top:5", "categories"
    frequent = sum(n > sum(counts.values()) // RARE for n in counts.values())
    some = 0 < frequent < len(counts) - 1
    return (f"top:{frequent}", "categories") if some else (ROOT, "few_values")


def _odd_year(value: str) -> bool:
    """Say whether a text of digits, which may be a code, begins with an implausible year."""
    return value.isdecimal() and not FIRST_YEAR <= int(value[:4]) <= LAST_YEAR


def _dates(values: Collection[str]) -> tuple[str, str] | None:
    """Choose the units of dates that merge some values and leave more than one label.

    Months have no days; years do not depend on the order of day and month.
    """
    wholes = ("month", "quarter", "year", "decade")
    for candidates in (("day", *wholes), wholes, ("day", "week"), wholes[2:]):
        try:
            tree = date_hierarchy(values, candidates)
        except InputError:  # months, or an order that is not certain
            continue
        units = []
        before = len(values)
        for unit, column in zip(candidates, zip(*tree.labels.values(), strict=True), strict=False):
            labels = len({*column})
            if 1 < labels < before:
                units.append(unit)
                before = labels
        if units:
            _, slash, order = ("" if tree.fixed is None else tree.fixed).partition("/")
            certain = candidates != wholes[2:]
            return f"date:{','.join(units)}{slash}{order}", "dates" if certain else "years"
    return None


def _widths(values: Iterable[str]) -> list[Fraction]:
    """Choose round widths of intervals: a sixteenth of the span, doubled three times."""
    exact = sorted_numbers(exact_numbers(values).values())
    span = exact[-1] - exact[0]
    nearest = min((b - a for a, b in itertools.pairwise(exact)), default=Fraction(0))
    width = _round_width(max(span / 16, 2 * nearest)) if nearest else span
    return list(itertools.takewhile(lambda w: w < span, (width * 2**i for i in range(4))))


def _fullest(counts: Mapping[str, int], width: Fraction) -> int:
    """Count the records in the fullest interval of a `width`."""
    records: Counter[int] = Counter()
    for value, number in exact_numbers(counts).items():
        records[number // width] += counts[value]
    return max(records.values())


def _round_width(width: Fraction) -> Fraction:
    """The least of 1, 2, 5, 10, 20, 50, ... (or 0.1, 0.2, 0.5, ...) that is at least `width`."""
    size = Fraction(10) ** math.floor(math.log10(width.numerator) - math.log10(width.denominator))
    return next(step * size for step in (1, 2, 5, 10, 20) if step * size >= width)


def _words(values: Iterable[str]) -> bool:
    """Say whether values are words: they have no digit, so their beginnings mean nothing."""
    return not any(letter.isdigit() for v in values for letter in v)
