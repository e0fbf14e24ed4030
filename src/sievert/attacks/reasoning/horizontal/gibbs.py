"""What a release tells where its sets overlap: a chain over the tables that fit it.

The shares of the atoms are integrated out, which leaves an urn for every secret. One step takes the
records of a cell (those with one label and one secret) out of their urn and draws them anew, all at
once, given all other records: a blocked collapsed Gibbs sampler.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.attacks.reasoning.horizontal.dirichlet_tree import dirichlets, weights_of
from sievert.attacks.reasoning.model import Factor
from sievert.errors import require
from sievert.numerics.acceleration import compile_loops

ONE_BY_ONE = 4  # with more records an atom than this a cell is drawn as counts
# Labels of no record, of one atom, and of all atoms.
NOTHING = -1
CERTAIN = -2
ANYTHING = -3
# The places of the share 0, of the share 1, and of the first other share.
NONE = 0
WHOLE = 1
VALUES = 2


@dataclass(frozen=True)
class ShareLayout:
    """Where a chain keeps the expected shares of atoms within labels.

    Of row r and label l they begin at `offsets[r, l]`, as many as the label has atoms; for labels
    without any that is negative. After them, from `end`, is the population, row by row.
    """

    factor: Factor
    offsets: Ints
    end: int

    @classmethod
    def build(cls, factor: Factor, secrets: Sequence[int] | Ints) -> Self:
        """For chains of these secrets."""
        sizes = np.diff(factor.starts)
        there = (factor.counts[:, np.asarray(secrets, dtype=np.int64)] > 0).T
        offsets = np.where(there, 0, NOTHING).astype(np.int64)
        offsets[there & (sizes == 1)] = CERTAIN
        offsets[there & (sizes == factor.prior.shape[1])] = ANYTHING
        rows, labels = np.nonzero(offsets == 0)
        ends = VALUES + np.cumsum(sizes[labels])
        offsets[rows, labels] = ends - sizes[labels]
        return cls(factor, offsets, int(ends[-1]) if len(ends) else VALUES)

    def spots(self, rows: Ints, places: Ints) -> Ints:
        """Find the shares at some places of the factor's members, each for a row of secrets.

        With them a reading is looked up as often as there is one.
        """
        factor = self.factor
        rows, places = np.broadcast_arrays(rows, places)
        labels = np.searchsorted(factor.starts, places, side="right") - 1
        spots = self.offsets[rows, labels]
        free = spots == ANYTHING
        sampled = spots >= 0
        spots[sampled] += (places - factor.starts[labels])[sampled]
        spots[spots == NOTHING] = NONE
        spots[spots == CERTAIN] = WHOLE
        spots[free] = self.end + rows[free] * factor.prior.shape[1] + factor.members[places[free]]
        return spots.astype(np.min_scalar_type(self.end + factor.prior.size))


class UrnState(NamedTuple):
    """The cells of a chain, their records, and working memory for one cell.

    A row of `cells` has the secret's row, the first place among the `members` and the one after the
    last, the records, where their `atoms` and their `sums` begin, and whether the atoms are counts.
    """

    cells: Ints
    members: Ints
    prior: Floats
    counts: Ints
    atoms: Ints
    sums: Floats
    weights: Floats
    heaps: Floats
    tops: Floats


class UrnSampler:
    """A chain over the tables of one factor that fit a release, for some secrets together.

    Chains of different secrets do not meet: each is a chain of its own. `counts[r, a]` is the
    current number of records with atom a and secret `secrets[r]`; records that may have any atom
    are left out, for they tell nothing. `rng` moves the chain, which starts where every record
    has an atom of its label at random, by the prior. Another thread may run meanwhile.
    """

    def __init__(
        self,
        factor: Factor,
        secrets: Sequence[int] | Ints,
        rng: np.random.Generator,
        *,
        layout: ShareLayout | None = None,
        compiled: bool = True,
    ) -> None:
        secrets = np.asarray(secrets, dtype=np.int64)
        self.layout = ShareLayout.build(factor, secrets) if layout is None else layout
        prior = np.array([weights_of(factor, int(s)) for s in secrets])
        prior = prior.reshape(len(secrets), factor.prior.shape[1])
        records = np.asarray(factor.counts, dtype=np.int64)[:, secrets].T
        offsets = self.layout.offsets
        self._sure = np.zeros(prior.shape, dtype=np.int64)
        rows, labels = np.nonzero(offsets == CERTAIN)
        np.add.at(self._sure, (rows, factor.members[factor.starts[labels]]), records[rows, labels])
        rows, labels = np.nonzero(offsets >= 0)
        here = records[rows, labels]
        first = factor.starts[labels]
        last = factor.starts[labels + 1]
        many = here > ONE_BY_ONE * (last - first)
        kept = np.where(many, last - first, here)
        begin = np.cumsum(kept) - kept
        cells = np.stack((rows, first, last, here, begin, offsets[rows, labels], many), axis=1)
        longest = int((last - first).max(initial=1)) + 16
        weights, heaps, tops = np.zeros((3, longest))
        self._urns = UrnState(
            cells=cells.astype(np.int64),
            members=np.ascontiguousarray(factor.members, dtype=np.uint32),
            prior=prior,
            counts=self._sure.copy(),
            atoms=np.zeros(int(kept.sum()), dtype=np.uint32),
            sums=np.zeros(self.layout.end),
            weights=weights,
            heaps=heaps,
            tops=tops,
        )
        self.counts = self._urns.counts
        self._rng = rng
        self._sweeps = 0
        plain: tuple[Callable[..., None], ...] = (sweep_cells, add_records)
        loops = (compile_loops(*plain) if compiled else None) or plain
        self._sweep = loops[0]
        self._add = loops[1]
        self._sweep(self._urns, rng, 0, self._sweep is not sweep_cells)

    def sweep(self, times: int = 1) -> None:
        """Draw every cell anew, `times` times."""
        if times > 0:
            self._sweep(self._urns, self._rng, times, self._sweep is not sweep_cells)
            self._sweeps += times

    def read(self) -> tuple[Floats, Floats]:
        """Expected shares of atoms by secret, in all and within labels, since the last reading.

        Both are means of what is expected of a cell given all others, not of what was drawn. Where
        the shares within labels are, `layout.spots` says.
        """
        require(self._sweeps, "a chain is read after a sweep")
        end = self.layout.end
        urns = self._urns
        values = np.empty(end + urns.prior.size)
        np.divide(urns.sums, self._sweeps, out=values[:end])
        values[NONE] = 0.0
        values[WHOLE] = 1.0
        shares = urns.prior + self._sure
        self._add(urns.cells, urns.members, values, shares)
        population = values[end:].reshape(shares.shape)
        np.divide(shares, shares.sum(axis=1)[:, None], out=population)
        urns.sums[:] = 0
        self._sweeps = 0
        return population, values

    def draw(self, rng: np.random.Generator) -> Floats:
        """The shares of all atoms, a row for each secret: one draw given the current table."""
        return dirichlets(rng, self._urns.prior + self.counts)


def add_records(cells: Ints, members: Ints, values: Floats, shares: Floats) -> None:
    """Add to the atoms of every secret the records of its cells, by their shares."""
    for cell in range(len(cells)):
        first = cells[cell, 1]
        to = cells[cell, 5]
        row = shares[cells[cell, 0]]
        for j in range(cells[cell, 2] - first):
            row[members[first + j]] += cells[cell, 3] * values[to + j]


def sweep_cells(urns: UrnState, rng: np.random.Generator, times: int, by_eight: bool) -> None:
    """Draw all cells anew, `times` times; if `times` is 0, draw each record by the prior.

    `by_eight` finds a place in sorted sums by counting the smaller ones, eight at a time: first
    the last of each eight, then all of one eight. Where eight comparisons cost as much as one,
    this spares the processor branches that it cannot predict. The result is the same.

    The function is long because each call of a compiled helper would count the references of every
    array that it is given, which doubles the time of a sweep.
    """
    cells, members, prior, counts, atoms, sums, weights, heaps, tops = urns
    for _ in range(max(times, 1)):
        for cell in range(len(cells)):
            row = cells[cell, 0]
            first = cells[cell, 1]
            last = cells[cell, 2]
            records = cells[cell, 3]
            at = cells[cell, 4]
            to = cells[cell, 5]
            many = cells[cell, 6] > 0
            size = last - first
            own_prior = prior[row]
            own_counts = counts[row]
            heap = 0.0
            if times > 0 and many:
                for j in range(size):
                    own_counts[members[first + j]] -= atoms[at + j]
            elif times > 0:
                for i in range(at, at + records):
                    own_counts[atoms[i]] -= 1
            for j in range(size):
                atom = members[first + j]
                weights[j] = own_prior[atom] + (own_counts[atom] if times > 0 else 0)
                heap += weights[j]
                heaps[j] = heap
            if times > 0:
                share = 1.0 / heap
                for j in range(size):
                    sums[to + j] += weights[j] * share
            if many:
                if times > 0:
                    # Shares of the urn: Gamma draws, in logarithms, for tiny ones would be 0.
                    top = -math.inf
                    for j in range(size):
                        shape = weights[j]
                        weights[j] = math.log(rng.standard_gamma(shape + (shape < 1.0)))
                        if shape < 1.0:
                            weights[j] -= rng.standard_exponential() / shape
                        top = max(top, weights[j])
                    for j in range(size):
                        weights[j] = math.exp(weights[j] - top)
                heap = 0.0
                for j in range(size - 1, -1, -1):
                    heap += weights[j]
                    heaps[j] = heap
                left = records
                for j in range(size):
                    number = rng.binomial(left, weights[j] / heaps[j]) if left > 0 else 0
                    left -= number
                    atoms[at + j] = number
                    own_counts[members[first + j]] += number
            else:
                blocks = (size + 7) >> 3
                if by_eight:
                    for j in range(size, 8 * blocks):
                        heaps[j] = math.inf
                    for j in range(blocks - 1):
                        tops[j] = heaps[8 * j + 7]
                    for j in range(blocks - 1, blocks + 7):
                        tops[j] = math.inf
                for i in range(records):
                    spot = rng.random() * (heap + i if times > 0 else heap)
                    if spot >= heap and i > 0:
                        atoms[at + i] = atoms[at + min(int(spot - heap), i - 1)]
                    elif by_eight:
                        low = 0
                        high = blocks - 1
                        while high - low > 7:
                            middle = (low + high) >> 1
                            if tops[middle] > spot:
                                high = middle
                            else:
                                low = middle + 1
                        below = 0
                        if blocks > 1:
                            for j in range(8):
                                below += tops[low + j] <= spot
                        low = 8 * (low + below)
                        below = 0
                        for j in range(8):
                            below += heaps[low + j] <= spot
                        atoms[at + i] = members[first + min(low + below, size - 1)]
                    else:
                        heaps_below = np.searchsorted(heaps[: size - 1], spot, side="right")
                        atoms[at + i] = members[first + heaps_below]
                for i in range(at, at + records):
                    own_counts[atoms[i]] += 1
