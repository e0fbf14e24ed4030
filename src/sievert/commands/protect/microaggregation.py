"""Microaggregation: groups of at least k records that are near each other.

The squared distance of two records is a sum over columns. Numbers add the squared difference.
Categories add the squared level of the lowest common label as a share of the height, or 0 or 1
without a hierarchy. Each part is divided by its mean over all pairs of records, so that columns
count alike. Of records at equal distances, the first one is taken.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sievert.arrays import Bools, Floats, Ints
from sievert.commands.protect.settings import GAMMA, Grouping
from sievert.errors import InputError, require
from sievert.methods.intruder import check_whole


@dataclass(frozen=True, eq=False)
class CategoryColumn:
    """A column of categories: the code of each record, and the labels of each code, by level."""

    codes: Ints
    levels: Ints  # codes of the labels, one row per value, from level 0 to the one below the top

    @classmethod
    def plain(cls, codes: Ints) -> "CategoryColumn":
        """Make categories without a hierarchy: different ones have the largest distance."""
        return cls(codes, np.arange(int(codes.max(initial=0)) + 1)[:, None])

    @cached_property
    def scale(self) -> float:
        """The mean squared distance of two records in the column; 1 if all are alike."""
        records = len(self.codes)
        height = self.levels.shape[1]
        counts = np.bincount(self.codes, minlength=len(self.levels))
        alike = []  # for each level, the pairs of records with the same label
        for labels in self.levels.T:
            numbers = np.unique(labels, return_inverse=True)[1]
            alike.append(float((np.bincount(numbers, counts) ** 2).sum()))
        steps = np.diff([*alike, float(records) ** 2]) * (np.arange(1, height + 1) / height) ** 2
        return float(steps.sum()) / records**2 or 1.0

    def squared_distances(self, code: int) -> Floats:
        """The squared and scaled distance of every value from the value `code`."""
        climbed = (self.levels != self.levels[code]).sum(axis=1) / self.levels.shape[1]
        return np.asarray(climbed * climbed / self.scale)


@dataclass(frozen=True, eq=False)
class MixedRecords:
    """Records as points: a scaled row for each column of numbers, and columns of categories."""

    numbers: Floats
    categories: Sequence[CategoryColumn]
    size: int

    @classmethod
    def of(
        cls, numbers: Sequence[Any], categories: Sequence[CategoryColumn] = ()
    ) -> "MixedRecords":
        """Make points from columns of finite numbers and of categories."""
        rows = []
        for each in numbers:
            column = np.asarray(each, dtype=np.float64)
            rows.append((column - column.mean()) / (float(column.std()) * np.sqrt(2.0) or 1.0))
        size = len(rows[0]) if rows else len(categories[0].codes)
        return cls(np.array(rows).reshape(len(rows), size), categories, size)


class _Unassigned:
    """The records that have no group yet, in their order."""

    def __init__(self, records: MixedRecords) -> None:
        self.numbers = records.numbers
        self.ids = np.arange(records.size)
        self.columns = records.categories
        self.codes = [c.codes for c in self.columns]

    def __len__(self) -> int:
        return len(self.ids)

    def center(self) -> tuple[Floats, list[int]]:
        """The mean of each column of numbers, and the most frequent value of each other column."""
        return self.numbers.mean(axis=1), [int(np.bincount(c).argmax()) for c in self.codes]

    def record(self, place: int) -> tuple[Floats, list[int]]:
        """The record at a place, as a point."""
        return self.numbers[:, place], [int(c[place]) for c in self.codes]

    def far_from(self, point: tuple[Floats, list[int]]) -> Floats:
        """The squared distance of each record from a point."""
        total = np.zeros(len(self.ids))
        for row, x in zip(self.numbers, point[0], strict=True):
            apart = row - x
            total += apart * apart
        for column, codes, code in zip(self.columns, self.codes, point[1], strict=True):
            total += column.squared_distances(code)[codes]
        return total

    def remove(self, chosen: Bools) -> Ints:
        """Take the chosen records out; return their numbers."""
        ids = self.ids[chosen]
        rest = ~chosen
        self.numbers = self.numbers[:, rest]
        self.ids = self.ids[rest]
        self.codes = [c[rest] for c in self.codes]
        return ids


def mdav(records: MixedRecords, k: int) -> Ints:
    """Make groups of k to 2k - 1 records (Domingo-Ferrer and Mateo-Sanz 2002; MDAV of 2005).

    While 3k records are left, two records each make a group with the k - 1 records nearest to them:
    the record r that is farthest from the mean, and the record s that is farthest from r. If 2k or
    more are left then, the farthest makes one more group. The rest is the last group.

    >>> mdav(MixedRecords.of([[1, 2, 9, 8, 2, 9]]), 3).tolist()
    [0, 0, 1, 1, 0, 1]
    """
    left, groups = _start(records, k)
    number = 0
    while len(left) >= 2 * k:
        both = len(left) >= 3 * k
        far = left.far_from(left.record(int(left.far_from(left.center()).argmax())))
        chosen = _nearest(far, k)
        groups[left.remove(chosen)] = number
        number += 1
        if both:
            opposite = left.record(int(far[~chosen].argmax()))
            groups[left.remove(_nearest(left.far_from(opposite), k))] = number
            number += 1
    groups[left.ids] = number
    return groups


def v_mdav(records: MixedRecords, k: int, gamma: float = GAMMA) -> Ints:
    """Make groups of k to 2k - 1 records, larger ones of dense records (Solanas and others 2006).

    The record that is farthest from the mean of all makes a group with the k - 1 nearest. The
    record nearest to any of the group joins it while it is nearer than gamma times its distance to
    every other record without a group. If fewer than k are left, each joins the group of the record
    that is nearest to it.

    >>> v_mdav(MixedRecords.of([[1, 2, 3, 20, 21, 22, 23]]), 3).tolist()
    [0, 0, 0, 1, 1, 1, 1]
    """
    require(0 <= gamma < np.inf, "gamma is a finite number, not below 0")
    left, groups = _start(records, k)
    center = left.center()
    number = 0
    while len(left) >= k:
        far = left.far_from(left.record(int(left.far_from(center).argmax())))
        chosen = _nearest(far, k)
        points = [left.record(p) for p in np.flatnonzero(chosen).tolist()]
        groups[left.remove(chosen)] = number
        # the squared distance of each record without a group from the nearest of the group
        near = np.min([left.far_from(p) for p in points], axis=0)
        size = k
        while size < 2 * k - 1 and len(left):
            place = int(near.argmin())
            others = np.delete(left.far_from(left.record(place)), place)
            if not near[place] < gamma**2 * others.min(initial=np.inf):
                break
            mask = np.zeros(len(left), dtype=bool)
            mask[place] = True
            groups[left.remove(mask)] = number
            near = np.minimum(near[~mask], others)
            size += 1
        number += 1
    everyone = _Unassigned(records)
    assigned = groups >= 0
    for place in range(len(left)):
        far = np.where(assigned, everyone.far_from(left.record(place)), np.inf)
        groups[left.ids[place]] = groups[int(far.argmin())]
    return groups


def along_projection(records: MixedRecords, k: int) -> Ints:
    """Make groups of k in the order of the first principal component; the last takes the rest.

    >>> along_projection(MixedRecords.of([[1, 9, 2, 8, 3], [2, 8, 1, 9, 3]]), 2).tolist()
    [0, 1, 0, 1, 1]
    """
    require(
        not records.categories and len(records.numbers),
        "a projection needs quasi-identifiers of numbers only",
        hint="--grouping mdav",
    )
    _, groups = _start(records, k)
    vector = np.linalg.eigh(records.numbers @ records.numbers.T)[1][:, -1]
    vector = vector * np.sign(vector[int(np.abs(vector).argmax())])
    order = np.argsort(vector @ records.numbers, kind="stable")
    groups[order] = np.minimum(np.arange(records.size) // k, records.size // k - 1)
    return groups


GROUPINGS: dict[Grouping, Callable[..., Ints]] = {
    "mdav": mdav,
    "v-mdav": v_mdav,
    "projection": along_projection,
}


def _start(records: MixedRecords, k: int) -> tuple[_Unassigned, Ints]:
    """Check k; return all records as unassigned, and the number of each record's group, -1."""
    check_whole(k, "the size of a group", least=1)
    require(
        records.size >= k,
        "fewer records than a group needs",
        hint="a smaller --group",
        error=InputError,
    )
    return _Unassigned(records), np.full(records.size, -1, dtype=np.int64)


def _nearest(far: Floats, k: int) -> Bools:
    """Choose the k records at the least distance; of equal distances the first ones."""
    edge = np.partition(far, k - 1)[k - 1]
    chosen = far < edge
    chosen[np.flatnonzero(far == edge)[: k - int(chosen.sum())]] = True
    return np.asarray(chosen)
