"""A hierarchy of generalisation: every value, and its label on each level.

A hierarchy maps a value (level 0) to one label per level, up to one root. The constructor checks
that it is complete (every value has a label on every level) and nested (two values that share a
label share all labels above it).
"""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sievert.errors import InputError, UsageError, require
from sievert.hierarchies.intervals import IntervalLevels
from sievert.hierarchies.labels import ROOT

MOST_BYTES = 1 << 26
DELIMITERS = ";,\t|"  # ARX writes semicolons
SPECIFICATIONS = (
    "a CSV file as ARX writes them, a tree (.toml, .json), interval:5,10, quantile:16,8,4, "
    "ends:18,85, cuts:10,20/20, prefix:4,3, date:month,year, order:2,4, top:20,5, or *"
)


@dataclass(frozen=True)
class Hierarchy:
    """A checked hierarchy: `labels[value]` holds the labels of levels 1, 2, ..., height."""

    ladder: Mapping[str, tuple[str, ...]]  # the public name of `labels`
    source: str = "hierarchy"  # its origin, for messages
    fixed: str | None = field(default=None, compare=False)  # a specification for other data

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
        """The labels of each value, from level 1 on."""
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
        """Add one root on top if the hierarchy has none."""
        if len({labels[-1:] for labels in self.labels.values()}) == 1 and self.height:
            return self
        ladder = {v: (*labels, ROOT) for v, labels in self.labels.items()}
        return Hierarchy(ladder, self.source, self.fixed)

    def require(self, values: Iterable[str], column: str) -> None:
        """Check that every value of a column is in the hierarchy; the error counts the others."""
        lacking = sum(1 for v in values if v not in self.labels)
        require(
            not lacking,
            f"{self.source}: {lacking} value(s) of column {column!r} have no place in it",
            hint="add a line for each value that occurs",
            error=InputError,
        )

    @classmethod
    def read(cls, path: str | Path) -> "Hierarchy":
        """Read a CSV file as ARX writes it: no header, column 0 the value, column i its level i."""
        path = Path(path)
        text = read_text(path)
        labels: dict[str, tuple[str, ...]] = {}
        for number, row in enumerate(_rows(text, path.name), 1):
            if labels.setdefault(row[0], tuple(row[1:])) != tuple(row[1:]):
                raise InputError(
                    f"{path.name}, line {number}: a value stands in two lines with different labels"
                )
        return cls(labels, path.name)

    @classmethod
    def prefixes(
        cls, values: Iterable[str], lengths: Sequence[int] | None = None, width: int | None = None
    ) -> "Hierarchy":
        """Cut one character more on each level: 35510, 3551*, 355**, ..., *****.

        With `lengths`, each level keeps the given number of characters. `width` is the length of
        the codes: by default, of the longest value.

        >>> Hierarchy.prefixes(["35510", "35000"]).at("35510", 2)
        '355**'
        """
        values = list(dict.fromkeys(values))
        longest = max((len(v) for v in values), default=0)
        width = longest if width is None else width
        require(
            longest <= width,
            f"prefixes: {sum(len(v) > width for v in values)} value(s) are longer than {width} "
            "characters",
            error=InputError,
        )
        kept = range(width - 1, -1, -1) if lengths is None else lengths
        root = () if not kept or kept[-1] == 0 else (ROOT,)

        def mask(value: str) -> tuple[str, ...]:
            padded = value.ljust(width, ROOT)
            return (*(padded[:n] + ROOT * (width - n) for n in kept), *root)

        fixed = f"prefix:{','.join(map(str, kept))}/{width}" if kept else None
        return cls({v: mask(v) for v in values}, "prefixes", fixed)

    @classmethod
    def intervals(cls, values: Iterable[str], widths: Sequence[float]) -> "Hierarchy":
        """Make intervals of growing width, each dividing the next: 27, [25, 30), [20, 30), *.

        >>> Hierarchy.intervals(["27", "31"], [5, 10]).at("27", 2)
        '[20, 30)'
        """
        levels = IntervalLevels(widths)
        return cls(levels.label_values(values), "intervals", levels.text)


def read_text(path: Path) -> str:
    """Read the text of a hierarchy's file."""
    try:
        check_file(path)
        require(
            path.stat().st_size <= MOST_BYTES,
            f"{path.name}: a hierarchy of more than {MOST_BYTES} bytes",
            error=InputError,
        )
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path.name}: not UTF-8 at byte {error.start}") from None


def check_file(path: Path) -> None:
    """Raise an error unless a file can be opened."""
    try:
        require(
            path.is_file() or not path.exists(),
            f"{path.name if path.name else path}: not a regular file",
            error=InputError,
        )
        path.open("rb").close()
    except OSError as error:
        raise InputError(f"{path.name}: {error.strerror}", hint=SPECIFICATIONS) from None


def _rows(text: str, name: str) -> list[list[str]]:
    """Split a hierarchy into rows at the delimiter that gives all rows equally many labels."""
    ragged: list[list[str]] = []
    try:
        for delimiter in DELIMITERS:
            lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
            rows = [row for row in lines if row]
            widths = {len(row) for row in rows}
            if len(widths) == 1 and widths != {1}:
                return rows
            if not ragged and max(widths, default=1) > 1:
                ragged = rows
    except csv.Error:
        raise InputError(f"{name}: not a table of delimited text") from None
    if ragged:
        return ragged
    return [[line] for line in text.splitlines() if line]
