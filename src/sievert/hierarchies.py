"""Hierarchies of generalisation: every value, and its label on each level.

A hierarchy maps a value (level 0) to one label per level, up to one root. It is checked when it is
made: every value has a label on every level (complete), and two values that share a label share all
labels above it (nested).
"""

import csv
import io
import itertools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path

from sievert.errors import InputError, UsageError, require

ROOT = "*"
MOST_BYTES = 1 << 26
DELIMITERS = ";,\t|"  # ARX writes semicolons
_FLAGS = re.IGNORECASE | re.ASCII
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,2})?", _FLAGS)
_END = r"([+\-−]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,2})?|inf(?:inity)?|∞))"
_OPEN_END = rf"({_END[1:-1]}|\*)"
_TO = r"\s*(?:,|;|-|–|—|\.\.|to)\s*"
_BRACKETS = re.compile(rf"([\[(\]])\s*{_OPEN_END}{_TO}{_OPEN_END}\s*([\])\[])", _FLAGS)
_BETWEEN = re.compile(rf"{_END}{_TO.replace(',|;|', '')}{_END}", _FLAGS)
_BEYOND = re.compile(rf"(<=|>=|<|>|≤|≥)\s*{_END}", _FLAGS)
_FROM = re.compile(rf"{_END}\s*\+", _FLAGS)


@dataclass(frozen=True)
class Hierarchy:
    """A checked hierarchy: `labels[value]` holds the labels of levels 1, 2, ..., height."""

    ladder: Mapping[str, tuple[str, ...]]  # the public name of `labels`
    source: str = "hierarchy"

    def __post_init__(self) -> None:
        require(self.labels, f"{self.source}: a hierarchy without values", error=InputError)
        height = max(map(len, self.labels.values()))
        short = sum(len(labels) < height for labels in self.labels.values())
        require(
            not short,
            f"{self.source}: {short} of {len(self.labels)} values have too few levels",
            hint="give every value a label on every level",
            error=InputError,
        )
        empty = sum(not all(labels) for labels in self.labels.values())
        require(
            not empty,
            f"{self.source}: {empty} of {len(self.labels)} values have an empty label",
            hint="no delimiter at the end of a line",
            error=InputError,
        )
        self._check_nested()

    @property
    def labels(self) -> Mapping[str, tuple[str, ...]]:
        """The labels of each value, those of level 1 first."""
        return self.ladder

    def _check_nested(self) -> None:
        for level in range(1, self.height):
            above: dict[str, str] = {}
            torn = {
                labels[level - 1]
                for labels in self.labels.values()
                if above.setdefault(labels[level - 1], labels[level]) != labels[level]
            }
            require(
                not torn,
                f"{self.source}: not nested: {len(torn)} label(s) of level {level} have "
                f"different parents on level {level + 1}",
                hint="a label may stand below one label only",
                error=InputError,
            )

    @property
    def height(self) -> int:
        """The number of levels above the values."""
        return len(next(iter(self.labels.values())))

    def at(self, value: str, level: int) -> str:
        """The label of a value on a level; level 0 is the value itself."""
        if not 0 <= level <= self.height:
            raise UsageError(f"{self.source}: level {level} of 0..{self.height}")
        if value not in self.labels:
            raise InputError(f"{self.source}: 1 value has no place in the hierarchy")
        return value if level == 0 else self.labels[value][level - 1]

    def with_root(self) -> "Hierarchy":
        """The same hierarchy with one root on top, added where the file has none."""
        if len({labels[-1:] for labels in self.labels.values()}) == 1 and self.height:
            return self
        return Hierarchy({v: (*labels, ROOT) for v, labels in self.labels.items()}, self.source)

    def require(self, values: Iterable[str], column: str) -> None:
        """Every value of a column must have its place; the error counts, it does not name."""
        lacking = sum(1 for v in values if v not in self.labels)
        require(
            not lacking,
            f"{self.source}: {lacking} value(s) of column {column!r} have no place in it",
            hint="add a line for each value that occurs",
            error=InputError,
        )

    @classmethod
    def read(cls, path: str | Path) -> "Hierarchy":
        """A CSV file as ARX writes them: no header, column 0 the value, column i its level i."""
        path = Path(path)
        try:
            require(
                path.is_file() or not path.exists(),
                f"{path.name or path}: not a regular file",
                error=InputError,
            )
            require(
                path.stat().st_size <= MOST_BYTES,
                f"{path.name}: a hierarchy of more than {MOST_BYTES} bytes",
                error=InputError,
            )
            text = path.read_text(encoding="utf-8-sig")
        except OSError as error:
            raise InputError(
                f"{path.name}: {error.strerror}",
                hint="a CSV file as ARX writes them, prefix, or interval:5,10,20",
            ) from None
        except UnicodeDecodeError as error:
            raise InputError(f"{path.name}: not UTF-8 at byte {error.start}") from None
        labels: dict[str, tuple[str, ...]] = {}
        for number, row in enumerate(_rows(text, path.name), 1):
            if labels.setdefault(row[0], tuple(row[1:])) != tuple(row[1:]):
                raise InputError(
                    f"{path.name}, line {number}: a value stands in two lines with different labels"
                )
        return cls(labels, path.name)

    @classmethod
    def prefixes(cls, values: Iterable[str]) -> "Hierarchy":
        """Cut one character more on each level: 35510, 3551*, 355**, ..., *****.

        >>> Hierarchy.prefixes(["35510", "35000"]).at("35510", 2)
        '355**'
        """
        values = list(dict.fromkeys(values))
        width = max((len(v) for v in values), default=0)

        def mask_end(value: str, level: int) -> str:
            return value.ljust(width, ROOT)[: width - level] + ROOT * level

        levels = range(1, width + 1)
        return cls({v: tuple(mask_end(v, level) for level in levels) for v in values}, "prefixes")

    @classmethod
    def intervals(cls, values: Iterable[str], widths: Sequence[float]) -> "Hierarchy":
        """Intervals of growing width, each dividing the next: 27, [25, 30), [20, 30), *.

        >>> Hierarchy.intervals(["27", "31"], [5, 10]).at("27", 2)
        '[20, 30)'
        """
        require(
            widths and all(math.isfinite(w) and w > 0 for w in widths),
            "intervals: widths must be positive",
            hint="widths such as 5,10,20",
        )
        exact = [Fraction(str(w)) for w in widths]
        for narrow, wide in itertools.pairwise(exact):
            require(
                not wide % narrow,
                f"intervals: width {float(wide):g} is not a multiple of {float(narrow):g}",
                hint="widths such as 5,10,20",
            )

        def label(number: Fraction, width: Fraction) -> str:
            low = number // width * width
            return f"[{_all_digits(low)}, {_all_digits(low + width)})"

        distinct = dict.fromkeys(values)
        numbers = {value: Fraction(value) for value in distinct if NUMBER.fullmatch(value)}
        if wrong := len(distinct) - len(numbers):
            raise InputError(f"intervals: {wrong} value(s) are not finite numbers")
        return cls(
            {v: (*(label(number, w) for w in exact), ROOT) for v, number in numbers.items()},
            "intervals",
        )


def _rows(text: str, name: str) -> list[list[str]]:
    """The rows of a hierarchy, cut at the delimiter that gives every row as many labels."""
    ragged: list[list[str]] = []
    try:
        for delimiter in DELIMITERS:
            lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
            rows = [row for row in lines if row]
            widths = {len(row) for row in rows}
            if len(widths) == 1 and widths != {1}:
                return rows
            ragged = ragged or (rows if max(widths, default=1) > 1 else [])
    except csv.Error:
        raise InputError(f"{name}: not a table of delimited text") from None
    return ragged or [[line] for line in text.splitlines() if line]


def _all_digits(number: Fraction) -> str:
    """A number with all its digits: two intervals must not share a label."""
    if number.denominator == 1:
        return str(number.numerator)
    with localcontext(prec=60):
        return f"{(Decimal(number.numerator) / Decimal(number.denominator)).normalize():f}"


def interval_ends(text: str) -> tuple[str, str, bool, bool] | None:
    """The ends of an interval that a label names, empty where there is none; whether they are in.

    >>> interval_ends("[20, 30)"), interval_ends("<= 5"), interval_ends("2*")
    (('20', '30', True, False), ('', '5', True, True), None)
    """
    if match := _BRACKETS.fullmatch(text):
        return match[2], match[3], match[1] == "[", match[4] == "]"
    if match := _BETWEEN.fullmatch(text):
        return match[1], match[2], True, True
    if (match := _BEYOND.fullmatch(text)) and match[1] in ("<", "<=", "≤"):
        return "", match[2], True, match[1] != "<"
    if match:
        return match[2], "", match[1] != ">", True
    return (match[1], "", True, True) if (match := _FROM.fullmatch(text)) else None


def parse(spec: str, values: Iterable[str]) -> Hierarchy:
    """What `--hierarchy COL=SPEC` means: a file, `prefix`, or `interval:5,10,20`."""
    kind, _, rest = spec.partition(":")
    if kind == "prefix" and not rest:
        return Hierarchy.prefixes(values)
    if kind == "interval":
        return Hierarchy.intervals(values, interval_widths(rest))
    return Hierarchy.read(spec)


def interval_widths(text: str) -> list[float]:
    """The widths of intervals, as they are typed."""
    try:
        return [float(w) for w in text.split(",")]
    except ValueError:
        what = "intervals: the widths are not numbers"
        raise UsageError(what, hint="interval:5,10,20") from None


def propose(values: Sequence[str]) -> tuple[Hierarchy | None, str]:
    """A hierarchy for values, by what they look like, and how it would be written.

    Numbers get intervals whose widths double about every level, codes of one length lose their last
    characters, and everything else becomes one label. Cuts are multiples of round numbers.

    >>> propose(["01234", "01299", "20095"])[1], propose([str(age) for age in range(17, 81)])[1]
    ('prefix', 'interval:5,10,20,40')
    """
    distinct = list(dict.fromkeys(values))
    lengths = {len(v) for v in distinct}
    numbers = bool(distinct) and all(NUMBER.fullmatch(v) for v in distinct)
    padded = numbers and any(v[0] == "0" and v[1:2].isdigit() for v in distinct)
    if len(distinct) > 2 and numbers and not padded and (len(lengths) > 1 or min(lengths) <= 4):
        exact = sorted({Fraction(v) for v in distinct})
        span = exact[-1] - exact[0]
        nearest = min((b - a for a, b in itertools.pairwise(exact)), default=Fraction(0))
        width = _round_width(max(span / 16, 2 * nearest)) if nearest else span
        widths = list(itertools.takewhile(lambda w: w < span, (width * 2**i for i in range(4))))
        if widths:
            spec = "interval:" + ",".join(map(_all_digits, widths))
            return parse(spec, distinct), spec
    if len(distinct) > 2 and len(lengths) == 1 and 2 < min(lengths) <= 12 and not _words(distinct):
        return Hierarchy.prefixes(distinct), "prefix"
    return Hierarchy(dict.fromkeys(distinct, (ROOT,))) if distinct else None, "one label for all"


def _round_width(width: Fraction) -> Fraction:
    """The least of 1, 2, 5, 10, 20, 50, ... (or 0.1, 0.2, 0.5, ...) that is no smaller."""
    size = Fraction(10) ** math.floor(math.log10(width))
    return next(step * size for step in (1, 2, 5, 10) if step * size >= width)


def _words(values: Iterable[str]) -> bool:
    """Whether values are words: letters only, so that their beginnings mean nothing."""
    return all(v.isalpha() for v in values)


def describe_level(spec: str, level: int, height: int) -> str:
    """A column on one level of the hierarchy that is written so, in words.

    >>> describe_level("interval:5,10", 2, 3), describe_level("prefix", 2, 5)
    ('in bands of 10', 'cut to the first 3 characters')
    """
    kind, _, rest = spec.partition(":")
    steps = rest.split(",") if rest else []
    if kind == "interval" and level <= len(steps):
        return f"in bands of {steps[level - 1]}"
    if kind == "prefix":
        left = steps[level - 1] if steps else str(height - level)
        return f"cut to the first {'character' if left == '1' else f'{left} characters'}"
    return f"at level {level} of its hierarchy"
