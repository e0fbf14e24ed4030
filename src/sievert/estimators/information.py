"""Mutual information of two columns, and what a release has lost of it, with all beside it."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from sievert.arrays import Ints
from sievert.errors import require
from sievert.estimators.contingency import (
    ContingencyTable,
    cached_value,
    count_keys,
    dense,
    jackknife,
    total,
    validate_codes,
    weights,
)
from sievert.estimators.permutation import (
    ShuffleLayout,
    ShuffleTest,
    TableBlocks,
    few,
    independent,
    shuffle_test,
    small,
)
from sievert.measures import kernel
from sievert.numerics.special_functions import NORMAL_QUANTILE, divergence


@dataclass(frozen=True, eq=False, kw_only=True)
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
    ) -> Self:
        """Counted; from what is counted already where each original value has one released."""
        x = validate_codes(original)
        c = validate_codes(released)
        y = validate_codes(secret)
        require(
            len(x) == len(c) == len(y),
            "an original, its release and a secret have one place a record each",
        )
        sides = ((x, before.first), (c, after.first), (y, before.second))
        require(
            np.array_equal(before.second, after.second)
            and all(np.array_equal(np.bincount(codes), sizes) for codes, sizes in sides),
            "what is counted already is not of these records",
        )
        only = np.zeros(len(before.first), dtype=np.int64)
        only[x] = c
        if np.array_equal(only[x], c):
            kept = np.flatnonzero(before.first)
            rank = np.cumsum(before.first > 0) - 1
            codes, y = before.codes
            return cls(
                before=before,
                after=after,
                x=kept,
                c=only[kept],
                sizes=before.first[kept],
                pair=rank[codes],
                y=y,
                counts=before.counts,
            )
        pairs, sizes, pair = _rank_keys(
            x * len(after.first) + c, len(before.first) * len(after.first)
        )
        values = len(before.second)
        keys, counts = count_keys(pair * values + y, len(pairs) * values)
        return cls(
            before=before,
            after=after,
            x=pairs // len(after.first),
            c=pairs % len(after.first),
            sizes=sizes,
            pair=keys // values,
            y=keys % values,
            counts=counts,
        )

    @property
    def plain(self) -> bool:
        """Whether each original value has one released value."""
        return self.counts is self.before.counts

    @cached_value
    def _places(self) -> tuple[Ints, Ints]:
        """Where the cells are among those of the original, and of the release."""
        values = len(self.before.second)
        there = np.searchsorted(self.after.keys, self.c[self.pair] * values + self.y)
        if self.plain:
            return np.arange(len(self.counts)), there
        return np.searchsorted(self.before.keys, self.x[self.pair] * values + self.y), there

    @cached_value
    def hidden_information(self) -> float:
        """I(X;Y|X'): what the original tells beyond its release, in bits."""
        return self._within(self.c, self.after.counts[self._places[1]], self.after.first)

    def lost(self) -> float:
        """I(X;Y) - I(X';Y) = I(X;Y|X') - I(X';Y|X), in bits: not below 0 where X' knows X alone."""
        return (
            self.hidden_information
            if self.plain
            else self.hidden_information - self.exchange().hidden_information
        )

    def exchange(self) -> Self:
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
        records = self.before.records
        before, after = (
            weights(t.counts[at], t.first[t.codes[0][at]], t.second[self.y], records)
            for t, at in zip((self.before, self.after), self._places, strict=True)
        )
        return jackknife(before - after, self.counts, records)

    def plan(self) -> ShuffleLayout | TableBlocks:
        """The secret is shuffled within each released value; cells are of pairs and secrets."""
        by = np.lexsort((self.x, -self.sizes, self.c))
        c = self.c[by]
        sizes = self.sizes[by]
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
    return distinct, counts[distinct], (np.cumsum(counts > 0) - 1)[keys]


ROWS_PER_CELL = 5  # below, most cells of a table are an accident
NOISE = 0.2  # share of the value that chance may have
UNSHUFFLED = "too few records a cell for a loss without shuffles"
ALL_DIFFERENT = "most released records are different, and not by their original values alone"
TELLS_MORE = "the release tells more than its original, beyond chance: not made from it alone"


@dataclass(frozen=True, kw_only=True)
class InformationEstimate:
    """A mutual information, or a difference of two, of some records, in bits.

    `value` is exact for these records; `chance` is what it would be on average if the two columns
    had nothing to do with each other; `corrected` is the rest. `interval` is the spread of
    `corrected` over samples. Of a difference `cells` is the larger of the two numbers of cells.

    Of a loss that was shuffled `chance` is what chance alone makes of no loss, so that `corrected`
    is its excess; else it is a difference of two, which takes too much from a sparse original.
    """

    value: float
    miller_madow: float
    chance: float
    p_value: float | None  # None without shuffles
    records: int
    cells: int
    maximum: float
    standard_error: float
    shuffles: int = 0
    level: float = 0.95
    excess: float | None = None  # of a loss: less what shuffles make of no loss
    recoded: bool | None = None  # of a loss: by values alone, so that none can be negative
    scattered: bool = False  # of a loss: not so, and with most released records different

    @property
    def corrected(self) -> float:
        """The value without what chance gives."""
        return self.value - self.chance

    @property
    def beyond(self) -> float:
        """What is beyond chance: of a loss its excess, where it was shuffled."""
        return self.corrected if self.excess is None else self.excess

    @property
    def interval(self) -> tuple[float, float]:
        """Where the corrected values of most other samples lie.

        Of a loss without shuffles it reaches to Miller and Madow's value; no recoding gains.
        """
        half = NORMAL_QUANTILE * self.standard_error
        unshuffled = self.recoded is not None and self.excess is None
        ends = (self.corrected, self.miller_madow if unshuffled else self.corrected)
        low = min(ends) - half
        high = max(ends) + half
        return (max(0.0, low), max(0.0, high)) if self.recoded else (low, high)

    @property
    def reason(self) -> str | None:
        """Of a loss: why its corrected value is no estimate of it; None where it is one."""
        low, high = self.interval
        if self.scattered:  # shuffles among records that are alike change nothing
            return ALL_DIFFERENT
        if self.recoded is None or high < 0:
            return None if self.recoded is None else TELLS_MORE
        return UNSHUFFLED if self.excess is None and self.corrected < low else None

    @property
    def rows_per_cell(self) -> float:
        """Records of an occupied cell, on average."""
        return self.records / self.cells

    @property
    def share(self) -> float | None:
        """The value as a share of the most it could be; None where that is nothing."""
        return self.value / self.maximum if self.maximum else None

    @property
    def noisy(self) -> bool:
        """Whether the value is not to be read without the corrected one."""
        return self.records < ROWS_PER_CELL * self.cells or abs(self.chance) > NOISE * abs(
            self.value
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as JSON holds them."""
        excess = {} if self.excess is None else {"excess": self.excess}
        reason = {} if self.reason is None else {"reason": self.reason}
        return (
            excess
            | reason
            | {
                "value": self.value,
                "corrected": self.corrected,
                "chance": self.chance,
                "miller_madow": self.miller_madow,
                "p_value": self.p_value,
                "rows_per_cell": self.rows_per_cell,
                "interval": list(self.interval),
                "maximum": self.maximum,
                "share": self.share,
                "standard_error": self.standard_error,
                "shuffles": self.shuffles,
                "noise": self.noisy,
            }
        )


def information(
    first: Any,
    second: Any,
    *,
    shuffles: int = 99,
    seed: int = 0,
    maximum: float | None = None,
    threads: int | None = None,
) -> InformationEstimate:
    """I of two columns of codes, one place a record.

    >>> found = information([0, 0, 1, 1] * 50, [0, 0, 1, 2] * 50)
    >>> found.value, found.maximum, found.p_value, found.noisy
    (1.0, 1.5, 0.01, False)
    """
    return estimate(
        ContingencyTable.from_codes(first, second),
        shuffles=shuffles,
        seed=seed,
        maximum=maximum,
        threads=threads,
    )


def estimate(
    joint: ContingencyTable,
    *,
    shuffles: int = 99,
    seed: int = 0,
    maximum: float | None = None,
    threads: int | None = None,
) -> InformationEstimate:
    """I of two columns that are counted already."""
    p = None
    if shuffles:
        plan = independent(joint)
        p = shuffle_test(joint.counts, joint.information, plan, shuffles, seed, threads=threads).p
    return InformationEstimate(
        value=joint.information,
        miller_madow=joint.miller_madow,
        chance=joint.chance,
        p_value=p,
        records=joint.records,
        cells=joint.cells,
        maximum=joint.entropy if maximum is None else maximum,
        standard_error=joint.standard_error,
        shuffles=shuffles,
    )


def lost(
    original: Any,
    released: Any,
    secret: Any,
    *,
    shuffles: int = 99,
    seed: int = 0,
    threads: int | None = None,
    before: ContingencyTable | None = None,
    after: ContingencyTable | None = None,
) -> InformationEstimate:
    """I(X;Y) - I(X';Y) of an original, its release and a secret, as codes, one place a record.

    `before` and `after` are the original and the release counted with the secret, if they are.
    The p-value is for no loss: the secret is shuffled within what was released. `excess` is the
    value less the mean of these shuffles, which is what chance alone makes of no loss.

    >>> found = lost([0, 1, 2, 3] * 50, [0, 0, 1, 1] * 50, [0, 0, 1, 2] * 50)
    >>> found.value, found.maximum, found.p_value
    (0.5, 1.5, 0.01)
    """
    before = ContingencyTable.from_codes(original, secret) if before is None else before
    after = ContingencyTable.from_codes(released, secret) if after is None else after
    trio = Trio.from_codes(original, released, secret, before, after)
    p = excess = None
    if shuffles:
        test = _loss_test(trio, shuffles, seed, threads)
        p = test.p
        excess = test.above
        if not trio.plain:  # what the release tells beyond the original: by chance, or by mistake
            excess -= _loss_test(trio.exchange(), shuffles, seed, threads).above
    value = trio.lost()
    return InformationEstimate(
        value=value,
        miller_madow=value + (before.excess - after.excess),
        chance=before.chance - after.chance if excess is None else value - excess,
        p_value=p,
        records=before.records,
        cells=max(before.cells, after.cells),
        maximum=before.information,
        standard_error=trio.standard_error(),
        shuffles=shuffles,
        excess=excess,
        recoded=trio.plain,
        scattered=not trio.plain and 2 * int(np.count_nonzero(after.first)) > after.records,
    )


def _loss_test(trio: Trio, shuffles: int, seed: int, threads: int | None) -> ShuffleTest:
    # Where each released value has one original value, shuffles change nothing.
    fixed = len(trio.c) == np.count_nonzero(trio.after.first)
    if fixed and shuffles > 0:
        return ShuffleTest(1.0, 0.0)
    told = trio.hidden_information
    return shuffle_test(trio.counts, told, trio.plan(), shuffles, seed, threads=threads)
