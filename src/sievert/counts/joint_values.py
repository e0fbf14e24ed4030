"""The values of a secret that are left for each person in several releases of the same people.

Somebody who knows a person's class in a release knows that the secret is one of the values of that
class. If it stays the same, it is one of the values that all of the person's classes have.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sievert.arrays import Bools, Ints
from sievert.counts.cube import run_starts
from sievert.counts.joint_classes import ABSENT, PatternsOfRows

MISSING = 0  # the number of a value that is not there
FEW = 512  # values up to which the set of a class is a bit for each value
AT_ONCE = 1 << 23  # values that are looked at together


class ValueSets:
    """The known values of a secret in every class of one release, and whether some are missing."""

    def __init__(self, classes: Ints, values: Ints, number: int) -> None:
        """Read classes and values, numbered from 0, row by row; `number` values are possible."""
        self.number = number
        known = values != MISSING
        rows = int(classes.max()) + 1
        keys = np.sort(classes[known].astype(np.int64) * number + values[known])
        self.keys = keys[run_starts(keys)] if len(keys) else keys
        self.sizes = np.bincount(self.keys // number, minlength=rows)
        self.starts = np.cumsum(self.sizes) - self.sizes
        self.lacks = np.bincount(classes[~known], minlength=rows) > 0

    def words(self, word: int) -> Ints:
        """The 64 values of one word as bits, for every class."""
        classes, values = np.divmod(self.keys, self.number)
        here = values >> 6 == word
        bits = np.zeros(len(self.sizes), dtype=np.uint64)
        np.bitwise_or.at(bits, classes[here], np.uint64(1) << (values[here] & 63).astype(np.uint64))
        return bits

    def have(self, classes: Ints, values: Ints) -> Bools:
        """Whether each of some classes has a value."""
        keys = classes * self.number + values
        if not len(self.keys):
            return np.zeros(len(keys), dtype=bool)
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.asarray(self.keys[place] == keys)


def values_of_patterns(sets: ValueSets, release: PatternsOfRows) -> ValueSets:
    """The known values that all classes of a pattern have, for each pattern of a release.

    If they have none in common, the rows of a person differ or some values are missing. Then it is
    the values of the smallest class that has any.

    >>> from sievert.counts.joint_classes import find_patterns
    >>> sets = ValueSets(np.array([0, 0, 1, 1]), np.array([1, 2, 2, 3]), 4)
    >>> people, classes = np.array([0, 1, 1]), np.array([0, 0, 1])
    >>> release = find_patterns(people, classes, np.ones_like(people))
    >>> values_of_patterns(sets, release).keys.tolist()
    [1, 2, 6]
    """
    of_class = np.repeat(np.arange(len(release.often)), release.often)
    sizes = sets.sizes[release.classes]
    order = np.lexsort((np.where(sizes > 0, sizes, np.iinfo(np.int64).max), of_class))
    smallest = release.classes[order[release.starts]]
    least = sets.sizes[smallest]
    owner = np.repeat(np.arange(len(least)), least)
    within = np.arange(len(owner)) - np.repeat(np.cumsum(least) - least, least)
    values = sets.keys[sets.starts[smallest][owner] + within] % sets.number
    alive = np.ones(len(owner), dtype=bool)
    left = np.flatnonzero(release.often[owner] > 1)
    step = 0
    while len(left):
        classes = release.classes[release.starts[owner[left]] + step]
        alive[left] &= sets.have(classes, values[left])
        step += 1
        left = left[release.often[owner[left]] > step]
    alive |= (np.bincount(owner[alive], minlength=len(least)) == 0)[owner]
    lacking = np.unique(of_class[sets.lacks[release.classes]])
    return ValueSets(
        np.concatenate([owner[alive], lacking]),
        np.concatenate([values[alive], np.full(len(lacking), MISSING)]),
        sets.number,
    )


@dataclass(frozen=True, eq=False)
class CommonValues:
    """The number of values left for people with some classes: together, and by one release alone.

    `none_common` marks the combinations whose classes have no known value in common: it was
    missing, or it has changed. For them the smallest set counts that consecutive releases have in
    common; a missing value may be any value there.
    """

    together: Ints
    alone: Ints
    none_common: Bools


def count_common_values(
    joint: Sequence[Ints], sets: Sequence[ValueSets], few: int = FEW
) -> CommonValues:
    """Count the values that classes in several releases have in common, for each combination.

    Every combination has a class in at least one of the releases. With at most `few` values, the
    set of a class is a bit for each value.

    >>> first = ValueSets(np.array([0, 0, 1, 1]), np.array([1, 2, 1, 2]), 4)
    >>> second = ValueSets(np.array([0, 0, 1, 1]), np.array([1, 3, 2, 3]), 4)
    >>> joint = np.array([0, 0, 1]), np.array([0, 1, ABSENT])
    >>> count_common_values(joint, [first, second]).together.tolist()
    [1, 1, 2]
    """
    sizes = np.stack(
        [np.where(c == ABSENT, 0, s.sizes[c]) for c, s in zip(joint, sets, strict=True)]
    )
    alone = np.where(sizes > 0, sizes, np.iinfo(np.int64).max).min(axis=0)
    alone[alone == np.iinfo(np.int64).max] = 1  # nothing but missing values
    together = _common(joint, sets, few)
    none_common = together == 0
    rest = np.flatnonzero(none_common)
    if len(rest):
        joint_rest = [classes[rest] for classes in joint]
        together[rest] = _smallest_of_runs(joint_rest, sets, alone[rest], few)
    return CommonValues(together, alone, none_common)


def _smallest_of_runs(
    joint: Sequence[Ints], sets: Sequence[ValueSets], smallest: Ints, few: int
) -> Ints:
    """The size of the smallest set, not empty, that some consecutive releases have in common."""
    any_value = [
        np.where((c != ABSENT) & s.lacks[c], ABSENT, c) for c, s in zip(joint, sets, strict=True)
    ]
    for first in range(len(sets)):
        for last in range(first + 2, len(sets) + 1):
            for reading in (joint, any_value):
                common = _common(reading[first:last], sets[first:last], few)
                smallest = np.where(common > 0, np.minimum(smallest, common), smallest)
    return smallest


def _common(joint: Sequence[Ints], sets: Sequence[ValueSets], few: int) -> Ints:
    """Count the known values that all classes of each combination have; 0 without a class."""
    if sets[0].number <= few:
        return _common_bits(joint, sets)
    absent = np.iinfo(np.int64).max
    sizes = np.stack(
        [np.where(c == ABSENT, absent, s.sizes[c]) for c, s in zip(joint, sets, strict=True)]
    )
    fewest = sizes.argmin(axis=0)
    least = sizes.min(axis=0)
    least[least == absent] = 0
    counts = np.zeros(len(least), dtype=np.int64)
    ends = np.cumsum(least)
    parts = run_starts(ends // AT_ONCE)
    for start, stop in zip(parts, np.append(parts[1:], len(least)), strict=True):
        part = np.arange(start, stop)
        counts[part] = _count_part([c[part] for c in joint], sets, fewest[part], least[part])
    return counts


def _common_bits(joint: Sequence[Ints], sets: Sequence[ValueSets]) -> Ints:
    """Count the common values if there are few values, 64 of them at once."""
    somewhere = np.any([classes != ABSENT for classes in joint], axis=0)
    counts = np.zeros(len(somewhere), dtype=np.int64)
    all_bits = ~np.uint64(0)
    for word in range(-(-sets[0].number // 64)):
        common = np.full(len(counts), all_bits)
        for classes, own in zip(joint, sets, strict=True):
            common &= np.where(classes == ABSENT, all_bits, own.words(word)[classes])
        counts += np.bitwise_count(common)
    return np.where(somewhere, counts, 0)


def _count_part(
    joint: Sequence[Ints], sets: Sequence[ValueSets], fewest: Ints, least: Ints
) -> Ints:
    """Count the common values of some combinations, starting from those of the smallest set."""
    owner = np.repeat(np.arange(len(least)), least)
    within = np.arange(len(owner)) - np.repeat(np.cumsum(least) - least, least)
    values = np.empty(len(owner), dtype=np.int64)
    for place, own in enumerate(sets):
        here = fewest[owner] == place
        classes = joint[place][owner[here]]
        values[here] = own.keys[own.starts[classes] + within[here]] % own.number
    alive = np.ones(len(owner), dtype=bool)
    for classes, own in zip(joint, sets, strict=True):
        of_value = classes[owner]
        here = alive & (of_value != ABSENT)
        alive[here] = own.have(of_value[here], values[here])
    return np.bincount(owner[alive], minlength=len(least))
