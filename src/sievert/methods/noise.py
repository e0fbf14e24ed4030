"""Noise: every column is released with binomial noise added to the codes of its values."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.errors import InputError, require
from sievert.methods.intruder import (
    Groups,
    Seed,
    check_records,
    check_table,
    generator,
    group_records,
    mean_rows,
    nearest,
    windows,
)

Weights = Literal["uniform", "posterior"]
Matching = Literal["oracle", "likelihood"]
USE = 0x5A3D1E03  # separates the random numbers of noise from those of other methods
BLOCK = 1 << 12  # released combinations that are weighted at a time
CELLS = 1 << 18  # weights that are computed at a time
TABLE = 1 << 22  # entries of a column's table of weights at a time


@dataclass(frozen=True, kw_only=True)
class Noisy:
    """A release with noise: codes after noise, which may lie outside the domains.

    `spans` has the largest difference M of two noises for each known column, `span` the one of the
    confidential column. `sizes` has the number of values of each known column.
    """

    percent: float
    known: Ints
    sizes: tuple[int, ...]
    spans: tuple[int, ...]
    secret: Ints
    values: Floats
    span: int

    def __post_init__(self) -> None:
        codes = np.concatenate((self.known, self.secret[:, None]), axis=1)
        half = np.array((*self.spans, self.span)) // 2
        tops = np.array((*self.sizes, len(self.values))) - 1
        require(
            np.all(codes >= -half) and np.all(codes <= tops + half),
            "a released code is further outside its domain than noise reaches",
        )

    @property
    def axis(self) -> float | None:
        """1/noise, with the noise as a share of the domain; None without noise."""
        return 100 / self.percent if self.percent else None

    @property
    def numbers(self) -> Floats:
        """The released confidential numbers; the last steps of the domain continue beyond it."""
        values = self.values
        size = len(self.values)
        if size == 1:
            return np.asarray(values[self.secret])  # nothing to add noise to
        inside = values[np.clip(self.secret, 0, size - 1)]
        above = np.maximum(self.secret - (size - 1), 0) * (values[-1] - values[-2])
        return np.asarray(inside + (np.minimum(self.secret, 0) * (values[1] - values[0])) + above)

    @property
    def nearest(self) -> Ints:
        """The released known codes, moved to the nearest code of the domain."""
        return np.clip(self.known, 0, np.array(self.sizes) - 1)

    def probabilities(
        self,
        groups: Groups,
        *,
        weights: Weights = "uniform",
        matching: Matching = "oracle",
        prior: Any = None,
        block: int = BLOCK,
        cells: int = CELLS,
    ) -> Floats:
        """The mean of `origin_probabilities` over the released records that match each group.

        With the matching "oracle", the group's own records match. With "likelihood", all records
        match, weighted by the probability that noise changes the known codes to the released ones;
        `block` combinations and `cells` weights are computed at a time.
        """
        check_records(groups, len(self.secret))
        rows = origin_probabilities(len(self.values), self.span, weights, prior)
        kinds = self.secret + self.span // 2
        require(
            np.all(np.asarray(rows.any(axis=1))[kinds]),
            "the prior leaves a released value no origin",
            error=InputError,
        )
        require(matching in ("oracle", "likelihood"), "matching is 'oracle' or 'likelihood'")
        if matching == "oracle":
            return mean_rows(groups, kinds, rows)
        return self._match_by_likelihood(groups, kinds, rows, block, cells)

    def _match_by_likelihood(
        self, groups: Groups, kinds: Ints, rows: Floats, block: int, cells: int
    ) -> Floats:
        """The mean of `rows` over all records for each group, weighted by their likelihood."""
        spans = [self.spans[c] for c in groups.columns]
        moved = [self.known[:, c] + self.spans[c] // 2 for c in groups.columns]
        # Released combinations, sorted by their confidential code.
        seen = group_records(np.stack([kinds, *moved], axis=1), range(len(moved) + 1))
        tops = groups.keys.max(axis=0) + 1
        weights = np.zeros((groups.count, len(rows)))
        step = max(1, min(block, TABLE // int(tops.max())))
        for at in range(0, seen.count, step):
            keys = seen.keys[at : at + step]
            times = seen.sizes[at : at + step]
            starts = np.flatnonzero(np.append(True, keys[1:, 0] != keys[:-1, 0]))
            tables = [
                _move_weights(span, int(top), keys[:, place])
                for place, (span, top) in enumerate(zip(spans, tops, strict=True), 1)
            ]
            tables[0] *= times
            chunk = max(1, cells // len(keys))
            for here in range(0, groups.count, chunk):
                codes = groups.keys[here : here + chunk]
                weight = tables[0][codes[:, 0]]
                for place, table in enumerate(tables[1:], 1):
                    weight *= table[codes[:, place]]
                weights[here : here + chunk, keys[starts, 0]] += np.add.reduceat(
                    weight, starts, axis=1
                )
        total = weights.sum(axis=1)
        require(total.all(), "no released record can be that of a group", error=InputError)
        return np.asarray(np.einsum("gk,kd->gd", weights / total[:, None], rows))


def add_noise(
    known: Any,
    secret: Any,
    values: Any,
    percent: float,
    seed: Seed = 0,
    *,
    sizes: Sequence[int] | None = None,
) -> Noisy:
    """Add noise of some `percent` of each domain to every column.

    Categories are moved along the order of their codes. `sizes` has the number of values of each
    known column; by default, of its codes up to the largest.

    >>> found = add_noise([[0], [5], [9]], [0, 1, 2], [10, 20, 30], 20)
    >>> found.spans, found.span
    ((2,), 0)
    """
    codes, hidden, domain, widths = check_table(known, secret, values, sizes)
    spans = tuple(noise_span(size, percent) for size in widths)
    span = noise_span(len(domain), percent)
    noise = [_draw_noise(m, len(codes), seed, place) for place, m in enumerate(spans, 2)]
    return Noisy(
        percent=float(percent),
        known=codes + np.stack(noise, axis=1),
        sizes=widths,
        spans=spans,
        secret=hidden + _draw_noise(span, len(codes), seed, 1),
        values=domain,
        span=span,
    )


def noise_span(size: int, percent: float) -> int:
    """M = 2·round(percent/100·(|D| - 1)/2): noise is Binomial(M, 1/2) - M/2.

    >>> [noise_span(25, percent) for percent in (5, 10, 20, 25, 50, 100)]
    [2, 2, 4, 6, 12, 24]
    """
    require(0 <= percent < math.inf, "noise is a finite percentage, not below 0")
    return 2 * nearest(percent, size - 1, 200)


def origin_probabilities(
    size: int, span: int, weights: Weights = "uniform", prior: Any = None
) -> Floats:
    """The probabilities of the original code for each released code -M/2, ..., |D| - 1 + M/2.

    "uniform": equal on the codes that noise can have changed to it. "posterior": proportional to
    prior(d)·C(M, c' - d + M/2); by default the prior is equal for all d.

    >>> origin_probabilities(3, 2)[1], origin_probabilities(3, 2, "posterior")[2]
    (array([0.5, 0.5, 0. ]), array([0.25, 0.5 , 0.25]))
    """
    half = span // 2
    released = np.arange(-half, size + half)
    if weights == "uniform":
        require(prior is None, "only 'posterior' weights have a prior")
        first = np.maximum(released - half, 0)
        last = np.minimum(released + half, size - 1)
        return windows(first, last, size)
    require(weights == "posterior", "weights are 'uniform' or 'posterior'")
    chance = _check_prior(prior, size)
    fraction, power = _binomials(span)
    step = released[:, None] - np.arange(size) + half
    inside = (step >= 0) & (step <= span)
    step = np.clip(step, 0, span)
    # Relative to the largest of a row: C(M, k) may exceed any double.
    powers = np.where(inside, power[step], -1)
    powers -= powers.max(axis=1)[:, None]
    weight = np.where(inside, np.ldexp(fraction[step], powers), 0) * chance
    sums = weight.sum(axis=1)[:, None]
    return np.asarray(np.divide(weight, sums, out=np.zeros_like(weight), where=sums > 0))


def _check_prior(prior: Any, size: int) -> Floats:
    if prior is None:
        return np.ones(size)
    weights = np.asarray(prior, dtype=np.float64)
    require(
        weights.shape == (size,) and np.isfinite(weights).all() and not (weights < 0).any(),
        f"a prior has {size} finite numbers, none of them negative",
    )
    require(weights.any(), "a prior is not 0 everywhere")
    return np.asarray(weights / weights.max())


def _binomials(span: int) -> tuple[Floats, Ints]:
    """C(M, k) for k from 0 to M, as fractions from 1/2 to 1 and powers of 2."""
    terms = list(
        itertools.accumulate(range(span), lambda c, k: c * (span - k) // (k + 1), initial=1)
    )
    powers = np.array([each.bit_length() for each in terms], dtype=np.int64)
    return np.array([each / (1 << each.bit_length()) for each in terms]), powers


def _move_weights(span: int, size: int, released: Ints) -> Floats:
    """The weights of a change of each code below `size` to each released code from -M/2 on."""
    fraction, power = _binomials(span)
    by_step = np.zeros(span + 3)
    by_step[1:-1] = np.ldexp(fraction, power - power.max())
    step = released[None, :] - np.arange(size)[:, None] + 1
    return np.asarray(by_step[np.clip(step, 0, span + 2)])


def _draw_noise(span: int, records: int, seed: Seed, place: int) -> Ints:
    return generator(seed, USE, place).binomial(span, 0.5, records) - span // 2
