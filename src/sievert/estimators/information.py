"""Estimates of the mutual information of two columns, and of its loss in a release."""

from collections.abc import Mapping
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
    PER_CELL,
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
    """Records by their original value, their released value and their secret.

    A pair of an original and a released value has the codes `x` and `c` and a size. A cell is a
    pair, a code `y` of the secret, and a count.
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
        """Count records; the `before` counts are enough if each original value has one released."""
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
        """Say whether each original value has one released value."""
        return self.counts is self.before.counts

    @cached_value
    def _places(self) -> tuple[Ints, Ints]:
        """The place of each cell among the cells of the original, and of the release."""
        values = len(self.before.second)
        there = np.searchsorted(self.after.keys, self.c[self.pair] * values + self.y)
        if self.plain:
            return np.arange(len(self.counts)), there
        return np.searchsorted(self.before.keys, self.x[self.pair] * values + self.y), there

    @cached_value
    def hidden_information(self) -> float:
        """I(X;Y|X'): the information of the original beyond its release, in bits."""
        return self._within(self.c, self.after.counts[self._places[1]], self.after.first)

    def lost(self) -> float:
        """I(X;Y) - I(X';Y) = I(X;Y|X') - I(X';Y|X), in bits; at least 0 if X determines X'."""
        if self.plain:
            return self.hidden_information
        return self.hidden_information - self.exchange().hidden_information

    def exchange(self) -> Self:
        """Exchange the roles of the original and the release."""
        return replace(self, before=self.after, after=self.before, x=self.c, c=self.x)

    def _within(self, groups: Ints, second: Ints, wholes: Ints) -> float:
        """I of the pair and the secret within groups, in bits, computed as in `measures.kernel`."""
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
        """The standard error of the loss, by the jackknife over records, in bits."""
        records = self.before.records
        before, after = (
            weights(t.counts[at], t.first[t.codes[0][at]], t.second[self.y], records)
            for t, at in zip((self.before, self.after), self._places, strict=True)
        )
        return jackknife(before - after, self.counts, records)

    def plan(self, per_cell: int = PER_CELL) -> ShuffleLayout | TableBlocks:
        """Plan shuffles of the secret within each released value; cells are pairs with a secret.

        Tables are drawn as a whole from `per_cell` records per cell on.
        """
        by = np.lexsort((self.x, -self.sizes, self.c))
        c = self.c[by]
        sizes = self.sizes[by]
        firsts = np.searchsorted(c, np.flatnonzero(self.after.first))
        tables = self._tables(sizes, firsts, per_cell)
        if tables is not None:
            return tables
        values = len(self.after.second)
        codes = np.repeat(self.after.codes[1].astype(few(values)), self.after.counts)
        return ShuffleLayout.from_blocks(codes, values, sizes, firsts)

    def _tables(self, sizes: Ints, firsts: Ints, per_cell: int) -> TableBlocks | None:
        """Plan one table per released value; None if the tables have too many cells."""
        shape = (len(sizes), len(self.before.second))
        if not small(TableBlocks(shape, ()), self.before.records, per_cell):
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
        return tables if small(tables, self.before.records, per_cell) else None


def _rank_keys(keys: Ints, bound: int) -> tuple[Ints, Ints, Ints]:
    """The distinct keys, the number of occurrences of each, and the rank of every key."""
    if not dense(keys, bound):
        distinct, rank, counts = np.unique(keys, return_inverse=True, return_counts=True)
        return distinct, counts, rank
    counts = np.bincount(keys)
    distinct = np.flatnonzero(counts)
    return distinct, counts[distinct], (np.cumsum(counts > 0) - 1)[keys]


ROWS_PER_CELL = 5  # with fewer, most cells of a table occur by chance
NOISE = 0.2  # largest share of the value that may be due to chance
UNSHUFFLED = "too few records a cell for a loss without shuffles"
ALL_DIFFERENT = "most released records are different, and not by their original values alone"
TELLS_MORE = "the release tells more than its original, beyond chance: not made from it alone"


@dataclass(frozen=True, kw_only=True)
class InformationEstimate:
    """A mutual information, or a difference of two, of some records, in bits.

    `value` is exact for these records, `chance` is its mean for independent columns, and
    `corrected` is their difference. `interval` is the spread of `corrected` over samples. `cells`
    of a difference is the larger of the two numbers of cells.

    The `chance` of a loss with shuffles is the mean loss that is measured where nothing was lost,
    so that `corrected` is the excess over it. Without shuffles it is a difference of two means,
    which is too large for a sparse original.
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
    excess: float | None = None  # of a loss: the value less the mean of shuffles
    recoded: bool | None = None  # of a loss: by values alone, so that it cannot be negative
    scattered: bool = False  # of a loss: not recoded, and most released records are different

    @property
    def corrected(self) -> float:
        """The value less its mean by chance."""
        return self.value - self.chance

    @property
    def beyond(self) -> float:
        """The information beyond chance; for a loss with shuffles, its excess."""
        return self.corrected if self.excess is None else self.excess

    @property
    def interval(self) -> tuple[float, float]:
        """The interval in which the corrected values of 95 % of other samples lie.

        The interval of a loss without shuffles also contains Miller and Madow's value. The loss of
        a recoding is never negative.
        """
        half = NORMAL_QUANTILE * self.standard_error
        unshuffled = self.recoded is not None and self.excess is None
        ends = (self.corrected, self.miller_madow if unshuffled else self.corrected)
        low = min(ends) - half
        high = max(ends) + half
        return (max(0.0, low), max(0.0, high)) if self.recoded else (low, high)

    @property
    def reason(self) -> str | None:
        """The reason why the corrected value of a loss is no estimate of it; None if it is one."""
        low, high = self.interval
        if self.scattered:  # shuffles among records that are alike change nothing
            return ALL_DIFFERENT
        if self.recoded is None:
            return None
        if high < 0:
            return TELLS_MORE
        return UNSHUFFLED if self.excess is None and self.corrected < low else None

    @property
    def rows_per_cell(self) -> float:
        """The mean number of records per occupied cell."""
        return self.records / self.cells

    @property
    def share(self) -> float | None:
        """The value as a share of its maximum; None if the maximum is 0."""
        return self.value / self.maximum if self.maximum else None

    @property
    def noisy(self) -> bool:
        """Say whether the value must not be read without the corrected one."""
        sparse = self.records < ROWS_PER_CELL * self.cells
        return sparse or abs(self.chance) > NOISE * abs(self.value)

    def to_dict(self) -> dict[str, Any]:
        """The estimate as JSON."""
        return _estimate_content(self)


@dataclass(frozen=True, kw_only=True)
class SavedEstimate:
    """An estimate as its JSON has it, which states what would follow from the records."""

    value: float
    corrected: float
    chance: float
    miller_madow: float | None
    p_value: float | None
    rows_per_cell: float | None
    interval: tuple[float, float]
    maximum: float
    share: float | None
    standard_error: float | None
    shuffles: int
    noisy: bool
    excess: float | None
    reason: str | None

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "SavedEstimate":
        """Read an estimate back from the JSON."""
        low, high = data["interval"]
        return cls(
            value=data["value"],
            corrected=data["corrected"],
            chance=data["chance"],
            miller_madow=data.get("miller_madow"),
            p_value=data["p_value"],
            rows_per_cell=data.get("rows_per_cell"),
            interval=(low, high),
            maximum=data["maximum"],
            share=data.get("share"),
            standard_error=data.get("standard_error"),
            shuffles=data.get("shuffles", 0),
            noisy=data.get("noise", False),
            excess=data.get("excess"),
            reason=data.get("reason"),
        )

    @property
    def beyond(self) -> float:
        """The information beyond chance; for a loss with shuffles, its excess."""
        return self.corrected if self.excess is None else self.excess

    def to_dict(self) -> dict[str, Any]:
        """The estimate as JSON."""
        return _estimate_content(self)


def _estimate_content(estimate: InformationEstimate | SavedEstimate) -> dict[str, Any]:
    """The JSON of an estimate."""
    content: dict[str, Any] = {}
    if estimate.excess is not None:
        content["excess"] = estimate.excess
    if estimate.reason is not None:
        content["reason"] = estimate.reason
    return content | {
        "value": estimate.value,
        "corrected": estimate.corrected,
        "chance": estimate.chance,
        "miller_madow": estimate.miller_madow,
        "p_value": estimate.p_value,
        "rows_per_cell": estimate.rows_per_cell,
        "interval": list(estimate.interval),
        "maximum": estimate.maximum,
        "share": estimate.share,
        "standard_error": estimate.standard_error,
        "shuffles": estimate.shuffles,
        "noise": estimate.noisy,
    }


def information(
    first: Any,
    second: Any,
    *,
    shuffles: int = 99,
    seed: int = 0,
    maximum: float | None = None,
    threads: int | None = None,
) -> InformationEstimate:
    """Estimate I of two columns of codes, one code per record.

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
    """Estimate I of two columns that are counted already."""
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


def information_lost(
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
    """Estimate I(X;Y) - I(X';Y) of an original, its release and a secret, one code per record.

    `before` and `after` are counts of the original and of the release with the secret, if they
    are known. The p-value tests that nothing is lost: the secret is shuffled within each released
    value. `excess` is the value less the mean of these shuffles.

    >>> found = information_lost([0, 1, 2, 3] * 50, [0, 0, 1, 1] * 50, [0, 0, 1, 2] * 50)
    >>> found.value, found.maximum, found.p_value
    (0.5, 1.5, 0.01)
    """
    before = ContingencyTable.from_codes(original, secret) if before is None else before
    after = ContingencyTable.from_codes(released, secret) if after is None else after
    trio = Trio.from_codes(original, released, secret, before, after)
    p = None
    excess = None
    if shuffles:
        test = _loss_test(trio, shuffles, seed, threads)
        p = test.p
        excess = test.above
        if not trio.plain:  # subtract the information of the release beyond the original
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
    bits = trio.hidden_information
    return shuffle_test(trio.counts, bits, trio.plan(), shuffles, seed, threads=threads)
