"""The runs test of Wald and Wolfowitz: whether the order of rows reveals a column.

The test is for several kinds of elements. If n rows are in a random order, and n_1, n_2, ... of
them have each value, the number of runs R has

    E(R)   = n + 1 - S2 / n
    Var(R) = (S2 (S2 + n (n + 1)) - 2 n S3 - n^3) / (n^2 (n - 1))

with S2 = sum n_i^2 and S3 = sum n_i^3. In an order that is random inside blocks of rows only, the
runs of the blocks are independent: means and variances add up.

Where values are rare, runs are far from normal. Neighbouring rows with the same value are a *join*;
there are A = n - R of them. By gluing j joins together one finds that

    E C(A, j) <= (M^j / j!) (n - j)! / n!,   M = sum n_i (n_i - 1),

and so, by Markov's inequality for C(A, j), for every j <= a

    P(A >= a) <= M^j (n - j)! / n! / (a (a - 1) ... (a - j + 1)).

Over blocks the bounds of E C(A, j) are coefficients of a product of series, each at most those of
exp(t M f / n) up to t^j, with f = (n^j (n - j)! / n!)^(1/j).

Sources: A. M. Mood, The distribution theory of runs, Annals of Mathematical Statistics 11 (1940)
367-392; D. E. Barton and F. N. David, Multiple runs, Biometrika 44 (1957) 168-178.
"""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.counts.answers import Sizes

DEVIATIONS = 6.0  # standard deviations that cannot be chance
# For rare values, chance joins a few runs more often than the normal law says.
LEAST_CHANCE = 1e-5
STEP = 2  # the most runs that are lost when one row moves


@dataclass(frozen=True)
class Blocks:
    """Blocks of rows in a random order: their rows n, and M = sum n_i (n_i - 1) of their values."""

    rows: Floats
    pairs: Floats

    def log_chance(self, joins: int) -> float:
        """The logarithm of an upper bound for the chance of at least `joins` joins.

        Two pairs among 100 rows are both neighbours in 1 of 2,475 random orders; this says 2.

        >>> round(math.exp(Blocks(np.array([100.0]), np.array([4.0])).log_chance(2)) * 2475, 6)
        2.0
        """
        mean = float((self.pairs / self.rows).sum())
        if joins <= mean or joins < 1:
            return 0.0
        chosen = min(joins, math.ceil(joins - mean))
        if mean == 0:
            return -math.inf
        sizes, places = np.unique(self.rows, return_inverse=True)
        factors = np.array([_glue_factor(n, chosen) for n in sizes.tolist()])
        scale = math.fsum((self.pairs / self.rows * factors[places]).tolist())
        falling = math.lgamma(joins + 1) - math.lgamma(joins - chosen + 1)
        return min(0.0, chosen * math.log(scale) - falling)


def _glue_factor(rows: float, joins: int) -> float:
    """The factor (n^j (n - j)! / n!)^(1/j); a block has at most n - 1 joins."""
    most = min(joins, rows - 1)
    logarithm = most * math.log(rows) + math.lgamma(rows - most + 1) - math.lgamma(rows + 1)
    return math.exp(logarithm / most)


NO_BLOCKS = Blocks(rows=np.zeros(0), pairs=np.zeros(0))


@dataclass(frozen=True)
class RunMoments:
    """The mean and the variance of the number of runs in a random order of some `blocks`.

    `single` blocks have one value, and so one run.
    """

    mean: float
    variance: float
    blocks: Blocks = field(default=NO_BLOCKS, repr=False, compare=False)
    single: int = field(default=0, repr=False, compare=False)

    def far_exceed(self, runs: int) -> bool:
        """Say whether there are far fewer `runs` than in a random order.

        They are more than 6 standard deviations below the mean d = E(R) - R, and also less likely
        than 1 in 100,000. That follows from the bound for joins, or from Bennett's inequality: with
        v = Var(R) and steps of b = 2 runs, P <= exp(-v / b^2 h(b d / v)), where
        h(u) = (1 + u) ln(1 + u) - u.

        >>> RunMoments(mean=51.0, variance=24.75).far_exceed(2)
        True
        >>> RunMoments(mean=51.0, variance=24.75).far_exceed(25)
        False
        """
        deficit = self.mean - runs
        if self.variance <= 0 or deficit <= DEVIATIONS * math.sqrt(self.variance):
            return False
        ratio = STEP * deficit / self.variance
        exponent = self.variance / STEP**2 * ((1 + ratio) * math.log1p(ratio) - ratio)
        joins = int(self.blocks.rows.sum()) - (runs - self.single)
        return min(-exponent, self.blocks.log_chance(joins)) < math.log(LEAST_CHANCE)


def run_moments(values: Sizes) -> RunMoments:
    """The moments of the number of runs of a column with these values.

    >>> from sievert.counts.answers import Sizes
    >>> run_moments(Sizes.from_arrays([2], [2]))  # aabb abab abba baab baba bbaa
    RunMoments(mean=3.0, variance=0.6666666666666666)
    """
    sizes = values.sizes.tolist()
    times = values.times.tolist()
    rows, squares, cubes = (
        sum(int(number) * int(size) ** power for size, number in zip(sizes, times, strict=True))
        for power in (1, 2, 3)
    )
    if rows < 2:
        return RunMoments(mean=float(rows), variance=0.0)
    return RunMoments(
        mean=_mean(rows, squares),
        variance=_variance(rows, squares, cubes),
        blocks=Blocks(rows=np.array([float(rows)]), pairs=np.array([float(squares - rows)])),
    )


def block_moments(owners: Ints, counts: Ints) -> RunMoments:
    """The moments of the number of runs if only the order inside blocks is random.

    In the block `owners[i]` a value has `counts[i]` rows; the cells of a block are neighbours.

    >>> block_moments(np.array([0, 0, 1]), np.array([2, 2, 5]))
    RunMoments(mean=4.0, variance=0.6666666666666666)
    """
    if not len(owners):
        return RunMoments(mean=0.0, variance=0.0)
    starts = np.flatnonzero(np.diff(owners, prepend=owners[0] - 1))
    rows = np.add.reduceat(counts, starts)
    squares = np.add.reduceat(counts**2, starts)
    cubes = np.add.reduceat(counts.astype(np.float64) ** 3, starts)
    several = np.diff(np.append(starts, len(owners))) > 1  # a block of one value is one run
    constant = int(np.count_nonzero(~several))
    rows = rows[several].astype(np.float64)
    squares = squares[several].astype(np.float64)
    means = _mean(rows, squares)
    variances = _variance(rows, squares, cubes[several])
    return RunMoments(
        mean=math.fsum([constant, *means.tolist()]),
        variance=math.fsum(variances.tolist()),
        blocks=Blocks(rows=rows, pairs=squares - rows),
        single=constant,
    )


def _mean(rows: Any, squares: Any) -> Any:
    return rows + 1 - squares / rows


def _variance(rows: Any, squares: Any, cubes: Any) -> Any:
    above = squares * (squares + rows * (rows + 1)) - 2 * rows * cubes - rows**3
    return above / (rows**2 * (rows - 1))
