"""Whether a control group is one: people drawn together with the original, and none of them in it.

A wrong control is worse than none. People of another kind are easier or harder to attack for
reasons that have nothing to do with the synthetic table; people of the original in the control hide
what the table says of them, and so do controls whom the generator has seen.
"""

import math
from collections.abc import Mapping
from statistics import NormalDist

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.commands.synthetic.attacks.evidence import PoolGroups, chance, hypergeometric_tail
from sievert.commands.synthetic.attacks.keys import SharedRows
from sievert.commands.synthetic.attacks.tables import ColumnCodes, SharedColumn, SyntheticTables
from sievert.numerics.special_functions import beta_below, chi_square

SURE = 0.01  # over all columns together (Bonferroni)
SURER = SURE / 10  # where one more test is made
SUREST = SURE / 100  # where scores may be skewed
FEW = 5  # people of both tables by their number, from which on they are compared
EXPECTED = 5  # people of a value in the smaller group, on average: rarer values are taken together
BINS = 20  # of numbers
COMMON = 50  # values that are told apart where people came together
BLOCK = 1 << 15  # clusters at a time


def differing_columns(tables: SyntheticTables) -> list[str]:
    """The columns in which the original and the control differ by more than chance."""
    many = len(tables.columns)
    return [
        column.name
        for at, column in enumerate(tables.columns)
        if _column_chance(tables, at) < SURE / many or _strange_values(tables, at) < SURER / many
    ]


def _one_each(tables: SyntheticTables, codes: Ints) -> tuple[Ints, int]:
    """Codes of the pool, one of those who came together; and how many are of originals."""
    clusters = tables.groups.clusters
    n = tables.originals
    if clusters is None:
        return codes, n
    least = np.full(int(clusters.max()) + 1, codes.max())
    np.minimum.at(least, clusters, codes)
    return least, int(clusters[:n].max()) + 1  # originals are numbered first


def _strange_values(tables: SyntheticTables, at: int) -> float:
    """The chance that so few controls have a value that an original has, of values however rare."""
    codes, n = _one_each(tables, tables.pool[:, at])
    times = np.bincount(codes[:n], minlength=tables.columns[at].values)
    twins = int(np.count_nonzero(times[codes[:n]] > 1))
    known = int(np.count_nonzero(times[codes[n:]] > 0))
    return hypergeometric_tail(twins, len(codes), twins + known, n)


def _column_chance(tables: SyntheticTables, at: int) -> float:
    """The chance of a difference as large as that of one column, by chi-square."""
    column = tables.columns[at]
    codes = tables.pool[:, at]
    n = tables.originals
    clusters = tables.groups.clusters
    if clusters is not None:
        return _clustered_chance(column, codes, clusters, n)
    counts = np.bincount(codes, minlength=column.values)
    groups = (
        _bins(counts, column.missing)
        if column.is_number
        else _common(counts, len(codes), min(n, len(codes) - n))
    )
    first = np.bincount(groups[codes[:n]], minlength=groups.max() + 1)
    second = np.bincount(groups[codes[n:]], minlength=groups.max() + 1)
    both = first + second
    first, second, both = (each[both > 0] for each in (first, second, both))
    if len(both) < 2:
        return 1.0
    expected = both * (n / len(codes))
    others = both - expected
    distance = float(((first - expected) ** 2 / expected + (second - others) ** 2 / others).sum())
    return chi_square(distance, len(both) - 1)


def _clustered_chance(column: SharedColumn, codes: Ints, clusters: Ints, n: int) -> float:
    """The same where people who came together change sides together.

    The difference of the counts has a known covariance if clusters are drawn for the original; of
    people who came alone, its squared length is chi-square (but for a factor of 1 - 1/people).
    """
    many = int(clusters.max()) + 1
    mine = int(clusters[:n].max()) + 1
    once = np.unique(clusters * column.values + codes) % column.values
    counts = np.bincount(once, minlength=column.values)
    if column.is_number:
        groups = _bins(counts, column.missing)
    else:
        counts = np.where(counts < np.sort(counts)[-COMMON:][0], 0, counts)
        groups = _common(counts, many, min(mine, many - mine))
    groups = np.unique(groups[codes], return_inverse=True)[1]
    wide = int(groups.max()) + 1
    share = np.bincount(groups, minlength=wide) / len(groups)
    pairs, times = np.unique(clusters * wide + groups, return_counts=True)
    difference = np.zeros(wide)
    products = np.zeros((wide, wide))
    for start in range(0, many, BLOCK):
        size = min(BLOCK, many - start)
        part = slice(*np.searchsorted(pairs, [start * wide, (start + size) * wide]))
        sums = np.zeros((size, wide))
        sums.flat[pairs[part] - start * wide] = times[part]
        sums -= sums.sum(axis=1, keepdims=True) * share
        difference += sums[: max(0, mine - start)].sum(axis=0)
        products += sums.T @ sums
    if wide < 2 or not 0 < mine < many:
        return 1.0
    covariance = products * (mine * (1 - mine / many) / (many - 1))
    sizes, axes = np.linalg.eigh(covariance)
    real = sizes > sizes[-1] * 1e-9
    if not real.any():
        return 1.0
    distance = float(((axes.T @ difference)[real] ** 2 / sizes[real]).sum())
    return chi_square(distance, int(real.sum()))


def _common(counts: Ints, people: int, smaller: int) -> Ints:
    """Every frequent value by itself, and all rare ones together."""
    rare = counts * smaller < EXPECTED * people
    return np.where(rare, 0, np.cumsum(~rare))


def _bins(counts: Ints, missing: int) -> Ints:
    """Sort numbers into bins of about equally many people; missing numbers have their own bin."""
    lacking = np.arange(len(counts)) == missing
    known = np.where(lacking, 0, counts)
    below = np.cumsum(known) - known
    return np.where(lacking, BINS, below * BINS // max(1, int(known.sum())))


def shares_people(tables: SyntheticTables) -> bool:
    """Whether the control has people of the original: more equal rows than strangers would.

    A control's row is in the original about as often as an original's row is there a second time.
    """
    at, n = _one_each(tables, SharedRows.of(tables).of_person)
    own, other = (np.bincount(part, minlength=int(at.max()) + 1) for part in (at[:n], at[n:]))
    twins = int(np.count_nonzero(own[at[:n]] > 1))
    strangers = int(np.count_nonzero(own[at[n:]] > 0))
    return (
        hypergeometric_tail(strangers, len(at), twins + strangers, len(at) - n) < SURER
        or _chance_on_both_sides(own, other) < SURER
    )


def _chance_on_both_sides(originals: Ints, controls: Ints) -> float:
    """The chance of the observed number of rows that k people have and that are on both sides.

    It is the smallest such chance over all k, corrected for the number of k (Bonferroni). It also
    detects an original in which each person has several rows. Rows are taken to fall independently;
    because they do not, the number varies less.
    """
    n = int(originals.sum())
    c = int(controls.sum())
    both = originals + controls
    sizes, times = np.unique(both[both > 1], return_counts=True)
    if not len(sizes):
        return 1.0
    drawn = np.arange(int(sizes.max()))
    whole = (n + c - drawn).astype(np.float64)
    apart = sum(np.cumprod(np.maximum(side - drawn, 0) / whole) for side in (n, c))
    share = 1.0 - np.asarray(apart)[sizes - 1]
    split = np.bincount(both[(originals > 0) & (controls > 0)], minlength=int(sizes[-1]) + 1)
    tails = [
        beta_below(seen, many - seen + 1, on_both) if seen else 1.0
        for seen, many, on_both in zip(
            split[sizes].tolist(), times.tolist(), share.tolist(), strict=True
        )
    ]
    return min(1.0, len(tails) * min(tails))


def repeats_people(tables: SyntheticTables, own: ColumnCodes, other: ColumnCodes) -> bool:
    """Whether people of both tables with the same number are alike, more than the next ones are.

    Each table may have its own numbers, so that the same one says nothing by itself.
    """
    places = []
    for texts, codes in (own, other):
        numbers, first = np.unique(codes, return_index=True)
        places.append(
            {texts[c]: at for c, at in zip(numbers.tolist(), first.tolist(), strict=True)}
        )
    shared = [text for text in places[0] if text is not None and text in places[1]]
    if len(shared) < FEW:
        return False
    mine = tables.pool[[places[0][text] for text in shared]]
    theirs = tables.pool[[tables.originals + places[1][text] for text in shared]]
    more = (mine == theirs).mean(axis=1) - (mine == np.roll(theirs, 1, axis=0)).mean(axis=1)
    spread = float(np.std(more)) / math.sqrt(len(more))
    gain = float(np.mean(more))
    return gain > 0 and (not spread or NormalDist().cdf(-gain / spread) < SUREST)


def favours_strangers(tables: SyntheticTables, scores: Mapping[str, Floats]) -> bool:
    """Whether controls are hit more than originals: the generator has seen them, then."""
    n = tables.originals
    clusters = tables.groups.clusters
    groups = PoolGroups(tables.controls, None if clusters is None else np.roll(clusters, -n))
    nearest = scores["nearest_synthetic"]
    copied = np.where(np.isnan(nearest), np.nan, nearest == 0)
    for own in (scores["density_ratio"], copied):
        turned = np.roll(own, -n)
        concerned = ~np.isnan(turned)
        p = chance(turned[concerned], groups.only(concerned))
        if p is not None and p < SUREST:
            return True
    return False
