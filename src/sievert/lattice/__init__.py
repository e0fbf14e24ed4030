"""Every subset of the quasi-identifiers, counted from the combinations of a larger one.

Subsets are visited depth first, and each is made from the combinations of a subset with one more
column. Columns of many values are dropped first, so that most subsets are made from few cells.
There are never more tables in memory than columns. The loops are compiled by numba, or else run in
NumPy.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from sievert.arrays import Ints
from sievert.counts.answers import PeopleCounts, Sizes
from sievert.counts.cube import (
    MOST_BITS,
    Cube,
    histogram,
    merge_cells,
    narrow_keys,
    pack_codes,
    run_starts,
)
from sievert.measures import kernel
from sievert.numerics.acceleration import compile_loops

ONE_AT_A_TIME = 1 << 27  # numbers of a table from which threads would need too much memory
MOST_VALUES = 64  # values of a secret that have a column each


@dataclass(frozen=True, kw_only=True)
class SubsetSummary:
    """Class sizes of one subset of the columns, and the uncertainty that it leaves about a secret.

    `left` is N·H(S|Q) in bits, `least` the smallest n_q·H(S|q) of a class, `fewest` the fewest
    values of a class, `most` the largest share of a value in a class (as two integers).
    `dependence` is the mutual information if it is too small to be computed as a difference. If
    people have several rows, `records` (in people) and `prior` differ from subset to subset.
    """

    columns: tuple[str, ...]
    sizes: Sizes
    left: float = 0.0
    least: float = 0.0
    fewest: int = 0
    most: tuple[int, int] = (0, 1)
    dependence: float | None = None
    records: int | None = None
    prior: float | None = None
    people: PeopleCounts | None = None


def no_pace() -> None:
    """Do nothing: the default of `pace`."""


class Lattice:
    """Subsets of the columns of a cube; one other column may be a secret."""

    def __init__(
        self, cube: Cube, secret: str | None = None, threads: int = 2, compiled: bool | None = None
    ) -> None:
        quasi = [c for c in cube.columns if c != secret]
        # Columns of many values come first, because they are dropped first.
        width = dict(zip(cube.columns, cube.widths, strict=True))
        self.order = sorted(quasi, key=lambda c: (-width[c], quasi.index(c)))
        self._place = {c: i for i, c in enumerate(quasi)}
        columns = [*self.order, *([secret] if secret else [])]
        self.records = cube.records
        self._widths = [width[c] for c in self.order]
        self._low = width[secret] if secret else 0
        self._threads = threads
        self._fast = compile_loops() is not None if compiled is None else compiled
        self._packable = cube.bits <= MOST_BITS
        self.prior = 0.0
        self._values = 1
        if secret is not None:
            place = cube.columns.index(secret)
            self._values = len(cube.values[place])
            self._totals = cube.totals(place)
            present = self._totals[self._totals > 0]
            self.prior = kernel.entropy(present, np.ones_like(present), self.records)
        self._cells, self._table = self._root(cube, columns)

    def all(self, pace: Callable[[], None] = no_pace) -> dict[tuple[str, ...], SubsetSummary]:
        """Summarise every subset but the empty one; `pace`, called at each, may raise to stop."""
        return {r.columns: r for r in self._everything(pace)}

    def some(self, subsets: Iterable[Sequence[str]]) -> Iterator[SubsetSummary]:
        """Summarise these subsets only, each from the finest combinations."""
        return (self._about(self._direct(subset), subset) for subset in subsets)

    def up_to(self, size: int) -> Iterator[SubsetSummary]:
        """Summarise every subset of at most `size` columns, small ones first."""
        for n in range(1, min(size, len(self._place)) + 1):
            yield from self.some(itertools.combinations(self._place, n))

    # -- making tables --------------------------------------------------------------------------

    def _root(self, cube: Cube, columns: list[str]) -> tuple[Cube, tuple[Any, Any]]:
        """Make the table of the finest cells: one row per class where the secret has few values."""
        if not (self._fast and self._packable):
            cells = cube.roll_up(columns)
            return cells, (cells.keys, cells.counts) if self._packable else (None, None)
        from sievert.lattice import rollup

        places = [cube.columns.index(c) for c in columns]
        lows = [sum(cube.widths[p + 1 :]) for p in places]
        widths = [cube.widths[p] for p in places]
        keys = rollup.fields(cube.keys, np.array(lows, np.int64), np.array(widths, np.int64))
        keys, counts = rollup.merge(keys, cube.counts, sum(widths))
        kind = np.int32 if self.records < 1 << 31 else np.int64
        if not self._low:
            return cube, (keys, counts.astype(kind).reshape(-1, 1))
        classes = len(run_starts(keys >> np.uint64(self._low)))
        if self._values > MOST_VALUES or classes * self._values > 8 * len(keys):
            return cube, (keys, counts)
        matrix = np.zeros((classes, self._values), dtype=kind)
        return cube, (rollup.fill_matrix(keys, counts, self._low, matrix), matrix)

    def _direct(self, subset: Sequence[str]) -> tuple[Any, Any]:
        """Make the table of a subset from the finest cells."""
        kept = [i for i, c in enumerate(self.order) if c in subset]
        keys, counts = self._table
        rows = counts is not None and counts.ndim == 2  # the secret is not a part of the keys
        secret = [self._low] if self._low and not rows else []
        widths = [*(self._widths[i] for i in kept), *secret]
        if self._fast and self._packable:
            from sievert.lattice import rollup

            lows = [sum(self._widths[i + 1 :]) + sum(secret) for i in kept] + [0] * len(secret)
            new = rollup.fields(keys, np.array(lows, np.int64), np.array(widths, np.int64))
            combine = rollup.group_rows if rows else rollup.merge
            return combine(new, counts, sum(widths))
        codes = [self._cells.codes[i] for i in kept]
        if self._low:
            codes.append(self._cells.codes[-1])
        if self._fast:
            return self._direct_wide(codes, widths)
        first, sums = merge_cells(codes, widths, self._cells.counts)
        return self._rank_cells(codes, first, widths), sums

    def _direct_wide(self, codes: list[Ints], widths: list[int]) -> tuple[Any, Any]:
        """Make the table of a subset where all columns together need too many bits for one key."""
        from sievert.lattice import rollup

        counts = self._cells.counts
        end = len(codes) - 1 if self._low else len(codes)
        keys = narrow_keys(codes[:end], widths[:end], len(counts), rollup.rank)
        bits = sum(widths)
        if bits > MOST_BITS:
            if int(keys.max()) >= len(counts):
                keys, _ = rollup.rank(keys)
            bits = len(counts).bit_length() + self._low
        if self._low:
            keys = (keys << np.uint64(self._low)) | codes[-1]
        return rollup.merge(keys, counts, bits)

    def _rank_cells(self, codes: list[Ints], cells: Ints, widths: list[int]) -> Ints:
        """The keys of sorted cells; numbers of the classes if the columns need too many bits."""
        if sum(widths) <= MOST_BITS:
            return pack_codes([c[cells] for c in codes], widths, len(cells))
        differs = np.zeros(len(cells), dtype=bool)
        for column in codes[: -1 if self._low else None]:
            own = column[cells]
            differs[1:] |= own[1:] != own[:-1]
            if differs[1:].all():
                break
        number = np.cumsum(differs).astype(np.uint64) << np.uint64(self._low)
        return number | codes[-1][cells] if self._low else number

    def _everything(self, pace: Callable[[], None]) -> Iterator[SubsetSummary]:
        if not self._packable:
            for summary in self.up_to(len(self._place)):
                pace()
                yield summary
            return
        root = self._table
        places = list(range(len(self.order)))
        yield self._about(root, self._place)
        # The largest subtrees come first, so that the threads end at about the same time.
        with ThreadPoolExecutor(1 if root[1].size > ONE_AT_A_TIME else self._threads) as pool:
            subtrees = pool.map(lambda drop: list(self._below(root, places, drop, pace)), places)
            yield from itertools.chain.from_iterable(list(subtrees))

    def _below(
        self, table: tuple[Any, Any], kept: list[int], drop: int, pace: Callable[[], None]
    ) -> Iterator[SubsetSummary]:
        """Summarise the subset without column `drop`, and its subsets without later columns."""
        if len(kept) == 1:
            return
        pace()
        below = 0 if table[1].ndim == 2 else self._low
        low = below + sum(self._widths[i] for i in kept if i > drop)
        left = [i for i in kept if i != drop]
        bits = below + sum(self._widths[i] for i in left)
        child = self._without(table, low, self._widths[drop], bits)
        yield self._about(child, [self.order[i] for i in left])
        for later in left:
            if later > drop:
                yield from self._below(child, left, later, pace)

    def _without(self, table: tuple[Any, Any], low: int, width: int, bits: int) -> tuple[Any, Any]:
        if self._fast:
            from sievert.lattice import rollup

            keys = rollup.without(table[0], low, width)
            combine = rollup.group_rows if table[1].ndim == 2 else rollup.merge
            return combine(keys, table[1], bits)
        below = np.uint64((1 << low) - 1)
        keys = ((table[0] >> np.uint64(low + width)) << np.uint64(low)) | (table[0] & below)
        first, sums = merge_cells([keys], [bits], table[1])
        return keys[first], sums

    # -- what a table says ----------------------------------------------------------------------

    def _about(self, table: tuple[Any, Any], subset: Iterable[str]) -> SubsetSummary:
        keys, counts = table
        columns = tuple(sorted(subset, key=self._place.__getitem__))
        about = _about_fast if self._fast else _about_plain
        class_sizes, *secret = about(keys, counts, self._low) if self._low else [counts.ravel()]
        sizes = histogram(class_sizes)
        sizes.check(self.records)
        if not secret:
            return SubsetSummary(columns=columns, sizes=sizes)
        left, least, fewest, top, bottom = secret
        close = self.prior - left / self.records < kernel.CANCELLATION * self.prior
        dependence = self._dependence(keys, counts) if close else None
        return SubsetSummary(
            columns=columns,
            sizes=sizes,
            left=left,
            least=least,
            fewest=int(fewest),
            most=(int(top), int(bottom)),
            dependence=dependence,
        )

    def _dependence(self, keys: Ints, counts: Ints) -> float:
        """The mutual information with all its digits; 0 if the counts prove independence."""
        if counts.ndim == 2:
            row, value = np.nonzero(counts)
            sizes = counts.sum(axis=1, dtype=np.int64)[row]
            cells = counts[row, value].astype(np.int64)
        else:
            starts = run_starts(keys >> np.uint64(self._low))
            lengths = np.diff(np.append(starts, len(keys)))
            sizes = np.repeat(np.add.reduceat(counts, starts), lengths)
            cells = counts
            value = (keys & np.uint64((1 << self._low) - 1)).astype(np.int64)
        return kernel.mutual_information(
            cells, sizes, self._totals[value], np.ones(len(cells), dtype=np.int64), self.records
        )


def _about_fast(keys: Ints, counts: Ints, low: int) -> Any:
    from sievert.lattice import rollup

    rows = counts.ndim == 2
    return rollup.about_rows(counts, rollup.LOG_TABLE) if rows else rollup.about(keys, counts, low)


def _about_plain(keys: Ints, counts: Ints, low: int) -> Any:
    starts = run_starts(keys >> np.uint64(low))
    sizes = np.add.reduceat(counts, starts)
    lengths = np.diff(np.append(starts, len(keys)))
    terms = counts * kernel.log2_ratio(counts, np.repeat(sizes, lengths))
    top = kernel.largest_ratio(np.maximum.reduceat(counts, starts), sizes)
    least = float(np.add.reduceat(terms, starts).min())
    return sizes, kernel.total(terms), least, int(lengths.min()), *top
