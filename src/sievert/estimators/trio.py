"""An original, its release and a secret counted together: what was lost, and how to shuffle."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.errors import UsageError
from sievert.estimators.cached import cached_value
from sievert.estimators.contingency import (
    ContingencyTable,
    count_keys,
    dense,
    jackknife,
    total,
    validate_codes,
    weights,
)
from sievert.estimators.permutation import ShuffleLayout, TableBlocks, few, small
from sievert.measures import kernel
from sievert.numerics.gamma import divergence


@dataclass(frozen=True, eq=False)
class Trio:
    """Pairs of an original and a released value, and how many records of each have a secret.

    Pairs have the codes `x` and `c` and a size; a cell is a pair, a code of the secret, a count.
    """

    before: ContingencyTable
    after: ContingencyTable
    x: Ints
    c: Ints
    sizes: Ints
    pair: Ints
    y: Ints
    counts: Ints

    @classmethod
    def from_codes(
        cls,
        original: Any,
        released: Any,
        secret: Any,
        before: ContingencyTable,
        after: ContingencyTable,
    ) -> Trio:
        """Counted; from what is counted already where each original value has one released."""
        x, c, y = validate_codes(original), validate_codes(released), validate_codes(secret)
        if not len(x) == len(c) == len(y):
            raise UsageError("an original, its release and a secret have one place a record each")
        sides = ((x, before.first), (c, after.first), (y, before.second))
        if not np.array_equal(before.second, after.second) or not all(
            np.array_equal(np.bincount(codes), sizes) for codes, sizes in sides
        ):
            raise UsageError("what is counted already is not of these records")
        only = np.zeros(len(before.first), dtype=np.int64)
        only[x] = c
        if np.array_equal(only[x], c):
            kept = np.flatnonzero(before.first)
            rank = np.cumsum(before.first > 0) - 1
            codes, y = before.codes
            return cls(
                before, after, kept, only[kept], before.first[kept], rank[codes], y, before.counts
            )
        pairs, sizes, pair = _rank_keys(
            x * len(after.first) + c, len(before.first) * len(after.first)
        )
        values = len(before.second)
        keys, counts = count_keys(pair * values + y, len(pairs) * values)
        return cls(
            before,
            after,
            pairs // len(after.first),
            pairs % len(after.first),
            sizes,
            keys // values,
            keys % values,
            counts,
        )

    @property
    def plain(self) -> bool:
        """Whether each original value has one released value."""
        return self.counts is self.before.counts

    @property
    def fixed(self) -> bool:
        """Whether each released value has one original value: shuffles change nothing."""
        return len(self.c) == np.count_nonzero(self.after.first)

    @cached_value
    def _places(self) -> tuple[Ints, Ints]:
        """Where the cells are among those of the original, and of the release."""
        values = len(self.before.second)
        there = np.searchsorted(self.after.keys, self.c[self.pair] * values + self.y)
        if self.plain:
            return np.arange(len(self.counts)), there
        return np.searchsorted(self.before.keys, self.x[self.pair] * values + self.y), there

    @cached_value
    def hidden(self) -> float:
        """I(X;Y|X'): what the original tells beyond its release, in bits."""
        return self._within(self.c, self.after.counts[self._places[1]], self.after.first)

    def lost(self) -> float:
        """I(X;Y) - I(X';Y) = I(X;Y|X') - I(X';Y|X), in bits: not below 0 where X' knows X alone."""
        return self.hidden if self.plain else self.hidden - self.exchanged().hidden

    def exchanged(self) -> Trio:
        """Original and release with their parts exchanged."""
        return replace(self, before=self.after, after=self.before, x=self.c, c=self.x)

    def _within(self, groups: Ints, second: Ints, wholes: Ints) -> float:
        """I of the pair and the secret within groups, in bits, as `measures.kernel` has it."""
        group = groups[self.pair]
        whole = wholes[group]
        expected = self.sizes[self.pair] * second
        excess = self.counts * whole - expected
        if not np.any(excess):
            return 0.0
        terms = expected / whole * divergence(excess / expected)
        covered = np.bincount(group, weights=expected, minlength=len(wholes))
        occupied = wholes > 0
        size = wholes[occupied].astype(np.float64)
        empty = np.maximum(0.0, size * size - covered[occupied]) / size
        return total(np.concatenate((terms, empty))) / self.before.records / kernel.LN2

    def standard_error(self) -> float:
        """How far the loss strays over samples, by leaving out each record, in bits."""
        pairs = ((self.before, self._places[0]), (self.after, self._places[1]))
        before, after = (self._weights(joint, at) for joint, at in pairs)
        return jackknife(before - after, self.counts, self.before.records)

    def _weights(self, joint: ContingencyTable, at: Ints) -> Floats:
        codes = joint.codes[0][at]
        return weights(
            joint.counts[at], joint.first[codes], joint.second[self.y], self.before.records
        )

    def plan(self) -> ShuffleLayout | TableBlocks:
        """The secret is shuffled within each released value; cells are of pairs and secrets."""
        by = np.lexsort((self.x, -self.sizes, self.c))
        c, sizes = self.c[by], self.sizes[by]
        firsts = np.searchsorted(c, np.flatnonzero(self.after.first))
        tables = self._tables(sizes, firsts)
        if tables is not None:
            return tables
        values = len(self.after.second)
        codes = np.repeat(self.after.codes[1].astype(few(values)), self.after.counts)
        return ShuffleLayout.from_blocks(codes, values, sizes, firsts)

    def _tables(self, sizes: Ints, firsts: Ints) -> TableBlocks | None:
        """One table a released value; None where they have too many cells."""
        shape = len(sizes), len(self.before.second)
        if not small(TableBlocks(shape, ()), self.before.records):
            return None
        classes, y = self.after.codes
        cuts = np.flatnonzero(np.diff(classes)) + 1
        blocks = zip(
            np.split(np.arange(len(sizes)), firsts[1:]),
            np.split(sizes, firsts[1:]),
            np.split(y, cuts),
            np.split(self.after.counts, cuts),
            strict=True,
        )
        tables = TableBlocks(shape, tuple(blocks))
        return tables if small(tables, self.before.records) else None


def _rank_keys(keys: Ints, bound: int) -> tuple[Ints, Ints, Ints]:
    """The different keys, how often each occurs, and for every key its rank among them."""
    if not dense(keys, bound):
        distinct, rank, counts = np.unique(keys, return_inverse=True, return_counts=True)
        return distinct, counts, rank
    counts = np.bincount(keys)
    distinct = np.flatnonzero(counts)
    place = np.zeros(len(counts), dtype=np.int64)
    place[distinct] = np.arange(len(distinct))
    return distinct, counts[distinct], place[keys]
