"""Victims, and the classes of the release that may hold each of them."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from sievert.arrays import Ints
from sievert.attacks.reasoning.value_sets import NO_POSITIONS, PositionSets
from sievert.errors import ExhaustedError, require
from sievert.losses.loss import combination_codes

CELLS = 1 << 25  # answers held at a time
MOST_IMAGINED = 10_000  # victims, where the original does not say who there is


class CandidatePairs(NamedTuple):
    """Victims and classes that may hold them, in the order of victims, then of classes."""

    victims: Ints
    classes: Ints


def candidate_pairs(
    classes: Ints, sets: Sequence[PositionSets], victims: Ints, most: int
) -> CandidatePairs:
    """Which classes may hold each victim: in every column its value is in the class's label.

    `classes` holds a label of each column for each class, `victims` a position in each domain, -1
    for a value outside of it.

    >>> both = [PositionSets.from_lists([[0, 1], [1, 2]]), PositionSets.from_lists([[0], [0, 1]])]
    >>> classes, victims = np.array([[0, 0], [1, 1]]), np.array([[1, 0], [1, 1]])
    >>> candidate_pairs(classes, both, victims, 9).classes.tolist()
    [0, 1, 1]
    """
    columns = [
        _CandidateColumn.build(classes[:, k], sets[k], victims[:, k]) for k in range(len(sets))
    ]
    single = all((column.holding.sizes <= 1).all() for column in columns)
    pairs = (_look_up if single else _intersect)(columns, most)
    order = np.argsort(pairs.victims, kind="stable")
    return CandidatePairs(pairs.victims[order], pairs.classes[order])


@dataclass(frozen=True)
class _CandidateColumn:
    """A column of classes and victims: the labels of each value that a victim has there."""

    label: Ints  # of each class
    value: Ints  # of each victim
    holding: PositionSets  # of each value the labels that hold it
    labels: int

    @classmethod
    def build(cls, label: Ints, sets: PositionSets, victims: Ints) -> Self:
        used, label = np.unique(label, return_inverse=True)
        values, value = np.unique(victims, return_inverse=True)
        taken = sets.select(used)
        place = np.searchsorted(values, taken.members)
        present = np.append(values, -1)[place] == taken.members
        rows = np.repeat(np.arange(len(used)), taken.sizes)[present]
        holding = PositionSets.by_owner(place[present], rows, len(values))
        return cls(label=label, value=value, holding=holding, labels=len(used))


def _require_few(pairs: int, most: int) -> None:
    require(
        pairs <= most,
        f"more than {most:,} pairs of a person and a group that may hold the person",
        hint="fewer quasi-identifiers, or a sample of the people",
        error=ExhaustedError,
    )


def _look_up(columns: Sequence[_CandidateColumn], most: int) -> CandidatePairs:
    """Each value is in one label at most: a victim's labels are a key of its class."""
    inside = np.all([(c.holding.sizes == 1)[c.value] for c in columns], axis=0)
    only = [np.append(c.holding.members, 0)[c.holding.starts[:-1]][c.value] for c in columns]
    rows = [np.append(c.label, label) for c, label in zip(columns, only, strict=True)]
    different, keys = distinct_rows(np.stack(rows, axis=1))
    own, wanted = np.split(keys, [len(columns[0].label)])
    # The last set is empty.
    by_key = PositionSets.by_owner(own, np.arange(len(own)), len(different) + 1)
    wanted = np.where(inside, wanted, len(different))
    _require_few(int(by_key.sizes[wanted].sum()), most)
    pairs = by_key.select(wanted)
    return CandidatePairs(np.repeat(np.arange(len(wanted)), pairs.sizes), pairs.members)


def _intersect(columns: Sequence[_CandidateColumn], most: int) -> CandidatePairs:
    """Victims with like values together: first the classes that hold one of them, then bits."""
    reach = []
    for column in columns:
        records = np.append(np.bincount(column.label, minlength=column.labels), 0)
        each = np.add.reduceat(
            records[np.append(column.holding.members, column.labels)], column.holding.starts[:-1]
        )
        reach.append(float((each * (column.holding.sizes > 0))[column.value].mean()))
    narrow = sorted(range(len(columns)), key=lambda k: (reach[k], k))
    order = np.lexsort([columns[k].value for k in reversed(narrow)])
    step = max(16, min(2048, CELLS // max(column.labels for column in columns)))
    pairs = [(NO_POSITIONS, NO_POSITIONS)]
    number = 0
    for low in range(0, len(order), step):
        some = order[low : low + step]
        for who, which in _chunk(columns, narrow, some, most, number):
            number += len(who)
            pairs.append((some[who], which))
    return CandidatePairs(*(np.concatenate(part) for part in zip(*pairs, strict=True)))


def _chunk(
    columns: Sequence[_CandidateColumn], narrow: Sequence[int], some: Ints, most: int, number: int
) -> Iterator[tuple[Ints, Ints]]:
    """Pairs of these victims (by their place among them) and classes."""
    tables: list[tuple[Ints, Ints]] = []
    rest = np.arange(len(columns[0].label))
    for k in narrow:
        column = columns[k]
        values, row = np.unique(column.value[some], return_inverse=True)
        holding = column.holding.select(values)
        table = np.zeros((len(values), column.labels), dtype=bool)
        table[np.repeat(np.arange(len(values)), holding.sizes), holding.members] = True
        rest = rest[np.logical_or.reduce(table, axis=0)[column.label[rest]]]
        tables.append((table, row))
    step = CELLS // len(some)
    for low in range(0, len(rest), step):
        block = rest[low : low + step]
        bits = np.full((len(some), -(-len(block) // 64) * 8), 255, dtype=np.uint8)
        for k, (table, row) in zip(narrow, tables, strict=True):
            packed = np.zeros((len(table), bits.shape[1]), dtype=np.uint8)
            words = np.packbits(table[:, columns[k].label[block]], axis=1)
            packed[:, : words.shape[1]] = words
            bits.view(np.uint64)[:] &= packed.view(np.uint64)[row]
        number += int(np.bitwise_count(bits.view(np.uint64)).sum())
        _require_few(number, most)
        who, byte = np.nonzero(bits)
        at, bit = np.nonzero(np.unpackbits(bits[who, byte][:, None], axis=1))
        yield who[at], block[byte[at] * 8 + bit]


def distinct_rows(rows: Ints) -> tuple[Ints, Ints]:
    """The different rows of numbers from -1 on, in ascending order, and which of them each row is.

    >>> distinct_rows(np.array([[1, -1], [0, 3], [1, -1]]))[1].tolist()
    [1, 0, 1]
    """
    rows = np.asarray(rows, dtype=np.int64)
    which = combination_codes(list(rows.T))
    return rows[np.unique(which, return_index=True)[1]], which


def imagine_victims(
    sets: Sequence[PositionSets], classes: Ints, records: Ints, rng: np.random.Generator
) -> tuple[Ints, bool]:
    """Everybody whom the release may hold, as values of each column; or some, by chance.

    `sets[c]` are the labels of column c, `classes` has the label of each class and column,
    `records` how many each class holds. The second result is whether it is everybody.
    """
    sizes = [s.sizes[labels].astype(float) for s, labels in zip(sets, classes.T, strict=True)]
    if np.prod(sizes, axis=0).sum() <= MOST_IMAGINED:
        people = {
            person
            for labels in classes.tolist()
            for person in itertools.product(
                *(column[label].tolist() for column, label in zip(sets, labels, strict=True))
            )
        }
        return np.array(sorted(people), dtype=np.int64), True
    chosen = rng.choice(len(classes), MOST_IMAGINED, p=records / records.sum())
    values = [
        column.members[rng.integers(column.starts[labels], column.starts[labels + 1])]
        for column, labels in zip(sets, classes[chosen].T, strict=True)
    ]
    return np.unique(np.stack(values, axis=1), axis=0), False
