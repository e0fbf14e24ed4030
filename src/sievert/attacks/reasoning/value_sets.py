"""The sets of values, and of their combinations, for which released values may stand.

The sets are kept one after the other in one array, with the place where each begins
(`PositionSets`).
"""

import hashlib
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sievert.arrays import Ints, Text
from sievert.attacks.reasoning.domains import (
    Domain,
    Everything,
    Interval,
    Mask,
    Members,
    Number,
    number,
    pattern,
)
from sievert.errors import ExhaustedError, InputError, require
from sievert.formatting import plural
from sievert.hierarchies import ROOT, Hierarchy

MOST_MEMBERS = 5 * 10**7  # of all labels of a column
NO_POSITIONS = np.zeros(0, dtype=np.int64)


class UnfitLabelError(InputError):
    """A released label stands for no known value."""


@dataclass(frozen=True)
class PositionSets:
    """Sets of positions: set i is `members[starts[i]:starts[i + 1]]`, in ascending order."""

    starts: Ints
    members: Ints

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, which: int) -> Ints:
        return self.members[self.starts[which] : self.starts[which + 1]]

    @property
    def sizes(self) -> Ints:
        """How many members each set has."""
        return np.diff(self.starts)

    @classmethod
    def from_lists(cls, sets: Sequence[Iterable[int]]) -> "PositionSets":
        """Sets from lists, each in ascending order.

        >>> PositionSets.from_lists([[0, 2], [1]]).starts.tolist()
        [0, 2, 3]
        """
        pieces = [np.asarray(list(s) if not isinstance(s, np.ndarray) else s) for s in sets]
        starts = np.cumsum([0, *map(len, pieces)], dtype=np.int64)
        return cls(starts, np.concatenate([NO_POSITIONS, *pieces]).astype(np.int64))

    @classmethod
    def by_owner(cls, owners: Ints, members: Ints, number: int) -> "PositionSets":
        """So many sets, each of the members of one owner in the order in which they come."""
        order = np.argsort(owners, kind="stable")
        return cls(np.searchsorted(owners[order], np.arange(number + 1)), members[order])

    def select(self, which: Ints) -> "PositionSets":
        """Only these sets, in this order."""
        sizes = self.sizes[which]
        starts = np.append(0, np.cumsum(sizes))
        places = np.arange(starts[-1]) + np.repeat(self.starts[which] - starts[:-1], sizes)
        return PositionSets(starts, self.members[places])


class _Reader:
    """Reads labels of one column as positions in its domain."""

    def __init__(
        self,
        domain: Domain,
        hierarchy: Hierarchy | None,
        wildcard: bool,
        wanted: Iterable[Text],
    ) -> None:
        self.domain = domain
        self.wildcard = wildcard
        self.shapes: dict[tuple[int, ...], dict[str, list[int]]] = {}
        self.values_below: dict[str, set[int]] = {t: set() for t in _texts(wanted)}
        self.everything = np.array(
            [i for i, value in enumerate(domain.values) if value is not None], dtype=np.int64
        )
        levels = {} if hierarchy is None else hierarchy.labels
        self.rooted = sum(ROOT in labels for labels in levels.values()) in (0, len(levels))
        # Below each wanted label, on whatever level, the positions of its values.
        for value in levels.keys() & domain.places.keys():
            for label in self.values_below.keys() & levels[value]:
                self.values_below[label].add(domain.places[value])

    def read(self, text: Text, *, inside: bool = False) -> Ints:
        """The positions a label stands for; none if it fits nothing or cannot be read."""
        if text is None and self.wildcard:
            return np.arange(len(self.domain))
        if text == ROOT and self.rooted:
            return self.everything
        own = self.domain.places.get(text)
        below = set() if text is None else self.values_below.get(text, set())
        if own is not None or below:
            return np.array(sorted(below if own is None else below | {own}), dtype=np.int64)
        match None if text is None else pattern(text):
            case Everything():
                return self.everything
            case Interval() as meant:
                return self._numbers_in(meant)
            case Mask(mask):
                return self._fitting(mask)
            case Members(texts) if not inside:
                return self._union(texts)
        return NO_POSITIONS

    def _union(self, texts: Sequence[str]) -> Ints:
        """All members together; each must fit a value, unless only observed values are known."""
        parts = [self.read(text, inside=True) for text in texts]
        if not parts or (self.domain.source != "original" and not all(map(len, parts))):
            return NO_POSITIONS
        return np.unique(np.concatenate(parts))

    @cached_property
    def _numbers(self) -> tuple[list[Number], Ints]:
        """The numbers of the domain by size, and their positions."""
        spelt = [(number(v), i) for i, v in enumerate(self.domain.values) if v is not None]
        pairs = [(n, i) for n, i in spelt if n is not None]
        pairs.sort(key=lambda pair: float(pair[0]))  # nearly sorted, and quickly
        pairs.sort()
        return [n for n, _ in pairs], np.array([i for _, i in pairs], dtype=np.int64)

    def _numbers_in(self, meant: Interval) -> Ints:
        numbers, order = self._numbers
        first = 0
        last = len(numbers)
        if meant.low is not None:
            first = (bisect_left if meant.low_in else bisect_right)(numbers, meant.low)
        if meant.high is not None:
            last = (bisect_right if meant.high_in else bisect_left)(numbers, meant.high)
        return np.sort(order[first:last])

    @cached_property
    def _lengths(self) -> dict[int, list[int]]:
        places: dict[int, list[int]] = defaultdict(list)
        for place, value in enumerate(self.domain.values):
            if value is not None:
                places[len(value)].append(place)
        return places

    @cached_property
    def _alphabetical(self) -> tuple[list[str], Ints]:
        pairs = sorted((v, i) for i, v in enumerate(self.domain.values) if v is not None)
        return [v for v, _ in pairs], np.array([i for _, i in pairs], dtype=np.int64)

    def _fitting(self, mask: str) -> Ints:
        """A star is one character. If that fits no value, stars at the end are any rest.

        So is one star at the end of a text that is not made of digits.
        """
        start = mask.rstrip(ROOT)
        ends = ROOT not in start
        if not (ends and len(mask) == len(start) + 1 and not start.isdigit()):
            stars = tuple(i for i, c in enumerate(mask) if c == ROOT)
            matching = self._under_stars(len(mask), stars).get(mask)
            if matching:
                return np.array(matching, dtype=np.int64)
        if not ends:
            return NO_POSITIONS
        texts, order = self._alphabetical
        first = bisect_left(texts, start)
        last = bisect_right(texts, start, lo=first, key=lambda text: text[: len(start)])
        return np.sort(order[first:last])

    def _under_stars(self, size: int, stars: tuple[int, ...]) -> dict[str, list[int]]:
        """Values of one length by what is left of them under stars at these places."""
        if (size, *stars) not in self.shapes:
            table: dict[str, list[int]] = defaultdict(list)
            for place in self._lengths.get(size, ()):
                letters = list(self.domain.values[place] or "")
                for star in stars:
                    letters[star] = ROOT
                table["".join(letters)].append(place)
            self.shapes[(size, *stars)] = table
        return self.shapes[(size, *stars)]


def _texts(texts: Iterable[Text]) -> set[str]:
    """The texts, and the members of each text that is a set."""
    plain_texts = {text for text in texts if text is not None}
    return plain_texts.union(
        *(p.texts for p in map(pattern, plain_texts) if isinstance(p, Members))
    )


@dataclass(frozen=True)
class Labels:
    """The different sets that a column's released texts stand for, and which is each text's."""

    sets: PositionSets
    numbers: Ints

    @classmethod
    def read(
        cls,
        released: Sequence[Text],
        domain: Domain,
        hierarchy: Hierarchy | None = None,
        *,
        wildcard: bool = False,
        column: str = "",
    ) -> "Labels":
        """Two spellings of the same set are one label."""
        texts = dict.fromkeys(released)
        reader = _Reader(domain, hierarchy, wildcard, texts)
        number_of: dict[Text, int] = {}
        known: dict[bytes, int] = {}
        sets: list[Ints] = []
        wrong = total = 0
        for text in texts:
            members = reader.read(text)
            wrong += not len(members)
            key = hashlib.blake2b(members.tobytes(), digest_size=16).digest()
            number_of[text] = known.setdefault(key, len(sets))
            if number_of[text] == len(sets):
                sets.append(members)
                total += len(members)
                require(
                    total <= MOST_MEMBERS,
                    f"column {column!r}: labels for more than {MOST_MEMBERS:,} values",
                    hint=f"--domain {column or 'COL'}=FILE with fewer values",
                    error=ExhaustedError,
                )
        require(
            not wrong,
            f"column {column!r}: no known value fits {wrong:,} of {plural(len(texts), 'label')}",
            hint=f"--hierarchy {column or 'COL'}=FILE or --domain {column or 'COL'}=FILE",
            error=UnfitLabelError,
        )
        numbers = np.array([number_of[text] for text in released], dtype=np.int64)
        return cls(PositionSets.from_lists(sets), numbers)


def label_members(
    labels: Sequence[Text], values: Sequence[Text], hierarchy: Hierarchy | None = None
) -> list[Ints]:
    """Of each label the places of the values that it stands for; none if it cannot be read.

    >>> [x.tolist() for x in label_members(["2*", "[30, 40)", "old"], ["21", "25", "35"])]
    [[0, 1], [2], []]
    """
    reader = _Reader(Domain(tuple(values), "original", public=False), hierarchy, False, labels)
    return [reader.read(label) for label in labels]
