"""What a search is given of a secret, and what it returns: levels, and suppressed classes."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sievert.arrays import Bools, Ints
from sievert.methods.full_domain.columns import LevelledColumn
from sievert.methods.full_domain.losses import Losses
from sievert.methods.full_domain.rules import Rule


@dataclass(frozen=True, eq=False, kw_only=True)
class SecretCells:
    """A secret beside the combinations: per cell its combination, its value and its records.

    Values are numbered in their order, where the secret has one. `tree[l]` is the label of every
    value on level l of a hierarchy of the secret, level 0 the values themselves. People are given
    as a secret without a name: each is a value, and a rule on distinct values counts them.
    """

    name: str | None
    combination: Ints
    value: Ints
    counts: Ints
    values: int
    rules: tuple[Rule, ...] = ()
    tree: Ints | None = None
    missing: int = -1

    def totals(self) -> Ints:
        """How many records of the table have each value."""
        return np.bincount(self.value, self.counts, self.values).astype(np.int64)

    def known_totals(self) -> Ints:
        """The same, with none for the missing value."""
        totals = self.totals()
        if self.missing >= 0:
            totals[self.missing] = 0
        return totals


@dataclass(frozen=True, eq=False, kw_only=True)
class FullDomainRecoding:
    """Levels for all columns, and the classes that are suppressed."""

    columns: tuple[LevelledColumn, ...]
    levels: tuple[int, ...]
    lows: tuple[int, ...]  # where the field of each column begins in the key of a class
    class_keys: Ints
    suppressed_classes: Bools
    suppressed_records: int
    classes: int
    measure_losses: Callable[[], Losses]
    loss: float  # the one that was minimised
    proven: bool
    bound: float  # no recoding that holds the rules loses less
    nodes: int
    visited: int

    @cached_property
    def losses(self) -> Losses:
        """What it loses, by every definition: most recodings that are judged are not asked."""
        return self.measure_losses()

    @property
    def hierarchy_levels(self) -> tuple[int, ...]:
        """The levels as the hierarchies number them, whatever the search started from."""
        return tuple(c.floor + level for c, level in zip(self.columns, self.levels, strict=True))

    def labels(self, codes: Ints) -> Ints:
        """The number of the label of every value: `codes[i, j]` numbers that of column j."""
        columns = zip(self.columns, self.levels, codes.T, strict=True)
        return np.stack([column.tables[level][own] for column, level, own in columns], axis=1)

    def class_numbers(self, codes: Ints) -> Ints:
        """The place of the class of each of these combinations of values, which were counted."""
        keys = np.zeros(len(codes), dtype=np.uint64)
        for labels, low in zip(self.labels(codes).T, self.lows, strict=True):
            keys |= labels.astype(np.uint64) << np.uint64(low)
        return np.searchsorted(self.class_keys, keys)

    def suppresses(self, codes: Ints) -> Bools:
        """Which of these combinations of values are suppressed; each of them was counted."""
        if not self.suppressed_classes.any():
            return np.zeros(len(codes), dtype=bool)
        return self.suppressed_classes[self.class_numbers(codes)]
