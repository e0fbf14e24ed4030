"""Ladders of generalisation: every value, and what it becomes on each rung.

A hierarchy maps a value (level 0) to one label a level, up to one root. It is checked when it is
made: every value has a label on every level (complete), and two values that share a label share all
labels above it (nested).
"""

from __future__ import annotations

import csv
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from sievert.errors import InputError, UsageError

ROOT = "*"
MOST_BYTES = 1 << 26


@dataclass(frozen=True)
class Hierarchy:
    """A checked ladder: `ladder[value]` holds the labels of levels 1, 2, ..., height."""

    ladder: Mapping[str, tuple[str, ...]]
    source: str = "hierarchy"

    def __post_init__(self) -> None:
        if not self.ladder:
            raise InputError(f"{self.source}: a hierarchy without values")
        heights = {len(labels) for labels in self.ladder.values()}
        if len(heights) > 1:
            short = sum(1 for labels in self.ladder.values() if len(labels) < max(heights))
            raise InputError(
                f"{self.source}: {short} of {len(self.ladder)} values have too few levels",
                hint="give every value a label on every level",
            )
        empty = sum(1 for labels in self.ladder.values() if not all(labels))
        if empty:
            raise InputError(
                f"{self.source}: {empty} of {len(self.ladder)} values have an empty label",
                hint="no delimiter at the end of a line",
            )
        self._check_nested()

    def _check_nested(self) -> None:
        for level in range(1, self.height):
            above: dict[str, str] = {}
            torn = {
                labels[level - 1]
                for labels in self.ladder.values()
                if above.setdefault(labels[level - 1], labels[level]) != labels[level]
            }
            if torn:
                raise InputError(
                    f"{self.source}: not nested: {len(torn)} label(s) of level {level} have "
                    f"different parents on level {level + 1}",
                    hint="a label may stand below one label only",
                )

    @property
    def height(self) -> int:
        """The number of levels above the values."""
        return len(next(iter(self.ladder.values())))

    def at(self, value: str, level: int) -> str:
        """The label of a value on a level; level 0 is the value itself."""
        if not 0 <= level <= self.height:
            raise UsageError(f"{self.source}: level {level} of 0..{self.height}")
        if value not in self.ladder:
            raise InputError(f"{self.source}: 1 value has no place in the hierarchy")
        return value if level == 0 else self.ladder[value][level - 1]

    def rooted(self) -> Hierarchy:
        """The same ladder with one root on top, added where the file has none."""
        if len({labels[-1:] for labels in self.ladder.values()}) == 1 and self.height:
            return self
        return Hierarchy({v: (*labels, ROOT) for v, labels in self.ladder.items()}, self.source)

    def require(self, values: Iterable[str], column: str) -> None:
        """Every value of a column must have its place; the error counts, it does not name."""
        lacking = sum(1 for v in values if v not in self.ladder)
        if lacking:
            raise InputError(
                f"{self.source}: {lacking} value(s) of column {column!r} have no place in it",
                hint="add a line for each value that occurs",
            )

    @classmethod
    def read(cls, path: str | Path) -> Hierarchy:
        """A CSV file as ARX writes them: no header, column 0 the value, column i its level i."""
        path = Path(path)
        try:
            if not path.is_file() and path.exists():
                raise InputError(f"{path.name or path}: not a regular file")
            if path.stat().st_size > MOST_BYTES:
                raise InputError(f"{path.name}: a hierarchy of more than {MOST_BYTES} bytes")
            text = path.read_text(encoding="utf-8-sig")
        except OSError as error:
            raise InputError(
                f"{path.name}: {error.strerror}",
                hint="a CSV file as ARX writes them, prefix, or interval:5,10,20",
            ) from None
        except UnicodeDecodeError as error:
            raise InputError(f"{path.name}: not UTF-8 at byte {error.start}") from None
        first = text.partition("\n")[0]
        delimiter = max(";,\t|", key=first.count)
        ladder: dict[str, tuple[str, ...]] = {}
        for number, row in enumerate(csv.reader(text.splitlines(), delimiter=delimiter), 1):
            if not row:
                continue
            if ladder.setdefault(row[0], tuple(row[1:])) != tuple(row[1:]):
                raise InputError(
                    f"{path.name}, line {number}: a value stands in two lines with different labels"
                )
        return cls(ladder, path.name)

    @classmethod
    def prefixes(cls, values: Iterable[str], *, mask: str = "*") -> Hierarchy:
        """Cut one character more on each level: 35510, 3551*, 355**, ..., *****.

        >>> Hierarchy.prefixes(["35510", "35000"]).at("35510", 2)
        '355**'
        """
        values = list(dict.fromkeys(values))
        width = max((len(v) for v in values), default=0)

        def cut(value: str, level: int) -> str:
            kept = value.ljust(width, mask)[: width - level]
            return kept + mask * level

        return cls(
            {v: tuple(cut(v, level) for level in range(1, width + 1)) for v in values},
            "prefixes",
        )

    @classmethod
    def intervals(
        cls, values: Iterable[str], widths: Sequence[float], *, origin: float = 0
    ) -> Hierarchy:
        """Intervals of growing width, each dividing the next: 27, [25, 30), [20, 30), *.

        >>> Hierarchy.intervals(["27", "31"], [5, 10]).at("27", 2)
        '[20, 30)'
        """
        if not widths or not all(math.isfinite(w) and w > 0 for w in widths):
            raise UsageError("intervals: widths must be positive", hint="widths such as 5,10,20")
        exact = [Fraction(str(w)) for w in widths]
        for narrow, wide in itertools.pairwise(exact):
            if wide % narrow:
                raise UsageError(
                    f"intervals: width {float(wide):g} is not a multiple of {float(narrow):g}",
                    hint="widths such as 5,10,20",
                )

        def label(number: Fraction, width: Fraction) -> str:
            low = (number - Fraction(str(origin))) // width * width + Fraction(str(origin))
            return f"[{_shown(low)}, {_shown(low + width)})"

        ladder: dict[str, tuple[str, ...]] = {}
        wrong = 0
        for value in dict.fromkeys(values):
            try:
                number = Fraction(value)
                ladder[value] = (*(label(number, w) for w in exact), ROOT)
            except (ValueError, OverflowError, ZeroDivisionError):
                wrong += 1
        if wrong:
            raise InputError(f"intervals: {wrong} value(s) are not finite numbers")
        return cls(ladder, "intervals")


def _shown(number: Fraction) -> str:
    """A number with all its digits: two intervals must not share a label."""
    return str(number.numerator) if number.denominator == 1 else repr(float(number))


def parse(spec: str, values: Iterable[str]) -> Hierarchy:
    """What `--hierarchy COL=SPEC` means: a file, `prefix`, or `interval:5,10,20`."""
    kind, _, rest = spec.partition(":")
    if kind == "prefix" and not rest:
        return Hierarchy.prefixes(values)
    if kind == "interval":
        try:
            widths = [float(w) for w in rest.split(",")]
        except ValueError:
            raise UsageError(
                "intervals: the widths are not numbers", hint="interval:5,10,20"
            ) from None
        return Hierarchy.intervals(values, widths)
    return Hierarchy.read(spec)
