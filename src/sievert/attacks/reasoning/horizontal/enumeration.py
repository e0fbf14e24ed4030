"""What a release with few records tells, exactly: every table that fits, with its probability."""

import math
from dataclasses import dataclass

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.attacks.reasoning.horizontal.dirichlet_tree import dirichlets, label_places, weights_of
from sievert.attacks.reasoning.model import BetaMixture, Factor, FactorPosterior

AT_ONCE = 1 << 22  # numbers held while records are added, where they can be added in pieces
HELD = 1 << 25  # numbers held, in any case
WORK = 1000  # numbers moved, for each table that may be kept
BITS = 128  # of products


@dataclass(frozen=True, kw_only=True)
class CompatibleTables:
    """All tables of one factor and secret that fit a release, with their probabilities.

    `varied[t]` counts, in table t, the records with each of the atoms `atoms`; `sure` counts those,
    of all atoms, that are the same in all tables. Records that may have any atom are in neither:
    they tell nothing. `means[t, k]`, for the place `places[k]` of the factor's members, is the mean
    share of its atom within its label among the assignments that lead to table t.
    """

    factor: Factor
    secret: int
    atoms: Ints
    varied: Ints
    sure: Ints
    weights: Floats
    places: Ints
    means: Floats

    def number(self, atom: int) -> Ints:
        """Records with one atom, by table."""
        varied = self.varied[:, np.flatnonzero(self.atoms == atom)].sum(axis=1)
        return np.asarray(varied + self.sure[atom])

    def mixture(self, atom: int) -> BetaMixture:
        """The share of an atom over all tables: one Beta for each number of its records."""
        prior = weights_of(self.factor, self.secret)
        beside = math.fsum(np.delete(prior, atom))
        records = int(self.sure.sum() + self.varied[0].sum())
        numbers, which = np.unique(self.number(atom), return_inverse=True)
        weights = np.bincount(which.ravel(), self.weights).tolist()
        pairs = zip(weights, numbers.tolist(), strict=True)
        return tuple((w, ((float(prior[atom]) + n, beside + records - n),)) for w, n in pairs)

    def posterior(self) -> FactorPosterior:
        """The expected shares of atoms, in all and within each label."""
        factor = self.factor
        shares = self.sure.astype(np.float64)
        shares[self.atoms] += self.weights @ self.varied
        shares += weights_of(factor, self.secret)
        population = shares / shares.sum()
        seen = np.repeat(factor.counts[:, self.secret] > 0, np.diff(factor.starts))
        sizes = np.repeat(np.diff(factor.starts), np.diff(factor.starts))
        inside = np.where(seen & (sizes == 1), 1.0, 0.0)
        inside[self.places] = self.weights @ self.means
        whole = seen & (sizes == len(population))
        inside[whole] = population[factor.members[whole]]
        return FactorPosterior(population, inside)

    def draw(self, rng: np.random.Generator, times: int) -> Floats:
        """Independent draws of the shares of all atoms, one a row."""
        sums = np.cumsum(self.weights)
        rows = np.searchsorted(sums, rng.random(times) * sums[-1], side="right")
        tables = self.counts(np.minimum(rows, len(self.weights) - 1))
        return dirichlets(rng, weights_of(self.factor, self.secret) + tables)

    def counts(self, tables: Ints | slice = np.s_[:]) -> Ints:
        """Records by table and atom, of some tables or of all."""
        varied = self.varied[tables]
        counts = np.tile(self.sure, (len(varied), 1))
        counts[:, self.atoms] += varied
        return counts


def enumerate_tables(factor: Factor, secret: int, most: int = 200_000) -> CompatibleTables | None:
    """All tables that fit, or None if there are more than `most`, or too many ways to them.

    >>> factor = Factor(np.ones((1, 2)), np.array([0, 1, 3]), np.array([0, 0, 1]), np.ones((2, 1)))
    >>> enumerate_tables(factor, 0).counts()
    array([[1, 0]])
    """
    prior = weights_of(factor, secret)
    sizes = np.diff(factor.starts)
    records = np.asarray(factor.counts[:, secret], dtype=np.int64)
    telling = (records > 0) & (sizes < len(prior))
    single = np.flatnonzero(telling & (sizes == 1))
    sure = np.zeros(len(prior), dtype=np.int64)
    np.add.at(sure, factor.members[factor.starts[single]], records[single])
    several = np.flatnonzero(telling & (sizes > 1))
    ways = [_ways(int(records[label]), int(sizes[label]), most) for label in several.tolist()]
    if 1 + sum(way - 1 for way in ways) > most:  # sums of two sets have at least |A| + |B| - 1
        return None
    labels = several[np.argsort(ways, kind="stable")]
    places, widths = label_places(factor, labels)
    atoms, within = np.unique(factor.members[places], return_inverse=True)
    tops = np.zeros(len(atoms), dtype=np.int64)
    np.add.at(tops, within, np.repeat(records[labels], widths))
    states = _States.empty(tops, len(places))
    left = most * WORK
    for end, width, number in zip(np.cumsum(widths), widths, records[labels], strict=True):
        columns = slice(end - width, end)
        added = states.with_label(within[columns], int(number), columns, most, left)
        if added is None:
            return None
        states, left = added
    varied = states.counts()
    return CompatibleTables(
        factor=factor,
        secret=secret,
        atoms=atoms,
        varied=varied,
        sure=sure,
        weights=_weights(states, varied, (prior + sure)[atoms]),
        places=places,
        means=states.means,
    )


@dataclass(frozen=True, kw_only=True)
class _States:
    """Count vectors packed into words, and the ways to each: a part times a power of 2."""

    factors: Ints  # what one record of an atom adds to each word
    tops: Ints
    words: Ints
    parts: Floats
    powers: Ints
    means: Floats

    @classmethod
    def empty(cls, tops: Ints, columns: int) -> "_States":
        factors = []
        word = 0
        room = 1
        for top in tops.tolist():
            if room * (top + 1) > 1 << 62:
                word = word + 1
                room = 1
            factors.append((word, room))
            room *= top + 1
        table = np.zeros((len(tops), word + 1), dtype=np.int64)
        for atom, (at, value) in enumerate(factors):
            table[atom, at] = value
        nothing = np.zeros((1, word + 1), dtype=np.int64)
        power = np.ones(1, dtype=np.int64)
        return cls(
            factors=table,
            tops=tops,
            words=nothing,
            parts=np.full(1, 0.5),
            powers=power,
            means=np.zeros((1, columns)),
        )

    def counts(self) -> Ints:
        counts = np.empty((len(self.words), len(self.tops)), dtype=np.int64)
        for atom, top in enumerate(self.tops.tolist()):
            word = int(np.argmax(self.factors[atom]))
            counts[:, atom] = self.words[:, word] // self.factors[atom, word] % (top + 1)
        return counts

    def with_label(
        self, atoms: Ints, records: int, columns: slice, most: int, left: int
    ) -> "tuple[_States, int] | None":
        """These with the records of one label, and the work left to do; None if it is too much."""
        states = self
        rest = records
        wide = self.words.shape[1] + self.means.shape[1] + 2
        while rest:
            piece = rest
            room = AT_ONCE // (wide * len(states.words))
            while piece > 1 and _ways(piece, len(atoms), room) > room:
                piece = (piece + 1) // 2
            work = len(states.words) * _ways(piece, len(atoms), left) * wide
            left -= work
            if left < 0 or work > HELD:
                return None
            states = states._with_records(atoms, piece, columns, 1 / records)
            if len(states.words) > most:
                return None
            rest -= piece
        return states, left

    def _with_records(self, atoms: Ints, records: int, columns: slice, share: float) -> "_States":
        splits = _splits(records, len(atoms))
        parts, powers = _rising(1.0, records)
        part = np.full(len(splits), parts[records])
        power = np.full(len(splits), powers[records])
        for column in splits.T:
            part, step = np.frexp(part / parts[column])
            power = power + step - powers[column]
        size = len(self.words) * len(splits)
        words = (self.words[:, None] + splits @ self.factors[atoms]).reshape(size, -1)
        part, step = np.frexp((self.parts[:, None] * part).reshape(size))
        power = (self.powers[:, None] + power).reshape(size) + step
        means = np.repeat(self.means[:, None], len(splits), axis=1)
        means[:, :, columns] += splits * share
        return self._merge(words, part, power, means.reshape(size, -1))

    def _merge(self, words: Ints, parts: Floats, powers: Ints, means: Floats) -> "_States":
        order = np.lexsort(words.T)
        words = words[order]
        parts = parts[order]
        powers = powers[order]
        means = means[order]
        starts = np.flatnonzero(np.append(True, (words[1:] != words[:-1]).any(axis=1)))
        sizes = np.diff(np.append(starts, len(words)))
        tops = np.maximum.reduceat(powers, starts)
        parts = np.ldexp(parts, np.maximum(powers - np.repeat(tops, sizes), -2000).astype(np.int32))
        sums = np.add.reduceat(parts, starts)
        means = (
            np.add.reduceat(means * parts[:, None], starts, axis=0) / sums[:, None]
            if means.shape[1]
            else means[starts]
        )
        part, step = np.frexp(sums)
        return _States(
            factors=self.factors,
            tops=self.tops,
            words=words[starts],
            parts=part,
            powers=tops + step,
            means=means,
        )


def _weights(states: _States, varied: Ints, prior: Floats) -> Floats:
    """Ways to each table, times the rising factorials of the prior; they sum to 1."""
    parts = states.parts
    powers = states.powers
    for column, weight, top in zip(varied.T, prior.tolist(), states.tops.tolist(), strict=True):
        each, power = _rising(weight, top)
        parts, step = np.frexp(parts * each[column])
        powers = powers + power[column] + step
    weights = np.ldexp(parts, np.maximum(powers - powers.max(), -2000).astype(np.int32))
    return np.asarray(weights / math.fsum(weights.tolist()))


def _rising(base: float, times: int) -> tuple[Floats, Ints]:
    """1, b, b·(b + 1), ... as parts times powers of 2, each rounded once."""
    top, bottom = base.as_integer_ratio()
    less = bottom.bit_length() - 1
    product = 1
    power = 0
    parts = np.empty(times + 1)
    powers = np.empty(times + 1, dtype=np.int64)
    for k in range(times + 1):
        extra = max(0, product.bit_length() - BITS)
        product = product >> extra
        power = power + extra
        parts[k], step = math.frexp(product)
        powers[k] = power + step
        product = product * (top + k * bottom)
        power = power - less
    return parts, powers


def _ways(records: int, atoms: int, most: int) -> int:
    """In how many ways records split over atoms; any number above `most` if it is above it.

    >>> _ways(2, 3, 100), _ways(10**9, 10**9, 100) > 100
    (6, True)
    """
    ways = 1
    few, many = sorted((records, atoms - 1))
    for k in range(1, few + 1):
        ways = ways * (many + k) // k
        if ways > most:
            break
    return ways


def _splits(records: int, atoms: int) -> Ints:
    """All ways to split records over atoms, one a row.

    >>> _splits(2, 2).tolist()
    [[0, 2], [1, 1], [2, 0]]
    """
    columns: list[Ints] = []
    left = np.array([records])
    for _ in range(atoms - 1):
        sizes = left + 1
        rows = np.repeat(np.arange(len(left)), sizes)
        here = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        columns = [*(column[rows] for column in columns), here]
        left = left[rows] - here
    return np.stack([*columns, left], axis=1)
