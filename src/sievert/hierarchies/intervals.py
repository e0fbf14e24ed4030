"""Levels of numbers: intervals of given widths, cuts at given places or quantiles, open ends."""

import itertools
import math
from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction

from sievert.errors import InputError, UsageError, require
from sievert.hierarchies.labels import NUMBER, ROOT, all_digits, interval_label

LONGEST = 400  # characters of a number
WIDTHS = "widths such as 5,10,20"


def exact_numbers(values: Iterable[str], what: str = "intervals") -> dict[str, Fraction]:
    """Convert each value to an exact number; an error counts the values that are no numbers."""
    distinct = dict.fromkeys(values)
    plain = (v for v in distinct if len(v) <= LONGEST and NUMBER.fullmatch(v))
    numbers = {v: Fraction(Decimal(v)) for v in plain}  # decimals are read in a third of the time
    wrong = len(distinct) - len(numbers)
    if wrong:
        raise InputError(f"{what}: {wrong} value(s) are not finite numbers")
    return numbers


def read_numbers(text: str, what: str, example: str) -> list[Fraction]:
    """Read numbers separated by commas."""
    parts = [part.strip() for part in text.split(",")]
    if not all(len(part) <= LONGEST and NUMBER.fullmatch(part) for part in parts):
        raise UsageError(f"{what} are not numbers", hint=example)
    return [Fraction(part) for part in parts]


def sorted_numbers(numbers: Iterable[Fraction]) -> list[Fraction]:
    """Sort distinct numbers by their floats; only numbers of one float are compared exactly."""
    by_float = dict[float, list[Fraction]]()
    numbers = list(numbers)
    try:
        for number in numbers:
            by_float.setdefault(number.numerator / number.denominator, []).append(number)
    except OverflowError:  # larger than any float
        return sorted({*numbers})
    alike = (by_float[rounded] for rounded in sorted(by_float))
    return [n for few in alike for n in (few if len(few) == 1 else sorted({*few}))]


def write_numbers(numbers: Iterable[Fraction]) -> str:
    """Write numbers with all their digits, separated by commas."""
    return ",".join(map(all_digits, numbers))


class NumberLevels(ABC):
    """The labels of a number, level by level, and the specification of these levels."""

    kind: str
    text: str

    @abstractmethod
    def labels(self, value: str, number: Fraction) -> Iterable[str]:
        """The labels of a `number`, below the root; `value` is its text."""

    def label_values(self, values: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """The labels of every value, up to the root."""
        numbers = exact_numbers(values, self.kind)
        return {v: (*self.labels(v, number), ROOT) for v, number in numbers.items()}


class IntervalLevels(NumberLevels):
    """Intervals of growing width, each dividing the next: [25, 30), [20, 30)."""

    kind = "intervals"

    def __init__(self, widths: Sequence[float | Fraction]) -> None:
        require(
            widths and all((isinstance(w, Fraction) or math.isfinite(w)) and w > 0 for w in widths),
            "intervals: widths must be positive",
            hint=WIDTHS,
        )
        self.widths = [w if isinstance(w, Fraction) else Fraction(str(w)) for w in widths]
        for narrow, wide in itertools.pairwise(self.widths):
            require(
                not wide % narrow,
                f"intervals: width {all_digits(wide)} is not a multiple of {all_digits(narrow)}",
                hint=WIDTHS,
            )
        self.text = f"interval:{write_numbers(self.widths)}"

    def label_values(self, values: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """The labels of every value, up to the root; intervals of level 1 share theirs."""
        numbers = exact_numbers(values, self.kind)
        rows = dict[int, tuple[str, ...]]()
        labelled = {}
        width = self.widths[0]
        for value, number in numbers.items():
            place = number // width
            if place not in rows:
                rows[place] = (*self.labels(value, number), ROOT)
            labelled[value] = rows[place]
        return labelled

    def ends(self, number: Fraction) -> list[tuple[Fraction, Fraction]]:
        """The ends of the interval of a number on each level."""
        lows = [(number // width * width, width) for width in self.widths]
        return [(low, low + width) for low, width in lows]

    def labels(self, value: str, number: Fraction) -> Iterable[str]:
        return (interval_label(*ends) for ends in self.ends(number))


class CutLevels(NumberLevels):
    """Intervals between given cuts, the outer intervals open: < 20, [20, 35), >= 35."""

    kind = "cuts"

    def __init__(self, levels: Sequence[Sequence[Fraction]]) -> None:
        self.levels = levels
        for cuts in levels:
            require(
                all(a < b for a, b in itertools.pairwise(cuts)),
                "cuts: each is larger than the one before",
                hint="cuts:10,20,30/20",
            )
        require(
            all({*coarse} <= {*fine} for fine, coarse in itertools.pairwise(levels)),
            "cuts: those of a level are among those of the level below",
            hint="cuts:10,20,30/20",
        )
        self.text = f"cuts:{'/'.join(map(write_numbers, levels))}" if levels else ROOT

        self.finest = levels[0] if levels else []
        lows = [self.finest[0] - 1, *self.finest] if levels else [Fraction(0)]
        self.rows = [[_label_between(cuts, low) for cuts in levels] for low in lows]

    def labels(self, value: str, number: Fraction) -> Iterable[str]:
        return self.rows[bisect_right(self.finest, number)]


def _label_between(cuts: Sequence[Fraction], number: Fraction) -> str:
    """The label of the interval between two cuts in which a number lies."""
    place = bisect_right(cuts, number)
    low = cuts[place - 1] if place else None
    return interval_label(low, cuts[place] if place < len(cuts) else None)


class EndLevels(NumberLevels):
    """Top and bottom coding: < 18, the value itself, >= 85.

    Intervals may follow on further levels; the outer intervals end at the open ends.
    """

    kind = "ends"

    def __init__(
        self, low: Fraction | None, high: Fraction | None, inner: IntervalLevels | None = None
    ) -> None:
        example = "ends:18,85, or one of them: ends:,85"
        require(low is not None or high is not None, "ends: no end is given", hint=example)
        require(
            low is None or high is None or low < high,
            "ends: the first is below the second",
            hint=example,
        )
        self.low = low
        self.high = high
        self.inner = inner
        ends = ",".join("" if end is None else all_digits(end) for end in (low, high))
        self.text = f"ends:{ends}" + ("" if inner is None else f"/{inner.text}")

    def labels(self, value: str, number: Fraction) -> Iterable[str]:
        levels = 1 if self.inner is None else 1 + len(self.inner.widths)
        if self.low is not None and number < self.low:
            return [interval_label(None, self.low)] * levels
        if self.high is not None and number >= self.high:
            return [interval_label(self.high, None)] * levels
        inside = () if self.inner is None else self.inner.ends(number)
        return [value, *(interval_label(*self._clip(*ends)) for ends in inside)]

    def _clip(self, low: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
        return (
            low if self.low is None else max(low, self.low),
            high if self.high is None else min(high, self.high),
        )


def quantile_levels(counts: Mapping[str, int], groups: Sequence[int]) -> CutLevels:
    """Cut numbers into groups of about equal numbers of records, such as 16, 8 and 4 `groups`.

    A cut is the roundest number for which the share of records below it is right to within an
    eighth of a group. Equal numbers stay together.

    >>> quantile_levels({str(n * n): 1 for n in range(1, 101)}, [4, 2]).text
    'cuts:500,2500,6000/2500'
    """
    exact = exact_numbers(counts, "quantile")
    records = dict[tuple[int, int], int]()
    for value, number in exact.items():
        ratio = number.as_integer_ratio()  # fractions would take long to hash
        records[ratio] = records.get(ratio, 0) + counts[value]
    numbers = sorted_numbers(exact.values())
    below = list(itertools.accumulate(records[n.as_integer_ratio()] for n in numbers))[:-1]
    finest = groups[0]
    cuts = [_cut(numbers, below, sum(records.values()), j, finest) for j in range(1, finest)]
    levels = [
        sorted({cut for cut in cuts[finest // n - 1 :: finest // n] if cut is not None})
        for n in groups
    ]
    distinct = [level for level, _ in itertools.groupby(levels)]
    return CutLevels([level for level in distinct if level])


def _cut(
    numbers: Sequence[Fraction], below: Sequence[int], records: int, place: int, groups: int
) -> Fraction | None:
    """The cut after about `place` of `groups` groups; `below[i]` records are up to `numbers[i]`."""
    if not below:
        return None
    wanted = Fraction(records * place, groups)
    near = Fraction(records, 8 * groups)
    first = bisect_left(below, wanted - near)
    last = bisect_right(below, wanted + near) - 1
    if first > last:  # many records have one number
        around = [i for i in (first - 1, first) if 0 <= i < len(below)]
        first = min(around, key=lambda i: abs(below[i] - wanted))
        last = first
    return _roundest(numbers[first], numbers[last + 1])


def _roundest(low: Fraction, high: Fraction) -> Fraction:
    """The roundest number above `low` and up to `high`; of several, the nearest to the middle.

    >>> [int(_roundest(Fraction(a), Fraction(b))) for a, b in ((95, 130), (31, 38), (-3, 7))]
    [100, 35, 0]
    """
    if low < 0 <= high:
        return Fraction(0)
    size = max(abs(low), abs(high))
    digits = len(str(math.ceil(size))) if size >= 1 else -len(str(math.floor(1 / size))) + 2
    powers = (Fraction(10) ** power for power in itertools.count(digits, -1))
    steps = (lead * power for power in powers for lead in (5, 2, 1))
    step = next(step for step in steps if low // step < high // step)
    return step * min(max(round((low + high) / 2 / step), low // step + 1), high // step)
