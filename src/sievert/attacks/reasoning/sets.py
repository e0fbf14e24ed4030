"""What released values may stand for: sets of values, sets of their combinations, who is in which.

Many sets are kept in one array after the other, with the places where each begins (`Sets`).
"""

from __future__ import annotations

import hashlib
import itertools
import math
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sievert.attacks.reasoning.domains import (
    Domain,
    Everything,
    Interval,
    Mask,
    Members,
    Number,
    Text,
    number,
    pattern,
)
from sievert.attacks.reasoning.model import Floats, Ints
from sievert.errors import ExhaustedError, InputError, plural
from sievert.hierarchies import ROOT, Hierarchy

MOST = 10**7  # cells of all boxes together
MOST_MEMBERS = 5 * 10**7  # of all labels of a column
CELLS = 1 << 25  # answers held at a time
MOST_WORK = 10**11  # multiplications to see which labels meet
CHUNK = 1 << 22  # members looked at in one go
_NONE = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class Sets:
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
    def of(cls, sets: Sequence[Iterable[int]]) -> Sets:
        """Sets from lists, each in ascending order.

        >>> Sets.of([[0, 2], [1]]).starts.tolist()
        [0, 2, 3]
        """
        pieces = [np.asarray(list(s) if not isinstance(s, np.ndarray) else s) for s in sets]
        starts = np.cumsum([0, *map(len, pieces)], dtype=np.int64)
        return cls(starts, np.concatenate([_NONE, *pieces]).astype(np.int64))

    def taken(self, which: Ints) -> Sets:
        """Only these sets, in this order."""
        sizes = self.sizes[which]
        starts = np.append(0, np.cumsum(sizes))
        places = np.arange(starts[-1]) + np.repeat(self.starts[which] - starts[:-1], sizes)
        return Sets(starts, self.members[places])


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
        self.ladder: dict[str, set[int]] = {t: set() for t in _texts(wanted)}
        self.everything = np.array(
            [i for i, value in enumerate(domain.values) if value is not None], dtype=np.int64
        )
        self.rooted = True
        if hierarchy is not None:
            self._climb(hierarchy)

    def _climb(self, hierarchy: Hierarchy) -> None:
        """Below each wanted label, on whatever level, the positions of its values."""
        topped = 0
        for value, labels in hierarchy.ladder.items():
            topped += ROOT in labels
            place = self.domain.places.get(value)
            if place is None:
                continue
            for label in labels:
                if label in self.ladder:
                    self.ladder[label].add(place)
        self.rooted = topped in (0, len(hierarchy.ladder))

    def read(self, text: Text, *, inside: bool = False) -> Ints:
        """The positions a label stands for; none if it fits nothing or cannot be read."""
        if text is None and self.wildcard:
            return np.arange(len(self.domain))
        if text == ROOT and self.rooted:
            return self.everything
        own = self.domain.places.get(text)
        found = set() if text is None else self.ladder.get(text, set())
        if own is not None or found:
            return np.array(sorted(found if own is None else found | {own}), dtype=np.int64)
        meant = None if text is None else pattern(text)
        match meant:
            case Everything():
                return self.everything
            case Interval():
                return self._between(meant)
            case Mask():
                return self._masked(meant.text)
            case Members() if not inside:
                return self._union(meant.texts)
        return _NONE

    def _union(self, texts: Sequence[str]) -> Ints:
        """All members together; each must fit a value, unless only observed values are known."""
        parts = [self.read(text, inside=True) for text in texts]
        if not parts or (self.domain.source != "original" and not all(map(len, parts))):
            return _NONE
        return np.unique(np.concatenate(parts))

    @cached_property
    def _numbers(self) -> tuple[list[Number], Ints]:
        """The numbers of the domain by size, and their positions."""
        spelt = [(number(v), i) for i, v in enumerate(self.domain.values) if v is not None]
        pairs = [(n, i) for n, i in spelt if n is not None]
        pairs.sort(key=lambda pair: float(pair[0]))  # nearly sorted, and quickly
        pairs.sort()
        return [n for n, _ in pairs], np.array([i for _, i in pairs], dtype=np.int64)

    def _between(self, meant: Interval) -> Ints:
        numbers, order = self._numbers
        first, last = 0, len(numbers)
        if meant.low is not None:
            first = (bisect_left if meant.low_in else bisect_right)(numbers, meant.low)
        if meant.high is not None:
            last = (bisect_right if meant.high_in else bisect_left)(numbers, meant.high)
        return np.sort(order[first:last])

    @cached_property
    def _lengths(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = defaultdict(list)
        for place, value in enumerate(self.domain.values):
            if value is not None:
                found[len(value)].append(place)
        return found

    @cached_property
    def _alphabetical(self) -> tuple[list[str], Ints]:
        pairs = sorted((v, i) for i, v in enumerate(self.domain.values) if v is not None)
        return [v for v, _ in pairs], np.array([i for _, i in pairs], dtype=np.int64)

    def _masked(self, mask: str) -> Ints:
        """A star is one character. If that fits no value, stars at the end are any rest.

        So is one star at the end of a text that is not made of digits.
        """
        start = mask.rstrip(ROOT)
        ends = ROOT not in start
        if not (ends and len(mask) == len(start) + 1 and not start.isdigit()):
            places = self._lengths.get(len(mask), [])
            if places:
                stars = tuple(i for i, c in enumerate(mask) if c == ROOT)
                found = self._shaped(len(mask), stars, places).get(mask)
                if found:
                    return np.array(found, dtype=np.int64)
        if not ends:
            return _NONE
        texts, order = self._alphabetical
        size = len(start)
        first = bisect_left(texts, start)
        last = bisect_right(texts, start, lo=first, key=lambda text: text[:size])
        return np.sort(order[first:last])

    def _shaped(self, size: int, stars: tuple[int, ...], places: list[int]) -> dict[str, list[int]]:
        """Values of one length by what is left of them under stars at these places."""
        if (size, *stars) not in self.shapes:
            table: dict[str, list[int]] = defaultdict(list)
            for place in places:
                letters = list(self.domain.values[place] or "")
                for star in stars:
                    letters[star] = ROOT
                table["".join(letters)].append(place)
            self.shapes[(size, *stars)] = table
        return self.shapes[(size, *stars)]


def _texts(texts: Iterable[Text]) -> set[str]:
    """The texts, and the members of those that are sets."""
    found = {text for text in texts if text is not None}
    for text in list(found):
        meant = pattern(text)
        if isinstance(meant, Members):
            found.update(meant.texts)
    return found


def _unfit(column: str, wrong: int, texts: int) -> InputError:
    name = column or "COL"
    return InputError(
        f"column {column!r}: no known value fits {wrong:,} of {plural(texts, 'label')}",
        hint=f"--hierarchy {name}=FILE or --domain {name}=FILE",
    )


def label_set(
    label: Text,
    domain: Domain,
    hierarchy: Hierarchy | None = None,
    *,
    wildcard: bool = False,
    column: str = "",
) -> Ints:
    """The positions of the values that a label may stand for, in ascending order.

    A value of the domain stands for itself, a label of the hierarchy for what is below it on any
    level (and itself, if it is both). Only other texts are read as patterns.

    >>> label_set("[20, 22)", Domain(("19", "20", "21", "22"), "given", True)).tolist()
    [1, 2]
    """
    found = _Reader(domain, hierarchy, wildcard, [label]).read(label)
    if not len(found):
        raise _unfit(column, 1, 1)
    return found


@dataclass(frozen=True)
class Labels:
    """The different sets that the released texts of a column stand for; `of` is each text's."""

    sets: Sets
    of: Ints

    @classmethod
    def read(
        cls,
        released: Sequence[Text],
        domain: Domain,
        hierarchy: Hierarchy | None = None,
        *,
        wildcard: bool = False,
        column: str = "",
    ) -> Labels:
        """Two spellings of the same set are one label."""
        texts = dict.fromkeys(released)
        reader = _Reader(domain, hierarchy, wildcard, texts)
        numbers: dict[Text, int] = {}
        known: dict[bytes, int] = {}
        sets: list[Ints] = []
        wrong = total = 0
        for text in texts:
            found = reader.read(text)
            wrong += not len(found)
            key = hashlib.blake2b(found.tobytes(), digest_size=16).digest()
            numbers[text] = known.setdefault(key, len(sets))
            if numbers[text] == len(sets):
                sets.append(found)
                total += len(found)
                if total > MOST_MEMBERS:
                    raise ExhaustedError(
                        f"column {column!r}: labels for more than {MOST_MEMBERS:,} values",
                        hint=f"--domain {column or 'COL'}=FILE with fewer values",
                    )
        if wrong:
            raise _unfit(column, wrong, len(texts))
        of = np.fromiter((numbers[text] for text in released), dtype=np.int64, count=len(released))
        return cls(Sets.of(sets), of)


class Lumped(NamedTuple):
    """Positions merged into atoms, which are in the order of their first positions."""

    atom_of: Ints
    prior: Floats
    sets: Sets
    atoms: int


def lumped(sets: Sets, asked: Ints | Sequence[int], weights: Floats) -> Lumped:
    """Merges positions nobody asks about that are in exactly the same sets; weights are added.

    `asked` are positions, or a truth for each; `weights` has a column for each position.

    >>> lumped(Sets.of([[0, 1, 2], [2]]), [0], np.ones((1, 5))).atom_of.tolist()
    [0, 1, 2, 3, 3]
    """
    size = weights.shape[1]
    alone = np.zeros(size, dtype=bool)
    alone[np.asarray(asked, dtype=None if len(asked) else np.int64)] = True
    free = np.flatnonzero(~alone)
    marks = _signatures(sets, size)[:, free]
    order = np.lexsort(marks)
    new = np.ones(len(free), dtype=bool)
    new[1:] = (marks[:, order[1:]] != marks[:, order[:-1]]).any(axis=0)
    first = np.arange(size)
    first[free[order]] = free[order[new]][np.cumsum(new) - 1] if len(free) else _NONE
    leads = first == np.arange(size)
    atom_of = (np.cumsum(leads) - 1)[first]
    atoms = int(leads.sum())
    by_atom = np.argsort(atom_of, kind="stable")
    begins = np.flatnonzero(np.diff(atom_of[by_atom], prepend=-1))
    prior = np.zeros((len(weights), atoms))
    for row, weight in zip(prior, weights, strict=True):
        if size:
            row[:] = np.add.reduceat(np.asarray(weight, dtype=np.float64)[by_atom], begins)
    kept = leads[sets.members]
    filled = sets.sizes > 0
    counts = np.zeros(len(sets), dtype=np.int64)
    if len(kept):
        counts[filled] = np.add.reduceat(kept, sets.starts[:-1][filled], dtype=np.int64)
    starts = np.append(0, np.cumsum(counts))
    return Lumped(atom_of, prior, Sets(starts, atom_of[sets.members[kept]]), atoms)


def _signatures(sets: Sets, size: int) -> NDArray[np.uint64]:
    """128 bits for each position, the same only for positions in the same sets."""
    rng = np.random.default_rng(0x5E75)
    marks = rng.integers(0, 2**64, (2, len(sets)), dtype=np.uint64)
    found = np.zeros((2, size), dtype=np.uint64)
    places = [*range(0, len(sets.members), CHUNK), len(sets.members)]
    for low, high in itertools.pairwise(np.searchsorted(sets.starts, places).tolist()):
        members = sets.members[sets.starts[low] : sets.starts[high]]
        for sums, mark in zip(found, marks, strict=True):
            np.add.at(sums, members, np.repeat(mark[low:high], sets.sizes[low:high]))
    return found


@dataclass(frozen=True)
class Boxes:
    """All columns as one factor: `tuples` combinations of values, most of them lumped together.

    `sets` are the different boxes of classes, `label_of` the box of each class, `atom_of` the atom
    of each victim, `prior` the weight of each atom, a row for each secret if they differ.
    """

    tuples: int
    prior: Floats
    sets: Sets
    label_of: Ints
    atom_of: Ints


def boxes(
    sizes: Sequence[int],
    sets: Sequence[Sets],
    classes: Ints,
    victims: Ints,
    beta: float | Floats = 1.0,
    *,
    overrides: Mapping[tuple[int, ...], float | Floats] | None = None,
    most: int = MOST,
) -> Boxes:
    """The classes as sets of combinations: of each column any value of the class's label there.

    `classes` holds a label of each column for each class, `victims` a position in each domain.
    `beta` is the weight of a combination, `overrides` that of single ones.
    """
    others = np.array(list(overrides or ()), dtype=np.int64).reshape(-1, len(sizes))
    distinct, label_of = _rows(classes)
    asked, which = _rows(np.concatenate([victims, others]))
    tuples = math.prod(int(size) for size in sizes)
    grid = _gridded(sizes, sets, distinct, asked, most) or _parted(
        sizes, sets, distinct, asked, most
    )
    if grid is None or tuples > 10**300:
        raise ExhaustedError(
            f"the groups cover more than {most:,} kinds of combinations of values",
            hint="--likelihood product, or --domain observed",
        )
    covered, place = grid.place >= 0, grid.place
    left = grid.times - np.bincount(place[covered], minlength=len(grid.times))
    held = Sets(np.searchsorted(grid.box, np.arange(len(distinct) + 1)), grid.cell)
    lumps = lumped(held, _NONE, left[None, :].astype(np.float64))
    nowhere = tuples - int(grid.times.sum()) - int((~covered).sum())

    stay = np.flatnonzero(lumps.prior[0] > 0)
    lump = np.concatenate([lumps.atom_of[place[covered]], stay])
    atom = np.concatenate([np.flatnonzero(covered), len(asked) + np.arange(len(stay))])
    order = np.argsort(lump, kind="stable")
    inner = Sets(np.searchsorted(lump[order], np.arange(lumps.atoms + 1)), atom[order])
    if int(inner.sizes[lumps.sets.members].sum()) > MOST_MEMBERS:
        raise ExhaustedError(
            f"the groups hold more than {MOST_MEMBERS:,} combinations of values",
            hint="--likelihood product, or --domain observed",
        )
    spread = inner.taken(lumps.sets.members)
    owner = np.repeat(np.repeat(np.arange(len(distinct)), lumps.sets.sizes), spread.sizes)
    members = spread.members[np.lexsort((spread.members, owner))]
    starts = np.searchsorted(owner, np.arange(len(distinct) + 1))
    weight = np.concatenate([np.ones(len(asked)), lumps.prior[0][stay], [float(nowhere)]])
    prior = (
        np.atleast_1d(np.asarray(beta, dtype=np.float64))[:, None]
        * weight[: -1 if nowhere == 0 else None]
    )
    if overrides:
        prior[:, which[len(victims) :]] = np.array(list(overrides.values())).T
    return Boxes(tuples, prior, Sets(starts, members), label_of, which[: len(victims)])


class _Grid(NamedTuple):
    """Boxes cut into cells: pairs of a box and a cell in it, by boxes, then cells."""

    box: Ints
    cell: Ints
    times: Ints  # how many combinations a cell has
    place: Ints  # the cell of each combination asked about, -1 outside of all boxes


def _gridded(
    sizes: Sequence[int], sets: Sequence[Sets], rows: Ints, asked: Ints, most: int
) -> _Grid | None:
    """Cut where a label of any box begins or ends; None if that makes more than `most` pairs."""
    parts, local = [], np.zeros_like(rows)
    for k, size in enumerate(sizes):
        used, local[:, k] = np.unique(rows[:, k], return_inverse=True)
        parts.append(lumped(sets[k].taken(used), _NONE, np.ones((1, size))))
    columns = [part.sets.sizes[local[:, k]].tolist() for k, part in enumerate(parts)]
    pairs = sum(map(math.prod, zip(*columns, strict=True)))
    if pairs > most or math.prod(part.atoms for part in parts) >= 2**62:
        return None
    box, keys = np.arange(len(rows)), np.zeros(len(rows), dtype=np.int64)
    times = _counting(np.ones(len(rows)), sizes)
    asked_keys = np.zeros(len(asked), dtype=np.int64)
    for k, part in enumerate(parts):
        picked = part.sets.taken(local[box, k])
        box = np.repeat(box, picked.sizes)
        keys = np.repeat(keys, picked.sizes) * part.atoms + picked.members
        times = np.repeat(times, picked.sizes) * _counting(part.prior[0], sizes)[picked.members]
        asked_keys = asked_keys * part.atoms + part.atom_of[asked[:, k]]
    cells, first, cell = np.unique(keys, return_index=True, return_inverse=True)
    place = np.searchsorted(cells, asked_keys)
    place[np.append(cells, -1)[place] != asked_keys] = -1
    return _Grid(box, cell, times[first], place)


def _counting(numbers: Ints, sizes: Sequence[int]) -> Ints:
    """As integers whose products cannot overflow."""
    if math.prod(int(size) for size in sizes) < 2**62:
        return numbers.astype(np.int64)
    return np.array([int(n) for n in numbers.tolist()], dtype=object)


def _parted(
    sizes: Sequence[int], sets: Sequence[Sets], rows: Ints, asked: Ints, most: int
) -> _Grid | None:
    """The same, where boxes that meet no other are not cut."""
    alone = _alone(sizes, sets, rows)
    single, rest = np.flatnonzero(alone), np.flatnonzero(~alone)
    grid = _gridded(sizes, sets, rows[rest], asked, most) if len(single) else None
    if grid is None:
        return None
    times = _counting(np.ones(len(single)), sizes)
    for k in range(len(sizes)):
        times = times * _counting(sets[k].sizes[rows[single, k]], sizes)
    inside = contains(rows[single], sets, asked, len(asked))
    grid.place[inside.victims] = len(grid.times) + inside.classes
    box = np.concatenate([rest[grid.box], single])
    order = np.argsort(box, kind="stable")
    cell = np.concatenate([grid.cell, len(grid.times) + np.arange(len(single))])
    return _Grid(box[order], cell[order], np.concatenate([grid.times, times]), grid.place)


def _alone(sizes: Sequence[int], sets: Sequence[Sets], rows: Ints) -> Ints:
    """Which boxes share no combination with another, as far as that is quickly told."""
    meeting, local = [], np.zeros_like(rows)
    for k, size in enumerate(sizes):
        used, local[:, k] = np.unique(rows[:, k], return_inverse=True)
        part = lumped(sets[k].taken(used), _NONE, np.ones((1, size)))
        if len(used) ** 2 * part.atoms > MOST_WORK or len(used) * part.atoms > CELLS:
            return np.zeros(len(rows), dtype=bool)
        table = np.zeros((len(used), part.atoms), dtype=np.float32)
        table[np.repeat(np.arange(len(used)), part.sets.sizes), part.sets.members] = 1
        first, second = np.nonzero(table @ table.T)
        meeting.append(Sets(np.searchsorted(first, np.arange(len(used) + 1)), second))
    try:
        pairs = contains(local, meeting, local, MOST)
    except ExhaustedError:
        return np.zeros(len(rows), dtype=bool)
    found: Ints = np.bincount(pairs.victims, minlength=len(rows)) == 1
    return found


def _rows(rows: Ints) -> tuple[Ints, Ints]:
    """The different rows in ascending order, and which of them each row is."""
    rows = np.asarray(rows, dtype=np.int64)
    _, first, which = np.unique(_coded(rows), return_index=True, return_inverse=True)
    return rows[first], which


def _coded(rows: Ints) -> Ints:
    """A number for each row of small numbers, in the order of the rows."""
    keys = np.zeros(len(rows), dtype=np.int64)
    for column in rows.T:
        keys = keys * (int(column.max(initial=0)) + 1) + column
        _, keys = np.unique(keys, return_inverse=True)
    return keys


class Pairs(NamedTuple):
    """Victims and classes that may hold them, in the order of victims, then of classes."""

    victims: Ints
    classes: Ints


def contains(classes: Ints, sets: Sequence[Sets], victims: Ints, most: int) -> Pairs:
    """Which classes may hold each victim: in every column its value is in the class's label.

    `classes` holds a label of each column for each class, `victims` a position in each domain, -1
    for a value outside of it.

    >>> both = [Sets.of([[0, 1], [1, 2]]), Sets.of([[0], [0, 1]])]
    >>> contains(np.array([[0, 0], [1, 1]]), both, np.array([[1, 0], [1, 1]]), 9).classes.tolist()
    [0, 1, 1]
    """
    columns = [_Column.of(classes[:, k], sets[k], victims[:, k]) for k in range(len(sets))]
    if all(column.single for column in columns):
        found = _looked_up(columns, most)
    else:
        found = _met(columns, most)
    order = np.argsort(found.victims, kind="stable")
    return Pairs(found.victims[order], found.classes[order])


@dataclass(frozen=True)
class _Column:
    """A column of classes and victims: the labels of each value that a victim has there."""

    label: Ints  # of each class
    value: Ints  # of each victim
    holding: Sets  # of each value the labels that hold it
    labels: int
    single: bool

    @classmethod
    def of(cls, label: Ints, sets: Sets, victims: Ints) -> _Column:
        used, label = np.unique(label, return_inverse=True)
        values, value = np.unique(victims, return_inverse=True)
        taken = sets.taken(used)
        place = np.searchsorted(values, taken.members)
        asked = np.append(values, -1)[place] == taken.members
        rows = np.repeat(np.arange(len(used)), taken.sizes)[asked]
        order = np.argsort(place[asked], kind="stable")
        starts = np.searchsorted(place[asked][order], np.arange(len(values) + 1))
        holding = Sets(starts, rows[order])
        single = bool((holding.sizes <= 1).all())
        return cls(label, value, holding, len(used), single)


def _beyond(most: int) -> ExhaustedError:
    return ExhaustedError(
        f"more than {most:,} pairs of a person and a group that may hold the person",
        hint="fewer quasi-identifiers, or a sample of the people",
    )


def _looked_up(columns: Sequence[_Column], most: int) -> Pairs:
    """Each value is in one label at most: a victim's labels are a key of its class."""
    classes = len(columns[0].label)
    held = np.ones(len(columns[0].value), dtype=bool)
    rows = []
    for column in columns:
        one = np.append(column.holding.members, 0)[column.holding.starts[:-1]]
        held &= (column.holding.sizes == 1)[column.value]
        rows.append(np.concatenate([column.label, one[column.value]]))
    keys = _coded(np.stack(rows, axis=1))
    order = np.argsort(keys[:classes], kind="stable")
    ranked = keys[order]
    low = np.searchsorted(ranked, keys[classes:])
    high = np.searchsorted(ranked, keys[classes:], side="right")
    times = np.where(held, high - low, 0)
    if int(times.sum()) > most:
        raise _beyond(most)
    starts = np.append(0, np.cumsum(times))
    places = np.arange(starts[-1]) + np.repeat(low - starts[:-1], times)
    return Pairs(np.repeat(np.arange(len(times)), times), order[places])


def _met(columns: Sequence[_Column], most: int) -> Pairs:
    """Victims with like values together: first the classes that hold one of them, then bits."""
    reach = []
    for column in columns:
        held = np.append(np.bincount(column.label, minlength=column.labels), 0)
        each = np.add.reduceat(
            held[np.append(column.holding.members, column.labels)], column.holding.starts[:-1]
        )
        reach.append(float((each * (column.holding.sizes > 0))[column.value].mean()))
    narrow = sorted(range(len(columns)), key=lambda k: (reach[k], k))
    order = np.lexsort([columns[k].value for k in reversed(narrow)])
    step = max(16, min(2048, CELLS // max(column.labels for column in columns)))
    victims, found = [_NONE], [_NONE]
    room = most
    for low in range(0, len(order), step):
        some = order[low : low + step]
        for who, which in _chunk(columns, narrow, some, most, room):
            room -= len(who)
            victims.append(some[who])
            found.append(which)
    return Pairs(np.concatenate(victims), np.concatenate(found))


def _chunk(
    columns: Sequence[_Column], narrow: Sequence[int], some: Ints, most: int, room: int
) -> Iterator[tuple[Ints, Ints]]:
    """Pairs of these victims (by their place among them) and classes."""
    tables: list[tuple[Ints, Ints]] = []
    rest = np.arange(len(columns[0].label))
    for k in narrow:
        column = columns[k]
        values, row = np.unique(column.value[some], return_inverse=True)
        holding = column.holding.taken(values)
        table = np.zeros((len(values), column.labels), dtype=bool)
        table[np.repeat(np.arange(len(values)), holding.sizes), holding.members] = True
        near: Ints = np.logical_or.reduce(table, axis=0)
        rest = rest[near[column.label[rest]]]
        tables.append((table, row))
    step = CELLS // len(some)
    for low in range(0, len(rest), step):
        block = rest[low : low + step]
        bits = np.full((len(some), -(-len(block) // 64) * 8), 255, dtype=np.uint8)
        for k, (table, row) in zip(narrow, tables, strict=True):
            packed = np.zeros((len(table), bits.shape[1]), dtype=np.uint8)
            found = np.packbits(table[:, columns[k].label[block]], axis=1)
            packed[:, : found.shape[1]] = found
            bits.view(np.uint64)[:] &= packed.view(np.uint64)[row]
        room -= int(np.bitwise_count(bits.view(np.uint64)).sum())
        if room < 0:
            raise _beyond(most)
        who, byte = np.nonzero(bits)
        at, bit = np.nonzero(np.unpackbits(bits[who, byte][:, None], axis=1))
        yield who[at], block[byte[at] * 8 + bit]
