"""The values that people may have in a column, as far as an outsider can tell.

A released text is a plain value, or a pattern: `*`, a set `{M,J}`, an interval `[20, 30)`, a mask
`455**`. If the domain of a column is not given and there is no hierarchy, it consists of the values
that the plain values and the patterns of the release name.
"""

import csv
import io
import itertools
import os
import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np

from sievert.arrays import Ints, Text
from sievert.errors import InputError, require
from sievert.hierarchies import DELIMITERS, MOST_BYTES, NUMBER, ROOT, Hierarchy, interval_ends

Number = int | Fraction
Source = Literal["given", "hierarchy", "release", "original"]

MOST_VALUES = 10**6  # that a range, an interval or a mask may name
LONGEST = 120  # characters of an interval
TOO_MANY = f"a domain of more than {MOST_VALUES:,} values"

_MEMBER = re.compile(r'(?:\s*+"([^"]*+(?:""[^"]*+)*+)"\s*+|([^",{}]*+))(,|\Z)')
_RANGE = re.compile(r"\s*([+-]?\d+)\s*\.\.\s*([+-]?\d+)\s*", re.ASCII)
_DIGIT_MASK = re.compile(r"\d[\d*]*+", re.ASCII)


@dataclass(frozen=True)
class Everything:
    """Any value that is not missing."""


@dataclass(frozen=True)
class Members:
    """A set in braces; without members if it cannot be read."""

    texts: tuple[str, ...]


@dataclass(frozen=True)
class Interval:
    """Numbers between two ends, None being no end."""

    low: Number | None
    high: Number | None
    low_in: bool
    high_in: bool

    def whole(self) -> tuple[int, int] | None:
        """The first whole number and the one after the last; None if nobody can list them."""
        if isinstance(self.low, int) and isinstance(self.high, int):
            return self.low + (not self.low_in), self.high + self.high_in
        return None


@dataclass(frozen=True)
class Mask:
    """A text with stars for some of its characters."""

    text: str


Pattern = Everything | Members | Interval | Mask


def number(text: str) -> Number | None:
    """The exact number that a text spells, or None.

    >>> number("-7"), number("0.1"), number("1e3"), number("7th")
    (-7, Fraction(1, 10), Fraction(1000, 1), None)
    """
    if len(text) > LONGEST:
        return None
    if text.isdecimal() and text.isascii():
        return int(text)
    text = text.strip().replace("−", "-")
    if not NUMBER.fullmatch(text):
        return None
    return int(text) if text.lstrip("+-").isdigit() else Fraction(text)


def pattern(text: str) -> Pattern | None:
    """What a released text means if it is not a plain value, or None.

    >>> pattern("Japan"), pattern("{M, J}"), pattern("20-30")
    (None, Members(texts=('M', 'J')), Interval(low=20, high=30, low_in=True, high_in=True))
    """
    bare = text.strip()
    if bare and not bare.strip(ROOT):
        return Everything()
    if len(bare) > 1 and bare[0] == "{" and bare[-1] == "}":
        return Members(tuple(_members(bare[1:-1])))
    return _interval(bare) or (Mask(bare) if ROOT in bare else None)


def _members(text: str) -> list[str]:
    """Split at commas that are not in quotes; return nothing if the text cannot be read."""
    members: dict[str, None] = {}
    place = 0
    end = ","
    while end:
        piece = _MEMBER.match(text, place)
        if piece is None or (piece[1] is None and not _bare(piece[2].strip())):
            return []
        members[piece[2].strip() if piece[1] is None else piece[1].replace('""', '"')] = None
        place = piece.end()
        end = piece[3]
    return list(members)


def _bare(member: str) -> bool:
    """Whether a member may stand without quotes: not empty, and not half of an interval."""
    return member != "" and (member[0] not in "[(" or member[-1] in "])[")


def _interval(text: str) -> Interval | None:
    if len(text) > LONGEST:
        return None
    ends = interval_ends(text)
    if ends is None:
        return None
    # Infinity and a star are no numbers: such an interval has no end there.
    first = number(ends[0])
    last = number(ends[1])
    wrong = first is not None and last is not None and first > last
    return None if wrong else Interval(first, last, *ends[2:])


@dataclass(frozen=True)
class Domain:
    """The values that people may have in a column; None among them is a missing value.

    `public` says that an outsider knows them all: the original was not needed. `added` of them are
    known from the original only.
    """

    values: tuple[Text, ...]
    source: Source
    public: bool
    added: int = 0

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def places(self) -> dict[Text, int]:
        """The position of each value."""
        return {value: place for place, value in enumerate(self.values)}

    def positions(self, texts: Iterable[Text]) -> Ints:
        """The position of each text in the domain; -1 for a text that is not in it."""
        return np.fromiter((self.places.get(text, -1) for text in texts), dtype=np.int64)


def read_domain(spec: str | os.PathLike[str] | Sequence[Text]) -> tuple[Text, ...]:
    """The values that somebody gives: a list, `LOW..HIGH`, or a file with one value a line.

    Of a hierarchy as a CSV file it takes the first column.

    >>> read_domain("3..5"), read_domain(["b", "a", "b"])
    (('3', '4', '5'), ('b', 'a'))
    """
    if isinstance(spec, str | os.PathLike):
        numbers = _range(spec) if isinstance(spec, str) else None
        values: tuple[Text, ...] = tuple(_lines(Path(spec)) if numbers is None else numbers)
    else:
        values = tuple(dict.fromkeys(value if value is None else str(value) for value in spec))
    require(values, "a domain without values", hint="--domain COL=FILE or COL=LOW..HIGH")
    require(len(values) <= MOST_VALUES, TOO_MANY, hint="a coarser domain")
    return values


def _range(spec: str) -> list[str] | None:
    match = _RANGE.fullmatch(spec)
    if match:
        short = max(map(len, match.groups())) <= LONGEST
        few = short and int(match[2]) - int(match[1]) < MOST_VALUES
        require(few, TOO_MANY, hint="a coarser domain")
        return [str(i) for i in range(int(match[1]), int(match[2]) + 1)]
    low_text, dots, high_text = spec.partition("..")
    require(
        not dots or number(low_text) is None or number(high_text) is None,
        "the ends of a range are not whole numbers",
        hint="a file of values",
    )
    return None


def _lines(path: Path) -> list[str]:
    """The lines of a file, or the first column of a hierarchy."""
    try:
        require(
            path.is_file(),
            f"{path.name or path}: no such file",
            hint="--domain COL=FILE or COL=LOW..HIGH",
            error=InputError,
        )
        require(
            path.stat().st_size <= MOST_BYTES,
            f"{path.name}: a domain of more than {MOST_BYTES} bytes",
            error=InputError,
        )
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{path.name}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path.name}: not UTF-8 at byte {error.start}") from None
    if any(_splits_lines(text, delimiter) for delimiter in DELIMITERS):
        return list(Hierarchy.read(path).labels)
    return list(dict.fromkeys(_unquote(line) for line in text.split("\n") if line.strip()))


def _splits_lines(text: str, delimiter: str) -> bool:
    """Whether a delimiter cuts every line."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        return min((len(row) for row in reader if row), default=0) > 1
    except csv.Error:
        return False


def _unquote(line: str) -> str:
    line = line.rstrip("\r")
    quoted = len(line) > 1 and line[0] == line[-1] == '"'
    return line[1:-1].replace('""', '"') if quoted else line


def public_domain(
    released: Sequence[Text],
    *,
    given: str | os.PathLike[str] | Sequence[Text] | None = None,
    hierarchy: Hierarchy | None = None,
    original: Sequence[Text] | None = None,
    observed: bool = False,
    wildcard: bool = False,
    column: str = "",
) -> Domain:
    """The domain of a column: given, else of its hierarchy, else what the release names.

    Values of the original that are not among these are added. With `observed` its values are the
    domain. A missing value is a value like others, but where it may be anything (`wildcard`), a
    released one names none.

    >>> public_domain(["[20-22)", "{30, 31}", "*"]).values
    ('20', '21', '30', '31')
    """
    seen = dict.fromkeys(original) if original is not None else {}
    if observed:
        require(seen, "an observed domain needs the original table", hint="--original FILE")
        return Domain(_sort_values(seen), "original", False)
    texts = dict.fromkeys(released)
    missing = None in texts and (None in seen or not wildcard)
    texts.pop(None, None)
    source: Source = "release"
    enough = True
    if given is not None:
        source = "given"
        values = dict.fromkeys(read_domain(given))
    elif hierarchy is not None:
        source = "hierarchy"
        values = dict.fromkeys(hierarchy.labels)
        known = set(itertools.chain.from_iterable(hierarchy.labels.values())).union(values)
        plain = (t for t in texts if t is not None and t not in known)
        values |= dict.fromkeys(_sort_values(t for t in _plain(plain, seen) if t not in known))
    else:
        named, enough = _named_values(texts, seen)
        values = dict.fromkeys(_sort_values(named))
    if missing:
        values[None] = None
    fresh = [value for value in seen if value not in values]
    if not enough or not values:
        require(
            original is not None and (values or fresh),
            f"column {column!r}: the release does not say which values there may be",
            hint=f"--domain {column or 'COL'}=FILE or {column or 'COL'}=LOW..HIGH",
            error=InputError,
        )
        return Domain(
            values=_sort_values([*values, *fresh]),
            source="original",
            public=False,
            added=len(fresh),
        )
    return Domain(
        values=(*values, *_sort_values(fresh)), source=source, public=not fresh, added=len(fresh)
    )


def _sort_values(values: Iterable[Text]) -> tuple[Text, ...]:
    """Numbers by size, then other texts, then what is missing."""
    spelt = {value: None if value is None else number(value) for value in values}
    numbers = {value: n for value, n in spelt.items() if n is not None}
    rest = sorted(value for value in spelt if value is not None and value not in numbers)
    last = [None] if None in spelt else []
    return (*sorted(numbers, key=lambda v: (numbers[v], str(v))), *rest, *last)


def _plain(texts: Iterable[Text], seen: Collection[Text]) -> Iterator[str]:
    """The plain values among texts, and in their sets."""
    for text in texts:
        if text is None:
            continue
        meant = None if text in seen and text != ROOT else pattern(text)
        if meant is None:
            yield text
        elif isinstance(meant, Members):
            yield from (m for m in meant.texts if m in seen or pattern(m) is None)


def _named_values(texts: Iterable[Text], seen: Collection[Text]) -> tuple[set[str], bool]:
    """The values that a release names, and whether these are likely to be all."""
    texts = list(texts)
    named = set(_plain(texts, seen))
    meant = [pattern(t) for t in texts if t is not None and t not in seen]
    inner = {m for p in meant if isinstance(p, Members) for m in p.texts if m not in seen}
    meant += [pattern(m) for m in inner]
    numbers = [t for t in (*named, *seen) if t is not None and number(t) is not None]
    whole = all(str(number(t)) == t for t in numbers)
    ends = [p.whole() if whole else None for p in meant if isinstance(p, Interval)]
    spans = [span for span in ends if span is not None]
    masks = {p.text for p in meant if isinstance(p, Mask)}
    listed = {m for m in masks if _DIGIT_MASK.fullmatch(m)}
    work = sum(10 ** min(m.count(ROOT), 18) for m in listed)
    merged = _merge_spans(spans)
    wide = sum(high - low for low, high in merged)
    if len(spans) < len(ends) or wide > MOST_VALUES or work > MOST_VALUES:
        return named, False
    named.update(str(i) for low, high in merged for i in range(low, high))
    for mask in listed:
        named.update(
            map("".join, itertools.product(*("0123456789" if c == ROOT else c for c in mask)))
        )
    order = sorted(named) if masks - listed else []
    return named, bool(named) and all(_starts_like(m, order) for m in masks - listed)


def _starts_like(mask: str, order: Sequence[str]) -> bool:
    """Whether one of these texts starts as a mask does."""
    start = mask[: mask.index(ROOT)]
    place = bisect_left(order, start)
    return place < len(order) and order[place].startswith(start)


def _merge_spans(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans of whole numbers that do not overlap."""
    merged: list[tuple[int, int]] = []
    for low, high in sorted(spans):
        if merged and low <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(high, merged[-1][1])
        elif low < high:
            merged.append((low, high))
    return merged
