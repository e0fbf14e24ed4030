"""Who may be in which class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sievert.arrays import Ints
from sievert.attacks.reasoning.value_sets import PositionSets
from sievert.attacks.reasoning.victims import distinct_rows
from sievert.errors import ExhaustedError

CELLS = 1 << 25  # answers held at a time
_NONE = np.zeros(0, dtype=np.int64)


class CandidatePairs(NamedTuple):
    """Victims and classes that may hold them, in the order of victims, then of classes."""

    victims: Ints
    classes: Ints


def contains(
    classes: Ints, sets: Sequence[PositionSets], victims: Ints, most: int
) -> CandidatePairs:
    """Which classes may hold each victim: in every column its value is in the class's label.

    `classes` holds a label of each column for each class, `victims` a position in each domain, -1
    for a value outside of it.

    >>> both = [PositionSets.of([[0, 1], [1, 2]]), PositionSets.of([[0], [0, 1]])]
    >>> contains(np.array([[0, 0], [1, 1]]), both, np.array([[1, 0], [1, 1]]), 9).classes.tolist()
    [0, 1, 1]
    """
    columns = [_CandidateColumn.of(classes[:, k], sets[k], victims[:, k]) for k in range(len(sets))]
    if all(column.single for column in columns):
        found = _looked_up(columns, most)
    else:
        found = _met(columns, most)
    order = np.argsort(found.victims, kind="stable")
    return CandidatePairs(found.victims[order], found.classes[order])


@dataclass(frozen=True)
class _CandidateColumn:
    """A column of classes and victims: the labels of each value that a victim has there."""

    label: Ints  # of each class
    value: Ints  # of each victim
    holding: PositionSets  # of each value the labels that hold it
    labels: int
    single: bool

    @classmethod
    def of(cls, label: Ints, sets: PositionSets, victims: Ints) -> _CandidateColumn:
        used, label = np.unique(label, return_inverse=True)
        values, value = np.unique(victims, return_inverse=True)
        taken = sets.taken(used)
        place = np.searchsorted(values, taken.members)
        asked = np.append(values, -1)[place] == taken.members
        rows = np.repeat(np.arange(len(used)), taken.sizes)[asked]
        order = np.argsort(place[asked], kind="stable")
        starts = np.searchsorted(place[asked][order], np.arange(len(values) + 1))
        holding = PositionSets(starts, rows[order])
        single = bool((holding.sizes <= 1).all())
        return cls(label, value, holding, len(used), single)


def _beyond(most: int) -> ExhaustedError:
    return ExhaustedError(
        f"more than {most:,} pairs of a person and a group that may hold the person",
        hint="fewer quasi-identifiers, or a sample of the people",
    )


def _looked_up(columns: Sequence[_CandidateColumn], most: int) -> CandidatePairs:
    """Each value is in one label at most: a victim's labels are a key of its class."""
    classes = len(columns[0].label)
    held = np.ones(len(columns[0].value), dtype=bool)
    rows = []
    for column in columns:
        one = np.append(column.holding.members, 0)[column.holding.starts[:-1]]
        held &= (column.holding.sizes == 1)[column.value]
        rows.append(np.concatenate([column.label, one[column.value]]))
    _, keys = distinct_rows(np.stack(rows, axis=1))
    order = np.argsort(keys[:classes], kind="stable")
    ranked = keys[order]
    low = np.searchsorted(ranked, keys[classes:])
    high = np.searchsorted(ranked, keys[classes:], side="right")
    times = np.where(held, high - low, 0)
    if int(times.sum()) > most:
        raise _beyond(most)
    starts = np.append(0, np.cumsum(times))
    places = np.arange(starts[-1]) + np.repeat(low - starts[:-1], times)
    return CandidatePairs(np.repeat(np.arange(len(times)), times), order[places])


def _met(columns: Sequence[_CandidateColumn], most: int) -> CandidatePairs:
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
    return CandidatePairs(np.concatenate(victims), np.concatenate(found))


def _chunk(
    columns: Sequence[_CandidateColumn], narrow: Sequence[int], some: Ints, most: int, room: int
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
